"""A last action that chooses the root, against enumeration."""

import parse_oracle as oracle
import pytest
from parser_cases import X, Y, parser
from parser_search_cases import ALL, Problem

import skstruct
from skstruct import BaggingShuffleAverager, ParameterMixer
from skstruct._core.codes import EARLY, MAX_VIOLATION
from skstruct.inspection import explain, feature_weights

JOINT = ["s0.t", "s1.t", "s0.t s1.t q0.t", "s0.w s1.t", "s1.w d", "s0.lc.r s0.t", "s1.rc.r s1.rc2.r q0.t",
         "s1.lc.r s1.lc2.r", "s0.rc.r s1.t", "s0.vl s1.vr"]  # fmt: skip


class Rooted(Problem):
    """A problem whose model has a root step."""

    def fresh(self, *given, **model):
        super().fresh(*given, **model)
        self.model = self.model._replace(root_step=True)
        return self


def scores_of(problem, sentence):
    """(tree, score) of all ways to build trees, with a last RIGHT in the state of a
    single tree.
    """
    weights, names = problem.dictionaries(), problem.labels.values
    joint = problem.final().is_joint
    for actions in oracle.derivations(len(sentence)):
        labels = [None] * len(sentence)
        if joint:
            score, labels = oracle.joint_score(
                problem.lines, weights, names, sentence, actions
            )
        else:
            score = oracle.score_of(problem.lines.states, weights[0], sentence, actions)
        stack, j = [], 0
        for action in actions:
            label = None
            if joint:
                _, y = oracle.joint_gains(
                    problem.lines, weights, sentence, stack, j, action
                )
                label = names[y] if y >= 0 else None
            stack, j = oracle.act(action, stack, j, label)
        last = oracle.gains(problem.lines.states, weights[0], sentence, stack, j)[
            oracle.RR
        ]
        yield tuple(zip(oracle.heads_of(actions), labels)), score + last


@pytest.mark.parametrize("name", [JOINT, "hs28", "rich"], ids=["joint", "hs28", "rich"])
@pytest.mark.parametrize("merge", [True, False])
def test_with_all_states_the_search_is_exact(name, merge):
    problem = (
        Rooted(name, lengths=(1, 2, 3, 4, 4), seed=1).train(3).with_beam(ALL, merge)
    )
    final = problem.final()
    for sentence, tree, score in zip(problem.X, *final.predict(problem.X)):
        best = {}
        for built, value in scores_of(problem, sentence):
            best[built] = max(value, best.get(built, value))
        assert score == pytest.approx(max(best.values()))
        (found,) = final.predict_kbest([sentence], 200)
        assert found[0] == (tree, score)
        if merge:
            assert [s for _, s in found] == pytest.approx(
                sorted(best.values(), reverse=True)
            )
        for built, value in found:
            read = tuple(
                (h, label if final.is_joint and h else None) for h, label in built
            )
            assert value <= best[read] + 1e-9


@pytest.mark.parametrize("update", [EARLY, MAX_VIOLATION])
@pytest.mark.parametrize("merge", [True, False])
def test_every_update_corrects_a_violation(update, merge):
    problem, changed = Rooted("hs28", beam=2, merge=merge, update=update), 0
    for _ in range(3):
        for i in range(len(problem.X)):
            before = problem.model.state_features.weights.value.copy()
            problem.train(order=[i])
            after = problem.model.state_features.weights.value
            assert before @ (after[: before.shape[0]] - before) <= 1e-9
            changed += after.shape != before.shape or bool((after != before).any())
    assert changed > 5


@pytest.mark.parametrize("update", ["max-violation", "early", "standard"])
@pytest.mark.parametrize("templates", ["auto", "hs28"])
def test_it_learns(templates, update):
    model = parser(root_step=True, templates=templates, update=update, max_iter=20).fit(
        X, Y
    )
    assert model.predict(X) == Y


def test_it_sees_what_no_action_before_can():
    """Before the only reduction both words are without children; after it one of them
    has the other.
    """
    sentences = [[("a", "A"), ("b", "B")], [("b", "B"), ("a", "A")]]
    trees = [[(0, "root"), (1, "x")], [(2, "x"), (0, "root")]]
    lines = ["s0.lc.t s0.rc.t"]
    model = parser(root_step=True, templates=lines, max_iter=5).fit(sentences, trees)
    assert model.predict(sentences) == trees
    of_root = {
        name
        for name, action, _ in feature_weights(model)
        if action == "RIGHT" and "NONE s0.rc.t=B" in name
    }
    assert of_root == {"s0.lc.t=NONE s0.rc.t=B"}
    assert (
        parser(templates=lines, max_iter=5)
        .fit(sentences, trees)
        .score(sentences, trees)
        == 0.5
    )


@pytest.mark.parametrize("templates", ["auto", "hs28"])
def test_contributions_add_up(templates):
    model = parser(root_step=True, templates=templates, max_iter=3).fit(X, Y)
    for sentence, tree, score in zip(X, model.predict(X), model.decision_function(X)):
        found = explain(model, sentence)
        assert found.tree == tree and found.score == pytest.approx(score, abs=1e-9)
        root = [arc for arc in found.arcs if arc.head == 0]
        assert [arc.action for arc in root] == ["RIGHT"] * len(root)
        assert explain(model, sentence, tree).score <= score + 1e-9


def test_files_averages_mixtures_and_going_on(tmp_path):
    model = parser(root_step=True, max_iter=3).fit(X, Y)
    model.save(tmp_path / "parser")
    loaded = skstruct.load(tmp_path / "parser")
    assert loaded.root_step is True
    for _ in range(2):
        assert (loaded.decision_function(X) == model.decision_function(X)).all()
        loaded.partial_fit(X, Y)
        model.partial_fit(X, Y)
    assert model.compress().decision_function(X) == pytest.approx(
        model.decision_function(X)
    )
    with pytest.raises(ValueError, match="root_step=False differs"):
        model.set_params(root_step=False).partial_fit(X, Y)
    for many in (
        BaggingShuffleAverager(
            parser(root_step=True, max_iter=8), 2, random_state=0
        ).fit(X, Y),
        ParameterMixer(parser(root_step=True, max_iter=8), 2, random_state=0).fit(X, Y),
    ):
        assert many.score(X, Y) > 0.8
        assert explain(many, X[0]).score == pytest.approx(
            many.decision_function(X[:1])[0], abs=1e-9
        )
        assert explain(many, X[0]).arcs[2].action == "RIGHT"
