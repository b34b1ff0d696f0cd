"""Probabilities of taggers at a temperature, against enumeration of all labellings."""

import itertools

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from ties import assert_same_where_decided

import skstruct
from skstruct import (
    L1CRF,
    BaggingShuffleAverager,
    CalibratedTagger,
    ParameterMixer,
    PassiveAggressiveTagger,
    Segmenter,
    StructuredPerceptron,
)
from skstruct._data.schemes import labels_to_spans
from skstruct.metrics import sequence_log_loss_scorer

TEMPLATES = ["U0:%x[0,0]", "U1:%x[-1,0]", "B"]
CONDITIONED = [*TEMPLATES, "B1:%x[0,0]"]
BIO = ["O", "B-X", "I-X", "B-Y", "I-Y"]


def corpus(labels, n=40, longest=5, seed=0):
    """Words that are mostly, not always, labelled as their number says; under BIO all
    well formed.
    """
    random, X, y = np.random.RandomState(seed), [], []
    for _ in range(n):
        words = random.randint(0, 6, random.randint(1, longest + 1))
        noisy = random.uniform(size=len(words)) < 0.3
        X.append([f"w{k}" for k in words])
        y.append([labels[(k + more) % len(labels)] for k, more in zip(words, noisy)])
    if "I-X" in labels:
        for each in y:
            for t, label in enumerate(each):
                if label[0] == "I" and (
                    t == 0 or each[t - 1] not in ("B" + label[1:], label)
                ):
                    each[t] = "B" + label[1:]
    return X, y


def enumerated(calibrated, x):
    """{labelling: probability} of one sequence, from the scores of the tagger
    inside.
    """
    scores = dict(
        (tuple(labels), score / calibrated.temperature_)
        for labels, score in calibrated.estimator_.predict_kbest(
            [x], len(calibrated.classes_) ** len(x)
        )[0]
    )
    top = max(scores.values())
    total = sum(np.exp(score - top) for score in scores.values())
    return {labels: np.exp(score - top) / total for labels, score in scores.items()}


def perceptron(features=TEMPLATES, **parameters):
    return StructuredPerceptron(
        features, **{"max_iter": 3, "random_state": 0, **parameters}
    )


TAGGERS = [
    pytest.param(perceptron(), id="perceptron"),
    pytest.param(perceptron(average=False), id="not averaged"),
    pytest.param(perceptron(CONDITIONED), id="conditioned", marks=pytest.mark.slow),
    pytest.param(perceptron(order=2), id="order 2"),
    pytest.param(
        perceptron(CONDITIONED, order=2),
        id="order 2, conditioned",
        marks=pytest.mark.slow,
    ),
    pytest.param(perceptron(constraints="BIO"), id="constraints"),
    pytest.param(perceptron(order=2, constraints="BIO"), id="order 2, constraints"),
    pytest.param(
        PassiveAggressiveTagger(TEMPLATES, max_iter=3, random_state=0),
        id="passive-aggressive",
    ),
    pytest.param(BaggingShuffleAverager(perceptron(), 2, random_state=0), id="average"),
    pytest.param(
        BaggingShuffleAverager(perceptron(order=2), 2, random_state=0),
        id="average, order 2",
    ),
    pytest.param(ParameterMixer(perceptron(), 2, random_state=0), id="mixture"),
    pytest.param(
        L1CRF(TEMPLATES, c1=0.1, random_state=0, constraints="BIO"), id="L1CRF"
    ),
]


@pytest.mark.parametrize("tagger", TAGGERS)
def test_every_probability_is_that_of_enumeration(tagger):
    X, y = corpus(BIO)
    calibrated = CalibratedTagger(tagger, cv=2, random_state=0).fit(X, y)
    assert 0.0 < calibrated.temperature_ < np.inf
    X, y = X[:6], y[:6]
    columns = calibrated.classes_.tolist()
    marginals, log_p = (
        calibrated.predict_marginals(X),
        calibrated.sequence_log_proba(X, y),
    )
    kbest, posterior = calibrated.predict_kbest(X, 4), calibrated.predict_posterior(X)
    for i, x in enumerate(X):
        p = enumerated(calibrated, x)
        expected = np.zeros((len(x), len(columns)))
        for labels, each in p.items():
            expected[range(len(x)), [columns.index(label) for label in labels]] += each
        np.testing.assert_allclose(marginals[i], expected, atol=1e-12)
        np.testing.assert_allclose(np.exp(log_p[i]), p[tuple(y[i])], rtol=1e-9)
        for labels, log_proba in kbest[i]:
            assert log_proba == pytest.approx(np.log(p[tuple(labels)]), abs=1e-9)
        assert posterior[i] == [columns[k] for k in expected.argmax(axis=1)]
        kinds = ("X", "Y")
        segments = [
            (a, b, k)
            for a in range(len(x))
            for b in range(a + 1, len(x) + 1)
            for k in kinds
        ]
        stands = dict.fromkeys(segments, 0.0)
        for labels, each in p.items():
            for segment in labels_to_spans(labels, "BIO"):
                stands[segment] += each
        found = calibrated.predict_segment_proba([x], [segments], scheme="BIO")[0]
        assert [segment for segment, _ in found] == segments
        np.testing.assert_allclose(
            [q for _, q in found], list(stands.values()), atol=1e-12
        )
    found, expected = calibrated.predict(X), calibrated.estimator_.predict(X)
    assert_same_where_decided(calibrated.estimator_, X, expected, found)


