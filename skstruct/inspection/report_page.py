"""One page about a fitted model: scores, errors and why, calibration, weights."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from .._data.elements import elements
from .._data.inputs import SPANS, TREES, WORDS, flatten
from .._data.labels import Labels
from .._data.places import agreeing, counted
from .._data.scheme_rules import LabelTable
from .._data.types import Corpus
from .._saving.atomic import write_whole
from .._sklearn import final_step, innermost, safe_indexing
from .._taggers.abilities import span_labels
from ..metrics.confidence import reliability
from ..metrics.counting import has_label
from ..metrics.task_scores import Scores, as_text, scores_of
from .curve_panels import panels
from .error_lists import errors_of
from .explain_taggers import read_by, seen_by_chains, single_chains
from .explaining import explanation_of
from .explanations import ArcExplanation, TreeExplanation, bars, by_size
from .feature_lists import feature_weights, model_with, transition_weights
from .feature_words import in_words
from .findings import Places, Where, as_places
from .html import LONG, Shown, bar, box, cell, escaped, label_html, note, table
from .pictures import are_characters, drawn
from .selection import uncertainty
from .thresholds import candidates_of, curves_of
from .weight_tables import FeatureWeights

if TYPE_CHECKING:
    from ..metrics.confidence import Reliability
    from ..metrics.intervals import Score
    from .explain_taggers import Seen
    from .explanations import Explanation, TokenExplanation
    from .pictures import Mark


IN_FULL = 200
"""Wrong sequences that are shown."""

MOST = 2_400_000
"""Characters of a page from which on no more of them are shown."""

AROUND = 12
WIDE = 50
"""Tokens shown before the first difference, and in all; of characters three times as
many.
"""

PLACES = 4
TOP = 6
"""Tokens of a sequence that are explained, and contributions listed of each."""

LABELS_WITH_WEIGHTS = 40
LABELS_WITH_TRANSITIONS = 50
"""Labels whose weights are listed, and up to which the matrix of transitions is
drawn.
"""

SURE = {
    "least_confident": "mean probability of a token",
    "margin": "lead over the second best",
}
"""By which strategies of ``select`` the surest come first, and what is said of each
sequence then.
"""

ABOUT = (
    "version",
    "labels",
    "features",
    "state_weights",
    "transition_weights",
    "sequences",
)
"""The facts about a model that are shown."""


class Report(Shown):
    """The report that :func:`report` returns; notebooks show it, ``print`` its scores.

    Attributes
    ----------
    scores : dict of str to (value, low, high)
        Scores of all sequences, with 95 % confidence intervals, by the names of
        ``skstruct evaluate``; NaN where there is nothing to count.
    by_label : dict of str to dict
        ``precision``, ``recall``, ``f1`` with its interval, and ``support`` of each
        label or type.
    wrong : list of int
        Sequences with an error, the most confident ones first.
    """

    _has_heading = True

    def __init__(
        self,
        scores: Scores,
        wrong: list[int],
        fragment: str,
        title: str = "skstruct",
    ) -> None:
        self._title = title
        self._all = scores
        self.scores = scores.overall
        self.by_label = scores.by_label
        self.wrong = wrong
        self._fragment = fragment

    def _repr_html_(self) -> str:
        return self._fragment

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page, which opens in any browser, whole or not at all.

        Parameters
        ----------
        path : str or path
        """
        write_whole(path, self.to_html(), "utf-8")

    def __str__(self) -> str:
        return as_text(self._all)


