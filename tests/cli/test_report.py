"""report: a page about what a model gets right and wrong."""

import pytest
from cli_cases import run
from cli_labelling_cases import labelling_files


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A corpus with a wrong label in its line 5, and models."""
    return labelling_files(tmp_path_factory.mktemp("labelling"))


def test_report(files, capsys):
    target = files / "report.html"
    code, out, err = run(
        capsys, "report", files / "train.txt", "-m", files / "crf", "-o", target
    )
    assert code == 0 and "\ntoken accuracy " in out and f"wrote {target}" in err
    assert "B-ADJP" in target.read_text(encoding="utf-8")
    (files / "bad.txt").write_text("a DT\n", encoding="utf-8")
    assert (
        run(capsys, "report", files / "bad.txt", "-m", files / "crf", "-o", target)[0]
        == 1
    )
    assert (
        run(
            capsys,
            "report",
            files / "train.txt",
            "-m",
            files / "crf",
            "-o",
            files / "no" / "x",
        )[0]
        == 1
    )
