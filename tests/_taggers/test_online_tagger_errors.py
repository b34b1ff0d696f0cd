"""Bad input: a ValueError that names the place, raised before anything changes."""

import warnings

import numpy as np
import pandas
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils._param_validation import InvalidParameterError
from tagger_error_cases import DICT, INF, LINES, LIST, NAN, STR, TUPLE, Y, put, state_of

from skstruct import (
    L1CRF,
    BaggingShuffleAverager,
    FeatureTemplates,
    KBestReranker,
    ParameterMixer,
    PassiveAggressiveTagger,
    ShiftReduceParser,
    StructuredPerceptron,
    WordSegmenter,
)

# (X, y, what the message must say)
BAD_INPUT = {
    # containers
    "X is a str": ("abc", Y, "X must be a list of sequences, got str 'abc'"),
    "X is None": (None, Y, "X must be a list of sequences"),
    "X is a dict": ({"a": 1}, Y, "X must be a list of sequences"),
    "X is a generator": ((s for s in STR[0]), Y, "X must be.*generator.*list"),
    "y is None": (STR[0], None, "y must be a list of lists of labels, got None"),
    "a sequence is a str": ([["a", "b"], "baa"], Y, "X: sequence 1 .*'baa'.*list\\(text\\)"),
    "one sentence": (["Ana", "sang"], Y, "sequence 0 .*X = \\[sentence\\]; use list\\(text\\) only"),
    "one sentence of dicts": ([{"w": "a"}, {"w": "b"}], Y, "sequence 0 .*X = \\[sentence\\]$"),
    "one text": ("Ana sang", Y, "got str 'Ana sang'; write X = \\[text.split\\(\\)\\]"),
    "texts": (["Ana sang", "b c d"], Y, "sequence 0 .*; text.split\\(\\) makes tokens"),
    "labels of one sentence": (STR[0], ["A", "B"], "y: sequence 0 is the str 'A' .*write y = \\[labels\\]$"),
    "labels as text": (STR[0], ["B-PER O O", "O O"], "y: sequence 0 .*; text.split\\(\\) makes labels"),
    "all labels as text": (STR[0], "B-PER O O", "y must be a list of lists of labels, got str 'B-PER O O'"),
    "labels left out": (STR[0], [[2, -100], [0, 1, -100]], "y: sequence 0, position 1: .*-100 .*write None"),
    "a sequence is None": ([["a", "b"], None], Y, "sequence 1 must be a list of tokens, got NoneType"),
    "a sequence is an int": ([["a", "b"], 3], Y, "X: sequence 1 must be a list of tokens, got int 3"),
    "a sequence is a dict": ([["a", "b"], {"w": 1}], Y, "X: sequence 1"),
    "a label sequence is a str": (STR[0], [["A", "B"], "BAA"], "y: sequence 1 .*'BAA'"),
    "a label sequence is an int": (STR[0], [["A", "B"], 7], "y: sequence 1"),
    "tokens without sequences": (["a", "b"], ["A", "B"], "X: sequence 0"),
    # lengths
    "12 and 5 sequences": ([["a"]] * 12, [["A"]] * 5, "same number of sequences, got 12 and 5"),
    "a label too few": (STR[0], [["A", "B"], ["B", "A"]], "sequence 1: .*got 3 tokens and 2 labels"),
    "no sequence": ([], [], "X is empty"),
    "no token": ([[], []], [[], []], "X holds no token"),
    # tokens
    "an int among str": (put(STR, 3), Y, "X: sequence 1, position 1: .*str, got int 3"),
    "a str subclass is fine, bytes not": (put(STR, b"x"), Y, "sequence 1, position 1: .*bytes"),
    "None among str": (put(STR, None), Y, "sequence 1, position 1: .*NoneType"),
    "NaN among str": (put(STR, NAN), Y, "sequence 1, position 1: .*float nan"),
    "a tuple among str": (put(STR, ("a", "b")), Y, "sequence 1, position 1: .*tuple"),
    "an unhashable among str": (put(STR, ["a"]), Y, "sequence 1, position 1: .*list"),
    "a dict among str": (put(STR, {"a": 1}), Y, "sequence 1, position 1: .*dict"),
    "a str among tuples": (put(TUPLE, "a"), Y, "sequence 1, position 1: .*tuple.*got str 'a'"),
    "an int in a tuple": (put(TUPLE, ("a", 3)), Y, "sequence 1, position 1: .*column 1, got int 3"),
    "a list in a tuple": (put(TUPLE, ("a", ["b"])), Y, "sequence 1, position 1: .*column 1, got list"),
    "a column too few": (put(TUPLE, ("a",)), Y, "sequence 1, position 1: .*column"),
    "a column too many": (put(TUPLE, ("a", "b", "c")), Y, "sequence 1, position 1: expected 2 columns"),
    "a str among dicts": (put(DICT, "a"), Y, "sequence 1, position 1: expected a dict.*got str 'a'"),
    "a tuple among lists": (put(LIST, ("a",)), Y, "sequence 1, position 1: expected a dict or a list.*tuple"),
    "no known kind": (put(STR, 3, 0, 0), Y, "X: sequence 0, position 0: a token must be .*int 3"),
    # attributes
    "a NaN attribute": (put(DICT, {"v": NAN}), Y, "sequence 1, position 1: feature 'v'.*finite.*nan"),
    "an infinite attribute": (put(DICT, {"v": -INF}), Y, "sequence 1, position 1: .*finite.*-inf"),
    "a numpy NaN": (put(DICT, {"v": np.float32("nan")}), Y, "sequence 1, position 1: .*finite"),
    "a nested NaN": (put(DICT, {"v": {"u": NAN}}), Y, "sequence 1, position 1: feature 'v:u'.*finite"),
    "a NaN after a nested": (
        [[{"v": ["x"]}, {"w": "b"}], [{"w": "b"}, {"v": NAN}, {}]], Y, "sequence 1, position 1: .*finite"
    ),
    "None as attribute": (put(DICT, {"v": None}), Y, "sequence 1, position 1: feature 'v'.*NoneType"),
    "bytes as attribute": (put(DICT, {"v": b"x"}), Y, "sequence 1, position 1: feature 'v'.*bytes"),
    "a name that is an int": (put(DICT, {3: "x"}), Y, "sequence 1, position 1: .*name.*int 3"),
    "an int in a list attribute": (put(DICT, {"v": ["a", 3]}), Y, "sequence 1, position 1: .*int 3"),
    "an int in a list token": (put(LIST, ["a", 3]), Y, "sequence 1, position 1: .*int 3"),
    "a list in a list token": (put(LIST, ["a", ["b"]]), Y, "sequence 1, position 1: .*list"),
    # labels
    "no label": (STR[0], [[None, None], [None] * 3], "y holds no label"),
    "a label of another type": (STR[0], [["A", "B"], ["A", 3, "B"]], "sequence 1, position 1: .*int 3"),
    "an unhashable label": (STR[0], [["A", "B"], ["A", ["B"], "B"]], "sequence 1, position 1: .*list"),
    "a NaN label": (STR[0], [[1.0, 2.0], [1.0, NAN, 2.0]], "y: sequence 1, position 1: .*NaN"),
    "a missing label of pandas": (
        STR[0],
        [["A", "B"], ["A", pandas.NA, "B"]],
        "y: sequence 1, position 1: .*NaN, got .*<NA>",
    ),
    "labels that do not sort": (STR[0], [[1j, 2j], [1j] * 3], "y: sequence 0.*sort"),
    "a number beyond float": (put(DICT, {"v": 10**400}), Y, "sequence 1, position 1: .*finite"),
    "a set of several types": (put(DICT, {"v": {"a", 3}}), Y, "sequence 1, position 1: .*int 3"),
    "a bool and an int": (STR[0], [[True, False], [True, 1, 0]], "sequence 1, position 1: .*int"),
}  # fmt: skip


