"""What models say of themselves: what they read, predict and lack."""

import pytest

from skstruct import Segmenter, SpanTagger, StructuredPerceptron
from skstruct._data.inputs import LABELS, SPANS, WORDS
from skstruct._taggers.abilities import inputs_of, reason, span_labels, task_of

TEXTS = ["Ann in Rome", "Bob left"]
GIVEN = [[(0, 3, "PER"), (7, 11, "LOC")], [(0, 3, "PER")]]


@pytest.fixture(scope="module")
def tagger():
    inner = StructuredPerceptron(max_iter=2, random_state=0)
    return SpanTagger(inner).fit(TEXTS, GIVEN)


def test_what_is_read_and_predicted(tagger):
    assert task_of(tagger) == SPANS and span_labels(tagger) == ["LOC", "PER"]
    inner = StructuredPerceptron("char", max_iter=1)
    segmenter = Segmenter(inner).fit(["ab c"], [["ab", "c"]])
    assert task_of(segmenter) == WORDS
    plain = StructuredPerceptron(max_iter=1).fit([["a", "b"]], [["X", "Y"]])
    assert task_of(plain) == LABELS and inputs_of(plain).token is str
    assert inputs_of(object()) is None and task_of(object()) is None


def test_why_a_method_is_missing(tagger):
    assert not hasattr(tagger, "predict_segment_proba")
    assert "StructuredPerceptron" in reason(tagger, "predict_segment_proba")
