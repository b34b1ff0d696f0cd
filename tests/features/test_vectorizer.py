"""Features encoded once: what is learned from the matrix is what is learned from the
tokens.
"""

import pickle
import re

import numpy as np
import pytest
from model_cases import bags, dicts, pairs, tokens
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.feature_selection import VarianceThreshold
from sklearn.model_selection import GridSearchCV, KFold, RandomizedSearchCV
from sklearn.pipeline import Pipeline

from skstruct import (
    L1CRF,
    BaggingShuffleAverager,
    ParameterMixer,
    PassiveAggressiveTagger,
    SequenceMatrix,
    StructuredPerceptron,
)
from skstruct.datasets import load_chunking
from skstruct.features import TokenTransformer, TokenVectorizer
from skstruct.inspection import (
    explain,
    feature_weights,
    features_of,
    transition_weights,
)

TEMPLATES = [
    "U0:%x[0,0]",
    "U1:%x[-1,0]/%x[0,0]",
    "U2:%x[0,0]/%x[1,0]",
    "U3:%x[-2,0]",
    "B",
]

KINDS = {
    "str": (tokens, TEMPLATES),
    "pairs": (pairs, [*TEMPLATES, "U4:%x[0,1]/%x[1,1]", "U5:"]),
    "no-bigram": (tokens, TEMPLATES[:-1]),
    "bigram-alone": (tokens, ["B"]),
    "dicts": (dicts, "auto"),
    "bags": (bags, "auto"),
}


def longer(X):
    """Sequences of other lengths, an empty one among them."""
    return [x * (1 + k % 3) for k, x in enumerate(X)] + [X[0][:1], []]


def corpus(kind):
    data, features = KINDS[kind]
    X, y = data(4)
    return longer(X), longer(y), features


LEARNERS = {
    "perceptron": lambda **p: StructuredPerceptron(max_iter=3, random_state=0, **p),
    "order2": lambda **p: StructuredPerceptron(
        order=2, max_iter=3, random_state=0, **p
    ),
    "rare": lambda **p: StructuredPerceptron(
        max_iter=3, min_count=2, penalty="l1", random_state=0, **p
    ),
    "passive-aggressive": lambda **p: PassiveAggressiveTagger(
        max_iter=3, random_state=0, **p
    ),
    "stops": lambda **p: StructuredPerceptron(
        early_stopping=True, validation_fraction=0.3, random_state=1, **p
    ),
    "averager": lambda **p: BaggingShuffleAverager(
        StructuredPerceptron(max_iter=2, **p), 2, random_state=0
    ),
    "mixer": lambda **p: ParameterMixer(
        StructuredPerceptron(max_iter=2, **p), 2, random_state=0
    ),
}


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_matrix_stands_for_the_tokens(kind, learner):
    X, y, features = corpus(kind)
    vectorizer = TokenVectorizer(features)
    matrix = vectorizer.fit_transform(X)
    assert isinstance(matrix, SequenceMatrix) and len(matrix) == len(X)
    for keep in (range(len(X)), [3, 1, 6, 2, 4, 7], range(5)):
        keep = list(keep)
        part, labels = [X[i] for i in keep], [y[i] for i in keep]
        expected = LEARNERS[learner](features=features).fit(part, labels)
        found = LEARNERS[learner]().fit(matrix[keep], labels)
        assert found.predict(matrix) == expected.predict(X)
        assert (
            found.decision_function(matrix).tolist()
            == expected.decision_function(X).tolist()
        )
        assert found.predict_kbest(matrix, 3) == expected.predict_kbest(X, 3)
        assert found.score(matrix, y) == expected.score(X, y)


@pytest.mark.parametrize("kind", KINDS)
def test_the_crf_too(kind):
    X, y, features = corpus(kind)
    matrix = TokenVectorizer(features).fit_transform(X)
    for parameters in (
        {"c1": 0.3},
        {"c1": 0.0, "c2": 0.5},
        {"c1": 0.1, "all_pairs": False, "min_count": 2},
    ):
        expected = L1CRF(features, random_state=0, **parameters).fit(X, y)
        found = L1CRF(random_state=0, **parameters).fit(matrix, y)
        assert found.objective_ == pytest.approx(expected.objective_, rel=1e-6)
        assert found.predict(matrix) == expected.predict(X)
        for mine, theirs in zip(
            found.predict_marginals(matrix), expected.predict_marginals(X)
        ):
            np.testing.assert_allclose(mine, theirs, atol=1e-3)


