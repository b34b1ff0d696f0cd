"""The structure of the package: which folder may import which, and what a file may hold.

Folders stand on floors. A file imports from its own folder and from lower floors; folders on the same floor
do not know each other. `docs/architecture.md` draws the same table.
"""

import ast
import functools
import pathlib
import re

import pytest
from floors import FLOORS

import skstruct
from skstruct._core.sources import SOURCES

PACKAGE = pathlib.Path(skstruct.__file__).resolve().parent

FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}

FILES = sorted(PACKAGE.rglob("*.py"))


@functools.cache
def tree_of(file):
    """The syntax tree of a file, which several tests look at."""
    return ast.parse(file.read_text(encoding="utf-8"))


@pytest.fixture(scope="module", autouse=True)
def _forget_the_trees():
    yield
    tree_of.cache_clear()
    nodes_of.cache_clear()


def module_name(file):
    """``("skstruct", "core", "store")`` of a file; a package is named by its folder."""
    parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


@functools.cache
def nodes_of(file):
    """All nodes of the syntax tree of a file."""
    return tuple(ast.walk(tree_of(file)))


def blocks_of(node):
    """The statements, handlers and cases right inside a statement."""
    for name in ("body", "handlers", "orelse", "finalbody", "cases"):
        yield from getattr(node, name, ())


def within(node):
    """All statements inside a node; expressions hold none."""
    for inner in blocks_of(node):
        yield inner
        yield from within(inner)


def is_for_types(node):
    """Whether a statement is ``if TYPE_CHECKING:``."""
    return (
        isinstance(node, ast.If)
        and isinstance(node.test, ast.Name)
        and node.test.id == "TYPE_CHECKING"
    )


def running(tree):
    """Every statement of a module that is run, not only read by type checkers."""
    for node in blocks_of(tree):
        yield node
        if is_for_types(node):
            for other in node.orelse:
                yield other
                yield from running(other)
        else:
            yield from running(node)


