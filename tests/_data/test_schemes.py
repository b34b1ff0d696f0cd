"""Label schemes: worked examples, round trips, and agreement with a scheme's own
definition.
"""

import itertools
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstruct._data import schemes
from skstruct._data.schemes import (
    allowed_transitions,
    check_scheme,
    convert_labels,
    convert_scheme,
    labels_to_spans,
    labels_to_words,
    spans_to_labels,
    words_to_labels,
)

WITH_O = ["IOB1", "BIO", "BIOES", "BILOU", "BMES"]
WITHOUT_O = ["BI", "B2B3MES"]
WRITE_ALL = [*WITH_O, *WITHOUT_O]  # IO cannot write neighbours of one type
PREFIXES = {
    "IOB1": ["B", "I", "O"],
    "BIO": ["B", "I", "O"],
    "BIOES": ["B", "I", "E", "S", "O"],
    "BILOU": ["B", "I", "L", "U", "O"],
    "BMES": ["B", "M", "E", "S", "O"],
    "BI": ["B", "I"],
    "B2B3MES": ["B", "B2", "B3", "M", "E", "S"],
}


def typed(prefixes, kinds):
    return [
        p if p == "O" or not k else f"{p}-{k}"
        for p in prefixes
        for k in kinds
        if p != "O" or k == kinds[0]
    ]


@st.composite
def segmentations(draw, gaps=True):
    """(spans, n): adjacent or separated chunks, types with hyphens and without."""
    spans, end = [], 0
    for _ in range(draw(st.integers(0, 6))):
        start = end + (draw(st.integers(0, 2)) if gaps else 0)
        end = start + draw(st.integers(1, 7))
        spans.append((start, end, draw(st.sampled_from(["", "X", "Y", "A-B", "O"]))))
    return spans, end + (draw(st.integers(0, 2)) if gaps else 0)


# ---------------------------------------------------------------------- worked examples
@pytest.mark.parametrize(
    "scheme, expected",
    [
        ("IOB1", "I-A I-A B-A O I-B I-C O"),
        ("BIO", "B-A I-A B-A O B-B B-C O"),
        ("IOB2", "B-A I-A B-A O B-B B-C O"),
        ("BIOES", "B-A E-A S-A O S-B S-C O"),
        ("IOBES", "B-A E-A S-A O S-B S-C O"),
        ("BMES", "B-A E-A S-A O S-B S-C O"),
        ("BILOU", "B-A L-A U-A O U-B U-C O"),
    ],
)
def test_spans_to_labels_values(scheme, expected):
    spans = [(4, 5, "B"), (0, 2, "A"), (5, 6, "C"), (2, 3, "A")]
    assert spans_to_labels(spans, 7, scheme) == expected.split()


@pytest.mark.parametrize(
    "scheme, by_length",
    [
        ("BMES", ["S", "B E", "B M E", "B M M E", "B M M M E"]),
        ("BIOES", ["S", "B E", "B I E", "B I I E"]),
        ("BILOU", ["U", "B L", "B I L", "B I I L"]),
        ("BI", ["B", "B I", "B I I", "B I I I"]),
        ("BIO", ["B", "B I", "B I I"]),
        ("IOB1", ["I", "I I", "I I I"]),
        (
            "B2B3MES",
            [
                "S",
                "B E",
                "B B2 E",
                "B B2 B3 E",
                "B B2 B3 M E",
                "B B2 B3 M M E",
                "B B2 B3 M M M E",
            ],
        ),
    ],
)
def test_one_word_of_each_length(scheme, by_length):
    for length, expected in enumerate(by_length, start=1):
        assert words_to_labels(["x" * length], scheme) == expected.split()


def test_words_to_labels_joint():
    labels = ["B-NN", "M-NN", "E-NN", "S-VV"]
    assert words_to_labels(["abc", "d"], "BMES", tags=["NN", "VV"]) == labels
    assert labels_to_words("abcd", labels, "BMES") == [("abc", "NN"), ("d", "VV")]
    assert words_to_labels(["ab", "ab", "c"], "IOB1", tags=["NN", "NN", "VV"]) == [
        "I-NN",
        "I-NN",
        "B-NN",
        "I-NN",
        "I-VV",
    ]


