"""The choice of an encoder: a kind of input is one class."""

import pytest

from skstruct import ParameterMixer, StructuredPerceptron
from skstruct.data.corpus import OTHER
from skstruct.data.inputs import as_tokens
from skstruct.data.reads import Reads
from skstruct.features import choose
from skstruct.features.bag_encoder import BagEncoder
from skstruct.inspection import explain, features_of

LISTS = [
    [["w=the", "short"], ["w=dog"], ["w=barks"]],
    [["w=a", "short"], ["w=cat"]],
    [["w=cat"], ["w=barks"]],
]
SETS = [[frozenset(token) for token in sequence] for sequence in LISTS]
Y = [["D", "N", "V"], ["D", "N"], ["N", "V"]]


class SetEncoder(BagEncoder):
    """Tokens that are sets of features."""

    TOKENS = (frozenset,)
    token_type = frozenset
    reads = Reads(OTHER)

    def encode(self, corpus, grow):
        """As lists."""
        return super().encode(as_tokens([list(map(sorted, sequence)) for sequence in corpus]), grow)


def test_a_new_kind_of_input_is_one_class(monkeypatch):
    with pytest.raises(ValueError, match="a token must be a str, .* got frozenset"):
        StructuredPerceptron().fit(SETS, Y)
    monkeypatch.setitem(choose.ENCODERS, "sets", (SetEncoder, None))
    for learner in (
        StructuredPerceptron(random_state=0),
        StructuredPerceptron(order=2, min_count=2, random_state=0),
        ParameterMixer(StructuredPerceptron(min_count=2), n_shards=2, random_state=0),
    ):
        expected = learner.fit([[sorted(t) for t in x] for x in LISTS], Y).decision_function(LISTS)
        assert learner.fit(SETS, Y).decision_function(SETS).tolist() == expected.tolist()
    tagger = StructuredPerceptron(random_state=0).fit(SETS, Y)
    assert tagger.inputs.token is frozenset
    assert features_of(tagger, SETS[0]) == [["short", "w=the"], ["w=dog"], ["w=barks"]]
    assert explain(tagger, SETS[1]).labels == tagger.predict([SETS[1]])[0]
    with pytest.raises(ValueError, match="there is nothing to adapt"):
        tagger.adapt(SETS)
    with pytest.raises(ValueError, match="shard 1: its tokens are not of the kind"):
        shards = [lambda: (SETS, Y), lambda: (LISTS, Y)]
        ParameterMixer(StructuredPerceptron(), random_state=0).fit_shards(shards)
