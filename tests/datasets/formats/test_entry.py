"""What entries of the table say of themselves."""

import pytest

from skstruct.datasets.formats.entry import (
    NO,
    TEXTS,
    TOKENS,
    WORDS,
    Evidence,
    Format,
    TokenFormat,
    TokenOptions,
)
from skstruct.datasets.formats.head import Head
from skstruct.datasets.formats.table import FORMATS


def test_entries_are_complete():
    assert len({each.name for each in FORMATS}) == len(FORMATS)
    for each in FORMATS:
        assert each.kind in (TOKENS, WORDS, TEXTS) and type(each).__doc__
        assert each.description and not each.description.endswith(".")
        assert isinstance(each.options, frozenset)
        assert each.recognise(Head("nothing")).score < 0.5


def test_evidence():
    assert Evidence(0.5, "x").is_yes and not NO.is_yes
    with pytest.raises(TypeError, match="abstract"):
        Format()


def test_a_format_that_is_not_written_says_so():
    class Silent(TokenFormat):
        name = "silent"

        def recognise(self, head):
            return NO

        def rows(self, file, options):
            return iter(())

    with pytest.raises(ValueError, match="not written as silent"):
        Silent().mark(TokenOptions(), "a", ["X"], ())
