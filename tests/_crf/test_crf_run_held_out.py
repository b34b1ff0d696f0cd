"""Held-out sequences of a CRF: their score and mean log-probability after each pass."""

import numpy as np
import pytest

from skstruct import L1CRF, regularization_path
from skstruct.datasets import make_hmm_sequences
from skstruct.metrics import sequence_log_loss_scorer


@pytest.fixture(scope="module")
def corpus():
    X, y = make_hmm_sequences(160, random_state=0)
    return X[:120], y[:120], X[120:], y[120:]


@pytest.mark.parametrize("solver", ["two-stage", "owlqn", "sgd"])
def test_history_follows_held_out_sequences(corpus, solver):
    X, y, X_val, y_val = corpus
    plain = L1CRF(random_state=0, solver=solver).fit(X, y)
    crf = L1CRF(random_state=0, solver=solver).fit(X, y, X_val=X_val, y_val=y_val)
    assert crf.objective_ == plain.objective_  # held-out sequences have no influence
    assert "validation" not in plain.history_[-1]
    values = [h["validation"] for h in crf.history_]
    first = crf.sgd_iter if solver == "two-stage" else 0
    assert len(values) == crf.n_iter_ + first
    if solver != "sgd":  # SGD pays debts after the last pass
        assert values[-1] == pytest.approx(
            np.mean(crf.sequence_log_proba(X_val, y_val)), rel=1e-6
        )
    assert all(np.isfinite(values)) and values[-1] > values[0]


def test_held_out_sequences_may_be_partly_labelled_and_conditioned(corpus):
    X, y, X_val, y_val = corpus
    features = ["U0:%x[0,0]", "U1:%x[-1,0]", "B", "B1:%x[0,0]"]
    hidden = [[None if t % 3 == 0 else v for t, v in enumerate(s)] for s in y_val]
    crf = L1CRF(features, random_state=0).fit(X, y, X_val=X_val, y_val=hidden)
    want = np.mean(crf.sequence_log_proba(X_val, hidden))
    assert crf.history_[-1]["validation"] == pytest.approx(want, rel=1e-6)


def test_held_out_sequences_are_checked(corpus):
    X, y = corpus[:2]
    with pytest.raises(ValueError, match="together"):
        L1CRF().fit(X, y, X_val=X)
    for X_val, y_val, message in (
        ("ab", ["A"], "X_val must be a list of sequences, got str 'ab'"),
        (
            [["a"], ["a"]],
            [["A"]],
            "X_val and y_val must hold the same number of sequences, got 2 and 1",
        ),
        (
            [["a"], ["a"]],
            [["A"], []],
            "X_val and y_val: sequence 1: as many labels as tokens",
        ),
        ([["a"], "b"], [["A"], ["A"]], "X_val: sequence 1 is the str 'b'"),
        (
            [["a"], ["a", 3]],
            [["A"], [None] * 2],
            "X_val: sequence 1, position 1: .*got int 3",
        ),
        (
            [["a"], ["a"]],
            [["A"], [["A"]]],
            "y_val: sequence 1, position 0: expected a label",
        ),
        ([[]], [[]], "X_val holds no token"),
        (
            [["a"], ["a"]],
            [[None], [None]],
            "X_val and y_val: there is nothing to score: no token has",
        ),
    ):
        with pytest.raises(ValueError, match=f"^{message}"):
            L1CRF().fit(X, y, X_val=X_val, y_val=y_val)
        with pytest.raises(ValueError, match=f"^{message}"):
            regularization_path(L1CRF(), X, y, [1.0], X_val=X_val, y_val=y_val)


def test_held_out_sequences_without_label_do_not_count(corpus):
    """Neither in the score nor in the mean log-probability; empty ones have no label
    either.
    """
    X, y, X_val, y_val = corpus
    alone = L1CRF(random_state=0).fit(X, y, X_val=X_val, y_val=y_val).history_[-1]
    more = [*X_val, ["a", "b"], []], [*y_val, [None, None], []]
    beside = L1CRF(random_state=0).fit(X, y, X_val=more[0], y_val=more[1]).history_[-1]
    for name in "validation", "validation_score":
        assert beside[name] == pytest.approx(alone[name], rel=1e-12)
    (point,) = regularization_path(
        L1CRF(random_state=0), X, y, [0.1], X_val=more[0], y_val=more[1]
    )
    assert point.log_proba == pytest.approx(alone["validation"], rel=1e-3)


