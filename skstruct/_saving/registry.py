"""Saving estimators and loading them: ``estimator.save(path)`` and
``skstruct.load(path)``.

An estimator is its class's name, its constructor's arguments, and what it has learned;
all three are JSON and plain arrays in one checked file (``container``). Classes are
looked up among those that carry ``@savable``; of a file's names only those of the table
of public names lead to an import, and nothing is unpickled or executed.

A new estimator takes the base :class:`Savable` and the line ``@savable``, if its fitted
attributes end in an underscore and are plain values, arrays or other savable
estimators. Attributes of other kinds take two methods, which turn them into JSON and
back, by a table of ``fields``.
"""

from __future__ import annotations

import importlib
import sys
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._data.types import Path
from .._names import PUBLIC
from .._sklearn import layers
from .._version import __version__
from .container import (
    ModelFileError,
    container_size,
    path_of,
    read_container,
    require,
    write_container,
)
from .label_sets import classes_of
from .missing_methods import SaysWhy
from .origin import Origin, new_origin, origin_of, read_origin, set_origin, write_origin
from .packing import COMPRESSED
from .states import FITTED, PARTS, KeepsState, fitted_attributes
from .values import Reader, Writer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typing_extensions import Self

    from .._data.card import Card
    from .._data.source_layout import SourceLayout
    from .forms import Packing

T = TypeVar("T")

_PACKAGE = __name__.partition(".")[0]

TRANSFORMERS = "union", "vectorizer", "word_vectors"
"""Modules that say how transformers are read."""

OUTERMOST = {"$pipeline", "$frozen", "$union", "$vectorizer", "$word_vectors"}
"""The types that may take the place of the outermost estimator."""

_PIPELINES = f"{__package__}.pipelines"
"""The module that knows how pipelines and frozen estimators within others are written;
it needs this one.
"""

_REGISTRY: dict[str, type] = {}
"""Name -> class of all that :func:`savable` has seen."""


def savable(cls: type[T]) -> type[T]:
    """Register a class, so that instances can be saved and :func:`load` finds it by its
    name: a decorator.

    Subclasses need a decorator of their own.
    """
    _REGISTRY[cls.__name__] = cls
    return cls


def class_named(name: Any) -> type[Savable]:
    """Return the class of that name; its module is imported if it has not been.

    Raises
    ------
    ModelFileError
        If there is none that can be saved; the message lists those that can.
    """
    if not isinstance(name, str) or name not in _REGISTRY:
        for public in (name,) if isinstance(name, str) and name in PUBLIC else PUBLIC:
            importlib.import_module(f"{_PACKAGE}.{PUBLIC[public]}")
    known = isinstance(name, str) and name in _REGISTRY
    require(
        known, f"unknown class {name!r:.60}; choose from {', '.join(sorted(_REGISTRY))}"
    )
    return _REGISTRY[name]


def _is_savable(estimator: Any) -> bool:
    return _REGISTRY.get(type(estimator).__name__) is type(estimator)


