"""What tests of the solver share."""

import numpy as np
import pytest

from skstruct._crf.solver import view as crf_view
from skstruct._crf.solver import weight_rows


@pytest.fixture(params=["weights", "rows", "parts"])
def fields(request, monkeypatch):
    """The fields of features 0 to 5, or None, so that tokens list weights, rows of
    them, or parts.
    """
    monkeypatch.setattr(weight_rows, "MANY", 2 if request.param == "rows" else 6)
    for name in ("PART", "LABEL", "PART_FEATURE"):
        monkeypatch.setattr(crf_view, name, 0.0)
    return np.array([0, 0, 1, 1, 2, 2]) if request.param == "parts" else None
