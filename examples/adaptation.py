"""Adapting a segmenter to another domain with nothing but raw text of it.

Gao, Qiu and Huang (2010) give a passive-aggressive segmenter features of accessor variety, the number of
distinct neighbours of a string, and count them anew on the text to be segmented (their tables 2 and 3).
This study trains on SXU (newswire) and segments UD Chinese GSD (encyclopedia, other conventions of what a
word is), with and without counting anew; SXU's own test part stands beside it.

    python examples/adaptation.py --plot figure.png

Corpora are looked for in the folder SKSTRUCT_DATA (default: ../shared/data).
"""

from statistics import mean

from _study import DATA, claim, mean_and_spread, options, progress, pyplot, table

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
        [w for w in read_segmented(DATA / "sxu" / f"{part}.txt") if w] for part in ("train", "test")
    )
    gsd = {
        part: [
            [form for (form,) in s] for s in read_conllu(DATA / "gsd-zh" / f"{part}.conllu", fields=("form",))
        ]
        for part in ("train", "dev", "test")
    }
    raw = texts(gsd["train"] + gsd["dev"] + gsd["test"])
    return sxu, {"GSD": (gsd["test"], raw), "SXU": (sxu_test, texts(sxu_test))}


def main():
    """Run the study."""
    arguments = options(__doc__, ["sxu", "gsd-zh"], 3, epochs=(10, "of training"))
    if arguments.quick:
        arguments.seeds, arguments.epochs = 1, 2
    train, targets = corpora(arguments.quick)
    X, known = texts(train), {word for words in train for word in words}
    reports = {}
    for seed in range(arguments.seeds):
        models = {
            features: Segmenter(
                PassiveAggressiveTagger(features, max_iter=arguments.epochs, random_state=seed),
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
                reports.setdefault((target, name), []).append(report)
                progress(f"seed {seed}, {target}, {name}: F1 {report.f1:.4f}")
    rows = []
    for (target, name), found in reports.items():
        scores = [f"{mean(r[column] for r in found):.4f}" for column in COLUMNS]
        rows.append([target, name, *scores, mean_and_spread([r.f1 for r in found])[1]])
    table(["target", "model", *COLUMNS.values(), "spread of F1"], rows)

    print()
    for target in targets:
        for column in ("f1", "oov_recall"):
            before, after, both = (
                mean(r[column] for r in reports[target, name])
                for name in ("char-av, training text", "char-av, target text", "char-av, both")
            )
            for name, value in (("target text", after), ("training and target text", both)):
                claim(
                    f"{target}: counting on the {name} improves {COLUMNS[column]}", value > before,
                    f"{before:.4f} to {value:.4f}", arguments.quick,
                )  # fmt: skip
    if arguments.plot:
        draw(arguments.plot, reports, list(targets))


def draw(path, reports, targets):
    """F1 and recall of unknown words, by target."""
    plt = pyplot()
    figure, axes = plt.subplots(1, len(targets), figsize=(5 * len(targets), 4), layout="constrained")
    for target, axis in zip(targets, [axes] if len(targets) == 1 else axes):
        names = [name for t, name in reports if t == target]
        for k, column in enumerate(("f1", "oov_recall", "iv_recall")):
            values = [mean(r[column] for r in reports[target, name]) for name in names]
            axis.bar([i + 0.25 * (k - 1) for i in range(len(names))], values, 0.25, label=COLUMNS[column])
        axis.set_xticks(range(len(names)), [name.replace(", ", ",\n") for name in names])
        axis.set(title=target, ylim=(0.3, 1.0))
        axis.legend(loc="lower right")
    figure.savefig(path, dpi=150)
    print(f"figure: {path}")


if __name__ == "__main__":
    main()
