"""Scores of predictions with confidence intervals.

For every kind of model the same few counts are made.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from .._data.inputs import SPANS, TREES, WORDS, flatten
from .._data.spans import trimmed_spans
from .._data.text import as_texts
from ..metrics.counting import has_label, refuse_nothing, surroundings_known
from ..metrics.significance import resampled
from ..metrics.text_scores import judged
from ..metrics.tree_scores import main_types, split_heads
from .pictures import checked, marked, marks_of, segment_reader, tree_of

if TYPE_CHECKING:
    from .._data.types import Corpus
    from .pictures import Mark, SegmentReader


Sides: TypeAlias = tuple[set[Any], set[Any]]
"""Of a sequence the gold and the predicted items (start, stop, type)."""

RESAMPLES = 1_000

FEW = 30
"""Groups of which resamples have too few values to show how a score varies."""

FEWEST = 5
"""Groups that an interval needs: of fewer it is too short, whatever is done."""

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
    by_label: dict[str, dict[str, Any]]
    """Name -> precision, recall, f1 (a Score), support."""
    wrong: list[int]
    """Sequences with an error."""
    worst: list[tuple[int, int]] = []
    """(sequence, items that are wrong or missing), the most first."""


def scored(
    kind: str,
    X: Any,
    y: Corpus,
    y_pred: Corpus,
    scheme: str | None = None,
    groups: np.ndarray | None = None,
) -> Scores:
    """Compute the :class:`Scores` of predictions.

    Intervals are those of the bootstrap: sequences that count are drawn with
    replacement, or groups of them as a whole.

    Parameters
    ----------
    kind : {"labels", "words", "spans", "trees"}
    X, y, y_pred
    scheme : str, optional
        Of labels.
    groups : ndarray of shape (n,), int64, optional
        The number of each sequence's document. Intervals are then those of the expanded
        percentile bootstrap, which are wider where documents are few; of fewer than
        :data:`FEW` also as wide as Student's t has it. Of fewer than :data:`FEWEST`
        there are none (nan).

    Raises
    ------
    ValueError
        If nothing counts, as :mod:`..metrics.counting` has it.

    References
    ----------
    T. Hesterberg, "What teachers should know about the bootstrap", 2015, section 5.3:
    percentiles for small samples.
    """
    overall = {}
    compared = _compared(kind, X, y, y_pred, scheme)
    if not len(y):
        raise ValueError("X and y are empty: a report needs at least one sequence")
    counted = np.array([kind == SPANS or has_label(items) for items in y])
    refuse_nothing(counted)
    members = None if groups is None else groups[counted]
    interval = _interval(members)
    right = np.ones((len(y), 1, 3))
    if "LAS" in compared:  # which passes over subtypes
        right[[gold != predicted for gold, predicted in _arcs(y, y_pred)], 0, 0] = 0.0
    for name, pairs in compared.items():
        right[[gold != predicted for gold, predicted in pairs], 0, 0] = 0.0
        counts, labels = _counts(pairs)
        missed = counts.sum(1)[:, 1:].max(axis=1) - counts.sum(1)[:, 0]
        counts = _grouped(counts[counted], members)
        found = _resampled(counts)
        for each, of in {name: RATIOS["F1"]}.items() if name else RATIOS.items():
            overall[each] = _score(of, counts, found, interval)
    wrong = np.flatnonzero(right[:, 0, 0] == 0.0).tolist()
    right = _grouped(right[counted], members)
    overall["sequences that are right"] = _score(
        [TRUE], right, _resampled(right), interval
    )
    by_label = {
        label: {
            "precision": float(_ratio(counts[:, k].sum(0), [PREDICTED])),
            "recall": float(_ratio(counts[:, k].sum(0), [TRUE])),
            "f1": _score(
                [PREDICTED, TRUE], counts[:, k : k + 1], found[:, k : k + 1], interval
            ),
            "support": int(counts[:, k, TRUE].sum()),
        }
        for k, label in enumerate(labels)
    }
    order = np.argsort(-missed, kind="stable")
    worst = [(int(i), int(missed[i])) for i in order if missed[i] > 0]
    return Scores(overall, by_label, wrong, worst)


def _compared(
    kind: str, X: Any, y: Corpus, y_pred: Corpus, scheme: str | None
) -> dict[str, list[Sides]]:
    """Collect what is scored, {name: for each sequence its two `Sides`}.

    Types are those of the last one. Precision and recall are said of what has no name.
    """
    if kind == SPANS:
        texts = as_texts(X)
        both = zip(trimmed_spans(texts, y), trimmed_spans(texts, y_pred))
        counted = (judged(*pair) for pair in both)
        return {"": [(set(gold), set(found)) for gold, found in counted]}
    if kind == TREES:
        heads = [
            (_heads(i, a), _heads(i, b)) for i, (a, b) in enumerate(zip(y, y_pred))
        ]
        if not (_have_labels(y) and _have_labels(y_pred)):
            return {"UAS": heads}
        return {"UAS": heads, "LAS": list(_arcs(y, y_pred, main_types))}
    if kind == WORDS:
        marks = marked(kind, X, y, y_pred)
        return {"": [(_items(gold), _items(found or ())) for _, gold, found in marks]}
    _, gold, predicted = checked(X, y, y_pred)
    found = {"accuracy of tokens": list(_labelled(gold, predicted, None))}
    segments_of = segment_reader(flatten([*gold, *predicted]), scheme)
    if segments_of is not None:
        found[""] = list(_labelled(gold, predicted, segments_of))
    return found


def _items(marks: Iterable[Mark]) -> set[Any]:
    """Marks as items (start, stop, type)."""
    return {mark[:3] for mark in marks}


def _heads(i: int, tree: Collection[Any]) -> set[Any]:
    """The arcs of a tree as items that only differ if their heads do."""
    return {(t, head, "") for t, (head, _) in enumerate(tree_of(i, tree))}


def _have_labels(trees: Corpus) -> bool:
    """Whether the arcs of trees have labels."""
    return all(
        split_heads(i, tree)[1] is not None for i, tree in enumerate(trees) if len(tree)
    )


def _arcs(
    y: Corpus, y_pred: Corpus, named: Callable[[list[str]], list[str]] = list
) -> Iterator[Sides]:
    """Yield the arcs of trees as items (token, head, label), but for those whose gold
    label is not known; ``named`` changes the labels.
    """
    for i, pair in enumerate(zip(y, y_pred)):
        _, labels = split_heads(i, pair[0])
        known = [t for t, label in enumerate(labels or ()) if label is not None]
        trees = [tree_of(i, tree) for tree in pair]
        types = [named([label for _, label in tree]) for tree in trees]
        gold, found = (
            {(t, tree[t][0], names[t]) for t in known}
            for tree, names in zip(trees, types)
        )
        yield gold, found


def _labelled(
    y: list[list[Any]], y_pred: list[Any], segments_of: SegmentReader | None
) -> Iterator[Sides]:
    """Yield the tokens that have a label, or the segments that count.

    Segments do not count that hold a token without label, or touch one.
    """
    beside = 0 if segments_of is None else 1
    for pair in zip(y, y_pred):
        gold, found = (
            {
                mark[:3]
                for mark in marks_of(segments_of, labels)
                if surroundings_known(pair[0], mark.start, mark.stop, beside)
            }
            for labels in pair
        )
        yield gold, found


def _counts(pairs: list[Sides]) -> tuple[np.ndarray, list[str]]:
    """Count the correct, predicted and true items by sequence and type.

    Returns
    -------
    counts : ndarray of shape (n, K, 3)
    types : list of str
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


