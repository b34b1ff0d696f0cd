"""The fitted parser: averages of models, and sparse weights of labels."""

import numpy as np
import pytest
from inside import model_of
from parser_cases import X, Y, parser

from skstruct import BaggingShuffleAverager
from skstruct._parser import parser_epoch as structure


@pytest.mark.parametrize("average", ["nonzero", "all"])
def test_models_are_averaged_feature_by_feature(average):
    averager = BaggingShuffleAverager(
        parser(max_iter=2),
        n_estimators=3,
        average=average,
        keep_members=True,
        random_state=1,
    ).fit(X, Y)
    members = [model_of(m) for m in averager.estimators_]

    def by_feature(model):
        features, label_features = map(model.features, model.TABLES)
        rows = (
            model.weights.value.reshape(-1, 3),
            model.label_weights.value.reshape(-1, len(model.labels)),
        )
        return {**dict(zip(features, rows[0])), **dict(zip(label_features, rows[1]))}

    parts = [by_feature(m) for m in members]
    for feature, row in by_feature(model_of(averager)).items():
        rows = np.array([part.get(feature, np.zeros_like(row)) for part in parts])
        used = np.maximum((rows != 0).sum(axis=0), 1) if average == "nonzero" else 3
        np.testing.assert_allclose(row, rows.sum(axis=0) / used)
    assert averager.score(X, Y) > 0.8


def test_sparse_label_weights_are_averaged_too():
    many = [
        [(head, f"{label}{i}{k}") for k, (head, label) in enumerate(t)]
        for i, t in enumerate(Y)
    ]
    many += [[(0, f"only{k}")] for k in range(10)]
    sentences = X + [[(f"w{k}", "N")] for k in range(10)]
    averager = BaggingShuffleAverager(
        parser(max_iter=8), n_estimators=2, random_state=1
    ).fit(sentences, many)
    assert (
        model_of(averager).label_weights.sparse and averager.predict(sentences) == many
    )


@pytest.mark.parametrize(
    "penalty, alpha", [(None, 0.0), ("l1", 0.01), ("l1-cumulative", 0.01), ("l2", 0.5)]
)
def test_label_weights_become_sparse_without_a_trace(monkeypatch, penalty, alpha):
    sentences = X + [[(f"w{k}", "N")] for k in range(20)]
    trees = Y + [[(0, f"only{k}")] for k in range(20)]

    def run(few):
        monkeypatch.setattr(structure, "FEW_LABELS", few)
        model = parser(penalty=penalty, alpha=alpha).partial_fit(X, Y)
        assert not model_of(model).label_weights.sparse
        for _ in range(2):
            model.partial_fit(sentences, trees)
        assert model_of(model).label_weights.sparse == (few == 16)
        return model.predict(sentences), model.partial_fit(X, Y).predict(sentences)

    assert run(16) == run(1000)
