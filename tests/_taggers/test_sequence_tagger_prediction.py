"""Constraints, allowed labels, k best and scores of the taggers, as users see them."""

import pickle

import numpy as np
import pytest
from tagger_cases import TAGGERS, TEMPLATES, corpus, same_weights

from skstruct import (
    BaggingShuffleAverager,
    CalibratedTagger,
    KBestReranker,
    ParameterMixer,
    StructuredPerceptron,
)
from skstruct.datasets import make_hmm_sequences


@pytest.fixture(params=TAGGERS, ids=["perceptron", "pa"])
def Tagger(request):
    return request.param


# -- constraints -----------------------------------------------------------------------
CHUNKS = (
    [["a", "b", "c", "d"], ["c", "a", "b"], ["d", "c"], ["a", "b", "b"]],
    [["B-X", "I-X", "O", "O"], ["O", "B-X", "I-X"], ["O", "O"], ["B-X", "I-X", "I-X"]],
)


def follows_bio(labels):
    before = "O"
    for label in labels:
        if label.startswith("I-") and before[1:] != label[1:]:
            return False
        before = label
    return True


def test_scheme_constrains_prediction_and_kbest(Tagger):
    X, y = CHUNKS
    tagger = Tagger(
        ["U00:%x[0,0]", "B"], constraints="BIO", max_iter=5, random_state=0
    ).fit(X, y)
    rng = np.random.RandomState(0)
    for _ in range(20):
        sequence = rng.choice(list("abcdz"), size=rng.randint(1, 6)).tolist()
        assert follows_bio(tagger.predict([sequence])[0])
        assert all(
            follows_bio(labels) for labels, _ in tagger.predict_kbest([sequence], 5)[0]
        )
    free = Tagger(["U00:%x[0,0]", "B"], max_iter=5, random_state=0).fit(X, y)
    assert not all(
        follows_bio(labels) for labels, _ in free.predict_kbest([["b"]], 9)[0]
    )


def test_pairs_constrain_start_and_end(Tagger):
    X, y = CHUNKS
    pairs = [
        ("B-X", "I-X"),
        ("I-X", "I-X"),
        ("I-X", "O"),
        ("O", "B-X"),
        ("O", "O"),
        ("zzz", "O"),
    ]
    tagger = Tagger(["U00:%x[0,0]", "B"], constraints=pairs, random_state=0).fit(X, y)
    found = {tuple(labels) for labels, _ in tagger.predict_kbest([["z", "z"]], 9)[0]}
    assert found == {p for p in pairs if p[0] != "zzz"}
    pairs = {*pairs, (None, "O"), (None, "B-X"), ("I-X", None), ("O", None)}
    tagger = Tagger(["U00:%x[0,0]", "B"], constraints=pairs, random_state=0).fit(X, y)
    found = {tuple(labels) for labels, _ in tagger.predict_kbest([["z", "z"]], 9)[0]}
    assert found == {("B-X", "I-X"), ("O", "O")}
    assert [labels for labels, _ in tagger.predict_kbest([["z"]], 9)[0]] == [["O"]]


@pytest.mark.parametrize(
    "labels, constraints, message",
    [
        (["O", "I-X"], "BIO", "sequence 1, position 1.*'I-X' cannot follow 'O'"),
        (["I-X", "O"], "BIO", "sequence 1, position 0.*'I-X' cannot start"),
        (["B-X", "E-X", "B-X"], "BMES", "sequence 1, position 2.*'B-X' cannot end"),
        (
            ["B-X", "O"],
            [("O", "B-X"), ("B-X", "B-X")],
            "sequence 1, position 1.*cannot follow",
        ),
    ],
)
def test_gold_that_breaks_the_constraints(labels, constraints, message):
    first = "S-X" if constraints == "BMES" else "B-X"
    tagger = StructuredPerceptron(["U00:%x[0,0]"], constraints=constraints)
    with pytest.raises(ValueError, match=message):
        tagger.fit([["a"], ["a"] * len(labels)], [[first], labels])
    assert not hasattr(tagger, "classes_")


def test_gold_that_no_completion_fits():
    tagger = StructuredPerceptron(["U00:%x[0,0]"], constraints=[("A", "B"), ("B", "A")])
    with pytest.raises(ValueError, match="sequence 1"):
        tagger.fit([["a"], ["a", "b", "c"]], [["A"], ["A", None, "B"]])


