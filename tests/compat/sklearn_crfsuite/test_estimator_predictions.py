"""What ``CRF.predict`` returns, as searches, seqeval and old programs use it, whatever
the lengths are."""

import pickle

import numpy as np
import pytest
from inside import sequences_copied
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.utils.validation import check_is_fitted

from skstruct.compat import sklearn_crfsuite
from skstruct.compat.sequence_array import SequenceArray

WORDS = {
    "equal": ("aba", "bba", "abb", "aab"),
    "unequal": ("aba", "b", "ab", "abab"),
    "one": ("ab",),
}


def corpus(words):
    X = [[{"w": letter} for letter in word] for word in words]
    return X, [["B-X" if letter == "a" else "O" for letter in word] for word in words]


@pytest.fixture(scope="module")
def crf():
    return sklearn_crfsuite.CRF(c2=0.001).fit(*corpus(WORDS["unequal"]))


@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)
def test_an_array_of_lists(crf, words):
    X, y = corpus(words)
    labels, marginals = crf.predict(X), crf.predict_marginals(X)
    for found in (
        labels,
        marginals,
        labels[:1],
        labels[[0]],
        np.concatenate([labels, labels]),
    ):
        assert (
            isinstance(found, np.ndarray) and found.dtype == object and found.ndim == 1
        )
        assert all(type(each) is list for each in found)
    assert labels.tolist() == y and labels.shape == marginals.shape == (len(X),)
    again = pickle.loads(pickle.dumps(labels))
    assert (
        type(again) is np.ndarray
        and again.shape == labels.shape
        and again.tolist() == y
    )


def test_nothing_to_predict(crf):
    assert crf.predict([]).shape == crf.predict_marginals([]).shape == (0,)
    assert crf.predict([[]]).tolist() == [[]]


def test_comparisons_are_of_whole_sequences():
    found = SequenceArray.of([["a", "b"], ["a", "c"]])
    for other in (
        [["a", "b"], ["x", "c"]],
        np.array([["a", "b"], ["x", "c"]]),
        (("a", "b"), ["x"]),
    ):
        assert (found == other).tolist() == [True, False]
        assert (found != other).tolist() == [False, True]
    assert (found == ["a", "c"]).tolist() == [False, True]  # one sequence, for each
    assert (found == [["a", "c"]]).tolist() == [False, True]
    assert (found == found).all()
    assert type(found == found) is np.ndarray
    assert not (found == "ab").any()
    with pytest.raises(ValueError, match="2 sequences cannot be compared with 3"):
        found == [["a"]] * 3  # noqa: B015
    with pytest.raises(TypeError):
        hash(found)


@pytest.mark.parametrize(
    "words", [WORDS["equal"], WORDS["unequal"]], ids=["equal", "unequal"]
)
def test_searches(words):
    X, y = corpus(words)
    crf = sklearn_crfsuite.CRF(max_iterations=20)
    assert [len(each) for each in cross_val_predict(crf, X, y, cv=2)] == list(
        map(len, X)
    )
    assert len(cross_val_score(crf, X, y, cv=2)) == 2
    search = GridSearchCV(
        crf, {"c2": [0.1, 1.0]}, scoring=sklearn_crfsuite.scorers.flat_accuracy, cv=2
    )
    assert search.fit(X, y).predict(X).shape == (len(X),)


@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)
def test_seqeval_takes_them(crf, words):
    seqeval = pytest.importorskip("seqeval.metrics")
    X, y = corpus(words)
    assert seqeval.f1_score(y, crf.predict(X)) == 1.0


def test_only_what_is_fitted_passes_as_fitted(crf, tmp_path):
    check_is_fitted(crf)
    for other in (
        sklearn_crfsuite.CRF(),
        sklearn_crfsuite.CRF(model_filename=str(tmp_path / "none")),
    ):
        with pytest.raises(NotFittedError):
            check_is_fitted(other)


@pytest.mark.parametrize("kept", [False, True])
def test_a_fit_that_fails_leaves_no_file(tmp_path, monkeypatch, kept):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    crf = sklearn_crfsuite.CRF(keep_tempfiles=kept)
    with pytest.raises(ValueError, match="finite"):
        crf.fit([[{"w": float("nan")}]], [["O"]])
    assert not list(tmp_path.iterdir()) and crf.tagger_ is None


@pytest.mark.parametrize("is_named", [False, True])
def test_a_fit_that_fails_leaves_the_earlier_model(tmp_path, is_named):
    X, y = corpus(WORDS["equal"])
    name = str(tmp_path / "model") if is_named else None
    crf = sklearn_crfsuite.CRF(c2=0.001, model_filename=name)
    bad = [[{"w": float("nan")}]], [["O"]]
    with pytest.raises(ValueError, match="finite"):
        crf.fit(*bad)
    with pytest.raises(NotFittedError):
        check_is_fitted(crf)
    crf.fit(X, y)
    log = crf.training_log_
    with pytest.raises(ValueError, match="finite"):
        crf.fit(*bad)
    assert crf.predict(X).tolist() == y and crf.training_log_ is log


def test_plain_and_other_items_in_one_call(crf, monkeypatch):
    """Items that mean the same here are copied nowhere; others are, in one call."""
    words = ("aba", "bb", "a", "abb")
    plain = corpus(words)[0]
    X = [
        plain[0],
        tuple({"w": {letter: 1.0}} for letter in words[1]),
        [[f"w:{letter}" for letter in words[2]]],
        [{"w": [letter]} for letter in words[3]],
    ]
    copied = sequences_copied(monkeypatch)
    assert crf.predict(X).tolist() == [crf.predict([x])[0] for x in plain]
    assert copied == [X[1], X[3]]
    for found, x in zip(crf.predict_marginals(X), plain):
        assert found == crf.predict_marginals_single(x)
    with pytest.raises(ValueError, match="sequence 2"):
        crf.predict([plain[0], plain[1], [{"w": "a", "n": float("nan")}]])
