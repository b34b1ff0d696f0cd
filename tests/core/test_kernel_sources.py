"""The list of the sources of kernels: complete, and no longer than it has to be."""

import ast
import gc
from pathlib import Path

import pytest
from numba import config, types
from numba.extending import is_jitted

import skstruct
from skstruct.core.sources import PACKAGE, SOURCES

DECORATORS = {
    "kernel", "kernel_any_order", "inline", "inline_any_order", "inline_fused", "spliced", "overload",
    "intrinsic",
}  # fmt: skip
GENERATOR = {"core/compile.py", "core/linking.py"}


def _modules():
    package = Path(PACKAGE)
    return {
        path.relative_to(package).as_posix(): ast.parse(path.read_text("utf-8"))
        for path in package.rglob("*.py")
    }


def _kernels(tree):
    """The functions that numba compiles; `overload` of `typing` has no arguments."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            names = {ast.unparse(each).split("(")[0] for each in node.decorator_list}
            if names & DECORATORS and "overload" not in map(ast.unparse, node.decorator_list):
                yield node


def _origins(name, tree, modules):
    """Where the names come from that a module imports from others of the package."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level:
            base = "/".join([*name.split("/")[: -node.level], *(node.module or "").split(".")]).strip("/")
            for alias in node.names:
                for path in (f"{base}/{alias.name}.py", f"{base}.py"):
                    if path in modules:
                        yield alias.asname or alias.name, path
                        break


def _needed():
    modules = _modules()
    needed = set(GENERATOR)
    for name, tree in modules.items():
        origins = dict(_origins(name, tree, modules))
        for function in _kernels(tree):
            needed.add(name)
            for node in ast.walk(function):
                if isinstance(node, ast.Name) and node.id in origins:
                    needed.add(origins[node.id])
    return needed


def test_each_file_with_a_kernel_or_with_what_one_calls_is_in_the_list():
    needed = _needed()
    assert len(needed) > 40
    assert sorted(needed - set(SOURCES)) == []
    assert len(SOURCES) == len(set(SOURCES))


@pytest.mark.slow
@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_each_file_with_a_tuple_that_kernels_take_is_in_the_list():
    skstruct.warm_up(all=True)
    files = set()

    def visit(kind):
        if isinstance(kind, types.BaseNamedTuple):
            files.add(kind.instance_class.__module__)
        for part in kind if isinstance(kind, types.BaseTuple) else ():
            visit(part)

    for each in gc.get_objects():
        if is_jitted(each) and each.__module__.startswith("skstruct."):
            for signature in each.signatures:
                for kind in signature:
                    visit(kind)
    paths = {"/".join(name.split(".")[1:]) + ".py" for name in files}
    assert len(paths) > 15
    assert sorted(paths - set(SOURCES)) == []
    # Nothing else is in it, so that an error text elsewhere costs no compilation.
    assert sorted(set(SOURCES) - paths - _needed()) == []
