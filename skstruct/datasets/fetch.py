"""Downloads: files from public addresses, checked, and kept in a folder for later.

The cache is a folder of plain files that a user can also fill by hand. A file is
trusted if it has the SHA-256 that is expected; where none is known beforehand, that of
the first download is written beside the file (``NAME.sha256``, as ``sha256sum`` writes
it), and later ones have to agree with it.

`sklearn.datasets.fetch_file` does less: it downloads again what is damaged, takes one
digest and remembers none, has no limit of time, and cannot stay offline.
"""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import os
import shutil
import sys
import urllib.error
import urllib.request
import zlib
from collections.abc import Callable
from typing import IO, Any

from .._core.kernel_folders import user_cache
from .._data.types import Path
from .._saving.atomic import atomic_write
from .._version import __version__

_CHUNK = 1 << 16


class DownloadError(OSError):
    """A file that could be had neither from the cache nor from its address."""


def get_data_home(data_home: Path | None = None) -> str:
    """Return the folder that downloaded corpora are kept in.

    Parameters
    ----------
    data_home : str or os.PathLike, optional
        The folder itself. By default that in the environment variable
        ``SKSTRUCT_CACHE``, or else the platform's folder for caches:
        ``~/.cache/skstruct`` (or in ``XDG_CACHE_HOME``), ``~/Library/Caches/skstruct``
        on macOS, ``%LOCALAPPDATA%\\skstruct\\Cache`` on Windows.

    Returns
    -------
    str
        The path; nothing is created.

    Examples
    --------
    >>> get_data_home("corpora")
    'corpora'
    """
    if data_home is None:
        data_home = os.environ.get("SKSTRUCT_CACHE")
    if data_home:
        return os.path.expanduser(os.fspath(data_home))
    caches = user_cache() or os.path.join("~", "AppData", "Local")
    within = ("skstruct", "Cache") if sys.platform == "win32" else ("skstruct",)
    return os.path.expanduser(os.path.join(caches, *within))


def fetch_file(
    url: str,
    path: Path,
    *,
    sha256: str | tuple[str, ...] = (),
    download_if_missing: bool = True,
    timeout: float = 30.0,
    check: Callable[[str], object] | None = None,
    notice: str | None = None,
) -> str:
    """Make sure that a file is there, by downloading it if need be.

    Parameters
    ----------
    url : str
        An ``http`` or ``https`` address.
    path : str or os.PathLike
        Path of the file; its folder is created.
    sha256 : str or iterable of str, default=()
        Digest that the file must have, in hexadecimal; of several any one. Without, the
        digest of the first download is recorded in ``path + ".sha256"`` and holds from
        then on, also if the file is deleted: that finds damage and later changes, but
        not a first download that was wrong.
    download_if_missing : bool, default=True
        Download the file if it does not exist.
    timeout : float, default=30.0
        Seconds of silence after which a download fails.
    check : callable, optional
        Called with the path of a new file before it is accepted; a ValueError or
        OSError that it raises says why it is not what it should be.
    notice : str, optional
        Written to standard error after a download: the licence.

    Returns
    -------
    str
        The path.

    Raises
    ------
    DownloadError
        If the file is not there and cannot be downloaded; the message names the address
        and where to put the file by hand. Also if the folder cannot be written to. It
        is an ``OSError``.
    ValueError
        If the file, in the cache or just downloaded, is not the one expected.

    Notes
    -----
    A download goes to a temporary file in the same folder and takes its place when it
    is complete and checked. A process that is interrupted, or two at a time, cannot
    leave half a file.
    """
    path = os.path.expanduser(os.fspath(path))
    lock = path + ".sha256"
    expected = {sha256} if isinstance(sha256, str) else set(sha256)
    recorded = not expected and os.path.exists(lock)
    if recorded:
        with open(lock, encoding="utf-8") as file:
            expected = {file.read(200).split(" ")[0].strip()}
    where = f", recorded in {lock}" if recorded else ""
    if os.path.exists(path):
        remedy = (
            f"{where}; delete it{' and that file' if recorded else ''} to download it "
            "again"
        )
        digest = _checked(path, path, expected, check, remedy)
    else:
        by_hand = f"It can be put there by hand: download {url} and save it as {path}"
        if not download_if_missing:
            raise DownloadError(
                f"{path} is missing, and download_if_missing=False. {by_hand}"
            )
        if not url.startswith(("http://", "https://")):
            raise ValueError(f"url must be an http or https address, got {url!r}")
        with contextlib.ExitStack() as stack:
            file = _created(path, stack)
            try:
                _download(url, file, timeout)
            except (http.client.HTTPException, OSError) as error:
                # What is wrong with the network, or with the disk, or an address that
                # is no more.
                raise DownloadError(
                    f"could not download {url}: {_reason(error)}. {by_hand}"
                ) from error
            remedy = (
                f"{where}; delete that file to accept another one" if recorded else ""
            )
            digest = _checked(
                file.name, url, expected, check, f"{remedy}; nothing was kept"
            )
        if notice:
            print(f"downloaded {url}\n{notice}", file=sys.stderr)
    if not expected:
        with contextlib.suppress(OSError), atomic_write(lock, "utf-8") as file:
            file.write(f"{digest}  {os.path.basename(path)}\n")
    return path


def _reason(error: BaseException) -> str:
    """Say in a few words why a download failed."""
    if isinstance(error, urllib.error.HTTPError):
        return f"the server answered {error.code} {error.reason}"
    if isinstance(error, TimeoutError) or isinstance(
        getattr(error, "reason", None), TimeoutError
    ):
        return "the server did not answer in time"
    if isinstance(error, urllib.error.URLError) and isinstance(error.reason, OSError):
        error = error.reason
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def _created(path: str, stack: contextlib.ExitStack) -> Any:
    """Open a new file for writing, in a folder that is made if need be.

    It is kept if the stack ends well.
    """
    folder = os.path.dirname(path) or "."
    try:
        os.makedirs(folder, exist_ok=True)
        return stack.enter_context(atomic_write(path))
    except OSError as error:
        wrong = f"cannot write to the folder {folder}: {error.strerror or error}"
        remedy = (
            "to use another one, set data_home or the environment variable "
            "SKSTRUCT_CACHE"
        )
        raise DownloadError(f"{wrong}; {remedy}") from error


def _download(url: str, file: IO[bytes], timeout: float) -> None:
    """Download to an open file; raise an OSError if less came than was promised."""
    request = urllib.request.Request(
        url, headers={"User-Agent": f"skstruct/{__version__}"}
    )
    with urllib.request.urlopen(request, timeout=timeout) as response:
        shutil.copyfileobj(response, file)
        promised = response.headers.get("Content-Length", "")
    file.flush()
    if promised.isdecimal() and file.tell() != int(promised):
        raise OSError(
            f"the connection broke off after {file.tell()} of {promised} bytes"
        )


def _checked(
    path: str,
    source: str,
    expected: set[str],
    check: Callable[[str], object] | None,
    remedy: str,
) -> str:
    """Return the SHA-256 of a file from ``source``, if it is one of those expected.

    If none is expected, ``check`` decides.
    """
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    try:
        if expected and digest.hexdigest() not in expected:
            raise ValueError(
                f"its SHA-256 is {digest.hexdigest()}, not "
                f"{' or '.join(sorted(expected))}"
            )
        if not expected and check is not None:
            check(path)
    except (ValueError, OSError, EOFError, zlib.error) as error:
        what = str(error).replace(path, os.path.basename(source))
        raise ValueError(
            f"{source} is not the file expected: {what}{remedy}"
        ) from error
    return digest.hexdigest()
