"""Tables with one span per row, or with one text per row."""

import io
import json

import pytest
from cli_cases import run

from skstruct.datasets import read_spans

TEXT = (
    'id,text,start,end,label,source\n7,"Ruth, in Lyon",0,4,PER,a\n'
    '8,None here,,,,b\n7,"Ruth, in Lyon",9.0,13.0,LOC,a\n'
)
X = ["Ruth, in Lyon", "None here"]
Y = [[(0, 4, "PER"), (9, 13, "LOC")], []]


def test_rows_of_a_text_belong_together():
    X_read, y, metadata = read_spans(io.StringIO(TEXT), return_metadata=True)
    assert (X_read, y) == (X, Y)
    assert metadata == [{"id": "7", "source": "a"}, {"id": "8", "source": "b"}]


@pytest.mark.parametrize("n", range(4))
def test_commas_behind_all_rows_change_nothing(n):
    """Spreadsheets write empty cells as far as a column was ever used."""
    rows = "".join(f"{row}{',' * n}\n" for row in TEXT.splitlines())
    assert read_spans(io.StringIO(rows)) == (X, Y)


def test_texts_in_files(tmp_path):
    (tmp_path / "a.txt").write_text(X[0], newline="")
    table = tmp_path / "spans.tsv"
    table.write_text("file\tbegin\tend\ttype\na.txt\t0\t4\tPER\n")
    assert read_spans(table) == (X[:1], [[(0, 4, "PER")]])
    table.write_text("file\tbegin\tend\ttype\nb.txt\t0\t4\tPER\n")
    with pytest.raises(ValueError, match="line 2: .*b.txt: No such file"):
        read_spans(table)
    *_, faults = read_spans(table, on_error="list")
    assert [(fault.record, fault.line) for fault in faults] == [(0, 2)]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("9,Ann,0,x,PER,c", "line 5: expected numbers"),
        ("9,Ann,0,9,PER,c", "line 5"),
        ("9,Ann", "line 5: expected 6 cells"),
    ],
)
def test_what_is_refused(row, message):
    with pytest.raises(ValueError, match=message):
        read_spans(io.StringIO(TEXT + row + "\n"))


def test_texts_alone_are_labelled_and_not_learned(tmp_path, capsys):
    """The header and the numbers are no prose."""
    path, model = tmp_path / "texts.csv", tmp_path / "m"
    spans = tmp_path / "spans.csv"
    spans.write_text(TEXT)
    assert run(capsys, "train", spans, "-m", model)[0] == 0
    path.write_text('id,text\n1,"Ruth, in Lyon"\n2,"a\nb"\n')
    code, out, err = run(capsys, "tag", path, "-m", model)
    found = [json.loads(line) for line in out.splitlines()]
    assert code == 0 and [each["text"] for each in found] == [X[0], "a\nb"], err
    assert [each["id"] for each in found] == ["1", "2"]
    assert run(capsys, "train", path, "-m", tmp_path / "n")[0] == 1


def test_equal_texts_without_a_key_are_told_apart_by_their_spans():
    rows = "text,start,end,label\nAnn ran,0,3,PER\nAnn ran,4,7,ACT\n"
    assert read_spans(io.StringIO(rows)) == (
        ["Ann ran"],
        [[(0, 3, "PER"), (4, 7, "ACT")]],
    )
    with pytest.warns(UserWarning, match="1 text with the same span twice.*line 2"):
        X, y = read_spans(io.StringIO(f"{rows}Ann ran,0,3,ORG\nAnn ran,,,\n"))
    assert X == ["Ann ran"] * 3
    assert y == [[(0, 3, "PER"), (4, 7, "ACT")], [(0, 3, "ORG")], []]


def test_line_ends_within_cells_stay_as_they_are(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b'text,start,end,label\r\n"Hi\r\nAnn",4,7,PER\r\n')
    assert read_spans(path) == (["Hi\r\nAnn"], [[(4, 7, "PER")]])


def test_a_mark_that_is_not_closed_swallows_no_rows():
    rows = 'text,start,end,label,note\nAnn,0,3,PER,"\nBo,0,2,PER,\nEva,0,3,PER,"\n'
    with pytest.raises(ValueError, match="line 2: a cell contains what looks like"):
        read_spans(io.StringIO(rows))


def test_long_cells_and_separators_of_spreadsheets():
    long = "x" * 200_000
    text = f'sep=;\ntext;start;end;label;note\n"Ann";0;3;PER;{long}\n'
    assert read_spans(io.StringIO(text)) == (["Ann"], [[(0, 3, "PER")]])


def test_lines_of_amazon_comprehend(tmp_path):
    (tmp_path / "docs.txt").write_text("Ana left.\nno one\nTom met Eva.\n")
    table = tmp_path / "annotations.csv"
    head = "File,Line,Begin Offset,End Offset,Type\n"
    table.write_text(
        f"{head}docs.txt,0,0,3,PER\ndocs.txt,2,0,3,PER\ndocs.txt,2,8,11,PER\n"
    )
    X, y = read_spans(table)
    assert X == ["Ana left.", "no one", "Tom met Eva."]
    assert y == [[(0, 3, "PER")], [], [(0, 3, "PER"), (8, 11, "PER")]]
    with pytest.raises(ValueError, match="it has annotations.csv, docs.txt: name one"):
        read_spans(tmp_path)
    table.write_text(f"{head}docs.txt,3,0,3,PER\n")
    with pytest.raises(
        ValueError, match="line 2: docs.txt has 3 lines, numbered from 0"
    ):
        read_spans(table)
