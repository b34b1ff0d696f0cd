"""Verbs that look inside a model."""

import math

import numpy as np
import pytest
from model_cases import dicts, frames, rows, sparse_rows

from skstruct import inspection

from .cell import costly, length, verb


@verb
def tokens(cell):
    for x, pairs, spans in zip(cell.X, cell.model.tokens(cell.X), cell.y):
        assert [x[a:b] for a, b in pairs] == x.split()
        assert {a for a, _, _ in spans} <= {a for a, _ in pairs}


@verb
def alignment_report(cell):
    report = cell.make().alignment_report(cell.X, cell.y)
    assert (
        report.reachable == 1.0
        and report.moves == []
        and report.counts == cell.model.alignment_
    )


@verb
def explain(cell):
    sequence = cell.first()
    found = inspection.explain(cell.model, sequence)
    if cell.kind == "trees":
        assert found.tree == cell.model.predict(cell.X[:1])[0]
        score = cell.model.decision_function(cell.X[:1])[0]
        for total in (
            found.score,
            sum(arc.score for arc in found.arcs),
            found.to_frame().contribution.sum(),
        ):
            assert total == pytest.approx(score, rel=1e-9, abs=1e-9)
        return shows(found)
    if hasattr(cell.model, "decision_function"):
        score = cell.model.decision_function(cell.X[:1])[0]
        assert found.score == pytest.approx(score, rel=1e-9, abs=1e-9)
    assert math.fsum(token.score for token in found.tokens) == pytest.approx(
        found.score, rel=1e-9, abs=1e-9
    )
    predicted = cell.model.predict(cell.X[:1])[0]
    if cell.kind == "labels":
        assert found.labels == predicted
    else:
        tagged = [word for word in predicted if not isinstance(word, str)]
        spans = [
            cell.X[0][a:b] if len(found.tokens) >= len(cell.X[0]) else None
            for a, b, _ in found.segments
        ]
        assert len(found.segments) == len(predicted)
        if None not in spans:
            words = (
                [(word, tag) for word, (_, _, tag) in zip(spans, found.segments)]
                if tagged
                else spans
            )
            assert words == predicted
    shows(found)
    assert len(found.to_frame()) == sum(
        len(t.features) + len(t.transitions) for t in found.tokens
    )


def shows(found):
    """What notebooks, pandas and programs get of a result."""
    html = found._repr_html_()
    assert html.startswith("<div") and html.endswith("</div>") and "<script" not in html
    assert len(found.to_frame()) >= 0 and found.to_dict()


@verb
def feature_weights(cell):
    found = inspection.feature_weights(cell.model)
    base_is_right = "reranker" in cell.name
    assert (found or base_is_right) and all(weight for _, _, weight in found)
    shows(found)
    assert found.to_frame().to_numpy().tolist() == [list(item) for item in found]


@verb
def transition_weights(cell):
    found = inspection.transition_weights(cell.model)
    assert np.any(np.asarray(found)) and type(found[0]) is np.ndarray
    shows(found)
    assert found.to_frame().to_numpy().tolist() == found.tolist()


@verb
def coefficients(cell):
    coef, intercept, transitions = inspection.coefficients(cell.model)
    assert (
        coef.shape == (8, 4) and intercept.shape == (4,) and transitions.shape == (4, 4)
    )
    x, y = cell.X[0], cell.model.predict(cell.X[:1])[0]
    ids = [list(cell.model.classes_).index(label) for label in y]
    if cell.model.get_params().get("order") != 2:
        score = (x @ coef + intercept)[range(len(ids)), ids].sum() + transitions[
            ids[:-1], ids[1:]
        ].sum()
        assert score == pytest.approx(cell.model.decision_function(cell.X[:1])[0])


@verb
def features_of(cell):
    """The features of tokens, weighted, and the transitions between labels are the
    score.
    """
    found = inspection.features_of(cell.model, cell.first())
    n = len(cell.X[0].split()) if cell.kind == "spans" else length(cell.X[0])
    assert len(found) == n and all(found)
    weighted = cell.data in (dicts, rows, sparse_rows, frames)  # features with values
    if (
        cell.kind != "labels"
        or weighted
        or "order2" in cell.name
        or "patterns" in cell.name
    ):
        return
    weights = {
        (name, label): w for name, label, w in inspection.feature_weights(cell.model)
    }
    predicted = cell.model.predict(cell.X[:1])[0]
    score = math.fsum(
        weights.get((name, y), 0.0)
        for names, y in zip(found, predicted)
        for name in names
    )
    at = [cell.model.classes_.tolist().index(label) for label in predicted]
    score += math.fsum(
        np.asarray(inspection.transition_weights(cell.model))[at[:-1], at[1:]]
    )
    assert score == pytest.approx(cell.model.decision_function(cell.X[:1])[0], rel=1e-9)


@verb
def render(cell):
    picture = inspection.render(cell.X[:3], cell.y[:3], cell.model.predict(cell.X[:3]))
    assert picture._repr_html_() in picture and picture.startswith("<!DOCTYPE html>")
    assert ("<svg" in picture) == (cell.kind == "trees")


