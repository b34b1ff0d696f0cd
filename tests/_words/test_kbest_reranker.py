"""Re-ranking: lattices, exact search, training against a naive trainer, and the
estimator around them.
"""

import numpy as np
import pytest
from inside import model_of
from reranker_cases import TAGGER, reranker, texts
from sklearn.base import clone

from skstruct import (
    KBestReranker,
    PassiveAggressiveTagger,
    Segmenter,
    ShiftReduceParser,
    StructuredPerceptron,
    WordSegmenter,
    load,
)
from skstruct.datasets import load_segmentation
from skstruct.metrics import word_f1_score


def test_words_tags_and_white_space():
    X, y = texts()
    joint = reranker().fit(X, y)
    predicted = joint.predict([*X, "", "a b ab"])
    assert ["".join(w for w, _ in items) for items in predicted] == [*X, "", "abab"]
    assert all(tag in {"X", "Y", "Z"} for items in predicted for _, tag in items)
    assert predicted[-2] == [] and {"a"} == {predicted[-1][0][0]}
    assert joint.score(X, y) == pytest.approx(word_f1_score(y, joint.predict(X)))
    assert joint.oracle_ <= 1.0 and joint.n_features() == model_of(joint).n_features
    plain = reranker().fit(*texts(tags=False))
    assert all(isinstance(w, str) for items in plain.predict(X) for w in items)


@pytest.mark.parametrize("kind", ["str", "tuple", "dict"])
def test_base_is_a_tagger(kind):
    X, y = texts(tags=True)
    X = [
        [
            w if kind == "str" else (w, w[:1]) if kind == "tuple" else {"w": w}
            for w, _ in s
        ]
        for s in y
    ]
    labels = [[t for _, t in s] for s in y]
    base = PassiveAggressiveTagger(max_iter=2, order=2, random_state=0)
    estimator = KBestReranker(base, k=5, cv=2, random_state=0).fit(X, labels)
    assert estimator.score(X, labels) > 0.9
    assert [len(s) for s in estimator.predict([*X, []])] == [*map(len, X), 0]
    labels[0][0] = None
    assert estimator.fit(X, labels).score(X, labels) > 0.9


