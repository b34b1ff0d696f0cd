"""Labels to dense integers and back to the user's own objects.

``None`` marks an unlabelled token and becomes -1. A token with a set of labels, of
which one is right, has the id -2 - s: row s of a table says what it may be.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn, cast

import numpy as np
from numpy.typing import ArrayLike

from .elements import kind_of, plain_value
from .inputs import (
    PlaceError,
    as_sequences,
    by_sequence,
    describe,
    flatten,
    lengths_of,
    offsets_of,
    place,
)
from .places import as_objects, numbered
from .tables import is_missing

UNLABELLED = -1

LEFT_OUT = -100
"""The label of tokens without label in corpora of Hugging Face; loss functions of
PyTorch pass over it.
"""


@dataclass(frozen=True)
class AllBut:
    """All labels but these, in the place of one; also those that are not known yet."""

    labels: frozenset[Any]
    known: frozenset[Any] = frozenset()
    """Labels that it makes known, as a set does with those that it holds."""

    def __contains__(self, label: Any) -> bool:
        return label not in self.labels


SETS = (frozenset, AllBut)
"""The types that stand for several labels, besides ``set``, which no dict can hold."""

SEVERAL = (set, *SETS)
"""All that stands for several labels."""


NOT_SEVERAL = "expected one label, got a set of labels"
_IN_A_LIST = "write None for a token without one, in a list: pandas makes NaN of it"
_A_LABEL = "expected a label, such as a str or an int"


def settled(given: Sequence[Any], predicted: Iterable[Any]) -> Sequence[Any]:
    """Return labels as given, but what is predicted for a set that holds it."""
    if set(SEVERAL).isdisjoint(map(type, given)):
        return given
    return [
        b if isinstance(a, SEVERAL) and b in a else a for a, b in zip(given, predicted)
    ]


def single_labels(y: Any, name: str = "y") -> list[Any]:
    """Return the sequences of labels in ``y``, of which none may be a set.

    Raises
    ------
    ValueError
        If one is; the message names the place.
    """
    y = as_sequences(y, name, "label")
    for i, labels in enumerate(y):
        for t, label in enumerate(labels):
            if isinstance(label, SEVERAL):
                raise PlaceError(i, t, NOT_SEVERAL, name)
    return y


class Found(NamedTuple):
    """The labels of a corpus."""

    # (N,) int32: number of the label, UNLABELLED, or -2 - number of the set
    ids: np.ndarray
    labels: list[Any]  # distinct, also those that only sets hold
    sets: list[frozenset[Any] | AllBut]  # distinct


def some_of(values: Sequence[Any]) -> str:
    """Return up to ten labels, for a message."""
    return ", ".join(map(repr, values[:10])) + (", ..." if len(values) > 10 else "")


_SURROGATES = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def why_not_kept(label: Any) -> str:
    """Return why a file cannot keep a label, and what to write instead; "" if it can.

    Files keep str, int, float and bool, and tuples of these. A label that they do not
    keep would be learned, and be lost with the model.
    """
    kind = kind_of(label)
    if kind is str:
        if not label.isascii() and _SURROGATES.search(label):
            return (
                "holds two surrogates in a row, which a file gives back as one "
                "character; write label.encode('utf-16', 'surrogatepass')"
                ".decode('utf-16')"
            )
        return ""
    if kind is int and not -(2**63) <= label < 2**63:
        return "is an int that 64 bits do not hold; write str(label)"
    if kind in (bool, int, float):
        return ""
    if kind in (tuple, frozenset):
        for part in map(plain_value, label):
            wrong = "" if part is None or kind_of(part) is int else why_not_kept(part)
            if isinstance(part, float) and part != part:
                wrong = "is NaN"
            if wrong:
                return f"holds {describe(part)}, which {wrong}"
        return ""
    if isinstance(label, (bytes, bytearray)):
        remedy = "label.decode()"
    else:
        remedy = "label.isoformat()" if hasattr(label, "isoformat") else "str(label)"
    return (
        f"is a {type(label).__name__}, which no file of a model keeps; write {remedy}"
    )


class Labels:
    """The label set of a model: sorted, or in an order of its own.

    The order decides between labellings of equal score, so that models of other tools
    keep theirs. A label of a subclass of str is the string that it holds; the object
    that came first is given back.

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

    def __init__(self, values: Iterable[Any] = (), in_order: bool = False) -> None:
        values = list(map(plain_value, values))
        kinds = set(map(kind_of, values))
        if len(kinds) > 1:
            names = ", ".join(sorted(kind.__name__ for kind in kinds))
            raise ValueError(f"labels must be of one type, got {names}")
        try:
            self.values = sorted(set(values))
        except TypeError:
            raise ValueError(f"labels must sort, got {describe(values[0])}") from None
        if in_order:
            self.values = list(dict.fromkeys(values))
        self.ids = {v: k for k, v in enumerate(self.values)}
        self._objects = as_objects(self.values)

    def __len__(self) -> int:
        return len(self.values)

    def with_new(self, values: Iterable[Any]) -> Labels:
        """Return these labels and others: sorted if these are, otherwise with the
        others behind.
        """
        ordered = self.values != sorted(self.values)
        return Labels([*self.values, *values], in_order=ordered)

    @property
    def array(self) -> np.ndarray:
        """``classes_``: the labels as an array, of dtype object unless they are int or
        bool.

        So its elements are the labels themselves: those of an array of str would be
        ``numpy.str_``.
        """
        if set(map(type, self.values)) in ({int}, {bool}):
            array = np.array(self.values)
            if array.dtype.kind in "bi":  # of a file there may be larger ones
                return array
        return self._objects.copy()

    def decode(self, ids: np.ndarray, offsets: np.ndarray) -> list[list[Any]]:
        """Return lists of labels, one for each sequence, from the flat ids."""
        return by_sequence(self._objects[ids].tolist(), offsets)


