"""The parser's sets of feature templates; :mod:`.templates` explains the atoms.

"hs28" is the set of Huang and Sagae (2010), "hs29" that of their released parser, "zsz28" that of Zhang, Su
and Zhou (2014). "rich" adds to "hs29": the stack's third tree and the second word ahead, second children,
numbers of children and distance (after Zhang and Nivre 2011), affixes and shapes.

References
----------
L. Huang and K. Sagae (2010). Dynamic programming for linear-time incremental parsing. ACL.
Y. Zhang and J. Nivre (2011). Transition-based dependency parsing with rich non-local features. ACL.
K. Zhang, J. Su, C. Zhou (2014). Regularized structured perceptron. EACL, section 6.1.3.
"""

_COMMON_21 = """
s0.w, s0.t, s0.w s0.t, s1.w, s1.t, s1.w s1.t, q0.w, q0.t, q0.w q0.t, s0.w s1.w, s0.t s1.t, s0.t q0.t
s0.w s0.t s1.t, s0.t s1.w s1.t, s0.w s1.w s1.t, s0.w s0.t s1.w, s0.w s0.t s1.w s1.t, s0.t q0.t q1.t
s1.t s0.t q0.t, s0.w q0.t q1.t, s1.t s0.w q0.t
"""

_HS28 = (
    _COMMON_21
    + """
s1.t s1.lc.t s0.t, s1.t s1.rc.t s0.t, s1.t s0.t s0.rc.t, s1.t s1.lc.t s0.w, s1.t s1.rc.t s0.w
s1.t s0.w s0.lc.t, s2.t s1.t s0.t
"""
)

_HS29 = _HS28 + "s1.t s0.t s0.lc.t\n"

_ZSZ28 = (
    _COMMON_21
    + """
s1.t s1.lc.t s0.t, s1.t s1.rc.t s0.t, s1.t s0.t s0.rc.t, s1.t s0.t s0.lc.t, s1.t s0.w s0.lc.t
s1.t s0.w s0.rc.t, s2.t s1.t s0.t
"""
)

_RICH = (
    _HS29
    + """
s2.t, s2.w s2.t, q1.t, q1.w q1.t, q2.t, s2.t s1.t, q0.t q1.t, q1.t q2.t, s0.t q1.t, q0.t q1.t q2.t
s0.w q0.w, s0.t q0.w, s0.w q0.t, s1.t q0.t, s1.w q0.t, s1.t s1.rc.t s0.t s0.lc.t, s1.rc.t s0.t
s1.t s0.lc.t, s0.t s0.rc.t q0.t, s0.t s0.lc.t s0.rc.t, s1.t s1.lc.t s1.rc.t, s0.rc.w s0.t
s1.rc.w s1.t s0.t, s0.lc.w s0.t s1.t, s1.lc.w s1.t, s0.t s0.rc.t s0.rc2.t, s1.t s1.rc.t s1.rc2.t
s0.t s0.lc.t s0.lc2.t, s0.t s1.t d, s0.w s1.t d, s0.t s1.w d, s0.w s1.w d, s0.t s1.t d q0.t
s0.t s0.vl s0.vr, s1.t s1.vl s1.vr, s0.w s0.vl, s1.w s1.vr, s0.t s1.t s1.vr q0.t
s0.t s1.t s0.vl s1.vr, s0.x3 s0.t, s1.x3 s1.t, q0.x3 q0.t, s0.x3 s1.t, s1.x3 s0.t, s0.l s1.l
s0.f s0.t s1.t, s1.t s0.t s0.lc.t s0.lc2.t, s0.t s1.t s1.rc.t s1.rc2.t, s0.t s1.t s1.lc.t s1.lc2.t
s1.t s0.t s0.rc.t s0.rc2.t, s0.t s1.t s0.lc2.w, s0.t s0.lc.w s0.lc2.w, s1.t s1.lc.w s1.lc2.w
s1.t s1.rc.w s1.rc2.w, s1.t s0.t s1.lc.t s1.rc.t, s1.t s1.lc.t s1.rc.t s0.t s0.lc.t s0.rc.t
s1.t s0.lc.w s0.lc2.w, s0.t q0.t q1.w, s1.t s0.t q0.w, s1.t s0.t q1.w, s0.t q0.t q1.t q2.t
s1.t q0.t q1.t, s1.t s0.t q0.t q1.t, s2.t s1.t s0.t q0.t, s0.lc.w s1.t s0.t q0.t, s0.lc.w s1.t q0.w
s1.w s0.lc.w, s2.w s0.lc.w, s2.t s1.t s0.t s0.lc.t, s2.t s1.t s0.lc.w, s2.t s0.t s0.lc.w
s1.rc.w s0.lc.w, s1.rc.w s0.t, s0.rc.w q0.w, s0.rc.t q0.t, s0.rc.w s0.t q0.t
"""
)

