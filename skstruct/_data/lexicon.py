"""A lexicon: strings and regular expressions with types, found in texts.

Strings are compared as the Unicode Standard compares identifiers without case
(section 3.13, definition D146: compatibility caseless matching): case, width and
normal form make no difference.
"""

from __future__ import annotations

import codecs
import os
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from .inputs import Sequences, describe
from .known_spans import OUTSIDE, Kinds
from .spans import Span
from .text import PARAGRAPH, Tokens, as_texts, tokenized
from .types import Self, Texts


@lru_cache(maxsize=100_000)
def folded(text: str) -> str:
    """Return a string in which case, width and normal form make no difference."""
    for form in "NFD", "NFKD":
        text = unicodedata.normalize(form, text).casefold()
    return unicodedata.normalize("NFKD", text)


def composed(text: str) -> str:
    """Return a string in Unicode's normal form C."""
    return unicodedata.normalize("NFC", text)


class Lexicon:
    """Strings and regular expressions with types, to be found in texts.

    ``SpanTagger.predict(X, known=lexicon)`` takes what it finds for known.

    Parameters
    ----------
    entries : mapping of str to type, or collection of str
        Strings and their types: a type, a collection of types, or None for any; for a
        string in no span ``"O"``. In a collection without types each has any.
    patterns : mapping of str to type, optional
        Regular expressions and the types of what they match.
    ignore_case : bool, default=True
        Whether case and width make no difference to entries, as do never Unicode's
        canonical forms and the amount of white space between words.

    Notes
    -----
    What is found begins and ends where words do: ``Ann`` is not found in ``Anna``. Of
    matches that overlap the first in the text stands, and of those that begin there the
    longest. Of one that is as long by several entries or patterns the types are joined.

    Examples
    --------
    >>> from skstruct import Lexicon
    >>> names = Lexicon({"New York": "LOC", "Ann": "PER"}, {r"\\d{4}-\\d\\d": "DATE"})
    >>> names.find(["ANN saw new  york in 2024-05, Anna did not."])[0][1]
    Span(start=8, end=17, label='LOC')
    """

    def __init__(
        self,
        entries: Mapping[str, Any] | Collection[str] = (),
        patterns: Mapping[str, Any] | None = None,
        *,
        ignore_case: bool = True,
    ) -> None:
        self.ignore_case = ignore_case
        self._fold = folded if ignore_case else composed
        self.entries = _pairs(entries, "entries")
        self.patterns = _pairs({} if patterns is None else patterns, "patterns")
        self._kinds: dict[str, Kinds] = {}
        self._longest: dict[str, int] = {}  # by first character, of a key
        for entry, kinds in self.entries:
            key = " ".join(map(self._fold, entry.split()))
            if not key:
                raise ValueError(f"entries: {entry!r} is white space")
            if key in self._kinds:
                kinds = _joined(self._kinds[key], kinds, entry)
            self._kinds[key] = kinds
            self._longest[key[0]] = max(self._longest.get(key[0], 0), len(key))
        self._regexes = []
        for pattern, kinds in self.patterns:
            try:
                self._regexes.append((re.compile(pattern), kinds))
            except re.error as error:
                raise ValueError(f"patterns: {pattern!r}: {error}") from None

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (self.entries, self.patterns, self.ignore_case)

    def __repr__(self) -> str:
        n, m = len(self.entries), len(self.patterns)
        return f"<Lexicon of {n} entries and {m} patterns>"

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        *,
        ignore_case: bool = True,
        encoding: str = "utf-8",
    ) -> Self:
        """Read a lexicon from a file.

        Parameters
        ----------
        path : str or path
            A line holds an entry and, behind a tab, its type; without one it has any.
            ``/.../`` is a regular expression. An entry of several types has several
            lines.
        ignore_case : bool, default=True
        encoding : str, default="utf-8"
            Of UTF-8 a byte order mark is left out.

        Returns
        -------
        Lexicon

        Raises
        ------
        ValueError
            If a line is not as described; the message names it.
        """
        found: list[dict[str, Kinds]] = [{}, {}]
        codec = "utf-8-sig" if codecs.lookup(encoding).name == "utf-8" else encoding
        with open(path, encoding=codec) as lines:
            for number, line in enumerate(lines, start=1):
                entry, *types = line.rstrip("\r\n").split("\t")
                if not entry.strip() and not types:
                    continue
                where = f"{os.fspath(path)}, line {number}"
                if len(types) > 1 or not entry.strip() or types == [""]:
                    wrong = "expected an entry, a tab and a type"
                    raise ValueError(f"{where}: {wrong}, got {line.rstrip()!r}")
                is_pattern = len(entry) > 2 and entry[0] == entry[-1] == "/"
                key = entry[1:-1] if is_pattern else entry
                kinds = _kinds_of(types[0] if types else None)
                try:
                    if key in found[is_pattern]:
                        kinds = _joined(found[is_pattern][key], kinds, entry)
                    found[is_pattern][key] = kinds
                    cls(*({key: kinds} if k == is_pattern else {} for k in (0, 1)))
                except ValueError as error:
                    raise ValueError(f"{where}: {error}") from None
        return cls(found[0], found[1], ignore_case=ignore_case)

    def find(self, X: Texts, tokenizer: Any = "words") -> list[list[Span]]:
        """Find entries and matches in texts.

        Parameters
        ----------
        X : list of str
        tokenizer : str or callable, default="words"
            As of `SpanTagger`: what is found is whole tokens.

        Returns
        -------
        list of lists of Span
            In the order of each text. A label is a type, a tuple of types, None for
            any, or ``"O"``.
        """
        texts = as_texts(X)
        words = tokenized(texts, "words")
        whole = words if tokenizer == "words" else tokenized(texts, tokenizer)
        starts = set(whole.start.tolist())
        ends = set(whole.end.tolist())
        result = Sequences()
        matched = self._matches(texts, words)
        for i, text in enumerate(texts):
            found: dict[tuple[int, int], Kinds] = {}
            shift = int(words.offset[i])
            first, stop = words.first[[i, i + 1]].tolist()
            of_words = self._entries_in(words, first, stop)
            for start, end, kinds in (*of_words, *matched[i]):
                if start in starts and end in ends:
                    before = found.get((start, end), frozenset({""}))
                    found[start, end] = (
                        kinds
                        if before == {""}
                        else _joined(before, kinds, text[start - shift : end - shift])
                    )
            result.append(
                [
                    Span(start - shift, end - shift, _label(found[start, end]))
                    for start, end in _apart(found)
                ]
            )
        return result

    def _entries_in(
        self, words: Tokens, first: int, stop: int
    ) -> Iterator[tuple[int, int, Kinds]]:
        """Yield the entries among some words; places are those of the joined texts."""
        if not self._kinds:
            return
        start = words.start[first:stop].tolist()
        end = words.end[first:stop].tolist()
        layout = words.before[first:stop].tolist()
        parts = [self._fold(words.text[a:b]) for a, b in zip(start, end)]
        for t, part in enumerate(parts):
            most = self._longest.get(part[:1], 0)
            key = ""
            for u in range(t, len(parts)):
                if u > t and layout[u]:
                    key += " " if layout[u] < PARAGRAPH else "\n"
                key += parts[u]
                if len(key) > most:
                    break
                if key in self._kinds:
                    yield start[t], end[u], self._kinds[key]

    def _matches(
        self, texts: list[str], words: Tokens
    ) -> list[list[tuple[int, int, Kinds]]]:
        """Return what patterns match in each text, where words begin and end."""
        found: list[list[tuple[int, int, Kinds]]] = [[] for _ in texts]
        if not self._regexes:
            return found
        starts = set(words.start.tolist())
        ends = set(words.end.tolist())
        for text, before, here in zip(texts, words.offset.tolist(), found):
            for regex, kinds in self._regexes:
                for match in regex.finditer(text):
                    start, end = (before + edge for edge in match.span())
                    if start in starts and end in ends:
                        here.append((start, end, kinds))
        return found


