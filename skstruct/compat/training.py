"""Training as CRFsuite's trainer does it: an estimator of this package, a model file, a log.

A model has weights for the pairs of attribute and label that training has shown (often enough), unless the
parameters ask for all; CRFsuite counts an attribute of value 0 as shown.
"""

import time
from itertools import chain
from warnings import catch_warnings, simplefilter

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import confusion_matrix

from ..core.user_warnings import warn
from ..crf.l1crf import L1CRF
from ..features.vectorizer import TokenVectorizer
from ..interchange.crfsuite import ALL_PAIRS, crfsuite_bytes, crfsuite_model
from ..interchange.foreign import NamedModel
from ..saving.atomic import write_whole
from ..taggers.perceptron import PassiveAggressiveTagger, StructuredPerceptron
from .parameters import DEFAULTS, NO_LIMIT

_NOTHING = NamedModel(
    [], [], *[np.zeros(0, int)] * 2, np.zeros(0), {0: np.zeros((0, 0))}, *[np.ones(0, bool)] * 2
)
_SHOWN = 1e-100
"""Stands for the value 0: the attribute is shown, and no sum of other values changes."""


def train(algorithm, values, examples, path, holdout, message):
    """Train on ``examples``, (tokens, labels, group), and write the model to ``path``, unless it is empty."""

    def log(*lines):
        for line in lines:
            message(f"{line}\n")

    began = time.perf_counter()
    if holdout >= 0:
        log(f"Holdout group: {holdout + 1}", "")
    data = [(list(map(_shown, x)), y) for x, y, group in examples if group != holdout]
    number = {label: k for k, label in enumerate(dict.fromkeys(label for _, y in data for label in y))}
    # Numbers as labels: sorted, they are in the order of their first occurrence.
    X, y = [x for x, _ in data], [[f"{number[label]:08d}" for label in y] for _, y in data]
    estimator = _estimator(algorithm, values, len(data))
    n_features, n_attributes = _counts(X, y, estimator) if number else (0, 0)
    shown = [f"{name}: {_figure(value)}" for name, value in values.items()]
    log("Feature generation", "type: CRF1d", *shown[:3])
    for k in range(51):
        message(str(k // 5) if k % 5 == 0 else ".")
    log("", f"Number of features: {n_features}", f"Seconds required: {time.perf_counter() - began:.3f}", "")
    log(algorithm, *shown[3:], "")
    named, began = _NOTHING, time.perf_counter()
    if number:
        with catch_warnings():
            simplefilter("ignore", ConvergenceWarning)
            estimator.fit(X, y)
        held_out = [(x, y) for x, y, group in examples if group == holdout]
        log(*_iterations(estimator, _scores(estimator, list(number), held_out) if held_out else []))
        named = _written(crfsuite_model(estimator), list(number))
    else:
        log("L-BFGS terminated with error code (-1020)")
    log(f"Total seconds required for training: {time.perf_counter() - began:.3f}", "")
    began = time.perf_counter()
    if path:
        write_whole(path, crfsuite_bytes(named))
    n_active = named.weight.size + np.count_nonzero(named.transitions[0])
    log(
        "Storing the model",
        f"Number of active features: {n_active} ({n_features})",
        f"Number of active attributes: {len(named.names)} ({n_attributes})",
        f"Number of active labels: {len(number)} ({len(number)})",
        f"Seconds required: {time.perf_counter() - began:.3f}",
        "",
    )


def _shown(token):
    """A token whose attributes of value 0 are there."""
    if isinstance(token, list):
        return token
    return {name: value if value or value == "" else _SHOWN for name, value in token.items()}


def _estimator(algorithm, values, n):
    least, passes = values["feature.minfreq"], values["max_iterations"]
    asked = (values[f"feature.possible_{kind}"] and not least > 0 for kind in ("states", "transitions"))
    shared = {"random_state": 0, "all_pairs": ALL_PAIRS[tuple(asked)]}
    if algorithm == "arow":
        warn("the algorithm 'arow' is not implemented: a passive-aggressive tagger of type 2 is trained")
        gamma = values["gamma"]
        instead = {"type": 2, "c": values["variance"] / gamma / 2} if gamma else {"type": 0}
        values = {**DEFAULTS["passive-aggressive"], **values, **instead}
    if algorithm in ("lbfgs", "l2sgd"):
        found = L1CRF(
            c1=values.get("c1", 0.0), c2=values["c2"], tol=min(values["delta"], 1e-4),
            max_iter=passes if passes > 0 else NO_LIMIT, **shared,
        )  # fmt: skip
    elif algorithm == "averaged-perceptron":
        found = StructuredPerceptron(max_iter=passes, **shared)
        found._enough = "token_error", values["epsilon"]
    else:
        found = PassiveAggressiveTagger(
            C=values["c"], variant=("PA", "PA-I", "PA-II")[values["type"]], max_iter=passes,
            average="step" if values["averaging"] else None,
            cost="hamming" if values["error_sensitive"] else "one", **shared,
        )  # fmt: skip
        found._enough = "loss", values["epsilon"] * n
    found._least_seen = least
    return found


def _counts(X, y, estimator):
    """(pairs that can have a weight, attributes)"""
    least, all_pairs = estimator._least_seen, estimator.all_pairs
    values = TokenVectorizer().fit_transform(X).matrix
    labels, n = len(set(chain.from_iterable(y))), values.shape[1]
    label = sparse.identity(labels, format="csr")[np.concatenate(y).astype(int)]
    inner = np.ones(label.shape[0], bool)
    inner[np.cumsum([len(each) for each in y if each][:-1], dtype=int)] = False  # first tokens
    later = label[1:].multiply(inner[1:, None])
    pairs = {"states": abs(values).T @ label, "transitions": label[:-1].T @ later}
    sizes = [
        of.shape[0] * of.shape[1] if all_pairs in (True, kind) else np.count_nonzero(of.data >= least)
        for kind, of in pairs.items()
    ]
    return sum(sizes), n


def _written(named, labels):
    """The model without the weights of attributes that were always 0."""
    keep = np.abs(named.weight) > np.sqrt(_SHOWN)
    used, row = np.unique(named.row[keep], return_inverse=True)
    names, column, weight = [named.names[k] for k in used], named.column[keep], named.weight[keep]
    return named._replace(labels=labels, names=names, row=row, column=column, weight=weight)


def _scores(estimator, labels, held_out):
    """Lines of the log about sequences that were not trained on."""
    gold = [y for _, y in held_out]
    found = [[labels[int(k)] for k in y] for y in estimator.predict([x for x, _ in held_out])]
    flat = [[label for y in part for label in y] for part in (gold, found)]
    every = list(dict.fromkeys([*labels, *flat[0]]))
    table = confusion_matrix(*flat, labels=every)
    counts = np.array([table.diagonal(), table.sum(0), table.sum(1)])
    match, model, ref = counts
    shares = np.array([match, match, 2 * match]) / np.maximum([model, ref, model + ref], 1)
    lines = ["Performance by label (#match, #model, #ref) (precision, recall, F1):"]
    for label, n, share in zip(every, counts.T.tolist(), shares.T):
        figures = ", ".join(f"{each:.4f}" if any(n) else "******" for each in share)
        lines.append(f"    {label}: {tuple(n)} ({figures})")
    macro = ", ".join(f"{share:.6f}" for share in shares.mean(axis=1))
    lines.append(f"Macro-average precision, recall, F1: ({macro})")
    right = sum(y == z for y, z in zip(gold, found))
    for what, n, of in (("Item", match.sum(), len(flat[0])), ("Instance", right, len(gold))):
        lines.append(f"{what} accuracy: {n} / {of} ({n / max(of, 1):.4f})")
    return lines


def _iterations(estimator, scores):
    """Lines of the log about the passes; the last one has the scores on sequences that were held out."""
    before, history = 0.0, estimator.history_
    # Programs read the loss of each iteration; passes of SGD, which begin a training, do not measure it.
    entries = [e for e in history if e.get("objective", e.get("loss")) is not None] or history
    for k, entry in enumerate(entries, 1):
        yield f"***** Iteration #{k} *****"
        figures = (
            ("Loss", entry.get("objective", entry.get("loss"))), ("Feature norm", entry.get("norm")),
            ("Error norm", entry.get("optimality")), ("Active features", entry.get("n_active")),
        )  # fmt: skip
        yield from (f"{name}: {_figure(value)}" for name, value in figures if value is not None)
        yield f"Seconds required for this iteration: {entry['seconds'] - before:.3f}"
        before = entry["seconds"] if "stage" in entry else 0.0
        yield from scores if k == len(entries) else ()
        yield ""


def _figure(value):
    if isinstance(value, float):
        return f"{value:.6f}"
    return str(int(value) if isinstance(value, bool) else value)
