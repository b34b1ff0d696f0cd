"""``Trainer``, ``Tagger`` and ``ItemSequence`` of ``python-crfsuite`` 0.9."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import closing
from functools import cached_property
from math import exp
from typing import TYPE_CHECKING, Any

from ..items import ItemSequence, text_of, tokens_of, whole_number
from ..parameters import ALIASES, DEFAULTS, HELP, converted
from ._dumpparser import ParsedDump
from ._logparser import TrainLogParser

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from ..._crf.l1crf import L1CRF
    from ..._data.types import Path, Self
    from ..items import Example, Token


CRFSUITE_VERSION = "0.12.2"
"""The version of CRFsuite whose files are read and written."""

__all__ = [
    "CRFSUITE_VERSION",
    "BaseTrainer",
    "CRFSuiteError",
    "CRFsuiteError",
    "ItemSequence",
    "Tagger",
    "Trainer",
]


class CRFSuiteError(Exception):
    """An error in training."""

    def __init__(self, code: Any) -> None:
        self.code = code
        super().__init__(f"Unexpected error: {code}")


CRFsuiteError = CRFSuiteError


class BaseTrainer:
    """Collects sequences and trains on them; messages of the training go to
    :meth:`message`.

    Parameters
    ----------
    algorithm : {"lbfgs", "l2sgd", "ap", "pa", "arow"}, optional
    params : dict, optional
    verbose : bool, default=True
    """

    verbose: bool | None = None
    _lock: threading.RLock
    _examples: list[Example]

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Return a trainer that works although a subclass may not call ``__init__``."""
        trainer = super().__new__(cls)
        trainer._lock = threading.RLock()
        trainer._examples = []
        trainer._is_cleared = False
        BaseTrainer.select(trainer, "lbfgs")
        return trainer

    def __init__(
        self,
        algorithm: str | None = None,
        params: dict[str, Any] | None = None,
        verbose: bool = True,
    ) -> None:
        if algorithm is not None:
            self.select(algorithm)
        self.set_params(params or {})
        self.verbose = verbose

    def message(self, message: str) -> None:
        """Receive a message of the training; may be overridden."""
        if self.verbose:
            print(message, end="")

    def append(self, xseq: Any, yseq: Any, group: int = 0) -> None:
        """Add a sequence of items, which are copied, and its labels."""
        tokens = tokens_of(xseq)
        labels = [text_of(label, "a label") for label in yseq]
        self._is_cleared = False
        _check_lengths(tokens, labels)
        self._examples.append((tokens, labels, whole_number(group, "group")))

    def clear(self) -> None:
        """Forget all sequences."""
        self._examples = []
        self._is_cleared = True

    def select(self, algorithm: str, type: str = "crf1d") -> None:
        """Choose the algorithm; its parameters have their defaults then."""
        name = ALIASES.get(algorithm.lower(), algorithm.lower())
        if name not in DEFAULTS or type != "crf1d":
            raise ValueError(f"Bad arguments: algorithm={algorithm!r}, type={type!r}")
        self._algorithm = name
        self._values = dict(DEFAULTS[name])

    def train(self, model: Path, holdout: int = -1) -> None:
        """Train, and write the model to a file; with an empty name it is not written.

        Sequences of the group ``holdout`` are not trained on; the log has the scores on
        them. What cannot be written (a missing folder, a NUL character in a name) is an
        error before training.
        """
        from ..training import Training

        holdout = whole_number(holdout, "holdout")
        with self._lock:  # threads take turns: the log is the trainer's
            if self._is_cleared:
                raise ValueError(
                    "The data is empty: append sequences after clear(), before train()"
                )
            examples = list(self._examples)
            values = dict(self._values)
            training = Training(
                self._algorithm, values, examples, os.fsdecode(model), holdout
            )
            self._before_train()
            training.run(self.message)

    def _before_train(self) -> None:
        """Prepare a training; called before each."""

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def params(self) -> list[str]:
        """Return the names of the parameters."""
        return list(self._values)

    def get(self, name: str) -> Any:
        """Return the value of a parameter."""
        self._check(name)
        return self._values[name]

    def get_params(self) -> dict[str, Any]:
        """Return all parameters."""
        return dict(self._values)

    def set(self, name: str, value: Any) -> None:
        """Set a parameter."""
        self._check(name, f" = {value}")
        self._values[name] = converted(name, value, type(self._values[name]))

    def set_params(self, params: dict[str, Any]) -> None:
        """Set some parameters."""
        for name, value in params.items():
            self.set(name, value)

    def help(self, name: str) -> str:
        """Return what a parameter does."""
        self._check(name)
        return HELP.get(name, "Accepted, without effect.")

    def _check(self, name: str, more: str = "") -> None:
        if name not in self._values:
            raise ValueError(f"Parameter not found: {name}{more}")


