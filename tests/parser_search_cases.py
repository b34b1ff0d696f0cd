"""Random problems for the search of the parser."""

import random

import numpy as np
import parse_oracle as oracle

from skstruct._core.codes import (
    EARLY,
    NO_AVERAGE,
    NO_PENALTY,
    PERCEPTRON,
)
from skstruct._core.compile import kernel
from skstruct._core.noise import QUIET
from skstruct._core.rules import Adjustment
from skstruct._core.store import Rule
from skstruct._data.inputs import flatten, lengths_of, offsets_of
from skstruct._data.labels import Labels, encode_labels
from skstruct._parser import parser_epoch as parse
from skstruct._parser.atoms import AtomEncoder, check_words
from skstruct._parser.dependency_trees import encode_trees
from skstruct._parser.parser_beam import new_work, search
from skstruct._parser.parser_model import final_model, make_task
from skstruct._parser.parser_run import ParseRun
from skstruct._parser.state_features import load
from skstruct._parser.states import trace
from skstruct._parser.template_sets import lines_of
from skstruct._training.epochs import run_epoch
from skstruct._training.run import TrainingState

PLAIN = Rule(PERCEPTRON, 0.0, False, NO_PENALTY, 0.0, NO_AVERAGE)
ALL = 260
"""A beam that loses nothing of five words: there are 224 derivations."""


@kernel
def decode(task, i, model, rule, noise, work, path):
    """Search one sentence; writes its actions, returns the score and the states of the
    last step.
    """
    first, n = task.token[i], task.token[i + 1] - task.token[i]
    load(task, first, n, np.int64(0), noise, work)
    m, best, _ = search(n, task.action[:0], model, Adjustment(rule, noise), work)
    trace(work.states, best, m, work.stack, path, work.path_label)
    return work.states.score[best], work.begin[2 * n] - work.begin[2 * n - 1]


class Problem:
    """Sentences over a small vocabulary, so that words repeat, with random projective
    trees.
    """

    def __init__(
        self,
        name="hs28",
        lengths=(1, 2, 3, 4, 5, 5, 6, 7),
        seed=0,
        beam=8,
        merge=True,
        **model,
    ):
        draw = random.Random(seed)
        self.lines = lines_of(name, True)
        words = [
            ("a", "D"),
            ("Dogs", "N"),
            ("dog", "N"),
            ("sees", "V"),
            ("run", "V"),
            (",", ","),
        ]
        self.X = [[draw.choice(words) for _ in range(n)] for n in lengths]
        heads = [
            oracle.heads_of(draw.choice(oracle.derivations(n))) if n < 6 else chain(n)
            for n in lengths
        ]
        self.heads = heads
        labels = [[draw.choice("xyz") for _ in s] for s in self.X]
        token = offsets_of(lengths_of(self.X))
        columns = check_words(self.X, token)
        atoms, self.encoder = AtomEncoder(self.lines.attributes()).grown(columns)
        (gold, _), self.labels = encode_labels(labels, token, Labels(), True)
        actions, flat, skipped = encode_trees(
            np.array(flatten(heads), np.int32), token, True
        )
        assert not skipped
        self.task = make_task(atoms, self.encoder.rows, token, actions, flat, gold)
        self.fresh(beam, merge, **model)

    def fresh(self, beam=8, merge=True, update=EARLY, min_count=1, rule=PLAIN):
        templates = self.lines.compiled(self.encoder.rows)
        self.rule = rule
        self.model = parse.new_model(
            *templates, len(self.labels), beam, merge, update, min_count, rule
        )
        return self

    def train(self, epochs=1, noise=QUIET, order=None):
        n = len(self.X)
        state = TrainingState(self.model, self.rule, 0)
        run = ParseRun(
            None, state, self.task, self.lines, self.encoder, self.labels, None
        )
        for _ in range(epochs):
            self.stats, _ = run_epoch(
                run, np.arange(n) if order is None else np.array(order), np.diff(self.task.token), noise,
                new_work(self.task, run.state.model),
            )  # fmt: skip
        self.model = run.state.model
        return self

    def with_beam(self, beam, merge):
        self.model = self.model._replace(beam=beam, merge=merge)
        return self

    def decode(self, i):
        path = np.zeros(2 * len(self.X[i]), np.int8)
        work = new_work(self.task, self.model, training=False)
        score, n_states = decode(self.task, i, self.model, self.rule, QUIET, work, path)
        return path[:-1].tolist(), score, int(n_states)

    def final(self):
        return final_model(self.model, self.rule, self.lines, self.encoder, self.labels)

    def dictionaries(self):
        """({feature: weights of actions}, {feature: weights of labels})."""
        final = self.final()
        features, label_features = map(final.features, final.TABLES)
        assert len(set(features)) == len(features) and len(set(label_features)) == len(
            label_features
        )
        return (
            dict(zip(features, final.weights.value.reshape(-1, 3).tolist())),
            dict(
                zip(
                    label_features,
                    final.table("label_")
                    .weights.value.reshape(-1, len(self.labels))
                    .tolist(),
                )
            ),
        )


def chain(n):
    return [k + 2 for k in range(n - 1)] + [0]
