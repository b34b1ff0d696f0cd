"""The corpora, estimators and roads of ``test_roads.py``."""

import copy
import functools

import numpy as np
import pytest
from inside import (
    after_each_report,
    after_each_submission,
    before_each_line,
    before_each_round,
    before_each_sum,
    forget_shards,
)
from sklearn.base import clone
from sklearn.model_selection import cross_validate

from skstruct import (
    L1CRF,
    ParameterMixer,
    PassiveAggressiveTagger,
    SequenceMatrix,
    StructuredPerceptron,
)
from skstruct.features import WordVectors
from skstruct.inspection import feature_weights, transition_weights

N, LABELS = 24, "ABCD"
TEMPLATES = ["U0:%x[0,0]", "U1:%x[-1,0]/%x[0,0]", "B"]


# -- corpora ---------------------------------------------------------------------------
def words(missing=0.0):
    """Words, of which half are rare, and labels; ``missing``: the share of None."""
    rng = np.random.default_rng(3)
    X = [
        [f"w{min(int(k), 60)}" for k in rng.geometric(0.08, size=rng.integers(2, 7))]
        for _ in range(N)
    ]
    y = [
        [
            LABELS[(int(word[1:]) * 7 + t % 2 + (rng.random() < 0.2)) % 4]
            for t, word in enumerate(x)
        ]
        for x in X
    ]
    return X, [[None if rng.random() < missing else label for label in z] for z in y]


def values():
    """The words as dicts with a number of either sign and any size."""
    (X, y), rng = words(), np.random.default_rng(5)
    return [[{"w": word, "x": float(rng.normal() * 10)} for word in x] for x in X], y


def numbers():
    """Rows of numbers."""
    (X, y), rng = words(), np.random.default_rng(6)
    lengths = list(map(len, X))
    block = rng.normal(size=(sum(lengths), 4)) * [1.0, 5.0, 0.2, 1.0]
    block -= block.mean(axis=0)
    return SequenceMatrix(block, lengths), y


def paired():
    """Labels of which some are missing, under pairs that may follow each other."""
    X, y = words()
    starts = {(None, label) for label in LABELS}
    pairs = sorted({*starts, *((p, q) for z in y for p, q in zip(z, z[1:]))}, key=repr)
    return (*words(0.2), {"constraints": pairs})


def clusters():
    """Clusters of words, learned before."""
    X, y = words()
    return (
        X,
        y,
        {
            "words": WordVectors(3, n_clusters=4, min_count=1, random_state=0)
            .fit(X)
            .table()
        },
    )


def own_clusters():
    """Clusters of words, which are learned from the corpus of a fit."""
    return (
        *words(),
        {"words": WordVectors(3, n_clusters=4, min_count=1, random_state=0)},
    )


OPTIONS = {
    "none": lambda: words(),
    "pairs shown": lambda: (*words(), {"all_pairs": False}),
    "labels missing": lambda: (*words(0.3), {"all_pairs": False}),
    "noise": lambda: (
        *words(),
        {"feature_noise": "dropout", "noise_rate": 0.3, "edge_noise": "same"},
    ),
    "min_count": lambda: (*words(), {"min_count": 2}),
    "pairs and min_count": lambda: (*words(), {"min_count": 2, "all_pairs": False}),
    "words": clusters,
    "words of the corpus": own_clusters,
    "values": values,
    "rows of numbers": numbers,
    "balanced": lambda: (*words(), {"class_weight": "balanced"}),
    "constraints": paired,
}

ESTIMATORS = {
    "perceptron": functools.partial(StructuredPerceptron, max_iter=4, random_state=1),
    "passive-aggressive": functools.partial(
        PassiveAggressiveTagger, max_iter=4, random_state=1
    ),
    "crf": functools.partial(L1CRF, c1=0.05, random_state=1),
    "mixer": functools.partial(StructuredPerceptron, max_iter=4),
}


def case(name, option):
    """(estimator, X, y) of a row of the table."""
    X, y, *more = OPTIONS[option]()
    given = dict(*more)
    if isinstance(X, list) and isinstance(X[0][0], str):
        given["features"] = TEMPLATES
    estimator = ESTIMATORS[name](**given)
    return (
        (
            ParameterMixer(estimator, 3, random_state=1)
            if name == "mixer"
            else estimator
        ),
        X,
        y,
    )


def weights(model):
    """All weights by name."""
    model = getattr(model, "estimator_", model)
    return sorted(feature_weights(model)), transition_weights(model).tolist()


def part_of(X, y, positions):
    return (
        X[positions] if isinstance(X, SequenceMatrix) else [X[i] for i in positions]
    ), [y[i] for i in positions]


def shards_of(X, y):
    """What ``ParameterMixer(n_shards=3)`` deals."""
    return [functools.partial(part_of, X, y, list(range(s, N, 3))) for s in range(3)]


# -- roads: each returns two models ----------------------------------------------------
class Killed(Exception):
    """The process that trains is gone."""


def after(n):
    """A function that raises when it is called for the n-th time."""
    calls = []

    def count(*_):
        calls.append(1)
        if len(calls) == n:
            raise Killed

    return count


