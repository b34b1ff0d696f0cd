"""Pipelines in files: transformers of this package, frozen or not, before an estimator
of it.
"""

from __future__ import annotations

import importlib
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .._data.types import Path
from .._version import __version__
from .container import require, write_container
from .fields import Kind, each, pair, string, value, via
from .origin import new_origin, set_origin, write_origin
from .registry import TRANSFORMERS, estimator_state
from .values import Writer, savable_value, stands_alone

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .._data.card import Card
    from .._data.source_layout import SourceLayout
    from .fields import Members


def save(
    model: Any,
    path: Path,
    training: bool = True,
    *,
    source_layout: SourceLayout | Mapping[str, Any] | None = None,
    card: Card | Mapping[str, Any] | None = None,
) -> None:
    """Write a fitted estimator, or a pipeline that ends in one, to one file, which
    ``skstruct.load`` reads.

    Parameters
    ----------
    model : estimator, Pipeline or transformer
        Transformers are ``WordVectors``, ``TokenVectorizer`` and ``SequenceUnion`` of
        these. Of a pipeline all steps have to be estimators of this package, alone or
        frozen: ``WordVectors``, ``TokenVectorizer``, ``SequenceUnion`` of these, and
        taggers.
    path : str or os.PathLike
    training : bool, default=True
        As of the method ``save`` of estimators.
    source_layout : skstruct.datasets.SourceLayout or dict, optional
        How the file is laid out that the model learned from; as of the method.
    card : dict, optional
        When and of what the model was made; as of the method.

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
    is_part = stands_alone(model)
    if is_part and not (source_layout is None and card is None):
        raise ValueError("a transformer has neither source_layout nor card")
    if not (is_part or isinstance(model, Pipeline)):
        if not hasattr(model, "save"):
            can = (
                "taggers, pipelines that end in one, as the best_estimator_ of a search "
                "may be, and transformers of words can"
            )
            raise TypeError(
                f"a {type(model).__name__} cannot be saved; {can}; skops.io.dump keeps "
                "others"
            )
        model.save(path, training, source_layout=source_layout, card=card)
        return
    check_is_fitted(model)
    origin = new_origin(model, source_layout, card)
    writer = Writer(bool(training), estimator_state)
    header = {
        "kind": "model",
        "skstruct": __version__,
        "estimator": writer.value(model, ""),
        **write_origin(origin, writer),
    }
    write_container(path, header, writer.arrays, writer.packing_of_file)
    set_origin(model, origin)


def _write(
    pipeline: Pipeline, writer: Writer, name: str, f: Members
) -> list[list[Any]]:
    steps = []
    for step, found in pipeline.steps:
        try:
            steps.append(
                [step, writer.value(found, f"{name}.{step}" if name else step)]
            )
        except TypeError as error:
            text = (
                f"step {step!r} of a Pipeline: {error}; skops.io.dump(pipeline, path) "
                "can keep it"
            )
            if found is not pipeline.steps[-1][1]:
                text += (
                    ", or save its last step, skstruct.save(pipeline[-1], path), and "
                )
                text += "let that predict pipeline[:-1].transform(X)"
            raise TypeError(text) from None
    return steps


def _read(node: Any, where: str, f: Members) -> Pipeline:
    for module in TRANSFORMERS:
        importlib.import_module(f"{__package__.rpartition('.')[0]}.features.{module}")
    steps = each(pair(string, value)).read(node, where, f)
    require(steps, f"{where} must have steps")
    return Pipeline(steps)


savable_value("$pipeline", Pipeline, Kind(value.text, _write, _read))
savable_value(
    "$frozen", FrozenEstimator, via(value, attrgetter("estimator"), FrozenEstimator)
)
