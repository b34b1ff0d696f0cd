"""The text of a dump is read as what it was written from."""

import pytest

from skstruct.compat.pycrfsuite._dumpparser import CRFsuiteDumpParser, ParsedDump

DUMP = ParsedDump(
    {"magic": "lCRF", "size": "99"},
    {"A": "0", "B ": "1"},
    {"w=a: b": "0"},
    {("A", "B "): -0.5},
    {("w=a: b", "A"): 1.25},
)


def test_a_dump_is_read_line_by_line():
    parser = CRFsuiteDumpParser()
    for line in DUMP.text().splitlines(keepends=True):
        parser.feed(line)
    assert parser.result == DUMP and parser.state is None


def test_a_line_that_is_none_is_named():
    parser = CRFsuiteDumpParser()
    parser.feed("LABELS = {\n")
    with pytest.raises(ValueError, match="not a line of a dump: 'nothing'"):
        parser.feed("  nothing\n")
