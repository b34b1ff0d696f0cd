"""What the docstrings of the online taggers promise, promise by promise."""

import os
import pickle
import signal
import threading

import numpy as np
import pytest
from inside import model_of
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.utils.validation import check_is_fitted

from skstruct import FeatureTemplates, PassiveAggressiveTagger, StructuredPerceptron
from skstruct.core import store as store_module
from skstruct.datasets import make_hmm_sequences
from skstruct.training import epochs as loops

TAGGERS = [StructuredPerceptron, PassiveAggressiveTagger]
TEMPLATES = ["U00:%x[0,0]", "U01:%x[-1,0]/%x[0,0]", "B", "B01:%x[0,0]"]
PENALTIES = [None, "l1", "l1-cumulative", "l2"]


def corpus(n=40, seed=0, **options):
    options = {"n_labels": 4, "n_words": 60, "noise": 0.1, "max_length": 10, **options}
    return make_hmm_sequences(n, random_state=seed, **options)


def weights(tagger):
    """All weights, in arrays."""
    return [model_of(tagger).nodes.value, model_of(tagger).edges.value]


def same_weights(a, b):
    return all(np.array_equal(x, y) for x, y in zip(weights(a), weights(b)))


@pytest.fixture(params=TAGGERS, ids=["perceptron", "pa"])
def Tagger(request):
    return request.param


# -- constraints ---------------------------------------------------------------------------------------
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
    tagger = Tagger(["U00:%x[0,0]", "B"], constraints="BIO", max_iter=5, random_state=0).fit(X, y)
    rng = np.random.RandomState(0)
    for _ in range(20):
        sequence = rng.choice(list("abcdz"), size=rng.randint(1, 6)).tolist()
        assert follows_bio(tagger.predict([sequence])[0])
        assert all(follows_bio(labels) for labels, _ in tagger.predict_kbest([sequence], 5)[0])
    free = Tagger(["U00:%x[0,0]", "B"], max_iter=5, random_state=0).fit(X, y)
    assert not all(follows_bio(labels) for labels, _ in free.predict_kbest([["b"]], 9)[0])


def test_pairs_constrain_start_and_end(Tagger):
    X, y = CHUNKS
    pairs = [("B-X", "I-X"), ("I-X", "I-X"), ("I-X", "O"), ("O", "B-X"), ("O", "O"), ("zzz", "O")]
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
        (["B-X", "O"], [("O", "B-X"), ("B-X", "B-X")], "sequence 1, position 1.*cannot follow"),
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


# -- prediction ----------------------------------------------------------------------------------------
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
    tagger = StructuredPerceptron(["U00:%x[0,0]", "B"], constraints="BIO", random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="sequence 1: the constraints and the labels allowed"):
        tagger.predict([["a"], ["a", "b"]], allowed=[[None], ["O", "I-X"]])
    with pytest.raises(ValueError, match="sequence 0: the constraints and the labels allowed"):
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
        assert all(type(s) is float for s in scores) and scores[0] == pytest.approx(score)
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
    tagger = StructuredPerceptron(["U00:%x[0,0]"]).fit(X, [np.array([1, 2]), np.array([2, 1])])
    assert {type(v) for s in tagger.predict(X) for v in s} == {int}
    tagger.fit(np.array(X), np.array([["A", "B"], ["B", "A"]]))
    assert {type(v) for s in tagger.predict(X) for v in s} == {str}


def test_empty_sequences_and_corpora(Tagger):
    X, y = corpus(10)
    tagger = Tagger(TEMPLATES, random_state=0).fit(X, y)
    holes = Tagger(TEMPLATES, random_state=0).fit([[], *X[:5], [], *X[5:]], [[], *y[:5], [], *y[5:]])
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
    few = [X[0][k : k + 10] for k in range(0, 2000, 10)], [y[0][k : k + 10] for k in range(0, 2000, 10)]
    tagger = Tagger(TEMPLATES, max_iter=3, random_state=0).fit([*few[0], *X], [*few[1], *y])
    assert len(tagger.predict(X)[0]) == 20_000 and np.isfinite(tagger.decision_function(X)).all()
    tagger.fit(*few)
    assert tagger.score(X, y) > 0.6
    assert tagger.predict(X)[0] == tagger.predict_kbest(X, 2)[0][0][0]


