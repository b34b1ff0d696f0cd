"""What speaks for the arcs of a tree."""

import json

import pytest

from skstruct import ShiftReduceParser
from skstruct.core.hashing import keys_of
from skstruct.inspection import explain, feature_weights
from skstruct.parser import model as parser_model

X = [
    [("the", "D"), ("dog", "N"), ("barks", "V")],
    [("cats", "N"), ("see", "V"), ("the", "D"), ("dogs", "N"), (".", ".")],
]
Y = [
    [(2, "det"), (3, "nsubj"), (0, "root")],
    [(2, "nsubj"), (0, "root"), (4, "det"), (2, "obj"), (2, "punct")],
]


@pytest.mark.parametrize("templates", ["auto", "hs28"])
def test_arcs_have_the_weights_of_their_features(templates):
    parser = ShiftReduceParser(templates, max_iter=4, random_state=0).fit(X, Y)
    weights = {(name, label): weight for name, label, weight in feature_weights(parser)}
    explanation = explain(parser, X[1])
    assert explanation.tree == Y[1] and [arc.word for arc in explanation.arcs] == X[1]
    assert [arc.action for arc in explanation.arcs] == ["LEFT", None, "LEFT", "RIGHT", "RIGHT"]
    for arc, (head, label) in zip(explanation.arcs, Y[1]):
        assert (arc.head, arc.label) == (head, label) and arc.label_features
        assert bool(arc.features) == (head > 0)
        for name, value in arc.features:
            assert weights.get((name, arc.action), 0.0) == value
        for name, value in arc.label_features:
            assert weights.get((name, arc.label), 0.0) == value
        assert arc.score == pytest.approx(sum(v for _, v in arc.features + arc.label_features))
        assert arc.runner_up != arc.label and arc.margin > 0.0
    assert json.loads(json.dumps(explanation.to_dict()))["arcs"][0]["label"] == "nsubj"
    assert "1 ('cats', 'N') <- 2 nsubj" in str(explanation)


def test_naming_features_asks_for_all_arcs_at_once(monkeypatch):
    parser, calls = ShiftReduceParser(max_iter=2, random_state=0).fit(X, Y), []
    monkeypatch.setattr(parser_model, "keys_of", lambda *given: calls.append(1) or keys_of(*given))
    assert len(explain(parser, X[1]).arcs) == 5 and len(calls) == 2


crossing = [(3, "a"), (4, "b"), (0, "root"), (3, "c")]


@pytest.mark.parametrize(
    ("parameters", "weight", "second"),
    [
        ({}, [1.0, 0.0], [(2, "x"), (0, "never"), (4, "x"), (2, "x"), (2, "x")]),
        ({"projectivize": "skip"}, None, [*crossing, (3, "never")]),
    ],
)
def test_labels_of_sentences_left_out_are_not_learned(parameters, weight, second):
    parser = ShiftReduceParser(max_iter=2, random_state=0, **parameters)
    parser.fit(X, [Y[0], second], sample_weight=weight)
    assert parser.classes_.tolist() == ["det", "nsubj", "root"]
    parser.partial_fit(X, [Y[0], second], sample_weight=weight)
    assert parser.classes_.tolist() == ["det", "nsubj", "root"]


def test_heads_alone_and_empty_sentences():
    heads = [[head for head, _ in tree] for tree in Y]
    parser = ShiftReduceParser("hs28", labeled=False, max_iter=4, random_state=0).fit(X, heads)
    explanation = explain(parser, X[0])
    assert explanation.tree == heads[0] and {arc.label for arc in explanation.arcs} == {None}
    assert explain(parser, []).arcs == []
