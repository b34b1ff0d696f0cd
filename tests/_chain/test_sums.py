"""Log Z and marginals of chains: any scores, lengths, labels and neighbours."""

from functools import partial
from itertools import product

import numpy as np
import pytest

from skstruct import L1CRF
from skstruct._chain import sums
from skstruct._data.inputs import as_tokens
from tests.inside import model_of

WORDS = "abcdefgh"


def trained(L, seed=0, scale=1.0, **options):
    """A model with L labels, random weights, and words whose labels are random;
    transitions of any kind.
    """
    rng = np.random.RandomState(seed)
    X = [
        [WORDS[k] for k in rng.randint(0, len(WORDS), rng.randint(1, 8))]
        for _ in range(30)
    ]
    y = [[f"L{rng.randint(L):02d}" for _ in x] for x in X]
    X.append(["a"] * L)
    y.append([f"L{k:02d}" for k in range(L)])
    crf = L1CRF(
        ["U:%x[0,0]", "B"], c1=0.0, c2=0.1, max_iter=20, all_pairs=True, **options
    )
    crf.set_params(tol=1.0).fit(X, y)
    chain = model_of(crf).ready.chain
    for store in chain.nodes, chain.edges:
        store.value[:] = scale * rng.randn(store.value.shape[0])
    vars(model_of(crf)).pop("ready")
    model_of(crf).nodes.value[:] = chain.nodes.value
    model_of(crf).edges.value[:] = chain.edges.value
    return crf


def texts(seed, lengths):
    rng = np.random.RandomState(seed)
    return [[WORDS[k] for k in rng.randint(0, len(WORDS), T)] for T in lengths]


def by_enumeration(crf, x):
    """(log Z, marginals), and the scores of all labellings."""
    model, L = model_of(crf), len(crf.classes_)
    nodes = model.nodes.value.reshape(-1, L)
    rows = model.encode(as_tokens([x])).nodes.row
    first = model.encode(as_tokens([x])).left
    emission = np.array(
        [nodes[r] if r >= 0 else np.zeros(L) for r in rows[0, first : first + len(x)]]
    )
    step = model.edges.value[: L * L].reshape(L, L)
    scores = {
        ids: sum(emission[t, k] for t, k in enumerate(ids))
        + sum(step[p, k] for p, k in zip(ids, ids[1:]))
        for ids in product(range(L), repeat=len(x))
    }
    top = max(scores.values())
    log_z = top + np.log(sum(np.exp(s - top) for s in scores.values()))
    marginal = np.zeros((len(x), L))
    for ids, score in scores.items():
        marginal[range(len(x)), ids] += np.exp(score - log_z)
    return log_z, marginal, scores


@pytest.mark.parametrize("scale", [0.0, 1.0, 30.0, 800.0])
@pytest.mark.parametrize("L", [1, 2, 4])
def test_sums_equal_enumeration(L, scale):
    for seed in range(3):
        crf = trained(L, seed, scale)
        for x in texts(seed, [1, 2, 5]):
            log_z, marginal, scores = by_enumeration(crf, x)
            np.testing.assert_allclose(
                crf.predict_marginals([x])[0], marginal, rtol=1e-9, atol=1e-12
            )
            for ids, score in list(scores.items())[:9]:
                found = crf.sequence_log_proba([x], [crf.classes_[list(ids)].tolist()])[
                    0
                ]
                assert found == pytest.approx(score - log_z, rel=1e-9, abs=1e-9)
            part = sum(np.exp(s - log_z) for ids, s in scores.items() if ids[0] == 0)
            found = crf.sequence_log_proba(
                [x], [[crf.classes_[0]] + [None] * (len(x) - 1)]
            )[0]
            assert np.exp(found) == pytest.approx(part, rel=1e-9, abs=1e-12)


