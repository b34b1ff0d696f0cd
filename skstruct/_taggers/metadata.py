"""Metadata, such as weights of sequences, on its way to the estimator inside."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from sklearn import get_config
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    get_routing_for_object,
    process_routing,
)

from .._sklearn import requested_name

E = TypeVar("E")


def fit_routing(owner: Any, **inside: Any) -> MetadataRouter:
    """Return the metadata routing of an estimator that trains another one, which is
    given by name.
    """
    mapping = MethodMapping()
    for verb in ("fit", "partial_fit"):
        if hasattr(type(owner), verb):
            mapping.add(caller=verb, callee=verb)
    return (
        MetadataRouter(owner=owner)
        .add_self_request(owner)
        .add(**inside, method_mapping=mapping)
    )


def is_routing() -> bool:
    """Tell whether scikit-learn's metadata routing is enabled."""
    return bool(get_config()["enable_metadata_routing"])


def asking_for_weights(estimator: E) -> E:
    """Let a default estimator request weights, since users cannot set its requests."""
    if is_routing():
        for verb in ("fit", "partial_fit"):
            if hasattr(type(estimator), verb):
                getattr(estimator, f"set_{verb}_request")(sample_weight=True)
    return estimator


def routed(
    owner: Any,
    verb: str,
    role: str,
    given: Mapping[str, Any],
    plain: tuple[str, ...] = ("sample_weight",),
    hands_on: bool = False,
    shared: Mapping[str, Any] = MappingProxyType({}),
) -> dict[str, Any]:
    """Return what a method of the estimator inside gets of the metadata that this one
    was called with.

    Parameters
    ----------
    owner : estimator
        Whose routing :func:`fit_routing` made.
    verb : str
        The method, of both.
    role : str
        The name of the parameter that holds the estimator inside.
    given : dict
        The metadata by name; None counts as not given.
    plain : tuple of str
        What is handed on where metadata routing is not enabled.
    hands_on : bool
        Whether the weights of sequences are for the estimator inside alone.
    shared : dict
        Metadata that this estimator itself reads, such as groups: with metadata routing
        it is handed on to what is inside, at any depth, and asks for it.

    Raises
    ------
    TypeError
        If nobody asks for one of them.
    ValueError
        If the estimator inside asks for weights under another name than that which they
        have; and scikit-learn's ``UnsetMetadataPassedError``, if it does not say
        whether it wants them.
    """
    given = {name: value for name, value in given.items() if value is not None}
    if not is_routing():
        unknown = sorted(given.keys() - {*plain})
        if unknown:
            call = f"{type(owner).__name__}.{verb}"
            raise TypeError(
                f"{call} got an unexpected keyword argument {unknown[0]!r}; other "
                f"metadata "
                f"needs set_config(enable_metadata_routing=True)"
            )
        return given
    asked = get_routing_for_object(owner._template()).consumes(verb, shared.keys())
    given.update((name, shared[name]) for name in asked if shared[name] is not None)
    found = dict(process_routing(owner, verb, **given)[role][verb])
    if odd := sorted(found.keys() & {"X_val", "y_val"}):
        call = f"{type(owner).__name__}.{verb}"
        raise ValueError(f"{odd[0]}: write {call}(X, y, X_val=..., y_val=...)")
    if hands_on and "sample_weight" in given and "sample_weight" not in found:
        inner = getattr(owner, role)
        name = requested_name(inner, verb, "sample_weight")
        if isinstance(name, str) and name not in ("sample_weight", "$WARN$"):
            raise ValueError(
                f"sample_weight: the {role} of {type(owner).__name__}, a "
                f"{type(inner).__name__}, asks for it by the name {name!r}: write "
                f"{verb}(X, y, {name}=...)"
            )
    return found
