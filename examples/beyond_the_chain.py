"""
Averaging and dropout for words and trees
=========================================

Shuffle-and-average and dropout beyond the character tagger: words, words with tags,
trees.

Zhang, Su and Zhou (2014, tables 3 to 5) add two regularisers to a word-based segmenter,
a joint model of segmentation and tagging, and a dependency parser: averaging over
shuffled orders, and dropout of input tokens; and a word-based reranker to the joint
model. This script repeats the comparison on UD Chinese GSD, and for the parser on UD
English EWT too, with means and spread over seeds.

Run it with::

    python examples/beyond_the_chain.py --seeds 3 --plot tables.png

Corpora are looked for in the folder ``SKSTRUCT_DATA``. Without them, or with
``--quick``, it runs on the embedded samples in seconds, and then only shows that it
runs.
"""

import argparse
import time
from statistics import mean

from _study import DATA, claim, mean_and_spread, progress, study, table

from skstruct import (
    BaggingShuffleAverager,
    KBestReranker,
    Segmenter,
    ShiftReduceParser,
    StructuredPerceptron,
    WordSegmenter,
)
from skstruct.datasets import load_sample, read_conllu
from skstruct.metrics import attachment_scores, word_f1_score

CONDITIONS = {  # shuffle-and-average, dropout
    "base": (False, False),
    "+ shuffle": (True, False),
    "+ dropout": (False, True),
    "+ both": (True, True),
}


# --------------------------------------------------------------------------------------
# Corpora
# --------------------------------------------------------------------------------------
def read(folder, part):
    """Sentences of (form, tag, head, label without subtype)."""
    path = DATA / folder / part
    files = (
        sorted(path.glob("*.conllu"))
        if path.is_dir()
        else [path.with_suffix(".conllu")]
    )
    return [
        [
            (form, tag, head, label.partition(":")[0])
            for form, tag, head, label in sentence
        ]
        for file in files
        for sentence in read_conllu(file, fields=("form", "xpos", "head", "deprel"))
    ]


def sample():
    """A training and a test set of the embedded Chinese sample; each tree is a chain to
    the right.
    """
    found = load_sample("zh")
    sentences = [
        [
            (w, t, k, "root" if k == 0 else "dep")
            for k, (w, t) in enumerate(zip(words, tags))
        ]
        for words, tags in zip(found.words, found.tags)
    ]
    cut = len(sentences) * 3 // 4
    return sentences[:cut], sentences[cut:]


def words_of(sentences):
    """Texts and their words."""
    y = [[form for form, *_ in s] for s in sentences]
    return ["".join(words) for words in y], y


def pairs_of(sentences):
    """Texts and their (word, tag) pairs."""
    y = [[(form, tag) for form, tag, *_ in s] for s in sentences]
    return ["".join(word for word, _ in pairs) for pairs in y], y


def trees_of(sentences):
    """(form, tag) tokens and (head, label) arcs."""
    return (
        [[(form, tag) for form, tag, *_ in s] for s in sentences],
        [[(head, label) for *_, head, label in s] for s in sentences],
    )


# --------------------------------------------------------------------------------------
# Tasks: what to train, and what to report
# --------------------------------------------------------------------------------------
def words(arguments, shuffle, dropout, seed):
    """The word-based segmenter."""
    model = WordSegmenter(
        max_iter=arguments.epochs, dropout=0.03 if dropout else 0.0, random_state=seed
    )
    return averaged(model, arguments, seed) if shuffle else model


def joint(arguments, shuffle, dropout, seed):
    """Segmentation and tagging by the character tagger."""
    tagger = StructuredPerceptron(
        "char",
        max_iter=arguments.epochs,
        dropout=0.05 if dropout else 0.0,
        random_state=seed,
    )
    return Segmenter(averaged(tagger, arguments, seed) if shuffle else tagger)


def parse(arguments, shuffle, dropout, seed):
    """The parser."""
    model = ShiftReduceParser(
        max_iter=arguments.epochs, dropout=0.05 if dropout else 0.0, random_state=seed
    )
    return averaged(model, arguments, seed) if shuffle else model


def averaged(model, arguments, seed):
    """Several members, non-zero average (equation 8)."""
    return BaggingShuffleAverager(
        model,
        arguments.members,
        keep_members=True,
        n_jobs=arguments.n_jobs,
        random_state=seed,
    )


def word_scores(y, predicted):
    """Word F1."""
    return {"word F1": word_f1_score(y, predicted, tagged=False)}


def joint_scores(y, predicted):
    """Word F1, and F1 of words with their tags."""
    return {
        **word_scores(y, predicted),
        "joint F1": word_f1_score(y, predicted, tagged=True),
    }


def tree_scores(y, predicted):
    """Unlabelled and labelled attachment."""
    scores = attachment_scores(y, predicted)
    return {"UAS": scores.uas, "LAS": scores.las}


