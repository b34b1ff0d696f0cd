"""The encoder for ready-made features: dictionaries and lists of strings, as in ``sklearn-crfsuite``.

A token is a bag of named features with values:

* ``{"word": "he"}`` is the feature ``word:he`` with value 1;
* ``{"title": True}`` is ``title`` with value 1, ``False`` leaves it out; numbers are values;
* ``{"near": ["a", "b"]}`` is ``near:a`` and ``near:b``; ``{"near": {"a": 0.5}}`` nests;
* ``["word:he", "title"]`` are two features with value 1.

Distinct pairs of key and value are resolved once and remembered; only new ones are looked at in Python.
"""

import copy
from contextlib import suppress
from itertools import repeat

import numpy as np

from ..data.inputs import describe, lengths_of, offsets_of
from .bag_chunks import (
    Nested,
    as_feature,
    check_kinds,
    encode_lists,
    encode_nested,
    flattened,
    items_at,
    joined,
    roomy,
    spellings,
)  # fmt: skip
from .encoded import Bag, Encoded, RowMap, no_grid
from .names import fields_of, named_bag
from .pairs import Pairs

CHUNK = 1024
"""Tokens encoded at a time: bounds the number of live (key, value) tuples."""

MOST_NUMBERS = 100_000
"""Distinct numbers remembered."""

_ALL = np.zeros(0, np.uint8)  # alive: rows below the count cut-off do not exist

_SIMPLE = (str, bool, int, float, np.bool_, np.integer, np.floating)


