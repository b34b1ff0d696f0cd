"""The file of a model, which may be a temporary one: the name of ``sklearn_crfsuite._fileresource``."""

import os
import tempfile
from contextlib import suppress

CONTENT = "__FILE_RESOURCE_DATA__"
"""Where a pickle has the content of a temporary file; ``sklearn-crfsuite`` has the same."""


class FileResource:
    """A file by name, or a temporary one, whose content is pickled and which goes with the object."""

    def __init__(self, filename=None, keep_tempfiles=False, suffix="", prefix=""):
        self.name, self.auto, self.keep_tempfiles = filename, filename is None, keep_tempfiles
        self.suffix, self.prefix = suffix, prefix

    def ensure_name(self):
        """Make a temporary file if there is no file."""
        if self.name is None:
            number, self.name = tempfile.mkstemp(self.suffix, self.prefix)
            os.close(number)

    def cleanup(self):
        """Remove a temporary file."""
        if not self.keep_tempfiles:
            self.discard()

    def discard(self):
        """Remove a temporary file, even if such files are to be kept."""
        if self.auto and self.name is not None:
            with suppress(OSError):
                os.unlink(self.name)
            self.name = None

    def refresh(self):
        """Be a new file, if it is a temporary one."""
        self.cleanup()
        self.ensure_name()

    def __del__(self):
        with suppress(Exception):  # the interpreter may be half gone
            self.cleanup()

    def __getstate__(self):
        state = vars(self).copy()
        if self.auto and self.name is not None:
            with suppress(OSError), open(self.name, "rb") as file:
                state[CONTENT] = file.read()
            state["name"] = None
        return state

    def __setstate__(self, state):
        content = state.pop(CONTENT, None)
        vars(self).update(state)
        if content is not None:
            self.ensure_name()
            with open(self.name, "wb") as file:
                file.write(content)
