"""Brute-force references: slow, obvious, and written from the papers, not from the
package.

Nothing here imports ``skstruct``. Features are strings, weights are dictionaries,
decoding enumerates all labellings, averages add up complete weight vectors. A weight's
key is ``(feature, label)`` or, for features of a label transition, ``(feature,
previous, next)``; the label bigram is the feature ``"B"``. In the second order the
label trigram is ``("BB", a, p, y)``, with None for the start of the sequence.

Papers: [Z] Zhang, Su, Zhou 2014 (regularised structured perceptron); [G] Gao, Qiu,
Huang 2010 (passive-aggressive); [C] Collins 2002 (slides, theorem 1); [P] Crammer et
al. 2006.

Ties. The papers leave open which of several best labellings is taken. The oracles take
the one whose *reversed* label ids are smallest (the last label decides first), what a
Viterbi search does that prefers the smaller label everywhere; among wrong labellings
those come first that went wrong earlier, see
:func:`wrong_tie`. Where weights are not small dyadic numbers, rounding decides ties instead; the trainer
counts such decisions in ``Trained.ambiguous``, and a comparison is meaningful only if
it is 0.
"""

import itertools
import math
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass

import numpy as np

# ---------------------------------------------------------------- features of templates
MACRO = re.compile(r"%([a-zA-Z]\w*)\[\s*([-+]?\d+)\s*,\s*(\d+)\s*\]")


BIGRAM = "B"


TRIGRAM = "BB"


MARKS = "Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So".split()
"""Categories of Unicode that are punctuation or symbols."""


def apply_function(name, token):
    """The value of ``%name[...]`` for a token inside the sequence."""
    if name == "x":
        return token
    if name == "lower":
        return token.lower()
    if affix := re.fullmatch(r"(prefix|suffix)(\d+)", name):
        length = int(affix[2])
        return token[:length] if affix[1] == "prefix" else token[-length:]
    if name == "shape":
        kinds = [
            "X" if c.isupper() else "x" if c.islower() else "9" if c.isdigit() else c
            for c in token
        ]
        return "".join(
            k for i, k in enumerate(kinds) if kinds[max(0, i - 2) : i] != [k, k]
        )
    if name in ("digit", "upper", "hyphen"):
        test = {"digit": str.isdigit, "upper": str.isupper, "hyphen": "-".__eq__}[name]
        return "yes" if [c for c in token if test(c)] else "no"
    if name == "type":
        first = token[:1].translate({0xFF01 + k: 0x21 + k for k in range(94)})
        if (
            first
            and first in "〇零一二三四五六七八九十百千万亿兆两壹贰叁肆伍陆柒捌玖拾佰仟"
        ):
            return "numeral"
        if re.fullmatch("[A-Za-z]", first):
            return "letter"
        if first.isdigit():
            return "digit"
        is_mark = first and unicodedata.category(first) in MARKS
        return "punctuation" if is_mark else "other"
    raise ValueError(f"write the function {name} a second time in apply_function")


def read(sequence, position, column, function):
    """A column of a token, or the CRF++ symbol of a place outside: _B-1, _B-2 ...
    before, _B+1 ... after.

    Values of tokens start with "=", so that a token spelled "_B-1" is not a boundary.
    """
    if position < 0:
        return f"_B{position}"
    if position >= len(sequence):
        return f"_B+{position - len(sequence) + 1}"
    token = sequence[position]
    return "=" + apply_function(
        function, (token,)[column] if isinstance(token, str) else token[column]
    )


def template_string(line, sequence, t, masked=lambda position, column: False):
    """The feature of one template at position t, or None where it reads a masked token.

    The identifier is the line without offsets and columns; equal identifiers share
    features, as in CRF++.
    """
    values = []
    for function, offset, column in MACRO.findall(line):
        position = t + int(offset)
        if 0 <= position < len(sequence) and masked(position, int(column)):
            return None
        values.append(read(sequence, position, int(column), function))
    return " ".join([MACRO.sub(r"%\1", line), *map(repr, values)])


@dataclass
class Features:
    """Features of one sequence: a Counter (name -> value) for each token, and for each
    transition.
    """

    nodes: list
    edges: list  # edges[t] belongs to the transition from t - 1 to t; edges[0] is empty
    bigram_factor: dict | None = None  # noise on the label bigram, by (previous, next)
    order: int = 1
    trigram_factor: dict | None = None  # noise on the label trigram, by (a, p, y)

    def edge_value(self, name, value, previous, label):
        if name == BIGRAM and self.bigram_factor is not None:
            return value * self.bigram_factor[previous, label]
        return value

    def trigram_value(self, a, p, y):
        """What the label trigram counts; nothing in the first order."""
        if self.order == 1:
            return 0.0
        return 1.0 if self.trigram_factor is None else self.trigram_factor[a, p, y]

    def __len__(self):
        return len(self.nodes)


