"""Bytecode that tests keep: pytest rewrites the assertions of a file once, and processes
that a test starts do not compile the sources of the package again.
"""

import contextlib
import importlib.util
import os
import pathlib
import sys

import pytest

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


def kept_file(test):
    """Return the file in which pytest keeps a test, which ``PYTHONPYCACHEPREFIX`` puts
    into another folder.
    """
    plain = pathlib.Path(importlib.util.cache_from_source(test, optimization=""))
    return plain.with_name(f"{plain.stem}-pytest-{pytest.__version__}.pyc")


def rewrite_tests(folder=TESTS):
    """Rewrite the assertions of all tests, and keep the bytecode.

    Workers that start together would each rewrite all of them. Nothing is done where
    this Python and pytest have run the tests before.
    """
    files = sorted(folder.rglob("test_*.py"))
    if kept_file(files[-1]).exists():
        return
    for hook in sys.meta_path:
        if type(hook).__name__ == "AssertionRewritingHook":
            for file in files:
                spec = importlib.util.spec_from_file_location(file.stem, file)
                with contextlib.suppress(_Loaded, SyntaxError):
                    hook.exec_module(_NotRun(spec))
