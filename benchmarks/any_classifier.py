"""Parts of scikit-learn in structured models: classifiers under a chain, columns of a
table, unions.

Idea: a classifier's scores, out of fold by sequence, are the rows of a tagger; what it
says alone stands beside it. Letters are those of `benchmarks.numeric`: *small*, trained
on one of ten folds and tested on nine. Chunks are those of CoNLL-2000, with the columns
made by a `ColumnTransformer`.
"""

import argparse
import gc
import time

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from benchmarks.common import load_conll2000, table
from benchmarks.numeric import letters, of, seconds
from skstruct import NumericFeatures, SequenceMatrix, StructuredPerceptron
from skstruct.features import (
    SequenceUnion,
    TokenPredictions,
    TokenTransformer,
    TokenVectorizer,
)
from skstruct.metrics import segment_f1_score

CLASSIFIERS = {
    "naive Bayes": lambda: BernoulliNB(),
    "logistic regression": lambda: LogisticRegression(max_iter=200),
    "nearest neighbours": lambda: KNeighborsClassifier(5, weights="distance"),
    "extra trees": lambda: ExtraTreesClassifier(200, random_state=0),
    "gradient boosting": lambda: HistGradientBoostingClassifier(
        max_iter=20, max_leaf_nodes=15, random_state=0
    ),
}


# --------------------------------------------------------------------------------------
# Letters
# --------------------------------------------------------------------------------------
def classifiers(folds, names):
    """Letters right: each classifier alone, under a chain, and under a chain of order
    2.
    """
    X, y, fold = letters()
    rows = []
    for name in names or CLASSIFIERS:
        found, took = [], []
        for k in range(folds):
            train = fold == k
            labels, right = (
                of(y, train),
                np.concatenate([np.array(part) for part in of(y, ~train)]),
            )
            predictions = TokenPredictions(CLASSIFIERS[name]())
            began = time.process_time()
            scores = predictions.fit_transform(X[train], labels)
            took.append(time.process_time() - began)
            test = predictions.transform(X[~train])
            alone = predictions.classes_[test.matrix.argmax(axis=1)]
            taggers = [
                StructuredPerceptron(order=order, random_state=0) for order in (1, 2)
            ]
            accuracies = [
                tagger.fit(scores, labels).score(test, of(y, ~train))
                for tagger in taggers
            ]
            found.append([np.mean(alone == right), *accuracies])
        mean, spread = np.mean(found, axis=0), np.std(found, axis=0)
        cells = [f"{m:.4f} ({s:.4f})" for m, s in zip(mean, spread)]
        rows.append([name, *cells, f"{np.mean(took):.1f}"])
    print(f"\nOCR letters small, {folds} folds: accuracy (standard deviation)\n")
    table(
        ["classifier", "alone", "chain", "order 2", "training of six classifiers (s)"],
        rows,
    )


# --------------------------------------------------------------------------------------
# Chunks
# --------------------------------------------------------------------------------------
def chunk_pipeline(with_letters):
    """Forms and tags, and character n-grams, by a `ColumnTransformer`, with those of
    the neighbours.
    """
    letters_of = HashingVectorizer(
        analyzer="char_wb", ngram_range=(1, 4), n_features=2**18, norm=None, binary=True
    )
    parts = [("form and tag", OneHotEncoder(handle_unknown="ignore"), [0, 1])]
    columns = ColumnTransformer(
        [*parts, ("letters", letters_of, 0)] if with_letters else parts
    )
    features = NumericFeatures(window=(-1, 1))
    return make_pipeline(
        TokenTransformer(columns), StructuredPerceptron(features, random_state=0)
    )


def chunks(n_sentences):
    """F1 of `ColumnTransformer` pipelines and of templates, in one run."""
    X, y = load_conll2000("train")
    X_test, y_test = load_conll2000("test")
    X, y = X[:n_sentences], y[:n_sentences]
    models = {
        "ColumnTransformer: form, tag": chunk_pipeline(False),
        "the same and letters": chunk_pipeline(True),
        "templates": StructuredPerceptron("chunk", random_state=0),
    }
    rows = []
    for name, model in models.items():
        model.fit(X[:20], y[:20])
        fitted, _ = seconds(1, model.fit, X, y)
        tagged, predicted = seconds(1, model.predict, X_test)
        f1 = segment_f1_score(y_test, predicted, scheme="BIO")
        rows.append([name, f"{f1:.4f}", f"{fitted:.1f}", f"{tagged:.1f}"])
    print(f"\nCoNLL-2000 chunks, {len(X)} sentences\n")
    table(["model", "F1", "fit (s)", "tag (s)"], rows)


# --------------------------------------------------------------------------------------
# Unions
# --------------------------------------------------------------------------------------
def union(repeat, n_columns):
    """Training on templates and vectors together against the sum of both apart."""
    X, y = load_conll2000("train")
    X, y = X[:3000], y[:3000]
    rng = np.random.default_rng(0)
    forms = {form: None for sentence in X for form, _ in sentence}
    vectors = dict(
        zip(forms, rng.normal(size=(len(forms), n_columns)).astype(np.float32))
    )
    flat = np.array([vectors[form] for sentence in X for form, _ in sentence])

    class Vectors:
        def fit(self, X, y=None):
            return self

        def transform(self, X):
            return SequenceMatrix(flat, [len(x) for x in X])

    parts = {"templates": TokenVectorizer("chunk"), "vectors": Vectors()}
    both = SequenceUnion(list(parts.items()))
    times, rows = {}, []
    for name, part in {**parts, "union": both}.items():
        rows_of = part.fit(X, y).transform(X)
        tagger = StructuredPerceptron(random_state=0)
        tagger.fit(rows_of[:20], y[:20])
        gc.collect()
        times[name], _ = seconds(repeat, tagger.fit, rows_of, y)
    times["templates, from tokens"], _ = seconds(
        repeat, StructuredPerceptron("chunk", random_state=0).fit, X, y
    )
    rows = [[name, f"{t:.2f}"] for name, t in times.items()]
    ratio = times["union"] / (times["templates"] + times["vectors"])
    print(
        f"\nFit on {len(X)} sentences of CoNLL-2000, {n_columns} columns of vectors\n"
    )
    table(
        ["tokens", "fit (s)"],
        [*rows, ["union / (templates + vectors)", f"{ratio:.2f}"]],
    )


PARTS = {
    "classifiers": lambda a: classifiers(a.folds, a.only),
    "chunks": lambda a: chunks(a.sentences),
    "union": lambda a: union(a.repeat, a.columns),
}


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], help="all by default")
    parser.add_argument("--folds", type=int, default=10, help="of letters")
    parser.add_argument(
        "--only", action="append", choices=CLASSIFIERS, help="a classifier; repeatable"
    )
    parser.add_argument("--sentences", type=int, default=4000, help="of chunks")
    parser.add_argument("--columns", type=int, default=64, help="of vectors")
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    for part in arguments.parts or PARTS:
        PARTS[part](arguments)


if __name__ == "__main__":
    main()
