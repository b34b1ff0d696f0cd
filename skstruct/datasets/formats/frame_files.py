"""Parquet and Arrow files, read as lines of JSON: a row is a record, and lists in its
cells are lists.

pyarrow reads them, or polars. Names that Hugging Face ``datasets`` keep of labels which
are numbers stand beside these, as ``ner_tags_names``.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..._data.types import Path

ENDINGS = (".parquet", ".arrow", ".feather", ".ipc")


def is_frame_file(path: Any) -> bool:
    """Tell whether the name of a file is that of Parquet or Arrow."""
    if not isinstance(path, str | os.PathLike):
        return False
    return os.fspath(path).lower().endswith(ENDINGS)


class FrameLines(io.TextIOBase):
    """An open text file of the rows of a table.

    Parameters
    ----------
    path : path

    Raises
    ------
    ValueError
        If neither pyarrow nor polars is installed, or the file is none of theirs.
    """

    def __init__(self, path: Path) -> None:
        self.name = os.fspath(path)
        self._lines = _lines(os.fspath(path))
        self._first = next(self._lines, "")  # errors come now

    def readline(self, size: Any = -1) -> str:  # type: ignore[override]
        """Return the next row as a line."""
        first = self._first
        self._first = ""
        return first or next(self._lines, "")

    def readable(self) -> bool:
        """Return True."""
        return True


def _lines(path: str) -> Iterator[str]:
    rows, names = _opened(path)
    for row in rows:
        yield json.dumps({**row, **names}, ensure_ascii=False, default=str) + "\n"


def _opened(path: str) -> tuple[Iterator[dict[str, Any]], dict[str, list[str]]]:
    """The rows of a file, and the names of labels by column."""
    for read in (_by_pyarrow, _by_polars):
        try:
            return read(path)
        except ImportError:
            continue
        except OSError:
            raise
        except Exception as error:  # each library has errors of its own
            raise ValueError(f"{path}: not readable: {error}") from None
    raise ValueError(
        f"{path}: Parquet and Arrow files are read by pyarrow or polars, "
        "and neither is installed; run pip install polars"
    )


def _by_pyarrow(path: str) -> tuple[Iterator[dict[str, Any]], dict[str, list[str]]]:
    import pyarrow
    import pyarrow.parquet

    if path.lower().endswith(".parquet"):
        with pyarrow.parquet.ParquetFile(path) as file:
            table = file.read()
            metadata = file.metadata.metadata  # the schema has only what pyarrow wrote
    else:
        with pyarrow.memory_map(path) as source:
            try:
                table = pyarrow.ipc.open_file(source).read_all()
            except pyarrow.ArrowInvalid:  # a stream, as datasets write it
                table = pyarrow.ipc.open_stream(source).read_all()
        metadata = table.schema.metadata
    rows = (row for batch in table.to_batches() for row in batch.to_pylist())
    return rows, _names((metadata or {}).get(b"huggingface", b"{}").decode())


def _by_polars(path: str) -> tuple[Iterator[dict[str, Any]], dict[str, list[str]]]:
    import polars

    if path.lower().endswith(".parquet"):
        found = "{}"
        if hasattr(polars, "read_parquet_metadata"):  # from 1.21 on
            found = polars.read_parquet_metadata(path).get("huggingface", "{}")
        return polars.read_parquet(path).iter_rows(named=True), _names(found)
    readers: tuple[Callable[[str], Any], ...] = polars.read_ipc, polars.read_ipc_stream
    frame = None
    for read in readers:
        try:
            frame = read(path)
        except polars.exceptions.ComputeError:
            continue
        break
    if frame is None:
        raise ValueError("it is neither a file nor a stream of Arrow")
    return frame.iter_rows(named=True), {}


def _names(text: str) -> dict[str, list[str]]:
    """The names of labels that ``datasets`` describe in their metadata."""
    try:
        features = json.loads(text)["info"]["features"]
    except (ValueError, KeyError, TypeError):
        return {}
    found = {}
    for column, feature in features.items():
        inner = feature.get("feature", feature) if isinstance(feature, dict) else {}
        if isinstance(inner, dict) and inner.get("_type") == "ClassLabel":
            found[f"{column}_names"] = list(inner.get("names", []))
    return found
