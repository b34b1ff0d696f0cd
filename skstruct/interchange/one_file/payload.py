"""A fitted model as the block of a file: what is written, and why some models cannot be."""

import re
from typing import NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..._version import __version__
from ...crf.run import nonzero_entries
from ...features.contexts import is_context
from .keys import TemplateKeys
from .quantities import as_numbers
from .sections import FORMAT, Sections, weight_table


class Payload(NamedTuple):
    """What a file holds."""

    header: dict
    sections: Sections

    @property
    def parts(self):
        """Names of the modules that a program needs for it."""
        return self.header["parts"]

    def block(self, **about):
        """The constant; ``about`` is what is said of the model besides."""
        return self.sections.block({**self.header, "about": {**self.header["about"], **about}})


def refuse(reason):
    """Raise the error that a model cannot be written."""
    raise ValueError(f"the model cannot be written as one file: {reason}")


def tagger_of(model):
    """The estimator that a search or a pipeline ends in; an error if other steps change the tokens."""
    while hasattr(model, "best_estimator_") or hasattr(model, "steps"):
        if hasattr(model, "best_estimator_"):
            model = model.best_estimator_
            continue
        for _, step in model.steps[:-1]:
            if step is not None and not isinstance(step, str):
                refuse(f"the step {type(step).__name__}(...) before the tagger")
        model = model.steps[-1][1]
    return model


def chain_model(estimator):
    """The ChainModel of a fitted tagger.

    Raises
    ------
    TypeError
        If it is no chain tagger.
    """
    check_is_fitted(estimator)
    model = getattr(estimator, "_model", None)
    if not hasattr(model, "chain"):
        kind = type(estimator).__name__
        raise TypeError(f"one file holds a chain tagger, a Segmenter or a SpanTagger over one, got a {kind}")
    return model


def payload_of(model, weights="exact"):
    """The :class:`Payload` of a fitted estimator."""
    estimator = tagger_of(model)
    inner = chain_model(estimator)
    sections = Sections()
    header = {
        "format": FORMAT,
        "task": "labels",
        "labels": labels_of(inner),
        "chain": "chain" if inner.order == 1 else "pairs",
        "probabilities": None,
        **features_of(inner, sections, weights),
        "about": {"model": type(estimator).__name__, "skstruct": __version__, "weights": weights},
    }
    header["parts"] = parts_of(header)
    return Payload(header, sections)


def parts_of(header):
    """The parts of a program that read a model, in an order in which none needs a later one at once."""
    parts = ["reading", "templates"]
    contexts = [name for name, _ in header["channels"] if is_context(name)]
    functions = [name for name, _ in header["channels"] if name not in ("x", "const") and not is_affix(name)]
    if len(functions) > len(contexts):
        parts.append("characters")
    if contexts:
        parts.append("contexts")
    parts += ["chain"] if header["chain"] == "chain" else ["chain", "pairs"]
    if header["probabilities"] is not None:
        parts.append("sums")
    return [*parts, "calls", "command"]


def is_affix(name):
    """Whether a function of templates is an affix."""
    return re.fullmatch(r"(prefix|suffix)\d+", name) is not None


def labels_of(model):
    """The labels, which JSON can hold."""
    for label in model.labels.values:
        if not isinstance(label, (str, int, float)):
            refuse(f"labels of type {type(label).__name__}")
    return model.labels.values


def features_of(model, sections, weights):
    """Add features, weights and constraints of a ChainModel; returns its part of the header."""
    L, encoder = len(model.labels), model.encoder
    tables = {"nodes": _entries(model.nodes, L), "edges": _entries(model.edges, L * L)}
    if not encoder.has_bigram:
        keys, values = tables["edges"]
        tables["edges"] = keys[keys >= L * L], values[keys >= L * L]
    rows = {"nodes": encoder.n_node_rows, "edges": encoder.n_edge_rows}
    used = [np.zeros(rows[name], np.bool_) for name in rows]
    for name, columns, mine in zip(rows, (L, L * L), used):
        mine[tables[name][0] // columns] = True
    keys = TemplateKeys(encoder, used)
    header = {"features": "templates", "token": encoder.token_type.__name__, "columns": encoder.n_columns}
    header.update(keys.header())
    for (name, columns), (row_of, n_rows) in zip((("nodes", L), ("edges", L * L)), keys.write(sections)):
        rows[name] = n_rows
        old, values = tables[name]
        new = row_of[old // columns] * columns + old % columns
        order = np.argsort(new)
        tables[name] = new[order], values[order]
    if model.order == 2:
        tables["trigrams"], rows["trigrams"] = _entries(model.trigrams, L), L * (L + 1)
    numbers, header["divisor"], header["step"] = as_numbers([v for _, v in tables.values()], weights)
    for name, values in zip(tables, numbers):
        columns = L * L if name == "edges" else L
        weight_table(sections, name, rows[name], tables[name][0], values, columns)
    start, allowed, end = (part == 0.0 for part in model.constraints)
    sections.unsigned("allowed", np.concatenate([start, end, allowed.ravel()]))
    return header


def _entries(store, columns):
    """(keys, weights) of a store, none of them 0, sorted; ``columns`` of the table that is written."""
    keys, values = nonzero_entries(store)
    kept = np.flatnonzero(values)
    kept = kept[np.argsort(keys[kept], kind="stable")]
    return keys[kept], values[kept]
