"""Splitting cells, fields of CoNLL-U, and files whose rows are lines."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstruct.datasets.formats.text_files import (
    CONLLU_FIELDS,
    check_fields,
    numbered_lines,
    split_cells,
)


@given(
    st.lists(st.text("ab\u00a0\u3000", min_size=1), min_size=1),
    st.sampled_from([" ", "\t", "  ", " \t"]),
)
def test_blanks_and_tabs_separate_and_nothing_else(cells, separator):
    assert split_cells(separator.join(cells), None) == cells
    assert split_cells(f" {separator.join(cells)}\t", None) == cells


def test_a_separator_of_its_own():
    assert split_cells("a  b_c", "_") == ["a  b", "c"] and split_cells("__", "_") == [
        "",
        "",
        "",
    ]


def test_fields():
    assert (
        check_fields("form") == ("form",)
        and check_fields(CONLLU_FIELDS) == CONLLU_FIELDS
    )
    for wrong, message in (
        ("tag", "among id, form"),
        ([], "at least one"),
        (["form", "form"], "each once"),
    ):
        with pytest.raises(ValueError, match=message):
            check_fields(wrong)


def test_rows_of_a_table_in_a_file_are_lines(tmp_path):
    polars = pytest.importorskip("polars")
    polars.DataFrame({"text": ["Ann", "Bob"]}).write_parquet(tmp_path / "a.parquet")
    with numbered_lines(tmp_path / "a.parquet", "utf-8") as (_, lines):
        found = [json.loads(line)["text"] for _, line in lines]
    assert found == ["Ann", "Bob"]
