"""Types of spans in groups of which none overlap, against all pairs."""

import itertools
import random

import pytest

from skstruct import PartialSpans, Span
from skstruct._data.nested import of_types, overlapping_pairs, types_apart
from skstruct._data.spans import as_spans


def drawn(rng):
    """Spans of several types; None says that a part is not annotated."""
    for _ in range(rng.randint(0, 6)):
        start = rng.randint(0, 12)
        yield Span(
            start,
            start + rng.randint(0, 5),
            rng.choice("ABCD") if rng.random() < 0.9 else None,
        )


def share(one, two):
    return (
        one.start < two.end
        and two.start < one.end
        and one.start < one.end
        and two.start < two.end
    )


def test_pairs_are_all_that_share_characters():
    rng = random.Random(0)
    for _ in range(300):
        spans = list(drawn(rng))
        labelled = sorted({span for span in spans if span.label is not None})
        expected = {
            pair for pair in itertools.combinations(labelled, 2) if share(*pair)
        }
        assert set(overlapping_pairs(spans)) == expected


def test_groups_hold_all_types_and_no_pair():
    rng = random.Random(1)
    refused = 0
    for _ in range(300):
        y = [list(drawn(rng)) for _ in range(3)]
        pairs = [pair for spans in y for pair in overlapping_pairs(spans)]
        if any(one.label == two.label for one, two in pairs):
            refused += 1
            with pytest.raises(ValueError, match="has the same type"):
                types_apart(as_spans(y))
            continue
        groups = types_apart(as_spans(y))
        flat = [kind for group in groups for kind in group]
        assert sorted(flat) == sorted({s.label for spans in y for s in spans} - {None})
        group_of = {kind: k for k, group in enumerate(groups) for kind in group}
        assert all(group_of[one.label] != group_of[two.label] for one, two in pairs)
    assert 0 < refused < 300


def test_spans_of_some_types_and_where_they_stand():
    rows = [
        [(0, 4, "A"), (1, 2, "B"), (5, 6, None)],
        PartialSpans([(0, 1, "B")], {"B"}),
    ]
    found, positions = of_types(as_spans(rows), {"B"})
    assert found == [[(1, 2, "B"), (5, 6, None)], [(0, 1, "B")]]
    assert positions == [[1, 2], [0]]
    assert type(found[1]) is PartialSpans and found[1].types == {"B"}
