"""Data files of CRFsuite."""

import io

import pytest

from skstruct.datasets import read_tokens
from skstruct.datasets.formats.readers import iter_attributes

TEXT = "B\tw\\:he\tup:0.5\n\tback\\\\slash\n\n\n\nA\n"


def test_labels_names_and_values(tmp_path):
    (tmp_path / "data").write_text(TEXT, encoding="utf-16")
    expected = [
        [("B", {"w:he": 1.0, "up": 0.5}), ("", {"back\\slash": 1.0})],
        [("A", {})],
    ]
    for file, encoding in ((tmp_path / "data", "utf-16"), (io.StringIO(TEXT), "utf-8")):
        assert list(iter_attributes(file, encoding=encoding)) == expected


def test_values_of_one_name_are_added():
    assert list(iter_attributes(io.StringIO("A\tx\tx:0.5\tx:-2\n"))) == [
        [("A", {"x": -0.5})]
    ]


@pytest.mark.parametrize("field", ["x:y", "x:", "x:inf", "x:nan", "x:1:2", "x\\"])
def test_wrong_fields_are_named(field):
    with pytest.raises(
        ValueError, match=r"<StringIO>, line 3: expected name or name:value"
    ):
        list(iter_attributes(io.StringIO(f"A\tx\n\nA\ta\t{field}\n")))


def test_names_with_numbers_are_features_too():
    text = "walk\tax:0.9\tay:-1.3\tz:.1e2\nsit\tax:3.8\tay:-0.6\tz:2\n"
    X, y = read_tokens(io.StringIO(text))
    assert y == [["walk", "sit"]] and X[0][0] == {"ax": 0.9, "ay": -1.3, "z": 10.0}
    # fields of CoNLL-U and segments with colons are none
    text = "Ann\tNumber=Sing|Case=Nom\tB:PER\nleft\tTense=Past|Mood=Ind\tO\n"
    assert read_tokens(io.StringIO(text))[1] == [["B:PER", "O"]]
