"""Explanations of every kind of estimator: parts, rivals, and what would have to change."""

import json
import math
import pickle
import re

import numpy as np
import pandas
import pytest
from model_cases import fitted
from sklearn.feature_extraction import DictVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

from skstruct import (
    L1CRF,
    CalibratedTagger,
    KBestReranker,
    PartialSpans,
    PassiveAggressiveTagger,
    Segmenter,
    SpanTagger,
    StructuredPerceptron,
    WordSegmenter,
)
from skstruct._words import word_model as words_model
from skstruct._words.word_names import feature_names
from skstruct.datasets import load_segmentation, make_hmm_sequences
from skstruct.features import SequenceUnion, TokenTransformer
from skstruct.inspection import (
    explain,
    feature_weights,
    features_of,
    report,
    transition_weights,
)
from skstruct.interchange import load_crfsuite, save_crfsuite

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


def without(sequence, t, features):
    """The sequence, of whose token t some features are gone."""
    token = list(sequence[t])
    for feature in features:
        token.remove(feature)
    return [*sequence[:t], token, *sequence[t + 1 :]]


@pytest.mark.parametrize(
    "make",
    [
        lambda: StructuredPerceptron(max_iter=3, random_state=0),
        lambda: PassiveAggressiveTagger(max_iter=3, random_state=0),
        lambda: L1CRF(c1=0.1, random_state=0),
        lambda: StructuredPerceptron(order=2, max_iter=3, random_state=0),
        lambda: CalibratedTagger(
            StructuredPerceptron(max_iter=3, random_state=0), cv=2
        ),
    ],
)
def test_the_counterfactual_is_true_and_the_smallest(make):
    X, y = corpus()
    tagger, changes = make().fit(X[:30], y[:30]), 0
    for sequence in X[30:34]:
        for t, token in enumerate(explain(tagger, sequence).tokens):
            change = token.counterfactual
            if change is None:
                assert (
                    tagger.predict([without(sequence, t, sequence[t])])[0][t]
                    == token.label
                )
                continue
            changes += 1
            flipped = tagger.predict([without(sequence, t, change.features)])[0]
            assert flipped[t] == change.label != token.label
            for k in range(1, 16):  # all smaller sets of the four features
                some = [f for j, f in enumerate(sequence[t]) if k >> j & 1]
                if len(some) < len(change.features):
                    assert (
                        tagger.predict([without(sequence, t, some)])[0][t]
                        == token.label
                    )
    assert changes > 5


def test_the_counterfactual_of_templates(tmp_path):
    """CRFsuite's items are the features by name, which can be left out."""
    X, y = make_hmm_sequences(30, n_labels=4, n_words=40, noise=0.3, random_state=0)
    tagger = StructuredPerceptron(
        ["U0:%x[0,0]", "U1:%x[-1,0]", "U2:%suffix2[0,0]", "B"], random_state=0
    )
    save_crfsuite(tagger.fit(X, y), tmp_path / "model")
    same, changes = load_crfsuite(tmp_path / "model"), 0
    for sequence in X[:6]:
        items = features_of(tagger, sequence)
        for t, token in enumerate(explain(tagger, sequence).tokens):
            if token.counterfactual is not None:
                changes += 1
                label = same.predict(
                    [without(items, t, token.counterfactual.features)]
                )[0][t]
                assert label == token.counterfactual.label != token.label
    assert changes > 5
    imported = explain(same, features_of(tagger, X[0]))
    assert imported.score == pytest.approx(explain(tagger, X[0]).score, rel=1e-9)


@pytest.mark.parametrize(
    "name", ["perceptron-rows", "perceptron-order2-rows", "perceptron-sparse-rows"]
)
def test_the_counterfactual_of_rows_of_numbers(name):
    tagger, X, _ = fitted(name, 4)
    changes = 0
    for sequence in X[:4]:
        for t, token in enumerate(explain(tagger, sequence).tokens):
            if token.counterfactual is not None:
                changes += 1
                other = (
                    sequence.copy()
                    if isinstance(sequence, np.ndarray)
                    else sequence.toarray()
                )
                other[t, [int(name[1:]) for name in token.counterfactual.features]] = (
                    0.0
                )
                other = (
                    other if isinstance(sequence, np.ndarray) else type(sequence)(other)
                )
                assert (
                    tagger.predict([other])[0][t]
                    == token.counterfactual.label
                    != token.label
                )
    assert changes > 3