IMPOSSIBLE = np.log(np.finfo(float).eps)
"""Log-probability of a label that training lacks."""


def test_held_out_labels_that_training_lacks(corpus):
    X, y, X_val, y_val = corpus
    strange = [list(s) for s in y_val]
    strange[2][1], strange[5][0] = "new", "newer"
    hidden = [
        [None if v.startswith("new") else v for v in map(str, s)] for s in strange
    ]
    crf = L1CRF(random_state=0)
    with pytest.warns(
        UserWarning, match="y_val has labels that training lacks: 'new', 'newer';"
    ) as caught:
        crf.fit(
            X,
            [list(map(str, s)) for s in y],
            X_val=X_val,
            y_val=[list(map(str, s)) for s in strange],
        )
    assert len(caught) == 1
    # Each of both has the least probability, as in the log loss.
    want = np.mean(crf.sequence_log_proba(X_val, hidden)) + 2 * IMPOSSIBLE / len(X_val)
    assert crf.history_[-1]["validation"] == pytest.approx(want, rel=1e-6)
    n_tokens = sum(map(len, strange))
    loss = sequence_log_loss_scorer(crf, X_val, [list(map(str, s)) for s in strange])
    assert loss == pytest.approx(want * len(X_val) / n_tokens, rel=1e-6)
    with pytest.warns(UserWarning, match="'new'") as caught:
        (point,) = regularization_path(crf, X, y, [crf.c1], X_val=X_val, y_val=strange)
    assert len(caught) == 1
    assert point.log_proba == pytest.approx(want, rel=1e-3)
    n = sum(map(len, y_val))
    assert point.score == point.model.score(X_val, strange) <= 1.0 - 2 / n


def test_held_out_labels_that_constraints_make_impossible():
    """The labels beside one that is new need not have a labelling under the
    constraints.
    """
    X, y = [["he", "saw", "New", "York"]] * 5, [["O", "O", "B-LOC", "I-LOC"]] * 5
    X_val = [["he", "saw"], ["saw", "Max", "M"], ["York"]]
    y_val = [["O", "O"], ["O", "B-PER", "I-LOC"], ["O"]]
    crf = L1CRF(constraints="BIO", random_state=0)
    with pytest.warns(
        UserWarning,
        match="'B-PER';.* have the probability 2.2e-16 in the log-probability$",
    ):
        crf.fit(X, y, X_val=X_val, y_val=y_val)
    want = crf.sequence_log_proba(X_val, [["O", "O"], ["O", None, "I-LOC"], ["O"]])
    assert crf.history_[-1]["validation"] == pytest.approx(
        np.mean(want) + IMPOSSIBLE / 3
    )
    y_val[1] = ["I-PER", "I-LOC", "O"]
    pairs = [("O", "O"), ("O", "B-LOC"), ("B-LOC", "I-LOC"), (None, "O")]
    crf.set_params(constraints=pairs)
    with pytest.warns(
        UserWarning,
        match="'I-PER';.* so have all labels of 1 sequences, which constraints",
    ):
        crf.fit(X, y, X_val=X_val, y_val=y_val)
    want = crf.sequence_log_proba([X_val[0], X_val[2]], [y_val[0], y_val[2]])
    assert crf.history_[-1]["validation"] == pytest.approx(
        (want.sum() + 3 * IMPOSSIBLE) / 3
    )
    assert sequence_log_loss_scorer(crf, X_val, y_val) == pytest.approx(
        (want.sum() + 3 * IMPOSSIBLE) / 6
    )
    with pytest.warns(UserWarning, match="'I-PER'"):  # nothing else
        crf.fit(X, y, X_val=X_val[1:2], y_val=y_val[1:2])
    assert crf.history_[-1]["validation"] == pytest.approx(3 * IMPOSSIBLE)
    assert crf.history_[-1]["validation_score"] < 1.0
    with pytest.raises(
        ValueError,
        match="^y_val: sequence 1, position 0: the label 'I-LOC' cannot start",
    ):
        crf.fit(X, y, X_val=X_val, y_val=[["O", "O"], ["I-LOC", "O", "O"], ["O"]])
