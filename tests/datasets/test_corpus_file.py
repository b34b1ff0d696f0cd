"""`open_corpus` over every format there is: what it reads, keeps, counts and writes."""

import io
import os
import pathlib
import warnings

import pytest

from skstruct.datasets import (
    Row,
    SourceLayout,
    open_corpus,
    read_conllu,
    read_spans,
    read_tokens,
)
from skstruct.datasets.formats.entry import TEXTS, WORDS
from skstruct.datasets.formats.table import BY_NAME, FORMATS

SAMPLES = pathlib.Path(__file__).parent / "formats" / "samples"
NAMES = [each.name for each in FORMATS]
WRITTEN = [each.name for each in FORMATS if each.is_written]
COLUMNS = "Ann B-PER\nleft O\n\nRome B-LOC\n"


def sample(name):
    (path,) = (path for path in SAMPLES.iterdir() if path.name.split(".")[0] == name)
    return path


def seen(rows):
    """What rows hold, without their places."""
    return [(row.x, row.y, row.document, row.weight) for row in rows]


def written(corpus, rows, folder):
    """What is read again of rows that were written."""
    name = corpus.layout.format
    path = folder / ("notes" if name == "brat" else f"notes{sample(name).suffix}")
    layout = corpus.write(rows, path)
    return list(open_corpus(path, layout).rows()), path


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_what_readers_of_the_kind_return(name):
    read = read_spans if BY_NAME[name].kind == TEXTS else read_tokens
    X, y = read(sample(name))
    corpus = open_corpus(sample(name))
    rows = list(corpus.rows())
    assert ([row.x for row in rows], [row.y for row in rows]) == (X, y)
    assert corpus.layout.format == name and corpus.why
    assert corpus.kind.name == BY_NAME[name].kind
    for row in rows:
        assert row.place.file.startswith(str(SAMPLES))
        known = row.place.line, row.place.record
        assert any(each is not None for each in known)


@pytest.mark.parametrize("name", NAMES)
def test_a_layout_that_is_given_again_reads_the_same(name):
    corpus = open_corpus(sample(name))
    rows = list(corpus.rows())
    again = open_corpus(sample(name), corpus.layout)
    assert list(again.rows()) == rows and again.layout == corpus.layout
    again = open_corpus(str(sample(name)), corpus.layout.to_dict())
    assert list(again.rows()) == rows == list(again.rows())  # a path is read anew


@pytest.mark.parametrize("name", NAMES)
def test_everything_is_counted(name):
    corpus = open_corpus(sample(name))
    rows = list(corpus.rows())
    contents = corpus.contents
    tallies = contents.lines, contents.records, contents.spans
    for tally in tallies:
        assert tally.seen == tally.data + tally.structure + tally.n_left_out
    if contents.records.seen:
        assert contents.records.data >= 1 and f"{contents.records.seen} " in (
            contents.summary()
        )
        return
    lines = sample(name).read_text("utf-8").splitlines()
    assert contents.lines.seen == len(lines)
    blank = sum(not line.strip() for line in lines)
    assert contents.lines.structure + contents.lines.n_left_out >= blank
    assert contents.lines.data >= len(rows)
    assert contents.summary().startswith(f"{len(lines)} lines: ")


@pytest.mark.parametrize("name", WRITTEN)
def test_what_is_written_is_read_again(name, tmp_path):
    corpus = open_corpus(sample(name))
    rows = list(corpus.rows())
    again, path = written(corpus, rows, tmp_path)
    assert seen(again) == seen(rows)
    assert open_corpus(path).layout.format == name


@pytest.mark.parametrize("name", WRITTEN)
def test_rows_of_other_files_are_written(name, tmp_path):
    """Rows that say nothing but tokens and labels; and some of these among others."""
    corpus = open_corpus(sample(name))
    rows = list(corpus.rows())
    bare = [row._replace(more=None) for row in rows]
    assert seen(written(corpus, bare, tmp_path)[0]) == seen(rows)
    if name != "brat":
        mixed = [*rows[:2], *bare[2:4], *rows[4:]]
        assert seen(written(corpus, mixed, tmp_path)[0]) == seen(rows)


@pytest.mark.parametrize("name", WRITTEN)
def test_what_was_corrected_is_written(name, tmp_path):
    corpus = open_corpus(sample(name))
    rows = list(corpus.rows())
    if BY_NAME[name].kind == WORDS:
        rows[1] = rows[1]._replace(y=[rows[1].x])
    elif BY_NAME[name].kind == TEXTS:
        k = next(k for k, row in enumerate(rows) if row.y)
        rows[k] = rows[k]._replace(y=rows[k].y[1:])
    else:
        other = next(label for row in rows for label in row.y if label != rows[0].y[0])
        outside = "O" if any("O" in row.y for row in rows) else other
        rows[0] = rows[0]._replace(y=[outside] * len(rows[0].y))
        x = rows[1].x
        token = {"w=new": 2.5} if isinstance(x[0], dict) else "new"
        rows[1] = rows[1]._replace(x=[token, *x[1:]])
    again, _ = written(corpus, rows, tmp_path)
    assert seen(again) == seen(rows)


@pytest.mark.parametrize("name", [n for n in NAMES if n not in WRITTEN])
def test_formats_that_are_read_alone_name_others(name):
    corpus = open_corpus(sample(name))
    rows = list(corpus.rows())
    file = io.StringIO()
    with pytest.raises(
        ValueError, match=f"{name} can be read, but not written; choose"
    ):
        corpus.write(rows, file)
    assert file.getvalue() == ""


