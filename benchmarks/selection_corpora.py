"""Labels that `skstruct.inspection.select` saves against sentences in random order, in
three corpora.

The first 25 sentences are drawn at random from a pool of 1,000; each round trains a
model on what is labelled, and the next 25 are chosen. Scores are those of 400 sentences
of the development set: F1 of entities and of chunks, accuracy of tags. *Random needs*
is the number of tokens labelled at the end in random order, and *select needs* at how
many the same score is reached if `select` chooses; ranges are those of the seeds.
"""

import argparse

import numpy as np

from benchmarks.common import load_conll2000, load_esp, load_ewt, table
from benchmarks.selection import CRF, curve, tokens_to
from skstruct import StructuredPerceptron
from skstruct.metrics import segment_f1_score, token_accuracy_score


def corpora():
    """Names, pools, test sets, scores, models and strategies."""
    entities = [load_esp(part) for part in ("train", "dev")]
    chunks = [load_conll2000(part) for part in ("train", "test")]
    tags = [load_ewt(part, ("weblog",)) for part in ("train", "dev")]
    perceptron = StructuredPerceptron(random_state=0)
    yield "Spanish, entities", entities, segment_f1_score, CRF, "least_confident"
    yield "English, chunks", chunks, segment_f1_score, CRF, "least_confident"
    yield "weblogs, tags", tags, token_accuracy_score, CRF, "least_confident"
    yield "weblogs, tags", tags, token_accuracy_score, perceptron, "margin"


def spread(values, digits):
    """The least and the largest value."""
    low, high = (f"{value:,.{digits}f}" for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=8)
    arguments = parser.parse_args()
    rows = []
    for name, (train, dev), score, model, strategy in corpora():
        pool = [part[:1000] for part in train]
        test = [part[:400] for part in dev]
        ends, scores, needed = [], [], []
        for seed in range(arguments.seeds):
            points = [
                curve(pool, test, options, seed, arguments.rounds, model, score)
                for options in (
                    {"strategy": "random", "diversity": 0.0},
                    {"strategy": strategy},
                )
            ]
            end, reached = points[0][-1]
            ends.append(end)
            scores.append(reached)
            needed.append(tokens_to(points[1], reached) / end)
        rows.append([
            name, f"{type(model).__name__}, {strategy}", spread(scores, 3),
            spread(ends, 0), spread(np.multiply(needed, ends), 0),
            f"{np.median(needed):.2f}",
        ])  # fmt: skip
        print(*rows[-1], flush=True)
    table(
        ["corpus", "model", "score", "random needs", "select needs", "ratio, median"],
        rows,
    )


if __name__ == "__main__":
    main()
