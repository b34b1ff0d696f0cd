"""The evaluation of epochs: held-out sequences, a scorer, and early stopping.

The part is either the user's, ``X_val`` and ``y_val`` of ``fit``, or a share of the
corpus that ``early_stopping`` takes away from training. After each epoch a scorer sees
the estimator as it would be if training ended there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import InitVar, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._core.user_warnings import warn
from .._data.corpus import STRINGS, TokenCorpus
from .._data.inputs import PlaceError, describe
from .._data.labels import some_of
from ..metrics.counting import has_label, refuse_nothing
from .checkpoint import arrays_of, fingerprint, with_arrays
from .epochs import snapshot

if TYPE_CHECKING:
    from .._data.types import Corpus, Given
    from .loop import State
    from .run import Run

NAMES = "X_val", "y_val"
"""The arguments of ``fit`` that hold them; errors about one begin with its name."""

VAL_NAMES: dict[str | None, str] = {"X": "X_val", "y": "y_val", None: "X_val and y_val"}
"""Names in place of ``X`` and ``y`` in errors about held-out sequences."""


@dataclass
class HeldOut:
    """Sequences that judge the epochs of a fit.

    Making one raises a ValueError unless something in it counts in scores
    (:mod:`..metrics.counting`), and all of it can be counted by the scorer.

    Attributes
    ----------
    judge : estimator
        Its ``scoring`` scores.
    task : str or None
        What it predicts, as `Inputs` says of it when it is fitted; None if it was asked
        already whether all can be counted.
    X, y
        As the estimator's ``score`` takes them.
    encoded : optional
        X and y in the form that the structure's own scores read.
    known : iterable of labels
        What the estimator may predict.
    positions : sequence of int, optional
        Where the sequences stand in what the user gave: in ``X`` of ``fit`` if
        ``from_X``, else in ``X_val``; None: they are all of it.
    from_X : bool
        Whether early stopping took them away from training.
    """

    judge: Any
    task: str | None
    X: Any
    y: Any
    encoded: Any = None
    known: InitVar[Iterable[Any]] = ()
    positions: Sequence[int] | np.ndarray | None = None
    from_X: bool = False

    def __post_init__(self, known: Iterable[Any]) -> None:
        if isinstance(self.X, TokenCorpus):
            self.X = self.X.for_users()
        refuse_nothing(any(map(has_label, self.y)))
        if self.judge.scoring is not None and self.task is not None:
            from ..metrics.countable import refuse_uncountable  # slow to import

            refuse_uncountable(self.judge, self.task, self.X, self.y, known)

    @contextmanager
    def in_users_words(self) -> Iterator[None]:
        """Let errors of a scorer about places name the user's sequences, and the
        arguments of ``fit``.
        """
        names: dict[str | None, str] = {"y_true": "y"}
        if not self.from_X:
            names = {**VAL_NAMES, "y_true": "y_val"}
        try:
            yield
        except PlaceError as error:
            at = error.sequence
            if self.positions is not None and at is not None:
                at = int(self.positions[at])
            error.move(at, names.get(error.name, error.name))
            raise


def _told_apart(X: Any) -> Any:
    """Turn sequences of tokens into what JSON takes; rows of numbers into a digest.

    Texts are what they are.
    """
    if not isinstance(X, TokenCorpus):
        return X
    if not X.numbers:
        return X.lists()
    matrix = X.matrix
    arrays = {"lengths": X.lengths}
    names = ("data", "indices", "indptr") if hasattr(matrix, "indptr") else ()
    arrays.update(
        {name: getattr(matrix, name) for name in names} or {"rows": np.asarray(matrix)}
    )
    digest = fingerprint({}, arrays)
    strings = X.block(STRINGS)
    return digest if strings is None else (digest, strings.rows, strings.names)


def held_out_facts(held_out: HeldOut | None, scoring: Any) -> dict[str, Any]:
    """Return what the record of a fit depends on, for the name of its checkpoint."""
    return {"held_out": held_out and (_told_apart(held_out.X), held_out.y, scoring)}


def both_or_neither(X_val: Given, y_val: Given) -> tuple[Corpus, Corpus] | None:
    """Return (X_val, y_val), or None if ``fit`` was given neither.

    Raises
    ------
    ValueError
        If it was given one of them.
    """
    if (X_val is None) != (y_val is None):
        raise ValueError(
            f"X_val and y_val must be given together, got no {NAMES[y_val is None]}"
        )
    return None if X_val is None or y_val is None else (X_val, y_val)


class GivenPieces(NamedTuple):
    """Held-out texts as a tagger takes them."""

    X: list[Any]
    y: list[Any]
    positions: Sequence[int] | np.ndarray  # by sequence: the number of its text


@contextmanager
def of_pieces(positions: Sequence[int] | np.ndarray | None) -> Iterator[None]:
    """Let errors inside about ``X_val`` and ``y_val``, which count the pieces of texts,
    count the texts; ``positions`` as of `GivenPieces`, or None.
    """
    try:
        yield
    except PlaceError as error:
        is_val = (error.name or "").endswith("_val")
        if positions is not None and is_val and error.sequence is not None:
            error.move(int(positions[error.sequence]))
        raise


@contextmanager
def of_held_out() -> Iterator[None]:
    """Let errors inside, which speak of ``X`` and ``y``, speak of ``X_val`` and
    ``y_val``.
    """
    try:
        yield
    except PlaceError as error:
        error.move(error.sequence, VAL_NAMES.get(error.name, error.name))
        raise
    except (ValueError, TypeError) as error:
        text = re.sub(r"^[Xy]\b|(?<=^X and )y\b", r"\g<0>_val", str(error))
        if text == str(error) and not text.startswith(NAMES):
            text = f"X_val and y_val: {text}"
        raise type(error)(text) from None


def warn_unseen(labels: Sequence[Any], more: str = "") -> None:
    """Warn of labels of ``y_val`` that training lacks; ``more`` ends the sentence."""
    if labels:
        warn(
            f"y_val has labels that training lacks: {some_of(labels)}; they count as "
            f"wrong in scores{more}"
        )


def scored(
    scoring: str | Callable[..., float] | None,
    estimator: Any,
    fitted: dict[str, Any],
    X: Any,
    y: Any,
) -> float:
    """Score an estimator that had just these fitted attributes; ``scoring`` as its
    parameter.

    Raises
    ------
    ValueError
        If the scorer returns no finite number.
    """
    # slow to import, and not needed to predict
    from ..metrics.countable import scorer_of

    model = copy(estimator)
    vars(model).update(fitted)
    scorer = scorer_of(scoring)
    value = model.score(X, y) if scorer is None else scorer(model, X, y)
    try:
        score = float(value)
    except (TypeError, ValueError):
        score = np.nan
    if not np.isfinite(score):
        raise ValueError(f"scoring must return a finite number, got {describe(value)}")
    return score


class Watch:
    """Scores of the epochs on the held-out sequences of a run, if it has any; early
    stopping keeps the best one.

    Parameters
    ----------
    stopping : bool
        Whether there is early stopping.

    Attributes
    ----------
    best : NamedTuple or None
        The model in training after the best epoch, with early stopping.
    """

    best: Any

    def __init__(self, stopping: bool) -> None:
        self.stopping = stopping
        self.best_score = -np.inf
        self.wait = 0
        self.best = None

    def look(
        self, run: Run, in_training: Callable[[], Any], record: dict[str, Any]
    ) -> bool:
        """Score the model that ``in_training()`` returns, note it in the record, and
        say whether to stop.
        """
        if run.held_out is None:
            return False
        model = in_training()
        record["validation_score"] = score = run.score_epoch(model)
        if not self.stopping:
            return False
        self.wait = 0 if score > self.best_score + run.estimator.tol else self.wait + 1
        if score > self.best_score:
            self.best_score = score
            self.best = snapshot(model)
        return self.wait >= run.estimator.n_iter_no_change

    def state(self) -> State:
        """Return (header, arrays) for a checkpoint; empty without early stopping."""
        if self.best is None:
            return {}, {}
        header = {"best_score": self.best_score, "wait": self.wait}
        return header, arrays_of(self.best, "best")

    def restore(
        self, header: dict[str, Any], arrays: dict[str, np.ndarray], model: Any
    ) -> None:
        """Go on from :meth:`state`; ``model`` has the form of the best one."""
        if "best_score" in header:
            self.best_score = header["best_score"]
            self.wait = header["wait"]
            self.best = with_arrays(model, "best", arrays)
