"""One pass over a corpus: blocks, and threads."""

import numpy as np
import pytest
from crf_cases import FREE, make_task

from skstruct._crf.solver import view as crf_view
from skstruct._crf.solver.objective import CRFObjective, ObjectiveOptions


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
