"""What an estimator inside of another one requests is honoured, or the call is refused:
never ignored.

The kind: every estimator that trains another one, every method that does so, every
value that a request of ``sample_weight`` may have. The tagger inside writes down which
weights it is given.
"""

import inside
import meta_cases
import numpy as np
import pytest
from sklearn import config_context, get_config
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import Pipeline

from skstruct import (
    L1CRF,
    L1CRFCV,
    BaggingShuffleAverager,
    CalibratedTagger,
    KBestReranker,
    ParameterMixer,
    Segmenter,
    SpanSets,
    SpanTagger,
    StructuredPerceptron,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]

WORDS = meta_cases.WORDS * 2
TEXTS = meta_cases.TEXTS * 2
CHARACTERS = meta_cases.CHARACTERS * 2
PLACES = meta_cases.PLACES * 2
PROSE = meta_cases.PROSE * 3
SPANS = meta_cases.SPANS * 3
WEIGHT = np.linspace(0.5, 3.0, 12)

LOG = []


@pytest.fixture(autouse=True)
def _empty_log():
    LOG.clear()


class Recorder(inside.weights_noted(LOG), StructuredPerceptron):
    """Notes which weights it is given."""


class RecorderCRF(inside.weights_noted(LOG), L1CRF):
    """Notes which weights it is given."""


def requesting(estimator, request):
    if not get_config()["enable_metadata_routing"]:
        return estimator
    estimator.set_fit_request(sample_weight=request)
    if hasattr(type(estimator), "set_partial_fit_request"):
        estimator.set_partial_fit_request(sample_weight=request)
    return estimator


def recorder(request):
    return requesting(Recorder("char", max_iter=1, random_state=0), request)


def crf(request):
    return requesting(RecorderCRF(c1=0.1, max_iter=3, random_state=0), request)


def passing(estimator):
    """An estimator in the middle, which hands on whatever its own one asks for."""
    return requesting(estimator, True)


METAS = {
    "Segmenter": (lambda request: Segmenter(recorder(request)), TEXTS, WORDS),
    "SpanTagger": (
        lambda request: SpanTagger(
            requesting(Recorder(max_iter=1, random_state=0), request)
        ),
        PROSE,
        SPANS,
    ),
    "averager": (
        lambda request: BaggingShuffleAverager(recorder(request), 2, random_state=0),
        CHARACTERS,
        PLACES,
    ),
    "mixer": (
        lambda request: ParameterMixer(recorder(request), random_state=0),
        CHARACTERS,
        PLACES,
    ),
    "calibrated": (
        lambda request: CalibratedTagger(recorder(request), cv=2, random_state=0),
        CHARACTERS,
        PLACES,
    ),
    "sets": (
        lambda request: SpanSets(passing(SpanTagger(crf(request))), recall=0.5, cv=2),
        PROSE,
        SPANS,
    ),
    "reranker": (
        lambda request: KBestReranker(
            recorder(request), k=2, cv=2, max_iter=1, random_state=0
        ),
        CHARACTERS,
        PLACES,
    ),
    "reranker of a segmenter": (
        lambda request: KBestReranker(
            passing(Segmenter(recorder(request))), k=2, cv=2, max_iter=1, random_state=0
        ),
        TEXTS,
        WORDS,
    ),
    "mixer of a segmenter": (
        lambda request: ParameterMixer(
            passing(Segmenter(recorder(request))), random_state=0
        ),
        TEXTS,
        WORDS,
    ),
    "segmenter of an average": (
        lambda request: Segmenter(
            passing(BaggingShuffleAverager(recorder(request), 2, random_state=0))
        ),
        TEXTS,
        WORDS,
    ),
    "calibrated average in threads": (
        lambda request: CalibratedTagger(
            passing(BaggingShuffleAverager(recorder(request), 2, random_state=0)),
            cv=2,
            n_jobs=2,
        ),
        CHARACTERS,
        PLACES,
    ),
}

ALSO_ITSELF = {"calibrated", "reranker"}
"""Those around the tagger that use weights themselves: they take them, whatever the
tagger calls its own.
"""

CELLS = [
    (name, method)
    for name, (make, *_) in METAS.items()
    for method in ("fit", "partial_fit")
    if hasattr(make(None), method)
]


def calls(name, method, request, **metadata):
    """The weights that the tagger inside was given, one entry for each time that it was
    trained.
    """
    make, X, y = METAS[name]
    getattr(make(request), method)(X, y, **metadata)
    return [weight for _, weight in LOG]


@pytest.mark.parametrize("name, method", CELLS)
@pytest.mark.parametrize("request_", [True, False, None, "mine"])
def test_requests_of_weights(name, method, request_):
    with config_context(enable_metadata_routing=True):
        if request_ is None:
            with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
                calls(name, method, None, sample_weight=WEIGHT)
            assert LOG == []
            assert all(weight is None for weight in calls(name, method, None))
        elif request_ is False:
            found = calls(name, method, False, sample_weight=WEIGHT)
            assert found and all(weight is None for weight in found)
        elif request_ is True:
            assert_handed_on(calls(name, method, True, sample_weight=WEIGHT))
        else:
            assert_handed_on(calls(name, method, "mine", mine=WEIGHT))


