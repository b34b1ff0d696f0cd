"""Records of two files that belong together: by their ids if they have any, else by
their position.
"""

from __future__ import annotations

import copy
from collections import Counter
from typing import TYPE_CHECKING, Any

from .._data.places import agreeing, counted
from .common import CommandError, tell

if TYPE_CHECKING:
    from ..datasets.formats.source import Source
    from .common import Arguments
    from .corpus import Corpus


def matched(gold: Corpus, pred: Corpus) -> Corpus:
    """Return the predictions in the order of the gold sequences, if all of both have
    ids; else as they are. Those of records without gold annotations are left out.

    Raises
    ------
    CommandError
        If an id stands twice in a file, or in one of them alone; it is named.
    """
    for corpus in (gold, pred):
        if not corpus.ids or any(id is None for id in corpus.ids):
            return _by_text(gold, pred)
    of_gold, of_pred = (_by_id(corpus) for corpus in (gold, pred))
    beyond = [id for id in of_pred if id not in of_gold]
    if 0 < len(beyond) <= gold.n_unannotated:
        what = counted(len(beyond), "record")
        tell(
            f"{pred.name}: {what} without annotations in {gold.name} "
            f"{agreeing(len(beyond), 'are')} not scored, such as id {beyond[0]}"
        )
        for id in beyond:
            del of_pred[id]
    for here, others, corpus, other in (
        (of_gold, of_pred, gold, pred), (of_pred, of_gold, pred, gold),
    ):  # fmt: skip
        alone = next((id for id in here if id not in others), None)
        if alone is not None:
            raise CommandError(
                f"{other.name}: there is no record with the id {alone}, as there is in "
                f"{_place(corpus, here[alone])}; records are matched by id"
            )
    return _chosen(pred, [of_pred[id] for id in of_gold])


def _chosen(pred: Corpus, order: list[int]) -> Corpus:
    """Return some sequences of a corpus, in an order."""
    n = len(pred.X)
    parts: dict[str, Any] = {
        name: [value[i] for i in order]
        for name, value in pred._asdict().items()
        if isinstance(value, list) and len(value) == n
    }
    return pred._replace(**parts)


def _by_text(gold: Corpus, pred: Corpus) -> Corpus:
    """Return the predictions for gold texts without ids: as they are, or without those
    of records which the gold file has, but which nobody has annotated.
    """
    if not (gold.kind.has_spans and pred.kind.has_spans and len(pred.X) > len(gold.X)):
        return pred
    first: dict[str, int] = {}
    for i, text in enumerate(pred.X):
        if list(pred.y[first.setdefault(text, i)]) != list(pred.y[i]):
            return pred
    beyond = first.keys() - set(gold.X)
    if len(beyond) > gold.n_unannotated or not first.keys() >= set(gold.X):
        return pred
    if beyond:
        what = counted(len(beyond), "text")
        tell(
            f"{pred.name}: {what} without annotations in {gold.name} "
            f"{agreeing(len(beyond), 'are')} not scored"
        )
    return _chosen(pred, [first[text] for text in gold.X])


def _by_id(corpus: Corpus) -> dict[str, int]:
    """Return the number of each sequence by its id."""
    found: dict[str, int] = {}
    parts: Counter[tuple[str, str]] = Counter()
    for i, id in enumerate(map(str, corpus.ids)):
        place = corpus.places[i]
        is_document = corpus.documents and corpus.documents[i] == id
        if isinstance(place, str) or is_document:  # of several sentences
            record = id, "" if is_document else place
            parts[record] += 1
            id = id if parts[record] == 1 else f"{id} ({parts[record]})"
        if id in found:
            raise CommandError(
                f"{_place(corpus, i)}: the id {id} occurs again, after "
                f"{_place(corpus, found[id])}; records are matched by id"
            )
        found[id] = i
    return found


def _place(corpus: Corpus, i: int) -> str:
    """Say where a sequence stands."""
    place = corpus.places[i]
    if isinstance(place, str):
        return place
    return f"{corpus.name}, line {place[0]}" if place else corpus.name


def as_tagged(arguments: Arguments, source: Source) -> Arguments:
    """Return the options for a source that may be what ``tag`` has written of a file
    that they describe: its keys and units are those of ``tag``, and not of the file.
    """
    options = dict(arguments.read)
    head = source.head() if options or arguments.offsets or arguments.ends else None
    if head is None or not head.objects or not all(map(_is_tagged, head.objects)):
        return arguments
    settled = copy.copy(arguments)
    settled.read = [("labels", options["labels"])] if "labels" in options else []
    settled.offsets = settled.ends = None
    return settled


def _is_tagged(record: Any) -> bool:
    """Tell whether a record is as ``tag`` writes it: spans with what they cover."""
    spans = record.get("spans")
    return isinstance(record.get("text"), str) and (
        isinstance(spans, list)
        and all(
            isinstance(span, dict) and span.keys() >= {"start", "end", "label", "text"}
            for span in spans
        )
    )
