"""What every training of the command line does."""

import pytest

from skstruct import CalibratedTagger, StructuredPerceptron
from skstruct.cli.common import CommandError
from skstruct.cli.corpus import Corpus
from skstruct.cli.learning import amount_of, learn, reset_session_parameters
from skstruct.datasets.kinds import TOKENS


def corpus(X, y, **more):
    places = [list(range(10 * i + 1, 10 * i + 1 + len(x))) for i, x in enumerate(X)]
    return Corpus("c.txt", "columns", X, y, places, [None] * len(X), [], **more)


def test_an_error_names_the_line_of_the_file():
    X = [["a", "b"], ["c", "d"]]
    tagger = StructuredPerceptron(constraints="BIO", random_state=0)
    wrong = corpus(X, [["O", "O"], ["O", "I-A"]])
    with pytest.raises(CommandError, match="c.txt, line 12: .*--repair rewrites"):
        learn(tagger.fit, wrong)
    right = corpus(X, [["O", "O"], ["O", "B-A"]])
    short = corpus(X, [["O", "O"], ["O"]])._replace(name="d.txt")
    with pytest.raises(CommandError, match="^d.txt, line"):
        learn(tagger.fit, right, short)
    learn(tagger.fit, right, right)
    assert tagger.predict(X) == right.y


def test_weights_of_a_file_are_those_of_the_sequences():
    given = []
    weighted = corpus([["a"], ["a"]], [["A"], ["B"]], weights=[5.0, 1.0])
    learn(lambda *_, **more: given.append(more), weighted)
    learn(lambda *_, **more: given.append(more), weighted._replace(weights=None))
    assert given == [{"sample_weight": [5.0, 1.0]}, {}]


def test_amounts():
    assert amount_of(TOKENS, 1, 2_000) == "1 sentence, 2,000 tokens"


def test_parameters_of_one_training_are_reset():
    tagger = StructuredPerceptron(verbose=1, checkpoint="folder", random_state=3)
    outer = CalibratedTagger(tagger)
    reset_session_parameters(outer)
    found = outer.get_params()
    assert found["estimator__verbose"] == 0 and found["estimator__random_state"] == 3
    assert found["estimator__checkpoint"] is None
