"""Taggers from keys and blocks of weights, which CRF++ and Wapiti have in common.

A key of a state feature has L weights, by label. One of a transition feature has L * L, by previous and by
next label. Keys of transitions that every token has are summed to the label bigram.
"""

import re
from typing import NamedTuple

import numpy as np

from ..crf.l1crf import ready_crf
from ..crf.solver.solve import SparseWeights
from ..data.labels import Labels
from ..features.pattern_encoder import PatternEncoder
from ..features.patterns import CRFPP, FARTHEST, NEAR, WAPITI, Patterns, boundary
from ..features.template_encoder import TemplateEncoder
from ..features.template_rows import row_names
from ..features.templates import MACRO
from ..saving.container import ModelFileError
from .foreign import FORBIDDEN, as_text, named_model, refuse


class Keys(NamedTuple):
    """Keys of one kind, and where in the weights of the file their blocks begin."""

    names: list  # bytes
    first: np.ndarray  # (n,) int64, ascending

    @classmethod
    def of(cls, pairs):
        """Of (name, first) in ascending order of the latter."""
        return cls([name for name, _ in pairs], np.array([first for _, first in pairs], np.int64))

    def weights(self, index, weight, size):
        """(block, place in the block, weight) of those that are not zero; ``index`` is where each stands."""
        block = np.searchsorted(self.first, index, side="right") - 1
        place = index - np.append(self.first, 0)[block]
        mine = (block >= 0) & (place < size) & (weight != 0.0)
        return block[mine], place[mine], weight[mine]


def patterns_of(file, lines, syntax):
    """The :class:`Patterns` of a file."""
    try:
        return Patterns([as_text(line) for line in lines], syntax)
    except ValueError as error:
        raise ModelFileError(f"{file.name}: {error}") from None


def pattern_crf(patterns, labels, nodes, edges, index, weight):
    """A fitted :class:`L1CRF` with patterns.

    Parameters
    ----------
    patterns : Patterns
    labels : list of bytes
    nodes, edges : Keys
        Of features of labels and of transitions.
    index : ndarray of shape (n,), int64
        Places of weights in the file, ascending.
    weight : ndarray of shape (n,)

    Returns
    -------
    L1CRF
    """
    L = len(labels)
    fixed = [p.literals[0] for p in patterns.patterns if p.transition and not p.macros]
    names = list(map(as_text, edges.names))
    times = np.array([fixed.count(name) for name in names], np.int64)
    block, place, value = edges.weights(index, weight, L * L)
    bigram, always = np.zeros(L * L), times[block] > 0
    np.add.at(bigram, place[always], (value * times[block])[always])
    keys = np.cumsum(times == 0)[block] * L * L + place
    encoder = PatternEncoder.of_names(
        patterns, list(map(as_text, nodes.names)), [name for name, n in zip(names, times) if not n]
    )
    edge_weights = SparseWeights.of(
        (encoder.n_edge_rows * L, L),
        np.concatenate([keys[~always], np.arange(L * L)]),
        np.concatenate([value[~always], bigram]),
    )
    node_weights = weights_of_labels(nodes, L, index, weight)
    labels = Labels(list(map(as_text, labels)), in_order=True)
    return ready_crf(encoder, labels, node_weights, edge_weights, features=patterns)


def weights_of_labels(nodes, L, index, weight):
    """The :class:`SparseWeights` of features of labels."""
    block, place, value = nodes.weights(index, weight, L)
    return SparseWeights.of((len(nodes.names), L), block * L + place, value)


# --------------------------------------------------------------------------------------------------
# From a tagger to patterns, keys and weights
# --------------------------------------------------------------------------------------------------
_NAMES = {CRFPP: "CRF++", WAPITI: "Wapiti"}