@pytest.mark.parametrize("order", [1, 2])
def test_labels_that_are_not_given_are_summed_over(order):
    X, y = corpus(["A", "B", "C"])
    calibrated = CalibratedTagger(perceptron(order=order), cv=2).fit(X, y)
    i = next(i for i, x in enumerate(X) if len(x) > 2)
    given = [None, *y[i][1:-1], None]
    p = enumerated(calibrated, X[i])
    expected = sum(
        each for labels, each in p.items() if list(labels[1:-1]) == given[1:-1]
    )
    assert np.exp(calibrated.sequence_log_proba([X[i]], [given])[0]) == pytest.approx(
        expected, rel=1e-9
    )


# -- the temperature -------------------------------------------------------------------
def log_likelihood(calibrated, X, y, temperature):
    other = clone(calibrated)
    vars(other).update(vars(calibrated), temperature_=temperature)
    return other.sequence_log_proba(X, y).sum()


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("partial", [False, True])
def test_the_temperature_makes_labels_not_trained_on_most_likely(order, partial):
    X, y = corpus(["A", "B", "C"], n=200)
    y = [
        [None if partial and t % 3 == 2 else label for t, label in enumerate(each)]
        for each in y
    ]
    tagger = perceptron(order=order).fit(X[:100], y[:100])
    calibrated = CalibratedTagger(FrozenEstimator(tagger)).fit(X[100:], y[100:])
    assert calibrated.estimator_ is tagger
    T = calibrated.temperature_
    best = log_likelihood(calibrated, X[100:], y[100:], T)
    for factor in (0.5, 0.9, 1.1, 2.0):
        assert log_likelihood(calibrated, X[100:], y[100:], T * factor) < best


def test_scores_times_a_number_have_that_temperature():
    """The same labels, from scores in another unit: the steps of a perceptron times the
    weight.
    """
    X, y = corpus(["A", "B", "C"], n=100)
    one = CalibratedTagger(perceptron()).fit(X, y)
    for factor in (2.0**20, 2.0**-20):
        other = CalibratedTagger(perceptron()).fit(
            X, y, sample_weight=np.full(len(X), factor)
        )
        assert other.temperature_ / one.temperature_ == pytest.approx(factor, rel=1e-2)
        for a, b in zip(one.predict_marginals(X), other.predict_marginals(X)):
            np.testing.assert_allclose(a, b, atol=0.01)
        assert np.isfinite(other.sequence_log_proba(X, y)).all()


def test_a_frozen_crf_at_its_own_distribution_has_temperature_one():
    X, y = corpus(["A", "B", "C"], n=300)
    crf = L1CRF(TEMPLATES, c1=0.01, c2=0.0, all_pairs=True, random_state=0).fit(X, y)
    assert CalibratedTagger(FrozenEstimator(crf)).fit(
        X, y
    ).temperature_ == pytest.approx(1.0, abs=0.05)


def test_labels_that_are_never_missed_leave_a_temperature():
    X = [["a", "b"], ["b", "c"], ["c", "a"], ["a", "c"]] * 5
    y = [[token.upper() for token in x] for x in X]
    calibrated = CalibratedTagger(perceptron(), cv=4).fit(X, y)
    assert 0.0 < calibrated.temperature_ < np.inf
    p = np.exp(calibrated.sequence_log_proba(X, y))
    assert (p > 0.7).all() and (p < 1.0).all()


