"""Where results go: one function decides whether a path may be written.

The table is made of the parser: every option that a command declares by `add_output`,
and every kind of target. A command that is added is under it. What only the work can
tell is not of it, as a disk that becomes full.
"""

import errno
import os
import re
import subprocess
from pathlib import Path

import pytest
from cli_cases import run
from forked import python
from target_cases import (
    FILES,
    NO_PATHS,
    OF_DEST,
    OF_METAVAR,
    PARSERS,
    RUN,
    TABLE,
    TARGETS,
    arguments_of,
    read_only_file,
    read_only_folder,
    write_corpora,
)

import skstruct
from skstruct import L1CRF, SpanTagger, StructuredPerceptron
from skstruct.cli import COMMANDS
from skstruct.cli.targets import READ, check_target
from skstruct.datasets import write_spans
from skstruct.serving import label_studio


@pytest.fixture(scope="module")
def corpora(tmp_path_factory):
    return write_corpora(tmp_path_factory.mktemp("targets"))


def test_every_option_is_declared():
    """As what is read, what is written, or no path: else nothing would check it."""
    for parser in PARSERS.values():
        written = {target.dest for target in parser.get_default("targets") or ()}
        for action in parser.get_default("actions"):
            if action.dest in written or action.metavar is None:
                continue
            assert READ.search(action.metavar) or action.metavar in NO_PATHS, (
                f"{action.option_strings or action.dest}: an option that reads a file "
                "has a metavar that ends in FILE or MODEL, such as NAME=FILE; one that "
                "writes a file is added by add_output; of any other enter the metavar "
                f"{action.metavar} in NO_PATHS of tests/target_cases.py"
            )
    writing = {row.values[0] for row in TABLE}
    assert writing <= set(COMMANDS) and {"train", "tag", "report"} <= writing


def test_commands_write_by_what_was_checked():
    """No command opens a file to write by itself."""
    folder = Path(skstruct.__file__).parent / "cli"
    for path in folder.glob("*.py"):
        text = path.read_text("utf-8")
        if path.name != "targets.py":
            writes = r"""atomic_write|write_whole|\bopen\([^)]*["'][wax]|write_text"""
            assert not re.search(writes, text)


@pytest.fixture
def work(monkeypatch):
    """A list that grows when something is learned, predicted, loaded or converted."""
    done = []
    for kind in StructuredPerceptron, SpanTagger, L1CRF:
        for method in "fit", "predict", "save":
            monkeypatch.setattr(kind, method, lambda *_, **__: done.append(1))
    monkeypatch.setattr(label_studio, "Versions", lambda *_, **__: done.append(1))
    return done


