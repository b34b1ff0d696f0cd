"""The encoder against feature strings: rows of weights and strings correspond one to
one.
"""

from collections import Counter

import numpy as np
import pytest
import weights_view
from hypothesis import given
from hypothesis import strategies as st
from inside import TOKEN_FUNCTIONS

import oracles
from skstruct._data.inputs import as_tokens
from skstruct.features.template_encoder import TemplateEncoder
from skstruct.features.templates import FeatureTemplates

FUNCTIONS = ["x", "x", *TOKEN_FUNCTIONS, "suffix2", "prefix1"]
SHARED = [
    pytest.param(False, id="own identifiers"),
    pytest.param(True, id="shared identifiers"),
]
WORD = st.text("aAb/1_-", min_size=0, max_size=3)
TOKEN = st.one_of(st.sampled_from(["_B-1", "_B+1", "a", "b", "ab"]), WORD)


@st.composite
def template_sets(draw, shared=True, repeats=True):
    """Lines in CRF++ syntax: gaps, several columns and functions, shared identifiers, a
    bias.
    """
    lines = []
    for k in range(draw(st.integers(1, 5))):
        atoms = draw(
            st.lists(
                st.tuples(
                    st.sampled_from(FUNCTIONS), st.integers(-2, 2), st.integers(0, 1)
                ),
                min_size=1,
                max_size=3,
            )
        )
        letter = draw(st.sampled_from("UUUB"))
        shifts = [0]
        if shared and draw(st.booleans()):
            shifts = draw(
                st.lists(st.integers(-2, 2), min_size=1, max_size=3, unique=True)
            )
        lines += [
            f"{letter}{k}:" + "/".join(f"%{f}[{o + shift},{c}]" for f, o, c in atoms)
            for shift in shifts
        ]
    lines += draw(st.sampled_from([[], ["U99"], ["B"], ["U98", "U99", "B"]]))
    if repeats and draw(st.booleans()):
        lines.append(draw(st.sampled_from(lines)))
    return draw(st.permutations(lines))


CORPUS = st.lists(
    st.lists(st.tuples(TOKEN, TOKEN), min_size=0, max_size=5), min_size=1, max_size=4
)


def grow(encoder, X):
    encoder.encode(as_tokens(X), grow=True)


def counted(encoder, X):
    """For each side, sequence and position, the Counter of feature names that have a
    row.
    """
    found = {}
    for edge, i, t, name, _ in weights_view.occurrences(encoder, X):
        found.setdefault((edge, i, t), Counter())[name] += 1
    return found


def expected_counts(lines, X, keep=lambda edge, name: True):
    found = {}
    for i, sequence in enumerate(X):
        features = oracles.template_features(lines, sequence)
        for edge, counters in ((False, features.nodes), (True, features.edges)):
            for t, counter in enumerate(counters):
                kept = Counter(
                    {
                        n: c
                        for n, c in counter.items()
                        if n != oracles.BIGRAM and keep(edge, n)
                    }
                )
                if kept:
                    found[edge, i, t] = kept
    return found


@pytest.mark.parametrize("shared", SHARED)
@given(data=st.data(), X=CORPUS)
def test_features_are_the_feature_strings(shared, data, X):
    """Two tokens share a row iff the strings are equal: ``rows_by_name`` insists on one
    to one.
    """
    lines = data.draw(template_sets(shared), label="lines")
    encoder = TemplateEncoder(FeatureTemplates(lines))
    grow(encoder, X)
    weights_view.rows_by_name(encoder, X)
    assert counted(encoder, X) == expected_counts(lines, X)


