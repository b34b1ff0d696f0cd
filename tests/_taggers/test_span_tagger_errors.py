"""What SpanTagger says of spans that are moved or left out, of bad input, wrong taggers
and parameters.
"""

import pickle
import re
import warnings

import inside
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction import DictVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline

from skstruct import (
    L1CRF,
    BaggingShuffleAverager,
    CalibratedTagger,
    ParameterMixer,
    PassiveAggressiveTagger,
    Segmenter,
    ShiftReduceParser,
    SpanSets,
    SpanTagger,
    StructuredPerceptron,
)

X = [
    "Ann Lee lives in Rome.",
    "Bob Lee left Paris.\nHe met Ann.",
    "",
    "In Rome, Ann met Bob.",
    " \n ",
] * 2
y = [
    [(0, 7, "PER"), (17, 21, "LOC")],
    [(0, 7, "PER"), (13, 18, "LOC"), (27, 30, "PER")],
    [],
    [(17, 20, "PER"), (3, 7, "LOC"), (9, 12, "PER")],
    [],
] * 2


def perceptron(**parameters):
    return StructuredPerceptron(random_state=0, **parameters)


# -- spans that change -----------------------------------------------------------------
def test_one_warning_a_fit():
    moved = [[(0, 2, "PER"), (4, 6, "PER"), (17, 18, "LOC")], *y[1:]]
    text = (
        "3 of 24 spans do not end where tokens do: 2 moved to the nearest token, 1 left unknown; "
        "to list them: alignment_report(X, y)"
    )
    n = sum(map(len, moved))
    with pytest.warns(UserWarning) as caught:
        model = SpanTagger(perceptron()).fit(X, moved)
    assert [str(each.message) for each in caught] == [text.replace("24", str(n))]
    assert model.alignment_["moved"] == 2 and model.alignment_["unknown"] == 1
    report = SpanTagger().alignment_report(X, moved)
    assert report.counts == model.alignment_
    assert [(*m[:2], m[3], m[4]) for m in report.moves] == [
        (0, 0, "moved", (0, 3, "PER")), (0, 1, "moved", (4, 7, "PER")), (0, 2, "unknown", None),
    ]  # fmt: skip


def test_spans_left_out_are_warned_of():
    with pytest.warns(UserWarning) as caught:
        SpanTagger(perceptron(), overlap="longest").fit(
            ["Ann Lee met Bob.", "Rome \u200b is far."],
            [
                [(0, 7, "PER"), (4, 7, "PER"), (3, 4, "PER"), (13, 14, "PER")],
                [(0, 4, "LOC"), (4, 6, "LOC")],
            ],
        )
    assert [str(each.message) for each in caught] == [
        "1 of 6 spans does not end where tokens do: 1 left unknown; 3 of 6 spans are left out: 2 without a "
        'token, 1 overlapping others (overlap="by-type" learns them, but for two of one type); to list them: alignment_report(X, y)'
    ]
    with pytest.warns(
        UserWarning,
        match="^1 of 1 span is left out: 1 without a token; to list them: alignment_report",
    ):
        SpanTagger(perceptron()).partial_fit(
            ["Ann met Bob.", "Rome"], [[(3, 4, "PER")], []]
        )
    with warnings.catch_warnings():
        warnings.simplefilter(
            "error"
        )  # white space at the ends and duplicates change nothing
        SpanTagger(perceptron()).fit(
            ["Ann Lee met Bob."], [[(0, 8, "PER"), (0, 7, "PER"), (3, 4, None)]]
        )


# -- bad input -------------------------------------------------------------------------
BAD_TAGGERS = [
    perceptron(constraints="BIO"),
    BaggingShuffleAverager(perceptron(constraints="BIO")),
]


