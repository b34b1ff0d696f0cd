"""The out-of-fold judgements of models on texts and on sentences in columns.

A sentence whose labels are those of a scheme with types, such as ``B-PER``, is a text
of its words with a space between them, so that its segments are spans like others.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .._data.elements import word_of
from .._data.inputs import renumbered
from .._data.labels import SEVERAL
from .._data.scheme_rules import LabelTable, are_chunks, read_spans
from .._data.spans import Span, as_spans
from .._data.text import as_texts
from .._data.types import Corpus
from .._sklearn import final_step
from .error_lists import around
from .explain_taggers import seen_by_tagger, tokens_shown
from .findings import Finding
from .out_of_fold import by_fold
from .span_columns import Judged
from .span_evidence import LEAST


def judged_out_of_fold(
    look: Any, estimator: Any, X: Any, y: Corpus, *how: Any
) -> list[Judged]:
    """Let models judge the sequences that they were not trained on.

    Parameters
    ----------
    look : callable
        `judge_texts` or `judge_sentences`.
    estimator, X, y, *how
        As of :func:`.out_of_fold.by_fold`.
    """
    parts, tests = by_fold(look, estimator, X, y, *how)
    found: dict[int, Judged] = {}
    for k, (part, test) in enumerate(zip(parts, tests)):
        found.update((i, each._replace(fold=k)) for i, each in zip(test.tolist(), part))
    return [found[i] for i in range(len(X))]


def judge_texts(estimator: Any, X: Any, y: Corpus, test: np.ndarray) -> list[Judged]:
    """Ask a model of spans about the texts of a test set."""
    with renumbered(test):
        model, texts = final_step(estimator, X)
        texts = as_texts(texts)
        given = as_spans(y, texts)
        found = model.predict_segment_proba(texts, min_proba=LEAST)
        seen = seen_by_tagger(model, texts)
        marginals = seen.grouped(seen.tagger.predict_marginals(seen.X))
        tokens = model.tokens(texts)
    rows = []
    classes = seen.classes
    about = zip(texts, given.by_text(), given.types, tokens, marginals, found)
    for text, spans, types, pairs, of_tokens, probable in about:
        p = np.reshape(of_tokens, (len(pairs), len(classes)))
        inside = _inside(p, classes)
        rows.append(Judged(0, text, spans, types, pairs, inside, probable))
    return rows


def _inside(marginals: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Compute the probability of each token that it is in a span."""
    outside = [k for k, label in enumerate(classes.tolist()) if label == "O"]
    return np.clip(1.0 - marginals[:, outside].sum(axis=1), 0.0, 1.0)


# --------------------------------------------------------------------------------------
# Sentences in columns
# --------------------------------------------------------------------------------------
def segment_scheme(y: Corpus) -> str | None:
    """Return the scheme by which labels are segments that have types; None if they are
    not.
    """
    labels = {
        label
        for row in y
        if isinstance(row, Iterable)
        for label in row
        if isinstance(label, str)
    }
    if not are_chunks(labels):
        return None
    parsed = LabelTable().parse(labels)
    if not all(kind for prefix, kind in parsed if prefix != "O"):
        return None
    prefixes = {prefix for prefix, _ in parsed}
    return next((name for name in _SCHEMES if prefixes <= set(name) | {"O"}), None)


_SCHEMES = "BIO", "BIOES", "BILOU", "BMES"
"""Their names are their prefixes; segments of IOB1 are read as those of BIO."""


def judge_sentences(
    scheme: str, estimator: Any, X: Any, y: Corpus, test: np.ndarray
) -> list[Judged]:
    """Ask a model of labels, which are those of a scheme, about the sentences of a test
    set.
    """
    with renumbered(test):
        seen = seen_by_tagger(estimator, X, y)
        marginals = seen.tagger.predict_marginals(seen.X)
        found = seen.tagger.predict_segment_proba(
            seen.X, min_proba=LEAST, scheme=scheme
        )
    table = LabelTable(scheme, strict=False)
    classes = seen.classes
    rows = []
    about = zip(tokens_shown(X), seen.y or (), marginals, found)
    for x, labels, of_tokens, probable in about:
        single = [None if isinstance(each, SEVERAL) else each for each in labels]
        words = [str(word_of(token)) for token in x]
        tokens = _places(words)
        known = ["O" if label is None else label for label in single]
        spans = [_span(tokens, *each) for each in read_spans(known, table)]
        unknown = [t for t, label in enumerate(single) if label is None]
        spans += [Span(*tokens[t], None) for t in unknown]  # type: ignore[arg-type]
        spans.sort(key=lambda span: span[:2])
        asked = [(_span(tokens, *each), value) for each, value in probable]
        p = np.reshape(of_tokens, (len(tokens), len(classes)))
        inside = _inside(p, classes)
        text = " ".join(words)
        rows.append(Judged(0, text, spans, None, tokens, inside, asked))
    return rows


def _places(words: Sequence[str]) -> list[tuple[int, int]]:
    """Return where words begin and end that are joined by spaces."""
    places = []
    start = 0
    for word in words:
        places.append((start, start + len(word)))
        start += len(word) + 1
    return places


def _span(tokens: list[tuple[int, int]], start: int, stop: int, label: str) -> Span:
    return Span(tokens[start][0], tokens[stop - 1][1], label)


def in_tokens(finding: Finding, judged: Judged) -> Finding:
    """Say of a finding in the text of a sentence which tokens it means."""

    def numbers(start: int, end: int) -> tuple[int, int]:
        tokens = judged.tokens
        return (
            bisect_left(tokens, start, key=lambda token: token[0]),
            bisect_left(tokens, end, key=lambda token: token[1]) + 1,
        )

    start, end = numbers(finding.start, finding.end)
    words = [judged.text[a:b] for a, b in judged.tokens]
    other = None if finding.other is None else numbers(*finding.other)
    text = around(words, start, end)
    return finding._replace(start=start, end=end, other=other, text=text)
