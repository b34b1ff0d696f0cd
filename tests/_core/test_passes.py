"""The fewer passes that kernels go through hand LLVM the code that numba's own do."""

import json
import os
import re
import subprocess
import sys

import numba
import pytest

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")

PASSED_ON = """
import json, sys, types
import numpy as np
from numba.core import codegen
from skstruct._core import compile, linking, passes

{change}

given = []
add = codegen.CPUCodeLibrary.add_ir_module

def note(library, module):
    given.append(str(module))
    add(library, module)

codegen.CPUCodeLibrary.add_ir_module = note

import skstruct
words = [["the", "dog", "barks"], ["a", "cat", "sleeps"]] * 4
tags = [["D", "N", "V"]] * 8
skstruct.StructuredPerceptron(dropout=0.1, random_state=0).fit(words, tags)
print(json.dumps([given, [str(each[0].__name__) for each in seen]]))
"""
WATCH = """
seen = []
lean = passes.lean
def watched(pipeline):
    done = lean(pipeline)
    seen.extend(done.passes)
    return done
passes.lean = watched
"""
NUMBAS = """
seen = []
def unchanged(pipeline):
    seen.extend(pipeline.passes)
    return pipeline
passes.lean = unchanged
"""


def modules_and_passes(place, change):
    """What LLVM is given by a first fit, addresses of the process left out, and the
    names of the passes.
    """
    done = subprocess.run(
        [sys.executable, "-c", PASSED_ON.replace("{change}", change)],
        env={**os.environ, "NUMBA_CACHE_DIR": str(place)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    modules, passes = json.loads(done.stdout)
    addresses = r"dynamic\.globals\.[0-9a-f]+|\b[0-9]{12,}\b"
    return [re.sub(addresses, "", each) for each in modules], set(passes)


@pytest.mark.slow
def test_fewer_passes_give_llvm_the_same_code(tmp_path):
    ours, few = modules_and_passes(tmp_path / "a", WATCH)
    numbas, all_passes = modules_and_passes(tmp_path / "b", NUMBAS)
    assert len(ours) > 20
    assert ours == numbas
    assert all_passes - few == {
        "InlineClosureLikes", "InlineInlinables", "NopythonRewrites",
    }  # fmt: skip
