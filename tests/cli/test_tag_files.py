"""skstruct tag on files, standard input and standard output."""

import os
import re

import pytest
from cli_cases import N_TRAIN, columns, run

import skstruct
from skstruct.cli import tag
from skstruct.datasets import load_chunking, load_sample, load_segmentation


# --------------------------------------------------------------------------------------
# tag
# --------------------------------------------------------------------------------------
def labelled(text):
    """The rows of sentences of columns."""
    return [
        [line.split() for line in part.splitlines()]
        for part in text.strip("\n").split("\n\n")
    ]


@pytest.mark.parametrize("batch", [1, 7, 1000])
def test_tag_appends_a_column(folder, capsys, stdin, batch):
    X, y = load_chunking()
    stdin((folder / "test.txt").read_text(encoding="utf-8"))
    code, out, err = run(capsys, "tag", "--model", folder / "chunk", "--batch", batch)
    expected = skstruct.load(folder / "chunk").predict(X[N_TRAIN:])
    assert (code, err) == (0, "")
    assert [[row[3] for row in sentence] for sentence in labelled(out)] == expected
    assert re.sub(r" \S+$", "", out, flags=re.M) == (folder / "test.txt").read_text(
        encoding="utf-8"
    )


def test_tag_needs_no_label_and_keeps_what_it_does_not_read(folder, capsys, stdin):
    stdin("\n\n// note\nthe\tDT  \r\n// inside\ndog\tNN\n\n\n\na\tDT\n// end\n")
    code, out, _ = run(capsys, "tag", "-m", folder / "chunk", "--comment", "//")
    assert code == 0
    assert (
        out
        == "\n\n// note\nthe\tDT\tB-NP\n// inside\ndog\tNN\tI-NP\n\n\n\na\tDT\tB-NP\n// end\n"
    )


@pytest.mark.parametrize("separator", [" ", "\t"])
def test_tag_keeps_an_ideographic_space_and_drops_trailing_blanks(
    capsys, stdin, tmp_path, separator
):
    stdin("a A\n\u3000 B\n\nb A\n")
    assert (
        run(
            capsys,
            "train",
            "-",
            "-m",
            tmp_path / "m",
            "--format",
            "columns",
            "--epochs",
            "1",
        )[0]
        == 0
    )
    stdin(f"a{separator}c\n\u3000{separator}y \t\n")
    code, out, _ = run(capsys, "tag", "-m", tmp_path / "m")
    assert code == 0
    assert [line.split(separator)[:2] for line in out.splitlines()] == [
        ["a", "c"],
        ["\u3000", "y"],
    ]
    assert all(line.count(separator) == 2 for line in out.splitlines())


def test_tag_nothing(folder, capsys, stdin):
    for text in ("", "\n\n"):
        stdin(text)
        assert run(capsys, "tag", "-m", folder / "chunk") == (0, text, "")


def test_tag_conllu_fills_the_field(folder, capsys):
    text = (folder / "test.conllu").read_text(encoding="utf-8")
    code, out, _ = run(
        capsys, "tag", folder / "test.conllu", "-m", folder / "pos", "--label", "upos"
    )
    assert code == 0
    rows = [line.split("\t") for line in out.splitlines()]
    before = [line.split("\t") for line in text.splitlines()]
    assert [r[:3] + r[4:] for r in rows] == [
        r[:3] + r[4:] for r in before
    ]  # all but that field
    forms = load_sample("en").tokens[40:50]
    tags = [row[3] for row in rows if row[0].isdecimal()]
    assert tags == sum(skstruct.load(folder / "pos").predict(forms), [])


def test_tag_guesses_conllu_from_standard_input(folder, capsys, stdin):
    stdin((folder / "test.conllu").read_text(encoding="utf-8"))
    code, out, _ = run(capsys, "tag", "-m", folder / "pos", "--label", "upos")
    assert (
        code == 0
        and out.startswith("# sent_id = 0\n1\t")
        and len(out.splitlines()[1].split("\t")) == 10
    )


def test_tag_text(folder, capsys, stdin):
    texts, _ = load_segmentation()
    texts = [*texts[N_TRAIN:], "", "他 在 看书", "好。"]
    stdin("\n".join(texts))
    code, out, _ = run(capsys, "tag", "-m", folder / "seg")
    expected = skstruct.load(folder / "seg").predict(texts)
    assert code == 0 and out == "".join(" ".join(words) + "\n" for words in expected)


def test_tag_with_a_dictionary(folder, capsys, stdin, tmp_path):
    (tmp_path / "words").write_text("北京大学图书馆 看书\n", encoding="utf-8")
    stdin("他在北京大学图书馆看书。\n")
    code, out, _ = run(
        capsys, "tag", "-m", folder / "seg", "--dictionary", tmp_path / "words"
    )
    assert code == 0 and " 北京大学图书馆 看书 " in out
    assert (
        run(capsys, "tag", "-m", folder / "chunk", "--dictionary", tmp_path / "words")[
            0
        ]
        == 2
    )


def test_standard_input_is_read_once(folder, capsys):
    code, _, err = run(capsys, "tag", "-", "-", "-m", folder / "seg")
    assert code == 2 and "only one file can be standard input" in err


def test_tag_joint_model(capsys, stdin, tmp_path):
    sample = load_sample("zh")
    pairs = [list(zip(*pair)) for pair in zip(sample.words, sample.tags)]
    skstruct.Segmenter().fit(sample.text[:50], pairs[:50]).save(tmp_path / "m")
    stdin(sample.text[0] + "\n")
    code, out, _ = run(capsys, "tag", "-m", tmp_path / "m", "--tag-separator", "_")
    assert code == 0 and all(len(word.split("_")) == 2 for word in out.split())


