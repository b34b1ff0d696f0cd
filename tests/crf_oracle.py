"""The objective of a CRF and its curvature, by listing all labellings."""

from itertools import product

import numpy as np
from crf_cases import L


def labellings(task, o, weights):
    """For each sequence its first token, and its labellings: (labels, score, margin,
    whether gold agrees).
    """
    table = {}
    for k in range(o.n_pairs):
        table[o.row[o.pair_feature][k], o.pair_label[k]] = weights[k]
    step = np.zeros((L, L))
    step[o.label_pair[:, 0], o.label_pair[:, 1]] = weights[o.n_optional :]
    step = step + o.potentials.transition
    edge = {
        tuple(p): w
        for p, w in zip(o.conditioned_pair.tolist(), weights[o.n_pairs : o.n_optional])
    }
    for i in range(task.weight.shape[0]):
        a, b = task.token[i], task.token[i + 1]
        found = []
        for y in product(range(L), repeat=int(b - a)):
            s, margin = o.potentials.start[y[0]] + o.potentials.end[y[-1]], 0.0
            for t, label in enumerate(y):
                for e in range(task.bag.start[a + t], task.bag.start[a + t + 1]):
                    x = task.bag.value[e] if task.bag.value.size else 1.0
                    s += x * table.get((task.bag.row[e], label), 0.0)
                if t:
                    s += step[y[t - 1], label]
                    if task.edges.row.shape[0] and task.edges.row[0, a + t] >= 0:
                        s += edge.get(
                            (int(task.edges.row[0, a + t]), y[t - 1], label), 0.0
                        )
                g = task.gold[a + t]
                if g >= 0 and g != label:
                    margin += o.potentials.cost[g]
            found.append(
                (
                    y,
                    s,
                    margin,
                    all(g < 0 or g == label for g, label in zip(task.gold[a:b], y)),
                )
            )
        yield a, found


def enumerated(task, o, weights):
    """The smooth part, by listing all labellings."""
    total = o.c2 * float(weights @ weights)
    for weight, (_, found) in zip(task.weight, labellings(task, o, weights)):
        free = [s + margin for _, s, margin, _ in found]
        clamped = [s for _, s, _, agrees in found if agrees]
        total += weight * (np.logaddexp.reduce(free) - np.logaddexp.reduce(clamped))
    return total


def enumerated_curvature(task, o, weights):
    """Σ weight x² p (1 - p) of features, half the expected count of transitions, and 2
    c2.
    """
    nodes, steps, edges = np.zeros((6, L)), np.zeros((L, L)), np.zeros((3, L, L))
    for weight, (a, found) in zip(task.weight, labellings(task, o, weights)):
        score = np.array([s + margin for _, s, margin, _ in found])
        p = np.exp(score - np.logaddexp.reduce(score))
        labels = np.array([y for y, *_ in found])
        for t in range(labels.shape[1]):
            marginal = np.bincount(labels[:, t], p, minlength=L)
            for e in range(task.bag.start[a + t], task.bag.start[a + t + 1]):
                x = task.bag.value[e] if task.bag.value.size else 1.0
                nodes[task.bag.row[e]] += weight * x * x * marginal * (1.0 - marginal)
            if t:
                both = np.zeros((L, L))
                np.add.at(both, (labels[:, t - 1], labels[:, t]), p)
                steps += weight * both
                if task.edges.row.shape[0] and task.edges.row[0, a + t] >= 0:
                    edges[task.edges.row[0, a + t]] += weight * both
    transitions = np.append(
        edges[tuple(o.conditioned_pair.T)], steps[tuple(o.label_pair.T)]
    )
    return (
        np.append(nodes[o.row[o.pair_feature], o.pair_label], 0.5 * transitions)
        + 2.0 * o.c2
    )
