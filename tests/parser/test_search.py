"""The parser's kernels against enumeration, and against features written down with strings."""

import math
import random

import numpy as np
import parse_oracle as oracle
import pytest

from skstruct.core import feature_table
from skstruct.core.codes import (
    DONE,
    EACH_STEP,
    EARLY,
    L2,
    MAX_VIOLATION,
    NO_AVERAGE,
    NO_PENALTY,
    PERCEPTRON,
    STANDARD,
    TABLE_FULL,
    UPDATES,
)
from skstruct.core.compile import kernel
from skstruct.core.noise import QUIET, make_noise
from skstruct.core.store import Rule, weights
from skstruct.data.inputs import flatten, lengths_of, offsets_of
from skstruct.data.labels import Labels, encode_labels
from skstruct.parser import epoch as parse
from skstruct.parser import search as search_module
from skstruct.parser.atoms import AtomEncoder, check_words
from skstruct.parser.features import load
from skstruct.parser.lines import attributes_read, lines_of, reads_labels, template_lines
from skstruct.parser.model import final_model, make_task
from skstruct.parser.paths import trace
from skstruct.parser.search import forget, new_work, search
from skstruct.parser.template_sets import ARC_LINES
from skstruct.parser.trees import actions_of, encode_trees
from skstruct.training.epochs import ModelHolder, grow_tables, run_epoch

PLAIN = Rule(PERCEPTRON, 0.0, False, NO_PENALTY, 0.0, NO_AVERAGE)
RICH = [line for line in template_lines("rich") if not reads_labels([line])]
"""Labels are chosen for the tree that was found, as with all sets that read no labels."""

SETS = ["hs28", RICH]
ALL = 260
"""A beam that loses nothing of five words: there are 224 derivations."""


@kernel
def decode(task, i, model, rule, noise, work, path):
    """Search one sentence; writes its actions, returns the score and the states of the last step."""
    first, n = task.token[i], task.token[i + 1] - task.token[i]
    load(task.atoms, task.n_forms, first, n, np.int64(0), noise, work.value)
    forget(work)
    m, best, _ = search(n, task.action[:0], np.int64(STANDARD), model, rule, noise, True, work)
    trace(work.states, best, m, work.stack, path, work.path_label)
    return work.states.score[best], work.begin[2 * n] - work.begin[2 * n - 1]


class Problem:
    """Sentences over a small vocabulary, so that words repeat, with random projective trees."""

    def __init__(self, name="hs28", lengths=(1, 2, 3, 4, 5, 5, 6, 7), seed=0, beam=8, merge=True, **model):
        draw = random.Random(seed)
        self.lines = lines_of(name, True)
        words = [("a", "D"), ("Dogs", "N"), ("dog", "N"), ("sees", "V"), ("run", "V"), (",", ",")]
        self.X = [[draw.choice(words) for _ in range(n)] for n in lengths]
        heads = [oracle.heads_of(draw.choice(oracle.derivations(n))) if n < 6 else chain(n) for n in lengths]
        self.heads = heads
        labels = [[draw.choice("xyz") for _ in s] for s in self.X]
        token = offsets_of(lengths_of(self.X))
        columns = check_words(self.X, token)
        atoms, self.encoder = AtomEncoder(attributes_read(self.lines)).grown(columns)
        gold, self.labels = encode_labels(labels, token, Labels(), True)
        actions, flat, skipped = encode_trees(np.array(flatten(heads), np.int32), token, True)
        assert not skipped
        self.task = make_task(atoms, self.encoder.rows, token, actions, flat, gold)
        self.fresh(beam, merge, **model)

    def fresh(self, beam=8, merge=True, update=EARLY, min_count=1, rule=PLAIN):
        from skstruct.parser.model import compiled

        templates = compiled(self.lines, self.encoder.rows)
        self.rule = rule
        self.model = parse.new_model(*templates, len(self.labels), beam, merge, update, min_count, rule)
        return self

    def train(self, epochs=1, noise=QUIET, order=None):
        n = len(self.X)
        for _ in range(epochs):
            self.model, self.stats = run_epoch(
                parse, self.task, np.arange(n) if order is None else np.array(order),
                np.diff(self.task.token), self.model, self.rule, noise, new_work(self.task, self.model),
            )  # fmt: skip
        return self

    def with_beam(self, beam, merge):
        self.model = self.model._replace(beam=beam, merge=merge)
        return self

    def decode(self, i):
        path = np.zeros(2 * len(self.X[i]), np.int8)
        work = new_work(self.task, self.model, training=False)
        score, n_states = decode(self.task, i, self.model, self.rule, QUIET, work, path)
        return path[:-1].tolist(), score, int(n_states)

    def final(self):
        return final_model(self.model, self.rule, self.lines, self.encoder, self.labels)

    def dictionaries(self):
        """({feature: weights of actions}, {feature: weights of labels})."""
        final = self.final()
        features, label_features = final.features()
        assert len(set(features)) == len(features) and len(set(label_features)) == len(label_features)
        return (
            dict(zip(features, final.weights.value.reshape(-1, 3).tolist())),
            dict(zip(label_features, final.label_weights.value.reshape(-1, len(self.labels)).tolist())),
        )


