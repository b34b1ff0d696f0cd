"""What users hand over becomes a list of sequences, or an error that says where."""

import numpy as np
import pytest

from skstruct import (
    L1CRF,
    BaggingShuffleAverager,
    SequenceMatrix,
    StructuredPerceptron,
    metrics,
)
from skstruct._data import inputs
from skstruct._data.corpus import TokenCorpus
from skstruct._data.folds import check_groups
from skstruct._data.inputs import (
    NothingToLearn,
    PlaceError,
    Sequences,
    as_sequences,
    as_tokens,
    blanked,
    check_choice,
    check_positive,
    check_some,
    check_weights_of_sequences,
    check_X_y,
    flatten,
    is_int,
    lengths_of,
    renumbered,
    take,
)


@pytest.mark.parametrize(
    "X",
    [
        [["a", "b"], ["c"]],
        (("a", "b"), ("c",)),
        [np.array(["a", "b"], object), ["c"]],
        np.array([["a", "b"], ["c"]], object),
    ],
)
def test_containers_become_lists(X):
    assert [list(each) for each in as_sequences(X)] == [["a", "b"], ["c"]]


@pytest.mark.parametrize(
    "X, said",
    [
        (None, "X must be a list of sequences, got None"),
        ("a b", r"X must be .*; write X = \[text.split\(\)\]"),
        ('["a"]', r"it looks like JSON, write X = json.loads\(X\)"),
        (iter([["a"]]), "a generator can be read only once"),
        (["a", "b"], r"sequence 0 is the str 'a' .*; if these are the tokens of one"),
        (["a b"], r"text.split\(\) makes tokens of the words of a text"),
        ([{"w": 1}], r"must be a list of tokens.* write X = \[sentence\]"),
        ([["a"], 3], "sequence 1 must be a list of tokens, got int 3"),
    ],
)
def test_errors_say_what_to_write(X, said):
    with pytest.raises(ValueError, match=said):
        as_sequences(X)


def test_labels_that_are_tensors_are_values():
    found = as_sequences([[np.array(3), np.array(4)]], "y", "label")
    assert found == [[3, 4]] and type(found[0][0]) is int


def test_a_corpus_is_checked_once(monkeypatch):
    """What is a corpus already comes through the door as it is."""
    X = as_tokens([["a", "b"], ["c"]])
    asked = []
    for name in ("as_sequences", "tables_in"):
        monkeypatch.setattr(inputs, name, lambda *given: asked.append(given))
    assert isinstance(X, TokenCorpus) and as_tokens(X) is X
    assert as_tokens(X[:1]).lists() == [["a", "b"]] and asked == []


def test_x_and_y_together():
    X, y, offsets = check_X_y([["a", "b"], ["c"]], [[1, 2], [3]])
    assert X == [["a", "b"], ["c"]] and y == [[1, 2], [3]]
    assert offsets.tolist() == [0, 2, 3]
    with pytest.raises(ValueError, match="same number of sequences, got 1 and 2"):
        check_X_y([["a"]], [[1], [2]])
    with pytest.raises(PlaceError, match="sequence 1: as many labels as tokens .* 1 t"):
        check_X_y([["a"], ["b"]], [[1], [2, 3]])
    with pytest.raises(PlaceError, match=r"2 labels but 1 row; .* need \.T"):
        check_X_y([np.eye(1)], [[2, 3]], read=as_tokens)
    for X, y in (([], []), ([[]], [[]])):
        with pytest.raises(NothingToLearn):
            check_X_y(X, y)


def test_errors_count_the_sequences_of_the_whole():
    with pytest.raises(PlaceError, match="^X: sequence 7: wrong"):
        with renumbered([4, 7]):
            raise PlaceError(1, None, "wrong", "X")
    with pytest.raises(PlaceError, match="^X_val: sequence 1: wrong"):
        with renumbered([4, 7]):
            raise PlaceError(1, None, "wrong", "X_val")


