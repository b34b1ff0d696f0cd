"""Tagging a few sentences at a time, against CRFsuite: where calls, not tokens, are what costs.

Both sides start from the same Python lists; sentences of CoNLL-2000's test part, the nineteen chunking
templates. Then calls with one sequence of the tutorial's ready-made features, over words of the same text.
Processor time of one thread.
"""

import argparse
import os
import tempfile
import time

import pycrfsuite

from benchmarks.common import Stopwatch, chunk_features, load_conll2000, n_tokens, table
from benchmarks.main_job import crfsuite_fit
from benchmarks.users_road import token_features
from skstruct import StructuredPerceptron
from skstruct.interchange import load_crfsuite

AT_ONCE = (1, 2, 4, 8, 16, 150)
LENGTHS = (5, 10, 25, 60)


def ready_made(words):
    """A dict of features for each word."""
    return [token_features(words, t) for t in range(len(words))]


def as_strings(tokens):
    """The same as lists of str."""
    return [[f"{key}={value}" for key, value in token.items()] for token in tokens]


def one_by_one(X, y, X_test, repeat, folder):
    """Rows of a table: one sequence a call, of dicts and of lists, labels and marginals."""
    flat, rows = [token for x in X_test for token in x], []
    for kind, make in (
        ("dicts", ready_made),
        ("lists of str", lambda x: as_strings(ready_made(x))),
    ):
        path, theirs = os.path.join(folder, kind), pycrfsuite.Tagger()
        crfsuite_fit(X, y, make, "lbfgs", 20, path)
        theirs.open(path)
        ours, labels = load_crfsuite(path), theirs.labels()

        def marginals(x, theirs=theirs, labels=labels):
            theirs.set(x)
            return [
                [theirs.marginal(label, t) for label in labels] for t in range(len(x))
            ]

        for n in LENGTHS:
            batch = [make(flat[k : k + n]) for k in range(0, 40 * n, n)]
            for verb, call in (
                ("predict", theirs.tag),
                ("predict_marginals", marginals),
            ):
                mine, watch = getattr(ours, verb), Stopwatch(time.process_time)
                for _ in range(3 * repeat):
                    watch.time(
                        "theirs",
                        lambda call=call, batch=batch: [call(x) for x in batch],
                    )
                    watch.time(
                        "ours",
                        lambda mine=mine, batch=batch: [mine([x]) for x in batch],
                    )
                calls = [
                    f"{1e6 * watch.median(side) / len(batch):.0f} µs"
                    for side in ("theirs", "ours")
                ]
                rows.append(
                    [
                        kind,
                        n,
                        f"`{verb}`",
                        *calls,
                        f"{watch.ratio('ours', 'theirs'):.2f}",
                    ]
                )
    return rows


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--sentences", type=int, default=600, help="of the test part, for each row"
    )
    parser.add_argument(
        "--longest", type=int, default=1000, help="tokens of a sentence"
    )
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    X, y = load_conll2000("train")
    X_test = [x for x in load_conll2000("test")[0] if len(x) <= arguments.longest][
        : arguments.sentences
    ]
    ours = StructuredPerceptron("chunk", random_state=0).fit(X, y)
    theirs = pycrfsuite.Tagger()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        crfsuite_fit(X, y, chunk_features, "ap", 10, path)
        theirs.open(path)

    def tag_theirs(batches):
        for batch in batches:
            for tokens in batch:
                theirs.tag(chunk_features(tokens))

    def tag_ours(batches):
        for batch in batches:
            ours.predict(batch)

    rows = []
    for size in AT_ONCE:
        batches = [X_test[k : k + size] for k in range(0, len(X_test), size)]
        watch = Stopwatch(time.process_time)
        for _ in range(arguments.repeat):
            watch.time("theirs", tag_theirs, batches)
            watch.time("ours", tag_ours, batches)
        calls = [
            f"{1e3 * watch.median(side) / len(batches):.2f} ms"
            for side in ("theirs", "ours")
        ]
        rows.append([size, *calls, f"{watch.ratio('theirs', 'ours'):.2f}"])
    print(f"sentences of {n_tokens(X_test) / len(X_test):.1f} tokens on average\n")
    table(["sentences at once", "CRFsuite", "`predict`", "ratio"], rows)
    with tempfile.TemporaryDirectory() as folder:
        rows = one_by_one(X[:2000], y[:2000], X_test, arguments.repeat, folder)
    print()
    table(["tokens", "length", "verb", "CRFsuite", "here", "of CRFsuite's time"], rows)


if __name__ == "__main__":
    main()