def features_for(X):
    try:
        bag = isinstance(X[0][0], (dict, list))
    except (TypeError, KeyError, IndexError):
        bag = False
    return "auto" if bag else LINES


def check_refused(X, y, message):
    """All ways to learn refuse, and leave fitted and unfitted taggers as they were."""
    for Tagger in (StructuredPerceptron, PassiveAggressiveTagger):
        features = features_for(X) if isinstance(X, list) else LINES
        if (
            features is LINES
            and message.count("tuple") + message.count("column")
            and X[0] != STR[0][0]
        ):
            features = ["U00:%x[0,0]", "U01:%x[0,1]"]
        tagger = Tagger(features, random_state=0)
        for learn in (tagger.fit, tagger.partial_fit):
            before = state_of(tagger)
            with pytest.raises(ValueError, match=message):
                learn(X, y)
            assert state_of(tagger) == before
        fitted = Tagger(LINES, random_state=0).fit(*STR)
        before, labels = state_of(fitted), fitted.predict(STR[0])
        scores = fitted.decision_function(STR[0])
        fitted.features = features
        with pytest.raises(ValueError, match=message):
            fitted.fit(X, y)
        fitted.features = LINES
        assert state_of(fitted) | {"features": 0} == before | {"features": 0}
        assert fitted.predict(STR[0]) == labels
        assert np.array_equal(fitted.decision_function(STR[0]), scores)


