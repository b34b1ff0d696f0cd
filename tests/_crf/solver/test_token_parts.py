"""Parts of tokens that repeat, summed once: values are those of the weights one by
one.
"""

import numpy as np
import pytest
from crf_cases import FREE, make_task

from skstruct._crf.solver import view as crf_view
from skstruct._crf.solver.objective import CRFObjective, ObjectiveOptions
from skstruct.features.encoded import Bag


@pytest.mark.parametrize("valued", [False, True])
def test_parts_change_nothing(monkeypatch, valued):
    """Fields that repeat together, fields that do not, and tokens with features of some
    of them only.
    """
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
