"""Accessor variety against its definition: sets of neighbours, string by string."""

import numpy as np
import pytest
from counting import calls, needs_compiled
from hypothesis import given
from hypothesis import strategies as st
from inside import variety_of

from skstruct._data.inputs import flatten, lengths_of, offsets_of
from skstruct.features.accessor import LONGEST, N_BUCKETS, AccessorVariety
from skstruct.features.tokens import Alphabet

TEXTS = st.lists(st.text("abc", max_size=7), max_size=20)


def definition(X):
    """AV(s) = min(L_av(s), R_av(s)) of all strings, equation 16."""
    left, right = {}, {}
    for sentence in set(map(tuple, X)):
        for n in range(1, LONGEST + 1):
            for p in range(len(sentence) - n + 1):
                s, q = sentence[p : p + n], p + n
                left.setdefault(s, set()).add(
                    sentence[p - 1] if p else ("begins", sentence)
                )
                right.setdefault(s, set()).add(
                    sentence[q] if q < len(sentence) else ("ends", sentence)
                )
    return {s: min(len(left[s]), len(right[s])) for s in left}


def flat(X):
    return flatten([list(x) for x in X]), offsets_of(lengths_of(X))


def fit(X, minimum=1):
    return AccessorVariety(minimum).fit_flat(*flat(X))


@given(X=TEXTS, minimum=st.integers(1, 3))
def test_is_equation_16(X, minimum):
    statistics = fit(X, minimum)
    expected = definition(X)
    for s, value in expected.items():
        value = value if value >= minimum else 0
        assert variety_of(statistics, "".join(s)) == variety_of(statistics, s) == value
    for s in ("abca", "cccc", "bb", "d", "ad", "dab"):
        if tuple(s) not in expected:
            assert variety_of(statistics, s) == 0


@given(X=TEXTS, Z=TEXTS, minimum=st.integers(1, 2))
def test_buckets_are_those_of_the_most_varied_strings(X, Z, minimum):
    statistics, value_of = fit(X, minimum), definition(X)
    found = statistics.buckets(*flat(Z))
    assert len(found) == LONGEST
    for n, parts in enumerate(found, 1):
        expected = []
        for z in map(tuple, Z):
            at = [value_of.get(z[p : p + n], 0) for p in range(len(z) - n + 1)]
            at = [0] * n + [int(np.log2(v)) if v else 0 for v in at] + [0] * n
            for t in range(len(z)):
                inside = at[n + t - n + 2 : n + t]
                expected.append([at[n + t], max(inside, default=0), at[n + t - n + 1]])
        assert parts.dtype == np.uint8
        assert parts.T.tolist() == expected


def test_a_repeated_sentence_counts_once():
    once, often = fit(["ab", "cab"]), fit(["ab", "cab", "ab", "ab"])
    for statistics in (once, often):
        assert [variety_of(statistics, s) for s in ("a", "b", "ab")] == [1, 1, 2]


def test_words_are_tokens_too():
    statistics = fit([["New", "York", "is", "big"], ("in", "New", "York"), ["York"]])
    assert variety_of(statistics, ("New", "York")) == 2
    assert variety_of(statistics, ["York"]) == 2 and variety_of(statistics, ["Yo"]) == 0


def test_the_last_bucket_takes_all():
    counts = [0, 1, 2, 3, 4, 2**15 - 1, 2**15, 2**31 - 1]
    nothing = np.zeros((0, 2), np.int32)
    varieties = [np.array(counts, np.int32), *[np.zeros(0, np.int32)] * 3]
    statistics = AccessorVariety().set(Alphabet("abcdefgh"), [nothing] * 3, varieties)
    assert [variety_of(statistics, c) for c in "abcdefgh"] == counts
    first = statistics.buckets(list("abcdefgh"), np.array([0, 8]))[0][0]
    assert first.tolist() == [
        0,
        0,
        1,
        1,
        2,
        N_BUCKETS - 2,
        N_BUCKETS - 1,
        N_BUCKETS - 1,
    ]


def test_lone_surrogates_and_an_empty_text():
    assert variety_of(fit(["\ud800b", "a\ud800b"]), "\ud800b") == 2
    statistics = fit([])
    assert variety_of(statistics, "a") == 0
    assert [b.shape for b in statistics.buckets([], np.zeros(1, np.int64))] == [
        (3, 0)
    ] * LONGEST


@needs_compiled
def test_a_text_is_read_a_fixed_number_of_times():
    """Twice the text is twice the work at most."""
    generator = np.random.default_rng(0)
    X = ["".join(generator.choice(list("abcdefgh"), 50)) for _ in range(2000)]
    fit(X[:10])
    once, twice = (calls(lambda n=n: fit(X[:n]))[0] for n in (1000, 2000))
    assert twice < 2.1 * once
    assert twice < 10 * len(X)  # some calls for a sentence, none for a character


@pytest.mark.slow
@pytest.mark.corpus
def test_sxu(corpus_path):
    from skstruct.datasets import read_segmented

    statistics = fit(
        ["".join(words) for words in read_segmented(corpus_path("sxu/train.txt"))]
    )
    assert variety_of(statistics, "北京") > variety_of(statistics, "京大")
