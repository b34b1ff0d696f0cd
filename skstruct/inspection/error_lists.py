"""What a model gets wrong: confusions, with examples, and unseen words apart."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from .._sklearn import innermost
from ..data.inputs import LABELS, SPANS, WORDS
from ..data.types import Corpus
from ..taggers.constraints import scheme_of
from .differences import Difference, differences
from .html import Shown, bar, box, cell, escaped, note, readable, table
from .weight_tables import new_frame

EXAMPLES, SHOWN = 3, 20
"""Examples of a confusion, and confusions that are shown."""


class Example(NamedTuple):
    """Where something went wrong."""

    sequence: int
    position: int
    text: str  # with the place in [ ]


class Confusion(NamedTuple):
    """What was taken for what.

    Attributes
    ----------
    gold, predicted : str
        Labels, types of segments, words or labels of arcs; ``"(none)"`` is no segment.
    count : int
    unseen : int or None
        How many of them hold a word that is not in the vocabulary; None without one.
    examples : list of Example
    """

    gold: str
    predicted: str
    count: int
    unseen: int | None
    examples: list[Example]


class Errors(Shown):
    """What :func:`errors` found; ``print`` lists it, notebooks show a table.

    Attributes
    ----------
    kind : {"labels", "segments", "words", "spans", "trees"}
    n_items, n_errors : int
        Tokens, segments, words, spans or arcs of gold, and the errors among them and beside them.
    n_unseen, n_unseen_errors : int or None
        The same for those that hold an unseen word; None without a vocabulary.
    confusions : list of Confusion
        Most frequent first.
    """

    def __init__(self, kind: str, n_items: int, n_unseen: int | None, found: list[Difference]) -> None:
        self.kind, self.n_items, self.n_unseen = kind, n_items, n_unseen
        self.n_errors = len(found)
        self.n_unseen_errors = None if n_unseen is None else sum(each.unseen for each in found)
        self.confusions = _counted(found, n_unseen is not None)

    def to_dict(self) -> dict[str, Any]:
        """All attributes; confusions and examples are dicts too."""
        confusions = [
            {**confusion._asdict(), "examples": [each._asdict() for each in confusion.examples]}
            for confusion in self.confusions
        ]
        return {**vars(self), "confusions": confusions}

    def to_frame(self) -> Any:
        """A pandas DataFrame: ``gold``, ``predicted``, ``count``, ``unseen`` and the first ``example``.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        columns: dict[str, list[Any]] = {
            name: [getattr(c, name) for c in self.confusions] for name in Confusion._fields[:4]
        }
        columns["example"] = [c.examples[0].text for c in self.confusions]
        return new_frame(columns, "Errors")

    def summary(self) -> str:
        """How many there are, in one sentence."""
        items = _ITEMS[self.kind]
        text = f"{self.n_errors:,} errors in {self.n_items:,} {items}"
        if self.n_unseen is not None:
            text += f"; with unseen words {self.n_unseen_errors:,} errors, {self.n_unseen:,} {items}"
        return text

    def __str__(self) -> str:
        lines = [self.summary()]
        for c in self.confusions[:SHOWN]:
            both = f"{readable(c.gold)} -> {readable(c.predicted)}"
            unseen = f" ({c.unseen:,} unseen)" if c.unseen else ""
            lines.append(f"{c.count:>6,}  {both}{unseen}   {c.examples[0].text}")
        if len(self.confusions) > SHOWN:
            lines.append(f"{'':>6}  {len(self.confusions) - SHOWN:,} more confusions")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Errors: {self.summary()}>"

    def _repr_html_(self) -> str:
        parts = [f"<b>{self.summary()}</b>", _html(self.confusions)]
        unseen = [c._replace(count=c.unseen) for c in self.confusions if c.unseen]
        if unseen:
            unseen.sort(key=lambda c: -c.count)
            parts += [f"<details><summary>with unseen words</summary>{_html(unseen)}</details>"]
        return box("".join(parts))


_ITEMS = {"labels": "tokens", "segments": "segments", "words": "words", "spans": "spans", "trees": "arcs"}


