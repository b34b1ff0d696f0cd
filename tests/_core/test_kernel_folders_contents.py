"""The files of compiled kernels: their names, and what is in them."""

import os
import shutil
import stat
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import numba
import pytest
from toy_package import folders_in, place, read_only, run_kernels, run_python

__all__ = ["place", "read_only"]  # fixtures

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")

# Stops each process before it puts its first file in place until the other is as far;
# the first process puts its second file, if it has one, in place when the other one is
# done.
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
        list(
            pool.map(
                lambda given: run_python(place, AT_ONCE, *given),
                [("i8", "f8", 1), ("f8", "i8", 0)],
            )
        )
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


def flip(part):
    """Flip a bit at a part of a file's length."""

    def spoil(code):
        at = int(part * (len(code) - 1))
        return code[:at] + bytes([code[at] ^ 4]) + code[at + 1 :]

    return spoil


SPOIL = lambda code: code[: len(code) // 2], lambda code: b"", flip(0), flip(0.1)


@pytest.mark.parametrize(
    "spoil",
    [flip(0.6), *(pytest.param(each, marks=pytest.mark.slow) for each in SPOIL)],
)
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


def test_a_damaged_file_that_cannot_be_replaced_is_passed_over(place, read_only):
    first = run_kernels(place, "double")
    for file in Path(first["folders"][0]).glob("*double*"):
        file.write_bytes(flip(0.6)(file.read_bytes()))
    read_only("code")
    again = run_kernels(place, "double")
    assert again["values"] == [80] and again["compiled"] == ["double"]
    assert Path(again["folders"][0]).is_relative_to(place / "home")
    assert run_kernels(place, "double") == {**again, "compiled": []}


def test_a_file_is_of_the_folder_it_was_written_to(place):
    """A folder of kernels with bounds checks that takes the name of one without has
    none of these.
    """
    checked = run_kernels(place, "add", NUMBA_BOUNDSCHECK="1")["folders"][0]
    Path(checked).rename(checked.removesuffix("-boundscheck-1"))
    assert run_kernels(place, "add")["compiled"] == ["add"]


on_posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")

SOMEBODY = 12345


def give_away(path):
    try:
        os.chown(path, SOMEBODY, -1)
    except PermissionError:
        pytest.skip("only root can give a file to another user")


def open_to_all(path):
    path.chmod(0o777 if path.is_dir() else 0o666)


def open_to_group(path):
    path.chmod(0o775 if path.is_dir() else 0o664)


def replace_by_link(path):
    path.rename(path.with_name("real"))
    path.symlink_to("real")


def files_of(folder):
    """The files of a folder, one by one."""
    return list(Path(folder).iterdir())


def the_folder(folder):
    return [Path(folder)]


SPOILED = [
    (give_away, the_folder, False),
    (open_to_group, files_of, False),
    *(
        pytest.param(*each, marks=pytest.mark.slow)
        for each in [
            (open_to_group, the_folder, False),
            (replace_by_link, the_folder, False),
            (give_away, files_of, False),
            (open_to_all, the_folder, True),
        ]
    ),
]


@on_posix
@pytest.mark.parametrize("spoil, of, chosen", SPOILED)
def test_kernels_that_others_can_write_are_not_read(place, spoil, of, chosen):
    """A cache is code. What is not read is compiled, and kept where others cannot
    write.
    """
    settings = {"NUMBA_CACHE_DIR": str(place / "chosen")} if chosen else {}
    first = run_kernels(place, "add", **settings)
    assert first["compiled"] == ["add"]
    for path in of(first["folders"][0]):
        spoil(path)
    again = run_kernels(place, "add", **settings)
    assert again["values"] == [41] and again["compiled"] == ["add"]
    if of is files_of:  # they are replaced
        assert again["folders"] == first["folders"]
        assert {
            stat.S_IMODE(path.stat().st_mode) & 0o022
            for path in files_of(first["folders"][0])
        } == {0}
    else:
        parent = "code/toy/__pycache__" if chosen else "home"
        assert Path(again["folders"][0]).is_relative_to(place / parent)
        assert [
            "since others can write to it" in text for text in again["warnings"]
        ] == [True] * chosen
    assert run_kernels(place, "add", **settings) == {**again, "compiled": []}


@on_posix
def test_a_package_that_a_group_can_write_to_has_kernels_that_it_can_write_to(place):
    """Who can change the package can do no more by its kernels."""
    folder = Path(run_kernels(place, "add")["folders"][0])
    (place / "code/toy").chmod(0o775)
    for path in (folder, *files_of(folder)):
        open_to_group(path)
    assert run_kernels(place, "add")["compiled"] == []
    for path in (folder, *files_of(folder)):
        open_to_all(path)
    assert run_kernels(place, "add")["compiled"] == ["add"]


@on_posix
def test_kernels_of_whom_the_package_belongs_to(place):
    """As in an image that another user runs than the one who built it."""
    folder = Path(run_kernels(place, "add")["folders"][0])
    for path in (place / "code/toy", folder, *files_of(folder)):
        give_away(path)
    assert run_kernels(place, "add")["compiled"] == []


@on_posix
def test_a_mask_that_lets_a_group_write(place):
    """The user's group, on many systems; others may be in it."""
    mask = os.umask(0o002)
    try:
        first = run_kernels(place, "add")
        assert run_kernels(place, "add") == {**first, "compiled": []}
    finally:
        os.umask(mask)
    folder = Path(first["folders"][0])
    assert {
        stat.S_IMODE(path.stat().st_mode) & 0o022
        for path in (folder, *files_of(folder))
    } == {0}


def test_two_versions_at_one_path_share_a_home(place, read_only):
    """As in containers: each keeps its kernels, until nobody has needed them for
    long.
    """
    read_only("code")
    first = run_kernels(place, "add")
    helper, old, times = (
        place / "code/toy/core/helper.py",
        place / "old",
        count(1.1e9, 10.0),
    )
    shutil.copy(helper, old)
    (place / "code/toy/core").chmod(0o755)

    def change(text):
        helper.chmod(0o644)
        helper.write_text(text)
        at = next(
            times
        )  # an edit of the same length in the same second would not be noticed
        os.utime(helper, (at, at))

    change(old.read_text().replace("return 1", "return 2"))
    second = run_kernels(place, "add")
    assert second["values"] == [42] and second["compiled"] == ["add"]
    change(old.read_text())
    assert run_kernels(place, "add") == {**first, "compiled": []}
    os.utime(second["folders"][0], (1e9, 1e9))
    change(old.read_text().replace("return 1", "return 3"))
    third = run_kernels(place, "add")
    assert third["values"] == [43]
    assert folders_in(Path(third["folders"][0]).parent) == sorted(
        Path(each["folders"][0]).name for each in (first, third)
    )
