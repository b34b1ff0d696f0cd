"""The table *{strings, containers, tables} x {tokens, columns, features, labels, spans' labels, texts} x verbs*.

Whatever an element or a container is, models learn, predict, go on and come back from files as with plain
str in lists; to the bit. What else belongs here: other verbs (``test_kinds``), other ``__array__``.
"""

import subprocess
import sys

import numpy as np
import pandas
import pytest
from door_cases import CONTAINERS, ELEMENTS, TABLES, Member, Spoken, object_array
from kind_cases import Tensor

import skstruct
from skstruct import (
    L1CRF,
    Segmenter,
    SequenceMatrix,
    ShiftReduceParser,
    SpanTagger,
    StructuredPerceptron,
)
from skstruct._data.inputs import as_tokens
from skstruct._data.schemes import spans_to_labels
from skstruct.features import TokenPredictions, TokenTransformer, TokenVectorizer
from skstruct.features.patterns import Patterns
from skstruct.inspection import feature_weights
from skstruct.interchange import export

SENTENCES = [
    ["the", "dog", "barks"],
    ["a", "cat", "sleeps"],
    ["the", "cat", "barks"],
    ["dog", "the", "a"],
]
TAGS = [["DT", "NN", "VB"], ["DT", "NN", "VB"], ["DT", "NN", "VB"], ["NN", "DT", "DT"]]
PAIRS = [list(zip(*both)) for both in zip(SENTENCES, TAGS)]
TEXTS = ["Ann-sleeps", "Ann", "the", "dog"]
SPANS = [[(0, 3, "NN")], [(0, 3, "NN")], [], [(0, 3, "VB")]]


def each(make, nested):
    """All strings in lists and tuples, made anew."""
    if isinstance(nested, (list, tuple)):
        return type(nested)([each(make, item) for item in nested])
    return make(nested) if isinstance(nested, str) else nested


def dicts(make):
    return [
        [
            {
                make("the"): make(word),
                make("a"): {make("dog"): make(tag)},
                "O": [make(tag)],
                make("B-PER"): True,
            }
            for word, tag in pairs
        ]
        for pairs in PAIRS
    ]


def tagger(features="auto"):
    return StructuredPerceptron(features, max_iter=3, random_state=0)


PLACES = {
    "tokens": lambda make: (tagger(), each(make, SENTENCES), TAGS),
    "columns": lambda make: (tagger(["U0:%x[0,0]/%x[0,1]", "U1:%x[-1,1]", "B"]), each(make, PAIRS), TAGS),
    "patterns": lambda make: (
        tagger(Patterns(["U0:%x[0,0]/%x[0,1]", "B"])), each(make, PAIRS), TAGS,
    ),
    "lists of features": lambda make: (tagger(), [[[*p] for p in s] for s in each(make, PAIRS)], TAGS),
    "dicts of features": lambda make: (tagger(), dicts(make), TAGS),
    "labels": lambda make: (tagger(), SENTENCES, each(make, TAGS)),
    "labels' weights": lambda make: (
        tagger().set_params(class_weight={make("NN"): 2.0}), SENTENCES, each(make, TAGS),
    ),
    "labels of spans": lambda make: (SpanTagger(tagger("text")), TEXTS, each(make, SPANS)),
    "texts": lambda make: (SpanTagger(tagger("text")), each(make, TEXTS), SPANS),
    "words": lambda make: (Segmenter(tagger("char")), ["the", "a"], each(make, [["t", "he"], ["a"]])),
}  # fmt: skip
"""Where a string stands -> (model, X, y) with strings made by a function."""


def learned(model):
    """All weights by name."""
    inner = getattr(model, "tagger_", model)
    return sorted(
        (name, str.__str__(label), weight)
        for name, label, weight in feature_weights(inner)
    )


def with_letters(place, make):
    """Words of a segmenter are letters, which no enumeration has."""
    return place == "words" and make is Member


