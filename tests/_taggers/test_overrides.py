"""A method that a user's class overrides is called, or the class is refused."""

import pytest
from sklearn.frozen import FrozenEstimator

from skstruct import (
    BaggingShuffleAverager,
    CalibratedTagger,
    KBestReranker,
    ParameterMixer,
    Segmenter,
    SpanTagger,
    StructuredPerceptron,
)
from skstruct.inspection import report
from skstruct.interchange import export

TOKENS = [["the", "dog"], ["a", "cat"], ["dog", "sees", "a", "cat"]] * 4
LABELS = [["D", "N"], ["D", "N"], ["N", "V", "D", "N"]] * 4
TEXTS = [" ".join(tokens) for tokens in TOKENS]
SPANS = [[(0, len(tokens[0]), "FIRST")] for tokens in TOKENS]

CALLED: list = []


class OwnFit(StructuredPerceptron):
    def fit(self, X, y, *given, **more):
        CALLED.append("fit")
        return super().fit(X, y, *given, **more)


class OwnPredict(StructuredPerceptron):
    def predict(self, X, **options):
        CALLED.append("predict")
        return super().predict(X, **options)


class OwnPredictOfAverage(BaggingShuffleAverager):
    def predict(self, X, **options):
        CALLED.append("predict")
        return super().predict(X, **options)


class OwnNothing(StructuredPerceptron):
    """Only has a name of its own."""


AROUND = {
    "averager": (lambda each: BaggingShuffleAverager(each, 2), TOKENS, LABELS),
    "mixer": (ParameterMixer, TOKENS, LABELS),
    "mixer of segmenter": (
        lambda each: ParameterMixer(Segmenter(each)),
        TEXTS,
        TOKENS,
    ),
    "calibrated": (lambda each: CalibratedTagger(each, cv=2), TOKENS, LABELS),
    "frozen": (
        lambda each: CalibratedTagger(FrozenEstimator(each.fit(TOKENS, LABELS))),
        TOKENS,
        LABELS,
    ),
    "reranker": (lambda each: KBestReranker(each, 2, 2), TOKENS, LABELS),
    "segmenter": (Segmenter, TEXTS, TOKENS),
    "spans": (SpanTagger, TEXTS, SPANS),
}


@pytest.mark.parametrize("own", [OwnFit, OwnPredict, OwnNothing])
@pytest.mark.parametrize("name", AROUND)
def test_a_method_of_a_users_class_is_called_or_refused(name, own):
    make, X, y = AROUND[name]
    model = make(own(max_iter=2, random_state=0))
    CALLED.clear()
    if name == "frozen" and own is OwnFit:
        return  # it was called before
    method = own.__name__[3:].lower()
    try:
        model.fit(X, y).predict(X)
    except (TypeError, ValueError) as error:
        assert f"{own.__name__}.{method} would never be called" in str(error)
        assert method not in CALLED
        assert own is not OwnNothing
        return
    assert own is OwnNothing or method in CALLED


def test_a_method_of_an_average_inside_is_refused():
    average = OwnPredictOfAverage(OwnNothing(max_iter=2, random_state=0), 2)
    model = CalibratedTagger(average, cv=2)
    with pytest.raises(TypeError, match="OwnPredictOfAverage.predict would never be"):
        model.fit(TOKENS, LABELS)


def test_a_file_is_not_written_without_a_method_of_its_own(tmp_path):
    export(OwnNothing().fit(TOKENS, LABELS), tmp_path / "tagger.py", check=TOKENS)
    with pytest.raises(ValueError, match="OwnPredict has a predict of its own"):
        export(OwnPredict().fit(TOKENS, LABELS), tmp_path / "tagger.py")


def test_a_report_needs_no_model_that_files_hold():
    model = OwnPredict(random_state=0).fit(TOKENS, LABELS)
    assert "token accuracy" in str(report(model, TOKENS, LABELS))
    spans = SpanTagger(OwnNothing(random_state=0), tokenizer=str.split)
    assert "precision" in str(report(spans.fit(TEXTS, SPANS), TEXTS, SPANS))
