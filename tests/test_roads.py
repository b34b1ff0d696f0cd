"""Whatever road a model comes by, it is the same: a table of roads and options.

A road is a way to train: in one go, stopped and resumed, in two fits, in two calls of
``partial_fit``, in threads, on shards, on Dask, with workers that lose what they hold,
as a fold of a search. The options are those whose effect the corpus decides: which
pairs, features and columns there are, how often, on which scale, what they cost.

Each cell trains on the road and in one go, and asks for the same weights, to the bit,
by name. Where nothing of the kind is promised ``OTHERWISE`` has the reason. Then the
road has to lead elsewhere indeed, or to be refused in the words of ``REFUSED``: if it
does not, the promise can be made.

A run tries each pair of an estimator, a road and an option, all cells once a week.
"""

import itertools
import sys
import warnings

import pytest
import road_cases
from covers import cover, slow_beyond
from road_cases import ESTIMATORS, OPTIONS, ROADS, N, case, part_of, weights
from sklearn.base import clone

from skstruct import L1CRFCV

# -- what is not promised --------------------------------------------------------------
LACKS = {
    ("perceptron", "checkpoint of shards"): "its shards are those of ParameterMixer",
    (
        "passive-aggressive",
        "checkpoint of shards",
    ): "its shards are those of ParameterMixer",
    **{
        (name, road): "its shards are those of ParameterMixer"
        for name in ("perceptron", "passive-aggressive")
        for road in ("shards", "Dask", "lost worker")
    },
    **{
        (name, "threads"): "n_jobs of a learner are threads in prediction"
        for name in ("perceptron", "passive-aggressive")
    },
    ("crf", "partial_fit"): "it minimises an objective over the whole corpus",
    ("mixer", "partial_fit"): "ParameterMixer has no partial_fit",
    ("mixer", "warm start"): "ParameterMixer has no warm_start",
    ("mixer", "checkpoint of a warm start"): "ParameterMixer has no warm_start",
    (
        "crf",
        "checkpoint of a warm start",
    ): "it converges in too few passes to be stopped in one",
    ("crf", "noise"): "L1CRF has no noise",
}
"""(estimator, road) or (estimator, option): why there is no such cell."""

OTHER_SUMS = "another order of the sums, or another beginning, of the same objective: the optimum is the same"
OF_THE_CALLS = "a call of partial_fit knows what the calls so far have shown"
OTHERWISE = {
    ("crf", "warm start"): OTHER_SUMS,
    ("crf", "shards"): OTHER_SUMS,
    (
        "mixer",
        "shards",
        "noise",
    ): "noise is drawn by the numbers of features, and fit numbers those of all",
    ("partial_fit", "pairs shown"): OF_THE_CALLS,
    ("partial_fit", "labels missing"): OF_THE_CALLS,
    ("partial_fit", "min_count"): OF_THE_CALLS,
    ("partial_fit", "pairs and min_count"): OF_THE_CALLS,
    (
        "partial_fit",
        "noise",
    ): "noise is drawn by the numbers of features, which each call numbers behind others",
    ("partial_fit", "words of the corpus"): "the first call decides the clusters",
    ("partial_fit", "rows of numbers"): "the first call decides the scale",
    ("partial_fit", "balanced"): "each call counts its own labels",
}
"""A part of (estimator, road, option): why the models may differ."""

REFUSED = {
    ("shards", "words of the corpus"): "words= are not those of shard 0",
    ("checkpoint of shards", "words of the corpus"): "words= are not those of shard 0",
    ("Dask", "words of the corpus"): "words= are not those of shard 0",
    ("lost worker", "words of the corpus"): "words= are not those of shard 0",
}
"""(road, option): what the error says."""


def reason_in(table, *cell):
    """What a table says of a cell by a part of its names."""
    return next((why for names, why in table.items() if set(names) <= set(cell)), None)


CELLS = [
    (name, road, option)
    for name in ESTIMATORS
    for road in ROADS
    for option in OPTIONS
    if reason_in(LACKS, name, road, option) is None
]
IN_PROCESSES = "Dask", "lost worker"