def test_one_labelling_alone():
    X, y = [["a", "b"], ["a"], ["b", "a", "a"]], [["S", "S"], ["S"], ["S", "S", "S"]]
    for constraints in (None, "BMES"):
        calibrated = CalibratedTagger(perceptron(constraints=constraints), cv=3).fit(
            X, y
        )
        assert calibrated.temperature_ == 1.0
        assert calibrated.sequence_log_proba(X, y).tolist() == [0.0, 0.0, 0.0]
        assert calibrated.predict_segment_proba([["a"]], scheme="BMES") == [
            [((0, 1, ""), 1.0)]
        ]


def test_scores_that_speak_against_the_labels():
    X, y = corpus(["A", "B"], n=60)
    tagger = perceptron().fit(
        X, [["A" if label == "B" else "B" for label in each] for each in y]
    )
    with pytest.warns(
        UserWarning, match="no more likely under the scores than by chance"
    ):
        calibrated = CalibratedTagger(FrozenEstimator(tagger)).fit(X, y)
    assert calibrated.temperature_ == np.inf
    np.testing.assert_allclose(np.concatenate(calibrated.predict_marginals(X)), 0.5)
    assert np.isfinite(
        [p for best in calibrated.predict_kbest(X, 2) for _, p in best]
    ).all()


def test_labels_that_a_part_has_never_seen():
    X, y = corpus(BIO, n=30)
    X.append(["w7", "w8", "w9"])
    y.append(["B-Z", "I-Z", "O"])
    for constraints in (None, "BIO"):
        calibrated = CalibratedTagger(perceptron(constraints=constraints), cv=3).fit(
            X, y
        )
        assert 0.0 < calibrated.temperature_ < np.inf
        assert calibrated.predict_marginals(X)[-1].shape == (3, 7)
        ((_, p),) = calibrated.predict_segment_proba(
            X[-1:], [[(0, 2, "Z")]], scheme="BIO"
        )[0]
        assert 0.0 < p < 1.0


def test_values_that_are_too_large():
    y = [[f"L{k % 3}"] * 3 for k in range(12)]
    X = [[{f"x{k}": float(labels[0] == "L1") for k in range(9)}] * 3 for labels in y]
    tagger = StructuredPerceptron(max_iter=3, average=False, random_state=0).fit(X, y)
    X[7] = [{f"x{k}": 1.7e308 for k in range(9)}] * 3
    with pytest.raises(
        ValueError,
        match="X: sequence 7, position 0: values of features must be at most",
    ):
        CalibratedTagger(FrozenEstimator(tagger)).fit(X, y)


def test_too_few_sequences():
    X, y = corpus(["A", "B"], n=4)
    with pytest.raises(
        ValueError,
        match="cv=5 folds need at least as many sequences .* got 4; with a Frozen",
    ):
        CalibratedTagger(perceptron()).fit(X, y)
    with pytest.raises(
        ValueError, match="cv=2 folds need at least as many sequences .* got 1"
    ):
        CalibratedTagger(perceptron(), cv=2).fit(
            [["a"], [], ["b"]], [["A"], [], ["A"]], [1.0, 1.0, 0.0]
        )
    frozen = FrozenEstimator(perceptron().fit(X, y))
    assert CalibratedTagger(frozen).fit([["w1"]], [["B"]]).temperature_ > 0.0
    for unknown in (None, "C"):
        with pytest.raises(ValueError, match="y holds no label that the tagger knows"):
            CalibratedTagger(frozen).fit([["w1"]], [[unknown]])


# -- scikit-learn ----------------------------------------------------------------------
def test_parts_threads_and_weights():
    X, y = corpus(["A", "B", "C"], n=60)
    by_number = CalibratedTagger(perceptron(), cv=3).fit(X, y)
    for same in (
        CalibratedTagger(perceptron(), cv=KFold(3)),
        CalibratedTagger(perceptron(), cv=list(KFold(3).split(X))),
        CalibratedTagger(perceptron(), cv=3, n_jobs=2),
    ):
        same.fit(X, y)
        assert same.temperature_ == by_number.temperature_
        for a, b in zip(same.predict_marginals(X), by_number.predict_marginals(X)):
            np.testing.assert_array_equal(a, b)
    moved = [
        (train + 1, np.append(0, test + 1)) for train, test in KFold(3).split(X)
    ]  # positions in X
    with_empty = CalibratedTagger(perceptron(), cv=moved).fit([[], *X], [[], *y])
    assert with_empty.temperature_ == by_number.temperature_
    with pytest.raises(ValueError, match="cv leaves no sequence that is not empty"):
        CalibratedTagger(perceptron(), cv=[([0], [1])]).fit([[], *X], [[], *y])
    with pytest.raises(
        ValueError, match=f"fold 0 of cv does not select from the {len(X)} sequences"
    ):
        CalibratedTagger(perceptron(), cv=[([0, 1], [len(X)])]).fit(X, y)
    weight = np.arange(len(X)) % 2.0  # every other sequence has none
    left_out = CalibratedTagger(perceptron(), cv=3).fit(X, y, sample_weight=weight)
    alone = CalibratedTagger(perceptron(), cv=3).fit(X[1::2], y[1::2])
    assert left_out.temperature_ == pytest.approx(alone.temperature_)


