"""A picture of the epochs of training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._sklearn import layers
from .curves import check_matplotlib, new_axes

if TYPE_CHECKING:
    from typing_extensions import Self

HELD_OUT = ("validation_score", "validation")
"""What an epoch's held-out score is called; the second one is the mean log-probability of `L1CRF`."""


class HistoryDisplay:
    """Learning curves: a number of each epoch, and the held-out score, of one training or several.

    Use :meth:`from_estimator`. Of an averager that kept its members, the mean of the members is drawn, and
    from the least to the largest a band.

    Parameters
    ----------
    histories : dict of {str: list of list of dict}
        For each name its trainings, each as ``history_``: one dict an epoch.
    metric : str
        The number that is drawn on the left axis; the held-out score has the right one.

    Attributes
    ----------
    lines_ : list of matplotlib Line2D
        Of training, then of held-out scores.
    bands_ : list of matplotlib Artist
        Of several trainings under one name.
    ax_ : matplotlib Axes
    ax_held_out_ : matplotlib Axes or None
        Where held-out scores are, if there are any.
    figure_ : matplotlib Figure
    """

    def __init__(
        self, histories: Mapping[str, Sequence[Sequence[Mapping[str, Any]]]], *, metric: str
    ) -> None:
        self.histories = histories
        self.metric = metric

    def plot(self, *, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            By default those of a new figure.
        **kwargs
            For ``Axes.plot``.

        Returns
        -------
        HistoryDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        ax = new_axes(ax, "HistoryDisplay")
        self.lines_, self.bands_, self.ax_held_out_ = [], [], None
        several = len(self.histories) > 1
        for k, (name, trainings) in enumerate(self.histories.items()):
            label = f"{name}: training" if several else "training"
            self._draw(ax, trainings, (self.metric,), {"color": f"C{k}", "label": label, **kwargs})
        for k, (name, trainings) in enumerate(self.histories.items()):
            if not any(_value(record, HELD_OUT) is not None for history in trainings for record in history):
                continue
            if self.ax_held_out_ is None:
                self.ax_held_out_ = ax.twinx()
                self.ax_held_out_.set_ylabel("held-out score")
            colour = f"C{k}" if several else "C1"
            label = f"{name}: held out" if several else "held out"
            style = {"color": colour, "linestyle": "--", "label": label, **kwargs}
            self._draw(self.ax_held_out_, trainings, HELD_OUT, style)
        ax.set(xlabel="epoch", ylabel=self.metric.replace("_", " "))
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.legend(handles=self.lines_, loc="best")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw(self, ax, trainings, keys, style):
        """One line, and a band if there are several trainings."""
        trainings = [
            [
                (record.get("epoch", record.get("round", k)), _value(record, keys))
                for k, record in enumerate(history, start=1)
                if _value(record, keys) is not None
            ]
            for history in trainings
        ]
        epochs = sorted({epoch for history in trainings for epoch, _ in history})
        values = np.full((len(trainings), len(epochs)), np.nan)
        for row, history in zip(values, trainings):
            for epoch, value in history:
                row[epochs.index(epoch)] = value
        known = ~np.isnan(values)  # in each column there is one at least
        mean = np.where(known, values, 0.0).sum(axis=0) / known.sum(axis=0)
        self.lines_ += ax.plot(epochs, mean, **{"marker": "." if len(epochs) < 30 else "", **style})
        if len(trainings) > 1:
            low, high = np.nanmin(values, axis=0), np.nanmax(values, axis=0)
            band = ax.fill_between(epochs, low, high, color=self.lines_[-1].get_color(), alpha=0.2)
            self.bands_.append(band)

    @classmethod
    def from_estimator(
        cls,
        *estimators: Any,
        names: Sequence[str] | None = None,
        metric: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the training of fitted estimators.

        Parameters
        ----------
        *estimators : fitted estimators
            That have a ``history_``, or are around one that does. The members of a
            ``BaggingShuffleAverager`` are trainings of their own.
        names : list of str, optional
            What the legend calls them; by default their classes.
        metric : str, optional
            A key of ``history_``; by default the first of ``"token_error"``, ``"objective"`` and ``"loss"``
            that all of them have.
        ax, **kwargs
            As of :meth:`plot`.

        Returns
        -------
        HistoryDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed; before anything is computed.
        ValueError
            If an estimator has no history, the histories lack the metric, or the names are not as many as
            the estimators.

        Examples
        --------
        >>> from skstruct import StructuredPerceptron
        >>> from skstruct.inspection import HistoryDisplay
        >>> X, y = [["the", "dog", "barks"], ["a", "cat", "sleeps"]] * 5, [["D", "N", "V"]] * 10
        >>> tagger = StructuredPerceptron(early_stopping=True, random_state=0).fit(X, y)
        >>> display = HistoryDisplay.from_estimator(tagger)  # doctest: +SKIP
        """
        check_matplotlib(cls.__name__)
        if not estimators:
            raise ValueError("at least one fitted estimator is needed")
        if names is not None and len(names) != len(estimators):
            raise ValueError(f"names must be as many as estimators, {len(estimators)}, got {len(names)}")
        if names is None:
            names = _distinct([type(estimator).__name__ for estimator in estimators])
        histories = {name: _histories_of(estimator) for name, estimator in zip(names, estimators)}
        return cls(histories, metric=_metric(histories, metric)).plot(ax=ax, **kwargs)


def _value(record, keys):
    """The first of some numbers that a record has."""
    return next((record[key] for key in keys if record.get(key) is not None), None)


def _distinct(names):
    """Names with numbers where there are several."""
    return [
        f"{name} {names[: k + 1].count(name)}" if names.count(name) > 1 else name
        for k, name in enumerate(names)
    ]


def _histories_of(estimator):
    """The histories of an estimator: of its members, or one."""
    check_is_fitted(estimator)
    for layer, _ in layers(estimator):
        if history := getattr(layer, "history_", None):
            members = dict.fromkeys(record.get("member") for record in history)
            return [[record for record in history if record.get("member") == member] for member in members]
    raise ValueError(f"{type(estimator).__name__} has no history_")


def _metric(histories, metric):
    """The number to draw, which all trainings have."""
    records = [history[0] for trainings in histories.values() for history in trainings if history]
    common = [key for key in records[0] if all(key in record for record in records)] if records else []
    if metric is None:
        metric = next((key for key in ("token_error", "objective", "loss") if key in common), None)
    if metric not in common:
        raise ValueError(f"metric must be one of {', '.join(map(repr, common))}; got {metric!r}")
    return metric
