"""The parser written down from the papers, with strings and trees instead of arrays."""

import itertools

from skstruct._parser.atoms import shape

SH, LR, RR = 0, 1, 2


class Tree:
    def __init__(self, word):
        self.word, self.left, self.right = (
            word,
            [],
            [],
        )  # children in the order of their attachment
        self.label = None


def attribute(name, sentence, k, missing):
    """An attribute of word k (0-based), or the padding."""
    if k is None or not 0 <= k < len(sentence):
        return missing
    form, tag = sentence[k]
    return {
        "w": form, "t": tag, "l": form.lower(), "x2": form[-2:], "x3": form[-3:], "f": shape(form),
    }[name]  # fmt: skip


def distance(gap):
    return gap if gap <= 5 else 6 if gap <= 10 else 7


def state_atom(name, sentence, stack, j):
    """The value of an atom in a state: a stack of trees and the number of words
    read.
    """
    if name == "d":
        return distance(stack[-1].word - stack[-2].word) if len(stack) > 1 else 0
    word, *rest = name.split(".")
    if word[0] == "q":
        return attribute(rest[0], sentence, j + int(word[1]), "</s>")
    depth = int(word[1]) + 1
    tree = stack[-depth] if len(stack) >= depth else None
    if rest[0] in ("vl", "vr"):
        return min(len({"vl": tree.left, "vr": tree.right}[rest[0]]), 7) if tree else 0
    if len(rest) == 1:
        return attribute(rest[0], sentence, tree.word if tree else None, "<s>")
    child = child_of(tree, rest[0])
    if rest[1] == "r":
        return child.label if child else "NONE"
    return attribute(rest[1], sentence, child.word if child else None, "NONE")


def child_of(tree, name):
    """A child such as "lc2", or None."""
    children = [] if tree is None else {"l": tree.left, "r": tree.right}[name[0]]
    which = 2 if name.endswith("2") else 1
    return children[-which] if len(children) >= which else None


def state_features(lines, sentence, stack, j):
    return [
        (line, tuple(state_atom(a, sentence, stack, j) for a in line.split()))
        for line in lines
    ]


def act(action, stack, j, label=None):
    """The state after an action that gives a label; stacks and trees are copied."""
    stack = [copied(tree) for tree in stack]
    if action == SH:
        return [*stack, Tree(j)], j + 1
    below, top = stack[-2:]
    (below if action == LR else top).label = label
    if action == LR:
        top.left.append(below)
        return [*stack[:-2], top], j
    below.right.append(top)
    return stack[:-1], j


def copied(tree):
    new = Tree(tree.word)
    new.left, new.right, new.label = list(tree.left), list(tree.right), tree.label
    return new


def possible(stack, j, n):
    return [SH] * (j < n) + [LR, RR] * (len(stack) >= 2)


def derivations(n):
    """All sequences of actions for n words."""

    def extend(actions, height, j):
        if len(actions) == 2 * n - 1:
            yield actions
            return
        if j < n:
            yield from extend([*actions, SH], height + 1, j + 1)
        if height >= 2:
            for a in (LR, RR):
                yield from extend([*actions, a], height - 1, j)

    return list(extend([], 0, 0))


def heads_of(actions):
    """The heads of the tree that actions build."""
    heads, stack = [], []
    for action in actions:
        if action == SH:
            heads.append(0)
            stack.append(len(heads))
        elif action == LR:
            heads[stack[-2] - 1] = stack[-1]
            del stack[-2]
        else:
            heads[stack[-1] - 1] = stack[-2]
            stack.pop()
    return heads


def gains(lines, weights, sentence, stack, j):
    """Scores of the three actions; ``weights``: {feature: three numbers}."""
    total = [0.0, 0.0, 0.0]
    for feature in state_features(lines, sentence, stack, j):
        for a, w in enumerate(weights.get(feature, ())):
            total[a] += w
    return total


def score_of(lines, weights, sentence, actions):
    """The score of a sequence of actions, feature by feature."""
    stack, j, total = [], 0, 0.0
    for action in actions:
        total += gains(lines, weights, sentence, stack, j)[action]
        stack, j = act(action, stack, j)
    return total


def greedy(lines, weights, sentence):
    stack, j, actions = [], 0, []
    while len(actions) < 2 * len(sentence) - 1:
        scores = gains(lines, weights, sentence, stack, j)
        best = max(possible(stack, j, len(sentence)), key=lambda a: (scores[a], -a))
        actions.append(best)
        stack, j = act(best, stack, j)
    return actions


