"""Weights by the names of their features, and the features of a sequence."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._crf.crf_run import nonzero_entries
from .._data.inputs import as_tokens, check_positive, describe, flatten
from .._sklearn import innermost
from .._taggers.span_chains import refuse_chains
from ..features.rows_encoder import RowsEncoder
from .explain_taggers import of_one_sequence, seen_by_tagger, single_chains
from .weight_tables import FeatureWeight, FeatureWeights, TransitionWeights

if TYPE_CHECKING:
    from .._chain.chain_model import ChainModel
    from .._core.store import Store
    from .._data.corpus import TokenCorpus


def model_with(estimator: Any, method: str, who: str) -> Any:
    """Find the model inside of a fitted estimator, which must have a method.

    Of a segmenter it is that of the tagger inside. ``who`` has such models, for the
    error.

    Of a segmenter it is that of the tagger inside.
    """
    inner = innermost(estimator).estimator
    while hasattr(inner, "tagger_"):
        instead = "give its tagger_, or one of its chains_"
        refuse_chains(inner, "features and transitions", instead)
        inner = innermost(inner.tagger_).estimator
    model = getattr(inner, "_model", None)
    if not hasattr(model, method):
        raise TypeError(f"{who} is needed, got a {type(estimator).__name__}")
    return model


def chain_of(tagger: Any) -> ChainModel:
    """Find the ChainModel of a fitted tagger, or of the one inside of a segmenter."""
    return model_with(tagger, "new_chain", "a chain tagger")


def weight_rows(store: Store, rows: Sequence[int] | np.ndarray) -> np.ndarray:
    """Copy weight rows into an array of shape (len(rows), columns)."""
    if not store.sparse:
        return store.value.reshape(-1, store.columns)[rows]
    out = np.zeros((len(rows), store.columns))
    for k, row in enumerate(rows):
        segment = slice(store.first[row], store.first[row] + store.count[row])
        out[k, store.column[segment]] = store.value[segment]
    return out


def feature_weights(
    tagger: Any, top: int | None = None, label: Any = None
) -> FeatureWeights:
    """List the weights of a fitted model's features, largest magnitude first.

    Parameters
    ----------
    tagger : fitted estimator
        A chain tagger, a ``Segmenter`` around one, an average, a mixture or a
        calibrated one, or a ``Pipeline`` or search that ends in one. Or a
        ``WordSegmenter``: its labels are the decisions before a character, ``"start"``
        and ``"inside"``, or ``"word"`` with ``templates="zc14"``. Or a
        ``ShiftReduceParser``: its labels are the actions, ``"SHIFT"``, ``"LEFT"`` and
        ``"RIGHT"``, and those of arcs. Their features are named atom by atom, as in
        ``s0.w=dog s1.t=DT``. Or a ``KBestReranker``: its weights beside those of the
        base have the label ``"path"``; ``w`` is a word, ``t`` its tag, ``w-1`` the word
        before. Of a ``SpanTagger`` those of all its chains of labels.
    top : int, optional
        Number of weights to return; by default all that are not zero.
    label : object, optional
        Only weights for this label.

    Returns
    -------
    FeatureWeights
        A list of ``(feature, label, weight)``, without weights that are zero, that has
        ``to_frame`` and ``to_dict``; notebooks show for each label what speaks most for
        it and against it.

    Raises
    ------
    TypeError
        If it is another kind of model.
    ValueError
        If ``top`` is not a positive int, or the model has no such label.

    Examples
    --------
    >>> from skstruct import StructuredPerceptron
    >>> from skstruct.inspection import feature_weights
    >>> X, y = [["the", "dog"], ["the", "cat"], ["dogs", "bark"]], [["D", "N"], ["D", "N"], ["N", "V"]]
    >>> tagger = StructuredPerceptron(["U00:%x[-1,0]", "U01:%x[0,0]"], random_state=0).fit(X, y)
    >>> for feature, label, weight in feature_weights(tagger, top=2, label="V"):
    ...     print(f"{feature} {label} {weight:+.2f}")
    U00:dogs V +0.97
    U01:bark V +0.97
    """
    if top is not None:
        check_positive("top", top)
    who = "a chain tagger, WordSegmenter, ShiftReduceParser or KBestReranker"
    parts = flatten(
        model_with(each, "named_weights", who).named_weights()
        for each in single_chains(tagger)
    )
    values = [value for part in parts for value in part.labels]
    if label is not None and not any(
        type(value) is type(label) and value == label for value in values
    ):
        raise ValueError(f"{describe(label)} is not a label of the model")
    found = []
    for part in parts:
        keys, weight = nonzero_entries(part.store)
        row, column = np.divmod(keys, part.store.columns)
        mine = np.array(
            [label is None or value == label for value in part.labels], np.bool_
        )
        kept = np.flatnonzero((weight != 0.0) & mine[column])
        order = kept[np.argsort(-np.abs(weight[kept]), kind="stable")[:top]]
        each = zip(
            part.names(row[order]), column[order].tolist(), weight[order].tolist()
        )
        found += [FeatureWeight(name, part.labels[c], w) for name, c, w in each]
    if len(parts) > 1:
        found = sorted(found, key=lambda item: -abs(item.weight))[:top]
    return FeatureWeights(found)


def transition_weights(tagger: Any) -> TransitionWeights:
    """Return the weights of label bigrams.

    Parameters
    ----------
    tagger : fitted estimator
        A chain tagger, or one inside of a ``Segmenter``, an average, a mixture, a
        ``Pipeline`` ...

    Returns
    -------
    TransitionWeights of shape (n_labels, n_labels), float64
        An ndarray that has ``to_frame`` and ``to_dict`` too; notebooks show it shaded.
        ``[previous, next]`` in the order of ``classes_``; 0 without the template ``B``.
        Constraints, transitions conditioned on the observation, and the trigrams of
        ``order=2`` are not part of it.

    Examples
    --------
    >>> from skstruct import StructuredPerceptron
    >>> from skstruct.inspection import transition_weights
    >>> X, y = [["a", "b", "c"], ["b", "a"]], [["N", "V", "N"], ["V", "N"]]
    >>> tagger = StructuredPerceptron(["B"], max_iter=50, random_state=0).fit(X, y)
    >>> transition_weights(tagger).shape
    (2, 2)
    """
    model = chain_of(tagger)
    L = len(model.labels)
    if not model.encoder.has_bigram:
        return TransitionWeights(np.zeros((L, L)), model.labels.values)
    return TransitionWeights(
        weight_rows(model.edges, np.arange(L)).copy(), model.labels.values
    )


def tokens_of(given: TokenCorpus) -> list[Any]:
    """List the tokens of one sequence, alone in a checked corpus.

    Rows of numbers are arrays; sparse ones are dicts of what is not zero, by name or
    number of the column.
    """
    matrix = given.matrix
    if given.like is not None or matrix is None:
        return given.lists()[0]
    if isinstance(matrix, np.ndarray):
        return list(matrix)
    names = range(matrix.shape[1]) if given.names is None else given.names.all()
    entries = [
        (names[c], v) for c, v in zip(matrix.indices.tolist(), matrix.data.tolist())
    ]
    return [
        dict(entries[a:b])
        for a, b in zip(matrix.indptr.tolist(), matrix.indptr[1:].tolist())
    ]


def features_of(tagger: Any, sequence: Collection[Any]) -> list[list[str]]:
    """List the features of each token that a fitted tagger knows.

    Parameters
    ----------
    tagger : fitted estimator
        As of :func:`transition_weights`.
    sequence : list of tokens, or of what reads texts a str

    Returns
    -------
    list of list of str
        Features of the labels; those of label transitions are not listed. What was not
        seen in training, or too rarely for ``min_count``, is missing.

    Examples
    --------
    >>> from skstruct import StructuredPerceptron
    >>> from skstruct.inspection import features_of
    >>> tagger = StructuredPerceptron(["U00:%x[-1,0]", "U01:%suffix2[0,0]", "B"])
    >>> features_of(tagger.fit([["the", "dog"]], [["D", "N"]]), ["the", "frog"])
    [['U00:_B-1', 'U01:he'], ['U00:the', 'U01:og']]
    """
    model = chain_of(tagger)
    with of_one_sequence(tagger, sequence):
        nodes, _ = model.encoder.features_by_token(
            model.encode(as_tokens(seen_by_tagger(tagger, [sequence]).X))
        )
    return [[name for _, _, name in token] for token in nodes]


class Coefficients(NamedTuple):
    """The weights of a model of rows of numbers, as matrices.

    A labelling scores ``Σ_t x_t coef[:, y_t] + intercept[y_t] + Σ_t
    transitions[y_{t-1}, y_t]``.

    Attributes
    ----------
    coef : ndarray of shape (n_columns, n_labels)
        With a window one block of columns for each place, from the first neighbour to
        the last.
    intercept : ndarray of shape (n_labels,)
    transitions : ndarray of shape (n_labels, n_labels)
        ``[previous, next]``; without constraints, and without the trigrams of
        ``order=2``.
    """

    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]
    transitions: NDArray[np.float64]


def coefficients(tagger: Any) -> Coefficients:
    """Return the weights of a tagger that was trained on rows of numbers.

    Parameters
    ----------
    tagger : StructuredPerceptron, PassiveAggressiveTagger, L1CRF or another chain
    tagger

    Returns
    -------
    Coefficients
        ``(coef, intercept, transitions)``, labels in the order of ``classes_``. They
        multiply the numbers as they were given: the scale of ``NumericFeatures`` is
        part of ``coef``. Columns that training did not meet have zeros.

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
            "coefficients needs a tagger trained on rows of numbers; for "
            "others call feature_weights"
        )
    low, high = encoder.features.window
    size = encoder.width * (high - low + 1)
    rows = np.append(encoder.row_of, -1)[: size + 1]  # the bias is behind the columns
    out = np.zeros((size + 1, len(model.labels)))
    used = np.flatnonzero(rows >= 0)
    out[used] = weight_rows(model.nodes, rows[used])
    return Coefficients(
        out[:size] * encoder.scale,
        out[size].copy(),
        np.asarray(transition_weights(tagger)),
    )
