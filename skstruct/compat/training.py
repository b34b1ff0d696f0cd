"""Training as CRFsuite's trainer does it: an estimator of this package, a model file, a log.

The weights are those of pairs of attribute and label that training has shown (often enough), unless the
parameters ask for all. A CRF is trained with these alone. The learners that go example by example learn
weights of all pairs; those of others are left out of the file.
"""

import time
from collections import Counter
from itertools import pairwise
from warnings import catch_warnings, simplefilter

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..core.user_warnings import warn
from ..crf.l1crf import L1CRF
from ..interchange.crfsuite import crfsuite_bytes, crfsuite_model
from ..interchange.foreign import NamedModel
from ..saving.atomic import atomic_write
from ..taggers.perceptron import PassiveAggressiveTagger, StructuredPerceptron
from .items import attributes_of
from .parameters import NO_LIMIT

_TITLES = {
    "lbfgs": "L-BFGS optimization",
    "l2sgd": "Stochastic Gradient Descent (SGD)",
    "averaged-perceptron": "Averaged perceptron",
    "passive-aggressive": "Passive Aggressive",
    "arow": "Adaptive Regularization of Weights (AROW)",
}
_NAMES_IN_LOG = {"period": "stop", "max_linesearch": "linesearch.max_iterations"}
_NOTHING = NamedModel(
    [], [], *(np.zeros(0, kind) for kind in (int, int, float)), {0: np.zeros((0, 0))}, np.ones(0, bool),
    np.ones(0, bool),
)  # fmt: skip


def train(algorithm, values, examples, path, holdout, message):
    """Train on ``examples``, (tokens, labels, group), and write the model to ``path``, unless it is empty."""
    log = _Log(message)
    began = time.perf_counter()
    if holdout >= 0:
        log(f"Holdout group: {holdout + 1}", "")
    data = [(x, y) for x, y, group in examples if group != holdout]
    number = {label: k for k, label in enumerate(dict.fromkeys(label for _, y in data for label in y))}
    counts = _counts(data, number)
    log.features(algorithm, values, sum(map(len, counts.values())), time.perf_counter() - began)
    named, began = _NOTHING, time.perf_counter()
    if number:
        estimator = _estimator(algorithm, values)
        with catch_warnings():
            simplefilter("ignore", ConvergenceWarning)
            # Numbers as labels: sorted, they are in the order of their first occurrence.
            estimator.fit([x for x, _ in data], [[f"{number[label]:08d}" for label in y] for _, y in data])
        held_out = [(x, y) for x, y, group in examples if group == holdout]
        scores = _scores(estimator, list(number), held_out) if held_out else []
        log.iterations(estimator, scores)
        named = crfsuite_model(estimator)._replace(labels=list(number))
        if algorithm not in ("lbfgs", "l2sgd"):
            named = _restricted(named, counts, values)
    else:
        log("L-BFGS terminated with error code (-1020)")
    log(f"Total seconds required for training: {time.perf_counter() - began:.3f}", "")
    began = time.perf_counter()
    if path:
        with atomic_write(path) as file:
            file.write(crfsuite_bytes(named))
    log.stored(named, counts, len(number), time.perf_counter() - began)


def _estimator(algorithm, values):
    least = values["feature.minfreq"]
    states, transitions = (
        values[f"feature.possible_{kind}"] and not least > 0 for kind in ("states", "transitions")
    )
    passes = values["max_iterations"]
    shared = {"max_iter": passes if passes > 0 else NO_LIMIT, "random_state": 0}
    if algorithm in ("lbfgs", "l2sgd"):
        kinds = {(True, False): "states", (False, True): "transitions"}
        crf = L1CRF(
            c1=values.get("c1", 0.0), c2=values["c2"], tol=min(values["delta"], 1e-4),
            all_pairs=kinds.get((states, transitions), states), **shared,
        )  # fmt: skip
        crf._least_seen = least
        return crf
    if algorithm == "averaged-perceptron":
        return StructuredPerceptron(**shared)
    if algorithm == "arow":
        warn("the algorithm 'arow' is not implemented: a passive-aggressive tagger of type 2 is trained")
        return PassiveAggressiveTagger(C=1.0 / values["gamma"], variant="PA-II", **shared)
    return PassiveAggressiveTagger(
        C=values["c"], variant=("PA", "PA-I", "PA-II")[values["type"]],
        cost="hamming" if values["error_sensitive"] else "one",
        average="step" if values["averaging"] else None, **shared,
    )  # fmt: skip


def _counts(data, number):
    """How often attributes and labels, and labels and labels, occur together: {attribute: {label: count}}."""
    states, transitions = {}, {}
    for x, y in data:
        ids = [number[label] for label in y]
        for token, label in zip(x, ids):
            for name, value in attributes_of(token):
                of = states.setdefault(name, {})
                of[label] = of.get(label, 0.0) + value
        for before, after in pairwise(ids):
            of = transitions.setdefault(before, {})
            of[after] = of.get(after, 0) + 1
    return {**states, **{("", label): of for label, of in transitions.items()}}


