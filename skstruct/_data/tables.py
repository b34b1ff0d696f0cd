"""Matrices, padded arrays and data frames: the rows of numbers and the strings in them,
after a check.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection, Iterable
from numbers import Number
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from .elements import elements, is_frame, spelled
from .places import PLACE, PlaceError, describe, place

TableParts: TypeAlias = tuple[np.ndarray, list[Any], list[list[str]], list[Any]]
"""(numbers, their names, strings by column, their names) of a table."""

SMALL = {
    np.dtype(name)
    for name in ("bool", "int8", "uint8", "int16", "uint16", "float16", "float32")
}
"""Types whose values float32 holds exactly."""


def as_float(array: np.ndarray) -> np.ndarray | None:
    """Return an array of numbers as float32, where that holds its values, or float64;
    None if there are others.

    What is masked becomes NaN. Strings are no numbers, also if they look like some.
    """
    if array.dtype.kind == "O":
        if any(
            issubclass(kind, (str, bytes))
            for kind in set(map(type, array.ravel().tolist()))
        ):
            return None
        try:
            return array.astype(np.float64)
        except (TypeError, ValueError, OverflowError):
            return None
    if array.dtype.kind not in "biuf":
        return None
    if isinstance(array, np.ma.MaskedArray):
        wide: Any = array.astype(np.result_type(array.dtype, np.float32))
        array = wide.filled(np.nan)
    return np.ascontiguousarray(
        array, np.float32 if array.dtype in SMALL else np.float64
    )


def as_rows(matrix: Any) -> Any:
    """Return a matrix as CSR with sorted columns and without duplicates, itself if it
    is that; an array as float.

    None if values are no numbers.
    """
    if not sparse.issparse(matrix):
        return as_float(matrix)
    rows = matrix.tocsr()
    if rows.dtype.kind not in "biuf":
        return None
    if not rows.has_canonical_format:
        rows = rows.copy() if rows is matrix else rows
        rows.sum_duplicates()
    return rows


def check_finite(X: Any, name: str = "X", missing: bool = False) -> None:
    """Raise for a value that is not finite; the message names sequence, position and
    column.

    Parameters
    ----------
    X : SequenceMatrix
    name : str
        What the error calls it.
    missing : bool
        Whether numbers may be missing, as NaN.
    """
    matrix = X.matrix
    is_sparse = sparse.issparse(X.matrix)
    values = matrix.data if is_sparse else matrix.ravel()
    if missing and values.dtype.kind == "f":
        values = np.where(np.isnan(values), 0, values)
    with np.errstate(all="ignore"):
        if values.dtype.kind != "f" or np.isfinite(values.sum()):
            return
    k = int(np.isfinite(values).argmin())
    if np.isfinite(values[k]):
        return  # the sum alone was too large
    if is_sparse:
        row = place(matrix.indptr, k)[0]
        column = int(matrix.indices[k])
    else:
        row, column = divmod(k, matrix.shape[1])
    value = float(values[k])
    called = "" if X.names is None else f" ({X.names.all()[column]!r})"
    hint = "; if it is padding: SequenceMatrix.from_padded" if np.isnan(value) else ""
    text = f"{PLACE}, column {column}{called}: {value} is not finite{hint}"
    raise PlaceError(*place(X.offsets, row), text, name)


def unpadded(X: Any, mask: Any) -> tuple[np.ndarray, np.ndarray]:
    """(rows, lengths) of a padded array; see ``SequenceMatrix.from_padded``."""
    array = np.asanyarray(X)
    array = as_float(array) if array.ndim == 3 else None
    if array is None:
        found = f"{np.ndim(X)} dimensions of type {np.asarray(X).dtype}"
        expected = "three dimensions (sequences, positions, columns) of numbers"
        raise ValueError(f"a padded array has {expected}, got {found}")
    n, T = array.shape[:2]
    if mask is None:
        padding = (
            np.isnan(array).all(axis=2)
            if array.shape[2]
            else np.zeros((n, T), np.bool_)
        )
        lengths = T - np.cumprod(padding[:, ::-1], axis=1).sum(axis=1)
        used = np.arange(T) < lengths[:, None]
    else:
        used = np.asarray(mask)
        if used.shape != (n, T) or used.dtype.kind not in "biu":
            raise ValueError(
                f"mask must be bool of shape ({n}, {T}), got {used.dtype} {used.shape}"
            )
        used = used.astype(np.bool_)
        lengths = used.sum(axis=1)
        gaps = np.flatnonzero(
            (np.diff(used.astype(np.int8), axis=1, prepend=0) == 1).sum(axis=1) > 1
        )
        if gaps.shape[0]:
            raise PlaceError(gaps[0], None, "the mask has padding between tokens", "X")
    return array[used], lengths.astype(np.int64)


# --------------------------------------------------------------------------------------
# Data frames
# --------------------------------------------------------------------------------------
def together(frames: list[Any], name: str = "X") -> Any:
    """Return one frame of several with the same columns; a column of categories stays
    one of strings.

    Raises
    ------
    PlaceError
        If a column holds numbers in one frame, and strings or categories in another.
    """
    if len(frames) == 1:
        return frames[0]
    if hasattr(frames[0], "iloc"):
        import pandas

        found = pandas.concat(frames, ignore_index=True)
        changed = _changed(frames, found)
        if not changed:
            return found
        return pandas.concat(_alike_frames(frames, changed, name), ignore_index=True)
    import polars

    dtypes = zip(*(frame.dtypes for frame in frames))
    changed = [c for c, of_column in enumerate(dtypes) if len(set(of_column)) > 1]
    return polars.concat(_alike_frames(frames, changed, name), how="vertical_relaxed")


MOST_ASKED = 64
"""Frames of pandas whose types are asked for, which takes half as long as to
concatenate them.
"""


def _changed(frames: list[Any], found: Any) -> list[int]:
    """Return the places of columns that had categories in some frames of pandas, or
    other types, and lost them.
    """
    some = frames[:: -(-len(frames) // MOST_ASKED)]
    places = []
    for c, (new, *old) in enumerate(
        zip(found.dtypes, *(frame.dtypes for frame in some))
    ):
        if any(
            dtype != new and (_of_categories(dtype) or new.kind == "O") for dtype in old
        ):
            places.append(c)
    return places


def _alike_frames(frames: list[Any], places: list[int], name: str) -> list[Any]:
    """Return frames of which the columns at some places have one type of categories, if
    some have any.
    """
    of_pandas = hasattr(frames[0], "iloc")
    new = {}  # place of a column: its columns in all frames
    for c in places:
        columns = [
            frame.iloc[:, c] if of_pandas else frame.to_series(c) for frame in frames
        ]
        _refuse_numbers(columns, frames[0].columns[c], name)
        if any(_of_categories(column.dtype) for column in columns):
            new[c] = _alike(columns) if of_pandas else list(map(_as_strings, columns))
    return [
        _with_columns(frame, {c: new[c][i] for c in new})
        for i, frame in enumerate(frames)
    ]


_CATEGORIES = "category", "categorical", "enum", "dictionary"
"""Beginnings of the names of categorical types in pandas, polars and pyarrow."""


def _of_categories(dtype: Any) -> bool:
    return str(dtype).lower().startswith(_CATEGORIES)


def _refuse_numbers(columns: list[Any], title: Any, name: str) -> None:
    """Raise for the first column that holds numbers, where others are of strings or
    categories.
    """
    dtypes = [str(column.dtype).lower() for column in columns]
    texts = [dtype.startswith((*_CATEGORIES, "str")) for dtype in dtypes]
    if not any(texts):
        return
    one = texts.index(True)
    what = "categories" if _of_categories(columns[one].dtype) else "strings"
    for i, (column, of_text) in enumerate(zip(columns, texts)):
        if not of_text and len(column) and numbers_of(column) is not None:
            wrong = f"the column {title!r} holds numbers, that of sequence {one} {what}"
            raise PlaceError(
                i, None, f"{PLACE}: {wrong}; make {what}, or numbers, of both", name
            )


def _alike(columns: list[Any]) -> list[Any]:
    """Return columns of pandas, of which some are categories, with one set of
    categories.

    What is concatenated of several sets becomes plain values: numbers, where the
    categories are numbers.
    """
    import pandas

    values = {}
    for column in columns:
        values.update(
            dict.fromkeys(
                column.cat.categories if hasattr(column, "cat") else column.dropna()
            )
        )
    return [column.astype(pandas.CategoricalDtype(list(values))) for column in columns]


def _as_strings(column: Any) -> Any:
    import polars

    return column.cast(polars.String) if _of_categories(column.dtype) else column


def _with_columns(frame: Any, new: dict[int, Any]) -> Any:
    """Return a frame with other columns at some positions."""
    if new and not hasattr(frame, "iloc"):
        return frame.with_columns(list(new.values()))
    if new:
        frame = frame.copy(deep=False)
        for c, column in new.items():
            frame.isetitem(c, column)
    return frame


def columns_of(frame: Any) -> list[tuple[str, Any]]:
    """(name, column) of a frame, in which pandas allows a name twice."""
    columns = (
        frame.items()
        if hasattr(frame, "iloc")
        else zip(frame.columns, frame.get_columns())
    )
    return [(spelled(title), column) for title, column in columns]


def as_matrix(matrix: Any) -> tuple[Any, list[str] | None]:
    """(matrix, names or None) of what users call a matrix: CSR, or float32 or float64
    in C order.
    """
    if is_frame(matrix):
        block, names, strings, titles = parts_of(matrix, np.array([0, len(matrix)]))
        if strings:
            raise ValueError(
                f"column {titles[0]!r} holds no numbers, got {describe(strings[0][:1])}"
            )
        return block, names
    given = matrix if sparse.issparse(matrix) else np.asanyarray(matrix)
    found = as_rows(given) if given.ndim == 2 else None
    if found is None and given.ndim == 2 and given.dtype.kind == "O":
        _refuse_strings(given)
    if found is None:
        expected = "two dimensions, tokens and columns, and hold numbers"
        raise ValueError(
            f"matrix must have {expected}; got {given.ndim} dimensions of type "
            f"{given.dtype}"
        )
    return found, None


def _refuse_strings(array: np.ndarray) -> None:
    """Raise for the first string in an array of objects that is to be a matrix."""
    for row, values in enumerate(array.tolist()):
        for column, value in enumerate(values):
            if isinstance(value, str):
                wrong = f"row {row}, column {column} holds {describe(value)}"
                advice = (
                    "SequenceMatrix.from_frame takes columns of strings, "
                    "float(text) makes a number"
                )
                raise ValueError(f"matrix must hold numbers: {wrong}; {advice}")


def parts_of(frame: Any, offsets: np.ndarray, name: str = "X") -> TableParts:
    """(numbers, their names, strings by column, their names) of a frame.

    Parameters
    ----------
    frame : pandas or polars DataFrame
    offsets : ndarray of shape (n + 1,)
        Where each sequence starts, for error messages.
    name : str
        What errors call the corpus.

    Returns
    -------
    numbers : ndarray of shape (n_tokens, n_columns), float32 or float64
    names : list of str
    strings : list of lists of str
    titles : list of str

    Raises
    ------
    ValueError
        If a column holds neither, or a string is missing; the message names the place.
    """
    return parts_of_columns(columns_of(frame), len(frame), offsets, name)


def parts_of_columns(
    columns: Iterable[tuple[Any, Any]],
    n_rows: int,
    offsets: np.ndarray,
    name: str = "X",
) -> TableParts:
    """Part columns into numbers and strings, as :func:`parts_of` does those of a frame.

    Columns are given as (title, column); titles are ints where there are none.
    """
    found = [(title, column, numbers_of(column)) for title, column in columns]
    numbers = [values for _, _, values in found if values is not None]
    names = [title for title, _, values in found if values is not None]
    others = [(title, column) for title, column, values in found if values is None]
    strings = [_strings_of(column, title, offsets, name) for title, column in others]
    block = np.stack(numbers, axis=1) if numbers else np.empty((n_rows, 0), np.float32)
    return block, names, strings, [title for title, _ in others]


def numbers_of(column: Any) -> np.ndarray | None:
    """Return a column as float32 or float64, NaN where a value is missing; None if it
    holds no numbers.
    """
    if hasattr(column, "iloc") and not isinstance(column.dtype, np.dtype):
        kind = getattr(
            column.dtype, "kind", "O"
        )  # pandas' own types, whose missing values are NA
        return (
            column.to_numpy(dtype=np.float64, na_value=np.nan)
            if kind in "biuf"
            else None
        )
    array = np.asarray(column)
    if array.ndim == 1 and array.dtype.kind == "O":
        if not isinstance(_first_value(array), Number):
            return None
        array = np.array([np.nan if is_missing(v) else v for v in array], dtype=object)
    return as_float(array) if array.ndim == 1 else None


def is_missing(value: Any) -> bool:
    """Tell whether it is None, NaN, NaT or NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and value != value


