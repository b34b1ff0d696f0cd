"""
Perceptron, passive-aggressive, CRF
===================================

Three ways to learn the weights of the same chain from the same features: mistakes
(Collins 2002), margins (Crammer et al. 2006; Gao, Qiu and Huang 2010), and the
likelihood with an L2 or an L1 penalty. Which is the most accurate, after how many
epochs does an online learner stop gaining, and at what price in processor time?

Run it with::

    python examples/learners.py --plot figure.png

Corpora are looked for in the folder ``SKSTRUCT_DATA``.
"""

import time
from statistics import mean

from _study import DATA, claim, mean_and_spread, progress, study, table

from skstruct import L1CRF, PassiveAggressiveTagger, StructuredPerceptron
from skstruct.datasets import (
    load_chunking,
    load_segmentation,
    read_columns,
    read_segmented,
)
from skstruct.metrics import segment_f1_score
from skstruct.schemes import words_to_labels

ONLINE = {
    "perceptron": lambda seed, **options: StructuredPerceptron(
        random_state=seed, **options
    ),
    "perceptron, last weights": lambda seed, **options: StructuredPerceptron(
        average=False, random_state=seed, **options
    ),
    "passive-aggressive": lambda seed, **options: PassiveAggressiveTagger(
        random_state=seed, **options
    ),
}
CRF = {
    "CRF, L2 (c2=1)": {"c1": 0.0, "c2": 1.0},
    "CRF, L1 (c1=1)": {"c1": 1.0, "c2": 0.0},
}


def segmentation(quick):
    """Characters and BMES labels: training and test set."""
    if quick:
        parts = [
            load_segmentation()[1][part] for part in (slice(0, 120), slice(120, None))
        ]
    else:
        parts = [
            read_segmented(DATA / "sxu" / f"{part}.txt") for part in ("train", "test")
        ]
    return [
        ([list("".join(w)) for w in part], [words_to_labels(w, "BMES") for w in part])
        for part in parts
    ]


def chunking(quick):
    """(form, tag) tokens and BIO labels: training and test set."""
    if quick:
        X, y = load_chunking()
        return [(X[:120], y[:120]), (X[120:], y[120:])]
    parts = [
        read_columns(DATA / "conll2000" / f"{part}.txt") for part in ("train", "test")
    ]
    return [
        ([[r[:2] for r in s] for s in part], [[r[2] for r in s] for s in part])
        for part in parts
    ]


TASKS = {
    "segmentation": (segmentation, "char", "BMES"),
    "chunking": (chunking, "chunk", "BIO"),
}


def fitted(model, train, test, **held_out):
    """(F1, processor time of the fit, model)."""
    began = time.process_time()
    model.fit(*train, **held_out)
    return model, time.process_time() - began


def run(arguments):
    """By task: of online learners F1 after each epoch by seed and seconds; of CRFs F1
    and seconds by seed.
    """
    results = {}
    for task, (load, features, scheme) in TASKS.items():
        train, test = load(arguments.quick)

        def f1(model, X, y, scheme=scheme):
            return segment_f1_score(y, model.predict(X), scheme=scheme)

        found = {}
        for name, make in ONLINE.items():
            curves, seconds = [], []
            for seed in range(arguments.seeds):
                options = {"features": features, "max_iter": arguments.epochs}
                _, spent = fitted(make(seed, **options), train, test)
                model, _ = fitted(
                    make(seed, scoring=f1, **options),
                    train,
                    test,
                    X_val=test[0],
                    y_val=test[1],
                )
                curves.append([record["validation_score"] for record in model.history_])
                seconds.append(spent / arguments.epochs)
                progress(f"{task}, {name}, seed {seed}: {curves[-1][-1]:.4f}")
            found[name] = {"curve": curves, "seconds of an epoch": seconds}
        for name, penalty in CRF.items():
            scores, seconds = [], []
            for seed in range(arguments.seeds):
                model, spent = fitted(
                    L1CRF(features, random_state=seed, **penalty), train, test
                )
                scores.append(f1(model, *test))
                seconds.append(spent)
                progress(
                    f"{task}, {name}, seed {seed}: {scores[-1]:.4f} in {spent:.0f} s"
                )
            found[name] = {"F1": scores, "seconds": seconds}
        results[task] = found
    return results


def report(results, quick):
    """Tables and verdicts."""
    for task, found in results.items():
        rows = []
        for name, values in found.items():
            if name in ONLINE:
                scores = [curve[-1] for curve in values["curve"]]
                seconds = mean(values["seconds of an epoch"]) * len(values["curve"][0])
            else:
                scores, seconds = values["F1"], mean(values["seconds"])
            rows.append([name, *mean_and_spread(scores), f"{seconds:.1f}"])
        table([task, "F1", "spread", "seconds of processor time"], rows)
        curves = {name: epochs_of(found[name]) for name in ONLINE}
        n = len(curves["perceptron"])
        shown = [k for k in (1, 2, 3, 5, 7, 10, 15, 20) if k <= n]
        table(
            [f"{task}: epochs", *map(str, shown)],
            [
                [name, *(f"{curve[k - 1]:.4f}" for k in shown)]
                for name, curve in curves.items()
            ],
        )
    print()
    for task, found in results.items():
        final = {name: epochs_of(found[name])[-1] for name in ONLINE}
        final |= {name: mean(found[name]["F1"]) for name in CRF}
        gain = 100 * (final["passive-aggressive"] - final["perceptron"])
        claim(
            f"{task}: passive-aggressive beats the perceptron",
            gain > 0,
            f"{gain:+.2f} points",
            quick,
        )
        gain = 100 * (final["perceptron"] - final["perceptron, last weights"])
        claim(
            f"{task}: averaging helps the perceptron",
            gain > 0,
            f"{gain:+.2f} points",
            quick,
        )
        gain = 100 * (max(final[name] for name in CRF) - final["perceptron"])
        claim(
            f"{task}: the better CRF beats the perceptron",
            gain > 0,
            f"{gain:+.2f} points",
            quick,
        )
        curve = epochs_of(found["passive-aggressive"])
        later = 100 * (
            max(curve[6:], default=curve[-1]) - curve[min(6, len(curve) - 1)]
        )
        text = f"{task}: passive-aggressive gains less than 0.1 points after the seventh epoch"
        claim(text, later < 0.1, f"{later:+.2f} points", quick)
    return lambda plt: draw(plt, results)


def epochs_of(values):
    """Mean F1 after each epoch."""
    return [mean(scores) for scores in zip(*values["curve"])]


def draw(plt, results):
    """F1 against epochs, with CRFs as lines across."""
    figure, axes = plt.subplots(1, len(results), figsize=(11, 4), layout="constrained")
    for axis, (task, found) in zip(axes, results.items()):
        for name in ONLINE:
            curve = epochs_of(found[name])
            axis.plot(range(1, len(curve) + 1), curve, marker=".", label=name)
        for k, name in enumerate(CRF):
            axis.axhline(
                mean(found[name]["F1"]), color=f"C{3 + k}", linestyle=":", label=name
            )
        axis.set(title=task, xlabel="epochs", ylabel="F1")
        axis.legend(fontsize="small")
    return figure


if __name__ == "__main__":
    study(
        "learners",
        __doc__,
        ["sxu", "conll2000"],
        run,
        report,
        epochs=(15, 3, "of online learners"),
    )