@pytest.mark.parametrize("tagger", BAD_TAGGERS)
def test_constraints(tagger):
    with pytest.raises(
        ValueError,
        match="='BIO', but scheme='BIOES': leave constraints out, or let both",
    ):
        SpanTagger(tagger).fit(X, y)
    assert SpanTagger(tagger, scheme="BIO").fit(X, y).score(X, y) == 1.0
    around = CalibratedTagger(BaggingShuffleAverager(), cv=2)
    fitted = SpanTagger(around, scheme="BILOU").fit(X, y).tagger_
    assert (
        fitted.estimator.estimator.constraints == "BILOU"
        and around.estimator.estimator is None
    )
    pairs = [("O", "O"), ("O", "S-PER")]
    assert (
        inside.new_tagger_of(SpanTagger(perceptron(constraints=pairs))).constraints
        == pairs
    )


BAD = [
    (
        "Ann",
        [[]],
        {},
        "X must be a list of texts, got str 'Ann'; use [text] for one text",
    ),
    ([1], [[]], {}, "X: sequence 0: expected a text (str), got int 1"),
    (X[:3], [[]], {}, "X has 3 texts, y has 1 lists of spans"),
    (
        X[:1],
        [[(0, 3)]],
        {},
        "y: sequence 0, position 0: expected (start, end, label), got tuple (0, 3)",
    ),
    (
        X[:1],
        [{"entities": []}],
        {},
        "got dict {'entities': []}; write y = [each['entities'] for each in y]",
    ),
    (
        X[:1],
        {"entities": []},
        {},
        "got dict {'entities': []}; write y = [y['entities']]",
    ),
    (
        [" ", ""],
        [[], []],
        {},
        "X holds no token: at least one text that is not white space is needed",
    ),
    ([], [], {}, "X is empty: at least one text is needed"),
    (X, y, {"tokenizer": "(["}, "got '([' (unterminated character set at position 1)"),
    (
        X,
        y,
        {"align": "near"},
        "The 'align' parameter of SpanTagger must be a str among",
    ),
    (
        X,
        y,
        {"scheme": "BI"},
        "The 'scheme' parameter of SpanTagger must be a str among",
    ),
    (X, y, {"max_length": 0}, "The 'max_length' parameter of SpanTagger"),
]


@pytest.mark.parametrize("method", ["fit", "partial_fit", "alignment_report"])
@pytest.mark.parametrize("X_bad, y_bad, parameters, message", BAD)
def test_bad_input_changes_nothing(X_bad, y_bad, parameters, message, method):
    model = SpanTagger(perceptron()).fit(X, y)
    before = pickle.dumps(model)
    model.set_params(**parameters)
    if method == "alignment_report" and "no token" in message or X_bad == []:
        return
    with pytest.raises(ValueError, match=re.escape(message)):
        getattr(model, method)(X_bad, y_bad)
    model.set_params(**{name: getattr(SpanTagger(), name) for name in parameters})
    assert pickle.dumps(model) == before


# -- wrong taggers and parameters ------------------------------------------------------
@pytest.mark.parametrize(
    "tagger",
    [
        LogisticRegression(),
        LinearRegression(),
        DummyClassifier(),
        make_pipeline(DictVectorizer(), LogisticRegression()),
    ],
)
@pytest.mark.parametrize("kind", [SpanTagger, Segmenter])
def test_classifiers_of_single_rows_are_no_taggers(kind, tagger):
    corpus = (X, y) if kind is SpanTagger else (["ab c", "d"], [["ab", "c"], ["d"]])
    with pytest.raises(
        TypeError,
        match=rf"the tagger of {kind.__name__} must label sequences, .*L1CRF\(\)\); ",
    ) as e:
        kind(tagger).fit(*corpus)
    assert f"{type(tagger).__name__} is a " in str(e.value) and str(
        e.value.__cause__
    ) in str(e.value)


