"""What a user puts inside of another estimator stays the user's own: no verb changes
it, frozen or not.

The kind: whatever keeps an object of the caller's as an attribute and hands a verb on
to it. scikit-learn's ``clone`` gives a frozen estimator back as it is, so that a
"clone" may be the user's own model.
"""

import inspect
import pickle

import joblib
import meta_cases
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

import skstruct
from skstruct import (
    L1CRF,
    L1CRFCV,
    BaggingShuffleAverager,
    CalibratedTagger,
    KBestReranker,
    ParameterMixer,
    Segmenter,
    ShiftReduceParser,
    SpanSets,
    SpanTagger,
    StructuredPerceptron,
    WordSegmenter,
)
from skstruct.features import SequenceUnion, TokenPredictions, TokenTransformer

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]

WORDS = meta_cases.WORDS * 3
TEXTS = meta_cases.TEXTS * 3
CHARACTERS = meta_cases.CHARACTERS * 3
PLACES = meta_cases.PLACES * 3
PROSE = meta_cases.PROSE * 5
SPANS = meta_cases.SPANS * 5
ROWS = [
    np.array([[len(words), t] for t in range(len(words))], float) for words in WORDS
]
ROW_LABELS = [["AB"[t % 2] for t in range(len(words))] for words in WORDS]


def perceptron(features="char-av", **parameters):
    return StructuredPerceptron(features, max_iter=2, random_state=0, **parameters)


def span_tagger():
    return SpanTagger(L1CRF(c1=0.1, random_state=0))


METAS = {
    "Segmenter": (
        Segmenter,
        "tagger",
        perceptron,
        (TEXTS, WORDS),
        (CHARACTERS, PLACES),
    ),
    "SpanTagger": (
        SpanTagger,
        "tagger",
        lambda: perceptron("auto", constraints="BIOES"),
        (PROSE, SPANS),
        (
            [text.split() for text in PROSE],
            [
                ["S-P", "O", "O", "S-L"],
                ["O", "S-L", "O", "S-P"],
                ["S-P", "O", "S-P"],
                ["S-L", "O", "S-P"],
            ]
            * 5,
        ),
    ),
    "CalibratedTagger": (
        CalibratedTagger,
        "estimator",
        perceptron,
        (CHARACTERS, PLACES),
        None,
    ),
    "CalibratedTagger of an average": (
        CalibratedTagger,
        "estimator",
        lambda: BaggingShuffleAverager(perceptron(), 2, random_state=0),
        (CHARACTERS, PLACES),
        None,
    ),
    "SpanSets": (SpanSets, "estimator", span_tagger, (PROSE, SPANS), None),
    "BaggingShuffleAverager": (
        BaggingShuffleAverager,
        "estimator",
        perceptron,
        (CHARACTERS, PLACES),
        None,
    ),
    "BaggingShuffleAverager of a search": (
        BaggingShuffleAverager,
        "estimator",
        lambda: L1CRFCV(
            features="char", candidates=[(0.1, 0.1), (1.0, 0.1)], cv=2, random_state=0
        ),
        (CHARACTERS, PLACES),
        None,
    ),
    "ParameterMixer": (
        ParameterMixer,
        "estimator",
        perceptron,
        (CHARACTERS, PLACES),
        None,
    ),
    "ParameterMixer of a Segmenter": (
        ParameterMixer,
        "estimator",
        lambda: Segmenter(perceptron("char")),
        (TEXTS, WORDS),
        None,
    ),
    "KBestReranker": (
        KBestReranker,
        "base",
        lambda: Segmenter(perceptron()),
        (TEXTS, WORDS),
        None,
    ),
    "TokenPredictions": (
        TokenPredictions,
        "classifier",
        lambda: SGDClassifier(random_state=0),
        (ROWS, ROW_LABELS),
        (np.concatenate(ROWS), np.concatenate(ROW_LABELS)),
    ),
    "TokenTransformer": (
        TokenTransformer,
        "transformer",
        StandardScaler,
        (ROWS, ROW_LABELS),
        (np.concatenate(ROWS), None),
    ),
}
"""Name -> class, parameter, what is inside, data, and data of its own for what is
inside.
"""

