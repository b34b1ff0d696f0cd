"""The file of a model, which may be a temporary one: the name of
``sklearn_crfsuite._fileresource``.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..._data.types import Path


CONTENT = "__FILE_RESOURCE_DATA__"
"""The key of the content of a temporary file in a pickle, as in ``sklearn-crfsuite``.
"""


class FileResource:
    """A file by name, or a temporary one, whose content is pickled and which goes with
    the object.
    """

    def __init__(
        self,
        filename: Path | None = None,
        keep_tempfiles: bool = False,
        suffix: str = "",
        prefix: str = "",
    ) -> None:
        self.name = filename
        self.auto = filename is None
        self.keep_tempfiles = keep_tempfiles
        self.suffix = suffix
        self.prefix = prefix

    def ensure_name(self) -> Path:
        """Make a temporary file if there is no file; return the name."""
        if self.name is None:
            number, self.name = tempfile.mkstemp(self.suffix, self.prefix)
            os.close(number)
        return self.name

    def cleanup(self) -> None:
        """Remove a temporary file."""
        if not self.keep_tempfiles:
            self.discard()

    def discard(self) -> None:
        """Remove a temporary file, even if such files are to be kept."""
        if self.auto and self.name is not None:
            with suppress(OSError):
                os.unlink(self.name)
            self.name = None

    def refresh(self) -> None:
        """Be a new file, if it is a temporary one."""
        self.cleanup()
        self.ensure_name()

    def __del__(self) -> None:
        with suppress(Exception):  # the interpreter may be half gone
            self.cleanup()

    def __getstate__(self) -> dict[str, Any]:
        state = vars(self).copy()
        if self.auto and self.name is not None:
            with suppress(OSError), open(self.name, "rb") as file:
                state[CONTENT] = file.read()
            state["name"] = None
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        content = state.pop(CONTENT, None)
        vars(self).update(state)
        if content is not None:
            with open(self.ensure_name(), "wb") as file:
                file.write(content)
