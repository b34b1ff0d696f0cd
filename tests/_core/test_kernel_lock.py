"""A kernel that several processes need at once is compiled by one of them."""

import json
import subprocess
import sys

import pytest
from toy_package import place, read_only, run_kernels, run_python

from skstruct._core import kernel_lock
from skstruct._core.kernel_lock import KernelLock

__all__ = ["place", "read_only"]  # fixtures

pytestmark = pytest.mark.skipif(kernel_lock.fcntl is None, reason="no file locks")

HOLDER = """
import sys, time
from skstruct._core.kernel_lock import KernelLock
lock = KernelLock()
assert not lock.acquire(sys.argv[1])
print("held", flush=True)
sys.stdin.readline()
{end}
"""


def hold(path, end="lock.release()"):
    """A process that has the lock until it reads a line."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER.format(end=end), str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "held\n"
    return process


def waits(monkeypatch, path, process):
    """Take the lock; the other process goes on as soon as somebody waits for it."""

    def pause(seconds):
        if not process.stdin.closed:
            process.communicate("go on\n", timeout=60)

    monkeypatch.setattr(kernel_lock.time, "sleep", pause)
    lock = KernelLock()
    waited = lock.acquire(str(path))
    lock.release()
    return waited


@pytest.mark.parametrize("end", ["lock.release()", "import os; os._exit(9)"])
def test_who_comes_second_waits_until_the_other_has_done_or_died(
    tmp_path, monkeypatch, end
):
    assert waits(monkeypatch, tmp_path / "kernel", hold(tmp_path / "kernel", end))
    assert not [*tmp_path.iterdir()] or end != "lock.release()"


def test_who_comes_first_and_who_comes_later_do_not_wait(tmp_path):
    for _ in range(2):
        lock = KernelLock()
        assert not lock.acquire(str(tmp_path / "kernel"))
        lock.release()
    assert not [*tmp_path.iterdir()]


def test_nobody_waits_for_ever(tmp_path, monkeypatch):
    process = hold(tmp_path / "kernel")
    monkeypatch.setattr(kernel_lock, "LONGEST_WAIT", 0.0)
    lock = KernelLock()
    assert lock.acquire(str(tmp_path / "kernel"))
    lock.release()  # not held: the other one keeps it
    assert KernelLock().acquire(str(tmp_path / "kernel"))
    process.communicate("go on\n", timeout=60)


def test_where_nothing_can_be_written_nobody_waits(tmp_path):
    assert not KernelLock().acquire(str(tmp_path / "absent" / "kernel"))


def test_one_of_several_processes_compiles(place):
    """Workers that start together compile as many kernels as one alone."""
    script = """
import json, multiprocessing
def run(x):
    from toy import caller
    started.wait()
    return float(caller.add(x)), caller.counts()
started = multiprocessing.get_context("fork").Barrier(3)
with multiprocessing.get_context("fork").Pool(3) as pool:
    print(json.dumps(pool.map(run, [40] * 3, chunksize=1)))
"""
    with open(place / "code/toy/caller.py", "a") as file:
        file.write(
            "\n\ndef counts():\n"
            "    from .core.compile import cache_counts\n\n    return cache_counts()\n"
        )
    found = json.loads(run_python(place, script))
    assert [value for value, _ in found] == [41.0] * 3
    compiled = sorted(compiled for _, (_, compiled) in found)
    assert compiled[:2] == [0, 0] and compiled[2] > 0
    assert run_kernels(place, "add")["compiled"] == []


@pytest.mark.parametrize("error", ["TypeError", "KeyboardInterrupt"])
def test_who_fails_to_compile_lets_others_try(place, error):
    with open(place / "code/toy/caller.py", "a") as file:
        file.write("\n\n@kernel\ndef wrong(x):\n    return x.missing + amount()\n")
    script = f"""
import sys
from pathlib import Path
from numba.core import compiler
from toy import caller
def compile_extra(self, func):
    raise {error}
if "{error}" != "TypeError":
    compiler.Compiler.compile_extra = compile_extra
try:
    caller.wrong(40)
except BaseException as error:
    print(type(error).__name__, *Path(sys.argv[1]).rglob("*.lock"))
"""
    # numba's of a kernel that is wrong, and no file of a lock
    assert run_python(place, script, place).split() in (["TypingError"], [error])
