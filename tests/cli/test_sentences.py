"""Sentences of files with the lines that they were made of."""

from skstruct.cli.corpus import Layout
from skstruct.cli.sentences import sentences
from skstruct.datasets import SourceLayout
from skstruct.datasets.formats.source import Source
from skstruct.datasets.formats.table import BY_NAME


def test_each_line_belongs_to_one_sentence(tmp_path):
    path = tmp_path / "notes"
    lines = ["# one", "a X", "b Y", "", "-DOCSTART- O", "", "c X"]
    path.write_text("\n".join(lines))
    with Source(str(path)) as source:
        found = list(
            sentences(
                source,
                Layout(
                    SourceLayout("columns", None, -1, None, "# "), BY_NAME["columns"]
                ),
            )
        )
    assert [s.tokens for s in found] == [["a", "b"], ["c"]]
    assert [s.labels for s in found] == [["X", "Y"], ["X"]]
    assert [s.numbers for s in found] == [[2, 3], [7]]
    assert [s.document for s in found] == [None, "1"]
    assert [line for s in found for _, line, _ in s.lines] == lines
