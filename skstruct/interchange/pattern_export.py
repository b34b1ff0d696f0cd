"""A tagger as patterns, keys and weights, for CRF++ and Wapiti.

Our templates are patterns of both tools if they read nothing but tokens. What the patterns of one tool wrote
is rewritten for the other: the two differ in the first letter, and in what stands for tokens outside of a
sequence.
"""

import re
from itertools import product
from typing import NamedTuple

import numpy as np

from ..features.names import row_names
from ..features.pattern_encoder import PatternEncoder
from ..features.patterns import CRFPP, FARTHEST, WAPITI, Patterns, boundary
from ..features.template_encoder import TemplateEncoder
from ..features.templates import MACRO
from .exporting import FORBIDDEN, named_model, refuse

_NAMES = {CRFPP: "CRF++", WAPITI: "Wapiti"}


class KeyedModel(NamedTuple):
    """A model as both formats have it; L labels."""

    labels: list  # str
    patterns: Patterns
    names: list  # keys of features of labels
    row: np.ndarray  # (n,) int64: number of the key
    column: np.ndarray  # (n,) int64: number of the label; weights are sorted by row and column
    weight: np.ndarray  # (n,) float64
    transitions: dict  # keys of features of transitions: (L, L) weights


def keyed_model(model, syntax):
    """The :class:`KeyedModel` of a ChainModel, in the syntax of a tool.

    Raises
    ------
    ValueError
        If the tool has no place for a part of the model; the message says which.
    """
    tool, encoder = _NAMES[syntax], model.encoder
    if isinstance(encoder, TemplateEncoder):
        source = _of_templates(encoder, tool, syntax)
    elif isinstance(encoder, PatternEncoder):
        source = _of_patterns(encoder, tool, syntax)
    else:
        refuse(tool, "features that come ready-made with the tokens: it makes them from columns")
    lines, pairs, edge_pairs = source
    named = named_model(model, tool, pairs)
    transitions = {}
    for name, e in edge_pairs:
        block = named.conditioned.get(e)
        if block is None:
            continue
        if not np.array_equal(transitions.setdefault(name, block), block):
            refuse(tool, f"two features of one name: {name!r:.80}")
    if named.bigram.any():
        transitions[_bigram_line(lines, syntax)] = named.bigram
    parts = [(named.names, named.row, named.column, named.weight)]
    for allowed, at, name in ((named.start, -1, "BOS"), (named.end, 1, "EOS")):
        if not allowed.all():
            line = _new_line(lines, name, at, syntax)
            lines.append(line)
            forbidden = np.flatnonzero(~allowed)
            key = line.partition("%")[0] + boundary(syntax, at)
            parts.append(
                ([key], np.zeros(forbidden.size, np.int64), forbidden, np.full(forbidden.size, FORBIDDEN))
            )
    if not lines:
        refuse(tool, "models without features")
    names, rows, n = [], [], 0
    for part_names, row, _, _ in parts:
        names += part_names
        rows.append(row + n)
        n += len(part_names)
    keyed = KeyedModel(
        named.labels, Patterns(lines, syntax), names, np.concatenate(rows),
        np.concatenate([part[2] for part in parts]), np.concatenate([part[3] for part in parts]), transitions,
    )  # fmt: skip
    _check_strings(keyed, tool, blanks=isinstance(encoder, TemplateEncoder))
    return keyed


def _bigram_line(lines, syntax):
    """The pattern of transitions that is to have the weights of the label bigram.

    Several such patterns add up; so ``lines`` loses repetitions, or gets one more that is alone.
    """
    fixed = []
    for k, line in reversed(list(enumerate(lines))):
        pattern = Patterns([line], syntax).patterns[0]
        if pattern.transition and not pattern.macros:
            if not pattern.label and line in lines[:k]:
                del lines[k]
            else:
                fixed.append(line)
    alone = [line for line in reversed(fixed) if fixed.count(line) == 1]
    if not alone:
        alone = ["B" if syntax == CRFPP else "b"]
        lines += alone
    return alone[0]


def _new_line(lines, name, at, syntax):
    """A pattern that reads the token before or behind, under an identifier that no other line begins with."""
    letter, n = ("U", "") if syntax == CRFPP else ("u", "")
    while any(line.startswith(f"{letter}{name}{n}:") for line in lines):
        n = (n or 1) + 1
    return f"{letter}{name}{n}:%x[{at},0]"