def test_labels_to_words_is_lenient():
    assert labels_to_words("abcd", ["M", "E", "E", "M"], "BMES") == ["ab", "c", "d"]
    assert labels_to_words("abcd", ["B", "S", "M", "B"], "BMES") == ["a", "b", "c", "d"]
    assert labels_to_words("abcd", ["I", "I", "B", "I"], "BI") == ["ab", "cd"]
    assert labels_to_words("abcd", ["O", "O", "I", "O"], "BIO") == ["a", "b", "c", "d"]
    assert labels_to_words("abcd", ["B3", "B", "M", "B2"], "B2B3MES") == ["a", "bcd"]
    assert labels_to_words("abc", ["B-X", "M-Y", "E-Y"], "BMES") == [("abc", "X")]
    assert labels_to_words("", [], "BMES") == []
    assert labels_to_words(list("ab"), np.array(["B", "E"]), "BMES") == ["ab"]


@pytest.mark.parametrize(
    "labels, spans",
    [
        ("O I-X I-X", [(1, 3, "X")]),  # I after O opens
        ("I-X", [(0, 1, "X")]),
        ("B-X B-X", [(0, 1, "X"), (1, 2, "X")]),
        ("I-X I-Y", [(0, 1, "X"), (1, 2, "Y")]),  # a change of type opens
        ("B-X I-Y I-Y", [(0, 1, "X"), (1, 3, "Y")]),
        ("B-X E-X", [(0, 2, "X")]),
        ("B-X E-X E-X", [(0, 2, "X"), (2, 3, "X")]),  # E closes, the next E opens
        ("B-X E-X I-X", [(0, 2, "X"), (2, 3, "X")]),
        ("O E-X I-X O", [(1, 2, "X"), (2, 3, "X")]),
        ("B-X I-X", [(0, 2, "X")]),  # a chunk that lacks its E
        ("S-X S-X I-X", [(0, 1, "X"), (1, 2, "X"), (2, 3, "X")]),
        ("I-X S-X", [(0, 1, "X"), (1, 2, "X")]),
        ("B-X M-X E-X M-X", [(0, 3, "X"), (3, 4, "X")]),  # M is read as I
        ("B B2 B3 M E S", [(0, 5, ""), (5, 6, "")]),
        ("B I B O I", [(0, 2, ""), (2, 3, ""), (4, 5, "")]),
        ("B-a-b I-a-b I-a", [(0, 2, "a-b"), (2, 3, "a")]),  # a type may hold a hyphen
        ("B-X I", [(0, 1, "X"), (1, 2, "")]),
        ("", []),
    ],
)
def test_lenient_spans_values(labels, spans):
    assert labels_to_spans(labels.split(), "BIO") == spans


@pytest.mark.parametrize(
    "scheme, labels, spans",
    [
        ("BIO", "I-X B-X I-X I-Y", [(1, 3, "X")]),
        ("BIO", "O I-X", []),
        ("IOB1", "I-X I-X B-X B-Y", [(0, 2, "X"), (2, 3, "X")]),
        ("IOB1", "B-X O B-X", []),
        ("BIOES", "B-X I-X O S-X B-X E-X", [(3, 4, "X"), (4, 6, "X")]),
        ("BIOES", "E-X B-X I-X E-X E-X I-X", [(1, 4, "X")]),
        ("BMES", "B M E M B E S", [(0, 3, ""), (4, 6, ""), (6, 7, "")]),
        ("BI", "I B I", [(1, 3, "")]),
        (
            "B2B3MES",
            "B B2 E B M E B B2 B3 M E B E S",
            [(0, 3, ""), (6, 11, ""), (11, 13, ""), (13, 14, "")],
        ),
    ],
)
def test_strict_spans_values(scheme, labels, spans):
    assert labels_to_spans(labels.split(), scheme, strict=True) == spans


# conlleval's published rules as tables of (previous, next) prefixes; a change of type
# is a rule besides.
ENDS = {
    "BB",
    "BS",
    "BO",
    "IB",
    "IS",
    "IO",
    *("E" + p for p in "BIESO"),
    *("S" + p for p in "BIESO"),
}
STARTS = {
    *(p + "B" for p in "BIESO"),
    *(p + "S" for p in "BIESO"),
    "OI",
    "OE",
    "EI",
    "EE",
    "SI",
    "SE",
}


