"""L1CRF on shards: the objective and its optimum are those of one machine, whatever the
shards.
"""

import builtins
import functools

import numpy as np
import pytest
from inside import model_of
from model_cases import PATTERNS, dicts, pairs, rows, sparse_rows

import skstruct
from skstruct import L1CRF
from skstruct._data.schemes import words_to_labels
from skstruct.datasets import load_chunking, load_segmentation, make_hmm_sequences


def segmented():
    texts, words = load_segmentation()
    return [list(text) for text in texts], [
        words_to_labels(text, "BMES") for text in words
    ]


def dealt(X, y, n, *more):
    def shard(s):
        return tuple(part[s::n] for part in (X, y, *more))

    return [functools.partial(shard, s) for s in range(n)]


def stores(crf):
    model = model_of(crf)
    return model.nodes.value, model.edges.value


def assert_same(a, b):
    for mine, theirs in zip(stores(a), stores(b)):
        np.testing.assert_array_equal(mine, theirs)
    assert a.objective_ == b.objective_ and a.n_iter_ == b.n_iter_


def objective_of(crf, X, y, weight=1.0):
    """By what the model says of the whole corpus; without costs."""
    values = np.concatenate(stores(crf))
    loss = -np.sum(weight * np.array(crf.sequence_log_proba(X, y)))
    return loss + crf.c1 * np.abs(values).sum() + crf.c2 * np.square(values).sum()


CORPORA = {
    "hmm": lambda: make_hmm_sequences(60, random_state=0),
    "segmentation": segmented,
    "chunking": load_chunking,
}


@pytest.mark.parametrize("name", CORPORA)
@pytest.mark.parametrize("c2", [0.0, 0.5])
def test_the_optimum_of_one_machine(name, c2):
    X, y = CORPORA[name]()
    crf = L1CRF(c1=0.5, c2=c2, tol=1e-9, random_state=0)
    alone = crf.fit(X, y).objective_
    sharded = L1CRF(c1=0.5, c2=c2, tol=1e-9, random_state=0).fit_shards(dealt(X, y, 5))
    assert sharded.objective_ == pytest.approx(alone, rel=1e-6)
    assert sharded.objective_ == pytest.approx(objective_of(sharded, X, y), rel=1e-10)
    assert sharded.max_violation_ < 0.05
    assert np.mean([a == b for a, b in zip(sharded.predict(X), crf.predict(X))]) > 0.95
    assert [entry["stage"] for entry in sharded.history_].count("sgd") == 4
    assert all(
        entry["bytes_sent"] >= 0 < entry["bytes_received"] for entry in sharded.history_
    )


@pytest.mark.parametrize(
    "options",
    [
        {"min_count": 2},
        {"all_pairs": False},
        {"all_pairs": "transitions"},
        {"class_weight": "balanced"},
        {"class_weight": {"L0": 3.0}},
        {"solver": "owlqn", "tol": 1e-6},
        {"line_search": True},
        {"c1": 0.0, "c2": 1.0},
    ],
)
def test_the_same_weights_whatever_is_asked(options):
    X, y = make_hmm_sequences(40, n_labels=3, random_state=1)
    given = {"c1": 0.3, "tol": 1e-9, "random_state": 0, **options}
    alone, sharded = L1CRF(**given).fit(X, y), L1CRF(**given).fit_shards(dealt(X, y, 3))
    assert sharded.objective_ == pytest.approx(alone.objective_, rel=1e-4)
    assert sharded.n_features() == alone.n_features()


def test_partial_labels_and_weights_of_sequences():
    X, y = make_hmm_sequences(40, random_state=2)
    rng = np.random.default_rng(0)
    y = [[None if rng.random() < 0.3 else label for label in labels] for labels in y]
    weight = rng.integers(0, 3, len(X)) * 0.5
    alone = L1CRF(c1=0.2, tol=1e-9, random_state=0).fit(X, y, weight)
    sharded = L1CRF(c1=0.2, tol=1e-9, random_state=0).fit_shards(dealt(X, y, 4, weight))
    assert sharded.objective_ == pytest.approx(alone.objective_, rel=1e-3)
    assert sharded.objective_ == pytest.approx(
        objective_of(sharded, X, y, weight), rel=1e-9
    )


@pytest.mark.parametrize("make", [dicts, rows, sparse_rows, pairs])
def test_kinds_of_tokens(make):
    X, y = make(4)
    features = PATTERNS if make is pairs else "auto"
    given = {"features": features, "c1": 0.1, "tol": 1e-9, "random_state": 0}
    alone, sharded = L1CRF(**given).fit(X, y), L1CRF(**given).fit_shards(dealt(X, y, 3))
    assert sharded.objective_ == pytest.approx(alone.objective_, rel=1e-4)
    assert sharded.objective_ == pytest.approx(objective_of(sharded, X, y), rel=1e-9)
    assert sharded.predict(X) == alone.predict(X)