def distinct_labels(
    sequences: list[Any], offsets: np.ndarray, with_sets: bool = True
) -> Found:
    """Return the labels of a corpus, by order of first occurrence, as :class:`Found`.

    Raises
    ------
    ValueError
        If labels are of several types, not hashable, or NaN, or are class numbers and
        -100; if a set is empty, or there are sets and not ``with_sets``. The message
        names the place.
    """
    flat = flatten(sequences)
    try:
        ids, numbers = numbered(flat, {None: 0})
    except TypeError:
        flat = [frozenset(each) if isinstance(each, set) else each for each in flat]
        for k, label in enumerate(flat):
            try:
                hash(label)
            except TypeError:
                _refuse(offsets, k, label, _A_LABEL)
        ids, numbers = numbered(flat, {None: 0})
    ids += UNLABELLED
    labels = list(numbers)[1:]
    sets: list[frozenset[Any] | AllBut] = []
    where: Sequence[int] | np.ndarray = range(len(flat))
    if any(isinstance(label, SETS) for label in labels):
        if not with_sets:
            k = next(k for k, label in enumerate(flat) if isinstance(label, SETS))
            _refuse(offsets, k, flat[k], _A_LABEL)
        ids, labels, sets = _apart(ids, labels, flat, offsets)
        members = [
            () if isinstance(e, AllBut) else e if isinstance(e, frozenset) else (e,)
            for e in flat
        ]
        where = np.repeat(where, lengths_of(members))
        flat = flatten(members)
    if labels:
        _check_labels(labels, flat, where, offsets)
    return Found(ids, list(map(plain_value, labels)), sets)


