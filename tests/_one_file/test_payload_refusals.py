"""What cannot be written as one file is refused by name; and what a written file
refuses.
"""

import numpy as np
import pytest
from one_file_cases import NODE, asked, loaded, written
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skstruct import (
    L1CRF,
    KBestReranker,
    Segmenter,
    ShiftReduceParser,
    SpanTagger,
    StructuredPerceptron,
    WordSegmenter,
)  # fmt: skip
from skstruct.datasets import load_chunking, load_parsing, load_segmentation
from skstruct.features import TokenTransformer
from skstruct.features.patterns import Patterns
from skstruct.interchange import export

pytestmark = pytest.mark.filterwarnings("ignore")

HELD = "one file holds a chain tagger, a Segmenter or a SpanTagger over one, got a "
WHY = "the model cannot be written as one file: "


def rows(n=6):
    rng = np.random.RandomState(0)
    return [rng.rand(3, 2) for _ in range(n)], [["A", "B", "A"]] * n


def small_parser():
    X, y = load_parsing()
    return ShiftReduceParser(max_iter=1).fit(X[:10], y[:10])


def small_words():
    X, y = load_segmentation()
    return WordSegmenter(max_iter=1).fit(X[:10], y[:10])


def small_reranker():
    X, y = load_segmentation()
    base = Segmenter(StructuredPerceptron("char", max_iter=1))
    return KBestReranker(base, k=2, cv=2, max_iter=1).fit(X[:20], y[:20])


def small_spans():
    X, y = ["Ann left.", "Bob left."], [[(0, 3, "PER")]] * 2
    base = KBestReranker(StructuredPerceptron(max_iter=1), k=2, cv=2, max_iter=1)
    return SpanTagger(base).fit(X, y)


def of_rows():
    return StructuredPerceptron(max_iter=1).fit(*rows())


def behind_a_step():
    return make_pipeline(
        TokenTransformer(StandardScaler()), StructuredPerceptron(max_iter=1)
    ).fit(*rows())


def of_expressions():
    patterns = Patterns(['u:%m[0,0,".?$"]', "b"], "wapiti")
    return StructuredPerceptron(patterns, max_iter=1).fit([["a", "b"]], [["A", "B"]])


def of_odd_labels():
    return StructuredPerceptron("word", max_iter=1).fit(
        [["a", "b"]], [[("A", 1), ("B", 2)]]
    )


REFUSED = {
    small_parser: (TypeError, HELD + "ShiftReduceParser"),
    small_words: (TypeError, HELD + "WordSegmenter"),
    small_reranker: (TypeError, HELD + "KBestReranker"),
    small_spans: (TypeError, HELD + "SpanTagger over a KBestReranker"),
    of_rows: (
        ValueError,
        WHY
        + "tokens are rows of numbers; to read the weights, call skstruct.inspection.coefficients",
    ),
    behind_a_step: (
        ValueError,
        WHY + "the step TokenTransformer(...) before the tagger",
    ),
    of_expressions: (
        ValueError,
        WHY + "the pattern 'u:%m[0,0,\".?$\"]' has a regular expression",
    ),
    of_odd_labels: (ValueError, WHY + "labels of type tuple"),
}


@pytest.mark.parametrize("make", REFUSED, ids=lambda make: make.__name__)
def test_models_that_are_refused(make, tmp_path):
    kind, text = REFUSED[make]
    with pytest.raises(kind) as error:
        export(make(), tmp_path / "tagger.py")
    assert str(error.value) == text
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def tagger():
    X, y = load_chunking()
    X = [[word for word, _ in sentence] for sentence in X]
    return (
        StructuredPerceptron("word", max_iter=2, random_state=0).fit(X[:30], y[:30]),
        X,
        y,
    )


PAIR = "\ud83d\ude00"  # two characters of Python, one of JSON and JavaScript


@pytest.mark.parametrize("name", ["tagger.py", "tagger.js", "tagger.html"])
def test_two_surrogates_side_by_side(name, tmp_path):
    """JSON would make one string of the two tokens, and the weights of all others would
    move.
    """
    X, y = (
        [["a", PAIR, "b"], ["\U0001f600", "z", "b"]],
        [["A", "B", "C"], ["C", "D", "C"]],
    )
    model = StructuredPerceptron("word").fit(X, y)
    with pytest.raises(ValueError) as error:
        export(model, tmp_path / name)
    assert str(error.value).startswith(
        f"{WHY}{PAIR!r} has two surrogates that are one character; train on "
    )
    assert not list(tmp_path.iterdir())


def test_two_surrogates_that_only_a_feature_brings_together(tmp_path):
    high, low = PAIR
    joined = StructuredPerceptron(Patterns(["U:%x[0,0]%x[1,0]"])).fit(
        [["a", high, low]], [["A", "B", "A"]]
    )
    named = StructuredPerceptron().fit([[{"f": PAIR}, {"f": "z"}]], [["B", "A"]])
    for model in (joined, named):
        with pytest.raises(
            ValueError, match="has two surrogates that are one character"
        ):
            export(model, tmp_path / "tagger.py")
    alone = StructuredPerceptron("word").fit([["a", high, low]], [["A", "B", "A"]])
    assert loaded(written(alone, tmp_path)).predict([[high, low]]) == alone.predict(
        [[high, low]]
    )


