"""Features, rows of weights and combinations are numbered in 32 bits: what would wrap
is refused.

A smaller limit stands for 2^31, so that all who give numbers are asked: templates,
named features, patterns, rows of numbers, strings beside them, and the tables of what
is met while searching.
"""

import pytest
from model_cases import ALL_CASES, covering
from sklearn.exceptions import NotFittedError

from skstruct import StructuredPerceptron, WordSegmenter
from skstruct._core import hashing
from skstruct.inspection import feature_weights

MESSAGE = r"the features need \d+ \w.*, and there can be 8: use a larger min_count"


@pytest.mark.parametrize("case", covering(ALL_CASES))
def test_every_estimator_refuses_more_than_there_are_numbers_for(case, monkeypatch):
    make_data, make = ALL_CASES[case]
    X, y = make_data(5)
    monkeypatch.setattr(hashing, "MOST_NUMBERED", 8)
    estimator = make()
    with pytest.raises(ValueError, match=MESSAGE):
        estimator.fit(X, y)
    with pytest.raises(NotFittedError):
        estimator.predict(X)


TEXT = [["ab", "c"], ["abc", "a", "b"]]
SHORT, LONG = [["a"]], [["a", "b", "c", "d"]]
GROWING = {
    "templates": (["U:%x[0,0]"], 1, SHORT, LONG),
    "combinations": (["U:%x[-1,0]/%x[0,0]"], 1, SHORT, LONG),
    "counters": (["U:%x[0,0]"], 9, SHORT, LONG),
    "lists": ("auto", 1, [[["a"], ["b"]]], [[["c"], ["d"]]]),
    "dicts": ("auto", 1, [[{"a": 1}, {"b": 2}]], [[{"c": 1}, {"d": 1}]]),
}


@pytest.mark.parametrize("case", GROWING)
def test_a_stream_that_needs_too_many_stays_as_it_was(case, monkeypatch):
    features, min_count, X, more = GROWING[case]
    tagger = StructuredPerceptron(features, min_count=min_count, random_state=0)
    monkeypatch.setattr(hashing, "MOST_NUMBERED", 3)
    tagger.partial_fit(X, [["X"] * len(X[0])])
    before = tagger.predict(X), tagger.n_iter_
    with pytest.raises(ValueError, match="the features need"):
        tagger.partial_fit(more, [["X"] * len(more[0])])
    assert (tagger.predict(X), tagger.n_iter_) == before


def test_a_table_takes_as_many_as_there_are_numbers_for(monkeypatch):
    """Where features are met while searching, rows that no feature has yet are none too
    many.
    """
    texts, expected = ["".join(words) for words in TEXT], []
    for most in (hashing.MOST_NUMBERED, 1000):
        monkeypatch.setattr(hashing, "MOST_NUMBERED", most)
        expected.append(
            feature_weights(WordSegmenter(max_iter=2, random_state=0).fit(texts, TEXT))
        )
    assert expected[0] == expected[1] and 10 < len(expected[0]) < 1000
