"""``install`` answers whatever import the originals answer, and nothing is lost by the
other names.

Modules, names and members are listed from the installed originals, so that a new
release is noticed.
"""

import json
import pkgutil
import subprocess

import pytest
from forked import python

from skstruct import compat

LIST = """
import importlib, json, pkgutil, types
found = {}
for package in ("pycrfsuite", "sklearn_crfsuite"):
    module = importlib.import_module(package)
    below = pkgutil.iter_modules(module.__path__, package + ".")
    names = [package] + [each.name for each in below]
    for name in names:
        module, found[name] = importlib.import_module(name), {}
        for key, value in vars(module).items():
            room = getattr(value, "__module__", name)
            first = str(room).partition(".")[0]
            is_own = first in ("pycrfsuite", "sklearn_crfsuite")
            if key.startswith("_") or isinstance(value, types.ModuleType) or not is_own:
                continue
            members = dir(value) if isinstance(value, type) else []
            # Less the steps of a reader that is written otherwise here.
            less = "_", "handle_", "parse_"
            found[name][key] = [m for m in members if not m.startswith(less)]
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def names():
    """{module: {public name: public members of a class}}, of both originals."""
    pytest.importorskip("sklearn_crfsuite")
    done = subprocess.run(
        [*python(), "-c", LIST], check=True, capture_output=True, text=True
    )
    return json.loads(done.stdout)


def run_installed(code, *arguments):
    head = "import sys, json, skstruct.compat; skstruct.compat.install()\n"
    command = [*python(), "-c", head + code, *map(json.dumps, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_all_modules_and_names_can_be_imported(names):
    assert {"pycrfsuite._logparser", "sklearn_crfsuite.trainer"} <= names.keys()
    assert sum(map(len, names.values())) > 20
    run_installed(
        """
for name, members in json.loads(sys.argv[1]).items():
    parent, _, last = name.rpartition(".")
    forms = [f"import {name} as module", f"import {name}; module = {name}"]
    if parent:
        forms.append(f"from {parent} import {last} as module")
    for form in forms:
        space = {}
        exec(form, space)
        assert space["module"] is sys.modules[name], form
        assert space["module"].__name__ == f"skstruct.compat.{name}"
    for key, expected in members.items():
        space = {}
        exec(f"from {name} import {key} as found", space)
        lacking = [each for each in expected if not hasattr(space["found"], each)]
        assert not lacking, (name, key, lacking)
""",
        names,
    )


def test_no_module_of_ours_is_outside_of_the_table():
    walked = [each.name for each in pkgutil.walk_packages(compat.__path__, "")]
    theirs = {name for name in walked if name in ("pycrfsuite", "sklearn_crfsuite")}
    for package in tuple(theirs):
        path = [f"{folder}/{package}" for folder in compat.__path__]
        theirs |= {each.name for each in pkgutil.iter_modules(path, f"{package}.")}
    assert theirs == set(compat.MODULES)


def test_names_that_moved_answer_where_pickles_look_for_them():
    from skstruct.compat.pycrfsuite import Tagger
    from skstruct.compat.sklearn_crfsuite._fileresource import FileResource
    from skstruct.compat.sklearn_crfsuite.estimator import FileResource as before

    assert before is FileResource and Tagger.__name__ == "Tagger"


def test_the_dump_is_read_line_by_line(tmp_path):
    from skstruct.compat import pycrfsuite
    from skstruct.compat.pycrfsuite._dumpparser import CRFsuiteDumpParser

    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.append(
        [{"w": "a --> b"}, {"w": "x: 1 "}, {"w": " = {"}], ["A", "B: C", "}"]
    )
    trainer.train(str(tmp_path / "model"))
    with pycrfsuite.Tagger().open(str(tmp_path / "model")) as tagger:
        tagger.dump(str(tmp_path / "dump"))
        info, parser = tagger.info(), CRFsuiteDumpParser()
    for line in (tmp_path / "dump").read_text().splitlines(keepends=True):
        parser.feed(line)
    found = parser.result
    assert (found.header, found.labels, found.attributes) == (
        info.header,
        info.labels,
        info.attributes,
    )
    assert found.state_features == pytest.approx(info.state_features, abs=1e-6)
    assert found.transitions == pytest.approx(info.transitions, abs=1e-6)


def test_install_replaces_the_originals():
    run_installed(
        """
import pycrfsuite, sklearn_crfsuite.metrics
assert pycrfsuite.Tagger.__module__.startswith("skstruct")
assert sklearn_crfsuite.CRF.__module__.startswith("skstruct")
"""
    )


def test_install_is_refused_after_an_import_of_the_originals():
    code = """
import sys, types
sys.modules["pycrfsuite"] = types.ModuleType("pycrfsuite")
import skstruct.compat
try:
    skstruct.compat.install()
except ImportError as error:
    assert "imported already" in str(error)
    assert "sklearn_crfsuite" not in sys.modules
else:
    raise AssertionError
"""
    subprocess.run([*python(), "-c", code], check=True)
