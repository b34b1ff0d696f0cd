"""Tasks on the workers of a Dask cluster, one for each shard, and what becomes of them
if workers are lost.

A shard is loaded and encoded once, by the worker that is its home, and stays in that
process: a task finds it in a dictionary of a module. A task that does not find it says
so (:class:`Missing`) and is sent again with everything it takes to begin with the shard
anew. So a worker that is lost costs time and changes nothing.

Homes are runs of neighbouring shards, so that most sums of a tree (:mod:`.pieces`) are
of one worker.
"""

import threading
import uuid
from concurrent.futures import Future, wait
from functools import partial
from itertools import chain, compress

from .._data.inputs import describe
from .pieces import FAN, add_neighbours, n_bytes

MOST_LOSSES = 5
"""Workers that may be lost with one shard before it is given up."""

PATIENCE = 60.0
"""Seconds to wait for a worker where there is none."""

POLL = 1.0
"""Seconds between two looks at whether the workers are alive."""

SMALL = 2**23
"""Bytes of a message, times the workers, that may go with the tasks, by the scheduler:
the shortest way.
"""

DONE = "done"
FAILED = "failed"
MISSING = "missing"


# --------------------------------------------------------------------------------------
# What runs on the workers
# --------------------------------------------------------------------------------------
class Missing(Exception):
    """This process does not hold the shard of a number."""


def _call(function, *arguments):
    """Our results and errors as values, so that an exception raised by Dask is always a
    cluster failure.
    """
    try:
        return DONE, function(*arguments)
    except Missing as missing:
        return MISSING, list(missing.args)
    except Exception as error:
        return FAILED, error


def _leaf(function, s, arguments):
    """What comes of a shard, as a node of the tree."""
    return {(0, s): function(*arguments)}


def _summands(function, numbers, calls, n, add):
    """What comes of some shards, added up as far as they are neighbours; as of
    :func:`_add`.
    """
    return _add(
        n,
        add,
        *(_call(_leaf, function, s, arguments) for s, arguments in zip(numbers, calls)),
    )


def _add(n, add, *parts):
    """What came of several shards, or groups of them, added up; or the first error, or
    the shards missing.
    """
    nodes = {}
    missing = []
    for state, result in parts:
        if state == FAILED:
            return state, result
        if state == MISSING:
            missing += result
        else:
            nodes.update(result)
    return (MISSING, missing) if missing else _call(add_neighbours, nodes, n, add)


def _alone(function, *arguments):
    """A list of one: a sum of these is what a function returns by shard."""
    return [function(*arguments)]


def _joined(lists):
    """The sum of lists."""
    return list(chain.from_iterable(lists))


# --------------------------------------------------------------------------------------
# The driver's side
# --------------------------------------------------------------------------------------
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
        raise ImportError('client= needs Dask: pip install "skstruct[dask]"') from error
    if isinstance(client, distributed.Client):
        return client, False
    if not isinstance(client, str):
        kinds = "a Dask client, the address of a scheduler or 'auto'"
        raise ValueError(f"client must be {kinds}, got {describe(client)}")
    if client != "auto":
        return distributed.Client(client), True
    try:
        return distributed.get_client(), False
    except ValueError as error:
        remedy = "create one first, or give the address of a scheduler"
        raise ValueError(
            f"client='auto' found no Dask client in this process: {remedy}"
        ) from error


