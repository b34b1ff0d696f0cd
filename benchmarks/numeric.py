"""Rows of numbers as tokens: OCR letters, made-up rows, and peers.

The same numbers on both sides, in one process, by processor time, the best of some
repetitions. CRFsuite gets ready dicts. Letters are 128 binary pixels (Taskar's cleaned
version of Kassel's data, ten folds): *small* is trained on one fold and tested on nine,
*large* the other way round. Only 55 different words occur, which a model of order 2
learns.
"""

import argparse
import contextlib
import gc
import subprocess
import sys
import time
import warnings

import numpy as np
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.common import corpus, table
from skstruct import L1CRF, NumericFeatures, SequenceMatrix, StructuredPerceptron
from skstruct.features import TokenTransformer

AS_GIVEN = NumericFeatures(bias=False, scale=1.0)


def seconds(repeat, function, *arguments):
    """Processor time of the best of some calls, and what the last one returned."""
    best = np.inf
    for _ in range(repeat):
        gc.collect()
        began = time.process_time()
        found = function(*arguments)
        best = min(best, time.process_time() - began)
    return best, found


def one_blas_thread():
    """Matrix products on one thread while this lasts."""
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        return contextlib.nullcontext()
    return threadpool_limits(1)


def letters():
    """(X, y, fold): words as rows of 128 pixels."""
    data = np.load(corpus("ocr/ocr_letters.npz"))
    pixels = np.unpackbits(data["pixels"], axis=1)[:, :128]
    X = SequenceMatrix(pixels, data["length"])
    return (
        X,
        X.split([chr(97 + label) for label in data["label"].tolist()]),
        data["fold"],
    )


def as_dicts(X):
    """The same as CRFsuite reads it."""
    rows = [
        [{f"x{c}": float(v) for c, v in enumerate(row) if v} for row in x]
        for x in map(np.asarray, X)
    ]
    return rows


def of(y, which):
    """The labels of some sequences."""
    return [labels for labels, use in zip(y, which.tolist()) if use]


# --------------------------------------------------------------------------------------
# Accuracy
# --------------------------------------------------------------------------------------
def accuracy(folds):
    """Letters right, by part of the data and model."""
    X, y, fold = letters()
    models = {
        "perceptron": StructuredPerceptron(random_state=0),
        "standardised": make_pipeline(
            TokenTransformer(StandardScaler()), StructuredPerceptron(random_state=0)
        ),
        "order 2": StructuredPerceptron(order=2, random_state=0),
        "as given": StructuredPerceptron(AS_GIVEN, random_state=0),
    }
    rows = []
    for name, model in models.items():
        cells = [name]
        for large, bound in ((False, 10), (True, folds)):
            scores = []
            for k in range(bound):
                train = fold != k if large else fold == k
                model.fit(X[train], of(y, train))
                scores.append(model.score(X[~train], of(y, ~train)))
            cells.append(f"{np.mean(scores):.4f}")
        rows.append(cells)
    print(f"\nOCR letters, accuracy (small: 10 folds, large: {folds})\n")
    table(["model", "small", "large"], rows)


# --------------------------------------------------------------------------------------
# Speed
# --------------------------------------------------------------------------------------
def against_crfsuite(repeat):
    """Letters: fit on nine folds and tag nine others, against CRFsuite `ap` on ready
    dicts.
    """
    import sklearn_crfsuite

    X, y, fold = letters()
    train, test = fold != 0, fold != 1
    dicts, labels = as_dicts(X[train]), of(y, train)
    dicts_test = as_dicts(X[test])
    ours, theirs = (
        StructuredPerceptron(random_state=0),
        sklearn_crfsuite.CRF("ap", max_iterations=10),
    )
    ours.fit(X[:50], y[:50]).predict(X[:9])
    rows = [
        [
            "fit",
            seconds(1, theirs.fit, dicts, labels)[0],
            seconds(repeat, ours.fit, X[train], labels)[0],
        ],
        [
            "tag",
            seconds(repeat, theirs.predict, dicts_test)[0],
            seconds(repeat, ours.predict, X[test])[0],
        ],
    ]
    left_out = X[fold == 0]
    y_left_out = of(y, fold == 0)
    right = [
        np.mean([a == b for p, q in zip(found, y_left_out) for a, b in zip(p, q)])
        for found in (theirs.predict(as_dicts(left_out)), ours.predict(left_out))
    ]
    print("\nOCR large (fold 0 left out), 10 epochs; tagging of 9 folds\n")
    table(
        ["", "CRFsuite `ap`, dicts (s)", "StructuredPerceptron (s)", "ratio"],
        [[job, f"{a:.2f}", f"{b:.3f}", f"{a / b:.1f}"] for job, a, b in rows]
        + [["accuracy, fold 0", f"{right[0]:.4f}", f"{right[1]:.4f}", ""]],
    )


