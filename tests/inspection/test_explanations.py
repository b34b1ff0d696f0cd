"""Explanations as frames, dicts and text."""

import json
import pickle
import re

import numpy as np
import pytest

from skstruct import (
    L1CRF,
    StructuredPerceptron,
    WordSegmenter,
)
from skstruct.datasets import make_hmm_sequences
from skstruct.inspection import (
    explain,
    feature_weights,
    transition_weights,
)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def corpus(n=40, seed=0):
    X, y = make_hmm_sequences(
        n, n_labels=4, n_words=40, noise=0.3, max_length=9, random_state=seed
    )
    X = [
        [
            [f"w={w}", f"last={w[-1]}", f"b={t and s[t - 1]}", "bias"]
            for t, w in enumerate(s)
        ]
        for s in X
    ]
    return X, y


def test_frames_and_dicts_hold_everything():
    X, y = corpus()
    tagger = StructuredPerceptron(max_iter=2, random_state=0).fit(X, y)
    explanation = explain(tagger, X[0])
    frame = explanation.to_frame()
    assert frame.columns.tolist() == [
        "position",
        "token",
        "label",
        "kind",
        "feature",
        "contribution",
    ]
    assert frame["contribution"].sum() == pytest.approx(explanation.score)
    assert explain(tagger, []).to_frame().empty
    again = json.loads(json.dumps(explanation.to_dict()))
    assert again["score"] == explanation.score and again["labels"] == explanation.labels
    assert [token["score"] for token in again["tokens"]] == [
        token.score for token in explanation.tokens
    ]
    weights = transition_weights(tagger)
    assert (
        weights.to_dict()["L1"]["L2"]
        == weights[1, 2]
        == weights.to_frame().loc["L1", "L2"]
    )
    assert type(weights @ weights) is np.ndarray and type(weights.T[0]) is np.ndarray


def test_without_pandas_a_sentence_helps(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    X, y = corpus()
    tagger = StructuredPerceptron(max_iter=1, random_state=0).fit(X, y)
    for result in (
        explain(tagger, X[0]),
        feature_weights(tagger),
        transition_weights(tagger),
    ):
        with pytest.raises(
            ImportError, match="to_frame needs pandas; run pip install pandas"
        ):
            result.to_frame()
        assert result.to_dict()


def test_the_end_of_a_text_does_not_space_its_characters():
    segmenter = WordSegmenter(random_state=0).fit(["abc"], [["ab", "c"]])
    explanation = explain(segmenter, "abc")
    for each in (explanation, pickle.loads(pickle.dumps(explanation))):
        picture = re.sub(
            "<[^>]*>",
            "",
            each._repr_html_().split("</style>")[1].split('class="note"')[0],
        )
        assert (
            picture.startswith("ab")
            and "a b" not in picture
            and each.tokens[-1].token == "(end)"
        )


@pytest.mark.parametrize("name", ["word", "w[0]", "form", "word.lower()", "text"])
def test_tokens_that_are_dicts_show_their_word(name):
    """In texts and on pages; the explanation itself keeps the dicts."""
    X = [
        [{"bias": 1.0, name: w} for w in words]
        for words in (("the", "dog"), ("a", "cat"))
    ]
    found = explain(L1CRF(random_state=0).fit(X * 4, [["D", "N"]] * 8), X[0])
    assert "0 'the' -> D" in str(found) and "{'bias'" not in str(found)
    page = found._repr_html_()
    assert "<bdi>dog</bdi> → " in page and "{&#x27;" not in page
    assert found.tokens[0].token == X[0][0]
