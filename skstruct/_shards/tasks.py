"""Tasks on the workers of a Dask cluster, one for each shard, and what becomes of them
if workers are lost.

A shard is loaded and encoded once, by the worker that is its home, and stays in that
process as the result of a task: Dask keeps it as long as the driver holds that task,
and frees it if the driver is gone. Where it is lost, or not what it was
(:class:`Missing`), it is made anew by a task that brings all that this takes. So a
worker that is lost costs time and changes nothing.

Homes are runs of neighbouring shards, so that most sums of a tree (:mod:`.pieces`) are
of one worker.
"""

from __future__ import annotations

import threading
from concurrent.futures import Future, wait
from functools import partial
from itertools import chain, compress
from typing import TYPE_CHECKING, Any, TypeAlias

from .._data.inputs import describe
from .pieces import FAN, add_neighbours, n_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import distributed

    Add: TypeAlias = Callable[[list[Any]], Any]
    """Adds up a list of summands."""

    Arguments: TypeAlias = Callable[[int, bool], Sequence[Any]]
    """``arguments(s, lost)``: what to call a function with for shard s; ``lost``:
    whether the shard has to be made anew.
    """

    Outcome: TypeAlias = tuple[str | None, Any]
    """DONE and nodes of the tree, FAILED and an error, MISSING and numbers of shards;
    None if a worker is lost.
    """

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
    """This process does not hold the shard of a number as it should be."""


def _call(function: Callable[..., Any], *arguments: Any) -> Outcome:
    """Call a function; errors are results, too.

    So an exception that Dask raises is always a failure of the cluster.
    """
    try:
        return DONE, function(*arguments)
    except Missing as missing:
        return MISSING, list(missing.args)
    except Exception as error:
        return FAILED, error


def _leaf(
    function: Callable[..., Any], s: int, arguments: Sequence[Any]
) -> dict[tuple[int, int], Any]:
    """Return what comes of a shard, as a node of the tree."""
    return {(0, s): function(*arguments)}


def _summands(
    function: Callable[..., Any],
    numbers: Sequence[int],
    calls: Sequence[Sequence[Any]],
    n: int,
    add: Add,
) -> Outcome:
    """Call a function for some shards, and add up results of neighbours."""
    return _add(
        n,
        add,
        *(_call(_leaf, function, s, arguments) for s, arguments in zip(numbers, calls)),
    )


def _add(n: int, add: Add, *parts: Outcome) -> Outcome:
    """Add up what came of several shards, or groups of them.

    Returns the first error if there is one, or the numbers of the shards missing.
    """
    nodes: dict[tuple[int, int], Any] = {}
    missing: list[int] = []
    for state, result in parts:
        if state == FAILED:
            return state, result
        if state == MISSING:
            missing += result
        else:
            nodes.update(result)
    return (MISSING, missing) if missing else _call(add_neighbours, nodes, n, add)


def _alone(function: Callable[..., Any], *arguments: Any) -> list[Any]:
    """Call a function, and return its result as a list of one, which `_joined` joins."""
    return [function(*arguments)]


def _joined(lists: list[list[Any]]) -> list[Any]:
    """Join lists."""
    return list(chain.from_iterable(lists))


