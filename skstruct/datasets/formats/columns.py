r"""Columns: one token per line, its label as a rule in the last column, a blank line
between sentences.

A line whose first cell is ``-DOCSTART-`` begins a document. It is no token.

References
----------
E. F. Tjong Kim Sang and F. De Meulder, "Introduction to the CoNLL-2003 shared task",
CoNLL 2003: the format, and the lines between documents.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from numbers import Integral
from typing import IO, Any

from ..._core.user_warnings import warn
from ..._data.places import counted
from ..._data.source_layout import SourceLayout
from ..._data.spellings import style_of
from ..._data.types import Path
from .column_lines import DOCUMENT_KEYS, END, are_names, comments_in
from .contents import Contents, Tally
from .crfsuite import is_attribute
from .entry import NO, Kept, Look, Row, Rows, TokenFormat, fits, marked, near, no
from .head import Head, part_of_first
from .parallel import parallel
from .text_files import (
    SharedStrings,
    filled_lines,
    numbered_lines,
    spaceless_share,
    split_cells,
)

DOCUMENT = "-DOCSTART-"
"""The first cell of a line that begins a document."""


def read_columns(
    path_or_file: Path | IO[str],
    *,
    separator: str | None = None,
    columns: Iterable[int] | None = None,
    comment: str | None = None,
    encoding: str = "utf-8",
    return_X_y: bool = False,
    return_documents: bool = False,
) -> Any:
    r"""Read a file of columns: one token per line, a blank line between sentences.

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
        Lines that start with it are skipped (``"# "``). Lines whose first cell is
        ``-DOCSTART-`` always are, and so is a first line of names of columns. A line
        ``EOS`` ends a sentence where other lines have several columns.
    encoding : str, default="utf-8"
        Of a path; an open file has its own.
    return_X_y : bool, default=False
        Whether to part tokens and labels: what estimators are fitted with.
    return_documents : bool, default=False
        Whether to return the document of each sentence, too: ``groups`` of splitters,
        so that no document stands on both sides of a split.

    Returns
    -------
    list of lists of tuples of str
        One list per sentence, one tuple per token. With ``return_X_y=True`` a tuple
        ``(X, y)``: the last of the columns is the label, the others are the token, a
        str if there is one and else a tuple. With ``return_documents=True`` there is
        one element more, a list of one int a sentence: documents are counted from 0
        where lines ``-DOCSTART-`` begin them; a file without any is one document.

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
    found = list(_columns(path_or_file, *options, SharedStrings(), Contents()))
    sentences = [rows.cells for rows in found]
    documents = [int(rows.document or 0) for rows in found]
    if not return_X_y:
        return (sentences, documents) if return_documents else sentences
    if sentences and len(sentences[0][0]) < 2:
        name = getattr(path_or_file, "name", path_or_file)
        raise ValueError(f"{name}: expected columns of a token and a label; found 1")
    X, y = tokens_and_labels(sentences)
    return (X, y, documents) if return_documents else (X, y)


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
    how = separator, columns, comment, encoding
    found = _columns(path_or_file, *how, strings, Contents())
    return (rows.cells for rows in found)


def _columns(
    path_or_file: Any,
    separator: str | None,
    columns: Any,
    comment: str | None,
    encoding: str,
    strings: SharedStrings,
    contents: Contents,
) -> Any:
    """The sentences, of shared `strings`; options are checked at once."""
    if separator is not None and (not isinstance(separator, str) or not separator):
        raise ValueError(
            f"separator must be None or a string that is not empty; got {separator!r}"
        )
    if comment is not None and not isinstance(comment, str):
        raise ValueError(f"comment must be None or a string; got {comment!r}")
    if columns is not None:
        given = columns
        columns = list(columns) if isinstance(columns, Iterable) else []
        if not columns or not all(isinstance(c, Integral) for c in columns):
            raise ValueError(
                f"columns must be None or a sequence of integers; got {given!r}"
            )
    how = separator, columns, comment or None
    return _sentences_of_columns(path_or_file, *how, encoding, strings, contents)


