"""Word vectors learned from raw text: factors of the counts of neighbouring words; and
clusters of them.

Church and Hanks (1990), *Word association norms, mutual information, and lexicography*,
for the weights of counts; Schütze (1995), *Distributional part-of-speech tagging*, for
left and right neighbours apart and for the factors; Levy, Goldberg and Dagan (2015),
*Improving distributional similarity with lessons learned from word embeddings*, for
smoothed contexts and for the square roots of the singular values.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from itertools import compress
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from .._data.corpus import STRINGS
from .._data.inputs import LABELS, Inputs, as_tokens, by_sequence, describe
from .._data.matrix import assembled
from .._data.reads import FeatureNames, TransformerReads
from .._data.types import Corpus, Path, Self
from .._saving.container import require
from .._saving.fields import (
    Field,
    Kind,
    Members,
    Table,
    array,
    distinct,
    each,
    flag,
    optional,
    string,
    value,
)
from .._saving.values import savable_value
from .._sklearn import POSITIVE, BaseEstimator, StrOptions
from .brought_vectors import vectors_of_dict, vectors_of_file
from .kept_reads import READS
from .neighbour_counts import NeighbourCounts, mutual_information
from .raw_text import RULES, rule_of, words_of_lines
from .sequence_transformer import SequenceTransformer
from .tokens import string_columns
from .word_clusters import UNKNOWN, WordClusters, check_strings_in, normal_form

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from .._data.corpus import TokenCorpus
    from .._saving.values import Reader, Writer


@dataclass(eq=False, repr=False)
class WordVectors(SequenceTransformer, BaseEstimator):
    """Word vectors or word clusters, learned from raw text without labels.

    Words that stand beside the same words get similar vectors. The counts of a word's
    left and right neighbours are weighted by positive pointwise mutual information and
    reduced by a truncated singular value decomposition; vectors are scaled to length 1.
    The text may be larger than what has labels: ``fit`` does not look at labels.

    Parameters
    ----------
    n_components : int, default=50
        Length of the vectors.
    n_clusters : int or None, default=None
        If given, the output is not rows: words are grouped by the k-means of their
        vectors, and each token gets the name of its word's group as a last column,
        which templates read as ``%x[0,1]``.
    window : int, default=1
        Neighbours to each side that are counted.
    min_count : int, default=5
        Words seen fewer times have no vector, a row of zeros or the cluster ``"_"``, as
        have words that are not in the text: so a tagger learns from its training text
        what it means to have none.
    random_state : int, RandomState instance or None, default=None
        Of the decomposition and of k-means.
    lowercase : bool, default=True
        Count words in lower case. Without, a form that has no vector gets that of its
        lower-cased form.
    tokenizer : str or callable, default="words"
        How ``fit_text`` cuts texts into words. Tokens that a tagger reads have to be
        cut alike, or they have no vector. ``"words"`` cuts as ``SpanTagger`` does,
        ``"treebank"`` like English corpora (``do n't``, ``dog 's``, ``U.S.``),
        ``"characters"`` into these; ``"spaces"`` is for text that is cut already. A
        function returns the words of a text, or their ``(start, end)``.

    Attributes
    ----------
    words_ : dict of str to int
        The words that have a vector, and their rows.
    vectors_ : ndarray of shape (n_words, n_components), float32
    clusters_ : ndarray of shape (n_words,), int32, or None
        Each word's group; None without ``n_clusters``.

    Notes
    -----
    Of tokens that are tuples, the first column is the word. Words are learned, and
    looked up, in Unicode's normal form C. The columns that are added are
    ``wordvectors0`` ...; with ``n_clusters``, ``wordcluster``.

    References
    ----------
    O. Levy, Y. Goldberg and I. Dagan (2015), *Improving distributional similarity with
    lessons learned from word embeddings*, TACL 3. H. Schütze (1995), *Distributional
    part-of-speech tagging*, EACL.

    Examples
    --------
    >>> from skstruct.features import WordVectors
    >>> text = [[a, b, c] for a in ("the", "a") for b in ("dog", "cat")
    ...         for c in ("barks", "sleeps")]
    >>> vectors = WordVectors(2, min_count=2, random_state=0).fit(text)
    >>> vectors.transform([["The", "dog"], ["unknown"]])
    SequenceMatrix of 2 sequences, 3 dense rows of 2 columns
    >>> grouped = WordVectors(2, n_clusters=3, min_count=2, random_state=0).fit(text)
    >>> [[dog, cat, barks]] = grouped.transform([["dog", "cat", "barks"]])
    >>> dog[1] == cat[1], dog[1] == barks[1]
    (True, False)
    """

    _parameter_constraints = {
        **dict.fromkeys(["n_components", "window", "min_count"], [POSITIVE]),
        "n_clusters": [POSITIVE, None],
        "random_state": ["random_state"],
        "lowercase": ["boolean"],
        "tokenizer": [StrOptions(set(RULES)), callable],
    }
    inputs: ClassVar[Inputs] = Inputs(LABELS, str, 1)
    """Its input on the command line: words."""

    n_components: int = 50
    _: KW_ONLY
    n_clusters: int | None = None
    window: int = 1
    min_count: int = 5
    random_state: Any = None
    lowercase: bool = True
    tokenizer: str | Callable[[str], Any] = "words"

    words_: dict[str, int] = field(init=False)
    vectors_: NDArray[np.float32] = field(init=False)
    clusters_: NDArray[np.int32] | None = field(init=False)

    _is_brought = False
    """True if another program learned the vectors."""

    _written = (
        "words_",
        "vectors_",
        "clusters_",
        "_word_clusters",
        "_reads",
        "_names",
        "_is_brought",
    )

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
            If the input is wrong; the message names sequence and position. If another
            program learned these vectors, which this would replace. Or if fewer words
            than ``n_components`` or ``n_clusters`` occur ``min_count`` times.
        """
        self._refuse_brought("fit would replace them")
        self._validate_params()
        corpus, forms = _read(X)
        counts = NeighbourCounts(self.window)
        counts.add(self._forms(map(normal_form, forms)), corpus.lengths)
        return self._learn(counts, corpus)

    def fit_text(self, lines: Iterable[str] | os.PathLike[str]) -> Self:
        """Learn vectors from raw text of any size, read once from its beginning to its
        end.

        Parameters
        ----------
        lines : iterable of str, os.PathLike, or text file
            Texts, or a file of UTF-8, decompressed if its name ends in ``.gz``. They
            are cut into words by ``tokenizer``; words of two lines are no neighbours.

        Returns
        -------
        self

        Raises
        ------
        TypeError
            If ``lines`` is a str.
        ValueError
            As :meth:`fit`; or if a file has bytes that are not UTF-8, or is cut short
            or damaged. The message names file and line.

        Notes
        -----
        Memory grows with the distinct words and pairs of neighbours, not with the text.
        """
        self._refuse_brought("fit_text would replace them")
        self._validate_params()
        counts = NeighbourCounts(self.window)
        for words, lengths in words_of_lines(lines, self.tokenizer):
            counts.add(self._forms(words), lengths)
        return self._learn(counts, as_tokens([["word"]]))

    @classmethod
    def from_file(
        cls,
        path: Path,
        *,
        n_clusters: int | None = None,
        random_state: Any = None,
        encoding: str = "utf-8",
    ) -> Self:
        """Read vectors that another program learned, from a file of text as word2vec,
        fastText and GloVe write it.

        Parameters
        ----------
        path : str or os.PathLike
            A word and its numbers a line, with a space before each number; the first
            line may say how many there are. Decompressed if the name ends in ``.gz``.
        n_clusters : int, optional
            Group the words by k-means, as the parameter says.
        random_state : int, RandomState instance or None, default=None
            Of k-means.
        encoding : str, default="utf-8"

        Returns
        -------
        WordVectors
            Fitted, with ``lowercase=False``: a word without a vector gets that of its
            lower-cased form. ``fit`` and clones are refused: in searches, and before
            ``fit`` of a pipeline, put it into a ``FrozenEstimator``.

        Raises
        ------
        ValueError
            If a line is malformed; the message names it.
        """
        found = vectors_of_file(path, encoding)
        return cls._brought(*found, n_clusters, random_state)

    @classmethod
    def from_dict(
        cls,
        vectors: Mapping[str, ArrayLike],
        *,
        n_clusters: int | None = None,
        random_state: Any = None,
    ) -> Self:
        """Take vectors that another program learned, from a dict.

        Parameters
        ----------
        vectors : dict of str to array-like
            The vector of each word, the most frequent word first; ``KeyedVectors`` of
            gensim are ``dict(zip(kv.index_to_key, kv.vectors))``.
        n_clusters, random_state
            As of :meth:`from_file`.

        Returns
        -------
        WordVectors
            As :meth:`from_file` returns it.

        Raises
        ------
        ValueError
            If vectors differ in length, or a number is not finite.

        Examples
        --------
        >>> from skstruct.features import WordVectors
        >>> vectors = WordVectors.from_dict({"dog": [1.0, 0.0], "cat": [0.5, 0.5]})
        >>> vectors.transform([["Dog", "unknown"]])[0].tolist()
        [[1.0, 0.0], [0.0, 0.0]]
        """
        return cls._brought(*vectors_of_dict(vectors), n_clusters, random_state)

    @classmethod
    def _brought(
        cls,
        words: list[str],
        vectors: np.ndarray,
        n_clusters: int | None,
        random_state: Any,
    ) -> Self:
        made = cls(
            vectors.shape[1],
            n_clusters=n_clusters,
            random_state=random_state,
            lowercase=False,
        )
        made._validate_params()
        if n_clusters is not None and n_clusters > len(words):
            raise ValueError(
                f"n_clusters={n_clusters}, but there are {len(words)} words"
            )
        clusters = made._clusters(vectors)
        table = None if clusters is None else WordClusters(words, clusters)
        reads = replace(TransformerReads.of(as_tokens([["word"]])), width=None)
        return made._know(words, vectors, clusters, table, reads, brought=True)

    def __sklearn_clone__(self) -> Self:
        self._refuse_brought("a clone would forget them")
        return super().__sklearn_clone__()

    def _refuse_brought(self, why: str) -> None:
        """Raise if another program learned the vectors; ``why`` says what would become
        of them.
        """
        if self._is_brought:
            raise ValueError(
                f"these vectors were learned by another program, and {why}: write "
                "FrozenEstimator(words), of sklearn.frozen"
            )

    def _clusters(self, vectors: np.ndarray) -> np.ndarray | None:
        """Group vectors; None without ``n_clusters``."""
        if self.n_clusters is None:
            return None
        from sklearn.cluster import KMeans  # slow to import

        means = KMeans(self.n_clusters, n_init=1, random_state=self.random_state)
        return np.asarray(means.fit(vectors).labels_)

    def _validate_params(self) -> None:
        rule_of(self.tokenizer)  # whose error says more
        super()._validate_params()

    def _forms(self, words: Iterable[str]) -> list[str]:
        return [word.lower() for word in words] if self.lowercase else list(words)

    def _row_of(self, word: str) -> int:
        """Return the row of a word, -1 if it has none.

        A word that is not known is looked up in lower case, then in normal form C.
        """
        form = word.lower() if self.lowercase else word
        found = self.words_.get(form)
        if found is None:
            found = self.words_.get(form.lower())
        if found is not None:
            return found
        normal = normal_form(word)
        return -1 if normal == word else self._row_of(normal)

    def _learn(self, counts: NeighbourCounts, corpus: TokenCorpus) -> Self:
        """Vectors and clusters of what has been counted; ``corpus``: of the kind that
        is read.
        """
        reads = replace(
            TransformerReads.of(corpus), width=None
        )  # further columns are not read
        keep = counts.of_word >= self.min_count
        needed = max(self.n_components, self.n_clusters or 0)
        if keep.sum() < needed:
            text = (
                f"{keep.sum()} words occur min_count={self.min_count} times or more "
                "in X, fewer than the "
            )
            text += (
                f"{needed} that n_components={self.n_components} and "
                f"n_clusters={self.n_clusters} need"
            )
            raise ValueError(text)
        from sklearn.decomposition import (
            TruncatedSVD,
        )  # here: importing it takes longer than most fits

        svd = TruncatedSVD(self.n_components, random_state=self.random_state)
        found = svd.fit_transform(mutual_information(counts.neighbours(keep)))
        found /= np.sqrt(np.maximum(svd.singular_values_, np.finfo(np.float64).tiny))
        length = np.linalg.norm(found, axis=1, keepdims=True)
        vectors = (found / np.where(length > 0, length, 1)).astype(np.float32)
        kept = list(compress(counts.known, keep.tolist()))
        clusters = self._clusters(vectors)
        word_clusters = None
        if clusters is not None:
            order = np.argsort(-counts.of_word[keep], kind="stable")
            frequent_first = [kept[k] for k in order.tolist()]
            word_clusters = WordClusters(frequent_first, clusters[order])
        return self._know(kept, vectors, clusters, word_clusters, reads)

    def _know(
        self,
        words: Sequence[str],
        vectors: np.ndarray,
        clusters: np.ndarray | None,
        word_clusters: WordClusters | None,
        reads: TransformerReads,
        brought: bool = False,
    ) -> Self:
        self._is_brought = brought
        self.words_ = {word: k for k, word in enumerate(words)}
        self.vectors_ = vectors
        self.clusters_ = clusters
        self._word_clusters = word_clusters
        self._reads = reads
        columns = [f"wordvectors{k}" for k in range(vectors.shape[1])]
        self._names = FeatureNames(columns if clusters is None else ["wordcluster"])
        return self

    def _to_state(self, writer: Writer, name: str) -> dict[str, Any]:
        known = vars(self)
        return LEARNED.write(known, writer, name) if "words_" in known else {}

    @classmethod
    def _from_state(
        cls, node: Any, fitted: dict[str, Any], reader: Reader, where: str
    ) -> dict[str, Any]:
        if not node:
            return {}
        learned = LEARNED.read(node, where, Members({}, reader=reader))
        clusters = learned["clusters"]
        table = learned["table"]
        fits = isinstance(table, WordClusters) and len(table) == len(learned["words"])
        fits = fits if clusters is not None else table is None
        require(fits, f"{where}.table must be of the clusters")
        words = cls()._know(
            learned["words"],
            learned["vectors"],
            clusters,
            table,
            learned["reads"],
            learned["brought"],
        )
        return {name: vars(words)[name] for name in cls._written}

    def table(self) -> WordClusters:
        """Return the words and their clusters alone, which do not change: what taggers
        take as ``words``.

        Returns
        -------
        WordClusters
            ``clone`` gives it itself, where it would make a ``WordVectors`` forget what
            it learned.
        """
        check_is_fitted(self)
        if self._word_clusters is None:
            raise ValueError(
                "there are no clusters: give WordVectors n_clusters, such as "
                "n_clusters=500"
            )
        return self._word_clusters

    def transform(self, X: Corpus) -> Any:
        """Look up the vectors or clusters of tokens.

        Parameters
        ----------
        X : list of sequences of str or of tuples of str

        Returns
        -------
        SequenceMatrix, or list of lists of tuples
            One row for each token, float32; with ``n_clusters`` the tokens as tuples,
            with a column more.
        """
        check_is_fitted(self)
        corpus, forms = _read(X, self._reads)
        rows = np.fromiter(map(self._row_of, forms), np.int64, len(forms))
        is_known = rows >= 0
        if self.clusters_ is None:
            vectors = np.zeros((rows.shape[0], self.vectors_.shape[1]), np.float32)
            vectors[is_known] = self.vectors_[rows[is_known]]
            return assembled(vectors, corpus.lengths, self._names)
        names = np.full(rows.shape[0], UNKNOWN, dtype=object)
        names[is_known] = list(map(str, self.clusters_[rows[is_known]].tolist()))
        tuples = corpus.tokens if isinstance(corpus.like, tuple) else zip(corpus.tokens)
        tokens = [(*token, name) for token, name in zip(tuples, names.tolist())]
        return by_sequence(tokens, corpus.offsets)