# --------------------------------------------------------------------------------------
# Files
# --------------------------------------------------------------------------------------
class Savable(KeepsState, SaysWhy):
    """Base of the estimators that can be saved; the class carries ``@savable``."""

    _session_parameters: ClassVar[tuple[str, ...]] = ()
    """Parameters that only ``fit`` reads; what of them no file can hold is left out,
    and None when loaded.
    """

    def save(
        self,
        path: Path,
        training: bool = True,
        *,
        source_layout: SourceLayout | Mapping[str, Any] | None = None,
        card: Card | Mapping[str, Any] | None = None,
    ) -> None:
        """Write the fitted estimator to one file, which :func:`skstruct.load` reads.

        Parameters
        ----------
        path : str or os.PathLike
            Written whole or not at all; what was there before is replaced.
        training : bool, default=True
            Keep what ``partial_fit`` and ``warm_start`` need to go on exactly where
            training stopped. Without it the file is smaller by half or more, and
            training a loaded estimator further starts from the final (averaged)
            weights, with a new average. The first ``partial_fit`` after a ``fit`` does
            so anyway.
        source_layout : skstruct.datasets.SourceLayout or dict, optional
            How the file is laid out that the model learned from: its format, columns
            or fields, separator, encoding. The commands of ``skstruct`` read files for
            the model in the same way. By default what the model's own file said.
        card : dict, optional
            What ``skstruct train`` writes: ``date`` and ``version``, and of ``data``,
            ``counts``, ``score``, ``options``, ``parent`` what is known. By default
            what the model's own file said.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If there is nothing to save.
        TypeError
            If the class is a subclass that this package does not know, or a parameter
            (the message names it) is a function, a class or anything else that only
            running code could restore.
        ValueError
            If the path is empty, or a member of ``source_layout`` or ``card`` is
            unknown or of another kind.
        OSError
            If the file cannot be written.

        Notes
        -----
        Stored are parameters, fitted attributes and the model, those of estimators
        within too. Settings of a session (callbacks, requests for metadata routing,
        attributes that a user added) are not.

        With ``min_count`` above 1, a word segmenter, parser or re-ranker saved without
        ``training`` forgets how often it has seen the features that are still too rare
        to count.
        """
        self._check_savable()
        origin = new_origin(self, source_layout, card)
        write_container(path, *self._contents(bool(training), origin))
        set_origin(self, origin)

    def _contents(
        self, training: bool, origin: Origin
    ) -> tuple[dict[str, Any], dict[str, np.ndarray], Packing]:
        """Return the header and arrays of a file, and how small it is made."""
        writer = Writer(training, estimator_state)
        header = {
            "kind": "model",
            "skstruct": __version__,
            "estimator": estimator_state(self, writer, ""),
            **write_origin(origin, writer),
        }
        return header, writer.arrays, writer.packing_of_file

    def compress(
        self,
        *,
        dtype: Literal["float64", "float32", "float16"] = "float32",
        keep: float = 1.0,
    ) -> Self:
        """Return a smaller model, which predicts the same or nearly the same.

        Features whose weights are all zero are left out, which makes it smaller in
        memory, and in a file no zero is stored. All models within are compressed, those
        of members and bases too.

        Parameters
        ----------
        dtype : {"float64", "float32", "float16"}, default="float32"
            What weights are rounded to, and what they take in a file: 8, 4 or 2 bytes.
            They are computed with as before.
        keep : float in (0, 1], default=1.0
            Share of the weights that are not zero which stay, the largest magnitudes
            first, counted over each model (state features and transitions together).

        Returns
        -------
        estimator
            A new one; this one stays as it is. It can do all that this one can. There
            is no state of training: ``partial_fit`` and ``warm_start`` start from its
            weights, with a new average, as after loading a file saved with
            ``training=False``. A model that was trained further is compressed no more.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If there is nothing to compress.
        ValueError
            If a parameter is out of range, or a weight is beyond the range of
            ``dtype``.
        TypeError
            If the estimator could not be saved.

        See Also
        --------
        skstruct.inspection.size_curve : Score by size of the file.

        Examples
        --------
        >>> from skstruct import StructuredPerceptron
        >>> X, y = [["the", "dog", "barks"], ["a", "cat", "sleeps"]], [["D", "N", "V"], ["D", "N", "V"]]
        >>> tagger = StructuredPerceptron(max_iter=5, random_state=0).fit(X, y)
        >>> tagger.compress().predict([["a", "dog", "sleeps"]])
        [['D', 'N', 'V']]
        """
        if dtype not in COMPRESSED:
            raise ValueError(
                f"dtype must be one of {', '.join(COMPRESSED)}, got {dtype!r}"
            )
        if (
            isinstance(keep, bool)
            or not isinstance(keep, Real)
            or not 0.0 < keep <= 1.0
        ):
            raise ValueError(f"keep must be a number above 0, up to 1, got {keep!r}")
        self._check_savable()
        writer = Writer(False, estimator_state, (dtype, float(keep)))
        state = estimator_state(self, writer, "")
        arrays = {
            name: array.copy() for name, array in writer.arrays.items()
        }  # the two share nothing
        reader = Reader(arrays, _estimator_from_state)
        smaller = _estimator_from_state(state, reader, "")
        set_origin(smaller, origin_of(self))
        return smaller

    def info(self) -> dict[str, Any]:
        """Return what a fitted model is, how large it is, and what made it.

        Returns
        -------
        dict
            - ``estimator``: the class; of one around others, of all, from the outside
              in;
            - ``made_by``: the constructor's call;
            - ``version``: of the package that trained it, or wrote the first file that
              says one;
            - ``n_iter``: epochs or passes of the training, None if that is unknown;
            - ``labels``, ``features``, ``state_weights`` and ``transition_weights``:
              numbers, of weights of those that are not zero; None where the structure
              has no such thing;
            - ``compressed``: None, or the type of the weights of a compressed model;
            - ``file_bytes``: what ``save(path, training=False)`` writes;
            - ``training_bytes``: what ``save(path)`` writes besides;
            - ``memory_bytes``: arrays, strings and dictionaries, the state of training
              included;
            - ``source_layout``: a dict, how the file was laid out that it learned from;
              None if its own file does not say;
            - ``card``: a dict, when and of what it was made, and how good it was on
              data held out; None likewise.

            For an estimator around others, numbers of labels, features and weights are
            those of the innermost model; if a span tagger has several chains of labels,
            those of labels and weights are sums. Bytes are those of all.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If there is nothing to describe.
        TypeError
            If the estimator could not be saved.

        Examples
        --------
        >>> from skstruct import StructuredPerceptron
        >>> X, y = [["the", "dog", "barks"], ["a", "cat", "sleeps"]], [["D", "N", "V"], ["D", "N", "V"]]
        >>> info = StructuredPerceptron(max_iter=5, random_state=0).fit(X, y).info()
        >>> info["labels"], info["made_by"]
        (3, 'StructuredPerceptron(max_iter=5, random_state=0)')
        """
        self._check_savable()
        origin = origin_of(self)
        sizes = [
            container_size(*self._contents(training, origin))
            for training in (False, True)
        ]
        around = list(layers(self))
        inner = next(layer for layer in around if "_model" in vars(layer))
        model = inner._model
        around = around[: around.index(inner) + 1]
        names = "labels features state_weights transition_weights".split()
        return {
            "estimator": " of ".join(type(layer).__name__ for layer in around),
            "made_by": " ".join(repr(self).split()),
            "version": model.version,
            "n_iter": getattr(self, "n_iter_", getattr(inner, "n_iter_", None)),
            **dict(zip(names, _sizes_of_all(self, model))),
            "compressed": model.packed,
            "file_bytes": sizes[0],
            "training_bytes": sizes[1] - sizes[0],
            "memory_bytes": memory_of(vars(self)),
            **{
                name: None if said is None else said.to_dict()
                for name, said in origin._asdict().items()
            },
        }

    def _check_savable(self) -> None:
        importlib.import_module(_PIPELINES)
        if not _is_savable(self):
            wrong = f"a {type(self).__name__} cannot be saved; can be: {', '.join(sorted(_REGISTRY))}"
            raise TypeError(wrong)
        check_is_fitted(self)


