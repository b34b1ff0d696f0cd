"""The parts of a model's file besides the model: how the file was laid out that it
learned from, and its card.

Both belong to the whole of what is saved, a pipeline as well, and so they are members
of the header and attributes of the outermost object. They speak of one fit: a model
that is fitted again says nothing.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path as File
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

from .._data.card import Card
from .._data.places import describe
from .._data.source_layout import SourceLayout, as_source_layout
from .._sklearn import layers
from .atomic import naming
from .container import require
from .fields import Field, Kind, Table, each, optional, string, value, via

if TYPE_CHECKING:
    from .._data.types import Path
    from .values import Reader, Writer

_CHUNK_BYTES = 1 << 20


class Origin(NamedTuple):
    """The facts about a model besides what it has learned.

    Attributes
    ----------
    source_layout : SourceLayout or None
        How the file is laid out that it has learned from.
    card : Card or None
        When and of what it was made, and how good it was.
    """

    source_layout: SourceLayout | None = None
    card: Card | None = None


_OfFit: TypeAlias = tuple[object, Origin]
"""The mark of a fit, and the origin that speaks of that fit.

The mark is the attribute ``_fit`` of what was learned: what another fit learns is another
object, without it. This is a plain tuple since it becomes a part of pickles.
"""

_OF_PIPELINES: WeakKeyDictionary[Any, _OfFit] = WeakKeyDictionary()
"""The origins of pipelines. As an attribute ``_origin`` they would be part of the
pipelines' pickles, which other programs read.
"""


_NOTHING = Origin()


def _column(node: Any, where: str, *_: Any) -> Any:
    require(type(node) in (int, str), f"{where} must be an int or a string")
    return node


_columns = each(Kind("an int or a string", lambda column, *_: column, _column))
_label = via(
    _columns,
    lambda label: label if isinstance(label, tuple) else (label,),
    lambda label: tuple(label) if len(label) != 1 else label[0],
)

LAYOUT_FIELDS = Table(
    "Layout of the source",
    Field("format", string),
    Field("tokens", optional(_columns)),
    Field("label", optional(_label)),
    Field("separator", optional(string)),
    Field("comment", optional(string)),
    Field("encoding", string),
    Field("offsets", optional(string)),
    Field("ends", optional(string)),
    Field("scheme", optional(string)),
    Field("options", value),
)

CARD_FIELDS = Table(
    "Card",
    Field("date", string),
    Field("version", string),
    Field("data", each(value)),
    Field("counts", value),
    Field("score", optional(value)),
    Field("options", value),
    Field("parent", optional(value)),
)

_LAYOUT = via(LAYOUT_FIELDS, lambda layout: layout, lambda given: SourceLayout(**given))
_CARD = via(CARD_FIELDS, lambda card: card, lambda given: Card(**given))


def as_card(given: Card | Mapping[str, Any] | None) -> Card | None:
    """Return a :class:`Card`, or None, for one or for a dict of its parameters.

    Raises
    ------
    ValueError
        If it is neither.
    """
    if given is None or isinstance(given, Card):
        return given
    if isinstance(given, Mapping):
        return Card.from_dict(given)
    raise ValueError(f"card must be a Card or a dict, got {describe(given)}")


def _inside(model: Any) -> Any:
    """Return what a fitted estimator has learned, the attribute ``_model`` of the
    outermost layer that has one; None of an estimator that is not fitted.
    """
    return next(
        (vars(layer)["_model"] for layer in layers(model) if "_model" in vars(layer)),
        None,
    )


def origin_of(model: Any) -> Origin:
    """Return what is known of a model, or pipeline, since its file was read or written.

    Parameters
    ----------
    model : estimator or Pipeline

    Returns
    -------
    Origin
        Of None, if it was fitted since, or nobody has said anything.
    """
    is_pipeline = hasattr(model, "steps")
    found = _OF_PIPELINES.get(model) if is_pipeline else vars(model).get("_origin")
    learned = _inside(model)
    if found is None or learned is None:
        return _NOTHING
    fit, origin = found
    return origin if vars(learned).get("_fit") is fit else _NOTHING


def set_origin(model: Any, origin: Origin) -> None:
    """Let a fitted model, or pipeline, know where it comes from, until it is fitted
    again.
    """
    is_pipeline = hasattr(model, "steps")
    learned = _inside(model)
    if origin == _NOTHING or learned is None:
        if is_pipeline:
            _OF_PIPELINES.pop(model, None)
        else:
            vars(model).pop("_origin", None)
        return
    found = (vars(learned).setdefault("_fit", object()), origin)
    if is_pipeline:
        _OF_PIPELINES[model] = found
    else:
        vars(model)["_origin"] = found


def new_origin(model: Any, source_layout: Any, card: Any) -> Origin:
    """Return what a file is to say of a model: what is given, else what is known.

    Parameters
    ----------
    model : estimator or Pipeline
    source_layout : SourceLayout, dict or None
    card : Card, dict or None

    Raises
    ------
    ValueError
        If something is given that is of another kind.
    """
    known = origin_of(model)
    layout = as_source_layout(source_layout)
    made = as_card(card)
    return Origin(
        known.source_layout if layout is None else layout,
        known.card if made is None else made,
    )


def write_origin(origin: Origin, writer: Writer) -> dict[str, Any]:
    """Return the members of a file's header."""
    members = {}
    if origin.source_layout is not None:
        members["source_layout"] = _LAYOUT.write(
            origin.source_layout, writer, "source_layout", None
        )
    if origin.card is not None:
        members["card"] = _CARD.write(origin.card, writer, "card", None)
    return members


def read_origin(header: dict[str, Any], reader: Reader) -> Origin:
    """Return what a file's header says.

    Raises
    ------
    ModelFileError
        If a member is malformed.
    """
    around = reader.members()
    layout, card = (
        kind.read(header[name], name, around) if name in header else None
        for name, kind in (("source_layout", _LAYOUT), ("card", _CARD))
    )
    return Origin(layout, card)


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file; of a folder that of its files, by name.

    Parameters
    ----------
    path : str or os.PathLike

    Returns
    -------
    str
        In hexadecimal.
    """
    digest = hashlib.sha256()
    target = File(os.fsdecode(path))
    files = sorted(p for p in target.rglob("*") if p.is_file())
    for file in files if target.is_dir() else [target]:
        if target.is_dir():
            digest.update(
                file.relative_to(target).as_posix().encode("utf-8", "replace")
            )
        with naming(file), open(file, "rb") as data:
            while chunk := data.read(_CHUNK_BYTES):
                digest.update(chunk)
    return digest.hexdigest()
