"""Words with tags behind them: as tokens where words stand apart, as words where they
do not.
"""

import io
import json
import subprocess

import pytest
from cli_cases import run

from skstruct.datasets import read_tokens
from skstruct.datasets.formats.head import Head
from skstruct.datasets.formats.table import BY_NAME, recognised


@pytest.mark.parametrize(
    ("line", "X", "y"),
    [
        ("The/at dog/nn ./.", ["The", "dog", "."], ["at", "nn", "."]),
        ("The_DT dog_NN ._.", ["The", "dog", "."], ["DT", "NN", "."]),
        ("1\\/2/CD and/or/CC //SYM", ["1/2", "and/or", "/"], ["CD", "CC", "SYM"]),
        ("a_b/NN c/VB d/NN", ["a_b", "c", "d"], ["NN", "VB", "NN"]),
        ("``/`` He/PPS$ '/''", ["``", "He", "'"], ["``", "PPS$", "''"]),
    ],
)
def test_tokens_and_tags(line, X, y):
    assert read_tokens(io.StringIO(line + "\n\n"), "word-tag") == ([X], [y])
    assert recognised(Head("notes", [line] * 3))[0].name == "word-tag"


def test_the_separator_is_that_of_most_words():
    text = "a_b/NN c/VB\nd_e_f/NN g/VB\n" * 3
    assert read_tokens(io.StringIO(text))[0][0] == ["a_b", "c"]
    X, y = read_tokens(io.StringIO("a/b_NN c_VB\n"), "word-tag", separator="_")
    assert (X, y) == ([["a/b", "c"]], [["NN", "VB"]])


def test_errors_name_the_line():
    with pytest.raises(ValueError, match="line 2: expected WORD/TAG, got 'dog'"):
        read_tokens(io.StringIO("The/at dog/nn\nThe/at dog\n"), "word-tag")


@pytest.mark.parametrize(
    "lines",
    [
        ["He walks 1/2 mile and/or more", "see http://a.b/c for it"],
        ["2020/01/02 2020/01/03", "2020/01/04 2020/01/05"],
        ["dog/NN", "cat/NN"],  # one word per line may be columns without a space
        ["a/b\tc/d", "e/f\tg/h"],
        ["snake_case and other_case are words"] * 3,
    ],
)
def test_what_is_no_word_with_its_tag(lines):
    for name in "word-tag", "segmented-tags":
        assert not BY_NAME[name].look(Head("notes", lines)).is_yes


DAILY = (
    "19980101-01-001-001/m  迈向/v  充满/v  希望/n  的/u  新/a  世纪/n\n"
    "19980101-01-001-002/m  [中央/n  人民/n  电台/n]nt  [/w  附/v  ]/w\n"
)


def test_compounds_whose_tag_has_a_slash():
    line = "据/p 《/w [纽约/nsf 时报/n]/nz 》/w 报道/v\n"
    (words,) = read_tokens(io.StringIO(line * 3))[1][:1]
    assert words == [
        ("据", "p"), ("《", "w"), ("纽约", "nsf"), ("时报", "n"), ("》", "w"), ("报道", "v"),
    ]  # fmt: skip


def test_the_brown_corpus_begins_lines_with_a_tab():
    text = (
        "\n\n\tThe/at Jury/nn-tl said/vbd ``/`` no/at (/(-hl it/pps )/)-hl ./.\n\n" * 3
    )
    X, y = read_tokens(io.StringIO(text))
    assert X[0][:2] == ["The", "Jury"] and y[0][4:6] == ["at", "(-hl"]


def test_segmentation_and_tags_at_once():
    X, y = read_tokens(io.StringIO(DAILY), "segmented-tags")
    assert X == ["迈向充满希望的新世纪", "中央人民电台[附]"]
    assert y[0][:2] == [("迈向", "v"), ("充满", "v")]
    assert y[1] == [
        ("中央", "n"), ("人民", "n"), ("电台", "n"), ("[", "w"), ("附", "v"), ("]", "w"),
    ]  # fmt: skip
    assert read_tokens(io.StringIO(DAILY)) == (X, y)


def test_a_joint_model_on_the_command_line(tmp_path, capsys):
    path, model = tmp_path / "daily.txt", tmp_path / "m"
    path.write_text(DAILY * 8, encoding="utf-8")
    assert run(capsys, "train", path, "-m", model)[0] == 0
    code, out, _ = run(capsys, "evaluate", path, "-m", model, "--json")
    scores = json.loads(out)
    assert code == 0 and scores["f1"] > 0.9 and scores["joint_f1"] > 0.9
    (tmp_path / "raw.txt").write_text("新世纪\n", encoding="utf-8")
    code, out, _ = run(capsys, "tag", tmp_path / "raw.txt", "-m", model)
    assert code == 0 and "/" in out
    # Of a file with tags the words are found anew, in its text without them.
    code, out, _ = run(capsys, "tag", path, "-m", model)
    assert code == 0 and "/m" not in out
    assert out.splitlines()[0].replace("/", " ").split()[::2] != []


@pytest.mark.parametrize("separator", ["/", "_"])
def test_tags_are_written_in_the_spelling_of_the_file(tmp_path, capsys, separator):
    text = "The/at dog/nn ran/vbd ./.\n\nA/at cat/nn sat/vbd ./.\n".replace(
        "/", separator
    )
    path, model = tmp_path / "a.txt", tmp_path / "m"
    path.write_text(text * 6)
    assert run(capsys, "train", path, "-m", model)[0] == 0
    (tmp_path / "b.txt").write_text(text.replace("nn", "xx"))
    code, out, _ = run(capsys, "tag", tmp_path / "b.txt", "-m", model)
    assert (code, out) == (0, text)


THREE = "Ana/NNP/B-PER left/VBD/O Lima/NNP/B-LOC\nTom/NNP/B-PER slept/VBD/O ././O\n"


def test_three_parts_are_refused_with_a_command_that_works(tmp_path):
    path = tmp_path / "three.txt"
    path.write_text(THREE)
    with pytest.raises(
        ValueError, match="words have 3 parts, such as 'Ana/NNP/B-PER'"
    ) as got:
        read_tokens(path)
    command = str(got.value).partition("its parts: ")[2]
    done = subprocess.run(
        command, shell=True, capture_output=True, text=True, check=True
    )
    X, y = read_tokens(io.StringIO(done.stdout))
    assert X[0] == [("Ana", "NNP"), ("left", "VBD"), ("Lima", "NNP")]
    assert y == [["B-PER", "O", "B-LOC"], ["B-PER", "O", "O"]]


def test_of_tags_and_readings_the_tag_is_read():
    text = "今日/名詞/きょう は/助詞/は 雨/名詞/あめ です/助動詞/です\n" * 2
    with pytest.warns(
        UserWarning, match="of a word is read; the others, such as 'きょう'"
    ):
        X, y = read_tokens(io.StringIO(text))
    assert X[0] == "今日は雨です" and y[0][0] == ("今日", "名詞")
