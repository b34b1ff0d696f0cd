"""What is known of a fitted estimator: each of a family knows what the others know.

The families: what predicts labels of tokens, words, spans, or trees; and transformers
that read rows. An estimator around another one knows what that one knows of its
training and of the columns that it read.
"""

import numpy as np
import pandas
import pytest
from model_cases import ALL_CASES, covering, fitted
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

import skstruct
from skstruct import (
    L1CRF,
    L1CRFCV,
    BaggingShuffleAverager,
    CalibratedTagger,
    KBestReranker,
    ParameterMixer,
    PassiveAggressiveTagger,
    SpanSets,
    StructuredPerceptron,
)
from skstruct.features import TokenPredictions, TokenTransformer, Window

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]

OF_TRAINING = {"history_", "n_iter_"}
"""What every estimator that learns knows."""

FAMILY = {
    "labels": {"classes_", *OF_TRAINING},
    "words": OF_TRAINING,
    "spans": OF_TRAINING,
    "trees": {"classes_", *OF_TRAINING},
}
"""What an estimator predicts -> the attributes that all have which predict it."""


@pytest.mark.parametrize("name", covering(ALL_CASES))
def test_each_of_a_family_has_its_attributes(name):
    model = fitted(name, 4)[0]
    if isinstance(model, SpanSets):
        kind = "spans"
    else:
        kind = model.inputs.task
    assert {each for each in FAMILY[kind] if not hasattr(model, each)} == set()
    assert model.n_iter_ == int(model.n_iter_) >= 1
    assert isinstance(model.history_, list)


# -- columns ---------------------------------------------------------------------------
NUMBERS = np.random.default_rng(0).normal(size=(60, 3))
ROWS = [NUMBERS[k : k + 3] for k in range(0, 60, 3)]
FRAMES = [pandas.DataFrame(rows, columns=["size", "place", "shape"]) for rows in ROWS]
WORDS = [[f"w{int(10 * row[0])}" for row in rows] for rows in ROWS]
LABELS = [["B-X" if row[0] > 0 else "O" for row in rows] for rows in ROWS]
GIVEN = {"rows": ROWS, "frames": FRAMES, "words": WORDS}


def perceptron():
    return StructuredPerceptron(max_iter=2, random_state=0)


READ_ROWS = {
    "perceptron": perceptron,
    "passive-aggressive": lambda: PassiveAggressiveTagger(max_iter=2, random_state=0),
    "CRF": lambda: L1CRF(c1=0.1, random_state=0),
    "search": lambda: L1CRFCV(c1s=[0.1], c2s=[0.1], cv=2, random_state=0),
    "averager": lambda: BaggingShuffleAverager(perceptron(), 2, random_state=0),
    "averager of CRFs": lambda: BaggingShuffleAverager(
        L1CRF(c1=0.1), 2, random_state=0
    ),
    "mixer": lambda: ParameterMixer(perceptron(), random_state=0),
    "calibrated": lambda: CalibratedTagger(perceptron(), cv=2),
    "calibrated averager": lambda: CalibratedTagger(
        BaggingShuffleAverager(perceptron(), 2, random_state=0), cv=2
    ),
    "reranker": lambda: KBestReranker(
        perceptron(), k=2, cv=2, max_iter=1, random_state=0
    ),
    "mixer of a reranker": lambda: ParameterMixer(
        KBestReranker(perceptron(), k=2, cv=2, max_iter=1, random_state=0),
        random_state=0,
    ),
    "sets": lambda: SpanSets(
        L1CRF(c1=0.1, constraints="BIO", random_state=0), recall=0.5, cv=2
    ),
    "window": Window,
    "transformer": lambda: TokenTransformer(StandardScaler()),
    "predictions": lambda: TokenPredictions(SGDClassifier(random_state=0), cv=2),
}


@pytest.mark.parametrize("name", READ_ROWS)
def test_columns_of_rows(name):
    for kind, names in (("rows", None), ("frames", ["size", "place", "shape"])):
        model = READ_ROWS[name]().fit(GIVEN[kind], LABELS)
        assert model.n_features_in_ == 3
        assert isinstance(model.n_features_in_, int)
        if names is None:
            with pytest.raises(
                AttributeError, match=f"{type(model).__name__}.*feature_names_in_"
            ):
                _ = model.feature_names_in_
        else:
            assert model.feature_names_in_.tolist() == names
            assert model.feature_names_in_.dtype == object


@pytest.mark.parametrize(
    "name", sorted(READ_ROWS.keys() - {"window", "transformer", "predictions"})
)
def test_tokens_without_columns(name):
    for model in (READ_ROWS[name](), READ_ROWS[name]().fit(WORDS, LABELS)):
        for attribute in ("n_features_in_", "feature_names_in_"):
            with pytest.raises(
                AttributeError,
                match=f"{type(model).__name__} has no attribute '{attribute}'",
            ):
                getattr(model, attribute)


@pytest.mark.parametrize(
    "name", sorted(READ_ROWS.keys() - {"window", "transformer", "predictions"})
)
def test_tags_say_that_rows_are_taken(name):
    assert get_tags(READ_ROWS[name]()).input_tags.three_d_array


@pytest.mark.parametrize(
    "name", sorted(READ_ROWS.keys() - {"window", "transformer", "predictions"})
)
def test_attributes_survive_a_file(name, tmp_path):
    model = READ_ROWS[name]().fit(FRAMES, LABELS)
    model.save(tmp_path / "model")
    loaded = skstruct.load(tmp_path / "model")
    for attribute in ("n_iter_", "classes_", "n_features_in_"):
        if hasattr(model, attribute):
            np.testing.assert_array_equal(
                getattr(loaded, attribute), getattr(model, attribute)
            )
    assert loaded.feature_names_in_.tolist() == ["size", "place", "shape"]
