"""What a saved model takes: size of the file, as it is and compressed, and the time to load it."""

import gzip
import pathlib
import tempfile
import time
import warnings

import skstruct
from benchmarks.common import CORPORA, table
from skstruct import L1CRF, StructuredPerceptron

REPEAT = 3


def rows_of(name, model, folder):
    """A row with the state of training, one without, and one of the compressed model."""
    rows = []
    for kind in ("with", "without", "compressed"):
        path = pathlib.Path(folder, "model")
        (model.compress() if kind == "compressed" else model).save(path, training=kind == "with")
        seconds = []
        for _ in range(REPEAT):
            began = time.process_time()
            skstruct.load(path)
            seconds.append(time.process_time() - began)
        data = path.read_bytes()
        rows.append([
            name, kind, f"{len(data) / 1e6:.1f} MB",
            f"{len(gzip.compress(data, 6)) / 1e6:.1f} MB", f"{sorted(seconds)[REPEAT // 2]:.2f} s",
        ])  # fmt: skip
    return rows


def main():
    """Measure and print."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for corpus, (load, _, preset) in CORPORA.items():
            X, y = load("train")
            for model in (StructuredPerceptron(preset, random_state=0), L1CRF(preset, random_state=0)):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    model.fit(X, y)
                rows += rows_of(f"{corpus}, `{type(model).__name__}`", model, folder)
    table(["model", "state of training", "file", "by gzip", "load"], rows)


if __name__ == "__main__":
    main()
