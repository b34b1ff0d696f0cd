"""The card of a model on the command line: what `train` writes, and who asks for it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from .._data.card import Card, new_card
from .._data.inputs import flatten
from .._data.source_layout import is_plain
from .._saving.origin import digest_of, origin_of
from .common import STANDARD, warn

if TYPE_CHECKING:
    from .common import Arguments
    from .corpus import Corpus

_NOT_ON_CARD = frozenset(
    "run usage_error default_of format traceback files model dev text force verbose cluster "
    "update dry_run given also_read lexicon template holdout cv n_jobs".split()
)
"""Arguments of ``train`` that are not among the options on a card, which has them
elsewhere, or which nobody asks for afterwards.
"""


def sources_of(arguments: Arguments) -> list[dict[str, Any]]:
    """Return what a card says of the files that ``train`` reads, which have to exist:
    what each is for, its name, and its digest if it can be read twice.
    """
    used = [("train", path) for path in arguments.files]
    used += [("dev", arguments.dev), ("text", arguments.text)]
    used += [("lexicon", path) for _, path in arguments.lexicon]
    used += [("template", arguments.template)]
    found = []
    for use, path in used:
        if path in STANDARD:
            if path is not None:
                found.append({"use": use, "name": "standard input"})
        elif os.path.isfile(path) or os.path.isdir(path):  # not a pipe, read once
            name = os.path.basename(os.path.normpath(path))
            found.append({"use": use, "name": name, "sha256": digest_of(path)})
        else:
            found.append({"use": use, "name": os.path.basename(path)})
    return found


def options_of(arguments: Arguments) -> dict[str, Any]:
    """Return the options of a command that are not the default, as JSON can say them."""
    found = {}
    for name, value in vars(arguments).items():
        if name in _NOT_ON_CARD or value == arguments.default_of(name):
            continue
        if isinstance(value, list | tuple):
            value = [_plain(each) for each in value if not _is_folder(each)]
        if value:
            found[name] = _plain(value)
    return found


def _is_folder(value: Any) -> bool:
    """Tell whether a parameter of ``--param`` is the folder of checkpoints."""
    return isinstance(value, tuple) and value[0].endswith("checkpoint")


def _plain(value: Any) -> Any:
    """Return a value as JSON can say it: a pair, as of ``--param``, as ``NAME=VALUE``."""
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str):
        return f"{os.path.basename(value[0])}={value[1]}"
    return value if is_plain(value) else str(value)


def counts_of(corpus: Corpus, model: Any) -> dict[str, int]:
    """Return how many sequences, elements and labels a corpus holds, by what they are
    called, as "sentences", "tokens" and "labels".
    """
    names = (f"{unit}s" for unit in corpus.kind.units)
    counts = dict(zip(names, corpus.amounts))
    if corpus.kind.has_spans:
        labels = {span[2] for span in flatten(corpus.y)} - {None}
        counts["types"] = len(labels)
    elif hasattr(model, "classes_"):
        counts["labels"] = len(model.classes_)
    return counts


def card_for(
    arguments: Arguments,
    sources: list[dict[str, Any]],
    counts: dict[str, int],
    score: dict[str, Any] | None,
) -> Card:
    """Return the card of a model that ``train`` has made now; ``score`` is that of
    `HeldOutScores`, if documents were held out.
    """
    return new_card(
        data=sources, counts=counts, score=score, options=options_of(arguments)
    )


def warn_if_learned(
    model: Any, path: str | None, name: str, who: str = "the model"
) -> None:
    """Warn if a file that a model is scored on is one that it has learned from; ``who``
    is what the model is called.
    """
    card = origin_of(model).card
    if card is None or path in STANDARD or not os.path.isfile(path):
        return
    learned = {
        each.get("sha256") for each in card.data if each.get("use") in ("train", "dev")
    }
    if learned - {None} and digest_of(path) in learned:
        warn(
            f"{name}: {who} was trained on this file; scores on it are too high; for a "
            "fair score: skstruct train --holdout .2"
        )
