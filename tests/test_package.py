"""The package as it is imported, installed and called."""

import ast
import pathlib
import re
import subprocess
import sys
import zipfile

import pytest

import skstruct

ROOT = pathlib.Path(__file__).resolve().parent.parent


def run(*arguments):
    return subprocess.run([sys.executable, *arguments], capture_output=True, encoding="utf-8", timeout=300)


def project():
    """The table ``[project]`` of ``pyproject.toml``."""
    tomllib = pytest.importorskip("tomllib", reason="Python 3.10 reads no TOML")
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_one_import_gives_all_public_modules():
    code = (
        "import skstruct\n"
        "words, labels = skstruct.datasets.load_entities()\n"
        "print(skstruct.inspection.explain.__name__, skstruct.metrics.word_f1_score.__name__, len(words))\n"
        "assert {'datasets', 'inspection', 'metrics'} <= set(dir(skstruct))\n"
    )
    done = run("-c", code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("explain word_f1_score ")
    assert all(hasattr(skstruct, name) for name in skstruct.__all__)
    with pytest.raises(AttributeError, match="module 'skstruct' has no attribute 'inspect'"):
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
    return ["-c", f"import sys; from {module} import {name}; sys.argv[0] = 'skstruct'; sys.exit({name}())"]


@pytest.mark.parametrize(
    "arguments, code, out, err",
    [
        (["train", "--help"], 0, "usage: {program} train [-h]", ""),
        ([], 2, "", "usage: {program} [-h]"),
        (["show", "-m", "no/such/model"], 1, "", "skstruct: error: no/such/model: "),
    ],
    ids=str,
)
def test_the_command_and_the_module(arguments, code, out, err):
    for program, start in (("skstruct", command()), ("python -m skstruct", ["-m", "skstruct"])):
        done = run(*start, *arguments)
        assert done.returncode == code
        assert done.stdout.startswith(out.format(program=program)) and bool(out) == bool(done.stdout)
        assert done.stderr.startswith(err.format(program=program)) and bool(err) == bool(done.stderr)
        assert "Traceback" not in done.stderr


def test_modules_stay_importable():
    """Where scripts import them from, whatever folder they stand in by now."""
    code = (
        "from skstruct import datasets, features, inspection, metrics\n"
        "import skstruct.data.presets, skstruct.data.accessor, skstruct.data.schemes\n"
        "from skstruct.data import parser_templates, presets\n"
        "from skstruct.data.presets import PRESETS\n"
        "from skstruct.data.accessor import AccessorVariety\n"
        "from skstruct.data.schemes import convert_scheme, labels_to_words\n"
        "from skstruct.data.parser_templates import template_lines\n"
        "assert presets.PRESETS is PRESETS and skstruct.data.presets is presets\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_wheel_holds_the_parts_of_written_files(tmp_path):
    """Modules, and what is no module: the JavaScript, the page, the samples."""
    pytest.importorskip("hatchling", reason="hatchling, which builds the wheel, is not installed")
    if not (ROOT / "pyproject.toml").is_file():
        pytest.skip("the sources are not here")
    options = ["-q", "--no-deps", "--no-build-isolation", "-w", str(tmp_path)]
    done = run("-m", "pip", "wheel", *options, str(ROOT))
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    held = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("skstruct/")}
    own = {path.relative_to(ROOT).as_posix() for path in (ROOT / "skstruct").rglob("*") if path.is_file()}
    assert held == {path for path in own if "__pycache__" not in path}
