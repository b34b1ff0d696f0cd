"""The names of ``python-crfsuite`` 0.9: ``Trainer``, ``Tagger``, ``ItemSequence``.

What trains and what reads models is imported at its first use: programs import this module in any case.
"""

import sys
from contextlib import closing
from math import exp

from ..items import ItemSequence, text_of, tokens_of
from ..parameters import ALIASES, DEFAULTS, HELP, converted
from ._dumpparser import ParsedDump
from ._logparser import TrainLogParser

CRFSUITE_VERSION = "0.12.2"
"""The version of CRFsuite whose files are read and written."""

__all__ = [
    "CRFSUITE_VERSION", "BaseTrainer", "CRFSuiteError", "CRFsuiteError", "ItemSequence", "Tagger", "Trainer",
]  # fmt: skip


class CRFSuiteError(Exception):
    """An error in training."""

    def __init__(self, code):
        self.code = code
        super().__init__(f"Unexpected error: {code}")


CRFsuiteError = CRFSuiteError


class BaseTrainer:
    """Collects sequences and trains on them; messages of the training go to :meth:`message`.

    Parameters
    ----------
    algorithm : {"lbfgs", "l2sgd", "ap", "pa", "arow"}, optional
    params : dict, optional
    verbose : bool, default=True
    """

    verbose = None

    def __new__(cls, *args, **kwargs):
        """A trainer that works although a subclass may not call ``__init__``."""
        trainer = super().__new__(cls)
        trainer.clear()
        BaseTrainer.select(trainer, "lbfgs")
        return trainer

    def __init__(self, algorithm=None, params=None, verbose=True):
        if algorithm is not None:
            self.select(algorithm)
        self.set_params(params or {})
        self.verbose = verbose

    def message(self, message):
        """Receive a message of the training; may be overridden."""
        if self.verbose:
            print(message, end="")

    def append(self, xseq, yseq, group=0):
        """Add a sequence of items, which are copied, and its labels."""
        tokens, labels = tokens_of(xseq), [text_of(label, "a label") for label in yseq]
        _check_lengths(tokens, labels)
        self._examples.append((tokens, labels, int(group)))

    def clear(self):
        """Forget all sequences."""
        self._examples = []

    def select(self, algorithm, type="crf1d"):
        """Choose the algorithm; its parameters have their defaults then."""
        name = ALIASES.get(algorithm.lower(), algorithm.lower())
        if name not in DEFAULTS or type != "crf1d":
            raise ValueError(f"Bad arguments: algorithm={algorithm!r}, type={type!r}")
        self._algorithm = name
        self._values = dict(DEFAULTS[name])

    def train(self, model, holdout=-1):
        """Train, and write the model to a file; with an empty name it is not written.

        Sequences of the group ``holdout`` are not trained on; the log has the scores on them.
        """
        from ..training import train

        train(self._algorithm, self._values, self._examples, model, holdout, self.message)

    def params(self):
        """The names of the parameters."""
        return list(self._values)

    def get(self, name):
        """The value of a parameter."""
        self._check(name)
        return self._values[name]

    def get_params(self):
        """All parameters."""
        return dict(self._values)

    def set(self, name, value):
        """Set a parameter."""
        self._check(name, f" = {value}")
        self._values[name] = converted(name, value, type(self._values[name]))

    def set_params(self, params):
        """Set some parameters."""
        for name, value in params.items():
            self.set(name, value)

    def help(self, name):
        """What a parameter does."""
        self._check(name)
        return HELP.get(name, "Accepted, without effect.")

    def _check(self, name, more=""):
        if name not in self._values:
            raise ValueError(f"Parameter not found: {name}{more}")


