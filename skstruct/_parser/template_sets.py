"""The templates of a parser: named sets, the user's own, more for further columns; and
their groups.

:mod:`.state_templates` explains the atoms.

"hs28" is the set of Huang and Sagae (2010), "hs29" that of their released parser,
"zsz28" that of Zhang, Su and Zhou (2014). "rich" adds to "hs29": the stack's third tree
and the second word ahead, second children, numbers of children and distance (after
Zhang and Nivre 2011), affixes and shapes.

References
----------
L. Huang and K. Sagae (2010). Dynamic programming for linear-time incremental parsing.
ACL. Y. Zhang and J. Nivre (2011). Transition-based dependency parsing with rich
non-local features. ACL. K. Zhang, J. Su, C. Zhou (2014). Regularized structured
perceptron. EACL, section 6.1.3.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from .._data.inputs import describe
from .state_templates import (
    MOST_SMALL,
    attributes_of,
    column_of,
    compile_templates,
    rank,
)
from .states import ARC_PLACES, STATE_PLACES

if TYPE_CHECKING:
    from .state_features import Templates
    from .states import Places


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.replace(",", "\n").splitlines() if line)


_COMMON_21 = """
s0.w, s0.t, s0.w s0.t, s1.w, s1.t, s1.w s1.t, q0.w, q0.t, q0.w q0.t, s0.w s1.w
s0.t s1.t, s0.t q0.t, s0.w s0.t s1.t, s0.t s1.w s1.t, s0.w s1.w s1.t, s0.w s0.t s1.w
s0.w s0.t s1.w s1.t, s0.t q0.t q1.t, s1.t s0.t q0.t, s0.w q0.t q1.t, s1.t s0.w q0.t
"""

_HS28 = f"""{_COMMON_21}
s1.t s1.lc.t s0.t, s1.t s1.rc.t s0.t, s1.t s0.t s0.rc.t, s1.t s1.lc.t s0.w
s1.t s1.rc.t s0.w, s1.t s0.w s0.lc.t, s2.t s1.t s0.t
"""

_HS29 = _HS28 + "s1.t s0.t s0.lc.t\n"

_ZSZ28 = f"""{_COMMON_21}
s1.t s1.lc.t s0.t, s1.t s1.rc.t s0.t, s1.t s0.t s0.rc.t, s1.t s0.t s0.lc.t
s1.t s0.w s0.lc.t, s1.t s0.w s0.rc.t, s2.t s1.t s0.t
"""

_RICH = f"""{_HS29}
s2.t, s2.w s2.t, q1.t, q1.w q1.t, q2.t, s2.t s1.t, q0.t q1.t, q1.t q2.t, s0.t q1.t
q0.t q1.t q2.t, s0.w q0.w, s0.t q0.w, s0.w q0.t, s1.t q0.t, s1.w q0.t
s1.t s1.rc.t s0.t s0.lc.t, s1.rc.t s0.t, s1.t s0.lc.t, s0.t s0.rc.t q0.t
s0.t s0.lc.t s0.rc.t, s1.t s1.lc.t s1.rc.t, s0.rc.w s0.t, s1.rc.w s1.t s0.t
s0.lc.w s0.t s1.t, s1.lc.w s1.t, s0.t s0.rc.t s0.rc2.t, s1.t s1.rc.t s1.rc2.t
s0.t s0.lc.t s0.lc2.t, s0.t s1.t d, s0.w s1.t d, s0.t s1.w d, s0.w s1.w d
s0.t s1.t d q0.t, s0.t s0.vl s0.vr, s1.t s1.vl s1.vr, s0.w s0.vl, s1.w s1.vr
s0.t s1.t s1.vr q0.t, s0.t s1.t s0.vl s1.vr, s0.x3 s0.t, s1.x3 s1.t, q0.x3 q0.t
s0.x3 s1.t, s1.x3 s0.t, s0.l s1.l, s0.f s0.t s1.t, s1.t s0.t s0.lc.t s0.lc2.t
s0.t s1.t s1.rc.t s1.rc2.t, s0.t s1.t s1.lc.t s1.lc2.t, s1.t s0.t s0.rc.t s0.rc2.t
s0.t s1.t s0.lc2.w, s0.t s0.lc.w s0.lc2.w, s1.t s1.lc.w s1.lc2.w, s1.t s1.rc.w s1.rc2.w
s1.t s0.t s1.lc.t s1.rc.t, s1.t s1.lc.t s1.rc.t s0.t s0.lc.t s0.rc.t
s1.t s0.lc.w s0.lc2.w, s0.t q0.t q1.w, s1.t s0.t q0.w, s1.t s0.t q1.w
s0.t q0.t q1.t q2.t, s1.t q0.t q1.t, s1.t s0.t q0.t q1.t, s2.t s1.t s0.t q0.t
s0.lc.w s1.t s0.t q0.t, s0.lc.w s1.t q0.w, s1.w s0.lc.w, s2.w s0.lc.w
s2.t s1.t s0.t s0.lc.t, s2.t s1.t s0.lc.w, s2.t s0.t s0.lc.w, s1.rc.w s0.lc.w
s1.rc.w s0.t, s0.rc.w q0.w, s0.rc.t q0.t, s0.rc.w s0.t q0.t
"""

_LABELLED = """
s0.lc.r s0.t s1.t, s0.rc.r s0.t s1.t, s1.lc.r s0.t s1.t, s1.rc.r s0.t s1.t, s0.lc.r s0.w
s0.rc.r s0.w, s1.lc.r s1.w, s1.rc.r s1.w, s0.lc.r s0.rc.r s0.t
s1.lc.r s1.rc.r s1.t s0.t, s1.rc.r s1.rc2.r s1.t s0.t, s0.lc.r s0.lc2.r s0.t s1.t
s0.rc.r s0.t q0.t, s1.rc.r s0.w s1.t, s1.lc.r s1.rc.r s0.lc.r s0.t s1.t
s1.rc.r s0.lc.r s0.t s1.t, s0.rc.r s0.rc2.r s0.t s1.t, s1.rc.r s1.w s0.t
s1.lc.r s1.lc2.r s1.t s0.t
"""

TEMPLATE_SETS = {
    name: _lines(text)
    for name, text in (
        ("hs28", _HS28),
        ("hs29", _HS29),
        ("zsz28", _ZSZ28),
        ("rich", _RICH + _LABELLED),
    )
}
"""Named sets for the search."""

# The templates that labels are chosen by: during the search, and of the arcs of a tree.
JOINT_LINES = _lines("""
m.t, m.w, m.w m.t, m.l, m.x3 m.t, m.f m.t, h.t d, h.w, h.w h.t d, m.t h.t, m.t h.t d
m.w h.t d, m.l h.l, m.t h.w d, m.w h.w, m.t m-1.t, m.t m+1.t, m.t h.t m-1.t d
m.t h.t m+1.t, m.t h.t h-1.t, m.t h.t h+1.t, m-1.w m.t, m+1.w m.t, m.t m.lc.t
m.t m.rc.t, m.t m.lc.w, m.t m.rc.w, m.w m.lc.w, m.t h.t m.lc.t d, m.t h.w m.lc.w
m.t h.t m.rc.t d, m.t h.t g.t, m.t h.t q0.t d, m.t h.t sl.t d, m.t h.w sl.t
m.t h.t h.lc.t d, m.t h.lc.w d, m.t m.vl m.vr d, m.t h.t h.vl h.vr d, m.x3 h.x3
m.x3 h.t d, m.t h.t m.lc.r d, m.t h.t m.rc.r d, m.lc.r m.rc.r m.t d, m.w m.lc.r
m.t h.t h.lc.r d, m.t h.t sl.r d, m.t h.w sl.r d, h.lc.r h.rc.r m.t h.t d
h.w h.lc.r h.rc.r d, m.w sl.r d
""")

ARC_LINES = _lines("""
m.t, m.w, m.w m.t, m.l, m.x3 m.t, m.x2, m.f m.t, h.t, h.w, h.w h.t, m.t h.t, m.t h.t d
m.w h.t, m.w h.t d, m.l h.l, m.t h.w, m.t h.w d, m.w h.w, m.t m-1.t, m.t m+1.t
m.t m-1.t m+1.t, m.t h.t m-1.t, m.t h.t m+1.t, m.t h.t h-1.t, m.t h.t h+1.t, m-1.w m.t
m+1.w m.t, m.t m.lc.t, m.t m.rc.t, m.t m.lc.w, m.t m.rc.w, m.w m.lc.t, m.w m.lc.w
m.t h.t m.lc.t d, m.t h.t m.lc.w, m.t h.w m.lc.w, m.t h.t m.rc.t d, m.t h.t g.t
m.t h.w g.t, m.t h.t sl.t d, m.t h.t sr.t d, m.t h.w sl.t, m.t h.w sr.t
m.t h.t h.lc.t d, m.t h.t h.rc.t d, m.t h.lc.w d, m.t m.vl m.vr d, m.t h.t m.vl m.vr
m.t h.t h.vl h.vr d, m.x3 h.x3, m.x3 h.t d
""")


# What ``"auto"`` adds for each column behind the tag, ``C``; ``P`` are the parts of its
# symbols.
STATE_LINES_OF_COLUMN = _lines("""
s0.C, s1.C, q0.C, q1.C, s0.w s0.C, s1.w s1.C, q0.w q0.C, s0.C s1.C, s0.C q0.C, s1.C q0.C
q0.C q1.C, s0.C s1.C s0.t s1.t, s0.C q0.C s0.t q0.t, s0.C s1.C d, s0.C s1.C s0.t d
s0.C s1.C s1.t d, s0.C s1.w, s0.w s1.C, s0.w s1.C s1.t d, s1.w s0.C s0.t d, s0.w q0.C
s1.w q0.C, s0.C q0.w, s0.C s1.C q0.t, s0.C q0.C s1.t, s0.C s1.C q0.t q1.t
s0.C q0.C q1.t q2.t, s0.C q0.C s1.t q1.t, s0.C q1.C q0.t, s2.C s1.C s0.t, s2.C s0.C s1.t
s2.C s1.C s0.t q0.t, s1.C s0.C s0.lc.t, s1.C s0.C s0.rc.t, s1.C s0.C s1.lc.t
s1.C s0.C s1.rc.t, s0.t s1.t s0.lc.C, s0.t s1.t s0.rc.C, s0.t s1.t s1.lc.C
s0.t s1.t s1.rc.C, s0.C s0.lc.C s1.t, s1.C s1.rc.C s0.t, s0.C s0.rc.C q0.t
s0.C s0.vl s0.vr, s1.C s1.vl s1.vr, s0.C s1.C s1.vr q0.t, s0.C s1.C s0.vl s1.vr, s0.P
s1.P, q0.P, s0.P s0.t s1.t, s1.P s0.t s1.t, s0.P s1.C, s1.P s0.C, s0.P s0.t q0.t
q0.P s0.t q0.t
""")

ARC_LINES_OF_COLUMN = _lines("""
m.C, h.C, m.w m.C, m.C m.t, m.C h.C, m.C h.C d, m.C h.C m.t h.t, m.C h.w, m.C h.w d
m.w h.C, m.w h.C d, m.C m-1.C, m.C m+1.C, m.C h.C m-1.t, m.C h.C m+1.t, m.C m.lc.C h.t d
m.C m.rc.C h.t d, m.C h.C m.lc.t, m.C m.lc.w h.t, m.C h.C g.t, m.C h.C sl.t d
m.C h.C sr.t d, m.C h.C h.lc.t d, m.C h.C h.rc.t d, m.C h.C m.vl m.vr, m.C h.C h.vl h.vr
m.P, m.P m.t d, m.P m.t h.t, h.P m.t h.t, m.P h.C
""")

MOST_RICH = 8
"""Columns behind this one get templates of one and two atoms only."""


def template_lines(
    templates: str | Sequence[str], width: int = 2, parts: Collection[int] = ()
) -> list[str]:
    """List the lines that a ``templates`` parameter means.

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
            return [
                *TEMPLATE_SETS["rich"],
                *further_lines(STATE_LINES_OF_COLUMN, width, parts),
            ]
        if templates not in TEMPLATE_SETS:
            raise ValueError(
                f"templates={templates!r} is not one of auto, "
                f"{', '.join(sorted(TEMPLATE_SETS))}; a list of lines would do as well"
            )
        return list(TEMPLATE_SETS[templates])
    if not templates or not all(
        isinstance(line, str) and line.strip() for line in templates
    ):
        raise ValueError(
            f"templates must hold lines such as 's0.w s1.t', got {describe(templates)}"
        )
    return list(templates)


