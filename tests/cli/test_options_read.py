"""No option is accepted and never looked at, whatever the model does."""

import warnings

import pytest
from cli_cases import run
from format_samples import sample
from inside import parsers_of_commands

from skstruct import cli
from skstruct.cli.common import Arguments

TASKS = {
    "labels": ("columns", []),
    "words": ("segmented", []),
    "spans": ("jsonl", []),
    "trees": ("conllu", ["--algorithm", "parser"]),
}
"""By what a model predicts: the format of a sample, and options of ``train``."""

COMMANDS = {
    "tag": [],
    "evaluate": [],
    "select": ["-k", 2, "--strategy", "margin"],
}
"""Commands that take models of all tasks, and options that they need."""


class Recording(Arguments):
    """Arguments that note which of them the command asks for, once it runs."""

    def __getattribute__(self, name):
        members = object.__getattribute__(self, "__dict__")
        if name == "run":
            Recording.asked = members["asked"] = set()
        elif "asked" in members:
            members["asked"].add(name)
        return object.__getattribute__(self, name)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    for task, (format, options) in TASKS.items():
        given = ["train", sample(format), "-m", folder / task, "--epochs", 1, *options]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of one epoch
            assert cli.main(list(map(str, given))) == 0
    return folder


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("task", TASKS)
def test_every_option_is_used_or_refused(task, command, models, capsys, monkeypatch):
    monkeypatch.setattr(cli, "Arguments", Recording)
    path = sample(TASKS[task][0])
    given = [command, path, "-m", models / task, *COMMANDS[command]]
    code, _, err = run(capsys, *given)
    assert code == 0, err
    actions = parsers_of_commands()[command].get_default("actions")
    options = {action.dest for action in actions} - {"help", "force"}
    unused = options - Recording.asked
    assert not unused, (
        f"{command} never looks at {unused} with a model that predicts {task}: use "
        "them, or refuse them, as _NOT_FOR in skstruct/cli/texts.py does"
    )