def _answer_of(task):
    """A future for the result of a Dask task, which may never come.

    Asking Dask blocks for good if the worker dies while it answers. So each task has a
    thread of its own, and the interpreter does not wait for these threads when it ends,
    as it would for those of a pool.
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

    def _settle(self, n_shards):
        """Give each shard a home."""
        self.n_shards = n_shards
        self.losses = [0] * n_shards
        workers = self._workers()
        self.home = [
            workers[s * len(workers) // self.n_shards] for s in range(self.n_shards)
        ]

    def _workers(self):
        """Addresses of the workers there are, sorted; waits for the first."""
        workers = sorted(self.client.nthreads())
        if not workers:
            self.client.wait_for_workers(1, timeout=PATIENCE)
            workers = sorted(self.client.nthreads())
        return workers

    def _shared(self, message):
        """A message as data of the cluster, which goes to one worker, and from there to
        those that need it.

        To let Dask copy it to all workers would wait for one that has just died. A
        small one stays as it is.
        """
        if n_bytes(message) * len(set(self.home)) <= SMALL:
            return message
        try:
            return self.client.scatter([message], hash=False)[0]
        except Exception:  # a worker may just have died
            return message

    def _submit(self, numbers, function, calls, add):
        """A task for some shards of one home; see :func:`_summands`."""
        return self.client.submit(
            _summands, function, numbers, calls, self.n_shards, add, workers=[self.home[numbers[0]]],
            allow_other_workers=False, pure=False, retries=0,
        )  # fmt: skip

    def _groups(self, numbers):
        """Shards of one home, neighbours together; as many groups of each as it has
        threads.
        """
        threads = self.client.nthreads()
        by_home = {}
        for s in sorted(numbers):
            by_home.setdefault(self.home[s], []).append(s)
        for home, mine in by_home.items():
            n = min(threads.get(home, 1), len(mine))
            bounds = [len(mine) * k // n for k in range(n + 1)]
            yield from (mine[a:b] for a, b in zip(bounds, bounds[1:]))

    def _move(self, s, error):
        """Give a shard another home."""
        self.losses[s] += 1
        if self.losses[s] > MOST_LOSSES:
            why = f"{MOST_LOSSES} workers were lost while they worked on it (out of memory?)"
            raise RuntimeError(f"shard {s} was given up: {why}") from error
        workers = self._workers()
        load = {address: self.home.count(address) for address in workers}
        if self.home[s] not in load:
            self.home[s] = min(workers, key=lambda address: (load[address], address))

    def _send(self, function, arguments, add, lost, error):
        """Tasks for shards, {their numbers: task}; ``lost``: by shard, whether its home
        is, by ``error``.
        """
        for s in compress(lost, lost.values()):
            self._move(s, error)
        tasks = {}
        for numbers in self._groups(lost):
            calls = [arguments(s, lost[s]) for s in numbers]
            tasks[tuple(numbers)] = self._submit(numbers, function, calls, add)
        return tasks

    def _run(self, function, arguments):
        """What a function returns, by shard; arguments as of :meth:`_total`."""
        return self._total(partial(_alone, function), arguments, _joined)

    def _total(self, function, arguments, add):
        """The sum over the shards in a tree (see :func:`.pieces.add_neighbours`) of
        what a function returns.

        Only the sum comes here. Summands stay where they are until it is there, so that
        those of workers that are not lost are worked out once.

        Parameters
        ----------
        function : callable
        arguments : callable
            ``arguments(s, lost)`` is a list of what to call it with for shard s;
            ``lost``: whether the shard has to be made anew.
        add : callable
            Adds up a list of summands.
        """
        groups = {}
        tree = []
        failures = 0
        error = None
        alive = set(self._workers())
        lost = {s: home not in alive for s, home in enumerate(self.home)}
        try:
            while True:
                groups.update(self._send(function, arguments, add, lost, error))
                tree = self._tree([groups[numbers] for numbers in sorted(groups)], add)
                state, result = self._wait_for(tree[-1])
                if state == DONE:
                    self.losses = [
                        0
                    ] * self.n_shards  # what is counted are losses in a row
                    total = result[max(result)]
                    self.received += n_bytes(total)
                    return total
                if state == FAILED:
                    raise result
                alive = set(self._workers())
                gone = [
                    numbers
                    for numbers, task in groups.items()
                    if self.home[numbers[0]] not in alive
                    or task.status in ("error", "cancelled", "lost")
                    or (state == MISSING and not set(result).isdisjoint(numbers))
                ]
                failures += not gone  # what fails with a shard is counted as its loss
                if failures > MOST_LOSSES:
                    raise RuntimeError(
                        f"a sum over shards failed {failures} times"
                    ) from result
                for task in [*tree, *(groups.pop(numbers) for numbers in gone)]:
                    task.cancel()
                lost = dict.fromkeys(chain(*gone), True)
                error = result if state is None else None
        finally:
            for task in [*tree, *groups.values()]:
                task.release()

    def _tree(self, tasks, add):
        """Tasks that add up neighbours, and their sums again; the last one adds up all."""
        tree = []
        while True:
            tasks = [
                self.client.submit(
                    _add, self.n_shards, add, *tasks[k : k + FAN], pure=False, retries=0
                )
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
            if not set(self.home).issubset(self.client.nthreads()):
                return None, None
