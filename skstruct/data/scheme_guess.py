"""The scheme that labels look like, and how to rewrite labels that break the one asked for."""

from .scheme_rules import SCHEMES, LabelTable, first_fault
from .schemes import convert_scheme

# Labels can be well formed in several schemes; the commonest comes first. Every word is a label of IO.
_ORDER = ("BIO", "IOB1", *(name for name in SCHEMES if name not in ("BIO", "IOB1", "IO")), "IO")


def scheme_like(y):
    """The scheme in which all label sequences are well formed, or None.

    Parameters
    ----------
    y : list of sequences of labels

    Returns
    -------
    str or None
        Of several the most usual; ``"IO"`` only if some label has no prefix of another scheme.

    Examples
    --------
    >>> scheme_like([["I-PER", "I-PER", "B-PER", "O"]])
    'IOB1'
    >>> scheme_like([["PER", "PER", "O"]])
    'IO'
    """
    return next((name for name in _ORDER if _is_well_formed(y, name)), None)


def _is_well_formed(y, name):
    table = LabelTable(name)
    try:
        parsed = [table.parse(labels) for labels in y]
        if name == "IO":
            return not _are_prefixed(table)
    except ValueError:
        return False
    return all(first_fault(name, labels) is None for labels in parsed)


def _are_prefixed(labels):
    try:
        LabelTable().parse(labels)
    except ValueError:
        return False
    return True


def rewriting(y, scheme):
    """How `convert_scheme` writes labels as a scheme does that they break.

    Parameters
    ----------
    y : list of sequences of labels
    scheme : str
        Canonical name of the scheme asked for.

    Returns
    -------
    source : str or None
        The scheme that the labels look like; `scheme` itself if none, but their chunks can be read; None if
        `convert_scheme` cannot write them in the scheme.
    labels : list of lists of str or None
        The labels in the scheme.
    """
    source = scheme_like(y) or scheme
    try:
        return source, convert_scheme(y, source, scheme, strict=source != scheme)
    except ValueError:
        return None, None
