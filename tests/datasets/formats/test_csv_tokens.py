"""Tables with a token a row."""

import csv
import io

import pytest
from cli_cases import run

from skstruct.datasets import read_tokens
from skstruct.datasets.formats.csv_tokens import CsvTokens
from skstruct.datasets.formats.head import Head

FILLED_DOWN = (
    'Sentence #,Word,POS,Tag\nSentence: 1,Ruth,NNP,B-per\n,left,VBD,O\n,",",",",O\n'
    "Sentence: 2,Lyon,NNP,B-geo\n,.,.,O\n"
)
EACH_ROW = "sent_id;token;ner\n1;Ruth;B-per\n1;left;O\n1;,;O\n2;Lyon;B-geo\n2;.;O\n"
BLANK = 'token,ner\nRuth,B-per\nleft,O\n",",O\n\nLyon,B-geo\n.,O\n'
X = [["Ruth", "left", ","], ["Lyon", "."]]
Y = [["B-per", "O", "O"], ["B-geo", "O"]]


@pytest.mark.parametrize("text", [FILLED_DOWN, EACH_ROW, BLANK])
def test_sentences_are_told_apart(text):
    """By a column that is filled in where one begins, or always; or by blank lines."""
    assert read_tokens(io.StringIO(text)) == (X, Y)


def test_columns_are_chosen_by_name():
    found = read_tokens(io.StringIO(FILLED_DOWN), tokens=["Word", "POS"], label="Tag")
    assert found[0][1] == [("Lyon", "NNP"), (".", ".")] and found[1] == Y
    assert read_tokens(io.StringIO(FILLED_DOWN), label="POS")[1][0] == [
        "NNP",
        "VBD",
        ",",
    ]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (FILLED_DOWN, {"label": "Tags"}, "no column 'Tags'; it has Sentence #, Word"),
        (FILLED_DOWN, {"label": "Word"}, "is the label's, and a token's too"),
        (FILLED_DOWN + ",,NNP,O\n", {}, "line 7: the column 'Word' is empty"),
        (FILLED_DOWN + ",x,O\n", {}, "line 7: expected 4 cells"),
        ("a,b\n1,2\n", {"format": "csv"}, "no column of a word: it has a, b"),
    ],
)
def test_what_is_refused(text, options, message):
    with pytest.raises(ValueError, match=message):
        read_tokens(io.StringIO(text), **options)


@pytest.mark.parametrize(
    ("header", "is_yes"),
    [
        ("Sentence #,Word,Tag", True),
        ("sentence_id\ttoken\tlabel", True),
        ("text,start,end,label", False),
        ("id,text", False),
        ("a,b,c", False),
    ],
)
def test_the_header_decides(header, is_yes):
    rows = ["x"] * (header.count(",") + header.count("\t") + 1)
    line = ("\t" if "\t" in header else ",").join(rows)
    assert CsvTokens().recognise(Head("n", [header, line], True)).is_yes == is_yes


def test_labels_become_a_column(tmp_path, capsys):
    path = tmp_path / "a.csv"
    path.write_text(FILLED_DOWN * 1)
    assert run(capsys, "train", path, "-m", tmp_path / "m")[0] == 0
    code, out, err = run(capsys, "tag", path, "-m", tmp_path / "m", "--batch", 1)
    rows = list(csv.reader(io.StringIO(out)))
    assert code == 0 and rows[0] == ["Sentence #", "Word", "POS", "Tag", "Predicted"]
    assert [row[-1] for row in rows[1:]] == [label for labels in Y for label in labels]
    assert rows[3][1] == "," and len(rows) == 6, err
    error = tmp_path / "b.csv"
    error.write_text(FILLED_DOWN.replace("B-geo", "I-geo"))
    given = ("train", error, "-m", tmp_path / "n", "-p", "constraints=BIO")
    code, _, err = run(capsys, *given)
    assert code == 1 and "b.csv, line 5: " in err
