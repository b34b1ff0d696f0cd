"""What was fitted on tokens takes such tokens, in any container; others it refuses, by
name.
"""

from pickle import dumps, loads

import inside
import numpy as np
import pandas
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import Perceptron
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from skstruct import L1CRF, ParameterMixer, SequenceMatrix, StructuredPerceptron, load
from skstruct._chain.chain_model import make_task
from skstruct._data.inputs import as_tokens
from skstruct._data.labels import Gold
from skstruct.features import SequenceUnion, TokenPredictions, TokenTransformer, Window

LENGTHS = [3, 0, 4, 2, 3, 1, 5]


def numbers(names=None):
    rng = np.random.default_rng(0)
    flat = rng.integers(-2, 3, (sum(LENGTHS), 4)).astype(float)
    X = SequenceMatrix(flat, LENGTHS, feature_names=names)
    return X, X.split(np.array(["low", "high"])[(flat[:, 1] > 0).astype(int)].tolist())


def in_csr(X):
    return SequenceMatrix(
        sparse.csr_matrix(X.matrix), X.lengths, feature_names=X.feature_names
    )


def sparse_part():
    return TokenTransformer(FunctionTransformer(sparse.csr_matrix))


# -- dense for sparse, and sparse for dense --------------------------------------------
@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("kinds", ["dense, then sparse", "sparse, then dense"])
@pytest.mark.parametrize(
    "tagger", [StructuredPerceptron(random_state=0), L1CRF(max_iter=20, tol=None)]
)
def test_a_union_gives_a_tagger_dense_rows_for_sparse_ones(tagger, kinds, order):
    X, y = numbers()
    trained, other = (X, in_csr(X)) if kinds == "dense, then sparse" else (in_csr(X), X)
    parts = [("rows", "passthrough"), ("more", sparse_part()), ("wide", Window(1, 0))][
        ::order
    ]
    pipeline = make_pipeline(SequenceUnion(parts), tagger).fit(trained, y)
    expected = pipeline.decision_function(trained)
    assert pipeline.predict(other) == pipeline.predict(trained)
    assert pipeline.decision_function(other).tolist() == expected.tolist()


def test_training_goes_on_with_rows_in_the_other_container():
    X, y = numbers()
    union = SequenceUnion([("rows", "passthrough"), ("more", sparse_part())]).fit(X)
    for first, then in ((X, in_csr(X)), (in_csr(X), X)):
        same, other = (
            StructuredPerceptron(random_state=0).fit(union.transform(first), y)
            for _ in "ab"
        )
        same.partial_fit(union.transform(first), y)
        other.partial_fit(union.transform(then), y)
        assert other.predict(union.transform(X)) == same.predict(union.transform(X))
        gap = other.decision_function(union.transform(X)) - same.decision_function(
            union.transform(X)
        )
        assert np.abs(gap).max() < 1e-9


def test_an_encoded_corpus_of_another_size_reaches_no_kernel():
    X, y = numbers()
    encoder = inside.model_of(StructuredPerceptron(random_state=0).fit(X, y)).encoder

    class Wrong:
        """An encoder that loses a row."""

        def check(self, corpus):
            """All is well."""

        def encode(self, corpus, grow):
            found = encoder.encode(corpus, grow)
            return found._replace(
                dense=found.dense._replace(block=found.dense.block[1:])
            )

    with pytest.raises(
        AssertionError, match="inconsistent: dense of another number of tokens"
    ):
        make_task(Wrong(), X)
    with pytest.raises(AssertionError, match="gold"):
        make_task(encoder, X, Gold(np.zeros(3, np.int32), ()))


@pytest.mark.parametrize("lost", ["row", "value"])
def test_a_bag_of_other_features_than_it_says_reaches_no_kernel(lost):
    X, y = [[{"a": 0.5, "b": "c"}, {"a": 2.0}]], [["A", "B"]]
    encoder = inside.model_of(StructuredPerceptron(random_state=0).fit(X, y)).encoder

    class Wrong:
        """An encoder that loses a feature."""

        def check(self, corpus):
            """All is well."""

        def encode(self, corpus, grow):
            found = encoder.encode(corpus, grow)
            some = {lost: getattr(found.bag, lost)[1:]}
            return found._replace(bag=found.bag._replace(**some))

    with pytest.raises(AssertionError, match="inconsistent: (bag|values) of another"):
        make_task(Wrong(), as_tokens(X))


