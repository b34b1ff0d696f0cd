"""What a fitted model reads and predicts, where files are read for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._taggers.abilities import inputs_of as inputs_of_model
from .common import CommandError

if TYPE_CHECKING:
    from .._data.inputs import Inputs


def inputs_of(model: Any, path: str, format: str | None = None) -> Inputs:
    """Return what a fitted model reads and predicts.

    Parameters
    ----------
    model : estimator or Pipeline
    path : str
        Of its file, for messages.
    format : str, optional
        Of the corpus file, if an option says it.

    Raises
    ------
    CommandError
        If no corpus file can hold what it was trained on: rows of numbers, or
        ready-made features, unless ``format`` is "crfsuite", whose files do; or if the
        model does not say what it reads.
    """
    inputs = inputs_of_model(model)
    if inputs is None:
        raise CommandError(
            f"{path}: "
            f"the command line cannot use a {type(model).__name__}; use it in Python"
        )
    if inputs.token is dict and format != "crfsuite":
        wrong = (
            f"{path}: the model reads dicts or lists of features, which the command "
            "line cannot; use it in Python"
        )
        raise CommandError(
            f"{wrong}, or features from data of CRFsuite (--format crfsuite)"
        )
    if inputs.token not in (str, tuple, dict):
        raise CommandError(
            f"{path}: the model reads rows of numbers, which the command line cannot; "
            "use it in Python"
        )
    return inputs
