"""The scores of a task: one assembly of them, wherever they are shown.

`skstruct evaluate`, `report`, ``--dev``, ``--holdout``, ``--cv``, the comparison of two
models, cards and JSON have their numbers from `scores_of`, and people read them in the
table of `as_text`. Each sequence is reduced to its counts once; scores are quotients of
their sums, and intervals those of resamples of the same counts.

Where there is nothing to count, a score is NaN in `Scores`, "-" in the table, and None
in `Scores.to_dict`, which JSON writes as null.
"""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from .._data.elements import spelled
from .._data.inputs import SPANS, TREES, WORDS, flatten
from .._data.labels import SEVERAL
from .._data.scheme_rules import LabelTable, are_chunks, check_scheme
from .._data.spans import check_annotated
from .._data.text import as_texts
from .checks import check_pairs, in_order, label_pairs
from .counting import count_right, refuse_nothing, with_label
from .intervals import Interval, Score, interval_of, quotients, resamples_of, score_of
from .label_scores import COLUMNS, PLAIN, segment_rows, segment_spans
from .partial_scores import schemas_by_type, schemas_of, table_of
from .text_scores import NO_TEXT, NO_WORDS, both_sides, is_tagged, judged, word_spans
from .token_scores import known_labels
from .tree_scores import NO_HEADS, arc_counts, main_types, split_heads

if TYPE_CHECKING:
    from .._data.types import Corpus
    from .label_scores import Counts

Types: TypeAlias = "Iterable[Any]"
"""The types of some items."""

AVERAGES = ("micro avg", "macro avg", "weighted avg")

MAIN = ("joint_f1", "f1", "las", "uas", "token_accuracy")
"""The main score is the first of these that there is."""


class Scores(NamedTuple):
    """The scores of the predictions of a corpus.

    Attributes
    ----------
    amounts : dict of str to int
        What there is, as ``sequences`` and ``tokens``.
    overall : dict of str to Score
        By its name each score, as ``token_accuracy`` and ``f1``; NaN where there is
        nothing to count.
    table : str
        What the rows are of: "segments", "labels", or "" if there are none.
    by_label : dict of str to dict
        By label ``precision``, ``recall``, ``f1`` (a `Score`) and ``support``.
    averages : dict of str to dict
        The same of ``micro avg``, ``macro avg`` and ``weighted avg``, all numbers.
    wrong : list of int
        Sequences with an error.
    worst : list of (int, int)
        Sequences with the number of items that are wrong or missing, the most first.
    schemas : dict of str to dict
        Scores of segments that are right in part; see `partial_scores.schemas_of`.
        Empty if they were not asked for, or there are no segments.
    schemas_by_type : dict of str to dict
        By label the same of its segments alone.
    """

    amounts: dict[str, int]
    overall: dict[str, Score]
    table: str
    by_label: dict[str, dict[str, Any]]
    averages: dict[str, dict[str, float]]
    wrong: list[int]
    worst: list[tuple[int, int]]
    schemas: dict[str, dict[str, float]]
    schemas_by_type: dict[str, dict[str, dict[str, float]]]

    @property
    def main(self) -> str:
        """The name of the main score: one that has a value, if any has."""
        there = [name for name in MAIN if name in self.overall]
        known = [name for name in there if not math.isnan(self.overall[name].value)]
        return (known or there)[0]

    def to_dict(self) -> dict[str, Any]:
        """Return numbers alone, as JSON can say them: None where nothing counts."""
        found: dict[str, Any] = dict(self.amounts)
        found |= {name: plain(score.value) for name, score in self.overall.items()}
        if "token_accuracy" in self.overall:
            found["segments"] = None
        if self.table:
            found[self.table] = {
                name: {column: plain(value) for column, value in row.items()}
                for name, row in _rows(self)
            }
        if self.schemas:
            found["schemas"] = _plain_rows(self.schemas)
            found["schemas_by_type"] = {
                kind: _plain_rows(rows) for kind, rows in self.schemas_by_type.items()
            }
        return found


def _plain_rows(rows: dict[str, dict[str, float]]) -> dict[str, dict[str, Any]]:
    """Return rows of numbers as JSON can say them."""
    return {
        name: {column: plain(value) for column, value in row.items()}
        for name, row in rows.items()
    }


def plain(value: float) -> float | None:
    """Return a number as JSON can say it: None for NaN."""
    return None if math.isnan(value) else value