@pytest.mark.parametrize("kind", ["dicts", "bags"])
def test_with_ready_made_features_noise_is_the_same(kind):
    X, y, _ = corpus(kind)
    matrix = TokenVectorizer().fit_transform(X)
    noisy = StructuredPerceptron(
        feature_noise="dropout", dropout=0.1, noise_rate=0.3, random_state=0
    )
    expected = clone(noisy).fit(X[2:], y[2:]).partial_fit(X, y)
    found = clone(noisy).fit(matrix[2:], y[2:]).partial_fit(matrix, y)
    assert (
        found.decision_function(matrix).tolist()
        == expected.decision_function(X).tolist()
    )


def test_real_text():
    X, y = load_chunking()
    vectorizer = TokenVectorizer("chunk").fit(X)
    matrix = vectorizer.transform(X[::2])
    expected = StructuredPerceptron("chunk", max_iter=2, random_state=0).fit(
        X[::2], y[::2]
    )
    found = StructuredPerceptron(max_iter=2, random_state=0).fit(matrix, y[::2])
    unseen = vectorizer.transform(X[1::2])
    assert found.predict(unseen) == expected.predict(X[1::2])
    assert (
        found.decision_function(unseen).tolist()
        == expected.decision_function(X[1::2]).tolist()
    )


def test_names():
    X, y, features = corpus("pairs")
    vectorizer = TokenVectorizer(features)
    matrix = vectorizer.fit_transform(X)
    names = vectorizer.get_feature_names_out()
    assert names.dtype == object and names.shape == (vectorizer.n_features_out_,) == (
        matrix.matrix.shape[1],
    )
    assert len(set(names)) == len(names) and matrix.feature_names == tuple(names)
    expected = StructuredPerceptron(features, max_iter=3, random_state=0).fit(X, y)
    found = StructuredPerceptron(max_iter=3, random_state=0).fit(matrix, y)
    assert sorted(feature_weights(found)) == sorted(feature_weights(expected))
    assert list(map(sorted, features_of(found, matrix[1]))) == list(
        map(sorted, features_of(expected, X[1]))
    )
    np.testing.assert_array_equal(
        transition_weights(found), transition_weights(expected)
    )
    explained = explain(found, matrix[1])
    assert explained.labels == expected.predict([X[1]])[0]
    assert explained.score == pytest.approx(expected.decision_function([X[1]])[0])


def test_rare_features_and_unknown_ones():
    X = [["a", "a", "b"], ["a", "c"]]
    vectorizer = TokenVectorizer(["U0:%x[0,0]", "U1:%x[0,0]/%x[1,0]"], min_count=2)
    assert vectorizer.fit_transform(X).matrix.toarray().tolist() == [
        [1.0],
        [1.0],
        [0.0],
        [1.0],
        [0.0],
    ]
    assert vectorizer.get_feature_names_out().tolist() == ["U0:a"]
    assert vectorizer.transform([["d", "a"], []]).matrix.toarray().tolist() == [
        [0.0],
        [1.0],
    ]
    vectorizer = TokenVectorizer().fit(
        [[{"w": "a", "n": 2.5, "t": True}, {"w": "b", "n": 0}]]
    )
    assert vectorizer.get_feature_names_out().tolist() == ["w:a", "n", "t", "w:b"]
    assert vectorizer.transform(
        [[{"w": "z", "n": -1.5}]]
    ).matrix.toarray().tolist() == [[0.0, -1.5, 0.0, 0.0]]


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_search_encodes_once(n_jobs):
    X, y, features = corpus("dicts")
    X, y = X * 2, y * 2
    matrix = TokenVectorizer().fit_transform(X)
    grid = {"c1": [0.1, 0.5], "c2": [0.1, 0.3]}
    options = {"cv": KFold(3), "n_jobs": n_jobs, "error_score": "raise"}
    expected = GridSearchCV(L1CRF(random_state=0), grid, **options).fit(X, y)
    found = GridSearchCV(L1CRF(random_state=0), grid, **options).fit(matrix, y)
    for key in (f"split{k}_test_score" for k in range(3)):
        assert found.cv_results_[key].tolist() == expected.cv_results_[key].tolist()
    assert found.predict(matrix) == expected.predict(X)
    RandomizedSearchCV(
        L1CRF(random_state=0), grid, n_iter=2, random_state=0, **options
    ).fit(matrix, y)


