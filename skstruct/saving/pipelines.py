"""Pipelines in files: transformers of this package, frozen or not, before an estimator of it."""

import importlib
from operator import attrgetter
from typing import Any

from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .._version import __version__
from ..data.types import Path
from .container import require, write_container
from .fields import Kind, each, pair, string, value, via
from .registry import estimator_state
from .values import Writer, savable_value

_TRANSFORMERS = "wide_rows", "vectorizer", "word_vectors"
"""Modules that say how transformers are read."""


def save(model: Any, path: Path, training: bool = True) -> None:
    """Write a fitted estimator, or a pipeline that ends in one, to one file, which ``skstruct.load`` reads.

    Parameters
    ----------
    model : estimator or Pipeline
        Of a pipeline all steps have to be estimators of this package, alone or frozen: ``WordVectors``,
        ``TokenVectorizer``, ``SequenceUnion`` of these, and taggers.
    path : str or os.PathLike
    training : bool, default=True
        As of the method ``save`` of estimators.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If there is nothing to save.
    TypeError
        If a step, or a parameter, cannot be saved; the message names it, and says what
        can be done.
    OSError
        If the file cannot be written.
    """
    if not isinstance(model, Pipeline):
        if not hasattr(model, "save"):
            can = "taggers and pipelines that end in one can, as the best_estimator_ of a search may be"
            raise TypeError(f"a {type(model).__name__} cannot be saved; {can}")
        model.save(path, training)
        return
    check_is_fitted(model)
    writer = Writer(bool(training), estimator_state)
    header = {"kind": "model", "skstruct": __version__, "estimator": writer.value(model, "")}
    write_container(path, header, writer.arrays, version=writer.version)


def _write(pipeline, writer, name, f):
    steps = []
    for step, found in pipeline.steps:
        try:
            steps.append([step, writer.value(found, f"{name}.{step}" if name else step)])
        except TypeError as error:
            text = f"step {step!r} of a Pipeline: {error}; pickle can keep it"
            if found is not pipeline.steps[-1][1]:
                text += ", or save what the pipeline ends in, skstruct.save(pipeline[-1], "
                text += "path), and give that pipeline[:-1].transform(X) to predict"
            raise TypeError(text) from None
    return steps


def _read(node, where, f):
    for module in _TRANSFORMERS:
        importlib.import_module(f"{__package__.rpartition('.')[0]}.features.{module}")
    steps = each(pair(string, value)).read(node, where, f)
    require(steps, f"{where} must have steps")
    return Pipeline(steps)


savable_value("$pipeline", Pipeline, Kind(value.text, _write, _read))
savable_value("$frozen", FrozenEstimator, via(value, attrgetter("estimator"), FrozenEstimator))
