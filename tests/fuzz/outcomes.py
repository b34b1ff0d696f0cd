"""What became of a case: fine, refused on purpose, or a fault; and where."""

import collections
import linecache
import os
import traceback

import numpy as np

import skstruct
from skstruct._saving.container import ModelFileError

PACKAGE = os.path.dirname(os.path.abspath(skstruct.__file__))
HERE = os.path.dirname(os.path.abspath(__file__))

REFUSED_VERBS = collections.Counter()
"""Refusals of single verbs, after which a case went on."""


def frames_of(error):
    return traceback.extract_tb(error.__traceback__)


def on_purpose(error):
    """Whether the innermost frame is a ``raise`` of the package, or of scikit-learn for
    the package.
    """
    if not isinstance(error, (ValueError, TypeError, AttributeError)) or isinstance(
        error, ModelFileError
    ):
        return False  # the files that are read here were written by the package
    last = frames_of(error)[-1]
    line = linecache.getline(last.filename, last.lineno).strip()
    inside = (
        last.filename.startswith(PACKAGE) or f"{os.sep}sklearn{os.sep}" in last.filename
    )
    return inside and (line.startswith("raise ") or "refuse(" in line)


def place_of(error):
    """Where a fault arose: one line for all cases that meet it there."""
    if isinstance(error, AssertionError):
        check = [
            frame for frame in frames_of(error) if frame.filename.startswith(HERE)
        ][-1]
        return f"{check.name}: {str(error).strip().partition(chr(10))[0][:40]}"
    frames = [
        frame for frame in frames_of(error) if frame.filename.startswith(PACKAGE)
    ] or frames_of(error)
    return f"{os.path.relpath(frames[-1].filename, PACKAGE)}:{frames[-1].lineno} {frames[-1].name}"


def attempt(name, act, *given):
    """``act(*given)``; a refusal on purpose is counted under a name, and gives None."""
    try:
        return act(*given)
    except Exception as error:
        if not on_purpose(error):
            raise
        REFUSED_VERBS[f"{name}: {type(error).__name__}: {str(error)[:70]}"] += 1
        return None


# -- comparisons -----------------------------------------------------------------------
def close(a, b, what, rtol=1e-7, atol=1e-7):
    """Assert that numbers agree; ``atol`` is a share of the largest of them if that is
    above 1.
    """
    a, b = np.asarray(a, float), np.asarray(b, float)
    assert a.shape == b.shape, f"{what}: shapes {a.shape} and {b.shape}"
    size = max(1.0, float(np.abs(a[np.isfinite(a)]).max(initial=0.0)))
    if not np.allclose(a, b, rtol=rtol, atol=atol * size, equal_nan=True):
        far = np.nanargmax(np.abs(np.where(np.isfinite(a - b), a - b, np.inf)))
        raise AssertionError(
            f"{what}: {a.ravel()[far]!r} and {b.ravel()[far]!r} at {far}"
        )


def equal(a, b, what):
    """Assert that arrays agree to the bit."""
    a, b = np.asarray(a), np.asarray(b)
    assert a.shape == b.shape and np.array_equal(a, b, equal_nan=True), (
        f"{what}: differ"
    )


def same(a, b, what):
    """Assert that two outputs of ``predict`` are equal."""
    if a != b:
        i = next((i for i, (one, other) in enumerate(zip(a, b)) if one != other), None)
        raise AssertionError(
            f"{what}: lengths {len(a)} and {len(b)}, the first difference in sequence {i}"
        )


def finite(scores):
    """Whether scores are numbers; with huge values in the tokens they may be
    infinite.
    """
    return bool(np.isfinite(np.asarray(scores, float)).all())
