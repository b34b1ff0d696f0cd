"""The colour of a label, the same on every page: a function of its name alone."""

from __future__ import annotations

import zlib
from importlib.resources import files
from typing import Any

from .elements import spelled
from .spellings import parts_of

_USUAL = (
    "PER PERSON PERS NP NOUN NN N",
    "LOC LOCATION GPE VP VERB VB V",
    "ORG ORGANIZATION ORGANISATION PP ADP IN P",
    "MISC ADJP ADJ JJ A",
    "DATE TIME ADVP ADV RB",
    "MONEY PERCENT CARDINAL QUANTITY SBAR NUM CD",
    "PRODUCT PRON PRP PRT",
    "EVENT PROPN NNP",
    "NORP DET DT D",
    "FAC PUNCT PU",
)
"""Names of labels that occur together differ; those of one line share a hue."""

_HUES = tuple(round(210 + k * 137.508) % 360 for k in range(24))
"""Hues, each far from those before it; usual names have the first ones."""

_LINES = "solid", "double", "dotted"
_HUE_OF = {name: hue for names, hue in zip(_USUAL, _HUES) for name in names.split()}


def marks_style() -> str:
    """Return the style sheet of elements of the class ``mark``, of pages and reports.

    Returns
    -------
    str
        Rules of CSS that read the properties which `label_style` sets.
    """
    return files(__package__).joinpath("marks.css").read_text(encoding="utf-8")


def label_style(label: Any) -> str:
    """Return the style of an element of the class ``mark`` that stands for a label: its
    hue, and its kind of line.

    They depend on the label's name alone, without a prefix such as ``B-``. Usual names
    have hues that were chosen; the digest (CRC-32) of any other name draws one of 24
    hues and of three kinds of line.
    """
    _, name = parts_of(spelled(label))
    if name.upper() in _HUE_OF:
        return f"--hue:{_HUE_OF[name.upper()]}"
    digest = zlib.crc32(name.encode("utf-8", "surrogatepass"))
    line = _LINES[digest // len(_HUES) % len(_LINES)]
    return f"--hue:{_HUES[digest % len(_HUES)]}" + (
        f";--line:{line}" if line != _LINES[0] else ""
    )
