"""A chain model without scikit-learn around it: encoder, labels, constraints, weights, prediction."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..core.final_weights import Average, count_weights, pruned, rows_in_use, with_rows
from ..core.store import Store, new_clock
from ..data.inputs import LABELS, Inputs, PlaceError, check_some, place
from ..data.labels import UNLABELLED, Gold, Labels
from ..features.encoded import EncodedCorpus, bag_of
from ..saving.container import require
from ..saving.stores import full
from ..training.chunks import PIECE_TOKENS, as_writeable_view, map_chunks, no_collection
from ..training.saved import NamedWeights, SavableModel
from .bigram import STORES, Chain, ChainTask
from .chain_arguments import (
    FinalChain,
    are_rows_of_nodes,
    final_chain,
    for_predict_small,
    for_prediction,
    has_full_rows,
    prediction_arguments,
    rows_of,
)
from .chain_epoch import predict, predict_small
from .chain_fields import SHOWN, TAGGER, TRAINED
from .chain_kbest import new_lists, predict_kbest

LARGEST = 1e100
"""Values of features above this have squares, and products with weights, that are no numbers."""
NO_OPTION, NO_GOLD = np.zeros((0, 0), np.bool_), np.zeros(0, np.int32)
"""Where all labels are allowed, and none is given."""


def make_task(encoder, corpus, *given, **options):
    """Check a corpus, and encode it: for parameters see :func:`task_of`."""
    encoder.check(corpus)
    return task_of(encoder, corpus, *given, **options)


def with_gold(task, gold):
    """A task with other labels, a ``data.labels.Gold``."""
    return task._replace(gold=gold.ids, sets=gold.sets)


def renumbered_labels(task, new, n_labels):
    """A task under other labels: see ``data.labels.Gold.under``."""
    return with_gold(task, Gold(task.gold, task.sets).under(new, n_labels))


def task_of(encoder, corpus, gold=None, weight=None, grow=False, option=NO_OPTION, rows_as_features=False):
    """Encode a corpus, or a piece of one, that passed the check into what kernels read, a :class:`ChainTask`.

    ``grow``: to train on it, with features that may be new.
    ``rows_as_features`` makes features, one by one, of dense rows of numbers beside other features.
    """
    encoded = encoded_corpus(encoder, corpus, grow)
    if rows_as_features and encoded.dense:
        if encoded.bag.start.shape[0] > 1 or encoded.nodes.row.shape[0] > 0:
            encoded = encoded._replace(bag=bag_of(encoded, corpus.offsets))
    return new_task(encoded, corpus.offsets, gold, weight, option)


def new_task(encoded, token, gold=None, weight=None, option=NO_OPTION):
    """The :class:`ChainTask` of an encoded corpus whose sequences start at ``token``."""
    if encoded.dense:
        dense = encoded.dense._replace(block=as_writeable_view(encoded.dense.block))
        encoded = encoded._replace(dense=dense)
    n = int(token[-1])
    gold = Gold(np.full(n, UNLABELLED, np.int32), ()) if gold is None else gold
    weight = np.ones(len(token) - 1) if weight is None else weight
    _check_sizes(gold=len(gold.ids) == n, weight=len(weight) == len(token) - 1, option=len(option) in (0, n))
    return ChainTask(
        **encoded._asdict(), token=token, gold=gold.ids, weight=weight, option=option, sets=gold.sets
    )


def _check_values(encoded, token, scale):
    """Raise if a value is too large to be squared; ``scale``: what those of sparse rows are multiplied by."""
    block = encoded.dense.block if encoded.dense else np.zeros((0, 1))
    for values, factor in (block, 1.0), (encoded.bag.value, scale):
        if _are_small(values, LARGEST * min(factor, 1.0)):
            continue
        k = int(np.abs(values).argmax())
        at = k // block.shape[1]
        if values is encoded.bag.value:
            at = int(np.searchsorted(encoded.bag.start, k, side="right")) - 1
        i, t = place(token, at)
        what = f"values of features must be at most {LARGEST:g} in size, got {values.flat[k] / factor:g}"
        raise PlaceError(i, t, what, "X")


def _are_small(values, most):
    """Whether no value is above ``most`` in size."""
    if values.dtype == np.float32 and most >= float(np.finfo(np.float32).max):
        return True
    if values.flags.c_contiguous:  # one pass, where both ends of the range take two
        flat = values.ravel()
        with np.errstate(over="ignore"):
            if flat.dot(flat) <= most * most:
                return True
    return max(float(values.max(initial=0.0)), -float(values.min(initial=0.0))) <= most


def encoded_corpus(encoder, corpus, grow=False):
    """The ``Encoded`` of a corpus that passed the check, with proof that it has its size.

    Kernels check nothing: this, with :func:`task_of`, is the only place between users and them.
    """
    n, x = int(corpus.offsets[-1]), None if grow else corpus.encoded_by(encoder)
    if x is not None:
        return x
    with no_collection():
        x = encoder.encode(corpus, grow)
    places = int(x.anchor[-1])
    _check_sizes(
        anchor=len(x.anchor) == len(corpus.offsets) and places >= n,
        grids=x.nodes.row.shape[1] == x.edges.row.shape[1] == places,
        bag=len(x.bag.start) in (1, n + 1),
        dense=not x.dense or len(x.dense.block) == n,
    )
    _check_values(x, corpus.offsets, getattr(encoder, "scale", 1.0))
    return x


def _check_sizes(**right):
    """Raise if one of the parts of a corpus, by name, has not the right size."""
    for name, is_right in right.items():
        if not is_right:
            raise AssertionError(f"the encoded corpus is inconsistent: {name} of another number of tokens")


@dataclass
class ChainModel(SavableModel):
    """What prediction needs.

    Attributes
    ----------
    encoder : encoder
        See ``features.choose``.
    labels : Labels
    nodes, edges : Store
        Final weights; no bookkeeping of the training.
    constraints : tuple of (start, allowed, end)
    trigrams : Store or None
        Of a model of order 2.
    scale : float
        What all scores are multiplied by: 1 / temperature.
    """

    encoder: object
    labels: Labels
    nodes: Store
    edges: Store
    constraints: tuple
    trigrams: Store | None = None
    scale: float = 1.0

    FIELDS, TRAINED, FACTS, MORE = TAGGER, TRAINED, ("closed", "stream"), (SHOWN,)

    def compressed(self, dtype, keep):
        """See ``training.saved.SavableModel``."""
        names, stores = zip(*self.stores().items())
        L, stores = len(self.labels), dict(zip(names, pruned(list(stores), dtype, keep)))
        used = rows_in_use(stores["nodes"]), rows_in_use(stores["edges"]).reshape(-1, L).any(axis=1)
        encoder, nodes, edges = self.encoder.keep_rows(*used)
        stores["nodes"] = with_rows(stores["nodes"], nodes)
        stores["edges"] = with_rows(stores["edges"], (edges[:, None] * L + np.arange(L)).ravel())
        return replace(self, encoder=encoder, packed=dtype, **stores)

    def in_training(self, f):
        """See ``training.saved.SavableModel``."""
        found = f["trained"] or {name: full(store) for name, store in self.stores().items()}
        stores = {name: found[name] for name in STORES if found.get(name) is not None}
        require(stores.keys() == self.stores().keys(), "trigrams of the training, and of the model")
        return new_chain(self.encoder, stores, f["clock"], self.constraints, np.zeros(0))

    @classmethod
    def average(cls, models, nonzero):
        """The average of models over the same features, taken one at a time; see ``core.final_weights``."""
        first = None
        for model in models:
            if first is None:
                sums = {name: Average(nonzero) for name in model.stores()}
                first = replace(model, **dict.fromkeys(sums))
            for name, total in sums.items():
                total.add(getattr(model, name))
            del model  # the next one is trained when it is asked for
        return replace(first, **{name: total.store() for name, total in sums.items()})

    @property
    def order(self):
        """Labels of history that transitions look at: 1 or 2."""
        return 1 if self.trigrams is None else 2

    @property
    def lines(self):
        """The templates of features; None if features are ready-made."""
        templates = getattr(self.encoder, "templates", None)
        return None if templates is None else templates.lines

    def words_of_training(self):
        """See ``training.saved.SavableModel``; models of templates remember them."""
        alphabets = getattr(self.encoder, "alphabets", None)
        return frozenset(alphabets[0]) or None if alphabets else None

    def stores(self):
        """Its stores by name; ``trigrams`` only in the second order."""
        stores = {name: getattr(self, name) for name in STORES}
        return {name: store for name, store in stores.items() if store is not None}

    def __getstate__(self):
        return {name: value for name, value in vars(self).items() if name != "ready"}

    @cached_property
    def ready(self):
        """What prediction needs and does not change from call to call; made once, and part of no copy."""
        chain = self.new_chain()
        return Ready(chain, final_chain(chain) if has_full_rows(chain) else None, self.labels.array)

    def new_chain(self):
        """The arrays that kernels decode under."""
        clock, cost = new_clock(), np.zeros(len(self.labels))
        clock.scale[0] = self.scale
        return as_writeable_view(new_chain(self.encoder, self.stores(), clock, self.constraints, cost))

    @property
    def n_features(self):
        """Number of features."""
        return self.encoder.n_features

    def sizes(self):
        """See ``training.saved.SavableModel``."""
        more = [self.edges] if self.trigrams is None else [self.edges, self.trigrams]
        return len(self.labels), self.n_features, count_weights(self.nodes), sum(map(count_weights, more))

    @property
    def inputs(self):
        """See ``data.inputs.Inputs``."""
        return Inputs(LABELS, self.encoder.token_type, self.encoder.n_columns)

    def adapted(self, sequences):
        """This model with the accessor varieties of raw sequences; with None those of training."""
        if sequences is None:
            return replace(self, encoder=self.encoder.adapted(None))
        check_some(sequences.offsets[-1])
        self.encoder.check(sequences)
        return replace(self, encoder=self.encoder.adapted(sequences))

    def encode(self, corpus):
        """The task of a corpus."""
        return make_task(self.encoder, corpus)

    def encoded(self, corpus):
        """A corpus that its verbs need not encode."""
        self.encoder.check(corpus)
        return EncodedCorpus.by(self.encoder, corpus, encoded_corpus(self.encoder, corpus))

    def named_weights(self):
        """The weights of state features with their names, as a list of NamedWeights."""

        def names(rows):
            known = self.encoder.row_names(set(rows.tolist()))
            return [known[row] for row in rows.tolist()]

        return [NamedWeights(self.nodes, self.labels.values, names)]

    def predict(self, corpus, options=None, n_jobs=None):
        """Best labellings.

        Parameters
        ----------
        corpus : TokenCorpus
        options : ndarray of shape (N, L), bool, optional
            Labels allowed for each token.
        n_jobs : int, optional
            Threads.

        Returns
        -------
        labellings : list of lists of labels
        scores : ndarray of shape (n,)
        """
        self.encoder.check(corpus)
        options = NO_OPTION if options is None else options

        def work(bounds):
            first, last, begin, end = bounds
            piece = corpus.piece(first, last)
            out, scores = np.empty(end - begin, np.int32), np.empty(last - first)
            x = encoded_corpus(self.encoder, piece)
            self._label(x, piece.offsets, options[begin:end], out, scores)
            return self.labels.decode(out, piece.offsets), scores

        parts = list(map_chunks(work, corpus.offsets, n_jobs))
        if len(parts) == 1:
            return parts[0]
        labellings, scores = zip(*parts)
        return [labelling for part in labellings for labelling in part], np.concatenate(scores)

    def encode_one(self, tokens):
        """One sequence for small kernels (``chain_arguments.rows_of``): the short road of the ordinary call.

        None where the long one is to be taken: for other tokens, or a model that small kernels do not serve.
        """
        rows = None if self.ready.final is None else self.encoder.encode_one(tokens)
        if rows is not None and rows[-1].shape[0] and not _are_small(rows[-1], LARGEST):
            return None  # the long road says where
        return rows

    def label_one(self, tokens):
        """The best labelling of one sequence, as :meth:`predict` has it; None where the long road decides."""
        rows = self.encode_one(tokens)
        if rows is None:
            return None
        out, scores = np.empty(len(tokens), np.int32), np.empty(1)
        predict_small(*for_predict_small(rows, NO_OPTION, self.ready.final), out, scores)
        return None if scores[0] == -np.inf else self.ready.labels.take(out).tolist()

    def best_ids(self, task):
        """The best labellings of a corpus that is encoded already, as ids, (N,) int32."""
        out = np.empty(int(task.token[-1]), np.int32)
        self._label(task, task.token, task.option, out, np.empty(task.token.shape[0] - 1))
        return out

    def _label(self, x, token, option, out, scores):
        """Write the best labellings of an encoded corpus, or a task, as ids, and their scores."""
        ready = self.ready
        if ready.final is not None and are_rows_of_nodes(x):
            predict_small(*for_predict_small(rows_of(x, token), option, ready.final), out, scores)
            return
        task = x if isinstance(x, ChainTask) else new_task(x, token, option=option)
        predict(*prediction_arguments(task, ready.chain), out, scores)

    def predict_kbest(self, corpus, k, options=None, n_jobs=None):
        """The k best labellings of each sequence, as lists of (labels, score), best first."""
        self.encoder.check(corpus)
        options = NO_OPTION if options is None else options

        def work(bounds):
            first, last, begin, end = bounds
            task = task_of(self.encoder, corpus.piece(first, last), option=options[begin:end])
            return self._ranked(prediction_arguments(task, self.ready.chain), task.token, k)

        with no_collection():
            parts = map_chunks(work, corpus.offsets, n_jobs, max(1, PIECE_TOKENS // k))
        return [ranked for part in parts for ranked in part]

    def kbest_of_one(self, tokens, k):
        """Those of one sequence, in a list; None where the long road decides."""
        rows = self.encode_one(tokens)
        if rows is None:
            return None
        return self._ranked(for_prediction(rows, NO_GOLD, NO_OPTION, self.ready.final), rows[0], k)

    def _ranked(self, arguments, token, k):
        """The labellings of sequences that start at ``token``; ``arguments`` are those of kernels."""
        n, N = token.shape[0] - 1, int(token[-1])
        out, score, found = np.empty(k * N, np.int32), np.empty(k * n), np.empty(n, np.int64)
        predict_kbest(*arguments, k, new_lists(token, len(self.labels), self.order, k), out, score, found)
        score, found, token, result = score.tolist(), found.tolist(), token.tolist(), []
        for i in range(n):
            T, at = token[i + 1] - token[i], k * token[i]
            if T and not found[i]:
                raise PlaceError(i, None, "the constraints and the labels allowed leave no labelling")
            labellings = (
                self.ready.labels[out[at : at + found[i] * T].reshape(found[i], T)].tolist() if T else [[]]
            )
            result.append(list(zip(labellings, score[k * i : k * i + found[i]] if T else [0.0])))
        return result


class Ready(NamedTuple):
    """What prediction needs and does not change from call to call."""

    chain: NamedTuple  # the arrays that kernels decode under
    final: FinalChain | None  # the same for small kernels, with full rows
    labels: np.ndarray  # (L,) object: the labels by id


def new_chain(encoder, stores, clock, constraints, cost):
    """The arrays that kernels decode under; ``stores`` by name, with trigrams or without."""
    start, allowed, end = constraints
    return Chain(
        **stores, clock=clock, bigram=encoder.has_bigram, start=start, allowed=allowed, end=end, cost=cost
    )
