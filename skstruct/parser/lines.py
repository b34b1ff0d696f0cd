"""The templates of a parser as lines: named sets, the user's own, and more for further columns."""

from typing import NamedTuple

from ..data.inputs import describe
from .state_templates import ARC_PLACES, MOST_SMALL, STATE_PLACES, attributes_of, column_of, rank
from .template_sets import ARC_LINES, ARC_LINES_OF_COLUMN, JOINT_LINES, STATE_LINES_OF_COLUMN, TEMPLATE_SETS

MOST_RICH = 8
"""Columns behind this one get templates of one and two atoms only."""


def template_lines(templates, width=2, parts=()):
    """The lines that a ``templates`` parameter means.

    Parameters
    ----------
    templates : str or list of str
        The name of a set, or lines.
    width : int, default=2
        Columns of words; ``"auto"`` reads them all.
    parts : collection of int
        The columns with morphological features.
    """
    if isinstance(templates, str):
        if templates == "auto":
            return [*TEMPLATE_SETS["rich"], *further_lines(STATE_LINES_OF_COLUMN, width, parts)]
        if templates not in TEMPLATE_SETS:
            raise ValueError(
                f"templates={templates!r} is not one of auto, {', '.join(sorted(TEMPLATE_SETS))}; a list of "
                "lines would do as well"
            )
        return list(TEMPLATE_SETS[templates])
    if not templates or not all(isinstance(line, str) and line.strip() for line in templates):
        raise ValueError(f"templates must hold lines such as 's0.w s1.t', got {describe(templates)}")
    return list(templates)


class Lines(NamedTuple):
    """The templates of a parser."""

    states: list
    arcs: list  # none without labels


def lines_of(templates, labeled, width=2, parts=()):
    """The :class:`Lines` of a parser; see :func:`template_lines`.

    If templates of states read labels, labels are part of the search; without labels such lines are left out.
    """
    states = template_lines(templates, width, parts)
    if not labeled:
        return Lines(without_labels(states), [])
    arcs = JOINT_LINES if reads_labels(states) else ARC_LINES
    return Lines(states, [*arcs, *further_lines(ARC_LINES_OF_COLUMN, width, parts)])


def without_labels(lines):
    """The templates of states that read no label."""
    return [line for line in lines if not reads_labels([line])]


def check_labels(lines, n_labels):
    """Raise if templates of states read labels and these are too many."""
    if n_labels >= MOST_SMALL and reads_labels(lines.states):
        raise ValueError(
            f"at most {MOST_SMALL - 1} labels are possible if templates read labels, got {n_labels}"
        )


def reads_labels(lines):
    """Whether one of the templates of states reads a label."""
    return any(name.endswith(".r") for line in lines for name in line.split())


def further_lines(lines, width, parts):
    """Lines for the columns behind the tag; those that read parts only for columns that have some."""
    out = []
    for c in range(2, width):
        for line in lines if c <= MOST_RICH else [line for line in lines if len(line.split()) < 3]:
            line = line.replace(".C", f".c{c}").replace(".P", f".p{c}")
            if c in parts or f".p{c}" not in line:
                out.append(line)
    return out


def attributes_read(lines):
    """The attributes that a parser with these :class:`Lines` reads, in order."""
    read = {*attributes_of(lines.states, STATE_PLACES), *attributes_of(lines.arcs, ARC_PLACES)}
    return sorted(read, key=rank)


def check_columns(lines, width):
    """Raise if a template names a column that words of so many columns do not have."""
    for line, places in ((line, p) for part, p in zip(lines, (STATE_PLACES, ARC_PLACES)) for line in part):
        most = max(column_of(name) for name in attributes_of([line], places))
        if most >= width:
            raise ValueError(
                f"template {line!r} reads column {most}, but words have {width} columns, 0 to {width - 1}"
            )
