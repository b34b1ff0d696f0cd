"""Files of unfinished fits: what comes back is what went in, and damage is refused."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import pytest

from skstruct.container import ModelFileError, write_container
from skstruct.training import checkpoint as module
from skstruct.training.checkpoint import (
    Checkpoint,
    arrays_of,
    fingerprint,
    simple_parameters,
    with_arrays,
)


class Inner(NamedTuple):
    flag: bool
    values: np.ndarray
    counts: np.ndarray


class Outer(NamedTuple):
    inner: Inner
    clock: np.ndarray


def state(n, seed=0):
    generator = np.random.default_rng(seed)
    values = np.where(generator.random(n) < 0.1, generator.normal(size=n), 0.0)
    values[: n // 50] = -0.0
    return Outer(Inner(True, values, np.arange(n)), np.array([3, 4]))


def same_bits(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@pytest.mark.parametrize("n", [0, 10, 200_000])
def test_what_comes_back_is_what_went_in(tmp_path, n):
    before = state(n)
    checkpoint = Checkpoint(tmp_path / "new" / "folder", "Fit", "abc")
    assert checkpoint.load() is None
    assert checkpoint.offer({"done": 2, "loss": 0.1}, arrays_of(before, "model"))
    checkpoint.close()
    header, arrays = Checkpoint(tmp_path / "new" / "folder", "Fit", "abc").load()
    assert header == {"done": 2, "loss": 0.1}
    after = with_arrays(state(n, seed=1), "model", arrays)
    assert same_bits(after.inner.values, before.inner.values)
    assert same_bits(after.inner.counts, before.inner.counts)
    assert same_bits(after.clock, before.clock)
    checkpoint.remove()
    assert os.listdir(tmp_path / "new" / "folder") == []


def test_arrays_are_copied_before_training_goes_on(tmp_path):
    before = state(300_000)
    expected = before.inner.values.copy()
    checkpoint = Checkpoint(tmp_path, "Fit", "abc")
    checkpoint.offer({}, arrays_of(before, "model"))
    before.inner.values[:] = 7.0
    checkpoint.close()
    _, arrays = checkpoint.load()
    assert same_bits(arrays["model.inner.values"], expected)


def test_an_array_of_another_kind_is_refused():
    before = state(10)
    arrays = arrays_of(before, "model")
    arrays["model.clock"] = arrays["model.clock"].astype(float)
    with pytest.raises(ModelFileError, match=r"model\.clock"):
        with_arrays(before, "model", arrays)
    with pytest.raises(ModelFileError, match=r"model\.inner\.values"):
        with_arrays(before, "model", {})


def test_damage_is_an_error_that_names_the_file(tmp_path):
    checkpoint = Checkpoint(tmp_path, "Fit", "abc")
    checkpoint.offer({"done": 1}, arrays_of(state(50), "model"))
    whole = (tmp_path / os.path.basename(checkpoint.path)).read_bytes()
    for damaged in (whole[:-1], whole[: len(whole) // 2], b"", whole[:100] + b"\x00" + whole[101:]):
        with open(checkpoint.path, "wb") as file:
            file.write(damaged)
        with pytest.raises(ModelFileError, match="Remove it to start from the beginning"):
            checkpoint.load()


def test_a_file_of_another_fit_under_this_name_is_refused(tmp_path):
    one, other = Checkpoint(tmp_path, "Fit", "abc"), Checkpoint(tmp_path, "Fit", "def")
    one.offer({"done": 1}, arrays_of(state(5), "model"))
    os.rename(one.path, other.path)
    with pytest.raises(ModelFileError, match="another fit"):
        other.load()


def test_leftovers_of_killed_processes_go(tmp_path):
    path = Checkpoint(tmp_path, "Fit", "abc").path
    dead, alive = f".{os.path.basename(path)}.{2**22 + 5}.tmp", f".{os.path.basename(path)}.{os.getpid()}.tmp"
    other = ".Fit-def.checkpoint.99999999.tmp"
    for name in (dead, alive, other):
        (tmp_path / name).write_bytes(b"")
    Checkpoint(tmp_path, "Fit", "abc")
    assert sorted(os.listdir(tmp_path)) == sorted([alive, other])


def test_threads_that_run_the_same_fit_do_not_meet_in_one_file(tmp_path):
    before = state(5000)

    def write(_):
        checkpoint = Checkpoint(tmp_path, "Fit", "abc")
        for done in range(20):
            checkpoint.offer({"done": done}, arrays_of(before, "model"))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    header, arrays = Checkpoint(tmp_path, "Fit", "abc").load()
    assert header == {"done": 19}
    assert same_bits(arrays["model.inner.values"], before.inner.values)


def test_what_nobody_needs_is_not_written(tmp_path, monkeypatch):
    checkpoint, begun, go_on = Checkpoint(tmp_path, "Fit", "abc"), threading.Event(), threading.Event()

    def slow(*arguments, proceed, **options):
        begun.set()
        assert go_on.wait(60)
        write_container(*arguments, proceed=proceed, **options)

    monkeypatch.setattr(module, "write_container", slow)
    monkeypatch.setattr(module, "SMALL_BYTES", 0)
    assert checkpoint.offer({"done": 1}, arrays_of(state(5000), "model"))
    assert begun.wait(60)
    checkpoint._over = True  # as `remove` begins
    go_on.set()
    checkpoint.close()
    assert not list(tmp_path.iterdir())
    checkpoint.remove()


def test_an_error_of_the_writing_thread_is_raised(tmp_path):
    folder = tmp_path / "gone"
    checkpoint = Checkpoint(folder, "Fit", "abc")
    folder.rmdir()
    checkpoint.offer({}, {"a": np.arange(300_000)})
    with pytest.raises(FileNotFoundError):
        checkpoint.close()


def test_fingerprints_depend_on_everything():
    arrays = {"a": np.arange(3), "b": np.zeros(2)}
    seen = {
        fingerprint({"alpha": 1}, arrays),
        fingerprint({"alpha": 2}, arrays),
        fingerprint({"alpha": 1}, {**arrays, "b": np.array([0.0, 1.0])}),
        fingerprint({"alpha": 1}, {**arrays, "b": np.zeros(3)}),
        fingerprint({"alpha": 1}, {"c": arrays["a"], "b": arrays["b"]}),
    }
    assert len(seen) == 5
    assert fingerprint({"alpha": 1}, arrays) == fingerprint({"alpha": 1}, {**arrays})


def test_parameters_without_effect_do_not_count():
    from skstruct import StructuredPerceptron

    one = StructuredPerceptron(n_jobs=2, verbose=1, checkpoint="here", random_state=np.int64(3))
    assert simple_parameters(one) == simple_parameters(StructuredPerceptron(random_state=3))
    assert simple_parameters(one) != simple_parameters(StructuredPerceptron(random_state=4))
