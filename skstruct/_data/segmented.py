"""Segmented text: texts cut at white space, words checked against them, labels turned
into words.

A text is the list of its *pieces*, what ``str.split`` makes of it. White space thereby
separates words, belongs to none, and is never seen by a tagger; a segmentation is right
in form if its words spell the pieces and none reaches from one into the next.

`words_to_labels` of `skstruct._data.schemes` leads on to labels; `cut` leads back for a
whole corpus at once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from .elements import elements, exact, exact_strings
from .inputs import (
    NothingToLearn,
    PlaceError,
    as_sequences,
    by_sequence,
    describe,
    flatten,
    lengths_of,
    offsets_of,
    place,
    renumbered,
    take,
)
from .labels import some_of
from .partial_words import PartialWords, Stretch, at_white_space, stretches_of
from .places import as_objects, numbered
from .scheme_rules import CLOSING, OPENING, SPELLINGS, LabelTable
from .text import as_texts, codes_of

if TYPE_CHECKING:
    from .scheme_rules import Parsed


STARTING_WORD = (*OPENING, "O")
"""Prefixes of labels that start a word wherever they stand."""

ENDING_WORD = (*CLOSING, "O")
"""Prefixes of labels after which a word starts."""

# By mark (O, B, I, E, S): whether a word of a dictionary begins, goes on, ends.
_BEGINS = np.array([False, True, False, False, True])
_INNER = np.array([False, False, True, True, False])
_ENDS = np.array([False, False, False, True, True])


# --------------------------------------------------------------------------------------
# Texts and words, checked
# --------------------------------------------------------------------------------------
def as_pieces(X: Any) -> list[list[str]]:
    """Return each text cut at its white space: a list of lists of str; [] for an empty
    text.

    Raises
    ------
    ValueError
        If ``X`` is not a list of str; the message names the sequence.
    """
    hint = ": Segmenter takes text, not a list of characters; use ''.join(characters)"
    return [text.split() for text in as_texts(X, hint=hint)]


def with_characters(pieces: list[list[str]]) -> list[int]:
    """Return positions of the texts, cut by :func:`as_pieces`, that are not empty; an
    error if there is none.
    """
    found = [i for i, parts in enumerate(pieces) if parts]
    if not pieces:
        raise NothingToLearn("X is empty: at least one text is needed")
    if not found:
        raise NothingToLearn(
            "X holds no character: at least one text that is not empty is needed"
        )
    return found


def as_words(
    pieces: Sequence[Sequence[str]], y: Any
) -> tuple[list[list[str]], list[list[str]] | None]:
    """Return words and tags of each text.

    Parameters
    ----------
    pieces : list of lists of str
        The texts, from `as_pieces`.
    y : list of lists of words, or of (word, tag)

    Returns
    -------
    words : list of sequences of str
    tags : list of sequences of str, or None if ``y`` has none

    Raises
    ------
    ValueError
        If ``y`` is not as described or does not spell the texts; the message names the
        place.
    """
    partly = partly_segmented(y)
    if partly:
        wrong = "is partly segmented, PartialWords, and whole words are needed here"
        raise PlaceError(partly[0], None, wrong, "y")
    y = as_sequences(y, "y", "word")
    _check_number(pieces, y)
    flat = flatten(y)
    offsets = offsets_of(lengths_of(y))
    tagged = bool(flat) and isinstance(flat[0], (tuple, list))
    columns: Any = [flat]
    if tagged:
        pairs = set(map(type, flat)) <= {tuple, list} and set(map(len, flat)) == {2}
        columns = list(zip(*flat)) if pairs else None
    if not columns or any(
        set(map(type, column)) - {str} or "" in column for column in columns
    ):
        _refuse_items(flat, offsets, tagged)
        columns = [
            list(map(exact, column)) for column in (zip(*flat) if tagged else columns)
        ]
    words, *tags = (by_sequence(column, offsets) for column in columns)
    for i, (parts, spelling) in enumerate(zip(pieces, words)):
        if "".join(parts) != "".join(spelling):
            _refuse_spelling(i, "".join(parts), spelling)
        if len(parts) > 1:
            _check_white_space(i, parts, spelling)
    return words, tags[0] if tags else None


def _check_number(pieces: Sequence[Any], y: Sequence[Any]) -> None:
    if len(y) != len(pieces):
        raise ValueError(
            f"X and y must hold the same number of sequences, got {len(pieces)} and "
            f"{len(y)}"
        )


def partly_segmented(y: Any) -> list[int]:
    """Return the numbers of the rows that are :class:`PartialWords`."""
    if isinstance(y, str) or not hasattr(y, "__len__"):
        return []
    return [i for i, row in enumerate(elements(y)) if isinstance(row, PartialWords)]


class KnownWords(NamedTuple):
    """The known words of texts."""

    words: list[list[str]]  # [] of texts that are partly segmented
    tags: list[list[str]] | None  # None if nothing has tags; [] as above
    stretches: dict[int, list[Stretch]]  # of those, by number


def as_known_words(pieces: Sequence[Sequence[str]], y: Any) -> KnownWords:
    """Return words, and of texts that are partly segmented stretches.

    Parameters
    ----------
    pieces : list of lists of str
        The texts, from `as_pieces`.
    y : list of lists of words, or of (word, tag), or of PartialWords

    Raises
    ------
    ValueError
        As `as_words`; also if whole texts have no tags and others have some.
    """
    partly = partly_segmented(y)
    if not partly:
        return KnownWords(*as_words(pieces, y), {})
    rows = list(elements(y))
    _check_number(pieces, rows)
    others = sorted(set(range(len(rows))).difference(partly))
    words: list[list[str]] = [[] for _ in rows]
    with renumbered(others):
        whole, tags = as_words(take(pieces, others), take(rows, others))
    for i, each in zip(others, whole):
        words[i] = each
    stretches = {}
    for i in partly:
        stretches[i] = at_white_space(stretches_of(rows[i], i), pieces[i])
        with renumbered([i]):
            as_words([pieces[i]], [[stretch.text for stretch in stretches[i]]])
    tagged = [i for i in partly if any(each.tags for each in stretches[i])]
    if tags is None and not tagged:
        return KnownWords(words, None, stretches)
    if tags is None and any(words):
        wrong = "has tags, and the words of texts that are segmented have none"
        raise PlaceError(tagged[0], None, wrong, "y")
    of_words: list[list[str]] = [[] for _ in rows]
    for i, line in zip(others, tags or ()):
        of_words[i] = line
    return KnownWords(words, of_words, stretches)


def _refuse_items(flat: list[Any], offsets: np.ndarray, tagged: bool) -> None:
    """Raise for the first item that is no word or, if ``tagged``, no (word, tag)."""
    for k, item in enumerate(flat):
        if not (
            isinstance(item, (tuple, list)) and len(item) == 2
            if tagged
            else isinstance(item, str)
        ):
            wrong = (
                "expected a (word, tag) pair" if tagged else "expected a word, a str"
            )
            wrong += ", as before" if k else ""
        else:
            parts = zip(("word", "tag"), item if tagged else [item])
            empty = [
                what for what, part in parts if not (isinstance(part, str) and part)
            ]
            if not empty:
                continue
            wrong = f"the {empty[-1]} must be a str, and not empty"
        raise PlaceError(*place(offsets, k), f"{wrong}, got {describe(item)}", "y")


def _refuse_spelling(i: int, text: str, words: list[str]) -> NoReturn:
    """Raise for the first word that is not what the text, without its white space, goes
    on with.
    """
    start = 0
    for t, word in enumerate(words):
        if word.split() != [word]:
            raise PlaceError(
                i, t, f"a word must not hold white space, got {word!r}", "y"
            )
        if not text.startswith(word, start):
            rest = text[start : start + max(10, len(word))]
            goes_on = f"goes on with {rest!r}" if rest else "has ended"
            raise PlaceError(
                i,
                t,
                f"the words must spell the text, which {goes_on}, got {word!r}",
                "y",
            )
        start += len(word)
    rest = f"{text[start : start + 10]!r} after the last word"
    raise PlaceError(
        i, len(words), f"the words must spell the text, which goes on with {rest}", "y"
    )


def _check_white_space(i: int, parts: Sequence[str], words: list[str]) -> None:
    """Raise if a word spans the white space between two pieces of a text."""
    stops = list(accumulate(map(len, words)))
    crossed = set(accumulate(map(len, parts))).difference(stops)
    if crossed:
        t = int(np.searchsorted(stops, min(crossed)))
        wrong = (
            f"the text has white space inside of the word {words[t]!r}; white space "
            "always ends a word"
        )
        raise PlaceError(i, t, wrong, "y")


# --------------------------------------------------------------------------------------
# Words of a dictionary; `skstruct.features.contexts.find_words` finds them
# --------------------------------------------------------------------------------------
def as_dictionary(words: Any) -> list[str]:
    """Return the words of a user's dictionary as a list.

    Raises
    ------
    ValueError
        If they are no collection of str, or one is empty or holds white space.
    """
    if (
        isinstance(words, (str, bytes))
        or hasattr(words, "items")
        and not hasattr(words, "dtype")
    ):
        hint = (
            "; words have no weights, and tags where a Segmenter predicts some"
            if hasattr(words, "items")
            else "; use [word] for one word"
        )
        raise ValueError(
            f"dictionary must be a collection of words, got {describe(words)}{hint}"
        )
    try:
        words = list(words)
    except TypeError:
        raise ValueError(
            f"dictionary must be a collection of words, got {describe(words)}"
        ) from None
    for k, word in enumerate(words):
        if not isinstance(word, str) or word.split() != [word]:
            what = f"entry {k} must be a word, a str without white space"
            raise ValueError(f"dictionary: {what}, got {describe(word)}")
    return exact_strings(words)


Tags = dict[str, frozenset[str]]
"""Word of a dictionary -> the tags that it may have."""


def as_tag_dictionary(words: Mapping[Any, Any], known: Collection[str]) -> Tags:
    """Return the tags of the words of a user's dictionary; words without are left out.

    Parameters
    ----------
    words : mapping
        Word -> a tag, a collection of tags, or None for any.
    known : collection of str
        The tags that a model predicts; empty if it predicts none.

    Raises
    ------
    ValueError
        If a tag is none that the model knows.
    """
    found = {}
    for word, tags in words.items():
        if tags is None:
            continue
        several = (tags,) if isinstance(tags, str) else tags
        is_weight = not isinstance(several, (list, tuple, set, frozenset))
        if is_weight or not several or not all(isinstance(t, str) for t in several):
            raise ValueError(
                f"dictionary: the word {word!r} must have a tag, some tags, or None for "
                f"any; got {describe(tags)}"
            )
        if not known:
            raise ValueError(
                f"dictionary: the word {word!r} has tags, and the model predicts none; "
                "give a list of words"
            )
        for tag in several:
            if tag not in known:
                raise ValueError(
                    f"dictionary: {tag!r} of the word {word!r} is no tag of the model; "
                    f"known are {some_of(sorted(known))}"
                )
        found[exact(word)] = frozenset(several)
    return found


def with_tags_of(line: list[Any], tags: Tags) -> list[Any]:
    """Return (word, tag) pairs in which words of a dictionary have tags that it gives
    them.

    A search that knows labels for them has found these; for others the first tag in
    alphabetical order is taken.
    """
    return [
        (word, min(tags[word]))
        if word in tags and tag not in tags[word]
        else (word, tag)
        for word, tag in line
    ]


# --------------------------------------------------------------------------------------
# Labels to words
# --------------------------------------------------------------------------------------
def words_at(text: str, start: np.ndarray, offsets: np.ndarray) -> list[list[str]]:
    """Return texts cut into words.

    Parameters
    ----------
    text : str
        Texts that are not empty, one behind the other, without white space.
    start : ndarray of shape (T,), bool
        Whether a word starts at the character; one does at the first of each text.
    offsets : ndarray of shape (n + 1,), int64
        Where each text starts.

    Returns
    -------
    list of lists of str
    """
    # One separator before each word, another before each text, and str.split makes the
    # words: three times as fast as slicing them off one by one. No text holds white
    # space, so both are unambiguous.
    codes = codes_of(text)
    place_of = np.arange(len(text)) + np.cumsum(
        start
    )  # (T,) of each character among the separators
    spaced = np.full(len(text) + np.count_nonzero(start), ord(" "), np.uint32)
    spaced[place_of] = codes
    spaced[place_of[offsets[:-1]] - 1] = ord("\n")
    lines = spaced[1:].tobytes().decode("utf-32-le", "surrogatepass").split("\n")
    return [line.split(" ") for line in lines]


def word_spans(items: Iterable[Any]) -> list[tuple[int, int, str, str]]:
    """(start, stop, word, tag) of words, or of (word, tag) pairs, that spell a text; ""
    without tags.
    """
    pairs = [(item, "") if isinstance(item, str) else item for item in items]
    stops = accumulate(len(word) for word, _ in pairs)
    return [
        (stop - len(word), stop, word, tag) for stop, (word, tag) in zip(stops, pairs)
    ]


def cut(
    pieces: list[list[str]],
    labels: list[list[str]],
    scheme: str,
    tagged: bool,
    marks: np.ndarray | None = None,
) -> list[list[Any]]:
    """Cut texts where their labels, or white space, say so.

    Text by text this is `skstruct._data.schemes.labels_to_words`, white space aside;
    here the corpus is one array of labels, cut at once.

    Parameters
    ----------
    pieces : list of lists of str
        Texts that are not empty, from `as_pieces`.
    labels : list of lists of str
        One label for each character that is not white space, in any order.
    scheme : str
    tagged : bool
        Whether to return (word, tag); a word's tag is the type of its first label.
    marks : ndarray of shape (T,), uint8, optional
        From `find_words`: what is found is a word, whatever the labels say.

    Returns
    -------
    list of lists of words, or of (word, tag)
    """
    text = "".join(chain.from_iterable(pieces))
    offsets = offsets_of(lengths_of(labels))  # of the texts, in characters
    flat, ids = numbered(flatten(labels))
    parsed = LabelTable(scheme).parse(ids)
    opens = np.array([prefix in STARTING_WORD for prefix, _ in parsed], np.bool_)
    closes = np.array([prefix in ENDING_WORD for prefix, _ in parsed], np.bool_)
    start = opens[flat]  # (T,) whether a word starts at the character
    start[1:] |= closes[flat[:-1]]
    if marks is not None:
        begins = _BEGINS[marks]
        inner = _INNER[marks]
        ends = _ENDS[marks]
        start = (start | begins) & ~inner
        start[1:] |= ends[:-1]
    start[offsets_of(lengths_of(flatten(pieces)))[:-1]] = True
    words = words_at(text, start, offsets)
    if not tagged:
        return words
    kinds = np.array([kind for _, kind in parsed], dtype=object)
    tags = iter(kinds[flat[start]].tolist())
    return [list(zip(line, tags)) for line in words]


def label_options(
    pieces: list[list[str]],
    classes: list[str],
    scheme: str,
    marks: np.ndarray | None = None,
    tags: Tags | None = None,
) -> list[list[frozenset[str] | None]] | None:
    """For each character the labels that white space beside it, or a word of a
    dictionary, leaves.

    Parameters
    ----------
    pieces : list of lists of str
        Texts, from `as_pieces`.
    classes : list of str
        The labels there are.
    scheme : str
    marks : ndarray of shape (T,), uint8, optional
        From `find_words`.
    tags : dict, optional
        Those that words of the dictionary may have.

    Returns
    -------
    list of lists, or None
        Elements are frozensets of labels, or None for any label. A word of a dictionary
        that no tag has all labels for leaves those that begin and end any words. The
        whole is None where nothing is to be said: no text has white space inside or a
        word of the dictionary, or the scheme's label for words of one character was
        never seen, so that some texts would be left without labelling.
    """
    parts = flatten(pieces)
    sizes = offsets_of(lengths_of(parts))
    T = int(sizes[-1])
    marks = np.zeros(T, np.uint8) if marks is None else marks
    if lengths_of(pieces).max(initial=0) < 2 and not marks.any():
        return None
    parsed = list(zip(classes, LabelTable(scheme).parse(classes)))
    opening = frozenset(
        label for label, (prefix, _) in parsed if prefix in STARTING_WORD
    )
    closing = frozenset(label for label, (prefix, _) in parsed if prefix in ENDING_WORD)
    if scheme == "BI":  # every label may end a word
        closing = frozenset(classes)
    if not opening & closing:
        return None
    first = np.zeros(T + 1, np.bool_)
    last = np.zeros(T + 1, np.bool_)
    first[sizes[:-1]] = last[sizes[1:] - 1] = True
    begins = np.flatnonzero(_BEGINS[marks])
    ends = np.flatnonzero(_ENDS[marks])
    first[begins] = first[ends + 1] = True
    last[ends] = last[begins - 1] = (
        True  # before the first character is the spare place at the end
    )
    choice = first[:T] + 2 * last[:T]
    choices = [None, opening, closing, opening & closing]
    lengths = ends - begins + 1
    for n in np.unique(lengths).tolist():
        for k, labels in enumerate(_labels_of(n, parsed, scheme)):
            choice[begins[lengths == n] + k] = len(choices)
            choices.append(labels)
    flat = as_objects(choices)[choice].tolist()
    text = "".join(parts) if tags else ""
    for begin, end in zip(begins.tolist(), ends.tolist()) if tags else ():
        of_word = (tags or {}).get(text[begin : end + 1])
        if of_word is not None:
            n = end + 1 - begin
            for k, some in enumerate(_labels_of(n, parsed, scheme, of_word)):
                flat[begin + k] = some
    # A text with one piece and no word of the dictionary is left alone.
    offsets = offsets_of(np.array([sum(map(len, text)) for text in pieces]))
    marked = np.diff(np.append(0, np.cumsum(marks > 0))[offsets])
    busy = marked + lengths_of(pieces) > 1
    bounds = offsets.tolist()
    return [
        flat[a:b] if one else [None] * (b - a)
        for a, b, one in zip(bounds, bounds[1:], busy.tolist())
    ]


def _labels_of(
    n: int,
    parsed: list[tuple[str, Parsed]],
    scheme: str,
    tags: Collection[str] | None = None,
) -> list[frozenset[str]]:
    """For each character of a word of n characters its labels; of those tags that have
    all of them, which are given, or of all.
    """
    spelled = SPELLINGS[scheme].spell(n)
    prefixes: dict[str, set[str]] = {}  # tag -> its prefixes
    for _, (prefix, kind) in parsed:
        if tags is None or kind in tags:
            prefixes.setdefault(kind, set()).add(prefix)
    whole = {kind for kind, known in prefixes.items() if known.issuperset(spelled)}
    if not whole:
        return []
    return [
        frozenset(label for label, (p, kind) in parsed if p == q and kind in whole)
        for q in spelled
    ]
