"""The sources of kernels: their hash, and that the files of tuples are among them.

`tests/test_house.py` finds the others.
"""

import gc
import hashlib
import os

import pytest
from numba import config, types
from numba.extending import is_jitted

import skstruct
from skstruct._core import sources
from skstruct._core.sources import SOURCES, are_edited, hash_file, hash_sources


@pytest.mark.slow
@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
def test_each_file_with_a_tuple_that_kernels_take_is_in_the_list():
    skstruct.warm_up(all=True)
    files = set()

    def visit(kind):
        if isinstance(kind, types.BaseNamedTuple):
            files.add(kind.instance_class.__module__)
        for part in kind if isinstance(kind, types.BaseTuple) else ():
            visit(part)

    gc.unfreeze()  # what pytest has frozen would not be among the objects
    for each in gc.get_objects():
        if is_jitted(each) and each.__module__.startswith("skstruct."):
            for signature in each.signatures:
                for kind in signature:
                    visit(kind)
    paths = {"/".join(name.split(".")[1:]) + ".py" for name in files}
    assert len(paths) > 15
    missing = sorted(paths - set(SOURCES))
    assert missing == [], f"add to SOURCES in _core/sources.py: {' '.join(missing)}"


def test_a_file_is_read_again_after_a_change(tmp_path):
    path = tmp_path / "kernel.py"
    for k, text in enumerate(["one", "two", "a longer one"]):
        path.write_text(text)
        os.utime(path, ns=(k, k))
        assert hash_file(str(path)) == hashlib.sha256(text.encode()).digest()


def test_the_hash_is_of_the_listed_files(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "PACKAGE", str(tmp_path))
    monkeypatch.setattr(sources, "SOURCES", ["a.py", "b.py"])
    for name in ("a.py", "b.py", "c.py"):
        (tmp_path / name).write_text(name)
    first = hash_sources()
    (tmp_path / "c.py").write_text("no kernel is here")
    assert hash_sources() == first
    (tmp_path / "b.py").write_text("another kernel")
    assert hash_sources() != first


def test_the_package_in_an_archive_has_no_hash(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "PACKAGE", str(tmp_path / "archive.zip"))
    assert hash_sources() is None


def test_a_source_that_is_gone_counts_as_edited(tmp_path, monkeypatch):
    assert not are_edited()
    monkeypatch.setattr(sources, "PACKAGE", str(tmp_path))
    assert are_edited()