def test_n_jobs_changes_nothing(Tagger):
    X, y = corpus(60)
    tagger = Tagger(TEMPLATES, max_iter=3, random_state=0).fit(X[:30], y[:30])
    labels, scores, kbest = tagger.predict(X), tagger.decision_function(X), tagger.predict_kbest(X, 2)
    for n_jobs in (1, 2, 3, -1):
        tagger.set_params(n_jobs=n_jobs)
        assert tagger.predict(X) == labels
        assert np.array_equal(tagger.decision_function(X), scores)
        assert tagger.predict_kbest(X, 2) == kbest
        allowed = [[s[0], *[None] * (len(s) - 1)] for s in y]
        assert [s[0] for s in tagger.predict(X, allowed=allowed)] == [s[0] for s in y]


def test_score_is_token_accuracy():
    X, y = corpus()
    tagger = StructuredPerceptron(TEMPLATES, max_iter=2, random_state=0).fit(X[:10], y[:10])
    predicted = tagger.predict(X)
    right = [[a == b for a, b in zip(*pair)] for pair in zip(y, predicted)]
    score = tagger.score(X, y)
    assert type(score) is float and score == pytest.approx(np.mean(np.concatenate(right)))
    weight = np.arange(len(X)) % 3
    expected = sum(w * sum(r) for w, r in zip(weight, right)) / sum(w * len(r) for w, r in zip(weight, right))
    assert tagger.score(X, y, sample_weight=weight) == pytest.approx(expected)
    partly = [[None, *labels[1:]] for labels in y]
    assert tagger.score(X, partly) == pytest.approx(np.mean(np.concatenate([r[1:] for r in right])))


# -- weights of classes and of sequences ---------------------------------------------------------------
def recall(tagger, X, y, label):
    pairs = [p for s in zip(y, tagger.predict(X)) for p in zip(*s) if p[0] == label]
    return np.mean([a == b for a, b in pairs])


def test_class_weight_shifts_recall(Tagger):
    X, y = corpus(150, n_words=300, max_length=20)

    def fitted(class_weight):
        tagger = Tagger(["U00:%x[0,0]", "B"], class_weight=class_weight, random_state=0)
        return tagger.fit(X[:100], y[:100])

    plain, costly = fitted(None), fitted({"L1": 8.0})
    assert recall(costly, X[100:], y[100:], "L1") > recall(plain, X[100:], y[100:], "L1") + 0.08
    assert recall(costly, X[100:], y[100:], "L2") < recall(plain, X[100:], y[100:], "L2")
    assert same_weights(fitted({"L1": 0}), plain)
    assert same_weights(fitted({"L1": 8}), costly)
    labels = [label for s in y[:100] for label in s]
    inverse = {label: len(labels) / (4 * labels.count(label)) for label in set(labels)}
    assert same_weights(fitted("balanced"), fitted(inverse))
    assert not same_weights(fitted("balanced"), plain)


@pytest.mark.parametrize("cost", [-1, float("nan"), float("inf"), "2", None])
def test_bad_class_weight(cost):
    X, y = corpus(4)
    with pytest.raises(ValueError, match=r"class_weight\['L1'\]"):
        StructuredPerceptron(TEMPLATES, class_weight={"L1": cost}).fit(X, y)
    with pytest.raises(ValueError, match="class_weight"):
        StructuredPerceptron(TEMPLATES, class_weight="unbalanced").fit(X, y)


@pytest.mark.parametrize("min_count", [1, 2])
def test_sequences_of_weight_0_do_not_exist(Tagger, min_count):
    X, y = corpus()
    weight = np.ones(len(X))
    weight[::3] = 0.0
    odd = [["strange", *s] if w == 0 else s for s, w in zip(X, weight)]
    odd_y = [["new label", *s] if w == 0 else s for s, w in zip(y, weight)]
    tagger = Tagger(TEMPLATES, min_count=min_count, random_state=0).fit(odd, odd_y, weight)
    keep = np.flatnonzero(weight)
    without = clone(tagger).fit([X[i] for i in keep], [y[i] for i in keep])
    assert same_weights(tagger, without)
    assert tagger.classes_.tolist() == without.classes_.tolist()
    assert tagger.history_[-1]["updates"] == without.history_[-1]["updates"]