@pytest.mark.parametrize(
    "features", [["U%x[0,0]"], Patterns(["U%x[0,0]"]), "auto"], ids=str
)
def test_a_pair_of_surrogates_without_weights_beside_its_character(features, tmp_path):
    """JavaScript would find the weights of the character, where the model has none."""
    X, y = (
        [["a", "\U0001f600", "b"]] * 5 + [["a", PAIR, "b"]],
        [["A", "B", "C"]] * 5 + [["A", "A", "C"]],
    )
    asks = [[PAIR], ["\U0001f600"]]
    if features == "auto":
        X, asks = ([[[token] for token in x] for x in given] for given in (X, asks))
    model = L1CRF(features, c1=1.0).fit(X, y)
    assert (
        loaded(written(model, tmp_path)).predict(asks)
        == model.predict(asks)
        == [["A"], ["B"]]
    )
    for name in ("tagger.js", "tagger.mjs"):
        with pytest.raises(
            ValueError,
            match="JavaScript cannot tell .* which has two surrogates, from ",
        ):
            export(model, tmp_path / name)


def test_labels_that_javascript_would_round(tmp_path):
    largest = 2**53
    X, y = [["a", "b"]], [[largest, -largest - 1]]
    model = StructuredPerceptron("word").fit(X, y)
    assert loaded(written(model, tmp_path)).predict(X) == y
    for name in ("tagger.js", "tagger.mjs", "tagger.html"):
        with pytest.raises(ValueError) as error:
            export(model, tmp_path / name)
        assert str(error.value).startswith(
            f"{WHY}the label {-largest - 1} is beyond 2**53"
        )
    exact = StructuredPerceptron("word").fit(X, [[largest, -largest]])
    script = written(exact, tmp_path, "tagger.js")
    if NODE:
        assert asked(script, X, "predict")["predict"] == [[largest, -largest]]


def test_searches_and_pipelines_are_what_they_end_in(tagger, tmp_path):
    model, X, y = tagger
    search = GridSearchCV(
        StructuredPerceptron("word", random_state=0), {"max_iter": [1, 2]}, cv=2
    )
    search.fit(X[:30], y[:30])
    assert loaded(written(search, tmp_path)).predict(X[30:40]) == search.predict(
        X[30:40]
    )
    piped = make_pipeline("passthrough", model)
    assert loaded(written(piped, tmp_path)).predict(X[30:40]) == model.predict(X[30:40])


def test_input_that_a_file_refuses(tagger, tmp_path):
    model, X, _ = tagger
    file, script = (
        loaded(written(model, tmp_path)),
        written(model, tmp_path, "tagger.js"),
    )
    wrong = {
        "X: sequence 0, position 2: expected a str, got 5": [["a", "b", 5]],
        "X: sequence 1: expected a list of tokens, got 'ab'": [["a"], "ab"],
    }
    for text, given in wrong.items():
        with pytest.raises(ValueError) as error:
            file.predict(given)
        assert str(error.value) == text
        if NODE:
            assert asked(script, given, "predict")["predict"]["error"] == text
    for given in (3, None, "ab", {"a": 1}):
        for ask in (file.predict, file.decision_function):
            with pytest.raises(ValueError) as error:
                ask(given)
            assert str(error.value) == f"X must be a list of sequences, got {given!r}"
        if NODE and isinstance(given, int | str):
            asks = "predict", "decisionFunction"
            found = asked(script, given, *asks)
            assert [found[ask]["error"] for ask in asks] == [str(error.value)] * 2
    with pytest.raises(ValueError) as error:
        file.predict_marginals(X[:1])
    assert (
        str(error.value)
        == "the model has no probabilities: calibrate it, or train an L1CRF"
    )


def test_allowed_labels(tagger, tmp_path):
    model, X, _ = tagger
    file = loaded(written(model, tmp_path))
    labels = file.labels
    allowed = [[None, labels[0], [labels[1], labels[2]], *[None] * (len(X[30]) - 3)]]
    assert file.predict(X[30:31], allowed) == model.predict(X[30:31], allowed)
    if NODE:
        said = asked(
            written(model, tmp_path, "tagger.js"), X[30:31], "predict", allowed=allowed
        )
        assert said["predict"] == model.predict(X[30:31], allowed)
    with pytest.raises(
        ValueError,
        match=r"^X: sequence 0, position 0: 'no' is not a label of the model$",
    ):
        file.predict([["a"]], [["no"]])
    for allowed in ([], [[None], [None]]):
        with pytest.raises(
            ValueError, match="^X and allowed must hold the same number of sequences$"
        ) as error:
            file.predict([["a"]], allowed)
        if NODE:
            said = asked(
                written(model, tmp_path, "tagger.js"),
                [["a"]],
                "predict",
                allowed=allowed,
            )
            assert said["predict"]["error"] == str(error.value)


def test_models_without_any_weight(tmp_path):
    model = StructuredPerceptron("word", max_iter=1).fit([["a"]], [["A"]])
    assert loaded(written(model, tmp_path)).predict([["a", "b"]]) == model.predict(
        [["a", "b"]]
    )
    if NODE:
        assert asked(written(model, tmp_path, "t.js"), [["a"]], "predict") == {
            "predict": [["A"]]
        }
