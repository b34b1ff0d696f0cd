"""Products of two sizes have 64 bits: rows or tokens times labels, labels times labels,
k times tokens.

numpy multiplies an array of int32 by a Python integer in 32 bits, and wraps in silence
beyond 2^31. Numba multiplies integers of any size in 64 bits, so that only code outside
of kernels is looked at here. What is known to be int32, as far as it can be told:
fields of named tuples whose comment says so, indices of scipy's matrices, arguments of
lambdas that have such a name, what is made as int32 where the reader sees it, and names
that are given such values.
"""

import ast
import pathlib
import re

import pytest

import skstruct

PACKAGE = pathlib.Path(skstruct.__file__).resolve().parent
FILES = sorted(PACKAGE.rglob("*.py"))

KERNELS = ("kernel", "inline", "spliced")
"""Decorators of what numba compiles begin with one of these."""

OF_SCIPY = {"row", "col", "indices", "indptr"}
FIELD = re.compile(r"    (\w+): np\.ndarray\b(.*)")
KIND = re.compile(r"#.*?\b(u?int\d+|float\d+|bool)\b")
WIDE = re.compile(
    r"u?int64|float64|\b(float|int|len|range)\(|\.(tolist|nonzero|shape|size)\b|bincount"
)
"""In the text of what has 64 bits, or is an integer of Python, whatever is inside of
it.
"""
NARROW = re.compile(r"\bu?int32\b")
SAME_TYPE = {
    "ravel",
    "reshape",
    "take",
    "copy",
    "append",
    "concatenate",
    "where",
    "maximum",
    "minimum",
}

HARMLESS = {
    "_crf/l1crf_cv.py fold.number * len(candidates)",  # numbers of folds
    "_crf/solver/solve.py rows * L",  # int64: row of a WeightLayout
    "features/template_encoder.py (left + right) * np.arange(n)",  # distances are Python's, arange is int64
    "features/template_encoder.py (self.plan.left + self.plan.right) * np.arange(token.shape[0])",
    "features/template_rows.py nodes[c] * np.int32(n_slots)",  # `check_rows` stands before it
    "inspection/feature_lists.py encoder.width * (high - low + 1)",  # columns, an integer of Python
    "serving/answers.py ['tag'] * (inputs.width - 1)",  # a list
}
"""Products that are none of arrays of int32, or cannot be large: file and text."""


def fields():
    """The names of fields of named tuples that hold int32, and nothing else
    anywhere.
    """
    found = {}
    for file in FILES:
        above = ""
        for line in file.read_text(encoding="utf-8").splitlines():
            field = FIELD.match(line)
            kind = KIND.search(field[2] or above) if field else None
            if kind:
                found.setdefault(field[1], set()).add(kind[1])
            above = above + line if line.startswith("    #") else ""
    return OF_SCIPY | {
        name for name, kinds in found.items() if kinds <= {"int32", "uint32"}
    }


def is_compiled(function):
    names = map(ast.unparse, getattr(function, "decorator_list", ()))
    return any(name.split("(")[0].startswith(KERNELS) for name in names)


def is_narrow(node, narrow, names):
    """Whether an expression may be an array of int32, or an element of one; ``names``:
    those that may.
    """
    if isinstance(node, ast.Name):
        return node.id in names
    if WIDE.search(ast.unparse(node)):
        return False
    if isinstance(node, ast.Attribute):
        return (
            node.attr in narrow and ast.unparse(node.value) != "self"
        )  # named tuples have few methods
    if isinstance(node, ast.Call):
        if NARROW.search(ast.unparse(node)):
            return True
        called = (
            node.func.attr
            if isinstance(node.func, ast.Attribute)
            else getattr(node.func, "id", "")
        )
        parts = (
            [*node.args, getattr(node.func, "value", None)]
            if called in SAME_TYPE
            else node.args
        )
        told = called in SAME_TYPE or f"{called}()" in names
        return told and any(
            part is not None and is_narrow(part, narrow, names) for part in parts
        )
    if isinstance(node, (ast.Subscript, ast.UnaryOp)):
        return is_narrow(
            node.operand if isinstance(node, ast.UnaryOp) else node.value, narrow, names
        )
    if isinstance(node, ast.BinOp) and not isinstance(
        node.op, (ast.Div, ast.Pow, ast.MatMult)
    ):
        return any(is_narrow(side, narrow, names) for side in (node.left, node.right))
    return False


