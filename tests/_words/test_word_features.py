"""Features of words and characters."""

import numpy as np
from segment_oracle import decisions_of
from word_search_cases import (
    random_words,
)

from skstruct._core.codes import (
    START,
)
from skstruct._core.compile import kernel
from skstruct._words.word_features import decisions_before


@kernel
def decisions_of_state(length, before):
    return decisions_before(length, before)


def test_state_determines_the_decisions_before():
    generator = np.random.default_rng(3)
    for _ in range(50):
        words = random_words(generator, 9)
        b = decisions_of(words)
        for i in range(1, 9):
            starts = [k for k in range(i) if b[k] == START]
            length = i - starts[-1]
            before = starts[-1] - starts[-2] if len(starts) > 1 else 0
            assert decisions_of_state(length, before) == (
                b[i - 1],
                b[i - 2] if i > 1 else 2,
            )