# -- names and widths ------------------------------------------------------------------
@pytest.mark.parametrize("form", [lambda X: X, in_csr], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    "transformer",
    [
        Window(1, 1),
        SequenceUnion([("rows", "passthrough")]),
        SequenceUnion([("rows", "passthrough"), ("wide", Window())]),
        TokenTransformer(StandardScaler(with_mean=False)),
        TokenPredictions(make_pipeline(StandardScaler(with_mean=False), Perceptron())),
        TokenTransformer(StandardScaler(with_mean=False), per="sequence"),
        TokenTransformer(FunctionTransformer()),
    ],
    ids=["window", "union", "parts", "transformer", "predictions", "per", "function"],
)
def test_columns_in_another_order_are_refused(transformer, form):
    X, y = numbers(list("abcd"))
    transformer.fit(form(X), y)
    other = form(SequenceMatrix(X.matrix, X.lengths, feature_names=list("bacd")))
    with pytest.raises(
        ValueError, match="feature names differ .* column 0 is 'b', was 'a'"
    ):
        transformer.transform(other)
    wider = form(SequenceMatrix(np.hstack([X.matrix, X.matrix]), X.lengths))
    if learns_nothing(transformer):
        found = transformer.transform(wider).matrix
        assert abs(found - clone(transformer).fit_transform(wider, y).matrix).max() == 0
    else:
        with pytest.raises(
            ValueError, match="has 8 columns, expected 4 as in training"
        ):
            transformer.transform(wider)
    expected = transformer.transform(form(X))
    for names in (None, list("axyd")):  # what is renamed stands where it stood
        found = transformer.transform(
            form(SequenceMatrix(X.matrix, X.lengths, feature_names=names))
        )
        assert abs(found.matrix - expected.matrix).max() == 0
        assert found.feature_names == expected.feature_names


def learns_nothing(transformer):
    """Whether it reads whatever the transformer inside can."""
    inner = getattr(transformer, "transformer", None)
    return getattr(transformer, "per", "") == "sequence" or isinstance(
        inner, FunctionTransformer
    )


def test_partial_fit_of_a_transformer_refuses_other_columns_and_stays():
    X, _ = numbers(list("abcd"))
    scaler = TokenTransformer(StandardScaler()).partial_fit(X)
    mean = scaler.transformer_.mean_.copy()
    with pytest.raises(ValueError, match="feature names differ"):
        scaler.partial_fit(
            SequenceMatrix(X.matrix, X.lengths, feature_names=list("bacd"))
        )
    assert scaler.transformer_.mean_.tolist() == mean.tolist()
    scaler.partial_fit(SequenceMatrix(X.matrix, X.lengths, feature_names=list("axcd")))
    assert scaler.transform(X).feature_names == tuple("abcd")


def test_rows_for_words_and_words_for_rows_are_refused():
    X, y = numbers()
    words = [[f"w{t}" for t in range(n)] for n in LENGTHS]
    wrong_rows = pytest.raises(
        ValueError, match="expected strings or tuples of strings as .* got a row of 4"
    )
    wrong_words = pytest.raises(
        ValueError, match="expected rows of numbers as in training, got str 'w0'"
    )
    with wrong_rows:
        TokenTransformer(CountVectorizer(token_pattern="w.*")).fit(words).transform(X)
    with wrong_words:
        TokenTransformer(StandardScaler()).fit(X).transform(words)
    with wrong_words:
        TokenPredictions(Perceptron(), cv=2).fit(X, y).transform(words)


