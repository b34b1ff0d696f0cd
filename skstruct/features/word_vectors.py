"""Word vectors learned from raw text: factors of the counts of neighbouring words; and clusters of them.

Church and Hanks (1990), *Word association norms, mutual information, and lexicography*, for the weights of
counts; Schütze (1995), *Distributional part-of-speech tagging*, for left and right neighbours apart and for
the factors; Levy, Goldberg and Dagan (2015), *Improving distributional similarity with lessons learned from
word embeddings*, for smoothed contexts and for the square roots of the singular values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from .._sklearn import POSITIVE, BaseEstimator
from ..data.inputs import as_tokens, by_sequence
from ..data.matrix import assembled
from ..data.reads import FeatureNames, Reads
from ..data.types import Corpus
from .sequence_transformer import SequenceTransformer
from .tokens import refuse, split_columns

if TYPE_CHECKING:
    from typing_extensions import Self

SMOOTHING = 0.75
"""Power of the counts of contexts: without it those that are rare would weigh most."""

UNKNOWN = "_"
"""The cluster of words without a vector."""


class WordVectors(SequenceTransformer, BaseEstimator):
    """Word vectors or word clusters, learned from raw text without labels.

    Words that stand beside the same words get similar vectors. The counts of a word's left and right
    neighbours are weighted by positive pointwise mutual information and reduced by a truncated singular value
    decomposition; vectors are scaled to length 1. The text may be larger than what has labels: ``fit`` does
    not look at labels.

    Parameters
    ----------
    n_components : int, default=50
        Length of the vectors.
    n_clusters : int or None, default=None
        If given, the output is not rows: words are grouped by the k-means of their vectors, and each token
        gets the name of its word's group as a last column, which templates read as ``%x[0,1]``.
    window : int, default=1
        Neighbours to each side that are counted.
    min_count : int, default=5
        Words seen fewer times have no vector, a row of zeros or the cluster ``"_"``, as have words that are
        not in the text: so a tagger learns from its training text what it means to have none.
    random_state : int, RandomState instance or None, default=None
        Of the decomposition and of k-means.

    Attributes
    ----------
    words_ : dict of str to int
        The words that have a vector, in lower case, and their rows.
    vectors_ : ndarray of shape (n_words, n_components), float32
    clusters_ : ndarray of shape (n_words,), int32, or None
        Each word's group; None without ``n_clusters``.

    Notes
    -----
    Words are compared in lower case. Of tokens that are tuples, the first column is the word. The columns
    that are added are ``wordvectors0`` ...; with ``n_clusters``, ``wordcluster``.

    References
    ----------
    O. Levy, Y. Goldberg and I. Dagan (2015), *Improving distributional similarity with lessons learned from
    word embeddings*, TACL 3. H. Schütze (1995), *Distributional part-of-speech tagging*, EACL.

    Examples
    --------
    >>> from skstruct.features import WordVectors
    >>> text = [[a, b, c] for a in ("the", "a") for b in ("dog", "cat") for c in ("barks", "sleeps")]
    >>> vectors = WordVectors(2, min_count=2, random_state=0).fit(text)
    >>> vectors.transform([["The", "dog"], ["unknown"]])
    SequenceMatrix of 2 sequences, 3 dense rows of 2 columns
    >>> grouped = WordVectors(2, n_clusters=3, min_count=2, random_state=0).fit(text)
    >>> [[dog, cat, barks]] = grouped.transform([["dog", "cat", "barks"]])
    >>> dog[1] == cat[1], dog[1] == barks[1]
    (True, False)
    """

    _parameter_constraints = {
        "n_components": [POSITIVE],
        "n_clusters": [POSITIVE, None],
        "window": [POSITIVE],
        "min_count": [POSITIVE],
        "random_state": ["random_state"],
    }

    words_: dict[str, int]
    vectors_: NDArray[np.float32]
    clusters_: NDArray[np.int32] | None

    def __init__(
        self,
        n_components: int = 50,
        *,
        n_clusters: int | None = None,
        window: int = 1,
        min_count: int = 5,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.n_clusters = n_clusters
        self.window = window
        self.min_count = min_count
        self.random_state = random_state

    def fit(self, X: Corpus, y: Any = None) -> Self:
        """Learn vectors.

        Parameters
        ----------
        X : list of sequences of str or of tuples of str
            Raw text.
        y : optional
            Not looked at.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the input is wrong; the message names sequence and position. Or if fewer words than
            ``n_components`` or ``n_clusters`` occur ``min_count`` times.
        """
        self._validate_params()
        corpus, forms = _read(X)
        reads = Reads.of(corpus)._replace(width=None)  # further columns are not read
        known: dict[str, int] = {}
        ids = np.fromiter((known.setdefault(form, len(known)) for form in forms), np.int64, len(forms))
        keep = np.bincount(ids, minlength=len(known)) >= self.min_count
        needed = max(self.n_components, self.n_clusters or 0)
        if keep.sum() < needed:
            raise ValueError(
                f"{int(keep.sum())} words occur min_count={self.min_count} times or more in X, fewer than "
                f"the {needed} that n_components={self.n_components} and n_clusters={self.n_clusters} need"
            )
        counts = _neighbours(ids, corpus.lengths, len(known), self.window)[keep]
        from sklearn.decomposition import TruncatedSVD  # here: importing it takes longer than most fits

        svd = TruncatedSVD(self.n_components, random_state=self.random_state)
        found = svd.fit_transform(_mutual_information(counts))
        found /= np.sqrt(np.maximum(svd.singular_values_, np.finfo(np.float64).tiny))
        length = np.linalg.norm(found, axis=1, keepdims=True)
        vectors = (found / np.where(length > 0, length, 1)).astype(np.float32)
        clusters = None
        if self.n_clusters is not None:
            from sklearn.cluster import KMeans

            means = KMeans(self.n_clusters, n_init=1, random_state=self.random_state)
            clusters = means.fit(vectors).labels_
        kept = [word for word, stays in zip(known, keep.tolist()) if stays]
        self.words_, self.vectors_ = {word: k for k, word in enumerate(kept)}, vectors
        names = (
            ["wordcluster"] if clusters is not None else [f"wordvectors{k}" for k in range(vectors.shape[1])]
        )
        self.clusters_, self._reads, self._names = clusters, reads, FeatureNames(names)
        return self

    def transform(self, X: Corpus) -> Any:
        """The vectors or clusters of tokens.

        Parameters
        ----------
        X : list of sequences of str or of tuples of str

        Returns
        -------
        SequenceMatrix, or list of lists of tuples
            One row for each token, float32; with ``n_clusters`` the tokens as tuples, with a column more.
        """
        check_is_fitted(self)
        corpus, forms = _read(X, self._reads)
        rows = np.fromiter((self.words_.get(form, -1) for form in forms), np.int64, len(forms))
        if self.clusters_ is None:
            vectors = np.vstack([self.vectors_, np.zeros((1, self.vectors_.shape[1]), np.float32)])
            return assembled(vectors[rows], corpus.lengths, self._names)
        columns = [*map(str, self.clusters_.tolist()), UNKNOWN]
        tokens = [
            (*token, columns[row]) if isinstance(token, tuple) else (token, columns[row])
            for token, row in zip(corpus.tokens, rows.tolist())
        ]
        return by_sequence(tokens, corpus.offsets)


def _read(X, reads=None):
    """(tokens, their words in lower case)"""
    corpus = as_tokens(X)
    if reads is not None:
        reads.check(corpus)
    if corpus.numbers and corpus.offsets[-1]:
        raise ValueError("X: the tokens are rows of numbers already; WordVectors needs words")
    words = split_columns(corpus, 1)[0]
    if not all(isinstance(word, str) for word in words):
        refuse(words, corpus.offsets, 0, 2 if isinstance(corpus.like, tuple) else 1)
    return corpus, [word.lower() for word in words]


def _neighbours(ids, lengths, n_words, window):
    """Counts of neighbours, CSR of shape (n_words, 2 * window * (n_words + 1)).

    There is a block of columns for each distance and side; its last column is the end of a sequence.
    """
    sequence = np.repeat(np.arange(lengths.shape[0]), lengths)
    n, blocks = ids.shape[0], []
    for distance in range(1, window + 1):
        for shift in (-distance, distance):
            other = np.arange(n) + shift
            inside = (other >= 0) & (other < n)
            other = np.where(inside, other, 0)
            inside &= sequence[other] == sequence
            column = np.where(inside, ids[other], n_words)
            blocks.append(sparse.csr_matrix((np.ones(n), (ids, column)), shape=(n_words, n_words + 1)))
    return sparse.hstack(blocks, format="csr")


def _mutual_information(counts):
    """max(0, log p(word, context) / (p(word) p(context))), the contexts' probabilities smoothed."""
    words = np.asarray(counts.sum(axis=1)).ravel()
    contexts = np.asarray(counts.sum(axis=0)).ravel() ** SMOOTHING
    found = counts.tocoo()
    ratio = found.data * contexts.sum() / (words[found.row] * contexts[found.col])
    found.data = np.log(np.maximum(ratio, 1.0))
    found = found.tocsr()
    found.eliminate_zeros()
    return found
