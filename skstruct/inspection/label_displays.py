"""Pictures of pairs of labels: which was taken for which, and which follows which."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import ConfusionMatrixDisplay, confusion_matrix

from .._data.inputs import (
    as_sequences,
    check_choice,
    check_same_lengths,
    flatten,
    lengths_of,
)
from .._data.labels import check_gold, single_labels
from .._data.places import refuse_str
from .._data.types import Corpus, Self, Weights
from ..metrics.counting import weights_of
from .curves import check_matplotlib, plain
from .feature_lists import chain_of, transition_weights

Normalize = Literal["true", "pred", "all"]

MOST_WITH_NUMBERS = 30
"""Labels up to which numbers stand in the cells: each is an artist, and of 160 labels
they are 25,600.
"""


class _LabelMatrix(ConfusionMatrixDisplay):
    """A heat map with the names of labels, whatever they are."""

    def _draw(
        self,
        rows: Sequence[Any],
        columns: Sequence[Any],
        xlabel: str,
        ylabel: str,
        options: dict[str, Any],
    ) -> Self:
        """Draw the matrix; long names are cut, and none is read as mathematics."""
        check_matplotlib(type(self).__name__)
        super().plot(**{"text_kw": {"fontsize": "small"}, **options})
        for place, text in np.ndenumerate(self.text_) if self.text_ is not None else ():
            red, green, blue, _ = self.im_.cmap(
                self.im_.norm(self.confusion_matrix[place])
            )
            text.set_color(
                "white" if 0.3 * red + 0.6 * green + 0.1 * blue < 0.5 else "black"
            )
        x, y = ([plain(name, 20) for name in names] for names in (columns, rows))
        self.ax_.set_xticks(
            range(len(x)), x, rotation=45, ha="right", rotation_mode="anchor"
        )
        self.ax_.set_yticks(range(len(y)), y)
        self.ax_.set(xlabel=xlabel, ylabel=ylabel)
        return self


class LabelConfusionDisplay(_LabelMatrix):
    """Confusion matrix of the labels of tokens; rows are gold, columns predicted.

    As scikit-learn's ``ConfusionMatrixDisplay``, for sequences. Use
    :meth:`from_estimator` or :meth:`from_predictions`.

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

    def plot(self, *, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the matrix.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        **kwargs
            ``include_values``, ``values_format``, ``cmap``, ``colorbar`` and others, as
            of scikit-learn's display. By default numbers are written into the cells if
            there are at most 30 labels, counts in the format ``"d"``, shares and
            weighted counts ``".2f"``.

        Returns
        -------
        LabelConfusionDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        matrix = np.asarray(self.confusion_matrix)
        names = (
            range(len(matrix)) if self.display_labels is None else self.display_labels
        )
        form = "d" if np.issubdtype(matrix.dtype, np.integer) else ".2f"
        options = {
            "include_values": len(matrix) <= MOST_WITH_NUMBERS,
            "values_format": form,
            **kwargs,
        }
        options["ax"] = ax
        return self._draw(names, names, "predicted label", "gold label", options)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Corpus, y: Corpus, **kwargs: Any
    ) -> Self:
        """Draw what a fitted model confuses.

        Parameters
        ----------
        estimator : fitted estimator
            That predicts labels of tokens.
        X, y
            As of its ``fit``.
        **kwargs
            As of :meth:`from_predictions`.

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
        return cls.from_predictions(y, estimator.predict(X), **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: Corpus,
        y_pred: Corpus,
        *,
        labels: Collection[Any] | None = None,
        normalize: Normalize | None = None,
        errors_only: bool = False,
        sample_weight: Weights = None,
        **kwargs: Any,
    ) -> Self:
        """Draw what was confused.

        Parameters
        ----------
        y_true, y_pred : lists of label sequences
            Tokens whose gold label is None do not count.
        labels : list, optional
            Which labels are drawn, in which order; others are left out. By default all,
            sorted.
        normalize : {"true", "pred", "all"}, optional
            Shares of the gold labels, the predicted ones or all tokens instead of
            counts.
        errors_only : bool, default=False
            Leave out the diagonal, whose numbers are so much larger.
        sample_weight : array-like of shape (n_sequences,), optional
            Multiplies the counts of a sequence's tokens.
        **kwargs
            As of :meth:`plot`.

        Returns
        -------
        LabelConfusionDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If the lengths differ; the message names the sequence. If no token has a
            label and a weight.

        Examples
        --------
        >>> from skstruct.inspection import LabelConfusionDisplay
        >>> y_true, y_pred = [["D", "N", "V"], ["D", "N"]], [["D", "V", "V"], ["D", "N"]]
        >>> display = LabelConfusionDisplay.from_predictions(y_true, y_pred)  # doctest: +SKIP
        """
        check_matplotlib(cls.__name__)
        check_choice("normalize", normalize, (None, "true", "pred", "all"))
        refuse_str("labels", labels, "labels")
        pairs, weight, names = _labelled_pairs(y_true, y_pred, labels, sample_weight)
        ids = {name: k for k, name in enumerate(names)}
        known = [
            (ids[a], ids[b], w)
            for (a, b), w in zip(pairs, weight)
            if a in ids and b in ids
        ]
        gold, predicted, counted = zip(*known) if known else ((), (), ())
        weighted = {} if sample_weight is None else {"sample_weight": counted}
        matrix = confusion_matrix(
            np.array(gold, int),
            np.array(predicted, int),
            labels=range(len(names)),
            normalize=normalize,
            **weighted,
        )
        if errors_only:
            np.fill_diagonal(matrix, 0)
        return cls(matrix, display_labels=names).plot(**kwargs)


def _labelled_pairs(
    y_true: Corpus,
    y_pred: Corpus,
    labels: Collection[Any] | None,
    sample_weight: Weights,
) -> tuple[list[tuple[Any, Any]], list[float], list[Any]]:
    """Collect the pairs of labels to count, their weights, and the labels to draw.

    A pair is the gold and the predicted label of a token that has one.
    """
    y_true = single_labels(y_true, "y_true")
    y_pred = as_sequences(y_pred, "y_pred", "label")
    check_same_lengths(lengths_of(y_true), lengths_of(y_pred), ("y_true", "y_pred"))
    check_gold(y_true, chain.from_iterable(y_pred))
    of_sequence = [
        [(a, b) for a, b in zip(t, p) if a is not None] for t, p in zip(y_true, y_pred)
    ]
    weights = weights_of(sample_weight, list(map(len, of_sequence)))
    pairs = flatten(of_sequence)
    weight = [w for w, mine in zip(weights, of_sequence) for _ in mine]
    found = dict.fromkeys(label for pair in pairs for label in pair)
    try:
        names = sorted(found) if labels is None else list(labels)
    except TypeError:  # labels of several types
        names = sorted(found, key=str)
    if not names:
        raise ValueError("labels is empty")
    return pairs, weight, names


class TransitionDisplay(_LabelMatrix):
    """The weights of label bigrams as a heat map, with start, end and constraints.

    Use :meth:`from_estimator`. A row is a label, or the start of a sequence; a column
    what follows it, a label or the end. What constraints forbid is crossed out.

    Parameters
    ----------
    weights : ndarray of shape (n_labels, n_labels)
        ``[previous, next]``.
    labels : list
    allowed : ndarray of shape (n_labels + 1, n_labels + 1), bool, optional
        True where a label (row) may be followed by another (column); the last row is
        the start, the last column the end. By default everything is allowed.

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

    def plot(self, *, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the heat map.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        **kwargs
            ``cmap``, ``colorbar`` and others, as of scikit-learn's
            ``ConfusionMatrixDisplay``. The weights are written into the cells, with one
            decimal, if there are at most 15 labels (``include_values``,
            ``values_format``).

        Returns
        -------
        TransitionDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        n = len(self.labels)
        # start and end have no weights of their own
        self.confusion_matrix = np.pad(self.weights, (0, 1))
        self.display_labels = None
        known = np.pad(np.ones((n, n), np.bool_), (0, 1))
        allowed = np.ones_like(known) if self.allowed is None else self.allowed.copy()
        largest = float(np.abs(self.weights).max(initial=0.0)) or 1.0
        options = {
            "ax": ax,
            "include_values": n <= 15,
            "values_format": ".1f",
            "cmap": "RdBu",
            **kwargs,
        }
        options["im_kw"] = {
            "vmin": -largest,
            "vmax": largest,
            **(kwargs.get("im_kw") or {}),
        }
        self._draw(
            [*self.labels, "(start)"],
            [*self.labels, "(end)"],
            "next label",
            "label",
            options,
        )
        for place in (
            zip(*np.nonzero(~(known & allowed))) if options["include_values"] else ()
        ):
            self.text_[place].remove()
            self.text_[place] = None
        allowed[n, n] = True  # an empty sequence: nothing to say
        crossed = np.argwhere(~allowed)
        if len(crossed):
            self.ax_.plot(
                crossed[:, 1],
                crossed[:, 0],
                "x",
                color="0.45",
                markersize=5,
                label="forbidden",
            )
        self.ax_.axhline(n - 0.5, color="0.6", linewidth=0.8)
        self.ax_.axvline(n - 0.5, color="0.6", linewidth=0.8)
        return self

    @classmethod
    def from_estimator(cls, estimator: Any, **kwargs: Any) -> Self:
        """Draw the transitions of a fitted model.

        Parameters
        ----------
        estimator : fitted estimator
            A chain tagger, or one inside of a ``Segmenter``, an average, a mixture, a
            ``Pipeline`` ...
        **kwargs
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
        allowed = np.block([[between, end[:, None]], [start, np.zeros(1)]]) == 0.0
        return cls(
            np.asarray(weights), list(weights.labels or []), allowed=allowed
        ).plot(**kwargs)