def exactly(monkeypatch, verb, *given):
    """What a verb returns if all sequences are summed by logarithms."""
    kernel = sums.sum_corpus

    def by_logarithms(*arguments):
        if arguments[7]:
            kernel(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(sums, "sum_corpus", by_logarithms)
        patch.setattr(sums, "sum_small", lambda *given: given[-1].fill(np.nan))
        return verb(*given)


@pytest.mark.parametrize("L", [1, 2, 9, 22, 49])
def test_scaled_sums_equal_those_of_logarithms(L, monkeypatch):
    for scale in 1.0, 100.0, 800.0:
        crf = trained(L, 1, scale)
        X = texts(2, [1, 2, 63, 64, 65, 300, 0])
        y = crf.predict(X)
        for verb, given in (
            (crf.predict_marginals, (X,)),
            (crf.sequence_log_proba, (X, y)),
        ):
            found, want = verb(*given), exactly(monkeypatch, verb, *given)
            for a, b in zip(found, want):
                np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-8)
        np.testing.assert_allclose(
            np.concatenate(crf.predict_marginals(X)).sum(axis=1), 1.0
        )


def test_only_what_underflows_is_summed_by_logarithms(monkeypatch):
    calls = []

    def noted(kernel, *arguments):
        kernel(*arguments)
        calls.append(int(np.isnan(arguments[-1]).sum()))

    for name in "sum_small", "sum_corpus":
        monkeypatch.setattr(sums, name, partial(noted, getattr(sums, name)))
    X = texts(0, [5, 6, 7])
    trained(4, 0, 10.0).predict_marginals(X)
    assert calls == [0]
    calls.clear()
    trained(4, 0, 800.0).predict_marginals(X)
    assert len(calls) == 2 and calls[0] > 0 and calls[1] == 0


def test_both_kernels_write_the_same_bits(monkeypatch):
    for L in (1, 2, 9, 49):
        crf = trained(L, 3, 3.0)
        X = texts(4, [1, 2, 17, 64, 0, 7])
        small = crf.predict_marginals(X)
        with monkeypatch.context() as patch:
            patch.setattr(sums, "has_only_sparse_nodes", lambda _: False)
            large = crf.predict_marginals(X)
        alone = [crf.predict_marginals([x])[0] for x in X]
        for a, b, c in zip(small, large, alone):
            np.testing.assert_array_equal(a, b)
            np.testing.assert_array_equal(a, c)


@pytest.mark.parametrize("L", [1, 2, 9, 22, 49])
def test_sums_do_not_depend_on_neighbours(L):
    """Each sequence alone, among others, in any order and on threads: the same bits."""
    crf = trained(L, 3, 3.0)
    X = texts(4, [1, 2, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 5, 5, 0, 7])
    y = crf.predict(X)
    order = np.random.RandomState(0).permutation(len(X))
    marginals, scores = crf.predict_marginals(X), crf.sequence_log_proba(X, y)
    for subset in (
        [[i] for i in range(len(X)) if X[i]],
        [order],
        [order[:5], order[5:]],
    ):
        for rows in subset:
            some, labels = [X[i] for i in rows], [y[i] for i in rows]
            np.testing.assert_array_equal(
                crf.sequence_log_proba(some, labels), scores[rows]
            )
            for i, found in zip(rows, crf.predict_marginals(some)):
                np.testing.assert_array_equal(found, marginals[i])
    crf.set_params(n_jobs=2)
    np.testing.assert_array_equal(crf.sequence_log_proba(X, y), scores)
    for a, b in zip(crf.predict_marginals(X), marginals):
        np.testing.assert_array_equal(a, b)


def test_a_long_sequence_has_the_sums_of_its_pieces(monkeypatch):
    crf = trained(5, 5, 4.0)
    X = texts(6, [20_000])
    found, want = (
        crf.predict_marginals(X)[0],
        exactly(monkeypatch, crf.predict_marginals, X)[0],
    )
    np.testing.assert_allclose(found, want, atol=1e-9)
    y = crf.predict(X)
    one = exactly(monkeypatch, crf.sequence_log_proba, X, y)
    np.testing.assert_allclose(crf.sequence_log_proba(X, y), one, rtol=1e-9)
