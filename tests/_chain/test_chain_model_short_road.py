"""One sequence has a short road to the kernel: what it returns is, to the bit, what the
long one does.
"""

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from inside import model_of, remembered_pairs

from skstruct import L1CRF, StructuredPerceptron
from skstruct._data.inputs import as_tokens
from skstruct.compat import pycrfsuite as compat
from skstruct.features.templates import FeatureTemplates
from skstruct.interchange import load_crfsuite, save_crfsuite


class Text(str):
    """A str that is not plain."""


WORDS = "the dog saw a cat near some old house and left".split()


def _dicts(n, start=0):
    words = [WORDS[(start + 3 * t) % len(WORDS)] for t in range(n)]
    return [
        {"w": w, "-1:w.lower": w[:2], "bias": 1.0, "long": len(w) > 3, "n": {"a": 0.5}}
        for w in words
    ]


def _lists(n, start=0):
    return [
        [f"{key}:{value}" for key, value in token.items()] for token in _dicts(n, start)
    ]


def _words(n, start=0):
    return [token["w"] for token in _dicts(n, start)]


def _pairs(n, start=0):
    return [(w, w[-1].upper()) for w in _words(n, start)]


def _odd(kind):
    """Sequences of a kind that are unlike those of the training."""
    if kind is _dicts:
        return [
            [
                {"w": "unseen", "other": "x", "n": 3},
                {},
                {"w": Text("dog"), "-1": "w.lower:th"},
            ],
            [
                {"w": 0.5, "bias": 2.0, "long": np.float64(0.25)},
                {"w": ["a", "dog"]},
                {"w": {"dog": 2}},
            ],
            [
                {"w:dog": True},
                {"-1": {"w.lower": "do"}},
                {"-1:w.lower:do": 1},
                {"w": "dog", "w:dog": 1},
            ],
        ]
    if kind is _lists:
        return [
            [["w:dog", "no such"], [], [Text("w:dog")]],
            [[], ["w:dog"]],
            [["w:dog"], {"w": "dog"}],
        ]
    if kind is _pairs:
        return [
            [("unseen", "G"), ("dog", "?")],
            [("", ""), (Text("dog"), "G")],
            [("dog", "G", "more")],
        ]
    return [
        ["unseen", "", "dogs", "unseen"],
        ["unseen", "", Text("dog")],
        [Text("dog"), "dog"],
    ]


def _fitted(learner, kind):
    X = [kind(n, n) for n in (1, 5, 7, 9)]
    y = [[("A", "B", "C")[(len(str(t)) + k) % 3] for k, t in enumerate(x)] for x in X]
    return learner.fit(X, y)


def _read_again(model, tmp_path):
    save_crfsuite(model, tmp_path / "m")
    return load_crfsuite(tmp_path / "m")


LEARNERS = {
    "perceptron": lambda: StructuredPerceptron(random_state=0, max_iter=3),
    "order 2": lambda: StructuredPerceptron(random_state=0, max_iter=3, order=2),
    "crf": lambda: L1CRF(random_state=0, max_iter=20, tol=10.0),
}


@pytest.mark.parametrize("kind", [_dicts, _lists, _words])
@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("imported", [False, True])
def test_one_sequence_is_as_in_a_batch(kind, learner, imported, tmp_path):
    if imported and (kind is _words or learner == "order 2"):
        pytest.skip("such a model has no file of that kind")
    model = _fitted(LEARNERS[learner](), kind)
    if imported:
        model = _read_again(model, tmp_path)
    few = [kind(n, s) for n in (0, 1, 5, 60) for s in (0, 1)] + _odd(kind)
    corpus = [*few, kind(1025)]
    verbs = ["predict", "predict_kbest"] + ["predict_marginals"] * hasattr(
        model, "predict_marginals"
    )
    for verb in verbs:
        call = getattr(model, verb)
        # Two sequences of one corpus take the long road.
        expected = [call([x, x]) for x in corpus]
        for x, (long, _), form in zip(corpus, expected, map(type, expected)):
            short = call([x])
            assert type(short) is form and len(short) == 1
            np.testing.assert_equal(short[0], long)
            np.testing.assert_equal(call([tuple(x)])[0], long)
        with ThreadPoolExecutor(4) as pool:
            for found, (long, _) in zip(
                pool.map(call, [[x] for x in few * 5]), expected[: len(few)] * 5
            ):
                np.testing.assert_equal(found[0], long)


TEMPLATES = {
    "word-best": (_words, {}),
    "char-av": (_words, {}),
    "chunk-best": (_pairs, {}),
    "word": (_words, {"min_count": 2}),
    "lexicon and bias": (
        _words,
        {
            "features": FeatureTemplates(
                ["U:", "U1:%x[2,0]/%lex_a[-1,0]", "B"], {"a": ["old house", "dog"]}
            )
        },
    ),
    "transitions that look at the input": (
        _words,
        {"features": ["U:%x[0,0]", "B", "B1:%x[-1,0]/%x[0,0]"]},
    ),
    "transitions alone": (_words, {"features": ["B1:%suffix2[0,0]"]}),
}


