"""How the cost of sharding grows with the number of workers, on workers that are
simulated one after the other in this process.

Each shard stands for a worker with a processor of its own. The script notes the CPU
time of every call of a shard, of every addition in the tree over the shards, and of the
rest, which is the driver's; and it counts the bytes that would travel. *Busiest* is the
worker with the most work in each step, added up over the steps; *tree* is the longest
path of additions; their sum with the driver's time is the time of a cluster whose
network costs nothing. *Links* says what a network adds: the bytes of the driver's own
link, in both directions, at one gigabit a second.
"""

import argparse
import time

from benchmarks.common import load_sxu, table
from skstruct import L1CRF, ParameterMixer, StructuredPerceptron
from skstruct._crf import sharded
from skstruct._shards.held import LocalShards
from skstruct._shards.mixing import mixer
from skstruct._shards.pieces import FAN, n_bytes

GIGABIT = 1e9 / 8


class SimulatedWorkers(LocalShards):
    """Shards in this process, one after the other, with the time of each."""

    made = []

    def __init__(self, n_jobs):
        super().__init__(1)
        self.busiest = self.tree = self.work = 0.0
        self.steps = 0
        self.made.append(self)

    def _map(self, function, items):
        results, seconds = [], []
        for item in items:
            began = time.process_time()
            results.append(function(item))
            seconds.append(time.process_time() - began)
        self.busiest += max(seconds, default=0.0)
        self.work += sum(seconds)
        self.steps += 1
        return results

    def total(self, name, add, each=None, shared=None):
        """Add up level by level; workers of one level add at the same time."""
        level = self._call(name, each, shared)
        while len(level) > 1:
            sums, seconds = [], []
            for k in range(0, len(level), FAN):
                began = time.process_time()
                part = level[k : k + FAN]
                sums.append(add(part) if len(part) > 1 else part[0])
                seconds.append(time.process_time() - began)
            self.tree += max(seconds)
            self.work += sum(seconds)
            level = sums
        self.received += n_bytes(level[0])
        return level[0]


def mixed(loads, epochs):
    """Mix perceptrons over shards."""
    tagger = StructuredPerceptron("char", max_iter=epochs)
    return ParameterMixer(tagger, mixing="nonzero", random_state=0).fit_shards(loads)


def crf(loads, passes):
    """Fit a CRF on shards."""
    options = {"c1": 1.0, "c2": 0.0, "all_pairs": True, "random_state": 0}
    return L1CRF("char", **options, max_iter=passes).fit_shards(loads)


def measured(fit, X, y, n_workers, rounds):
    """Return the cells of a row, and the time of such a cluster."""
    loads = [lambda s=s: (X[s::n_workers], y[s::n_workers]) for s in range(n_workers)]
    began = time.process_time()
    fit(loads, rounds)
    crew = SimulatedWorkers.made.pop()
    driver = time.process_time() - began - crew.work
    seconds = crew.busiest + crew.tree + driver
    link = (crew.sent + crew.received) / GIGABIT
    row = [
        n_workers, crew.steps,
        *(f"{x:.2f}" for x in (crew.busiest, crew.tree, driver, seconds)),
        f"{crew.sent / 1e6:.0f}", f"{crew.received / 1e6:.0f}", f"{link:.2f}",
    ]  # fmt: skip
    return row, seconds


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--workers", type=int, nargs="*", default=[1, 2, 4, 8, 16, 32, 64]
    )
    parser.add_argument("--copies", type=int, default=4, help="of SXU")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--passes", type=int, default=30, help="of the CRF")
    arguments = parser.parse_args()
    X, y = load_sxu("train")
    X, y = X * arguments.copies, y * arguments.copies
    mixer.LocalShards = sharded.LocalShards = SimulatedWorkers
    head = (
        "workers", "steps", "busiest s", "tree s", "driver s", "in all s", "times faster",
        "MB sent", "MB received", "links s",
    )  # fmt: skip
    for name, fit, rounds in (
        ("Parameter mixing", mixed, arguments.rounds),
        ("L1CRF", crf, arguments.passes),
    ):
        fit(
            [lambda: (X[:50], y[:50]), lambda: (X[50:99], y[50:99])], 2
        )  # loads kernels
        SimulatedWorkers.made.clear()
        rows, first = [], None
        for n_workers in arguments.workers:
            row, seconds = measured(fit, X, y, n_workers, rounds)
            first = first or seconds
            row.insert(6, f"{first / seconds:.1f}")
            rows.append(row)
        print(f"\n{name}, {rounds} rounds or passes\n")
        table(head, rows)


if __name__ == "__main__":
    main()
