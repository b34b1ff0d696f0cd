"""Why this label? Weights by the names of their features, and the parts that make up a path's score.

A labelling scores the sum of the weights of its features (see ``chain.bigram``). Nothing here
approximates that: :func:`explain` lists every summand of every token. Features are named as
``features.names`` says: ``U05:the/dog`` for the template ``U05:%x[-1,0]/%x[0,0]``.

Of word segmenters and parsers :func:`feature_weights` lists the weights too; paths are explained of taggers
only.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from math import fsum, inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..chain.model import ChainModel
from ..core.store import Store
from ..data.inputs import as_sequences, check_same_lengths, describe, lengths_of
from ..parser.model import ParserModel
from ..parser.trees import ACTION_NAMES
from ..words.keys import feature_labels, feature_names
from ..words.model import WordModel

__all__ = [
    "Explanation",
    "FeatureWeight",
    "TokenExplanation",
    "explain",
    "feature_weights",
    "features_of",
    "transition_weights",
]


class FeatureWeight(NamedTuple):
    """What one feature says about one label."""

    feature: str
    label: object
    weight: float


class TokenExplanation(NamedTuple):
    """What one token adds to the score of a labelling.

    Attributes
    ----------
    token, label : object
    features : list of (str, float)
        Feature and contribution: its weight for the label, times its value if it has one.
    transitions : list of (str, float)
        The same for the transition into the label: the label bigram, the trigram with ``order=2``,
        transitions conditioned on the observation, and -inf for each constraint that is broken. Empty for
        the first token, unless a constraint is.
    runner_up : object
        The label of this token in the best labelling that gives it another one; None if there is no
        such labelling.
    margin : float
        By how much that labelling falls behind, in score; negative if it is the better one, inf if
        there is none.
    """

    token: object
    label: object
    features: list[tuple[str, float]]
    transitions: list[tuple[str, float]]
    runner_up: object
    margin: float

    @property
    def score(self) -> float:
        """The sum of all contributions."""
        return fsum(value for _, value in self.features + self.transitions)


class Explanation(NamedTuple):
    """Why a labelling has the score it has; ``print`` shows the essence.

    Attributes
    ----------
    labels : list
        The labelling explained.
    score : float
        Its score, the sum of everything in ``tokens``; -inf if it breaks a constraint.
    tokens : list of TokenExplanation
    """

    labels: list[Any]
    score: float
    tokens: list[TokenExplanation]

    def describe(self, top: int = 5) -> str:
        """The explanation as text, with the ``top`` largest contributions to each token."""
        lines = [f"score {self.score:+.3f}"]
        for t, token in enumerate(self.tokens):
            head = f"{t} {_printable(_short(token.token))} -> {_printable(str(token.label))}"
            if token.margin < inf:
                other = _printable(str(token.runner_up))
                head += f" ({token.score:+.3f}; {other} instead: {-token.margin:+.3f})"
            else:
                head += f" ({token.score:+.3f}; no other label is possible)"
            lines.append(head)
            parts = [part for part in token.features + token.transitions if part[1] != 0.0]
            parts.sort(key=lambda part: -abs(part[1]))
            lines += [f"    {value:+.3f}  {_printable(name)}" for name, value in parts[:top]]
            if len(parts) > top:
                rest = fsum(value for _, value in parts[top:])
                lines.append(f"    {rest:+.3f}  {len(parts) - top} more")
        return "\n".join(lines)

    __str__ = describe


def _short(token):
    """A token in at most 40 characters."""
    text = repr(token)
    return text if len(text) <= 40 else text[:37] + "..."


def _printable(text):
    """``text`` on one line: what does not print, such as a newline, is escaped."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


