"""Labels that keep a corpus from being scored by segments: named, with their place.

Labels are read as segments where all of them are those of a scheme such as BIO. One
typing error, ``0`` for ``O``, and none are; whoever is not told looks at the scores of
tokens alone.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from .._data.inputs import flatten
from .._data.places import PlaceError, counted
from .._data.scheme_rules import LabelTable, are_chunks, first_fault
from .._data.spellings import style_of
from .common import tell, warn

if TYPE_CHECKING:
    from .corpus import Corpus

LISTED = 3
"""Labels that a warning names."""


class Odd(NamedTuple):
    """A label of no scheme among those of one."""

    label: Any
    n_tokens: int
    where: tuple[int, int]  # sequence and token where it stands first


def odd_labels(y: Any) -> list[Odd]:
    """Find the labels without which the others are read as segments.

    Parameters
    ----------
    y : list of lists of labels
        None among them does not count.

    Returns
    -------
    list of Odd
        The most frequent one first; empty if there are none, or if most tokens have
        one of several: then labels are plain, and some of them look like segments.
    """
    counts = Counter(label for label in flatten(y) if label is not None)
    usual = _usual_styles(counts)
    odd = {label for label in counts if not _belongs(label, usual)}
    if not odd or not are_chunks(counts.keys() - odd):
        return []
    # One alone, such as 0 or NA, is what these labels call the outside.
    if len(odd) > 1 and 2 * sum(counts[label] for label in odd) > counts.total():
        return []
    first: dict[Any, tuple[int, int]] = {}
    for i, labels in enumerate(y):
        for t, label in enumerate(labels):
            if label in odd:
                first.setdefault(label, (i, t))
    found = [Odd(label, counts[label], first[label]) for label in odd]
    return sorted(found, key=lambda each: (-each.n_tokens, each.where))


def _usual_styles(counts: Counter[Any]) -> set[Any]:
    """Return how most labels with types are spelled, and most for the outside."""
    styles: dict[int, Counter[Any]] = {1: Counter(), 3: Counter()}
    for label, n in counts.items():
        style = style_of(label) if isinstance(label, str) else None
        if style is not None:
            styles[len(style)][style] += n
    return {found.most_common(1)[0][0] for found in styles.values() if found}


def _belongs(label: Any, usual: set[Any]) -> bool:
    try:
        LabelTable()[label]
    except ValueError:
        return False
    style = style_of(label)
    return style is None or style in usual


def warn_of_odd(corpus: Corpus, predicted: Any, who: str = "") -> None:
    """Warn of labels that keep gold or predicted ones from being scored by segments;
    ``who`` predicted.
    """
    by = f" of {who}" if who else ""
    _warn_of_spellings(corpus, predicted, by)
    for side, y in (("gold labels", corpus.y), (f"predicted labels{by}", predicted)):
        found = odd_labels(y)
        if not found:
            continue
        what = "belongs" if len(found) == 1 else "belong"
        warn(
            f"{corpus.name}: no scores of segments: of the {side} "
            f"{_named(corpus, found)} {what} to no scheme such as BIO; tokens are "
            "scored by label"
        )


def warn_of_odd_to_learn(corpus: Corpus) -> None:
    """Warn of labels that keep those of a corpus from being learned as segments.

    Of a label of the first line alone, which is the name of a column, the reader of
    columns warns; of labels that differ in case or spaces alone `tell_labels` does.
    """
    known = {label for label in flatten(corpus.y) if label is not None}
    has_types = any(
        isinstance(label, str) and len(style_of(label) or ()) == 3 for label in known
    )
    if not has_types or are_chunks(known):
        return
    times = Counter(" ".join(str(label).split()).casefold() for label in known)
    found = [
        each
        for each in odd_labels(corpus.y)
        if times[" ".join(str(each.label).split()).casefold()] == 1
    ]
    is_header = corpus.family == "columns" and all(
        each.where == (0, 0) and each.n_tokens == 1 for each in found
    )
    if not found or is_header:
        return
    is_one = len(found) == 1
    warn(
        f"{corpus.name}: {_named(corpus, found)} {'is' if is_one else 'are'} not "
        "spelled as the other labels, which mark segments as BIO does: "
        f"{'it is a label' if is_one else 'they are labels'} apart, and segments are "
        "not scored"
    )


FEW = 10
"""Of so many sentences with segments one may break a scheme, and the others still show
it.
"""

_REPAIRED_BY = ("BIO", "BIOES", "BILOU", "BMES")
"""Schemes that labels are found to break: in others most sequences are well formed."""


class Broken(NamedTuple):
    """Sentences whose labels break a scheme.

    Attributes
    ----------
    first : list of (int, int)
        The sequence and the position of the label that does so first, of each.
    n_segmented : int
        Sentences that have segments.
    has_foreign : bool
        Whether a label does not belong to the scheme at all.
    """

    first: list[tuple[int, int]]
    n_segmented: int
    has_foreign: bool

    @property
    def are_few(self) -> bool:
        """Tell whether the other sentences show that the scheme is theirs."""
        return FEW * len(self.first) <= self.n_segmented


def broken_in(y: Any, scheme: str) -> Broken:
    """Find the sentences whose labels break a scheme, or do not belong to it; those with
    a label that is missing do not count.
    """
    table = LabelTable(scheme)
    first = []
    n_segmented = 0
    has_foreign = False
    for i, labels in enumerate(y):
        if None in labels:
            continue
        n_segmented += any(label != "O" for label in labels)
        try:
            t = first_fault(scheme, table.parse(labels))
        except PlaceError as error:
            t = error.position
            has_foreign = True
        if t is not None:
            first.append((i, min(t, len(labels) - 1)))
    return Broken(first, n_segmented, has_foreign)


def tell_broken(corpus: Corpus, learned: str | None = None) -> None:
    """Say where labels break the scheme that nearly all sentences have: ``I-PER`` after
    ``O``. They are learned as they are.

    ``learned`` is the scheme of a model that goes on with them.
    """
    known = {label for label in flatten(corpus.y) if isinstance(label, str)}
    if corpus.layout is None or corpus.layout.scheme or not are_chunks(known):
        return
    for name in _REPAIRED_BY if learned is None else (learned,):
        broken = broken_in(corpus.y, name)
        if not broken.first or not broken.are_few:
            continue
        i, t = broken.first[0]
        label = corpus.y[i][t]
        where = _place(corpus, Odd(label, 1, (i, t)))
        n = counted(len(broken.first), "sentence")
        remedy = (
            f"--repair with -p constraints={name}" if learned is None else "--repair"
        )
        tell(
            f"{corpus.name}: labels are {name} but for those of {n}, such as "
            f"{label} ({where}); {remedy} rewrites them"
        )
        return


def _examples(y: Any) -> dict[int, Any]:
    """Return a label with a type and one of the outside, by the length of their styles;
    none where labels mark no segments.
    """
    labels = {label for label in flatten(y) if isinstance(label, str)}
    if not are_chunks(labels):
        return {}
    return {len(style_of(label) or ()): label for label in sorted(labels, reverse=True)}


def _warn_of_spellings(corpus: Corpus, predicted: Any, by: str) -> None:
    """Warn of gold and predicted labels that mark segments, each in another spelling."""
    gold, found = _examples(corpus.y), _examples(predicted)
    for n in (3, 1):
        if n in gold and n in found and style_of(gold[n]) != style_of(found[n]):
            warn(
                f"{corpus.name}: no scores of segments: the gold labels are spelled as "
                f"{gold[n]}, the predicted labels{by} as {found[n]}; tokens are scored "
                "by label"
            )
            return


def _named(corpus: Corpus, found: list[Odd]) -> str:
    """Return the most frequent of odd labels with their places."""
    named = ", ".join(
        f"{each.label or repr('')} ({_place(corpus, each)}, "
        f"{counted(each.n_tokens, 'token')} in all)"
        for each in found[:LISTED]
    )
    return named + (f" and {len(found) - LISTED} more" if len(found) > LISTED else "")


def _place(corpus: Corpus, odd: Odd) -> str:
    """Say where a label stands: its line, if files have lines."""
    i, t = odd.where
    lines = corpus.places[i] if i < len(corpus.places) else ()
    if isinstance(lines, str):
        return lines
    if t < len(lines):
        return f"line {lines[t]}"
    return f"sentence {i + 1}, token {t + 1}"
