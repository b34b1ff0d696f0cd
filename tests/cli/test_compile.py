"""``skstruct compile``, and the cache that it fills, for another user."""

import contextlib
import ctypes
import os
import pathlib
import shutil
import subprocess
import sys

import pytest
from cli_cases import run
from numba import config

import skstruct
from skstruct.core.compile import cache_counts

ROOT = pathlib.Path(skstruct.__file__).resolve().parent.parent
SCRIPT = """
import skstruct
from skstruct.core.compile import cache_counts
skstruct.warm_up()
print(*cache_counts())
"""


def _drop_privileges():
    """Let permissions bind root too: without the capabilities to override them (Linux)."""
    libc = ctypes.CDLL(None)
    for capability in (1, 2, 3):  # DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER
        libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


def _as_somebody_else(folder):
    """What the script says, run by a user who can write nowhere."""
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "HOME": "/nonexistent"}
    environment |= {"NUMBA_CACHE_DIR": str(folder), "TMPDIR": "/nonexistent"}
    nobody = {"user": 65534, "group": 65534, "extra_groups": []}
    for how in (nobody, {"preexec_fn": _drop_privileges}) if os.geteuid() == 0 else ({},):
        with contextlib.suppress(PermissionError):  # others may not run this Python
            return subprocess.run(
                [sys.executable, "-B", "-c", SCRIPT], env=environment, cwd="/", capture_output=True,
                text=True, timeout=900, **how,
            )  # fmt: skip


@pytest.mark.skipif(sys.platform != "linux", reason="permissions as Linux has them")
def test_another_user_compiles_nothing(tmp_path_factory, capsys):
    code, out, err = run(capsys, "compile")
    assert code == 0 and "[1/1] perceptron: " in err
    folder = tmp_path_factory.mktemp("cache")
    # As an image holds it.
    shutil.copytree(out.strip(), folder / pathlib.Path(out.strip()).name, copy_function=shutil.copyfile)
    for path in (folder, *folder.parents[:2]):
        path.chmod(0o755)
    (folder / pathlib.Path(out.strip()).name).chmod(0o555)
    done = _as_somebody_else(folder)
    assert done.returncode == 0, done.stderr
    loaded, compiled = map(int, done.stdout.split())
    assert loaded > 0 and compiled == 0 and "RuntimeWarning" not in done.stderr


def test_clear(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("skstruct.core.compile.PACKAGE", str(tmp_path / "package"))
    monkeypatch.setattr("skstruct.core.compile.AppDirs", lambda **_: type("A", (), {"user_cache_dir": ""}))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    folder = pathlib.Path(skstruct.core.compile.cache_folder())
    assert folder.parent == tmp_path and folder.is_dir()
    code, out, err = run(capsys, "compile", "--clear")
    assert code == 0 and out == "" and f"removed {folder}" in err
    assert not folder.exists()


def test_progress_of_warm_up():
    lines = []
    assert pathlib.Path(skstruct.warm_up(progress=lines.append)).is_dir()
    (line,) = lines
    assert line.startswith("[1/1] perceptron: ") and line.endswith(" s")
    before = cache_counts()
    skstruct.warm_up()
    assert cache_counts()[1] == before[1]  # nothing is compiled twice
