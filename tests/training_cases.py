"""Small random corpora and comparisons with the naive trainer, for the tests of all
learners.
"""

import numpy as np
import weights_view
from inside import training_of

import oracles
from skstruct._training.epochs import epoch_order

EPOCHS = 4
PENALTIES = [(None, 1e-6), ("l2", 0.03), ("l1", 2**-5), ("l1-cumulative", 2**-6)]
PAIRS = [
    ("X", "X"),
    ("X", "Y"),
    ("Y", "Z"),
    ("Z", "X"),
    ("Z", "Z"),
    (None, "X"),
    (None, "Z"),
]


def corpus(seed, kind="str", n=6, labels="XYZ", missing=0.0, longest=5):
    """(X, y) of random tokens and labels; ``missing`` is the share of unlabelled
    tokens.
    """
    generator = np.random.default_rng(seed)

    def word():
        return str(generator.choice(list("abcd")))

    def token():
        if kind == "str":
            return word()
        if kind == "tuple":
            return word(), word() + word()
        if kind == "list":
            return [f"w={word()}", f"v={word()}", "bias"]
        value = (
            float(generator.integers(-3, 4))
            if kind == "dyadic"
            else float(generator.normal())
        )
        return {
            "w": word(),
            "value": value,
            "is": bool(generator.integers(2)),
            "n": {word(): 0.5},
        }

    lengths = generator.integers(1, longest + 1, n)
    X = [[token() for _ in range(length)] for length in lengths]
    y = [[str(generator.choice(list(labels))) for _ in s] for s in X]
    y = [[None if generator.random() < missing else g for g in s] for s in y]
    y[0][0] = labels[0]
    return X, y


def legal_corpus(seed, kind):
    """Labellings that PAIRS allow."""
    generator = np.random.default_rng(seed)
    X, _ = corpus(seed, kind)
    y = []
    for sequence in X:
        labels = [str(generator.choice(["X", "Z"]))]
        while len(labels) < len(sequence):
            labels.append(
                str(generator.choice([q for p, q in PAIRS if p == labels[-1]]))
            )
        y.append(labels)
    return X, y


def features_of(X, lines, min_count=1):
    if lines is None:
        found, counts = [oracles.bag_features(s) for s in X], oracles.bag_occurrences(X)
    else:
        found = [oracles.template_features(lines, s) for s in X]
        counts = oracles.occurrences(found)
    return oracles.keep_frequent(found, min_count, counts) if min_count > 1 else found


def orders_of(estimator, n, epochs=EPOCHS):
    key, shuffle = training_of(estimator).key, estimator.shuffle
    return [epoch_order(key, e, n, shuffle) for e in range(epochs)]


def compare(attempts, enough=1):
    """Compare the first ``enough`` attempts that are not decided by rounding."""
    done = 0
    for attempt in attempts:
        if attempt is not None:
            weights_view.assert_same_weights(*attempt)
            done += 1
            if done == enough:
                return
    raise AssertionError(f"only {done} corpora of {enough} were free of ties")
