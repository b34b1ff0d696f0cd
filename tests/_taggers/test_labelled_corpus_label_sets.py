"""Sets of labels in the place of a label, and texts of which some types are
annotated.
"""

import copy
import itertools
import pickle

import numpy as np
import pytest
from inside import model_of
from sklearn.model_selection import cross_val_score

import skstruct
from skstruct import (
    L1CRF,
    L1CRFCV,
    BaggingShuffleAverager,
    CalibratedTagger,
    KBestReranker,
    ParameterMixer,
    PartialSpans,
    PassiveAggressiveTagger,
    SpanSets,
    SpanTagger,
    StructuredPerceptron,
    inspection,
)
from skstruct.metrics import (
    paired_bootstrap,
    reliability,
    span_f1_score,
)

X = [["a", "b", "c"], ["b", "a"], ["c", "c", "a", "b"]]
Y = [
    ["A", {"A", "B"}, None],
    [frozenset(["B", "C"]), "A"],
    ["C", {"C"}, {"A", "B", "C"}, "B"],
]
PLAIN = [["A", {"A", "B"}, None], [frozenset(["B", "C"]), "A"], ["C", "C", None, "B"]]

LEARNERS = [
    StructuredPerceptron(random_state=0),
    StructuredPerceptron(order=2, random_state=0),
    PassiveAggressiveTagger(random_state=0),
    L1CRF(c1=0.01, c2=0.1, random_state=0),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_the_full_set_is_none_and_a_set_of_one_its_label(learner):
    with_sets, without = (copy.deepcopy(learner).fit(X, y) for y in (Y, PLAIN))
    for name, store in model_of(with_sets).stores().items():
        np.testing.assert_array_equal(
            store.value, model_of(without).stores()[name].value
        )


def test_probabilities_and_the_objective_sum_over_the_labels_of_sets():
    crf = L1CRF(c1=0.0, c2=0.1, random_state=0).fit(X, Y)
    found = crf.sequence_log_proba(X, Y)
    for x, y, value in zip(X, Y, found):
        ways = [
            [each] if isinstance(each, str) else sorted(each or "ABC") for each in y
        ]
        each = [
            crf.sequence_log_proba([x], [list(z)])[0] for z in itertools.product(*ways)
        ]
        assert value == pytest.approx(np.logaddexp.reduce(each))
    squares = sum((store.value**2).sum() for store in model_of(crf).stores().values())
    assert crf.objective_ == pytest.approx(0.1 * squares - found.sum())


RANDOM = np.random.RandomState(0)
WORDS = [
    [f"w{k}" for k in RANDOM.randint(0, 5, length)]
    for length in RANDOM.randint(1, 6, 30)
]


def token_labels(word, u):
    """(with sets, without those of one label or of all) of a token, given a random
    number.
    """
    label = "ABC"[int(word[1:]) % 3]
    several = frozenset([label, "A"]) if label != "A" else "A"
    return [(set("ABC"), None), ({label}, label), (several, several), (label, label)][
        min(int(u * 5), 3)
    ]


PAIRS = [
    [token_labels(*each) for each in zip(x, RANDOM.uniform(size=len(x)))] for x in WORDS
]
PAIRS[-1][:3] = [(label, label) for label in "ABC"][: len(WORDS[-1])]
LABELS, AS_PLAIN = ([[pair[k] for pair in pairs] for pairs in PAIRS] for k in (0, 1))


def crf(**parameters):
    return L1CRF(**{"c1": 0.01, "c2": 0.1, "random_state": 0} | parameters)


def of_shards(estimator, y):
    return estimator.fit_shards(
        [lambda: (WORDS[::2], y[::2]), lambda: (WORDS[1::2], y[1::2])]
    )


WEIGHTS = np.arange(len(WORDS)) % 3.0
WAYS = {
    "sample_weight": lambda e, y: e.fit(WORDS, y, sample_weight=WEIGHTS),
    "held out": lambda e, y: e.fit(WORDS, y, X_val=WORDS[:5], y_val=y[:5]),
    "balanced": lambda e, y: e.set_params(class_weight="balanced").fit(WORDS, y),
    "partial_fit": lambda e, y: e.partial_fit(WORDS[-9:], y[-9:]).partial_fit(WORDS, y),
    "early stopping": lambda e, y: e.set_params(early_stopping=True).fit(WORDS, y),
    "shards": of_shards,
    "threads": lambda e, y: e.set_params(n_jobs=2).fit(WORDS, y),
    "shown pairs": lambda e, y: e.set_params(all_pairs=False).fit(WORDS, y),
    "sgd": lambda e, y: e.set_params(solver="sgd").fit(WORDS, y),
    "owlqn": lambda e, y: e.set_params(solver="owlqn").fit(WORDS, y),
    "average": lambda e, y: BaggingShuffleAverager(e, 2, random_state=0, n_jobs=2).fit(
        WORDS, y
    ),
    "mixture": lambda e, y: ParameterMixer(e, 2, random_state=0, n_jobs=2).fit(
        WORDS, y
    ),
    "mixture of shards": lambda e, y: of_shards(ParameterMixer(e, random_state=0), y),
    "calibrated": lambda e, y: CalibratedTagger(e, cv=3, n_jobs=2).fit(WORDS, y),
    "search": lambda e, y: L1CRFCV(
        c1s=[0.1, 0.01], c2s=[0.1], cv=3, random_state=0, n_jobs=2
    ).fit(WORDS, y),
}
ONLINE = (
    "sample_weight",
    "held out",
    "balanced",
    "partial_fit",
    "early stopping",
    "average",
)
OF_CRF = (
    "sample_weight",
    "held out",
    "balanced",
    "shards",
    "threads",
    "shown pairs",
    "sgd",
    "owlqn",
    "average",
)


@pytest.mark.parametrize(
    ("learner", "way"),
    [(learner, way) for learner in LEARNERS[:3] for way in ONLINE]
    + [(LEARNERS[3], way) for way in OF_CRF],
    ids=str,
)
def test_every_way_of_training(learner, way):
    """Sets of one label and of all are labels and None to the bit, among others, also
    from a file.
    """
    with_sets, without = (
        WAYS[way](copy.deepcopy(learner), y) for y in (LABELS, AS_PLAIN)
    )
    assert getattr(with_sets, "temperature_", 1.0) == getattr(
        without, "temperature_", 1.0
    )
    for name, store in model_of(with_sets).stores().items():
        np.testing.assert_array_equal(
            store.value, model_of(without).stores()[name].value
        )
    assert with_sets.score(WORDS, LABELS) >= 0.8


def test_shards_have_the_objective_of_the_whole(tmp_path):
    """Some labels stand only in sets of one shard."""
    X = [["a", "b"], ["b", "c"]]
    Y = [["A", {"A", "B"}], ["A", "A"]], [["C", {"A", "C", "E"}], ["D", "A"]]
    shards = crf(tol=1e-8).fit_shards([lambda: (X, Y[0]), lambda: (X, Y[1])])
    whole = crf(tol=1e-8).fit(X * 2, [*Y[0], *Y[1]])
    assert shards.classes_.tolist() == whole.classes_.tolist() == list("ABCDE")
    assert shards.objective_ == pytest.approx(whole.objective_)
    whole.save(tmp_path / "crf.skstruct")
    assert skstruct.load(tmp_path / "crf.skstruct").predict(X) == whole.predict(X)


def test_later_calls_know_labels_that_stood_in_sets():
    tagger = StructuredPerceptron().partial_fit([["a", "b"]], [["A", {"B", "C"}]])
    assert tagger.partial_fit(
        [["a", "b"]], [["A", {"D", "C"}]]
    ).classes_.tolist() == list("ABCD")
    with pytest.raises(
        ValueError,
        match="sequence 0, position 1: unknown label; choose from .* got str 'E'",
    ):
        StructuredPerceptron().partial_fit(
            [["a", "b"]], [["A", {"B", "E"}]], classes=list("ABCD")
        )


TAGS = [
    ["B-P", "O", {"O", "B-L"}, "B-L"],
    ["B-P", frozenset({"O", "I-P"}), "B-L", "O"],
] * 10
TAGGED = [["Ann", "went", "to", "Rome"], ["Bob", "saw", "Oslo", "."]] * 10
BEST = [["B-P", "O", "O", "B-L"], ["B-P", "O", "B-L", "O"]] * 10
NEEDS_ONE_LABEL = {
    "errors": lambda tagger, y: inspection.errors(tagger, TAGGED, y),
    "report": lambda tagger, y: inspection.report(tagger, TAGGED, y),
    "render": lambda tagger, y: inspection.render(TAGGED, y),
    "confusion": lambda tagger, y: inspection.LabelConfusionDisplay.from_predictions(
        y, BEST
    ),
    "sets of spans": lambda tagger, y: SpanSets(tagger).fit(TAGGED, y),
}


@pytest.mark.parametrize("verb", NEEDS_ONE_LABEL)
@pytest.mark.parametrize("kind", [set, frozenset])
def test_what_needs_one_label_says_so(verb, kind):
    tagger = crf(constraints="BIO").fit(TAGGED, BEST)
    y = [["B-P", "O", kind({"O", "B-L"}), "B-L"], *BEST[1:]]
    with pytest.raises(
        ValueError,
        match="sequence 0, position 2: expected one label, got a set of labels",
    ):
        NEEDS_ONE_LABEL[verb](tagger, y)


def test_what_judges_the_other_tokens():
    tagger = crf(constraints="BIO").fit(TAGGED, TAGS)
    assert inspection.label_issues(tagger, TAGGED, TAGS, cv=2) == []
    marginals, classes = inspection.out_of_fold_marginals(tagger, TAGGED, TAGS, cv=2)
    assert marginals[0].shape == (4, len(classes))
    right = reliability(TAGS, tagger.predict_marginals(TAGGED), labels=tagger.classes_)
    assert right.count.sum() == 80 and (right.accuracy == 1.0).all()
    assert paired_bootstrap(TAGS, BEST, BEST).score_a == 1.0


def test_a_reranker_takes_any_of_a_set_as_right():
    base = StructuredPerceptron(random_state=0)
    reranker = KBestReranker(base, k=8, cv=2, random_state=0).fit(
        X * 8, Y * 8, X_val=X, y_val=Y
    )
    assert reranker.oracle_ == 1.0 and reranker.score(X, Y) == 1.0


def test_a_prediction_in_the_set_is_right():
    tagger = StructuredPerceptron(random_state=0).fit([["a", "b"]], [["A", "B"]])
    assert tagger.score([["a", "b"]], [[{"A", "B"}, {"A", "C"}]]) == 0.5


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["A", set(), "B"], "sequence 0, position 1: a set must hold labels"),
        (["A", {"A", None}, "B"], "sequence 0, position 1: a set must hold labels"),
        (["A", {"A", 1}, "B"], "sequence 0, position 1: expected a label of type str"),
    ],
)
def test_what_is_no_set_of_labels(labels, message):
    with pytest.raises(ValueError, match=message):
        StructuredPerceptron().fit([["a", "b", "c"]], [labels])


