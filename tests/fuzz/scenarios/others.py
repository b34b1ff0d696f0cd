"""Checkpoints of fits that are stopped, and the command line."""

import contextlib
import functools
import io
import json
import os
import tempfile

import pytest
from sklearn.base import clone

import skstruct
from skstruct import BaggingShuffleAverager, ShiftReduceParser, WordSegmenter, cli
from skstruct._core.codes import PENALTIES
from skstruct._saving.container import ModelFileError

from ... import inside
from .. import estimators, texts
from ..cases import scenario
from ..corpora import Corpus
from ..outcomes import equal, same
from .taggers import held_out, weights


class Stop(Exception):
    """The end of a fit."""


def _stoppable(draw):
    """An estimator with epochs, its ``fit`` with all arguments but self, and new
    input.
    """
    which = draw.one("tagger", "tagger", "crf", "averager", "words", "parser")
    draw.note(which=which)
    online = {
        "max_iter": 3,
        "random_state": 0,
        "penalty": draw.one(*PENALTIES),
    }
    if which in ("words", "parser"):
        made = texts.texts(draw, 100) if which == "words" else texts.trees(draw, 100, 2)
        cls = (
            WordSegmenter
            if which == "words"
            else functools.partial(ShiftReduceParser, "hs28")
        )
        return (
            cls(beam_size=4, **online),
            lambda model: model.fit(*made[:2]),
            made[0][:5],
        )
    corpus = Corpus(draw, most_labels=20, budget=draw.one(60, 300))
    model = estimators.plain_tagger(
        draw, corpus, *(("crf",) if which == "crf" else ("perceptron", "pa"))
    )
    if which == "averager":
        model = BaggingShuffleAverager(model, 2, random_state=0)
    weight, given = weights(draw, corpus), held_out(draw, corpus)
    return (
        model,
        lambda model: model.fit(corpus.X, corpus.y, weight, **given),
        corpus.new[0],
    )


def _stop(draw, act):
    """Call ``act``, which fits, and stop it after some epoch or pass, if there are so
    many.
    """
    left = draw.int(1, 6)

    def count(_):
        nonlocal left
        left -= 1
        if left == 0:
            raise Stop

    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(io.StringIO()),
    ):
        inside.after_each_report(patch, count)
        inside.before_each_line(patch, count)
        with contextlib.suppress(Stop):
            act()


@scenario
def checkpoints(draw):
    """A fit that was stopped goes on from its file, and ends as one that was not."""
    estimator, fit, X = _stoppable(draw)
    whole = fit(clone(estimator))
    with tempfile.TemporaryDirectory() as folder:
        kept = clone(estimator).set_params(checkpoint=folder)
        inner = getattr(clone(kept), "estimator", None)
        verbose = {"verbose": 1} if inner is None else {"estimator__verbose": 1}
        _stop(draw, lambda: fit(clone(kept).set_params(**verbose)))
        files = sorted(os.listdir(folder))
        draw.note(files=len(files))
        if files and draw.chance(0.2):
            return _check_damage(
                draw, os.path.join(folder, files[0]), lambda: fit(clone(kept))
            )
        resumed = fit(clone(kept))
        assert os.listdir(folder) == [], "a finished fit leaves its checkpoint"
    if inner is None:
        assert (resumed.resumed_from_ > 0) == bool(files), (
            f"resumed from {resumed.resumed_from_}"
        )
    equal(
        resumed.decision_function(X),
        whole.decision_function(X),
        "resumed and uninterrupted",
    )


def _check_damage(draw, path, act):
    """A damaged file is an error that names it, and stays."""
    with open(path, "r+b") as file:
        data = bytearray(file.read())
        data[draw.int(0, len(data) - 1)] ^= 1 << draw.int(0, 7)
        file.seek(0)
        file.write(data)
    with pytest.raises(ModelFileError, match=os.path.basename(path)):
        act()
    assert os.path.exists(path), "a damaged checkpoint is removed"


