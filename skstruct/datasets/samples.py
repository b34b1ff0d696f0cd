"""Data without a download: two embedded samples, and synthetic label sequences.

The samples are a Chinese and an English corpus of about 150 sentences each. Small
real-looking data that is always there, for the README, the examples, doctests and
tests; too small for figures about accuracy. A sample is a text file in this package,
one token a line in tab-separated columns, an empty line after each sentence, comments
(its description) at the top.

Synthetic text is drawn from a hidden Markov model with Zipf-distributed words.
Sequences of any amount, whose difficulty is set by a few numbers, for tests, benchmarks
and examples. Labels follow a first-order Markov chain; each word depends on its label
alone. Every label owns a block of the vocabulary and ranks the words starting there, so
its frequent words are its own and its rare words are the frequent ones of other labels:

    p(y_1 = l)             = 1 / L
    p(y_t = m | y_{t-1}=l) = stickiness if l = m, else (1 - stickiness) a[l, m], a[l] ~
    Dirichlet(1)
    p(word of rank r | l)  proportional to r ** -s,   r = 1..W

References
----------
L. R. Rabiner, "A tutorial on hidden Markov models and selected applications in speech
recognition", Proceedings of the IEEE 77(2), 1989. G. K. Zipf, "Human Behavior and the
Principle of Least Effort", 1949.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from importlib import resources
from io import StringIO
from itertools import islice
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from sklearn.utils import Bunch, check_random_state

from .._data.inputs import check_choice
from .._data.places import by_sequence, offsets_of
from .formats.readers import read_columns

# Language -> names of the file's columns, as the fields of the Bunch are called.
_COLUMNS = {"zh": "words tags", "en": "tokens pos chunks entities heads labels"}


def load_sample(language: Literal["zh", "en"] = "zh") -> Bunch:
    """Load an embedded sample, all its columns.

    Parameters
    ----------
    language : {"zh", "en"}, default="zh"
        Chinese, with words and their tags, or English, with part-of-speech tags,
        chunks, named entities and dependency trees.

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
            The source of the sample and the meaning of its labels.

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
    check_choice("language", language, _COLUMNS)
    text = (
        resources.files(__package__)
        .joinpath(f"sample_{language}.txt")
        .read_text(encoding="utf-8")
    )
    description = "\n".join(
        line[2:] for line in text.split("\n") if line.startswith("# ")
    )
    sentences = read_columns(StringIO(text), separator="\t", comment="# ")
    fields: dict[str, list[Any]] = {}
    for k, column in enumerate(_COLUMNS[language].split()):
        fields[column] = [[token[k] for token in sentence] for sentence in sentences]
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


def load_tagging(
    language: Literal["zh", "en"] = "en",
) -> tuple[list[list[str]], list[list[str]]]:
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
    return (
        (sample.words, sample.tags) if language == "zh" else (sample.tokens, sample.pos)
    )


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


def _pair(firsts: Iterable[Any], seconds: Iterable[Any]) -> list[Any]:
    """Zip two columns, sentence by sentence."""
    return [list(zip(a, b)) for a, b in zip(firsts, seconds)]


