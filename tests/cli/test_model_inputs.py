"""A model whose input no corpus file can hold is refused by name."""

import pytest
from sklearn.pipeline import make_pipeline

from skstruct import SpanTagger, StructuredPerceptron
from skstruct.cli.common import CommandError
from skstruct.cli.model_inputs import inputs_of

LABELS = [["A", "B"]] * 4
REFUSED = {
    "rows of numbers": [[[0.0, 1.0], [1.0, 0.0]]] * 4,
    "dicts or lists of features": [[{"w": "a"}, {"w": "b"}]] * 4,
}


def fitted(X):
    return StructuredPerceptron(random_state=0).fit(X, LABELS)


@pytest.mark.parametrize("what", REFUSED)
def test_what_no_file_holds_is_refused(what):
    model = fitted(REFUSED[what])
    with pytest.raises(CommandError, match=f"m.skstruct: the model reads {what}"):
        inputs_of(model, "m.skstruct")


def test_files_of_crfsuite_hold_features():
    model = fitted(REFUSED["dicts or lists of features"])
    assert inputs_of(model, "m", "crfsuite").token is dict


def test_the_last_step_of_a_pipeline_says_it():
    words = [["Ann", "ran"]] * 4
    assert inputs_of(make_pipeline(fitted(words)), "m").token is str
    spans = SpanTagger(StructuredPerceptron(random_state=0))
    spans.fit(["Ann ran", "Bo sat"], [[(0, 3, "PER")], [(0, 2, "PER")]])
    assert inputs_of(spans, "m").task == "spans"
