"""Displays beyond the common case: many labels, several strengths, models of two kinds,
names as a str.
"""

import numpy as np
import pytest

from skstruct import L1CRF, L1CRFCV, StructuredPerceptron, regularization_path
from skstruct._data.schemes import (
    allowed_transitions,
    convert_labels,
    labels_to_spans,
    words_to_labels,
)
from skstruct.datasets import from_columns, load_entities
from skstruct.inspection import (
    FeatureWeightsDisplay,
    HistoryDisplay,
    LabelConfusionDisplay,
    RegularizationPathDisplay,
    ReliabilityDisplay,
    TransitionDisplay,
)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(autouse=True)
def pyplot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


@pytest.fixture(scope="module")
def corpus():
    X, y = load_entities()
    return X[:40], y[:40], X[60:80], y[60:80]


def artists(figure):
    """How many a figure holds, those within others too."""
    return len(figure.findobj())


def many_labels(n):
    labels = [f"L{k:03}" for k in range(n)]
    return [[label] * 2 for label in labels], [[label, labels[0]] for label in labels]


def confusion(n):
    return LabelConfusionDisplay.from_predictions(*many_labels(n))


def transitions(n):
    return TransitionDisplay(np.eye(n), many_labels(n)[1]).plot()


def weights(n):
    y, _ = many_labels(n)
    X = [[f"w{label}" for label in labels] for labels in y]
    return FeatureWeightsDisplay.from_estimator(
        StructuredPerceptron(max_iter=1, random_state=0).fit(X, y)
    )


@pytest.mark.parametrize("draw", [confusion, transitions, weights])
def test_artists_do_not_grow_with_the_square_of_labels(draw):
    """Each costs more than a millisecond."""
    few, many = (artists(draw(n).figure_) for n in (40, 80))
    assert many < 2.2 * few


def test_numbers_stand_in_the_cells_of_small_matrices():
    for n, count in (30, 30**2), (31, 0):
        assert len(confusion(n).ax_.texts) == count
    y, said = many_labels(31)
    assert LabelConfusionDisplay.from_predictions(
        y, said, include_values=True
    ).text_.shape == (31, 31)


def test_confusions_have_weights_and_need_labels():
    y, said = [["a", None], ["b"], [None]], [["b", "b"], ["b"], ["a"]]
    display = LabelConfusionDisplay.from_predictions(y, said, sample_weight=[0.5, 2, 7])
    assert display.confusion_matrix.tolist() == [[0.0, 0.5], [0.0, 2.0]]
    assert display.text_[1, 1].get_text() == "2.00"
    for given in ([[None]], [["a"]]), ([[]], [[]]):
        with pytest.raises(
            ValueError, match="there is nothing to score: no token has a gold label"
        ):
            LabelConfusionDisplay.from_predictions(*given)
    with pytest.raises(ValueError, match="sample_weight is 0 for all that counts"):
        LabelConfusionDisplay.from_predictions(y, said, sample_weight=[0, 0, 1])


