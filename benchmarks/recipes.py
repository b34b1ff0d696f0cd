"""The best taggers and segmenters the package builds, beside the plain ones; see
docs/recipes.md.
"""

import argparse
import time

from benchmarks.common import (
    corpus,
    load_conll2000,
    load_esp,
    load_ewt,
    load_gsd,
    table,
)
from skstruct import (
    BaggingShuffleAverager,
    PassiveAggressiveTagger,
    Segmenter,
    StructuredPerceptron,
)
from skstruct.datasets import read_segmented
from skstruct.metrics import (
    segment_f1_score,
    segmentation_report,
    token_accuracy_score,
    word_f1_score,
)


def averaged(tagger, seed, n_jobs):
    """Five members, non-zero average."""
    return BaggingShuffleAverager(
        tagger, n_estimators=5, n_jobs=n_jobs, random_state=seed
    )


def fit_and_score(estimator, data, score):
    """(seconds, score) of one fit."""
    X, y, X_test, y_test = data
    began = time.perf_counter()
    estimator.fit(X, y)
    return time.perf_counter() - began, score(y_test, estimator.predict(X_test))


def taggers(task, plain, best, data, score, seeds, n_jobs):
    """A row for each estimator of one task; ``plain`` and ``best`` make one from a
    seed.
    """
    makers = {"plain": plain, "best features, one model": best}
    makers["best features, five averaged"] = lambda seed: averaged(
        best(seed), seed, n_jobs
    )
    rows = []
    for name, make in makers.items():
        results = [fit_and_score(make(seed), data, score) for seed in seeds]
        rows.append(_row(task, name, [s for _, s in results], [t for t, _ in results]))
    return rows


def _row(task, name, scores, seconds):
    mean = sum(scores) / len(scores)
    spread = max(scores) - min(scores)
    return [
        task,
        name,
        f"{mean:.4f}",
        f"{spread:.4f}",
        f"{sum(seconds) / len(seconds):.0f} s",
    ]


def sxu(seeds, n_jobs):
    """Segmentation; the last rows adapt accessor varieties to training and test
    text.
    """
    words, gold = (
        read_segmented(corpus(f"sxu/{part}.txt")) for part in ("train", "test")
    )
    X, X_test = (["".join(w) for w in part] for part in (words, gold))
    vocabulary = {word for sentence in words for word in sentence}
    rows = []
    for name, members, features, scheme, options in (
        ("plain", 1, "char", "BMES", {}),
        (
            "best features, one model",
            1,
            "char-best",
            "B2B3MES",
            {"dropout": 0.1, "max_iter": 20},
        ),
        (
            "best features, five averaged",
            5,
            "char-best",
            "B2B3MES",
            {"dropout": 0.1, "max_iter": 20},
        ),
    ):
        reports, seconds = {"": [], ", adapted": []}, []
        for seed in seeds:
            tagger = StructuredPerceptron(features, random_state=seed, **options)
            segmenter = Segmenter(
                averaged(tagger, seed, n_jobs) if members > 1 else tagger, scheme=scheme
            )
            began = time.perf_counter()
            segmenter.fit(X, words)
            seconds.append(time.perf_counter() - began)
            for how, reported in reports.items():
                if how and features == "char":
                    continue
                if how:
                    segmenter.adapt(X + X_test)
                reported.append(
                    segmentation_report(gold, segmenter.predict(X_test), vocabulary)
                )
        for how, reported in reports.items():
            if reported:
                rows.append(
                    _row("SXU, word F1", name + how, [r.f1 for r in reported], seconds)
                )
    return rows


def conll2000(seeds, n_jobs):
    """Chunking."""
    data = (*load_conll2000("train"), *load_conll2000("test"))
    return taggers(
        "CoNLL-2000, chunk F1",
        lambda seed: StructuredPerceptron("chunk", random_state=seed),
        lambda seed: PassiveAggressiveTagger("chunk-best", dropout=0.05, random_state=seed),
        data, segment_f1_score, seeds, n_jobs,
    )  # fmt: skip


def esp(seeds, n_jobs):
    """Named entities."""
    train = load_esp("train")
    rows = []
    for part in ("dev", "test"):
        rows += taggers(
            f"CoNLL-2002 Spanish {part}, entity F1",
            lambda seed: StructuredPerceptron("word", random_state=seed),
            lambda seed: StructuredPerceptron("word-best", dropout=0.1, random_state=seed),
            (*train, *load_esp(part)), segment_f1_score, seeds, n_jobs,
        )  # fmt: skip
    return rows


def ewt(seeds, n_jobs):
    """PTB tags."""
    return taggers(
        "EWT dev, tag accuracy",
        lambda seed: StructuredPerceptron("word", random_state=seed),
        lambda seed: StructuredPerceptron("word-best", dropout=0.05, random_state=seed),
        (*load_ewt("train"), *load_ewt("dev")), token_accuracy_score, seeds, n_jobs,
    )  # fmt: skip


def defaults(seeds, n_jobs):
    """What ``features="auto"`` and ``Segmenter()`` take, beside the best sets, on small
    and large corpora.
    """
    rows, segmented = [], {}
    for name in ("SXU", "GSD", "GSD with tags"):
        if name == "SXU":
            y, gold = (
                read_segmented(corpus(f"sxu/{part}.txt")) for part in ("train", "test")
            )
            X, X_test = (["".join(words) for words in part] for part in (y, gold))
        else:
            (X, y), (X_test, gold) = load_gsd("train"), load_gsd("test")
            if name == "GSD":
                y, gold = (
                    [[word for word, _ in sentence] for sentence in part]
                    for part in (y, gold)
                )
        segmented[f"{name}, word F1"] = X, y, X_test, gold
    for task, (*train, X_test, gold) in segmented.items():
        for n in (len(train[0]) // 4, len(train[0])):
            data = (*(part[:n] for part in train), X_test, gold)
            for features, scheme, dropout in (
                ("char", "BMES", 0.0),
                ("char-best", "BMES", 0.0),
                ("char-best", "BMES", 0.1),
                ("char-best", "B2B3MES", 0.1),
            ):
                results = [
                    fit_and_score(
                        Segmenter(
                            StructuredPerceptron(
                                features, dropout=dropout, random_state=seed
                            ),
                            scheme=scheme,
                        ),
                        data,
                        word_f1_score,
                    )
                    for seed in seeds
                ]
                model = f"{features}, {scheme}, dropout={dropout:g}"
                rows.append(
                    _row(
                        f"{task}, {n}",
                        model,
                        [s for _, s in results],
                        [t for t, _ in results],
                    )
                )
    return rows


TASKS = {
    "defaults": defaults,
    "sxu": sxu,
    "conll2000": conll2000,
    "conll2002-esp": esp,
    "ewt": ewt,
}


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tasks", nargs="*", choices=[*TASKS, []], help="default: all")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--n-jobs", type=int, default=2, help="threads for the members")
    arguments = parser.parse_args()
    rows = []
    for name in arguments.tasks or TASKS:
        rows += TASKS[name](range(arguments.seeds), arguments.n_jobs)
    table(["task", "model", "mean", "spread", "fit"], rows)


if __name__ == "__main__":
    main()
