"""The CRF objective: gradients, screening, threads, partial labels, costs, conditioned transitions."""

from itertools import pairwise, product

import numpy as np
import pytest
from crf_cases import FREE, L, make_task, potentials

from skstruct import L1CRF
from skstruct._crf.solver import choose_pairs
from skstruct._crf.solver import objective as crf_objective
from skstruct._crf.solver import view as crf_view
from skstruct._crf.solver.corpus_sums import LONGEST
from skstruct._crf.solver.objective import CRFObjective, ObjectiveOptions
from skstruct._crf.solver.view import View
from skstruct.datasets import make_hmm_sequences
from skstruct.features.encoded import Bag

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def labellings(task, o, weights):
    """For each sequence its first token, and its labellings: (labels, score, margin, whether gold agrees)."""
    table = {}
    for k in range(o.n_pairs):
        table[o.row[o.pair_feature][k], o.pair_label[k]] = weights[k]
    step = np.zeros((L, L))
    step[o.pair[:, 0], o.pair[:, 1]] = weights[o.n_optional :]
    step = step + o.potentials.transition
    edge = {
        tuple(p): w
        for p, w in zip(o.edge_pair.tolist(), weights[o.n_pairs : o.n_optional])
    }
    for i in range(task.weight.shape[0]):
        a, b = task.token[i], task.token[i + 1]
        found = []
        for y in product(range(L), repeat=int(b - a)):
            s, margin = o.potentials.start[y[0]] + o.potentials.end[y[-1]], 0.0
            for t, label in enumerate(y):
                for e in range(task.bag.start[a + t], task.bag.start[a + t + 1]):
                    x = task.bag.value[e] if task.bag.value.size else 1.0
                    s += x * table.get((task.bag.row[e], label), 0.0)
                if t:
                    s += step[y[t - 1], label]
                    if task.edges.row.shape[0] and task.edges.row[0, a + t] >= 0:
                        s += edge.get(
                            (int(task.edges.row[0, a + t]), y[t - 1], label), 0.0
                        )
                g = task.gold[a + t]
                if g >= 0 and g != label:
                    margin += o.potentials.cost[g]
            found.append(
                (
                    y,
                    s,
                    margin,
                    all(g < 0 or g == label for g, label in zip(task.gold[a:b], y)),
                )
            )
        yield a, found


def enumerated(task, o, weights):
    """The smooth part, by listing all labellings."""
    total = o.c2 * float(weights @ weights)
    for weight, (_, found) in zip(task.weight, labellings(task, o, weights)):
        free = [s + margin for _, s, margin, _ in found]
        clamped = [s for _, s, _, agrees in found if agrees]
        total += weight * (np.logaddexp.reduce(free) - np.logaddexp.reduce(clamped))
    return total


def enumerated_curvature(task, o, weights):
    """Σ weight x² p (1 - p) of features, half the expected count of transitions, and 2 c2."""
    nodes, steps, edges = np.zeros((6, L)), np.zeros((L, L)), np.zeros((3, L, L))
    for weight, (a, found) in zip(task.weight, labellings(task, o, weights)):
        score = np.array([s + margin for _, s, margin, _ in found])
        p = np.exp(score - np.logaddexp.reduce(score))
        labels = np.array([y for y, *_ in found])
        for t in range(labels.shape[1]):
            marginal = np.bincount(labels[:, t], p, minlength=L)
            for e in range(task.bag.start[a + t], task.bag.start[a + t + 1]):
                x = task.bag.value[e] if task.bag.value.size else 1.0
                nodes[task.bag.row[e]] += weight * x * x * marginal * (1.0 - marginal)
            if t:
                both = np.zeros((L, L))
                np.add.at(both, (labels[:, t - 1], labels[:, t]), p)
                steps += weight * both
                if task.edges.row.shape[0] and task.edges.row[0, a + t] >= 0:
                    edges[task.edges.row[0, a + t]] += weight * both
    transitions = np.append(edges[tuple(o.edge_pair.T)], steps[tuple(o.pair.T)])
    return (
        np.append(nodes[o.row[o.pair_feature], o.pair_label], 0.5 * transitions)
        + 2.0 * o.c2
    )


