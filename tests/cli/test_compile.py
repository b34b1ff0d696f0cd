"""``skstruct compile``, and the cache that it fills, for another user."""

import contextlib
import os
import pathlib
import shutil
import subprocess
import sys

import pytest
from cli_cases import run
from forking_server import drop_privileges
from numba import config

import skstruct
from skstruct._core import kernel_folders
from skstruct._core.compile import cache_counts

ROOT = pathlib.Path(skstruct.__file__).resolve().parent.parent
SCRIPT = """
import skstruct
from skstruct._core.compile import cache_counts
skstruct.warm_up()
print(*cache_counts())
"""


def _as_somebody_else(folder):
    """What the script says, run by a user who can write nowhere."""
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "HOME": "/nonexistent",
    }
    environment |= {"NUMBA_CACHE_DIR": str(folder), "TMPDIR": "/nonexistent"}
    nobody = {"user": 65534, "group": 65534, "extra_groups": []}
    for how in (
        (nobody, {"preexec_fn": drop_privileges}) if os.geteuid() == 0 else ({},)
    ):
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
    shutil.copytree(
        out.strip(),
        folder / pathlib.Path(out.strip()).name,
        copy_function=shutil.copyfile,
    )
    for path in (folder, *folder.parents[:2]):
        path.chmod(0o755)
    (folder / pathlib.Path(out.strip()).name).chmod(0o555)
    done = _as_somebody_else(folder)
    assert done.returncode == 0, done.stderr
    loaded, compiled = map(int, done.stdout.split())
    assert loaded > 0 and compiled == 0 and "RuntimeWarning" not in done.stderr


def test_clear_leaves_what_belongs_to_others(tmp_path, monkeypatch, capsys):
    """Two installations of one version share a home, a folder for temporary files, and
    NUMBA_CACHE_DIR.
    """
    monkeypatch.setattr(config, "CACHE_DIR", "")
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    made = {}
    for name in ("other", "mine"):
        monkeypatch.setattr(kernel_folders, "PACKAGE", str(tmp_path / name))
        (tmp_path / name).mkdir()
        for folder in kernel_folders.folders():
            kernel_folders.make_folder(folder)
            made.setdefault(name, []).append(pathlib.Path(folder))
    assert len({*made["mine"], *made["other"]}) == 6
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "chosen"))
    chosen = pathlib.Path(kernel_folders.cache_folder())
    assert chosen.parent == tmp_path / "chosen"
    code, out, err = run(capsys, "compile", "--clear")
    assert code == 0 and out == "" and str(chosen.parent) in err
    assert all(
        f"removed {folder}" in err and not folder.exists() for folder in made["mine"]
    )
    assert all(folder.is_dir() for folder in (*made["other"], chosen))


def test_progress_of_warm_up():
    lines = []
    assert pathlib.Path(skstruct.warm_up(progress=lines.append)).is_dir()
    (line,) = lines
    assert line.startswith("[1/1] perceptron: ") and line.endswith(" s")
    before = cache_counts()
    skstruct.warm_up()
    assert cache_counts()[1] == before[1]  # nothing is compiled twice
