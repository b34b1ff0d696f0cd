"""The table *every model x every verb*: each cell works, or has a named reason why the model lacks the verb.

A new model is entered in `model_cases`, a new verb in `VERBS`; the tests at the end hold that none is left
out. What a cell may lack stands in `LACKS`: the error that a user gets. Every other cell has to work.
"""

import copy
import functools
import inspect
import io
import json
import math
import pickle
import re
import sys
from fnmatch import fnmatch

import inside
import joblib
import numpy as np
import pytest
from cli_cases import run
from model_cases import (
    ALL_CASES,
    CASES,
    WITHOUT_LABELS,
    annotated,
    assert_predicts_same,
    bags,
    dicts,
    fitted,
    frames,
    n_labels_of,
    rows,
    sparse_rows,
    texts,
    trees,
    trees_of_columns,
    words,
)
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import skstruct
import skstruct.cli
from skstruct import (
    BaggingShuffleAverager,
    CalibratedTagger,
    KBestReranker,
    ParameterMixer,
    Segmenter,
    Span,
    SpanTagger,
    inspection,
)
from skstruct.interchange import load_crfsuite

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

trained = functools.cache(fitted)
"""(estimator, X, y) of a case and a number of labels, fitted once."""


class Refused(Exception):
    """A command ended with an error; holds what it said."""


def length(sequence):
    """Tokens of a sequence; CSR has no ``len``."""
    return sequence.shape[0] if hasattr(sequence, "shape") else len(sequence)


class Cell:
    """A fitted model, which no verb changes, and what verbs need besides."""

    def __init__(self, name, tmp_path, capsys):
        self.name, self.folder, self.capsys = name, tmp_path, capsys
        self.data, self.make = ALL_CASES[name]
        self.model, self.X, self.y = trained(name, 4)

    @property
    def kind(self):
        kinds = {
            texts: "words", words: "words", annotated: "spans", trees: "trees", trees_of_columns: "trees",
        }  # fmt: skip
        return kinds.get(self.data, "labels")

    def first(self):
        """The first sequence."""
        whole = self.kind in ("words", "spans") or self.data in (rows, sparse_rows, frames)
        return self.X[0] if whole else list(self.X[0])

    def copy(self):
        return copy.deepcopy(self.model)

    def parameters(self, ending):
        """The names of the parameters, those of inner estimators included, that are called so."""
        names = [name for name in self.make().get_params() if name.split("__")[-1] == ending]
        if not names:
            raise AttributeError(f"{self.name} has no attribute {ending!r}")
        return names

    def command(self, *arguments, stdin="", to=None, model=None):
        """What a command prints; ``to`` is the file to convert to."""
        before = sys.stdin
        sys.stdin = io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")
        try:
            files = ["-m", self.saved()] if to is None else [model or self.saved(), to]
            code, out, err = run(self.capsys, *arguments, *files)
        finally:
            sys.stdin = before
        if code:
            raise Refused(err)
        return out

    def saved(self, n_labels=4):
        path = self.folder / "model"
        trained(self.name, n_labels)[0].save(path)
        return path

    def corpus(self):
        """A file of the training corpus."""
        if self.data in (bags, dicts, rows, sparse_rows, frames):
            lines = ["".join(f"a b {label}\n" for label in labels) for labels in self.y]
        elif self.kind == "labels":
            cells = ([[t] if isinstance(t, str) else t for t in x] for x in self.X)
            lines = ["".join(" ".join([*t, g]) + "\n" for t, g in zip(x, y)) for x, y in zip(cells, self.y)]
        elif self.kind == "words":
            plain = ([w if isinstance(w, str) else w[0] for w in text] for text in self.y)
            return self.write("".join(" ".join(text) + "\n" for text in plain))
        else:
            lines = []
            for x, y in zip(self.X, self.y):
                full = [(*word, "_", "_")[:4] for word in x]
                numbered = enumerate(zip(full, y), start=1)
                cells = (
                    f"{t}\t{w}\t_\t{u}\t{p}\t{f}\t{h}\t{d}\t_\t_\n" for t, ((w, p, u, f), (h, d)) in numbered
                )
                lines.append("".join(cells))
        return self.write("\n".join(lines) + "\n")

    def reading(self):
        """The option that says what tokens are, where that is not the default."""
        return ["--tokens", "form,xpos,upos,feats"] if self.data is trees_of_columns else []

    def write(self, text):
        (self.folder / "corpus").write_text(text, encoding="utf-8")
        return self.folder / "corpus"

    def bad(self):
        """A sequence that no model takes."""
        if self.kind in ("words", "spans"):
            return 3
        if self.data is frames:
            return self.X[0].assign(number="many")
        return [self.X[0][0], (3, 4) if self.kind == "trees" or isinstance(self.X[0][0], tuple) else 3]

    def bad_y(self, i):
        """What belongs to no sequence, made from that of the sequence i."""
        return [(0, 999, "T00")] if self.kind == "spans" else [*self.y[i], *self.y[i]]