def _rows(scores: Scores) -> Iterable[tuple[str, dict[str, float]]]:
    """Yield the rows of labels and averages, numbers alone."""
    for name, row in scores.by_label.items():
        yield name, {**row, "f1": row["f1"].value}
    yield from scores.averages.items()


class _Tally(NamedTuple):
    """The counts of each sequence.

    Attributes
    ----------
    amounts : dict of str to int
    measures : dict of str to ndarray of shape (n, 2)
        By the name of a score what is right, and what it is divided by.
    items : ndarray of shape (n, 3)
        Right, predicted and true items.
    is_wrong : ndarray of shape (n,), bool
    counts : ndarray of shape (n,), bool
        Whether the sequence counts.
    table : str
        What types are called; "" without types.
    typed : list of (right, predicted, true)
        Of each sequence the types of its items.
    sides : list of (true, predicted)
        Of each sequence its segments, if there are any.
    """

    amounts: dict[str, int]
    measures: dict[str, np.ndarray]
    items: np.ndarray
    is_wrong: np.ndarray
    counts: np.ndarray
    table: str = ""
    typed: Sequence[tuple[Types, Types, Types]] = ()
    sides: Sequence[tuple[Collection[Any], Collection[Any]]] | None = None


def scores_of(
    task: str,
    X: Any,
    y: Corpus,
    y_pred: Corpus,
    *,
    scheme: str = "auto",
    strict: bool = False,
    vocabulary: Collection[str] | None = None,
    groups: np.ndarray | None = None,
    intervals: bool = False,
    partial: bool = False,
) -> Scores:
    """Compute the scores of predictions.

    Parameters
    ----------
    task : {"labels", "words", "spans", "trees"}
    X, y, y_pred
        Texts are needed of spans, and the forms of tokens of trees.
    scheme : str, default="auto"
        Of labels: a label scheme, "none" for no segments, or "auto" for segments if the
        labels, true and predicted, look like that.
    strict : bool, default=False
        Count only segments spelled as the scheme spells them, not as conlleval does.
    vocabulary : collection of str, optional
        Of words: those that are known.
    groups : ndarray of shape (n,), int64, optional
        The number of each sequence's document. Intervals are then those of the expanded
        percentile bootstrap; see `intervals.interval_of`.
    intervals : bool, default=False
        Whether scores have their 95 % intervals.
    partial : bool, default=False
        Whether there are scores of segments, or spans, that are right in part.

    Raises
    ------
    ValueError
        If no token, word or text counts, or the two sides are not of the same corpus;
        or if there are no segments for scores of those that are right in part.
    """
    if task == WORDS:
        tally = _of_words(y, y_pred, vocabulary)
    elif task == SPANS:
        tally = _of_spans(X, y, y_pred)
    elif task == TREES:
        tally = _of_trees(X, y, y_pred)
    else:
        tally = _of_labels(y, y_pred, scheme, strict)
    if partial and tally.sides is None:
        raise ValueError("scores of partial matches are for segments and spans")
    return _scores(tally, groups, intervals, partial)


def _scores(
    tally: _Tally, groups: np.ndarray | None, intervals: bool, partial: bool
) -> Scores:
    """Divide what was counted."""
    kinds = in_order(flatten(flatten(tally.typed)))
    parts = [*tally.measures.values()]
    typed: Sequence[Any] = tally.typed
    counts = tally.counts
    if not intervals:  # sums say all: no row for each sequence
        parts = [part[counts].sum(0, keepdims=True) for part in parts]
        typed = [tuple(map(flatten, zip(*typed)))] if typed else []
        counts = np.ones(1, bool)
    by_type = _by_type(typed, kinds)
    parts += [
        np.stack([2 * by_type[:, k, 0], by_type[:, k, 1:].sum(1)], axis=1)
        for k in range(len(kinds))
    ]
    counted = np.stack(parts, axis=1)[counts]
    interval: Interval | None = None
    draws = np.zeros((0, *counted.shape[1:]))
    if intervals:
        members = None if groups is None else groups[counts]
        interval = interval_of(members)
        counted, draws = resamples_of(counted, members)
    values = [
        score_of(counted[:, j], draws[:, j], interval) for j in range(counted.shape[1])
    ]
    overall = dict(zip(tally.measures, values))
    sums = by_type.sum(0).astype(int)
    f1_of_type = dict(zip(kinds, values[len(overall) :]))
    by_label = {
        spelled(kind): {
            "precision": _quotient(right, found),
            "recall": _quotient(right, true),
            "f1": f1_of_type[kind],
            "support": int(true),
        }
        for kind, (right, found, true) in zip(kinds, sums)
    }
    averages = _averages(kinds, sums) if tally.table else {}
    missed = (tally.items[:, 1:].max(axis=1) - tally.items[:, 0]).astype(int)
    order = np.argsort(-missed, kind="stable")
    worst = [(int(i), int(missed[i])) for i in order if missed[i] > 0]
    wrong = np.flatnonzero(tally.is_wrong).tolist()
    schemas: dict[str, Any] = {}
    schemas_of_types: dict[str, Any] = {}
    if partial and tally.sides is not None:
        schemas = schemas_of(tally.sides)
        for kind, rows in schemas_by_type(tally.sides).items():
            schemas_of_types[spelled(kind)] = rows
    return Scores(
        tally.amounts,
        overall,
        tally.table,
        by_label,
        averages,
        wrong,
        worst,
        schemas,
        schemas_of_types,
    )


