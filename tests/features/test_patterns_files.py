"""Files of patterns: comments, blank lines, ends of lines, encodings; and lines of an
open file.
"""

import pickle

import pytest

import skstruct
from skstruct import L1CRF, FeatureTemplates
from skstruct.features.patterns import CRFPP, WAPITI, Patterns
from skstruct.inspection import features_of
from skstruct.interchange import load_crfpp, save_crfpp

OF_CRFPP = "# Unigram\nU00:%x[0,0]\n\n#U01:%x[1,0]\nUC0:%x[0,1]\nUC0:%x[0,2]\n  \nB\n"
OF_WAPITI = (
    '# Unigram\n*1:%x[ 0,0]  # the word\n\nU:suf X=%m[ 0,0,".?.?$"] \n  # none\n*\n'
)


def in_file(tmp_path, text, encoding="utf-8"):
    path = tmp_path / "patterns.txt"
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_comments_blank_lines_and_ends_of_lines(tmp_path, end, last, mark):
    for text, syntax, lines in (
        (OF_CRFPP, CRFPP, ("U00:%x[0,0]", "UC0:%x[0,1]", "UC0:%x[0,2]", "B")),
        (OF_WAPITI, WAPITI, ("*1:%x[ 0,0]", 'u:suf X=%m[ 0,0,".?.?$"]', "*")),
    ):
        written = text if last else text.removesuffix("\n")
        path = in_file(tmp_path, mark + written.replace("\n", end))
        for given in syntax, None:
            assert Patterns.from_file(path, given) == Patterns(lines, syntax)


def test_what_both_tools_read_is_of_crfpp(tmp_path):
    assert Patterns.from_file(in_file(tmp_path, "U0:%x[0,0]\n")).syntax == CRFPP
    found = Patterns.from_file(in_file(tmp_path, "U0:%x[0,0]\n"), WAPITI)
    assert found.lines == ("u0:%x[0,0]",)


@pytest.mark.parametrize(
    ("text", "syntax", "message"),
    [
        ("U0:%x[0,0]\nX1\n", None, "patterns.txt:2: a pattern of crf"),
        ("u0:%x[0,0]\n\nx:1\n", None, "patterns.txt:3: a pattern of wapiti"),
        ("u0:%x[0,0]\n", CRFPP, "patterns.txt:1: a pattern of crf"),
        ("U0:%x[0]\n", WAPITI, "patterns.txt:1: malformed macro"),
        ("# nothing\n\n", None, "patterns.txt: the file holds no pattern"),
    ],
)
def test_errors_name_file_and_line(tmp_path, text, syntax, message):
    with pytest.raises(ValueError, match=message):
        Patterns.from_file(in_file(tmp_path, text), syntax)


def test_encoding(tmp_path):
    path = in_file(tmp_path, "Ué:%x[0,0]\n", "latin-1")
    assert Patterns.from_file(path, encoding="latin-1").lines == ("Ué:%x[0,0]",)
    with pytest.raises(ValueError, match=r"patterns.txt: not valid utf-8"):
        Patterns.from_file(path)
    with pytest.raises(ValueError, match="syntax must be one of"):
        Patterns.from_file(path, "crfsuite")


@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_lines_of_an_open_file_lose_their_ends(end, tmp_path):
    """A model with a line feed in its patterns could be written by no tool's format."""
    lines = [f"U00:%x[0,0]{end}", f"B{end}"]
    patterns = Patterns(lines)
    assert patterns.lines == ("U00:%x[0,0]", "B") and patterns.bigram
    crf = L1CRF(patterns, random_state=0).fit([["a", "b"]], [["A", "B"]])
    save_crfpp(crf, tmp_path / "model")
    assert load_crfpp(tmp_path / "model").predict([["a", "b"]]) == [["A", "B"]]
    with open(in_file(tmp_path, OF_WAPITI), encoding="utf-8") as file:
        with pytest.raises(ValueError, match=r"got '# Unigram'; Patterns.from_file"):
            Patterns(file, WAPITI)


def test_a_model_that_has_line_feeds_in_its_patterns_keeps_them(tmp_path):
    """They are in the names of its features."""
    patterns = Patterns.as_written(["U0:%x[0,0]\n"], CRFPP)
    crf = L1CRF(patterns, random_state=0).fit([["a", "b"]], [["A", "B"]])
    crf.save(tmp_path / "model")
    for each in skstruct.load(tmp_path / "model"), pickle.loads(pickle.dumps(crf)):
        assert features_of(each, ["a"]) == [["U0:a\n"]]
        assert each.predict([["a", "b"]]) == [["A", "B"]]


def test_templates_name_what_lets_identifiers_be_shared():
    with pytest.raises(ValueError, match="as in CRF.*Patterns"):
        FeatureTemplates(["U0:%x[0,0]", "U0:%x[0,1]"]).compile()
