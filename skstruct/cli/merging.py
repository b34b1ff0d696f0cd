"""Texts that the files of a training hold several times: corrected ones take the place of
the others, and contradictions are said.

What a person corrects comes back in a file of its own, beside the one that it was taken
from. A record with the id and the text of one in an earlier file is that record,
corrected. Equal texts without ids may be that, or a contradiction of two people: which,
only the user knows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._data.inputs import flatten
from .._data.places import agreeing, counted
from .._data.repeats import repeats_of
from .common import tell, warn

if TYPE_CHECKING:
    from .corpus import Corpus

PREFERENCES = ("last",)
"""Rules for choosing among several annotations of a text."""


def merged(corpus: Corpus, prefer: str | None) -> Corpus:
    """Join records into one corpus, and warn of remaining duplicates.

    Parameters
    ----------
    corpus : Corpus
        Of all files, in their order.
    prefer : {"last"} or None
        Whether the last annotation of a text is taken, also without an id.
    """
    if corpus.kind.has_spans:
        corpus = without_corrected(corpus)
    repeats = repeats_of(corpus.X, corpus.y, order=not corpus.kind.has_spans)
    if prefer is not None:
        groups = [*repeats.same, *repeats.contradictory]
        out = {i for group in groups for i in _earlier(corpus, group)}
        if out:
            what = counted(len(out), "annotation")
            verb = agreeing(len(out), "are")
            tell(f"--prefer last: {what} of texts that come again {verb} left out")
        return _without(corpus, out)
    _warn(corpus, repeats.contradictory, repeats.same)
    return corpus


def _types(corpus: Corpus, i: int) -> Any:
    """Return the types of spans that were annotated in a text, None for all: an
    annotation of other types is no correction of it.
    """
    return getattr(corpus.y[i], "types", None)


def _earlier(corpus: Corpus, group: list[int]) -> list[int]:
    """Return all annotations of a text but the last, of the same types."""
    last = {_types(corpus, i): i for i in group}
    return [i for i in group if last[_types(corpus, i)] != i]


def without_corrected(corpus: Corpus) -> Corpus:
    """Leave out records whose id and text come again in a later file; the later ones
    are of their documents, if they name none themselves.
    """
    documents = list(corpus.documents)
    last: dict[Any, int] = {}
    out = set()
    n_corrected: dict[str | None, int] = {}  # by the file of the corrections
    for i, (where, text) in enumerate(zip(corpus.where, corpus.X)):
        if where.id is None:
            continue
        key = str(where.id), text, _types(corpus, i)
        before = last.get(key)
        if before is not None and corpus.where[before].file != where.file:
            out.add(before)
            if documents and documents[i] is None:
                documents[i] = documents[before]
            n_corrected[where.file] = n_corrected.get(where.file, 0) + 1
        last[key] = i
    for name, n in n_corrected.items():
        verb = "takes" if n == 1 else "take"
        tell(
            f"{name}: {counted(n, 'text')} {verb} the place of those with the same ids"
        )
    left = _without(corpus._replace(documents=documents), out)
    _warn_of_lost(corpus, left)
    return left


def _warn_of_lost(corpus: Corpus, left: Corpus) -> None:
    """Warn of types of spans that only replaced records have: two people who annotate
    types of their own in the same texts do not correct each other.
    """
    before, after = (
        {label for *_, label in flatten(each.y) if label is not None}
        for each in (corpus, left)
    )
    lost = sorted(map(str, before - after))
    if lost:
        warn(
            f"{', '.join(lost)}: only replaced records have spans of "
            f"{'this type' if len(lost) == 1 else 'these types'}, so they are not "
            "learned; if each file annotates types of its own, name them by "
            "--annotated FILE=TYPES"
        )


def _without(corpus: Corpus, out: set[int]) -> Corpus:
    """Return a corpus without some of its sequences."""
    n = len(corpus.X)
    parts: dict[str, Any] = {
        name: [each for i, each in enumerate(value) if i not in out]
        for name, value in corpus._asdict().items()
        if isinstance(value, list) and len(value) == n
    }
    return corpus._replace(**parts) if out else corpus


def _warn(
    corpus: Corpus, contradictory: list[list[int]], same: list[list[int]]
) -> None:
    """Warn of texts with several annotations, and of texts that count several times.

    Sentences of tokens that are repeated are usual; texts are not.
    """
    of_texts = corpus.kind.has_spans
    unit = corpus.kind.sequence
    what = corpus.kind.noted
    if contradictory:
        where = " and ".join(str(corpus.where[i]) for i in contradictory[0][:3])
        n = len(contradictory)
        warn(
            f"{counted(n, unit)} {agreeing(n, 'have')} other {what} elsewhere, such as {where}; "
            "to keep the later one, pass --prefer last"
        )
    if same and of_texts:
        where = " and ".join(str(corpus.where[i]) for i in same[0][:3])
        n = len(same)
        comes, counts = ("comes", "counts") if n == 1 else ("come", "count")
        warn(
            f"{counted(n, unit)} {comes} several times with the same {what}, and "
            f"{counts} as often, such as {where}; to count each once, pass --prefer "
            "last"
        )


def warn_of_shared(corpus: Corpus, dev: Corpus) -> None:
    """Warn of held-out texts that are learned, too."""
    if not corpus.kind.has_spans:
        return  # short sentences are found everywhere
    learned = {text for text in corpus.X if text.strip()}
    shared = [i for i, text in enumerate(dev.X) if text in learned]
    if shared:
        warn(
            f"{dev.name}: {len(shared):,} of {counted(len(dev.X), 'text')} "
            f"{agreeing(len(shared), 'are')} learned, too, such as "
            f"{dev.where[shared[0]]}: scores on this file are too high"
        )