def test_folds_and_new_labels():
    scores = cross_val_score(StructuredPerceptron(random_state=0), X * 4, Y * 4, cv=3)
    assert np.isfinite(scores).all()
    tagger = StructuredPerceptron().fit([["a", "b"]], [["A", {"B", "C"}]])
    assert tagger.classes_.tolist() == ["A", "B", "C"]


NAMES = ["Ann", "Bob", "Eve"], ["Rome", "Oslo", "Bern"]
TEXTS = [f"{who} went to {place} again ." for who in NAMES[0] for place in NAMES[1]] * 2
SPANS = [
    [
        (0, 3, "PER"),
        (len("Ann went to "), len("Ann went to ") + len(t.split()[3]), "LOC"),
    ]
    for t in TEXTS
]


def partly(make):
    """Half of the texts annotate persons, half places."""
    kinds = ["PER", "LOC"] * len(SPANS)
    return [
        make([s for s in each if s[2] == kind], {kind})
        for each, kind in zip(SPANS, kinds)
    ]


@pytest.mark.parametrize(
    "tagger", [None, L1CRF(c1=0.1, c2=0.1, random_state=0)], ids=str
)
def test_two_corpora_of_different_types(tagger):
    partial = SpanTagger(tagger).fit(TEXTS, partly(PartialSpans))
    as_outside = SpanTagger(tagger).fit(TEXTS, partly(lambda spans, _: spans))
    assert partial.score(TEXTS, SPANS) > as_outside.score(TEXTS, SPANS)
    assert partial.score(TEXTS, partly(PartialSpans)) >= partial.score(
        TEXTS, partly(lambda spans, _: spans)
    )


