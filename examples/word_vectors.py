"""
Words from raw text
===================

What do words tell that nobody has labelled?

``WordVectors`` learns from raw text which words are alike. A tagger can use that in two
ways, both beside the templates "word-best": as a further column of the token, the
cluster of the word, which templates read; or as numbers, the vector of the word. Three
questions:

1. What is the gain where all of the raw text has labels? Spanish entities and English
   tags.
2. What is the gain where only a part has labels? The tagger is trained on some of the
   sentences, the vectors on all of them.
3. What is the gain of raw text that comes on top? English tags, with the words of
   CoNLL-2000.

Run it with::

    python examples/word_vectors.py --plot figure.png

Corpora are looked for in the folder ``SKSTRUCT_DATA``. Without them, and with
``--quick``, the embedded sample is read, which is too small to tell anything;
docs/studies.md has the figures.
"""

from itertools import product

import numpy as np
from _study import DATA, claim, mean_and_spread, progress, study, table
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline

from skstruct import StructuredPerceptron
from skstruct.datasets import load_sample, read_columns, read_conllu
from skstruct.features import SequenceUnion, TokenVectorizer, WordVectors
from skstruct.features.presets import WORD_BEST
from skstruct.metrics import segment_f1_score, token_accuracy_score

CLUSTERED = [*WORD_BEST, *(f"Ucluster{d:+d}:%x[{d},1]" for d in (-1, 0, 1))]
"""The templates, and the clusters of a word and of its neighbours."""


def tags(part):
    """Words and PTB tags of the five genres of EWT."""
    files = sorted((DATA / "ewt" / part).glob("*.conllu"))
    rows = [s for file in files for s in read_conllu(file, fields=("form", "xpos"))]
    return [[form for form, _ in s] for s in rows], [
        [tag for _, tag in s] for s in rows
    ]


def columns(path):
    """The first and the last column of a file."""
    rows = read_columns(DATA / path)
    return [[row[0] for row in s] for s in rows], [[row[-1] for row in s] for s in rows]


def tasks(quick):
    """name -> (training set, test sets by name, more raw text, score, dropout)"""
    if quick:
        sample = load_sample("en")
        half = len(sample.tokens) // 2
        a, b = slice(None, half), slice(half, None)
        return {
            name: (
                (sample.tokens[a], y[a]),
                {"other half": (sample.tokens[b], y[b])},
                [],
                score,
                0.05,
            )
            for name, y, score in (
                ("entities, F1", sample.entities, segment_f1_score),
                ("tags, accuracy", sample.pos, token_accuracy_score),
            )
        }
    esp = {
        part: columns(f"conll2002-esp/{part}.txt") for part in ("train", "dev", "test")
    }
    news = columns("conll2000/train.txt")[0] + columns("conll2000/test.txt")[0]
    parts = {part: esp[part] for part in ("dev", "test")}
    return {
        "Spanish entities, F1": (esp["train"], parts, [], segment_f1_score, 0.1),
        "English tags, accuracy": (
            tags("train"),
            {"dev": tags("dev")},
            news,
            token_accuracy_score,
            0.05,
        ),
    }


def model(name, text, dropout, seed, quick):
    """A pipeline from words to labels; the vectors are learned from the text, now."""
    tagger = StructuredPerceptron("word-best", dropout=dropout, random_state=seed)
    if name == "templates":
        return tagger
    words = WordVectors(
        **({"n_components": 5, "min_count": 2} if quick else {}), random_state=seed
    )
    if name == "and vectors":
        vectors = FrozenEstimator(
            words.fit(text)
        )  # not to be fitted again on what has labels
        union = SequenceUnion(
            [("templates", TokenVectorizer("word-best")), ("vectors", vectors)]
        )
        return make_pipeline(union, tagger.set_params(features="auto"))
    words.set_params(n_clusters=10 if quick else 100)
    return make_pipeline(
        FrozenEstimator(words.fit(text)), tagger.set_params(features=CLUSTERED)
    )