def test_more_tokens_than_one_number_needs():
    X, y = corpus(["A", "B"], n=300, longest=400)
    tagger = perceptron(["U0:%x[0,0]"]).fit(X, y)
    drawn = [
        CalibratedTagger(FrozenEstimator(tagger), random_state=s).fit(X, y).temperature_
        for s in (0, 0, 1)
    ]
    assert drawn[0] == drawn[1] != drawn[2]
    assert drawn[2] == pytest.approx(drawn[0], rel=0.02)


def test_in_searches_pipelines_and_segmenters():
    X, y = corpus(["A", "B", "C"], n=60)
    search = GridSearchCV(
        CalibratedTagger(perceptron(), cv=2), {"estimator__max_iter": [1, 3]},
        scoring=sequence_log_loss_scorer, cv=2, error_score="raise",
    ).fit(X, y)  # fmt: skip
    assert search.best_score_ < 0.0 and search.best_estimator_.temperature_ > 0.0
    pipeline = Pipeline(
        [
            ("same", FunctionTransformer()),
            ("tagger", CalibratedTagger(perceptron(), cv=2)),
        ]
    )
    pipeline.fit(X, y)
    assert (
        sequence_log_loss_scorer(pipeline, X, y)
        == sequence_log_loss_scorer(pipeline[-1], X, y)
        < 0.0
    )


def test_what_cannot_be_calibrated():
    X, y = corpus(["A", "B"], n=20)
    with pytest.raises(
        TypeError, match=r"got a Segmenter; put it inside: Segmenter\(CalibratedTagger"
    ):
        CalibratedTagger(Segmenter()).fit(X, y)
    with pytest.raises(TypeError, match="got a Pipeline; put it into the last step"):
        CalibratedTagger(Pipeline([("tagger", perceptron())])).fit(X, y)
    with pytest.raises(TypeError, match="got a CalibratedTagger"):
        CalibratedTagger(CalibratedTagger()).fit(X, y)
    with pytest.raises(NotFittedError):
        CalibratedTagger(FrozenEstimator(perceptron())).fit(X, y)
    with pytest.raises(
        ValueError, match="BaggingShuffleAverager: its temperature is that of one model"
    ):
        BaggingShuffleAverager(CalibratedTagger()).fit(X, y)
    for absent in (
        perceptron(),
        Segmenter(perceptron()),
        BaggingShuffleAverager(perceptron()),
    ):
        assert not hasattr(absent, "predict_segment_proba")
    for there in (
        L1CRF(),
        Segmenter(L1CRF()),
        BaggingShuffleAverager(L1CRF()),
        CalibratedTagger(),
    ):
        assert hasattr(there, "predict_segment_proba")


def test_a_failed_fit_changes_nothing():
    X, y = corpus(["A", "B"], n=40)
    calibrated = CalibratedTagger(perceptron(), cv=2).fit(X, y)
    before = calibrated.predict_marginals(X)
    bad = [*y[:-1], [["A"]] * len(y[-1])]
    with pytest.raises(
        ValueError, match="y: sequence 39, position 0: expected a label"
    ):
        calibrated.fit(X, bad)
    for a, b in zip(before, calibrated.predict_marginals(X)):
        np.testing.assert_array_equal(a, b)


def test_a_frozen_tagger_is_kept_once(tmp_path):
    X, y = corpus(["A", "B"], n=40)
    tagger = perceptron().fit(X, y)
    calibrated = CalibratedTagger(FrozenEstimator(tagger)).fit(X, y)
    tagger.save(tmp_path / "alone")
    calibrated.save(tmp_path / "calibrated")
    assert (tmp_path / "calibrated").stat().st_size < 1.2 * (
        tmp_path / "alone"
    ).stat().st_size
    loaded = skstruct.load(tmp_path / "calibrated")
    assert loaded.estimator.estimator is loaded.estimator_
    assert loaded.temperature_ == calibrated.temperature_
    for a, b in zip(loaded.predict_marginals(X), calibrated.predict_marginals(X)):
        np.testing.assert_array_equal(a, b)