@pytest.fixture(params=["weights", "runs", "parts"])
def fields(request, monkeypatch):
    """The fields of features 0 to 5, or None, so that tokens list weights, also in runs, or parts."""
    monkeypatch.setattr(crf_view, "MANY", 2 if request.param == "runs" else 6)
    for name in ("PART", "LABEL", "PART_FEATURE"):
        monkeypatch.setattr(crf_view, name, 0.0)
    return np.array([0, 0, 1, 1, 2, 2]) if request.param == "parts" else None


@pytest.mark.parametrize("edges", [False, True])
@pytest.mark.parametrize("partial", [False, True])
@pytest.mark.parametrize("cost", [None, np.array([0.5, 0.0, 1.5])])
@pytest.mark.parametrize("all_pairs", [False, True])
def test_value_and_gradient(fields, edges, partial, cost, all_pairs):
    task = make_task(edges=edges, partial=partial)
    options = ObjectiveOptions(0.0, 0.1, all_pairs, all_pairs)
    scores = FREE if cost is None else potentials(cost=cost)
    o = CRFObjective(task, options, scores, 6, 3 if edges else 1, fields=fields)
    view = o.view_all()
    rng = np.random.RandomState(1)
    w = rng.randn(o.size)
    value, gradient = o.evaluate(view, w, keep=True)
    assert value == pytest.approx(enumerated(task, o, w), rel=1e-10)
    for k in rng.permutation(o.size)[:12]:
        e = np.zeros(o.size)
        e[k] = 1e-5
        slope = (o.evaluate(view, w + e)[0] - o.evaluate(view, w - e)[0]) / 2e-5
        assert gradient[k] == pytest.approx(slope, abs=1e-5)
    o.evaluate(view, w, keep=True)
    np.testing.assert_allclose(
        o.gradient_of_all(w[: o.n_optional]), gradient[: o.n_optional], atol=1e-10
    )


@pytest.mark.parametrize("edges", [False, True])
@pytest.mark.parametrize("logarithms", [False, True])
def test_curvature(fields, edges, logarithms, monkeypatch):
    """Of sequences whose weights are not 1, in either lattice."""
    task = make_task(edges=edges)
    task.weight[:] *= 4.0
    if logarithms:
        expect = crf_objective.expect

        def leave_all(corpus, begin, end, *arguments):
            if arguments[-1]:  # those left out, by logarithms
                return expect(corpus, begin, end, *arguments)
            group = corpus.sequences.group
            arguments[-2][group[begin] : group[end]] = True
            return 0.0

        monkeypatch.setattr(crf_objective, "expect", leave_all)
    o = CRFObjective(
        task, ObjectiveOptions(0.0, 0.1), FREE, 6, 3 if edges else 1, fields=fields
    )
    w = np.random.RandomState(1).randn(o.size)
    np.testing.assert_allclose(
        o.curvature(o.view_all(), w), enumerated_curvature(task, o, w), rtol=1e-9
    )


def guarded(lattice):
    """Scratch with numbers behind each array that no kernel may touch, and a check that none did."""
    arrays, fences = {}, []
    for name, array in lattice._asdict().items():
        n = array.shape[0]
        longer = np.full(3 * n + 64, 7.0)
        longer[:n] = 0
        fences.append(longer[n:])
        arrays[name] = longer[:n]
    arrays["bits"] = arrays["scratch"].view(np.int64)  # the same memory
    return type(lattice)(**arrays), fences


