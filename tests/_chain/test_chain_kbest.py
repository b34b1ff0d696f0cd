"""The k best labellings against enumeration, in both orders."""

import numpy as np
import pytest
import weights_view
from hypothesis import given
from hypothesis import strategies as st
from inside import model_of

import oracles
from skstruct import KBestReranker, Segmenter, StructuredPerceptron
from skstruct._chain import chain_model as chain_model
from skstruct._chain.chain_kbest import new_lists
from skstruct._data.schemes import labels_to_words
from skstruct._taggers.constraints import constraint_arrays
from skstruct.datasets import load_sample, load_segmentation

LINES = {False: ["U0:%x[0,0]", "B"], True: ["U0:%x[0,0]", "B", "B1:%x[0,0]"]}


def tagger_with_random_weights(seed, order, L, integers, lines, barriers):
    """A tagger whose weights are drawn; small integers make ties."""
    generator = np.random.default_rng(seed)
    labels = list("ABC"[:L])
    X = [list("ab"), list("cab"), list("bca")]
    y = [[str(generator.choice(labels)) for _ in s] for s in X]
    y[0], y[1][0] = list(labels[:2]) + ["A"] * (2 - min(L, 2)), labels[-1]
    pairs = [(p, q) for p in labels for q in labels if generator.random() >= barriers]
    pairs += [(None, p) for p in labels if generator.random() >= barriers]
    tagger = StructuredPerceptron(lines, order=order, max_iter=1, random_state=0).fit(
        X, y
    )
    for store in model_of(tagger).stores().values():
        value = store.value
        value[:] = (
            generator.integers(-1, 2, value.shape)
            if integers
            else generator.normal(size=value.shape)
        )
    if barriers:
        model_of(tagger).constraints = constraint_arrays(pairs, model_of(tagger).labels)
    starts = frozenset(q for p, q in pairs if p is None) or frozenset(labels)
    free = oracles.Constraints(starts, frozenset(pairs)) if barriers else oracles.FREE
    return tagger, X, labels, free


@given(
    seed=st.integers(0, 10**6),
    order=st.sampled_from([1, 2]),
    L=st.integers(1, 3),
    T=st.integers(1, 5),
    k=st.sampled_from([1, 2, 3, 7, 20, 300]),
    integers=st.booleans(),
    conditioned=st.booleans(),
    barriers=st.sampled_from([0.0, 0.3]),
)
def test_k_best_are_those_of_enumeration(
    seed, order, L, T, k, integers, conditioned, barriers
):
    lines = LINES[conditioned]
    tagger, X, labels, constraints = tagger_with_random_weights(
        seed, order, L, integers, lines, barriers
    )
    generator = np.random.default_rng(seed)
    sequence = [str(c) for c in generator.choice(list("abc"), T)]
    features = oracles.template_features(lines, sequence)
    features.order = order
    weights = weights_view.weights_of(tagger, X)
    expected = oracles.k_best(
        features, weights, tagger.classes_.tolist(), k, constraints
    )
    if not expected:
        with pytest.raises(ValueError, match="sequence 1: the constraints"):
            tagger.predict_kbest([[], sequence], k)
        return
    empty, ranked = tagger.predict_kbest([[], sequence], k)
    assert empty == [([], 0.0)]
    assert [score for _, score in ranked] == pytest.approx(
        [score for score, _ in expected], abs=1e-9
    )
    assert len({tuple(z) for z, _ in ranked}) == len(
        expected
    )  # as many as there are, all distinct
    assert all(a >= b for (_, a), (_, b) in zip(ranked, ranked[1:]))
    for z, score in ranked:
        assert oracles.score(features, z, weights) == pytest.approx(score, abs=1e-9)
        assert constraints.permit(z)
    assert ranked[0][0] == tagger.predict([sequence])[0]
    if not integers:
        assert [tuple(z) for z, _ in ranked] == [z for _, z in expected]


@pytest.mark.parametrize("order", [1, 2])
def test_fewer_are_the_first_of_more_and_pieces_do_not_matter(monkeypatch, order):
    tagger, *_ = tagger_with_random_weights(0, order, 3, True, LINES[False], 0.0)
    generator = np.random.default_rng(0)
    X = [
        [str(c) for c in generator.choice(list("abc"), n)]
        for n in [0, 1, 1, 2, 9, 30, 14]
    ]
    many = tagger.predict_kbest(X, 50)
    for k in (1, 2, 13):
        fewer = tagger.predict_kbest(X, k)
        assert fewer == [ranked[:k] for ranked in many]
    allowed = [[None if t % 3 else ["A", "C"] for t in range(len(s))] for s in X]
    some = tagger.predict_kbest(X, 5, allowed)
    monkeypatch.setattr(chain_model, "PIECE_TOKENS", 50)
    tagger.n_jobs = 3
    assert tagger.predict_kbest(X, 50) == many
    assert tagger.predict_kbest(X, 5, allowed) == some