# -- data frames -----------------------------------------------------------------------
def frames(kind):
    df = pandas.DataFrame({"word": ["the", "dog", "a"], "length": [3.0, 3.0, 1.0]})
    df = df[
        {"strings": ["word"], "numbers": ["length"], "both": ["word", "length"]}[kind]
    ]
    return [df.iloc[:2], df.iloc[2:]]


@pytest.mark.parametrize(
    "empty", [[], (), np.zeros((0, 2))], ids=["list", "tuple", "array"]
)
@pytest.mark.parametrize("kind", ["strings", "numbers", "both"])
def test_a_frame_beside_an_empty_list_is_a_frame(kind, empty):
    X = frames(kind)
    one_hot = ColumnTransformer([("words", OneHotEncoder(), list(X[0].columns)[:1])])
    transformer = TokenTransformer(one_hot).fit(X)
    expected = transformer.transform(X).matrix
    found = transformer.transform([X[0], empty, X[1]])
    assert found.lengths.tolist() == [2, 0, 1]
    assert abs(found.matrix - expected).max() == 0
    assert TokenTransformer(one_hot).fit([empty, *X]).transform(
        [empty]
    ).lengths.tolist() == [0]


def test_columns_of_strings_are_known_by_name(tmp_path):
    df = pandas.DataFrame({"word": ["the", "dog", "a"], "tag": ["D", "N", "D"]})
    X, y, text = (
        [df[:2], df[2:]],
        [["x", "y"], ["x"]],
        "columns of strings are tag, word, expected word, tag",
    )
    tagger = StructuredPerceptron(["U0:%x[0,0]/%x[0,1]"], random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=text):
        tagger.predict([x[["tag", "word"]] for x in X])
    with pytest.raises(ValueError, match=text):
        loads(dumps(tagger)).partial_fit([x[["tag", "word"]] for x in X], y)
    tagger.save(tmp_path / "model")
    with pytest.raises(ValueError, match=text):
        load(tmp_path / "model").predict([x[["tag", "word"]] for x in X])
    with pytest.raises(ValueError, match=f"shard 1: the {text} in shard 0"):
        shards = [lambda: (X, y), lambda: ([x[["tag", "word"]] for x in X], y)]
        ParameterMixer(StructuredPerceptron(["U0:%x[0,0]/%x[0,1]"])).fit_shards(shards)
    assert tagger.predict([x.assign(more="m") for x in X]) == y
    assert tagger.predict([[("the", "D"), ("dog", "N")]]) == [["x", "y"]]
    with pytest.raises(
        ValueError, match="expected a token of type tuple as in training, got str 'the'"
    ):
        tagger.predict([x[["word"]] for x in X])
    encoder = TokenTransformer(OneHotEncoder(handle_unknown="ignore")).fit(X)
    for other in (
        lambda x: x[["tag", "word"]],
        lambda x: x[["word"]],
        lambda x: x.assign(more="m"),
    ):
        with pytest.raises(
            ValueError, match="X: the columns are .*, expected word, tag as in training"
        ):
            encoder.transform(list(map(other, X)))


ROWS = np.arange(30.0).reshape(5, 6) % 7


def in_frames(titles="abcdef"):
    df = pandas.DataFrame(ROWS, columns=list(titles))
    return [df[:3], df[3:]]


SAME_COLUMNS = {
    "frames": in_frames(),
    "arrays": [ROWS[:3], ROWS[3:]],
    "lists": [ROWS[:3].tolist(), ROWS[3:].tolist()],
    "matrix": SequenceMatrix(ROWS, [3, 2]),
    "with names": SequenceMatrix(ROWS, [3, 2], feature_names=list("abcdef")),
    "table": SequenceMatrix.from_frame(
        pandas.concat(in_frames()).assign(s=[0, 0, 0, 1, 1]), "s"
    ),
}
OTHER_NAMES = {
    "swapped": in_frames("bacdef"),
    "others": in_frames("uvwxyz"),
    "matrix": SequenceMatrix(ROWS, [3, 2], feature_names=list("bacdef")),
}


