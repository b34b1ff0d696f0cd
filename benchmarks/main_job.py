"""The main job: fit and tag from raw tokens, against CRFsuite's averaged perceptron.

Both sides start from the same Python lists and end with the same kind of lists; feature
extraction counts on both sides. Ten epochs, the same templates. Processor time of one
thread.
"""

import argparse
import os
import tempfile
import time

import pycrfsuite

from benchmarks.common import CORPORA, Stopwatch, n_tokens, table
from skstruct import PassiveAggressiveTagger, StructuredPerceptron
from skstruct.metrics import segment_f1_score, word_f1_score
from skstruct.schemes import labels_to_words


def crfsuite_fit(X, y, features, algorithm, epochs, path, **parameters):
    """Extract features and train with CRFsuite."""
    trainer = pycrfsuite.Trainer(algorithm, verbose=False)
    trainer.set_params({"max_iterations": epochs, **parameters})
    for tokens, labels in zip(X, y):
        trainer.append(features(tokens), labels)
    trainer.train(path)


def crfsuite_tag(X, features, path):
    """Extract features and tag with CRFsuite."""
    tagger = pycrfsuite.Tagger()
    tagger.open(path)
    return [tagger.tag(features(tokens)) for tokens in X]


def quality(name, X, y, predicted):
    """Word F1 for segmentation, chunk F1 else."""
    if name == "sxu":
        texts = ["".join(x) for x in X]
        words = [labels_to_words(t, labels, "BMES") for t, labels in zip(texts, y)]
        found = [
            labels_to_words(t, labels, "BMES") for t, labels in zip(texts, predicted)
        ]
        return word_f1_score(words, found)
    return segment_f1_score(y, predicted)


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", choices=sorted(CORPORA), default="sxu")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    load, features, preset = CORPORA[arguments.corpus]
    X, y = load("train")
    X_test, y_test = load("test")
    n = n_tokens(X_test)
    pairs = [
        ("ap", StructuredPerceptron(preset, max_iter=arguments.epochs, random_state=0)),
        (
            "pa",
            PassiveAggressiveTagger(preset, max_iter=arguments.epochs, random_state=0),
        ),
    ]
    for _, tagger in pairs:  # compile before measuring
        tagger.fit(X[:50], y[:50]).predict(X_test[:50])
    watch, rows, scores = Stopwatch(time.process_time), [], {}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(arguments.repeat):
            for algorithm, tagger in pairs:
                path = os.path.join(folder, algorithm)
                watch.time(
                    f"{algorithm} fit", crfsuite_fit, X, y, features, algorithm,
                    arguments.epochs, path,
                )  # fmt: skip
                watch.time(f"{algorithm} our fit", tagger.fit, X, y)
                for _ in range(3):
                    theirs = watch.time(
                        f"{algorithm} tag", crfsuite_tag, X_test, features, path
                    )
                    ours = watch.time(f"{algorithm} our tag", tagger.predict, X_test)
                scores[algorithm] = (
                    quality(arguments.corpus, X_test, y_test, theirs),
                    quality(arguments.corpus, X_test, y_test, ours),
                )
    for algorithm, tagger in pairs:
        theirs, ours = scores[algorithm]
        rows.append(
            [
                f"CRFsuite `{algorithm}` / {type(tagger).__name__}",
                f"{watch.median(algorithm + ' fit'):.1f} s",
                f"{watch.median(algorithm + ' our fit'):.2f} s",
                f"{watch.ratio(algorithm + ' fit', algorithm + ' our fit'):.1f}",
                f"{n / watch.median(algorithm + ' tag') / 1e3:.0f}k",
                f"{n / watch.median(algorithm + ' our tag') / 1e3:.0f}k",
                f"{watch.ratio(algorithm + ' tag', algorithm + ' our tag'):.1f}",
                f"{theirs:.4f}",
                f"{ours:.4f}",
            ]
        )
    print(
        f"{arguments.corpus}, {arguments.epochs} epochs, {arguments.repeat} repetitions\n"
    )
    table(
        ["pair", "their fit", "our fit", "ratio", "their tokens/s", "our tokens/s", "ratio",
         "their F1", "our F1"],
        rows,
    )  # fmt: skip
    slower = watch.ratio("pa our fit", "ap our fit")
    print(
        f"\nPassiveAggressiveTagger takes {slower:.2f} times as long to fit as StructuredPerceptron"
    )


if __name__ == "__main__":
    main()
