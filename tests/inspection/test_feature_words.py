"""Names of features in words, by the templates of a model."""

import pytest
from inside import TOKEN_FUNCTIONS

from skstruct import StructuredPerceptron
from skstruct.features.presets import PRESETS
from skstruct.inspection import explain
from skstruct.inspection.feature_words import in_words, templates_of

TEXT = templates_of(PRESETS["text"])


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Ushape0+1:Xxx", "shape of the next word = Xxx"),
        ("Ux0-2:the", "the word 2 before = the"),
        ("Usuffix1:a", "last character of this word = a"),
        ("Usuffix3-1:ria", "last 3 characters of the word before = ria"),
        (
            "Ushapes+1:Xxx/1/Xxx",
            "shape of this word = Xxx, white space before the next word = a space, "
            "shape of the next word = Xxx",
        ),
        ("Ux0-1:_B-1", "the word before = (before the beginning)"),
    ],
)
def test_presets(name, words):
    assert in_words(name, TEXT) == f"{words} [{name}]"


def test_templates_of_ones_own_and_what_is_none():
    own = templates_of(["Ux0+0:%x[1,0]", "B"])
    assert in_words("Ux0+0:dog", own) == "the next word = dog [Ux0+0:dog]"
    for name in "transition A -> B", "U99:dog", "bias", "Ux0-1_2:a/b/c":
        assert in_words(name, {**own, **TEXT} if "_2" in name else own) == name
    columns = templates_of(PRESETS["word-tag"])
    assert in_words("Ux1+0:NN", columns) == "column 1 of this word = NN [Ux1+0:NN]"


def test_every_template_of_every_preset_has_words():
    for lines in PRESETS.values():
        templates = templates_of(lines)
        for name, template in templates.items():
            if name.startswith("U"):
                read = "/".join("a" for _ in range(template.count("%")))
                assert in_words(f"{name}:{read}", templates).endswith("]")


@pytest.mark.parametrize("function", sorted(TOKEN_FUNCTIONS) + ["prefix2", "suffix3"])
def test_every_function_of_a_token_has_words(function):
    words = in_words("U0:a", {"U0": f"%{function}[0,0]"})
    assert words.endswith(" = a [U0:a]"), (
        f"skstruct/inspection/feature_words.py: describe {function} in _FUNCTIONS"
    )


def test_explanations_speak_so():
    X, y = [["the", "dog"], ["a", "cat"]], [["D", "N"], ["D", "N"]]
    found = explain(StructuredPerceptron("word", random_state=0).fit(X, y), X[0])
    assert "shape of this word = xx [Ushape:xx]" in found.describe(50)
    assert "this word = the [Ux0+0:the]" in found.to_html()
    assert any(name == "Ushape:xx" for name, _ in found.tokens[0].features)
