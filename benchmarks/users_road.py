"""What a script written for sklearn-crfsuite does, as its tutorial: dicts, CoNLL-2002
Spanish.

Both sides get the same dicts, made before. Processor time of one thread on both sides,
the best of several runs that take turns; what is quoted are ratios.
"""

import argparse
import pathlib
import statistics
import tempfile
import time
import warnings

import sklearn_crfsuite

import skstruct
from benchmarks.common import Stopwatch, corpus, n_tokens, read_columns, table
from skstruct import L1CRF, PassiveAggressiveTagger, StructuredPerceptron
from skstruct.interchange import load_crfsuite
from skstruct.metrics import segment_f1_score

LENGTH = 9
"""Tokens of the sentences that are tagged one at a time."""


def token_features(sentence, t):
    """The features of one token, to the letter of the tutorial."""
    word, tag = sentence[t]
    features = {
        "bias": 1.0,
        "word.lower()": word.lower(),
        "word[-3:]": word[-3:],
        "word[-2:]": word[-2:],
        "word.isupper()": word.isupper(),
        "word.istitle()": word.istitle(),
        "word.isdigit()": word.isdigit(),
        "postag": tag,
        "postag[:2]": tag[:2],
    }
    if t > 0:
        word, tag = sentence[t - 1]
        features.update({
            "-1:word.lower()": word.lower(),
            "-1:word.istitle()": word.istitle(),
            "-1:word.isupper()": word.isupper(),
            "-1:postag": tag,
            "-1:postag[:2]": tag[:2],
        })  # fmt: skip
    else:
        features["BOS"] = True
    if t < len(sentence) - 1:
        word, tag = sentence[t + 1]
        features.update({
            "+1:word.lower()": word.lower(),
            "+1:word.istitle()": word.istitle(),
            "+1:word.isupper()": word.isupper(),
            "+1:postag": tag,
            "+1:postag[:2]": tag[:2],
        })  # fmt: skip
    else:
        features["EOS"] = True
    return features


def load(part):
    """Dicts and labels of a part of the corpus."""
    rows = read_columns(corpus(f"conll2002-esp/{part}.txt"))
    sentences = [[(row[0], row[1]) for row in sentence] for sentence in rows]
    X = [
        [token_features(sentence, t) for t in range(len(sentence))]
        for sentence in sentences
    ]
    return X, [[row[-1] for row in sentence] for sentence in rows]


def crfsuite(iterations):
    """The tutorial's CRF."""
    return sklearn_crfsuite.CRF(
        algorithm="lbfgs",
        c1=0.1,
        c2=0.1,
        max_iterations=iterations,
        all_possible_transitions=True,
    )


def best(watch, name):
    """The least time of something, in seconds."""
    return min(watch.seconds[name])


def row(watch, name, unit=1.0, digits=2):
    """A line of the table: theirs, ours, how many times as long theirs takes."""
    theirs, ours = best(watch, f"{name}, theirs"), best(watch, f"{name}, ours")
    return [
        name,
        f"{theirs * unit:.{digits}f}",
        f"{ours * unit:.{digits}f}",
        f"{theirs / ours:.2f}",
    ]


def tagging(X, y, X_test, arguments):
    """Tag the test part in one call, and short sentences one at a time."""
    theirs = crfsuite(arguments.passes).fit(X, y)
    ours = L1CRF(
        c1=0.1,
        c2=0.1,
        all_pairs="transitions",
        max_iter=arguments.passes,
        n_jobs=1,
        random_state=0,
    ).fit(X, y)
    short = 20 * [x for x in X_test if len(x) == LENGTH]
    ours.predict(X_test[:10])
    tag = theirs.tagger_.tag
    watch = Stopwatch(time.process_time)
    for _ in range(5 * arguments.repeat):
        watch.time("all at once, s, theirs", theirs.predict, X_test)
        watch.time("all at once, s, ours", ours.predict, X_test)
        watch.time("one at a time, ms, theirs", lambda: [tag(x) for x in short])
        watch.time(
            "one at a time, ms, ours", lambda: [ours.predict([x]) for x in short]
        )
    print(
        f"\ntagging: {n_tokens(X_test):,} tokens; one at a time: {len(short)} sentences of {LENGTH} tokens\n"
    )
    header = ["", "CRFsuite", "L1CRF", "ratio"]
    table(
        header,
        [
            row(watch, "all at once, s", 1, 3),
            row(watch, "one at a time, ms", 1e3 / len(short), 4),
        ],
    )


