"""Opening text and numbering its lines."""

import gzip
import io

import pytest

from skstruct._saving.text_lines import numbered_lines, open_text


def lines_of(data, tmp_path, encoding="utf-8"):
    (tmp_path / "text").write_bytes(data)
    with numbered_lines(tmp_path / "text", encoding) as (name, lines):
        assert name == str(tmp_path / "text")
        return list(lines)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"a", ["a"]),
        (b"a\nb\n", ["a", "b"]),
        (b"a\r\n\r\nb", ["a", "", "b"]),
        (
            b"\xef\xbb\xbfa\n\xef\xbb\xbfb",
            ["a", "\ufeffb"],
        ),  # a byte order mark counts at the start
        (
            "a\rb\u2028c\x0bd\x85e\n".encode(),
            ["a\rb\u2028c\x0bd\x85e"],
        ),  # line feeds end lines, nothing else
    ],
)
def test_lines(data, expected, tmp_path):
    assert lines_of(data, tmp_path) == list(enumerate(expected, start=1))


def test_lines_that_end_in_carriage_returns_alone(tmp_path):
    """A file of old programs is one line; it would be one token, or one sentence."""
    with pytest.raises(ValueError, match="text: its lines end in carriage returns"):
        lines_of(b"Ann PER\rran O\r\rBob PER\r", tmp_path)
    with numbered_lines(tmp_path / "text", "utf-8", watch=False) as (_, lines):
        assert len(list(lines)) == 1  # such as JSON, whose readers tell themselves
    with numbered_lines(io.StringIO("a\rb\n"), "utf-8") as (_, lines):
        assert list(lines) == [(1, "a\rb")]  # one line
    assert lines_of(b"Ann PER\r", tmp_path) == [(1, "Ann PER")]


def test_the_line_that_does_not_decode(tmp_path):
    with pytest.raises(ValueError, match="text, line 3: not valid utf-8"):
        lines_of(b"a\nb\n\xff\n", tmp_path)
    with pytest.raises(ValueError, match="text, line 1500: not valid utf-8"):
        lines_of(b"abcdefghij\n" * 1499 + b"\xff\n" + b"x\n" * 9000, tmp_path)
    with pytest.raises(
        ValueError, match=r"line 1: not valid utf-8: it begins as UTF-16"
    ):
        lines_of("El\tDET\n".encode("utf-16"), tmp_path)


TEXT = "Ana\tB\nEspañola\tO\n\nÁrbol\tO\n’\tO\n"


@pytest.mark.parametrize("as_latin", ["latin-1", "cp1252"])
def test_accents_encoded_twice_are_warned_of(tmp_path, as_latin):
    text = (
        TEXT if as_latin == "latin-1" else TEXT.replace("Á", "É")
    )  # whose bytes are characters there
    twice = text.encode().decode(as_latin)
    with pytest.warns(
        UserWarning, match=r"text: .*'Ã±' for 'ñ', in 3 of 3 lines .*encode\('cp1252'\)"
    ):
        lines_of(twice.encode(), tmp_path)
    if as_latin == "cp1252":
        assert twice.encode("cp1252").decode("utf-8") == text
    with pytest.warns(UserWarning, match="use utf-8"):
        lines_of(text.encode(), tmp_path, "latin-1")


@pytest.mark.parametrize(
    "text", [TEXT, "我 B\n", "Ã\n", "abc\n", TEXT + "Ã±\n", "“Ã±”\n"]
)
def test_other_accents_are_not(tmp_path, text, recwarn):
    lines_of(text.encode(), tmp_path)
    lines_of(text.encode("gb18030"), tmp_path, "gb18030")
    assert not recwarn


def test_an_open_file_stays_open():
    file = io.StringIO("a\nb")
    with numbered_lines(file, "utf-8") as (name, lines):
        assert name == "<StringIO>" and list(lines) == [(1, "a"), (2, "b")]
    assert not file.closed
    with open_text(io.StringIO(), "w", "utf-8") as out:
        out.write("x")
    assert out.getvalue() == "x"


def test_what_is_no_text_file():
    with pytest.raises(
        TypeError, match="path_or_file must be a path or an open text file; got int"
    ):
        with open_text(3, "r", "utf-8"):
            pass
    with pytest.raises(
        TypeError, match="expected a file opened in text mode, got one of bytes"
    ):
        with numbered_lines(io.BytesIO(b"a\n"), "utf-8") as (_, lines):
            list(lines)


@pytest.mark.parametrize(
    ("begin", "message"),
    [
        (
            gzip.compress(b"Ann B", mtime=0),
            "compressed by gzip: its name must end in .gz; or decompress it first",
        ),
        (b"PK\x03\x04\xff\xfe", "a ZIP archive, as .xlsx and .docx"),
        (b"%PDF-1.4\n%\xe2\xe3\n", "a PDF: extract its text"),
        (b"Ann\n\xff", "line 2: not valid utf-8"),
    ],
)
def test_what_is_no_text_is_named(begin, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        lines_of(begin, tmp_path)


def test_text_is_not_written_into_a_file_that_promises_compression(tmp_path):
    with pytest.raises(ValueError, match="is not compressed; pass gzip.open"):
        with open_text(tmp_path / "a.jsonl.gz", "w", "utf-8"):
            pass
    assert list(tmp_path.iterdir()) == []
