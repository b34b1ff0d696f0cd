"""What counts, for every metric and every scorer: no gold label, unknown labels,
nothing, ties, weights.
"""

import numpy as np
import pytest
from metric_cases import METRICS, NO_METRICS, SCORERS

from skstruct import StructuredPerceptron, metrics

Y = [
    ["B-X", "I-X", "O", "B-Y"],
    ["O", "B-Y", "O"],
    ["B-X", "O"],
    ["B-X", "I-X", "I-X", "O", "B-Y", "O"],
]
SAID = [
    ["B-X", "I-X", "O", "O"],
    ["O", "B-X", "O"],
    ["B-X", "O"],
    ["B-X", "O", "I-X", "O", "B-Y", "B-Y"],
]

SCORES = {**METRICS, **SCORERS}
WITHOUT_NONE = {name for name in SCORES if "word" in name or "segmentation" in name}
"""Words have no place for a missing label."""
SPANS = {name for name in SCORES if "span" in name}
"""Every text counts, also one where nobody looked: it does not say how long it is."""
WITHOUT_WEIGHT = {name for name in SCORES if "bootstrap" in name}
"""It draws sequences, each as likely as the others."""


def score_of(name, y, said, weight=None):
    """The numbers of a score; none is nan or infinite."""
    found = np.ravel(SCORES[name](y, said, weight))
    assert np.isfinite(found).all(), name
    return found


def rows(y):
    return [list(labels) for labels in y]


def test_every_metric_and_scorer_is_tried():
    public = {name for name in metrics.__all__ if not name.endswith("_scorer")}
    tried = {name.partition(",")[0] for name in METRICS} | NO_METRICS
    assert tried == public, (
        f"tests/metric_cases.py: enter {public - tried} in METRICS, by a function of "
        "(y, predicted labels, weights), or in NO_METRICS if it is the type of a result "
        f"or makes scorers; take out {tried - public}"
    )
    assert set(metrics.SCORERS) <= set(SCORERS)


@pytest.mark.parametrize("name", sorted(set(SCORES) - WITHOUT_NONE))
def test_what_is_predicted_where_there_is_no_gold_label_does_not_matter(name):
    y = rows(Y)
    y[0][1] = y[1][1] = y[3][3] = None
    said = rows(SAID)
    found = score_of(name, y, said)
    for label in "O", "B-Y", "I-X":
        for i, t in (0, 1), (1, 1), (3, 3):
            said[i][t] = label
        np.testing.assert_allclose(score_of(name, y, said), found, rtol=1e-12)


@pytest.mark.parametrize("name", sorted(set(SCORES) - WITHOUT_NONE))
def test_sequences_without_label_do_not_count(name):
    y, said = [*Y, [None, None], []], [*SAID, ["B-X", "I-X"], []]
    weight = None if name in WITHOUT_WEIGHT else [1, 1, 1, 1, 9, 9]
    for given in {None, weight and tuple(weight)}:
        np.testing.assert_allclose(
            score_of(name, y, said, given), score_of(name, Y, SAID), rtol=1e-12
        )


OF_LABELS = {
    name
    for name in SCORES
    if not any(kind in name for kind in ("word", "segmentation", "span", "attachment"))
}
"""Gold labels are given as they are, and not in spans, words or trees."""


@pytest.mark.parametrize("missing", [float("nan"), np.nan, np.datetime64("NaT")])
@pytest.mark.parametrize("name", sorted(OF_LABELS))
def test_a_label_that_is_missing_but_not_none_is_no_error_of_the_model(name, missing):
    y = rows(Y)
    y[1][1] = missing
    with pytest.raises(
        ValueError,
        match="sequence 1, position 1: a label must not be .* write None for a token without one, in a",
    ):
        SCORES[name](y, SAID, None)


PLAIN = {name for name in OF_LABELS if not any(k in name for k in ("segment", "loss"))}