def template_features(lines, sequence, masked=lambda position, column: False):
    """[Z] eq. 18: a feature that reads a masked (position, column) is left out."""
    nodes, edges = [], []
    bare = any(line[0] == "B" and not MACRO.search(line) for line in lines)
    for t in range(len(sequence)):
        node, edge = Counter(), Counter()
        for line in lines:
            if line[0] == "U":
                name = template_string(line, sequence, t, masked)
                if name is not None:
                    node[name] += 1
            elif MACRO.search(line) and t > 0:
                name = template_string(line, sequence, t, masked)
                if name is not None:
                    edge[name] += 1
        if bare and t > 0:
            edge[BIGRAM] += 1
        nodes.append(node)
        edges.append(edge)
    return Features(nodes, edges)


# --------------------------------------------------------------------- bags of features
def bag_items(token):
    """(name, value) pairs of a token, as python-crfsuite's ItemSequence reads it."""
    if not isinstance(token, dict):
        return [(name, 1.0) for name in token]
    items = []
    for key, value in token.items():
        if isinstance(value, str):
            items.append((f"{key}:{value}", 1.0))
        elif isinstance(value, (dict, list, tuple, set, frozenset)):
            items.extend((f"{key}:{name}", number) for name, number in bag_items(value))
        elif isinstance(value, bool):
            if value:  # python-crfsuite keeps a feature of value 0, which adds nothing to any score
                items.append((key, 1.0))
        else:
            items.append((key, float(value)))
    return items


def bag_features(sequence):
    """Bags always have the label bigram besides."""
    nodes, edges = [], []
    for t, token in enumerate(sequence):
        node = Counter()
        for name, value in bag_items(token):
            node[name] += value
        nodes.append(node)
        edges.append(Counter({BIGRAM: 1} if t else {}))
    return Features(nodes, edges)


def occurrences(corpus):
    """How often each feature of templates occurs; a template that occurs twice counts
    twice.
    """
    nodes, edges = Counter(), Counter()
    for features in corpus:
        for node in features.nodes:
            nodes.update(node)
        for edge in features.edges:
            edges.update(edge)
    return nodes, edges


def bag_occurrences(X):
    """The same for bags, whatever the values; a value of 0 is not an occurrence."""
    items = Counter(
        name for s in X for token in s for name, value in bag_items(token) if value
    )
    return items, Counter()


def keep_frequent(corpus, min_count, counts):
    """The corpus without features that occur fewer than ``min_count`` times; the label
    bigram stays.
    """
    nodes, edges = counts
    edges = {**edges, BIGRAM: min_count}
    return [
        Features(
            [
                Counter({f: v for f, v in node.items() if nodes[f] >= min_count})
                for node in features.nodes
            ],
            [
                Counter({f: v for f, v in edge.items() if edges[f] >= min_count})
                for edge in features.edges
            ],
            order=features.order,
        )
        for features in corpus
    ]


# ------------------------------------------------------------------ scores, enumeration
def phi(features, labelling):
    """The feature vector of a labelling: a Counter of weight keys."""
    total = Counter()
    for t, label in enumerate(labelling):
        for name, value in features.nodes[t].items():
            total[name, label] += value
        if t > 0:
            for name, value in features.edges[t].items():
                value = features.edge_value(name, value, labelling[t - 1], label)
                total[name, labelling[t - 1], label] += value
            if features.order == 2:
                key = (labelling[t - 2] if t > 1 else None), labelling[t - 1], label
                total[(TRIGRAM, *key)] += features.trigram_value(*key)
    return total


def difference(features, right, wrong):
    """phi(x, right) - phi(x, wrong), without zeros."""
    delta = phi(features, right)
    for key, value in phi(features, wrong).items():
        delta[key] -= value
    return {key: value for key, value in delta.items() if value != 0}


def dot(weights, vector):
    return math.fsum(weights.get(key, 0.0) * value for key, value in vector.items())


def squared_norm(vector):
    return math.fsum(value * value for value in vector.values())


def score(features, labelling, weights):
    return dot(weights, phi(features, labelling))


@dataclass(frozen=True)
class Constraints:
    """Which labels may start, follow each other, and end; None allows everything."""

    start: frozenset | None = None
    pairs: frozenset | None = None
    end: frozenset | None = None

    def permit(self, labelling):
        return (
            (self.start is None or labelling[0] in self.start)
            and (self.end is None or labelling[-1] in self.end)
            and (
                self.pairs is None
                or all(p in self.pairs for p in zip(labelling, labelling[1:]))
            )
        )


FREE = Constraints()