def _quotient(right: int, below: int) -> float:
    return float(quotients(np.array([right, below], float)))


def _by_type(typed: Sequence[Any], kinds: list[Any]) -> np.ndarray:
    """Count right, predicted and true items by sequence and type, (n, K, 3)."""
    counts = np.zeros((len(typed), len(kinds), 3))
    column = {kind: k for k, kind in enumerate(kinds)}
    for i, sides in enumerate(typed):
        for j, side in enumerate(sides):
            for kind, n in Counter(side).items():
                counts[i, column[kind], j] = n
    return counts


def _averages(kinds: list[Any], sums: np.ndarray) -> dict[str, dict[str, float]]:
    """Average over types as the reports of `skstruct.metrics` do; NaN where no type has
    anything to count.
    """
    right, found, true = (
        Counter(dict(zip(kinds, column.tolist()))) for column in sums.T
    )
    counts: Counts = right, true, found
    _, averages = segment_rows(counts)
    below = {
        "precision": found.total(),
        "recall": true.total(),
        "f1": found.total() + true.total(),
    }
    for row in averages.values():
        row |= {column: math.nan for column in COLUMNS if not below[column]}
    return {f"{name} avg": row for name, row in averages.items()}


def _pairs(right: Any, below: Any) -> np.ndarray:
    """Put what is right beside what it is divided by, (n, 2)."""
    return np.array([right, below], float).reshape(2, -1).T


def _found(items: np.ndarray) -> dict[str, np.ndarray]:
    """Precision, recall and F1 of items (n, 3): right, predicted, true."""
    right, found, true = items.T
    return {
        "precision": _pairs(right, found),
        "recall": _pairs(right, true),
        "f1": _pairs(2 * right, found + true),
    }


def _items(sides: Sequence[tuple[Collection[Any], Collection[Any]]]) -> np.ndarray:
    """Count right, predicted and true items of (true, predicted) sets, (n, 3)."""
    rows = [(len(a & b), len(b), len(a)) for a, b in sides]  # type: ignore[operator]
    return np.array(rows, float).reshape(-1, 3)


def _types(
    sides: Sequence[tuple[set[Any], set[Any]]],
) -> list[tuple[list[Any], list[Any], list[Any]]]:
    """Return the types of right, predicted and true items, which end with them."""
    return [
        (
            [item[-1] for item in true & found],
            [item[-1] for item in found],
            [item[-1] for item in true],
        )
        for true, found in sides
    ]


