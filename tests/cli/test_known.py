"""``tag --known``: what is known of spans beforehand."""

import io
from pathlib import Path

import pytest
from cli_cases import run

from skstruct import SpanTagger, StructuredPerceptron
from skstruct.datasets import read_spans, write_spans


@pytest.fixture(autouse=True)
def inside(tmp_path, monkeypatch):
    """Commands run in a folder with the model ``ner``."""
    monkeypatch.chdir(tmp_path)
    tagger = SpanTagger(StructuredPerceptron(random_state=0))
    tagger.fit(["Ann is in Rome."], [[(0, 3, "PER"), (10, 14, "LOC")]]).save("ner")


def tagged(capsys, *arguments, warnings=0):
    code, out, err = run(capsys, "tag", *arguments, "-m", "ner")
    assert code == 0 and err.count("warning") == warnings, err
    return out


def spans_in(written):
    (spans,) = read_spans(io.StringIO(written))[1]
    return spans


def test_known(tmp_path, capsys):
    """--known: a lexicon finds spans in any text, annotated texts say what is known of
    theirs.
    """
    Path("text").write_text("Bob is in Oslo.", encoding="utf-8")
    Path("names.tsv").write_text("bob\tLOC\n/O\\w+/\tO\n", encoding="utf-8")
    found = tagged(capsys, "text", "--known", "names.tsv")
    assert (0, 3, "LOC") in spans_in(found)
    assert not any(span.start < 14 and span.end > 10 for span in spans_in(found))
    write_spans("known.jsonl", ["Bob is in Oslo."], [[(10, 14, "PER")]], "jsonl")
    found = tagged(capsys, "text", "--known", "known.jsonl")
    assert (10, 14, "PER") in spans_in(found)
    write_spans("known.jsonl", ["Another."], [[(0, 7, "PER")]], "jsonl")
    tagged(capsys, "text", "--known", "known.jsonl", warnings=1)
    Path("names.tsv").write_text("Bob\tX\n", encoding="utf-8")
    code, _, said = run(capsys, "tag", "text", "-m", "ner", "--known", "names.tsv")
    assert code != 0 and "text: (0, 3, 'X') no label has the type 'X'" in said
    Path("names.tsv").write_text("Bob\tX\ty\n", encoding="utf-8")
    code, _, said = run(capsys, "tag", "text", "-m", "ner", "--known", "names.tsv")
    assert code != 0 and "names.tsv, line 1: expected an entry, a tab" in said


def test_known_is_refused_by_other_models(tmp_path, capsys):
    StructuredPerceptron().fit([["a"]], [["A"]]).save("tagger")
    Path("names.tsv").write_text("Bob\tX\n", encoding="utf-8")
    code, _, said = run(capsys, "tag", "-m", "tagger", "--known", "names.tsv")
    assert code != 0 and "--known is not for models that label tokens" in said


@pytest.mark.parametrize(
    "lines",
    [
        "bob;LOC\n",
        "Bob LOC\n",
        '{"text": "Bob is in Oslo.", "spans": [[0, 3, "LOC"]]}\n',
    ],
)
def test_a_lexicon_that_finds_nothing_is_named(capsys, lines):
    Path("text").write_text("Bob is in Oslo.", encoding="utf-8")
    Path("names.txt").write_text(lines, encoding="utf-8")
    code, _, err = run(capsys, "tag", "text", "-m", "ner", "--known", "names.txt")
    assert code == 0 and "no entry of the lexicon names.txt is in the texts" in err


def test_a_byte_order_mark_is_no_part_of_the_first_entry(capsys):
    Path("text").write_text("Bob is in Oslo.", encoding="utf-8")
    Path("names.tsv").write_text("is\tLOC\n", encoding="utf-8-sig")
    found = tagged(capsys, "text", "--known", "names.tsv")
    assert (4, 6, "LOC") in spans_in(found)
