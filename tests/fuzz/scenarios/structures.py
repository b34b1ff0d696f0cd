"""Words, trees and re-ranked lists."""

from skstruct import (
    L1CRF,
    KBestReranker,
    PassiveAggressiveTagger,
    Segmenter,
    ShiftReduceParser,
    StructuredPerceptron,
    WordSegmenter,
    inspection,
)
from skstruct._core.codes import PENALTIES

from .. import estimators, texts
from ..cases import scenario
from ..checks import check_ranking
from ..corpora import Corpus
from ..keeping import check_compressed, check_files, check_kept
from ..outcomes import same
from ..texts import check_boundaries, check_dictionary, check_trees, check_words


def _of_one_by_one(draw, model, X, found):
    """Threads and batches change nothing."""
    same(model.set_params(n_jobs=2).predict(X), found, "predict with more n_jobs")
    same([model.predict([x])[0] for x in X], found, "predict of one")


def _online(draw, cls, **more):
    """An estimator with those of the online learners' parameters that it has."""
    names = cls().get_params()
    found = {
        k: v for k, v in estimators.online_parameters(draw).items() if k in names
    } | more
    draw.note(**found)
    return cls(**found)


@scenario
def segmenter(draw):
    """Texts to words through a tagger."""
    tags = draw.chance(0.3)
    X, y, lexicon = texts.texts(draw, draw.one(30, 200, 800), tags)
    features = draw.one(
        "char", "char-av", "char-best", ["U0:%x[0,0]", "U1:%x[-1,0]/%x[0,0]", "B"]
    )
    given = {"features": features, "random_state": 0, "max_iter": 3}
    inner = draw.one(
        StructuredPerceptron(order=draw.one(1, 2), **given),
        PassiveAggressiveTagger(**given),
        L1CRF(c1=0.1, **given),
    )
    scheme = draw.one("BMES", "BI", "B2B3MES")
    draw.note(scheme=scheme, tagger=repr(inner))
    model = Segmenter(inner, scheme=scheme).fit(X, y)
    new = X[:10] + ["", " ", "ab cd", "z" * 40, "\u3000北"]
    found = model.predict(new)
    check_words(new, found)
    same([model.predict([text])[0] for text in new], found, "predict of one text")
    check_dictionary(model, new, lexicon)
    for text, best in zip(new, model.predict_kbest(new, draw.one(1, 3, 20))):
        check_words([text] * len(best), [words for words, _ in best])
    model.score(X, y)
    check_files(draw, model, new, found, None)
    if isinstance(inner, L1CRF):
        model.predict_segment_proba(new)
    else:
        X, y, _ = texts.texts(draw, 60, tags)
        check_words(new, model.partial_fit(X, y).predict(new))
    if features in ("char-av", "char-best") and any(text.strip() for text in X[:2]):
        check_words(new, model.adapt(X[:2]).predict(new))
    _explain(draw, model, new, found)


def _explain(draw, model, X, found):
    i = next((i for i, output in enumerate(found) if 0 < len(output) < 10), None)
    if i is not None:
        assert str(inspection.explain(model, X[i]))


@scenario
def words(draw):
    """Texts to words by beam search."""
    X, y, lexicon = texts.texts(draw, draw.one(20, 100, 400))
    beam, templates = draw.one(1, 2, 8, 40, None), draw.one("zsz18", "zc14")
    if max(map(len, X)) > 40 and templates == "zc14":
        beam = beam or 4  # all segmentations of a long text take too long
    update = draw.one("max-violation", "early", "standard")
    model = _online(
        draw,
        WordSegmenter,
        templates=templates,
        beam_size=beam,
        update=update,
        min_count=draw.one(1, 1, 2),
    )
    model.set_params(average=draw.chance(0.8)).fit(X, y)
    new = [text[:60] for text in X[:8]] + ["", " ", "ab cd", "zab北北", "ab"]
    found, scores = model.predict(new), model.decision_function(new)
    check_words(new, found)
    _of_one_by_one(draw, model, new, found)
    k = draw.one(1, 2, 5, 20, 50)
    draw.note(k=k)
    for i, (text, best) in enumerate(zip(new, model.predict_kbest(new, k))):
        check_words([text] * len(best), [output for output, _ in best])
        if text.strip():
            check_ranking(best, k, found[i], scores[i], f"k best of text {i}")
        if beam is None and text.split() == [text]:
            most = min(k, 2 ** min(len(text) - 1, 20))
            assert len(best) == most, f"{len(best)} of {most} segmentations of {text!r}"
    check_dictionary(model, new, lexicon)
    check_boundaries(draw, model, new)
    model.score(X, y)
    check_kept(draw, model, new, found, scores)
    X, y, _ = texts.texts(draw, 60)
    found = model.partial_fit(X, y).predict(new)
    check_words(new, found)
    check_kept(draw, model, new, found, model.decision_function(new))


