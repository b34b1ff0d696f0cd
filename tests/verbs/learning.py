"""Verbs that learn."""

import functools
import pickle
from inspect import signature

import inside
import numpy as np
import pytest
from model_cases import annotated, assert_predicts_same, inner_of, texts
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from skstruct import (
    L1CRF,
    BaggingShuffleAverager,
    CalibratedTagger,
    KBestReranker,
    ParameterMixer,
    Segmenter,
    SpanSets,
    SpanTagger,
    inspection,
)

from .cell import costly, verb


@verb
def fit(cell):
    again = clone(cell.make())
    assert again.fit(cell.X, cell.y) is again
    assert_predicts_same(again, cell.model, cell.X)


def unseen(sequence):
    """A sequence of the same form, of tokens that no other has."""
    if isinstance(sequence, str):
        return "".join(chr(ord(c) + 0x400) if c.isalpha() else c for c in sequence)
    if hasattr(sequence, "assign"):
        return sequence.assign(word="unseen")
    if hasattr(sequence, "shape"):
        return sequence * 3.0
    token = sequence[0]
    if isinstance(token, dict):
        return [{**each, "w": "unseen"} for each in sequence]
    kind = type(token)
    return [
        f"z{each}" if kind is str else kind(f"z{part}" for part in each)
        for each in sequence
    ]


def unseen_words(sequence, y):
    """What belongs to the unseen sequence."""
    if isinstance(sequence, str) and y and isinstance(y[0], str):
        return [unseen(word) for word in y]
    if isinstance(sequence, str) and y and len(y[0]) == 2:
        return [(unseen(word), tag) for word, tag in y]
    return y


@verb
def fit_beside_what_takes_no_part(cell):
    """Sequences that are empty, or of weight 0, number no feature, move no draw, cut no
    fold: the bits of the model are the same, under noise, too.
    """
    X, y = list(cell.X) * 3, list(cell.y) * 3
    weight = np.ones(len(X))
    empty = "" if isinstance(X[0], str) else X[0][:0]
    others = [unseen(X[0]), unseen(X[1])]
    of_others = [unseen_words(X[k], y[k]) for k in (0, 1)]
    ways = [([empty, *X[:2], empty, *X[2:], empty], [[], *y[:2], [], *y[2:], []], None)]
    if takes_weights(cell):
        ways.append(
            (
                [others[0], *X[:2], others[1], *X[2:]],
                [of_others[0], *y[:2], of_others[1], *y[2:]],
                np.concatenate([[0.0], weight[:2], [0.0], weight[2:]]),
            )
        )
    names = cell.make().get_params()
    noise = {n: "zipf" for n in names if n.rpartition("__")[2] == "feature_noise"}
    for parameters in (noise, {}) if noise else ({},):
        make = functools.partial(clone, cell.make().set_params(**parameters))
        for X_more, y_more, weights in ways:
            given = {} if weights is None else {"sample_weight": weights}
            plain = {} if weights is None else {"sample_weight": weight}
            models = make().fit(X, y, **plain), make().fit(X_more, y_more, **given)
            files = []
            for k, model in enumerate(models):
                model.save(cell.folder / f"part{k}")
                files.append(inside.arrays_in_file(cell.folder / f"part{k}"))
            assert files[0].keys() == files[1].keys()
            for name, array in files[0].items():
                np.testing.assert_array_equal(files[1][name], array, name)


def takes_weights(cell):
    """Whether sequences may have weights."""
    return "sample_weight" in signature(cell.make().fit).parameters


@verb
def fit_with_X_val(cell):
    """Held-out sequences are scored after each epoch, and have no influence."""
    model = clone(cell.make()).fit(cell.X, cell.y, X_val=cell.X[::2], y_val=cell.y[::2])
    assert_predicts_same(model, cell.model, cell.X)
    scores = [record["validation_score"] for record in model.history_]
    assert all(0.0 <= score <= 1.0 for score in scores)
    inner = {type(model), type(inner_of(model))}
    if not inner & {
        Segmenter,
        SpanTagger,
        BaggingShuffleAverager,
    }:  # which hand them to others
        assert scores[-1] == pytest.approx(model.score(cell.X[::2], cell.y[::2]))
    with pytest.raises(
        ValueError, match="X_val and y_val must be given together, got no y_val"
    ):
        cell.make().fit(cell.X, cell.y, X_val=cell.X)
    with pytest.raises(ValueError, match=rf"X_val.*\bsequence {len(cell.X)}\b"):
        cell.make().fit(
            cell.X, cell.y, X_val=[*cell.X, cell.bad()], y_val=[*cell.y, cell.y[0][:2]]
        )
    with pytest.raises(ValueError, match=r"_val: sequence 1\b"):
        cell.make().fit(
            cell.X, cell.y, X_val=cell.X[:2], y_val=[cell.y[0], cell.bad_y(1)]
        )


