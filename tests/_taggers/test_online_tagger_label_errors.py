"""Wrong labels, and training that fails and leaves a tagger as it was."""

import re
import warnings
from functools import partial

import numpy as np
import pytest
from sklearn.model_selection import cross_val_predict
from tagger_error_cases import DICT, LINES, LIST, NAN, STR, TUPLE, Y, state_of

from skstruct import (
    L1CRF,
    ParameterMixer,
    PassiveAggressiveTagger,
    StructuredPerceptron,
)
from skstruct.datasets import make_hmm_sequences

# -- labels ----------------------------------------------------------------------------
NO_LABEL = (
    "class_weight: 'N' is no label of y and has no effect; the labels are 'A', 'B'"
)


@pytest.mark.parametrize("kind", [StructuredPerceptron, PassiveAggressiveTagger, L1CRF])
def test_class_weight_for_a_label_that_does_not_occur(kind):
    """A misspelt label is not passed over in silence; a fold that lacks a rare one can
    be trained on.
    """
    tagger = kind(LINES, class_weight={"A": 2.0, "N": 3.0}, random_state=0)
    with pytest.warns(UserWarning, match=NO_LABEL):
        tagger.fit(*STR)
    X, y = [*STR[0], ["n"]], [*STR[1], ["N"]]
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        tagger.fit(X, y)
        if kind is not L1CRF:  # in a stream the label may be still to come
            stream = kind(LINES, class_weight={"N": 3.0}, random_state=0).partial_fit(
                *STR
            )
            assert "N" in stream.partial_fit([["n"]], [["N"]]).classes_


def test_class_weight_where_parts_of_the_corpus_lack_the_label():
    X, y = [*STR[0] * 5, ["n"]], [*STR[1] * 5, ["N"]]
    tagger = StructuredPerceptron(LINES, class_weight={"N": 3.0}, random_state=0)
    halves = [lambda: (X[:5], y[:5]), lambda: (X[5:], y[5:])]
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        assert len(ParameterMixer(tagger, n_shards=2).fit(X, y).predict(X)) == len(X)
        assert "N" in ParameterMixer(tagger).fit_shards(halves).classes_
    with pytest.warns(UserWarning, match=NO_LABEL):
        assert len(cross_val_predict(tagger, X, y, cv=3)) == len(X)
    misspelt = ParameterMixer(StructuredPerceptron(LINES, class_weight={"M": 3.0}))
    with pytest.warns(UserWarning, match="class_weight: 'M' is no label of y"):
        misspelt.fit_shards(halves)


def test_classes_in_a_later_call():
    tagger = StructuredPerceptron(LINES, random_state=0).partial_fit(*STR)
    with pytest.raises(
        ValueError, match="all labels seen so far; 'B' missing in \\['A', 'C'\\]"
    ):
        tagger.partial_fit(*STR, classes=["A", "C"])
    assert list(tagger.classes_) == ["A", "B"]
    tagger.partial_fit(*STR, classes=["C", "B", "A"])
    assert list(tagger.classes_) == ["A", "B", "C"]
    assert tagger.predict(STR[0]) == STR[1]
    tagger.partial_fit([["c"]], [["C"]], classes=["B", "A", "C"]).partial_fit(*STR)
    for classes in (["A", "B"], ["A", "B", "C", "D"]):
        with pytest.raises(
            ValueError, match="differ from those of earlier calls, \\['A', 'B', 'C'\\]"
        ):
            tagger.partial_fit(*STR, classes=classes)
    with pytest.raises(
        ValueError, match="unknown label; choose from 'A', 'B', 'C', got str 'D'"
    ):
        tagger.partial_fit([["d"]], [["D"]])


def test_classes():
    tagger = StructuredPerceptron(LINES)
    for classes, message in [
        ([], "at least one label"),
        (["A"], "y: sequence 0, position 1: unknown label.*'A'.*got str 'B'"),
        (["A", 3], "one type"),
        (["A", None], "one type"),
        ([["A"], ["B"]], "sort"),
    ]:
        with pytest.raises(ValueError, match=message):
            tagger.partial_fit(*STR, classes=classes)
        assert not hasattr(tagger, "classes_")


# -- a failed continuation -------------------------------------------------------------
def continuation(corpus, **options):
    features = "auto" if corpus in (DICT, LIST) else LINES
    return StructuredPerceptron(
        features, warm_start=True, random_state=0, **options
    ).fit(*corpus)


def check_unchanged(tagger, X, learn, error, new):
    """``learn`` raises; afterwards the model predicts as before, what it has not
    learned included.
    """
    before = state_of(tagger)
    results = tagger.predict_kbest([*X, new], 9), tagger.n_features()
    with pytest.raises(error):
        learn()
    assert state_of(tagger) == before
    assert tagger.n_features() == results[1]
    assert tagger.predict_kbest([*X, new], 9) == results[0]


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize("corpus", [STR, TUPLE], ids=["str", "tuple"])
def test_continuation_refused_for_its_input(corpus, method):
    tagger = continuation(corpus)
    new = "new" if corpus is STR else ("new", "NEW")
    for X, y in [
        ([[new, new], [new, 3]], Y),
        ([[new]], [["A", "B"]]),
        ([[new, new]], [["A", 3]]),
    ]:
        learn = partial(getattr(tagger, method), X, y)
        check_unchanged(tagger, corpus[0], learn, ValueError, [new])


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize("corpus", [DICT, LIST], ids=["dict", "list"])
def test_continuation_of_bags_refused_for_its_input(corpus, method):
    tagger = continuation(corpus)
    X = [[{"n": "1"}, {"n": "2"}, {"n": "3"}, {"v": NAN}]]
    X = X if corpus is DICT else [[["n:1"], ["n:2"], ["n:3"], ["x", 3]]]
    learn = getattr(tagger, method)
    check_unchanged(
        tagger,
        corpus[0],
        lambda: learn(X, [["A", "B", "A", "B"]]),
        ValueError,
        X[0][:3],
    )


class Fails:
    """A scikit-learn callback that raises when training begins."""

    def __init__(self, error):
        self.error = error

    def setup(self, estimator, context):
        pass

    teardown = on_fit_task_end = setup

    def on_fit_task_begin(self, estimator, context, **_):
        raise self.error


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_continuation_that_fails_before_its_first_epoch(error):
    tagger = continuation(STR)
    if not hasattr(tagger, "set_callbacks"):
        pytest.skip("scikit-learn without callbacks")
    tagger.set_callbacks(Fails(error()))
    check_unchanged(
        tagger, STR[0], lambda: tagger.fit([["new", "b"]], [["A", "B"]]), error, ["new"]
    )


def test_nothing_touches_the_arguments():
    X, y = make_hmm_sequences(12, random_state=0)
    copies = [list(s) for s in X], [list(s) for s in y]
    weight = np.array([0.0, 1.0] * 6)
    tagger = StructuredPerceptron(LINES, early_stopping=True, random_state=0)
    tagger.fit(X, y, sample_weight=weight).partial_fit(X, y, sample_weight=weight)
    assert (X, y) == copies and weight.tolist() == [0.0, 1.0] * 6


def test_messages_are_short():
    long = "x" * 10_000
    with pytest.raises(ValueError) as info:
        StructuredPerceptron(LINES).fit([["a"], [long, (long,)]], [["A"], ["A", "B"]])
    assert len(str(info.value)) < 200 and re.search(
        "sequence 1, position 1", str(info.value)
    )
