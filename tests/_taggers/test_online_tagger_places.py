"""Errors of taggers name the place in the corpus, wherever the sequence is worked
on.
"""

import pickle

import pytest
from tagger_error_cases import DICT, LINES, LIST, NAN, STR, TUPLE, put

from skstruct import (
    BaggingShuffleAverager,
    KBestReranker,
    ParameterMixer,
    Segmenter,
    StructuredPerceptron,
)


# -- places in a corpus that is predicted piece by piece -------------------------------
def check_place(predict, X, i, t, message):
    with pytest.raises(
        ValueError, match=f"sequence {i}, position {t}: {message}"
    ) as caught:
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
        (TUPLE, "a", "expected a tuple of 2 like the first token, got str 'a'"),
        (DICT, ("a",), "expected a dict or a list of features, got tuple"),
        (LIST, 3, "expected a dict or a list of features, got int"),
        (DICT, {"v": NAN}, "feature 'v' must be finite"),
    ],
    ids=[
        "an int",
        "a tuple",
        "a column too many",
        "a str",
        "a tuple among dicts",
        "an int among lists",
        "a NaN",
    ],
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
    for predict in (
        tagger.decision_function,
        tagger.predict_kbest,
        lambda X: tagger.score(X, y),
    ):
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
    tagger = StructuredPerceptron(
        LINES, constraints=pairs, n_jobs=n_jobs, random_state=0
    ).fit(STR[0], y)
    X = [["a", "b"]] * 30
    allowed = [[None, None]] * 29 + [["B", "A"]]
    for predict in (tagger.predict, tagger.predict_kbest):
        with pytest.raises(ValueError, match="^sequence 29: .* leave no labelling"):
            predict(X, allowed=allowed)
    allowed[29] = [None, "C"]
    with pytest.raises(
        ValueError, match="allowed: sequence 29, position 1: str 'C' is not a label"
    ):
        tagger.predict(X, allowed=allowed)
    with pytest.raises(
        ValueError, match="^X and allowed must hold the same number of .*, got 30 and 2"
    ):
        tagger.predict(X, allowed=allowed[:2])
    allowed[29] = [None]
    with pytest.raises(
        ValueError, match="^X and allowed: sequence 29: as many labels as tokens"
    ):
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
    tagger = StructuredPerceptron(
        "char", constraints=[("B", "E"), ("E", "S")], random_state=0
    )
    X, y = ["", "ab", "", "abab"], [[], ["ab"], [], ["ab", "ab"]]
    message = "^y: sequence 3, position 2: the label 'B' cannot follow 'E'"
    for model in (Segmenter(tagger), ParameterMixer(Segmenter(tagger), n_shards=1)):
        with pytest.raises(ValueError, match=message):
            model.fit(X, y)
    with pytest.raises(
        ValueError, match="^shard 0: y: sequence 3, position 2: the label 'B'"
    ):
        ParameterMixer(Segmenter(tagger)).fit_shards([lambda: (X, y)])


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_places_around_a_segmenter(n_jobs):
    tagger = StructuredPerceptron(
        "char", constraints="BMES", n_jobs=n_jobs, random_state=0
    )
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
        with pytest.raises(
            ValueError, match=f"X: sequence {i}, position 1: .*got int 3"
        ):
            tagger.fit(put((X, y), 3, i), y)
