"""The inputs that users may pass as ``X`` and ``y``, and the errors that name the place
if they do not.

Containers become a list of sequences; nothing is copied token by token. Checks are done
on types and counts first, in C; only when one fails is the corpus searched in Python
for the offending place.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, timedelta
from itertools import chain
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from .corpus import ListCorpus, TokenCorpus
from .elements import (
    are_columns,
    cells_of,
    elements,
    is_frame,
    is_tensor,
    opened,
    plain_value,
)
from .numbers import read_frame, tables_in
from .places import (
    PLACE,
    PlaceError,
    as_objects,
    counted,
    describe,
    is_sequence,
    offsets_of,
)
from .places import by_sequence as by_sequence
from .places import place as place
from .places import refuse_masked as refuse_masked
from .suggestions import meant

LABELS = "labels"
WORDS = "words"
SPANS = "spans"
TREES = "trees"
"""The tasks of models: a label for each token, the words of a text, (start, end, label)
of parts of a text, or (head, label) for each token.
"""


class Inputs(NamedTuple):
    """The kinds of input and output of a model, which the command line reads.

    Attributes
    ----------
    task : {"labels", "words", "spans", "trees"}
    token : type
        ``str``, ``tuple`` of str, ``dict`` for ready-made features of any kind, or
        ``numpy.ndarray`` for rows of numbers. Of words and spans: ``str``.
    width : int
        Columns of a token that are read; tuples of labelling models may be longer.
    """

    task: str
    token: type
    width: int


def is_int(value: Any) -> bool:
    """Tell whether a value is an integer, of Python or numpy, and no bool."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def check_positive(name: str, value: Any) -> None:
    """Raise unless a parameter is an int of at least 1."""
    if not is_int(value) or value < 1:
        raise ValueError(f"{name} must be an int of at least 1, got {value!r}")


def check_jobs(n_jobs: Any) -> None:
    """Raise unless a number of threads is an int other than 0, or None."""
    if n_jobs is not None and (not is_int(n_jobs) or n_jobs == 0):
        raise ValueError(f"n_jobs must be an int other than 0, or None, got {n_jobs!r}")


def check_choice(name: str, value: Any, allowed: Collection[Any]) -> None:
    """Check a parameter that takes one of a few values."""
    if not any(value is a or (isinstance(value, str) and value == a) for a in allowed):
        raise ValueError(
            f"{name} must be one of {', '.join(map(repr, allowed))}; got {value!r}"
            f"{meant(value, allowed)}"
        )


def as_sequences(X: Any, name: str = "X", item: str = "token") -> list[Any]:
    """Return a list of the sequences in ``X``, each a list, a tuple or a
    one-dimensional array.

    Parameters
    ----------
    X : list, tuple, object array, pandas or polars Series of sequences
    name, item : str
        What errors call the argument and the elements of a sequence.

    Raises
    ------
    ValueError
        If ``X`` or one of its sequences is not a sequence; the message names which.
    """
    expected = "sequences" if item == "token" else f"lists of {item}s"
    X = opened(X, name=name)
    if not is_sequence(X):
        found = "None" if X is None else describe(X)
        advice = _instead_of_a_text(X, name) if isinstance(X, str) else ""
        advice += (
            "; a generator can be read only once, use list(...)"
            if hasattr(X, "__next__")
            else ""
        )
        raise ValueError(f"{name} must be a list of {expected}, got {found}{advice}")
    if getattr(X, "ndim", 1) > 1 and not isinstance(X, np.ndarray):
        found = f"a {type(X).__name__} of {X.ndim} dimensions"
        raise ValueError(f"{name} must be a list of {expected}, got {found}")
    sequences = list(elements(X))
    odd = set(map(type, sequences)) - {list, tuple}
    if odd:
        for i, sequence in enumerate(sequences):
            if type(sequence) in odd:
                sequences[i] = _one_sequence(sequences, name, item, i)
    return _without_tensors(sequences) if item == "label" else sequences


def _without_tensors(sequences: list[Any]) -> list[Any]:
    """Return sequences of labels, of which those that are tensors without dimensions
    are Python values.
    """
    if {type(labels[0]) for labels in sequences if labels} <= {
        str,
        int,
    }:  # nearly always
        return sequences
    if any(map(is_tensor, set(map(type, chain.from_iterable(sequences))))):
        return [list(map(plain_value, labels)) for labels in sequences]
    return sequences


def _instead_of_a_text(text: str, name: str) -> str:
    """Return what to write where a str is given for all sequences."""
    if _looks_like_json(text):
        return f"; it looks like JSON, write {name} = json.loads({name})"
    return f"; write {name} = [text.split()]" if " " in text else ""


