"""Patterns of other tools, CRF++ and Wapiti: features that are strings written from
tokens.

A pattern is literal text with macros; written for a token it is a string, and equal
strings are one feature, whatever wrote them. Our own templates keep apart the values of
their macros, and two of them that write the same string stay two; models that come from
these tools therefore keep patterns.

References
----------
T. Kudo, "CRF++: yet another CRF toolkit", 2005.
T. Lavergne, O. Cappé, F. Yvon (2010). Practical very large scale CRFs. ACL.
"""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import repeat
from string import ascii_lowercase, ascii_uppercase
from typing import TYPE_CHECKING, NamedTuple

from .._data.inputs import check_choice, describe
from .._saving.atomic import naming
from .._saving.fields import Field, Table, built, string, value, via
from .._saving.values import savable_value
from .byte_matching import ByteExpression

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .._data.types import Path, Self

CRFPP = "crf++"
WAPITI = "wapiti"

FARTHEST = {CRFPP: 8, WAPITI: 2**31}
"""The largest distance of a macro, in positions."""

NEAR = 4
"""Wapiti has a symbol for each of so many rows before a sequence, and behind it; one
for all farther ones.

So patterns that read farther mean different features in the two tools.
"""

_MOST_COLUMNS = 1000

_CRFPP_MACRO = re.compile(r"%x\[(?P<position>-?\d+),(?P<column>\d+)\]")
_WAPITI_MACRO = re.compile(
    r"%(?P<kind>[xtmXTM])\[(?P<absolute>@?)\s*"
    r"(?P<position>[+-]?(?:0[xX][0-9a-fA-F]+|\d+)),\s*(?P<column>\+?\d+)"
    r'(?:,"(?P<expression>(?:[^"\\]|\\.)*)")?\]',
    re.DOTALL,
)
_SYNTAXES = {
    CRFPP: (("U", "B"), _CRFPP_MACRO),
    WAPITI: (("u", "b", "*"), _WAPITI_MACRO),
}
"""The letters that patterns of a tool start with, and its macros."""

_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)


class Macro(NamedTuple):
    """A macro of a pattern: the cell that it reads."""

    position: int  # relative to the token, or of the sequence
    absolute: bool  # whether it is of the sequence: 0 is the first token, -1 the last
    column: int
    kind: str  # "x" the value, "t" whether an expression matches, "m" the match
    lower: bool  # letters of ASCII become lower case
    expression: str | None


class Pattern(NamedTuple):
    """One line: ``literals`` stand before, between and behind the macros."""

    text: str
    label: bool  # whether it is a feature of the label,
    transition: bool  # and of the transition into it
    literals: tuple[str, ...]
    macros: tuple[Macro, ...]


