"""Models of CRF++ and Wapiti: what they say, what they do here, and what becomes of
damaged ones.
"""

import copy
import itertools
import json
import pickle

import numpy as np
import pytest
from foreign_models import (
    CRFPP_TEMPLATES,
    LABELS,
    crfpp_small,
    crfpp_text,
    wapiti,
    wapiti_small,
)
from sklearn.base import clone
from tool_cases import BYTES, LOADERS, NAMES, X

import skstruct
from skstruct import (
    L1CRF,
    BaggingShuffleAverager,
    ParameterMixer,
    PassiveAggressiveTagger,
    StructuredPerceptron,
)
from skstruct._saving.registry import ModelFileError
from skstruct.features.patterns import Patterns
from skstruct.inspection import (
    explain,
    feature_weights,
    features_of,
    transition_weights,
)
from skstruct.interchange import (
    load_crfpp,
    load_crfsuite,
    load_wapiti,
    save_crfpp,
    save_crfsuite,
    save_wapiti,
)


def small(name):
    return LOADERS[name](BYTES[name]())


# -- what a model of these bytes is, by hand -------------------------------------------
def crfpp_features(x, t):
    """What the templates of ``crfpp_small`` write for a token: of labels, and of the
    transition.
    """
    before = x[t - 1][0] if t else "_B-1"
    of_labels = [f"U0:{x[t][0]}", f"U1:{before}/{x[t][1]}", "Ubias"]
    return of_labels, ["B", f"B1:{x[t][1]}"]


def wapiti_features(x, t):
    before = x[t - 1][0].lower() if t else "_x-1"
    both = f"*:p={x[t][1]}"
    return [f"u:w={x[t][0]}", f"u:l={before}", f"u:s={x[t][0][-1]}", both], [both, "b"]


def blocks(name):
    """{key: weights of labels}, {key: weights of transitions}."""
    if name != "Wapiti":
        _, _, keys, weights = crfpp_small()
        found = {
            key: np.array(weights[k : k + (9 if key[0] == "B" else 3)])
            for k, key in keys
        }
        parts = ({k: v for k, v in found.items() if k[0] == letter} for letter in "UB")
        return tuple(parts)
    _, _, observations, weights = wapiti_small()
    nodes, edges, at = {}, {}, 0
    for key in observations:
        for found, n, kinds in ((nodes, 3, "u*"), (edges, 9, "b*")):
            if key[0] in kinds:
                found[key] = np.array([weights.get(at + k, 0.0) for k in range(n)])
                at += n
    return nodes, edges


def scores_by_hand(name, x):
    """{labelling: score}"""
    nodes, edges = blocks(name)
    features = [
        (wapiti_features if name == "Wapiti" else crfpp_features)(x, t)
        for t in range(len(x))
    ]
    scores = {}
    for path in itertools.product(range(3), repeat=len(x)):
        score = sum(
            nodes[k][y]
            for (mine, _), y in zip(features, path)
            for k in mine
            if k in nodes
        )
        for t in range(1, len(x)):
            score += sum(
                edges[k].reshape(3, 3)[path[t - 1], path[t]]
                for k in features[t][1]
                if k in edges
            )
        scores[tuple(LABELS[y] for y in path)] = score
    return scores


@pytest.mark.parametrize("name", NAMES)
def test_scores_are_those_of_the_file(name):
    crf = small(name)
    assert type(crf) is L1CRF and crf.classes_.tolist() == LABELS
    nodes, edges = blocks(name)
    expected = {
        (k, LABELS[y]): w
        for k, block in nodes.items()
        for y, w in enumerate(block.tolist())
        if w
    }
    assert {(n, label): w for n, label, w in feature_weights(crf)} == expected
    np.testing.assert_array_equal(
        transition_weights(crf), edges["B" if "B" in edges else "b"].reshape(3, 3)
    )
    for x in X[:3]:
        scores = scores_by_hand(name, x)
        ranked = sorted(scores.items(), key=lambda item: -item[1])
        best = crf.predict_kbest([x], 27)[0]
        assert [score for _, score in best] == pytest.approx(
            [score for _, score in ranked]
        )
        assert scores[tuple(crf.predict([x])[0])] == ranked[0][1]
        log_z = np.log(np.sum(np.exp(list(scores.values()))))
        labels, score = ranked[-1]
        assert crf.sequence_log_proba([x], [list(labels)])[0] == pytest.approx(
            score - log_z
        )
        for t, y in itertools.product(range(len(x)), range(3)):
            mine = sum(
                np.exp(s) for labels, s in scores.items() if labels[t] == LABELS[y]
            )
            assert crf.predict_marginals([x])[0][t, y] == pytest.approx(
                mine / np.exp(log_z)
            )
        explanation = explain(crf, x)
        assert explanation.score == pytest.approx(ranked[0][1])
        written = [n for n, _ in explanation.tokens[0].features]
        assert written == features_of(crf, x)[0]


