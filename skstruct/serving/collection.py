"""The annotations that a service collects, of each task the last, as JSON lines.

A new annotation is appended. The line that it takes the place of is then overwritten
with spaces, which every reader of JSON lines skips. So an annotation costs its own
bytes, not those of the file, and the file is at any time what
`skstruct.datasets.read_spans` should read. The next start leaves the blank lines out.

The new line reaches the disk before the old one goes. What a crash can leave is a last
line that is cut short, an old line that is still there or is partly blank, and each is
recognised by `Lines`.
"""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import threading
from collections import defaultdict
from collections.abc import Collection as Some
from pathlib import Path
from typing import Any

from .._saving.atomic import atomic_write
from ..datasets.formats.span_files import read_spans
from ..datasets.formats.span_writing import write_spans
from .log import LOG, without_texts

KEYS = "id", "annotation"
"""Keys of a record by which it can be forgotten: of the task, and of the annotation."""

DOCUMENT = "doc_id"
"""The key of a record that names the document of its text."""


class Lines:
    """The lines of a file of collected annotations, without what a crash has left.

    Attributes
    ----------
    lines : list of bytes
        With their line feeds. What does not count is a blank line, so that the others
        keep their numbers.
    records : list of dict or None
        What the lines hold; None of a blank one.
    is_clean : bool
        Whether the file itself has exactly these lines.

    Raises
    ------
    ValueError
        If there is something else in the file.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = str(path)
        data = Path(path).read_bytes()
        self.lines = [line + b"\n" for line in data.split(b"\n")[:-1]]
        self.records: list[dict[str, Any] | None] = []
        rest = data[data.rfind(b"\n") + 1 :]
        self.is_clean = not rest
        if rest:
            self.lines.append(rest + b"\n")
        for k, line in enumerate(self.lines):
            record = self._record(k, line, bool(rest) and k == len(self.lines) - 1)
            self.records.append(record)
            if record is None:
                self._blank(k)
        self._drop_replaced()

    def _record(self, k: int, line: bytes, is_cut: bool) -> dict[str, Any] | None:
        """Read a line; None if it is blank, or what a crash has left."""
        if not line.strip():
            return None
        with contextlib.suppress(ValueError, RecursionError):
            record = json.loads(line)
            if isinstance(record, dict):
                return record
        found = line.decode("utf-8", "replace").rstrip("\n")
        where = f"{self.path}, line {k + 1}"
        is_blanked = line.startswith(b" ")  # in part: a newer line has taken its place
        if is_blanked or (is_cut and line.startswith(b"{")):
            problem = "partly blank" if is_blanked else "cut short"
            LOG.warning(
                "%s: %s, and left out: %.60r",
                where,
                problem,
                found.lstrip(),
                extra=without_texts(f"{where}: {problem}, and left out"),
            )
            return None
        raise ValueError(f"{where}: expected JSON lines of objects, got {found!r:.60}")

    def _blank(self, k: int) -> None:
        self.lines[k] = b"\n"
        self.records[k] = None
        self.is_clean = False

    def _drop_replaced(self) -> None:
        """Blank the lines whose place the last one has taken."""
        last = len(self.records) - 1
        newest = self.records[last] if self.records else None
        if newest is None or not is_collected(newest):
            return
        for k, record in enumerate(self.records[:last]):
            if (
                record is not None
                and is_collected(record)
                and str(record.get("id")) == str(newest.get("id"))
            ):
                self._blank(k)

    def text(self) -> io.StringIO:
        """Open the lines as a text file."""
        file = io.StringIO(b"".join(self.lines).decode("utf-8"))
        file.name = self.path  # errors say it
        return file


def is_collected(record: dict[str, Any]) -> bool:
    """Tell whether a record came by an annotation; others were there before, and
    stay.
    """
    return "annotation" in record


class Collection:
    """The annotations in a file, which `open` makes if need be.

    Threads may share it.

    Raises
    ------
    ValueError, OSError
        If there is something else in the file, or it cannot be read, or its folder is
        missing.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        # of the file as it was left; None: not opened yet
        self._state: tuple[int, ...] | None = None
        self._end = 0  # of the file, in bytes
        # bytes and ids of a line, by its offset
        self._lines: dict[int, tuple[int, tuple[str, ...]]] = {}
        # of lines, by key and id
        self._offsets: dict[str, defaultdict[str, set[int]]] = {}
        if self.path.exists():
            if not self.path.is_file():
                raise ValueError(f"{path}: annotations are collected in a regular file")
            Lines(path)
        elif not self.path.resolve().parent.is_dir():
            raise FileNotFoundError(
                errno.ENOENT, "the folder does not exist", str(path)
            )

    def open(self) -> None:
        """Make the file, or leave out of it what does not count."""
        with self._lock:
            self._compact()

    def keep(
        self,
        task: Any,
        text: str,
        annotation: dict[str, Any],
        labels: str,
        document: str | None = None,
    ) -> None:
        """Keep an annotation of Label Studio.

        Parameters
        ----------
        task : object
            The id of the task.
        text : str
        annotation : dict
        labels : str
            The name of the tag whose regions count.
        document : str, optional
            The document that the text is a part of.

        Raises
        ------
        ValueError
            If it is none that can be read.
        """
        regions = annotation.get("result")
        if isinstance(regions, list):
            own = [
                each
                for each in regions
                if isinstance(each, dict) and each.get("from_name") == labels
            ]
            annotation = {**annotation, "result": own}
        record = {"id": task, "data": {"text": text}, "annotations": [annotation]}
        X, y = read_spans(
            [record], "label-studio", offsets="utf-16"
        )  # none of a task that was skipped
        about = {"id": task, "annotation": annotation.get("id")}
        if document is not None:
            about[DOCUMENT] = document
        file = io.StringIO()
        write_spans(file, X, y, metadata=[about] * len(X))
        self.replace("id", {str(task)}, file.getvalue())

    def replace(self, key: str, gone: Some[str], added: str = "") -> None:
        """Add a line, and forget annotations by their ids under a key of `KEYS`."""
        data = added.encode()
        with self._lock:
            if self._state is None or self._state != self._found_state():
                self._compact()  # somebody else has written to it
            old = {
                offset for each in gone for offset in self._offsets[key].get(each, ())
            }
            with open(self.path, "r+b", buffering=0) as file:
                if data:
                    self._append(file, data)
                for offset in old:
                    file.seek(offset)
                    _write_all(file, b" " * (self._lines[offset][0] - 1))
                os.fsync(file.fileno())
            self._forget(old)
            if data:
                self._note(json.loads(data), len(data))
            self._state = self._found_state()

    def _append(self, file: Any, data: bytes) -> None:
        """Append a line, wholly or not at all."""
        file.seek(self._end)
        try:
            _write_all(file, data)
            os.fsync(file.fileno())
        except OSError:  # a full disk
            file.truncate(self._end)
            raise

    def _compact(self) -> None:
        """Leave out what does not count, and remember where the lines stand."""
        lines = Lines(self.path) if self.path.exists() else None
        if lines is None or not lines.is_clean:
            kept = (
                [] if lines is None else [line for line in lines.lines if line.strip()]
            )
            with atomic_write(self.path) as file:
                file.writelines(kept)
            lines = Lines(self.path)
        with open(self.path, "r+b"):
            pass  # it can be written to
        self._lines = {}
        self._offsets = {key: defaultdict(set) for key in KEYS}
        self._end = 0
        for line, record in zip(lines.lines, lines.records):
            self._note(record, len(line))
        self._state = self._found_state()

    def _note(self, record: dict[str, Any] | None, size: int) -> None:
        """Remember where a line stands, which is the last."""
        if record is not None and is_collected(record):
            ids = tuple(str(record.get(key)) for key in KEYS)
            self._lines[self._end] = size, ids
            for key, each in zip(KEYS, ids):
                self._offsets[key][each].add(self._end)
        self._end += size

    def _forget(self, offsets: Some[int]) -> None:
        """Remember no longer the lines that begin at some offsets."""
        for offset in offsets:
            _, ids = self._lines.pop(offset)
            for key, each in zip(KEYS, ids):
                self._offsets[key][each].discard(offset)

    def _found_state(self) -> tuple[int, ...] | None:
        """Return what tells a file that nobody else has written to since."""
        try:
            found = os.stat(self.path)
        except FileNotFoundError:
            return None
        return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _write_all(file: Any, data: bytes) -> None:
    """Write all bytes to a file without a buffer, which may take less at a time."""
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]
