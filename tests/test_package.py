"""The package as it is imported, installed and called."""

import ast
import importlib
import os
import pathlib
import re
import subprocess
import sys
import zipfile

import pytest
from forked import python
from inside import savable

import skstruct

ROOT = pathlib.Path(__file__).resolve().parent.parent


def run(*arguments, start=(sys.executable,)):
    return subprocess.run(
        [*start, *arguments], capture_output=True, encoding="utf-8", timeout=300
    )


def project():
    """The table ``[project]`` of ``pyproject.toml``."""
    tomllib = pytest.importorskip("tomllib", reason="Python 3.10 reads no TOML")
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]


def test_one_import_gives_all_public_modules():
    code = (
        "import skstruct\n"
        "words, labels = skstruct.datasets.load_entities()\n"
        "print(skstruct.inspection.explain.__name__, skstruct.metrics.word_f1_score.__name__, len(words))\n"
        "assert {'datasets', 'inspection', 'metrics'} <= set(dir(skstruct))\n"
    )
    done = run("-c", code, start=python())
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("explain word_f1_score ")
    assert all(hasattr(skstruct, name) for name in skstruct.__all__)
    with pytest.raises(
        AttributeError, match="module 'skstruct' has no attribute 'inspect'"
    ):
        skstruct.inspect  # noqa: B018


def test_what_is_imported_is_declared():
    """Other packages may be imported inside of functions only, where they are optional."""
    declared = {re.match(r"[\w-]+", line)[0] for line in project()["dependencies"]}
    declared = {{"scikit-learn": "sklearn"}.get(name, name) for name in declared}
    imported = set()
    for file in pathlib.Path(skstruct.__file__).parent.rglob("*.py"):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                imported.add(node.module.partition(".")[0])
    assert imported - set(sys.stdlib_module_names) - {"skstruct"} <= declared


def command():
    """The command as pip installs it."""
    module, name = project()["scripts"]["skstruct"].split(":")
    return [
        "-c",
        f"import sys; from {module} import {name}; sys.argv[0] = 'skstruct'; sys.exit({name}())",
    ]


@pytest.mark.parametrize(
    "arguments, code, out, err",
    [
        (["train", "--help"], 0, "usage: {program} train [-h]", ""),
        ([], 2, "", "usage: {program} COMMAND"),
        (["show", "-m", "no/such/model"], 1, "", "skstruct: error: no/such/model: "),
    ],
    ids=str,
)
def test_the_command_and_the_module(arguments, code, out, err):
    program, start = (
        ("python -m skstruct", ["-m", "skstruct"])
        if code == 2
        else ("skstruct", command())
    )
    done = run(*start, *arguments, start=python())
    assert done.returncode == code
    assert done.stdout.startswith(out.format(program=program)) and bool(out) == bool(
        done.stdout
    )
    assert done.stderr.startswith(err.format(program=program)) and bool(err) == bool(
        done.stderr
    )
    assert "Traceback" not in done.stderr


def test_names_are_imported_at_their_first_use():
    """`import skstruct` loads no other package; a tagger loads none of what it does not need."""
    code = (
        "import sys, skstruct\n"
        "print({'numpy', 'numba', 'sklearn'} & set(sys.modules))\n"
        "skstruct.StructuredPerceptron\n"
        "rooms = {name.split('.')[1] for name in sys.modules if name.startswith('skstruct.')}\n"
        "print(rooms & {'crf', 'words', 'parser', 'mixing', 'inspection', 'interchange', 'cli'})\n"
        "unneeded = {'sklearn.pipeline', 'sklearn.model_selection', 'sklearn.metrics'}\n"
        "print(unneeded & set(sys.modules))\n"
    )
    done = run("-c", code)
    assert done.stdout.splitlines() == ["set()", "set()", "set()"], done.stderr


def test_the_version_is_told_without_other_packages():
    done = run("-X", "importtime", "-m", "skstruct", "--version")
    assert done.stdout == f"skstruct {skstruct.__version__}\n"
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "skstruct.cli" in imported and not {"numpy", "numba", "sklearn"} & imported


def test_all_places_name_one_version():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## \[(.+?)\]", changes, re.MULTILINE).group(1)
    cited = re.search(r"^version: (\S+)$", citation, re.MULTILINE).group(1)
    assert newest == cited == skstruct.__version__


@pytest.mark.parametrize(
    "package", [skstruct, skstruct.features], ids=lambda package: package.__name__
)
def test_what_type_checkers_see_is_what_there_is(package):
    """The imports for type checkers name what is imported at its first use, from the same modules."""
    tree = ast.parse(pathlib.Path(package.__file__).read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    seen = {
        alias.name: getattr(
            importlib.import_module(
                "." * node.level + (node.module or ""), package.__name__
            ),
            alias.name,
        )
        for node in block.body
        for alias in node.names
        if alias.asname == alias.name
    }
    assert seen == {name: getattr(package, name) for name in package.__all__}
    assert {*package.__all__} <= {*dir(package)}


@pytest.mark.skipif(
    not hasattr(os, "fork"),
    reason="a process that has imported no model, twelve times over",
)
def test_each_kind_of_file_is_loaded_where_no_model_was_imported():
    folder = pathlib.Path(__file__).parent / "data_files"
    files = {
        type(skstruct.load(path)).__name__: path
        for path in sorted(folder.glob("*.skstruct"))
    }
    code = (
        "import os, sys, numba, skstruct\n"
        "for path in sys.argv[1:]:\n"
        "    if not os.fork():\n"
        "        assert 'skstruct._saving' not in sys.modules\n"
        "        print(type(skstruct.load(path)).__name__, flush=True)\n"
        "        os._exit(0)\n"
        "    assert os.wait()[1] == 0, path\n"
    )
    command = [*python(), "-c", code, *map(str, files.values())]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [*files] and {*files} == {*savable()}


def test_a_wheel_holds_the_parts_of_written_files(tmp_path):
    """Modules, and what is no module: the JavaScript, the page, the samples."""
    pytest.importorskip(
        "hatchling", reason="hatchling, which builds the wheel, is not installed"
    )
    if not (ROOT / "pyproject.toml").is_file():
        pytest.skip("the sources are not here")
    options = ["-q", "--no-deps", "--no-build-isolation", "-w", str(tmp_path)]
    done = run("-m", "pip", "wheel", *options, str(ROOT))
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    held = {
        name
        for name in zipfile.ZipFile(wheel).namelist()
        if name.startswith("skstruct/")
    }
    own = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "skstruct").rglob("*")
        if path.is_file()
    }
    assert held == {path for path in own if "__pycache__" not in path}
