"""Lists of errors: what is counted, what is shown, and unseen words apart."""

import sys

import pytest
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skstruct import Segmenter, ShiftReduceParser, StructuredPerceptron
from skstruct.inspection import errors, explain, render
from skstruct.metrics import (
    attachment_scores,
    segment_f1_score,
    token_accuracy_score,
    word_f1_score,
)
from skstruct.metrics.task_scores import scores_of


class Says(BaseEstimator):
    """A fitted model that says the same whatever it is asked."""

    def __init__(self, y):
        self.y = y
        self.fitted_ = True

    def fit(self, X, y):
        return self

    def predict(self, X):
        return self.y


def pairs(found):
    return {(c.gold, c.predicted): c.count for c in found.confusions}


def test_labels():
    X = [["the", "old", "man"], ["the", "boats"]]
    y, said = [["D", "A", "N"], ["D", None]], [["D", "N", "V"], ["N", "V"]]
    found = errors(Says(said), X, y, vocabulary=["the", "man"])
    assert found.kind == "labels" and (found.n_items, found.n_errors) == (4, 3)
    assert pairs(found) == {("A", "N"): 1, ("N", "V"): 1, ("D", "N"): 1}
    assert (found.n_unseen, found.n_unseen_errors) == (1, 1)
    assert found.confusions[0].examples[0].text == "the [old] man"
    assert errors(Says(said), X, y).n_unseen is None


def test_segments():
    X = [["Ada", "Lovelace", "saw", "Paris", "and", "Rome", "in", "May"]]
    y = [["B-PER", "I-PER", "O", "B-LOC", "O", "B-LOC", "O", "O"]]
    said = [["B-PER", "O", "O", "B-ORG", "O", "O", "O", "B-DATE"]]
    found = errors(Says(said), X, y)
    assert found.kind == "segments" and found.n_items == 3
    assert pairs(found) == {
        ("PER", "PER (other boundaries)"): 1, ("LOC", "ORG"): 1, ("LOC", "(none)"): 1, ("(none)", "DATE"): 1,
    }  # fmt: skip
    assert segment_f1_score(y, said, scheme="BIO") == 0.0


def test_segments_of_the_scheme_io():
    X, y = (
        [["Ada", "Lovelace", "saw", "New", "York"]],
        [["PER", "PER", "O", "LOC", "LOC"]],
    )
    said = [["PER", "PER", "O", "O", "LOC"]]
    assert errors(Says(said), X, y).kind == "labels"
    found = errors(Says(said), X, y, scheme="IO")
    assert found.kind == "segments" and found.n_items == 2
    assert pairs(found) == {("LOC", "LOC (other boundaries)"): 1}
    assert render(X, y, said, scheme="IO").count("✗") == 2
    tagger = StructuredPerceptron(constraints="IO", random_state=0).fit(X, y)
    assert errors(tagger, X, [["O", "O", "O", "LOC", "LOC"]]).kind == "segments"
    assert explain(tagger, X[0]).segments == [(0, 2, "PER"), (3, 5, "LOC")]
    with pytest.raises(
        ValueError, match="label 'PER' does not belong to any known scheme"
    ):
        errors(Says(said), X, y, scheme="BIO")
    with pytest.raises(ValueError, match="scheme must be one of"):
        render(X, y, scheme="io")


def test_segments_beside_tokens_without_label_do_not_count():
    X = [list("abcdefgh"), list("ab")]
    y = [["B-A", "O", "B-B", None, None, "O", "B-A", "I-A"], ["O", "O"]]
    said = [["B-B", "O", "B-B", "I-B", "B-A", "O", "B-A", "O"], ["O", "B-A"]]
    found = errors(Says(said), X, y)
    assert found.kind == "segments" and found.n_items == 2
    assert pairs(found) == {
        ("A", "B"): 1,
        ("A", "A (other boundaries)"): 1,
        ("(none)", "A"): 1,
    }


def test_words_and_tags():
    X, y = ["abcdef", "ab"], [[("ab", "N"), ("c", "V"), ("def", "N")], [("ab", "N")]]
    said = [[("ab", "V"), ("cd", "V"), ("ef", "N")], [("ab", "V")]]
    found = errors(Says(said), X, y, vocabulary=["ab", "c"])
    assert pairs(found) == {("N", "V"): 2, ("c def", "cd ef"): 1}
    assert found.n_items == 4 and found.n_unseen == 1 and found.n_unseen_errors == 1
    assert word_f1_score(y, said) < 1.0
    plain = errors(Says([["abc", "def"], ["a", "b"]]), X, [["ab", "c", "def"], ["ab"]])
    assert pairs(plain) == {("ab c", "abc"): 1, ("ab", "a b"): 1}


def test_trees():
    X = [[("the", "DT"), ("dog", "NN"), ("barks", "VB")]]
    y = [[(2, "det"), (3, "nsubj"), (0, "root")]]
    said = [[(3, "det"), (3, "obj"), (0, "root")]]
    found = errors(Says(said), X, y)
    assert pairs(found) == {("det", "det (other head)"): 1, ("nsubj", "obj"): 1}
    assert attachment_scores(y, said).uas == pytest.approx(2 / 3)