def report(
    model: Any,
    X: Any,
    y: Corpus,
    *,
    places: Places = None,
    words: Any = None,
    title: str | None = None,
) -> Report:
    """Write one page about what a fitted model does on a corpus.

    The page shows the model; its scores with 95 % confidence intervals, by the
    bootstrap over sequences [1]_; its confusions; the sequences with errors, the most
    confident ones first, each with the features that support its labels against the
    right ones; the calibration of its probabilities, if it has any, and for spans the
    precision and recall above each probability; and its largest weights.

    Parameters
    ----------
    model : fitted estimator
        An estimator of any kind; its ``predict`` is called.
    X, y
        As of its ``score``; as a rule a corpus that it was not trained on.
    places : list of Where, or of dict, optional
        The place of each sequence in a file, which the page then shows; see
        :func:`label_issues`.
    words : list of lists of str, optional
        The text to show for each token. By default tokens that are dicts or lists of
        features are shown as the word in them.
    title : str, optional
        Title of the page; by default the kind of the model.

    Returns
    -------
    Report
        At most 3 MB: it shows the 200 wrong sequences of which the model was most
        confident, or as many as fit.

    Raises
    ------
    ValueError
        If ``X`` and ``y`` are not as the model takes them; the message names the
        sequence.

    References
    ----------
    .. [1] B. Efron and R. Tibshirani (1993). An introduction to the bootstrap.

    Examples
    --------
    >>> from skstruct import StructuredPerceptron
    >>> from skstruct.inspection import report
    >>> X, y = [["the", "dog"], ["a", "cat"]], [["D", "N"], ["D", "N"]]
    >>> page = report(StructuredPerceptron(random_state=0).fit(X, y), X, y)
    >>> page.scores["token_accuracy"]
    Score(value=1.0, low=1.0, high=1.0)
    >>> page.save("report.html")  # doctest: +SKIP
    """
    n_sequences = len(elements(X)), len(y)
    if n_sequences[0] != n_sequences[1]:
        raise ValueError(
            "X and y must hold the same number of sequences, got {} and {}".format(
                *n_sequences
            )
        )
    if not len(y):
        raise ValueError("X and y are empty: a report needs at least one sequence")
    predicted = model.predict(X)
    inner, kind, shown, scheme = read_by(model, X, y)
    if kind == WORDS and all(isinstance(word, str) for words in y for word in words):
        predicted = [
            [word if isinstance(word, str) else word[0] for word in words]
            for words in predicted
        ]
    options: dict[str, Any] = {"scheme": scheme or "auto", "partial": kind == SPANS}
    scores = scores_of(kind, shown, y, predicted, intervals=True, **options)
    wrong, sure, how = _surest_first(model, X, scores.wrong)
    where = as_places(places, len(y))
    confusions = errors_of(model, X, y, predicted, words=words, places=where)
    if title is None:
        title = f"{type(model).__name__}: report"
    parts = [
        _heading(model, inner, title),
        note(_LEGEND),
        f"<h2>Scores</h2>{_scores(scores, len(y))}",
        f"<h2>Confusions</h2>{confusions._repr_html_()}",
        _calibration(model, X, y),
        _thresholds(model, X, y) if kind == SPANS else "",
        _weights(model),
    ]
    room = MOST - sum(map(len, parts))
    corpus = X, shown, y, predicted
    names = where, words
    order = wrong, sure, how
    parts.insert(4, _wrong(model, kind, corpus, scheme, order, names, room))
    page = box(f'<div class="report">{"".join(parts)}</div>')
    return Report(scores, wrong, page, title)


_LEGEND = (
    "How to read this page: <i>gold</i> is the annotation in the corpus, "
    "<i>predicted</i> that of the model; ✗ marks what only one of them has. "
    "<i>precision</i> is the share of the predictions that are right, <i>recall</i> the "
    "share of the gold annotations that were predicted, <i>F1</i> their harmonic mean. "
    "Click on a line that begins with ▸ to see the features that support a label (to "
    "the right) or oppose it. Records are numbered from 0, as in the file."
)


def _facts(model: Any) -> dict[str, Any]:
    """Return what a model says about itself; nothing if no file could hold it."""
    try:
        return dict(model.info()) if hasattr(model, "info") else {}
    except TypeError:
        return {}


def _heading(model: Any, inner: Any, title: str) -> str:
    about = _facts(inner)
    if getattr(inner, "explained_as", None) == "spans":
        # of spans, not of the tokens that spell them
        names = span_labels(inner)
        about["labels"] = f"{len(names)}: {', '.join(names)}"
    known = {"model": type(model).__name__} | {
        name.replace("_", " "): about[name]
        for name in ABOUT
        if about.get(name) is not None
    }
    texts = {
        name: f"{value:,}" if isinstance(value, int) else str(value)
        for name, value in known.items()
    }
    rows = [
        (cell(escaped(name)), cell(escaped(text, LONG))) for name, text in texts.items()
    ]
    text = escaped(" ".join(repr(model).split()), 600)
    parameters = f"<details><summary>Parameters</summary><code>{text}</code></details>"
    return f"<h1>{escaped(title, LONG)}</h1>{table(rows)}{parameters}"


