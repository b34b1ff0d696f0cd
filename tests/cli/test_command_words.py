"""What errors and warnings advise, in the words of the command line."""

import json

import pytest
from cli_cases import run

from skstruct.cli.command_words import in_command_words


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("if wrong, pass offsets='utf-16'", "if wrong, pass --offsets utf-16"),
        (
            "offsets='utf-16', ends='inclusive' says it",
            "--offsets utf-16, --ends inclusive says it",
        ),
        (
            "no text; name another key with text=",
            "no text; name another key with --read text=KEY",
        ),
        ("or with records= (rows)", "or with --read records=KEY (rows)"),
        ("(rejected='outside' takes them)", "(--read rejected=outside takes them)"),
        ('overlap="longest" keeps', "-p overlap=longest keeps"),
        (
            "call read_spans(..., offsets='characters')",
            "call --offsets characters",
        ),
        (
            "here: read_spans(..., text='a.b', label='c', ends='inclusive')",
            "here: --read text=a.b --read label=c --ends inclusive",
        ),
        ("names with label_names=", "names with --label-names FILE"),
        ("start=, end= and", "--read start=KEY, --read end=KEY and"),
        ("choose with to_name=, or", "choose with --read to_name=NAME, or"),
        # Both are named already, or a call is meant.
        ("encoding= (--encoding) says", "encoding= (--encoding) says"),
        (
            "with label_names= (--label-names FILE)",
            "with label_names= (--label-names FILE)",
        ),
        ("SpanTagger(tokenizer='words')", "SpanTagger(tokenizer='words')"),
    ],
)
def test_words_of_python_become_options(message, words):
    assert in_command_words(message) == words


@pytest.mark.parametrize(
    ("record", "option"),
    [
        ({"a": 1}, "name another key with --read text=KEY"),
        (
            {"text": "Ann Lee", "spans": [[0, 3, "A"], [0, 7, "B"]]},
            "-p overlap=longest keeps the longer of two",
        ),
    ],
)
def test_an_error_names_an_option(record, option, tmp_path, capsys):
    file = tmp_path / "a.jsonl"
    file.write_text(json.dumps(record) + "\n", encoding="utf-8")
    code, _, err = run(capsys, "train", file, "-m", tmp_path / "m")
    assert code == 1 and option in err


def test_a_warning_names_an_option(tmp_path, capsys):
    record = {"text": "\U0001f682 Ann went", "label": [[3, 6, "PER"]]}
    file = tmp_path / "a.jsonl"
    file.write_text(json.dumps(record) + "\n", encoding="utf-8")
    _, _, err = run(capsys, "train", file, "--dry-run")
    assert "offsets are read as characters" in err
    assert (
        "to read them as UTF-16 units, pass --offsets utf-16" in err
        and "offsets=" not in err
    )
    _, _, err = run(capsys, "train", file, "--dry-run", "--offsets", "utf-16")
    assert "offsets in utf-16" in err and "offsets are read as" not in err
