"""What a request can ask for is bounded: predictions times tokens, said before any
work.

Probabilities and sets are as long as what was sent, which ``--max-bytes`` bounds.
"""

import pytest
from serving_cases import asked
from sklearn.pipeline import make_pipeline

from skstruct import Segmenter, SpanTagger, StructuredPerceptron
from skstruct.serving import answers, app

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def tagger(**options):
    return StructuredPerceptron("word", max_iter=1, **options)


MODELS = {
    "tokens": (tagger().fit([["the", "dog"]], [["D", "N"]]), [["the", "dog"], ["a"]]),
    "pipeline": (make_pipeline(tagger()).fit([["a"]], [["D"]]), [["the", "dog", "a"]]),
    "texts": (
        SpanTagger(tagger()).fit(["Ann ran"], [[(0, 3, "PER")]]),
        ["Ann", "", "met Bob"],
    ),
    "characters": (
        SpanTagger(tagger(), tokenizer="characters").fit(["Ann"], [[(0, 3, "PER")]]),
        ["Ann"],
    ),
    "words": (
        Segmenter(StructuredPerceptron("char", max_iter=1)).fit(
            ["他在"], [["他", "在"]]
        ),
        ["他在北"],
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_predictions_times_tokens(name, monkeypatch):
    """Each of these has three tokens."""
    model, X = MODELS[name]
    service = app(model)
    monkeypatch.setattr(answers, "MOST_TOKENS", 12)
    status, answer = asked(service, X, query="kbest=4")
    assert status == 200 and len(answer) == len(X)
    calls, kind = [], type(model[-1] if name == "pipeline" else model)
    monkeypatch.setattr(kind, "predict_kbest", lambda *_: calls.append(1))
    status, answer = asked(service, X, query="kbest=5")
    assert status == 413 and calls == []
    assert "kbest=5 of 3 tokens makes 15; a request can ask for 12" in answer["error"]
    assert asked(service, X)[0] == 200  # without the option nothing is bounded


@pytest.mark.parametrize("X", [[], [[]], [["a"], 3], ["a"], [None]])
def test_what_cannot_be_read_is_said_as_ever(X):
    service = app(MODELS["tokens"][0])
    assert asked(service, X, query="kbest=2")[0] == asked(service, X)[0]


def test_the_bound_is_one_that_machines_can_bear():
    assert answers.MOST * 1000 <= answers.MOST_TOKENS <= 10_000_000
