"""Spans that overlap: a span tagger of several chains of labels is the union of taggers
of one chain each.
"""

import pickle

from sklearn.base import clone

from skstruct import inspection
from skstruct._data.nested import of_types, overlapping_pairs, types_apart
from skstruct._data.spans import as_spans, trimmed_spans
from skstruct.metrics import span_f1_score

from ..annotated import Annotated
from ..cases import scenario
from ..checks import check_ranking
from ..keeping import check_files
from ..outcomes import attempt, close, same
from .spans import random_model


def _with_outer(draw, X, y):
    """The spans that no span of their type overlaps, and others around them."""
    outer = ["W", "V"][: draw.int(1, 2)]
    found = []
    for text, spans in zip(X, trimmed_spans(X, y)):
        kept = []
        for span in spans:
            pairs = overlapping_pairs([*kept, span])
            if all(one.label != two.label for one, two in pairs):
                kept.append(span)
        for kind in outer:
            at = 0
            while at < len(text):
                start = at + draw.int(0, 20)
                at = start + draw.int(1, 25)
                if text[start:at].strip() and draw.chance(0.6):
                    kept.append((start, min(at, len(text)), kind))
                at += 1
        found.append(kept)
    return found


@scenario
def nested(draw):
    """Texts with spans that overlap, through any tagger."""
    corpus = Annotated(draw, 30 if draw.tiny else draw.one(60, 300, 1000))
    X = corpus.X
    y = _with_outer(draw, X, corpus.y)
    model = random_model(draw).set_params(overlap="by-type")
    report = model.alignment_report(X, y)
    given = {}
    if draw.chance(0.2):
        X_val, y_val = corpus.made(draw, 3, 30)
        given = {"X_val": X_val, "y_val": _with_outer(draw, X_val, y_val)}
    model.fit(X, y, **given)
    assert model.alignment_ == report.counts, "alignment_ is not what the report counts"
    spans = as_spans(y, X)
    groups = types_apart(as_spans(trimmed_spans(X, y), X))
    draw.note(groups=groups)
    flat = [
        clone(model).set_params(overlap="error").fit(X, of_types(spans, types)[0])
        for types in groups
    ]
    new, gold = corpus.made(draw, 6, 60)
    new, gold = [*new, "", " \n", "🚒"], [*_with_outer(draw, new, gold), [], [], []]
    if not given:  # held-out spans of new types are counted in one chain
        _check_union(draw, model, flat, groups, new)
    found = model.predict(new)
    same([model.predict([text])[0] for text in new], list(found), "predict of one text")
    close(model.score(new, gold), span_f1_score(gold, found, texts=new), "score")
    if model.tokenizer is not str.split:
        check_files(draw, model, new, found, None)
    again = pickle.loads(pickle.dumps(model)).predict(new)
    same(list(again), list(found), "predict of a copy")
    inspection.render(new, gold, found)
    errors = attempt("errors", inspection.errors, model, new, gold)
    assert errors is None or errors.kind == "spans"
    attempt("explain", inspection.explain, model, new[0])
    if hasattr(model, "partial_fit") and draw.chance(0.5):
        more, marks = corpus.made(draw, 4, 30)
        marks = _with_outer(draw, more, marks)
        if attempt("partial_fit", model.partial_fit, more, marks) is not None:
            model.predict(new)


def _union(chains):
    return [sorted(span for spans in each for span in spans) for each in zip(*chains)]


def _check_union(draw, model, flat, groups, X):
    """All that a model says is what the taggers of its chains say."""
    found = model.predict(X)
    same(
        list(map(sorted, found)),
        _union([each.predict(X) for each in flat]),
        "the union",
    )
    if hasattr(model, "predict_kbest"):
        k = draw.one(1, 2, 5)
        best = model.predict_kbest(X, k)
        parts = [each.predict_kbest(X, 1) for each in flat]
        for i, some in enumerate(best):
            check_ranking(some, k, found[i], None, f"k best of text {i}")
            close(some[0][1], sum(part[i][0][1] for part in parts), "the best score")
    if hasattr(model, "predict_segment_proba"):
        given = {"min_proba": draw.one(0.05, 0.3)}
        every = model.predict_segment_proba(X, **given)
        parts = [each.predict_segment_proba(X, **given) for each in flat]
        same(list(map(sorted, every)), _union(parts), "probabilities")
    if not model.accepts_known:
        return
    known = [[span for span in spans if draw.chance(0.5)] for spans in found]
    for i, text in enumerate(X):
        if text.strip() and draw.chance(0.1):
            known[i] = [(0, len(text), "O")]
    asked = attempt("known", lambda: model.predict(X, known=known))
    if asked is not None:
        parts = [
            each.predict(
                X, known=[[s for s in row if s[2] in (*types, "O")] for row in known]
            )
            for each, types in zip(flat, groups)
        ]
        same(list(map(sorted, asked)), _union(parts), "predict with known spans")
        for spans, row in zip(asked, known):
            assert set(row) <= {*spans, (0, 0, "O")} or row[0][2] == "O", "known spans"
