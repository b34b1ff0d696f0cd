"""What keeps labels from being scored by segments is named; and labels that encode none
have a report.
"""

import json

import pytest
from cli_cases import run

from skstruct.cli.odd_labels import odd_labels
from skstruct.metrics import token_report
from skstruct.schemes import convert_scheme

STRAY = "Ann B-PER B-PER\nleft O O\n\nBob B-PER B-PER\nran 0 O\n\n"


@pytest.mark.parametrize(
    ("gold", "said", "named"),
    [
        ("0", "O", "of the gold labels 0 (line 5, 1 token in all) belongs to no"),
        ("O", "0", "of the predicted labels 0 (line 5, 1 token in all) belongs"),
        ("OTHER", "O", "of the gold labels OTHER (line 5,"),
        ("X-PER", "O", "of the gold labels X-PER (line 5,"),
        ("b-PER", "B-PER", "of the gold labels b-PER (line 5,"),
    ],
)
def test_the_label_that_prevents_segments_is_named(capsys, stdin, gold, said, named):
    stdin(STRAY.replace("0 O", f"{gold} {said}"))
    code, out, err = run(capsys, "evaluate")
    assert code == 0 and f"<stdin>: no scores of segments: {named}" in err
    assert "micro avg" in out and f"\n{gold} " in out + "\n"


def test_several_labels_are_named_most_frequent_first(capsys, stdin):
    stdin(STRAY + "".join(f"w X{k % 5} O\nv O O\nv O O\n" for k in range(6)))
    _, _, err = run(capsys, "evaluate")
    assert "labels X0 (line 7, 2 tokens in all), 0 (line 5, 1 token in all), X1" in err
    assert "and 3 more belong to no scheme" in err


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (STRAY.replace("0", "O"), []),  # there is no such label
        (STRAY, ["--scheme", "none"]),  # nobody asks for segments
        ("a NN NN\nb VB NN\n", []),  # plain labels
        ("a NN NN\nb B-X B-X\nc VB VB\n", []),  # of which one looks like it
    ],
)
def test_nothing_is_said_where_nothing_is_odd(capsys, stdin, text, options):
    stdin(text)
    code, _, err = run(capsys, "evaluate", *options)
    assert code == 0 and "no scores of segments" not in err


def test_a_model_is_told_the_line_of_its_corpus(folder, capsys, stdin):
    stdin("the DT B-NP\ncat NN I-NP\n\nsat VBD NA\n")
    code, _, err = run(capsys, "evaluate", "-m", folder / "chunk")
    assert code == 0 and "of the gold labels NA (line 4, 1 token in all)" in err


def test_plain_labels_have_a_report(capsys, stdin, folder):
    gold, said = [["H", "H", "H", "C", "H"]], [["H", "H", "C", "C", "H"]]
    text = "".join(f"a {a} {b}\n" for a, b in zip(gold[0], said[0]))
    stdin(text)
    code, out, _ = run(capsys, "evaluate", "--json")
    scores = json.loads(out)
    assert code == 0 and scores["segments"] is None
    assert scores["labels"] == token_report(gold, said, output_dict=True)
    stdin(text)
    table = run(capsys, "evaluate")[1].split("\n\n")[1].splitlines()
    assert table[0].split() == ["labels", "precision", "recall", "f1", "support"]
    assert table[2].split() == ["H", "1.0000", "0.7500", "0.8571", "4"]
    code, out, _ = run(
        capsys, "evaluate", folder / "test.conllu", "-m", folder / "pos", "--json"
    )
    assert code == 0 and json.loads(out)["labels"]["NN"]["f1"] > 0.5


def test_segments_have_no_report_of_labels(capsys, stdin):
    stdin("a B-X B-X\nb O O\n")
    assert "labels" not in json.loads(run(capsys, "evaluate", "--json")[1])


def test_training_prints_the_report_of_held_out_labels(capsys, tmp_path, folder):
    text = (folder / "train.conllu").read_text()
    (tmp_path / "dev.conllu").write_text(text)
    arguments = [folder / "train.conllu", "--dev", tmp_path / "dev.conllu"]
    code, out, _ = run(
        capsys, "train", *arguments, "-m", tmp_path / "m", "--epochs", "2"
    )
    assert code == 0 and "labels" in out and "macro avg" in out


def test_odd_labels_leave_tokens_without_label_alone():
    assert odd_labels([["B-X", None, "O"]]) == []
    (found,) = odd_labels([["B-X", None, "O"], ["O", "Z"]])
    assert found == ("Z", 1, (1, 1))