# -- prediction ------------------------------------------------------------------------
def test_allowed_forces_and_restricts():
    X, y = corpus()
    tagger = StructuredPerceptron(TEMPLATES, random_state=0).fit(X, y)
    everything = {(a, b): s for (a, b), s in tagger.predict_kbest([X[0][:2]], 99)[0]}
    assert len(everything) == 16
    for choice in ("L2", {"L2", "L0"}, ["L3"], ("L1", "L0"), frozenset(["L2"])):
        options = {choice} if isinstance(choice, str) else set(choice)
        (labels,) = tagger.predict([X[0][:2]], allowed=[[choice, None]])
        assert labels[0] in options
        best = max((p for p in everything if p[0] in options), key=everything.get)
        assert tuple(labels) == best
        kbest = tagger.predict_kbest([X[0][:2]], 99, allowed=[[choice, None]])[0]
        assert len(kbest) == 4 * len(options) and kbest[0][0] == labels
    assert tagger.predict(X, allowed=y) == y
    assert tagger.predict(X, allowed=[[None] * len(s) for s in X]) == tagger.predict(X)


def test_infeasible_allowed():
    X, y = CHUNKS
    tagger = StructuredPerceptron(
        ["U00:%x[0,0]", "B"], constraints="BIO", random_state=0
    ).fit(X, y)
    with pytest.raises(
        ValueError, match="sequence 1: the constraints and the labels allowed"
    ):
        tagger.predict([["a"], ["a", "b"]], allowed=[[None], ["O", "I-X"]])
    with pytest.raises(
        ValueError, match="sequence 0: the constraints and the labels allowed"
    ):
        tagger.predict_kbest([["a", "b"]], 3, allowed=[["O", "I-X"]])
    for allowed, message in [
        ([[None], [None, "?"]], "sequence 1, position 1.*'\\?' is not a label"),
        ([[None], [None, {"O", "?"}]], "sequence 1, position 1.*'\\?' is not a label"),
        ([[None], [None, set()]], "sequence 1, position 1: no label is allowed"),
        ([[None], [None]], "sequence 1"),
        ([[None]], "same number of sequences"),
        (["O", "OO"], "sequence 0.*str"),
    ]:
        for method in (tagger.predict, tagger.predict_kbest):
            with pytest.raises(ValueError, match=message):
                method([["a"], ["a", "b"]], allowed=allowed)


def test_kbest_is_distinct_and_sorted(Tagger):
    X, y = corpus()
    tagger = Tagger(TEMPLATES, max_iter=3, random_state=0).fit(X[:20], y[:20])
    results = tagger.predict_kbest(X, 7)
    best = tagger.decision_function(X)
    assert len(results) == len(X)
    for sequence, ranked, score, labels in zip(X, results, best, tagger.predict(X)):
        assert len(ranked) == min(7, 4 ** len(sequence))
        assert len({tuple(path) for path, _ in ranked}) == len(ranked)
        scores = [s for _, s in ranked]
        assert scores == sorted(scores, reverse=True)
        assert all(type(s) is float for s in scores) and scores[0] == pytest.approx(
            score
        )
        if scores[0] > scores[1]:
            assert ranked[0][0] == labels
    assert [path for ((path, _),) in tagger.predict_kbest(X, k=1)] == tagger.predict(X)
    assert len(tagger.predict_kbest([X[0][:1]], k=50)[0]) == 4
    for k in (0, -1, 1.5, True, None):
        with pytest.raises(ValueError, match="k must be"):
            tagger.predict_kbest(X, k=k)


def test_results_are_lists_of_the_labels_given():
    X = [["a", "b"], ["b", "a"]]
    for y in ([["A", "B"], ["B", "A"]], [[1, 2], [2, 1]], [[True, False], [False, True]],
              [[1.5, 2.5], [2.5, 1.5]], [[("A", 1), ("B", 2)], [("B", 2), ("A", 1)]]):  # fmt: skip
        for given in (y, [tuple(s) for s in y]):
            tagger = StructuredPerceptron(["U00:%x[0,0]"], random_state=0).fit(X, given)
            predicted = tagger.predict(X)
            assert isinstance(predicted, list) and predicted == y
            assert {type(v) for s in predicted for v in s} == {type(y[0][0])}
            assert tagger.classes_.tolist() == sorted(y[0])
            assert np.asarray(predicted).shape == (2,)
            assert pickle.loads(pickle.dumps(predicted)) == predicted
    tagger = StructuredPerceptron(["U00:%x[0,0]"]).fit(
        X, [np.array([1, 2]), np.array([2, 1])]
    )
    assert {type(v) for s in tagger.predict(X) for v in s} == {int}
    tagger.fit(np.array(X), np.array([["A", "B"], ["B", "A"]]))
    assert {type(v) for s in tagger.predict(X) for v in s} == {str}


def test_empty_sequences_and_corpora(Tagger):
    X, y = corpus(10)
    tagger = Tagger(TEMPLATES, random_state=0).fit(X, y)
    holes = Tagger(TEMPLATES, random_state=0).fit(
        [[], *X[:5], [], *X[5:]], [[], *y[:5], [], *y[5:]]
    )
    assert same_weights(tagger, holes)
    assert tagger.predict([]) == [] and tagger.predict_kbest([]) == []
    assert tagger.decision_function([]).shape == (0,)
    assert tagger.predict([[], X[0], []])[::2] == [[], []]
    assert tagger.decision_function([[], []]).tolist() == [0.0, 0.0]
    assert tagger.predict_kbest([[]], 3) == [[([], 0.0)]]
    bags = Tagger(random_state=0).fit([[{"a": 1}, {}], []], [["A", "B"], []])
    assert bags.predict([[], [{}], []]) == [[], bags.predict([[{}]])[0], []]
    assert bags.predict([]) == []


