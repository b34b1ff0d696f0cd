"""Objects that hold a shard each, here or in the processes of a Dask cluster, and sums over them.

Which object holds a shard, its maker says. It is prepared in *steps*, methods that change it; a *sum* adds
up what a method returns for each shard, in a tree (:mod:`.tree`), and changes nothing that another sum would
see. So the steps, of which only the last of a name counts, are what it takes to make the object anew in
another process. Methods are called with two arguments: what is for this shard, and what is for all.
"""

from concurrent.futures import ThreadPoolExecutor

from joblib import effective_n_jobs

from .tasks import Missing, Tasks
from .tree import in_tree
from .weights import n_bytes


class LocalShards:
    """Shards in threads of this process.

    Parameters
    ----------
    n_jobs : int or None
    """

    def __init__(self, n_jobs):
        self.threads = effective_n_jobs(n_jobs)
        self.pool = ThreadPoolExecutor(self.threads) if self.threads > 1 else None
        self.objects, self.sent, self.received = [], 0, 0

    def _map(self, function, *items):
        return list((map if self.pool is None else self.pool.map)(function, *items))

    def make(self, maker, jobs):
        """Make the object of each shard: ``maker(job)``."""
        self.objects = self._map(maker, jobs)

    def step(self, name, each=None, shared=None):
        """Call a method that changes the objects; a list of what it returns by shard."""
        self.sent += n_bytes(each) + len(self.objects) * n_bytes(shared)
        each = [None] * len(self.objects) if each is None else each
        results = self._map(lambda held, mine: getattr(held, name)(mine, shared), self.objects, each)
        self.received += n_bytes(results)
        return results

    def total(self, name, add, shared=None):
        """The sum, by ``add`` (see :func:`.tree.in_tree`), of what a method returns."""
        self.sent += len(self.objects) * n_bytes(shared)
        total = in_tree(self._map(lambda held: getattr(held, name)(None, shared), self.objects), add)
        self.received += n_bytes(total)
        return total

    def close(self):
        """Release the shards."""
        self.objects = []
        if self.pool is not None:
            self.pool.shutdown()


# --------------------------------------------------------------------------------------------------
# What runs on the workers
# --------------------------------------------------------------------------------------------------
_HELD = {}  # by (fit, shard): the object, and how many steps were taken


def _holder(fit, number, n_steps, again):
    """The object after so many steps; ``again``: make it anew if the worker does not hold it."""
    if again is not None:
        job, maker, steps = again
        held = maker(job)
        for name, mine, shared in steps:
            getattr(held, name)(mine, shared)
        _HELD[fit, number] = held, n_steps
    held, reached = _HELD.get((fit, number), (None, None))
    if reached != n_steps:
        raise Missing
    return held


def _make(fit, number, maker, job):
    _HELD[fit, number] = maker(job), 0


def _step(fit, number, n_steps, name, mine, shared, again):
    held = _holder(fit, number, n_steps, again)
    del _HELD[fit, number]  # until it is done
    result = getattr(held, name)(mine, shared)
    _HELD[fit, number] = held, n_steps + 1
    return result


def _share(fit, number, n_steps, name, shared, again):
    return getattr(_holder(fit, number, n_steps, again), name)(None, shared)


def _forget(fit):
    for key in [key for key in _HELD if key[0] == fit]:
        del _HELD[key]


# --------------------------------------------------------------------------------------------------
# The driver's side
# --------------------------------------------------------------------------------------------------
class DaskShards(Tasks):
    """Shards in the processes of a Dask cluster; see :func:`.tasks.connect` for ``client``."""

    def __init__(self, client):
        super().__init__(client)
        self.maker, self.steps, self.n_steps = None, {}, 0

    def make(self, maker, jobs):
        """See :class:`LocalShards`."""
        self.maker = maker
        self._settle(jobs)
        self._run(_make, lambda s, lost: [self.fit, s, maker, jobs[s]])

    def _again(self, s):
        steps = [(name, each and each[s], shared) for name, (each, shared) in self.steps.items()]
        return self.jobs[s], self.maker, steps

    def step(self, name, each=None, shared=None):
        """See :class:`LocalShards`."""
        message = self._shared(shared)

        def arguments(s, lost):
            mine, again = each and each[s], self._again(s) if lost else None
            self.sent += n_bytes((mine, shared))
            return [self.fit, s, self.n_steps, name, mine, shared if lost else message, again]

        results = self._run(_step, arguments)
        self.steps.pop(name, None)
        self.steps[name] = each, shared
        self.n_steps += 1
        self.received += n_bytes(results)
        return results

    def total(self, name, add, shared=None):
        """See :class:`LocalShards`."""
        message = self._shared(shared)

        def arguments(s, lost):
            self.sent += n_bytes(shared)
            again = self._again(s) if lost else None
            return [self.fit, s, self.n_steps, name, shared if lost else message, again]

        total = self._total(_share, arguments, add)
        self.received += n_bytes(total)
        return total

    def close(self):
        """Let the workers forget the shards."""
        self._close(_forget)
