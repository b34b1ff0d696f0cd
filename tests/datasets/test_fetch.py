"""Downloads, against a server on this machine."""

import os
import socket

import pytest
from file_server import CONTENT, names, sha256

from skstruct.datasets import (
    DownloadError,
    get_data_home,
)
from skstruct.datasets.fetch import fetch_file


# --------------------------------------------------------------------------------------
# One file
# --------------------------------------------------------------------------------------
@pytest.mark.parametrize("expected", [sha256(CONTENT), ("0" * 64, sha256(CONTENT))])
def test_download_then_cache(server, tmp_path, capsys, expected):
    path = tmp_path / "new" / "words.txt"
    for _ in range(2):
        found = fetch_file(
            server.url + "words.txt", path, sha256=expected, notice="Licence: none"
        )
        assert found == str(path) and path.read_bytes() == CONTENT
    assert server.asked == ["words.txt"] and names(path.parent) == ["words.txt"]
    assert capsys.readouterr().err.count("Licence: none") == 1
    server.shutdown()  # no network
    assert fetch_file(server.url + "words.txt", path, sha256=expected) == str(path)


def test_wrong_checksum_keeps_nothing(server, tmp_path):
    with pytest.raises(
        ValueError,
        match=f"not the file expected: its SHA-256 is {sha256(CONTENT)}, not 0",
    ):
        fetch_file(server.url + "words.txt", tmp_path / "words.txt", sha256="0" * 64)
    assert names(tmp_path) == []


def test_first_checksum_is_recorded(server, tmp_path):
    path = tmp_path / "words.txt"
    fetch_file(server.url + "words.txt", path)
    assert (
        tmp_path / "words.txt.sha256"
    ).read_text() == f"{sha256(CONTENT)}  words.txt\n"
    assert names(tmp_path) == ["words.txt", "words.txt.sha256"]
    fetch_file(server.url + "words.txt", path)
    path.write_bytes(CONTENT[:-1])
    with pytest.raises(
        ValueError,
        match="not the file expected: .*, recorded in .*; delete it and that",
    ):
        fetch_file(server.url + "words.txt", path)
    path.unlink()  # the record outlives the file
    server.files["words.txt"] = b"other content"
    with pytest.raises(
        ValueError,
        match=f"not {sha256(CONTENT)}, recorded in .*words.txt.sha256; delete that",
    ):
        fetch_file(server.url + "words.txt", path)
    assert names(tmp_path) == ["words.txt.sha256"]
    server.files["words.txt"] = CONTENT
    fetch_file(server.url + "words.txt", path)
    assert path.read_bytes() == CONTENT
    path.unlink()
    (tmp_path / "words.txt.sha256").unlink()
    server.files["words.txt"] = b"other content"
    fetch_file(server.url + "words.txt", path)
    assert path.read_bytes() == b"other content"


def test_damage_in_the_cache(server, tmp_path):
    path = tmp_path / "words.txt"
    path.write_bytes(b"other")
    with pytest.raises(
        ValueError, match="not the file expected: its SHA-256 .*; delete it to download"
    ):
        fetch_file(server.url + "words.txt", path, sha256=sha256(CONTENT))
    assert server.asked == [] and path.read_bytes() == b"other"


@pytest.mark.parametrize(
    "address, message",
    [
        ("nothing.txt", "the server answered 404"),
        (
            "short/words.txt",
            f"broke off after {len(CONTENT) // 2} of {len(CONTENT)} bytes",
        ),
    ],
)
def test_failed_downloads(server, tmp_path, address, message):
    path = tmp_path / "words.txt"
    with pytest.raises(DownloadError) as caught:
        fetch_file(server.url + address, path)
    assert message in str(caught.value) or "IncompleteRead" in str(caught.value)
    assert f"download {server.url + address} and save it as {path}" in str(caught.value)
    assert isinstance(caught.value, OSError) and names(tmp_path) == []


def test_silent_server(server, tmp_path):
    with pytest.raises(DownloadError, match="the server did not answer in time"):
        fetch_file(server.url + "silent/words.txt", tmp_path / "words.txt", timeout=0.2)
    assert names(tmp_path) == []


def test_offline(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}/words.txt"
    with pytest.raises(DownloadError, match=f"could not download {url}: .*by hand"):
        fetch_file(url, tmp_path / "words.txt")
    with pytest.raises(DownloadError, match="download_if_missing=False.*by hand"):
        fetch_file(url, tmp_path / "words.txt", download_if_missing=False)
    assert names(tmp_path) == []


def test_a_file_put_there_by_hand(tmp_path):
    path = tmp_path / "words.txt"
    path.write_bytes(CONTENT)
    assert fetch_file("http://127.0.0.1:9/words.txt", path) == str(path)
    assert names(tmp_path) == ["words.txt", "words.txt.sha256"]


def test_what_is_no_corpus_is_refused(server, tmp_path):
    """Such as the page of a network that wants a password first."""

    def check(path):
        raise ValueError(f"{path}, line 1: expected columns")

    with pytest.raises(
        ValueError,
        match=r"not the file expected: words.txt, line 1: .*nothing was kept",
    ):
        fetch_file(server.url + "words.txt", tmp_path / "words.txt", check=check)
    assert names(tmp_path) == []


def test_a_folder_that_cannot_be_written_to(server, tmp_path):
    (tmp_path / "home").write_text("a file, where a folder should be")
    with pytest.raises(
        DownloadError, match="cannot write to the folder .*home.*SKSTRUCT_CACHE"
    ):
        fetch_file(server.url + "words.txt", tmp_path / "home" / "corpus" / "words.txt")
    assert names(tmp_path) == ["home"]


def test_only_web_addresses(tmp_path):
    with pytest.raises(ValueError, match="http or https"):
        fetch_file("file:///etc/hostname", tmp_path / "x")


def test_interrupted_download_leaves_nothing(server, tmp_path, monkeypatch):
    def fsync(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(KeyboardInterrupt):
        fetch_file(server.url + "words.txt", tmp_path / "words.txt")
    assert names(tmp_path) == []


def test_data_home(monkeypatch, tmp_path):
    monkeypatch.setenv("SKSTRUCT_CACHE", str(tmp_path))
    assert get_data_home() == str(tmp_path)
    assert get_data_home(tmp_path / "x") == str(tmp_path / "x")
    monkeypatch.delenv("SKSTRUCT_CACHE")
    for platform in ("linux", "darwin", "win32"):
        monkeypatch.setattr("sys.platform", platform)
        home = get_data_home()
        assert "skstruct" in home and "~" not in home
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert get_data_home() == os.path.join(str(tmp_path), "skstruct")
