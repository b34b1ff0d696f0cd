"""Elements around spans: what tag --write xml writes, and texts that are children of
one element.
"""

import io

import pytest
from cli_cases import run

from skstruct.datasets import read_spans
from skstruct.datasets.formats.head import Head
from skstruct.datasets.formats.table import BY_NAME


def spans(text):
    X, y = read_spans(io.StringIO(text), "xml")
    return [
        (x, [(x[s.start : s.end], s.label) for s in found]) for x, found in zip(X, y)
    ]


def test_lines():
    text = (
        'In <LOC>Oslo</LOC> lives <PER probability="0.9">Ann &amp; Bo</PER>.\n\n'
        'The <span label="a place">New\nYork</span> of it.\nNobody.\n'
    )
    assert spans(text) == [
        ("In Oslo lives Ann & Bo.", [("Oslo", "LOC"), ("Ann & Bo", "PER")]),
        ("The New\nYork of it.", [("New\nYork", "a place")]),
        ("Nobody.", []),
    ]


def test_children_of_one_element():
    text = (
        '<?xml version="1.0"?>\n<Set>\n<S><Number>12</Number> <Street>Elm</Street></S>\n'
        "<S>at <Number>7</Number> <Street>Oak</Street></S></Set>\n"
    )
    found = [("12 Elm", [("12", "Number"), ("Elm", "Street")]),
             ("at 7 Oak", [("7", "Number"), ("Oak", "Street")])]  # fmt: skip
    assert spans(text) == found
    assert BY_NAME["xml"].look(Head("a.xml", text.splitlines())).is_yes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<A>x</B> y\n", "line 1: not valid XML: mismatched tag"),
        ("a\n<A>x</A> & y\n", "line 2: not valid XML"),
        ("<A>x</A> y <B>x\n", "not valid XML"),
        ("z <A>x <B>y</B></A>\n", "the element B is within A, but spans within spans"),
        ("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>\n", "a DOCTYPE is not read"),
    ],
)
def test_errors(text, message):
    with pytest.raises(ValueError, match=message):
        spans(text)


@pytest.mark.parametrize(
    "lines",
    [
        ["<html>", "<body>", "<p>Text of a page</p>", "</body>", "</html>"],
        ["a < b and c > d"] * 3,
        ["This is <b>bold</b> and <i>slanted</i> text."] * 3,
        ["<NE>กรุงเทพ</NE>|มาก|"],
        ["text"] * 30 + ["one <b>x</b> only"],
    ],
)
def test_what_is_not_texts_with_elements(lines):
    assert not BY_NAME["xml"].look(Head("notes", lines)).is_yes


def test_what_tag_writes_is_read_back(tmp_path, capsys):
    texts = [f"In {t} lives {n} <{n}> & more." for t, n in
             [("Oslo", "Ann"), ("Rome", "Bo"), ("Turku", "Cy")] * 4]  # fmt: skip
    rows = "".join(
        f"In <LOC>{x.split()[1]}</LOC> lives <PER>{x.split()[3]}</PER> "
        f"&lt;{x.split()[3]}&gt; &amp; more.\n"
        for x in texts
    )
    (tmp_path / "a.xml").write_text(rows)
    (tmp_path / "raw.txt").write_text("".join(x + "\n" for x in texts))
    model = "-m", tmp_path / "m"
    assert run(capsys, "train", tmp_path / "a.xml", *model)[0] == 0
    given = "--lines", "--write", "xml", "-o", tmp_path / "out.xml"
    assert run(capsys, "tag", tmp_path / "raw.txt", *model, *given)[0] == 0
    assert (tmp_path / "out.xml").read_text() == rows
    X, y = read_spans(tmp_path / "out.xml")
    assert X == texts and (X, y) == read_spans(tmp_path / "a.xml")
    code, out, _ = run(capsys, "evaluate", tmp_path / "out.xml", *model)
    assert code == 0 and "1.0000" in out


@pytest.mark.parametrize(
    "text",
    [
        '<?xml version="1.0"?>\n<doc>\nIn <LOC>Oslo</LOC> lives Ann.\nNobody.\n</doc>\n',
        'In <ENAMEX TYPE="LOC">Oslo</ENAMEX> lives Ann.\nNobody.\n',
        "<doc>\n<s>In <LOC>Oslo</LOC> lives Ann.</s>\n<s>Nobody.</s>\n</doc>\n",
    ],
)
def test_texts_within_an_element_and_types_in_attributes(text):
    assert spans(text) == [("In Oslo lives Ann.", [("Oslo", "LOC")]), ("Nobody.", [])]
    assert BY_NAME["xml"].look(Head("notes", text.splitlines())).is_yes


