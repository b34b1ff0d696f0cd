"""Segmented text of which some boundaries are not known, and what its characters may
be labelled.

References
----------
G. Neubig and S. Mori, "Word-based partial annotation for efficient corpus
construction", LREC 2010: boundaries that are annotated one by one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from .places import PlaceError, describe
from .scheme_rules import SPELLINGS

UNKNOWN = " "
"""The places where a word may end or go on, in a stretch."""


class PartialWords(list):
    """The words of a text of which some boundaries are not known; it takes the place of
    their list.

    Between two elements a word ends. In an element no word ends, except that at each
    space one may end or not.

    Parameters
    ----------
    stretches : iterable of str, or of (str, tag)
        The tag is that of the word that ends the stretch: a str, a set of those that it
        may be, or None. Without a pair it is not known.

    Examples
    --------
    Behind the second character a word ends, the third goes on, and nothing is known of
    the first two.

    >>> from skstruct import PartialWords
    >>> PartialWords(["日 本", "人は"])
    PartialWords(['日 本', '人は'])
    """

    def __init__(self, stretches: Iterable[Any] = ()) -> None:
        super().__init__(stretches)

    def __reduce__(self) -> tuple[Any, ...]:
        return PartialWords, (list(self),)

    def copy(self) -> PartialWords:
        """Return a copy."""
        return PartialWords(self)

    def __repr__(self) -> str:
        return f"PartialWords({list(self)!r})"


class Stretch(NamedTuple):
    """The text between two boundaries that are known."""

    parts: list[str]  # strings in which no word ends; behind each but the last one may
    tags: frozenset[str] | None  # of the word at the end; None: not known

    @property
    def text(self) -> str:
        """The characters."""
        return "".join(self.parts)


def text_of_words(words: Iterable[Any]) -> str:
    """Return the text that words, pairs of word and tag, or stretches spell."""
    text = "".join(word if isinstance(word, str) else word[0] for word in words)
    return text.replace(UNKNOWN, "") if isinstance(words, PartialWords) else text


def stretches_of(row: PartialWords, i: int, name: str = "y") -> list[Stretch]:
    """Return the stretches of a row, checked.

    Raises
    ------
    ValueError
        If an element is none; the message names the place, sequence ``i``.
    """
    return [_stretch(each, i, t, name) for t, each in enumerate(row)]


def _stretch(each: Any, i: int, t: int, name: str) -> Stretch:
    pair = isinstance(each, (tuple, list)) and len(each) == 2
    text, tag = each if pair else (each, None)
    if not isinstance(text, str) or not text:
        wrong = f"expected a stretch of text, or (text, tag), got {describe(each)}"
        raise PlaceError(i, t, wrong, name)
    parts = text.split(UNKNOWN)
    if any(part.split() != [part] for part in parts):
        wrong = (
            "in a stretch a single space stands where a word may end, between two "
            f"characters; got {text!r}"
        )
        raise PlaceError(i, t, wrong, name)
    tags = {tag} if isinstance(tag, str) else tag
    if tags is not None and not (
        isinstance(tags, (set, frozenset))
        and tags
        and all(isinstance(tag, str) and tag for tag in tags)
    ):
        wrong = f"the tag must be a str, a set of str, or None, got {describe(tag)}"
        raise PlaceError(i, t, wrong, name)
    return Stretch(parts, None if tags is None else frozenset(tags))


def at_white_space(stretches: list[Stretch], pieces: Sequence[str]) -> list[Stretch]:
    """Return stretches that also end where the text has white space, if a word may end
    there.
    """
    ends = set()
    at = 0
    for piece in pieces:
        at += len(piece)
        ends.add(at)
    found = []
    at = 0
    for parts, tags in stretches:
        begin = 0
        for k, part in enumerate(parts):
            at += len(part)
            if at in ends and k + 1 < len(parts):
                found.append(Stretch(parts[begin : k + 1], None))
                begin = k + 1
        found.append(Stretch(parts[begin:], tags))
    return found


def labels_of_stretches(
    stretches: list[Stretch], scheme: str, tags: Collection[str] | None
) -> list[Any]:
    """Return what the characters of stretches may be labelled.

    Parameters
    ----------
    stretches : list of Stretch
    scheme : str
        A canonical name; its labels need not know the words around.
    tags : collection of str, or None
        All that there are; None if words have no tags.

    Returns
    -------
    list of str, frozenset of str, or None
        For each character its label, the set of those that agree with what is known, or
        None if all do.
    """
    labels: list[Any] = []
    for parts, known in stretches:
        last = len(labels) + sum(map(len, parts[:-1]))
        for k, prefixes in enumerate(_prefixes(parts, scheme), len(labels)):
            some = (known if k >= last else None) or tags
            free = prefixes == _all_prefixes(scheme) and (some is tags or tags is None)
            if some is None:
                found = prefixes
            else:
                spell = SPELLINGS[scheme].label
                found = frozenset(spell(p, tag) for p in prefixes for tag in some)
            labels.append(
                None if free else next(iter(found)) if len(found) == 1 else found
            )
    return labels


_DEPTH = 4
"""Beyond so many characters from the first of a word labels no longer change."""


def _label(scheme: str, offset: int, ends: bool) -> str:
    """Return the prefix of a character, so far behind the first of its word."""
    return SPELLINGS[scheme].spell(offset + (1 if ends else 2))[offset]


def _all_prefixes(scheme: str) -> frozenset[str]:
    return frozenset(
        _label(scheme, offset, ends)
        for offset in range(_DEPTH + 1)
        for ends in (False, True)
    )


def _prefixes(parts: list[str], scheme: str) -> list[frozenset[str]]:
    """Return the prefixes that each character of a stretch may have."""
    found = []
    offsets = {0}
    for k, part in enumerate(parts):
        for t in range(len(part)):
            inside = t + 1 < len(part)
            end = (
                [False] if inside else [True] if k + 1 == len(parts) else [False, True]
            )
            found.append(frozenset(_label(scheme, o, e) for o in offsets for e in end))
            offsets = {min(o + 1, _DEPTH) for o in offsets}
        offsets.add(0)
    return found
