"""Word vectors and clusters learned from raw text."""

import pickle
from copy import deepcopy

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import skstruct
from skstruct import SequenceMatrix, StructuredPerceptron
from skstruct.features import SequenceUnion, TokenVectorizer, WordVectors

NOUNS, VERBS, ARTICLES = (
    ["dog", "cat", "bird", "fish"],
    ["barks", "sleeps", "sings", "swims"],
    ["the", "a"],
)
TEXT = [[a, noun, verb] for a in ARTICLES for noun in NOUNS for verb in VERBS]
CLUSTERED = ["U0:%x[0,1]", "B"]


def vectors(**parameters):
    return WordVectors(
        **{"n_components": 3, "min_count": 2, "random_state": 0, **parameters}
    )


def naive(text, window, keep):
    """Rows of the weighted counts, by dictionaries, for the words of ``keep``."""
    pairs = {}
    for x in text:
        for t, word in enumerate(x):
            for d in (*range(-window, 0), *range(1, window + 1)):
                other = x[t + d] if 0 <= t + d < len(x) else None
                pairs[word, (d, other)] = pairs.get((word, (d, other)), 0) + 1
    pairs = {pair: n for pair, n in pairs.items() if pair[0] in keep}
    contexts = sorted({context for _, context in pairs}, key=repr)
    smooth = [
        sum(n for (_, c), n in pairs.items() if c == context) ** 0.75
        for context in contexts
    ]
    table = np.zeros((len(keep), len(contexts)))
    for i, word in enumerate(keep):
        total = sum(n for (w, _), n in pairs.items() if w == word)
        for j, context in enumerate(contexts):
            n = pairs.get((word, context), 0)
            table[i, j] = (
                max(0.0, np.log(n / total * sum(smooth) / smooth[j])) if n else 0.0
            )
    return table


@pytest.mark.parametrize("window", [1, 2])
def test_the_vectors_are_those_of_the_definition(window):
    rng = np.random.default_rng(0)
    text = [
        [f"w{k}" for k in rng.zipf(1.6, rng.integers(0, 7)) if k < 12]
        for _ in range(60)
    ]
    found = vectors(n_components=4, window=window, min_count=3).fit(text)
    words = list(found.words_)
    left, values, _ = np.linalg.svd(naive(text, window, words))
    expected = left[:, :4] * np.sqrt(values[:4])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    # The factors are unique up to signs, the angles between words are unique.
    np.testing.assert_allclose(
        found.vectors_ @ found.vectors_.T, expected @ expected.T, atol=1e-4
    )


def test_words_that_stand_alike_are_alike():
    found = vectors().fit(TEXT)
    rows = found.transform([["dog", "bird", "sleeps"]]).matrix
    assert rows[0] @ rows[1] > 0.99 and rows[0] @ rows[2] < 0.5
    grouped = vectors(n_clusters=3).fit(TEXT)
    [[dog, bird, sleeps]] = grouped.transform([["dog", "bird", "sleeps"]])
    assert dog[1] == bird[1] != sleeps[1] and [dog[0], bird[0], sleeps[0]] == [
        "dog",
        "bird",
        "sleeps",
    ]


def test_rows():
    X = [["The", "dog"], [], ["unheard"], ["DOG"]]
    found = vectors().fit([*TEXT, ["once"], []])
    rows = found.transform(X)
    assert isinstance(rows, SequenceMatrix) and rows.lengths.tolist() == [2, 0, 1, 1]
    assert rows.matrix.dtype == np.float32 and rows.matrix.shape == (4, 3)
    assert not rows.matrix[2].any() and "once" not in found.words_
    np.testing.assert_array_equal(rows.matrix[1], rows.matrix[3])
    np.testing.assert_allclose(np.linalg.norm(found.vectors_, axis=1), 1, rtol=1e-5)
    assert rows.feature_names == ("wordvectors0", "wordvectors1", "wordvectors2")
    assert found.get_feature_names_out().tolist() == list(rows.feature_names)
    assert len(found.transform([])) == 0 and found.transform([[], []]).matrix.shape == (
        0,
        3,
    )


def test_clusters_are_a_column_more():
    found = vectors(n_clusters=3).fit(TEXT)
    names = {str(k) for k in range(3)}
    [[the, dog], nothing, [unheard]] = found.transform(
        [["The", "dog"], [], ["unheard"]]
    )
    assert (
        the[0] == "The"
        and the[1] in names
        and nothing == []
        and unheard == ("unheard", "_")
    )
    assert found.transform([[("dog", "N")]]) == [[("dog", "N", dog[1])]]
    assert found.get_feature_names_out().tolist() == ["wordcluster"]
    assert found.set_params(n_clusters=None).fit(TEXT).transform(
        [["dog"]]
    ).matrix.shape == (1, 3)


def test_the_text_may_be_larger_than_what_has_labels():
    """A tagger that has seen one noun knows the others by the company they keep."""
    X, y = [["the", "dog", "barks"], ["a", "dog", "barks"]], [["D", "N", "V"]] * 2
    unseen = [["the", "fish", "swims"], ["a", "cat", "sings"]]
    grouped = vectors(n_clusters=3).fit(TEXT)
    tagger = StructuredPerceptron(CLUSTERED, random_state=0).fit(
        grouped.transform(X), y
    )
    assert tagger.predict(grouped.transform(unseen)) == y
    rows = vectors().fit(TEXT)
    tagger = StructuredPerceptron(random_state=0).fit(rows.transform(X), y)
    assert tagger.predict(rows.transform(unseen)) == y