def _apart(
    ids: np.ndarray, found: list[Any], flat: list[Any], offsets: np.ndarray
) -> tuple[np.ndarray, list[Any], list[frozenset[Any] | AllBut]]:
    """Return the ids, labels and sets of what was found; a set of one label is that
    label.
    """
    labels = {label: None for label in found if not isinstance(label, SETS)}
    for each in found:
        if isinstance(each, frozenset):
            if (
                not each
                or None in each
                or any(isinstance(label, SETS) for label in each)
            ):
                k = next(
                    k
                    for k, label in enumerate(flat)
                    if label == each and isinstance(label, frozenset)
                )
                _refuse(offsets, k, each, "a set must hold labels")
            labels.update(dict.fromkeys(sorted(each, key=repr)))
        elif isinstance(each, AllBut):
            labels.update(dict.fromkeys(each.known))
    numbers = {label: k for k, label in enumerate(labels)}
    sets: list[frozenset[Any] | AllBut] = []
    table = np.full(len(found) + 1, UNLABELLED, np.int32)
    for k, each in enumerate(found):
        if not isinstance(each, SETS):
            table[k] = numbers[each]
        elif isinstance(each, frozenset) and len(each) == 1:
            table[k] = numbers[next(iter(each))]
        else:
            table[k] = -2 - len(sets)
            sets.append(each)
    return table[ids], list(labels), sets


def _check_labels(
    labels: list[Any],
    flat: list[Any],
    where: Sequence[int] | np.ndarray,
    offsets: np.ndarray,
) -> None:
    """Raise unless labels go together; ``flat`` are all that are given, at the places
    ``where``.
    """
    plain = list(map(plain_value, labels))
    if LEFT_OUT in set(plain):
        _refuse_left_out(plain, int(where[flat.index(LEFT_OUT)]), offsets, "y")
    kinds = set(map(kind_of, plain))
    first = kind_of(plain[0])
    if kinds <= {bool, int}:  # True == 1: the dictionary cannot tell them apart
        kinds = {
            kind_of(plain_value(v)) for v in dict(zip(map(type, flat), flat)).values()
        } - {type(None)}
    if float in kinds or len(kinds) > 1 or not _is_itself(plain[0]):
        for k, label in zip(where, flat):
            if label is not None and not _is_itself(plain_value(label)):
                wrong = f"a label must not be NaN, got {describe(label)}; {_IN_A_LIST}"
                raise PlaceError(*place(offsets, k), wrong, "y")
            if label is not None and kind_of(plain_value(label)) is not first:
                _refuse(offsets, k, label, f"expected a label of type {first.__name__}")
    try:
        sorted(plain)
    except TypeError:
        _refuse(offsets, 0, labels[0], "labels must be of a type that sorts")

    for label in labels:
        if wrong := why_not_kept(plain_value(label)):
            k = int(where[flat.index(label)])
            raise PlaceError(*place(offsets, k), _not_kept(label, wrong), "y")


def _not_kept(label: Any, wrong: str) -> str:
    return f"the label {describe(label)} {wrong}"


def check_kept(labels: Iterable[Any], name: str) -> None:
    """Raise for the first label that a file cannot keep; ``name`` is the argument."""
    for label in map(plain_value, labels):
        if wrong := why_not_kept(label):
            raise ValueError(f"{name}: {_not_kept(label, wrong)}")


def _is_itself(value: Any) -> bool:
    """Tell whether a value equals itself: NaN does not, and missing values of pandas do
    not say so.
    """
    same = value == value
    return isinstance(same, (bool, np.bool_)) and bool(same)


def _refuse(offsets: np.ndarray, k: int, label: Any, expected: str) -> NoReturn:
    raise PlaceError(*place(offsets, k), f"{expected}, got {describe(label)}", "y")