def legend(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_a_path_of_several_strengths_has_a_line_for_each(corpus):
    X, y, X_val, y_val = corpus
    crf = L1CRF("word", max_iter=5, random_state=0)
    points = regularization_path(
        crf, X, y, [0.5, 2], c2s=[0.1, 1], X_val=X_val, y_val=y_val
    )
    display = RegularizationPathDisplay.from_path(points)
    lines = display.ax_.lines[:2], display.ax_score_.lines[:2]
    for of_value, name in zip(lines, ("n_active", "score")):
        for line, c2 in zip(of_value, (0.1, 1)):
            mine = [point for point in reversed(points) if point.c2 == c2]
            assert line.get_xdata().tolist() == [0.5, 2.0]
            assert line.get_ydata().tolist() == [getattr(point, name) for point in mine]
    names = [
        f"{name}, c2 = {c2}"
        for name in ("active weights", "held-out score")
        for c2 in ("0.1", "1")
    ]
    assert legend(display.ax_) == names
    best = max(points, key=lambda point: point.score)
    assert (
        best.n_active in display.line_.get_ydata()
        and best.score in display.score_line_.get_ydata()
    )
    for given in (
        points,
        points[::-1],
    ):  # of equal scores that of the strongest penalties, in any order
        tied = [point._replace(score=0.5) for point in given]
        marked = RegularizationPathDisplay.from_path(tied)
        assert marked.ax_score_.lines[-1].get_xdata()[0] == 2.0
        assert marked.score_line_.get_label() == "held-out score, c2 = 1"
    alone = RegularizationPathDisplay.from_path(
        [point._replace(score=None) for point in points], color="k"
    )
    assert (
        len(alone.ax_.lines) == 2
        and alone.line_.get_label() == "active weights, c2 = 1"
    )


def test_a_perceptron_beside_a_crf(corpus):
    """Token error and objective are no numbers of one axis; held-out scores are."""
    X, y, X_val, y_val = corpus
    makes = (
        lambda: StructuredPerceptron("word", max_iter=3, random_state=0),
        lambda: L1CRF("word", max_iter=5, random_state=0),
    )
    with pytest.raises(
        ValueError,
        match="no number in common that is drawn by default; fit all with X_val",
    ):
        HistoryDisplay.from_estimator(*(make().fit(X, y) for make in makes))
    both = [make().fit(X, y, X_val=X_val, y_val=y_val) for make in makes]
    display = HistoryDisplay.from_estimator(*both)
    assert display.metric == "validation_score" and display.ax_held_out_ is None
    for line, model in zip(display.lines_, both):
        assert line.get_ydata().tolist() == [
            record["validation_score"] for record in model.history_
        ]
    assert legend(display.ax_) == ["StructuredPerceptron: held out", "L1CRF: held out"]
    assert HistoryDisplay.from_estimator(both[0]).metric == "token_error"


def test_reliability_with_weights_and_missing_labels(corpus):
    X, y, X_val, y_val = corpus
    crf = L1CRF("word", max_iter=10, constraints="BIO", random_state=0).fit(X, y)
    hidden = [
        [None] * len(labels) if i % 2 else labels for i, labels in enumerate(y_val)
    ]
    weight = [1.0 - i % 2 for i in range(len(y_val))]
    for options in {}, {"scheme": "BIO"}:
        found = [
            ReliabilityDisplay.from_estimator(crf, X_val, hidden, **options),
            ReliabilityDisplay.from_estimator(
                crf, X_val, y_val, sample_weight=weight, **options
            ),
            ReliabilityDisplay.from_estimator(crf, X_val[::2], y_val[::2], **options),
        ]
        for other in found[1:]:
            np.testing.assert_array_equal(other.accuracy, found[0].accuracy)
            np.testing.assert_array_equal(other.count, found[0].count)
        with pytest.raises(ValueError, match="there is nothing to score"):
            ReliabilityDisplay.from_estimator(
                crf, X_val[:2], [[None] * len(x) for x in X_val[:2]], **options
            )


TOKENS, LABELS = [["a", "b"]] * 4, [["O", "P"]] * 4
TABLE = {"tokens": [["a"]], "tags": [[0]]}


def search(**options):
    return lambda: L1CRFCV(**{"c1s": [0.1], "c2s": [0.1], "cv": 2, **options}).fit(
        TOKENS, LABELS
    )


def two(names):
    tagger = StructuredPerceptron(max_iter=1, random_state=0).fit(TOKENS, LABELS)
    return HistoryDisplay.from_estimator(tagger, tagger, names=names)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (search(c1s="12"), "c1s must be a list of numbers, got str '12'"),
        (search(c2s="12"), "c2s must be a list of numbers, got str '12'"),
        (search(c1s=b"12"), "c1s must be a list of numbers, got bytes b'12'"),
        (
            search(c1s=["1"]),
            r"candidate 0 must be a pair \(c1, c2\) or a dict, got \('1', 0.1\); c1 and",
        ),
        (search(candidates="12"), "candidates must be a list of pairs, got str '12'"),
        (
            search(candidates=["12"]),
            r"candidate 0 must be a pair \(c1, c2\) or a dict, got '12'",
        ),
        (search(candidates=[{"c1": "1"}]), "candidate 0 must be a pair"),
        (
            lambda: regularization_path(L1CRF(), TOKENS, LABELS, "12"),
            "c1s must be a list of numbers",
        ),
        (
            lambda: regularization_path(L1CRF(), TOKENS, LABELS, ["1"]),
            r"c1s must hold numbers, got \['1'\]",
        ),
        (
            lambda: regularization_path(L1CRF(), TOKENS, LABELS, [1], c2s="12"),
            "c2s must be a list of numb",
        ),
        (lambda: two("ab"), "names must be a list of names, got str 'ab'"),
        (
            lambda: LabelConfusionDisplay.from_predictions(LABELS, LABELS, labels="OP"),
            "labels must be a list of labels, got str 'OP'; its letters are no labels",
        ),
        (
            lambda: labels_to_spans("BIO", "BIO"),
            "labels must be a list of labels, got str 'BIO'",
        ),
        (
            lambda: convert_labels("BIO", "BIO", "BIOES"),
            "labels must be a list of labels, got str 'BIO'",
        ),
        (
            lambda: allowed_transitions("BIO", "BIO"),
            "labels must be a list of labels, got str 'BIO'",
        ),
        (
            lambda: words_to_labels("ab", "BIO"),
            "words must be a list of words, got str 'ab'",
        ),
        (
            lambda: words_to_labels(["a"], "BIO", tags="X"),
            "tags must be a list of tags, got str 'X'",
        ),
        (
            lambda: from_columns(TABLE, "tokens", "tags", label_names="OP"),
            "label_names must be a list of names of labels, got str 'OP'",
        ),
    ],
)
def test_a_str_is_no_list_of_its_letters(call, message):
    """Nobody who writes "12" means 1 and 2; all that takes a collection refuses it."""
    with pytest.raises(ValueError, match=message):
        call()
