"""Clusters of words from raw text as a parameter of taggers: learned once, carried by
models and files.
"""

import copy
import pickle

import numpy as np
import pytest
from inside import model_of
from one_file_cases import loaded as imported
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV

import skstruct
from skstruct import (
    L1CRF,
    L1CRFCV,
    BaggingShuffleAverager,
    CalibratedTagger,
    FeatureTemplates,
    ParameterMixer,
    PassiveAggressiveTagger,
    SpanTagger,
    StructuredPerceptron,
)
from skstruct.features import WordVectors
from skstruct.features.patterns import Patterns
from skstruct.inspection import explain
from skstruct.interchange import export

NOUNS, VERBS = (
    ["dog", "cat", "bird", "fish", "US"],
    ["barks", "sleeps", "sings", "swims"],
)
LINES = [f"{a} {noun} {verb}" for a in ("The", "a") for noun in NOUNS for verb in VERBS]
TEXT = [line.split() for line in LINES]
X, Y = [["the", "dog", "barks"], ["a", "cat", "sleeps"]], [["D", "N", "V"]] * 2
UNSEEN = [["The", "fish", "Swims"]]
READS_CLUSTERS = ["U:%cluster[0,0]", "B"]
SPANS = [[(4, 7, "ANIMAL")], [(2, 5, "ANIMAL")]]


def vectors(**parameters):
    return WordVectors(
        3, **{"n_clusters": 3, "min_count": 2, "random_state": 0, **parameters}
    )


def words_in(tagger):
    return model_of(tagger).encoder.templates.words


@pytest.fixture(scope="module")
def words():
    return vectors().fit_text(LINES).table()


def tagger(words, features=READS_CLUSTERS, **parameters):
    return StructuredPerceptron(features, words=words, random_state=0, **parameters)


# -- learned from raw text -------------------------------------------------------------
def test_text_is_learned_as_its_words_are(tmp_path, monkeypatch):
    expected = vectors().fit(TEXT)
    path = tmp_path / "raw.txt"
    path.write_text("\n".join(LINES), encoding="utf-8")
    for lines in (LINES, iter(LINES), path, ["\n".join(LINES)], []):
        if lines == []:  # piece by piece
            monkeypatch.setattr("skstruct.features.neighbour_counts.AT_ONCE", 20)
            lines = LINES
        found = vectors().fit_text(lines)
        assert found.words_ == expected.words_ and found.table() == expected.table()
        np.testing.assert_array_equal(found.vectors_, expected.vectors_)
        assert found.transform(UNSEEN) == expected.transform(UNSEEN)


def test_text_is_no_path():
    with pytest.raises(TypeError, match=r"an iterable of str, or pathlib"):
        vectors().fit_text("raw.txt")
    with pytest.raises(ValueError, match="lines: sequence 2: expected a text"):
        vectors().fit_text(["a", "b", 3])
    with pytest.raises(ValueError, match="0 words occur"):
        vectors().fit_text([])


def test_lower_case():
    lines = [*LINES, *(f"bad us {verb}" for verb in VERBS)]
    cased = vectors(lowercase=False).fit_text(lines)
    assert {"US", "us", "The"} <= cased.words_.keys() and "the" not in cased.words_
    table = cased.table()
    assert (
        table.label("Dog")
        == table.label("dog")
        != "_"
        == table.label("the")
        == table.label("xyz")
    )
    [[dog, unknown]] = cased.transform([["DOG", "xyz"]])
    assert dog[1] == cased.transform([["dog"]])[0][0][1] and unknown[1] == "_"
    assert "US" not in vectors().fit_text(lines).words_


def test_a_table_is_itself(words):
    assert clone(words) is copy.deepcopy(words) is words.table() is words
    assert (
        pickle.loads(pickle.dumps(words))
        == words
        != vectors(n_clusters=2).fit_text(LINES).table()
    )
    assert clone(tagger(words)).words is words
    assert repr(words) == "<3 clusters of 11 words>"
    with pytest.raises(ValueError, match="n_clusters=500"):
        vectors(n_clusters=None).fit(TEXT).table()


# -- taggers ---------------------------------------------------------------------------
def test_templates_are_added_unless_there_are_some(words):
    added = tuple(f"Ucluster0{o:+d}:%cluster[{o},0]" for o in (-1, 0, 1))
    assert model_of(tagger(words, ["U:%x[0,0]", "B"]).fit(X, Y)).lines == (
        "U:%x[0,0]",
        "B",
        *added,
    )
    own = tagger(words).fit(X, Y)
    assert model_of(own).lines == tuple(READS_CLUSTERS)
    assert own.predict(UNSEEN) == Y[:1]
    assert (
        tagger(words, "auto")
        .fit([[("the", "x"), ("dog", "y")]], [["D", "N"]])
        .predict([[("a", "y")]])
    )


@pytest.mark.parametrize(
    "new",
    [
        tagger,
        lambda words: PassiveAggressiveTagger(
            READS_CLUSTERS, words=words, random_state=0
        ),
        lambda words: L1CRF(READS_CLUSTERS, words=words, c1=0.01, random_state=0),
        lambda words: L1CRFCV(
            READS_CLUSTERS, words=words, c1s=[0.01], c2s=[0], cv=2, random_state=0
        ),
        lambda words: BaggingShuffleAverager(
            tagger(words), n_estimators=2, random_state=0
        ),
        lambda words: ParameterMixer(tagger(words), n_shards=2, random_state=0),
        lambda words: CalibratedTagger(tagger(words), cv=2, random_state=0),
        lambda words: tagger(FrozenEstimator(vectors().fit_text(LINES))),
    ],
)
def test_models_carry_their_clusters(new, words, tmp_path):
    model = new(words).fit(X * 3, Y * 3)
    assert model.predict(UNSEEN) == Y[:1]
    model.save(tmp_path / "model")
    loaded = skstruct.load(tmp_path / "model")
    export(model, tmp_path / "model.py")
    exported = imported(tmp_path / "model.py")
    for other in (
        loaded,
        model.compress(),
        exported,
        pickle.loads(pickle.dumps(model)),
    ):
        assert other.predict(TEXT) == model.predict(TEXT)
    assert loaded.info()["file_bytes"] == model.info()["file_bytes"]