@pytest.mark.parametrize("shared", SHARED)
@given(data=st.data(), first=CORPUS, second=CORPUS)
def test_growth_keeps_rows(shared, data, first, second):
    lines = data.draw(template_sets(shared), label="lines")
    encoder = TemplateEncoder(FeatureTemplates(lines))
    grow(encoder, first)
    before = weights_view.rows_by_name(encoder, first)
    grow(encoder, second)
    after = weights_view.rows_by_name(encoder, [*first, *second])
    assert before.items() <= after.items()
    assert counted(encoder, [*first, *second]) == expected_counts(
        lines, [*first, *second]
    )


@given(template_sets(), CORPUS, CORPUS)
def test_prediction_finds_what_training_knew(lines, train, test):
    encoder = TemplateEncoder(FeatureTemplates(lines))
    grow(encoder, train)
    known = weights_view.rows_by_name(encoder, train)
    n_rows = encoder.nodes.n_rows, encoder.edges.n_rows, len(encoder.alphabets[0])
    found = weights_view.rows_by_name(encoder, [*train, *test])
    assert known.items() <= found.items()
    assert n_rows == (
        encoder.nodes.n_rows,
        encoder.edges.n_rows,
        len(encoder.alphabets[0]),
    )
    expected = expected_counts(lines, test, lambda edge, name: (edge, name) in known)
    for key, names in expected.items():
        have = counted(encoder, test).get(key, Counter())
        assert {n: have[n] for n in names} == names


def test_unknown_combinations_have_no_feature():
    lines = [
        "U0:%x[0,0]",
        "U1:%x[-1,0]/%x[0,0]",
        "U2:%suffix2[0,0]",
        "U3:%x[-1,0]/%x[1,0]",
        "B1:%x[0,0]",
    ]
    encoder = TemplateEncoder(FeatureTemplates(lines))
    grow(encoder, [["walking", "on", "ice"]])
    rows = weights_view.rows_by_name(encoder, [["singing", "on", "on", "ice"]])
    assert set(rows) == {
        (False, "U2:%suffix2 '=ng'"),
        (False, "U2:%suffix2 '=on'"),
        (False, "U2:%suffix2 '=ce'"),
        (False, "U0:%x '=on'"),
        (False, "U0:%x '=ice'"),
        (False, "U1:%x/%x '=on' '=ice'"),
        (False, "U3:%x/%x '_B-1' '=on'"),
        (False, "U3:%x/%x '=on' '_B+1'"),
        (True, "B1:%x '=on'"),
        (True, "B1:%x '=ice'"),
    }


@pytest.mark.parametrize("shared", SHARED)
@given(
    data=st.data(),
    parts=st.lists(CORPUS, min_size=1, max_size=3),
    min_count=st.integers(2, 4),
)
def test_min_count_is_exact(shared, data, parts, min_count):
    """Counts add up over calls; sharing an identifier is sharing a count."""
    lines = data.draw(template_sets(shared, repeats=False), label="lines")
    encoder = TemplateEncoder(FeatureTemplates(lines), min_count)
    seen = []
    for part in parts:
        grow(encoder, part)
        seen += part
        nodes, edges = oracles.occurrences(
            [oracles.template_features(lines, s) for s in seen]
        )
        expected = expected_counts(
            lines, seen, lambda edge, n, c=(nodes, edges): c[edge][n] >= min_count
        )
        assert counted(encoder, seen) == expected
        weights_view.rows_by_name(encoder, seen)
        assert encoder.n_features == sum(c >= min_count for c in nodes.values())


@given(template_sets(repeats=False), CORPUS)
def test_rows_of_features_that_min_count_drops_stay_the_same(lines, X):
    encoder = TemplateEncoder(FeatureTemplates(lines), 2)
    grow(encoder, X)
    before = weights_view.rows_by_name(encoder, X)
    grow(encoder, X)
    assert before.items() <= weights_view.rows_by_name(encoder, X).items()