def test_one_label(Tagger):
    tagger = Tagger(random_state=0).fit([["a", "b"]], [["A", "A"]])
    assert tagger.predict([["c", "d", "e"], []]) == [["A", "A", "A"], []]
    assert tagger.predict_kbest([["c"]], 3)[0] == [(["A"], 0.0)]
    assert tagger.score([["a"]], [["A"]]) == 1.0


def test_a_sequence_of_20000_tokens(Tagger):
    X, y = make_hmm_sequences(
        1, n_labels=3, n_words=100, min_length=20_000, max_length=20_000, random_state=0
    )
    few = (
        [X[0][k : k + 10] for k in range(0, 2000, 10)],
        [y[0][k : k + 10] for k in range(0, 2000, 10)],
    )
    tagger = Tagger(TEMPLATES, max_iter=3, random_state=0).fit(
        [*few[0], *X], [*few[1], *y]
    )
    assert (
        len(tagger.predict(X)[0]) == 20_000
        and np.isfinite(tagger.decision_function(X)).all()
    )
    tagger.fit(*few)
    assert tagger.score(X, y) > 0.6
    assert tagger.predict(X)[0] == tagger.predict_kbest(X, 2)[0][0][0]


def test_n_jobs_changes_nothing(Tagger):
    X, y = corpus(60)
    tagger = Tagger(TEMPLATES, max_iter=3, random_state=0).fit(X[:30], y[:30])
    labels, scores, kbest = (
        tagger.predict(X),
        tagger.decision_function(X),
        tagger.predict_kbest(X, 2),
    )
    for n_jobs in (1, 2, 3, -1):
        tagger.set_params(n_jobs=n_jobs)
        assert tagger.predict(X) == labels
        assert np.array_equal(tagger.decision_function(X), scores)
        assert tagger.predict_kbest(X, 2) == kbest
        allowed = [[s[0], *[None] * (len(s) - 1)] for s in y]
        assert [s[0] for s in tagger.predict(X, allowed=allowed)] == [s[0] for s in y]


@pytest.mark.parametrize(
    "make",
    [
        lambda tagger: tagger,
        lambda tagger: BaggingShuffleAverager(tagger, 2, random_state=0),
        lambda tagger: ParameterMixer(tagger, 2, random_state=0),
        lambda tagger: CalibratedTagger(tagger, cv=2, random_state=0),
        lambda tagger: KBestReranker(tagger, k=2, cv=2, max_iter=1, random_state=0),
    ],
)
def test_score_refuses_labels_that_no_prediction_could_equal(make):
    X, y = corpus()
    tagger = StructuredPerceptron(TEMPLATES, max_iter=2, random_state=0)
    model = make(tagger).fit(X[:10], y[:10])
    gold = [list(labels) for labels in y]
    gold[2][1] = float("nan")
    with pytest.raises(ValueError, match="sequence 2, position 1: a label must"):
        model.score(X, gold)
    with pytest.raises(ValueError, match="of type int, .* of type str, "):
        model.score(X, [[len(label) for label in labels] for labels in y])


def test_score_is_token_accuracy():
    X, y = corpus()
    tagger = StructuredPerceptron(TEMPLATES, max_iter=2, random_state=0).fit(
        X[:10], y[:10]
    )
    predicted = tagger.predict(X)
    right = [[a == b for a, b in zip(*pair)] for pair in zip(y, predicted)]
    score = tagger.score(X, y)
    assert type(score) is float and score == pytest.approx(
        np.mean(np.concatenate(right))
    )
    weight = np.arange(len(X)) % 3
    expected = sum(w * sum(r) for w, r in zip(weight, right)) / sum(
        w * len(r) for w, r in zip(weight, right)
    )
    assert tagger.score(X, y, sample_weight=weight) == pytest.approx(expected)
    partly = [[None, *labels[1:]] for labels in y]
    assert tagger.score(X, partly) == pytest.approx(
        np.mean(np.concatenate([r[1:] for r in right]))
    )


@pytest.mark.parametrize("order", [1, 2])
def test_more_labellings_than_there_are_need_no_memory(order):
    X, y = [["a", "b"], ["b"]], [["A", "B"], ["C"]]
    tagger = StructuredPerceptron(order=order, random_state=0).fit(X, y)
    for some in ["a", "b", "a"], ["b"], []:
        ranked = tagger.predict_kbest([some], 10**15)
        assert [len(each) for each in ranked] == [3 ** len(some)]
        assert tagger.predict_kbest([some, some], 10**15) == ranked * 2
