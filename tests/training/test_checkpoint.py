"""Files of unfinished fits: what comes back is what went in, and damage is refused."""

import ctypes
import os
import subprocess
import sys
import threading
import types
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import pytest
from inside import stop_writing

from skstruct.saving.container import ModelFileError, write_container
from skstruct.training import checkpoint as module
from skstruct.training.checkpoint import Checkpoint, arrays_of, with_arrays
from skstruct.training.fingerprints import fingerprint, simple_parameters


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


def test_leftovers_on_windows(tmp_path, monkeypatch):
    """There ``os.kill(process, 0)`` is Ctrl-C for the process, so the system is asked in another way."""
    error, handles = [0], []

    def open_process(access, inherit, process):
        error[0] = {3: 5, 4: 87}.get(process.value, 0)  # 3 is another user's, there is no 4
        if error[0]:
            return None
        handles.append(process.value)
        return process.value

    kernel32 = types.SimpleNamespace(
        OpenProcess=open_process,
        WaitForSingleObject=lambda handle, milliseconds: {1: 258, 2: 0}[handle.value],  # 1 runs, 2 has ended
        CloseHandle=lambda handle: handles.remove(handle.value),
    )
    monkeypatch.setattr(ctypes, "WinDLL", lambda name, **options: kernel32, raising=False)
    monkeypatch.setattr(ctypes, "get_last_error", lambda: error[0], raising=False)
    monkeypatch.setattr(os, "kill", None)
    name = f".{os.path.basename(Checkpoint(tmp_path, 'Fit', 'abc').path)}"
    for owner in range(1, 5):
        (tmp_path / f"{name}.{owner}.7.tmp").write_bytes(b"")
    with monkeypatch.context() as on_windows:
        on_windows.setattr(sys, "platform", "win32")
        Checkpoint(tmp_path, "Fit", "abc")
    assert sorted(os.listdir(tmp_path)) == [f"{name}.{owner}.7.tmp" for owner in (1, 3)]
    assert not handles


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
    stop_writing(checkpoint)
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
    assert seen[0] == fingerprint({"held_out": (Outer(Inner(True, one.copy(), one), one), 3)}, {})
    assert fingerprint({"held_out": np.float64(0.5)}, {}) == fingerprint({"held_out": 0.5}, {})


def test_fingerprints_do_not_depend_on_the_process():
    """The order of a set does: it depends on a hash that is drawn anew."""
    code = (
        "from skstruct.training.fingerprints import fingerprint\n"
        "print(fingerprint({'held_out': [{'near': frozenset('abcdef')}]}, {}))"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed}, stdout=subprocess.PIPE, check=True,
        ).stdout
        for seed in "12"
    }  # fmt: skip
    assert len(seen) == 1


@pytest.mark.parametrize("written, read", [("2.1.0", "2.2.0"), ("1.26.4", "2.26.4"), ("2.1.0", "2.10.0")])
def test_a_file_of_another_feature_release_of_numpy_is_refused(tmp_path, monkeypatch, written, read):
    checkpoint = Checkpoint(tmp_path, "Fit", "abc")
    monkeypatch.setattr(np, "__version__", written)
    checkpoint.offer({"done": 1}, arrays_of(state(5), "model"))
    monkeypatch.setattr(np, "__version__", read)
    with pytest.raises(ModelFileError, match=f"written with numpy {written}.*Install numpy {written}"):
        checkpoint.load()
    monkeypatch.setattr(np, "__version__", f"{written}rc1")
    assert checkpoint.load()[0] == {"done": 1}


def test_parameters_without_effect_do_not_count():
    from skstruct import StructuredPerceptron

    one = StructuredPerceptron(n_jobs=2, verbose=1, checkpoint="here", random_state=np.int64(3))
    assert simple_parameters(one) == simple_parameters(StructuredPerceptron(random_state=3))
    assert simple_parameters(one) != simple_parameters(StructuredPerceptron(random_state=4))
