"""Inspection: the names are CRF++'s expansions, and the parts sum to the score of the
path.
"""

import re
from collections import Counter

import numpy as np
import pytest
from inside import model_of
from sklearn.exceptions import NotFittedError

from skstruct import PassiveAggressiveTagger, StructuredPerceptron
from skstruct._core import store as store_module
from skstruct.datasets import make_hmm_sequences
from skstruct.features.tokens import column_function
from skstruct.inspection import (
    explain,
    feature_weights,
    features_of,
    transition_weights,
)

# Every slot of a compound, an identifier that three positions share, a repeated line,
# atoms out of order, functions, a constant, literal text behind the last macro, and
# transitions that look.
TEMPLATES = [
    "U00:%x[-2,0]",
    "U01:%x[-1,0]",
    "U02:%x[0,0]",
    "U03:%x[2,0]",
    "U04:%x[-1,0]/%x[0,0]",
    "U05:%x[0,0]/%x[1,0]",
    "U06:%x[1,0]|%x[-1,1]!",
    "U07:%x[-1,0]/%x[0,0]/%x[1,1]",
    "Ubag:%x[-1,0]",
    "Ubag:%x[0,0]",
    "Ubag:%x[1,0]",
    "U08:%x[0,1]",
    "U08:%x[0,1]",
    "U09:%suffix3[0,0]",
    "U10:%shape[0,0]/%prefix1[-1,0]",
    "U11",
    "U12:%x[0,0]/%x[0,0]",
    "B",
    "B01:%x[0,1]",
    "B02:%x[-1,0]/%x[0,0]",
]


def expand(templates, sequence, t, edge=False):
    """The expansions of the templates at a token, straight from the definition."""
    T, names = len(sequence), []

    def value(macro):
        function, row, column = macro[1], t + int(macro[2]), int(macro[3])
        if row < 0:
            return f"_B{row}"
        if row >= T:
            return f"_B+{row - T + 1}"
        return column_function(function)(sequence[row][column])

    for line in templates:
        if line.startswith("B") == edge and line != "B":
            names.append(re.sub(r"%(\w+)\[(-?\d+),(\d+)\]", value, line))
    return names


def corpus(n=25, seed=0):
    X, y = make_hmm_sequences(
        n, n_labels=4, n_words=60, noise=0.2, max_length=9, random_state=seed
    )
    X[0], y[0] = X[0][:1], y[0][:1]
    X = [[(f"{word}é", word[-1]) for word in sequence] for sequence in X]
    return X, y


def bags(X):
    """The same corpus as dictionaries of str, bool, numbers, lists and dicts."""
    return [
        [
            {
                "word": word,
                "even": t % 2 == 0,
                "position": t / 7,
                "length": -len(word),
                "near": [word[:1], word[-1:]],
                "nested": {"x": 0.5, "y\n": True},
            }
            for t, (word, _) in enumerate(sequence)
        ]
        for sequence in X
    ]


@pytest.fixture
def store_sparsely(monkeypatch):
    monkeypatch.setattr(store_module, "DENSE_WEIGHTS", 0)
    monkeypatch.setattr(store_module, "FEW_LABELS", 0)


