"""What entries of the table say of themselves."""

import pytest

from skstruct.datasets import SourceLayout
from skstruct.datasets.formats.entry import (
    NO,
    TEXTS,
    TOKENS,
    WORDS,
    Format,
    TokenFormat,
    fits,
    marked,
    near,
)
from skstruct.datasets.formats.head import Head
from skstruct.datasets.formats.table import FORMATS


def test_entries_are_complete():
    assert len({each.name for each in FORMATS}) == len(FORMATS)
    for each in FORMATS:
        assert each.kind in (TOKENS, WORDS, TEXTS) and type(each).__doc__
        assert each.description and not each.description.endswith(".")
        assert isinstance(each.options, frozenset)
        assert not each.look(Head("nothing")).is_yes


def test_looks():
    assert fits("x").is_yes and not fits("x").is_sure and marked("x").is_sure
    assert not near("x").is_yes and not NO.is_yes
    with pytest.raises(TypeError, match="abstract"):
        Format()


def test_a_format_that_is_not_written_says_so():
    class Silent(TokenFormat):
        name = "silent"

        def look(self, head):
            return NO

        def rows(self, file, layout, contents, labels=True):
            return iter(())

    with pytest.raises(ValueError, match="cannot be written as silent"):
        Silent().mark(SourceLayout("silent"), "a", ["X"], ())
