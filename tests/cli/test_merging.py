"""Texts that the files of a training hold several times: corrections, contradictions, duplicates."""

import json

import numpy as np
import pytest
from cli_cases import run, run_train

import skstruct
from skstruct.cli import held_out

PER, LOC = [0, 3, "PER"], [13, 17, "LOC"]
TEXTS = ["Ann lives in Rome.", "Bob lives in Oslo.", "Eve lives in Bari."]


def write(path, rows, ids=True):
    records = [
        {"text": text, "spans": spans, **({"id": k} if ids else {})}
        for k, (text, spans) in rows
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture
def first(tmp_path):
    """Bob is wrong here."""
    rows = [(k, (text, [PER, LOC])) for k, text in enumerate(TEXTS)]
    rows[1] = 1, (TEXTS[1], [[0, 3, "LOC"], LOC])
    return rows


def counts_of(path):
    return skstruct.load(path).info()["card"]["counts"]


def test_a_record_with_the_id_and_text_of_an_earlier_file_takes_its_place(
    first, tmp_path, capsys
):
    a = write(tmp_path / "a.jsonl", first)
    b = write(
        tmp_path / "b.jsonl", [(1, (TEXTS[1], [PER, LOC])), (2, ("Another text.", []))]
    )
    code, _, err = run_train(capsys, a, b, "-m", tmp_path / "m", "--epochs", 2)
    assert code == 0
    assert "b.jsonl: 1 text takes the place of those with the same ids" in err
    assert "warning" not in err
    assert counts_of(tmp_path / "m") == {"texts": 4, "spans": 6, "types": 2}


def test_texts_without_ids_that_differ_are_said(first, tmp_path, capsys):
    a = write(tmp_path / "a.jsonl", first, ids=False)
    b = write(tmp_path / "b.jsonl", [(0, (TEXTS[1], [PER, LOC]))], ids=False)
    code, _, err = run_train(capsys, a, b, "-m", tmp_path / "m", "--epochs", 2)
    assert code == 0
    assert (
        f"warning: 1 text has other spans elsewhere, such as {a}, line 2 and {b}, line 1; "
        "to keep the later one, pass --prefer last" in err
    )
    assert counts_of(tmp_path / "m")["texts"] == 4
    for files, texts, spans in (((a, b), 3, 6), ((b, a), 3, 6)):
        code, _, err = run_train(
            capsys, *files, "-m", tmp_path / "m", "--epochs", 2, "--prefer", "last"
        )
        assert code == 0 and "elsewhere" not in err
        assert "--prefer last: 1 annotation of texts that come again is left out" in err
        assert counts_of(tmp_path / "m") == {"texts": texts, "spans": spans, "types": 2}
        (found,) = skstruct.load(tmp_path / "m").predict([TEXTS[1]])
        assert found[0].label == ("PER" if files == (a, b) else "LOC")


def test_each_file_is_said_to_be_read_in_its_format(first, tmp_path, capsys):
    a = write(tmp_path / "a.jsonl", first)
    task = {"data": {"text": TEXTS[0]}, "annotations": [{"result": []}]}
    b = tmp_path / "b.json"
    b.write_text(json.dumps([task]))
    code, _, err = run_train(capsys, a, b, "--dry-run")
    assert code == 0
    assert f"{a}: read as jsonl" in err and f"{b}: read as label-studio" in err


def test_texts_that_are_there_twice_count_as_often(first, tmp_path, capsys):
    a = write(tmp_path / "a.jsonl", [*first, (7, first[0][1])])
    code, _, err = run_train(capsys, a, "-m", tmp_path / "m", "--epochs", 1)
    assert code == 0
    assert "1 text comes several times with the same spans, and counts as often" in err
    assert f"such as {a}, line 1, id 0 and {a}, line 4, id 7" in err
    b = write(tmp_path / "b.jsonl", [*first, *((k + 7, row) for k, row in first)])
    _, _, err = run_train(capsys, b, "--dry-run")
    assert "3 texts come several times with the same spans, and count as often" in err
    assert counts_of(tmp_path / "m")["texts"] == 4


def test_several_texts_that_are_there_twice_count_as_often(first, tmp_path, capsys):
    again = [(k + 7, first[k][1]) for k in range(2)]
    a = write(tmp_path / "a.jsonl", [*first, *again])
    code, _, err = run_train(capsys, a, "-m", tmp_path / "m", "--epochs", 1)
    assert code == 0
    assert "2 texts come several times with the same spans, and count as often" in err


def test_files_that_annotate_other_types_do_not_contradict_each_other(tmp_path, capsys):
    a = write(
        tmp_path / "a.jsonl", [(k, (text, [PER])) for k, text in enumerate(TEXTS)]
    )
    b = write(
        tmp_path / "b.jsonl", [(k, (text, [LOC])) for k, text in enumerate(TEXTS)]
    )
    both = "--annotated", f"{a}=PER", "--annotated", f"{b}=LOC"
    for more in ((), ("--prefer", "last")):
        code, _, err = run_train(
            capsys, a, b, "-m", tmp_path / "m", "--epochs", 1, *both, *more
        )
        assert code == 0 and "elsewhere" not in err and "take" not in err
        assert counts_of(tmp_path / "m") == {"texts": 6, "spans": 6, "types": 2}


def test_sentences_of_tokens(tmp_path, capsys):
    (tmp_path / "a.txt").write_text("the D\ndog N\n\n" * 3 + "the D\ndog V\n\n")
    train = tmp_path / "a.txt", "-m", tmp_path / "m", "--epochs", 1
    code, _, err = run_train(capsys, *train)
    assert code == 0 and "1 sentence has other labels elsewhere, such as" in err
    assert run_train(capsys, *train, "--prefer", "last")[0] == 0
    assert counts_of(tmp_path / "m")["sentences"] == 1


def test_held_out_texts_that_are_learned(first, tmp_path, capsys):
    a = write(tmp_path / "a.jsonl", first)
    b = write(tmp_path / "b.jsonl", [first[0], (9, ("New.", []))])
    code, _, err = run_train(capsys, a, "-m", tmp_path / "m", "--epochs", 1, "--dev", b)
    assert code == 0
    assert f"{b}: 1 of 2 texts is learned, too, such as {b}, line 1, id 0" in err


def test_a_stream_prefers_nothing(first, tmp_path, capsys):
    a = write(tmp_path / "a.jsonl", first)
    code, _, err = run(
        capsys, "train", a, "-m", tmp_path / "m", "--stream", 2, "--prefer", "last"
    )
    assert code == 2 and "--stream does not keep them" in err


@pytest.mark.parametrize("annotated", [False, True])
def test_types_that_only_replaced_records_have_are_said(tmp_path, capsys, annotated):
    """Two people may have annotated types of their own in the same texts."""
    a = write(tmp_path / "a.jsonl", [(k, (t, [PER])) for k, t in enumerate(TEXTS)])
    b = write(tmp_path / "b.jsonl", [(k, (t, [LOC])) for k, t in enumerate(TEXTS)])
    more = [f"--annotated={a}=PER", f"--annotated={b}=LOC"] if annotated else []
    code, _, err = run_train(capsys, a, b, "-m", tmp_path / "m", "--epochs", 2, *more)
    assert code == 0
    said = "PER: only replaced records have spans of this type" in err
    assert said != annotated and ("take the place" in err) != annotated
    assert counts_of(tmp_path / "m")["types"] == 1 + annotated


def test_corrected_records_stay_in_their_documents(tmp_path, capsys, monkeypatch):
    """What comes back from a review has the id, and seldom the document."""
    rows = [
        {"id": 2 * d + k, "text": f"{text} {d}", "spans": [PER], "doc_id": f"d{d}"}
        for d in range(4)
        for k, text in enumerate(TEXTS[:2])
    ]
    paths = tmp_path / "a.jsonl", tmp_path / "b.jsonl", tmp_path / "c.jsonl"
    paths[0].write_text("\n".join(map(json.dumps, rows)))
    for path in paths[1:]:  # corrected twice
        again = [{**row, "spans": []} for row in rows[::2]]
        for row in again:
            del row["doc_id"]
        path.write_text("\n".join(map(json.dumps, again)))
    shown = []
    original = held_out.folds_of
    monkeypatch.setattr(
        held_out, "folds_of", lambda d, *more: shown.append(d) or original(d, *more)
    )
    given = *paths, "-m", tmp_path / "m", "-a", "perceptron", "--holdout", ".5"
    code, out, err = run_train(capsys, *given)
    assert code == 0, err
    assert "2 documents held out" in out
    (documents,) = shown
    assert sorted(np.bincount(documents)) == [2] * 4


def test_check_judges_what_train_learns(first, tmp_path, capsys):
    """Records that are replaced are not judged, and contradict nobody."""
    a = write(tmp_path / "a.jsonl", first)
    wrong = [[0, 8, "PER"], [4, 12, "PER"]]  # training would refuse it
    a.write_text(
        a.read_text().replace(json.dumps([[0, 3, "LOC"], LOC]), json.dumps(wrong))
    )
    b = write(tmp_path / "b.jsonl", [(1, (TEXTS[1], [PER, LOC]))])
    code, out, err = run(capsys, "check", a, b, "--cv", 2)
    assert code == 0, out + err
    assert "b.jsonl: 1 text takes the place of those with the same ids" in err
    assert "read 3 texts" in err and "has other spans" not in err
    assert run_train(capsys, a, b, "-m", tmp_path / "m", "--epochs", 2)[0] == 0
    code, out, _ = run(capsys, "check", a, "--cv", 2, "-a", "perceptron")
    assert code == 1 and "overlap" in out
    code, _, err = run(capsys, "check", b, b, "--cv", 2, "-a", "perceptron")
    assert code == 1 and "are too few for probabilities of --algorithm" in err
