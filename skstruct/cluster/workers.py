"""A crew in the processes of a Dask cluster.

Crews are where the shards of parameter mixing live: :class:`.threads.Threads`, or :class:`Cluster` here. Both
open shards, join them to one vocabulary and train them, and return results in the order of the shards, so
that it does not matter who was first.

On a cluster, :mod:`.tasks` says how a worker that is lost costs time and changes nothing. What it takes to
begin with a shard anew is the callable, the plan of the vocabulary and all weights.
"""

from typing import NamedTuple

from .changes import add_changes
from .loading import Job, joined_shard, open_shard
from .shards import shard_key
from .tasks import Missing, Tasks
from .weights import n_bytes

# --------------------------------------------------------------------------------------------------
# What runs on the workers
# --------------------------------------------------------------------------------------------------
_RUNS, _SHARDS = {}, {}  # by (fit, shard): encoded shards; joined shards and the round they have reached


class Again(NamedTuple):
    """What it takes to build a shard in a process that does not hold it."""

    plan: dict
    alone: bool
    job: Job
    model: object  # that a shard alone was resumed with, or None
    rounds: list  # (epoch, epochs) that a shard alone has to repeat


def _open(fit, job):
    run, opened = open_shard(job)
    _RUNS[fit, job.number] = run
    return opened


def _join(fit, number, plan, alone, job):
    if (fit, number) not in _RUNS:
        if job is None:
            raise Missing
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
        raise Missing
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


def _changes(fit, number, epoch, n_epochs, coefficients, counted, start, again):
    if again is not None:
        _train(fit, number, epoch, n_epochs, start, again)
    return _shard(fit, number, epoch + n_epochs, None).changes(coefficients, counted)


def _model(fit, number, epoch, again):
    return _shard(fit, number, epoch, again).model


def _forget(fit):
    for held in (_RUNS, _SHARDS):
        for key in [key for key in held if key[0] == fit]:
            del held[key]


# --------------------------------------------------------------------------------------------------
# The driver's side
# --------------------------------------------------------------------------------------------------
class Cluster(Tasks):
    """Shards in the processes of a Dask cluster.

    Parameters
    ----------
    client : distributed.Client or str
        See :func:`.tasks.connect`.
    """

    def __init__(self, client):
        super().__init__(client)
        self.plans, self.alone = [], False
        self.begun, self.rounds = (0, None), []  # epoch and model it was resumed from; rounds since

    def open(self, jobs):
        """See :class:`.threads.Threads`."""
        self._settle(jobs)

        def arguments(s, lost):
            return [self.fit, jobs[s]]

        return self._run(_open, arguments)

    def join(self, plans, alone):
        """See :class:`.threads.Threads`."""
        self.plans, self.alone = plans, alone

        def arguments(s, lost):
            return [self.fit, s, plans[s], alone, self.jobs[s] if lost else None]

        self._run(_join, arguments)

    def fingerprints(self):
        """See :class:`.threads.Threads`."""

        def arguments(s, lost):
            return [self.fit, s, self._again(s) if lost else None]

        return self._run(_fingerprint, arguments)

    def resume(self, key, model, epoch):
        """See :class:`.threads.Threads`."""
        self.jobs = [job._replace(key=key) for job in self.jobs]

        def arguments(s, lost):
            return [self.fit, s, key, model, epoch, self._again(s) if lost else None]

        self._run(_resume, arguments)
        self.begun = epoch, model

    def train(self, epoch, n_epochs, start, full):
        """See :class:`.threads.Threads`."""
        message, shared = None, None
        if start is not None:
            message = start(full)
            shared = self._shared(message)

        def arguments(s, lost):
            again, mine = None, shared
            if lost:
                again = self._again(s)
                mine = None if start is None else self._shared(start(True))
            self.sent += n_bytes(message)
            return [self.fit, s, epoch, n_epochs, mine, again]

        reports = self._run(_train, arguments)
        self.received += n_bytes(reports)
        self.rounds.append((epoch, n_epochs))
        self.start = start
        return reports

    def changes(self, coefficients, counted):
        """See :class:`.threads.Threads`."""
        (epoch, n_epochs), start = self.rounds[-1], self.start

        def arguments(s, lost):
            again = mine = None
            if lost:
                again, mine = self._again(s), self._shared(start(True))
            return [self.fit, s, epoch, n_epochs, coefficients[s], counted, mine, again]

        total = self._total(_changes, arguments, add_changes)
        self.received += n_bytes(total)
        return total

    def model(self):
        """See :class:`.threads.Threads`."""
        epoch = sum(self.rounds[-1]) if self.rounds else self.begun[0]

        def arguments(s, lost):
            return [self.fit, s, epoch, self._again(s) if lost else None]

        return self._run(_model, arguments, only=[0])[0]

    def _again(self, s):
        # With others it starts from the mixed weights; alone it repeats its rounds.
        model, rounds = (self.begun[1], list(self.rounds)) if self.alone else (None, [])
        return Again(self.plans[s], self.alone, self.jobs[s], model, rounds)

    def close(self):
        """Let the workers forget the shards."""
        self._close(_forget)