def nested(sequences):
    """The same features by the token that they look at, as ``{"-1": {"postag": "DA"},
    ...}``.
    """
    out = []
    for x in sequences:
        out.append([{"": {}, "-1": {}, "+1": {}} for _ in x])
        for token, features in zip(out[-1], x):
            for name, value in features.items():
                if name[:3] in ("-1:", "+1:"):
                    token[name[:2]][name[3:]] = value
                else:
                    token[""][name] = value
    return out


def imported(X, y, X_test, arguments):
    """Tag nested dicts with a model that CRFsuite has trained, there and here."""
    X, X_test = nested(X), nested(X_test)
    theirs = crfsuite(arguments.passes).fit(X, y)
    ours = load_crfsuite(theirs.modelfile.name)
    assert all(
        map(list.__eq__, ours.predict(X_test), map(list, theirs.predict(X_test)))
    )
    tagger = theirs.tagger_
    watch = Stopwatch(time.process_time)
    for _ in range(3 * arguments.repeat):
        watch.time("nested, all at once, s, theirs", theirs.predict, X_test)
        watch.time("nested, all at once, s, ours", ours.predict, X_test)
        watch.time(
            "nested, one at a time, ms, theirs", lambda: [tagger.tag(x) for x in X_test]
        )
        watch.time(
            "nested, one at a time, ms, ours",
            lambda: [ours.predict([x]) for x in X_test],
        )
    print(
        f"\na model of CRFsuite: {n_tokens(X_test):,} tokens in {len(X_test):,} sentences\n"
    )
    per_sentence = 1e3 / len(X_test)
    table(
        ["", "CRFsuite", "L1CRF", "ratio"],
        [
            row(watch, "nested, all at once, s", 1, 3),
            row(watch, "nested, one at a time, ms", per_sentence, 4),
        ],
    )


def online(X, y, X_test, y_test, arguments):
    """Fit perceptron and passive-aggressive learner, dicts to model."""
    watch, scores = Stopwatch(time.process_time), {}
    for algorithm, learner in (
        ("ap", StructuredPerceptron),
        ("pa", PassiveAggressiveTagger),
    ):
        theirs = sklearn_crfsuite.CRF(
            algorithm=algorithm, max_iterations=arguments.epochs
        )
        ours = learner(max_iter=arguments.epochs, random_state=0)
        ours.fit(X[:50], y[:50]).predict(X_test[:10])
        for _ in range(arguments.repeat):
            watch.time(f"{algorithm}, s, theirs", theirs.fit, X, y)
            watch.time(f"{algorithm}, s, ours", ours.fit, X, y)
        scores[algorithm] = [
            f"{segment_f1_score(y_test, m.predict(X_test)):.4f}" for m in (theirs, ours)
        ]
    print(f"\nfit, {arguments.epochs} epochs\n")
    header = ["", "CRFsuite", "skstruct", "ratio", "their F1", "our F1"]
    table(header, [[*row(watch, f"{name}, s"), *scores[name]] for name in scores])