def _figure(value: float | tuple[float, ...]) -> str:
    """Write a cell with a number, or an interval; "–" where there is none."""
    numbers = value if isinstance(value, tuple) else (value,)
    texts = [
        "–" if np.isnan(x) else f"{x:,}" if isinstance(x, int) else f"{x:.3f}"
        for x in numbers
    ]
    return cell("–".join(texts) if len(set(texts)) > 1 else texts[0], "number")


def _scores(scores: Scores, n: int) -> str:
    rows = [
        (cell(escaped(name.replace("_", " "))), *_with_interval(score))
        for name, score in scores.overall.items()
    ]
    labels = []
    for label, row in scores.by_label.items():
        precision, recall, support = (
            _figure(row[name]) for name in ("precision", "recall", "support")
        )
        name = cell(label_html(label or "(no type)"))
        labels.append((name, precision, recall, *_with_interval(row["f1"]), support))
    names = "label", "precision", "recall", "F1", "95 % interval", "number"
    return (
        table(rows, ("", "", "95 % interval"))
        + note(f"of {counted(n, 'sequence')}")
        + table(labels, names)
        + _schemas(scores)
    )


def _schemas(scores: Scores) -> str:
    """Write the scores of spans that are right in part, if there are any."""
    if not scores.schemas:
        return ""
    rows = [
        (
            cell(name),
            *(_figure(row[column]) for column in ("precision", "recall", "f1")),
        )
        for name, row in scores.schemas.items()
    ]
    said = "spans that are right in part, as SemEval 2013 counts them"
    return table(rows, ("", "precision", "recall", "F1")) + note(said)


def _with_interval(score: Score) -> tuple[str, str]:
    return _figure(score.value), _figure((score.low, score.high))


# --------------------------------------------------------------------------------------
# Errors
# --------------------------------------------------------------------------------------
def _surest_first(
    model: Any, X: Any, wrong: list[int]
) -> tuple[list[int], Sequence[float | None], str]:
    """Sort wrong sequences by how sure the model was of them.

    Returns
    -------
    positions : list of int
    sure : list of float or None
        How sure it was of each.
    how : str
        In which unit.
    """
    given = safe_indexing(X, wrong) if wrong else []
    for strategy, how in SURE.items():
        try:
            unsure = uncertainty(model, given, strategy)
        except TypeError:
            continue
        order = np.argsort(unsure, kind="stable").tolist()
        values = np.exp(-unsure) if strategy == "least_confident" else -unsure
        return [wrong[k] for k in order], [float(values[k]) for k in order], how
    return wrong, [None] * len(wrong), ""


def _wrong(
    model: Any,
    kind: str,
    corpus: tuple[Any, Any, Corpus, Corpus],
    scheme: str | None,
    order: tuple[list[int], Sequence[float | None], str],
    names: tuple[list[Where], Any],
    room: int,
) -> str:
    """Draw the wrong sequences, as many as there is room for.

    ``order`` is what `_surest_first` returns; ``names`` are the places of all
    sequences, and their words or None.
    """
    wrong, sure, how = order
    where, words = names
    if words is not None:
        words = [words[i] for i in wrong[:IN_FULL]]
    chosen = wrong[:IN_FULL]
    entries = []
    X, shown, y, predicted = (
        safe_indexing(part, chosen) if chosen else [] for part in corpus
    )
    pictures = drawn(kind, shown, y, predicted, scheme, _window, words)
    for i, certainty, picture, *case in zip(
        chosen, sure, pictures, *map(elements, (X, y, predicted))
    ):
        place = escaped(str(where[i]) or f"sequence {i}", LONG)
        if certainty is not None:
            place += f", {how} {certainty:.3g}"
        why = _why(model, kind, *case)
        entry = f'<div class="part">{note(place)}{picture}{why}</div>'
        room -= len(entry)
        if room < 0:
            break
        entries.append(entry)
    have = agreeing(len(wrong), "have")
    text = f"{counted(len(wrong), 'sequence')} {have} an error"
    if how:
        text += "; the most confident ones come first, since their labels may be wrong"
    if len(entries) < len(wrong):
        text += f"; {len(entries):,} {agreeing(len(entries), 'are')} shown"
    return f"<h2>Errors</h2>{note(text + '.')}{''.join(entries)}"


