"""Texts and corpora that several models read."""

import pickle

import pytest

from skstruct._data.corpus import ListCorpus
from skstruct._data.pieces import cut_texts
from skstruct._data.shared import Kept, SharedCorpus, SharedTexts
from skstruct._data.text import as_texts, tokenized

TEXTS = ["Ann saw Bob.\nBob left.", "Rome."]


class Reader:
    accepts_corpus = True


def test_values_are_made_once():
    kept, made = Kept(), []
    for key in ("a", ("a",), "a", ("a",)):
        kept.get(key, lambda: made.append(key) or [key])  # noqa: B023
    assert made == ["a", ("a",)]
    assert kept.find("b") is None


def test_shared_texts_have_the_tokens_of_others():
    shared = SharedTexts(TEXTS)
    assert as_texts(shared) is shared and shared == TEXTS
    for tokenizer in ("words", "characters", r"\w+"):
        found = tokenized(shared, tokenizer)
        assert found is tokenized(shared, tokenizer)
        assert found.pairs() == tokenized(TEXTS, tokenizer).pairs()
    assert type(pickle.loads(pickle.dumps(shared))) is list


@pytest.mark.parametrize("kind", ["lines", "texts"])
def test_sequences_of_shared_texts_are_one_corpus(kind):
    alone = cut_texts(tokenized(TEXTS), kind).sequences(True)
    pieces = [cut_texts(tokenized(SharedTexts(TEXTS)), kind) for _ in range(1)] * 2
    corpora = [each.sequences(True, Reader()) for each in pieces]
    assert isinstance(corpora[0], SharedCorpus) and corpora[0] is corpora[1]
    assert list(corpora[0]) == alone
    assert pieces[0].sequences(True) == alone
    assert pieces[0].sequences(False) != alone
    one = cut_texts(tokenized(SharedTexts(TEXTS[1:])), kind)
    assert type(one.sequences(True, Reader())) is list


def test_a_shared_corpus_keeps_what_encoders_made():
    corpus = SharedCorpus.of_lists([["a", "b"], ["c"], ["d"]])
    encoder, made = object(), []
    for settings in (("x", 1), ("x", 1), ("x", 2)):
        corpus.encoder_of(settings, lambda: made.append(1) or object())
    assert len(made) == 2
    assert corpus.encoded_by(encoder) is None
    corpus.keep_encoded(encoder, "rows")
    assert corpus.encoded_by(encoder, grow=True) == "rows"
    assert corpus.encoded_by(object()) is None
    assert corpus.piece(0, 3) is corpus and corpus.take([0, 1, 2]) is corpus
    piece = corpus.piece(1, 3)
    assert piece is corpus.piece(1, 3) and list(piece) == [["c"], ["d"]]
    assert piece.encoded_by(encoder) is None
    for part in (corpus[:2], corpus.take([2, 0]), corpus.blanked([1])):
        assert type(part) is ListCorpus
    assert list(corpus.blanked([1])) == [["a", "b"], (), ["d"]]
    copy = pickle.loads(pickle.dumps(corpus))
    assert type(copy) is ListCorpus and list(copy) == list(corpus)
