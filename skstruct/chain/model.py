"""A chain model without scikit-learn around it: encoder, labels, constraints, weights, prediction.

Place on the ladder: rung 7, the part that all taggers share, however they were trained.
"""

import os
from dataclasses import dataclass, replace

import numpy as np

from ..core.averaging import Average
from ..core.noise import QUIET
from ..core.store import READ_ONLY, Store, new_clock
from ..data.inputs import LABELS, Inputs, PlaceError, describe, flatten, lengths_of, offsets_of
from ..data.labels import UNLABELLED, Labels
from ..data.schemes import allowed_transitions
from ..features.bags import BagEncoder
from ..features.encoder import TemplateEncoder
from ..features.presets import PRESETS, columns_preset
from ..features.templates import FeatureTemplates
from ..training.chunks import PIECE_TOKENS, lend, map_chunks, no_collection
from . import bigram as chain
from . import kbest as chain_kbest
from . import trigram
from .bigram import Chain, ChainTask
from .features import Bag, Grid, no_bag

STRUCTURES = {1: chain, 2: trigram}
"""The structure modules by order."""


# --------------------------------------------------------------------------------------------------
# Features
# --------------------------------------------------------------------------------------------------
def resolve_templates(features, first, flat):
    """The :class:`FeatureTemplates` that a ``features`` parameter means for these tokens.

    Parameters
    ----------
    features : "auto", name of a preset, path of a template file, list of str or FeatureTemplates
    first : str or tuple
        The first token.
    flat : list
        All tokens.
    """
    if isinstance(features, FeatureTemplates):
        return features
    if isinstance(features, (list, tuple)):
        return FeatureTemplates(features)
    name = os.fspath(features)
    if name == "auto":
        if isinstance(first, tuple):
            return FeatureTemplates(columns_preset(len(first)))
        single = sum(1 for token in flat[:10_000] if isinstance(token, str) and len(token) == 1)
        return FeatureTemplates.preset("char" if 2 * single > len(flat[:10_000]) else "word")
    if name in PRESETS:
        return FeatureTemplates.preset(name)
    if os.path.isfile(name):
        return FeatureTemplates.from_file(name)
    raise ValueError(
        f"features={name!r} is neither a preset ({', '.join(sorted(PRESETS))}) nor a template file"
    )


def new_encoder(features, min_count, flat):
    """The encoder that suits the first token of a corpus.

    Raises
    ------
    ValueError
        If the first token is of no known kind, or templates were asked for ready-made features.
    """
    first = flat[0]
    if isinstance(first, (dict, list)):
        if not (isinstance(features, str) and features == "auto"):
            raise ValueError(
                f"features must be 'auto' when tokens are bags of features, got {describe(features)} "
                f"and the first token {describe(first)}"
            )
        return BagEncoder(min_count)
    if isinstance(first, (str, tuple)):
        return TemplateEncoder(resolve_templates(features, first, flat), min_count)
    raise ValueError(
        "X: sequence 0, position 0: a token must be a str, a tuple of str, a dict of features or a "
        f"list of str, got {describe(first)}"
    )


def check_same_features(encoder, features, min_count):
    """Raise if parameters ask for other features than those a model was trained with."""
    if min_count != encoder.min_count:
        raise ValueError(
            f"min_count={min_count} differs from that of the training so far, {encoder.min_count}; "
            f"a fit that continues cannot change it"
        )
    if isinstance(features, (str, os.PathLike)):
        name = os.fspath(features)
        if name == "auto" or not (name in PRESETS or os.path.isfile(name)):
            return  # a template file is read once; it may have gone since
    if isinstance(encoder, BagEncoder) or resolve_templates(features, "", []) != encoder.templates:
        raise ValueError(
            f"features={describe(features)} differ from those of the training so far; a fit that "
            f"continues cannot change them"
        )


