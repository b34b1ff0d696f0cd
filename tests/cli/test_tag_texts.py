"""skstruct tag for models of spans: what is taken for records, what is written beside
spans, and where to.
"""

import gzip
import io
import json
import os
import sys
from pathlib import Path

import pytest
from cli_cases import run

from skstruct import SpanTagger, StructuredPerceptron
from skstruct.cli import texts
from skstruct.datasets import read_spans, write_spans

TEXT = "Ann is in Rome."
SPANS = [(0, 3, "PER"), (10, 14, "LOC")]


@pytest.fixture(autouse=True)
def inside(tmp_path, monkeypatch):
    """Commands run in a folder with the model ``ner``."""
    monkeypatch.chdir(tmp_path)
    SpanTagger(StructuredPerceptron(random_state=0)).fit([TEXT], [SPANS]).save("ner")


def tagged(capsys, *arguments, warnings=0):
    code, out, err = run(capsys, "tag", *arguments, "-m", "ner")
    assert code == 0 and err.count("warning") == err.count("\n") == warnings, err
    return out


def rows(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


# --------------------------------------------------------------------------------------
# What is said beside spans
# --------------------------------------------------------------------------------------
@pytest.mark.parametrize("answer", ["accept", "reject", "ignore"])
@pytest.mark.parametrize("wanted", ["prodigy", "jsonl"])
def test_answers_to_other_spans_are_left_out(capsys, answer, wanted):
    """Predictions are not accepted yet, nor rejected; they are whole, and nobody's."""
    record = {
        "text": TEXT, "_input_hash": 1, "_task_hash": 2, "_view_id": "ner", "answer": answer, "source": "web",
        "spans": [{"start": 4, "end": 6, "label": "X"}], "_annotator_id": "bo", "relations": [{"head": 0}],
    }  # fmt: skip
    Path("notes.jsonl").write_text(rows(record, {**record, "_annotator_id": "jo"}))
    out = tagged(capsys, "notes.jsonl", "--write", wanted)
    (first, _) = map(json.loads, out.splitlines())
    assert first.keys() == {"text", "spans", "_input_hash", "source"}
    assert read_spans(io.StringIO(out)) == ([TEXT] * 2, [SPANS] * 2)


def test_old_spans_under_another_key_are_left_out(capsys):
    Path("notes.jsonl").write_text(
        rows(
            {
                "text": TEXT,
                "spans": [],
                "entities": [[0, 2, "A"]],
                "candidates": [{}],
                "label": "news",
            }
        )
    )
    (record,) = map(json.loads, tagged(capsys, "notes.jsonl").splitlines())
    assert record.keys() == {"text", "spans", "label"} and len(record["spans"]) == 2


@pytest.mark.parametrize("written", ["jsonl", "spacy", "label-studio"])
def test_a_file_without_records_is_written_as_an_empty_one(capsys, written):
    Path("notes.json").write_text("[]")
    out = tagged(capsys, "notes.json", "--format", "jsonl", "--write", written)
    assert out.split() == ([] if written == "jsonl" else ["[", "]"])


def test_ordinary_records_are_tagged(capsys):
    Path("notes.jsonl").write_text(
        rows({"text": TEXT, "spans": None}, {"text": TEXT, "labels": None, "id": 7})
    )
    X, y, metadata = read_spans(
        io.StringIO(tagged(capsys, "notes.jsonl")), return_metadata=True
    )
    assert (X, y, metadata) == ([TEXT] * 2, [SPANS] * 2, [{}, {"id": 7}])

    Path("notes.jsonl").write_text(
        rows({"text": "Rome", "body": TEXT}, {"text": "Ann", "body": TEXT})
    )
    code, out, err = run(
        capsys, "tag", "notes.jsonl", "-m", "ner", "--read", "text=body"
    )
    assert code == 0 and read_spans(io.StringIO(out)) == ([TEXT] * 2, [SPANS] * 2)
    assert (
        err.count("\n") == 1
        and "notes.jsonl: the records' own 'text' is left out: jsonl has no pl" in err
    )

    Path("notes.jsonl").write_text(rows({"text": TEXT, "label": "news"}))
    code, out, err = run(
        capsys, "tag", "notes.jsonl", "-m", "ner", "--write", "doccano"
    )
    assert (
        read_spans(io.StringIO(out)) == ([TEXT], [SPANS])
        and "own 'label' is left out: doccano" in err
    )


@pytest.mark.parametrize(
    "records, names",
    [
        ([{"id": 3}, {"id": 4}], ["0", "1"]),
        ([{"name": "a", "id": 3}, {"name": "b"}], ["a", "b"]),
        (
            [{"name": "Ann"}, {"name": "Ann"}],
            ["0", "1"],
        ),  # whoever that is: no names of texts
        ([{"name": "a"}, {"name": 5}], ["0", "1"]),
    ],
)
def test_records_as_files_of_brat(capsys, records, names):
    Path("notes.jsonl").write_text(
        rows(*({"text": TEXT, **record} for record in records))
    )
    more = "id" in records[0]
    tagged(capsys, "notes.jsonl", "--write", "brat", "-o", "out", warnings=more)
    X, y, metadata = read_spans("out", return_metadata=True)
    assert (X, y) == ([TEXT] * 2, [SPANS] * 2) and [
        each["name"] for each in metadata
    ] == names


# --------------------------------------------------------------------------------------
# What is taken for records
# --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "text",
    [
        "[[Category:Towns]]\nAnn is in Rome.\n",
        "[{Ann}] is in Rome.",
        "[1] Ann",
        "{Ann} is\nin Rome",
        "[\nAnn\n]\n",
        "[",
        "{\n\n",
    ],
)
@pytest.mark.parametrize("piped", [False, True])
def test_text_that_begins_with_brackets_is_text(capsys, monkeypatch, text, piped):
    Path("wiki.txt").write_text(text)
    monkeypatch.setattr(
        sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode()), "utf-8")
    )
    assert json.loads(tagged(capsys, *([] if piped else ["wiki.txt"])))["text"] == text


