"""Features of tokens, encoded once: templates, columns and dicts as a sparse matrix
with names.
"""

from __future__ import annotations

import os
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from .._data.corpus import STRINGS
from .._data.inputs import as_tokens, check_some, describe
from .._data.matrix import SequenceMatrix, assembled
from .._data.reads import ColumnInfo, FeatureNames
from .._data.types import Corpus, Self
from .._saving.container import require, within
from .._saving.fields import Field, Members, Table, array, integer, value, via
from .._saving.values import savable_value
from .._sklearn import POSITIVE, BaseEstimator
from .encoded import features_listed, keep_features
from .encoder_choice import encoder, new_encoder
from .sequence_transformer import SequenceTransformer
from .templates import FeatureTemplates

if TYPE_CHECKING:
    from .._data.corpus import TokenCorpus
    from .._saving.values import Reader, Writer
    from .base import Encoder
    from .encoded import Bag, Encoded


@dataclass(eq=False, repr=False)
class TokenVectorizer(SequenceTransformer, BaseEstimator):
    """Encode the features of tokens once, for all the fits of a search.

    The sparse matrix that it makes stands for the tokens: a tagger fitted on it, or on
    some of its sequences, learns what it would learn from these tokens, and a search
    spends its time on learning. Further transformers, such as a selection of features,
    may follow.

    Parameters
    ----------
    features : str, path, list of str or FeatureTemplates, default="auto"
        As of the taggers: which features tokens that are str or tuples of str have.
        Tokens that are dicts or lists of str bring their own. Of data frames the
        columns of strings are read.
    min_count : int, default=1
        Features seen fewer times in the text of ``fit`` are left out. That of a tagger
        counts anew in the sequences that it is given.

    Attributes
    ----------
    n_features_out_ : int
        Columns.

    Notes
    -----
    With ``features="auto"``, taggers take such a matrix as it is: without a bias,
    without a scale, and with label bigrams only if the templates have them. Values are
    added in the order in which the tagger would add those of the tokens, so that labels
    and scores are the same bit for bit; with dicts and lists of features the whole
    model is. A feature that a token names several times is one entry, the sum. Noise is
    drawn by feature: with templates other features are drawn. Accessor variety is that
    of the text of ``fit``.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from skstruct import StructuredPerceptron
    >>> from skstruct.features import TokenVectorizer
    >>> words = ["the dog barks", "a cat sleeps", "the cat barks"]
    >>> X = [text.split() for text in words] * 2
    >>> y = [["D", "N", "V"], ["D", "N", "V"], ["D", "N", "V"]] * 2
    >>> vectorizer = TokenVectorizer(["U0:%x[0,0]", "B"])
    >>> matrix = vectorizer.fit_transform(X)
    >>> matrix
    SequenceMatrix of 6 sequences, 18 sparse rows of 6 columns
    >>> tagger = StructuredPerceptron(random_state=0)
    >>> search = GridSearchCV(tagger, {"max_iter": [2, 5]}, cv=3)
    >>> search.fit(matrix, y).predict(vectorizer.transform([["a", "dog"]]))
    [['D', 'N']]
    >>> vectorizer.get_feature_names_out()[:2].tolist()
    ['U0:the', 'U0:dog']
    """

    _parameter_constraints = {
        "features": [str, os.PathLike, list, tuple, FeatureTemplates],
        "min_count": [POSITIVE],
    }

    features: (
        str | os.PathLike[str] | list[str] | tuple[str, ...] | FeatureTemplates
    ) = "auto"
    _: KW_ONLY
    min_count: int = 1

    n_features_out_: int = field(init=False)

    _written = "_column", "_encoder", "_used", "_names", "_column_info"

    def fit(self, X: Corpus, y: Any = None) -> Self:
        """Learn which features there are.

        Parameters
        ----------
        X : list of sequences of tokens
        y : optional
            Not looked at.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the input is wrong, the message names sequence and position; or if
            templates describe transitions (``B01:%x[0,0]``), which a matrix of tokens
            does not hold.
        """
        self._learn(X)
        return self

    def fit_transform(self, X: Corpus, y: Any = None) -> SequenceMatrix:
        """Learn which features there are, and encode the tokens, which are read once.

        Parameters
        ----------
        X, y
            As of :meth:`fit`.

        Returns
        -------
        SequenceMatrix
        """
        return self._matrix(*self._learn(X))

    def transform(self, X: Corpus) -> SequenceMatrix:
        """Encode tokens; features that were not there in :meth:`fit` are left out.

        Parameters
        ----------
        X : list of sequences of tokens

        Returns
        -------
        SequenceMatrix
            Over CSR, with the names of the features.
        """
        check_is_fitted(self)
        corpus = self._read(X)
        self._encoder.check(corpus)
        return self._matrix(self._encoder.encode(corpus, False), corpus)

    def _read(self, X: Corpus) -> TokenCorpus:
        corpus = as_tokens(X)
        if not (corpus.numbers and corpus.offsets[-1]):
            return corpus
        if corpus.like is None:
            raise ValueError(
                "X: the tokens are rows of numbers already; TokenVectorizer encodes "
                "others"
            )
        return corpus.only(
            STRINGS
        )  # of a data frame, whose columns of numbers are for others

    def _learn(self, X: Corpus) -> tuple[Encoded, TokenCorpus]:
        """Learn the encoder, and return it with the corpus: (encoded corpus, corpus)."""
        self._validate_params()
        corpus = self._read(X)
        check_some(corpus.offsets[-1])
        encoder = new_encoder(self.features, int(self.min_count), corpus)
        lines = getattr(encoder.templates, "templates", ())
        conditioned = next(
            (line.text for line in lines if line.edge and line.atoms), None
        )
        if conditioned is not None:
            text = (
                f"has templates of transitions, such as {conditioned!r}, which no "
                "matrix of tokens holds; "
            )
            text += "give the tokens to the tagger, or leave these templates out"
            raise ValueError(f"features={describe(self.features)} {text}")
        encoded = encoder.encode(corpus, True)
        used = np.unique(features_listed(encoded, corpus.offsets).row)
        template = encoder.template_of_row(encoded)
        self._know(encoder, used, np.asarray(template)[used])
        return encoded, corpus

    def _know(self, encoder: Encoder, used: np.ndarray, template: np.ndarray) -> Self:
        """Keep an encoder, those of its rows that are columns, and their templates."""
        self._column = np.full(encoder.n_node_rows, -1, np.int32)
        self._column[used] = np.arange(used.shape[0])
        self._encoder = encoder
        self._used = used
        self.n_features_out_ = used.shape[0]
        rows = used.tolist()
        self._names = FeatureNames(
            make=lambda: list(
                map(encoder.row_names(set(rows)).get, rows)  # type: ignore[arg-type]  # all have one
            )
        )
        self._column_info = ColumnInfo(encoder.has_bigram, template)
        return self

    def _to_state(self, writer: Writer, name: str) -> dict[str, Any]:
        parts = _parts(self)
        return LEARNED.write(parts, writer, name) if "encoder" in parts else {}

    @classmethod
    def _from_state(
        cls, node: Any, fitted: dict[str, Any], reader: Reader, where: str
    ) -> dict[str, Any]:
        if not node:
            return {}
        learned = LEARNED.read(node, where, Members({}, reader=reader))
        n = len(learned["used"])
        require(fitted.get("n_features_out_") == n, f"{where} must have {n} columns")
        found = cls._knowing(**learned, where=where)
        return {name: vars(found)[name] for name in cls._written}

    @classmethod
    def _knowing(
        cls, encoder: Encoder, used: np.ndarray, template: np.ndarray, where: str
    ) -> Self:
        """Return one that has learned, after a check of what it has."""
        sound = within(used, 0, encoder.n_node_rows) and (np.diff(used) > 0).all()
        require(sound, f"{where}.used: not rows of the encoder in their order")
        return cls()._know(encoder, used, template)

    def _matrix(self, encoded: Encoded, corpus: TokenCorpus) -> SequenceMatrix:
        bag = features_listed(encoded, corpus.offsets)
        bag = bag._replace(row=self._column[bag.row])
        if (
            bag.row < 0
        ).any():  # combinations that only positions outside the text of ``fit`` had
            bag = keep_features(bag, bag.row >= 0)
        start, column, value = _summed(bag) if self._encoder.may_repeat else bag
        start = start.astype(np.int32) if start[-1] < 2**31 else start
        shape = corpus.offsets[-1], self.n_features_out_
        matrix = sparse.csr_matrix((value, column, start), shape=shape, copy=False)
        return assembled(matrix, corpus.lengths, self._names, self._column_info)


