"""Tasks on the workers of a Dask cluster, one for each shard, and what becomes of them if workers are lost.

A shard is loaded and encoded once, by the worker that is its home, and stays in that process: a task finds it
in a dictionary of a module. A task that does not find it says so (:class:`Missing`) and is sent again with
everything it takes to begin with the shard anew. So a worker that is lost costs time and changes nothing.

Homes are runs of neighbouring shards, so that most sums of a tree (:mod:`.pieces`) are of one worker.
"""

import contextlib
import threading
import uuid
from concurrent.futures import FIRST_COMPLETED, Future, wait

from ..data.inputs import describe
from .pieces import FAN, add_neighbours, n_bytes

MOST_LOSSES = 5
"""Workers that may be lost with one shard before it is given up."""

PATIENCE = 60.0
"""Seconds to wait for a worker where there is none."""

POLL = 1.0
"""Seconds between two looks at whether the workers are alive."""

SMALL = 2**23
"""Bytes of a message, times the workers, that may go with the tasks, by the scheduler: the shortest way."""

DONE, FAILED, MISSING = "done", "failed", "missing"


# --------------------------------------------------------------------------------------------------
# What runs on the workers
# --------------------------------------------------------------------------------------------------
class Missing(Exception):
    """This process does not hold the shard."""


def _call(function, *arguments):
    """Our results and errors as values, so that an exception raised by Dask is always a cluster failure."""
    try:
        return DONE, function(*arguments)
    except Missing:
        return MISSING, None
    except Exception as error:
        return FAILED, error


def _each(function, numbers, calls):
    """What comes of some shards, one after the other."""
    return [_call(function, *arguments) for arguments in calls]


def _summands(function, numbers, calls, n, add):
    """The same, added up as far as they are neighbours; or the first error, or the shards missing."""
    nodes, missing = {}, []
    for s, arguments in zip(numbers, calls):
        state, result = _call(function, *arguments)
        if state == FAILED:
            return state, result
        if state == MISSING:
            missing.append(s)
        nodes[0, s] = result
    return (MISSING, missing) if missing else _call(add_neighbours, nodes, n, add)


def _add(n, add, *parts):
    """The same of what came of several groups of shards."""
    nodes, missing = {}, []
    for state, result in parts:
        if state == FAILED:
            return state, result
        if state == MISSING:
            missing += result
        else:
            nodes.update(result)
    return (MISSING, missing) if missing else _call(add_neighbours, nodes, n, add)


# --------------------------------------------------------------------------------------------------
# The driver's side
# --------------------------------------------------------------------------------------------------
def connect(client):
    """A Dask client, and whether it is ours to close.

    Parameters
    ----------
    client : distributed.Client or str
        A client, the address of a scheduler, or "auto" for the client there is.
    """
    try:
        import distributed
    except ImportError as error:
        raise ImportError(
            'client= needs Dask: pip install "skstruct[dask]" (packages dask and distributed)'
        ) from error
    if isinstance(client, distributed.Client):
        return client, False
    if not isinstance(client, str):
        raise ValueError(
            f"client must be a Dask client, the address of a scheduler or 'auto', got {describe(client)}"
        )
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


