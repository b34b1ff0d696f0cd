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
            "no text; text= names another key",
            "no text; --read text=KEY names another key",
        ),
        ("or records= a list", "or --read records=KEY a list"),
        ("(rejected='outside' takes them)", "(--read rejected=outside takes them)"),
        ('overlap="longest" keeps', "-p overlap=longest keeps"),
        (
            "read_spans(..., offsets='characters') reads",
            "--offsets characters reads",
        ),
        ("label_names= says what", "--label-names FILE says what"),
        # Both are named already, or a call is meant.
        ("encoding= (--encoding) says", "encoding= (--encoding) says"),
        (
            "label_names= (--label-names FILE) says",
            "label_names= (--label-names FILE) says",
        ),
        ("SpanTagger(tokenizer='words')", "SpanTagger(tokenizer='words')"),
    ],
)
def test_words_of_python_become_options(message, words):
    assert in_command_words(message) == words


@pytest.mark.parametrize(
    ("record", "option"),
    [
        ({"a": 1}, "--read text=KEY names another key"),
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
    assert "offsets are taken for characters" in err
    assert "--offsets utf-16 would read them as" in err and "offsets=" not in err
    _, _, err = run(capsys, "train", file, "--dry-run", "--offsets", "utf-16")
    assert "offsets in utf-16" in err and "offsets are taken" not in err
