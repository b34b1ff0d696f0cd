"""Objects that hold a shard each, here or in the processes of a Dask cluster, and sums
over them.

Which object holds a shard, its maker says. It is prepared in *steps*, methods that
change it; it is *asked* by methods that change nothing that another question would see,
and a *sum* adds up the answers in a tree (:mod:`.pieces`). So the steps, of which only
the last of a name counts, are what it takes to make the object anew in another process.
Methods are called with two arguments: what is for this shard, and what is for all.
"""

from contextlib import suppress

from .._training.chunks import threads
from .pieces import in_tree, n_bytes
from .tasks import Missing, Tasks


class LocalShards:
    """Shards in threads of this process.

    Parameters
    ----------
    n_jobs : int or None
    """

    def __init__(self, n_jobs):
        self.n_jobs = n_jobs
        self.objects = []
        self.sent = 0
        self.received = 0

    def _map(self, function, items):
        with threads(self.n_jobs, len(items)) as map_all:
            return list(map_all(function, items))

    def make(self, maker, jobs):
        """Make the object of each shard: ``maker(job)``."""
        self.objects = self._map(maker, list(jobs))
        self.n_shards = len(self.objects)

    def _call(self, name, each, shared):
        self.sent += n_bytes(each) + self.n_shards * n_bytes(shared)
        each = [None] * self.n_shards if each is None else each
        return self._map(
            lambda held: getattr(held[0], name)(held[1], shared),
            list(zip(self.objects, each)),
        )

    def ask(self, name, each=None, shared=None):
        """A list of what a method that changes nothing returns, by shard."""
        results = self._call(name, each, shared)
        self.received += n_bytes(results)
        return results

    def step(self, name, each=None, shared=None, anew=None, adds=False):
        """The same of a method that changes the objects.

        Parameters
        ----------
        anew : callable, optional
            Returns what is for all in place of ``shared``, if an object has to be made
            anew.
        adds : bool
            Whether such an object needs the earlier steps of this name, too.
        """
        return self.ask(name, each, shared)

    def total(self, name, add, each=None, shared=None):
        """The sum, by ``add`` (see :func:`.in_tree`), of what a method returns that
        changes nothing.
        """
        total = in_tree(self._call(name, each, shared), add)
        self.received += n_bytes(total)
        return total

    def close(self):
        """Release the shards."""
        self.objects = []


# --------------------------------------------------------------------------------------
# What runs on the workers
# --------------------------------------------------------------------------------------
_HELD = {}  # by (fit, shard): the object, and how many steps were taken


def _holder(fit, number, n_steps, again):
    """The object after so many steps; ``again``: make it anew if the worker does not
    hold it.
    """
    if again is not None:
        job, maker, steps = again
        held = maker(job)
        for name, mine, shared in steps:
            getattr(held, name)(mine, shared)
        _HELD[fit, number] = held, n_steps
    held, reached = _HELD.get((fit, number), (None, None))
    if reached != n_steps:
        raise Missing(number)
    return held


def _make(fit, number, maker, job):
    _HELD[fit, number] = maker(job), 0


def _step(fit, number, n_steps, name, mine, shared, again):
    held = _holder(fit, number, n_steps, again)
    del _HELD[fit, number]  # until it is done
    result = getattr(held, name)(mine, shared)
    _HELD[fit, number] = held, n_steps + 1
    return result


def _ask(fit, number, n_steps, name, mine, shared, again):
    return getattr(_holder(fit, number, n_steps, again), name)(mine, shared)


def _forget(fit):
    for key in [key for key in _HELD if key[0] == fit]:
        del _HELD[key]


# --------------------------------------------------------------------------------------
# The driver's side
# --------------------------------------------------------------------------------------
class DaskShards(Tasks):
    """Shards in the processes of a Dask cluster; see :func:`.tasks.connect` for
    ``client``.
    """

    def __init__(self, client):
        super().__init__(client)
        # steps: what each is, by key
        self.steps = {}
        self.n_steps = 0

    def make(self, maker, jobs):
        """See :class:`LocalShards`."""
        self.maker = maker
        self.jobs = jobs
        self._settle(len(jobs))
        self._run(_make, lambda s, lost: [self.fit, s, maker, jobs[s]])

    def _again(self, s, without):
        """What it takes to make the object of a shard anew, but for one step."""
        steps = [
            (name, each and each[s], shared() if callable(shared) else shared)
            for key, (name, each, shared) in self.steps.items()
            if key != without
        ]
        return self.jobs[s], self.maker, steps

    def _arguments(self, name, each, shared, key=None, anew=None):
        """The arguments of :func:`_step` and :func:`_ask`, as :class:`.tasks.Tasks`
        takes them.
        """
        message = self._shared(shared)

        def arguments(s, lost):
            mine = each and each[s]
            all_of = message
            again = None
            if lost:
                all_of = shared if anew is None else anew()
                again = self._again(s, key)
            self.sent += n_bytes((mine, shared))
            return [self.fit, s, self.n_steps, name, mine, all_of, again]

        return arguments

    def ask(self, name, each=None, shared=None):
        """See :class:`LocalShards`."""
        return self._run(_ask, self._arguments(name, each, shared))

    def step(self, name, each=None, shared=None, anew=None, adds=False):
        """See :class:`LocalShards`."""
        key = (name, self.n_steps) if adds else name
        results = self._run(_step, self._arguments(name, each, shared, key, anew))
        self.steps.pop(key, None)
        self.steps[key] = name, each, shared if anew is None else anew
        self.n_steps += 1
        return results

    def total(self, name, add, each=None, shared=None):
        """See :class:`LocalShards`."""
        return self._total(_ask, self._arguments(name, each, shared), add)

    def close(self):
        """Let the workers forget the shards."""
        with suppress(Exception):  # they may be gone
            self.client.run(_forget, self.fit)
        if self.ours:
            self.client.close()
