"""The encoder for ready-made features: dictionaries and lists of strings, as in ``sklearn-crfsuite``.

A token is a bag of named features with values:

* ``{"word": "he"}`` is the feature ``word:he`` with value 1;
* ``{"title": True}`` is ``title`` with value 1, ``False`` leaves it out; numbers are values;
* ``{"near": ["a", "b"]}`` is ``near:a`` and ``near:b``; ``{"near": {"a": 0.5}}`` nests;
* ``["word:he", "title"]`` are two features with value 1.

Distinct (key, value) pairs are resolved once and remembered, so that a corpus is walked in C; only
new pairs, and floats that keep changing, are looked at in Python.
"""

import copy
from itertools import chain, islice, repeat
from math import inf, isfinite

import numpy as np

from ..data.inputs import PlaceError, describe, lengths_of, offsets_of, place
from .encoded import Bag, Encoded, RowMap, no_grid

CHUNK = 4096
"""Tokens encoded at a time: bounds the number of live (key, value) tuples."""

MOST_NUMBERS = 100_000
"""Distinct numeric pairs remembered."""


class BagEncoder:
    """Encodes tokens that are bags of features.

    Parameters
    ----------
    min_count : int
        Features seen fewer times in training are left out.
    """

    TOKENS = (dict, list)
    """Types of tokens it is for."""

    kind = dict
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
        pairs, keys = [], dict.fromkeys(encoder.ids)
        for name, k in encoder.ids.items():
            parts = name.split(":")
            for n in range(1, len(parts)):
                keys[key := ":".join(parts[:n])] = None
                pairs.append((key, ":".join(parts[n:]), k))
        for key in keys:
            pairs += (key, True, encoder.ids.get(key, -1)), (key, False, -1)
        for key, value, feature in pairs:
            encoder._pairs.setdefault(key, {})[value] = len(encoder._pair_feature)
            encoder._pair_feature.append(feature)
            encoder._pair_value.append(1.0)
        encoder._assign_rows(np.zeros(0, np.int32))
        encoder._tables()
        return encoder

    def __init__(self, min_count=1):
        self.min_count = min_count
        self.ids = {}  # feature name -> id
        self.row_of = np.full(1, -1, np.int32)  # row by feature id; a last -1 serves id -1
        self.counts = np.zeros(0, np.int64)
        self.n_rows = 0
        self._pairs = {}  # key -> value -> pair id
        self._pair_feature = []  # feature id by pair id
        self._pair_value = []
        self._n_numbers = 0
        self._cache = None  # see _tables

    def copy(self):
        """An encoder that can grow while this one stays as it is."""
        twin = copy.copy(self)
        twin.ids = dict(self.ids)
        twin._pairs = {key: dict(values) for key, values in self._pairs.items()}
        twin._pair_feature, twin._pair_value = list(self._pair_feature), list(self._pair_value)
        twin._cache = None
        return twin

    # -- one pair ----------------------------------------------------------------------------------
    def _feature(self, name, grow):
        if grow:
            return self.ids.setdefault(name, len(self.ids))
        return self.ids.get(name, -1)

    def _resolve(self, key, value, grow):
        """(feature id, value) of one pair; raises _Nested for values that hold several features."""
        if not isinstance(key, str):
            raise ValueError(f"a feature name must be a str, got {describe(key)}")
        if isinstance(value, str):  # most often, so first
            return self._feature(f"{key}:{value}", grow), 1.0
        if isinstance(value, (bool, np.bool_)):
            return (self._feature(key, grow) if value else -1), 1.0
        if isinstance(value, (int, float, np.integer, np.floating)):
            try:
                number = float(value)
            except OverflowError:
                number = inf
            if not isfinite(number):
                raise ValueError(f"feature {key!r} must be finite, got {describe(value)}")
            return (self._feature(key, grow) if number else -1), number
        if isinstance(value, (tuple, frozenset)):
            raise _Nested
        raise ValueError(
            f"feature {key!r} must be a str, a bool, a number, or a list or dict of these, "
            f"got {describe(value)}"
        )

    def _new_pair(self, key, value, grow):
        """Resolve a pair that is not known yet, and remember it when growing."""
        feature, number = self._resolve(key, value, grow)
        if grow:
            numeric = not isinstance(value, (str, bool))
            if not numeric or self._n_numbers < MOST_NUMBERS:
                self._n_numbers += numeric
                self._pairs.setdefault(key, {})[value] = len(self._pair_feature)
                self._pair_feature.append(feature)
                self._pair_value.append(number)
        return feature, number

    # -- many --------------------------------------------------------------------------------------
    def _encode_dicts(self, tokens, first, offsets, grow):
        """Feature ids, values and features per token of a chunk of dictionaries."""
        try:
            return self._encode_simple(tokens, grow)
        except (_Nested, TypeError, ValueError):
            # A value that holds several features, or one that is wrong: look at each token alone.
            return self._encode_nested(tokens, first, offsets, grow)

    def _encode_simple(self, tokens, grow):
        """The same if every value is one feature. Most of the time goes into the comprehension."""
        feature_of, number_of, plain = self._tables()
        getters = {key: values.get for key, values in self._pairs.items()}
        sizes = lengths_of(tokens)
        try:
            found = [getters[key](value, -1) for token in tokens for key, value in token.items()]
        except KeyError:  # a key that is new
            nothing = {}.get
            found = [getters.get(key, nothing)(value, -1) for token in tokens for key, value in token.items()]
        pair = np.fromiter(found, np.int32, len(found))
        features = feature_of[pair]
        numbers = np.ones(pair.shape[0]) if plain else number_of[pair]
        unknown = np.flatnonzero(pair < 0)
        if unknown.shape[0]:
            start = offsets_of(sizes)
            owner = np.searchsorted(start, unknown, side="right") - 1
            within = unknown - start[owner]
            for k, o, j in zip(unknown.tolist(), owner.tolist(), within.tolist()):
                key, value = next(islice(tokens[o].items(), j, None))
                if not grow and type(value) is str and type(key) is str:  # an unseen word, mostly
                    features[k] = self.ids.get(f"{key}:{value}", -1)
                    continue
                again = self._pairs.get(key, {}).get(value, -1)  # new in this very chunk
                if again >= 0:
                    features[k], numbers[k] = self._pair_feature[again], self._pair_value[again]
                else:
                    features[k], numbers[k] = self._new_pair(key, value, grow)
        return features, numbers, sizes

    def _tables(self):
        """Feature id and value by pair id, and whether all values are 1.

        The arrays have one more entry than there are pairs; it serves id -1.
        """
        if self._cache is None or self._cache[0].shape[0] != len(self._pair_feature) + 1:
            numbers = np.array([*self._pair_value, 1.0], np.float64)
            features = np.array([*self._pair_feature, -1], np.int32)
            self._cache = features, numbers, bool((numbers == 1.0).all())
        return self._cache

    def _encode_nested(self, tokens, first, offsets, grow):
        """The same, pair by pair, where values may be collections."""
        features, values, sizes = [], [], []
        for k, token in enumerate(tokens):
            before = len(features)
            try:
                for key, value in _expand(token):
                    feature, number = self._resolve(key, value, grow)
                    features.append(feature)
                    values.append(number)
            except ValueError as error:
                raise _at(first + k, offsets, error) from None
            sizes.append(len(features) - before)
        return np.array(features, np.int32), np.array(values, np.float64), np.array(sizes, np.int64)

    def _encode_lists(self, tokens, first, offsets, grow):
        sizes = np.fromiter(map(len, tokens), np.int64, len(tokens))
        names = list(chain.from_iterable(tokens))
        try:
            features = np.fromiter(map(self.ids.get, names, repeat(-1)), np.int32, len(names))
        except TypeError:
            features = np.full(len(names), -1, np.int32)
        for k in np.flatnonzero(features < 0).tolist():
            if not isinstance(names[k], str):
                owner = int(np.searchsorted(np.cumsum(sizes), k, side="right"))
                error = ValueError(f"a feature must be a str, got {describe(names[k])}")
                raise _at(first + owner, offsets, error)
            features[k] = self._feature(str(names[k]), grow)
        return features, np.ones(len(names)), sizes

    def encode(self, flat, token, grow, like=None):
        """Encode a corpus.

        Parameters
        ----------
        flat : list of dict or of list of str
            All N tokens.
        token : ndarray of shape (n + 1,), int64
            Where each sequence starts; for error messages.
        grow : bool
            Training: new features are added.
        like : dict or list, optional
            The token whose type all must have, if that is not the first of ``flat``.

        Returns
        -------
        Encoded
        """
        if like is None and flat:
            like = flat[0]
        kind = dict if isinstance(like, dict) else list
        encode = self._encode_dicts if kind is dict else self._encode_lists
        odd = set(map(type, flat)) - {kind}
        if odd:
            for k, value in enumerate(flat):
                if not isinstance(value, kind):
                    i, t = place(token, k)
                    raise PlaceError(
                        i,
                        t,
                        f"expected a {kind.__name__} of features like the first token, got {describe(value)}",
                        "X",
                    )
        parts, tokens = [], iter(flat)
        for first in range(0, len(flat), CHUNK):
            parts.append(encode(list(islice(tokens, CHUNK)), first, token, grow))
        features = np.concatenate([p[0] for p in parts]) if parts else np.zeros(0, np.int32)
        values = np.concatenate([p[1] for p in parts]) if parts else np.zeros(0)
        start = np.zeros(len(flat) + 1, np.int64)
        np.cumsum(np.concatenate([p[2] for p in parts]) if parts else [], out=start[1:])
        if grow:
            self._assign_rows(features)
            self._tables()  # now, so that prediction changes nothing
        if values.shape[0] and (values == 1.0).all():
            values = np.zeros(0)
        none, no_grids = np.zeros(0, np.uint8), no_grid(len(flat))
        return Encoded(
            anchor=token, left=0, n_columns=1, nodes=no_grids, edges=no_grids,
            bag=Bag(start, self.row_of[features], values), node_alive=none, edge_alive=none,
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

    # -- what models and their readers ask ---------------------------------------------------------
    @property
    def n_features(self):
        """Number of features in use."""
        return self.n_rows

    @property
    def n_node_rows(self):
        """Weight rows of the features of labels."""
        return self.n_rows

    def adapted(self, flat, token):
        """Raise: there is nothing to adapt."""
        raise ValueError("there is nothing to adapt: ready-made features have no accessor variety")

    def row_names(self, rows):
        """The names of rows, {row: name}."""
        return {row: name for row, name in zip(self.row_of.tolist(), self.ids) if row in rows}

    def named(self, encoded, sequence):
        """The features of one sequence, encoded; by token, of labels and of transitions, which have none.

        Returns
        -------
        nodes, edges : list of lists of (row, value, name)
        """
        bag = encoded.bag
        names = self.row_names(set(bag.row.tolist()))
        values = bag.value if bag.value.size else np.ones(bag.row.shape[0])
        parts = [
            (row, value, names[row]) if row >= 0 else None
            for row, value in zip(bag.row.tolist(), values.tolist())
        ]
        nodes = [list(filter(None, parts[a:b])) for a, b in zip(bag.start, bag.start[1:])]
        return nodes, [[] for _ in sequence]

    def merged(self, encoders, counts, min_count):
        """See :func:`.merging.merge_encoders`; this is the first of ``encoders``."""
        out, features = type(self)(min_count), []
        for encoder in encoders:
            ids = out.ids
            mine = np.fromiter(
                (ids.setdefault(name, len(ids)) for name in encoder.ids), np.int64, len(encoder.ids)
            )
            features.append(mine)
            for key, values in encoder._pairs.items():
                known = out._pairs.setdefault(key, {})
                for value, pair in values.items():
                    numeric = not isinstance(value, (str, bool))
                    if value in known or (numeric and out._n_numbers >= MOST_NUMBERS):
                        continue
                    out._n_numbers += numeric
                    known[value] = len(out._pair_feature)
                    feature = encoder._pair_feature[pair]
                    out._pair_feature.append(int(mine[feature]) if feature >= 0 else -1)
                    out._pair_value.append(encoder._pair_value[pair])
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


class _Nested(Exception):
    """A value holds several features; the chunk is encoded pair by pair."""


def _expand(token):
    """(key, simple value) pairs of a dictionary whose values may be collections."""
    for key, value in token.items():
        if not isinstance(key, str):
            raise ValueError(f"a feature name must be a str, got {describe(key)}")
        if isinstance(value, dict):
            for inner, number in _expand(value):
                yield f"{key}:{inner}", number
        elif isinstance(value, (list, tuple, set, frozenset)):
            for inner in value:
                if not isinstance(inner, str):
                    raise ValueError(f"feature {key!r}: a list must hold str, got {describe(inner)}")
            for inner in sorted(value) if isinstance(value, (set, frozenset)) else value:
                yield f"{key}:{inner}", True
        else:
            yield key, value


def _at(k, offsets, error):
    """``error`` with the place of the k-th token in front."""
    i, t = place(offsets, k)
    return PlaceError(i, t, f"{error}", "X")