# --------------------------------------------------------------------------------------------------
# Weights
# --------------------------------------------------------------------------------------------------
def _rows(store, rows):
    """Weight rows as an array of shape (len(rows), columns)."""
    if not store.sparse:
        return store.value.reshape(-1, store.columns)[rows]
    out = np.zeros((len(rows), store.columns))
    for k, row in enumerate(rows):
        segment = slice(store.first[row], store.first[row] + store.count[row])
        out[k, store.column[segment]] = store.value[segment]
    return out


def _weights(store):
    """(row, column, weight) arrays of all weights that are not zero."""
    if not store.sparse:
        places = np.flatnonzero(store.value)
        return places // store.columns, places % store.columns, store.value[places]
    row = np.repeat(np.arange(store.count.shape[0]), store.count)
    ends = np.cumsum(store.count, dtype=np.int64)
    places = np.arange(row.shape[0]) + (store.first - ends + store.count)[row]
    filled = store.value[places] != 0.0
    row, places = row[filled], places[filled]
    return row, store.column[places], store.value[places]


def feature_weights(tagger: Any, top: int | None = None, label: Any = None) -> list[FeatureWeight]:
    """The weights of a fitted model's features, largest magnitude first.

    Parameters
    ----------
    tagger : StructuredPerceptron, PassiveAggressiveTagger or another chain tagger
        Or a ``WordSegmenter``: its labels are the decisions before a character, ``"start"`` and
        ``"inside"``, or ``"word"`` with ``templates="zc14"``. Or a ``ShiftReduceParser``: its labels are
        the actions, ``"SHIFT"``, ``"LEFT"`` and ``"RIGHT"``, and those of arcs. Their features are named
        atom by atom, as in ``s0.w=dog s1.t=DT``.
    top : int, optional
        How many to return; all that are not zero by default.
    label : object, optional
        Only weights for this label.

    Returns
    -------
    list of FeatureWeight
        ``(feature, label, weight)``, without weights that are zero.

    Raises
    ------
    TypeError
        If it is another kind of model.
    ValueError
        If ``top`` is not a positive int, or the model has no such label.

    Examples
    --------
    >>> from skstruct import StructuredPerceptron
    >>> from skstruct.inspection import feature_weights
    >>> X, y = [["the", "dog"], ["the", "cat"], ["dogs", "bark"]], [["D", "N"], ["D", "N"], ["N", "V"]]
    >>> tagger = StructuredPerceptron(["U00:%x[-1,0]", "U01:%x[0,0]"], random_state=0).fit(X, y)
    >>> for feature, label, weight in feature_weights(tagger, top=2, label="V"):
    ...     print(f"{feature} {label} {weight:+.2f}")
    U00:dogs V +0.97
    U01:bark V +0.97
    """
    if top is not None and (not isinstance(top, (int, np.integer)) or isinstance(top, bool) or top < 1):
        raise ValueError(f"top must be an int of at least 1 or None, got {top!r}")
    model = _model_of(tagger, (ChainModel, WordModel, ParserModel))
    parts = _parts(model)
    values = [value for part in parts for value in part.labels]
    if label is not None and not any(type(value) is type(label) and value == label for value in values):
        raise ValueError(f"{describe(label)} is not a label of the model")
    found = []
    for part in parts:
        row, column, weight = _weights(part.store)
        if label is not None:
            mine = np.array([value == label for value in part.labels], np.bool_)[column]
            row, column, weight = row[mine], column[mine], weight[mine]
        order = np.argsort(-np.abs(weight), kind="stable")[:top]
        names = part.names(row[order])
        found += [
            FeatureWeight(name, part.labels[c], w)
            for name, c, w in zip(names, column[order].tolist(), weight[order].tolist())
        ]
    return sorted(found, key=lambda item: -abs(item.weight))[:top] if len(parts) > 1 else found


class _Part(NamedTuple):
    """Weights of one kind of feature; ``names(rows)`` lists the names of rows."""

    store: Store
    labels: list  # by column
    names: Callable


