"""The parser written down from the papers, with strings and trees instead of arrays."""

import itertools

from skstruct.parser.atoms import shape

SH, LR, RR = 0, 1, 2


class Tree:
    def __init__(self, word):
        self.word, self.left, self.right = word, [], []  # children in the order of their attachment


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
    """The value of an atom in a state: a stack of trees and the number of words read."""
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
    children = [] if tree is None else {"l": tree.left, "r": tree.right}[rest[0][0]]
    which = 2 if rest[0].endswith("2") else 1
    child = children[-which].word if len(children) >= which else None
    return attribute(rest[1], sentence, child, "NONE")


def state_features(lines, sentence, stack, j):
    return [(line, tuple(state_atom(a, sentence, stack, j) for a in line.split())) for line in lines]


def act(action, stack, j):
    """The state after an action; stacks and trees are copied."""
    stack = [copied(tree) for tree in stack]
    if action == SH:
        return [*stack, Tree(j)], j + 1
    below, top = stack[-2:]
    if action == LR:
        top.left.append(below)
        return [*stack[:-2], top], j
    below.right.append(top)
    return stack[:-1], j


def copied(tree):
    new = Tree(tree.word)
    new.left, new.right = list(tree.left), list(tree.right)
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
    kids = {p: [c for c in range(len(heads)) if heads[c] - 1 == p] for p in range(-1, len(heads))}
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
        numbers[f"{name}.vl"], numbers[f"{name}.vr"] = min(len(left), 7), min(len(right), 7)
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
