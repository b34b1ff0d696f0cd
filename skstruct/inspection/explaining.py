"""Why a prediction has its score, for every estimator that can say it.

Taggers are explained in :mod:`.explain_chains`; here re-rankers, word segmenters and
parsers, and what is around a tagger.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from math import fsum, inf
from typing import TYPE_CHECKING, Any, TypeAlias, cast, overload

import numpy as np

from .._core.codes import INSIDE, START
from .._data.inputs import as_sequences, describe, flatten
from .._data.schemes import words_to_labels
from .._data.segmented import as_pieces, as_words, cut, word_spans
from .._parser.dependency_trees import SHIFT, split_arcs
from .._sklearn import innermost
from .._taggers.constraints import scheme_of
from .._taggers.span_chains import chains_of, spans_by_chain
from .._words.boundaries import decisions_of_words, white_space_limits
from .._words.reranker_epoch import ABSENT, features_of_path, new_work
from .._words.word_beam import new_work as new_beam_work
from .._words.word_epoch import features_of_path as features_of_words
from .._words.word_epoch import rival_scores
from .._words.word_lattice import adapter_of, lattices_of, make_task
from .._words.word_model import make_task as make_word_task
from .explain_chains import explain_chain, runners_up
from .explain_taggers import of_one_sequence
from .explanations import ArcExplanation, Explanation, TokenExplanation, TreeExplanation
from .feature_lists import tokens_of, weight_rows
from .pictures import END, segment_reader

if TYPE_CHECKING:
    from .._data.types import Corpus
    from .._parser.shift_reduce import ShiftReduceParser
    from .._taggers.probability_tagger import Segment
    from .._training.saved import NamedWeights
    from .._words.reranker_model import RerankModel
    from .explanations import Contribution


Node: TypeAlias = tuple[int, int, str | None, Any, float]
"""A node of a lattice: the begin and end of a word, the word, its tag, and by how much
the analysis falls behind the best one in which it occurs first.
"""


@overload
def explain(
    tagger: ShiftReduceParser, sequence: Any, labels: Collection[Any] | None = ...
) -> TreeExplanation: ...


@overload
def explain(
    tagger: Any, sequence: Any, labels: Collection[Any] | None = ...
) -> Explanation: ...


def explain(
    tagger: Any, sequence: Any, labels: Collection[Any] | None = None
) -> Explanation | TreeExplanation:
    """Explain why a labelling has its score, by every contribution of every token.

    Parameters
    ----------
    tagger : fitted estimator
        A chain tagger (``StructuredPerceptron``, ``PassiveAggressiveTagger``,
        ``L1CRF``, one read by `skstruct.interchange`), an average, a mixture or a
        calibrated one, a ``Segmenter``, a ``SpanTagger``, a ``WordSegmenter``, a
        ``KBestReranker``, a ``ShiftReduceParser``, or a ``Pipeline`` or a search that
        ends in one of them.
    sequence : list of tokens, or str
        One element of what ``predict`` takes: of segmenters and span taggers a text.
    labels : list, optional
        The labelling to explain, by default the one predicted; None, or a set of
        labels, leaves the choice of a token's label to the model. Of segmenters the
        words of the text, or (word, tag) pairs; of span taggers its spans. Of
        re-rankers a path of the lattice. Of parsers a tree, as ``fit`` takes it.

    Returns
    -------
    Explanation
        Its score is that of ``decision_function``. ``print`` it for the largest
        contributions and the runner-up labels; a notebook shows bars. Of a
        ``Segmenter`` the tokens are characters; of a ``WordSegmenter`` too, their
        labels are the decisions whether a word starts there, and one entry more is the
        end of the text. Of a re-ranker over a ``Segmenter`` they are words, each with
        its tag. Of a ``SpanTagger`` the tokens are those of all pieces of the text, one
        time for each of its chains of labels. Of
        a parser a TreeExplanation: what speaks for each arc of a tree, and for reading
        its words when they were read. A given tree is built left children first; where
        the search built it in another way, that is the score of the prediction.

    Raises
    ------
    ValueError
        If the labels are not as many as the tokens, or not labels of the model; or a
        tree is not projective and the parser builds no such trees.
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
        +0.933  this word = the [U01:the]
        -0.033  the word before = (before the beginning) [U00:_B-1]
    1 'frog' -> N (+1.967; V instead: -1.967)
        +1.000  the word before = the [U00:the]
        +0.967  transition D -> N
    >>> explanation.tokens[1].transitions == [("transition D -> N", transition_weights(tagger)[0, 1])]
    True
    """
    return explanation_of(tagger, sequence, labels)


def explanation_of(
    tagger: Any, sequence: Any, labels: Collection[Any] | None, **options: Any
) -> Explanation | TreeExplanation:
    """Explain a labelling, with options; :func:`explain` says what is explained.

    ``rivals=False`` leaves out, except of trees, what would be the case with other
    labels.
    """
    with of_one_sequence(tagger, sequence):
        return _explanation_of(tagger, sequence, labels, **options)


def _explanation_of(
    tagger: Any, sequence: Any, labels: Collection[Any] | None, **options: Any
) -> Explanation | TreeExplanation:
    """Explain a labelling of what is one sequence."""
    inner, X = innermost(tagger, [sequence])
    kind = getattr(inner, "explained_as", None)
    if kind not in _EXPLAINED:
        name = type(inner).__name__
        kinds = "a tagger, a segmenter, a re-ranker or a parser"
        raise TypeError(f"explain needs {kinds}, got a {name}")
    found = _EXPLAINED[kind](inner, X, labels, **options)
    if isinstance(found, TreeExplanation) or isinstance(sequence, str):
        return found
    if not isinstance(sequence, (list, tuple)) or len(sequence) != len(found.tokens):
        return found
    # the tokens as they entered a pipeline
    tokens = [
        replace(token, token=given) for token, given in zip(found.tokens, sequence)
    ]
    return replace(found, tokens=tokens)


def _of_tagger(
    tagger: Any, sequence: Any, labels: Collection[Any] | None, **options: Any
) -> Explanation:
    """The explanation of what labels the tokens inside of another estimator."""
    return cast("Explanation", explanation_of(tagger, sequence, labels, **options))


def _explain_segmenter(
    segmenter: Any, X: Any, labels: Collection[Any] | None, **options: Any
) -> Explanation:
    """Explain the labelling of the characters that spells the words."""
    pieces = as_pieces(X)
    words, tags = (None, None) if labels is None else as_words(pieces, [labels])
    if not pieces[0]:
        return Explanation([], 0.0, [], [])
    spelled = (
        None
        if words is None
        else words_to_labels(words[0], segmenter.scheme, tags[0] if tags else None)
    )
    options |= segmenter._constraints(pieces)
    found = _of_tagger(segmenter.tagger_, list("".join(pieces[0])), spelled, **options)
    (items,) = cut(pieces, [found.labels], segmenter.scheme, segmenter.tagged_)
    return replace(found, segments=[(a, b, tag) for a, b, _, tag in word_spans(items)])


def _explain_spans(
    model: Any, X: Any, labels: Collection[Any] | None, **options: Any
) -> Explanation:
    """Explain the labellings of the pieces of a text, one behind the other."""
    chains = chains_of(model)
    given = (
        [None] * len(chains) if labels is None else spans_by_chain(model, X, [labels])
    )
    parts = [
        _explain_chain(chain, X, spans, **options)
        for chain, spans in zip(chains, given)
    ]
    if len(parts) == 1:
        return parts[0]
    n = len(parts[0].tokens)
    segments = [
        (at * n + a, at * n + b, kind)
        for at, part in enumerate(parts)
        for a, b, kind in part.segments or ()
    ]
    return Explanation(
        flatten([part.labels for part in parts]),
        fsum(part.score for part in parts),
        flatten([part.tokens for part in parts]),
        segments,
        parts[0].templates,
    )


def _explain_chain(
    model: Any, X: Any, spans: Corpus | None, **options: Any
) -> Explanation:
    """Explain the labellings of the pieces of a text by one chain."""
    pieces, spelled = model._pieces_of(X, spans)
    found = [
        _of_tagger(model.tagger_, x, spelled and spelled[p], **options)
        for p, x in enumerate(pieces.sequences(model.layout))
    ]
    placed = zip(pieces.bounds.tolist(), found)
    segments = [
        (at + a, at + b, kind)
        for at, each in placed
        for a, b, kind in each.segments or ()
    ]
    words = [X[0][a:b] for a, b in pieces.tokens.pairs()[0]]
    tokens = [
        replace(token, token=word)
        for token, word in zip(flatten([e.tokens for e in found]), words)
    ]
    score = fsum(each.score for each in found)
    labels = flatten([each.labels for each in found])
    templates = found[0].templates if found else {}
    return Explanation(labels, score, tokens, segments, templates)


def explain_reranker(
    reranker: Any, X: Any, labels: Collection[Any] | None = None, rivals: bool = True
) -> Explanation:
    """Explain a path of a lattice; :func:`explain` says more.

    ``X`` holds one sequence.
    """
    model = reranker._model
    base = reranker.base_
    adapter = adapter_of(base)
    X = adapter.check_X(X)
    (nodes,) = lattices_of(adapter, base, X, reranker.k)
    length = adapter.lengths(X)
    if not nodes:
        return Explanation([], 0.0, [])
    if labels is None:
        path, _ = _best_path(model, nodes, length)
    else:
        path = _given(adapter, X, nodes, labels)
    before = np.full(len(nodes), ABSENT, np.int32)
    before[path] = np.append(-1, path[:-1])
    task = make_task([nodes], length, model.words, model.tags)
    at, row = features_of_path(model.reranker(), task, before, new_work(task))
    score, features = _by_item(
        model, len(nodes), at, row, weight_rows(model.weights, row)[:, 0]
    )
    words = (
        [nodes[c][2] for c in path.tolist()] if adapter.finds_words else tokens_of(X)
    )
    tokens = []
    for c, word in zip(path.tolist(), words):
        rival = None
        margin = inf
        others = _without(nodes, c, int(length[0])) if rivals else None
        if others is not None:
            best, other_score = _best_path(model, others, length)
            rival = _instead(nodes[c], [others[k] for k in best])
            margin = score - other_score
        tokens.append(
            TokenExplanation(word, nodes[c][3], features[c], [], rival, margin)
        )
    labels = [token.label for token in tokens]
    return Explanation(labels, score, tokens, _segments(adapter, base, tokens, labels))


def _by_item(
    model: Any, n: int, at: np.ndarray, row: np.ndarray, value: np.ndarray
) -> tuple[float, list[list[Contribution]]]:
    """Sum up a score, and list for each of n items its features with their weights.

    Parameters
    ----------
    at, row, value : ndarrays
        Item, weight row and weight, an entry for each use of a weight.
    """
    names = _names(model.named_weights()[0], row)
    found: list[list[Contribution]] = [[] for _ in range(n)]
    for item, r, x in zip(at.tolist(), row.tolist(), value.tolist()):
        found[item].append((names[r], x))
    return fsum(value.tolist()), found


def _names(part: NamedWeights, rows: np.ndarray) -> dict[int, str]:
    """Find the names of weight rows, as {row: name}.

    They are asked for at once, since each question goes through all keys of the model.
    """
    rows = np.unique(rows)
    return dict(zip(rows.tolist(), part.names(rows)))


def _best_path(
    model: RerankModel, nodes: list[Node], length: np.ndarray
) -> tuple[np.ndarray, float]:
    """Find the nodes of the best path, and its score."""
    chosen, scores = model.choose(make_task([nodes], length, model.words, model.tags))
    return np.flatnonzero(chosen), float(scores[0])


def _given(
    adapter: Any, X: Any, nodes: list[Node], labels: Collection[Any]
) -> np.ndarray:
    """Find the nodes of a given path; a ValueError says that one does not exist."""
    X, y = adapter.check(X, [labels])
    place = {node[:4]: c for c, node in enumerate(nodes)}
    (items,) = adapter.gold(X, y)
    missing = next((item for item in items if item not in place), None)
    if missing is not None:
        what = missing[3] if missing[2] is None else (missing[2], missing[3])
        place_of = f"labels: position {missing[0]}"
        raise ValueError(
            f"{place_of}: {describe(what)} is not in the lattice of the base"
        )
    return np.array([place[item] for item in items])


def _without(nodes: list[Node], c: int, length: int) -> list[Node] | None:
    """Leave out one node, and those that only it leads to; None if no path is left."""
    others = []
    reach = {0}
    for k, node in enumerate(nodes):
        if k != c and node[0] in reach:
            others.append(node)
            reach.add(node[1])
    return others if length in reach else None


def _instead(node: Node, path: list[Node]) -> str | None:
    """Tell what another path has in the place of a node: its tag, or words."""
    begin, end, word, _, _ = node
    there = [(w, tag) for a, b, w, tag, _ in path if a < end and b > begin]
    if len(there) == 1 and there[0][0] == word:
        return there[0][1]
    return " ".join(f"{w}/{tag}" if tag else w or "" for w, tag in there)


def _segments(
    adapter: Any, base: Any, tokens: list[TokenExplanation], labels: list[Any]
) -> list[Segment] | None:
    """Return the segments of a path: its words, or what the tokens' labels spell."""
    if adapter.finds_words:
        return [(t, t + 1, token.label or "") for t, token in enumerate(tokens)]
    segments_of = segment_reader(np.asarray(base.classes_).tolist(), scheme_of(base))
    return None if segments_of is None else segments_of(labels)