class Trainer(BaseTrainer):
    """A trainer whose methods ``on_...`` are called with parts of its log;
    ``logparser`` has the figures."""

    logparser: Any = None  # a TrainLogParser, once it trains

    def _before_train(self) -> None:
        self.logparser = TrainLogParser()

    def message(self, message: str) -> None:
        """Read a message, and call the method of the event that it ends, if
        ``verbose``."""
        event = self.logparser.feed(message)
        if self.verbose and event is not None:
            figures = {
                "featgen_progress": "featgen_percent",
                "iteration": "last_iteration",
            }
            more = [getattr(self.logparser, figures[event])] if event in figures else []
            getattr(self, f"on_{event}")(self.logparser.last_log, *more)

    def on_start(self, log: str, *more: Any) -> None:
        """Print the part of the log of each event.

        ``on_featgen_progress`` has the percentage, too, and ``on_iteration`` the
        figures of the pass.
        """
        print(log, end="")

    on_featgen_progress = on_featgen_end = on_prepared = on_prepare_error = on_start
    on_iteration = on_optimization_end = on_end = on_start


class _Model:
    """An opened model file, which threads may share: nothing in it changes but for the
    dump, made once."""

    def __init__(self, source: Path | bytes) -> None:
        from ...interchange.crfsuite import crfsuite_contents

        self.contents, self.crf = crfsuite_contents(source)
        self.numbers = {label: k for k, label in enumerate(self.contents.labels)}

    @cached_property
    def dump(self) -> ParsedDump:
        """The :class:`ParsedDump`."""
        return ParsedDump.of(self.contents)

    def trained(self) -> L1CRF:
        """Return the CRF."""
        if self.crf is None:
            raise ValueError("the model has no labels; it was trained on nothing")
        return self.crf

    def label_plain(self, tokens: Any) -> list[str] | None:
        """Return the best labels of items that are dicts, or lists, of what means the
        same here and there, and cannot change; None of others.
        """
        if type(tokens) is not list or self.crf is None:
            return None
        model = self.crf._model
        rows = model.plain_rows(tokens)
        return None if rows is None else model.label_rows(rows)

    def marginals_of_plain(self, tokens: Any) -> np.ndarray | None:
        """Return the probabilities (T, L) of the labels of such items; None of
        others.
        """
        from ..._chain.sums import marginals_of_rows

        if type(tokens) is not list or self.crf is None:
            return None
        model = self.crf._model
        rows = model.plain_rows(tokens)
        return None if rows is None else marginals_of_rows(model, rows)

    def of_all(
        self,
        xseqs: Any,
        of_plain: Callable[[Any], Any],
        of_tokens: Callable[[list[list[Token]]], Any],
    ) -> list[Any]:
        """Return what is found of each sequence: by ``of_plain`` where that serves, and
        of all others by one call of ``of_tokens``.
        """
        from ..._data.inputs import renumbered

        sequences = list(xseqs)
        found = [*map(of_plain, sequences)]
        others = [k for k, each in enumerate(found) if each is None]
        if others or not found:
            tokens = [tokens_of(sequences[k]) for k in others]
            with renumbered(others):
                more = of_tokens(tokens)
            for k, each in zip(others, more):
                found[k] = each
        return found

    def number(self, label: str) -> int:
        """Return the number of a label."""
        label = text_of(label, "a label")
        if label not in self.numbers:
            raise RuntimeError(f"Failed to convert into label identifier: {label}")
        return self.numbers[label]


class _Current:
    """A sequence of a thread, with the model that it was set for, and its marginals
    once they are asked for."""

    __slots__ = ("marginals", "model", "tokens")

    def __init__(self, model: _Model, tokens: list[Token]) -> None:
        self.model = model
        self.tokens = tokens
        self.marginals: Any = None


