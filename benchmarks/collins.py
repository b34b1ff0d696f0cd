"""The experiment of Collins (2002): averaging, and a cut-off for rare features, in
trigram tagging.
"""

import argparse
import time

from benchmarks.common import corpus, load_ewt, table
from skstruct import StructuredPerceptron
from skstruct.datasets import read_conllu
from skstruct.metrics import token_accuracy_score

SETTINGS = {
    "averaged, all features": {},
    "last weights, all features": {"average": False},
    "averaged, features seen 5 times": {"min_count": 5},
    "last weights, features seen 5 times": {"average": False, "min_count": 5},
    "averaged, all features, bigrams": {"order": 1},
}


def load_wsj():
    """The treebank sample: every fifth sentence for testing."""
    rows = read_conllu(corpus("wsj-sample/all.conllu"), fields=("form", "xpos"))
    X, y = [[w for w, _ in s] for s in rows], [[t for _, t in s] for s in rows]
    test = slice(4, None, 5)
    train = [i for i in range(len(X)) if i % 5 != 4]
    return [X[i] for i in train], [y[i] for i in train], X[test], y[test]


CORPORA = {
    "wsj-sample": load_wsj,
    "ewt": lambda: (*load_ewt("train"), *load_ewt("dev")),
}


def errors(data, options, seed, epochs):
    """Token error in percent after each epoch, and the seconds of training."""
    X, y, X_test, y_test = data
    given = {
        "order": 2,
        "max_iter": 1,
        "warm_start": True,
        "random_state": seed,
        **options,
    }
    tagger = StructuredPerceptron("collins", **given)
    found, seconds = [], 0.0
    for _ in range(epochs):
        began = time.perf_counter()
        tagger.fit(X, y)
        seconds += time.perf_counter() - began
        found.append(100 * (1 - token_accuracy_score(y_test, tagger.predict(X_test))))
    return found, seconds


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "corpora", nargs="*", choices=[*CORPORA, []], help="default: all"
    )
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=10)
    arguments = parser.parse_args()
    rows = []
    for name in arguments.corpora or CORPORA:
        data = CORPORA[name]()
        for setting, options in SETTINGS.items():
            runs = [
                errors(data, options, seed, arguments.epochs)
                for seed in range(arguments.seeds)
            ]
            mean = [
                sum(errors) / len(runs) for errors in zip(*(found for found, _ in runs))
            ]
            best = min(range(len(mean)), key=mean.__getitem__)
            seconds = sum(s for _, s in runs) / len(runs)
            row = [
                name,
                setting,
                f"{mean[best]:.2f} ({best + 1})",
                f"{mean[-1]:.2f}",
                f"{seconds:.0f} s",
            ]
            print(row, flush=True)
            rows.append(row)
    table(
        [
            "corpus",
            "model",
            "error % (best epoch)",
            f"error % ({arguments.epochs})",
            "fit",
        ],
        rows,
    )


if __name__ == "__main__":
    main()
