"""Folders for compiled kernels: whom they belong to, and what is found in them."""

import os
import stat

import pytest
from numba import config

from skstruct._core import kernel_folders
from skstruct._core.kernel_folders import folders, make_folder, read_file

POSIX = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="rights of POSIX")


def test_the_folder_that_numba_names_comes_first(tmp_path, monkeypatch):
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    first, *others = folders()
    assert os.path.dirname(first) == str(tmp_path)
    monkeypatch.setattr(config, "CACHE_DIR", "")
    assert list(folders()) == others


def test_what_was_written_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    folder = next(folders())
    make_folder(folder)
    path = os.path.join(folder, "kernel")
    with open(path, "wb") as file:
        file.write(b"machine code")
    assert read_file(path) == b"machine code"
    with pytest.raises(FileNotFoundError):
        read_file(os.path.join(folder, "another"))


@POSIX
def test_a_file_that_others_can_write_to_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    folder = next(folders())
    make_folder(folder)
    path = os.path.join(folder, "kernel")
    with open(path, "wb") as file:
        file.write(b"machine code")
    package = os.stat(kernel_folders.PACKAGE).st_mode
    if package & stat.S_IWOTH:
        pytest.skip("others may write to the package itself")
    os.chmod(path, 0o666)
    with pytest.raises(OSError):
        read_file(path)