def _sentences_of_columns(
    path_or_file: Any,
    separator: str | None,
    columns: Any,
    comment: str | None,
    encoding: str,
    strings: SharedStrings,
    contents: Contents,
) -> Iterator[Rows]:
    tally = contents.lines
    share = strings.share
    expected = first = start = (
        None  # number of columns, and number and text of the line that set it
    )
    documents = _Documents()
    with numbered_lines(path_or_file, encoding, tally=tally) as (name, lines):
        for rows in filled_lines(lines, tally, " \t"):
            sentence: list[Any] = []
            numbers: list[int] = []
            for number, line in rows:
                if (
                    line.startswith(DOCUMENT)
                    and documents.begin(line, separator)
                    or comment is not None
                    and line.startswith(comment)
                    and line != END
                ):
                    documents.note(line)
                    tally.structure += 1
                    continue
                cells = split_cells(line, separator)
                if len(cells) != expected:
                    if cells == [END] and (expected or 0) > 1:
                        tally.structure += 1
                        tally.data += len(numbers)
                        if sentence:
                            yield Rows(sentence, numbers, documents.next_sentence())
                        sentence = []
                        numbers = []
                        continue
                    if expected is None and number == 1 and are_names(cells):
                        _leave_header(name, line, tally)
                        continue
                    if expected is not None:
                        raise ValueError(
                            f"{name}, line {number}: expected {expected} columns, as "
                            f"on line {first}; found {len(cells)}"
                            + _hint((start, line), separator, comment)
                        )
                    expected = len(cells)
                    first = number
                    start = line
                    _check_width(expected, columns, f"{name}, line {number}")
                if columns is not None:
                    cells = [cells[c] for c in columns]
                sentence.append(tuple(map(share, cells, cells)))
                numbers.append(number)
            strings.end_sentence()
            tally.data += len(numbers)
            if sentence:
                yield Rows(sentence, numbers, documents.next_sentence())


def _check_width(width: int, columns: Any, place: str) -> None:
    """Raise a ValueError unless lines have all columns that are asked for."""
    for c in columns or ():
        if not -width <= c < width:
            raise ValueError(f"{place}: expected a column {c}; found {width} columns")


def _leave_header(name: str, line: str, tally: Tally) -> None:
    """Say that the first line of a file is none of tokens, and count it."""
    tally.leave("names of columns", f"{name}, line 1")
    warn(f"{name}, line 1: the line is left out, since it names columns: {line[:60]!r}")


_NAMES_DOCUMENT = re.compile(
    rf"#+\s*(?:(newdoc|begin document)\b|({'|'.join(DOCUMENT_KEYS)})\s*[=:])", re.I
)
"""A comment that names the document of what follows, as other formats have them."""


class _Documents:
    """Numbers the documents that have sentences.

    Sentences are of one document if no line without a name begins another one between
    them, and all comments that name documents name the same.
    """

    def __init__(self) -> None:
        self._n_begun = 0
        self._names: dict[str, str] = {}  # by what comments call a document
        self._numbers: dict[Any, int] = {}

    def begin(self, line: str, separator: str | None) -> bool:
        """Begin a document if the line is that of one; tell whether it is."""
        if split_cells(line, separator)[0] != DOCUMENT:
            return False
        self._n_begun += 1
        return True

    def note(self, comment: str) -> None:
        """Begin the document that a comment names, if it is one of these."""
        found = _NAMES_DOCUMENT.match(comment)
        if found is None:
            return
        name = comment[found.end() :].strip()
        mark, key = found.groups()
        if name:
            self._names[(mark or key).lower()] = name
        elif mark:
            self._n_begun += 1

    def next_sentence(self) -> str | None:
        """The document of the next sentence; None before the first that is begun."""
        document = self._n_begun, *sorted(self._names.items())
        number = self._numbers.setdefault(document, len(self._numbers))
        return str(number) if any(document) else None


def _hint(lines: Any, separator: str | None, comment: str | None) -> Any:
    """The end of an error about two lines of different width: which option would read
    them.
    """
    if lines[-1].startswith("\ufeff"):
        return (
            ", in a line that begins with a byte order mark, as happens when "
            "files are joined; delete the mark"
        )
    marked = next(
        (line for line in lines if comment is None and line.startswith("#")), None
    )
    if marked is not None:
        prefix = "# " if marked.startswith("# ") else "#"
        return (
            f"; to leave out lines such as {marked[:40]!r}, pass "
            f"comment={prefix!r} (--comment '{prefix}')"
        )
    if (
        separator is None
        and len({line.count("\t") for line in lines}) == 1
        and "\t" in lines[0]
    ):
        return (
            "; to split at tabs only and keep spaces in columns, pass "
            "separator='\\t' (--separator tab)"
        )
    if separator is None and any(map(is_prose, lines)):
        return f"; this looks like text: {A_TOKEN_A_LINE}"
    return ""


