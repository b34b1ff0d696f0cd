"""What one would pick instead, on public corpora: spaCy, CRFsuite, NLTK and pkuseg on
entities, tags, words.

Same split, same scorer, one thread; seconds are processor time, without compilation of
ours. spaCy trains what ``init config --optimize efficiency`` writes, from nothing,
until it stops by itself. Peers that are not installed are left out: ``pip install
".[peers]"``, best in an environment of its own. No CRF of CRFsuite has more than 100
passes.
"""

import argparse
import functools
import importlib.util
import os
import pathlib
import random
import sys
import tempfile

from threadpoolctl import threadpool_limits

from benchmarks.common import Stopwatch, load_esp, load_ewt, load_gsd, table
from benchmarks.spans import detokenized, repaired
from skstruct import Segmenter, SpanTagger, StructuredPerceptron
from skstruct.features import WordVectors
from skstruct.metrics import (
    segment_f1_score,
    span_f1_score,
    token_accuracy_score,
    word_f1_score,
)


def processor_time():
    """Seconds of this process and of those that it has started."""
    return sum(os.times()[:4])


STEPS = int(os.environ.get("SPACY_STEPS", 20_000))
"""After which spaCy stops at the latest; its own default, which it hardly reaches."""


# --------------------------------------------------------------------------------------
# Entities: (words, labels) of sentences, and (text, spans) of the same
# --------------------------------------------------------------------------------------
def entities(n, seed):
    """The training sentences chosen, the raw text of all, and dev and test."""
    train, dev, test = (list(zip(*load_esp(part))) for part in ("train", "dev", "test"))
    raw = [detokenized([sentence])[0] for sentence in train]
    return random.Random(seed).sample(train, min(n, len(train))), dev, test, raw


def as_texts(sentences):
    """Texts and their spans."""
    return list(map(list, zip(*(detokenized([sentence]) for sentence in sentences))))


def our_entities(data, watch, seed, clusters=False):
    """``SpanTagger()``; with clusters of the words of all training texts, labelled or
    not.
    """
    train, _, test, raw = data

    def fit():
        words = (
            WordVectors(n_clusters=500, random_state=seed).fit_text(raw).table()
            if clusters
            else None
        )
        tagger = SpanTagger(words=words).set_params(tagger__random_state=seed)
        return tagger.fit(*as_texts(train))

    model = watch.time("fit", fit)
    X, y = as_texts(test)
    return span_f1_score(y, watch.time("predict", model.predict, X)), sum(map(len, X))


def crfsuite_entities(data, watch, seed):
    """The features of sklearn-crfsuite's tutorial that need no tags, and its
    settings.
    """
    import sklearn_crfsuite

    train, _, test, _ = data
    X, y = zip(*train)
    X_test, y_test = zip(*test)

    def fit():
        crf = sklearn_crfsuite.CRF(
            algorithm="lbfgs", c1=0.1, c2=0.1, max_iterations=100
        )
        return crf.fit([word_features(words) for words in X], y)

    model = watch.time("fit", fit)
    found = watch.time(
        "predict", lambda: model.predict([word_features(words) for words in X_test])
    )
    return segment_f1_score(y_test, found), sum(map(len, as_texts(test)[0]))


def word_features(words):
    """Dicts of features of a sentence."""
    words = list(map(repaired, words))
    shapes = [
        {
            "lower": w.lower(),
            "istitle": w.istitle(),
            "isupper": w.isupper(),
            "isdigit": w.isdigit(),
        }
        for w in words
    ]
    found = []
    for t, word in enumerate(words):
        features = {
            "bias": 1.0,
            "suffix3": word[-3:],
            "suffix2": word[-2:],
            **shapes[t],
        }
        for d in (-1, 1):
            if 0 <= t + d < len(words):
                features |= {
                    f"{d:+d}:{name}": value for name, value in shapes[t + d].items()
                }
            else:
                features["BOS" if d < 0 else "EOS"] = True
        found.append(features)
    return found


def spacy_entities(data, watch, seed):
    """A blank model: no vectors."""
    import spacy
    from spacy.cli.init_config import init_config
    from spacy.cli.train import train as train_spacy
    from spacy.tokens import DocBin

    train, dev, test, _ = data
    blank = spacy.blank("es")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        config = init_config(lang="es", pipeline=["ner"], optimize="efficiency")
        config.to_disk(folder / "config.cfg")
        for name, part in (("train", train), ("dev", dev)):
            docs = DocBin()
            for text, spans in zip(*as_texts(part)):
                doc = blank.make_doc(text)
                doc.ents = filter(
                    None, (doc.char_span(a, b, label) for a, b, label in spans)
                )
                docs.add(doc)
            docs.to_disk(folder / f"{name}.spacy")
        changed = {
            f"paths.{name}": str(folder / f"{name}.spacy") for name in ("train", "dev")
        }
        changed |= {"training.seed": seed, "training.max_steps": STEPS}
        watch.time(
            "fit",
            lambda: train_spacy(
                folder / "config.cfg", folder / "out", overrides=changed
            ),
        )
        model = spacy.load(folder / "out" / "model-best")
    X, y = as_texts(test)
    docs = watch.time("predict", lambda: list(model.pipe(X)))
    found = [[(e.start_char, e.end_char, e.label_) for e in doc.ents] for doc in docs]
    return span_f1_score(y, found), sum(map(len, X))


