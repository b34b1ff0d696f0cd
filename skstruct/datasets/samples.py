"""The two embedded samples: a Chinese and an English corpus of about 150 sentences each.

Small real-looking data that is always there, for the README, the examples, doctests and tests;
too small for figures about accuracy. A sample is a text file in this package, one token a line in
tab-separated columns, an empty line after each sentence, comments (its description) at the top.
"""

from __future__ import annotations

from importlib import resources
from io import StringIO
from typing import Any, Literal

from sklearn.utils import Bunch

from ..formats.readers import read_columns

# Language -> names of the file's columns, as the fields of the Bunch are called.
_COLUMNS = {
    "zh": ("words", "tags"),
    "en": ("tokens", "pos", "chunks", "entities", "heads", "labels"),
}


def load_sample(language: Literal["zh", "en"] = "zh") -> Any:
    """Load an embedded sample, all its columns.

    Parameters
    ----------
    language : {"zh", "en"}, default="zh"
        Chinese, with words and their tags, or English, with part-of-speech tags, chunks, named
        entities and dependency trees.

    Returns
    -------
    sample : sklearn.utils.Bunch
        Every field but ``DESCR`` is a list with one item a sentence. For ``"zh"``:

        words : list of list of str
            The words of each sentence.
        tags : list of list of str
            The part of speech of each word.
        text : list of str
            The raw sentences, which are the words run together.

        For ``"en"``:

        tokens, pos : list of list of str
            The tokens of each sentence and their parts of speech.
        chunks, entities : list of list of str
            Base phrases and named entities as BIO labels (``B-NP``, ``I-NP``, ``O``).
        heads : list of list of int
            The head of each token, counted from 1; 0 is the root.
        labels : list of list of str
            The dependency relation of each token to its head.

        For both:

        DESCR : str
            Where the sample comes from and what its labels mean.

    Raises
    ------
    ValueError
        If `language` is neither.

    Examples
    --------
    >>> sample = load_sample("zh")
    >>> sample.text[0] == "".join(sample.words[0])
    True
    >>> sorted(load_sample("en"))
    ['DESCR', 'chunks', 'entities', 'heads', 'labels', 'pos', 'tokens']
    """
    if language not in list(_COLUMNS):
        raise ValueError(f"language must be one of {list(_COLUMNS)}, got {language!r}")
    columns = _COLUMNS[language]
    text = resources.files(__package__).joinpath(f"sample_{language}.txt").read_text(encoding="utf-8")
    description = "\n".join(line[2:] for line in text.split("\n") if line.startswith("# "))
    sentences = read_columns(StringIO(text), separator="\t", comment="# ")
    fields = {
        column: [[token[k] for token in sentence] for sentence in sentences]
        for k, column in enumerate(columns)
    }
    if language == "zh":
        fields["text"] = ["".join(words) for words in fields["words"]]
    else:
        fields["heads"] = [[int(head) for head in heads] for heads in fields["heads"]]
    return Bunch(**fields, DESCR=description)


def load_segmentation() -> tuple[list[str], list[list[str]]]:
    """Load the Chinese sample for word segmentation.

    Returns
    -------
    X : list of str
        Raw sentences.
    y : list of list of str
        Their words.

    Examples
    --------
    >>> X, y = load_segmentation()
    >>> X == ["".join(words) for words in y]
    True
    """
    sample = load_sample("zh")
    return sample.text, sample.words


def load_tagging(language: Literal["zh", "en"] = "en") -> tuple[list[list[str]], list[list[str]]]:
    """Load a sample for part-of-speech tagging.

    Parameters
    ----------
    language : {"en", "zh"}, default="en"
        Which sample.

    Returns
    -------
    X : list of list of str
        Tokens.
    y : list of list of str
        Their tags.

    Examples
    --------
    >>> X, y = load_tagging()
    >>> len(X[0]) == len(y[0])
    True
    """
    sample = load_sample(language)
    return (sample.words, sample.tags) if language == "zh" else (sample.tokens, sample.pos)


def load_chunking() -> tuple[list[list[tuple[str, str]]], list[list[str]]]:
    """Load the English sample for chunking.

    Returns
    -------
    X : list of list of (str, str)
        Tokens as (form, part of speech).
    y : list of list of str
        Chunks as BIO labels.

    Examples
    --------
    >>> X, y = load_chunking()
    >>> {label[0] for labels in y for label in labels} == set("BIO")
    True
    """
    sample = load_sample("en")
    return _pair(sample.tokens, sample.pos), sample.chunks


def load_entities() -> tuple[list[list[str]], list[list[str]]]:
    """Load the English sample for named-entity recognition.

    Returns
    -------
    X : list of list of (str, str)
        Tokens as (form, part of speech).
    y : list of list of str
        Entities as BIO labels.

    Examples
    --------
    >>> X, y = load_entities()
    >>> len(X) == len(y)
    True
    """
    sample = load_sample("en")
    return _pair(sample.tokens, sample.pos), sample.entities


def load_parsing() -> tuple[list[list[tuple[str, str]]], list[list[tuple[int, str]]]]:
    """Load the English sample for dependency parsing.

    Returns
    -------
    X : list of list of (str, str)
        Tokens as (form, part of speech).
    y : list of list of (int, str)
        Arcs as (head, relation); heads are counted from 1, 0 is the root.

    Examples
    --------
    >>> X, y = load_parsing()
    >>> [head for head, label in y[0]].count(0)
    1
    """
    sample = load_sample("en")
    return _pair(sample.tokens, sample.pos), _pair(sample.heads, sample.labels)


def _pair(firsts, seconds):
    """Zip two columns, sentence by sentence."""
    return [list(zip(a, b)) for a, b in zip(firsts, seconds)]