@pytest.mark.parametrize("name", NAMES)
def test_an_imported_model_does_what_any_does(name, tmp_path):
    crf = small(name)
    crf.save(tmp_path / "model")
    for same in (
        skstruct.load(tmp_path / "model"),
        pickle.loads(pickle.dumps(crf)),
        copy.deepcopy(crf),
    ):
        assert same.features == crf.features and same.classes_.tolist() == LABELS
        np.testing.assert_array_equal(
            same.decision_function(X), crf.decision_function(X)
        )
    y = [["A", "O", "B"], ["B"], ["N", "B", "B"], []]
    fresh = clone(crf).set_params(c1=0.01, solver="owlqn").fit(X, y)
    assert fresh.features == crf.features and fresh.predict(X) == y
    grown = copy.deepcopy(crf).set_params(warm_start=True, c1=0.01).fit(X, y)
    assert grown.classes_.tolist() == [*LABELS, "N"] and grown.predict(X) == y
    again = copy.deepcopy(grown).fit(X, y)
    assert again.objective_ == pytest.approx(grown.objective_, rel=1e-2)
    with pytest.raises(ValueError, match=r"features=.* differ"):
        copy.deepcopy(crf).set_params(warm_start=True, features=["U0:%x[0,0]"]).fit(
            X, y
        )
    averager = BaggingShuffleAverager(clone(fresh), 2, random_state=0).fit(X, y)
    assert len(averager.predict(X)) == 4
    with pytest.raises(ValueError, match="there is nothing to adapt"):
        crf.adapt(X)
    with pytest.raises(ValueError, match="sequence 1, position 0"):
        crf.predict([X[0], [("he", 3)]])


def test_patterns_of_one_column_take_str_and_tuples():
    crf = load_crfpp(
        crfpp_text(["A", "B"], ["U:%x[0,0]"], [(0, "U:x")], [0.0, 1.0], n_columns=1)
    )
    assert (
        crf.predict([["x", "y"]])
        == crf.predict([[("x", "1"), ("y", "2")]])
        == [["B", "A"]]
    )
    assert crf.inputs.token is str


def test_patterns_that_every_token_has_add_up():
    weights = [1.0, 0.0, 0.0, 0.5, 0.0, 0.25, 0.0, 0.0]
    crf = load_crfpp(
        crfpp_text(
            ["A", "B"], ["U:%x[0,0]", "B", "Bx", "B"], [(0, "B"), (4, "Bx")], weights
        )
    )
    assert transition_weights(crf).tolist() == [[2.0, 0.25], [0.0, 1.0]]


def test_files_of_wapiti_in_other_shapes():
    labels, patterns, observations, weights = wapiti_small()
    expected = small("Wapiti").decision_function(X).tolist()
    old = wapiti(labels, patterns, observations, weights, "#mdl#{}", "#rdr#{}/1")
    commas = wapiti(labels, patterns, observations, weights).replace(b"0x1.8", b"0x1,8")
    carriage = wapiti(labels, patterns, observations, weights).replace(b"\n", b"\r\n")
    for data in (old, commas, carriage):
        assert load_wapiti(data).decision_function(X).tolist() == expected
    entropy = wapiti(["A", "B"], ["u:%x[0,0]"], ["u:x"], {1: 1.0}, "#mdl#0#{}")
    assert load_wapiti(entropy).predict([["x", "y"]]) == [["B", "A"]]
    with pytest.raises(ModelFileError, match="a maximum entropy Markov model"):
        load_wapiti(wapiti(["A", "B"], ["u:%x[0,0]"], ["u:x"], {1: 1.0}, "#mdl#1#{}"))
    raw = wapiti(["A", "B"], [], ["u:x", "ux"], {1: 1.0, 3: 2.0}, reader="#rdr#{}/0/0")
    assert load_wapiti(raw).decision_function(
        [[["u:x"]], [["u:x", "ux"]]]
    ).tolist() == [1.0, 3.0]
    raw = wapiti(["A", "B"], [], ["u:x", "ux"], {1: 1.0, 3: 2.0}, reader="#rdr#{}/0/1")
    assert load_wapiti(raw).decision_function([[[":x"]], [[":x", "x"]]]).tolist() == [
        1.0,
        3.0,
    ]
    with pytest.raises(ModelFileError, match="observations of transitions in its data"):
        load_wapiti(wapiti(["A", "B"], [], ["b"], {}, reader="#rdr#{}/0/0"))


