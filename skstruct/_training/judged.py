"""The common part of training runs: epochs of online learners or a CRF's solver.

A :class:`Fit` is told from others by its identity, which names its checkpoint. A
:class:`JudgedRun` may have held-out sequences, which score the model as it would be if
training ended there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .._data.inputs import renumbered, take
from .checkpoint import Checkpoint, fingerprint
from .held_out import GivenPieces, of_held_out, of_pieces, scored, warn_unseen
from .interrupt import DeferredInterrupt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._data.corpus import TokenCorpus
    from .._data.types import Corpus, Given, Path
    from .held_out import HeldOut

State: TypeAlias = tuple[dict[str, Any], dict[str, np.ndarray]]
"""The content of a checkpoint: a header of simple values, and arrays by name."""


def listen(
    interrupt: DeferredInterrupt | None,
) -> AbstractContextManager[DeferredInterrupt]:
    """Return a context that hears Ctrl-C, unless ``interrupt``, the caller's, does."""
    return DeferredInterrupt() if interrupt is None else nullcontext(interrupt)


class Fit(ABC):
    """One fit of an estimator.

    Attributes
    ----------
    checkpoint : Checkpoint or None
    """

    checkpoint: Checkpoint | None = None

    @abstractmethod
    def identity(self) -> State:
        """Return what the outcome depends on: facts and arrays.

        Two fits whose identities are equal share a checkpoint; see
        :func:`.checkpoint.fingerprint`.
        """

    def open_checkpoint(self, folder: Path, name: str) -> Checkpoint:
        """Set and return the checkpoint of this fit in a folder.

        Parameters
        ----------
        folder : str or os.PathLike
            Created if there is none.
        name : str
            For people: what is trained.
        """
        self.checkpoint = Checkpoint(folder, name, fingerprint(*self.identity()))
        return self.checkpoint


class JudgedRun(Fit):
    """A training run that held-out sequences may judge.

    Attributes
    ----------
    estimator : estimator
        Its parameters are read, and it is fitted at the end; until then it stays as it
        was.
    held_out : HeldOut or None
        Judges the epochs.
    title : str
        What the lines begin with that ``verbose`` prints.
    work : object
        Scratch of the kernel, made for the first epoch; None where there is none to
        hand on.
    """

    estimator: Any
    held_out: HeldOut | None = None
    title: str = ""
    work: Any = None

    @abstractmethod
    def held_out_part(self, X: Any, y: Any) -> tuple[HeldOut, list[Any]]:
        """Check and encode the user's held-out sequences; errors speak of X and y.

        Returns
        -------
        HeldOut
        list
            The labels of ``y`` that training lacks.
        """

    @abstractmethod
    def held_out_score(self, model: Any) -> float:
        """Return what ``score`` of a finished model would be on the held-out part."""

    def explain_unseen(self) -> str:
        """Return what ends the warning about held-out labels that training lacks."""
        return ""

    def hold_out(self, given: tuple[Given, Given] | GivenPieces | None) -> None:
        """Let the epochs be judged by ``given``, the user's (X_val, y_val), if it is
        not None.
        """
        if given is None:
            return
        positions = given.positions if isinstance(given, GivenPieces) else None
        with of_pieces(positions), of_held_out():
            self.held_out, unseen = self.held_out_part(*given[:2])
        self.held_out.positions = positions
        warn_unseen(unseen, self.explain_unseen())

    def hold_out_some(
        self, X: TokenCorpus, y: Corpus, which: Sequence[int], of_X: np.ndarray
    ) -> None:
        """Let the epochs be judged by some of the sequences of ``fit``, which it does
        not learn from.

        Parameters
        ----------
        X, y
            What takes part.
        which : sequence of int
            Places in these.
        of_X : ndarray of int
            Where what takes part stands in the user's X.
        """
        positions = of_X[which]
        with renumbered(positions):
            self.held_out, _ = self.held_out_part(X.take(which), take(y, which))
        self.held_out.positions = positions
        self.held_out.from_X = True

    def score_fitted(self, fitted: dict[str, Any]) -> float:
        """Return the score of an estimator with these fitted attributes, among them
        ``_model``, on the held-out sequences.
        """
        scoring = self.estimator.scoring
        if scoring is None or self.held_out is None:
            return self.held_out_score(fitted["_model"])
        held_out = self.held_out
        with held_out.in_users_words():
            return scored(scoring, self.estimator, fitted, held_out.X, held_out.y)
