"""Splits of ``train`` that keep the sentences of a document together.

Sentences of one document repeat each other's names. Where a file says which belong
together, early stopping, the search for penalties, calibration and sets of spans never
train on a part of a document and look at the rest.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.model_selection import GroupKFold
from sklearn.utils.validation import has_fit_parameter

from .._data.places import counted
from .common import tell, warn
from .held_out import documents_of, folds_of, part_of

if TYPE_CHECKING:
    from .corpus import Corpus

DEFAULT_FOLDS = 5
"""Folds where ``cv`` is None."""


class Shown(NamedTuple):
    """What a model is shown."""

    corpus: Corpus
    held_out: Corpus | None  # whole documents, for early stopping
    more: dict[str, Any]  # further arguments of ``fit``


@contextlib.contextmanager
def together(model: Any, corpus: Corpus, seed: int, has_dev: bool) -> Iterator[Shown]:
    """Give what a model is to be shown; within it the model's ``cv`` are folds of
    documents.

    Parameters
    ----------
    model : estimator
    corpus : Corpus
    seed : int
        Of the documents that are held out.
    has_dev : bool
        Whether another file is held out.
    """
    documents, known = documents_of(corpus)
    if not known:
        yield Shown(corpus, None, {})
        return
    n = len(np.unique(documents))
    held_out = None
    parameters = model.get_params()
    if not has_dev and _named(parameters, "early_stopping") and n > 1:
        share = max(_named(parameters, "validation_fraction"), default=0.1)
        (out,) = folds_of(documents, share, None, seed)
        held_out = part_of(corpus, out)
        corpus = part_of(corpus, ~out)
        documents = documents[~out]
        n_out = n - len(np.unique(documents))
        tell(f"early stopping holds {counted(n_out, 'document')} of {n} out")
    more = {"groups": documents} if has_fit_parameter(model, "groups") else {}
    cut = {} if corpus.format == "spans" else _folds(parameters, documents, corpus.name)
    before = {name: parameters[name] for name in cut}
    model.set_params(**cut)
    try:
        yield Shown(corpus, held_out, more)
    finally:
        model.set_params(**before)


def _named(parameters: dict[str, Any], name: str) -> list[Any]:
    """The values of a parameter of all estimators, those that say nothing left out."""
    found = (
        value for key, value in parameters.items() if key.rpartition("__")[2] == name
    )
    return [value for value in found if value]


def _folds(
    parameters: dict[str, Any], documents: np.ndarray, name: str
) -> dict[str, Any]:
    """For each parameter ``cv`` that is a number: its folds of documents."""
    n = len(np.unique(documents))
    found = {}
    for key, value in parameters.items():
        if key.rpartition("__")[2] != "cv" or not isinstance(value, Integral | None):
            continue
        n_folds = DEFAULT_FOLDS if value is None else int(value)
        if n_folds > n:
            fewer = f"; -p cv={max(2, n)} has fewer" if "c1s" in parameters else ""
            warn(
                f"{name}: {counted(n, 'document')} for {n_folds} folds: sentences of one "
                f"document are learned and tested{fewer}"
            )
            continue
        found[key] = list(GroupKFold(n_folds).split(documents, groups=documents))
    return found
