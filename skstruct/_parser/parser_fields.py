"""The fields of dependency parsers in files; their features in few bytes while several
are averaged.

Features are stored by their keys, in ascending order, which makes keys small; rows of
weights follow that order.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.final_weights import rows_with_weights, with_rows
from .._core.hashing import key_order
from .._saving.container import require
from .._saving.fields import (
    Field,
    Kind,
    Members,
    Table,
    array,
    each,
    flag,
    integer,
    pair,
    string,
)
from .._saving.label_sets import maybe_labels
from .._saving.packing import packed_keys
from .._saving.stores import weights
from .._saving.values import Reader, Writer
from .._training.tables import KEYS, features_of, read_keys, training_of
from ..features.tokens import alphabet
from .atoms import AtomEncoder
from .parser_epoch import parse_model
from .state_templates import MOST_SMALL, templates_of
from .states import ARC_PLACES, N_ACTIONS, SPECIAL, STATE_PLACES
from .template_sets import Lines, without_labels

if TYPE_CHECKING:
    from .._core.store import Store
    from .parser_model import ParserModel
    from .states import Places


# --------------------------------------------------------------------------------------
# Features
# --------------------------------------------------------------------------------------
def _write_keys(keys: np.ndarray, writer: Writer, name: str, f: Members) -> Any:
    return packed_keys(keys, writer, name) or KEYS.write(keys, writer, name, f)


_KEYS = Kind(f"packed keys, or {KEYS.text}", _write_keys, read_keys)


def _features(prefix: str, lines: str, places: Places, columns: int | str) -> Kind:
    """Make the fields of one table, whose integers take few bytes.

    Parameters
    ----------
    prefix : str
        Of the names of its fields.
    lines : {"states", "arcs"}
        The templates of its features, in :class:`.Lines`.
    places : Places
        What these read.
    columns : int or str
        Weights of a feature, or the name of what says how many.
    """

    def are_features(f: Members, keys: np.ndarray) -> bool:
        if (keys < 0).any():
            return False
        known = templates_of(keys[:, 0], getattr(f["lines"], lines), places)
        return bool((known >= 0).all())

    table = features_of(are_features, columns, prefix, _KEYS, by_weight=False)

    def write(stored: dict[str, Any], writer: Writer, *place: Any) -> Any:
        with writer.packing(writer.packed or "float64"):
            return table.write(stored, writer, *place)

    return Kind(table.text, write, table.read, True, fields=table.fields)


FEATURES = {
    "": _features("", "states", STATE_PLACES, N_ACTIONS),
    "label_": _features("label_", "arcs", ARC_PLACES, "L"),
}
"""By the prefix of names, in models and in files, that belong to the table of states,
and to that of arcs.
"""

TABLES = {"": "state_features", "label_": "arc_features"}


def _stored(
    model: ParserModel, prefix: str, some: np.ndarray | slice = slice(None)
) -> dict[str, Any]:
    """Return the keys of some features in ascending order, and their weights."""
    keys = model.keys(prefix)[some]
    order = key_order(keys)
    rows = order if isinstance(some, slice) else some[order]
    return {
        f"{prefix}keys": keys[order],
        f"{prefix}weights": with_rows(model.table(prefix).weights, rows),
    }


def pack_features(
    model: ParserModel, prefix: str
) -> tuple[Callable[[], np.ndarray], Callable[[], Store]]:
    """Pack the features of a table that have weights, as files do.

    Parameters
    ----------
    model : ParserModel
    prefix : str
        Of the table.

    Returns
    -------
    keys, weights : callables
        Unpack the keys, (R, 3) int64, and the weights.
    """
    store = model.table(prefix).weights
    writer = Writer(False, None)
    rows = np.flatnonzero(rows_with_weights(store))
    known = Members({"divisor": model.divisor})
    with writer.packing(model.packed):
        node = FEATURES[prefix].write(_stored(model, prefix, rows), writer, "", known)
    f = Members({}, reader=Reader(writer.arrays, None))
    kind = weights(rows.shape[0], store.columns)
    return (
        lambda: read_keys(node[f"{prefix}keys"], "keys", f),
        lambda: kind.read(node[f"{prefix}weights"], "weights", f),
    )


# --------------------------------------------------------------------------------------
# Models
# --------------------------------------------------------------------------------------
def _attributes(f: Members) -> list[str]:
    """Read which attributes of words the templates name."""
    attributes: list[str] = []
    try:
        attributes = Lines(f["templates"], f["arc_templates"]).attributes()
    except ValueError as error:
        require(False, f"{f.where}.templates: {error}")
    return attributes


def _lines(f: Members) -> Lines:
    """Read the templates; refused unless they suit the labels and the columns."""
    lines = Lines(f["templates"], f["arc_templates"])
    L = f["L"]
    width = f["columns"]
    require(lines.states, f"{f.where}.templates must be strings")
    require(bool(lines.arcs) == (L > 0), f"{f.where}.arc_templates are for labels")
    ok = L > 0 or lines.states == without_labels(lines.states)
    require(ok, f"{f.where}.templates read labels; the model has none")
    try:
        lines.check_labels(L)
        lines.check_columns(width)
        lines.compiled(AtomEncoder(lines.attributes(), width, dict(f["parts"])).rows)
    except ValueError as error:
        require(False, f"{f.where}.templates: {error}")
    return lines


def _encoder(f: Members) -> AtomEncoder:
    """Read the alphabets of the attributes."""
    encoder = AtomEncoder(f["attributes"], f["columns"], dict(f["parts"]))
    encoder.alphabets = dict(zip(f["attributes"], f["alphabets"]))
    require(
        len(encoder.alphabets["t"]) <= MOST_SMALL - SPECIAL, f"{f.where}: too many tags"
    )
    return encoder


def _arguments(f: Members) -> dict[str, Any]:
    """Read the arguments of :class:`.parser_model.ParserModel` from a file."""
    L = f["L"]
    labels = f["labels"]
    numbers = f["label_numbers"]
    ok = (np.sort(numbers) == np.arange(1, L + 1)).all()
    require(ok, f"{f.where}.label_numbers must be 1 to {L}")
    strings = all(type(label) is str for label in labels.values)
    require(
        not f["pseudo"] or (L and strings), f"{f.where}.pseudo needs labels of type str"
    )
    divisors = [f.node[f"{prefix}weights"].get("divisor") or 0 for prefix in TABLES]
    require(set(map(type, divisors)) == {int}, f"{f.where}: the divisor must be an int")
    tables = (f["features"], f["label_features"])
    templates, arcs = f["lines"].compiled(f["encoder"].rows)
    arrays = parse_model(
        templates, arcs, tables, numbers, f["beam"], f["merge"], f["root_step"]
    )
    return {
        "arrays": arrays,
        "templates": f["lines"],
        "encoder": f["encoder"],
        "labels": f["labels"],
        "pseudo": f["pseudo"],
        "divisor": max(divisors),
    }


_MOST_COLUMNS = 10_000

PARSER = Table(
    "ShiftReduceParser",
    Field("templates", each(string), of="templates.states"),
    Field("arc_templates", each(string), of="templates.arcs"),
    Field("columns", integer(2, _MOST_COLUMNS), of="encoder.width"),
    Field(
        "parts", each(pair(integer(2, "columns"), integer(1, _MOST_COLUMNS))),
        of=lambda model: sorted(model.encoder.parts.items()),
    ),
    Field(
        "alphabets", each(alphabet, lambda f, k, _: f["attributes"][k], "attributes"),
        of=lambda model: list(model.encoder.alphabets.values()), stem="",
    ),
    Field("labels", maybe_labels),
    Field("beam", integer(1), of="arrays.beam"),
    Field("merge", flag, of="arrays.merge"),
    Field("features", FEATURES[""], of=partial(_stored, prefix="")),
    Field("label_features", FEATURES["label_"], of=partial(_stored, prefix="label_")),
    Field("pseudo", flag),
    Field("root_step", flag, of="arrays.root_step"),
    Field("label_numbers", array("int32", "L"), of="arrays.symbol"),
    make=_arguments,
    L=lambda f: len(f["labels"]),
    lines=_lines,
    attributes=_attributes,
    encoder=_encoder,
)  # fmt: skip

TRAINED = training_of(TABLES, ascending=True)
