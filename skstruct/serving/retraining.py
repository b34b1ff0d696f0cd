"""A model trained anew on the annotations that were collected, in a process of its own.

A fifth of the tasks, chosen by a hash of their ids, is held out: always the same ones,
so that no model has learned from them. A new model takes the place of the old one if
its F1 there is not lower. The old model's file stays; new ones stand beside it, as
``ner-1.skstruct``. What the first model was trained on is in no model file: lines of it
in the collection are learned, too.
"""

from __future__ import annotations

import atexit
import re
import subprocess
import sys
import threading
import zlib
from itertools import compress, count
from logging import INFO, WARNING
from pathlib import Path
from typing import Any

from sklearn.base import clone

from .._data.inputs import SPANS
from ..datasets.formats.span_files import read_spans
from ..interchange.kinds import load_model
from ..metrics import span_f1_score
from .answers import task_of
from .collection import Lines
from .log import LOG

FEWEST = 50
"""Held-out spans that a comparison needs."""

_PARTS = 5


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
        self, path: Path, collected: Any = None, train_on: int | None = None
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
        self.training = None

    def current(self) -> Any:
        """(model, version), which belong together."""
        with self._lock:
            return self.model, self.version

    def count(self) -> Any:
        """Take note of an annotation."""
        with self._lock:
            self._new += 1
            if (
                self.train_on is None
                or self._new < self.train_on
                or self.training is not None
            ):
                return
            self._new, self.training = (
                0,
                threading.Thread(target=self._train, daemon=True),
            )
            self.training.start()

    def _train(self) -> Any:
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
            pipes = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
            options = {"encoding": "utf-8", "errors": "replace"}
            job = subprocess.Popen(list(map(str, command)), **pipes, **options)
            atexit.register(job.kill)
            out, err = job.communicate()
            atexit.unregister(job.kill)
            for line in err.splitlines():  # which may quote what was annotated
                LOG.log(WARNING if job.returncode else INFO, "training: %s", line)
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

    def _target(self) -> Any:
        """A name beside the first model's that is free."""
        stem, number = re.fullmatch(r"(.+?)(?:-([0-9]+))?", self.path.stem).groups()
        paths = (
            self.path.with_name(f"{stem}-{k}{self.path.suffix}")
            for k in count(int(number or 0) + 1)
        )
        return next(path for path in paths if not path.exists())


def held_out(task: dict[str, Any]) -> bool:
    """Whether the task with an id is never learned from."""
    return zlib.crc32(str(task).encode()) % _PARTS == 0


def retrain(path: Path, collected: Any, target: Path) -> Any:
    """Train anew, and save what is not worse; returns what is to be said of it."""
    old = load_model(path)
    with Lines(collected).text() as file:  # the service may be writing to it
        X, y, metadata = read_spans(file, return_metadata=True)
    held = ["id" in each and held_out(each["id"]) for each in metadata]
    learned = [not each for each in held]
    (X, y), (X_out, y_out) = (
        [list(compress(rows, part)) for rows in (X, y)] for part in (learned, held)
    )
    n_spans = sum(map(len, y_out))
    if n_spans < FEWEST:
        return f"no training: {n_spans} held-out spans, {FEWEST} are needed to compare models"
    if not any(y):
        return "no training: there is no span that is not held out"
    new = clone(old).fit(X, y)
    before, after = (
        span_f1_score(y_out, each.predict(X_out), texts=X_out) for each in (old, new)
    )
    told = f"trained on {len(X):,} texts: F1 {after:.4f} on {n_spans} held-out spans, {before:.4f} before"
    if after < before:
        return f"{told}; the old model stays"
    new.save(target)
    return f"{told}; {target} takes the place of {path}"


if __name__ == "__main__":
    print(retrain(*sys.argv[1:]))
