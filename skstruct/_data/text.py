"""Raw texts and their tokens: where each begins and ends, and which white space is
before it.

Texts are joined by line feeds, and all tokens of a corpus are found at once, by the
class of each code point. Offsets count code points of the text as it is; only the words
that a tagger reads are normalised (NFC).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache, partial
from itertools import pairwise
from operator import index
from typing import Any, NamedTuple

import numpy as np

from .elements import cells_of, elements, exact_strings, opened
from .inputs import PlaceError, describe, flatten, lengths_of, offsets_of, place
from .places import by_sequence, is_sequence
from .shared import Kept, SharedTexts
from .suggestions import meant

TOKENIZERS = ("words", "characters")

NOTHING, ONE_SPACE, LINE, PARAGRAPH = range(4)
"""The space before a token: nothing, a space, a line break, a blank line or the start
of the text.
"""

SPACE, BREAK, LETTER, DIGIT, SINGLE, SYMBOL, OTHER, ALONE, REGIONAL, MARK, JOINER = (
    range(1, 12)
)
"""Classes of code points.

SPACE and BREAK are in no token; MARK and JOINER belong to what they follow.
"""

_RUNS = np.isin(
    range(12), (LETTER, DIGIT)
)  # by class: whether neighbours are one token
_REPEATS = np.isin(range(12), (SYMBOL, OTHER))  # whether equal neighbours are
_WITHOUT_SPACES = tuple(
    "CJK|IDEOGRAPHIC|VERTICAL IDEOGRAPHIC|HIRAGANA|KATAKANA|HALFWIDTH "
    "KATAKANA|THAI|LAO|KHMER|MYANMAR|"
    "TIBETAN|HANGUL|HALFWIDTH HANGUL".split("|")
)
"""Beginnings of the Unicode names of letters that are tokens by themselves: scripts
without spaces, and Hangul.
"""

_ZERO_WIDTH_JOINER = 0x200D
_FAR = 2**60  # beyond any text
_classes = np.zeros(0x110000, np.uint8)  # by code point; 0: not looked up yet


class TextToken(NamedTuple):
    """A token of a text, and its layout.

    Attributes
    ----------
    word : str
        In Unicode's normal form C.
    before : str
        What is before it: "0" nothing, "1" a space, "2" a line break, "3" a blank line,
        or the start of the text.
    """

    word: str
    before: str


class Tokens(NamedTuple):
    """The tokens of n texts; places count code points of the texts joined by line
    feeds.
    """

    text: str  # the texts, joined
    offset: np.ndarray  # (n + 1,) int64: where each text begins
    start: np.ndarray  # (N,) int64: where each token begins
    end: np.ndarray  # (N,) int64
    first: np.ndarray  # (n + 1,) int64: first token of each text
    before: np.ndarray  # (N,) uint8: NOTHING ... PARAGRAPH
    # What was made of them for one reader, and the next one needs too; None if nothing
    # is kept.
    kept: Kept | None = None

    def pairs(self) -> list[list[tuple[int, int]]]:
        """For each text its tokens as (start, end)."""
        of_text = np.repeat(self.offset[:-1], np.diff(self.first))
        flat = list(zip((self.start - of_text).tolist(), (self.end - of_text).tolist()))
        return by_sequence(flat, self.first)

    def words(self, layout: bool) -> list[Any]:
        """List tokens: TextToken, or str without layout; equal ones are one object."""
        words = [self.text[a:b] for a, b in zip(self.start.tolist(), self.end.tolist())]
        if not unicodedata.is_normalized("NFC", self.text):
            words = list(map(cache(partial(unicodedata.normalize, "NFC")), words))
        if not layout:
            same: dict[str, str] = {}
            return list(map(same.setdefault, words, words))
        before = np.array(list("0123"), object)[self.before].tolist()
        return list(map(cache(TextToken), words, before))


# --------------------------------------------------------------------------------------
# Texts
# --------------------------------------------------------------------------------------
def as_texts(X: Any, name: str = "X", hint: str = "") -> list[str]:
    """Return the texts in ``X`` as a list of str.

    Parameters
    ----------
    X : list, tuple, array or Series of str, or a data frame with one column of them
    name : str
        What errors call the argument.
    hint : str
        What they say where a list is found in place of a text.

    Raises
    ------
    ValueError
        If ``X`` is not a list of str; the message names the sequence.
    """
    if isinstance(X, SharedTexts):
        return X
    cells = cells_of(X, (str,))
    X = opened(X if cells is None else cells, name=name)
    if not is_sequence(X) or getattr(X, "ndim", 1) != 1:
        advice = "; use [text] for one text" if isinstance(X, str) else ""
        advice += (
            "; a generator can be read only once, use list(...)"
            if hasattr(X, "__next__")
            else ""
        )
        raise ValueError(f"{name} must be a list of texts, got {describe(X)}{advice}")
    texts = list(elements(X))
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            hint = hint if isinstance(text, (list, tuple, np.ndarray)) else ""
            raise PlaceError(
                i, None, f"expected a text (str), got {describe(text)}{hint}", name
            )
    return exact_strings(texts)


def joined(texts: list[str]) -> tuple[str, np.ndarray]:
    """Return the texts joined by line feeds, and where each begins, (n + 1,) int64."""
    return "\n".join(texts), offsets_of(lengths_of(texts) + 1)


def codes_of(text: str) -> np.ndarray:
    """Return code points, (T,) uint32."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def classes_of(codes: np.ndarray) -> np.ndarray:
    """Return the class of each code point, (T,) uint8: SPACE ... JOINER."""
    found = _classes[codes]
    if not found.all():
        for code in np.unique(codes[found == 0]).tolist():
            _classes[code] = _class(chr(code))
        found = _classes[codes]
    return found