# --------------------------------------------------------------------------------------
# The driver's side
# --------------------------------------------------------------------------------------
def connect(client: distributed.Client | str) -> tuple[distributed.Client, bool]:
    """Return a Dask client, and whether it is ours to close.

    Parameters
    ----------
    client : distributed.Client or str
        A client, the address of a scheduler, or "auto" for the client there is.

    Raises
    ------
    ImportError
        If Dask is not installed.
    ValueError
        If it is none of these, or "auto" finds no client.
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


def _answer_of(task: distributed.Future) -> Future[Outcome]:
    """Return a future for the result of a Dask task, which may never come.

    Asking Dask blocks for good if the worker dies while it answers. So each task has a
    thread of its own, and the interpreter does not wait for these threads when it ends,
    as it would for those of a pool.
    """
    answer: Future[Outcome] = Future()

    def ask() -> None:
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
        As of :func:`connect`.

    Attributes
    ----------
    home : list of str
        By shard, the address of its worker.
    losses : list of int
        By shard, how many workers were lost with it, one after the other.
    sent, received : int
        Bytes so far.
    """

    n_shards: int
    home: list[str]
    losses: list[int]

    def __init__(self, client: distributed.Client | str) -> None:
        self.client, self.ours = connect(client)
        self.sent = 0
        self.received = 0

    def _settle(self, n_shards: int) -> None:
        """Give each shard a home."""
        self.n_shards = n_shards
        self.losses = [0] * n_shards
        workers = self._workers()
        self.home = [
            workers[s * len(workers) // self.n_shards] for s in range(self.n_shards)
        ]

    def _workers(self) -> list[str]:
        """Return the addresses of the workers, sorted; waits for the first."""
        workers = sorted(self.client.nthreads())
        if not workers:
            self.client.wait_for_workers(1, timeout=PATIENCE)
            workers = sorted(self.client.nthreads())
        return workers

    def _shared(self, message: Any) -> Any:
        """Send a message to one worker, from which the others get it, and return its
        future.

        To let Dask copy it to all workers would wait for one that has just died. A
        small one stays as it is.
        """
        if n_bytes(message) * len(set(self.home)) <= SMALL:
            return message
        try:
            return self.client.scatter([message], hash=False)[0]
        except Exception:  # a worker may just have died
            return message

    def _submit(
        self,
        numbers: Sequence[int],
        function: Callable[..., Any],
        calls: Sequence[Sequence[Any]],
        add: Add,
    ) -> distributed.Future:
        """Return a task for some shards of one home; see :func:`_summands`."""
        return self.client.submit(
            _summands, function, numbers, calls, self.n_shards, add, workers=[self.home[numbers[0]]],
            allow_other_workers=False, pure=False, retries=0,
        )  # fmt: skip

    def _groups(self, numbers: dict[int, bool]) -> Iterator[list[int]]:
        """Group the shards of each worker, neighbours together, in as many groups as it
        has threads.
        """
        threads = self.client.nthreads()
        by_home: dict[str, list[int]] = {}
        for s in sorted(numbers):
            by_home.setdefault(self.home[s], []).append(s)
        for home, mine in by_home.items():
            n = min(threads.get(home, 1), len(mine))
            bounds = [len(mine) * k // n for k in range(n + 1)]
            yield from (mine[a:b] for a, b in zip(bounds, bounds[1:]))

    def _move(self, s: int, error: BaseException | None) -> None:
        """Give a shard another home."""
        self.losses[s] += 1
        if self.losses[s] > MOST_LOSSES:
            raise RuntimeError(
                f"shard {s} was given up: {MOST_LOSSES} workers were lost while they "
                f"worked on it (out of memory?)"
            ) from error
        workers = self._workers()
        load = {address: self.home.count(address) for address in workers}
        if self.home[s] not in load:
            self.home[s] = min(workers, key=lambda address: (load[address], address))

    def _send(
        self,
        function: Callable[..., Any],
        arguments: Arguments,
        add: Add,
        lost: dict[int, bool],
        error: BaseException | None,
    ) -> dict[tuple[int, ...], distributed.Future]:
        """Send tasks for shards, and return {their numbers: task}.

        ``lost`` tells by shard whether its home is lost, by ``error``.
        """
        for s in compress(lost, lost.values()):
            self._move(s, error)
        tasks = {}
        for numbers in self._groups(lost):
            calls = [arguments(s, lost[s]) for s in numbers]
            tasks[tuple(numbers)] = self._submit(numbers, function, calls, add)
        return tasks

    def _run(self, function: Callable[..., Any], arguments: Arguments) -> list[Any]:
        """Return what a function returns, by shard; arguments as of :meth:`_total`."""
        return self._total(partial(_alone, function), arguments, _joined)

    def _total(
        self, function: Callable[..., Any], arguments: Arguments, add: Add
    ) -> Any:
        """Add up what a function returns, in a tree over the shards.

        Only the sum comes here. Summands stay where they are until it is there, so that
        those of workers that are not lost are worked out once.

        Parameters
        ----------
        function : callable
        arguments : callable
            ``arguments(s, lost)`` is a list of what to call it with for shard s;
            ``lost``: whether the shard has to be made anew.
        add : callable
            Adds up a list of summands, as of :func:`.pieces.add_neighbours`.

        Raises
        ------
        RuntimeError
            If workers are lost again and again.
        """
        groups: dict[tuple[int, ...], distributed.Future] = {}
        tree: list[distributed.Future] = []
        failures = 0
        error: BaseException | None = None
        alive = set(self._workers())
        lost = {s: home not in alive for s, home in enumerate(self.home)}
        try:
            while True:
                groups.update(self._send(function, arguments, add, lost, error))
                tree = self._tree([groups[numbers] for numbers in sorted(groups)], add)
                state, result = self._wait_for(tree[-1])
                if state == DONE:
                    self.losses = [0] * self.n_shards  # it counts those in a row
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

    def _tree(
        self, tasks: list[distributed.Future], add: Add
    ) -> list[distributed.Future]:
        """Submit tasks that add up neighbours, and their sums; the last is the root."""
        tree: list[distributed.Future] = []
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

    def _wait_for(self, root: distributed.Future) -> Outcome:
        """Wait for a sum, and return (None, error or None) if a worker is lost."""
        answer = _answer_of(root)
        while True:
            done, _ = wait([answer], timeout=POLL)
            if done:
                error = answer.exception()
                return (None, error) if error is not None else answer.result()
            if not set(self.home).issubset(self.client.nthreads()):
                return None, None
