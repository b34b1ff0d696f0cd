"""Predictions and updates of whole models of label bigrams, against enumeration."""

import itertools

import numpy as np
import pytest
import weights_view
from bigram_cases import INF, Case
from hypothesis import given
from hypothesis import strategies as st
from inside import model_of

import oracle_training
import oracles
from skstruct._chain.bigram import new_work
from skstruct._chain.chain_arguments import kernel_arguments
from skstruct._chain.chain_epoch import epoch
from skstruct._chain.chain_model import make_task
from skstruct._chain.state import final_model, fresh_state
from skstruct._core.codes import AVERAGES, DONE, PERCEPTRON, VARIANTS
from skstruct._core.noise import QUIET, make_noise
from skstruct._core.store import Rule
from skstruct._data.inputs import as_tokens, lengths_of, offsets_of
from skstruct._data.labels import Labels, encode_labels
from skstruct._taggers.constraints import constraint_arrays
from skstruct.features.bag_encoder import BagEncoder
from skstruct.features.template_encoder import TemplateEncoder
from skstruct.features.templates import FeatureTemplates

pytestmark = pytest.mark.filterwarnings(
    "ignore:overflow encountered", "ignore:invalid value encountered"
)

# ----------------------------------------------------- whole models under given weights
PLAIN = ["U0:%x[0,0]", "U1:%x[-1,0]/%x[0,0]", "B"]
CONDITIONED = ["U0:%x[0,0]", "U1:%x[1,0]", "B", "B1:%x[0,0]", "B2:%x[-1,0]/%x[0,0]"]
ONLY_CONDITIONED = ["U0:%x[0,0]", "B1:%x[0,0]"]
NO_TRANSITIONS = ["U0:%x[0,0]", "U99"]
FEATURES = {
    "plain": PLAIN,
    "conditioned": CONDITIONED,
    "only conditioned": ONLY_CONDITIONED,
    "no transitions": NO_TRANSITIONS,
    "bag": None,
}


SHARES = 0.3, 0.4, 0.3
"""Of tokens without a label, with one, and with a set."""


class World:
    """A few sequences, an encoder that knows them, and arbitrary weights; one model,
    two readings.
    """

    def __init__(
        self,
        seed,
        kind,
        L,
        integers=False,
        constraints=None,
        lengths=(4, 1, 3),
        rule=None,
    ):
        self.generator = generator = np.random.default_rng(seed)
        self.lines = FEATURES[kind]
        self.names = "XYZ"[:L]
        self.labels = Labels(self.names)
        words = [
            [str(generator.choice(list("abc"))) for _ in range(n)] for n in lengths
        ]
        if self.lines is None:
            self.X = [
                [
                    {"w": w, "v": float(generator.integers(-2, 4)), "t": w == "a"}
                    for w in s
                ]
                for s in words
            ]
            self.encoder = BagEncoder()
        else:
            self.X = words
            self.encoder = TemplateEncoder(FeatureTemplates(self.lines))
        self.gold = [
            [str(generator.choice(list(self.names))) for _ in s] for s in words
        ]
        self.pairs = constraints
        self.rule = rule or Rule(PERCEPTRON, 1.0, False, 0, 0.0, AVERAGES[None])
        self.integers = integers

    def task(self, gold=None, weight=None):
        X, ids = as_tokens(self.X), None
        if gold is not None:
            ids = encode_labels(gold, X.offsets, self.labels, grow=False)[0]
        return make_task(self.encoder, X, ids, weight, grow=True)

    def some_of(self, gold):
        """The same with labels left out, or in the place of a label a set of labels."""
        ways = [lambda _: None, str, self.set_with]
        return [[ways[self.generator.choice(3, p=SHARES)](g) for g in s] for s in gold]

    def set_with(self, label):
        return frozenset({label, str(self.generator.choice(list(self.names)))})

    def build(self, gold=None, costs=None, weight=None):
        """(task, chain) with arbitrary weights."""
        task = self.task(gold, weight)
        cost = np.array([(costs or {}).get(y, 0.0) for y in self.names])
        constraints = constraint_arrays(self.pairs, self.labels)
        chain = fresh_state(
            self.encoder, self.labels, self.rule, constraints, cost, 0
        ).model
        for store in (chain.nodes, chain.edges):
            n = store.value.shape[0]
            store.value[:] = (
                self.generator.integers(-2, 3, n)
                if self.integers
                else self.generator.normal(size=n)
            )
        return task, chain

    def model(self, chain):
        return final_model(
            chain,
            self.rule,
            self.encoder,
            self.labels,
            constraint_arrays(self.pairs, self.labels),
        )

    def weights(self, chain):
        """The weights by the oracles' keys: only those of features that occur."""

        class Fitted:
            _model = self.model(chain)

        rows = weights_view.rows_by_name(self.encoder, self.X)
        L, found = len(self.names), {}
        nodes = weights_view.table(model_of(Fitted).nodes)
        edges = weights_view.table(model_of(Fitted).edges).reshape(-1, L, L)
        for (edge, name), row in rows.items():
            for y, label in enumerate(self.names):
                if not edge:
                    found[name, label] = float(nodes[row, y])
                else:
                    found.update(
                        {
                            (name, p, label): float(edges[row, k, y])
                            for k, p in enumerate(self.names)
                        }
                    )
        if self.lines is None or "B" in self.lines:
            for k, p in enumerate(self.names):
                for y, label in enumerate(self.names):
                    found[oracles.BIGRAM, p, label] = float(edges[0, k, y])
        return found

    def features(self):
        if self.lines is None:
            return [oracles.bag_features(s) for s in self.X]
        return [oracles.template_features(self.lines, s) for s in self.X]

    def constraints(self):
        if self.pairs is None:
            return oracles.FREE
        starts = {q for p, q in self.pairs if p is None}
        ends = {p for p, q in self.pairs if q is None}
        inner = {(p, q) for p, q in self.pairs if p is not None and q is not None}
        return oracles.Constraints(
            frozenset(starts) if starts else None,
            frozenset(inner),
            frozenset(ends) if ends else None,
        )