def labellings(length, labels, constraints=FREE, options=None):
    """All labellings that are allowed; ``options[t]`` is None (any label) or the labels
    allowed at t.
    """
    choices = [
        [y for y in labels if options is None or options[t] is None or y in options[t]]
        for t in range(length)
    ]
    return [z for z in itertools.product(*choices) if constraints.permit(z)]


def options_of(gold):
    """What tokens may be: None (any), or a list of labels; gold holds labels, sets, and
    None.
    """
    return [
        None if g is None else sorted(g) if isinstance(g, (set, frozenset)) else [g]
        for g in gold
    ]


def agrees(labelling, gold):
    """Whether a labelling has every label that is given, or one of its set; None is not
    given.
    """
    return all(
        options is None or z in options
        for z, options in zip(labelling, options_of(gold))
    )


def cost_of(labelling, gold, costs):
    """Sum of the costs of the labels missed, of a set the least; unlabelled tokens cost
    nothing.
    """
    pairs = [
        (z, options)
        for z, options in zip(labelling, options_of(gold))
        if options is not None
    ]
    return math.fsum(
        min(costs.get(g, 0.0) for g in options)
        for z, options in pairs
        if z not in options
    )


def reversed_ids(labelling, labels):
    """The usual order of ties: the last label decides first."""
    return [labels.index(y) for y in reversed(labelling)]


def wrong_tie(gold, order=1):
    """The order of ties among labellings that contradict gold.

    From the last label backwards, as :func:`reversed_ids`; but a labelling whose
    earlier part contradicts gold already precedes one whose earlier part agrees.
    """

    def tie(labelling, labels):
        ids = [labels.index(y) for y in labelling]
        key = ids[: -1 - order : -1]
        for t in range(len(labelling) - 1, 0, -1):
            key.append(agrees(labelling[:t], gold[:t]))
            key += ids[t - order : t - order + 1] if t >= order else []
        return key

    return tie


def ranked(candidates, value, labels, tie=reversed_ids):
    """(value, labelling) pairs, best first."""
    labels = list(labels)
    pairs = [(value(z), z) for z in candidates]
    return sorted(pairs, key=lambda pair: (-pair[0], tie(pair[1], labels)))


def k_best(features, weights, labels, k, constraints=FREE, options=None):
    """Up to k (score, labelling) pairs by enumeration."""
    candidates = labellings(len(features), labels, constraints, options)
    return ranked(candidates, lambda z: score(features, z, weights), labels)[:k]


def best_completion(features, gold, weights, labels, constraints=FREE):
    best = k_best(features, weights, labels, 1, constraints, options_of(gold))
    return best[0] if best else None


def best_wrong(features, gold, weights, labels, constraints=FREE, costs=None):
    """[G] eq. 2: the best labelling that contradicts gold, by score plus cost; None if
    none does.
    """
    wrong = [
        z for z in labellings(len(features), labels, constraints) if not agrees(z, gold)
    ]
    best = ranked(
        wrong,
        lambda z: score(features, z, weights) + cost_of(z, gold, costs or {}),
        labels,
        wrong_tie(gold, features.order),
    )
    return best[0] if best else None


# -------------------------------------------------------------------- the mistake bound
def mistake_bound(corpus, labels, separator):
    """[C] theorem 1: R² / δ² for a weight dictionary that separates the corpus; None if
    it does not.
    """
    length = math.sqrt(squared_norm(separator))
    radius, delta = 0.0, math.inf
    for features, gold in corpus:
        for z in labellings(len(gold), labels):
            if z != tuple(gold):
                vector = difference(features, gold, z)
                radius = max(radius, squared_norm(vector))
                delta = min(delta, dot(separator, vector) / length)
    return radius / delta**2 if delta > 0 else None


# ------------------------------------------------------------------------- dense chains
def chain_score(emission, transition, z):
    """Score of label ids z; emission (T, L); transition (T, L, L), [t, p, q] into t, or
    (L, L).
    """
    if np.ndim(transition) == 2:
        transition = [transition] * len(z)
    return math.fsum(
        [emission[t][y] for t, y in enumerate(z)]
        + [transition[t][z[t - 1]][z[t]] for t in range(1, len(z))]
    )


def chain_ranked(emission, transition, start=None, end=None, options=None):
    """All (score, z) of a chain, best first, without those of score -inf."""
    T, L = np.shape(emission)
    pairs = []
    for z in itertools.product(range(L), repeat=T):
        if options is not None and not all(options[t][y] for t, y in enumerate(z)):
            continue
        value = chain_score(emission, transition, z)
        value += 0.0 if start is None else start[z[0]]
        value += 0.0 if end is None else end[z[-1]]
        if value > -math.inf:
            pairs.append((value, z))
    return sorted(pairs, key=lambda pair: (-pair[0], pair[1][::-1]))
