"""``skstruct compare``: train sklearn-crfsuite and skstruct on the same files.

Train sklearn-crfsuite and skstruct on TRAIN with the same features, evaluate both on TEST, and print time,
memory and scores. Times are medians over --repeat; making feature strings counts for CRFsuite, compiling
kernels does not count for skstruct.

The same templates on both sides, fits and predictions taking turns in one process, so that a busy
machine is busy for both; peak memory in processes of their own.
"""

import argparse
import importlib.util
import json
import statistics
import time

from ..data.inputs import flatten
from ..metrics import segment_f1_score, token_accuracy_score, word_f1_score
from .common import CommandError, counted, number, positive, tell
from .contest import PAIRS, SIDES, memory_of, sequences_of, templates_for, words_of
from .corpus import read
from .learners import add_features, features_of, named_algorithm
from .options import add_options
from .scores import encodes_segments, warn_of_unknown

_COLUMNS = (
    ("fit_seconds", "fit [s]", "{:.2f}"),
    ("feature_seconds", "of it features [s]", "{:.2f}"),
    ("tokens_per_second", "tag [tokens/s]", "{:,.0f}"),
    ("fit_megabytes", "fit memory [MB]", "{:,.0f}"),
    ("token_accuracy", "accuracy", "{:.4f}"),
    ("f1", "F1", "{:.4f}"),
)


def add_arguments(parser):
    """Add the arguments of the command."""
    parser.add_argument("train", metavar="TRAIN", help="corpus to learn from")
    parser.add_argument("test", metavar="TEST", help="test corpus")
    add_options(parser)
    group = parser.add_argument_group("learning")
    add_features(group)
    group.add_argument(
        "--algorithm", "-a", action="append", type=_algorithm, metavar="NAME",
        help="CRFsuite's algorithm (ap, pa, lbfgs), or the learner's name as of train; may be repeated "
        "(default: ap and pa)",
    )  # fmt: skip
    group.add_argument("--epochs", type=positive, metavar="N", help="of ap and pa (default: 10)")
    group.add_argument("--c1", type=_penalty, help="L1 penalty of lbfgs (default: 1)")
    group.add_argument("--c2", type=_penalty, help="L2 penalty of lbfgs (default: 0)")
    what = "of lbfgs at most (default: each its own)"
    group.add_argument("--iterations", type=positive, metavar="N", help=what)
    group = parser.add_argument_group("measuring")
    group.add_argument("--repeat", type=positive, default=1, metavar="N", help="number of fits (default: 1)")
    group.add_argument("--no-memory", action="store_true", help="do not measure memory")
    group.add_argument("--json", action="store_true", help="print one JSON object")


def _algorithm(text):
    """CRFsuite's name of an algorithm."""
    ours = named_algorithm(text)
    for theirs, name in PAIRS.items():
        if name == ours:
            return theirs
    wrong = f"CRFsuite has nothing like {ours} to compare with; there are {', '.join(PAIRS)}"
    raise argparse.ArgumentTypeError(wrong)


_DEFAULTS = {"epochs": 10, "c1": 1.0, "c2": 0.0, "iterations": None}


def _settle(arguments):
    """Refuse settings of algorithms that do not run, and put defaults for those that were not given."""
    arguments.algorithm = list(dict.fromkeys(arguments.algorithm or ["ap", "pa"]))
    for name, default in _DEFAULTS.items():
        some = set(arguments.algorithm) - {"lbfgs"} if name == "epochs" else "lbfgs" in arguments.algorithm
        if getattr(arguments, name) is None:
            setattr(arguments, name, default)
        elif not some:
            wrong = f"--{name} is for --algorithm {'ap or pa' if name == 'epochs' else 'lbfgs'}"
            arguments.usage_error(wrong)


_penalty = number(float, lambda x: 0 <= x < float("inf"), "a number of at least 0")