def _sizes_of_all(estimator: Any, model: Any) -> list[int | None]:
    """Return the sizes of a model; labels and weights are those of further chains of
    labels, too.
    """
    chains = [each for layer in layers(estimator) for each in _chains_in(layer)]
    models = [model, *(_model_in(chain) for chain in chains)]
    found = [
        None if None in sizes else sum(sizes)
        for sizes in zip(*(each.sizes() for each in models))
    ]
    found[1] = model.sizes()[1]  # chains share features
    return found


def _chains_in(layer: Any) -> list[Any]:
    return vars(layer).get("chains_") or []


def _model_in(estimator: Any) -> Any:
    return next(
        vars(each)["_model"] for each in layers(estimator) if "_model" in vars(each)
    )


def memory_of(value: Any) -> int:
    """Count the bytes of a value and of all that it holds, each object once.

    Arrays count as a whole where a view of them is held. Functions, modules and classes
    count as nothing.
    """
    total = 0
    seen = set()
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if (
            id(value) in seen
            or callable(value)
            and not hasattr(value, "__dict__")
            or isinstance(value, type)
        ):
            continue
        seen.add(id(value))
        if isinstance(value, np.ndarray):
            if value.base is not None:
                waiting.append(value.base)
                continue
            total += value.nbytes
            if value.dtype.hasobject:
                waiting += value.ravel().tolist()
            continue
        total += sys.getsizeof(value, 0)
        if isinstance(value, dict):
            waiting += value.keys()
            waiting += value.values()
        elif isinstance(value, (list, tuple, set, frozenset)):
            waiting += value
        waiting += getattr(value, "__dict__", {}).values()
    return total


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
        If the file is foreign, damaged, of a newer format, or holds what this version
        does not know. It is a ``ValueError``; the message names the file.
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
    path = path_of(path)
    header, arrays = read_container(path, kind="model")
    try:
        require("estimator" in header, "the header lacks the estimator")
        try:
            reader = Reader(arrays, _estimator_from_state)
            node = header["estimator"]
            importlib.import_module(_PIPELINES)
            if isinstance(node, dict) and node.keys() & OUTERMOST:
                for module in TRANSFORMERS:
                    importlib.import_module(f"{_PACKAGE}.features.{module}")
                model = reader.value(node, "the outermost object")
            else:
                model = _estimator_from_state(node, reader, "")
            set_origin(model, read_origin(header, reader))
            return model
        except RecursionError:
            raise ModelFileError("malformed: nested too deeply") from None
    except ModelFileError as error:
        version = header.get("skstruct")
        by = (
            f" (written by skstruct {version[:40]})" if isinstance(version, str) else ""
        )
        raise ModelFileError(f"{path!r}: {error}{by}") from error.__cause__


