"""scikit-learn's callbacks: what they are told of a training, and whether one asks to
stop it.

Attributes of contexts that scikit-learn does not promise to keep are read here and
nowhere else.
"""

from __future__ import annotations

import contextlib
import functools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


def _asking_to_stop(
    task: Any, fitted_attributes: Any, shown: dict[str, Any]
) -> list[Any]:
    """Tell the callbacks of a task that it has ended, and return those that asked to
    stop.

    Each is told by itself: scikit-learn says whether one has asked, and not which.
    """
    if callable(fitted_attributes):
        fitted_attributes = functools.cache(fitted_attributes)
    told = list(task._callbacks)
    asking = []
    try:
        for callback in told:
            task._callbacks = [callback]
            if task.call_on_fit_task_end(
                reconstruction_attributes=fitted_attributes, **shown
            ):
                asking.append(callback)
    finally:
        task._callbacks = told
    return asking


class epoch_context:
    """Tells callbacks when epochs begin and end; says whether one asks to stop.

    A callback stops the fit of the estimator that it was set on. One that a
    meta-estimator hands on to its parts stops the part that it is told of, and no other
    part is begun; one that was set on the estimator inside stops its own training.

    ``root`` is the fit's callback context, or None where there are no callbacks;
    ``name`` says what the epochs are called.

    Attributes
    ----------
    stopped : bool
        Whether a callback has asked to stop the fit.
    """

    def __init__(
        self, root: Any, estimator: Any, X: Any, y: Any, name: str = "epoch"
    ) -> None:
        self.stopped = False
        self._root = root
        self._name = name
        self._task: Any = None
        self._shown = {"estimator": estimator, "X": X, "y": y}

    def begin_fit(self) -> None:
        """Announce the fit."""
        if self._root is not None:
            self._root.call_on_fit_task_begin(**self._shown)

    def end_fit(self, fitted_attributes: Any) -> None:
        """Announce its end."""
        if self._root is not None:
            self._stop(_asking_to_stop(self._root, fitted_attributes, self._shown))

    def begin(self) -> None:
        """Announce the next epoch."""
        if self._root is not None:
            self._task = self._root.subcontext(task_name=self._name)
            self._task.call_on_fit_task_begin(**self._shown)

    def end(self, fitted_attributes: Any) -> bool:
        """Announce its end; ``fitted_attributes`` is called only if a callback asks for
        a model.
        """
        if self._task is None:
            return False
        task = self._task
        self._task = None
        asking = _asking_to_stop(task, fitted_attributes, self._shown)
        self._stop(asking)
        return bool(asking)

    def _stop(self, asking: list[Any]) -> None:
        """Note which callbacks asked to stop, and tell the fit of the meta-estimator
        that has handed some of them on.
        """
        if not asking:
            return
        self.stopped = True
        above = getattr(self._shown["estimator"], "_parent_callback_ctx", None)
        handed_on = getattr(above, "_propagated_callbacks", [])
        found = [callback for callback in asking if callback in handed_on]
        if found and above is not None:
            above._asked_to_stop = found

    @contextlib.contextmanager
    def member(
        self, member: Any, number: int | None, X: Any, y: Any, name: str = "member"
    ) -> Iterator[None]:
        """Tell the callbacks of a meta-estimator that a part of it is trained, and hand
        them to that part.

        Parameters
        ----------
        member : estimator or None
            What is trained; None if it is no estimator.
        number : int or None
            Of the part, if parts may be trained at the same time.
        X, y
            Shown to callbacks.
        name : str
            What the parts are called.
        """
        if self._root is None:
            yield
            return
        task = self._root.subcontext(task_name=name, task_id=number)
        shown = {**self._shown, "X": X, "y": y}
        with (
            contextlib.nullcontext()
            if member is None
            else task.propagate_callback_context(member)
        ):
            task.call_on_fit_task_begin(**shown)
            yield
            asking = _asking_to_stop(task, None, shown)
            self._stop([*asking, *getattr(task, "_asked_to_stop", [])])