@pytest.mark.parametrize(
    "inner", [FunctionTransformer(), StandardScaler()], ids=["function", "scaler"]
)
def test_no_column_of_words_is_left_out_in_silence(inner):
    fitted = TokenTransformer(inner, per="sequence").fit([[[1.0, 2.0], [3.0, 5.0]]])
    frame = pandas.DataFrame({"word": ["a", "b"], "x": [1.0, 2.0], "y": [3.0, 5.0]})
    with pytest.raises(
        ValueError,
        match="expected .*numbers as in training, got .*strings with 2 numbers",
    ):
        fitted.transform([frame])


@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names")
@pytest.mark.parametrize("trained", SAME_COLUMNS)
@pytest.mark.parametrize(
    "make",
    [
        lambda: TokenTransformer(StandardScaler()),
        lambda: TokenTransformer(StandardScaler(), per="sequence"),
        lambda: TokenTransformer(make_column_transformer((StandardScaler(), [0, 1]))),
        lambda: TokenPredictions(Perceptron(), cv=2),
        lambda: Window(1, 1),
        lambda: SequenceUnion(
            [("a", TokenTransformer(StandardScaler())), ("b", "passthrough")]
        ),
        lambda: make_pipeline(TokenTransformer(StandardScaler()), Window(1, 1)),
        lambda: make_pipeline(
            TokenPredictions(Perceptron(), cv=2), TokenTransformer(StandardScaler())
        ),
    ],
    ids="transformer per columns predictions window union pipeline stacked".split(),
)
def test_the_same_columns_are_read_in_any_container(make, trained):
    y = [["x", "y", "x"], ["y", "x"]]
    X = SAME_COLUMNS[trained]
    fitted = make().fit(X, y)
    tagger = make_pipeline(make(), StructuredPerceptron(random_state=0)).fit(X, y)
    expected, names = fitted.transform(X), fitted.transform(X).feature_names
    for other in SAME_COLUMNS.values():
        found = fitted.transform(other)
        assert found.lengths.tolist() == [3, 2]
        assert found.feature_names == names
        np.testing.assert_array_equal(found.matrix, expected.matrix)
        assert (
            tagger.decision_function(other).tolist()
            == tagger.decision_function(X).tolist()
        )
    if getattr(fitted, "per", "") != "sequence":
        with pytest.raises(
            ValueError, match="has 5 columns, expected 6|columns are|columns, expected"
        ):
            fitted.transform([ROWS[:, :5]])
    by_name = (
        isinstance(getattr(fitted, "transformer", None), ColumnTransformer)
        and trained == "frames"
    )
    if trained in ("frames", "with names", "table"):
        for case, other in OTHER_NAMES.items():
            if case == "others" and not (
                by_name or trained == "frames" and sees_names(fitted)
            ):
                np.testing.assert_array_equal(
                    fitted.transform(other).matrix, expected.matrix
                )
            elif not (by_name and case == "swapped"):  # it finds them
                with pytest.raises(
                    ValueError, match="feature names differ|columns are"
                ):
                    fitted.transform(other)


def sees_names(fitted):
    """Whether scikit-learn gets data frames, and was given some before."""
    first = fitted[0] if isinstance(fitted, Pipeline) else fitted
    return not isinstance(first, Window) and getattr(first, "per", "") != "sequence"


def test_what_was_fitted_on_frames_of_strings_takes_tuples_but_no_numbers():
    X = [pandas.DataFrame({"word": ["the", "dog"], "tag": ["D", "N"]})]
    encoder = TokenTransformer(OneHotEncoder(handle_unknown="ignore")).fit(X)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        found = encoder.transform([[("the", "D"), ("dog", "N")]])
    assert abs(found.matrix - encoder.transform(X).matrix).max() == 0
    with pytest.raises(
        ValueError,
        match="expected strings or tuples of strings as .* a row of 2 numbers",
    ):
        encoder.transform([np.eye(2)])
    with pytest.raises(ValueError, match="sequence 0 has 3 columns, expected 2"):
        encoder.transform([[("the", "D", "x")]])
    columns = make_column_transformer((OneHotEncoder(), [0]))
    mixed = TokenTransformer(columns).fit([X[0].assign(length=[3.0, 3.0])])
    with pytest.raises(
        ValueError, match="expected strings with numbers as in training, got tuple"
    ):
        mixed.transform([[("the", "D")]])


