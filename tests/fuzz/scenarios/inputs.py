"""Tokens that pass through transformers, tables or the templates of other tools before
they meet a tagger.
"""

import numpy as np
import pandas
import polars
import pytest
from sklearn.base import clone
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from skstruct import (
    L1CRF,
    PassiveAggressiveTagger,
    SequenceMatrix,
    StructuredPerceptron,
)
from skstruct.features import (
    SequenceUnion,
    TokenPredictions,
    TokenTransformer,
    TokenVectorizer,
    Window,
    WordVectors,
)

from .. import estimators
from ..cases import scenario
from ..checks import some
from ..corpora import KINDS as ALL_KINDS
from ..corpora import READ_AS, Corpus
from ..keeping import exported
from ..outcomes import close, equal, on_purpose, same
from .taggers import check_all


def _learner(draw):
    return draw.one(
        StructuredPerceptron(random_state=0, max_iter=2, order=draw.one(1, 2)),
        PassiveAggressiveTagger(random_state=0, max_iter=2),
        L1CRF(c1=0.1, c2=0.1, random_state=0),
    )


KINDS = {
    "union": ("str", "tuple"),
    "numbers": ("dense", "dense32", "sparse", "matrix", "union"),
    "predictions": ("dense",),
    "window": ("dense", "sparse", "matrix", "union"),
    "vectors": ("str",),
    "dicts": ("dict",),
}


def _lengths(tokens):
    return np.array([[len(str(token)) * 1.0, 1.0] for token in tokens])


@scenario
def transformers(draw):
    """A transformer of tokens, and a tagger of what it gives."""
    which = draw.one(*KINDS)
    labels = [f"L{k}" for k in range(draw.int(2, 9))]
    corpus = Corpus(
        draw, draw.one(*KINDS[which]), labels, partial=draw.one(0.0, 0.0, 0.3), least=8
    )
    model = _learner(draw)
    draw.note(which=which, model=repr(model))
    step = {
        "union": lambda: SequenceUnion(
            [
                ("form", TokenVectorizer("auto")),
                ("size", TokenTransformer(FunctionTransformer(_lengths))),
            ]
        ),
        "numbers": lambda: TokenTransformer(
            StandardScaler(with_mean=corpus.kind not in ("sparse", "union")),
            per=draw.one("corpus", "sequence"),
        ),
        "predictions": lambda: TokenPredictions(LogisticRegression(max_iter=30), cv=2),
        "window": lambda: Window(draw.int(0, 2), draw.int(0, 3)),
        "vectors": lambda: WordVectors(
            draw.one(2, 5),
            min_count=1,
            random_state=0,
            **({"n_clusters": 3} if draw.chance(0.5) else {}),
        ),
        "dicts": lambda: TokenTransformer(DictVectorizer()),
    }[which]()
    X, y = corpus.new
    pipeline = make_pipeline(step, model).fit(corpus.X, corpus.y)
    found = pipeline.predict(X)
    same(
        [pipeline.predict(X[i : i + 1])[0] for i in range(min(5, len(X)))],
        found[:5],
        "predict of one sequence",
    )
    check_all(draw, pipeline[-1], corpus, pipeline[:-1].transform(X), y)


def _contained(draw, X):
    """A list of sequences in another container, or as it is."""
    if not isinstance(X, list):
        return X
    index = range(3, 3 + len(X))  # the places are no labels
    return draw.one(
        X,
        pandas.Series(X, index=index, dtype=object),
        pandas.Series(X, dtype=object).array,
    )


STEPS = {
    "strings": lambda: TokenVectorizer("auto"),
    "columns": lambda: TokenVectorizer("auto"),
    "features": lambda: TokenVectorizer("auto"),
    "numbers": lambda: Window(1, 1),
    "both": lambda: TokenVectorizer(["U0:%x[0,0]", "B"]),
}


@scenario
def kinds(draw):
    """Tokens of another kind than those of training: the same results if they say the
    same, or an error.
    """
    corpus = Corpus(draw, most_labels=9, partial=0.0, budget=draw.one(60, 300))
    kind, read_as = draw.one(*ALL_KINDS), READ_AS[corpus.kind]
    model, reads = estimators.plain_tagger(draw, corpus, orders=(1,)), {read_as}
    model.set_params(constraints=None)
    if draw.chance(0.3):
        reads |= (
            {"columns", "both"} if read_as in ("columns", "both") else set()
        )  # it reads the strings
        model = make_pipeline(STEPS[read_as](), model.set_params(features="auto"))
    draw.note(prediction=kind, model=repr(model))
    model.fit(_contained(draw, corpus.X), corpus.y)
    expected, scores = (
        model.predict(corpus.new[0]),
        model.decision_function(corpus.new[0]),
    )
    X, alike = _contained(draw, corpus.new_as(kind)), corpus.is_new_as(kind)
    try:
        found = model.predict(X)
    except Exception as error:
        if alike or not on_purpose(error):
            raise AssertionError(f"predict refuses the kind: {error!r}") from error
        with pytest.raises(ValueError):
            model.score(X, corpus.new[1])
        equal(model.decision_function(corpus.new[0]), scores, "scores after an error")
        return
    assert READ_AS[kind] in reads, f"a model of {read_as} takes {READ_AS[kind]}"
    assert [*map(len, found)] == [*map(len, expected)], "lengths of predict"
    if alike:
        same(found, expected, "predict of another kind")
        close(model.decision_function(X), scores, "scores of another kind", 1e-9, 1e-9)
    if hasattr(model, "partial_fit"):
        model.partial_fit(X, corpus.new[1])


