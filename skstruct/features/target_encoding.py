"""Cross-fitting of ``TargetEncoder``: training rows that do not know their own labels.

What the encoder stands beside, or before, is fitted once: the columns of one-hot
encoders, selections and scalers mean the same in all rows. Only the encoder's own
columns are, for each sequence, those of an encoder that learned from other sequences.
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import clone

from .._data.folds import folds_of
from .._data.tables import is_frame
from .._sklearn import safe_indexing
from .sequence_transformer import by_fold

if TYPE_CHECKING:
    from typing import Any

    from sklearn.preprocessing import TargetEncoder

    from .._data.types import Corpus
    from .sequence_transformer import Fold


def target_encoders(transformer: Any) -> list[TargetEncoder]:
    """Find the encoders that a transformer is, or has among its parameters, at any
    depth.
    """
    from sklearn.preprocessing import TargetEncoder  # slow to import

    parts = transformer, *transformer.get_params().values()
    return [part for part in parts if isinstance(part, TargetEncoder)]


def folds_for(
    encoder: TargetEncoder,
    shown: tuple[Corpus, Corpus, Any],
    lengths: np.ndarray,
    given: np.ndarray,
) -> list[Fold]:
    """Cut sequences as the ``cv`` of an encoder does.

    Parameters
    ----------
    encoder : TargetEncoder
    shown : (sequences, labels, groups)
        Those that have tokens, which the splitter may look into; groups may be None.
    lengths : ndarray of shape (n_sequences,)
        Tokens of each sequence, of all.
    given : ndarray of shape (n_tokens,), bool
        Which tokens have a label.

    Returns
    -------
    list of (train, test)
        Numbers of sequences among those that have tokens.

    Raises
    ------
    ValueError
        If they cannot be cut, or a part has no labelled token to learn from.
    """
    filled = lengths[lengths > 0]
    folds = folds_of(encoder.cv, *shown, once=True)
    of_token = np.repeat(np.arange(filled.shape[0]), filled)
    labelled = np.bincount(of_token, given, filled.shape[0])
    for k, (train, _) in enumerate(folds):
        if not labelled[train].any():
            text = f"fold {k} of the TargetEncoder's cv leaves no labelled token"
            raise ValueError(f"{text} to learn from")
    return folds


def cross_fitting(
    fitted: Any,
    shown: tuple[Corpus, Corpus, Any],
    lengths: np.ndarray,
    labels: tuple[np.ndarray, np.ndarray],
) -> Any:
    """Copy a fitted transformer, so that it transforms the tokens of its fit by
    encoders that have not seen them.

    Parameters
    ----------
    fitted : transformer
        It, or what it has inside, is a ``TargetEncoder``.
    shown : (sequences, labels, groups)
        Those that have tokens, for the splitters; groups may be None.
    lengths : ndarray of shape (n_sequences,)
        Tokens of each sequence.
    labels : (targets, given)
        The labels of the tokens that have one, and which tokens these are.

    Returns
    -------
    transformer
    """
    filled = np.flatnonzero(lengths)
    of_token = np.repeat(np.arange(filled.shape[0]), lengths[filled])
    twin = deepcopy(fitted)
    for encoder in _fitted_encoders(twin):
        folds = folds_for(encoder, shown, lengths, labels[1])
        # An attribute of this object alone: pipelines and columns call it as they are.
        encoder.transform = _Rows(encoder, clone(encoder), of_token, folds, *labels)
    return twin


class _Rows:
    """The rows that ``transform`` of an encoder returns for the tokens of its fit."""

    def __init__(
        self,
        encoder: TargetEncoder,
        unfitted: TargetEncoder,
        of_token: np.ndarray,
        folds: list[Fold],
        targets: np.ndarray,
        given: np.ndarray,
    ) -> None:
        self._plain = encoder.transform
        self._unfitted = unfitted.set_output(transform="default")
        self._classes = getattr(encoder, "classes_", None)
        self._of_token = of_token
        self._folds = folds
        self._targets = targets
        self._given = given

    def __call__(self, X: Any) -> Any:
        number = np.cumsum(self._given) - 1  # of each token among those with a label

        def rows(_: int, train: np.ndarray, test: np.ndarray) -> np.ndarray:
            """Encode the tokens ``test`` by what learned from ``train``."""
            train = train[self._given[train]]
            known = safe_indexing(X, train), self._targets[number[train]]
            return self._values(*known, safe_indexing(X, test))

        found = by_fold(self._of_token, self._folds, rows)
        return _like(self._plain(X), found)

    def _values(self, X: Any, y: np.ndarray, others: Any) -> np.ndarray:
        """Return the values of other tokens, by an encoder that learned from X and y."""
        classes = self._classes
        if classes is None or np.unique(y).shape[0] == classes.shape[0]:
            return clone(self._unfitted).fit(X, y).transform(others)
        # A label is missing here. Each label by itself, as 0 and 1, has its columns.
        targets = classes[1:] if classes.shape[0] == 2 else classes
        of_numbers = clone(self._unfitted).set_params(target_type="continuous")
        by_label = [
            clone(of_numbers).fit(X, (y == label).astype(np.float64)).transform(others)
            for label in targets
        ]
        return np.stack(by_label, axis=2).reshape(by_label[0].shape[0], -1)


def _like(plain: Any, values: np.ndarray) -> Any:
    """Values in the container of the plain output, which may be a data frame."""
    if not is_frame(plain):
        return values
    if hasattr(plain, "iloc"):
        return type(plain)(values, columns=plain.columns, index=plain.index)
    return type(plain)(values, schema=plain.columns)


def _fitted_encoders(transformer: Any) -> list[TargetEncoder]:
    """Return the fitted encoders inside; unfitted ones are not needed."""
    from sklearn.preprocessing import TargetEncoder

    found = []
    seen = set()
    waiting = [transformer]
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, TargetEncoder):
            if hasattr(part, "encodings_"):
                found.append(part)
        elif isinstance(part, (list, tuple)):
            waiting.extend(part)
        elif isinstance(part, dict):
            waiting.extend(part.values())
        elif hasattr(part, "get_params"):
            waiting.extend(vars(part).values())
    return found
