"""The corpus written out in some weights: values are those with the other weights
zero.
"""

import numpy as np
import pytest
from crf_cases import FREE, L, make_task

from skstruct._crf.solver import weight_rows
from skstruct._crf.solver.objective import CRFObjective, ObjectiveOptions
from skstruct._crf.solver.view import View


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
    assert (view.row_weights is not None) == view.covers_all == (fields is not None)
    assert view.corpus.rows.item.shape[0] > 0 or weight_rows.MANY > L
    w = rng.randn(view.size)
    full = np.zeros(o.size)
    full[view.where] = w
    value, gradient = o.evaluate(view, w, keep=True)
    want, all_of_it = o.evaluate(o.view_all(), full)
    assert value == pytest.approx(want)
    np.testing.assert_allclose(gradient, all_of_it[view.where], atol=1e-10)
    n = o.n_optional
    np.testing.assert_allclose(o.gradient_of_all(full[:n]), all_of_it[:n], atol=1e-10)
