"""Data frames as corpora: strings go to templates, numbers are rows, and what is
neither is named.
"""

import datetime
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.compose import ColumnTransformer

import skstruct
from skstruct import (
    L1CRF,
    BaggingShuffleAverager,
    CalibratedTagger,
    NumericFeatures,
    ParameterMixer,
    SequenceMatrix,
    StructuredPerceptron,
)
from skstruct.features import SequenceUnion, TokenTransformer, TokenVectorizer
from skstruct.inspection import explain, feature_weights, features_of

pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")

LIBRARIES = pytest.mark.parametrize("library", [pandas, polars])
LENGTHS = [3, 1, 2, 4]
TABLE = {
    "sentence": np.repeat(["s1", "s2", "s3", "s4"], LENGTHS).tolist(),
    "word": "the dog barks run a cat the dog sees it".split(),
    "size": [3.0, 3, 5, 3, 1, 3, 3, 3, 4, 2],
    "pos": "D N V V D N D N V P".split(),
    "capital": [True, False] * 5,
    "label": "B I O O B I B I O O".split(),
}


def corpus(library, **changes):
    """The table as a data frame, with other columns."""
    return library.DataFrame({**TABLE, **changes})


def from_frame(library, **changes):
    return SequenceMatrix.from_frame(
        corpus(library, **changes), "sentence", label="label"
    )


@LIBRARIES
def test_strings_and_vectors(library):
    X, y = from_frame(library)
    assert len(X) == 4 and [len(x) for x in X] == LENGTHS and y[2] == ["B", "I"]
    assert (
        list(X[1].columns)
        == list(X[[1]].frame.columns)
        == ["word", "size", "pos", "capital"]
    )
    templates = ["U0:%x[0,0]", "U1:%x[-1,1]", "B"]
    tagger = StructuredPerceptron(templates, random_state=0).fit(X, y)
    assert tagger.predict(X) == y and tagger.feature_names_in_.tolist() == [
        "size",
        "capital",
    ]
    # The score is that of both parts, each alone.
    explanation = explain(tagger, X[2])
    assert explanation.score == pytest.approx(tagger.decision_function(X)[2])
    assert features_of(tagger, X[2])[0] == [
        "size",
        "capital",
        "bias",
        "U0:a",
        "U1:_B-1",
    ]
    for form in (
        list(X),
        X[:],
        X[np.arange(4)],
        np.array(X),
        pickle.loads(pickle.dumps(X)),
    ):
        assert tagger.predict(form) == y
        assert (
            clone_fit(tagger, form, y).decision_function(X).tolist()
            == tagger.decision_function(X).tolist()
        )
    frame = corpus(library)
    column = X.column(tagger.predict(X))
    done = (
        frame.assign(found=column)
        if library is pandas
        else frame.with_columns(polars.Series("found", column))
    )
    assert done["found"].to_list() == TABLE["label"] and X.split(column) == y


def clone_fit(model, X, y):
    return type(model)(**model.get_params()).fit(X, y)


@LIBRARIES
def test_only_strings_and_only_numbers(library):
    frame = corpus(library)
    for columns, tokens in (
        (["word"], [["the", "dog", "barks"], ["run"]]),
        (
            ["word", "pos"],
            [[("the", "D"), ("dog", "N"), ("barks", "V")], [("run", "V")]],
        ),
    ):
        X, y = SequenceMatrix.from_frame(
            frame, "sentence", columns=columns, label="label"
        )
        tagger = StructuredPerceptron(["U0:%x[0,0]"], random_state=0).fit(X, y)
        assert tagger.predict(tokens) == tagger.predict(X)[:2]
    X, _ = SequenceMatrix.from_frame(
        frame, "sentence", columns=["size", "capital"], label="label"
    )
    assert isinstance(X, SequenceMatrix) and X.feature_names == ("size", "capital")
    assert X.column([[1] * n for n in LENGTHS]) == [1] * 10


