"""Shards that were encoded apart, brought to one vocabulary.

Each shard's run says what it met (``vocabulary``). From that of all, ``united`` makes a run without examples, whose model is that of the whole, and for each shard a plan,
by which ``adopt`` translates the shard's run, once.
"""

from typing import NamedTuple

import numpy as np

from ..chain.constraints import constraint_arrays
from ..chain.costs import balanced_costs, class_costs
from ..chain.learner import ChainRun
from ..chain.model import make_task, new_chain
from ..chain.state import fresh_state, store_rows
from ..core.codes import UPDATES, WORD_TEMPLATES
from ..core.store import is_sparse, new_clock, new_store
from ..data.inputs import describe
from ..data.labels import UNLABELLED, Labels
from ..features.encoded import count_rows
from ..features.merging import merge_atoms, merge_encoders
from ..parser import model as parser_model
from ..parser.atoms import MOST_SMALL, SPECIAL
from ..parser.estimator import ParseRun
from ..parser.templates import template_lines
from ..training.run import TrainingState
from ..words import model as word_model
from ..words.estimator import WordRun


class Vocabulary(NamedTuple):
    """What a shard met."""

    encoder: object  # None if features carry their meaning in their keys
    labels: Labels | None
    counts: object  # RowMap of occurrences by row, or None
    label_counts: np.ndarray  # (L,) tokens by label


def _united_labels(vocabularies):
    """All labels, and by shard the new id of each; the last entry serves UNLABELLED."""
    first = type(vocabularies[0].labels.values[0])
    for s, vocabulary in enumerate(vocabularies):
        other = type(vocabulary.labels.values[0])
        if other is not first:
            raise ValueError(
                f"y: the labels of shard {s} are of type {other.__name__} (the first is "
                f"{describe(vocabulary.labels.values[0])}), those of shard 0 of type {first.__name__}"
            )
    labels = Labels({value for vocabulary in vocabularies for value in vocabulary.labels.values})
    maps = [
        np.array([labels.ids[value] for value in vocabulary.labels.values] + [UNLABELLED], np.int32)
        for vocabulary in vocabularies
    ]
    return labels, maps


class _Chain:
    """Taggers: features, labels, costs of labels."""

    @staticmethod
    def vocabulary(run, min_count):
        counts, gold = None, run.task.gold
        if min_count > 1:
            counts = count_rows(run.encoder, run.task)
        label_counts = np.bincount(gold[gold >= 0], minlength=len(run.labels))
        return Vocabulary(run.encoder, run.labels, counts, label_counts)

    @staticmethod
    def united(vocabularies, learner, key):
        rule = learner._rule()
        labels, label_maps = _united_labels(vocabularies)
        counts = [vocabulary.counts for vocabulary in vocabularies]
        encoder, row_maps = merge_encoders([v.encoder for v in vocabularies], counts, learner.min_count)
        constraints = constraint_arrays(learner.constraints, labels)
        if learner.class_weight == "balanced":
            total = np.zeros(len(labels), np.int64)
            for vocabulary, ids in zip(vocabularies, label_maps):
                total[ids[:-1]] += vocabulary.label_counts
            cost = balanced_costs(total, 1.0 if rule.hamming else 0.0)
        else:
            otherwise = 1.0 if rule.hamming else 0.0
            cost = class_costs(learner.class_weight, np.zeros(0, np.int32), labels, otherwise)
        task = make_task(encoder, [], np.zeros(1, np.int64))
        state = fresh_state(encoder, labels, rule, constraints, cost, key, learner.order)
        run = ChainRun(learner, state, task, encoder, labels, constraints, None)
        shared = {
            "labels": labels,
            "constraints": constraints,
            "cost": cost,
            "rows": store_rows(encoder, len(labels), learner.order),
            "alive": (task.node_alive, task.edge_alive),
        }
        plans = [{**shared, "ids": ids, "map": rows} for ids, rows in zip(label_maps, row_maps)]
        return run, plans

    @staticmethod
    def adopt(run, plan):
        labels, ids, rows, task = plan["labels"], plan["ids"], plan["map"], run.task

        def mapped(old, new):
            return np.append(new, np.int32(-1))[old]

        bag = task.bag
        if bag.start.shape[0] > 1:
            bag = bag._replace(row=mapped(bag.row, rows.nodes))
        run.task = task._replace(
            gold=ids[task.gold],
            nodes=task.nodes._replace(row=mapped(task.nodes.row, rows.nodes)),
            edges=task.edges._replace(row=mapped(task.edges.row, rows.edges)),
            bag=bag,
            node_alive=plan["alive"][0],
            edge_alive=plan["alive"][1],
        )
        state, L = run.state, len(labels)
        run.labels, run.constraints = labels, plan["constraints"]

        def fresh(key):
            stores = {name: new_store(n, L, state.rule, is_sparse(n, L)) for name, n in plan["rows"].items()}
            chain = new_chain(run.encoder, stores, new_clock(), plan["constraints"], plan["cost"])
            return TrainingState(chain, state.rule, key)

        run.fresh = fresh
        run.state = fresh(state.key)
        return run


