"""A corpus that a tagger encoded is not encoded again, and gives what its sequences
give.
"""

import pickle

import inside
import numpy as np
import pytest
from kind_cases import FEATURES, corpus, labels
from scipy import sparse

from skstruct import (
    L1CRF,
    CalibratedTagger,
    SequenceMatrix,
    StructuredPerceptron,
    inspection,
)

KINDS = {
    "str": "words",
    "tuples": "columns",
    "dicts": "features",
    "2-D": "numbers",
    "CSR": "numbers",
}


@pytest.fixture(params=[*KINDS, "union"])
def given(request):
    """(fitted tagger, new sentences)"""
    family = KINDS.get(request.param, "numbers")
    tagger = L1CRF(FEATURES[family], c1=0.1, max_iter=20, random_state=0)
    return tagger.fit(corpus(request.param, "train"), labels("train")), corpus(
        request.param, "new"
    )


@pytest.fixture
def encodings(monkeypatch):
    """How many sequences are encoded at a time, call by call."""
    calls = []

    def count(tagger):
        kind = type(inside.model_of(tagger).encoder)
        encode = kind.encode

        def counted(encoder, X, grow):
            calls.append(len(X))
            return encode(encoder, X, grow)

        monkeypatch.setattr(kind, "encode", counted)
        return calls

    return count


def all_verbs(tagger, X, y):
    """What verbs make of a corpus."""
    return [
        tagger.predict(X),
        tagger.decision_function(X).tolist(),
        tagger.predict(X, allowed=[[None] * len(labels) for labels in y]),
        tagger.predict_kbest(X, 2),
        [rows.tolist() for rows in tagger.predict_marginals(X)],
        tagger.predict_posterior(X),
        tagger.sequence_log_proba(X, y).tolist(),
        tagger.predict_segment_proba(X, min_proba=0.1, scheme="IO"),
        tagger.score(X, y),
    ]


def test_verbs_encode_a_corpus_once(given, encodings):
    tagger, X = given
    calls, y = encodings(tagger), labels("new")
    encoded = tagger.encode(X)
    assert calls == [4]
    found = all_verbs(tagger, encoded, y)
    tagger.set_params(n_jobs=2)
    assert all_verbs(tagger, encoded, y) == found
    for keep in (
        slice(1, 3),
        slice(None, None, -1),
        [3, 0],
        [],
        np.array([True, False, False, True]),
    ):
        part, of = encoded[keep], np.arange(4)[keep].tolist()
        if of:
            every = zip(found, all_verbs(tagger, part, [y[i] for i in of]))
            assert all(
                mine == [theirs[i] for i in of]
                for theirs, mine in every
                if isinstance(mine, list)
            )
        else:
            assert tagger.predict(part) == []
    assert calls == [4]
    assert all_verbs(tagger, X, y) == found


def test_a_corpus_behaves_as_its_sequences(given):
    tagger, X = given
    encoded = tagger.encode(X)
    assert len(encoded) == 4
    for mine, theirs in zip(encoded, X):
        rows = mine.toarray() if sparse.issparse(mine) else mine
        assert np.array_equal(
            rows, theirs.toarray() if sparse.issparse(theirs) else theirs
        )
    explained = [inspection.explain(tagger, x).to_dict() for x in X]
    assert [inspection.explain(tagger, x).to_dict() for x in encoded] == explained


def test_another_encoder_encodes_it_again(given, encodings):
    tagger, X = given
    encoded, y = tagger.encode(X), labels("new")
    calls = encodings(tagger)
    again = tagger.encode(encoded)
    assert calls == [] and tagger.predict(again) == tagger.predict(X)
    other = L1CRF(tagger.features, c1=0.1, max_iter=20).fit(encoded, y)
    del calls[:]
    assert other.predict(encoded) == other.predict(X)
    assert calls == [4, 4]
    copy = pickle.loads(pickle.dumps(encoded))
    assert tagger.predict(copy) == tagger.predict(encoded)
    assert calls == [4, 4, 4]


def test_a_tagger_that_goes_on_training_encodes_it_again():
    X, y = corpus("str", "train"), labels("train")
    tagger = StructuredPerceptron(FEATURES["words"], max_iter=2, random_state=0).fit(
        X[:3], y[:3]
    )
    encoded = tagger.encode(X)
    before = tagger.decision_function(encoded).tolist()
    assert before == tagger.decision_function(X).tolist()
    tagger.partial_fit(encoded, y)
    assert (
        tagger.decision_function(encoded).tolist()
        == tagger.decision_function(X).tolist()
        != before
    )
    adapted = StructuredPerceptron(
        ["U0:%x[0,0]", "U1:%av2[0,0]"], max_iter=2, random_state=0
    ).fit(X, y)
    encoded = adapted.encode(X)
    adapted.adapt(X[:2] * 3)
    assert (
        adapted.decision_function(encoded).tolist()
        == adapted.decision_function(X).tolist()
    )


def test_a_calibrated_tagger_encodes_once(encodings):
    X, y = corpus("str", "train"), labels("train")
    tagger = CalibratedTagger(
        StructuredPerceptron(FEATURES["words"], max_iter=2), cv=2, random_state=0
    )
    tagger.fit(X, y)
    expected, calls = (
        [rows.tolist() for rows in tagger.predict_marginals(X)],
        encodings(tagger),
    )
    encoded = tagger.encode(X)
    assert [rows.tolist() for rows in tagger.predict_marginals(encoded)] == expected
    assert tagger.predict(encoded) == tagger.predict(X)
    assert calls == [8, 8]


def test_what_is_no_such_corpus_is_refused():
    tagger = StructuredPerceptron(random_state=0).fit(
        SequenceMatrix(np.eye(3), [2, 1]), [["a", "b"], ["a"]]
    )
    with pytest.raises(
        ValueError, match="sequence 0 has 2 columns, expected 3 as in training"
    ):
        tagger.encode(SequenceMatrix(np.eye(2), [2]))
