"""serve: which models answer, where, and what is refused before it listens.

What is answered is tested in tests/serving.
"""

import argparse
import json
import logging
import subprocess
import sys

import pytest
from cli_cases import run

from skstruct import StructuredPerceptron, cli
from skstruct.cli import serve


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("serve") / "tagger"
    X, y = [["the", "dog"], ["a", "cat"]], [["D", "N"], ["D", "N"]]
    StructuredPerceptron(max_iter=1).fit(X, y).save(path)
    return path


class Stopped(Exception):
    """The server would run now."""


@pytest.mark.skipif(sys.platform == "win32", reason="has no SIGTERM")
@pytest.mark.parametrize("command", ["serve", "train"])
def test_sigterm_ends_the_first_process_of_a_container(command, model, tmp_path):
    """While a command loads or learns, too: the first process has no default."""
    program = (
        "import os, signal, sys\n"
        "os.getpid = lambda: 1\n"
        "signal.signal(signal.SIGTERM, signal.SIG_DFL)\n"
        f"from skstruct.cli import {command}, main\n"
        f"{command}.run = lambda _: signal.raise_signal(signal.SIGTERM)\n"
        f"main(['{command}', {str(model)!r}])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path)
    assert done.returncode == cli.TERMINATED


def test_what_it_is_called_with(model, monkeypatch):
    called = {}

    def new_server(application, host, **options):
        called.update(options, host=host)
        raise Stopped

    monkeypatch.setattr(serve, "new_server", new_server)
    parser = argparse.ArgumentParser()
    serve.add_arguments(parser)
    options = ["--port", "0", "--threads", "2", "--max-bytes", "100"]
    with pytest.raises(Stopped):
        serve.run(parser.parse_args([f"tags={model}", *options]))
    assert (called["host"], called["port"], called["threads"]) == ("127.0.0.1", 0, 2)
    assert called["max_bytes"] == 100 and called["timeout"] == 30.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--collect", "notes.jsonl"], "are for --label-studio"),
        (["--label-studio", "--train-on", "5"], "--train-on needs --collect FILE"),
        (["--port", "65536"], "a number up to 65535"),
        (["--timeout", "0"], "more than 0"),
        (["--allowed-host", "a b"], "--allowed-host"),
        (["--log-format", "xml"], "--log-format"),
    ],
)
def test_wrong_usage(options, message, model, capsys):
    code, _, err = run(capsys, "serve", model, *options)
    assert code == 2 and message in err


def test_a_backend_takes_one_model(model, capsys):
    command = ("serve", f"a={model}", f"b={model}", "--label-studio")
    code, _, err = run(capsys, *command)
    assert code == 2 and "takes one model" in err


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_the_format_of_the_log(log_format, model, monkeypatch, capsys):
    monkeypatch.setattr(serve, "new_server", lambda *_, **__: None)
    monkeypatch.setattr(serve, "addresses_of", lambda _: [("::1", 80)])
    monkeypatch.setattr(serve, "run_server", lambda *_: None)
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [])
    level = root.level
    try:
        code, _, err = run(capsys, "serve", f"tags={model}", "--log-format", log_format)
    finally:
        root.setLevel(level)
        logging.captureWarnings(False)
    size = f"{model.stat().st_size / 1e6:.1f} MB"
    said = [f"loading tags: {model} ({size})", "ready: http://[::1]:80/"]
    lines = err.splitlines()
    if log_format == "json":
        lines = [f"skstruct: {json.loads(line)['message']}" for line in lines]
    assert code in (0, None) and lines == [f"skstruct: {each}" for each in said]