def imported(file):
    """(line, module) of every import of the package's own modules, also in functions.

    What only type checkers import is no dependency: a type may point up, or back.
    """
    name = module_name(file)
    package = name if file.name == "__init__.py" else name[:-1]
    for node in running(tree_of(file)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "skstruct":
                    yield node.lineno, tuple(alias.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            target = base + tuple(node.module.split(".") if node.module else ())
            if target[:1] == ("skstruct",):
                for alias in node.names:
                    longer = (*target, alias.name)
                    yield node.lineno, longer if is_module(longer) else target


def is_module(name):
    path = PACKAGE.parent.joinpath(*name)
    return path.is_dir() or path.with_suffix(".py").is_file()


def room_of(name):
    """The folder, or the top-level module, that a module belongs to; None for the package itself."""
    inner = ".".join(name[1:3])
    return inner if inner in FLOOR_OF else name[1] if len(name) > 1 else None


def test_imports_run_down():
    wrong = []
    for file in FILES:
        room = room_of(module_name(file))
        if room in (None, "__main__"):
            continue  # the front door opens every room
        for line, target in imported(file):
            other = room_of(target)
            if other != room and (other is None or FLOOR_OF[other] >= FLOOR_OF[room]):
                wrong.append(
                    f"{file.relative_to(PACKAGE)}:{line} imports {'.'.join(target)}"
                )
    assert wrong == []


def test_there_is_no_circle():
    files = {module_name(file): file for file in FILES}
    graph = {
        name: {
            target for _, target in imported(file) if target in files and target != name
        }
        for name, file in files.items()
    }
    done, path = set(), []

    def visit(name):
        if name in path:
            pytest.fail(
                "circle: "
                + " -> ".join(".".join(n) for n in [*path[path.index(name) :], name])
            )
        if name in done:
            return
        path.append(name)
        for target in sorted(graph[name]):
            visit(target)
        path.pop()
        done.add(name)

    for name in sorted(graph):
        visit(name)


MOST_OF_A_FILE = 300
MOST_OF_A_BODY = 40
"""Statements, of which docstrings are none."""

LONG_FOR_SPEED = {"_words/word_beam.py search"}
"""Cut into four kernels it took 10 to 20 % longer (`docs/decisions.md`)."""


def is_docstring(node):
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def statements(node):
    """The statements inside a node."""
    return sum(
        isinstance(other, ast.stmt) and not is_docstring(other)
        for other in within(node)
    )


def functions(file):
    """(qualified name, node) of every function and method of a file."""

    def visit(node, owners):
        for inner in blocks_of(node):
            names = owners
            if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                names = (*owners, inner.name)
                if not isinstance(inner, ast.ClassDef):
                    yield ".".join(names), inner
            yield from visit(inner, names)

    yield from visit(tree_of(file), ())


def path_of(file):
    return file.relative_to(PACKAGE).as_posix()


def test_a_file_holds_one_idea():
    """As far as its size tells."""
    found = {}
    for file in FILES:
        size = statements(tree_of(file))
        if size > MOST_OF_A_FILE:
            found[path_of(file)] = size
    assert found == {}


def test_a_body_does_one_thing():
    """As far as its size tells."""
    found = [
        f"{path_of(file)} {name} {statements(node)}"
        for file in FILES
        for name, node in functions(file)
        if statements(node) > MOST_OF_A_BODY
        and f"{path_of(file)} {name}" not in LONG_FOR_SPEED
    ]
    assert found == []


def test_commands_compare_no_kinds_of_files():
    """What depends on what a file holds is an attribute of its `Kind`."""
    names = {"spans", "segmented", "texts", "tokens", "words", "trees"}
    found = [
        f"{path_of(file)}:{node.lineno} {ast.unparse(node)}"
        for file in FILES
        if file.parent.name == "cli"
        for node in nodes_of(file)
        if isinstance(node, ast.Compare)
        and any(isinstance(each, (ast.Eq, ast.NotEq, ast.In)) for each in node.ops)
        and re.search(r"\.(format|family|kind|kind\.name)$", ast.unparse(node.left))
        and names
        & {
            each.value
            for each in ast.walk(node)
            if isinstance(each, ast.Constant) and isinstance(each.value, str)
        }
        and not ast.unparse(node.left).startswith("arguments.")  # what an option says
    ]
    assert found == []


def is_typed(node):
    """Whether all parameters of a function, but for self and cls, and its result are."""
    given = node.args
    parameters = [*given.posonlyargs, *given.args]
    if parameters and parameters[0].arg in ("self", "cls", "mcs"):
        del parameters[0]
    parameters += [*given.kwonlyargs, given.vararg, given.kwarg]
    untyped = [one for one in parameters if one is not None and one.annotation is None]
    return node.returns is not None and untyped == []


def test_what_others_call_is_typed():
    """Every function and method without an underscore in front, and constructors."""
    found = [
        f"{path_of(file)}:{node.lineno} {name}"
        for file in FILES
        for name, node in functions(file)
        if (node.name == "__init__" or not node.name.startswith("_"))
        and not is_typed(node)
    ]
    assert found == []


def test_no_field_is_an_object():
    """A field says what it holds; what may be anything is `Any`."""
    found = [
        f"{path_of(file)}:{node.lineno}"
        for file in FILES
        for node in nodes_of(file)
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "object"
    ]
    assert found == []


def test_docstrings_can_be_read_alone():
    """They say what, with a verb; a reference stands behind such a sentence."""
    found = [
        f"{path_of(file)}:{node.lineno} {name}"
        for file in FILES
        for name, node in functions(file)
        if (ast.get_docstring(node) or "").startswith(("The same", "See "))
    ]
    assert found == []


def tuple_assignments():
    for file in FILES:
        for node in nodes_of(file):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple):
                if isinstance(node.targets[0], ast.Tuple):
                    yield f"{path_of(file)}:{node.lineno}"


def test_a_line_says_one_thing():
    """Assignments of several values at once are for what has to happen at once."""
    total = sum(statements(tree_of(file)) for file in FILES)
    found = list(tuple_assignments())
    assert len(found) * 1000 <= 10 * total, found


def test_private_names_stay_at_home():
    """A name with an underscore in front is imported by files of its own folder at most."""
    wrong = []
    for file in FILES:
        for node in nodes_of(file):
            if isinstance(node, ast.ImportFrom) and node.module != "__future__":
                for alias in node.names:
                    private = alias.name.startswith("_") and not alias.name.startswith(
                        "__"
                    )
                    if private and (
                        node.level or (node.module or "").startswith("skstruct")
                    ):
                        if alias.name not in {*FLOOR_OF, *ORIGINALS}:
                            wrong.append(
                                f"{file.relative_to(PACKAGE)}:{node.lineno} {alias.name}"
                            )
    assert wrong == []


def test_completion_offers_public_names_only():
    """What ``skstruct.`` completes in a notebook, whatever has been imported by then."""
    offered = {name for name in dir(skstruct) if not name.startswith("__")}
    assert offered == set(skstruct.__all__)
    for room in ("datasets", "features", "inspection", "interchange", "metrics"):
        module = getattr(skstruct, room)
        offered = {name for name in dir(module) if not name.startswith("__")}
        assert offered == set(module.__all__), room


def test_a_module_does_not_bear_the_name_of_an_exported_function():
    modules = {module_name(file)[-1] for file in FILES}
    exported = {name for name in skstruct.__all__ if callable(getattr(skstruct, name))}
    assert modules & exported == set()


DOCS = PACKAGE.parent / "docs"


@pytest.mark.skipif(not DOCS.is_dir(), reason="the documentation is not installed")
def test_the_floors_are_drawn():
    """The table of docs/architecture.md is the one above."""
    drawn, floor = {}, None
    for line in (DOCS / "architecture.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == 3 and cells[1].startswith("`"):
            floor = int(cells[0]) - 1 if cells[0] else floor
            drawn.update(
                (room.strip("`/ ").removesuffix(".py").replace("/", "."), floor)
                for room in cells[1].split(",")
            )
    assert drawn | {"_version": 0} == FLOOR_OF


# -- the tests themselves ------------------------------------------------------------------------------
TESTS = pathlib.Path(__file__).resolve().parent

ORIGINALS = {"_dumpparser", "_logparser", "_pycrfsuite"}
"""Modules of python-crfsuite whose names pickles and programs know: ours bear them, too."""

PUBLIC = {
    "_replace",
    "_fields",
    "_asdict",
    "_make",
    "_repr_html_",
    "_parent_callback_ctx",
}
"""Names that others have chosen: `NamedTuple`, IPython, scikit-learn."""

PATCHING = {"setattr", "getattr", "hasattr", "delattr"}


def private(name):
    return (
        name.startswith("_")
        and not name.startswith("__")
        and name != "_"
        and name not in PUBLIC
    )


def private_names(file):
    """(line, name) of each private attribute of something else that is read, written, patched or imported."""
    for node in nodes_of(file):
        if isinstance(node, ast.Attribute) and private(node.attr):
            if node.attr in FLOOR_OF:
                continue
            if not (
                isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            ):
                yield node.lineno, node.attr
        elif isinstance(node, ast.ImportFrom):
            yield from (
                (node.lineno, alias.name)
                for alias in node.names
                if private(alias.name) and alias.name not in FLOOR_OF
            )
        elif isinstance(node, ast.Call):
            called = (
                node.func.attr
                if isinstance(node.func, ast.Attribute)
                else getattr(node.func, "id", "")
            )
            for argument in node.args if called in PATCHING else ():
                if isinstance(argument, ast.Constant) and isinstance(
                    argument.value, str
                ):
                    if private(argument.value):
                        yield node.lineno, argument.value


def test_the_tests_look_inside_in_one_place():
    wrong = []
    for file in sorted(TESTS.rglob("*.py")):
        if file != TESTS / "inside.py":
            wrong += [
                f"{file.relative_to(TESTS)}:{line} {name}"
                for line, name in private_names(file)
            ]
    assert wrong == []


def test_the_tests_live_in_the_same_rooms():
    rooms = {
        path.name
        for path in TESTS.iterdir()
        if path.is_dir() and any(path.rglob("test_*.py"))
    }
    assert rooms <= set(FLOOR_OF)


def test_a_file_of_tests_is_about_one_thing():
    sizes = {
        str(file.relative_to(TESTS)): statements(tree_of(file))
        for file in TESTS.rglob("*.py")
    }
    assert {name: n for name, n in sizes.items() if n > MOST_OF_A_FILE} == {}


def named_tests(file):
    """The files of tests that bear the name of a module: test_X.py, or test_X_WHAT.py."""
    folder = TESTS / file.relative_to(PACKAGE).parent
    return [
        *folder.glob(f"test_{file.stem}.py"),
        *folder.glob(f"test_{file.stem}_*.py"),
    ]


def test_every_module_has_a_test_of_its_name():
    found = [
        path_of(file)
        for file in FILES
        if file.stem != "__init__"
        and file.parent != PACKAGE
        and not named_tests(file)
        and path_of(file) not in TESTED_ELSEWHERE
    ]
    assert found == []


def test_every_test_bears_the_name_of_a_module():
    known = {test for file in FILES for test in named_tests(file)}
    rooms = {path.name for path in PACKAGE.iterdir() if path.is_dir()}
    found = [
        str(test.relative_to(TESTS))
        for test in TESTS.rglob("test_*.py")
        if test.relative_to(TESTS).parts[0] in rooms and test not in known
    ]
    assert found == []


TESTED_ELSEWHERE = {
    "compat/sklearn_crfsuite/compat.py": "tests/compat/test___init__.py",
    "compat/sklearn_crfsuite/scorers.py": "tests/compat/test___init__.py",
    "compat/sklearn_crfsuite/utils.py": "tests/compat/sklearn_crfsuite/test_metrics.py",
    "features/encoder_fields.py": "tests/_saving/test_fields_page.py",
    "_data/types.py": "by mypy: names of types, of which nothing runs",
}
"""Modules without an idea of their own to test, and what tests them."""


def test_test_modules_do_not_import_each_other():
    """What several of them share is a module of its own."""
    wrong = []
    for file in sorted(TESTS.rglob("*.py")):
        for node in nodes_of(file):
            module = (
                getattr(node, "module", None)
                if isinstance(node, ast.ImportFrom)
                else None
            )
            if module is not None and module.split(".")[-1].startswith("test_"):
                wrong.append(f"{file.relative_to(TESTS)}:{node.lineno} {module}")
    assert wrong == []


def test_no_test_asserts_seconds():
    wrong = []
    for file in sorted(TESTS.rglob("*.py")):
        for node in nodes_of(file):
            if isinstance(node, ast.Assert):
                for part in ast.walk(node):
                    name = getattr(part, "attr", getattr(part, "id", ""))
                    if name in ("perf_counter", "process_time", "monotonic", "time"):
                        wrong.append(f"{file.relative_to(TESTS)}:{node.lineno}")
    assert wrong == []


DECORATORS = {
    "kernel", "kernel_any_order", "inline", "inline_any_order", "inline_fused", "spliced", "overload",
    "intrinsic",
}  # fmt: skip
GENERATOR = {"_core/compile.py", "_core/linking.py", "_core/passes.py"}


def kernels(file):
    """The functions that numba compiles; `overload` of `typing` has no arguments."""
    for node in nodes_of(file):
        if isinstance(node, ast.FunctionDef):
            names = list(map(ast.unparse, node.decorator_list))
            if "overload" not in names and DECORATORS & {
                name.split("(")[0] for name in names
            }:
                yield node


def origins(file):
    """Where the names come from that a file imports at its top from others of the package."""
    for node in tree_of(file).body:
        if isinstance(node, ast.ImportFrom) and node.level:
            folder = file.parents[node.level - 1].joinpath(
                *(node.module or "").split(".")
            )
            for alias in node.names:
                module = folder / f"{alias.name}.py"
                yield (
                    alias.asname or alias.name,
                    module if module.exists() else folder.with_suffix(".py"),
                )


def test_the_list_of_sources_of_kernels():
    """What kernels are made of, and nothing else: an error text elsewhere costs no compilation."""
    needed = set()
    for file in FILES:
        origin = dict(origins(file))
        for function in kernels(file):
            names = {
                node.id for node in ast.walk(function) if isinstance(node, ast.Name)
            }
            needed |= {file, *(origin[name] for name in names & origin.keys())}
    paths = {file.relative_to(PACKAGE).as_posix() for file in needed} | GENERATOR
    assert len(paths) > 40
    missing, idle = sorted(paths - set(SOURCES)), sorted(set(SOURCES) - paths)
    assert missing == [], f"add to SOURCES in _core/sources.py: {' '.join(missing)}"
    assert idle == [], (
        f"they make no kernel, strike out of SOURCES in _core/sources.py: {' '.join(idle)}"
    )
    assert len(SOURCES) == len(set(SOURCES))


def test_what_users_read_names_no_private_path():
    """Messages and texts of parameters; docstrings may, for who maintains."""
    found = []
    for file in FILES:
        texts = {
            id(node.value)
            for node in nodes_of(file)
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        }
        found += [
            f"{file.name}:{node.lineno}: {node.value!r}"
            for node in nodes_of(file)
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and "skstruct._" in node.value
            and id(node) not in texts
        ]
    assert not found
