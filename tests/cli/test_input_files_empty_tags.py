"""Words that nobody has tagged: skstruct tag by a parser, training, evaluation."""

import shlex

import pytest
from cli_cases import run

from skstruct import ShiftReduceParser, StructuredPerceptron
from skstruct.datasets import load_parsing

SENTENCES, TREES = (part[:10] for part in load_parsing())
FORMS = [[form for form, _ in sentence] for sentence in SENTENCES]
ROW = "{}\t{}\t_\t_\t{}\t_\t_\t_\t_\t_\n"


def conllu(tags="_"):
    rows = (
        "".join(ROW.format(t, form, tags) for t, form in enumerate(x, start=1))
        for x in FORMS
    )
    return "# text\n" + "\n".join(rows) + "\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder with a parser, a tagger and raw text."""
    monkeypatch.chdir(tmp_path)
    ShiftReduceParser("hs28", max_iter=2, random_state=0).fit(SENTENCES, TREES).save(
        "parser"
    )
    tags = [[tag for _, tag in sentence] for sentence in SENTENCES]
    StructuredPerceptron(max_iter=9, random_state=0).fit(FORMS, tags).save("my tagger")
    (tmp_path / "raw.conllu").write_text(conllu(), encoding="utf-8")
    return tmp_path


def test_the_error_shows_the_pipe_that_works(files, capsys, stdin):
    code, out, err = run(capsys, "tag", "raw.conllu", "--model", "parser", "-o", "out")
    assert (code, out) == (1, "") and not (files / "out").exists()
    assert "error: raw.conllu, line 2: column xpos is empty: tag first: " in err
    first, second = err.partition("tag first: ")[2].partition(";")[0].split(" | ")
    first = [part.replace("TAGGER", "my tagger") for part in shlex.split(first)]
    code, out, _ = run(capsys, *first[1:])
    assert code == 0
    stdin(out)
    code, out, err = run(capsys, *shlex.split(second)[1:])
    expected = (
        ShiftReduceParser("hs28", max_iter=2, random_state=0)
        .fit(SENTENCES, TREES)
        .predict(SENTENCES)
    )
    rows = [line.split("\t") for line in out.splitlines() if line[:1].isdecimal()]
    assert (code, err) == (0, "") and [(int(row[6]), row[7]) for row in rows] == sum(
        expected, []
    )


def test_standard_input_columns_and_batches(files, capsys, stdin):
    stdin(conllu())
    code, out, err = run(capsys, "tag", "-m", "parser", "--batch", 1)
    assert (code, out) == (
        1,
        "",
    ) and "skstruct tag - -m TAGGER | skstruct tag -m parser" in err
    (files / "raw.txt").write_text("the _\ndog _\n")
    code, out, err = run(capsys, "tag", "raw.txt", "-m", "parser")
    assert (code, out) == (
        1,
        "",
    ) and "raw.txt, line 1: column 1 is empty: tag first" in err


def test_who_insists_or_has_some_tags_is_served(files, capsys):
    assert (
        run(capsys, "tag", "raw.conllu", "-m", "parser", "--tokens", "form,xpos")[0]
        == 0
    )
    (files / "some.conllu").write_text(conllu().replace("\t_\t_\t_", "\t_\t_\tNN", 1))
    code, _, err = run(capsys, "tag", "some.conllu", "-m", "parser")
    assert (code, err) == (0, "")
    assert run(capsys, "tag", "raw.conllu", "-m", "my tagger")[0] == 0


def test_training_and_evaluation_say_it(files, capsys):
    row = "{}\t{}\t_\t_\t_\t_\t{}\t{}\t_\t_\n"
    sentences = (
        [(t, x[t - 1], *arc) for t, arc in enumerate(y, start=1)]
        for x, y in zip(FORMS, TREES)
    )
    text = "\n".join(
        "".join(row.format(*token) for token in sentence) for sentence in sentences
    )
    (files / "trees.conllu").write_text(text + "\n", encoding="utf-8")
    said = "trees.conllu: column 1 of tokens is empty: tag first"
    for command in ("train", "--force", "-a", "parser", "--epochs", 1), ("evaluate",):
        code, _, err = run(capsys, *command, "trees.conllu", "-m", "parser")
        assert code == 0 and err.count(said) == 1
        code, _, err = run(
            capsys, *command, "trees.conllu", "-m", "other", "--tokens", "form"
        )
        assert said not in err
