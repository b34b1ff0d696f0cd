"""make_hmm_sequences: the distribution it documents, determinism, and refusal of bad
parameters.
"""

from itertools import pairwise

import numpy as np
import pytest

from skstruct.datasets import make_hmm_sequences


def flat(sequences):
    return [item for sequence in sequences for item in sequence]


def n_words_of_several_labels(X, y):
    labels = {}
    for word, label in zip(flat(X), flat(y)):
        labels.setdefault(word, set()).add(label)
    return sum(len(found) > 1 for found in labels.values())


def test_shapes_types_and_names():
    X, y = make_hmm_sequences(
        500, n_labels=3, n_words=20, min_length=2, max_length=9, random_state=0
    )
    assert type(X) is type(y) is list and len(X) == len(y) == 500
    assert all(type(sequence) is list for sequence in X + y)
    assert [len(tokens) for tokens in X] == [len(labels) for labels in y]
    assert {len(tokens) for tokens in X} == set(range(2, 10))
    assert {type(item) for item in flat(X) + flat(y)} == {str}
    assert set(flat(X)) == {f"w{i}" for i in range(20)}
    assert set(flat(y)) == {"L0", "L1", "L2"}


def test_defaults():
    X, y = make_hmm_sequences(random_state=0)
    assert len(X) == len(y) == 100
    assert set(flat(y)) == {f"L{i}" for i in range(5)}
    assert 5 <= min(map(len, X)) and max(map(len, X)) <= 30


def test_deterministic_by_random_state():
    first = make_hmm_sequences(20, noise=0.1, random_state=7)
    assert make_hmm_sequences(20, noise=0.1, random_state=7) == first
    assert (
        make_hmm_sequences(20, noise=0.1, random_state=np.random.RandomState(7))
        == first
    )
    assert make_hmm_sequences(20, noise=0.1, random_state=8) != first
    rng = np.random.RandomState(7)
    assert make_hmm_sequences(20, random_state=rng) != make_hmm_sequences(
        20, random_state=rng
    )


def test_global_random_state_is_left_alone():
    np.random.seed(0)
    expected = np.random.random_sample()
    np.random.seed(0)
    make_hmm_sequences(10, random_state=1)
    assert np.random.random_sample() == expected


@pytest.mark.parametrize("stickiness", [0.0, 0.3, 0.9, 1.0])
def test_stickiness_is_the_share_of_repeated_labels(stickiness):
    _, y = make_hmm_sequences(
        2000, n_labels=4, label_stickiness=stickiness, random_state=0
    )
    repeats = [a == b for labels in y for a, b in pairwise(labels)]
    # 33,000 draws: a deviation of 0.012 is more than four standard errors.
    assert np.mean(repeats) == pytest.approx(stickiness, abs=0.012)
    if stickiness in (0, 1):
        assert set(repeats) == {bool(stickiness)}


def test_first_labels_are_uniform():
    _, y = make_hmm_sequences(
        20_000, n_labels=5, min_length=1, max_length=1, random_state=0
    )
    counts = np.unique(flat(y), return_counts=True)[1]
    np.testing.assert_allclose(counts / 20_000, 0.2, atol=0.012)


def test_transitions_depend_on_the_label_before():
    _, y = make_hmm_sequences(3000, n_labels=4, random_state=0)
    counts = np.zeros((4, 4))
    for labels in y:
        for a, b in pairwise(labels):
            counts[int(a[1]), int(b[1])] += 1
    rows = counts / counts.sum(axis=1, keepdims=True)
    assert np.abs(rows - rows.mean(axis=0)).max() > 0.1


@pytest.mark.parametrize("exponent", [0.0, 1.0, 2.0])
def test_words_of_a_label_follow_zipf(exponent):
    X, y = make_hmm_sequences(
        2000, n_labels=2, n_words=50, zipf_exponent=exponent, random_state=0
    )
    words = [word for word, label in zip(flat(X), flat(y)) if label == "L0"]
    shares = np.sort(np.unique(words, return_counts=True)[1])[::-1] / len(words)
    expected = np.arange(1, 51) ** -exponent
    expected /= expected.sum()
    np.testing.assert_allclose(shares[:5], expected[:5], atol=0.015)


def test_extreme_zipf_exponent_leaves_one_word_a_label():
    X, y = make_hmm_sequences(50, n_labels=3, zipf_exponent=1e6, random_state=0)
    assert len(set(flat(X))) == len(set(zip(flat(X), flat(y)))) == 3


def test_labels_share_words_unless_separable():
    parameters = {"n_sequences": 300, "n_words": 30, "random_state": 0}
    assert n_words_of_several_labels(*make_hmm_sequences(**parameters)) > 20
    X, y = make_hmm_sequences(**parameters, separable=True)
    assert n_words_of_several_labels(X, y) == 0
    assert len(set(flat(X))) == 30