def chain(n):
    return [k + 2 for k in range(n - 1)] + [0]


# -- search ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", SETS)
def test_with_all_states_the_search_is_exact(name):
    problem = Problem(name, lengths=(1, 2, 3, 4, 4)).train(2)
    by_feature, _ = problem.dictionaries()
    for i, sentence in enumerate(problem.X):
        best = max(
            oracle.score_of(problem.lines.states, by_feature, sentence, d)
            for d in oracle.derivations(len(sentence))
        )
        for merge in (True, False):
            path, score, _ = problem.with_beam(ALL, merge).decode(i)
            assert score == pytest.approx(best)
            assert oracle.score_of(problem.lines.states, by_feature, sentence, path) == pytest.approx(best)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("merge", [True, False])
def test_a_score_is_that_of_the_actions(name, merge):
    problem = Problem(name).train(2)
    by_feature, _ = problem.dictionaries()
    for i, sentence in enumerate(problem.X):
        for beam in (1, 2, 8):
            path, score, _ = problem.with_beam(beam, merge).decode(i)
            assert oracle.score_of(problem.lines.states, by_feature, sentence, path) == pytest.approx(score)


def test_a_beam_of_one_is_greedy():
    problem = Problem(beam=1).train(3)
    by_feature, _ = problem.dictionaries()
    for i, sentence in enumerate(problem.X):
        path, _, _ = problem.decode(i)
        expected = oracle.greedy(problem.lines.states, by_feature, sentence)
        scores = [oracle.score_of(problem.lines.states, by_feature, sentence, p) for p in (path, expected)]
        assert scores[0] == pytest.approx(scores[1])


@pytest.mark.parametrize("n, n_trees", [(1, 1), (2, 2), (3, 7), (4, 30), (5, 143)])
def test_without_merging_every_derivation_is_a_state(n, n_trees):
    problem = Problem(lengths=(n,), beam=ALL, merge=False)
    catalan = math.comb(2 * n - 2, n - 1) // n
    assert problem.decode(0)[2] == catalan * 2 ** (n - 1) == len(oracle.derivations(n))
    assert len({tuple(oracle.heads_of(d)) for d in oracle.derivations(n)}) == n_trees
    assert problem.with_beam(ALL, True).decode(0)[2] <= catalan * 2 ** (n - 1)


def test_wide_beams_are_never_worse_than_all_states():
    problem = Problem(lengths=(5, 5, 5, 5)).train(3)
    for i in range(4):
        exact = problem.with_beam(ALL, True).decode(i)[1]
        for beam in (1, 2, 4):
            for merge in (True, False):
                assert problem.with_beam(beam, merge).decode(i)[1] <= exact + 1e-9


def test_merging_keeps_more_derivations_in_the_same_beam():
    problem = Problem("hs28", lengths=(7,) * 12, seed=3).train(2)
    merged = [problem.with_beam(2, True).decode(i)[1] for i in range(12)]
    plain = [problem.with_beam(2, False).decode(i)[1] for i in range(12)]
    assert np.mean(merged) >= np.mean(plain)