class Patterns:
    """The patterns of a model of CRF++ or Wapiti, as the ``features`` of a tagger.

    Parameters
    ----------
    lines : iterable of str
        In the syntax of the tool; ends of lines are left out. Patterns of transitions
        that read no token are the label bigram, however many of them there are.
        :meth:`from_file` reads a file.
    syntax : {"crf++", "wapiti"}

    Raises
    ------
    ValueError
        If a line is no pattern of that tool.

    Attributes
    ----------
    patterns, lines : tuple
        The :class:`Pattern` of each line, and the lines as written.
    n_columns : int
        Number of columns that the data must have.
    bigram : bool
        Whether the label bigram is a feature.
    of_labels, of_transitions : list of Pattern
        Those of features of labels, and of features of transitions that read a token.

    Examples
    --------
    >>> from skstruct import L1CRF
    >>> from skstruct.features.patterns import Patterns
    >>> from skstruct.inspection import features_of
    >>> patterns = Patterns(["u:%x[0,0]", 'u:%m[-1,0,".?$"]', "b"], "wapiti")
    >>> crf = L1CRF(patterns, c1=0.01, random_state=0)
    >>> features_of(crf.fit([["the", "dog"]], [["D", "N"]]), ["the", "dog"])
    [['u:the', 'u:1'], ['u:dog', 'u:e']]
    """

    def __init__(self, lines: Iterable[str], syntax: str = CRFPP) -> None:
        check_choice("syntax", syntax, FARTHEST)
        if isinstance(lines, str):
            raise TypeError("lines must be a list of patterns, got a str")
        self._hold(_without_ends(lines), syntax)

    @classmethod
    def as_written(cls, lines: Iterable[str], syntax: str) -> Self:
        """Take lines as a model holds them: a line feed in a pattern is in its
        features.
        """
        self = cls.__new__(cls)
        self._hold(lines, syntax)
        return self

    @classmethod
    def from_file(
        cls, path: Path, syntax: str | None = None, encoding: str = "utf-8"
    ) -> Self:
        """Read a template file of CRF++, or a pattern file of Wapiti.

        Blank lines, comments and ends of lines are left out. A comment of CRF++ is a
        line that begins with ``#``; one of Wapiti goes from ``#`` to the end of a line.

        Parameters
        ----------
        path : str or os.PathLike
        syntax : {"crf++", "wapiti"} or None, default=None
            None stands for CRF++, unless only Wapiti reads all lines.
        encoding : str, default="utf-8"

        Returns
        -------
        Patterns

        Raises
        ------
        ValueError
            If a line is no pattern, or there are none, or the file has another
            encoding. The message names file and line.
        OSError
            If the file cannot be read.
        """
        if syntax is not None:
            check_choice("syntax", syntax, FARTHEST)
        name = os.fspath(path)
        codec = "utf-8-sig" if codecs.lookup(encoding).name == "utf-8" else encoding
        try:
            with naming(path), open(path, encoding=codec) as file:
                written = file.read().split("\n")
        except UnicodeError as error:
            raise ValueError(
                f"{name}: not valid {encoding}: {getattr(error, 'reason', error)}"
            ) from None
        syntaxes = (CRFPP, WAPITI) if syntax is None else (syntax,)
        faults = {each: _first_fault(written, each) for each in syntaxes}
        # The tool that reads all lines, or the most of them.
        syntax = max(syntaxes, key=lambda each: (faults[each] or [len(written) + 1])[0])
        fault = faults[syntax]
        if fault is not None:
            raise ValueError(f"{name}:{fault[0]}: {fault[1]}")
        lines = [line for _, line in _patterns_in(written, syntax)]
        if not lines:
            raise ValueError(f"{name}: the file holds no pattern")
        return cls(lines, syntax)

    def _hold(self, lines: Iterable[str], syntax: str) -> None:
        """Parse the lines, and set the attributes."""
        self.syntax = syntax
        self.patterns = tuple(parse_pattern(line, syntax) for line in lines)
        if not self.patterns:
            raise ValueError("at least one pattern is needed")
        self.lines: tuple[str, ...] = tuple(pattern.text for pattern in self.patterns)
        columns = [
            macro.column for pattern in self.patterns for macro in pattern.macros
        ]
        self.n_columns: int = 1 + max(columns, default=0)
        self.bigram: bool = any(p.transition and not p.macros for p in self.patterns)
        self.of_labels: list[Pattern] = [p for p in self.patterns if p.label]
        self.of_transitions: list[Pattern] = [
            p for p in self.patterns if p.transition and p.macros
        ]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).as_written, (list(self.lines), self.syntax)

    def __repr__(self) -> str:
        return f"Patterns({list(self.lines)!r}, {self.syntax!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Patterns) and (self.lines, self.syntax) == (
            other.lines,
            other.syntax,
        )

    def __hash__(self) -> int:
        return hash((self.lines, self.syntax))


def _without_ends(lines: Iterable[Any]) -> list[Any]:
    """Return lines as an open file yields them without their ends."""
    out = [line.rstrip("\r\n") if isinstance(line, str) else line for line in lines]
    for line in out:
        if isinstance(line, str) and (not line.strip() or line.startswith("#")):
            raise ValueError(
                f"expected a pattern, got {line!r:.80}; Patterns.from_file leaves out "
                "comments and blank lines"
            )
    return out