def _window(
    tokens: Sequence[Any], gold: list[Mark], found: list[Mark]
) -> tuple[Sequence[Any], list[Mark], list[Mark]]:
    """Cut out the part of a sequence from shortly before the first difference."""
    factor = 3 if are_characters(tokens) else 1
    if len(tokens) <= WIDE * factor:
        return tokens, gold, found
    first = min((mark.start for mark in set(gold) ^ set(found)), default=0)
    a = max(0, min(first - AROUND * factor, len(tokens) - WIDE * factor))
    b = a + WIDE * factor

    def inside(side: list[Mark]) -> list[Mark]:
        shown = [mark for mark in side if mark.stop > a and mark.start < b]
        return [
            mark._replace(start=max(mark.start, a) - a, stop=min(mark.stop, b) - a)
            for mark in shown
        ]

    return tokens[a:b], inside(gold), inside(found)


def _why(
    model: Any, kind: str, x: Any, gold: Collection[Any], predicted: Collection[Any]
) -> str:
    """Draw what speaks for the predictions and against the right labels.

    Shown are the first places that differ.
    """
    options = {} if kind == TREES else {"rivals": False}
    try:
        mine = explanation_of(model, x, None, **options)
        if isinstance(mine, TreeExplanation):
            places = [
                t for t, pair in enumerate(zip(gold, predicted)) if pair[0] != pair[1]
            ][:PLACES]
            return "".join(
                _compared(mine.arcs[t], label_html(f"{mine.arcs[t].head}"), None)
                for t in places
            )
        right = cast("Explanation", explanation_of(model, x, gold, **options))
    except (ValueError, TypeError) as error:
        return note(f"Why not the right one? {escaped(str(error), 300)}")
    if len(mine.tokens) != len(right.tokens):
        return note(f"score {mine.score:+.3f}; the right one scores {right.score:+.3f}")
    pairs = [
        pair
        for pair in zip(mine.tokens, right.tokens)
        if pair[0].label != pair[1].label
    ]
    said = partial(_of_span, model) if kind == SPANS else label_html
    rows = [
        _compared(a, said(a.label), (b, said(b.label)), mine.templates)
        for a, b in pairs[:PLACES]
    ]
    more = f", {len(pairs) - PLACES} more tokens differ" if len(pairs) > PLACES else ""
    return "".join(rows) + note(
        f"score {mine.score:+.3f}; the right one scores {right.score:+.3f}{more}"
    )


