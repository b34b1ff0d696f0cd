"""The one module of the tests that knows private attributes of the package.

All other tests use what users can use, or these functions (``test_house.py`` holds
that), so that a change inside the package is followed here and nowhere else.
"""

import argparse
import gc
import re
import time

import numpy as np

import skstruct
import skstruct._crf.crf_run as crf_run
import skstruct._crf.solver.working_set as working_set
from skstruct import cli
from skstruct._core import final_weights as averaging
from skstruct._crf.solver import bound
from skstruct._data.reads import FeatureNames
from skstruct._saving import container, registry
from skstruct._shards import held
from skstruct._shards.mixing.rounds import Rounds
from skstruct._training.run import Run
from skstruct.compat.pycrfsuite import _pycrfsuite
from skstruct.datasets import corpora
from skstruct.features import contexts, tokens
from skstruct.serving import server as of_waitress

CONLL2000 = corpora.CHUNKING_FILES
CONLL2002 = corpora.ENTITY_FILES
Part = corpora._Part
plant = contexts._plant
TOKEN_FUNCTIONS = tokens._FUNCTIONS


# -- what an estimator is given --------------------------------------------------------
def sequences_copied(patch):
    """Sequences that taggers of ``compat`` copy from now on; the list grows."""
    copied = []
    tokens_of = _pycrfsuite.tokens_of

    def noted(sequence):
        copied.append(sequence)
        return tokens_of(sequence)

    patch.setattr(_pycrfsuite, "tokens_of", noted)
    return copied


def weights_noted(log):
    """Base of a learner that appends (sequences, weights) to ``log`` when it begins to
    learn.
    """

    class Noted:
        def _prepare(self, X, y, sample_weight, *given, **more):
            log.append((len(X), sample_weight))
            return super()._prepare(X, y, sample_weight, *given, **more)

    return Noted


def drawn_by_early_stopping(learner, n):
    """The sequences that a learner holds out of n that could be scored."""
    return learner._held_out(np.arange(n))


# -- files
def arrays_in_file(path):
    """The arrays of a model file, but for times."""
    _, arrays = container.read_container(path, kind="model")
    return {
        name: array
        for name, array in arrays.items()
        if not {"time", "history"} & set(re.split(r"[._]", name))
    }


# -- what an estimator has learned -----------------------------------------------------
def model_of(estimator):
    """What prediction needs."""
    return estimator._model


def distribution_of(tagger):
    """The model whose scores are log-probabilities up to a constant."""
    return tagger._distribution


def tables_of(tagger):
    """``{name: array of shape (rows, columns)}``: the final weights of a tagger of
    sequences.
    """
    found = {}
    for name in tagger._model.stores():
        store = getattr(tagger._model, name)
        if store.sparse:
            keys, values = averaging.entries(store)
            found[name] = np.zeros((store.first.shape[0], store.columns))
            found[name].ravel()[keys] = values
        else:
            found[name] = store.value.reshape(-1, store.columns)
    return found


def sequences_of(estimator, X):
    """What the tagger inside of an estimator over texts sees."""
    return estimator._sequences(X)


def new_tagger_of(estimator):
    """The tagger that an estimator over texts trains, before training."""
    return estimator._new_tagger()


def has_model(estimator):
    return hasattr(estimator, "_model")


def put_model(estimator, model):
    estimator._model = model


def training_of(estimator):
    """What further training needs."""
    return estimator._training


def has_training(estimator):
    return hasattr(estimator, "_training")


def rule_of(estimator):
    """The update rule that the parameters ask for."""
    return estimator._rule()


def run_of(estimator, X, y, sample_weight=None):
    """A fit that has not begun."""
    return estimator._prepare(X, y, sample_weight)


def tokens_of_member(estimator, X, y, drawn):
    """The tokens that a pass over the sequences ``drawn`` of a corpus visits."""
    return (
        run_of(estimator, X, y).member(estimator, 0, drawn).new_objective(1.0).n_tokens
    )


def run_and_lattices_of(reranker, X, y):
    """A fit of a reranker that has not begun, and the nodes of its lattices."""
    captured, jackknife = [], reranker._jackknife
    reranker._jackknife = lambda *given: (
        captured.append(jackknife(*given)) or captured[0]
    )
    run = run_of(reranker, X, y)
    del reranker._jackknife
    return run, captured[0]


def labels_of_pieces(segmenter, pieces):
    """The labels that a segmenter's tagger gives texts cut at white space."""
    return segmenter._labels(pieces)


def contents_of(encoder):
    """The attributes of an encoder but for what it only remembers to be fast."""
    return {
        name: value
        for name, value in vars(encoder).items()
        if name not in ("_text", "_known")
    }


def variety_of(statistics, string):
    """The accessor variety of a string of 1 to 4 tokens; 0 for what the text does not
    hold.
    """
    nodes = statistics.nodes(list(string), np.array([0, len(string)]))
    return np.append(statistics.varieties[len(string) - 1], 0)[
        nodes[len(string) - 1][0]
    ]


def remembered_pairs(encoder):
    """The tables of pairs that an encoder of dicts has filled so far, or None."""
    return encoder._known


# -- stopping in the middle ------------------------------------------------------------
def after_each_report(patch, act):
    """Let ``act(run)`` follow each epoch's report; what it raises ends the fit."""
    report = Run.report

    def reporting(run):
        report(run)
        act(run)

    patch.setattr(Run, "report", reporting)