# -- learning ------------------------------------------------------------------------------------------
def fit(cell):
    again = clone(cell.make())
    assert again.fit(cell.X, cell.y) is again
    assert_predicts_same(again, cell.model, cell.X)


def fit_with_X_val(cell):
    """Held-out sequences are scored after each epoch, and have no influence."""
    model = clone(cell.make()).fit(cell.X, cell.y, X_val=cell.X[::2], y_val=cell.y[::2])
    assert_predicts_same(model, cell.model, cell.X)
    scores = [record["validation_score"] for record in model.history_]
    assert all(0.0 <= score <= 1.0 for score in scores)
    inner = {type(model), type(inner_of(model))}
    if not inner & {Segmenter, SpanTagger, BaggingShuffleAverager}:  # which hand them to others
        assert scores[-1] == pytest.approx(model.score(cell.X[::2], cell.y[::2]))
    with pytest.raises(ValueError, match="X_val and y_val must be given together, got no y_val"):
        cell.make().fit(cell.X, cell.y, X_val=cell.X)
    with pytest.raises(ValueError, match=rf"X_val.*\bsequence {len(cell.X)}\b"):
        cell.make().fit(cell.X, cell.y, X_val=[*cell.X, cell.bad()], y_val=[*cell.y, cell.y[0][:2]])
    with pytest.raises(ValueError, match=r"_val: sequence 1\b"):
        cell.make().fit(cell.X, cell.y, X_val=cell.X[:2], y_val=[cell.y[0], cell.bad_y(1)])


def partial_fit(cell):
    model = cell.copy()
    assert model.partial_fit(cell.X[:3], cell.y[:3]) is model
    fresh = clone(cell.make()).partial_fit(cell.X, cell.y)
    for each in (model, fresh):
        assert len(each.predict(cell.X)) == len(cell.X)


def fit_shards(cell):
    shards = [functools.partial(lambda s: (cell.X[s::2], cell.y[s::2]), s) for s in range(2)]
    assert len(clone(cell.make()).fit_shards(shards).predict(cell.X)) == len(cell.X)


def adapt(cell):
    """The templates here read no statistics of the text; tests/chain/test_adapt.py has some that do."""
    with pytest.raises(ValueError, match="there is nothing to adapt"):
        cell.copy().adapt(cell.X)


def average(cell):
    model = BaggingShuffleAverager(cell.make(), 2, random_state=0).fit(cell.X, cell.y)
    assert len(model.predict(cell.X)) == len(cell.X)


def mix(cell):
    model = ParameterMixer(cell.make(), 2, random_state=0).fit(cell.X, cell.y)
    assert len(model.predict(cell.X)) == len(cell.X)


def calibrate(cell):
    model = CalibratedTagger(cell.make(), cv=2, random_state=0).fit(cell.X, cell.y)
    assert model.temperature_ > 0.0 and model.predict(cell.X) == cell.model.predict(cell.X)


def rerank(cell):
    model = KBestReranker(cell.make(), k=3, cv=2, max_iter=2, random_state=0).fit(cell.X * 3, cell.y * 3)
    assert len(model.predict(cell.X)) == len(cell.X)


def segment(cell):
    X, y = texts(4)
    model = Segmenter(cell.make(), scheme="BI").fit(X * 3, y * 3)
    assert ["".join(word for word, _ in words) for words in model.predict(X)] == X


def spans(cell):
    X, y = annotated(4)
    model = SpanTagger(cell.make(), scheme="BIO", layout=False).fit(X * 3, y * 3)
    assert [len(spans) for spans in model.predict(X)] == [len(spans) for spans in y]


def grid_search(cell):
    (name, *_) = [name for name in cell.make().get_params() if name.split("__")[-1] in ("max_iter", "c1")]
    search = GridSearchCV(cell.make(), {name: [1, 2]}, cv=2, error_score="raise")
    search.fit(cell.X * 3, cell.y * 3)
    assert search.best_params_[name] in (1, 2) and len(search.predict(cell.X)) == len(cell.X)


def constraints(cell):
    names = cell.parameters("constraints")
    allowed = sorted({pair for y in cell.y for pair in zip(y, y[1:])}) if cell.kind == "labels" else "BI"
    allowed = "BIO" if cell.kind == "spans" else allowed
    model = cell.make().set_params(**dict.fromkeys(names, allowed)).fit(cell.X, cell.y)
    predicted = model.predict(cell.X)
    if cell.kind == "labels":
        assert {pair for y in predicted for pair in zip(y, y[1:])} <= set(allowed)


# -- predicting ----------------------------------------------------------------------------------------
def predict(cell):
    predicted = cell.model.predict(cell.X)
    assert len(predicted) == len(cell.X)
    if cell.kind == "words":
        plain = ("".join(w if isinstance(w, str) else w[0] for w in text) for text in predicted)
        assert list(plain) == cell.X
    elif cell.kind == "spans":
        assert {type(span) for spans in predicted for span in spans} == {Span}
        assert predicted == cell.y or "reranker" in cell.name
    else:
        assert [len(y) for y in predicted] == [length(x) for x in cell.X]
    assert predicted[1:3] == cell.model.predict(cell.X[1:3])