def test_sample_weight_multiplies_updates(Tagger):
    X, y = corpus()
    options = {"variant": "PA"} if Tagger is PassiveAggressiveTagger else {}
    plain = Tagger(TEMPLATES, random_state=0, **options).fit(X, y)
    assert same_weights(plain, Tagger(TEMPLATES, random_state=0, **options).fit(X, y, np.ones(len(X))))
    if Tagger is StructuredPerceptron:  # one scale for everything changes no decision
        double = Tagger(TEMPLATES, random_state=0).fit(X, y, np.full(len(X), 2.0))
        assert all(np.array_equal(2 * a, b) for a, b in zip(weights(plain), weights(double)))
    # Contradictory sequences: the heavier one wins.
    for heavy, label in ((0, "A"), (1, "B")):
        weight = [0.1, 0.1]
        weight[heavy] = 1.0
        tagger = Tagger(["U00:%x[0,0]"], random_state=0).fit([["a"], ["a"]], [["A"], ["B"]], weight)
        assert tagger.predict([["a"]]) == [[label]]


@pytest.mark.parametrize(
    "weight, message",
    [
        ([1.0], "sample_weight"),
        ([[1.0]] * 4, "sample_weight|Sample weights"),
        ([1, 1, -1, 1], "negative.*sequence 2"),
        ([0, 0, 0, 0], "zero"),
        ([1, 1, float("nan"), 1], "NaN"),
        ([1, 1, float("inf"), 1], "infinity"),
        (["a"] * 4, "could not convert|numeric"),
    ],
)
def test_bad_sample_weight(weight, message):
    X, y = corpus(4)
    tagger = StructuredPerceptron(TEMPLATES)
    with pytest.raises(ValueError, match=message):
        tagger.fit(X, y, sample_weight=weight)
    assert not hasattr(tagger, "classes_")
    with pytest.raises(ValueError, match=message):
        tagger.partial_fit(X, y, sample_weight=weight)
    tagger.fit(X, y)
    with pytest.raises(ValueError, match=message):
        tagger.score(X, y, sample_weight=weight)


# -- unlabelled tokens ---------------------------------------------------------------------------------
def test_partly_labelled_data_helps(Tagger):
    X, y = corpus(150, n_words=200, noise=0.0)
    test = X[100:], y[100:]
    partly = [[None if t % 2 else label for t, label in enumerate(labels)] for labels in y[8:100]]
    few = Tagger(TEMPLATES, random_state=0).fit(X[:8], y[:8])
    more = Tagger(TEMPLATES, random_state=0).fit(X[:100], y[:8] + partly)
    assert more.score(*test) > few.score(*test) + 0.05


def test_unlabelled_sequences_never_update(Tagger):
    X, y = corpus()
    unlabelled = [[None] * len(s) for s in X]
    last = False if Tagger is StructuredPerceptron else None
    tagger = Tagger(TEMPLATES, random_state=0, average=last)
    tagger.fit(X[:10], y[:10])
    before = tagger.predict(X)
    tagger.partial_fit(X, unlabelled)
    assert tagger.history_[-1]["updates"] == 0
    assert tagger.predict(X) == before
    with pytest.raises(ValueError, match="no label"):
        clone(tagger).fit(X, unlabelled)


# -- epochs --------------------------------------------------------------------------------------------
def test_history(Tagger):
    X, y = corpus()
    tagger = Tagger(TEMPLATES, max_iter=4, random_state=0).fit(X, y)
    assert tagger.n_iter_ == len(tagger.history_) == 4
    n_tokens = sum(map(len, X))
    for e, record in enumerate(tagger.history_):
        assert record["epoch"] == e + 1 and record["complete"] is True
        assert type(record["updates"]) is int and 0 <= record["updates"] <= len(X)
        assert record["sequence_error"] == record["updates"] / len(X)
        assert 0 <= record["token_error"] <= 1 and record["seconds"] >= 0
        wrong = record["token_error"] * n_tokens
        assert wrong == pytest.approx(round(wrong))
        assert "validation_score" not in record
    assert tagger.history_[-1]["token_error"] < tagger.history_[0]["token_error"]
    if Tagger is PassiveAggressiveTagger:
        assert tagger.history_[0]["loss"] > 0


def test_verbose_prints_a_line_for_each_epoch(Tagger, capsys):
    X, y = corpus()
    Tagger(TEMPLATES, max_iter=3).fit(X, y)
    assert capsys.readouterr().out == ""
    Tagger(TEMPLATES, max_iter=3, verbose=1, early_stopping=True).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["epoch 1", "epoch 2", "epoch 3"]
    assert all("updates" in line and "held-out accuracy" in line for line in lines)