# -- what is refused -----
@pytest.mark.parametrize("name, target, given", FILES)
@pytest.mark.parametrize("make", TARGETS, ids=lambda make: make.__name__)
def test_targets_that_cannot_be_written_cost_no_work(
    name, target, given, make, corpora, work, tmp_path, capsys
):
    if make in (read_only_file, read_only_folder) and os.geteuid() == 0:
        pytest.skip("root writes everywhere")
    out = make(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    code, printed, err = run(capsys, *arguments_of(given, corpora, out))
    assert (code, printed, work) == (1, "", []), err
    assert TARGETS[make] in err and err.count("skstruct: error:") == 1
    shown = repr(str(out)) if "\0" in str(out) or not str(out) else str(out)
    assert err.splitlines()[-1].startswith(f"skstruct: error: {shown}")
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("name, target, given", FILES)
def test_modes_are_looked_at(
    name, target, given, corpora, work, tmp_path, capsys, monkeypatch
):
    """Of root, too, whose files a test cannot close."""
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    (tmp_path / "out").touch()
    for path, where in (("out", "to it"), ("new", "into the folder")):
        code, _, err = run(capsys, *arguments_of(given, corpora, tmp_path / path))
        assert code == 1 and f"no permission to write {where}" in err and work == []


def same(path, folder):
    return path


def relative(path, folder):
    os.chdir(folder)
    return os.path.relpath(path, folder)


def roundabout(path, folder):
    return path.parent / "." / ".." / path.parent.name / path.name


def symbolic(path, folder):
    (folder / "link").symlink_to(path)
    return folder / "link"


def hard(path, folder):
    os.link(path, folder / "link")
    return folder / "link"


@pytest.mark.parametrize("name, target, given", FILES)
@pytest.mark.parametrize("spelled", [same, relative, roundabout, symbolic, hard])
def test_what_is_read_is_not_written_over(
    name, target, given, spelled, corpora, work, tmp_path, capsys, monkeypatch
):
    """Each file that a command reads, the model too, whatever --force says."""
    monkeypatch.chdir(tmp_path)
    force = [] if target.is_own else ["--force"]
    options = [
        action
        for action in PARSERS[name].get_default("actions")
        if READ.search(action.metavar or "")
    ]
    for k, action in enumerate(options):
        path = corpora / OF_DEST.get(
            action.dest, OF_METAVAR.get(action.metavar, "names")
        )
        more = []
        if action.option_strings and action.dest != target.dest:
            is_pair = action.metavar.startswith("NAME=")
            more = [action.option_strings[0], f"a={path}" if is_pair else path]
        elif path not in arguments_of(given, corpora, "OUT"):
            continue
        before = path.read_bytes()
        (tmp_path / str(k)).mkdir()
        out = spelled(path, tmp_path / str(k))
        command = [*arguments_of(given, corpora, out), *more, *force]
        code, _, err = run(capsys, *command)
        assert code == 1 and f"{out}: would be replaced" in err and work == [], err
        assert path.read_bytes() == before


def test_a_folder_that_is_read_keeps_its_files(corpora, tmp_path, capsys):
    """And what is read through standard input."""
    write_spans(
        tmp_path / "gold", ["Ann met Bob Lee."], [[]], "brat", metadata=[{"name": "a"}]
    )
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*")}
    (tmp_path / "hard").hardlink_to(tmp_path / "gold" / "a.ann")
    for out in "gold/a.ann", "gold/a.txt", "hard":
        given = tmp_path / "gold", "-m", corpora / "ner", "-o", tmp_path / out
        code, _, err = run(capsys, "tag", *given, "--force")
        assert code == 1 and "would be replaced" in err
        given = tmp_path / "gold" / "a.txt", "-m", corpora / "ner", "-o", tmp_path / out
        code, _, err = run(capsys, "tag", *given, "--force")
        assert code == 1 and "would be replaced" in err
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.*")} == before
    assert run(capsys, *("tag", *given[:-1], tmp_path / "gold" / "new.jsonl"))[0] == 0
    with open(tmp_path / "gold" / "a.txt") as file:
        command = "tag", "-m", corpora / "ner", "-o", tmp_path / "gold" / "a.txt"
        done = subprocess.run(
            [*python(), "-m", "skstruct", *map(str, command), "--force"],
            stdin=file,
            capture_output=True,
            text=True,
        )
    assert done.returncode == 1 and "would be replaced" in done.stderr


@pytest.mark.parametrize("name, target, given", RUN)
def test_what_is_there_is_replaced_if_that_is_asked_for(
    name, target, given, corpora, tmp_path, capsys
):
    out = tmp_path / "out"
    out.write_text("another's work")
    out.chmod(0o640)
    (tmp_path / "link").symlink_to("out")
    for path in out, tmp_path / "link":
        code, printed, err = run(capsys, *arguments_of(given, corpora, path))
        assert (code, printed) == (1, "")
        assert (
            err
            == f"skstruct: error: {path}: exists already; to replace it, pass --force\n"
        )
        assert out.read_text() == "another's work"
    for path in tmp_path / "link", out:
        code, _, err = run(capsys, *arguments_of(given, corpora, path), "--force")
        assert code == 0, err
        assert (
            b"another's" not in out.read_bytes() and out.stat().st_mode & 0o777 == 0o640
        )
        assert (tmp_path / "link").is_symlink()
        assert sorted(os.listdir(tmp_path)) == ["link", "out"]


@pytest.mark.parametrize("name, target, given", RUN)
def test_what_is_nobodys_work_needs_no_word(
    name, target, given, corpora, tmp_path, capsys
):
    """A new file, an empty one, and one that a link points to which is not there."""
    (tmp_path / "empty").touch()
    (tmp_path / "link").symlink_to("behind")
    for path in "new", "empty", "link":
        code, _, err = run(capsys, *arguments_of(given, corpora, tmp_path / path))
        assert code == 0 and (tmp_path / path).stat().st_size > 0, err
    assert (tmp_path / "link").is_symlink()
    assert sorted(os.listdir(tmp_path)) == ["behind", "empty", "link", "new"]


@pytest.mark.parametrize("name, target, given", RUN)
def test_a_failure_leaves_the_old_file_and_no_litter(
    name, target, given, corpora, tmp_path, capsys, monkeypatch
):
    out = tmp_path / "out"
    out.write_text("old")

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    code, _, err = run(capsys, *arguments_of(given, corpora, out), "--force")
    assert code == 1 and f"{out}: No space left" in err
    assert out.read_text() == "old" and os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("name, target, given", FILES)
def test_a_dash_is_standard_output_or_an_error(
    name, target, given, corpora, work, tmp_path, capsys, monkeypatch, request
):
    monkeypatch.chdir(tmp_path)
    if target.takes_standard:
        monkeypatch.undo()
        monkeypatch.chdir(tmp_path)
    code, printed, err = run(capsys, *arguments_of(given, corpora, "-"))
    assert os.listdir(tmp_path) == []
    if not target.takes_standard:
        assert (code, printed, work) == (1, "", [])
        assert (
            "-: this cannot be written to standard output; for a file of that name, write ./-"
            in err
        )
        return
    assert code == 0 and run(capsys, *arguments_of(given, corpora, "file"))[0] == 0
    written = Path("file").read_text("utf-8")
    if name == "report":  # which has the time in it
        written, printed = written[:300], printed[:300]
    assert printed == written  # and nothing beside it


@pytest.mark.parametrize("name", PARSERS)
def test_a_dash_is_standard_input_or_an_error(name, work, corpora, capsys):
    """Of every option that names a file; two of them cannot be standard input."""
    row = next((row.values[2] for row in TABLE if row.values[0] == name), None)
    for action in PARSERS[name].get_default("actions"):
        if not READ.search(action.metavar or "") or row is None:
            continue
        given = arguments_of(row, corpora, corpora / "new")
        if action.option_strings:
            dash = "a=-" if action.metavar.startswith("NAME=") else "-"
            given += [action.option_strings[0], dash]
            if getattr(action, "takes_standard", False):
                if corpora / "train.txt" not in given:
                    continue
                given[given.index(corpora / "train.txt")] = "-"
        else:
            given = ["-" if isinstance(a, Path) else a for a in row]
            given = arguments_of(given, corpora, corpora / "new")
            if getattr(action, "takes_standard", False):
                continue
        code, printed, err = run(capsys, *given)
        assert code != 0 and (printed, work) == ("", []), (action, err)
        assert "standard input" in err or "-: " in err


def test_files_of_the_demo(tmp_path, capsys):
    (tmp_path / "test.txt").mkdir()
    for folder, message in (
        (tmp_path, "is not a regular file"), (tmp_path / "none", "folder does not exist"),
        (f"{tmp_path}/a\0b", "has a NUL character"), ("-", "cannot be written to standard output"),
    ):  # fmt: skip
        code, _, err = run(capsys, "demo", "--files", folder)
        assert code == 1 and message in err
    assert [path.name for path in tmp_path.iterdir()] == ["test.txt"]
    (tmp_path / "test.txt").rmdir()
    assert run(capsys, "demo", "--files", tmp_path)[0] == 0
    (tmp_path / "train.txt").write_text("mine")
    code, _, err = run(capsys, "demo", "--files", tmp_path)
    assert code == 1 and "train.txt: exists already; to replace it, pass --force" in err
    assert (tmp_path / "train.txt").read_text() == "mine"
    assert run(capsys, "demo", "--files", tmp_path, "--force")[0] == 0
    assert (tmp_path / "train.txt").read_text() != "mine"


def test_nothing_is_read_that_is_no_file():
    """Devices are not compared: /dev/null may be read and written."""
    check_target("/dev/null", ["/dev/null", "-", "none"])