def predict_kbest(cell):
    for best, first in zip(cell.model.predict_kbest(cell.X, 3), cell.model.predict(cell.X)):
        scores = [score for _, score in best]
        assert list(best[0][0]) == list(first) and scores == sorted(scores, reverse=True) and len(best) <= 3


def predict_marginals(cell):
    for x, marginals in zip(cell.X, cell.model.predict_marginals(cell.X)):
        assert marginals.shape == (length(x), 4)
        np.testing.assert_allclose(marginals.sum(axis=1), 1.0)


def predict_posterior(cell):
    predicted, classes = cell.model.predict_posterior(cell.X), cell.model.classes_
    assert predicted == [classes[m.argmax(axis=1)].tolist() for m in cell.model.predict_marginals(cell.X)]


def sequence_log_proba(cell):
    log_p = cell.model.sequence_log_proba(cell.X, cell.model.predict(cell.X))
    assert (log_p < 0.0).all() and (log_p >= cell.model.sequence_log_proba(cell.X, cell.y)).all()


def predict_segment_proba(cell):
    """Of all segments of one token some labelling stands in each: their probabilities sum to 1."""
    if cell.kind == "words":
        found, predicted = cell.model.predict_segment_proba(cell.X), cell.model.predict(cell.X)
        words = [[(x[a:b], tag) for (a, b, tag), _ in spans] for x, spans in zip(cell.X, found)]
        assert words == predicted
        assert all(0.0 < p <= 1.0 for spans in found for _, p in spans)
        return
    if cell.kind == "spans":
        found = cell.model.predict_segment_proba(cell.X)
        assert [[span for span, _ in spans] for spans in found] == cell.model.predict(cell.X)
        assert all(0.0 < p <= 1.0 for spans in found for _, p in spans)
        return
    with pytest.raises(ValueError, match="scheme is needed"):
        cell.model.predict_segment_proba(cell.X)
    with pytest.raises(ValueError, match="'L00' does not belong to the scheme BIO"):
        cell.model.predict_segment_proba(cell.X, scheme="BIO")


def decision_function(cell):
    scores = cell.model.decision_function(cell.X)
    assert scores.shape == (len(cell.X),) and np.isfinite(scores).all()


def tokens(cell):
    for x, pairs, spans in zip(cell.X, cell.model.tokens(cell.X), cell.y):
        assert [x[a:b] for a, b in pairs] == x.split()
        assert {a for a, _, _ in spans} <= {a for a, _ in pairs}


def alignment_report(cell):
    report = cell.make().alignment_report(cell.X, cell.y)
    assert report.reachable == 1.0 and report.moves == [] and report.counts == cell.model.alignment_


def score(cell):
    assert 0.0 < cell.model.score(cell.X, cell.y) <= 1.0


def member_scores(cell):
    assert callable(cell.model.member_scores)
    model = cell.make().set_params(keep_members=True).fit(cell.X, cell.y)
    assert len(model.member_scores(cell.X, cell.y)) == 2


def allowed(cell):
    forced = [list(y) for y in cell.y]
    assert cell.model.predict(cell.X, allowed=forced) == forced


def dictionary(cell):
    text = next(text for text in cell.X if length(text) > 3)
    (found,) = cell.model.predict([text], dictionary=[text[1:3]])
    assert text[1:3] in [w if isinstance(w, str) else w[0] for w in found]


def boundaries(cell):
    text = cell.X[0]
    assert cell.model.predict([text], boundaries=[None]) == cell.model.predict([text])
    assert cell.model.predict([text], boundaries=[[True] * len(text)]) == [list(text)]
    assert cell.model.predict([text], boundaries=[[True] + [False] * (len(text) - 1)]) == [[text]]


def n_jobs(cell):
    model = cell.make().set_params(**dict.fromkeys(cell.parameters("n_jobs"), 2)).fit(cell.X, cell.y)
    assert_predicts_same(model, cell.model, cell.X * 3)


def bad_last_sequence(cell):
    place = rf"sequence {len(cell.X)}\b"
    with pytest.raises(ValueError, match=place):
        cell.model.predict([*cell.X, cell.bad()])
    with pytest.raises(ValueError, match=place):
        cell.make().fit([*cell.X, cell.bad()], [*cell.y, cell.y[0][:2]])


def bad_last_labels(cell):
    with pytest.raises(ValueError, match=rf"sequence {len(cell.X)}\b"):
        cell.make().fit([*cell.X, cell.X[0]], [*cell.y, cell.bad_y(0)])


def bad_last_sequence_with_n_jobs(cell):
    model = cell.copy().set_params(**dict.fromkeys(cell.parameters("n_jobs"), 2))
    for inner in ("tagger_", "base_", "estimator_"):
        if hasattr(model, inner) and "n_jobs" in getattr(model, inner).get_params():
            getattr(model, inner).set_params(n_jobs=2)
    with pytest.raises(ValueError, match=rf"sequence {2 * len(cell.X)}\b"):
        model.predict([*cell.X, *cell.X, cell.bad()])


