"""What to label next: the order of each strategy, and no near duplicates."""

import numpy as np
import pytest
from counting import calls
from scipy import sparse

from skstruct import L1CRF, SequenceMatrix, SpanSets, SpanTagger, StructuredPerceptron
from skstruct.datasets import load_chunking
from skstruct.inspection import select


@pytest.fixture(scope="module")
def known():
    X, y = load_chunking()
    return L1CRF(c1=0.3, c2=0.0, all_pairs=True, random_state=0).fit(X[:40], y[:40]), X[
        40:
    ]


def share(length):
    """Of what a token is worth: a text shorter than the median is worth less."""
    return np.minimum(length / np.median(length), 1.0)


def test_short_texts_are_not_preferred(known):
    tagger, X = known
    for strategy in "least_confident", "entropy", "margin":
        chosen = select(tagger, X, 20, strategy=strategy)
        assert np.median([len(X[i]) for i in chosen]) >= np.median(list(map(len, X))), (
            strategy
        )


def test_least_confident_is_per_token_up_to_the_median(known):
    tagger, X = known
    length = np.array(list(map(len, X)))
    p = tagger.sequence_log_proba(X, tagger.predict(X)) / length * share(length)
    assert (
        select(tagger, X, 10, diversity=0.0)
        == np.argsort(p, kind="stable")[:10].tolist()
    )


def test_sets_of_spans_know_what_their_tagger_does(known):
    X, y = load_chunking()
    crf = L1CRF(c1=0.3, constraints="BIO", random_state=0)
    sets = SpanSets(crf, recall=0.5, cv=2).fit(X[:40], y[:40])
    assert select(sets, X[40:], 5) == select(crf.fit(X[:40], y[:40]), X[40:], 5)


def test_entropy(known):
    tagger, X = known
    mean = [
        -(p * np.log(np.maximum(p, 1e-300))).sum() / len(p)
        for p in tagger.predict_marginals(X)
    ]
    found = select(tagger, X, 5, strategy="entropy", diversity=0.0)
    value = np.array(mean) * share(np.array(list(map(len, X))))
    assert found == np.argsort(-value, kind="stable")[:5].tolist()


def test_longest_and_random(known):
    tagger, X = known
    found = select(tagger, X, 5, strategy="longest", diversity=0.0)
    assert [len(X[i]) for i in found] == sorted(map(len, X), reverse=True)[:5]
    draw = [
        select(tagger, X, 5, strategy="random", random_state=seed) for seed in (0, 0, 1)
    ]
    assert draw[0] == draw[1] != draw[2]


def test_duplicates_wait(known):
    """The best sentence stands in the pool four times: once is enough."""
    tagger, X = known
    (best,) = select(tagger, X, 1)
    pool = [*X, X[best], X[best], X[best]]
    copies = {best, len(X), len(X) + 1, len(X) + 2}
    assert len(copies & set(select(tagger, pool, 4, diversity=0.0))) == 4
    assert len(copies & set(select(tagger, pool, 20))) == 1


def test_fewer_than_asked_for_and_empty_ones_last(known):
    tagger, X = known
    pool = [[], *X[:3], []]
    for diversity in (0.0, 0.5):
        assert select(tagger, pool, 99, diversity=diversity)[-2:] == [0, 4]
    assert select(tagger, [], 3) == [] and sorted(select(tagger, [[], []], 3)) == [0, 1]


def test_texts_are_one_whatever_their_pieces():
    texts = [
        "Ann left.\nBob came.",
        "Ann left. Bob came.",
        "The train from Ulm was late.",
    ]
    spans = [[(0, 3, "PER"), (10, 13, "PER")], [(0, 3, "PER")], []]
    model = SpanTagger(L1CRF(c1=0.1, c2=0.0, all_pairs=True), pieces="lines").fit(
        texts, spans
    )
    found = select(model, texts, 3)
    assert sorted(found) == [0, 1, 2] and found[-1] == 2
    assert (
        select(model, texts[::-1], 3)[-1] == 0
    )  # where there is no name, however texts are ordered


def test_what_is_refused(known):
    tagger, X = known
    plain = StructuredPerceptron(random_state=0).fit([["a", "b"]], [["x", "y"]])
    with pytest.raises(
        TypeError,
        match="knows probabilities, got a StructuredPerceptron.*use strategy='margin'",
    ):
        select(plain, [["a"]], 1)
    assert len(select(plain, [["a", "b"], ["c", "d"]], 1, strategy="margin")) == 1
    for wrong in ({"k": 0}, {"k": True}, {"diversity": 1.5}, {"strategy": "best"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            select(tagger, X, **{"k": 1, **wrong})


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_rows_of_numbers_resemble_by_their_means(form):
    """Of sequences of equal means, whatever their lengths, one is enough; calls do not
    grow with the pool.
    """
    tagger = StructuredPerceptron(random_state=0).fit([form(np.eye(2))], [["x", "y"]])
    near, far = [[1.0, 3.0], [3.0, 1.0]], [[0.0, 1.0]]
    pool = [
        form(np.array(rows)) for rows in (near * 3, far, near * 2, [[2.0, 2.0]] * 3)
    ]
    pool.append(form(np.empty((0, 2))))
    assert select(tagger, pool, 2, strategy="longest", diversity=1.0) == [0, 1]
    assert select(tagger, pool, 2, strategy="longest", diversity=0.0) == [0, 2]

    def calls_of(n):
        X = SequenceMatrix(form(np.tile(np.eye(2), (n, 1))), [2] * n)
        return calls(lambda: select(tagger, X, 5, strategy="longest"))[0]

    assert calls_of(1000) < calls_of(100) + 100


def test_arguments_in_another_order_are_refused():
    with pytest.raises(TypeError, match=r"got list .*; write select\(model, X, k\)"):
        select([["a"]], L1CRF(), 1)
