"""A fitted model as the block of a file: what is written, and why some models cannot
be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._crf.crf_run import sorted_weights
from .._data.inputs import LABELS, SPANS, WORDS
from .._data.label_colours import label_style
from .._data.pieces import MOST_TOKENS
from .._data.scheme_rules import CLOSING, OPENING, LabelTable, are_chunks
from .._data.segmented import ENDING_WORD, STARTING_WORD
from .._data.text import TOKENIZERS, classes_of
from .._sklearn import layers
from .._taggers.overrides import overridden
from .._taggers.span_chains import refuse_chains
from .._version import __version__
from ..features.bag_encoder import BagEncoder
from ..features.pattern_encoder import PatternEncoder
from ..features.template_encoder import TemplateEncoder
from .keys import N_CODES, Keys, NameKeys, PatternKeys, TemplateKeys, gaps
from .sections import FORMAT, Sections, as_numbers, refuse, weight_table

if TYPE_CHECKING:
    from .._chain.chain_model import ChainModel


_KEYS = {
    TemplateEncoder: TemplateKeys,
    BagEncoder: NameKeys,
    PatternEncoder: PatternKeys,
}


class Payload(NamedTuple):
    """The content of a file."""

    header: dict
    sections: Sections
    keys: Keys

    @property
    def n_weights(self) -> int:
        """Weights that are not zero."""
        return sum(
            n for name, _, n in self.sections.entries if name.endswith(".weight")
        )

    def page(self) -> Payload:
        """Return this payload as a page needs it: with what it shows besides labels."""
        header = self.header
        if header["features"] == "names":
            wrong = "a page cannot make the features of dicts and lists, which your own code makes: "
            raise ValueError(f"{wrong}write .js and call predict from your page")
        chunks = header.get("spans")
        labels = header["labels"]
        if (
            chunks is None
            and all(isinstance(label, str) for label in labels)
            and are_chunks(labels)
        ):
            chunks = _segments(labels)
        if chunks and header["task"] != "words":
            chunks = {name: chunks[name] for name in ("opens", "closes", "types")}
            chunks["styles"] = [label_style(kind) for kind in chunks["types"]]
        channels = zip(header.get("channels", ()), header.get("values", ()))
        words = [s for (name, _), strings in channels if name == "x" for s in strings]
        characters = header["token"] == "str" and 2 * sum(
            len(s) == 1 for s in words
        ) > len(words)
        return self._replace(
            header={**header, "chunks": chunks, "characters": characters}
        )

    def block(self, **about: Any) -> str:
        """Return the constant; ``about`` is what is said of the model besides."""
        about = {**self.header["about"], **about}
        return self.sections.block({**self.header, "about": about})


def payload_of(model: Any, weights: str = "exact") -> Payload:
    """Return the :class:`Payload` of a fitted estimator.

    Raises
    ------
    TypeError
        If it is no tagger, or segmenter, that a file can hold.
    ValueError
        If a part of it cannot be written; the message says which.
    """
    estimator = predictor_of(model)
    instead = "export a SpanTagger of the types of each chain, fitted apart"
    refuse_chains(estimator, "one file", instead)
    sections = Sections()
    task = estimator.inputs.task if hasattr(estimator, "tagger_") else LABELS
    tagger = predictor_of(getattr(estimator, "tagger_", estimator))
    for layer in (estimator, *layers(tagger)):
        if overridden(layer, "predict"):
            refuse(f"{type(layer).__name__} has a predict of its own")
    inner = chain_model(tagger, estimator)
    token_type: Any = inner.encoder.token_type  # of a fitted encoder
    labels = inner.labels.values
    keys = keys_of(inner)
    for label in labels:
        if not isinstance(label, (str, int)):  # JSON could not hold it
            refuse(f"labels of type {type(label).__name__}")
    of_texts = {WORDS: _words, SPANS: _spans}.get(task)
    distributions = [getattr(layer, "_distribution", None) for layer in layers(tagger)]
    scales = [
        float(each.scale)
        for each in distributions
        if each is not None and inner.order == 1
    ]
    header = {
        "format": FORMAT,
        "task": task,
        "labels": labels,
        **({task: of_texts(estimator, labels)} if of_texts else {}),
        "token": token_type.__name__,
        "columns": inner.encoder.n_columns,
        "chain": "chain" if inner.order == 1 else "pairs",
        # What scores are multiplied by to be log-probabilities, up to a constant; None
        # if it knows none
        "probabilities": scales[0] if scales else None,
        **keys.header(sections),
        **add_weights(inner, keys, sections, weights),
        "about": {
            "model": type(estimator).__name__,
            "skstruct": __version__,
            "weights": weights,
        },
    }
    return Payload(header, sections, keys)


# --------------------------------------------------------------------------------------
# What a model is made of
# --------------------------------------------------------------------------------------
def predictor_of(model: Any) -> Any:
    """Return the tagger or segmenter that a search, a pipeline, or an average of
    segmenters is around.
    """
    for layer in layers(model):
        for _, step in getattr(layer, "steps", ())[:-1]:
            if step is not None and not isinstance(step, str):
                refuse(f"the step {type(step).__name__}(...) before the tagger")
        if not any(hasattr(layer, name) for name in ("best_estimator_", "steps")):
            if not hasattr(getattr(layer, "estimator_", None), "tagger_"):
                break
    return layer


def chain_model(tagger: Any, estimator: Any) -> ChainModel:
    """Return the ChainModel of a fitted tagger, the one inside of an estimator."""
    if hasattr(estimator, "fit"):
        check_is_fitted(estimator)
    model: Any = getattr(tagger, "_model", None)
    if not hasattr(model, "new_chain"):
        kind = type(estimator).__name__
        if tagger is not estimator:
            kind += f" over a {type(tagger).__name__}"
        raise TypeError(
            f"one file holds a chain tagger, a Segmenter or a SpanTagger over one, got a {kind}"
        )
    return model


def keys_of(model: ChainModel) -> Keys:
    """Return the keys of the features that have weights."""
    encoder = model.encoder
    L = len(model.labels)
    if type(encoder) not in _KEYS:
        refuse(
            "tokens are rows of numbers; to read the weights, call "
            "skstruct.inspection.coefficients"
        )
    for pattern in (
        encoder.templates.patterns if type(encoder) is PatternEncoder else ()
    ):
        if any(macro.expression is not None for macro in pattern.macros):
            refuse(f"the pattern {pattern.text!r} has a regular expression")
    sizes = (
        (model.nodes, L, encoder.n_node_rows),
        (model.edges, L * L, encoder.n_edge_rows),
    )
    used = [
        np.bincount(sorted_weights(store)[0] // columns, minlength=n) > 0
        for store, columns, n in sizes
    ]
    return _KEYS[type(encoder)](encoder, used)


# --------------------------------------------------------------------------------------
# Weights
# --------------------------------------------------------------------------------------
def add_weights(
    model: ChainModel, keys: Keys, sections: Sections, weights: str
) -> dict[str, Any]:
    """Add weights and constraints, and return their part of the header."""
    # of name, keys, weights, rows, columns
    L = len(model.labels)
    tables = []
    stores = ("nodes", model.nodes, L), ("edges", model.edges, L * L)
    for (name, store, columns), (row_of, n_rows) in zip(stores, keys.write(sections)):
        old, values = sorted_weights(store)
        if name == "edges" and not model.encoder.has_bigram:
            others = old >= columns
            old = old[others]
            values = values[others]
        new = row_of[old // columns] * columns + old % columns
        order = np.argsort(new)
        tables.append((name, new[order], values[order], n_rows, columns))
    if model.trigrams is not None:
        tables.append(("trigrams", *sorted_weights(model.trigrams), L * (L + 1), L))
    numbers, divisor, step = as_numbers(
        [values for _, _, values, _, _ in tables], weights
    )
    for (name, place, _, n_rows, columns), values in zip(tables, numbers):
        written = np.flatnonzero(values)  # rounding makes some weights 0
        weight_table(sections, name, n_rows, place[written], values[written], columns)
    start, allowed, end = (part == 0.0 for part in model.constraints)
    sections.add("allowed", np.concatenate([start, end, allowed.ravel()]))
    return {"divisor": divisor, "step": step}


# --------------------------------------------------------------------------------------
# What a file predicts: labels of tokens, words of texts, or spans of texts
# --------------------------------------------------------------------------------------
def _words(segmenter: Any, labels: list[Any]) -> dict[str, Any]:
    segmenter._check_settings()
    parsed = LabelTable(segmenter.scheme).parse(labels)
    closes = [prefix in ENDING_WORD for prefix, _ in parsed]
    return {
        "opens": [prefix in STARTING_WORD for prefix, _ in parsed],
        "closes": closes,  # a word starts behind it
        "ends": [True] * len(labels)
        if segmenter.scheme == "BI"
        else closes,  # a word may end with it
        "tags": [kind for _, kind in parsed] if segmenter.tagged_ else None,
    }


def _spans(model: Any, labels: list[Any]) -> dict[str, Any]:
    model._check_settings()
    if model.tokenizer not in TOKENIZERS:
        kind = "regular expression" if isinstance(model.tokenizer, str) else "function"
        refuse(f'the tokenizer is a {kind}; "words" and "characters" can be written')
    classes = classes_of(np.arange(N_CODES, dtype=np.uint32))
    begins = np.flatnonzero(np.diff(classes, prepend=0))
    return {
        "tokenizer": model.tokenizer,
        "pieces": model.pieces_,
        "max_length": MOST_TOKENS,
        "layout": bool(model.layout),
        **_segments(labels),
        "bounds": gaps(begins),  # where the classes of code points begin
        "classes": classes[begins].tolist(),
    }


def _segments(labels: list[Any]) -> dict[str, Any]:
    parsed = LabelTable().parse(labels)
    return {
        "opens": [prefix in OPENING for prefix, _ in parsed],
        "closes": [prefix in CLOSING for prefix, _ in parsed],
        "types": [None if prefix == "O" else kind for prefix, kind in parsed],
    }