# name -> (make, scores, view of the corpus, folder, training set, test set)
TASKS = {
    "words": (words, word_scores, words_of, "gsd-zh", "train", "test"),
    "joint": (joint, joint_scores, pairs_of, "gsd-zh", "train", "test"),
    "parse-zh": (parse, tree_scores, trees_of, "gsd-zh", "train", "test"),
    "parse-en": (parse, tree_scores, trees_of, "ewt", "train", "dev"),
}
USUAL = {"words": (5, 10), "joint": (5, 10), "parse-zh": (3, 3), "parse-en": (3, 3)}
"""Members of an average and epochs of each; a parser takes as long for one epoch as a
tagger for thirty.
"""


def run_task(name, arguments):
    """{condition: {score: [value by seed]}} of one task; alone means the mean of
    members, if kept.
    """
    make, scores, view, folder, *parts = TASKS[name]
    corpora = sample() if arguments.quick else [read(folder, part) for part in parts]
    (X, y), (X_test, y_test) = map(view, corpora)
    usual_members, usual_epochs = USUAL[name]
    arguments = argparse.Namespace(**vars(arguments))
    arguments.members = arguments.members or usual_members
    arguments.epochs = arguments.epochs or usual_epochs
    results = {condition: {} for condition in CONDITIONS}
    for alone, shuffled in (("base", "+ shuffle"), ("+ dropout", "+ both")):
        dropout = CONDITIONS[alone][1]
        for seed in range(arguments.seeds):
            began = time.perf_counter()
            model = make(arguments, True, dropout, seed).fit(X, y)
            note(name, shuffled, results, scores(y_test, model.predict(X_test)), began)
            members = getattr(model, "estimators_", None) or [
                make(arguments, False, dropout, seed).fit(X, y)
            ]
            each = [scores(y_test, member.predict(X_test)) for member in members]
            note(
                name,
                alone,
                results,
                {key: mean(found[key] for found in each) for key in each[0]},
                began,
            )
    if name == "joint":
        for seed in range(arguments.seeds):
            began = time.perf_counter()
            base = joint(arguments, False, False, seed)
            model = KBestReranker(base, cv=arguments.folds, random_state=seed).fit(X, y)
            note(
                name,
                "base + reranker",
                results,
                scores(y_test, model.predict(X_test)),
                began,
            )
    return results


def note(name, condition, results, found, began):
    """Add one result, and say so."""
    for score, value in found.items():
        results.setdefault(condition, {}).setdefault(score, []).append(value)
    text = ", ".join(f"{score} {value:.4f}" for score, value in found.items())
    progress(f"{name}, {condition}: {text} ({time.perf_counter() - began:.0f} s)")


# --------------------------------------------------------------------------------------
# Report
# --------------------------------------------------------------------------------------
def reduction(results, condition, score):
    """Share of the base's errors that a condition avoids, of the means over seeds."""
    base, other = (mean(results[c][score]) for c in ("base", condition))
    return (other - base) / (1.0 - base) if base < 1.0 else 0.0


def report(results, quick):
    """Table and verdicts."""
    rows = [
        [
            name,
            model,
            score,
            *mean_and_spread(values),
            f"{100 * reduction(found, model, score):+.1f} %",
        ]
        for name, found in results.items()
        for model, scores in found.items()
        for score, values in scores.items()
    ]
    table(["task", "model", "score", "mean", "spread", "errors avoided"], rows)
    print()
    for name, found in results.items():
        for model in list(found)[1:]:
            for score in found[model]:
                saved = reduction(found, model, score)
                claim(
                    f"{name}: {model} improves {score}",
                    saved > 0,
                    f"{100 * saved:+.1f} % of the errors",
                    quick,
                )
    return lambda plt: draw(plt, results)


def draw(plt, results):
    """Bars of the errors avoided."""
    figure, axes = plt.subplots(figsize=(8, 4), layout="constrained")
    for k, condition in enumerate(list(CONDITIONS)[1:]):
        heights = [
            100 * reduction(r, condition, list(r["base"])[-1]) for r in results.values()
        ]
        axes.bar(
            [i + 0.25 * (k - 1) for i in range(len(heights))],
            heights,
            0.25,
            label=condition,
        )
    labels = [f"{name} ({list(r['base'])[-1]})" for name, r in results.items()]
    axes.set_xticks(range(len(labels)), labels)
    axes.set_ylabel("errors avoided, %")
    axes.axhline(0, color="black", linewidth=0.8)
    axes.legend()
    return figure


def run(arguments):
    """{task: {condition: {score: [value by seed]}}}."""
    return {name: run_task(name, arguments) for name in arguments.tasks.split(",")}


if __name__ == "__main__":
    study(
        "beyond_the_chain", __doc__, ["gsd-zh", "ewt"], run, report,
        tasks=(",".join(TASKS), "words,joint,parse-zh", f"of {','.join(TASKS)}"),
        members=(0, 2, "of an average; 0: 5, and 3 of parsers"),
        epochs=(0, 3, "of each model; 0: 10, and 3 of parsers"),
        folds=(5, 2, "of the reranker's jackknife"),
    )  # fmt: skip
