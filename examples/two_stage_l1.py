"""
Two-stage training of an L1-regularised CRF
===========================================

Two-stage training of an L1-regularised CRF: what each stage is worth.

Three ways to the same optimum, or near it: OWL-QN on all weights, stochastic gradient
descent (SGD) with a cumulative penalty, and two stages, a little of the one and then a
batch method. The comparison is that of Zhou, Qiu and Huang (2011), *A Fast Accurate
Two-stage Training Algorithm for L1-regularized CRFs with Heuristic Line Search
Strategy*: objective, active features (weights that are not zero), F-score, passes and
time on word segmentation and on named entities; and how SGD depends on its learning
rate, with and without the line search that tries several rates for each sequence.
OWL-QN and SGD are as published; two stages as they are by default here, with fewer,
gentler passes of SGD, and a batch method on the active weights only.

Run it with::

    python examples/two_stage_l1.py --plot figures.png

Corpora are looked for in the folder ``SKSTRUCT_DATA``.
"""

import time
from statistics import mean

from _study import DATA, claim, progress, study, table

from skstruct import L1CRF
from skstruct.datasets import (
    load_entities,
    load_segmentation,
    read_columns,
    read_segmented,
)
from skstruct.metrics import segment_f1_score
from skstruct.schemes import words_to_labels

WORDS = [f"U{k}:%x[{k},0]" for k in range(-2, 3)] + [
    "UL:%x[-1,0]/%x[0,0]",
    "UR:%x[0,0]/%x[1,0]",
]
CHARACTERS = [*WORDS, "B"]
ENTITIES = [*WORDS, "UP:%prefix3[0,0]", "US:%suffix3[0,0]", "UH:%shape[0,0]", "B"]
RATES = {
    "fixed decay": [(1.0, 0.85), (0.5, 0.85), (0.1, 0.85)],
    "fixed first rate": [(1.0, 0.9), (1.0, 0.85), (1.0, 0.8)],
}
"""First rate and decay of SGD, by figure: the rate of pass k is ``eta0 * decay **
k``.
"""


def segmentation(quick):
    """Characters and BMES labels: training and test set."""
    if quick:
        texts, words = load_segmentation()
        return split(
            [list(text) for text in texts], [words_to_labels(w, "BMES") for w in words]
        )
    parts = [read_segmented(DATA / "sxu" / f"{part}.txt") for part in ("train", "test")]
    return [
        ([list("".join(w)) for w in part], [words_to_labels(w, "BMES") for w in part])
        for part in parts
    ]


def entities(quick):
    """Words and entity labels: training and test set."""
    if quick:
        X, y = load_entities()
        return split([[token[0] for token in x] for x in X], y)
    parts = [
        read_columns(DATA / "conll2002-esp" / f"{part}.txt")
        for part in ("train", "test")
    ]
    return [
        ([[r[0] for r in s] for s in part], [[r[-1] for r in s] for s in part])
        for part in parts
    ]


def split(X, y):
    """The last quarter is for testing."""
    k = len(X) * 3 // 4
    return [(X[:k], y[:k]), (X[k:], y[k:])]


def fitted(train, features, seed, **options):
    """A CRF of the observed pairs, and the processor time of its fit."""
    began = time.process_time()
    crf = L1CRF(
        features, c1=1.0, c2=0.0, all_pairs=False, random_state=seed, **options
    ).fit(*train)
    return crf, time.process_time() - began


def run(arguments):
    """By task: each solver's figures by seed, and the objective after each pass of SGD
    by rate.
    """
    results, passes = {}, arguments.passes
    sgd = {"solver": "sgd", "sgd_iter": passes, "eta0": 0.5, "decay": 0.85}
    solvers = {
        "OWL-QN": {"solver": "owlqn", "memory": 10},
        "SGD": sgd,
        "SGD, line search": {**sgd, "line_search": True},
        "two stages": {},
    }
    for task, load, scheme, features in (
        ("segmentation", segmentation, "BMES", CHARACTERS),
        ("entities", entities, "BIO", ENTITIES),
    ):
        train, test = load(arguments.quick)
        found = {name: {key: [] for key in COLUMNS} for name in solvers}
        for name, options in solvers.items():
            for seed in range(arguments.seeds):
                crf, seconds = fitted(train, features, seed, **options)
                f1 = segment_f1_score(test[1], crf.predict(test[0]), scheme=scheme)
                values = (
                    crf.objective_,
                    crf.n_active_features_,
                    f1,
                    len(crf.history_),
                    seconds,
                )
                for key, value in zip(COLUMNS, values):
                    found[name][key].append(float(value))
                progress(
                    f"{task}, {name}, seed {seed}: {values[0]:.2f} in {seconds:.0f} s"
                )
        curves = {}
        for what, pairs in RATES.items():
            curves[what] = []
            for eta0, decay in pairs:
                for search in (True, False):
                    options = {
                        "solver": "sgd",
                        "sgd_iter": passes,
                        "eta0": eta0,
                        "decay": decay,
                    }
                    crf, _ = fitted(train, features, 0, line_search=search, **options)
                    after = [entry["objective"] for entry in crf.history_]
                    curves[what].append([eta0, decay, search, after])
                    progress(
                        f"{task}, rate {eta0}, decay {decay}, line search {search}: {after[-1]:.2f}"
                    )
        results[task] = {"solvers": found, "curves": curves}
    return results