def test_weights_of_tokens_are_refused():
    for weights in (None, 1.0, [1, 2.0], np.ones(2)):
        check_weights_of_sequences(weights)
    with pytest.raises(PlaceError, match="sequence 1 has list .* give one number a se"):
        check_weights_of_sequences([1.0, [1.0, 2.0]])


def test_parameters_of_few_values():
    assert is_int(np.int32(3)) and not is_int(True) and not is_int(3.0)
    check_positive("k", 1)
    check_choice("how", None, ["a", None])
    with pytest.raises(ValueError, match="k must be an int of at least 1, got 0"):
        check_positive("k", 0)
    with pytest.raises(ValueError, match="how must be one of 'a', None; got 'b'"):
        check_choice("how", "b", ["a", None])
    with pytest.raises(NothingToLearn, match="X_val holds no token"):
        check_some(0, "X_val")


def test_lists_of_sequences():
    found = Sequences([[1, 2], [3, 4]])
    assert np.asarray(found).shape == (2,) and type(found[:1]) is Sequences
    assert lengths_of(found).tolist() == [2, 2] and flatten(found) == [1, 2, 3, 4]
    assert take(found, [1]) == [[3, 4]] and blanked(found, [0]) == [(), [3, 4]]


ODD_WEIGHTS = {
    "strings": ["1", "2"],
    "bytes": [b"1", b"2"],
    "dates": np.array(["2020-01-01", "2021-01-01"], "datetime64[D]"),
    "spans of time": np.array([1, 2], "timedelta64[D]"),
    "a generator": (weight for weight in (1, 2)),
    "missing": np.ma.masked_array([1.0, 1.0], [False, True]),
}


def asked(weight):
    """Whatever takes weights of sequences."""
    X, y = [["a", "b"], ["b"]], [["A", "B"], ["B"]]
    tagger = StructuredPerceptron(random_state=0)
    yield lambda: tagger.fit(X, y, weight)
    yield lambda: tagger.partial_fit(X, y, sample_weight=weight)
    yield lambda: L1CRF().fit(X, y, weight)
    yield lambda: BaggingShuffleAverager(tagger, 2).fit(X, y, sample_weight=weight)
    tagger = StructuredPerceptron(random_state=0).fit(X, y)
    yield lambda: tagger.score(X, y, weight)
    yield lambda: metrics.token_accuracy_score(y, y, weight)
    yield lambda: metrics.token_report(y, y, sample_weight=weight)
    yield lambda: metrics.attachment_scores(
        [[0], [0]], [[0], [0]], sample_weight=weight
    )
    yield lambda: metrics.span_f1_score([[(0, 1, "A")], []], [[], []], "micro", weight)


@pytest.mark.parametrize("kind", ODD_WEIGHTS)
@pytest.mark.parametrize("number", range(9))
def test_weights_of_which_numpy_alone_makes_numbers_are_refused(kind, number):
    verb = list(asked(ODD_WEIGHTS[kind]))[number]
    with pytest.raises(
        ValueError, match="sample_weight must (be one number|have no mi)"
    ):
        verb()


def test_numbers_that_are_missing_are_refused():
    one = np.ma.masked_array([-1.0, -2.0], [False, True])
    two = np.ma.masked_array([[0.5, 0.5]], [[True, False]])
    y = [["a"], ["b"]]
    for verb, name in (
        (lambda: metrics.sequence_log_loss(y, one), "log_proba"),
        (lambda: metrics.reliability(y[:1], [two], labels=["a", "b"]), "y_proba"),
        (lambda: metrics.reliability([1, 0], -one), "y_proba"),
        (lambda: SequenceMatrix(np.ones((2, 1)), [1, 1] + one.astype(int) * 0), "len"),
    ):
        with pytest.raises(
            ValueError, match=f"{name}.* must have no missing values, g"
        ):
            verb()
    with pytest.raises(ValueError, match="groups: sequence 1 has none"):
        check_groups([1, None], 2)
