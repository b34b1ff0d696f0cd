"""The learning rate of stochastic gradient descent where the user gives none."""

import numpy as np

from ...core.compile import kernel
from .token_features import features_of, new_row

RATE, REPETITION = 0.3, 28.0
"""The learning rate, and up to which repetition of features within sequences (see ``choose_rate``)."""


@kernel
def _repetition(token, start, feature, value, dense, row_feature, row_value, count):
    """Mean over sequences of Σ_f (Σ_t x_tf)² / T. ``count`` (F,): zeros, and zeros again at the end."""
    total, n = 0.0, 0
    for i in range(token.shape[0] - 1):
        T, squares = token[i + 1] - token[i], 0.0
        for t in range(2 * T):  # the second time to clear
            begin, end, which, values = features_of(
                start, feature, value, dense, token[i], t % T, T, row_feature, row_value
            )
            for e in range(begin, end):
                if t >= T:
                    count[which[e]] = 0.0
                    continue
                x = values[e] if values.shape[0] > 0 else 1.0
                c = count[which[e]]
                squares += x * (2.0 * c + x)
                count[which[e]] = c + x
        if T > 0:
            total += squares / T
            n += 1
    return total / max(n, 1)


def choose_rate(objective):
    """The learning rate that ``"auto"`` stands for.

    A step on a sequence changes the score of a token by the rate times what the sequence's features have in
    common with the token's. Features of nearly every token make that many times what a token has by itself,
    and steps overshoot; so they do where weights make each step as long as several.
    """
    o = objective
    repetition = _repetition(
        o.token, o.start, o.feature, o.value, o.dense, *new_row(o.dense), np.zeros(o.n_features)
    )
    weight = o.sequence_weight[o.sequence_weight > 0.0]
    longer = max(float(weight.mean()), 1.0) if weight.size else 1.0
    return RATE * REPETITION / max(repetition, REPETITION) / longer