_LABELLED = """
s0.lc.r s0.t s1.t, s0.rc.r s0.t s1.t, s1.lc.r s0.t s1.t, s1.rc.r s0.t s1.t, s0.lc.r s0.w
s0.rc.r s0.w, s1.lc.r s1.w, s1.rc.r s1.w, s0.lc.r s0.rc.r s0.t, s1.lc.r s1.rc.r s1.t s0.t
s1.rc.r s1.rc2.r s1.t s0.t, s0.lc.r s0.lc2.r s0.t s1.t, s0.rc.r s0.t q0.t, s1.rc.r s0.w s1.t
s1.lc.r s1.rc.r s0.lc.r s0.t s1.t, s1.rc.r s0.lc.r s0.t s1.t, s0.rc.r s0.rc2.r s0.t s1.t
s1.rc.r s1.w s0.t, s1.lc.r s1.lc2.r s1.t s0.t
"""

_JOINT = """
m.t, m.w, m.w m.t, m.l, m.x3 m.t, m.f m.t, h.t d, h.w, h.w h.t d, m.t h.t, m.t h.t d, m.w h.t d
m.l h.l, m.t h.w d, m.w h.w, m.t m-1.t, m.t m+1.t, m.t h.t m-1.t d, m.t h.t m+1.t, m.t h.t h-1.t
m.t h.t h+1.t, m-1.w m.t, m+1.w m.t, m.t m.lc.t, m.t m.rc.t, m.t m.lc.w, m.t m.rc.w, m.w m.lc.w
m.t h.t m.lc.t d, m.t h.w m.lc.w, m.t h.t m.rc.t d, m.t h.t g.t, m.t h.t q0.t d, m.t h.t sl.t d
m.t h.w sl.t, m.t h.t h.lc.t d, m.t h.lc.w d, m.t m.vl m.vr d, m.t h.t h.vl h.vr d, m.x3 h.x3
m.x3 h.t d, m.t h.t m.lc.r d, m.t h.t m.rc.r d, m.lc.r m.rc.r m.t d, m.w m.lc.r, m.t h.t h.lc.r d
m.t h.t sl.r d, m.t h.w sl.r d, h.lc.r h.rc.r m.t h.t d, h.w h.lc.r h.rc.r d, m.w sl.r d
"""

_ARCS = """
m.t, m.w, m.w m.t, m.l, m.x3 m.t, m.x2, m.f m.t, h.t, h.w, h.w h.t, m.t h.t, m.t h.t d, m.w h.t
m.w h.t d, m.l h.l, m.t h.w, m.t h.w d, m.w h.w, m.t m-1.t, m.t m+1.t, m.t m-1.t m+1.t
m.t h.t m-1.t, m.t h.t m+1.t, m.t h.t h-1.t, m.t h.t h+1.t, m-1.w m.t, m+1.w m.t, m.t m.lc.t
m.t m.rc.t, m.t m.lc.w, m.t m.rc.w, m.w m.lc.t, m.w m.lc.w, m.t h.t m.lc.t d, m.t h.t m.lc.w
m.t h.w m.lc.w, m.t h.t m.rc.t d, m.t h.t g.t, m.t h.w g.t, m.t h.t sl.t d, m.t h.t sr.t d
m.t h.w sl.t, m.t h.w sr.t, m.t h.t h.lc.t d, m.t h.t h.rc.t d, m.t h.lc.w d, m.t m.vl m.vr d
m.t h.t m.vl m.vr, m.t h.t h.vl h.vr d, m.x3 h.x3, m.x3 h.t d
"""