def random_pairs(seed, names):
    """Constraints as users write them; some leave no labelling."""
    generator = np.random.default_rng(seed)
    every = [
        (p, q) for p in [None, *names] for q in [None, *names] if (p, q) != (None, None)
    ]
    return [pair for pair in every if generator.random() < 0.7]


WORLDS = {
    "seed": st.integers(0, 10**6),
    "kind": st.sampled_from(sorted(FEATURES)),
    "L": st.integers(1, 3),
    "integers": st.booleans(),
    "constrained": st.booleans(),
}


@given(**WORLDS, k=st.sampled_from([1, 2, 5, 300]), with_options=st.booleans())
def test_predictions_equal_enumeration(
    seed, kind, L, integers, constrained, k, with_options
):
    world = World(
        seed, kind, L, integers, random_pairs(seed, "XYZ"[:L]) if constrained else None
    )
    _, chain = world.build()
    model, weights = world.model(chain), world.weights(chain)
    options = listed = None
    if with_options:
        allowed = world.generator.random((sum(map(len, world.X)), L)) < 0.7
        allowed[~allowed.any(axis=1)] = True
        options = allowed
        flat = iter([[y for y, ok in zip(world.names, row) if ok] for row in allowed])
        listed = [[next(flat) for _ in s] for s in world.X]
    predicted, scores = model.predict(as_tokens(world.X), options)
    token = offsets_of(lengths_of(world.X))
    for i, features in enumerate(world.features()):
        option = None if listed is None else listed[i]
        every = oracles.k_best(
            features, weights, world.names, 10**6, world.constraints(), option
        )
        one = None if options is None else options[token[i] : token[i + 1]]
        if not every:
            assert scores[i] == -INF
            with pytest.raises(ValueError, match="leave no labelling"):
                model.predict_kbest(as_tokens(world.X[i : i + 1]), k, one)
            continue
        (ranked,) = model.predict_kbest(as_tokens(world.X[i : i + 1]), k, one)
        assert scores[i] == pytest.approx(every[0][0], abs=1e-10)
        if integers:
            assert tuple(predicted[i]) == every[0][1]
        else:
            value = oracles.score(features, predicted[i], weights)
            assert value == pytest.approx(every[0][0], abs=1e-10)
        assert len(ranked) == min(k, len(every))
        assert len({tuple(z) for z, _ in ranked}) == len(ranked)
        legal = {z for _, z in every}
        for (labelling, value), (expected, _) in zip(ranked, every):
            assert value == pytest.approx(expected, abs=1e-10)
            assert tuple(labelling) in legal
            assert oracles.score(features, labelling, weights) == pytest.approx(
                value, abs=1e-10
            )


def visit(world, task, chain, i, noise=QUIET):
    """One example visited; returns the change of the weights by the oracles' keys, and
    the stats.
    """
    before = world.weights(chain)
    work = new_work(task, len(world.names))
    order = np.array([i])
    task, *more = kernel_arguments(task, chain, world.rule, noise, work)
    assert epoch(task, order, 0, 1, *more) == (DONE, 1)
    after = world.weights(chain)
    return before, {key: after[key] - before[key] for key in after}, work.stats


@given(**WORLDS, partial=st.booleans(), costly=st.booleans())
def test_a_perceptron_step_is_the_difference(
    seed, kind, L, integers, constrained, partial, costly
):
    world = World(seed, kind, L, integers)
    gold = world.gold
    if partial:
        gold = world.some_of(gold)
    costs = {"X": 0.5, "Z": 2.0} if costly else {}
    task, chain = world.build(gold, costs, np.array([1.0, 0.5, 2.0]))
    for i, features in enumerate(world.features()):
        before, change, _ = visit(world, task, chain, i)
        _, y = oracles.best_completion(features, gold[i], before, world.names)
        candidates = oracles.labellings(len(features), world.names)
        ranked = oracles.ranked(
            candidates,
            lambda z, i=i, f=features, w=before: (
                oracles.score(f, z, w) + oracles.cost_of(z, gold[i], costs)
            ),
            world.names,
        )
        z = ranked[0][1]
        expected = (
            {} if oracles.agrees(z, gold[i]) else oracles.difference(features, y, z)
        )
        share = task.weight[i]
        for key, value in change.items():
            assert value == pytest.approx(share * expected.get(key, 0.0), abs=1e-9)
        # Δφ·w equals the score gap.
        gap = oracles.score(features, y, before) - oracles.score(features, z, before)
        if expected:
            assert oracles.dot(before, change) == pytest.approx(share * gap, abs=1e-9)


