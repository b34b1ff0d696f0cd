"""Models that are trained anew on the annotations collected, in a process of their own.

A fifth of the documents, chosen by a hash of their names, is held out: always the same
ones, so that no model has learned from them. A text whose task names no document is one
by itself. A new model takes the place of the old one if its F1 there is not lower. The
old model's file stays; new ones stand beside it, as ``ner-1.skstruct``. What the first
model was trained on is in no model file: lines of it in the collection are learned, too.
"""

from __future__ import annotations

import atexit
import os
import re
import subprocess
import sys
import threading
import zlib
from itertools import compress, count
from logging import INFO, WARNING
from pathlib import Path
from typing import Any, NamedTuple

from sklearn.base import clone

from .._data.card import Card, new_card
from .._data.inputs import SPANS
from .._data.places import PlaceError
from .._saving.origin import digest_of, origin_of
from .._sklearn import layers
from .._taggers.abilities import task_of
from ..datasets.formats.span_files import read_spans
from ..datasets.formats.span_records import document_in
from ..interchange.kinds import load_model
from ..metrics import span_f1_score
from .collection import DOCUMENT, Lines, is_collected
from .log import LOG, without_texts

FEWEST = 50
"""Held-out spans that a comparison needs."""

_PARTS = 5

_ALONE = "each text is held out or learned by itself, even if texts belong together"


class Versions:
    """The model of a service, and those that follow it.

    Parameters
    ----------
    path : str
        Of the model file.
    collected : str or None
        The file of annotations.
    train_on : int or None
        After so many calls of `count` a training begins, unless one is running.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        collected: str | os.PathLike[str] | None = None,
        train_on: int | None = None,
    ) -> None:
        self.path = Path(path)
        self.collected = collected
        self.train_on = train_on
        self.model = load_model(path)
        self.version = self.path.stem
        if task_of(self.model) != SPANS:
            raise ValueError(
                f"{path}: Label Studio needs a model that marks spans of texts"
            )
        self.model.predict(["a"])  # kernels are loaded, or compiled
        self._lock = threading.Lock()
        self._new = 0
        self.training: threading.Thread | None = None

    def current(self) -> tuple[Any, str]:
        """Return the model and its version, which belong together."""
        with self._lock:
            return self.model, self.version

    def count(self) -> None:
        """Take note of an annotation."""
        with self._lock:
            self._new += 1
            if (
                self.train_on is None
                or self._new < self.train_on
                or self.training is not None
            ):
                return
            self._new = 0
            self.training = threading.Thread(target=self._train, daemon=True)
            self.training.start()

    def _train(self) -> None:
        """Train in a process, and take its model if there is one."""
        try:
            target = self._target()
            command = [
                sys.executable,
                "-m",
                __name__,
                self.path,
                self.collected,
                target,
            ]
            job = subprocess.Popen(
                list(map(str, command)),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
            )
            atexit.register(job.kill)
            out, err = job.communicate()
            atexit.unregister(job.kill)
            quiet = without_texts("training: a message that may quote texts")
            for line in err.splitlines():
                level = WARNING if job.returncode else INFO
                LOG.log(level, "training: %s", line, extra=quiet)
            if job.returncode:
                LOG.error("the training failed with exit code %s", job.returncode)
                return
            LOG.info("%s", out.splitlines()[-1])
            if target.exists():
                model = load_model(target)
                with self._lock:
                    self.model = model
                    self.version = target.stem
                    self.path = target
        finally:
            with self._lock:
                self.training = None

    def _target(self) -> Path:
        """Find a name beside the first model's that is free."""
        numbered = re.fullmatch(r"(.+)-([0-9]+)", self.path.stem)
        stem, number = numbered.groups() if numbered else (self.path.stem, "0")
        paths = (
            self.path.with_name(f"{stem}-{k}{self.path.suffix}")
            for k in count(int(number) + 1)
        )
        return next(path for path in paths if not path.exists())


def held_out(name: str) -> bool:
    """Tell whether the document of a name, or the text alone, is never learned from."""
    return zlib.crc32(name.encode("utf-8", "surrogatepass")) % _PARTS == 0


class Parts(NamedTuple):
    """The parts of a collection.

    Attributes
    ----------
    held : list of bool
        Which texts are held out.
    n_held : int
        Documents that these are of.
    known : bool
        Whether a task names its document.
    """

    held: list[bool]
    n_held: int
    known: bool


