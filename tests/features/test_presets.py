"""Built-in template sets: those of the papers and tutorials that they name."""

import re

import pytest

import oracles
from skstruct import FeatureTemplates
from skstruct.features.presets import PRESETS, columns_preset


def values(lines, sequence, t):
    """The features of a token as tuples of values, without the templates' names."""
    found = oracles.template_features(lines, sequence).nodes[t]
    return sorted(tuple(re.findall(r"'([^']*)'", name)) for name in found.elements())


def test_presets_are_valid():
    for name, lines in PRESETS.items():
        templates = FeatureTemplates.preset(name)
        assert templates.lines == tuple(lines)
        templates.compile()
        assert len({re.sub(r":.*", "", line) for line in lines}) == len(lines)
    with pytest.raises(ValueError, match="unknown preset"):
        FeatureTemplates.preset("letters")


def test_char_is_table_1_of_the_paper():
    """Characters at -1, 0, 1 and pairs from (-2, -1) to (1, 2)."""
    lines = [line for line in PRESETS["char"] if line[0] == "U"]
    assert len(lines) == 7
    one = [("=b",), ("=c",), ("=d",)]
    two = [("=a", "=b"), ("=b", "=c"), ("=c", "=d"), ("=d", "=e")]
    assert values(lines, list("abcde"), 2) == sorted(one + two)


def test_chunk_is_crfsuites_tutorial():
    """19 templates: words at -2 to 2, two word pairs, the same for tags with more
    pairs, three triples.
    """
    lines = [line for line in PRESETS["chunk"] if line[0] == "U"]
    assert len(lines) == 19
    w, p = [f"=w{k}" for k in range(5)], [f"=p{k}" for k in range(5)]
    expected = [(v,) for v in w + p] + [(w[1], w[2]), (w[2], w[3])]
    expected += [tuple(p[k : k + 2]) for k in range(4)] + [
        tuple(p[k : k + 3]) for k in range(3)
    ]
    sequence = [(a[1:], b[1:]) for a, b in zip(w, p)]
    assert values(lines, sequence, 2) == sorted(expected)


def test_word_has_sixteen():
    lines = [line for line in PRESETS["word"] if line[0] == "U"]
    assert len(lines) == 16
    words = ["The", "old", "McDonald99", "had", "one"]
    w = [f"={word}" for word in words]
    expected = [(v,) for v in w] + [(w[1], w[2]), (w[2], w[3]), ("=XxXxx99",)]
    expected += [("=McDonald99"[: 1 + n],) for n in range(1, 5)] + [
        ("=" + "McDonald99"[-n:],) for n in range(1, 5)
    ]
    assert values(lines, words, 2) == sorted(expected)


def test_columns_preset():
    for n in (1, 2, 3, 5):
        templates = FeatureTemplates(columns_preset(n))
        templates.compile()
        assert templates.n_columns == n
        assert templates.lines[-1] == "B"
