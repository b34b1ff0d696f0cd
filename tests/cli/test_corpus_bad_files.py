"""tag and evaluate of models of every kind on bad files."""

import pytest
from cli_cases import run
from cli_model_cases import KINDS, OF_WORDS, averager, corpus_of, refused

from skstruct import (
    Segmenter,
    StructuredPerceptron,
)

pytestmark = pytest.mark.xdist_group("models of every kind")  # they are fitted once


# --------------------------------------------------------------------------------------
# Bad input
# --------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("command", ["tag", "evaluate"])
def test_files_of_another_format(models, capsys, command, kind):
    other = "columns" if kind in OF_WORDS else "segmented"
    message = f"the model is a {dict(words='segmenter', trees='parser', labels='tagger')[corpus_of(kind)]}"
    refused(
        capsys,
        message,
        command,
        models / "words",
        "-m",
        models / kind,
        "--format",
        other,
    )


DAMAGED = {
    "labels": [
        (b"a X Y\nb\n", "line 2: expected 3 columns, as on line 1; found 1"),
        (b"a X Y\n\xff X Y\n", "line 2: not valid utf-8"),
    ],
    "words": [(b"a b\n\xff\n", "line 2: not valid utf-8")],
    "trees": [
        (b"1\ta\t_\t_\tX\t_\t0\tr\t_\t_\n2\tb\n", "line 2: expected 10 columns"),
        (
            b"1\ta\t_\t_\tX\t_\t0\tr\t_\t_\n3\ta\t_\t_\tX\t_\t0\tr\t_\t_\n",
            "line 2: expected the id 2; found '3'",
        ),
        (b"\n1\t\t_\t_\tX\t_\t0\tr\t_\t_\n", "line 2: "),
        (b"a X 0 r\n\nb X\n", "line 3: expected 4 columns, as on line 1; found 2"),
    ],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("command", ["tag", "evaluate"])
def test_damaged_files(models, capsys, tmp_path, command, kind):
    path = tmp_path / "damaged"
    for data, message in DAMAGED[corpus_of(kind)]:
        path.write_bytes(data)
        assert (
            refused(capsys, f"{path}, {message}", command, path, "-m", models / kind)
            == ""
        )


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_to_evaluate_or_tag(models, capsys, tmp_path, kind):
    (tmp_path / "empty").write_text("\n\n")
    refused(
        capsys,
        "the file has no sentence",
        "evaluate",
        tmp_path / "empty",
        "-m",
        models / kind,
    )
    assert run(capsys, "tag", tmp_path / "empty", "-m", models / kind) == (
        0,
        "\n\n",
        "",
    )


@pytest.mark.parametrize(
    "data, message",
    [
        (
            b"1\ta\t_\t_\tX\t_\t_\tr\t_\t_\n",
            "line 1: expected a head, 0 or the id of a word; found '_'",
        ),
        (
            b"1\ta\t_\t_\tX\t_\t2\tr\t_\t_\n",
            "line 1: expected a head between 0 and 1; found 2",
        ),
        (
            b"a X 0 r\n\nb X 1 r\n",
            "line 3: expected a head between 0 and 1; found the word itself",
        ),
        (
            b"a X 0 r\nb X r 1\n",
            "line 2: expected a head, 0 or the id of a word; found 'r'",
        ),
        (
            b"a 0 r\n",
            "line 1: the model reads 2 columns of a token; found 1; choose which to read with --tokens",
        ),
    ],
)
def test_trees_that_are_none(models, capsys, tmp_path, data, message):
    (tmp_path / "bad").write_bytes(data)
    refused(
        capsys, f"bad, {message}", "evaluate", tmp_path / "bad", "-m", models / "parser"
    )


def test_columns_that_do_not_fit(models, capsys):
    for options in (["--tokens", "0"], ["--tokens", "0,1,0"]):
        refused(
            capsys,
            "the model reads 2 columns of",
            "tag",
            models / "pairs",
            "-m",
            models / "parser",
            *options,
        )
    trees = models / "trees", "-m", models / "parser", "--tokens"
    refused(
        capsys,
        "the model reads 2 columns of a token; --tokens names 3",
        "tag",
        *trees,
        "form,xpos,upos",
    )
    refused(
        capsys, "the field deprel is the label's", "evaluate", *trees, "form,deprel"
    )
    assert run(capsys, "tag", *trees, "form,shape")[0] == 2


def test_what_leaves_no_segmentation_names_the_line(capsys, tmp_path):
    """Where no label is S, there is none for a text of one character."""
    segmenter = Segmenter(
        StructuredPerceptron("char", constraints="BMES", max_iter=1, random_state=0)
    )
    segmenter.fit(["天天"], [["天天"]]).save(tmp_path / "m")
    (tmp_path / "text").write_text("天天\n天天\n\n天\n", encoding="utf-8")
    for batch in (1, 2, 4):
        code, _, err = run(
            capsys, "tag", tmp_path / "text", "-m", tmp_path / "m", "--batch", batch
        )
        assert (
            code == 1
            and f"{tmp_path / 'text'}, line 4: " in err
            and "leave no labelling" in err
        )


def test_models_the_command_line_does_not_know(models, capsys, tmp_path):
    StructuredPerceptron(max_iter=1).fit([[{"a": 1}]], [["X"]]).save(tmp_path / "bags")
    averager(StructuredPerceptron(max_iter=1)).fit([[{"a": 1}]], [["X"]]).save(
        tmp_path / "bags of many"
    )
    for name in ("bags", "bags of many"):
        for command in ("tag", "evaluate"):
            refused(
                capsys,
                "which the command line cannot; use it in Python",
                command,
                models / "labels",
                "-m",
                tmp_path / name,
            )
        refused(
            capsys,
            "which the command line cannot; use it in Python",
            "show",
            "-m",
            tmp_path / name,
            "--explain",
            "a",
        )
