"""Options that say how corpus files are read: what their texts are taken for."""

import argparse

import pytest

from skstruct.cli import options


def parsed(*arguments):
    parser = argparse.ArgumentParser(exit_on_error=False)
    options.add_options(parser)
    options.add_corpus(parser)
    return parser.parse_args(["corpus.txt", *arguments])


def test_nothing_said():
    found = parsed()
    assert (found.files, found.annotated, found.read) == (["corpus.txt"], [], [])
    assert (found.format, found.tokens, found.label) == (None, None, None)
    assert (found.separator, found.comment, found.encoding) == (None, None, "utf-8")


@pytest.mark.parametrize(
    ("arguments", "name", "value"),
    [
        (["--tokens", "0,-1"], "tokens", (0, -1)),
        (["--tokens", "form,upos"], "tokens", ("form", "upos")),
        (["--label", "-2"], "label", -2),
        (["--label", "upos"], "label", "upos"),
        (["--separator", "tab"], "separator", "\t"),
        (["--separator", "\\t"], "separator", "\t"),
        (["--separator", ""], "separator", None),
        (["--separator", ";"], "separator", ";"),
        (["--encoding", "Latin-1"], "encoding", "iso8859-1"),
        (["--read", "text=body", "--read", "partial=True"], "read",
         [("text", "body"), ("partial", True)]),
        (["--annotated", "a=b.jsonl=PER,LOC"], "annotated",
         [("a=b.jsonl", ["PER", "LOC"])]),
    ],
)  # fmt: skip
def test_values(arguments, name, value):
    assert getattr(parsed(*arguments), name) == value


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--read", "text"], "NAME=VALUE"),
        (["--annotated", "a.jsonl="], "FILE=TYPES"),
        (["--encoding", "none"], "an encoding that Python knows"),
    ],
)
def test_what_is_refused(arguments, message):
    with pytest.raises(argparse.ArgumentError, match=message):
        parsed(*arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--tokens", "0"],
        ["--label", "0"],
        ["--format", "columns"],
        ["--read", "text=body"],
        ["--annotated", "corpus.txt=PER"],
        ["--encoding", "utf-8"],
        ["--ends", "inclusive"],
    ],
)
def test_the_next_command_reads_in_the_same_way(arguments):
    assert options.same_options(parsed()) == ""
    assert "how files are read" in options.same_options(parsed(*arguments))


def test_names_of_labels_by_number_or_numbers_by_name(tmp_path):
    path = tmp_path / "names.json"
    for text in '{"0": "O", "1": "B"}', '{"O": 0, "B": 1}':
        path.write_text(text)
        assert options.label_names(str(path)) == {0: "O", 1: "B"}
    path.write_text('["O", "B"]')
    assert options.label_names(str(path)) == ["O", "B"]
