"""
A segmenter in another domain
=============================

Adapting a segmenter to another domain with nothing but raw text of it.

Gao, Qiu and Huang (2010) give a passive-aggressive segmenter features of accessor
variety, the number of distinct neighbours of a string, and count them anew on the text
to be segmented (their tables 2 and 3). This study trains on SXU (newswire) and segments
UD Chinese GSD (encyclopedia, other conventions of what a word is), with and without
counting anew; SXU's own test set stands beside it.

Run it with::

    python examples/adaptation.py --plot figure.png

Corpora are looked for in the folder ``SKSTRUCT_DATA``.
"""

from statistics import mean

from _study import DATA, below_and_above, claim, mean_and_spread, progress, study, table

from skstruct import PassiveAggressiveTagger, Segmenter
from skstruct.datasets import load_segmentation, read_conllu, read_segmented
from skstruct.metrics import segmentation_report

COLUMNS = {
    "recall": "R", "precision": "P", "f1": "F1", "oov_recall": "OOV recall", "iv_recall": "IV recall"
}  # fmt: skip


def texts(words):
    """Raw text of segmented sentences."""
    return ["".join(sentence) for sentence in words]


def corpora(quick):
    """(training words, {target: (test words, raw text of its domain)})."""
    if quick:
        _, y = load_segmentation()
        return y[:80], {"sample": (y[80:], texts(y[80:]))}
    sxu, sxu_test = (
        [w for w in read_segmented(DATA / "sxu" / f"{part}.txt") if w]
        for part in ("train", "test")
    )
    gsd = {
        part: [
            [form for (form,) in s]
            for s in read_conllu(DATA / "gsd-zh" / f"{part}.conllu", fields=("form",))
        ]
        for part in ("train", "dev", "test")
    }
    raw = texts(gsd["train"] + gsd["dev"] + gsd["test"])
    return sxu, {"GSD": (gsd["test"], raw), "SXU": (sxu_test, texts(sxu_test))}


def run(arguments):
    """{target: {model: {score: [value by seed]}}}."""
    train, targets = corpora(arguments.quick)
    X, known = texts(train), {word for words in train for word in words}
    results = {target: {} for target in targets}
    for seed in range(arguments.seeds):
        models = {
            features: Segmenter(
                PassiveAggressiveTagger(
                    features, max_iter=arguments.epochs, random_state=seed
                ),
                scheme="B2B3MES",
            ).fit(X, train)
            for features in ("char", "char-av")
        }
        for target, (words, raw) in targets.items():
            for name, adapt in (
                ("char", None),
                ("char-av, training text", None),
                ("char-av, target text", raw),
                ("char-av, both", X + raw),
            ):
                model = models[name.partition(",")[0]]
                if name != "char":
                    model.adapt(adapt)
                report = segmentation_report(words, model.predict(texts(words)), known)
                scores = results[target].setdefault(
                    name, {column: [] for column in COLUMNS}
                )
                for column, values in scores.items():
                    values.append(report[column])
                progress(f"seed {seed}, {target}, {name}: F1 {report.f1:.4f}")
    return results


def report(results, quick):
    """Tables and verdicts."""
    rows = [
        [
            target,
            name,
            *(f"{mean(values):.4f}" for values in scores.values()),
            mean_and_spread(scores["f1"])[1],
        ]
        for target, models in results.items()
        for name, scores in models.items()
    ]
    table(["target", "model", *COLUMNS.values(), "spread of F1"], rows)
    print()
    for target, models in results.items():
        for column in ("f1", "oov_recall"):
            before = mean(models["char-av, training text"][column])
            for name, where in (
                ("target text", "target text"),
                ("both", "training and target text"),
            ):
                value = mean(models[f"char-av, {name}"][column])
                claim(
                    f"{target}: counting on the {where} improves {COLUMNS[column]}", value > before,
                    f"{before:.4f} to {value:.4f}", quick,
                )  # fmt: skip
    return lambda plt: draw(plt, results)


def draw(plt, results):
    """F1 and recall of unknown words, by target; bars show the smallest and the largest
    seed.
    """
    figure, axes = plt.subplots(
        1,
        len(results),
        figsize=(5 * len(results), 4),
        layout="constrained",
        squeeze=False,
    )
    for (target, models), axis in zip(results.items(), axes[0]):
        for k, column in enumerate(("f1", "oov_recall", "iv_recall")):
            by_seed = [scores[column] for scores in models.values()]
            axis.errorbar(
                [i + 0.15 * (k - 1) for i in range(len(by_seed))],
                [mean(values) for values in by_seed],
                yerr=below_and_above(by_seed),
                fmt="o",
                label=COLUMNS[column],
            )
        axis.set_xticks(
            range(len(models)), [name.replace(", ", ",\n") for name in models]
        )
        axis.set(title=target)
        axis.legend(loc="lower right")
    return figure


if __name__ == "__main__":
    study(
        "adaptation",
        __doc__,
        ["sxu", "gsd-zh"],
        run,
        report,
        epochs=(10, 2, "of training"),
    )