@given(
    st.lists(
        st.sampled_from([p + "-" + k for p in "BIES" for k in "XY"] + ["O"]),
        max_size=12,
    )
)
def test_lenient_spans_follow_the_tables(labels):
    spans, start = [], None
    padded = [("O", ""), *((lab[0], lab[2:]) for lab in labels), ("O", "")]
    for t, ((p, k), (q, m)) in enumerate(itertools.pairwise(padded)):
        if p + q in ENDS or (p != "O" and k != m):
            spans.append((start, t, k))
        if p + q in STARTS or (q != "O" and k != m):
            start = t
    assert labels_to_spans(labels, "BIO") == spans


# -------------------------------------------------------------------------- round trips
@given(segmentations(), st.sampled_from(WITH_O))
def test_spans_round_trip(segmentation, scheme):
    spans, n = segmentation
    labels = spans_to_labels(spans, n, scheme)
    assert len(labels) == n
    assert labels_to_spans(labels, scheme) == spans
    assert labels_to_spans(labels, scheme, strict=True) == spans


@given(segmentations(gaps=False), st.sampled_from(WRITE_ALL))
def test_spans_round_trip_without_gaps(segmentation, scheme):
    spans, n = segmentation
    labels = spans_to_labels(spans, n, scheme)
    assert labels_to_spans(labels, scheme) == spans
    assert labels_to_spans(labels, scheme, strict=True) == spans


@given(segmentations(), st.sampled_from(WITH_O), st.sampled_from(WITH_O))
def test_conversion_round_trip(segmentation, source, target):
    labels = spans_to_labels(*segmentation, source)
    converted = convert_labels(labels, source, target)
    assert converted == spans_to_labels(*segmentation, target)
    assert convert_labels(converted, target, source) == labels


@given(
    segmentations(gaps=False), st.sampled_from(WRITE_ALL), st.sampled_from(WRITE_ALL)
)
def test_conversion_round_trip_without_gaps(segmentation, source, target):
    labels = spans_to_labels(*segmentation, source)
    (converted,) = convert_scheme([labels], source, target)
    assert converted == spans_to_labels(*segmentation, target)
    assert convert_scheme([converted], target, source) == [labels]


@given(
    st.lists(
        st.tuples(st.text(min_size=1, max_size=8), st.sampled_from(["NN", "VV", "A-B"]))
    ),
    st.sampled_from(WRITE_ALL),
)
def test_words_round_trip(items, scheme):
    words, tags = [word for word, _ in items], [tag for _, tag in items]
    text = "".join(words)
    assert labels_to_words(text, words_to_labels(words, scheme), scheme) == words
    assert labels_to_words(text, words_to_labels(words, scheme, tags), scheme) == items


@given(st.data(), st.sampled_from(WRITE_ALL), st.booleans())
def test_any_labels_spell_the_text(data, scheme, joint):
    labels = typed(PREFIXES[scheme], ["X", "Y"] if joint else [""])
    sequence = data.draw(st.lists(st.sampled_from(labels), max_size=12))
    text = "abcdefghijkl"[: len(sequence)]
    words = labels_to_words(text, sequence, scheme)
    words = [word if isinstance(word, str) else word[0] for word in words]
    assert "".join(words) == text and all(words)


# ----------------------------------------------------------------------------------- IO
IO_LABELS = ["PER", "I-PER", "LOC", "I-B-cell", "O", "I"]


def test_labels_without_prefix():
    labels = "PER I-PER O LOC PER I-B-cell I".split()
    spans = [(0, 2, "PER"), (3, 4, "LOC"), (4, 5, "PER"), (5, 6, "B-cell"), (6, 7, "")]
    for strict in False, True:
        assert labels_to_spans(labels, "IO", strict=strict) == spans
    assert spans_to_labels(spans, 7, "IO") == "PER PER O LOC PER I-B-cell I".split()
    assert spans_to_labels([(0, 1, "O"), (1, 2, "I")], 2, "IO") == ["I-O", "I-I"]
    assert (
        convert_labels(labels, "IO", "BILOU")
        == "B-PER L-PER O U-LOC U-PER U-B-cell U".split()
    )
    assert labels_to_words("abcd", ["X", "X", "Y", "O"], "IO") == [
        ("ab", "X"),
        ("c", "Y"),
        ("d", ""),
    ]
    with pytest.raises(
        ValueError, match="position 1: label 'B-PER' does not belong to the scheme IO"
    ):
        labels_to_spans(["O", "B-PER"], "IO", strict=True)
    assert labels_to_spans(["B-PER", "B-PER", "PER"], "IO") == [
        (0, 1, "PER"),
        (1, 3, "PER"),
    ]
    with pytest.raises(
        ValueError, match="position 0: label 'PER' does not belong to any known scheme"
    ):
        labels_to_spans(["PER"], "BIO")


