"""Tables with one token per row."""

import csv
import io
import json
import shlex
import warnings

import pytest
from cli_cases import run

from skstruct.datasets import read_tokens
from skstruct.datasets.formats.csv_tokens import CsvTokens
from skstruct.datasets.formats.head import Head
from skstruct.datasets.formats.span_records import ANNOTATORS

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
        (FILLED_DOWN, {"label": "Word"}, "is named for labels and for tokens"),
        (FILLED_DOWN + ",,NNP,O\n", {}, "line 7: the column 'Word' is empty"),
        (FILLED_DOWN + ",x,O\n", {}, "line 7: expected 4 cells"),
        ("a,b\n1,2\n", {"format": "csv"}, "no column of a word was found: it has a, b"),
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
    assert CsvTokens().look(Head("n", [header, line], True)).is_yes == is_yes


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


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id,word,tag\n1,the,D\n1,dog,N\n2,it,P\n", "all 3 rows are .*; 'id' looks"),
        (
            "word,tag\n" + "a,D\n" * 100,
            "all 100 rows are read as one sentence, .* ends a sentence; re",
        ),
    ],
)
def test_a_table_that_is_one_sentence_is_noticed(text, said):
    with pytest.warns(UserWarning, match=said):
        X, _ = read_tokens(io.StringIO(text), format="csv")
    assert len(X) == 1


@pytest.mark.parametrize(
    "text", ["id,word,tag\n1,the,D\n2,dog,N\n1,it,P\n", "word,tag\nthe,D\ndog,N\n"]
)
def test_a_table_of_one_sentence_need_not_say_so(text, recwarn):
    assert len(read_tokens(io.StringIO(text), format="csv")[0]) == 1
    assert not recwarn.list


@pytest.mark.parametrize("command", ["train", "check"])
def test_commands_tell_of_one_sentence(command, tmp_path, capsys):
    (tmp_path / "t.csv").write_text("id,word,tag\n1,the,D\n1,dog,N\n2,it,P\n")
    more = ("-m", tmp_path / "m") if command == "train" else ("--cv", 2)
    _, _, err = run(capsys, command, tmp_path / "t.csv", "--format", "csv", *more)
    assert err.count("t.csv: all 3 rows are read as one sentence") == 1
    assert (
        "'id' looks like such a column; rename the column that numbers sentences" in err
    )


def test_a_format_that_is_named_again_is_read(tmp_path, capsys):
    """Also where the content alone would not tell."""
    path = tmp_path / "t.csv"
    path.write_text("word,tag\nthe,D\ndog,N\n")
    model = tmp_path / "m"
    assert run(capsys, "train", path, "--format", "csv", "-m", model)[0] == 0
    assert "this is no csv" in run(capsys, "tag", path, "-m", model)[2]
    code, out, _ = run(capsys, "tag", path, "-m", model, "--format", "csv")
    assert (code, out) == (0, "word,tag,Predicted\nthe,D,D\ndog,N,N\n")


def test_a_document_ends_a_sentence():
    """The numbers of sentences begin anew in each document."""
    text = "doc_id,sentence_id,token,ner\na,0,Ruth,O\na,0,left,O\nb,0,Lyon,B\nb,1,.,O\n"
    X, y, documents = read_tokens(io.StringIO(text), return_documents=True)
    assert X == [["Ruth", "left"], ["Lyon"], ["."]] and documents == ["a", "b", "b"]
    assert y == [["O", "O"], ["B"], ["O"]]


def test_a_column_without_a_name_is_no_hindrance():
    """pandas writes its index so, and some programs a comma behind each row."""
    for text in (
        ",sent_id,token,ner\n0,1,Ruth,B\n1,2,left,O\n",
        "sent_id,token,ner,\n1,Ruth,B,\n2,left,O,\n",
    ):
        found = read_tokens(io.StringIO(text))
        assert found == ([["Ruth"], ["left"]], [["B"], ["O"]])


