"""What sharding costs in accuracy: iterative parameter mixing over more and more
shards, against one.

Segmentation, part-of-speech tagging and named entities, averaged perceptrons with the
plain templates, the same rounds for all. The published figures beside which ours stand
are those of LTP for averaged perceptrons on 1 and on 8 threads.
"""

import argparse
from statistics import mean

from benchmarks.common import load_esp, load_ewt, load_sxu, table
from skstruct import ParameterMixer, StructuredPerceptron
from skstruct.metrics import segment_f1_score, token_accuracy_score, word_f1_score
from skstruct.schemes import labels_to_words

LTP = {
    "segmentation": (97.93, 97.67),
    "tagging": (98.41, 98.30),
    "entities": (94.28, 93.42),
}


def words(X, labels):
    """Segmented texts."""
    return [labels_to_words(x, of, "BMES") for x, of in zip(X, labels)]


TASKS = {
    "segmentation": (
        "SXU", "char", load_sxu, "test", lambda X, y, z: word_f1_score(words(X, y), words(X, z))
    ),
    "tagging": ("EWT", "word", load_ewt, "dev", lambda X, y, z: token_accuracy_score(y, z)),
    "entities": ("CoNLL-2002 Spanish", "word", load_esp, "test", lambda X, y, z: segment_f1_score(y, z)),
}  # fmt: skip


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shards", type=int, nargs="*", default=[1, 2, 8, 32])
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument(
        "--mixing", default="uniform", choices=["uniform", "errors", "nonzero"]
    )
    arguments = parser.parse_args()
    rows = []
    for task, (name, features, load, held_out, score) in TASKS.items():
        (X, y), (X_test, y_test) = load("train"), load(held_out)
        means = []
        for n_shards in arguments.shards:
            scores = []
            for seed in range(arguments.seeds):
                tagger = StructuredPerceptron(features, max_iter=arguments.epochs)
                mixer = ParameterMixer(
                    tagger, n_shards, mixing=arguments.mixing, random_state=seed
                )
                scores.append(
                    100 * score(X_test, y_test, mixer.fit(X, y).predict(X_test))
                )
            means.append(mean(scores))
        more = [100 * (means[0] - value) / (100 - means[0]) for value in means[1:]]
        before, after = LTP[task]
        rows.append(
            [
                f"{task} ({name})",
                *(f"{value:.2f}" for value in means),
                *(f"{value:+.1f} %" for value in more),
            ]
            + [
                f"{before:.2f} to {after:.2f}",
                f"{100 * (before - after) / (100 - before):+.1f} %",
            ]
        )
    print(
        f"{arguments.epochs} rounds, {arguments.mixing} mixture, means over {arguments.seeds} seeds\n"
    )
    table(
        ["task", *(f"{n} shards" for n in arguments.shards)]
        + [f"errors, {n} shards" for n in arguments.shards[1:]]
        + ["LTP, 1 to 8 threads", "errors"],
        rows,
    )


if __name__ == "__main__":
    main()
