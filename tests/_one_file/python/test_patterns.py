"""Strings that patterns write, in programs of one file, are those that the package
writes.
"""

from skstruct._one_file.python.patterns import Patterns, ascii_lower
from skstruct.features.patterns import CRFPP, WAPITI
from skstruct.features.patterns import Patterns as Ours


def written(lines, syntax, tokens, t):
    """What patterns write at a token."""
    ours = Ours(lines, syntax)
    nodes = [
        [p.literals, [[m.position, m.absolute, m.column, m.lower] for m in p.macros]]
        for p in ours.of_labels
    ]
    header = {"syntax": syntax, "nodes": nodes, "edges": []}
    patterns = Patterns({"patterns": header, "names": [], "edge_names": []}, {})
    return [patterns.write(line, [tokens], t, len(tokens)) for line in nodes]


def test_tokens_and_what_is_outside():
    tokens = ["A", "b"]
    lines = ["U1:%x[0,0]", "U2:%x[-1,0]/%x[2,0]"]
    assert written(lines, CRFPP, tokens, 0) == ["U1:A", "U2:_B-1/_B+1"]
    lines = ["u:%X[0,0]", "u:%x[@-1,0]", "u:%x[-6,0]"]
    assert written(lines, WAPITI, tokens, 0) == ["u:a", "u:b", "u:_x-#"]


def test_letters_of_ascii_alone_are_lowered():
    assert ascii_lower("AÉz") == "aÉz"
