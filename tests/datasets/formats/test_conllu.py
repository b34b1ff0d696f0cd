"""CoNLL-U: documents."""

import io

from skstruct.datasets import read_tokens
from skstruct.datasets.formats.conllu import is_conllu

ROW = "1\t{}\t_\tNOUN\tNN\t_\t0\troot\t_\t_\n\n"


def test_documents_have_their_names():
    text = "# newdoc id = one\n" + ROW.format("a") + ROW.format("b")
    text += "# newdoc\n" + ROW.format("c")
    X, y, documents = read_tokens(io.StringIO(text), return_documents=True)
    assert (X, y) == ([["a"], ["b"], ["c"]], [["NN"]] * 3)
    assert documents == ["one", "one", "1"]
    X, y = read_tokens(io.StringIO(text), tokens=("form", "xpos"), label="upos")
    assert X[0] == [("a", "NN")] and y[0] == ["NOUN"]


def test_a_line_of_it():
    assert is_conllu(ROW.strip()) and is_conllu(ROW.strip().replace("1", "1-2", 1))
    assert not is_conllu("a" + "\t_" * 9) and not is_conllu("1\ta")