# -- the command line ------------------------------------------------------------------
def command(*arguments):
    """(exit code, standard output, standard error) of a command."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = cli.main(list(map(str, arguments)))
        except SystemExit as end:
            code = end.code
    assert "Traceback" not in err.getvalue(), err.getvalue()
    assert code in (0, 1, 2) and (code == 0 or err.getvalue()), (
        f"exit code {code} without a word"
    )
    return code, out.getvalue(), err.getvalue()


def _columns(X, y):
    """The text of a file of columns, the label the last."""
    cells = ([[x] if isinstance(x, str) else x for x in sequence] for sequence in X)
    blocks = (
        "".join(" ".join([*x, label]) + "\n" for x, label in zip(*s))
        for s in zip(cells, y)
    )
    return "\n".join(blocks)


def _last_column(text):
    """The labels that a command printed, by sentence."""
    return [
        [line.split()[-1] for line in block.split("\n")]
        for block in text.strip("\n").split("\n\n")
    ]


@scenario
def commands(draw):
    """``train``, ``tag``, ``evaluate``, ``show`` and ``convert`` on files agree with
    the estimators.
    """
    corpus = Corpus(
        draw,
        draw.one("str", "tuple", "tuple3"),
        [f"L{k}" for k in range(draw.int(2, 6))],
        partial=0.0,
    )
    used = [
        i for i, s in enumerate(corpus.y) if len(s)
    ]  # columns have no empty sentences
    X, y = [corpus.X[i] for i in used], [corpus.y[i] for i in used]
    new = [(x, s) for x, s in zip(*corpus.new) if len(s)] or [(X[0], y[0])]
    with tempfile.TemporaryDirectory() as folder:
        files = {
            name: os.path.join(folder, name)
            for name in ("train", "test", "model", "out", "tool")
        }
        for name, data in (("train", (X, y)), ("test", zip(*new))):
            with open(files[name], "w", encoding="utf-8") as file:
                file.write(_columns(*data))
        _train(draw, files)
        model = skstruct.load(files["model"])
        expected = model.predict([x for x, _ in new])
        code, out, err = command("tag", files["test"], "-m", files["model"])
        assert code == 0, err
        same(_last_column(out), expected, "skstruct tag")
        code, out, err = command(
            "evaluate", files["test"], "-m", files["model"], "--json"
        )
        assert code == 0 and json.loads(out)["tokens"] == sum(len(s) for _, s in new), (
            err
        )
        assert command("show", files["model"])[0] == 0
        tool = draw.one("crfsuite", "crfpp", "wapiti")
        if (
            command("convert", files["model"], files["tool"] + "." + tool)[0] == 0
            and tool == "wapiti"
        ):
            code, out, err = command(
                "tag", files["test"], "-m", files["tool"] + "." + tool
            )
            assert code == 0, err
            same(_last_column(out), expected, "skstruct tag with a model of wapiti")
        _damaged_text(draw, files)


def _train(draw, files):
    """Train by the command, in one of its ways."""
    algorithm = draw.one("perceptron", "pa", "l1crf")
    ways = [
        [],
        [],
        ["--members", 2],
        ["--calibrate"],
        ["--shards", 2],
        ["--dev", files["test"]],
    ]
    if algorithm != "l1crf":
        ways.append(["--stream", draw.one(1, 7)])
    way = draw.one(*ways)
    draw.note(algorithm=algorithm, way=[str(part) for part in way])
    # One line alone does not show its format.
    train = (
        "train",
        files["train"],
        "--format",
        "columns",
        "-m",
        files["model"],
        "-a",
        algorithm,
    )
    # A small corpus may have one label, which is refused as nothing to learn.
    train += "--epochs", 2, "--force"
    code, _, err = command(*train, *way)
    if code:  # a way that such a corpus is too small for; never a reason not to train
        assert way, err
        code, _, err = command(*train)
        assert code == 0, err


def _damaged_text(draw, files):
    """Any bytes as a corpus: a message, or an outcome."""
    with open(files["test"], "rb") as file:
        data = bytearray(file.read())
    for _ in range(draw.int(1, 5)):
        at = draw.int(0, len(data) - 1)
        data[at : at + draw.int(0, 3)] = draw.one(
            b"\n", b"\n\n", b" ", b"\t", b"\x00", b"\xff", b"\r", b"1\t", b"#"
        )
    with open(files["test"], "wb") as file:
        file.write(data)
    command("tag", files["test"], "-m", files["model"])
    command("evaluate", files["test"], "-m", files["model"])
    command("train", files["test"], "-m", files["out"], "--epochs", 1)