def test_predictions_of_other_types_do_not_count():
    true, found = (
        [PartialSpans([(0, 3, "PER")], {"PER"})],
        [[(0, 3, "PER"), (4, 8, "LOC")]],
    )
    assert span_f1_score(true, found) == 1.0
    assert span_f1_score([list(true[0])], found) < 1.0
    with pytest.raises(ValueError, match="sequence 0, position 0: .*not annotated"):
        SpanTagger().fit(["Rome"], [PartialSpans([(0, 4, "LOC")], {"PER"})])


def test_inspection_does_not_count_other_types():
    tagger = SpanTagger(crf()).fit(TEXTS, SPANS)
    y = partly(PartialSpans)
    assert inspection.errors(tagger, TEXTS, y).n_errors == 0
    assert inspection.label_issues(tagger, TEXTS, y, cv=2) == []


def test_sets_of_spans_of_partly_annotated_texts():
    """Sure spans are judged by what is annotated, and candidates by what is there."""
    sets = SpanSets(SpanTagger(crf()), recall=0.9, precision=0.9).fit(
        TEXTS * 3, partly(PartialSpans) * 3
    )
    assert sets.predict_sure(TEXTS[:2]) == SPANS[:2]
    assert [
        sorted(span for span, _ in spans) for spans in sets.predict_sets(TEXTS[:2])
    ] == SPANS[:2]


def test_partial_spans_keep_their_types():
    spans = PartialSpans([(0, 3, "PER")], types=["PER"])
    for other in (
        pickle.loads(pickle.dumps(spans)),
        copy.copy(spans),
        copy.deepcopy(spans),
        spans.copy(),
    ):
        assert (list(other), other.types) == ([(0, 3, "PER")], frozenset({"PER"}))
    with pytest.raises(AttributeError):
        spans.types = {"LOC"}
    with pytest.raises(ValueError, match="types must be"):
        PartialSpans([], "PER")