# -- keeping -------------------------------------------------------------------------------------------
def save_and_load(cell, n_labels=4):
    model, X, _ = trained(cell.name, n_labels)
    if cell.data is not words:
        assert n_labels_of(model) == n_labels
    for training in (True, False):
        model.save(cell.folder / "model", training=training)
        assert_predicts_same(model, skstruct.load(cell.folder / "model"), X)


def copies(cell):
    for same in (pickle.loads(pickle.dumps(cell.model)), copy.deepcopy(cell.model)):
        assert_predicts_same(same, cell.model, cell.X)


def clones(cell):
    again = clone(cell.model)
    assert not [name for name in vars(again) if name.endswith("_")]
    assert repr(again) == repr(cell.make())


def read_only_memory(cell):
    """Arrays on a disk that cannot be written to, as processes of joblib share them."""
    joblib.dump(cell.model, cell.folder / "dump")
    mapped = joblib.load(cell.folder / "dump", mmap_mode="r")
    assert_predicts_same(mapped, cell.model, cell.X)
    if hasattr(mapped, "partial_fit"):
        other = cell.copy()
        for each in (mapped, other):
            each.partial_fit(cell.X, cell.y)
        assert_predicts_same(mapped, other, cell.X)


# -- the command line ----------------------------------------------------------------------------------
def tag(cell):
    if cell.kind == "words":
        out = cell.command("tag", "-", stdin="".join(text + "\n" for text in cell.X))
        expected = [[w if isinstance(w, str) else "/".join(w) for w in t] for t in cell.model.predict(cell.X)]
        assert out == "".join(" ".join(words) + "\n" for words in expected)
        return
    out = cell.command("tag", cell.corpus(), *cell.reading()).strip("\n").split("\n\n")
    rows = [[line.split() for line in part.split("\n")] for part in out]
    if cell.kind == "trees":
        assert [[(int(r[6]), r[7]) for r in part] for part in rows] == cell.model.predict(cell.X)
    else:
        assert [[r[-1] for r in part] for part in rows] == cell.model.predict(cell.X)


def tag_proba(cell):
    if cell.kind == "words":
        out = cell.command("tag", "-", "--proba", stdin="".join(text + "\n" for text in cell.X))
        found = cell.model.predict_segment_proba(cell.X)
        expected = [[f"{x[a:b]}/{tag}/{p:.6f}" for (a, b, tag), p in s] for x, s in zip(cell.X, found)]
        assert [line.split() for line in out.splitlines()] == expected
        return
    out = cell.command("tag", cell.corpus(), "--proba").strip("\n").split("\n\n")
    written = [[float(line.split()[-1]) for line in part.split("\n")] for part in out]
    columns = [[cell.model.classes_.tolist().index(label) for label in y] for y in cell.model.predict(cell.X)]
    marginals = cell.model.predict_marginals(cell.X)
    for p, m, at in zip(written, marginals, columns):
        np.testing.assert_allclose(p, m[range(len(at)), at], atol=1e-6)


def evaluate(cell):
    scores = json.loads(cell.command("evaluate", cell.corpus(), *cell.reading(), "--json"))
    assert scores["sequences"] == len(cell.X)


def show(cell):
    assert type(cell.model).__name__ in cell.command("show").splitlines()[0]
    assert json.loads(cell.command("show", "--json"))


def convert(cell):
    """To CRFsuite, whose items are then the names of the features, and back."""
    tool = cell.folder / "tool.crfsuite"
    cell.command("convert", to=tool)
    ready = cell.data in (bags, dicts)
    items = cell.X if ready else [inspection.features_of(cell.model, x) for x in cell.X]
    assert load_crfsuite(tool).predict(items) == cell.model.predict(cell.X)
    if not ready:
        return
    cell.command("convert", to=cell.folder / "again.skstruct", model=tool)
    assert skstruct.load(cell.folder / "again.skstruct").predict(cell.X) == cell.model.predict(cell.X)


# -- size ----------------------------------------------------------------------------------------------
def compress(cell):
    cell.model.save(cell.folder / "whole", training=False)
    exact, small = cell.model.compress(dtype="float64"), cell.model.compress()
    assert_predicts_same(cell.model, exact, cell.X)
    small.save(cell.folder / "small")
    again = skstruct.load(cell.folder / "small")
    assert_predicts_same(small, again, cell.X)
    # Not the labels, of which two may score the same; so may the last of a re-ranker's list and the next.
    if hasattr(small, "decision_function") and "reranker" not in cell.name:
        expected = cell.model.decision_function(cell.X)
        np.testing.assert_allclose(small.decision_function(cell.X), expected, rtol=1e-6, atol=1e-6)
    assert len(cell.model.compress(dtype="float16", keep=0.3).predict(cell.X)) == len(cell.X)
    with pytest.raises(ValueError, match="keep must be a number above 0, up to 1, got 0"):
        cell.model.compress(keep=0)