@scenario
def vectorizer(draw):
    """Features of tokens as a matrix train the same model as the tokens."""
    corpus = Corpus(draw, draw.one("str", "tuple", "dict"), most_labels=9, least=8)
    model, features = _learner(draw), estimators.features(draw, corpus.kind)
    draw.note(model=repr(model))
    vectorizer = TokenVectorizer(features, min_count=draw.one(1, 1, 2))
    rows, new = vectorizer.fit_transform(corpus.X), vectorizer.transform(corpus.new[0])
    model.fit(rows, corpus.y)
    other = (
        clone(model)
        .set_params(features=features, min_count=vectorizer.min_count)
        .fit(corpus.X, corpus.y)
    )
    if isinstance(model, L1CRF):
        close(
            model.objective_,
            other.objective_,
            "objectives of tokens and matrix",
            1e-3,
            1e-3,
        )
    else:
        expected = other.decision_function(corpus.new[0])
        close(model.decision_function(new), expected, "scores of tokens and matrix")
    check_all(draw, model, corpus, new, corpus.new[1])


@scenario
def tables(draw):
    """``from_frame``: one table with a row a token is the list of its sequences'
    frames.
    """
    corpus = Corpus(draw, "frame", most_labels=9, partial=draw.one(0.0, 0.3))
    used = [
        i for i, s in enumerate(corpus.y) if len(s)
    ]  # a table has no empty sequences
    frames, y, full = (
        some(corpus.X, used),
        [corpus.y[i] for i in used],
        [corpus.full_y[i] for i in used],
    )
    names = draw.rng.permutation(len(used)).tolist()
    table = pandas.concat(frames, ignore_index=True)
    table["sequence"] = [names[i] for i, s in enumerate(y) for _ in s]
    table["label"] = pandas.Series([label for s in y for label in s], dtype=object)
    how = draw.one("object", "string", "category", "polars")
    draw.note(library=how)
    if how in ("string", "category"):
        table = table.astype({"word": how, "tag": how})
    elif how == "polars" and all(
        isinstance(label, (str, type(None))) for s in y for label in s
    ):
        table = polars.DataFrame({name: table[name].tolist() for name in table})
    columns = draw.one(None, ["word", "tag", "x"], ["word"], ["tag", "word"], ["x"])
    X, labels = SequenceMatrix.from_frame(
        table, "sequence", columns=columns, label="label"
    )
    same([[None if v != v else v for v in s] for s in labels], y, "labels of a table")
    model = _learner(draw)
    if columns is None or columns == ["word", "tag", "x"]:
        model.set_params(features=estimators.features(draw, "frame"))
        expected = clone(model).fit(frames, y).decision_function(frames)
        equal(
            model.fit(X, y).decision_function(X),
            expected,
            "a table and a list of frames",
        )
    found = model.fit(X, y).predict(X)
    values = X.column(found)
    same(list(values), [label for s in found for label in s], "column of predictions")
    check_all(draw, model, corpus, X, full)


@scenario
def imported(draw):
    """A model written for another tool, read again, and used as any tagger."""
    tool = draw.one("crfsuite", "crfpp", "wapiti")
    kind = (
        draw.one("list", "dict")
        if tool == "crfsuite"
        else draw.one("str", "tuple", "tuple3")
    )
    labels = [f"L{k}" for k in range(draw.int(2, 8))]
    corpus = Corpus(draw, kind, labels, partial=0.0, budget=draw.one(60, 300))
    model = estimators.plain_tagger(draw, corpus, orders=(1,)).fit(corpus.X, corpus.y)
    draw.note(tool=tool)
    again = exported(model, tool)
    if again is None:
        return
    X, y = corpus.new
    if kind == "dict" and tool == "crfsuite":
        assert again.inputs.token == model.inputs.token, "tokens of an imported model"
    close(
        again.decision_function(X),
        model.decision_function(X),
        f"scores after {tool}",
        1e-3,
        1e-3,
    )
    check_all(draw, again, corpus, X, y)
    twice = exported(again, tool)
    close(
        twice.decision_function(X),
        again.decision_function(X),
        f"scores after {tool}, twice",
        1e-6,
        1e-6,
    )
    again.set_params(c1=0.1, max_iter=5, solver="owlqn").fit(corpus.X, corpus.y)
    check_all(draw, again, corpus, X, y)
