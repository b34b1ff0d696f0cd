"""A picture of which label was taken for which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..data.inputs import as_sequences, check_same_lengths, lengths_of
from ..data.types import Corpus
from ..metrics.checks import check_choice
from .heat_maps import heat_map
from .plotting import check_matplotlib, new_axes

if TYPE_CHECKING:
    from typing_extensions import Self

Normalize = Literal["true", "pred", "all"]


class LabelConfusionDisplay:
    """Confusion matrix of the labels of tokens; rows are gold, columns predicted.

    As scikit-learn's ``ConfusionMatrixDisplay``, for sequences. Use :meth:`from_estimator` or
    :meth:`from_predictions`.

    Parameters
    ----------
    confusion_matrix : ndarray of shape (n_labels, n_labels)
    display_labels : list, optional
        By default numbers.

    Attributes
    ----------
    im_ : matplotlib AxesImage
    text_ : ndarray of matplotlib Text, or None
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    def __init__(self, confusion_matrix: NDArray[Any], *, display_labels: list[Any] | None = None) -> None:
        self.confusion_matrix = confusion_matrix
        self.display_labels = display_labels

    def plot(
        self,
        *,
        ax: Any = None,
        include_values: bool = True,
        values_format: str | None = None,
        cmap: Any = "viridis",
        colorbar: bool = True,
        **kwargs: Any,
    ) -> Self:
        """Draw the matrix.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            By default those of a new figure.
        include_values : bool, default=True
        values_format : str, optional
            By default ``"d"`` for counts and ``".2f"`` for shares.
        cmap : str or matplotlib Colormap, default="viridis"
        colorbar : bool, default=True
        **kwargs
            For ``Axes.imshow``.

        Returns
        -------
        LabelConfusionDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        ax = new_axes(ax, "LabelConfusionDisplay")
        matrix = np.asarray(self.confusion_matrix)
        names = range(len(matrix)) if self.display_labels is None else self.display_labels
        names = [str(name) for name in names]
        counts = np.issubdtype(matrix.dtype, np.integer)
        form = ("d" if counts else ".2f") if values_format is None else values_format
        written = np.ones(matrix.shape, np.bool_) if include_values else None
        self.im_, self.text_ = heat_map(
            ax, matrix, names, names, form, written, colorbar, {"cmap": cmap, **kwargs}
        )
        ax.set(xlabel="predicted label", ylabel="gold label")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Corpus,
        y: Corpus,
        *,
        labels: ArrayLike | None = None,
        normalize: Normalize | None = None,
        errors_only: bool = False,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw what a fitted model confuses.

        Parameters
        ----------
        estimator : fitted estimator
            That predicts labels of tokens.
        X, y
            As of its ``fit``.
        labels, normalize, errors_only
            As of :meth:`from_predictions`.
        ax, **kwargs
            As of :meth:`plot`.

        Returns
        -------
        LabelConfusionDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed; before anything is computed.
        ValueError
            As of :meth:`from_predictions`.
        """
        check_matplotlib(cls.__name__)
        return cls.from_predictions(
            y, estimator.predict(X), labels=labels, normalize=normalize, errors_only=errors_only, ax=ax,
            **kwargs,
        )  # fmt: skip

    @classmethod
    def from_predictions(
        cls,
        y_true: Corpus,
        y_pred: Corpus,
        *,
        labels: ArrayLike | None = None,
        normalize: Normalize | None = None,
        errors_only: bool = False,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw what was confused.

        Parameters
        ----------
        y_true, y_pred : lists of label sequences
            Tokens whose gold label is None do not count.
        labels : list, optional
            Which labels are drawn, in which order; others are left out. By default all, sorted.
        normalize : {"true", "pred", "all"}, optional
            Shares of the gold labels, the predicted ones or all tokens instead of counts.
        errors_only : bool, default=False
            Leave out the diagonal, whose numbers are so much larger.
        ax, **kwargs
            As of :meth:`plot`.

        Returns
        -------
        LabelConfusionDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If the lengths differ; the message names the sequence.

        Examples
        --------
        >>> from skstruct.inspection import LabelConfusionDisplay
        >>> y_true, y_pred = [["D", "N", "V"], ["D", "N"]], [["D", "V", "V"], ["D", "N"]]
        >>> display = LabelConfusionDisplay.from_predictions(y_true, y_pred)  # doctest: +SKIP
        """
        check_matplotlib(cls.__name__)
        check_choice("normalize", normalize, (None, "true", "pred", "all"))
        matrix, names = _counts(y_true, y_pred, labels)
        if normalize is not None:
            axis = {"true": 1, "pred": 0, "all": None}[normalize]
            total = matrix.sum(axis=axis, keepdims=True)
            matrix = matrix / np.maximum(total, 1)
        if errors_only:
            matrix = matrix.copy()
            np.fill_diagonal(matrix, 0)
        return cls(matrix, display_labels=names).plot(ax=ax, **kwargs)


def _counts(y_true, y_pred, labels):
    """(counts by gold and predicted label, labels)."""
    y_true = as_sequences(y_true, "y_true", "label")
    y_pred = as_sequences(y_pred, "y_pred", "label")
    check_same_lengths(lengths_of(y_true), lengths_of(y_pred), ("y_true", "y_pred"))
    pairs = [(a, b) for t, p in zip(y_true, y_pred) for a, b in zip(t, p) if a is not None]
    if labels is None:
        found = set(label for pair in pairs for label in pair)
        try:
            names = sorted(found)
        except TypeError:
            names = sorted(found, key=str)
    else:
        names = list(labels)
    ids = {name: k for k, name in enumerate(names)}
    matrix = np.zeros((len(names),) * 2, np.int64)
    for a, b in pairs:
        if a in ids and b in ids:
            matrix[ids[a], ids[b]] += 1
    return matrix, names
