"""Scores of predictions with confidence intervals: for every kind of model the same few
counts.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._data.inputs import SPANS, TREES, WORDS, flatten
from .._data.spans import trimmed_spans
from .._data.text import as_texts
from ..metrics.counting import has_label, refuse_nothing, surroundings_known
from ..metrics.significance import resampled
from ..metrics.text_scores import judged
from .pictures import checked, marked, marks_of, segment_reader, tree_of

RESAMPLES = 1_000

PREDICTED = 1
TRUE = 2
RATIOS = {"precision": [PREDICTED], "recall": [TRUE], "F1": [PREDICTED, TRUE]}
"""Name of a score -> the counts that are below the right ones, which stand once for
each.
"""


class Score(NamedTuple):
    """A score and its 95 % confidence interval."""

    value: float
    low: float
    high: float


class Scores(NamedTuple):
    """What a report says about the predictions of a corpus."""

    overall: dict[str, Score]
    by_label: dict[
        str, dict[str, Any]
    ]  # name -> precision, recall, f1 (a Score), support
    wrong: list[int]  # sequences with an error


def scored(kind, X, y, y_pred, scheme=None):
    """The :class:`Scores` of predictions.

    Intervals are those of the bootstrap: sequences that count are drawn with
    replacement.

    Parameters
    ----------
    kind : {"labels", "words", "spans", "trees"}
    X, y, y_pred
    scheme : str, optional
        Of labels.

    Raises
    ------
    ValueError
        If nothing counts, as :mod:`..metrics.counting` has it.
    """
    overall = {}
    compared = _compared(kind, X, y, y_pred, scheme)
    if not len(y):
        raise ValueError("X and y are empty: a report needs at least one sequence")
    counted = np.array([kind == SPANS or has_label(items) for items in y])
    refuse_nothing(counted)
    right = np.ones((len(y), 1, 3))
    for name, pairs in compared.items():
        right[[gold != predicted for gold, predicted in pairs], 0, 0] = 0.0
        counts, labels = _counts(pairs)
        counts = counts[counted]
        found = _resampled(counts)
        for each, of in {name: RATIOS["F1"]}.items() if name else RATIOS.items():
            overall[each] = _score(of, counts, found)
    wrong = np.flatnonzero(right[:, 0, 0] == 0.0).tolist()
    right = right[counted]
    overall["sequences that are right"] = _score([TRUE], right, _resampled(right))
    by_label = {
        label: {
            "precision": float(_ratio(counts[:, k].sum(0), [PREDICTED])),
            "recall": float(_ratio(counts[:, k].sum(0), [TRUE])),
            "f1": _score([PREDICTED, TRUE], counts[:, k : k + 1], found[:, k : k + 1]),
            "support": int(counts[:, k, TRUE].sum()),
        }
        for k, label in enumerate(labels)
    }
    return Scores(overall, by_label, wrong)


def _compared(kind, X, y, y_pred, scheme):
    """What is scored: {name: for each sequence the gold and the predicted set of
    (start, stop, type)}.

    Types are those of the last one. Precision and recall are said of what has no name.
    """
    if kind == SPANS:
        both = zip(trimmed_spans(as_texts(X), y), trimmed_spans(as_texts(X), y_pred))
        return {"": [tuple(map(set, judged(*pair))) for pair in both]}
    if kind == TREES:
        trees = [
            [tree_of(i, tree) for tree in pair] for i, pair in enumerate(zip(y, y_pred))
        ]
        arcs = [
            tuple({(t, *arc) for t, arc in enumerate(tree)} for tree in pair)
            for pair in trees
        ]
        heads = [
            tuple({(t, head, "") for t, head, _ in tree} for tree in pair)
            for pair in arcs
        ]
        return {"UAS": heads, "LAS": arcs}
    if kind == WORDS:
        both = (sides for _, *sides in marked(kind, X, y, y_pred))
        return {
            "": [tuple({mark[:3] for mark in side} for side in sides) for sides in both]
        }
    _, y, y_pred = checked(X, y, y_pred)
    found = {"accuracy of tokens": list(_labelled(y, y_pred, None))}
    segments_of = segment_reader(flatten([*y, *y_pred]), scheme)
    if segments_of is not None:
        found[""] = list(_labelled(y, y_pred, segments_of))
    return found


def _labelled(y, y_pred, segments_of):
    """Tokens that have a label; or segments that hold no token without one, and do not
    touch one.
    """
    beside = 0 if segments_of is None else 1
    for pair in zip(y, y_pred):
        sides = (marks_of(segments_of, labels) for labels in pair)
        yield tuple(
            {m[:3] for m in side if surroundings_known(pair[0], *m[:2], beside)}
            for side in sides
        )


def _counts(pairs):
    """((n, K, 3) of correct, predicted and true items of each sequence and type, the
    types).
    """
    labels = sorted({item[2] for pair in pairs for side in pair for item in side})
    column = {label: k for k, label in enumerate(labels)}
    shape = (len(pairs), len(labels))
    counts = np.zeros((*shape, 3))
    for j, sides in enumerate(
        zip(*((gold & predicted, predicted, gold) for gold, predicted in pairs))
    ):
        places = [
            i * shape[1] + column[item[2]]
            for i, side in enumerate(sides)
            for item in side
        ]
        counts[..., j] = np.bincount(
            np.array(places, int), minlength=shape[0] * shape[1]
        ).reshape(shape)
    return counts, labels


def _resampled(counts):
    """(R, K, 3): counts of resamples."""
    n, K = counts.shape[:2]
    parts = resampled(counts.reshape(n, -1), RESAMPLES, 0)
    return np.concatenate([part.reshape(len(part), K, 3) for part in parts])


def _score(of, counts, found):
    """A `Score` of counts (n, K, 3) of types, and of those of resamples (R, K, 3)."""
    values = _ratio(found.sum(1), of)
    values = values[~np.isnan(values)]
    low, high = np.percentile(values, [2.5, 97.5]) if len(values) else (np.nan, np.nan)
    return Score(float(_ratio(counts.sum((0, 1)), of)), float(low), float(high))


def _ratio(counts, of):
    """Right items, divided by others as :data:`RATIOS` says; nan where there are none."""
    below = counts[..., of].sum(-1)
    return np.divide(
        len(of) * counts[..., 0],
        below,
        out=np.full(np.shape(below), np.nan),
        where=below > 0,
    )
