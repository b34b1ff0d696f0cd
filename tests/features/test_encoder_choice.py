"""The choice of an encoder: a kind of input is one class."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from skstruct import ParameterMixer, StructuredPerceptron
from skstruct._data.corpus import OTHER
from skstruct._data.inputs import as_tokens
from skstruct._data.reads import ModelReads
from skstruct.features import encoder_choice
from skstruct.features.bag_encoder import BagEncoder
from skstruct.inspection import explain, features_of

LISTS = [
    [["w=the", "short"], ["w=dog"], ["w=barks"]],
    [["w=a", "short"], ["w=cat"]],
    [["w=cat"], ["w=barks"]],
]
BAGS = [[SimpleNamespace(names=token) for token in sequence] for sequence in LISTS]
Y = [["D", "N", "V"], ["D", "N"], ["N", "V"]]


class NamespaceEncoder(BagEncoder):
    """Tokens that have names of features."""

    TOKENS = (SimpleNamespace,)
    token_type = SimpleNamespace
    reads = ModelReads(OTHER)

    def encode(self, corpus, grow):
        """As lists."""
        return super().encode(
            as_tokens([[sorted(t.names) for t in sequence] for sequence in corpus]),
            grow,
        )


@pytest.mark.parametrize(
    "kind", [set, frozenset, lambda token: dict.fromkeys(token).keys()]
)
def test_sets_of_features_are_as_their_lists(kind):
    X = [[kind(token) for token in sequence] for sequence in LISTS]
    mixed = [LISTS[0], *X[1:]]
    expected = StructuredPerceptron(random_state=0).fit(
        [[sorted(t) for t in x] for x in LISTS], Y
    )
    for corpus in (X, mixed):
        tagger = StructuredPerceptron(random_state=0).fit(corpus, Y)
        assert tagger.predict(X) == expected.predict(LISTS) == tagger.predict(LISTS)
        assert sorted(features_of(tagger, corpus[0])[0]) == ["short", "w=the"]
    with pytest.raises(
        ValueError, match="sequence 0, position 0: a feature must be a str, got int"
    ):
        StructuredPerceptron().fit([[kind([1])]], [["N"]])


def test_a_new_kind_of_input_is_one_class(monkeypatch):
    with pytest.raises(
        ValueError, match="a token must be a str, .* got SimpleNamespace"
    ):
        StructuredPerceptron().fit(BAGS, Y)
    with pytest.raises(ValueError, match="X: sequence 1, position 0: a token must be"):
        StructuredPerceptron().fit([[], *BAGS], [[], *Y])
    monkeypatch.setitem(encoder_choice.ENCODERS, "namespaces", (NamespaceEncoder, None))
    for learner in (
        StructuredPerceptron(random_state=0),
        StructuredPerceptron(order=2, min_count=2, random_state=0),
        ParameterMixer(StructuredPerceptron(min_count=2), n_shards=2, random_state=0),
    ):
        expected = learner.fit(
            [[sorted(t) for t in x] for x in LISTS], Y
        ).decision_function(LISTS)
        assert (
            learner.fit(BAGS, Y).decision_function(BAGS).tolist() == expected.tolist()
        )
    tagger = StructuredPerceptron(random_state=0).fit(BAGS, Y)
    assert tagger.inputs.token is SimpleNamespace
    assert features_of(tagger, BAGS[0]) == [["short", "w=the"], ["w=dog"], ["w=barks"]]
    assert explain(tagger, BAGS[1]).labels == tagger.predict([BAGS[1]])[0]
    with pytest.raises(ValueError, match="there is nothing to adapt"):
        tagger.adapt(BAGS)
    with pytest.raises(ValueError, match="shard 1: its tokens are not of the kind"):
        shards = [lambda: (BAGS, Y), lambda: (LISTS, Y)]
        ParameterMixer(StructuredPerceptron(), random_state=0).fit_shards(shards)


def test_rows_that_are_sparse_one_by_one_are_one_matrix():
    rows = list(map(sparse.csr_array, np.eye(2)[:, None]))
    with pytest.raises(ValueError, match=r"is one sparse matrix: scipy.sparse.vstack"):
        StructuredPerceptron().fit([rows], [["a", "b"]])
    StructuredPerceptron().fit([sparse.vstack(rows, format="csr")], [["a", "b"]])