def _patterns_in(written: list[str], syntax: str) -> Iterator[tuple[int, str]]:
    """Yield the number and the text of each pattern among the lines of a file."""
    for number, line in enumerate(written, start=1):
        if syntax == WAPITI:
            line = line.partition("#")[0].rstrip()
        line = line.rstrip("\r\n")
        if line.strip() and not line.startswith("#"):
            yield number, line


def _first_fault(written: list[str], syntax: str) -> tuple[int, str] | None:
    """Return (number, what is wrong) of the first line that is no pattern, or None."""
    for number, line in _patterns_in(written, syntax):
        try:
            parse_pattern(line, syntax)
        except ValueError as error:
            return number, str(error)
    return None


def parse_pattern(line: Any, syntax: str) -> Pattern:
    """Parse one line of a file of patterns.

    Parameters
    ----------
    line : str
    syntax : {"crf++", "wapiti"}

    Raises
    ------
    ValueError
        If it is none.
    """
    if not isinstance(line, str):
        raise ValueError(f"a pattern must be a str, got {describe(line)}")
    letters, macro = _SYNTAXES[syntax]
    first = line[:1] if syntax == CRFPP else line[:1].lower()
    if first not in letters:
        known = ", ".join(letters[:-1])
        raise ValueError(
            f"a pattern of {syntax} starts with {known} or {letters[-1]}, got "
            f"{line!r:.80}"
        )
    text = first + line[1:]
    literals = tuple(macro.split(text)[:: macro.groups + 1])
    macros = tuple(
        _macro(found.groupdict(), text, syntax) for found in macro.finditer(text)
    )
    if any("%" in literal for literal in literals):
        raise ValueError(f"malformed macro in the pattern {line!r:.80}")
    return Pattern(text, first in "Uu*", first in "Bb*", literals, macros)


def _integer(text: str) -> int:
    """Return a number as C's ``%i`` reads it: decimal, ``0x10`` or octal."""
    digits = text.lstrip("+-").lower()
    base = 16 if digits.startswith("0x") else 8 if digits.startswith("0") else 10
    number = int(digits, base)
    return -number if text.startswith("-") else number


def _macro(found: dict[str, Any], text: str, syntax: str) -> Macro:
    """Return the :class:`Macro` of a match."""
    try:
        position = (
            int(found["position"]) if syntax == CRFPP else _integer(found["position"])
        )
        column = int(found["column"])
    except ValueError:  # an 8 in an octal number, thousands of digits
        raise ValueError(f"malformed number in the pattern {text!r:.80}") from None
    if abs(position) > FARTHEST[syntax] or column >= _MOST_COLUMNS:
        limits = (
            f"a row may be up to {FARTHEST[syntax]} and a column below {_MOST_COLUMNS}"
        )
        raise ValueError(f"the pattern {text!r:.80} reads too far away; {limits}")
    kind = found.get("kind", "x")
    expression = found.get("expression")
    if (expression is None) != (kind in "xX"):
        raise ValueError(
            f"the pattern {text!r:.80}: %t and %m need an expression, %x takes none"
        )
    absolute = bool(found.get("absolute"))
    if absolute and position == 0:
        raise ValueError(
            f"the pattern {text!r:.80}: tokens are counted from 1, or from -1 backwards"
        )
    if absolute and position > 0:
        position -= 1
    if expression is not None:
        ByteExpression(_bytes(expression))
    return Macro(position, absolute, column, kind.lower(), kind.isupper(), expression)