def _check_strings(keyed, tool, blanks):
    """Raise if a string cannot stand in a file; of our own templates, or in its data either."""
    bad = re.compile(r"[\0\n \t]" if blanks else r"[\0\n]")
    for what, strings in (
        ("label", keyed.labels), ("template", keyed.patterns.lines), ("feature", keyed.names),
        ("feature", keyed.transitions),
    ):  # fmt: skip
        for string in strings:
            if bad.search(string) or not string:
                refuse(tool, f"a {what} that is empty or has white space in it, such as {string!r:.80}")
            try:
                string.encode("utf-8", "surrogateescape")
            except UnicodeEncodeError:
                refuse(tool, f"a {what} that is no Unicode text, such as {string!r:.80}")


# --------------------------------------------------------------------------------------------------
# Our templates
# --------------------------------------------------------------------------------------------------
def _of_templates(encoder, tool, syntax):
    """(lines, (name, row) of features, of conditioned transitions) of a TemplateEncoder."""
    lines = []
    for template in encoder.templates.templates:
        for function, _, offset in template.atoms:
            if function != "x":
                refuse(tool, f"functions of tokens such as %{function} in the template {template.text!r}")
            if abs(offset) > FARTHEST[syntax]:
                refuse(tool, f"a template that reads so far away as {template.text!r}")
        atoms = iter(template.atoms)

        def macro(found, atoms=atoms):
            _, column, offset = next(atoms)
            return f"%x[{offset},{column}]"

        line = MACRO.sub(macro, template.text)
        lines.append(line if syntax == CRFPP else line[0].lower() + line[1:])
    pairs = []
    for side in (encoder.nodes, encoder.edges):
        rows = set(range(side.first_row, side.n_rows))
        names = row_names(encoder, side, rows, lambda distance: boundary(syntax, distance))
        if syntax == WAPITI:
            names = {row: name[0].lower() + name[1:] for row, name in names.items()}
        pairs.append(sorted(((name, row) for row, name in names.items()), key=lambda pair: pair[1]))
    return lines, *pairs


# --------------------------------------------------------------------------------------------------
# Patterns, in the syntax of the same tool or of the other
# --------------------------------------------------------------------------------------------------
def _of_patterns(encoder, tool, syntax):
    """The same of a PatternEncoder."""
    patterns = encoder.templates
    sides = []
    for side in (encoder.nodes, encoder.edges):
        names = side.row_names(set(range(side.first_row, side.n_rows)))
        sides.append([(names[row], row) for row in sorted(names)])
    if patterns.syntax == syntax:
        return list(patterns.lines), *sides
    lines = []
    for pattern in patterns.patterns:
        for macro in pattern.macros:
            if macro.kind != "x" or macro.lower or macro.absolute or abs(macro.position) > FARTHEST[syntax]:
                refuse(tool, f"a pattern such as {pattern.text!r:.80}")
        text = pattern.literals[0][1:] + "".join(
            f"%x[{macro.position},{macro.column}]{literal}"
            for macro, literal in zip(pattern.macros, pattern.literals[1:])
        )
        for letter, use in (("U", pattern.label), ("B", pattern.transition)):
            if use:
                lines.append((letter if syntax == CRFPP else letter.lower()) + text)
    out = []
    for letter, pairs, mine in (
        ("U", sides[0], patterns.of_labels), ("B", sides[1], patterns.of_transitions),
    ):  # fmt: skip
        letter = letter if syntax == CRFPP else letter.lower()
        all_of = _rewriter(mine, patterns.syntax, syntax)
        out.append([(letter + new[1:], row) for name, row in pairs for new in all_of(name)])
    return lines, *out


def _rewriter(patterns, old, new):
    """The function that gives the names that a name becomes in another tool's syntax.

    What stands for tokens outside of a sequence is replaced, by all that the other tool would write there if
    it has several symbols for one. (A token that is spelled like such a symbol becomes one, too.)
    """
    reached = {macro.position for pattern in patterns for macro in pattern.macros}
    symbols = {}
    for distance in (*range(min(reached, default=0), 0), *range(1, max(reached, default=0) + 1)):
        symbols.setdefault(boundary(old, distance), []).append(boundary(new, distance))
    longest_first = "|".join(map(re.escape, sorted(symbols, key=len, reverse=True)))

    def all_of(name):
        heads = [p.literals[0] for p in patterns if name.startswith(p.literals[0])]
        head = max(heads, key=len, default="")
        parts = re.split(f"({longest_first})", name[len(head) :]) if symbols else [name[len(head) :]]
        options = (dict.fromkeys(symbols.get(part, [part])) for part in parts)
        return [head + "".join(chosen) for chosen in product(*options)]

    return all_of
