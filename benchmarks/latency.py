"""Tagging a few sentences at a time, against CRFsuite: where calls, not tokens, are
what costs.

Both sides start from the same Python lists; sentences of CoNLL-2000's test part, the
nineteen chunking templates. Then calls with one sequence, under a model that CRFsuite
trained (3,000 sentences of CoNLL-2002 Spanish, the tutorial's features, c1 = c2 = 0.1,
60 iterations, all transitions), opened by ``load_crfsuite`` and by ``skstruct.compat``:
twenty sequences of n tokens, cut from the test text, the whole text in one call, and
windows of twenty sparse dicts, as GECCO tags genomes. Processor time of one thread, medians of alternating
pairs.

Why figures of such calls differ by half from one measurement to the next: a call with
five dicts takes as long as a hundred strings take to hash. Where the same objects are
tagged again, their strings have their hashes, and all of them are in the processor's
cache (*warm*); a program that makes features for each call pays both (*fresh*: copies
of all strings, made before the clock starts). CRFsuite, which encodes each string anew,
gains less from warm objects. And pairs that the model lacks were the dear ones: five
dicts of a test text have 2.4 of them under a model of CoNLL-2000 after 20 iterations
(24,085 attributes), and 5.4 under the Spanish one after 60 (8,756), where c1 has
dropped more. So both kinds are printed, under the second model.
"""

import argparse
import os
import tempfile
import time

import numpy as np
import pycrfsuite

from benchmarks.common import Stopwatch, chunk_features, load_conll2000, n_tokens, table
from benchmarks.main_job import crfsuite_fit
from benchmarks.users_road import load as load_tutorial
from skstruct import StructuredPerceptron
from skstruct.compat import pycrfsuite as compat
from skstruct.interchange import load_crfsuite

AT_ONCE = (1, 2, 4, 8, 16, 150)
LENGTHS = (5, 10, 25, 60)
PARAMETERS = {"c1": 0.1, "c2": 0.1, "feature.possible_transitions": True}


def fresh(value):
    """A token, or a list of lists of tokens, equal to another one, of new strings."""
    if isinstance(value, str):
        return f"{value} "[:-1]
    if isinstance(value, list):
        return [*map(fresh, value)]
    if isinstance(value, dict):
        return {fresh(key): fresh(inner) for key, inner in value.items()}
    return value


def as_names(token):
    """A dict as the list of the names of its features."""
    pairs = [(k, v) for k, v in token.items() if v is not False]
    return [f"{k}:{v}" if isinstance(v, str) else k for k, v in pairs]


def domains(generator, n):
    """Windows of twenty genes, each with a few of 2,000 domains, and labels."""
    y = np.repeat(generator.random((n, 5)) < 0.3, 4, axis=1)
    X = [
        [
            {f"PF{k:05}": True for k in (generator.zipf(1.3, 3) + 40 * label) % 2000}
            for label in labels
        ]
        for labels in y
    ]
    return X, [[str(int(label)) for label in labels] for labels in y]


class Opened:
    """A model file as CRFsuite, as ``load_crfsuite`` and as ``compat`` open it."""

    def __init__(self, path):
        self.theirs, self.ours = pycrfsuite.Tagger(), load_crfsuite(path)
        self.compat = compat.Tagger()
        self.theirs.open(path)
        self.compat.open(path)
        self.labels = self.theirs.labels()

    def calls(self, verb):
        """What tags one sequence, or all at once, by side."""
        if verb == "predict":
            return {
                "theirs": self.theirs.tag,
                "ours": lambda x: self.ours.predict([x]),
                "compat": self.compat.tag,
            }
        if verb == "predict all":
            return {
                "theirs": lambda X: [*map(self.theirs.tag, X)],
                "ours": self.ours.predict,
                "compat": self.compat.tag_all,
            }
        return {
            "theirs": lambda x: self.marginals(self.theirs, x),
            "ours": lambda x: self.ours.predict_marginals([x]),
            "compat": lambda x: self.compat.marginals_of_all([x]),
        }

    def marginals(self, tagger, x):
        """All marginals of a sequence."""
        tagger.set(x)
        return [[tagger.marginal(y, t) for y in self.labels] for t in range(len(x))]


def paired(calls, batch, rounds):
    """Seconds of a batch by side, one sequence a call: of warm objects, and of fresh
    ones.
    """
    watch = Stopwatch(time.process_time)
    for k in range(rounds + 1):
        for side, call in calls.items():
            for kind in ("warm", "fresh"):
                X = batch if kind == "warm" else fresh(batch)
                name = f"{side} {kind}" if k else "first"
                watch.time(name, lambda call=call, X=X: [*map(call, X)])
    return watch


def one_by_one(folder):
    """Rows of a table: one sequence a call, and all in one call."""
    path = os.path.join(folder, "model")
    X, y = load_tutorial("train")
    crfsuite_fit(X[:3000], y[:3000], list, "lbfgs", 60, path, **PARAMETERS)
    X_test = load_tutorial("test")[0]
    flat = [token for x in X_test for token in x]
    dicts, lists = flat, [*map(as_names, flat)]
    opened, rows = Opened(path), []
    jobs = [("dicts", dicts, n, "predict") for n in LENGTHS]
    jobs += [("lists of str", lists, n, "predict") for n in LENGTHS]
    jobs += [
        (kind, tokens, 10, "predict_marginals") for kind, tokens, _, _ in jobs[::4]
    ]
    for kind, tokens, n, verb in jobs:
        batch = [tokens[k : k + n] for k in range(0, 20 * n, n)]
        rows.append(row_of(f"{n} {kind}", verb, opened, batch))
    texts = {"dicts": X_test, "lists of str": [[*map(as_names, x)] for x in X_test]}
    for kind, X in texts.items():
        rows.append(row_of(f"{len(X):,} of {kind}", "predict all", opened, [X], 5))
    X, y = domains(np.random.default_rng(0), 1000)
    crfsuite_fit(X, y, list, "lbfgs", 60, path, **PARAMETERS)
    for verb in ("predict", "predict_marginals"):
        rows.append(row_of("20 sparse dicts", verb, Opened(path), X[:20]))
    return rows


def row_of(name, verb, opened, batch, rounds=99):
    """Microseconds of CRFsuite, and the shares of its time."""
    watch = paired(opened.calls(verb), batch, rounds)
    row = [name, f"`{verb}`"]
    for kind in ("warm", "fresh"):
        theirs = f"theirs {kind}"
        row.append(f"{1e6 * watch.median(theirs) / len(batch):.0f} µs")
        row += [f"{watch.ratio(f'{s} {kind}', theirs):.2f}" for s in ("ours", "compat")]
    return row


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
    print()
    with tempfile.TemporaryDirectory() as folder:
        rows = one_by_one(folder)
    header = ["one sequence, or all", "verb"]
    for kind in ("warm", "fresh"):
        header += [f"CRFsuite, {kind}", "here", "`compat`"]
    table(header, rows)


if __name__ == "__main__":
    main()
