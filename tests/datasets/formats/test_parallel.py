"""Words and labels of a sentence on one line."""

import io

import pytest

from skstruct.datasets import read_tokens
from skstruct.datasets.formats.parallel import parallel

TEXT = "BOS fly to new york EOS\tO O O B-to I-to O\nBOS go EOS\tO O O\n"


def test_words_and_labels():
    X, y = read_tokens(io.StringIO(TEXT))
    assert X == [["BOS", "fly", "to", "new", "york", "EOS"], ["BOS", "go", "EOS"]]
    assert y == [["O", "O", "O", "B-to", "I-to", "O"], ["O", "O", "O"]]


def test_columns_are_none_of_it():
    assert parallel(["Ann\tB-PER", "left\tO"]) == 0
    assert parallel(["a b\tX", "c d\tX Y"]) == 0


def test_other_numbers_of_labels_are_named():
    with pytest.raises(ValueError, match=r"line 3: expected as many labels .* 1 for 2"):
        read_tokens(io.StringIO(TEXT + "go now\tO\n"), "words-labels")
