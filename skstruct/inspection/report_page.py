"""One page about a fitted model: scores, confusions, what is wrong and why, calibration, weights."""

from __future__ import annotations

import os
from collections import defaultdict
from contextlib import suppress
from typing import Any

import numpy as np

from .._sklearn import safe_indexing
from ..data.elements import elements
from ..data.inputs import TREES, WORDS
from ..data.types import Corpus
from ..metrics.confidence import reliability
from ..saving.atomic import write_whole
from .error_lists import errors_of
from .explaining import explanation_of
from .explanations import bars, by_size
from .feature_lists import feature_weights, model_with, transition_weights
from .html import LONG, Shown, bar, box, cell, escaped, label_html, note, table
from .of_taggers import read_by, seen_by_tagger
from .pictures import are_characters, drawn
from .report_scores import Scores, scored
from .selection import uncertainty
from .weight_tables import FeatureWeights

IN_FULL = 200
"""Wrong sequences that are shown."""

MOST = 2_400_000
"""Characters of a page from which on no more of them are shown."""

AROUND, WIDE = 12, 50
"""Tokens shown before the first difference, and in all; of characters three times as many."""

PLACES, TOP = 4, 6
"""Tokens of a sequence that are explained, and contributions listed of each."""

LABELS_WITH_WEIGHTS, LABELS_WITH_TRANSITIONS = 40, 50
"""Labels whose weights are listed, and up to which the matrix of transitions is drawn."""

SURE = {"least_confident": "probability a token", "margin": "lead over the second best"}
"""By which strategies of ``select`` the surest come first, and what is said of each sequence then."""

ABOUT = "version", "labels", "features", "state_weights", "transition_weights", "sequences"
"""What is said of a model."""


class Report(Shown):
    """What :func:`report` returns; notebooks show it, ``print`` its scores.

    Attributes
    ----------
    scores : dict of str to (value, low, high)
        Of all sequences, with 95 % confidence intervals.
    by_label : dict of str to dict
        ``precision``, ``recall``, ``f1`` with its interval, and ``support`` of each label or type.
    wrong : list of int
        Sequences with an error, those first of which the model was surest.
    """

    def __init__(self, scores: Scores, wrong: list[int], fragment: str) -> None:
        self.scores, self.by_label, self.wrong = scores.overall, scores.by_label, wrong
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
        line = "{:<25}{:.4f}  ({:.4f} to {:.4f})".format
        return "\n".join(line(name, *score) for name, score in self.scores.items())


def report(model: Any, X: Any, y: Corpus) -> Report:
    """One page about what a fitted model does on a corpus.

    It says what the model is; its scores with 95 % confidence intervals, by the bootstrap over sequences
    [1]_; what it takes for what; the sequences that it gets wrong, the surest first, each with what speaks
    for its labels and against the right ones; how far its probabilities can be trusted, if it has any; and
    its largest weights.

    Parameters
    ----------
    model : fitted estimator
        Of any kind; its ``predict`` is called.
    X, y
        As of its ``score``; as a rule a corpus that it was not trained on.

    Returns
    -------
    Report
        At most 3 MB: the 200 wrong sequences of which the model was surest are shown, or as many as fit.

    Raises
    ------
    ValueError
        If ``X`` and ``y`` are not as the model takes them; the message names the sequence.

    References
    ----------
    .. [1] B. Efron and R. Tibshirani (1993). An introduction to the bootstrap.

    Examples
    --------
    >>> from skstruct import StructuredPerceptron
    >>> from skstruct.inspection import report
    >>> X, y = [["the", "dog"], ["a", "cat"]], [["D", "N"], ["D", "N"]]
    >>> page = report(StructuredPerceptron(random_state=0).fit(X, y), X, y)
    >>> page.scores["accuracy of tokens"]
    Score(value=1.0, low=1.0, high=1.0)
    >>> page.save("report.html")  # doctest: +SKIP
    """
    predicted = model.predict(X)
    inner, kind, shown, scheme = read_by(model, X, y)
    if kind == WORDS and all(isinstance(word, str) for words in y for word in words):
        predicted = [[word if isinstance(word, str) else word[0] for word in words] for words in predicted]
    scores = scored(kind, shown, y, predicted, scheme)
    wrong, sure, how = _surest_first(model, X, scores.wrong)
    parts = [
        _heading(model, inner),
        f"<h2>Scores</h2>{_scores(scores, len(y))}",
        f"<h2>What was taken for what</h2>{errors_of(model, X, y, predicted)._repr_html_()}",
        _calibration(model, X, y),
        _weights(model),
    ]
    room = MOST - sum(map(len, parts))
    parts.insert(3, _wrong(model, kind, (X, shown, y, predicted), scheme, wrong, sure, how, room))
    return Report(scores, wrong, box(f'<div class="report">{"".join(parts)}</div>'))