def make_hmm_sequences(
    n_sequences: int = 100,
    *,
    n_labels: int = 5,
    n_words: int = 1000,
    min_length: int = 5,
    max_length: int = 30,
    label_stickiness: float = 0.5,
    zipf_exponent: float = 1.0,
    noise: float = 0.0,
    separable: bool = False,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[list[list[str]], list[list[str]]]:
    """Draw token and label sequences from a random hidden Markov model.

    Parameters
    ----------
    n_sequences : int, default=100
        Number of sequences, at least 0.
    n_labels : int, default=5
        Number of labels, ``"L0"``, ``"L1"``, ..., at least 1.
    n_words : int, default=1000
        Size of the vocabulary, ``"w0"``, ``"w1"``, ..., at least 1. The numbers say
        nothing about labels or frequencies.
    min_length, max_length : int, default=5 and 30
        Lengths are drawn uniformly from these bounds, both included, in tokens; at
        least 1.
    label_stickiness : float, default=0.5
        Probability that a label equals the one before it, from 0 to 1. (With one label
        it always does.)
    zipf_exponent : float, default=1.0
        Exponent s of the word frequencies, at least 0. At 0 all words are equally
        frequent, and unless `separable` they say nothing about the labels; the larger,
        the easier the labels.
    noise : float, default=0.0
        Share of the labels, from 0 to 1, that are replaced by another one after the
        words were drawn.
    separable : bool, default=False
        Whether each label keeps to its own block of words. A word then determines its
        label, so the data is linearly separable by the features (word, label) alone.
    random_state : int, RandomState instance or None, default=None
        Pass an int for the same data at every call.

    Returns
    -------
    X : list of list of str
        Token sequences.
    y : list of list of str
        Label sequences, of the same lengths.

    Raises
    ------
    TypeError
        If a parameter is of the wrong type.
    ValueError
        If a parameter is out of range; if `max_length` is below `min_length`; if
        `separable` is combined with `noise`, or with fewer words than labels; if there
        is `noise` but only one label.

    Examples
    --------
    >>> X, y = make_hmm_sequences(2, n_labels=2, max_length=6, random_state=0)
    >>> [len(tokens) for tokens in X] == [len(labels) for labels in y]
    True
    >>> make_hmm_sequences(2, random_state=0) == make_hmm_sequences(2, random_state=0)
    True
    >>> sorted({label for labels in y for label in labels})
    ['L0', 'L1']
    """
    _check("n_sequences", n_sequences, Integral, 0)
    _check("n_labels", n_labels, Integral, 1)
    _check("n_words", n_words, Integral, 1)
    _check("min_length", min_length, Integral, 1)
    _check("max_length", max_length, Integral, 1)
    if max_length < min_length:
        raise ValueError(
            f"max_length must be at least min_length={min_length}, got {max_length}"
        )
    _check("label_stickiness", label_stickiness, Real, 0, 1)
    _check("zipf_exponent", zipf_exponent, Real, 0, np.finfo(np.float64).max)
    _check("noise", noise, Real, 0, 1)
    if not isinstance(separable, (bool, np.bool_)):
        raise TypeError(f"separable must be a bool, got {separable!r}")
    if separable and noise > 0:
        raise ValueError(f"separable=True contradicts noise={noise}")
    if separable and n_words < n_labels:
        raise ValueError(
            f"separable=True needs n_words >= n_labels={n_labels}, got {n_words}"
        )
    if noise > 0 and n_labels == 1:
        raise ValueError(f"noise={noise} needs another label to put in; got n_labels=1")

    rng = check_random_state(random_state)
    lengths = rng.randint(min_length, max_length + 1, size=n_sequences, dtype=np.int64)
    labels = _draw_chain(rng, lengths, _transitions(rng, n_labels, label_stickiness))
    words = _draw_words(rng, labels, n_labels, n_words, zipf_exponent, separable)
    if noise > 0:
        flip = np.flatnonzero(rng.random_sample(labels.size) < noise)
        labels[flip] += rng.randint(1, n_labels, size=flip.size, dtype=np.int64)
        labels %= n_labels
    return _name("w", words, n_words, lengths), _name("L", labels, n_labels, lengths)


def _check(
    name: str, value: Any, kind: Any, low: float, high: float | None = None
) -> None:
    """Raise unless a value is a number of a kind between two others."""
    if not isinstance(value, kind) or isinstance(value, bool):
        raise TypeError(
            f"{name} must be {'an int' if kind is Integral else 'a float'}, got {value!r}"
        )
    if not low <= value <= (value if high is None else high):  # refuses NaN as well
        allowed = f"at least {low}" if high is None else f"from {low} to {high:.3g}"
        raise ValueError(f"{name} must be {allowed}, got {value}")


def _transitions(
    rng: np.random.RandomState, n_labels: int, stickiness: float
) -> np.ndarray:
    """Draw the transition probabilities, shape (L, L), rows from."""
    if n_labels == 1:
        return np.ones((1, 1))
    # normalised rows are Dirichlet(1)
    others = rng.standard_exponential((n_labels, n_labels))
    np.fill_diagonal(others, 0.0)
    others *= (1.0 - stickiness) / others.sum(axis=1, keepdims=True)
    np.fill_diagonal(others, stickiness)
    return others


def _draw_chain(
    rng: np.random.RandomState, lengths: np.ndarray, transitions: np.ndarray
) -> np.ndarray:
    """Draw the labels, shape (sum of lengths,), sequence after sequence."""
    L = len(transitions)
    # Row l: the distribution of the label after l; row L: of the first label.
    cumulative = np.cumsum(np.vstack([transitions, np.full((1, L), 1 / L)]), axis=1)
    cumulative /= cumulative[:, -1:]
    rows = cumulative.tolist()
    draws = iter(rng.random_sample(lengths.sum()).tolist())
    labels: list[int] = []
    # A loop over tokens, not over time with arrays of sequences: one long sequence is
    # as fast as many.
    for length in lengths.tolist():
        y = L
        for u in islice(draws, length):
            y = bisect_right(rows[y], u)
            labels.append(y)
    return np.array(labels, dtype=np.int64)


def _draw_words(
    rng: np.random.RandomState,
    labels: np.ndarray,
    L: int,
    W: int,
    zipf_exponent: float,
    separable: bool,
) -> np.ndarray:
    """Draw one word for each label, shape (n_tokens,)."""
    names = rng.permutation(W)
    # label l owns the words first[l] <= w < first[l + 1]
    first = np.arange(L + 1) * W // L
    # s > 700 underflows to the first word alone, which is the limit.
    with np.errstate(under="ignore"):
        cumulative = np.cumsum(np.arange(1.0, W + 1) ** -float(zipf_exponent))
    # Ranks up to the block's size when separable, up to W otherwise.
    reach = cumulative[np.diff(first) - 1] if separable else np.full(L, cumulative[-1])
    # u < reach strictly, so that the rank found stays within reach after rounding.
    u = np.minimum(
        rng.random_sample(labels.size) * reach[labels], np.nextafter(reach, 0)[labels]
    )
    ranks = np.searchsorted(cumulative, u, side="right")
    return names[(first[labels] + ranks) % W]


def _name(
    prefix: str, numbers: np.ndarray, n: int, lengths: np.ndarray
) -> list[list[str]]:
    """Turn numbers below `n` into names, cut into sequences."""
    names = np.array([f"{prefix}{i}" for i in range(n)], dtype=object)
    return by_sequence(names[numbers].tolist(), offsets_of(lengths))
