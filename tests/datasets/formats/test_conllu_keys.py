"""Keys of the fields misc and feats of CoNLL-U as labels: --label misc:name."""

import io

import pytest
from cli_cases import run

from skstruct.datasets import read_conllu, read_tokens

TEXT = (
    "1\tRuth\t_\tPROPN\t_\tCase=Nom|Number=Sing\t0\troot\t_\tname=B-PER\n"
    "2\tleft\t_\tVERB\t_\t_\t1\tdep\t_\tSpaceAfter=No|name=O\n"
    "3\t.\t_\tPUNCT\t_\t_\t1\tdep\t_\tSpaceAfter=No\n\n"
)


def test_values_of_a_key():
    X, y = read_tokens(io.StringIO(TEXT), label="misc:name")
    assert (X, y) == ([["Ruth", "left", "."]], [["B-PER", "O", None]])
    X, y = read_tokens(io.StringIO(TEXT), tokens=["form", "feats:Case"], label="upos")
    assert X[0][:2] == [("Ruth", "Nom"), ("left", "_")]
    found = read_conllu(io.StringIO(TEXT), fields=["form", "misc:name"])
    assert found == [[("Ruth", "B-PER"), ("left", "O"), (".", None)]]


@pytest.mark.parametrize("field", ["misc:", "upos:name", "name", "misc:a:b"])
def test_other_fields_have_no_keys(field):
    if field == "misc:a:b":
        assert read_conllu(io.StringIO(TEXT), fields=[field])[0][0] == (None,)
        return
    with pytest.raises(ValueError, match="misc:KEY"):
        read_conllu(io.StringIO(TEXT), fields=["form", field])
    with pytest.raises(ValueError, match=f"CoNLL-U has no field '{field}'"):
        read_tokens(io.StringIO(TEXT), label=field)


def test_labels_go_back_to_their_key(tmp_path, capsys):
    path, model = tmp_path / "a.conllu", tmp_path / "m"
    path.write_text(TEXT.replace("SpaceAfter=No\n", "name=O\n") * 8)
    given = path, "-m", model
    assert run(capsys, "train", *given, "--label", "misc:name")[0] == 0
    blank = TEXT.replace("name=B-PER", "_").replace("|name=O", "|name=B-LOC")
    (tmp_path / "b.conllu").write_text(blank)
    code, out, err = run(capsys, "tag", tmp_path / "b.conllu", "-m", model, "--label", "misc:name")  # fmt: skip
    assert code == 0, err
    misc = [line.split("\t")[-1] for line in out.splitlines() if line]
    assert misc == ["name=B-PER", "SpaceAfter=No|name=O", "SpaceAfter=No|name=O"]
    code, out, _ = run(capsys, "evaluate", *given, "--label", "misc:name")
    assert code == 0 and "micro avg" in out


def test_an_empty_field_names_the_keys_that_there_are(tmp_path, capsys):
    path = tmp_path / "a.conllu"
    path.write_text(TEXT.replace("SpaceAfter=No\n", "name=I-PER\n") * 8)
    code, _, err = run(capsys, "train", path, "-m", tmp_path / "m")
    assert code == 1 and "misc:name has 3 labels: --label misc:name" in err
    code, _, err = run(capsys, "train", path, "-m", tmp_path / "m", "--label", "misc")
    assert (
        code == 0
        and "hold keys: to learn one, pass --label misc:name, misc:SpaceAfter" in err
    )
