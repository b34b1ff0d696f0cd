"""Compressed models: what they forget, what they keep, and their files, of format 2."""

import pickle
import struct

import numpy as np
import pytest
from model_cases import fitted

import skstruct
from skstruct import L1CRF, ParameterMixer, Segmenter, StructuredPerceptron
from skstruct._saving import values
from skstruct._saving.container import read_container, write_container
from skstruct._saving.forms import FASTEST
from skstruct.datasets import make_hmm_sequences
from skstruct.interchange import load_crfsuite, save_crfsuite

TEMPLATES = [
    "U0:%x[0,0]",
    "U1:%x[-1,0]/%x[0,0]",
    "U2:%x[-1,0]/%x[0,0]/%x[1,0]",
    "B",
    "B1:%x[0,0]",
]


@pytest.fixture(scope="module")
def corpus():
    return make_hmm_sequences(80, random_state=0)


@pytest.fixture(scope="module")
def tagger(corpus):
    X, y = corpus
    return StructuredPerceptron(TEMPLATES, max_iter=4, random_state=0).fit(
        X[:60], y[:60]
    )


def weights(model):
    return {(n, lab): w for n, lab, w in skstruct.inspection.feature_weights(model)}


def test_weights_are_rounded_and_none_is_lost(tagger):
    before, after = weights(tagger), weights(tagger.compress(dtype="float16"))
    assert before.keys() == after.keys()
    assert all(after[name] == float(np.float16(w)) for name, w in before.items())
    assert any(after[name] != w for name, w in before.items())


def test_the_largest_weights_stay(tagger):
    info = tagger.info()
    n = info["state_weights"] + info["transition_weights"]
    small = tagger.compress(dtype="float64", keep=0.25)
    info = small.info()
    assert info["state_weights"] + info["transition_weights"] == int(np.ceil(0.25 * n))
    before, after = weights(tagger), weights(small)
    assert after.items() <= before.items()
    lost = [abs(w) for name, w in before.items() if name not in after]
    assert max(lost) <= min(map(abs, after.values()))


def test_it_shares_nothing_with_the_model(tagger, corpus):
    X, y = corpus
    small, before = tagger.compress(), tagger.predict(X)
    small.partial_fit(X[:20], y[:20])
    assert tagger.predict(X) == before


def test_training_goes_on_from_its_weights(tagger, corpus, tmp_path):
    X, y = corpus
    exact = tagger.compress(dtype="float64")
    tagger.save(tmp_path / "model", training=False)
    plain = skstruct.load(tmp_path / "model")
    for model in (exact, plain):
        model.partial_fit(X[60:], y[60:])
    assert exact.predict(X) == plain.predict(X)
    assert weights(exact) == pytest.approx(weights(plain))
    assert exact.info()["compressed"] is None  # it has weights of training now


def test_cut_off_goes_on(corpus):
    X, y = corpus
    model = StructuredPerceptron(
        TEMPLATES, min_count=3, max_iter=3, random_state=0
    ).fit(X, y)
    small = model.compress(dtype="float64")
    assert small.predict(X) == model.predict(X)
    assert small.n_features() <= model.n_features()
    n = small.n_features()
    small.partial_fit(
        X, y
    )  # what was left out is counted anew, what was kept has reached the cut-off
    assert n <= small.n_features() <= model.partial_fit(X, y).n_features()


def test_conditional_random_field_starts_from_it(corpus):
    X, y = corpus
    crf = L1CRF(TEMPLATES, c1=0.2, random_state=0).fit(X, y)
    small = crf.compress(dtype="float64").set_params(warm_start=True)
    assert small.n_features() < crf.n_features()
    np.testing.assert_allclose(
        small.predict_marginals(X)[0], crf.predict_marginals(X)[0], atol=1e-12
    )
    assert small.fit(X, y).objective_ == pytest.approx(crf.objective_, rel=1e-3)


def test_what_is_inside_is_compressed_too(corpus):
    X, y = [["".join(x) for x in corpus[0]], corpus[0]]
    model = ParameterMixer(
        Segmenter(StructuredPerceptron("char", max_iter=2)), 2, random_state=0
    ).fit(X, y)
    small = model.compress()
    assert small.predict(X) == model.predict(X)
    assert (small.info()["compressed"], model.info()["compressed"]) == ("float32", None)


def test_export_and_explanation(corpus, tmp_path):
    X, y = [[{"w": token} for token in x] for x in corpus[0]], corpus[1]
    small = (
        StructuredPerceptron(max_iter=3, random_state=0).fit(X, y).compress(keep=0.7)
    )
    save_crfsuite(small, tmp_path / "model.crfsuite")
    assert load_crfsuite(tmp_path / "model.crfsuite").predict(X) == small.predict(X)
    explanation = skstruct.inspection.explain(small, X[0])
    assert explanation.score == pytest.approx(small.decision_function(X[:1])[0])


def test_only_compressed_models_are_written_by_zlib_as_a_whole(tmp_path, monkeypatch):
    """Others are large, and are read as fast as a disk is."""
    parser, X, _ = fitted("parser", 4)
    monkeypatch.setattr(values, "FAST", FASTEST)
    for model, zipped in (parser, False), (parser.compress(), True):
        model.save(tmp_path / "model")
        data = (tmp_path / "model").read_bytes()
        assert struct.unpack_from("<I", data, 8) == (1,)
        assert (b'"zlib"' in data) == zipped
        assert skstruct.load(tmp_path / "model").predict(X) == model.predict(X)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_files(dtype, tagger, corpus, tmp_path):
    small = tagger.compress(dtype=dtype, keep=0.8)
    small.save(tmp_path / "model")
    again = skstruct.load(tmp_path / "model")
    assert again.predict(corpus[0]) == small.predict(corpus[0]) and weights(
        again
    ) == weights(small)
    again.save(tmp_path / "again")
    assert (tmp_path / "model").read_bytes() == (tmp_path / "again").read_bytes()
    assert again.info()["compressed"] == dtype


