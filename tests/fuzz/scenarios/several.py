"""Models made of models: averages, mixtures, calibrated taggers, of taggers and of
other structures.
"""

import numpy as np

from skstruct import (
    BaggingShuffleAverager,
    CalibratedTagger,
    ParameterMixer,
    ShiftReduceParser,
    WordSegmenter,
)
from skstruct._core.codes import PENALTIES
from skstruct.inspection import feature_weights

from ... import inside
from .. import estimators, texts
from ..cases import scenario
from ..checks import (
    check_decoding,
    check_enumeration,
    check_kbest,
    check_predictions,
    check_probabilities,
)
from ..corpora import Corpus
from ..keeping import check_files, check_kept
from ..outcomes import close, equal, finite

KINDS = ("str", "dict", "tuple", "dense", "sparse")


def _averager(draw, model):
    given = {
        "n_estimators": draw.int(1, 4),
        "average": draw.one("nonzero", "all"),
        "bootstrap": draw.chance(0.5),
        "max_samples": draw.one(1.0, 0.6, 0.2),
        "random_state": draw.int(0, 99),
        "n_jobs": draw.one(1, 2),
    }
    draw.note(**given)
    return BaggingShuffleAverager(model, keep_members=True, **given)


def _mean(tables, average):
    """The average of weight tables (equations 7 and 8 of Zhang, Su and Zhou, 2014)."""
    used = (
        np.count_nonzero(tables, axis=0)
        if average.average == "nonzero"
        else len(tables)
    )
    return np.sum(tables, axis=0) / np.maximum(used, 1)


@scenario
def averager(draw):
    """The average is the mean of its members' weights."""
    labels = [
        f"L{k}"
        for k in range(4 if draw.tiny else draw.one(2, 5, 15, 16, 17, 18, 33, 60))
    ]
    corpus = Corpus(draw, draw.one(*KINDS), labels, budget=draw.one(60, 300, 1000))
    model = estimators.plain_tagger(draw, corpus, "crf", "crf", "perceptron", "pa")
    if hasattr(model, "c1"):
        model.set_params(c1=draw.one(0.0, 0.3, 3.0, 10.0))
    average = _averager(draw, model).fit(corpus.X, corpus.y)
    members = [inside.tables_of(member) for member in average.estimators_]
    for name, table in inside.tables_of(average.estimator_).items():
        tables = np.array([member[name] for member in members])
        if finite(tables):
            close(table, _mean(tables, average), f"average of {name}", 1e-9, 1e-9)
    X, y = corpus.new
    average.member_scores(X, y)
    check_kept(draw, average, X, *check_predictions(draw, average, corpus, X, y))


@scenario
def mixer(draw):
    """Threads do not change a mixture."""
    corpus = Corpus(
        draw, draw.one(*KINDS, "list"), most_labels=draw.one(5, 40), least=8
    )
    model = estimators.plain_tagger(draw, corpus, "perceptron", "pa").set_params(
        early_stopping=False
    )
    mixed, X, y = _mixed(draw, model, corpus.X, corpus.y), *corpus.new
    check_kept(draw, mixed, X, *check_predictions(draw, mixed, corpus, X, y))


def _mixed(draw, model, X, y):
    given = {
        "n_shards": draw.int(1, 4),
        "strategy": draw.one("iterative", "once"),
        "mixing": draw.one("uniform", "errors", "nonzero"),
        "random_state": 0,
    }
    draw.note(**given)
    mixed, other = (ParameterMixer(model, n_jobs=n, **given).fit(X, y) for n in (1, 2))
    equal(
        mixed.decision_function(X), other.decision_function(X), "a mixture with threads"
    )
    return mixed


@scenario
def structures_together(draw):
    """Averages and mixtures of word segmenters and parsers, whose features are met in
    the search.
    """
    if draw.chance(0.5):
        (X, y, _), new = texts.texts(draw, draw.one(30, 200)), texts.texts(draw, 60)[0]
        templates = draw.one("zsz18", "zc14")
        model = WordSegmenter(
            templates=templates,
            beam_size=draw.one(1, 4),
            max_iter=2,
            min_count=draw.one(1, 2),
        )
        check = texts.check_words
    else:
        columns = draw.one(2, 4)
        (X, y), (new, _) = (
            texts.trees(draw, 200, columns),
            texts.trees(draw, 60, columns),
        )
        labeled = draw.chance(0.7)
        model = ShiftReduceParser(
            beam_size=draw.one(1, 4),
            max_iter=2,
            min_count=draw.one(1, 2),
            labeled=labeled,
        )

        def check(X, found):
            texts.check_trees(found, X)

    model.set_params(
        penalty=draw.one(*PENALTIES),
        alpha=draw.one(1e-6, 1e-2),
        random_state=0,
    )
    draw.note(model=repr(model))
    if draw.chance(0.5):
        together = _mixed(draw, model, X, y)
    else:
        together = _averager(draw, model).fit(X, y)
        _check_names(together)
    found = together.predict(new)
    check(new, found)
    check_kept(draw, together, new, found, together.decision_function(new))


def _check_names(average):
    """The weights of an average are the means of its members', feature by feature."""
    members = [
        {(f, str(c)): w for f, c, w in feature_weights(m)} for m in average.estimators_
    ]
    found = {(f, str(c)): w for f, c, w in feature_weights(average)}
    for key in {key for member in members for key in member}:
        tables = np.array([[member.get(key, 0.0)] for member in members])
        close(
            found.get(key, 0.0),
            _mean(tables, average)[0],
            f"average of {key}",
            1e-9,
            1e-9,
        )
    assert len(found) <= len({key for member in members for key in member}), (
        "weights that no member has"
    )


@scenario
def calibrated(draw):
    """Probabilities of a tagger at a temperature."""
    scheme = draw.one("BIO", "BIOES") if draw.chance(0.3) else None
    kind, partial = draw.one("str", "dict", "dense", "sparse"), draw.one(0.0, 0.3)
    corpus = Corpus(draw, kind, most_labels=12, scheme=scheme, partial=partial, least=8)
    model = estimators.plain_tagger(draw, corpus)
    wrapped = CalibratedTagger(
        model, cv=draw.one(2, 3), random_state=0, n_jobs=draw.one(1, 2)
    )
    wrapped.fit(corpus.X, corpus.y)
    X, y = corpus.new
    found, scores = check_decoding(draw, wrapped, X, corpus.labels)
    check_files(draw, wrapped, X, found, scores)
    if not finite(scores):
        return
    check_kbest(draw, wrapped, X, found, None)
    check_probabilities(draw, wrapped, X[:6], found[:6], scores[:6])
    check_enumeration(draw, wrapped, X)
    best = wrapped.predict_kbest(X, 3)
    assert all(
        p <= 1e-9 for s, items in zip(found, best) if len(s) for _, p in items
    ), "log-probability above 0"
    if scheme and model.constraints:
        wrapped.predict_segment_proba(X[:6])
