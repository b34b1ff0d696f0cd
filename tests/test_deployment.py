"""Models at work are never changed by being asked; the service is tested in
`tests/serving`.
"""

import joblib
import pytest
from model_cases import ALL_CASES, covering, fitted

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize("name", covering(ALL_CASES))
def test_prediction_never_changes_a_model(name, tmp_path):
    model, X, y = fitted(name, 4)
    asked = {
        "predict": (X,),
        "predict_kbest": (X, 2),
        "decision_function": (X,),
        "predict_marginals": (X,),
    }
    asked |= {"score": (X, y), "info": (), "n_features": (), "predict_posterior": (X,)}
    model.save(tmp_path / "before")
    before = joblib.hash(model)
    for method, given in asked.items():
        if hasattr(model, method):
            getattr(model, method)(*given)
    assert joblib.hash(model) == before
    model.save(tmp_path / "after")
    assert (tmp_path / "after").read_bytes() == (tmp_path / "before").read_bytes()