@pytest.mark.parametrize(
    "kind, args, given, call",
    [
        (
            SpanTagger,
            (),
            {"random_state": 3},
            "SpanTagger(BaggingShuffleAverager(estimator=StructuredPerceptron("
            "dropout=0.1, max_iter='auto'), n_estimators='auto', random_state=3))",
        ),
        (
            SpanTagger,
            (L1CRF(c1=0.2),),
            {"max_iter": 9},
            "SpanTagger(L1CRF(c1=0.2, max_iter=9))",
        ),
        (Segmenter, (), {"tagger": L1CRF(), "c2": 0.5}, "Segmenter(L1CRF(c2=0.5))"),
    ],
)
def test_parameters_of_the_tagger(kind, args, given, call):
    with pytest.raises(
        TypeError,
        match=f"has no parameter '.*', its tagger has: write {re.escape(call)}$",
    ):
        kind(*args, **given)
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        kind(*args, colour=3)


@pytest.mark.parametrize("call", ["predict", "predict_kbest", "predict_segment_proba"])
def test_parameters_that_are_set_after_fitting(call):
    model = SpanTagger(L1CRF(c1=0.1, random_state=0)).fit(X, y)
    for name, value, message in (
        ("max_length", 0, "int in the range"),
        ("tokenizer", 5, "got 5"),
    ):
        model.set_params(**{name: value})
        with pytest.raises(ValueError, match=message):
            getattr(model, call)(X)
        model.set_params(**{name: getattr(SpanTagger(), name)})
    assert model.score(X, y) == 1.0


@pytest.mark.parametrize(
    "kind",
    [StructuredPerceptron, PassiveAggressiveTagger, L1CRF, SpanTagger, Segmenter, ShiftReduceParser,
     BaggingShuffleAverager],
)  # fmt: skip
def test_fit_without_y_names_the_class_and_what_it_takes(kind):
    with pytest.raises(
        TypeError,
        match=rf"^{kind.__name__}\.fit\(X, y, .*\): missing a required argument: 'y'$",
    ):
        kind().fit(X)


# -- nothing to score ------------------------------------------------------------------
ANN = ["Ann lives in Rome ", " Bob"]
PEOPLE = [[(0, 3, "P")], [(1, 4, "P")]]
BLANK = [[(0, 4, None), (3, 18, None)], [(0, 4, None)]]


def span_model(around):
    if around is not SpanSets:
        tagger = SpanTagger(StructuredPerceptron(max_iter=3, random_state=0))
        return tagger if around is None else around(tagger, random_state=0)
    tagger = SpanTagger(L1CRF(c1=0.1, random_state=0)).fit(ANN * 9, PEOPLE * 9)
    return SpanSets(FrozenEstimator(tagger), recall=0.5)


@pytest.mark.parametrize("around", [None, ParameterMixer, SpanSets])
def test_texts_that_nobody_annotated_have_no_score(around):
    """Also through whatever is around the tagger; one that only some parts are known of
    has one.
    """
    model = span_model(around).fit(ANN * 9, PEOPLE * 9)
    with pytest.raises(
        ValueError, match="there is nothing to score: y says that no part"
    ):
        model.score(ANN, BLANK)
    assert (
        0.0 <= model.score(ANN, [[(0, 4, None)], BLANK[1]]) <= 1.0
    )  # "in Rome": no span there
    assert 0.0 <= model.score(ANN, [[], BLANK[1]]) <= 1.0
    assert 0.0 <= model.score(ANN, [[*BLANK[0], (0, 3, "P")], BLANK[1]]) <= 1.0


def test_what_is_annotated_needs_a_weight():
    tagger = SpanTagger(StructuredPerceptron(max_iter=3, random_state=0)).fit(
        ANN * 9, PEOPLE * 9
    )
    assert tagger.score(ANN, [PEOPLE[0], BLANK[1]], sample_weight=[1, 0]) == 1.0
    with pytest.raises(ValueError, match="there is nothing to score"):
        tagger.score(ANN, [PEOPLE[0], BLANK[1]], sample_weight=[0, 1])


def test_a_tokenizer_that_finds_nothing_is_named():
    with pytest.raises(ValueError, match=r"no token: tokenizer='0\+' finds none"):
        SpanTagger(tokenizer="0+").fit(X, y)
