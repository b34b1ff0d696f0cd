"""Patterns of CRF++ and Wapiti as features."""

import json
import pickle

import numpy as np
import pytest

import skstruct
from skstruct import L1CRF, FeatureTemplates, ParameterMixer, StructuredPerceptron
from skstruct.features.patterns import Patterns
from skstruct.inspection import explain, feature_weights, features_of

X = [[("He", "P"), ("ran", "V"), ("off", "X")], [("Ran", "V")]]
Y = [["A", "B", "C"], ["B"]]


def written(lines, syntax, x=X[0]):
    """What patterns write for each token of a sequence, with the tagger trained on
    it.
    """
    tagger = StructuredPerceptron(Patterns(lines, syntax), random_state=0)
    return features_of(tagger.fit([x], [["A", "B", "C"][: len(x)]]), x)


def test_macros_of_crfpp():
    lines = ["U0:%x[0,0]", "U1:%x[-1,0]/%x[1,1]", "U", "U2:%x[-2,0]%x[2,1]"]
    assert written(lines, "crf++") == [
        ["U0:He", "U1:_B-1/V", "U", "U2:_B-2X"],
        ["U0:ran", "U1:He/X", "U", "U2:_B-1_B+1"],
        ["U0:off", "U1:ran/_B+1", "U", "U2:He_B+2"],
    ]


def test_macros_of_wapiti():
    lines = [
        "u:%x[ 0,0]",
        "U:%X[-1,0]",
        "u:%x[+010,0]|%x[-0x6,1]",
        "u:%x[@1,0]%x[@-1,1]%x[@5,0]",
        "u:%X[0,1]",
    ]
    assert written(lines, "wapiti") == [
        ["u:He", "u:_x-1", "u:_x+#|_x-#", "u:HeX_x+2", "u:p"],
        ["u:ran", "u:he", "u:_x+#|_x-#", "u:HeX_x+2", "u:v"],
        ["u:off", "u:ran", "u:_x+#|_x-4", "u:HeX_x+2", "u:x"],
    ]
    lines = [
        r'u:%t[0,0,"^\u"]',
        r'u:%M[0,0,"\u?.$"]',
        'u:%m[1,0,"f*$"]',
        r'u:%t[0,0,"\"|x"]',
    ]
    assert written(lines, "wapiti") == [
        ["u:true", "u:he", "u:", "u:false"],
        ["u:false", "u:n", "u:ff", "u:false"],
        ["u:false", "u:f", "u:", "u:false"],
    ]


def test_observations_of_the_tool(corpus_path):
    """All of them, in the order in which they first occur."""
    read = [
        corpus_path(f"foreign/own/wapiti-regex.{end}")
        .read_bytes()
        .decode("utf-8", "surrogateescape")
        for end in ("pattern", "txt", "observations")
    ]
    patterns = Patterns(
        [line for line in read[0].split("\n") if line.strip()], "wapiti"
    )
    sequences = [
        [tuple(line.split()) for line in part.split("\n")]
        for part in read[1].strip("\n").split("\n\n")
    ]
    tagger = StructuredPerceptron(patterns, max_iter=1, random_state=0)
    tagger.fit(sequences, [["A", *"B" * (len(s) - 1)] for s in sequences])
    found = dict.fromkeys(
        name for s in sequences for token in features_of(tagger, s) for name in token
    )
    expected = [
        name
        for name in read[2].removesuffix("\n").split("\n")
        if not name.startswith("b")
    ]
    assert set(found) == set(expected)
    golden = json.loads(
        corpus_path("foreign/own/wapiti-crf.json").read_text(encoding="utf-8")
    )
    assert golden["n_observations"] == 219


def test_patterns_that_write_one_string_are_one_feature():
    tagger = StructuredPerceptron(
        Patterns(["U:%x[-1,0]", "U:%x[1,0]"]), average=False, random_state=0
    )
    tagger.fit([["a", "b", "a"]], [["X", "Y", "X"]])
    assert features_of(tagger, ["a", "b", "a"])[1] == ["U:a", "U:a"]
    weights = {(name, label): w for name, label, w in feature_weights(tagger)}
    explanation = explain(tagger, ["a", "b", "a"], ["X", "Y", "X"])
    assert explanation.tokens[1].features == [("U:a", weights["U:a", "Y"])] * 2