def test_early_stopping_keeps_the_best_epoch(Tagger):
    X, y = corpus(80, noise=0.3)
    options = {"features": TEMPLATES, "early_stopping": True, "random_state": 0}
    options["validation_fraction"] = 0.25
    tagger = Tagger(max_iter=50, n_iter_no_change=2, **options).fit(X, y)
    scores = [record["validation_score"] for record in tagger.history_]
    assert tagger.n_iter_ == len(scores) < 50
    best = int(np.argmax(scores)) + 1
    shorter = Tagger(max_iter=best, n_iter_no_change=50, **options).fit(X, y)
    assert same_weights(tagger, shorter)
    # The held-out part is the permutation's head.
    order = np.random.RandomState(0).permutation(80)[:20]
    held_out = [X[i] for i in order], [y[i] for i in order]
    assert tagger.score(*held_out) == pytest.approx(max(scores))


def test_early_stopping_leaves_something_to_learn():
    for X, y in ([["a"]], [["A"]]), ([["a"], []], [["A"], []]):
        with pytest.raises(ValueError, match="early_stopping.*leaves none of the 1 sequences"):
            StructuredPerceptron(early_stopping=True).fit(X, y)


def test_random_state(Tagger):
    X, y = corpus()
    options = {"features": TEMPLATES, "max_iter": 3, "dropout": 0.2, "feature_noise": "zipf"}
    state = np.random.get_state()[1].copy()
    a = Tagger(random_state=3, **options).fit(X, y)
    assert same_weights(a, Tagger(random_state=3, **options).fit(X, y))
    assert same_weights(a, clone(a).fit(X, y)) and same_weights(a, a.fit(X, y))
    assert not same_weights(a, Tagger(random_state=4, **options).fit(X, y))
    assert (np.random.get_state()[1] == state).all()
    rng = np.random.RandomState(3)
    b = Tagger(random_state=rng, **options).fit(X, y)
    assert same_weights(a, b)
    assert not same_weights(a, Tagger(random_state=rng, **options).fit(X, y))  # drawn from again
    unseeded = Tagger(**options).fit(X, y)
    assert not same_weights(unseeded, Tagger(**options).fit(X, y))
    plain = {"features": TEMPLATES, "shuffle": False, "max_iter": 2}
    assert same_weights(Tagger(random_state=1, **plain).fit(X, y), Tagger(random_state=2, **plain).fit(X, y))


# -- interrupts ----------------------------------------------------------------------------------------
def test_ctrl_c_keeps_the_completed_epochs(Tagger):
    X, y = corpus(400, max_length=30)
    Tagger(TEMPLATES, max_iter=1).fit(X, y)  # compiled
    tagger = Tagger(TEMPLATES, max_iter=1_000_000, random_state=0)
    handler = signal.getsignal(signal.SIGINT)
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            tagger.fit(X, y)
    finally:
        timer.join()
    assert signal.getsignal(signal.SIGINT) is handler
    done = tagger.n_iter_
    assert 1 <= done < 1_000_000 and len(tagger.history_) == done
    check_is_fitted(tagger)
    assert tagger.score(X, y) > 0.5
    assert same_weights(pickle.loads(pickle.dumps(tagger)), tagger)
    assert same_weights(tagger, Tagger(TEMPLATES, max_iter=done, random_state=0).fit(X, y))
    tagger.set_params(max_iter=2, warm_start=True).fit(X, y)
    assert same_weights(tagger, Tagger(TEMPLATES, max_iter=done + 2, random_state=0).fit(X, y))


def test_ctrl_c_in_a_long_epoch_leaves_what_was_learned(Tagger, monkeypatch):
    monkeypatch.setattr(loops, "LONG_EPOCH", 0.0)
    monkeypatch.setattr(loops, "CHUNK_TOKENS", 100)
    X, y = corpus()
    chunks = loops.chunks

    def interrupted(*arguments):
        os.kill(os.getpid(), signal.SIGINT)
        return chunks(*arguments)

    tagger = Tagger(TEMPLATES, random_state=0)
    monkeypatch.setattr(loops, "chunks", interrupted)
    with pytest.raises(KeyboardInterrupt):
        tagger.fit(X, y)
    monkeypatch.undo()
    assert tagger.n_iter_ == 0 and [r["complete"] for r in tagger.history_] == [False]
    assert 0 < tagger.history_[0]["updates"] < len(X)
    assert tagger.score(X, y) > 0.3
    assert tagger.set_params(warm_start=True).fit(X, y).score(X, y) > 0.9


