"""A crew in the processes of a Dask cluster.

Crews are where the shards of parameter mixing live: :class:`.threads.Threads`, or :class:`Cluster` here. Both
open shards, join them to one vocabulary and train them, and return results in the order of the shards, so
that it does not matter who was first.

On a cluster a shard is loaded and encoded once, by the worker that is its home, and stays in that process: a
task finds it in a dictionary of the module. A task that does not find it says so and is sent again with
everything it takes to begin with the shard anew: the callable, the plan of the vocabulary and all weights. So
a worker that is lost costs time and changes nothing.
"""

import contextlib
import threading
import uuid
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import NamedTuple

from .loading import Job, joined_shard, open_shard
from .shards import shard_key
from .weights import n_bytes

MOST_LOSSES = 5
"""Workers that may be lost with one shard before it is given up."""

PATIENCE = 60.0
"""Seconds to wait for a worker where there is none."""

POLL = 1.0
"""Seconds between two looks at whether the workers are alive."""


# --------------------------------------------------------------------------------------------------
# What runs on the workers
# --------------------------------------------------------------------------------------------------
_RUNS, _SHARDS = {}, {}  # by (fit, shard): encoded shards; joined shards and the round they have reached

MISSING = "missing"


class Again(NamedTuple):
    """What it takes to build a shard in a process that does not hold it."""

    plan: dict
    alone: bool
    job: Job
    model: object  # that a shard alone was resumed with, or None
    rounds: list  # (epoch, epochs) that a shard alone has to repeat


class _Missing(Exception):
    """This process does not hold the shard."""


def _open(fit, job):
    run, opened = open_shard(job)
    _RUNS[fit, job.number] = run
    return opened


def _join(fit, number, plan, alone, job):
    if (fit, number) not in _RUNS:
        if job is None:
            raise _Missing
        _open(fit, job)
    _SHARDS[fit, number] = [joined_shard(_RUNS.pop((fit, number)), plan, alone), 0]


def _shard(fit, number, epoch, again):
    """The shard after some epochs; ``again``: rebuild it from this job if the worker does not hold it."""
    if again is not None:
        _join(fit, number, again.plan, again.alone, again.job)
        shard = _SHARDS[fit, number][0]
        if again.model is not None:
            shard.resume(shard_key(again.job.key, number), again.model)
        for begin, n_epochs in again.rounds:
            shard.train(begin, n_epochs)
        _SHARDS[fit, number][1] = epoch
    shard, reached = _SHARDS.get((fit, number), (None, None))
    if reached != epoch:
        raise _Missing
    return shard


def _fingerprint(fit, number, again):
    return _shard(fit, number, 0, again).fingerprint()


def _resume(fit, number, key, model, epoch, again):
    _shard(fit, number, 0, again).resume(shard_key(key, number), model)
    _SHARDS[fit, number][1] = epoch


def _train(fit, number, epoch, n_epochs, start, again):
    shard = _shard(fit, number, epoch, again)
    report = shard.train(epoch, n_epochs, start)
    _SHARDS[fit, number][1] = epoch + n_epochs
    return report


def _model(fit, number, epoch, again):
    return _shard(fit, number, epoch, again).model


def _forget(fit):
    for held in (_RUNS, _SHARDS):
        for key in [key for key in held if key[0] == fit]:
            del held[key]


def _call(function, *arguments):
    """Our results and errors as values, so that an exception raised by Dask is always a cluster failure."""
    try:
        return "done", function(*arguments)
    except _Missing:
        return MISSING, None
    except Exception as error:
        return "failed", error


# --------------------------------------------------------------------------------------------------
# The driver's side
# --------------------------------------------------------------------------------------------------
def connect(client):
    """A Dask client, and whether it is ours to close.

    Parameters
    ----------
    client : str
        Address of a scheduler, or "auto" for the client there is.
    """
    try:
        import distributed
    except ImportError as error:
        raise ImportError(
            'client= needs Dask: pip install "skstruct[dask]" (packages dask and distributed)'
        ) from error
    if client != "auto":
        return distributed.Client(client), True
    try:
        return distributed.get_client(), False
    except ValueError as error:
        raise ValueError(
            "client='auto' found no Dask client in this process: create one first, or give the address of a "
            "scheduler"
        ) from error


def _answer_of(task):
    """A future for the result of a Dask task, which may never come.

    Asking Dask blocks for good if the worker dies while it answers. So each task has a thread of its own, and
    the interpreter does not wait for these threads when it ends, as it would for those of a pool.
    """
    answer = Future()

    def ask():
        try:
            answer.set_result(task.result())
        except BaseException as error:
            answer.set_exception(error)

    threading.Thread(target=ask, daemon=True).start()
    return answer


