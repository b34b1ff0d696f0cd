"""A picture of which label follows which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .feature_lists import chain_of, transition_weights
from .heat_maps import heat_map
from .plotting import check_matplotlib, new_axes

if TYPE_CHECKING:
    from typing_extensions import Self


class TransitionDisplay:
    """The weights of label bigrams as a heat map, with start, end and constraints.

    Use :meth:`from_estimator`. A row is a label, or the start of a sequence; a column what follows it, a
    label or the end. What constraints forbid is crossed out.

    Parameters
    ----------
    weights : ndarray of shape (n_labels, n_labels)
        ``[previous, next]``.
    labels : list
    allowed : ndarray of shape (n_labels + 1, n_labels + 1), bool, optional
        Whether a label (row) may be followed by another (column); the last row is the start, the last column
        the end. By default everything is allowed.

    Attributes
    ----------
    im_ : matplotlib AxesImage
    text_ : ndarray of matplotlib Text, or None
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    def __init__(
        self,
        weights: NDArray[np.float64],
        labels: list[Any],
        *,
        allowed: NDArray[np.bool_] | None = None,
    ) -> None:
        self.weights = weights
        self.labels = labels
        self.allowed = allowed

    def plot(
        self,
        *,
        ax: Any = None,
        include_values: bool | None = None,
        values_format: str = ".1f",
        cmap: Any = "RdBu",
        colorbar: bool = True,
        **kwargs: Any,
    ) -> Self:
        """Draw the heat map.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            By default those of a new figure.
        include_values : bool, optional
            Write the weights into the cells; by default with at most 15 labels.
        values_format : str, default=".1f"
        cmap : str or matplotlib Colormap, default="RdBu"
            Zero is in its middle.
        colorbar : bool, default=True
        **kwargs
            For ``Axes.imshow``.

        Returns
        -------
        TransitionDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        ax = new_axes(ax, "TransitionDisplay")
        n = len(self.labels)
        values = np.zeros((n + 1, n + 1))
        values[:n, :n] = self.weights
        allowed = np.ones_like(values, np.bool_) if self.allowed is None else self.allowed.copy()
        known = np.zeros_like(allowed)  # start and end have no weights of their own
        known[:n, :n] = True
        largest = float(np.abs(values).max(initial=0.0)) or 1.0
        style = {"cmap": cmap, "vmin": -largest, "vmax": largest, **kwargs}
        names = [*map(str, self.labels)]
        self.im_, self.text_ = heat_map(
            ax, values, [*names, "(start)"], [*names, "(end)"], values_format,
            known & allowed if include_values is not False and (include_values or n <= 15) else None,
            colorbar, style,
        )  # fmt: skip
        allowed[n, n] = True  # an empty sequence: nothing to say
        rows, columns = np.nonzero(~allowed)
        if rows.size:
            ax.plot(columns, rows, "x", color="0.45", markersize=5, label="forbidden")
        for k in (n - 0.5,):
            ax.axhline(k, color="0.6", linewidth=0.8)
            ax.axvline(k, color="0.6", linewidth=0.8)
        ax.set(xlabel="next label", ylabel="label")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the transitions of a fitted model.

        Parameters
        ----------
        estimator : fitted estimator
            A chain tagger, or one inside of a ``Segmenter``, an average, a mixture, a ``Pipeline`` ...
        ax, **kwargs
            As of :meth:`plot`.

        Returns
        -------
        TransitionDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed; before anything is computed.
        TypeError
            If the estimator has no label transitions.

        Examples
        --------
        >>> from skstruct import StructuredPerceptron
        >>> from skstruct.inspection import TransitionDisplay
        >>> X, y = [["Ada", "wrote"], ["the", "end"]], [["B-PER", "O"], ["O", "O"]]
        >>> tagger = StructuredPerceptron(constraints="BIO", random_state=0).fit(X, y)
        >>> display = TransitionDisplay.from_estimator(tagger)  # doctest: +SKIP
        """
        check_matplotlib(cls.__name__)
        weights = transition_weights(estimator)
        start, between, end = chain_of(estimator).constraints
        n = len(start)
        allowed = np.ones((n + 1, n + 1), np.bool_)
        allowed[:n, :n], allowed[n, :n], allowed[:n, n] = between == 0.0, start == 0.0, end == 0.0
        display = cls(np.asarray(weights), list(weights.labels or []), allowed=allowed)
        return display.plot(ax=ax, **kwargs)