@pytest.mark.parametrize("name", TEMPLATES)
def test_templates_find_one_sequence_as_in_training_and_in_a_batch(name):
    kind, options = TEMPLATES[name]
    model = _fitted(
        StructuredPerceptron(
            **{"features": name, "random_state": 0, "max_iter": 3} | options
        ),
        kind,
    )
    encoder = model_of(model).encoder
    seen = as_tokens([kind(n, n) for n in (1, 5, 7, 9)])
    # With a cut-off, features would get rows as they are counted again.
    trained, found = (
        encoder.copy().encode(seen, model.min_count == 1),
        encoder.encode(seen, False),
    )
    for one, other in zip(
        (*trained.nodes, *trained.edges), (*found.nodes, *found.edges)
    ):
        np.testing.assert_array_equal(one, other)
    corpus = [kind(n, s) for n in (0, 1, 2, 5, 60, 1025) for s in (0, 1)] + _odd(kind)
    for x in corpus:
        assert model.predict([x]) == model.predict([x, x])[:1]
        rows, long = encoder.encode_one(x), encoder.encode(as_tokens([x]), False)
        plain = {
            type(part) for token in x for part in (token if kind is _pairs else [token])
        } == {str}
        assert (rows is not None) == (plain and not encoder.edges.groups)
        if rows is not None:
            np.testing.assert_array_equal(rows[3], long.nodes.row)
            np.testing.assert_array_equal(rows[1], long.anchor)


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        (_dicts, [{"w": "a"}, {"w": float("nan")}]),
        (_dicts, [{"w": "a"}, {"w": object()}]),
        (_dicts, [{1: "a"}]),
        (_dicts, ["word"]),
        (_lists, [["a"], [3]]),
        (_lists, [[1.0, 2.0]]),
        (_lists, [["a"], [[]]]),
        (_words, ["a", 3]),
        (_words, [["a"]]),
        (_words, [("a", "b")]),
        (_pairs, [("a",)]),
        (_pairs, [("a", "b"), ("a", "b", "c")]),
        (_pairs, [("a", "b"), ("a", 3)]),
        (_pairs, [("a", "b"), "a"]),
        (_pairs, ["a"]),
    ],
)
def test_errors_are_those_of_the_long_road(kind, wrong):
    model = _fitted(L1CRF(random_state=0, max_iter=5, tol=10.0), kind)
    for verb in (model.predict, model.predict_marginals):
        with pytest.raises(ValueError) as short:
            verb([wrong])
        with pytest.raises(ValueError) as long:
            verb([wrong, wrong])
        assert str(short.value) == str(long.value)


def _calls(function, x):
    """Names of the Python functions that a call calls, its own among them."""
    names = []

    def note(frame, event, argument):
        if event == "call":
            names.append(frame.f_code.co_name)

    sys.setprofile(note)
    try:
        function(x)
    finally:
        sys.setprofile(None)
    return names


@pytest.mark.parametrize("kind", [_dicts, _lists])
@pytest.mark.parametrize("imported", [False, True])
def test_few_functions_are_called(kind, imported, tmp_path):
    x = kind(5)
    for token in x:
        if kind is _dicts:
            del token["n"]  # nested ones are looked at twice
    model = _fitted(L1CRF(random_state=0, max_iter=5, tol=10.0), lambda *_: x)
    tagger = compat.Tagger()
    if imported:
        save_crfsuite(model, tmp_path / "m")
        model = load_crfsuite(tmp_path / "m")
        tagger.open(tmp_path / "m")
    verbs = [(model.predict, [x], 12), (model.predict_marginals, [x], 18)]
    verbs += [(tagger.tag, x, 15)] * imported
    for verb, X, most in verbs:
        verb(X)
        names = _calls(verb, X)
        assert len(names) <= most, " ".join(names)
        assert {"as_tokens", "check", "encode", "__missing__"}.isdisjoint(names)


def test_opening_a_model_names_no_pair(tmp_path):
    """What a model of names remembers of pairs is what calls have shown it."""
    model = _read_again(_fitted(StructuredPerceptron(random_state=0), _dicts), tmp_path)
    encoder = model_of(model).encoder
    assert remembered_pairs(encoder) is None
    model.predict([_lists(5)])
    assert not remembered_pairs(encoder) and remembered_pairs(encoder).names
    model.predict([[{"w": "dog"}]])
    tables = remembered_pairs(encoder)
    assert {key: list(values) for key, values in tables.items()} == {"w": ["dog"]}
