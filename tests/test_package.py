"""The package as it is imported, installed and called."""

import ast
import importlib
import json
import os
import pathlib
import re
import shutil
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


def imported_by(file):
    """The modules that a file imports outside of functions, and the modules of the
    package among them.
    """
    package = pathlib.Path(skstruct.__file__).parent
    folder = ("skstruct", *file.relative_to(package).parts[:-1])
    names = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = folder[: len(folder) + 1 - node.level] if node.level else ()
            name = ".".join([*above, *filter(None, [node.module])])
            names |= {name, *(f"{name}.{alias.name}" for alias in node.names)}
    return names


def test_what_is_imported_is_declared():
    """Other packages are optional: only functions import them, and modules that only
    functions import.
    """
    declared = {re.match(r"[\w-]+", line)[0] for line in project()["dependencies"]}
    declared = {{"scikit-learn": "sklearn"}.get(name, name) for name in declared}
    known = declared | set(sys.stdlib_module_names) | {"skstruct"}
    package = pathlib.Path(skstruct.__file__).parent
    imports = {
        ".".join(["skstruct", *file.relative_to(package).with_suffix("").parts]): (
            imported_by(file)
        )
        for file in package.rglob("*.py")
    }
    everywhere = set().union(*imports.values())
    for module, names in imports.items():
        others = {name.partition(".")[0] for name in names} - known
        assert not others or module not in everywhere, (module, others)


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


def build_wheel(folder, **environment):
    """The path of a wheel of the sources."""
    pytest.importorskip(
        "hatchling", reason="hatchling, which builds the wheel, is not installed"
    )
    if not (ROOT / "pyproject.toml").is_file():
        pytest.skip("the sources are not here")
    options = ["-q", "--no-deps", "--no-build-isolation", "-w", str(folder)]
    command = [sys.executable, "-m", "pip", "wheel", *options, str(ROOT)]
    done = subprocess.run(
        command,
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, **environment},
        timeout=1800,
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = folder.glob("*.whl")
    return wheel


def test_a_wheel_holds_the_parts_of_written_files(tmp_path):
    """Modules, and what is no module: the JavaScript, the page, the samples; no kernels."""
    wheel = build_wheel(tmp_path)
    assert wheel.name.endswith("-py3-none-any.whl")
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


FIRST_USE = """
import json, sys, warnings
warnings.simplefilter("error")
import numba
numba.__version__ = sys.argv[1] or numba.__version__
import skstruct
from skstruct._core.compile import cache_counts
texts, spans = ["The dog barks.", "Ann sleeps."] * 4, [[(4, 7, "PET")], [(0, 3, "NAME")]] * 4
tagger = skstruct.SpanTagger().fit(texts, spans)
crf = skstruct.SpanTagger(skstruct.L1CRF()).fit(texts, spans)
found = [[list(span) for span in spans] for model in (tagger, crf) for spans in model.predict(texts)]
print(json.dumps([skstruct.__file__, *cache_counts(), found]))
"""


@pytest.mark.slow
def test_a_wheel_with_kernels_compiles_nothing(tmp_path):
    """Where all is as it was; with another numba, or for a damaged file, kernels are compiled."""
    path = build_wheel(tmp_path, HATCH_BUILD_HOOK_ENABLE_CUSTOM="true")
    assert not path.name.endswith("-any.whl")
    site = tmp_path / "site"
    with zipfile.ZipFile(path) as wheel:
        wheel.extractall(site)

    def first_use(number, numba=""):
        home = tmp_path / f"home{number}"
        home.mkdir()
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("NUMBA_", "XDG_"))
        }
        done = subprocess.run(
            [sys.executable, "-c", FIRST_USE, numba],
            capture_output=True,
            encoding="utf-8",
            env={
                **environment,
                "HOME": str(home),
                "LOCALAPPDATA": str(home),
                "PYTHONPATH": str(site),
                "PYTHONDONTWRITEBYTECODE": "1",
            },
            cwd=tmp_path,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        place, loaded, compiled, found = json.loads(done.stdout)
        assert place == str(site / "skstruct/__init__.py")
        shutil.rmtree(site / "skstruct/__pycache__", ignore_errors=True)
        return loaded, compiled, found

    loaded, compiled, found = first_use(0)
    assert loaded > 10 and compiled == 0
    loads, compiles, same = first_use(1, numba="0.0.0")
    assert loads == 0 and compiles > loaded and same == found
    damaged = [*site.glob("skstruct/_kernels/*/*/*_chain.chain_epoch.predict_small-*")]
    assert damaged
    for path in damaged:
        code = bytearray(path.read_bytes())
        code[len(code) // 2] ^= 4
        path.write_bytes(code)
    loads, compiles, same = first_use(2)
    assert loads > 0 and compiles > 0 and same == found