def test_threads_change_nothing():
    X, y = texts()
    one, two = reranker().fit(X, y), reranker(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(
        model_of(one).weights.value, model_of(two).weights.value
    )
    assert one.predict(X) == two.predict(X)
    assert one.decision_function(X).tolist() == two.decision_function(X).tolist()


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("min_count", [1, 2])
def test_saved_and_loaded(tmp_path, training, min_count):
    X, y = texts()
    estimator = reranker(warm_start=True, min_count=min_count).fit(X, y)
    estimator.save(tmp_path / "model", training=training)
    loaded = load(tmp_path / "model")
    assert (
        loaded.get_params(deep=False).keys() == estimator.get_params(deep=False).keys()
    )
    assert loaded.predict(X) == estimator.predict(X)
    assert (
        loaded.decision_function(X).tolist() == estimator.decision_function(X).tolist()
    )
    if training:
        np.testing.assert_array_equal(
            model_of(loaded.fit(X, y)).weights.value,
            model_of(estimator.fit(X, y)).weights.value,
        )
    else:
        assert loaded.fit(X, y).n_iter_ == 3


def test_warm_start_goes_on():
    X, y = texts()
    whole = reranker().set_params(max_iter=6).fit(X, y)
    parts = reranker(warm_start=True).fit(X, y).fit(X, y)
    np.testing.assert_array_equal(
        model_of(whole).weights.value, model_of(parts).weights.value
    )
    with pytest.raises(ValueError, match="min_count=2 differs"):
        parts.set_params(min_count=2).fit(X, y)
    known = len(model_of(parts).words)
    X2, y2 = [*X, "dd", "dd", "dd"], [*y, *[[("d", "W"), ("d", "W")]] * 3]
    parts.set_params(min_count=1).fit(X2, y2)
    assert "d" in model_of(parts).words and len(model_of(parts).words) > known


@pytest.mark.parametrize(
    "options",
    [
        {"penalty": "l2", "alpha": 0.01},
        {"penalty": "l1", "alpha": 0.01},
        {"penalty": "l1-cumulative", "alpha": 0.01, "average": False},
        {"dropout": 0.3},
        {"feature_noise": "dropout", "edge_noise": "same"},
        {"edge_noise": "zipf", "zipf_exponent": 1.5},
        {"min_count": 3},
        {"early_stopping": True, "tol": 0.0},
    ],
)
def test_shared_parameters_have_an_effect(options):
    X, y = texts(40)
    plain, other = (
        reranker(shuffle=False).fit(X, y),
        reranker(shuffle=False, **options).fit(X, y),
    )
    again = reranker(shuffle=False, **options).fit(X, y)
    assert other.decision_function(X).tolist() == again.decision_function(X).tolist()
    assert other.decision_function(X).tolist() != plain.decision_function(X).tolist()
    assert len(other.predict(X)) == len(X)


def test_checkpoint_resumes(tmp_path):
    X, y = texts()
    whole = reranker().fit(X, y)
    kept = reranker(checkpoint=tmp_path).fit(X, y)
    np.testing.assert_array_equal(
        model_of(whole).weights.value, model_of(kept).weights.value
    )
    assert kept.resumed_from_ == 0 and not list(tmp_path.iterdir())


def test_weights_of_sequences():
    X, y = texts()
    weight = np.ones(len(X))
    weight[:5] = 0.0
    some = reranker().fit(X, y, sample_weight=weight)
    rest = reranker().fit(X[5:], y[5:], sample_weight=weight[5:])
    assert some.predict(X) == rest.predict(X)


def test_clone_and_default_base():
    X, y = load_segmentation()
    estimator = clone(KBestReranker(k=3, cv=2, max_iter=2, random_state=0))
    assert estimator.fit(X, y).score(X, y) > 0.9
    assert isinstance(estimator.base_, Segmenter) and estimator.base is None


def test_its_base_adapts():
    """That of training is trained anew, so that adapting the base before ``fit`` would
    be in vain.
    """
    X, y = (
        ["abcabc", "cab", "bcab"] * 4,
        [["ab", "c", "ab", "c"], ["c", "ab"], ["b", "c", "ab"]] * 4,
    )
    tagger = StructuredPerceptron("char-av", max_iter=2, random_state=0)
    reranker = KBestReranker(
        Segmenter(tagger), k=2, cv=2, max_iter=1, random_state=0
    ).fit(X, y)
    with pytest.raises(AttributeError, match="its base_ has adapt"):
        reranker.adapt(["ccab"] * 20)
    before = reranker.base_.predict_kbest(X, 2)
    reranker.base_.adapt(["ccab"] * 20)
    assert reranker.base_.predict_kbest(X, 2) != before


def test_bad_input_is_named():
    X, y = texts()
    with pytest.raises(
        ValueError, match="y: sequence 1, position 0: the words must spell"
    ):
        reranker().fit(X[:2], [y[0], [("q", "X")]])
    with pytest.raises(
        ValueError, match="cv=3 folds need at least as many sequences .* got 2"
    ):
        reranker().fit(X[:2], y[:2])
    with pytest.raises(ValueError, match="has no predict_kbest"):
        KBestReranker(Segmenter(KBestReranker(TAGGER))).fit(X, y)
    with pytest.raises(TypeError, match="label tokens, .* a WordSegmenter does not"):
        KBestReranker(Segmenter(WordSegmenter())).fit(X, y)
    with pytest.raises(
        ValueError, match="base must be a Segmenter, a WordSegmenter or a tagger"
    ):
        KBestReranker(ShiftReduceParser()).fit(X, y)
    with pytest.raises(
        ValueError, match=r"sequence 0, position 0: .* WordSegmenter learns no tags"
    ):
        KBestReranker(WordSegmenter(), cv=2).fit(X, y)
    for wrong in ({"k": 0}, {"cv": 1}, {"base": 3}):
        with pytest.raises(ValueError, match=f"The '{next(iter(wrong))}' parameter"):
            reranker().set_params(**wrong).fit(X, y)
    fitted = reranker().fit(X, y)
    before = fitted.decision_function(X).tolist()
    with pytest.raises(ValueError, match="sequence 1: expected a text"):
        fitted.predict(["a", 3])
    with pytest.raises(ValueError, match="same number of sequences"):
        fitted.fit(X, y[:-1])
    assert fitted.decision_function(X).tolist() == before


def test_errors_of_the_base_name_the_sequence_empty_ones_counted():
    texts, words = ["", "看书", "读书", "看报"], [[], ["看书"], ["读书"], ["看报"]]
    base = Segmenter(
        StructuredPerceptron("char", constraints="BMES", max_iter=1, random_state=0)
    )
    reranker = KBestReranker(base, k=2, cv=2, max_iter=1, random_state=0).fit(
        texts, words
    )
    before = reranker.predict(texts)
    with pytest.raises(ValueError, match="^sequence 3: the constraints"):
        reranker.predict(["", "看书", "", "看"])
    with pytest.raises(
        ValueError, match="^sequence 2: the constraints"
    ):  # unlike what its part learns from
        reranker.fit(["", "看书", "看", "读书"], [[], ["看书"], ["看"], ["读书"]])
    assert reranker.predict(texts) == before
    tagger = KBestReranker(
        StructuredPerceptron(["U:%x[0,0]"], max_iter=1), k=2, cv=2, max_iter=1
    )
    X, y = [[], ["a"], ["a"], ["b"]], [[], ["A"], ["A"], ["B"]]
    with pytest.raises(ValueError, match="sequence 3, position 0"):
        tagger.fit([*X[:3], [3]], y)
    with pytest.raises(ValueError, match="sequence 2, position 0"):
        tagger.fit(X, y).predict([[], ["a"], [3]])