def _compared(
    mine: TokenExplanation | ArcExplanation,
    label: str,
    right: tuple[TokenExplanation, str] | None,
    templates: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Draw the contributions to one token or arc, minus those with the right label.

    Labels are HTML; ``templates`` say in words what features read.
    """
    # a feature may be there several times
    values: defaultdict[str, float] = defaultdict(float)
    for name, value in mine.largest:
        values[name] += value
    for name, value in right[0].largest if right is not None else ():
        values[name] -= value
    named = {in_words(name, templates): value for name, value in values.items()}
    word = escaped(mine.word if isinstance(mine, ArcExplanation) else mine.token)
    instead = "" if right is None else f", not {right[1]}"
    return bars(f"Why {word} → {label}{instead}?", by_size(named.items()), top=TOP)


def _of_span(model: Any, label: Any) -> str:
    """Write the label of a token as what it says of a span."""
    if label is None or label == "O":
        return "no span"
    prefix, kind = LabelTable(innermost(model).estimator.scheme)[label]
    begins = "begins" if prefix in ("B", "S", "U") else "goes on"
    return f"{label_html(kind)} {begins}"


# --------------------------------------------------------------------------------------
# Probabilities and weights
# --------------------------------------------------------------------------------------
def _calibration(model: Any, X: Any, y: Corpus) -> str:
    """Draw how often tokens are right of which the model is so sure.

    Nothing without probabilities.
    """
    try:
        chains = seen_by_chains(model, X, y)
    except TypeError:
        return ""
    gold = flatten([seen.y or [] for seen in chains])
    with_marginals = hasattr(chains[0].tagger, "predict_marginals")
    if not with_marginals or not any(map(has_label, gold)):
        return ""
    marginals, labels = _marginals_of(chains)
    curve = reliability(gold, marginals, labels=labels)
    error = float(
        curve.count @ np.abs(curve.confidence - curve.accuracy) / curve.count.sum()
    )
    columns = zip(*(each.tolist() for each in curve))
    rows = [
        (_figure(p), _figure(a), _figure(int(n)), cell(bar(a - p, 0.2)))
        for p, a, n in columns
    ]
    head = "mean probability", "accuracy", "tokens", "difference"
    said = note(
        "Labels of tokens, by the probability of the best one; "
        f"expected calibration error {error:.4f}"
    )
    heading = "<h2>Calibration of probabilities</h2>"
    return f"{heading}{said}{_curve(curve)}{table(rows, head)}"


def _marginals_of(chains: list[Seen]) -> tuple[list[Any], Any]:
    """Return the probabilities of the labels of tokens, of one chain of labels behind
    the other, and the labels of the columns.
    """
    columns = Labels({label for seen in chains for label in seen.classes.tolist()})
    found = []
    for seen in chains:
        which = [columns.ids[label] for label in seen.classes.tolist()]
        for narrow in seen.tagger.predict_marginals(seen.X):
            wide = np.zeros((len(narrow), len(columns)))
            wide[:, which] = narrow
            found.append(wide)
    return found, columns.array


def _curve(curve: Reliability) -> str:
    points = " ".join(
        f"{100 * p:.1f},{100 - 100 * a:.1f}"
        for p, a in zip(curve.confidence, curve.accuracy)
    )
    return (
        '<svg viewBox="-2 -2 104 104" width="220" height="220" role="img" '
        'aria-label="reliability diagram" fill="none" stroke="currentColor">'
        '<rect width="100" height="100" stroke-width=".5"/>'
        '<path d="M0 100L100 0" stroke-width=".5" stroke-dasharray="2"/>'
        f'<polyline points="{points}" stroke="hsl(210,75%,50%)" stroke-width="1.5"/>'
        "</svg>"
    )


_SHOWN_THRESHOLDS = (0.1, 0.3, 0.5, 0.7, 0.9, 0.95)
_MARKED = (0.9, 0.5)
"""Probabilities that tables list, and that curves mark."""


def _thresholds(model: Any, X: Any, y: Corpus) -> str:
    """Tabulate precision and recall of the spans above a probability, by type.

    Nothing without probabilities.
    """
    if not hasattr(final_step(model).estimator, "predict_segment_proba"):
        return ""
    n_true, curves = curves_of(candidates_of(model, X, y))
    rows = []
    for kind, (precision, recall, p) in curves.items():
        cells = []
        for least in _SHOWN_THRESHOLDS:
            k = int(np.count_nonzero(p >= least)) - 1
            both = (np.nan, 0.0) if k < 0 else (float(precision[k]), float(recall[k]))
            cells.append(
                cell(" / ".join("–" if np.isnan(x) else f"{x:.3f}" for x in both))
            )
        rows.append((cell(label_html(kind)), *cells))
    said = note(
        "Precision / recall of all spans that are at least so probable; "
        "inspection.thresholds_for finds such probabilities out of fold"
    )
    head = ("", *map(str, _SHOWN_THRESHOLDS))
    marks = note(
        "Precision against recall, as the least probability falls from 1: a dot at "
        f"{_MARKED[0]}, a ring at {_MARKED[1]}"
    )
    drawn = panels(curves, n_true, dict.fromkeys(curves, _MARKED))
    return f"<h2>Least probabilities</h2>{said}{table(rows, head)}{marks}{drawn}"


def _weights(model: Any) -> str:
    """Draw the largest weights of each label, and the transitions."""
    parts = []
    with suppress(TypeError):  # what has no chain has no transitions
        chains = single_chains(model)
        named = flatten(
            model_with(each, "named_weights", "").named_weights() for each in chains
        )
        labels = [*dict.fromkeys(label for part in named for label in part.labels)]
        labels = labels[:LABELS_WITH_WEIGHTS]
        weights = FeatureWeights(
            item for label in labels for item in feature_weights(model, 20, label)
        )
        parts.append(f"<h2>Largest weights</h2>{weights._repr_html_()}")
        for each in chains:
            transitions = transition_weights(each)
            if len(transitions) <= LABELS_WITH_TRANSITIONS:
                parts.append(f"<h2>Transitions</h2>{transitions._repr_html_()}")
    return "".join(parts)