def test_threads_change_nothing():
    X, y = make_hmm_sequences(60, random_state=0)
    one, three = (
        L1CRF(c1=0.3, random_state=0, n_jobs=n_jobs).fit_shards(dealt(X, y, 7))
        for n_jobs in (1, 3)
    )
    assert_same(one, three)


def test_labels_and_features_that_one_shard_lacks():
    X = [["a", "b"], ["a", "c"], ["d", "b"]]
    y = [["A", "B"], ["A", "C"], ["D", "B"]]
    given = {
        "features": ["U0:%x[0,0]", "B"],
        "c1": 0.01,
        "tol": 1e-9,
        "random_state": 0,
    }
    sharded = L1CRF(**given).fit_shards(dealt(X, y, 3))
    assert sharded.objective_ == pytest.approx(
        L1CRF(**given).fit(X, y).objective_, rel=1e-4
    )
    assert sharded.predict(X) == y


@pytest.mark.parametrize("solver", ["two-stage", "owlqn"])
def test_no_feature_is_frequent_enough(solver):
    X, y = [["a", "b", "c"], ["d", "e", "f"]], [["A", "B", "A"], ["B", "A", "B"]]
    given = {
        "features": ["U0:%x[0,0]", "B"],
        "min_count": 9,
        "c1": 0.1,
        "solver": solver,
        "random_state": 0,
    }
    sharded = L1CRF(**given).fit_shards(dealt(X, y, 2))
    whole = L1CRF(**given).fit(X, y)
    assert sharded.n_features() == whole.n_features() == 0
    assert sharded.objective_ == pytest.approx(whole.objective_, rel=1e-6)
    assert sharded.predict(X) == whole.predict(X)


def test_errors_name_shard_and_sequence():
    X, y = make_hmm_sequences(6, random_state=0)
    good = dealt(X, y, 1)[0]
    for load, message in (
        (lambda: 1 / 0, "shard 1: its callable raised ZeroDivisionError"),
        (lambda: X, r"shard 1: its callable must return \(X, y\)"),
        (lambda: (X, y[:-1]), "shard 1: .*same number of sequences"),
        (lambda: ([X[0], [3]], [y[0], ["A"]]), "shard 1: .*sequence 1, position 0"),
        (
            lambda: ([[("a", "b")]], [[y[0][0]]]),
            "shard 1: its tokens are not of the kind",
        ),
    ):
        crf = L1CRF()
        with pytest.raises((ValueError, TypeError), match=message):
            crf.fit_shards([good, load])
        assert not hasattr(crf, "classes_")
    for shards in ([], X, [3]):
        with pytest.raises(ValueError, match="shard"):
            L1CRF().fit_shards(shards)
    with pytest.raises(ValueError, match="solver='sgd'"):
        L1CRF(solver="sgd").fit_shards([good])
    with pytest.raises(ValueError, match="warm_start=True does not go with fit_shards"):
        L1CRF(warm_start=True).fit(X, y).fit_shards([good])
    with pytest.raises(ValueError, match="client must be a Dask client"):
        pytest.importorskip("distributed")
        L1CRF().fit_shards([good], client=3)