@verb
def errors(cell):
    """Errors are counted as in ``score``; words that are not in a vocabulary are
    counted apart.
    """
    found, predicted = (
        inspection.errors(cell.model, cell.X, cell.y),
        cell.model.predict(cell.X),
    )
    assert found.kind == cell.kind and found.n_items == sum(map(len, cell.y))
    assert (found.n_errors == 0) == (predicted == cell.y)
    if cell.kind == "labels":
        assert found.n_errors == sum(
            a != b for s in zip(cell.y, predicted) for a, b in zip(*s)
        )
    forms = cell.forms()
    if forms is not None:
        assert found.n_unseen in (0, None)  # the training corpus
        known = {form for sequence in forms for form in sequence}
        missing = forms[0][0]
        apart = inspection.errors(
            cell.model, cell.X, cell.y, vocabulary=known - {missing}
        )
        assert apart.n_unseen == sum(sequence.count(missing) for sequence in forms)
    shows(found)


@verb
def n_features(cell):
    n = cell.model.n_features()
    assert n > 0 or (n == 0 and "reranker" in cell.name)  # whose base makes no mistake
    assert cell.model.info()["features"] == n


@costly
def out_of_fold_marginals(cell):
    """A row for each token, and the columns of a model that has seen everything."""
    X, y = repeated(cell)
    marginals, classes = inspection.out_of_fold_marginals(cell.make(), X, y, cv=2)
    assert len(marginals) == len(X) and set(classes) <= {*given_labels(cell, X, y)}
    for p, x in zip(marginals, X):
        n = {
            "words": lambda x: len("".join(x.split())),
            "spans": lambda x: len(x.split()),
        }.get(cell.kind, length)
        assert p.shape == (n(x), len(classes))
        np.testing.assert_allclose(p.sum(axis=1), 1.0)


def repeated(cell):
    """The corpus eight times over: every fold has all of it."""
    return [x for _ in range(8) for x in cell.X], [y for _ in range(8) for y in cell.y]


def given_labels(cell, X, y):
    if cell.kind == "labels":
        return [label for labels in y for label in labels]
    kinds = [kind for items in y for *_, kind in items]
    return ["O", *(f"{prefix}-{kind}" for prefix in "BI" for kind in kinds)]


@costly
def thresholds_for(cell):
    """Every span that was seen in training is found with any precision."""
    X, y = repeated(cell)
    found = inspection.thresholds_for(cell.make(), X, y, precision=0.5, cv=2)
    assert set(found) == {label for spans in y for *_, label in spans}
    assert all(0.0 < p <= 1.0 for p in found.values())
    assert all(row.precision >= 0.5 for row in found.rows.values())


@costly
def forgetting(cell):
    """Nothing is new of what was learned, and the model stays as it is."""
    found = inspection.forgetting(cell.model, cell.X, cell.y, cell.X, cell.y)
    assert not any(change.is_new for change in found)
    assert all(0.0 <= score <= 1.0 for score in found.overall)


@costly
def label_issues(cell):
    """One label is wrong; it is found, and the text or sequence is left as it was."""
    X, y = repeated(cell)
    if cell.kind == "labels":
        wrong = [list(y[0]), *y[1:]]
        wrong[0][1] = next(label for label in y[0] + y[1] if label != y[0][1])
        place = 1
    elif cell.kind == "spans":
        (start, stop, _), *others = y[0]
        wrong, place = [others, *y[1:]], start
    else:
        (first, tag), *others = y[0]
        other = next(t for _, t in y[0] if t != tag)
        wrong, place = [[(first, other), *others], *y[1:]], 0
    issues = inspection.label_issues(cell.make(), X, wrong, cv=2)
    assert (0, place) in {issue[:2] for issue in issues[:4]}
    assert all(0.0 < issue.chance == issue.score <= 1.0 for issue in issues)
    shows(issues)


@verb
def select(cell):
    """The least confident of each kind of model that knows probabilities."""
    chosen = inspection.select(cell.model, cell.X, 2)
    assert len(set(chosen)) == 2
    assert inspection.select(cell.model, cell.X, 2, diversity=0.0)[0] == chosen[0]
    if hasattr(cell.model, "sequence_log_proba"):
        log_proba = cell.model.sequence_log_proba(cell.X, cell.model.predict(cell.X))
        lengths = np.array([length(x) for x in cell.X])
        assert chosen[0] == np.argmin(
            log_proba / np.maximum(lengths, np.median(lengths))
        )


@verb
def select_by_margin(cell):
    ranked = cell.model.predict_kbest(cell.X, 2)
    gaps = [
        (found[0][1] - found[1][1])
        * (len(x.split()) if cell.kind == "spans" else length(x))
        if len(found) == 2
        else np.inf  # there is one answer only
        for x, found in zip(cell.X, ranked)
    ]
    assert inspection.select(cell.model, cell.X, 1, strategy="margin") == [
        np.argmin(gaps)
    ]


@verb
def report(cell):
    """Of the model's own predictions nothing is wrong; of the corpus what ``score``
    says.
    """
    predicted = cell.model.predict(cell.X)
    assert inspection.report(cell.model, cell.X, predicted).wrong == []
    page = inspection.report(cell.model, cell.X, cell.y)
    assert len(page.wrong) == sum(a != b for a, b in zip(predicted, cell.y))
    name = {"labels": "token_accuracy", "trees": "uas"}.get(cell.kind, "f1")
    if "joint_f1" in page.scores:  # of words with tags
        name = "joint_f1"
    assert page.scores[name].value == pytest.approx(cell.model.score(cell.X, cell.y))
    html = page.to_html()
    assert "<script" not in html and html.count("Why ") >= len(page.wrong)
