"""Written files, loaded and run: what the tests of one-file models share."""

import ast
import functools
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys

import pytest

from skstruct.interchange import export

INTERPRETERS = ("3.8", "3.11", "3.13")


def interpreters():
    """Python programs of several versions: those that are installed here."""
    found = {}
    for version in INTERPRETERS:
        homes = sorted(
            pathlib.Path.home().glob(f".pyenv/versions/{version}.*/bin/python")
        )
        candidates = [*map(str, homes), f"python{version}"]
        for program in candidates:
            try:
                said = subprocess.run(
                    [program, "-V"], capture_output=True, text=True, timeout=60
                )
            except (OSError, subprocess.TimeoutExpired):
                continue
            if said.returncode == 0 and said.stdout.startswith(f"Python {version}."):
                found[version] = program
                break
    return found


def written(model, folder, name="tagger.py", **options):
    """The path of a written file."""
    path = pathlib.Path(folder, name)
    export(model, path, **options)
    return path


def loaded(path):
    """A written ``.py`` file as a module."""
    spec = importlib.util.spec_from_file_location(f"written_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def check_source(path):
    """A written file is Python 3.8, and imports modules of the standard library
    only.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 8))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0
            assert node.module.split(".")[0] in sys.stdlib_module_names
        elif isinstance(node, ast.Import):
            assert {
                alias.name.split(".")[0] for alias in node.names
            } <= sys.stdlib_module_names


@pytest.fixture(scope="session")
def pythons():
    """Python programs by version; the test skips where there is none."""
    found = interpreters()
    if not found:
        pytest.skip(f"no Python of the versions {', '.join(INTERPRETERS)} is installed")
    return found


NODE = shutil.which("node")

needs_node = pytest.mark.skipif(NODE is None, reason="Node is not installed")


@functools.cache
def _node():
    """A Node that answers for all tests: each file that it is given is loaded anew."""
    runner = pathlib.Path(__file__).with_name("one_file_node.js")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    return subprocess.Popen([NODE, runner], **pipes)


def stop():
    """Stop Node, if it was started."""
    if _node.cache_info().currsize:
        _node().communicate(timeout=100)
        _node.cache_clear()


def asked(path, X, *ask, allowed=None):
    """What functions of a written JavaScript file answer, by name."""
    given = {"file": str(path), "X": X, "ask": ask, "allowed": allowed}
    node = _node()
    # Lone surrogates travel as escapes.
    node.stdin.write(json.dumps(given).encode() + b"\n")
    node.stdin.flush()
    line = node.stdout.readline()
    if not line:
        _node.cache_clear()
        pytest.fail(f"Node ended over {path}; standard error holds its message")
    return json.loads(line)