def fitting(X, y, arguments):
    """Fit to CRFsuite's objective after 100 iterations, and to the own stop, dicts to
    model.
    """
    kinds = {"elastic net": (0.1, 0.1), "L2 alone": (0.0, 1.0), "L1 alone": (1.0, 0.0)}
    rows = []
    L1CRF(c1=0.1, c2=0.1, all_pairs="transitions", max_iter=20).fit(
        X[:100], y[:100]
    )  # compiled
    for name, (c1, c2) in kinds.items():
        theirs = sklearn_crfsuite.CRF(
            algorithm="lbfgs",
            c1=c1,
            c2=c2,
            max_iterations=100,
            all_possible_transitions=True,
        )
        ours = L1CRF(c1=c1, c2=c2, all_pairs="transitions", n_jobs=1, random_state=0)
        runs = []
        for _ in range(arguments.repeat):
            began = time.process_time()
            theirs.fit(X, y)
            crfsuite_time = time.process_time() - began
            level = theirs.training_log_.last_iteration["loss"]
            wall, began = time.perf_counter(), time.process_time()
            ours.fit(X, y)
            whole, wall = time.process_time() - began, time.perf_counter() - wall
            at = next(
                h["seconds"]
                for h in ours.history_
                if h["objective"] and h["objective"] <= level
            )
            reached = whole * (1.0 - (ours.history_[-1]["seconds"] - at) / wall)
            runs.append((crfsuite_time, level, reached, whole))
        their_time, level, reached, whole = (min(column) for column in zip(*runs))
        rows.append([
            f"{name}, c1={c1:g}, c2={c2:g}", f"{their_time:.1f}", f"{level:,.1f}", f"{reached:.2f}",
            f"{their_time / reached:.1f}", f"{whole:.2f}", f"{their_time / whole:.1f}",
            f"{ours.objective_:,.1f}", str(len(ours.history_)),
        ])  # fmt: skip
    print("\nfit, processor time in s; CRFsuite: 100 iterations\n")
    header = [
        "",
        "CRFsuite",
        "its objective",
        "L1CRF to that",
        "ratio",
        "own stop",
        "ratio",
        "objective",
    ]
    table([*header, "passes"], rows)


def files(X, y, arguments):
    """Save models of a part of the corpus and of all: megabytes, time to load."""
    rows = []
    for n in (1500, len(X)):
        theirs = crfsuite(100).fit(X[:n], y[:n])
        size = pathlib.Path(theirs.modelfile.name).stat().st_size
        rows.append([f"{n:,}", "CRFsuite", f"{size / 1e6:.2f}", "", "", ""])
        ours = L1CRF(c1=0.1, c2=0.1, all_pairs="transitions", n_jobs=1, random_state=0)
        online = StructuredPerceptron(max_iter=arguments.epochs, random_state=0)
        for model in (ours, online):
            model.fit(X[:n], y[:n])
            found = [
                saved(model),
                saved(model, training=False)[0],
                saved(model.compress())[0],
            ]
            (size, seconds), *smaller = found
            cells = [f"{each / 1e6:.2f}" for each in (size, *smaller)]
            rows.append(
                [f"{n:,}", type(model).__name__, *cells, f"{seconds * 1e3:.0f}"]
            )
    print("\nfiles, MB\n")
    header = ["sentences", "", "save", "training=False", "compress()", "load, ms"]
    table(header, rows)


def saved(model, **options):
    """The bytes of a model's file, and the seconds of processor time to load it."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "model")
        model.save(path, **options)
        seconds = []
        for _ in range(5):
            began = time.process_time()
            skstruct.load(path)
            seconds.append(time.process_time() - began)
        return path.stat().st_size, statistics.median(seconds)


PARTS = ("fitting", "tagging", "imported", "online", "files")


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=PARTS, nargs="+", default=PARTS)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=10, help="of the online learners")
    parser.add_argument(
        "--passes", type=int, default=100, help="of the models that tag"
    )
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # few passes do not converge
    X, y = load("train")
    X_test, y_test = load("test")
    if "fitting" in arguments.part:
        fitting(X, y, arguments)
    if "tagging" in arguments.part:
        tagging(X, y, X_test, arguments)
    if "imported" in arguments.part:
        imported(X, y, X_test, arguments)
    if "online" in arguments.part:
        online(X, y, X_test, y_test, arguments)
    if "files" in arguments.part:
        files(X, y, arguments)


if __name__ == "__main__":
    main()