@pytest.mark.parametrize("given", ["fit", "fit_shards", "X_val"])
def test_no_kernel_writes_beyond_its_scratch(given, monkeypatch):
    """Groups of a part of the sequences are wider than those of all, and so are those of held-out ones."""
    fences, make = [], crf_objective.new_lanes

    def new_lanes(*arguments):
        lattice, more = guarded(make(*arguments))
        fences.extend(more)
        return lattice

    monkeypatch.setattr(crf_objective, "new_lanes", new_lanes)
    long, short = ["A", "B"] * 32 + ["A"], ["A", None] * 32
    X = [[{"a": True}] * 65] + [[{"a": True}] * 64] * 31
    crf = L1CRF(solver="owlqn", max_iter=1)
    if given == "X_val":
        held_out = [long] + [["A", "C"] * 32] * 31
        crf.fit([[{"a": True}] * 2] * 6, [["A", "B"]] * 6, X_val=X, y_val=held_out)
    elif given == "fit_shards":
        crf.fit_shards([lambda: (X, [long] + [short] * 31)])
    else:
        crf.fit(X, [long] + [short] * 31)
    assert fences
    assert all((fence == 7).all() for fence in fences)


@pytest.mark.parametrize("partial", [False, True])
@pytest.mark.parametrize("top", [1.0, 400.0])
def test_very_long_sequences(partial, top):
    """They are summed each by itself, in either lattice; here beside logarithms in numpy."""
    task = make_task(n=3, longest=4, partial=partial, valued=False)
    n, rng = LONGEST + 50, np.random.RandomState(0)
    token = np.array([0, n, n + 3, 2 * n + 3])
    gold = rng.randint(0, L, 2 * n + 3).astype(np.int32)
    if partial:
        gold[rng.rand(gold.shape[0]) < 0.3] = -1
    bag = Bag(
        np.arange(gold.shape[0] + 1),
        rng.randint(0, 6, gold.shape[0]).astype(np.int32),
        np.zeros(0),
    )
    task = task._replace(token=token, anchor=token, gold=gold, bag=bag)
    o = CRFObjective(task, ObjectiveOptions(0.0, 0.1), FREE, 6)
    w = top * rng.randn(o.size)
    value, gradient = o.evaluate(o.view_all(), w)
    nodes, steps = np.zeros((6, L)), np.zeros((L, L))
    nodes[o.row[o.pair_feature], o.pair_label], steps[tuple(o.pair.T)] = (
        w[: o.n_pairs],
        w[o.n_optional :],
    )
    expected = o.c2 * w @ w
    for i, (begin, end) in enumerate(pairwise(token)):
        for sign, labels in ((1.0, np.full(end - begin, -1)), (-1.0, gold[begin:end])):
            scores = nodes[bag.row[begin:end]]
            scores[(labels[:, None] >= 0) & (labels[:, None] != np.arange(L))] = -np.inf
            alpha = scores[0]
            for x in scores[1:]:
                alpha = np.logaddexp.reduce(alpha[:, None] + steps, axis=0) + x
            expected += sign * task.weight[i] * np.logaddexp.reduce(alpha)
    assert value == pytest.approx(expected, rel=1e-10)
    for k in rng.permutation(o.size)[:6]:
        e = np.zeros(o.size)
        e[k] = 1e-5
        slope = (
            o.evaluate(o.view_all(), w + e)[0] - o.evaluate(o.view_all(), w - e)[0]
        ) / 2e-5
        assert gradient[k] == pytest.approx(slope, rel=1e-4, abs=1e-3)


def test_transitions_that_look_at_the_input_are_summed_side_by_side(monkeypatch):
    monkeypatch.setattr(
        crf_objective, "new_alone", None
    )  # sums with logarithms, one by one
    X, y = make_hmm_sequences(40, random_state=0)
    fitted = L1CRF(["U0:%x[0,0]", "B", "B1:%x[0,0]"], c1=0.1, random_state=0).fit(X, y)
    assert fitted.score(X, y) > 0.5


def test_constraints():
    task = make_task()
    task.gold[:] = 0
    allowed = np.zeros((L, L))
    allowed[1, 2] = -np.inf
    end = np.array([0.0, 0.0, -np.inf])
    o = CRFObjective(
        task, ObjectiveOptions(c1=0.0), potentials(transition=allowed, end=end), 6
    )
    assert not ((o.pair[:, 0] == 1) & (o.pair[:, 1] == 2)).any()
    w = np.random.RandomState(0).randn(o.size)
    assert o.evaluate(o.view_all(), w)[0] == pytest.approx(enumerated(task, o, w))


