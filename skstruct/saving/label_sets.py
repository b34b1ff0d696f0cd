"""Label sets in files: lists of values, checked."""

import numpy as np

from ..data.elements import kind_of, stored
from ..data.labels import Labels
from ..data.places import as_objects
from .fields import value, via

_TYPES = (bool, float, int, str, tuple)


def _values(labels):
    for label in labels.values:
        if kind_of(label) not in _TYPES:
            known = ", ".join(kind.__name__ for kind in _TYPES)
            raise TypeError(f"labels of type {type(label).__name__} cannot be saved; can be: {known}")
    return list(map(stored, labels.values))


def classes_of(array):
    """``classes_`` as files have it: labels of a subclass of str as the strings that they hold."""
    if not isinstance(array, np.ndarray) or array.dtype.kind != "O":
        return array
    return as_objects(list(map(stored, array.tolist())))


def _labels(values):
    if not (isinstance(values, list) and all(type(v) in _TYPES and v == v for v in values)):
        raise ValueError("must hold strings, numbers, true or false, or tuples of these")
    labels = Labels(values, in_order=True) if values else Labels()
    if labels.values != values:
        raise ValueError("must be distinct")
    return labels


def _some(values):
    if values == []:
        raise ValueError("must hold a label")
    return _labels(values)


maybe_labels = via(value._replace(text="list of distinct labels, or []"), _values, _labels)
label_set = via(value._replace(text="list of distinct labels"), _values, _some)