def _parts(model):
    """All weights of a model but for those of transitions."""
    if isinstance(model, WordModel):
        names = np.array(feature_names(model.templates, model.features()), object)
        return [_Part(model.weights, feature_labels(model.templates), lambda rows: names[rows].tolist())]
    if isinstance(model, ParserModel):

        def named(which):
            def names(rows):
                none = np.zeros(0, np.int64)
                features = model.features((none, rows) if which else (rows, none))[which]
                return [" ".join(map("{}={}".format, line.split(), values)) for line, values in features]

            return names

        return [
            _Part(model.weights, list(ACTION_NAMES), named(0)),
            _Part(model.label_weights, model.labels.values, named(1)),
        ]

    def names(rows):
        known = model.encoder.row_names(set(rows.tolist()))
        return [known[row] for row in rows.tolist()]

    return [_Part(model.nodes, model.labels.values, names)]


def _model_of(estimator, kinds=ChainModel):
    """The model of a fitted estimator, if it is of a kind that can be looked into."""
    check_is_fitted(estimator)
    model = getattr(estimator, "_model", None)
    if not isinstance(model, kinds):
        hint = "; use its tagger_" if hasattr(estimator, "tagger_") else ""
        others = "" if kinds is ChainModel else ", WordSegmenter or ShiftReduceParser"
        raise TypeError(f"a chain tagger{others} is needed, got a {type(estimator).__name__}{hint}")
    return model


def transition_weights(tagger: Any) -> NDArray[np.float64]:
    """The weights of label bigrams.

    Parameters
    ----------
    tagger : StructuredPerceptron, PassiveAggressiveTagger or another chain tagger

    Returns
    -------
    ndarray of shape (n_labels, n_labels), float64
        ``[previous, next]`` in the order of ``classes_``; 0 without the template ``B``. Constraints,
        transitions conditioned on the observation, and the trigrams of ``order=2`` are not part of it.

    Examples
    --------
    >>> from skstruct import StructuredPerceptron
    >>> from skstruct.inspection import transition_weights
    >>> X, y = [["a", "b", "c"], ["b", "a"]], [["N", "V", "N"], ["V", "N"]]
    >>> tagger = StructuredPerceptron(["B"], max_iter=50, random_state=0).fit(X, y)
    >>> transition_weights(tagger).shape
    (2, 2)
    """
    model = _model_of(tagger)
    L = len(model.labels)
    if not model.encoder.has_bigram:
        return np.zeros((L, L))
    return _rows(model.edges, np.arange(L)).copy()


# --------------------------------------------------------------------------------------------------
# One sequence
# --------------------------------------------------------------------------------------------------
class _Active(NamedTuple):
    """The features of one sequence: (row, value, name) for each token."""

    nodes: list
    edges: list  # rows are combinations e, which own the weight rows e * L + p


def _active(model, sequence):
    """The features of one sequence that the model knows."""
    return _Active(*model.encoder.named(model.encode([sequence])[0], sequence))


def features_of(tagger: Any, sequence: Collection[Any]) -> list[list[str]]:
    """The features of each token that a fitted tagger knows.

    Parameters
    ----------
    tagger : StructuredPerceptron, PassiveAggressiveTagger or another chain tagger
    sequence : list of tokens

    Returns
    -------
    list of list of str
        Features of the labels; those of label transitions are not listed. What was not seen in
        training, or too rarely for ``min_count``, is missing.

    Examples
    --------
    >>> from skstruct import StructuredPerceptron
    >>> from skstruct.inspection import features_of
    >>> tagger = StructuredPerceptron(["U00:%x[-1,0]", "U01:%suffix2[0,0]", "B"])
    >>> features_of(tagger.fit([["the", "dog"]], [["D", "N"]]), ["the", "frog"])
    [['U00:_B-1', 'U01:he'], ['U00:the', 'U01:og']]
    """
    model = _model_of(tagger)
    (sequence,) = as_sequences([sequence])
    return [[name for _, _, name in token] for token in _active(model, sequence).nodes]