def check_gold(
    gold: Sequence[Any],
    predicted: Iterable[Any],
    names: tuple[str, str] = ("y_true", "y_pred"),
) -> None:
    """Raise where gold labels cannot be compared with predicted ones.

    Parameters
    ----------
    gold : list of sequences of labels
    predicted : iterable of labels
        Those of all sequences, or those that a model knows.
    names : tuple of str
        What errors call the two sides.

    Raises
    ------
    ValueError
        If a gold label is missing in another way than None (NaN, NA, -100 among class
        numbers), the message names the place; or if all gold labels are of other types
        than all predicted ones, as ``"1"`` and 1 are.
    """
    flat = flatten(gold)
    examples = dict(zip(map(type, flat), flat))
    if not examples.keys() <= {str, bool, tuple, type(None)}:
        _refuse_missing(flat, offsets_of(lengths_of(gold)), names[0])
    mine = {each: label for label in examples.values() for each in _families(label)}
    theirs: dict[Any, Any] = {}
    for label in predicted if mine else ():
        theirs.update((each, label) for each in _families(label))
        if not theirs.keys().isdisjoint(mine):
            return
    if theirs:
        both = [next(iter(side.values())) for side in (mine, theirs)]
        kind, other = (kind_of(plain_value(label)).__name__ for label in both)
        raise ValueError(
            f"{names[0]} holds labels of type {kind}, such as {both[0]!r}, and "
            f"{names[1]} of type {other}, such as {both[1]!r}: none can be equal"
        )


def check_gold_of_model(gold: Sequence[Any], known: Collection[Any]) -> None:
    """Raise where gold labels cannot be compared with those that a model knows; see
    :func:`check_gold`.
    """
    check_gold(gold, known, ("y", "the model"))


def _families(label: Any) -> set[Any]:
    """Return what is equal for labels that may be equal: their type, or that they are
    numbers.
    """
    if label is None:
        return set()
    if isinstance(label, AllBut):
        label = label.labels
    if isinstance(label, (set, frozenset)):
        return set().union(*map(_families, label))
    kind = kind_of(plain_value(label))
    return {float if kind in (bool, int) else kind}


def _refuse_missing(flat: list[Any], offsets: np.ndarray, name: str) -> None:
    """Raise for the first label that is missing, but not as None is."""
    plain = list(map(plain_value, flat))
    for k, label in enumerate(flat):
        if label is not None and is_missing(plain[k]):
            wrong = f"a label must not be missing, got {describe(label)}"
            raise PlaceError(*place(offsets, k), f"{wrong}; {_IN_A_LIST}", name)
    if LEFT_OUT in [label for label in plain if isinstance(label, int)]:
        _refuse_left_out(plain, plain.index(LEFT_OUT), offsets, name)


def _refuse_left_out(
    labels: Collection[Any], k: int, offsets: np.ndarray, name: str
) -> None:
    """Raise for the k-th token if -100 stands beside class numbers alone."""
    if all(
        label is None or isinstance(label, int) and (label >= 0 or label == LEFT_OUT)
        for label in labels
    ):
        text = (
            f"the label {LEFT_OUT} says in corpora of Hugging Face that a token has "
            "none"
        )
        raise PlaceError(*place(offsets, k), f"{text}; write None instead", name)


class Gold(NamedTuple):
    """The labels of a corpus under the L of a model."""

    ids: np.ndarray  # (N,) int32: label, UNLABELLED, or -2 - s for the set s
    sets: (
        np.ndarray | tuple[()]
    )  # (S, L + 1) bool: the labels of each set, and whether it has those to come

    def at(self, tokens: slice | np.ndarray) -> Gold:
        """Return the labels of some tokens."""
        return self._replace(ids=self.ids[tokens])

    def is_labelled(self) -> np.ndarray:
        """(N,) bool: whether something is known of a token's label; of None, or a set
        of all, nothing is.
        """
        found = self.ids != UNLABELLED
        several = np.flatnonzero(self.ids < UNLABELLED)
        if several.size:
            sets = cast(np.ndarray, self.sets)
            found[several] = ~sets[-2 - self.ids[several], :-1].all(axis=1)
        return found

    def under(self, new: ArrayLike, n_labels: int) -> Gold:
        """Renumber the labels as a model with ``n_labels`` others has them.

        Label k becomes ``new[k]``, or -1, as the last of ``new``.
        """
        new = np.asarray(new, np.int32)
        sets = self.sets
        if len(sets) == 0:
            return Gold(new[self.ids], sets)
        sets = cast(np.ndarray, sets)
        renumbered = np.repeat(sets[:, -1:], n_labels + 1, axis=1)
        old = np.flatnonzero(new[:-1] >= 0)
        renumbered[:, new[old]] = sets[:, old]
        return Gold(
            np.where(self.ids < UNLABELLED, self.ids, new[np.maximum(self.ids, -1)]),
            renumbered,
        )