# --------------------------------------------------------------------------------------
# Estimators of any kind
# --------------------------------------------------------------------------------------
def estimator_state(estimator: Any, writer: Writer, name: str) -> dict[str, Any] | None:
    """Return the JSON of an estimator, or None if its class is not registered."""
    if not _is_savable(estimator):
        return None
    estimator._check_settings()
    cls = type(estimator)
    names = cls._get_param_names()
    prefix = f"{name}." if name else ""

    def encode(kind: str, attribute: str, value: Any) -> Any:
        value = classes_of(value) if attribute == "classes_" else value
        try:
            return writer.value(value, prefix + attribute)
        except TypeError as error:
            if kind == "parameter" and attribute in cls._session_parameters:
                return writer.value(None, prefix + attribute)
            hint = "; pickle and skops can keep it"
            if hasattr(value, "refit"):
                hint = f"; search over the {cls.__name__}, and save its best_estimator_"
            elif callable(value):
                hint = "; pickle can keep it"
            raise TypeError(
                f"{kind} {attribute!r} of {cls.__name__}: {error}{hint}"
            ) from None

    attributes = vars(estimator)
    fitted = [a for a in attributes if a not in names and FITTED.match(a)]
    return {
        "class": cls.__name__,
        "parameters": {a: encode("parameter", a, attributes[a]) for a in names},
        "fitted": {a: encode("attribute", a, attributes[a]) for a in fitted},
        "state": estimator._to_state(writer, prefix),
    }


def _estimator_from_state(node: Any, reader: Reader, where: str) -> Any:
    """Return the estimator of a file."""
    name, parameters, fitted, state = PARTS.read(
        node, where or "the estimator", None
    ).values()
    cls: Any = class_named(name)
    where = f"{where}.{name}" if where else name
    require(
        isinstance(parameters, dict), f"{where}: the parameters must be a JSON object"
    )
    names = cls._get_param_names()
    given = {
        a: reader.value(v, f"{where}.{a}") for a, v in parameters.items() if a in names
    }
    learned = fitted_attributes(cls, parameters, fitted, reader, where)
    estimator = cls(**given)
    learned.update(cls._from_state(state, learned, reader, where))
    vars(estimator).update(learned)
    if learned:
        estimator._note_settings()
    return estimator
