"""A fixed set of random cases, with bounds checks in the kernels: see the package
`fuzz`.
"""

import importlib
import os
import pathlib
import re
import subprocess
import sys

import pytest
from fuzz.cases import SMALL

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent


@pytest.mark.slow
def test_random_cases(tmp_path):
    """A process of its own: numba reads its settings when it is imported."""
    command = [sys.executable, "-m", "tests.fuzz", "--rounds", "3", "--seed", "20"]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        command, cwd=REPOSITORY, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    counts = re.findall(
        r"^  (\w+) +(\d+) ok, (\d+) refused, 0 fault$", done.stdout, re.MULTILINE
    )
    assert len(counts) > 20 and all(
        int(ok) > 0 and int(ok) + int(no) == 3 for _, ok, no in counts
    ), counts


def test_small_constants_are_those_of_the_package():
    for path, values in SMALL.items():
        module = importlib.import_module(f"skstruct.{path}")
        for name, small in values.items():
            assert 0 < small < getattr(module, name), f"{path}.{name}"
