"""Word vectors of other programs: read, looked up, and saved alone, in a union and in a
pipeline.
"""

import copy
import gzip
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline

import skstruct
from skstruct import StructuredPerceptron
from skstruct.features import SequenceUnion, TokenVectorizer, WordVectors

X = [["the", "Dog", "barks"], ["a", "cat", "sleeps"]] * 3
Y = [["D", "N", "V"], ["D", "N", "V"]] * 3
VECTORS = {"the": [1, 0], "dog": [0.5, 0.5], "cat": [0.5, 0.25], "New York": [0, 1]}
LINES = [f"{word} {a} {b}" for word, (a, b) in VECTORS.items()]


def brought(path, lines):
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return WordVectors.from_file(path)


def same(a, b):
    return a.words_ == b.words_ and (a.vectors_ == b.vectors_).all()


def test_files_of_word2vec_and_glove(tmp_path):
    known = WordVectors.from_dict(VECTORS)
    assert same(brought(tmp_path / "glove.txt", LINES[:3]), WordVectors.from_dict(
        {word: VECTORS[word] for word in ("the", "dog", "cat")}
    ))  # fmt: skip
    assert same(brought(tmp_path / "word2vec.txt", ["4 2", *LINES]), known)
    with gzip.open(tmp_path / "vectors.gz", "wt", encoding="utf-8") as file:
        file.write("4 2\n" + "\n".join(line + " " for line in LINES))
    assert same(WordVectors.from_file(tmp_path / "vectors.gz"), known)


def test_words_are_looked_up_as_they_are_then_in_lower_case():
    found = WordVectors.from_dict({**VECTORS, "The": [3, 3]}).transform(
        [["The", "Dog", "x"]]
    )
    assert found[0].tolist() == [[3, 3], [0.5, 0.5], [0, 0]]


def test_the_first_of_words_that_are_equal_in_normal_form_counts():
    known = WordVectors.from_dict({"\u00e9": [1.0], "e\u0301": [2.0]})
    assert known.transform([["e\u0301"]])[0].tolist() == [[1.0]]


@pytest.mark.parametrize(
    "lines, wrong",
    [
        (["the 1 0", "dog 1"], r"vectors.txt:2: expected a word and 2 numbers"),
        (["the 1 0", "dog 1 x"], r"vectors.txt:2: could not convert"),
        (["the 1 nan"], r"vectors.txt:1: a number is not finite"),
        ([], "expected a word|there are no vectors"),
        (["2 3", "the 1 2"], r"vectors.txt:2: expected a word and 3 numbers"),
    ],
)
def test_malformed_files(lines, wrong, tmp_path):
    with pytest.raises(ValueError, match=wrong):
        brought(tmp_path / "vectors.txt", lines)


@pytest.mark.parametrize(
    "given, wrong",
    [
        ({}, "there are no vectors"),
        ({"a": [1.0], "b": [1.0, 2.0]}, "the vector of 'b' must be 1 finite numbers"),
        ({"a": [np.inf]}, "the vector of 'a' must be 1 finite numbers"),
        ({1: [1.0]}, "words must be str, got int 1"),
        (["a"], "vectors must be a dict"),
    ],
)
def test_malformed_dicts(given, wrong):
    with pytest.raises((TypeError, ValueError), match=wrong):
        WordVectors.from_dict(given)


def kept(model, path):
    skstruct.save(model, path)
    return skstruct.load(path), pickle.loads(pickle.dumps(model))


def test_alone(tmp_path):
    for vectors in (
        WordVectors.from_dict(VECTORS),
        WordVectors.from_dict(VECTORS, n_clusters=2, random_state=0),
    ):
        for again in kept(vectors, tmp_path / "vectors"):
            found, expected = again.transform(X), vectors.transform(X)
            assert [list(map(list, s)) for s in found] == [
                list(map(list, s)) for s in expected
            ]
    for again in kept(FrozenEstimator(vectors), tmp_path / "vectors"):
        assert again.estimator.words_ == vectors.words_
    with pytest.raises(ValueError, match="neither source_layout nor card"):
        skstruct.save(vectors, tmp_path / "vectors", card={"date": "", "version": ""})


def test_in_a_union_and_in_a_pipeline(tmp_path):
    vectors = FrozenEstimator(WordVectors.from_dict(VECTORS))
    union = SequenceUnion(
        [("vectors", vectors), ("form", TokenVectorizer(["U0:%x[0,0]"]))]
    )
    model = make_pipeline(union, StructuredPerceptron(random_state=0)).fit(X, Y)
    for again in kept(model, tmp_path / "model"):
        assert again.predict(X) == model.predict(X)
    for again in kept(model[0], tmp_path / "union"):
        for a, b in zip(again.transform(X), model[0].transform(X), strict=True):
            assert (a != b).sum() == 0


@pytest.mark.parametrize("n_clusters", [None, 2])
def test_vectors_are_not_replaced_by_those_of_a_corpus(n_clusters):
    """A pipeline fits its steps, and searches fit clones of it."""
    brought = WordVectors.from_dict(VECTORS, n_clusters=n_clusters, random_state=0)
    before = brought.vectors_.copy()
    tagger = StructuredPerceptron(random_state=0)
    union = SequenceUnion([("vectors", brought), ("form", TokenVectorizer())])
    for first in brought, union:
        with pytest.raises(ValueError, match=r"FrozenEstimator\(words\)"):
            make_pipeline(first, tagger).fit(X * 9, Y * 9)
        with pytest.raises(ValueError, match=r"FrozenEstimator\(words\)"):
            clone(make_pipeline(first, tagger))
    assert (brought.vectors_ == before).all()
    assert clone(FrozenEstimator(brought)).estimator is brought
    assert (copy.deepcopy(brought).vectors_ == before).all()


def test_clusters_for_a_tagger():
    table = WordVectors.from_dict(VECTORS, n_clusters=2, random_state=0).table()
    assert table.words == [*VECTORS]
    with pytest.raises(ValueError, match="n_clusters=5, but there are 4 words"):
        WordVectors.from_dict(VECTORS, n_clusters=5)
    model = StructuredPerceptron(words=table, random_state=0).fit(X, Y)
    assert model.predict(X) == Y
