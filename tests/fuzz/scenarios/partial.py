"""Segmented text of which some boundaries and tags are not known."""

from skstruct import (
    L1CRF,
    PartialWords,
    PassiveAggressiveTagger,
    Segmenter,
    StructuredPerceptron,
)

from .. import texts
from ..cases import scenario
from ..keeping import check_files
from ..outcomes import attempt, same
from ..texts import check_words


def _hidden(draw, words, known):
    """Words of which each boundary, and each tag, is known with a probability.

    A word ends where it is known to; within an element no word ends, but for spaces.
    """
    rows = [(word, None) if isinstance(word, str) else word for word in words]
    tagged = rows and rows[0][1] is not None
    stretches, open_ = [], ""
    for k, (word, tag) in enumerate(rows):
        marks = ["" if draw.chance(known) else " " for _ in word[1:]]
        open_ += word[0] + "".join(m + c for m, c in zip(marks, word[1:]))
        if k + 1 < len(rows) and not draw.chance(known):
            open_ += " "
            continue
        told = draw.one(tag, {tag, "T0"}, None) if not draw.chance(known) else tag
        stretches.append((open_, told) if tagged else open_)
        open_ = ""
    return PartialWords(stretches)


@scenario
def partial_words(draw):
    """Texts of which some boundaries are known, through any tagger."""
    tags = draw.chance(0.3)
    X, y, _ = texts.texts(draw, draw.one(30, 200, 800), tags)
    given = {"features": draw.one("char", ["U0:%x[0,0]", "B"]), "random_state": 0}
    inner = draw.one(
        StructuredPerceptron(max_iter=3, **given),
        PassiveAggressiveTagger(max_iter=3, **given),
        L1CRF(c1=0.1, max_iter=5, **given),
    )
    scheme = draw.one("BMES", "BI", "B2B3MES")
    known, share = draw.one(0.0, 0.3, 0.9), draw.one(0.2, 0.7)
    draw.note(scheme=scheme, tagger=repr(inner), known=known, share=share)
    rows = [
        _hidden(draw, words, known) if k and draw.chance(share) else words
        for k, words in enumerate(y)
    ]
    model = Segmenter(inner, scheme=scheme).fit(X, rows)
    new = X[:8] + ["", " ", "ab cd", "\u3000北"]
    found = model.predict(new)
    check_words(new, found)
    same([model.predict([text])[0] for text in new], found, "predict of one text")
    mine = model.predict(X)
    right = [_hidden(draw, words, 1.0) for words in mine]
    assert not any(map(len, mine)) or model.score(X, right) == 1.0, "all is known"
    some = [_hidden(draw, words, 0.5) for words in mine]
    score = attempt("score", model.score, X, some)
    assert score in (None, 1.0), "predictions contradict what is known of them"
    check_files(draw, model, new, found, None)
    whole = Segmenter(inner, scheme=scheme).fit(X, y).predict(new)
    all_known = [_hidden(draw, words, 1.0) for words in y]
    again = Segmenter(inner, scheme=scheme).fit(X, all_known).predict(new)
    same(again, whole, "all boundaries are known, and lists of words")
    if not isinstance(inner, L1CRF):
        check_words(new, model.partial_fit(X, rows).predict(new))
