"""Whatever a file calls its documents, ``--document`` names it and a message offers it.

This is tried with each format that has a place for such a key, column or comment.
"""

import csv
import io
import json
import re

import pytest
from cli_cases import run
from format_mutations import LAYOUTS, values_of
from format_samples import sample

from skstruct.cli import document_keys, held_out
from skstruct.datasets.formats.table import BY_NAME

KEY = "ward"


def ward(k):
    return f"w{k // 2}"


RECORDS_OF_A_TEXT = {"prodigy-decisions": 2}


def with_key(value, k, name):
    """A record of a file of JSON, with a key beside what it says already."""
    k //= RECORDS_OF_A_TEXT.get(name, 1)
    if name == "label-studio":
        value["data"] = {**value["data"], KEY: ward(k)}
        return value
    return {KEY: ward(k), **value}


def of_records(text, name):
    layout = LAYOUTS.get(name)
    values, is_list = values_of(text)
    if layout is not None and layout.records:
        outer = values[0]
        *parents, last = layout.records.split(".")
        owner = outer
        for parent in parents:
            owner = owner[parent]
        owner[last] = [with_key(each, k, name) for k, each in enumerate(owner[last])]
        return json.dumps(outer)
    found = [with_key(each, k, name) for k, each in enumerate(values)]
    return json.dumps(found) if is_list else "\n".join(map(json.dumps, found))


def of_table(text, name):
    rows = list(csv.reader(io.StringIO(text)))
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([*rows[0], KEY])
    k, last = -1, None
    for row in rows[1:]:
        if row[0] and row[0] != last:
            k, last = k + 1, row[0]
        writer.writerow([*row, ward(k)])
    return out.getvalue()


def of_comments(text, name):
    """Each document begins with a comment; the sentences after it are of it, too."""
    parts = re.split(r"\n\s*\n", text.strip())
    out = []
    for k, part in enumerate(parts):
        lines = part.split("\n")
        at = next(i for i, line in enumerate(lines) if not line.startswith("#"))
        lines[at:at] = [] if k % 2 else [f"# {KEY} = {ward(k)}"]
        out.append("\n".join(lines))
    return "\n\n".join(out) + "\n"


CHANGES = {
    **{
        name: of_records
        for name, layout in LAYOUTS.items()
        if not layout.is_pair and BY_NAME[name].kind == "texts"
    },
    "json-tokens": of_records,
    "gliner": of_records,
    "csv": of_table,
    "csv-spans": of_table,
    "columns": of_comments,
    "conllu": of_comments,
    "conllu-plus": of_comments,
    "cupt": of_comments,
}
"""How a key comes into the sample of a format."""

NO_PLACE = {
    "spacy",  # a pair of a text and annotations
    "ner-annotator",
    "dygie",  # names its documents itself
    "ontonotes",
    "webanno",
    "crfsuite",
    "word-tag",
    "words-labels",
    "brat",  # each file is a document
    "pubtator",
    "brackets",
    "xml",
    "segmented",
    "segmented-tags",
    "bars",
    "kytea",
    "mecab",
}


def test_each_format_is_tried():
    assert CHANGES.keys() | NO_PLACE == BY_NAME.keys()
    assert not CHANGES.keys() & NO_PLACE


@pytest.fixture
def seen(monkeypatch):
    """The numbers of documents, where some would be held out: nothing is trained."""
    found = []

    def stop(arguments, model, corpus, learn):
        documents, known = held_out.documents_of(corpus)
        held_out.tell_unnamed(corpus, known)
        found.append((documents.tolist(), known, len(corpus.X)))
        raise document_keys.CommandError("enough")

    monkeypatch.setattr(held_out, "hold_out", stop)
    return found


@pytest.mark.parametrize("name", CHANGES)
def test_a_key_of_documents_is_offered_and_settable(name, seen, capsys, tmp_path):
    source = sample(name)
    path = tmp_path / source.name
    text = CHANGES[name](source.read_text(encoding="utf-8"), name)
    path.write_text(text, encoding="utf-8")
    given = "train", path, "-m", tmp_path / "m", "-a", "perceptron", "--holdout", ".3"
    given = *given, "--epochs", 1, "--force"
    code, _, err = run(capsys, *given)
    (numbers, known, n) = seen.pop()
    if known:  # the sample names documents already
        assert "nothing names documents" not in err
    else:
        offer = re.search(r"'(\S+)' has \d+ values .*: --document (\S+) ", err)
        assert offer and KEY in offer[0], err
    key = re.search(rf"--document (\S*{KEY})", err)
    key = KEY if key is None else key[1]
    code, _, err = run(capsys, *given, "--document", key)
    ((numbers, known, n),) = seen
    assert known and "nothing names documents" not in err
    assert n > 2 and numbers == [int(ward(k)[1:]) for k in range(n)]


def test_an_unknown_key_is_refused(capsys, tmp_path):
    path = sample("json-tokens")
    given = "train", path, "-m", tmp_path / "m", "--holdout", ".3"
    code, _, err = run(capsys, *given, "--document", "nope")
    assert code == 1 and "no sentence has 'nope' (--document); there " in err


def test_the_documents_of_dev_are_not_asked_for(capsys, tmp_path):
    """Nothing of it is held out."""
    rows = [
        {"text": f"{name} ran", "spans": [[0, 3, "X"]], "case": name[0]}
        for name in ("Ann", "Ada", "Bob", "Ben", "Cid", "Cal")
    ]
    path, dev = tmp_path / "a.jsonl", tmp_path / "dev.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    dev.write_text(json.dumps({"text": "Dan ran", "spans": [[0, 3, "X"]]}))
    more = "--document", "case", "--holdout", ".4", "--dev", dev
    new = "-m", tmp_path / "m", "-a", "perceptron", "--keep-training"
    code, out, err = run(capsys, "train", path, *new, *more)
    assert code == 0 and "1 document held out" in out, err
    new = "-m", tmp_path / "n", "--update", tmp_path / "m"
    code, _, err = run(capsys, "train", path, *new, *more)
    assert code == 0, err


def test_a_key_that_some_records_lack_is_said(capsys):
    said = [{"a": "1"}, {}, {"a": "1"}]
    assert document_keys.documents_by("a", said, "f", "text") == ["1", None, "1"]
    assert "f: 1 text without 'a' (--document)" in capsys.readouterr().err


def test_keys_are_offered_by_what_they_group():
    said = [
        {"n": str(k), "split": "train", "case_id": str(k % 3), "topic": "ab"[k % 2]}
        for k in range(6)
    ]
    assert document_keys.offered(said) == ["case_id"]
    said = [{**each, "split": "ab"[k // 3]} for k, each in enumerate(said)]
    assert document_keys.offered(said) == ["case_id", "split"]


@pytest.mark.parametrize(
    "line", ["# newdoc id = {}", "#begin document {}", "# doc_id = {}"]
)
def test_comments_of_columns_begin_documents(line, seen, capsys, tmp_path):
    """Named so in other formats; a comment that stands at each sentence begins none."""
    text = "".join(
        f"{line.format(k // 2)}\nAnn B-PER\nran O\n\n"
        if k % 2 == 0 or "=" in line
        # a sentence of the same document
        else "Bo B-PER\nsat O\n\n"
        for k in range(6)
    )
    path = tmp_path / "a.txt"
    path.write_text(text)
    run(capsys, "train", path, "-m", tmp_path / "m", "--holdout", ".3")
    assert seen == [([0, 0, 1, 1, 2, 2], True, 6)]
