"""Pipelines in files: words learned from raw text, frozen, before a tagger; and inside
of a `SpanTagger`.
"""

import contextlib
import copy
import itertools
import pickle
import subprocess

import pytest
from forked import python
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import skstruct
from skstruct import CalibratedTagger, SpanTagger, StructuredPerceptron
from skstruct._saving.container import ModelFileError, read_container, write_container
from skstruct.cli import main
from skstruct.features import (
    SequenceUnion,
    TokenTransformer,
    TokenVectorizer,
    WordVectors,
)
from skstruct.inspection import explain

LINES = [
    f"{a} {noun} {verb}"
    for a in ("The", "a")
    for noun in ("dog", "cat", "bird", "fish")
    for verb in ("barks", "sleeps", "sings", "swims")
]
X, Y = [["the", "dog", "barks"], ["a", "cat", "sleeps"]], [["D", "N", "V"]] * 2
UNSEEN = [["The", "fish", "Swims"], ["dog"]]


def words(n_clusters=None):
    vectors = WordVectors(3, n_clusters=n_clusters, min_count=2, random_state=0)
    return FrozenEstimator(vectors.fit_text(LINES))


def clusters_before(tagger):
    return make_pipeline(words(3), tagger.set_params(features=["U:%x[0,1]", "B"]))


def vectors_before(tagger):
    return make_pipeline(words(), tagger)


def union_before(tagger):
    templates = TokenVectorizer(["U0:%x[0,0]", "B"])
    return make_pipeline(
        SequenceUnion([("form", templates), ("vectors", words())]), tagger
    )


MADE = clusters_before, vectors_before, union_before


