r"""Corpus files: CoNLL columns, CoNLL-U trees, segmented text, and data of CRFsuite.

Each format has one generator, ``iter_*``, that holds one sentence at a time, so that
files larger than memory stream; ``read_*``, which all but CRFsuite's have, is the list
of what it yields. Every error names the file and, where there is one, the line.

What is read here is what estimators take: columns give sequences of tuples, trees give
sequences of ``(form, tag)`` and of ``(head, label)``, segmented text gives lists of
words.

A file is a path or an open text file (``gzip.open(path, "rt", encoding="utf-8")``,
``sys.stdin``). A byte order mark at the start and carriage returns at line ends are
dropped. Lines end at line feeds only.

Data files of CRFsuite hold ready-made features. A line is a token: its label, then its
attributes, between tabs. ``name:2.5`` gives an attribute a value, 1 if it has none;
``\:`` and ``\\`` are a colon and a backslash within a name. Blank lines end sentences.

References
----------
S. Buchholz and E. Marsi, "CoNLL-X shared task on multilingual dependency parsing",
CoNLL 2006.

CoNLL-U format, https://universaldependencies.org/format.html.

N. Okazaki, "CRFsuite: a fast implementation of Conditional Random Fields (CRFs)", 2007:
the format.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from numbers import Integral
from typing import IO, Any

from ..._data.types import Path
from .text_files import (
    CONLLU_FIELDS,
    TREE_FIELDS,
    SharedStrings,
    check_fields,
    numbered_lines,
    split_cells,
)

_SKIPPED_ID = re.compile(r"[0-9]+[-.][0-9]+")  # a multiword range or an empty node


def _sentences(lines: Any, blank: Any = None) -> Any:
    """The numbered lines of each sentence: those between lines of nothing but the
    characters of `blank`.
    """
    for is_filled, rows in groupby(lines, lambda row: bool(row[1].strip(blank))):
        if is_filled:
            yield rows


def read_columns(
    path_or_file: Path | IO[str],
    *,
    separator: str | None = None,
    columns: Iterable[int] | None = None,
    comment: str | None = None,
    encoding: str = "utf-8",
    return_X_y: bool = False,
) -> Any:
    r"""Read a file of columns: a token a line, a blank line between sentences.

    Parameters
    ----------
    path_or_file : str, os.PathLike or text file
    separator : str, optional
        What separates columns. None means any run of spaces and tabs, and only these,
        so that an ideographic or no-break space can be a token. Blank lines may hold
        spaces and tabs.
    columns : sequence of int, optional
        Which columns to return, in this order; negative numbers count from the last.
    comment : str, optional
        Lines that start with it are skipped (``"# "``, ``"-DOCSTART-"``).
    encoding : str, default="utf-8"
        Of a path; an open file has its own.
    return_X_y : bool, default=False
        Whether to part tokens and labels: what estimators are fitted with.

    Returns
    -------
    list of lists of tuples of str
        One list per sentence, one tuple per token. With ``return_X_y=True`` a tuple
        ``(X, y)``: the last of the columns is the label, the others are the token, a
        str if there is one and else a tuple.

    Raises
    ------
    ValueError
        If a line has another number of columns than the first, too few for `columns` or
        for labels, or bytes that are not in the encoding. The message names file and
        line.

    Warns
    -----
    UserWarning
        If the text looks as if it was encoded twice (``Ã±`` for ``ñ``); so do all
        readers.

    Examples
    --------
    >>> import io
    >>> file = io.StringIO("He PRP B-NP\nreckons VBZ B-VP\n\nYes UH O\n")
    >>> read_columns(file, columns=[0, -1])
    [[('He', 'B-NP'), ('reckons', 'B-VP')], [('Yes', 'O')]]
    >>> file = io.StringIO("He PRP B-NP\nreckons VBZ B-VP\n\nYes UH O\n")
    >>> X, y = read_columns(file, return_X_y=True)
    >>> X, y
    ([[('He', 'PRP'), ('reckons', 'VBZ')], [('Yes', 'UH')]], [['B-NP', 'B-VP'], ['O']])
    """
    options = separator, columns, comment, encoding
    sentences = list(_columns(path_or_file, *options, SharedStrings()))
    if not return_X_y:
        return sentences
    if sentences and len(sentences[0][0]) < 2:
        name = getattr(path_or_file, "name", path_or_file)
        raise ValueError(f"{name}: expected columns of a token and a label; found 1")
    return tokens_and_labels(sentences)


def tokens_and_labels(sentences: Any) -> Any:
    """(X, y) of sentences of columns: the last is the label; one other makes a str,
    several make a tuple.
    """
    places = slice(-1) if sentences and len(sentences[0][0]) > 2 else 0
    X = [[row[places] for row in rows] for rows in sentences]
    return X, [[row[-1] for row in rows] for rows in sentences]


def iter_columns(
    path_or_file: Any,
    *,
    separator: str | None = None,
    columns: Any = None,
    comment: str | None = None,
    encoding: str = "utf-8",
) -> Iterator[Any]:
    """Yield the sentences of a file of columns one by one; see `read_columns`."""
    strings = SharedStrings(SharedStrings.MOST)
    return _columns(path_or_file, separator, columns, comment, encoding, strings)


def _columns(
    path_or_file: Any,
    separator: str | None,
    columns: Any,
    comment: str | None,
    encoding: str,
    strings: SharedStrings,
) -> Any:
    """The sentences, of shared `strings`; options are checked at once."""
    for name, value in ("separator", separator), ("comment", comment):
        if value is not None and (not isinstance(value, str) or not value):
            raise ValueError(
                f"{name} must be None or a string that is not empty; got {value!r}"
            )
    if columns is not None:
        given = columns
        columns = list(columns) if isinstance(columns, Iterable) else []
        if not columns or not all(isinstance(c, Integral) for c in columns):
            raise ValueError(
                f"columns must be None or a sequence of integers; got {given!r}"
            )
    layout = separator, columns, comment
    return _sentences_of_columns(path_or_file, *layout, encoding, strings)


def _sentences_of_columns(
    path_or_file: Any,
    separator: str | None,
    columns: Any,
    comment: str | None,
    encoding: str,
    strings: SharedStrings,
) -> Any:
    share = strings.share
    expected = first = start = (
        None  # number of columns, and number and text of the line that set it
    )
    with numbered_lines(path_or_file, encoding) as (name, lines):
        for rows in _sentences(lines, " \t"):
            sentence: list[Any] = []
            for number, line in rows:
                if comment is not None and line.startswith(comment):
                    continue
                cells = split_cells(line, separator)
                if len(cells) != expected:
                    if expected is not None:
                        text = (
                            f"expected {expected} columns, as on line {first}; found "
                            f"{len(cells)}"
                        )
                        hint = _hint((start, line), separator, comment)
                        raise ValueError(f"{name}, line {number}: {text}{hint}")
                    expected = len(cells)
                    first = number
                    start = line
                    for c in columns or ():
                        if not -expected <= c < expected:
                            text = f"expected a column {c}; found {expected} columns"
                            raise ValueError(f"{name}, line {number}: {text}")
                if columns is not None:
                    cells = [cells[c] for c in columns]
                sentence.append(tuple(map(share, cells, cells)))
            strings.end_sentence()
            if sentence:
                yield sentence


def _hint(lines: Any, separator: str | None, comment: str | None) -> Any:
    """The end of an error about two lines of different width: which option would read
    them.
    """
    marked = next(
        (line for line in lines if comment is None and line.startswith("#")), None
    )
    if marked is not None:
        prefix = "# " if marked.startswith("# ") else "#"
        return (
            f"; comment={prefix!r} (--comment '{prefix}') leaves out lines such as "
            f"{marked[:40]!r}"
        )
    if (
        separator is None
        and len({line.count("\t") for line in lines}) == 1
        and "\t" in lines[0]
    ):
        return (
            "; separator='\\t' (--separator tab) splits at tabs only, and keeps spaces "
            "in columns"
        )
    return ""


def read_conllu(
    path_or_file: Path | IO[str],
    *,
    fields: Iterable[str] = TREE_FIELDS,
    encoding: str = "utf-8",
) -> list[list[tuple[Any, ...]]]:
    r"""Read a CoNLL-U file, or a CoNLL-X file of ten columns.

    Comments, multiword ranges (``3-4``) and empty nodes (``8.1``) are skipped.

    Parameters
    ----------
    path_or_file : str, os.PathLike or text file
    fields : sequence of str, default=("form", "xpos", "head", "deprel")
        Which of `CONLLU_FIELDS` to return, in this order; ``id`` and ``head`` are
        integers.
    encoding : str, default="utf-8"
        Of a path; an open file has its own.

    Returns
    -------
    list of lists of tuples
        One list per sentence, one tuple per word.

    Raises
    ------
    ValueError
        If a line has not ten columns, or ids do not run 1, 2, 3, ...; where heads are
        asked for, also if a head is no integer, is the word itself, or lies beyond the
        sentence. The message names file and line.

    Examples
    --------
    >>> import io
    >>> text = "1\tIt\t_\t_\tPRP\t_\t2\tnsubj\t_\t_\n"
    >>> text += "2\tworks\t_\t_\tVBZ\t_\t0\troot\t_\t_\n"
    >>> read_conllu(io.StringIO(text))
    [[('It', 'PRP', 2, 'nsubj'), ('works', 'VBZ', 0, 'root')]]
    >>> read_conllu(io.StringIO(text), fields=["form", "xpos"])
    [[('It', 'PRP'), ('works', 'VBZ')]]
    """
    return list(_conllu(path_or_file, check_fields(fields), encoding, SharedStrings()))


def iter_conllu(
    path_or_file: Any, *, fields: Any = TREE_FIELDS, encoding: str = "utf-8"
) -> Iterator[Any]:
    """Yield the sentences of a CoNLL-U file one by one; see `read_conllu`."""
    strings = SharedStrings(SharedStrings.MOST)
    return _conllu(path_or_file, check_fields(fields), encoding, strings)


def _conllu(
    path_or_file: Any, fields: Any, encoding: str, strings: SharedStrings
) -> Any:
    share = strings.share
    where = [CONLLU_FIELDS.index(field) for field in fields]
    with numbered_lines(path_or_file, encoding) as (name, lines):
        for rows in _sentences(lines):
            sentence: list[tuple[str | int, ...]] = []
            heads: list[tuple[int, int]] = []
            for number, line in rows:
                cells = line.split("\t")
                token = cells[0]
                expected = len(sentence) + 1
                if line[0] == "#":
                    continue
                if len(cells) != 10:
                    text = f"expected 10 columns separated by tabs; found {len(cells)}"
                    raise ValueError(f"{name}, line {number}: {text}")
                if _SKIPPED_ID.fullmatch(token):
                    continue
                if token != str(expected):
                    raise ValueError(
                        f"{name}, line {number}: expected the id {expected}; found "
                        f"{token!r}"
                    )
                cells[0] = expected
                if "head" in fields:
                    cells[6] = as_head(cells[6], name, number)
                    heads.append((number, cells[6]))
                values = [cells[c] for c in where]
                values = [share(v, v) if isinstance(v, str) else v for v in values]
                sentence.append(tuple(values))
            strings.end_sentence()
            if sentence:
                check_heads(name, heads, len(sentence))
                yield sentence


def as_head(text: str, name: str, number: int) -> int:
    """The head in a cell, as an int."""
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise ValueError(
            f"{name}, line {number}: expected a head, 0 or the id of a word; found "
            f"{text!r:.80}"
        )
    return int(text)


def check_heads(name: str, heads: Any, n: int) -> None:
    """Check the (line, head) pairs of a sentence of `n` words."""
    for position, (number, head) in enumerate(heads, start=1):
        if head > n or head == position:
            found = "the word itself" if head == position else head
            raise ValueError(
                f"{name}, line {number}: expected a head between 0 and {n}; found "
                f"{found}"
            )


def read_segmented(
    path_or_file: Path | IO[str], *, encoding: str = "utf-8"
) -> list[list[str]]:
    r"""Read segmented text: a sentence a line, words separated by white space.

    Parameters
    ----------
    path_or_file : str, os.PathLike or text file
    encoding : str, default="utf-8"
        Of a path; an open file has its own.

    Returns
    -------
    list of lists of str
        The words of each sentence. Any white space separates, the ideographic space
        too; blank lines are skipped.

    Raises
    ------
    ValueError
        If the file has bytes that are not in the encoding.

    Examples
    --------
    >>> import io
    >>> read_segmented(io.StringIO("我  喜欢　图书馆\n\n好 。\n"))
    [['我', '喜欢', '图书馆'], ['好', '。']]
    """
    return list(_segmented(path_or_file, encoding, SharedStrings()))


def iter_segmented(path_or_file: Any, *, encoding: str = "utf-8") -> Iterator[Any]:
    """Yield the sentences of a segmented text one by one; see `read_segmented`."""
    return _segmented(path_or_file, encoding, SharedStrings(SharedStrings.MOST))


def _segmented(path_or_file: Any, encoding: str, strings: SharedStrings) -> Any:
    share = strings.share
    with numbered_lines(path_or_file, encoding) as (_, lines):
        for _, line in lines:
            words = line.split()
            if words:
                words = list(map(share, words, words))
                strings.end_sentence()
                yield words


_PARTS = re.compile(r"((?:[^:\\]|\\.)*)(?::(.*))?", re.DOTALL)
_ESCAPED = re.compile(r"\\([:\\])")


def iter_attributes(path_or_file: Any, *, encoding: str = "utf-8") -> Iterator[Any]:
    r"""Yield the sentences of a data file of CRFsuite.

    Parameters
    ----------
    path_or_file : str, os.PathLike or text file
    encoding : str, default="utf-8"
        Of a path; an open file has its own.

    Yields
    ------
    list of (label, dict)
        The tokens; values by name, those of a name that a line has several times added,
        as CRFsuite does.

    Raises
    ------
    ValueError
        If a value is not a finite number, or bytes are not in the encoding. The message
        names file and line.

    Examples
    --------
    >>> import io
    >>> list(iter_attributes(io.StringIO("D\tw=the\tfirst\nN\tw=dog\tlength:0.5\n")))
    [[('D', {'w=the': 1.0, 'first': 1.0}), ('N', {'w=dog': 1.0, 'length': 0.5})]]
    """
    with numbered_lines(path_or_file, encoding) as (name, lines):
        for rows in _sentences(lines, ""):
            sentence = []
            for number, line in rows:
                label, *fields = line.split("\t")
                token: dict[str, float] = {}
                for field in filter(None, fields):
                    attribute, value = _attribute(field, f"{name}, line {number}")
                    token[attribute] = token.get(attribute, 0.0) + value
                sentence.append((label, token))
            yield sentence


def _attribute(field: Any, where: str) -> Any:
    """(name, value) of a field."""
    found = _PARTS.fullmatch(field)
    name, text = found.groups() if found else (None, None)
    try:
        value = 1.0 if text is None else float(text)
    except ValueError:
        value = math.nan
    if name is None or not math.isfinite(value):
        expected = r"name or name:value, with \: for a colon in the name"
        raise ValueError(f"{where}: expected {expected}, got {field!r:.60}")
    return _ESCAPED.sub(r"\1", name), value
