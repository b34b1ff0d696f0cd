"""Pictures of a fitted model: epochs of its training, and features that decide."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._data.inputs import check_positive
from .._data.places import refuse_str
from .._data.types import History, Self
from .._sklearn import layers
from .curves import check_matplotlib, new_axes, plain
from .feature_lists import feature_weights
from .weight_tables import FeatureWeights

if TYPE_CHECKING:
    from .weight_tables import FeatureWeight


DRAWN = ("token_error", "objective", "loss", "validation_score")
"""The metrics drawn by default: the first one that all histories have."""

HELD_OUT = ("validation_score", "validation")
"""The names of an epoch's held-out score; the second one is the mean log-probability of
`L1CRF`.
"""


class HistoryDisplay:
    """Learning curves of one training or several: a number of each epoch, and scores.

    The scores are those of held-out sequences.

    Use :meth:`from_estimator`. Of an averager that kept its members, the mean of the
    members is drawn, and from the least to the largest a band.

    Parameters
    ----------
    histories : dict of {str: list of list of dict}
        For each name its trainings, each as ``history_``: one dict an epoch.
    metric : str
        The number that is drawn on the left axis; the held-out score has the right one.

    Attributes
    ----------
    lines_ : list of matplotlib Line2D
        The lines of training, then of held-out scores.
    bands_ : list of matplotlib Artist
        The bands of several trainings under one name.
    ax_ : matplotlib Axes
    ax_held_out_ : matplotlib Axes or None
        The axes of held-out scores, if there are any.
    figure_ : matplotlib Figure
    """

    def __init__(
        self, histories: Mapping[str, Sequence[History]], *, metric: str
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
        self.lines_: list[Any] = []
        self.bands_: list[Any] = []
        self.ax_held_out_: Any = None
        several = len(self.histories) > 1
        parts = [((self.metric,), "training"), (HELD_OUT, "held out")]
        if self.metric in HELD_OUT:
            parts = [((self.metric,), "held out")]
        for keys, what in parts:
            for k, (name, trainings) in enumerate(self.histories.items()):
                curves = [_curve(history, keys) for history in trainings]
                if not any(curves):
                    continue
                style = {
                    "color": f"C{k}",
                    "label": f"{name}: {what}" if several else what,
                }
                if keys is HELD_OUT:
                    style |= {"linestyle": "--", "color": f"C{k}" if several else "C1"}
                    self.ax_held_out_ = self.ax_held_out_ or ax.twinx()
                    self.ax_held_out_.set_ylabel("held-out score")
                self._draw(self.ax_held_out_ or ax, curves, {**style, **kwargs})
        ax.set(xlabel="epoch", ylabel=self.metric.replace("_", " "))
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.legend(handles=self.lines_, loc="best")
        self.ax_ = ax
        self.figure_ = ax.figure
        return self

    def _draw(
        self,
        ax: Any,
        curves: list[dict[int, float]],
        style: dict[str, Any],
    ) -> None:
        """Draw one line, and a band if there are several trainings."""
        epochs = sorted({epoch for curve in curves for epoch in curve})
        values = np.array(
            [[curve.get(epoch, np.nan) for epoch in epochs] for curve in curves]
        )
        style = {"marker": "." if len(epochs) < 30 else "", **style}
        self.lines_ += ax.plot(epochs, np.nanmean(values, axis=0), **style)
        if len(curves) > 1:
            low = np.nanmin(values, axis=0)
            high = np.nanmax(values, axis=0)
            band = ax.fill_between(
                epochs, low, high, color=self.lines_[-1].get_color(), alpha=0.2
            )
            self.bands_.append(band)

    @classmethod
    def from_estimator(
        cls,
        *estimators: Any,
        names: Sequence[str] | None = None,
        metric: str | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the training of fitted estimators.

        Parameters
        ----------
        *estimators : fitted estimators
            That have a ``history_``, or are around one that does. The members of a
            ``BaggingShuffleAverager`` are trainings of their own.
        names : list of str, optional
            Their names in the legend; by default their classes.
        metric : str, optional
            A key of ``history_``; by default the first of ``"token_error"``,
            ``"objective"``, ``"loss"`` and ``"validation_score"`` that all of them
            have: a perceptron and a CRF have only the last in common, if both were
            fitted with held-out sequences.
        **kwargs
            As of :meth:`plot`.

        Returns
        -------
        HistoryDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed; before anything is computed.
        ValueError
            If an estimator has no history, the histories lack the metric, or the names
            are not as many as the estimators.

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
        refuse_str("names", names, "names")
        if names is not None and len(names) != len(estimators):
            raise ValueError(
                f"names must be as many as estimators, {len(estimators)}, got {len(names)}"
            )
        if names is None:
            names = _distinct([type(estimator).__name__ for estimator in estimators])
        histories = {
            name: _histories_of(estimator) for name, estimator in zip(names, estimators)
        }
        return cls(histories, metric=_metric(histories, metric)).plot(**kwargs)


def _curve(history: History, keys: Collection[str]) -> dict[int, float]:
    """{epoch: the first of some numbers that its record has}."""
    found: dict[int, float] = {}
    for k, record in enumerate(history, start=1):
        value = next((record[key] for key in keys if record.get(key) is not None), None)
        if value is not None:
            epoch: Any = record.get("epoch", record.get("round", k))
            found[epoch] = value
    return found


def _distinct(names: list[str]) -> list[str]:
    """Names with numbers where there are several."""
    return [
        f"{s} {names[: k + 1].count(s)}" if names.count(s) > 1 else s
        for k, s in enumerate(names)
    ]


def _histories_of(estimator: Any) -> list[History]:
    """The histories of an estimator: of its members, or one."""
    check_is_fitted(estimator)
    for layer in layers(estimator):
        if history := getattr(layer, "history_", None):
            members = dict.fromkeys(record.get("member") for record in history)
            return [
                [record for record in history if record.get("member") == member]
                for member in members
            ]
    raise ValueError(f"{type(estimator).__name__} has no history_")


def _metric(histories: Mapping[str, Sequence[History]], metric: str | None) -> str:
    """The number to draw, which all trainings have."""
    records = [
        history[0]
        for trainings in histories.values()
        for history in trainings
        if history
    ]
    common = (
        [key for key in records[0] if all(key in record for record in records)]
        if records
        else []
    )
    common = [
        key for key in common if not isinstance(records[0][key], str)
    ]  # as "stage" has
    if metric is None:
        metric = next((key for key in DRAWN if key in common), None)
        if metric is None:
            wrong = (
                "the histories have no number in common that is drawn by default; "
                "fit all with X_val and y_val to draw their scores, draw each "
                "alone, or choose a number with metric="
            )
            listed = ", ".join(map(repr, common)) or "none"
            raise ValueError(f"{wrong}; in common are {listed}")
    if metric not in common:
        raise ValueError(
            f"metric must be one of {', '.join(map(repr, common))}; got {metric!r}"
        )
    return metric


class FeatureWeightsDisplay:
    """The features that speak most for and against labels, as bars.

    Use :meth:`from_estimator`.

    Parameters
    ----------
    weights : FeatureWeights
        From :func:`feature_weights`.
    labels : list
        Which labels are drawn, each in a panel.
    top : int
        Features of each label, half of them for and half against if there are as many.

    Attributes
    ----------
    bars_ : list of matplotlib BarContainer
        By label.
    axes_ : ndarray of matplotlib Axes
        By label.
    ax_ : matplotlib Axes
        The first of them.
    figure_ : matplotlib Figure
    """

    def __init__(
        self, weights: FeatureWeights, *, labels: list[Any], top: int = 10
    ) -> None:
        self.weights = weights
        self.labels = labels
        self.top = top

    def plot(self, *, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Only for one label; by default panels of a new figure.
        **kwargs
            For ``Axes.barh``.

        Returns
        -------
        FeatureWeightsDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If axes are given for several labels.
        """
        check_matplotlib("FeatureWeightsDisplay")
        from matplotlib import pyplot

        n = len(self.labels)
        axes = np.array([ax])
        if ax is not None and n != 1:
            raise ValueError(f"ax is for one label, got {n}; choose one with label=")
        if ax is None:
            columns = min(n, 3)
            rows = -(-n // columns)
            size = (4.2 * columns, (0.24 * self.top + 0.9) * rows)
            _, axes = pyplot.subplots(
                rows, columns, figsize=size, squeeze=False, layout="constrained"
            )
            for spare in axes.ravel()[n:]:
                spare.set_visible(False)
        self.axes_ = axes.ravel()[:n]
        by_label = self.weights.by_label()
        panels = zip(self.labels, self.axes_)
        self.bars_ = [
            self._draw(each, label, by_label.get(label, []), kwargs)
            for label, each in panels
        ]
        self.ax_ = self.axes_[0]
        self.figure_ = self.axes_[0].figure
        return self

    def _draw(
        self, ax: Any, label: Any, items: list[FeatureWeight], style: dict[str, Any]
    ) -> Any:
        """The bars of one label, largest weight on top."""
        above = [item for item in items if item.weight > 0.0]
        below = [item for item in items if item.weight < 0.0]
        n_below = min(len(below), max(self.top // 2, self.top - len(above)))
        shown = above[: self.top - n_below] + below[len(below) - n_below :]
        places = range(len(shown))
        values = [item.weight for item in shown]
        bars = ax.barh(
            places,
            values,
            **{"color": ["C2" if x > 0 else "C3" for x in values], **style},
        )
        ax.set_yticks(
            places, [plain(item.feature, 32) for item in shown], fontsize="small"
        )
        ax.invert_yaxis()
        ax.axvline(0.0, color="0.5", linewidth=0.8)
        ax.set_title(plain(label, 40))
        ax.set_xlabel("weight")
        return bars

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, label: Any = None, top: int = 10, **kwargs: Any
    ) -> Self:
        """Draw the features with the largest weights of a fitted model.

        Parameters
        ----------
        estimator : fitted estimator
            As of :func:`feature_weights`.
        label : object, optional
            One label; by default all that have weights, the twelve with the largest
            ones.
        top : int, default=10
            Features of each label.
        **kwargs
            As of :meth:`plot`.

        Returns
        -------
        FeatureWeightsDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed; before anything is computed.
        TypeError, ValueError
            As :func:`feature_weights`; if ``top`` is not a positive int, or no weight
            is different from zero.

        Examples
        --------
        >>> from skstruct import StructuredPerceptron
        >>> from skstruct.inspection import FeatureWeightsDisplay
        >>> X, y = [["the", "dog", "barks"], ["a", "cat", "sleeps"]], [["D", "N", "V"], ["D", "N", "V"]]
        >>> tagger = StructuredPerceptron(random_state=0).fit(X, y)
        >>> display = FeatureWeightsDisplay.from_estimator(tagger, label="N")  # doctest: +SKIP
        """
        check_matplotlib(cls.__name__)
        check_positive("top", top)
        weights = feature_weights(estimator, label=label)
        if not weights:
            raise ValueError("no feature has a weight that is not zero")
        labels = (
            [label]
            if label is not None
            else list(dict.fromkeys(item.label for item in weights))[:12]
        )
        return cls(weights, labels=sorted(labels, key=str), top=int(top)).plot(**kwargs)
