"""Columns written: the inverse of `skstruct.formats.readers.read_columns`.

What it could not read back the same is refused, with the sentence and the position of the
token that is to blame. Sentences may come from a generator, which may read the file that is to be replaced:
a path gets the new file when all is written, and after an error the old file is as it was. An open file is
written line by line: after an error it holds the lines so far.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import IO, Any

from ..data.types import Path
from .text_files import open_text, split_cells


def write_columns(
    sentences: Iterable[Collection[Any]],
    path_or_file: Path | IO[str],
    *,
    separator: str = " ",
    encoding: str = "utf-8",
) -> None:
    r"""Write sentences as columns: a token a line, a blank line after each sentence.

    Parameters
    ----------
    sentences : iterable of sequences of tuples of str
        All tuples of one length. Readers do not see empty sentences.
    path_or_file : str, os.PathLike or text file
        A path is replaced once all is written; after an error it is as it was. A file is left open.
    separator : str, default=" "
    encoding : str, default="utf-8"
        Of a path; an open file has its own.

    Raises
    ------
    ValueError
        If a cell could not be read back (it is empty, or holds a line end or the separator), or a tuple
        has another length. The message names sentence and position.
    TypeError
        If a token is no tuple or list, or a cell no string.

    Examples
    --------
    >>> import sys
    >>> write_columns([[("He", "PRP"), ("reckons", "VBZ")]], sys.stdout, separator="_")
    He_PRP
    reckons_VBZ
    <BLANKLINE>
    """
    if not isinstance(separator, str) or not separator or "\n" in separator or "\r" in separator:
        raise ValueError(f"separator must be a string without line ends and not empty; got {separator!r}")
    first = None
    with open_text(path_or_file, "w", encoding) as file:
        for i, sentence in enumerate(sentences):
            for t, token in enumerate(sentence):
                first = token if first is None else first
                try:
                    line = _line(token, first, separator)
                except (TypeError, ValueError) as error:
                    raise type(error)(f"sentence {i}, position {t}: {error}") from None
                file.write(line)
            file.write("\n")


def _line(token, first, separator):
    """A token as a line that reads back the same; `first` is the first token of the file."""
    if not isinstance(token, tuple | list):
        raise TypeError(f"expected a tuple; got {token!r}")
    if len(token) != len(first):
        raise ValueError(f"expected {len(first)} columns; got {len(token)}")
    for cell in token:
        if not isinstance(cell, str):
            raise TypeError(f"expected a string; got {cell!r}")
        if "\n" in cell or "\r" in cell:
            raise ValueError(f"{cell!r} holds a line end")
    line = separator.join(token)
    if token is first and line.startswith("\ufeff"):
        raise ValueError(f"{line!r} begins with a byte order mark, which readers drop")
    if not line.strip(" \t") or split_cells(line, None if separator == " " else separator) != list(token):
        why = "a cell is empty or holds the separator"
        raise ValueError(f"{token!r} could not be read back from the line {line!r}: {why}")
    return line + "\n"