@pytest.mark.parametrize("kind", ELEMENTS)
@pytest.mark.parametrize("place", PLACES)
def test_a_string_is_what_it_holds(place, kind, tmp_path):
    make = ELEMENTS[kind]
    if with_letters(place, make):
        make = Spoken
    plain, X, y = PLACES[place](str)
    other, X_other, y_other = PLACES[place](make)
    plain.fit(X, y)
    other.fit(X_other, y_other)
    assert learned(other) == learned(plain)
    for model in (plain, other):
        for corpus in (X, X_other):
            assert model.predict(corpus) == plain.predict(X)
    if (
        place == "labels' weights" and make is Spoken
    ):  # a parameter comes back as it was, or not at all
        with pytest.raises(
            TypeError, match="parameter 'class_weight' .* type Spoken cannot be saved"
        ):
            other.save(tmp_path / "model")
        return
    other.save(tmp_path / "model")
    loaded = skstruct.load(tmp_path / "model")
    assert learned(loaded) == learned(plain)
    assert loaded.predict(X_other) == plain.predict(X)
    assert set(types_in(loaded.predict(X))) <= {str, int}
    plain.partial_fit(X, y)
    other.partial_fit(X_other, y_other)
    loaded.partial_fit(X, y)
    assert learned(other) == learned(loaded) == learned(plain)


def types_in(nested):
    if isinstance(nested, (list, tuple)):
        return [kind for item in nested for kind in types_in(item)]
    return [type(nested)]


@pytest.mark.parametrize("kind", [kind for kind in ELEMENTS if kind != "str"])
@pytest.mark.parametrize(
    "place", ["tokens", "columns", "lists of features", "dicts of features"]
)
def test_an_exported_model_reads_them(place, kind, tmp_path):
    make = ELEMENTS[kind]
    model, X, y = PLACES[place](str)
    export(model.fit(X, y), tmp_path / "exported.py")
    scope = {"__name__": "exported"}
    exec(
        compile((tmp_path / "exported.py").read_text("utf-8"), "exported.py", "exec"),
        scope,
    )
    assert scope["predict"](PLACES[place](make)[1]) == model.predict(X)


def test_exported_labels_are_the_strings(tmp_path):
    y = each(Member, TAGS)
    export(tagger().fit(SENTENCES, y), tmp_path / "exported.py")
    run = [sys.executable, tmp_path / "exported.py"]
    found = subprocess.run(
        run, input="the\ndog\n", capture_output=True, text=True, check=True
    )
    assert found.stdout == "the DT\ndog NN\n"
    report = export(tagger().fit(SENTENCES, y), tmp_path / "exported.js")
    assert "Member" not in (tmp_path / "exported.js").read_text("utf-8"), report


@pytest.mark.parametrize("model", [tagger(), L1CRF(max_iter=5)])
def test_predictions_give_back_the_objects_of_training(model):
    found = model.fit(SENTENCES, each(Member, TAGS)).predict(SENTENCES)
    assert set(types_in(found)) == {Member}
    assert set(map(type, model.classes_)) == {Member}
    mixed = [
        [Member("DT"), "NN", "VB"],
        *TAGS[1:],
    ]  # one label each, whatever its type is
    assert sorted(model.fit(SENTENCES, mixed).classes_) == ["DT", "NN", "VB"]


def test_arcs_and_their_words():
    trees = [[(2, "DT"), (3, "NN"), (0, "VB")]] * 3
    words = PAIRS[:3]
    plain, other = (
        ShiftReduceParser(max_iter=2, random_state=0, projectivize="pseudo")
        for _ in range(2)
    )
    plain.fit(words, trees)
    other.fit(each(Member, words), each(Member, trees))
    for X in (words, each(Member, words)):
        assert plain.predict(X) == other.predict(X) == trees


def test_a_span_does_not_spoil_the_labels_of_later_ones():
    """What is remembered of labels is found by equality, which members of enumerations have."""
    assert spans_to_labels([(0, 2, Spoken("unheard"))], 2, "BIO") == [
        "B-unheard",
        "I-unheard",
    ]
    assert spans_to_labels([(0, 2, "unheard")], 2, "BIO") == ["B-unheard", "I-unheard"]
    assert type(spans_to_labels([(0, 1, Spoken("of"))], 1, "IO")[0]) is str


def test_names_and_displays_say_the_string():
    X = each(Member, PAIRS)
    names = TokenVectorizer(["U0:%x[0,1]"]).fit(X).get_feature_names_out()
    assert names.tolist() == ["U0:DT", "U0:NN", "U0:VB"]
    model = tagger().fit(SENTENCES, each(Member, TAGS))
    for shown in (
        skstruct.inspection.explain(model, SENTENCES[0]),
        skstruct.inspection.feature_weights(model),
    ):
        assert "Member" not in str(shown) + shown._repr_html_()


