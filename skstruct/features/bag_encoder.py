"""The encoder for ready-made features: dictionaries and lists of strings, as in ``sklearn-crfsuite``.

A token is a bag of named features with values:

* ``{"word": "he"}`` is the feature ``word:he`` with value 1;
* ``{"title": True}`` is ``title`` with value 1, ``False`` leaves it out; numbers are values;
* ``{"near": ["a", "b"]}`` is ``near:a`` and ``near:b``; ``{"near": {"a": 0.5}}`` nests;
* ``["word:he", "title"]`` are two features with value 1.

Distinct pairs of key and value are resolved once and remembered; only new ones are looked at in Python.
"""

from collections import defaultdict
from collections.abc import Set
from contextlib import suppress
from functools import cached_property
from itertools import chain, islice, repeat
from math import isfinite

import numpy as np

from ..data.corpus import FEATURES, called_by_kind
from ..data.elements import exact, exact_strings, spelled
from ..data.inputs import describe, lengths_of, offsets_of
from ..data.places import placed
from ..data.reads import Reads
from ..saving.container import require, within
from ..saving.fields import Field, Table, array, built, inline, integer, strings
from .base import INDEX, MIN_COUNT, Encoder, FeatureIndex, has_cutoff
from .encoded import NO_BAG, NO_ROWS, NOTHING, Bag, without_templates
from .pairs import UNSEEN, Nested, Pairs, as_feature, concatenated, encode_nested, spellings
from .vectors_in_tokens import way_out

CHUNK = 1024
"""Tokens encoded at a time: bounds the number of live (key, value) tuples."""

MOST_NUMBERS = 100_000
"""Distinct numbers remembered."""

_NUMBERS = (int, float, np.bool_, np.integer, np.floating)


