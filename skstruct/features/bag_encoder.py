"""The encoder for ready-made features: dictionaries and lists of strings, as in
``sklearn-crfsuite``.

A token is a bag of named features with values:

* ``{"word": "he"}`` is the feature ``word:he`` with value 1;
* ``{"title": True}`` is ``title`` with value 1, ``False`` leaves it out; numbers are
  values;
* ``{"near": ["a", "b"]}`` is ``near:a`` and ``near:b``; ``{"near": {"a": 0.5}}`` nests;
* ``["word:he", "title"]`` are two features with value 1.

Pairs of key and value are named once, and remembered (:class:`.pairs.KnownFeatures`).
"""

from __future__ import annotations

from collections.abc import Set
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from .._data.corpus import FEATURES, called_by_kind
from .._data.elements import spelled
from .._data.inputs import describe
from .._data.places import placed
from .._data.reads import ModelReads
from .._saving.fields import Field, Table, built, inline
from .encoded import NO_BAG, NO_ROWS, NOTHING, Bag, without_templates
from .encoder_fields import INDEX, MIN_COUNT, has_cutoff
from .indexed_encoder import NamedEncoder
from .learned import LearnedCorpus
from .nested_pairs import as_feature, encode_nested
from .pairs import (
    SHOWN,
    KnownFeatures,
    Odd,
    concatenated,
    encode_deep,
    encode_inside,
    encode_names,
    encode_pairs,
    has_numpy_flags,
)
from .row_index import FeatureIndex
from .vectors_in_tokens import way_out

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from .._data.corpus import TokenCorpus
    from .._data.types import Self
    from .base import Features, SmallRows
    from .encoded import Encoded
    from .pairs import Chunk

CHUNK = 1024
"""Tokens encoded at a time: bounds what is looked at again where one is odd."""

_DICTS = {dict}
_LISTS = {list}


