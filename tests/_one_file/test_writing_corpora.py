"""Files of models of whole corpora: the same labels and scores, and the output of
``skstruct tag``.
"""

import json
import subprocess
import sys

import pytest
from one_file_cases import asked, interpreters, needs_node, written

from skstruct import L1CRF, Segmenter, StructuredPerceptron
from skstruct.datasets import read_columns, read_segmented
from skstruct.interchange import load_crfsuite

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),
]

IN_PYTHON = """
import json, sys
sys.path.insert(0, sys.argv[1])
import tagger
X = [[tuple(x) if isinstance(x, list) else x for x in s] for s in json.load(sys.stdin)]
print(json.dumps([tagger.predict(X), tagger.decision_function(X)]))
"""


def check_everywhere(model, X, folder):
    """Labels and scores are equal in all versions of Python and in Node; rounding
    changes few sequences.
    """
    expected, scores = list(model.predict(X)), model.decision_function(X).tolist()
    written(model, folder)
    for program in interpreters().values():
        command = [program, "-I", "-S", "-c", IN_PYTHON, folder]
        said = subprocess.run(
            command, input=json.dumps(X).encode(), capture_output=True, check=True
        ).stdout
        assert json.loads(said) == [expected, scores]
    path = written(model, folder, "tagger.js", weights="int16")
    labels = asked(path, X, "predict")["predict"]
    assert sum(one != other for one, other in zip(expected, labels, strict=True)) <= 1
    said = asked(written(model, folder, "tagger.js"), X, "predict", "decisionFunction")
    assert said == {"predict": expected, "decisionFunction": scores}


@needs_node
@pytest.mark.parametrize("learner", [StructuredPerceptron, L1CRF])
def test_chunks(learner, corpus_path, tmp_path):
    X, y = read_columns(corpus_path("conll2000/train.txt"), return_X_y=True)
    model = learner("chunk", constraints="BIO", random_state=0).fit(X, y)
    check_everywhere(
        model,
        read_columns(corpus_path("conll2000/test.txt"), return_X_y=True)[0],
        tmp_path,
    )


@needs_node
@pytest.mark.parametrize("name", ["ap", "arow", "l2sgd", "lbfgs", "lbfgs-sparse", "pa"])
def test_models_of_crfsuite(name, corpus_path, tmp_path):
    path = corpus_path(f"foreign/own/crfsuite-{name}.crfsuite")
    cases = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))[
        "sequences"
    ]
    X = [
        case["items"]
        for case in cases
        if all(isinstance(token, dict) for token in case["items"])
    ]
    check_everywhere(load_crfsuite(path), X, tmp_path)


@pytest.mark.parametrize("corpus", ["conll2000", "sxu"])
def test_the_command_line(corpus, corpus_path, tmp_path):
    train, test = (corpus_path(f"{corpus}/{part}.txt") for part in ("train", "test"))
    if corpus == "sxu":
        words = read_segmented(train)[:3000]
        model = Segmenter(StructuredPerceptron("char", max_iter=3)).fit(
            ["".join(w) for w in words], words
        )
    else:
        X, y = read_columns(train, return_X_y=True)
        model = StructuredPerceptron("chunk", max_iter=3, constraints="BIO").fit(
            X[:3000], y[:3000]
        )
    model.save(tmp_path / "model.skstruct")
    own = subprocess.run(
        [sys.executable, "-I", "-S", written(model, tmp_path), test],
        capture_output=True,
    )
    command = [
        sys.executable,
        "-m",
        "skstruct",
        "tag",
        test,
        "--model",
        tmp_path / "model.skstruct",
    ]
    assert own.stdout == subprocess.run(command, capture_output=True, check=True).stdout
