"""Built-in template sets, as lines in CRF++ syntax.

- ``char``: the seven of the regularised structured perceptron (Zhang, Su and Zhou 2014,
  table 1).
- ``char-types``: those of ``char``, the pair around, and types of characters; what
  ``Segmenter()`` reads, since it wins with few sentences.
- ``char-av``: those of Gao, Qiu and Huang (2010), table 1, for segmentation across
  domains: characters, pairs, character type, accessor variety.
- ``chunk``: the nineteen of CRFsuite's chunking tutorial, on (word, part of speech).
- ``word``: sixteen for tagging words: a window of two, two word pairs, affixes to four,
  shape.
- ``word-tag``: twenty-eight for (word, tag), such as a part of speech: those of
  ``word``, and the tags of ``chunk``.
- ``collins``: those of Collins (2002) for tagging, after Ratnaparkhi (1996), for
  frequent and rare words alike: a window of two, affixes to four, whether there are
  digits, capitals or hyphens; ``order=2`` makes his tagger.
- ``char-best``, ``chunk-best``, ``word-best``: the sets that won in our own
  comparisons; ``docs/recipes.md`` says with which learner, and what was tried.
- ``text``: ``word-best``, and the white space before a token and the next: for
  `skstruct.features.TextToken`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def window(column: int, first: int, last: int, macro: str = "x") -> list[str]:
    """Make one template for each position from ``first`` to ``last``."""
    return [
        f"U{macro}{column}{o:+d}:%{macro}[{o},{column}]" for o in range(first, last + 1)
    ]


def ngrams(column: int, n: int, first: int, last: int, macro: str = "x") -> list[str]:
    """Make one template for each run of ``n`` positions.

    The runs start at ``first`` ... ``last``.
    """
    return [
        f"U{macro}{column}{o:+d}_{n}:"
        + "/".join(f"%{macro}[{o + k},{column}]" for k in range(n))
        for o in range(first, last + 1)
    ]


def affixes(column: int, most: int) -> list[str]:
    """Make templates of prefixes and suffixes of the current token, of ``most``
    characters at most.
    """
    return [
        f"U{kind}{n}:%{kind}{n}[0,{column}]"
        for kind in ("prefix", "suffix")
        for n in range(1, most + 1)
    ]


VARIETIES = [f"Uav{n}:%av{n}[0,0]" for n in (2, 3, 4)]
TAGS = [*window(1, -2, 2), *ngrams(1, 2, -2, 1), *ngrams(1, 3, -2, 0)]
TYPES = "Uskip:%x[-1,0]/%x[1,0] Utypes:%type[-1,0]/%type[0,0]/%type[1,0]".split()
ORTHOGRAPHY = [f"U{kind}:%{kind}[0,0]" for kind in ("digit", "upper", "hyphen")]
ENDINGS = """Usuffix3-1:%suffix3[-1,0] Usuffix3+1:%suffix3[1,0]
    Usuffixes-1:%suffix2[-1,0]/%suffix3[0,0]
    Usuffixes+1:%suffix3[0,0]/%suffix2[1,0] Uends:%prefix1[0,0]/%suffix3[0,0]""".split()
WORDS_WITH_TAGS = """Uwp:%x[0,0]/%x[0,1] Uwp+1:%x[0,0]/%x[1,1] Upw-1:%x[-1,1]/%x[0,0]
    Uwp-1:%x[-1,0]/%x[0,1] Upw+1:%x[0,1]/%x[1,0]""".split()
TRANSITIONS = "B Bp:%x[0,1] Bpp:%x[-1,1]/%x[0,1] Bw:%x[0,0]".split()
GAPS = """Ugap:%x[0,1] Ugap+1:%x[1,1] Ugaps:%x[-1,1]/%x[0,1]/%x[1,1]
    Uwgap:%x[0,0]/%x[0,1]
    Uwgap+1:%x[0,0]/%x[1,1] Ushapes-1:%shape[-1,0]/%x[0,1]/%shape[0,0]
    Ushapes+1:%shape[0,0]/%x[1,1]/%shape[1,0]""".split()

CHAR = [*window(0, -1, 1), *ngrams(0, 2, -2, 1), "B"]
CHUNK = [*window(0, -2, 2), *ngrams(0, 2, -1, 0), *TAGS, "B"]
WORD = [
    *window(0, -2, 2),
    *ngrams(0, 2, -1, 0),
    *affixes(0, 4),
    "Ushape:%shape[0,0]",
    "B",
]
WORD_TAG = [*WORD[:-1], *TAGS, "B"]
FORMS = [
    *window(0, -1, 1, "lower"),
    *window(0, -1, 1, "shape"),
    *ngrams(0, 3, -1, -1, "shape"),
]
WORD_BEST = [*WORD[:-2], *FORMS, *ENDINGS, "B"]
WORD_FORM = ["Ulower:%lower[0,0]", *affixes(0, 3), "Ushape:%shape[0,0]"]

PRESETS = {
    "char": CHAR,
    "char-types": [*CHAR[:-1], *TYPES, "B"],
    "char-av": [
        *window(0, -1, 2),
        *ngrams(0, 2, -2, 1),
        "Utype:%type[0,0]",
        *VARIETIES,
        "B",
    ],
    "chunk": CHUNK,
    "word": WORD,
    "word-tag": WORD_TAG,
    "collins": [*window(0, -2, 2), *affixes(0, 4), *ORTHOGRAPHY, "B"],
    "char-best": [*CHAR[:-1], *TYPES, *VARIETIES, "B"],
    "chunk-best": [
        *CHUNK[:-1],
        *WORDS_WITH_TAGS,
        *ngrams(1, 4, -2, -1),
        *WORD_FORM,
        *TRANSITIONS,
    ],
    "word-best": WORD_BEST,
    "text": [*WORD_BEST[:-1], *GAPS, "B"],
}


def columns_preset(n_columns: int) -> list[str]:
    """Choose the templates that ``features="auto"`` means for tuples of ``n_columns``
    strings.
    """
    if n_columns == 2:
        return WORD_TAG
    lines = WORD[:-1]
    for column in range(1, n_columns):
        lines = [*lines, *window(column, -2, 2), *ngrams(column, 2, -1, 0)]
    return [*lines, "B"]


def preset_of(lines: Iterable[str]) -> str | None:
    """Look up the name of the preset that consists of these lines; None if there is
    none.
    """
    return next(
        (name for name, preset in PRESETS.items() if list(lines) == preset), None
    )
