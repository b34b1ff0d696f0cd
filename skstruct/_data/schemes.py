"""Label schemes: chunks and words written as one label per token, and read back.

=========== ==================================== ===================================
scheme      chunks of length 1, 2, 3, ...        notes
=========== ==================================== ===================================
``IOB1``    I, I I, I I I                        B: right after one of the same type
``BIO``     B, B I, B I I                        also called ``IOB2``
``BIOES``   S, B E, B I E                        also called ``IOBES``
``BILOU``   U, B L, B I L                        ``BIOES`` with other letters
``BMES``    S, B E, B M E                        ``BIOES`` with another letter
``BI``      B, B I, B I I                        words only: there is no O
``B2B3MES`` S, B E, B B2 E, B B2 B3 E,           words only: there is no O
            B B2 B3 M E, B B2 B3 M M E
``IO``      PER, PER PER, PER PER PER            labels are types, and ``O``
=========== ==================================== ===================================

All schemes write the same thing, chunks ``(start, stop, type)``, so that every
conversion passes through them. Words are chunks without a type, or, in joint
segmentation and tagging, with the word's tag as their type.

IO alone cannot write everything: equal neighbours are one chunk. It reads ``I-PER`` as
``PER``, and writes ``I-`` where a type by itself would be read as something else
(``O``, ``B-cell``).

Estimators take their constraints from `allowed_transitions`, and the segmenter its
labels from `words_to_labels`. The rules are in `skstruct._data.scheme_rules`.

References
----------
L. A. Ramshaw and M. P. Marcus, "Text chunking using transformation-based learning",
1995 (IOB1). E. F. Tjong Kim Sang and J. Veenstra, "Representing text chunks", EACL 1999
(IOB2 and relatives). E. F. Tjong Kim Sang and S. Buchholz, "Introduction to the
CoNLL-2000 shared task: chunking", 2000 (the evaluation whose reading of malformed
sequences the lenient mode follows). H. Zhao, C.-N. Huang, M. Li and B.-L. Lu,
"Effective tag set selection in Chinese word segmentation via conditional random field
modeling", PACLIC 2006 (B2B3MES, their six-tag set).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from .places import PlaceError, counted, in_sequence, refuse_str
from .scheme_rules import (
    SCHEMES,
    SPELLINGS,
    Chunk,
    LabelTable,
    Spelling,
    allowed_transitions,
    check_scheme,
    chunks,
    first_fault,
    labels_to_spans,
    read_spans,
    same_chunk,
)
from .spellings import Respelling, respelling_of, shown
from .types import Corpus

if TYPE_CHECKING:
    from .scheme_rules import Chunk


__all__ = [
    "SCHEMES",
    "allowed_transitions",
    "check_scheme",
    "convert_labels",
    "convert_scheme",
    "labels_to_spans",
    "labels_to_words",
    "spans_to_labels",
    "words_to_labels",
]


def spans_to_labels(
    spans: Iterable[tuple[int, int, str]], n: int, scheme: str
) -> list[str]:
    """Write chunks as labels.

    Parameters
    ----------
    spans : iterable of (start, stop, type)
        Disjoint, in any order, `stop` exclusive; a type of ``""`` or None gives labels
        without type.
    n : int
        Number of tokens.
    scheme : str
        One of `SCHEMES`.

    Returns
    -------
    list of str, length n

    Raises
    ------
    ValueError
        If a span is empty, overlaps another or leaves 0..n; if a token lies in no span
        while the scheme has no O; or if spans of one type touch while the scheme is IO,
        which would read them as one.

    Examples
    --------
    >>> spans_to_labels([(0, 3, "PER"), (4, 5, "LOC")], 5, "BIOES")
    ['B-PER', 'I-PER', 'E-PER', 'O', 'S-LOC']
    """
    return write_spans(spans, n, check_scheme(scheme))


def write_spans(spans: Iterable[tuple[int, int, str]], n: int, name: str) -> list[str]:
    """Write chunks as labels, as `spans_to_labels` does, in a scheme that was checked.

    ``name`` is canonical, from `check_scheme`: whoever writes many sequences asks once.
    """
    spelling = SPELLINGS[name]
    labels: list[str] = []
    before: Chunk | None = None
    for start, stop, kind in sorted(spans, key=lambda span: span[:2]):
        span = start, stop, kind or ""
        _check_span(span, before, n)
        if start > len(labels):
            _fill(labels, start, spelling)
            before = None
        labels += _spell(name, stop - start, span[2])
        if before is not None and span[2] == before[2]:
            if spelling.bare:
                wrong = (
                    f"the spans {before!r} and {span!r} touch; the scheme {name} "
                    "would make them one"
                )
                raise PlaceError(None, start, wrong)
            if spelling.clash:
                labels[start] = spelling.label(spelling.clash, span[2])
        before = span
    _fill(labels, n, spelling)
    return labels


def _check_span(span: Chunk, before: Chunk | None, n: int) -> None:
    """Raise unless a span holds tokens, all of them after the span before (None: no
    span touches it).
    """
    start, stop, _ = span
    if not start < stop:
        raise ValueError(f"the span {span!r} is empty: it must stop after its start")
    if start < 0 or stop > n:
        raise ValueError(f"the span {span!r} leaves the {counted(n, 'token')}")
    if before is not None and start < before[1]:
        raise ValueError(
            f"the span {span!r} overlaps {before!r}; labels can write disjoint spans "
            "only"
        )


@lru_cache(maxsize=4096)
def _spell(name: str, length: int, kind: str) -> tuple[str, ...]:
    """Return the labels of a chunk; cached, because corpora repeat the lengths and
    types of their words.
    """
    scheme = SPELLINGS[name]
    return tuple([scheme.label(prefix, kind) for prefix in scheme.spell(length)])


def _fill(labels: list[str], n: int, spelling: Spelling) -> None:
    """Append O until there are `n` labels."""
    if len(labels) < n and not spelling.outside:
        wrong = (
            f"the token is in no span, and the scheme {spelling.name} has no label "
            "for that"
        )
        raise PlaceError(None, len(labels), wrong)
    labels += ["O"] * (n - len(labels))


def convert_labels(
    labels: Collection[str], source: str, target: str, strict: bool = True
) -> list[str]:
    """Rewrite a label sequence in another scheme.

    Parameters
    ----------
    labels : sequence of str, length T
        Well formed in `source`, if `strict`.
    source, target : str
        Two of `SCHEMES`. The same one twice, with ``strict=False``, repairs labels.
    strict : bool, default=True
        False accepts any sequence, and finds the chunks in it that `labels_to_spans`
        finds. Chunks of one type that touch become one if `target` is IO.

    Returns
    -------
    list of str, length T

    Raises
    ------
    ValueError
        If the sequence is not well formed in `source`, naming position and label, or if
        it has an O and `target` has none, or chunks of one type that touch and `target`
        is IO.

    Examples
    --------
    >>> convert_labels(["I-PER", "I-PER", "B-PER", "O"], "IOB1", "BIOES")
    ['B-PER', 'E-PER', 'S-PER', 'O']
    >>> convert_labels(["I-LOC", "I-LOC", "O"], "BIO", "BIO", strict=False)
    ['B-LOC', 'I-LOC', 'O']
    """
    refuse_str("labels", labels, "labels")
    labels = list(labels)
    source = check_scheme(source)
    respelling = _respelling(_hashable([labels]), source)
    return _respelled(
        _converted(labels, source, check_scheme(target), strict), respelling
    )


def _respelling(labels: Iterable[Any], source: str) -> Respelling | None:
    """Return how labels are spelled, which are to be rewritten.

    Raises
    ------
    ValueError
        If they are said to be types, and look like prefixes and types.
    """
    found = respelling_of(labels)
    if found is not None and SPELLINGS[source].bare:
        raise ValueError(
            f"labels such as {shown(found)!r} have prefixes, and labels of the scheme "
            "IO have none: give their scheme as the source, such as 'BIO'"
        )
    return found


def _respelled(labels: list[str], respelling: Respelling | None) -> list[str]:
    """Return labels in the spelling that they had before they were rewritten."""
    return labels if respelling is None else list(map(respelling.write, labels))


def _converted(labels: list[str], source: str, target: str, strict: bool) -> list[str]:
    """Rewrite a label sequence, spelled as usual; both schemes are canonical."""
    if not strict:
        spans = read_spans(labels, LabelTable(source, strict=False))
        return write_spans(
            _united(spans) if SPELLINGS[target].bare else spans, len(labels), target
        )
    parsed = LabelTable(source).parse(labels)
    t = first_fault(source, parsed)
    if t is not None:
        how = (
            f"follow {labels[t - 1]!r}"
            if 0 < t < len(labels)
            else f"{'end' if t else 'start'} a sequence"
        )
        t = min(t, len(labels) - 1)
        raise PlaceError(
            None, t, f"label {labels[t]!r} may not {how} in the scheme {source}"
        )
    return write_spans(chunks(parsed), len(parsed), target)


def _united(spans: list[Chunk]) -> list[Chunk]:
    """Return the spans, those of one type that touch made one."""
    found: list[Chunk] = []
    for start, stop, kind in spans:
        if found and found[-1][1] == start and found[-1][2] == kind:
            start = found.pop()[0]
        found.append((start, stop, kind))
    return found


def convert_scheme(
    y: Corpus, source: str, target: str, strict: bool = True
) -> list[list[str]]:
    """Rewrite label sequences in another scheme.

    Parameters
    ----------
    y : list of sequences of str
    source, target : str
        Two of `SCHEMES`. The same one twice, with ``strict=False``, repairs labels.
    strict : bool, default=True
        False accepts any sequences, as `convert_labels` does.

    Returns
    -------
    list of lists of str

    Raises
    ------
    ValueError
        As `convert_labels`, naming the sequence too.

    Examples
    --------
    >>> convert_scheme([["B", "M", "E"], ["S"]], "BMES", "BI")
    [['B', 'I', 'I'], ['B']]
    >>> convert_scheme([["I-LOC", "O", "I-LOC", "B-PER"]], "BIO", "BIO", strict=False)
    [['B-LOC', 'O', 'B-LOC', 'B-PER']]
    """
    source = check_scheme(source)
    target = check_scheme(target)
    sequences = []
    for i, labels in enumerate(y):
        with in_sequence(i):
            refuse_str("labels", labels, "labels")
            sequences.append(list(labels))
    respelling = _respelling(_hashable(sequences), source)
    converted = []
    for i, labels in enumerate(sequences):
        with in_sequence(i):
            found = _converted(labels, source, target, strict)
            converted.append(_respelled(found, respelling))
    return converted


def _hashable(sequences: list[list[Any]]) -> Iterable[Any]:
    """Yield the labels of sequences; others than str and None as None, for which their
    sequence will be refused.
    """
    return (x if isinstance(x, str) else None for labels in sequences for x in labels)


def words_to_labels(
    words: Collection[str], scheme: str, tags: Collection[str] | None = None
) -> list[str]:
    """Write a segmented sentence as one label per character.

    Parameters
    ----------
    words : sequence of str
    scheme : str
        One of `SCHEMES`.
    tags : sequence of str, optional
        One tag per word; labels then carry it as their type (joint segmentation and
        tagging).

    Returns
    -------
    list of str
        One label per character.

    Raises
    ------
    ValueError
        If a word is empty, or the numbers of words and tags differ.

    Examples
    --------
    >>> words_to_labels(["我", "喜欢", "图书馆"], "BMES")
    ['S', 'B', 'E', 'B', 'M', 'E']
    >>> words_to_labels(["我", "喜欢"], "BI", tags=["PN", "VV"])
    ['B-PN', 'B-VV', 'I-VV']
    """
    refuse_str("words", words, "words")
    refuse_str("tags", tags, "tags")
    return spell_words(words, check_scheme(scheme), tags)


def spell_words(
    words: Collection[str], name: str, tags: Collection[str] | None = None
) -> list[str]:
    """Write words as labels of characters, by a scheme whose name has been checked.

    The rest is as of :func:`words_to_labels`, whose arguments are the user's.
    """
    lengths = list(map(len, words))
    if 0 in lengths:
        raise PlaceError(
            None, lengths.index(0), "a word must have at least one character"
        )
    if tags is None:
        tags = [""] * len(lengths)
    elif len(tags) != len(lengths):
        found = f"{counted(len(lengths), 'word')}, {counted(len(tags), 'tag')}"
        raise ValueError(f"expected one tag per word: {found}")
    if not SPELLINGS[name].clash and not SPELLINGS[name].bare:
        # Words leave no gaps and do not see each other, unless the scheme is IOB1 or
        # IO.
        return [
            label
            for length, tag in zip(lengths, tags)
            for label in _spell(name, length, tag or "")
        ]
    stops = list(accumulate(lengths))
    return write_spans(zip([0, *stops], stops, tags), stops[-1] if stops else 0, name)


def labels_to_words(
    text: Sequence[str], labels: Collection[str], scheme: str
) -> list[Any]:
    """Cut a text into words where its labels say so.

    Any sequence over the scheme's labels decodes to words that spell the text: a label
    that opens a chunk (B, S, U) starts a word, one that closes it (E, S, L, U) ends the
    word, O is a word of its own, and every other label continues the word it meets. A
    word's tag is the type of its first label; only in IOB1 and IO, where nothing else
    shows the boundary, does a change of type start a word.

    Parameters
    ----------
    text : str or sequence of str, T characters
    labels : sequence of str, length T
    scheme : str
        One of `SCHEMES`.

    Returns
    -------
    list of str, or list of (word, tag)
        Pairs if any label has a type.

    Raises
    ------
    ValueError
        If the lengths differ, or a label does not belong to the scheme.

    Examples
    --------
    >>> labels_to_words("我喜欢图书馆", ["S", "B", "E", "M", "M", "B"], "BMES")
    ['我', '喜欢', '图书', '馆']
    >>> labels_to_words("我喜欢", ["S-PN", "B-VV", "E-NN"], "BMES")
    [('我', 'PN'), ('喜欢', 'VV')]
    """
    name = check_scheme(scheme)
    if len(text) != len(labels):
        found = f"{counted(len(text), 'character')}, {counted(len(labels), 'label')}"
        raise ValueError(f"expected one label per character: {found}")
    parsed = LabelTable(name).parse(labels)
    by_type = name in ("IOB1", "IO")
    before = ("O", "")
    starts = []
    for t, label in enumerate(parsed):
        if not same_chunk(before, label if by_type else (label[0], before[1])):
            starts.append(t)
        before = label
    words = ["".join(text[a:b]) for a, b in zip(starts, [*starts[1:], len(parsed)])]
    if any(kind for _, kind in parsed):
        return [(word, parsed[t][1]) for word, t in zip(words, starts)]
    return words


# --------------------------------------------------------------------------------------
# The scheme that labels look like
# --------------------------------------------------------------------------------------
# Labels can be well formed in several schemes; the commonest comes first. Every word is
# a label of IO.
_ORDER = (
    "BIO",
    "IOB1",
    *(name for name in SCHEMES if name not in ("BIO", "IOB1", "IO")),
    "IO",
)


def scheme_like(y: Corpus) -> str | None:
    """Return the scheme in which all label sequences are well formed, or None.

    Parameters
    ----------
    y : list of sequences of labels

    Returns
    -------
    str or None
        Of several the most usual; ``"IO"`` only if some label has no prefix of another
        scheme.

    Examples
    --------
    >>> scheme_like([["I-PER", "I-PER", "B-PER", "O"]])
    'IOB1'
    >>> scheme_like([["PER", "PER", "O"]])
    'IO'
    """
    found = next((name for name in _ORDER if _reads(LabelTable(name), y)), None)
    return None if found == "IO" and _reads(LabelTable(), y) else found


def _reads(table: LabelTable, y: Corpus) -> bool:
    """Tell whether all labels belong to the table's scheme and are well formed in it,
    or belong to any.
    """
    try:
        parsed = [table.parse(labels) for labels in y]
    except ValueError:
        return False
    return table.scheme is None or all(
        first_fault(table.scheme, labels) is None for labels in parsed
    )


def rewriting(y: Corpus, scheme: str) -> tuple[str | None, list[list[str]] | None]:
    """Return how `convert_scheme` writes labels as a scheme does that they break.

    Parameters
    ----------
    y : list of sequences of labels
    scheme : str
        Canonical name of the scheme asked for.

    Returns
    -------
    source : str or None
        The scheme that the labels look like; `scheme` itself if none, but their chunks
        can be read; None if `convert_scheme` cannot write them in the scheme.
    labels : list of lists of str or None
        The labels in the scheme.
    """
    source = scheme_like(y) or scheme
    try:
        return source, convert_scheme(y, source, scheme, strict=source != scheme)
    except ValueError:
        return None, None
