"""Labelled spans of texts: texts in, (start, end, label) out.

Texts become tokens by the class of each code point, by a table that the model carries.
Tokens make pieces, each a sequence of its own. Offsets count code points.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import Any
from unicodedata import normalize

from .calls import Tagger
from .reading import PARTS, Cached, refuse
from .words import ranges

SPACE, BREAK, LETTER, DIGIT, SINGLE, SYMBOL, OTHER, ALONE, REGIONAL, MARK, JOINER = (
    range(1, 12)
)
LINE = 2
PARAGRAPH = 3
SENTENCE_ENDS = ".!?\u2026\u3002\uff01\uff1f\uff61\u061f\u06d4\u0964\u0965"
ZERO_WIDTH_JOINER = "\u200d"


class SpanTagger(Tagger):
    """Marks spans of texts."""

    holds = "texts"
    hint = "; use [text] for one text"

    def __init__(self, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        super().__init__(header, arrays)
        self.spans = header["spans"]
        bounds = list(accumulate(self.spans["bounds"]))
        classes = self.spans["classes"]
        self.class_of = Cached(lambda c: classes[bisect_right(bounds, ord(c)) - 1])

    def predict(  # type: ignore[override]  # no labels can be asked for in texts
        self, X: Any
    ) -> list[list[tuple[int, int, str]]]:
        """Return the spans (start, end, label) of each text, in order."""
        found: list[Any] = []
        for i, text in enumerate(self.sequences(X)):
            found.append([])
            for piece in self.pieces(text, i):
                path, _ = self.best_of([token for _, _, token in piece], i)
                found[-1] += [
                    (piece[a][0], piece[b - 1][1], label)
                    for a, b, label in self.chunks(path)
                ]
        return found

    def parts(self, text: Any, i: int) -> list[tuple[list[Any], None]]:
        """Return the tokens of each piece of a text."""
        return [
            ([token for _, _, token in piece], None) for piece in self.pieces(text, i)
        ]

    def chunks(self, path: list[int]) -> list[tuple[int, int, str]]:
        """Return (first token, token behind, label) of the segments that labels spell."""
        opens, closes, types = (
            self.spans[name] for name in ("opens", "closes", "types")
        )
        begins = [
            t
            for t, (before, y) in enumerate(zip([None, *path], path))
            if not t or opens[y] or closes[before] or types[y] != types[before]
        ]
        # The label None is that of a token in no span.
        return [
            (a, b, types[path[a]])
            for a, b in ranges(begins, path)
            if types[path[a]] is not None
        ]

    # -- tokens and pieces -------------------------------------------------------------
    def pieces(self, text: Any, i: int) -> list[list[tuple[int, int, Any]]]:
        """Return the pieces of a text, lists of (start, end, token) with all tokens
        that the model labels.
        """
        if not isinstance(text, str):
            refuse(i, None, f"expected a text (str), got {text!r}")
        kinds = [self.class_of[c] for c in text]
        if self.spans["tokenizer"] == "words":
            tokens = words_in(text, kinds)
        else:
            tokens = [(k, k + 1) for k, kind in enumerate(kinds) if kind > BREAK]
        before = layout_before(text, kinds, tokens)
        most = self.spans["max_length"]
        least = {"lines": LINE, "paragraphs": PARAGRAPH}.get(
            self.spans["pieces"], PARAGRAPH + 1
        )
        begins = [k for k, gap in enumerate(before) if not k or gap >= least]
        if most is not None:
            gaps = gaps_before(text, tokens, before)
            begins = [
                cut
                for a, b in ranges(begins, tokens)
                for cut in cuts_between(gaps, a, b, most)
            ]
        words: list[Any] = [normalize("NFC", text[start:end]) for start, end in tokens]
        if self.spans["layout"]:
            words = [(word, str(n)) for word, n in zip(words, before)]
        out = [(start, end, word) for (start, end), word in zip(tokens, words)]
        return [out[a:b] for a, b in ranges(begins, tokens)]


PARTS["spans"] = SpanTagger


def words_in(text: str, kinds: list[int]) -> list[tuple[int, int]]:
    """Tell where words begin and end.

    Runs of letters, runs of digits, and other characters one by one, equal ones
    together. Marks belong to what they follow, joiners join symbols, and regional
    indicators go in pairs.
    """
    starts = []
    previous = 0
    paired = False
    for k, kind in enumerate(kinds):
        if kind >= MARK and k and kinds[k - 1] > BREAK:
            continue
        inside = k > 0 and kind == kinds[previous]
        if kind in (SYMBOL, OTHER):
            joined = kind == SYMBOL and text[k - 1] == ZERO_WIDTH_JOINER
            inside = inside and (joined or text[k] == text[previous])
        elif kind not in (LETTER, DIGIT):
            inside = inside and kind == REGIONAL and not paired
        paired = inside
        previous = k
        if not inside:
            starts.append(k)
    return [(a, b) for a, b in ranges(starts, text) if kinds[a] > BREAK]


def layout_before(
    text: str, kinds: list[int], tokens: list[tuple[int, int]]
) -> list[int]:
    """Return what is before each token: 0 nothing, 1 a space, 2 a line break, 3 a blank
    line, or the text starts.
    """
    out = [PARAGRAPH] * len(tokens)
    for k in range(1, len(tokens)):
        between = range(tokens[k - 1][1], tokens[k][0])
        n_breaks = sum(
            kinds[j] == BREAK and text[j - 1 : j + 1] != "\r\n" for j in between
        )
        is_apart = any(kinds[j] <= BREAK for j in between)
        out[k] = min(n_breaks + 1, PARAGRAPH) if n_breaks else int(is_apart)
    return out


def gaps_before(
    text: str, tokens: list[tuple[int, int]], before: list[int]
) -> list[int]:
    """Tell how well a text can be cut before each token."""
    gaps = [2 * n for n in before]
    for k in range(1, len(tokens)):
        last = text[tokens[k - 1][1] - 1]
        if last in SENTENCE_ENDS and (gaps[k] or ord(last) > 127):  # "U.S." goes on
            gaps[k] = max(gaps[k], 3)  # better than a space, worse than a line break
    return gaps


def cuts_between(gaps: list[int], a: int, b: int, most: int) -> list[int]:
    """Tell where the pieces of the tokens a ... b - 1 begin: each ends at the largest
    gap of its second half.
    """
    out = [a]
    while b - a > most:
        window = range(a + most, a + max(1, most // 2) - 1, -1)
        a = max(window, key=gaps.__getitem__)
        out.append(a)
    return out


def write_spans(tagger: Any, file: Any, text: bool) -> Iterator[str]:
    """Yield records of JSON: the file is a text, or with ``text`` each of its lines."""
    for one in file if text else [file.read()]:
        one = one.rstrip("\r\n") if text else one
        spans = [
            {"start": a, "end": b, "label": label}
            for a, b, label in tagger.predict([one])[0]
        ]
        yield json.dumps({"text": one, "spans": spans}, ensure_ascii=False) + "\n"


PARTS["write_spans"] = write_spans