@pytest.mark.parametrize("indent", [None, 1, 4])
@pytest.mark.parametrize(
    "value",
    [
        {"text": TEXT, "spans": []},
        [{"text": TEXT, "spans": []}],
        [[TEXT, {"entities": []}]],
        [{"id": 1, "data": {"text": TEXT}}],
    ],
)
def test_json_on_one_line_or_on_many_is_records(capsys, value, indent):
    Path("notes").write_text(json.dumps(value, indent=indent))
    assert read_spans(io.StringIO(tagged(capsys, "notes"))) == ([TEXT], [SPANS])


def test_format_says_what_is_text(capsys):
    text = '[["Ann"]] is {"in": Rome}.'
    Path("notes").write_text(text)
    code, _, err = run(capsys, "tag", "notes", "-m", "ner")
    assert code == 1 and "notes, line 1: not valid JSON" in err
    assert "to read notes as plain text, pass --format text" in err
    assert json.loads(tagged(capsys, "notes", "--format", "text"))["text"] == text
    Path("notes.jsonl").write_text("Ann\n")  # its name says that it is none
    code, _, err = run(capsys, "tag", "notes.jsonl", "-m", "ner")
    assert (
        code == 1
        and "notes.jsonl, line 1: expected JSON" in err
        and "--format text" not in err
    )
    for format in "columns", "conllu", "segmented", "crfsuite":
        code, _, err = run(capsys, "tag", "notes", "-m", "ner", "--format", format)
        assert (
            code == 2 and f"--format {format} is not for models that mark spans" in err
        )
    for command in (
        ["train", "notes", "-m", "new"],
        ["check", "notes"],
        ["evaluate", "notes", "-m", "ner"],
    ):
        code, _, err = run(capsys, *command, "--format", "text")
        assert code == 1 and "not plain text" in err and not Path("new").exists()