class Lines(NamedTuple):
    """The templates of a parser."""

    states: list[str]
    arcs: list[str]  # none without labels

    def attributes(self) -> list[str]:
        """List the attributes that a parser with these templates reads, in order."""
        read = {
            *attributes_of(self.states, STATE_PLACES),
            *attributes_of(self.arcs, ARC_PLACES),
        }
        return sorted(read, key=rank)

    def check_labels(self, n_labels: int) -> None:
        """Raise if templates of states read labels and these are too many."""
        if n_labels >= MOST_SMALL and reads_labels(self.states):
            raise ValueError(
                f"at most {MOST_SMALL - 1} labels are possible if templates read "
                f"labels, got {n_labels}"
            )

    def check_columns(self, width: int) -> None:
        """Raise if a template names a column that words of so many columns lack."""
        parts = zip(self, (STATE_PLACES, ARC_PLACES))
        for line, places in ((line, places) for part, places in parts for line in part):
            most = max(column_of(name) for name in attributes_of([line], places))
            if most >= width:
                raise ValueError(
                    f"template {line!r} reads column {most}, but words have {width} "
                    f"columns, 0 to {width - 1}"
                )

    def compiled(self, rows: Iterable[str]) -> tuple[Templates, Templates]:
        """Translate both sets of templates, of states and of arcs, for these rows of
        atoms; the arrays are shared, and not to be written to.
        """
        return _compiled(tuple(self.states), tuple(self.arcs), tuple(rows))


