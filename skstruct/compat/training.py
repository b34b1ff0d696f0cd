"""Training as CRFsuite's trainer does it: an estimator of this package, a model file, a
log.

A model has weights for the pairs of attribute and label that training has shown, unless
the parameters ask for all; and of these for the pairs whose values, with their signs,
add up to ``feature.minfreq`` or more. CRFsuite counts an attribute of value 0 as shown.
The log is written while training goes on.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple
from warnings import catch_warnings, simplefilter

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from .._core.user_warnings import warn
from .._crf.l1crf import L1CRF
from .._data.inputs import as_tokens
from .._saving.atomic import check_target, write_whole
from .._taggers.perceptron import PassiveAggressiveTagger, StructuredPerceptron
from ..features.bag_encoder import BagEncoder
from ..features.learned import learned_encoder
from ..interchange.crfsuite import ALL_PAIRS, crfsuite_bytes, crfsuite_model
from ..interchange.foreign import NamedModel, as_bytes
from .items import attributes_of
from .parameters import DEFAULTS, NO_LIMIT, TITLES
from .passes import HeldOut, PassLog, figure

if TYPE_CHECKING:
    from .items import Example


_SHOWN = 1e-100
"""Stands for the value 0: the attribute is shown, and no sum of others changes."""

_NO_WEIGHT = 1e-100
"""The weight of a sequence that only makes a label known, which the weight 0 does not.
"""

_NO_AROW = (
    "the algorithm 'arow' is not implemented, since CRFsuite's AROW loses 6 to 9 "
    "points of entity F1 to its own 'pa': a passive-aggressive tagger of type 2 "
    "(PA-II) is trained; write algorithm='pa' to choose it yourself"
)


class _Corpus(NamedTuple):
    """The training data: sequences of tokens, their labels, and the labels by their
    numbers.

    The model has the labels of held-out sequences too, as CRFsuite's has. For each that
    training lacks there is a sequence at the end, of one token without attributes.
    """

    X: Any  # a TokenCorpus
    y: list
    labels: list
    n_added: int

    @classmethod
    def of(cls, examples: list[Example], holdout: int) -> _Corpus:
        """Make the corpus of ``examples``, (tokens, labels, group), but for the group
        ``holdout``."""
        number = {
            label: k
            for k, label in enumerate(
                dict.fromkeys(chain.from_iterable(y for _, y, _ in examples))
            )
        }
        data = [(x, y) for x, y, group in examples if group != holdout]
        shown = set(chain.from_iterable(y for _, y in data))
        added = [label for label in number if label not in shown] if shown else []
        data += [([{}], [label]) for label in added]
        # Numbers as labels: sorted, they are in the order of their first occurrence.
        numbered = [[f"{number[label]:08d}" for label in y] for _, y in data]
        tokens: Any = as_tokens([x for x, _ in data])
        if any(numbered):
            # Attributes of value 0 are there.
            tokens = BagEncoder().learned(tokens, _SHOWN)
        return cls(tokens, numbered, list(number), len(added))

    def weights(self) -> np.ndarray | None:
        """Return the weights of sequences for ``fit``: added ones have weight 0. None
        if there are none.
        """
        if not self.n_added:
            return None
        return np.repeat([1.0, _NO_WEIGHT], [len(self.X) - self.n_added, self.n_added])


class Training:
    """A training that is ready to begin: whatever can be wrong with its input is raised
    here.

    Parameters
    ----------
    algorithm : str
        CRFsuite's own name.
    values : dict
        Its parameters.
    examples : list of tuples
        (tokens, labels, group)
    path : str
        Where the model is written to; nowhere if it is empty.
    holdout : int
        The group that is not trained on, but that each pass is scored on; below 0 for
        none.

    Raises
    ------
    ValueError
        If a value is not finite, or the file cannot hold a label or attribute.
    OSError
        If the file cannot be written.
    """

    def __init__(
        self,
        algorithm: str,
        values: dict[str, Any],
        examples: list[Example],
        path: str,
        holdout: int,
    ) -> None:
        self.began = time.perf_counter()
        if path:
            check_target(path)
        self.algorithm = algorithm
        self.values = values
        self.path = path
        self.holdout = holdout
        self.corpus = corpus = _Corpus.of(examples, holdout)
        self.estimator = _estimator(algorithm, values)
        self.counts = _Counts(0, 0, False)
        self.held_out = None
        if any(corpus.y):
            self.counts = _counts(
                corpus, values["feature.minfreq"], self.estimator.all_pairs
            )
            self.held_out = HeldOut.of(examples, holdout, corpus.labels)
        if self.counts.some_are_rare:
            self.estimator._least_seen = values["feature.minfreq"]

    def run(self, message: Callable[[str], None]) -> None:
        """Train, and write the model.

        ``message`` is called with each piece of the log as it arises. What it raises
        ends training, and no model is written then.
        """

        def log(*lines: str) -> None:
            for line in lines:
                message(f"{line}\n")

        self._log_features(message, log)
        began = time.perf_counter()
        corpus = self.corpus
        if any(corpus.y):
            n = len(corpus.X) - corpus.n_added
            passes = PassLog(log, self.algorithm, self.values, n, self.held_out)
            named = _trained(self.estimator, corpus, passes)
        else:
            named = _untrained(corpus.labels)
            log("L-BFGS terminated with error code (-1020)")
        log(
            f"Total seconds required for training: {time.perf_counter() - began:.3f}",
            "",
        )
        began = time.perf_counter()
        log("Storing the model")
        if self.path:
            write_whole(self.path, crfsuite_bytes(named))
        n_names = len(named.names)
        n_active = named.weight.size + np.count_nonzero(named.transitions[0])
        log(
            f"Number of active features: {n_active} ({self.counts.features})",
            f"Number of active attributes: {n_names} ({self.counts.attributes})",
            f"Number of active labels: {len(named.labels)} ({len(named.labels)})",
            _seconds(began),
            "",
        )

    def _log_features(
        self, message: Callable[[str], None], log: Callable[..., None]
    ) -> None:
        shown = [f"{name}: {figure(value)}" for name, value in self.values.items()]
        if self.holdout >= 0:
            log(f"Holdout group: {self.holdout + 1}", "")
        log("Feature generation", "type: CRF1d", *shown[:3])
        for k in range(51):
            message(str(k // 5) if k % 5 == 0 else ".")
        log("", f"Number of features: {self.counts.features}", _seconds(self.began), "")
        log(TITLES[self.algorithm], *shown[3:], "")


def _seconds(began: float) -> str:
    return f"Seconds required: {time.perf_counter() - began:.3f}"


def _estimator(algorithm: str, values: dict[str, Any]) -> Any:
    passes = values["max_iterations"]
    least = values["feature.minfreq"]
    states, transitions = (
        bool(values[f"feature.possible_{kind}"] and not least > 0)
        for kind in ("states", "transitions")
    )
    shared: dict[str, Any] = {
        "random_state": 0,
        "all_pairs": ALL_PAIRS[states, transitions],
    }
    if algorithm == "arow":
        warn(_NO_AROW)
        gamma = values["gamma"]
        instead = (
            {"type": 2, "c": values["variance"] / gamma / 2} if gamma else {"type": 0}
        )
        values = {**DEFAULTS["passive-aggressive"], **values, **instead}
    if algorithm in ("lbfgs", "l2sgd"):
        return L1CRF(
            c1=values.get("c1", 0.0), c2=values["c2"], tol=min(values["delta"], 1e-4),
            max_iter=passes if passes > 0 else NO_LIMIT, **shared,
        )  # fmt: skip
    if algorithm == "averaged-perceptron":
        return StructuredPerceptron(max_iter=passes, **shared)
    return PassiveAggressiveTagger(
        C=values["c"], variant=("PA", "PA-I", "PA-II")[values["type"]], max_iter=passes,
        average="step" if values["averaging"] else None,
        cost="hamming" if values["error_sensitive"] else "one", **shared,
    )  # fmt: skip


def _untrained(labels: list[str]) -> NamedModel:
    """Return a model without weights."""
    n = len(labels)
    none = np.zeros(0, int)
    every = np.ones(n, bool)
    return NamedModel(
        labels, [], none, none, np.zeros(0), {0: np.zeros((n, n))}, every, every
    )


def _trained(estimator: Any, corpus: _Corpus, passes: PassLog) -> NamedModel:
    """Return the model that an estimator learns, as it is written."""
    passes.estimator = estimator
    estimator._after_pass = passes
    with catch_warnings():
        simplefilter("ignore", ConvergenceWarning)
        estimator.fit(corpus.X, corpus.y, sample_weight=corpus.weights())
    passes.end()
    named = crfsuite_model(estimator)
    # Attributes that were always 0 have no weights.
    keep = np.abs(named.weight) > np.sqrt(_SHOWN)
    used, row = np.unique(named.row[keep], return_inverse=True)
    names = [named.names[k] for k in used]
    column = named.column[keep]
    weight = named.weight[keep]
    return named._replace(
        labels=corpus.labels, names=names, row=row, column=column, weight=weight
    )


# --------------------------------------------------------------------------------------
# What is trained on
# --------------------------------------------------------------------------------------
class _Counts(NamedTuple):
    """Sizes of a corpus."""

    features: int  # pairs that can have a weight
    attributes: int
    some_are_rare: bool  # whether pairs are left out that occur


def _counts(corpus: _Corpus, least: float, all_pairs: bool | str) -> _Counts:
    """Return the :class:`_Counts` of a corpus, and raise for anything that cannot be
    trained on or written.
    """
    for label in corpus.labels:
        _check_name(label, f"the label {label!r:.80}")
    encoder = learned_encoder(corpus.X)
    assert isinstance(encoder, BagEncoder), "the corpus was encoded when it was made"
    bag = corpus.X.encoded_by(encoder).bag
    names = encoder.nodes.ids
    value = bag.value if bag.value.shape[0] else np.ones(bag.row.shape[0])
    shape = (bag.start.shape[0] - 1, len(names))
    # A copy, since scipy may sort and sum what it has.
    values = sparse.csr_matrix((value, bag.row, bag.start), shape, copy=True)
    for name in names:
        if not _can_be_written(name):
            _check_name(name, _place_of(name, corpus.X))
    number = np.array(list(chain.from_iterable(corpus.y)), dtype=int)
    tokens = np.arange(number.shape[0])
    label = sparse.csr_matrix(
        (np.ones(len(tokens)), (tokens, number)), (len(tokens), len(corpus.labels))
    )
    lengths = [len(y) for y in corpus.y if y]
    is_later = np.ones(len(tokens), bool)
    is_later[np.cumsum([0, *lengths[:-1]])] = False
    later = label[1:].multiply(is_later[1:, None]).tocsr()
    between = label[:-1].T @ later
    sums = values.T @ label
    shown = sums if (value >= 0).all() else abs(values).T @ label
    states = shown, sums, all_pairs in (True, "states")
    transitions = between, between, all_pairs in (True, "transitions")
    found = [_frequent(*pairs, least) for pairs in (states, transitions)]
    return _Counts(
        sum(n for n, _ in found), values.shape[1], any(rare for _, rare in found)
    )


def _frequent(shown: Any, sums: Any, every: bool, least: float) -> tuple[int, bool]:
    """Return (number of pairs with weights, whether some that are shown have none)

    ``shown``, ``sums``: sparse, the pairs that occur, and the sums of their values;
    ``every``: pairs that do not occur have weights, too, if their sum 0 is enough.
    """
    if least > 0:
        n = int(np.count_nonzero(sums.data >= least))
        return n, n < shown.nnz
    n_rare = int(np.count_nonzero(sums.data < least))
    n = shown.shape[0] * shown.shape[1] if every else shown.nnz
    return n - n_rare, n_rare > 0


def _can_be_written(name: str) -> bool:
    if "\0" in name:
        return False
    try:
        as_bytes(name)
    except UnicodeEncodeError:
        return False
    return True


def _check_name(name: str, what: str) -> None:
    """Raise if a file cannot hold a name."""
    if not _can_be_written(name):
        wrong = (
            "a NUL character"
            if "\0" in name
            else "half of a surrogate pair, which is no text"
        )
        raise ValueError(
            f"{what} has {wrong}: CRFsuite's files cannot hold it; "
            "leave it out or replace it"
        )


def _place_of(name: str, X: Any) -> str:
    for i, tokens in enumerate(X):
        for t, token in enumerate(tokens):
            if any(each == name for each, _ in attributes_of(token)):
                return f"the attribute {name!r:.80} of item {t} of sequence {i}"
    return f"the attribute {name!r:.80}"