@pytest.mark.parametrize("name", BAD_INPUT)
def test_bad_input(name):
    X, y, message = BAD_INPUT[name]
    if hasattr(X, "__next__"):
        X = iter(STR[0])
        message = "X must be.*list"
    check_refused(X, y, message)


# A token of the wrong kind for a model that is fitted already.
@pytest.mark.parametrize(
    "corpus", [STR, TUPLE, DICT, LIST], ids=["str", "tuple", "dict", "list"]
)
@pytest.mark.parametrize(
    "token",
    [
        "a",
        ("a", "b"),
        ("a",),
        {"a": 1},
        {"a": NAN},
        ["a"],
        ["a", 3],
        3,
        None,
        b"a",
        ("a", 3),
    ],
)
def test_prediction_refuses_other_tokens(corpus, token):
    features = "auto" if corpus in (DICT, LIST) else ["U00:%x[0,0]", "B"]
    if corpus is TUPLE:
        features = ["U00:%x[0,1]", "B"]
    tagger = StructuredPerceptron(features, random_state=0).fit(*corpus)
    bag = isinstance(token, dict) and token == {"a": 1} or token == ["a"]
    if corpus in (DICT, LIST):
        fine = bag
    elif corpus is TUPLE:
        fine = token == ("a", "b")
    else:
        fine = token == "a"
    if fine:
        assert len(tagger.predict([[token, token]])[0]) == 2
        return
    before = state_of(tagger)
    for method in (tagger.predict, tagger.decision_function, tagger.predict_kbest):
        with pytest.raises(ValueError, match="sequence 1, position 0"):
            method([[], [token]])
    good = corpus[0][0][0]
    if type(token) is not type(good) or token in (("a", 3), ["a", 3]):
        with pytest.raises(ValueError, match="X: sequence 1, position 1"):
            tagger.predict([[good], [good, token]])
    assert state_of(tagger) == before and tagger.predict(corpus[0])


def test_columns_that_the_data_lacks():
    two = StructuredPerceptron(["U00:%x[0,1]"])
    with pytest.raises(
        ValueError, match="templates read column 1, but the tokens are plain strings"
    ):
        two.fit(*STR)
    three = StructuredPerceptron(["U00:%x[0,0]", "B01:%x[-1,2]"])
    with pytest.raises(
        ValueError, match="sequence 0, position 0: .*column 2.*2 columns"
    ):
        three.fit(*TUPLE)


@pytest.mark.parametrize(
    "features",
    [
        "no such file", "words", "", [], ["V00:%x[0,0]"], ["U00:%x[0,0"], ["U00:%nope[0,0]"],
        ["U0:%x[0,0]/%x[1,0]", "U0:%x[0,0]/%x[2,0]"],
    ],
)  # fmt: skip
def test_bad_features(features):
    tagger = StructuredPerceptron(features)
    with pytest.raises(ValueError):
        tagger.fit(*STR)
    assert list(vars(tagger)) == list(vars(StructuredPerceptron()))


@pytest.mark.parametrize("features", [3, None, {"a"}, b"x"])
def test_features_of_a_wrong_type(features):
    with pytest.raises(InvalidParameterError, match="features"):
        StructuredPerceptron(features).fit(*STR)


@pytest.mark.parametrize("features", [[3], "/"])
def test_features_that_are_no_templates(features):
    with pytest.raises((ValueError, TypeError), match="template|features"):
        StructuredPerceptron(features).fit(*STR)


def test_bad_template_file(tmp_path):
    path = tmp_path / "template"
    cases = {
        "U00:%x[0,0]\nnonsense\n": "template:2: ",
        "# nothing\n": "holds no template",
    }
    for text, message in cases.items():
        path.write_text(text)
        with pytest.raises(ValueError, match=message):
            StructuredPerceptron(path).fit(*STR)


@pytest.mark.parametrize("features", [LINES, "word", FeatureTemplates(LINES)])
def test_templates_for_bags(features):
    for X, y in (DICT, LIST):
        with pytest.raises(ValueError, match="features must be 'auto'"):
            StructuredPerceptron(features).fit(X, y)


