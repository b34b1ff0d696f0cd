"""What each feature contributes to the labels of a chain, and what would have to
change.
"""

import numpy as np
import pandas
import pytest
from model_cases import fitted
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

from skstruct import (
    L1CRF,
    CalibratedTagger,
    PartialSpans,
    PassiveAggressiveTagger,
    SpanTagger,
    StructuredPerceptron,
)
from skstruct.datasets import make_hmm_sequences
from skstruct.features import SequenceUnion, TokenTransformer
from skstruct.inspection import (
    explain,
    features_of,
    report,
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
    """What tokens have in common cannot be left out; a word can, and so can a
    number.
    """
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
    assert "predicts something else" in explanation._repr_html_()


def test_a_set_of_labels_leaves_the_choice_to_the_model():
    """Elsewhere in a text of which some types are annotated stands anything but
    these.
    """
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