def test_an_attribute_that_would_tell_spans_apart_is_named():
    text = '<e kind="P">Ann</e> in <e kind="L">Rome</e>.\n' * 3
    with pytest.warns(UserWarning, match="'e', and the attribute 'kind' has 2 values"):
        assert spans(text)[0][1] == [("Ann", "e"), ("Rome", "e")]


def test_elements_a_line_each():
    text = (
        '<?xml version="1.0"?>\n<all>\n <item>\n  <no>12</no>\n  <street>Elm</street>\n'
        " </item>\n <item>\n  <no>7</no>\n </item>\n</all>\n"
    )
    assert spans(text) == [
        ("12 Elm", [("12", "no"), ("Elm", "street")]),
        ("7", [("7", "no")]),
    ]
    assert BY_NAME["xml"].look(Head("a.xml", text.splitlines())).is_yes


def test_documents_of_the_message_understanding_conferences():
    document = (
        "<DOC>\n<DOCNO> d0 </DOCNO>\n<TEXT>\n<p>\n"
        '<ENAMEX TYPE="PERSON">Ana Ruiz</ENAMEX> left .\n</p>\n<p>No one .</p>\n'
        "</TEXT>\n</DOC>\n"
    )
    one = [("Ana Ruiz left .", [("Ana Ruiz", "PERSON")]), ("No one .", [])]
    assert spans(document * 3) == one * 3
    assert BY_NAME["xml"].look(Head("a.sgm", document.splitlines())).is_yes
    with pytest.warns(UserWarning, match=r"1 record \(text beside elements\)"):
        assert spans(document.replace("<p>No one .</p>", "Said <p>No one .</p>")) == one


@pytest.mark.parametrize(
    ("bare", "written"), [("&", "&amp;"), ("<", "&lt;")], ids=["ampersand", "less"]
)
def test_bare_characters_are_written_as_the_error_says(bare, written):
    text = f"<A>x</A> y\n<A>x</A> {bare} y\n"
    with pytest.raises(
        ValueError, match=f"line 2: not valid XML.* write {written} for"
    ):
        spans(text)
    found = spans(text.replace(f" {bare} ", f" {written} "))
    assert found[1][0] == f"x {bare} y"


def test_elements_without_text_are_counted():
    with pytest.warns(UserWarning, match=r"1 span \(an element without text\)"):
        assert spans("<A></A> y <B>z</B>\n") == [(" y z", [("z", "B")])]


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_documents_of_texts_are_read_with_their_names(depth):
    """However deep the texts stand."""
    texts = ["<s><P>Ann</P> ran</s>", "<s>in <L>Rome</L></s>", "<s>no</s>"]
    documents = ["".join(texts), "".join(texts[:2])]
    inner = [f"<{'p' * k}>" for k in range(1, depth)]
    outer = [f"</{'p' * k}>" for k in range(depth - 1, 0, -1)]
    around = [
        f"<doc id='d{k}'>{''.join(inner)}{text}{''.join(outer)}</doc>"
        if depth
        else text
        for k, text in enumerate(documents)
    ]
    X, y, metadata = read_spans(
        io.StringIO(f"<corpus>{''.join(around)}</corpus>"), format="xml",
        return_metadata=True,
    )  # fmt: skip
    assert X == ["Ann ran", "in Rome", "no", "Ann ran", "in Rome"]
    assert y == [[(0, 3, "P")], [(3, 7, "L")], [], [(0, 3, "P")], [(3, 7, "L")]]
    names = [each.get("document_id") for each in metadata]
    assert names == (["d0"] * 3 + ["d1"] * 2 if depth else [None] * 5)


def test_elements_beside_the_texts_are_an_error_that_says_how():
    text = "<c><head><t>A <b>B</b></t></head><s><P>Ann</P> <L>b</L></s></c>"
    with pytest.raises(ValueError, match="the element b is within t, .* or documents"):
        read_spans(io.StringIO(text), format="xml")