@given(st.lists(st.sampled_from(IO_LABELS), max_size=9))
def test_every_sequence_is_well_formed_in_io(labels):
    spans = labels_to_spans(labels, "IO", strict=True)
    assert spans == labels_to_spans(labels, "IO")
    equal = ["".join(re.sub("^I-", "", label)) for label in labels]
    runs = [(kind, len(list(group))) for kind, group in itertools.groupby(equal)]
    stops = list(itertools.accumulate(n for _, n in runs))
    expected = [
        (b - n, b, "" if k == "I" else k) for (k, n), b in zip(runs, stops) if k != "O"
    ]
    assert spans == expected
    assert labels_to_spans(spans_to_labels(spans, len(labels), "IO"), "IO") == spans
    start, transition, end = allowed_transitions(IO_LABELS, "IO")
    assert start.all() and transition.all() and end.all()


def test_io_cannot_keep_neighbours_of_one_type_apart():
    touching = ["B-X", "B-X", "I-X", "O"]
    with pytest.raises(
        ValueError,
        match="position 1: the spans .* touch; the scheme IO would make them one",
    ):
        convert_labels(touching, "BIO", "IO")
    assert convert_labels(touching, "BIO", "IO", strict=False) == ["X", "X", "X", "O"]
    assert convert_labels(["B-X", "B-Y"], "BIO", "IO") == ["X", "Y"]


# -------------------------------------------------------------------------- transitions
@pytest.mark.parametrize("scheme", WRITE_ALL)
@pytest.mark.parametrize("kinds", [[""], ["X", "Y"]])
def test_transitions_permit_exactly_what_spans_can_spell(scheme, kinds):
    # Every sequence of up to 4 labels is a path if and only if it is how its own chunks
    # are written.
    labels = typed(PREFIXES[scheme], kinds)
    start, transition, end = allowed_transitions(labels, scheme)
    assert start.dtype == transition.dtype == end.dtype == bool
    assert (
        start.shape == end.shape == (len(labels),)
        and transition.shape == (len(labels),) * 2
    )
    for n in range(1, 5 if len(labels) < 8 else 4):
        for path in itertools.product(range(len(labels)), repeat=n):
            sequence = [labels[j] for j in path]
            spelled = spans_to_labels(labels_to_spans(sequence, scheme), n, scheme)
            allowed = (
                start[path[0]]
                and end[path[-1]]
                and all(transition[a, b] for a, b in itertools.pairwise(path))
            )
            assert allowed == (spelled == sequence), sequence
            if allowed:
                assert convert_labels(sequence, scheme, scheme) == sequence
            else:
                with pytest.raises(ValueError, match="position"):
                    convert_labels(sequence, scheme, scheme)


def test_transitions_iob1():
    labels = ["I-X", "B-X", "I-Y", "B-Y", "O"]
    start, transition, end = allowed_transitions(labels, "IOB1")
    assert start.tolist() == [True, False, True, False, True]
    assert transition[:, 0].all() and transition[:, 2].all() and transition[:, 4].all()
    assert transition[:, 1].tolist() == [True, True, False, False, False]
    assert end.all()


def test_transitions_joint_words_keep_their_tag():
    labels = ["B-NN", "E-NN", "B-VV", "E-VV"]
    start, transition, end = allowed_transitions(labels, "BMES")
    assert start.tolist() == [True, False, True, False]
    assert transition.astype(int).tolist() == [
        [0, 1, 0, 0],
        [1, 0, 1, 0],
        [0, 0, 0, 1],
        [1, 0, 1, 0],
    ]
    assert end.tolist() == [False, True, False, True]


