"""The training data of a span tagger's tagger: tokens of pieces of texts, and labels
that spell the spans.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from sklearn.base import clone

from .._core.user_warnings import warn
from .._data.alignment_report import align_spans, counts_of, labels_of
from .._data.inputs import NothingToLearn
from .._data.labels import AllBut
from .._data.pieces import MOST_TOKENS, chosen, cut_texts, marked_across
from .._data.places import part_of
from .._data.scheme_rules import check_scheme
from .._data.schemes import spans_to_labels
from .._data.shared import SharedTexts
from .._data.spans import as_spans
from .._data.text import as_texts, check_tokenizer, is_white_space, tokenized
from .._saving.states import FITTED
from .._training.held_out import GivenPieces
from .._training.parameters import parameters_named
from ..features.templates import FeatureTemplates
from .inner_tagger import TaggerData, TaggerTraining
from .metadata import asking_for_weights
from .perceptron import StructuredPerceptron
from .sequence_tagger import WordsParameter
from .span_chains import (
    BY_TYPE,
    at_positions,
    chains_of,
    known_types,
    parts_going_on,
    refuse_chains,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._data.alignment_report import Aligned
    from .._data.pieces import Pieces
    from .._data.spans import Given as GivenSpans
    from .._data.text import Tokens
    from .._data.types import Corpus, Self, Texts


_LEARNS_ALL = 'overlap="by-type" learns them, but for two of one type'


class SpanTraining(TaggerTraining, WordsParameter):
    """The part of ``SpanTagger`` that hands its texts to the tagger.

    Attributes are the parameters of :class:`SpanTagger`.
    """

    tokenizer: Any
    scheme: str
    align: str
    overlap: str
    pieces: str
    max_length: int | None
    layout: bool
    tagger_: Any
    pieces_: str
    alignment_: dict[str, int]

    def _validate_params(self) -> None:
        super()._validate_params()
        check_tokenizer(self.tokenizer)

    def _ready(self, tagger: Any) -> Any:
        tagger = _with_normal_lexicons(_constrained(tagger, self.scheme))
        return _reading(tagger, self.words)

    def _aligned(
        self, X: Texts, y: Corpus, judging: bool = False
    ) -> tuple[Tokens, GivenSpans, Aligned]:
        """(tokens, spans, what these are in tokens) of annotated texts.

        ``judging``: gold spans that no labels express are not refused, as ``score``
        takes them too.
        """
        texts = as_texts(X)
        given = as_spans(y, texts)
        tokens = tokenized(texts, self.tokenizer)
        align = "unknown" if judging and self.align == "error" else self.align
        return (
            tokens,
            given,
            align_spans(tokens, given, align, "longest" if judging else self.overlap),
        )

    def _labelled(
        self,
        tokens: Tokens,
        given: GivenSpans,
        aligned: Aligned,
        kind: str,
        most: int | None,
    ) -> tuple[Pieces, list[list[Any]]]:
        """Return the pieces of texts, of at most that many tokens, with the labels for
        the tagger.
        """
        pieces = cut_texts(tokens, kind, most, aligned)
        labels: list[list[Any]] = labels_of(aligned, given, pieces.bounds, self.scheme)
        for p, text in enumerate(pieces.text.tolist()):
            if given.types[text] is not None:
                open_ = all_but(given.types[text], self.scheme)
                labels[p] = [open_ if label == "O" else label for label in labels[p]]
        return pieces, labels

    def _training_data(self, X: Texts, y: Corpus, go_on: bool = False) -> TaggerData:
        tokens, given, aligned = self._aligned(X, y)
        _check_tokens(tokens, self.tokenizer)
        before = go_on and hasattr(self, "pieces_")
        kind = self.pieces_ if before else chosen(tokens, aligned, self.pieces)
        pieces, labels = self._labelled(tokens, given, aligned, kind, self.max_length)
        counts = counts_of(given, marked_across(tokens, aligned, kind))
        known = {
            "pieces_": kind,
            "alignment_": summed([self.alignment_, counts] if before else [counts]),
        }
        if not counts["spans"] and not go_on:
            warn("y holds no span: a model that learns from it finds none")
        self._warn(counts, kind)
        tagger = (
            self.tagger_ if go_on and hasattr(self, "tagger_") else self._template()
        )
        read = pieces.sequences(self.layout, tagger)
        return TaggerData(read, labels, pieces.text, known)

    def _check_further(self) -> None:
        super()._check_further()
        by_type = "chains_" in vars(self)
        if by_type != (self.overlap == BY_TYPE):
            before = "was" if by_type else "was not"
            raise ValueError(
                f"overlap={self.overlap!r} differs from that of the training so far, "
                f"which {before} {BY_TYPE!r}; a fit that continues cannot change it"
            )
        if self.pieces not in ("auto", self.pieces_):
            raise ValueError(
                f"pieces={self.pieces!r} differs from that of the training so far, "
                f"{self.pieces_!r}; a fit that continues cannot change it"
            )

    def _going_on(
        self, X: Texts, y: Corpus, metadata: dict[str, Any]
    ) -> Callable[[], Self]:
        if self.overlap != BY_TYPE:
            return super()._going_on(X, y, metadata)
        before = chains_of(self) if hasattr(self, "tagger_") else []
        parts = parts_going_on(X, y, [known_types(chain) for chain in before])
        if len(parts) > 1 and metadata.get("classes") is not None:
            raise ValueError(
                f"classes: this call makes {len(parts)} chains of labels "
                '(overlap="by-type"), which have labels of their own; leave it out'
            )
        texts = SharedTexts(as_texts(X)) if len(parts) > 1 else X
        chains = [*before]
        while len(chains) < len(parts):
            chains.append(clone(self).set_params(overlap="error"))
        learn = []
        for chain, part in zip(chains, parts):
            with at_positions(part.positions, "y"):
                learn.append(chain._going_on(texts, part.y, metadata))

        def go_on() -> Any:
            old = [chain.alignment_ for chain in before[1:]]
            own, *others = [each() for each in learn]
            fitted = {a: v for a, v in vars(own).items() if FITTED.match(a)}
            vars(self).update(fitted, chains_=others)
            self._note_settings()
            new = summed([own.alignment_, *(each.alignment_ for each in others)])
            self.alignment_ = {
                name: n - sum(counts[name] for counts in old) for name, n in new.items()
            }
            return self

        return go_on

    def _held_out_data(self, X: Texts, y: Corpus) -> GivenPieces:
        tokens, given, aligned = self._aligned(X, y)
        _check_tokens(tokens, self.tokenizer)
        kind = chosen(tokens, aligned, self.pieces)
        pieces, labels = self._labelled(tokens, given, aligned, kind, self.max_length)
        read = pieces.sequences(self.layout, self._template())
        return GivenPieces(read, labels, pieces.text)

    def _pieces_of(
        self, X: Texts, y: Corpus | None = None, judging: bool = False
    ) -> tuple[Pieces, list[list[Any]] | None]:
        """Return the pieces of texts for prediction, and if spans are given their
        labels; no piece cuts a span.
        """
        refuse_chains(
            self, "labels of tokens", "tagger_ and those of chains_ have them"
        )
        self._validate_params()
        self._check_settings()
        if y is not None:
            corpus = self._aligned(X, y, judging)
            return self._labelled(*corpus, self.pieces_, MOST_TOKENS)
        tokens = tokenized(as_texts(X), self.tokenizer)
        return cut_texts(tokens, self.pieces_, MOST_TOKENS), None

    def _sequences(self, X: Texts) -> list[Any]:
        """Return what the tagger sees of texts."""
        return self._pieces_of(X)[0].sequences(self.layout, self.tagger_)

    def _agreed(self, known: list[dict[str, Any]]) -> dict[str, Any]:
        kinds = [each["pieces_"] for each in known]
        most = max(dict.fromkeys(kinds), key=kinds.count)
        return {
            "pieces_": most,
            "alignment_": summed([each["alignment_"] for each in known]),
        }

    def _warn(self, counts: dict[str, int], kind: str) -> None:
        """Say how many spans do not end where tokens do, how many are left out, and how
        many no piece of the kind holds.
        """
        moved = {
            "nearest": "moved to the nearest token",
            "expand": "moved to all tokens touched",
            "contract": "moved to whole tokens",
        }
        changed = {
            "moved": moved.get(self.align, ""),
            "unknown": "left unknown",
            "dropped": "left out",
            "crowded": "cut where another has the token",
        }
        left_out = {
            "empty": "without a token",
            "overlap": f"overlapping others ({_LEARNS_ALL})",
        }
        across = {"across": f'across {kind} (pieces="texts" can hold them)'}
        told = []
        for verb, what, texts in (
            ("do", " not end where tokens do", changed),
            ("are", " left out", left_out),
            ("are", " learned, and can never be predicted", across),
        ):
            parts = [
                f"{counts[name]:,} {text}"
                for name, text in texts.items()
                if counts[name]
            ]
            if parts:
                n = sum(counts[name] for name in texts)
                some = part_of(n, counts["spans"], "span", verb)
                told.append(f"{some}{what}: {', '.join(parts)}")
        if told:
            warn("; ".join([*told, "to list them: alignment_report(X, y)"]))


def _check_tokens(tokens: Tokens, tokenizer: Any) -> None:
    if tokens.start.size:
        return
    if len(tokens.offset) == 1:
        raise NothingToLearn("X is empty: at least one text is needed")
    if not is_white_space(tokens.text):
        raise NothingToLearn(f"X holds no token: tokenizer={tokenizer!r} finds none")
    raise NothingToLearn(
        "X holds no token: at least one text that is not white space is needed"
    )


def summed(counts: list[dict[str, int]]) -> dict[str, int]:
    """Add up the counts of several parts of a corpus."""
    return {name: sum(each[name] for each in counts) for name in counts[0]}


def _constrained(tagger: Any, scheme: str) -> Any:
    """Set the scheme as constraints of the tagger and the taggers inside of it, unless
    they name one.

    Raises
    ------
    ValueError
        If one of them names another.
    """
    for name, value in parameters_named(tagger, "estimator").items():
        if value is None:
            tagger.set_params(**{name: asking_for_weights(StructuredPerceptron())})
    for name, value in parameters_named(tagger, "constraints").items():
        if value is None:
            tagger.set_params(**{name: scheme})
        elif isinstance(value, str) and check_scheme(value) != check_scheme(scheme):
            raise ValueError(
                f"the tagger has {name}={value!r}, but scheme={scheme!r}: leave "
                f"constraints out, or let both "
                f"say the same"
            )
    return tagger


def _with_normal_lexicons(tagger: Any) -> Any:
    """Bring lexicons of the tagger, and of the taggers inside of it, to the normal form
    of tokens.
    """
    for name, value in parameters_named(tagger, "features").items():
        if isinstance(value, FeatureTemplates) and value.lexicons:
            tagger.set_params(**{name: value.in_normal_form()})
    return tagger


def _reading(tagger: Any, words: Any) -> Any:
    """Let the tagger, and the taggers inside of it, read clusters of words."""
    if words is None:
        return tagger
    given = parameters_named(tagger, "words")
    if not given:
        raise ValueError(
            f"words: the tagger, a {type(tagger).__name__}, reads no clusters"
        )
    if any(value not in (None, words) for value in given.values()):
        raise ValueError(
            "the SpanTagger and its tagger have different words=: leave one of them out"
        )
    return tagger.set_params(**dict.fromkeys(given, words))


@functools.cache
def all_but(types: frozenset[str], scheme: str) -> AllBut:
    """Return what the label of a token outside of spans may be.

    ``types``: those that are annotated; a token may belong to a span of any other.
    """
    labels = (
        label
        for kind in types
        for length in (1, 2, 3)
        for label in spans_to_labels([(0, length, kind)], length, scheme)
    )
    return AllBut(frozenset(labels), frozenset({"O"}))
