"""Parameters that were set after a fit, and that the fitted model cannot follow.

A tagger's model has learned its own features and labels. An estimator over texts also
reads parameters when it predicts: how texts become tokens, and how labels are read.
They have to be those of the fit. Parameters of an estimator inside are those of the
next fit: further training goes on with the fitted one, which has its own.
"""

from __future__ import annotations

from numbers import Number
from typing import Any, ClassVar

import numpy as np

from .._saving.states import encoded

IDLE = frozenset(
    "max_iter shuffle early_stopping validation_fraction n_iter_no_change tol "
    "warm_start checkpoint verbose n_jobs random_state scoring "
    "n_estimators keep_members bootstrap max_samples n_shards client "
    "cv steps transformer_list transform_input memory".split()
)
"""Parameters of an estimator inside that no further training reads, or that have entries
of their own.
"""

PLAIN = str, Number, np.bool_
"""Types of values that are equal whatever their types are."""


class KeepsSettings:
    """Base of estimators that refuse, after a fit, parameters that are not those of it.

    A subclass calls ``_note_settings`` where it is fitted.
    """

    _around: str
    _settings: dict[str, Any]

    _reads_later: ClassVar[tuple[str, ...]] = ()
    """Parameters that prediction reads."""

    def _note_settings(self) -> None:
        """Remember the parameters of a fit."""
        self._settings = {**self._own_settings(), **self._settings_inside()}

    def _own_settings(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._reads_later}

    def _settings_inside(self) -> dict[str, Any]:
        """Return the parameters of the estimator inside that further training reads."""
        me: Any = self
        template = me._template()
        found = {self._around: type(template).__name__}
        if hasattr(template, "get_params"):
            for name, value in template.get_params().items():
                if name.rpartition("__")[2] not in IDLE:
                    inside = hasattr(value, "get_params")
                    found[f"{self._around}__{name}"] = (
                        type(value).__name__ if inside else value
                    )
        return found

    def _check_settings(self) -> None:
        """Raise if a parameter that prediction reads is not that of the fit.

        Raises
        ------
        ValueError
            The message names the parameter and both values.
        """
        self._refuse(self._own_settings(), "set it back, or fit again")

    def _check_further(self) -> None:
        """Raise if a parameter is not that of the training so far, and further training
        could not follow it.

        Raises
        ------
        ValueError
            The message names the parameter and both values.
        """
        end = "a fit that continues cannot change it"
        self._refuse(self._own_settings(), end)
        end = (
            f"partial_fit goes on with {self._around}_, which has its own: set it back, "
            f"and change that of {self._around}_, or fit again"
        )
        self._refuse(self._settings_inside(), end)

    def _refuse(self, now: dict[str, Any], end: str) -> None:
        before = vars(self).get("_settings", {})
        for name, value in before.items():
            if name in now and not _same(value, now[name]):
                raise ValueError(
                    f"{name}={now[name]!r:.80} differs from that of the training, "
                    f"{value!r:.80}; {end}"
                )


def _same(first: Any, second: Any) -> bool:
    """Tell whether two values of a parameter are equal: a number of Python and one of
    numpy can be.
    """
    if first is second:
        return True
    if isinstance(first, PLAIN) and isinstance(second, PLAIN):
        return bool(first == second)
    return type(first) is type(second) and encoded(first) == encoded(second)