def keyed_model(model, syntax):
    """(patterns, :class:`NamedModel`) of a ChainModel, in the syntax of a tool; transitions by their keys.

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
    transitions, names = {}, named.names
    for name, e in edge_pairs:
        block = named.transitions.get(e)
        if block is not None and not np.array_equal(transitions.setdefault(name, block), block):
            refuse(tool, f"two features of one name: {name!r:.80}")
    if named.transitions[0].any():
        transitions[_bigram_line(lines, syntax)] = named.transitions[0]
    rows, columns = [named.row], [named.column]
    for allowed, at, name in ((named.start, -1, "BOS"), (named.end, 1, "EOS")):
        if not allowed.all():
            line = _new_line(lines, name, at, syntax)
            lines.append(line)
            columns.append(np.flatnonzero(~allowed))
            rows.append(np.full(columns[-1].size, len(names)))
            names = [*names, line.partition("%")[0] + boundary(syntax, at)]
    if not lines:
        refuse(tool, "models without features")
    row, patterns = np.concatenate(rows), Patterns(lines, syntax)
    forbidden = np.full(row.size - named.row.size, FORBIDDEN)
    named = named._replace(
        names=names, row=row, column=np.concatenate(columns), transitions=transitions,
        weight=np.concatenate([named.weight, forbidden]),
    )  # fmt: skip
    _check_strings(named, patterns, tool, blanks=isinstance(encoder, TemplateEncoder))
    return patterns, named


def _bigram_line(lines, syntax):
    """The pattern of transitions that gets the weights of the label bigram.

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


def _check_strings(named, patterns, tool, blanks):
    """Raise if a string cannot stand in a file; of our own templates, or in its data either."""
    bad = re.compile(r"[\0\n \t]" if blanks else r"[\0\n]")
    for what, strings in (
        ("label", named.labels), ("template", patterns.lines), ("feature", named.names),
        ("feature", named.transitions),
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
            if abs(offset) > (NEAR if syntax == WAPITI else FARTHEST[syntax]):
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
        names = row_names(encoder, side, rows, syntax)
        if syntax == WAPITI:
            names = {row: name[0].lower() + name[1:] for row, name in names.items()}
        pairs.append(sorted(((name, row) for row, name in names.items()), key=lambda pair: pair[1]))
    return lines, *pairs


# --------------------------------------------------------------------------------------------------
# Patterns, in the syntax of the same tool or of the other
# --------------------------------------------------------------------------------------------------
def _of_patterns(encoder, tool, syntax):
    """(lines, (name, row) of features, of conditioned transitions) of a PatternEncoder."""
    patterns, lines = encoder.templates, []
    sides = []
    for side in (encoder.nodes, encoder.edges):
        names = side.row_names(set(range(side.first_row, side.n_rows)))
        sides.append([(names[row], row) for row in sorted(names)])
    if patterns.syntax == syntax:
        return list(patterns.lines), *sides
    rewritten = _rewriter(patterns, tool, syntax)
    letters = "UB" if syntax == CRFPP else "ub"
    for pattern in patterns.patterns:
        text = pattern.literals[0] + "".join(
            f"%x[{macro.position},{macro.column}]{literal}"
            for macro, literal in zip(pattern.macros, pattern.literals[1:])
        )
        uses = zip(letters, (pattern.label, pattern.transition))
        lines += [letter + rewritten(text)[1:] for letter, used in uses if used]
    return lines, *(
        [(letter + rewritten(name)[1:], row) for name, row in pairs] for letter, pairs in zip(letters, sides)
    )


def _rewriter(patterns, tool, syntax):
    """The function that writes a string as another tool does: with its symbols for what is no token.

    A token that is spelled like such a symbol becomes one, too.
    """
    for text, macro in ((pattern.text, macro) for pattern in patterns.patterns for macro in pattern.macros):
        if macro.kind != "x" or macro.lower or macro.absolute or abs(macro.position) > NEAR:
            refuse(tool, f"a pattern such as {text!r:.80}")
    symbols = {boundary(patterns.syntax, at): boundary(syntax, at) for at in range(-NEAR, NEAR + 1) if at}
    any_symbol = re.compile("|".join(map(re.escape, symbols)) or "$^")
    return lambda text: any_symbol.sub(lambda found: symbols[found[0]], text)
