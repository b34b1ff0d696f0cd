"""Splits of ``train`` that keep the sentences of a document together.

Sentences of one document repeat each other's names. Where a file says which belong
together, early stopping, the search for penalties, calibration and sets of spans never
train on a part of a document and look at the rest. Of annotated texts, whose lines are
what is learned, the search and calibration part these where they stand.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.model_selection import GroupKFold, KFold
from sklearn.utils.validation import has_fit_parameter

from .._data.places import counted
from .common import tell, warn
from .held_out import documents_of, folds_of, part_of

if TYPE_CHECKING:
    from .corpus import Corpus

DEFAULT_FOLDS = 5
"""Folds where ``cv`` is None."""


class Shown(NamedTuple):
    """The arguments of a model's ``fit``.

    Attributes
    ----------
    corpus : Corpus
        What it learns from.
    held_out : Corpus or None
        Whole documents that judge its epochs, for early stopping.
    metadata : dict
        Further arguments: ``groups``, the documents, where ``fit`` takes them.
    """

    corpus: Corpus
    held_out: Corpus | None
    metadata: dict[str, Any]


@contextlib.contextmanager
def split_by_document(
    model: Any, corpus: Corpus, seed: int, has_dev: bool
) -> Iterator[Shown]:
    """Let a model split a corpus between documents only, while the context lasts.

    Its parameters ``cv`` are folds of documents within it, and what they were
    afterwards.

    Parameters
    ----------
    model : estimator
        That is about to be fitted.
    corpus : Corpus
    seed : int
        Which documents are held out for early stopping.
    has_dev : bool
        Whether another file is held out instead.

    Yields
    ------
    Shown
        What to fit the model on.
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
        tell(f"early stopping holds out {counted(n_out, 'document')} of {n}")
    metadata = {}
    if has_fit_parameter(model, "groups") and not _is_short(model, n, corpus.name):
        metadata = {"groups": documents}
    folds = (
        {}
        if corpus.kind.has_spans
        else _folds(model, parameters, documents, corpus.name)
    )
    before = {name: parameters[name] for name in folds}
    model.set_params(**folds)
    try:
        yield Shown(corpus, held_out, metadata)
    finally:
        model.set_params(**before)


def _named(parameters: dict[str, Any], name: str) -> list[Any]:
    """Return the values of a parameter in all estimators inside, None and False left
    out.
    """
    found = (
        value for key, value in parameters.items() if key.rpartition("__")[2] == name
    )
    return [value for value in found if value]


def _takes_folds(model: Any, parameters: dict[str, Any], key: str) -> bool:
    """Tell whether a parameter ``cv`` may be a list of folds: that of a re-ranker is a
    number.
    """
    owner = parameters.get(key.rpartition("__")[0], model)
    return "cv_object" in getattr(owner, "_parameter_constraints", {}).get("cv", ())


def _is_short(model: Any, n: int, name: str) -> bool:
    """Warn if a model whose parts are a number has fewer documents, n, than these."""
    is_number = not _takes_folds(model, {}, "cv")
    is_short = is_number and n < getattr(model, "cv", 0)
    if is_short:
        warn(
            f"{name}: {counted(n, 'document')} for {model.cv} folds: sentences of one "
            "document would be in training and test"
            f"; -p cv={max(2, n)} has fewer"
        )
    return is_short


def _folds(
    model: Any, parameters: dict[str, Any], documents: np.ndarray, name: str
) -> dict[str, Any]:
    """Return the folds of documents for each parameter ``cv`` that is a number, by its
    full name.
    """
    n = len(np.unique(documents))
    found = {}
    for key, value in parameters.items():
        if key.rpartition("__")[2] != "cv" or not isinstance(value, Integral | None):
            continue
        if not _takes_folds(model, parameters, key):
            continue
        n_folds = DEFAULT_FOLDS if value is None else int(value)
        if n_folds > n:
            fewer = f"; -p cv={max(2, n)} has fewer" if "c1s" in parameters else ""
            warn(
                f"{name}: {counted(n, 'document')} for {n_folds} folds: sentences of "
                "one document are in training and test"
                f"{fewer}"
            )
            if key == "cv" and n_folds <= len(documents):
                # A number cuts no document where ``fit`` is given them.
                found[key] = list(KFold(n_folds).split(documents))
            continue
        found[key] = list(GroupKFold(n_folds).split(documents, groups=documents))
    return found
