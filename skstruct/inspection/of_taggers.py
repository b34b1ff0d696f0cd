"""The input of the chain tagger inside of a model: behind a pipeline's steps, and of texts their pieces."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._sklearn import final_step, innermost
from ..data.alignment_report import align_spans, labels_of
from ..data.inputs import as_sequences, as_tokens, flatten, lengths_of, offsets_of
from ..data.places import by_sequence
from ..data.segmented import as_pieces, as_words
from ..data.spans import as_spans
from ..data.text import as_texts, tokenized


class Seen(NamedTuple):
    """Sequences of a chain tagger, made of n sequences or texts of a model."""

    tagger: Any
    X: Any
    y: list | None  # labels of the sequences, if what the model learns was given
    of: np.ndarray  # (P,) int64: which sequence or text of the model each is made of
    n: int

    @property
    def classes(self):
        """The labels in the columns of marginals."""
        return np.asarray(innermost(self.tagger)[0].classes_)

    def grouped(self, items):
        """What there is for each token of each sequence of the tagger, joined by sequences of the model.

        Parameters
        ----------
        items : list of lists, or of ndarrays of shape (n_tokens, n_labels)

        Returns
        -------
        list of n lists, or arrays
        """
        tokens = np.bincount(self.of, lengths_of(items), self.n).astype(np.int64)
        if items and isinstance(items[0], np.ndarray):
            return np.split(np.concatenate(items), np.cumsum(tokens)[:-1])
        return by_sequence(flatten(items), offsets_of(tokens))


def seen_by_tagger(model, X, y=None):
    """The `Seen` of a fitted model: the tagger that labels tokens, and its sequences.

    Parameters
    ----------
    model : estimator
        A chain tagger, a ``Segmenter`` or ``SpanTagger``, or a pipeline or search that ends in one.
    X : list of sequences, or of texts
    y : list of lists, optional
        What the model learns: labels, words or spans.

    Raises
    ------
    TypeError
        If no tagger is inside.
    """
    model, X = final_step(model, X)
    inner, _ = innermost(model)  # averages and mixtures do not change their input
    kind, n = getattr(inner, "explained_as", None), len(X)
    if kind == "chain":
        labels = None if y is None else as_sequences(y, "y", "label")
        tagger = model.estimator_ if hasattr(model, "predict_sets") else model  # which knows probabilities
        return Seen(tagger, as_tokens(X), labels, np.arange(n), n)
    if kind == "spans":
        pieces, labels = inner._pieces_of(X, y, judging=True)
        tagger, X = final_step(inner.tagger_, pieces.sequences(inner.layout))
        return Seen(tagger, X, labels, pieces.text, n)
    if kind == "segmenter":
        pieces = as_pieces(X)
        words = None if y is None else as_words(pieces, y)
        X, y = inner._sequences(X), words and inner._labelled(pieces, *words, range(n))["y"]
        tagger, X = final_step(inner.tagger_, X)
        return Seen(tagger, X, y, np.arange(n), n)
    raise TypeError(f"a tagger, a Segmenter or a SpanTagger is needed, got a {type(inner).__name__}")


def positions_of(model, X):
    """For each sequence the position of each token, or None where positions are those of a list.

    In a text it is the token's first character.
    """
    model, X = innermost(model, X)
    if model.explained_as == "spans":
        return [[start for start, _ in pairs] for pairs in model.tokens(X)]
    if model.explained_as == "segmenter":
        return [[t for t, character in enumerate(text) if not character.isspace()] for text in X]
    return None


def as_characters(X, y, y_pred=None):
    """The texts as lists of characters, and their spans as labels of the scheme BIO.

    Labels are None where nothing is annotated. Of spans that overlap the longest are kept. ``y_pred`` may be
    None.
    """
    texts = as_texts(X)
    tokens, labels = tokenized(texts, "(?s)."), []
    for spans, name in ((y, "y"), (y_pred, "y_pred")):
        if spans is None and name == "y_pred":
            labels.append(None)
            continue
        given = as_spans(spans, texts, name)
        if name == "y":
            types = given.types
        elif any(each is not None for each in types):  # what a text does not annotate is no error
            shown = [
                [span for span in spans if kinds is None or span[2] in kinds]
                for spans, kinds in zip(given.by_text(), types)
            ]
            given = as_spans(shown, texts, name)
        labels.append(labels_of(align_spans(tokens, given, overlap="longest"), given, tokens.first, "BIO"))
    return list(map(list, texts)), *labels


def words_of(characters):
    """The words of a stretch of text."""
    return tokenized(["".join(characters)]).words(layout=False)
