"""Labels in parentheses behind bracketed words, as Rasa writes them."""

import io

import pytest

from skstruct.datasets import read_spans
from skstruct.datasets.formats.head import Head
from skstruct.datasets.formats.table import BY_NAME

MARKDOWN = """## intent:travel
- fly to [Oslo](city) <!-- a town -->
* on my [savings account](account:savings) from [New York]{"entity": "city", "value": "NYC"}
- no entity [here] (or here)

<!-- nothing -->
## synonym:oslo
- Christiania
## regex:zip
- [0-9]{5}
## lookup:currencies
- Yen
## intent:greet
- hello
"""
YAML = """version: "3.1"
nlu:
- intent: travel
  examples: |
    - fly to [Oslo](city)
- synonym: oslo
  examples: |
    - Christiania
- intent: greet
  examples: |
    - hello
"""


def spans(text):
    X, y = read_spans(io.StringIO(text))
    return [
        (x, [(x[s.start : s.end], s.label) for s in found]) for x, found in zip(X, y)
    ]


def test_markdown_of_rasa():
    assert spans(MARKDOWN) == [
        ("fly to Oslo", [("Oslo", "city")]),
        (
            "on my savings account from New York",
            [("savings account", "account"), ("New York", "city")],
        ),
        ("no entity [here] (or here)", []),
        ("hello", []),
    ]


def test_yaml_of_rasa():
    assert spans(YAML) == [("fly to Oslo", [("Oslo", "city")]), ("hello", [])]


def test_lines_without_a_list():
    text = "a table in [Berlin](city) for [two](number)\nfly to [Oslo](city)\n"
    assert spans(text)[0] == (
        "a table in Berlin for two",
        [("Berlin", "city"), ("two", "number")],
    )


def test_an_object_without_entity_is_named():
    text = '- [a](x)\n- [Oslo]{"role": "to"}\n'
    with pytest.raises(ValueError, match='line 2: expected {"entity": LABEL} behind'):
        spans(text)


@pytest.mark.parametrize(
    "lines",
    [
        ["See [the page](https://a.b/c) for more."] * 3,
        ["[[0, 3, 1]]", "[a] (b)"],
        ["# Title", "text"] * 10 + ["one [x](y) only"],
        ["See [one](first), [two](second), [three](third), [four](fourth)."],
        ["See [the page](guide.md) for more."] * 3,
    ],
)
def test_what_is_not_labels_in_brackets(lines):
    assert not BY_NAME["brackets"].look(Head("notes", lines)).is_yes


STORIES = """version: "3.1"
nlu:
- intent: travel
  metadata:
    sentiment: neutral
  examples:
  - text: |
      fly to [Oslo](city)
    metadata:
      tone: glad
  - text: "to [Rome][{\\"entity\\": \\"city\\", \\"role\\": \\"end\\"}]"
- intent: greet
  examples: |
    # said in the morning
    - hello
stories:
- story: one
  steps:
  - intent: travel
  - action: utter_hi
responses:
  utter_hi:
  - text: "Hi!"
""".replace('\\"', '"')


def test_only_examples_of_yaml_are_texts():
    """Keys, metadata, stories and responses are none."""
    assert spans(STORIES) == [
        ("fly to Oslo", [("Oslo", "city")]),
        ("to Rome", [("Rome", "city")]),
        ("hello", []),
    ]


def test_every_line_of_plain_texts_is_one():
    """Also if it looks like a heading of Markdown, or like a key of YAML."""
    text = (
        "to [Oslo](city)\n#now in [Rome](city)\nrules: go [two](number)\n"
        "version: 2 of [Lima](city)\n# a note\n"
    )
    assert [x for x, _ in spans(text)] == [
        "to Oslo",
        "#now in Rome",
        "rules: go two",
        "version: 2 of Lima",
        "# a note",
    ]
    assert spans("version: [2](number)\nnlu: to [Oslo](city)\n")[1][0] == "nlu: to Oslo"


SNIPS = """# lights
---
type: intent
name: lightsOn
slots:
  - name: room
    entity: room
utterances:
  - lights in the [room:room](kitchen) on
  - "[room](attic) please"
"""


def test_labels_of_snips_stand_before_their_words():
    assert spans(SNIPS) == [
        ("lights in the kitchen on", [("kitchen", "room")]),
        ("attic please", [("attic", "room")]),
    ]
    bare = [f"lights in the [room](place{k})" for k in range(9)]
    assert not BY_NAME["brackets"].look(Head("notes", bare)).is_yes


def test_labels_of_any_letters():
    assert spans("in [Oslo](città)\n") == [("in Oslo", [("Oslo", "città")])]


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (
            "[Oslo](home town)",
            r"line 2: expected \[words\]\(label\), a label of letters",
        ),
        ("[Oslo](1st)", "got '.Oslo..1st.'"),
        (
            '[Oslo][{"entity": "a"}, {"entity": "b"}]',
            "two labels on one span: 'a', 'b'",
        ),
        ('[Oslo][{"entity": "a"', "line 2: expected"),
    ],
)
def test_what_looks_like_a_label_is_one_or_an_error(written, message):
    """It does not stay in the text."""
    with pytest.raises(ValueError, match=message):
        spans(f"fly to [Rome](city)\nfly to {written}\n")


def test_addresses_stay():
    text = "fly to [Rome](city)\nsee [this](https://x.org/a) and [that](b.html)\n"
    assert spans(text)[1] == ("see [this](https://x.org/a) and [that](b.html)", [])