@verb
def fit_with_sets(cell):
    """A set of one label is that label, and the set of all says nothing."""
    given, plain = [list(cell.y[0]), *cell.y[1:]], [list(cell.y[0]), *cell.y[1:]]
    names = {label for labels in cell.y for label in labels}
    given[0][:2], plain[0][1] = [{given[0][0]}, frozenset(names)], None
    with_sets, without = (clone(cell.make()).fit(cell.X, y) for y in (given, plain))
    assert_predicts_same(with_sets, without, cell.X)


@verb
def partial_fit(cell):
    """Further training goes on the same from a pickle; one sequence is enough to
    begin.
    """
    one = clone(cell.make())
    assert one.partial_fit(cell.X[:1], cell.y[:1]) is one
    other = pickle.loads(pickle.dumps(one))
    for model in (one, other):
        model.partial_fit(cell.X[1:], cell.y[1:])
    assert_predicts_same(one, other, cell.X)
    model = cell.copy().partial_fit(cell.X, cell.y)
    assert model.score(cell.X, cell.y) > 0.5


@verb
def fit_shards(cell):
    """The shards that ``fit`` makes itself, or the same objective."""
    shards = [
        functools.partial(lambda s: (cell.X[s::2], cell.y[s::2]), s) for s in range(2)
    ]
    model = clone(cell.make()).fit_shards(shards)
    if isinstance(model, L1CRF):
        assert model.objective_ == pytest.approx(cell.model.objective_, rel=1e-6)
        assert model.predict(cell.X) == cell.model.predict(cell.X)
    else:
        assert_predicts_same(model, cell.model, cell.X)


@verb
def adapt(cell):
    """The templates here read no statistics of the text;
    tests/_taggers/test_sequence_tagger_adapt.py has some that do.
    """
    with pytest.raises(ValueError, match="there is nothing to adapt"):
        cell.copy().adapt(cell.X)


@costly
def average(cell):
    """The weights of an average are the means of its members' weights."""
    model = BaggingShuffleAverager(
        cell.make(), 2, average="all", keep_members=True, random_state=0
    )
    model.fit(cell.X, cell.y)

    def weights(model):
        return {
            (name, str(label)): weight
            for name, label, weight in inspection.feature_weights(model)
        }

    found, (one, other) = weights(model), map(weights, model.estimators_)
    assert found.keys() <= one.keys() | other.keys()
    for key in one.keys() | other.keys():
        expected = (one.get(key, 0.0) + other.get(key, 0.0)) / 2
        assert found.get(key, 0.0) == pytest.approx(expected, abs=1e-12), key
    assert len(model.predict(cell.X)) == len(cell.X)


@costly
def mix(cell):
    """One shard is training; threads do not change two."""
    assert_predicts_same(
        ParameterMixer(cell.make(), 1, random_state=0).fit(cell.X, cell.y),
        cell.model,
        cell.X,
    )
    one, other = (
        ParameterMixer(cell.make(), 2, n_jobs=n, random_state=0).fit(cell.X, cell.y)
        for n in (1, 2)
    )
    assert_predicts_same(one, other, cell.X)


@costly
def offer(cell):
    """Sets of spans hold half of the spans of a text."""
    model = SpanSets(cell.make(), recall=0.5, cv=2).fit(cell.X * 3, cell.y * 3)
    assert model.predict(cell.X) == model.estimator_.predict(cell.X)
    found = [{span for span, _ in spans} for spans in model.predict_sets(cell.X)]
    held = [
        np.mean([tuple(span) in spans for span in true])
        for spans, true in zip(found, cell.y)
        if true
    ]
    assert np.mean(held) >= 0.5


