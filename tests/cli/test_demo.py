"""The command line, as a user runs it."""

import importlib
import os
import re
import subprocess
import sys

import pytest
from forked import python

import skstruct
from skstruct import cli
from skstruct.cli import demo

FLOORS = {
    "Chinese segmentation": 0.77,
    "segmentation and tagging": 0.66,
    "English chunking": 0.91,
    "English entities": 0.84,
}
"""What every learner reaches on the embedded corpora with a margin of a few points."""


def run(*arguments, **options):
    return subprocess.run(
        [*python(), "-m", "skstruct", *arguments],
        capture_output=True,
        encoding="utf-8",
        timeout=600,
        **options,
    )


@pytest.fixture(scope="module")
def output():
    done = run("demo", env={**os.environ, "PYTHONIOENCODING": "utf-8"})
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout


def test_demo_table(output):
    rows = [re.split(r"\s{2,}", line) for line in output.splitlines()]
    rows = {(row[0], row[1]): row[2:] for row in rows if row[0] in FLOORS}
    assert {task for task, _ in rows} == set(FLOORS) and len(rows) == 8
    assert {learner for _, learner in rows} == {
        "StructuredPerceptron",
        "PassiveAggressiveTagger",
    }
    for (task, learner), (_, score, recall, fit, tag) in rows.items():
        assert FLOORS[task] < float(score) <= 1.0, (task, learner)
        assert 0.0 <= float(fit) < 60.0 and 0.0 <= float(tag) < 60.0
        if task.startswith("English"):
            assert recall == "-"
        else:
            assert 0.4 < float(recall) <= 1.0


def test_demo_says_what_ran(output):
    assert output.startswith(f"skstruct {skstruct.__version__}, Python ")
    assert re.search(r"^Total time: [\d.]+ s, imports aside$", output, re.M)
    assert re.search(r"^  .*\[\w+( \w+)* (PER|ORG|LOC)\]", output, re.M)
    assert output.index("English entities") < output.index("Chinese segmentation")
    assert len(re.findall(r"\S/PU$", output, re.M)) == 2  # words with tags


def test_split_is_fixed_and_keeps_everything():
    assert demo.split(list(range(10))) == ([0, 1, 2, 4, 5, 6, 8, 9], [3, 7])


@pytest.mark.skipif(sys.platform == "win32", reason="pipes are another matter there")
@pytest.mark.parametrize("arguments", [["demo"], ["--help"]])
def test_closed_pipe_leaves_no_traceback(arguments):
    process = subprocess.Popen(
        [*python(), "-m", "skstruct", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.close()
    errors = process.stderr.read().decode()
    process.stderr.close()
    # argparse overlooks errors in printing its help, so that the code is 0 if Python
    # does not buffer.
    assert process.wait(600) in (
        [cli.PIPE_CLOSED] if arguments[0] == "demo" else [0, cli.PIPE_CLOSED]
    )
    assert "Traceback" not in errors and "BrokenPipe" not in errors


def test_version_and_help(capsys):
    for option, expected in (
        ("--version", f"skstruct {skstruct.__version__}\n"),
        ("--help", "demo"),
    ):
        with pytest.raises(SystemExit) as end:
            cli.main([option])
        assert end.value.code == 0
        assert expected in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments, message",
    [
        ([], "usage: skstruct COMMAND"),
        (["dance"], "dance"),
        (
            ["train", "a", "-m", "b", "--epochs", "0"],
            "must be an int of at least 1, got '0'",
        ),
        (["train", "a", "-m", "b", "--seed", "x"], "--seed"),
    ],
)
def test_wrong_arguments(arguments, message, capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(arguments)
    assert end.value.code == 2
    assert message in capsys.readouterr().err


def test_interrupt(monkeypatch, capsys):
    def run(arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "run", run)
    assert cli.main(["demo"]) == cli.INTERRUPTED
    assert capsys.readouterr().err == "interrupted\n"


def test_every_command_has_a_run(capsys):
    parser = cli.new_parser()
    for name in cli.COMMANDS:
        with pytest.raises(SystemExit) as end:
            parser.parse_args([name, "--help"])
        assert end.value.code == 0 and capsys.readouterr().out.startswith(
            f"usage: skstruct {name} "
        )
        assert callable(importlib.import_module(f"skstruct.cli.{name}").run)
