"""A fuzzer: random corpora and random parameters through every estimator, with bounds
checks in the kernels.

    python -m tests.fuzz --minutes 30                     # all scenarios
    python -m tests.fuzz --minutes 10 --only crf,parser   # some of them
    python -m tests.fuzz --mode interpreted               # small corpora, kernels as plain Python
    python -m tests.fuzz --case tagger:123456             # one case again, with its traceback

A case is a scenario and a seed, and all that it draws follows from these. A scenario
trains a model on random data and checks what must hold of any model: batches, threads
and files change nothing, the best of the k best is the prediction, probabilities are
those of enumeration, gradients those of finite differences.

A *fault* is an assertion that fails, or an exception that the package did not raise on
purpose: one whose innermost frame is no ``raise`` of the package. Errors raised on
purpose are *refusals*, which are counted.
"""
