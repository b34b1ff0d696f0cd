"""Names that are none: what was meant, in parameters, schemes, commands and options."""

import pytest
from cli_cases import run

from skstruct import L1CRF, BaggingShuffleAverager, SpanTagger, StructuredPerceptron
from skstruct._data.suggestions import closest, meant
from skstruct.features import Window
from skstruct.metrics import segment_f1_score


def test_the_closest_name():
    names = ["BIO", "BIOES", "BI", "max_iter", None]
    assert closest("BOI", names) == "BIO" and closest("bio", names) == "BIO"
    assert closest("max_iters", names) == "max_iter"
    assert closest("IOB2", ["IOB1", "BIO"]) == "BIO"  # which it is another name of
    assert closest("IOB2", ["IOB1"]) == "IOB1"
    assert closest("zzz", names) is None and closest(3, names) is None
    assert meant("zzz", names) == "" and meant("", names) == ""


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: StructuredPerceptron(max_iters=3), TypeError),
        (lambda: L1CRF(max_iters=3), TypeError),
        (lambda: StructuredPerceptron().set_params(max_iters=3), ValueError),
        (lambda: SpanTagger(L1CRF()).set_params(tagger__max_iters=3), ValueError),
        (lambda: BaggingShuffleAverager(n_estimator=2), TypeError),
    ],
)
def test_parameters(call, error):
    with pytest.raises(error, match="did you mean '(tagger__)?(max_iter|n_\\w+)'"):
        call()


def test_a_parameter_like_no_other_is_refused_without_a_guess():
    with pytest.raises(TypeError, match="unexpected keyword argument 'qqqq'$"):
        Window(qqqq=1)


def test_values():
    X, y = ["Ann"] * 2, [[(0, 3, "PER")]] * 2
    with pytest.raises(ValueError, match="did you mean 'BIO'"):
        SpanTagger(scheme="bio").fit(X, y)
    with pytest.raises(ValueError, match="did you mean 'BIO'"):
        segment_f1_score([["B-X"]], [["B-X"]], scheme="BOI")
    with pytest.raises(ValueError, match="did you mean 'l1'"):
        StructuredPerceptron(penalty="L1").fit([["a"]], [["A"]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["trian", "x"], "there is no command 'trian'; did you mean 'train'; commands"),
        (["train", "x", "--max-itr", "3"], "did you mean '--max-iter'?"),
        (["tag", "x", "--modle", "y"], "did you mean '--model'?"),
        (["train", "x", "-m", "y", "-a", "perceptorn"], "did you mean 'perceptron'?"),
        (["evaluate", "x", "--scheme", "BOI"], "did you mean 'BIO'?"),
        (["check", "x", "--format", "jsnl"], "did you mean 'jsonl'?"),
    ],
)
def test_commands_and_options(arguments, message, capsys):
    code, out, err = run(capsys, *arguments)
    assert code == 2 and out == "" and message in err


def test_without_a_command_all_are_listed_on_one_screen(capsys):
    code, _, err = run(capsys)
    assert code == 2 and len(err.splitlines()) <= 24
    assert "train     learn from a corpus file" in err and "  compile" in err


@pytest.mark.parametrize(
    "call",
    [
        lambda model: model.partial_fit([["a"]]),
        lambda model: model.predict(),
        lambda model: model.score([["a"]]),
    ],
)
def test_no_class_is_named_that_the_user_did_not_write(call):
    model = StructuredPerceptron("word").fit([["a"]], [["A"]])
    with pytest.raises(TypeError, match=r"^(StructuredPerceptron\.)?\w+\(.*\)"):
        call(model)
    spans = SpanTagger(model).fit(["Ann"], [[(0, 3, "PER")]])
    with pytest.raises(TypeError, match=r"^(SpanTagger\.)?\w+\(.*\)"):
        call(spans)