def _grid(side, rows):
    atom, offset, source = [0], [], []
    for group in side.groups:
        for function, distance, column in side.sources[group.compound]:
            if function != "const":  # a bias reads no input that could be masked
                offset.append(distance)
                source.append(column)
        atom.append(len(offset))

    def int32(values):
        return np.array(values, np.int32)

    return Grid(
        rows,
        int32([g.lo for g in side.groups]),
        int32([g.width for g in side.groups]),
        int32(atom),
        int32(offset),
        int32(source),
    )


def make_task(encoder, flat, token, gold=None, weight=None, grow=False, option=None, like=None):
    """Encode a flat corpus into the arrays that kernels read; see :class:`ChainTask`.

    ``like`` is the token that all must resemble, if that is not the first of ``flat``.
    """
    n = token.shape[0] - 1
    none = np.zeros(0, np.uint8)
    if gold is None:
        gold = np.full(len(flat), UNLABELLED, np.int32)
    common = {
        "token": token,
        "gold": gold,
        "weight": np.ones(n) if weight is None else weight,
        "option": np.zeros((0, 0), np.bool_) if option is None else option,
    }
    if isinstance(encoder, BagEncoder):
        empty = np.zeros((0, int(token[-1])), np.int32)
        nothing = np.zeros(0, np.int32)
        grid = Grid(empty, nothing, nothing, np.zeros(1, np.int32), nothing, nothing)
        bag = Bag(*encoder.encode(flat, token, grow, like)) if flat else no_bag()
        return ChainTask(
            anchor=token, left=0, n_columns=1, nodes=grid, edges=grid, bag=bag,
            node_alive=none, edge_alive=none, **common,
        )  # fmt: skip
    anchor, node_rows, edge_rows = encoder.encode(flat, token, grow, like)
    cut = encoder.min_count > 1
    return ChainTask(
        anchor=anchor,
        left=encoder.plan.left,
        n_columns=encoder.plan.n_columns,
        nodes=_grid(encoder.nodes, node_rows),
        edges=_grid(encoder.edges, edge_rows),
        bag=no_bag(),
        node_alive=encoder.nodes.alive if cut else none,
        edge_alive=encoder.edges.alive if cut else none,
        **common,
    )


def n_edge_combinations(encoder):
    """Combinations that own a matrix of transition weights; the label bigram is the first."""
    return 1 if isinstance(encoder, BagEncoder) else encoder.edges.n_rows


def n_node_rows(encoder):
    """Weight rows of node features."""
    return encoder.n_rows if isinstance(encoder, BagEncoder) else encoder.nodes.n_rows


def has_bigram(encoder):
    """Whether the label bigram is a feature."""
    return True if isinstance(encoder, BagEncoder) else encoder.plan.bigram


# --------------------------------------------------------------------------------------------------
# Constraints
# --------------------------------------------------------------------------------------------------
def constraint_arrays(constraints, labels):
    """``start`` (L,), ``allowed`` (L, L) and ``end`` (L,): 0 where allowed, -inf where not.

    Parameters
    ----------
    constraints : None, name of a label scheme, or iterable of pairs
        Pairs are (previous, next) labels that may follow each other; ``(None, y)`` lets a sequence
        start with y, ``(y, None)`` lets it end with y. Without any such pair every label may.
    labels : Labels
    """
    L = len(labels)
    start = np.ones(L, np.bool_)
    allowed = np.ones((L, L), np.bool_)
    end = np.ones(L, np.bool_)
    if isinstance(constraints, str):
        odd = [v for v in labels.values if not isinstance(v, str)]
        if odd:
            raise ValueError(f"constraints={constraints!r} needs labels that are str, got {describe(odd[0])}")
        start, allowed, end = allowed_transitions(labels.values, constraints)
    elif constraints is not None:
        pairs = list(constraints)
        for pair in pairs:
            if not _is_pair(pair):
                raise ValueError(
                    f"constraints must hold pairs (previous label, next label), got {describe(pair)}"
                )
        allowed[:] = False
        if any(p is None for p, _ in pairs):
            start[:] = False
        if any(q is None for _, q in pairs):
            end[:] = False
        ids = labels.ids  # a pair may name a label that this corpus lacks
        for p, q in pairs:
            if p is None:
                if q in ids:
                    start[ids[q]] = True
            elif q is None:
                if p in ids:
                    end[ids[p]] = True
            elif p in ids and q in ids:
                allowed[ids[p], ids[q]] = True
    return tuple(np.where(ok, 0.0, -np.inf) for ok in (start, allowed, end))