def lines_of(
    templates: str | Sequence[str],
    labeled: bool,
    width: int = 2,
    parts: Collection[int] = (),
) -> Lines:
    """Choose the templates of a parser; parameters as of :func:`template_lines`.

    If templates of states read labels, labels are part of the search; without labels
    such lines are left out.
    """
    states = template_lines(templates, width, parts)
    if not labeled:
        return Lines(without_labels(states), [])
    arcs = JOINT_LINES if reads_labels(states) else ARC_LINES
    return Lines(states, [*arcs, *further_lines(ARC_LINES_OF_COLUMN, width, parts)])


def without_labels(lines: Iterable[str]) -> list[str]:
    """Leave out the templates of states that read a label."""
    return [line for line in lines if not reads_labels([line])]


def reads_labels(lines: Iterable[str]) -> bool:
    """Return whether one of the templates of states reads a label."""
    return any(name.endswith(".r") for line in lines for name in line.split())


def further_lines(
    lines: Sequence[str], width: int, parts: Collection[int]
) -> list[str]:
    """Write the lines for each column behind the tag; those that read parts only for
    columns that have some.
    """
    out = []
    for c in range(2, width):
        short = [line for line in lines if len(line.split()) < 3]
        for line in lines if c <= MOST_RICH else short:
            line = line.replace(".C", f".c{c}").replace(".P", f".p{c}")
            if c in parts or f".p{c}" not in line:
                out.append(line)
    return out


