"""``tag --write docbin``: a file of spaCy."""

import sys
from pathlib import Path

import pytest
from cli_cases import run

from skstruct import L1CRF, SpanTagger
from skstruct.cli.docbin import as_docbin

TEXTS = [" Ann  Lee met\nBob. ", "", "Bob is in Rome."]
SPANS = [[(1, 9, "PER"), (14, 17, "PER")], [], [(0, 3, "PER"), (10, 14, "LOC")]]


@pytest.fixture
def tagger(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tagger = SpanTagger(L1CRF(c1=0.01, random_state=0), pieces="texts")
    tagger.fit(TEXTS * 3, SPANS * 3).save("ner")
    assert tagger.predict(TEXTS) == SPANS
    return tagger


def test_spacy_reads_the_texts_and_their_spans(tagger, capsys):
    tokens = pytest.importorskip("spacy.tokens")
    vocab = pytest.importorskip("spacy.vocab").Vocab()
    docs = list(
        tokens.DocBin().from_bytes(as_docbin(tagger, TEXTS, SPANS)).get_docs(vocab)
    )
    assert [doc.text for doc in docs] == TEXTS
    found = [[(e.start_char, e.end_char, e.label_) for e in d.ents] for d in docs]
    assert found == SPANS
    Path("text").write_text(TEXTS[2], encoding="utf-8")
    given = "tag", "text", "-m", "ner", "--write", "docbin"
    assert run(capsys, *given, "-o", "out.spacy")[0] == 0
    (doc,) = tokens.DocBin().from_disk("out.spacy").get_docs(vocab)
    assert [e.text for e in doc.ents] == ["Bob", "Rome"]
    code, _, said = run(capsys, *given)
    assert code == 2 and "--write docbin needs --output" in said


def test_without_spacy_an_error_says_so(tagger, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "spacy", None)
    given = "tag", "text", "-m", "ner", "--write", "docbin", "-o", "out.spacy"
    Path("text").write_text(TEXTS[2], encoding="utf-8")
    code, _, said = run(capsys, *given)
    assert code == 1 and "--write docbin needs spaCy: pip install spacy" in said
    assert not Path("out.spacy").exists()
