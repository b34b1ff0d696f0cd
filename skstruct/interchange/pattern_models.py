"""Taggers from keys and blocks of weights, which CRF++ and Wapiti have in common.

A key of a state feature has L weights, by label. One of a transition feature has L * L,
by previous and by next label. Keys of transitions that every token has are summed to
the label bigram.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from .._crf.l1crf import ready_crf
from .._crf.solver.solve import SparseWeights
from .._saving.container import ModelFileError
from ..features.pattern_encoder import PatternEncoder
from ..features.patterns import CRFPP, FARTHEST, NEAR, WAPITI, Patterns, boundary
from ..features.template_encoder import TemplateEncoder
from ..features.template_rows import row_names
from ..features.templates import MACRO
from .foreign import FORBIDDEN, UTF8, chain_model, encoded, named_model, refuse

if TYPE_CHECKING:
    from .._crf.l1crf import L1CRF
    from .._data.labels import Labels
    from ..features.templates import FeatureTemplates
    from .foreign import ForeignBytes, NamedModel


def patterns_of(file: ForeignBytes, lines: list[bytes], syntax: str) -> Patterns:
    """Return the :class:`Patterns` of a file."""
    try:
        patterns = Patterns.as_written([file.text(line) for line in lines], syntax)
    except ValueError as error:
        raise ModelFileError(f"{file.name}: {error}") from None
    if file.encoding != UTF8 and _matches_bytes(patterns):
        raise ModelFileError(
            f"{file.name}: its patterns match bytes (%t, %m), which are others in "
            f"Unicode than in {file.encoding}: read the model without encoding=, and "
            "the data with encoding='utf-8', errors='surrogateescape'"
        )
    return patterns


def _matches_bytes(patterns: Patterns) -> bool:
    """Tell whether a pattern cuts tokens, perhaps amid a character."""
    return any(m.expression for p in patterns.patterns for m in p.macros)


def pattern_crf(
    file: ForeignBytes,
    patterns: Patterns,
    labels: Labels,
    nodes: list[tuple[bytes, int]],
    edges: list[tuple[bytes, int]],
    index: np.ndarray,
    weight: np.ndarray,
) -> L1CRF:
    """Return a fitted :class:`L1CRF` with patterns.

    Parameters
    ----------
    file : ForeignBytes
        That decodes the keys.
    patterns : Patterns
    labels : Labels
    nodes, edges : list of (bytes, int)
        Keys of features of labels and of transitions, and where in the file their
        weights begin, ascending.
    index : ndarray of shape (n,), int64
        Places of weights in the file, ascending.
    weight : ndarray of shape (n,)

    Returns
    -------
    L1CRF
    """
    L = len(labels)
    fixed = [p.literals[0] for p in patterns.patterns if p.transition and not p.macros]
    names = [file.text(name) for name, _ in edges]
    of_labels = [file.text(name) for name, _ in nodes]
    cut = _matches_bytes(patterns)
    file.warn_of_bytes([*labels.values, *([] if cut else [*names, *of_labels])])
    times = np.array([fixed.count(name) for name in names], np.int64)
    block, place, value = _weights_of(edges, index, weight, L * L)
    bigram = np.zeros(L * L)
    always = times[block] > 0
    np.add.at(bigram, place[always], (value * times[block])[always])
    keys = np.cumsum(times == 0)[block] * L * L + place
    others = [name for name, n in zip(names, times) if not n]
    encoder = PatternEncoder.of_names(patterns, of_labels, others)
    keys = np.append(keys[~always], np.arange(L * L))
    value = np.append(value[~always], bigram)
    edge_weights = SparseWeights.of((encoder.n_edge_rows * L, L), keys, value)
    return ready_crf(
        encoder,
        labels,
        label_weights(nodes, L, index, weight),
        edge_weights,
        features=patterns,
    )


def label_weights(
    nodes: list[tuple[bytes, int]], L: int, index: np.ndarray, weight: np.ndarray
) -> SparseWeights:
    """Return the :class:`SparseWeights` of features of labels."""
    block, place, value = _weights_of(nodes, index, weight, L)
    return SparseWeights.of((len(nodes), L), block * L + place, value)


def _weights_of(
    keys: list[tuple[bytes, int]], index: np.ndarray, weight: np.ndarray, size: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (number of the key, place in its block, weight) of all that are not zero,
    in blocks of a size.
    """
    first = np.array([first for _, first in keys], np.int64)
    block = np.searchsorted(first, index, side="right") - 1
    place = index - np.append(first, 0)[block]
    mine = (block >= 0) & (place < size) & (weight != 0.0)
    return block[mine], place[mine], weight[mine]


# --------------------------------------------------------------------------------------
# From a tagger to patterns, keys and weights
# --------------------------------------------------------------------------------------
_NAMES = {CRFPP: "CRF++", WAPITI: "Wapiti"}
_LETTERS = {CRFPP: "UB", WAPITI: "ub"}
"""With which patterns of features of labels, and of transitions, begin."""


