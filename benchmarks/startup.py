"""What a fresh process waits for: the import, and the first use of each part, with and
without a cache.

Processor time, so that other jobs on the machine do not count. Without compiled kernels
in a cache each part compiles what those above it in the table have not: the sum is for
a process that uses all of them.
"""

import os
import statistics
import subprocess
import sys
import tempfile

from benchmarks.common import table

CHILD = """
import time
import joblib, numba, numpy, scipy, sklearn.base, sklearn.metrics, sklearn.utils.validation
try:
    import sklearn.callback
except ImportError:
    pass
began = time.process_time()


def part(name, function):
    global began
    function()
    print(name, time.process_time() - began, sep="\\t", flush=True)
    began = time.process_time()


def import_it():
    global sk, datasets
    import skstruct as sk
    from skstruct import datasets


part("import, beyond dependencies", import_it)
X = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["the", "cat", "barks"]] * 10
y = [["D", "N", "V"]] * 30
texts, words = (each[:40] for each in datasets.load_segmentation())
trees = [[(2, "det"), (3, "nsubj"), (0, "root")]] * 30
pairs = [[(word, tag) for word, tag in zip(x, labels)] for x, labels in zip(X, y)]
began = time.process_time()

tagger = sk.StructuredPerceptron(max_iter=2, random_state=0)
trigram = sk.StructuredPerceptron(order=2, max_iter=2, random_state=0)
part("`StructuredPerceptron.fit`", lambda: tagger.fit(X, y))
part("`StructuredPerceptron.predict`", lambda: tagger.predict(X))
part("`PassiveAggressiveTagger`", lambda: sk.PassiveAggressiveTagger(max_iter=2).fit(X, y).predict(X))
part("`StructuredPerceptron(order=2)`", lambda: trigram.fit(X, y).predict(X))
crf = sk.L1CRF(c1=0.1, c2=0.0, all_pairs=True, random_state=0)
part("`L1CRF`", lambda: crf.fit(X, y).predict(X))
part("`L1CRF.predict_marginals`", lambda: crf.predict_marginals(X))
part("`Segmenter(StructuredPerceptron())`", lambda: sk.Segmenter(tagger).fit(texts, words).predict(texts))
part("`BaggingShuffleAverager`", lambda: sk.BaggingShuffleAverager(tagger, 2).fit(X, y).predict(X))
part("`WordSegmenter`", lambda: sk.WordSegmenter(max_iter=2).fit(texts, words).predict(texts))
part("`ShiftReduceParser`", lambda: sk.ShiftReduceParser(max_iter=2).fit(pairs, trees).predict(pairs))
part("`KBestReranker`", lambda: sk.KBestReranker(sk.Segmenter(tagger), cv=2).fit(texts, words).predict(texts))
"""


def run(cache):
    """Seconds of each part in a fresh process."""
    environment = dict(os.environ, NUMBA_CACHE_DIR=cache)
    out = subprocess.check_output(
        [sys.executable, "-c", CHILD], env=environment, text=True
    )
    return {
        name: float(seconds)
        for name, seconds in (line.split("\t") for line in out.splitlines())
    }


def main():
    """Measure and print."""
    with tempfile.TemporaryDirectory() as cache:
        cold = run(cache)
        runs = [run(cache) for _ in range(5)]
    warm = {name: statistics.median(each[name] for each in runs) for name in cold}
    rows = [[name, f"{cold[name]:.1f} s", f"{warm[name]:.2f} s"] for name in cold]
    rows.append(["all", f"{sum(cold.values()):.1f} s", f"{sum(warm.values()):.2f} s"])
    table(
        ["first use of", "no compiled kernels", "compiled kernels in the cache"], rows
    )


if __name__ == "__main__":
    main()
