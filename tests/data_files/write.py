"""Write model files that later versions have to read: ``PYTHONPATH=. python tests/data_files/write.py``.

A file that is there already is left as it is: it stands for the files that users have. What a model
predicts is kept beside it, in JSON.
"""

import json
import pathlib
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
"""Case, number of labels, whether large tables are stored sparsely -> whether the training state is kept."""


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
