"""Verbs that predict."""

import itertools
import math

import numpy as np
import pytest
from scipy.special import softmax

from skstruct import Span
from skstruct.metrics import (
    attachment_scores,
    span_f1_score,
    token_accuracy_score,
    word_f1_score,
)

from .cell import length, plain, verb


@verb
def predict(cell):
    predicted = cell.model.predict(cell.X)
    assert len(predicted) == len(cell.X)
    if cell.kind == "words":
        assert ["".join(plain(text)) for text in predicted] == cell.X
    elif cell.kind == "spans":
        assert {type(span) for spans in predicted for span in spans} == {Span}
        assert predicted == cell.y or "reranker" in cell.name
    else:
        assert [len(y) for y in predicted] == [length(x) for x in cell.X]
    assert predicted[1:3] == cell.model.predict(cell.X[1:3])


@verb
def predict_kbest(cell):
    for best, first in zip(
        cell.model.predict_kbest(cell.X, 3), cell.model.predict(cell.X)
    ):
        scores = [score for _, score in best]
        assert (
            list(best[0][0]) == list(first)
            and scores == sorted(scores, reverse=True)
            and len(best) <= 3
        )
        assert len({str(output) for output, _ in best}) == len(best)


def by_enumeration(cell, n=2):
    """For the first sequences: (all labellings, their probabilities), from the scores
    of the k best.
    """
    for ranked in cell.model.predict_kbest(cell.X[:n], 4**4):
        labellings, scores = zip(*ranked)
        assert len({tuple(labelling) for labelling in labellings}) == 4 ** len(
            labellings[0]
        )
        yield labellings, softmax(scores)


@verb
def predict_marginals(cell):
    """They are sums over all labellings."""
    found = cell.model.predict_marginals(cell.X)
    for x, marginals in zip(cell.X, found):
        assert marginals.shape == (length(x), 4)
        np.testing.assert_allclose(marginals.sum(axis=1), 1.0)
    for marginals, (labellings, p) in zip(found, by_enumeration(cell)):
        for t, k in itertools.product(range(marginals.shape[0]), range(4)):
            label = cell.model.classes_[k]
            expected = math.fsum(p[[labelling[t] == label for labelling in labellings]])
            assert marginals[t, k] == pytest.approx(expected, abs=1e-9)


@verb
def predict_posterior(cell):
    predicted, classes = cell.model.predict_posterior(cell.X), cell.model.classes_
    assert predicted == [
        classes[m.argmax(axis=1)].tolist() for m in cell.model.predict_marginals(cell.X)
    ]


@verb
def sequence_log_proba(cell):
    log_p = cell.model.sequence_log_proba(cell.X, cell.model.predict(cell.X))
    assert (log_p < 0.0).all() and (
        log_p >= cell.model.sequence_log_proba(cell.X, cell.y)
    ).all()
    for found, (_, p) in zip(log_p, by_enumeration(cell)):
        assert found == pytest.approx(math.log(p[0]), abs=1e-9)


@verb
def predict_segment_proba(cell):
    """Of all segments of one token some labelling stands in each: their probabilities
    sum to 1.
    """
    if cell.kind == "words":
        found, predicted = (
            cell.model.predict_segment_proba(cell.X),
            cell.model.predict(cell.X),
        )
        words = [
            [(x[a:b], tag) for (a, b, tag), _ in spans]
            for x, spans in zip(cell.X, found)
        ]
        assert words == predicted
        assert all(0.0 < p <= 1.0 for spans in found for _, p in spans)
        return
    if cell.kind == "spans":
        found = cell.model.predict_segment_proba(cell.X)
        assert [[span for span, _ in spans] for spans in found] == cell.model.predict(
            cell.X
        )
        assert all(0.0 < p <= 1.0 for spans in found for _, p in spans)
        return
    with pytest.raises(ValueError, match="scheme is needed"):
        cell.model.predict_segment_proba(cell.X)
    with pytest.raises(ValueError, match="'L00' does not belong to the scheme BIO"):
        cell.model.predict_segment_proba(cell.X, scheme="BIO")