class Tagger:
    """Tags sequences by a model file.

    Threads may share a tagger. Each has a current sequence of its own: the one that it
    has given to :meth:`set` or :meth:`tag` last.
    """

    _model: _Model | None
    _of_thread: threading.local

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Return a closed tagger, although a subclass may not call ``__init__``."""
        tagger = super().__new__(cls)
        tagger._model = None
        tagger._of_thread = threading.local()
        return tagger

    def __getstate__(self) -> dict[str, Any]:
        return {
            name: value for name, value in vars(self).items() if name != "_of_thread"
        }

    def open(self, name: Path) -> closing[Tagger]:
        """Open a model file, or a pickle of a ``sklearn_crfsuite.CRF``; a context
        manager that closes it."""
        return self._open(os.fsdecode(name))

    def open_inmemory(self, value: bytes) -> closing[Tagger]:
        """Open the bytes of a model file."""
        return self._open(bytes(value))

    def _open(self, source: Path | bytes) -> closing[Tagger]:
        self._model = _Model(source)
        return closing(self)

    def close(self) -> None:
        """Forget the model."""
        self._model = None

    def _opened(self) -> _Model:
        model = self._model
        if model is None:
            raise ValueError("The tagger is not opened")
        return model

    def _set(self, model: _Model, xseq: Any) -> _Current:
        current = self._of_thread.current = _Current(model, tokens_of(xseq))
        return current

    def _current(self, model: _Model) -> _Current:
        """Return the thread's current sequence; an empty one if it was set for another
        model, or never.
        """
        current = getattr(self._of_thread, "current", None)
        return (
            current
            if current is not None and current.model is model
            else _Current(model, [])
        )

    def labels(self) -> list[str]:
        """Return the labels, in the order of the file."""
        return list(self._opened().contents.labels)

    def set(self, xseq: Any) -> None:
        """Set the sequence that :meth:`tag`, :meth:`probability` and :meth:`marginal`
        speak of in this thread.
        """
        self._set(self._opened(), xseq)

    def tag(self, xseq: Any = None) -> list[str]:
        """Return the best labels of a sequence, which becomes the current one, or of
        the current one.
        """
        model = self._opened()
        labels = model.label_plain(xseq)
        if labels is not None:
            # All are dicts, or all lists; nothing in them can change, once copied.
            copies: list[Token] = [*map(type(xseq[0]).copy, xseq)]
            self._of_thread.current = _Current(model, copies)
            return labels
        current = self._current(model) if xseq is None else self._set(model, xseq)
        return model.trained().predict([current.tokens])[0] if current.tokens else []

    def tag_all(self, xseqs: Any) -> list[list[str]]:
        """Return the best labels of each sequence."""
        model = self._opened()
        return model.of_all(xseqs, model.label_plain, model.trained().predict)

    def marginals_of_all(self, xseqs: Any) -> list[np.ndarray]:
        """Return for each sequence an array of probabilities, (tokens, labels)."""
        from ..._data.inputs import Sequences

        model = self._opened()
        verb = model.trained().predict_marginals
        return Sequences(model.of_all(xseqs, model.marginals_of_plain, verb))

    def probability(self, yseq: Any) -> float:
        """Return the probability of labels of the current sequence; 0 if that is
        empty.
        """
        model = self._opened()
        tokens = self._current(model).tokens
        labels = [text_of(label, "a label") for label in yseq]
        if not tokens:
            return 0.0
        _check_lengths(tokens, labels)
        for label in labels:
            model.number(label)
        return exp(model.trained().sequence_log_proba([tokens], [labels])[0])

    def marginal(self, y: Any, pos: int) -> float:
        """Return the probability of a label at a position of the current sequence; 0 if
        that is empty.
        """
        model = self._opened()
        label = text_of(y, "a label")
        pos = whole_number(pos, "a position")
        current = self._current(model)
        if not current.tokens:
            return 0.0
        if not 0 <= pos < len(current.tokens):
            raise ValueError(
                f"The position, {pos} is out of range of {len(current.tokens)}"
            )
        number = model.number(label)
        if current.marginals is None:
            current.marginals = (
                model.trained().predict_marginals([current.tokens])[0].tolist()
            )
        return current.marginals[pos][number]

    def info(self) -> ParsedDump:
        """Header, labels, attributes and weights of the model."""
        model = self._model
        if model is None:
            raise RuntimeError("Tagger is closed")
        return model.dump

    def dump(self, filename: Path | None = None) -> None:
        """Write the model as text, to a file or to the standard output."""
        text = self.info().text()
        if filename is not None:
            with open(
                filename, "w", encoding="utf-8", errors="surrogateescape"
            ) as file:
                file.write(text)
        elif hasattr(sys.stdout, "buffer"):
            sys.stdout.flush()
            sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
            sys.stdout.buffer.flush()
        else:
            sys.stdout.write(text)


def _check_lengths(x: Any, y: Any) -> None:
    if len(x) != len(y):
        raise ValueError(
            f"The numbers of items and labels differ: |x| = {len(x)}, |y| = {len(y)}"
        )
