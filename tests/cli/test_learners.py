"""The estimator that the options of ``train`` describe."""

import argparse

import pytest
from cli_cases import run

from skstruct import (
    BaggingShuffleAverager,
    CalibratedTagger,
    ParameterMixer,
    PassiveAggressiveTagger,
    Segmenter,
    SpanTagger,
    StructuredPerceptron,
)
from skstruct.cli import learners, train
from skstruct.datasets.kinds import KINDS


def described(*options):
    """Arguments of ``train`` with these options."""
    parser = argparse.ArgumentParser()
    train.add_arguments(parser)
    parser.set_defaults(usage_error=parser.error)
    return parser.parse_args(["corpus.txt", "--model", "model", *options])


@pytest.mark.parametrize(
    ("options", "kind", "kinds"),
    [
        ([], "tokens", [BaggingShuffleAverager, StructuredPerceptron]),
        ([], "words", [Segmenter, BaggingShuffleAverager, StructuredPerceptron]),
        ([], "texts", [SpanTagger, BaggingShuffleAverager, StructuredPerceptron]),
        (["-a", "perceptron"], "tokens", [StructuredPerceptron]),
        (["-a", "perceptron"], "words", [Segmenter, StructuredPerceptron]),
        (["-a", "perceptron"], "texts", [SpanTagger, StructuredPerceptron]),
        (["-a", "pa", "--members", "2"], "tokens",
         [BaggingShuffleAverager, PassiveAggressiveTagger]),
        (["--members", "2"], "tokens", [BaggingShuffleAverager, StructuredPerceptron]),
        (["--shards", "2"], "tokens", [ParameterMixer, StructuredPerceptron]),
        (["--calibrate"], "texts",
         [SpanTagger, CalibratedTagger, BaggingShuffleAverager, StructuredPerceptron]),
    ],
)  # fmt: skip
def test_what_is_put_around_a_tagger(options, kind, kinds):
    model = learners.new_model(described(*options), "auto", KINDS[kind])
    found = [type(model)]
    while len(found) < len(kinds):
        parameters = model.get_params(deep=False)
        model = parameters.get("tagger") or parameters["estimator"]
        found.append(type(model))
    assert found == kinds


def test_parameters_reach_the_learner():
    arguments = described("--epochs", "3", "--seed", "5", "-p", "min_count=2")
    model = learners.new_model(arguments, "auto", KINDS["words"])
    found = model.get_params()
    assert found["tagger__estimator__max_iter"] == 3
    assert found["tagger__random_state"] == 5
    assert found["tagger__estimator__min_count"] == 2
    assert found["tagger__estimator__features"] == "char-types"
    assert found["tagger__estimator__dropout"] == 0.1
    assert found["tagger__n_estimators"] == "auto"
    named = learners.new_model(described("-a", "perceptron"), "auto", KINDS["words"])
    assert named.get_params()["tagger__dropout"] == 0.0


@pytest.mark.parametrize(
    ("text", "name"),
    [("AP", "perceptron"), ("lbfgs", "l1crf"), ("ShiftReduceParser", "parser")],
)
def test_other_names_of_algorithms(text, name):
    assert learners.named_algorithm(text) == name


def test_unknown_algorithms(capsys, tmp_path):
    for text, message in ("nonsense", "choose from"), ("Segmenter", "goes around"):
        code, _, err = run(capsys, "train", "x", "-m", tmp_path / "m", "-a", text)
        assert code == 2 and message in err