@LIBRARIES
def test_categories_are_strings(library):
    plain, y = from_frame(library)
    frame = corpus(library)
    if library is pandas:
        frame = frame.astype({"word": "category", "pos": "category"})
    else:
        frame = frame.with_columns(polars.col("word", "pos").cast(polars.Categorical))
    X, _ = SequenceMatrix.from_frame(frame, "sentence", label="label")
    a, b = (StructuredPerceptron(random_state=0).fit(each, y) for each in (plain, X))
    assert a.decision_function(plain).tolist() == b.decision_function(X).tolist()


@LIBRARIES
def test_missing_values_and_dates_are_named(library):
    words = [None if k == 4 else word for k, word in enumerate(TABLE["word"])]
    sizes = [None if k == 9 else size for k, size in enumerate(TABLE["size"])]
    days = [datetime.date(2020, 1, 1 + k) for k in range(10)]
    times = [datetime.datetime(2020, 1, 1 + k) for k in range(10)]
    cases = [
        (
            {"word": words},
            "sequence 2, position 0: column 'word' has no value; fill it first",
        ),
        (
            {"size": sizes},
            r"sequence 3, position 3, column 0 \('size'\): nan is not finite",
        ),
        (
            {"pos": days},
            "sequence 0, position 0: column 'pos' holds dates or times, got 2020-01-01",
        ),
        (
            {"pos": times},
            "sequence 0, position 0: column 'pos' holds dates or times, got 2020-01-01",
        ),
        (
            {"pos": [[1.0, 2.0]] * 10},
            "sequence 0, position 0: column 'pos' holds lists; give each",
        ),
    ]
    if library is pandas:
        mixed = pandas.Series(["a"] * 5 + [3] * 5, dtype=object)
        cases.append(
            (
                {"word": mixed},
                "sequence 2, position 1: column 'word': expected a str, got int 3",
            )
        )
        mixed = pandas.Series([1.5] * 5 + ["b"] * 5, dtype=object)
        cases.append(
            (
                {"size": mixed},
                "sequence 2, position 1: column 'size': expected a number, got str 'b'",
            )
        )
        nullable = pandas.array([*range(9), None], dtype="Int64")
        cases.append(
            (
                {"size": nullable},
                r"sequence 3, position 3, column 0 \('size'\): nan is not finite",
            )
        )
    for changes, message in cases:
        with pytest.raises(ValueError, match=message):
            X, y = from_frame(library, **changes)
            StructuredPerceptron().fit(X, y)
    y = from_frame(library, label=[None, *TABLE["label"][1:]])[1]
    assert y[0] == [None, "I", "O"]
    with pytest.raises(
        ValueError,
        match="'sentence', which tells sequences apart, has no value in row 1",
    ):
        from_frame(library, sentence=["s1", None, *TABLE["sentence"][2:]])
    X, y = from_frame(library)
    with pytest.raises(
        ValueError, match="values: sequence 1 has 1 token, got 2 values"
    ):
        X.column([["a"] * 3, ["a"] * 2, [], []])
    with pytest.raises(
        ValueError, match="values must have one list a sequence, 4, got 1"
    ):
        X.column([["a"] * 3])


