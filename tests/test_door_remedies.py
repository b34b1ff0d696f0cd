"""What is said where people give something near to what is read: what to write instead."""

import re
import unicodedata

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline

import skstruct
from skstruct import (
    L1CRF,
    BaggingShuffleAverager,
    FeatureTemplates,
    Segmenter,
    SpanSets,
    SpanTagger,
    StructuredPerceptron,
)
from skstruct.compat import sklearn_crfsuite
from skstruct.features import TokenPredictions, TokenVectorizer
from skstruct.inspection import explain, features_of, label_issues, size_curve

X = [["the", "dog"], ["a", "cat"], ["the", "cat"], ["a", "dog"]]
Y = [["D", "N"]] * 4
TEXTS, SPANS = ["Ann ran.", "I saw Ann."], [[(0, 3, "P")], [(6, 9, "P")]]
TABLE = pd.DataFrame({"s": [1, 1, 2], "w": ["a", "b", "c"], "label": ["A", "B", "A"]})
GROUPS = TABLE.groupby("s")
TABLES = [rows for _, rows in GROUPS]


def perceptron(features="auto", **parameters):
    return StructuredPerceptron(features, max_iter=2, random_state=0, **parameters)


def fitted():
    return perceptron().fit(X, Y)


def spanned(tagger=None, **parameters):
    return SpanTagger(tagger or perceptron("text"), **parameters)


DICTS = [[{"w": word} for word in sentence] for sentence in X]
GRID = GridSearchCV(perceptron(), {"max_iter": [1]}, cv=2)

REMEDIES = {
    "groups of pandas": (
        lambda: perceptron().fit(GROUPS, Y[:2]),
        "X is a DataFrameGroupBy, .* write X = [rows for _, rows in X]",
    ),
    "groups of labels": (
        lambda: perceptron().fit(X[:2], GROUPS["label"]),
        "y is a SeriesGroupBy, .* write y = [rows for _, rows in y]",
    ),
    "tables as labels": (
        lambda: perceptron().fit(X[:2], TABLES),
        "y: sequence 0 is a table .* write y = [table['label'] for table in y]",
    ),
    "tables of a metric": (
        lambda: skstruct.metrics.token_accuracy_score(TABLE, TABLE),
        "y_true must be a list; got a DataFrame",
    ),
    "predictions in the place of probabilities": (
        lambda: skstruct.metrics.sequence_log_loss(Y, [["D"], ["D", "N"]]),
        "log_proba must be one number a sequence, as model.sequence_log_proba(X, ",
    ),
    "classes of sequences": (
        lambda: perceptron().partial_fit(X, Y, classes=Y),
        "sorted({label for labels in y for label in labels})",
    ),
    "a template alone": (
        lambda: perceptron("U0:%x[0,0]").fit(X, Y),
        "templates are a list, features=['U0:%x[0,0]']",
    ),
    "a feature without a value": (
        lambda: perceptron().fit([[{"a": None}]], [["A"]]),
        "got NoneType None; leave a feature without a value out",
    ),
    "a share": (
        lambda: size_curve(fitted(), X, Y, keep=0.5),
        "keep must be a list of numbers, got 0.5; write keep=[0.5]",
    ),
    "all sequences to explain": (
        lambda: explain(fitted(), X),
        "expected one sequence, got a list of them; give one element of it, such as X[0]",
    ),
    "all sequences for features": (
        lambda: features_of(fitted(), X),
        "expected one sequence, got a list of them",
    ),
    "all texts to explain": (
        lambda: explain(spanned().fit(TEXTS, SPANS), TEXTS),
        "expected one sequence, got a list of them",
    ),
    "a tokenizer of nothing": (
        lambda: spanned(tokenizer=lambda text: None).fit(TEXTS, SPANS),
        "tokenizer: sequence 0: expected a list of (start, end) or of str, got None",
    ),
    "an average of a search": (
        lambda: BaggingShuffleAverager(GRID, 2).fit(X, Y),
        "put BaggingShuffleAverager(tagger) into the search",
    ),
    "an average of a pipeline": (
        lambda: BaggingShuffleAverager(
            make_pipeline(TokenVectorizer(), perceptron()), 2
        ).fit(X, Y),
        "put BaggingShuffleAverager(tagger) into the last step of the pipeline",
    ),
    "a classifier over dicts": (
        lambda: TokenPredictions(LogisticRegression(), cv=2).fit(DICTS, Y),
        "write make_pipeline(DictVectorizer(), LogisticRegression(...))",
    ),
    "a classifier over strings": (
        lambda: TokenPredictions(LogisticRegression(), cv=2).fit(X, Y),
        "write make_pipeline(HashingVectorizer(analyzer='char'), LogisticRegression(",
    ),
    "groups of other sequences": (
        lambda: label_issues(L1CRF(), X, Y, groups=[0, 1], cv=GroupKFold(2)),
        "groups must hold one entry for each of the 4 sequences, got 2",
    ),
    "sets without a scheme": (
        lambda: SpanSets(L1CRF()).fit(X, Y),
        "such as L1CRF(constraints='BIO'), and whose constraints name a scheme, got a",
    ),
    "labels of a span tagger": (
        lambda: spanned().fit(TEXTS, SPANS).classes_,
        "'classes_': SpanTagger has them in its tagger_: labels of tokens",
    ),
    "labels of a segmenter": (
        lambda: Segmenter(perceptron("char")).fit(["ab"], [["a", "b"]]).classes_,
        "'classes_': Segmenter has them in its tagger_: labels of tokens",
    ),
    "a parameter far inside": (
        lambda: spanned(BaggingShuffleAverager(perceptron())).set_params(max_iter=3),
        "did you mean 'tagger__estimator__max_iter'?",
    ),
    "a saved search": (
        lambda: spanned(GRID).fit(TEXTS, SPANS).save("never"),
        "search over the SpanTagger, and save its best_estimator_",
    ),
    "a saved function": (
        lambda: spanned(tokenizer=str.split).fit(TEXTS, SPANS).save("never"),
        "parameter 'tokenizer' of SpanTagger: .*; pickle can keep it",
    ),
    "other numbers of sequences": (
        lambda: sklearn_crfsuite.CRF().fit(DICTS, Y[:2]),
        "X and y must hold the same number of sequences, got more in X",
    ),
}
"""What is called, and what the error says."""