# --------------------------------------------------------------------------------------
# Segmenter
# --------------------------------------------------------------------------------------
TEXTS, WORDS = load_segmentation()


@pytest.mark.parametrize("order", [1, 2])
def test_room_grows_with_the_labellings(order):
    """And not with their square: what is asked for at once, of a long sequence with
    many labels.
    """
    T, L, k = 2500, 40, 1000
    room = sum(array.nbytes for array in new_lists(np.array([0, T]), L, order, k))
    assert room < 1000 * T * k
    more = sum(array.nbytes for array in new_lists(np.array([0, T]), L, order, 2 * k))
    assert more < 2.1 * room


def test_long_lists_are_those_of_enumeration():
    """A cell's list moves again and again."""
    tagger, X, labels, constraints = tagger_with_random_weights(
        1, 1, 3, False, LINES[False], 0.0
    )
    sequence, k = list("abcabca"), 3**7
    features = oracles.template_features(LINES[False], sequence)
    features.order = 1
    weights = weights_view.weights_of(tagger, X)
    expected = oracles.k_best(
        features, weights, tagger.classes_.tolist(), k, constraints
    )
    (found,) = tagger.predict_kbest([sequence], k)
    assert [score for _, score in found] == pytest.approx(
        [score for score, _ in expected], abs=1e-9
    )
    assert len({tuple(z) for z, _ in found}) == k


@pytest.fixture(scope="module")
def segmenter():
    return Segmenter(StructuredPerceptron("char", max_iter=3, random_state=0)).fit(
        TEXTS[:60], WORDS[:60]
    )


@pytest.mark.parametrize("text", ["他在北京", "他们在看书", "一"])
def test_segmentations_are_those_that_labellings_spell(segmenter, text):
    expected = {}
    for labels, score in segmenter.tagger_.predict_kbest([list(text)], 10**4)[0]:
        expected.setdefault(
            tuple(labels_to_words(text, labels, "BMES")), pytest.approx(score)
        )
    (found,) = segmenter.predict_kbest([text], 10**4)
    assert {tuple(words): score for words, score in found} == expected
    scores = [score for _, score in found]
    assert (
        scores == sorted(scores, reverse=True)
        and found[0][0] == segmenter.predict([text])[0]
    )


@pytest.mark.parametrize(
    "text, dictionary, n",
    [
        ("他在北京看书", None, 2**5),
        ("他 在北京\t看书", None, 2**3),
        ("他在北京看书", ["北京"], 2**2),
    ],
)
def test_segmentations_are_all_there_are(segmenter, text, dictionary, n):
    (found,) = segmenter.predict_kbest([text], 10**4, dictionary=dictionary)
    assert len(found) == len({tuple(words) for words, _ in found}) == n
    assert all("".join(words) == "".join(text.split()) for words, _ in found)
    assert all(word in words for word in dictionary or () for words, _ in found)
    assert found[0][0] == segmenter.predict([text], dictionary=dictionary)[0]


def test_segmentations_of_several_texts_are_those_of_each(segmenter):
    X = ["", *TEXTS[60:64], " ", TEXTS[64] + " " + TEXTS[65]]
    together = segmenter.predict_kbest(X, 4, dictionary=["北京"])
    assert together == [
        segmenter.predict_kbest([x], 4, dictionary=["北京"])[0] for x in X
    ]
    assert together[0] == together[5] == [([], 0.0)]
    assert [best[0][0] for best in together] == segmenter.predict(
        X, dictionary=["北京"]
    )
    assert all(
        len({tuple(words) for words, _ in best}) == len(best) <= 4 for best in together
    )


def test_segmentations_of_the_joint_task_have_tags():
    sample = load_sample("zh")
    y = [list(zip(words, tags)) for words, tags in zip(sample.words, sample.tags)]
    X = ["".join(words) for words in sample.words]
    model = Segmenter(StructuredPerceptron("char", max_iter=3, random_state=0)).fit(
        X, y
    )
    for best, first in zip(model.predict_kbest(X[:5], 3), model.predict(X[:5])):
        assert best[0][0] == first and all(
            len(item) == 2 for words, _ in best for item in words
        )


@pytest.mark.parametrize("k", [0, -1, 1.0, True, "2"])
def test_k_of_segmentations(segmenter, k):
    with pytest.raises(ValueError, match="k must be an int of at least 1"):
        segmenter.predict_kbest(TEXTS[:1], k)


def test_only_taggers_with_k_best_give_segmentations(segmenter):
    assert not hasattr(Segmenter(KBestReranker()), "predict_kbest")
    with pytest.raises(ValueError, match="sequence 1"):
        segmenter.predict_kbest([TEXTS[0], 3])
