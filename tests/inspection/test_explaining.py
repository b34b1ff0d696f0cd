"""Explanations of every kind of estimator: parts, rivals, and what would have to
change.
"""

import math
import pickle

import pytest
from sklearn.feature_extraction import DictVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skstruct import (
    L1CRF,
    KBestReranker,
    Segmenter,
    StructuredPerceptron,
    WordSegmenter,
)
from skstruct._words import word_model as words_model
from skstruct._words.word_names import feature_names
from skstruct.datasets import load_segmentation, make_hmm_sequences
from skstruct.features import TokenTransformer
from skstruct.inspection import (
    explain,
    feature_weights,
    features_of,
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


def test_pipelines_and_searches_show_the_tokens_that_entered():
    X, y = make_hmm_sequences(20, n_labels=3, n_words=30, random_state=0)
    bags = FunctionTransformer(
        lambda X: [[[word, word[-1]] for word in sequence] for sequence in X]
    )
    pipeline = Pipeline([("bags", bags), ("tag", L1CRF(random_state=0))]).fit(X, y)
    explanation = explain(pipeline, X[0])
    assert [token.token for token in explanation.tokens] == list(X[0])
    assert explanation.labels == pipeline.predict(X[:1])[0]
    assert explanation.score == pytest.approx(
        pipeline.decision_function(X[:1])[0], rel=1e-9
    )
    assert feature_weights(pipeline) == feature_weights(pipeline[-1])
    assert (transition_weights(pipeline) == transition_weights(pipeline[-1])).all()
    assert len(features_of(pipeline, X[0])) == len(X[0])
    search = GridSearchCV(pipeline, {"tag__c1": [0.1, 1]}, cv=2).fit(X, y)
    assert explain(search, X[0]).labels == search.predict(X[:1])[0]


def test_columns_that_a_pipeline_makes_keep_their_names():
    X, y = make_hmm_sequences(20, n_labels=3, n_words=30, random_state=0)
    X = [[{"word": word, "size": len(word)} for word in sequence] for sequence in X]
    pipeline = make_pipeline(
        TokenTransformer(DictVectorizer()), StructuredPerceptron(random_state=0)
    ).fit(X, y)
    explanation = explain(pipeline, X[0])
    assert explanation.score == pytest.approx(
        pipeline.decision_function(X[:1])[0], rel=1e-9
    )
    names = {name for token in explanation.tokens for name, _ in token.features}
    assert f"word={X[0][0]['word']}" in names and "size" in names
    assert explanation.tokens[0].token == X[0][0]


def test_segmenters_are_explained_character_by_character():
    X, y = load_segmentation()
    segmenter = Segmenter(StructuredPerceptron("char", random_state=0)).fit(X, y)
    text = "他在 北京大学图书馆看书。"
    explanation = explain(segmenter, text)
    characters = "".join(text.split())
    assert [token.token for token in explanation.tokens] == list(characters)
    assert [characters[a:b] for a, b, _ in explanation.segments] == segmenter.predict(
        [text]
    )[0]
    options = [token.label for token in explanation.tokens]
    score = segmenter.tagger_.predict_kbest([list(characters)], 1, [options])[0][0][1]
    assert explanation.score == pytest.approx(score, rel=1e-9)
    single = explain(segmenter, text, list(characters))
    assert set(single.labels) == {"S"} and single.score < explanation.score
    assert explain(segmenter, "").tokens == []
    with pytest.raises(ValueError, match="sequence 0"):
        explain(segmenter, text, ["他"])


@pytest.mark.parametrize("templates", ["zsz18", "zc14"])
def test_word_segmenters_are_explained_decision_by_decision(templates):
    X, y = load_segmentation()
    segmenter = WordSegmenter(
        templates, beam_size=None, max_iter=3, random_state=0
    ).fit(X[:40], y[:40])
    weights = {(f, label): w for f, label, w in feature_weights(segmenter)}
    for text in ["他在北京大学。", "图书馆 看书"]:
        explanation = explain(segmenter, text)
        assert explanation.score == pytest.approx(
            segmenter.decision_function([text])[0], rel=1e-9
        )
        characters = "".join(text.split())
        assert [
            characters[a:b] for a, b, _ in explanation.segments
        ] == segmenter.predict([text])[0]
        for t, token in enumerate(explanation.tokens):
            for name, value in token.features:
                label = "word" if templates == "zc14" else token.label
                assert value == weights.get((name, label), 0.0)
            if token.margin < math.inf:  # exact: no state is lost without a beam
                flags = [None] * len(text)
                at = [k for k, c in enumerate(text) if not c.isspace()][t]
                flags[at] = token.label == "inside"
                other = segmenter.predict([text], boundaries=[flags])[0]
                assert explain(segmenter, text, other).score == pytest.approx(
                    explanation.score - token.margin, abs=1e-9
                )
    assert explanation.tokens[3].margin == math.inf, "white space decides"
    with pytest.raises(ValueError, match="predicts no tags"):
        explain(segmenter, "ab", [("a", "X"), ("b", "Y")])


def test_only_the_features_of_the_text_are_named(monkeypatch):
    X, y = load_segmentation()
    segmenter, named = WordSegmenter(max_iter=2, random_state=0).fit(X[:60], y[:60]), []
    names = {name for name, _, _ in feature_weights(segmenter)}
    monkeypatch.setattr(
        words_model,
        "feature_names",
        lambda *a: named.append(len(a[1])) or feature_names(*a),
    )
    for token in explain(segmenter, X[0]).tokens:
        assert {name for name, value in token.features if value} <= names
    assert len(named) == 1 and named[0] < segmenter.n_features() / 10
    assert (
        feature_weights(segmenter, top=3) == feature_weights(segmenter)[:3]
        and named[1] == 3
    )


def test_rivals_of_words_are_no_decodings_of_whole_texts(monkeypatch):
    X, y = load_segmentation()
    segmenter, decoded = (
        WordSegmenter(max_iter=1, random_state=0).fit(X[:60], y[:60]),
        [],
    )
    make_task = words_model.make_task
    monkeypatch.setattr(
        words_model, "make_task", lambda *a: decoded.extend(a[0]) or make_task(*a)
    )
    text = "".join(X[60].split())
    explanation = explain(segmenter, text)
    assert sum(token.margin < math.inf for token in explanation.tokens) == len(text) - 1
    assert decoded == [text]


@pytest.mark.parametrize(
    "base",
    [
        Segmenter(StructuredPerceptron("char", max_iter=2, random_state=0)),
        WordSegmenter(max_iter=2, random_state=0),
    ],
)
def test_rerankers_are_explained_node_by_node(base):
    X, y = load_segmentation()
    reranker = KBestReranker(base, k=8, cv=3, max_iter=3, random_state=0).fit(
        X[:60], y[:60]
    )
    weights = {f: w for f, _, w in feature_weights(reranker)}
    assert weights and any(name.startswith("w=") for name in weights)
    rivals = 0
    for text in X[60:70]:
        explanation = explain(reranker, text)
        assert explanation.score == pytest.approx(
            reranker.decision_function([text])[0], abs=1e-9
        )
        assert [token.token for token in explanation.tokens] == reranker.predict(
            [text]
        )[0]
        for token in explanation.tokens:
            assert all(
                value == weights.get(name, 0.0) for name, value in token.features
            )
            rivals += token.margin < math.inf
            assert token.margin >= 0.0
        words = [token.token for token in explanation.tokens]
        assert explain(reranker, text, words).score == pytest.approx(
            explanation.score, abs=1e-9
        )
    assert rivals > 0
    with pytest.raises(ValueError, match="not in the lattice"):
        explain(reranker, X[0], list("".join(X[0].split())))


def test_weights_survive_pickle_and_slices():
    import copy

    X, y = corpus()
    tagger = StructuredPerceptron(max_iter=2, random_state=0).fit(X, y)
    weights = transition_weights(tagger)
    for again in (pickle.loads(pickle.dumps(weights)), copy.deepcopy(weights)):
        assert again.labels == weights.labels and (again == weights).all()
    found = feature_weights(tagger)
    assert type(found[:5]) is type(found) and "<table" in found[:5]._repr_html_()