def test_quotation_marks_between_tabs_stand_for_themselves():
    rows = ['1\t"\tO', "1\tAnn\tB", '1\t""""\tO', '2\t"Hi\tO', '2\t"x ""y"""\tO']
    text = "\n".join(["sent_id\ttoken\tner", *rows]) + "\n"
    X, y = read_tokens(io.StringIO(text))
    assert X == [['"', "Ann", '"'], ['"Hi', 'x "y"']]
    assert y == [["O", "B", "O"], ["O", "O"]]


def test_a_cell_that_swallows_rows_is_refused():
    text = 'sent_id,token,ner\n1,",O\n1,Ann,B\n2,",O\n'
    with pytest.raises(ValueError, match="line 2: a quotation mark begins a cell"):
        read_tokens(io.StringIO(text))
    text = 'sent_id,token,ner,note\n1,Ann,B,"two\nlines"\n2,",",O,\n'
    assert read_tokens(io.StringIO(text))[0] == [["Ann"], [","]]


def test_an_empty_label_is_refused():
    text = "sent_id,token,ner\n1,Ann,B\n1,left,\n"
    with pytest.raises(ValueError, match="line 3: the column 'ner' is empty: write O"):
        read_tokens(io.StringIO(text))


def test_without_sentences_the_error_names_the_format():
    with pytest.raises(ValueError, match="no column sentence_id.*: --format csv"):
        read_tokens(io.StringIO("token,ner\nAnn,B\nleft,O\n"))


def test_quotation_marks_of_a_word_stay_where_no_program_has_written_them():
    text = 'sentence_id\tword\ttag\n0\t"hi"\tX\n0\t""""\tY\n0\t"a ""b"""\tX\n'
    assert read_tokens(io.StringIO(text))[0] == [['"hi"', '"', 'a "b"']]
    quoted = '"sentence_id"\t"word"\t"tag"\n"0"\t"hi"\t"X"\n"0"\t"b"\t"Y"\n'
    assert read_tokens(io.StringIO(quoted))[0] == [["hi", "b"]]


@pytest.mark.parametrize(
    ("header", "rows", "said"),
    [
        ("", "1,a 2,b 1,c 2,d", True),
        ("", "1,a 1,b 2,c ,d", False),
        ("doc_id,", "x,1,a x,1,b y,1,c y,2,d", False),
        ("doc_id,", "x,1,a y,1,b x,1,c y,1,d", True),
    ],
)
def test_sentences_that_begin_again_are_said(header, rows, said):
    text = f"{header}sentence_id,token,ner\n" + ",O\n".join(rows.split()) + ",O\n"
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        X, _ = read_tokens(io.StringIO(text), "csv")
    assert sum(map(len, X)) == 4
    texts = [str(each.message) for each in told]
    assert any("begins again" in each for each in texts) == said
    assert len(texts) == said


@pytest.mark.parametrize(
    "name", ["patient_id", "article", "case_no", "reportID", "url"]
)
def test_a_sentence_of_several_documents_is_noticed(name):
    """Numbers of sentences begin anew in each."""
    rows = [f"p{k},0,w{t},O" for k in range(3) for t in range(2)]
    text = "\n".join([f"{name},sentence_id,word,tag", *rows, ""])
    said = f"line 4: '{name}' changes from 'p0' to 'p1' within a sentence"
    with pytest.warns(UserWarning, match=said):
        X, _ = read_tokens(io.StringIO(text), format="csv")
    assert len(X) == 1
    X, _ = read_tokens(io.StringIO(text.replace(name, "doc_id")), format="csv")
    assert len(X) == 3  # the advice


