"""The mixture with planted errors: how many there are, and which."""

import numpy as np
import pytest

from skstruct.inspection.chances import Ambiguous, Kind, Mixture, chances_of


def mixture(n_wrong, n=1500, seed=0):
    """Numbers around 0, some around 4: those are errors of the first of two kinds. The
    prior is the logarithm of the densities' ratio, as a calibrated model would have it.
    """
    draw = np.random.RandomState(seed)
    wrong = np.arange(n) < n_wrong
    observed = draw.normal(size=(n, 2))
    observed[wrong, 0] += 4.0
    planted = [draw.normal(size=(400, 2)) + [4.0, 0.0], draw.normal(size=(400, 2)) - 6]
    prior = np.array([[4.0, -6.0], [0.0, -6.0], [-8.0, -36.0]])
    return wrong, Mixture(observed, list(map(Kind, planted)), prior)


@pytest.mark.parametrize("n_wrong", [15, 60, 150])
def test_the_sum_is_the_number_of_errors(n_wrong):
    wrong, given = mixture(n_wrong)
    chances = chances_of(given)
    assert chances.shape == (1500, 2) and np.all(chances.sum(axis=1) <= 1.0)
    assert chances[:, 0].sum() == pytest.approx(n_wrong, rel=1 / 3)
    assert chances[:, 1].sum() < 3.0
    first = np.argsort(-chances[:, 0])[:n_wrong]
    assert wrong[first].mean() > 0.8


def test_the_first_of_a_list_are_as_good_as_it_says():
    shares = []
    for seed in range(5):
        wrong, given = mixture(60, seed=seed)
        chance = chances_of(given)[:, 0]
        first = np.argsort(-chance)[:100]
        shares.append((wrong[first].sum(), chance[first].sum()))
    found, expected = np.sum(shares, axis=0)
    assert found == pytest.approx(expected, rel=1 / 2)


def test_with_little_data_the_prior_speaks():
    prior = np.array([[1.0], [0.0]])
    given = Mixture(np.array([[-5.0], [8.0]]), [Kind(np.zeros((0, 1)))], prior)
    low, high = chances_of(given)[:, 0]
    assert low < 0.01 < 0.5 < high
    assert chances_of(given._replace(observed=np.zeros((0, 1)))).shape == (0, 1)
    nothing = given._replace(planted=[], prior=prior[:, :0])
    assert chances_of(nothing).shape == (2, 0)


def test_errors_are_counted_however_few_are_usual():
    """By maximum likelihood, errors that are not expected would be taken for right."""
    draw = np.random.RandomState(0)
    observed = draw.normal(size=(4000, 2))
    observed[:200] = draw.normal(size=(200, 2)) + [4.0, 4.0]
    planted = draw.normal(size=(800, 2)) * [1.0, 1.5] + [4.0, 3.5]
    prior = np.array([[1.0], [0.0], [0.0]])
    chance = chances_of(Mixture(observed, [Kind(planted)], prior, usual=1e-4))[:, 0]
    assert chance.sum() == pytest.approx(200, rel=1 / 3)
    assert chance[:200].mean() > 0.7 > 0.01 > chance[200:].mean()


@pytest.mark.parametrize("n", [50, 500, 5000])
def test_where_nothing_is_wrong_few_errors_are_expected(n):
    draw = np.random.RandomState(0)
    planted = [draw.normal(size=(400, 2)) + 5.0, draw.normal(size=(400, 2)) - 5.0]
    prior = np.array([[1.0, -1.0], [0.0, 0.0], [0.0, 0.0]])
    kinds = list(map(Kind, planted))
    chances = chances_of(Mixture(draw.normal(size=(n, 2)), kinds, prior))
    assert chances.sum() < 4.5


def test_what_is_ambiguous_is_no_error():
    """A hundred of two hundred that look like errors are to be expected."""
    draw = np.random.RandomState(0)
    observed = draw.normal(size=(4000, 2))
    observed[:200] += 4.0
    kinds = [Kind(draw.normal(size=(800, 2)) + 4.0)]
    prior = np.array([[1.0], [0.0], [0.0]])
    ambiguous = Ambiguous(draw.normal(size=(400, 2)) + 4.0, np.full(400, 0.25))
    all_of_them, half = (
        chances_of(Mixture(observed, kinds, prior, each))[:, 0]
        for each in (None, ambiguous)
    )
    assert all_of_them.sum() == pytest.approx(200, rel=0.1)
    assert half.sum() == pytest.approx(100, rel=0.3)


def test_systematic_errors_may_be_less_extreme_than_planted_ones():
    """Of random errors the least estimate counts, of systematic ones the mean."""
    draw = np.random.RandomState(0)
    observed = draw.normal(size=(4000, 2))
    observed[:200, 0] += 5.0
    planted = draw.normal(size=(800, 2)) + [5.0, 0.0]
    planted[:300, 0] += 5.0
    prior = np.array([[1.0], [0.0], [0.0]])
    random, systematic = (
        chances_of(Mixture(observed, [Kind(planted, flag)], prior)).sum()
        for flag in (False, True)
    )
    assert 1.5 * random < systematic < 250