class BagEncoder(Encoder):
    """Encodes tokens that are bags of features.

    Parameters
    ----------
    min_count : int
        Features seen fewer times in training are left out.
    """

    TOKENS = (dict, list, Set)
    reads = Reads(called_by_kind(FEATURES))
    token_type = dict  # of lists of features too
    named = "ready-made features"

    @classmethod
    def for_tokens(cls, features, min_count, flat):
        """The encoder that a ``features`` parameter means for a corpus."""
        if not (isinstance(features, str) and features == "auto"):
            text = f"features must be 'auto' where tokens are features, such as {describe(flat[0])}, got "
            raise ValueError(text + describe(features))
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
        del encoder.pairs  # lists never need them
        return encoder

    @cached_property
    def pairs(self):
        """The pairs that are remembered; those of an encoder of names are made for the first dict."""
        pairs = Pairs()
        pairs.remember(spellings(self.nodes.ids))
        return pairs

    def __init__(self, min_count=1):
        self.min_count = min_count
        self.nodes, self.edges = FeatureIndex(), FeatureIndex(1)
        self.pairs = Pairs()
        self._n_numbers = 0

    def copy(self):
        """An encoder that can grow while this one stays as it is."""
        twin = super().copy()
        if "pairs" in vars(self):
            twin.pairs = self.pairs.copy()
        return twin

    # -- one pair ----------------------------------------------------------------------------------
    def _resolve(self, key, value, grow):
        """(feature id, value) of one pair; raises Nested for values that hold several features."""
        name, number = as_feature(key, value)
        return (-1 if name is None else self.nodes.number(name, grow)), number

    # -- many --------------------------------------------------------------------------------------
    def _encode_dicts(self, tokens, first, offsets, grow):
        """Feature ids, values (None if all are 1) and features per token of a chunk of dictionaries."""
        for nested in (True,) if dict in map(type, tokens[0].values()) else (False, True):
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
            left, right = keys.take(unknown), values.take(unknown)
            unknown = unknown[pairs.may_be_features(left, right, self.nodes.ids)]
        if unknown.shape[0]:
            items = items_at(unknown)
            kinds = set(map(type, chain.from_iterable(items))) - {str}
            if any(issubclass(kind, str) for kind in kinds):
                return self._encode_simple(list(map(_exact_dict, tokens)), grow, nested)
            if grow:
                others = self._learn(items, keys, values, unknown)
                pair[unknown] = pairs.find(keys[unknown], values[unknown])
            else:
                others = dict(zip(unknown.tolist(), self._look_up(items)))
        features = pairs.feature.take(pair)  # a method that is faster than an index
        numbers = None if pairs.plain else pairs.number.take(pair)
        for k, (feature, number) in others.items():
            features[k] = feature
            if number != 1.0:
                numbers = np.ones(features.shape[0]) if numbers is None else numbers
                numbers[k] = number
        return features, numbers, sizes

    def _look_up(self, items):
        """(feature id, value) of each pair that is not remembered."""
        keys, values = zip(*items)
        if set(map(type, keys)) == set(map(type, values)) == {str}:  # unseen words, mostly
            return zip(map(self.nodes.ids.get, map("%s:%s".__mod__, items), repeat(-1)), repeat(1.0))
        if set(map(type, keys)) == {str} and set(map(type, values)) == {float}:
            if all(map(isfinite, values)) and all(values):  # numbers, of which each is new
                return zip(map(self.nodes.ids.get, keys, repeat(-1)), values)
        return [self._resolve(key, value, False) for key, value in items]

    def _number(self, value):
        """The number of a value for ``pairs``, a new one if it has none and is to be remembered; else -2."""
        values = self.pairs.values
        if not isinstance(value, (str, bool)) and value not in values:
            if not isinstance(value, _NUMBERS) or self._n_numbers >= MOST_NUMBERS:
                return UNSEEN
            self._n_numbers += 1
        return values.add(value)

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
            right[j] = self._number(items[j][1])
        keys[unknown], values[unknown] = left, right
        numbered = (left >= 0) & (right >= 0)
        both = (left.astype(np.int64) << 32) | right
        first = np.unique(np.where(numbered, both, -1 - unknown), return_index=True)[1]
        new, found, others, ids = [], [], {}, self.nodes.ids
        try:
            for j in np.sort(first).tolist():
                key, value = items[j]
                if type(value) is str and type(key) is str:  # what `_resolve` does, without the call
                    resolved = ids.setdefault(f"{key}:{value}", len(ids)), 1.0
                else:
                    resolved = self._resolve(key, value, True)
                if numbered[j]:
                    new.append(j)
                    found.append(resolved)
                else:
                    others[int(unknown[j])] = resolved
        finally:
            if new:
                pairs.add(left[new], right[new], *zip(*found))
        return others

    def _encode_lists(self, tokens, first, offsets, grow):
        """The same of lists of names."""
        sizes, names = lengths_of(tokens), list(chain.from_iterable(tokens))
        try:
            features = np.fromiter(map(self.nodes.ids.get, names, repeat(-1)), np.int32, len(names))
        except TypeError:  # of something that is no str
            features = np.full(len(names), -1, np.int32)
        for k in (features < 0).nonzero()[0].tolist():
            if not isinstance(names[k], str):
                owner = int(np.searchsorted(np.cumsum(sizes), k, side="right"))
                text = f"a feature must be a str, got {describe(names[k])}"
                raise placed(offsets, first + owner, text + way_out(names[k]))
            if grow:
                features[k] = self.nodes.number(exact(names[k]), grow)
        return features, None, sizes

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
            self.nodes.assign(features, self.min_count)
        return without_templates(token, Bag(offsets_of(sizes), self.nodes.row_of.take(features), values))

    def encode_one(self, tokens):
        """See :class:`.base.Encoder`: of dicts, or of lists of str."""
        kinds = set(map(type, tokens))
        if len(tokens) > CHUNK or kinds not in ({dict}, {list}):
            return None
        encode = self._encode_dicts if kinds == {dict} else self._encode_lists
        token = np.array([0, len(tokens)], np.int64)
        try:
            features, values, sizes = encode(tokens, 0, token, False)
        except ValueError:  # which the long road raises again, and says where
            return None
        bag = offsets_of(sizes), self.nodes.row_of.take(features), NO_BAG.value if values is None else values
        return token, token, 0, NO_ROWS, NOTHING, NOTHING, *bag

    def keep_rows(self, nodes, edges):
        """See :class:`.base.Encoder`."""
        twin, *rows = super().keep_rows(nodes, edges)
        twin.pairs, stays = Pairs(), self.nodes.stays(nodes)
        # A str that is not remembered is known to be no feature; anything else would be looked at each time.
        known = self.pairs.renumbered(np.where(stays, np.cumsum(stays) - 1, -1))
        twin.pairs.remember(each for each in known if each[2] >= 0 or not isinstance(each[1], str))
        return twin, *rows

    def merged(self, encoders, counts, min_count):
        """See :func:`.choose.merge_encoders`; this is the first of ``encoders``."""
        out, maps = super().merged(encoders, counts, min_count)
        out.pairs, out._n_numbers = Pairs(), 0
        for encoder in encoders:
            known = encoder.pairs.renumbered(out.nodes.find(list(encoder.nodes.ids), grow=False))
            out.pairs.remember(each for each in known if out._number(each[1]) >= 0)
        return out, maps


