"""Spans that overlap, by chains of labels: types that overlap have chains of their own.

References
----------
B. Alex, B. Haddow and C. Grover, "Recognising nested named entities in biomedical
text", BioNLP 2007: one sequence of labels for each of several types.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._data.alignment_report import Aligned
from .._data.labels import some_of
from .._data.nested import of_types, types_apart
from .._data.places import PlaceError, place
from .._data.scheme_rules import LabelTable
from .._data.spans import Span, as_spans, trimmed_spans
from .._data.text import as_texts

if TYPE_CHECKING:
    from .._data.spans import Given

BY_TYPE = "by-type"


def chains_of(model: Any) -> list[Any]:
    """Return the span taggers that a fitted one has beside its own chain."""
    return getattr(model, "chains_", None) or []


def refuse_chains(model: Any, what: str) -> None:
    """Raise a ValueError if a span tagger has several chains, of which ``what`` knows
    one.
    """
    if chains_of(model):
        n = 1 + len(chains_of(model))
        raise ValueError(
            f'{what}: this SpanTagger has {n} chains of labels (overlap="by-type"), and '
            "one is expected; give chains_ or a SpanTagger of fewer types"
        )


class Part(NamedTuple):
    """The spans that one chain learns."""

    y: list[list[Span]]
    y_val: list[list[Span]] | None
    positions: list[list[int]]  # of each text, where its spans stand in all of ``y``

    @contextmanager
    def at_positions(self) -> Iterator[None]:
        """Let errors about spans name their positions in all of ``y``."""
        try:
            yield
        except PlaceError as error:
            if error.sequence is not None and error.position is not None:
                error.position = self.positions[error.sequence][error.position]
                error.move(error.sequence)
            raise

    def which(self, given: Given) -> np.ndarray:
        """Return where the spans stand in a list of all."""
        places = zip(given.first.tolist(), self.positions)
        return np.array([at + k for at, of_text in places for k in of_text], np.int64)


def parts_by_type(X: Any, y: Any, X_val: Any = None, y_val: Any = None) -> list[Part]:
    """Return the spans of each chain; types that ``y`` lacks are the first chain's.

    Raises
    ------
    ValueError
        If two spans of one type overlap; the message names the place.
    """
    texts = as_texts(X)
    given = as_spans(y, texts)
    groups = types_apart(as_spans(trimmed_spans(texts, y), texts))
    held_out = None
    if X_val is not None and y_val is not None:
        held_out = as_spans(y_val, as_texts(X_val), "y_val")
        elsewhere = {kind for types in groups[1:] for kind in types}
        found = {str(span.label) for span in held_out.spans}
        groups[0] = sorted({*groups[0], *(found - elsewhere)})
    return [
        Part(
            (rows := of_types(given, types))[0],
            y_val if held_out is None else of_types(held_out, types)[0],
            rows[1],
        )
        for types in groups
    ]


def joined_parts(given: Given, parts: list[tuple[Aligned, np.ndarray]]) -> Aligned:
    """Return what all spans are in tokens, of those of each part and where these stand
    among all.
    """
    problem = np.zeros(len(given.spans), np.uint8)
    for aligned, which in parts:
        problem[which] = np.maximum(problem[which], aligned.problem)
    return Aligned(
        problem,
        np.concatenate([which[aligned.of] for aligned, which in parts]),
        np.concatenate([aligned.start for aligned, _ in parts]),
        np.concatenate([aligned.stop for aligned, _ in parts]),
        np.any([aligned.unknown for aligned, _ in parts], axis=0),
    )


def merged(chains: list[list[list[Span]]]) -> list[list[Span]]:
    """Return the spans that several chains find in texts, in order."""
    return [
        sorted(
            (s for spans in each for s in spans),
            key=lambda s: (s.start, -s.end, s.label),
        )
        for each in zip(*chains)
    ]


def known_types(model: Any) -> set[str]:
    """Return the types that the own chain of a span tagger knows."""
    classes = np.asarray(model.tagger_.classes_).tolist()
    return {kind for _, kind in LabelTable(model.scheme).parse(classes)} - {""}


def asked_of(model: Any, given: Given) -> list[list[list[Span]]]:
    """Return the spans that each chain is asked for.

    Raises
    ------
    ValueError
        If none knows the type of one; the message names the place.
    """
    types = [known_types(each) for each in (model, *chains_of(model))]
    known = set().union(*types)
    for s, span in enumerate(given.spans):
        if span.label not in known:
            wrong = f"no label has the type {span.label!r}; known are {some_of(sorted(known))}"
            raise PlaceError(*place(given.first, s), wrong, "segments")
    return [
        [[span for span in spans if span.label in some] for spans in given.by_text()]
        for some in types
    ]


def in_order(
    given: Given, chains: list[list[list[tuple[Span, float]]]]
) -> list[list[tuple[Span, float]]]:
    """Return the probabilities that chains give, in the order that was asked."""
    found = []
    for spans, each in zip(given.by_text(), zip(*chains)):
        known = {span: p for chain in each for span, p in chain}
        found.append([(span, known[span]) for span in spans])
    return found


def most_probable(
    chains: list[list[list[tuple[Span, float]]]],
) -> list[list[tuple[Span, float]]]:
    """Return what several chains find in texts, the most probable first."""
    return [
        sorted(
            (one for some in each for one in some), key=lambda one: (-one[1], one[0])
        )
        for each in zip(*chains)
    ]


def min_proba_of_chains(model: Any, min_proba: Any) -> list[Any]:
    """Return the least probability for each chain: of a dict what its types have."""
    chains = [model, *chains_of(model)]
    if not isinstance(min_proba, Mapping):
        return [min_proba] * len(chains)
    types = [known_types(each) for each in chains]
    known = set().union(*types)
    for kind in min_proba:
        if kind is not None and kind not in known:
            raise ValueError(
                f"min_proba: no label has the type {kind!r}; known are "
                f"{some_of(sorted(known))}"
            )
    return [
        {kind: p for kind, p in min_proba.items() if kind is None or kind in some}
        for some in types
    ]
