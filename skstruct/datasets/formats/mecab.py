"""Output of MeCab: ``surface<tab>features``, and ``EOS`` behind each sentence.

The first feature is the part of speech; of dictionaries that part features by tabs the
first that is one. Words are found together with it: segmentation
and tagging in one.

References
----------
T. Kudo, K. Yamamoto and Y. Matsumoto, "Applying conditional random fields to Japanese
morphological analysis", EMNLP 2004.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ..._data.source_layout import SourceLayout
from .contents import Contents
from .entry import NO, Look, WordFormat, marked, near, no
from .head import Head
from .text_files import numbered_lines

END = "EOS"

_SPEECH = re.compile(
    "(名詞|代名詞|動詞|形容詞|形状詞|助詞|助動詞|副詞|連体詞|接続詞|感動詞|接頭詞|接頭辞|接尾辞|記号"
    "|補助記号|フィラー|空白|未知語|その他)(-.*)?"
)
"""Parts of speech of Japanese dictionaries, as features between tabs have them."""


class Mecab(WordFormat):
    """The entry of the table."""

    name = "mecab"
    description = "output of MeCab: surface, tab, features; EOS after each sentence"
    lines_are_text = False

    def look(self, head: Head) -> Look:
        """Lines are a surface, a tab and features between commas, or EOS."""
        if not head.lines or head.is_json:
            return NO
        rows = [line for line in head.lines if line != END]
        ends = len(head.lines) - len(rows)
        featured = sum(_parts(line) is not None for line in rows)
        seen = f"{featured} lines are SURFACE<tab>FEATURES, and {ends} are {END}"
        if not rows or featured < 0.9 * len(rows):
            return no(seen)
        return marked(seen) if ends else near(seen)

    def words(
        self, file: Any, layout: SourceLayout, contents: Contents
    ) -> Iterator[tuple[int, list]]:
        """Yield (number, (word, part of speech) pairs) of each sentence."""
        tally = contents.lines
        with numbered_lines(file, layout.encoding, tally=tally) as (name, lines):
            words: list[tuple[str, str]] = []
            number = 0
            for number, line in lines:
                if line == END:
                    tally.structure += 1
                    yield number, words
                    words = []
                    continue
                if not line:
                    tally.structure += 1
                    continue
                parts = _parts(line)
                if parts is None:
                    raise ValueError(
                        f"{name}, line {number}: expected SURFACE<tab>FEATURES, or "
                        f"{END}, got {line!r:.60}"
                    )
                if parts[0].strip():
                    tally.data += 1
                    words.append(parts)
                else:
                    tally.leave("white space", f"{name}, line {number}")
            if words:
                yield number, words


def _parts(line: str) -> tuple[str, str] | None:
    """A surface and its first feature."""
    surface, *features = line.split("\t")
    if not surface or not features:
        return None
    if len(features) > 1:
        found = filter(None, map(_SPEECH.fullmatch, features))
        return next(((surface, each[1]) for each in found), None)
    first, *others = features[0].split(",")
    return (surface, first) if first and len(others) >= 2 else None
