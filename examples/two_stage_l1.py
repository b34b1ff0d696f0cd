"""
Two-stage training of an L1-regularised CRF
===========================================

Three ways to the same optimum, or near it: OWL-QN on all weights, stochastic gradient descent (SGD) with
a cumulative penalty, and two stages, a little of the one and then a batch method. The comparison is that
of Zhou, Qiu and Huang (2011), *A Fast Accurate Two-stage Training Algorithm for L1-regularized CRFs with
Heuristic Line Search Strategy*: objective, active features (weights that are not zero), F-score, passes and
time on word segmentation and on named entities; and how SGD depends on its learning rate, with and without
the line search that tries several rates for each sequence.

Without arguments it runs in seconds, on the samples that come with the package, which are too small for
any claim about accuracy. The study itself needs corpora, and takes its time::

    python two_stage_l1.py --corpora FOLDER --plots FOLDER

where the first folder has ``sxu/{train,test}.txt`` (words separated by spaces) and
``conll2002-esp/{train,test}.txt`` (columns), and the second receives figures 1 to 4.
"""

# %%
# Two tasks
# ---------

import argparse
import pathlib
import time

from skstruct import L1CRF
from skstruct.data.schemes import words_to_labels
from skstruct.datasets import load_entities, load_segmentation, read_columns, read_segmented
from skstruct.metrics import segment_f1_score

WORDS = [f"U{k}:%x[{k},0]" for k in range(-2, 3)] + ["UL:%x[-1,0]/%x[0,0]", "UR:%x[0,0]/%x[1,0]"]
CHARACTERS = [*WORDS, "B"]
ENTITIES = [*WORDS, "UP:%prefix3[0,0]", "US:%suffix3[0,0]", "UH:%shape[0,0]", "B"]


def segmentation(folder):
    """Characters and BMES labels: training and test part."""
    if folder is None:
        texts, words = load_segmentation()
        return split([list(text) for text in texts], [words_to_labels(w, "BMES") for w in words])
    parts = [read_segmented(folder / "sxu" / f"{part}.txt") for part in ("train", "test")]
    return [([list("".join(w)) for w in part], [words_to_labels(w, "BMES") for w in part]) for part in parts]


def entities(folder):
    """Words and entity labels: training and test part."""
    if folder is None:
        X, y = load_entities()
        return split([[token[0] for token in x] for x in X], y)
    parts = [read_columns(folder / "conll2002-esp" / f"{part}.txt") for part in ("train", "test")]
    return [([[r[0] for r in s] for s in part], [[r[-1] for r in s] for s in part]) for part in parts]


def split(X, y):
    """The last quarter is for testing."""
    k = len(X) * 3 // 4
    return [(X[:k], y[:k]), (X[k:], y[k:])]


# %%
# OWL-QN, SGD, two stages
# -----------------------
# OWL-QN and SGD as published, and two stages as they are by default here: fewer, gentler passes of SGD than
# the paper's, and a batch method that works on the active weights only.


def compare(name, train, test, scheme, features, n_passes):
    """Print a table: a line for each solver."""
    solvers = {
        "OWL-QN": {"solver": "owlqn", "memory": 10},
        "SGD": {"solver": "sgd", "sgd_iter": n_passes, "eta0": 0.5, "decay": 0.85},
        "SGD, line search": {
            "solver": "sgd", "sgd_iter": n_passes, "eta0": 0.5, "decay": 0.85, "line_search": True,
        },
        "two stages": {},
    }  # fmt: skip
    print(f"\n{name}: {len(train[0])} sequences")
    print(f"{'':18}{'objective':>12}{'active':>9}{'F1':>9}{'passes':>9}{'seconds':>9}")
    for solver, options in solvers.items():
        crf = L1CRF(features, all_pairs=False, random_state=0, **options)
        began = time.perf_counter()
        crf.fit(*train)
        seconds = time.perf_counter() - began
        f1 = segment_f1_score(test[1], crf.predict(test[0]), scheme=scheme)
        print(
            f"{solver:18}{crf.objective_:12.2f}{crf.n_active_features_:9d}{f1:9.4f}"
            f"{len(crf.history_):9d}{seconds:9.1f}"
        )


# %%
# The learning rate
# -----------------
# Rate of pass k: ``eta0 * decay ** k``. A curve for each setting, solid with line search, dashed without.


def curves(train, features, settings, n_passes):
    """For each (eta0, decay, line_search) the objective after each pass."""
    found = {}
    for eta0, decay, line_search in settings:
        crf = L1CRF(
            features, solver="sgd", sgd_iter=n_passes, eta0=eta0, decay=decay,
            line_search=line_search, all_pairs=False, random_state=0,
        ).fit(*train)  # fmt: skip
        found[eta0, decay, line_search] = [entry["objective"] for entry in crf.history_]
    return found


def plot(found, title, path):
    """One figure, saved."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.5))
    colours = {}
    for (eta0, decay, line_search), values in found.items():
        colour = colours.setdefault((eta0, decay), f"C{len(colours)}")
        label = f"$\\eta_0$ = {eta0:g}, $\\alpha$ = {decay:g}" + (", line search" if line_search else "")
        axes.semilogy(
            range(1, len(values) + 1), values, "-" if line_search else "--", color=colour, label=label
        )
    axes.set(title=title, xlabel="passes", ylabel="objective")
    axes.legend(fontsize="small")
    figure.tight_layout()
    figure.savefig(path)
    plt.close(figure)


def main():
    """Run the comparison."""
    parser = argparse.ArgumentParser(description="Compare the solvers of L1CRF.")
    parser.add_argument("--corpora", type=pathlib.Path, help="folder of the corpora; else samples")
    parser.add_argument("--plots", type=pathlib.Path, help="folder for figures 1 to 4")
    parser.add_argument("--passes", type=int, help="passes of SGD; default 30, on samples 10")
    args = parser.parse_args()
    n_passes = args.passes or (10 if args.corpora is None else 30)
    tasks = [
        ("Word segmentation", segmentation(args.corpora), "BMES", CHARACTERS),
        ("Named entities", entities(args.corpora), "BIO", ENTITIES),
    ]
    number = 0
    for name, (train, test), scheme, features in tasks:
        compare(name, train, test, scheme, features, n_passes)
        rates = [(eta0, 0.85) for eta0 in (1.0, 0.5, 0.1)], [(1.0, decay) for decay in (0.9, 0.85, 0.8)]
        for what, pairs in zip(("fixed decay", "fixed first rate"), rates):
            number += 1
            settings = [(*pair, line_search) for pair in pairs for line_search in (True, False)]
            found = curves(train, features, settings, n_passes)
            print(f"\nFigure {number}: {name}, {what}; objective after {n_passes} passes of SGD")
            for (eta0, decay, line_search), values in found.items():
                search = "line search" if line_search else "no line search"
                print(f"  eta0 {eta0:<4g} decay {decay:<5g} {search:15} {values[-1]:12.2f}")
            if args.plots is not None:
                args.plots.mkdir(parents=True, exist_ok=True)
                plot(found, f"{name}: {what}", args.plots / f"figure-{number}.png")


if __name__ == "__main__":
    main()
