"""Folds of a corpus for cross-validation, as splitters of scikit-learn cut them."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np

from .places import numbered
from .tables import is_missing


def check_groups(groups: Any, n: int) -> None:
    """Raise unless groups are None, or hold an entry for each of n sequences."""
    if not hasattr(groups, "__len__"):
        return
    if len(groups) != n:
        raise ValueError(
            f"groups must hold one entry for each of the {n} sequences, got "
            f"{len(groups)}"
        )
    for i, group in enumerate(groups):
        if group is np.ma.masked or is_missing(group):
            raise ValueError(f"groups: sequence {i} has none")


def folds_of(
    cv: Any,
    X: Any,
    y: Any = None,
    groups: Any = None,
    once: bool = False,
    apart: bool | None = None,
    used: np.ndarray | None = None,
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return positions among sequences, as a splitter of scikit-learn cuts them.

    Parameters
    ----------
    cv : int, splitter or iterable of (train, test)
        A number makes stretches of consecutive sequences; of consecutive groups, if
        there are some.
    X, y, groups
        What the splitter is shown: sequences and labels as the user gave them, since it
        may look into them; and groups, if there are some.
    once : bool
        Whether each sequence has to be in exactly one test set.
    apart : bool, optional
        Whether no fold may train on a sequence that it tests; by default if ``once``.
    used : ndarray, optional
        Positions of the sequences that take part, ascending; all by default. A number
        of folds cuts these; what other splitters cut are positions in X, of which the
        others are left out.

    Returns
    -------
    list of (train, test)
    """
    from sklearn.model_selection import (
        check_cv,
    )  # slow to import, and not needed to predict

    if used is not None and (cv is None or isinstance(cv, Integral)):
        check_groups(groups, len(X))
        if groups is not None:
            of_all = list(groups)
            groups = [of_all[i] for i in used.tolist()]
        found = folds_of(cv, used, groups=groups)
        return [(used[train], used[test]) for train, test in found]
    n = len(X)
    every = np.arange(n)
    folds = []
    if isinstance(cv, Integral) and cv < 2:
        raise ValueError(f"cv must be at least 2 folds, got {cv}")
    splitter = check_cv(cv)
    check_groups(groups, n)
    if cv is None or isinstance(cv, Integral):
        splits = _stretches(splitter, n, groups)
    else:
        splits = splitter.split(X, y, groups)
    for k, fold in enumerate(splits):
        try:
            train, test = (every[list(part)] for part in fold)
        except IndexError as error:
            raise ValueError(
                f"fold {k} of cv does not select from the {n} sequences: {error}"
            ) from None
        both = np.intersect1d(train, test)
        if both.size and (once if apart is None else apart):
            raise ValueError(
                f"fold {k} of cv trains on sequence {both[0]} and tests it: what it is "
                "tested on must be new to the model"
            )
        folds.append((train, test))
    if not folds:
        raise ValueError("cv has no fold")
    tested = np.bincount(np.concatenate([test for _, test in folds]), minlength=n)
    if once and (tested != 1).any():
        i = int((tested != 1).argmax())
        wrong = f"sequence {i} is in {tested[i]}"
        raise ValueError(
            f"cv must put each of the {n} sequences into exactly one test set; {wrong}"
        )
    if used is None:
        return folds
    return [
        (train[np.isin(train, used)], test[np.isin(test, used)])
        for train, test in folds
    ]


def _stretches(splitter: Any, n: int, groups: Any) -> Iterator[Any]:
    """Yield (train, test): stretches of n sequences, which cut no group."""
    group = np.arange(n)
    if groups is not None:
        group = numbered(list(groups))[0]
    n_groups = int(group.max(initial=-1)) + 1
    n_folds = splitter.get_n_splits()
    if n_groups < n_folds:
        units = "sequences" if groups is None else "groups"
        raise ValueError(
            f"cv={n_folds} folds need at least as many {units}, got {n_groups}"
        )
    for fold in splitter.split(range(n_groups)):
        yield [np.flatnonzero(np.isin(group, part)) for part in fold]
