"""The encoder for ready-made features: dictionaries and lists of strings, as in ``sklearn-crfsuite``.

A token is a bag of named features with values:

* ``{"word": "he"}`` is the feature ``word:he`` with value 1;
* ``{"title": True}`` is ``title`` with value 1, ``False`` leaves it out; numbers are values;
* ``{"near": ["a", "b"]}`` is ``near:a`` and ``near:b``; ``{"near": {"a": 0.5}}`` nests;
* ``["word:he", "title"]`` are two features with value 1.

Distinct pairs of key and value are resolved once and remembered; only new ones are looked at in Python.
"""

from contextlib import suppress
from itertools import repeat

import numpy as np

from ..data.corpus import FEATURES, called_by_kind
from ..data.inputs import PlaceError, describe, offsets_of, place
from ..data.reads import Reads
from .base import Encoder
from .encoded import Bag, RowMap, without_templates
from .feature_index import FeatureIndex, RowIndex
from .pairs import (
    Nested,
    Pairs,
    as_feature,
    concatenated,
    encode_lists,
    encode_nested,
    roomy,
    spellings,
)  # fmt: skip

CHUNK = 1024
"""Tokens encoded at a time: bounds the number of live (key, value) tuples."""

MOST_NUMBERS = 100_000
"""Distinct numbers remembered."""

_SIMPLE = (str, bool, int, float, np.bool_, np.integer, np.floating)