class Trainer(BaseTrainer):
    """A trainer whose methods ``on_...`` are called with parts of its log; ``logparser`` has the figures."""

    logparser = None

    def train(self, model, holdout=-1):
        """See :meth:`BaseTrainer.train`."""
        self.logparser = TrainLogParser()
        super().train(model, holdout)

    def message(self, message):
        """Read a message, and call the method of the event that it ends, if ``verbose``."""
        event = self.logparser.feed(message)
        if self.verbose and event is not None:
            figures = {"featgen_progress": "featgen_percent", "iteration": "last_iteration"}
            more = [getattr(self.logparser, figures[event])] if event in figures else []
            getattr(self, f"on_{event}")(self.logparser.last_log, *more)

    def on_start(self, log, *more):
        """Of each event: print its part of the log.

        ``on_featgen_progress`` has the percentage, too, and ``on_iteration`` the figures of the pass.
        """
        print(log, end="")

    on_featgen_progress = on_featgen_end = on_prepared = on_prepare_error = on_start
    on_iteration = on_optimization_end = on_end = on_start


class Tagger:
    """Tags sequences by a model file."""

    def __init__(self):
        self.close()

    def open(self, name):
        """Open a model file, or a pickle of a ``sklearn_crfsuite.CRF``; a context manager that closes it."""
        from ...interchange.crfsuite import crfsuite_contents

        self._contents, self._crf = crfsuite_contents(name)
        self._numbers, self._info = {label: k for k, label in enumerate(self._contents.labels)}, None
        return closing(self)

    def open_inmemory(self, value):
        """Open the bytes of a model file."""
        return self.open(bytes(value))

    def close(self):
        """Forget the model."""
        self._contents = self._crf = self._info = self._marginals = None
        self._tokens, self._numbers = [], {}

    def labels(self):
        """The labels, in the order of the file."""
        self._opened()
        return list(self._contents.labels)

    def _opened(self):
        if self._contents is None:
            raise ValueError("The tagger is not opened")

    def _trained(self):
        """The CRF."""
        self._opened()
        if self._crf is None:
            raise ValueError("the model has no labels; it was trained on nothing")
        return self._crf

    def set(self, xseq):
        """The sequence that :meth:`tag`, :meth:`probability` and :meth:`marginal` speak of."""
        self._opened()
        self._tokens, self._marginals = tokens_of(xseq), None

    def tag(self, xseq=None):
        """The best labels of a sequence, or of the one that was set."""
        self._opened()
        if xseq is not None:
            self.set(xseq)
        return self._trained().predict([self._tokens])[0] if self._tokens else []

    def tag_all(self, xseqs):
        """The best labels of each sequence."""
        return list(self._trained().predict(list(map(tokens_of, xseqs))))

    def marginals_of_all(self, xseqs):
        """Of each sequence an array of probabilities, (tokens, labels)."""
        return self._trained().predict_marginals(list(map(tokens_of, xseqs)))

    def probability(self, yseq):
        """The probability of labels of the sequence."""
        self._opened()
        yseq = [text_of(label, "a label") for label in yseq]
        _check_lengths(self._tokens, yseq)
        for label in yseq:
            self._number(label)
        return exp(self._trained().sequence_log_proba([self._tokens], [yseq])[0])

    def marginal(self, y, pos):
        """The probability of a label at a position of the sequence."""
        number = self._number(y)
        if not 0 <= pos < len(self._tokens):
            raise ValueError(f"The position, {pos} is out of range of {len(self._tokens)}")
        if self._marginals is None:
            self._marginals = self._trained().predict_marginals([self._tokens])[0].tolist()
        return self._marginals[pos][number]

    def _number(self, label):
        label = text_of(label, "a label")
        if label not in self._numbers:
            self._opened()
            raise RuntimeError(f"Failed to convert into label identifier: {label}")
        return self._numbers[label]

    def info(self):
        """Header, labels, attributes and weights of the model."""
        if self._contents is None:
            raise RuntimeError("Tagger is closed")
        if self._info is None:
            self._info = ParsedDump.of(self._contents)
        return self._info

    def dump(self, filename=None):
        """Write the model as text, to a file or to the standard output."""
        text = self.info().text()
        if filename is None:
            sys.stdout.write(text)
        else:
            with open(filename, "w", encoding="utf-8", errors="surrogateescape") as file:
                file.write(text)


def _check_lengths(x, y):
    if len(x) != len(y):
        raise ValueError(f"The numbers of items and labels differ: |x| = {len(x)}, |y| = {len(y)}")