def _heading(model, inner):
    about = inner.info() if hasattr(inner, "info") else {}
    known = {name.replace("_", " "): about[name] for name in ABOUT if about.get(name) is not None}
    texts = {name: f"{value:,}" if isinstance(value, int) else str(value) for name, value in known.items()}
    rows = [(cell(escaped(name)), cell(escaped(text, LONG))) for name, text in texts.items()]
    text = escaped(" ".join(repr(model).split()), 600)
    return f"<h1>{escaped(type(model).__name__)}</h1><p><code>{text}</code></p>{table(rows)}"


def _figure(value):
    """A cell with a number, or an interval; "–" where there is none."""
    numbers = value if isinstance(value, tuple) else (value,)
    texts = ["–" if np.isnan(x) else f"{x:,}" if isinstance(x, int) else f"{x:.3f}" for x in numbers]
    return cell("–".join(texts) if len(set(texts)) > 1 else texts[0], "number")


def _scores(scores, n):
    rows = [(cell(escaped(name)), *_with_interval(score)) for name, score in scores.overall.items()]
    labels = []
    for label, row in scores.by_label.items():
        precision, recall, support = (_figure(row[name]) for name in ("precision", "recall", "support"))
        name = cell(label_html(label or "(no type)"))
        labels.append((name, precision, recall, *_with_interval(row["f1"]), support))
    names = "label", "precision", "recall", "F1", "95 % interval", "number"
    return table(rows, ("", "", "95 % interval")) + note(f"of {n:,} sequences") + table(labels, names)


def _with_interval(score):
    return _figure(score.value), _figure((score.low, score.high))


# --------------------------------------------------------------------------------------------------
# What is wrong
# --------------------------------------------------------------------------------------------------
def _surest_first(model, X, wrong):
    """(positions of wrong sequences, how sure the model was of each or None, in which unit)."""
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


def _wrong(model, kind, corpus, scheme, wrong, sure, how, room):
    """The wrong sequences, as many as there is room for."""
    chosen, entries = wrong[:IN_FULL], []
    X, shown, y, predicted = (safe_indexing(part, chosen) if chosen else [] for part in corpus)
    pictures = drawn(kind, shown, y, predicted, scheme, _window)
    for i, certainty, picture, *case in zip(chosen, sure, pictures, *map(elements, (X, y, predicted))):
        place = f"sequence {i}" + ("" if certainty is None else f", {how} {certainty:.3g}")
        entry = f'<div class="part">{note(place)}{picture}{_why(model, kind, *case)}</div>'
        room -= len(entry)
        if room < 0:
            break
        entries.append(entry)
    text = f"{len(wrong):,} sequences have an error"
    if how:
        text += "; those come first of which the model was surest, where labels may be wrong"
    if len(entries) < len(wrong):
        text += f"; {len(entries):,} are shown"
    return f"<h2>What is wrong</h2>{note(text + '.')}{''.join(entries)}"


def _window(tokens, gold, found):
    """The part of a sequence from shortly before the first difference."""
    factor = 3 if are_characters(tokens) else 1
    if len(tokens) <= WIDE * factor:
        return tokens, gold, found
    first = min((mark.start for mark in set(gold) ^ set(found)), default=0)
    a = max(0, min(first - AROUND * factor, len(tokens) - WIDE * factor))
    b = a + WIDE * factor

    def inside(side):
        shown = [mark for mark in side if mark.stop > a and mark.start < b]
        return [mark._replace(start=max(mark.start, a) - a, stop=min(mark.stop, b) - a) for mark in shown]

    return tokens[a:b], inside(gold), inside(found)


