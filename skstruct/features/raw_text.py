"""Raw text as words, for ``WordVectors``: read line by line, cut by a rule."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from unicodedata import normalize

import numpy as np

from .._data.inputs import describe, renumbered
from .._data.pieces import cut_texts
from .._data.text import as_texts, tokenized
from .._saving.text_lines import numbered_lines
from .neighbour_counts import parts

# Clitics are tokens, abbreviations keep their points, and hyphens part nothing. Marks
# (U+0300 to U+036F) that no letter is composed with belong to the letter before.
_TREEBANK = r"""(?x)
    https?://\S+
  | (?:[^\W\d_]\.){2,}(?:[^\W\d_]\b)?            # U.S., e.g., B.A.T
  | (?:Mr|Mrs|Ms|Dr|Prof|Gen|Sen|Rep|Gov|Lt|Col|Sgt|Capt|St|Jr|Sr|Inc|Corp|Co|Ltd|Bros
      |vs|Messrs|Calif|Mass|Conn|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\.
  | [A-Z]\.(?=\s+[A-Z])                             # an initial
  | (?i:n['’]t)\b
  | ['’](?i:s|d|m|re|ve|ll)\b
  | [\w\u0300-\u036f]+?(?=(?i:n['’]t)\b)            # what n't follows
  | (?i:can)(?=(?i:not)\b)
  | [\w\u0300-\u036f]+(?:
        (?:[-–/&.]|(?<=\d)[,:](?=\d)|['’](?!(?i:s|d|m|re|ve|ll|t)\b))
        [\w\u0300-\u036f]+
    )*
  | \.{2,} | -{2,} | `` | ''
  | \S
"""

RULES = {
    "words": "words",
    "characters": "characters",
    "spaces": r"\S+",
    "treebank": _TREEBANK,
}
"""The built-in rules that cut text, as ``_data.text.tokenized`` takes them."""


def rule_of(tokenizer: str | Callable[[str], Any]) -> str | Callable[[str], Any]:
    """Look up what ``_data.text.tokenized`` takes for a ``tokenizer``, a function or a
    name.

    Raises
    ------
    ValueError
        If it is neither.
    """
    if callable(tokenizer):
        return tokenizer
    if isinstance(tokenizer, str) and tokenizer in RULES:
        return RULES[tokenizer]
    known = ", ".join(map(repr, RULES))
    text = f"tokenizer must be one of {known}, or a function from a text to its words, "
    text += f"got {describe(tokenizer)}"
    if isinstance(tokenizer, str):
        text += f"; for a regular expression give re.compile({tokenizer!r}).findall"
    raise ValueError(text)


def words_of_lines(
    lines: Iterable[str] | os.PathLike[str], tokenizer: str | Callable[[str], Any]
) -> Iterator[tuple[list[str], Any]]:
    """Yield the words of some lines of a text, and how many each piece of these has.

    Parameters
    ----------
    lines : iterable of str, os.PathLike, or open text file
        A file of UTF-8, decompressed if its name ends in ``.gz``.
    tokenizer : str or callable
        See :func:`rule_of`.

    Yields
    ------
    words : list of str
        In Unicode's normal form C.
    lengths : ndarray of int64
    """
    rule = rule_of(tokenizer)
    if isinstance(lines, str):
        text = "lines must be an iterable of str, or pathlib.Path(...) of a file"
        raise TypeError(f"{text}, got {describe(lines)}")
    if isinstance(lines, os.PathLike) or hasattr(lines, "readline"):
        with numbered_lines(lines, "utf-8") as (_, numbered):
            yield from _words((line for _, line in numbered), rule)
        return
    yield from _words(lines, rule)


def _words(
    lines: Iterable[str], rule: str | Callable[[str], Any]
) -> Iterator[tuple[list[str], np.ndarray]]:
    for first, texts in parts(lines):
        with renumbered(range(first, first + len(texts))):
            texts = as_texts(texts, "lines")
            if rule == _TREEBANK:  # \w is no letter and its accent
                texts = [normalize("NFC", text) for text in texts]
            pieces = cut_texts(tokenized(texts, rule), "lines")
        yield pieces.tokens.words(False), np.diff(pieces.bounds)
