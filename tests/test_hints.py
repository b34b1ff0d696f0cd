"""Type hints: mypy accepts code that is right and names the mistakes in code that is
wrong.
"""

import os
import pathlib
import re
import subprocess
import sys
from importlib.resources import files

import pytest

import skstruct

FOLDER = pathlib.Path(__file__).resolve().parent / "hints"
RIGHT, WRONG = FOLDER / "uses_everything.py", FOLDER / "uses_it_wrongly.py"


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """{(file, line): kind of error} that mypy finds in both files."""
    pytest.importorskip("mypy")
    folder = tmp_path_factory.mktemp("mypy")
    environment = dict(os.environ)
    source = pathlib.Path(skstruct.__file__).resolve().parent.parent
    if source.name not in (
        "site-packages",
        "dist-packages",
    ):  # those mypy searches by itself
        environment["MYPYPATH"] = str(source)
    options = [
        "--strict",
        "--follow-imports=silent",
        "--config-file=",
        f"--cache-dir={folder}",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, str(RIGHT), str(WRONG)],
        capture_output=True, encoding="utf-8", cwd=folder, env=environment,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    errors = re.findall(r"^(.+?):(\d+): error: .*\[([\w-]+)\]$", done.stdout, re.M)
    return {(pathlib.Path(file).name, int(line)): kind for file, line, kind in errors}


@pytest.mark.slow
def test_what_is_right_passes(found):
    assert [error for error in found.items() if error[0][0] == RIGHT.name] == []


@pytest.mark.slow
def test_each_mistake_is_flagged(found):
    marked = {}
    for number, line in enumerate(WRONG.read_text(encoding="utf-8").splitlines(), 1):
        if "  # " in line:
            marked[WRONG.name, number] = line.rpartition("  # ")[2]
    assert len(marked) > 20
    assert {
        place: kind for place, kind in found.items() if place[0] == WRONG.name
    } == marked


def test_both_files_use_every_estimator():
    for name in skstruct.__all__:
        if hasattr(getattr(skstruct, name), "get_params"):
            assert f"{name}(" in RIGHT.read_text(encoding="utf-8"), name
            assert f"{name}(" in WRONG.read_text(encoding="utf-8"), name


def test_the_package_says_that_it_is_typed():
    assert files("skstruct").joinpath("py.typed").is_file()
