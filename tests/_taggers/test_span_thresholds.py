"""Thresholds with a promise: the recall of a new document's spans, and the precision of
sure ones.
"""

import numpy as np
import pytest

from skstruct._taggers.span_thresholds import (
    certain_threshold,
    numbered_documents,
    offering_threshold,
)


def missed(p, document, threshold):
    """By document, the share below the threshold."""
    return [np.mean(p[document == d] < threshold) for d in np.unique(document)]


@pytest.mark.filterwarnings("ignore:.*are few for recall")
@pytest.mark.parametrize("recall", [0.5, 0.8, 0.9, 0.95, 0.98])
@pytest.mark.parametrize("grain", [5, 1000])
def test_the_threshold_is_the_largest_that_keeps_the_inequality(recall, grain):
    random, alpha = np.random.RandomState(0), 1 - recall
    for _ in range(20):
        document = random.randint(0, 60, 400)
        p = random.randint(1, grain + 1, 400) / grain  # with ties
        n, threshold = len(np.unique(document)), offering_threshold(p, document, recall)
        bound = alpha * (n + 1) - 1
        assert sum(missed(p, document, threshold)) <= bound + 1e-9
        assert sum(missed(p, document, np.nextafter(threshold, 2.0))) > bound - 1e-9
        order = random.permutation(400)
        assert offering_threshold(p[order], 59 - document[order], recall) == threshold


@pytest.mark.filterwarnings("ignore:.*are few for recall")
@pytest.mark.parametrize(
    "alpha, n", [(0.1, 40), pytest.param(0.05, 100, marks=pytest.mark.slow)]
)
def test_the_promise_holds_on_average(alpha, n):
    random, recalls = np.random.RandomState(0), []

    def documents(count):
        size = random.randint(1, 12, count)
        ease = np.repeat(random.uniform(0.5, 3.0, count), size)  # documents differ
        return random.uniform(size=size.sum()) ** (1 / ease), np.repeat(
            np.arange(count), size
        )

    for _ in range(200):
        threshold = offering_threshold(*documents(n), 1 - alpha)
        recalls.append(1 - np.mean(missed(*documents(500), threshold)))
    assert 1 - alpha - 0.005 <= np.mean(recalls) <= 1 - alpha + 1 / (n + 1) + 0.01


def test_documents_of_many_sizes():
    """The common denominator of the weights is larger than machine integers."""
    document = np.repeat(np.arange(60), np.arange(1, 61))
    p = np.random.RandomState(0).uniform(0.1, 1.0, len(document))
    threshold = offering_threshold(p, document, 0.9)
    bound = 0.1 * 61 - 1
    assert sum(missed(p, document, threshold)) <= bound
    assert sum(missed(p, document, np.nextafter(threshold, 1))) > bound


def test_too_few_documents():
    p = np.full(31, 0.5)
    with pytest.raises(
        ValueError, match="recall=0.98 needs at least 49 documents with spans, got 31"
    ):
        offering_threshold(p, np.arange(31), 0.98)
    with pytest.warns(
        UserWarning, match="31 documents with spans are few for recall=0.9: .* with 50"
    ):
        offering_threshold(p, np.arange(31), 0.9)
    p[:10] = 0.0
    with pytest.raises(
        ValueError, match="recall=0.8 cannot be promised: 32.3% of the spans cannot be"
    ):
        offering_threshold(p, np.arange(31), 0.8)


def test_sure_spans_have_the_precision():
    random, failures, none = np.random.RandomState(0), 0, 0
    for _ in range(100):
        p = random.uniform(size=3000)
        wrong = random.uniform(size=3000) > p**0.1
        threshold = certain_threshold(p, wrong, np.arange(3000) % 150, 150, 0.95, 0.9)
        fresh = random.uniform(size=20000)
        failures += (
            np.mean(fresh[fresh >= threshold] ** 0.1) < 0.95
            if threshold < np.inf
            else 0
        )
        none += threshold == np.inf
    assert failures <= 18 and none <= 5
    assert (
        certain_threshold(p, np.ones(3000, bool), np.arange(3000) % 150, 150, 0.95, 0.9)
        == np.inf
    )


def test_documents_are_numbered_in_the_order_of_the_corpus():
    assert numbered_documents(None, 3, np.arange(3)).tolist() == [0, 1, 2]
    assert numbered_documents(list("bab"), 3, np.arange(3)).tolist() == [0, 1, 0]
    some = numbered_documents(list("cbab"), 4, np.array([1, 3]))
    assert some.tolist() == [-1, 0, -1, 0]
    with pytest.raises(ValueError, match="each of the 3 sequences, got 2"):
        numbered_documents(["b", "a"], 3, np.arange(3))
