"""A chain model without scikit-learn around it: encoder, labels, constraints, weights,
prediction.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._core.final_weights import (
    Average,
    count_weights,
    pruned,
    rows_with_weights,
    with_rows,
)
from .._core.store import Store, new_clock
from .._data.inputs import LABELS, Inputs, PlaceError, check_some, place
from .._data.labels import UNLABELLED, Gold, Labels
from .._saving.container import require
from .._saving.stores import full
from .._training.chunks import (
    PIECE_TOKENS,
    as_writeable_view,
    map_chunks,
    no_collection,
)
from .._training.saved import NamedWeights, SavableModel
from ..features.encoded import EncodedCorpus, bag_of
from .bigram import STORES, Chain, ChainTask
from .chain_arguments import (
    FinalChain,
    final_chain,
    for_predict_small,
    for_prediction,
    has_full_rows,
    has_only_sparse_nodes,
    prediction_arguments,
    rows_of,
)
from .chain_epoch import predict, predict_small
from .chain_fields import SHOWN, TAGGER, TRAINED
from .chain_kbest import new_lists, predict_kbest

if TYPE_CHECKING:
    from .._core.store import Clock
    from .._data.corpus import TokenCorpus
    from .._data.types import Ranked
    from .._saving.fields import Members
    from .._training.chunks import Bounds
    from ..features.base import Encoder
    from ..features.encoded import Encoded
    from .bigram import Constraints
    from .chain_arguments import EncodedRows

LARGEST = 1e100
"""Values of features above this have squares, and products with weights, that are no
numbers.
"""
NO_OPTION = np.zeros((0, 0), np.bool_)
NO_GOLD = np.zeros(0, np.int32)
"""Gold labels of a task where all labels are allowed, and none is given."""


def make_task(
    encoder: Encoder, corpus: TokenCorpus, *given: Any, **options: Any
) -> ChainTask:
    """Check a corpus, and encode it into a task; for parameters see :func:`task_of`."""
    encoder.check(corpus)
    return task_of(encoder, corpus, *given, **options)


def with_gold(task: ChainTask, gold: Gold) -> ChainTask:
    """Return a task with other labels, a ``_data.labels.Gold``."""
    return task._replace(gold=gold.ids, sets=gold.sets)


def renumbered_labels(task: ChainTask, new: np.ndarray, n_labels: int) -> ChainTask:
    """Return a task whose label y has become ``new[y]``, of ``n_labels`` labels; see
    ``_data.labels.Gold.under``.
    """
    return with_gold(task, Gold(task.gold, task.sets).under(new, n_labels))


def task_of(
    encoder: Encoder,
    corpus: TokenCorpus,
    gold: Gold | None = None,
    weight: np.ndarray | None = None,
    grow: bool = False,
    option: np.ndarray = NO_OPTION,
    rows_as_features: bool = False,
) -> ChainTask:
    """Encode a corpus, or a piece of one, that passed the check into what kernels read.

    Parameters
    ----------
    encoder : Encoder
    corpus : TokenCorpus
    gold : Gold, optional
        Labels; by default none is given.
    weight : ndarray of shape (n,), optional
        Of sequences; by default 1.
    grow : bool
        Whether it is to train on, with features that may be new.
    option : ndarray of shape (N, L), bool
        Labels allowed for each token; empty if all are.
    rows_as_features : bool
        Make features, one by one, of dense rows of numbers beside other features.

    Returns
    -------
    ChainTask
    """
    encoded = encoded_corpus(encoder, corpus, grow)
    if rows_as_features and encoded.dense:
        if encoded.bag.start.shape[0] > 1 or encoded.nodes.row.shape[0] > 0:
            encoded = encoded._replace(bag=bag_of(encoded, corpus.offsets))
    return new_task(encoded, corpus.offsets, gold, weight, option)


def new_task(
    encoded: Encoded,
    token: np.ndarray,
    gold: Gold | None = None,
    weight: np.ndarray | None = None,
    option: np.ndarray = NO_OPTION,
) -> ChainTask:
    """Make the task of an encoded corpus whose sequences start at ``token``; see
    :func:`task_of`.
    """
    if encoded.dense:
        dense = encoded.dense._replace(block=as_writeable_view(encoded.dense.block))
        encoded = encoded._replace(dense=dense)
    if not encoded.edge_alive.flags.writeable:  # those of a model that was loaded
        alive = encoded.node_alive, encoded.edge_alive
        node_alive, edge_alive = as_writeable_view(alive)
        encoded = encoded._replace(node_alive=node_alive, edge_alive=edge_alive)
    n = int(token[-1])
    gold = Gold(np.full(n, UNLABELLED, np.int32), ()) if gold is None else gold
    weight = np.ones(len(token) - 1) if weight is None else weight
    _check_sizes(
        gold=len(gold.ids) == n,
        weight=len(weight) == len(token) - 1,
        option=len(option) in (0, n),
    )
    return ChainTask(
        **encoded._asdict(),
        token=token,
        gold=gold.ids,
        weight=weight,
        option=option,
        sets=gold.sets,
    )


def _check_values(encoded: Encoded, token: np.ndarray, scale: float) -> None:
    """Raise if a value is too large to be squared; ``scale``: what those of sparse rows
    are multiplied by.
    """
    block = encoded.dense.block if encoded.dense else np.zeros((0, 1))
    for values, factor in (block, 1.0), (encoded.bag.value, scale):
        if _are_small(values, LARGEST * min(factor, 1.0)):
            continue
        k = int(np.abs(values).argmax())
        at = k // block.shape[1]
        if values is encoded.bag.value:
            at = int(np.searchsorted(encoded.bag.start, k, side="right")) - 1
        i, t = place(token, at)
        value = values.flat[k] / factor
        what = f"values of features must be at most {LARGEST:g} in size, got {value:g}"
        raise PlaceError(i, t, what, "X")


def _are_small(values: np.ndarray, most: float) -> bool:
    """Tell whether no value is above ``most`` in size."""
    if values.dtype == np.float32 and most >= float(np.finfo(np.float32).max):
        return True
    if values.flags.c_contiguous:  # one pass, where both ends of the range take two
        flat = values.ravel()
        with np.errstate(over="ignore"):
            if flat.dot(flat) <= most * most:
                return True
    return max(float(values.max(initial=0.0)), -float(values.min(initial=0.0))) <= most


def encoded_corpus(
    encoder: Encoder, corpus: TokenCorpus, grow: bool = False
) -> Encoded:
    """Encode a corpus that passed the check, and prove that all arrays have its size.

    Kernels check nothing: this, with :func:`task_of`, is the only place between users
    and them, but for the short road of one sequence, whose encoders prove it.
    """
    n = int(corpus.offsets[-1])
    x = corpus.encoded_by(encoder, grow)
    if x is not None:
        return x
    with no_collection():
        x = encoder.encode(corpus, grow)
    places = int(x.anchor[-1])
    bag = x.bag
    _check_sizes(
        anchor=len(x.anchor) == len(corpus.offsets) and places >= n,
        grids=x.nodes.row.shape[1] == x.edges.row.shape[1] == places,
        bag=len(bag.start) in (1, n + 1) and int(bag.start[-1]) <= len(bag.row),
        values=len(bag.value) in (0, len(bag.row)),
        dense=not x.dense or len(x.dense.block) == n,
    )
    _check_values(x, corpus.offsets, getattr(encoder, "scale", 1.0))
    corpus.keep_encoded(encoder, x)
    return x


def _check_sizes(**right: bool) -> None:
    """Raise if one of the parts of a corpus, by name, has not the right size."""
    for name, is_right in right.items():
        if not is_right:
            raise AssertionError(
                f"the encoded corpus is inconsistent: {name} of another number of "
                f"tokens"
            )


@dataclass
class ChainModel(SavableModel):
    """A fitted chain model, as prediction needs it.

    Attributes
    ----------
    encoder : Encoder
    labels : Labels
    nodes, edges : Store
        Final weights; no bookkeeping of the training.
    constraints : tuple of (start, allowed, end)
    trigrams : Store or None
        Of a model of order 2.
    scale : float
        What all scores are multiplied by: 1 / temperature.
    """

    encoder: Encoder
    labels: Labels
    nodes: Store
    edges: Store
    constraints: Constraints
    trigrams: Store | None = None
    scale: float = 1.0

    FIELDS = TAGGER
    TRAINED = TRAINED
    FACTS = ("closed", "stream")
    MORE = (SHOWN,)

    def compressed(self, dtype: str, keep: float) -> ChainModel:
        """Return a model without small weights, and without the features that have none
        left; see :meth:`.Savable.compress`.
        """
        names, stores = zip(*self.stores().items())
        L = len(self.labels)
        stores = dict(zip(names, pruned(list(stores), dtype, keep)))
        used: tuple[Any, Any] = (
            rows_with_weights(stores["nodes"]),
            rows_with_weights(stores["edges"]).reshape(-1, L).any(axis=1),
        )
        encoder, nodes, edges = self.encoder.keep_rows(*used)
        stores["nodes"] = with_rows(stores["nodes"], nodes)
        stores["edges"] = with_rows(
            stores["edges"], (edges[:, None] * L + np.arange(L)).ravel()
        )
        return replace(self, encoder=encoder, packed=dtype, **stores)

    def in_training(self, f: Members) -> Chain:
        """Return the chain in training that a file holds, or one made of this model."""
        found = f["trained"] or {
            name: full(store) for name, store in self.stores().items()
        }
        stores = {name: found[name] for name in STORES if found.get(name) is not None}
        require(
            stores.keys() == self.stores().keys(),
            "trigrams of the training, and of the model",
        )
        return new_chain(
            self.encoder, stores, f["clock"], self.constraints, np.zeros(0)
        )

    @classmethod
    def average(cls, models: Iterable[ChainModel], nonzero: bool) -> ChainModel:
        """Average models over the same features, taken one at a time.

        ``nonzero``: see :class:`skstruct._core.final_weights.Average`.
        """
        first: ChainModel | None = None
        for model in models:
            if first is None:
                sums = {name: Average(nonzero) for name in model.stores()}
                nothing: dict[str, Any] = dict.fromkeys(sums)
                first = replace(model, **nothing)
            for name, total in sums.items():
                total.add(getattr(model, name))
            del model  # the next one is trained when it is asked for
        assert first is not None, "there is nothing to average"
        means: dict[str, Any] = {name: total.store() for name, total in sums.items()}
        return replace(first, **means)

    @property
    def order(self) -> int:
        """Labels of history that transitions look at: 1 or 2."""
        return 1 if self.trigrams is None else 2

    @property
    def lines(self) -> tuple[str, ...] | None:
        """The templates of features; None if features are ready-made."""
        templates = getattr(self.encoder, "templates", None)
        return None if templates is None else templates.lines

    def words_of_training(self) -> frozenset[str] | None:
        """Return the words seen in training; None if the encoder does not remember
        them, as only one of templates does.
        """
        alphabets = getattr(self.encoder, "alphabets", None)
        return frozenset(alphabets[0]) or None if alphabets else None

    def stores(self) -> dict[str, Store]:
        """Return the stores by name; ``trigrams`` only in the second order."""
        stores = {name: getattr(self, name) for name in STORES}
        return {name: store for name, store in stores.items() if store is not None}

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "ready"}

    @cached_property
    def ready(self) -> Ready:
        """Return what prediction needs and does not change from call to call; made
        once, and part of no copy.
        """
        chain = self.new_chain()
        return Ready(
            chain,
            final_chain(chain) if has_full_rows(chain) else None,
            self.labels.array,
        )

    def new_chain(self) -> Chain:
        """Return the arrays that kernels decode under, as views that they accept."""
        clock = new_clock()
        cost = np.zeros(len(self.labels))
        clock.scale[0] = self.scale
        return as_writeable_view(
            new_chain(self.encoder, self.stores(), clock, self.constraints, cost)
        )

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.encoder.n_features

    def sizes(self) -> tuple[int, int, int, int]:
        """Count labels, features, and the weights of states and of transitions that are
        not zero.
        """
        more = [self.edges] if self.trigrams is None else [self.edges, self.trigrams]
        return (
            len(self.labels),
            self.n_features,
            count_weights(self.nodes),
            sum(map(count_weights, more)),
        )

    @property
    def inputs(self) -> Inputs:
        """Return what the model reads, and that it predicts labels."""
        token: Any = self.encoder.token_type  # known once there is a model
        return Inputs(LABELS, token, self.encoder.n_columns)

    def adapted(self, sequences: TokenCorpus | None) -> ChainModel:
        """Return this model with the accessor varieties of other sequences; with None
        those of training.
        """
        if sequences is None:
            return replace(self, encoder=self.encoder.adapted(None))
        check_some(sequences.offsets[-1])
        self.encoder.check(sequences)
        return replace(self, encoder=self.encoder.adapted(sequences))

    def encode(self, corpus: TokenCorpus) -> ChainTask:
        """Check and encode a corpus into a task without labels."""
        return make_task(self.encoder, corpus)

    def encoded(self, corpus: TokenCorpus) -> EncodedCorpus:
        """Check and encode a corpus, and return one that keeps the result: the verbs of
        this model need not encode it again.
        """
        self.encoder.check(corpus)
        encoded = encoded_corpus(self.encoder, corpus)
        return EncodedCorpus(corpus, self.encoder, encoded)

    def named_weights(self) -> list[NamedWeights]:
        """Return the weights of state features with their names."""

        def names(rows: np.ndarray) -> list[Any]:
            known = self.encoder.row_names(set(rows.tolist()))
            return [known[row] for row in rows.tolist()]

        return [NamedWeights(self.nodes, self.labels.values, names)]

    def predict(
        self,
        corpus: TokenCorpus,
        options: np.ndarray | None = None,
        n_jobs: int | None = None,
    ) -> tuple[list[list[Any]], np.ndarray]:
        """Find the best labelling of each sequence.

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

        def label_piece(bounds: Bounds) -> tuple[list[list[Any]], np.ndarray]:
            first, last, begin, end = bounds
            piece = corpus.piece(first, last)
            out = np.empty(end - begin, np.intp)
            scores = np.empty(last - first)
            x = encoded_corpus(self.encoder, piece)
            self._label(x, piece.offsets, options[begin:end], out, scores)
            return self.labels.decode(out, piece.offsets), scores

        parts = list(map_chunks(label_piece, corpus.offsets, n_jobs))
        if len(parts) == 1:
            return parts[0]
        labellings, scores = zip(*parts)
        return [labelling for part in labellings for labelling in part], np.concatenate(
            scores
        )

    def encode_one(self, tokens: Sequence[Any]) -> EncodedRows | None:
        """Encode one sequence for small kernels: the short road of the ordinary call.

        Returns what :func:`.chain_arguments.rows_of` does; None where the long road is
        to be taken: for other tokens, or a model that small kernels do not serve.
        """
        rows = None if self.ready.final is None else self.encoder.encode_one(tokens)
        if rows is not None and rows[-1].size and not _are_small(rows[-1], LARGEST):
            return None  # the long road says where
        return rows

    def label_one(self, tokens: Sequence[Any]) -> list[Any] | None:
        """Find the best labelling of one sequence by small kernels; None where only
        :meth:`predict` serves.
        """
        rows = self.encode_one(tokens)
        return None if rows is None else self.label_rows(rows)

    def label_rows(self, rows: EncodedRows) -> list[Any] | None:
        """Find the best labelling of one sequence, as :meth:`encode_one` or
        :meth:`plain_rows` has it; None where only :meth:`predict` serves.
        """
        ready = self.ready
        assert ready.final is not None, "there are rows, so small kernels serve"
        _, _, _, weights, cells = ready.final
        n = rows[0].item(1)
        out = np.empty(n, np.intp)
        score = np.empty(1)
        predict_small(*rows, (), *weights, np.empty(n * cells), out, score)
        return None if score.item() == -inf else ready.labels[out].tolist()

    def plain_rows(self, tokens: Sequence[Any]) -> EncodedRows | None:
        """Encode one sequence whose tokens hold nothing that a caller could change, as
        :meth:`encode_one` does; else None.
        """
        return None if self.ready.final is None else self.encoder.plain_rows(tokens)

    def best_ids(self, task: ChainTask) -> np.ndarray:
        """Find the best labellings of a task, as ids, (N,) int64."""
        out = np.empty(int(task.token[-1]), np.intp)
        self._label(
            task, task.token, task.option, out, np.empty(task.token.shape[0] - 1)
        )
        return out

    def _label(
        self,
        x: Encoded | ChainTask,
        token: np.ndarray,
        option: np.ndarray,
        out: np.ndarray,
        scores: np.ndarray,
    ) -> None:
        """Write the best labellings of an encoded corpus, or a task, as ids, and their
        scores.
        """
        ready = self.ready
        if ready.final is not None and has_only_sparse_nodes(x):
            predict_small(
                *for_predict_small(rows_of(x, token), option, ready.final), out, scores
            )
            return
        task = x if isinstance(x, ChainTask) else new_task(x, token, option=option)
        predict(*prediction_arguments(task, ready.chain), out, scores)

    def predict_kbest(
        self,
        corpus: TokenCorpus,
        k: int,
        options: np.ndarray | None = None,
        n_jobs: int | None = None,
    ) -> Ranked:
        """Find the k best labellings of each sequence, as lists of (labels, score),
        best first.

        ``options`` and ``n_jobs`` are those of :meth:`predict`.
        """
        self.encoder.check(corpus)
        options = NO_OPTION if options is None else options

        def rank_piece(bounds: Bounds) -> Ranked:
            first, last, begin, end = bounds
            task = task_of(
                self.encoder, corpus.piece(first, last), option=options[begin:end]
            )
            return self._ranked(
                prediction_arguments(task, self.ready.chain), task.token, k
            )

        with no_collection():
            parts = map_chunks(
                rank_piece, corpus.offsets, n_jobs, max(1, PIECE_TOKENS // k)
            )
        return [ranked for part in parts for ranked in part]

    def kbest_of_one(self, tokens: Sequence[Any], k: int) -> Ranked | None:
        """Find the k best labellings of one sequence by small kernels, in a list of
        one; None where only :meth:`predict_kbest` serves.
        """
        rows = self.encode_one(tokens)
        final = self.ready.final
        if rows is None or final is None:
            return None
        arguments = for_prediction(rows, NO_GOLD, NO_OPTION, final)
        return self._ranked(arguments, rows[0], k)

    def _ranked(self, arguments: tuple[Any, ...], token: np.ndarray, k: int) -> Ranked:
        """Find the k best labellings of sequences that start at ``token``;
        ``arguments`` are what kernels take first.
        """
        n = token.shape[0] - 1
        N = int(token[-1])
        out = np.empty(k * N, np.int32)
        score = np.empty(k * n)
        found = np.empty(n, np.int64)
        predict_kbest(
            *arguments,
            k,
            new_lists(token, len(self.labels), self.order, k),
            out,
            score,
            found,
        )
        score = score.tolist()
        found = found.tolist()
        token = token.tolist()
        result = []
        for i in range(n):
            T = token[i + 1] - token[i]
            at = k * token[i]
            if T and not found[i]:
                raise PlaceError(
                    i, None, "the constraints and the labels allowed leave no labelling"
                )
            labellings = (
                self.ready.labels[
                    out[at : at + found[i] * T].reshape(found[i], T)
                ].tolist()
                if T
                else [[]]
            )
            result.append(
                list(zip(labellings, score[k * i : k * i + found[i]] if T else [0.0]))
            )
        return result


class Ready(NamedTuple):
    """The part of a model that prediction needs and does not change from call to call."""

    chain: Chain  # the arrays that kernels decode under
    final: FinalChain | None  # what small kernels read, of full rows
    labels: np.ndarray  # (L,) object: the labels by id


def new_chain(
    encoder: Encoder,
    stores: dict[str, Store],
    clock: Clock,
    constraints: Constraints,
    cost: np.ndarray,
) -> Chain:
    """Make the arrays that kernels decode under.

    Parameters
    ----------
    encoder : Encoder
    stores : dict of str to Store
        By name; one of the first order has no ``trigrams``.
    clock : Clock
    constraints : (start, allowed, end)
    cost : ndarray of shape (L,)
        Of missing a token of each label, in training.
    """
    start, allowed, end = constraints
    return Chain(
        **stores,
        clock=clock,
        bigram=encoder.has_bigram,
        start=start,
        allowed=allowed,
        end=end,
        cost=cost,
    )
