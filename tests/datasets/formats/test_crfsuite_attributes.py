"""Data files of CRFsuite."""

import io

import pytest

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
