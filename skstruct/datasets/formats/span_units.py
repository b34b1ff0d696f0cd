"""The unit of the offsets of a file and the kind of its ends, chosen by one vote.

Programs in Python count characters, tools in a browser units of UTF-16, others bytes
of UTF-8. R, Lua and spreadsheets count from 1. The end of a span may be its last
character. Where a text was shown in a
browser, or read in Python without ``newline=""``, a line end of two characters counts
as one. Where a text was brought into another Unicode normal form before or after its
spans were marked, offsets count the characters of the other form.

All candidates, pairs of a unit and of ends, are scored on the same spans. First by the
texts that the file says its spans cover: what a single candidate covers decides, however
few they are. Where these tell nothing, by the ends of words: a candidate wins if it
meets more of them than the usual one, by what a sign test at 1 % calls more than
chance. Else offsets are what the format defines, or characters with exclusive ends.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from math import comb
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ..._data.text import codes_of

if TYPE_CHECKING:
    from .span_records import Record

_SIZES: dict[str, tuple[tuple[int, ...], bool, int]] = {
    "characters": ((), False, 0),
    "utf-16": ((0xFFFF,), False, 0),
    "utf-8": ((0x7F, 0x7FF, 0xFFFF), False, 0),
    "characters-lf": ((), True, 0),
    "utf-16-lf": ((0xFFFF,), True, 0),
    "characters-from-1": ((), False, 1),
    "characters-nfc": ((), False, 0),
    "characters-nfd": ((), False, 0),
}
"""Unit -> (the last character of one unit, of two ..., whether CRLF counts as one, the
offset of the first character).
"""

_FORMS: dict[str, Literal["NFC", "NFD"]] = {
    "characters-nfc": "NFC",
    "characters-nfd": "NFD",
}
"""Unit -> the normal form whose characters it counts."""

UNITS = tuple(_SIZES)
ENDS = ("exclusive", "inclusive")

CALLED = {
    "characters": "characters",
    "utf-16": "UTF-16 units",
    "utf-8": "bytes of UTF-8",
    "characters-lf": "characters, a line end CRLF as one",
    "utf-16-lf": "UTF-16 units, a line end CRLF as one",
    "characters-from-1": "characters from 1",
    "characters-nfc": "characters of the text in the normal form NFC",
    "characters-nfd": "characters of the text in the normal form NFD",
}
"""The names of units in sentences."""

_CHANCE = 0.01
"""The probability below which something is not taken for chance."""

_MAJORITY = 4
"""So many ends of words that a candidate gains it must have for each that it loses."""

_SHARE = 20
"""One span in so many that leaves its text is proof; one in more is a mistake."""

_MOST = 300
"""Spans that are scored."""

_CHARACTERS = 100_000
"""The number of characters of texts up to which all spans are scored."""


class Count(NamedTuple):
    """A way to read offsets: their unit and their ends."""

    unit: str
    ends: str


class Vote(NamedTuple):
    """The result of a vote.

    Attributes
    ----------
    found : Count
    is_told : bool
        Whether something tells it; else it is what the format defines.
    sentence : str or None
        What to say of it, if it is not what the format defines, or open.
    """

    found: Count
    is_told: bool
    sentence: str | None = None


def edges_of(text: str, unit: str) -> np.ndarray:
    """Return the offset before each character of a text, and that of its end, as an
    ascending int64 array; of two equal ones the first counts.
    """
    limits, lf, first = _SIZES[unit]
    codes = codes_of(text)
    sizes = np.ones(len(codes), np.int64)
    if unit in _FORMS:
        sizes = _sizes_in_form(text, _FORMS[unit])
    for limit in limits:
        sizes += codes > limit
    if lf:
        sizes[:-1][(codes[:-1] == 13) & (codes[1:] == 10)] = 0
    edges = np.zeros(len(codes) + 1, np.int64)
    np.cumsum(sizes, out=edges[1:])
    return edges + first


def _sizes_in_form(text: str, form: Literal["NFC", "NFD"]) -> np.ndarray:
    """Return how many characters each one is in a normal form, as an int64 array.

    Where several characters become one, or are marks of one letter, the last has the
    number of all, and the others 0.
    """
    sizes = np.ones(len(text), np.int64)
    together = ""
    n = 0  # characters of these in the form
    for k, character in enumerate(text):
        own = 1
        joined = 0
        if not character.isascii():
            own = len(unicodedata.normalize(form, character))
            joined = len(unicodedata.normalize(form, together + character))
        is_part = unicodedata.combining(character) or joined not in (0, n + own)
        if together and is_part:
            sizes[k - len(together) : k] = 0
            together += character
            n = joined
        else:
            together = character
            n = own
        sizes[k] = n
    return sizes


def in_characters(
    text: str, parts: Iterable[tuple[Any, Any]], count: Count
) -> list[tuple[int, int] | None]:
    """Return (start, end) of spans in characters; None for those that do not fit."""
    parts = list(parts)
    n = len(text)
    step = count.ends == "inclusive"
    limits, is_lf, first = _SIZES[count.unit]
    edges = None
    form = _FORMS.get(count.unit)
    has_other_form = form is not None and not unicodedata.is_normalized(form, text)
    has_wide = bool(limits) and not text.isascii()
    if first or (is_lf and "\r\n" in text) or has_wide or has_other_form:
        edges = edges_of(text, count.unit)
    found: list[tuple[int, int] | None] = []
    for start, end in parts:
        if not (_is_offset(start) and _is_offset(end)):
            found.append(None)
            continue
        a, b = int(start), int(end) + step
        if edges is not None and 0 <= a < b <= edges[-1]:
            i, j = np.searchsorted(edges, (a, b))
            fits = edges[i] == a and edges[j] == b
            a, b = (int(i), int(j)) if fits else (0, 0)
        found.append((a, b) if 0 <= a < b <= n else None)
    return found


def _is_offset(value: Any) -> bool:
    is_number = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return is_number and abs(value) < 2**62


def _is_astral(text: str) -> bool:
    """Tell whether a text has characters such as emoji, two units of UTF-16 each."""
    return len(text.encode("utf-16-le", "surrogatepass")) != 2 * len(text)


def signs_of(record: Record, offsets: str, ends: str) -> set[str]:
    """Return what a record has that tells units apart."""
    if not record.spans:
        return set()
    text = record.text
    signs = {"ends"} if ends == "auto" and not record.sure else set()
    if offsets != "auto":
        return signs
    if "\r\n" in text and not record.sure:
        signs.add("crlf")
    if not text.isascii():
        if _is_astral(text):
            signs.add("astral")
        elif record.unit == "characters" and not record.sure:
            signs.add("wide")
    return signs


def voted(records: Iterable[Record], offsets: str, ends: str) -> Vote:
    """Return what the offsets of records count, of what options leave open."""
    records = [each for each in records if each.spans]
    units = {each.unit for each in records}
    usual = "utf-16" if "utf-16" in units else "characters"
    if offsets != "auto":
        usual = offsets
    default = Count(usual, "exclusive" if ends == "auto" else ends)
    voters = _voters(records, default)
    if not voters:
        return Vote(default, bool(records))
    spans = _spans_of(voters)
    if spans and all(s.is_told and s.is_met_by(default) for s in spans):
        return Vote(default, True)
    candidates = _candidates(voters, default, offsets, ends)
    if len(candidates) == 1 or not spans:
        return Vote(default, False)
    seen: dict[Any, tuple[int, ...]] = {}
    scores = [_Scores(candidate, spans, seen) for candidate in candidates]
    left, is_told = _by_told_texts(scores)
    winner = _by_words(left, left[0] is not scores[0])
    is_told = is_told or winner.is_told
    if winner.best is scores[0]:
        other = "utf-16" if default.unit == "characters" else "characters"
        said = (
            f"offsets are read as {CALLED[default.unit]}, which the ends of "
            f"words do not prove; to read them as {CALLED[other]}, pass "
            f"offsets={other!r}"
        )
        return Vote(default, is_told, said if winner.is_open else None)
    is_clear = winner.is_clear or winner.best is left[0]  # each span says so
    is_usual = winner.best.count.unit in ("characters", "utf-16")
    if is_clear and is_usual and winner.best.count.ends == default.ends:
        return Vote(winner.best.count, True)
    said = _sentence(winner.best, scores[0], winner.best is left[0])
    return Vote(winner.best.count, True, said)


def _voters(records: list[Record], default: Count) -> list[Record]:
    """The records that vote: none if all are of tools which say what they count, and
    fit that.
    """
    if all(each.sure and _fits(each, default) for each in records):
        return []
    return records


def _fits(record: Record, count: Count) -> bool:
    assert record.spans is not None
    parts = [each.parts[0][:2] for each in record.spans if len(each.parts) == 1]
    return None not in in_characters(record.text, parts, count)


def _candidates(
    voters: list[Record], default: Count, offsets: str, ends: str
) -> list[Count]:
    """Return the ways to read offsets, the usual first, and simple ones before others."""
    units = [offsets]
    if offsets == "auto":
        texts = [each.text for each in voters]
        wide = any(not text.isascii() for text in texts)
        astral = wide and any(map(_is_astral, texts))
        crlf = any("\r\n" in text for text in texts)
        units = ["characters"]
        units += ["utf-16"] * astral + ["utf-8"] * wide
        units += ["characters-lf"] * crlf + ["utf-16-lf"] * (crlf and astral)
        units += ["characters-from-1"]
        units += [
            unit
            for unit, form in _FORMS.items()
            if wide and not all(unicodedata.is_normalized(form, each) for each in texts)
        ]
        if default.unit == "utf-16":  # of a tool in a browser
            units = ["utf-16", "characters"] + ["utf-16-lf", "characters-lf"] * crlf
    of_tool = default.unit == "utf-16" and offsets == "auto"
    both = ENDS if ends == "auto" and not of_tool else (default.ends,)
    return [default] + [
        Count(unit, end)
        for end in both
        for unit in units
        if Count(unit, end) != default
    ]


class _Voice(NamedTuple):
    """A span that votes."""

    text: str
    start: Any
    end: Any
    said: str | None  # what the file says that it covers
    is_sure: bool  # whether words count nothing where it fits
    of_browser: bool  # whether a tool in a browser wrote it

    @property
    def is_told(self) -> bool:
        return self.said is not None

    def is_met_by(self, count: Count) -> bool:
        ((edge),) = in_characters(self.text, [(self.start, self.end)], count)
        assert self.said is not None
        return edge is not None and covers(self.text[edge[0] : edge[1]], self.said)


def _spans_of(voters: list[Record]) -> list[_Voice]:
    """The spans that vote, of all records alike if there are too many."""
    found = [
        _Voice(
            each.text,
            span.parts[0][0],
            span.parts[0][1],
            span.text or None,
            each.sure,
            each.unit == "utf-16",
        )
        for each in voters
        for span in each.spans or ()
        if len(span.parts) == 1
        and _is_offset(span.parts[0][0])
        and _is_offset(span.parts[0][1])
    ]
    step = 1 + sum({id(s.text): len(s.text) for s in found}.values()) // _CHARACTERS
    return found[:: max(step, -(-len(found) // _MOST))]


class _Scores:
    """The spans as a candidate reads them.

    Attributes
    ----------
    count : Count
    edges : list of (start, end) or None
    told : ndarray of bool
        Whether a span covers just what the file says.
    whole : ndarray of bool
        Whether it cuts no word, and has no white space at its ends.
    sure : ndarray of bool
        Whether the tool that wrote a span counts otherwise, so that words tell nothing
        of one that fits.
    words : int64 ndarray, shape (n_spans, 2)
        Whether it begins, and ends, where a word does; -1 where it does not fit.
    """

    def __init__(
        self, count: Count, spans: list[_Voice], seen: dict[Any, tuple[int, ...]]
    ) -> None:
        self.count = count
        self.edges = _edges(count, spans)
        rows = []
        for k, (edge, span) in enumerate(zip(self.edges, spans)):
            if (k, edge) not in seen:  # most candidates read most spans alike
                seen[k, edge] = _marks(span, edge)
            rows.append(seen[k, edge])
        marks = np.array(rows, np.int64)
        self.words = marks[:, :2]
        self.told = marks[:, 2] > 0
        self.whole = marks[:, 3] > 0
        characters = count.unit.startswith("characters")
        self.sure = np.array(
            [s.is_sure or (s.of_browser and characters) for s in spans], bool
        )

    @property
    def fits(self) -> np.ndarray:
        """Tell whether each span is within its text."""
        return self.words[:, 0] >= 0


def _marks(span: _Voice, edge: tuple[int, int] | None) -> tuple[int, ...]:
    """Return what a span is, read in one way: columns of `_Scores`."""
    if edge is None:
        return -1, -1, 0, 0
    start, end = edge
    told = span.said is not None and covers(span.text[start:end], span.said)
    whole = not cuts_word(span.text, start, end)
    return *word_edges(span.text, start, end), int(told), int(whole)


def _edges(count: Count, spans: list[_Voice]) -> list[tuple[int, int] | None]:
    """The spans in characters; neighbours of one text at a time."""
    found: list[tuple[int, int] | None] = []
    k = 0
    while k < len(spans):
        text = spans[k].text
        end = k + 1
        while end < len(spans) and spans[end].text is text:
            end += 1
        parts = [(each.start, each.end) for each in spans[k:end]]
        found += in_characters(text, parts, count)
        k = end
    return found


def _by_told_texts(scores: list[_Scores]) -> tuple[list[_Scores], bool]:
    """The candidates that told texts leave, and whether these tell something."""
    told = np.array([each.told for each in scores])
    some = told.any(0)
    lost = (some & ~told).sum(1)
    if not lost.any():
        return scores, bool(some.any())
    fewest = lost.min()
    if fewest and not _is_more(
        int((told[lost.argmin()] & ~told[0]).sum()),
        int((told[0] & ~told[lost.argmin()]).sum()),
    ):
        return scores[:1], True
    return [s for s, n in zip(scores, lost) if n == fewest], True


class _Winner(NamedTuple):
    """The decision by the ends of words."""

    best: _Scores
    is_told: bool  # whether it is more than chance
    is_open: bool  # whether they speak for another unit, and it could be chance
    is_clear: bool = False  # whether each span speaks for it, and one cannot be else


def _by_words(left: list[_Scores], usual_is_out: bool) -> _Winner:
    """The candidate that meets most ends of words, if that is more than chance; if told
    texts have refuted the usual one, it is enough that each span speaks for it.
    """
    first = left[0]
    found = _Winner(first, False, False)
    most = 0
    for other in left[1:]:
        differ = np.array([a != b for a, b in zip(first.edges, other.edges)], bool)
        settled = differ & other.sure & first.fits
        differ &= ~settled
        if found.best is first and settled.any():
            found = found._replace(is_told=True)
        if not differ.any():
            continue
        gain = (other.words - first.words)[differ]
        n_more, n_fewer = int((gain > 0).sum()), int((gain < 0).sum())
        whole = other.whole[differ]
        wins = (
            _is_more(n_more, n_fewer)
            and n_more >= _MAJORITY * n_fewer
            and 2 * whole.sum() >= whole.size
        )
        if usual_is_out and n_fewer == 0 and whole.all():
            wins |= n_more > 0 or not first.whole[differ].any()
        bounds = _only_fits(first, other, differ, n_fewer + int(settled.sum()))
        if (wins or bounds) and n_more - n_fewer >= most + (found.best is not first):
            most = n_more - n_fewer
            found = _Winner(other, True, False, bounds and bool(whole.all()))
        is_usual = {first.count.unit, other.count.unit} == {"characters", "utf-16"}
        if found.best is first and is_usual and other.count.ends == first.count.ends:
            is_told = _is_more(n_fewer, n_more) or bool(settled.any())
            fitting = gain[first.fits[differ]]
            doubts = int((fitting > 0).sum()) > n_fewer
            found = _Winner(first, is_told, doubts and not is_told)
    return found


def _only_fits(
    first: _Scores, other: _Scores, differ: np.ndarray, n_against: int
) -> bool:
    """Tell whether spans that leave their texts as usual are whole words otherwise, and
    there are more of them than what speaks for the usual count.
    """
    beyond = differ & ~first.fits
    if n_against >= int(beyond.sum()) or other.count.ends != first.count.ends:
        return False
    fit = bool(other.fits[differ].all()) and bool(other.whole[beyond].all())
    return fit and _SHARE * int(beyond.sum()) >= int(differ.sum()) > 0


def _is_more(n_more: int, n_fewer: int) -> bool:
    """Tell whether a difference of two counts is more than chance: a sign test."""
    n = n_more + n_fewer
    if n_more <= n_fewer:
        return False
    return sum(comb(n, k) for k in range(n_more, n + 1)) <= _CHANCE * 2**n


def _sentence(best: _Scores, usual: _Scores, by_texts: bool) -> str:
    """Return the sentence about offsets that count something unusual."""
    count = best.count
    what = []
    if count.unit != usual.count.unit:
        what.append(f"offsets count {CALLED[count.unit]}")
    if count.ends != usual.count.ends:
        what.append(f"ends are {count.ends}")
    if by_texts:
        n = int((usual.told | best.told).sum())
        numbers = int(best.told.sum()), int(usual.told.sum())
        seen = f"{numbers[0]:,} of {n:,} spans cover what the file says"
    else:
        numbers = _n_whole(best), _n_whole(usual)
        seen = f"{numbers[0]:,} of {len(best.edges):,} spans are whole words"
    return (
        f"{seen} if {' and '.join(what)}, and {numbers[1]:,} if not, so "
        "they are read that way; to confirm it, pass "
        f"offsets={count.unit!r}, ends={count.ends!r}"
    )


def _n_whole(scores: _Scores) -> int:
    return int(scores.whole.sum())


_WHITE_SPACE = re.compile(r"\s+")


def covers(found: str, said: str) -> bool:
    """Tell whether a span covers just what a file says.

    Tools write line ends, and white space, within the text of a span in several ways,
    and letters with marks in several normal forms.
    """
    return found == said or _plain(found) == _plain(said)


def _plain(text: str) -> str:
    text = _WHITE_SPACE.sub(" ", text.replace("\\n", "\n"))
    return unicodedata.normalize("NFC", text)


def word_edges(text: str, start: int, end: int) -> tuple[int, int]:
    """Return whether a span begins, and ends, as a word does: 1, or 0."""
    begins = _is_of_word(text[start]) and not (
        start > 0 and _is_of_word(text[start - 1])
    )
    ends = _is_of_word(text[end - 1]) and not (
        end < len(text) and _is_of_word(text[end])
    )
    return int(begins), int(ends)


def cuts_word(text: str, start: int, end: int) -> bool:
    """Tell whether a span cuts a word, or has white space at its ends."""
    cut_at = (
        0 < k < len(text) and _is_of_word(text[k - 1]) and _is_of_word(text[k])
        for k in (start, end)
    )
    return text[start].isspace() or text[end - 1].isspace() or any(cut_at)


def _is_of_word(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character)[0] == "M"