def is_white_space(text: str) -> bool:
    """Tell whether a text holds no token."""
    return all(char.isspace() or char in "\u200b\ufeff" for char in text)


def _class(char: str) -> int:
    code = ord(char)
    category = unicodedata.category(char)
    if len(f"a{char}a".splitlines()) > 1:
        return BREAK
    if is_white_space(char):
        return SPACE
    if code == _ZERO_WIDTH_JOINER:
        return JOINER
    # Variation selectors, accents, skin colours, and the vowels and finals of Hangul
    # syllables
    if (
        category[0] == "M"
        or category == "Cf"
        or 0x1F3FB <= code <= 0x1F3FF
        or 0x1160 <= code <= 0x11FF
    ):
        return MARK
    if 0x1F1E6 <= code <= 0x1F1FF:
        return REGIONAL
    if category[0] == "L":
        return (
            SINGLE if unicodedata.name(char, "").startswith(_WITHOUT_SPACES) else LETTER
        )
    if category[0] == "N":
        return DIGIT
    if category in ("Ps", "Pe", "Pi", "Pf") or char in "\"'`":
        return ALONE
    return SYMBOL if category[0] == "S" else OTHER


AT_ONCE = 1_000_000
"""Characters of texts that are read at once: memory does not grow with the corpus."""


def groups_of(texts: list[str]) -> list[tuple[int, int]]:
    """Return (first, stop) of texts in a row, of about `AT_ONCE` characters each."""
    group = np.cumsum(lengths_of(texts)) // AT_ONCE
    stops = (np.flatnonzero(np.diff(group)) + 1).tolist()
    return [*pairwise([0, *stops, len(texts)])] if texts else []


# --------------------------------------------------------------------------------------
# Tokens
# --------------------------------------------------------------------------------------
def check_tokenizer(tokenizer: str | Callable[[str], Iterable[Any]]) -> None:
    """Raise unless ``tokenizer`` is one."""
    wrong = ""
    if isinstance(tokenizer, re.Pattern):
        wrong = f"; write its pattern, {tokenizer.pattern!r}"
    elif isinstance(tokenizer, str) and tokenizer not in TOKENIZERS:
        if tokenizer.isalpha():  # a pattern that finds nothing but this word
            wrong = meant(tokenizer, TOKENIZERS) or " (a word, and no pattern)"
        try:
            re.compile(tokenizer)
        except re.error as error:
            wrong = f" ({error})"
    if wrong or not (isinstance(tokenizer, str) or callable(tokenizer)):
        known = '"words", "characters", a regular expression or a function'
        raise ValueError(f"tokenizer must be {known}, got {tokenizer!r}{wrong}")


def tokenized(
    texts: list[str], tokenizer: str | Callable[[str], Iterable[Any]] = "words"
) -> Tokens:
    """Return the :class:`Tokens` of texts, from :func:`as_texts`.

    Parameters
    ----------
    texts : list of str
    tokenizer : "words", "characters", str or callable
        See ``chain.span_tagger.SpanTagger``.

    Raises
    ------
    ValueError
        If a function gives what are no tokens; the message names sequence and token.
    """
    if not isinstance(texts, SharedTexts):
        return _tokenized(texts, tokenizer)
    kept = texts.kept
    return kept.get(
        tokenizer, lambda: _tokenized(texts, tokenizer)._replace(kept=Kept())
    )


def _tokenized(
    texts: list[str], tokenizer: str | Callable[[str], Iterable[Any]]
) -> Tokens:
    text, offset = joined(texts)
    codes = codes_of(text)
    kinds = classes_of(codes)
    if tokenizer == "words":
        start, end = _words(codes, kinds)
    elif tokenizer == "characters":
        start = np.flatnonzero(kinds > BREAK)
        end = start + 1
    else:
        start, end = _given(texts, offset, tokenizer)
    first = np.searchsorted(start, offset)
    return Tokens(
        text, offset, start, end, first, _before(codes, kinds, start, end, first)
    )


