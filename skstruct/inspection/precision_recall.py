"""Curves of precision against recall by type, with matplotlib."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._data.types import Corpus, Self
from .curve_panels import Curve
from .curves import check_matplotlib, new_axes, plain
from .thresholds import SpanThresholds, candidates_of, check_span_tagger, curves_of


class SpanPrecisionRecallDisplay:
    """Precision against recall of spans that are at least so probable, a line for each
    type.

    Use :meth:`from_estimator`, or :meth:`from_thresholds` with what
    :func:`thresholds_for` returned.

    Parameters
    ----------
    curves : dict of str to (precision, recall, thresholds)
        Three arrays for each type, by falling threshold.
    marked : dict of str to float, optional
        The marked threshold of a type.

    Attributes
    ----------
    lines_ : list of matplotlib Line2D
        By type.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    def __init__(
        self,
        curves: Mapping[str, Curve],
        *,
        marked: Mapping[str, float] | None = None,
    ) -> None:
        self.curves = curves
        self.marked = marked

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
        SpanPrecisionRecallDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        ax = new_axes(ax, "SpanPrecisionRecallDisplay")
        self.lines_ = []
        for kind, (precision, recall, p) in self.curves.items():
            style = {"label": plain(kind, 40), "drawstyle": "steps-pre", **kwargs}
            if self.marked is not None and (p >= self.marked[kind]).any():
                style |= {
                    "marker": "o",
                    "markevery": [int((p >= self.marked[kind]).sum()) - 1],
                }
            self.lines_ += ax.plot(recall, precision, **style)
        ax.set(xlabel="recall", ylabel="precision", xlim=(0, 1.02), ylim=(0, 1.02))
        if self.lines_:
            ax.legend(loc="lower left")
        self.ax_ = ax
        self.figure_ = ax.figure
        return self

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Corpus, **kwargs: Any) -> Self:
        """Draw the curves of a fitted model on texts that it has not seen.

        Parameters
        ----------
        estimator : fitted SpanTagger, or a Pipeline that ends in one
            Its tagger has probabilities.
        X, y
            As of its ``score``.
        **kwargs
            As of :meth:`plot`.

        Returns
        -------
        SpanPrecisionRecallDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed; before anything is computed.
        TypeError
            If the estimator is no ``SpanTagger``.
        AttributeError
            If its tagger has no probabilities; the message says what has.

        Examples
        --------
        >>> from skstruct import L1CRF, SpanTagger
        >>> from skstruct.inspection import SpanPrecisionRecallDisplay
        >>> X, y = ["Ann is here.", "Is Bob here?"], [[(0, 3, "PER")], [(3, 6, "PER")]]
        >>> tagger = SpanTagger(L1CRF(c1=0.1)).fit(X, y)
        >>> display = SpanPrecisionRecallDisplay.from_estimator(tagger, X, y)  # doctest: +SKIP
        """
        check_matplotlib(cls.__name__)
        check_span_tagger(estimator, cls.__name__)
        return cls(curves_of(candidates_of(estimator, X, y))[1]).plot(**kwargs)

    @classmethod
    def from_thresholds(cls, thresholds: SpanThresholds, **kwargs: Any) -> Self:
        """Draw the curves that thresholds were found on, and mark the thresholds.

        Parameters
        ----------
        thresholds : SpanThresholds
            From :func:`thresholds_for`.
        **kwargs
            As of :meth:`plot`.

        Returns
        -------
        SpanPrecisionRecallDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        return cls(thresholds.curves, marked=thresholds).plot(**kwargs)
