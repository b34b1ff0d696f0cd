"""Dependency parsers in files.

Features are stored by their keys, in ascending order, which makes keys small; rows of weights follow that
order. The tables are built anew. Keys are checked: no feature occurs twice, and each belongs to a template.
Files of earlier versions have keys in any order, as arrays of three columns.
"""

from dataclasses import replace
from functools import partial

import numpy as np

from ..core.codes import STANDARD
from ..data.labels import Labels
from ..features.tokens import Alphabet
from ..saving.labels import labels_from_state, labels_state
from ..saving.values import require
from ..training.tables import compressed_tables, table_from_state, training_state, training_tables
from .atoms import AtomEncoder
from .features import N_ACTIONS, SPECIAL
from .lines import Lines, attributes_read, check_columns, check_labels, without_labels
from .model import ParserModel, compiled
from .packed import PREFIXES, features_state
from .template_sets import ARC_LINES
from .templates import ARC_PLACES, MOST_SMALL, STATE_PLACES, templates_of

FACTS = ("stream", "min_count")


def model_state(model, writer, name):
    """The JSON of a :class:`ParserModel`."""
    return {
        "templates": list(model.templates.states),
        "arc_templates": list(model.templates.arcs),
        "columns": int(model.encoder.width),
        "parts": [[int(c), int(n)] for c, n in sorted(model.encoder.parts.items())],
        "alphabets": [
            writer.strings(f"{name}.{attribute}", alphabet.strings())
            for attribute, alphabet in zip(model.encoder.attributes, model.encoder.alphabets)
        ],
        "labels": labels_state(model.labels, writer, f"{name}.labels"),
        "beam": int(model.beam),
        "merge": bool(model.merge),
        **features_state(model, writer, name),
        "pseudo": bool(model.pseudo),
        "root_step": bool(model.root_step),
        "label_numbers": writer.array(f"{name}.label_numbers", model.symbol),
    }


def trained_state(model, writer, name):
    """The JSON of a :class:`ParseModel`; its features are those of the model, in the same order."""
    tables = dict(zip(PREFIXES, (model.state_features, model.arc_features)))
    return training_state(tables, writer, name, ascending=True)


def model_from_state(node, fitted, reader, where):
    """The :class:`ParserModel` of a file."""
    lines, alphabets, labels, beam, merge = reader.members(
        node, where, "templates alphabets labels beam merge"
    )
    # An empty list of labels is how a parser without labels is written.
    labels = labels_from_state(labels, reader, f"{where}.labels") if labels != [] else Labels()
    L = len(labels)
    lines, width, parts = _features(node, lines, L, reader, where)
    encoder = AtomEncoder(attributes_read(lines), width, parts)
    alphabets = reader.list(alphabets, f"{where}.alphabets")
    require(
        len(alphabets) == len(encoder.attributes), f"{where}: {len(encoder.attributes)} alphabets expected"
    )
    for k, part in enumerate(alphabets):
        strings = reader.strings(part, f"{where}.alphabets")
        encoder.alphabets[k] = Alphabet(strings)
        require(len(encoder.alphabets[k]) == len(strings), f"{where}.alphabets: a string occurs twice")
    require(len(encoder.alphabets[0]) <= MOST_SMALL - SPECIAL, f"{where}: too many tags")
    parts = (lines.states, STATE_PLACES, N_ACTIONS), (lines.arcs, ARC_PLACES, L)
    tables = [
        table_from_state(node, partial(_are_features, read, places), columns, reader, where, prefix)
        for prefix, (read, places, columns) in zip(PREFIXES, parts)
    ]
    return ParserModel(
        lines,
        encoder,
        labels,
        reader.integer(beam, f"{where}.beam", 1),
        reader.flag(merge, f"{where}.merge"),
        *tables[0],
        *tables[1],
        _symbol(node, L, reader, where),
        _pseudo(node, labels, reader, where),
        max(reader.integer(node[f"{p}weights"].get("divisor", 0), f"{where}.divisor", 0) for p in PREFIXES),
        reader.flag(node.get("root_step", False), f"{where}.root_step"),
    )


def _features(node, lines, n_labels, reader, where):
    """(:class:`Lines`, columns of a word, parts by column) of a file.

    Files of earlier versions hold the templates of states alone, for words of two columns.
    """
    arcs = node.get("arc_templates", list(ARC_LINES) if n_labels else [])
    lines = Lines(reader.list(lines, f"{where}.templates"), reader.list(arcs, f"{where}.arc_templates"))
    require(
        lines.states and all(type(a) is str for a in sum(lines, [])), f"{where}.templates must be strings"
    )
    require(bool(lines.arcs) == (n_labels > 0), f"{where}.arc_templates are for labels")
    ok = n_labels > 0 or lines.states == without_labels(lines.states)
    require(ok, f"{where}.templates read labels; the model has none")
    width = reader.integer(node.get("columns", 2), f"{where}.columns", 2, 10_000)
    parts = {}
    for pair in reader.list(node.get("parts", []), f"{where}.parts"):
        require(isinstance(pair, list) and len(pair) == 2, f"{where}.parts must be pairs")
        c = reader.integer(pair[0], f"{where}.parts", 2, width)
        parts[c] = reader.integer(pair[1], f"{where}.parts", 1, 10_000)
    try:
        check_labels(lines, n_labels)
        check_columns(lines, width)
        compiled(lines, AtomEncoder(attributes_read(lines), width, parts).rows)
    except ValueError as error:
        require(False, f"{where}.templates: {error}")
    return lines, width, parts


def _symbol(node, n_labels, reader, where):
    """The numbers of labels in features; files of earlier versions have none in them."""
    numbers = np.arange(1, n_labels + 1, dtype=np.int32)
    if "label_numbers" in node:
        found = reader.array(node["label_numbers"], f"{where}.label_numbers", np.int32, (n_labels,))
        require((np.sort(found) == numbers).all(), f"{where}.label_numbers must be 1 to {n_labels}")
        numbers = found
    return numbers


def _pseudo(node, labels, reader, where):
    """Whether labels say what was lifted."""
    pseudo = reader.flag(node.get("pseudo", False), f"{where}.pseudo")
    strings = all(type(label) is str for label in labels.values)
    require(not pseudo or (len(labels) and strings), f"{where}.pseudo needs labels of type str")
    return pseudo


def _are_features(lines, places, keys):
    return (keys >= 0).all() and (templates_of(keys[:, 0], lines, places) >= 0).all()


def compressed(model, dtype, keep):
    """The :class:`ParserModel` without the features that have no weight."""
    divisor = 0 if dtype == "float16" else model.divisor  # numerators take more than two bytes
    return replace(compressed_tables(model, dtype, keep, PREFIXES), divisor=divisor)


def trained_from_state(node, model, min_count, rule, clock, reader, where):
    """The :class:`ParseModel` of a file."""
    states, arcs = training_tables(
        node, model, PREFIXES, min_count, rule, clock, reader, where, by_weight=False
    )
    # What is learned from (the update) the next training says.
    return model.scorer()._replace(update=STANDARD, state_features=states, arc_features=arcs, clock=clock)