@pytest.mark.parametrize(
    "name", ["token_id", "entity_id", "pos", "lemma", "mention_no"]
)
def test_columns_of_words_may_change_within_a_sentence(name, recwarn):
    rows = [f"p{t // 2},{k},w{t},O" for k in range(3) for t in range(4)]
    text = "\n".join([f"{name},sentence_id,word,tag", *rows, ""])
    assert len(read_tokens(io.StringIO(text), format="csv")[0]) == 3
    assert not recwarn.list


def test_a_header_of_other_names_is_named_with_its_options(tmp_path, capsys):
    """The advice is tried."""
    rows = [
        f"{k};{w};{len(w)},5;{t}"
        for k in range(4)
        for w, t in (("Ann", "B-P"), ("lief", "O"))
    ]
    path = tmp_path / "a.csv"
    path.write_text(
        "\n".join(["Satz;Wort;Länge;Etikett", *rows, ""]), encoding="cp1252"
    )
    given = "train", path, "--dry-run", "--encoding", "cp1252"
    code, _, err = run(capsys, *given)
    assert code == 1 and "--format csv --tokens Wort --label Etikett" in err
    options = ["--format", "csv", "--tokens", "Wort", "--label", "Etikett"]
    code, _, err = run(capsys, *given, *options)
    assert code == 0 and "8 tokens, 2 labels" in err and "'Satz' looks like" in err


@pytest.mark.parametrize("names", [("W, x", "Art"), ("Das Wort", "7"), ("-1", "a 'b'")])
def test_options_for_headers_take_any_names(names, tmp_path, capsys):
    """The advice is tried; options take commas and numbers for something else."""
    path = tmp_path / "a.csv"
    rows = ("Ann", "B-P"), ("lief", "O"), (), ("Bo", "B-P"), ("kam", "O"), ()
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([names, *rows])
    code, _, err = run(capsys, "train", path, "--dry-run")
    assert code == 1
    advice = err[err.index("--format csv ") :].splitlines()[0]
    code, _, err = run(capsys, "train", path, "--dry-run", *shlex.split(advice))
    assert code == 0 and "read 2 sentences, 4 tokens, 2 labels: csv" in err


def test_rows_without_any_cell_end_sentences(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("word,pos,tag\nAnn,N,B-P\nran,V,O\n,,\nBo,N,B-P\n,,\n")
    assert read_tokens(path) == ([["Ann", "ran"], ["Bo"]], [["B-P", "O"], ["B-P"]])


@pytest.mark.parametrize("key", ANNOTATORS)
@pytest.mark.parametrize("kind", ["csv", "json-tokens"])
def test_labels_of_several_people_are_said(key, kind, tmp_path):
    people = ["ann", "ann", "bob"]
    if kind == "csv":
        rows = [f"{who},{k},Ann,B-P" for k, who in enumerate(people)]
        text = "\n".join([f"{key},sentence_id,word,tag", *rows, ""])
    else:
        rows = [{key: who, "tokens": ["Ann"], "ner_tags": ["B-P"]} for who in people]
        text = "\n".join(map(json.dumps, rows))
    path = tmp_path / "a"
    path.write_text(text)
    with pytest.warns(
        UserWarning, match="the labels are of ann, bob, and all are read"
    ):
        assert len(read_tokens(path, format=kind)[0]) == 3
    path.write_text(text.replace("bob", "ann"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_tokens(path, format=kind)


@pytest.mark.parametrize("mark", [",", ";"])
def test_spaces_behind_all_marks_are_no_part_of_cells(mark, tmp_path):
    """Also before quotation marks."""
    text = 'sentence_id, word, tag\n0, Ann, B-P\n0, "ran", O\n1,  Bo, B-P\n'
    path = tmp_path / "a.csv"
    path.write_text(text.replace(",", mark))
    X, y = read_tokens(path)
    assert (X, y) == ([["Ann", "ran"], ["Bo"]], [["B-P", "O"], ["B-P"]])
    path.write_text("sentence_id,word,tag\n0, Ann,B-P\n")
    assert read_tokens(path)[0] == [[" Ann"]]  # a space of the cell's own