def test_long_sentences_take_a_number_of_states_that_is_linear_in_their_length():
    problem = Problem("hs28", lengths=(600,)).train()
    path, _, last = problem.decode(0)
    assert len(path) == 1199 and last <= 8
    assert oracle.heads_of(path).count(0) == 1


# -- learning --------------------------------------------------------------------------------------
@pytest.mark.parametrize("update", [EARLY, MAX_VIOLATION])
@pytest.mark.parametrize("merge", [True, False])
def test_every_update_corrects_a_violation(update, merge):
    problem = Problem(RICH, beam=2, merge=merge, update=update)
    changed = 0
    for _ in range(3):
        for i in range(len(problem.X)):
            before = problem.model.state_features.weights.value.copy()
            problem.train(order=[i])
            after = problem.model.state_features.weights.value
            step = after - np.append(before, np.zeros(after.shape[0] - before.shape[0]))
            assert before @ step[: before.shape[0]] <= 1e-9
            changed += bool(step.any())
    assert changed > 5


@pytest.mark.parametrize("update", sorted(UPDATES))
def test_one_sentence_is_learned(update):
    problem = Problem("hs28", lengths=(5,), update=UPDATES[update]).train(60)
    assert problem.stats.updates == 0
    assert oracle.heads_of(problem.decode(0)[0]) == problem.heads[0]
    trees, _ = problem.final().predict(problem.X)
    assert [head for head, _ in trees[0]] == problem.heads[0]


def test_max_violation_learns_from_the_prefix_that_falls_back_most():
    problem = Problem("hs28", lengths=(5, 4, 5), beam=1, update=MAX_VIOLATION).train(1, order=[0, 1])
    by_feature, _ = problem.dictionaries()
    sentence, gold = problem.X[2], actions_of(problem.heads[2])
    path = oracle.greedy(problem.lines.states, by_feature, sentence)  # in a beam of one, all best states

    def gap(m):
        right = oracle.score_of(problem.lines.states, by_feature, sentence, gold[:m])
        return oracle.score_of(problem.lines.states, by_feature, sentence, path[:m]) - right

    m = max((m for m in range(1, 10) if path[:m] != gold[:m]), key=lambda m: (gap(m), m))
    expected = {}
    for actions, sign in ((gold[:m], 1.0), (path[:m], -1.0)):
        stack, j = [], 0
        for action in actions:
            for feature in oracle.state_features(problem.lines.states, sentence, stack, j):
                key = feature, action
                expected[key] = expected.get(key, 0.0) + sign
            stack, j = oracle.act(action, stack, j)
    after, _ = problem.train(order=[2]).dictionaries()
    change = {
        (feature, a): w - by_feature.get(feature, (0.0,) * 3)[a]
        for feature, row in after.items()
        for a, w in enumerate(row)
    }
    assert {k: v for k, v in change.items() if v} == {k: v for k, v in expected.items() if v}


# -- labels in the search --------------------------------------------------------------------------
JOINT = ["s0.t", "s1.t", "s0.t s1.t q0.t", "s0.w s1.t", "s1.w d", "s0.lc.r s0.t", "s1.rc.r s1.rc2.r q0.t",
         "s1.lc.r s1.lc2.r", "s0.rc.r s1.t", "s0.vl s1.vr"]  # fmt: skip


@pytest.mark.parametrize("merge", [True, False])
@pytest.mark.parametrize("name", [JOINT, "rich"], ids=["few", "rich"])
def test_a_joint_score_is_that_of_actions_and_labels(name, merge):
    problem = Problem(name, lengths=(1, 2, 3, 4, 5, 5, 7), seed=2).train(3)
    weights, final = problem.dictionaries(), problem.with_beam(8, merge).final()
    trees, scores = final.predict(problem.X)
    for i, sentence in enumerate(problem.X):
        path, score, _ = problem.decode(i)
        assert score == pytest.approx(scores[i])
        expected, labels = oracle.joint_score(problem.lines, weights, problem.labels.values, sentence, path)
        assert score == pytest.approx(expected)
        assert oracle.heads_of(path) == [head for head, _ in trees[i]]
        assert all(a == b for a, (head, b) in zip(labels, trees[i]) if head > 0)