_DECISIONS = {START: "start", INSIDE: "inside"}


def explain_words(
    segmenter: Any, X: Any, words: Collection[Any] | None = None, rivals: bool = True
) -> Explanation:
    """Explain a segmentation by beam search; :func:`explain` says more.

    A decision is listed with the character before which it is taken.
    """
    pieces = as_pieces(X)
    if words is None:
        (words,) = segmenter.predict(X)
    else:
        (words,), tags = as_words(pieces, [words])
        if tags is not None:
            wrong = "expected words, got (word, tag) pairs"
            raise ValueError(f"labels: {wrong}; WordSegmenter predicts no tags")
    if not words:
        return Explanation([], 0.0, [], [])
    model = segmenter._model
    characters = "".join(words)
    task = make_word_task([characters], white_space_limits(pieces))
    path = np.append(decisions_of_words([words]), np.int8(START))
    work = new_beam_work(task, model.beam)
    at, row, column = features_of_words(model.scorer(model.beam), task, path, work)
    value = weight_rows(model.weights, row)[np.arange(row.shape[0]), column]
    score, features = _by_item(model, len(path), at, row, value)
    others = (
        rival_scores(model.scorer(segmenter._beam()), task, path)[0] if rivals else {}
    )
    labels = [_DECISIONS[d] for d in path.tolist()]
    tokens = []
    for i, (token, label, listed) in enumerate(
        zip([*characters, END], labels, features)
    ):
        other = _DECISIONS[START + INSIDE - path[i]] if i in others else None
        margin = score - others[i] if i in others else inf
        tokens.append(TokenExplanation(token, label, listed, [], other, margin))
    ends = np.flatnonzero(path == START).tolist()
    return Explanation(
        labels, score, tokens, [(a, b, "") for a, b in zip(ends, ends[1:])]
    )