@costly
def calibrate(cell):
    """The same labels; scores are logarithms of probabilities."""
    model = CalibratedTagger(cell.make(), cv=2, random_state=0).fit(cell.X, cell.y)
    predicted = model.predict(cell.X)
    assert model.temperature_ > 0.0 and predicted == cell.model.predict(cell.X)
    best = [ranked[0][1] for ranked in model.predict_kbest(cell.X, 2)]
    np.testing.assert_allclose(
        best, model.sequence_log_proba(cell.X, predicted), rtol=1e-9, atol=1e-9
    )


@costly
def rerank(cell):
    """The prediction is one of the k best of the base."""
    model = KBestReranker(cell.make(), k=3, cv=2, max_iter=2, random_state=0).fit(
        cell.X * 3, cell.y * 3
    )
    for found, ranked in zip(
        model.predict(cell.X), model.base_.predict_kbest(cell.X, 3)
    ):
        assert list(found) in [list(output) for output, _ in ranked]


@costly
def segment(cell):
    X, y = texts(4)
    model = Segmenter(cell.make(), scheme="BI").fit(X * 3, y * 3)
    assert ["".join(word for word, _ in words) for words in model.predict(X)] == X


@costly
def spans(cell):
    X, y = annotated(4)
    model = SpanTagger(cell.make(), scheme="BIO", layout=False).fit(X * 3, y * 3)
    assert [len(spans) for spans in model.predict(X)] == [len(spans) for spans in y]


@costly
def grid_search(cell):
    """What is found is fitted again, on everything."""
    (name, *_) = cell.parameters("max_iter")
    search = GridSearchCV(cell.make(), {name: [1, 2]}, cv=2, error_score="raise")
    search.fit(cell.X * 3, cell.y * 3)
    again = cell.make().set_params(**search.best_params_).fit(cell.X * 3, cell.y * 3)
    assert search.predict(cell.X) == again.predict(cell.X)
    assert 0.0 < search.best_score_ <= 1.0


@costly
def constraints(cell):
    names = cell.parameters("constraints")
    allowed = (
        sorted({pair for y in cell.y for pair in zip(y, y[1:])})
        if cell.kind == "labels"
        else "BI"
    )
    allowed = "BIO" if cell.kind == "spans" else allowed
    model = cell.make().set_params(**dict.fromkeys(names, allowed)).fit(cell.X, cell.y)
    predicted = model.predict(cell.X)
    if cell.kind == "labels":
        assert {pair for y in predicted for pair in zip(y, y[1:])} <= set(allowed)


@verb
def member_scores(cell):
    assert callable(cell.model.member_scores)
    model = cell.make().set_params(keep_members=True).fit(cell.X, cell.y)
    expected = [member.score(cell.X, cell.y) for member in model.estimators_]
    assert (
        model.member_scores(cell.X, cell.y).tolist() == expected and len(expected) == 2
    )


@verb
def n_jobs(cell):
    model = (
        cell.make()
        .set_params(**dict.fromkeys(cell.parameters("n_jobs"), 2))
        .fit(cell.X, cell.y)
    )
    assert_predicts_same(model, cell.model, cell.X * 3)


@verb
def bad_last_sequence(cell):
    place = rf"sequence {len(cell.X)}\b"
    with pytest.raises(ValueError, match=place):
        cell.model.predict([*cell.X, cell.bad()])
    with pytest.raises(ValueError, match=place):
        cell.make().fit([*cell.X, cell.bad()], [*cell.y, cell.y[0][:2]])


@verb
def bad_last_labels(cell):
    with pytest.raises(ValueError, match=rf"sequence {len(cell.X)}\b"):
        cell.make().fit([*cell.X, cell.X[0]], [*cell.y, cell.bad_y(0)])


@verb
def bad_last_sequence_with_n_jobs(cell):
    model = cell.copy().set_params(**dict.fromkeys(cell.parameters("n_jobs"), 2))
    for inner in ("tagger_", "base_", "estimator_"):
        if hasattr(model, inner) and "n_jobs" in getattr(model, inner).get_params():
            getattr(model, inner).set_params(n_jobs=2)
    with pytest.raises(ValueError, match=rf"sequence {2 * len(cell.X)}\b"):
        model.predict([*cell.X, *cell.X, cell.bad()])