def against_seqlearn(repeat):
    """Letters, small: fit and tag, against seqlearn's perceptron, where it installs (it
    takes `six`).
    """
    try:
        import six

        sys.modules.setdefault("sklearn.externals.six", six)
        vars(np).update(int=int, float=float)  # names that NumPy has dropped
        from seqlearn.perceptron import StructuredPerceptron as Theirs
    except (ImportError, AttributeError) as error:
        print(f"\nseqlearn left out: {error}")
        return
    X, y, fold = letters()
    found = {"fit (s)": [], "tag (s)": [], "accuracy": []}
    for model in (
        Theirs(max_iter=10, random_state=0),
        StructuredPerceptron(max_iter=10, random_state=0),
    ):

        def run(verb, which, *labels, model=model):
            if isinstance(model, Theirs):
                labels = [np.concatenate(part) for part in labels]
                return verb(
                    np.asarray(X[which].matrix, float), *labels, X[which].lengths
                )
            return verb(X[which], *labels)

        train, test = fold == 0, fold != 0
        gold = np.concatenate(of(y, test))
        found["fit (s)"].append(seconds(repeat, run, model.fit, train, of(y, train))[0])
        spent, labels = seconds(repeat, run, model.predict, test)
        found["tag (s)"].append(spent)
        labels = labels if isinstance(model, Theirs) else np.concatenate(labels)
        found["accuracy"].append(np.mean(labels == gold))
    print("\nOCR small (fold 0), 10 epochs, against seqlearn\n")
    table(
        ["", "seqlearn", "StructuredPerceptron", "ratio"],
        [
            [job, f"{a:.3f}", f"{b:.3f}", f"{a / b:.2f}"]
            for job, (a, b) in found.items()
        ],
    )


def against_dicts(repeat):
    """Continuous rows against the same as dicts."""
    X, y, fold = letters()
    train, test = fold == 0, fold == 1
    mean = X.matrix.mean(axis=0)
    _, _, axes = np.linalg.svd(X[train].matrix - mean, full_matrices=False)
    rows = SequenceMatrix((X.matrix - mean) @ axes[:64].T, X.lengths)
    a, b, labels = rows[train], rows[test], of(y, train)
    found = {}
    for form, fit, tag in (
        ("dicts", as_dicts(a), as_dicts(b)),
        (
            "CSR",
            *(SequenceMatrix(sparse.csr_array(s.matrix), s.lengths) for s in (a, b)),
        ),
        ("dense", a, b),
    ):
        tagger = StructuredPerceptron(
            "auto" if form == "dicts" else AS_GIVEN, random_state=0
        )
        tagger.fit(fit[:9], labels[:9]).predict(tag[:9])
        fitted = seconds(repeat, tagger.fit, fit, labels)[0]
        found[form] = (
            fitted,
            seconds(repeat, tagger.predict, tag)[0],
            tagger.score(tag, of(y, test)),
        )
    print("\n64 continuous columns, 4,617 training and 5,375 test tokens\n")
    table(
        ["form", "fit (s)", "ratio", "tag (s)", "ratio", "accuracy"],
        [
            [
                form,
                f"{f:.3f}",
                f"{found['dicts'][0] / f:.1f}",
                f"{t:.4f}",
                f"{found['dicts'][1] / t:.1f}",
                f"{s:.4f}",
            ]
            for form, (f, t, s) in found.items()
        ],
    )


