"""Words as atoms: columns, alphabets, parts of features, and what is refused."""

import numpy as np
import pytest

from skstruct._parser.atoms import AtomEncoder, check_words, count_parts, parts_of


@pytest.mark.parametrize(
    "word", [("a",), ("a", "b", "c"), "ab", ("a", None), ("a", 1), None, {"form": "a"}]
)
def test_words_are_pairs_of_strings(word):
    with pytest.raises(
        ValueError, match=r"X: sequence 1, position 1: expected a pair \(form, tag\)"
    ):
        check_words([[("a", "b")], [("a", "b"), word]], np.array([0, 1, 3]))


@pytest.mark.parametrize("word", [("", "b"), ("a", "")])
def test_forms_and_tags_are_not_empty(word):
    with pytest.raises(
        ValueError, match="X: sequence 1, position 1: neither form nor tag may be empty"
    ):
        check_words([[("a", "b")], [("a", "b"), word]], np.array([0, 1, 3]))


def test_unknown_words_have_no_atoms_but_their_tags():
    encoder = AtomEncoder(["t", "w", "x2", "f"])
    _, encoder = encoder.grown([["Dogs", "run"], ["N", "V"]])
    ids, _ = encoder.encode([["Cats", "dogs", "run"], ["N", "X", "V"]])
    assert (ids[0] >= 0).tolist() == [True, False, True]
    assert (ids[1] >= 0).tolist() == [False, False, True]
    assert (ids[2] >= 0).tolist() == [False, True, True]  # -ts, -gs, -un
    assert (ids[3] >= 0).tolist() == [True, True, True]
    assert encoder.encode([[], []])[0].shape == (4, 0)


WORDS = {
    "puer": ("N", "NOUN", "Case=Nom|Gender=Masc|Number=Sing"),
    "puerum": ("N", "NOUN", "Case=Acc|Gender=Masc|Number=Sing"),
    "puella": ("N", "NOUN", "Case=Nom|Gender=Fem|Number=Sing"),
    "puellam": ("N", "NOUN", "Case=Acc|Gender=Fem|Number=Sing"),
    "videt": ("V", "VERB", "Number=Sing"),
    "amat": ("V", "VERB", "Number=Sing"),
}


def test_parts():
    assert parts_of("Case=Nom|Number=Sing") == ["Case=Nom", "Number=Sing"]
    assert parts_of("a|b") == parts_of("=|b") == parts_of("_") == []
    assert count_parts([("A=1",), ("A=1",), ("x",), ("A=1|B=2",)]) == {3: 2}


def test_each_part_is_a_row_of_its_own():
    columns = [("a", "b", "c"), ("t", "t", "t"), ("A=1|B=2", "B=2", "_")]
    ids, encoder = AtomEncoder(["t", "p2"], 3).grown(columns)
    assert encoder.rows == ["t", "p2", "p2"]
    assert ids[1:].tolist() == [[3, 4, -1], [4, -1, -1]]
    ids, rows = encoder.encode([("a",), ("t",), ("B=2|C=3",)])
    assert ids[1:].tolist() == [[4], [-1]] and rows == encoder.rows
    assert encoder.encode([("a",), ("t",), ("A=1|B=2|A=1",)])[1] == [
        "t",
        "p2",
        "p2",
        "p2",
    ]


def test_the_width_is_that_of_the_first_word():
    assert len(check_words([[("a", "b", "c")]], np.array([0, 1]))) == 3
    with pytest.raises(ValueError, match="sequence 0, position 0: expected a pair"):
        check_words([[("a",)]], np.array([0, 1]))


def test_atoms_are_in_the_order_of_rows():
    """Kernels read them so: in the other order they are slow."""
    words = [(form, *columns) for form, columns in WORDS.items()]
    atoms, encoder = AtomEncoder(["t", "w", "p3"], width=4).grown(list(zip(*words)))
    assert encoder.rows == ["t", "w", "p3", "p3", "p3"]
    assert (
        atoms.flags.c_contiguous
        and encoder.encode(list(zip(*words)))[0].flags.c_contiguous
    )
