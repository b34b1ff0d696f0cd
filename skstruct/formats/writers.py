"""Corpus files written: the inverse of `skstruct.formats.readers`.

What a reader could not read back the same is refused, with the sentence and the position of the
token that is to blame. Sentences may come from a generator, which may read the file that is to be replaced:
a path gets the new file when all is written, and after an error the old file is as it was. An open file is
written line by line: after an error it holds the lines so far.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from numbers import Integral
from typing import IO, Any

from ..data.types import Path
from .text_files import CONLLU_FIELDS, TREE_FIELDS, check_fields, open_text, split_cells


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
    expected = None
    with open_text(path_or_file, "w", encoding) as file:
        for i, sentence in enumerate(sentences):
            for t, token in enumerate(sentence):
                if not isinstance(token, tuple | list):
                    _refuse(i, t, f"expected a tuple; got {token!r}", TypeError)
                expected = len(token) if expected is None else expected
                if len(token) != expected:
                    _refuse(i, t, f"expected {expected} columns; got {len(token)}")
                for cell in token:
                    _check_cell(cell, i, t)
                line = separator.join(token)
                blank = not line.strip(" \t")
                if blank or split_cells(line, None if separator == " " else separator) != list(token):
                    why = "a cell is empty or holds the separator"
                    _refuse(i, t, f"{token!r} could not be read back from the line {line!r}: {why}")
                file.write(line + "\n")
            file.write("\n")


def write_conllu(
    sentences: Iterable[Collection[Any]],
    path_or_file: Path | IO[str],
    *,
    fields: Iterable[str] = TREE_FIELDS,
    encoding: str = "utf-8",
) -> None:
    r"""Write sentences as CoNLL-U; what `fields` does not name is written as ``_``.

    Parameters
    ----------
    sentences : iterable of sequences of tuples
        One value per field. Readers do not see empty sentences.
    path_or_file : str, os.PathLike or text file
        A path is replaced once all is written; after an error it is as it was. A file is left open.
    fields : sequence of str, default=("form", "xpos", "head", "deprel")
        Which of `CONLLU_FIELDS` the tuples hold. Words are numbered 1, 2, 3, ... in any case.
    encoding : str, default="utf-8"
        Of a path; an open file has its own.

    Raises
    ------
    ValueError
        If a tuple has another length than `fields`, an id or head is no integer in its range, or a value
        could not be read back. The message names sentence and position.
    TypeError
        If another value is no string.

    Examples
    --------
    >>> import io
    >>> file = io.StringIO()
    >>> write_conllu([[("Stop", 0)]], file, fields=["form", "head"])
    >>> file.getvalue()
    '1\tStop\t_\t_\t_\t_\t0\t_\t_\t_\n\n'
    """
    fields = check_fields(fields)
    with open_text(path_or_file, "w", encoding) as file:
        for i, sentence in enumerate(sentences):
            for t, token in enumerate(sentence):
                if not isinstance(token, tuple | list) or len(token) != len(fields):
                    values = f"{len(fields)} values ({', '.join(fields)})"
                    _refuse(i, t, f"expected a tuple of {values}; got {token!r}")
                row = dict(zip(fields, token))
                for field, low, high in (("id", t + 1, t + 1), ("head", 0, len(sentence))):
                    value = row.get(field, low)
                    if not isinstance(value, Integral) or not low <= value <= high:
                        _refuse(i, t, f"{field} must be an integer from {low} to {high}; got {value!r}")
                    if field == "id" or field in row:
                        row[field] = str(int(value))
                if row.get("head") == row["id"]:
                    _refuse(i, t, f"head {row['head']} is the word itself")
                for cell in row.values():
                    _check_cell(cell, i, t)
                    if "\t" in cell or not cell:
                        _refuse(i, t, f"{cell!r} is empty or holds a tab")
                file.write("\t".join([row.get(field, "_") for field in CONLLU_FIELDS]) + "\n")
            file.write("\n")


def write_segmented(
    sentences: Iterable[Collection[Any]],
    path_or_file: Path | IO[str],
    *,
    separator: str = " ",
    encoding: str = "utf-8",
) -> None:
    """Write segmented text: a sentence a line.

    Parameters
    ----------
    sentences : iterable of sequences of str
        The words of each sentence. An empty sentence is a blank line, which readers skip.
    path_or_file : str, os.PathLike or text file
        A path is replaced once all is written; after an error it is as it was. A file is left open.
    separator : str, default=" "
        White space.
    encoding : str, default="utf-8"
        Of a path; an open file has its own.

    Raises
    ------
    ValueError
        If a word is empty or has white space in it. The message names sentence and position.
    TypeError
        If a sentence is a string, or a word is none.

    Examples
    --------
    >>> import sys
    >>> write_segmented([["我", "喜欢", "图书馆"]], sys.stdout)
    我 喜欢 图书馆
    """
    if not isinstance(separator, str) or not separator.isspace() or "\n" in separator:
        raise ValueError(f"separator must be white space within a line; got {separator!r}")
    with open_text(path_or_file, "w", encoding) as file:
        for i, words in enumerate(sentences):
            if isinstance(words, str):
                raise TypeError(f"sentence {i}: expected a list of words; got the string {words!r}")
            for t, word in enumerate(words):
                _check_cell(word, i, t)
                if word.split() != [word]:
                    _refuse(i, t, f"{word!r} is empty or has white space in it")
            file.write(separator.join(words) + "\n")


def _refuse(i, t, wrong, error=ValueError):
    raise error(f"sentence {i}, position {t}: {wrong}")


def _check_cell(cell, i, t):
    if not isinstance(cell, str):
        _refuse(i, t, f"expected a string; got {cell!r}", TypeError)
    if "\n" in cell or "\r" in cell:
        _refuse(i, t, f"{cell!r} holds a line end")
    if i == t == 0 and cell.startswith("\ufeff"):
        _refuse(i, t, f"{cell!r} begins with a byte order mark, which readers drop")
