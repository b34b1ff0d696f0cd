"""
The regularised perceptron
==========================

The regularised structured perceptron on word segmentation: which regulariser is worth
what.

Zhang, Su and Zhou (2014) regularise the averaged perceptron by averaging models that
saw the examples in other orders (shuffle-and-average, equations 6 to 8), by L2, L1 and
cumulative L1 penalties, and by dropout of input tokens and of features; alone and
combined (their figures 2 to 5 and table 2). This study repeats that on the SXU corpus
with their seven templates.

Run it with::

    python examples/regularized_perceptron.py --plot figures.png       # minutes
    python examples/regularized_perceptron.py --crf                    # and CRFs, same features: longer

Corpora are looked for in the folder ``SKSTRUCT_DATA``.
"""

import sys
from statistics import mean

from _study import DATA, below_and_above, claim, mean_and_spread, progress, study, table

from skstruct import L1CRF, BaggingShuffleAverager, Segmenter, StructuredPerceptron
from skstruct.datasets import load_segmentation, read_segmented
from skstruct.metrics import word_f1_score
from skstruct.schemes import labels_to_words, words_to_labels

STRENGTHS = {
    "l2": [1e-7, 1e-6, 1e-5, 1e-4],
    "l1": [1e-7, 1e-6, 1e-5, 1e-4],
    "l1-cumulative": [1e-7, 1e-6, 1e-5, 1e-4],
}
RATES = [0.01, 0.02, 0.05, 0.1, 0.2]
KINDS = ("l2", "l1", "l1-cumulative", "input dropout", "feature dropout")


def corpora(quick):
    """Texts and words, of a training and a test set."""
    if quick:
        X, y = load_segmentation()
        cut = len(X) * 3 // 4
        return X[:cut], y[:cut], X[cut:], y[cut:]
    parts = []
    for part in ("train", "test"):
        words = [w for w in read_segmented(DATA / "sxu" / f"{part}.txt") if w]
        parts += [["".join(w) for w in words], words]
    return parts


class Trainer:
    """Trains and scores."""

    def __init__(self, data, epochs, n_jobs):
        self.X, self.y, self.X_test, self.y_test = data
        self.epochs, self.n_jobs = epochs, n_jobs

    def score(self, segmenter):
        """Word F1 on the test set."""
        return word_f1_score(self.y_test, segmenter.predict(self.X_test))

    def tagger(self, seed, **parameters):
        """The averaged perceptron."""
        return StructuredPerceptron(
            "char", max_iter=self.epochs, random_state=seed, **parameters
        )

    def single(self, seed, **parameters):
        """Word F1 of one model."""
        return self.score(
            Segmenter(self.tagger(seed, **parameters)).fit(self.X, self.y)
        )

    def ensemble(self, seed, n, **parameters):
        """Word F1 of the first 1 ... n members: alone, averaged over all, over the
        non-zero.

        The members that an averager trains first do not depend on how many it trains.
        """
        scores = {}
        for how in ("all", "nonzero"):
            scores[how] = []
            for k in range(1, n + 1):
                averager = BaggingShuffleAverager(
                    self.tagger(seed, **parameters), k, average=how, keep_members=k == n, n_jobs=self.n_jobs,
                    random_state=seed,
                )  # fmt: skip
                segmenter = Segmenter(averager).fit(self.X, self.y)
                scores[how].append(self.score(segmenter))
        scores["alone"] = [
            self.word_f1(member) for member in segmenter.tagger_.estimators_
        ]
        return scores

    def word_f1(self, tagger):
        """Word F1 of a fitted tagger of characters; the texts hold no white space."""
        labels = tagger.predict([list(text) for text in self.X_test])
        words = [labels_to_words(x, z, "BMES") for x, z in zip(self.X_test, labels)]
        return word_f1_score(self.y_test, words)


