"""What was understood of a file."""

from skstruct._data.source_layout import SourceLayout
from skstruct.datasets.formats.understood import Understood


def test_it_is_said_in_a_line():
    layout = SourceLayout("columns", tokens=(0,), label=-1, scheme="BIO")
    said = Understood(layout, "3 of 3 lines", {"sentence": 1, "token": 3}).sentence()
    assert said.startswith("columns") and "BIO" in said
    assert said.endswith("(3 of 3 lines); 1 sentence; 3 tokens")
