"""Weights as lists and matrices that notebooks draw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._data.elements import label_text, spelled
from .html import LONG, Shown, box, cell, escaped, note, readable, shade, table

SHOWN = 10
"""Features listed of each label, of either sign; and labels, at most four times as
many.
"""

LINES = 40
WIDE = 16
"""Weights that are printed; labels up to which the matrix of transitions is."""


def new_frame(data: Any, who: str, **options: Any) -> Any:
    """Make a DataFrame; raise, with a sentence that helps, if there is no pandas."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            f"{who}.to_frame needs pandas; run pip install pandas, or call "
            "to_dict, which does not"
        ) from error
    return pandas.DataFrame(data, **options)


def _aligned(rows: Sequence[tuple[str, ...]]) -> str:
    """Write rows of texts as lines, in columns."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


class Records(list[Any], Shown):
    """A list of named tuples of one kind, ``_record``, that can become columns."""

    _record: ClassVar[Any]

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        if isinstance(index, slice):
            kind: Any = type(self)
            found = kind(found)
            vars(found).update(vars(self))
        return found

    def to_dict(self) -> dict[str, list[Any]]:
        """Return ``{name: [...], ...}``: a list for each attribute of an item."""
        columns = zip(*self) if self else ([] for _ in self._record._fields)
        return dict(zip(self._record._fields, map(list, columns)))

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with a column for each attribute of an item.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        return new_frame(self.to_dict(), type(self).__name__)


class FeatureWeight(NamedTuple):
    """The weight of one feature for one label."""

    feature: str
    label: Any
    weight: float


class FeatureWeights(Records):
    """A list of `FeatureWeight`.

    Notebooks show what speaks most for and against each label.

    ``print`` shows the first forty as a table.
    """

    _record: ClassVar[Any] = FeatureWeight

    def by_label(self) -> dict[Any, list[FeatureWeight]]:
        """Return the weights of each label, largest first."""
        found: dict[Any, list[FeatureWeight]] = {}
        for item in sorted(self, key=lambda item: -item.weight):
            found.setdefault(item.label, []).append(item)
        return dict(sorted(found.items(), key=lambda pair: spelled(pair[0])))

    def __str__(self) -> str:
        shown = [
            (f"{w:+.4f}", readable(label_text(label)), readable(name, LONG))
            for name, label, w in self[:LINES]
        ]
        lines = _aligned([("weight", "label", "feature"), *shown])
        more = len(self) - len(shown)
        return lines + (f"\n{more:,} more" if more else "")

    def _repr_html_(self) -> str:
        labels = self.by_label()
        largest = max((abs(item.weight) for item in self), default=0.0)
        shown = list(labels.items())[: 4 * SHOWN]
        parts = [_label_table(label, items, largest) for label, items in shown]
        if len(shown) < len(labels):
            parts.append(note(f"{len(labels) - len(shown)} more labels"))
        return box(f'<div class="side">{"".join(parts)}</div>')


def _label_table(label: Any, items: list[FeatureWeight], largest: float) -> str:
    top = [item for item in items if item.weight > 0.0][:SHOWN]
    bottom = [item for item in items if item.weight < 0.0][-SHOWN:]
    rows = [
        (_shaded(f"{w:+.3f}", w, largest), cell(escaped(name, LONG)))
        for name, _, w in top + bottom
    ]
    if len(rows) < len(items):
        rest = cell(f"<i>{len(items) - len(rows):,} more</i>")
        rows.insert(len(top), (cell("…", "number"), rest))
    return f"<div><b>{escaped(label_text(label))}</b>{table(rows)}</div>"


def _shaded(text: str, value: float, largest: float) -> str:
    return cell(text, "number", f"background:{shade(value, largest)}")


class TransitionWeights(np.ndarray, Shown):
    """The weights of label bigrams, ``[previous, next]``, with the labels.

    It is an ndarray.

    ``print`` shows it with the labels, notebooks shaded. Parts of it, and what is
    computed from it, are ordinary arrays.

    Attributes
    ----------
    labels : list
        In the order of ``classes_``.
    """

    labels: list[Any] | None

    def __new__(
        cls, weights: NDArray[np.float64], labels: list[Any]
    ) -> TransitionWeights:
        """Make a matrix that knows its labels."""
        array = np.asarray(weights, np.float64).view(cls)
        array.labels = list(labels)
        return array

    def __array_finalize__(self, other: Any) -> None:
        labels = getattr(other, "labels", None)
        self.labels = (
            labels if labels is not None and self.shape == (len(labels),) * 2 else None
        )

    @property
    def T(self) -> NDArray[np.float64]:  # type: ignore[override]  # no TransitionWeights
        """The transposed, an ordinary array: its rows are the next labels."""
        return np.asarray(self).T

    def __array_wrap__(
        self, array: Any, context: Any = None, return_scalar: bool = False
    ) -> Any:
        array = np.asarray(array)
        return array[()] if return_scalar else array

    def __getitem__(self, key: Any) -> Any:
        return np.asarray(self)[key]

    def __repr__(self) -> str:
        return repr(np.asarray(self))

    def __str__(self) -> str:
        if self.labels is None:
            return str(np.asarray(self))
        names = [readable(label_text(label)) for label in self.labels]
        weights = np.asarray(self)
        if len(names) <= WIDE:
            rows = [
                (name, *(f"{w:+.3f}" for w in row))
                for name, row in zip(names, weights.tolist())
            ]
            return _aligned([("from \\ to", *names), *rows])
        largest = np.argsort(-np.abs(weights), axis=None, kind="stable")[
            :LINES
        ].tolist()
        pairs = [
            (f"{weights[divmod(k, len(names))]:+.4f}", *divmod(k, len(names)))
            for k in largest
        ]
        lines = _aligned(
            [("weight", "from", "to"), *((w, names[p], names[y]) for w, p, y in pairs)]
        )
        return f"{lines}\n{weights.size - len(pairs):,} more"

    def __reduce__(self) -> Any:
        return TransitionWeights, (np.asarray(self), self.labels or [])

    def to_dict(self) -> dict[Any, dict[Any, float]]:
        """Return ``{previous: {next: weight}}``."""
        labels = self.labels or []
        return {p: dict(zip(labels, row)) for p, row in zip(labels, self.tolist())}

    def to_frame(self) -> Any:
        """Return a pandas DataFrame, with a row for each previous label.

        A column is a next label.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        return new_frame(
            np.asarray(self),
            "TransitionWeights",
            index=self.labels,
            columns=self.labels,
        )

    def _repr_html_(self) -> str | None:
        if self.labels is None:
            return None
        weights = np.asarray(self)
        largest = float(np.abs(weights).max(initial=0.0))
        names = [escaped(label_text(label)) for label in self.labels]
        rows = [
            [cell(name, tag="th"), *(_shaded(f"{w:+.2f}", w, largest) for w in row)]
            for name, row in zip(names, weights.tolist())
        ]
        return box(table(rows, ["from \\ to", *names]))
