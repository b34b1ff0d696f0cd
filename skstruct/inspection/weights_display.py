"""A picture of the features that decide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.inputs import check_positive
from .curves import check_matplotlib
from .feature_lists import feature_weights
from .html import readable
from .weight_tables import FeatureWeights

if TYPE_CHECKING:
    from typing_extensions import Self


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

    def __init__(self, weights: FeatureWeights, *, labels: list[Any], top: int = 10) -> None:
        self.weights = weights
        self.labels = labels
        self.top = top

    def plot(self, *, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Of one label only; by default panels of a new figure.
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
        if ax is not None and n != 1:
            raise ValueError(f"ax is for one label, got {n}; say which with label=")
        if ax is None:
            columns = min(n, 3)
            rows = -(-n // columns)
            size = (4.2 * columns, (0.24 * self.top + 0.9) * rows)
            figure, axes = pyplot.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained")
            for spare in axes.ravel()[n:]:
                spare.set_visible(False)
            self.axes_ = axes.ravel()[:n]
        else:
            self.axes_ = np.array([ax], dtype=object)
        by_label, self.bars_ = self.weights.by_label(), []
        for label, each in zip(self.labels, self.axes_):
            self.bars_.append(self._draw(each, label, by_label.get(label, []), kwargs))
        self.ax_, self.figure_ = self.axes_[0], self.axes_[0].figure
        return self

    def _draw(self, ax, label, items, style):
        """The bars of one label, largest weight on top."""
        half = self.top // 2
        above = [item for item in items if item.weight > 0.0]
        below = [item for item in items if item.weight < 0.0]
        n_below = min(len(below), max(half, self.top - len(above)))
        shown = above[: self.top - n_below] + below[len(below) - n_below :]
        values = [item.weight for item in shown]
        places = np.arange(len(shown))
        style = {"color": ["C2" if value > 0 else "C3" for value in values], **style}
        bars = ax.barh(places, values, **style)
        names = [readable(item.feature, 32).replace("$", r"\$") for item in shown]
        ax.set_yticks(places, names, fontsize="small")
        ax.invert_yaxis()
        ax.axvline(0.0, color="0.5", linewidth=0.8)
        ax.set_title(readable(label if isinstance(label, str) else str(label), 40).replace("$", r"\$"))
        ax.set_xlabel("weight")
        return bars

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, label: Any = None, top: int = 10, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Draw the features with the largest weights of a fitted model.

        Parameters
        ----------
        estimator : fitted estimator
            As of :func:`feature_weights`.
        label : object, optional
            One label; by default all that have weights, the twelve with the largest ones.
        top : int, default=10
            Features of each label.
        ax, **kwargs
            As of :meth:`plot`.

        Returns
        -------
        FeatureWeightsDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed; before anything is computed.
        TypeError, ValueError
            As :func:`feature_weights`; if ``top`` is not a positive int, or no weight is different from zero.

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
        labels = [label] if label is not None else list(dict.fromkeys(item.label for item in weights))[:12]
        return cls(weights, labels=sorted(labels, key=str), top=int(top)).plot(ax=ax, **kwargs)