def info(cell):
    info, small = cell.model.info(), cell.model.compress().info()
    cell.model.save(cell.folder / "model")
    cell.model.save(cell.folder / "part", training=False)
    assert info["file_bytes"] == (cell.folder / "part").stat().st_size
    assert info["file_bytes"] + info["training_bytes"] == (cell.folder / "model").stat().st_size
    assert (info["compressed"], small["compressed"]) == (None, "float32")
    assert info["version"] == small["version"] == skstruct.__version__
    assert info["memory_bytes"] > 0 and info["made_by"].startswith(type(cell.model).__name__)
    assert small["features"] <= info["features"] and small["state_weights"] == info["state_weights"]


def size_curve(cell):
    curve = inspection.size_curve(cell.model, cell.X, cell.y, keep=[1.0, 0.2])
    assert np.isnan(curve.keep[0]) and curve.keep[1:].tolist() == [1.0, 0.2]
    assert curve.score[0] == cell.model.score(cell.X, cell.y) and curve.file_bytes[2] <= curve.file_bytes[1]


# -- looking inside ------------------------------------------------------------------------------------
def explain(cell):
    sequence = cell.first()
    found = inspection.explain(cell.model, sequence)
    if cell.kind == "trees":
        assert found.tree == cell.model.predict(cell.X[:1])[0]
        assert len(found.to_frame()) == sum(len(a.features) + len(a.label_features) for a in found.arcs)
        return shows(found)
    if hasattr(cell.model, "decision_function"):
        score = cell.model.decision_function(cell.X[:1])[0]
        assert found.score == pytest.approx(score, rel=1e-9, abs=1e-9)
    assert math.fsum(token.score for token in found.tokens) == pytest.approx(found.score, rel=1e-9, abs=1e-9)
    predicted = cell.model.predict(cell.X[:1])[0]
    if cell.kind == "labels":
        assert found.labels == predicted
    else:
        tagged = [word for word in predicted if not isinstance(word, str)]
        spans = [
            cell.X[0][a:b] if len(found.tokens) >= len(cell.X[0]) else None for a, b, _ in found.segments
        ]
        assert len(found.segments) == len(predicted)
        if None not in spans:
            words = [(word, tag) for word, (_, _, tag) in zip(spans, found.segments)] if tagged else spans
            assert words == predicted
    shows(found)
    assert len(found.to_frame()) == sum(len(t.features) + len(t.transitions) for t in found.tokens)


def shows(found):
    """What notebooks, pandas and programs get of a result."""
    html = found._repr_html_()
    assert html.startswith("<div") and html.endswith("</div>") and "<script" not in html
    assert len(found.to_frame()) >= 0 and found.to_dict()


def feature_weights(cell):
    found = inspection.feature_weights(cell.model)
    base_is_right = "reranker" in cell.name
    assert (found or base_is_right) and all(weight for _, _, weight in found)
    shows(found)
    assert found.to_frame().to_numpy().tolist() == [list(item) for item in found]


def transition_weights(cell):
    found = inspection.transition_weights(cell.model)
    assert np.any(np.asarray(found)) and type(found[0]) is np.ndarray
    shows(found)
    assert found.to_frame().to_numpy().tolist() == found.tolist()


def coefficients(cell):
    coef, intercept, transitions = inspection.coefficients(cell.model)
    assert coef.shape == (8, 4) and intercept.shape == (4,) and transitions.shape == (4, 4)
    x, y = cell.X[0], cell.model.predict(cell.X[:1])[0]
    ids = [list(cell.model.classes_).index(label) for label in y]
    if cell.model.get_params().get("order") != 2:
        score = (x @ coef + intercept)[range(len(ids)), ids].sum() + transitions[ids[:-1], ids[1:]].sum()
        assert score == pytest.approx(cell.model.decision_function(cell.X[:1])[0])


def features_of(cell):
    found = inspection.features_of(cell.model, cell.first())
    n = len(cell.X[0].split()) if cell.kind == "spans" else length(cell.X[0])
    assert len(found) == n and all(found)


def render(cell):
    picture = inspection.render(cell.X[:3], cell.y[:3], cell.model.predict(cell.X[:3]))
    assert picture._repr_html_() in picture and picture.startswith("<!DOCTYPE html>")
    assert ("<svg" in picture) == (cell.kind == "trees")


def errors(cell):
    found = inspection.errors(cell.model, cell.X, cell.y)
    assert found.kind == cell.kind and found.n_items == sum(map(len, cell.y))
    assert (found.n_errors == 0) == (cell.model.predict(cell.X) == cell.y)
    shows(found)


def n_features(cell):
    n = cell.model.n_features()
    assert n > 0 or (n == 0 and "reranker" in cell.name)  # whose base makes no mistake