def assignments(function):
    """(name, value) of what is given a name in a function."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                pairs = [(target, node.value)]
                if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    pairs = zip(target.elts, node.value.elts)
                yield from (
                    (name.id, value)
                    for name, value in pairs
                    if isinstance(name, ast.Name)
                )


def narrow_names(function, narrow):
    """The local names that are given int32; with brackets, functions that are handed
    over.

    These are taken to return what they are given.
    """
    arguments = {each.arg for each in function.args.args}
    names = {f"{name}()" for name in arguments}
    if isinstance(function, ast.Lambda):
        names |= arguments & narrow
    for _ in range(2):  # a name may be given what is named further below
        names |= {
            name
            for name, value in assignments(function)
            if is_narrow(value, narrow, names)
        }
    return names


def products(source, narrow):
    """(line, text) of the products in 32 bits, outside of kernels."""
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, (ast.FunctionDef, ast.Lambda)) or is_compiled(
            function
        ):
            continue
        names = narrow_names(function, narrow)
        for node in ast.walk(function):
            if isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(
                node.op, ast.Mult
            ):
                sides = (
                    (node.left, node.right)
                    if isinstance(node, ast.BinOp)
                    else (node.target, node.value)
                )
                wide = any(
                    re.search("u?int64|float", ast.unparse(side)) for side in sides
                )
                if not wide and any(is_narrow(side, narrow, names) for side in sides):
                    yield node.lineno, ast.unparse(node)


def test_arrays_of_32_bits_are_not_multiplied_by_sizes():
    narrow, wrong = fields(), []
    assert {
        "lo",
        "width",
        "indices",
    } <= narrow  # else the comments of fields are not read
    for file in FILES:
        path = file.relative_to(PACKAGE).as_posix()
        for line, text in dict.fromkeys(
            products(file.read_text(encoding="utf-8"), narrow)
        ):
            if f"{path} {text}" not in HARMLESS:
                wrong.append(
                    f"skstruct/{path}:{line} {text}: write .astype(np.int64) where it is multiplied"
                )
    assert wrong == []


@pytest.mark.parametrize(
    "text",
    [
        "def f(pairs, L, rows):\n    pairs[rows(shown.row[ok]) * L + shown.col[ok]] = 1",
        "add(lambda row, p=p: row * L + p)",
        "def f(task, L):\n    gold = task.gold\n    return gold[:-1] * L + gold[1:]",
        "def f(n, L):\n    x = np.arange(n, dtype=np.int32)\n    return width * x",
        "def f(nodes, n):\n    return nodes * np.int32(n)",
        "def f(M, L):\n    M.indices *= L",
        "def f(M, L):\n    return np.append(M.indices, 3)[M.indptr] * L",
    ],
)
def test_such_products_are_found(text):
    assert list(products(text, OF_SCIPY | {"gold"}))


@pytest.mark.parametrize(
    "text",
    [
        "def f(M, L):\n    return M.row.astype(np.int64) * L + M.col",
        "def f(M, L):\n    return len(M.indices) * L",
        "def f(M, L):\n    row = M.row.astype(np.int64)\n    return row * L",
        "def f(M, x):\n    return M.row * np.float64(x)",
        "@kernel\ndef f(M, L):\n    return M.row * L",
    ],
)
def test_others_are_not(text):
    assert list(products(text, OF_SCIPY)) == []
