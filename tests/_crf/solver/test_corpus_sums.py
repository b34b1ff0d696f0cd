"""What passes work with: scratch that is large enough, and matrices of transitions for
each token.
"""

import numpy as np
import pytest

from skstruct import L1CRF
from skstruct._crf.solver import corpus_pass
from skstruct._crf.solver import objective as crf_objective
from skstruct.datasets import make_hmm_sequences

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def guarded(lattice):
    """Scratch with numbers behind each array that no kernel may touch, and a check that
    none did.
    """
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
    """Groups of a part of the sequences are wider than those of all, and so are those
    of held-out ones.
    """
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


def test_transitions_that_look_at_the_input_are_summed_side_by_side(monkeypatch):
    monkeypatch.setattr(
        corpus_pass, "new_alone", None
    )  # sums with logarithms, one by one
    X, y = make_hmm_sequences(40, random_state=0)
    fitted = L1CRF(["U0:%x[0,0]", "B", "B1:%x[0,0]"], c1=0.1, random_state=0).fit(X, y)
    assert fitted.score(X, y) > 0.5