# --------------------------------------------------------------------------------------------------
# Containers
# --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", CONTAINERS)
@pytest.mark.parametrize("place", ["tokens", "labels", "texts"])
def test_a_container_is_its_elements(place, kind, tmp_path):
    make = CONTAINERS[kind]
    plain, X, y = PLACES[place](str)
    plain.fit(X, y)
    other, X_other, y_other = PLACES[place](str)
    if place == "tokens":
        X_other = list(map(make, X))
    elif place == "labels":
        y_other = list(map(make, y))
    else:
        X_other = make(X)
    other.fit(X_other, y_other).save(tmp_path / "model")
    assert learned(other) == learned(plain)
    for model in (other, plain, skstruct.load(tmp_path / "model")):
        assert model.predict(X_other) == plain.predict(X)
        assert set(types_in(model.predict(X_other))) <= {str, int}
    assert learned(other.partial_fit(X_other, y_other)) == learned(
        plain.partial_fit(X, y)
    )
    if place == "labels":
        assert skstruct.metrics.token_accuracy_score(y_other, y) == 1.0


@pytest.mark.parametrize("kind", TABLES)
def test_a_table_is_its_columns(kind, tmp_path):
    make = TABLES[kind]
    plain, X, y = PLACES["columns"](str)
    plain.fit(X, y)
    other = PLACES["columns"](str)[0].fit(list(map(make, X)), y)
    other.save(tmp_path / "model")
    assert learned(other) == learned(plain)
    for model in (other, plain, skstruct.load(tmp_path / "model")):
        assert model.predict(list(map(make, X))) == model.predict(X) == plain.predict(X)
    assert learned(other.partial_fit(list(map(make, X)), y)) == learned(
        plain.partial_fit(X, y)
    )


RAGGED = [*PAIRS, [("a", "DT")]]


@pytest.mark.parametrize("form", [np.array, lambda X, _: object_array(X)])
def test_equal_lengths_change_no_meaning(form):
    equal, ragged = form(PAIRS, object), object_array(RAGGED)
    assert (
        as_tokens(equal).called
        == as_tokens(ragged).called
        == "strings or tuples of strings"
    )
    assert as_tokens(equal).tokens == as_tokens(PAIRS).tokens
    assert (
        as_tokens([np.array(s, object) for s in RAGGED]).tokens
        == as_tokens(RAGGED).tokens
    )
    assert (
        as_tokens([*map(np.array, PAIRS[:1]), [], *PAIRS[1:]]).tokens
        == as_tokens(PAIRS).tokens
    )
    assert (
        as_tokens([*PAIRS[:1], *map(np.array, PAIRS[1:])]).tokens
        == as_tokens(PAIRS).tokens
    )


def test_one_column_is_that_of_a_frame():
    frame = pandas.DataFrame({"word": SENTENCES[0]})
    assert (
        as_tokens([frame.to_numpy()]).tokens
        == as_tokens([frame]).tokens
        == SENTENCES[0]
    )
    with pytest.raises(
        ValueError, match=r"X has 3 dimensions with one column: write X\[:, :, 0\]"
    ):
        as_tokens(np.array([[["a"], ["b"]]], object))


MIXED = pandas.DataFrame({"size": [1.5, 2.5, 1.5], "id": ["007", "1e3", "7"]})


def test_strings_that_look_like_numbers_are_strings():
    arrays, frames = as_tokens([MIXED.to_numpy()]), as_tokens([MIXED])
    assert arrays.called == frames.called == "strings with numbers"
    assert arrays.tokens == frames.tokens == ["007", "1e3", "7"]
    assert arrays.matrix.tolist() == frames.matrix.tolist() == [[1.5], [2.5], [1.5]]
    assert arrays[0].tolist() == MIXED.to_numpy().tolist()  # in the user's own form
    y = [["a", "b", "c"]]
    models = [tagger(["U0:%x[0,0]"]).fit([X], y) for X in (MIXED, MIXED.to_numpy())]
    assert learned(models[0]) and learned(models[1])
    for read in ("predict", "decision_function"):
        both = [
            getattr(a, read)([b])[0] for a, b in zip(models, (MIXED.to_numpy(), MIXED))
        ]
        assert np.array_equal(*both)
    with pytest.raises(ValueError, match="row 0, column 1 holds str '007'"):
        SequenceMatrix(MIXED.to_numpy(), [3])
    with pytest.raises(
        ValueError, match="position 0, column 1: expected a number, got str '007'"
    ):
        as_tokens([[[1.5, "007"]]])
    with pytest.raises(
        ValueError, match="position 1: column 'n': expected a number, got str '007'"
    ):
        as_tokens([pandas.DataFrame({"n": pandas.Series([1.5, "007"], dtype=object)})])
    with pytest.raises(ValueError, match="position 1, column 0 has no value"):
        as_tokens([np.array([["a", "b"], [None, "b"]], object)])