def _gold(found: Found, labels: Labels) -> Gold:
    """Encode what was found; labels other than ``labels`` become UNLABELLED."""
    table = np.array(
        [labels.ids.get(v, UNLABELLED) for v in found.labels] + [UNLABELLED], np.int32
    )
    if not found.sets:
        return Gold(table[found.ids], ())
    sets = np.zeros((len(found.sets), len(labels) + 1), np.bool_)
    for row, each in zip(sets, found.sets):
        row[:] = isinstance(each, AllBut)
        named = each.labels if isinstance(each, AllBut) else each
        row[[labels.ids[label] for label in named if label in labels.ids]] ^= True
    return Gold(
        np.where(found.ids < UNLABELLED, found.ids, table[np.maximum(found.ids, -1)]),
        sets,
    )


def encode_known(
    sequences: Any, offsets: np.ndarray, labels: Labels
) -> tuple[Gold, np.ndarray, list[Any]]:
    """Return gold ids under ``labels``, those of other labels UNLABELLED.

    Returns
    -------
    gold : Gold
        Sets hold what is known of them.
    unseen : ndarray of shape (N,), bool
        Where there is another label, or a set of others.
    others : list
        The other labels.
    """
    found = distinct_labels(sequences, offsets)
    gold = _gold(found, labels)
    ids = gold.ids
    unseen = (gold.ids == UNLABELLED) & (found.ids >= 0)
    if found.sets:
        empty = np.logical_not(cast(np.ndarray, gold.sets).any(axis=1))
        unseen |= (ids < UNLABELLED) & empty[np.maximum(-2 - ids, 0)]
        gold = gold._replace(ids=np.where(unseen, np.int32(UNLABELLED), ids))
    return gold, unseen, [v for v in found.labels if v not in labels.ids]


def _first_place(found: Found, label: Any) -> int:
    """Return the first token with a label, or with a set that holds it."""
    sets = enumerate(found.sets)
    with_it = [-2 - s for s, each in sets if label in getattr(each, "known", each)]
    k = found.labels.index(label)
    return int(np.argmax(np.isin(found.ids, [k, *with_it])))


def encode_labels(
    sequences: list[Any],
    offsets: np.ndarray,
    labels: Labels,
    grow: bool,
    with_sets: bool = True,
) -> tuple[Gold, Labels]:
    """Return gold ids under ``labels``, and the label set to use from here on.

    Parameters
    ----------
    sequences : list of sequences of labels
    offsets : ndarray of shape (n + 1,)
    labels : Labels
        The label set so far.
    grow : bool
        Whether new labels join the set; if not, they are an error.
    with_sets : bool
        Whether tokens may have sets of labels.

    Returns
    -------
    gold : Gold
    labels : Labels
        The same object unless it grew.
    """
    found = distinct_labels(sequences, offsets, with_sets)
    new = [v for v in found.labels if v not in labels.ids]
    if new:
        expected = ""
        if not grow:
            expected = f"unknown label; choose from {some_of(labels.values)}"
        elif labels.values and kind_of(new[0]) is not kind_of(labels.values[0]):
            expected = f"expected a label of type {kind_of(labels.values[0]).__name__}"
        if expected:
            _refuse(offsets, _first_place(found, new[0]), new[0], expected)
        labels = labels.with_new(new)
    return _gold(found, labels), labels
