"""Formats that are known and not read."""

import pytest

from skstruct.datasets import read_spans
from skstruct.datasets.formats.head import Head
from skstruct.datasets.formats.not_read import ALL, advice_for, is_binary


def test_each_says_what_to_do():
    assert all(each.advice and (each.endings or each.sign) for each in ALL)
    assert advice_for(Head("notes.txt", ["a X"])) is None
    assert "read_parquet('a.parquet')" in advice_for(Head("a.parquet"))
    assert is_binary("A.SPACY") and not is_binary("a.xmi")


def test_python_says_it_too(tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"PAR1\xff")
    with pytest.raises(ValueError, match="pandas.read_parquet"):
        read_spans(tmp_path / "a.parquet")


@pytest.mark.parametrize(
    "row", ["\"['Ann', 'left']\",\"['B', 'O']\"", '1,"[""Ann""]"', "7;['Ann']"]
)
def test_lists_in_cells_are_known(row):
    mark = ";" if ";" in row else ","
    head = Head("a.csv", [f"tokens{mark}ner_tags", row])
    assert "literal_eval" in advice_for(head)
    assert advice_for(Head("a.csv", ["text,n", '"[sic] he said",2'])) is None
