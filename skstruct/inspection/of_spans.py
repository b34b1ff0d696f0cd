"""Spans of texts as labelled characters, which is how they are drawn and compared."""

from __future__ import annotations

from ..data.alignment_report import align_spans, labels_of
from ..data.spans import as_spans
from ..data.text import as_texts, tokenized


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
        labels.append(labels_of(align_spans(tokens, given, overlap="longest"), given, tokens.first, "BIO"))
    return list(map(list, texts)), *labels


def words_of(characters):
    """The words of a stretch of text."""
    return tokenized(["".join(characters)]).words(layout=False)