def test_training_is_that_of_templates():
    """Where no two templates write the same, patterns are the same features."""
    lines = ["U0:%x[0,0]", "U1:%x[-1,0]/%x[0,1]", "U2:%x[2,1]", "B", "B1:%x[0,1]"]
    X = [[(f"w{k * k % 7}", f"t{k % 3}") for k in range(n, n + 5)] for n in range(20)]
    y = [[f"L{(k * k + n) % 3}" for k in range(n, n + 5)] for n in range(20)]
    for make in (
        lambda features: StructuredPerceptron(features, random_state=0, max_iter=3),
        lambda features: StructuredPerceptron(
            features, random_state=0, max_iter=3, min_count=3
        ),
        lambda features: ParameterMixer(
            StructuredPerceptron(features, min_count=2), 2, random_state=0
        ),
    ):
        by_patterns, by_templates = (
            make(f).fit(X, y) for f in (Patterns(lines), FeatureTemplates(lines))
        )
        np.testing.assert_allclose(
            by_patterns.decision_function(X), by_templates.decision_function(X)
        )
        assert by_patterns.predict(X) == by_templates.predict(X)
    crf = [
        L1CRF(f, c1=0.5, tol=1e-8, random_state=0).fit(X, y)
        for f in (Patterns(lines), lines)
    ]
    assert crf[0].objective_ == pytest.approx(crf[1].objective_, rel=1e-6)


def test_a_stream_grows_the_features(tmp_path):
    tagger = StructuredPerceptron(
        Patterns(["U:%x[0,0]", "B:%x[-1,0]"]), min_count=2, random_state=0
    )
    tagger.partial_fit(X, Y, classes=["A", "B", "C"])
    assert features_of(tagger, X[0]) == [[], [], []]
    tagger.save(tmp_path / "model")
    for each in (
        tagger,
        skstruct.load(tmp_path / "model"),
        pickle.loads(pickle.dumps(tagger)),
    ):
        each.partial_fit(X[:1], Y[:1])
        assert features_of(each, X[0]) == [["U:He"], ["U:ran"], ["U:off"]]
        names = [
            name
            for token in explain(each, X[0]).tokens
            for name, _ in token.transitions
        ]
        assert any(name.endswith("given B:ran") for name in names)
        assert features_of(each, X[1]) == [[]]


def test_a_set_of_patterns_is_a_value():
    patterns = Patterns(["U0:%x[0,0]", "B"])
    assert patterns == Patterns(("U0:%x[0,0]", "B")) and hash(patterns) == hash(
        Patterns(patterns.lines)
    )
    assert patterns != Patterns(
        ["u0:%x[0,0]", "b"], "wapiti"
    ) and patterns != FeatureTemplates(patterns.lines)
    assert repr(patterns) == "Patterns(['U0:%x[0,0]', 'B'], 'crf++')"
    assert (patterns.n_columns, patterns.bigram) == (1, True)


@pytest.mark.parametrize(
    ("lines", "syntax", "message"),
    [
        ([], "crf++", "at least one pattern"),
        (["x"], "crf++", "a pattern of crf.. starts with U or B, got 'x'"),
        (["x"], "wapiti", "a pattern of wapiti starts with u, b or "),
        ([3], "crf++", "must be a str, got int 3"),
        (["u:%x[0,0]"], "crf++", "starts with U or B"),
        (["U:%x[+1,0]"], "crf++", "malformed macro"),
        (["U:%x[ 1,0]"], "crf++", "malformed macro"),
        (["U:%y[1,0]"], "crf++", "malformed macro"),
        (["U:50%"], "crf++", "malformed macro"),
        (["U:%x[0,1000]"], "crf++", "reads too far away"),
        (["u:%x[089,0]"], "wapiti", "malformed number"),
        (["u:%x[@0,0]"], "wapiti", "counted from 1"),
        (['u:%x[0,0,"a"]'], "wapiti", "%x takes none"),
        (['u:%m[0,0,"' + "a" * 300 + '"]'], "wapiti", "300 elements"),
        (["U"], "other", "syntax must be one of 'crf..', 'wapiti'; got 'other'"),
    ],
)
def test_patterns_that_are_none(lines, syntax, message):
    with pytest.raises(ValueError, match=message):
        Patterns(lines, syntax)


def test_tokens_that_patterns_cannot_read():
    tagger = L1CRF(Patterns(["U:%x[0,1]"]), c1=0.01)
    with pytest.raises(TypeError, match="lines must be a list"):
        Patterns("U:%x[0,0]")
    with pytest.raises(
        ValueError, match=r"features=Patterns .* are for tokens that are str or tuples"
    ):
        tagger.fit([[{"a": 1}]], [["A"]])
    with pytest.raises(
        ValueError, match="read column 1, but the tokens are plain strings"
    ):
        tagger.fit([["a"]], [["A"]])
    with pytest.raises(
        ValueError,
        match="sequence 1, position 0: expected .* str in column 1, got int 3",
    ):
        tagger.fit([X[1], [("a", 3)]], [["A"], ["B"]])
