"""Items and labels as CRFsuite takes them, made into tokens of this package."""

from collections.abc import Set
from itertools import chain

_SIMPLE = {str, bool, int, float}
"""Types of values that mean the same here and there."""


def attributes_of(item):
    """(name, value) of each attribute of an item: a dictionary, or a collection of names."""
    if not isinstance(item, dict):
        return [(text_of(name, "a feature"), 1.0) for name in item]
    found = []
    for key, value in item.items():
        key = text_of(key, "a feature name")
        if isinstance(value, (str, bytes)):
            found.append((f"{key}:{text_of(value, 'a value')}", 1.0))
        elif isinstance(value, (dict, list, tuple, Set)):
            found += [(f"{key}:{name}", number) for name, number in attributes_of(value)]
        else:
            found.append((key, _number(key, value)))
    return found


def _number(key, value):
    try:
        return float(value)
    except TypeError:
        kinds = "a number, a bool, a str, or a dict, list or set of features"
        raise TypeError(f"the value of {key!r:.80} must be {kinds}, got {value!r:.80}") from None


def text_of(value, what):
    """A str; bytes that are no UTF-8 become lone surrogates, which are written as the same bytes."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if isinstance(value, str):
        return str.__str__(value)  # what an object of a subclass of str holds
    raise TypeError(f"{what} must be str or bytes, got {value!r:.80} of type {type(value).__name__}")


def whole_number(value, what):
    """An int; as in CRFsuite a float is cut, and text is none."""
    if isinstance(value, (str, bytes)) or not hasattr(value, "__int__"):
        raise TypeError(f"{what} must be an integer, got {value!r:.80} of type {type(value).__name__}")
    return int(value)


def token_of(item):
    """A token of the meaning of an item: a dict of numbers, or a list of str."""
    if not isinstance(item, dict):
        return [text_of(name, "a feature") for name in item]
    token = {}
    for name, value in attributes_of(item):
        token[name] = token.get(name, 0.0) + value  # the weight of a feature that occurs twice counts twice
    return token


def tokens_of(sequence):
    """The tokens of an iterable of items, copied; those of an :class:`ItemSequence` are its own."""
    if isinstance(sequence, ItemSequence):
        return sequence.tokens
    items = list(sequence)
    kinds = set(map(type, items))
    if kinds in ({dict}, {list}) and set(map(type, chain.from_iterable(items))) <= {str}:
        values = chain.from_iterable(map(dict.values, items if kinds == {dict} else ()))
        if set(map(type, values)) <= _SIMPLE:
            return [item.copy() for item in items]
    return list(map(token_of, items))


class ItemSequence:
    """Items of one sequence, checked and copied once.

    Parameters
    ----------
    pyseq : iterable of items
        Each a dict (``{name: number, bool, str or collection}``, nested if need be) or a collection of names.
    """

    def __init__(self, pyseq):
        self.tokens = tokens_of(pyseq)

    def items(self):
        """The attributes of each item: ``{name: value}``."""
        return [dict(attributes_of(token)) for token in self.tokens]

    def __len__(self):
        return len(self.tokens)

    def __repr__(self):
        return f"<ItemSequence of size {len(self)}>"
