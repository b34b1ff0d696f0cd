"""Templates that read accessor variety or lexicons: values, names, and whose statistics
are read.
"""

import pytest
from inside import model_of, variety_of

from skstruct import FeatureTemplates, StructuredPerceptron
from skstruct._data.inputs import as_tokens, flatten, lengths_of, offsets_of
from skstruct.features.contexts import context_values
from skstruct.features.presets import PRESETS
from skstruct.features.template_encoder import TemplateEncoder
from skstruct.inspection import explain, feature_weights, features_of

X = [list(x) for x in ["门把手", "小门把大手", "手门"]]
Y = [list(y) for y in ["BES", "SBESS", "SS"]]


def fit(lines, lexicons=None, X=X, Y=Y, **parameters):
    templates = FeatureTemplates(lines, lexicons)
    return StructuredPerceptron(templates, random_state=0, **parameters).fit(X, Y)


def strings(encoder, X):
    """The values of each function by token."""
    token = offsets_of(lengths_of(X))
    ids = encoder.contexts.ids([flatten(X)], token)
    return {
        name: [context_values(name)[v] for v in values]
        for (name, _), values in ids.items()
    }


def test_values_of_accessor_variety():
    """门把 follows a start and 小, and precedes 手 and 大; no other string of two is as
    varied.
    """
    encoder = TemplateEncoder(
        FeatureTemplates(["U1:%av1[0,0]", "U2:%av2[0,0]", "U3:%av3[0,0]"])
    )
    encoder.encode(as_tokens(X), grow=True)
    found = strings(encoder, [list("门把手"), list("把门"), list("x门把")])
    assert found["av2"] == ["B1", "E1", "0", "0", "0", "0", "B1", "E1"]
    assert found["av3"] == ["0"] * 8
    # 门: 小, 手 and a start before it, 把 and an end behind it. 把: only 门 before it. 手 is
    # like 门.
    assert found["av1"] == ["B1", "0", "B1", "0", "B1", "0", "B1", "0"]


def test_the_place_in_the_most_varied_string():
    text = [list(x) for x in ["1abc2", "3abc4", "5abc6", "7abc8", "0bc9", "abc"]]
    encoder = TemplateEncoder(FeatureTemplates(["U3:%av3[0,0]", "U2:%av2[0,0]"]))
    encoder.encode(as_tokens(text), grow=True)
    found = strings(encoder, [list("xabcx")])
    assert found["av3"] == ["0", "B2", "I2", "E2", "0"]
    assert found["av2"] == ["0", "0", "B1", "E1", "0"]
    assert found["av1"] == ["0"] * 5


def test_features_and_their_names():
    tagger = fit(
        ["U1:%av2[-1,0]/%x[0,0]", "U2:%lex_w[0,0]", "B"], {"w": ["门把"]}, max_iter=3
    )
    assert list(map(sorted, features_of(tagger, X[0]))) == [
        ["U1:_B-1/门", "U2:B"],
        ["U1:B1/把", "U2:E"],
        ["U1:E1/手", "U2:O"],
    ]
    names = {name for name, _, _ in feature_weights(tagger)}
    assert names <= {
        name for x in X for token in features_of(tagger, x) for name in token
    }
    for x in X:
        assert explain(tagger, x).score == pytest.approx(
            tagger.decision_function([x])[0]
        )


def test_transitions_may_read_them():
    tagger = fit(
        ["U1:%x[0,0]", "B", "B1:%av2[0,0]", "B2:%lex_w[0,0]"],
        {"w": ["门把"]},
        max_iter=3,
    )
    assert model_of(tagger).encoder.edges.n_rows > 1
    names = [
        name for token in explain(tagger, X[0]).tokens for name, _ in token.transitions
    ]
    assert any("B1:" in name for name in names) and any(
        "B2:E" in name for name in names
    )


def test_columns_have_statistics_of_their_own():
    rows = [[(a, b) for a, b in zip(x, reversed(x))] for x in X]
    tagger = fit(
        ["U1:%av2[0,0]", "U2:%av3[0,1]", "U3:%lex_w[0,1]"], {"w": ["手把"]}, rows
    )
    trained = model_of(tagger).encoder.contexts.trained
    assert sorted(trained) == [0, 1]
    assert variety_of(trained[0], "门把") == variety_of(trained[1], "把门") == 2
    assert any("U3:B" in token for token in features_of(tagger, rows[0]))


def test_a_lexicon_helps():
    """Names that training never saw, but the gazetteer knows."""
    X = [["in", name, "now"] for name in ("Rome", "Oslo", "Bonn")] + [
        ["in", "fact", "now"]
    ] * 3
    Y = [["O", "LOC", "O"]] * 3 + [["O", "O", "O"]] * 3
    lines = ["U1:%x[0,0]", "U2:%lex_place[0,0]", "B"]
    tagger = fit(lines, {"place": ["Rome", "Oslo", "Bonn", "New York", "Lima"]}, X, Y)
    assert tagger.predict([["in", "Lima", "now"], ["in", "sum", "now"]]) == [
        ["O", "LOC", "O"],
        ["O"] * 3,
    ]


def test_without_statistics():
    encoder = TemplateEncoder(FeatureTemplates(["U:%av2[0,0]"]))
    with pytest.raises(
        ValueError, match="no statistics of any text yet: fit the model"
    ):
        encoder.encode(as_tokens([["a"]]), grow=False)
    encoder.encode(as_tokens([[]]), grow=False)


def test_statistics_stay_when_the_encoder_grows():
    encoder = TemplateEncoder(FeatureTemplates(["U:%av2[0,0]", "B"]))
    encoder.encode(as_tokens(X), grow=True)
    before = encoder.contexts.trained
    twin = encoder.copy()
    twin.encode(as_tokens([["b", "c"]]), grow=True)
    assert twin.contexts.trained is before and encoder.contexts.trained is before


@pytest.mark.parametrize(
    "line", ["U:%av0[0,0]", "U:%av5[0,0]", "U:%av[0,0]", "U:%lex[0,0]", "U:%lex_[0,0]"]
)
def test_unknown_functions(line):
    with pytest.raises(ValueError, match="unknown function .* av4, lex_NAME"):
        FeatureTemplates([line])


def test_char_av_is_table_1_of_the_paper():
    """Characters from -1 to 2, pairs from (-2, -1) to (1, 2), tag bigram, character
    type, AV up to 4.
    """
    macros = [line.partition(":")[2] for line in PRESETS["char-av"]]
    assert macros == [
        *(f"%x[{o},0]" for o in (-1, 0, 1, 2)),
        *(f"%x[{o},0]/%x[{o + 1},0]" for o in (-2, -1, 0, 1)),
        "%type[0,0]",
        *(f"%av{n}[0,0]" for n in (2, 3, 4)),
        "",
    ]