def before_each_round(patch, act):
    """Let ``act()`` precede each round of mixing."""
    round_ = Rounds.run_epoch

    def acting(rounds, interrupt):
        act()
        return round_(rounds, interrupt)

    patch.setattr(Rounds, "run_epoch", acting)


def after_each_submission(patch, act):
    """Let ``act(cluster, shard, epoch)`` follow each order to train that is sent to a
    worker.
    """
    submit = held.DaskShards._submit

    def submitting(cluster, shards, function, calls, add):
        task = submit(cluster, shards, function, calls, add)
        is_step = held._step in getattr(function, "args", ())
        for shard, call in zip(shards, calls if is_step else ()):
            name, shared = call[3], call[5]
            if name == "train":
                act(cluster, shard, shared[0])
        return task

    patch.setattr(held.DaskShards, "_submit", submitting)


def before_each_sum(patch, act):
    """Let ``act(cluster, name)`` precede each sum over shards that are held by
    workers.
    """
    total = held.DaskShards.total

    def acting(cluster, name, *arguments, **named):
        act(cluster, name)
        return total(cluster, name, *arguments, **named)

    patch.setattr(held.DaskShards, "total", acting)


def before_each_line(patch, act):
    """Let ``act(record)`` precede each line that a verbose L1CRF prints."""
    line = crf_run.describe_pass
    patch.setattr(
        crf_run,
        "describe_pass",
        lambda number, history: act(history[-1]) or line(number, history),
    )


def after_each_crf_pass(patch, act):
    """Let ``act()`` follow each pass of L1CRF; what it raises ends the fit."""
    patch.setattr(skstruct.L1CRF, "_after_pass", lambda *_: act())


def before_each_pass(run, act):
    """Let ``act(record)`` precede what a run of L1CRF does after each pass."""
    after = run.after_pass
    run.after_pass = lambda record, matrices: act(record) or after(record, matrices)


def pairs_to_work_on(objective, weights, gradient):
    """The pairs of the next working set."""
    return working_set._choose_working_set(objective, weights, gradient)


def shards_here():
    """The shards that this process holds for others."""
    gc.collect()
    return [each for each in gc.get_objects() if isinstance(each, held.Held)]


def kept_by_a_worker():
    """How many shards this process holds for others."""
    return len(shards_here())


def kept_by_workers(client, seconds=60.0):
    """How many shards the workers of a cluster hold, once they had time to let go of
    them.
    """
    for _ in range(int(seconds / 0.1)):
        kept = sum(client.run(kept_by_a_worker).values())
        if kept == 0:
            break
        time.sleep(0.1)
    return kept


def open_connections(server):
    """The connections that a server has not closed yet."""
    return of_waitress._connections(of_waitress._sockets_of(server))


def forget_shards():
    """Let the shards that this process holds for others be others than the driver
    knows, as if made anew.
    """
    for each in shards_here():
        each.n_steps = -1


# -- files -----------------------------------------------------------------------------
def attributes_kept(estimator):
    """The attributes that a file or a pickle gives back."""
    follows = getattr(estimator, "_follows", ())
    return {
        name: value for name, value in vars(estimator).items() if name not in follows
    }


def savable():
    """The classes that can be saved, by name."""
    for name in skstruct.__all__:
        getattr(skstruct, name)  # which imports it
    return dict(registry._REGISTRY)


def copy_registry(patch):
    """Let classes be registered until the test ends."""
    patch.setattr(registry, "_REGISTRY", dict(registry._REGISTRY))


def put_chunk_size(patch, n_bytes):
    """Let containers be read and written in pieces of that size."""
    patch.setattr(container, "_CHUNK_BYTES", n_bytes)


# -- what cannot be had otherwise ------------------------------------------------------
def score_of(scorer):
    """The function that a scorer of scikit-learn calls."""
    return scorer._score_func


def check_parameters(estimator):
    """Check constructor parameters, as ``fit`` does first."""
    estimator._validate_params()


def ask_shards(tasks):
    """Ask the shards of `skstruct._shards.tasks.Tasks` for something, and wait for
    their answers.
    """
    return tasks._run(None, lambda shard, lost: ())


def wait_for_sum(tasks, task):
    """Wait for a sum over shards."""
    return tasks._wait_for(task)


def counting_bounds(monkeypatch):
    """A dict that counts the bounds of solvers from now on, and the rows of gradients
    read for them.
    """
    count = {"bounds": 0, "rows": 0}

    def counted(function, what, size):
        def called(table, *arguments):
            count[what] += size(table)
            return function(table, *arguments)

        return called

    monkeypatch.setattr(
        bound.Cuts, "bound", counted(bound.Cuts.bound, "bounds", lambda cuts: 1)
    )
    for name in "_mix", "_enter", "_follow":
        monkeypatch.setattr(bound, name, counted(getattr(bound, name), "rows", len))
    return count


def watch_names(monkeypatch):
    """A list to which each comparison of all names of columns adds how many these are.

    Two that share one list of names are not compared name by name.
    """
    agrees, found = FeatureNames._agrees, []

    def watched(mine, other):
        if mine.all() is not other.all():
            found.append(len(mine.all()))
        return agrees(mine, other)

    monkeypatch.setattr(FeatureNames, "_agrees", watched)
    return found


def parsers_of_commands():
    """By its name the parser of each command of the program."""
    actions = cli.new_parser()._actions
    kind = argparse._SubParsersAction
    return next(each.choices for each in actions if isinstance(each, kind))