def test_transformers_get_arrays_with_columns_whole():
    from sklearn.compose import make_column_transformer
    from sklearn.preprocessing import OneHotEncoder

    transformer = TokenTransformer(
        make_column_transformer((OneHotEncoder(), [1]), remainder="passthrough")
    )
    found = transformer.fit_transform([MIXED.to_numpy()]).matrix
    assert np.asarray(found, float)[:, -1].tolist() == [1.5, 2.5, 1.5]
    assert found.shape == (3, 4)


def test_columns_are_as_many_everywhere():
    with pytest.raises(
        ValueError, match="X: sequence 1 has 1 column, expected 2 like sequence 0"
    ):
        as_tokens([np.array(PAIRS[0]), np.array([["a"]])])
    with pytest.raises(
        ValueError,
        match="X: sequence 1 is list .*, sequence 0 is an array with 2 columns",
    ):
        as_tokens([np.array(PAIRS[0]), [["a", "b"]]])


# --------------------------------------------------------------------------------------------------
# Categories and tensors
# --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("new", [[8, 7], [8, 9], [9]])
def test_categories_are_strings_whatever_they_are(new):
    frames = [
        pandas.DataFrame({"id": pandas.Categorical(ids)}) for ids in ([7, 8], new, [])
    ]
    found = as_tokens(frames)
    assert found.called == "strings or tuples of strings"
    assert found.tokens == ["7", "8", *map(str, new)]
    numbers = pandas.DataFrame({"id": new})
    message = "X: sequence 1: the column 'id' holds numbers, that of sequence 0 categories; write df"
    with pytest.raises(ValueError, match=message):
        as_tokens([frames[0], numbers])
    model = tagger().fit([frames[0]], [["a", "b"]])
    with pytest.raises(
        ValueError, match="expected strings or tuples of strings as in training"
    ):
        model.predict([numbers])


ROWS = [np.eye(3), np.eye(3)[:2]]
NUMBERS = [[0, 1, 2], [0, 1]]


@pytest.mark.parametrize(
    "X",
    [
        list(map(Tensor, ROWS)),
        [list(map(Tensor, rows)) for rows in ROWS],
        object_array(ROWS),
    ],
)
@pytest.mark.parametrize(
    "y", [list(map(Tensor, NUMBERS)), [list(map(Tensor, y)) for y in NUMBERS]]
)
def test_what_has_an_array_is_one(X, y):
    plain, other = tagger().fit(ROWS, NUMBERS), tagger().fit(X, y)
    assert learned_numbers(other) == learned_numbers(plain)
    assert other.predict(X) == plain.predict(ROWS) == NUMBERS
    assert other.score(X, y) == 1.0


def learned_numbers(model):
    return [tuple(each) for each in feature_weights(model)]


def test_tensors_of_three_dimensions_and_matrices():
    rows = np.arange(24.0).reshape(2, 3, 4)
    assert np.array_equal(as_tokens(Tensor(rows)).matrix, rows.reshape(6, 4))
    assert (
        SequenceMatrix(Tensor(np.eye(3)), Tensor([3])).matrix.tolist()
        == np.eye(3).tolist()
    )
    with pytest.raises(ValueError, match="X is one matrix of 3 rows"):
        as_tokens(Tensor(np.eye(3)))


def test_a_tensor_that_cannot_be_read():
    class Far(Tensor):
        def __array__(self, dtype=None, copy=None):
            raise TypeError("copy it to the host first")

    for X in ([np.eye(2), Far(np.eye(2))], [Far(np.eye(2))]):
        place = f"X: sequence {len(X) - 1}: the Far cannot be read as an array: copy it to the host first"
        with pytest.raises(ValueError, match=place):
            as_tokens(X)