MORE = {
    "CalibratedTagger": {"cv": 2},
    "SpanSets": {"recall": 0.5, "precision": 0.5, "cv": 2},
    "BaggingShuffleAverager": {"n_estimators": 2, "keep_members": True},
    "KBestReranker": {"k": 3, "cv": 2},
    "TokenPredictions": {"cv": 2},
}

STATES = "unfitted", "fitted", "frozen"

NOT_FROZEN = {BaggingShuffleAverager, ParameterMixer}
"""Those whose ``fit`` refuses what is frozen."""

CHANGES = {"partial_fit", "adapt"}
"""Verbs that would change what is inside."""


def inner_of(name, state):
    """What is put inside, as a user has it."""
    _, _, make, data, for_inner = METAS[name]
    inner = make()
    if state == "unfitted":
        return inner
    inner.fit(*(for_inner or data))
    return FrozenEstimator(inner) if state == "frozen" else inner


def around(name, inner):
    cls, parameter, *_ = METAS[name]
    return cls(**{parameter: inner}, **MORE.get(cls.__name__, {}))


def contents(inner):
    """All that an object holds, as one digest of its bits; and which objects it
    holds.
    """
    own = (
        getattr(inner, "estimator", inner)
        if isinstance(inner, FrozenEstimator)
        else inner
    )
    public = {
        name: id(value) for name, value in vars(own).items() if not name.startswith("_")
    }
    return joblib.hash(own), public


def arguments(method, X, y, tmp_path):
    """An argument for each parameter of a method that has no default."""
    known = {
        "X": X,
        "y": y,
        "shards": [lambda: (X[::2], y[::2]), lambda: (X[1::2], y[1::2])],
        "path": tmp_path / "model",
        "callbacks": [],
    }
    given = inspect.signature(method).parameters.values()
    required = [each for each in given if each.default is each.empty]
    return [
        known[each.name]
        for each in required
        if each.kind is not each.VAR_KEYWORD and each.name in known
    ]


def verbs_of(model):
    """The public methods that a model has, by name."""
    names = (
        name
        for name in dir(model)
        if not name.startswith(("_", "set_")) and not name.endswith("_")
    )
    return {
        name: getattr(model, name)
        for name in names
        if inspect.ismethod(getattr(model, name, None))
    }


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("name", METAS)
def test_no_verb_changes_what_the_user_put_inside(name, state, tmp_path):
    X, y = METAS[name][3]
    inner = inner_of(name, state)
    before = contents(inner)
    model = around(name, inner)
    if state == "frozen" and type(model) in NOT_FROZEN:
        with pytest.raises(ValueError, match="FrozenEstimator"):
            model.fit(X, y)
        assert contents(inner) == before
        return
    model.fit(X, y)
    assert contents(inner) == before, "fit"
    tried = set()
    for verb, method in verbs_of(model).items():
        given = arguments(method, X, y, tmp_path)
        if state == "frozen" and verb in CHANGES:
            with pytest.raises(
                ValueError, match=f"{verb} would change the .*FrozenEstimator.*pass "
            ):
                method(*given)
        else:
            try:
                method(*given)
            except (ValueError, TypeError, AttributeError) as error:
                assert "Frozen" not in str(error), verb
        assert contents(inner) == before, verb
        tried.add(verb)
    assert {"fit", "get_params"} <= tried
    for change in (
        lambda: pickle.loads(pickle.dumps(model)),
        lambda: clone(model),
        model._repr_html_,
    ):
        change()
        assert contents(inner) == before
    own = model.get_params(deep=False).keys() - {METAS[name][1]}
    model.set_params(**{key: getattr(model, key) for key in own}).fit(X[:9], y[:9])
    assert contents(inner) == before, "fit again"


