"""Spans of texts: every tagger inside, every verb, the files of annotation tools, and
the command line.
"""

import itertools
import json
import os
import tempfile

import skstruct
from skstruct import (
    L1CRF,
    BaggingShuffleAverager,
    CalibratedTagger,
    KBestReranker,
    ParameterMixer,
    PassiveAggressiveTagger,
    SpanTagger,
    StructuredPerceptron,
    inspection,
)
from skstruct._data.spans import as_spans, trimmed_spans
from skstruct.datasets import read_spans, write_spans
from skstruct.metrics import span_f1_score, span_report

from ..annotated import Annotated, check_report, check_spans, check_tokens
from ..cases import scenario
from ..checks import check_ranking
from ..keeping import check_compressed, check_files
from ..outcomes import attempt, close, same
from .others import command

FEATURES = (
    "auto",
    "auto",
    "auto",
    ["U0:%x[0,0]", "U1:%x[-1,0]/%x[0,0]", "B"],
    ["U0:%x[0,0]", "U1:%shape[0,0]"],
)


def _inner(draw):
    """A tagger of any kind."""
    given = {"features": draw.one(*FEATURES), "random_state": 0}
    learner = draw.one(
        StructuredPerceptron(order=draw.one(1, 2), max_iter=3, **given),
        PassiveAggressiveTagger(max_iter=3, **given),
        L1CRF(c1=draw.one(0.0, 0.1), max_iter=10, **given),
    )
    if draw.chance(0.5):
        return learner
    around = [
        BaggingShuffleAverager(learner, 2, random_state=0),
        CalibratedTagger(learner, cv=2, random_state=0),
        KBestReranker(learner, k=3, cv=2, max_iter=2, random_state=0),
    ]
    if not isinstance(learner, L1CRF):
        around.append(ParameterMixer(learner, 2, random_state=0))
    return draw.one(*around)


TOKENIZERS = "words", "words", "words", "characters", r"\w+|\S", r"\S+", str.split


def random_model(draw):
    """A span tagger with any parameters."""
    given = {
        "tokenizer": draw.one(*TOKENIZERS),
        "scheme": draw.one("BIOES", "BILOU", "BIO", "IOB1", "BMES"),
        "align": draw.one("nearest", "nearest", "expand", "contract", "unknown"),
        "pieces": draw.one("auto", "auto", "lines", "paragraphs", "texts"),
        "max_length": draw.one(None, 1, 2, 7, 200),
        "layout": draw.chance(0.7),
    }
    inner = _inner(draw)
    draw.note(tagger=repr(inner), **given)
    return SpanTagger(inner, overlap="longest", **given)


@scenario
def spans(draw):
    """Texts to spans through any tagger."""
    corpus = Annotated(draw, 30 if draw.tiny else draw.one(60, 300, 2000))
    model, X, y = random_model(draw), corpus.X, corpus.y
    report = model.alignment_report(X, y)
    check_report(X, y, model.tokens(X), report)
    given = (
        dict(zip(("X_val", "y_val"), corpus.made(draw, 3, 30)))
        if draw.chance(0.2)
        else {}
    )
    model.fit(
        X, y, draw.rng.choice([1.0, 2.0], len(X)) if draw.chance(0.2) else None, **given
    )
    assert model.alignment_ == report.counts, (
        "alignment_ is not what alignment_report counts"
    )
    new, gold = corpus.made(draw, 6, 60)
    new, gold = [*new, "", " \n", "🚒"], [*gold, [], [], []]
    found = _check_predictions(draw, model, new)
    _check_scores(model, new, gold, found)
    if model.tokenizer is not str.split:
        check_files(draw, model, new, found, None)
        attempt("compress", check_compressed, draw, model, new, None)
    _check_pictures(draw, model, new, gold, found)
    if hasattr(model, "partial_fit") and draw.chance(0.5):
        pieces = model.pieces_
        _check_predictions(draw, model.partial_fit(*corpus.made(draw, 4, 30)), new)
        assert model.pieces_ == pieces, "partial_fit changes pieces_"


def _check_predictions(draw, model, X):
    tokens, found = model.tokens(X), model.predict(X)
    check_tokens(X, tokens)
    check_spans(X, tokens, found)
    same([model.predict([text])[0] for text in X], list(found), "predict of one text")
    if hasattr(model, "predict_kbest"):
        k = draw.one(1, 2, 5, 20)
        for i, best in enumerate(model.predict_kbest(X, k)):
            check_ranking(best, k, found[i], None, f"k best of text {i}")
            check_spans(
                [X[i]] * len(best), [tokens[i]] * len(best), [each for each, _ in best]
            )
    if hasattr(model, "predict_segment_proba"):
        proba = model.predict_segment_proba(X)
        same(
            [[span for span, _ in each] for each in proba],
            list(found),
            "spans with probabilities",
        )
        p = [p for each in proba for _, p in each]
        close(
            p,
            [min(max(each, 0.0), 1.0) for each in p],
            "probabilities from 0 to 1",
            atol=1e-9,
        )
        edges = [
            list(itertools.combinations(sorted({e for s in each for e in s[:2]}), 2))
            for each in found
        ]
        kinds = sorted({span.label for each in found for span in each})
        asked = [
            [(*pair, kind) for pair in pairs[:20] for kind in kinds] for pairs in edges
        ]
        for each in model.predict_segment_proba(X, asked):
            assert all(-1e-9 <= p <= 1 + 1e-9 for _, p in each), (
                "probabilities outside of [0, 1]"
            )
    return found