A_TOKEN_A_LINE = "write one token per line, and a blank line after each sentence"
"""Advice about text where columns are expected."""


def is_prose(line: str) -> bool:
    """Tell whether a line ends as sentences do: with a word and a full stop, which may
    stand apart.
    """
    cells = line.split()
    if len(cells) < 3 or cells[-1][-1] not in ".!?":
        return False
    return len(cells[-1]) > 1 or (len(cells) > 3 and cells[0][0].isalnum())


_MANY = 200
"""Tokens from which on a column with too many values is hardly one of labels."""


class Columns(TokenFormat):
    """The entry of the table."""

    name = "columns"
    description = "one token per line, its label last, blank lines between sentences"
    endings = (".conll", ".bio", ".iob", ".iob2", ".crf")
    options = frozenset(("tokens", "label", "separator", "comment"))
    is_written = True
    special_case_of = ()

    def look(self, head: Head) -> Look:
        """Columns are lines of as many cells, the last of which look like labels."""
        rows = [
            row
            for row in _without_comments(head)
            if not row.startswith(DOCUMENT) and row.strip() != END
        ]
        if not rows or head.is_json:
            return NO
        if any(line.startswith("#Text=") for line in head.lines):
            return no("it has #Text=, as WebAnno writes")
        if sum(map(_has_attributes, rows)) * 2 > len(rows):
            return no("its cells are NAME=VALUE or NAME:NUMBER")
        if parallel(rows):
            return no("each line is a sentence: words, a tab, and as many labels")
        if any(re.match(r"<[\w/!?]", row) for row in rows[:2]):
            return no("it begins with markup")
        if all(row.startswith("#") for row in rows):
            return no("all lines are comments")
        if head.ending in (".json", ".jsonl") and rows[0].lstrip()[:1] in tuple('[{"'):
            return no("its name and first character are those of JSON")
        if self.has_ending(head):
            return marked(f"the name ends in {head.ending}")
        if 2 * sum(map(is_prose, rows)) > len(rows):
            return no("lines end as sentences do")
        if all(re.fullmatch(r"\S+[/_]\S+", c) for row in rows for c in row.split()):
            return no("each cell is a word and its tag")
        for widths in (
            Counter(len(split_cells(row, None)) for row in rows),
            Counter(row.count("\t") + 1 for row in rows),
        ):
            found = _of_widths(rows, widths)
            if found.is_yes:
                return found
        return found

    def rows(
        self,
        file: Any,
        layout: SourceLayout,
        contents: Contents,
        with_labels: bool = True,
    ) -> Iterator[Rows]:
        """Yield the sentences, with all of their columns."""
        strings = SharedStrings(SharedStrings.MOST)
        of = layout.separator, None, layout.comment, layout.encoding
        return _columns(file, *of, strings, contents)

    def with_fields(self, head: Head, layout: SourceLayout) -> SourceLayout:
        """Settle how comments begin, and say which lines are left out.

        Raises
        ------
        ValueError
            If comments begin as tokens do.
        """
        if layout.comment is not None:
            return layout
        label = layout.label if isinstance(layout.label, int) else -1
        found = comments_in(head, layout.separator, label)
        if found is None:
            return layout
        warn(
            f"{head.name}, line {found.number}: lines that begin with "
            f"{found.prefix!r} are left out as comments, such as "
            f"{found.line[:40]!r}; to read them as tokens, pass comment='' "
            "(--comment '')"
        )
        return replace(layout, comment=found.prefix)

    def check(self, layout: SourceLayout) -> None:
        """Raise a ValueError if columns are named, as only fields are."""
        several = layout.label if isinstance(layout.label, tuple) else (layout.label,)
        if any(isinstance(c, str) for c in (*(layout.tokens or ()), *several)):
            raise ValueError(
                f"for input of the format {self.name}, --tokens and --label must be "
                "numbers of columns"
            )

    numbers_documents = True

    def new_sentence(self, layout: SourceLayout, row: Row, rows: list[Row]) -> Kept:
        """Return lines as wide as those of other rows, or as columns are chosen."""
        kept = (each.more for each in rows if isinstance(each.more, Kept))
        lines = (line for each in kept for _, line, of_token in each.lines if of_token)
        line = next(lines, None)
        width = None if line is None else len(split_cells(line, layout.separator))
        tokens = [token if isinstance(token, tuple) else (token,) for token in row.x]
        columns = list(layout.tokens or range(len(tokens[0])))
        chosen = [*columns, *(layout.labels or (-1,))]
        if width is None:
            last = max(int(c) for c in chosen)
            width = max(last + 1 + sum(int(c) < 0 for c in chosen), len(chosen))
        between = layout.separator or ("\t" if line is None or "\t" in line else " ")
        lines_of = []
        for token in tokens:
            cells = ["_"] * width
            for c, cell in zip(columns, token):
                cells[int(c)] = cell
            lines_of.append((0, between.join(cells), True))
        return Kept(row.x, row.document, row.weight, lines_of)

    def document_lines(self, document: str) -> list[str]:
        """Return the line that begins a document, and a blank one."""
        return [f"{DOCUMENT}\n", "\n"]

    def is_structure(self, line: str) -> bool:
        """Tell whether a line begins a document."""
        return line.split()[0] == DOCUMENT

    def put(
        self,
        layout: SourceLayout,
        lines: list[tuple[int, str, bool]],
        marks: Any,
        source: Any,
    ) -> Iterator[str]:
        """Yield the lines of a sentence with its labels in their columns."""
        written = iter(marks)
        separator = layout.separator
        for _, line, is_token in lines:
            if is_token:
                cells = split_cells(line, separator)
                of_line, _ = next(written)
                for c, cell in zip(layout.labels or (-1,), of_line):
                    cells[int(c)] = str(cell)
                line = (separator or ("\t" if "\t" in line else " ")).join(cells)
            yield line + "\n"

    def mark(
        self, layout: SourceLayout, line: str, cells: list[str], beside: Any
    ) -> str:
        """Add the label as a column."""
        separator = layout.separator
        if separator is None:
            # nothing else: an ideographic space can be a token
            line = line.rstrip(" \t")
            separator = "\t" if "\t" in line else " "
        return separator.join([line, *cells, *(value for _, value in beside)])


