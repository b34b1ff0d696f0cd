"""Labels of segments in other spellings: read, constrained, scored and written alike."""

import numpy as np
import pytest
from cli_cases import run

from skstruct import L1CRF, StructuredPerceptron, load
from skstruct._data.spellings import Respelling, parts_of, respelling_of, shown
from skstruct.datasets import columns_to_spans, load_chunking
from skstruct.metrics import segment_f1_score
from skstruct.schemes import (
    allowed_transitions,
    convert_labels,
    convert_scheme,
    labels_to_spans,
)

RESPELLINGS = [
    Respelling(is_last, mark, is_lower, outside)
    for is_last, mark in [(False, m) for m in "_:./|"] + [(True, m) for m in "-_:."]
    for is_lower in (False, True)
    for outside in ("O", "o", "0", "-", "_")
]
Y = [
    ["B-PER", "I-PER", "O", "B-LOC", "B-PER"],
    ["O", "B-MISC.x", "I-MISC.x", "O"],
    ["B-LOC"],
]


@pytest.fixture(params=RESPELLINGS, ids=lambda r: f"{shown(r)} {r.outside}")
def spelling(request):
    return request.param


def respelled(y, spelling):
    return [list(map(spelling.write, labels)) for labels in y]


def test_every_reader_of_labels_finds_the_segments(spelling):
    y = respelled(Y, spelling)
    for usual, labels in zip(Y, y):
        assert labels_to_spans(labels, "BIO") == labels_to_spans(usual, "BIO")
        assert labels_to_spans(labels, "BIO", strict=True) == labels_to_spans(
            usual, "BIO", strict=True
        )
    tokens = [["w"] * len(labels) for labels in y]
    assert columns_to_spans(tokens, y) == columns_to_spans(tokens, Y)
    wrong = [["O"] * 5, *Y[1:]]
    assert segment_f1_score(y, respelled(wrong, spelling)) == segment_f1_score(Y, wrong)
    usual = sorted({label for labels in Y for label in labels})
    of_usual = allowed_transitions(usual, "BIO")
    for a, b in zip(
        of_usual, allowed_transitions(respelled([usual], spelling)[0], "BIO")
    ):
        assert np.array_equal(a, b)


def test_what_is_rewritten_keeps_its_spelling(spelling):
    y = respelled(Y, spelling)
    assert respelling_of(label for labels in y for label in labels) == spelling
    assert convert_scheme(y, "BIO", "BIO", strict=False) == y
    expected = respelled(convert_scheme(Y, "BIO", "BIOES"), spelling)
    assert convert_scheme(y, "BIO", "BIOES") == expected
    assert convert_labels(y[0], "BIO", "BIOES") == expected[0]
    with pytest.raises(ValueError, match="labels of the scheme IO have none"):
        convert_scheme(y, "IO", "BIO")


def test_a_label_that_is_spelled_otherwise_than_the_rest_is_refused():
    for labels in (["B-PER", "b-PER"], ["B-PER", "B_PER"], ["O", "0", "B-X"]):
        with pytest.raises(ValueError, match="is spelled otherwise than"):
            labels_to_spans(labels, "BIO")
        assert respelling_of(["B-PER", "O"]) is None


def test_types_may_look_like_spellings():
    assert labels_to_spans(["B-B_x", "I-B_x", "O"], "BIO") == [(0, 2, "B_x")]
    assert labels_to_spans(["B_cell", "B_cell"], "IO") == [(0, 2, "B_cell")]
    assert parts_of("NN") == ("", "NN") and parts_of("E-x_B") == ("E", "x_B")


@pytest.mark.parametrize("spelling", [RESPELLINGS[3], RESPELLINGS[-1]], ids=str)
@pytest.mark.parametrize("model", [StructuredPerceptron, L1CRF])
def test_a_model_is_constrained_and_keeps_the_spelling(model, spelling, tmp_path):
    X, usual = load_chunking()
    X, usual = X[:40], usual[:40]
    y = respelled(usual, spelling)
    tagger = model(features="chunk", constraints="BIO", random_state=0, max_iter=3)
    with pytest.warns() if model is L1CRF else _nothing():
        of_usual = tagger.fit(X, usual).predict(X)
        found = tagger.fit(X, y).predict(X)
    assert {label for labels in found for label in labels} <= {
        label for labels in y for label in labels
    }
    tagger.save(tmp_path / "model")
    assert load(tmp_path / "model").predict(X) == found
    assert segment_f1_score(y, found) > 0.5
    assert len(of_usual) == len(found)


class _nothing:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


def test_commands_know_the_spelling(spelling, tmp_path, capsys):
    if spelling.mark in "|/" or spelling.outside == "_":
        pytest.skip("a few are enough for commands")
    text = "".join(
        "".join(f"{word}\t{spelling.write(label)}\n" for word, label in sentence) + "\n"
        for sentence in 4
        * [
            [("Ana", "B-PER"), ("Ruiz", "I-PER"), ("left", "O"), ("Lima", "B-LOC")],
            [("Tom", "B-PER"), ("saw", "O"), ("New", "B-LOC"), ("York", "I-LOC")],
        ]
    )
    path, model = tmp_path / "train.tsv", tmp_path / "model"
    path.write_text(text)
    for more in ([], ["--repair", "--param", "constraints=BIO"]):
        given = ["train", path, "-m", model, "--epochs", 3, "--force", *more]
        code, _, err = run(capsys, *given)
        assert code == 0 and f"scheme BIO, spelled {shown(spelling)}" in err, err
        assert "repaired" not in err
    code, out, err = run(capsys, "evaluate", path, "-m", model)
    assert code == 0 and "micro avg" in out and "PER" in out, out
    code, out, _ = run(capsys, "tag", path, "-m", model)
    assert {line.split("\t")[-1] for line in out.split("\n") if line} <= {
        line.split("\t")[-1] for line in text.split("\n") if line
    }