class BagEncoder:
    """Encodes tokens that are bags of features.

    Parameters
    ----------
    min_count : int
        Features seen fewer times in training are left out.
    """

    TOKENS = (dict, list)
    """Types of tokens it is for."""

    token_type = dict
    """Of tokens; that of lists of features too."""

    templates = None
    """There are none."""

    n_columns = 0
    """Columns of a token that are read."""

    n_edge_rows = 1
    """Combinations that own a matrix of transition weights: the label bigram."""

    has_bigram = True
    """The label bigram is a feature."""

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
        encoder.ids = {name: k for k, name in enumerate(names)}
        encoder._fill(spellings(encoder.ids))
        return encoder

    def __init__(self, min_count=1):
        self.min_count = min_count
        self.ids = {}  # feature name -> id
        self.row_of = np.full(1, -1, np.int32)  # row by feature id; a last -1 serves id -1
        self.counts = np.zeros(0, np.int64)
        self.n_rows = 0
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
        twin = copy.copy(self)
        twin.ids = dict(self.ids)
        twin.pairs = self.pairs.copy()
        twin._pair_feature, twin._pair_value = list(self._pair_feature), list(self._pair_value)
        twin._cache = twin._text = None
        return twin

    # -- one pair ----------------------------------------------------------------------------------
    def _feature(self, name, grow):
        return self.ids.setdefault(name, len(self.ids)) if grow else self.ids.get(name, -1)

    def _resolve(self, key, value, grow):
        """(feature id, value) of one pair; raises Nested for values that hold several features."""
        name, number = as_feature(key, value)
        return (-1 if name is None else self._feature(name, grow)), number

    # -- many --------------------------------------------------------------------------------------
    def _encode_dicts(self, tokens, first, offsets, grow):
        """Feature ids, values (None if all are 1) and features per token of a chunk of dictionaries."""
        nested = dict in map(type, tokens[0].values())
        for plain in (flattened,) if nested else (list, flattened):
            with suppress(Nested, TypeError, ValueError):
                return self._encode_simple(plain(tokens), grow)
        # A value that holds several features, or one that is wrong: look at each token alone.
        return encode_nested(tokens, first, offsets, lambda *pair: self._resolve(*pair, grow))

    def _encode_simple(self, tokens, grow):
        """The same if every value is one feature."""
        keys, values = self.pairs.numbers_of(tokens)
        pair, others = self.pairs.find(keys, values), {}
        sizes, unknown = lengths_of(tokens), (pair < 0).nonzero()[0]  # a method: sentences are short
        if unknown.shape[0] and not grow:
            unknown = unknown[self._may_be_known(keys[unknown], values[unknown])]
        if unknown.shape[0]:
            items = items_at(tokens, sizes, unknown)
            if grow:
                others = self._learn(items, keys, values, unknown)
                pair[unknown] = self.pairs.find(keys[unknown], values[unknown])
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
            known = np.count_nonzero(features >= 0) == len(self.ids) and not self.pairs.ambiguous()
            self._text = self.pairs.text() if known else np.zeros(0, np.bool_)
        text = self._text
        if not text.shape[0]:
            return np.ones(keys.shape[0], np.bool_)
        return (keys < 0) | ~text[values]

    def _look_up(self, items):
        """(feature id, value) of each pair that is not remembered."""
        keys, values = zip(*items)
        if set(map(type, keys)) == set(map(type, values)) == {str}:  # unseen words, mostly
            return zip(map(self.ids.get, map("%s:%s".__mod__, items), repeat(-1)), repeat(1.0))
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
        new, others, ids = [], {}, self.ids
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
        return encode_lists(tokens, first, offsets, self.ids, lambda name: self._feature(name, grow))

    def encode(self, flat, token, grow, reference_token=None):
        """Encode a corpus.

        Parameters
        ----------
        flat : list of dict or of list of str
            All N tokens.
        token : ndarray of shape (n + 1,), int64
            Where each sequence starts; for error messages.
        grow : bool
            Training: new features are added.
        reference_token : dict or list, optional
            The token whose type all must have, if that is not the first of ``flat``.

        Returns
        -------
        Encoded
        """
        if reference_token is None and flat:
            reference_token = flat[0]
        kind = dict if isinstance(reference_token, dict) else list
        encode = self._encode_dicts if kind is dict else self._encode_lists
        check_kinds(flat, token, kind)
        chunks = range(0, len(flat), CHUNK)
        features, values, sizes = joined([encode(flat[k : k + CHUNK], k, token, grow) for k in chunks])
        if grow:
            self._text = None
            self._assign_rows(features)
            self._tables()  # now, so that prediction changes nothing
        no_grids = no_grid(len(flat))
        return Encoded(
            anchor=token, left=0, n_columns=1, nodes=no_grids, edges=no_grids,
            bag=Bag(offsets_of(sizes), self.row_of[features], values), node_alive=_ALL, edge_alive=_ALL,
        )  # fmt: skip

    def _assign_rows(self, features):
        n = len(self.ids)
        row_of = np.full(n + 1, -1, np.int32)
        row_of[: self.row_of.shape[0] - 1] = self.row_of[:-1]
        new = row_of[:-1] < 0
        if self.min_count > 1:
            counts = np.bincount(features[features >= 0], minlength=n)
            counts[: self.counts.shape[0]] += self.counts
            self.counts = counts
            new &= counts >= self.min_count
        n_new = int(np.count_nonzero(new))
        row_of[:-1][new] = self.n_rows + np.arange(n_new, dtype=np.int32)
        self.n_rows += n_new
        self.row_of = row_of

    def keep_rows(self, nodes, edges):
        """See ``features.choose``."""
        kept = np.append(nodes, False)[self.row_of[:-1]]  # False is for row -1
        id_of = [*np.where(kept, np.cumsum(kept) - 1, -1).tolist(), -1]
        twin = type(self)(self.min_count)
        twin.ids = {name: id_of[k] for name, k in self.ids.items() if kept[k]}
        twin._n_numbers = self._n_numbers
        if self.min_count > 1:  # beyond the cut-off nobody asks how often
            twin.counts = np.minimum(self.counts[kept], self.min_count)
        # A str that is not remembered is known to be no feature; anything else would be looked at each time.
        known = zip(self.pairs.items(), self._pair_feature, self._pair_value)
        known = [(*pair, id_of[feature], number) for pair, feature, number in known]
        twin._fill([each for each in known if each[2] >= 0 or not isinstance(each[1], str)])
        return twin, self.row_of[:-1][kept], np.zeros(1, np.int64)

    def _fill(self, known):
        """Remember pairs, (key, value, feature, number), and give rows to features; there are none so far."""
        keys, values, features, numbers = zip(*known) if known else ((), (), (), ())
        kept = self.pairs.fill(keys, values)
        self._pair_feature, self._pair_value = [features[k] for k in kept], [numbers[k] for k in kept]
        self._assign_rows(np.zeros(0, np.int32))
        self._tables()

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
    @property
    def n_features(self):
        """Number of features in use."""
        return self.n_rows

    n_node_rows = n_features
    """Weight rows of the features of labels."""

    def template_of_row(self, encoded):
        """(n_rows,) what each feature looks at, as a number: its name up to a colon or equals sign."""
        return fields_of(self.ids, self.row_of, self.n_rows)

    def adapted(self, flat, token):
        """Raise: there is nothing to adapt."""
        raise ValueError("there is nothing to adapt: ready-made features have no accessor variety")

    def row_names(self, rows):
        """The names of rows, {row: name}."""
        return {row: name for row, name in zip(self.row_of.tolist(), self.ids) if row in rows}

    def features_by_token(self, encoded, sequence):
        """The features of one sequence, encoded; by token, of labels and of transitions, which have none.

        Returns
        -------
        nodes, edges : list of lists of (row, value, name)
        """
        nodes = named_bag(encoded.bag, self.row_names)
        return nodes, [[] for _ in sequence]

    def merged(self, encoders, counts, min_count):
        """See :func:`.merging.merge_encoders`; this is the first of ``encoders``."""
        out, features = type(self)(min_count), []
        for encoder in encoders:
            mine = np.array([out._feature(name, True) for name in encoder.ids], np.int64)
            features.append(mine)
            out._remember(encoder, mine)
        if min_count > 1:
            out.counts = np.zeros(len(out.ids), np.int64)
            for encoder, mine, count in zip(encoders, features, counts):
                out.counts[mine] += count.nodes[encoder.row_of[:-1]]
        out._assign_rows(np.zeros(0, np.int32))
        out._tables()
        maps = []
        for encoder, mine in zip(encoders, features):
            rows = np.empty(encoder.n_rows, np.int32)
            rows[encoder.row_of[:-1]] = out.row_of[mine]
            maps.append(RowMap(rows, np.zeros(1, np.int32)))
        return out, maps