def arc_features(lines, sentence, heads, k):
    """The features of the arc to word k (0-based) of a tree with 1-based heads."""
    h = heads[k] - 1
    kids = {
        p: [c for c in range(len(heads)) if heads[c] - 1 == p]
        for p in range(-1, len(heads))
    }
    g = heads[h] - 1 if h >= 0 else -1
    places = {
        "m": (k, "<s>"), "h": (h, "<s>"), "g": (g, "<s>"), "m-1": (k - 1, "<s>"),
        "m+1": (k + 1, "</s>"), "h-1": (h - 1 if h >= 0 else -1, "<s>"),
        "h+1": (h + 1, "</s>") if h >= 0 else (-1, "<s>"),
    }  # fmt: skip
    numbers = {"d": 0}
    if h >= 0:
        numbers["d"] = distance(k - h) if k > h else 8 + distance(h - k)
    for name, p in (("m", k), ("h", h)):
        left = [c for c in kids[p] if c < p] if p >= 0 else []
        right = [c for c in kids[p] if c > p] if p >= 0 else kids[-1]
        places[f"{name}.lc"] = (left[0] if left else -1, "NONE")
        places[f"{name}.rc"] = (right[-1] if right else -1, "NONE")
        numbers[f"{name}.vl"], numbers[f"{name}.vr"] = (
            min(len(left), 7),
            min(len(right), 7),
        )
    siblings = [c for c in kids[h] if c != k]
    places["sl"] = (max((c for c in siblings if c < k), default=-1), "NONE")
    places["sr"] = (min((c for c in siblings if c > k), default=-1), "NONE")

    def value(name):
        if name in numbers:
            return numbers[name]
        word, _, what = name.rpartition(".")
        place, missing = places[word]
        return attribute(what, sentence, place, missing)

    return [(line, tuple(map(value, line.split()))) for line in lines]


def reduction_features(lines, sentence, stack, j, action):
    """The features of the label of the arc that a reduction makes."""
    m, h = (stack[-2], stack[-1]) if action == LR else (stack[-1], stack[-2])
    gap = m.word - h.word
    numbers = {"d": distance(gap) if gap > 0 else 8 + distance(-gap)}
    places = {
        "m": (m.word, "<s>"), "h": (h.word, "<s>"), "m-1": (m.word - 1, "<s>"), "m+1": (m.word + 1, "</s>"),
        "h-1": (h.word - 1, "<s>"), "h+1": (h.word + 1, "</s>"), "q0": (j, "</s>"),
        "g": (stack[-3].word if len(stack) > 2 else -1, "<s>"),
    }  # fmt: skip
    labels = {}
    inner = child_of(h, "lc" if action == LR else "rc")
    near = {
        f"{name}.{c}": child_of(tree, c)
        for name, tree in (("m", m), ("h", h))
        for c in ("lc", "rc")
    }
    for name, child in {**near, "sl": inner}.items():
        places[name] = (child.word if child else -1, "NONE")
        labels[name] = child.label if child else "NONE"
    for name, tree in (("m", m), ("h", h)):
        numbers[f"{name}.vl"], numbers[f"{name}.vr"] = (
            min(len(tree.left), 7),
            min(len(tree.right), 7),
        )

    def value(name):
        word, _, what = name.rpartition(".")
        if name in numbers:
            return numbers[name]
        return labels[word] if what == "r" else attribute(what, sentence, *places[word])

    return [(line, tuple(map(value, line.split()))) for line in lines]


def joint_gains(lines, weights, sentence, stack, j, action):
    """(score, number of the label) of an action whose label is the best one; -1 for
    none.
    """
    score = gains(lines.states, weights[0], sentence, stack, j)[action]
    if action == SH:
        return score, -1
    rows = [
        weights[1].get(f)
        for f in reduction_features(lines.arcs, sentence, stack, j, action)
    ]
    totals = [sum(column) for column in zip(*filter(None, rows))] or [0.0]
    best = max(range(len(totals)), key=lambda y: (totals[y], -y))
    return score + totals[best], best


def joint_score(lines, weights, names, sentence, actions):
    """(score, labels of the words, None for the root) of actions whose labels are the
    best ones.
    """
    stack, j, total, labels = [], 0, 0.0, [None] * len(sentence)
    for action in actions:
        score, y = joint_gains(lines, weights, sentence, stack, j, action)
        if action != SH:
            labels[stack[-2 if action == LR else -1].word] = names[y]
        stack, j = act(action, stack, j, names[y] if y >= 0 else None)
        total += score
    return total, labels


def trees(n):
    """All trees of n words: lists of 1-based heads, one root, no cycle."""
    for heads in itertools.product(range(n + 1), repeat=n):
        if heads.count(0) == 1 and all(_reaches(heads, k) for k in range(1, n + 1)):
            yield list(heads)


def _reaches(heads, k):
    for _ in heads:
        k = heads[k - 1] if k else 0
    return k == 0


def is_projective(heads):
    """No two arcs cross, the one from outside to the root included."""
    arcs = [tuple(sorted((h, k))) for k, h in enumerate(heads, 1)]
    return not any(a < c < b < d for a, b in arcs for c, d in arcs)
