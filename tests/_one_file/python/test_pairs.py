"""Decoding of order 2 in one file: prefixes that cannot win are left out, and nothing
else changes.
"""

import json
import random
import subprocess

import pytest
from one_file_cases import NODE, asked, loaded, needs_node, written

from skstruct import StructuredPerceptron
from skstruct.datasets import load_chunking

LENGTHS = (1, 2, 3, 4, 7, 15, 60)


def random_case(
    n_labels, templates=("U:%x[0,0]", "B"), constrained=False, average=False
):
    """A model, sentences, and labels allowed for their tokens; without average the
    weights are integers.
    """
    draw = random.Random(n_labels)
    labels = [f"L{k}" for k in range(n_labels)]
    follow = {p: sorted({p, *draw.sample(labels, (n_labels + 1) // 2)}) for p in labels}
    X = [[draw.choice("abc") for _ in range(length)] for length in LENGTHS * 2]
    y = []
    for x in X:
        y.append([draw.choice(labels)])
        while len(y[-1]) < len(x):
            y[-1].append(draw.choice(follow[y[-1][-1]]))
    X, y = [*X, *(["a"] for _ in labels)], [*y, *([label] for label in labels)]
    steps = [(p, label) for p in labels for label in follow[p]] if constrained else None
    model = StructuredPerceptron(
        list(templates),
        order=2,
        constraints=steps,
        average=average,
        max_iter=2,
        random_state=0,
    ).fit(X, y)
    allowed = [
        [draw.choice([None, None, draw.choices(labels, k=2)]) for _ in x] for x in X
    ]
    return model, X, None if constrained else allowed


def check(model, X, allowed, folder):
    """Labels and scores of the written files are those of the model."""
    expected = {
        "predict": model.predict(X),
        "decisionFunction": model.decision_function(X).tolist(),
    }
    file, some = (
        loaded(written(model, folder)),
        allowed and model.predict(X, allowed=allowed),
    )
    assert {
        "predict": file.predict(X),
        "decisionFunction": file.decision_function(X),
    } == expected
    assert allowed is None or file.predict(X, allowed) == some
    if NODE:
        path = written(model, folder, "tagger.js")
        assert asked(path, X, *expected) == expected
        assert (
            allowed is None
            or asked(path, X, "predict", allowed=allowed)["predict"] == some
        )
    return expected["decisionFunction"]


@pytest.mark.parametrize("templates", [("U:%x[0,0]", "B"), ("U:%x[0,0]", "B1:%x[0,0]")])
@pytest.mark.parametrize("n_labels", [2, 3, 5, 12, 35])
def test_ties(n_labels, templates, tmp_path):
    """Of many labellings of the same score all find the same one."""
    scores = check(*random_case(n_labels, templates), tmp_path)
    assert all(score == int(score) for score in scores)


@pytest.mark.parametrize("n_labels", [2, 3, 12, 35])
@pytest.mark.parametrize("average", [False, True])
def test_constraints(n_labels, average, tmp_path):
    check(*random_case(n_labels, constrained=True, average=average), tmp_path)


def test_no_labelling_and_one(tmp_path):
    """What is allowed breaks the constraints. And of one label there is one
    labelling.
    """
    X, steps = [["a", "b", "a"]], [("A", "B"), ("B", "A")]
    model = StructuredPerceptron(["U:%x[0,0]"], order=2, constraints=steps).fit(
        X, [["A", "B", "A"]]
    )
    check(model, X, [[["A"], None, ["A", "B"]]], tmp_path)
    text = "sequence 0: the constraints and the labels allowed leave no labelling"
    with pytest.raises(ValueError, match=text):
        loaded(tmp_path / "tagger.py").predict(X, [[["A"], None, ["B"]]])
    if NODE:
        said = asked(
            tmp_path / "tagger.js", X, "predict", allowed=[[["A"], None, ["B"]]]
        )
        assert text in said["predict"]["error"]
    check(
        StructuredPerceptron(["U:%x[0,0]"], order=2).fit(X, [["A"] * 3]),
        [*X, ["b"]],
        None,
        tmp_path,
    )


@pytest.fixture(scope="module")
def chunker():
    X, y = load_chunking()
    return StructuredPerceptron("chunk", order=2, random_state=0).fit(
        X[:100], y[:100]
    ), X[100:]


def test_work(chunker, tmp_path, monkeypatch):
    """Of few pairs of labels predecessors are compared; those of the bounds are
    counted, too.
    """
    model, X = chunker
    file, compared = loaded(written(model, tmp_path)), []
    own = file.best_of_ranked
    monkeypatch.setattr(
        file,
        "best_of_ranked",
        lambda *given: compared.append(len(given[1])) or own(*given),
    )
    assert file.predict(X) == model.predict(X)
    n_pairs = len(model.classes_) ** 2 * sum(len(x) - 1 for x in X)
    assert 0 < sum(compared) < 0.2 * n_pairs


KEPT = """
const tables = [], fill = Float64Array.prototype.fill;
Float64Array.prototype.fill = function (...values) { tables.push(this); return fill.apply(this, values); };
const tagger = require(process.argv[1]), X = JSON.parse(require("fs").readFileSync(0, "utf8"));
const labels = tagger.predict(X), scores = tables.flatMap((table) => Array.from(table));
console.log(JSON.stringify([labels, scores.filter((s) => s > -Infinity).length]));
"""


@needs_node
def test_work_of_javascript(chunker, tmp_path):
    """Prefixes that are kept are few; their scores stand in tables filled with minus
    infinity.
    """
    model, X = chunker
    path = written(model, tmp_path, "tagger.js")
    said = subprocess.run(
        [NODE, "-e", KEPT, path],
        input=json.dumps(X).encode(),
        capture_output=True,
        check=True,
    )
    labels, n_kept = json.loads(said.stdout)
    assert labels == model.predict(X)
    n_pairs = len(model.classes_) ** 2 * sum(len(x) - 1 for x in X)
    assert sum(len(x) - 1 for x in X) <= n_kept < 0.05 * n_pairs