def keyed_model(estimator: Any, syntax: str) -> tuple[Patterns, NamedModel]:
    """Return (patterns, :class:`NamedModel`) of a fitted tagger, in the syntax of a
    tool; transitions by their keys.

    Raises
    ------
    TypeError
        If it is not a chain tagger.
    ValueError
        If the tool has no place for a part of the model; the message says which.
    """
    tool = _NAMES[syntax]
    model = chain_model(estimator, tool)
    encoder: Any = model.encoder
    is_template = isinstance(encoder, TemplateEncoder)
    if not is_template and not isinstance(encoder, PatternEncoder):
        refuse(
            tool,
            "features that come ready-made with the tokens: it makes them from columns",
        )
    patterns = (
        _as_patterns(encoder.templates, tool, syntax)
        if is_template
        else encoder.templates
    )
    lines, spelled = _written(patterns, tool, syntax, is_template)
    names = []
    for side in (encoder.nodes, encoder.edges):
        rows = set(range(side.first_row, side.n_rows))
        names.append(
            row_names(encoder, side, rows, syntax)
            if is_template
            else side.row_names(rows)
        )
    named = named_model(
        model, tool, {row: spelled(0, name) for row, name in names[0].items()}
    )
    transitions: dict[str, np.ndarray] = {}
    for e, name in sorted(names[1].items()):
        block = named.transitions.get(e)
        name = spelled(1, name)
        if block is not None and not np.array_equal(
            transitions.setdefault(name, block), block
        ):
            refuse(tool, f"two features of one name: {name!r:.80}")
    letters = _LETTERS[syntax]
    if named.transitions[0].any():
        transitions[_bigram_line(lines, letters[1])] = named.transitions[0]
    for allowed, at, name in ((named.start, -1, "BOS"), (named.end, 1, "EOS")):
        forbidden = np.flatnonzero(~allowed)
        if forbidden.size:
            prefixes = (f"{letters[0]}{name}{n or ''}:" for n in count())
            prefix = next(
                each
                for each in prefixes
                if not any(line.startswith(each) for line in lines)
            )
            lines.append(f"{prefix}%x[{at},0]")
            named = named._replace(
                names=[*named.names, prefix + boundary(syntax, at)],
                row=np.append(named.row, np.full(forbidden.size, len(named.names))),
                column=np.append(named.column, forbidden),
                weight=np.append(named.weight, np.full(forbidden.size, FORBIDDEN)),
            )
    # What our own templates read has to be a token in the tool's data, too.
    bad = r"[\0\n \t]|\A\Z" if is_template else r"[\0\n]|\A\Z"
    features = [*named.names, *transitions]
    for what, strings in (
        ("label", named.labels),
        ("template", lines),
        ("feature", features),
    ):
        encoded(strings, what, tool, bad, "that is empty or has white space in it")
    return Patterns(lines, syntax), named._replace(transitions=transitions)


def _bigram_line(lines: list[str], letter: str) -> str:
    """Return the pattern of transitions that gets the weights of the label bigram.

    Several such patterns add up; so ``lines`` loses repetitions, or gets one more that
    is alone.
    """
    for line in [line for line in lines if line[0] == letter and "%" not in line]:
        if lines.count(line) > 1:
            lines.remove(line)
    fixed = [line for line in lines if line[0] in (letter, "*") and "%" not in line]
    alone = [line for line in fixed if lines.count(line) == 1]
    if not alone:
        alone = [letter]
        lines += alone
    return alone[0]


def _as_patterns(templates: FeatureTemplates, tool: str, syntax: str) -> Patterns:
    """Write our templates as patterns of CRF++, if ``syntax`` has a place for them."""
    farthest = NEAR if syntax == WAPITI else FARTHEST[syntax]
    lines = []
    for template in templates.templates:
        for function, _, offset in template.atoms:
            if function != "x":
                refuse(
                    tool,
                    f"functions of tokens such as %{function} in the template {template.text!r}",
                )
            if abs(offset) > farthest:
                refuse(tool, f"a template that reads so far away as {template.text!r}")
        lines.append(
            MACRO.sub(
                lambda found: f"%x[{int(found[2])},{int(found[3])}]", template.text
            )
        )
    return Patterns(lines, CRFPP)


def _written(
    patterns: Patterns, tool: str, syntax: str, with_symbols: bool
) -> tuple[list[str], Callable[[int, str], str]]:
    """Return (lines, function) that write patterns, and names of features, in the
    syntax of a tool.

    The function takes 0 and the name of a feature of labels, or 1 and that of one of
    transitions. Unless names have the tool's symbols of what is no token, what is
    spelled like those of the other becomes one.
    """
    if patterns.syntax == syntax:
        return list(patterns.lines), lambda side, name: name
    places = [at for at in range(-NEAR, NEAR + 1) if at and not with_symbols]
    symbols = {boundary(patterns.syntax, at): boundary(syntax, at) for at in places}
    any_symbol = re.compile("|".join(map(re.escape, symbols)) or "(?!)")
    lines = []

    def spelled(side: int, name: str) -> str:
        return _LETTERS[syntax][side] + any_symbol.sub(
            lambda found: symbols[found[0]], name[1:]
        )

    for pattern in patterns.patterns:
        text = pattern.literals[0]
        for macro, literal in zip(pattern.macros, pattern.literals[1:]):
            if (
                macro.kind != "x"
                or macro.lower
                or macro.absolute
                or abs(macro.position) > NEAR
            ):
                refuse(tool, f"a pattern such as {pattern.text!r:.80}")
            text += f"%x[{macro.position},{macro.column}]{literal}"
        uses = enumerate((pattern.label, pattern.transition))
        lines += [spelled(side, text) for side, is_used in uses if is_used]
    return lines, spelled
