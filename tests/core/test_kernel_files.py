"""The files of compiled kernels: their names, and what is in them."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numba
import pytest
from toy_package import folders_in, place, run_kernels, run_python

__all__ = ["place"]  # a fixture

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")

# Stops each process before it puts its first file in place until the other is as far; the first process puts
# its second file, if it has one, in place when the other one is done.
AT_ONCE = """
import os, sys, time
import numpy as np
from toy import caller
kind, other, waits = sys.argv[1:]
put, count = os.replace, 0

def wait_for(name):
    until = time.monotonic() + 100
    while not os.path.exists(name) and time.monotonic() < until:
        time.sleep(0.01)

def replace(source, target):
    global count
    count += 1
    if count == 1:
        open(f"{kind}.ready", "w").close()
        wait_for(f"{other}.ready")
    elif waits == "1":
        wait_for(f"{other}.done")
    put(source, target)

os.replace = replace
caller.half(np.array([7], kind))
open(f"{kind}.done", "w").close()
"""


def test_two_signatures_of_a_kernel_compiled_by_two_processes_at_once(place):
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda given: run_python(place, AT_ONCE, *given), [("i8", "f8", 1), ("f8", "i8", 0)]))
    script = """
import numpy as np
from toy import caller
print(*(float(caller.half(np.array([7], kind))) for kind in ("f8", "i8")))
print(sum(caller.half.stats.cache_misses.values()))
"""
    assert run_python(place, script) == "3.5 3.5\n0\n"


def test_bounds_checks_have_a_cache_of_their_own(place):
    script = """
import numpy as np
from toy import caller
try:
    caller.pick(np.zeros(2), np.int64(int("5")))
except IndexError as error:
    print("IndexError")
print(sum(caller.pick.stats.cache_misses.values()))
"""
    run_python(place, script)
    assert run_python(place, script, NUMBA_BOUNDSCHECK="1") == "IndexError\n1\n"
    assert run_python(place, script, NUMBA_BOUNDSCHECK="1") == "IndexError\n0\n"
    assert run_python(place, script) == "0\n"
    assert run_python(place, script, NUMBA_OPT="2", NUMBA_DEBUGINFO="1") == "1\n"
    plain, *others = sorted(folders_in(place / "code/toy/__pycache__"))
    assert others == [f"{plain}-boundscheck-1", f"{plain}-debuginfo_default-1-opt-2"]


@pytest.mark.parametrize("spoil", [lambda code: code[: len(code) // 2], lambda code: b""])
def test_damaged_file_is_compiled_again(place, spoil):
    first = run_kernels(place, "double")
    for file in Path(first["folders"][0]).glob("*double*"):
        file.write_bytes(spoil(file.read_bytes()))
    assert run_kernels(place, "double") == {**first, "compiled": ["double"]}
    assert run_kernels(place, "double") == {**first, "compiled": []}


def test_a_changed_code_generator_compiles_again_and_an_error_text_does_not(place):
    first = run_kernels(place, "double")
    errors = place / "code/toy/errors.py"
    errors.write_text(errors.read_text().replace("wrong", "something else is wrong"))
    assert run_kernels(place, "double") == {**first, "compiled": []}
    generator = place / "code/toy/core/linking.py"
    generator.write_text(generator.read_text() + "\n# another one\n")
    assert run_kernels(place, "double")["compiled"] == ["double"]
