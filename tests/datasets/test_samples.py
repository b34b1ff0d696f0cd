"""The embedded samples are what they claim to be: sizes, label schemes, trees; and the
loaders agree.
"""

from importlib import resources

import pytest

from skstruct.datasets import (
    load_chunking,
    load_entities,
    load_parsing,
    load_sample,
    load_segmentation,
    load_tagging,
    read_columns,
)


def load(language):
    file = f"sample_{language}.txt"
    if not resources.files("skstruct.datasets").joinpath(file).is_file():
        pytest.skip(f"skstruct/datasets/{file} does not exist")
    return load_sample(language)


@pytest.fixture(scope="module")
def zh():
    return load("zh")


@pytest.fixture(scope="module")
def en():
    return load("en")


def described_tags(description):
    """All words of the description, with and without the brackets and commas around
    some tags.
    """
    return set(description.split()) | set(
        description.replace("(", " ").replace(",", " ").split()
    )


def assert_aligned(sample, columns):
    first = sample[columns[0]]
    assert 140 <= len(first) <= 170
    for column in columns:
        assert type(sample[column]) is list
        assert [len(sentence) for sentence in sample[column]] == [
            len(sentence) for sentence in first
        ]
        assert all(type(sentence) is list and sentence for sentence in sample[column])
    assert len(sample.DESCR) > 100 and "\t" not in sample.DESCR
    # Sentences that occur twice would leak from training to test parts.
    assert len({tuple(sentence) for sentence in first}) == len(first)


def assert_clean(values):
    for value in values:
        assert type(value) is str and value and value == value.strip()
        assert not any(c.isspace() for c in value)


def items(sentences):
    return [item for sentence in sentences for item in sentence]


def test_zh_columns(zh):
    assert set(zh) == {"words", "tags", "text", "DESCR"}
    assert_aligned(zh, ["words", "tags"])
    assert_clean(items(zh.words) + items(zh.tags))


def test_zh_words_spell_the_text(zh):
    assert len(zh.text) == len(zh.words)
    for text, words in zip(zh.text, zh.words):
        assert type(text) is str
        assert text == "".join(words)


def test_zh_tags_are_described_and_used(zh):
    tags = set(items(zh.tags))
    assert all(tag.isascii() and tag.isupper() for tag in tags)
    assert tags <= described_tags(zh.DESCR)
    assert {"NN", "NR", "VV", "PU"} <= tags


def test_zh_has_words_of_several_lengths_and_ends_sentences(zh):
    lengths = {len(word) for word in items(zh.words)}
    assert {1, 2, 3} <= lengths
    assert all(tags[-1] == "PU" for tags in zh.tags)


def test_zh_punctuation_is_tagged_as_such(zh):
    for word, tag in zip(items(zh.words), items(zh.tags)):
        assert (tag == "PU") == (not any(c.isalnum() for c in word)), (word, tag)


def test_en_columns(en):
    assert set(en) == {
        "tokens",
        "pos",
        "chunks",
        "entities",
        "heads",
        "labels",
        "DESCR",
    }
    assert_aligned(en, ["tokens", "pos", "chunks", "entities", "heads", "labels"])
    columns = (en.tokens, en.pos, en.chunks, en.entities, en.labels)
    assert_clean(value for column in columns for value in items(column))
    assert {type(head) for head in items(en.heads)} == {int}


@pytest.mark.parametrize("column", ["chunks", "entities"])
def test_en_bio_is_well_formed(en, column):
    types = set()
    for tokens, labels in zip(en.tokens, en[column]):
        before = "O"
        for label in labels:
            assert label == "O" or label[:2] in ("B-", "I-") and label[2:], (
                tokens,
                label,
            )
            if label.startswith("I-"):
                assert before != "O" and before[2:] == label[2:], (
                    tokens,
                    before,
                    label,
                )
            types.add(label[2:])
            before = label
    assert types - {""} <= described_tags(en.DESCR)
    assert len(types) > 3


def test_en_pos_tags_and_relations_are_described(en):
    described = described_tags(en.DESCR)
    assert set(items(en.pos)) <= described
    assert set(items(en.labels)) <= described


def test_en_punctuation_is_outside_of_chunks_and_entities(en):
    for tag, chunk, entity in zip(items(en.pos), items(en.chunks), items(en.entities)):
        if tag in (",", ".", ":", "``", "''"):
            assert chunk == entity == "O"


def test_en_trees(en):
    for tokens, heads, labels in zip(en.tokens, en.heads, en.labels):
        n = len(heads)
        assert all(0 <= head <= n for head in heads), tokens
        assert heads.count(0) == 1, tokens
        # The root and nothing else bears the relation root.
        assert [head == 0 for head in heads] == [label == "root" for label in labels], (
            tokens
        )
        for i in range(1, n + 1):
            seen = set()
            while i:
                assert i not in seen, f"a cycle in {tokens}"
                seen.add(i)
                i = heads[i - 1]


def test_en_trees_are_projective(en):
    for tokens, heads in zip(en.tokens, en.heads):
        # Arcs from the root at position 0 count too: nothing may span the root's child.
        arcs = [(min(i, head), max(i, head)) for i, head in enumerate(heads, start=1)]
        for a, b in arcs:
            assert not any(a < c < b < d for c, d in arcs), (
                f"{tokens}: an arc crosses {a}-{b}"
            )


def test_loaders_agree_with_the_samples(zh, en):
    assert load_segmentation() == (zh.text, zh.words)
    assert load_tagging("zh") == (zh.words, zh.tags)
    assert load_tagging() == load_tagging("en") == (en.tokens, en.pos)
    pairs = [list(zip(tokens, tags)) for tokens, tags in zip(en.tokens, en.pos)]
    assert load_chunking() == (pairs, en.chunks)
    assert load_entities() == (pairs, en.entities)
    arcs = [list(zip(heads, labels)) for heads, labels in zip(en.heads, en.labels)]
    assert load_parsing() == (pairs, arcs)


@pytest.mark.parametrize(
    ("language", "columns"), [("zh", ["words", "tags"]), ("en", ["tokens", "pos"])]
)
def test_the_public_reader_reads_the_same(language, columns):
    sample = load(language)
    with resources.as_file(
        resources.files("skstruct.datasets") / f"sample_{language}.txt"
    ) as path:
        sentences = read_columns(path, separator="\t", comment="# ")
    for k, column in enumerate(columns):
        assert [[token[k] for token in sentence] for sentence in sentences] == sample[
            column
        ]


def test_each_call_returns_new_lists(zh):
    load_sample("zh").words[0][0] = "changed"
    assert load_sample("zh").words == zh.words


@pytest.mark.parametrize("language", ["de", None, "ZH", ["zh"]])
def test_unknown_language(language):
    with pytest.raises(ValueError, match=r"language must be one of 'zh', 'en'; got"):
        load_sample(language)
    with pytest.raises(ValueError, match="language"):
        load_tagging(language)