def test_in_a_pipeline():
    X, y, features = corpus("str")
    pipeline = Pipeline(
        [
            ("encode", TokenVectorizer(features)),
            ("tag", StructuredPerceptron(random_state=0)),
        ]
    )
    tagger = StructuredPerceptron(features, random_state=0).fit(X, y)
    assert pipeline.fit(X, y).predict(X) == tagger.predict(X)
    assert pickle.loads(pickle.dumps(pipeline)).predict(X) == tagger.predict(X)
    search = GridSearchCV(
        pipeline, {"encode__min_count": [1, 2], "tag__max_iter": [2, 3]}, cv=2
    )
    assert len(search.fit(X, y).predict(X)) == len(X)
    # What follows may be one of scikit-learn's own, on the matrix of all tokens.
    matrix = pipeline[0].transform(X)
    chosen = VarianceThreshold(0.01).fit(matrix.matrix)
    fewer = SequenceMatrix(chosen.transform(matrix.matrix), matrix.lengths)
    assert StructuredPerceptron(random_state=0).fit(fewer, y).score(fewer, y) > 0.5


def test_models_of_it_can_be_kept(tmp_path):
    import skstruct

    X, y, features = corpus("no-bigram")
    vectorizer = TokenVectorizer(features)
    matrix = vectorizer.fit_transform(X)
    tagger = StructuredPerceptron(min_count=2, random_state=0).fit(matrix[:4], y[:4])
    tagger.save(tmp_path / "model")
    again = skstruct.load(tmp_path / "model")
    for model in (tagger, again):
        model.partial_fit(matrix, y)
    assert (
        again.decision_function(matrix).tolist()
        == tagger.decision_function(matrix).tolist()
    )
    assert feature_weights(again) == feature_weights(tagger)
    assert not transition_weights(again).any()  # the templates have no B


def test_what_is_refused():
    X, y, features = corpus("str")
    with pytest.raises(
        ValueError, match=r"templates of transitions, such as 'B1:%x\[0,0\]'"
    ):
        TokenVectorizer([*features, "B1:%x[0,0]"]).fit(X)
    with pytest.raises(ValueError, match="the tokens are rows of numbers already"):
        TokenVectorizer().fit([np.eye(2)])
    with pytest.raises(ValueError, match="X holds no token"):
        TokenVectorizer().fit([[]])
    with pytest.raises(ValueError, match="min_count"):
        TokenVectorizer(min_count=0).fit(X)
    with pytest.raises(NotFittedError):
        TokenVectorizer().transform(X)
    vectorizer = TokenVectorizer(features).fit(X)
    with pytest.raises(
        ValueError,
        match="X: sequence 1, position 0: expected a token of the type str, got int 3",
    ):
        vectorizer.transform([["a"], [3]])
    matrix = vectorizer.transform(X)
    tagger = StructuredPerceptron(features, random_state=0).fit(X, y)
    with pytest.raises(
        ValueError, match="expected strings or tuples of strings as .* got a row of"
    ):
        tagger.predict(matrix)
    tagger = StructuredPerceptron(random_state=0).fit(matrix, y)
    other = TokenVectorizer(features).fit(X[::-1]).transform(X)
    with pytest.raises(
        ValueError,
        match="feature names differ from those of training: column 4 is 'U0:w4', was 'U0:w1'",
    ):
        tagger.predict(other)
    with pytest.raises(
        ValueError, match="X: sequence 0 has 2 columns, expected .* as in training"
    ):
        tagger.predict([np.eye(2)])


