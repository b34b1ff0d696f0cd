"""L1CRF against CRFsuite's ``lbfgs`` (OWL-QN): time to the optimum of the same
objective, from raw tokens.

CRFsuite reports the processor time of its iterations. Ours is wall time, and for
``n_jobs=1`` processor time beside it, which is what can be compared on a machine that
has other work to do.
"""

import argparse
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

import pycrfsuite
from sklearn.base import clone

from benchmarks import users_road
from benchmarks.common import CORPORA, table
from skstruct import L1CRF

GAPS = (0.01, 0.001, 0.0005)


def crfsuite(X, y, features, c1):
    """(seconds of processor time, objective) after each iteration, features
    included.
    """
    trainer = pycrfsuite.Trainer("lbfgs", verbose=False)
    trainer.set_params({"c1": c1, "c2": 0.0})
    began = time.process_time()
    for x, labels in zip(X, y):
        trainer.append(features(x), labels)
    before = time.process_time() - began
    with tempfile.TemporaryDirectory() as folder:
        trainer.train(str(pathlib.Path(folder, "model")))
    trace, seconds = [], before
    for iteration in trainer.logparser.iterations:
        seconds += float(iteration["time"])
        trace.append((seconds, float(iteration["loss"])))
    return trace


def ours(X, y, preset, c1, n_jobs):
    """The fitted model, seconds of the whole fit, of the processor, (seconds,
    objective) after each pass.
    """
    began, began_cpu = time.perf_counter(), time.process_time()
    crf = L1CRF(
        preset, c1=c1, c2=0.0, all_pairs=False, n_jobs=n_jobs, random_state=0
    ).fit(X, y)
    whole, cpu = time.perf_counter() - began, time.process_time() - began_cpu
    before = whole - crf.history_[-1]["seconds"]
    trace = [
        (before + h["seconds"], h["objective"])
        for h in crf.history_
        if h["objective"] is not None
    ]
    return crf, whole, cpu, trace


def time_to(trace, level):
    """When a trace falls to a level for the first time."""
    return next((seconds for seconds, value in trace if value <= level), float("nan"))


def peak(name, corpus):
    """Peak resident memory in MB of a fit above the corpus, in a process of its own."""
    command = [
        sys.executable,
        "-m",
        "benchmarks.l1crf",
        "--child",
        name,
        "--corpus",
        corpus,
    ]
    return float(subprocess.check_output(command, text=True))


def child(name, corpus):
    """Load, note, fit, print the difference."""
    if corpus == "tutorial":  # dicts, whose memory is the corpus's
        X, y = users_road.load("train")
        features, crf, other = (
            list,
            L1CRF(c1=0.1, c2=0.1, all_pairs="transitions"),
            {"c1": 0.1, "c2": 0.1},
        )
        other["feature.possible_transitions"] = True
    else:
        load, features, preset = CORPORA[corpus]
        X, y = load("train")
        crf, other = (
            L1CRF(preset, c1=1.0, c2=0.0, all_pairs=False),
            {"c1": 1.0, "c2": 0.0},
        )
    unit = 2**20 if sys.platform == "darwin" else 2**10
    clone(crf).set_params(max_iter=17).fit(X[:50], y[:50])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    if name == "skstruct":
        crf.set_params(n_jobs=2, random_state=0, max_iter=30).fit(X, y)
    else:
        trainer = pycrfsuite.Trainer("lbfgs", verbose=False)
        trainer.set_params({**other, "max_iterations": 30})
        for x, labels in zip(X, y):
            trainer.append(features(x), labels)
        with tempfile.TemporaryDirectory() as folder:
            trainer.train(str(pathlib.Path(folder, "model")))
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit - before)


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", choices=[*CORPORA, "tutorial"], default="conll2000")
    parser.add_argument("--c1", type=float, default=1.0)
    parser.add_argument("--n-jobs", type=int, nargs="+", default=[2, 1])
    parser.add_argument(
        "--memory", action="store_true", help="memory alone, of all corpora"
    )
    parser.add_argument(
        "--child", choices=["skstruct", "crfsuite"], help=argparse.SUPPRESS
    )
    args = parser.parse_args()
    if args.child:
        import warnings

        warnings.simplefilter("ignore")
        return child(args.child, args.corpus)
    if args.memory:
        rows = []
        for name in [*CORPORA, "tutorial"]:
            mine, theirs = (peak(side, name) for side in ("skstruct", "crfsuite"))
            rows.append([name, f"{mine:.0f}", f"{theirs:.0f}", f"{mine / theirs:.2f}"])
        print("peak resident memory of 30 passes above the corpus, MB\n")
        return table(["", "L1CRF", "CRFsuite", "share"], rows)
    # First: a process starts with the peak of the one that started it.
    memory = {name: peak(name, args.corpus) for name in ("skstruct", "crfsuite")}
    load, features, preset = CORPORA[args.corpus]
    X, y = load("train")
    L1CRF(preset, c1=args.c1, c2=0.0, all_pairs=False, max_iter=17).fit(
        X[:50], y[:50]
    )  # compiled, or from the cache
    runs = {f"L1CRF, n_jobs={k}": ours(X, y, preset, args.c1, k) for k in args.n_jobs}
    theirs = crfsuite(X, y, features, args.c1)
    final = theirs[-1][1]
    reached = time_to(theirs, final * 1.0005)
    print(
        f"{args.corpus}, c1 = {args.c1:g}, observed pairs; CRFsuite ends at {final:,.2f}; seconds\n"
    )
    rows = []
    for name, (crf, whole, cpu, trace) in runs.items():
        gap = 100 * (crf.objective_ / final - 1)
        rows.append([
            name, *(f"{time_to(trace, final * (1 + g)):.1f}" for g in GAPS), f"{whole:.1f}",
            f"{crf.objective_:,.2f} ({gap:+.3f} %)", f"{crf.n_active_features_:,}",
            f"{reached / whole:.1f}", f"{cpu:.1f}", f"{reached / cpu:.1f}",
        ])  # fmt: skip
    rows.append([
        "CRFsuite", *(f"{time_to(theirs, final * (1 + g)):.1f}" for g in GAPS),
        f"{theirs[-1][0]:.1f}", f"{final:,.2f}", "", "1.0", "", "",
    ])  # fmt: skip
    header = [
        "",
        *(f"gap {100 * g:g} %" for g in GAPS),
        "own stop",
        "objective",
        "active",
    ]
    table([*header, "CRFsuite to 0.05 % / own stop", "processor time", "ratio"], rows)
    one = {run[0].objective_ for run in runs.values()}
    print(f"\nThe same objective, bit for bit, for every n_jobs: {len(one) == 1}")
    print("\npeak resident memory of 30 passes above the corpus, MB\n")
    table(
        ["L1CRF", "CRFsuite"],
        [[f"{memory['skstruct']:.0f}", f"{memory['crfsuite']:.0f}"]],
    )


if __name__ == "__main__":
    main()
