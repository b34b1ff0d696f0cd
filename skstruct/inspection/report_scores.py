"""Scores of predictions with confidence intervals: for every kind of model the same few counts."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..data.inputs import LABELS, SPANS, TREES
from ..data.spans import trimmed_spans
from ..data.text import as_texts
from ..metrics.significance import resampled
from ..metrics.text_scores import judged
from .pictures import checked, marked, segment_reader, tree_of

RESAMPLES = 1_000


class Score(NamedTuple):
    """A score and its 95 % confidence interval."""

    value: float
    low: float
    high: float


class Scores(NamedTuple):
    """What a report says about the predictions of a corpus."""

    overall: dict[str, Score]
    by_label: dict[str, dict[str, Any]]  # name -> precision, recall, f1 (a Score), support
    wrong: list[int]  # sequences with an error


def scored(kind, X, y, y_pred, scheme=None):
    """The :class:`Scores` of predictions.

    Intervals are those of the bootstrap: sequences are drawn with replacement.

    Parameters
    ----------
    kind : {"labels", "words", "spans", "trees"}
    X, y, y_pred
    scheme : str, optional
        Of labels.
    """
    tokens, pairs, names = None, None, ("precision", "recall", "F1")
    if kind == LABELS:
        X, y, y_pred = checked(X, y, y_pred)
        tokens = [_labels(*pair) for pair in zip(y, y_pred)]
        if segment_reader((label for both in (y, y_pred) for labels in both for label in labels), scheme):
            pairs = _marks(kind, X, y, y_pred, scheme)
        else:
            pairs, names = tokens, ()
    elif kind == TREES:
        tokens = [_arcs(i, *pair) for i, pair in enumerate(zip(y, y_pred))]
        pairs, names = tokens, ()
    else:
        pairs = _marks(kind, X, y, y_pred, scheme)
    if not pairs:
        raise ValueError("X and y are empty: a report needs at least one sequence")
    counts, labels = _counts(pairs)
    overall, found = {}, _resampled(counts)
    if kind == TREES:
        heads, _ = _counts([tuple({item[:2] + ("",) for item in side} for side in pair) for pair in tokens])
        overall["UAS"] = _score(_f1, heads.sum(1), _resampled(heads))
        overall["LAS"] = _score(_f1, counts.sum(1), found)
    elif tokens is not None:
        flat = counts if pairs is tokens else _counts(tokens)[0]
        overall["accuracy of tokens"] = _score(_f1, flat.sum(1), _resampled(flat))
    for name, ratio in zip(names, (_precision, _recall, _f1)):
        overall[name] = _score(ratio, counts.sum(1), found)
    judged = tokens if tokens is not None else pairs
    wrong = [i for i, (gold, predicted) in enumerate(judged) if gold != predicted]
    right = np.ones((len(judged), 1, 3))
    right[wrong, 0, 0] = 0.0
    overall["sequences that are right"] = _score(_recall, right.sum(1), _resampled(right))
    sums = counts.sum(0)
    by_label = {
        label: {
            "precision": float(_precision(sums[k])),
            "recall": float(_recall(sums[k])),
            "f1": _score(_f1, counts[:, k], found[:, k : k + 1]),
            "support": int(sums[k, 2]),
        }
        for k, label in enumerate(labels)
    }
    return Scores(overall, by_label, wrong)


def _labels(gold, predicted):
    """Tokens with a known label, and the same tokens as predicted."""
    known = [t for t, label in enumerate(gold) if label is not None]
    return tuple({(t, t + 1, str(side[t])) for t in known} for side in (gold, predicted))


def _arcs(i, gold, predicted):
    return tuple(
        {(t, head, str(label or "")) for t, (head, label) in enumerate(zip(*tree_of(i, tree)))}
        for tree in (gold, predicted)
    )


def _marks(kind, X, y, y_pred, scheme):
    """(gold, predicted) of each sequence, as sets of (start, stop, type); what touches None is left out."""
    if kind == SPANS:
        both = zip(trimmed_spans(as_texts(X), y), trimmed_spans(as_texts(X), y_pred))
        return [tuple(map(set, judged(*pair))) for pair in both]
    pairs = []
    unknown = [()] * len(y)
    if kind == LABELS:
        unknown = [[t for t, label in enumerate(labels) if label is None] for labels in y]
    for (_, *sides), places in zip(marked(kind, X, y, y_pred, scheme), unknown):
        hidden = set(places)
        pairs.append(
            tuple(
                {m[:3] for m in side if hidden.isdisjoint(range(m.start - 1, m.stop + 1))} for side in sides
            )
        )
    return pairs


def _counts(pairs):
    """((n, K, 3) of correct, predicted and true items of each sequence and type, the types)."""
    labels = sorted({item[2] for pair in pairs for side in pair for item in side})
    column = {label: k for k, label in enumerate(labels)}
    counts = np.zeros((len(pairs), len(labels), 3))
    for i, (gold, predicted) in enumerate(pairs):
        for j, side in enumerate((gold & predicted, predicted, gold)):
            for item in side:
                counts[i, column[item[2]], j] += 1.0
    return counts, labels


def _resampled(counts):
    """(R, K, 3): counts of resamples."""
    n, K = counts.shape[:2]
    parts = resampled(counts.reshape(n, -1), RESAMPLES, 0)
    return np.concatenate([part.reshape(len(part), K, 3) for part in parts])


def _score(ratio, counts, found):
    """A `Score` of counts (n, 3), and of those of resamples (R, K, 3)."""
    values = ratio(found.sum(1))
    values = values[~np.isnan(values)]
    low, high = np.percentile(values, [2.5, 97.5]) if len(values) else (np.nan, np.nan)
    return Score(float(ratio(counts.sum(0))), float(low), float(high))


def _ratio(a, b):
    return np.divide(a, b, out=np.full(np.shape(a), np.nan), where=np.asarray(b) > 0)


def _precision(c):
    return _ratio(c[..., 0], c[..., 1])


def _recall(c):
    return _ratio(c[..., 0], c[..., 2])


def _f1(c):
    return _ratio(2.0 * c[..., 0], c[..., 1] + c[..., 2])
