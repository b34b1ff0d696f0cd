"""Parameters that are set after a fit: each takes effect, does not matter, or is refused.

The law goes over all parameters of the estimators around a tagger, and of the tagger
inside. A new parameter needs another value in ``OTHER``.
"""

import pickle

import numpy as np
import pytest

import skstruct
from skstruct import (
    L1CRF,
    BaggingShuffleAverager,
    ParameterMixer,
    Segmenter,
    SpanTagger,
    StructuredPerceptron,
)
from skstruct.inspection import feature_weights

TEXTS = [
    "Ann Lee met Bob in Rome.",
    "Bob saw Ann.\n\nRome is far.",
    "In Rome, Bob.",
] * 4
SPANS = [
    [(0, 7, "PER"), (12, 15, "PER"), (19, 23, "LOC")],
    [(0, 3, "PER"), (8, 11, "PER"), (14, 18, "LOC")],
    [(3, 7, "LOC"), (9, 12, "PER")],
] * 4
WORDS = [text.split() for text in TEXTS]
TOKENS = [["the", "dog"], ["a", "cat"], ["dog", "sees", "a", "cat"]] * 4
LABELS = [["D", "N"], ["D", "N"], ["N", "V", "D", "N"]] * 4


def tagger(**given):
    return StructuredPerceptron(max_iter=2, random_state=0, **given)


MODELS = {
    "spans": (SpanTagger(tagger()), TEXTS, SPANS),
    "chains": (SpanTagger(tagger(), overlap="by-type"), TEXTS, SPANS),
    "words": (Segmenter(tagger()), TEXTS, WORDS),
    "average": (BaggingShuffleAverager(tagger(), 2, random_state=0), TOKENS, LABELS),
    "words, mixed": (ParameterMixer(Segmenter(tagger()), random_state=0), TEXTS, WORDS),
}

OTHER = {
    "align": "expand", "all_pairs": False, "alpha": 0.5, "average": False,
    "bootstrap": True, "checkpoint": "folder", "class_weight": "balanced",
    "client": "auto", "constraints": "BIO", "dropout": 0.5, "early_stopping": True,
    "edge_noise": "dropout", "estimator": L1CRF(), "feature_noise": "zipf",
    "features": ["U:%x[0,0]"], "keep_members": True, "layout": False, "max_iter": 7,
    "max_length": 3, "max_samples": 0.5, "min_count": 3, "mixing": "nonzero",
    "n_estimators": 3, "n_iter_no_change": 9, "n_jobs": 2, "n_shards": 3,
    "noise_rate": 0.5, "order": 2, "overlap": "longest", "penalty": "l2",
    "pieces": "texts", "random_state": 9, "scheme": "BI", "scoring": "token_accuracy",
    "shuffle": False, "strategy": "once", "tagger": L1CRF(), "tokenizer": "characters",
    "tol": 0.5, "validation_fraction": 0.5, "verbose": 0, "warm_start": False,
    "words": None, "zipf_exponent": 9.0,
}  # fmt: skip
"""Another value of each parameter."""

WITHIN = {("spans", "scheme"): "BIO", ("chains", "scheme"): "BIO",
          ("average", "average"): "all", ("chains", "overlap"): "error"}  # fmt: skip
"""Where the value depends on the estimator."""

TAKES_EFFECT = {("spans", "overlap"), ("average", "average")} | {
    (name, parameter)
    for name in ("spans", "chains")
    for parameter in ("align", "max_length")
}
"""Own parameters that further training may change, or does not read."""

IDLE = {
    "bootstrap", "checkpoint", "client", "early_stopping", "keep_members",
    "max_iter", "max_samples", "n_estimators", "n_iter_no_change", "n_jobs", "n_shards",
    "random_state", "scoring", "shuffle", "tol", "validation_fraction", "verbose",
    "warm_start", "words",
}  # fmt: skip
"""Parameters that further training does not read, and those with no other value."""

CASES = [
    (name, parameter)
    for name, (model, *_) in MODELS.items()
    for parameter in model.get_params()
]

FITTED: dict = {}


def fitted(name):
    """A fitted model, each time another one that equals it."""
    if name not in FITTED:
        model, X, y = MODELS[name]
        FITTED[name] = pickle.dumps(model.fit(X, y))
    return pickle.loads(FITTED[name])