@pytest.mark.parametrize(
    "line", ["1\tAnn\tAnn\tN\tN\t_\t0\troot\t_\t_\n", "Ann B-PER\nis O\n\n" * 5]
)
def test_columns_read_as_one_text_are_told(capsys, line):
    Path("columns").write_text(line)
    code, out, err = run(capsys, "tag", "columns", "-m", "ner")
    assert code == 0 and json.loads(out)["text"] == line
    assert (
        "columns: looks like columns; it is read as one text; if that is right, pass --format text"
        in err
    )
    tagged(capsys, "columns", "--format", "text")


# --------------------------------------------------------------------------------------
# Where it is written
# --------------------------------------------------------------------------------------
def test_what_is_read_is_not_replaced(capsys):
    """Not the annotations of a folder of brat, and no other file, for --force either."""
    write_spans(
        "gold",
        [TEXT, TEXT],
        [[(0, 3, "A")], []],
        "brat",
        metadata=[{"name": "a"}, {"name": "b"}],
    )
    with open("gold/a.ann", "a") as file:
        file.write("#1\tAnnotatorNotes T1\tsure\n")
    os.symlink("gold", "other")
    Path("notes.jsonl").write_text(rows({"text": TEXT}))
    Path("0.txt").write_text(TEXT)
    before = {path: path.read_bytes() for path in Path().rglob("*.*")}
    for file, *more in (
        ("gold", "--write", "brat", "-o", "gold"),
        ("gold", "--write", "brat", "-o", "other"),
        ("gold/a.ann", "--write", "brat", "-o", "./gold/"),
        ("gold", "-o", "gold/b.txt"),
        ("notes.jsonl", "-o", "notes.jsonl"),
        ("0.txt", "--lines", "--write", "brat", "-o", "."),
    ):
        for force in [], ["--force"]:
            code, out, err = run(capsys, "tag", file, "-m", "ner", *more, *force)
            assert (code, out) == (1, "")
            assert "would be replaced by its own output" in err, err
            assert {path: path.read_bytes() for path in Path().rglob("*.*")} == before
    tagged(capsys, "gold", "--write", "brat", "-o", "new")
    assert read_spans("new") == ([TEXT] * 2, [SPANS] * 2)


def test_no_other_command_writes_over_what_it_reads(capsys):
    write_spans("gold.jsonl", [TEXT] * 2, [SPANS] * 2)
    before = Path("gold.jsonl").read_bytes()
    for command in (
        ["train", "gold.jsonl", "-m", "gold.jsonl"],
        ["train", "gold.jsonl", "-m", "new", "--dev", "new"],
        ["check", "gold.jsonl", "-o", "gold.jsonl"],
        ["report", "gold.jsonl", "-m", "ner", "-o", "gold.jsonl"],
        ["select", "gold.jsonl", "-m", "ner", "-o", "gold.jsonl"],
    ):
        Path("new").write_bytes(before)
        code, _, err = run(capsys, *command)
        assert code == 1 and "would be replaced by its own output" in err
        assert Path("gold.jsonl").read_bytes() == Path("new").read_bytes() == before


@pytest.mark.parametrize("command", ["tag", "select"])
def test_the_target_is_checked_first(capsys, monkeypatch, command):
    """Before a text is read, and with it before a model is asked."""
    monkeypatch.setattr(texts, "read_texts", None)
    Path("letter.txt").write_text(TEXT)
    Path("folder").mkdir()
    for target, message in (
        ("nowhere/out.jsonl", "nowhere/out.jsonl: the folder does not exist"),
        ("folder", "folder: is not a regular file"),
        ("letter.txt/out", "letter.txt/out: the folder does not exist"),
    ):
        code, out, err = run(capsys, command, "letter.txt", "-m", "ner", "-o", target)
        assert (code, out) == (1, "") and message in err
    if command == "tag":
        code, _, err = run(
            capsys,
            "tag",
            "letter.txt",
            "-m",
            "ner",
            "--write",
            "brat",
            "-o",
            "letter.txt/a/b",
        )
        assert code == 1 and "letter.txt/a/b: is not a folder" in err