def _first_value(values: Iterable[Any]) -> Any:
    """Return the first that is not missing, or None."""
    return next((value for value in values if not is_missing(value)), None)


def _strings_of(column: Any, title: Any, offsets: np.ndarray, name: str) -> list[str]:
    """Return a column as a list of str, categories spelled out."""
    values = list(elements(column))
    of_categories = _of_categories(column.dtype)
    with_numbers = not of_categories and isinstance(_first_value(values), Number)
    for k, value in enumerate(values):
        if type(value) is str:
            continue
        if with_numbers:  # and something else besides, or numbers that no float holds
            k = next(
                (
                    k
                    for k, v in enumerate(values)
                    if not (isinstance(v, Number) or is_missing(v))
                ),
                k,
            )
            wrong = f": expected a number, got {describe(values[k])}"
        elif is_missing(value):
            wrong = " has no value; fill it first, for example with an empty string"
        elif isinstance(value, str) or of_categories:
            values[k] = spelled(value)
            continue
        else:
            wrong = _neither(value)
        text = (
            f"column {title!r}{wrong}"
            if isinstance(title, str)
            else f"{PLACE}, column {title}{wrong}"
        )
        raise PlaceError(*place(offsets, k), text, name)
    return values


def _neither(value: Any) -> str:
    """Return what is wrong with a value that is neither a string nor a number."""
    if isinstance(
        value,
        (
            datetime.date,
            datetime.time,
            datetime.timedelta,
            np.datetime64,
            np.timedelta64,
        ),
    ):
        advice = "make strings or numbers of them first, such as the day of the week"
        return f" holds dates or times, got {value}; {advice}"
    if isinstance(value, (list, tuple, np.ndarray)) or hasattr(value, "to_list"):
        return " holds lists; give each of their numbers a column"
    return f": expected a str, got {describe(value)}"


