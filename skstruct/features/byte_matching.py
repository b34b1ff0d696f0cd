"""Wapiti's regular expressions: a small language of its own over bytes.

``.`` is any byte; ``\\d \\a \\w \\l \\u \\p \\s`` are classes of ASCII, in upper case
their complements; another character after ``\\`` is itself. ``x*`` repeats as few times
as possible, ``x?`` takes one if it can; ``^`` stands first, ``$`` last. A match is the
first place from which the whole expression succeeds.

References
----------
T. Lavergne, O. Cappé, F. Yvon (2010). Practical very large scale CRFs. ACL: the tool.
"""

from __future__ import annotations

import string
from functools import cache

_CLASSES = {
    "d": string.digits,
    "a": string.ascii_letters,
    "w": string.ascii_letters + string.digits,
    "l": string.ascii_lowercase,
    "u": string.ascii_uppercase,
    "p": string.punctuation,
    "s": string.whitespace,
}
_ALL = frozenset(range(256))

LONGEST = 200
"""Elements of an expression; each may cost a level of recursion."""


def _bytes_of(element: bytes) -> frozenset[int]:
    """Return the bytes that one element of an expression stands for."""
    if element == b".":
        return _ALL
    if element[:1] != b"\\":
        return frozenset(element)
    name = chr(element[1])
    found = frozenset(map(ord, _CLASSES.get(name.lower(), name)))
    return _ALL - found if name.lower() in _CLASSES and name.isupper() else found


class ByteExpression:
    """One expression, compiled.

    Parameters
    ----------
    text : bytes

    Raises
    ------
    ValueError
        If it ends in a backslash, or is too long.
    """

    def __init__(self, text: bytes) -> None:
        self.at_start = text.startswith(b"^")
        rest = text[self.at_start :]
        # (bytes, "", "*" or "?"); None stands for a last $.
        self.elements: list[tuple[frozenset[int], bytes] | None] = []
        while rest:
            if rest == b"$":
                self.elements.append(None)
                break
            size = 2 if rest[:1] == b"\\" else 1
            if len(rest) < size:
                raise ValueError("a regular expression ends in a backslash")
            again = (
                rest[size : size + 1] if rest[size : size + 1] in (b"*", b"?") else b""
            )
            self.elements.append((_bytes_of(rest[:size]), again))
            rest = rest[size + len(again) :]
        if len(self.elements) > LONGEST:
            raise ValueError(
                f"a regular expression of {len(self.elements)} elements, above "
                f"{LONGEST}"
            )

    def match(self, value: bytes) -> tuple[int, int] | None:
        """Find the first match in a value: (place, length), or None.

        The length is counted as Wapiti counts it: characters that a failed attempt
        inside ``x?`` has taken stay counted, so that it can exceed what is left of the
        value.
        """

        @cache
        def matched(k: int, place: int) -> tuple[bool, int]:
            """(whether the elements from k match at a place, by how much the count has
            changed).
            """
            if k == len(self.elements):
                return True, 0
            element = self.elements[k]
            if element is None:
                return place == len(value), 0
            accepted, again = element
            if again == b"*":
                for taken in range(len(value) - place + 1):
                    found, length = matched(k + 1, place + taken)
                    if found:
                        return True, taken + length
                    if (
                        place + taken == len(value)
                        or value[place + taken] not in accepted
                    ):
                        break
                return False, taken + 1
            fits = place < len(value) and value[place] in accepted
            found, length = matched(k + 1, place + 1) if fits else (False, 0)
            if found or not again:
                return found, length + 1
            found, more = matched(k + 1, place)
            return found, length + more

        for place in range(1 if self.at_start else len(value) + 1):
            found, length = matched(0, place)
            if found:
                return place, length
        return None