# --------------------------------------------------------------------------------------------------
# Labels that do not go together, and weights of tokens
# --------------------------------------------------------------------------------------------------
def test_labels_of_two_types_are_refused_by_transformers():
    from sklearn.tree import DecisionTreeClassifier

    with pytest.raises(
        ValueError,
        match="y: sequence 0, position 1: expected a label of type int, got str 'b'",
    ):
        TokenPredictions(DecisionTreeClassifier(), cv=2).fit_transform(
            [np.eye(2)] * 4, [[1, "b"]] * 4
        )
    found = TokenPredictions(DecisionTreeClassifier()).fit(
        [np.eye(2)] * 4, [[Member("DT"), "NN"]] * 4
    )
    assert found.classes_.tolist() == ["DT", "NN"]


WEIGHTS = [
    [[1.0, 0.2], [1.0]],
    [[1.0, 0.2], [1.0, 1.0]],
    np.ones((2, 1)),
    [np.ones(2), Tensor(np.ones(1))],
]


def weighted():
    """Verbs that take weights, by name."""
    from sklearn.tree import DecisionTreeClassifier

    X, y = [["a", "b"], ["c"]], [["A", "B"], ["A"]]
    texts, spans = ["Ann sleeps", "a dog"], [[(0, 3, "PER")], []]
    rows = [np.eye(2), np.eye(2)[:1]]
    model, crf, metrics = tagger().fit(X, y), L1CRF(max_iter=2), skstruct.metrics
    spanned = SpanTagger(tagger("text")).fit(texts, spans)
    trees = [("a", "DT"), ("dog", "NN")], [(2, "x"), (0, "y")]
    mixer = skstruct.ParameterMixer(tagger(), 2)
    return {
        "fit": lambda w: tagger().fit(X, y, sample_weight=w),
        "partial_fit": lambda w: tagger().partial_fit(X, y, sample_weight=w),
        "score": lambda w: model.score(X, y, sample_weight=w),
        "L1CRF": lambda w: crf.fit(X, y, sample_weight=w),
        "shards of a CRF": lambda w: crf.fit_shards([lambda: (X, y, w)]),
        "averager": lambda w: skstruct.BaggingShuffleAverager(tagger(), 2).fit(
            X, y, sample_weight=w
        ),
        "mixer": lambda w: mixer.fit(X, y, sample_weight=w),
        "calibrated": lambda w: skstruct.CalibratedTagger(tagger(), cv=2).fit(
            X, y, sample_weight=w
        ),
        "spans": lambda w: SpanTagger(tagger("text")).fit(
            texts, spans, sample_weight=w
        ),
        "score of spans": lambda w: spanned.score(texts, spans, sample_weight=w),
        "words": lambda w: Segmenter(tagger("char")).fit(
            ["ab", "c"], [["ab"], ["c"]], sample_weight=w
        ),
        "trees": lambda w: ShiftReduceParser().fit(
            [trees[0]] * 2, [trees[1]] * 2, sample_weight=w
        ),
        "metric": lambda w: metrics.token_accuracy_score(y, y, sample_weight=w),
        "transformer": lambda w: TokenPredictions(DecisionTreeClassifier(), cv=2).fit(
            rows, y, sample_weight=w
        ),
    }


@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("verb", weighted())
def test_weights_of_tokens(verb, weight):
    message = "sample_weight: sequence 0 has .*give one number a sequence; a token with the label None"
    with pytest.raises(ValueError, match=message):
        weighted()[verb](weight)


# --------------------------------------------------------------------------------------------------
# What people write instead
# --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "X, y, message",
    [
        (
            [["a"]],
            '[["A"]]',
            r"y must be .*; it looks like JSON, write y = json.loads\(y\)",
        ),
        (
            [["a"]],
            ['["A", "B"]'],
            "y: sequence 0 is .*; it looks like JSON, write y = .json.loads",
        ),
        (
            '[["a", "b"]]',
            [["A"]],
            r"X must be .*; it looks like JSON, write X = json.loads\(X\)",
        ),
        ([["a"]], "A B", "y must be a list of lists of labels, got str 'A B'$"),
        ([["a", "b"]], [["A"]], "got 2 tokens and 1 label$"),
        ([["a"]], [["A", "B"]], "got 1 token and 2 labels$"),
        ([np.eye(2)], [["A"]], "1 label but 2 rows; "),
        ([np.eye(2)[:1]], [["A", "B"]], "2 labels but 1 row; "),
    ],
)
def test_advice_fits_what_was_given(X, y, message):
    with pytest.raises(ValueError, match=message):
        tagger().fit(X, y)
