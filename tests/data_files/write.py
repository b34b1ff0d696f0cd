"""Write model files that later versions have to read: ``PYTHONPATH=. python
tests/data_files/write.py``.

From the release of 0.4.0 on a file that is there already is left as it is: it stands
for the files that users have. What a model predicts is kept beside it, in JSON.
"""

import json
import pathlib
import pickle
import sys
import warnings
from unittest import mock

FOLDER = pathlib.Path(__file__).parent

FILES = {
    "perceptron-17-sparse": True,
    "perceptron-order2-4": True,
    "passive-aggressive-4": True,
    "l1crf-4": True,
    "l1crf-17": True,
    "l1crf-search-4": True,
    "segmenter-l1crf-17": True,
    "spans-text-17": True,
    "averager-17-sparse": True,
    "averager-l1crf-17": True,
    "mixer-4": True,
    "word-segmenter-4": True,
    "parser-4": True,
    "parser-17": True,
    "reranker-l1crf-17": False,
    "calibrated-4": True,
    "sets-4": False,
}
"""Case, number of labels, whether large tables are stored sparsely -> whether the
training state is kept.
"""


KEPT = [
    "perceptron-17-sparse",
    "perceptron-order2-4",
    "l1crf-4",
    "l1crf-search-4",
    "spans-text-17",
    "averager-l1crf-17",
    "mixer-4",
    "word-segmenter-4",
    "parser-4",
    "reranker-l1crf-17",
    "calibrated-4",
    "sets-4",
    "vectorizer",
    "vectors",
    "clusters",
    "union",
]
"""What is kept as a pickle and as a file of skops, too."""


def transformers():
    """Transformers of this package alone: what scikit-learn's hold is for its
    versions.
    """
    from skstruct import FeatureTemplates, NumericFeatures, StructuredPerceptron
    from skstruct.features import SequenceUnion, TokenVectorizer, WordVectors

    X = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["the", "cat"]] * 2
    y = [["D", "N", "V"], ["D", "N", "V"], ["D", "N"]] * 2
    lines = ["U0:%x[0,0]", "U1:%lex_pet[0,0]", "B"]
    templates = FeatureTemplates(lines, {"pet": ["dog", "cat"]})
    vectors = WordVectors(2, min_count=1, random_state=0)
    clusters = WordVectors(2, n_clusters=2, min_count=1, random_state=0).fit(X)
    union = SequenceUnion([("a", vectors), ("b", TokenVectorizer(templates))])
    tagger = StructuredPerceptron(max_iter=2, random_state=0, words=clusters.table())
    numbers = StructuredPerceptron(NumericFeatures(window=(-1, 0)), random_state=0)
    return X, {
        "vectorizer": TokenVectorizer(templates).fit(X),
        "vectors": vectors.fit(X),
        "clusters": tagger.fit(X, y),
        "union": [union.fit(X), numbers.fit(union.transform(X), y)],
    }


def what_it_says(kept, X):
    """What a model predicts, or what becomes of tokens, as JSON."""
    if isinstance(kept, list):
        return kept[1].predict(kept[0].transform(X))
    if hasattr(kept, "predict"):
        return kept.predict(X)
    rows = kept.transform(X)
    return [
        row.toarray().tolist() if hasattr(row, "toarray") else row.tolist()
        for row in rows
    ]


def keep(name):
    """Write a pickle, a file of skops, and what the model says."""
    import skops.io
    from model_cases import fitted

    X, found = transformers()
    if name not in found:
        case, n_labels = name.removesuffix("-sparse").rsplit("-", 1)
        found[name], X, _ = fitted(case, int(n_labels))
    X = X[:8]
    (FOLDER / f"{name}.pickle").write_bytes(pickle.dumps(found[name], protocol=4))
    skops.io.dump(found[name], FOLDER / f"{name}.skops")
    text = json.dumps(
        {"X": X, "says": what_it_says(found[name], X)}, ensure_ascii=False
    )
    (FOLDER / f"{name}.kept.json").write_text(text + "\n", encoding="utf-8")


def write(name, training):
    """Write one model and what it predicts."""
    from model_cases import fitted

    from skstruct._core import store as store_module

    case, n_labels = name.removesuffix("-sparse").rsplit("-", 1)
    smallest = 0 if name.endswith("-sparse") else store_module.DENSE_WEIGHTS
    with mock.patch.object(store_module, "DENSE_WEIGHTS", smallest):
        model, X, _ = fitted(case, int(n_labels))
    X = X[:8]
    model.save(FOLDER / f"{name}.skstruct", training=training)
    expected = {"X": X, "predict": model.predict(X)}
    if hasattr(model, "decision_function"):
        expected["scores"] = model.decision_function(X).tolist()
    text = json.dumps(expected, ensure_ascii=False, separators=(",", ":"))
    (FOLDER / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.path.insert(0, str(FOLDER.parent))
    warnings.simplefilter("ignore")
    for name, training in FILES.items():
        if not (FOLDER / f"{name}.skstruct").exists():
            write(name, training)
    for name in KEPT:
        if not (FOLDER / f"{name}.pickle").exists():
            keep(name)
