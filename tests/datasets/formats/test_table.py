"""The table of formats: a sample of each, each recogniser and each verb."""

import pathlib

import pytest
from cli_cases import run
from format_samples import sample

from skstruct.datasets import read_spans, read_tokens
from skstruct.datasets.formats import table
from skstruct.datasets.formats.entry import TEXTS, WORDS, TokenFormat
from skstruct.datasets.formats.head import Head
from skstruct.datasets.formats.source import peeked

DOCS = pathlib.Path(__file__).parents[3] / "docs"
NAMES = [each.name for each in table.FORMATS]


def head_of(path):
    if path.is_dir():
        return Head(str(path))
    with peeked(path, "utf-8") as file:
        return file.head()


@pytest.mark.parametrize("name", NAMES)
def test_no_format_is_taken_for_another(name, tmp_path):
    """Neither with the usual ending of a name nor without it."""
    path = sample(name)
    heads = [head_of(path)]
    if path.is_file():
        plain = tmp_path / "notes"
        plain.write_bytes(path.read_bytes())
        heads.append(head_of(plain))
    for head in heads:
        said = table.looks(head)
        assert [each.format.name for each in table.taken(said)] == [name], said
        assert table.recognised(head)[0].name == name
        assert all(each.look.seen for each in said)


@pytest.mark.parametrize("name", NAMES)
def test_each_is_read_in_python(name):
    path = sample(name)
    entry = table.BY_NAME[name]
    read = read_spans if entry.kind == TEXTS else read_tokens
    X, y = read(path)
    assert len(X) == len(y) > 5, f"{path.name}: write six or more texts or sentences"
    assert any(map(len, y)), f"{path.name}: write some with labels or spans"
    assert read(path, format=name) == (X, y)
    if entry.kind not in (TEXTS, WORDS):
        assert list(map(len, X)) == list(map(len, y))


@pytest.mark.parametrize("name", NAMES)
def test_each_is_learned_scored_and_labelled(name, tmp_path, capsys):
    path = sample(name)
    entry = table.BY_NAME[name]
    model = tmp_path / "model"
    given = ["train", path, "-m", model, "--epochs", 3, "--dev", path]
    code, of_dev, err = run(capsys, *given)
    assert code == 0 and f"read as {name}: " in err, err
    named = ["--format", "crfsuite"] if name == "crfsuite" else []
    code, out, err = run(capsys, "evaluate", path, "-m", model, *named)
    assert code == 0 and of_dev and out, err
    assert {*of_dev.split()} <= {*out.split()}, f"{of_dev} is not in {out}"
    code, out, err = run(capsys, "tag", path, "-m", model, *named)
    if entry.kind in (TEXTS, WORDS) or entry.is_written:
        assert code == 0 and out, err
    else:
        assert code == 1 and name in err
    code, _, err = run(capsys, "check", path, "--cv", 2, "--top", 2)
    assert code == 0 and "errors are expected in" in err, err
    code, out, err = run(
        capsys, "select", path, "-m", model, "-k", 2, "--strategy", "margin"
    )
    assert code == 0 and out, err


@pytest.mark.parametrize("name", NAMES)
def test_options_that_a_format_lacks_are_refused(name, tmp_path, capsys):
    options = {"tokens": "0", "label": "1", "separator": "|", "comment": "%"}
    for option, value in options.items():
        if option in table.BY_NAME[name].options:
            continue
        given = ("train", sample(name), "-m", tmp_path / "model")
        code, _, err = run(capsys, *given, f"--{option}", value)
        assert code == 2 and f"--{option} is not for " in err
    assert not (tmp_path / "model").exists()


def test_the_table_of_the_page():
    page = (DOCS / "guide-files.md").read_text("utf-8")
    shown = page.split("<!-- formats -->\n")[1].split("<!-- /formats -->")[0]
    assert shown == table.markdown(), (
        "replace the lines between <!-- formats --> and <!-- /formats --> in "
        "docs/guide-files.md by what python -m skstruct.datasets.formats.table prints"
    )


def test_help_lists_the_formats(capsys):
    """A line each, once, behind the options."""
    _, out, _ = run(capsys, "train", "--help")
    options, listed = out.split("\nformats:\n")
    for each in table.FORMATS:
        assert listed.count(f"  {each.name}: ") == 1
        assert each.description not in " ".join(options.split())


UNKNOWN = {
    "text": "The cat sat on the mat.\nIt was a very old mat, and a good one.\nYes.\n",
    "markup": "<a>\n<b>x</b> <c>y z</c>\n<b>x</b>\n</a>\n",
    "numbers": "1\n2\n3\n",
    "ragged": "a\tb\tc\nd\ne\tf\ng\th\ti\tj\n",
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_is_not_recognised_is_refused_by_what_was_seen(name, tmp_path, capsys):
    """Nothing is segmented text because it is nothing else."""
    path = tmp_path / "notes"
    path.write_text(UNKNOWN[name])
    code, _, err = run(capsys, "train", path, "-m", tmp_path / "model")
    assert code == 1 and "cannot tell the format" in err and "--format" in err
    assert not (tmp_path / "model").exists()


def test_a_mistake_in_columns_is_named_by_its_line(tmp_path, capsys):
    for text, line in (
        ("EU NNP B-ORG\nrejects VBZ\nGerman JJ B-MISC\n", 2),
        ("Ruth B-PER\nleft O\n\n\ufeff\n", 4),
    ):
        path = tmp_path / "notes.txt"
        path.write_text(text, encoding="utf-8")
        code, _, err = run(capsys, "train", path, "-m", tmp_path / "model")
        assert code == 1 and f"notes.txt, line {line}: expected" in err


def test_formats_that_are_not_read_say_what_reads_them(tmp_path, capsys):
    for name, text, said in (
        ("a.parquet", "PAR1", "a.parquet: not readable"),
        ("a.xmi", "<xmi:XMI>", "UIMA"),
        ("a.xml", "<GateDocument>\n", "GATE"),
        ("a.xml", "<?xml?>\n<collection><source>x\n", "BioC"),
    ):
        (tmp_path / name).write_text(text)
        code, _, err = run(capsys, "train", tmp_path / name, "-m", tmp_path / "model")
        assert code == 1 and said in err


OF_TOKENS = [each.name for each in table.FORMATS if isinstance(each, TokenFormat)]


@pytest.mark.parametrize("name", OF_TOKENS)
def test_sentences_that_are_selected_are_a_file_of_the_format(name, tmp_path, capsys):
    """What select writes is annotated, and read again."""
    path, model = sample(name), tmp_path / "model"
    given = ["--format", name] if name == "crfsuite" else []
    code, _, err = run(capsys, "train", path, "-m", model, "-a", "l1crf", *given)
    assert code == 0, err
    code, out, err = run(capsys, "select", path, "-m", model, "-k", 3, *given)
    assert code == 0, err
    (tmp_path / path.name).write_text(out, encoding="utf-8")
    X, y = read_tokens(tmp_path / path.name, name)
    pool = list(zip(*read_tokens(path, name)))
    assert len(X) == 3 and all(pair in pool for pair in zip(X, y))


@pytest.mark.parametrize("name", [each for each in NAMES if sample(each).is_file()])
def test_the_first_lines_alone_are_taken_for_no_other_format(name):
    lines = sample(name).read_text("utf-8").split("\n")
    for n in (1, 2, 3, 5, 10, 20):
        found = table.recognised(Head("notes", lines[:n]))
        assert found is None or found[0].name == name, (n, found)
