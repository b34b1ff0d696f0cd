"""Lexicons that ignore case, as features."""

import pickle
import unicodedata

import pytest

import skstruct
from skstruct import FeatureTemplates, Lexicon, SpanTagger, StructuredPerceptron
from skstruct.interchange import export

LINES = ["U0:%x[0,0]", "U1:%lex_place[0,0]", "B"]
PLACES = ["Rome", "New York", "Zürich"]
X = [["in", "Rome", "now"], ["in", "New", "York", "now"], ["in", "fact", "now"]]
Y = [["O", "B", "O"], ["O", "B", "I", "O"], ["O", "O", "O"]]
NEW = [["in", "ZÜRICH", "now"], ["in", unicodedata.normalize("NFD", "zürich"), "now"]]


def fitted(lexicon):
    templates = FeatureTemplates(LINES, {"place": lexicon})
    return StructuredPerceptron(templates, random_state=0).fit(X, Y)


def test_marks_ignore_case_and_normal_form(tmp_path):
    """Also of a model that was saved, pickled, or learned by characters."""
    model = fitted(Lexicon(PLACES))
    assert model.predict(NEW) == [["O", "B", "O"]] * 2
    for again in pickle.loads(pickle.dumps(model)), saved(model, tmp_path):
        assert again.predict(NEW) == model.predict(NEW)
    assert saved(model, tmp_path).features == model.features
    for other in Lexicon(PLACES, ignore_case=False), PLACES:
        assert fitted(other).predict(NEW) != model.predict(NEW)
        assert fitted(other).features != model.features
    letters = FeatureTemplates(LINES, {"place": Lexicon(["Rome"])})
    tagger = StructuredPerceptron(letters, random_state=0)
    tagger.fit([[*"in", *"Rome"]], [[*"OO", *"BIIE"]])
    assert tagger.predict([[*"in", *"ROME"]]) == [[*"OO", *"BIIE"]]


def saved(model, folder):
    model.save(folder / "model")
    return skstruct.load(folder / "model")


def test_span_taggers_keep_it():
    """Their lexicons are brought to the normal form of their tokens."""
    templates = FeatureTemplates(LINES, {"place": Lexicon(PLACES)})
    texts = ["in Rome now", "in New York now", "in fact now"]
    spans = [[(3, 7, "LOC")], [(3, 11, "LOC")], []]
    tagger = SpanTagger(StructuredPerceptron(templates, random_state=0))
    assert tagger.fit(texts, spans).predict(["in ZÜRICH now"]) == [[(3, 9, "LOC")]]


def test_what_marks_cannot_say_is_refused():
    with pytest.raises(ValueError, match="patterns of a Lexicon cannot be features"):
        fitted(Lexicon(PLACES, {"a": "LOC"}))
    with pytest.raises(ValueError, match="use a lexicon for each type"):
        fitted(Lexicon({"Rome": "LOC", "Ann": "PER"}))


@pytest.mark.parametrize("ending", ["py", "js"])
def test_one_file_refuses_it(tmp_path, ending):
    with pytest.raises(ValueError, match="the lexicon 'place', which ignores case"):
        export(fitted(Lexicon(PLACES)), tmp_path / f"model.{ending}")
