"""check: labels of a corpus that are probably wrong."""

import json

import pytest
from cli_cases import run
from cli_labelling_cases import labelling_files

from skstruct.datasets import read_spans, write_spans


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A corpus with a wrong label in its line 5, and models."""
    return labelling_files(tmp_path_factory.mktemp("labelling"))


def test_check(files, capsys):
    code, out, err = run(
        capsys, "check", files / "train.txt", "--top", 3, "-o", files / "issues.html"
    )
    assert code == 0 and "errors are expected" in err
    head, *rows = [line.split("\t") for line in out.splitlines()]
    assert head == ["chance", "kind", "place", "given", "suggested", "context"]
    assert len(rows) == 3
    (row,) = [row for row in rows if row[2].endswith("train.txt, line 5")]
    assert row[3].endswith(" ADJP") and row[4].endswith(" NP (wider)")
    assert (
        (files / "issues.html")
        .read_text(encoding="utf-8")
        .startswith("<!DOCTYPE html>")
    )
    _, out, _ = run(capsys, "check", files / "train.txt", "--json", "--cv", 3)
    records = [json.loads(line) for line in out.splitlines()]
    assert {"line": 5, "given": "ADJP"}.items() <= next(
        r for r in records if r["line"] == 5
    ).items()


def test_check_of_texts_speaks_of_whole_spans(files, capsys):
    """A span is left out, one has a wrong label, and one is too many."""
    X, y = read_spans(files / "notes.jsonl")
    X, y = X * 4, [list(spans) for spans in y * 4]
    i = next(k for k, spans in enumerate(y) if len(spans) > 1)
    missing = y[i].pop(0)
    j = next(k for k, spans in enumerate(y) if k != i and spans)
    relabelled = y[j][0]
    y[j][0] = relabelled._replace(label="LOC" if relabelled.label != "LOC" else "PER")
    write_spans(files / "wrong.jsonl", X, y)
    code, out, err = run(capsys, "check", files / "wrong.jsonl", "--json", "--cv", 3)
    found = [json.loads(line) for line in out.splitlines()]
    assert code == 0 and (f"among the {len(found)} listed" in err)
    by_place = {(each["sequence"], each["start"], each["end"]): each for each in found}
    first = by_place[i, missing.start, missing.end]
    assert (first["given"], first["suggested"]) == (None, missing.label) and first[
        "probability"
    ] > 0.5
    assert (
        first["text"] == X[i][missing.start : missing.end]
        and "wrong.jsonl, line" in first["record"]
    )
    second = by_place[j, relabelled.start, relabelled.end]
    assert (second["given"], second["suggested"]) == (y[j][0].label, relabelled.label)
    out = run(capsys, "check", files / "wrong.jsonl", "--cv", 3)[1].splitlines()
    line = next(
        line for line in out if f"\tno span\t{missing.start}-{missing.end} " in line
    )
    assert f'"{first["text"]}" {missing.label}\t' in line
    assert f"[{first['text']}]" in line
    for format in "label-studio", "prodigy", "jsonl":
        command = (
            "check",
            files / "wrong.jsonl",
            "--cv",
            3,
            "-o",
            files / "tasks",
            "--force",
            "--write",
            format,
        )
        assert run(capsys, *command)[0] == 0
        tasks = dict(zip(*read_spans(files / "tasks")))
        assert (
            missing in tasks[X[i]]
            and relabelled in tasks[X[j]]
            and y[j][0] not in tasks[X[j]]
        )
    for name, more in ("notes.jsonl", []), ("train.txt", ["-o", files / "other"]):
        assert run(capsys, "check", files / name, "--write", "prodigy", *more)[0] == 2


def test_check_lists_spans_that_are_no_whole_tokens(files, capsys):
    (files / "some.jsonl").write_text(
        '{"text": "Ann met Bob", "spans": [[0, 2, "A"], [8, 11, "A"]]}\n' * 6
    )
    code, _, err = run(capsys, "check", files / "some.jsonl", "--cv", 2)
    place = f"warning: {files / 'some.jsonl'}, line 1: span 0, (0, 2, 'A'): moved, to (0, 3, 'A')"
    assert code == 0 and place in err and err.count("moved") == 6
    _, _, err = run(capsys, "train", files / "some.jsonl", "-m", files / "some")
    assert (
        "6 of 12 spans do not end where tokens do" in err
        and "to list them: skstruct check" in err
    )


def test_check_looks_at_the_target_first(files, capsys):
    code, _, err = run(
        capsys, "check", files / "train.txt", "-o", files / "none" / "x.html"
    )
    assert code == 1 and "folder does not exist" in err and "are expected in" not in err


def test_check_refuses_what_labels_no_tokens(files, capsys):
    code, _, err = run(capsys, "check", files / "train.txt", "--algorithm", "reranker")
    assert code == 1 and "needs a tagger whose scores are sums over a chain" in err
    assert run(capsys, "check", files / "train.txt", "--param", "nonsense=1")[0] == 2


def test_check_needs_two_parts(files, capsys):
    code, _, err = run(capsys, "check", files / "train.txt", "--cv", 1)
    assert code == 2 and "an int of at least 2" in err


@pytest.mark.parametrize(
    ("n", "message"),
    [
        (1, "1 text for --cv 5 parts: others judge"),
        (3, "3 texts for --cv 5 parts; --cv 3"),
    ],
)
def test_check_of_fewer_texts_than_parts(n, message, tmp_path, capsys):
    file = tmp_path / "few.jsonl"
    record = '{"text": "Ann met Bob %s.", "spans": [[0, 3, "PER"]]}\n'
    file.write_text("".join(record % k for k in range(n)), encoding="utf-8")
    code, _, err = run(capsys, "check", file)
    assert code == 1 and message in err


def test_the_next_command_has_the_same_options(files, capsys):
    given = "check", files / "train.txt", "--cv", 2, "--top", 1
    said = f"next: skstruct train {files / 'train.txt'} --model MODEL"
    assert run(capsys, *given)[2].endswith(f"{said}\n")
    err = run(capsys, *given, "--tokens", 0, "--label", 1)[2]
    assert f"{said}, with the options that say how files are read, as here" in err