def explain_tree(
    parser: Any, X: Any, tree: Collection[Any] | None = None
) -> TreeExplanation:
    """Explain a tree, by default the predicted one; :func:`explain` says more."""
    model = parser._model
    (sentence,) = as_sequences(X)
    arcs = model.arcs(sentence, parser._beam(), tree)
    parts = model.named_weights()
    used = (
        [rows for arc in arcs for rows in (arc.shift_rows, arc.rows)],
        [arc.label_rows for arc in arcs],
    )
    names = (
        [_names(part, np.concatenate(rows)) for part, rows in zip(parts, used)]
        if arcs
        else []
    )
    actions, labels = (part.labels for part in parts)

    def listed(
        which: int, rows: np.ndarray, weights: np.ndarray, column: int
    ) -> list[Contribution]:
        pairs = zip(rows.tolist(), weights[:, column].tolist())
        return [(names[which][row], weight) for row, weight in pairs]

    out = []
    for token, arc in zip(sentence, arcs):
        shift = listed(
            0, arc.shift_rows, weight_rows(model.weights, arc.shift_rows), SHIFT
        )
        features = []
        others = {}
        action = None
        if arc.action != SHIFT:
            weights = weight_rows(model.weights, arc.rows)
            action = actions[arc.action]
            features = listed(0, arc.rows, weights, arc.action)
            totals = weights.sum(axis=0).tolist()
            others = {
                name: totals[a] for a, name in enumerate(actions) if a != arc.action
            }
        label_features = []
        label = None
        other = (None, inf)
        if labels:
            weights = weight_rows(model.label_weights, arc.label_rows)
            totals = weights.sum(axis=0)
            best = int(totals.argmax()) if arc.label < 0 else arc.label
            label = labels[best]
            label_features = listed(1, arc.label_rows, weights, best)
            (other,) = runners_up(totals[None], [best], float(totals[best]), labels)
        counts = model.is_joint and arc.head > 0
        given = (
            token,
            arc.head,
            label,
            action,
            features,
            label_features,
            others,
            *other,
            shift,
        )
        out.append(ArcExplanation(*given, counts))
    found = model.restore_lifted(
        [(each.head, each.label) if labels else each.head for each in out]
    )
    if (
        tree is not None
    ):  # where its labels say what was lifted, they need not say it of this tree alone
        (heads,), _ = split_arcs([tree], False)
        found = (
            [(head, label) for head, (_, label) in zip(heads, found)]
            if labels
            else heads
        )
    return TreeExplanation(found, out)


_EXPLAINED: dict[str | None, Callable[..., Explanation | TreeExplanation]] = {
    "chain": explain_chain,
    "segmenter": _explain_segmenter,
    "spans": _explain_spans,
    "words": explain_words,
    "lattice": explain_reranker,
    "tree": explain_tree,
}
"""The function that explains an estimator, by the ``explained_as`` that it declares."""