@pytest.mark.filterwarnings("ignore:.*spans do not end where tokens do")
@pytest.mark.parametrize("name", REMEDIES)
def test_what_to_write_instead(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call, message = REMEDIES[name]
    with pytest.raises((ValueError, TypeError, AttributeError)) as caught:
        call()
    parts = map(re.escape, message.split(".*"))
    assert re.search(".*".join(parts), str(caught.value))
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    "weight, message",
    [
        ("balanced", "sample_weight must be one number for each sequence, got str"),
        ({"D": 2.0}, "sample_weight must be one number for each sequence, got dict"),
        ([1.0, np.nan, 1.0, 1.0], "must be finite, got nan for sequence 1"),
        ([1.0, None, 1.0, 1.0], "must be finite, got nan for sequence 1"),
    ],
)
def test_weights_that_are_no_numbers(weight, message):
    with pytest.raises(ValueError, match=message):
        perceptron().fit(X, Y, sample_weight=weight)
    with pytest.raises(ValueError, match=message):
        fitted().score(X, Y, sample_weight=weight)


def test_the_probability_of_an_empty_sequence_is_one_also_alone():
    crf = L1CRF(max_iter=5, random_state=0).fit(X, Y)
    assert crf.sequence_log_proba([[]], [[]]).tolist() == [0.0]
    assert crf.sequence_log_proba([], []).tolist() == []


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_span_tagger_finds_names_of_a_lexicon_in_any_normal_form(form):
    """Its tokens are in normal form C, whatever the text and the lexicon are in."""
    names = [unicodedata.normalize(form, "Ré")]
    templates = FeatureTemplates(
        ["U0:%x[0,0]", "U1:%lex_p[0,0]", "B"], lexicons={"p": names}
    )
    model = spanned(StructuredPerceptron(templates, random_state=0))
    model.fit(["in Ré now", "in fact now"], [[(3, 5, "L")], []])
    for text in "in Ré now", unicodedata.normalize("NFD", "in Ré now"):
        tokens = [text[a:b] for a, b in model.tokens([text])[0]]
        read = [unicodedata.normalize("NFC", token) for token in tokens]
        assert "U1:S" in features_of(model.tagger_, [(word, "1") for word in read])[1]
    assert templates.lexicons["p"][0] == names[0]  # the user's own stay as they are