def crf_scores(data):
    """Word F1 of CRFs with the same features: CRFsuite's with an L2 penalty, ours with
    an L1 penalty.
    """
    try:
        import sklearn_crfsuite
    except ImportError:
        sys.exit("--crf needs sklearn-crfsuite: pip install sklearn-crfsuite")

    def features(text):
        p = ["_B-2", "_B-1", *text, "_B+1", "_B+2"]
        return [
            ["a" + p[t - 1], "b" + p[t], "c" + p[t + 1], "d" + p[t - 2] + "/" + p[t - 1],
             "e" + p[t - 1] + "/" + p[t], "f" + p[t] + "/" + p[t + 1], "g" + p[t + 1] + "/" + p[t + 2]]
            for t in range(2, len(p) - 2)
        ]  # fmt: skip

    X, y, X_test, y_test = data
    scores, labels = {}, [words_to_labels(w, "BMES") for w in y]
    for iterations in (100, 500):
        crf = sklearn_crfsuite.CRF(
            algorithm="lbfgs", c1=0.0, c2=1.0, max_iterations=iterations
        )
        crf.fit([features(x) for x in X], labels)
        found = crf.predict([features(x) for x in X_test])
        words = [labels_to_words(x, list(z), "BMES") for x, z in zip(X_test, found)]
        scores[f"CRFsuite, c2=1, {iterations} iterations"] = word_f1_score(
            y_test, words
        )
    for pairs, all_pairs in (("observed", False), ("all", True)):
        crf = L1CRF("char", c1=1.0, c2=0.0, all_pairs=all_pairs, random_state=0)
        words = Segmenter(crf).fit(X, y).predict(X_test)
        scores[f"L1CRF, c1=1, {pairs} pairs"] = word_f1_score(y_test, words)
    return scores


def run(arguments):
    """Word F1 by seed: of single models by setting; of ensembles by setting, rule and
    number of members.
    """
    seeds, n = range(arguments.seeds), arguments.members
    data = corpora(arguments.quick)
    trainer = Trainer(data, arguments.epochs, arguments.n_jobs)

    # Penalties and noise, one model each (figures 4 and 5).
    settings = {"none": {}}
    for penalty, strengths in STRENGTHS.items():
        for alpha in strengths[:1] if arguments.quick else strengths:
            settings[f"{penalty} {alpha:g}"] = {"penalty": penalty, "alpha": alpha}
    for rate in RATES[:1] if arguments.quick else RATES:
        settings[f"input dropout {rate:g}"] = {"dropout": rate}
        settings[f"feature dropout {rate:g}"] = {
            "feature_noise": "dropout",
            "noise_rate": rate,
        }
    alone = {}
    for name, parameters in settings.items():
        alone[name] = [trainer.single(seed, **parameters) for seed in seeds]
        progress(f"{name}: {mean(alone[name]):.4f}")

    # Ensembles, with the best penalty and the best dropout (figures 2 and 3, table 2).
    l2, dropout = settings[best(alone, "l2 ")], settings[best(alone, "input dropout ")]
    combined = {
        "base": {},
        f"L2 {l2['alpha']:g}": l2,
        f"dropout {dropout['dropout']:g}": dropout,
        "L2 and dropout": {**l2, **dropout},
    }
    ensembles = {}
    for name, parameters in combined.items():
        runs = [trainer.ensemble(seed, n, **parameters) for seed in seeds]
        ensembles[name] = {
            how: [[one[how][k] for one in runs] for k in range(n)]
            for how in ("alone", "all", "nonzero")
        }
        progress(f"{name}: {n} averaged {mean(ensembles[name]['nonzero'][-1]):.4f}")
    results = {"alone": alone, "ensembles": ensembles}
    if arguments.crf:
        results["crf"] = crf_scores(data)
    return results


def best(alone, start):
    """The setting with the highest mean among those whose name starts so."""
    return max(
        (name for name in alone if name.startswith(start)),
        key=lambda name: mean(alone[name]),
    )


