"""``tag --write conll`` and ``replaced``: spans as tokens, and replaced by numbers."""

import io
from pathlib import Path

import pytest
from cli_cases import run

from skstruct import L1CRF, SpanTagger
from skstruct.datasets import columns_to_spans, read_tokens

TEXTS = ["Ann Lee met Bob.", "Bob is in Rome."]
SPANS = [[(0, 7, "PER"), (12, 15, "PER")], [(0, 3, "PER"), (10, 14, "LOC")]]


@pytest.fixture(autouse=True)
def inside(tmp_path, monkeypatch):
    """Commands run in a folder with the model ``ner``, which knows its texts."""
    monkeypatch.chdir(tmp_path)
    tagger = SpanTagger(L1CRF(c1=0.01, random_state=0), pieces="lines")
    tagger.fit(TEXTS * 3, SPANS * 3).save("ner")
    assert tagger.predict(TEXTS) == SPANS


def tagged(capsys, text, *arguments):
    Path("text").write_text(text, encoding="utf-8")
    return run(capsys, "tag", "text", "-m", "ner", "--lines", *arguments)


def test_conll(capsys):
    """Columns are read back as what was predicted, whatever the batch."""
    code, out, _ = tagged(capsys, "\n\n".join(TEXTS), "--write", "conll")
    assert code == 0 and out.splitlines()[:4] == [
        "Ann\tB-PER", "Lee\tI-PER", "met\tO", "Bob\tB-PER",
    ]  # fmt: skip
    X, y = columns_to_spans(*read_tokens(io.StringIO(out), format="columns"))
    assert [[text[a:b] for a, b, _ in row] for text, row in zip(X, y)] == [
        [text[a:b] for a, b, _ in row] for text, row in zip(TEXTS, SPANS)
    ]
    again = tagged(capsys, "\n\n".join(TEXTS), "--write", "conll", "--batch", "1")
    assert again[1] == out


def test_tokens_with_white_space_are_refused(capsys):
    tagger = SpanTagger(L1CRF(c1=0.01), tokenizer=r"\w+ \w+|\w+|\.")
    tagger.fit(TEXTS * 3, [[(0, 7, "PER")], []] * 3).save("ner2")
    Path("text").write_text(TEXTS[0], encoding="utf-8")
    code, _, said = run(capsys, "tag", "text", "-m", "ner2", "--write", "conll")
    assert code != 0 and "text: --write conll: the token 'Ann Lee' holds white" in said


def test_replaced(capsys):
    """One name has one number, in all texts, also of other batches."""
    for more in [], ["--batch", "1"]:
        code, out, _ = tagged(
            capsys, "\n".join([*TEXTS, TEXTS[0]]), "--write", "replaced", *more
        )
        assert code == 0 and out.splitlines() == [
            "[PER-1] met [PER-2].",
            "[PER-2] is in [LOC-1].",
            "[PER-1] met [PER-2].",
        ]


def test_placeholders_in_texts_are_refused(capsys):
    text = f"{TEXTS[0]}\n[PER-7] is in Rome."
    code, _, said = tagged(capsys, text, "--write", "replaced")
    assert code != 0 and "text, line 2: --write replaced: the text holds" in said


@pytest.mark.parametrize("format", ["conll", "replaced"])
def test_there_is_no_place_for_probabilities(capsys, format):
    code, _, said = tagged(capsys, TEXTS[0], "--write", format, "--proba")
    assert code == 2 and "have a place for probabilities" in said
