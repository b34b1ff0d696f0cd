"""Sets of labels in the place of a label, and texts of which some types are annotated."""

import copy
import itertools
import pickle

import numpy as np
import pytest
from inside import model_of
from sklearn.model_selection import cross_val_score

from skstruct import L1CRF, PartialSpans, PassiveAggressiveTagger, SpanTagger, StructuredPerceptron
from skstruct.metrics import span_f1_score

X = [["a", "b", "c"], ["b", "a"], ["c", "c", "a", "b"]]
Y = [["A", {"A", "B"}, None], [frozenset(["B", "C"]), "A"], ["C", {"C"}, {"A", "B", "C"}, "B"]]
PLAIN = [["A", {"A", "B"}, None], [frozenset(["B", "C"]), "A"], ["C", "C", None, "B"]]

LEARNERS = [
    StructuredPerceptron(random_state=0),
    StructuredPerceptron(order=2, random_state=0),
    PassiveAggressiveTagger(random_state=0),
    L1CRF(c1=0.01, c2=0.1, random_state=0),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_the_full_set_is_none_and_a_set_of_one_its_label(learner):
    with_sets, without = (copy.deepcopy(learner).fit(X, y) for y in (Y, PLAIN))
    for name, store in model_of(with_sets).stores().items():
        np.testing.assert_array_equal(store.value, model_of(without).stores()[name].value)


def test_probabilities_and_the_objective_sum_over_the_labels_of_sets():
    crf = L1CRF(c1=0.0, c2=0.1, random_state=0).fit(X, Y)
    found = crf.sequence_log_proba(X, Y)
    for x, y, value in zip(X, Y, found):
        ways = [[each] if isinstance(each, str) else sorted(each or "ABC") for each in y]
        each = [crf.sequence_log_proba([x], [list(z)])[0] for z in itertools.product(*ways)]
        assert value == pytest.approx(np.logaddexp.reduce(each))
    squares = sum((store.value**2).sum() for store in model_of(crf).stores().values())
    assert crf.objective_ == pytest.approx(0.1 * squares - found.sum())


def test_a_prediction_in_the_set_is_right():
    tagger = StructuredPerceptron(random_state=0).fit([["a", "b"]], [["A", "B"]])
    assert tagger.score([["a", "b"]], [[{"A", "B"}, {"A", "C"}]]) == 0.5


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["A", set(), "B"], "sequence 0, position 1: a set must hold labels"),
        (["A", {"A", None}, "B"], "sequence 0, position 1: a set must hold labels"),
        (["A", {"A", 1}, "B"], "sequence 0, position 1: expected a label of type str"),
    ],
)
def test_what_is_no_set_of_labels(labels, message):
    with pytest.raises(ValueError, match=message):
        StructuredPerceptron().fit([["a", "b", "c"]], [labels])


def test_folds_and_new_labels():
    scores = cross_val_score(StructuredPerceptron(random_state=0), X * 4, Y * 4, cv=3)
    assert np.isfinite(scores).all()
    tagger = StructuredPerceptron().fit([["a", "b"]], [["A", {"B", "C"}]])
    assert tagger.classes_.tolist() == ["A", "B", "C"]


NAMES = ["Ann", "Bob", "Eve"], ["Rome", "Oslo", "Bern"]
TEXTS = [f"{who} went to {place} again ." for who in NAMES[0] for place in NAMES[1]] * 2
SPANS = [
    [(0, 3, "PER"), (len("Ann went to "), len("Ann went to ") + len(t.split()[3]), "LOC")] for t in TEXTS
]


def partly(make):
    """Half of the texts annotate persons, half places."""
    kinds = ["PER", "LOC"] * len(SPANS)
    return [make([s for s in each if s[2] == kind], {kind}) for each, kind in zip(SPANS, kinds)]


@pytest.mark.parametrize("tagger", [None, L1CRF(c1=0.1, c2=0.1, random_state=0)], ids=str)
def test_two_corpora_of_different_types(tagger):
    partial = SpanTagger(tagger).fit(TEXTS, partly(PartialSpans))
    as_outside = SpanTagger(tagger).fit(TEXTS, partly(lambda spans, _: spans))
    assert partial.score(TEXTS, SPANS) > as_outside.score(TEXTS, SPANS)
    assert partial.score(TEXTS, partly(PartialSpans)) >= partial.score(TEXTS, partly(lambda spans, _: spans))


def test_predictions_of_other_types_do_not_count():
    true, found = [PartialSpans([(0, 3, "PER")], {"PER"})], [[(0, 3, "PER"), (4, 8, "LOC")]]
    assert span_f1_score(true, found) == 1.0
    assert span_f1_score([list(true[0])], found) < 1.0
    with pytest.raises(ValueError, match="sequence 0, position 0: .*not annotated"):
        SpanTagger().fit(["Rome"], [PartialSpans([(0, 4, "LOC")], {"PER"})])


def test_partial_spans_keep_their_types():
    spans = PartialSpans([(0, 3, "PER")], types=["PER"])
    for other in (pickle.loads(pickle.dumps(spans)), copy.copy(spans), copy.deepcopy(spans), spans.copy()):
        assert (list(other), other.types) == ([(0, 3, "PER")], frozenset({"PER"}))
    with pytest.raises(AttributeError):
        spans.types = {"LOC"}
    with pytest.raises(ValueError, match="types must be"):
        PartialSpans([], "PER")
