"""The limited memory of the batch solvers, and what they expect to gain."""

import numpy as np
import pytest

from skstruct._crf.solver.quasi_newton import Memory, expected_gain


@pytest.mark.parametrize("scale, precision", [(None, 1e-6), (1.0, 1e-4), (1e30, 1e-4)])
def test_memory_solves_quadratics(scale, precision):
    """With n independent steps the recursion is the inverse of the Hessian."""
    rng = np.random.RandomState(0)
    n = 6
    root = np.ones(n) if scale is None else scale ** rng.randint(-1, 2, n)
    A = rng.randn(n, n)
    A = (A @ A.T + np.eye(n)) * np.outer(root, root)
    memory = Memory(n, n, None if scale is None else root)
    directions = []
    for _ in range(n):  # conjugate steps
        s = rng.randn(n) / root
        for d in directions:
            s -= d * (d @ A @ s) / (d @ A @ d)
        directions.append(s)
        memory.add(s, A @ s)
    g = rng.randn(n) * root
    want = np.linalg.solve(A / np.outer(root, root), g / root) / root
    np.testing.assert_allclose(
        memory.solve(g, np.ones(n, bool), root**2, 1.0), want, rtol=precision
    )
    restricted = memory.solve(g, np.arange(n) < 3, root**2, 1.0)
    assert not restricted[3:].any() and restricted @ g > 0


def test_expected_gain_continues_a_geometric_series():
    values = [10.0 + 4.0 * 0.97**k for k in range(30)]
    assert expected_gain(values) == pytest.approx(values[-1] - 10.0, rel=1e-6)
    assert expected_gain(values[:9]) == pytest.approx(values[8] - 10.0, rel=1e-6)
    assert expected_gain(values[:8]) == np.inf
    assert expected_gain([1.0] * 21) == 0.0
    # a jump after a standstill promises more, not infinitely more
    assert 0.0 < expected_gain([1.0] * 21 + [0.9]) < 2.0


def test_memory_moves_with_the_working_set():
    memory = Memory(3, 4)
    memory.add(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 1.0, 2.0, 1.0]))
    memory.move(np.array([2, 3, 5, 9]), np.array([3, 4, 9]))
    steps, changes = memory.copy_pairs()
    np.testing.assert_array_equal(steps, [[2.0, 0.0, 4.0]])
    np.testing.assert_array_equal(changes, [[1.0, 0.0, 1.0]])
    assert not memory.steps[1:].any()
    memory.move(np.array([3, 4, 9]), np.array([0, 3, 5, 6, 9]))  # wider than ever
    np.testing.assert_array_equal(memory.copy_pairs()[0], [[0.0, 2.0, 0.0, 0.0, 4.0]])
    memory.move(np.array([0, 3, 5, 6, 9]), np.array([9]))
    memory.move(np.array([9]), np.array([3, 9]))  # what left has not moved
    np.testing.assert_array_equal(memory.copy_pairs()[0], [[0.0, 4.0]])
