"""Saving and loading models that read accessor varieties and lexicons; files that lie
about them.
"""

import numpy as np
import pytest
from inside import model_of, variety_of

import skstruct
from skstruct import (
    FeatureTemplates,
    PassiveAggressiveTagger,
    Segmenter,
    StructuredPerceptron,
)
from skstruct._data.schemes import words_to_labels
from skstruct._saving.container import ModelFileError, read_container, write_container
from skstruct.datasets import load_segmentation

TEXTS, WORDS = load_segmentation()
X = [list(text) for text in TEXTS]
Y = [words_to_labels(words, "BMES") for words in WORDS]
ENTRIES = ["北京", ("今", "天"), "大学"]
LINES = [
    "U1:%x[0,0]",
    "U2:%av2[0,0]/%lex_a[0,0]",
    "U3:%av4[-1,0]",
    "B",
    "B1:%lex_b[0,0]",
]


def new_tagger(lines=LINES, **parameters):
    lexicons = {"a": ENTRIES, "b": [f"{k}" for k in range(2000)]}
    templates = FeatureTemplates(lines, lexicons if lines is LINES else None)
    return StructuredPerceptron(templates, max_iter=2, random_state=0, **parameters)


def same(a, b):
    assert a.predict(X) == b.predict(X)
    np.testing.assert_array_equal(a.decision_function(X), b.decision_function(X))


@pytest.mark.parametrize("min_count", [1, 2])
@pytest.mark.parametrize("adapted", [False, True])
def test_round_trip(adapted, min_count, path):
    tagger = new_tagger(min_count=min_count).fit(X[:120], Y[:120])
    if adapted:
        tagger.adapt(X[120:])
    tagger.save(path)
    loaded = skstruct.load(path)
    assert loaded.features == tagger.features
    same(tagger, loaded)
    contexts, again = (
        model_of(tagger).encoder.contexts,
        model_of(loaded).encoder.contexts,
    )
    assert (again.adapted is None) is (not adapted)
    assert again.characters == contexts.characters == {0: True}
    for s in ("北京", "今天", "京今"):
        assert variety_of(again.trained[0], s) == variety_of(contexts.trained[0], s)
    same(tagger.partial_fit(X[120:], Y[120:]), loaded.partial_fit(X[120:], Y[120:]))
    same(tagger.adapt(None), loaded.adapt(None))
    same(tagger.adapt(X), loaded.adapt(X))
    loaded.save(path)
    same(tagger, skstruct.load(path))


def test_segmenter(path):
    tagger = PassiveAggressiveTagger("char-av", max_iter=2, random_state=0)
    segmenter = Segmenter(tagger, "B2B3MES").fit(TEXTS[:120], WORDS[:120]).adapt(TEXTS)
    segmenter.save(path, training=False)
    loaded = skstruct.load(path)
    assert loaded.predict(TEXTS) == segmenter.predict(TEXTS)
    assert loaded.adapt(None).predict(TEXTS, ["今天天"]) == segmenter.adapt(
        None
    ).predict(TEXTS, ["今天天"])


def test_a_lexicon_that_is_only_a_parameter(path):
    tagger = new_tagger().fit(X[:20], Y[:20])
    tagger.set_params(
        features=FeatureTemplates(["U:%lex_c[0,0]"], {"c": ["x", ("y", "z")]})
    ).save(path)
    assert skstruct.load(path).features.lexicons == {"c": ("x", ("y", "z"))}


# --------------------------------------------------------------------------------------
# Files that lie
# --------------------------------------------------------------------------------------
def _encoder(header):
    return header["estimator"]["state"]["model"]["encoder"]


def _trained(header):
    return _encoder(header)["contexts"]["trained"][0]


def lie(change):
    """A lie is a function of the header and the arrays, which it changes."""
    return pytest.param(change, id=change.__name__)


def no_contexts(header, arrays):
    del _encoder(header)["contexts"]


def no_statistics(header, arrays):
    _encoder(header)["contexts"]["trained"] = []


def twice(header, arrays):
    _encoder(header)["contexts"]["trained"] *= 2


def other_column(header, arrays):
    _trained(header)["column"] = 1


def no_minimum(header, arrays):
    _trained(header)["minimum"] = "2"


def no_characters(header, arrays):
    _encoder(header)["contexts"]["characters"] = []


def odd_characters(header, arrays):
    _encoder(header)["contexts"]["characters"] = [[0, 1]]


def node_out_of_range(header, arrays):
    arrays[_trained(header)["pairs"][1]["$array"]][0, 0] = 2**30


def token_out_of_range(header, arrays):
    arrays[_trained(header)["pairs"][2]["$array"]][-1, 1] = -1


def string_twice(header, arrays):
    pairs = arrays[_trained(header)["pairs"][0]["$array"]]
    pairs[1] = pairs[0]


def negative_variety(header, arrays):
    arrays[_trained(header)["varieties"][0]["$array"]][0] = -1


def short_varieties(header, arrays):
    name = _trained(header)["varieties"][3]["$array"]
    arrays[name] = arrays[name][:-1]


def too_few_lengths(header, arrays):
    _trained(header)["varieties"].pop()


def wrong_dtype(header, arrays):
    name = _trained(header)["pairs"][0]["$array"]
    arrays[name] = arrays[name].astype(np.int64)


def lexicon_gone(header, arrays):
    _encoder(header)["templates"]["lexicons"].pop()


def lexicon_twice(header, arrays):
    _encoder(header)["templates"]["lexicons"] *= 2


def lexicon_of_numbers(header, arrays):
    _encoder(header)["templates"]["lexicons"][0][1] = [1, 2]


def lexicons_no_pairs(header, arrays):
    _encoder(header)["templates"]["lexicons"] = {"a": []}


LIES = [
    no_contexts, no_statistics, twice, other_column, no_minimum, no_characters, odd_characters,
    node_out_of_range, token_out_of_range, string_twice, negative_variety, short_varieties, too_few_lengths,
    wrong_dtype, lexicon_gone, lexicon_twice, lexicon_of_numbers, lexicons_no_pairs,
]  # fmt: skip


@pytest.mark.parametrize("change", list(map(lie, LIES)))
def test_lies_are_refused(change, path):
    new_tagger().fit(X[:40], Y[:40]).save(path)
    header, arrays = read_container(path, kind="model")
    arrays = {name: array.copy() for name, array in dict(arrays).items()}
    change(header, arrays)
    write_container(path, header, arrays)
    with pytest.raises(ModelFileError, match="malformed"):
        skstruct.load(path)