def _check_scores(model, X, y, found):
    score, true = model.score(X, y), trimmed_spans(X, y)
    close(
        score, span_f1_score(true, trimmed_spans(X, found)), "score and span_f1_score"
    )
    close(score, span_f1_score(y, found, texts=X), "score and span_f1_score of texts")
    assert 0.0 <= score <= 1.0 and span_report(true, found)
    assert model.score(X, found) == 1.0, "predictions are not right by themselves"


def _check_pictures(draw, model, X, y, found):
    inspection.render(X, y, found)
    errors = attempt("errors", inspection.errors, model, X, y)
    assert errors is None or (errors.kind == "spans" and str(errors))
    i = draw.int(0, len(X) - 1)
    explanation = attempt("explain", inspection.explain, model, X[i])
    if explanation is not None:
        tokens = model.tokens(X[i : i + 1])[0]
        spans = [
            (tokens[a][0], tokens[b - 1][1], kind)
            for a, b, kind in explanation.segments
        ]
        same(spans, list(found[i]), "spans of explain")


FORMATS = "jsonl", "doccano", "prodigy", "label-studio", "spacy", "brat"


@scenario
def annotations(draw):
    """Annotated texts are the same after a way through files and commands, or are
    refused by name.
    """
    corpus = Annotated(draw, 200)
    given = as_spans(corpus.y, corpus.X)
    X, y = (
        corpus.X,
        [[span for span in spans if span.label] for spans in given.by_text()],
    )
    format = draw.one(*FORMATS)
    draw.note(format=format)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "notes")
        if format == "brat":
            y = [
                [span._replace(label=span.label.replace(" ", "_")) for span in spans]
                for spans in y
            ]
        write_spans(path, X, y, format)
        unit = "characters" if format == "doccano" else "auto"
        same(read_spans(path, format, offsets=unit), (X, y), f"{format} read again")
        _check_damage(draw, folder, path, format)
        _check_commands(draw, folder, X, y)


def _check_damage(draw, folder, path, format):
    """Any bytes as annotations: a message that names the file, or texts and spans."""
    name = os.path.join(path, sorted(os.listdir(path))[0]) if format == "brat" else path
    with open(name, "rb") as file:
        data = bytearray(file.read())
    for _ in range(draw.int(1, 4)):
        at = draw.int(0, max(len(data) - 1, 0))
        data[at : at + draw.int(0, 3)] = draw.one(
            b"\n", b"9", b'"', b"[", b"{", b"-", b"\xff", b"null", b"\t", b""
        )
    with open(name, "wb") as file:
        file.write(data)
    found = attempt("damaged annotations", read_spans, path, format)
    if found is not None:
        as_spans(found[1], found[0])
    if draw.chance(0.3):
        command(
            "train",
            path,
            "-m",
            os.path.join(folder, "none"),
            "--format",
            "spans",
            "--epochs",
            1,
        )


def _check_commands(draw, folder, X, y):
    """``train``, ``tag`` and ``evaluate`` agree with the estimator."""
    notes, test, model = (
        os.path.join(folder, name) for name in ("train.jsonl", "test.jsonl", "model")
    )
    write_spans(notes, X, y)
    write_spans(test, X[:5], y[:5], metadata=[{"id": k} for k in range(5)])
    given = ["--epochs", 2, "-p", "overlap=longest", "--read", "offsets=characters"]
    way = draw.one(
        [], ["--members", 2], ["--stream", 3], ["-p", "tokenizer=characters"]
    )
    code, _, err = command("train", notes, "-m", model, *given, *way)
    assert code == 0, err
    loaded = skstruct.load(model)
    found = loaded.predict(X[:5])
    format = draw.one("jsonl", "doccano", "prodigy", "label-studio", "spacy")
    out = os.path.join(folder, "out")
    code, _, err = command(
        "tag",
        test,
        "-m",
        model,
        "--write",
        format,
        "-o",
        out,
        "--batch",
        draw.one(1, 3, 100),
    )
    assert code == 0, err
    unit = "utf-16" if format == "label-studio" else "characters"
    *again, metadata = read_spans(out, format, offsets=unit, return_metadata=True)
    same(again, [X[:5], list(found)], f"skstruct tag --write {format}")
    same(metadata, [{"id": k} for k in range(5)], "metadata after skstruct tag")
    code, text, err = command(
        "evaluate", test, "-m", model, "--json", "--read", "offsets=characters"
    )
    assert code == 0, err
    f1 = json.loads(text)["segments"]["micro avg"]["f1"]
    if f1 is None:  # there is nothing to count
        assert not any(trimmed_spans(X[:5], y[:5])) and not any(found)
        f1 = 0.0
    close(f1, loaded.score(X[:5], y[:5]), "skstruct evaluate")