def test_tag_scores_and_kbest(folder, capsys, stdin):
    X, _ = load_chunking()
    model = skstruct.load(folder / "chunk")
    text = columns(X[:2], [["?"] * len(x) for x in X[:2]]).rstrip("\n") + "\n"
    stdin(text)
    code, out, _ = run(capsys, "tag", "-m", folder / "chunk", "--kbest", 3)
    assert code == 0
    expected = [pair for lists in model.predict_kbest(X[:2], 3) for pair in lists]
    found = labelled(out)
    assert [[row[-1] for row in sentence[1:]] for sentence in found] == [
        labels for labels, _ in expected
    ]
    assert [sentence[0][:2] for sentence in found] == [
        ["#", str(k)] for _ in range(2) for k in range(3)
    ]
    scores = [float(sentence[0][2]) for sentence in found]
    assert scores == pytest.approx([score for _, score in expected], abs=1e-5)
    stdin(text)
    code, out, _ = run(capsys, "tag", "-m", folder / "chunk", "--scores")
    assert [s[0][2] for s in labelled(out)] == [
        f"{v:.6f}" for v in model.decision_function(X[:2])
    ]
    code, _, err = run(capsys, "tag", "-m", folder / "seg", "--scores")
    assert code == 2 and "Segmenter" in err


def test_tag_to_a_file_whole_or_not_at_all(folder, capsys, tmp_path):
    (tmp_path / "out").write_text("before")
    bad = tmp_path / "bad.txt"
    bad.write_text("the DT\n\n" * 20 + "dog\n")
    options = "-m", folder / "chunk", "-o", tmp_path / "out", "--force"
    code, _, err = run(capsys, "tag", bad, *options, "--batch", 5)
    assert code == 1 and f"{bad}, line 41: expected 2 columns" in err
    assert (tmp_path / "out").read_text() == "before" and len(
        list(tmp_path.iterdir())
    ) == 2
    code, out, _ = run(capsys, "tag", folder / "test.txt", *options)
    assert (code, out) == (0, "") and len(list(tmp_path.iterdir())) == 2
    code, out, _ = run(capsys, "tag", folder / "test.txt", "-m", folder / "chunk")
    assert (tmp_path / "out").read_text(encoding="utf-8") == out


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="no /dev/null")
def test_output_leaves_devices_alone(folder, capsys):
    assert (
        run(
            capsys,
            "tag",
            folder / "test.txt",
            "-m",
            folder / "chunk",
            "-o",
            "/dev/null",
        )[0]
        == 0
    )
    assert not os.path.isfile("/dev/null")
    train = "train", folder / "train.txt", "--epochs", 1, "-m", "/dev/null"
    assert run(capsys, *train)[0] == 0 and not os.path.isfile("/dev/null")


def test_tag_streams(folder, capsys, monkeypatch):
    """Only a batch of an endless input is held."""
    alive = {"most": 0}
    inner = tag.sentences

    def endless(*arguments, **options):
        for k, sentence in enumerate(inner(*arguments, **options)):
            alive["most"] = max(alive["most"], k - alive.get("written", 0))
            yield sentence

    def written(output):
        for line in output:
            alive["written"] = alive.get("written", 0) + (line == "\n")

    monkeypatch.setattr(tag, "sentences", endless)
    monkeypatch.setattr(tag, "output", lambda *_: _Sink(written))
    assert (
        run(capsys, "tag", folder / "train.txt", "-m", folder / "chunk", "--batch", 10)[
            0
        ]
        == 0
    )
    assert alive["written"] == N_TRAIN and alive["most"] <= 10


class _Sink:
    def __init__(self, written):
        self.writelines = written

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def flush(self):
        pass


@pytest.mark.parametrize(
    "name, text, message",
    [
        (
            "chunk",
            "the\n",
            "<stdin>: there is no column 1, but 1 column; the model learned from columns, tokens 0,1",
        ),
        (
            "chunk",
            "the DT\n\n\xff DT X\n",
            "<stdin>, line 3: expected 2 columns, as on line 1; found 3",
        ),
        ("chunk", b"the DT\n\n\xff DT\n", "<stdin>, line 3: not valid utf-8"),
    ],
)
def test_tag_bad_input(folder, capsys, stdin, name, text, message):
    stdin(text)
    code, _, err = run(capsys, "tag", "-m", folder / name)
    assert code == 1 and message in err


def test_model_and_format_must_agree(folder, capsys):
    code, _, err = run(capsys, "tag", folder / "test.seg", "-m", folder / "chunk")
    assert code == 1 and "; the model learned from" in err
    code, _, err = run(capsys, "tag", folder / "test.conllu", "-m", folder / "seg")
    assert code == 1 and "the model is a segmenter" in err


def test_models_of_dicts_are_refused(capsys, stdin, tmp_path):
    skstruct.StructuredPerceptron().fit([[{"a": 1.0}]], [["X"]]).save(tmp_path / "m")
    stdin("a\n")
    code, _, err = run(capsys, "tag", "-m", tmp_path / "m")
    assert code == 1 and "dicts or lists of features" in err


def test_files_that_are_no_models(folder, capsys):
    code, _, err = run(capsys, "tag", "-m", folder / "train.txt")
    assert (
        code == 1 and "not a skstruct file" in err and str(folder / "train.txt") in err
    )


def test_constraints_that_leave_nothing_name_the_line(capsys, stdin, tmp_path):
    skstruct.StructuredPerceptron(
        constraints=[(None, "A"), ("A", "B"), ("B", None)]
    ).fit([["a", "b"]], [["A", "B"]]).save(tmp_path / "m")
    stdin("a\nb\n\na\n")
    code, _, err = run(capsys, "tag", "-m", tmp_path / "m")
    assert code == 1 and "<stdin>, line 4: sequence 1: the constraints" in err
