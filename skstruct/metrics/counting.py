"""The rule of what counts, for all scores, scorers, held-out sequences and their
pictures.

- *No gold label* (None): the token does not count. A sequence that has no other tokens
  does not count, and so an empty one does not. A segment, gold or predicted, does not
  count if a token in it or right beside it has no gold label, for it might go on there.
- *A gold label that the model never saw* is the model's error. No prediction is right,
  and in the log loss the label has the probability :data:`LEAST`.
- *A label that is only predicted* is wrong.
- *A set of labels as gold*: any of them is right. F1 by label, or of segments, has no
  one label to count such a token under: it is one without gold label. Where a text has
  only some types of spans annotated, segments of other types do not count, as in the
  scores of spans.
- *Ties*: no result depends on the order of the input.
- *Weights*: a number for each sequence multiplies whatever is counted in it; what has
  the weight 0 does not count.
- *Nothing counts*: there is no score, and a ValueError says so.

Texts with spans all count, as one without spans says that there is none; where nobody
looked, a span with the label None says so (:mod:`.text_scores`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from copy import copy
from operator import eq
from typing import TYPE_CHECKING, Any

import numpy as np

from .._data.inputs import PLACE, PlaceError, check_weights_of_sequences
from .._data.labels import SEVERAL, AllBut, settled
from .._sklearn import LARGEST_SAMPLE_WEIGHT, TOO_LARGE, float_weights

if TYPE_CHECKING:
    from .._data.scheme_rules import LabelTable
    from .._data.types import Weights
    from .._taggers.probability_tagger import Segment
    from .label_scores import Labels


LEAST = float(np.finfo(np.float64).eps)
"""The least probability of a label in a log loss, as in scikit-learn's ``log_loss``."""

LOG_LEAST = float(np.log(LEAST))

NOTHING = "there is nothing to score: no token has a gold label"
NO_WEIGHT = "there is nothing to score: sample_weight is 0 for all that counts"


# -- tokens and sequences --------------------------------------------------------------
def has_label(labels: Iterable[Any]) -> bool:
    """Tell whether any token of a sequence has a gold label, so that the sequence
    counts.
    """
    return any(label is not None for label in labels)


def with_label(true: Labels, pred: Labels) -> tuple[Labels, Labels]:
    """Return both sequences at the tokens whose gold label is given (not None)."""
    if None not in true:
        return true, pred
    given = [(a, b) for a, b in zip(true, pred) if a is not None]
    return [a for a, _ in given], [b for _, b in given]


def count_right(true: Labels, pred: Labels) -> int:
    """Count the labels that are the true one, or one of the true set."""
    n = sum(map(eq, true, pred))
    return n if n == len(true) else sum(map(eq, settled(true, pred), pred))


def refuse_nothing(counted: Any, what: str = NOTHING) -> None:
    """Raise unless something counts.

    Parameters
    ----------
    counted : bool, number, or array-like of these
        Whether anything counts, or how much does.
    what : str
        What the error says.

    Raises
    ------
    ValueError
        If nothing counts.
    """
    if not np.any(counted):
        raise ValueError(what)


# -- segments --------------------------------------------------------------------------
def with_none(table: LabelTable) -> LabelTable:
    """Copy a table of labels; the copy reads a token without label as one in no
    segment.
    """
    table = copy(table)
    table[None] = "O", ""
    return table


def with_one_label(labels: Labels) -> Labels:
    """Return gold labels with None for sets, and for all labels but some the one that
    this makes known: ``O`` between the spans of a text with some types annotated.
    """
    if set(SEVERAL).isdisjoint(map(type, labels)):
        return labels
    return [
        _one_label(label) if isinstance(label, SEVERAL) else label for label in labels
    ]


def _one_label(several: Any) -> Any:
    """Return the only label that is known of several, or None."""
    known = several.known if isinstance(several, AllBut) else several
    return next(iter(known)) if len(known) == 1 else None


