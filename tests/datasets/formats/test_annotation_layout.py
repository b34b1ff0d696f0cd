"""How annotated texts are read, as a layout and back."""

import pytest

from skstruct._data.source_layout import SourceLayout
from skstruct.datasets.formats.annotation_layout import reader_of, reader_options
from skstruct.datasets.formats.span_files import AnnotationReader


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"offsets": "utf-16", "ends": "inclusive"},
        {"text": "body", "spans": "found.ents", "label": "name"},
        {"label_names": ["PER", "LOC"]},
        {"label_names": {1: "PER", 5: "LOC"}},
    ],
)
def test_options_come_back_from_a_layout(options):
    reader = AnnotationReader("jsonl", **options)
    layout = SourceLayout("jsonl", **reader_options(reader))
    assert reader_of(layout) == reader
    assert reader_of(SourceLayout.from_dict(layout.to_dict())) == reader


def test_options_that_there_are_not():
    with pytest.raises(ValueError, match="no option 'nothing'"):
        reader_of(SourceLayout("jsonl", options={"nothing": 1}))
    with pytest.raises(ValueError, match="control is for"):
        reader_of(SourceLayout("jsonl", options={"control": "x"}))
