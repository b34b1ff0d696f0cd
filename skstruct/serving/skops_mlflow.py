"""The functions needed to keep a model with skops and MLflow: which classes to trust,
and what a model reads.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from .._data.inputs import LABELS, SPANS, WORDS
from .._names import PUBLIC
from .._saving.states import KeepsState, KeptAsBytes
from ..features import numeric, patterns, templates

if TYPE_CHECKING:
    from mlflow.models import ModelSignature

_VALUES = templates.FeatureTemplates, numeric.NumericFeatures, patterns.Patterns
"""Parameters that are made anew, by their constructors."""


def trusted_types() -> list[str]:
    """List the classes of this package that files of skops may hold.

    What such a file says of them is checked as a model file is, and none of them runs
    code of the file. Give the list to ``skops.io.load(path, trusted=trusted_types())``,
    or to MLflow, which writes scikit-learn's models by skops:
    ``mlflow.sklearn.log_model(model, skops_trusted_types=trusted_types())``.

    Returns
    -------
    list of str
        True paths, such as ``"skstruct._taggers.perceptron.StructuredPerceptron"``.

    Examples
    --------
    >>> from skstruct.serving import trusted_types
    >>> "skstruct._crf.l1crf.L1CRF" in trusted_types()
    True
    """
    package = __name__.partition(".")[0]
    features = importlib.import_module(f"{package}.features")
    rooms = [
        (importlib.import_module(package), PUBLIC),
        (features, features.__all__),
    ]
    found = {getattr(room, name) for room, names in rooms for name in names}
    classes = [each for each in found if isinstance(each, type)]
    known = [c for c in classes if issubclass(c, (KeepsState, KeptAsBytes))]
    return sorted(f"{c.__module__}.{c.__qualname__}" for c in {*known, *_VALUES})


def signature(model: Any) -> ModelSignature:
    """Say in MLflow's words what a model reads, which it cannot infer of sequences.

    A model with this signature takes a data frame with one text, or one list of tokens,
    a row, and so do the requests of ``mlflow models serve``.

    Parameters
    ----------
    model : fitted estimator or Pipeline

    Returns
    -------
    mlflow.models.ModelSignature
        With the one column ``"text"`` of strings, for what reads texts, or ``"tokens"``
        of arrays of strings.

    Raises
    ------
    ValueError
        If tokens are neither texts nor strings: MLflow has no word for tuples and dicts
        in sequences. Log such a model without a signature, and give ``predict`` lists.
    ImportError
        Without MLflow.
    """
    from mlflow.models import ModelSignature
    from mlflow.types import ColSpec, DataType, Schema
    from mlflow.types.schema import Array

    check_is_fitted(model)
    inner = getattr(model, "best_estimator_", model)
    while hasattr(inner, "steps") or isinstance(inner, FrozenEstimator):
        inner = inner.steps[0][1] if hasattr(inner, "steps") else inner.estimator
    inputs = getattr(inner, "inputs", None)
    if inputs is not None and inputs.task in (WORDS, SPANS):
        return ModelSignature(inputs=Schema([ColSpec(DataType.string, "text")]))
    if inputs is not None and inputs.token is str and inputs.task == LABELS:
        tokens = ColSpec(Array(DataType.string), "tokens")
        return ModelSignature(inputs=Schema([tokens]))
    name = type(model).__name__
    raise ValueError(
        "a signature of MLflow can only describe texts and tokens that are "
        f"strings, and this {name} does not say that it reads these; log it "
        "without a signature, and call predict with lists"
    )