def annotated_segments(
    segments: list[Segment], true: Labels, predicted: Labels
) -> list[Segment]:
    """Drop predicted segments (start, stop, ...) of types that nobody annotated in a
    sequence.

    Parameters
    ----------
    segments : list
    true : list of labels
        Those of the sequence; all labels but some tell which types are annotated.
    predicted : list of labels
        What the segments were read off.
    """
    kinds = {label for label in true if type(label) is AllBut}
    if not kinds:
        return segments
    return [
        each
        for each in segments
        if any(predicted[each[0]] in kind.labels for kind in kinds)
    ]


def surroundings_known(
    labels: Sequence[Any], start: int, stop: int, beside: int = 1
) -> bool:
    """Tell whether the tokens of a segment, and ``beside`` more on each side, have
    labels.
    """
    return None not in labels[max(start - beside, 0) : stop + beside]


def segments_that_count(segments: list[Segment], labels: Labels) -> list[Segment]:
    """Keep the segments (start, stop, ...) that count, given a sequence's gold
    labels.
    """
    if None not in labels:
        return segments
    return [each for each in segments if surroundings_known(labels, each[0], each[1])]


# -- labels that a model never saw -----------------------------------------------------
def as_known(
    y: Iterable[Labels], known: Iterable[Any]
) -> tuple[list[list[Any]], np.ndarray]:
    """Change gold labels so that a model can take them: those it never saw become None.

    Parameters
    ----------
    y : list of sequences of labels
    known : collection of labels
        The model's. A set of labels keeps those of them.

    Returns
    -------
    y : list of lists
    n_unseen : ndarray of shape (n_sequences,), int
        How many labels of each sequence, or sets of labels, the model never saw.
    """
    kept = frozenset(known)
    taken = []
    n_unseen = []
    for labels in y:
        mine = [_as_known(label, kept) for label in labels]
        taken.append(mine)
        n_unseen.append(sum(a is None and b is not None for a, b in zip(mine, labels)))
    return taken, np.array(n_unseen, np.int64)


def _as_known(label: Any, known: frozenset[Any]) -> Any:
    """Return the label, of a set those that are known, or None; what is no label
    stays.
    """
    if isinstance(label, (set, frozenset)):
        return frozenset(label & known) or None
    if isinstance(label, AllBut):
        return AllBut(label.labels, label.known & known)
    return None if isinstance(label, Hashable) and label not in known else label


# -- weights ---------------------------------------------------------------------------
def check_weight(sample_weight: Weights, n: int) -> np.ndarray:
    """Check weights of `n` sequences: float64 of shape (n,), ones for None."""
    if sample_weight is None:
        return np.ones(n)
    check_weights_of_sequences(sample_weight)
    weight = float_weights(sample_weight)
    if weight.shape != (n,):
        wrong = f"sample_weight must have shape ({n},), one per sequence"
        raise ValueError(f"{wrong}; got {weight.shape}")
    bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if len(bad):
        wrong = f"sample_weight must be finite and at least 0; got {weight[bad[0]]}"
        raise PlaceError(bad[0], None, f"{wrong} for {PLACE}")
    if weight.max(initial=0.0) > LARGEST_SAMPLE_WEIGHT:
        i = int(weight.argmax())
        raise PlaceError(i, None, f"{TOO_LARGE}; got {weight[i]} for {PLACE}")
    return weight


def weights_of(
    sample_weight: Weights, counts: Sequence[float], nothing: str = NOTHING
) -> list[Any]:
    """Check weights, and return Python numbers; what counts must have a weight
    somewhere.

    Parameters
    ----------
    sample_weight : array-like of shape (n_sequences,), or None
    counts : list of bool, or of int
        What there is to count in each sequence.
    nothing : str
        What an error says if that is nothing.

    Returns
    -------
    list of float, or of the int 1 for None, so that counts stay integers
    """
    weight = check_weight(sample_weight, len(counts))
    refuse_nothing(counts, nothing)
    refuse_nothing(weight * np.array(counts, float), NO_WEIGHT)
    return [1] * len(counts) if sample_weight is None else weight.tolist()
