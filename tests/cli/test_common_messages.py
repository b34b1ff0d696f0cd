"""What commands say when they are called wrongly, or the machine has no room for
more.
"""

import os
import subprocess
import sys

import pytest
from cli_cases import run
from forked import python

from skstruct import StructuredPerceptron
from skstruct.cli import demo


@pytest.mark.parametrize(
    "name, arguments",
    [
        ("train", []),
        ("tag", ["text"]),
        ("evaluate", ["--n-jobs", "0"]),
        ("compare", ["one"]),
        ("convert", ["model", "target.bin"]),
        ("train", ["-", "-m", "model", "--dev", "-"]),
        ("train", ["-", "-m", "model", "--text", "-"]),
        ("train", ["-", "-m", "model", "--features", "word", "--lexicon", "names=-"]),
    ],
)
def test_wrong_usage_is_one_line(name, arguments, capsys):
    code, out, err = run(capsys, name, *arguments)
    assert (code, out) == (2, "") and err.count("\n") == 1
    assert (
        err.startswith(f"skstruct {name}: error: ")
        and f"; skstruct {name} --help lists the options" in err
    )


@pytest.fixture
def tagger(tmp_path):
    (tmp_path / "text").write_text("the D\n\n" * 20000)
    StructuredPerceptron(max_iter=1).fit([["the"]], [["D"]]).save(tmp_path / "model")
    return ["tag", str(tmp_path / "text"), "-m", str(tmp_path / "model")]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
def test_a_full_disk_is_named(tagger, tmp_path, capsys):
    code, _, err = run(capsys, *tagger, "-o", "/dev/full")
    assert code == 1 and err == "skstruct: error: /dev/full: No space left on device\n"
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*python(), "-m", "skstruct", *tagger],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert (
        done.returncode == 1
        and "error: <stdout>: No space left on device\n" in done.stderr
    )


@pytest.mark.skipif(sys.platform == "win32", reason="has no such limits")
def test_so_is_a_file_that_grows_too_large(tagger, tmp_path):
    """Of a model too, and nothing of it stays."""
    limited = "import resource, runpy, sys; sys.dont_write_bytecode = True\n"  # else it is cut
    limited += "resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000))\n"
    limited += "runpy.run_module('skstruct', run_name='__main__', alter_sys=True)"
    (tmp_path / "train").write_text(
        "".join(f"w{k} T{k % 7}\nv O\n\n" for k in range(3000))
    )
    for arguments in (
        tagger,
        [
            "train",
            str(tmp_path / "train"),
            "--format",
            "columns",
            "--epochs",
            "1",
            "--force",
        ],
    ):
        target, option = tmp_path / "out", "-o" if arguments is tagger else "-m"
        before = sorted(tmp_path.iterdir())
        done = subprocess.run(
            [*python(), "-c", limited, *arguments, option, str(target)],
            capture_output=True, text=True, env={**os.environ, "PYTHONPATH": os.getcwd()},
        )  # fmt: skip
        assert (
            done.returncode == 1 and f"error: {target}: File too large\n" in done.stderr
        ), done.stderr
        assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    "error, message",
    [
        (MemoryError(), "out of memory"),
        (
            MemoryError("Unable to allocate 8 GiB"),
            "out of memory: Unable to allocate 8 GiB",
        ),
        (ValueError(), "ValueError"),
    ],
)
def test_no_message_is_empty(error, message, monkeypatch, capsys):
    def fails(arguments):
        raise error

    monkeypatch.setattr(demo, "run", fails)
    assert run(capsys, "demo") == (1, "", f"skstruct: error: {message}\n")
