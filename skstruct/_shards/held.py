"""Objects that hold a shard each, here or in the processes of a Dask cluster, and sums
over them.

Which object holds a shard, its maker says. It is prepared in *steps*, methods that
change it; it is *asked* by methods that change nothing that another question would see,
and a *sum* adds up the answers in a tree (:mod:`.pieces`). So the steps, of which only
the last of a name counts, are what it takes to make the object anew in another process.
Methods are called with two arguments: what is for this shard, and what is for all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from .._training.chunks import threads
from .pieces import in_tree, n_bytes
from .tasks import Missing, Tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from distributed import Client, Future

    from .tasks import Add, Arguments

    Maker: TypeAlias = Callable[[Any], Any]
    """Makes the object of a shard, of what describes the shard."""


class LocalShards:
    """Shards in threads of this process.

    Parameters
    ----------
    n_jobs : int or None

    Attributes
    ----------
    objects : list
        By shard.
    sent, received : int
        Bytes that a cluster would have had to send so far.
    """

    def __init__(self, n_jobs: int | None) -> None:
        self.n_jobs = n_jobs
        self.objects: list[Any] = []
        self.n_shards = 0
        self.sent = 0
        self.received = 0

    def _map(self, function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        with threads(self.n_jobs, len(items)) as map_all:
            return list(map_all(function, items))

    def make(self, maker: Maker, jobs: Sequence[Any]) -> None:
        """Make the object of each shard: ``maker(job)``."""
        self.objects = self._map(maker, list(jobs))
        self.n_shards = len(self.objects)

    def _call(self, name: str, each: Sequence[Any] | None, shared: Any) -> list[Any]:
        self.sent += n_bytes(each) + self.n_shards * n_bytes(shared)
        each = [None] * self.n_shards if each is None else each
        return self._map(
            lambda held: getattr(held[0], name)(held[1], shared),
            list(zip(self.objects, each)),
        )

    def ask(
        self, name: str, each: Sequence[Any] | None = None, shared: Any = None
    ) -> list[Any]:
        """Call a method that changes nothing, of each object.

        Parameters
        ----------
        name : str
            Of the method.
        each : list, optional
            By shard, its first argument; None for all by default.
        shared
            The second argument, for all.

        Returns
        -------
        list
            By shard, what the method returns.
        """
        results = self._call(name, each, shared)
        self.received += n_bytes(results)
        return results

    def step(
        self,
        name: str,
        each: Sequence[Any] | None = None,
        shared: Any = None,
        anew: Callable[[], Any] | None = None,
        adds: bool = False,
    ) -> list[Any]:
        """Call a method that changes the objects, of each of them.

        Parameters
        ----------
        name, each, shared
            As of :meth:`ask`.
        anew : callable, optional
            Returns what is for all in place of ``shared``, if an object has to be made
            anew.
        adds : bool
            Whether such an object needs the earlier steps of this name, too.

        Returns
        -------
        list
            By shard, what the method returns.
        """
        return self.ask(name, each, shared)

    def total(
        self,
        name: str,
        add: Add,
        each: Sequence[Any] | None = None,
        shared: Any = None,
    ) -> Any:
        """Add up, in a tree, what a method returns that changes nothing.

        ``add`` adds up a list of summands, as of :func:`.in_tree`; the other arguments
        are those of :meth:`ask`.
        """
        total = in_tree(self._call(name, each, shared), add)
        self.received += n_bytes(total)
        return total

    def close(self) -> None:
        """Release the shards."""
        self.objects = []


# --------------------------------------------------------------------------------------
# What runs on the workers
# --------------------------------------------------------------------------------------
class Held:
    """The object of a shard in the memory of a worker, as the result of a Dask task.

    Dask frees it when the driver lets go of the task, or when the driver is gone.

    Attributes
    ----------
    object
    n_steps : int
        How many steps were taken; -1 while one is.
    error : Exception or None
        What was raised when the object was made.
    """

    def __init__(
        self, maker: Maker, job: Any, n_steps: int, steps: Sequence[tuple[Any, ...]]
    ) -> None:
        self.object: Any = None
        self.n_steps = n_steps
        self.error: Exception | None = None
        try:
            self.object = maker(job)
            for name, mine, shared in steps:
                getattr(self.object, name)(mine, shared)
        except Exception as error:
            self.error = error

    def after(self, n_steps: int, number: int) -> Any:
        """Return the object after so many steps.

        Raises
        ------
        Missing
            With the ``number`` of the shard, if it has taken others: Dask has made it
            anew, or read an older one from disk.
        """
        if self.error is not None:
            raise self.error
        if self.n_steps != n_steps:
            raise Missing(number)
        return self.object


def _made(
    held: Held, number: int, n_steps: int, name: str, mine: Any, shared: Any
) -> None:
    held.after(n_steps, number)


def _step(
    held: Held, number: int, n_steps: int, name: str, mine: Any, shared: Any
) -> Any:
    method = getattr(held.after(n_steps, number), name)
    held.n_steps = -1  # until it is done
    result = method(mine, shared)
    held.n_steps = n_steps + 1
    return result


def _ask(
    held: Held, number: int, n_steps: int, name: str, mine: Any, shared: Any
) -> Any:
    return getattr(held.after(n_steps, number), name)(mine, shared)


# --------------------------------------------------------------------------------------
# The driver's side
# --------------------------------------------------------------------------------------
class Step(NamedTuple):
    """A step that was taken; arguments as of :meth:`LocalShards.step`."""

    name: str
    each: Sequence[Any] | None
    shared: Any  # or a callable that returns it

    def of(self, s: int) -> tuple[str, Any, Any]:
        """Return the name of the method, and its arguments for a shard."""
        shared = self.shared() if callable(self.shared) else self.shared
        return self.name, self.each and self.each[s], shared


class DaskShards(Tasks):
    """Shards in the processes of a Dask cluster.

    Parameters
    ----------
    client : distributed.Client or str
        As of :func:`.tasks.connect`.

    Attributes
    ----------
    held : list of distributed.Future
        By shard, the :class:`Held` at its home.
    steps : dict
        The steps that it takes to make an object anew, in their order.
    n_steps : int
        Of all that were taken.
    """

    def __init__(self, client: Client | str) -> None:
        super().__init__(client)
        self.held: list[Future] = []
        self.steps: dict[Any, Step] = {}
        self.n_steps = 0

    def make(self, maker: Maker, jobs: Sequence[Any]) -> None:
        """Make the object of each shard, ``maker(job)``, at the home of the shard."""
        self.maker = maker
        self.jobs = jobs
        self._settle(len(jobs))
        self.held = [self._hold(s, ()) for s in range(len(jobs))]
        self._run(_made, self._arguments("", None, None))

    def _hold(self, s: int, steps: Sequence[tuple[Any, ...]]) -> Future:
        """Let the home of a shard make its object, and take steps."""
        return self.client.submit(
            Held, self.maker, self.jobs[s], self.n_steps, steps, workers=[self.home[s]],
            allow_other_workers=False, pure=False, retries=0,
        )  # fmt: skip

    def _arguments(
        self,
        name: str,
        each: Sequence[Any] | None,
        shared: Any,
        key: Any = None,
        anew: Callable[[], Any] | None = None,
    ) -> Arguments:
        """Return what gives the arguments of :func:`_step` and :func:`_ask` by shard.

        ``key``: of the step that is taken, which a lost object takes only now.
        """
        message = self._shared(shared)

        def arguments(s: int, lost: bool) -> list[Any]:
            mine = each and each[s]
            all_of = message
            if lost:
                all_of = shared if anew is None else anew()
                before = [step for at, step in self.steps.items() if at != key]
                self.held[s] = self._hold(s, [step.of(s) for step in before])
            self.sent += n_bytes((mine, shared))
            return [self.held[s], s, self.n_steps, name, mine, all_of]

        return arguments

    def ask(
        self, name: str, each: Sequence[Any] | None = None, shared: Any = None
    ) -> list[Any]:
        """Call a method that changes nothing, of each object; a list of its results.

        Arguments are those of :meth:`LocalShards.ask`.
        """
        return self._run(_ask, self._arguments(name, each, shared))

    def step(
        self,
        name: str,
        each: Sequence[Any] | None = None,
        shared: Any = None,
        anew: Callable[[], Any] | None = None,
        adds: bool = False,
    ) -> list[Any]:
        """Call a method that changes the objects, of each; a list of its results.

        Arguments are those of :meth:`LocalShards.step`.
        """
        key = (name, self.n_steps) if adds else name
        results = self._run(_step, self._arguments(name, each, shared, key, anew))
        self.steps.pop(key, None)
        self.steps[key] = Step(name, each, shared if anew is None else anew)
        self.n_steps += 1
        return results

    def total(
        self,
        name: str,
        add: Add,
        each: Sequence[Any] | None = None,
        shared: Any = None,
    ) -> Any:
        """Add up, in a tree, what a method returns that changes nothing.

        Only the sum comes here. Arguments are those of :meth:`LocalShards.total`.
        """
        return self._total(_ask, self._arguments(name, each, shared), add)

    def close(self) -> None:
        """Let go of the shards, which the workers forget then."""
        self.held = []
        if self.ours:
            self.client.close()