@pytest.mark.parametrize("edges", [False, True])
@pytest.mark.parametrize("partial", [False, True])
def test_a_view_is_the_same_with_the_other_weights_zero(fields, partial, edges):
    task = make_task(n=20, partial=partial, edges=edges)
    o = CRFObjective(
        task, ObjectiveOptions(c1=0.0), FREE, 6, 3 if edges else 1, fields=fields
    )
    rng = np.random.RandomState(0)
    chosen = np.append(
        rng.permutation(o.n_pairs)[:7],
        o.n_pairs + rng.permutation(o.n_optional - o.n_pairs)[:5],
    )
    view = View(o, np.sort(chosen))
    assert (view.parts is not None) == (fields is not None)
    assert (
        view.corpus.runs.item.shape[0] > 0
        or crf_view.MANY > L
        or view.parts is not None
    )
    w = rng.randn(view.size)
    full = np.zeros(o.size)
    full[view.where] = w
    value, gradient = o.evaluate(view, w, keep=True)
    want, all_of_it = o.evaluate(o.view_all(), full)
    assert value == pytest.approx(want)
    np.testing.assert_allclose(gradient, all_of_it[view.where], atol=1e-10)
    n = o.n_optional
    np.testing.assert_allclose(o.gradient_of_all(full[:n]), all_of_it[:n], atol=1e-10)


@pytest.mark.parametrize("valued", [False, True])
@pytest.mark.parametrize("partial", [False, True])
def test_screening_leaves_out_only_what_cannot_move(valued, partial):
    """At any weights, the gradient of a pair left out stays within [-c1, c1]."""
    task = make_task(n=20, R=40, valued=valued, partial=partial)
    task.weight[:] = 1.0
    everything = CRFObjective(task, ObjectiveOptions(c1=0.0), FREE, 40)
    screened = CRFObjective(task, ObjectiveOptions(c1=2.0), FREE, 40)
    assert 0 < screened.n_pairs < everything.n_pairs
    kept = set(
        zip(screened.row[screened.pair_feature].tolist(), screened.pair_label.tolist())
    )
    out = [
        k
        for k, p in enumerate(
            zip(everything.row[everything.pair_feature], everything.pair_label)
        )
        if tuple(p) not in kept
    ]
    view = everything.view_all()
    for seed in range(10):
        w = 5 * np.random.RandomState(seed).randn(everything.size)
        _, gradient = everything.evaluate(view, w)
        assert np.abs(gradient[out]).max() <= 2.0 + 1e-9


@pytest.mark.parametrize("all_states", [False, True])
@pytest.mark.parametrize("partial", [False, True])
def test_screening_of_transitions_that_look_at_the_input(partial, all_states):
    """Likewise; those left out because they are not seen are not asked for."""
    task = make_task(n=20, partial=partial, edges=True)
    task.weight[:] = 1.0
    everything, c1 = (
        CRFObjective(task, ObjectiveOptions(c1=0.0, all_states=all_states), FREE, 6, 3),
        10.0,
    )
    screened = CRFObjective(
        task, ObjectiveOptions(c1=c1, all_states=all_states), FREE, 6, 3
    )
    kept = set(map(tuple, screened.edge_pair.tolist()))
    every = list(map(tuple, everything.edge_pair.tolist()))
    assert kept < set(every)
    out = [everything.n_pairs + k for k, pair in enumerate(every) if pair not in kept]
    for seed in range(10):
        w = 5 * np.random.RandomState(seed).randn(everything.size)
        _, gradient = everything.evaluate(everything.view_all(), w)
        assert np.abs(gradient[out]).max() <= c1 + 1e-9


