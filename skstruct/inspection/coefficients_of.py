"""The weights of a model of rows of numbers as matrices, in the units of the numbers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..features.rows import RowsEncoder
from .feature_lists import chain_of, transition_weights, weight_rows


class Coefficients(NamedTuple):
    """What a labelling scores: ``Σ_t x_t coef[:, y_t] + intercept[y_t] + Σ_t transitions[y_{t-1}, y_t]``.

    Attributes
    ----------
    coef : ndarray of shape (n_columns, n_labels)
        With a window one block of columns for each place, from the first neighbour to the last.
    intercept : ndarray of shape (n_labels,)
    transitions : ndarray of shape (n_labels, n_labels)
        ``[previous, next]``; without constraints, and without the trigrams of ``order=2``.
    """

    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]
    transitions: NDArray[np.float64]


def coefficients(tagger: Any) -> Coefficients:
    """The weights of a tagger that was trained on rows of numbers.

    Parameters
    ----------
    tagger : StructuredPerceptron, PassiveAggressiveTagger, L1CRF or another chain tagger

    Returns
    -------
    Coefficients
        ``(coef, intercept, transitions)``, labels in the order of ``classes_``. They multiply the numbers as
        they were given: the scale of ``NumericFeatures`` is part of ``coef``. Columns that training did not
        meet have zeros.

    Raises
    ------
    TypeError
        If the tagger was trained on other tokens, or it is another kind of model.

    Examples
    --------
    >>> import numpy as np
    >>> from skstruct import StructuredPerceptron
    >>> from skstruct.inspection import coefficients
    >>> X, y = [np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 1.0]])], [["a", "b", "b"]]
    >>> tagger = StructuredPerceptron(random_state=0).fit(X, y)
    >>> coef, intercept, transitions = coefficients(tagger)
    >>> coef.shape, intercept.shape, transitions.shape
    ((2, 2), (2,), (2, 2))
    >>> scores = X[0] @ coef + intercept
    >>> bool(np.isclose(scores[[0, 1, 2], [0, 1, 1]].sum() + transitions[0, 1] + transitions[1, 1],
    ...                 tagger.decision_function(X)[0]))
    True
    """
    model = chain_of(tagger)
    encoder = model.encoder
    if not isinstance(encoder, RowsEncoder):
        raise TypeError(
            "coefficients needs a tagger trained on rows of numbers; feature_weights lists others"
        )
    low, high = encoder.features.window
    size = encoder.width * (high - low + 1)
    rows = np.append(encoder.row_of, -1)[: size + 1]  # the bias is behind the columns
    out = np.zeros((size + 1, len(model.labels)))
    used = np.flatnonzero(rows >= 0)
    out[used] = weight_rows(model.nodes, rows[used])
    return Coefficients(out[:size] * encoder.scale, out[size].copy(), np.asarray(transition_weights(tagger)))
