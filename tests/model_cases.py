"""Small estimators of every family with as many labels as asked for, and data to try
their files on.
"""

import functools

import numpy as np
import pandas
from covers import cover, slow_beyond
from scipy import sparse

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
)
from skstruct.features.patterns import Patterns

TEMPLATES = ["U0:%x[0,0]", "U1:%x[-1,0]/%x[0,0]", "B"]
PATTERNS = Patterns(["u:0=%x[0,0]", "*:1=%X[-1,0]/%x[0,1]", "b"], "wapiti")
LENGTH = 4


def sentences(n_words):
    """Sentences of word numbers: all words in turn, then in other orders."""
    numbers = [k**power % n_words for power in range(1, 5) for k in range(n_words)]
    return [numbers[k : k + LENGTH] for k in range(0, len(numbers), LENGTH)]


def tokens(n_labels):
    """(X, y): word k is labelled k, or another label after word 0."""
    X, y = [], []
    for numbers in sentences(n_labels + 3):
        X.append([f"w{k}" for k in numbers])
        before = [1, *numbers]
        y.append([f"L{(k + (p == 0)) % n_labels:02}" for p, k in zip(before, numbers)])
    return X, y


def pairs(n_labels):
    """The same, each token a tuple of str."""
    X, y = tokens(n_labels)
    return [[(token, token[-1]) for token in sequence] for sequence in X], y


def dicts(n_labels):
    """The same, each token a dict of features."""
    X, y = tokens(n_labels)
    return [
        [{"w": token, "last": token[-1], "length": len(token)} for token in s]
        for s in X
    ], y


def bags(n_labels):
    """The same, each token a list of str."""
    X, y = tokens(n_labels)
    return [[[f"w={token}", "bias"] for token in sequence] for sequence in X], y


def rows(n_labels):
    """The same, each token a row of numbers: one column a word, and one that all
    have.
    """
    X, y = tokens(n_labels)
    numbers = [[int(token[1:]) for token in sequence] for sequence in X]
    columns = np.eye(n_labels + 3) * 1.5
    return [np.column_stack([columns[k], np.full(len(k), -0.25)]) for k in numbers], y


def sparse_rows(n_labels):
    """The same as CSR."""
    X, y = rows(n_labels)
    return [sparse.csr_array(sequence) for sequence in X], y


def frames(n_labels):
    """The same, each sequence a data frame: strings and vectors."""
    X, y = tokens(n_labels)
    columns = [
        {"word": x, "number": [float(t[1:]) - 3 for t in x], "last": [t[-1] for t in x]}
        for x in X
    ]
    return [
        pandas.DataFrame(c).assign(first=lambda df: df.word == "w0") for c in columns
    ], y