def _words(codes: np.ndarray, kinds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where words begin and end."""
    space = kinds <= BREAK
    mark = kinds >= MARK
    mark[:1] = False
    mark[1:] &= ~space[:-1]  # a mark behind white space follows nothing, and is a token
    at = np.flatnonzero(~mark)
    kind = kinds[at]
    code = codes[at]
    same = kind[1:] == kind[:-1]
    now = kind[1:]
    by_joiner = (now == SYMBOL) & (codes[at[1:] - 1] == _ZERO_WIDTH_JOINER)
    inside = np.zeros(len(at), np.bool_)
    inside[1:] = same & (
        _RUNS[now] | _REPEATS[now] & (code[1:] == code[:-1]) | by_joiner
    )
    flags = np.flatnonzero(kind == REGIONAL)
    if flags.size:  # two by two, counted from the first of a run
        count = np.arange(len(flags))
        opens = np.diff(flags, prepend=-2) > 1
        inside[
            flags[(count - np.maximum.accumulate(np.where(opens, count, 0))) % 2 == 1]
        ] = True
    bounds = at[~inside]
    word = ~space[bounds]
    return bounds[word], np.append(bounds[1:], len(codes))[word]


def _before(
    codes: np.ndarray,
    kinds: np.ndarray,
    start: np.ndarray,
    end: np.ndarray,
    first: np.ndarray,
) -> np.ndarray:
    """Return what is before each token."""
    out = np.full(len(start), PARAGRAPH, np.uint8)
    feed = kinds == BREAK
    feed[1:] &= (codes[1:] != ord("\n")) | (codes[:-1] != ord("\r"))
    breaks, spaces = (
        np.append(0, np.cumsum(each, dtype=np.int32)) for each in (feed, kinds <= BREAK)
    )
    n_breaks = breaks[start[1:]] - breaks[end[:-1]]
    some = spaces[start[1:]] > spaces[end[:-1]]
    out[1:] = np.where(n_breaks > 0, np.minimum(n_breaks + 1, PARAGRAPH), some)
    out[first[:-1][np.diff(first) > 0]] = PARAGRAPH
    return out


def _given(
    texts: list[str],
    offset: np.ndarray,
    tokenizer: str | Callable[[str], Iterable[Any]],
) -> tuple[np.ndarray, np.ndarray]:
    """Return where tokens of a regular expression, or of a function, begin and end."""
    if isinstance(tokenizer, str):
        pattern = re.compile(tokenizer)
        found = [[match.span() for match in pattern.finditer(text)] for text in texts]
    else:
        found = [_located(tokenizer(text), text, i) for i, text in enumerate(texts)]
    lengths = lengths_of(found)
    pairs = np.array(flatten(found), np.int64).reshape(-1, 2)
    sizes = np.repeat(np.diff(offset) - 1, lengths)
    start, end = pairs.T
    behind = np.append(0, end[:-1])
    behind[offsets_of(lengths)[:-1][lengths > 0]] = 0
    problems = end <= start, (start < 0) | (end > sizes), start < behind
    wrong = np.flatnonzero(np.any(problems, axis=0))
    if wrong.size:
        i, t = place(offsets_of(lengths), wrong[0])
        faults = "is empty", "leaves the text", f"begins before token {t - 1} ends"
        text = next(text for text, bad in zip(faults, problems) if bad[wrong[0]])
        raise PlaceError(i, None, f"token {t}, {found[i][t]!r}, {text}", "tokenizer")
    of_text = np.repeat(offset[:-1], lengths)
    return start + of_text, end + of_text


def _located(tokens: Any, text: str, i: int) -> list[tuple[int, int]]:
    """Return the tokens of a function as (start, end); strings are found in the text,
    one behind the other.
    """
    if isinstance(tokens, str) or not hasattr(tokens, "__iter__"):
        wrong = f"expected a list of (start, end) or of str, got {describe(tokens)}"
        raise PlaceError(i, None, wrong, "tokenizer")
    pairs = []
    behind = 0
    for t, token in enumerate(tokens):
        if isinstance(token, str):
            start = text.find(token, behind)
            if start < 0:
                after = f" behind token {t - 1}" if t else ""
                wrong = f"token {t}, {token!r}, is not in the text{after}"
                hint = "return (start, end) pairs instead of strings"
                raise PlaceError(i, None, f"{wrong}; {hint}", "tokenizer")
            token = start, start + len(token)
            behind = token[1]
            if text[start:behind].isspace():
                continue
        try:
            start, end = token
            ends = [max(-1, min(index(edge), _FAR)) for edge in (start, end)]
            pairs.append((ends[0], ends[1]))
        except (TypeError, ValueError):
            wrong = f"token {t}: expected (start, end) or a str, got {describe(token)}"
            raise PlaceError(i, None, wrong, "tokenizer") from None
    return pairs