@pytest.mark.parametrize("name", [JOINT, "hs28"], ids=["joint", "after"])
def test_the_best_trees_are_those_of_the_beam(name):
    problem = Problem(name, lengths=(4, 5, 1, 5), seed=4).train(3).with_beam(ALL, True)
    weights, names = problem.dictionaries(), problem.labels.values
    final = problem.final()
    for sentence, found in zip(problem.X, final.predict_kbest(problem.X, 40)):
        scores = [score for _, score in found]
        assert scores == sorted(scores, reverse=True) and len(found) <= 40
        assert len({tuple(tree) for tree, _ in found}) == len(found)
        of_tree = {}
        for actions in oracle.derivations(len(sentence)):
            if name == "hs28":
                score = oracle.score_of(problem.lines.states, weights[0], sentence, actions)
            else:
                score, _ = oracle.joint_score(problem.lines, weights, names, sentence, actions)
            of_tree.setdefault(tuple(oracle.heads_of(actions)), []).append(score)
        for tree, score in found:  # a score is that of some way to build the tree
            assert any(score == pytest.approx(s) for s in of_tree[tuple(head for head, _ in tree)])
        assert scores[0] == pytest.approx(max(max(each) for each in of_tree.values()))
        assert len(found) > 1 or len(sentence) == 1
    assert [found[0][0] for found in final.predict_kbest(problem.X, 1)] == final.predict(problem.X)[0]


def test_with_all_states_the_joint_search_is_exact():
    problem = Problem(JOINT, lengths=(1, 2, 3, 4, 4), seed=1).train(2)
    weights, names = problem.dictionaries(), problem.labels.values
    for i, sentence in enumerate(problem.X):
        found = [
            oracle.joint_score(problem.lines, weights, names, sentence, d)[0]
            for d in oracle.derivations(len(sentence))
        ]
        for merge in (True, False):
            assert problem.with_beam(ALL, merge).decode(i)[1] == pytest.approx(max(found))


@pytest.mark.parametrize("update", [EARLY, MAX_VIOLATION])
def test_every_joint_update_corrects_a_violation(update):
    """Where labels are given, those of right arcs are learned besides, by a margin; here they are not."""
    problem = Problem(JOINT, beam=2, update=update).train(2)
    problem.task = problem.task._replace(label=np.full_like(problem.task.label, -1))
    changed = 0
    for _ in range(3):
        for i in range(len(problem.X)):
            before = [getattr(problem.model, name).weights.value.copy() for name in parse.TABLES]
            problem.train(order=[i])
            after = [getattr(problem.model, name).weights.value for name in parse.TABLES]
            steps = [b - np.append(a, np.zeros(b.shape[0] - a.shape[0])) for a, b in zip(before, after)]
            assert sum(a @ step[: a.shape[0]] for a, step in zip(before, steps)) <= 1e-9
            changed += any(step.any() for step in steps)
    assert changed > 3


def test_what_was_found_before_makes_no_difference(monkeypatch):
    several = Problem("rich").train(2)
    monkeypatch.setattr(search_module, "REMEMBERED", 1)
    one = Problem("rich").train(2)
    assert one.dictionaries() == several.dictionaries()
    assert [one.decode(i)[1] for i in range(8)] == [several.decode(i)[1] for i in range(8)]


def test_labels_are_the_best_of_each_arc():
    problem = Problem("hs28", seed=5).train(2)
    _, by_feature = problem.dictionaries()
    trees, _ = problem.final().predict(problem.X)
    for sentence, tree in zip(problem.X, trees):
        heads = [head for head, _ in tree]
        for k, (_, label) in enumerate(tree):
            rows = [by_feature.get(f) for f in oracle.arc_features(ARC_LINES, sentence, heads, k)]
            total = np.sum([row for row in rows if row] or [np.zeros(3)], axis=0)
            assert total[problem.labels.ids[label]] == pytest.approx(total.max())


