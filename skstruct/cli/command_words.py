"""The advice in messages of the package, in the words of the command line.

Readers and estimators name parameters as Python has them: ``offsets='utf-16'``. On the
command line it is an option: ``--offsets utf-16``. Messages that name both stay as they
are.
"""

from __future__ import annotations

import re

_VALUE = r"""=(?:'([^']*)'|"([^"]*)")"""
# Parameters that are options of their own name, and those that other options set.
_OPTIONS = "offsets", "ends", "encoding"
_BY_READ = "discontinuous", "rejected", "control", "annotator", "labels", "to_name"
_BY_PARAM = "overlap", "align", "tokenizer", "pieces"
_ADVICE = (
    (r"read_spans\(\.\.\., (\w+=[^)]*)\)", r"\1"),
    (r"\balignment_report\(X, y\)", "skstruct check"),
    (r"\btext= names\b", "--read text=KEY names"),
    (r"\bspans= names\b", "--read spans=KEY names"),
    (r"\brecords= a list\b", "--read records=KEY a list"),
    (r"\bto_name= says\b", "--read to_name=NAME says"),
    (r"\bannotator= chooses\b", "--read annotator=NAME chooses"),
    (r"\blabel_names= says\b", "--label-names FILE says"),
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


def _any(names: tuple[str, ...]) -> str:
    """Return a pattern of some names."""
    return f"({'|'.join(names)})"