def texts(n_labels):
    """(X, y) of tagged words whose labels under the scheme "BI" are that many."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    n_tags = (n_labels + 1) // 2
    X, y = [], []
    for numbers in sentences(n_tags):
        # With an odd number of labels, the words of the last tag are single letters.
        words = [
            (
                letters[k] + (letters[k].upper() if 2 * k + 1 < n_labels else ""),
                f"T{k:02}",
            )
            for k in numbers
        ]
        X.append("".join(word for word, _ in words))
        y.append(words)
    return X, y


def annotated(n_labels):
    """(X, y) of texts and their spans, whose labels under the scheme "BIO" are that
    many.
    """
    letters = "abcdefghijklmnopqrstuvwxyz"
    n_types, names = n_labels // 2, [c * 2 for c in letters]
    X, y = [], []
    for numbers in sentences(n_types + 1):
        text, spans = "", []
        for k in numbers:
            # With an even number of labels, the spans of the last type are single
            # words.
            word = names[k] + (f" {letters[k]}x" if 2 * k + 2 < n_labels else "")
            if k < n_types:
                spans.append((len(text), len(text) + len(word), f"T{k:02}"))
            text += (word if k < n_types else "out") + " "
        X.append(text)
        y.append(spans)
    return X, y


def nested(n_labels):
    """The same; and two texts more in which a span of another type holds one of each:
    its chain has two labels and "O".
    """
    X, y = annotated(n_labels)
    known = {}
    for text, spans in zip(X, y):
        known.update((kind, text[start:end]) for start, end, kind in spans)
    text, inner = "in ", []
    for kind, name in sorted(known.items()):
        inner.append((len(text), len(text) + len(name), kind))
        text += f"{name} "
    spans = [(0, len(text) - 1, "W"), *inner]
    return [*X, *[f"{text}here "] * 2], [*y, spans, spans]


def words(n_labels):
    """(X, y) of words without tags."""
    X, y = texts(n_labels)
    return X, [[word for word, _ in text] for text in y]


def trees(n_labels):
    """(X, y): each word hangs on the next one, the last is the root."""
    X, y = [], []
    for numbers in sentences(n_labels - 1):
        X.append([*((f"w{k}", "N") for k in numbers), ("root", "V")])
        y.append([*((t, f"L{k:02}") for t, k in enumerate(numbers, 2)), (0, "root")])
    return X, y


def trees_of_columns(n_labels):
    """The same; words have a tag, a class, and morphological features."""
    X, y = trees(n_labels)
    rows = [
        [
            (w, t, t.lower(), f"Case={w[-1]}|Number={k % 2}")
            for k, (w, t) in enumerate(s)
        ]
        for s in X
    ]
    return [[*sentence[:-1], (*sentence[-1][:3], "_")] for sentence in rows], y


def _perceptron(features=TEMPLATES, **parameters):
    return StructuredPerceptron(features, max_iter=2, random_state=0, **parameters)


def _passive_aggressive():
    return PassiveAggressiveTagger(TEMPLATES, max_iter=2, random_state=0)


def _l1crf():
    return L1CRF(TEMPLATES, c1=0.3, random_state=0)


def _l1crf_search():
    return L1CRFCV(
        features=TEMPLATES, candidates=[(0.3, 0.0), (3.0, 0.0)], cv=2, random_state=0
    )


def _word_segmenter():
    return WordSegmenter(beam_size=2, max_iter=2, random_state=0)


def _segmenter():
    return Segmenter(_perceptron(), scheme="BI")


def _span_tagger(tagger=None):
    return SpanTagger(tagger or _perceptron(), scheme="BIO", layout=False)


def _span_tagger_by_type(tagger=None):
    return _span_tagger(tagger).set_params(overlap="by-type")


def _parser():
    return ShiftReduceParser("hs28", beam_size=2, max_iter=2, random_state=0)


def _averager(estimator):
    return BaggingShuffleAverager(estimator, 2, random_state=0)


def _mixer(estimator):
    return ParameterMixer(estimator, 2, random_state=0)


def _reranker(base):
    return KBestReranker(base, k=3, cv=2, max_iter=2, random_state=0)


def _calibrated(estimator):
    return CalibratedTagger(estimator, cv=2, random_state=0)


CASES = {
    "perceptron": (tokens, _perceptron),
    "perceptron-order2": (tokens, lambda: _perceptron(order=2)),
    "passive-aggressive": (tokens, _passive_aggressive),
    "l1crf": (tokens, _l1crf),
    "l1crf-search": (tokens, _l1crf_search),
    "segmenter": (texts, _segmenter),
    "segmenter-l1crf": (texts, lambda: Segmenter(_l1crf(), scheme="BI")),
    "averager": (tokens, lambda: _averager(_perceptron())),
    "averager-l1crf": (tokens, lambda: _averager(_l1crf())),
    "calibrated": (tokens, lambda: _calibrated(_perceptron())),
    "calibrated-order2": (tokens, lambda: _calibrated(_perceptron(order=2))),
    "calibrated-averager": (tokens, lambda: _calibrated(_averager(_perceptron()))),
    "segmenter-calibrated": (
        texts,
        lambda: Segmenter(_calibrated(_perceptron()), scheme="BI"),
    ),
    "spans": (annotated, _span_tagger),
    "spans-default": (annotated, lambda: SpanTagger(scheme="BIO")),
    "segmenter-default": (texts, lambda: Segmenter(scheme="BI")),
    "spans-l1crf": (annotated, lambda: _span_tagger(_l1crf())),
    "spans-calibrated": (annotated, lambda: _span_tagger(_calibrated(_perceptron()))),
    "spans-averager": (annotated, lambda: _span_tagger(_averager(_perceptron()))),
    "spans-averager-l1crf": (annotated, lambda: _span_tagger(_averager(_l1crf()))),
    "spans-by-type": (
        nested,
        lambda: _span_tagger_by_type(_perceptron().set_params(max_iter=10)),
    ),
    "spans-by-type-l1crf": (nested, lambda: _span_tagger_by_type(_l1crf())),
    "sets": (
        annotated,
        lambda: SpanSets(_span_tagger(_l1crf()), recall=0.5, precision=0.5, cv=2),
    ),
    "averager-parser": (trees, lambda: _averager(_parser())),
    "segmenter-averager": (
        texts,
        lambda: Segmenter(_averager(_perceptron()), scheme="BI"),
    ),
    "segmenter-averager-l1crf": (
        texts,
        lambda: Segmenter(_averager(_l1crf()), scheme="BI"),
    ),
    "mixer": (tokens, lambda: _mixer(_perceptron())),
    "mixer-segmenter": (texts, lambda: _mixer(_segmenter())),
    "mixer-spans": (annotated, lambda: _mixer(_span_tagger())),
    "mixer-parser": (trees, lambda: _mixer(_parser())),
    "parser": (trees, _parser),
    "reranker": (tokens, lambda: _reranker(_perceptron())),
    "reranker-l1crf": (tokens, lambda: _reranker(_l1crf())),
    "reranker-segmenter": (texts, lambda: _reranker(_segmenter())),
}
"""Name -> the maker of its data, given the number of labels, and the maker of the
estimator.
"""

WITHOUT_LABELS = {"word-segmenter": (words, _word_segmenter)}

KINDS_OF_TOKENS = {
    "perceptron-pairs": (pairs, lambda: _perceptron([*TEMPLATES, "U2:%x[0,1]"])),
    "perceptron-dicts": (dicts, lambda: _perceptron("auto")),
    "perceptron-bags": (bags, lambda: _perceptron("auto")),
    "l1crf-dicts": (dicts, lambda: L1CRF("auto", c1=0.3, random_state=0)),
    "perceptron-rows": (rows, lambda: _perceptron("auto")),
    "perceptron-sparse-rows": (sparse_rows, lambda: _perceptron("auto")),
    "perceptron-order2-rows": (rows, lambda: _perceptron("auto", order=2)),
    "l1crf-rows": (rows, lambda: L1CRF("auto", c1=0.3, random_state=0)),
    "l1crf-sparse-rows": (sparse_rows, lambda: L1CRF("auto", c1=0.3, random_state=0)),
    "l1crf-patterns": (pairs, lambda: L1CRF(PATTERNS, c1=0.3, random_state=0)),
    "perceptron-patterns": (tokens, lambda: _perceptron(Patterns(TEMPLATES))),
    "perceptron-frames": (frames, lambda: _perceptron([*TEMPLATES, "U2:%x[0,1]"])),
    "perceptron-order2-frames": (frames, lambda: _perceptron("auto", order=2)),
    "passive-aggressive-frames": (frames, _passive_aggressive),
    "l1crf-frames": (frames, _l1crf),
    "parser-columns": (
        trees_of_columns,
        lambda: ShiftReduceParser(beam_size=2, max_iter=2, random_state=0),
    ),
    "mixer-parser-columns": (
        trees_of_columns,
        lambda: _mixer(ShiftReduceParser(beam_size=2, max_iter=2, random_state=0)),
    ),
    "calibrated-dicts": (dicts, lambda: _calibrated(_perceptron("auto"))),
    "calibrated-rows": (rows, lambda: _calibrated(_perceptron("auto"))),
}

NESTED = {
    "calibrated-l1crf": (tokens, lambda: _calibrated(_l1crf())),
    "calibrated-passive-aggressive": (
        tokens,
        lambda: _calibrated(_passive_aggressive()),
    ),
    "calibrated-mixer": (tokens, lambda: _calibrated(_mixer(_perceptron()))),
    "reranker-calibrated": (tokens, lambda: _reranker(_calibrated(_perceptron()))),
    "segmenter-mixer": (texts, lambda: Segmenter(_mixer(_perceptron()), scheme="BI")),
    "segmenter-passive-aggressive": (
        texts,
        lambda: Segmenter(_passive_aggressive(), scheme="BI"),
    ),
    "segmenter-reranker": (
        texts,
        lambda: Segmenter(_reranker(_perceptron()), scheme="BI"),
    ),
    "segmenter-l1crf-search": (texts, lambda: Segmenter(_l1crf_search(), scheme="BI")),
    "spans-l1crf-search": (annotated, lambda: _span_tagger(_l1crf_search())),
    "averager-l1crf-search": (tokens, lambda: _averager(_l1crf_search())),
    "calibrated-l1crf-search": (tokens, lambda: _calibrated(_l1crf_search())),
    "reranker-l1crf-search": (tokens, lambda: _reranker(_l1crf_search())),
    "spans-mixer": (annotated, lambda: _span_tagger(_mixer(_perceptron()))),
    "spans-passive-aggressive": (
        annotated,
        lambda: _span_tagger(_passive_aggressive()),
    ),
    "spans-reranker": (annotated, lambda: _span_tagger(_reranker(_perceptron()))),
    "spans-text": (
        annotated,
        lambda: SpanTagger(_perceptron("auto"), scheme="BIO", pieces="texts"),
    ),
    "averager-passive-aggressive": (tokens, lambda: _averager(_passive_aggressive())),
    "averager-word-segmenter": (words, lambda: _averager(_word_segmenter())),
    "mixer-word-segmenter": (words, lambda: _mixer(_word_segmenter())),
    "mixer-passive-aggressive": (tokens, lambda: _mixer(_passive_aggressive())),
    "mixer-reranker": (tokens, lambda: _mixer(_reranker(_perceptron()))),
    "reranker-passive-aggressive": (tokens, lambda: _reranker(_passive_aggressive())),
    "reranker-averager": (tokens, lambda: _reranker(_averager(_perceptron()))),
    "reranker-mixer": (tokens, lambda: _reranker(_mixer(_perceptron()))),
    "reranker-word-segmenter": (words, lambda: _reranker(_word_segmenter())),
}

ALL_CASES = {**CASES, **WITHOUT_LABELS, **KINDS_OF_TOKENS, **NESTED}


def fitted(name, n_labels):
    """An estimator of the tables, trained; and its data."""
    make_data, make = ALL_CASES[name]
    X, y = make_data(n_labels)
    return make().fit(X, y), X, y


def n_labels_of(estimator):
    """How many labels an estimator has learned."""
    while not hasattr(estimator, "classes_"):
        inner = next(
            a for a in ("tagger_", "base_", "estimator_") if hasattr(estimator, a)
        )
        estimator = getattr(estimator, inner)
    return len(estimator.classes_)


def assert_predicts_same(a, b, X):
    assert a.predict(X) == b.predict(X)
    if hasattr(a, "decision_function"):
        np.testing.assert_array_equal(a.decision_function(X), b.decision_function(X))


# -- what the models are made of -------------------------------------------------------
def inner_of(estimator):
    """The estimator inside another one, or None."""
    return next(
        (v for k, v in vars(estimator).items() if k in ("tagger", "estimator", "base")),
        None,
    )


def levels(estimator):
    """An estimator, the one inside of it, and so on."""
    while estimator is not None:
        yield estimator
        estimator = inner_of(estimator)


@functools.cache
def traits(name):
    """What a model of the table is made of: its class, those inside, the kind of its
    tokens, and the parameters that choose other kernels.
    """
    data, make = ALL_CASES[name]
    found = {("tokens", data)}
    for depth, each in enumerate(levels(make())):
        found.add((depth, type(each)))
        for parameter in ("order", "pieces"):
            found.add((parameter, getattr(each, parameter, None)))
        found.add(("features", type(getattr(each, "features", None))))
    return found


def covering(names, mark=None):
    """Make parameters of names of the table; some hold all traits, the others are
    slow.
    """
    cells = [(name,) for name in names]
    chosen = {cells[k] for k in cover(cells, lambda cell: traits(*cell))}
    return slow_beyond(chosen, cells, mark)
