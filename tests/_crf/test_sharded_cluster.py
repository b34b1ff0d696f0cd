"""L1CRF on a local Dask cluster: the same bits as in threads, whatever the workers, and
if one dies.
"""

import contextlib
import functools
import inspect
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from forked import python
from inside import before_each_sum, kept_by_workers, model_of

from skstruct import L1CRF
from skstruct._shards import tasks

distributed = pytest.importorskip("distributed")
SLOW = pytest.mark.slow
OPTIONS = {
    "n_workers": 1,
    "threads_per_worker": 1,
    "dashboard_address": None,
    "memory_limit": 0,
}


def load(s, n):
    """A shard, made where it is needed."""
    from skstruct.datasets import make_hmm_sequences

    X, y = make_hmm_sequences(60, random_state=0)
    return X[s::n], y[s::n]


@pytest.fixture(scope="module", autouse=True)
def found_by_the_workers():
    """Pickle the loader by value: the workers know nothing of the tests."""
    cloudpickle = pytest.importorskip("cloudpickle")
    module = sys.modules[__name__]
    cloudpickle.register_pickle_by_value(module)
    yield
    cloudpickle.unregister_pickle_by_value(module)


@contextlib.contextmanager
def new_cluster(**options):
    """A cluster, and a client of it."""
    with (
        distributed.LocalCluster(**{**OPTIONS, **options}) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield cluster, client


@pytest.fixture(scope="module")
def client():
    """A client of a cluster of three, which starts a worker anew that dies."""
    with new_cluster(n_workers=3) as (_, client):
        yield client


@pytest.fixture(scope="module")
def here():
    return new().fit_shards(shards())


def shards(n=5):
    return [functools.partial(load, s, n) for s in range(n)]


def new(**options):
    return L1CRF(c1=0.3, c2=0.0, all_pairs=True, random_state=0, **options)


def assert_same(a, b):
    for name in ("nodes", "edges"):
        np.testing.assert_array_equal(
            getattr(model_of(a), name).value, getattr(model_of(b), name).value
        )
    assert (a.objective_, a.n_iter_) == (b.objective_, b.n_iter_)


def worker_of(cluster, shard):
    home = cluster.home[shard]
    return cluster.client.run(os.getpid, workers=[home])[home]


def test_workers(here, client, monkeypatch):
    monkeypatch.setattr(tasks, "SMALL", 0)  # what is not small is data of the cluster
    found = new().fit_shards(shards(), client=client.scheduler.address)
    assert_same(here, found)
    assert kept_by_workers(client) == 0  # nothing of it stays behind
    with pytest.raises(
        ValueError, match="shard 1: its callable raised ZeroDivisionError"
    ):
        new().fit_shards([shards()[0], lambda: 1 / 0], client="auto")


@SLOW
@pytest.mark.parametrize("n_workers, threads", [(1, 1), (2, 1), (1, 2)])
def test_other_numbers_of_workers_and_threads(here, n_workers, threads):
    with new_cluster(n_workers=n_workers, threads_per_worker=threads) as (_, client):
        given = {1: client, 2: "auto"}[n_workers]
        assert_same(here, new().fit_shards(shards(), client=given))
        assert kept_by_workers(client) == 0


@pytest.mark.parametrize(
    "when",
    [
        "evaluate",
        *(
            pytest.param(name, marks=SLOW)
            for name in ("descend", "row_counts", "pairs_gradient")
        ),
    ],
)
def test_a_worker_that_dies_changes_nothing(here, client, monkeypatch, when):
    killed, counts = [], []

    def kill(cluster, name):
        counts.append(name)
        if name == when and counts.count(name) == {"evaluate": 20}.get(name, 1):
            killed.append(worker_of(cluster, len(killed)))
            os.kill(killed[-1], signal.SIGKILL)

    before_each_sum(monkeypatch, kill)
    if when in ("descend", "evaluate"):
        monkeypatch.setattr(tasks, "SMALL", 0)
    assert_same(here, new().fit_shards(shards(), client=client))
    assert killed


DRIVER = """
import functools, os, sys
from skstruct import L1CRF

{load}

class Lines:
    n = 0
    def write(self, text):
        Lines.n += text.count("(batch)")
        if Lines.n == 30:
            os._exit(9)
    def flush(self):
        pass

sys.stdout = Lines()
shards = [functools.partial(load, s, 5) for s in range(5)]
crf = L1CRF(c1=0.3, c2=0.0, all_pairs=True, random_state=0, checkpoint={folder!r}, verbose=1)
crf.fit_shards(shards, client={address!r})
"""


def test_a_driver_that_dies(here, client, tmp_path):
    """The process is gone without a word, and leaves nothing behind; another one goes
    on.

    Drivers of `ParameterMixer` keep shards in the same way.
    """
    text = DRIVER.format(
        load=inspect.getsource(load),
        folder=str(tmp_path),
        address=client.scheduler.address,
    )
    driver = subprocess.run([*python(), "-c", text], check=False, timeout=120)
    assert driver.returncode == 9
    # The scheduler hears at once that the driver's connection has broken.
    assert kept_by_workers(client) == 0
    assert list(tmp_path.iterdir())
    crf = new(checkpoint=tmp_path).fit_shards(shards(), client=client)
    assert crf.resumed_from_ >= 15 and not list(tmp_path.iterdir())
    assert_same(here, crf)
