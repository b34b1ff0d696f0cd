"""Files of brat: which paths are some."""

from skstruct.datasets.formats.brat import Brat, is_brat
from skstruct.datasets.formats.head import Head


def test_a_path_is_brat_by_what_stands_beside_it(tmp_path):
    (tmp_path / "a.txt").write_text("Ann")
    assert not is_brat(tmp_path / "a.txt") and not is_brat(3)
    (tmp_path / "a.ann").write_text("")
    for path in tmp_path, tmp_path / "a.txt", tmp_path / "a.ann":
        assert is_brat(path) and Brat().recognise(Head(str(path))).score == 1.0
    assert not Brat().recognise(Head("a.conll", ["a X"])).is_yes