@pytest.mark.parametrize(
    "name, verb",
    [
        ("Segmenter", "partial_fit"),
        ("Segmenter", "adapt"),
        ("SpanTagger", "partial_fit"),
        ("CalibratedTagger", "adapt"),
        ("TokenTransformer", "partial_fit"),
    ],
)
def test_what_is_frozen_is_refused_before_anything_changes(name, verb):
    """Also in the first call of all, and by what a frozen estimator has inside in its
    turn.
    """
    X, y = METAS[name][3]
    inner = inner_of(name, "frozen")
    model = around(name, inner)
    if verb == "partial_fit":
        with pytest.raises(ValueError, match=f"{name}.partial_fit would change"):
            model.partial_fit(X, y)
        assert not hasattr(model, f"{METAS[name][1]}_")
    model.fit(X, y)
    before = joblib.hash(model), contents(inner)
    kind = type(inner.estimator).__name__
    with pytest.raises(ValueError, match=f"{name}.{verb} would change the {kind} in"):
        getattr(model, verb)(*([X] if verb == "adapt" else [X, y]))
    assert (joblib.hash(model), contents(inner)) == before


def test_a_tagger_that_was_frozen_stays_as_it_is_after_the_parameter_is_set_anew():
    for inner in (
        perceptron(),
        BaggingShuffleAverager(perceptron(), 2, random_state=0),
    ):
        inner.fit(CHARACTERS, PLACES)
        before = inner.decision_function(CHARACTERS)
        model = CalibratedTagger(FrozenEstimator(inner)).fit(CHARACTERS, PLACES)
        model.set_params(estimator=perceptron()).adapt([list("abcabcabcabbb")])
        assert (model.decision_function(CHARACTERS) != before).any()
        np.testing.assert_array_equal(inner.decision_function(CHARACTERS), before)


def test_what_is_frozen_deeper_inside_is_not_changed():
    tagger = perceptron().fit(CHARACTERS, PLACES)
    before = contents(tagger)
    model = Segmenter(CalibratedTagger(FrozenEstimator(tagger))).fit(TEXTS, WORDS)
    with pytest.raises(
        ValueError, match="CalibratedTagger.adapt would change the StructuredPerceptron"
    ):
        model.adapt(TEXTS)
    assert contents(tagger) == before


def test_steps_of_a_union_stay_the_users():
    for step in (
        StandardScaler(),
        FrozenEstimator(StandardScaler().fit(np.concatenate(ROWS))),
    ):
        before = contents(step)
        union = SequenceUnion([("a", TokenTransformer(step)), ("b", "passthrough")])
        union.fit(ROWS, ROW_LABELS).transform(ROWS)
        assert contents(step) == before


# -- what is no estimator of the kind that is asked for --------------------------------
NOT_INSIDE = [
    Segmenter(),
    SpanTagger(),
    WordSegmenter(),
    ShiftReduceParser(),
    SpanSets(),
    StructuredPerceptron,
    "perceptron",
]


@pytest.mark.parametrize("inner", NOT_INSIDE, ids=str)
@pytest.mark.parametrize("name", meta_cases.ROLES)
def test_an_estimator_of_another_kind_is_refused_by_its_name(name, inner):
    """Not by what its own fit says about data that the user never gave."""
    around = getattr(skstruct, name)
    if isinstance(inner, (str, type)):
        reason = (
            f"The '{meta_cases.ROLES[name]}' parameter of {name} must be an instance"
        )
    elif name in ("Segmenter", "SpanTagger"):
        reason = f"the tagger of {name} must label tokens.* {type(inner).__name__} does"
    else:
        return  # some go; the others are refused in ``test_metas``
    texts = meta_cases.PROSE, meta_cases.SPANS
    data = texts if name == "SpanTagger" else (TEXTS, WORDS)
    with pytest.raises((TypeError, ValueError), match=reason):
        around(inner).fit(*data)
