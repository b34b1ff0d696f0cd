"""Methods that a user's class overrides, of estimators inside of others.

Averages and mixtures train what is inside by parts of its ``fit``, and estimators over
scores read its model: they do not call methods that a user's class has in place of
ours, and their result would not be what the class says.
"""

from __future__ import annotations

from typing import Any

PACKAGE = __name__.partition(".")[0]


def overridden(estimator: Any, *methods: str) -> str | None:
    """Return the first of some methods that is not this package's, in a class that is
    derived from one of this package; None if there is none.

    Parameters
    ----------
    estimator : object
    *methods : str

    Returns
    -------
    str or None
    """
    classes = type(estimator).__mro__
    if not any(_is_ours(each) for each in classes):
        return None
    for method in methods:
        owner = next((each for each in classes if method in vars(each)), object)
        if owner is not object and not _is_ours(owner):
            return method
    return None


def says_overridden(estimator: Any, method: str, owner: str) -> str:
    """Return the reason why another estimator does not take one with such a method.

    Parameters
    ----------
    estimator : object
    method : str
        What `overridden` returned.
    owner : str
        The class of the other one.
    """
    name = type(estimator).__name__
    return (
        f"{name}.{method} would never be called: {owner} works with the parts of "
        f"{name} that this package wrote; let a transformer before the {owner} do what "
        f"{method} adds, in a pipeline, or a class derived from {owner}"
    )


def _is_ours(cls: type) -> bool:
    return cls.__module__.partition(".")[0] == PACKAGE
