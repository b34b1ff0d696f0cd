"""Mistakes that ``mypy --strict`` finds, each marked with the kind of error. See
`tests/test_hints.py`.
"""

from skstruct import (
    L1CRF,
    L1CRFCV,
    BaggingShuffleAverager,
    CalibratedTagger,
    KBestReranker,
    ParameterMixer,
    PassiveAggressiveTagger,
    Segmenter,
    ShiftReduceParser,
    SpanSets,
    SpanTagger,
    StructuredPerceptron,
    WordSegmenter,
    metrics,
)

X, y = [["the", "dog"]], [["D", "N"]]

StructuredPerceptron(max_itr=5)  # call-arg
StructuredPerceptron(max_iter="five")  # arg-type
StructuredPerceptron("char", 2)  # call-arg
StructuredPerceptron().fit(X, y).predict_marginals(X)  # attr-defined
StructuredPerceptron(penalty="l3")  # arg-type
StructuredPerceptron().fit(X)  # call-arg
PassiveAggressiveTagger(c=1.0)  # call-arg
PassiveAggressiveTagger(average=True)  # arg-type
PassiveAggressiveTagger().fit(3, y)  # arg-type
L1CRF(c1="strong")  # arg-type
L1CRF(order=2)  # call-arg
L1CRF().partial_fit(X, y)  # attr-defined
L1CRFCV(c1=0.1)  # call-arg
Segmenter(schema="BI")  # call-arg
Segmenter().fit(["ab"], [["a", "b"]]).predict(["ab"], words=["ab"])  # call-arg
SpanTagger(align="best")  # arg-type
SpanTagger().fit(["ab"], [[(0, 1, "X")]]).predict(["ab"], words=["ab"])  # call-arg
WordSegmenter(beam_size="wide")  # arg-type
WordSegmenter().predict_kbest(["ab"], "two")  # arg-type
ShiftReduceParser(beamsize=8)  # call-arg
ShiftReduceParser(update="late")  # arg-type
KBestReranker(k=2.5)  # arg-type
KBestReranker().partial_fit(X, y)  # attr-defined
BaggingShuffleAverager(members=3)  # call-arg
BaggingShuffleAverager(average="some")  # arg-type
CalibratedTagger(method="platt")  # arg-type
SpanSets(recall="most")  # arg-type
CalibratedTagger().partial_fit(X, y)  # attr-defined
ParameterMixer(n_shards="two")  # arg-type
ParameterMixer().transform(X)  # attr-defined
metrics.token_accuracy_score(y, y, weights=[1.0])  # call-arg
metrics.segment_f1_score(y, y, scheme=3)  # call-overload