def explain(tagger: Any, sequence: Collection[Any], labels: Collection[Any] | None = None) -> Explanation:
    """Why a labelling has its score: every contribution of every token.

    Parameters
    ----------
    tagger : StructuredPerceptron, PassiveAggressiveTagger or another chain tagger
    sequence : list of tokens
    labels : list of labels, optional
        The labelling to explain, by default the one predicted; None leaves the choice of a token's
        label to the model.

    Returns
    -------
    Explanation
        Its score is that of ``decision_function`` and ``predict_kbest``. ``print`` it for the largest
        contributions and the runner-up labels.

    Raises
    ------
    ValueError
        If the labels are not as many as the tokens, or not labels of the model.

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
    model = _model_of(tagger)
    (sequence,) = as_sequences([sequence])
    path, labels = _path(tagger, sequence, labels)
    if not len(sequence):
        return Explanation([], 0.0, [])
    active = _active(model, sequence)
    emission, transition = _scores(model, active)
    if model.order == 2:
        others, margins = _runners_up_of_pairs(
            emission, transition, _trigrams(model), model.constraints, path
        )
    else:
        others, margins = _runners_up(emission, transition, model.constraints, path)
    tokens = []
    for t, y in enumerate(path):
        weights = _rows(model.nodes, [row for row, _, _ in active.nodes[t]])[:, y].tolist()
        tokens.append(
            TokenExplanation(
                token=sequence[t],
                label=labels[t],
                features=[(n, x * w) for (_, x, n), w in zip(active.nodes[t], weights)],
                transitions=_into(model, path, t, active.edges[t]),
                runner_up=None if others[t] < 0 else model.labels.values[others[t]],
                margin=margins[t],
            )
        )
    return Explanation(labels, fsum(x for t in tokens for _, x in t.features + t.transitions), tokens)


def _label_id(labels, label, where=""):
    try:
        return labels.ids[label]
    except (KeyError, TypeError):
        raise ValueError(f"{where}{describe(label)} is not a label of the model") from None


def _path(tagger, sequence, labels):
    """(ids, labels) of the labelling to explain."""
    known = tagger._model.labels
    if labels is not None:
        (labels,) = as_sequences([labels], "labels", "label")
        check_same_lengths(lengths_of([sequence]), lengths_of([labels]))
        for t, label in enumerate(labels):
            if label is not None:
                _label_id(known, label, f"labels: position {t}: ")
    if labels is None or None in labels:
        allowed = None if labels is None else [labels]
        labels = tagger.predict([sequence], allowed=allowed)[0]
    path = [_label_id(known, label) for label in labels]
    return path, [known.values[y] for y in path]


def _scores(model, active):
    """Emissions (T, L), and transitions (1, L, L) or (T, L, L), constraints included."""
    T, L = len(active.nodes), len(model.labels)
    emission = np.zeros((T, L))
    for t, features in enumerate(active.nodes):
        values = np.array([x for _, x, _ in features])
        emission[t] = values @ _rows(model.nodes, [row for row, _, _ in features])
    shared = model.constraints[1].copy()
    if model.encoder.has_bigram:
        shared += _rows(model.edges, np.arange(L))
    if not any(active.edges):
        return emission, shared[None]
    transition = np.repeat(shared[None], T, axis=0)
    for t, features in enumerate(active.edges):
        for e, x, _ in features:
            transition[t] += x * _rows(model.edges, e * L + np.arange(L))
    return emission, transition


def _runners_up(emission, transition, constraints, path):
    """For each token the label of the best labelling that differs there, and how far it is behind.

    With α the best scores of prefixes and β those of suffixes, the best labelling that gives y to t
    scores ``α[t, y] + β[t, y]``.
    """
    T, L = emission.shape
    start, _, end = constraints
    matrix = (lambda t: transition[t]) if transition.shape[0] > 1 else (lambda t: transition[0])
    best, suffix = np.empty((T, L)), end.copy()
    best[0] = start + emission[0]
    for t in range(1, T):
        best[t] = (best[t - 1][:, None] + matrix(t)).max(axis=0) + emission[t]
    score = start[path[0]] + emission[0, path[0]] + end[path[-1]]
    for t in range(T - 1, -1, -1):
        best[t] += suffix
        suffix = (matrix(t) + (emission[t] + suffix)[None, :]).max(axis=1)
        if t:
            score += matrix(t)[path[t - 1], path[t]] + emission[t, path[t]]
    return _margins(best, path, score)


def _margins(best, path, score):
    """The best other label of each token and its margin, given the best score with each label (T, L)."""
    best[np.arange(len(path)), path] = -np.inf
    other = best.argmax(axis=1)
    reached = best[np.arange(len(path)), other]
    possible = reached > -np.inf
    margins = np.where(possible, score - np.where(possible, reached, 0.0), np.inf)
    return np.where(possible, other, -1).tolist(), margins.tolist()


def _trigrams(model):
    """Weights of label trigrams, (L + 1, L, L) [a, p, y]; a = 0 is the start of the sequence."""
    L = len(model.labels)
    return _rows(model.trigrams, np.arange(L * (L + 1))).reshape(L, L + 1, L).transpose(1, 0, 2)


def _runners_up_of_pairs(emission, transition, trigrams, constraints, path):
    """:func:`_runners_up` where prefixes and suffixes are told apart by two labels."""
    T, L = emission.shape
    start, _, end = constraints
    into = [transition[t if transition.shape[0] > 1 else 0] + emission[t] for t in range(T)]
    first = start + emission[0]
    score = first[path[0]] + end[path[-1]]
    for t in range(1, T):
        score += into[t][path[t - 1], path[t]]
        score += trigrams[path[t - 2] + 1 if t > 1 else 0, path[t - 1], path[t]]
    best = np.empty((T, L))
    if T == 1:
        best[0] = first + end
        return _margins(best, path, score)
    prefix = [None, first[:, None] + trigrams[0] + into[1]]  # [t][p, y]: y at t, p before it
    for t in range(2, T):
        prefix.append((prefix[-1][:, :, None] + trigrams[1:]).max(axis=0) + into[t])
    suffix = np.broadcast_to(end, (L, L))  # [p, y]: what follows
    for t in range(T - 1, 0, -1):
        whole = prefix[t] + suffix
        best[t] = whole.max(axis=0)
        if t == 1:
            best[0] = whole.max(axis=1)
        suffix = (trigrams[1:] + (into[t] + suffix)[None]).max(axis=2)
    return _margins(best, path, score)


def _into(model, path, t, features):
    """Contributions of the transition into token t, and of constraints broken there."""
    values, L = model.labels.values, len(model.labels)
    start, allowed, end = model.constraints
    y = path[t]
    parts = []
    if t > 0:
        p = path[t - 1]
        arrow = f"transition {values[p]} -> {values[y]}"
        if model.encoder.has_bigram:
            parts.append((arrow, float(_rows(model.edges, [p])[0, y])))
        if model.order == 2:
            a = path[t - 2] if t > 1 else -1
            before = values[a] if t > 1 else "(start)"
            weight = float(_rows(model.trigrams, [p * (L + 1) + a + 1])[0, y])
            parts.append((f"transition {before} -> {values[p]} -> {values[y]}", weight))
        for e, x, name in features:
            weight = float(_rows(model.edges, [e * L + p])[0, y])
            parts.append((f"{arrow} given {name}", x * weight))
        if allowed[p, y] != 0.0:
            parts.append((f"constraint: {values[y]} cannot follow {values[p]}", -inf))
    elif start[y] != 0.0:
        parts.append((f"constraint: {values[y]} cannot start a sequence", -inf))
    if t == len(path) - 1 and end[y] != 0.0:
        parts.append((f"constraint: {values[y]} cannot end a sequence", -inf))
    return parts