VERBS = {
    verb.__name__: verb
    for verb in (
        fit, fit_with_X_val, partial_fit, fit_shards, adapt, average, mix, calibrate, rerank, segment,
        spans,
        grid_search, constraints,
        predict, predict_kbest, predict_marginals, predict_posterior, predict_segment_proba,
        sequence_log_proba,
        tokens, alignment_report,
        decision_function, score, member_scores, allowed, dictionary, boundaries, n_jobs,
        bad_last_sequence, bad_last_labels, bad_last_sequence_with_n_jobs,
        save_and_load, copies, clones, read_only_memory,
        tag, tag_proba, evaluate, show, convert,
        compress, info, size_curve,
        explain, feature_weights, transition_weights, coefficients, features_of, render, errors,
        n_features,
    )
}  # fmt: skip
VERBS |= {f"save_and_load_{n}_labels": functools.partial(save_and_load, n_labels=n) for n in (17, 45)}


# -- what is lacking, and why --------------------------------------------------------------------------
ABSENT = AttributeError, "has no attribute"
NO_ARGUMENT = TypeError, "unexpected keyword argument"
COLUMNS_ONLY = Refused, "trained on dicts or lists of features; the command line reads tokens only"
NO_NUMBERS = Refused, "trained on rows of numbers; the command line reads tokens only"
NOT_A_TAGGER = TypeError, "needs a tagger whose scores are sums over a chain"
NOT_A_CHAIN = TypeError, "a chain tagger.* is needed, got a"
UNCLEAR = Exception, ""
"""Refused, but not by name: a better message would be welcome."""
NOT_ONE_MODEL = ValueError, "cannot be used by|cannot be mixed"

SEGMENTERS = "segmenter segmenter-*"
OF_WORDS = "word-segmenter averager-word-segmenter mixer-word-segmenter"
MIXED = "mixer-segmenter mixer-spans mixer-reranker"
SPAN_TAGGERS = "spans spans-*"
OTHERS = " ".join(name for name in ALL_CASES if not name.startswith("spans"))
ONE_PARSER = "parser parser-columns"
PARSERS = f"{ONE_PARSER} averager-parser mixer-parser mixer-parser-columns"
RERANKERS = "reranker reranker-*"
MEMBERS = "averager averager-*"
SHARDS = "mixer mixer-*"
CALIBRATED = "calibrated calibrated-*"
PLAIN_TAGGERS = f"perceptron perceptron-* passive-aggressive passive-aggressive-* l1crf l1crf-* {CALIBRATED}"
TAGGERS = (
    f"{PLAIN_TAGGERS} averager averager-l1crf averager-passive-aggressive mixer mixer-passive-aggressive"
)
ONLINE_TAGGERS = "perceptron perceptron-* passive-aggressive passive-aggressive-*"
WITHOUT_MARGINALS = (
    f"{ONLINE_TAGGERS} {SEGMENTERS} {SPAN_TAGGERS} {PARSERS} {RERANKERS} {OF_WORDS} {SHARDS}"
    " averager averager-passive-aggressive"
)
WITHOUT_PROBABILITIES = (
    f"{ONLINE_TAGGERS} {PARSERS} {RERANKERS} {OF_WORDS} {SHARDS} averager averager-passive-aggressive"
    " segmenter segmenter-mixer segmenter-passive-aggressive segmenter-reranker segmenter-averager"
    " spans spans-mixer spans-passive-aggressive spans-reranker spans-averager spans-text"
)
NO_PROBABILITIES = Refused, "knows no probabilities"