def test_the_average_is_that_of_the_weights_after_each_sentence():
    problem = Problem("hs28", rule=PLAIN._replace(average=EACH_STEP, penalty=L2, alpha=1e-3))
    total, label_total = np.zeros(0), np.zeros(0)
    for i in [*range(len(problem.X))] * 2:
        problem.train(order=[i])
        model = problem.model
        value, label_value = model.state_features.weights.value, model.arc_features.weights.value
        for_sum = value * model.clock.scale[0], label_value * model.clock.scale[0]
        total = for_sum[0] + np.append(total, np.zeros(for_sum[0].shape[0] - total.shape[0]))
        label_total = for_sum[1] + np.append(
            label_total, np.zeros(for_sum[1].shape[0] - label_total.shape[0])
        )
    T = 2 * len(problem.X)
    for features, expected in (model.state_features, total), (model.arc_features, label_total):
        averaged = weights(features.weights, model.clock, problem.rule)
        np.testing.assert_allclose(averaged, expected / T, atol=1e-9)


def test_room_for_features_does_not_show(monkeypatch):
    large = Problem(RICH).train(2).dictionaries()
    monkeypatch.setattr(feature_table, "FIRST_CAPACITY", 8)
    problem = Problem(RICH)
    order = np.arange(len(problem.X))
    work = new_work(problem.task, problem.model)
    code, k = parse.epoch(problem.task, order, 0, 2, problem.model, problem.rule, QUIET, work)
    assert (code, k) == (TABLE_FULL, 0)
    features = problem.model.state_features
    assert not features.weights.value.any() and features.entries[0] == 0
    small = problem.train(2).dictionaries()
    assert small == large


def test_order_and_weights_of_sentences_matter_as_they_should():
    problem = Problem("hs28")
    nothing = problem.task._replace(weight=np.zeros(len(problem.X)))
    work = new_work(nothing, problem.model)
    held = ModelHolder(problem.model._replace(wanted=np.full(2, 10_000)))
    grow_tables(parse, held, problem.rule)
    model = held.current
    code, _ = parse.epoch(nothing, np.arange(len(problem.X)), 0, 8, model, problem.rule, QUIET, work)
    assert code == DONE and not model.state_features.weights.value.any()


# -- noise -----------------------------------------------------------------------------------------
def test_masked_forms_take_their_features_along():
    problem = Problem(RICH).train(noise=make_noise(1, dropout=1 - 1e-9))
    for features in problem.final().features():
        assert features
        for line, values in features:
            for atom, value in zip(line.split(), values):
                form = atom.rpartition(".")[2] in ("w", "l", "x2", "x3", "f")
                assert not form or value in ("<s>", "NONE", "</s>")


def test_no_dropout_is_no_noise():
    a, b = Problem(RICH).train(2), Problem(RICH).train(2, noise=make_noise(7, dropout=0.0))
    assert a.dictionaries() == b.dictionaries()


@pytest.mark.parametrize("kind", ["dropout", "zipf"])
def test_noise_on_features_spares_those_of_decisions_unless_asked(kind):
    quiet = make_noise(3, feature_noise=None, edge_noise=kind, rate=0.999999)
    features, _ = Problem("hs28").train(noise=quiet).final().features()
    if kind == "dropout":
        assert features and not any("c." in line for line, _ in features)
    assert Problem("hs28").train(noise=quiet).dictionaries() != Problem("hs28").train().dictionaries()


def test_rare_features_do_not_count():
    problem = Problem("hs28", min_count=3).train(3)
    by_feature, label_features = problem.dictionaries()
    seen = problem.model.state_features.seen[: len(by_feature)]
    for (_, row), times in zip(by_feature.items(), seen):
        assert times >= 3 or not any(row)
    assert any(any(row) for row in by_feature.values())
    for i, sentence in enumerate(problem.X):
        work = new_work(problem.task, problem.model, training=False)
        heads, labels = np.zeros((2, 1, problem.task.token[-1]), np.int32)
        scores = np.zeros((1, len(problem.X)))
        parse.predict(
            problem.task, i, i + 1, problem.model, problem.rule, QUIET, work, heads, labels, scores
        )  # fmt: skip
        _, expected = problem.final().predict([sentence])
        assert scores[0, i] == pytest.approx(expected[0])
