"""A check that there is something to learn: asked before a training, and of what was
learned.

A model of one label is always right, and of no use. Where a corpus has nothing to
learn, another column or key of its file mostly has: the error names what else is there.
``--force`` trains all the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from .._data.inputs import LABELS, TREES, WORDS, flatten
from .._data.places import counted, part_of
from .._data.scheme_rules import are_chunks
from .._data.source_layout import SourceLayout
from .._data.spellings import parts_of
from .._sklearn import outermost_value
from .._taggers.abilities import inputs_of
from ..datasets.formats.contents import Contents
from ..datasets.formats.entry import TokenFormat
from ..datasets.formats.head import Head
from ..datasets.formats.source import peeked
from ..datasets.formats.table import BY_NAME
from ..datasets.formats.text_files import value_of
from .common import CommandError, tell, warn
from .located import locating
from .odd_labels import warn_of_odd_to_learn

if TYPE_CHECKING:
    from .common import Arguments
    from .corpus import Corpus

FORCE = "to train anyway, pass --force"

ENOUGH = 10
"""The fewest tokens for which one can tell whether their labels are labels."""

NOTHING = frozenset(("", "_", "-", "*"))
"""The values in columns that nobody has filled in."""

_CHUNKS = frozenset(
    "NP VP PP ADVP ADJP SBAR PRT CONJP INTJ LST UCP NC VC PC ADVC ADJC".split()
)
"""Types of syntactic chunks, which are features of entities rather than labels."""

_SHOWN = 6
_FEW_ROWS = 20_000
"""Alternatives that an error names, and tokens that they are looked for in."""


def check_learnable(arguments: Arguments, corpus: Corpus, task: str) -> None:
    """Raise if a corpus has nothing to learn; warn of what is odd about it.

    Parameters
    ----------
    arguments : argparse.Namespace
        Of ``train``.
    corpus : Corpus
    task : str
        What is learned: see `skstruct._data.inputs`.

    Raises
    ------
    CommandError
        Unless ``--force`` is given.
    """
    wrong = _nothing(corpus, task)
    if wrong is not None:
        if arguments.force:
            warn(f"{corpus.name}: {wrong}")
        else:
            others = [] if task == TREES else _alternatives(arguments, corpus)
            instead = [*others, FORCE]
            raise CommandError(f"{corpus.name}: {'; '.join([wrong, *instead])}")
    _tell_odd(corpus)
    if task == LABELS:
        warn_of_odd_to_learn(corpus)


def check_learned(arguments: Arguments, model: Any) -> None:
    """Raise if one label was learned: of a stream, or of spans where nobody said what
    is none. Of trees the heads are learned, too.
    """
    labels = outermost_value(model, "classes_")
    inputs = inputs_of(model)
    has_heads = inputs is not None and inputs.task == TREES
    if labels is None or len(labels) > 1 or has_heads:
        return
    only = "no label" if len(labels) == 0 else f"the label {str(labels[0])!r} alone"
    wrong = f"{arguments.files[0]}: {only} was learned"
    if arguments.force:
        warn(f"{wrong}: all is of it")
        return
    none = (
        "" if arguments.stream else "; at least one text needs words outside of spans"
    )
    raise CommandError(f"{wrong}, and no model is written{none}; {FORCE}")


def tell_moved(model: Any, corpus: Corpus) -> None:
    """Warn of spans that training would change; raise of those that it refuses."""
    if not hasattr(model, "alignment_report"):
        return
    with locating(corpus.name, corpus.places):
        n = len(model.alignment_report(corpus.X, corpus.y).moves)
    if n:
        spans = part_of(n, sum(map(len, corpus.y)), "span", "do")
        warn(
            f"{corpus.name}: {spans} not end where tokens do, and training changes "
            "them; to list them: skstruct check"
        )


# --------------------------------------------------------------------------------------
# Nothing to learn
# --------------------------------------------------------------------------------------
def _nothing(corpus: Corpus, task: str) -> str | None:
    """Say why there is nothing to learn, or return None."""
    if corpus.kind.has_spans:
        spans = sum(label is not None for *_, label in flatten(corpus.y))
        n = counted(len(corpus.X), "text")
        if spans:
            return None
        return f"none of {n} has an annotated span, so there is nothing to learn"
    if corpus.kind.has_words or task == WORDS:
        return _no_words(corpus.y)
    if task == TREES:
        heads = {head for head, _ in flatten(corpus.y)}
        return "all heads are 0: there are no trees to learn" if heads == {0} else None
    return _no_labels(corpus) if task == LABELS else None


def _no_words(y: Sequence[Any]) -> str | None:
    words = [word if isinstance(word, str) else word[0] for word in flatten(y)]
    if len(words) < len(flatten(y)) or any(not isinstance(w, str) for w in flatten(y)):
        return None  # of words with tags these are learned, too
    if all(len(sentence) == 1 for sentence in y):
        n = counted(len(y), "line")
        return f"each of {n} is one word, so there are no word boundaries to learn; separate words by spaces"
    if all(len(word) == 1 for word in words):
        return "each word is one character: there is nothing to learn"
    return None


def _no_labels(corpus: Corpus) -> str | None:
    found = Counter(label for label in flatten(corpus.y) if label is not None)
    column = _column(corpus)
    if not found:
        return f"{column}no token has a label: there is nothing to learn"
    if len(found) == 1:
        (label,) = found
        if label in NOTHING:
            return (
                f"{column}is empty: every token has the label {label!r}, and there is "
                "nothing to learn"
            )
        return f"{column}every token has the label {label!r}: there is nothing to learn"
    if all(map(_FRACTION.fullmatch, map(str, found))):
        return (
            f"{column}every label is a number such as {next(iter(found))}: these do not "
            "look like labels"
        )
    single = sum(n == 1 for n in found.values())
    if found.total() >= ENOUGH and 2 * single > found.total():
        return (
            f"{column}{counted(len(found), 'label')} for "
            f"{counted(found.total(), 'token')}, {single:,} of them seen once: these "
            "do not look like labels"
        )
    if len(corpus.X) > 1 and all(len(tokens) == 1 for tokens in corpus.X):
        return (
            f"each of {len(corpus.X):,} sentences is one token: there is no sequence to "
            "learn; a blank line ends a sentence"
        )
    return None


def _column(corpus: Corpus) -> str:
    """Name the column or field of the labels, as the beginning of a message."""
    if corpus.layout is None or corpus.family == "crfsuite":
        return ""
    label = corpus.layout.label
    return f"{label} " if isinstance(label, str) else f"column {label}: "


# --------------------------------------------------------------------------------------
# What else there is
# --------------------------------------------------------------------------------------
def _alternatives(arguments: Arguments, corpus: Corpus) -> list[str]:
    """Say what else the file has; nothing of standard input, which is read once."""
    path = arguments.files[0]
    if path == "-" or corpus.layout is None:
        return []
    entry = BY_NAME[corpus.layout.format]
    if isinstance(entry, TokenFormat) and not entry.has_features:
        return _other_columns(path, entry, corpus, arguments.tokens)
    if corpus.kind.has_spans:
        with peeked(path, corpus.layout.encoding) as file:
            return _other_keys(file.head())
    return []


def _other_keys(head: Head) -> list[str]:
    keys = dict.fromkeys(str(key) for record in head.objects for key in record)
    if not keys:
        return []
    listed = ", ".join(f"`{key}`" for key in keys)
    return [
        f"records have {listed}: if one of them holds the spans, pass --read spans=KEY"
    ]


def _other_columns(
    path: str, entry: TokenFormat, corpus: Corpus, given: Any
) -> list[str]:
    """Say how many labels the other columns or fields have that could be labels.

    ``given`` are the columns of tokens that an option names; without, it is the first.
    """
    assert corpus.layout is not None
    layout = corpus.layout
    names: tuple[Any, ...] = entry.label_fields  # none where columns have numbers
    if entry.names_fields and not names:
        return []
    of_all = SourceLayout(
        entry.name,
        tokens=names[:-1] or None,
        label=names[-1] if names else -1,
        separator=layout.separator,
        comment=layout.comment,
        encoding=layout.encoding,
    )
    cells: list[Any] = []
    lengths = []  # of sentences
    for rows in entry.rows(path, of_all, Contents()):
        lengths.append(len(rows.cells))
        cells += rows.cells
        if len(cells) > _FEW_ROWS:
            break
    width = len(cells[0])
    of_tokens = (layout.tokens or ()) if names else (given or (0,))
    used = [
        name % width if isinstance(name, int) else name
        for name in (layout.label, *of_tokens)
    ]
    alternatives = []
    for name, column in zip(names or range(width), zip(*cells)):
        if name == "misc":
            alternatives += _keys_of(column, lengths)
        elif name not in used and _can_be_labels(column, lengths):
            called = name if names else f"column {name}"
            alternatives.append(_alternative(called, column, name))
    return alternatives[:_SHOWN]


def _alternative(called: str, column: Sequence[str], name: Any) -> str:
    """Say how many labels a column has, and which option learns it."""
    return f"{called} has {counted(len(set(column)), 'label')}: --label {name}"


def _keys_of(column: Sequence[str], lengths: list[int]) -> list[str]:
    """Say how many labels the keys of the field misc have that most words have."""
    keys = Counter(
        part.partition("=")[0] for cell in column for part in cell.split("|")
    )
    alternatives = []
    for key in [key for key, n in keys.items() if key != "_" and 2 * n > len(column)]:
        values = [value_of(cell, key) or "_" for cell in column]
        if _can_be_labels(values, lengths):
            name = f"misc:{key}"
            alternatives.append(_alternative(name, values, name))
    return alternatives


def _can_be_labels(column: Sequence[str], lengths: list[int]) -> bool:
    """Tell whether a column of sentences of some lengths can be one of labels: it has
    several values that come again, and does not count the tokens.
    """
    found = Counter(column)
    single = sum(n == 1 for n in found.values())
    if len(found) < 2 or 2 * single > len(column) or 3 * len(found) > len(column):
        return False
    return not counts_up(column, lengths)


def counts_up(column: Sequence[str], lengths: Iterable[int]) -> bool:
    """Tell whether the values of a column count the tokens of each sentence."""
    at = 0
    longest = 0
    for n in lengths:
        first = column[at]
        if first not in ("0", "1"):
            return False
        begin = int(first)
        if list(column[at : at + n]) != [str(begin + t) for t in range(n)]:
            return False
        at += n
        longest = max(longest, n)
    return longest > 1 and len(column) >= ENOUGH


# --------------------------------------------------------------------------------------
# What is odd
# --------------------------------------------------------------------------------------
def _tell_odd(corpus: Corpus) -> None:
    """Warn of columns that count, and of those that say nothing."""
    if corpus.kind.is_text or not corpus.X or not corpus.X[0]:
        return
    lengths = list(map(len, corpus.X))
    tokens = flatten(corpus.X)
    labels = flatten(corpus.y)
    label = [label for label in labels if isinstance(label, str)]
    if unlabelled := sum(label is None for label in labels):
        of = f"{unlabelled:,} of {counted(len(labels), 'token')}"
        tell(f"{corpus.name}: {of} have no label and are ignored")
    if corpus.layout is not None and corpus.layout.label == "misc":
        keys = dict.fromkeys(p.partition("=")[0] for x in label for p in x.split("|"))
        which = ", ".join(f"misc:{key}" for key in keys if key != "_")
        if which:
            warn(
                f"{corpus.name}: the labels hold keys: to learn one, pass --label "
                f"{which}"
            )
    _tell_empty_labels(corpus, label)
    if label and all(map(str.isdecimal, label)):
        tell(
            f"{corpus.name}: the labels are numbers, such as {label[0]}: they are scored "
            "one by one, and not as segments, unless names such as B-PER take their place"
        )
    _tell_labels_among_tokens(corpus, tokens, label)
    if len(label) == len(tokens) and counts_up(label, lengths):
        warn(
            f"{corpus.name}: the labels only number the tokens; choose another column "
            "with --label"
        )
    if isinstance(tokens[0], str):
        if counts_up(tokens, lengths):
            what = "choose the column of words with --tokens"
            warn(f"{corpus.name}: the tokens are 1, 2, 3 of each sentence: {what}")
        else:
            _tell_odd_words(corpus, tokens, "the tokens")
        return
    if not isinstance(tokens[0], tuple):
        return
    for c, column in enumerate(zip(*tokens)):
        _tell_odd_words(corpus, column, f"the cells of column {c} of tokens")
        if len(lengths) == 1 and len(tokens) >= ENOUGH and _numbers_sentences(column):
            warn(
                f"{corpus.name}: all {len(tokens):,} tokens are one sentence, and column "
                f"{c} of tokens looks like numbers of sentences: a blank line must end "
                "each, or a header sentence_id name the column of a CSV"
            )
        if counts_up(column, lengths):
            said = "counts 1, 2, 3 in each sentence"
        elif len(tokens) > 1 and len(set(column)) == 1 and column[0] not in NOTHING:
            said = f"is {column[0]!r} throughout"
        else:
            continue
        warn(
            f"{corpus.name}: column {c} of tokens {said}; choose what to read with "
            "--tokens"
        )


_PREFIX = re.compile(r"\w{1,8}[:/|](?=\S)")
_QUOTED = re.compile(r"\".*\"|'.+'", re.DOTALL)
_NUMBERED = re.compile(r"\D+(\d)")
_FRACTION = re.compile(r"[-+]?\d*\.\d+(?:[eE][-+]?\d+)?")
_DECIMAL = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?")


def _tell_odd_words(corpus: Corpus, words: Sequence[str], called: str) -> None:
    """Warn of words that are none: masked, with one prefix, with a position, numbers."""
    said = None
    are_many = len(words) >= ENOUGH
    is_first = called in ("the tokens", "the cells of column 0 of tokens")
    if set(words) == {"_"} and is_first:
        said = "are all '_': this corpus comes without its words; add them first (see its README)"
    elif are_many and all(map(_QUOTED.fullmatch, words)):
        said = "are all in quotation marks, which are learned as part of the word"
    elif are_many and (found := _PREFIX.match(words[0])):
        if all(word.startswith(found[0]) for word in words):
            said = f"all begin with {found[0]!r}, which is learned as part of the word"
    elif (
        is_first
        and are_many
        and all(map(_NUMBERED.fullmatch, words))
        and len({w[-1] for w in words}) > 1
    ):
        said = f"all end with a digit, as {words[0]!r}, which is learned as part of the word"
    elif all(map(_DECIMAL.fullmatch, words)) and (
        2 * sum("." in word for word in words) > len(words)
    ):
        said = (
            "are numbers, and are read as words; to learn from numbers, fit rows of "
            "them in Python (docs/guide-numbers.md)"
        )
    if said is not None:
        warn(f"{corpus.name}: {called} {said}")


def _tell_empty_labels(corpus: Corpus, labels: list[str]) -> None:
    """Warn of words whose field is empty, which CoNLL-U writes as an underscore."""
    n = sum(label == "_" for label in labels)
    if corpus.family == "conllu" and n:
        what = f"{n:,} of {counted(len(labels), 'word')} have '_', which is no label of"
        warn(f"{corpus.name}: {what} CoNLL-U's, but learned as one")


def _tell_labels_among_tokens(
    corpus: Corpus, tokens: list[Any], labels: list[str]
) -> None:
    """Warn of a column of tokens that holds labels of segments: where that of the labels
    holds none, or where it is another layer of annotations, and not syntactic chunks.
    """
    if not tokens or isinstance(tokens[0], dict):
        return
    learned = are_chunks(labels)
    rows = tokens if isinstance(tokens[0], tuple) else [(token,) for token in tokens]
    columns = corpus.layout and corpus.layout.tokens
    for c, column in enumerate(zip(*rows)):
        if set(column) == {"O"} or not are_chunks(column):
            continue
        which = columns[c] if columns else c
        if learned:
            kinds = {kind for _, kind in map(parts_of, set(column)) if kind != "O"}
            if not kinds <= _CHUNKS:
                warn(
                    f"{corpus.name}: column {which} of tokens holds labels of segments, "
                    f"of {', '.join(sorted(kinds)[:3])}, and is read as a part of the "
                    "tokens; if it holds annotations, leave it out with --tokens"
                )
        else:
            warn(
                f"{corpus.name}: column {which} of tokens holds labels such as "
                f"{next(cell for cell in column if cell != 'O')}, and "
                f"is not the label; to learn it, pass --label {which}"
            )


def _numbers_sentences(column: Sequence[str]) -> bool:
    """Tell whether the cells of a column are numbers that come in stretches, and rise."""
    stretches = [cell for cell, _ in groupby(column)]
    numbers = [int(cell) for cell in stretches if cell.isdecimal()]
    rises = numbers == sorted(set(numbers)) and len(numbers) == len(stretches)
    return rises and 1 < len(stretches) <= len(column) // 2
