"""The documentation as a site: every public name has a page, and Sphinx builds it
without a warning.
"""

import importlib
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODULES = (
    "skstruct",
    "features",
    "metrics",
    "schemes",
    "datasets",
    "inspection",
    "interchange",
)
BUILDERS = ("sphinx", "myst_parser", "numpydoc", "pydata_sphinx_theme", "sphinx_copybutton", "sphinx_design",
            "sphinx_gallery", "matplotlib")  # fmt: skip

pytestmark = pytest.mark.skipif(
    not (ROOT / "docs").is_dir(), reason="the documentation is not installed"
)


@pytest.mark.parametrize("name", MODULES)
def test_every_public_name_is_in_the_reference(name):
    module = importlib.import_module(name if name == "skstruct" else f"skstruct.{name}")
    named = set(
        re.findall(r"\w+", (ROOT / "docs" / "api.md").read_text(encoding="utf-8"))
    )
    missing = [found for found in module.__all__ if found not in named]
    assert missing == [], f"docs/api.md: name {missing} in the list"


def test_every_page_is_reached():
    """Each page stands in a table of contents."""
    pages = {path.stem for path in (ROOT / "docs").glob("*.md")} - {"index"}
    listed = set()
    for path in (ROOT / "docs").glob("*.md"):
        for block in re.findall(
            r"```\{toctree\}\n(.*?)```", path.read_text(encoding="utf-8"), re.S
        ):
            listed.update(line.strip() for line in block.splitlines())
    assert pages - listed == set()


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path):
    for name in BUILDERS:
        pytest.importorskip(name)
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-W",
        "--keep-going",
        "-q",
        "-D",
        "plot_gallery=0",
    ]
    done = subprocess.run(
        [*command, "-d", tmp_path / "trees", ROOT / "docs", tmp_path / "html"],
        capture_output=True, encoding="utf-8", timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    html = tmp_path / "html"
    assert 'class="problematic"' not in "".join(
        page.read_text("utf-8") for page in html.rglob("*.html")
    )
    assert 'id="skstruct.L1CRF.fit"' in (
        html / "generated" / "skstruct.L1CRF.html"
    ).read_text("utf-8")
    assert (html / "auto_examples" / "quick_start.html").exists()