def test_what_else_a_file_says_stays():
    lines = [
        "-DOCSTART- -X- O\n\n",
        "1\tAnn\tNNP\tB-PER\n2\tleft\tVBD\tO\n\n",
        "-DOCSTART- -X- O\n\n",
        "1\tRome\tNNP\tB-LOC\n",
    ]
    layout = SourceLayout("columns", tokens=(1,), label=3)
    corpus = open_corpus(io.StringIO("".join(lines)), layout)
    first, second = corpus.rows()
    assert (first.document, second.document) == ("0", "1")
    file = io.StringIO()
    corpus.write([first._replace(y=["O", "O"]), second], file)
    assert "1\tAnn\tNNP\tO\n2\tleft\tVBD\tO\n\n" in file.getvalue()
    assert file.getvalue().count("-DOCSTART-") == 2
    text = "# sent_id = a\n# text = x\n1\tx\tl\tN\tNN\t_\t0\troot\t_\tname=B-X\n\n"
    corpus = open_corpus(io.StringIO(text))
    (row,) = corpus.rows()
    assert row.place.id == "a"
    file = io.StringIO()
    corpus.write([row], file)
    assert file.getvalue() == text


def test_trees():
    text = sample("conllu").read_text("utf-8")
    layout = SourceLayout("conllu", tokens=("form", "xpos"), label=("head", "deprel"))
    corpus = open_corpus(sample("conllu"), layout)
    rows = list(corpus.rows())
    found = read_conllu(io.StringIO(text))
    assert corpus.kind.name == "trees"
    assert [row.x for row in rows] == [[t[:2] for t in s] for s in found]
    assert [row.y for row in rows] == [[t[2:] for t in s] for s in found]
    file = io.StringIO()
    again = open_corpus(
        io.StringIO("x\tN\t0\troot\n"),
        layout={"format": "columns", "tokens": [0, 1], "label": [-2, -1]},
    )
    assert [row.y for row in again.rows()] == [[(0, "root")]]
    assert corpus.write(rows, file) == layout and file.getvalue() == text


def test_what_a_row_cannot_say_in_a_format_is_refused(tmp_path):
    corpus = open_corpus(io.StringIO(COLUMNS))
    path = tmp_path / "notes"
    for row, why in [
        (Row(["Ann Lee"], ["B-PER"]), "row 0 cannot be written as columns"),
        (Row(["a", "b"], ["O"]), "row 0: 2 tokens and 1 label"),
        (Row([], []), "row 0: it has no token"),
        (Row(["a"], [None]), "cannot be written"),
        (Row(["a"], ["O"], weight=2.0), "row 0 cannot be written as columns"),
    ]:
        with pytest.raises(ValueError, match=why):
            corpus.write([row], path)
    with pytest.raises(TypeError, match="row 0: expected a Row"):
        corpus.write([(["a"], ["O"])], path)
    assert not path.exists()
    parallel = open_corpus(sample("words-labels"))
    with pytest.raises(ValueError, match="row 0 cannot be written as words-labels"):
        parallel.write([Row(["a", "b"], ["O", "O"], document="d")], path)


def test_inputs(tmp_path):
    records = [{"text": "Ann left", "label": [[0, 3, "PER"]]}] * 2
    corpus = open_corpus(iter(records))
    assert corpus.kind.name == "texts" and len(list(corpus.rows())) == 2
    assert len(list(corpus.rows())) == 2  # records are read again
    X, y = read_spans(records)
    assert [row.x for row in corpus.rows()] == X
    records = [{"tokens": ["a", "b"], "ner_tags": [0, 1]}]
    names = {"options": {"label_names": ["O", "B-X"]}, "format": "json-tokens"}
    assert next(open_corpus(records, names).rows()).y == ["O", "B-X"]
    file = open_corpus(io.StringIO(COLUMNS))
    assert len(list(file.rows())) == 2
    with pytest.raises(ValueError, match="can be read only once"):
        list(file.rows())
    with pytest.raises(FileNotFoundError):
        open_corpus(tmp_path / "nowhere")
    for given in (3, {"text": "a"}):
        with pytest.raises(TypeError, match="must be a path, an open text file or a"):
            open_corpus(given)
    with pytest.raises(ValueError, match="no format 'nothing'; choose one of columns"):
        open_corpus(io.StringIO(""), SourceLayout("nothing"))
    with pytest.raises(ValueError, match="cannot tell the format"):
        open_corpus(io.StringIO("A cat sat.\nIt sat on a mat.\n"))
    with pytest.raises(ValueError, match="source_layout must be"):
        open_corpus(io.StringIO(COLUMNS), "columns")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have names on Unix")
def test_a_pipe_is_opened_once(tmp_path):
    import threading

    path = tmp_path / "pipe"
    os.mkfifo(path)
    thread = threading.Thread(target=lambda: path.write_text(COLUMNS))
    thread.start()
    assert len(list(open_corpus(path).rows())) == 2
    thread.join()


def test_units_of_a_file_stay_in_its_layout():
    lines = '{"text": "\U0001f600 Ann left", "spans": [{"start": 3, "end": 6, "label": "P", "text": "Ann"}]}\n'
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        corpus = open_corpus(io.StringIO(lines * 3))
        rows = list(corpus.rows())
    assert corpus.layout.offsets == "utf-16" and rows[0].y == [(2, 5, "P")]
    assert list(open_corpus(io.StringIO(lines), corpus.layout).rows())[0].y == rows[0].y
    file = io.StringIO()
    layout = corpus.write(rows, file)
    again = list(open_corpus(io.StringIO(file.getvalue()), layout).rows())
    assert seen(again) == seen(rows)
