"""Spans that overlap, by chains of labels: types that overlap have chains of their own.

References
----------
B. Alex, B. Haddow and C. Grover, "Recognising nested named entities in biomedical
text", BioNLP 2007: one sequence of labels for each of several types.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from .._data.alignment_report import Aligned
from .._data.inputs import renumbered
from .._data.known_spans import OUTSIDE, as_known
from .._data.labels import some_of
from .._data.lexicon import Lexicon
from .._data.nested import of_types, types_apart
from .._data.places import PlaceError, place
from .._data.scheme_rules import LabelTable
from .._data.shared import SharedTexts
from .._data.spans import Span, as_spans, trimmed_spans
from .._data.text import as_texts, groups_of

if TYPE_CHECKING:
    from .._data.known_spans import Kinds
    from .._data.spans import Given

T = TypeVar("T")

BY_TYPE = "by-type"


def has_chains(model: Any) -> bool:
    """Tell whether a fitted span tagger has several chains of labels."""
    return bool(getattr(model, "chains_", None))


def chains_of(model: Any) -> list[Any]:
    """Return the chains of a fitted span tagger, each as a span tagger that has this one
    alone; the spans of the model are those of all of them.
    """
    if "chains_" not in vars(model):
        return [model]
    own = copy(model)
    vars(own).pop("chains_")
    own.overlap = "error"
    return [own, *model.chains_]


def refuse_chains(model: Any, what: str, instead: str) -> None:
    """Raise a ValueError if a span tagger has several chains, of which ``what`` knows
    one; ``instead``: what to write.
    """
    if has_chains(model):
        n = len(chains_of(model))
        raise ValueError(
            f'{what}: this SpanTagger has {n} chains of labels (overlap="by-type"), and '
            f"one is expected; {instead}"
        )


class Question(NamedTuple):
    """A question to one chain of a span tagger about some texts."""

    number: int  # of the chain
    chain: Any
    texts: SharedTexts
    known: Any  # as of ``predict``: what concerns the chain, of these texts
    where: slice  # of all texts


def asked(
    model: Any, texts: list[str], known: Any, ask: Callable[[Question], list[T]]
) -> list[list[T]]:
    """Return what each chain answers, a value for each text; ``known`` as of
    ``predict``.

    Texts are read some at once, by all chains, so that their tokens are found, and
    encoded, once. Errors count all texts.
    """
    chains = chains_of(model)
    facts = known_of_chains(model, known, texts)
    found: list[list[T]] = [[] for _ in chains]
    for first, stop in groups_of(texts):
        some = SharedTexts(texts[first:stop])
        where = slice(first, stop)
        for number, (chain, fact) in enumerate(zip(chains, facts)):
            given = None if fact is None else fact.spans[where]
            positions = [] if fact is None else fact.positions[where]
            with renumbered(range(first, stop)), at_positions(positions, "known"):
                question = Question(number, chain, some, given, where)
                found[number] += ask(question)
    return found


@contextmanager
def at_positions(positions: list[list[int]], name: str) -> Iterator[None]:
    """Let errors about some spans of an argument name their positions among all."""
    try:
        yield
    except PlaceError as error:
        if error.name == name and None not in (error.sequence, error.position):
            error.position = positions[error.sequence][error.position]  # type: ignore[index]
            error.move(error.sequence)
        raise


class Facts(NamedTuple):
    """Known facts of texts that concern one chain."""

    spans: list[list[Any]]  # (start, end, label), as of ``predict``
    positions: list[list[int]]  # of each text, where they stand among all


def known_of_chains(model: Any, known: Any, texts: list[str]) -> list[Facts | None]:
    """Return for each chain of a span tagger what is known that concerns it: the spans of
    its types, and the parts that no span may touch.

    Raises
    ------
    ValueError
        If no chain has the type of a span, or several chains have types that it may
        have; the message names the place.
    """
    chains = chains_of(model)
    if known is None:
        return [None] * len(chains)
    if isinstance(known, Lexicon):
        known = known.find(texts, model.tokenizer)
    checked = as_known(known, texts)
    types = [known_types(each) for each in chains]
    found = [Facts([[] for _ in texts], [[] for _ in texts]) for _ in chains]
    for s, (span, kinds) in enumerate(zip(checked.given.spans, checked.kinds)):
        i, k = place(checked.given.first, s)
        which: Sequence[int] = range(len(chains))
        if kinds != frozenset():
            which = [_chain_with(types, kinds, i, k)]
        label: Any = kinds or OUTSIDE
        if kinds and len(kinds) == 1:
            (label,) = kinds
        for number in which:
            found[number].spans[i].append((span.start, span.end, label))
            found[number].positions[i].append(k)
    return list(found)


def _chain_with(types: list[set[str]], kinds: Kinds, i: int, k: int) -> int:
    """Return the number of the chain that has the types of a known span."""
    every = set().union(*types)
    unknown = sorted((kinds or set()) - every)
    if unknown:
        wrong = f"no label has the type {unknown[0]!r}; choose from {some_of(sorted(every))}"
        raise PlaceError(i, k, wrong, "known")
    with_some = [
        number for number, some in enumerate(types) if kinds is None or some & kinds
    ]
    if len(with_some) > 1:
        groups = " and ".join(some_of(sorted(types[number])) for number in with_some)
        wrong = (
            f"may be of types that have chains of labels of their own ({groups}): name "
            "one type, or several of one chain"
        )
        raise PlaceError(i, k, wrong, "known")
    return with_some[0]


class Part(NamedTuple):
    """The spans that one chain learns."""

    y: list[list[Span]]
    y_val: list[list[Span]] | None
    positions: list[list[int]]  # of each text, where its spans stand in all of ``y``

    def which(self, given: Given) -> np.ndarray:
        """Return where the spans stand in a list of all."""
        places = zip(given.first.tolist(), self.positions)
        return np.array([at + k for at, of_text in places for k in of_text], np.int64)


def parts_by_type(X: Any, y: Any, X_val: Any = None, y_val: Any = None) -> list[Part]:
    """Return the spans of each chain; types that ``y`` lacks have none of their own.

    Raises
    ------
    ValueError
        If two spans of one type overlap; the message names the place.
    """
    texts = as_texts(X)
    given = as_spans(y, texts)
    held_out = trimmed = None
    if X_val is not None and y_val is not None:
        texts_val = as_texts(X_val, "X_val")
        held_out = as_spans(y_val, texts_val, "y_val")
        trimmed = as_spans(trimmed_spans(texts_val, y_val, "y_val"), texts_val)
    groups = types_apart(as_spans(trimmed_spans(texts, y), texts), held_out=trimmed)
    parts = [_part_of(given, types) for types in groups]
    if held_out is None:
        return [part._replace(y_val=y_val) for part in parts]
    return [
        part._replace(y_val=of_types(held_out, types)[0])
        for part, types in zip(parts, groups)
    ]


def parts_going_on(X: Any, y: Any, known: list[set[str]]) -> list[Part]:
    """Return the spans of each chain in further training; new types that overlap those
    of each chain have new ones.

    ``known``: the types of the chains there are.

    Raises
    ------
    ValueError
        If two spans of one type, or of two of one chain, overlap; the message names the
        place.
    """
    texts = as_texts(X)
    given = as_spans(y, texts)
    trimmed = as_spans(trimmed_spans(texts, y), texts)
    groups = types_apart(trimmed, groups=list(map(sorted, known)))
    return [_part_of(given, types) for types in groups]


def _part_of(given: Given, types: list[str]) -> Part:
    spans, positions = of_types(given, types)
    return Part(spans, None, positions)


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
    """Return the types that a span tagger of one chain knows."""
    classes = np.asarray(model.tagger_.classes_).tolist()
    return {kind for _, kind in LabelTable(model.scheme).parse(classes)} - {""}


def spans_of_chains(model: Any, given: Given) -> list[list[list[Span]]]:
    """Return the spans that each chain is asked for.

    Raises
    ------
    ValueError
        If none knows the type of one; the message names the place.
    """
    types = [known_types(each) for each in chains_of(model)]
    known = set().union(*types)
    for s, span in enumerate(given.spans):
        if span.label not in known:
            wrong = f"no label has the type {span.label!r}; known are {some_of(sorted(known))}"
            raise PlaceError(*place(given.first, s), wrong, "segments")
    return [
        [[span for span in spans if span.label in some] for spans in given.by_text()]
        for some in types
    ]


def spans_by_chain(model: Any, X: Any, y: Any) -> list[list[list[Span]]]:
    """Return the spans of texts that concern each chain of a fitted span tagger; types
    that none knows are the first one's.
    """
    given = as_spans(y, as_texts(X))
    types = [known_types(each) for each in chains_of(model)]
    found = {str(span.label) for span in given.spans}
    types[0] |= found.difference(*types)
    return [of_types(given, some)[0] for some in types]


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
    chains = chains_of(model)
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
