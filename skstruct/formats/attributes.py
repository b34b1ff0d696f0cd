r"""Data files of CRFsuite: ready-made features.

A line is a token: its label, then its attributes, between tabs. ``name:2.5`` gives an attribute a value, 1 if
it has none; ``\:`` and ``\\`` are a colon and a backslash within a name. Blank lines end sentences.

References
----------
N. Okazaki, "CRFsuite: a fast implementation of Conditional Random Fields (CRFs)", 2007: the format.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import IO

from ..data.types import Path
from .text_files import numbered_lines

_PARTS = re.compile(r"((?:[^:\\]|\\.)*)(?::(.*))?", re.DOTALL)
_ESCAPED = re.compile(r"\\([:\\])")


def read_attributes(
    path_or_file: Path | IO[str], *, encoding: str = "utf-8"
) -> tuple[list[list[dict[str, float]]], list[list[str]]]:
    r"""Read a data file of CRFsuite.

    Parameters
    ----------
    path_or_file : str, os.PathLike or text file
    encoding : str, default="utf-8"
        Of a path; an open file has its own.

    Returns
    -------
    X : list of lists of dict
        Values by name; those of a name that a line has several times are added, as CRFsuite does.
    y : list of lists of str

    Raises
    ------
    ValueError
        If a value is not a finite number, or bytes are not in the encoding. The message names file and line.

    Examples
    --------
    >>> import io
    >>> read_attributes(io.StringIO("D\tw=the\tfirst\nN\tw=dog\tlength:0.5\n"))
    ([[{'w=the': 1.0, 'first': 1.0}, {'w=dog': 1.0, 'length': 0.5}]], [['D', 'N']])
    """
    sentences = list(iter_attributes(path_or_file, encoding=encoding))
    return [[token for _, token in s] for s in sentences], [[label for label, _ in s] for s in sentences]


def iter_attributes(
    path_or_file: Path | IO[str], *, encoding: str = "utf-8"
) -> Iterator[list[tuple[str, dict[str, float]]]]:
    """Yield the sentences of a data file as (label, attributes) of each token; see `read_attributes`."""
    sentence = []
    with numbered_lines(path_or_file, encoding) as (name, lines):
        for number, line in lines:
            if not line:
                if sentence:
                    yield sentence
                sentence = []
                continue
            label, *fields = line.split("\t")
            token = {}
            for field in filter(None, fields):
                attribute, value = _attribute(field, f"{name}, line {number}")
                token[attribute] = token.get(attribute, 0.0) + value
            sentence.append((label, token))
    if sentence:
        yield sentence


def _attribute(field, where):
    """(name, value) of a field."""
    found = _PARTS.fullmatch(field)
    name, text = found.groups() if found else (None, None)
    try:
        value = 1.0 if text is None else float(text)
    except ValueError:
        value = math.nan
    if name is None or not math.isfinite(value):
        raise ValueError(
            rf"{where}: expected name or name:value, with \: for a colon in the name, got {field!r:.60}"
        )
    return _ESCAPED.sub(r"\1", name), value