def resumed(estimator, X, y, monkeypatch, folder):
    """A fit that is killed on its way, and the one that goes on from its checkpoint."""
    whole, kept = (
        clone(estimator).fit(X, y),
        clone(estimator).set_params(checkpoint=folder),
    )
    with monkeypatch.context() as patch:
        if isinstance(estimator, L1CRF):
            kept.set_params(verbose=1)
            before_each_line(patch, after(8))
        elif isinstance(estimator, ParameterMixer):
            before_each_round(patch, after(3))
        else:
            after_each_report(patch, after(2))
        with pytest.raises(Killed):
            clone(kept).fit(X, y)
    again = kept.fit(X, y)
    assert again.resumed_from_ > 0
    return whole, again


def resumed_warm(estimator, X, y, monkeypatch, folder):
    """The same of a fit that starts from one on a half of the corpus."""
    first = (
        clone(estimator)
        .fit(*part_of(X, y, list(range(0, N, 2))))
        .set_params(warm_start=True)
    )
    whole, kept = copy.deepcopy(first).fit(X, y), first.set_params(checkpoint=folder)
    with monkeypatch.context() as patch:
        after_each_report(patch, after(2))
        with pytest.raises(Killed):
            copy.deepcopy(kept).fit(X, y)
    again = kept.fit(X, y)
    assert again.resumed_from_ > 0
    return whole, again


def resumed_shards(estimator, X, y, monkeypatch, folder):
    """The same of shards that load their data."""
    whole, kept = (
        clone(estimator).fit_shards(shards_of(X, y)),
        clone(estimator).set_params(checkpoint=folder),
    )
    with monkeypatch.context() as patch:
        if isinstance(estimator, L1CRF):
            kept.set_params(verbose=1)
            before_each_line(patch, after(8))
        else:
            before_each_round(patch, after(3))
        with pytest.raises(Killed):
            clone(kept).fit_shards(shards_of(X, y))
    again = kept.fit_shards(shards_of(X, y))
    assert again.resumed_from_ > 0
    return whole, again


def warm(estimator, X, y, *_):
    """Four epochs, and two fits of two; of the CRF a fit, and one more from its
    optimum.
    """
    half = {"tol": 1e-7} if isinstance(estimator, L1CRF) else {"max_iter": 2}
    halves = clone(estimator).set_params(**half, warm_start=True).fit(X, y).fit(X, y)
    return clone(estimator).fit(X, y), halves


def streamed(estimator, X, y, *_):
    """One pass over all, in one call of ``partial_fit`` and in two."""
    estimator, half = clone(estimator).set_params(shuffle=False), list(range(N // 2))
    first, second = (
        part_of(X, y, half),
        part_of(X, y, [i for i in range(N) if i not in half]),
    )
    two = (
        clone(estimator).partial_fit(*first, classes=list(LABELS)).partial_fit(*second)
    )
    return clone(estimator).partial_fit(X, y, classes=list(LABELS)), two


def threads(estimator, X, y, *_):
    """One thread and three."""
    return clone(estimator).set_params(n_jobs=1).fit(X, y), clone(estimator).set_params(
        n_jobs=3
    ).fit(X, y)


def sharded(estimator, X, y, *_):
    """A corpus that is dealt, and shards that load the same."""
    return clone(estimator).fit(X, y), clone(estimator).fit_shards(shards_of(X, y))


def _on_dask(estimator, X, y, client):
    """Shards in threads, and on Dask."""
    if isinstance(estimator, L1CRF):
        estimator = clone(estimator).set_params(
            max_iter=12
        )  # each pass goes to the processes and back
    here = clone(estimator).fit_shards(shards_of(X, y))
    if isinstance(estimator, L1CRF):
        return here, clone(estimator).fit_shards(shards_of(X, y), client=client)
    return here, clone(estimator).set_params(client="auto").fit_shards(shards_of(X, y))


def on_dask(estimator, X, y, monkeypatch, folder, client):
    """Threads, and the processes of a cluster."""
    return _on_dask(estimator, X, y, client)


def lost(estimator, X, y, monkeypatch, folder, client):
    """The same where processes lose what they hold, as new ones have nothing."""
    losses = []

    def lose(*_):
        losses.append(1)
        if len(losses) in (
            7,
            8,
        ):  # of the CRF a sum for the solver, else of the third round
            client.run(forget_shards)

    if isinstance(estimator, L1CRF):
        before_each_sum(monkeypatch, lose)
    else:
        after_each_submission(monkeypatch, lose)
    models = _on_dask(estimator, X, y, client)
    assert len(losses) > 7
    return models


def fold(estimator, X, y, *_):
    """A fit to the training part, and the fold of a search; positions may be there
    twice.
    """
    train, test = [*range(8, N), *range(8, 12)], list(range(8))
    found = cross_validate(estimator, X, y, cv=[(train, test)], return_estimator=True)
    return clone(estimator).fit(*part_of(X, y, train)), found["estimator"][0]


ROADS = {
    "checkpoint": resumed,
    "checkpoint of a warm start": resumed_warm,
    "checkpoint of shards": resumed_shards,
    "warm start": warm,
    "partial_fit": streamed,
    "threads": threads,
    "shards": sharded,
    "Dask": on_dask,
    "lost worker": lost,
    "fold of a search": fold,
}
