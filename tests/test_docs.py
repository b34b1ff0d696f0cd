"""The code in README and documentation runs, as it stands and in the order of the page."""

import doctest
import pathlib
import re

import pytest

from skstruct.datasets import load_entities

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ("README.md", "docs/user-guide.md", "docs/switching.md")

pytestmark = pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="the documentation is not installed")


def names_for(page):
    """What a page takes for granted."""
    if page != "docs/switching.md":
        return {}
    sentences, labels = load_entities()
    X = [[{"word": word, "tag": tag} for word, tag in sentence] for sentence in sentences]
    return {"X_train": X[:120], "y_train": labels[:120], "X_test": X[120:], "y_test": labels[120:]}


@pytest.mark.parametrize("page", PAGES)
def test_code_runs(page):
    text, names = (ROOT / page).read_text(encoding="utf-8"), names_for(page)
    blocks = [
        (m[1], text.count("\n", 0, m.start(1))) for m in re.finditer(r"```python\n(.*?)```", text, re.S)
    ]
    assert blocks
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    for block, line in blocks:
        where = f"{page}, line {line + 1}"
        if ">>> " in block:
            test = doctest.DocTestParser().get_doctest(block, names, where, str(ROOT / page), line)
            said = []
            assert runner.run(test, out=said.append, clear_globs=False).failed == 0, "".join(said)
            names.update(test.globs)
        elif "import sklearn_crfsuite" in block:
            continue  # what a page says one had before
        else:
            exec(compile(block, where, "exec"), names)
