"""What holds of every tagger's predictions: batches and threads, k best, allowed
labels, probabilities.
"""

import itertools
import math

import numpy as np
from scipy.special import logsumexp

from .. import inside
from .outcomes import attempt, close, finite, on_purpose, same


def length(sequence):
    return sequence.shape[0] if hasattr(sequence, "shape") else len(sequence)


def some(X, which):
    """The sequences of a corpus at these places."""
    return X[np.asarray(which, int)] if hasattr(X, "shape") else [X[i] for i in which]


def classes_of(model):
    """The labels of a model, in the order of its columns."""
    return [
        tuple(v) if isinstance(v, (list, np.ndarray)) else v
        for v in model.classes_.tolist()
    ]


def check_decoding(draw, model, X, labels=None):
    """``(predictions, scores)``, which are the same in batches and with threads."""
    try:
        found = model.predict(X)
        scores = (
            model.decision_function(X) if hasattr(model, "decision_function") else None
        )
    except ValueError as error:
        if "leave no labelling" in str(error) or not on_purpose(error):
            raise
        raise AssertionError(
            f"predict refuses tokens like those of training: {error}"
        ) from error
    assert [len(s) for s in found] == [length(s) for s in X], "lengths of predict"
    assert labels is None or {label for s in found for label in s} <= set(labels), (
        "a label never trained"
    )
    if "n_jobs" in model.get_params():
        same(
            model.set_params(n_jobs=draw.one(2, 3)).predict(X),
            found,
            "predict with more n_jobs",
        )
        model.set_params(n_jobs=1)
    i = draw.int(0, len(found) - 1)
    same(model.predict(X[i : i + 1]), found[i : i + 1], "predict of one sequence")
    if scores is not None and finite(scores):
        close(
            model.decision_function(X[i : i + 1]),
            scores[i : i + 1],
            "decision_function of one sequence",
        )
    return found, scores


def check_ranking(best, k, first, score, what):
    """The k best outputs of one sequence are distinct and in order; the first is what
    ``predict`` gives.
    """
    values = [value for _, value in best]
    assert 1 <= len(best) <= k, f"{what}: {len(best)} of {k}"
    if not finite(values):
        return
    size = max(1.0, *map(abs, values))
    assert all(a >= b - 1e-9 * size for a, b in itertools.pairwise(values)), (
        f"{what}: not descending"
    )
    assert len({repr(output) for output, _ in best}) == len(best), (
        f"{what}: one output twice"
    )
    if score is not None:
        close(values[0], score, f"{what}: the first, and decision_function")
    if len(values) == 1 or values[0] - values[1] > 1e-7 * size:
        assert list(best[0][0]) == list(first), (
            f"{what}: the first is not what predict gives"
        )


def check_kbest(draw, model, X, found, scores, **given):
    k = draw.one(1, 2, 3, 5, 20, 50)
    draw.note(k=k)
    for i, best in enumerate(model.predict_kbest(X, k, **given)):
        if len(found[i]):
            check_ranking(
                best,
                k,
                found[i],
                None if scores is None else scores[i],
                f"k best of sequence {i}",
            )


def check_allowed(draw, model, X, y, labels):
    """Predictions keep to what is allowed."""

    def options():
        return draw.one(
            None,
            None,
            draw.one(*labels),
            {draw.one(*labels), draw.one(*labels)},
            set(labels),
        )

    allowed = [[options() for _ in sequence] for sequence in y]
    found = model.predict(X, allowed=allowed)
    for label, option in zip(itertools.chain(*found), itertools.chain(*allowed)):
        fits = option is None or (
            label in option if isinstance(option, set) else label == option
        )
        assert fits, f"{label!r} is not in {option!r}"
    check_kbest(draw, model, X, found, None, allowed=allowed)


def check_probabilities(draw, model, X, found, scores):
    """Marginals are probabilities, and agree with log-probabilities."""
    marginals = model.predict_marginals(X)
    for i, m in enumerate(marginals):
        assert m.shape[0] == len(found[i]), "lengths of marginals"
        close(
            m.sum(axis=1),
            np.ones(m.shape[0]),
            f"sums of marginals, sequence {i}",
            atol=1e-6,
        )
        assert (m >= -1e-12).all() and (m <= 1 + 1e-9).all(), (
            "marginals outside of [0, 1]"
        )
    model.predict_posterior(X)
    log_proba = model.sequence_log_proba(X, found)
    assert (log_proba <= 1e-6 * (1 + np.abs(scores))).all(), "log-probability above 0"
    anything = model.sequence_log_proba(X, [[None] * len(s) for s in found])
    close(anything, np.zeros(len(found)), "log-probability of anything", atol=1e-6)
    for i in [i for i in range(len(found)) if len(found[i])][:4]:
        t = draw.int(0, len(found[i]) - 1)
        one = [label if k == t else None for k, label in enumerate(found[i])]
        p = math.exp(float(model.sequence_log_proba(X[i : i + 1], [one])[0]))
        expected = marginals[i][t, classes_of(model).index(found[i][t])]
        close(
            p, expected, "probability of one label, and marginal", rtol=1e-5, atol=1e-6
        )


def check_enumeration(draw, model, X):
    """Probabilities by summing over all labellings, whose scores the k best give."""
    column = {label: k for k, label in enumerate(classes_of(model))}
    for i in range(min(len(X), 8)):
        one, T = X[i : i + 1], length(X[i])
        n = len(column) ** min(T, 10)
        if T == 0 or n > 300:
            continue
        items = model.predict_kbest(one, n)[0]
        values = np.array([score for _, score in items])
        if not finite(values):
            continue
        log_z = logsumexp(values)
        y, score = draw.one(*items)
        log_proba = model.sequence_log_proba(one, [list(y)])[0]
        close(log_proba, score - log_z, "log-probability by enumeration", atol=1e-6)
        expected = np.zeros((T, len(column)))
        for labelling, value in items:
            expected[range(T), [column[label] for label in labelling]] += math.exp(
                value - log_z
            )
        close(
            model.predict_marginals(one)[0],
            expected,
            "marginals by enumeration",
            atol=1e-6,
        )


def objective_of(crf, X, y, weight=None):
    """The objective of a fitted L1CRF without costs, from its log-probabilities and its
    weights.
    """
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, float)
    used = [
        i for i, s in enumerate(y) if len(s) and weight[i] > 0
    ]  # others may have unknown labels
    log_proba = crf.sequence_log_proba(some(X, used), [y[i] for i in used])
    w = np.concatenate([table.ravel() for table in inside.tables_of(crf).values()])
    return (
        -float(np.dot(weight[used], log_proba))
        + crf.c1 * np.abs(w).sum()
        + crf.c2 * np.dot(w, w)
    )


def check_predictions(draw, model, corpus, X, y):
    """All of the above that a model has; ``(predictions, scores)``."""
    found, scores = check_decoding(draw, model, X, classes_of(model))
    model.score(X, y)
    if not finite(scores):
        return found, scores
    n = 12
    attempt("kbest", check_kbest, draw, model, X, found, scores)
    attempt("allowed", check_allowed, draw, model, X[:n], y[:n], classes_of(model))
    if hasattr(model, "predict_marginals"):
        attempt(
            "marginals", check_probabilities, draw, model, X[:n], found[:n], scores[:n]
        )
        attempt("enumeration", check_enumeration, draw, model, X)
        if corpus.scheme and model.get_params().get("constraints"):
            attempt("segments", model.predict_segment_proba, X[:n])
    return found, scores