class Cluster:
    """Shards in the processes of a Dask cluster.

    Parameters
    ----------
    client : str
        See :func:`connect`.
    """

    def __init__(self, client):
        self.client, self.ours = connect(client)
        self.fit = uuid.uuid4().hex
        self.sent = self.received = 0
        self.jobs, self.plans, self.alone = [], [], False
        self.begun, self.rounds = (0, None), []  # epoch and model it was resumed from; rounds since
        self.home, self.losses = [], []

    # -- work --------------------------------------------------------------------------------------
    def open(self, jobs):
        """See :class:`.threads.Threads`."""
        self.jobs = jobs
        self.losses = [0] * len(jobs)
        workers = self._workers()
        self.home = [workers[s % len(workers)] for s in range(len(jobs))]

        def arguments(s, lost):
            return _open, self.fit, jobs[s]

        return self._run(arguments)

    def join(self, plans, alone):
        """See :class:`.threads.Threads`."""
        self.plans, self.alone = plans, alone

        def arguments(s, lost):
            return _join, self.fit, s, plans[s], alone, self.jobs[s] if lost else None

        self._run(arguments)

    @property
    def n_shards(self):
        """See :class:`.threads.Threads`."""
        return len(self.jobs)

    def fingerprints(self):
        """See :class:`.threads.Threads`."""

        def arguments(s, lost):
            return _fingerprint, self.fit, s, self._again(s) if lost else None

        return self._run(arguments)

    def resume(self, key, model, epoch):
        """See :class:`.threads.Threads`."""
        self.jobs = [job._replace(key=key) for job in self.jobs]

        def arguments(s, lost):
            return _resume, self.fit, s, key, model, epoch, self._again(s) if lost else None

        self._run(arguments)
        self.begun = epoch, model

    def train(self, epoch, n_epochs, start, full):
        """See :class:`.threads.Threads`."""
        message, shared = None, None
        if start is not None:
            message = start(full)
            shared = self._scatter(message)

        def arguments(s, lost):
            again, mine = None, shared
            if lost:
                again = self._again(s)
                mine = None if start is None else self._scatter(start(True), [self.home[s]])
            self.sent += n_bytes(message)
            return _train, self.fit, s, epoch, n_epochs, mine, again

        reports = self._run(arguments)
        self.received += n_bytes(reports)
        self.rounds.append((epoch, n_epochs))
        return reports

    def model(self):
        """See :class:`.threads.Threads`."""
        epoch = sum(self.rounds[-1]) if self.rounds else self.begun[0]

        def arguments(s, lost):
            return _model, self.fit, s, epoch, self._again(s) if lost else None

        return self._run(arguments, only=[0])[0]

    def _again(self, s):
        # With others it starts from the mixed weights; alone it repeats its rounds.
        model, rounds = (self.begun[1], list(self.rounds)) if self.alone else (None, [])
        return Again(self.plans[s], self.alone, self.jobs[s], model, rounds)

    def close(self):
        """Let the workers forget the shards."""
        with contextlib.suppress(Exception):  # they may be gone
            self.client.run(_forget, self.fit)
        if self.ours:
            self.client.close()

    # -- tasks -------------------------------------------------------------------------------------
    def _workers(self):
        """Addresses of the workers there are, sorted; waits for the first."""
        workers = sorted(self.client.nthreads())
        if not workers:
            self.client.wait_for_workers(1, timeout=PATIENCE)
            workers = sorted(self.client.nthreads())
        return workers

    def _scatter(self, message, homes=None):
        """A message as data of the cluster; as it is if that fails, since a worker may just have died."""
        homes = sorted(set(self.home if homes is None else homes) & set(self.client.nthreads()))
        if not homes:
            return message
        try:
            return self.client.scatter([message], workers=homes, broadcast=True, hash=False)[0]
        except Exception:
            return message

    def _submit(self, s, arguments):
        return self.client.submit(
            _call, *arguments, workers=[self.home[s]], allow_other_workers=False, pure=False, retries=0
        )

    def _move(self, s, error=None):
        """Give a shard another home."""
        self.losses[s] += 1
        if self.losses[s] > MOST_LOSSES:
            raise RuntimeError(
                f"shard {s} was given up: {MOST_LOSSES} workers were lost while they worked on it (out of "
                f"memory?)"
            ) from error
        workers = self._workers()
        load = {address: self.home.count(address) for address in workers}
        if self.home[s] not in load:
            self.home[s] = min(workers, key=lambda address: (load[address], address))

    def _run(self, arguments, only=None):
        """Results by shard; ``arguments(s, lost)`` is what to call for shard s."""
        numbers = range(len(self.jobs)) if only is None else only
        alive, results, waiting = set(self._workers()), {}, {}

        def send(s, lost):
            if lost:
                self._move(s, lost if isinstance(lost, BaseException) else None)
            task = self._submit(s, arguments(s, lost))
            waiting[_answer_of(task)] = s, task

        try:
            for s in numbers:
                send(s, self.home[s] not in alive)
            while waiting:
                done, _ = wait(waiting, timeout=POLL, return_when=FIRST_COMPLETED)
                for answer in done:
                    s, task = waiting.pop(answer)
                    error = answer.exception()
                    if error is not None:  # the worker died, or what it was to begin with is lost
                        send(s, error)
                        continue
                    state, result = answer.result()
                    if state == "failed":
                        raise result
                    if state == MISSING:
                        send(s, True)
                    else:
                        results[s] = result
                if not done:
                    alive = set(self.client.nthreads())
                    for answer, (s, task) in list(waiting.items()):
                        if self.home[s] not in alive:
                            del waiting[answer]
                            task.cancel()
                            send(s, True)
        finally:
            for _, task in waiting.values():
                task.cancel()
        return [results[s] for s in numbers]
