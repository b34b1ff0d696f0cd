"""Output of MeCab: words with their parts of speech, sentences that end with EOS."""

import io
import json

import pytest
from cli_cases import run

from skstruct.datasets import read_tokens
from skstruct.datasets.formats.head import Head
from skstruct.datasets.formats.table import BY_NAME

TEXT = (
    "東京\t名詞,固有名詞,地域,一般,*,*,東京,トウキョウ,トーキョー\n"
    "に\t助詞,格助詞,一般,*,*,*,に,ニ,ニ\nEOS\n"
    "XYZ\t名詞,一般,*,*,*,*,*\n、\t記号,読点,*,*,*,*,、,、,、\n"
)


def test_words_and_parts_of_speech():
    X, y = read_tokens(io.StringIO(TEXT), "mecab")
    assert X == ["東京に", "XYZ、"]  # the last sentence without EOS, too
    assert y == [[("東京", "名詞"), ("に", "助詞")], [("XYZ", "名詞"), ("、", "記号")]]
    assert read_tokens(io.StringIO(TEXT + "EOS\nEOS\n")) == (X, y)


@pytest.mark.parametrize(
    "rows",
    [
        "私\tワタクシ\tワタクシ\t私-代名詞\t代名詞\t\t\t0\nは\tワ\tハ\tは\t助詞-係助詞\t\t\t\n",
        "私\tワタシ\t私\t代名詞-一般\t\t\nは\tハ\tは\t助詞-係助詞\t\t\n",
    ],
)
def test_features_between_tabs(rows):
    X, y = read_tokens(io.StringIO(rows + "EOS\n"))
    assert (X, y) == (["私は"], [[("私", "代名詞"), ("は", "助詞")]])


def test_errors_name_the_line():
    with pytest.raises(ValueError, match="line 2: expected SURFACE<tab>FEATURES, or"):
        read_tokens(io.StringIO("東京\t名詞,一般,*\n東京\nEOS\n"), "mecab")


@pytest.mark.parametrize(
    "lines", [["a\tB", "b\tO"], ["a\tb,c", "EOS"], ["EOS"], ["a,b\tc", "EOS"]]
)
def test_what_is_not_mecab(lines):
    assert not BY_NAME["mecab"].look(Head("notes", lines)).is_yes


def test_on_the_command_line(tmp_path, capsys):
    path, model = tmp_path / "out.mecab", tmp_path / "m"
    path.write_text((TEXT + "EOS\n") * 8, encoding="utf-8")
    assert run(capsys, "train", path, "-m", model)[0] == 0
    code, out, _ = run(capsys, "evaluate", path, "-m", model, "--json")
    assert code == 0 and json.loads(out)["joint_f1"] == 1.0
    code, out, _ = run(capsys, "tag", path, "-m", model)
    assert code == 0 and out.splitlines()[0] == "東京/名詞 に/助詞"
