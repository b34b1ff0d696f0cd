"""``train --holdout`` and ``--cv``: how good a model is on texts that it has not seen.

The model that is written learns from everything. Beside it another one learns without
the documents that are held out, or one for each fold, and is scored on them. Documents
are held out as a whole: sentences of one document are alike, and a model that has seen
some of them looks better on the others than it is.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import clone

from .._data.inputs import LABELS
from .._data.places import counted
from .._sklearn import final_step
from .._taggers.constraints import scheme_of
from ..metrics.intervals import FEWEST, Score
from ..metrics.task_scores import Scores, plain, scores_of
from ..metrics.task_scores import as_text as table_of
from .common import CommandError, tell
from .document_keys import offer
from .mistakes import (
    Mistake,
    in_words,
    items_of,
    mistakes_in,
    probabilities,
    scheme_for,
)

if TYPE_CHECKING:
    from .common import Arguments
    from .corpus import Corpus

WORST = 10
"""Texts that are listed."""

SHOWN = 3
"""Mistakes that are listed of a text."""

FEW_SURE = 3
SHARE_SURE = 0.1
"""Mistakes of a model that is sure, and their share, from which on annotations are
suspected.
"""

_EXCERPT = 60


class HeldOutScores(NamedTuple):
    """Scores of models on the documents that each of them has not seen.

    Attributes
    ----------
    how : str
        How documents were held out, as "5 folds of 40 documents".
    scores : Scores
    measure : str
        The name of the score that a card holds.
    n_documents : int
        Documents that were held out.
    worst : list of (int, int)
        Sequences of the corpus, each with the number of items that are wrong or
        missing, the worst first.
    mistakes : dict of int to list of Mistake
        Of these sequences what was given, and what was found.
    """

    how: str
    scores: Scores
    measure: str
    n_documents: int
    worst: list[tuple[int, int]]
    mistakes: dict[int, list[Mistake]] = {}

    @property
    def score(self) -> Score:
        """The score that a card holds."""
        return self.scores.overall[self.measure]

    def to_dict(self) -> dict[str, Any]:
        """Return what a card holds of it."""
        value, low, high = self.score
        interval = {"low": low, "high": high} if math.isfinite(low) else {}
        return {
            "measure": self.measure,
            "value": plain(value),
            **interval,
            "how": self.how,
            "of": self.n_documents,
        }


class Documents(NamedTuple):
    """The groups of sequences that belong together.

    Attributes
    ----------
    numbers : ndarray of shape (n_sequences,), int64
        The number of each sequence's document.
    known : bool
        Whether the file says which document a sequence is a part of.
    """

    numbers: np.ndarray
    known: bool


def documents_of(corpus: Corpus) -> Documents:
    """Return the documents of a corpus.

    Sequences whose document the file does not say are one each. But equal texts of
    these are one, and are of the document of an equal text that says it, so that none
    of them is learned and held out. A document that several files name is one.
    """
    named = getattr(corpus, "documents", None) or [None] * len(corpus.X)
    known = any(name is not None for name in named)
    numbers: dict[Any, int] = {}
    of_text = {
        x: name
        for name, x in zip(named, corpus.X)
        if name is not None and isinstance(x, str)
    }
    found = []
    for i, (name, x) in enumerate(zip(named, corpus.X)):
        if name is None and isinstance(x, str):
            name = of_text.get(x)
        key: Any = ("document", name)
        if name is None:
            key = ("text", x) if isinstance(x, str) else ("sequence", i)
        found.append(numbers.setdefault(key, len(numbers)))
    return Documents(np.array(found, np.int64), known)


def tell_unnamed(
    corpus: Corpus, known: bool, effect: str = "the scores are too high"
) -> None:
    """Say that a file names no documents, where some are held out, and which keys
    could name them.
    """
    if not known:
        unit = corpus.kind.sequence
        tell(
            f"{corpus.name}: nothing names documents, such as a key doc_id: each {unit} "
            f"is one; if {unit}s belong together, {effect}"
            f"{offer(corpus.said, unit)}"
        )


def folds_of(
    documents: np.ndarray,
    share: float | None,
    n_folds: int | None,
    seed: int,
    unit: str = "document",
) -> list[np.ndarray]:
    """Return for each fold which sequences are held out, as an array of bool.

    Parameters
    ----------
    documents : ndarray of shape (n_sequences,), int64
        The number of each sequence's document.
    share : float or None
        Of the documents, held out in a single fold.
    n_folds : int or None
        Folds of about equally many documents, without a share.
    seed : int
    unit : str
        What messages call a document.

    Raises
    ------
    CommandError
        If there are too few documents.
    """
    n = int(documents.max()) + 1
    order = np.random.RandomState(seed).permutation(n)
    if n < 2:
        raise CommandError(f"only {counted(n, unit)}: too few to hold any out")
    if n < (n_folds or 0):
        raise CommandError(
            f"only {counted(n, unit)} for --cv {n_folds} parts; --cv {n} makes as many"
        )
    if share is not None:
        size = min(n - 1, max(1, round(share * n)))
        return [np.isin(documents, order[:size])]
    parts = np.array_split(order, n_folds or 1)
    return [np.isin(documents, part) for part in parts]


def hold_out(
    arguments: Arguments,
    model: Any,
    corpus: Corpus,
    learn: Callable[[Any, Corpus], None],
) -> HeldOutScores:
    """Train models without what is held out, and score them on it.

    Parameters
    ----------
    arguments : Arguments
        Of ``train``, with ``holdout`` or ``cv``.
    model : estimator
        Not fitted; it stays as it is.
    corpus : Corpus
    learn : callable
        ``learn(model, corpus)`` trains a copy.
    """
    documents, known = documents_of(corpus)
    unit = "document" if known else corpus.kind.sequence
    tell_unnamed(corpus, known)
    try:
        folds = folds_of(
            documents, arguments.holdout, arguments.cv, arguments.seed, unit
        )
    except CommandError as error:
        raise CommandError(f"{corpus.name}: {error}") from None
    predicted: dict[int, Any] = {}  # by the number of the sequence
    probable: dict[int, Any] = {}
    task = ""
    fitted = None
    for k, out in enumerate(folds):
        fitted = _without_traces(clone(model))
        with warnings.catch_warnings():
            # the model that learns from everything warns of them, once
            warnings.filterwarnings("ignore", ".*(do|does) not end where tokens do")
            learn(fitted, part_of(corpus, ~out))
        task = final_step(fitted).estimator.inputs.task
        where = np.flatnonzero(out).tolist()
        X = [corpus.X[i] for i in where]
        found = fitted.predict(X)
        predicted.update(zip(where, found))
        probable.update(zip(where, probabilities(fitted, task, X, found)))
        if len(folds) > 1:
            noun = corpus.kind.sequence
            tell(f"part {k + 1} of {len(folds)}: {counted(len(where), noun)}")
    rows = sorted(predicted)
    scores, measure = score_rows(
        fitted,
        [corpus.X[i] for i in rows],
        [corpus.y[i] for i in rows],
        [predicted[i] for i in rows],
        documents[rows],
    )
    n = len(set(documents[rows].tolist()))
    how = (
        f"{counted(n, unit)} held out"
        if arguments.cv is None
        else f"{arguments.cv}-fold cross-validation, {counted(n, unit)}"
    )
    wrong = [(rows[i], n) for i, n in scores.worst]
    scheme = scheme_for(task, corpus.y)
    mistakes = {
        i: mistakes_in(
            items_of(task, corpus.y[i], scheme),
            items_of(task, predicted[i], scheme),
            probable[i],
        )
        for i, _ in wrong
    }
    return HeldOutScores(how, scores, measure, n, wrong, mistakes)


def score_rows(
    model: Any, X: Any, y: Any, predicted: Any, documents: np.ndarray
) -> tuple[Scores, str]:
    """Return the scores of predictions, with intervals for draws of whole documents, and
    the name of the score that a card holds.
    """
    task = final_step(model).estimator.inputs.task
    is_io = task == LABELS and scheme_of(model) == "IO"
    scores = scores_of(
        task,
        X,
        y,
        predicted,
        scheme="IO" if is_io else "auto",
        groups=documents,
        intervals=True,
    )
    return scores, scores.main


def part_of(corpus: Corpus, chosen: np.ndarray) -> Corpus:
    """Return the sequences of a corpus at which an array of bool is True."""
    n = len(corpus.X)
    rows = np.flatnonzero(chosen)
    parts: dict[str, Any] = {
        name: [value[i] for i in rows]
        for name, value in corpus._asdict().items()
        if isinstance(value, list) and len(value) == n
    }
    return corpus._replace(**parts)


def _without_traces(model: Any) -> Any:
    """Let the training of a model write nothing, neither checkpoints nor lines of epochs;
    return the model.
    """
    names = model.get_params()
    given = {
        name: None if name.endswith("checkpoint") else 0
        for name in names
        if name.rpartition("__")[2] in ("checkpoint", "verbose")
    }
    return model.set_params(**given)


def as_text(found: HeldOutScores, corpus: Corpus) -> str:
    """Return what is printed: scores with intervals, labels, the worst texts."""
    lines = [f"scores on held-out parts ({found.how}):"]
    lines.append(table_of(found.scores))
    if found.n_documents < FEWEST:
        lines += [
            "",
            "there are too few documents for intervals; to score all of them, pass "
            "--cv 5",
        ]
    if found.worst:
        lines += ["", "the worst:"]
    for i, n in found.worst[:WORST]:
        lines.append(f"{counted(n, 'mistake'):>12}  {_place(corpus, i)}")
        of_text = found.mistakes.get(i, [])
        for each in of_text[:SHOWN]:
            lines.append(f"{'':>14}{in_words(each, corpus, i)}")
        if len(of_text) > SHOWN:
            lines.append(f"{'':>14}and {len(of_text) - SHOWN} more")
    lines += _suspected(found)
    return "\n".join(lines)


def _suspected(found: HeldOutScores) -> list[str]:
    """Say how many mistakes look like wrong annotations, if many do."""
    every = [each for row in found.mistakes.values() for each in row]
    sure = sum(each.sure for each in every)
    if sure < max(FEW_SURE, SHARE_SURE * len(every)):
        return []
    return [
        "",
        f"{sure} of these {len(every)} mistakes are probably wrong annotations, since "
        "the "
        "model is sure; to list them: skstruct check",
    ]


def _place(corpus: Corpus, i: int) -> str:
    """Return where a sequence stands, and how it begins."""
    place = corpus.places[i]
    if not isinstance(place, str):
        place = f"{corpus.name}, line {place[0]}"
    x = corpus.X[i]
    if not isinstance(x, str):
        tokens = (token[0] if isinstance(token, tuple) else token for token in x)
        x = " ".join(map(str, tokens))
    x = " ".join(x.split())
    return f"{place}: {x[:_EXCERPT]}{'…' if len(x) > _EXCERPT else ''}"
