"""Counts of neighbouring words against a loop over the text."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from skstruct.features import neighbour_counts
from skstruct.features.neighbour_counts import (
    SMOOTHING,
    NeighbourCounts,
    mutual_information,
    parts,
)

TEXT = st.lists(st.lists(st.sampled_from("abcd"), max_size=5), min_size=1, max_size=6)


def naive(text, words, shift):
    """(n_words, n_words + 1): what stands at a distance; the last is the end."""
    out = np.zeros((len(words), len(words) + 1))
    for sentence in text:
        for t, word in enumerate(sentence):
            inside = 0 <= t + shift < len(sentence)
            other = words.index(sentence[t + shift]) if inside else len(words)
            out[words.index(word), other] += 1
    return out


@given(TEXT, st.integers(1, 3))
def test_counts_are_those_of_a_loop(text, window):
    counts = NeighbourCounts(window)
    for sentence in text:  # in parts, as a long text is read
        counts.add(sentence, np.array([len(sentence)]))
    words = list(counts.known)
    flat = [word for sentence in text for word in sentence]
    assert words == list(dict.fromkeys(flat))
    assert counts.of_word.tolist() == [flat.count(word) for word in words]
    keep = np.arange(len(words)) % 2 == 0
    shifts = [sign * d for d in range(1, window + 1) for sign in (-1, 1)]
    expected = np.hstack([naive(text, words, shift)[keep] for shift in shifts])
    np.testing.assert_array_equal(counts.neighbours(keep).toarray(), expected)


def test_weights_are_those_of_the_formula():
    counts = np.array([[4.0, 0.0, 1.0], [1.0, 2.0, 0.0]])
    found = mutual_information(sparse.csr_matrix(counts)).toarray()
    word = counts.sum(axis=1, keepdims=True) / counts.sum()
    context = counts.sum(axis=0) ** SMOOTHING
    context = context / context.sum()
    with np.errstate(divide="ignore"):
        expected = np.maximum(np.log(counts / counts.sum() / (word * context)), 0)
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("n", [0, 1, 5])
def test_a_text_is_cut_into_parts(n, monkeypatch):
    monkeypatch.setattr(neighbour_counts, "AT_ONCE", 4)
    lines = ["ab"] * n
    found = list(parts(lines))
    assert [line for _, texts in found for line in texts] == lines
    assert all(len(texts) == 2 for _, texts in found[:-1])
    firsts = [first for first, _ in found]
    assert firsts == list(range(0, 2 * len(found), 2))