@pytest.mark.parametrize("make", MADE)
def test_loaded_as_they_were_saved(make, tmp_path):
    pipeline = make(StructuredPerceptron(random_state=0)).fit(X, Y)
    skstruct.save(pipeline, tmp_path / "model")
    loaded = skstruct.load(tmp_path / "model")
    assert repr(loaded) == repr(pipeline)
    assert (
        loaded.predict(UNSEEN) == pipeline.predict(UNSEEN) == [["D", "N", "V"], ["N"]]
    )
    assert (
        loaded.decision_function(UNSEEN).tolist()
        == pipeline.decision_function(UNSEEN).tolist()
    )
    names = [each[:-1].get_feature_names_out().tolist() for each in (loaded, pipeline)]
    assert names[0] == names[1]
    skstruct.save(loaded, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


@pytest.mark.parametrize("make", MADE)
def test_inside_a_tagger_of_spans(make, tmp_path):
    inner = make(StructuredPerceptron(random_state=0))
    model = SpanTagger(inner).fit(
        [" ".join(x) for x in X], [[(4, 7, "ANIMAL")], [(2, 5, "ANIMAL")]]
    )
    model.save(tmp_path / "model", training=False)
    loaded = skstruct.load(tmp_path / "model")
    for other in (loaded, model.compress(), pickle.loads(pickle.dumps(model))):
        assert other.predict(LINES) == model.predict(LINES)
    assert sum(map(len, model.predict(LINES))) == len(LINES)
    assert (
        loaded.info()["estimator"] == "SpanTagger of Pipeline of StructuredPerceptron"
    )
    assert loaded.info()["file_bytes"] == model.info()["file_bytes"]


@pytest.mark.parametrize("make", MADE)
def test_on_the_command_line(make, tmp_path, capsys):
    skstruct.save(
        make(StructuredPerceptron(random_state=0)).fit(X, Y), tmp_path / "model"
    )
    (tmp_path / "new.txt").write_text("The\nfish\nSwims\n\n", encoding="utf-8")
    assert (
        main(["tag", "--model", str(tmp_path / "model"), str(tmp_path / "new.txt")])
        == 0
    )
    assert capsys.readouterr().out.split() == ["The", "D", "fish", "N", "Swims", "V"]
    assert main(["show", "--model", str(tmp_path / "model")]) == 0
    assert capsys.readouterr().out.startswith("model         Pipeline\n")


def test_columns_on_the_command_line(tmp_path, capsys):
    pairs = [[(word, "x") for word in sentence] for sentence in X]
    tagger = StructuredPerceptron(["U:%x[0,2]", "B"], random_state=0)
    skstruct.save(make_pipeline(words(3), tagger).fit(pairs, Y), tmp_path / "model")
    (tmp_path / "new.txt").write_text(
        "The x D\nfish x N\nSwims x V\n\n", encoding="utf-8"
    )
    assert (
        main(
            ["evaluate", "--model", str(tmp_path / "model"), str(tmp_path / "new.txt")]
        )
        == 0
    )
    assert "token accuracy        1.0000" in capsys.readouterr().out
    assert (
        main(["show", "--model", str(tmp_path / "model"), "--explain", "The/x fish/x"])
        == 0
    )
    assert "1 ('fish', 'x') -> N" in capsys.readouterr().out


@pytest.mark.parametrize("make", MADE)
def test_explained_inside_of_others(make):
    tagger = make(StructuredPerceptron(random_state=0))
    spans = SpanTagger(tagger, layout=False).fit(
        [" ".join(x) for x in X], [[(4, 7, "A")], [(2, 5, "A")]]
    )
    found = explain(spans, "a fish sings")
    assert [token.token for token in found.tokens] == ["a", "fish", "sings"]
    assert found.segments == [(1, 2, "A")]


def test_words_go_on_where_they_were(tmp_path):
    """What is loaded can do what words can: further taggers take them."""
    pipeline = clusters_before(StructuredPerceptron(random_state=0)).fit(X, Y)
    skstruct.save(pipeline, tmp_path / "model")
    loaded = skstruct.load(tmp_path / "model")[0].estimator
    assert loaded.table() == pipeline[0].table()
    tagger = StructuredPerceptron(words=FrozenEstimator(loaded), random_state=0).fit(
        X, Y
    )
    tagger.save(tmp_path / "model")
    assert skstruct.load(tmp_path / "model").predict(UNSEEN) == tagger.predict(UNSEEN)


def test_programs_that_know_of_no_pipeline_load_what_is_frozen(tmp_path):
    tagger = StructuredPerceptron(words=words(3), random_state=0).fit(X, Y)
    CalibratedTagger(FrozenEstimator(tagger)).fit(X, Y).save(tmp_path / "model")
    program = (
        "import sys, skstruct; skstruct.load(sys.argv[1]).compress().save(sys.argv[1])"
    )
    subprocess.run([*python(), "-c", program, tmp_path / "model"], check=True)


def test_any_model(tmp_path):
    tagger = StructuredPerceptron(random_state=0).fit(X, Y)
    tagger.save(tmp_path / "one", training=False)
    skstruct.save(tagger, tmp_path / "two", training=False)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    search = GridSearchCV(tagger, {"max_iter": [1]}, cv=2).fit(X, Y)
    with pytest.raises(
        TypeError,
        match="a GridSearchCV cannot be saved; .* the best_estimator_ of a search",
    ):
        skstruct.save(search, tmp_path / "three")
    skstruct.save(search.best_estimator_, tmp_path / "three")


def test_transformers_of_others_are_pickled(tmp_path):
    foreign = TokenTransformer(HashingVectorizer(n_features=8))
    pipeline = make_pipeline(foreign, StructuredPerceptron()).fit(X, Y)
    with pytest.raises(
        TypeError, match="step 'tokentransformer' of a Pipeline: .* skops.io.dump"
    ):
        skstruct.save(pipeline, tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_what_a_pipeline_ends_in_is_saved_by_itself(tmp_path):
    """What the error advises, step by step, is the pipeline."""
    lengths = TokenTransformer(FunctionTransformer(lengths_of))
    union = SequenceUnion([("form", TokenVectorizer()), ("length", lengths)])
    pipeline = make_pipeline(union, StructuredPerceptron(random_state=0)).fit(X, Y)
    advice = r"save its last step, skstruct\.save\(pipeline\[-1\], path\)"
    with pytest.raises(TypeError, match=advice) as error:
        skstruct.save(pipeline, tmp_path / "model")
    assert "pipeline[:-1].transform(X)" in str(error.value)
    skstruct.save(pipeline[-1], tmp_path / "model")
    tagger = skstruct.load(tmp_path / "model")
    assert tagger.predict(pipeline[:-1].transform(X)) == pipeline.predict(X)
    # The last step has no way round: it is what cannot be saved.
    search = GridSearchCV(StructuredPerceptron(), {}, cv=2)
    last = make_pipeline(TokenVectorizer(), search)
    with pytest.raises(TypeError, match="can keep it$"):
        skstruct.save(last.fit(X, Y), tmp_path / "model")


def lengths_of(tokens):
    return [[len(str(token))] for token in tokens]


def places(node, at=()):
    """Of all leaves of JSON."""
    if not isinstance(node, (dict, list)):
        yield at
        return
    for key in node if isinstance(node, dict) else range(len(node)):
        yield from places(node[key], (*at, key))


@pytest.mark.parametrize("make", MADE)
def test_damaged_files_are_refused_or_safe(make, tmp_path):
    path = tmp_path / "model"
    skstruct.save(make(StructuredPerceptron(random_state=0)).fit(X, Y), path)
    header, arrays = read_container(path, kind="model")
    wrong = []
    strange = itertools.cycle([None, -1, "x", [], {"$array": "x"}])
    for where in places(header["estimator"]):
        damaged = copy.deepcopy(header)
        node = damaged["estimator"]
        for key in where[:-1]:
            node = node[key]
        node[where[-1]] = next(strange)
        wrong.append((damaged, arrays))
    for name, array in arrays.items():
        for value in (-1, 2**31 - 1, 5):
            damaged = array.copy()
            with contextlib.suppress(
                OverflowError, ValueError, IndexError
            ):  # not of this type; empty
                damaged.flat[-1] = value
            wrong.append((header, {**arrays, name: damaged}))
        wrong.append((header, {**arrays, name: array[:-1]}))
    refused = 0
    for damaged in wrong:
        write_container(path, *damaged)
        try:
            loaded = skstruct.load(path)
        except ModelFileError:
            refused += 1
            continue
        with contextlib.suppress(ValueError, TypeError, AttributeError, KeyError):
            loaded.predict(UNSEEN)
    assert refused > len(wrong) / 3
