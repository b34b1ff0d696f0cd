"""Known spans, and further training, of span taggers of several chains of labels."""

import random

import inside
import pytest
from nested_cases import GOLD, TEST, X, Y, flat_taggers, of_types, tagger
from sklearn import config_context

from skstruct import L1CRF, Lexicon, SpanTagger, StructuredPerceptron
from skstruct._taggers.abilities import span_labels


# -- what is known ---------------------------------------------------------------------
@pytest.mark.parametrize("at_once", [30, 10**6])
def test_known_spans_go_to_the_chain_of_their_type(monkeypatch, at_once):
    monkeypatch.setattr("skstruct._data.text.AT_ONCE", at_once)
    inner = L1CRF(c1=0.1, max_iter=100, random_state=0)
    model = tagger(inner).fit(X, Y)
    assert model.accepts_known
    rng = random.Random(0)
    known = [[s for s in spans if rng.random() < 0.5] for spans in GOLD]
    nothing = [[] for _ in TEST]
    nothing[1] = [(0, len(TEST[1].rstrip()), "O")]
    flat = flat_taggers(X, Y, inner=inner)
    for given in (known, nothing):
        parts = [
            of_types(given, ("protein", "cell", "O")),
            of_types(given, ("DNA", "O")),
        ]
        each = [one.predict(TEST, known=some) for one, some in zip(flat, parts)]
        both = [sorted(a + b) for a, b in zip(*each)]
        assert list(map(sorted, model.predict(TEST, known=given))) == both
        asked = model.predict_segment_proba(TEST, min_proba=0.2, known=given)
        each = [
            one.predict_segment_proba(TEST, min_proba=0.2, known=some)
            for one, some in zip(flat, parts)
        ]
        assert [dict(row) for row in asked] == [dict(a + b) for a, b in zip(*each)]
        best = model.predict_kbest(TEST, 2, known=given)
        assert [sorted(row[0][0]) for row in best] == both
    assert model.predict(TEST, known=nothing)[1] == []


def test_what_is_known_is_refused_by_its_place():
    model = tagger().fit(X, Y)
    texts = ["The T cells was seen. ", "The GATA-1 promoter binds. "]
    for known, said in (
        (
            [[], [(4, 10, "protein"), (4, 19, "X")]],
            "1, position 1: no label has the type",
        ),
        ([[], [(4, 10, None)]], "1, position 0: .*chains of labels of their own"),
        ([[], [(4, 19, ["DNA", "protein"])]], "1, position 0: .*name one type"),
        (
            [[], [(4, 10, "protein"), (4, 19, "DNA"), (11, 14, "DNA")]],
            "1, position 2: ",
        ),
        (
            [[], [(4, 19, "DNA"), (4, 10, "protein"), (0, 10, "cell")]],
            "1, position 2: ",
        ),
    ):
        with pytest.raises(ValueError, match=f"known: sequence {said}"):
            model.predict(texts, known=known)
    same_chain = [[(4, 11, ["protein", "cell"])], []]
    assert model.predict(texts, known=same_chain)[0][0][:2] == (4, 11)
    lexicon = Lexicon({"GATA-1": "protein", "was seen": "DNA"})
    found = model.predict(texts, known=lexicon)
    assert (12, 20, "DNA") in found[0] and (4, 10, "protein") in found[1]


# -- going on --------------------------------------------------------------------------
def test_partial_fit_goes_on_with_each_chain():
    model = tagger().partial_fit(X[:30], Y[:30]).partial_fit(X[30:], Y[30:])
    flat = [
        SpanTagger(StructuredPerceptron(random_state=0))
        .partial_fit(X[:30], of_types(Y[:30], types))
        .partial_fit(X[30:], of_types(Y[30:], types))
        for types in ({"protein", "cell"}, {"DNA"})
    ]
    both = [sorted(a + b) for a, b in zip(*(each.predict(TEST) for each in flat))]
    assert list(map(sorted, model.predict(TEST))) == both
    assert model.alignment_["spans"] == sum(map(len, Y))
    fitted = tagger().fit(X, Y)
    encoders = [
        inside.model_of(each.tagger_).encoder for each in (fitted, *fitted.chains_)
    ]
    fitted.partial_fit(X, Y)
    assert fitted.score(TEST, GOLD) > 0.95
    assert encoders[0] is encoders[1]


def test_types_that_come_later_have_a_chain():
    model = tagger().partial_fit(X, of_types(Y, {"protein", "cell"}))
    assert model.chains_ == []
    for _ in range(3):
        model.partial_fit(X, Y)
    assert len(model.chains_) == 1 and model.score(TEST, GOLD) > 0.95
    more = ["The GATA-1 promoter gene"]
    model.partial_fit(more, [[(4, 24, "gene"), (4, 19, "DNA"), (4, 10, "protein")]])
    assert [span_labels(each) for each in model.chains_] == [["DNA"], ["gene"]]
    said = (
        r"sequence 0, position 1: \(4, 10, 'cell'\) overlaps .* fit on all texts anew"
    )
    with pytest.raises(ValueError, match=said):
        model.partial_fit(more, [[(0, 10, "protein"), (4, 10, "cell")]])
    with config_context(enable_metadata_routing=True):
        asking = StructuredPerceptron().set_partial_fit_request(classes=True)
        with pytest.raises(ValueError, match="classes: this call makes 2 chains"):
            tagger(asking).partial_fit(X, Y, classes=["O"])
