"""PubTator: articles, their annotations and relations."""

import io
import warnings

import pytest

from skstruct.datasets import read_spans
from skstruct.datasets.formats.head import Head
from skstruct.datasets.formats.table import BY_NAME

TEXT = (
    "101|t|Zirconol lowers fever.\n"
    "101|a|Patients with fever | gout took zirconol.\n"
    "101\t0\t8\tZirconol\tChemical\tD000001\n"
    "101\t37\t42\tfever\tDisease\tD005334\n"
    "101\t45\t49\tgout\tDisease\n"
    "101\tCID\tD000001\tD005334\n"
    "\n"
    "102|t|Nothing.\n102|a|\n"
    "\n\n"
    "103|t|Gout.\n103|a|Gout.\n103\t0\t4\tGout\tDisease\tD006073|D1\tGout\n"
)


def test_articles():
    X, y, metadata = read_spans(io.StringIO(TEXT), return_metadata=True)
    assert X[0] == "Zirconol lowers fever. Patients with fever | gout took zirconol."
    assert X[1:] == ["Nothing. ", "Gout. Gout."]
    found = [(X[0][s.start : s.end], s.label) for s in y[0]]
    assert found == [
        ("Zirconol", "Chemical"),
        ("fever", "Disease"),
        ("gout", "Disease"),
    ]
    assert y[1] == [] and list(map(tuple, y[2])) == [(0, 4, "Disease")]
    assert [record["id"] for record in metadata] == ["101", "102", "103"]


def test_articles_without_blank_lines_between():
    X, y = read_spans(io.StringIO(TEXT.replace("\n\n", "\n").replace("\n\n", "\n")))
    assert len(X) == 3 and list(map(len, y)) == [3, 0, 1]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "104\t0\t4\tGout\tDisease",
            "line 15: expected ID.t.TITLE or an annotation of",
        ),
        ("103\t0", "line 15: expected 103<tab>START"),
        ("103\t6\t9\tGout\tDisease", "line 15"),
    ],
)
def test_errors_name_the_line(line, message):
    with pytest.raises(ValueError, match=message):
        read_spans(io.StringIO(TEXT + line + "\n"))


@pytest.mark.parametrize(
    "lines",
    [["a|b|c"] * 3, ["1\t2\t3\t4\t5\t6"] * 3, ["x|a|y", "1\t0\t3\tabc\tX"]],
)
def test_what_is_not_pubtator(lines):
    assert not BY_NAME["pubtator"].look(Head("notes", lines)).is_yes


def test_offsets_of_characters_warn_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        X, y = read_spans(io.StringIO(TEXT))
    assert len(X) == len(y) > 0 and any(y)