def _looks_like_json(text: str) -> bool:
    text = text.strip()
    return text[:1] in ("[", "{") and text[-1:] in ("]", "}")


def _one_sequence(sequences: list[Any], name: str, item: str, i: int) -> list[Any]:
    sequence = opened(sequences[i], i, name)
    if isinstance(sequence, np.ndarray) and sequence.ndim:
        tokens = sequence.tolist()
        return (
            list(map(tuple, tokens))
            if item == "token" and are_columns(sequence)
            else tokens
        )
    if is_frame(sequence):
        if not len(sequence):
            return []
        wrong = f"is a table, other sequences are lists of {item}s"
        if all(map(is_frame, sequences)):
            wrong = f"is a table where a list of {item}s belongs; " + (
                f"write {name} = [table['{item}'] for table in {name}]"
                if item == "label"
                else "list(table.itertuples(index=False, name=None)) has its rows"
            )
    elif is_sequence(sequence):
        return list(elements(sequence))
    elif isinstance(sequence, str):
        wrong = f"is the {describe(sequence)} where a list of {item}s belongs"
        wrong += _hint(sequences, name, item, i)
    else:
        wrong = f"must be a list of {item}s, got {describe(sequence)}"
        if isinstance(sequence, dict) and all(
            type(other) is type(sequence) for other in sequences
        ):
            wrong += (
                f"; if these are the {item}s of one sentence, write {name} = [sentence]"
            )
    raise PlaceError(i, None, f"{PLACE} {wrong}", name)


def _hint(sequences: list[Any], name: str, item: str, i: int) -> str:
    """Return what to write where sequence i is a str."""
    if _looks_like_json(sequences[i]):
        return (
            f"; it looks like JSON, write {name} = [json.loads(each) for each in "
            f"{name}]"
        )
    if len(sequences[i].split()) > 1:
        return f"; text.split() makes {item}s of the words of a text"
    found = ""
    if all(isinstance(sequence, str) for sequence in sequences):
        one = "sentence" if item == "token" else f"{item}s"
        found = f"; if these are the {item}s of one sentence, write {name} = [{one}]"
    if item == "token" and sequences[i]:
        found += f"; use list(text) only if the characters are the {item}s"
    return found


def as_tokens(X: Any, name: str = "X") -> TokenCorpus:
    """Make a :class:`.corpus.TokenCorpus` of whatever users hand over.

    It is the one door for tokens; what is a corpus already comes through unchanged.

    For parameters and errors see :func:`as_sequences` and ``numbers.tables_in``.
    """
    if type(X) is list and set(map(type, X)) <= {
        list,
        tuple,
    }:  # the ordinary corpus, after one test of types
        first = next(filter(None, X), None)
        token: Any = None if first is None else first[0]
        if (
            type(token) in (str, dict)
            or type(token) in (tuple, list)
            and type(next(iter(token), 0)) is str
        ):
            return ListCorpus.of(list(X), first)
    elif isinstance(X, TokenCorpus) and not X.is_frame:
        return X
    cells = cells_of(X, (list, np.ndarray))
    if cells:  # a sequence in each
        return as_tokens(cells, name)
    tables = tables_in(X, name)
    if tables is not None:
        return read_frame(tables, name) if tables.is_frame else tables
    sequences = as_sequences(X, name, "token")
    return ListCorpus.of(sequences, next(filter(len, sequences), None))


def lengths_of(sequences: Collection[Any]) -> np.ndarray:
    """Return lengths of lists as an int64 array."""
    return np.fromiter(map(len, sequences), np.int64, len(sequences))


def flatten(sequences: Iterable[Iterable[Any]]) -> list[Any]:
    """Return what is in lists, as one list."""
    return list(chain.from_iterable(sequences))


@contextmanager
def renumbered(positions: Sequence[int] | np.ndarray) -> Iterator[None]:
    """Renumber the sequences in errors: from their numbers in a selection to those in
    the corpus it was taken from.

    Errors about ``X_val`` and ``y_val`` are left alone: nothing is selected from these.

    Parameters
    ----------
    positions : sequence of int
        Where the sequences of the selection are.
    """
    try:
        yield
    except PlaceError as error:
        # An error about labels as such, which break a scheme wherever they stand, names
        # no sequence.
        if error.sequence is not None and not (error.name or "").endswith("_val"):
            error.move(positions[error.sequence])
        raise