def _bytes(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a lone surrogate that stands for no byte
        return text.encode("utf-8", "surrogatepass")


# --------------------------------------------------------------------------------------
# Writing
# --------------------------------------------------------------------------------------
def boundary(syntax: str, distance: int) -> str:
    """Write what stands for a token outside of a sequence.

    Parameters
    ----------
    syntax : {"crf++", "wapiti"}
    distance : int
        How far it is before the sequence (negative), or behind it.
    """
    if syntax == CRFPP:
        return f"_B{distance:+d}"
    return (
        f"_x{distance:+d}"
        if abs(distance) <= NEAR
        else f"_x{'+' if distance > 0 else '-'}#"
    )


def pattern_writer(
    syntax: str, columns: list[list[str]], offsets: list[int]
) -> Callable[[Pattern], list[str]]:
    """Make a function that writes a pattern: for a corpus its strings, by token.

    Parameters
    ----------
    syntax : str
    columns : list of lists of str
        By column, all N tokens.
    offsets : list of int
        Where each sequence starts, and N.
    """

    @cache
    def tokens_at(column: int, position: int, absolute: bool) -> list[str]:
        """List the tokens at a position, by token; those outside of the sequence by the
        tool's symbols.
        """
        tokens = columns[column]
        out = []
        for begin, end in zip(offsets, offsets[1:]):
            T = end - begin
            if absolute:
                p = position if position >= 0 else T + position
                inside = 0 <= p < T
                out += [
                    tokens[begin + p]
                    if inside
                    else boundary(syntax, p if p < 0 else p - T + 1)
                ] * T
                continue
            # Tokens whose place is outside.
            back = min(max(-position, 0), T)
            ahead = min(max(position, 0), T)
            out += [boundary(syntax, t + position) for t in range(back)]
            out += tokens[begin + ahead : end - back]
            out += [boundary(syntax, t + position - T + 1) for t in range(T - ahead, T)]
        return out

    @cache
    def values_of(macro: Macro) -> list[str]:
        """List what a macro writes, by token."""
        values = tokens_at(macro.column, macro.position, macro.absolute)
        if macro.expression is not None:  # of %t and %m, not of %x
            expression = ByteExpression(_bytes(macro.expression))
            value_of = {
                value: _matched(expression, value, macro.kind) for value in set(values)
            }
            values = list(map(value_of.__getitem__, values))
        return [value.translate(_LOWER) for value in values] if macro.lower else values

    def write(pattern: Pattern) -> list[str]:
        """List what a pattern writes, by token."""
        parts: list[Iterable[str]] = [repeat(pattern.literals[0], offsets[-1])]
        for macro, literal in zip(pattern.macros, pattern.literals[1:]):
            parts += (
                [values_of(macro), repeat(literal)] if literal else [values_of(macro)]
            )
        written = list(map("".join, zip(*parts)))
        if any(macro.kind == "m" for macro in pattern.macros):
            return [
                s if s.isascii() and "\0" not in s else _rejoined(s) for s in written
            ]
        return written

    return write


def _matched(expression: ByteExpression, value: str, kind: str) -> str:
    """Return the value of ``%t`` or ``%m`` for a token."""
    raw = _bytes(value)
    found = expression.match(raw)
    if kind == "t":
        return "false" if found is None else "true"
    place, length = found or (0, 0)
    taken = raw[place : place + length]
    # A count that is too large takes the NUL behind the token, which ends the string.
    return taken.decode("utf-8", "surrogateescape") + "\0" * (place + length > len(raw))


def _rejoined(written: str) -> str:
    """Join the bytes of divided characters in a string, up to a NUL."""
    return _bytes(written.partition("\0")[0]).decode("utf-8", "surrogateescape")


# --------------------------------------------------------------------------------------
# In files
# --------------------------------------------------------------------------------------
def _lines(found: Any) -> list[str]:
    if not (isinstance(found, list) and all(type(line) is str for line in found)):
        raise ValueError("a list of strings expected")
    return found


PATTERNS = Table(
    "`$patterns`",
    Field("lines", via(value, list, _lines), stem=""),
    Field("syntax", string),
    make=built(Patterns.as_written, "lines syntax"),
)

savable_value("$patterns", Patterns, PATTERNS)