def _with_numbers(n=40):
    """Frames of a column of strings and two of numbers, of which any may decide."""
    draw = np.random.default_rng(0)
    frames, y = [], []
    for _ in range(n):
        word, numbers = draw.integers(4, size=6), draw.normal(size=(6, 2))
        frames.append(
            pandas.DataFrame(
                {
                    "word": [f"w{k}" for k in word],
                    "a": numbers[:, 0],
                    "b": numbers[:, 1],
                }
            )
        )
        y.append(
            [f"L{k}" for k in np.where(word > 1, word, (numbers[:, 0] > numbers[:, 1]))]
        )
    return frames, y


def test_the_counterfactual_of_strings_with_numbers():
    """What tokens have in common cannot be left out; a word can, and so can a number."""
    X, y = _with_numbers()
    tagger, changed = (
        StructuredPerceptron(["U0:%x[0,0]", "B"], random_state=0).fit(X, y),
        set(),
    )
    for sequence in X[:6]:
        for t, token in enumerate(explain(tagger, sequence).tokens):
            if token.counterfactual is None:
                continue
            other = sequence.copy()
            for name in token.counterfactual.features:
                column = 0 if name.startswith("U0:") else list(sequence).index(name)
                other.iloc[t, column] = 0.0 if column else "unseen"
                changed.add(column)
            assert (
                tagger.predict([other])[0][t]
                == token.counterfactual.label
                != token.label
            )
    assert changed == {0, 1, 2}


def test_the_counterfactual_of_dense_and_sparse_rows():
    """The same of columns that a union puts side by side."""
    frames, y = _with_numbers()
    X = [list(frame.itertuples(index=False, name=None)) for frame in frames]
    numbers = TokenTransformer(
        FunctionTransformer(lambda rows: np.asarray(rows)[:, 1:].astype(float))
    )
    words = TokenTransformer(
        make_pipeline(FunctionTransformer(lambda rows: rows[:, :1]), OneHotEncoder())
    )
    tagger = StructuredPerceptron(random_state=0)
    matrix = SequenceUnion([("n", numbers), ("w", words)]).fit_transform(X)
    tagger.fit(matrix, y)
    names, changes = matrix.feature_names, 0
    for sequence in matrix[:6]:
        for t, token in enumerate(explain(tagger, sequence).tokens):
            if token.counterfactual is not None:
                changes += 1
                other = sequence.tolil()
                other[
                    t, [names.index(name) for name in token.counterfactual.features]
                ] = 0.0
                assert (
                    tagger.predict([other.tocsr()])[0][t]
                    == token.counterfactual.label
                    != token.label
                )
    assert changes > 5


def test_nothing_to_change_where_the_model_says_something_else():
    X, y = corpus()
    tagger = StructuredPerceptron(max_iter=5, random_state=0).fit(X, y)
    wrong = ["L0" if label != "L0" else "L1" for label in tagger.predict(X[:1])[0]]
    explanation = explain(tagger, X[0], wrong)
    assert all(token.counterfactual is None for token in explanation.tokens)
    assert "says something else" in explanation._repr_html_()


def test_a_set_of_labels_leaves_the_choice_to_the_model():
    """Elsewhere in a text of which some types are annotated stands anything but these."""
    X, y = corpus()
    tagger = StructuredPerceptron(max_iter=2, random_state=0).fit(X, y)
    some = [{"L0", "L1"}, frozenset({"L2", "new"}), *y[0][2:]]
    assert (
        explain(tagger, X[0], some).labels
        == tagger.predict(X[:1], [[{"L0", "L1"}, "L2", *y[0][2:]]])[0]
    )
    texts, spans = (
        ["Ann met Bob in Ulm"] * 4,
        [[(0, 3, "PER"), (8, 11, "PER"), (15, 18, "LOC")]] * 4,
    )
    model = SpanTagger(StructuredPerceptron(random_state=0)).fit(texts, spans)
    partial = PartialSpans(spans[0][:1], types={"PER"})
    found = explain(model, texts[0], partial).segments
    assert [segment for segment in found if segment[2] == "PER"] == [(0, 1, "PER")]
    wrong = [PartialSpans([(4, 7, "PER")], types={"PER"})]
    assert "is not a label" not in report(model, texts[:1], wrong).to_html()


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
    with pytest.raises(ValueError, match="knows no tags"):
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
            ImportError, match="to_frame needs pandas: pip install pandas"
        ):
            result.to_frame()
        assert result.to_dict()


def test_weights_survive_pickle_and_slices():
    import copy
    import pickle

    X, y = corpus()
    tagger = StructuredPerceptron(max_iter=2, random_state=0).fit(X, y)
    weights = transition_weights(tagger)
    for again in (pickle.loads(pickle.dumps(weights)), copy.deepcopy(weights)):
        assert again.labels == weights.labels and (again == weights).all()
    found = feature_weights(tagger)
    assert type(found[:5]) is type(found) and "<table" in found[:5]._repr_html_()


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