def report(results, quick):
    """Tables and verdicts."""
    alone, ensembles = results["alone"], results["ensembles"]
    table(
        ["one model", "word F1", "spread"],
        [[name, *mean_and_spread(values)] for name, values in alone.items()],
    )
    base = ensembles["base"]
    n = len(base["all"])
    table(
        ["members", "equation 7 (all)", "spread", "equation 8 (non-zero)", "spread"],
        [
            [
                k + 1,
                *mean_and_spread(base["all"][k]),
                *mean_and_spread(base["nonzero"][k]),
            ]
            for k in range(n)
        ],
    )
    single = mean(v for values in base["alone"] for v in values)
    rows, reductions = [], {}
    for name, scores in ensembles.items():
        members = [v for values in scores["alone"] for v in values]
        for how, values in (
            ("one model", members),
            (f"{n} averaged", scores["nonzero"][-1]),
        ):
            reductions[name, how] = (mean(values) - single) / (1 - single)
            rows.append(
                [
                    name,
                    how,
                    *mean_and_spread(values),
                    f"{100 * reductions[name, how]:+.1f} %",
                ]
            )
    table(["model", "", "word F1", "spread", "errors avoided"], rows)
    if "crf" in results:
        table(
            ["CRF", "word F1"],
            [[name, f"{f1:.4f}"] for name, f1 in results["crf"].items()],
        )

    print()
    averaged = f"{n} averaged"
    cut = reductions["base", averaged]
    claim(
        "shuffle-and-average cuts at least 5 % of the errors",
        cut >= 0.05,
        f"{100 * cut:.1f} %",
        quick,
    )
    seven, eight = mean(base["all"][-1]), mean(base["nonzero"][-1])
    claim(
        "equation 8 beats equation 7",
        eight > seven,
        f"{eight:.4f} against {seven:.4f}",
        quick,
    )
    for kind in KINDS:
        name = best(alone, kind + " ")
        gain = mean(alone[name]) - mean(alone["none"])
        claim(
            f"{name} improves one model", gain > 0, f"{100 * gain:+.2f} points", quick
        )
    most = max(reductions, key=reductions.get)
    claim(
        "all combined are best", most == ("L2 and dropout", averaged),
        f"best: {most[0]}, {most[1]}, {100 * reductions[most]:.1f} % of the errors", quick,
    )  # fmt: skip
    return lambda plt: draw(plt, alone, ensembles)


def draw(plt, alone, ensembles):
    """F1 against the number of members, and against strengths and rates.

    Bars show the smallest and the largest seed.
    """
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    members = range(1, len(ensembles["base"]["all"]) + 1)
    for name, scores in ensembles.items():
        left.errorbar(
            members,
            [mean(v) for v in scores["nonzero"]],
            yerr=below_and_above(scores["nonzero"]),
            marker="o",
            label=f"{name}, equation 8",
        )
    left.plot(
        members,
        [mean(v) for v in ensembles["base"]["all"]],
        "k--",
        marker="s",
        label="base, equation 7",
    )
    left.set(xlabel="members", ylabel="word F1", xticks=members)
    left.legend()
    for kind in KINDS:
        names = [name for name in alone if name.startswith(kind + " ")]
        strengths = [float(name.split()[-1]) for name in names]
        right.errorbar(
            strengths,
            [mean(alone[name]) for name in names],
            yerr=below_and_above([alone[name] for name in names]),
            marker="o",
            label=kind,
        )
    right.set_xscale("log")
    right.axhline(mean(alone["none"]), color="black", linewidth=0.8, label="none")
    right.set(xlabel="strength or rate", ylabel="word F1, one model")
    right.legend()
    return figure


if __name__ == "__main__":
    study(
        "regularized_perceptron", __doc__, ["sxu"], run, report, members=(5, 2, "of an ensemble"),
        epochs=(10, 2, "of each model"), crf=(False, False, "compare with CRFs, CRFsuite's too"),
    )  # fmt: skip
