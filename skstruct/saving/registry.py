"""Saving estimators and loading them: ``estimator.save(path)`` and ``skstruct.load(path)``.

An estimator is its class's name, its constructor's arguments, and what it has learned; all three
are JSON and plain arrays in one checked file (``container``). Classes are looked up among those that carry
``@savable``; nothing is imported by a name from a file, unpickled or executed.

A new estimator takes the base :class:`Savable` and the line ``@savable``, if its fitted attributes end in an
underscore and are plain values, arrays or other savable estimators. Attributes of other kinds take two
methods, which turn them into JSON (see ``values.Writer``) and back (``values.Reader``).
"""

from __future__ import annotations

import os
import re
from typing import Any, TypeVar

from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from .._version import __version__
from ..data.types import Path
from .absent import SaysWhy
from .container import ModelFileError, read_container, write_container
from .values import Reader, Writer, require, savable_value

__all__ = ["ModelFileError", "Savable", "load", "savable"]

_FITTED = re.compile(r"[A-Za-z]\w*_\Z", re.ASCII)

T = TypeVar("T")

_REGISTRY: dict[str, type] = {}
"""Name -> class of all that :func:`savable` has seen."""


def savable(cls: type[T]) -> type[T]:
    """Class decorator: instances can be saved, and :func:`load` finds the class by its name.

    Subclasses need a decorator of their own.
    """
    _REGISTRY[cls.__name__] = cls
    return cls


def _thawed_state(frozen, writer, name):
    return writer.value(frozen.estimator, name)


def _frozen_from_state(node, reader, where):
    return FrozenEstimator(reader.value(node, where))


savable_value("$frozen", FrozenEstimator, _thawed_state, _frozen_from_state)


def _is_savable(estimator):
    return _REGISTRY.get(type(estimator).__name__) is type(estimator)


# --------------------------------------------------------------------------------------------------
# Files
# --------------------------------------------------------------------------------------------------
class Savable(SaysWhy):
    """Base of the estimators that can be saved; the class carries ``@savable``."""

    def save(self, path: Path, training: bool = True) -> None:
        """Write the fitted estimator to one file, which :func:`skstruct.load` reads.

        Parameters
        ----------
        path : str or os.PathLike
            Written whole or not at all; what was there before is replaced.
        training : bool, default=True
            Keep what ``partial_fit`` and ``warm_start`` need to go on exactly where training stopped.
            Without it the file is smaller by half or more, and training a loaded estimator further starts
            from the final (averaged) weights, with a new average. The first ``partial_fit`` after a ``fit``
            does so anyway.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If there is nothing to save.
        TypeError
            If the class is a subclass that this package does not know, or a parameter (the message names it)
            is a function, a class or anything else that only running code could restore.
        OSError
            If the file cannot be written.

        Notes
        -----
        Stored are parameters, fitted attributes and the model, those of estimators within too. Settings of a
        session (callbacks, requests for metadata routing, attributes that a user added) are not.

        With ``min_count`` above 1, a word segmenter, parser or re-ranker saved without ``training`` forgets
        how often it has seen the features that are still too rare to count.
        """
        if not _is_savable(self):
            raise TypeError(
                f"a {type(self).__name__} cannot be saved; can be: {', '.join(sorted(_REGISTRY))}"
            )
        check_is_fitted(self)
        writer = Writer(bool(training), _estimator_state)
        state = _estimator_state(self, writer, "")
        header = {"kind": "model", "skstruct": __version__, "estimator": state}
        write_container(path, header, writer.arrays)

    def _to_state(self, writer, name):
        """The JSON of what the estimator has learned beyond attributes like ``classes_``.

        ``name`` starts the names of arrays.
        """
        return {}

    @classmethod
    def _from_state(cls, node, fitted, reader, where):
        """The attributes to set, given that JSON, and those like ``classes_``.

        Has to check everything; ``where`` starts the reasons in errors.
        """
        return {}