def test_a_column_transformer_needs_the_columns_that_it_uses():
    X = in_frames()
    scaler = TokenTransformer(
        make_column_transformer((StandardScaler(), ["a", "c"]))
    ).fit(X)
    expected = scaler.transform(X).matrix
    for titles in (["c", "a"], list("fedcba")):
        np.testing.assert_array_equal(
            scaler.transform([x[titles] for x in X]).matrix, expected
        )
    with pytest.raises(ValueError, match="columns are missing: {'c'}"):
        scaler.transform([x[["a", "b"]] for x in X])


def test_a_corpus_of_frames_is_handed_on_as_frames():
    X = frames("both")
    columns = make_column_transformer(
        (OneHotEncoder(), ["word"]), (StandardScaler(), ["length"])
    )
    transformer = TokenTransformer(columns).fit(X)
    same = TokenTransformer(columns).fit(as_tokens(X))
    expected = transformer.transform(X).matrix
    for found in (
        transformer.transform(as_tokens(X)),
        same.transform(X),
        same.transform(as_tokens(X)),
    ):
        assert abs(found.matrix - expected).max() == 0


def test_a_union_that_is_not_fitted_says_so():
    union = SequenceUnion([("rows", "passthrough"), ("wide", Window(1, 0))])
    with pytest.raises(
        NotFittedError, match="This SequenceUnion instance is not fitted yet"
    ):
        union.transform([ROWS])
    assert union.fit([ROWS]).transform([ROWS]).matrix.shape == (5, 19)


# -- one corpus ------------------------------------------------------------------------
def test_a_corpus_never_changes():
    corpus = as_tokens([["the", "dog"], ["a"]])
    for name in ("blocks", "lengths", "other"):
        with pytest.raises(AttributeError, match="cannot be changed"):
            setattr(corpus, name, ())


@pytest.mark.parametrize(
    "X",
    [
        [["the", "dog"], [], ["a"]],
        [[("the", "D"), ("dog", "N")], [], [("a", "D")]],
        [[{"w": "the"}, {"w": "dog"}], [], [{"w": "a"}]],
        [np.eye(3)[:2], np.zeros((0, 3)), np.eye(3)[2:]],
        [
            sparse.csr_matrix(np.eye(3)[:2]),
            sparse.csr_matrix((0, 3)),
            sparse.csr_matrix(np.eye(3)[2:]),
        ],
        [frames("both")[0], frames("both")[0][:0], frames("both")[1]],
    ],
    ids=["str", "tuple", "dict", "dense", "sparse", "frame"],
)
def test_pieces_of_a_corpus_are_pieces_of_what_was_given(X):
    corpus = as_tokens(X)
    assert as_tokens(corpus) is corpus
    assert (
        len(corpus) == 3
        and corpus.lengths.tolist() == [2, 0, 1]
        and corpus.shape == (3,)
    )
    for piece, expected in (
        (corpus[1:], X[1:]),
        (corpus[[2, 0]], [X[2], X[0]]),
        (corpus.take(np.array([0, 0])), [X[0], X[0]]),
        (corpus.blanked([0]), [X[1], X[1], X[2]]),
    ):
        assert piece.kinds == corpus.kinds
        assert (
            [len_of(x) for x in piece]
            == piece.lengths.tolist()
            == [len_of(x) for x in expected]
        )
        for found, x in zip(piece, expected):
            if len_of(x):
                assert type(found) is type(x) and same(found, x)


def len_of(x):
    return x.shape[0] if hasattr(x, "shape") else len(x)


def same(a, b):
    if isinstance(a, list):
        return a == b
    if sparse.issparse(a):
        return abs(a - b).max() == 0
    return bool((np.asarray(a) == np.asarray(b)).all())
