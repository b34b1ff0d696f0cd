"""Labels to dense integers and back to the user's own objects.

``None`` marks an unlabelled token and becomes -1.
"""

from collections import defaultdict
from itertools import count

import numpy as np

from .inputs import PlaceError, by_sequence, describe, flatten, place
from .places import as_objects

UNLABELLED = -1

LEFT_OUT = -100
"""The label of tokens without label in corpora of Hugging Face; loss functions of PyTorch pass over it."""


def _plain(label):
    return label.item() if isinstance(label, np.generic) else label


def some_of(values):
    """Up to ten labels, for a message."""
    return ", ".join(map(repr, values[:10])) + (", ..." if len(values) > 10 else "")


class Labels:
    """The label set of a model: sorted, or in an order of its own.

    The order decides between labellings of equal score, so that models of other tools keep theirs.

    Parameters
    ----------
    values : iterable
        Distinct labels, of one type that sorts.
    in_order : bool
        Whether ids are given in the order of ``values`` and not in sorted order.

    Attributes
    ----------
    values : list
        The labels as ordinary Python objects.
    ids : dict
    """

    def __init__(self, values=(), in_order=False):
        values = [_plain(v) for v in values]
        kinds = {type(v) for v in values}
        if len(kinds) > 1:
            raise ValueError(
                "labels must be of one type, got " + ", ".join(sorted(k.__name__ for k in kinds))
            )
        try:
            self.values = sorted(set(values))
        except TypeError:
            raise ValueError(f"labels must sort, got {describe(values[0])}") from None
        if in_order:
            self.values = list(dict.fromkeys(values))
        self.ids = {v: k for k, v in enumerate(self.values)}
        self._objects = as_objects(self.values)

    def __len__(self):
        return len(self.values)

    def with_new(self, values):
        """These labels and others: sorted if these are, otherwise with the others behind."""
        ordered = self.values != sorted(self.values)
        return Labels([*self.values, *values], in_order=ordered)

    @property
    def array(self):
        """``classes_``: the labels as an array, of dtype object unless they are int or bool.

        So its elements are the labels themselves: those of an array of str would be ``numpy.str_``.
        """
        kind = type(self.values[0]) if self.values else None
        if kind in (int, bool):
            array = np.array(self.values)
            if array.tolist() == self.values:
                return array
        return self._objects.copy()

    def decode(self, ids, offsets):
        """Lists of labels, one for each sequence, from the flat ids."""
        return by_sequence(self._objects[ids].tolist(), offsets)


def distinct_labels(sequences, offsets):
    """(ids by order of first occurrence, the labels in that order); ``None`` has the id -1.

    Raises
    ------
    ValueError
        If labels are of several types, not hashable, or NaN, or are class numbers and -100; the message names
        the place.
    """
    flat = flatten(sequences)
    ids = defaultdict(count().__next__)
    ids[None] = UNLABELLED
    try:
        out = np.fromiter(map(ids.__getitem__, flat), np.int32, len(flat))
    except TypeError:
        for k, label in enumerate(flat):
            try:
                hash(label)
            except TypeError:
                _refuse(offsets, k, label, "expected a label, such as a str or an int")
    del ids[None]
    labels = list(ids)
    if LEFT_OUT in ids and all(isinstance(_plain(v), int) and (v >= 0 or v == LEFT_OUT) for v in labels):
        k = next(k for k, label in enumerate(flat) if label == LEFT_OUT)
        text = (
            f"the label {LEFT_OUT} says in corpora of Hugging Face that a token has none; write None instead"
        )
        raise PlaceError(*place(offsets, k), text, "y")
    if labels:
        kinds = {type(_plain(v)) for v in labels}
        first_label = _plain(labels[0])
        first = type(first_label)
        if kinds <= {bool, int}:  # True == 1: the dictionary cannot tell them apart
            kinds = {type(_plain(v)) for v in dict.fromkeys(zip(map(type, flat), flat)) for v in v[1:]}
            kinds.discard(type(None))
        if float in kinds or len(kinds) > 1 or not (_is_itself(first_label) and _sortable(labels)):
            for k, label in enumerate(flat):
                plain = _plain(label)
                if plain is None:
                    continue
                if not _is_itself(plain):
                    _refuse(offsets, k, label, "a label must not be NaN")
                if type(plain) is not first:
                    _refuse(offsets, k, label, f"expected a label of type {first.__name__}")
            if not _sortable(labels):
                _refuse(offsets, 0, labels[0], "labels must be of a type that sorts")
        elif first in (list, dict, set):
            _refuse(offsets, 0, labels[0], "expected a label, such as a str or an int")
    return out, [_plain(v) for v in labels]


def _is_itself(value):
    """Whether a value equals itself: NaN does not, and missing values of pandas do not say so."""
    same = value == value
    return isinstance(same, (bool, np.bool_)) and bool(same)


def _sortable(labels):
    try:
        sorted(map(_plain, labels))
    except TypeError:
        return False
    return True


def _refuse(offsets, k, label, expected):
    i, t = place(offsets, k)
    raise PlaceError(i, t, f"{expected}, got {describe(label)}", "y")


def encode_known(sequences, offsets, labels):
    """Gold ids under ``labels``, those of other labels UNLABELLED.

    Returns
    -------
    ids : ndarray of shape (N,), int32
    unseen : ndarray of shape (N,), bool
        Where there is another label.
    others : list
        The other labels.
    """
    ids, found = distinct_labels(sequences, offsets)
    table = np.array([labels.ids.get(v, UNLABELLED) for v in found] + [UNLABELLED], np.int32)
    gold = table[ids]
    return gold, (gold < 0) & (ids >= 0), [v for v in found if v not in labels.ids]


def encode_labels(sequences, offsets, labels, grow):
    """Gold ids under ``labels``, and the label set to use from here on.

    Parameters
    ----------
    sequences : list of sequences of labels
    offsets : ndarray of shape (n + 1,)
    labels : Labels
        The label set so far.
    grow : bool
        Whether new labels join the set; if not, they are an error.

    Returns
    -------
    ids : ndarray of shape (N,), int32
    labels : Labels
        The same object unless it grew.
    """
    ids, found = distinct_labels(sequences, offsets)
    new = [v for v in found if v not in labels.ids]
    if new:
        expected = ""
        if not grow:
            expected = f"unknown label; known are {some_of(labels.values)}"
        elif labels.values and type(new[0]) is not type(labels.values[0]):
            expected = f"expected a label of type {type(labels.values[0]).__name__}"
        if expected:
            _refuse(offsets, int(np.argmax(ids == found.index(new[0]))), new[0], expected)
        labels = labels.with_new(new)
    table = np.array([labels.ids[v] for v in found] + [UNLABELLED], np.int32)
    return table[ids], labels