@given(
    st.lists(
        st.lists(st.text("ab", min_size=1, max_size=1), max_size=30),
        min_size=1,
        max_size=3,
    ),
)
def test_plain_strings_are_tuples_of_one(X):
    lines = ["U0:%x[0,0]", "U1:%x[-2,0]/%x[0,0]/%x[1,0]", "B0:%x[-1,0]"]
    one, other = (TemplateEncoder(FeatureTemplates(lines)) for _ in range(2))
    grow(one, X)
    grow(other, [[(w,) for w in s] for s in X])
    assert weights_view.rows_by_name(one, X) == weights_view.rows_by_name(
        other, [[(w,) for w in s] for s in X]
    )


def test_the_table_grows_many_times():
    generator = np.random.default_rng(0)
    X = [[str(w) for w in generator.integers(0, 3000, 40)] for _ in range(120)]
    lines = ["U0:%x[-1,0]/%x[0,0]", "U1:%x[0,0]/%x[1,0]/%x[2,0]"]
    encoder = TemplateEncoder(FeatureTemplates(lines))
    for begin in range(0, 120, 30):
        grow(encoder, X[begin : begin + 30])
    assert encoder.table.shape[0] > 4096
    weights_view.rows_by_name(encoder, X)
    assert counted(encoder, X) == expected_counts(lines, X)


def test_a_token_spelled_like_a_boundary_is_a_token():
    encoder = TemplateEncoder(FeatureTemplates(["U0:%x[-1,0]"]))
    X = [["a", "b"], ["_B-1", "b"]]
    grow(encoder, X)
    rows = weights_view.rows_by_name(encoder, X)
    assert rows[False, "U0:%x '_B-1'"] != rows[False, "U0:%x '=_B-1'"]


def test_boundaries_have_no_affixes():
    encoder = TemplateEncoder(
        FeatureTemplates(["U0:%suffix2[-1,0]", "U1:%prefix1[1,0]"])
    )
    X = [["-1", "_B"]]
    grow(encoder, X)
    assert counted(encoder, X) == expected_counts(
        ["U0:%suffix2[-1,0]", "U1:%prefix1[1,0]"], X
    )


@pytest.mark.parametrize(
    "tokens, message",
    [
        ([["a"], ["b", 3]], "sequence 1, position 1"),
        ([["a"], [None]], "sequence 1, position 0"),
        ([["a", ("b",)]], "sequence 0, position 1"),
        ([[("a", "b")], [("c", "d"), ("e",)]], "sequence 1, position 1"),
        ([[("a", "b")], [("c", "d"), ("e", "f", "g")]], "sequence 1, position 1"),
        ([[("a", "b"), ("c", 1)]], "sequence 0, position 1"),
        ([[("a", "b"), "cd"]], "sequence 0, position 1"),
        ([[("a", "b"), ["c", "d"]]], "sequence 0, position 1"),
    ],
)
@pytest.mark.parametrize("growing", [True, False])
def test_bad_tokens_are_refused_by_name(tokens, message, growing):
    two = isinstance(tokens[0][0], tuple)
    lines = ["U0:%x[0,0]", "U1:%x[0,1]"] if two else ["U0:%x[0,0]"]
    encoder = TemplateEncoder(FeatureTemplates(lines))
    good = [[("p", "q")]] if two else [["p"]]
    grow(encoder, good)
    before = weights_view.rows_by_name(encoder, good)
    with pytest.raises(ValueError, match=message):
        encoder.encode(as_tokens(tokens), grow=growing)
    # Nothing has changed: the next growth goes on from where the last good one ended.
    assert [len(a) for a in encoder.alphabets] == [1] * (1 + two)
    grow(encoder, good)
    assert weights_view.rows_by_name(encoder, good) == before


def test_too_few_columns():
    encoder = TemplateEncoder(FeatureTemplates(["U0:%x[0,2]"]))
    with pytest.raises(ValueError, match="column 2"):
        encoder.encode(as_tokens([["a"]]), grow=True)
    with pytest.raises(ValueError, match="column 2"):
        encoder.encode(as_tokens([[("a", "b")]]), grow=True)
