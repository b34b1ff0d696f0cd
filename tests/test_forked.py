"""Processes that tests fork: they are what a new Python would be, but for what is
imported already.
"""

import json
import os
import subprocess
import sys

import pytest
from forked import python

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="each is a Python of its own there"
)

LOOK = """
import json, os, sys
print(json.dumps([sys.argv, os.getcwd(), os.environ["GIVEN"], sys.stdin.read(), sys.path[0], __name__,
                  "numba" in sys.modules, [name for name in sys.modules if name.startswith("skstruct")]]))
print("to the other file", file=sys.stderr)
sys.exit(3)
"""


def test_what_a_script_finds(tmp_path):
    done = subprocess.run(
        [*python(), "-c", LOOK, "one", "two"],
        input="said", capture_output=True, text=True, cwd=tmp_path, env={**os.environ, "GIVEN": "yes"},
    )  # fmt: skip
    assert done.returncode == 3 and done.stderr == "to the other file\n"
    *found, ready, own = json.loads(done.stdout)
    assert found == [["-c", "one", "two"], str(tmp_path), "yes", "said", "", "__main__"]
    assert own == [] and ready == (python() != [sys.executable])


def test_how_a_process_ends():
    def code(script):
        return subprocess.run(
            [*python(), "-c", script], stderr=subprocess.DEVNULL
        ).returncode

    assert code("pass") == 0 and code("1 / 0") == 1
    assert code("import os, signal; os.kill(os.getpid(), signal.SIGKILL)") == -9


def test_a_module_and_a_script(tmp_path):
    (tmp_path / "script.py").write_text("import sys; print(sys.argv, __name__)")
    path = str(tmp_path / "script.py")
    told = subprocess.check_output([*python(), path, "one"], text=True)
    assert told == f"{[path, 'one']} __main__\n"
    told = subprocess.check_output(
        [*python(), "-m", "skstruct", "--version"], text=True
    )
    assert told.startswith("skstruct ")
