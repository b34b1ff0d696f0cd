"""The columns of neighbouring tokens beside those of a token."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from .._data.corpus import DENSE, number_block
from .._data.elements import spelled
from .._data.inputs import as_tokens, check_some, describe
from .._data.matrix import SequenceMatrix
from .._data.places import placed
from .._data.reads import FeatureNames, TransformerReads, joined_runs
from .._data.types import Corpus, Self
from .._saving.fields import Field, Members, Table
from .._sklearn import BaseEstimator, Integral, Interval, rows_tags
from .joining import with_boundaries
from .kept_reads import NOTHING, READS
from .numeric import neighbours_of, side_by_side, take_rows
from .remembered import Remembered
from .sequence_transformer import KnowsColumns, SequenceTransformer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .._data.corpus import Block, BlockCorpus, TokenCorpus
    from .._saving.values import Reader, Writer

LEARNED = Table(
    "What a Window has learned",
    Field("reads", READS, of="_reads"),
    Field("nothing", NOTHING, of="_nothing"),
)


class Window(KnowsColumns, SequenceTransformer, BaseEstimator):
    """Give tokens that are rows of numbers the columns of their neighbours.

    Beyond the ends of a sequence columns are 0. Taggers can read windows without this
    copy, by ``NumericFeatures(window=(-1, 1))``; this is for what stands between, such
    as a classifier.

    Parameters
    ----------
    before, after : int, default=1
        How many neighbours in front of a token, and behind it.
    deltas : bool, default=False
        Whether there are, besides, half the differences of the next token's columns and
        those of the last one. At the ends of a sequence the token itself stands in for
        what is missing.
    boundary : bool, default=True
        Whether there is, for each neighbour, a column that is 1 where it is beyond the
        ends.

    Attributes
    ----------
    n_features_in_ : int
        Columns of the tokens.
    feature_names_in_ : ndarray of str, object
        Their names, if they have any.

    Examples
    --------
    >>> import numpy as np
    >>> from skstruct.features import Window
    >>> window = Window(1, 0)
    >>> window.fit_transform([np.array([[3.0], [4.0]])])[0]
    array([[0., 3., 1.],
           [3., 4., 0.]])
    >>> window.get_feature_names_out().tolist()
    ['x0@-1', 'x0', 'boundary@-1']
    """

    _written = "_reads", "_nothing", "_known"
    _follows = ("_names_of_blocks",)

    _parameter_constraints = {
        **dict.fromkeys(
            ["before", "after"], [Interval(Integral, 0, None, closed="left")]
        ),
        **dict.fromkeys(["deltas", "boundary"], ["boolean"]),
    }

    def __init__(
        self,
        before: int = 1,
        after: int = 1,
        *,
        deltas: bool = False,
        boundary: bool = True,
    ) -> None:
        self.before = before
        self.after = after
        self.deltas = deltas
        self.boundary = boundary

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_reads")

    def __sklearn_tags__(self) -> Any:
        return rows_tags(super().__sklearn_tags__())

    def fit(self, X: Corpus, y: Any = None) -> Self:
        """Note the columns of tokens, and their names.

        Parameters
        ----------
        X : SequenceMatrix, or list of matrices
        y : optional
            Not looked at.

        Returns
        -------
        self
        """
        self._validate_params()
        numbers = _numbers(X)
        check_some(len(numbers.numbers))
        self._know(TransformerReads.of(numbers), numbers[:0])
        self._note_settings()
        return self

    def _note_settings(self) -> None:
        self._settings = self.get_params()

    def _check_settings(self) -> None:
        for name, value in vars(self).get("_settings", {}).items():
            now = getattr(self, name)
            if now != value:
                raise ValueError(
                    f"{name}={now!r:.80} differs from that of the fit, {value!r}; set it "
                    "back, or fit again"
                )

    def _know(self, reads: TransformerReads, nothing: BlockCorpus) -> None:
        """Keep what is read, and tokens of its kind without any rows."""
        self._reads = reads
        self._nothing = nothing
        self._known = Remembered()
        self._names_of_blocks = self._names_by_block(nothing)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "_nothing" in vars(self):
            self._names_of_blocks = self._names_by_block(self._nothing)

    def _to_state(self, writer: Writer, name: str) -> dict[str, Any]:
        return LEARNED.write(vars(self), writer, name) if "_reads" in vars(self) else {}

    @classmethod
    def _from_state(
        cls, node: Any, fitted: dict[str, Any], reader: Reader, where: str
    ) -> dict[str, Any]:
        if not node:
            return {}
        learned = LEARNED.read(node, where, Members({}, reader=reader))
        window = cls()
        window._know(learned["reads"], learned["nothing"])
        return {name: vars(window)[name] for name in cls._written}

    def transform(self, X: Corpus) -> SequenceMatrix:
        """Put the columns of neighbours beside those of each token.

        Parameters
        ----------
        X : SequenceMatrix, or list of matrices

        Returns
        -------
        SequenceMatrix
            Dense or sparse as ``X``. The columns are those of the first neighbour, and
            so on to those of the last; then differences, then boundaries.
        """
        check_is_fitted(self)
        self._check_settings()
        found = _numbers(X)
        if not found.numbers:
            found = self._nothing.empty(found.lengths)
        self._reads.check(found)
        blocks = found.blocks
        token = found.offsets
        names = (
            self._names_of_blocks
            if len(self._names_of_blocks) == len(blocks)
            else self._names_by_block(found)
        )
        # Differences of sparse integers would be cut off below 0.
        dtype = np.result_type(
            *(block.rows.dtype for block in blocks), *[np.float32] * self.deltas
        )
        wide = [
            self._wide(
                block,
                block.rows.astype(dtype, copy=False),
                token,
                known,
                block is blocks[-1],
            )
            for block, known in zip(blocks, names)
        ]
        runs = None
        if len(wide) > 1:
            n_ends = (self.before + self.after) * self.boundary
            repeats = self.before + 1 + self.after + self.deltas
            runs = joined_runs([found.runs] * repeats + [(0, n_ends)])
        return SequenceMatrix.of(tuple(wide), found.lengths, runs)

    def _wide(
        self,
        block: Block,
        matrix: Any,
        token: np.ndarray,
        names: FeatureNames | None,
        last: bool,
    ) -> Block:
        """Return a block with the columns of neighbours; the last has those of
        boundaries.
        """
        at, inside = neighbours_of(token, -self.before, self.after)
        shifts = range(-self.before, self.after + 1)
        parts = [
            take_rows(matrix, *pair) if shift else matrix
            for shift, *pair in zip(shifts, at.T, inside.T)
        ]
        if self.deltas:
            near, inside_one = neighbours_of(token, -1, 1)
            near = np.where(inside_one, near, np.arange(near.shape[0])[:, None])
            parts.append((matrix[near[:, 2]] - matrix[near[:, 0]]) * 0.5)
        outside = ~np.delete(inside, self.before, axis=1)
        ends = outside.shape[1] if self.boundary and last else 0
        info = block.info
        if info is not None:
            known = [(matrix.shape[1], info)] * len(parts)
            info = self._known.of(
                [info], (len(parts), ends), lambda: with_boundaries(known, ends)
            )
        if ends:
            parts.append(outside.astype(matrix.dtype))
        return number_block(side_by_side(parts), names, info)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns; those of neighbours with their distance,
        such as ``x3@-1``.

        Parameters
        ----------
        input_features : list of str, optional
            Names of the columns of ``X``, if these have none themselves.

        Returns
        -------
        ndarray of str, object
        """
        check_is_fitted(self)
        self._check_settings()
        if input_features is None:
            known = self._reads.names
            input_features = (
                [f"x{c}" for c in range(self.n_features_in_)]
                if known is None
                else known.all()
            )
        elif len(input_features) != self.n_features_in_:
            raise ValueError(
                f"input_features must be {self.n_features_in_} names, got "
                f"{len(input_features)}"
            )
        return np.array(self._names_of(input_features), dtype=object)

    def _names_by_block(self, numbers: TokenCorpus) -> list[FeatureNames | None]:
        """For each block the names of its columns and those of neighbours, or None."""
        known = self._reads.names

        def named(block: Block) -> FeatureNames | None:
            """Name the columns of a block and those of its neighbours; None without
            names.
            """
            if known is None:
                return None
            columns = np.flatnonzero(numbers.is_dense == (block.kind == DENSE)).tolist()
            last = block is numbers.blocks[-1]
            return FeatureNames(
                make=lambda: self._names_of([known.all()[c] for c in columns], last)
            )

        return [named(block) for block in numbers.blocks]

    def _names_of(self, names: Iterable[Any], last: bool = True) -> list[str]:
        """Return the names of all columns, from those of the input; the last block has
        those of boundaries.
        """
        shifts = range(-self.before, self.after + 1)
        names = list(map(spelled, names))
        found = [
            f"{name}@{shift:+d}" if shift else name
            for shift in shifts
            for name in names
        ]
        if self.deltas:
            found += [f"delta:{name}" for name in names]
        if self.boundary and last:
            found += [f"boundary@{shift:+d}" for shift in shifts if shift]
        return found


def _numbers(X: Corpus) -> TokenCorpus:
    """Return a corpus of rows of numbers, or without tokens."""
    found = as_tokens(X)
    if found.tokens:
        raise placed(
            found.offsets,
            0,
            f"expected a row of numbers, got {describe(found.tokens[0])}",
        )
    return found