def _resampled(counts: np.ndarray) -> np.ndarray:
    """Draw resamples, and return their counts, (R, K, 3)."""
    n, K = counts.shape[:2]
    parts = resampled(counts.reshape(n, -1), RESAMPLES, 0)
    return np.concatenate([part.reshape(len(part), K, 3) for part in parts])


def _grouped(counts: np.ndarray, groups: np.ndarray | None) -> np.ndarray:
    """Add up the counts of each group, (n, K, 3) to (G, K, 3)."""
    if groups is None:
        return counts
    _, number = np.unique(groups, return_inverse=True)
    sums = np.zeros((int(number.max()) + 1, *counts.shape[1:]))
    np.add.at(sums, number, counts)
    return sums


class _Interval(NamedTuple):
    """How an interval is made of resamples: which percentiles are its ends.

    ``quantile`` is that of Student's t, of groups so few that resamples have few
    values.
    """

    percentiles: tuple[float, float]
    quantile: float | None = None


_USUAL = _Interval((2.5, 97.5))


def _interval(groups: np.ndarray | None) -> _Interval | None:
    """Return how the interval of groups is made; None of too few groups for one.

    Resamples of n groups vary less than samples do, by (n - 1) / n, and their tails are
    those of the normal distribution instead of Student's t. The percentiles of n groups
    make up for both.
    """
    if groups is None:
        return _USUAL
    n = len(np.unique(groups))
    if n < FEWEST:
        return None
    from scipy.stats import norm, t  # slow to import, and not needed for a report

    quantile = float(t.ppf(0.025, n - 1))
    beyond = 100 * float(norm.cdf(np.sqrt(n / (n - 1)) * quantile))
    return _Interval((beyond, 100 - beyond), -quantile if n < FEW else None)


def _score(
    of: list[int],
    counts: np.ndarray,
    found: np.ndarray,
    interval: _Interval | None,
) -> Score:
    """Compute a `Score` of counts (n, K, 3), and of those of resamples (R, K, 3)."""
    values = _ratio(found.sum(1), of)
    values = values[~np.isnan(values)]
    value = float(_ratio(counts.sum((0, 1)), of))
    if interval is None or not len(values):
        return Score(value, np.nan, np.nan)
    low, high = np.percentile(values, interval.percentiles)
    if interval.quantile is not None:  # the wider of both
        lower, upper = _jackknifed(value, of, counts, interval.quantile)
        low, high = np.fmin(low, lower), np.fmax(high, upper)
    return Score(value, float(low), float(high))


def _jackknifed(
    value: float, of: list[int], counts: np.ndarray, quantile: float
) -> tuple[float, float]:
    """Compute the interval of a ratio over n groups, each of which is left out once.

    The variance is (n - 1) / n times the sum of the squares of what leaving out one
    changes (Efron and Tibshirani, 1993, equation 11.5); a large group weighs as it
    does.
    """
    n = counts.shape[0]
    without = _ratio(counts.sum((0, 1)) - counts.sum(1), of)
    without = without[~np.isnan(without)]
    if np.isnan(value) or not len(without):
        return np.nan, np.nan
    error = np.sqrt((n - 1) / n * np.sum((without - without.mean()) ** 2))
    return max(0.0, value - quantile * error), min(1.0, value + quantile * error)


def _ratio(counts: np.ndarray, of: list[int]) -> np.ndarray:
    """Divide right items by others as :data:`RATIOS` says; nan where there are none."""
    below = counts[..., of].sum(-1)
    return np.divide(
        len(of) * counts[..., 0],
        below,
        out=np.full(np.shape(below), np.nan),
        where=below > 0,
    )
