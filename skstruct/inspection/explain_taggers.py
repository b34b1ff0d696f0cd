"""The parts of a tagger that explanations read.

The chain tagger inside of a model reads what the steps of a pipeline make of sequences,
and pieces of texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from .._data.alignment_report import align_spans, labels_of
from .._data.inputs import (
    LABELS,
    SPANS,
    TREES,
    WORDS,
    as_sequences,
    as_tokens,
    flatten,
    is_int,
    lengths_of,
)
from .._data.places import PlaceError, by_sequence, offsets_of
from .._data.segmented import as_known_words, as_pieces
from .._data.shared import SharedTexts
from .._data.spans import as_spans
from .._data.text import as_texts, tokenized
from .._sklearn import final_step, innermost
from .._taggers.constraints import scheme_of
from .._taggers.span_chains import chains_of, has_chains, spans_by_chain
from .token_words import shown

if TYPE_CHECKING:
    from .._data.spans import Given
    from .._data.types import Corpus, Texts


class Seen(NamedTuple):
    """Sequences of a chain tagger, made of n sequences or texts of a model."""

    tagger: Any
    X: Any
    # labels of the sequences, if what the model learns was given
    y: list[list[Any]] | None
    # (P,) int64: which sequence or text of the model each is made of
    of: np.ndarray
    n: int

    @property
    def classes(self) -> np.ndarray:
        """The labels in the columns of marginals, (n_classes,)."""
        return np.asarray(innermost(self.tagger).estimator.classes_)

    def grouped(self, items: Sequence[Any]) -> list[Any]:
        """Join what there is for the tagger's tokens by the sequences of the model.

        Parameters
        ----------
        items : list of lists, or of ndarrays of shape (n_tokens, n_labels)

        Returns
        -------
        list of n lists, or arrays
        """
        tokens = np.bincount(self.of, lengths_of(items), self.n).astype(np.int64)
        arrays = items and isinstance(items[0], np.ndarray)
        return by_sequence(
            np.concatenate(items) if arrays else flatten(items), offsets_of(tokens)
        )


@contextmanager
def of_one_sequence(model: Any, sequence: Any) -> Iterator[None]:
    """Let errors inside, which say that a sequence is none, say what it may be where
    the model predicts it: a list of sequences.
    """
    try:
        yield
    except PlaceError as error:
        if not isinstance(sequence, str) and _is_corpus(model, sequence):
            raise ValueError(
                "expected one sequence, got a list of them; give one element of "
                f"it, such as X[0]; or, if it is one sequence: {error}"
            ) from None
        raise


def _is_corpus(model: Any, X: Any) -> bool:
    """Tell whether it is something that a fitted model predicts."""
    try:
        return len(model.predict(X)) > 0
    except (AttributeError, TypeError, ValueError):
        return False


def seen_by_tagger(model: Any, X: Any, y: Corpus | None = None) -> Seen:
    """Find the tagger that labels tokens inside of a fitted model, and its sequences.

    Parameters
    ----------
    model : estimator
        A chain tagger, a ``Segmenter`` or ``SpanTagger``, or a pipeline or search that
        ends in one.
    X : list of sequences, or of texts
    y : list of lists, optional
        What the model learns: labels, words or spans.

    Raises
    ------
    TypeError
        If no tagger is inside.
    """
    model, X = final_step(model, X)
    inner = innermost(
        model
    ).estimator  # averages and mixtures do not change their input
    kind = getattr(inner, "explained_as", None)
    n = len(X)
    if kind == "chain":
        labels = None if y is None else as_sequences(y, "y", "label")
        # of what predicts sets the estimator in it knows probabilities
        tagger = model.estimator_ if hasattr(model, "predict_sets") else model
        return Seen(tagger, as_tokens(X), labels, np.arange(n), n)
    if kind == "spans":
        pieces, labels = inner._pieces_of(X, y, judging=True)
        tagger, X = final_step(inner.tagger_, pieces.sequences(inner.layout))
        return Seen(tagger, X, labels, pieces.text, n)
    if kind == "segmenter":
        pieces = as_pieces(X)
        known = None if y is None else as_known_words(pieces, y)
        X = inner._sequences(X)
        y = known and inner._labelled(pieces, known, range(n), True)[1]
        tagger, X = final_step(inner.tagger_, X)
        return Seen(tagger, X, y, np.arange(n), n)
    raise TypeError(
        f"a tagger, a Segmenter or a SpanTagger is needed, got a {type(inner).__name__}"
    )


def single_chains(model: Any) -> list[Any]:
    """Return the chains of labels of a fitted model, if it is a span tagger that has
    several, each as a span tagger; else the model.
    """
    inner = innermost(model).estimator
    return chains_of(inner) if has_chains(inner) else [model]


def seen_by_chains(model: Any, X: Any, y: Corpus | None = None) -> list[Seen]:
    """Find the taggers that label tokens, as `seen_by_tagger`: one for each chain of
    labels of a span tagger, with the labels of the spans that concern it.
    """
    last, given = final_step(model, X)
    inner = innermost(last).estimator
    if not has_chains(inner):
        return [seen_by_tagger(model, X, y)]
    texts = SharedTexts(as_texts(given))
    chains = chains_of(inner)
    spans = [None] * len(chains) if y is None else spans_by_chain(inner, texts, y)
    return [seen_by_tagger(*pair) for pair in zip(chains, repeat(texts), spans)]


def positions_of(model: Any, X: Any) -> list[list[int]] | None:
    """Return for each sequence the positions of its tokens: of a text, offsets.

    None if they are those of a list; in a text a token is where its first character is.

    In a text it is the token's first character.
    """
    model, X = innermost(model, X)
    if model.explained_as == "spans":
        return [[start for start, _ in pairs] for pairs in model.tokens(X)]
    if model.explained_as == "segmenter":
        return [
            [t for t, character in enumerate(text) if not character.isspace()]
            for text in X
        ]
    return None


@overload
def as_characters(
    X: Texts, y: Corpus, y_pred: Corpus
) -> tuple[list[list[str]], list[list[Any]], list[list[Any]]]: ...


@overload
def as_characters(
    X: Texts, y: Corpus, y_pred: Corpus | None = None
) -> tuple[list[list[str]], list[list[Any]], list[list[Any]] | None]: ...


def as_characters(
    X: Texts, y: Corpus, y_pred: Corpus | None = None
) -> tuple[list[list[str]], list[list[Any]], list[list[Any]] | None]:
    """Make lists of characters of texts, and labels of the scheme BIO of their spans.

    Labels are None where nothing is annotated. Of spans that overlap the longest are
    kept. ``y_pred`` may be None.
    """
    texts = as_texts(X)
    tokens = tokenized(texts, "(?s).")
    gold = as_spans(y, texts)
    found = None

    def labels(given: Given) -> list[list[Any]]:
        return labels_of(
            align_spans(tokens, given, overlap="longest"), given, tokens.first, "BIO"
        )

    if y_pred is not None:
        both = zip(as_spans(y_pred, texts, "y_pred").by_text(), gold.types)
        # what a text does not annotate is no error
        told = [
            [span for span in spans if types is None or span.label in types]
            for spans, types in both
        ]
        found = labels(as_spans(told, texts, "y_pred"))
    return list(map(list, texts)), labels(gold), found


def words_of(characters: Sequence[str]) -> list[str]:
    """Cut a stretch of text into words."""
    return tokenized(["".join(characters)]).words(layout=False)


def kind_of(X: Any, y: Corpus) -> str:
    """Tell whether ``y`` holds labels, words, spans or trees.

    Texts are str, and have words, or (word, tag) pairs; or spans, which may all be
    missing. Trees are (head, label) pairs; or heads alone if tokens are tuples and
    every sequence of ints is a tree.
    """
    items = [item for each in y if hasattr(each, "__len__") for item in each]
    if hasattr(X, "__len__") and len(X) and all(isinstance(x, str) for x in X):
        spelled = items or not any(x.strip() for x in X)
        words = all(
            isinstance(item, str) or np.shape(item) == (2,) for item in items[:1]
        )
        return WORDS if spelled and words else SPANS
    if not items:
        return LABELS
    if all(
        isinstance(item, (tuple, list)) and len(item) == 2 and is_int(item[0])
        for item in items
    ):
        return TREES
    heads = all(map(is_int, items)) and all(
        isinstance(token, tuple) for x in X for token in x
    )
    return TREES if heads and all(map(_is_tree, y)) else LABELS


def _is_tree(heads: Iterable[Any]) -> bool:
    """Tell whether the heads lead from every token to the root."""
    above = np.array([0, *map(int, heads)])
    if above.min() < 0 or above.max() >= len(above):
        return False
    for _ in range(len(above).bit_length()):
        above = above[above]  # twice as many steps up the tree
    return not above.any()


def read_by(model: Any, X: Any, y: Corpus) -> tuple[Any, str, Any, str | None]:
    """Look inside of a model that was asked for the predictions of a corpus.

    Returns
    -------
    estimator : estimator
        The one inside.
    kind : {"labels", "words", "spans", "trees"}
        What it predicts.
    tokens : list of sequences
        What to show.
    scheme : str or None
        "IO" if the labels are of this scheme; they look like those of none.

    Of texts in a pipeline the tokens are what becomes of them.
    """
    of_texts = any(isinstance(x, str) for x in X)
    inner, given = innermost(model, X if of_texts else None)
    X = given if of_texts else X
    if not hasattr(inner, "inputs"):
        return inner, kind_of(X, y), X, None
    return inner, inner.inputs.task, X, "IO" if scheme_of(inner) == "IO" else None


def tokens_shown(X: Any, words: Any = None) -> list[list[Any]]:
    """Return lists of tokens to show, or ``words`` if they are given.

    Rows of numbers are shown as their position, features as the word in them.
    """
    X = as_tokens(X)
    if X.numbers and X.like is None and words is None:
        return [[str(t) for t in range(n)] for n in X.lengths.tolist()]
    return shown(list(X.lists()), words)
