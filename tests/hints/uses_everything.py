"""Every estimator, as typed code uses it; ``mypy --strict`` passes. See
`tests/test_hints.py`.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import skstruct
from skstruct import (
    L1CRF,
    L1CRFCV,
    BaggingShuffleAverager,
    CalibratedTagger,
    FeatureTemplates,
    KBestReranker,
    ParameterMixer,
    PassiveAggressiveTagger,
    Segmenter,
    ShiftReduceParser,
    SpanSets,
    SpanTagger,
    StructuredPerceptron,
    WordSegmenter,
    datasets,
    inspection,
    metrics,
    regularization_path,
)

X = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["the", "cat", "barks"]]
y = [["D", "N", "V"], ["D", "N", "V"], ["D", "N", "V"]]
texts, words = datasets.load_segmentation()
sentences, trees = datasets.load_parsing()

templates = FeatureTemplates(["U00:%x[0,0]", "B"], lexicons={"place": ["Rome"]})
offsets: tuple[int, ...] = templates.offsets

perceptron = StructuredPerceptron(
    templates,
    order=2,
    constraints="BIO",
    class_weight={"V": 2.0},
    penalty="l1",
    max_iter=5,
    random_state=0,
).fit(X, y, sample_weight=np.ones(3))
labels: list[list[Any]] = perceptron.partial_fit(X, y, classes=["D", "N", "V"]).predict(
    X
)
best: list[tuple[list[Any], float]] = perceptron.predict_kbest(X, k=2)[0]
scores: NDArray[np.float64] = perceptron.decision_function(X)
accuracy: float = perceptron.score(X, y)
copy: StructuredPerceptron = perceptron.set_params(max_iter=3)
epochs: int = perceptron.n_iter_
errors: object = perceptron.history_[-1]["updates"]
names: list[Any] = perceptron.classes_.tolist()
parameters: dict[str, Any] = perceptron.get_params(deep=False)
n_features: int = perceptron.n_features()

aggressive = PassiveAggressiveTagger(
    "char-av", C=0.5, variant="PA-II", cost="hamming", average=None
).fit(X, y)
aggressive.adapt(X).predict(X, allowed=[[None, {"N"}, "V"]])

crf = L1CRF(c1=0.1, solver="owlqn", n_jobs=2).fit(X, y, X_val=X, y_val=y)
marginals: list[NDArray[np.float64]] = crf.predict_marginals(X)
posterior: list[list[Any]] = crf.predict_posterior(X)
log_proba: NDArray[np.float64] = crf.sequence_log_proba(X, y)
objective: float = crf.objective_
for point in regularization_path(crf, X, y, [0.1, 1.0]):
    path_model: L1CRF = point.model

search = L1CRFCV(c1s=[0.1, 1.0], candidates=None, cv=3, scoring="segment_f1").fit(
    X, y, groups=[0, 1]
)
penalties: dict[str, float] = search.best_params_
chosen: float = search.c1_ + search.best_score_
chosen_model: L1CRF = search.best_estimator_

inner = StructuredPerceptron("char", scoring="segment_f1", random_state=0)
segmenter = Segmenter(inner, scheme="BI").fit(texts, words, X_val=texts, y_val=words)
segmenter.partial_fit(texts, words).adapt(texts).predict(texts, dictionary={"北京大学"})
word_score: float = segmenter.score(texts, words)

marked: list[list[tuple[int, int, str]]] = [[(0, 2, "ORG")] for _ in texts]
span_tagger = SpanTagger(inner, tokenizer="characters", max_length=None).fit(
    texts, marked
)
entity_score: float = span_tagger.partial_fit(texts, marked).score(texts, marked)

by_words = WordSegmenter(
    "zc14", beam_size=None, update="max-violation", max_iter=1
).fit(texts, words)
found: list[list[str]] = by_words.predict(texts, boundaries=[None] * len(texts))
cuts: list[tuple[list[str], float]] = by_words.predict_kbest(
    texts, k=2, dictionary=["北京大学"]
)[0]

parser = ShiftReduceParser("hs28", beam_size=4, labeled=False, max_iter=1).fit(
    sentences, trees
)
arcs: list[list[Any]] = parser.partial_fit(sentences, trees).predict(sentences)

reranker = KBestReranker(
    segmenter, 5, 3, max_iter=2, random_state=np.random.RandomState(0)
).fit(texts, words)
oracle: float = reranker.oracle_

averager = BaggingShuffleAverager(perceptron, 3, keep_members=True).fit(X, y)
members: NDArray[np.float64] = averager.member_scores(X, y)
averager.predict_kbest(X, k=2)

mixer = ParameterMixer(perceptron, n_shards=2, strategy="once").fit(
    X, y, X_val=X, y_val=y
)
mixer.fit_shards([lambda: (X, y), lambda: (X, y)]).predict(X)

sets = SpanSets(perceptron, recall=0.9, cv=3).fit(X, y)
offered: list[Any] = sets.predict_sets(X)

calibrated = CalibratedTagger(perceptron, cv=3, random_state=0).fit(X, y)
temperature: float = calibrated.temperature_
ranked: list[tuple[list[Any], float]] = calibrated.predict_kbest(X, k=2)[0]
entities = calibrated.predict_segment_proba(X, [[(0, 1, "X")], [], []], scheme="BIO")
(span, probability) = entities[0][0]
certain: float = probability
calibration: float = metrics.expected_calibration_error(
    y, calibrated.predict_marginals(X), labels=calibrated.classes_
)
log_loss: float = metrics.sequence_log_loss(y, calibrated.sequence_log_proba(X, y))
diagram: inspection.ReliabilityDisplay = inspection.ReliabilityDisplay.from_estimator(
    calibrated, X, y
).plot()
least = inspection.thresholds_for(SpanTagger(), ["Ann"], [[(0, 3, "PER")]])
curves: inspection.SpanPrecisionRecallDisplay = (
    inspection.SpanPrecisionRecallDisplay.from_thresholds(least)
)
probable: list[list[skstruct.Span]] = span_tagger.predict(["Ann"], min_proba=least)
probable = span_tagger.predict(["Ann"], min_proba={"PER": 0.9, None: 0.5})

share: float = metrics.token_accuracy_score(y, labels)
f1: float = metrics.segment_f1_score(y, labels, scheme="BIO")
attached: float = metrics.attachment_scores(trees, arcs).uas
word_f1: float = metrics.word_f1_score(words, found)
p_value: float = metrics.paired_bootstrap(y, labels, labels, n_resamples=10).p_value

features: list[inspection.FeatureWeight] = inspection.feature_weights(perceptron, top=3)
transitions: NDArray[np.float64] = inspection.transition_weights(perceptron)
explanation: str = inspection.explain(perceptron, X[0]).describe()
margin: float = inspection.explain(perceptron, X[0]).tokens[0].margin
head: int = inspection.explain(parser, X[0]).arcs[0].head

columns = datasets.read_columns(Path("corpus.txt"))
loaded = skstruct.load("model.skstruct")
