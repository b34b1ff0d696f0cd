"""Columns: documents, and what looks like columns."""

import io

import pytest

from skstruct.datasets import read_columns, read_tokens
from skstruct.datasets.formats.columns import Columns
from skstruct.datasets.formats.head import Head

TEXT = (
    "-DOCSTART- -X- O\n\nEU NNP B-ORG\n\nBonn NNP B-LOC\n\n-DOCSTART- -X-\n\n"
    "-DOCSTART-\n\nRome NNP B-LOC\n"
)


@pytest.mark.parametrize("comment", [None, "-DOCSTART-", "# "])
def test_documents_are_groups_and_no_sentences(comment):
    """Blank documents, and lines of fewer cells, too."""
    X, y, groups = read_columns(
        io.StringIO(TEXT), return_X_y=True, return_documents=True, comment=comment
    )
    assert [len(tokens) for tokens in X] == [1, 1, 1] == [len(labels) for labels in y]
    assert groups == [0, 0, 1]
    sentences, groups = read_columns(
        io.StringIO(TEXT), return_documents=True, comment=comment
    )
    assert sentences[0] == [("EU", "NNP", "B-ORG")] and groups == [0, 0, 1]
    *_, named = read_tokens(io.StringIO(TEXT), return_documents=True)
    assert named == ["0", "0", "1"]


def test_a_file_without_documents_is_one():
    text = "a X\n\nb Y\n"
    assert read_columns(io.StringIO(text), return_documents=True)[1] == [0, 0]
    assert read_tokens(io.StringIO(text), return_documents=True)[2] == [None, None]


@pytest.mark.parametrize(
    ("text", "is_yes"),
    [
        ("a X\nb Y\n", True),
        ("EU NNP B-ORG\nrejects VBZ\nGerman JJ B-MISC\n", True),
        ("a\tb c\tX\nd\te\tY\n", True),
        ("The/at dog/nn\nA/at cat/nn\n", False),
        ("我 喜欢\n好 天气\n", False),
        ("我 B\n好 E\n", True),
        ("a\nb\n", False),
        ("<a b>\n<c d>\n", False),
        ('{"a": 1}\n{"a": 2}\n', False),
    ],
)
def test_what_columns_look_like(text, is_yes):
    assert Columns().look(Head("notes", text.split("\n"), True)).is_yes == is_yes


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("a.txt", "Ann is in Rome.\nBo went to Oslo!\n", "as sentences do"),
        ("a.txt", "Ann is in Rome .\nBo went to Oslo .\n", "as sentences do"),
        ("a.txt", "# a b\n# c d\n", "comments"),
        ("a.jsonl", "{'text': 'a', 'n': 1}\n{'text': 'b', 'n': 2}\n", "JSON"),
        ("a.json", '"a b"\n"c d"\n', "JSON"),
    ],
)
def test_lines_of_as_many_words_are_no_columns(name, text, why):
    found = Columns().look(Head(name, text.splitlines(), True))
    assert not found.is_yes and why in found.seen


def test_tags_of_full_stops_are_no_prose():
    rows = ["Ann N NNP", "left V VBD", ". . ."]
    assert Columns().look(Head("a", rows, True)).is_yes


def test_cells_between_other_marks_are_named():
    with pytest.raises(ValueError, match=r"3 cells between '\|'"):
        read_tokens(io.StringIO("Ann|N|B\nleft|V|O\n"))


@pytest.mark.parametrize(
    ("comments", "documents"),
    [
        (["# newdoc", "", "# newdoc"], ["0", "0", "1"]),
        (["", "#begin document", "#begin document"], [None, "1", "2"]),
        (["# doc_id = a", "# doc_id = b", "# doc_id = a"], ["0", "1", "0"]),
        (["# doc_id = a", "# doc_id =", "# doc_id = b"], ["0", "0", "1"]),
        (["# doc_id = a\n# document = n"] * 3, ["0", "0", "0"]),
        (
            [f"# doc_id = {name}\n# document = n" for name in "aba"],
            ["0", "1", "0"],
        ),
    ],
)
def test_documents_of_comments(comments, documents):
    """A mark without a name begins a document; sentences with one name are of one."""
    text = "".join(f"{comment}\nw N\n\n" for comment in comments)
    found = read_tokens(io.StringIO(text), format="columns", return_documents=True)
    assert found[2] == documents
