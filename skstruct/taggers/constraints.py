"""Constraints: which labels may start, follow each other, and end."""

from collections.abc import Hashable

import numpy as np

from ..data.labels import UNLABELLED
from ..data.places import PLACE, PlaceError, describe, place
from ..data.scheme_rules import allowed_transitions, check_scheme
from ..data.schemes import rewriting
from ..training.parameters import parameters_named


def scheme_of(estimator):
    """The label scheme that an estimator's constraints name, or those of one inside of it, or None."""
    named = parameters_named(estimator, "constraints").values()
    return next((value for value in named if isinstance(value, str)), None)


def constraint_arrays(constraints, labels):
    """``start`` (L,), ``allowed`` (L, L) and ``end`` (L,): 0 where allowed, -inf where not.

    Parameters
    ----------
    constraints : None, name of a label scheme, or iterable of pairs
        Pairs are (previous, next) labels that may follow each other; ``(None, y)`` lets a sequence
        start with y, ``(y, None)`` lets it end with y. Without any such pair every label may.
    labels : Labels
    """
    L = len(labels)
    start, allowed, end = np.ones(L, np.bool_), np.ones((L, L), np.bool_), np.ones(L, np.bool_)
    if isinstance(constraints, str):
        odd = [v for v in labels.values if not isinstance(v, str)]
        if odd:
            raise ValueError(f"constraints={constraints!r} needs labels that are str, got {describe(odd[0])}")
        try:
            start, allowed, end = allowed_transitions(labels.values, constraints)
        except PlaceError as error:  # the place is one in the list of labels
            what = error.text.replace(PLACE, "").lstrip(": ")
            what = f"{PLACE}constraints={constraints!r}: {what}"
            raise BrokenConstraint(None, None, what, "y") from None
    elif constraints is not None:
        pairs = list(constraints)
        for pair in pairs:
            if not _is_pair(pair):
                what = "constraints must hold pairs (previous label, next label)"
                raise ValueError(f"{what}, got {describe(pair)}")
        ids, named = {**labels.ids, None: L}, np.zeros((L + 1, L + 1), np.bool_)
        for p, q in pairs:
            if p in ids and q in ids:  # a pair may name a label that this corpus lacks
                named[ids[p], ids[q]] = True
        allowed = named[:L, :L]
        if any(p is None for p, _ in pairs):
            start = named[L, :L]
        if any(q is None for _, q in pairs):
            end = named[:L, L]
    return tuple(np.where(ok, 0.0, -np.inf) for ok in (start, allowed, end))


def _is_pair(pair):
    if not (isinstance(pair, tuple) and len(pair) == 2) or pair == (None, None):
        return False
    return all(isinstance(label, Hashable) for label in pair)


class BrokenConstraint(PlaceError):
    """Labels to learn from that the constraints rule out.

    Attributes
    ----------
    remedy : str
        The end of the message, which says how to rewrite the labels; may be empty.
    """

    remedy = ""


def constraints_of(given, labels, gold, token):
    """The arrays of `constraint_arrays`, after a check that the gold labels keep to them.

    Parameters
    ----------
    given : None, name of a label scheme, or iterable of pairs
    labels : Labels
    gold : data.labels.Gold
    token : ndarray of shape (n + 1,)
        Where each sequence starts.

    Raises
    ------
    BrokenConstraint
        Naming the place and, if the constraints are a scheme's, what rewrites the labels.
    """
    try:
        arrays = constraint_arrays(given, labels)
        check_gold(gold, token, labels, arrays)
    except BrokenConstraint as error:
        if isinstance(given, str):
            _name_remedy(error, given, gold, token, labels)
        raise
    return arrays


def _name_remedy(error, given, gold, token, labels):
    """Let the message name the scheme, and a call of `convert_scheme` that writes the labels as it does."""
    error.text = error.text.replace("under the constraints", f"under the constraints {given!r}")
    complete = gold.ids.min() >= 0
    error.remedy = _remedy(labels.decode(gold.ids, token), check_scheme(given)) if complete else ""
    error.text += error.remedy
    error.move(error.sequence)


def _remedy(y, scheme):
    source, rewritten = rewriting(y, scheme)
    if source is None or rewritten == y:  # what breaks the scheme is no label of y
        return ""
    call = f"skstruct.data.schemes.convert_scheme(y, {source!r}, {scheme!r}"
    if source == scheme:
        return f"; {call}, strict=False) repairs such labels"
    return f"; they look like labels of the scheme {source}: {call}) rewrites them"


def check_gold(gold, token, labels, constraints):
    """Raise if a gold sequence breaks the constraints; the message names the place."""
    L = len(labels)
    may = np.ones((L + 1, L + 1), np.bool_)  # follow; L stands for what is before and behind a sequence
    may[L, :L], may[:L, :L], may[:L, L] = (part == 0.0 for part in constraints)
    if may.all():
        return
    flat = np.insert(np.maximum(gold.ids, UNLABELLED), token, L)
    wrong = (flat[:-1] >= 0) & (flat[1:] >= 0) & ~may[flat[:-1], flat[1:]]
    if wrong.any():
        k = int(wrong.argmax())
        before, label = ([*map(repr, labels.values), None][flat[j]] for j in (k, k + 1))
        i, t = place(token + np.arange(len(token)), k)
        what = f"{label} cannot follow {before}"
        if before is None:
            what = f"{label} cannot start a sequence"
        elif label is None:
            what, t = f"{before} cannot end a sequence", t - 1
        raise BrokenConstraint(i, t, f"the label {what} under the constraints", "y")
    for i in np.unique(np.searchsorted(token, np.flatnonzero(gold.ids < 0), side="right") - 1):
        reached = may[L]
        for t in range(token[i], token[i + 1]):
            reached = may[:L][reached[:L] & gold.may_be(t, L)].any(axis=0)
        if not reached[L]:
            what = "under the constraints there is no labelling with the labels given"
            raise PlaceError(i, None, what, "y")


def check_known(gold, unseen, token, labels, constraints):
    """As :func:`check_gold`, for sequences with labels that training lacks; they are passed over.

    Parameters
    ----------
    gold : data.labels.Gold
        As from ``data.labels.encode_known``.
    unseen : ndarray of shape (N,), bool
        Where there is such a label.
    token : ndarray of shape (n + 1,)
    labels : Labels
    constraints : tuple of (start, allowed, end)

    Returns
    -------
    list of int
        The sequences with such labels for which constraints and their other labels leave no labelling.
    """
    found, known = [], np.ones(gold.ids.shape[0], np.bool_)
    for i in np.unique(np.searchsorted(token, np.flatnonzero(unseen), side="right") - 1).tolist():
        mine = slice(int(token[i]), int(token[i + 1]))
        known[mine] = False
        try:
            check_gold(gold.at(mine), np.array([0, token[i + 1] - token[i]]), labels, constraints)
        except PlaceError:
            found.append(i)
    kept = np.concatenate([[0], np.cumsum(known)])[token]
    check_gold(gold.at(known), kept, labels, constraints)
    return found
