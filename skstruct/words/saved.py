"""Word segmenters in files.

Features are stored by their keys, in the order of rows; the table is built anew. Keys are checked: words
stand before what holds them, none occurs twice.
"""

from functools import partial

from ..core.codes import STANDARD, WORD_TEMPLATES, ZC14
from ..saving.values import name_of
from ..training.tables import (
    compressed_tables,
    table_from_state,
    table_state,
    training_state,
    training_tables,
)
from .features import Scorer
from .keys import in_order, in_use
from .model import WordModel

FACTS = ("stream", "min_count")


def model_state(model, writer, name):
    """The JSON of a :class:`WordModel`."""
    return {
        "templates": name_of(model.templates, WORD_TEMPLATES),
        "beam": int(model.beam),
        **table_state(model, writer, name),
    }


def trained_state(scorer, writer, name):
    """The JSON of a :class:`Scorer`; its features are those of the model."""
    return training_state({"": scorer.features}, writer, name)


def model_from_state(node, fitted, reader, where):
    """The :class:`WordModel` of a file."""
    templates, beam = reader.members(node, where, "templates beam")
    templates = reader.choice(templates, f"{where}.templates", WORD_TEMPLATES)
    columns = 1 if templates == ZC14 else 2
    table = table_from_state(node, partial(in_order, templates), columns, reader, where)
    return WordModel(*table, templates, reader.integer(beam, f"{where}.beam", 0))


def compressed(model, dtype, keep):
    """The :class:`WordModel` without features of weight zero; words that other features hold stay."""

    def rows_and_keys(keys, used):
        return in_use(model.templates, keys, used)

    return compressed_tables(model, dtype, keep, rows_and_keys=rows_and_keys)


def trained_from_state(node, model, min_count, rule, clock, reader, where):
    """The :class:`Scorer` of a file."""
    (features,) = training_tables(node, model, ("",), min_count, rule, clock, reader, where)
    # What is learned from (the update) the next training says.
    return Scorer(model.templates, model.beam, STANDARD, features, clock)