@pytest.mark.parametrize("outside", ["0", "-", "_"])
def test_usual_names_of_the_outside_are_known(capsys, stdin, outside):
    rows = f"Ann B-PER B-PER\nLee I-PER I-PER\nleft {outside} {outside}\n"
    stdin(rows)
    _, out, err = run(capsys, "evaluate", "--json")
    assert json.loads(out)["segments"]["PER"]["f1"] == 1.0 and not err


@pytest.mark.parametrize("outside", ["NA", "."])
def test_what_the_outside_is_called_is_named(capsys, stdin, outside):
    """One label of no scheme is, be it that of most tokens."""
    rows = f"Ann B-PER B-PER\nLee I-PER I-PER\nleft {outside} {outside}\n"
    stdin(rows + f"now {outside} {outside}\n. {outside} {outside}\n")
    _, _, err = run(capsys, "evaluate")
    assert f"of the gold labels {outside} (line 3, 3 tokens in all) belongs" in err


@pytest.mark.parametrize("odd", ["B_PER", "PER-B", "b_PER", "PER", "0", "OTHER"])
def test_train_names_labels_that_keep_segments_from_being_learned(
    capsys, tmp_path, odd
):
    path = tmp_path / "a.txt"
    path.write_text("Ann B-PER\nran O\n\n" * 5 + f"Bo {odd}\nsat O\n\n" * 2)
    code, _, err = run(capsys, "train", path, "-m", tmp_path / "m", "--epochs", 1)
    assert code == 0 and (
        f"warning: {path}: {odd} (line 16, 2 tokens in all) is not spelled as the"
        in err
    )


@pytest.mark.parametrize(
    "labels",
    [
        ("B-PER", "O"),
        ("b_per", "o"),
        ("PER|B", "0"),
        ("PER", "O"),
        ("B", "X"),
        ("NN", "VB"),
        ("S", "V"),
    ],
)
def test_train_says_nothing_of_labels_that_agree(capsys, tmp_path, labels):
    path = tmp_path / "a.txt"
    name, other = labels
    path.write_text(f"Ann {name}\nran {other}\n\n" * 5 + f"up {other}\n\n" * 9)
    code, _, err = run(capsys, "train", path, "-m", tmp_path / "m", "--epochs", 1)
    assert code == 0 and "not spelled" not in err


@pytest.mark.parametrize(
    ("gold", "said"),
    [("B-PER", "B_PER"), ("b-PER", "B-PER"), ("PER|B", "B-PER"), ("o", "O")],
)
def test_gold_and_predicted_labels_in_two_spellings_are_named(
    capsys, stdin, gold, said
):
    given = gold if gold != "o" else "B-PER"
    predicted = said if gold != "o" else "B-PER"
    outside = "o O" if gold == "o" else "O O"
    stdin(f"Ann {given} {predicted}\nleft {outside}\n\n" * 3)
    code, _, err = run(capsys, "evaluate")
    assert code == 0 and err.count("no scores of segments") == 1
    assert f"gold labels are spelled as {gold}, the predicted labels as {said};" in err


@pytest.mark.parametrize("scheme", ["BIO", "BIOES", "BILOU", "BMES"])
def test_a_sentence_that_breaks_the_scheme_is_named_and_repaired(
    scheme, tmp_path, capsys
):
    """The advice is tried; where many break it, they have another one."""
    good = convert_scheme([["B-X", "I-X", "I-X", "O", "B-Y"]], "BIO", scheme)[0]
    inner = next(label for label in good[1:] if label != "O")
    bad = ["O", inner, "O", "O", "O"]
    path = tmp_path / "a.conll"
    for n_bad, is_said in ((0, False), (1, True), (5, False)):
        rows = [bad] * n_bad + [good] * 12
        path.write_text(
            "\n".join("".join(f"w {label}\n" for label in each) for each in rows)
        )
        code, _, err = run(capsys, "train", path, "--dry-run")
        said = (
            f"labels are {scheme} but for those of 1 sentence, such as {inner} (line "
        )
        assert code == 0 and (said in err) == is_said, err
    path.write_text(
        "\n".join("".join(f"w {t}\n" for t in each) for each in [bad, *[good] * 12])
    )
    more = "-m", tmp_path / "m", "--repair", "-p", f"constraints={scheme}"
    code, _, err = run(capsys, "train", path, "-a", "perceptron", *more)
    assert code == 0 and "repaired" in err
