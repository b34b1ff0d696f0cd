"""What a saved model takes: its file, whole and compressed, time to load it, memory,
and its answers.
"""

import gzip
import pathlib
import statistics
import tempfile
import time
import warnings

import skstruct
from benchmarks.common import CORPORA, table
from skstruct import L1CRF, StructuredPerceptron
from skstruct.metrics import token_accuracy_score

REPEAT = 5
SMALLER = {
    "as it is": None,
    "`compress()`": {},
    '`compress(dtype="float16")`': {"dtype": "float16"},
    "`compress(keep=0.5)`": {"keep": 0.5},
    "`compress(keep=0.2)`": {"keep": 0.2},
    "`compress(keep=0.1)`": {"keep": 0.1},
}


def rows_of(name, model, X, y, path):
    """A row for the file with the state of training, and one for each kind of smaller
    model.
    """
    labels = model.predict(X)
    model.save(path)
    rows = [[name, "with the state of training", *_sizes(path), "", "", ""]]
    for kind, options in SMALLER.items():
        smaller = model if options is None else model.compress(**options)
        smaller.save(path, training=False)
        loaded = skstruct.load(path)
        found = loaded.predict(X)
        rows.append([
            name, kind, *_sizes(path), f"{loaded.info()['memory_bytes'] / 1e6:.1f} MB",
            f"{sum(a != b for a, b in zip(labels, found)):,} of {len(X):,}",
            f"{token_accuracy_score(y, found):.4f}",
        ])  # fmt: skip
    return rows


def _sizes(path):
    """The file, the same by gzip, and the seconds of processor time to load it."""
    seconds = []
    for _ in range(REPEAT):
        began = time.process_time()
        skstruct.load(path)
        seconds.append(time.process_time() - began)
    data = path.read_bytes()
    return [
        f"{len(data) / 1e6:.1f} MB",
        f"{len(gzip.compress(data, 6)) / 1e6:.1f} MB",
        f"{statistics.median(seconds):.2f} s",
    ]


def main():
    """Measure and print."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "model")
        for corpus, (load, _, preset) in CORPORA.items():
            (X, y), test = load("train"), load("test")
            for model in (
                StructuredPerceptron(preset, random_state=0),
                L1CRF(preset, c1=1.0, c2=0.0, all_pairs=True, n_jobs=1),
            ):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    model.fit(X, y)
                rows += rows_of(
                    f"{corpus}, `{type(model).__name__}`", model, *test, path
                )
    header = [
        "model",
        "kind",
        "file",
        "by gzip",
        "load",
        "memory",
        "sequences labelled otherwise",
        "accuracy",
    ]
    table(header, rows)


if __name__ == "__main__":
    main()
