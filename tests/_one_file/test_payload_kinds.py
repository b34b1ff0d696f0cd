"""Every kind of model that one file can hold: labels and scores are those of the model,
in each language.
"""

import json
import subprocess

import numpy as np
import pytest
from one_file_cases import NODE, asked, check_source, loaded, written
from one_file_models import MODELS, fitted, random_sentences

from skstruct import StructuredPerceptron
from skstruct.inspection import explain

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

N_SENTENCES, N_EXPLAINED = 100, 10


@pytest.fixture(scope="module", params=MODELS)
def case(request):
    model, kind = fitted(request.param)
    return model, random_sentences(kind, N_SENTENCES)


def test_exact(case, tmp_path):
    model, X = case
    path = written(model, tmp_path)
    check_source(path)
    file = loaded(path)
    labels, scores = model.predict(X), model.decision_function(X).tolist()
    assert file.predict(X) == labels
    assert file.decision_function(X) == scores
    if NODE:
        said = asked(
            written(model, tmp_path, "tagger.js"), X, "predict", "decisionFunction"
        )
        assert said == {"predict": labels, "decisionFunction": scores}


def test_probabilities(case, tmp_path):
    model, X = case
    file, X = loaded(written(model, tmp_path)), X[:60]
    known = hasattr(model, "predict_marginals")
    if not known:
        with pytest.raises(ValueError, match="^the model has no probabilities: "):
            file.predict_marginals(X)
    answers = [file.predict_marginals(X)] if known else []
    if NODE:
        said = asked(written(model, tmp_path, "tagger.mjs"), X, "predictMarginals")[
            "predictMarginals"
        ]
        if known:
            answers.append(said)
        else:
            assert said["error"].startswith("the model has no probabilities: ")
    for answer in answers:
        for mine, expected in zip(answer, model.predict_marginals(X), strict=True):
            np.testing.assert_allclose(
                np.reshape(mine, expected.shape), expected, rtol=0, atol=1e-12
            )


def test_rounded_weights_are_the_same_in_both_languages(case, tmp_path):
    model, X = case
    for weights in ("int16", "int8"):
        file = loaded(written(model, tmp_path, weights=weights))
        labels, scores = file.predict(X), file.decision_function(X)
        expected = model.predict(X)
        n_same = sum(mine == other for mine, other in zip(labels, expected))
        assert n_same >= (0.95 if weights == "int16" else 0.5) * len(X)
        if NODE:
            path = written(model, tmp_path, "tagger.cjs", weights=weights)
            said = asked(path, X, "predict", "decisionFunction")
            assert said == {"predict": labels, "decisionFunction": scores}


def test_explanations(case, tmp_path):
    """Runner-up, features and margin are those of `inspection.explain`; the parts add
    up to the margin.
    """
    model, X = case
    file = loaded(written(model, tmp_path))
    X = [x for x in X if x][:N_EXPLAINED]
    found = [file.explain(x) for x in X]
    for x, mine in zip(X, found):
        for token, expected in zip(mine, explain(model, x).tokens, strict=True):
            assert (token["label"], token["runner_up"]) == (
                expected.label,
                expected.runner_up,
            )
            nonzero = sorted((name, w) for name, w, _ in token["features"] if w)
            assert nonzero == sorted((name, w) for name, w in expected.features if w)
            if token["runner_up"] is not None:
                assert token["margin"] == pytest.approx(expected.margin, abs=1e-9)
                parts = (
                    sum(w - other for _, w, other in token["features"])
                    + token["neighbours"]
                )
                assert parts == pytest.approx(token["margin"], abs=1e-9)
    if NODE:
        said = asked(written(model, tmp_path, "tagger.js"), X, "explain")["explain"]
        for mine, other in zip(found, said, strict=True):
            for token, same in zip(mine, other, strict=True):
                expected = [
                    token[name]
                    for name in ("label", "runner_up", "margin", "neighbours")
                ]
                assert [
                    same[name] for name in ("label", "runnerUp", "margin", "neighbours")
                ] == expected
                assert same["features"] == [list(each) for each in token["features"]]


def test_tokens_that_are_sets(tmp_path):
    rows = [
        [["w:the", "short"], ["\uff5e", "w:dog"]],
        [["short", "w:a"], ["w:cat", "\U0001f41f"]],
    ]
    X = [[set(token) for token in row] for row in rows]
    model = StructuredPerceptron(random_state=0).fit(X, [["D", "N"], ["D", "N"]])
    file, scores = loaded(written(model, tmp_path)), model.decision_function(X).tolist()
    assert file.decision_function(X) == scores
    assert (
        file.decision_function(
            [[dict.fromkeys(token).keys() for token in row] for row in rows]
        )
        == scores
    )
    if NODE:
        sets = f"{json.dumps(rows)}.map((row) => row.map((token) => new Set(token)))"
        path = json.dumps(str(written(model, tmp_path, "tagger.cjs")))
        call = f"console.log(JSON.stringify(require({path}).decisionFunction({sets})))"
        assert (
            json.loads(
                subprocess.run(
                    [NODE, "-e", call], capture_output=True, check=True
                ).stdout
            )
            == scores
        )