@pytest.mark.parametrize("edges", [False, True])
def test_many_weights_for_what_the_corpus_shows(edges, monkeypatch, recwarn):
    monkeypatch.setattr(choose_pairs, "MANY_WEIGHTS", 10)
    monkeypatch.setattr(choose_pairs, "MANY_TIMES", 1.1)
    task = make_task(n=4, R=40, edges=edges)
    for all_states in False, True:
        CRFObjective(
            task,
            ObjectiveOptions(0.0, all_states=all_states),
            FREE,
            40,
            3 if edges else 1,
        )
    told = [str(each.message) for each in recwarn.list]
    assert len(told) == 1 + edges and "of which the corpus shows" in told[0]
    assert ("transitions that look" in told[-1]) == edges


@pytest.mark.parametrize("edges", [False, True])
def test_more_weights_than_can_be_numbered(edges, monkeypatch):
    """Of features, or of transitions that look at the input."""
    monkeypatch.setattr(choose_pairs, "MOST_PAIRS", 17)
    task, more = (
        make_task(R=5 if edges else 6, edges=edges),
        {"all_states": True} if edges else {},
    )
    what = (
        "transitions that look at the input"
        if edges
        else "pairs of a feature and a label"
    )
    with pytest.raises(
        ValueError,
        match=f"the corpus has [0-9]+ {what}, at most 17 can have weights: use",
    ):
        CRFObjective(
            task,
            ObjectiveOptions(0.0, **more),
            FREE,
            5 if edges else 6,
            3 if edges else 1,
        )


@pytest.mark.parametrize("valued", [False, True])
def test_parts_change_nothing(monkeypatch, valued):
    """Fields that repeat together, fields that do not, and tokens with features of some of them only."""
    rng = np.random.RandomState(0)
    task = make_task(n=200, longest=9, R=24, valued=valued)
    kinds = [np.sort(rng.permutation(18)[:k]) for k in rng.randint(0, 6, 12)]
    rows = [
        np.append(kinds[k], rng.randint(18, 24))
        for k in rng.randint(0, 12, task.gold.shape[0])
    ]
    start = np.append(0, np.cumsum([r.shape[0] for r in rows]))
    row = np.concatenate(rows).astype(np.int32)
    value = rng.choice([1.0, 2.0, -0.5], row.shape[0]) if valued else np.zeros(0)
    task = task._replace(bag=Bag(start.astype(np.int64), row, value))
    for name in ("PART", "LABEL", "PART_FEATURE"):
        monkeypatch.setattr(crf_view, name, 0.0)
    options = ObjectiveOptions(c1=0.5)
    plain = CRFObjective(task, options, FREE, 24)
    parts = CRFObjective(task, options, FREE, 24, fields=np.arange(24) // 6)
    assert parts.parts.tokens.item.shape[0] < 0.8 * row.shape[0]
    w = rng.randn(plain.size)
    for o in (plain, parts):
        o.found = (
            *o.evaluate(o.view_all(), w, keep=True),
            o.gradient_of_all(w[: o.n_optional]),
        )
        o.found += (o.curvature(o.view_all(), w),)
    for want, got in zip(plain.found, parts.found):
        np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("fields", [None, np.arange(30) // 5])
def test_threads_change_nothing(monkeypatch, fields):
    for name in ("PART", "LABEL", "PART_FEATURE"):
        monkeypatch.setattr(crf_view, name, 0.0)
    task = make_task(n=300, longest=12, R=30)
    w = None
    results = []
    for n_threads in (1, 2, 5):
        o = CRFObjective(
            task, ObjectiveOptions(c1=0.5), FREE, 30, n_threads=n_threads, fields=fields
        )
        w = np.random.RandomState(0).randn(o.size)
        value, gradient = o.evaluate(o.view_all(), w, keep=True)
        results.append((value, gradient, o.gradient_of_all(w[: o.n_optional])))
        o.close()
    for value, gradient, pairs in results[1:]:
        assert value == results[0][0]
        assert np.array_equal(gradient, results[0][1]) and np.array_equal(
            pairs, results[0][2]
        )
