"""Whatever is asked of an estimator that trains another one: a table.

A row is an estimator around another one, also two of them deep, with a pipeline in
between, and in threads; a column is what users ask of it. Each cell holds, or ``LACKS``
has the reason why there is no such cell; an entry that has become stale fails.
"""

import inspect

import joblib
import numpy as np
import pytest
from meta_cases import ROLES
from metas_cases import (
    COLUMNS,
    LABELLED,
    LACKS,
    METAS,
    PROSE,
    ROWS,
    TEXT,
    case,
    fitted_of,
    perceptron,
    reranker,
    rows,
)
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.feature_selection import SelectFromModel
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

import skstruct
from skstruct import (
    CalibratedTagger,
    ParameterMixer,
    Segmenter,
    SpanSets,
    SpanTagger,
)
from skstruct.features import TokenPredictions, TokenTransformer

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


def test_no_entry_of_the_table_is_stale():
    for a, b in LACKS:
        assert any(a in name for name in METAS), a
        assert any(b in column for column in COLUMNS), b


def test_every_estimator_around_another_one_has_a_row():
    around = {
        name
        for name in skstruct.__all__
        if inner_parameters(getattr(skstruct, name)) & {"estimator", "tagger", "base"}
    }
    assert around == ROLES.keys()
    assert around <= {type(case(name)[0]).__name__ for name in METAS}


def inner_parameters(thing):
    """The names of the parameters of an estimator's class."""
    is_class = isinstance(thing, type) and issubclass(thing, BaseEstimator)
    return set(inspect.signature(thing).parameters) if is_class else set()


# -- None, and parameters of what it stands for ----------------------------------------
def deep(cls):
    """(parameter, value): one of the default learner's, as deep as it is."""
    names = cls().get_params()
    name = max((n for n in names if n.endswith("__max_iter")), key=len)
    return name, 1


@pytest.mark.parametrize("cls", ROLES)
@pytest.mark.parametrize("first", ["None first", "None last"])
def test_none_and_its_parameters_leave_what_was_given(cls, first):
    make = getattr(skstruct, cls)
    role = ROLES[cls]
    name, value = deep(make)
    given = perceptron(max_iter=7)
    before = joblib.hash(given)
    model = make(given)
    params = {role: None, name: value}
    if first == "None last":
        params = dict(reversed(params.items()))
    model.set_params(**params)
    assert joblib.hash(given) == before
    assert getattr(model, role) is not given
    expected = make().set_params(**{name: value}).get_params()
    assert str(model.get_params()[role]) == str(expected[role])
    assert model.get_params()[name] == value


@pytest.mark.parametrize("cls", ROLES)
def test_none_and_a_wrong_parameter_change_nothing(cls):
    make = getattr(skstruct, cls)
    given = perceptron()
    model = make(given)
    with pytest.raises(ValueError, match="no_such"):
        model.set_params(**{ROLES[cls]: None, f"{ROLES[cls]}__no_such": 1})
    assert getattr(model, ROLES[cls]) is given


def test_none_deep_inside_leaves_what_was_given():
    given = perceptron(max_iter=7)
    before = joblib.hash(given)
    model = SpanSets(SpanTagger(CalibratedTagger(given)))
    model.set_params(
        estimator__tagger__estimator=None, estimator__tagger__estimator__max_iter=3
    )
    assert joblib.hash(given) == before
    assert model.estimator.tagger.estimator.max_iter == 3
    pipeline = Pipeline([("words", Segmenter(given))])
    pipeline.set_params(words__tagger=None, words__tagger__estimator__max_iter=3)
    assert joblib.hash(given) == before
    assert pipeline["words"].tagger.estimator.max_iter == 3


OPTIONS = {
    "KBestReranker": {"cv": 2, "k": 2, "random_state": 0},
    "ParameterMixer": {"random_state": 0},
    "BaggingShuffleAverager": {"random_state": 0},
}