class _Words:
    """Word segmenters: keys mean the same everywhere."""

    @staticmethod
    def vocabulary(run, min_count):
        return Vocabulary(None, None, None, np.zeros(0, np.int64))

    @staticmethod
    def united(vocabularies, learner, key):
        state = word_model.fresh_state(
            WORD_TEMPLATES[learner.templates],
            learner.beam_size or 0,
            UPDATES[learner.update],
            int(learner.min_count),
            learner._rule(),
            key,
        )
        task = word_model.make_task([], np.zeros(0, np.int8))
        return WordRun(learner, state, task), [{} for _ in vocabularies]

    @staticmethod
    def adopt(run, plan):
        return run


class _Parser:
    """Parsers: atoms and labels."""

    @staticmethod
    def vocabulary(run, min_count):
        return Vocabulary(run.encoder, run.labels, None, np.zeros(0, np.int64))

    @staticmethod
    def united(vocabularies, learner, key):
        labels, label_maps = Labels(), [np.full(1, UNLABELLED, np.int32) for _ in vocabularies]
        if learner.labeled:
            labels, label_maps = _united_labels(vocabularies)
        encoder, atom_maps = merge_atoms([vocabulary.encoder for vocabulary in vocabularies])
        n_tags = len(encoder.alphabets[0])
        if n_tags > MOST_SMALL - SPECIAL:
            raise ValueError(f"at most {MOST_SMALL - SPECIAL} distinct tags are possible, got {n_tags}")
        lines = template_lines(learner.templates)
        settings = {
            "beam": int(learner.beam_size),
            "merge": bool(learner.merge_states),
            "update": UPDATES[learner.update],
            "min_count": int(learner.min_count),
        }
        state = parser_model.fresh_state(lines, encoder, labels, settings, learner._rule(), key)
        task = parser_model.make_task(np.zeros((len(encoder.attributes), 0), np.int32), np.zeros(1, np.int64))
        run = ParseRun(learner, state, task, lines, encoder, labels, None)
        plans = [{"labels": labels, "ids": i, "atoms": a} for i, a in zip(label_maps, atom_maps)]
        return run, plans

    @staticmethod
    def adopt(run, plan):
        atoms = run.task.atoms.copy()
        for row, new in zip(atoms, plan["atoms"]):
            known = row >= SPECIAL
            row[known] = new[row[known] - SPECIAL] + SPECIAL
        run.task = run.task._replace(atoms=atoms, label=plan["ids"][run.task.label])
        run.labels = plan["labels"]
        run.state = run.fresh(run.state.key)
        return run


_JOINING = {ChainRun: _Chain, WordRun: _Words, ParseRun: _Parser}


def vocabulary(run, min_count):
    """What a shard's run met."""
    return _JOINING[type(run)].vocabulary(run, min_count)


def united(kind, vocabularies, learner, key):
    """A run without examples over what all shards met, and the plan of each shard.

    Parameters
    ----------
    kind : type
        Of the shards' runs.
    vocabularies : list of Vocabulary
        In the order of the shards.
    learner : estimator
    key : int
        The random key of the whole.

    Raises
    ------
    ValueError
        If the shards do not go together; the message names one.
    """
    return _JOINING[kind].united(vocabularies, learner, key)


def adopt(run, plan):
    """Translate a shard's run to what all shards met; returns the run."""
    return _JOINING[type(run)].adopt(run, plan)
