"""The same dict features on both sides: skstruct against sklearn-crfsuite."""

import argparse
import time

import sklearn_crfsuite

from benchmarks.common import Stopwatch, load_conll2000, table
from benchmarks.users_road import token_features
from skstruct import StructuredPerceptron
from skstruct.metrics import segment_f1_score


def word_features(sentence):
    """The features of sklearn-crfsuite's tutorial: strings, booleans and a number."""
    return [token_features(sentence, t) for t in range(len(sentence))]


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    X, y = load_conll2000("train")
    X_test, y_test = load_conll2000("test")
    X, X_test = [word_features(s) for s in X], [word_features(s) for s in X_test]
    ours = StructuredPerceptron(max_iter=10, random_state=0)
    theirs = sklearn_crfsuite.CRF(algorithm="ap", max_iterations=10)
    ours.fit(X[:50], y[:50]).predict(X_test[:50])
    watch = Stopwatch(time.process_time)
    for _ in range(arguments.repeat):
        watch.time("their fit", theirs.fit, X, y)
        watch.time("our fit", ours.fit, X, y)
        for _ in range(3):
            a = watch.time("their tag", theirs.predict, X_test)
            b = watch.time("our tag", ours.predict, X_test)
    print("CoNLL-2000, dict features of the tutorial, 10 epochs\n")
    table(
        ["", "sklearn-crfsuite `ap`", "StructuredPerceptron", "ratio"],
        [
            [job]
            + [f"{watch.median(f'{who} {job}'):.2f} s" for who in ("their", "our")]
            + [f"{watch.ratio(f'their {job}', f'our {job}'):.1f}"]
            for job in ("fit", "tag")
        ]
        + [
            [
                "chunk F1",
                f"{segment_f1_score(y_test, a):.4f}",
                f"{segment_f1_score(y_test, b):.4f}",
                "",
            ]
        ],
    )


if __name__ == "__main__":
    main()