@pytest.mark.parametrize(
    "parameters",
    [
        {"max_iter": 0}, {"max_iter": 1.5}, {"order": 3}, {"alpha": -1e-3}, {"alpha": 1.0},
        {"alpha": NAN},
        {"penalty": "l3"}, {"dropout": 1.0}, {"dropout": -0.1}, {"feature_noise": "gauss"},
        {"edge_noise": "none"}, {"noise_rate": 1.0}, {"zipf_exponent": 1.0}, {"min_count": 0},
        {"early_stopping": "yes"}, {"validation_fraction": 0.0}, {"validation_fraction": 1.0},
        {"n_iter_no_change": 0}, {"tol": -1.0}, {"shuffle": None}, {"class_weight": 3},
        {"random_state": "x"}, {"n_jobs": 1.5}, {"constraints": 3}, {"verbose": -1}, {"warm_start": 3},
    ],
    ids=str,
)  # fmt: skip
def test_bad_parameters(parameters):
    (name,) = parameters
    for Tagger in (StructuredPerceptron, PassiveAggressiveTagger):
        tagger = Tagger(**parameters)
        with pytest.raises(InvalidParameterError, match=name):
            tagger.fit(*STR)
        with pytest.raises(InvalidParameterError, match=name):
            tagger.partial_fit(*STR)
        assert not hasattr(tagger, "classes_")


def test_dropout_of_many_columns():
    """It numbers 64 columns a token; the 65th would be masked with the first of the
    next token.
    """
    for n in (64, 65):
        X, y = (
            [[tuple(f"{c}{t}" for c in range(n)) for t in range(3)]] * 4,
            [["A", "B", "A"]] * 4,
        )
        lines = [f"U0:%x[0,0]/%x[0,{n - 1}]"]
        for Tagger in (StructuredPerceptron, PassiveAggressiveTagger):
            assert Tagger(lines, max_iter=1).fit(X, y).predict(X) == y
            tagger = Tagger(lines, max_iter=1, dropout=0.1)
            for fit in (tagger.fit, tagger.partial_fit):
                if n == 64:
                    fit(X, y)
                    continue
                with pytest.raises(
                    ValueError,
                    match="dropout=0.1.* 64 columns.* column 64.* 65 columns",
                ):
                    fit(X, y)
                assert not hasattr(tagger, "classes_")


@pytest.mark.parametrize(
    "parameters",
    [
        {"C": 0.0},
        {"C": -1},
        {"variant": "PA-III"},
        {"cost": "zero"},
        {"average": "always"},
    ],
    ids=str,
)
def test_bad_parameters_of_passive_aggressive(parameters):
    (name,) = parameters
    with pytest.raises(InvalidParameterError, match=name):
        PassiveAggressiveTagger(**parameters).fit(*STR)


@pytest.mark.parametrize(
    "constraints, message",
    [
        ("XYZ", "scheme"),
        ("BIO", "'A' does not belong to the scheme BIO"),
        (("A", "B"), "pairs"),
        ([["A", "B"]], "pairs"),
        ([("A", "B", "C")], "pairs"),
        ([(None, None)], "pairs"),
    ],
)
def test_bad_constraints(constraints, message):
    with pytest.raises(ValueError, match=message):
        StructuredPerceptron(LINES, constraints=constraints).fit(*STR)


def test_scheme_for_labels_that_are_not_str():
    with pytest.raises(ValueError, match="'BIO' needs labels that are str, got int"):
        StructuredPerceptron(LINES, constraints="BIO").fit(STR[0], [[1, 2], [2, 1, 1]])


# -- before the first fit --------------------------------------------------------------
@pytest.mark.parametrize(
    "estimator",
    [
        StructuredPerceptron(),
        L1CRF(),
        WordSegmenter(),
        ShiftReduceParser(),
        KBestReranker(),
        BaggingShuffleAverager(),
        BaggingShuffleAverager(L1CRF()),
        ParameterMixer(WordSegmenter()),
    ],
    ids=repr,
)
def test_features_are_not_counted_before_a_fit(estimator):
    with pytest.raises(NotFittedError):
        estimator.n_features()


@pytest.mark.parametrize("make", [StructuredPerceptron, PassiveAggressiveTagger, L1CRF])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize("kind", ["dense", "sparse", "dict"])
@pytest.mark.parametrize("value", [1e101, -1e200])
def test_values_that_are_too_large_to_be_squared(make, method, kind, value):
    """Margins would be no numbers, and nothing would be learned, or the wrong thing."""
    rows = [np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[5.0, 6.0], [value, 1.0]])]
    if kind == "sparse":
        rows = [sparse.csr_array(part) for part in rows]
    elif kind == "dict":
        rows = [[{"a": a, "b": b} for a, b in part.tolist()] for part in rows]
    tagger = make(random_state=0)
    if not hasattr(tagger, method):
        pytest.skip("no stream")
    what = "values of features must be at most 1e[+]100 in size, got "
    with (
        warnings.catch_warnings(),
        pytest.raises(ValueError, match=f"X: sequence 1, position 1: {what}"),
    ):
        warnings.simplefilter("ignore")  # of the scale
        getattr(tagger, method)(rows, [["A", "B"]] * 2)
    assert not hasattr(tagger, "classes_")
