"""Words between bars, and between any separator of segmented text."""

import io

import pytest
from cli_cases import run

import skstruct
from skstruct.datasets import read_tokens
from skstruct.datasets.formats.head import Head
from skstruct.datasets.formats.table import BY_NAME

TEXT = "เขา|อ่าน|<NE>กรุงเทพ</NE>|\n\nผม| |รัก|<AB>กทม.</AB>|\n"


def test_words_without_marks_and_spaces():
    X, y = read_tokens(io.StringIO(TEXT), "bars")
    assert y == [["เขา", "อ่าน", "กรุงเทพ"], ["ผม", "รัก", "กทม."]]
    assert X == ["".join(words) for words in y]
    assert read_tokens(io.StringIO(TEXT)) == (X, y)


def test_another_separator():
    found = read_tokens(io.StringIO("ab+c\n+d+\n"), "segmented", separator="+")[1]
    assert found == [["ab", "c"], ["d"]]
    assert read_tokens(io.StringIO("ab c\n"), "segmented")[1] == [["ab", "c"]]


@pytest.mark.parametrize(
    "lines", [["a|b|c"] * 3, ["我 喜欢 | 书"] * 3, ["| a | b |", "|---|---|"]]
)
def test_other_bars(lines):
    assert not BY_NAME["bars"].look(Head("notes", lines)).is_yes


@pytest.mark.parametrize("options", [[], ["--format", "segmented", "--separator", "|"]])
def test_on_the_command_line(tmp_path, capsys, options):
    path, model = tmp_path / "best.txt", tmp_path / "m"
    path.write_text("เขา|อ่าน|หนังสือ|\nผม|อ่าน|มาก|\n" * 6, encoding="utf-8")
    assert run(capsys, "train", path, "-m", model, *options)[0] == 0
    assert skstruct.load(model).predict(["เขาอ่าน"]) == [["เขา", "อ่าน"]]
    code, out, _ = run(capsys, "evaluate", path, "-m", model, *options)
    assert code == 0 and "1.0000" in out
    code, out, _ = run(capsys, "tag", path, "-m", model, *options)
    assert code == 0 and out.splitlines()[0] == "เขา อ่าน หนังสือ"
