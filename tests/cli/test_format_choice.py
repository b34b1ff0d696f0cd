"""How much has to be seen in a file for its format: by what the file is for."""

import json
import re
from types import SimpleNamespace

import pytest
from cli_cases import run
from format_samples import sample

from skstruct._data.inputs import LABELS, SPANS, TREES, WORDS
from skstruct.cli.common import CommandError
from skstruct.cli.format_choice import format_of
from skstruct.datasets.formats.entry import TextFormat
from skstruct.datasets.formats.source import Source
from skstruct.datasets.formats.table import BY_NAME, FORMATS

COLUMNS = "the\tD\ndog\tN\nbarks\tV\n\na\tD\ncat\tN\n\n" * 8
TREE = "1\tdogs\tdog\tNOUN\tNNS\t_\t2\tnsubj\t_\t_\n2\tbark\tbark\tVERB\tVBP\t_\t0\troot\t_\t_\n\n"
NOTE = {"text": "Ann ran home.", "spans": [{"start": 0, "end": 3, "label": "PER"}]}
FILES = {
    "columns": COLUMNS,
    "conllu": TREE * 4,
    "texts": (json.dumps(NOTE) + "\n") * 4,
    "prose": "The dog barks at the cat all night.\nNobody knows why it does.\n" * 8,
    "empty": "",
}
NOT_RECOGNISED = "--format"
CASES = {
    ("learn", LABELS): {
        "columns": "columns", "conllu": "conllu", "prose": NOT_RECOGNISED,
        "empty": "the file is empty",
    },
    ("learn", WORDS): {"prose": "segmented", "empty": "segmented"},
    ("use", LABELS): {
        "columns": "columns", "conllu": "conllu", "prose": "columns", "empty": "columns",
        "texts": "a tagger and reads columns or CoNLL-U, not annotated texts",
    },
    ("use", WORDS): {"columns": "segmented", "prose": "segmented", "empty": "segmented"},
    ("use", SPANS): {
        "texts": "jsonl", "prose": "a span tagger and reads annotated texts, not plain",
        "empty": "the file is empty",
    },
    ("use", TREES): {"columns": "columns", "conllu": "conllu", "empty": "columns"},
}  # fmt: skip
CELLS = [
    (use, task, name, expected)
    for (use, task), files in CASES.items()
    for name, expected in files.items()
]


@pytest.mark.parametrize("use, task, name, expected", CELLS)
def test_what_has_to_be_seen(use, task, name, expected, tmp_path):
    path = tmp_path / "file.txt"
    path.write_text(FILES[name])
    arguments = SimpleNamespace(format=None, tokens=None, why="")
    inputs = None if use == "learn" else SimpleNamespace(task=task, token=str)
    with Source(str(path), "utf-8") as source:
        if " " in expected or expected == NOT_RECOGNISED:
            with pytest.raises(CommandError) as error:
                format_of(arguments, source, inputs, task)
            assert expected in str(error.value)
        else:
            entry, why = format_of(arguments, source, inputs, task)
            assert entry.name == expected and why


def test_text_that_is_read_as_tokens_or_tokens_as_text_is_warned_of(tmp_path, capsys):
    arguments = SimpleNamespace(format=None, tokens=None, why="")
    for name, task, warning in (
        ("prose", LABELS, "looks like text, and each line is taken for one token"),
        ("columns", WORDS, "looks like columns; a segmenter reads each line as"),
        ("columns", LABELS, ""),
        ("prose", WORDS, ""),
    ):
        path = tmp_path / name
        path.write_text(FILES[name])
        with Source(str(path), "utf-8") as source:
            format_of(arguments, source, SimpleNamespace(task=task, token=str), task)
        said = capsys.readouterr().err
        assert warning in said and bool(said) == bool(warning)


@pytest.mark.parametrize("format", ["segmented", "columns"])
def test_the_model_says_which_of_several_formats_a_file_has(format, tmp_path, capsys):
    """A file that can be learned in two ways can be tagged and scored in one of them."""
    path = tmp_path / "a.txt"
    path.write_text("“  人们  常  说  生活  是  教科书  ，\n" * 12, encoding="utf-8")
    given = "train", path, "-m", tmp_path / "m", "--epochs", 1, "--force"
    code, _, err = run(capsys, *given)
    assert code == 1 and "looks like columns (" in err and "choose one with" in err
    code, _, err = run(capsys, *given, "--format", format)
    assert code == 0, err
    for command in ("tag", "evaluate"):
        code, _, err = run(capsys, command, path, "-m", tmp_path / "m")
        assert code == 0, err


@pytest.mark.parametrize("name", sorted({*BY_NAME} - {"columns", "segmented"}))
def test_a_held_out_file_in_another_format_is_named(name, tmp_path, capsys):
    """And never read as columns, whose number would then be wrong."""
    path = sample("columns")
    given = "train", path, "-m", tmp_path / "m", "-a", "perceptron", "--epochs", 1
    code, _, err = run(capsys, *given, "--dev", sample(name))
    assert code == 1 and "column" in err
    assert not re.search(r"expected \d+ columns, as on line", err), err


@pytest.mark.parametrize(
    "name",
    [
        each.name
        for each in FORMATS
        if isinstance(each, TextFormat) and "label" in each.options
    ],
)
def test_a_format_with_the_option_is_the_one_recognised(name, capsys):
    """A key that an option names makes no other format of a file."""
    given = "train", sample(name), "--dry-run", "--force"
    code, _, err = run(capsys, *given, "--read", "label=nothing")
    assert f"read as {name}: " in err and "one format each" not in err
    assert code == (name != "doccano"), "there rows are lists, which have no keys"


def test_a_key_of_records_is_none_of_a_table(tmp_path, capsys):
    path = tmp_path / "a.csv"
    path.write_text("text,start,end,type\nAnn ran,0,3,PER\n")
    code, _, err = run(capsys, "train", path, "--dry-run", "--read", "label=type")
    assert code == 1 and "label is for jsonl, doccano, presidio" in err
    assert "but format is 'csv-spans'" in err
