"""Curves of scores against penalties and against the size of a model.

Here are the axes of all displays, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from .._crf.l1crf_cv import L1CRFCV
from .._crf.path import PathPoint, regularization_path
from .._data.elements import label_text
from .._data.places import refuse_number
from .._data.types import Corpus, Given, Self
from .._sklearn import final_step
from .html import readable


class RegularizationPathDisplay:
    """Held-out score and number of active weights against the strength of an L1
    penalty.

    There is a line for each strength of the L2 penalty.

    Use :meth:`from_path` with what :func:`skstruct.regularization_path` returned,
    :meth:`from_estimator`, which computes it, or :meth:`from_search` with a fitted
    :class:`skstruct.L1CRFCV`, which knows scores only.

    Parameters
    ----------
    points : list of PathPoint
        Or of what has ``c1``, ``c2`` and ``score`` as these have.

    Attributes
    ----------
    line_ : matplotlib Line2D or None
        Active weights, if they are known: of the ``c2`` with the best score, else of
        the largest.
    score_line_ : matplotlib Line2D or None
        Held-out scores, if there are any; of the ``c2`` with the best one.
    ax_ : matplotlib Axes
    ax_score_ : matplotlib Axes or None
    figure_ : matplotlib Figure
    """

    def __init__(self, points: Sequence[PathPoint | SimpleNamespace]) -> None:
        self.points = points

    def plot(self, *, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the path, with its best held-out score marked.

        Among equal scores that of the strongest penalties is the best.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            By default those of a new figure.
        **kwargs
            For ``Axes.plot``.

        Returns
        -------
        RegularizationPathDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        ax = new_axes(ax, "RegularizationPathDisplay")
        points = sorted(self.points, key=lambda point: point.c1)
        c1 = [point.c1 for point in points]
        if c1 and c1[0] > 0.0:
            ax.set_xscale("log")
        elif any(c1):
            ax.set_xscale("symlog", linthresh=min(x for x in c1 if x > 0.0))
        ax.set(xlabel="c1", ylabel="active weights")
        self.line_ = self.score_line_ = self.ax_score_ = None
        is_search = any(point.n_active is None for point in points)
        scored = [point for point in points if point.score is not None]
        several = len({point.c2 for point in points}) > 1
        best = max(
            scored or points, key=lambda p: (p.score if scored else 0.0, p.c1, p.c2)
        )
        lines: list[Any] = []
        if not is_search:
            style = {
                "marker": "o",
                "color": "C{}",
                "label": "active weights" + ", c2 = {:g}" * several,
            }
            lines, self.line_ = _by_c2(ax, points, "n_active", best, style, kwargs)
            ax.set_ylim(bottom=0)
        if scored:
            self.ax_score_ = ax if is_search else ax.twinx()
            self.ax_score_.set_ylabel(
                "mean score over the folds" if is_search else "held-out score"
            )
            style = {"marker": "s", "color": "C1", "label": "held-out score"}
            if is_search:
                style |= {"color": "C{}", "label": "c2 = {:g}"}
            elif several:
                style |= {
                    "color": "C{}",
                    "label": "held-out score, c2 = {:g}",
                    "linestyle": "--",
                }
            more, self.score_line_ = _by_c2(
                self.ax_score_, scored, "score", best, style, kwargs
            )
            lines += more
            colour = self.score_line_.get_color()
            self.ax_score_.axvline(best.c1, color=colour, linestyle=":", linewidth=1)
        ax.legend(handles=lines, loc="best")
        self.ax_ = ax
        self.figure_ = ax.figure
        return self

    @classmethod
    def from_search(cls, search: L1CRFCV, **kwargs: Any) -> Self:
        """Draw the mean scores of a search over both penalties.

        Parameters
        ----------
        search : L1CRFCV
            Fitted.
        **kwargs
            As of :meth:`plot`.

        Returns
        -------
        RegularizationPathDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        sklearn.exceptions.NotFittedError
            If the search has not been made.
        TypeError
            If it is no ``L1CRFCV``.
        """
        if not isinstance(search, L1CRFCV):
            raise TypeError(f"search must be an L1CRFCV, got a {type(search).__name__}")
        check_is_fitted(search, "cv_results_")
        pairs = zip(
            search.cv_results_["params"], search.cv_results_["mean_test_score"].tolist()
        )
        points = [
            SimpleNamespace(c1=p["c1"], c2=p["c2"], score=score, n_active=None)
            for p, score in pairs
        ]
        return cls(points).plot(**kwargs)

    @classmethod
    def from_path(cls, points: Sequence[PathPoint], **kwargs: Any) -> Self:
        """Draw a path.

        Parameters
        ----------
        points : list of PathPoint
            From :func:`skstruct.regularization_path`.
        **kwargs
            As of :meth:`plot`.

        Returns
        -------
        RegularizationPathDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If there is no point.
        """
        if not len(points):
            raise ValueError("points is empty")
        return cls(points).plot(**kwargs)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Corpus,
        y: Corpus,
        c1s: Iterable[float],
        *,
        X_val: Given = None,
        y_val: Given = None,
        **kwargs: Any,
    ) -> Self:
        """Compute a path and draw it.

        Parameters
        ----------
        estimator : L1CRF
        X, y, c1s, X_val, y_val
            As of :func:`skstruct.regularization_path`.
        **kwargs
            As of :meth:`plot`.

        Returns
        -------
        RegularizationPathDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed; before anything is computed.
        ValueError, TypeError
            As :func:`skstruct.regularization_path`.

        Examples
        --------
        >>> from skstruct import L1CRF
        >>> from skstruct.inspection import RegularizationPathDisplay
        >>> X, y = [["the", "dog", "barks"], ["a", "cat", "sleeps"]] * 5, [["D", "N", "V"]] * 10
        >>> display = RegularizationPathDisplay.from_estimator(
        ...     L1CRF(random_state=0), X, y, [0.1, 1, 10], X_val=X, y_val=y
        ... )  # doctest: +SKIP
        """
        check_matplotlib(cls.__name__)
        points = regularization_path(estimator, X, y, c1s, X_val=X_val, y_val=y_val)
        return cls.from_path(points, **kwargs)


def _by_c2(
    ax: Any,
    points: Sequence[PathPoint | SimpleNamespace],
    name: str,
    best: PathPoint | SimpleNamespace,
    style: dict[str, str],
    kwargs: dict[str, Any],
) -> tuple[list[Any], Any]:
    """Draw a line for each ``c2``.

    Parameters
    ----------
    ax : matplotlib Axes
    points : list of PathPoint
        By ``c1``.
    name : str
        What of them is drawn.
    best : PathPoint
    style : dict
        For ``Axes.plot``; in the colour ``{}`` stands for the number of the line, in
        the label for its ``c2``.
    kwargs : dict
        The user's own.

    Returns
    -------
    lines : list of matplotlib Line2D
    of_best : matplotlib Line2D
        That of the ``c2`` of the best point.
    """
    lines = []
    of_best = None
    for k, c2 in enumerate(sorted({point.c2 for point in points})):
        mine = [point for point in points if point.c2 == c2]
        own = {"color": style["color"].format(k), "label": style["label"].format(c2)}
        values = [getattr(point, name) for point in mine]
        lines += ax.plot(
            [point.c1 for point in mine], values, **{**style, **own, **kwargs}
        )
        if c2 == best.c2:
            of_best = lines[-1]
    return lines, of_best


WeightType: TypeAlias = Literal["float64", "float32", "float16"]
KEPT = (1.0, 0.7, 0.5, 0.3, 0.2, 0.1, 0.05)
"""Shares of weights that are tried."""


@dataclass(eq=False)
class SizeCurve:
    """Sizes and scores of a model and of smaller ones; what :func:`size_curve` returns.

    Parameters
    ----------
    keep : ndarray of shape (n,)
        Share of the nonzero weights that each model keeps; nan stands for the model as
        it is.
    file_bytes : ndarray of shape (n,), int
        Its size in a file without the state of training.
    score : ndarray of shape (n,)
    dtype : str
        Type of the weights of the smaller models.

    Attributes
    ----------
    line_ : matplotlib Artist
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    keep: NDArray[np.float64]
    file_bytes: NDArray[np.int64]
    score: NDArray[np.float64]
    dtype: str

    def plot(self, *, ax: Any = None, **kwargs: Any) -> Self:
        """Draw score against size.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            By default those of a new figure.
        **kwargs
            For ``Axes.plot``.

        Returns
        -------
        SizeCurve

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        ax = new_axes(ax, "SizeCurve")
        small = ~np.isnan(self.keep)
        style = {"marker": "s", "label": f"compressed, {self.dtype}", **kwargs}
        megabytes = self.file_bytes / 1e6
        (self.line_,) = ax.plot(megabytes[small], self.score[small], **style)
        ax.plot(megabytes[~small], self.score[~small], "k*", label="as it is")
        for keep, size, score in zip(
            self.keep[small], megabytes[small], self.score[small]
        ):
            ax.annotate(
                f"{keep:g}",
                (size, score),
                textcoords="offset points",
                xytext=(4, -10),
                fontsize=8,
            )
        ax.set(xscale="log", xlabel="size of the file in MB", ylabel="score")
        ax.legend(loc="lower right")
        self.ax_ = ax
        self.figure_ = ax.figure
        return self


def size_curve(
    model: Any,
    X: Corpus,
    y: Corpus,
    *,
    keep: Sequence[float] = KEPT,
    dtype: WeightType = "float32",
) -> SizeCurve:
    """Score a fitted model and smaller ones that keep ever fewer weights.

    Parameters
    ----------
    model : estimator
        The model; of a pipeline or a search the estimator inside.
    X, y
        As ``score`` of the model takes them; sequences that it was not trained on.
    keep : sequence of float in (0, 1]
        Shares of the weights that are not zero; see ``model.compress``.
    dtype : {"float64", "float32", "float16"}, default="float32"
        Type of the weights in a file.

    Returns
    -------
    SizeCurve
        The model itself first; ``plot()`` draws it.

    Raises
    ------
    ValueError
        If a parameter is out of range, or as ``model.score``.

    Examples
    --------
    >>> from skstruct import StructuredPerceptron
    >>> from skstruct.inspection import size_curve
    >>> X, y = [["the", "dog", "barks"], ["a", "cat", "sleeps"]], [["D", "N", "V"], ["D", "N", "V"]]
    >>> tagger = StructuredPerceptron(max_iter=5, random_state=0).fit(X, y)
    >>> size_curve(tagger, X, y, keep=[1.0, 0.5]).score[:2]
    array([1., 1.])
    """
    refuse_number("keep", keep)
    model, X = final_step(model, X)
    sizes = []
    scores = []
    for share in (None, *keep):
        smaller = model if share is None else model.compress(dtype=dtype, keep=share)
        sizes.append(smaller.info()["file_bytes"])
        scores.append(float(smaller.score(X, y)))
    return SizeCurve(
        np.array([np.nan, *keep], np.float64), np.array(sizes), np.array(scores), dtype
    )


def check_matplotlib(who: str) -> None:
    """Raise, with a sentence that helps, if there is no matplotlib."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"{who} needs matplotlib; run pip install 'skstruct[plot]'"
        ) from error


def new_axes(ax: Any, who: str) -> Any:
    """Return ``ax``, or the axes of a new figure; ``who`` is what needs matplotlib."""
    check_matplotlib(who)
    from matplotlib import pyplot

    return pyplot.subplots()[1] if ax is None else ax


def plain(value: Any, limit: int) -> str:
    """Write a name on one line for matplotlib, which reads no mathematics into it."""
    return readable(label_text(value), limit).replace("$", r"\$")
