"""Functions of a token that templates can read: affixes, shape, lower case, character type.

A template reads ``%x[0,0]``, the token itself, or a function of it such as ``%suffix3[0,0]``. Functions are
computed once per distinct token, never per occurrence. Functions of more than the token are in
:mod:`.contexts`.
"""

import re
import unicodedata

FULL_WIDTH_SHIFT = 0xFEE0

_AFFIX = re.compile(r"(prefix|suffix)([1-9]\d?)\Z")
_CHINESE_NUMERALS = frozenset("〇零一二三四五六七八九十百千万亿兆两壹贰叁肆伍陆柒捌玖拾佰仟")


def shape(token):
    """Upper case to ``X``, lower case to ``x``, digits to ``9``; runs longer than two cut to two.

    >>> shape("McDonald's"), shape("1,024"), shape("IBM")
    ("XxXxx'x", '9,99', 'XX')
    """
    out = []
    for c in token:
        if c.isupper():
            c = "X"
        elif c.islower():
            c = "x"
        elif c.isdigit():
            c = "9"
        if len(out) < 2 or out[-1] != c or out[-2] != c:
            out.append(c)
    return "".join(out)


def character_type(token):
    """``digit``, ``numeral``, ``letter``, ``punctuation`` or ``other``.

    The classes of Gao, Qiu and Huang (2010), and Chinese numerals as one of their own, ``numeral``.
    Full-width digits and letters count with their ASCII forms.
    A longer token has the type of its first character; the empty token is ``other``.

    >>> [character_type(c) for c in "７xＡ。三的"]
    ['digit', 'letter', 'letter', 'punctuation', 'numeral', 'other']
    """
    if not token:
        return "other"
    c = token[0]
    if 0xFF01 <= ord(c) <= 0xFF5E:
        c = chr(ord(c) - FULL_WIDTH_SHIFT)
    if c.isdigit():
        return "digit"
    if c in _CHINESE_NUMERALS:
        return "numeral"
    if c.isascii() and c.isalpha():
        return "letter"
    if unicodedata.category(c)[0] in "PS":
        return "punctuation"
    return "other"


def _lower(token):
    return token.lower()


def _itself(token):
    return token


def _any(test):
    return lambda token: "yes" if any(map(test, token)) else "no"


_FUNCTIONS = {
    "x": _itself,
    "lower": _lower,
    "shape": shape,
    "type": character_type,
    "digit": _any(str.isdigit),  # whether there is one anywhere in the token, here and in the next two
    "upper": _any(str.isupper),
    "hyphen": _any("-".__eq__),
}

FUNCTION_NAMES = (
    "x, lower, shape, type, digit, upper, hyphen, prefix1, prefix2, ..., suffix1, suffix2, ..., "
    "av1, ..., av4, lex_NAME"
)


def column_function(name):
    """The function behind ``%name[...]`` in a template.

    A token shorter than an affix has the whole token as its affix.

    Raises
    ------
    KeyError
        If there is no such function.
    """
    affix = _AFFIX.match(name)
    if affix is None:
        return _FUNCTIONS[name]
    n = int(affix[2])
    return (lambda token: token[:n]) if affix[1] == "prefix" else (lambda token: token[-n:])