def made_up(n, F, L, dtype=np.float64, noise=8.0, seed=0):
    """Rows whose labels are hard to tell: sequences of 20."""
    rng = np.random.default_rng(seed)
    flat = rng.normal(size=(n, F)).astype(dtype)
    scores = flat @ rng.normal(size=(F, L)) + noise * rng.normal(size=(n, L))
    X = SequenceMatrix(flat, [20] * (n // 20))
    return X, X.split(scores.argmax(axis=1).tolist())


def dense_against_sparse(repeat):
    """Epochs and predictions on dense rows, against CSR and a matrix product."""
    rows = []
    for F, L in ((60, 6), (128, 26), (300, 22), (768, 9)):
        X, y = made_up(6000, F, L)
        weights, cells = np.zeros((F, L)), [f"{F}, {L}"]
        with one_blas_thread():
            product, _ = seconds(repeat, np.matmul, X.matrix, weights)
        for form in (
            SequenceMatrix(sparse.csr_array(X.matrix), X.lengths),
            X,
            SequenceMatrix(X.matrix.astype(np.float32), X.lengths),
        ):
            tagger = StructuredPerceptron(AS_GIVEN, max_iter=3, random_state=0)
            tagger.fit(form[:9], y[:9]).predict(form[:9])
            tagger.fit(form, y)
            epoch = min(
                record["seconds"]
                for k in range(repeat)
                for record in tagger.fit(form, y).history_
            )
            cells += [
                f"{1e6 * epoch / 6000:.2f}",
                f"{1e6 * seconds(repeat, tagger.predict, form)[0] / 6000:.2f}",
            ]
        error = tagger.history_[-1]["token_error"]
        ratio = float(cells[1]) / float(cells[3])
        slower = float(cells[4]) * 6000 / 1e6 / product
        rows.append(
            [
                *cells,
                f"{1e6 * product / 6000:.2f}",
                f"{ratio:.1f}",
                f"{slower:.1f}",
                f"{error:.0%}",
            ]
        )
    print("\nMicroseconds a token: an epoch, and prediction\n")
    table(
        ["F, L", "CSR epoch", "predict", "float64 epoch", "predict", "float32 epoch", "predict", "product",
         "CSR / dense", "predict / product", "error"],
        rows,
    )  # fmt: skip


def against_logistic():
    """Sequences of one token: the CRF is logistic regression."""
    flat, labels = load_digits(return_X_y=True)
    X, y = (
        SequenceMatrix(flat / 16.0, [1] * len(flat)),
        [[label] for label in labels.tolist()],
    )
    rows = []
    for name, ours, theirs in (
        ("L2", {"c1": 0.0, "c2": 0.5}, {"C": 1.0}),
        (
            "L1",
            {"c1": 1.0, "c2": 0.0},
            {"C": 1.0, "l1_ratio": 1.0, "solver": "saga", "max_iter": 20000},
        ),
    ):
        crf = L1CRF(
            NumericFeatures(bias=False),
            all_pairs=True,
            tol=1e-9,
            max_iter=5000,
            random_state=0,
            **ours,
        )
        mine, _ = seconds(1, crf.fit, X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            logistic = LogisticRegression(fit_intercept=False, tol=1e-7, **theirs)
            its, _ = seconds(1, logistic.fit, flat / 16.0, labels)
        difference = np.abs(
            np.vstack(crf.predict_marginals(X)) - logistic.predict_proba(flat / 16.0)
        ).max()
        rows.append([name, f"{mine:.2f}", f"{its:.2f}", f"{difference:.1e}"])
    print("\nDigits, sequences of one token\n")
    table(
        [
            "penalty",
            "L1CRF (s)",
            "LogisticRegression (s)",
            "largest difference of probabilities",
        ],
        rows,
    )


def memory(megabytes):
    """Peak of a fit on float32 rows beyond the rows themselves, in a process of its
    own.
    """
    code = f"""
import resource, numpy as np
from skstruct import SequenceMatrix, StructuredPerceptron
n, F = {megabytes} * 2**20 // 4 // 256 // 20 * 20, 256
y = [[f"L{{(k + i) % 9}}" for k in range(20)] for i in range(n // 20)]
tiny = SequenceMatrix(np.random.default_rng(0).normal(size=(400, F)).astype(np.float32), [20] * 20)
StructuredPerceptron(max_iter=1).fit(tiny, y[:20]).predict(tiny)
flat = np.empty((n, F), np.float32)
for first in range(0, n, 4000):
    flat[first : first + 4000] = tiny.matrix[np.arange(first, min(first + 4000, n)) % 400]
X = SequenceMatrix(flat, [20] * (n // 20))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
StructuredPerceptron(max_iter=1, random_state=0).fit(X, y).predict(X)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, flat.nbytes // 1024)
"""
    beyond, size = map(
        int,
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.split(),
    )
    print(
        f"\nMemory of fit and predict beyond {size / 1024:.0f} MB of float32 rows: {beyond / 1024:.0f} MB"
    )


PARTS = {
    "accuracy": lambda a: accuracy(a.folds),
    "crfsuite": lambda a: against_crfsuite(a.repeat),
    "seqlearn": lambda a: against_seqlearn(a.repeat),
    "dicts": lambda a: against_dicts(a.repeat),
    "dense": lambda a: dense_against_sparse(a.repeat),
    "logistic": lambda a: against_logistic(),
    "memory": lambda a: memory(a.megabytes),
}


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], help="all by default")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--folds", type=int, default=10, help="of the large part")
    parser.add_argument("--megabytes", type=int, default=400)
    arguments = parser.parse_args()
    for part in arguments.parts or PARTS:
        PARTS[part](arguments)


if __name__ == "__main__":
    main()
