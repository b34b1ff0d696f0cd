"""What a file says besides the model: every model, and what is around it, keeps it
until it is fitted again.
"""

import copy
import pickle

import model_cases
import pytest
from sklearn.pipeline import make_pipeline

import skstruct
from skstruct import L1CRF, CalibratedTagger, StructuredPerceptron
from skstruct._data.card import Card, new_card
from skstruct._saving.container import ModelFileError, read_container, write_container
from skstruct._saving.origin import digest_of, origin_of, set_origin
from skstruct.datasets import SourceLayout
from skstruct.features import TokenVectorizer

X = [["the", "dog", "barks"], ["a", "cat", "sleeps"]] * 4
Y = [["D", "N", "V"]] * 8
LAYOUT = SourceLayout("columns", tokens=(1,), label=2, separator="\t", scheme="BIO")
CARD = new_card(
    data=[{"name": "a.tsv", "sha256": "0" * 64, "use": "train"}],
    counts={"sentences": 8},
    score={"measure": "f1", "value": 0.5, "low": 0.25, "high": 0.75, "how": "20 %"},
    options={"algorithm": "l1crf", "members": 3, "param": ["c1=1"]},
    parent={"name": "old.skstruct", "sha256": "1" * 64, "date": "2026-01-01T00:00:00Z"},
)


OUTERMOST = (
    "perceptron", "l1crf-search", "calibrated-averager", "segmenter-l1crf", "spans-averager", "sets", "mixer-parser",
    "reranker", "word-segmenter", "perceptron-rows",
)  # fmt: skip
"""One model of each class; all are written by the one method that they inherit."""


def small(features=("U:%x[0,0]", "B")):
    return StructuredPerceptron(
        features if features == "auto" else list(features), max_iter=2, random_state=0
    )


def piped():
    return make_pipeline(TokenVectorizer(["U0:%x[0,0]"]), small("auto"))


@pytest.mark.parametrize("name", OUTERMOST)
def test_every_model_keeps_what_its_file_says(name, path):
    estimator, data, _ = model_cases.fitted(name, 4)
    estimator.save(path, source_layout=LAYOUT, card=CARD)
    loaded = skstruct.load(path)
    assert origin_of(loaded) == (LAYOUT, CARD)
    assert loaded.info()["source_layout"] == LAYOUT.to_dict()
    assert loaded.info()["card"] == CARD.to_dict()
    again = path.with_name("again.skstruct")
    loaded.save(again)
    assert again.read_bytes() == path.read_bytes()
    smaller = loaded.compress()
    assert origin_of(smaller) == (LAYOUT, CARD)


def test_a_file_without_says_nothing(path):
    tagger = small().fit(X, Y)
    tagger.save(path)
    loaded = skstruct.load(path)
    assert origin_of(loaded) == (None, None)
    assert loaded.info()["source_layout"] is None is loaded.info()["card"]


def test_dicts_are_taken_and_one_member_is_enough(path):
    tagger = small().fit(X, Y)
    tagger.save(path, source_layout={"format": "columns", "tokens": [1], "label": 2})
    assert origin_of(skstruct.load(path)) == (SourceLayout("columns", (1,), 2), None)
    skstruct.save(tagger, path, card={"date": "2026-01-01T00:00:00Z", "version": "0.4"})
    layout, card = origin_of(skstruct.load(path))
    assert layout == SourceLayout("columns", (1,), 2), "what the model knew stays"
    assert card == Card("2026-01-01T00:00:00Z", "0.4")


def test_a_pipeline_keeps_it_at_the_outside(path):
    pipeline = piped().fit(X, Y)
    skstruct.save(pipeline, path, source_layout=LAYOUT)
    loaded = skstruct.load(path)
    assert origin_of(loaded) == (LAYOUT, None)
    assert origin_of(loaded[-1]) == (None, None), "its tagger reads another matrix"
    skstruct.save(loaded, path)
    assert origin_of(skstruct.load(path)) == (LAYOUT, None)