def test_as_scikit_learn_wants_it(tmp_path):
    y = [["D", "N", "V"]] * len(TEXT)
    for n_clusters, features in ((None, "auto"), (3, CLUSTERED)):
        first = vectors(n_clusters=n_clusters).set_output(transform="pandas")
        tagger = StructuredPerceptron(features, random_state=0)
        pipeline = make_pipeline(first, tagger, memory=str(tmp_path)).fit(TEXT, y)
        again = make_pipeline(clone(first), clone(tagger), memory=str(tmp_path)).fit(
            TEXT, y
        )
        kept = pickle.loads(pickle.dumps(pipeline))
        assert pipeline.predict(TEXT) == again.predict(TEXT) == kept.predict(TEXT) == y
        grid = {"wordvectors__window": [1, 2], "wordvectors__n_components": [2, 3]}
        search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(TEXT, y)
        assert search.predict(TEXT) == y


def test_learned_beforehand_and_kept():
    """Frozen vectors stay those of the larger text in pipelines, unions and searches on
    what has labels.
    """
    X, y = [["the", "dog", "barks"], ["a", "bird", "barks"]] * 3, [["D", "N", "V"]] * 6
    unseen = [["the", "fish", "swims"]]
    grouped = FrozenEstimator(vectors(n_clusters=3).fit(TEXT))
    pipeline = make_pipeline(grouped, StructuredPerceptron(CLUSTERED, random_state=0))
    assert pipeline.fit(X, y).predict(unseen) == [["D", "N", "V"]]
    search = GridSearchCV(
        pipeline, {"structuredperceptron__max_iter": [2, 5]}, cv=3, error_score="raise"
    )
    assert search.fit(X, y).predict(unseen) == [["D", "N", "V"]]
    rows = FrozenEstimator(vectors().fit(TEXT))
    union = SequenceUnion(
        [("form", TokenVectorizer(["U0:%x[0,0]", "B"])), ("vectors", rows)]
    )
    pipeline = make_pipeline(union, StructuredPerceptron(random_state=0))
    assert pipeline.fit(X, y).predict(unseen) == [["D", "N", "V"]]
    names = union.get_feature_names_out().tolist()
    assert (
        names[-3:] == [f"vectors__wordvectors{k}" for k in range(3)]
        and len(names) == 5 + 3
    )


def test_labels_are_not_looked_at():
    a, b = (
        vectors(n_clusters=3).fit(TEXT),
        vectors(n_clusters=3).fit(TEXT, [["x"] * 3] * len(TEXT)),
    )
    np.testing.assert_array_equal(a.vectors_, b.vectors_)
    assert a.transform(TEXT) == b.transform(TEXT)


@pytest.mark.parametrize(
    ("X", "parameters", "message"),
    [
        (
            TEXT,
            {"n_components": 50},
            "10 words occur min_count=2 times .* fewer than the 50 that n_comp",
        ),
        (
            TEXT,
            {"n_clusters": 11},
            "fewer than the 11 that n_components=3 and n_clusters=11 need",
        ),
        ([], {}, "0 words occur"),
        (TEXT, {"window": 0}, "window"),
        (
            [np.eye(2)],
            {},
            "the tokens are rows of numbers already; WordVectors needs words",
        ),
        (
            [["a"], ["b", 3]],
            {},
            "X: sequence 1, position 1: expected a token of the type str, got int 3",
        ),
        (
            [[("a", "b")], [("c",)]],
            {},
            "sequence 1, position 0: expected 2 columns like the first token",
        ),
        ([["a"], "bc"], {}, "X: sequence 1"),
    ],
)
def test_what_is_refused(X, parameters, message):
    with pytest.raises(ValueError, match=message):
        vectors(**parameters).fit(X)
    with pytest.raises(NotFittedError):
        vectors().transform(TEXT)


@pytest.mark.parametrize("n_clusters", [None, 2])
@pytest.mark.parametrize("way", ["file", "pickle", "copy"])
def test_vectors_that_were_brought_know_it_wherever_they_are_kept(
    way, n_clusters, tmp_path
):
    known = {"dog": [1.0, 0.0], "cat": [0.5, 0.5], "tree": [0.0, 1.0]}
    words = WordVectors.from_dict(known, n_clusters=n_clusters, random_state=0)
    if way == "file":
        skstruct.save(words, tmp_path / "words")
        words = skstruct.load(tmp_path / "words")
    else:
        words = (
            pickle.loads(pickle.dumps(words)) if way == "pickle" else deepcopy(words)
        )
    with pytest.raises(ValueError, match="fit would replace them"):
        words.fit([["a"]])
    with pytest.raises(ValueError, match="fit_text would replace them"):
        words.fit_text(["a b"])
    with pytest.raises(ValueError, match="a clone would forget them"):
        clone(words)