COLUMNS = {
    "objective": ".2f", "active": ".0f", "F1": ".4f", "passes": ".0f", "seconds of processor time": ".1f",
}  # fmt: skip


def report(results, quick):
    """Tables and verdicts."""
    for task, found in results.items():
        solvers = found["solvers"]
        rows = [
            [name, *(f"{mean(values[key]):{form}}" for key, form in COLUMNS.items())]
            + [f"{max(values['F1']) - min(values['F1']):.4f}"]
            for name, values in solvers.items()
        ]
        table([task, *COLUMNS, "spread of F1"], rows)
        for what, curves in found["curves"].items():
            rows = [
                [e, d, "yes" if s else "no", f"{after[-1]:.2f}"]
                for e, d, s, after in curves
            ]
            table(
                [f"{task}, {what}: first rate", "decay", "line search", "objective"],
                rows,
            )
    print()
    for task, found in results.items():
        last = {
            name: mean(values["objective"]) for name, values in found["solvers"].items()
        }
        spent = {
            name: mean(values["seconds of processor time"])
            for name, values in found["solvers"].items()
        }
        ratio = spent["OWL-QN"] / max(spent["two stages"], 1e-9)
        claim(
            f"{task}: two stages are faster than OWL-QN to no worse an objective",
            ratio > 1.0 and last["two stages"] <= 1.001 * last["OWL-QN"],
            f"{ratio:.1f} times, {last['two stages']:.0f} against {last['OWL-QN']:.0f}", quick,
        )  # fmt: skip
        ranges = [
            [
                after[-1]
                for _, _, search, after in found["curves"]["fixed decay"]
                if search is wanted
            ]
            for wanted in (True, False)
        ]
        with_search, without = (max(values) / min(values) - 1.0 for values in ranges)
        claim(
            f"{task}: line search makes SGD less dependent on its first rate", with_search < without,
            f"worst over best objective {100 * with_search:.1f} % against {100 * without:.1f} %", quick,
        )  # fmt: skip
        f1 = [mean(values["F1"]) for values in found["solvers"].values()]
        claim(
            f"{task}: F1 hardly differs",
            max(f1) - min(f1) < 0.003,
            f"{min(f1):.4f} to {max(f1):.4f}",
            quick,
        )
    return lambda plt: draw(plt, results)


def draw(plt, results):
    """Figures 1 to 4: objective after each pass, solid with line search."""
    panels = [
        (task, what, c)
        for task, found in results.items()
        for what, c in found["curves"].items()
    ]
    figure, axes = plt.subplots(2, 2, figsize=(11, 8), layout="constrained")
    for axis, (task, what, curves) in zip(axes.ravel(), panels):
        colours = {}
        for eta0, decay, search, after in curves:
            colour = colours.setdefault((eta0, decay), f"C{len(colours)}")
            label = f"$\\eta_0$ = {eta0:g}, $\\alpha$ = {decay:g}" + (
                ", line search" if search else ""
            )
            axis.semilogy(
                range(1, len(after) + 1),
                after,
                "-" if search else "--",
                color=colour,
                label=label,
            )
        axis.set(title=f"{task}: {what}", xlabel="passes", ylabel="objective")
        axis.legend(fontsize="small")
    return figure


if __name__ == "__main__":
    study(
        "two_stage_l1",
        __doc__,
        ["sxu", "conll2002-esp"],
        run,
        report,
        passes=(30, 10, "of SGD"),
    )