class BagEncoder(NamedEncoder):
    """Encodes tokens that are bags of features.

    Parameters
    ----------
    min_count : int
        Features seen fewer times in training are left out.
    """

    TOKENS = (dict, list, Set)
    reads = ModelReads(called_by_kind(FEATURES))
    token_type = dict  # of lists of features too
    named = "ready-made features"

    @classmethod
    def for_tokens(
        cls,
        features: Features,
        min_count: int,
        corpus: TokenCorpus,
        scaled: bool | None = True,
    ) -> Self:
        """Make an encoder of ready-made features, which ``features="auto"`` means.

        Raises
        ------
        ValueError
            If ``features`` is anything else.
        """
        if not (isinstance(features, str) and features == "auto"):
            text = "features must be 'auto' where tokens are features, such as "
            text += f"{describe(corpus.tokens[0])}, "
            raise ValueError(f"{text}got {describe(features)}")
        return cls(min_count)

    @classmethod
    def of_names(cls, names: Iterable[str]) -> Self:
        """Make an encoder that knows the features with these names, row by row in their
        order.

        Of which (key, value) a name was made it does not tell, and need not:
        ``"a:b:c"`` is ``{"a": "b:c"}``, ``{"a:b": "c"}`` and ``{"a:b:c": True}``.
        """
        encoder = cls()
        encoder.nodes = FeatureIndex.of_names(names)
        return encoder

    def __init__(self, min_count: int = 1) -> None:
        self.min_count = min_count
        self.nodes = FeatureIndex()
        self.edges = FeatureIndex(1)
        self._known: KnownFeatures | None = None
        self._known_of_numpy: KnownFeatures | None = None

    def __getstate__(self) -> dict[str, Any]:
        # Copies and pickles begin with empty tables, which their own calls fill.
        return {**vars(self), "_known": None, "_known_of_numpy": None}

    def _features(self, grow: bool) -> KnownFeatures:
        """Return the tables that look up features, or with ``grow`` number new ones."""
        known = self._known
        if known is None or not known.serves(self.nodes.ids, grow):
            known = self._known = KnownFeatures(self.nodes.ids, grow)
            if self._known_of_numpy is not None:
                known.is_due = _always
        return known

    def _features_of_dicts(
        self, tokens: list[dict[str, Any]], grow: bool
    ) -> KnownFeatures:
        """Return the tables as `_features` does, for dictionaries: there are others for
        those with flags of numpy.
        """
        if not has_numpy_flags(tokens):
            return self._features(grow)
        known = self._known_of_numpy
        if known is None or not known.serves(self.nodes.ids, grow):
            known = self._known_of_numpy = KnownFeatures(self.nodes.ids, grow)
            if self._known is not None:
                self._known.is_due = _always
        return known

    # -- tokens of one kind ------------------------------------------------------------
    def _encode_dicts(
        self, tokens: list[dict[str, Any]], first: int, offsets: np.ndarray, grow: bool
    ) -> Chunk:
        """Encode a chunk of dictionaries; ``first`` and ``offsets`` are for errors."""
        known = self._features_of_dicts(tokens, grow)
        try:
            return encode_pairs(known, tokens)
        except (Odd, TypeError):
            pass
        return self._encode_odd(tokens, first, offsets, grow)

    def _encode_odd(
        self, tokens: list[dict[str, Any]], first: int, offsets: np.ndarray, grow: bool
    ) -> Chunk:
        """Encode a chunk of dictionaries that hold collections, or something wrong."""
        known = self._features_of_dicts(tokens, grow)
        for encode in (encode_inside, encode_deep):
            with suppress(Odd, TypeError):
                return encode(known, tokens)

        def resolve(key: str, value: Any) -> tuple[int, float]:
            name, number = as_feature(key, value)
            return (-1 if name is None else self.nodes.number(name, grow)), number

        # A value that holds several features, or one that is wrong.
        return encode_nested(tokens, first, offsets, resolve)

    def _encode_lists(
        self, tokens: list[list[str]], first: int, offsets: np.ndarray, grow: bool
    ) -> Chunk:
        """Encode a chunk of lists of names; ``first`` and ``offsets`` are for
        errors.
        """
        try:
            return encode_names(self._features(grow), tokens)
        except (Odd, TypeError):
            owner, name = next(
                (k, name)
                for k, token in enumerate(tokens)
                for name in token
                if not isinstance(name, str)
            )
        text = f"a feature must be a str, got {describe(name)}"
        raise placed(offsets, first + owner, text + way_out(name))

    def encode(self, corpus: TokenCorpus, grow: bool) -> Encoded:
        """Encode a corpus.

        Parameters
        ----------
        corpus : TokenCorpus
            Of dicts and lists of str.
        grow : bool
            Training: new features are added.

        Returns
        -------
        Encoded
        """
        token = corpus.offsets
        features, values, starts = concatenated(
            self._chunks(corpus.tokens, token, grow)
        )
        if grow:
            self.nodes.assign(features, self.min_count)
        return without_templates(token, Bag(starts, self.nodes.rows(features), values))

    def _chunks(self, flat: list[Any], offsets: np.ndarray, grow: bool) -> list[Chunk]:
        """Encode tokens in chunks of one kind."""
        encode: dict[type, Callable[..., Chunk]] = {
            dict: self._encode_dicts,
            list: self._encode_lists,
        }
        return [
            encode[kind](tokens, at, offsets, grow)
            for first in range(0, len(flat), CHUNK)
            for kind, at, tokens in _runs(flat[first : first + CHUNK], first, offsets)
        ]

    def learned(self, corpus: TokenCorpus, zero: float) -> LearnedCorpus:
        """Encode a corpus for training, where features of value 0 count.

        Parameters
        ----------
        corpus : TokenCorpus
            Of dicts and lists of str; values are str and numbers.
        zero : float
            The value that such features get.
        """
        self._known = KnownFeatures(self.nodes.ids, True, shows_zeros=True)
        self._known_of_numpy = self._known
        token = corpus.offsets
        features, values, starts = concatenated(
            self._chunks(corpus.tokens, token, True)
        )
        self._known = self._known_of_numpy = None
        shown = features >= SHOWN
        if shown.any():
            values = np.ones(features.shape[0]) if not values.shape[0] else values
            values = np.where(shown, zero, values)
            features = np.where(shown, features - SHOWN, features)
        self.nodes.assign(features, self.min_count)
        rows = self.nodes.rows(features)
        encoded = without_templates(token, Bag(starts, rows, values))
        return LearnedCorpus(corpus, self, encoded)

    def plain_rows(self, tokens: list[Any]) -> SmallRows | None:
        """Look up the rows of a sentence of dicts, or of lists of str, whose features
        all have the value 1.

        See :meth:`.base.Encoder.plain_rows`.
        """
        found = self._plain_chunk(tokens)
        if found is None or found[1] is not None:
            return None
        features, _, starts = found
        rows = self.nodes.rows(features)
        return *_before_bag(starts.size - 1), starts, rows, NO_BAG.value

    def encode_one(self, tokens: list[Any]) -> SmallRows | None:
        """Look up the rows of a sentence of dicts, or of lists of str; None of both.

        See :meth:`.base.Encoder.encode_one`.
        """
        found = self._plain_chunk(tokens)
        if found is None:
            if set(map(type, tokens)) != _DICTS:
                return None
            offsets = np.array((0, len(tokens)), np.int64)
            try:
                found = self._encode_odd(tokens, 0, offsets, False)
            except ValueError:  # which the long road raises again, and says where
                return None
        features, values, starts = found
        rows = self.nodes.rows(features)
        values = NO_BAG.value if values is None else values
        return *_before_bag(starts.size - 1), starts, rows, values

    def _plain_chunk(self, tokens: list[Any]) -> Chunk | None:
        """Encode a sentence of dicts without collections, or of lists of str; None of
        both.
        """
        kinds = set(map(type, tokens))
        encode: Callable[..., Chunk]
        if kinds == _DICTS:
            encode = encode_pairs
        elif kinds == _LISTS:
            encode = encode_names
        else:
            return None
        known = self._known
        if known is None or not known.serves(self.nodes.ids, False) or known.is_due():
            known = (
                self._features_of_dicts(tokens, False)
                if encode is encode_pairs
                else self._features(False)
            )
        try:
            return encode(known, tokens)
        except (Odd, TypeError):
            return None


