"""Names that a service may be called by, and sites whose pages may read its answers:
the headers Host and Origin against lists.

A page of another site cannot choose this header, so that it cannot reach a service of
the same machine by a name of its own (DNS rebinding).
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection
from typing import NamedTuple

ANY = "*"
"""Stands for every host."""

_DEFAULT_PORTS = {"http": 80, "https": 443}
_NAME = re.compile(r"[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*")
_WITH_PORT = re.compile(r"(\[[^\[\]]*\]|[^:\[\]]*)(?::([0-9]{1,5}))?")


class Host(NamedTuple):
    """A host, and its port; None is any port."""

    name: str  # as DNS has it, in lower case; or an address in its shortest form
    port: int | None


def host_of(text: str) -> Host:
    """Read a `Host` in a text: a name or an address, and a port.

    An address of IPv6 may have brackets.

    Raises
    ------
    ValueError
        If it is none.
    """
    wrong = (
        f"{text!r} is no host: expected a name or an address without scheme and path, "
        "as example.com, example.com:8000, 127.0.0.1, ::1 or [::1]:8000"
    )
    if text.count(":") > 1 and not text.startswith("["):
        return Host(_address(text, wrong), None)
    found = _WITH_PORT.fullmatch(text)
    if found is None:
        raise ValueError(wrong)
    name = found[1]
    port = None if found[2] is None else int(found[2])
    if port is not None and not 1 <= port <= 65535:
        raise ValueError(wrong)
    if name.startswith("["):
        return Host(_address(name[1:-1], wrong), port)
    try:
        name = name.removesuffix(".").encode("idna").decode().lower()
    except UnicodeError:  # an empty label, or one that is too long
        raise ValueError(wrong) from None
    if not _NAME.fullmatch(name):
        raise ValueError(wrong)
    return Host(name, port)


def _address(text: str, wrong: str) -> str:
    try:
        return str(ipaddress.IPv6Address(text))
    except ValueError:
        raise ValueError(wrong) from None


class AllowedHosts:
    """The hosts that a service answers to.

    Parameters
    ----------
    given : collection of str, optional
        See `host_of`; a host without a port is allowed with any. None, or `ANY` among
        them, allows all.

    Raises
    ------
    TypeError, ValueError
        If there is something else among them.
    """

    def __init__(self, given: Collection[str] | None) -> None:
        if isinstance(given, str) and given != ANY:
            raise TypeError(f"allowed_hosts must be a list of names, got {given!r}")
        every = given is None or ANY in given
        named = () if given is None else (text for text in given if text != ANY)
        hosts = frozenset(map(host_of, named))
        self._hosts = None if every else hosts

    def allows(self, header: str, scheme: str = "http") -> bool:
        """Tell whether a header Host, as WSGI gives it, names one of them."""
        if self._hosts is None or not header:
            return True
        try:
            decoded = header.encode("latin-1").decode("utf-8")
            name, port = host_of(decoded.removesuffix(":"))
        except ValueError:
            return False
        port = port or _DEFAULT_PORTS.get(scheme)
        return not self._hosts.isdisjoint((Host(name, None), Host(name, port)))


_ORIGIN = re.compile(r"([a-z][a-z0-9+.-]*)://([^/?#@]+)", re.IGNORECASE)


class Origin(NamedTuple):
    """A site, as the header Origin names it."""

    scheme: str
    host: Host


def origin_of(text: str) -> Origin:
    """Read an `Origin` in a text: a scheme, a host, and a port where it is not the
    default one.

    Raises
    ------
    ValueError
        If it is none.
    """
    wrong = (
        f"{text!r} is no origin: expected a scheme, a host and maybe a port, without a "
        "path, as https://example.com or http://localhost:3000"
    )
    found = _ORIGIN.fullmatch(text)
    if found is None:
        raise ValueError(wrong)
    try:
        host = host_of(found[2])
    except ValueError:
        raise ValueError(wrong) from None
    scheme = found[1].lower()
    port = host.port or _DEFAULT_PORTS.get(scheme)
    return Origin(scheme, Host(host.name, port))


class AllowedOrigins:
    """The sites whose pages a browser lets read answers.

    Parameters
    ----------
    given : collection of str
        See `origin_of`; `ANY` among them allows all.

    Raises
    ------
    TypeError, ValueError
        If there is something else among them.
    """

    def __init__(self, given: Collection[str] = ()) -> None:
        if isinstance(given, str) and given != ANY:
            raise TypeError(f"allowed_origins must be a list of sites, got {given!r}")
        self._every = ANY in given
        self._origins = frozenset(origin_of(text) for text in given if text != ANY)

    def allows(self, header: str) -> bool:
        """Tell whether a header Origin names one of them."""
        if self._every:
            return bool(header)
        try:
            return origin_of(header) in self._origins
        except ValueError:  # "null", say
            return False