def check_sums(tagger, X):
    scores = tagger.decision_function(X)
    for sequence, score, ranked in zip(X, scores, tagger.predict_kbest(X, 4)):
        explanation = explain(tagger, sequence)
        assert explanation.labels == tagger.predict([sequence])[0]
        assert explanation.score == pytest.approx(score, rel=1e-9, abs=1e-12)
        for labels, path_score in ranked:
            explanation = explain(tagger, sequence, labels)
            assert explanation.labels == labels
            assert explanation.score == pytest.approx(path_score, rel=1e-9, abs=1e-12)
            parts = sum(token.score for token in explanation.tokens)
            assert parts == pytest.approx(path_score, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("min_count", [1, 3])
@pytest.mark.parametrize("estimator", [StructuredPerceptron, PassiveAggressiveTagger])
def test_parts_sum_to_the_score_with_templates(estimator, min_count):
    X, y = corpus()
    tagger = estimator(TEMPLATES, min_count=min_count, max_iter=5, random_state=0).fit(
        X[:15], y[:15]
    )
    check_sums(tagger, X)


def test_parts_sum_to_the_score_with_sparse_storage(store_sparsely):
    X, y = corpus()
    tagger = StructuredPerceptron(TEMPLATES, max_iter=5, random_state=0).fit(
        X[:15], y[:15]
    )
    assert model_of(tagger).nodes.sparse and model_of(tagger).edges.sparse
    check_sums(tagger, X)


def test_parts_sum_to_the_score_with_bags():
    X, y = corpus()
    tagger = StructuredPerceptron(max_iter=5, random_state=0).fit(bags(X[:15]), y[:15])
    check_sums(tagger, bags(X))


@pytest.mark.parametrize("lines", [["U0:%x[0,0]"], ["B"], ["B01:%x[0,0]"], ["U", "B"]])
def test_parts_sum_to_the_score_with_few_templates(lines):
    X, y = corpus()
    check_sums(StructuredPerceptron(lines, random_state=0).fit(X, y), X)


def test_parts_sum_to_the_score_after_growth():
    X, y = corpus()
    tagger = PassiveAggressiveTagger(TEMPLATES, random_state=0).fit(X[:10], y[:10])
    y = [[f"A{label}" if label == "L3" else label for label in labels] for labels in y]
    tagger.partial_fit(X[10:20], y[10:20])
    assert "AL3" in tagger.classes_
    check_sums(tagger, X)


def test_features_are_the_expansions_of_the_templates():
    X, y = corpus()
    tagger = StructuredPerceptron(TEMPLATES, max_iter=1).fit(X, y)
    for sequence in X:
        for t, names in enumerate(features_of(tagger, sequence)):
            assert Counter(names) == Counter(expand(TEMPLATES, sequence, t))


def test_unknown_features_are_left_out():
    X, y = corpus()
    lines = [line for line in TEMPLATES if not line.startswith(("Ubag", "U08"))]
    tagger = StructuredPerceptron(lines, max_iter=1, min_count=3).fit(X[:15], y[:15])
    seen = Counter(
        n for s in X[:15] for t in range(len(s)) for n in expand(lines, s, t)
    )
    for sequence in X:
        for t, names in enumerate(features_of(tagger, sequence)):
            known = [name for name in expand(lines, sequence, t) if seen[name] >= 3]
            assert Counter(names) == Counter(known)


@pytest.mark.parametrize("min_count", [1, 2])
def test_positions_that_share_an_identifier(min_count):
    X, y = corpus()
    lines = ["U:%x[-1,0]/%x[0,0]", "U:%x[0,0]/%x[1,0]", "U1:%x[-1,0]", "U1:%x[0,0]"]
    tagger = StructuredPerceptron(lines, max_iter=1, min_count=min_count).fit(X, y)
    seen = Counter(n for s in X for t in range(len(s)) for n in expand(lines, s, t))
    for sequence in X:
        for t, names in enumerate(features_of(tagger, sequence)):
            known = [
                name for name in expand(lines, sequence, t) if seen[name] >= min_count
            ]
            assert Counter(names) == Counter(known)


def test_transitions_are_named_by_labels_and_observation():
    X, y = corpus()
    tagger = StructuredPerceptron(TEMPLATES, max_iter=3, random_state=0).fit(X, y)
    explanation = explain(tagger, X[1], y[1])
    assert explanation.tokens[0].transitions == []
    for t in range(1, len(X[1])):
        arrow = f"transition {y[1][t - 1]} -> {y[1][t]}"
        expected = [
            arrow,
            *(
                f"{arrow} given {name}"
                for name in expand(TEMPLATES, X[1], t, edge=True)
            ),
        ]
        assert [name for name, _ in explanation.tokens[t].transitions] == expected


@pytest.mark.parametrize("kind", ["templates", "sparse", "bags"])
def test_weights_by_name_rebuild_every_contribution(kind, request):
    if kind == "sparse":
        request.getfixturevalue("store_sparsely")
    X, y = corpus()
    X = bags(X) if kind == "bags" else X
    tagger = StructuredPerceptron(
        "auto" if kind == "bags" else TEMPLATES, max_iter=3, random_state=0
    ).fit(X[:15], y[:15])
    everything = feature_weights(tagger)
    by_name = {(feature, label): weight for feature, label, weight in everything}
    assert len(by_name) == len(everything)
    assert all(weight != 0.0 and type(weight) is float for weight in by_name.values())
    sizes = [abs(weight) for _, _, weight in everything]
    assert sizes == sorted(sizes, reverse=True)
    for sequence in X:
        explanation = explain(tagger, sequence)
        for t, token in enumerate(explanation.tokens):
            assert [name for name, _ in token.features] == features_of(
                tagger, sequence
            )[t]
            for name, contribution in token.features:
                weight = by_name.get((name, token.label), 0.0)
                value = 1.0
                if kind == "bags":
                    value = {
                        "position": t / 7,
                        "length": sequence[t]["length"],
                        "nested:x": 0.5,
                    }.get(name, 1.0)
                assert contribution == pytest.approx(value * weight, rel=1e-12)


def test_feature_weights_by_label_and_top():
    X, y = corpus()
    tagger = StructuredPerceptron(TEMPLATES, max_iter=3, random_state=0).fit(X, y)
    everything = feature_weights(tagger)
    assert feature_weights(tagger, top=7) == everything[:7]
    mine = feature_weights(tagger, label="L2", top=5)
    assert mine == [w for w in everything if w.label == "L2"][:5]
    with pytest.raises(ValueError, match="'no such' is not a label"):
        feature_weights(tagger, label="no such")
    for top in (0, -1, 2.0, True, "3"):
        with pytest.raises(ValueError, match="top must be"):
            feature_weights(tagger, top=top)


def test_transition_weights_are_those_of_the_explanation():
    X, y = corpus()
    tagger = StructuredPerceptron(TEMPLATES, max_iter=3, random_state=0).fit(X, y)
    weights, ids = (
        transition_weights(tagger),
        {v: k for k, v in enumerate(tagger.classes_)},
    )
    assert weights.shape == (4, 4) and weights.any()
    for token, labels in zip(
        explain(tagger, X[2], y[2]).tokens[1:], zip(y[2], y[2][1:])
    ):
        assert token.transitions[0][1] == weights[ids[labels[0]], ids[labels[1]]]
    weights[:] = 99.0  # a copy
    assert not (transition_weights(tagger) == 99.0).any()
    without = StructuredPerceptron(["U00:%x[0,0]"], random_state=0).fit(X, y)
    assert not transition_weights(without).any()


def test_runner_up_is_the_best_labelling_with_another_label():
    X, y = corpus()
    tagger = StructuredPerceptron(TEMPLATES, max_iter=2, random_state=0).fit(
        X[:10], y[:10]
    )
    labels = tagger.classes_.tolist()
    for sequence in X[10:16]:
        for given in (None, [labels[t % 4] for t in range(len(sequence))]):
            explanation = explain(tagger, sequence, given)
            for t, token in enumerate(explanation.tokens):
                scores = {}
                for label in set(labels) - {token.label}:
                    allowed = [label if u == t else None for u in range(len(sequence))]
                    ((_, scores[label]),) = tagger.predict_kbest(
                        [sequence], 1, [allowed]
                    )[0]
                assert token.margin == pytest.approx(
                    explanation.score - max(scores.values()), abs=1e-9
                )
                assert scores[token.runner_up] == pytest.approx(max(scores.values()))


def test_constraints_and_one_label():
    X = [["a", "b", "c"], ["a", "c"]]
    y = [["B-X", "I-X", "O"], ["B-X", "O"]]
    tagger = StructuredPerceptron(
        ["U:%x[0,0]", "B"], constraints="BIO", random_state=0
    ).fit(X, y)
    check_sums(tagger, X)
    broken = explain(tagger, X[0], ["I-X", "O", "I-X"])
    assert broken.score == -np.inf
    assert [
        name for name, value in broken.tokens[0].transitions if value == -np.inf
    ] == ["constraint: I-X cannot start a sequence"]
    assert "constraint: I-X cannot follow O" in [
        name for name, _ in broken.tokens[2].transitions
    ]
    assert "-inf" in str(broken)
    alone = StructuredPerceptron(["U:%x[0,0]", "B"]).fit([["a", "b"]], [["A", "A"]])
    token = explain(alone, ["a"]).tokens[0]
    assert token.runner_up is None and token.margin == np.inf
    assert "no other label is possible" in str(explain(alone, ["a"]))


def test_labels_may_be_left_to_the_model():
    X, y = corpus()
    tagger = StructuredPerceptron(TEMPLATES, random_state=0).fit(X, y)
    given = [None] * len(X[3])
    given[1] = "L0"
    assert (
        explain(tagger, X[3], given).labels
        == tagger.predict([X[3]], allowed=[given])[0]
    )


def test_errors():
    X, y = corpus()
    tagger = StructuredPerceptron(TEMPLATES, random_state=0)
    for function in (feature_weights, transition_weights):
        with pytest.raises(NotFittedError):
            function(tagger)
    for function in (explain, features_of):
        with pytest.raises(NotFittedError):
            function(tagger, X[0])
    tagger.fit(X, y)
    with pytest.raises(ValueError, match="as many labels as tokens"):
        explain(tagger, X[1], ["L0"])
    with pytest.raises(ValueError, match="position 0.*'no such'"):
        explain(tagger, X[0], ["no such"])
    with pytest.raises(ValueError, match="position 0.*list"):
        explain(tagger, X[0], [["L0"]])
    with pytest.raises(ValueError, match="list of tokens"):
        explain(tagger, "a string")
    with pytest.raises(ValueError, match="position 0"):
        features_of(tagger, [{"a": 1}])


def test_empty_sequence():
    X, y = corpus()
    tagger = StructuredPerceptron(TEMPLATES, random_state=0).fit(X, y)
    explanation = explain(tagger, [])
    assert explanation.score == 0.0 and explanation.labels == explanation.tokens == []
    assert features_of(tagger, []) == []
    assert str(explanation) == "score +0.000"


def test_text_shows_the_largest_parts_on_single_lines():
    X = [[["a\nb", "weiß", "\t"], ["字"]], [["a\nb"], ["字", "字"]]]
    tagger = StructuredPerceptron(random_state=0).fit(X, [["A\n", "B"], ["B", "A\n"]])
    assert features_of(tagger, X[0])[0] == ["a\nb", "weiß", "\t"]
    assert "a\nb" in {feature for feature, _, _ in feature_weights(tagger)}
    text = str(explain(tagger, X[0]))
    lines = text.splitlines()
    assert lines[0].startswith("score ") and "A\\n" in text and "字" in text
    assert sum(line.startswith(("0 ", "1 ")) for line in lines) == 2
    assert all(line.startswith(("score", "0 ", "1 ", "    ")) for line in lines)
    check_sums(tagger, X)
    X, y = corpus()
    explanation = explain(
        StructuredPerceptron(TEMPLATES, random_state=0).fit(X, y), X[1]
    )
    shorter = explanation.describe(top=2)
    assert len(shorter) < len(str(explanation)) and " more" in shorter


def test_duplicates_in_a_bag_count_twice():
    tagger = StructuredPerceptron(random_state=0).fit(
        [[["a", "a"], ["b"]]], [["A", "B"]]
    )
    assert features_of(tagger, [["a", "a", "c"]]) == [["a", "a"]]
    check_sums(tagger, [[["a", "a"], ["b"]]])


def test_integer_labels():
    tagger = StructuredPerceptron(["U:%x[0,0]", "B"], random_state=0).fit(
        [["a", "b"]], [[3, 1]]
    )
    explanation = explain(tagger, ["a", "b"])
    assert explanation.labels == [3, 1] and type(explanation.tokens[0].label) is int
    assert {label for _, label, _ in feature_weights(tagger)} <= {1, 3}
    assert "transition 3 -> 1" in [
        name for name, _ in explanation.tokens[1].transitions
    ]