def _is_pair(pair):
    if not (isinstance(pair, tuple) and len(pair) == 2) or pair == (None, None):
        return False
    try:
        hash(pair)
    except TypeError:
        return False
    return True


def check_gold(gold, token, labels, constraints):
    """Raise if a gold sequence breaks the constraints; the message names the place."""
    start, allowed, end = (part == 0.0 for part in constraints)
    if start.all() and allowed.all() and end.all():
        return
    first = np.zeros(gold.shape[0], np.bool_)
    last = np.zeros(gold.shape[0], np.bool_)
    filled = np.diff(token) > 0
    first[token[:-1][filled]] = True
    last[token[1:][filled] - 1] = True
    known = gold >= 0
    wrong = known & ((first & ~start[gold]) | (last & ~end[gold]))
    pair = known[1:] & known[:-1] & ~first[1:]
    wrong[1:] |= pair & ~allowed[gold[:-1], gold[1:]]
    if wrong.any():
        k = int(wrong.argmax())
        i = int(np.searchsorted(token, k, side="right")) - 1
        label = labels.values[gold[k]]
        if first[k] and not start[gold[k]]:
            what = f"{label!r} cannot start a sequence"
        elif last[k] and not end[gold[k]]:
            what = f"{label!r} cannot end a sequence"
        else:
            what = f"{label!r} cannot follow {labels.values[gold[k - 1]]!r}"
        raise PlaceError(i, k - int(token[i]), f"the label {what} under the constraints", "y")
    for i in np.unique(np.searchsorted(token, np.flatnonzero(~known), side="right") - 1):
        reached = start
        for t, g in enumerate(gold[token[i] : token[i + 1]]):
            if t:
                reached = (reached[:, None] & allowed).any(axis=0)
            if g >= 0:
                reached = reached & (np.arange(len(labels)) == g)
        if not (reached & end).any():
            raise PlaceError(
                i, None, "under the constraints there is no labelling with the labels given", "y"
            )


# --------------------------------------------------------------------------------------------------
# The model
# --------------------------------------------------------------------------------------------------