def _why(model, kind, x, gold, predicted):
    """What speaks for what was predicted and against the right labels, at the first places that differ."""
    options = {} if kind == TREES else {"rivals": False}
    try:
        mine = explanation_of(model, x, None, **options)
        if kind == TREES:
            places = [t for t, pair in enumerate(zip(gold, predicted)) if pair[0] != pair[1]][:PLACES]
            return "".join(_compared(mine.arcs[t], f"{mine.arcs[t].head}", None) for t in places)
        right = explanation_of(model, x, gold, **options)
    except (ValueError, TypeError) as error:
        return note(f"Why not the right one? {escaped(str(error), 300)}")
    if len(mine.tokens) != len(right.tokens):
        return note(f"score {mine.score:+.3f}, of the right one {right.score:+.3f}")
    pairs = [pair for pair in zip(mine.tokens, right.tokens) if pair[0].label != pair[1].label]
    rows = [_compared(a, a.label, b) for a, b in pairs[:PLACES]]
    more = f", {len(pairs) - PLACES} more tokens differ" if len(pairs) > PLACES else ""
    return "".join(rows) + note(f"score {mine.score:+.3f}, of the right one {right.score:+.3f}{more}")


def _compared(mine, label, right):
    """The contributions to one token or arc, minus those that it has with the right label."""
    values = defaultdict(float)  # a feature may be there several times
    for name, value in mine.largest:
        values[name] += value
    for name, value in right.largest if right is not None else ():
        values[name] -= value
    word = escaped(mine.token if right is not None else mine.word)
    instead = "" if right is None else f", not {label_html(right.label)}"
    return bars(f"Why {word} → {label_html(label)}{instead}?", by_size(values.items()), top=TOP)


# --------------------------------------------------------------------------------------------------
# Probabilities and weights
# --------------------------------------------------------------------------------------------------
def _calibration(model, X, y):
    """How often tokens are right of which the model is so sure; nothing without probabilities."""
    try:
        seen = seen_by_tagger(model, X, y)
    except TypeError:
        return ""
    if not hasattr(seen.tagger, "predict_marginals"):
        return ""
    curve = reliability(seen.y, seen.tagger.predict_marginals(seen.X), labels=seen.classes)
    error = float(curve.count @ np.abs(curve.confidence - curve.accuracy) / curve.count.sum())
    columns = zip(*(each.tolist() for each in curve))
    rows = [(_figure(p), _figure(a), _figure(int(n)), cell(bar(a - p, 0.2))) for p, a, n in columns]
    head = "mean probability", "share that is right", "tokens", "difference"
    said = f"Labels of tokens, by the probability of the best one; expected calibration error {error:.4f}"
    return f"<h2>How far probabilities can be trusted</h2>{note(said)}{_curve(curve)}{table(rows, head)}"


def _curve(curve):
    points = " ".join(f"{100 * p:.1f},{100 - 100 * a:.1f}" for p, a in zip(curve.confidence, curve.accuracy))
    return (
        '<svg viewBox="-2 -2 104 104" width="220" height="220" role="img" aria-label="reliability diagram" '
        'fill="none" stroke="currentColor"><rect width="100" height="100" stroke-width=".5"/>'
        '<path d="M0 100L100 0" stroke-width=".5" stroke-dasharray="2"/>'
        f'<polyline points="{points}" stroke="hsl(210,75%,50%)" stroke-width="1.5"/></svg>'
    )


def _weights(model):
    """The largest weights of each label, and the transitions."""
    parts = []
    with suppress(TypeError):  # what has no chain has no transitions
        named = model_with(model, "named_weights", "").named_weights()
        labels = [label for part in named for label in part.labels][:LABELS_WITH_WEIGHTS]
        weights = FeatureWeights(item for label in labels for item in feature_weights(model, 20, label))
        parts.append(f"<h2>Largest weights</h2>{weights._repr_html_()}")
        transitions = transition_weights(model)
        if len(transitions) <= LABELS_WITH_TRANSITIONS:
            parts.append(f"<h2>Transitions</h2>{transitions._repr_html_()}")
    return "".join(parts)