# --------------------------------------------------------------------------------------
# Tags and words
# --------------------------------------------------------------------------------------
def tags(n, seed):
    """Some of the training sentences, and the dev set."""
    train = list(zip(*load_ewt("train")))
    chosen = random.Random(seed).sample(train, min(n, len(train)))
    return (*map(list, zip(*chosen)), *load_ewt("dev"))


def our_tags(data, watch, seed):
    """The recipe without averaging."""
    X, y, X_test, y_test = data
    tagger = StructuredPerceptron("word-best", dropout=0.05, random_state=seed)
    model = watch.time("fit", tagger.fit, X, y)
    found = watch.time("predict", model.predict, X_test)
    return token_accuracy_score(y_test, found), sum(
        len(word) + 1 for words in X_test for word in words
    )


def nltk_tags(data, watch, seed):
    """The averaged perceptron, from nothing, with its five passes."""
    from nltk.tag.perceptron import PerceptronTagger

    X, y, X_test, y_test = data
    random.seed(seed)  # it shuffles with the global generator
    model = PerceptronTagger(load=False)
    watch.time("fit", model.train, [list(zip(*pair)) for pair in zip(X, y)])
    found = watch.time(
        "predict", lambda: [[tag for _, tag in model.tag(words)] for words in X_test]
    )
    return token_accuracy_score(y_test, found), sum(
        len(word) + 1 for words in X_test for word in words
    )


def words(n, seed):
    """Some of the training sentences, and the test set: texts and their words."""
    parts = [
        (X, [[word for word, _ in sentence] for sentence in y])
        for X, y in map(load_gsd, ("train", "test"))
    ]
    chosen = random.Random(seed).sample(list(zip(*parts[0])), min(n, len(parts[0][0])))
    return (*map(list, zip(*chosen)), *parts[1])


def our_words(data, watch, seed, features=None):
    """``Segmenter()``, or the recipe without averaging."""
    X, y, X_test, y_test = data
    model = Segmenter().set_params(tagger__random_state=seed)
    if features:
        tagger = StructuredPerceptron(
            features, dropout=0.1, max_iter=20, random_state=seed
        )
        model = Segmenter(tagger, scheme="B2B3MES")
    watch.time("fit", model.fit, X, y)
    found = watch.time("predict", model.predict, X_test)
    return word_f1_score(y_test, found), sum(map(len, X_test))


def pkuseg_words(data, watch, seed):
    """spacy-pkuseg, from nothing."""
    import spacy_pkuseg

    X, y, X_test, y_test = data
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, part in (("train", y), ("test", y_test)):
            lines = "".join(" ".join(each) + "\n" for each in part)
            (folder / name).write_text(lines, encoding="utf-8")
        files = [str(folder / name) for name in ("train", "test", "model")]
        watch.time("fit", functools.partial(spacy_pkuseg.train, train_iter=20), *files)
        model = spacy_pkuseg.pkuseg(files[2], user_dict=None)  # none of its own words
    found = watch.time("predict", lambda: [model.cut(text) for text in X_test])
    return word_f1_score(y_test, found), sum(map(len, X_test))


RECIPE = functools.partial(our_words, features="char-best")
CLUSTERS = functools.partial(our_entities, clusters=True)

TASKS = {
    "entities": (
        entities,
        {
            "`SpanTagger()`": (our_entities, None),
            "`SpanTagger(words=...)`, raw text of all": (CLUSTERS, None),
            "sklearn-crfsuite": (crfsuite_entities, "sklearn_crfsuite"),
            "spaCy, blank": (spacy_entities, "spacy"),
        },
    ),
    "tags": (
        tags,
        {
            '`StructuredPerceptron("word-best")`': (our_tags, None),
            "NLTK, averaged perceptron": (nltk_tags, "nltk"),
        },
    ),
    "words": (
        words,
        {
            "`Segmenter()`": (our_words, None),
            '`Segmenter`, "char-best", six tags': (RECIPE, None),
            "spacy-pkuseg": (pkuseg_words, "spacy_pkuseg"),
        },
    ),
}
"""Task -> (what loads its data, {model: (what measures it, the package that it
needs)}).
"""


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tasks", nargs="*", choices=[*TASKS, []], help="default: all")
    parser.add_argument(
        "--sentences",
        type=int,
        nargs="+",
        default=[200, 2000, 10**9],
        help="to train on",
    )
    parser.add_argument("--only", default="", help="models whose names hold this")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    rows = []
    with threadpool_limits(1):
        for name in arguments.tasks or TASKS:
            load, models = TASKS[name]
            for n in arguments.sentences:
                data = load(n, arguments.seed)
                for model, (measure, package) in models.items():
                    if arguments.only not in model:
                        continue
                    if package and importlib.util.find_spec(package) is None:
                        print(f"{model}: {package} is not installed", file=sys.stderr)
                        continue
                    if package is None:  # compile
                        measure(load(50, 0), Stopwatch(), arguments.seed)
                    watch = Stopwatch(processor_time)
                    score, characters = measure(data, watch, arguments.seed)
                    speed = characters / max(watch.median("predict"), 0.01)
                    seconds = f"{watch.median('fit'):.1f} s"
                    rows.append(
                        [
                            name,
                            len(data[0]),
                            model,
                            f"{score:.4f}",
                            seconds,
                            f"{speed:,.0f}",
                        ]
                    )
                    print(*rows[-1], file=sys.stderr)
    table(["task", "sentences", "model", "score", "fit", "characters a second"], rows)


if __name__ == "__main__":
    main()