class Tasks:
    """Tasks for shards whose homes are the workers of a cluster.

    Parameters
    ----------
    client : distributed.Client or str
        See :func:`connect`.
    """

    def __init__(self, client):
        self.client, self.ours = connect(client)
        self.fit = uuid.uuid4().hex
        self.sent = self.received = 0
        self.jobs, self.home, self.losses = [], [], []

    @property
    def n_shards(self):
        """Shards there are."""
        return len(self.jobs)

    def _settle(self, jobs):
        """Give each shard a home."""
        self.jobs, self.losses = jobs, [0] * len(jobs)
        workers = self._workers()
        self.home = [workers[s * len(workers) // len(jobs)] for s in range(len(jobs))]

    def _close(self, forget):
        """Let the workers forget the shards, by ``forget(fit)``."""
        with contextlib.suppress(Exception):  # they may be gone
            self.client.run(forget, self.fit)
        if self.ours:
            self.client.close()

    def _workers(self):
        """Addresses of the workers there are, sorted; waits for the first."""
        workers = sorted(self.client.nthreads())
        if not workers:
            self.client.wait_for_workers(1, timeout=PATIENCE)
            workers = sorted(self.client.nthreads())
        return workers

    def _shared(self, message):
        """A message as data of the cluster, which goes to one worker, and from there to those that need it.

        To let Dask copy it to all workers would wait for one that has just died. A small one stays as it is.
        """
        if n_bytes(message) * len(set(self.home)) <= SMALL:
            return message
        try:
            return self.client.scatter([message], hash=False)[0]
        except Exception:  # a worker may just have died
            return message

    def _submit(self, numbers, function, calls, how=_each, *more):
        """A task for some shards of one home."""
        return self.client.submit(
            how, function, numbers, calls, *more, workers=[self.home[numbers[0]]],
            allow_other_workers=False, pure=False, retries=0,
        )  # fmt: skip

    def _groups(self, numbers):
        """Shards of one home, neighbours together; as many groups of each as it has threads."""
        threads, by_home = self.client.nthreads(), {}
        for s in sorted(numbers):
            by_home.setdefault(self.home[s], []).append(s)
        for home, mine in by_home.items():
            n = min(threads.get(home, 1), len(mine))
            bounds = [len(mine) * k // n for k in range(n + 1)]
            yield from (mine[a:b] for a, b in zip(bounds, bounds[1:]))

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

    def _send(self, function, arguments, lost, *how):
        """Tasks for shards, {their numbers: task}; ``lost``: by shard, what became of its home, or None."""
        for s, error in lost.items():
            if error is not None:
                self._move(s, error if isinstance(error, BaseException) else None)
        tasks = {}
        for numbers in self._groups(lost):
            calls = [arguments(s, lost[s] is not None) for s in numbers]
            tasks[tuple(numbers)] = self._submit(numbers, function, calls, *how)
        return tasks

    def _run(self, function, arguments):
        """What a function returns, by shard.

        Parameters
        ----------
        function : callable
        arguments : callable
            ``arguments(s, lost)`` is a list of what to call it with for shard s; ``lost``: whether the shard
            has to be made anew.
        """
        numbers = range(len(self.jobs))
        alive, results, waiting = set(self._workers()), {}, {}

        def send(lost):
            for group, task in self._send(function, arguments, lost).items():
                waiting[_answer_of(task)] = group, task

        try:
            send({s: None if self.home[s] in alive else True for s in numbers})
            while waiting:
                done, _ = wait(waiting, timeout=POLL, return_when=FIRST_COMPLETED)
                for answer in done:
                    group, _ = waiting.pop(answer)
                    error = answer.exception()
                    if error is not None:  # the worker died, or what it was to begin with is lost
                        send(dict.fromkeys(group, error))
                        continue
                    for s, (state, result) in zip(group, answer.result()):
                        if state == FAILED:
                            raise result
                        if state == MISSING:
                            send({s: True})
                        else:
                            results[s] = result
                if not done:
                    alive = set(self.client.nthreads())
                    for answer, (group, task) in list(waiting.items()):
                        if self.home[group[0]] not in alive:
                            del waiting[answer]
                            task.cancel()
                            send(dict.fromkeys(group, True))
        finally:
            for _, task in waiting.values():
                task.cancel()
        return [results[s] for s in numbers]

    def _total(self, function, arguments, add):
        """The sum over the shards in a tree (see :func:`.pieces.add_neighbours`) of what a function returns.

        Only the sum comes here. Summands stay where they are until it is there, so that those of workers that
        are not lost are worked out once. Arguments as of :meth:`_run`.
        """
        n, groups, tree, failures = len(self.jobs), {}, [], 0
        alive = set(self._workers())
        lost = {s: None if self.home[s] in alive else True for s in range(n)}
        try:
            while True:
                groups.update(self._send(function, arguments, lost, _summands, n, add))
                tree = self._tree([groups[numbers] for numbers in sorted(groups)], add)
                state, result = self._wait_for(tree[-1])
                if state == DONE:
                    self.losses = [0] * n  # what is counted are losses in a row
                    return result[max(result)]
                if state == FAILED:
                    raise result
                alive, failures = set(self._workers()), failures + (state is None)
                if failures > MOST_LOSSES:
                    raise RuntimeError(f"a sum over shards failed {failures} times") from result
                gone = {
                    numbers: True
                    for numbers, task in groups.items()
                    if self.home[numbers[0]] not in alive
                    or task.status in ("error", "cancelled", "lost")
                    or (state == MISSING and not set(result).isdisjoint(numbers))
                }
                for task in [*tree, *(groups.pop(numbers) for numbers in gone)]:
                    task.cancel()
                lost = {s: result if state is None and result else True for numbers in gone for s in numbers}
        finally:
            for task in [*tree, *groups.values()]:
                task.release()

    def _tree(self, tasks, add):
        """Tasks that add up neighbours, and their sums again; the last one adds up all."""
        n, tree = len(self.jobs), []
        while True:
            tasks = [
                self.client.submit(_add, n, add, *tasks[k : k + FAN], pure=False, retries=0)
                for k in range(0, len(tasks), FAN)
            ]
            tree += tasks
            if len(tasks) == 1:
                return tree

    def _wait_for(self, root):
        """(state, result) of a sum; (None, error or None) if a worker is lost."""
        answer = _answer_of(root)
        while True:
            done, _ = wait([answer], timeout=POLL)
            if done:
                error = answer.exception()
                return (None, error) if error is not None else answer.result()
            alive = set(self.client.nthreads())
            if not alive.issuperset(self.home):
                return None, None
