"""The choice of sequences to label next: those that a model is unsure of, and that
differ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from .._data.elements import word_of
from .._data.inputs import (
    SPANS,
    WORDS,
    as_tokens,
    check_choice,
    check_positive,
    describe,
)
from .._data.places import by_sequence
from .._data.text import tokenized
from .._sklearn import final_step, innermost, safe_indexing
from .explain_taggers import seen_by_chains

if TYPE_CHECKING:
    from .._data.corpus import TokenCorpus
    from .explain_taggers import Seen


STRATEGIES = "least_confident", "margin", "entropy", "longest", "random"

AT_ONCE = 2_000
"""Sequences that are scored at once."""


def select(
    model: Any,
    X: Any,
    k: int,
    *,
    strategy: Literal[
        "least_confident", "margin", "entropy", "longest", "random"
    ] = "least_confident",
    diversity: float = 0.5,
    random_state: int | np.random.RandomState | None = None,
) -> list[int]:
    """Choose the sequences to label next: active learning.

    Parameters
    ----------
    model : fitted estimator
        A tagger, a ``Segmenter`` or ``SpanTagger``, or a pipeline or search that ends
        in one; for ``"margin"`` any model with ``predict_kbest``.
    X : list of sequences, or of texts
        As of its ``predict``; not labelled.
    k : int
        Number of sequences to choose.
    strategy : str, default="least_confident"
        The sequences that come first. ``"least_confident"``: sequences whose best
        labelling has the smallest probability, as a geometric mean over tokens [1]_.
        ``"margin"``: those whose second best labelling has nearly the score of the
        best; the difference is multiplied by the number of tokens, since it falls with
        it. ``"entropy"``: the largest entropy of a token's label, as a mean.
        ``"longest"``: the most tokens. Long sequences are not preferred otherwise.
        Those shorter than the median count less in proportion: to open a text costs
        time, too.
    diversity : float, default=0.5
        From 0 to 1: the penalty of a sequence that resembles one chosen before. 0
        switches it off. Resemblance is the cosine of the tf-idf vectors of tokens; for
        rows of numbers that of their means.
    random_state : int, RandomState instance or None, default=None
        Seed of ``"random"``.

    Returns
    -------
    list of int
        Positions in ``X``, best first: k, or all if there are fewer. Empty sequences
        come last.

    Raises
    ------
    ValueError
        If a parameter has another value, or a sequence is not what the model takes.
    TypeError
        If the strategy needs probabilities and the model has none, or ``"margin"`` and
        it has no ``predict_kbest``.

    References
    ----------
    .. [1] B. Settles and M. Craven (2008). An analysis of active learning strategies
       for sequence labeling tasks. EMNLP.

    Examples
    --------
    >>> from skstruct import StructuredPerceptron
    >>> from skstruct.inspection import select
    >>> tagger = StructuredPerceptron(random_state=0).fit([["the", "dog"], ["a", "cat"]], [["D", "N"]] * 2)
    >>> select(tagger, [["the", "cat"], ["it", "barks", "so"], ["the", "dog"]], 1, strategy="longest")
    [1]
    """
    if not hasattr(model, "predict"):
        raise TypeError(
            f"model must be a fitted estimator, got {describe(model)}; write "
            "select(model, X, k)"
        )
    found = ranked(
        model,
        X,
        k,
        strategy=strategy,
        diversity=diversity,
        random_state=random_state,
    )
    return found.chosen


class Ranked(NamedTuple):
    """Sequences that are chosen, and how unsure a model is of all.

    Attributes
    ----------
    chosen : list of int
    unsure : ndarray of shape (n,), or None
        As of :func:`uncertainty`; None for strategies that ask no model.
    """

    chosen: list[int]
    unsure: np.ndarray | None


def ranked(
    model: Any,
    X: Any,
    k: int,
    *,
    strategy: str = "least_confident",
    diversity: float = 0.5,
    random_state: int | np.random.RandomState | None = None,
) -> Ranked:
    """Choose sequences as :func:`select` does, and say how unsure a model is of each."""
    check_choice("strategy", strategy, STRATEGIES)
    if not 0.0 <= diversity <= 1.0:
        raise ValueError(f"diversity must be a number from 0 to 1, got {diversity!r}")
    check_positive("k", k)
    n = len(X)
    tokens = _tokens(model, X)
    length = tokens.lengths
    unsure = None
    if strategy == "random":
        value = check_random_state(random_state).permutation(n).astype(float)
    elif strategy == "longest":
        value = length.astype(float)
    else:
        # Uncertainty a token times tokens, up to the median; margins are negative.
        usual = np.median(length[length > 0]) if length.any() else 1.0
        share = np.minimum(length / usual, 1.0)
        unsure = uncertainty(model, X, strategy)
        value = (
            unsure / np.maximum(share, 1e-9) if strategy == "margin" else unsure * share
        )
    value = np.where(length > 0, value, -np.inf)
    order = np.argsort(-value, kind="stable")
    if diversity == 0.0 or not length.any():
        return Ranked(order[:k].tolist(), unsure)
    rank = np.empty(n)
    rank[order] = np.arange(n, 0, -1) / n
    worth = np.where(length > 0, rank, 0.0)
    return Ranked(_diverse(worth, _vectors(tokens), min(k, n), diversity), unsure)


def _diverse(rank: np.ndarray, vectors: Any, k: int, diversity: float) -> list[int]:
    """Choose greedily the best k, each worth less the more it resembles one before."""
    closest = np.zeros(len(rank))
    left = np.ones(len(rank), np.bool_)
    chosen = []
    for _ in range(k):
        j = int(np.argmax(np.where(left, rank * (1.0 - diversity * closest), -1.0)))
        left[j] = False
        chosen.append(j)
        found = vectors @ vectors[[j]].T
        closest = np.maximum(
            closest,
            (found if isinstance(found, np.ndarray) else found.toarray()).ravel(),
        )
    return chosen


# --------------------------------------------------------------------------------------
# How unsure a model is of each sequence
# --------------------------------------------------------------------------------------
def uncertainty(model: Any, X: Any, strategy: str) -> np.ndarray:
    """Compute how unsure a model is of each sequence, (n,).

    For strategies and errors see :func:`select`.
    """
    parts = [np.arange(a, min(a + AT_ONCE, len(X))) for a in range(0, len(X), AT_ONCE)]
    found = [
        _VALUES[strategy](model, safe_indexing(X, part), strategy) for part in parts
    ]
    return np.concatenate([np.zeros(0), *found])


def _of_kbest(model: Any, X: Any, strategy: str) -> np.ndarray:
    """Compute the negative lead of the best labelling over the second, times tokens."""
    model, X = final_step(model, X)
    if not hasattr(model, "predict_kbest"):
        raise TypeError(
            f"strategy={strategy!r} needs a model with predict_kbest, got a {_name(model)}"
        )
    gap = [
        ranked[0][1] - ranked[1][1] if len(ranked) > 1 else np.inf
        for ranked in model.predict_kbest(X, 2)
    ]
    return -np.array(gap) * np.maximum(_tokens(model, X).lengths, 1)


def _of_tagger(model: Any, X: Any, strategy: str) -> np.ndarray:
    """Compute means over tokens, of negative log-probabilities or of entropies.

    The log-probability is that of the best labelling.
    """
    chains = seen_by_chains(model, X)  # a text's analysis is one of each
    if not hasattr(chains[0].tagger, "predict_marginals"):
        text = f"strategy={strategy!r} needs a model that knows probabilities, got a {_name(model)}: "
        raise TypeError(
            f"{text}train an L1CRF, wrap the model in a CalibratedTagger, or "
            "use strategy='margin'"
        )
    first = chains[0]
    length = np.bincount(first.of, as_tokens(first.X).lengths, first.n)
    if not length.any():
        return length
    parts = (np.bincount(s.of, _doubts(s, strategy), s.n) for s in chains)
    return sum(parts) / np.maximum(length, 1)


def _doubts(seen: Seen, strategy: str) -> Any:
    """Compute for each sequence of a tagger the negative log-probability of the best
    labelling, or the sum of the entropies of its tokens.
    """
    if strategy == "entropy":
        marginals = seen.tagger.predict_marginals(seen.X)
        return [
            -np.where(p > 0.0, p * np.log(np.maximum(p, 1e-300)), 0.0).sum()
            for p in marginals
        ]
    return -seen.tagger.sequence_log_proba(seen.X, seen.tagger.predict(seen.X))


def _name(model: Any) -> str:
    return type(final_step(model).estimator).__name__


_VALUES = {"least_confident": _of_tagger, "entropy": _of_tagger, "margin": _of_kbest}


# --------------------------------------------------------------------------------------
# What sequences consist of
# --------------------------------------------------------------------------------------
def _tokens(model: Any, X: Any) -> TokenCorpus:
    """Return the tokens of each sequence: str of texts, else what the model sees."""
    model, X = innermost(model, X)
    if model.inputs.task == SPANS:
        model._check_settings()
        tokens = tokenized(list(X), model.tokenizer)
        return as_tokens(by_sequence(tokens.words(layout=False), tokens.first))
    if model.inputs.task == WORDS and all(isinstance(text, str) for text in X):
        return as_tokens([list("".join(text.split())) for text in X])
    return as_tokens(X)


def _vectors(tokens: TokenCorpus) -> Any:
    """Make a row of length 1 for each sequence, (n, d); 0 for empty ones."""
    from sklearn.feature_extraction.text import TfidfVectorizer  # slow to import
    from sklearn.preprocessing import normalize

    if tokens.numbers and tokens.like is None:
        n_rows = int(tokens.offsets[-1])
        parts = np.ones(n_rows), np.arange(n_rows), tokens.offsets
        return normalize(
            sparse.csr_matrix(parts, shape=(len(tokens), n_rows)) @ tokens.matrix
        )  # sums
    words = [[word_of(token) for token in sequence] for sequence in tokens.lists()]
    return TfidfVectorizer(analyzer=list, sublinear_tf=True).fit_transform(words)