def test_a_file_has_them_once(words, tmp_path):
    model = SpanTagger(tagger(None), words=words).fit(
        ["the dog barks", "a cat sleeps"], SPANS
    )
    model.save(tmp_path / "model", training=False)
    loaded = skstruct.load(tmp_path / "model")
    assert loaded.words is loaded.tagger_.words is words_in(loaded.tagger_)
    assert loaded.words == words
    assert loaded.predict(LINES) == model.predict(LINES)
    unfitted = tagger(vectors(min_count=1)).fit(TEXT, Y[:1] * len(TEXT))
    unfitted.save(tmp_path / "model")
    again = skstruct.load(tmp_path / "model")
    assert repr(again.words) == repr(unfitted.words) and again.predict(UNSEEN) == Y[:1]


def test_files_without_them_say_so(tmp_path):
    tagger(None, "word").fit(X, Y).save(tmp_path / "model")
    assert b'"words":null' in (tmp_path / "model").read_bytes()


def test_learned_on_the_texts_of_fit():
    model = tagger(vectors()).fit(TEXT, Y[:1] * len(TEXT))
    assert words_in(model) == vectors().fit(TEXT).table()
    before = words_in(model)
    assert words_in(model.partial_fit(X, Y)) is before


def test_all_members_have_the_same(words):
    search = GridSearchCV(
        tagger(words), {"max_iter": [1, 2]}, cv=2, error_score="raise"
    )
    search.fit(X * 2, Y * 2)
    assert words_in(search.best_estimator_) is words
    average = BaggingShuffleAverager(tagger(words), n_estimators=2, random_state=0).fit(
        X, Y
    )
    assert words_in(average) == words
    calibrated = CalibratedTagger(
        SpanTagger(tagger(words)).tagger, cv=2, random_state=0
    ).fit(X * 2, Y * 2)
    assert words_in(calibrated.estimator_) is words
    grid = GridSearchCV(
        tagger(None, "word"), {"words": [None, words]}, cv=2, error_score="raise"
    )
    assert grid.fit(X * 2, Y * 2).predict(X) == Y


def test_spans_and_probabilities(words):
    inner = CalibratedTagger(StructuredPerceptron(random_state=0), cv=2, random_state=0)
    model = SpanTagger(inner, words=words).fit(
        ["the dog barks", "a cat sleeps"] * 3, SPANS * 3
    )
    assert model.tagger_.estimator_.words is words
    assert model.predict(["the bird sings"])[0][0].label == "ANIMAL"


def test_explained_by_examples(words):
    names = str(explain(tagger(words).fit(X, Y), UNSEEN[0]))
    label = words.label("fish")
    first = ", ".join(words.by_label()[label][:3])
    assert f"U:{label} ({first}, ...)" in names


# -- what is refused -------------------------------------------------------------------
def test_a_fitted_one_is_frozen_or_a_table(words):
    fitted = vectors().fit(TEXT)
    for new in (StructuredPerceptron, L1CRF, SpanTagger):
        with pytest.raises(
            ValueError, match=r"words\.table\(\), or FrozenEstimator\(words\)"
        ):
            new(words=fitted)
    late = tagger(vectors())
    late.words.fit(TEXT)
    with pytest.raises(ValueError, match=r"words\.table\(\)"):
        late.fit(X, Y)


def test_what_is_refused(words):
    for tokens in ([[{"w": "a"}]], [np.ones((1, 2))]):
        for given in (words, vectors()):
            with pytest.raises(
                ValueError, match="words: clusters are of tokens that are str or tuples"
            ):
                StructuredPerceptron(words=given).fit(tokens, [["D"]])
    with pytest.raises(
        ValueError, match="the SpanTagger and its tagger have different words="
    ):
        SpanTagger(
            tagger(words), words=vectors(n_clusters=2).fit_text(LINES).table()
        ).fit(["a dog"], [[]])
    with pytest.raises(ValueError, match=r"there are no clusters: give words="):
        tagger(None).fit(X, Y)
    with pytest.raises(ValueError, match="templates read clusters"):
        tagger(words, Patterns(["U:%x[0,0]"])).fit(X, Y)
    with pytest.raises(ValueError, match="clusters of their own"):
        other = vectors(n_clusters=2).fit_text(LINES).table()
        tagger(words, FeatureTemplates(READS_CLUSTERS, words=other)).fit(X, Y)
    with pytest.raises(ValueError, match="'words' parameter"):
        StructuredPerceptron(words=3).fit(X, Y)
    with pytest.raises(
        ValueError, match="words= differ from those of the training so far"
    ):
        tagger(words, "word").fit(X, Y).set_params(words=None).partial_fit(X, Y)
    shards = [
        lambda part=part: (part, Y[:1] * len(part)) for part in (TEXT[:20], TEXT[20:])
    ]
    with pytest.raises(ValueError, match=r"shard 1: .* words\.table"):
        ParameterMixer(tagger(vectors(min_count=1)), random_state=0).fit_shards(shards)
