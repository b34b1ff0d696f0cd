"""Colours of labels: functions of their names alone."""

import re

from skstruct._data.label_colours import label_style, marks_style


def test_prefixes_do_not_matter():
    assert label_style("B-PER") == label_style("I-PER") == label_style("PER")
    assert label_style("per") == label_style("PERSON")


def test_usual_labels_differ():
    styles = {label_style(name) for name in ("PER", "LOC", "ORG", "MISC", "DATE")}
    assert len(styles) == 5


def test_any_name_has_a_style_that_the_sheet_reads():
    sheet = marks_style()
    for name in ("x", "GENE", "Ünïcode", "\ud83d", 7, "B-"):
        style = label_style(name)
        assert re.fullmatch(r"--hue:\d{1,3}(;--line:(double|dotted))?", style)
        assert all(f"var({part.split(':')[0]}" in sheet for part in style.split(";"))
    assert label_style("GENE") == label_style("GENE")
