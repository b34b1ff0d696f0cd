"""An input is looked at and then read whole, with the lines of each sentence at hand."""

import io

import pytest

from skstruct.datasets.formats.source import Source, SourceError, peeked

TEXT = "".join(f"w{k} T\n" + "\n" * (k % 3 == 2) for k in range(30))


@pytest.mark.parametrize("look", ["head", "peek", "both", "none"])
@pytest.mark.parametrize("keeps", [True, False])
@pytest.mark.parametrize("of_file", [True, False])
def test_what_was_looked_at_is_read_again(look, keeps, of_file, tmp_path):
    (tmp_path / "a.txt").write_text("\ufeff" + TEXT, "utf-8")
    given = io.StringIO(TEXT) if of_file else tmp_path / "a.txt"
    with Source(given) as source:
        if look in ("head", "both"):
            assert source.head().lines[:2] == ["w0 T", "w1 T"]
        if look in ("peek", "both"):
            assert source.peek(3) == ["w0 T", "w1 T", "w2 T"]
        if not keeps:
            source.unkept()
        assert "".join(source) == TEXT
        if keeps:
            numbered = [(k + 1, line) for k, line in enumerate(TEXT.splitlines())]
            assert source.take() == numbered and source.take() == []
        with peeked(source, "utf-8") as same:
            assert same is source


def test_a_line_at_a_time_from_the_middle_on():
    with Source(io.StringIO(TEXT)) as source:
        source.head()
        assert source.readline() == "w0 T\n" and source.take() == [(1, "w0 T")]
        rest = "".join(source.unkept())
    assert "w0" not in rest and rest.endswith("w29 T\n\n")


def test_other_bytes_are_an_error_that_names_the_line(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"a X\n" * 9000 + b"\xff Y\n")
    with Source(tmp_path / "a.txt") as source:
        assert source.head().lines[0] == "a X"  # what stands before can be read
        with pytest.raises(
            SourceError, match=r"a.txt, line 9001: not valid utf-8.*encod"
        ):
            list(source)