@dataclass
class ChainModel:
    """What prediction needs.

    Attributes
    ----------
    encoder : TemplateEncoder or BagEncoder
    labels : Labels
    nodes, edges : Store
        Final weights; no bookkeeping of the training.
    constraints : tuple of (start, allowed, end)
    trigrams : Store or None
        Of a model of order 2.
    """

    encoder: object
    labels: Labels
    nodes: Store
    edges: Store
    constraints: tuple
    trigrams: Store | None = None

    @classmethod
    def average(cls, models, nonzero):
        """The average of models over the same features, taken one at a time; see ``core.averaging``."""
        first = None
        for model in models:
            if first is None:
                sums = {name: Average(nonzero) for name in model.structure.STORES}
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
    def structure(self):
        """The structure module that decodes it."""
        return STRUCTURES[self.order]

    def chain(self):
        """The arrays that kernels decode under."""
        stores = {name: getattr(self, name) for name in self.structure.STORES}
        cost = np.zeros(len(self.labels))
        return lend(new_chain(self.encoder, stores, new_clock(), self.constraints, cost))

    @property
    def inputs(self):
        """See :class:`..data.inputs.Inputs`."""
        if isinstance(self.encoder, BagEncoder):
            return Inputs(LABELS, dict, 0)
        return Inputs(LABELS, self.encoder.kind, self.encoder.plan.n_columns)

    def adapted(self, sequences):
        """This model with the accessor varieties of raw sequences; with None those of training."""
        if isinstance(self.encoder, BagEncoder):
            raise ValueError("there is nothing to adapt: ready-made features have no accessor variety")
        if sequences is None:
            return replace(self, encoder=self.encoder.adapted(None, None))
        token = offsets_of(lengths_of(sequences))
        if not token[-1]:
            raise ValueError("X holds no token: at least one sequence with at least one token is needed")
        return replace(self, encoder=self.encoder.adapted(flatten(sequences), token))

    def encode(self, sequences, option=None, like=None):
        """(task, offsets) of raw sequences; of a piece of a corpus, whose first token is ``like``."""
        token = offsets_of(lengths_of(sequences))
        return make_task(self.encoder, flatten(sequences), token, option=option, like=like), token

    def predict(self, sequences, options=None, n_jobs=None):
        """Best labellings of raw sequences.

        Parameters
        ----------
        sequences : list of sequences of tokens
        options : ndarray of shape (N, L), bool, optional
            Labels allowed for each token.
        n_jobs : int, optional
            Threads.

        Returns
        -------
        labellings : list of lists of labels
        scores : ndarray of shape (n,)
        """
        chain, structure, like = self.chain(), self.structure, first_token(sequences)

        def work(bounds):
            first, last, begin, end = bounds
            option = None if options is None else options[begin:end]
            task, token = self.encode(sequences[first:last], option, like)
            out = np.empty(int(token[-1]), np.int32)
            scores = np.empty(last - first)
            scratch = structure.new_work(task, len(self.labels), training=False)
            structure.predict(task, 0, last - first, chain, READ_ONLY, QUIET, scratch, out, scores)
            return self.labels.decode(out, token), scores

        parts = list(map_chunks(work, sequences, n_jobs))
        if len(parts) == 1:
            return parts[0]
        return (
            [labelling for part in parts for labelling in part[0]],
            np.concatenate([part[1] for part in parts]),
        )

    def predict_kbest(self, sequences, k, options=None, n_jobs=None):
        """The k best labellings of each sequence, as lists of (labels, score), best first."""
        chain, structure, L = self.chain(), self.structure, len(self.labels)
        second = self.order == 2
        kernel = chain_kbest.predict_kbest_trigram if second else chain_kbest.predict_kbest
        values = np.empty(L, dtype=object)
        values[:] = self.labels.values
        like = first_token(sequences)

        def work(bounds):
            first, last, begin, end = bounds
            option = None if options is None else options[begin:end]
            task, token = self.encode(sequences[first:last], option, like)
            n, longest = last - first, int(np.diff(token).max(initial=1))
            out, score = np.empty(k * int(token[-1]), np.int32), np.empty(k * n)
            found = np.empty(n, np.int64)
            scratch = structure.new_work(task, L, training=False)
            lists = chain_kbest.new_lists(longest, L, L * L if second else L, k)
            kernel(task, 0, n, k, chain, READ_ONLY, QUIET, scratch, lists, out, score, found)
            stuck = np.flatnonzero((found == 0) & (np.diff(token) > 0))
            if stuck.size:
                raise PlaceError(stuck[0], None, "the constraints and the labels allowed leave no labelling")
            score, found, token = score.tolist(), found.tolist(), token.tolist()
            result = []
            for i in range(n):
                T, at = token[i + 1] - token[i], k * token[i]
                if not T:
                    result.append([([], 0.0)])
                    continue
                labellings = values[out[at : at + found[i] * T].reshape(found[i], T)].tolist()
                result.append(list(zip(labellings, score[k * i : k * i + found[i]])))
            return result

        with no_collection():
            parts = map_chunks(work, sequences, n_jobs, max(1, PIECE_TOKENS // k))
        return [ranked for part in parts for ranked in part]


def first_token(sequences):
    """The first token of a corpus; None if it has none."""
    return next((sequence[0] for sequence in sequences if len(sequence)), None)


def new_chain(encoder, stores, clock, constraints, cost):
    """The arrays that kernels decode under; ``stores`` by name, with trigrams or without."""
    start, allowed, end = constraints
    kind = trigram.TrigramChain if "trigrams" in stores else Chain
    return kind(
        **stores, clock=clock, bigram=has_bigram(encoder), start=start, allowed=allowed, end=end, cost=cost
    )