def test_ctrl_c_while_encoding(monkeypatch):
    from skstruct.chain import learner as online

    make_task = online.make_task

    def interrupted(*arguments, **options):
        os.kill(os.getpid(), signal.SIGINT)
        return make_task(*arguments, **options)

    X, y = corpus()
    tagger = StructuredPerceptron(TEMPLATES, random_state=0).fit(X, y)
    before = tagger.predict(X)
    monkeypatch.setattr(online, "make_task", interrupted)
    with pytest.raises(KeyboardInterrupt):
        tagger.fit(X[:20], y[:20])
    monkeypatch.undo()
    assert tagger.predict(X) == before


class Raises:
    """A scikit-learn callback that raises at the end of the given epoch."""

    def __init__(self, error, epoch=3):
        self.error, self.left = error, epoch

    def setup(self, estimator, context):
        pass

    teardown = setup

    def on_fit_task_begin(self, estimator, context, **_):
        pass

    def on_fit_task_end(self, estimator, context, **_):
        self.left -= 1
        if not self.left:
            raise self.error


def with_callbacks(tagger, *callbacks):
    if not hasattr(tagger, "set_callbacks"):
        pytest.skip("scikit-learn without callbacks")
    return tagger.set_callbacks(*callbacks)


def test_callback_that_interrupts(Tagger):
    X, y = corpus()
    tagger = with_callbacks(Tagger(TEMPLATES, random_state=0), Raises(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        tagger.fit(X, y)
    assert tagger.n_iter_ == len(tagger.history_) == 3
    assert same_weights(tagger, Tagger(TEMPLATES, max_iter=3, random_state=0).fit(X, y))


def test_callback_that_fails(Tagger):
    X, y = corpus()
    tagger = Tagger(TEMPLATES, random_state=0)
    with_callbacks(tagger, Raises(RuntimeError("boom")))
    with pytest.raises(RuntimeError, match="boom"):
        tagger.fit(X, y)
    with pytest.raises(NotFittedError):
        tagger.predict(X)


def test_callback_that_looks_and_stops(Tagger):
    X, y = corpus()
    scores = []

    class Looks(Raises):
        def on_fit_task_end(self, estimator, context, *, fitted_estimator=None, **_):
            scores.append(fitted_estimator.score(X, y))
            return len(scores) == 4

    tagger = with_callbacks(Tagger(TEMPLATES, random_state=0), Looks(None)).fit(X, y)
    assert tagger.n_iter_ == 4 and tagger.score(X, y) in scores[3:]
    assert same_weights(tagger, Tagger(TEMPLATES, max_iter=4, random_state=0).fit(X, y))


# -- features ------------------------------------------------------------------------------------------
def test_features_parameter(tmp_path):
    X, y = corpus()
    lines = ["U00:%x[-1,0]", "U01:%x[0,0]", "B"]
    path = tmp_path / "template"
    path.write_text("# comment\n\n" + "\n".join(lines) + "\n", encoding="utf-8")
    reference = StructuredPerceptron(lines, random_state=0).fit(X, y)
    for features in (tuple(lines), str(path), path, FeatureTemplates(lines)):
        tagger = StructuredPerceptron(features, random_state=0)
        assert same_weights(clone(tagger).fit(X, y), reference)
        assert tagger.features is features
    preset = StructuredPerceptron("word", random_state=0).fit(X, y)
    assert same_weights(preset, StructuredPerceptron(random_state=0).fit(X, y))
    assert not same_weights(preset, reference)
    assert model_of(preset).encoder.templates == FeatureTemplates.preset("word")


@pytest.mark.parametrize(
    "tokens, preset",
    [
        (list("字典"), "char"),
        (["words", "here"], "word"),
        ([("a", "DT"), ("b", "NN")], "word-tag"),
    ],
)
def test_auto_looks_at_the_tokens(tokens, preset):
    tagger = StructuredPerceptron().fit([tokens], [["A", "B"]])
    assert model_of(tagger).encoder.templates == FeatureTemplates.preset(preset)


def test_ways_to_write_one_feature():
    """sklearn-crfsuite's conventions: each token below has the feature ``w:x``, and nothing else."""
    ways = [{"w": "x"}, ["w:x"], {"w:x": True}, {"w:x": 1}, {"w:x": 1.0}, {"w": ["x"]}, {"w": {"x": 1}},
            {"w": {"x": True}}, {"w": {"x"}}, {"w": "x", "no": False, "zero": 0, "0": 0.0}]  # fmt: skip
    fitted = [StructuredPerceptron(random_state=0).fit([[w, type(w)()]], [["B", "A"]]) for w in ways]
    for tagger in fitted:
        assert same_weights(tagger, fitted[0])
        assert [n for n in model_of(tagger).encoder.ids] == ["w:x"]
        scores = [tagger.decision_function([[way]])[0] for way in ways]
        assert len(set(scores)) == 1 and scores[0] != tagger.decision_function([[{}]])[0]
    numeric = StructuredPerceptron(random_state=0).fit([[{"v": 2.0}, {"v": -1}]], [["A", "B"]])
    one, three = numeric.decision_function([[{"v": 1}], [{"v": 3.0}]])
    assert three == pytest.approx(3 * one) and one != 0


def test_features_with_newlines_and_odd_strings(Tagger):
    X = [["a\nb", "", "\ud800", "字"], ["", "\t", "a\nb"]]
    y = [["A\n", "B", "", "B"], ["B", "", "A\n"]]
    tagger = Tagger(["U00:%x[0,0]", "U01:%x[-1,0]/%x[1,0]", "U02:%suffix2[0,0]", "B"], random_state=0)
    assert tagger.fit(X, y).predict(X) == y
    bags = [[{f"f\n{w!r}": 1} for w in s] for s in X]
    assert Tagger(random_state=0).fit(bags, y).predict(bags) == y


# -- storage -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("penalty", PENALTIES)
def test_sparse_storage_predicts_the_same(Tagger, penalty, monkeypatch):
    X, y = corpus(60, n_labels=6)
    options = {"features": TEMPLATES, "max_iter": 5, "penalty": penalty, "alpha": 1e-3}
    options["random_state"] = 0
    dense = Tagger(**options).fit(X[:40], y[:40])
    monkeypatch.setattr(store_module, "DENSE_WEIGHTS", 0)
    monkeypatch.setattr(store_module, "FEW_LABELS", 0)
    sparse = Tagger(**options).fit(X[:40], y[:40])
    assert model_of(sparse).nodes.sparse and not model_of(dense).nodes.sparse
    assert sparse.predict(X) == dense.predict(X)
    assert sparse.predict_kbest(X[:5], 3) == dense.predict_kbest(X[:5], 3) or penalty == "l2"
    a, b = sparse.decision_function(X), dense.decision_function(X)
    if penalty != "l2":  # dense rows multiply by the scale after summing, sparse ones before
        assert np.array_equal(a, b)
    assert np.allclose(a, b, rtol=1e-12)
    # The same after growth, with a label that sorts before the others.
    more = X[40:], [["A" if label == "L1" else label for label in s] for s in y[40:]]
    sparse.partial_fit(*more)
    monkeypatch.undo()
    dense.partial_fit(*more)
    assert model_of(sparse).nodes.sparse and sparse.predict(X) == dense.predict(X)


# -- inside scikit-learn -------------------------------------------------------------------------------
def test_unfitted():
    tagger = StructuredPerceptron()
    for call in (tagger.predict, tagger.decision_function, tagger.predict_kbest):
        with pytest.raises(NotFittedError):
            call(None)
    with pytest.raises(NotFittedError):
        tagger.score(None, None)
    with pytest.raises(NotFittedError):
        check_is_fitted(tagger)


def test_model_selection(Tagger):
    X, y = corpus(30)
    X, y = [s[:5] for s in X], [s[:5] for s in y]  # equal lengths
    search = GridSearchCV(Tagger(TEMPLATES, max_iter=2, random_state=0), {"max_iter": [1, 2]}, cv=3)
    search.fit(X, y)
    assert 0 < search.best_score_ <= 1
    for cut in (X, [s[: 1 + i % 5] for i, s in enumerate(X)]):
        gold = [s[: len(t)] for s, t in zip(y, cut)]
        part = StructuredPerceptron(TEMPLATES, max_iter=1, random_state=0).fit(cut, gold).predict(cut)[2:5]
        assert np.array(part).shape == (3,) and np.array(part)[0] == part[0]  # though all are equally long
        out = cross_val_predict(Tagger(TEMPLATES, max_iter=1, random_state=0), cut, gold, cv=3)
        assert out.shape == (30,) and [len(s) for s in out] == [len(s) for s in cut]


def test_pickle_and_open_files(Tagger):
    X, y = corpus()
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    taggers = [Tagger(TEMPLATES, max_iter=1, random_state=0).fit(X, y) for _ in range(5)]
    if before:
        assert len(os.listdir("/proc/self/fd")) <= before + 1
    again = pickle.loads(pickle.dumps(taggers[0]))
    assert again.predict(X) == taggers[0].predict(X)
    assert same_weights(again.partial_fit(X, y), taggers[1].partial_fit(X, y))
