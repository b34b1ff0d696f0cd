"""Probabilities by models that did not see the sequence: folds, groups, threads."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skstruct import (
    L1CRF,
    CalibratedTagger,
    Segmenter,
    SpanSets,
    SpanTagger,
    StructuredPerceptron,
)
from skstruct.features import TokenPredictions, TokenVectorizer
from skstruct.inspection import label_issues, out_of_fold_marginals, thresholds_for

X = [["the", "dog"], ["a", "cat"], ["the", "cat"], ["a", "dog"]] * 5


def split(texts):
    return [text.split() for text in texts]


def tags():
    return [["D", "N"] for _ in X]


def test_one_order_of_classes_whatever_a_fold_lacks():
    y = tags()
    y[0][1] = "A"  # only here
    marginals, classes = out_of_fold_marginals(L1CRF(), X, y, cv=4)
    assert classes.tolist() == ["A", "D", "N"]
    assert marginals[0][:, 0].tolist() == [0.0, 0.0]  # not in the other folds
    assert all(rows.shape == (2, 3) for rows in marginals)
    assert np.allclose([rows.sum(axis=1) for rows in marginals], 1.0)
    assert label_issues(L1CRF(), X, y, cv=4)[0][:5] == (0, 1, 2, "A", "N")


def test_groups_stay_together():
    """Of a word that one group alone labels so, its other sentences do not tell."""
    y = tags()
    y[0][0] = y[1][0] = y[2][0] = "X"
    apart = np.arange(len(X)) // 3
    marginals, classes = out_of_fold_marginals(L1CRF(c1=0.01), X, y, groups=apart, cv=3)
    assert classes.tolist() == ["D", "N", "X"]
    assert all(marginals[i][0, 2] == 0.0 for i in range(3))


def test_threads_and_pipelines_change_nothing():
    y = tags()
    y[6][1] = "D"
    plain = label_issues(L1CRF(), X, y)
    threads = label_issues(L1CRF(), X, y, n_jobs=2)
    assert [issue[:4] for issue in threads] == [issue[:4] for issue in plain]
    texts = [" ".join(tokens) for tokens in X]
    piped = label_issues(make_pipeline(FunctionTransformer(split), L1CRF()), texts, y)
    assert (
        piped[0][:4] == plain[0][:4]
        and piped.context(piped[0]) == plain.context(plain[0]) == "the [cat]"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cv": 1}, "cv must be at least 2 folds, got 1"),
        ({"cv": 1, "groups": range(20)}, "cv must be at least 2 folds, got 1"),
        ({"groups": [0, 1] * 10}, "cv=5 folds need at least as many groups, got 2"),
        ({"cv": 30}, "cv=30 folds need at least as many sequences, got 20"),
    ],
)
def test_parts_that_nothing_is_in(options, message):
    with pytest.raises(ValueError, match=message):
        label_issues(L1CRF(), X, tags(), **options)


def test_folds_that_leave_something_out():
    with pytest.raises(ValueError, match="sequence 0 is in 0"):
        out_of_fold_marginals(L1CRF(), X, tags(), cv=[(range(10), range(10, 20))])
    with pytest.raises(ValueError, match="same number of sequences, got 20 and 19"):
        out_of_fold_marginals(L1CRF(), X, tags()[1:])
    y = tags()
    y[13] = ["D"]
    with pytest.raises(ValueError, match="sequence 13: as many labels as tokens"):
        out_of_fold_marginals(L1CRF(), X, y, cv=KFold(4))


ROWS = [np.eye(2)] * 20
TEXTS = ["Ann met Bob"] * 20
SPANS = [[(0, 3, "P"), (8, 11, "P")]] * 20
OUT_OF_FOLD = {
    "out_of_fold_marginals": lambda **how: out_of_fold_marginals(
        L1CRF(), X, tags(), **how
    ),
    "label_issues": lambda **how: label_issues(L1CRF(), X, tags(), **how),
    "thresholds_for": lambda **how: thresholds_for(
        SpanTagger(L1CRF()), TEXTS, SPANS, **how
    ),
}
"""What scores each sequence by a model that has not seen it."""

ALSO_OUT_OF_FOLD = {
    "CalibratedTagger": lambda cv: CalibratedTagger(cv=cv).fit(X, tags()),
    "TokenPredictions": lambda cv: TokenPredictions(
        LogisticRegression(), cv=cv
    ).fit_transform(ROWS, [["a", "b"]] * 20),
}


@pytest.mark.parametrize("name", [*OUT_OF_FOLD, *ALSO_OUT_OF_FOLD])
def test_no_fold_trains_on_what_it_tests(name):
    seen = [(range(20), range(10)), (range(20), range(10, 20))]
    score = {**OUT_OF_FOLD, **ALSO_OUT_OF_FOLD}[name]
    with pytest.raises(ValueError, match="fold 0 of cv trains on sequence 0 and tests"):
        score(cv=seen)


@pytest.mark.parametrize("n_jobs", [0, 1.5, "2", True])
@pytest.mark.parametrize("name", OUT_OF_FOLD)
def test_what_is_no_number_of_threads_is_refused(name, n_jobs):
    with pytest.raises(ValueError, match="n_jobs must be an int other than 0, or None"):
        OUT_OF_FOLD[name](n_jobs=n_jobs)


@pytest.mark.parametrize(
    ("model", "error"),
    [
        (SpanSets(SpanTagger(L1CRF())), "got a SpanSets, .* give the estimator in it"),
        (
            SpanTagger(make_pipeline(L1CRF())),
            "SpanTagger over a Pipeline has no probabilities",
        ),
    ],
)
def test_models_without_probabilities(model, error):
    with pytest.raises(TypeError, match=error):
        label_issues(
            model, ["Ann met Bob"] * 4, [[(0, 3, "P"), (8, 11, "P")]] * 4, cv=2
        )


def test_findings_of_a_pipeline_show_the_tokens_that_it_was_given():
    """How often a word occurs counts in the chance that its label is wrong."""
    y = tags()
    y[2][1] = "D"
    crf = L1CRF("word", random_state=0)
    found = label_issues(
        make_pipeline(TokenVectorizer("word"), L1CRF(random_state=0)), X, y, cv=2
    )
    expected = label_issues(crf, X, y, cv=2)
    assert [f.text for f in found] == [f.text for f in expected] != []
    assert found[0].text == "the [cat]"
    assert np.allclose([f.chance for f in found], [f.chance for f in expected])


@pytest.mark.parametrize(
    ("model", "text", "y"),
    [
        (SpanTagger(L1CRF()), "Ann met Bob", [(0, 3, "P"), (8, 11, "P")]),
        (
            SpanTagger(StructuredPerceptron(random_state=0)),
            "Ann met Bob",
            [(0, 3, "P"), (8, 11, "P")],
        ),
        (Segmenter(L1CRF()), "ab c", ["ab", "c"]),
        (L1CRF(), ["ab", "c"], ["A", "B"]),
    ],
)
def test_a_fold_of_blank_texts(model, text, y):
    """It holds no token, so there is nothing to say of its texts; others are found as
    without it.
    """
    blank = ["", "  \n"] if isinstance(text, str) else [[], []]
    marginals, classes = out_of_fold_marginals(
        model, [*blank, *[text] * 8], [[], [], *[y] * 8], cv=5
    )
    assert [rows.shape for rows in marginals[:2]] == [(0, len(classes))] * 2
    expected, same = out_of_fold_marginals(model, [text] * 8, [y] * 8, cv=4)
    assert classes.tolist() == same.tolist()
    assert all(np.allclose(a, b, atol=0.05) for a, b in zip(marginals[2:], expected))
    assert not label_issues(model, [*blank, *[text] * 8], [[], [], *[y] * 8], cv=5)
