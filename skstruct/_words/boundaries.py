"""Segmentations as decisions: at each character a word starts, or goes on, or nothing
is known.

Words, white space, a user's dictionary and flags per character all say the same kind of
thing; here they become one array over the characters of a corpus that are not white
space. Flags are given for every character of a text: True (a word starts here), False
(it goes on) or None (not known); white space needs a flag to be counted, which is not
looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .._core.codes import FREE, INSIDE, START
from .._data.inputs import (
    PLACE,
    PlaceError,
    as_sequences,
    describe,
    flatten,
    lengths_of,
    offsets_of,
)
from .._data.partial_words import PartialWords, stretches_of
from .._data.segmented import as_words, partly_segmented
from .._data.text import as_texts
from ..features.contexts import find_words

if TYPE_CHECKING:
    from .._data.types import Corpus, Texts

Pieces: TypeAlias = Sequence[Sequence[str]]
"""Texts, each cut at its white space."""

Boundaries: TypeAlias = Collection[Collection[bool | None] | None] | None
"""For each text its flags, or None."""

_FLAG_TYPES = (bool, np.bool_, type(None))


def offsets_of_texts(pieces: Pieces) -> np.ndarray:
    """Return where each text starts, white space left out: (n + 1,) int64."""
    return offsets_of(
        np.fromiter((sum(map(len, parts)) for parts in pieces), np.int64, len(pieces))
    )


def decisions_of_words(
    words: Collection[Collection[str]], otherwise: int = INSIDE
) -> np.ndarray:
    """Write words as decisions.

    Parameters
    ----------
    words : list of lists of str
    otherwise : int
        The decision where no word starts.

    Returns
    -------
    ndarray of shape (N,), int8
        START where a word starts; texts one behind the other.
    """
    sizes = offsets_of(lengths_of(flatten(words)))
    out = np.full(int(sizes[-1]), otherwise, np.int8)
    out[sizes[:-1]] = START
    return out


def white_space_limits(pieces: Pieces) -> np.ndarray:
    """Write white space as decisions: START behind it and at the start of a text, else
    FREE; (N,) int8.
    """
    return decisions_of_words(pieces, FREE)


def as_gold(
    X: Texts, pieces: Pieces, y: Corpus
) -> tuple[list[np.ndarray], list[list[str] | None]]:
    """Check what is known of the segmentation of each text.

    Parameters
    ----------
    X : container of str
    pieces : list of lists of str
        From `as_pieces`.
    y : list of lists of words, or of flags (see the module), in any mixture

    Returns
    -------
    gold : list of ndarray, int8
        Per text its decisions.
    words : list of lists of str
        Words of the texts that have them; None for a text with flags.

    Raises
    ------
    ValueError
        If ``y`` is not as described or contradicts the texts; the message names the
        place.
    """
    if y is None:
        raise ValueError("y must be a list of lists of words, got None")
    given: list[Any] = as_sequences(y, "y", "word")
    for i in partly_segmented(y):
        text = X[i] if i < len(pieces) else None  # type: ignore[index]
        given[i] = _flags_of(i, given[i], text)
    flagged = [
        i
        for i, items in enumerate(given)
        if len(items) and isinstance(items[0], _FLAG_TYPES)
    ]
    checked = list(given)
    for i in flagged:  # words that pass; if X is shorter, none do
        checked[i] = pieces[i] if i < len(pieces) else ()
    found, tags = as_words(pieces, checked)
    if tags is not None:
        i = next(
            i for i, items in enumerate(checked) if len(items) and i not in set(flagged)
        )
        raise PlaceError(
            i,
            0,
            f"expected a word, a str, got {describe(checked[i][0])}; WordSegmenter "
            "learns no tags",
            "y",
        )
    gold = [decisions_of_words([items]) for items in found]
    words: list[Any] = found
    texts = as_texts(X)
    for i in flagged:
        gold[i] = _decisions_of_flags("y", i, texts[i], given[i])
        words[i] = None
    return gold, words


def _flags_of(i: int, row: list[Any], text: str | None) -> list[bool | None]:
    """Write a text that is partly segmented as flags; without its text those of its
    characters alone.
    """
    stretches = stretches_of(PartialWords(row), i)
    if any(each.tags for each in stretches):
        raise PlaceError(i, None, "has tags; WordSegmenter learns none", "y")
    spelling = "".join(each.text for each in stretches)
    if text is None:
        text = spelling
    if "".join(text.split()) != spelling:
        wrong = f"the words must spell the text {text!r:.40}, got {spelling!r:.40}"
        raise PlaceError(i, None, wrong, "y")
    flags: list[bool | None] = []
    for each in stretches:
        start: bool | None = True
        for part in each.parts:
            flags += [start, *[False] * (len(part) - 1)]
            start = None
    of_characters = iter(flags)
    return [None if each.isspace() else next(of_characters) for each in text]


def as_limits(
    X: Texts,
    pieces: Pieces,
    boundaries: Boundaries = None,
    dictionary: list[str] | None = None,
) -> np.ndarray:
    """List the decisions that prediction must take, from white space, flags and a
    dictionary.

    Parameters
    ----------
    X : container of str
    pieces : list of lists of str
        From `as_pieces`.
    boundaries : list of (None or flags), optional
        See the module.
    dictionary : list of str, optional
        From `as_dictionary`. A match that contradicts the flags does not count.

    Returns
    -------
    ndarray of shape (N,), int8
        START, INSIDE or FREE.

    Raises
    ------
    ValueError
        If ``boundaries`` is not as described or contradicts the texts; the message
        names the place.
    """
    limit = white_space_limits(pieces)
    if boundaries is not None:
        checked = _as_boundaries(boundaries, len(pieces))
        texts = as_texts(X)
        offsets = offsets_of_texts(pieces)
        for i, flags in enumerate(checked):
            if flags is not None:
                decisions = _decisions_of_flags("boundaries", i, texts[i], flags)
                limit[offsets[i] : offsets[i + 1]] = decisions
    if dictionary:
        _add_matches(limit, find_words(pieces, dictionary))
    return limit


def _as_boundaries(boundaries: Any, n: int) -> list[Any]:
    if isinstance(boundaries, (str, dict)) or not hasattr(boundaries, "__len__"):
        raise ValueError(
            "boundaries must be a list with flags for each text, got "
            f"{describe(boundaries)}"
        )
    boundaries = list(boundaries)
    if len(boundaries) != n:
        raise ValueError(
            f"boundaries must hold as many items as X, got {len(boundaries)} and {n}"
        )
    for i, flags in enumerate(boundaries):
        if flags is not None and not isinstance(flags, (list, tuple, np.ndarray)):
            wrong = f"{PLACE} must be None or a list of flags, got {describe(flags)}"
            raise PlaceError(i, None, wrong, "boundaries")
    return boundaries


def _decisions_of_flags(
    name: str, i: int, text: str, flags: Collection[bool | None]
) -> np.ndarray:
    """Write the flags of text i as decisions; START where white space, or the start of
    the text, says so. Errors speak of ``name``.
    """
    if len(flags) != len(text):
        raise PlaceError(
            i,
            None,
            f"expected one flag for each of the {len(text)} characters of the text, "
            f"got {len(flags)}",
            name,
        )
    out = []
    after_space = True
    for t, (character, flag) in enumerate(zip(text, flags)):
        if not isinstance(flag, _FLAG_TYPES):
            raise PlaceError(
                i, t, f"a flag must be True, False or None, got {describe(flag)}", name
            )
        if character.isspace():
            after_space = True
            continue
        if after_space and flag is not None and not flag:
            wrong = (
                "False, but a word starts at the start of a text and after white space"
            )
            raise PlaceError(i, t, wrong, name)
        if after_space or flag:
            out.append(START)
        else:
            out.append(FREE if flag is None else INSIDE)
        after_space = False
    return np.array(out, np.int8)


def _add_matches(limit: np.ndarray, marks: np.ndarray) -> None:
    """Make words of the matches of a dictionary; ``marks`` (N,) as `find_words` returns
    them.
    """
    begins = np.flatnonzero((marks == 1) | (marks == 4))
    ends = np.flatnonzero((marks == 3) | (marks == 4)) + 1  # behind the last character
    wanted = np.full(limit.shape[0] + 1, FREE, np.int8)
    wanted[:-1][(marks == 2) | (marks == 3)] = INSIDE
    wanted[begins] = wanted[ends] = START
    given = np.append(limit, START)
    clash = np.append(
        0, np.cumsum((given != FREE) & (wanted != FREE) & (given != wanted))
    )
    for begin, end in zip(begins.tolist(), ends.tolist()):
        if clash[end + 1] == clash[begin]:
            given[begin : end + 1] = [START] + [INSIDE] * (end - begin - 1) + [START]
    limit[:] = given[:-1]