def _summed(bag: Bag) -> Bag:
    """Return the features of a bag, each once a token, with the sum of its values.

    Lists and dicts may name a feature several times, as templates that share a name do.
    """
    token = np.repeat(np.arange(bag.start.shape[0] - 1), np.diff(bag.start))
    key = token << 32 | bag.row
    _, first, which = np.unique(key, return_index=True, return_inverse=True)
    if first.shape[0] == key.shape[0]:
        return bag
    used = np.zeros(key.shape[0], np.bool_)
    used[first] = True
    return keep_features(
        bag._replace(value=np.bincount(first[which], bag.value, key.shape[0])), used
    )


# --------------------------------------------------------------------------------------
# In files
# --------------------------------------------------------------------------------------
def _parts(vectorizer: TokenVectorizer) -> dict[str, Any]:
    """Return what a file has of one, by name."""
    parts = vectorizer.get_params()
    if hasattr(vectorizer, "n_features_out_"):
        used = vectorizer._used.astype(np.int32)
        template = vectorizer._column_info.template
        parts |= {
            "encoder": vectorizer._encoder,
            "used": used,
            "template": template.astype(np.int32),
        }
    return parts


def _of_parts(f: Members) -> TokenVectorizer:
    vectorizer = TokenVectorizer(f["features"], min_count=f["min_count"])
    found = f["encoder"]
    used = f["used"]
    if found is None:
        return vectorizer
    require(used is not None and f["template"] is not None, f"{f.where} lacks columns")
    learned = TokenVectorizer._knowing(found, used, f["template"], f.where)
    vectorizer.__dict__.update(
        {a: v for a, v in vars(learned).items() if a not in vectorizer.get_params()}
    )
    return vectorizer


LEARNED = Table(
    "What a TokenVectorizer has learned",
    Field("encoder", encoder),
    Field("used", array("int32", None)),
    Field("template", array("int32", "used", low=0)),
)

VECTORIZER = Table(
    "`$vectorizer`",
    Field("features", value),
    Field("min_count", integer(1)),
    Field("encoder", encoder, default=None),
    Field("used", array("int32", None), default=None),
    Field("template", array("int32", "used", low=0), default=None),
    make=_of_parts,
)

savable_value(
    "$vectorizer", TokenVectorizer, via(VECTORIZER, _parts, lambda found: found)
)