def run(arguments):
    """Run the command.

    Returns
    -------
    int
        The exit code, 0.
    """
    if importlib.util.find_spec("sklearn_crfsuite") is None:
        raise CommandError(
            "compare needs sklearn-crfsuite, which is not installed; "
            'pip install sklearn-crfsuite, or pip install "skstruct[compare]", installs it'
        )
    _settle(arguments)
    if "-" in (arguments.train, arguments.test):
        arguments.usage_error("TRAIN and TEST are read several times, and cannot be standard input")
    if arguments.format == "crfsuite":
        arguments.usage_error("templates make features from tokens; data of CRFsuite holds features already")
    features = features_of(arguments)
    train, test = (sequences_of(read(path, arguments)) for path in (arguments.train, arguments.test))
    if (train.format == "segmented") != (test.format == "segmented"):
        raise CommandError(f"{train.name} is {train.format}, {test.name} is {test.format}")
    templates = templates_for(train, features)
    if train.format != "segmented":
        warn_of_unknown(test.y, set(flatten(train.y)), test.name)
    rows = []
    for algorithm in arguments.algorithm:
        sides = [side(algorithm, templates, arguments) for side in SIDES.values()]
        if sides[0].strings.left_out:
            tell(
                "CRFsuite has no transitions that look at the input; it goes without "
                + ", ".join(sides[0].strings.left_out)
            )
        if not templates.compile().bigram:
            tell("CRFsuite always has label bigrams; the templates have no B, so that skstruct has none")
        found = _measure(sides, train, test, arguments.repeat)
        for side, row in zip(SIDES, found):
            row["fit_megabytes"] = None
            if not arguments.no_memory:
                tell(f"measuring the memory of {row['name']}")
                row["fit_megabytes"] = memory_of(side, algorithm, arguments)
        rows.append(found)
    _print(rows, train, test, templates, arguments)
    return 0


def _measure(sides, train, test, repeat):
    """A dict of figures for each side."""
    for side in sides:
        side.warm_up(train.X, train.y)
    fits, tags = [[] for _ in sides], [[] for _ in sides]
    rows = [{"name": side.name} for side in sides]
    segmented = test.format == "segmented"
    segments = not segmented and encodes_segments(train.y, test.y)
    for k in range(repeat):
        for s, side in enumerate(sides):
            tell(f"{side.name}, fit {k + 1} of {repeat}")
            began = time.perf_counter()
            side.fit(train.X, train.y)
            fitted = time.perf_counter()
            predicted = side.predict(test.X)
            tags[s].append(time.perf_counter() - fitted)
            fits[s].append((fitted - began, side.feature_seconds))
            if k:  # both are deterministic
                continue
            rows[s]["token_accuracy"] = token_accuracy_score(test.y, predicted)
            rows[s]["f1"] = None
            if segmented:
                rows[s]["f1"] = word_f1_score(words_of(test.X, test.y), words_of(test.X, predicted))
            elif segments:
                rows[s]["f1"] = segment_f1_score(test.y, predicted)
    for s, row in enumerate(rows):
        row["fit_seconds"], row["feature_seconds"] = min(
            fits[s], key=lambda pair: abs(pair[0] - statistics.median_low([fit for fit, _ in fits[s]]))
        )
        row["tokens_per_second"] = _n_tokens(test) / max(statistics.median(tags[s]), 1e-9)
    return rows


def _n_tokens(corpus):
    return sum(map(len, corpus.X))


def _print(rows, train, test, templates, arguments):
    about = {
        name: {"file": corpus.name, "sequences": len(corpus.X), "tokens": _n_tokens(corpus)}
        for name, corpus in (("train", train), ("test", test))
    }
    if arguments.json:
        about |= {
            "templates": list(templates.lines), "epochs": arguments.epochs, "repeat": arguments.repeat,
            "rows": [row for pair in rows for row in pair],
        }  # fmt: skip
        print(json.dumps(about, ensure_ascii=False))
        return
    unit = "character" if train.format == "segmented" else "token"
    for name, size in about.items():
        sizes = f"{counted(size['sequences'], 'sentence')}, {counted(size['tokens'], unit)}"
        print(f"{name:<6}{size['file']}: {sizes}")
    epochs = "" if arguments.algorithm == ["lbfgs"] else f", {counted(arguments.epochs, 'epoch')}"
    print(f"{counted(len(templates), 'template')}{epochs}\n")
    width = max(len(row["name"]) for pair in rows for row in pair) + 2
    print(" " * width + "".join(f"{title:>20}" for _, title, _ in _COLUMNS))
    for pair in rows:
        for row in pair:
            cells = ("-" if row[key] is None else form.format(row[key]) for key, _, form in _COLUMNS)
            print(f"{row['name']:<{width}}" + "".join(f"{cell:>20}" for cell in cells))
        print(f"{'  ratio':<{width}}" + "".join(f"{_ratio(*pair, key):>20}" for key, _, _ in _COLUMNS))


def _ratio(theirs, ours, key):
    """How many times better ours is, where the ratio is meaningful."""
    a, b = theirs[key], ours[key]
    if key in ("token_accuracy", "f1", "feature_seconds") or a is None or b is None:
        return ""
    if key == "tokens_per_second":
        a, b = b, a
    return f"{a / b:.1f}" if b > 0 else ""
