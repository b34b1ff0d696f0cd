"""Viterbi of the programs of one file, against all labellings."""

import itertools
import random

from skstruct._one_file.python.chain import NEVER, best_before, best_of_ranked


def test_the_best_label_before():
    draw = random.Random(0)
    for _ in range(50):
        n = draw.randint(1, 4)
        before = [draw.choice([NEVER, 0.0, 1.5, -2.0]) for _ in range(n)]
        into = [[draw.choice([0.0, 1.0, -1.0]) for _ in range(n)] for _ in range(n)]
        expected = [max(b + s for b, s in zip(before, scores)) for scores in into]
        highest = list(map(max, into))
        assert best_before(before, into, highest) == expected
        ranked = sorted(zip(before, itertools.count()), reverse=True)
        assert best_of_ranked(ranked, into, highest) == expected