@pytest.mark.parametrize("stage", ["sgd", "batch"])
def test_a_fit_that_was_stopped_goes_on(tmp_path, stage):
    X, y = make_hmm_sequences(60, random_state=0)
    shards = dealt(X, y, 3)
    whole = L1CRF(c1=0.3, random_state=0, sgd_iter=3).fit_shards(shards)

    class Stop(Exception):
        pass

    # The first line says what training aims at.
    passes, lines = {"sgd": 3, "batch": 30}[stage], []

    def counting(*words, file=None, **how):
        if file is None:  # else numba annotates what it compiles
            lines.append(words)
            if len(lines) == passes:
                raise Stop

    crf = L1CRF(c1=0.3, random_state=0, sgd_iter=3, checkpoint=tmp_path, verbose=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(builtins, "print", counting)
        with pytest.raises(Stop):
            crf.fit_shards(shards)
    assert list(tmp_path.iterdir())
    crf.set_params(verbose=0).fit_shards(shards)
    assert 0 < crf.resumed_from_ < passes and not list(tmp_path.iterdir())
    assert_same(whole, crf)


def test_what_was_learned_on_shards_is_saved(tmp_path):
    X, y = make_hmm_sequences(30, random_state=0)
    crf = L1CRF(random_state=0).fit_shards(dealt(X, y, 2))
    crf.save(tmp_path / "model")
    assert skstruct.load(tmp_path / "model").predict(X) == crf.predict(X)
    assert crf.set_params(warm_start=True).fit(X, y).objective_ <= crf.objective_


def mixed_scales(size):
    """Sequences of tokens with words, and of tokens with numbers of a size."""
    rng, X, y = np.random.default_rng(0), [], []
    for i in range(60):
        if i % 2:
            words = rng.integers(0, 8, 6)
            X.append([{f"w{word}": 1.0} for word in words])
            y.append(["AB"[word % 2] if rng.random() < 0.8 else "A" for word in words])
        else:
            found = rng.normal(size=(6, 4))
            for_tokens = (found * size).tolist()
            X.append(
                [{f"x{k}": value for k, value in enumerate(row)} for row in for_tokens]
            )
            y.append(["AB"[int(row[0] + row[1] > 0)] for row in found])
    return X, y


@pytest.mark.parametrize("size", [1e-4, 1e-2, 1e3])
@pytest.mark.parametrize("n", [2, 3])
def test_features_that_a_shard_lacks_keep_their_scale(size, n):
    """A shard knows no value of features that it lacks: neither that they are small,
    nor that they are 1.

    Beside the largest values there are counts of features, of unlabelled tokens and of
    labels, the signs of values, and which sequences are labelled completely:
    `test_partial_labels_and_weights_of_sequences`, and the table of
    ``tests/test_roads.py``.
    """
    X, y = mixed_scales(size)
    given = {"c1": 1e-5, "c2": 0.0, "random_state": 0}
    alone, sharded = L1CRF(**given).fit(X, y), L1CRF(**given).fit_shards(dealt(X, y, n))
    assert sharded.objective_ == pytest.approx(alone.objective_, rel=2e-3)
    assert sharded.n_iter_ < 2 * alone.n_iter_


NO_SEQUENCES, NO_TOKENS = (lambda: ([], [])), (lambda: ([[], []], [[], []]))


@pytest.mark.parametrize("kind", [dicts, rows, sparse_rows, pairs])
@pytest.mark.parametrize("nothing", [NO_SEQUENCES, NO_TOKENS, "weights of 0"])
@pytest.mark.parametrize("at", [0, 2])
def test_a_shard_without_anything_to_learn_from(kind, nothing, at):
    X, y = kind(4)
    given = {
        "features": PATTERNS if kind is pairs else "auto",
        "c1": 0.1,
        "tol": 1e-9,
        "random_state": 0,
    }
    shards = dealt(X, y, 2)
    if nothing == "weights of 0":
        nothing = dealt(X, y, 1, np.zeros(len(X)))[0]
    found = L1CRF(**given).fit_shards([*shards[:at], nothing, *shards[at:]])
    expected = L1CRF(**given).fit_shards(shards)
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-6)
    assert (
        found.predict(X) == expected.predict(X)
        and found.n_features() == expected.n_features()
    )


def test_a_shard_without_labels_has_tokens():
    X, y = make_hmm_sequences(30, random_state=0)
    unknown = [[None] * len(labels) for labels in y[:10]]
    given = {"c1": 0.1, "tol": 1e-9, "random_state": 0}
    whole = L1CRF(**given).fit(X, [*unknown, *y[10:]])
    shards = [lambda: (X[:10], unknown), lambda: (X[10:], y[10:])]
    for each in shards, shards[::-1]:
        found = L1CRF(**given).fit_shards(each)
        assert found.objective_ == pytest.approx(whole.objective_, rel=1e-3)
        assert found.n_features() == whole.n_features()


def test_if_no_shard_has_anything():
    X, y = make_hmm_sequences(3, random_state=0)
    unknown, numbers = ([[of] * len(labels) for labels in y] for of in (None, 3))
    for shards, message in (
        (
            [NO_SEQUENCES, NO_TOKENS],
            "shard 0: X is empty: at least one sequence is needed",
        ),
        ([NO_TOKENS], "shard 0: X holds no token"),
        ([lambda: (X, unknown), NO_SEQUENCES], "y holds no label: all tokens are None"),
        (
            [NO_SEQUENCES, lambda: (X, y), lambda: (X, numbers)],
            "labels of shard 2 are of type int",
        ),
        (
            [NO_SEQUENCES, lambda: (X, y[1:])],
            "shard 1: X and y must hold the same number",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            L1CRF(random_state=0).fit_shards(shards)


def test_labels_that_only_another_shard_has_are_allowed_where_labels_lack():
    pairs_allowed = [("A", "B"), ("B", "A")]
    first, last = (
        (lambda: ([["a", "b", "a"]], [["A", None, "A"]])),
        (lambda: ([["b", "a"]], [["B", "A"]])),
    )
    found = L1CRF(constraints=pairs_allowed, random_state=0).fit_shards([first, last])
    assert found.predict([["a", "b", "a"]]) == [["A", "B", "A"]]
    with pytest.raises(
        ValueError, match="shard 0: y: sequence 0: no labelling with the given labels"
    ):
        L1CRF(constraints=pairs_allowed, random_state=0).fit_shards(
            [first, lambda: ([["a"]], [["A"]])]
        )
