"""The named sets of templates, and lists of the user's own."""

import pytest

from skstruct._parser.state_templates import (
    attributes_of,
    compile_templates,
)
from skstruct._parser.states import ARC_PLACES, STATE_PLACES
from skstruct._parser.template_sets import (
    ARC_LINES,
    JOINT_LINES,
    TEMPLATE_SETS,
    template_lines,
)


def test_the_published_sets_have_their_sizes():
    sizes = {name: len(template_lines(name)) for name in TEMPLATE_SETS}
    assert (sizes["hs28"], sizes["hs29"], sizes["zsz28"]) == (28, 29, 28)
    assert len(set(template_lines("rich"))) == sizes["rich"] <= 128
    assert set(template_lines("hs29")) - set(template_lines("hs28")) == {
        "s1.t s0.t s0.lc.t"
    }


def test_template_lists_are_checked():
    assert template_lines(["s0.w", "s1.t"]) == ["s0.w", "s1.t"]
    for wrong in ([], [1], [" "], ()):
        with pytest.raises(ValueError, match="templates must hold lines"):
            template_lines(wrong)
    with pytest.raises(ValueError, match="'best' is not one of auto, hs28"):
        template_lines("best")


@pytest.mark.parametrize("lines", [ARC_LINES, JOINT_LINES], ids=["after", "in"])
def test_the_templates_of_arcs_compile(lines):
    templates = compile_templates(lines, ARC_PLACES, attributes_of(lines, ARC_PLACES))
    assert templates.slot.shape == (len(lines), 6) and len(set(lines)) == len(lines)


def test_auto_is_rich_and_more():
    assert template_lines("auto") == template_lines("rich")
    three = template_lines("auto", 3)
    assert (
        three[: len(template_lines("rich"))] == template_lines("rich")
        and "s0.c2 s1.c2" in three
    )
    assert not any(".p2" in line for line in three) and "s0.p2" in template_lines(
        "auto", 3, {2}
    )
    with pytest.raises(ValueError, match="at most one atom of parts"):
        compile_templates(["s0.p2 s1.p2"], STATE_PLACES, ["t", "p2"])
