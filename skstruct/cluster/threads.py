"""A crew in threads of this process; see ``workers`` for what crews do."""

from concurrent.futures import ThreadPoolExecutor

from joblib import effective_n_jobs

from .changes import add_changes
from .loading import joined_shard, open_shard
from .shards import Shard, shard_key
from .tree import in_tree
from .weights import n_bytes


class Threads:
    """Shards in this process.

    Parameters
    ----------
    n_jobs : int or None
    """

    def __init__(self, n_jobs, shards=()):
        self.n_jobs, self.shards = n_jobs, list(shards)
        self.runs, self.sent, self.received = [], 0, 0

    def _map(self, function, *items):
        threads = min(effective_n_jobs(self.n_jobs), len(items[0]))
        if threads == 1:
            return list(map(function, *items))
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(function, *items))

    def open(self, jobs):
        """Load and encode; a list of ``loading.Opened``."""
        self.runs, opened = zip(*self._map(open_shard, jobs))
        return list(opened)

    def join(self, plans, alone):
        """Bring all shards to one vocabulary."""
        self.shards = [joined_shard(run, plan, alone) for run, plan in zip(self.runs, plans)]
        self.runs = []

    @property
    def n_shards(self):
        """Shards there are, once they are joined."""
        return len(self.shards)

    def fingerprints(self):
        """A digest of each shard's examples."""
        return self._map(Shard.fingerprint, self.shards)

    def resume(self, key, model, epoch):
        """Go on after ``epoch`` epochs of another fit with the random key; a shard alone with its model."""
        for s, shard in enumerate(self.shards):
            shard.resume(shard_key(key, s), model)

    def train(self, epoch, n_epochs, start, full):
        """A round of all shards; ``start(full)`` is called for what they begin with. A list of reports."""
        message = None if start is None else start(full)
        reports = self._map(lambda shard: shard.train(epoch, n_epochs, message), self.shards)
        self.sent += len(self.shards) * n_bytes(message)
        self.received += n_bytes(reports)
        return reports

    def changes(self, coefficients, counted):
        """The sum of what the shards have changed in the last round; see ``Shard.changes``."""
        found = self._map(lambda shard, mine: shard.changes(mine, counted), self.shards, coefficients)
        total = in_tree(found, add_changes)
        self.sent += n_bytes(coefficients)
        self.received += n_bytes(total)
        return total

    def model(self):
        """The model of a shard that is alone."""
        return self.shards[0].model

    def close(self):
        """Release the shards."""
        self.shards = self.runs = []