# -- segments --------------------------------------------------------------------------
@pytest.mark.parametrize("scheme", ["BIO", "IOB1", "BIOES", "BMES"])
@pytest.mark.parametrize("order", [1, 2])
def test_segments_of_any_scheme_without_constraints(scheme, order):
    labels = {
        "BIO": BIO,
        "IOB1": ["O", "I-X", "B-X", "I-Y"],
        "BIOES": ["O", "S", "B", "E", "I"],
        "BMES": ["S-X", "B-X", "M-X", "E-X"],
    }[scheme]
    X, y = corpus(labels[::-1], n=20, longest=4)
    calibrated = CalibratedTagger(perceptron(order=order), cv=2).fit(X, y)
    for x in X[:4]:
        found = {}
        for labelling, each in enumerated(calibrated, x).items():
            for segment in labels_to_spans(labelling, scheme):
                found[segment] = found.get(segment, 0.0) + each
        asked = list(found)
        answer = calibrated.predict_segment_proba([x], [asked], scheme=scheme)[0]
        np.testing.assert_allclose(
            [p for _, p in answer], [found[s] for s in asked], atol=1e-12
        )
        predicted = calibrated.predict_segment_proba([x], scheme=scheme)[0]
        assert [s for s, _ in predicted] == labels_to_spans(
            calibrated.predict([x])[0], scheme
        )


@pytest.mark.parametrize("scheme", ["BMES", "BI"])
@pytest.mark.parametrize("order", [1, 2])
def test_words_among_labellings_with_a_boundary_at_white_space(scheme, order):
    X = ["ab c", "abc", "b ca", "cab", "a b", "bca"] * 4
    y = [
        ["ab", "c"],
        ["ab", "c"],
        ["b", "ca"],
        ["c", "ab"],
        ["a", "b"],
        ["b", "ca"],
    ] * 4
    segmenter = Segmenter(
        CalibratedTagger(perceptron(order=order), cv=2), scheme=scheme
    ).fit(X, y)
    closing, opening = ("ES" if scheme == "BMES" else "BI"), "BS"
    tagger = segmenter.tagger_
    for cut in (1, 2):
        p = enumerated(tagger, list("abc"))
        ends = [(0, opening), (cut, opening), (cut - 1, closing), (2, closing)]
        p = {y: q for y, q in p.items() if all(y[t] in labels for t, labels in ends)}
        stands = dict.fromkeys(itertools.combinations(range(4), 2), 0.0)
        for labels, each in p.items():
            starts = [
                0,
                *(t for t in (1, 2) if labels[t] in "BS" or labels[t - 1] in "ES"),
                3,
            ]
            for a, b in itertools.pairwise(starts):
                stands[a, b] += each / sum(p.values())
        inner = [(a, b) for a, b in stands if not a < cut < b]
        spans = [(a + (a >= cut), b + (b > cut), "") for a, b in inner]
        text = "abc"[:cut] + " " + "abc"[cut:]
        found = segmenter.predict_segment_proba([text], [spans])[0]
        np.testing.assert_allclose(
            [q for _, q in found], [stands[each] for each in inner], atol=1e-12
        )
    (empty, found) = segmenter.predict_segment_proba(["", " ab c"])
    assert (
        empty == []
        and [(" ab c"[a:b]) for (a, b, _), _ in found]
        == segmenter.predict([" ab c"])[0]
    )
    with pytest.raises(
        ValueError,
        match=r"segments: sequence 1, position 0: \(1, 3, ''\) begins or ends with",
    ):
        segmenter.predict_segment_proba(["a", "ab c"], [[], [(1, 3, "")]])


def test_the_scheme():
    X, y = corpus(BIO)
    with pytest.raises(
        ValueError, match="scheme is needed, such as 'BIO', since constraints name none"
    ):
        L1CRF(TEMPLATES, random_state=0).fit(X, y).predict_segment_proba(X)
    crf = L1CRF(TEMPLATES, constraints="BIO", random_state=0).fit(X, y)
    named = crf.predict_segment_proba(X)
    assert named == crf.predict_segment_proba(X, scheme="IOB2") and any(named)
    averaged = CalibratedTagger(
        BaggingShuffleAverager(perceptron(constraints="BIO"), 2), cv=2
    ).fit(X, y)
    assert any(averaged.predict_segment_proba(X))
    with pytest.raises(ValueError, match="label 'A' does not belong to the scheme BIO"):
        CalibratedTagger(perceptron(), cv=2).fit(
            *corpus(["A", "B"])
        ).predict_segment_proba(X, scheme="BIO")
