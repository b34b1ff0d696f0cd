"""A user is warned before a CRF with very many labels is trained, and not of others."""

import warnings

import numpy as np
import pytest

from skstruct import L1CRF
from skstruct._crf import crf_run
from skstruct._crf.expected_cost import (
    MUCH_MEMORY,
    MUCH_TIME,
    expected_bytes,
    expected_seconds,
    warn_of_cost,
)


def test_two_thousand_labels_are_said_to_be_many():
    with pytest.warns(UserWarning) as given:
        warn_of_cost(2000, 50_000, 1004, 80)
    text = str(given[0].message)
    for part in ("2,000 labels", "4,000,000 weights", "GB", "StructuredPerceptron"):
        assert part in text
    assert "100 minutes" in text


@pytest.mark.parametrize(
    "n_labels, n_tokens, seen",
    [(2000, 100, True), (200, 2_000_000_000, True), (50, 200_000, False)],
)
def test_memory_and_time_are_reasons_each(n_labels, n_tokens, seen):
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        warn_of_cost(n_labels, n_tokens, 1004, 80)
    assert bool(given) == seen


def test_fewer_passes_and_a_shorter_memory_cost_less():
    assert expected_bytes(2000, 10) < expected_bytes(2000, 80)
    assert expected_seconds(2000, 1000, 5) * 20 == pytest.approx(
        expected_seconds(2000, 1000, 5000)
    )
    assert expected_bytes(1000, 80) < MUCH_MEMORY < expected_bytes(2000, 80)
    assert expected_seconds(50, 200_000, 1004) < MUCH_TIME


def test_shards_are_said_to_take_memory_each():
    with pytest.warns(UserWarning) as given:
        warn_of_cost(2000, 50_000, 1004, 80, 8)
    text = str(given[0].message)
    here, shard = expected_bytes(2000, 80) / 1e9, expected_bytes(2000, 0) / 1e9
    assert f"{here:.1f} GB of memory here" in text
    assert f"{shard:.1f} GB for each of 8 shards" in text
    assert "StructuredPerceptron" in text


class Asked(Exception):
    """What would be warned of was asked."""


@pytest.fixture
def asks(monkeypatch):
    def ask(*given):
        raise Asked(*given)

    monkeypatch.setattr(crf_run, "warn_of_cost", ask)


LABELS = [*map(str, np.arange(30) % 3)]


@pytest.mark.parametrize(
    "solver, passes", [("two-stage", 11), ("owlqn", 7), ("sgd", 4)]
)
def test_fit_asks_before_it_makes_the_objective(asks, solver, passes):
    crf = L1CRF(solver=solver, max_iter=7, memory=9)
    with pytest.raises(Asked) as asked:
        crf.fit([["a"] * 30], [LABELS])
    assert asked.value.args == (3, 30, passes, 9, 0)


@pytest.mark.parametrize("solver, passes", [("two-stage", 11), ("owlqn", 7)])
def test_fit_shards_asks_before_it_makes_the_objective(asks, solver, passes):
    """Unlabelled tokens, and shards without any, count, too."""
    crf = L1CRF(solver=solver, max_iter=7, memory=9)
    shards = [
        lambda: ([["a"] * 30], [LABELS]),
        lambda: ([["a"] * 4], [[None, None, "0", "1"]]),
        lambda: ([], []),
    ]
    with pytest.raises(Asked) as asked:
        crf.fit_shards(shards)
    assert asked.value.args == (3, 34, passes, 9, 3)