def assert_handed_on(found):
    """Each training got weights, those of the sequences that it learned from.

    Bases of a re-ranker get them divided by their mean.
    """
    assert found and all(weight is not None for weight in found)
    given = np.concatenate([WEIGHT, WEIGHT / WEIGHT.mean()])
    for n, weight in LOG:
        assert len(weight) == n
        assert np.isclose(np.asarray(weight)[:, None], given).any(axis=1).all()
    assert any(len(weight) == len(WEIGHT) for weight in found)


@pytest.mark.parametrize("name, method", CELLS)
def test_weights_by_another_name_than_the_one_asked_for(name, method):
    with config_context(enable_metadata_routing=True):
        if name in ALSO_ITSELF:
            assert all(
                weight is None
                for weight in calls(name, method, "mine", sample_weight=WEIGHT)
            )
        else:
            with pytest.raises((TypeError, ValueError), match="sample_weight|'mine'"):
                calls(name, method, "mine", sample_weight=WEIGHT)
            assert LOG == []


@pytest.mark.parametrize("name, method", CELLS)
def test_without_routing(name, method):
    """Weights are handed on, whatever is requested; other names are unknown."""
    with config_context(enable_metadata_routing=True):
        model, other = METAS[name][0](False), METAS[name][0]("mine")
    X, y = METAS[name][1:]
    if name == "sets":
        with pytest.raises(
            TypeError, match="SpanSets.fit got an unexpected .* 'sample_weight'"
        ):
            model.fit(X, y, sample_weight=WEIGHT)
    else:
        getattr(model, method)(X, y, sample_weight=WEIGHT)
        assert_handed_on([weight for _, weight in LOG])
    LOG.clear()
    with pytest.raises(
        TypeError, match=f"{type(other).__name__}.{method} got an unexpected .* 'mine'"
    ):
        getattr(other, method)(X, y, mine=WEIGHT)
    assert LOG == []


@pytest.mark.parametrize("request_, given", [(True, "sample_weight"), ("mine", "mine")])
@pytest.mark.parametrize(
    "name", ["averager", "mixer", "calibrated", "Segmenter", "reranker"]
)
def test_searches_and_pipelines_hand_metadata_on(name, request_, given):
    make, X, y = METAS[name]
    with config_context(enable_metadata_routing=True):
        model = requesting(make(request_), request_ if request_ is True else False)
        search = GridSearchCV(
            Pipeline([("model", model)]), {}, cv=2, error_score="raise", scoring=first
        )
        search.fit(X, y, **{given: WEIGHT})
    assert LOG and all(weight is not None for _, weight in LOG)


def first(estimator, X, y):
    return float(len(estimator.predict(X)) == len(y))


def test_defaults_ask_for_weights():
    """Nobody can set a request of an estimator that is only a default."""
    with config_context(enable_metadata_routing=True):
        for model, X, y in (
            (Segmenter(), TEXTS, WORDS),
            (SpanTagger(), PROSE, SPANS),
            (
                SpanTagger(
                    passing(BaggingShuffleAverager(n_estimators=1, random_state=0))
                ),
                PROSE,
                SPANS,
            ),
            (
                BaggingShuffleAverager(n_estimators=1, random_state=0),
                CHARACTERS,
                PLACES,
            ),
            (ParameterMixer(random_state=0), CHARACTERS, PLACES),
            (CalibratedTagger(cv=2), CHARACTERS, PLACES),
            (KBestReranker(k=2, cv=2, max_iter=1), TEXTS, WORDS),
        ):
            model.fit(X, y, sample_weight=WEIGHT)


def test_groups_reach_a_search_inside():
    groups = np.arange(12) // 2
    for around, X, y in (
        (
            lambda search: BaggingShuffleAverager(search, 1, random_state=0),
            CHARACTERS,
            PLACES,
        ),
        (lambda search: Segmenter(search), TEXTS, WORDS),
    ):
        with config_context(enable_metadata_routing=True):
            search = L1CRFCV(
                features="char", c1s=[0.1], c2s=[0.1], cv=GroupKFold(3), max_iter=3
            )
            model = around(search.set_fit_request(groups=True)).fit(X, y, groups=groups)
            assert len(model.predict(X)) == 12
            with pytest.raises(ValueError, match="groups"):
                around(search).fit(X, y)


def test_held_out_sequences_have_one_name():
    with config_context(enable_metadata_routing=True):
        for make, X, y in METAS.values():
            inner = make(False)
            role = next(
                name for name in ("tagger", "estimator", "base") if hasattr(inner, name)
            )
            if "X_val" not in str(getattr(inner, role).get_metadata_routing()):
                continue
            getattr(inner, role).set_fit_request(X_val="held", y_val="out")
            with pytest.raises((ValueError, TypeError), match="X_val"):
                inner.fit(X, y, held=X[:2], out=y[:2])
    assert LOG == []


def test_what_is_routed_trains_as_what_is_given():
    def scores(model, **metadata):
        return model.fit(CHARACTERS, PLACES, **metadata).decision_function(CHARACTERS)

    for name in ("averager", "mixer", "calibrated"):
        make = METAS[name][0]
        expected = scores(make(None), sample_weight=WEIGHT)
        assert (expected != scores(make(None))).any()
        with config_context(enable_metadata_routing=True):
            np.testing.assert_array_equal(scores(make("mine"), mine=WEIGHT), expected)
