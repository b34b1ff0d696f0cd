"""Labels that the scheme of the constraints does not know, where parts of the corpus
are trained on.
"""

import pytest
from cli_cases import run

from skstruct import (
    L1CRF,
    L1CRFCV,
    CalibratedTagger,
    KBestReranker,
    StructuredPerceptron,
)
from skstruct.inspection import label_issues

X = [["a", "b", "c"]] * 12
Y = {
    "label": (
        [["B-X", "E-X", "O"]] * 12,
        "label 'E-X' does not belong to the scheme BIO; expected one of B, I, O",
    ),
    "order": (
        [["B-X", "O", "I-X"]] * 12,
        "the label 'I-X' cannot follow 'O' under the constraints 'BIO'",
    ),
}
TAGGER = StructuredPerceptron(constraints="BIO", max_iter=1)
VERBS = {
    "label_issues": lambda y: label_issues(L1CRF(constraints="BIO"), X, y, cv=3),
    "reranker": KBestReranker(TAGGER, cv=3).fit,
    "calibration": CalibratedTagger(TAGGER, cv=3).fit,
    "search": L1CRFCV(constraints="BIO", cv=3).fit,
}


@pytest.mark.parametrize("wrong", Y)
@pytest.mark.parametrize("verb", VERBS)
def test_the_error_names_label_and_scheme(verb, wrong):
    y, message = Y[wrong]
    with pytest.raises(ValueError, match=message) as error:
        VERBS[verb](y) if verb == "label_issues" else VERBS[verb](X, y)
    assert (error.value.sequence is None) == (wrong == "label")


@pytest.mark.parametrize("wrong", Y)
@pytest.mark.parametrize(
    "command",
    [
        ["check"],
        ["train", "-m", "m", "--calibrate"],
        ["train", "-m", "m", "-a", "reranker"],
    ],
)
def test_the_command_line_says_it(command, wrong, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    y, message = Y[wrong]
    sentences = (
        "".join(f"{token} {label}\n" for token, label in zip(*pair))
        for pair in zip(X, y)
    )
    (tmp_path / "train.txt").write_text("\n".join(sentences))
    code, out, err = run(capsys, *command, "train.txt", "-p", "constraints=BIO")
    assert (code, out) == (1, "") and "error: train.txt" in err and message in err
