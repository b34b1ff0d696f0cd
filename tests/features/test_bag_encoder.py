"""Bags of features, as sklearn-crfsuite understands them."""

import math
from collections import Counter, OrderedDict
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import oracles
from skstruct import L1CRF, StructuredPerceptron
from skstruct._data.inputs import as_tokens, flatten
from skstruct.features import bag_encoder, pairs
from skstruct.features.bag_encoder import BagEncoder
from skstruct.inspection import feature_weights

NAME = st.sampled_from(["a", "b", "a:b", "c", ":", ""])
NUMBER = st.one_of(
    st.booleans(),
    st.integers(-3, 3),
    st.floats(-4, 4, allow_nan=False),
    st.sampled_from(
        [np.float32(0.5), np.int64(2), np.bool_(True), np.bool_(False), 0.0, -0.0]
    ),
)
FLAT = st.dictionaries(NAME, st.one_of(NAME, NUMBER), max_size=4)
NESTED = st.recursive(
    st.one_of(NAME, NUMBER),
    lambda inner: st.one_of(
        st.dictionaries(NAME, inner, max_size=3),
        st.lists(NAME, max_size=3),
        st.frozensets(NAME, max_size=3),
        st.lists(NAME, max_size=3).map(tuple),
    ),
    max_leaves=6,
)
DEEP = st.dictionaries(NAME, NESTED, max_size=4)
LIST = st.lists(NAME, max_size=5)


def corpora(token):
    return st.lists(st.lists(token, max_size=4), min_size=1, max_size=3).filter(
        lambda X: any(map(len, X))
    )


def encode(encoder, X, grow):
    start, row, value = encoder.encode(as_tokens(X), grow).bag
    value = value if value.shape[0] else np.ones(row.shape[0])
    assert start[0] == 0 and start[-1] == row.shape[0] == value.shape[0]
    index = encoder.nodes
    names = {
        int(index.row_of[k]): name
        for name, k in index.ids.items()
        if index.row_of[k] >= 0
    }
    assert len(names) == np.count_nonzero(index.row_of >= 0)  # no row has two names
    found = []
    for a, b in zip(start, start[1:]):
        token = Counter()
        for k in range(a, b):
            if row[k] >= 0:
                token[names[int(row[k])]] += value[k]
        found.append(token)
    return found


def expected(X, keep=None):
    found = []
    for token in flatten(X):
        counter = Counter()
        for name, value in oracles.bag_items(plain(token)):
            if value and (keep is None or name in keep):
                counter[name] += value
        found.append(counter)
    return found