def _read(
    X: Corpus, reads: TransformerReads | None = None
) -> tuple[TokenCorpus, list[str]]:
    """(tokens, their words)"""
    corpus = as_tokens(X)
    if reads is not None:
        reads.check(corpus)
    if corpus.numbers and corpus.offsets[-1]:
        raise ValueError(
            "X: the tokens are rows of numbers already; WordVectors needs words"
        )
    return corpus, string_columns(corpus, 1)[0]


# --------------------------------------------------------------------------------------
# As a parameter of a tagger
# --------------------------------------------------------------------------------------
def is_unfitted(words: Any) -> bool:
    """Tell whether a ``words`` parameter is an estimator that is to be fitted, and not
    fitted yet.

    Raises
    ------
    ValueError
        If it is fitted and not frozen: what it learned would be lost.
    """
    if words is None or isinstance(words, (WordClusters, FrozenEstimator)):
        return False
    if isinstance(words, WordVectors) and hasattr(words, "words_"):
        text = "words: a clone forgets what this WordVectors learned; "
        raise ValueError(f"{text}give words.table(), or FrozenEstimator(words)")
    return True


def clusters_of(words: Any, corpus: TokenCorpus) -> WordClusters | None:
    """Return the clusters that a ``words`` parameter means; None if it is None.

    What is not fitted is fitted on the corpus.
    """
    if not is_unfitted(words):
        return None if words is None else words.table()
    check_strings_in(corpus)
    return clone(words).fit(corpus.only(STRINGS)).table()


