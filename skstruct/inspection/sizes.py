"""The score of a model against its size in bytes, with a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from .._sklearn import final_step
from ..data.types import Corpus
from .plotting import new_axes

if TYPE_CHECKING:
    from typing_extensions import Self

KEPT = (1.0, 0.7, 0.5, 0.3, 0.2, 0.1, 0.05)
"""Shares of weights that are tried."""


@dataclass(eq=False)
class SizeCurve:
    """Sizes and scores of a model and of smaller ones; what :func:`size_curve` returns.

    Parameters
    ----------
    keep : ndarray of shape (n,)
        Share of the nonzero weights that each model keeps; nan stands for the model as it is.
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
        self.line_ = ax.plot(self.file_bytes[small] / 1e6, self.score[small], **style)[0]
        ax.plot(self.file_bytes[~small] / 1e6, self.score[~small], "k*", label="as it is")
        for keep, size, score in zip(self.keep[small], self.file_bytes[small] / 1e6, self.score[small]):
            ax.annotate(f"{keep:g}", (size, score), textcoords="offset points", xytext=(4, -10), fontsize=8)
        ax.set(xscale="log", xlabel="size of the file in MB", ylabel="score")
        ax.legend(loc="lower right")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def size_curve(
    model: Any,
    X: Corpus,
    y: Corpus,
    *,
    keep: Sequence[float] = KEPT,
    dtype: Literal["float64", "float32", "float16"] = "float32",
) -> SizeCurve:
    """Score a fitted model and smaller ones that keep ever fewer weights.

    Parameters
    ----------
    model : estimator
        Of a pipeline or a search the estimator inside is meant.
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
    model, X = final_step(model, X)
    sizes, scores = [], []
    for share in (None, *keep):
        smaller = model if share is None else model.compress(dtype=dtype, keep=share)
        sizes.append(smaller.info()["file_bytes"])
        scores.append(float(smaller.score(X, y)))
    return SizeCurve(np.array([np.nan, *keep], np.float64), np.array(sizes), np.array(scores), dtype)