class BagEncoder(Encoder):
    """Encodes tokens that are bags of features.

    Parameters
    ----------
    min_count : int
        Features seen fewer times in training are left out.
    """

    is_independent = True
    TOKENS = (dict, list)
    reads = Reads(called_by_kind(FEATURES))
    token_type = dict  # of lists of features too
    named = "ready-made features"

    @classmethod
    def for_tokens(cls, features, min_count, flat):
        """The encoder that a ``features`` parameter means for a corpus."""
        if not (isinstance(features, str) and features == "auto"):
            raise ValueError(
                f"features must be 'auto' when tokens are bags of features, got {describe(features)} "
                f"and the first token {describe(flat[0])}"
            )
        return cls(min_count)

    @classmethod
    def of_names(cls, names):
        """An encoder that knows the features with these names, row by row in their order.

        Which (key, value) a name was made from it does not tell. So every pair that makes the name is
        remembered: ``"a:b:c"`` is ``{"a": "b:c"}``, ``{"a:b": "c"}`` and ``{"a:b:c": True}``; and of these
        keys that True and False are nothing, unless a name says otherwise.
        """
        encoder = cls()
        encoder.nodes = FeatureIndex.of_names(names)
        encoder.remember(spellings(encoder.nodes.ids))
        return encoder

    def __init__(self, min_count=1):
        self.min_count = min_count
        self.nodes, self.edges = FeatureIndex(), RowIndex(1)
        self.pairs = Pairs()  # that are remembered
        self._pair_feature = []  # feature id by pair id
        self._pair_value = []
        self._n_numbers = 0
        self._cache = None  # see _tables
        self._text = None  # see _may_be_known

    def __getstate__(self):
        return {**vars(self), "_cache": None, "_text": None}  # which follow from the rest

    def copy(self):
        """An encoder that can grow while this one stays as it is."""
        twin = super().copy()
        twin.pairs = self.pairs.copy()
        twin._pair_feature, twin._pair_value = list(self._pair_feature), list(self._pair_value)
        twin._cache = twin._text = None
        return twin

    # -- one pair ----------------------------------------------------------------------------------
    def _resolve(self, key, value, grow):
        """(feature id, value) of one pair; raises Nested for values that hold several features."""
        name, number = as_feature(key, value)
        return (-1 if name is None else self.nodes.number(name, grow)), number

    # -- many --------------------------------------------------------------------------------------
    def _encode_dicts(self, tokens, first, offsets, grow):
        """Feature ids, values (None if all are 1) and features per token of a chunk of dictionaries."""
        first_nested = dict in map(type, tokens[0].values())
        for nested in (True,) if first_nested else (False, True):
            with suppress(Nested, TypeError, ValueError):
                return self._encode_simple(tokens, grow, nested)
        # A value that holds several features, or one that is wrong: look at each token alone.
        return encode_nested(tokens, first, offsets, lambda *pair: self._resolve(*pair, grow))

    def _encode_simple(self, tokens, grow, nested):
        """The same if every value is one feature or, with ``nested``, a dictionary of such."""
        pairs = self.pairs
        keys, values, sizes, items_at = (pairs.numbers_of_nested if nested else pairs.numbers_of)(tokens)
        pair, others = pairs.find(keys, values), {}
        unknown = (pair < 0).nonzero()[0]  # a method: sentences are short
        if unknown.shape[0] and not grow:
            unknown = unknown[self._may_be_known(keys[unknown], values[unknown])]
        if unknown.shape[0]:
            items = items_at(unknown)
            if grow:
                others = self._learn(items, keys, values, unknown)
                pair[unknown] = pairs.find(keys[unknown], values[unknown])
            else:
                others = dict(zip(unknown.tolist(), self._look_up(items)))
        feature_of, number_of, plain = self._tables()
        pair += 1
        features = feature_of[pair]
        numbers = None if plain else number_of[pair]
        for k, (feature, number) in others.items():
            features[k] = feature
            if number != 1.0:
                numbers = np.ones(features.shape[0]) if numbers is None else numbers
                numbers[k] = number
        return features, numbers, sizes

    def _may_be_known(self, keys, values):
        """Which pairs, by their numbers, may be features although they are not remembered.

        All may, if a feature was also met in another spelling, as ``{"a": {"b": 1}}`` or ``{"a:b": 1}``.
        Else a str under a known key that is not remembered is no feature.
        """
        if self._text is None:
            features = np.unique(np.array(self._pair_feature, np.int32))
            known = np.count_nonzero(features >= 0) == len(self.nodes.ids) and not self.pairs.ambiguous()
            self._text = self.pairs.text() if known else np.zeros(0, np.bool_)
        text = self._text
        if not text.shape[0]:
            return np.ones(keys.shape[0], np.bool_)
        return (keys < 0) | ~text[values]

    def _look_up(self, items):
        """(feature id, value) of each pair that is not remembered."""
        keys, values = zip(*items)
        if set(map(type, keys)) == set(map(type, values)) == {str}:  # unseen words, mostly
            return zip(map(self.nodes.ids.get, map("%s:%s".__mod__, items), repeat(-1)), repeat(1.0))
        return [self._resolve(key, value, False) for key, value in items]

    def _number(self, value):
        """The number of a value for ``pairs``, a new one if it has none and is to be remembered; else -2."""
        number = self.pairs.number_of(value)
        if number < 0:
            numeric = not isinstance(value, (str, bool))
            if not numeric or self._n_numbers < MOST_NUMBERS:
                self._n_numbers += numeric
                number = self.pairs.number_value(value)
        return number

    def _learn(self, items, keys, values, unknown):
        """Resolve what is new in a chunk, in its order, and remember the pairs.

        Parameters
        ----------
        items : list of (key, value)
            The pairs that are not remembered.
        keys, values : ndarray, int32
            Numbers of all pairs; new ones are entered.
        unknown : ndarray
            Places of ``items``.

        Returns
        -------
        dict
            (feature id, value) by place, of those that are not to be remembered.
        """
        pairs = self.pairs
        left, right = keys[unknown], values[unknown]
        for j in np.flatnonzero(left < 0).tolist():
            if isinstance(items[j][0], str):
                left[j] = pairs.number_key(items[j][0])
        for j in np.flatnonzero(right < 0).tolist():
            value = items[j][1]
            if type(value) is str:
                right[j] = pairs.number_value(value)
            elif isinstance(value, _SIMPLE):
                right[j] = self._number(value)
        keys[unknown], values[unknown] = left, right
        numbered = (left >= 0) & (right >= 0)
        both = (left.astype(np.int64) << 32) | right
        first = np.unique(np.where(numbered, both, -1 - unknown), return_index=True)[1]
        new, others, ids = [], {}, self.nodes.ids
        try:
            for j in np.sort(first).tolist():
                key, value = items[j]
                if type(value) is str and type(key) is str:  # what `_resolve` does, without the call
                    resolved = ids.setdefault(f"{key}:{value}", len(ids)), 1.0
                else:
                    resolved = self._resolve(key, value, True)
                if numbered[j]:
                    self._pair_feature.append(resolved[0])
                    self._pair_value.append(resolved[1])
                    new.append(j)
                else:
                    others[int(unknown[j])] = resolved
        finally:
            pairs.add(left[new], right[new])
        return others

    def _tables(self):
        """Feature id and value by pair id, behind an entry for id -1; and whether all values are 1."""
        features, numbers, n, plain = self._cache or (np.full(1, -1, np.int32), np.ones(1), 0, True)
        if n < len(self._pair_feature) or self._cache is None:
            new = np.array(self._pair_value[n:], np.float64)
            end = n + new.shape[0] + 1
            features, numbers = roomy(features, end), roomy(numbers, end)
            features[n + 1 : end] = self._pair_feature[n:]
            numbers[n + 1 : end] = new
            self._cache = features, numbers, end - 1, plain and bool((new == 1.0).all())
        return self._cache[0], self._cache[1], self._cache[3]

    def _encode_lists(self, tokens, first, offsets, grow):
        """The same of lists of names."""
        index = self.nodes
        return encode_lists(tokens, first, offsets, index.ids, lambda name: index.number(name, grow))

    def encode(self, corpus, grow):
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
        flat, token = corpus.tokens, corpus.offsets
        encode = {dict: self._encode_dicts, list: self._encode_lists}
        parts = [
            encode[kind](tokens[k : k + CHUNK], first + k, token, grow)
            for kind, first, tokens in _runs(flat, token)
            for k in range(0, len(tokens), CHUNK)
        ]
        features, values, sizes = concatenated(parts)
        if grow:
            self._text = None
            self.nodes.assign(features, self.min_count)
            self._tables()  # now, so that prediction changes nothing
        return without_templates(token, Bag(offsets_of(sizes), self.nodes.row_of[features], values))

    def keep_rows(self, nodes, edges):
        """See :class:`.base.Encoder`."""
        kept = np.append(nodes, False)[self.nodes.row_of[:-1]]  # False is for row -1
        id_of = [*np.where(kept, np.cumsum(kept) - 1, -1).tolist(), -1]
        twin = type(self)(self.min_count)
        twin.nodes, rows = self.nodes.keep_rows(nodes, self.min_count)
        twin._n_numbers = self._n_numbers
        # A str that is not remembered is known to be no feature; anything else would be looked at each time.
        known = zip(self.pairs.items(), self._pair_feature, self._pair_value)
        known = [(*pair, id_of[feature], number) for pair, feature, number in known]
        twin.remember([each for each in known if each[2] >= 0 or not isinstance(each[1], str)])
        return twin, rows, np.zeros(1, np.int64)

    def remember(self, known):
        """Remember pairs, (key, value, feature, number); there are none so far."""
        keys, values, features, numbers = zip(*known) if known else ((), (), (), ())
        kept = self.pairs.fill(keys, values)
        self._pair_feature, self._pair_value = [features[k] for k in kept], [numbers[k] for k in kept]
        self._tables()  # now, so that prediction changes nothing

    def _remember(self, other, mine):
        """Remember the pairs of another encoder, whose feature f is ``mine[f]`` here."""
        pairs, known = self.pairs, self.pairs.keys_and_values()
        left, right = [], []
        for (key, value), feature, number in zip(other.pairs.items(), other._pair_feature, other._pair_value):
            if (key, value) in known or (at := self._number(value)) < 0:
                continue
            left.append(pairs.number_key(key))
            right.append(at)
            self._pair_feature.append(int(mine[feature]) if feature >= 0 else -1)
            self._pair_value.append(number)
        pairs.add(left, right)

    # -- what models and their readers ask ---------------------------------------------------------
    def template_of_row(self, encoded):
        """See :class:`.base.Encoder`: the keys."""
        return self.nodes.key_of_row()

    def merged(self, encoders, counts, min_count):
        """See :func:`.base.merge_encoders`; this is the first of ``encoders``."""
        out, counts = type(self)(min_count), [count and count.nodes for count in counts or ()]
        out.nodes, numbers, maps = FeatureIndex.merged([e.nodes for e in encoders], counts, min_count)
        for encoder, mine in zip(encoders, numbers):
            out._remember(encoder, mine)
        out._tables()
        return out, [RowMap(rows, np.zeros(1, np.int32)) for rows in maps]


def _runs(flat, offsets):
    """(dict or list, number of the first, tokens): neighbours of one kind, as plain dicts and lists."""
    kinds = set(map(type, flat))
    if kinds <= {dict} or kinds <= {list}:
        return [(kind, 0, flat) for kind in kinds]
    runs = []
    for k, token in enumerate(flat):
        kind = next((kind for kind in (dict, list) if isinstance(token, kind)), None)
        if kind is None:
            text = f"expected a dict or a list of features, got {describe(token)}"
            raise PlaceError(*place(offsets, k), text, "X")
        if not runs or runs[-1][0] is not kind:
            runs.append((kind, k, []))
        # A subclass of dict may have an order of its own.
        runs[-1][2].append(dict(token.items()) if kind is dict and type(token) is not dict else token)
    return runs