@pytest.mark.parametrize("name", sorted(PLAIN))
def test_labels_of_another_type_than_all_predicted_ones_are_refused(name):
    y = [[len(label) for label in labels] for labels in Y]
    with pytest.raises(ValueError, match="type int, such as .*type str, such as"):
        SCORES[name](y, SAID, None)


OF_NUMBERS = {
    name for name in set(METRICS) & PLAIN if name.startswith(("token", "sequence"))
}
"""What takes class numbers on both sides."""


@pytest.mark.parametrize("name", sorted(OF_NUMBERS))
def test_left_out_numbers_of_other_packages_are_named(name):
    y = [[-100 if label == "O" else len(label) for label in labels] for labels in Y]
    said = [[len(label) for label in labels] for labels in SAID]
    with pytest.raises(ValueError, match="sequence 0, position 2: the label -100"):
        SCORES[name](y, said, None)


@pytest.mark.parametrize("name", sorted(SCORES))
def test_an_empty_sequence_does_not_count(name):
    found = score_of(name, [[], *Y], [[], *SAID])
    if name != "paired_bootstrap, spans":  # which draws it
        np.testing.assert_allclose(found, score_of(name, Y, SAID), rtol=1e-12)


@pytest.mark.parametrize("name", sorted(SCORES))
def test_where_nothing_counts_there_is_no_score(name):
    nothing = [([], [])]
    if name not in SPANS:
        nothing.append(([[]], [[]]))
    if name not in WITHOUT_NONE | SPANS:
        nothing.append(([[None, None], []], [["O", "B-X"], []]))
    for y, said in nothing:
        with pytest.raises(
            ValueError,
            match="there is nothing to score|at least one sequence is needed",
        ):
            SCORES[name](y, said, None)
    if name not in WITHOUT_WEIGHT:
        with pytest.raises(
            ValueError, match="there is nothing to score: sample_weight is 0 for all"
        ):
            SCORES[name](Y, SAID, [0] * len(Y))


@pytest.mark.parametrize("name", sorted(set(SCORES) - WITHOUT_NONE))
def test_a_label_that_the_model_never_saw_is_its_error(name):
    """As wrong as a label that it knows and did not predict, or more: in the log
    loss.
    """
    new, known = rows(Y), rows(Y)
    new[1][1], known[1][1] = "B-new", "B-Y"  # the model says B-X
    found, otherwise = score_of(name, new, SAID), score_of(name, known, SAID)
    if "log_loss" in name:
        n = sum(map(len, Y))
        assert 0 < abs(found[0]) - abs(otherwise[0]) <= 3 * 36.1 / n
    elif not {
        "segment_report",
        "weighted",
        "segment_f1_score, strict",
        "segment_f1_scorer_for",
    } & {name} and not name.startswith(("token_f1", "token_report")):
        np.testing.assert_allclose(found, otherwise, rtol=1e-12)


@pytest.mark.parametrize("name", sorted(SCORES))
def test_a_label_that_is_only_predicted_is_wrong(name):
    y = [[{"B-Y": "B-X"}.get(label, label) for label in labels] for labels in Y]
    assert "B-Y" not in sum(y, [])
    found, best = score_of(name, y, SAID), score_of(name, y, y)
    assert not np.array_equal(found, best)


