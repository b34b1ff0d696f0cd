"""Models kept by skops and MLflow, with their own stores and searches."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import TruncatedSVD
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import skstruct
from skstruct import SpanTagger, StructuredPerceptron, WordSegmenter
from skstruct.features import (
    SequenceUnion,
    TokenTransformer,
    TokenVectorizer,
    WordVectors,
)
from skstruct.serving import signature, trusted_types

X = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["the", "cat"]] * 4
Y = [["D", "N", "V"], ["D", "N", "V"], ["D", "N"]] * 4
TEXTS = ["see Bob now", "Bob sees"] * 4
SPANS = [[(4, 7, "P")], [(0, 3, "P")]] * 4


def perceptron(**parameters):
    return StructuredPerceptron(**{"max_iter": 3, "random_state": 0, **parameters})


def tagger():
    return perceptron().fit(X, Y)


def spans():
    return SpanTagger(perceptron()).fit(TEXTS, SPANS)


def with_foreign_steps():
    union = SequenceUnion(
        [
            ("vectors", WordVectors(2, min_count=1, random_state=0)),
            (
                "svd",
                make_pipeline(
                    TokenVectorizer(), TokenTransformer(TruncatedSVD(2, random_state=0))
                ),
            ),
        ]
    )
    return make_pipeline(union, perceptron()).fit(X, Y)


def frame(column, cells):
    return pd.DataFrame({column: cells})


@pytest.fixture(scope="module")
def mlflow(tmp_path_factory):
    """MLflow with a store of its own in SQLite."""
    mlflow = pytest.importorskip("mlflow")
    pytest.importorskip("sqlalchemy")
    folder = tmp_path_factory.mktemp("mlflow")
    before = mlflow.get_tracking_uri()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("MLFLOW_ENABLE_ASYNC_LOGGING", "false")
        mlflow.set_tracking_uri(f"sqlite:///{folder}/store.db")
        yield mlflow
        mlflow.sklearn.autolog(disable=True)
        mlflow.set_tracking_uri(before)


def logged(mlflow, model, **how):
    how["pip_requirements"] = [
        "skstruct"
    ]  # or MLflow starts a process to look for them
    with mlflow.start_run():
        info = mlflow.sklearn.log_model(
            model, name="model", skops_trusted_types=trusted_types(), **how
        )
    return info


# -- skops -----------------------------------------------------------------------------
def test_one_list_is_enough_for_all_classes():
    sio = pytest.importorskip("skops.io")
    for model in (tagger(), spans(), with_foreign_steps()):
        again = sio.loads(sio.dumps(model), trusted=trusted_types())
        tokens = X if model.predict != spans else TEXTS
        tokens = TEXTS if isinstance(model, SpanTagger) else tokens
        assert again.predict(tokens) == model.predict(tokens)


def test_trusted_types_are_classes_that_check_their_state():
    names = trusted_types()
    assert names == sorted(set(names)) and len(names) > 20
    assert all(name.startswith("skstruct.") for name in names)
    assert "skstruct.features.word_clusters.WordClusters" in names
    assert not [name for name in names if name.rpartition(".")[2].startswith("_")]
    estimators = [getattr(skstruct, name) for name in skstruct.__all__]
    for each in estimators:
        if hasattr(each, "fit"):
            assert f"{each.__module__}.{each.__name__}" in names


# -- MLflow ----------------------------------------------------------------------------
def test_a_tagger_by_mlflow(mlflow):
    model = tagger()
    info = logged(mlflow, model)
    again = mlflow.sklearn.load_model(info.model_uri)
    assert isinstance(again, StructuredPerceptron) and again.predict(
        X
    ) == model.predict(X)
    served = mlflow.pyfunc.load_model(info.model_uri)
    assert served.predict(X) == model.predict(X)


@pytest.mark.parametrize(
    "make, column, cells",
    [
        (tagger, "tokens", [["the", "dog"], ["a"]]),
        (spans, "text", ["see Bob now", "Bob"]),
        (
            lambda: WordSegmenter(max_iter=2, random_state=0).fit(
                ["abc"], [["ab", "c"]]
            ),
            "text",
            ["abc", "ab"],
        ),
        (
            lambda: make_pipeline(
                WordVectors(2, n_clusters=2, min_count=1, random_state=0), perceptron()
            ).fit(X, Y),
            "tokens",
            [["the", "dog"], ["a"]],
        ),
    ],
)
def test_a_frame_with_a_signature_and_a_request_to_the_server(
    mlflow, make, column, cells
):
    model = make()
    data = frame(column, cells)
    info = logged(mlflow, model, signature=signature(model))
    served = mlflow.pyfunc.load_model(info.model_uri)
    expected = model.predict(cells)
    assert served.predict(data) == expected
    server = pytest.importorskip("mlflow.pyfunc.scoring_server")
    request = {"dataframe_split": {"columns": [column], "data": [[c] for c in cells]}}
    schema = served.metadata.get_input_schema()
    answer = server.invocations(json.dumps(request), "application/json", served, schema)
    assert answer.status == 200
    assert json.loads(answer.response)["predictions"] == json.loads(
        json.dumps(expected)
    )


def test_a_pipeline_around_foreign_transformers(mlflow):
    model = with_foreign_steps()
    again = mlflow.sklearn.load_model(logged(mlflow, model).model_uri)
    assert again.predict(X) == model.predict(X)


def test_tokens_that_mlflow_has_no_word_for():
    pytest.importorskip("mlflow")
    pairs = [[(w, w[0]) for w in s] for s in X]
    with pytest.raises(ValueError, match="log it without a signature"):
        signature(perceptron().fit(pairs, Y))


def test_signatures_of_searches_and_frozen_transformers():
    pytest.importorskip("mlflow")
    search = GridSearchCV(perceptron(), {"max_iter": [1, 2]}, cv=2).fit(X, Y)
    frozen = FrozenEstimator(WordVectors(2, min_count=1, random_state=0).fit(X))
    for model in (search, make_pipeline(frozen, perceptron()).fit(X, Y)):
        assert signature(model) == signature(tagger())


def test_autolog_of_a_search(mlflow):
    mlflow.sklearn.autolog(disable_for_unsupported_versions=False, log_models=False)
    search = GridSearchCV(perceptron(), {"max_iter": [1, 2]}, cv=2)
    with mlflow.start_run() as run:
        search.fit(X, Y)
    found = mlflow.get_run(run.info.run_id)
    assert found.data.params["best_max_iter"] in {"1", "2"}
    assert search.predict(X)


def test_a_search_of_optuna():
    optuna = pytest.importorskip("optuna")
    integration = pytest.importorskip("optuna_integration")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    space = {"max_iter": optuna.distributions.IntDistribution(1, 3)}
    search = integration.OptunaSearchCV(
        perceptron(), space, n_trials=2, cv=2, random_state=0
    )
    search.fit(np.array(X, dtype=object), np.array(Y, dtype=object))
    assert 1 <= search.best_params_["max_iter"] <= 3
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    assert again.predict(X) == search.predict(X)
