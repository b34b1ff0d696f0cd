"""Bytes of a foreign file, read with a check at every step.

A model of another tool is input from outside. Whatever is wrong with it ends in one kind of error,
:class:`ModelFileError`, which names the file and the place. Nothing is allocated that the size of the file
does not justify.
"""

import os

import numpy as np

from ..saving.container import ModelFileError

MOST_LABELS = 4096
"""A model has a matrix over pairs of labels, however small its file is."""


class ForeignBytes:
    """The content of a file.

    Parameters
    ----------
    data : bytes
    name : str
        What errors call it.
    size : int, optional
        Of the file that the content was unpacked from, in bytes; without, that of the content.
    """

    def __init__(self, data, name, size=None):
        self.data, self.name = data, name
        self.size = len(data) if size is None else size

    def fail(self, at, what):
        """Raise a ModelFileError about the byte ``at``."""
        raise ModelFileError(f"{self.name}: byte {at}: {what}")

    def require(self, condition, at, what):
        """Raise a ModelFileError about the byte ``at`` unless the condition holds."""
        if not condition:
            self.fail(at, what)

    def array(self, at, n, dtype, what):
        """``n`` numbers that begin at a byte; read-only, perhaps not aligned."""
        end = at + n * np.dtype(dtype).itemsize
        if end > len(self.data):
            self.fail(at, f"{what} would end at byte {end}, but the file has {len(self.data)}: it is cut off")
        return np.frombuffer(self.data, dtype, n, at)

    def u32(self, at, what):
        """One unsigned number of four bytes."""
        return int(self.array(at, 1, "<u4", what)[0])

    def tag(self, at, tag):
        """Check the four letters with which a part begins."""
        found = bytes(self.data[at : at + len(tag)])
        self.require(found == tag, at, f"expected {tag.decode()!r}, found {found!r}")


def read_source(source):
    """The :class:`ForeignBytes` of a path, or of bytes."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return ForeignBytes(bytes(source), "the model")
    path = os.fspath(source)
    with open(path, "rb") as file:
        return ForeignBytes(file.read(), repr(path))


def as_text(raw):
    """Bytes as a str; those that are no UTF-8 become lone surrogates, which :func:`as_bytes` undoes."""
    return raw.decode("utf-8", "surrogateescape")


def as_bytes(text):
    """A str as bytes, the opposite of :func:`as_text`."""
    return text.encode("utf-8", "surrogateescape")


def check_labels(labels, name):
    """Raise unless these can be the labels of a model."""
    if not labels:
        raise ModelFileError(f"{name}: the model has no labels; it was trained on nothing")
    if len(labels) > MOST_LABELS:
        raise ModelFileError(f"{name}: {len(labels)} labels; at most {MOST_LABELS} are read")
    if len(set(labels)) < len(labels):
        twice = next(label for k, label in enumerate(labels) if label in labels[:k])
        raise ModelFileError(f"{name}: the label {twice!r} occurs twice")