def _restricted(named, counts, values):
    """The model without weights of pairs that the data does not show often enough."""
    least, nothing = values["feature.minfreq"], {}

    def shown(name, label):
        count = counts.get(name, nothing).get(label)
        return count is not None and count >= least

    if least > 0 or not values["feature.possible_states"]:
        pairs = zip(named.row.tolist(), named.column.tolist())
        keep = np.array([shown(named.names[row], label) for row, label in pairs], bool)
        used, row = np.unique(named.row[keep], return_inverse=True)
        named = named._replace(
            names=[named.names[k] for k in used],
            row=row,
            column=named.column[keep],
            weight=named.weight[keep],
        )
    if least > 0 or not values["feature.possible_transitions"]:
        L = len(named.labels)
        mask = np.array([[shown(("", a), b) for b in range(L)] for a in range(L)])
        named = named._replace(transitions={0: np.where(mask, named.transitions[0], 0.0)})
    return named


def _scores(estimator, labels, held_out):
    """Lines of the log about sequences that were not trained on."""
    found = estimator.predict([x for x, _ in held_out])
    found = [[labels[int(label)] for label in y] for y in found]
    gold = [y for _, y in held_out]
    flat = [(a, b) for y, z in zip(gold, found) for a, b in zip(y, z)]
    match, model, ref = (
        Counter(a for a, b in flat if a == b), Counter(b for _, b in flat), Counter(a for a, _ in flat)
    )  # fmt: skip
    lines, total = ["Performance by label (#match, #model, #ref) (precision, recall, F1):"], np.zeros(3)
    for label in labels:
        counts = match[label], model[label], ref[label]
        if not any(counts):
            shares = "******, ******, ******"
        else:
            figures = [
                counts[0] / counts[1] if counts[1] else 0.0, counts[0] / counts[2] if counts[2] else 0.0,
                2 * counts[0] / (counts[1] + counts[2]),
            ]  # fmt: skip
            total += figures
            shares = ", ".join(f"{share:.4f}" for share in figures)
        lines.append(f"    {label}: {counts} ({shares})")
    macro = ", ".join(f"{share:.6f}" for share in total / len(labels))
    lines.append(f"Macro-average precision, recall, F1: ({macro})")
    right = sum(y == z for y, z in zip(gold, found))
    for what, n, of in (("Item", match.total(), len(flat)), ("Instance", right, len(gold))):
        lines.append(f"{what} accuracy: {n} / {of} ({n / max(of, 1):.4f})")
    return lines


class _Log:
    """Writes what CRFsuite would write."""

    def __init__(self, message):
        self.message = message

    def __call__(self, *lines):
        for line in lines:
            self.message(f"{line}\n")

    def features(self, algorithm, values, n, seconds):
        """The parameters, and the number of weights."""
        self("Feature generation", "type: CRF1d")
        shown = [f"{_NAMES_IN_LOG.get(name, name)}: {_shown(value)}" for name, value in values.items()]
        self(*shown[:3])
        for k in range(51):
            self.message(str(k // 5) if k % 5 == 0 else ".")
        self("", f"Number of features: {n}", f"Seconds required: {seconds:.3f}", "")
        self(_TITLES[algorithm], *shown[3:], "")

    def iterations(self, estimator, scores):
        """The passes; the last one has the scores on sequences that were held out."""
        before = 0.0
        for k, entry in enumerate(estimator.history_, 1):
            loss = entry.get("objective", entry.get("loss"))
            self(f"***** Iteration #{k} *****")
            figures = (
                ("Loss", loss), ("Feature norm", entry.get("norm")), ("Error norm", entry.get("optimality")),
                ("Active features", entry.get("n_active")),
            )  # fmt: skip
            self(*(f"{name}: {_shown(value)}" for name, value in figures if value is not None))
            self(f"Seconds required for this iteration: {entry['seconds'] - before:.3f}")
            before = entry["seconds"] if "stage" in entry else 0.0
            self(*(scores if k == len(estimator.history_) else ()), "")

    def stored(self, named, counts, n_labels, seconds):
        """The end."""
        n_attributes = sum(isinstance(name, str) for name in counts)
        n_active = named.weight.size + np.count_nonzero(named.transitions[0])
        self(
            "Storing the model",
            f"Number of active features: {n_active} ({sum(map(len, counts.values()))})",
            f"Number of active attributes: {len(named.names)} ({n_attributes})",
            f"Number of active labels: {n_labels} ({n_labels})",
            "Writing labels", "Writing attributes", "Writing feature references for transitions",
            "Writing feature references for attributes", f"Seconds required: {seconds:.3f}", "",
        )  # fmt: skip


def _shown(value):
    return (
        f"{value:.6f}" if isinstance(value, float) else str(int(value) if isinstance(value, bool) else value)
    )
