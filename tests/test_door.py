"""The table *strings x {tokens, columns, features, labels, spans, texts, words} x
verbs*.

Whatever class a string is of, models learn, predict, go on, come back from files and
are exported as with plain str; to the bit.
"""

import subprocess
import sys

import pytest
from door_cases import (
    ELEMENTS,
    PAIRS,
    PLACES,
    SENTENCES,
    TAGS,
    Member,
    Spoken,
    each,
    learned,
    tagger,
    types_in,
)

import skstruct
from skstruct import L1CRF, ShiftReduceParser
from skstruct._data.schemes import spans_to_labels
from skstruct.features import TokenVectorizer
from skstruct.interchange import export


def with_letters(place, make):
    """Words of a segmenter are letters, which no enumeration has."""
    return place == "words" and make is Member


@pytest.mark.parametrize("kind", ELEMENTS)
@pytest.mark.parametrize("place", PLACES)
def test_a_string_is_what_it_holds(place, kind, tmp_path):
    make = ELEMENTS[kind]
    if with_letters(place, make):
        make = Spoken
    plain, X, y = PLACES[place](str)
    other, X_other, y_other = PLACES[place](make)
    plain.fit(X, y)
    other.fit(X_other, y_other)
    assert learned(other) == learned(plain)
    for model in (plain, other):
        for corpus in (X, X_other):
            assert model.predict(corpus) == plain.predict(X)
    if (
        place == "labels' weights" and make is Spoken
    ):  # a parameter comes back as it was, or not at all
        with pytest.raises(
            TypeError, match="parameter 'class_weight' .* type Spoken cannot be saved"
        ):
            other.save(tmp_path / "model")
        return
    other.save(tmp_path / "model")
    loaded = skstruct.load(tmp_path / "model")
    assert learned(loaded) == learned(plain)
    assert loaded.predict(X_other) == plain.predict(X)
    assert set(types_in(loaded.predict(X))) <= {str, int}
    plain.partial_fit(X, y)
    other.partial_fit(X_other, y_other)
    loaded.partial_fit(X, y)
    assert learned(other) == learned(loaded) == learned(plain)


@pytest.mark.parametrize("kind", [kind for kind in ELEMENTS if kind != "str"])
@pytest.mark.parametrize(
    "place", ["tokens", "columns", "lists of features", "dicts of features"]
)
def test_an_exported_model_reads_them(place, kind, tmp_path):
    make = ELEMENTS[kind]
    model, X, y = PLACES[place](str)
    export(model.fit(X, y), tmp_path / "exported.py")
    scope = {"__name__": "exported"}
    exec(
        compile((tmp_path / "exported.py").read_text("utf-8"), "exported.py", "exec"),
        scope,
    )
    assert scope["predict"](PLACES[place](make)[1]) == model.predict(X)


def test_exported_labels_are_the_strings(tmp_path):
    y = each(Member, TAGS)
    export(tagger().fit(SENTENCES, y), tmp_path / "exported.py")
    run = [sys.executable, tmp_path / "exported.py"]
    found = subprocess.run(
        run, input="the\ndog\n", capture_output=True, text=True, check=True
    )
    assert found.stdout == "the DT\ndog NN\n"
    report = export(tagger().fit(SENTENCES, y), tmp_path / "exported.js")
    assert "Member" not in (tmp_path / "exported.js").read_text("utf-8"), report


@pytest.mark.parametrize("model", [tagger(), L1CRF(max_iter=5)])
def test_predictions_give_back_the_objects_of_training(model):
    found = model.fit(SENTENCES, each(Member, TAGS)).predict(SENTENCES)
    assert set(types_in(found)) == {Member}
    assert set(map(type, model.classes_)) == {Member}
    mixed = [
        [Member("DT"), "NN", "VB"],
        *TAGS[1:],
    ]  # one label each, whatever its type is
    assert sorted(model.fit(SENTENCES, mixed).classes_) == ["DT", "NN", "VB"]


def test_arcs_and_their_words():
    trees = [[(2, "DT"), (3, "NN"), (0, "VB")]] * 3
    words = PAIRS[:3]
    plain, other = (
        ShiftReduceParser(max_iter=2, random_state=0, projectivize="pseudo")
        for _ in range(2)
    )
    plain.fit(words, trees)
    other.fit(each(Member, words), each(Member, trees))
    for X in (words, each(Member, words)):
        assert plain.predict(X) == other.predict(X) == trees


def test_a_span_does_not_spoil_the_labels_of_later_ones():
    """What is remembered of labels is found by equality, which members of enumerations
    have.
    """
    assert spans_to_labels([(0, 2, Spoken("unheard"))], 2, "BIO") == [
        "B-unheard",
        "I-unheard",
    ]
    assert spans_to_labels([(0, 2, "unheard")], 2, "BIO") == ["B-unheard", "I-unheard"]
    assert type(spans_to_labels([(0, 1, Spoken("of"))], 1, "IO")[0]) is str


def test_names_and_displays_say_the_string():
    X = each(Member, PAIRS)
    names = TokenVectorizer(["U0:%x[0,1]"]).fit(X).get_feature_names_out()
    assert names.tolist() == ["U0:DT", "U0:NN", "U0:VB"]
    model = tagger().fit(SENTENCES, each(Member, TAGS))
    for shown in (
        skstruct.inspection.explain(model, SENTENCES[0]),
        skstruct.inspection.feature_weights(model),
    ):
        assert "Member" not in str(shown) + shown._repr_html_()