@pytest.mark.parametrize(("n_labels", "n_words"), [(1, 1), (3, 3), (3, 10), (7, 9)])
def test_separable_with_few_words(n_labels, n_words):
    X, y = make_hmm_sequences(
        200, n_labels=n_labels, n_words=n_words, separable=True, random_state=0
    )
    assert n_words_of_several_labels(X, y) == 0
    assert len(set(flat(X))) == n_words and len(set(flat(y))) == n_labels


def test_fewer_words_than_labels():
    X, y = make_hmm_sequences(200, n_labels=4, n_words=2, random_state=0)
    assert set(flat(X)) == {"w0", "w1"} and len(set(flat(y))) == 4


def test_separable_data_is_learned_by_a_perceptron_over_words():
    X, y = make_hmm_sequences(
        100, n_labels=3, n_words=60, separable=True, random_state=0
    )
    weights = {}
    for _ in range(3):
        mistakes = 0
        for word, label in zip(flat(X), flat(y)):
            guess = max(
                ("L0", "L1", "L2"), key=lambda L: (weights.get((word, L), 0), L)
            )
            if guess != label:
                mistakes += 1
                weights[word, label] = weights.get((word, label), 0) + 1
                weights[word, guess] = weights.get((word, guess), 0) - 1
    assert mistakes == 0


@pytest.mark.parametrize("noise", [0.1, 1.0])
def test_noise_replaces_labels_and_nothing_else(noise):
    X, y = make_hmm_sequences(1000, n_labels=3, random_state=0)
    X_noisy, y_noisy = make_hmm_sequences(1000, n_labels=3, noise=noise, random_state=0)
    assert X_noisy == X
    changed = [a != b for a, b in zip(flat(y), flat(y_noisy))]
    assert np.mean(changed) == pytest.approx(noise, abs=0.01)
    assert set(flat(y_noisy)) == {"L0", "L1", "L2"}


def test_one_label_one_word_one_token_and_none():
    assert make_hmm_sequences(2, n_labels=1, n_words=1, min_length=1, max_length=1) == (
        [["w0"], ["w0"]],
        [["L0"], ["L0"]],
    )
    assert make_hmm_sequences(0) == ([], [])


def test_numpy_scalars_are_accepted():
    X, _ = make_hmm_sequences(
        np.int64(3), label_stickiness=np.float32(0.5), separable=np.True_
    )
    assert len(X) == 3


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"n_sequences": -1}, ValueError, "n_sequences must be at least 0, got -1"),
        ({"n_sequences": 2.0}, TypeError, "n_sequences must be an int, got 2.0"),
        ({"n_sequences": True}, TypeError, "n_sequences must be an int, got True"),
        ({"n_labels": 0}, ValueError, "n_labels must be at least 1, got 0"),
        ({"n_labels": "3"}, TypeError, "n_labels must be an int, got '3'"),
        ({"n_words": 0}, ValueError, "n_words must be at least 1, got 0"),
        ({"min_length": 0}, ValueError, "min_length must be at least 1, got 0"),
        (
            {"max_length": 4},
            ValueError,
            "max_length must be at least min_length=5, got 4",
        ),
        (
            {"label_stickiness": 1.5},
            ValueError,
            "label_stickiness must be from 0 to 1, got 1.5",
        ),
        ({"label_stickiness": float("nan")}, ValueError, "from 0 to 1, got nan"),
        (
            {"label_stickiness": None},
            TypeError,
            "label_stickiness must be a float, got None",
        ),
        ({"zipf_exponent": -1}, ValueError, "zipf_exponent must be from 0 to"),
        ({"zipf_exponent": float("inf")}, ValueError, "got inf"),
        ({"noise": -0.1}, ValueError, "noise must be from 0 to 1, got -0.1"),
        ({"noise": False}, TypeError, "noise must be a float, got False"),
        ({"separable": 1}, TypeError, "separable must be a bool, got 1"),
        (
            {"separable": True, "noise": 0.1},
            ValueError,
            "separable=True contradicts noise=0.1",
        ),
        (
            {"separable": True, "n_words": 4},
            ValueError,
            "needs n_words >= n_labels=5, got 4",
        ),
        ({"noise": 0.1, "n_labels": 1}, ValueError, "needs another label"),
        ({"random_state": "x"}, ValueError, "'x' cannot be used to seed"),
    ],
)
def test_bad_parameters_are_refused(parameters, error, message):
    with pytest.raises(error, match=message):
        make_hmm_sequences(**parameters)
