"""The structure of the package: which folder may import which, and what a file may hold.

Folders stand on floors. A file imports from its own folder and from lower floors; folders on the same floor
do not know each other. `docs/architecture.md` draws the same table.
"""

import ast
import pathlib

import pytest

import skstruct
from skstruct._core.sources import SOURCES

PACKAGE = pathlib.Path(skstruct.__file__).resolve().parent

FLOORS = (
    ("_version", "_names", "core"),
    ("data",),
    ("_sklearn",),
    ("saving", "metrics"),
    ("formats",),
    ("features", "training"),
    ("cluster",),
    ("chain", "words", "parser"),
    ("taggers", "crf.solver"),
    ("crf", "mixing", "reranker"),
    ("interchange",),
    ("inspection",),
    ("datasets", "_warming"),
    ("serving",),
    ("cli", "compat"),
)
"""Folders and top-level modules from the ground up."""

FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}

FILES = sorted(PACKAGE.rglob("*.py"))


def module_name(file):
    """``("skstruct", "core", "store")`` of a file; a package is named by its folder."""
    parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


def imported(file):
    """(line, module) of every import of the package's own modules, those inside functions too."""
    name = module_name(file)
    package = name if file.name == "__init__.py" else name[:-1]
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
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


def test_every_file_stays_short():
    long = {
        str(file.relative_to(PACKAGE)): n
        for file in FILES
        if (n := len(file.read_text(encoding="utf-8").splitlines())) > 400
    }
    assert long == {}


def function_bodies():
    for file in FILES:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                body = node.body
                if isinstance(body[0], ast.Expr) and isinstance(
                    body[0].value, ast.Constant
                ):
                    body = body[1:]
                if body:
                    yield file, node, body[-1].end_lineno - body[0].lineno + 1


LONG_FOR_SPEED = {"_words/word_beam.py search"}
"""Cut into four kernels it took 10 to 20 % longer (`docs/decisions.md`)."""


def test_every_function_stays_short():
    long = [
        f"{file.relative_to(PACKAGE)}:{node.lineno} {node.name} {n}"
        for file, node, n in function_bodies()
        if n > 60
        and f"{file.relative_to(PACKAGE).as_posix()} {node.name}" not in LONG_FOR_SPEED
    ]
    assert long == []


def test_private_names_stay_at_home():
    """A name with an underscore in front is imported by files of its own folder at most."""
    wrong = []
    for file in FILES:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module != "__future__":
                for alias in node.names:
                    private = alias.name.startswith("_") and not alias.name.startswith(
                        "__"
                    )
                    if private and (
                        node.level or (node.module or "").startswith("skstruct")
                    ):
                        if alias.name not in FLOOR_OF:
                            wrong.append(
                                f"{file.relative_to(PACKAGE)}:{node.lineno} {alias.name}"
                            )
    assert wrong == []


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


def private_names(tree):
    """(line, name) of each private attribute of something else that is read, written, patched or imported."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and private(node.attr):
            if not (
                isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            ):
                yield node.lineno, node.attr
        elif isinstance(node, ast.ImportFrom):
            yield from (
                (node.lineno, alias.name) for alias in node.names if private(alias.name)
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
            tree = ast.parse(file.read_text(encoding="utf-8"))
            wrong += [
                f"{file.relative_to(TESTS)}:{line} {name}"
                for line, name in private_names(tree)
            ]
    assert wrong == []


def test_the_tests_live_in_the_same_rooms():
    rooms = {
        path.name
        for path in TESTS.iterdir()
        if path.is_dir() and any(path.rglob("test_*.py"))
    }
    assert rooms <= set(FLOOR_OF)


def test_every_file_of_tests_stays_short():
    lines = {
        file: len(file.read_text(encoding="utf-8").splitlines())
        for file in TESTS.rglob("*.py")
    }
    assert {
        str(file.relative_to(TESTS)): n for file, n in lines.items() if n > 400
    } == {}


def test_test_modules_do_not_import_each_other():
    """What several of them share is a module of its own."""
    wrong = []
    for file in sorted(TESTS.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
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
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
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
GENERATOR = {"_core/compile.py", "_core/linking.py"}


def kernels(file):
    """The functions that numba compiles; `overload` of `typing` has no arguments."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            names = list(map(ast.unparse, node.decorator_list))
            if "overload" not in names and DECORATORS & {
                name.split("(")[0] for name in names
            }:
                yield node


def origins(file):
    """Where the names come from that a file imports at its top from others of the package."""
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
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
