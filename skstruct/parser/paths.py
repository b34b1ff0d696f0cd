"""Sequences of actions: those that led to a state, the states along them, and the tree that they build."""

import numpy as np

from ..core.compile import inline
from .dependency_trees import LEFT, SHIFT
from .state_features import start_state, successor


@inline
def trace(states, x, m, stack, path, label):
    """The actions that led to a state after m of them, last to first, and their labels if it knows some."""
    k = m
    while k > 0:
        depth = 1
        stack[0] = x
        while depth > 0:
            depth -= 1
            y = stack[depth]
            k -= 1
            path[k] = states.action[y]
            if states.right[y] >= 0:
                if states.label.shape[0] > 1:
                    label[k] = states.label[states.right[y], path[k]]
                if states.left[y] > 0:  # in a root step it is the state before the first word
                    stack[depth] = states.left[y]
                    depth += 1
                stack[depth] = states.right[y]
                depth += 1
        x = states.linked[states.first[states.owner[x]]]


@inline
def retrace(path, label, m, joint, symbols, tracked, stack, rows):
    """The states along m actions: ``rows[k]`` is the one before action k."""
    start_state(rows[0])
    depth = 0
    for k in range(m):
        below, symbol = k, np.int32(0)
        if path[k] == SHIFT:
            stack[depth] = k
            depth += 1
        else:
            depth -= 1
            below = stack[depth]
            if joint:
                symbol = symbols[label[k]]
        successor(path[k], symbol, rows[below], rows[k], tracked, rows[k + 1])


@inline
def attach(path, label, m, stack, head, out):
    """The heads that m actions give, 1-based, 0 for words without one; and their labels, if any."""
    depth = k = 0
    for i in range(m):
        if path[i] == SHIFT:
            head[k] = 0
            k += 1
            stack[depth] = k
            depth += 1
            continue
        if depth < 2:  # a root step: the head stays 0
            continue
        a, b = stack[depth - 2], stack[depth - 1]
        depth -= 1
        if path[i] == LEFT:
            head[a - 1] = b
            stack[depth - 1] = b
        else:
            head[b - 1] = a
            a = b
        if out.shape[0] > 0:
            out[a - 1] = label[i]
    return k