@pytest.mark.parametrize("cls", sorted(ROLES.keys() - {"SpanSets"}))
def test_a_grid_fits_the_none_that_it_records(cls):
    make = getattr(skstruct, cls)
    role = ROLES[cls]
    name, value = deep(make)
    inside = {name: value, name.replace("max_iter", "random_state"): 0}
    X, y = {"Segmenter": TEXT, "SpanTagger": PROSE, "KBestReranker": TEXT}.get(
        cls, LABELLED
    )
    given = perceptron(max_iter=7)
    before = joblib.hash(given)
    grid = GridSearchCV(
        make(given, **OPTIONS.get(cls, {})),
        {role: [None], **{each: [value] for each, value in inside.items()}},
        cv=2,
        error_score="raise",
    )
    grid.fit(X, y)
    assert joblib.hash(given) == before
    assert grid.best_params_ == {role: None, **inside}
    best = grid.best_estimator_
    assert best.get_params()[name] == value
    expected = clone(grid.estimator).set_params(**grid.best_params_).fit(X, y)
    assert best.predict(X) == expected.predict(X)
    assert best.n_iter_ == expected.n_iter_


# -- warm starts -----------------------------------------------------------------------
@pytest.mark.parametrize("name", rows("warm start"))
def test_a_warm_start_inside_is_refused_by_name(name):
    model, X, y = case(name, warm_start=True)
    (path,) = [
        each for each in model.get_params() if each.endswith("__warm_start")
    ] or [None]
    with pytest.raises(ValueError, match=rf"^{path}=True has no effect: .*to False"):
        model.fit(X, y)
    assert not fitted_of(model)
    model.set_params(**{path: False}).fit(X, y)


def test_a_warm_start_of_shards_and_transformers_is_refused_by_name():
    X, y = LABELLED
    mixer = ParameterMixer(perceptron(warm_start=True))
    with pytest.raises(ValueError, match="^estimator__warm_start=True has no effect"):
        mixer.fit_shards([lambda: (X, y)])
    trees = ExtraTreesClassifier(2, warm_start=True)
    predictions = TokenPredictions(trees)
    with pytest.raises(ValueError, match="^classifier__warm_start=True has no effect"):
        predictions.fit_transform(*ROWS)
    with pytest.raises(ValueError, match="^transformer__estimator__warm_start=True"):
        TokenTransformer(SelectFromModel(trees)).fit(*ROWS)


def test_what_is_frozen_may_have_any_warm_start():
    frozen = FrozenEstimator(perceptron(warm_start=True).fit(*LABELLED))
    assert CalibratedTagger(frozen).fit(*LABELLED).temperature_ > 0
    assert Segmenter(frozen).fit(*TEXT).score(*TEXT) > 0
    assert Segmenter(CalibratedTagger(frozen)).fit(*TEXT).score(*TEXT) > 0


def test_the_warm_start_of_a_reranker_itself_works():
    X, y = LABELLED
    model = reranker(perceptron(), warm_start=True).fit(X, y)
    n = model.history_[-1]["epoch"]
    assert model.fit(X, y).history_[-1]["epoch"] == 2 * n


def test_partial_fit_goes_on_whatever_warm_start_is():
    model = Segmenter(perceptron(warm_start=True))
    assert model.partial_fit(*TEXT).partial_fit(*TEXT).n_iter_ == 2


# -- clones ----------------------------------------------------------------------------
@pytest.mark.parametrize("name", rows("clone"))
def test_a_clone_of_a_fitted_one_trains_the_same(name):
    model, X, y = case(name)
    if isinstance(model, TokenPredictions):
        first = model.fit(X, y).transform(X)
        again = clone(model).fit(X, y).transform(X)
        np.testing.assert_array_equal(np.vstack(list(first)), np.vstack(list(again)))
        return
    before = joblib.hash(model.get_params(deep=False))
    first = model.fit(X, y).predict(X)
    assert joblib.hash(model.get_params(deep=False)) == before
    copy = clone(model)
    assert not fitted_of(copy)
    assert copy.fit(X, y).predict(X) == first
