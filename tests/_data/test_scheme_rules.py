"""The rules that follow from how a scheme spells chunks, against listing all
spellings.
"""

from itertools import product

import pytest

from skstruct._data.scheme_rules import (
    SCHEMES,
    SPELLINGS,
    LabelTable,
    check_scheme,
    chunks,
    may_end,
    may_follow,
    read_spans,
    well_formed,
)

LONGEST = 4
PREFIXED = [
    name for name in SCHEMES if name != "IO"
]  # in which everything can be written


def segmentations(length, outside, types=("X", "Y")):
    """All ways to cut so many tokens into chunks (length, type) and, if there are such,
    tokens outside.
    """
    if length == 0:
        yield ()
        return
    if outside:
        for rest in segmentations(length - 1, outside, types):
            yield (None, *rest)
    for n in range(1, length + 1):
        for kind, rest in product(types, segmentations(length - n, outside, types)):
            yield ((n, kind), *rest)


def spelled(name, segmentation):
    """(labels, spans) of a segmentation."""
    scheme, labels, spans = SPELLINGS[name], [], []
    before = None
    for chunk in segmentation:
        if chunk is None:
            labels.append("O")
        else:
            n, kind = chunk
            prefixes = scheme.spell(n)
            if scheme.clash and before is not None and before[1] == kind:
                prefixes = [scheme.clash, *prefixes[1:]]
            spans.append((len(labels), len(labels) + n, kind))
            labels += [f"{prefix}-{kind}" for prefix in prefixes]
        before = chunk
    return labels, spans


def all_spelled(name, length):
    return {
        tuple(spelled(name, s)[0])
        for s in segmentations(length, SPELLINGS[name].outside)
    }


@pytest.mark.parametrize("name", PREFIXED)
def test_spans_of_what_is_spelled(name):
    table = LabelTable(name)
    for length in range(1, LONGEST + 1):
        for segmentation in segmentations(length, SPELLINGS[name].outside):
            labels, spans = spelled(name, segmentation)
            assert read_spans(labels, table) == spans, labels
            assert read_spans(labels, LabelTable()) == spans, labels
            parsed = table.parse(labels)
            assert chunks(parsed) == spans
            assert all(
                well_formed(name, parsed, start, stop) for start, stop, _ in spans
            )


@pytest.mark.parametrize("name", PREFIXED)
def test_transitions_are_those_of_what_is_spelled(name):
    """A sequence of labels is taken, step by step, if and only if it is the spelling of
    something.
    """
    table = LabelTable(name)
    seen = {label for length in range(1, 8) for s in segmentations(length, SPELLINGS[name].outside, ("X",))
            for label in spelled(name, s)[0]}  # fmt: skip
    labels = sorted({*seen, *(label.replace("X", "Y") for label in seen)})
    long_enough = 4 if len(labels) < 10 else 3
    for length in range(1, long_enough + 1):
        expected = all_spelled(name, length)
        for sequence in product(labels, repeat=length):
            parsed = table.parse(sequence)
            steps = zip([None, *parsed], parsed)
            taken = all(may_follow(name, p, q) for p, q in steps) and may_end(
                name, parsed[-1]
            )
            assert taken == (sequence in expected), sequence


def test_names():
    assert [check_scheme(name) for name in (*SCHEMES, "IOB2", "IOBES")] == [
        *SCHEMES,
        "BIO",
        "BIOES",
    ]
    for wrong in ("bio", None, ["BIO"]):
        with pytest.raises(ValueError, match="scheme must be one of 'IOB1', "):
            check_scheme(wrong)


@pytest.mark.parametrize("label", ["", "X-A", "O-A", 3, None])
def test_labels_of_no_scheme(label):
    with pytest.raises(
        ValueError, match="position 1.*does not belong to the scheme BIO"
    ):
        LabelTable("BIO").parse(["B-A", label])