@LIBRARIES
def test_other_columns_than_in_training(library):
    X, y = from_frame(library)
    tagger = StructuredPerceptron(random_state=0).fit(X, y)
    names = ["word", "pos", "size", "capital"]
    assert tagger.predict([x[names] for x in X]) == tagger.predict(X)
    for columns, message in (
        (
            ["pos", "word", "size", "capital"],
            "columns of strings are pos, word, expected word, pos as in training",
        ),
        (
            ["word", "pos", "capital", "size"],
            "feature names differ .* column 0 is 'capital', was 'size'",
        ),
        (["word", "pos", "size"], "has 1 column, expected 2 as in training"),
        (
            ["word", "pos"],
            r"expected strings with numbers as in training, got tuple \('the', 'D'\)",
        ),
        (
            ["size", "capital"],
            "expected strings with numbers as in training, got a row of 2 numbers",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            tagger.predict([x[columns] for x in X])
    with pytest.raises(
        ValueError,
        match="sequence 1 has the columns pos, that of sequence 0 word, size, pos",
    ):
        tagger.predict([X[0], X[1][["pos"]]])
    assert tagger.predict([X[0], [], X[0][:0], X[0][["pos"]][:0]]) == [y[0], [], [], []]
    with pytest.raises(
        ValueError, match="sequence 1 is coo_array .*, sequence 0 is a table"
    ):
        tagger.predict([X[0], sparse.coo_array([[1.0]])])
    with pytest.raises(
        ValueError, match="sequence 1 must be a list of tokens, got coo_array"
    ):
        tagger.predict([["the"], sparse.coo_array([[1.0]])])


@pytest.mark.parametrize("learner", [StructuredPerceptron, L1CRF])
def test_numbers_count_what_they_count_alone(learner, tmp_path):
    """Without features of the strings the model is that of the rows."""
    X, y = from_frame(pandas)
    numbers = SequenceMatrix.from_frame(
        pandas.DataFrame(TABLE).drop(columns=["word", "pos", "label"]), "sentence"
    )
    alone = learner(NumericFeatures(), random_state=0).fit(numbers, y)
    both = learner(["B"], random_state=0).fit(X, y)
    np.testing.assert_allclose(
        both.decision_function(X), alone.decision_function(numbers), rtol=1e-6
    )
    both.save(tmp_path / "model")
    assert (
        skstruct.load(tmp_path / "model").decision_function(X).tolist()
        == both.decision_function(X).tolist()
    )


@pytest.mark.parametrize("learner", [StructuredPerceptron, L1CRF])
def test_windows_of_numbers_beside_strings(learner):
    X, y = from_frame(pandas)
    tagger = learner(NumericFeatures(window=(-1, 0)), random_state=0).fit(X, y)
    names = {name for name, _, _ in feature_weights(tagger)}
    assert (
        tagger.score(X, y) > 0.5
        and names & {"size@-1", "capital@-1"}
        and names & {"size", "capital"}
    )


@pytest.mark.parametrize(
    "form", ["frames", pytest.param("union", marks=pytest.mark.slow)]
)
def test_strings_and_vectors_everywhere(form, tmp_path):
    """What needs the features of both parts counted, cut into shards, hidden or added
    one by one.
    """
    X, y = from_frame(pandas)
    X, y = X[np.tile(np.arange(4), 3)], y * 3
    templates = ["U0:%x[0,0]", "U1:%x[-1,1]", "B"]
    features = {"features": templates}
    if form == "union":
        numbers = TokenTransformer(
            ColumnTransformer([("n", "passthrough", ["size", "capital"])])
        )
        X, features = (
            SequenceUnion(
                [("t", TokenVectorizer(templates)), ("n", numbers)]
            ).fit_transform(X),
            {},
        )
    plain = StructuredPerceptron(**features, random_state=0).fit(X, y)
    for options in (
        {"min_count": 2},
        {"early_stopping": True, "validation_fraction": 0.3},
        {"dropout": 0.1},
        {"feature_noise": "dropout"},
        {"penalty": "l1", "alpha": 1e-3},
        {"order": 2},
    ):
        tagger = StructuredPerceptron(**features, **options, random_state=0).fit(X, y)
        assert tagger.score(X, y) > 0.5
        tagger.save(tmp_path / "model")
        again = skstruct.load(tmp_path / "model")
        assert again.predict(X) == tagger.predict(X)
        assert again.partial_fit(X, y).predict(X) == tagger.partial_fit(X, y).predict(X)
    for meta in (
        BaggingShuffleAverager(plain, 2, random_state=0),
        ParameterMixer(plain, 2, random_state=0),
        ParameterMixer(
            StructuredPerceptron(**features, min_count=2, random_state=0),
            2,
            random_state=0,
        ),
        CalibratedTagger(plain, cv=2, random_state=0),
    ):
        assert meta.fit(X, y).score(X, y) > 0.5
        meta.save(tmp_path / "model")
        assert skstruct.load(tmp_path / "model").predict(X) == meta.predict(X)
    one = ParameterMixer(plain, 1, random_state=0).fit(X, y)  # one shard is the whole
    assert one.estimator_.n_features() == plain.n_features()


@LIBRARIES
def test_a_table_is_no_list_of_sequences(library):
    X, y = from_frame(library)
    tagger = StructuredPerceptron(["U0:%x[0,0]"], random_state=0)
    for alone in (X.frame, X.frame[["word"]], X.frame[["size"]], X.frame[:0]):
        with pytest.raises(
            ValueError, match=r"X is one table of \d+ rows; say where its sequences end"
        ):
            tagger.fit(alone, y)
    words = tagger.fit([["the", "dog"]], [["B", "I"]])
    assert words.predict([["dog"], X[0][:0]])[1] == []
    with pytest.raises(
        ValueError,
        match="X: sequence 1 is a table, other sequences are lists of tokens",
    ):
        words.predict([["dog"], X[0]])


def test_missing_integers_are_named_in_every_table():
    frame = pandas.DataFrame(
        {"n": pandas.array([1, None, 3], "Int64"), "x": [1.0, 2.0, 3.0]}
    )
    for use in (
        lambda: SequenceMatrix(frame, [2, 1]),
        lambda: StructuredPerceptron().fit([frame], [["a", "b", "a"]]),
        lambda: SequenceMatrix.from_frame(frame.assign(s="s"), "s"),
    ):
        with pytest.raises(
            ValueError,
            match=r"sequence 0, position 1, column 0 \('n'\): nan is not finite",
        ):
            use()
    whole = frame.dropna()
    assert SequenceMatrix(whole, [2]).matrix.tolist() == [[1.0, 1.0], [3.0, 3.0]]
    assert StructuredPerceptron(random_state=0).fit([whole], [["a", "b"]]).predict(
        [whole]
    ) == [["a", "b"]]


def test_a_column_that_occurs_twice():
    df = pandas.DataFrame([[1, 1.0, 2.0], [1, 2.0, 3.0]], columns=["s", "v", "v"])
    with pytest.raises(
        ValueError, match="the table has 2 columns 'v'; rename all but one"
    ):
        SequenceMatrix.from_frame(df, "s")
    df.columns = ["s", "long name", "v"]
    assert SequenceMatrix.from_frame(df, "s", columns="long name").feature_names == (
        "long name",
    )


@pytest.mark.parametrize(
    "values", [[1j, 2j], pandas.Series([10**400, 1], dtype=object)]
)
def test_numbers_that_no_float_holds(values):
    with pytest.raises(
        ValueError,
        match="X: sequence 0, position 0: column 'n': expected a number, got",
    ):
        StructuredPerceptron().fit([pandas.DataFrame({"n": values})], [["a", "b"]])


def test_columns_to_learn_from_are_others_than_those_of_sequences_and_labels():
    df = pandas.DataFrame({"s": [1, 1], "word": ["a", "b"], "tag": ["A", "B"]})
    for columns, wrong in (
        (["word", "tag"], "columns: 'tag' is the column of the labels, and no feature"),
        (["word", "s"], "columns: 's' is the column of the sequences, and no feature"),
        (["tag", "s"], "columns: 'tag' is the column of the labels, and no feature"),
        ([], "the table has no column to learn from, only s, word, tag"),
    ):
        with pytest.raises(ValueError, match=wrong):
            SequenceMatrix.from_frame(df, "s", columns=columns, label="tag")
    with pytest.raises(ValueError, match="no column to learn from, only s, tag"):
        SequenceMatrix.from_frame(df[["s", "tag"]], "s", label="tag")
    numbered = pandas.DataFrame({0: [1, 1], 1: ["A", "B"]})
    with pytest.raises(ValueError, match="no column to learn from, only 0, 1"):
        SequenceMatrix.from_frame(numbered, 0, label=1)
