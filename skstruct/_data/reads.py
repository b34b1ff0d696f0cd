"""A declaration of what a reader of a corpus reads: tokens of a kind, their columns,
and the names of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from .elements import spelled
from .places import PLACE, PlaceError, counted, describe, place

if TYPE_CHECKING:
    from .corpus import TokenCorpus


class ColumnInfo(NamedTuple):
    """The facts about columns that are features of tokens, encoded before."""

    bigram: bool  # whether the label bigram is a feature
    # (columns,) int32: which template, or key, each column is of, as a number
    template: np.ndarray


NamesBeside: TypeAlias = "list[tuple[str, FeatureNames | None, int]]"
"""(prefix, names or None, number of columns) of columns that stand side by side."""


class FeatureNames:
    """The names of columns, shared by matrices and models; made when they are first
    asked for.

    Parameters
    ----------
    names : list of str, optional
    make : callable, optional
        Returns them.
    parts : list of (prefix, FeatureNames or None, number of columns), optional
        Names of columns that stand side by side.
    """

    def __init__(
        self,
        names: list[str] | None = None,
        make: Callable[[], list[str]] | None = None,
        parts: NamesBeside | None = None,
    ) -> None:
        self._names = names
        self._make = make
        self._parts = parts
        self._beside: tuple[FeatureNames, tuple[int, ...], FeatureNames] | None = None

    def all(self) -> list[str]:
        """Return all names, by column; not to be changed."""
        if self._names is None:
            if self._make is None:
                self._names = _side_by_side(self._parts or [])
            else:
                self._names = self._make()
            self._make = None
        return self._names

    def differs(self, other: FeatureNames | None) -> int | None:
        """Return the first column whose name is another one in ``other``; None if all
        agree or some are unknown.
        """
        if other is None or other is self or self._agrees(other):
            return None
        pairs = zip(self.all(), other.all())
        return next(
            (c for c, (mine, theirs) in enumerate(pairs) if mine != theirs), None
        )

    def _agrees(self, other: FeatureNames) -> bool:
        """Tell whether all names agree; two that do share one list from then on."""
        if self._parts is not None and self._parts == other._parts:
            return True
        mine = self.all()
        theirs = other.all()
        if mine is theirs:
            return True
        if mine != theirs:
            return False
        # So they are not compared name by name again. It is the list of the lower
        # address, so that any number of objects that agree soon share one.
        self._names = other._names = min(mine, theirs, key=id)
        return True

    def beside(self, others: FeatureNames, runs: tuple[int, ...]) -> FeatureNames:
        """Return the names of all columns, if these are of the dense ones.

        The last answer is kept.

        Parameters
        ----------
        others : FeatureNames
            Of the sparse columns.
        runs : tuple of int
            Which columns are dense, as :func:`runs_of` has it.
        """
        kept = self._beside
        if kept is None or kept[0] is not others or kept[1] != runs:
            names = FeatureNames(make=lambda: self._merged(others, runs))
            kept = self._beside = others, runs, names
        return kept[2]

    def _merged(self, others: FeatureNames, runs: tuple[int, ...]) -> list[str]:
        is_dense = mask_of(runs)
        found = np.empty(is_dense.shape[0], dtype=object)
        found[is_dense] = self.all()
        found[~is_dense] = others.all()
        return found.tolist()

    def __reduce__(self) -> tuple[Any, ...]:
        # As arrays: processes of joblib share these, where a list would be pickled for
        # each task.
        parts = [name.encode("utf-8", "surrogatepass") for name in self.all()]
        ends = np.cumsum([len(part) for part in parts], dtype=np.int64)
        return _names_of, (np.frombuffer(b"".join(parts), np.uint8), ends)


def _side_by_side(parts: NamesBeside) -> list[str]:
    found = []
    for prefix, names, n in parts:
        known = [f"x{c}" for c in range(n)] if names is None else names.all()
        found += [prefix + name for name in known]
    return found


def _names_of(letters: np.ndarray, ends: np.ndarray) -> FeatureNames:
    """Return the :class:`FeatureNames` that were pickled."""

    def make() -> list[str]:
        data = letters.tobytes()
        stops = ends.tolist()
        return [
            data[a:b].decode("utf-8", "surrogatepass")
            for a, b in zip([0, *stops], stops)
        ]

    return FeatureNames(make=make)


def names_of_all(
    runs: tuple[int, ...], dense: FeatureNames | None, others: FeatureNames | None
) -> FeatureNames | None:
    """Return the names of all columns, from those of the dense ones and of others; None
    if some are unknown.
    """
    return None if dense is None or others is None else dense.beside(others, runs)


# --------------------------------------------------------------------------------------
# Which columns are dense, as a few runs: calls on one sentence compare and join these
# --------------------------------------------------------------------------------------
def runs_of(is_dense: np.ndarray) -> tuple[int, ...]:
    """Return the lengths of the runs of columns of one kind, as a tuple.

    Dense and sparse ones take turns. The first run is of dense ones; it, and no other
    one, may be of length 0.

    Parameters
    ----------
    is_dense : ndarray of shape (n_columns,), bool
    """
    edges = np.flatnonzero(np.diff(is_dense, prepend=True))
    return tuple(np.diff(edges, prepend=0, append=is_dense.shape[0]).tolist())


def mask_of(runs: tuple[int, ...]) -> np.ndarray:
    """(n_columns,) bool: which columns are dense; the inverse of :func:`runs_of`."""
    return np.repeat(np.arange(len(runs)) % 2 == 0, runs)


def joined_runs(parts: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    """Return the runs of columns that stand side by side."""
    found = [0]
    for runs in parts:
        for k, n in enumerate(runs):
            last_is_dense = len(found) % 2 == 1
            if not n:
                continue
            if last_is_dense == (k % 2 == 0):
                found[-1] += n
            else:
                found.append(n)
    return tuple(found)


@dataclass(frozen=True)
class Reads:
    """The tokens that something was made for: what models and transformers share.

    Attributes
    ----------
    called : str or None
        As ``TokenCorpus.called``.
    width : int or None
        Columns of numbers, or of tuples for who reads all of them, in order.
    names : FeatureNames or None
        Of columns of numbers, if they have any.
    titles : tuple of str or None
        Of columns of strings in a data frame, or of all of a frame's.
    """

    called: str | None
    width: int | None = None
    names: FeatureNames | None = None
    titles: tuple[str, ...] | None = None

    def check(
        self, corpus: TokenCorpus, name: str = "X", known: str = "training"
    ) -> None:
        """Raise unless the tokens of a corpus are such; the only place that says what
        differs.

        Raises
        ------
        ValueError
            That names the corpus, the place, what was found and what is expected.
        """
        if not corpus.kinds:
            return
        if corpus.called != self.called and self._minds_kind(corpus):
            if corpus.offsets[-1]:
                raise self._of_another_kind(corpus, name, known)
            return
        self.check_titles(_titles_of(corpus), name, f"as in {known}")
        self._check_width(corpus, name, known)
        self.check_names(corpus.names, name, known)

    def _minds_kind(self, corpus: TokenCorpus) -> bool:
        """Tell whether tokens of another kind are an error."""
        return True

    def _of_another_kind(
        self, corpus: TokenCorpus, name: str, known: str
    ) -> PlaceError:
        got = "a token of strings with" if corpus.tokens else "a row of"
        got = (
            f"{got} {width_of(corpus)} numbers"
            if corpus.numbers
            else describe(corpus.tokens[0])
        )
        text = f"expected {self.called} as in {known}, got {got}"
        return PlaceError(*place(corpus.offsets, 0), text, name)

    def _check_width(self, corpus: TokenCorpus, name: str, known: str) -> None:
        """Raise unless there are as many columns."""
        width = None if self.width is None else width_of(corpus)
        if width is None or width == self.width:
            return
        i = place(corpus.offsets, 0)[0] if corpus.offsets[-1] else 0
        text = (
            f"{PLACE} has {counted(width, 'column')}, expected {self.width} "
            f"as in {known}"
        )
        raise PlaceError(i, None, text, name)

    def check_titles(
        self,
        titles: tuple[str, ...] | None,
        name: str = "X",
        known: str = "as in training",
    ) -> None:
        """Raise unless the columns of strings, or all of a frame that is taken as it is,
        stand where they did.

        Parameters
        ----------
        titles : tuple of str or None
            Of the columns; None if they have none.
        name : str
            What the error calls the argument.
        known : str
            Where they stood before, as the error says it.
        """
        if titles is None or self.titles is None:
            return
        moved = self._what_moved(titles, self.titles)
        if moved is not None:
            found, expected = (", ".join(each) for each in (titles, self.titles))
            raise ValueError(
                f"{name}: {moved} are {found}, expected {expected} {known}"
            )

    def _what_moved(
        self, titles: tuple[str, ...], known: tuple[str, ...]
    ) -> str | None:
        """Return what errors call the columns, if one stands elsewhere than in training;
        None if none does.

        Columns of strings may be renamed, and further ones do not matter: what reads
        strings reads the first.
        """
        n = len(known)
        same = titles[:n] == known
        # str for tuples: the encoder says so
        same = same or (len(titles) == 1) != (n == 1)
        return "the columns of strings" if not same and _moved(titles, known) else None

    def check_names(
        self, names: FeatureNames | None, name: str = "X", known: str = "training"
    ) -> None:
        """Raise unless the columns of numbers have the names that they had, in the same
        order.
        """
        if self.names is None or names is None:
            return
        wrong = self.names.differs(names)
        if wrong is None or self._may_be_renamed(names):
            return
        text = f"{name}: feature names differ from those of {known}"
        was = self.names.all()[wrong]
        raise ValueError(
            f"{text}: column {wrong} is {names.all()[wrong]!r}, was {was!r}"
        )

    def _may_be_renamed(self, names: FeatureNames) -> bool:
        """Tell whether these names may stand in place of those of training."""
        return False


@dataclass(frozen=True)
class ModelReads(Reads):
    """The input of a model: tokens of its kind and width, columns of numbers with the
    names that they had.
    """


@dataclass(frozen=True)
class TransformerReads(Reads):
    """The input of a transformer, which may leave it to an estimator inside.

    Attributes
    ----------
    of_frames : bool
        Whether data frames are taken as they are.
    by_place : bool
        Whether columns of numbers, or of a frame, may have new names where they stood.
    decides : bool
        False: of which kind and width tokens may be is for the estimator inside to say.
    """

    of_frames: bool = False
    by_place: bool = True
    decides: bool = True

    @classmethod
    def of(cls, corpus: TokenCorpus) -> TransformerReads:
        """Return what such a corpus is."""
        titles = _titles_of(corpus)
        of_frames = corpus.is_frame
        names = corpus.names
        width = width_of(corpus)
        if of_frames and titles is not None:
            names = FeatureNames(list(titles))
            width = len(titles)
        return cls(corpus.called, width, names, titles, of_frames)

    def check(
        self, corpus: TokenCorpus, name: str = "X", known: str = "training"
    ) -> None:
        """Raise unless the tokens of a corpus are such: see :meth:`Reads.check`."""
        if corpus.is_frame:  # what else differs is for the transformer that takes it
            self.check_titles(_titles_of(corpus), name, f"as in {known}")
        else:
            super().check(corpus, name, known)

    def check_strictly(self, corpus: TokenCorpus) -> None:
        """Raise as well for what the estimator inside decides, and for new names."""
        replace(self, by_place=False, decides=True).check(corpus)

    def _minds_kind(self, corpus: TokenCorpus) -> bool:
        # Of strings with numbers an estimator inside would see the numbers alone.
        return self.decides or bool(corpus.numbers and corpus.tokens)

    def _check_width(self, corpus: TokenCorpus, name: str, known: str) -> None:
        if self.decides:
            super()._check_width(corpus, name, known)

    def _what_moved(
        self, titles: tuple[str, ...], known: tuple[str, ...]
    ) -> str | None:
        if not self.of_frames:
            return super()._what_moved(titles, known)
        same = titles == known or (self.by_place and not _moved(titles, known))
        return None if same else "the columns"

    def _may_be_renamed(self, names: FeatureNames) -> bool:
        return (
            self.by_place
            and self.names is not None
            and not _moved(names.all(), self.names.all())
        )


def _moved(titles: Sequence[str], known: Sequence[str]) -> bool:
    """Tell whether a column with a name of training stands elsewhere than in training."""
    names = set(known)
    return any(
        title in names and [title] != [*known[c : c + 1]]
        for c, title in enumerate(titles)
    )


def width_of(corpus: TokenCorpus) -> int | None:
    """Return columns of the rows of numbers of a corpus, or of its strings; None if its
    tokens have none.
    """
    if corpus.numbers:
        return sum(corpus.runs)
    if corpus.block("strings") is None:
        return None
    return len(corpus.like) if isinstance(corpus.like, tuple) else 1


def _titles_of(corpus: TokenCorpus) -> tuple[str, ...] | None:
    """Return the names of the columns of strings, or of all columns of a frame; None if
    there are none.
    """
    for block in corpus.blocks:
        if block.kind == "frame":
            return tuple(map(spelled, block.rows.columns))
        if block.kind == "strings":
            return block.names
    return None
