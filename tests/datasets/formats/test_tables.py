"""Tables of a spreadsheet."""

import io

import pytest

from skstruct.datasets.formats.tables import as_line, delimiter_of, opened_table


def table(text, **options):
    (found,) = opened_table(io.StringIO(text), "utf-8", **options)
    return found


def test_rows_know_their_lines():
    found = table('\n\ufeffa;b\n"x;y\n""z";1\n\nu;2\n')
    assert found.header == ["\ufeffa", "b"] and found.delimiter == ";"
    rows = [(row.number, row.cells) for row in found.rows if row.cells]
    assert rows == [(3, ['x;y\n"z', "1"]), (6, ["u", "2"])]


def test_columns_by_name():
    found = table("Word #,Tag\n")
    assert found.where(["x", "tag"]) == 1 and found.where(["x"]) is None
    assert found.named("Tag") == 1 == found.named(-1)
    with pytest.raises(ValueError, match="no column 'x'; it has Word #, Tag"):
        found.named("x")


@pytest.mark.parametrize(
    ("text", "message"),
    [("a,b\n1\n", "line 2: expected 2 cells"), ('a,b\n"1"x,2\n', "line 2: ")],
)
def test_what_is_no_table(text, message):
    with pytest.raises(ValueError, match=message):
        list(table(text).rows)


def test_what_is_written_is_read_again():
    cells = ["a,b", 'say "x"', "two\nlines", "", "plain"]
    text = as_line(["v", "w", "x", "y", "z"], ",") + as_line(cells, ",")
    assert next(table(text).rows).cells == cells
    assert delimiter_of("a\tb,c\td") == "\t"
