"""The abilities of a fitted model, what it reads, can predict and lacks: asked by
whoever is handed a model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._saving.missing_methods import REASONS
from .._sklearn import innermost, layers
from .span_chains import chains_of, known_types

if TYPE_CHECKING:
    from .._data.inputs import Inputs


def inputs_of(model: Any) -> Inputs | None:
    """Return the `skstruct._data.inputs.Inputs` of a model, of a pipeline those of its
    first step; None if that says nothing.
    """
    if not hasattr(model, "steps"):
        return getattr(model, "inputs", None)
    inputs = getattr(model[0], "inputs", None)
    last = getattr(model[-1], "inputs", None)
    if inputs is None or last is None:
        return inputs
    if last.token is tuple and last.width > 2:
        # Where a step adds a column, as WordVectors does for clusters of words, the
        # last one that is read is not given.
        return last._replace(width=last.width - 1)
    return inputs


def task_of(model: Any) -> str | None:
    """Return what a model predicts; None if it does not say."""
    return getattr(inputs_of(model), "task", None)


def reason(model: Any, method: str) -> str:
    """Say why a model lacks a method.

    Of the estimators around each other the innermost that lacks it knows.

    Those with a reason of their own go before: what is inside of them would not help if
    it had the method.
    """
    lacking = [layer for layer in layers(model) if not hasattr(layer, method)]
    own = [
        layer for layer in lacking if type(layer).__name__ in REASONS.get(method, ())
    ]
    try:
        getattr((own or lacking)[-1], method)
    except AttributeError as error:
        return str(error).rpartition(": ")[2]
    return f"this {type(model).__name__} has no {method}"


def span_labels(model: Any) -> list[str]:
    """List the labels that a fitted model of spans can give, sorted."""
    tagger = innermost(model).estimator
    return sorted(set().union(*map(known_types, chains_of(tagger))))
