"""Verbs of the command line."""

import io
import json

import numpy as np
import pytest
from cli_cases import run
from model_cases import bags, dicts
from serving_cases import asked
from ties import assert_same_where_decided

import skstruct
from skstruct import Span, inspection
from skstruct.datasets import read_spans
from skstruct.interchange import load_crfsuite
from skstruct.serving import app

from .cell import Refused, costly, verb


@verb
def tag(cell):
    if cell.kind == "words":
        out = cell.command("tag", "-", stdin="".join(text + "\n" for text in cell.X))
        expected = [
            [w if isinstance(w, str) else "/".join(w) for w in t]
            for t in cell.model.predict(cell.X)
        ]
        assert out == "".join(" ".join(words) + "\n" for words in expected)
        return
    if cell.kind == "spans":
        out = cell.command("tag", cell.corpus())
        assert read_spans(io.StringIO(out)) == (cell.X, cell.model.predict(cell.X))
        return
    out = cell.command("tag", cell.corpus(), *cell.reading()).strip("\n").split("\n\n")
    rows = [[line.split() for line in part.split("\n")] for part in out]
    if cell.kind == "trees":
        assert [
            [(int(r[6]), r[7]) for r in part] for part in rows
        ] == cell.model.predict(cell.X)
    else:
        assert [[r[-1] for r in part] for part in rows] == cell.model.predict(cell.X)


@verb
def tag_proba(cell):
    if cell.kind == "words":
        out = cell.command(
            "tag", "-", "--proba", stdin="".join(text + "\n" for text in cell.X)
        )
        found = cell.model.predict_segment_proba(cell.X)
        expected = [
            [f"{x[a:b]}/{tag}/{p:.6f}" for (a, b, tag), p in s]
            for x, s in zip(cell.X, found)
        ]
        assert [line.split() for line in out.splitlines()] == expected
        return
    if cell.kind == "spans":
        records = map(
            json.loads, cell.command("tag", cell.corpus(), "--proba").splitlines()
        )
        written = [[(Span(**{k: span[k] for k in Span._fields}), span["probability"]) for span in r["spans"]]
                   for r in records]  # fmt: skip
        assert written == cell.model.predict_segment_proba(cell.X)
        return
    out = cell.command("tag", cell.corpus(), "--proba").strip("\n").split("\n\n")
    written = [[float(line.split()[-1]) for line in part.split("\n")] for part in out]
    columns = [
        [cell.model.classes_.tolist().index(label) for label in y]
        for y in cell.model.predict(cell.X)
    ]
    marginals = cell.model.predict_marginals(cell.X)
    for p, m, at in zip(written, marginals, columns):
        np.testing.assert_allclose(p, m[range(len(at)), at], atol=1e-6)


@verb
def evaluate(cell):
    scores = json.loads(
        cell.command("evaluate", cell.corpus(), *cell.reading(), "--json")
    )
    assert scores["texts" if cell.kind == "spans" else "sequences"] == len(cell.X)
    if cell.kind == "spans":
        scores["f1"] = scores["segments"]["micro avg"]["f1"]
    name = {"labels": "token_accuracy", "words": "f1", "spans": "f1", "trees": "uas"}[
        cell.kind
    ]
    assert scores[name] == pytest.approx(cell.model.score(cell.X, cell.y))


@costly
def update(cell):
    """``train --update`` learns from a file what ``partial_fit`` does from lists."""
    corpus = cell.corpus()
    if cell.kind == "words":  # with their tags
        lines = (
            ["/".join([w] if isinstance(w, str) else w) for w in y] for y in cell.y
        )
        corpus = cell.write("".join(" ".join(line) + "\n" for line in lines))
    out = cell.folder / "further"
    given = "train", corpus, *cell.reading(), "--update", cell.saved(), "-m", out
    code, _, said = run(cell.capsys, *given, "--force")
    if code:
        raise Refused(said)
    expected = cell.copy().partial_fit(cell.X, cell.y)
    found = skstruct.load(out)
    assert found.predict(cell.X) == expected.predict(cell.X)
    assert found.info()["card"]["parent"]["name"] == "model"


@verb
def show(cell):
    assert type(cell.model).__name__ in cell.command("show").splitlines()[0]
    assert json.loads(cell.command("show", "--json"))


@verb
def convert(cell):
    """To CRFsuite, whose items are then the names of the features, and back."""
    tool = cell.folder / "tool.crfsuite"
    cell.command("convert", to=tool)
    ready = cell.data in (bags, dicts)
    items = cell.X if ready else [inspection.features_of(cell.model, x) for x in cell.X]
    expected = cell.model.predict(cell.X)
    # Weights are divided by a temperature, or a sum of members, on the way.
    given = cell.model, cell.X, expected
    assert_same_where_decided(*given, load_crfsuite(tool).predict(items))
    if not ready:
        return
    cell.command("convert", to=cell.folder / "again.skstruct", model=tool)
    again = skstruct.load(cell.folder / "again.skstruct").predict(cell.X)
    assert_same_where_decided(*given, again)


@verb
def report_page(cell):
    target = cell.folder / "page.html"
    out = cell.command("report", cell.corpus(), *cell.reading(), "-o", target)
    y = (
        [[w if isinstance(w, str) else w[0] for w in t] for t in cell.y]
        if cell.kind == "words"
        else cell.y
    )
    assert out == f"{inspection.report(cell.model, cell.X, y)}\n"
    assert "Largest weights" in target.read_text(encoding="utf-8")


@verb
def select_lines(cell):
    """Whole sentences of the file, the longest first."""
    options = "--strategy", "longest", "-k", "2", "--diversity", "0"
    out = cell.command("select", cell.corpus(), *cell.reading(), *options)
    chosen = inspection.select(cell.model, cell.X, 2, strategy="longest", diversity=0.0)
    if cell.kind == "spans":
        assert [json.loads(line)["text"] for line in out.splitlines()] == [
            cell.X[i] for i in chosen
        ]
    elif cell.kind == "words":
        assert ["".join(line.split()) for line in out.splitlines()] == [
            cell.X[i] for i in chosen
        ]
    else:
        sizes = [len(part.splitlines()) for part in out.rstrip("\n").split("\n\n")]
        assert sizes == [len(cell.X[i]) for i in chosen]


@verb
def serve(cell):
    """What comes in and goes out as JSON; tests/serving asks over HTTP."""
    X = [x.toarray() if hasattr(x, "toarray") else x for x in cell.X]
    body = json.dumps(
        [x.tolist() if isinstance(x, np.ndarray) else x for x in X], default=str
    ).encode()
    service = app(cell.model)
    status, answer = asked(service, body)
    if status != 200:
        raise ValueError(answer["error"])
    assert json.dumps(answer) == json.dumps(cell.model.predict(cell.X))
    status, answer = asked(service, json.dumps([cell.bad()], default=str).encode())
    assert status == 400 and answer["sequence"] == 0
