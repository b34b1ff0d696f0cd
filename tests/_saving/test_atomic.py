"""Files are written whole or not at all; errors name them."""

import errno
import os

import pytest

from skstruct._saving.atomic import (
    atomic_write,
    check_path,
    check_target,
    descriptor_of,
    naming,
    write_files,
    write_whole,
)


def test_an_error_leaves_what_was_there(tmp_path):
    path = tmp_path / "a"
    write_whole(path, "old\n", "utf-8")
    with pytest.raises(ZeroDivisionError), atomic_write(path, "utf-8") as file:
        file.write("new")
        raise ZeroDivisionError
    assert path.read_text() == "old\n" and os.listdir(tmp_path) == ["a"]
    write_whole(path, b"new")
    assert path.read_bytes() == b"new"


def test_many_files_are_written_together(tmp_path):
    contents = {tmp_path / "a": "1\n", tmp_path / "no" / "b": "2\n"}
    with pytest.raises(FileNotFoundError, match="no"):
        write_files(contents, "utf-8")
    assert os.listdir(tmp_path) == []
    (tmp_path / "no").mkdir()
    write_files(contents, "utf-8")
    assert [path.read_text() for path in contents] == ["1\n", "2\n"]


def test_targets_are_checked_before_long_work(tmp_path):
    check_target(tmp_path / "new")
    for path, number in (
        (tmp_path, errno.EISDIR),
        (tmp_path / "no" / "file", errno.ENOENT),
    ):
        with pytest.raises(OSError) as error:
            check_target(path)
        assert error.value.errno == number and error.value.filename == str(path)
    with pytest.raises(ValueError, match="path is empty"):
        check_path("")


@pytest.mark.skipif(os.name != "posix", reason="there are no such paths")
def test_open_files_are_known_by_their_paths(tmp_path):
    assert descriptor_of("/dev/fd/63") == 63
    assert descriptor_of("/dev/stderr") == 2
    link = tmp_path / "link"
    link.symlink_to("/dev/fd/7")
    assert descriptor_of(link) == 7
    assert descriptor_of(tmp_path / "file") is None


def test_errors_without_a_name_get_one():
    with pytest.raises(OSError) as error, naming("a"):
        raise OSError(errno.EIO, "broken")
    assert error.value.filename == "a"