def load(path: Path) -> Any:
    """Read an estimator that ``estimator.save(path)`` wrote.

    No code from the file is run, and every number in it is checked before it is used.

    Parameters
    ----------
    path : str or os.PathLike

    Returns
    -------
    estimator

    Raises
    ------
    ModelFileError
        If the file is foreign, damaged, of a newer format, or holds what this version does not know.
        It is a ``ValueError``; the message names the file.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import os, tempfile
    >>> import skstruct
    >>> X, y = [["the", "dog", "barks"], ["a", "cat", "sleeps"]], [["D", "N", "V"], ["D", "N", "V"]]
    >>> tagger = skstruct.StructuredPerceptron(max_iter=5, random_state=0).fit(X, y)
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = os.path.join(folder.name, "tagger.skstruct")
    >>> tagger.save(path)
    >>> skstruct.load(path).predict([["a", "dog", "sleeps"]])
    [['D', 'N', 'V']]
    >>> folder.cleanup()
    """
    path = os.fspath(path)
    header, arrays = read_container(path, kind="model")
    try:
        require("estimator" in header, "the header lacks the estimator")
        try:
            return _estimator_from_state(header["estimator"], Reader(arrays, _estimator_from_state), "")
        except RecursionError:
            raise ModelFileError("malformed: nested too deeply") from None
    except ModelFileError as error:
        version = header.get("skstruct")
        by = f" (written by skstruct {version[:40]})" if isinstance(version, str) else ""
        raise ModelFileError(f"{path!r}: {error}{by}") from error.__cause__


# --------------------------------------------------------------------------------------------------
# Estimators of any kind
# --------------------------------------------------------------------------------------------------
def _estimator_state(estimator, writer, name):
    """The JSON of an estimator, or None if its class is not registered."""
    if not _is_savable(estimator):
        return None
    cls = type(estimator)
    names = cls._get_param_names()
    prefix = f"{name}." if name else ""

    def encode(kind, attribute, value):
        try:
            return writer.value(value, prefix + attribute)
        except TypeError as error:
            raise TypeError(f"{kind} {attribute!r} of {cls.__name__}: {error}") from None

    attributes = vars(estimator)
    fitted = [a for a in attributes if a not in names and _FITTED.match(a)]
    return {
        "class": cls.__name__,
        "parameters": {a: encode("parameter", a, attributes[a]) for a in names},
        "fitted": {a: encode("attribute", a, attributes[a]) for a in fitted},
        "state": estimator._to_state(writer, prefix),
    }


def _estimator_from_state(node, reader, where):
    """The estimator of a file."""
    name, parameters, fitted, state = reader.members(
        node, where or "the estimator", "class parameters fitted state"
    )
    known = isinstance(name, str) and name in _REGISTRY
    require(known, f"unknown class {name!r:.60}; known are {', '.join(sorted(_REGISTRY))}")
    cls, where = _REGISTRY[name], f"{where}.{name}" if where else name
    require(isinstance(parameters, dict), f"{where}: the parameters must be a JSON object")
    require(isinstance(fitted, dict), f"{where}: the fitted attributes must be a JSON object")
    names = cls._get_param_names()
    unknown = sorted(set(parameters) - set(names))
    require(not unknown, f"{where} has no parameter {', '.join(unknown):.60}")
    # What a later version calls a fitted attribute may be a method or property here, or the reverse.
    odd = sorted(a for a in fitted if not _FITTED.match(a) or a in names or hasattr(cls, a))
    require(not odd, f"{where} has no fitted attribute {', '.join(odd):.60}")
    estimator = cls(**{a: reader.value(v, f"{where}.{a}") for a, v in parameters.items()})
    fitted = {a: reader.value(v, f"{where}.{a}") for a, v in fitted.items()}
    fitted.update(cls._from_state(state, fitted, reader, where))
    vars(estimator).update(fitted)
    return estimator
