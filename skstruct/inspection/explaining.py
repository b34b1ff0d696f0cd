"""Why a prediction has its score, for every estimator that can say it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from math import fsum
from typing import Any

from .._sklearn import innermost
from ..data.inputs import flatten
from ..data.scheme_rules import LabelTable, read_spans
from ..data.schemes import words_to_labels
from ..data.segmented import as_pieces, as_words, cut, word_spans
from .explanations import Explanation, TreeExplanation
from .of_chains import explain_chain
from .of_structures import explain_reranker, explain_tree, explain_words


def explain(
    tagger: Any, sequence: Any, labels: Collection[Any] | None = None
) -> Explanation | TreeExplanation:
    """Why a labelling has its score: every contribution of every token.

    Parameters
    ----------
    tagger : fitted estimator
        A chain tagger (``StructuredPerceptron``, ``PassiveAggressiveTagger``, ``L1CRF``, one read by
        `skstruct.interchange`), an average, a mixture or a calibrated one, a ``Segmenter``, a
        ``SpanTagger``, a ``WordSegmenter``, a ``KBestReranker``, a ``ShiftReduceParser``, or a ``Pipeline``
        or a search that ends in one of them.
    sequence : list of tokens, or str
        One element of what ``predict`` takes: of segmenters and span taggers a text.
    labels : list, optional
        The labelling to explain, by default the one predicted; None leaves the choice of a token's
        label to the model. Of segmenters the words of the text, or (word, tag) pairs; of span taggers its
        spans. Of re-rankers a path of the lattice. Of parsers a tree, as ``fit`` takes it.

    Returns
    -------
    Explanation
        Its score is that of ``decision_function``. ``print`` it for the largest
        contributions and the runner-up labels; a notebook shows bars. Of a ``Segmenter`` the tokens are
        characters; of a ``WordSegmenter`` too, their labels are the decisions whether a word starts there,
        and one entry more is the end of the text. Of a re-ranker over a ``Segmenter`` they are words, each
        with its tag. Of a ``SpanTagger`` the tokens are those of all pieces of the text. Of a parser a
        TreeExplanation: what speaks for each arc of a tree, and for reading its words when they were read.
        A given tree is built left children first; where the search built it in another way, that is the
        score of the prediction.

    Raises
    ------
    ValueError
        If the labels are not as many as the tokens, or not labels of the model; or a tree is not projective
        and the parser builds no such trees.
    TypeError
        If the estimator is of another kind.

    Examples
    --------
    >>> from skstruct import StructuredPerceptron
    >>> from skstruct.inspection import explain, transition_weights
    >>> X, y = [["the", "dog"], ["the", "cat"], ["dogs", "bark"]], [["D", "N"], ["D", "N"], ["N", "V"]]
    >>> templates = ["U00:%x[-1,0]", "U01:%x[0,0]", "B"]
    >>> tagger = StructuredPerceptron(templates, random_state=0).fit(X, y)
    >>> explanation = explain(tagger, ["the", "frog"])
    >>> print(explanation)
    score +2.867
    0 'the' -> D (+0.900; V instead: -1.867)
        +0.933  U01:the
        -0.033  U00:_B-1
    1 'frog' -> N (+1.967; V instead: -1.967)
        +1.000  U00:the
        +0.967  transition D -> N
    >>> explanation.tokens[1].transitions == [("transition D -> N", transition_weights(tagger)[0, 1])]
    True
    """
    inner, X = innermost(tagger, [sequence])
    found = _explained(inner, X, labels)
    if isinstance(found, TreeExplanation) or isinstance(sequence, str):
        return found
    if not isinstance(sequence, (list, tuple)) or len(sequence) != len(found.tokens):
        return found
    # the tokens as they entered a pipeline
    tokens = [replace(token, token=given) for token, given in zip(found.tokens, sequence)]
    return replace(found, tokens=tokens)


def _explained(inner, X, labels, **options):
    """The explanation of the only sequence of ``X``."""
    kind = getattr(inner, "explained_as", None)
    if kind not in _EXPLAINED:
        name = type(inner).__name__
        raise TypeError(f"explain needs a tagger, a segmenter, a re-ranker or a parser, got a {name}")
    return _EXPLAINED[kind](inner, X, labels, **options)


def _explain_segmenter(segmenter, X, labels):
    """The labelling of the characters that spells the words."""
    pieces = as_pieces(X)
    words, tags = (None, None) if labels is None else as_words(pieces, [labels])
    if not pieces[0]:
        return Explanation([], 0.0, [], [])
    spelled = None if words is None else words_to_labels(words[0], segmenter.scheme, tags and tags[0])
    tagger, _ = innermost(segmenter.tagger_)
    found = _explained(tagger, [list("".join(pieces[0]))], spelled, **segmenter._constraints(pieces))
    (items,) = cut(pieces, [found.labels], segmenter.scheme, segmenter.tagged_)
    return replace(found, segments=[(a, b, tag) for a, b, _, tag in word_spans(items)])


def _explain_spans(model, X, labels):
    """The labellings of the pieces of a text, one behind the other."""
    pieces, spelled = model._pieces_of(X, None if labels is None else [labels])
    tagger, _ = innermost(model.tagger_)
    found = [
        _explained(tagger, [sequence], spelled and spelled[p])
        for p, sequence in enumerate(pieces.sequences(model.layout))
    ]
    table, segments = LabelTable(), []
    for begin, each in zip(pieces.bounds.tolist(), found):
        segments += [(begin + a, begin + b, kind) for a, b, kind in read_spans(each.labels, table)]
    words = [X[0][a:b] for a, b in pieces.tokens.pairs()[0]]
    tokens = [replace(token, token=word) for token, word in zip(flatten([e.tokens for e in found]), words)]
    score = fsum(each.score for each in found)
    return Explanation(flatten([each.labels for each in found]), score, tokens, segments)


_EXPLAINED = {
    "chain": explain_chain,
    "segmenter": _explain_segmenter,
    "spans": _explain_spans,
    "words": explain_words,
    "lattice": explain_reranker,
    "tree": explain_tree,
}
"""The function that explains an estimator, by the ``explained_as`` that it declares."""