def pairs_of(cell):
    """What a cell tries: two names of it at a time, and a reason that needs all
    three.
    """
    reason = [names for names in OTHERWISE if len(names) == 3 and names == cell]
    return {*itertools.combinations(cell, 2), *reason}


COVER = {CELLS[k] for k in cover(CELLS, pairs_of)}


def of_cells(chosen):
    """Make parameters of the cells whose road is chosen."""
    return slow_beyond(COVER, [cell for cell in CELLS if chosen(cell[1])])


@pytest.fixture(scope="module")
def client():
    """A process of a cluster, which knows this module by value."""
    distributed, cloudpickle = (
        pytest.importorskip("distributed"),
        pytest.importorskip("cloudpickle"),
    )
    modules = road_cases, sys.modules[__name__]
    for module in modules:
        cloudpickle.register_pickle_by_value(module)
    options = {
        "n_workers": 1,
        "threads_per_worker": 1,
        "dashboard_address": None,
        "memory_limit": 0,
    }
    with (
        distributed.LocalCluster(**options) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client
    for module in modules:
        cloudpickle.unregister_pickle_by_value(module)


def check_cell(name, road, option, *how):
    """Train on both roads and compare."""
    estimator, X, y = case(name, option)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if message := reason_in(REFUSED, road, option):
            with pytest.raises(ValueError, match=message):
                ROADS[road](estimator, X, y, *how)
            return
        one, other = ROADS[road](estimator, X, y, *how)
    same = weights(one) == weights(other)
    if why := reason_in(OTHERWISE, name, road, option):
        if why is OTHER_SUMS:
            assert other.objective_ == pytest.approx(one.objective_, rel=2e-3)
            assert other.n_features() == one.n_features()
        else:
            assert not same, f"the table says: {why}; but it can be promised"
    else:
        assert same


@pytest.mark.parametrize(
    "name, road, option", of_cells(lambda road: road not in IN_PROCESSES)
)
def test_every_road_leads_to_one_model(name, road, option, monkeypatch, tmp_path):
    check_cell(name, road, option, monkeypatch, tmp_path)


@pytest.mark.parametrize(
    "name, road, option", of_cells(lambda road: road in IN_PROCESSES)
)
def test_every_road_over_processes_leads_to_one_model(
    name, road, option, monkeypatch, tmp_path, client
):
    check_cell(name, road, option, monkeypatch, tmp_path, client)


def test_each_run_tries_every_pair():
    assert set().union(*map(pairs_of, COVER)) == set().union(*map(pairs_of, CELLS))


def test_no_entry_of_the_table_is_stale():
    every = [
        (name, road, option)
        for name in ESTIMATORS
        for road in ROADS
        for option in OPTIONS
    ]
    for table in LACKS, OTHERWISE, REFUSED:
        for names in table:
            assert any(set(names) <= set(cell) for cell in every), names


@pytest.mark.parametrize(
    "option", ["words of the corpus", "balanced", "min_count", "values"]
)
@pytest.mark.parametrize("repeated", [False, True])
def test_the_fold_of_a_search_of_its_own(option, repeated):
    """Each fold of `L1CRFCV` is the fit to its training part."""
    estimator, X, y = case("crf", option)
    train, test = [*range(8, N), *(range(8, 12) if repeated else ())], list(range(8))
    given = {
        name: value
        for name, value in estimator.get_params(deep=False).items()
        if name in SHARED
    }
    search = L1CRFCV(
        candidates=[(0.05, 0.1)],
        cv=[(train, test)],
        selection_tol=1e-10,
        refit=False,
        **given,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = search.fit(X, y).cv_results_["split0_objective"][0]
        alone = clone(estimator).set_params(tol=1e-10).fit(*part_of(X, y, train))
    assert found == pytest.approx(alone.objective_, rel=1e-6)


SHARED = "features", "words", "min_count", "class_weight", "all_pairs", "random_state"
