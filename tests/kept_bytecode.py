"""Bytecode that tests keep: pytest rewrites the assertions of a file once, and processes
that a test starts do not compile the sources of the package again.
"""

import contextlib
import importlib.util
import os
import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parent


def keep_bytecode():
    """Write bytecode beside the sources, in this process and those it starts.

    Some environments switch this off. Then each of some hundred processes takes half a
    second to compile what it imports, and each worker ten seconds to rewrite assertions.
    """
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


class _NotRun:
    """A module that is loaded up to the point at which its code would run."""

    def __init__(self, spec):
        self._values = {"__spec__": spec, "__name__": spec.name}

    def __getattribute__(self, name):
        if name == "__dict__":  # what the code would run in
            raise _Loaded
        return object.__getattribute__(self, "_values")[name]


class _Loaded(Exception):
    """The code of a module is there."""


def rewrite_tests(folder=TESTS):
    """Rewrite the assertions of all tests, and keep the bytecode.

    Workers that start together would each rewrite all of them. Nothing is done where
    tests have been run before.
    """
    files = sorted(folder.rglob("test_*.py"))
    kept = files[-1].parent.glob(f"__pycache__/{files[-1].stem}.*-pytest-*")
    if any(kept):
        return
    for hook in sys.meta_path:
        if type(hook).__name__ == "AssertionRewritingHook":
            for file in files:
                spec = importlib.util.spec_from_file_location(file.stem, file)
                with contextlib.suppress(_Loaded, SyntaxError):
                    hook.exec_module(_NotRun(spec))
