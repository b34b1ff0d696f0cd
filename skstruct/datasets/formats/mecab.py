"""Output of MeCab: ``surface<tab>features``, and ``EOS`` behind each sentence.

The first feature is the part of speech. Words are found together with it: segmentation
and tagging in one.

References
----------
T. Kudo, K. Yamamoto and Y. Matsumoto, "Applying conditional random fields to Japanese
morphological analysis", EMNLP 2004.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .entry import NO, Evidence, TokenOptions, WordFormat
from .head import Head
from .text_files import numbered_lines

END = "EOS"


class Mecab(WordFormat):
    """The entry of the table."""

    name = "mecab"
    description = "output of MeCab: surface, tab, features; EOS behind a sentence"
    lines_are_text = False

    def recognise(self, head: Head) -> Evidence:
        """Lines are a surface, a tab and features between commas, or EOS."""
        if not head.lines or head.is_json:
            return NO
        rows = [line for line in head.lines if line != END]
        ends = len(head.lines) - len(rows)
        featured = sum(_parts(line) is not None for line in rows)
        seen = f"{featured} lines are SURFACE<tab>FEATURES, and {ends} are {END}"
        if not rows or featured < 0.9 * len(rows):
            return Evidence(0.0, seen)
        return Evidence(0.9 if ends else 0.3, seen)

    def words(self, file: Any, options: TokenOptions) -> Iterator[tuple[int, list]]:
        """Yield (number, (word, part of speech) pairs) of each sentence."""
        with numbered_lines(file, options.encoding) as (name, lines):
            words: list[tuple[str, str]] = []
            number = 0
            for number, line in lines:
                if line == END:
                    yield number, words
                    words = []
                    continue
                if not line:
                    continue
                parts = _parts(line)
                if parts is None:
                    raise ValueError(
                        f"{name}, line {number}: expected SURFACE<tab>FEATURES, or "
                        f"{END}, got {line!r:.60}"
                    )
                if parts[0].strip():
                    words.append(parts)
            if words:
                yield number, words


def _parts(line: str) -> tuple[str, str] | None:
    """A surface and its first feature."""
    surface, tab, features = line.partition("\t")
    first, *others = features.split(",")
    if not (surface and tab and first and len(others) >= 2) or "\t" in features:
        return None
    return surface, first
