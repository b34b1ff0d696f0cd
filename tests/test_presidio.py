"""The recogniser for Presidio, as ``docs/deployment.md`` has it."""

import pathlib
import re

import pytest

from skstruct import L1CRF, SpanTagger
from skstruct.datasets import columns_to_spans, load_entities

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "deployment.md"
TEXT = "Maria Lopez lives in Berlin."

needs_page = pytest.mark.skipif(
    not PAGE.is_file(), reason="the documentation is not installed"
)


@pytest.fixture(scope="module")
def model():
    X, y = columns_to_spans(*load_entities())
    return SpanTagger(L1CRF(c1=0.1, random_state=0)).fit(X, y)


def blocks():
    """The code of the section, a string for each block."""
    section = re.search(
        r"^## Presidio\n(.*?)^## ", PAGE.read_text("utf-8"), re.S | re.M
    )
    return re.findall(r"```python\n(.*?)```", section[1], re.S)


@needs_page
def test_spans_are_entities_of_presidio(model, tmp_path, monkeypatch):
    pytest.importorskip("presidio_analyzer")
    monkeypatch.chdir(tmp_path)
    model.save("names.skstruct")
    names = {}
    recogniser, engine = blocks()
    exec(compile(recogniser, "recogniser", "exec"), names)
    found = names["SpanRecognizer"]("names.skstruct").analyze(TEXT, ["PERSON"])
    ((span, p), _) = model.predict_segment_proba([TEXT])[0]
    (result,) = found
    assert span == (0, 11, "PER") and result.entity_type == "PERSON"
    assert (result.start, result.end, result.score) == (0, 11, p)
    pytest.importorskip("presidio_analyzer.nlp_engine.no_op_nlp_engine")
    exec(compile(engine, "engine", "exec"), names)
    found = names["analyzer"].analyze(TEXT, language="en")
    assert {(r.entity_type, r.start, r.end) for r in found} == {
        ("PERSON", 0, 11), ("LOCATION", 21, 27),
    }  # fmt: skip


@needs_page
def test_the_section_stands_in_the_page():
    """Also without Presidio: two blocks that are Python."""
    assert len([compile(block, "block", "exec") for block in blocks()]) == 2
