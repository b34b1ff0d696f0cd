"""The command line of a written file."""

import subprocess
import sys

from skstruct._one_file.python import tagger

PROGRAM = "skstruct._one_file.python.tagger"


def told(*arguments, given=""):
    """What the program writes, and its errors."""
    done = subprocess.run(
        [sys.executable, "-m", PROGRAM, *arguments],
        input=given.encode(),
        capture_output=True,
        timeout=300,
    )
    return done.stdout.decode(), done.stderr.decode(), done.returncode


def test_columns_and_text():
    labels = tagger.predict([["the", "dog"], ["dog"]])
    out, _, code = told(given="the\ndog\n\ndog\n")
    lines = [
        f"the {labels[0][0]}",
        f"dog {labels[0][1]}",
        "",
        f"dog {labels[1][0]}",
        "",
    ]
    assert (out, code) == ("\n".join(lines), 0)
    out, _, code = told("--text", given="the dog\n")
    assert all(label in out for label in labels[0]) and code == 0


def test_a_file_that_is_not_there(tmp_path):
    _, error, code = told(str(tmp_path / "no"))
    assert "No such file" in error and code == 1