@verb
def decision_function(cell):
    scores = cell.model.decision_function(cell.X)
    assert scores.shape == (len(cell.X),) and np.isfinite(scores).all()
    if hasattr(cell.model, "predict_kbest") and not hasattr(cell.model, "temperature_"):
        best = [ranked[0][1] for ranked in cell.model.predict_kbest(cell.X, 1)]
        np.testing.assert_allclose(scores, best, rtol=1e-9)


@verb
def encode(cell):
    """Encoded once, a corpus and its parts give what the plain one gives."""
    corpus = cell.model.encode(cell.X)
    assert cell.model.predict(corpus) == cell.model.predict(cell.X)
    assert cell.model.predict(corpus[:2]) == cell.model.predict(cell.X)[:2]


@verb
def score(cell):
    predicted = cell.model.predict(cell.X)
    if cell.kind == "words":
        expected = word_f1_score(
            [plain(text) for text in cell.y], [plain(text) for text in predicted]
        )
    elif cell.kind == "spans":
        expected = span_f1_score(cell.y, predicted)
    elif cell.kind == "trees":
        expected = attachment_scores(cell.y, predicted).uas
    else:
        expected = token_accuracy_score(cell.y, predicted)
    assert (
        cell.model.score(cell.X, cell.y) == pytest.approx(expected) and expected > 0.0
    )


@verb
def allowed(cell):
    forced = [list(y) for y in cell.y]
    assert cell.model.predict(cell.X, allowed=forced) == forced


@verb
def dictionary(cell):
    text = next(text for text in cell.X if length(text) > 3)
    (found,) = cell.model.predict([text], dictionary=[text[1:3]])
    assert text[1:3] in [w if isinstance(w, str) else w[0] for w in found]


@verb
def known(cell):
    """Predicted spans are predicted again, and none where none may be."""
    predicted = cell.model.predict(cell.X)
    assert cell.model.predict(cell.X, known=predicted) == predicted
    nothing = [[(0, len(x), "O")] for x in cell.X]
    assert cell.model.predict(cell.X, known=nothing) == [[] for _ in cell.X]


@verb
def min_proba(cell):
    """Predicted spans above a probability, whatever is known."""
    some = cell.model.predict(cell.X, min_proba=0.5)
    pairs = cell.model.predict_segment_proba(cell.X)
    assert some == [[span for span, p in row if p >= 0.5] for row in pairs]
    every = sorted({p for row in pairs for _, p in row})
    least = every[len(every) // 2]
    some = [[span for span, p in row if p >= least] for row in pairs]
    assert cell.model.predict(cell.X, min_proba=least) == some
    assert cell.model.predict(cell.X, min_proba={None: least}) == some
    sure = cell.model.predict(cell.X, known=some, min_proba=1.0 - 1e-6)
    assert all({*few} <= {*row} for few, row in zip(some, sure))
    with pytest.raises(ValueError, match="min_proba: no label has the type 'X'"):
        cell.model.predict(cell.X, min_proba={"X": least, None: least})


@verb
def boundaries(cell):
    text = cell.X[0]
    assert cell.model.predict([text], boundaries=[None]) == cell.model.predict([text])
    assert cell.model.predict([text], boundaries=[[True] * len(text)]) == [list(text)]
    assert cell.model.predict(
        [text], boundaries=[[True] + [False] * (len(text) - 1)]
    ) == [[text]]


@verb
def predict_sets(cell):
    """The most probable first, all above the threshold."""
    for spans in cell.model.predict_sets(cell.X):
        p = [p for _, p in spans]
        assert p == sorted(p, reverse=True) and all(
            each >= cell.model.thresholds_[None] for each in p
        )


@verb
def predict_sure(cell):
    """Those above the other threshold, in the order of the text."""
    spans = cell.model.estimator_.predict_segment_proba(cell.X, min_proba=0.01)
    expected = [
        sorted(s for s, p in each if p >= cell.model.sure_threshold_) for each in spans
    ]
    assert cell.model.predict_sure(cell.X) == expected