def plain(value):
    """numpy's scalars as Python's."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return value.item() if isinstance(value, np.generic) else value


def same(found, wanted):
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted):
        for name in {*a, *b}:
            assert math.isclose(a[name], b[name], abs_tol=1e-12), name


@pytest.mark.parametrize("token", [FLAT, DEEP, LIST], ids=["flat", "nested", "list"])
@given(data=st.data())
def test_bags_are_read_as_crfsuite_reads_them(token, data):
    train, test = data.draw(corpora(token)), data.draw(corpora(token))
    encoder = BagEncoder()
    same(encode(encoder, train, True), expected(train))
    known = {
        name
        for token in flatten(train)
        for name, value in oracles.bag_items(plain(token))
        if value
    }
    assert encoder.n_features == len(known)
    same(encode(encoder, test, False), expected(test, known))
    assert encoder.n_features == len(known)
    same(encode(encoder, train, False), expected(train))


@pytest.mark.parametrize("token", [FLAT, DEEP, LIST], ids=["flat", "nested", "list"])
@given(data=st.data())
def test_growth_keeps_rows(token, data):
    encoder = BagEncoder()
    encode(encoder, data.draw(corpora(token)), True)
    before = {
        name: int(encoder.nodes.row_of[k]) for name, k in encoder.nodes.ids.items()
    }
    encode(encoder, data.draw(corpora(token)), True)
    after = {
        name: int(encoder.nodes.row_of[k]) for name, k in encoder.nodes.ids.items()
    }
    assert before.items() <= after.items()


@pytest.mark.parametrize("token", [FLAT, DEEP, LIST], ids=["flat", "nested", "list"])
@given(data=st.data(), min_count=st.integers(2, 3))
def test_min_count_is_exact(token, data, min_count):
    encoder, seen = BagEncoder(min_count), []
    for _ in range(2):
        part = data.draw(corpora(token))
        seen += part
        encode(encoder, part, True)
        counts, _ = oracles.bag_occurrences([[plain(t) for t in s] for s in seen])
        keep = {name for name, n in counts.items() if n >= min_count}
        same(encode(encoder, seen, False), expected(seen, keep))
        assert encoder.n_features == len(keep)


def test_chunks_do_not_show(monkeypatch):
    generator = np.random.default_rng(0)
    X = [
        [
            {
                "w": str(generator.integers(9)),
                "x": float(generator.normal()),
                "n": ["p", "q"],
            }
            for _ in range(10)
        ]
        for _ in range(5)
    ]
    whole, pieces = BagEncoder(), BagEncoder()
    expected_ = encode(whole, X, True)
    monkeypatch.setattr(bag_encoder, "CHUNK", 7)
    monkeypatch.setattr(pairs, "MOST_UNKNOWN", 3)
    same(encode(pieces, X, True), expected_)
    same(encode(pieces, X, False), expected_)


def test_spellings_of_the_same_feature():
    """``{"a": "b"}``, ``{"a:b": True}``, ``{"a": ["b"]}`` and ``["a:b"]`` are one
    feature.
    """
    encoder = BagEncoder()
    X = [[{"a": "b"}, {"a:b": True}, {"a": ["b"]}, {"a": {"b": 1}}, {"a:b": 1.0}]]
    same(encode(encoder, X, True), [Counter({"a:b": 1.0})] * 5)
    assert encoder.n_features == 1


def test_values_that_several_keys_share():
    """A value is the same under every key, be it a number, a flag or a str; an unseen
    one is no feature.
    """
    encoder = BagEncoder()
    X = [
        [
            {"a": 1, "b": True, "c": "x"},
            {"a": "x", "b": 1.0},
            {"c": 0, "d": False, "a": 2},
        ]
    ]
    rows = [
        Counter({"a": 1.0, "b": 1.0, "c:x": 1.0}),
        Counter({"a:x": 1.0, "b": 1.0}),
        Counter({"a": 2.0}),
    ]
    same(encode(encoder, X, True), rows)
    same(encode(encoder, X, False), rows)
    unseen = [[{"c": 2, "b": "x", "a": "y"}, {"e": "x", "d": 1, "a": 1}]]
    same(encode(encoder, unseen, False), [Counter(), Counter({"a": 1.0})])


def test_a_name_that_two_pairs_spell():
    """``a:b:c`` is the value ``b:c`` of ``a`` and the value ``c`` of ``a:b``."""
    encoder = BagEncoder()
    encode(encoder, [[{"a:b": "c", "a": "d"}]], True)
    same(
        encode(encoder, [[{"a": "b:c"}, {"a": "b:d"}]], False),
        [Counter({"a:b:c": 1.0}), Counter()],
    )


def test_repeated_features_count_repeatedly():
    same(
        encode(BagEncoder(), [[["a", "a", "b"]]], True), [Counter({"a": 2.0, "b": 1.0})]
    )
    same(
        encode(BagEncoder(), [[{"a": ["b", "b"], "a:b": 2.5}]], True),
        [Counter({"a:b": 4.5})],
    )


@pytest.mark.parametrize(
    "bad",
    [
        {"a": math.nan},
        {"a": math.inf},
        {"a": np.float32("-inf")},
        {"a": None},
        {"a": b"bytes"},
        {"a": 1j},
        {"a": {"b": None}},
        {"a": {"b": math.nan}},
        {"a": ["b", 3]},
        {"a": ["b", ["c"]]},
        {3: "a"},
        {None: 1.0},
        {3: ["a"]},
        {3: {"a": 1.0}},
        {"a": {3: 1.0}},
        {"a": {1}},
        {"a": 10**400},
        "a",
        ["a", 3],
        ("a",),
        3,
    ],
    ids=str,
)
@pytest.mark.parametrize("growing", [True, False])
def test_bad_features_are_refused_by_name(bad, growing):
    X = [[{"a": "b"}], [{"a": 1.0}, bad]]
    encoder = BagEncoder()
    encode(encoder, X[:1], True)
    with pytest.raises(ValueError, match="sequence 1, position 1"):
        encoder.encode(as_tokens(X), grow=growing)


@pytest.mark.parametrize("value", [Decimal(1), Fraction(0), 1 + 0j, Decimal("0.5")])
@pytest.mark.parametrize("many", [True, False])
def test_what_a_number_counts_does_not_depend_on_what_is_remembered(value, many):
    encoder = BagEncoder.of_names(["n", "m:x"])
    X = [[{"n": value, "m": "x"}]]
    (before,) = encode(encoder, X, False)
    assert +before == +Counter({"n": float(value.real), "m:x": 1.0})
    numbers = range(1000 if many else 3)
    encode(encoder, [[{"n": True}, {"n": 0}], [{"n": k / 2} for k in numbers]], False)
    assert +encode(encoder, X, False)[0] == +before


@pytest.mark.parametrize("bad", [["a", 3], [None], "a", {"a": None}, [["a"]]], ids=str)
def test_bad_lists_are_refused_by_name(bad):
    X = [[["a"]], [["b"], bad]]
    for growing in (True, False):
        with pytest.raises(ValueError, match="sequence 1, position 1"):
            BagEncoder().encode(as_tokens(X), grow=growing)


@pytest.mark.parametrize(
    "good, bad",
    [
        ([[{"a": 1.0}]], [[{"n1": 1.0, "n2": "x", "n3": 2.0}, {"b": math.nan}]]),
        ([[["a"]]], [[["n1", "n2", "n3"], [3]]]),
        ([[{"a": ["b"]}]], [[{"n1": ["b"], "n2": "x"}, {"b": {"c": math.nan}}]]),
    ],
)
def test_a_failed_call_leaves_a_usable_model(good, bad):
    tagger = StructuredPerceptron(random_state=0).fit(good, [["X"]])
    with pytest.raises(ValueError, match="sequence 0, position 1"):
        tagger.partial_fit(bad, [["X", "Y"]])
    assert list(tagger.classes_) == ["X"]
    assert list(tagger.predict([bad[0][:1], good[0]])) == [["X"], ["X"]]
    tagger.partial_fit(good, [["Y"]])
    assert list(tagger.classes_) == ["X", "Y"]
    assert tagger.n_features() == 1  # names of the failed call are not features


def test_dicts_and_lists_mix():
    """A list names what is True in a dict; whatever is mixed how, the model is that of
    dicts alone.
    """
    dicts = [
        [{"a": True, "b:c": True}, {"w": "x", "n": 2.0}],
        [{"b:c": True}, {"a": True}],
        [{"w": "x"}],
    ]
    lists = [[["a", "b:c"], ["w:x"]], [["b:c"], ["a"]], [["w:x"]]]
    mixed = [[lists[0][0], dicts[0][1]], [dicts[1][0], lists[1][1]], lists[2]]
    y = [["X", "Y"], ["Y", "X"], ["X"]]
    for learner in (StructuredPerceptron(random_state=0), L1CRF(random_state=0)):
        plain, other = clone(learner).fit(dicts, y), clone(learner).fit(mixed, y)
        assert feature_weights(plain) == feature_weights(other)
        for X in (dicts, mixed, lists, dicts[2:] + lists[:1]):
            assert other.predict(X) == plain.predict(X)
            assert (other.decision_function(X) == plain.decision_function(X)).all()
    for wrong in ([[["a"], ("a",)]], [[{"a": 1}], ["a"]], [[["a"]], ["a"]]):
        with pytest.raises(
            ValueError, match="expected a dict or a list of features, got "
        ):
            StructuredPerceptron().fit(wrong, [["X"] * len(x) for x in wrong])


def test_templates_need_tokens_not_bags():
    with pytest.raises(ValueError, match="features must be 'auto'"):
        StructuredPerceptron(["U0:%x[0,0]"]).fit([[{"a": 1}]], [["X"]])


class Alphabetic(dict):
    """A dict that is read in the order of its keys, as those of ``sortedcontainers``
    are.
    """

    def __iter__(self):
        return iter(sorted(dict.keys(self)))

    keys = __iter__

    def values(self):
        return [self[key] for key in self]

    def items(self):
        return [(key, self[key]) for key in self]


def last_first(token):
    """An OrderedDict whose first key moved to the end."""
    token = OrderedDict(token)
    token.move_to_end(next(iter(token)))
    return token


@pytest.mark.parametrize("kind", [Alphabetic, last_first, OrderedDict, Counter])
def test_dicts_with_an_order_of_their_own(kind):
    """What stands under a key is its value, in whatever order a mapping is read."""
    X = [
        [
            {"w": f"w{k % 7}", "b": k % 3, "a": {"z": k, "y": 0.5}, "l": ["u", "v"]}
            for k in range(20)
        ]
    ]
    flat = [[{key: token[key] for key in "wb"} for token in X[0]]]
    y = [[f"L{k % 3}" for k in range(20)]]
    for corpus in (flat, X):
        plain = StructuredPerceptron(random_state=0).fit(corpus, y)
        other = [[kind(token) for token in sequence] for sequence in corpus]
        tagger = StructuredPerceptron(random_state=0).fit(other, y)
        assert sorted(f for f, _, _ in feature_weights(tagger)) == sorted(
            f for f, _, _ in feature_weights(plain)
        )
        assert (
            tagger.predict(other)
            == tagger.predict(corpus)
            == plain.predict(other)
            == plain.predict(corpus)
        )
        mixed = [[token if k % 2 else kind(token) for k, token in enumerate(corpus[0])]]
        assert plain.decision_function(mixed) == pytest.approx(
            plain.decision_function(corpus), rel=1e-12
        )


@pytest.mark.parametrize("token", ["b", ("b",), 3])
def test_the_first_token_is_not_compared_with_itself(token):
    tagger = StructuredPerceptron(random_state=0).fit(
        [[{"a": 1}, {"b": 2}]], [["x", "y"]]
    )
    text = "X: sequence 0, position 0: expected a dict or a list of features as in training, got"
    for call in (
        lambda: tagger.predict([[token]]),
        lambda: tagger.partial_fit([[token]], [["x"]]),
    ):
        with pytest.raises(ValueError, match=text):
            call()


@pytest.mark.parametrize("one_by_one", [False, True])
@pytest.mark.parametrize("depth", ["flat", "inside"])
@pytest.mark.parametrize("trained", [bool, np.bool_])
@pytest.mark.parametrize("asked", [bool, np.bool_])
def test_flags_are_found_as_themselves(trained, asked, depth, one_by_one, monkeypatch):
    """Whatever the model was trained on: to find that numpy's True equals Python's
    takes twenty times as long.
    """

    def sentence(kind):
        flags = {"long": kind(True), "short": kind(False)}
        token = {"w": "a", **flags} if depth == "flat" else {"w": "a", "n": flags}
        return [token, {"w": "b"}, token]

    used = []
    for name in "encode_pairs", "encode_inside":
        encode = getattr(bag_encoder, name)

        def noted(known, tokens, encode=encode):
            used.append(known)
            return encode(known, tokens)

        monkeypatch.setattr(bag_encoder, name, noted)
    y = [["A", "B", "A"]]
    model = StructuredPerceptron(random_state=0).fit([sentence(trained)], y)
    X = 3 * pairs.LOOK_EVERY * [sentence(asked)]
    if one_by_one:
        assert [model.predict([x])[0] for x in X] == len(X) * y
    else:
        assert model.predict(X) == len(X) * y
    known = used[-1] if depth == "flat" else used[-1].inner["n"]
    kinds = {type(value) for key in ("long", "short") for value in known[key]}
    assert kinds == {asked}
