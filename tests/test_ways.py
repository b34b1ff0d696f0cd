"""An editor finds the way: "go to definition" leads from ``fit``, ``predict`` and the
commands to the kernels.

``ways.txt`` lists the steps: the file in ``skstruct/``, a text that stands in it,
and the word in this text whose definition is asked for.
"""

import pathlib

import pytest
from language_server import SERVER, LanguageServer

ROOT = pathlib.Path(__file__).resolve().parent.parent
STEPS = [
    line.split("|")
    for line in (ROOT / "tests" / "ways.txt").read_text("utf-8").splitlines()
]

needs_source = pytest.mark.skipif(
    not (ROOT / "skstruct").is_dir(), reason="the package is installed elsewhere"
)


@needs_source
@pytest.mark.skipif(SERVER is None, reason="pyright is not installed")
def test_each_step_leads_to_its_definition():
    lost = []
    with LanguageServer(ROOT) as server:
        for file, text, word in STEPS:
            lines = server.definitions(ROOT / "skstruct" / file, text, word)
            if not any(word in line for line in lines):
                lost.append(f"{file}: {text} -> {lines}")
    assert lost == []


@needs_source
@pytest.mark.parametrize(("file", "text", "word"), STEPS)
def test_each_step_stands_in_the_source(file, text, word):
    """Also where no server is installed: a step that moved is moved in the list."""
    content = (ROOT / "skstruct" / file).read_text(encoding="utf-8")
    assert text in content
    assert word in text
