"""The first half of ``fit``, the same for all chain learners: a labelled corpus is checked and encoded."""

from typing import NamedTuple

import numpy as np

from .._sklearn import sample_weights
from ..data.inputs import as_tokens, blanked, check_X_y
from ..data.labels import Labels, encode_labels
from ..features.choose import check_same_features, new_encoder
from .constraints import constraints_of
from .costs import class_costs


class LabelledCorpus(NamedTuple):
    """A checked corpus and its labels; n sequences, N tokens, L labels.

    Sequences of weight 0 are empty, so that nothing of them is learned and errors about the others still name
    the right one.
    """

    X: object
    y: object
    token: np.ndarray  # (n + 1,) int64: where each sequence starts
    gold: np.ndarray  # (N,) int32: ids of labels, or UNLABELLED
    weight: np.ndarray  # (n,) float64
    labels: Labels
    constraints: tuple  # start, allowed, end
    cost: np.ndarray  # (L,) float64: of missing a token of each label


def read_corpus(estimator, X, y, sample_weight, labels=None, grow=True, cost=0.0, complete=True):
    """The :class:`LabelledCorpus` that an estimator is to learn from.

    Parameters
    ----------
    estimator : estimator
        Its ``constraints`` and ``class_weight`` are read.
    labels : Labels, optional
        Those of the training so far.
    grow : bool
        Whether there may be others.
    cost : float
        Of missing a token whose label has no weight.
    complete : bool
        Whether no label may come later.

    Raises
    ------
    ValueError
        If something is wrong; the message names the place.
    """
    X, y, token = check_X_y(X, y, read=as_tokens)
    weight = sample_weights(sample_weight, X)
    if weight is None:
        weight = np.ones(len(X))
    elif not (weight * np.diff(token)).any():
        raise ValueError("all sequences with a positive sample_weight are empty")
    else:
        empty = np.flatnonzero(weight == 0.0)
        X, y = X.blanked(empty), blanked(y, empty)
        token = X.offsets
    gold, labels = encode_labels(y, token, Labels() if labels is None else labels, grow=grow)
    if len(labels) == 0:
        raise ValueError("y holds no label: all tokens are None")
    constraints = constraints_of(estimator.constraints, labels, gold, token)
    cost = class_costs(estimator.class_weight, gold, labels, cost, complete)
    return LabelledCorpus(X, y, token, gold, weight, labels, constraints, cost)


def encoder_for(estimator, corpus, model=None, scaled=True):
    """The encoder of a fit to a corpus: a new one, or a copy, which grows, of that of the ``model`` so far.

    ``scaled``: whether rows of numbers may be.
    """
    if model is None:
        return new_encoder(estimator.features, estimator.min_count, corpus, scaled=scaled)
    encoder = model.encoder.copy()  # the model in use must not change
    check_same_features(encoder, estimator.features, estimator.min_count)
    return encoder
