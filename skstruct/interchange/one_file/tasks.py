"""What a file predicts: labels of tokens, words of texts, or spans of texts."""

import functools

import numpy as np

from ...data.inputs import SPANS, WORDS
from ...data.scheme_rules import CLOSING, OPENING, LabelTable, are_chunks
from ...data.segmented import ENDING_WORD, STARTING_WORD
from ...data.text import TOKENIZERS, classes_of
from .refusals import refuse
from .unicode_tables import N_CODES, gaps


def task_of(estimator):
    """(name, the tagger inside, what the header says of the task by the labels of the model)."""
    if not hasattr(estimator, "tagger_"):
        return "labels", estimator, lambda labels: {}
    task = estimator.inputs.task
    if task == WORDS:
        return "words", estimator.tagger_, functools.partial(_words, estimator)
    if task == SPANS:
        return "spans", estimator.tagger_, functools.partial(_spans, estimator)
    return "labels", None, None


def _words(segmenter, labels):
    parsed = LabelTable(segmenter.scheme).parse(labels)
    closes = [prefix in ENDING_WORD for prefix, _ in parsed]
    return {
        "words": {
            "opens": [prefix in STARTING_WORD for prefix, _ in parsed],
            "closes": closes,  # a word starts behind it
            "ends": [True] * len(labels) if segmenter.scheme == "BI" else closes,  # a word may end with it
            "tags": [kind for _, kind in parsed] if segmenter.tagged_ else None,
        }
    }


def _spans(model, labels):
    if model.tokenizer not in TOKENIZERS:
        kind = "regular expression" if isinstance(model.tokenizer, str) else "function"
        refuse(f'the tokenizer is a {kind}; "words" and "characters" can be written')
    bounds, classes = _classes()
    return {
        "spans": {
            "tokenizer": model.tokenizer,
            "pieces": model.pieces_,
            "max_length": model.max_length,
            "layout": bool(model.layout),
            **_segments(labels),
            "bounds": bounds,
            "classes": classes,
        }
    }


def segments_of(labels):
    """How labels spell segments; None if they are no labels of a scheme."""
    return _segments(labels) if all(isinstance(v, str) for v in labels) and are_chunks(labels) else None


def _segments(labels):
    parsed = LabelTable().parse(labels)
    return {
        "opens": [prefix in OPENING for prefix, _ in parsed],
        "closes": [prefix in CLOSING for prefix, _ in parsed],
        "types": [None if prefix == "O" else kind for prefix, kind in parsed],
    }


@functools.cache
def _classes():
    """Where the classes of code points begin, as gaps, and the classes."""
    classes = classes_of(np.arange(N_CODES, dtype=np.uint32))
    begins = np.flatnonzero(np.diff(classes, prepend=0))
    return gaps(begins), classes[begins].tolist()