def _always() -> bool:
    """Return True."""
    return True


@lru_cache(maxsize=256)
def _before_bag(n: int) -> SmallRows:
    """Return what small kernels read of one sequence of n tokens before its bag: where
    it starts and ends, and no templates. Nobody may change these arrays.
    """
    token = np.array((0, n), np.int64)
    return token, token, 0, NO_ROWS, NOTHING, NOTHING


def _runs(
    chunk: list[Any], first: int, offsets: np.ndarray
) -> list[tuple[type, int, list[Any]]]:
    """Part the tokens of a chunk into neighbours of one kind, as plain dicts and lists:
    (dict or list, number of the first, tokens).

    ``first`` is the number of the first token of the chunk.
    """
    kinds = set(map(type, chunk))
    if kinds <= {dict} or kinds <= {list}:
        return [(kind, first, chunk) for kind in kinds]
    runs: list[tuple[type, int, list[Any]]] = []
    for k, token in enumerate(chunk, first):
        if isinstance(token, Set):  # of a frozenset, or the keys of a dict, too
            # Whatever the hashes of this process are.
            token = sorted(token, key=spelled)
        kind = next((kind for kind in (dict, list) if isinstance(token, kind)), None)
        if kind is None:
            raise placed(
                offsets,
                k,
                f"expected a dict or a list of features, got {describe(token)}",
            )
        if not runs or runs[-1][0] is not kind:
            runs.append((kind, k, []))
        # A subclass of dict may have an order of its own.
        runs[-1][2].append(
            dict(token.items()) if kind is dict and type(token) is not dict else token
        )
    return runs


BAG = Table(
    "Encoder `bag`",
    MIN_COUNT,
    Field("nodes", inline(INDEX), of="nodes"),
    make=built(BagEncoder, "min_count"),
    cut=has_cutoff,
    first_row=lambda _: 0,
)
