"""Noise: what is drawn is a function of (seed, step, item), with the frequencies asked
for.
"""

import numpy as np
import pytest
from numba import config
from scipy.special import zeta

from skstruct._core.codes import DROPOUT, NO_NOISE, ZIPF
from skstruct._core.compile import kernel
from skstruct._core.noise import (
    EDGE_STREAM,
    NODE_STREAM,
    QUIET,
    TOKEN_STREAM,
    ZIPF_SUPPORT,
    draw,
    factor,
    make_noise,
    token_masked,
)

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered")

N = 2_000 if config.DISABLE_JIT else 200_000


@kernel
def draws(seed, stream, step, items, out):
    for i in range(items.shape[0]):
        out[i] = draw(seed, stream, step, items[i])


@kernel
def factors(noise, code, stream, step, items, out):
    for i in range(items.shape[0]):
        out[i] = factor(noise, code, stream, step, items[i])


@kernel
def masks(noise, step, out):
    for t in range(out.shape[0]):
        for c in range(out.shape[1]):
            out[t, c] = token_masked(noise, step, t, c)


def all_draws(seed=1, stream=NODE_STREAM, step=0, n=N):
    out = np.zeros(n, np.uint64)
    draws(np.uint64(seed), stream, step, np.arange(n), out)
    return out


def all_factors(noise, code, stream=NODE_STREAM, step=0, n=N):
    out = np.zeros(n)
    factors(noise, code, stream, step, np.arange(n), out)
    return out


def all_masks(noise, step=0, n=N, columns=1):
    out = np.zeros((n // columns, columns), np.bool_)
    masks(noise, step, out)
    return out


def within(frequency, probability, n):
    """Five standard deviations of a binomial, plus one draw."""
    return (
        abs(frequency - probability)
        <= 5 * np.sqrt(probability * (1 - probability) / n) + 1 / n
    )


def test_draws_are_deterministic_and_depend_on_everything():
    plain = all_draws()
    np.testing.assert_array_equal(plain, all_draws())
    assert plain.max() < 2**32
    for other in (
        all_draws(seed=2),
        all_draws(step=1),
        all_draws(stream=EDGE_STREAM),
        all_draws(stream=TOKEN_STREAM),
    ):
        assert np.mean(plain == other) < 0.01
        assert abs(
            np.corrcoef(plain.astype(float), other.astype(float))[0, 1]
        ) < 6 / np.sqrt(N)
    assert np.unique(plain).shape[0] > 0.999 * N


def test_draws_are_uniform():
    u = all_draws().astype(float) / 2**32
    counts = np.bincount((u * 16).astype(int), minlength=16)
    assert (
        (counts - N / 16) ** 2 / (N / 16)
    ).sum() < 60  # chi square, 15 degrees: p < 1e-6
    bits = np.unpackbits(
        all_draws().astype(">u4").view(np.uint8).reshape(-1, 4), axis=1
    ).mean(axis=0)
    assert all(within(b, 0.5, N) for b in bits)


def test_neighbouring_steps_and_items_are_uncorrelated():
    a = all_draws(step=7).astype(float)
    b = all_draws(step=8).astype(float)
    for x, y in ((a, b), (a[1:], b[:-1]), (a[1:], a[:-1])):
        assert abs(np.corrcoef(x, y)[0, 1]) < 6 / np.sqrt(N)


def test_draws_do_not_change_between_releases():
    """Replays must be bit-identical on every machine: pinned values."""
    out = np.zeros(3, np.uint64)
    draws(np.uint64(12345), NODE_STREAM, 6, np.array([0, 1, -1]), out)
    mask = 2**64 - 1

    def mix(x):
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & mask
        x = (x ^ (x >> 27)) * 0x94D049BB133111EB & mask
        return x ^ (x >> 31)

    h = mix(12345 ^ mix((6 + int(NODE_STREAM)) & mask))
    expected = [mix((h + i * 0x9E3779B97F4A7C15) & mask) >> 32 for i in (0, 1, -1)]
    assert out.tolist() == expected


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.5, 0.9])
def test_dropout_frequency(rate):
    noise = make_noise(3, feature_noise="dropout", rate=rate)
    x = all_factors(noise, DROPOUT)
    assert set(np.unique(x)) <= {0.0, 1.0}
    assert within(np.mean(x == 0.0), rate, N)


