"""Tasks on the workers of a Dask cluster, one for each shard, and what becomes of them if workers are lost.

A shard is loaded and encoded once, by the worker that is its home, and stays in that process: a task finds it
in a dictionary of a module. A task that does not find it says so (:class:`Missing`) and is sent again with
everything it takes to begin with the shard anew. So a worker that is lost costs time and changes nothing.

Homes are runs of neighbouring shards, so that most sums of a tree (:mod:`.tree`) are of shards of one worker.
"""

import contextlib
import threading
import uuid
from concurrent.futures import FIRST_COMPLETED, Future, wait

from ..data.inputs import describe
from .tree import in_tree

MOST_LOSSES = 5
"""Workers that may be lost with one shard before it is given up."""

PATIENCE = 60.0
"""Seconds to wait for a worker where there is none."""

POLL = 1.0
"""Seconds between two looks at whether the workers are alive."""

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


def _summand(s, function, *arguments):
    """The same, for a sum over shards."""
    state, result = _call(function, *arguments)
    return state, [s] if state == MISSING else result


def _add(add, *parts):
    """The sum of what came of the parts; or, if there is none, the first error or the shards missing."""
    for state, result in parts:
        if state == FAILED:
            return state, result
    missing = [s for state, result in parts if state == MISSING for s in result]
    if missing:
        return MISSING, missing
    return _call(add, [result for _, result in parts])


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

    def _scatter(self, message, homes=None):
        """A message as data of the cluster; as it is if that fails, since a worker may just have died."""
        if message is None:
            return None
        homes = sorted(set(self.home if homes is None else homes) & set(self.client.nthreads()))
        if not homes:
            return message
        try:
            return self.client.scatter([message], workers=homes, broadcast=True, hash=False)[0]
        except Exception:
            return message

    def _submit(self, s, arguments, call=_call):
        return self.client.submit(
            call, *arguments, workers=[self.home[s]], allow_other_workers=False, pure=False, retries=0
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
                    if state == FAILED:
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

    def _total(self, arguments, add):
        """The sum over the shards in a tree; ``arguments(s, lost)`` is what to call for shard s.

        Only the sum comes here. Summands stay where they are until it is there, so that those of workers that
        are not lost are worked out once.
        """
        numbers, leaves, tree, losses = range(len(self.jobs)), {}, [], 0
        alive = set(self._workers())
        lost = {s: self.home[s] not in alive for s in numbers}

        def added(futures):
            tree.append(self.client.submit(_add, add, *futures, pure=False, retries=0))
            return tree[-1]

        try:
            while True:
                for s, how in lost.items():
                    if how:
                        self._move(s, how if isinstance(how, BaseException) else None)
                    leaves[s] = self._submit(s, (s, *arguments(s, how)), _summand)
                tree.clear()
                root = in_tree([leaves[s] for s in numbers], added)
                state, result = self._wait_for(root)
                if state == DONE:
                    self.losses = [0] * len(self.jobs)  # what is counted are losses in a row
                    return result
                if state == FAILED:
                    raise result
                if state == MISSING:
                    lost = dict.fromkeys(result, True)
                    continue
                losses += 1
                alive = set(self._workers())
                lost = {s: result or True for s in numbers if self.home[s] not in alive}
                lost = lost or {s: result for s in numbers if leaves[s].status in ("error", "cancelled", "lost")}
                if losses > MOST_LOSSES and not lost:
                    raise RuntimeError(f"a sum over shards failed {losses} times") from result
                for task in [*tree, *(leaves[s] for s in lost)]:
                    task.cancel()
        finally:
            for task in [*tree, *leaves.values()]:
                task.release()

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
