"""Partial annotation of KyTea."""

import io

import pytest
from cli_cases import run

import skstruct
from skstruct import PartialWords
from skstruct.datasets import read_tokens

TEXT = "日 本|人-々/名詞|は\n\n書/名詞|く は|。\n"


def test_marks_and_tags():
    X, y = read_tokens(io.StringIO(TEXT))
    assert X == ["日本人々は", "書くは。"]
    assert y == [["日 本", ("人々", "名詞"), "は"], [("書", "名詞"), "く は", "。"]]
    assert all(type(row) is PartialWords for row in y)


def test_marks_that_are_characters():
    _, y = read_tokens(io.StringIO("\\|-\\-/a\\/b|\\\\\n"), "kytea")
    assert y == [[("|-", "a/b"), "\\"]]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("日 本/名詞-人", "line 3: the tag '名詞' stands behind '本'"),
        ("日 本人", "line 3: expected a character"),
        ("日  本", "line 3: expected a character"),
        ("日|\\ 本", "line 3: expected a character"),
    ],
)
def test_mistakes_are_named_by_their_line(line, said):
    with pytest.raises(ValueError, match=said):
        read_tokens(io.StringIO(f"日 本|人\n\n{line}\n"), "kytea")


def test_further_tags_are_left_out_and_said():
    with pytest.warns(
        UserWarning, match="line 1: only the first of several tags .*'ひと'"
    ):
        _, y = read_tokens(io.StringIO("日 本|人/名詞/ひと|\n"), "kytea")
    assert y == [["日 本", ("人", "名詞")]]


def test_on_the_command_line(tmp_path, capsys):
    """Tagged, with a dictionary of words and tags."""
    path, model, words = tmp_path / "a.part", tmp_path / "m", tmp_path / "words"
    path.write_text(
        "他/r|在/p|北-京/n|看/v|书/n|\n我/r|看 书|在 北-京/n|\n" * 6, encoding="utf-8"
    )
    code, _, err = run(capsys, "train", path, "-m", model)
    assert code == 0 and "read as kytea" in err
    assert skstruct.load(model).tagged_
    code, out, _ = run(capsys, "evaluate", path, "-m", model)
    assert code == 0 and "1.0000" in out
    words.write_text("北京/v 看书/n 看书/v 在\n", encoding="utf-8")
    code, out, err = run(capsys, "tag", path, "-m", model, "--dictionary", words)
    assert code == 0, err
    assert out.splitlines()[0].split()[:3] == ["他/r", "在/p", "北京/v"]
    words.write_text("北京/x\n", encoding="utf-8")
    code, out, err = run(capsys, "tag", path, "-m", model, "--dictionary", words)
    assert code != 0 and "'x' of the word '北京' is no tag" in err