@given(
    **WORLDS,
    variant=st.sampled_from(["PA", "PA-I", "PA-II"]),
    partial=st.booleans(),
    hamming=st.booleans(),
)
def test_a_passive_aggressive_step(
    seed, kind, L, integers, constrained, variant, partial, hamming
):
    rule = Rule(VARIANTS[variant], 0.4, hamming, 0, 0.0, AVERAGES[None])
    world = World(seed, kind, L, False, rule=rule)
    gold = world.gold
    if partial:
        gold = world.some_of(gold)
    costs = dict.fromkeys(world.names, 1.0) if hamming else {}
    task, chain = world.build(gold, costs)
    for i, features in enumerate(world.features()):
        before, change, stats = visit(world, task, chain, i)
        right, y = oracles.best_completion(features, gold[i], before, world.names)
        found = oracles.best_wrong(features, gold[i], before, world.names, costs=costs)
        if found is None:
            assert not any(change.values())
            continue
        wrong, _ = found
        loss = max(0.0, wrong - right + (0.0 if hamming else 1.0))
        assert stats[2] == pytest.approx(loss, abs=1e-9)
        # A step before this one can make two wrong labellings equally good: rounding
        # chooses between them.
        for z in oracles.labellings(len(features), world.names):
            score = oracles.score(features, z, before) + oracles.cost_of(
                z, gold[i], costs
            )
            if oracles.agrees(z, gold[i]) or score < wrong - 1e-9:
                continue
            vector = oracles.difference(features, y, z)
            tau = oracle_training.step_size(
                variant, 0.4, loss, oracles.squared_norm(vector)
            )
            if change == pytest.approx(
                {key: tau * vector.get(key, 0.0) for key in change}, abs=1e-9
            ):
                break
        else:
            pytest.fail(
                f"no best wrong labelling of sequence {i} explains the step {change}"
            )
        if variant == "PA" and loss > 0 and vector:  # the margin is met exactly
            after = {key: before[key] + change[key] for key in before}
            gap = oracles.score(features, y, after) - oracles.score(features, z, after)
            assert gap == pytest.approx(
                oracles.cost_of(z, gold[i], costs) if hamming else 1.0, abs=1e-8
            )


NOISE = {
    "dropout": {"feature_noise": "dropout", "edge_noise": "same", "rate": 0.3},
    "zipf": {
        "feature_noise": "zipf",
        "edge_noise": "dropout",
        "rate": 0.3,
        "exponent": 1.5,
    },
    "edges": {"edge_noise": "zipf", "exponent": 1.5},
    "input": {"dropout": 0.3},
    "everything": {
        "dropout": 0.2,
        "feature_noise": "dropout",
        "edge_noise": "zipf",
        "rate": 0.3,
    },
}


@pytest.mark.parametrize("kind", sorted(FEATURES))
@pytest.mark.parametrize("noise", sorted(NOISE))
def test_decoding_and_update_see_the_same_noise(kind, noise):
    """A step under noise is the difference of corrupted features ([Z] eqs 18 to 20),
    decoded with them.
    """
    for seed in range(6):
        world = World(seed, kind, 3, lengths=(4, 3))
        task, chain = world.build(world.gold)
        corruption = make_noise(seed, **NOISE[noise])
        corrupt = weights_view.Corruption(
            world.encoder, world.X, world.names, corruption, world.lines
        )
        for step, i in enumerate([1, 0, 1]):
            features = corrupt(step, i, world.features()[i])
            before, change, _ = visit(world, task, chain, i, corruption)
            best = oracles.k_best(features, before, world.names, 1)[0][1]
            expected = oracles.difference(features, world.gold[i], best)
            for key, value in change.items():
                assert value == pytest.approx(expected.get(key, 0.0), abs=1e-9), key


@pytest.mark.parametrize("T, L", [*itertools.product([1, 2, 5], [1, 2, 3])])
def test_all_zero_scores_are_one_big_tie(T, L):
    case = Case(0, T, L, True, 0.0, False)
    case.emission[:] = 0.0
    case.transition[:] = 0.0
    assert case.viterbi() == (0.0, (0,) * T)


def test_two_labellings_and_their_scores_by_hand():
    case = Case(0, 2, 2, True, 0.0, False)
    case.emission[:] = [[1, 0], [0, 3]]
    case.transition[:] = [[[0, -5], [1, 0]]]
    assert case.viterbi() == (3.0, (1, 1))
    assert case.wrong([1, 1]) == (1.0, (0, 0))
