"""Bad input: a ValueError that names the place, raised before anything changes."""

import pickle
import re
import warnings
from functools import partial

import numpy as np
import pandas
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_predict
from sklearn.utils._param_validation import InvalidParameterError

from skstruct import (
    L1CRF,
    BaggingShuffleAverager,
    FeatureTemplates,
    KBestReranker,
    ParameterMixer,
    PassiveAggressiveTagger,
    Segmenter,
    ShiftReduceParser,
    StructuredPerceptron,
    WordSegmenter,
)
from skstruct.datasets import make_hmm_sequences

NAN, INF = float("nan"), float("inf")
STR = ([["a", "b"], ["b", "a", "a"]], [["A", "B"], ["B", "A", "A"]])
TUPLE = ([[(w, w.upper()) for w in s] for s in STR[0]], STR[1])
DICT = ([[{"w": w} for w in s] for s in STR[0]], STR[1])
LIST = ([[[w] for w in s] for s in STR[0]], STR[1])
Y = STR[1]
LINES = ["U00:%x[0,0]", "B"]


def put(corpus, token, i=1, t=1):
    """The sequences of a corpus with another token at sequence i, position t."""
    X = [list(s) for s in corpus[0]]
    X[i][t] = token
    return X


# (X, y, what the message must say)
BAD_INPUT = {
    # containers
    "X is a str": ("abc", Y, "X must be a list of sequences, got str 'abc'"),
    "X is None": (None, Y, "X must be a list of sequences"),
    "X is a dict": ({"a": 1}, Y, "X must be a list of sequences"),
    "X is a generator": ((s for s in STR[0]), Y, "X must be.*generator.*list"),
    "y is None": (STR[0], None, "y must be a list of label sequences"),
    "a sequence is a str": ([["a", "b"], "baa"], Y, "X: sequence 1 .*'baa'.*list\\(text\\)"),
    "one sentence": (["Ana", "sang"], Y, "sequence 0 .*X = \\[sentence\\]; use list\\(text\\) only"),
    "one sentence of dicts": ([{"w": "a"}, {"w": "b"}], Y, "sequence 0 .*X = \\[sentence\\]$"),
    "one text": ("Ana sang", Y, "got str 'Ana sang'; write X = \\[text.split\\(\\)\\]"),
    "texts": (["Ana sang", "b c d"], Y, "sequence 0 .*; text.split\\(\\) makes tokens"),
    "labels of one sentence": (STR[0], ["A", "B"], "y: sequence 0 is the str 'A' .*write y = \\[labels\\]$"),
    "labels as text": (STR[0], ["B-PER O O", "O O"], "y: sequence 0 .*; text.split\\(\\) makes labels"),
    "all labels as text": (STR[0], "B-PER O O", "got str 'B-PER O O'; write y = \\[text.split\\(\\)\\]"),
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
    "a list among dicts": (put(DICT, ["a"]), Y, "sequence 1, position 1: expected a dict.*got list"),
    "a dict among lists": (put(LIST, {"a": 1}), Y, "sequence 1, position 1: expected a list.*got dict"),
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


def state_of(tagger):
    return {name: id(value) for name, value in vars(tagger).items()}


def check_refused(X, y, message):
    """All ways to learn refuse, and leave fitted and unfitted taggers as they were."""
    for Tagger in (StructuredPerceptron, PassiveAggressiveTagger):
        features = features_for(X) if isinstance(X, list) else LINES
        if features is LINES and message.count("tuple") + message.count("column") and X[0] != STR[0][0]:
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
@pytest.mark.parametrize("corpus", [STR, TUPLE, DICT, LIST], ids=["str", "tuple", "dict", "list"])
@pytest.mark.parametrize(
    "token", ["a", ("a", "b"), ("a",), {"a": 1}, {"a": NAN}, ["a"], ["a", 3], 3, None, b"a", ("a", 3)]
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
    with pytest.raises(ValueError, match="templates read column 1, but the tokens are plain strings"):
        two.fit(*STR)
    three = StructuredPerceptron(["U00:%x[0,0]", "B01:%x[-1,2]"])
    with pytest.raises(ValueError, match="sequence 0, position 0: .*column 2.*2 columns"):
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
    cases = {"U00:%x[0,0]\nnonsense\n": "template:2: ", "# nothing\n": "holds no template"}
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
    """It numbers 64 columns a token; the 65th would be masked with the first of the next token."""
    for n in (64, 65):
        X, y = [[tuple(f"{c}{t}" for c in range(n)) for t in range(3)]] * 4, [["A", "B", "A"]] * 4
        lines = [f"U0:%x[0,0]/%x[0,{n - 1}]"]
        for Tagger in (StructuredPerceptron, PassiveAggressiveTagger):
            assert Tagger(lines, max_iter=1).fit(X, y).predict(X) == y
            tagger = Tagger(lines, max_iter=1, dropout=0.1)
            for fit in (tagger.fit, tagger.partial_fit):
                if n == 64:
                    fit(X, y)
                    continue
                with pytest.raises(ValueError, match="dropout=0.1.* 64 columns.* column 64.* 65 columns"):
                    fit(X, y)
                assert not hasattr(tagger, "classes_")


@pytest.mark.parametrize(
    "parameters",
    [{"C": 0.0}, {"C": -1}, {"variant": "PA-III"}, {"cost": "zero"}, {"average": "always"}],
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


# -- places in a corpus that is predicted piece by piece ---------------------------------------------------
def check_place(predict, X, i, t, message):
    with pytest.raises(ValueError, match=f"sequence {i}, position {t}: {message}") as caught:
        predict(X)
    for error in (caught.value, pickle.loads(pickle.dumps(caught.value))):
        assert (error.sequence, error.position, str(error)) == (i, t, str(caught.value))


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
@pytest.mark.parametrize(
    "corpus, token, message",
    [
        (STR, 3, "expected a token of the type str, got int 3"),
        (STR, ("a",), "expected a token of the type str, got tuple"),
        (TUPLE, ("a", "A", "b"), "expected 2 columns like the first token, got 3"),
        (TUPLE, "a", "expected a tuple of strings like the first token, got str 'a'"),
        (DICT, ["a"], "expected a dict of features like the first token, got list"),
        (LIST, {"a": 1}, "expected a list of features like the first token, got dict"),
        (DICT, {"v": NAN}, "feature 'v' must be finite"),
    ],
    ids=["an int", "a tuple", "a column too many", "a str", "a list", "a dict", "a NaN"],
)
def test_places_do_not_depend_on_threads(corpus, token, message, n_jobs):
    """Also where a piece begins with the token that is wrong."""
    features = "auto" if corpus in (DICT, LIST) else LINES
    tagger = StructuredPerceptron(features, n_jobs=n_jobs, random_state=0).fit(*corpus)
    X = [corpus[0][0], *[corpus[0][1]] * 29]
    for i in (1, 7, 8, 15, 16, 22, 23, 29):
        bad = put((X, None), token, i, 0)
        check_place(tagger.predict, bad, i, 0, message)
    bad = put((X, None), token, 29, 2)
    y = [["A"] * len(s) for s in bad]
    for predict in (tagger.decision_function, tagger.predict_kbest, lambda X: tagger.score(X, y)):
        check_place(predict, bad, 29, 2, message)


def test_places_in_a_large_corpus():
    tagger = StructuredPerceptron(LINES, random_state=0).fit(*STR)
    X = [["a"] * 1000 for _ in range(300)]
    X[290][7] = 3
    for predict in (tagger.predict, tagger.decision_function):
        check_place(predict, X, 290, 7, "expected a token of the type str")


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_places_where_nothing_is_allowed(n_jobs):
    pairs = [("A", "A"), ("A", "B"), ("B", "B")]
    y = [["A", "B"], ["A", "B", "B"]]
    tagger = StructuredPerceptron(LINES, constraints=pairs, n_jobs=n_jobs, random_state=0).fit(STR[0], y)
    X = [["a", "b"]] * 30
    allowed = [[None, None]] * 29 + [["B", "A"]]
    for predict in (tagger.predict, tagger.predict_kbest):
        with pytest.raises(ValueError, match="^sequence 29: .* leave no labelling"):
            predict(X, allowed=allowed)
    allowed[29] = [None, "C"]
    with pytest.raises(ValueError, match="allowed: sequence 29, position 1: str 'C' is not a label"):
        tagger.predict(X, allowed=allowed)
    with pytest.raises(ValueError, match="^X and allowed must hold the same number of .*, got 30 and 2"):
        tagger.predict(X, allowed=allowed[:2])
    allowed[29] = [None]
    with pytest.raises(ValueError, match="^X and allowed: sequence 29: as many labels as tokens"):
        tagger.predict(X, allowed=allowed)


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("kind", ["averager", "mixer", "re-ranker"])
def test_places_around_a_tagger(kind, n_jobs):
    tagger = StructuredPerceptron(LINES, random_state=0)
    model = {
        "averager": BaggingShuffleAverager(tagger, n_estimators=2, n_jobs=n_jobs),
        "mixer": ParameterMixer(tagger, n_shards=2, n_jobs=n_jobs),
        "re-ranker": KBestReranker(tagger, k=2, cv=2, max_iter=1, n_jobs=n_jobs),
    }[kind].fit(*STR)
    X = [[], *[["a", "b"]] * 28, ["a", 3], ["b"]]
    check_place(model.predict, X, 29, 1, "expected a token of the type str, got int 3")


def test_places_in_texts_that_are_mixed():
    """Empty texts are left out before the tagger sees them, and count all the same."""
    tagger = StructuredPerceptron("char", constraints=[("B", "E"), ("E", "S")], random_state=0)
    X, y = ["", "ab", "", "abab"], [[], ["ab"], [], ["ab", "ab"]]
    message = "^y: sequence 3, position 2: the label 'B' cannot follow 'E'"
    for model in (Segmenter(tagger), ParameterMixer(Segmenter(tagger), n_shards=1)):
        with pytest.raises(ValueError, match=message):
            model.fit(X, y)
    with pytest.raises(ValueError, match="^shard 0: y: sequence 3, position 2: the label 'B'"):
        ParameterMixer(Segmenter(tagger)).fit_shards([lambda: (X, y)])


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_places_around_a_segmenter(n_jobs):
    tagger = StructuredPerceptron("char", constraints="BMES", n_jobs=n_jobs, random_state=0)
    segmenter = Segmenter(tagger).fit(["ab", "abab"], [["ab"], ["ab", "ab"]])
    # One character alone: a word of one character was never seen.
    with pytest.raises(ValueError, match="^sequence 40: .* leave no labelling"):
        segmenter.predict(["", "ab"] * 20 + ["a"])


def test_places_in_what_early_stopping_holds_out():
    X, y = [["a", "b"]] * 20, [["A", "B"]] * 20
    tagger = StructuredPerceptron(
        LINES, early_stopping=True, validation_fraction=0.3, max_iter=1, random_state=0
    )
    for i in range(1, 20):
        with pytest.raises(ValueError, match=f"X: sequence {i}, position 1: .*got int 3"):
            tagger.fit(put((X, y), 3, i), y)


# -- before the first fit ------------------------------------------------------------------------------
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


# -- labels --------------------------------------------------------------------------------------------
NO_LABEL = "class_weight: 'N' is no label of y and has no effect; the labels are 'A', 'B'"


@pytest.mark.parametrize("kind", [StructuredPerceptron, PassiveAggressiveTagger, L1CRF])
def test_class_weight_for_a_label_that_does_not_occur(kind):
    """A misspelt label is not passed over in silence; a fold that lacks a rare one can be trained on."""
    tagger = kind(LINES, class_weight={"A": 2.0, "N": 3.0}, random_state=0)
    with pytest.warns(UserWarning, match=NO_LABEL):
        tagger.fit(*STR)
    X, y = [*STR[0], ["n"]], [*STR[1], ["N"]]
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        tagger.fit(X, y)
        if kind is not L1CRF:  # in a stream the label may be still to come
            stream = kind(LINES, class_weight={"N": 3.0}, random_state=0).partial_fit(*STR)
            assert "N" in stream.partial_fit([["n"]], [["N"]]).classes_


def test_class_weight_where_parts_of_the_corpus_lack_the_label():
    X, y = [*STR[0] * 5, ["n"]], [*STR[1] * 5, ["N"]]
    tagger = StructuredPerceptron(LINES, class_weight={"N": 3.0}, random_state=0)
    halves = [lambda: (X[:5], y[:5]), lambda: (X[5:], y[5:])]
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        assert len(ParameterMixer(tagger, n_shards=2).fit(X, y).predict(X)) == len(X)
        assert "N" in ParameterMixer(tagger).fit_shards(halves).classes_
    with pytest.warns(UserWarning, match=NO_LABEL):
        assert len(cross_val_predict(tagger, X, y, cv=3)) == len(X)
    misspelt = ParameterMixer(StructuredPerceptron(LINES, class_weight={"M": 3.0}))
    with pytest.warns(UserWarning, match="class_weight: 'M' is no label of y"):
        misspelt.fit_shards(halves)


def test_classes_in_a_later_call():
    tagger = StructuredPerceptron(LINES, random_state=0).partial_fit(*STR)
    with pytest.raises(ValueError, match="all labels seen so far; 'B' missing in \\['A', 'C'\\]"):
        tagger.partial_fit(*STR, classes=["A", "C"])
    assert list(tagger.classes_) == ["A", "B"]
    tagger.partial_fit(*STR, classes=["C", "B", "A"])
    assert list(tagger.classes_) == ["A", "B", "C"]
    assert tagger.predict(STR[0]) == STR[1]
    tagger.partial_fit([["c"]], [["C"]], classes=["B", "A", "C"]).partial_fit(*STR)
    for classes in (["A", "B"], ["A", "B", "C", "D"]):
        with pytest.raises(ValueError, match="differ from those of earlier calls, \\['A', 'B', 'C'\\]"):
            tagger.partial_fit(*STR, classes=classes)
    with pytest.raises(ValueError, match="unknown label; known are 'A', 'B', 'C', got str 'D'"):
        tagger.partial_fit([["d"]], [["D"]])


def test_classes():
    tagger = StructuredPerceptron(LINES)
    for classes, message in [
        ([], "at least one label"),
        (["A"], "y: sequence 0, position 1: unknown label.*'A'.*got str 'B'"),
        (["A", 3], "one type"),
        (["A", None], "one type"),
        ([["A"], ["B"]], "sort"),
    ]:
        with pytest.raises(ValueError, match=message):
            tagger.partial_fit(*STR, classes=classes)
        assert not hasattr(tagger, "classes_")


# -- a failed continuation -----------------------------------------------------------------------------
def continuation(corpus, **options):
    features = "auto" if corpus in (DICT, LIST) else LINES
    return StructuredPerceptron(features, warm_start=True, random_state=0, **options).fit(*corpus)


def check_unchanged(tagger, X, learn, error, new):
    """``learn`` raises; afterwards the model predicts as before, what it has not learned included."""
    before = state_of(tagger)
    results = tagger.predict_kbest([*X, new], 9), tagger.n_features()
    with pytest.raises(error):
        learn()
    assert state_of(tagger) == before
    assert tagger.n_features() == results[1]
    assert tagger.predict_kbest([*X, new], 9) == results[0]


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize("corpus", [STR, TUPLE], ids=["str", "tuple"])
def test_continuation_refused_for_its_input(corpus, method):
    tagger = continuation(corpus)
    new = "new" if corpus is STR else ("new", "NEW")
    for X, y in [([[new, new], [new, 3]], Y), ([[new]], [["A", "B"]]), ([[new, new]], [["A", 3]])]:
        learn = partial(getattr(tagger, method), X, y)
        check_unchanged(tagger, corpus[0], learn, ValueError, [new])


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize("corpus", [DICT, LIST], ids=["dict", "list"])
def test_continuation_of_bags_refused_for_its_input(corpus, method):
    tagger = continuation(corpus)
    X = [[{"n": "1"}, {"n": "2"}, {"n": "3"}, {"v": NAN}]]
    X = X if corpus is DICT else [[["n:1"], ["n:2"], ["n:3"], ["x", 3]]]
    learn = getattr(tagger, method)
    check_unchanged(tagger, corpus[0], lambda: learn(X, [["A", "B", "A", "B"]]), ValueError, X[0][:3])


class Fails:
    """A scikit-learn callback that raises when training begins."""

    def __init__(self, error):
        self.error = error

    def setup(self, estimator, context):
        pass

    teardown = on_fit_task_end = setup

    def on_fit_task_begin(self, estimator, context, **_):
        raise self.error


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_continuation_that_fails_before_its_first_epoch(error):
    tagger = continuation(STR)
    if not hasattr(tagger, "set_callbacks"):
        pytest.skip("scikit-learn without callbacks")
    tagger.set_callbacks(Fails(error()))
    check_unchanged(tagger, STR[0], lambda: tagger.fit([["new", "b"]], [["A", "B"]]), error, ["new"])


def test_nothing_touches_the_arguments():
    X, y = make_hmm_sequences(12, random_state=0)
    copies = [list(s) for s in X], [list(s) for s in y]
    weight = np.array([0.0, 1.0] * 6)
    tagger = StructuredPerceptron(LINES, early_stopping=True, random_state=0)
    tagger.fit(X, y, sample_weight=weight).partial_fit(X, y, sample_weight=weight)
    assert (X, y) == copies and weight.tolist() == [0.0, 1.0] * 6


def test_messages_are_short():
    long = "x" * 10_000
    with pytest.raises(ValueError) as info:
        StructuredPerceptron(LINES).fit([["a"], [long, (long,)]], [["A"], ["A", "B"]])
    assert len(str(info.value)) < 200 and re.search("sequence 1, position 1", str(info.value))