def test_a_file_is_smaller_by_what_is_zero(tagger, tmp_path):
    tagger.save(tmp_path / "whole", training=False)
    tagger.compress().save(tmp_path / "small")
    small, whole = ((tmp_path / name).stat().st_size for name in ("small", "whole"))
    assert small < 0.9 * whole
    assert whole < 0.4 * len(pickle.dumps(tagger))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"dtype": "int8"},
            "dtype must be one of float64, float32, float16, got 'int8'",
        ),
        ({"keep": 0.0}, "keep must be a number above 0, up to 1, got 0.0"),
        ({"keep": True}, "got True"),
        ({"keep": "most"}, "got 'most'"),
    ],
)
def test_parameters_out_of_range(given, message, tagger):
    with pytest.raises(ValueError, match=message):
        tagger.compress(**given)


def test_not_fitted():
    with pytest.raises(Exception, match="not fitted"):
        StructuredPerceptron().compress()


def test_weights_beyond_the_range():
    X, y = [[{"x": 1e6}, {"z": 1.0}]] * 2, [["B", "A"]] * 2
    model = StructuredPerceptron(max_iter=2, random_state=0).fit(X, y)
    assert model.compress().predict(X) == model.predict(X)
    with pytest.raises(ValueError, match="dtype='float16' holds no weight of"):
        model.compress(dtype="float16")


# -- files that lie --------------------------------------------------------------------
@pytest.fixture
def forged(tagger, tmp_path):
    """A function that changes a compressed model's header and arrays, and says how
    loading refuses it.
    """

    def refusal(change):
        path = tmp_path / "forged"
        tagger.compress().save(path)
        header, arrays = read_container(path, kind="model")
        change(header["estimator"]["state"], arrays)
        write_container(path, header, arrays)
        with pytest.raises(skstruct._saving.registry.ModelFileError) as error:
            skstruct.load(path)
        return str(error.value)

    return refusal


def _set(name, change):
    def act(state, arrays):
        arrays[name] = change(arrays[name])

    return act


def _say(change):
    return lambda state, arrays: change(state)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            _set("model.nodes.packed", lambda a: a * np.float32("nan")),
            "nodes must be finite",
        ),
        (_set("model.nodes.packed", lambda a: a[1:]), "held must mark"),
        (_set("model.nodes.packed", lambda a: a.astype(np.int32)), "floating-point"),
        (_set("model.nodes.held", lambda a: a[1:]), "must have the shape"),
        (_set("model.nodes.held", lambda a: a.astype(np.int64)), "must be uint8"),
        (_set("model.nodes.held", lambda a: ~a), "held must mark"),
        (
            _set("model.encoder.nodes.1.pairs", lambda a: a.astype(np.int64) + 2**40),
            "must be int32",
        ),
        (
            _set("model.encoder.nodes.1.pairs", lambda a: a.astype(np.float32)),
            "must be int32",
        ),
        (
            _set("model.encoder.nodes.1.row", lambda a: a + a.dtype.type(10**6)),
            "row is out of range",
        ),
        (
            _say(lambda s: s.update(packed="int8")),
            "packed must be one of [None, 'float64', 'float32', 'float16'], got 'int8'",
        ),
        (_say(lambda s: s.update(version=3)), "version must be a string"),
        (_say(lambda s: s["model"]["nodes"].pop("held")), "nodes lacks held"),
        (
            _say(lambda s: s["model"]["encoder"]["nodes"].update(n_rows=2**30)),
            "must have the shape",
        ),
        (
            _say(
                lambda s: s["model"]["encoder"]["nodes"]["compounds"][1]["row"].update(
                    groups="signed"
                )
            ),
            "groups are bytes",
        ),
    ],
)
def test_lies(change, message, forged):
    assert message in forged(change)


WORDS = ["U0:%x[-1,0]", "U1:%x[0,0]", "U2:%x[1,0]", "B"]


@pytest.mark.parametrize(
    "model, X, y",
    [
        (
            StructuredPerceptron(WORDS, min_count=2),
            [["a", "b", "c"]],
            [["A", "B", "A"]],
        ),
        (StructuredPerceptron(WORDS, min_count=9), [["a", "b"]] * 2, [["A", "B"]] * 2),
        (
            StructuredPerceptron(["U0:%x[0,0]/%x[1,0]", "B"], min_count=2),
            [["a", "b"]] * 3,
            [["A", "B"]] * 3,
        ),
        (
            StructuredPerceptron(["U0:%x[0,0]", "B1:%x[-1,0]/%x[0,0]"], min_count=2),
            [["a"]] * 2,
            [["A"]] * 2,
        ),
        (L1CRF("char", c1=50.0, max_iter=20), [["a", "b"]] * 4, [["A", "B"]] * 4),
    ],
)
def test_hardly_any_features_left(model, X, y, tmp_path):
    """Groups of templates that own more rows than there are."""
    model = model.fit(X, y)
    for each in (model, model.compress(dtype="float64")):
        each.save(tmp_path / "model")
        found = skstruct.load(tmp_path / "model")
        assert found.predict(X) == model.predict(X)
        np.testing.assert_array_equal(
            found.decision_function(X), model.decision_function(X)
        )