LACKS = {
    "tokens": {OTHERS: ABSENT},
    "alignment_report": {OTHERS: ABSENT},
    "partial_fit": {"spans-l1crf spans-averager* spans-calibrated spans-mixer spans-reranker": ABSENT,
                    f"l1crf l1crf-* {CALIBRATED} {MEMBERS} {SHARDS} {RERANKERS} segmenter-l1crf"
                    " segmenter-averager* segmenter-calibrated segmenter-mixer segmenter-reranker": ABSENT},
    "fit_shards": {
        f"{ONLINE_TAGGERS} {CALIBRATED} {SEGMENTERS} {SPAN_TAGGERS} {MEMBERS} {RERANKERS} {ONE_PARSER}"
        " word-segmenter": ABSENT,
        "mixer-reranker": UNCLEAR,
    },
    "adapt": {
        f"{PARSERS} {RERANKERS} {OF_WORDS} mixer-reranker segmenter-reranker": ABSENT,
        f"{SPAN_TAGGERS} mixer-spans": ABSENT,
    },
    # A model that is itself an average, or two models, has no weights of its own to average.
    "average": {f"{SEGMENTERS} {SPAN_TAGGERS} {CALIBRATED} {MEMBERS} {SHARDS} {RERANKERS}": NOT_ONE_MODEL},
    # Only what learns example by example can be mixed after an epoch.
    "mix": {"spans-l1crf spans-averager* spans-calibrated spans-mixer": NOT_ONE_MODEL,
            f"l1crf l1crf-* segmenter-l1crf segmenter-averager* segmenter-calibrated segmenter-mixer"
            f" {CALIBRATED} {MEMBERS} {SHARDS}": NOT_ONE_MODEL},
    "rerank": {
        f"{PARSERS} {RERANKERS} mixer-reranker segmenter-reranker {SPAN_TAGGERS} mixer-spans":
            (ValueError, "base must be .* with predict_kbest|has no predict_kbest"),
    },
    "segment": {
        f"{SEGMENTERS} {OF_WORDS} mixer-segmenter reranker-segmenter reranker-word-segmenter":
            (ValueError, "takes text, not a list"),
        f"{SPAN_TAGGERS} mixer-spans": (ValueError, r"expected a text \(str\), got list"),
        PARSERS: (ValueError, r"expected a pair \(form, tag\)"),
        "perceptron-pairs perceptron-frames l1crf-patterns":
            (ValueError, "the templates read column 1, but the tokens are plain strings"),
    },
    "spans": {
        f"{SEGMENTERS} {OF_WORDS} mixer-segmenter reranker-segmenter reranker-word-segmenter":
            (ValueError, "takes text, not a list"),
        f"{SPAN_TAGGERS} mixer-spans": (ValueError, r"expected a text \(str\), got list"),
        PARSERS: (ValueError, r"expected a pair \(form, tag\)"),
        "perceptron-pairs perceptron-frames l1crf-patterns":
            (ValueError, "the templates read column 1, but the tokens are plain strings"),
    },
    "constraints": {f"{PARSERS} {OF_WORDS} reranker-word-segmenter": ABSENT},
    "predict_kbest": {f"{RERANKERS} segmenter-reranker spans-reranker mixer-reranker": ABSENT},
    "predict_marginals": {WITHOUT_MARGINALS: ABSENT},
    "predict_posterior": {WITHOUT_MARGINALS: ABSENT},
    "sequence_log_proba": {WITHOUT_MARGINALS: ABSENT},
    "predict_segment_proba": {WITHOUT_PROBABILITIES: ABSENT},
    "tag_proba": {f"{SPAN_TAGGERS} mixer-spans": UNCLEAR,
                  "*-dicts perceptron-bags": COLUMNS_ONLY, "*-rows *-frames": NO_NUMBERS,
                  WITHOUT_PROBABILITIES: NO_PROBABILITIES},
    "calibrate": {f"{SEGMENTERS} {SPAN_TAGGERS} {PARSERS} {OF_WORDS} {RERANKERS} {CALIBRATED} {MIXED}":
                  NOT_A_TAGGER},
    "decision_function": {f"{SEGMENTERS} mixer-segmenter {SPAN_TAGGERS} mixer-spans": ABSENT},
    "member_scores": {f"{PLAIN_TAGGERS} {SEGMENTERS} {SPAN_TAGGERS} {SHARDS} {RERANKERS} {ONE_PARSER}"
                      " word-segmenter": ABSENT},
    "allowed": {f"{SEGMENTERS} {SPAN_TAGGERS} {PARSERS} {RERANKERS} {OF_WORDS} {MIXED}": NO_ARGUMENT},
    "dictionary": {f"{TAGGERS} {SPAN_TAGGERS} mixer-spans mixer-reranker {PARSERS} {RERANKERS}": NO_ARGUMENT},
    "boundaries": {f"{TAGGERS} {MIXED} {SEGMENTERS} {SPAN_TAGGERS} {PARSERS} {RERANKERS}": NO_ARGUMENT},
    "tag": {f"{SPAN_TAGGERS} mixer-spans": UNCLEAR,
            "*-dicts perceptron-bags": COLUMNS_ONLY, "*-rows *-frames": NO_NUMBERS},
    "evaluate": {f"{SPAN_TAGGERS} mixer-spans": UNCLEAR,
                 "*-dicts perceptron-bags": COLUMNS_ONLY, "*-rows *-frames": NO_NUMBERS},
    "convert": {
        "perceptron-order2 perceptron-order2-rows calibrated-order2": (Refused, "no place for .*order=2"),
        "*-rows *-frames": (Refused, "no place for (features of tokens of type ndarray|.*order=2)"),
        "l1crf-patterns": (Refused, "no place for transitions conditioned on the input"),
        f"{SEGMENTERS} {SPAN_TAGGERS} {PARSERS} {RERANKERS} {MIXED} {OF_WORDS}":
            (Refused, "a chain tagger is needed, got a"),
    },
    "transition_weights":
        {f"{PARSERS} {RERANKERS} mixer-reranker segmenter-reranker spans-reranker {OF_WORDS}": NOT_A_CHAIN},
    "coefficients": {
        f"{PARSERS} {RERANKERS} mixer-reranker segmenter-reranker spans-reranker {OF_WORDS}": NOT_A_CHAIN,
        "*-frames": (TypeError, "coefficients needs a tagger trained on rows of numbers"),
        f"{SEGMENTERS} mixer-segmenter {SPAN_TAGGERS} mixer-spans perceptron perceptron-order2"
        " passive-aggressive l1crf averager averager-l1crf mixer perceptron-pairs *-patterns *-dicts"
        " perceptron-bags averager-passive-aggressive mixer-passive-aggressive calibrated calibrated-order2"
        " calibrated-averager calibrated-l1crf calibrated-passive-aggressive calibrated-mixer":
            (TypeError, "coefficients needs a tagger trained on rows of numbers"),
    },
    "features_of":
        {f"{PARSERS} {RERANKERS} mixer-reranker segmenter-reranker spans-reranker {OF_WORDS}": NOT_A_CHAIN},
}  # fmt: skip
"""Verb -> {names of rows: (error, what its message matches)}."""


