"""Helpers of kernels are compiled for linking alone, or by numba itself if its insides are not as known."""

import json
import os
import subprocess
import sys

import numba
import pytest

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")

TOY = """
from skstruct.core.compile import inline, kernel

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
from skstruct.core.compile import cache_counts
value = getattr(toy, "{name}")(2)
(helper,) = toy.more.overloads.values()
print(json.dumps([value, type(helper.library).__module__, cache_counts()]))
"""


def run(place, name, change=""):
    """[value of a kernel, who made a library of a helper, [loaded, compiled]] under a changed numba."""
    (place / "toy.py").write_text(TOY)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(place / "cache")}
    paths = str(place), *filter(None, [os.environ.get("PYTHONPATH")])
    done = subprocess.run(
        [sys.executable, "-c", RUN.replace("{change}", change).replace("{name}", name)],
        env={**environment, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_helpers_are_for_linking_alone(tmp_path):
    assert run(tmp_path, "seven") == [7, "skstruct.core.linking", [0, 3]]
    assert run(tmp_path, "nine") == [9, "skstruct.core.linking", [2, 1]]


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