def parts_of(X: list[str], metadata: list[dict[str, Any]]) -> Parts:
    """Choose what is held out: whole documents of which nothing is ever learned.

    As in ``train --holdout``, a text that names no document is of that of an equal text.
    A document of which the first model has learned is not held out: lines that are no
    annotations, and stood in the file before, are of its training.
    """
    named = [document_in(each) for each in metadata]
    of_text = {text: name for text, name in zip(X, named) if name is not None}
    keys = [
        ("document", of_text[text] if name is None else name)
        if text in of_text
        else ("text", text)
        for text, name in zip(X, named)
    ]
    learned = {key for key, each in zip(keys, metadata) if not is_collected(each)}
    held = [key not in learned and held_out(key[1]) for key in keys]
    return Parts(held, len(set(compress(keys, held))), bool(of_text))


def learnable(
    model: Any, X: list[str], y: list[Any], metadata: list[dict[str, Any]]
) -> tuple[list[str], list[Any], list[dict[str, Any]]]:
    """Leave out the texts whose spans a model refuses to learn, and say which.

    One annotation that nobody can learn, such as two regions that overlap, would end
    every training to come.
    """
    checks = [
        layer.alignment_report
        for layer in layers(model)
        if hasattr(layer, "alignment_report")
    ]
    kept = []
    for text, spans, known in zip(X, y, metadata):
        try:
            for check in checks:
                check([text], [spans])
        except ValueError as error:
            told = error.told("text") if isinstance(error, PlaceError) else str(error)
            number = known.get("id")
            print(f"task {number} is left out: {told}", file=sys.stderr)
        else:
            kept.append((text, spans, known))
    return (
        [text for text, _, _ in kept],
        [spans for _, spans, _ in kept],
        [known for _, _, known in kept],
    )


def retrain(
    path: str | os.PathLike[str],
    collected: str | os.PathLike[str],
    target: str | os.PathLike[str],
) -> str:
    """Train anew, save what is not worse, and return what is to be said of it."""
    old = load_model(path)
    with Lines(collected).text() as file:  # the service may be writing to it
        X, y, metadata = read_spans(file, return_metadata=True)
    X, y, metadata = learnable(old, X, y, metadata)
    held, n_held, known = parts_of(X, metadata)
    if not known:
        print(f"no task has a key such as {DOCUMENT}: {_ALONE}", file=sys.stderr)
    learned = [not each for each in held]
    (X, y), (X_out, y_out) = (
        [list(compress(rows, part)) for rows in (X, y)] for part in (learned, held)
    )
    n_spans = sum(map(len, y_out))
    if n_spans < FEWEST:
        found = f"{n_spans} held-out spans in {n_held} documents"
        return f"no training: {found}, {FEWEST} are needed to compare models"
    if not any(y):
        return "no training: all spans are held out"
    new = clone(old).fit(X, y)
    before, after = (
        span_f1_score(y_out, each.predict(X_out), texts=X_out) for each in (old, new)
    )
    told = f"trained on {len(X):,} texts: F1 {after:.4f} on {n_spans} held-out spans, {before:.4f} before"
    if after < before:
        return f"{told}; the old model stays"
    counts = {"texts": len(X), "spans": sum(map(len, y))}
    how = f"{len(X_out)} texts of {n_held} documents held out"
    card = _card_of(old, path, collected, counts, after, how, n_held)
    layout = origin_of(old).source_layout
    new.save(target, source_layout=layout, card=card)
    return f"{told}; {target} takes the place of {path}"


def _card_of(
    old: Any,
    path: str | os.PathLike[str],
    collected: str | os.PathLike[str],
    counts: dict[str, int],
    f1: float,
    how: str,
    n_held: int,
) -> Card:
    """Return the card of a model that was made of an old one and what was collected."""
    known = origin_of(old).card
    parent = {"name": os.path.basename(path), "sha256": digest_of(path)}
    if known is not None:
        parent["date"] = known.date
    name = os.path.basename(collected)
    return new_card(
        data=[{"use": "train", "name": name, "sha256": digest_of(collected)}],
        counts=counts,
        score={
            "measure": "f1",
            "value": f1,
            "how": how,
            "of": n_held,
        },
        parent=parent,
    )


if __name__ == "__main__":
    print(retrain(*sys.argv[1:]))
