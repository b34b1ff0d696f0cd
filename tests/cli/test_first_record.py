"""What was understood of a file is said by `train`, `tag` and `check`, with its first
record.
"""

import json

import pytest
from cli_cases import run, run_train
from format_samples import sample

from skstruct import cli
from skstruct.cli.common import Arguments
from skstruct.cli.corpus import first_file, read_files, with_source_layout
from skstruct.datasets.formats.table import BY_NAME


@pytest.fixture
def files(tmp_path):
    (tmp_path / "a.txt").write_text("the D\ndog N\n\na D\ncat N\n\n" * 9)
    text = json.dumps({"body": "Ann lives in Rome.", "spans": [[0, 3, "PER"]]}) + "\n"
    (tmp_path / "a.jsonl").write_text('{"body": "Nobody.", "spans": []}\n' + text * 9)
    (tmp_path / "a.seg").write_text("我 喜欢 图书馆\n" * 9)
    return tmp_path


SAID = {
    "a.txt": (
        "read 18 sentences, 36 tokens, 2 labels: columns, tokens 0, label -1 (",
        "first: the/D dog/N\n",
    ),
    "a.jsonl": (
        "read 10 texts, 9 spans, 1 type: jsonl, text='body' (",
        "first: Ann lives in Rome. | 'Ann' PER\n",
    ),
    "a.seg": ("read 9 sentences, 27 words: segmented (", "first: 我 喜欢 图书馆\n"),
}
OPTIONS = {"a.jsonl": ("--read", "text=body")}


@pytest.mark.parametrize("name", SAID)
def test_a_dry_run_says_how_it_reads_and_stops(files, capsys, name):
    before = sorted(files.iterdir())
    for more in ((), ("-m", files / "m", "--holdout", 0.5)):
        code, out, err = run(
            capsys, "train", files / name, "--dry-run", *OPTIONS.get(name, ()), *more
        )
        assert (code, out) == (0, "") and "trained" not in err
        assert SAID[name][0] in err
        assert sorted(files.iterdir()) == before


@pytest.mark.parametrize("name", SAID)
def test_train_says_it_whole_and_of_a_stream(files, capsys, name):
    for more, how in (((), "read "), (("--stream", 4), "read at first ")):
        capsys.readouterr()
        options = OPTIONS.get(name, ())
        train = "train", files / name, "-m", files / "m", "--force", "--epochs", 1
        assert cli.main(list(map(str, (*train, *options, *more)))) == 0
        err = capsys.readouterr().err
        assert how in err and SAID[name][1] in err
        if not more:
            assert SAID[name][0] in err


def test_check_says_it(files, capsys):
    capsys.readouterr()
    assert cli.main(["check", str(files / "a.txt"), "--cv", "2"]) == 0
    err = capsys.readouterr().err
    assert "read 18 sentences, 2 labels: columns, tokens 0, label -1 (" in err
    assert SAID["a.txt"][1] in err


def test_tag_shows_the_first_sentence_as_it_is_written(files, capsys):
    run_train(capsys, files / "a.txt", "-m", files / "m", "--epochs", 2)
    (files / "b.txt").write_text("a\ncat\n\nthe\n")
    capsys.readouterr()
    assert cli.main(["tag", str(files / "b.txt"), "-m", str(files / "m")]) == 0
    err = capsys.readouterr().err
    assert err.count("first: ") == 1
    assert "b.txt: columns, tokens 0 (as in training); first: a D | cat N\n" in err


def test_tag_shows_the_first_text_with_its_spans(files, capsys):
    """The key of texts is that of the model's file."""
    read = "--read", "text=body"
    run_train(capsys, files / "a.jsonl", "-m", files / "m", "--epochs", 2, *read)
    (files / "b.txt").write_text("Ann lives in Rome.")
    for name, how in (
        ("b.txt", "one text"),
        ("a.jsonl", "annotated texts; annotations"),
    ):
        capsys.readouterr()
        assert cli.main(["tag", str(files / name), "-m", str(files / "m")]) == 0
        err = capsys.readouterr().err
        assert f"{name}: read as {how}" in err
        assert "first: Ann lives in Rome. | 'Ann' PER\n" in err
    code, out, _ = run(capsys, "evaluate", files / "a.jsonl", "-m", files / "m")
    assert code == 0 and "1.0000" in out
    (files / "c.json").write_text(json.dumps([["Ann", {"entities": [[0, 3, "PER"]]}]]))
    code, _, err = run(capsys, "evaluate", files / "c.json", "-m", files / "m")
    assert (
        code == 1
        and "this looks like spacy; the model learned from jsonl, text='body'" in err
    )


def test_a_model_is_named_unless_nothing_is_learned(files, capsys):
    code, _, err = run(capsys, "train", files / "a.txt")
    assert code == 2 and "--model OUT is needed" in err and "--dry-run" in err


@pytest.mark.parametrize("label", ["_", "O", "-", "0", "B-X", "PER"])
@pytest.mark.parametrize(
    "name", [name for name, entry in BY_NAME.items() if entry.kind == "tokens"]
)
def test_one_label_shows_no_scheme(name, label):
    """A column that nobody has filled in is none of BIO."""
    arguments = cli.new_parser("skstruct", ("train",)).parse_args(
        ["train", str(sample(name)), "--format", name], namespace=Arguments()
    )
    with first_file(arguments, "labels") as (source, layout):
        corpus = read_files(arguments, source, layout)
    one = corpus._replace(y=[[label] * len(labels) for labels in corpus.y])
    found = with_source_layout(one, layout).layout
    assert (found.scheme, found.spelling) == (None, None)


def test_sentences_without_labels_hide_no_scheme(tmp_path, capsys):
    rows = [{"tokens": ["Ann", "Lee"], "ner_tags": y} for y in (["B-X", "I-X"], None)]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows * 4))
    code, _, err = run(capsys, "train", path, "--dry-run", "--force")
    assert code == 0 and "scheme BIO" in err and "have no label" in err