@pytest.mark.parametrize("exponent", [1.5, 2.0, 3.0, 8.0])
def test_zipf_frequencies(exponent):
    noise = make_noise(3, feature_noise="zipf", exponent=exponent)
    k = np.round(1.0 / all_factors(noise, ZIPF)).astype(int)
    assert k.min() >= 1 and k.max() <= ZIPF_SUPPORT
    mass = np.arange(1, ZIPF_SUPPORT + 1, dtype=float) ** -exponent / zeta(exponent)
    mass[-1] = 1.0 - mass[:-1].sum()
    for value in (1, 2, 3, 4, 5, 6, 10):
        assert within(np.mean(k == value), mass[value - 1], N), value
    for limit in (4, 8, 64, 512):  # the binary search beyond the first four
        assert within(np.mean(k > limit), mass[limit:].sum(), N), limit


def test_zipf_table_is_a_distribution():
    for exponent in (1.01, 3.0, 60.0):
        table = make_noise(exponent=exponent).zipf
        assert table.shape == (ZIPF_SUPPORT,)
        assert (np.diff(table.astype(np.int64)) >= 0).all()
        assert table[-1] == 2**32


@pytest.mark.parametrize("exponent", [1.1, 1.5, 3.0, 60.0])
def test_zipf_is_that_of_the_paper(exponent):
    """P(ξ = k) = k^-s / ζ(s), as ``random.zipf`` draws; what is beyond the largest ξ
    counts as that.
    """
    k = np.arange(1, ZIPF_SUPPORT)
    drawn = (
        np.diff(make_noise(exponent=exponent).zipf.astype(float), prepend=0.0) / 2**32
    )
    np.testing.assert_allclose(
        drawn[:-1], k**-exponent / zeta(exponent), rtol=0, atol=2**-32
    )
    assert drawn[-1] == pytest.approx(
        zeta(exponent, ZIPF_SUPPORT) / zeta(exponent), abs=2**-30
    )
    sample = np.minimum(np.random.default_rng(0).zipf(exponent, N), ZIPF_SUPPORT)
    for value in (1, 2, 5, ZIPF_SUPPORT):
        assert within(np.mean(sample == value), drawn[value - 1], N), value


@pytest.mark.parametrize("rate", [0.0, 0.05, 0.5])
def test_token_mask_frequency(rate):
    masked = all_masks(make_noise(5, dropout=rate))
    assert within(masked.mean(), rate, N)


def test_columns_are_masked_independently():
    masked = all_masks(make_noise(5, dropout=0.3), columns=2)
    n = masked.shape[0]
    assert within(masked[:, 0].mean(), 0.3, n)
    assert within(masked[:, 1].mean(), 0.3, n)
    assert within(masked.all(axis=1).mean(), 0.09, n)


def test_columns_never_share_a_draw_with_another_position():
    masked = all_masks(make_noise(5, dropout=0.5), n=64 * 60, columns=60)
    assert len({tuple(row) for row in masked.tolist()}) == masked.shape[0]


def test_same_step_same_factor_other_step_another():
    for noise, code in (
        (make_noise(9, feature_noise="dropout", rate=0.5), DROPOUT),
        (make_noise(9, feature_noise="zipf", exponent=1.5), ZIPF),
    ):
        first = all_factors(noise, code, step=4)
        np.testing.assert_array_equal(first, all_factors(noise, code, step=4))
        for other in (
            all_factors(noise, code, step=5),
            all_factors(noise, code, EDGE_STREAM, step=4),
        ):
            assert 0.05 < np.mean(first != other) < 0.95


def test_no_noise_is_one():
    assert (all_factors(QUIET, NO_NOISE, n=50) == 1.0).all()
    assert not all_masks(QUIET, n=50).any()
    assert QUIET.feature == QUIET.edge == NO_NOISE


def test_edge_noise_same_follows_feature_noise():
    for name, code in ((None, NO_NOISE), ("dropout", DROPOUT), ("zipf", ZIPF)):
        noise = make_noise(0, feature_noise=name, edge_noise="same")
        assert noise.feature == noise.edge == code
    mixed = make_noise(0, feature_noise="zipf", edge_noise="dropout")
    assert (mixed.feature, mixed.edge) == (ZIPF, DROPOUT)
