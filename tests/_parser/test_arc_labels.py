"""What speaks for the arcs of a tree."""

import json
import math

import parse_oracle as oracle
import pytest
from inside import model_of
from parser_search_cases import Problem

from skstruct import ShiftReduceParser
from skstruct._core.feature_table import keys
from skstruct._parser.dependency_trees import actions_of
from skstruct._training import tables
from skstruct.inspection import explain, feature_weights

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
    assert [arc.action for arc in explanation.arcs] == [
        "LEFT",
        None,
        "LEFT",
        "RIGHT",
        "RIGHT",
    ]
    for arc, (head, label) in zip(explanation.arcs, Y[1]):
        assert (arc.head, arc.label) == (head, label) and arc.label_features
        assert bool(arc.features) == (head > 0)
        for name, value in arc.features:
            assert weights.get((name, arc.action), 0.0) == value
        for name, value in arc.label_features:
            assert weights.get((name, arc.label), 0.0) == value
        assert arc.label_counts == (templates == "auto" and head > 0)
        counted = (
            arc.shift_features
            + arc.features
            + (arc.label_features if arc.label_counts else [])
        )
        assert arc.score == pytest.approx(sum(v for _, v in counted))
        assert arc.runner_up != arc.label and arc.margin > 0.0
    assert json.loads(json.dumps(explanation.to_dict()))["arcs"][0]["label"] == "nsubj"
    assert "1 ('cats', 'N') <- 2 nsubj" in str(explanation)


def test_naming_features_asks_for_all_arcs_at_once(monkeypatch):
    parser, calls = ShiftReduceParser(max_iter=2, random_state=0).fit(X, Y), []
    monkeypatch.setattr(tables, "keys", lambda *given: calls.append(1) or keys(*given))
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
    parser = ShiftReduceParser("hs28", labeled=False, max_iter=4, random_state=0).fit(
        X, heads
    )
    explanation = explain(parser, X[0])
    assert explanation.tree == heads[0] and {arc.label for arc in explanation.arcs} == {
        None
    }
    assert explain(parser, []).arcs == []


# -- contributions add up --------------------------------------------------------------
JOINT = ["s0.t", "s1.t", "s0.t s1.t q0.t", "s0.w s1.t", "s1.w d", "s0.lc.r s0.t", "s1.rc.r s1.rc2.r q0.t",
         "s1.lc.r s1.lc2.r", "s0.rc.r s1.t", "s0.vl s1.vr"]  # fmt: skip


def score_of(parser, sentence, actions):
    """The score of a way to build a tree, from strings and stacks alone; with the
    labels that are best.
    """
    model = model_of(parser)
    stores = (model.weights, 3), (model.label_weights, len(model.labels))
    weights = [
        dict(zip(features, store.value.reshape(-1, n).tolist()))
        for features, (store, n) in zip(map(model.features, model.TABLES), stores)
    ]
    if not model.is_joint:
        return oracle.score_of(model.templates.states, weights[0], sentence, actions)
    return oracle.joint_score(
        model.templates, weights, model.labels.values, sentence, actions
    )[0]


@pytest.mark.parametrize(
    "templates", [JOINT, "hs28", "rich"], ids=["joint", "hs28", "rich"]
)
def test_contributions_add_up_to_the_score_of_the_search(templates):
    problem = Problem(lengths=(1, 2, 3, 4, 5, 5, 7, 7), seed=3)
    trees = [
        [(h, "r" if h == 0 else "lm"[h > k]) for k, h in enumerate(tree)]
        for tree in problem.heads
    ]
    parser = ShiftReduceParser(templates, max_iter=2, random_state=0).fit(
        problem.X, trees
    )
    for sentence, tree in zip(problem.X, parser.predict(problem.X)):
        found = explain(parser, sentence)
        assert found.tree == tree
        (score,) = parser.decision_function([sentence])
        frame = found.to_frame()
        assert set(frame.kind) <= {"shift", "action", "label"}
        for total in (
            found.score,
            math.fsum(arc.score for arc in found.arcs),
            frame.contribution.sum(),
        ):
            assert total == pytest.approx(score, abs=1e-9)
        if (
            len(tree) < 6
        ):  # the score is that of some way to build the tree, written down independently
            heads = [head for head, _ in tree]
            ways = [
                way
                for way in oracle.derivations(len(tree))
                if oracle.heads_of(way) == heads
            ]
            assert any(
                score == pytest.approx(score_of(parser, sentence, way)) for way in ways
            )


@pytest.mark.parametrize("templates", [JOINT, "hs28"], ids=["joint", "hs28"])
def test_a_given_tree_is_explained_as_parsers_learn_it(templates):
    parser = ShiftReduceParser(templates, max_iter=2, random_state=0).fit(X, Y)
    for sentence in (X[0], X[1][:4]):
        for heads in {
            tuple(oracle.heads_of(way)) for way in oracle.derivations(len(sentence))
        }:
            free = explain(parser, sentence, [(head, None) for head in heads])
            assert [head for head, _ in free.tree] == [*heads]
            expected = score_of(parser, sentence, actions_of(heads))
            assert free.score == pytest.approx(expected, abs=1e-9)
            given = explain(parser, sentence, free.tree)
            assert given.tree == free.tree and given.score == free.score
            assert all(arc.margin >= 0.0 for arc in given.arcs)
            other = [(head, "det") for head in heads]
            assert explain(parser, sentence, other).tree == other


def test_heads_alone_are_explained_too():
    heads = [[head for head, _ in tree] for tree in Y]
    parser = ShiftReduceParser("hs28", labeled=False, max_iter=2, random_state=0).fit(
        X, heads
    )
    assert (
        explain(parser, X[1], Y[1]).tree
        == explain(parser, X[1], heads[1]).tree
        == heads[1]
    )
    assert explain(parser, [], []).tree == []


def test_a_label_that_is_chosen_later_is_shown_and_does_not_count():
    explanation = explain(
        ShiftReduceParser("hs28", max_iter=4, random_state=0).fit(X, Y), X[1]
    )
    assert not any(arc.label_counts for arc in explanation.arcs)
    assert "  label nsubj, chosen for the finished tree: +" in str(explanation)
    assert "label nsubj, chosen for the finished tree" in explanation._repr_html_()


CROSSING = [("a", "D"), ("b", "N"), ("c", "V"), ("d", "N"), ("e", "X")]
CROSSED = [(4, "x"), (4, "x"), (5, "y"), (0, "root"), (4, "x")]


def test_trees_that_a_parser_cannot_build():
    parser = ShiftReduceParser(max_iter=2, random_state=0).fit(
        [*X, CROSSING], [*Y, CROSSED]
    )
    with pytest.raises(ValueError, match="labels: the tree is not projective"):
        explain(parser, CROSSING, CROSSED)
    with pytest.raises(ValueError, match="got 3 tokens and 2 labels"):
        explain(parser, X[0], Y[0][:2])
    with pytest.raises(ValueError, match="position 1: .*unknown label; choose from"):
        explain(parser, X[0], [Y[0][0], (3, "nobody"), Y[0][2]])
    with pytest.raises(ValueError, match="exactly one root"):
        explain(parser, X[0], [(2, "det"), (0, "root"), (0, "root")])
    pseudo = ShiftReduceParser(max_iter=2, projectivize="pseudo", random_state=0)
    pseudo.fit([*X, CROSSING], [*Y, CROSSED])
    explanation = explain(pseudo, CROSSING, CROSSED)
    assert explanation.tree == CROSSED
    assert explanation.arcs[2].label == "y↑x" and explanation.arcs[2].head == 4