def test_bytes_that_are_no_text_survive(tmp_path):
    """``.`` is one byte: of é it is half a character."""
    patterns, observations = (
        ['u:%m[0,0,"^."]', "u:%x[0,0]"],
        [b"u:\xc3", "u:é".encode()],
    )
    strings = [b"%d:%s,\n" % (len(o), o) for o in observations]
    data = wapiti(["A", "B"], patterns, [], {1: 1.0, 3: 2.0})
    data = data.replace(b"#qrk#0\n", b"#qrk#2\n" + b"".join(strings))
    crf = load_wapiti(data)
    assert crf.decision_function([["é"], ["è"], ["e"]]).tolist() == [3.0, 1.0, 0.0]
    save_wapiti(crf, tmp_path / "model")
    assert strings[0] in (tmp_path / "model").read_bytes()
    crf.save(tmp_path / "ours")
    for again in (load_wapiti(tmp_path / "model"), skstruct.load(tmp_path / "ours")):
        assert again.decision_function([["é"], ["è"], ["e"]]).tolist() == [
            3.0,
            1.0,
            0.0,
        ]


# -- golden files ----------------------------------------------------------------------
@pytest.mark.parametrize("name", ["crfpp-full", "crfpp-plain", "crfpp-bag"])
def test_real_models_of_crfpp(corpus_path, name):
    path = corpus_path(f"foreign/own/{name}.model")
    golden = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    text = path.with_name(path.name + ".txt")
    for each in (path, text) if text.exists() else (path,):
        crf = load_crfpp(each)
        assert crf.classes_.tolist() == golden["labels"]
        for sequence in golden["sequences"]:
            x = [tuple(token) for token in sequence["tokens"]]
            assert crf.predict([x]) == [sequence["labels"]]
            # The tool adds the weights of a token in single precision.
            assert crf.decision_function([x])[0] == pytest.approx(
                -sequence["best_cost"], abs=3e-6
            )
            np.testing.assert_allclose(
                crf.predict_marginals([x])[0], sequence["marginals"], atol=1e-6
            )
            best = crf.predict_kbest([x], len(sequence["nbest"]))[0]
            assert [labels for labels, _ in best] == [
                labels for labels, _ in sequence["nbest"]
            ]


@pytest.mark.parametrize("name", ["crf", "compact", "maxent", "old-header"])
def test_real_models_of_wapiti(corpus_path, name):
    path = corpus_path(f"foreign/own/wapiti-{name}.model")
    golden = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    crf = load_wapiti(path)
    assert crf.classes_.tolist() == golden["labels"]
    for sequence in golden["sequences"]:
        x = [tuple(token) for token in sequence["tokens"]]
        assert crf.predict([x]) == [sequence["labels"]]
        assert crf.predict_posterior([x]) == [sequence["labels_posterior"]]
        assert crf.decision_function([x])[0] == pytest.approx(
            sequence["score"], abs=1e-12
        )
        np.testing.assert_allclose(
            crf.predict_marginals([x])[0], sequence["marginals"], atol=1e-12
        )


# -- writing ---------------------------------------------------------------------------
TOKENS = [
    [("the", "D"), ("dog", "N"), ("ran", "V")],
    [("a", "D"), ("cat", "N")],
    [("cats", "N"), ("ran", "V")],
]
TAGS = [["D", "N", "V"], ["D", "N"], ["N", "V"]]
TEMPLATES = ["U0:%x[0,0]", "U1:%x[-1,0]/%x[0,1]", "U2:%x[ +1, 1 ]", "U3:%x[-2,0]", "B"]
PAIRS = [
    (None, "D"),
    (None, "N"),
    ("D", "N"),
    ("N", "V"),
    ("V", "D"),
    ("N", None),
    ("V", None),
]
SAVERS = {
    "CRF++": (save_crfpp, load_crfpp),
    "CRF++ text": (lambda crf, path: save_crfpp(crf, path, text=True), load_crfpp),
    "Wapiti": (save_wapiti, load_wapiti),
}


