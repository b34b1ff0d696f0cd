"""Constraints: which labels may start, follow each other, and end."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from .._data.labels import UNLABELLED
from .._data.places import PLACE, PlaceError, describe, offsets_of, place
from .._data.scheme_rules import allowed_transitions, check_scheme
from .._data.schemes import rewriting
from .._training.parameters import parameters_named

if TYPE_CHECKING:
    from .._data.labels import Gold, Labels


Constraints: TypeAlias = str | Collection[tuple[Any, Any]] | None
"""As users give them: the name of a label scheme, pairs of labels, or nothing."""

ConstraintArrays: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]
"""``start`` (L,), ``allowed`` (L, L), ``end`` (L,): 0 where allowed, -inf where not."""


def scheme_of(estimator: Any) -> str | None:
    """Return the label scheme that the constraints of an estimator name.

    They may be those of an estimator inside of it; None if they name no scheme.
    """
    named = parameters_named(estimator, "constraints").values()
    return next((value for value in named if isinstance(value, str)), None)


def constraint_arrays(constraints: Constraints, labels: Labels) -> ConstraintArrays:
    """Return ``start``, ``allowed`` and ``end``: 0 where allowed, -inf where not.

    Parameters
    ----------
    constraints : None, name of a label scheme, or iterable of pairs
        Pairs are (previous, next) labels that may follow each other; ``(None, y)`` lets
        a sequence start with y, ``(y, None)`` lets it end with y. Without any such pair
        every label may.
    labels : Labels

    Raises
    ------
    BrokenConstraint
        If a label does not belong to the scheme.
    ValueError
        If a scheme is given and a label is no str, or something is no pair of labels.
    """
    L = len(labels)
    start = np.ones(L, np.bool_)
    allowed = np.ones((L, L), np.bool_)
    end = np.ones(L, np.bool_)
    if isinstance(constraints, str):
        odd = [v for v in labels.values if not isinstance(v, str)]
        if odd:
            raise ValueError(
                f"constraints={constraints!r} needs labels that are str, got "
                f"{describe(odd[0])}"
            )
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
        ids = {**labels.ids, None: L}
        named = np.zeros((L + 1, L + 1), np.bool_)
        for p, q in pairs:
            if p in ids and q in ids:  # a pair may name a label that this corpus lacks
                named[ids[p], ids[q]] = True
        allowed = named[:L, :L]
        if any(p is None for p, _ in pairs):
            start = named[L, :L]
        if any(q is None for _, q in pairs):
            end = named[:L, L]
    arrays = [np.where(ok, 0.0, -np.inf) for ok in (start, allowed, end)]
    return arrays[0], arrays[1], arrays[2]


def _is_pair(pair: Any) -> bool:
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


def constraints_of(
    given: Constraints, labels: Labels, gold: Gold, token: np.ndarray
) -> ConstraintArrays:
    """Return the arrays of `constraint_arrays`, which the gold labels must keep to.

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
        Naming the place and, if the constraints are a scheme's, what rewrites the
        labels.
    """
    try:
        arrays = constraint_arrays(given, labels)
        check_gold(gold, token, labels, arrays)
    except BrokenConstraint as error:
        if isinstance(given, str):
            _name_remedy(error, given, gold, token, labels)
        raise
    return arrays


def _name_remedy(
    error: BrokenConstraint, given: str, gold: Gold, token: np.ndarray, labels: Labels
) -> None:
    """Let the message name the scheme, and a call of `convert_scheme` that writes the
    labels as it does.
    """
    error.text = error.text.replace(
        "under the constraints", f"under the constraints {given!r}"
    )
    complete = gold.ids.min() >= 0
    error.remedy = (
        _remedy(labels.decode(gold.ids, token), check_scheme(given)) if complete else ""
    )
    error.text += error.remedy
    error.move(error.sequence)


def _remedy(y: list[list[Any]], scheme: str) -> str:
    source, rewritten = rewriting(y, scheme)
    if source is None or rewritten == y:  # what breaks the scheme is no label of y
        return ""
    call = f"skstruct.schemes.convert_scheme(y, {source!r}, {scheme!r}"
    if source == scheme:
        return f"; {call}, strict=False) repairs such labels"
    return f"; they look like labels of the scheme {source}: {call}) rewrites them"


def check_gold(
    gold: Gold, token: np.ndarray, labels: Labels, constraints: ConstraintArrays
) -> None:
    """Check that gold sequences keep to the constraints.

    Raises
    ------
    BrokenConstraint
        If a label cannot stand where it stands; the message names the place.
    PlaceError
        If labels that are not given leave no labelling.
    """
    chain = _Follow.of(gold, token, constraints, len(labels))
    if chain is None:
        return
    wrong = chain.broken_pairs()
    if wrong.size:
        k = int(wrong[0])
        before, label = (
            [*map(repr, labels.values), None][chain.flat[j]] for j in (k, k + 1)
        )
        i, t = place(chain.begin, k)
        what = f"{label} cannot follow {before}"
        if before is None:
            what = f"{label} cannot start a sequence"
        elif label is None:
            what = f"{before} cannot end a sequence"
            t = t - 1
        raise BrokenConstraint(i, t, f"the label {what} under the constraints", "y")
    closed = chain.closed_gaps()
    if closed.size:
        what = "no labelling with the given labels satisfies the constraints"
        raise PlaceError(chain.sequences(closed)[0], None, what, "y")


GAPS = 4096
"""Gaps that are gone through side by side, each with a number for every label."""


class _Follow(NamedTuple):
    """The labels of a corpus as one chain, and which of them may follow each other; L
    labels.

    A gap is what is between two labels that are given, or an end of a sequence: tokens
    without a label, or with a set of labels.
    """

    may: np.ndarray
    """(L + 1, L + 1) bool [before, behind]; L stands before and behind a sequence."""
    flat: np.ndarray
    """(N + n + 1,) ids as in Gold, an L before each sequence and behind the last."""
    begin: np.ndarray  # (n + 1,) int64: where each of these L stands
    sets: np.ndarray | tuple[()]  # as in Gold

    @classmethod
    def of(
        cls, gold: Gold, token: np.ndarray, constraints: ConstraintArrays, L: int
    ) -> _Follow | None:
        """Join gold labels to a chain; None if every label may follow each other."""
        may = np.ones((L + 1, L + 1), np.bool_)
        may[L, :L], may[:L, :L], may[:L, L] = (part == 0.0 for part in constraints)
        if may.all():
            return None
        return cls(
            may, np.insert(gold.ids, token, L), token + np.arange(len(token)), gold.sets
        )

    def sequences(self, places: np.ndarray) -> np.ndarray:
        """Return the sequences in which some places of the chain are."""
        return np.searchsorted(self.begin, places, side="right") - 1

    def broken_pairs(self) -> np.ndarray:
        """Find labels that cannot stand before the next one; places, ascending."""
        flat = np.maximum(self.flat, UNLABELLED)
        return np.flatnonzero(
            (flat[:-1] >= 0) & (flat[1:] >= 0) & ~self.may[flat[:-1], flat[1:]]
        )

    def closed_gaps(self) -> np.ndarray:
        """Find gaps that no labels fill; their places, ascending.

        Gaps without sets are alike where their ends and lengths are, so that one of
        each kind is looked at.
        """
        unknown = self.flat < 0
        L = self.may.shape[0] - 1
        gap = np.flatnonzero(unknown[1:] & ~unknown[:-1]) + 1
        stop = np.flatnonzero(unknown[:-1] & ~unknown[1:]) + 1
        before = self.flat[gap - 1].astype(np.int64)
        after = self.flat[stop]
        length = stop - gap
        has_set = np.zeros(gap.shape[0], np.bool_)
        has_set[
            np.searchsorted(gap, np.flatnonzero(self.flat < UNLABELLED), side="right")
            - 1
        ] = True
        plain = np.flatnonzero(~has_set)
        others = np.flatnonzero(has_set)
        kind = ((before * (L + 1) + after) * (length.max(initial=0) + 1) + length)[
            plain
        ]
        _, one, which = np.unique(kind, return_index=True, return_inverse=True)
        closed = np.zeros(gap.shape[0], np.bool_)
        closed[plain] = self._are_closed(gap[plain[one]], stop[plain[one]], False)[
            which
        ]
        closed[others] = self._are_closed(gap[others], stop[others], True)
        return gap[closed]

    def _are_closed(
        self, gap: np.ndarray, stop: np.ndarray, with_sets: bool
    ) -> np.ndarray:
        """(G,) bool: whether no labels fill the gaps that begin and stop at places."""
        out = np.zeros(gap.shape[0], np.bool_)
        longest_first = np.argsort(gap - stop, kind="stable")
        for begin in range(0, gap.shape[0], GAPS):
            part = longest_first[begin : begin + GAPS]
            reached = self._reached(gap[part], stop[part], with_sets)
            out[part] = ~(reached & self.may[:-1, self.flat[stop[part]]].T).any(axis=1)
        return out

    def _reached(
        self, gap: np.ndarray, stop: np.ndarray, with_sets: bool
    ) -> np.ndarray:
        """(G, L) bool: the labels that the last token of each gap can have.

        The longest gaps come first.
        """
        L = self.may.shape[0] - 1
        choices = np.ones((1, L), np.bool_)  # by -1 - id
        if with_sets:
            choices = np.concatenate([choices, np.asarray(self.sets)[:, :L]])
        follow = self.may[:L, :L].astype(np.float32)
        reached = self.may[self.flat[gap - 1], :L] & choices[-1 - self.flat[gap]]
        for t in range(1, int((stop - gap).max(initial=0))):
            n = np.count_nonzero(stop - gap > t)
            new = reached[:n].astype(np.float32) @ follow > 0.0
            if with_sets:
                new &= choices[-1 - self.flat[gap[:n] + t]]
            elif np.array_equal(new, reached[:n]):  # all further steps give the same
                break
            reached[:n] = new
        return reached


def check_known(
    gold: Gold,
    unseen: np.ndarray,
    token: np.ndarray,
    labels: Labels,
    constraints: ConstraintArrays,
) -> list[int]:
    """Check that sequences keep to the constraints, but for those with unseen labels.

    Parameters
    ----------
    gold : data.labels.Gold
        As from ``_data.labels.encode_known``.
    unseen : ndarray of shape (N,), bool
        Where there is such a label.
    token : ndarray of shape (n + 1,)
    labels : Labels
    constraints : tuple of (start, allowed, end)

    Returns
    -------
    list of int
        The sequences with such labels for which constraints and their other labels
        leave no labelling.

    Raises
    ------
    PlaceError
        As :func:`check_gold`.
    """
    chain = _Follow.of(gold, token, constraints, len(labels))
    if chain is None:
        return []
    with_unseen = np.unique(
        np.searchsorted(token, np.flatnonzero(unseen), side="right") - 1
    )
    known = ~np.repeat(np.isin(np.arange(len(token) - 1), with_unseen), np.diff(token))
    check_gold(gold.at(known), offsets_of(known)[token], labels, constraints)
    broken = chain.sequences(
        np.concatenate([chain.broken_pairs(), chain.closed_gaps()])
    )
    return np.intersect1d(broken, with_unseen).tolist()