def test_what_is_inside_another_says_nothing(path):
    outer = CalibratedTagger(small(), cv=2, random_state=0).fit(X, Y)
    outer.save(path, source_layout=LAYOUT)
    assert origin_of(skstruct.load(path).estimator_) == (None, None)


@pytest.mark.parametrize(
    "learn",
    [
        lambda model: model.fit(X, Y),
        lambda model: model.partial_fit(X, Y),
        lambda model: model.set_params(warm_start=True).fit(X, Y),
    ],
)
def test_a_model_that_learned_more_says_nothing(path, learn):
    small().fit(X, Y).save(path, source_layout=LAYOUT, card=CARD)
    loaded = skstruct.load(path)
    learn(loaded)
    assert origin_of(loaded) == (None, None)
    assert loaded.info()["card"] is None


def test_what_is_around_a_model_that_learned_more_says_nothing(path):
    for outer in (
        CalibratedTagger(small(), cv=2, random_state=0),
        piped(),
        L1CRF(["U:%x[0,0]", "B"]),
    ):
        skstruct.save(outer.fit(X, Y), path, card=CARD)
        loaded = skstruct.load(path)
        assert origin_of(loaded).card == CARD
        assert origin_of(loaded.fit(X, Y)) == (None, None)


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
def test_copies_and_pickles_keep_it(path, copied):
    model = small().fit(X, Y)
    model.save(path, source_layout=LAYOUT, card=CARD)
    assert origin_of(copied(skstruct.load(path))) == (LAYOUT, CARD)


def test_nothing_takes_it_away_again():
    model = small().fit(X, Y)
    set_origin(model, origin_of(model)._replace(card=CARD))
    set_origin(model, origin_of(model)._replace(card=None))
    assert origin_of(model) == (None, None) and "_origin" not in vars(model)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"source_layout": "columns"}, "must be a SourceLayout or a dict such as"),
        ({"source_layout": {"tokens": [1]}}, "format is missing"),
        ({"source_layout": {"format": "columns", "sep": "x"}}, "unknown: sep"),
        ({"source_layout": {"format": "columns", "tokens": [1.5]}}, "numbers or names"),
        ({"card": {"date": "x"}}, "version is missing"),
        ({"card": {"date": "x", "version": "0.4", "who": 1}}, "unknown: who"),
        ({"card": {"date": 1, "version": "0.4"}}, "date must be"),
        ({"card": []}, "must be a Card or a dict"),
    ],
)
def test_what_cannot_be_kept_is_refused_before_a_file_is_written(path, given, message):
    model = small().fit(X, Y)
    with pytest.raises(ValueError, match=message):
        model.save(path, **given)
    assert not path.exists()


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("source_layout", []),
        ("source_layout", {"format": 1, "encoding": "utf-8", "options": {}}),
        ("source_layout", {"format": "columns", "encoding": "utf-8", "options": []}),
        (
            "source_layout",
            {"format": "c", "encoding": "u", "options": {}, "tokens": [[]]},
        ),
        (
            "source_layout",
            {"format": "c", "encoding": "u", "options": {"a": {"$array": "no"}}},
        ),
        (
            "card",
            {"date": "x", "version": "y", "data": [1], "counts": {}, "options": {}},
        ),
        ("card", {"date": "x", "version": "y", "data": [], "counts": 1, "options": {}}),
        ("card", {"date": "x"}),
    ],
)
def test_a_malformed_member_is_refused(path, member, value):
    small().fit(X, Y).save(path)
    header, arrays = read_container(path, kind="model")
    write_container(path, {**header, member: value}, arrays)
    with pytest.raises(ModelFileError, match=member.split("_")[0]):
        skstruct.load(path)


def test_the_digest_of_a_file_and_of_a_folder(tmp_path):
    (tmp_path / "a").write_bytes(b"x")
    one = digest_of(tmp_path / "a")
    assert one == "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
    before = digest_of(tmp_path)
    (tmp_path / "b").write_bytes(b"")
    assert before != digest_of(tmp_path) != one
