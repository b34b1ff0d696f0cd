"""Saving estimators and loading them: ``estimator.save(path)`` and ``skstruct.load(path)``.

Idea: an estimator is its class's name, its constructor's arguments, and what it has learned; all three
are JSON and plain arrays in one checked file (``container``). Classes are looked up in a fixed registry;
nothing is imported by a name from a file, unpickled or executed.
Place: beside the estimators, over ``container``.

A new estimator takes one line, ``register(Class)``, if its fitted attributes end in an underscore and
are plain values, arrays or other registered estimators. Attributes of other kinds take two functions,
which turn them into JSON (see ``values.Writer``) and back (``values.Reader``).
"""

from __future__ import annotations

import os
import re
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._version import __version__
from ..chain.passive_aggressive import PassiveAggressiveTagger
from ..chain.perceptron import StructuredPerceptron
from ..chain.saved import model_from_state, model_state, training_from_state, training_state
from ..chain.segmenter import Segmenter
from ..crf.estimator import L1CRF
from ..data.types import Path
from ..mixing.averager import BaggingShuffleAverager
from ..mixing.mixer import ParameterMixer
from ..parser import saved as parser
from ..parser.estimator import ShiftReduceParser
from ..reranker import saved as reranker
from ..reranker.estimator import KBestReranker
from ..words import saved as word_segmenter
from ..words.estimator import WordSegmenter
from .container import ModelFileError, read_container, write_container
from .values import Reader, Writer, require

__all__ = ["ModelFileError", "load", "register", "save"]

_FITTED = re.compile(r"[A-Za-z]\w*_\Z", re.ASCII)


class _Entry(NamedTuple):
    cls: type
    to_state: object
    from_state: object


def _nothing_to_state(estimator, writer, name):
    return {}


def _nothing_from_state(node, fitted, reader, where):
    return {}


_REGISTRY = {}


def register(cls, to_state=_nothing_to_state, from_state=_nothing_from_state):
    """Let instances of an estimator class be saved and loaded.

    Parameters
    ----------
    cls : type
        Found again by its name. Subclasses have to be registered themselves.
    to_state : callable, optional
        ``(estimator, writer, name) -> dict``: the JSON of what the estimator has learned beyond
        attributes like ``classes_``; ``name`` starts the names of arrays.
    from_state : callable, optional
        ``(node, fitted, reader, where) -> dict``: the attributes to set, given that JSON, and those
        like ``classes_``. Has to check everything; ``where`` starts the reasons in errors.
    """
    _REGISTRY[cls.__name__] = _Entry(cls, to_state, from_state)


# --------------------------------------------------------------------------------------------------
# Files
# --------------------------------------------------------------------------------------------------
def save(estimator, path, training=True):
    """Write a fitted estimator to one file.

    Parameters
    ----------
    estimator : estimator of this package
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
        If the estimator is of a class that is not registered, or a parameter (the message names it) is
        a function, a class or anything else that only running code could restore.
    OSError
        If the file cannot be written.

    Notes
    -----
    Stored are parameters, fitted attributes and the model. Settings of a session (callbacks, requests
    for metadata routing, attributes that a user added) are not.
    """
    entry = _REGISTRY.get(type(estimator).__name__)
    if entry is None or entry.cls is not type(estimator):
        raise TypeError(
            f"a {type(estimator).__name__} cannot be saved; can be: {', '.join(sorted(_REGISTRY))}"
        )
    check_is_fitted(estimator)
    writer = Writer(bool(training), _estimator_state)
    state = _estimator_state(estimator, writer, "")
    header = {"kind": "model", "skstruct": __version__, "estimator": state}
    write_container(path, header, writer.arrays)


def load(path: Path) -> Any:
    """Read an estimator that ``estimator.save(path)`` wrote.

    No code that the file could bring along is run, and every number in it is checked before it is used.

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
    entry = _REGISTRY.get(type(estimator).__name__)
    if entry is None or entry.cls is not type(estimator):
        return None
    names = entry.cls._get_param_names()
    prefix = f"{name}." if name else ""

    def encode(kind, attribute, value):
        try:
            return writer.value(value, prefix + attribute)
        except TypeError as error:
            raise TypeError(f"{kind} {attribute!r} of {entry.cls.__name__}: {error}") from None

    attributes = vars(estimator)
    fitted = [a for a in attributes if a not in names and _FITTED.match(a)]
    return {
        "class": entry.cls.__name__,
        "parameters": {a: encode("parameter", a, attributes[a]) for a in names},
        "fitted": {a: encode("attribute", a, attributes[a]) for a in fitted},
        "state": entry.to_state(estimator, writer, prefix),
    }


def _estimator_from_state(node, reader, where):
    """The estimator of a file."""
    name, parameters, fitted, state = reader.members(
        node, where or "the estimator", "class parameters fitted state"
    )
    known = isinstance(name, str) and name in _REGISTRY
    require(known, f"unknown class {name!r:.60}; known are {', '.join(sorted(_REGISTRY))}")
    cls, where = _REGISTRY[name].cls, f"{where}.{name}" if where else name
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
    fitted.update(_REGISTRY[name].from_state(state, fitted, reader, where))
    vars(estimator).update(fitted)
    return estimator


# --------------------------------------------------------------------------------------------------
# Taggers
# --------------------------------------------------------------------------------------------------
def _tagger_to_state(tagger, writer, name):
    """Model and training of a tagger; empty if it is not fitted."""
    state, attributes = {}, vars(tagger)
    if "_model" in attributes:
        state["model"] = model_state(attributes["_model"], writer, f"{name}model")
    if "_training" in attributes:
        training, history = attributes["_training"], attributes.get("history_")
        state["training"] = training_state(training, history, writer, f"{name}training")
    return state


def _tagger_from_state(node, fitted, reader, where):
    """The attributes ``_model`` and ``_training``."""
    require(isinstance(node, dict), f"{where}: the state must be a JSON object")
    if "model" not in node:
        return {}
    model = model_from_state(node["model"], reader, f"{where}.model")
    classes, history = fitted.get("classes_"), fitted.get("history_", [])
    expected = model.labels.array
    ok = isinstance(classes, np.ndarray) and classes.dtype == expected.dtype
    require(ok and np.array_equal(classes, expected), f"{where}: classes_ and the labels differ")
    require(isinstance(history, list), f"{where}.history_ must be a list")
    attributes = {"_model": model}
    if "training" in node:
        attributes["_training"] = training_from_state(
            node["training"], model, history, reader, f"{where}.training"
        )
    return attributes


for _tagger in (StructuredPerceptron, PassiveAggressiveTagger, L1CRF):
    register(_tagger, _tagger_to_state, _tagger_from_state)
register(Segmenter)
register(KBestReranker, reranker.to_state, reranker.from_state)
register(WordSegmenter, word_segmenter.to_state, word_segmenter.from_state)
register(ShiftReduceParser, parser.to_state, parser.from_state)
register(BaggingShuffleAverager)
register(ParameterMixer)
