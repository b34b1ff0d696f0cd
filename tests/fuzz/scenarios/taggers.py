"""Taggers of sequences: trained, put through all verbs, and trained further."""

import numpy as np
from sklearn.base import clone

from skstruct import L1CRF

from .. import drawing, estimators
from ..cases import scenario
from ..checks import check_decoding, check_predictions, objective_of
from ..corpora import NUMBERS, Corpus
from ..keeping import check_kept, reloaded
from ..outcomes import close, equal


def check_all(draw, model, corpus, X, y):
    """Every verb of a fitted tagger."""
    check_kept(draw, model, X, *check_predictions(draw, model, corpus, X, y))


def weights(draw, corpus):
    """Sample weights for a third of the cases, else None."""
    if not draw.chance(0.3):
        return None
    draw.note(sample_weight=True)
    found = draw.rng.choice([0.0, 0.5, 1.0, 2.0, 7.0], len(corpus.y))
    found[int(np.argmax([any(label is not None for label in s) for s in corpus.y]))] = (
        1.0
    )
    return found


def held_out(draw, corpus):
    """Arguments of ``fit`` for held-out data, in a third of the cases; some of its
    labels are new.
    """
    if not draw.chance(0.3):
        return {}
    X, y = corpus.new
    if draw.chance(0.3) and not corpus.scheme and isinstance(corpus.labels[0], str):
        y = [["unseen" if draw.chance(0.3) else label for label in s] for s in y]
    draw.note(X_val=True)
    return {"X_val": X, "y_val": y}


def _tagger(draw, learner=None, kind=None):
    scheme = draw.one(*drawing.SCHEME_LABELS) if draw.chance(0.2) else None
    corpus = Corpus(draw, kind, scheme=scheme, most_labels=draw.one(5, 20, 300))
    model = estimators.tagger(draw, corpus, learner)
    weight, given = weights(draw, corpus), held_out(draw, corpus)
    model.fit(corpus.X, corpus.y, weight, **given)
    X, y = corpus.new
    if (
        isinstance(model, L1CRF)
        and model.class_weight is None
        and corpus.tokens.size <= 1e6
    ):
        expected = objective_of(model, corpus.X, corpus.y, weight)
        close(model.objective_, expected, "objective_", 1e-6, 1e-6)
    if draw.chance(0.3):
        again = clone(model).set_params(n_jobs=draw.one(1, 2, 3), warm_start=False)
        again.fit(corpus.X, corpus.y, weight, **given)
        equal(
            again.decision_function(X),
            model.decision_function(X),
            "fit with other n_jobs",
        )
    check_all(draw, model, corpus, X, y)
    if draw.chance(0.3):
        check_decoding(draw, model, corpus.X)
    if draw.chance(0.4):
        _grow(draw, model, corpus)


def _grow(draw, model, corpus):
    """More data, with new words and labels, by ``partial_fit`` or ``warm_start``."""
    if (
        corpus.scheme is None
        and model.constraints is None
        and type(corpus.labels[0]) is str
    ):
        corpus.labels = corpus.labels + ["new1", "new2"][: draw.int(0, 2)]
    if corpus.kind not in NUMBERS and draw.chance(0.5):
        corpus.tokens.grow(draw, 50)
    X, y = corpus.made(draw, drawing.lengths(draw, 100), 0.5)
    if hasattr(model, "partial_fit"):
        model.partial_fit(X, y)
        if draw.chance(0.5):
            again = reloaded(model)
            for each in (again, model):
                each.partial_fit(X, y)
            equal(
                again.decision_function(X),
                model.decision_function(X),
                "partial_fit after load",
            )
    if draw.chance(0.5):
        model.set_params(warm_start=True).fit(X, y)
    check_all(draw, model, corpus, X, y)


@scenario
def tagger(draw):
    """Any tagger on any kind of token."""
    _tagger(draw)


@scenario
def crf(draw):
    """The same of L1CRF, which has most ways to go."""
    _tagger(
        draw,
        "crf",
        draw.one(
            "dict", "dict-values", "str", "tuple", "dense", "sparse", "frame", "matrix"
        ),
    )


@scenario
def large(draw):
    """50,000 tokens: sizes at which tables grow, work is cut into pieces, and threads
    get their share.
    """
    kind = draw.one("str", "tuple", "dict", "dense", "sparse")
    labels = [f"L{k}" for k in range(draw.one(3, 9, 24))]
    corpus = Corpus(draw, kind, labels, budget=2000 if draw.tiny else 50_000)
    model = estimators.plain_tagger(draw, corpus, orders=(1,)).set_params(
        max_iter=2, n_jobs=2
    )
    model.set_params(features="auto", constraints=None).fit(corpus.X, corpus.y)
    again = clone(model).set_params(n_jobs=1).fit(corpus.X, corpus.y)
    X = corpus.X
    equal(
        again.decision_function(X), model.decision_function(X), "fit with other n_jobs"
    )
    found, scores = check_decoding(draw, model, X)
    small = model.compress(dtype="float64")
    close(small.decision_function(X), scores, "decision_function after compress")
    equal(reloaded(model).decision_function(X), scores, "decision_function after load")