def _exact_dict(token):
    """A dict whose keys and values, inner ones too, are str where they are of a subclass of str."""
    values = [_exact_dict(value) if type(value) is dict else value for value in token.values()]
    return dict(zip(exact_strings(list(token)), exact_strings(values)))


def _runs(flat, offsets):
    """(dict or list, number of the first, tokens): neighbours of one kind, as plain dicts and lists."""
    kinds = set(map(type, flat))
    if kinds <= {dict} or kinds <= {list}:
        return [(kind, 0, flat) for kind in kinds]
    runs = []
    for k, token in enumerate(flat):
        if isinstance(token, Set):  # of a frozenset, or the keys of a dict, too
            token = sorted(token, key=spelled)  # whatever the hashes of this process are
        kind = next((kind for kind in (dict, list) if isinstance(token, kind)), None)
        if kind is None:
            raise placed(offsets, k, f"expected a dict or a list of features, got {describe(token)}")
        if not runs or runs[-1][0] is not kind:
            runs.append((kind, k, []))
        # A subclass of dict may have an order of its own.
        runs[-1][2].append(dict(token.items()) if kind is dict and type(token) is not dict else token)
    return runs


# --------------------------------------------------------------------------------------------------
# In files. The remembered pairs are stored too, by key: without them, prediction would resolve every
# occurrence of a pair in Python. Values that are strings are not written, as the feature is named
# ``key:value``; True and False are written as the numbers to which they are equal.
# --------------------------------------------------------------------------------------------------
def _remembered(encoder):
    by_key = defaultdict(list)
    for key, *found in encoder.pairs.items():
        by_key[key].append(found)
    values, features, _ = zip(*chain.from_iterable(by_key.values())) if by_key else ((), (), ())
    return {
        "keys": list(by_key),
        "size": np.array([len(pairs) for pairs in by_key.values()], np.int64),
        "text": np.fromiter((isinstance(v, str) for v in values), np.bool_, len(values)),
        "number": np.array([float(v) for v in values if not isinstance(v, str)], np.float64),
        "feature": np.array(features, np.int32),
    }


def _pairs(f):
    """(key, value, feature, number) of each pair."""
    text, feature, names, n = f["text"], f["feature"], f["names"], f["text"].shape[0]
    ok = within(f["size"], 0, n + 1) and int(f["size"].sum()) == n
    require(ok, f"{f.where}.size must add up to {n}")
    require(within(feature[text], 0, len(names)), f"{f.where}.feature is out of range")
    numbers, found, pairs = iter(f["number"].tolist()), zip(text.tolist(), feature.tolist()), []
    for key, size in zip(f["keys"], f["size"].tolist()):
        for is_text, k in islice(found, size):
            value = names[k][len(key) + 1 :] if is_text else next(numbers)  # of "key:value", the value
            pairs.append((key, value, k, 1.0 if is_text else value))
    return pairs


PAIRS = Table(
    "`pairs` of ready-made features",
    Field("keys", strings),
    Field("size", array("int64", "keys")),
    Field("text", array("bool", None)),
    Field("number", array("float64", "numbers", finite=True)),
    Field("feature", array("int32", "text", low=-1, high="names")),
    make=_pairs,
    numbers=lambda f: int(np.count_nonzero(~f["text"])),
    names=lambda f: list(f["nodes"].ids),
)


BAG = Table(
    "Encoder `bag`",
    MIN_COUNT,
    Field("nodes", inline(INDEX), of="nodes"),
    Field("n_numbers", integer(), of="_n_numbers"),
    Field("pairs", PAIRS, of=_remembered),
    make=built(BagEncoder, "min_count", lambda encoder, f: encoder.pairs.remember(f["pairs"])),
    cut=has_cutoff,
    first_row=lambda _: 0,
)