def test_a_tagger_remembers_its_words():
    X, y = (
        [["the", "dog", "barks"], ["a", "cat", "sleeps"]],
        [["D", "N", "V"], ["D", "N", "V"]],
    )
    tagger = StructuredPerceptron(random_state=0).fit(X, y)
    new = [["the", "barks", "zzz"], ["new", "words", "here"]]
    gold = [["D", "N", "V"], ["V", "V", "D"]]
    found = errors(tagger, new, gold)
    accuracy = token_accuracy_score(gold, tagger.predict(new))
    assert found.n_errors == round((1 - accuracy) * 6) and found.n_unseen == 4
    assert found.n_unseen_errors <= found.n_unseen
    assert errors(tagger, X, y).n_errors == 0 and errors(tagger, X, y).confusions == []
    assert (
        errors(tagger, X, y).to_frame().empty
        and "<table" not in errors(tagger, X, y)._repr_html_()
    )


def split(texts):
    return [text.split() for text in texts]


def test_a_pipeline_over_raw_text():
    texts, y = ["the dog barks", "a cat sleeps"], [["D", "N", "V"], ["D", "N", "V"]]
    tagger = make_pipeline(
        FunctionTransformer(split), StructuredPerceptron(random_state=0)
    ).fit(texts, y)
    found = errors(tagger, ["the zzz barks"], [["D", "V", "V"]])
    said = tagger.predict(["the zzz barks"])[0][1]
    assert found.kind == "labels" and (found.n_items, found.n_unseen) == (3, 1)
    assert pairs(found) == ({("V", said): 1} if said != "V" else {})
    assert [each.text for c in found.confusions for each in c.examples] == [
        "the [zzz] barks"
    ] * (said != "V")


def test_a_parser_remembers_forms_and_not_tags():
    X, y = (
        [[("the", "D"), ("dog", "N"), ("barks", "V")]],
        [[(2, "det"), (3, "nsubj"), (0, "root")]],
    )
    parser = ShiftReduceParser(beam_size=2, max_iter=3, random_state=0).fit(X, y)
    assert errors(parser, X, y).n_unseen == 0
    assert errors(parser, [[("the", "D"), ("cat", "N"), ("D", "V")]], y).n_unseen == 2


@pytest.mark.parametrize(
    ("labels", "kind"),
    [(["I", "I"], "labels"), (["I", "O"], "segments"), (["I-X", "I-X"], "segments")],
)
def test_the_command_line_agrees_what_segments_are(labels, kind):
    y = [labels, labels]
    assert errors(Says(y), [["a", "b"]] * 2, y).kind == kind
    assert (scores_of("labels", y, y, y).table == "segments") == (kind == "segments")


def test_frame_dict_text_and_html(monkeypatch):
    X, y = [["<script>", "b", "c"]] * 3, [["A", "B", "C"]] * 3
    found = errors(
        Says([["B", "B", "C"]] * 2 + [["A", "C", "C"]]), X, y, vocabulary=["b", "c"]
    )
    frame = found.to_frame()
    assert frame.columns.tolist() == ["gold", "predicted", "count", "unseen", "example"]
    assert frame["count"].tolist() == [2, 1] and frame["unseen"].tolist() == [2, 0]
    assert found.to_dict()["confusions"][0]["examples"][0] == {
        "sequence": 0, "position": 0, "text": "[<script>] b c",
    }  # fmt: skip
    text = str(found)
    assert (
        "3 errors in 9 tokens; with unseen words 2 errors, 3 tokens" in text
        and "A -> B (2 unseen)" in text
    )
    html = found._repr_html_()
    assert (
        "<script>" not in html
        and "&lt;script&gt;" in html
        and "with unseen words" in html
    )
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="Errors.to_frame needs pandas"):
        found.to_frame()


def test_segmenters_and_parsers():
    texts, words = ["abab", "ba"], [["ab", "ab"], ["ba"]]
    segmenter = Segmenter(StructuredPerceptron("char", random_state=0)).fit(
        texts, words
    )
    assert errors(segmenter, texts, words).n_errors == 0
    assert (
        errors(segmenter, texts, words).n_unseen is None
    )  # it remembers characters, and no words
    assert errors(segmenter, texts, [["a", "b", "ab"], ["ba"]]).kind == "words"
    X, y = [[("a", "N"), ("b", "V")]], [[(2, "x"), (0, "r")]]
    parser = ShiftReduceParser("hs28", beam_size=2, max_iter=3, random_state=0).fit(
        X, y
    )
    assert errors(parser, X, [[(0, "r"), (1, "x")]]).kind == "trees"


def test_lengths_and_vocabularies_are_checked():
    with pytest.raises(ValueError, match="sequence 1"):
        errors(Says([["A"], ["B"]]), [["a"], ["b"]], [["A"], ["B", "C"]])
    with pytest.raises(ValueError, match="vocabulary must be a collection of words"):
        errors(Says([["A"]]), [["a"]], [["A"]], vocabulary="abc")