TEMPLATES = (
    "auto", "rich", "hs28", "hs29", "zsz28", ["s0.t s1.t", "s0.w", "s0.lc.r s0.t"], ["s0.t s1.t q0.t"],
)  # fmt: skip


@scenario
def parser(draw):
    """Trees, projective or not."""
    columns, shape = draw.one(2, 2, 4), draw.one(*texts.SHAPES)
    X, y = texts.trees(draw, draw.one(20, 100, 500), columns, shape)
    labeled = draw.chance(0.7)
    projectivize = (
        draw.one("lift", "pseudo", "skip") if labeled else draw.one("lift", "skip")
    )
    model = _online(
        draw, ShiftReduceParser, templates=draw.one(*TEMPLATES), beam_size=draw.one(1, 2, 8, 30),
        merge_states=draw.chance(0.6), min_count=draw.one(1, 1, 2), labeled=labeled,
        update=draw.one("max-violation", "early", "standard"), projectivize=projectivize,
        root_step=draw.chance(0.3),
    )  # fmt: skip
    draw.note(columns=columns, shape=shape)
    weight = draw.rng.choice([0.0, 1.0, 3.0], len(X)) if draw.chance(0.3) else None
    if weight is not None:
        weight[0] = 1.0
    model.set_params(average=draw.chance(0.8)).fit(X, y, weight)
    new, gold = texts.trees(draw, 60, columns)
    new, gold = [*new, []], [*gold, []]
    found, scores = model.predict(new), model.decision_function(new)
    check_trees(found, new)
    _of_one_by_one(draw, model, new, found)
    k = draw.one(1, 2, 5, 50)
    draw.note(k=k)
    for i, best in enumerate(model.predict_kbest(new, k)):
        check_trees([tree for tree, _ in best], [new[i]] * len(best))
        if new[i]:
            check_ranking(best, k, found[i], scores[i], f"k best of sentence {i}")
    model.score(new, gold)
    check_kept(draw, model, new, found, scores)
    X, y = texts.trees(draw, 50, columns, shape)
    found = model.partial_fit(X, y).predict(new)
    check_trees(found, new)
    check_files(draw, model, new, found, model.decision_function(new))


@scenario
def reranker(draw):
    """The k best of a tagger, a segmenter or a word segmenter."""
    base = draw.one("tagger", "segmenter", "words")
    given = {"k": draw.one(1, 2, 5, 20), "cv": draw.one(2, 3), "n_jobs": draw.one(1, 2)}
    given |= {
        "penalty": draw.one(*PENALTIES),
        "alpha": draw.one(1e-6, 1e-2),
    }
    draw.note(base=base, **given)
    if base == "tagger":
        kind, scheme = (
            draw.one("str", "dict", "tuple", "dense"),
            draw.one("BIO", "BILOU", "IO", None),
        )
        corpus = Corpus(
            draw,
            kind,
            scheme=scheme,
            most_labels=9,
            partial=0.0,
            budget=draw.one(60, 300),
            least=8,
        )
        inner = estimators.plain_tagger(draw, corpus)
        X, y, new = corpus.X, corpus.y, corpus.new[0]
    else:
        X, y, _ = texts.texts(draw, draw.one(60, 200))
        new = X[:6] + ["", "ab"]
        inner = WordSegmenter(beam_size=4, max_iter=2, random_state=0)
        if base == "segmenter":
            inner = Segmenter(StructuredPerceptron("char", max_iter=2, random_state=0))
    model = KBestReranker(inner, max_iter=2, random_state=0, **given).fit(X, y)
    found, scores = model.predict(new), model.decision_function(new)
    if base != "tagger":
        check_words(new, found)
    same(model.set_params(n_jobs=2).predict(new), found, "predict with more n_jobs")
    same(
        [model.predict(new[i : i + 1])[0] for i in range(len(found))],
        found,
        "predict of one sequence",
    )
    model.score(X, y)
    check_files(draw, model, new, found, scores)
    check_compressed(
        draw, model, new, None
    )  # the last of a list and the next may score the same
    _explain(draw, model, new, found)
