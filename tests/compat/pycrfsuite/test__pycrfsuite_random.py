"""Random programs over python-crfsuite and over our names of it, in one process: they
must not differ.

Each trains on random items (dicts with signs, zeros, nested values and bytes; lists;
sets), with random parameters and groups, and both libraries read both files.
"""

import random

import pytest

from skstruct.compat import pycrfsuite

theirs = pytest.importorskip("pycrfsuite")

VALUES = [
    1,
    0,
    -1.5,
    2.5,
    True,
    False,
    "x",
    "é",
    b"z",
    0.1,
    -0.2,
    ["a", "b"],
    ["a", "a"],
    {"s"},
    {"p": 2.0},
]
NAMES = ["a", "b", "é", b"k", "x:y"]
PARAMETERS = {
    "lbfgs": {"c1": [0, 0.1], "c2": [0.01, 1], "delta": [1e-5, 1e-3]},
    "l2sgd": {"c2": [0.01, 1]},
    "ap": {"max_iterations": [1, 5]},
    "pa": {
        "type": [0, 1, 2],
        "c": [0.5, 1],
        "averaging": [0, 1],
        "error_sensitive": [0, 1],
    },
}
SHARED = {
    "feature.minfreq": [0, 0, 1, 0.5, -1],
    "feature.possible_states": [0, 0, 1],
    "feature.possible_transitions": [0, 0, 1],
}


def item(r):
    if r.random() < 0.4:
        kind = r.choice([list, tuple, set, lambda names: dict.fromkeys(names).keys()])
        return kind(r.choices(["a", "b", "c", "d:e", b"z"], k=r.randint(0, 4)))
    return {r.choice(NAMES): r.choice(VALUES) for _ in range(r.randint(0, 4))}


def sequence(r, labels):
    n = r.randint(0, 5)
    return [item(r) for _ in range(n)], [r.choice(labels) for _ in range(n)]


def result(call, *arguments):
    """(what a call returns, the type of what it raises)"""
    try:
        return call(*arguments), None
    except Exception as error:
        return None, type(error)


def agree(one, other, **tolerance):
    (a, wrong), (b, ours) = one, other
    if wrong is not None:
        assert ours is not None and issubclass(ours, wrong)
    else:
        assert ours is None
        assert (
            a == b
            if isinstance(a, (list, type(None)))
            else a == pytest.approx(b, **tolerance)
        )


def trainers(r, algorithm):
    """Trainers of both libraries that were given the same."""
    pair = (
        theirs.Trainer(algorithm, verbose=False),
        pycrfsuite.Trainer(algorithm, verbose=False),
    )
    for name, choices in {**SHARED, **PARAMETERS[algorithm]}.items():
        value = r.choice(choices)
        for trainer in pair:
            trainer.set(name, value)
    assert (
        pair[0].get_params() == pair[1].get_params()
        and pair[0].params() == pair[1].params()
    )
    for k in range(r.randint(2, 9)):
        # The first two are of both groups: CRFsuite's log reader fails where a group
        # has no items.
        x, y = sequence(r, "ABC") if k > 1 else ([["a"], {"b": 1.0}], ["A", "B"])
        for trainer, library in zip(pair, (theirs, pycrfsuite)):
            trainer.append(library.ItemSequence(x) if k % 3 == 2 else x, y, k % 4 == 1)
    return pair


@pytest.mark.parametrize("algorithm", PARAMETERS)
@pytest.mark.parametrize("seed", range(8))
def test_programs_do_not_differ(tmp_path, algorithm, seed):
    r = random.Random(seed)
    holdout = r.choice([-1, 1])
    paths, models = [str(tmp_path / name) for name in ("theirs", "ours")], []
    for path, trainer in zip(paths, trainers(r, algorithm)):
        trainer.train(path, holdout)
        models.append(trainer.logparser)
    assert models[0].featgen_num_features == models[1].featgen_num_features
    for path in paths:
        one, other = theirs.Tagger(), pycrfsuite.Tagger()
        one.open(path)
        other.open(path)
        labels = one.labels()
        assert other.labels() == labels
        for name in ("labels", "attributes", "header"):
            assert getattr(one.info(), name) == getattr(other.info(), name)
        for name in ("state_features", "transitions"):
            assert getattr(one.info(), name) == pytest.approx(
                getattr(other.info(), name), abs=1e-6
            )
        for _ in range(6):
            x, y = sequence(r, [*labels, *r.choices(["unknown", *labels], k=1)])
            y = y[r.random() < 0.2 :]
            x = [
                each if isinstance(each, (dict, list, tuple)) else list(each)
                for each in x
            ]
            agree(result(one.tag, x), result(other.tag, x))
            agree(result(one.tag), result(other.tag))
            agree(result(one.probability, y), result(other.probability, y), rel=1e-9)
            # Theirs keeps sums of an earlier sequence after a probability.
            one.set(x)
            at = r.choice([*labels, "unknown"]), r.randint(-1, 5)
            agree(result(one.marginal, *at), result(other.marginal, *at), abs=1e-9)
    # There is one optimum, where the same pairs have weights.
    if algorithm == "lbfgs" and trainer.get("c1") == 0:
        assert names_of_weights(paths[0]) == names_of_weights(paths[1])


def names_of_weights(path):
    with theirs.Tagger().open(path) as tagger:
        info = tagger.info()
        return tagger.labels(), set(info.state_features), set(info.transitions)


def test_labels_of_held_out_sequences_are_labels_of_the_model(tmp_path):
    """In the order of all sequences; they have no weights."""
    for algorithm in PARAMETERS:
        labels = []
        for library in (theirs, pycrfsuite):
            trainer, path = (
                library.Trainer(algorithm, verbose=False),
                str(tmp_path / "model"),
            )
            trainer.append([["a"], ["b"]], ["X", "B"], 1)
            for _ in range(3):
                trainer.append([["a"], ["b"]], ["A", "B"])
            trainer.train(path, 1)
            with library.Tagger().open(path) as tagger:
                labels.append(tagger.labels())
                assert tagger.tag([["a"], ["b"]]) == ["A", "B"]
                assert {label for _, label in tagger.info().state_features} == {
                    "A",
                    "B",
                }
        assert labels == [["X", "B", "A"]] * 2


def test_nothing_to_train_on(tmp_path):
    """Only held-out sequences: a model of labels alone. After clear(): an error, as
    long as nothing comes."""
    for library in (theirs, pycrfsuite):
        trainer, path = library.Trainer("lbfgs", verbose=False), str(tmp_path / "model")
        trainer.append([["a"]], ["A"], 1)
        trainer.train(path, 1)
        with library.Tagger().open(path) as tagger:
            assert tagger.labels() == ["A"] and tagger.tag([["a"]]) == ["A"]
        trainer.clear()
        with pytest.raises(ValueError, match="The data is empty"):
            trainer.train(path)
        trainer.append([["b"], ["c"]], ["B", "C"])
        trainer.train(path)
        with library.Tagger().open(path) as tagger:
            assert tagger.labels() == ["B", "C"]
