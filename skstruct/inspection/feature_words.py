"""Names of features in words: ``Ushape0+1:Xxx`` is "shape of the next word = Xxx".

A name is the identifier of a template, a colon, and what the template read. The words
follow from the template, so that they are right of templates of a user's own, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_MACRO = re.compile(r"%([a-z]+)(\d*)\[(-?\d+),(\d+)\]")

_FUNCTIONS = {
    "x": "{0}",
    "lower": "{0} in lower case",
    "shape": "shape of {0}",
    "prefix": "first {1} characters of {0}",
    "suffix": "last {1} characters of {0}",
    "type": "type of {0}",
    "av": "accessor variety of {1} characters at {0}",
    "digit": "whether {0} has a digit",
    "upper": "whether {0} has a capital",
    "hyphen": "whether {0} has a hyphen",
}
"""The descriptions of functions of tokens, with places for the token and a number."""

_GAPS = {"0": "nothing", "1": "a space", "2": "a line break", "3": "a blank line"}
"""White space before a token, as `skstruct._data.text.TextToken` has it."""


def templates_of(lines: Iterable[str] | None) -> dict[str, str]:
    """Return the templates of a model by their identifiers."""
    parted = (line.partition(":") for line in lines or ())
    return {name: template for name, colon, template in parted if colon}


def in_words(name: str, templates: Mapping[str, str], unit: str = "word") -> str:
    """Write the name of a feature in words, and itself in brackets.

    Parameters
    ----------
    name : str
    templates : dict of str to str
        Of the model, by identifier.
    unit : str, default="word"
        What a token is: "word" or "character".

    Returns
    -------
    str
        The name alone where no template of the model made it.
    """
    identifier, _, read = name.partition(":")
    template = templates.get(identifier)
    macros = [] if template is None else _MACRO.findall(template)
    if not macros or not identifier.startswith("U"):
        return name
    values = read.split("/") if len(macros) > 1 else [read]
    if len(values) != len(macros):  # a token has a slash in it
        return name
    of_text = "Ugap" in templates
    parts = []
    for (function, number, offset, column), value in zip(macros, values):
        token = _token(int(offset), unit)
        if of_text and column == "1" and function == "x":
            read_there = f"white space before {token}"
            shown = _GAPS.get(value, value)
        elif function in _FUNCTIONS:
            if column != "0":
                token = f"column {column} of {token}"
            description = _FUNCTIONS[function]
            if number == "1":
                description = description.replace("{1} characters", "character")
            read_there = description.format(token, number)
            shown = value
        else:
            return name
        parts.append(f"{read_there} = {_value(shown)}")
    return f"{', '.join(parts)} [{name}]"


def _token(offset: int, unit: str) -> str:
    """Name the token at an offset."""
    if abs(offset) < 2:
        return (f"the {unit} before", f"this {unit}", f"the next {unit}")[offset + 1]
    where = "before" if offset < 0 else "further on"
    return f"the {unit} {abs(offset)} {where}"


def _value(value: str) -> str:
    """Write what was read; before the first and behind the last token is nothing."""
    if re.fullmatch(r"_B-\d+", value):
        return "(before the beginning)"
    return "(behind the end)" if re.fullmatch(r"_B\+\d+", value) else value
