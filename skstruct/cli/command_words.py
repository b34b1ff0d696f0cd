"""The advice in messages of the package, in the words of the command line.

Readers and estimators name parameters as Python has them: ``offsets='utf-16'``. On the
command line it is an option: ``--offsets utf-16``. Messages that name both stay as they
are.
"""

from __future__ import annotations

import re

_VALUE = r"""=(?:'([^']*)'|"([^"]*)")"""
# A parameter without a value, which is not named in both ways.
_WITHOUT = r"=(?=[\s,;]|$)(?! \(--)"
# Parameters that are options of their own name, and those that other options set.
_OPTIONS = "offsets", "ends", "encoding"
_BY_READ = (
    "discontinuous",
    "rejected",
    "control",
    "annotator",
    "labels",
    "to_name",
    "spans",
)
_BY_PARAM = "overlap", "align", "tokenizer", "pieces"
_ARGUMENT = re.compile(r"(\w+)='([^']*)'")
_CALL = re.compile(r"read_spans\(\.\.\., (\w+='[^)]*')\)")
_ADVICE = (
    (r"\balignment_report\(X, y\)", "skstruct check"),
    (rf"\b(text|spans|records|start|end){_WITHOUT}", r"--read \1=KEY"),
    (rf"\band label{_WITHOUT}", "and --read label=KEY"),
    (rf"\b(to_name|annotator|control){_WITHOUT}", r"--read \1=NAME"),
    (rf"\blabel_names{_WITHOUT}", "--label-names FILE"),
)


def in_command_words(message: str) -> str:
    """Say what a message advises as options of the command line.

    Parameters
    ----------
    message : str
        Of an error or a warning.

    Returns
    -------
    str

    Examples
    --------
    >>> in_command_words("if that is wrong, pass offsets='utf-16'")
    'if that is wrong, pass --offsets utf-16'
    >>> in_command_words('overlap="longest" keeps the longer of two')
    '-p overlap=longest keeps the longer of two'
    """
    message = _CALL.sub(_options_of, message)
    for pattern, words in _ADVICE:
        message = re.sub(pattern, words, message)
    for names, option in (
        (_OPTIONS, r"--\1 \2\3"),
        (_BY_READ, r"--read \1=\2\3"),
        (_BY_PARAM, r"-p \1=\2\3"),
    ):
        # Neither arguments of a call nor what a message names in both ways.
        named = rf"(?<![\w.])(?<!\w\(){_any(names)}{_VALUE}(?! \(--)"
        message = re.sub(named, option, message)
    return message


def _options_of(call: re.Match[str]) -> str:
    """Return the options that do what a call of ``read_spans`` does."""
    return " ".join(
        f"--{name} {value}" if name in _OPTIONS else f"--read {name}={value}"
        for name, value in _ARGUMENT.findall(call[1])
    )


def _any(names: tuple[str, ...]) -> str:
    """Return a pattern of some names."""
    return f"({'|'.join(names)})"
