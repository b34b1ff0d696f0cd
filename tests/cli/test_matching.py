"""Records of two files are matched by their ids, if they have any."""

import json

import pytest
from cli_cases import run

GOLD = [("Ana Ruiz left Lima.", [[0, 8, "PER"], [14, 18, "LOC"]]),
        ("Tom met Eva Holm.", [[0, 3, "PER"], [8, 16, "PER"]])]  # fmt: skip


def doccano(*ids, order=(0, 1)):
    rows = ({"id": ids[i], "text": GOLD[i][0], "label": GOLD[i][1]} for i in order)
    return "".join(
        json.dumps({k: v for k, v in row.items() if v is not None}) + "\n"
        for row in rows
    )


def conllu(*ids, order=(0, 1)):
    words = ("dogs bark", "it rains")
    return "".join(
        ("" if ids[i] is None else f"# text = {words[i]}\n# sent_id = {ids[i]}\n")
        + "".join(
            f"{t}\t{word}\t_\t_\tT{i}\t_\t_\t_\t_\t_\n"
            for t, word in enumerate(words[i].split(), start=1)
        )
        + "\n"
        for i in order
    )


def tokens(*ids, order=(0, 1)):
    words = (["dogs", "bark"], ["it", "rains"])
    rows = (
        {"id": ids[i], "tokens": words[i], "ner_tags": [f"B-{i}", "O"]} for i in order
    )
    return "".join(
        json.dumps({k: v for k, v in row.items() if v is not None}) + "\n"
        for row in rows
    )


FORMATS = {"a.jsonl": doccano, "a.conllu": conllu, "t.jsonl": tokens}


@pytest.fixture
def evaluated(tmp_path, capsys):
    def evaluate(name, gold, pred):
        (tmp_path / "gold").mkdir(exist_ok=True)
        (tmp_path / "pred").mkdir(exist_ok=True)
        (tmp_path / "gold" / name).write_text(gold)
        (tmp_path / "pred" / name).write_text(pred)
        both = "--gold", tmp_path / "gold" / name, "--pred", tmp_path / "pred" / name
        code, out, err = run(capsys, "evaluate", *both, "--json")
        return code, json.loads(out) if out else None, err

    return evaluate


@pytest.mark.parametrize("name", FORMATS)
def test_another_order_is_no_error(name, evaluated):
    write = FORMATS[name]
    for ids in ((0, 1), ("b", "a")):
        code, found, err = evaluated(name, write(*ids), write(*ids, order=(1, 0)))
        assert code == 0, err
        assert found["sequence_accuracy"] == 1.0


@pytest.mark.parametrize("name", FORMATS)
def test_an_id_that_is_not_on_both_sides_once_is_named(name, evaluated):
    write = FORMATS[name]
    for gold, pred, message in (
        (write("x", "x"), write("x", "y"), "the id x occurs again, after"),
        (write("x", "y"), write("x", "x"), "the id x occurs again, after"),
        (write("x", "y"), write("x", "z"), "no record with the id y, as there is in"),
        (write("x", "y"), write("x", None, order=(0,)), "no record with the id y"),
        (write("x", None, order=(0,)), write("x", "z"), "no record with the id z"),
    ):
        code, found, err = evaluated(name, gold, pred)
        assert (code, found) == (1, None) and message in err, err


@pytest.mark.parametrize("name", FORMATS)
def test_without_ids_the_position_counts(name, evaluated):
    write = FORMATS[name]
    none = None, None
    for gold, pred in ((none, none), (("x", "y"), none), (none, ("x", "x"))):
        code, found, err = evaluated(name, write(*gold), write(*pred))
        assert code == 0, err
        assert found["sequence_accuracy"] == 1.0
        code, _, err = evaluated(name, write(*gold), write(*pred, order=(1, 0)))
        assert code == 1 and "differ" in err


@pytest.mark.parametrize("n", [1, 2])
def test_records_that_gold_does_not_annotate_are_not_scored(evaluated, n):
    """A record without annotations is known by its id alone; another one is missed."""
    more = "".join(
        json.dumps({"id": 8 + k, "text": "x", "label": []}) for k in range(n)
    )
    pred = doccano(7, 6, order=(1, 0)) + more.replace("}{", "}\n{")
    gold = doccano(7, 6) + json.dumps({"id": 8, "text": "x", "label": None})
    code, scores, err = evaluated("a.jsonl", gold, pred)
    if n == 1:
        assert (code, scores["f1"], scores["texts"]) == (0, 1.0, 2)
        assert "1 record without annotations in" in err
    else:
        assert code == 1 and "there is no record with the id 8" in err


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
def test_the_name_of_a_document_is_that_of_each_of_its_sentences(order, evaluated):
    """They are matched by the documents, and their order within."""
    rows = [
        {"doc_id": d, "tokens": [w, "ran"], "ner_tags": [label, "O"]}
        for d, w, label in (("b", "Ann", "B-X"), ("b", "Bo", "O"), ("a", "Eve", "B-X"))
    ]
    gold = "\n".join(map(json.dumps, rows))
    pred = "\n".join(json.dumps(rows[i]) for i in order)
    code, found, err = evaluated("t.jsonl", gold, pred)
    assert code == 0, err
    assert found["sequence_accuracy"] == 1.0


@pytest.mark.parametrize("n", [0, 1, 2])
def test_texts_that_nobody_has_annotated_are_not_scored(n, evaluated):
    """Records without ids, of which ``tag`` writes all."""
    rows = [{"text": f"{w} ran", "spans": [[0, 2, "X"]]} for w in ("Bo", "Al", "Ed")]
    gold = [{**r, "spans": None} if k < n else r for k, r in enumerate(rows)]
    code, found, err = evaluated(
        "a.jsonl", *("\n".join(map(json.dumps, each)) for each in (gold, rows))
    )
    assert code == 0, err
    assert found["sequence_accuracy"] == 1.0 and found["texts"] == 3 - n
    assert (f"{n} text" in err and "not scored" in err) == (n > 0)
    pred = [*rows, {"text": "Jo ran", "spans": []}]  # which the gold file lacks
    code, _, err = evaluated(
        "a.jsonl", *("\n".join(map(json.dumps, each)) for each in (rows, pred))
    )
    assert code == 1 and "must hold the same sentences: found 3 and 4" in err
