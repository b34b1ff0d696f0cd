"""Corpora that come with their encoder: a fit begins with it, and encodes nothing."""

import numpy as np
import pytest
from inside import model_of

from skstruct import L1CRF, StructuredPerceptron
from skstruct._data.inputs import as_tokens
from skstruct.features.bag_encoder import BagEncoder
from skstruct.features.learned import learned_encoder

X = [
    [{"w": "a", "up": False, "n": 0}, {"w": "b", "up": True}],
    [],
    [{"w": "c", "n": 2.5}, ["w:a", "z"], {"w": "", "n": -0.0}],
]
Y = [["A", "B"], [], ["A", "A", "B"]]
SHOWN = [
    [{"w": "a", "up": 1e-100, "n": 1e-100}, {"w": "b", "up": True}],
    [],
    [{"w": "c", "n": 2.5}, ["w:a", "z"], {"w": "", "n": 1e-100}],
]


def learned():
    return BagEncoder().learned(as_tokens(X), 1e-100)


def test_features_of_value_zero_are_there():
    corpus, plain = learned(), BagEncoder()
    expected = plain.encode(as_tokens(SHOWN), True).bag
    encoder = learned_encoder(corpus)
    assert list(encoder.nodes.ids) == list(plain.nodes.ids)
    for one, other in zip(corpus.encoded_by(encoder).bag, expected):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("learner", [StructuredPerceptron, L1CRF])
def test_a_fit_begins_with_the_encoder(learner, monkeypatch):
    plain = learner(random_state=0, all_pairs=False).fit(SHOWN, Y)
    corpus = learned()
    encoder = learned_encoder(corpus)
    monkeypatch.setattr(BagEncoder, "encode", None)
    tagger = learner(random_state=0, all_pairs=False).fit(corpus, Y)
    monkeypatch.undo()
    assert model_of(tagger).encoder is encoder
    test = [[{"w": "a", "up": False}, {"w": "b"}], X[2]]
    assert (tagger.decision_function(test) == plain.decision_function(test)).all()


def test_parts_are_like_other_corpora():
    corpus = learned()
    assert learned_encoder(corpus.take([0, 2])) is learned_encoder(corpus)
    for part in (corpus[:1], corpus.take([2, 0]), corpus.take([0]), as_tokens(X)):
        assert learned_encoder(part) is None
    tagger = StructuredPerceptron(random_state=0).fit(corpus[:1], Y[:1])
    assert tagger.n_features() == 3
