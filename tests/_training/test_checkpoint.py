"""Files of unfinished fits: what comes back is what went in, and damage is refused."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import pytest

from skstruct._saving.container import ModelFileError
from skstruct._training import checkpoint as module
from skstruct._training.checkpoint import (
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
    header, arrays = Checkpoint(tmp_path / "new" / "folder", "Fit", "abc").load()
    assert header == {"done": 2, "loss": 0.1}
    after = with_arrays(state(n, seed=1), "model", arrays)
    assert same_bits(after.inner.values, before.inner.values)
    assert same_bits(after.inner.counts, before.inner.counts)
    assert same_bits(after.clock, before.clock)
    checkpoint.remove()
    assert os.listdir(tmp_path / "new" / "folder") == []


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
    for damaged in (
        whole[:-1],
        whole[: len(whole) // 2],
        b"",
        whole[:100] + b"\x00" + whole[101:],
    ):
        with open(checkpoint.path, "wb") as file:
            file.write(damaged)
        with pytest.raises(
            ModelFileError, match="Remove it to start from the beginning"
        ):
            checkpoint.load()


def test_a_file_of_another_fit_under_this_name_is_refused(tmp_path):
    one, other = Checkpoint(tmp_path, "Fit", "abc"), Checkpoint(tmp_path, "Fit", "def")
    one.offer({"done": 1}, arrays_of(state(5), "model"))
    os.rename(one.path, other.path)
    with pytest.raises(ModelFileError, match="another fit"):
        other.load()


def test_leftovers_of_killed_processes_go(tmp_path):
    path = Checkpoint(tmp_path, "Fit", "abc").path
    old, new = (f".{os.path.basename(path)}.{name}.tmp" for name in ("0123", "4567"))
    other = ".Fit-def.checkpoint.0123.tmp"
    for name in (old, new, other):
        (tmp_path / name).write_bytes(b"")
        if name != new:
            os.utime(tmp_path / name, (0, 0))
    Checkpoint(tmp_path, "Fit", "abc")
    assert sorted(os.listdir(tmp_path)) == sorted([new, other])


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


def test_large_states_are_written_at_a_limited_rate(tmp_path, monkeypatch):
    now = iter(range(100))
    monkeypatch.setattr(module.time, "perf_counter", lambda: 10.0 * next(now))
    checkpoint, arrays = (
        Checkpoint(tmp_path, "Fit", "abc"),
        arrays_of(state(300_000), "model"),
    )
    assert [checkpoint.offer({"done": k}, arrays) for k in range(3)] == [
        True,
        False,
        False,
    ]
    assert checkpoint.load()[0] == {"done": 0}
    assert checkpoint.offer({"done": 3}, arrays, surely=True)
    assert checkpoint.offer({"done": 4}, arrays_of(state(10), "model"))
    assert [checkpoint.offer({"done": 5}, arrays) for _ in range(51)].index(
        True
    ) == 49  # writing took 10 s


def test_an_error_of_writing_is_raised(tmp_path):
    folder = tmp_path / "gone"
    checkpoint = Checkpoint(folder, "Fit", "abc")
    folder.rmdir()
    with pytest.raises(FileNotFoundError):
        checkpoint.offer({}, {"a": np.arange(300_000)})


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


def test_fingerprints_see_all_of_the_facts():
    """Also the middle of a long array, which its ``repr`` leaves out."""
    one, other = np.zeros(5000, np.int64), np.zeros(5000, np.int64)
    other[2500] = 1
    assert repr(one) == repr(other)
    seen = [
        fingerprint({"held_out": (Outer(Inner(True, values, one), one), 3)}, {})
        for values in (one, other, one.astype(np.int32), one.tolist())
    ]
    assert len(set(seen)) == 4
    assert seen[0] == fingerprint(
        {"held_out": (Outer(Inner(True, one.copy(), one), one), 3)}, {}
    )
    assert fingerprint({"held_out": np.float64(0.5)}, {}) == fingerprint(
        {"held_out": 0.5}, {}
    )


def test_fingerprints_do_not_depend_on_the_process():
    """The order of a set does: it depends on a hash that is drawn anew."""
    code = (
        "from skstruct._training.checkpoint import fingerprint\n"
        "print(fingerprint({'held_out': [{'near': frozenset('abcdefghij')}]}, {}))"
    )
    there = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": "1"}, stdout=subprocess.PIPE, check=True,
    ).stdout  # fmt: skip
    here = fingerprint({"held_out": [{"near": frozenset("abcdefghij")}]}, {})
    assert there.decode().split() == [str(here)]


@pytest.mark.parametrize(
    "written, read", [("2.1.0", "2.2.0"), ("1.26.4", "2.26.4"), ("2.1.0", "2.10.0")]
)
def test_a_file_of_another_feature_release_of_numpy_is_refused(
    tmp_path, monkeypatch, written, read
):
    checkpoint = Checkpoint(tmp_path, "Fit", "abc")
    monkeypatch.setattr(np, "__version__", written)
    checkpoint.offer({"done": 1}, arrays_of(state(5), "model"))
    monkeypatch.setattr(np, "__version__", read)
    with pytest.raises(
        ModelFileError, match=f"written with numpy {written}.*Install numpy {written}"
    ):
        checkpoint.load()
    monkeypatch.setattr(np, "__version__", f"{written}rc1")
    assert checkpoint.load()[0] == {"done": 1}


def test_parameters_without_effect_do_not_count():
    from skstruct import StructuredPerceptron

    one = StructuredPerceptron(
        n_jobs=2, verbose=1, checkpoint="here", random_state=np.int64(3)
    )
    assert simple_parameters(one) == simple_parameters(
        StructuredPerceptron(random_state=3)
    )
    assert simple_parameters(one) != simple_parameters(
        StructuredPerceptron(random_state=4)
    )