def lack_of(name, verb):
    """(error, pattern) of a cell, or None if it has to work."""
    for names, reason in LACKS.get(verb, {}).items():
        if any(fnmatch(name, row) for row in names.split()):
            return reason
    return None


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("name", ALL_CASES)
def test_cell(name, verb, tmp_path, capsys):
    cell, lack = Cell(name, tmp_path, capsys), lack_of(name, verb)
    if lack is None:
        VERBS[verb](cell)
    else:
        error, message = lack
        with pytest.raises(error, match=message):
            VERBS[verb](cell)


REASONED = (
    "partial_fit", "fit_shards", "member_scores", "adapt", "predict_kbest", "predict_marginals",
    "predict_posterior", "sequence_log_proba", "predict_segment_proba", "decision_function",
)  # fmt: skip
"""Methods that not every estimator has: the error that another one raises ends with the reason."""


@pytest.mark.parametrize("verb", REASONED)
@pytest.mark.parametrize("name", CASES | WITHOUT_LABELS)
def test_what_is_absent_says_why(name, verb):
    make = ALL_CASES[name][1]
    for model in (make(), trained(name, 4)[0]):
        if hasattr(model, verb):
            continue
        with pytest.raises(AttributeError, match=f"no attribute '{verb}': {type(model).__name__} [a-z]"):
            getattr(model, verb)


# -- nothing is left out -------------------------------------------------------------------------------
PLUMBING = r"(get|set)_params|get_metadata_routing|set_\w+_request|set_callbacks"
"""Methods of scikit-learn's."""

ELSEWHERE = {"save": "save_and_load"}
"""Methods that verbs of another name try."""

COMMANDS_WITHOUT_MODELS = {"demo", "train", "compare", "compile"}

METAS = {
    "segment": Segmenter,
    "spans": SpanTagger,
    "average": BaggingShuffleAverager,
    "calibrate": CalibratedTagger,
    "mix": ParameterMixer,
    "rerank": KBestReranker,
}
"""The estimators that take others, by the verb that tries it."""


def estimators():
    public = (getattr(skstruct, name) for name in skstruct.__all__)
    return {each for each in public if inspect.isclass(each) and hasattr(each, "fit")}


def inner_of(estimator):
    return next((v for k, v in vars(estimator).items() if k in ("tagger", "estimator", "base")), None)


def test_every_estimator_has_a_row():
    rows = {type(make()) for _, make in ALL_CASES.values()}
    assert rows == estimators() == set(inside.savable().values())


def test_every_nesting_that_works_has_a_row():
    made = {name: make() for name, (_, make) in ALL_CASES.items()}
    assert {type(m) for m in made.values() if inner_of(m) is not None} == set(METAS.values())
    there = {(type(m), type(inner_of(m))) for m in made.values() if inner_of(m) is not None}
    plain = {name: m for name, m in made.items() if type(inner_of(m)) not in METAS.values()}
    works = {(METAS[verb], type(m)) for verb in METAS for name, m in plain.items() if not lack_of(name, verb)}
    assert works - there == set()


def test_every_method_has_a_column():
    methods = {
        name
        for each in estimators()
        for name in dir(each)
        if not name.startswith("_") and callable(getattr(each, name)) and not re.fullmatch(PLUMBING, name)
    }
    assert {ELSEWHERE.get(name, name) for name in methods} - {*VERBS} == {"inputs"} & methods


def test_every_argument_of_predict_has_a_column():
    arguments = {name for each in estimators() for name in inspect.signature(each.predict).parameters}
    assert arguments - {"self", "X", "arguments", "options", "kwargs", "params"} - {*VERBS} == set()


def test_every_function_on_models_has_a_column():
    functions = {name for name in inspection.__all__ if inspect.isfunction(getattr(inspection, name))}
    assert functions - {*VERBS} == set()
    commands = {command.__name__.split(".")[-1] for command in skstruct.cli.COMMANDS}
    assert commands - {*VERBS} == COMMANDS_WITHOUT_MODELS


def test_every_reason_is_needed():
    for verb, reasons in LACKS.items():
        assert verb in VERBS
        for row in " ".join(reasons).split():
            assert any(fnmatch(name, row) for name in ALL_CASES), f"{verb}: no model is called {row}"
