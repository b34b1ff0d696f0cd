"""Paths through lattices: exact search, and training against a naive trainer."""

import itertools
from collections import defaultdict

import numpy as np
import pytest
from inside import model_of, run_and_lattices_of
from reranker_cases import reranker, texts

from skstruct._core.noise import QUIET
from skstruct._training.epochs import epoch_order
from skstruct._words import reranker_epoch as structure
from skstruct._words.reranker_epoch import ABSENT
from skstruct._words.word_lattice import adapter_of, lattice, make_task


def features(path):
    """The features of a path of (begin, end, word, tag, bucket, ...): the 20
    templates.
    """
    found = defaultdict(float)
    start = ("~", "~", 0, "~")
    atoms = [start, start] + [
        (w, t, end - begin, m) for begin, end, w, t, m, *_ in path
    ]
    for (_, t1, l1, _), (w2, t2, l2, m2), (w3, t3, l3, m3) in zip(
        atoms, atoms[1:], atoms[2:]
    ):
        keys = [w3], [t3], [l3], [w3, t3], [l3, t3], [m3]
        keys += (
            [w3, w2],
            [w3, t2],
            [t3, w2],
            [t3, t2],
            [l3, w2],
            [w3, l2],
            [l3, t2],
            [t3, l2],
            [l3, l2],
        )
        keys += [m3, m2], [t3, t1], [t3, t2, t1], [l3, l1], [l3, l2, l1]
        for k, key in enumerate(keys):
            found[(k, *key)] += 1.0
    return found


def all_paths(nodes, T):
    """All ways through a lattice, as tuples of positions."""
    ways = [((), 0)]
    while ways:
        way, at = ways.pop()
        if at == T:
            yield way
        ways += [
            ((*way, j), nodes[j][1]) for j in range(len(nodes)) if nodes[j][0] == at
        ]


def first_path(nodes, T):
    """Where nothing is known: from the end, nodes of small margins, those that begin
    earlier first.
    """
    way, at = (), T
    last = min(j for j in range(len(nodes)) if nodes[j][1] == T)
    while True:
        way, at = (last, *way), nodes[last][0]
        if at == 0:
            return way
        last = min((nodes[j][5], j) for j in range(len(nodes)) if nodes[j][1] == at)[1]


def naive_training(lattices, targets, orders):
    """Averaged perceptron with complete weight vectors; None where a tie would decide.

    At weights of zero everything ties: there the search takes the arc listed first at
    each step, which prefers small margins and is found by :func:`first_path`.
    """
    weights, total, steps = defaultdict(float), defaultdict(float), 0
    for order in orders:
        for i in order:
            nodes, T = lattices[i], max(node[1] for node in lattices[i])
            scored = sorted(
                ((sum(weights[f] * x for f, x in features([nodes[j] for j in way]).items()), way)
                 for way in all_paths(nodes, T)),
                reverse=True,
            )  # fmt: skip
            best = scored[0][1]
            tied = [way for value, way in scored if value == scored[0][0]]
            if len(tied) == len(scored):
                best = first_path(nodes, T)
            elif len(tied) > 1:
                return None
            if best != targets[i]:
                for f, x in features([nodes[j] for j in targets[i]]).items():
                    weights[f] += x
                for f, x in features([nodes[j] for j in best]).items():
                    weights[f] -= x
            steps += 1
            for f, w in weights.items():
                total[f] += w
    return {f: w / steps for f, w in total.items()}


def prepared(estimator, X, y):
    """(run, lattices with buckets, targets) of a fit that has not begun."""
    run, nodes_of = run_and_lattices_of(estimator, X, y)
    task = run.task
    lattices, targets = [], []
    for i, nodes in enumerate(nodes_of):
        bounds = slice(task.node[i], task.node[i + 1])
        buckets = task.margin[bounds].tolist()
        lattices.append([(*n[:4], m, n[4]) for n, m in zip(nodes, buckets)])
        targets.append(tuple(np.flatnonzero(task.target[bounds] != ABSENT).tolist()))
    return run, lattices, targets


def test_training_equals_the_naive_trainer():
    compared = 0
    for seed in range(30):
        X, y = texts(6, seed)
        estimator = reranker(k=4, cv=2, shuffle=False)
        run, lattices, targets = prepared(estimator, X, y)
        orders = [epoch_order(run.state.key, e, len(X), False) for e in range(3)]
        weights = naive_training(lattices, targets, orders)
        if weights is None:
            continue
        run.train(X, y)
        assert_same_scores(model_of(estimator), lattices, weights)
        compared += 1
    assert compared >= 1


def score_of(model, lattices, way_of):
    """Scores by the package of lattices that hold one path only."""
    single = [[nodes[j] for j in way] for nodes, way in zip(lattices, way_of)]
    lengths = [max(n[1] for n in nodes) for nodes in single]
    task = make_task(
        [[n[:5] for n in nodes] for nodes in single], lengths, model.words, model.tags
    )
    buckets = [n[4] for nodes in single for n in nodes]
    task = task._replace(margin=np.array(buckets, np.int32))
    out, score = np.zeros(len(buckets), np.bool_), np.empty(len(single))
    work = structure.new_work(task, training=False)
    structure.predict(task, 0, len(single), model.reranker(), QUIET, work, out, score)
    assert out.all()
    return score


def assert_same_scores(model, lattices, weights):
    for nodes in lattices:
        ways = list(itertools.islice(all_paths(nodes, max(n[1] for n in nodes)), 30))
        expected = [
            sum(
                weights.get(f, 0.0) * x
                for f, x in features([nodes[j] for j in way]).items()
            )
            for way in ways
        ]
        np.testing.assert_allclose(
            score_of(model, [nodes] * len(ways), ways), expected, atol=1e-9
        )


def test_search_is_exact():
    """The path chosen is the best of all, under the weights of a fit."""
    X, y = texts()
    estimator = reranker().fit(X, y)
    model, base = model_of(estimator), estimator.base_
    view = adapter_of(base)
    candidates = view.candidates(base, X, 6)
    for i, found in enumerate(candidates):
        nodes = lattice(found)
        task = make_task([nodes], [len(X[i])], model.words, model.tags)
        buckets = [(*n[:4], m) for n, m in zip(nodes, task.margin.tolist())]
        ways = list(all_paths(buckets, len(X[i])))
        scores = score_of(model, [buckets] * len(ways), ways)
        assert estimator.decision_function([X[i]])[0] == pytest.approx(
            scores.max(), abs=1e-9
        )
        assert len(ways) >= len({tuple(items) for _, items in found})
