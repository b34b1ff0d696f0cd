"""Scores of words."""

import pickle

import pytest

from skstruct.metrics import (
    segmentation_report,
    word_f1_score,
)


# -------------------------------------------------------------------------------- words
def test_word_f1():
    assert word_f1_score(
        [["我", "喜欢", "图书馆"]], [["我", "喜欢", "图书", "馆"]]
    ) == pytest.approx(4 / 7)
    assert word_f1_score([["ab"], ["c"]], [["a", "b"], ["c"]]) == pytest.approx(2 / 5)
    assert word_f1_score([["ab", "c"]], [["a", "bc"]]) == 0.0


def test_word_f1_with_tags():
    true, pred = [[("ab", "NN"), ("c", "VV")]], [[("ab", "NN"), ("c", "NN")]]
    assert word_f1_score(true, pred) == word_f1_score(true, pred, tagged=True) == 0.5
    assert word_f1_score(true, pred, tagged=False) == 1.0
    assert (
        word_f1_score([["ab", "c"]], pred) == 1.0
    )  # tags on one side only: segmentation
    with pytest.raises(ValueError, match="tagged=True"):
        word_f1_score([["ab", "c"]], pred, tagged=True)
    with pytest.raises(ValueError, match="tagged must be one of None, True, False"):
        word_f1_score(true, pred, tagged="yes")


def test_segmentation_report():
    true = [["ab", "c", "d"], ["ab", "ef"]]
    pred = [["ab", "cd"], ["ab", "e", "f"]]
    report = segmentation_report(true, pred, ["ab", "c"])
    assert report == pytest.approx(
        {
            "recall": 2 / 5,
            "precision": 2 / 5,
            "f1": 0.4,
            "oov_rate": 2 / 5,
            "oov_recall": 0.0,
            "iv_recall": 2 / 3,
        }
    )
    assert report.iv_recall == report["iv_recall"]
    assert "iv recall  0.6667" in str(report)
    assert pickle.loads(pickle.dumps(report)) == report
    tagged = [[(word, "X") for word in words] for words in true]
    assert segmentation_report(tagged, pred, {"ab", "c"}) == report
    assert segmentation_report(true, true, {"ab"}).oov_recall == 1.0
    assert (
        segmentation_report(true, true, ["ab", "cd", "ef", "d", "c"]).oov_recall == 0.0
    )  # nothing to recall


@pytest.mark.parametrize("vocabulary", ["abc", [["ab", "c"]], [1]])
def test_segmentation_report_vocabulary(vocabulary):
    with pytest.raises(ValueError, match="vocabulary"):
        segmentation_report([["ab"]], [["ab"]], vocabulary)


@pytest.mark.parametrize(
    "bad, message",
    [
        (["a", "c"], "sequence 1: .* from character 1 on they are 'b' and 'c'"),
        (["a"], "sequence 1: .* from character 1 on they are 'b' and ''"),
        (["ab", ""], "sequence 1: expected words"),
        (["ab", 3], "sequence 1: expected words"),
        ("ab", "sequence 1 of y_pred must be a list; got 'ab'"),
    ],
)
def test_word_f1_errors(bad, message):
    with pytest.raises(ValueError, match=message):
        word_f1_score([["x"], ["ab"]], [["x"], bad])
    with pytest.raises(ValueError, match="sequence 1: expected .word, tag. pairs"):
        word_f1_score([["x"], ["ab"]], [[("x", "X")], ["ab", "abc"]])