# ------------------------------------------------------------------------------- errors
@pytest.mark.parametrize("scheme", ["bio", "", None, 3, ["BIO"]])
def test_unknown_scheme(scheme):
    for call in (
        lambda: check_scheme(scheme),
        lambda: labels_to_spans([], scheme),
        lambda: spans_to_labels([], 0, scheme),
        lambda: convert_scheme([], scheme, "BIO"),
        lambda: convert_scheme([], "BIO", scheme),
        lambda: words_to_labels([], scheme),
        lambda: labels_to_words("", [], scheme),
        lambda: allowed_transitions([], scheme),
    ):
        with pytest.raises(ValueError, match="'B2B3MES'"):
            call()


@pytest.mark.parametrize(
    "source, labels, message",
    [
        ("BIO", "B-X O I-X", "position 2: label 'I-X' may not follow 'O'"),
        ("BIO", "B-X I-Y", "position 1: label 'I-Y' may not follow 'B-X'"),
        ("BIO", "I-X O", "position 0: label 'I-X' may not start"),
        ("BIOES", "S-X B-X", "position 1: label 'B-X' may not end"),
        ("IOB1", "O B-X", "position 1: label 'B-X' may not follow 'O'"),
        ("BMES", "B E M", "position 2: label 'M' may not follow 'E'"),
        ("BIO", "O S-X", "position 1: label 'S-X' does not belong to the scheme BIO"),
        ("BI", "B O", "position 1: label 'O' does not belong to the scheme BI"),
        ("BIO", "O-X", "position 0: label 'O-X' does not belong"),
    ],
)
def test_convert_errors(source, labels, message):
    with pytest.raises(ValueError, match=message):
        convert_labels(labels.split(), source, "BIOES")
    with pytest.raises(ValueError, match="sequence 1, " + message):
        convert_scheme([[], labels.split()], source, "BIOES")


def test_o_has_no_counterpart_in_word_schemes():
    for target in WITHOUT_O:
        with pytest.raises(ValueError, match="position 1: .* no label"):
            convert_labels(["B", "O"], "BIO", target)


@pytest.mark.parametrize("label", ["NN", "X-PER", "", 3, None, ["B"]])
def test_labels_of_no_scheme(label):
    with pytest.raises(ValueError, match="position 1"):
        labels_to_spans(["O", label], "BIO")
    with pytest.raises(ValueError, match="position 0"):
        allowed_transitions([label], "BIO")
    with pytest.raises(ValueError, match="position 0"):
        labels_to_words("a", [label], "BMES")


def test_transitions_name_a_foreign_label():
    with pytest.raises(ValueError, match="'E-X' does not belong to the scheme BIO"):
        allowed_transitions(["B-X", "E-X"], "BIO")


@pytest.mark.parametrize(
    "span, message",
    [
        ((0, 0, "X"), "(0, 0, 'X') is empty: it must stop after its start"),
        ((3, 2, "X"), "(3, 2, 'X') is empty"),
        ((1, 3, "X"), "(1, 3, 'X') overlaps (0, 2, 'Y')"),
        ((0, 4, "X"), "overlaps"),  # nested
        ((-1, 1, "X"), "(-1, 1, 'X') leaves the 4 tokens"),
        ((3, 9, "X"), "(3, 9, 'X') leaves the 4 tokens"),
    ],
)
def test_bad_spans_say_which_fault(span, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        spans_to_labels([(0, 2, "Y"), span], 4, "BIO")


def test_bad_words():
    with pytest.raises(ValueError, match="position 1"):
        words_to_labels(["a", ""], "BMES")
    with pytest.raises(ValueError, match="2 words, 1 tag$"):
        words_to_labels(["a", "b"], "BMES", tags=["X"])
    with pytest.raises(ValueError, match="2 characters, 1 label$"):
        labels_to_words("ab", ["S"], "BMES")


@pytest.mark.parametrize("strict", [True, False])
def test_schemes_are_checked_once_a_corpus(monkeypatch, strict):
    """Not once a sequence, and within it again."""
    asked = []

    def counting(scheme):
        asked.append(scheme)
        return check_scheme(scheme)

    monkeypatch.setattr(schemes, "check_scheme", counting)
    y = [["B-X", "I-X", "O"], ["B-Y"]] * 50
    assert schemes.convert_scheme(y, "IOB2", "IOBES", strict)[0][1] == "E-X"
    assert asked == ["IOB2", "IOBES"]