def _rebuilt(entries: Any, patterns: Any, ignore_case: bool) -> Lexicon:
    return Lexicon(dict(entries), dict(patterns), ignore_case=ignore_case)


def _apart(places: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield places that do not overlap: the first, of those that begin there the
    longest.
    """
    at = -1
    for start, end in sorted(places, key=lambda place: (place[0], -place[1])):
        if start >= at and end > start:
            yield start, end
            at = end


def _pairs(given: Any, name: str) -> list[tuple[str, Kinds]]:
    """Return strings and the types of each."""
    if isinstance(given, (str, bytes)) or not hasattr(given, "__iter__"):
        raise ValueError(
            f"{name} must map str to types, or be a list of str, got {describe(given)}"
        )
    of_types = isinstance(given, Mapping)  # a Series has items, too: of its index
    pairs = given.items() if of_types else ((key, None) for key in given)
    found = []
    for key, types in pairs:
        if not isinstance(key, str) or not key:
            raise ValueError(
                f"{name} must be str that are not empty, got {describe(key)}"
            )
        try:
            found.append((key, _kinds_of(types)))
        except ValueError as error:
            raise ValueError(f"{name}: {key!r}: {error}") from None
    return found


def _kinds_of(types: Any) -> Kinds:
    if types is None:
        return None
    several = isinstance(types, Collection) and not isinstance(types, (str, Mapping))
    kinds = frozenset(types if several else [types])
    if not all(isinstance(kind, str) and kind for kind in kinds) or not kinds:
        raise ValueError(
            f"the type must be a str that is not empty, several, or None, got {types!r}"
        )
    if OUTSIDE in kinds and len(kinds) > 1:
        raise ValueError(f"{OUTSIDE!r} says that no span is there, got {types!r}")
    return kinds


def _joined(kinds: Kinds, others: Kinds, entry: str) -> Kinds:
    """Return the types of either; an error if one says that no span is there."""
    if ({OUTSIDE} in (kinds, others)) and kinds != others:
        raise ValueError(f"{entry!r} has a type, and is in no span")
    return None if kinds is None or others is None else kinds | others


def _label(kinds: Kinds) -> Any:
    if kinds is None:
        return None
    types = sorted(kinds)
    return types[0] if len(types) == 1 else tuple(types)