def _all_right(is_wrong: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the accuracy of sequences."""
    return _pairs(~is_wrong & counts, counts)


# --------------------------------------------------------------------------------------
# What is counted of each task
# --------------------------------------------------------------------------------------
def encodes_segments(*corpora: Iterable[Iterable[Any]]) -> bool:
    """Tell whether the labels of some corpora are read as segments."""
    return are_chunks(
        label
        for y in corpora
        for labels in y
        for label in labels
        if not isinstance(label, SEVERAL)
    )


def _of_labels(y: Corpus, y_pred: Corpus, scheme: str, strict: bool) -> _Tally:
    """Count tokens, and segments or labels."""
    pairs = label_pairs(y, y_pred)
    given = [with_label(*pair) for pair in pairs]
    total = np.array([len(true) for true, _ in given])
    refuse_nothing(total)
    right = np.array([count_right(*pair) for pair in given])
    counts = total > 0
    is_wrong = right < total
    measures = {
        "token_accuracy": _pairs(right, total),
        "sequence_accuracy": _all_right(is_wrong, counts),
    }
    amounts = {"sequences": len(pairs), "tokens": sum(len(true) for true, _ in pairs)}
    items = np.stack([right, total, total], axis=1)
    if scheme == "auto":
        is_chunked = encodes_segments(*zip(*pairs)) if pairs else False
        scheme = "BIO" if is_chunked else "none"
    if scheme != "none":
        table = LabelTable(check_scheme(scheme), strict, PLAIN)
        sides = [(set(true), set(found)) for true, found in segment_spans(pairs, table)]
        items = _items(sides)
        measures |= _found(items)
        how = "segments", _types(sides), sides
        return _Tally(amounts, measures, items, is_wrong, counts, *how)
    if any(isinstance(label, SEVERAL) for true, _ in pairs for label in true):
        return _Tally(amounts, measures, items, is_wrong, counts)
    labels = (known_labels(i, *pair) for i, pair in enumerate(pairs))
    rows = [
        (
            [a for a, b in zip(true, found) if a == b],
            [label for label in found if label is not None],
            true,
        )
        for true, found in labels
    ]
    return _Tally(amounts, measures, items, is_wrong, counts, "labels", rows)


def _of_words(y: Corpus, y_pred: Corpus, vocabulary: Collection[str] | None) -> _Tally:
    """Count words, and words with their tags if both sides have them."""
    sentences = list(word_spans(y, y_pred, False))
    counts = np.array([len(true) > 0 for true, *_ in sentences], bool)
    refuse_nothing(counts, NO_WORDS)
    sides = [(set(true), set(found)) for _, true, found in sentences]
    items = _items(sides)
    measures = _found(items)
    if vocabulary is not None:
        known = frozenset(vocabulary)
        unknown = [
            {item for word, item in zip(words, true) if word not in known}
            for words, true, _ in sentences
        ]
        n_unknown = np.array([len(each) for each in unknown])
        found = np.array([len(a & b) for a, (_, b) in zip(unknown, sides)])
        right, _, n_true = items.T
        measures |= {
            "oov_rate": _pairs(n_unknown, n_true),
            "oov_recall": _pairs(found, n_unknown),
            "iv_recall": _pairs(right - found, n_true - n_unknown),
        }
    amounts = {"sequences": len(sentences), "words": int(items[:, 2].sum())}
    is_wrong = np.array([true != found for true, found in sides])
    pairs = check_pairs(y, y_pred, same_length=False)
    if not all(any(map(is_tagged, side)) for side in zip(*pairs)):
        measures["sequence_accuracy"] = _all_right(is_wrong, counts)
        return _Tally(amounts, measures, items, is_wrong, counts)
    tagged = [(set(a), set(b)) for _, a, b in word_spans(y, y_pred, True)]
    is_wrong = np.array([true != found for true, found in tagged])
    items = _items(tagged)
    measures["joint_f1"] = _found(items)["f1"]
    measures["sequence_accuracy"] = _all_right(is_wrong, counts)
    return _Tally(amounts, measures, items, is_wrong, counts, "tags", _types(tagged))


def _of_spans(X: Any, y: Corpus, y_pred: Corpus) -> _Tally:
    """Count spans; white space at their ends does not count."""
    texts = as_texts(X, "texts")
    true, found = both_sides(y, y_pred, texts)
    refuse_nothing(len(true), NO_TEXT)
    check_annotated(texts, true, [1] * len(true), "y_true")
    judgements = (judged(*pair) for pair in zip(true, found))
    sides: list[tuple[set[Any], set[Any]]] = [(a, set(b)) for a, b in judgements]
    items = _items(sides)
    is_wrong = np.array([a != b for a, b in sides])
    counts = np.ones(len(sides), bool)
    measures = _found(items)
    measures["sequence_accuracy"] = _all_right(is_wrong, counts)
    amounts = {"texts": len(sides), "spans": int(items[:, 2].sum())}
    how = "segments", _types(sides), sides
    return _Tally(amounts, measures, items, is_wrong, counts, *how)


def _of_trees(X: Any, y: Corpus, y_pred: Corpus) -> _Tally:
    """Count heads and arcs, with and without punctuation, and arcs by their label.

    Punctuation is, as in the CoNLL-X shared task, a form all of whose characters are
    punctuation in Unicode.
    """
    rows, labeled = arc_counts(y, y_pred, None, subtypes=False)
    n, heads, n_labeled, arcs = rows.T
    counts = n > 0
    refuse_nothing(counts, NO_HEADS)
    exact, _ = arc_counts(y, y_pred, None, subtypes=True)
    is_wrong = (heads < n) | (exact[:, 3] < exact[:, 2] if labeled else False)
    amounts = {"sequences": len(rows), "tokens": int(n.sum())}
    measures = {"uas": _pairs(heads, n)}
    if labeled:
        measures["las"] = _pairs(arcs, n_labeled)
    measures["complete"] = _pairs((heads == n) & counts, counts)
    measures["sequence_accuracy"] = _all_right(is_wrong, counts)
    punctuation = [list(map(_is_punctuation, sentence)) for sentence in X]
    without, _ = arc_counts(y, y_pred, punctuation, subtypes=False)
    if without[:, 0].any():
        amounts["words"] = int(without[:, 0].sum())
        measures["words_uas"] = _pairs(without[:, 1], without[:, 0])
        if labeled:
            measures["words_las"] = _pairs(without[:, 3], without[:, 2])
    if not labeled:
        items = np.stack([heads, n, n], axis=1)
        return _Tally(amounts, measures, items, is_wrong, counts)
    sides = [_arcs(i, *pair) for i, pair in enumerate(zip(y, y_pred))]
    return _Tally(
        amounts, measures, _items(sides), is_wrong, counts, "labels", _types(sides)
    )


def _is_punctuation(token: Any) -> bool:
    form = token[0] if isinstance(token, (tuple, list)) and token else token
    return isinstance(form, str) and all(
        unicodedata.category(character).startswith("P") for character in form
    )


def _arcs(i: int, true: Any, found: Any) -> tuple[set[Any], set[Any]]:
    """Return the arcs of a tree as items (token, head, main type) of both sides, but for
    those whose true label is not known.
    """
    both = [split_heads(i, true, partial=True), split_heads(i, found)]
    known = [t for t, label in enumerate(both[0][1] or ()) if label is not None]
    sides = []
    for heads, labels in both:
        types = [None if x is None else spelled(x) for x in main_types(labels or ())]
        sides.append({(t, heads[t], types[t] or "") for t in known})
    return sides[0], sides[1]


# --------------------------------------------------------------------------------------
# As people read it
# --------------------------------------------------------------------------------------
def as_text(scores: Scores) -> str:
    """Write scores as lines, a name and a number each with its interval if there is
    one, and a table of labels.
    """
    lines = [
        f"{name.replace('_', ' '):<18}{value:>10}"
        for name, value in scores.amounts.items()
    ]
    for name, score in scores.overall.items():
        between = _between(score)
        line = f"{name.replace('_', ' '):<18}{figure(score.value):>10}"
        lines.append(f"{line}  ({between})" if between else line)
    rows = list(_rows(scores))
    schemas = []
    if scores.schemas:
        schemas = ["", table_of(scores.schemas, scores.schemas_by_type, 18)]
    if not rows:
        return "\n".join([*lines, *schemas])
    width = max(18, *(len(name) + 2 for name, _ in rows))
    spans = [_between(row["f1"]) for row in scores.by_label.values()]
    spans += [""] * len(scores.averages)
    has_spans = any(spans)
    head = "".join(f"{column:>10}" for column in COLUMNS)
    middle = f"  {'95 %':<18}" if has_spans else ""
    lines += ["", f"{scores.table:<{width}}{head}{middle}{'support':>10}"]
    for (name, row), between in zip(rows, spans):
        cells = "".join(f"{figure(row[column]):>10}" for column in COLUMNS)
        middle = f"  {between or '-':<18}" if has_spans else ""
        name = name or "(no type)"
        lines.append(f"{name:<{width}}{cells}{middle}{row['support']:>10}")
    return "\n".join([*lines, *schemas])


def figure(value: float) -> str:
    """Write a score; "-" if there was nothing to count."""
    return "-" if math.isnan(value) else f"{value:.4f}"


def _between(score: Score) -> str:
    """Write the interval of a score, if it has one."""
    return "" if math.isnan(score.low) else f"{score.low:.4f} to {score.high:.4f}"