def _counted(found, with_unseen):
    groups = {}
    for each in found:
        groups.setdefault((each.gold, each.predicted), []).append(each)
    confusions = [
        Confusion(
            gold, predicted, len(group), sum(each.unseen for each in group) if with_unseen else None,
            [Example(each.sequence, each.position, each.text()) for each in group[:EXAMPLES]],
        )
        for (gold, predicted), group in groups.items()
    ]  # fmt: skip
    return sorted(confusions, key=lambda c: (-c.count, c.gold, c.predicted))


def _html(confusions):
    if not confusions:
        return ""
    largest = confusions[0].count
    rows = [
        (
            cell(f"{c.count:,}", "number"),
            cell(bar(-c.count, largest)),
            cell(escaped(c.gold)),
            cell(escaped(c.predicted)),
            cell("<br>".join(escaped(each.text, 90) for each in c.examples)),
        )
        for c in confusions[:SHOWN]
    ]
    rest = len(confusions) - SHOWN
    head = ["", "", "gold", "predicted", "for example"]
    return table(rows, head, "long") + (note(f"{rest:,} more confusions") if rest > 0 else "")


def errors(
    model: Any, X: Any, y: Corpus, *, vocabulary: Iterable[str] | None = None, scheme: str | None = None
) -> Errors:
    """What a fitted model gets wrong on a corpus.

    Parameters
    ----------
    model : fitted estimator
        Of any kind; its ``predict`` is called.
    X, y
        As of its ``score``. Of a pipeline over raw texts, examples show the tokens that reach the model.
        Labels that look like those of a scheme such as BIO are compared as segments. Tokens whose label is
        None do not count, nor do segments that hold or touch one.
    vocabulary : iterable of str, optional
        The words that are known, as a rule those of the training corpus; what holds another word is counted
        apart. By default what the model remembers of the words of its training; models of templates do.
    scheme : str, optional
        Of labels, which are then compared as segments: "IO", whose labels are types without a prefix. By
        default also where the model's ``constraints`` are "IO".

    Returns
    -------
    Errors
        Confusions by frequency, with examples. Of labels: which label was given for which. Of segments and
        spans: which type for which; one that was found with other boundaries, or not at all. Of words:
        which words were cut in another way, and which tags confused. Of trees: the labels of arcs, whose
        head is right or wrong.

    Raises
    ------
    ValueError
        If the lengths of ``X`` and ``y`` differ (the message names the sequence), or a label is not of the
        scheme.

    Examples
    --------
    >>> from skstruct import StructuredPerceptron
    >>> from skstruct.inspection import errors
    >>> X, y = [["the", "dog", "barks"], ["a", "cat", "sleeps"]], [["D", "N", "V"], ["D", "N", "V"]]
    >>> tagger = StructuredPerceptron(random_state=0).fit(X, y)
    >>> print(errors(tagger, [["the", "barks", "sleeps"], ["a", "cat"]], [["D", "N", "V"], ["D", "N"]]))
    1 errors in 5 tokens; with unseen words 0 errors, 0 tokens
         1  N -> V   the [barks] sleeps
    """
    return errors_of(model, X, y, model.predict(X), vocabulary=vocabulary, scheme=scheme)


def errors_of(model, X, y, predicted, *, vocabulary=None, scheme=None):
    """The :class:`Errors` of predictions that were made before; see :func:`errors`."""
    inner, _ = innermost(model)
    task = inner.inputs.task if hasattr(inner, "inputs") else None
    known = _checked(vocabulary)
    if task == SPANS and inner.tokenizer == "words":
        inner, _ = innermost(inner.tagger_)
    if vocabulary is None and hasattr(inner, "_model"):
        known = inner._model.words_of_training()
    if task is not None and (task == WORDS or any(isinstance(each, str) for each in X)):
        _, X = innermost(model, X)  # what becomes of texts in a pipeline
    if scheme is None and task == LABELS and scheme_of(inner) == "IO":  # others can be seen
        scheme = "IO"
    return Errors(*differences(task, X, y, predicted, known, scheme))


def _checked(vocabulary):
    if vocabulary is None:
        return None
    if isinstance(vocabulary, str):
        raise ValueError(f"vocabulary must be a collection of words, got the str {vocabulary[:40]!r}")
    return frozenset(vocabulary)
