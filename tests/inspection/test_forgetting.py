"""What a model forgets of old labels as it goes on learning."""

import math
from copy import deepcopy

import pytest

from skstruct import L1CRF, ShiftReduceParser, SpanTagger, StructuredPerceptron
from skstruct.inspection import forgetting
from skstruct.metrics import segment_f1_score, span_f1_score, token_f1_score

X = [["the", "dog"], ["a", "cat"]]
Y = [["D", "N"], ["D", "N"]]
NEW = [["dog", "ran"], ["cat", "sat"]], [["V", "V"], ["V", "V"]]
HELD_OUT = [["the", "cat", "ran"], ["a", "dog"]], [["D", "N", "V"], ["D", "N"]]


def test_scores_before_and_after_are_those_of_two_models():
    tagger = StructuredPerceptron(random_state=0).fit(X, Y)
    again = deepcopy(tagger).partial_fit(*NEW)
    predicted = tagger.predict(HELD_OUT[0])
    found = forgetting(tagger, *NEW, *HELD_OUT)
    for k, model in enumerate((tagger, again)):
        said = model.predict(HELD_OUT[0])
        f1 = token_f1_score(HELD_OUT[1], said, average=None, zero_division=0.0)
        for change in found:
            assert change[2 + k] == f1[change.label]
        assert found.old[k] == pytest.approx((f1["D"] + f1["N"]) / 2)
        assert found.new[k] == f1["V"]
    assert {c.label: c.is_new for c in found} == {"D": False, "N": False, "V": True}
    assert tagger.predict(HELD_OUT[0]) == predicted
    assert str(found).splitlines()[1].split()[0] == "all"


def test_types_of_spans():
    texts, spans = ["Ann ran.", "Bob sat."], [[(0, 3, "PER")], [(0, 3, "PER")]]
    more = ["Oslo is far.", "Rome is far."], [[(0, 4, "LOC")], [(0, 4, "LOC")]]
    model = SpanTagger(StructuredPerceptron(random_state=0)).fit(texts, spans)
    found = forgetting(model, *more, texts + more[0], spans + more[1])
    changes = {change.label: change for change in found}
    assert changes["LOC"].is_new and not changes["PER"].is_new
    assert changes["PER"].support == changes["LOC"].support == 2
    assert changes["LOC"].after > changes["LOC"].before == 0.0
    true, held_out = spans + more[1], texts + more[0]
    f1 = span_f1_score(true, model.predict(held_out), average=None, texts=held_out)
    assert changes["PER"].before == f1["PER"]


def test_types_of_all_chains():
    texts = ["GATA-1 promoter binds.", "The GATA-1 promoter binds."]
    spans = [[(0, 15, "DNA"), (0, 6, "protein")], [(4, 19, "DNA"), (4, 10, "protein")]]
    model = SpanTagger(StructuredPerceptron(random_state=0), overlap="by-type")
    found = forgetting(model.fit(texts, spans), texts, spans, texts, spans)
    assert {change.label: change.is_new for change in found} == {
        "DNA": False, "protein": False,
    }  # fmt: skip
    assert not math.isnan(found.old[1]) and math.isnan(found.new[1])


def test_main_types_of_arcs():
    X = [[("a", "DT"), ("dog", "NN"), ("ran", "VB")]] * 2
    y = [[(2, "det:x"), (3, "nsubj"), (0, "root")]] * 2
    parser = ShiftReduceParser(max_iter=2, random_state=0).fit(X, y)
    assert not any(change.is_new for change in forgetting(parser, X, y, X, y))
    more = [[(2, "amod"), (3, "nsubj"), (0, "root")]] * 2
    found = forgetting(parser, X, more, X, more)
    assert [change.label for change in found if change.is_new] == ["amod"]


def test_types_of_segments():
    tagger = StructuredPerceptron(random_state=0, constraints="BIO")
    tagger.fit([["Ann", "ran"]] * 2, [["B-PER", "O"]] * 2)
    new = [["Oslo", "ran"]] * 2, [["B-LOC", "O"]] * 2
    found = forgetting(tagger, *new, *new)
    (loc, *_) = [change for change in found if change.label == "LOC"]
    said = deepcopy(tagger).partial_fit(*new).predict(new[0])
    assert (
        loc.is_new and loc.after == segment_f1_score(new[1], said, average=None)["LOC"]
    )


def test_without_new_labels_there_is_no_score_of_them():
    tagger = StructuredPerceptron(random_state=0).fit(X, Y)
    assert all(map(math.isnan, forgetting(tagger, X, Y, X, Y).new))


def test_a_model_without_partial_fit_says_why():
    crf = L1CRF().fit(X, Y)
    with pytest.raises(AttributeError, match="L1CRF minimises its objective"):
        forgetting(crf, *NEW, *HELD_OUT)
