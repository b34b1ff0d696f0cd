"""Random texts and models of the word segmenter."""

import functools
from types import SimpleNamespace

import numpy as np
from segment_oracle import decisions_of, zc14, zsz18

from skstruct._core.codes import (
    DONE,
    EARLY,
    FREE,
    NO_AVERAGE,
    NO_PENALTY,
    PERCEPTRON,
    STANDARD,
    START,
    TABLE_FULL,
    ZC14,
    ZSZ18,
)
from skstruct._core.compile import kernel
from skstruct._core.hashing import keys_of
from skstruct._core.noise import QUIET
from skstruct._core.rules import Adjustment
from skstruct._core.store import Rule
from skstruct._training.epochs import grow_tables, snapshot
from skstruct._words import word_epoch as segment
from skstruct._words.word_beam import SegmentTask, new_work, search
from skstruct._words.word_features import load
from skstruct._words.word_names import features


@kernel
def load_text(char, step, noise, c, hidden):
    load(char, char.shape[0], step, noise, c, hidden)


PLAIN = Rule(PERCEPTRON, 0.0, False, NO_PENALTY, 0.0, NO_AVERAGE)
BOTH = [ZSZ18, ZC14]
ORACLE = {ZSZ18: zsz18, ZC14: zc14}


# -- arrays ----------------------------------------------------------------------------
def make_task(texts, gold=None, limit=None):
    """A task; ``gold``: words, or decisions with FREE."""
    token = np.concatenate([[0], np.cumsum([len(t) for t in texts])]).astype(np.int64)
    char = np.array([ord(c) + 1 for t in texts for c in t], np.int32)
    limits = np.full(char.shape[0], FREE, np.int8)
    if limit is not None:
        limits[:] = np.concatenate(limit)
    limits[token[:-1]] = START
    right = np.zeros(0, np.int8)
    if gold is not None:
        right = [decisions_of(g) if isinstance(g[0], str) else g for g in gold]
        right = np.array([d for g in right for d in g], np.int8)
    return SegmentTask(token, char, limits, right, np.ones(len(texts)))


def random_words(generator, n, letters="abc", longest=4):
    words = []
    while n > 0:
        size = min(n, int(generator.integers(1, longest + 1)))
        words.append("".join(generator.choice(list(letters), size)))
        n -= size
    return words


def train(model, task, rule=PLAIN, noise=QUIET, epochs=1, order=None):
    work = new_work(task, model.beam)
    n = task.token.shape[0] - 1
    order = np.arange(n) if order is None else order
    for _ in range(epochs):
        k, work.stats[:] = 0, 0.0
        while k < n:
            code, k = segment.epoch(task, order, k, n, model, rule, noise, work)
            assert code in (DONE, TABLE_FULL)
            if code == TABLE_FULL:
                state = SimpleNamespace(model=model, rule=rule)
                grow_tables(state)
                model = state.model
        if work.stats[0] == 0:
            break
    return model, work


def as_dict(model):
    """The weights by feature and column."""
    C = model.features.weights.columns
    names = features(
        model.templates, keys_of(model.features.table, model.features.entries[0])
    )
    value = model.features.weights.value
    return {
        (*name, a): value[row * C + a]
        for row, name in enumerate(names)
        for a in range(C)
    }


@functools.cache
def known_features(templates, n):
    """A model that knows the features of many segmentations of random texts."""
    generator = np.random.default_rng(100)
    words = [random_words(generator, int(generator.integers(2, 10))) for _ in range(n)]
    task = make_task(["".join(w) for w in words], words)
    return train(segment.new_model(templates, 2, STANDARD, 1, PLAIN), task)[0]


def random_model(templates, beam, generator, update=EARLY, n=40):
    """Its features with random weights."""
    model = snapshot(known_features(templates, n))._replace(beam=beam, update=update)
    places = model.features.entries[0] * model.features.weights.columns
    model.features.weights.value[:places] = generator.normal(size=places)
    return model


def segmented(model, texts, limit=None):
    task = make_task(texts, limit=limit)
    out, score = np.empty(task.char.shape[0], np.int8), np.empty((len(texts), 1))
    work = new_work(task, model.beam, training=False)
    segment.predict(
        task,
        0,
        len(texts),
        model,
        QUIET,
        work,
        None,
        out,
        score,
        np.empty(len(texts), np.int64),
    )
    return [out[a:b].tolist() for a, b in zip(task.token, task.token[1:])], score[:, 0]


@kernel
def _decode(task, i, model, adjustment, work):
    first, stop = task.token[i], task.token[i + 1]
    load(
        task.char[first:stop],
        stop - first,
        model.clock.step[0],
        adjustment.noise,
        work.char,
        work.hidden,
    )
    nothing, path = task.gold[:0], work.path[: stop - first + 1]
    search(task.limit[first:stop], nothing, i < 0, model, adjustment, work, path, None)


def decoded(model, texts, rule):
    """The decisions that training would find under a rule, and under the cut-off of the
    model.
    """
    task = make_task(texts)
    work = new_work(task, model.beam, training=False)
    for i, text in enumerate(texts):
        _decode(task, i, model, Adjustment(rule, QUIET), work)
        yield work.path[: len(text)].tolist()


def score_of(known, found):
    return sum(known.get(key, 0.0) * count for key, count in found.items())