def check_same_lengths(
    token_lengths: np.ndarray,
    label_lengths: np.ndarray,
    names: Any = ("X", "y"),
    are_rows: Any = False,
) -> None:
    """Raise unless X and y hold as many sequences, and each as many tokens, or rows, as
    labels.
    """
    if token_lengths.shape[0] != label_lengths.shape[0]:
        found = f"{token_lengths.shape[0]} and {label_lengths.shape[0]}"
        raise ValueError(
            f"{names[0]} and {names[1]} must hold the same number of sequences, got "
            f"{found}"
        )
    wrong = np.flatnonzero(token_lengths != label_lengths)
    if wrong.size:
        i = int(wrong[0])
        n = token_lengths[i]
        n_labels = label_lengths[i]
        if are_rows:
            found = f"{counted(n_labels, 'label')} but {counted(n, 'row')}"
            text = f"{found}; rows are tokens, arrays of (channels, time) need .T"
            raise PlaceError(i, None, text, names[0])
        found = f"{counted(n, 'token')} and {counted(n_labels, 'label')}"
        text = f"as many labels as tokens are expected, got {found}"
        raise PlaceError(
            i, None, text, None if names == ("X", "y") else " and ".join(names)
        )


class NothingToLearn(ValueError):
    """A corpus that is right but for this: there is no token in it to learn from.

    It ends a ``fit``; a shard of a corpus may be such.
    """


def check_some(n_tokens: int, name: str = "X") -> None:
    """Raise if a corpus has no token."""
    if not n_tokens:
        needed = "at least one sequence with at least one token is needed"
        raise NothingToLearn(f"{name} holds no token: {needed}")


def is_between(value: Any, least: float, most: float) -> bool:
    """Tell whether a number is in a range.

    Numbers of numpy are compared as those of Python: the bounds of a range, rounded to
    a float32, may be infinite.
    """
    plain = value.item() if isinstance(value, np.generic) else value
    return bool(least <= plain <= most)


def check_weights_of_sequences(sample_weight: Any) -> None:
    """Raise where weights of tokens are given for those of sequences, or what is no
    number, although numpy would make one of it: strings, dates, masked values.
    """
    if sample_weight is None or np.isscalar(sample_weight):
        return
    refuse_masked(sample_weight, "sample_weight")
    weights = opened(sample_weight, name="sample_weight")
    if not is_sequence(weights):
        return
    weights = elements(weights)
    odd = set(map(type, weights)) - {float, int}
    for i, weight in enumerate(weights if odd else ()):
        weight = opened(weight, i, "sample_weight")
        if is_frame(weight) or is_sequence(weight):
            wrong = f"{PLACE} has {describe(weight)}, and tokens have no weights"
            remedy = (
                "give one number a sequence; a token with the label None does not count"
            )
            raise PlaceError(i, None, f"{wrong}: {remedy}", "sample_weight")
        if isinstance(weight, NO_NUMBERS):
            raise ValueError(
                "sample_weight must be one number for each sequence, got "
                f"{describe(sample_weight)}"
            )


NO_NUMBERS = str, bytes, date, timedelta, np.datetime64, np.timedelta64
"""Types of which numpy makes numbers that nobody meant."""


class Sequences(list):
    """A list of per-sequence results that numpy turns into a one-dimensional object
    array.

    It is a list in every way. scikit-learn concatenates the predictions of folds, and
    numpy would otherwise build a matrix whenever the sequences happen to have equal
    lengths.
    """

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return as_objects(self)

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return Sequences(found) if isinstance(index, slice) else found


def check_X_y(
    X: Any,
    y: Any,
    names: tuple[str, str] = ("X", "y"),
    read: Callable[[Any, str], Any] = as_sequences,
) -> tuple[Any, list[Any], np.ndarray]:
    """Return the sequences of X and y, and where each starts in the flat corpus; errors
    use ``names``.

    ``read`` makes sequences of X: :func:`as_tokens` where rows of numbers are welcome.

    Returns
    -------
    X : list of sequences, or TokenCorpus
        A `TokenCorpus` where ``read`` is :func:`as_tokens`.
    y : list of sequences
    token : ndarray of shape (n + 1,), int64

    Raises
    ------
    ValueError
        Naming the sequence, if something is not a sequence or lengths differ.
    """
    X = read(X, names[0])
    y = as_sequences(y, names[1], "label")
    lengths = X.lengths if read is as_tokens else lengths_of(X)
    check_same_lengths(
        lengths,
        lengths_of(y),
        names,
        read is as_tokens and X.called == "rows of numbers",
    )
    if not len(X):
        raise NothingToLearn(f"{names[0]} is empty: at least one sequence is needed")
    check_some(lengths.sum(), names[0])
    return X, y, offsets_of(lengths)


def take(sequences: Any, keep: Iterable[int]) -> list[Any]:
    """Return those of a list at the positions in ``keep``."""
    return [sequences[i] for i in keep]


def blanked(sequences: Iterable[Any], empty: Collection[int]) -> list[Any]:
    """Return a list with the sequences at the positions in ``empty`` emptied."""
    sequences = list(sequences)
    for i in empty:
        sequences[i] = ()
    return sequences
