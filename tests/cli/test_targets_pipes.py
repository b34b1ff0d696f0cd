"""Results that go to pipes, devices and open files."""

import os
import subprocess
import sys
import threading

import pytest
from cli_cases import run
from forked import python
from target_cases import FILES, RUN, arguments_of, write_corpora


@pytest.fixture(scope="module")
def corpora(tmp_path_factory):
    return write_corpora(tmp_path_factory.mktemp("targets"))


posix = pytest.mark.skipif(os.name != "posix", reason="has no such files")


def piped(command, folder, more=""):
    """A command in a shell that knows ``>(...)``.

    What runs in the brackets holds the shell's standard error, which is read to its
    end: so this waits for it, too.
    """
    if not os.path.exists("/bin/bash"):
        pytest.skip("there is no bash")
    line = " ".join(
        f"'{a}'" if a != "OUT" else f">(cat > '{folder}/out'){more}" for a in command
    )
    environ = {**os.environ, "PYTHONPATH": os.getcwd()}
    return subprocess.run(
        ["bash", "-c", line], env=environ, capture_output=True, text=True
    )


@posix
def test_the_output_of_a_shell_to_another_program(corpora, tmp_path, capsys):
    tag = "tag", corpora / "train.txt", "-m", corpora / "chunk", "-o", "OUT"
    given = [sys.executable, "-m", "skstruct", *map(str, tag)]
    done = piped(given, tmp_path)
    assert done.returncode == 0, done.stderr
    expected = run(capsys, "tag", corpora / "train.txt", "-m", corpora / "chunk")[1]
    assert (tmp_path / "out").read_text() == expected != ""


@posix
@pytest.mark.parametrize("name, target, given", RUN)
def test_named_pipes(name, target, given, corpora, tmp_path, capsys):
    """Every command writes into one what it writes into a file, and leaves it there."""
    pipe, found = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    code, _, err = run(capsys, *arguments_of(given, corpora, pipe))
    assert code == 0, err
    reader.join()
    assert run(capsys, *arguments_of(given, corpora, tmp_path / "file"))[0] == 0
    if name not in ("report", "train"):  # which have the time in them
        assert found == [(tmp_path / "file").read_bytes()]
    assert found[0] and pipe.is_fifo()


@posix
@pytest.mark.parametrize(
    "path", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link"]
)
def test_an_open_file_is_gone_on_with(path, corpora, tmp_path):
    """What was in it stays, as with output that a shell appends to a file."""
    if path.startswith("/proc") and not os.path.exists(path):
        pytest.skip("there is no /proc")
    os.symlink("/dev/stdout", tmp_path / "link")
    path = tmp_path / path  # an absolute one is itself
    with open(tmp_path / "log", "a") as log:
        log.write("before\n")
        log.flush()
        inode = os.fstat(log.fileno()).st_ino
        given = "tag", corpora / "train.txt", "-m", corpora / "chunk", "-o", path
        done = subprocess.run(
            [*python(), "-m", "skstruct", *map(str, given)],
            stdout=log,
            stderr=subprocess.PIPE,
        )
    assert done.returncode == 0, done.stderr
    lines = (tmp_path / "log").read_text().splitlines()
    assert (
        lines[0] == "before"
        and len(lines) > 100
        and os.stat(tmp_path / "log").st_ino == inode
    )


@posix
@pytest.mark.parametrize("name, target, given", FILES)
def test_devices_are_written_to(name, target, given, corpora, tmp_path, capsys):
    """But for what is read again, which has to be a regular file."""
    os.mkfifo(tmp_path / "pipe")
    if target.is_regular:
        for out in "/dev/null", "/dev/stdout", tmp_path / "pipe":
            code, _, err = run(capsys, *arguments_of(given, corpora, out))
            assert code == 1 and "regular file" in err
        return
    code, _, err = run(capsys, *arguments_of(given, corpora, "/dev/null"))
    assert code == 0 and not os.path.isfile("/dev/null"), err
    done = subprocess.run(
        [
            *python(),
            "-m",
            "skstruct",
            *map(str, arguments_of(given, corpora, "/dev/stdout")),
        ],
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr
    assert run(capsys, *arguments_of(given, corpora, tmp_path / "file"))[0] == 0
    written = (tmp_path / "file").read_bytes()
    if name == "train":  # of which date and file are a part
        assert len(done.stdout) > 0.9 * len(written)
    else:
        assert done.stdout[:300] == written[:300]


@posix
def test_a_file_that_is_not_open(corpora, capsys):
    given = "tag", corpora / "train.txt", "-m", corpora / "chunk", "-o", "/dev/fd/987"
    code, _, err = run(capsys, *given)
    assert code == 1 and "error: /dev/fd/987: Bad file descriptor" in err