def _without_comments(head: Head) -> list[str]:
    """The lines that are filled and, as far as can be told, no comments."""
    try:
        found = comments_in(head)
    except ValueError:  # its reader says so
        found = None
    if found is None:
        return head.lines
    return [line for line in head.lines if not line.startswith(found.prefix)]


def _has_attributes(row: str) -> bool:
    """Tell whether the cells of a row behind the first are features with values."""
    cells = row.split("\t")[1:] if "\t" in row else row.split()[1:]
    return len(cells) > 1 and all(map(is_attribute, cells))


def _mark_between(rows: list[str]) -> str | None:
    """Return a mark that is as frequent in each line, and could separate cells."""
    return next(
        (
            m
            for m in ",;|"
            if {r.count(m) for r in rows} - {0} and len({r.count(m) for r in rows}) == 1
        ),
        None,
    )


def _of_widths(rows: list[str], widths: Counter[int]) -> Look:
    """The evidence of lines of so many cells."""
    n_lines = widths.total()
    (width, n) = widths.most_common(1)[0]
    seen = f"{part_of_first(n, n_lines, 'line', 'have')} {counted(width, 'column')}"
    mark = _mark_between(rows) if width < 2 <= n_lines else None
    if mark is not None:
        n_cells = counted(rows[0].count(mark) + 1, "cell")
        return near(
            f"each line has {n_cells} between {mark!r}",
            f"--separator {shlex.quote(mark)}",
        )
    if width < 2 or n_lines < 2:
        return no(seen)
    last = [row.split()[-1] for row in rows]
    labels = sum(style_of(cell) is not None for cell in last)
    if 2 * n > n_lines and 2 * labels > n_lines:
        return fits(f"{seen}, and {labels:,} end with a label")
    # A few odd lines among columns are mistakes, which the reader will name, and not
    # sentences.
    if 4 * n < 3 * n_lines:
        return near(seen)
    if labels * 2 < n_lines and n_lines > _MANY and 10 * len(set(last)) > n_lines:
        return near(
            f"{seen}, but the last has {len(set(last)):,} values, too many for labels"
        )
    if spaceless_share("".join(last)) > 0.5:
        return near(f"{seen}, and they end with words")
    return fits(seen)
