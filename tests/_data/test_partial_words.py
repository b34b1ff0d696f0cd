"""Partly segmented text: what characters may be labelled, against enumeration."""

import itertools
import pickle
import random

import pytest

from skstruct import PartialWords
from skstruct._data.partial_words import (
    labels_of_stretches,
    stretches_of,
    text_of_words,
)
from skstruct.schemes import labels_to_words, words_to_labels


def segmentations(text, marks):
    """All segmentations of a text that agree with ``|``, ``-`` and space."""
    for ends in itertools.product([False, True], repeat=len(marks)):
        if all((mark == "|") == end or mark == " " for mark, end in zip(marks, ends)):
            words = [""]
            for character, end in zip(text, (*ends, False)):
                words[-1] += character
                if end:
                    words.append("")
            yield words


def partial(text, marks):
    row = "".join(c + m for c, m in itertools.zip_longest(text, marks, fillvalue=""))
    return PartialWords(row.replace("-", "").split("|"))


@pytest.mark.parametrize("scheme", ["BMES", "BI", "B2B3MES"])
def test_labels_are_those_of_all_segmentations_that_agree(scheme):
    rng = random.Random(0)
    for _ in range(200):
        text = "abcdefg"[: rng.randint(1, 7)]
        marks = [rng.choice("|- ") for _ in text[1:]]
        row = partial(text, marks)
        assert text_of_words(row) == text
        found = labels_of_stretches(stretches_of(row, 0), scheme, None)
        spellings = [words_to_labels(w, scheme) for w in segmentations(text, marks)]
        every = {
            label for n in range(1, 9) for label in words_to_labels(["x" * n], scheme)
        }
        options = []
        for label, agreeing in zip(found, map(set, zip(*spellings))):
            some = (
                every if label is None else {label} if isinstance(label, str) else label
            )
            assert some == agreeing
            options.append(sorted(some))
        if scheme == "BMES" and len(text) < 6:
            # No labelling of these sets that the scheme allows is of another one.
            allowed = [
                list(labels)
                for labels in itertools.product(*options)
                if words_to_labels(labels_to_words(text, labels, scheme), scheme)
                == list(labels)
            ]
            assert sorted(allowed) == sorted(spellings)


def test_tags_are_those_of_the_word_at_the_end():
    row = stretches_of(PartialWords([("a b", "N"), ("c", {"N", "V"}), "d"]), 0)
    assert labels_of_stretches(row, "BMES", ["N", "V"]) == [
        frozenset({"B-N", "S-N", "B-V", "S-V"}),
        frozenset({"E-N", "S-N"}),
        frozenset({"S-N", "S-V"}),
        frozenset({"S-N", "S-V"}),
    ]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (["a  b"], "a single space"),
        ([" ab"], "a single space"),
        (["a\tb"], "a single space"),
        ([""], "expected a stretch"),
        ([("ab", "N", "V")], "expected a stretch"),
        ([("ab", set())], "the tag must be"),
        ([("ab", 3)], "the tag must be"),
    ],
)
def test_what_is_no_stretch_is_named_by_its_place(row, said):
    with pytest.raises(ValueError, match=f"sequence 4, position 1: .*{said}"):
        stretches_of(PartialWords(["x", *row]), 4)


def test_it_is_a_list_that_knows_what_it_is():
    row = PartialWords(["a b", ("c", "N")])
    for other in (row.copy(), pickle.loads(pickle.dumps(row)), eval(repr(row))):
        assert type(other) is PartialWords and other == row