# ``C`` is a column behind the tag, ``P`` the parts of its symbols.
_STATE_OF_COLUMN = """
s0.C, s1.C, q0.C, q1.C, s0.w s0.C, s1.w s1.C, q0.w q0.C, s0.C s1.C, s0.C q0.C, s1.C q0.C, q0.C q1.C
s0.C s1.C s0.t s1.t, s0.C q0.C s0.t q0.t, s0.C s1.C d, s0.C s1.C s0.t d, s0.C s1.C s1.t d, s0.C s1.w
s0.w s1.C, s0.w s1.C s1.t d, s1.w s0.C s0.t d, s0.w q0.C, s1.w q0.C, s0.C q0.w, s0.C s1.C q0.t
s0.C q0.C s1.t, s0.C s1.C q0.t q1.t, s0.C q0.C q1.t q2.t, s0.C q0.C s1.t q1.t, s0.C q1.C q0.t
s2.C s1.C s0.t, s2.C s0.C s1.t, s2.C s1.C s0.t q0.t, s1.C s0.C s0.lc.t, s1.C s0.C s0.rc.t
s1.C s0.C s1.lc.t, s1.C s0.C s1.rc.t, s0.t s1.t s0.lc.C, s0.t s1.t s0.rc.C, s0.t s1.t s1.lc.C
s0.t s1.t s1.rc.C, s0.C s0.lc.C s1.t, s1.C s1.rc.C s0.t, s0.C s0.rc.C q0.t, s0.C s0.vl s0.vr
s1.C s1.vl s1.vr, s0.C s1.C s1.vr q0.t, s0.C s1.C s0.vl s1.vr, s0.P, s1.P, q0.P, s0.P s0.t s1.t
s1.P s0.t s1.t, s0.P s1.C, s1.P s0.C, s0.P s0.t q0.t, q0.P s0.t q0.t
"""

_ARCS_OF_COLUMN = """
m.C, h.C, m.w m.C, m.C m.t, m.C h.C, m.C h.C d, m.C h.C m.t h.t, m.C h.w, m.C h.w d, m.w h.C
m.w h.C d, m.C m-1.C, m.C m+1.C, m.C h.C m-1.t, m.C h.C m+1.t, m.C m.lc.C h.t d, m.C m.rc.C h.t d
m.C h.C m.lc.t, m.C m.lc.w h.t, m.C h.C g.t, m.C h.C sl.t d, m.C h.C sr.t d, m.C h.C h.lc.t d
m.C h.C h.rc.t d, m.C h.C m.vl m.vr, m.C h.C h.vl h.vr, m.P, m.P m.t d, m.P m.t h.t, h.P m.t h.t
m.P h.C
"""


def _lines(text):
    return tuple(line.strip() for line in text.replace(",", "\n").splitlines() if line)


TEMPLATE_SETS = {
    name: _lines(text)
    for name, text in (("hs28", _HS28), ("hs29", _HS29), ("zsz28", _ZSZ28), ("rich", _RICH + _LABELLED))
}
"""Named sets for the search."""

ARC_LINES, JOINT_LINES = _lines(_ARCS), _lines(_JOINT)
"""The templates that labels are chosen by: of the arcs of a tree, and during the search."""

STATE_LINES_OF_COLUMN = _lines(_STATE_OF_COLUMN)
ARC_LINES_OF_COLUMN = _lines(_ARCS_OF_COLUMN)
"""What ``"auto"`` adds for each column behind the tag."""