def curves(task, sizes, arguments):
    """{test set: {model: scores by size and seed}}"""
    (X, y), parts, more, score, dropout = task
    texts = {
        "templates": [],
        "and clusters": X,
        "and clusters, more text": X + more,
        "and vectors": X,
    }
    if not more:
        del texts["and clusters, more text"]
    found = {}
    for name, seed in product(texts, range(arguments.seeds)):
        order = np.random.RandomState(seed).permutation(len(X))
        pipeline = model(name, texts[name], dropout, seed, arguments.quick)
        for k, n in enumerate(sizes):
            pipeline.fit([X[i] for i in order[:n]], [y[i] for i in order[:n]])
            for part, (X_test, y_test) in parts.items():
                rows = found.setdefault(part, {}).setdefault(name, [[] for _ in sizes])
                rows[k].append(float(score(y_test, pipeline.predict(X_test))))
                progress(
                    f"{name}, seed {seed}, {n} sentences, {part}: {rows[k][-1]:.4f}"
                )
    return found


def clusters(X, quick):
    """What the largest clusters hold."""
    small = (
        {"n_components": 5, "min_count": 2, "n_clusters": 10}
        if quick
        else {"n_clusters": 100}
    )
    grouped = WordVectors(**small, random_state=0).fit(X)
    members = {}
    for word, k in grouped.words_.items():
        members.setdefault(int(grouped.clusters_[k]), []).append(word)
    return [words[:12] for words in sorted(members.values(), key=len)[-4:]]


def run(arguments):
    """By task: sizes, scores by test set, model, size and seed, and some clusters."""
    found = {}
    for title, task in tasks(arguments.quick).items():
        X = task[0][0]
        sizes = [n for n in (500, 2000) if n < len(X)] if not arguments.quick else [40]
        sizes.append(len(X))
        progress(f"{title}: {len(X)} sentences")
        scores = curves(task, sizes, arguments)
        found[title] = {
            "sizes": sizes,
            "scores": scores,
            "clusters": clusters(X, arguments.quick),
        }
    return found


def report(results, quick):
    """Tables of scores, gains over the templates seed by seed, and clusters."""
    for title, found in results.items():
        sizes = found["sizes"]
        for part, models in found["scores"].items():
            rows = [
                [name, *(" ± ".join(mean_and_spread(values)) for values in scores)]
                for name, scores in models.items()
            ]
            table([f"{title}, {part}; sentences", *map(str, sizes)], rows)
            for name in list(models)[1:]:
                pairs = zip(models[name], models["templates"])
                gains = [[a - b for a, b in zip(*pair)] for pair in pairs]
                for n, gain in ((sizes[0], gains[0]), (sizes[-1], gains[-1])):
                    numbers = ", ".join(f"{each:+.4f}" for each in gain)
                    text = f"{title}, {part}, {n} sentences with labels: templates {name} gain with every seed"
                    claim(text, min(gain) > 0, numbers, quick)
        for words in found["clusters"]:
            print(f"\na cluster: {', '.join(words)} ...")
    return lambda plt: draw(plt, results)


def draw(plt, results):
    """Score against sentences with labels, on the first test set."""
    figure, all_axes = plt.subplots(
        1, len(results), figsize=(10, 4), layout="constrained"
    )
    for axes, (title, found) in zip(all_axes, results.items()):
        part, models = next(iter(found["scores"].items()))
        sizes = found["sizes"]
        for name, rows in models.items():
            low, high = np.min(rows, axis=1), np.max(rows, axis=1)
            axes.plot(sizes, np.mean(rows, axis=1), marker=".", label=name)
            axes.fill_between(sizes, low, high, alpha=0.2)
        axes.set(xscale="log", xlabel="sentences with labels", title=f"{title}, {part}")
        axes.set_xticks(sizes, [f"{n:,}" for n in sizes])
        axes.minorticks_off()
        axes.legend()
    return figure


if __name__ == "__main__":
    study("word_vectors", __doc__, ["ewt", "conll2000", "conll2002-esp"], run, report)