# --------------------------------------------------------------------------------------
# In files. Where there are clusters they are all that counts: vectors are left out
# --------------------------------------------------------------------------------------
def _parts(words: WordVectors) -> dict[str, Any]:
    """Return what a file has of one, by name."""
    given = words.get_params()
    if callable(given["tokenizer"]):
        known = ", ".join(map(repr, RULES))
        text = (
            f"WordVectors: tokenizer={describe(given['tokenizer'])} cannot be saved: "
        )
        text += f"files hold no code; give the name of a rule ({known}), or "
        text += "words=vectors.table() to a tagger, whose file needs none"
        raise TypeError(text)
    parts: dict[str, Any] = {"parameters": given}
    if not hasattr(words, "words_"):
        return parts
    parts |= {
        "called": words._reads.called,
        "titles": words._reads.titles,
        "table": words._word_clusters,
        "brought": words._is_brought,
    }
    return (
        parts
        if words._word_clusters
        else parts | {"words": words.words_, "vectors": words.vectors_}
    )


def _of_parts(f: Members) -> WordVectors:
    given = f["parameters"]
    known_clusters = f["table"]
    known = isinstance(given, dict) and given.keys() <= set(
        WordVectors._get_param_names()
    )
    require(known, f"{f.where}: a WordVectors has no such parameters")
    words = WordVectors(**given)
    if f["called"] is None:
        return words
    reads = TransformerReads(f["called"], titles=f["titles"] and tuple(f["titles"]))
    if known_clusters is None:
        require(f["vectors"] is not None, f"{f.where} lacks vectors")
        return words._know(f["words"], f["vectors"], None, None, reads, f["brought"])
    are_clusters = isinstance(known_clusters, WordClusters)
    require(are_clusters, f"{f.where}.table must be of clusters")
    return words._know(
        known_clusters.words,
        np.zeros((len(known_clusters), 0), np.float32),
        known_clusters.clusters,
        known_clusters,
        reads,
        f["brought"],
    )


LEARNED = Table(
    "What WordVectors have learned",
    Field("words", distinct, of="words_"),
    Field("vectors", array("float32", "words", None, finite=True), of="vectors_"),
    Field("clusters", optional(array("int32", "words", low=0)), of="clusters_"),
    Field("table", value, of="_word_clusters", default=None),
    Field("reads", READS, of="_reads"),
    Field("brought", flag, of="_is_brought", default=False),
)

WORD_VECTORS = Table(
    "`$word_vectors`",
    Field("parameters", value),
    Field("called", string, default=None),
    Field("titles", each(string), default=None),
    Field("table", value, default=None),
    Field("brought", flag, default=False),
    Field("words", distinct, default=None),
    Field("vectors", array("float32", "words", None, finite=True), default=None),
    make=_of_parts,
)


_KIND = Kind(
    "as `$word_vectors`",
    lambda words, *how: WORD_VECTORS.write(_parts(words), *how),
    WORD_VECTORS.read,
)

savable_value("$word_vectors", WordVectors, _KIND)
