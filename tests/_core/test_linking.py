"""Helpers of kernels are compiled for linking alone, or by numba itself if its insides
are not as known.
"""

import json
import os
import subprocess
import sys

import numba
import pytest

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")

TOY = """
from skstruct._core.compile import inline, kernel

@inline
def twice(x):
    return x + x

@inline
def more(x):
    return twice(x) + 1

@kernel
def seven(x):
    return more(x) + twice(x) - 2

@kernel
def nine(x):
    return more(x) + twice(x)
"""

RUN = """
import inspect, json, textwrap
from numba.core import codegen

def rename(old, new):
    classes = codegen.CodeLibrary, codegen.CPUCodeLibrary, codegen.JITCodeLibrary
    source = "".join(textwrap.dedent(inspect.getsource(each)) for each in classes)
    assert old in source
    exec(source.replace(old, new), vars(codegen))
    codegen.JITCPUCodegen._library_class = codegen.JITCodeLibrary

{change}

import toy
from skstruct._core.compile import cache_counts
value = getattr(toy, "{name}")(2)
(helper,) = toy.more.overloads.values()
print(json.dumps([value, type(helper.library).__module__, cache_counts()]))
"""


def run_script(place, script):
    """What a script prints, with a cache of its own."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(place / "cache")}
    paths = str(place), *filter(None, [os.environ.get("PYTHONPATH")])
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**environment, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def run(place, name, change=""):
    """[value of a kernel, who made a library of a helper, [loaded, compiled]] under a
    changed numba.
    """
    (place / "toy.py").write_text(TOY)
    return json.loads(
        run_script(place, RUN.replace("{change}", change).replace("{name}", name))
    )


def test_helpers_are_for_linking_alone(tmp_path):
    assert run(tmp_path, "seven") == [7, "skstruct._core.linking", [0, 3]]
    assert run(tmp_path, "nine") == [9, "skstruct._core.linking", [2, 1]]


# Modules of numba that are none of those that it documents cannot be imported by the
# package.
NO_INSIDES = """
import builtins
load = builtins.__import__

def refuse(name, globals=None, *more, **options):
    inside = name.split(".")[0] in ("numba", "llvmlite") and name not in ("numba", "numba.extending")
    if inside and (globals or {}).get("__name__", "").startswith("skstruct"):
        raise ImportError(name)
    return load(name, globals, *more, **options)

builtins.__import__ = refuse
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        "del codegen.JITCodeLibrary",
        "rename('_finalize_final_module', '_finish')",
        "rename('_finalized', '_is_final')",
        "import numba; numba.version_info = numba.version_info._replace(short=(0, 99))",
    ],
)
def test_where_numba_is_another_one_it_compiles_helpers_itself(change, tmp_path):
    assert run(tmp_path, "seven", change) == [7, "numba.core.codegen", [0, 3]]
    assert run(tmp_path, "nine", change) == [9, "numba.core.codegen", [2, 1]]


@pytest.mark.slow
def test_without_numbas_insides_each_process_compiles(tmp_path):
    for _ in range(2):
        assert run(tmp_path, "seven", NO_INSIDES) == [7, "numba.core.codegen", [0, 3]]


@pytest.mark.slow
def test_models_are_the_same_without_numbas_insides(tmp_path):
    """A tagger, and a parser, which asks for memory ahead of its use."""
    script = """
import skstruct
X = [[("the", "D"), ("dog", "N"), ("barks", "V")], [("cats", "N"), ("sleep", "V")]] * 3
y = [[(2, "det"), (3, "subj"), (0, "root")], [(2, "subj"), (0, "root")]] * 3
tags = [[tag for _, tag in x] for x in X]
tagger = skstruct.StructuredPerceptron("auto", random_state=0).fit(X, tags)
parser = skstruct.ShiftReduceParser(beam_size=2, max_iter=3, random_state=0).fit(X, y)
print(tagger.predict_kbest(X[:2], 2), parser.predict(X[:2]), parser.decision_function(X[:2]))
"""
    outputs = [run_script(tmp_path, change + script) for change in ("", NO_INSIDES)]
    assert outputs[0] == outputs[1] and "root" in outputs[0]