# --------------------------------------------------------------------------------------
# Groups of templates that read the same few fields.
#
# Many states of a sentence agree in some of their fields: which word is next, which
# ones are on top of the stack, which children these have. What templates of such fields
# alone add to a score is the same in all of them, so it is computed once and remembered
# (``state_features.ScoreCache``). A template belongs to the first group that has all fields
# it reads. The last group, of what no other has, is scored anew for each state.
#
# The groups were chosen for the set "rich": on UD English EWT a state then needs 37
# features instead of the 94 that it needs when those of two words on the stack and the
# next one are remembered together, and a reduction's label 8 instead of 25.
# --------------------------------------------------------------------------------------
def _groups(
    text: str, places: Places, **determined: str
) -> tuple[tuple[set[int], ...], dict[int, set[int]]]:
    """Translate names of places to fields: those that each line names, and by field
    those that determine it.
    """

    def fields(line: str) -> set[int]:
        return {places[name][0] for name in line.split()}

    return tuple(map(fields, text.strip().splitlines())), {
        places[name][0]: fields(line) for name, line in determined.items()
    }


STATE_GROUPS = _groups(
    """
q0
s1 s1.lc s1.lc2 s1.lc.r s2
s0 s0.lc s0.lc2 s0.lc.r s0.vl
q0 s0 s0.rc s0.rc2 s0.rc.r
s1 s1.lc s1.rc s1.rc2 s1.rc.r s1.vl s1.vr
s0 s1
s0 s0.lc s0.lc.r s0.lc2.r s1 s1.rc s1.rc2 s1.rc.r s1.rc2.r
s0.lc s0.lc2 s1 s2
q0 s0 s0.rc s0.rc2 s0.rc.r s0.rc2.r s1
s0 s0.lc s0.lc2 s1 s1.lc s1.lc2 s1.lc.r s1.lc2.r s1.rc.r
""",
    STATE_PLACES,
    d="s0 s1",
)
ARC_GROUPS = _groups(
    """
m
m m.lc m.lc.r m.rc
m h
m h h.lc h.lc.r h.rc.r h.vl h.vr sl sl.r
m h m.lc m.lc.r m.rc m.rc.r m.vl m.vr
""",
    ARC_PLACES,
    **{"m-1": "m", "m+1": "m", "h-1": "h", "h+1": "h", "d": "m h"},
)


# Each prediction asks for it: a third of the time of one sentence.
@lru_cache(maxsize=16)
def _compiled(
    state_lines: tuple[str, ...], arc_lines: tuple[str, ...], rows: tuple[str, ...]
) -> tuple[Templates, Templates]:
    joint = reads_labels(state_lines)
    return (
        compile_templates(
            state_lines, STATE_PLACES, rows, *(STATE_GROUPS if joint else ())
        ),
        compile_templates(arc_lines, ARC_PLACES, rows, *(ARC_GROUPS if joint else ())),
    )