@pytest.mark.parametrize(("name", "parameter"), CASES)
def test_a_parameter_set_after_a_fit_does_not_change_predictions(
    name, parameter, tmp_path
):
    model, (_, X, y) = fitted(name), MODELS[name]
    before = model.predict(X)
    leaf = parameter.rpartition("__")[2]
    value = WITHIN.get((name, parameter), OTHER[leaf])
    changed = repr(model.get_params()[parameter]) != repr(value)
    model.set_params(**{parameter: value})
    again = pickle.loads(pickle.dumps(model))
    try:
        found = model.predict(X)
    except ValueError as error:
        reason = f"{parameter}={value!r} differs from that of the training, "
        assert str(error).startswith(reason)
        for refused in (
            lambda: again.predict(X),
            lambda: again.score(X, y),
            lambda: model.save(tmp_path / "model"),
            lambda: model.compress(),
            lambda: model.partial_fit(X, y),
        ):
            with pytest.raises(ValueError) as raised:
                refused()
            assert str(raised.value).startswith(reason)
        assert model.fit(X, y).predict(X) == model.predict(X)
        return
    assert found == again.predict(X) == before
    if name == "words, mixed" or not hasattr(model, "partial_fit"):
        return
    if not changed or leaf in IDLE or (name, parameter) in TAKES_EFFECT:
        model.partial_fit(X, y)
        return
    with pytest.raises(
        ValueError, match=rf"{parameter}=.* differs from that of the tr"
    ):
        model.partial_fit(X, y)
    assert model.predict(X) == before


@pytest.mark.parametrize(
    ("parameter", "before", "same", "other"),
    [
        ("alpha", 0.5, np.float64(0.5), 0.25),
        ("zipf_exponent", 2.0, 2, np.int64(3)),
        ("average", True, np.True_, np.False_),
        ("features", "auto", np.str_("auto"), ["U:%x[0,0]"]),
    ],
)
def test_an_equal_value_of_another_type_is_no_change(parameter, before, same, other):
    model = SpanTagger(tagger(**{parameter: before})).fit(TEXTS, SPANS)
    model.set_params(**{f"tagger__{parameter}": same}).partial_fit(TEXTS, SPANS)
    model.set_params(**{f"tagger__{parameter}": other})
    with pytest.raises(ValueError, match=f"{parameter}=.* differs from that of the tr"):
        model.partial_fit(TEXTS, SPANS)


@pytest.mark.parametrize("name", ["spans", "words", "average"])
def test_training_goes_on_with_the_parameters_of_what_is_fitted(name):
    """As the error says that tells of others."""
    _, X, y = MODELS[name]
    model = fitted(name)
    around = "estimator" if name == "average" else "tagger"
    before = model.get_params()[f"{around}__alpha"]
    model.set_params(**{f"{around}__alpha": 0.9})
    says = f"set it back, and change that of {around}_, or fit again"
    with pytest.raises(ValueError, match=says):
        model.partial_fit(X, y)
    model.set_params(**{f"{around}__alpha": before})
    getattr(model, f"{around}_").set_params(alpha=0.9, penalty="l2")
    model.partial_fit(X, y)
    plain, again = (fitted(name).partial_fit(X, y) for _ in range(2))
    changed, *others = (
        repr(feature_weights(getattr(each, f"{around}_")))
        for each in (model, plain, again)
    )
    assert changed != others[0] == others[1]


@pytest.mark.parametrize("name", ["spans", "chains", "words"])
def test_a_model_from_a_file_knows_its_parameters(name, tmp_path):
    model, (_, X, y) = fitted(name), MODELS[name]
    model.save(tmp_path / "model")
    loaded = skstruct.load(tmp_path / "model")
    parameter = "scheme" if name == "words" else "tokenizer"
    loaded.set_params(**{parameter: OTHER[parameter]})
    with pytest.raises(
        ValueError, match=f"{parameter}=.* differs from that of the tra"
    ):
        loaded.predict(X)
    loaded.set_params(**{parameter: model.get_params()[parameter]})
    assert loaded.predict(X) == model.predict(X)
    assert loaded.partial_fit(X, y).predict(X) == model.partial_fit(X, y).predict(X)


@pytest.mark.parametrize("overlap", ["error", "longest"])
def test_chains_of_labels_are_not_added_to_a_model_without(overlap):
    model = SpanTagger(tagger(), overlap=overlap).fit(TEXTS, SPANS)
    model.set_params(overlap="by-type")
    before = model.predict(TEXTS)
    with pytest.raises(
        ValueError, match="overlap='by-type' differs from that of the tr"
    ):
        model.partial_fit(["Ann Lee met"], [[(0, 7, "PER"), (4, 7, "NEW")]])
    assert model.predict(TEXTS) == before