@pytest.mark.parametrize(
    "tokens",
    [
        [["a", "b", "a"], ["c"], ["a"], ["b", "b"]],
        [
            {"a": 1.0, "b": True, "l": ["x", "x", "y"]},
            {"l": {"x": 2.0}, "l:x": 0.5},
            {"a": 3},
            {"b": False},
        ],
    ],
)
def test_a_feature_named_twice_is_one_entry(tokens):
    """What counts entries, as tf-idf does, sees each feature of a token once."""
    vectorizer = TokenVectorizer()
    matrix = vectorizer.fit_transform([tokens[:1], tokens[1:]])
    again = vectorizer.transform([tokens])
    for found in (matrix, again):
        summed = found.matrix.copy()
        summed.sum_duplicates()
        assert (
            found.matrix.nnz == summed.nnz
            and (found.matrix.toarray() == summed.toarray()).all()
        )
    plain = (
        CountVectorizer(analyzer=list).fit_transform(tokens)
        if isinstance(tokens[0], list)
        else None
    )
    if plain is not None:
        assert sorted(map(tuple, matrix.matrix.toarray().T)) == sorted(
            map(tuple, plain.toarray().T)
        )
        found = TokenTransformer(TfidfTransformer()).fit(matrix).transformer_.idf_
        assert sorted(found) == sorted(TfidfTransformer().fit(plain).idf_)
    X, y = [tokens, tokens[::-1]], [["p", "q", "p", "q"], ["q", "p", "q", "p"]]
    tagger, same = (
        StructuredPerceptron(random_state=0),
        StructuredPerceptron(random_state=0),
    )
    tagger.fit(X, y)
    same.fit(vectorizer.fit_transform(X), y)
    scores = same.decision_function(vectorizer.transform(X))
    assert np.allclose(scores, tagger.decision_function(X), rtol=1e-12)


SHARED_NAMES = {
    "neighbours": ["U:%x[0,0]", "U:%x[-1,0]", "B"],
    "twice": ["U:%x[0,0]", "U:%x[0,0]"],
    "pairs": ["U1:%x[-1,0]/%x[0,0]", "U1:%x[0,0]/%x[1,0]", "U2:%x[0,0]"],
    "three": ["U:%x[0,0]", "U:%x[-1,0]", "U:%x[1,0]"],
    "none": ["U1:%x[0,0]", "U2:%x[-1,0]"],
}


@pytest.mark.parametrize("kind", [*SHARED_NAMES, "lists", "dicts"])
def test_an_entry_is_one_feature_of_a_token(kind):
    """What has one name is one entry with the sum: of templates, lists and dicts."""
    X = [["a", "a", "b"], ["b", "b", "b", "c"], ["a"]]
    vectorizer = TokenVectorizer(SHARED_NAMES.get(kind, "auto"))
    if kind in SHARED_NAMES:
        lines = SHARED_NAMES[kind]
        expected = [features_written(lines, x, t) for x in X for t in range(len(x))]
    else:
        expected = [["bias", f"w:{word}", f"w:{word}"] for x in X for word in x]
        X = [[[f"w:{word}", "bias", f"w:{word}"] for word in x] for x in X]
    if kind == "dicts":
        X = [[{"bias": True, "w": [a[2:], c[2:]]} for a, _, c in x] for x in X]
    vectorizer.fit(X)
    for each in vectorizer, pickle.loads(pickle.dumps(vectorizer)):
        matrix = each.transform(X).matrix
        names = each.get_feature_names_out()
        for row, features in zip(matrix, expected):
            found = dict(zip(names[row.indices], row.data))
            assert len(found) == row.nnz == len(set(features))
            assert found == {name: features.count(name) for name in features}


def features_written(templates, x, t):
    """The features of a token as the templates spell them."""
    padded = ["_B-1", *x, "_B+1"]

    def word(found):
        return padded[t + 1 + int(found[1])]

    macro = re.compile(r"%x\[(-?\d),0\]")
    return [macro.sub(word, line) for line in templates if line[0] == "U"]