@pytest.mark.parametrize("name", sorted(set(SCORES) - WITHOUT_WEIGHT))
def test_no_score_depends_on_the_order_of_the_input(name):
    """To the last digit, although many tokens are equally probable, and weights are no
    round numbers.
    """
    y, said = Y * 5, [SAID[(i * 7 + i // 4) % 4] for i in range(20)]
    said = [(labels * 3)[: len(gold)] for gold, labels in zip(y, said)]
    weight = np.random.RandomState(0).rand(20)
    for given in None, weight:
        found = score_of(name, y, said, given)
        for seed in range(5):
            order = np.random.RandomState(seed).permutation(20)
            moved = [[side[i] for i in order] for side in (y, said)]
            other = score_of(name, *moved, given if given is None else given[order])
            np.testing.assert_allclose(other, found, rtol=1e-12)
            if (
                given is None and "log_loss" not in name
            ):  # whose sum is rounded as it comes
                assert (other == found).all()


@pytest.mark.parametrize("name", sorted(set(SCORES) - WITHOUT_WEIGHT))
def test_a_weight_multiplies_what_is_counted(name):
    weights = [2, 1, 0, 1]
    used = [0, 0, 1, 3]
    repeated = [[side[i] for i in used] for side in (Y, SAID)]
    found = score_of(name, Y, SAID, weights)
    # Bins hold equally many predictions, whatever they weigh.
    if "calibration" in name or name == "reliability":
        kept = [[side[i] for i in (0, 1, 3)] for side in (Y, SAID)]
        np.testing.assert_allclose(found, score_of(name, *kept, [2, 1, 1]), rtol=1e-12)
        if "uniform" not in name:
            return
    np.testing.assert_allclose(found, score_of(name, *repeated), rtol=1e-12)
    np.testing.assert_allclose(
        score_of(name, Y, SAID, [1, 1, 1, 1]), score_of(name, Y, SAID), rtol=1e-12
    )
    for bad in ([1, 1, 1], [1, -1, 1, 1], [1, np.nan, 1, 1]):
        with pytest.raises(ValueError, match="sample_weight"):
            SCORES[name](Y, SAID, bad)


def test_segments_beside_a_token_without_label():
    """By hand: it might belong to them."""
    gold = ["B-X", None, "O", "B-Y", "O", None, "B-X"]
    said = ["B-X", "O", "B-X", "B-Y", "O", "O", "B-X"]
    report = metrics.segment_report([gold], [said], output_dict=True)
    assert set(report) == {"Y", "micro avg", "macro avg", "weighted avg"}
    assert report["micro avg"] == {
        "precision": 1.0,
        "recall": 1.0,
        "f1": 1.0,
        "support": 1,
    }
    for scheme, labels in (
        ("BIOES", ["B-X", None, "E-X"]),
        ("BI", ["B", None, "I"]),
        ("IO", ["X", None, "X"]),
    ):
        for mode in "strict", "conlleval":
            given = {"scheme": scheme, "mode": mode, "zero_division": np.nan}
            assert np.isnan(metrics.segment_f1_score([labels], [labels], **given))
    with pytest.raises(
        ValueError, match="sequence 0, position 1: label None does not belong"
    ):
        metrics.segment_f1_score([["B-X", "O"]], [["B-X", None]])


def test_ties_stay_in_one_bin():
    """Bins of equally many predictions would cut them as they come."""
    right, p = [True] * 5 + [False] * 5, [0.5] * 10
    for order in slice(None), slice(None, None, -1), slice(None, None, 3):
        found = metrics.expected_calibration_error(right[order], p[order], n_bins=2)
        share = np.mean(right[order])
        assert found == pytest.approx(abs(share - 0.5))
    bins = metrics.reliability(
        [1, 0, 1, 1, 0, 1], [0.1, 0.6, 0.6, 0.6, 0.6, 0.9], n_bins=3
    )
    assert bins.count.tolist() == [1, 4, 1]


def test_log_loss_of_sets_and_partly_unknown_labels():
    """Divided by tokens with a label; a set keeps what the model knows."""
    assert metrics.sequence_log_loss([["A", None, "B"], [None]], [-3.0, 0.0]) == 1.5
    assert metrics.sequence_log_loss([[{"A", "B"}, None]], [-3.0]) == 3.0


@pytest.mark.parametrize("weight, told", [(1e308, "1e.308"), (10**400, "an integer")])
def test_weights_that_no_sum_holds_are_refused(weight, told):
    text = f"at most 1e.50, .* got {told}.* for sequence 1"
    with pytest.raises(ValueError, match=text):
        metrics.token_accuracy_score(
            [["A"], ["B"]], [["A"], ["A"]], sample_weight=[1, weight]
        )
    with pytest.raises(ValueError, match=text):
        StructuredPerceptron().fit([["a"], ["b"]], [["A"], ["B"]], [1, weight])
