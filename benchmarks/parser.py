"""Dependency parsing on UD English EWT: attachment scores, speed, merging, files, time
by length.
"""

import argparse
import pathlib
import tempfile
import time

import skstruct
from benchmarks.common import corpus, n_tokens, table
from benchmarks.model_size import SMALLER
from skstruct import ShiftReduceParser
from skstruct.datasets import read_conllu
from skstruct.metrics import attachment_scores

GENRES = ("answers", "email", "newsgroup", "reviews", "weblog")


def load_ewt(part, genres=GENRES):
    """Sentences of (form, PTB tag), and trees whose labels have no subtypes."""
    rows = [
        s for genre in genres for s in read_conllu(corpus(f"ewt/{part}/{genre}.conllu"))
    ]
    return (
        [[(form, tag) for form, tag, _, _ in s] for s in rows],
        [[(head, label.partition(":")[0]) for _, _, head, label in s] for s in rows],
    )


def seconds(function, *args, repetitions=3):
    """The least CPU time of a call, on one thread, and its result."""
    best, result = float("inf"), None
    for _ in range(repetitions):
        began = time.process_time()
        result = function(*args)
        best = min(best, time.process_time() - began)
    return best, result


def files(parser, X, y):
    """A row for each kind of smaller model."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "model")
        for kind, how in SMALLER.items():
            (parser if how is None else parser.compress(**how)).save(
                path, training=False
            )
            load, model = seconds(skstruct.load, path, repetitions=1)
            found = attachment_scores(y, model.predict(X))
            rows.append([
                kind, f"{path.stat().st_size / 1e6:.1f} MB", f"{load:.1f} s",
                f"{found.uas:.4f}", f"{found.las:.4f}",
            ])  # fmt: skip
    return rows


def main():
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--max-iter", type=int, default=10)
    arguments.add_argument("--templates", nargs="*", default=["hs28", "rich"])
    arguments.add_argument("--update", default="max-violation")
    options = arguments.parse_args()
    X, y = load_ewt("train")
    X_test, y_test = load_ewt("dev")
    punctuation = [[label == "punct" for _, label in tree] for tree in y_test]
    ShiftReduceParser(max_iter=1).fit(X[:20], y[:20]).predict(X_test[:20])  # compile

    print(
        "UD English EWT, all five genres; dev parts; gold PTB tags; labels without subtypes\n"
    )
    rows, merging = [], []
    for templates in options.templates:
        parser = ShiftReduceParser(
            templates, update=options.update, max_iter=options.max_iter, random_state=0
        )
        fit, _ = seconds(parser.fit, X, y, repetitions=1)
        tag, predicted = seconds(parser.predict, X_test)
        found = attachment_scores(y_test, predicted)
        inner = attachment_scores(y_test, predicted, punctuation=punctuation)
        rows.append(
            [
                templates,
                f"{100 * found.uas:.2f}",
                f"{100 * found.las:.2f}",
                f"{100 * inner.uas:.2f}",
                f"{100 * inner.las:.2f}",
                f"{100 * found.complete:.1f} %",
                f"{fit:.0f} s",
                f"{parser.n_features() / 1e6:.1f} M",
                f"{len(X_test) / tag:.0f}",
                f"{n_tokens(X_test) / tag:.0f}",
            ]
        )
        for beam in (1, 2, 4, 8, 16):
            for merge in (True, False):
                parser.set_params(
                    beam_size=beam
                )._model.merge = merge  # the same weights
                tag, predicted = seconds(parser.predict, X_test, repetitions=1)
                score = parser.decision_function(X_test).mean()
                uas = attachment_scores(y_test, predicted).uas
                merging.append(
                    [
                        templates,
                        beam,
                        "yes" if merge else "no",
                        f"{score:.3f}",
                        f"{100 * uas:.2f}",
                        f"{len(X_test) / tag:.0f}",
                    ]
                )
        parser.set_params(beam_size=8)._model.merge = True
    table(
        [
            "templates",
            "UAS",
            "LAS",
            "UAS*",
            "LAS*",
            "complete",
            "fit",
            "features",
            "sentences/s",
            "words/s",
        ],
        rows,
    )
    print(
        "\n* without punctuation. CPU time on one core, from tokens to trees, beam 8.\n"
    )
    table(
        ["templates", "beam", "merged", "mean model score", "UAS", "sentences/s"],
        merging,
    )

    print(f"\nFiles ({options.templates[-1]}, beam 8), without the state of training\n")
    table(["model", "file", "load", "UAS", "LAS"], files(parser, X_test, y_test))

    print(f"\nTime by length ({options.templates[-1]}, beam 8)\n")
    words = [word for sentence in X_test for word in sentence]
    lengths = []
    for n in (10, 30, 100, 300, 1000, 3000):
        sentences = [words[k : k + n] for k in range(0, 12_000, n)]
        took, _ = seconds(parser.predict, sentences)
        lengths.append([n, f"{1e6 * took / n_tokens(sentences):.1f} µs"])
    table(["words in a sentence", "time for a word"], lengths)


if __name__ == "__main__":
    main()