def grouped(
    df: Any, by: str, columns: str | Collection[str] | None, label: str | None
) -> tuple[Any, np.ndarray, list[Any] | None]:
    """(frame of the chosen columns, lengths, labels or None); see
    ``SequenceMatrix.from_frame``.
    """
    df = df.collect() if hasattr(df, "collect") else df
    if not is_frame(df):
        raise ValueError(f"df must be a pandas or polars DataFrame, got {describe(df)}")
    known = list(df.columns)
    columns = [columns] if isinstance(columns, str) else columns
    chosen = (
        [c for c in known if c not in (by, label)] if columns is None else list(columns)
    )
    for name in [by, *chosen, *([] if label is None else [label])]:
        if name not in known:
            raise ValueError(
                f"the table has no column {name!r}; it has {', '.join(map(str, known))}"
            )
        if known.count(name) > 1:
            raise ValueError(
                f"the table has {known.count(name)} columns {name!r}; rename all but "
                "one"
            )
    for name in chosen:
        if name in (by, label):
            what = "sequences" if name == by else "labels"
            raise ValueError(
                f"columns: {name!r} is the column of the {what}, and no feature"
            )
    if not chosen:
        raise ValueError(
            f"the table has no column to learn from, only {', '.join(map(str, known))}"
        )
    keys = df[by].to_list()
    missing = next((k for k, key in enumerate(keys) if is_missing(key)), None)
    if missing is not None:
        raise ValueError(
            f"the column {by!r}, which tells sequences apart, has no value in row "
            f"{missing}"
        )
    new = [k for k, key in enumerate(keys) if not k or key != keys[k - 1]]
    begun: dict[Any, int] = {}
    for k in new:
        if begun.setdefault(keys[k], k) != k:
            far = (
                f"the rows of {by!r} = {keys[k]!r} are not adjacent: row {k} "
                "starts them again"
            )
            raise ValueError(f"{far}; sort the table first")
    labels = (
        None
        if label is None
        else [None if is_missing(v) else v for v in df[label].to_list()]
    )
    return df[chosen], np.diff(np.array([*new, len(keys)], np.int64)), labels
