"""Parameter mixing on a local Dask cluster: the same bits as in threads, also if a
worker dies on the way.
"""

import functools
import os
import signal
import sys

import numpy as np
import pytest
from inside import after_each_submission, kept_by_workers, model_of
from scipy import sparse
from sklearn.base import clone

from skstruct import ParameterMixer, SequenceMatrix, StructuredPerceptron
from skstruct._shards.held import DaskShards

distributed = pytest.importorskip("distributed")


def load(s, n):
    """A shard, made where it is needed."""
    from skstruct.datasets import make_hmm_sequences

    X, y = make_hmm_sequences(60, random_state=0)
    return X[s::n], y[s::n]


@pytest.fixture(scope="module")
def client():
    """Two processes that are restarted when they die."""
    options = {
        "n_workers": 2,
        "threads_per_worker": 1,
        "dashboard_address": None,
        "memory_limit": 0,
    }
    with (
        distributed.LocalCluster(**options) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module", autouse=True)
def found_by_the_workers():
    """Pickle the loader by value: the workers know nothing of the tests."""
    cloudpickle = pytest.importorskip("cloudpickle")
    module = sys.modules[__name__]
    cloudpickle.register_pickle_by_value(module)
    yield
    cloudpickle.unregister_pickle_by_value(module)


def shards(n):
    return [functools.partial(load, s, n) for s in range(n)]


def base(**options):
    return StructuredPerceptron(max_iter=4, **options)


def assert_same(a, b):
    for name in ("nodes", "edges"):
        np.testing.assert_array_equal(
            getattr(model_of(a), name).value, getattr(model_of(b), name).value
        )


@pytest.mark.parametrize("n", [1, 3])
def test_workers_or_threads(client, n):
    options = {
        "feature_noise": "dropout",
        "penalty": "l2",
        "alpha": 1e-3,
        "min_count": 2,
    }
    mixer = ParameterMixer(base(**options), random_state=0)
    here = mixer.fit_shards(shards(n))
    assert_same(
        here,
        ParameterMixer(base(**options), random_state=0, client="auto").fit_shards(
            shards(n)
        ),
    )
    assert kept_by_workers(client) == 0  # nothing of it stays behind


def test_fit_by_the_address_of_a_scheduler(client):
    X, y = load(0, 1)
    here = ParameterMixer(base(), n_shards=2, random_state=0).fit(X, y)
    there = ParameterMixer(
        base(), n_shards=2, random_state=0, client=client.scheduler.address
    ).fit(X, y)
    assert here.predict(X) == there.predict(X)
    np.testing.assert_array_equal(here.decision_function(X), there.decision_function(X))


def test_errors_name_the_shard(client):
    mixer = ParameterMixer(base(), client="auto")
    with pytest.raises(
        ValueError, match="shard 1: its callable raised ZeroDivisionError"
    ):
        mixer.fit_shards([shards(1)[0], lambda: 1 / 0])


@pytest.mark.parametrize(
    "when, n",
    [
        (0, 3),
        (2, 1),
        *(pytest.param(*pair, marks=pytest.mark.slow) for pair in ((0, 1), (2, 3))),
    ],
)
def test_a_worker_that_dies_changes_nothing(client, monkeypatch, n, when):
    killed = []

    def kill_too(cluster, s, epoch):
        if epoch == when and not killed:
            killed.append(
                client.run(os.getpid, workers=[cluster.home[s]])[cluster.home[s]]
            )
            os.kill(killed[0], signal.SIGKILL)

    here = ParameterMixer(base(), random_state=0).fit_shards(shards(n))
    after_each_submission(monkeypatch, kill_too)
    there = ParameterMixer(base(), random_state=0, client="auto").fit_shards(shards(n))
    assert killed
    assert_same(here, there)


@pytest.mark.parametrize("n", [pytest.param(1, marks=pytest.mark.slow), 3])
def test_a_driver_that_dies_and_a_worker_too(client, monkeypatch, tmp_path, n):
    mixer = ParameterMixer(base(), random_state=0, client="auto", checkpoint=tmp_path)
    here = clone(mixer).set_params(client=None, checkpoint=None).fit_shards(shards(n))
    step, killed = DaskShards.step, []

    def dies(self, name, each=None, shared=None, **how):
        if name == "train" and shared[0] == 2:
            raise OSError("no driver any more")
        return step(self, name, each, shared, **how)

    def kill_too(cluster, s, epoch):
        if epoch == 3 and not killed:
            killed.append(
                client.run(os.getpid, workers=[cluster.home[s]])[cluster.home[s]]
            )
            os.kill(killed[0], signal.SIGKILL)

    with monkeypatch.context() as patch:
        patch.setattr(DaskShards, "step", dies)
        with pytest.raises(OSError):
            mixer.fit_shards(shards(n))
    after_each_submission(monkeypatch, kill_too)
    mixer.fit_shards(shards(n))
    assert killed and mixer.resumed_from_ == 2 and not list(tmp_path.iterdir())
    assert_same(here, mixer)


def test_a_client_that_is_not_there(monkeypatch):
    monkeypatch.setattr(
        distributed, "get_client", lambda: (_ for _ in ()).throw(ValueError("none"))
    )
    with pytest.raises(ValueError, match="client='auto' found no Dask client"):
        ParameterMixer(base(), client="auto").fit(*load(0, 1))
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"skstruct\[dask\]"):
        ParameterMixer(base(), client="auto").fit(*load(0, 1))


@pytest.mark.parametrize(
    "kind", [sparse.csr_array, pytest.param(np.asarray, marks=pytest.mark.slow)]
)
def test_rows_of_numbers(client, kind):
    """Shards share one scale, that of all of them."""
    rng = np.random.default_rng(0)
    flat = rng.normal(size=(200, 4)) * (rng.random((200, 4)) < 0.5)
    X = SequenceMatrix(kind(flat), [4] * 50, feature_names="abcd")
    y = X.split(flat.argmax(axis=1).tolist())
    here = ParameterMixer(base(), n_shards=3, random_state=0).fit(X, y)
    assert_same(
        here,
        ParameterMixer(base(), n_shards=3, random_state=0, client="auto").fit(X, y),
    )