def test_a_folder_of_brat_is_made(capsys):
    Path("letter.txt").write_text(TEXT)
    tagged(capsys, "letter.txt", "--write", "brat", "-o", "new/inside")
    assert read_spans("new/inside") == ([TEXT], [SPANS])


def test_what_a_person_has_annotated_is_not_replaced(capsys):
    """Nor in a folder that is not read."""
    write_spans("gold", [TEXT], [[(0, 3, "A")]], "brat", metadata=[{"name": "0"}])
    Path("letter.txt").write_text(TEXT)
    Path("more").mkdir()
    Path("more/0.txt").write_text(TEXT)
    before = Path("gold/0.ann").read_bytes()
    for path in "more", "letter.txt":  # of another name: old and new would be mixed
        given = "tag", path, "-m", "ner", "--write", "brat", "-o", "gold"
        code, _, err = run(capsys, *given)
        assert code == 1 and "gold: has .ann files already" in err
        assert sorted(os.listdir("gold")) == ["0.ann", "0.txt"]
    tagged(capsys, "letter.txt", "--write", "brat", "-o", "gold", "--force")
    assert Path("gold/0.ann").read_bytes() == before
    tagged(capsys, "more", "--write", "brat", "-o", "gold", "--force")
    assert Path("gold/0.ann").read_bytes() != before


# --------------------------------------------------------------------------------------
# Several files
# --------------------------------------------------------------------------------------
def test_files_folders_and_gz(capsys):
    Path("notes/b").mkdir(parents=True)
    Path("notes/b/c.txt").write_text(TEXT)
    with gzip.open("notes/a.txt.gz", "wt") as file:
        file.write("Nobody.")
    with gzip.open("more.jsonl.gz", "wt") as file:
        file.write(rows({"text": TEXT, "id": 3}))
    found = [
        json.loads(row) for row in tagged(capsys, "notes", "more.jsonl.gz").splitlines()
    ]
    assert [(row["text"], row.get("name")) for row in found] == [
        ("Nobody.", "a"), (TEXT, "b/c"), (TEXT, None),
    ]  # fmt: skip
    assert found[2]["id"] == 3
    tagged(capsys, "notes", "--write", "brat", "-o", "out")
    assert read_spans("out", return_metadata=True)[2] == [
        {"name": "a"},
        {"name": "b/c"},
    ]
    Path("none").mkdir()
    code, _, err = run(capsys, "tag", "none", "-m", "ner")
    assert (
        code == 1 and "none: there is no file NAME.txt or NAME.ann in the folder" in err
    )


def test_select_reads_folders_too(capsys):
    Path("notes").mkdir()
    Path("notes/a.txt").write_text(TEXT)
    code, out, _ = run(capsys, "select", "notes", "-m", "ner", "--strategy", "margin")
    assert code == 0 and json.loads(out)["name"] == "a"
    assert (
        run(
            capsys,
            "select",
            "notes",
            "-m",
            "ner",
            "--strategy",
            "margin",
            "-o",
            "notes/a.txt",
        )[0]
        == 1
    )
    assert Path("notes/a.txt").read_text() == TEXT


def test_several_files_of_columns(capsys):
    StructuredPerceptron(["U:%x[0,0]"], random_state=0).fit(
        [["a", "b"]] * 9, [["A", "B"]] * 9
    ).save("tagger")
    Path("1").write_text("a\nb")
    Path("2").write_text("# comment\na\n\n")
    code, out, _ = run(capsys, "tag", "1", "2", "-m", "tagger", "--comment", "# ")
    assert (code, out) == (0, "a A\nb B\n\n# comment\na A\n\n")