@pytest.mark.parametrize("tool", SAVERS)
@pytest.mark.parametrize(
    "tagger",
    [
        L1CRF(TEMPLATES, c1=0.05, random_state=0),
        L1CRF(
            [*TEMPLATES, "B1:%x[0,1]", "B2:%x[-1,0]"],
            c1=0.01,
            constraints=PAIRS,
            random_state=0,
        ),
        StructuredPerceptron(TEMPLATES[:-1], random_state=0, constraints=PAIRS),
        StructuredPerceptron([*TEMPLATES, "B1:%x[0,1]"], random_state=0),
        PassiveAggressiveTagger(TEMPLATES, min_count=2, random_state=0),
        BaggingShuffleAverager(StructuredPerceptron(TEMPLATES), 3, random_state=0),
        ParameterMixer(StructuredPerceptron(TEMPLATES), 2, random_state=0),
        StructuredPerceptron(Patterns(CRFPP_TEMPLATES), random_state=0),
        StructuredPerceptron(
            Patterns(["u:%x[0,0]", "*:%x[-1,1]", "u:%x[-4,0]", "b"], "wapiti"),
            random_state=0,
        ),
    ],
    ids=lambda tagger: type(tagger).__name__,
)
def test_what_is_written_predicts_the_same(tool, tagger, tmp_path):
    tagger = clone(tagger).fit(TOKENS, TAGS)
    save, load = SAVERS[tool]
    save(tagger, tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.classes_.tolist() == tagger.classes_.tolist()
    new = [
        *TOKENS,
        [("the", "N"), ("the", "D"), ("cat", "V"), ("x", "N")],
        [("ran", "N")],
    ]
    assert again.predict(new) == tagger.predict(new)
    tolerance = 1e-5 if tool.startswith("CRF++") else 1e-12
    np.testing.assert_allclose(
        again.decision_function(new), tagger.decision_function(new), atol=tolerance
    )
    if tool != "CRF++ text":  # whose weights are rounded when they are read
        save(again, tmp_path / "twice")
        assert (tmp_path / "twice").read_bytes() == (tmp_path / "model").read_bytes()


def test_from_tool_to_tool(tmp_path):
    for name, data in BYTES.items():
        crf = LOADERS[name](data())
        for tool, (save, load) in SAVERS.items():
            if (name, tool[:5]) == ("Wapiti", "CRF++"):
                with pytest.raises(
                    ValueError, match="no place for a pattern such as 'u:l=%X"
                ):
                    save(crf, tmp_path / "model")
                continue
            save(crf, tmp_path / "model")
            np.testing.assert_allclose(
                load(tmp_path / "model").decision_function(X), crf.decision_function(X)
            )
    lines = ["U0:%x[0,0]", "B"]
    crf = load_crfpp(
        crfpp_text(
            ["A", "B"], lines, [(0, "U0:x"), (2, "B")], [0.0, 1.0, 0.5, 0.0, 0.0, 2.0]
        )
    )
    save_crfsuite(crf, tmp_path / "model")
    assert load_crfsuite(tmp_path / "model").decision_function(
        [[["U0:x"], ["U0:y"]]]
    ) == [3.0]


def test_symbols_of_one_tool_become_those_of_the_other(tmp_path):
    """Beyond four rows Wapiti has one symbol for what CRF++ tells apart."""
    names = [f"U:_B-{k}" for k in range(1, 5)]
    keys, weights = (
        [(2 * k, name) for k, name in enumerate(names)],
        [1.0, 0.0, 2.0, 0.0, 3.0, 0.0, 4.0, 0.0],
    )
    same = load_crfpp(crfpp_text(["A", "B"], ["U:%x[-4,0]"], keys, weights))
    save_wapiti(same, tmp_path / "model")
    again = load_wapiti(tmp_path / "model")
    x = [[(c,) for c in "abcdefgh"]]
    assert again.decision_function(x) == same.decision_function(x) == [10.0]
    save_crfpp(again, tmp_path / "back")
    assert load_crfpp(tmp_path / "back").decision_function(x) == [10.0]


def test_a_token_that_is_spelled_like_a_symbol_of_the_other_tool(tmp_path):
    """Of templates it stays a token in Wapiti, whose symbols are others."""
    tagger = StructuredPerceptron(["U0:%x[-1,0]", "U1:%x[0,0]", "B"], random_state=0)
    x = ["_B-1", "a", "_B-1", "_B+1"]
    tagger.fit([x, ["a", "b"]], [list("XYXX"), list("XY")])
    save_wapiti(tagger, tmp_path / "model")
    again = load_wapiti(tmp_path / "model")
    for new in ([x], [["a", "a"]], [["_B-1", "_B-1"]]):
        assert again.decision_function(new) == pytest.approx(
            tagger.decision_function(new)
        )


@pytest.mark.parametrize(
    ("syntax", "pattern", "write"),
    [("crf++", "U:%x[-6,0]", save_wapiti), ("wapiti", "u:%x[-6,0]", save_crfpp)],
)
def test_patterns_that_read_farther_are_refused(tmp_path, syntax, pattern, write):
    """A name without weight would get the weight of another."""
    crf = L1CRF(Patterns([pattern], syntax)).fit(
        [[(c,) for c in "abcdefgh"]], [list("XYXYXYXY")]
    )
    with pytest.raises(ValueError, match=r"no place for a pattern such as '[Uu]:%x"):
        write(crf, tmp_path / "model")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("tool", SAVERS)
@pytest.mark.parametrize(
    ("tagger", "message"),
    [
        (lambda: StructuredPerceptron(TEMPLATES, order=2).fit(TOKENS, TAGS), "order=2"),
        (
            lambda: L1CRF(["U:%suffix3[0,0]"]).fit(TOKENS, TAGS),
            "functions of tokens such as %suffix3",
        ),
        (
            lambda: L1CRF().fit([[["a"], ["b"]]], [["X", "Y"]]),
            "features that come ready-made",
        ),
        (
            lambda: L1CRF(["U:%x[0,0]"], c1=0.01).fit([["a b", "c"]], [["X", "Y"]]),
            "white space .* '[Uu]:a b'",
        ),
        (
            lambda: L1CRF(["U: %x[0,0]"]).fit([["a", "c"]], [["X", "Y"]]),
            "template .* white space",
        ),
        (
            lambda: L1CRF(TEMPLATES).fit(TOKENS, [["D D", "N", "V"], *TAGS[1:]]),
            "label .* white space",
        ),
        (
            lambda: L1CRF(TEMPLATES).fit(TOKENS, [[1, 2, 3], [1, 2], [2, 3]]),
            "labels that are not str",
        ),
    ],
)
def test_what_the_formats_have_no_place_for_is_refused_by_name(
    tool, tagger, message, tmp_path
):
    with pytest.raises(ValueError, match=message):
        SAVERS[tool][0](tagger(), tmp_path / "model")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize(("save", "farthest"), [(save_crfpp, 8), (save_wapiti, 4)])
def test_rows_far_away(tmp_path, save, farthest):
    save(L1CRF([f"U:%x[-{farthest},0]"]).fit(TOKENS, TAGS), tmp_path / "near")
    with pytest.raises(ValueError, match="reads so far away as"):
        save(L1CRF([f"U:%x[-{farthest + 1},0]"]).fit(TOKENS, TAGS), tmp_path / "model")


@pytest.mark.parametrize("word", ["a" * 4094, "é" * 2047, "a" * 4095, "é" * 2048])
def test_a_long_token_is_read_again_or_refused(word, tmp_path):
    """The limit of the reader is that of the writer; text has none."""
    X, y = [["b", word]], [["X", "Y"]]
    tagger = StructuredPerceptron(["U:%x[0,0]", "B"], random_state=0).fit(X, y)
    save_crfpp(tagger, tmp_path / "text", text=True)
    assert load_crfpp(tmp_path / "text").predict(X) == y
    if len(word.encode()) <= 4094:
        save_crfpp(tagger, tmp_path / "model")
        assert load_crfpp(tmp_path / "model").predict(X) == y
    else:
        with pytest.raises(
            ValueError,
            match="a feature has 4,09. bytes, more than 4,096: 'U:[aé]+' ...; as text",
        ):
            save_crfpp(tagger, tmp_path / "model")
        assert not (tmp_path / "model").exists()


def test_many_long_tokens_that_begin_alike_are_refused(tmp_path):
    X, y = [["a" * 3900 + str(k) for k in range(3000)]], [["Y", "X"] * 1500]
    tagger = StructuredPerceptron(["U:%x[0,0]"], random_state=0, max_iter=1).fit(X, y)
    with pytest.raises(
        ValueError, match="its features are too long: together more than 64 times"
    ):
        save_crfpp(tagger, tmp_path / "model")
