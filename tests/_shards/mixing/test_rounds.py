"""Rounds of mixing: their record, and what ends them."""

import pytest

from skstruct import ParameterMixer, StructuredPerceptron
from skstruct.datasets import make_hmm_sequences

X, Y = make_hmm_sequences(20, max_length=6, random_state=0)


def mixer(n_shards=3, **options):
    return ParameterMixer(
        StructuredPerceptron(max_iter=3), n_shards, random_state=0, **options
    )


def test_each_round_is_told():
    model = mixer().fit(X, Y)
    assert [record["round"] for record in model.history_] == [1, 2, 3]
    assert model.n_iter_ == 3
    for record in model.history_:
        assert record["mixture"] == pytest.approx([1 / 3] * 3)
        assert record["sequence_error"] == record["updates"] / len(X)
        assert record["bytes_received"] > 0
    sent = [record["bytes_sent"] for record in model.history_]
    assert sent[0] < min(sent[1:])  # there are no weights yet


def test_one_mixture_at_the_end_is_one_round_of_all_epochs():
    model = mixer(strategy="once").fit(X, Y)
    assert len(model.history_) == 1 and model.n_iter_ == 3


def test_held_out_sequences_judge_rounds(capsys):
    estimator = StructuredPerceptron(max_iter=3, verbose=1)
    model = ParameterMixer(estimator, 2, random_state=0)
    model.fit(X[4:], Y[4:], X_val=X[:4], y_val=Y[:4])
    scores = [record["validation_score"] for record in model.history_]
    assert scores[-1] == model.score(X[:4], Y[:4])
    printed = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in printed] == ["round 1", "round 2", "round 3"]
    assert all("MB" in line and "held-out accuracy" in line for line in printed)
