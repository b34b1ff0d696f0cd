"""Labels of a corpus that break the scheme of a model, rewritten as ``--repair`` asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._data.places import counted
from .._data.schemes import check_scheme, convert_scheme, rewriting
from .._taggers.constraints import scheme_of
from .common import tell
from .located import locating

if TYPE_CHECKING:
    from ..datasets.kinds import Kind
    from .common import Arguments
    from .corpus import Corpus


def repairer(
    arguments: Arguments, model: Any, kind: Kind, learned: str | None = None
) -> Callable[[Corpus], Corpus]:
    """Return a function that rewrites the labels of a `Corpus` by the scheme of the
    model, as ``--repair`` asks; without the option it returns the corpus as it is.

    ``learned`` is the scheme of labels that a model without constraints has learned.
    """
    if not arguments.repair:
        return lambda corpus: corpus
    scheme = scheme_of(model) or learned
    if kind.is_text or scheme is None:
        arguments.usage_error(
            "--repair is for taggers with --param constraints=SCHEME, such as BIO"
        )

    def repair(corpus: Corpus) -> Corpus:
        source, repaired = rewriting(corpus.y, check_scheme(scheme))
        if source is None:  # the error says why
            with locating(corpus.name, corpus.places):
                convert_scheme(corpus.y, scheme, scheme, strict=False)
        assert repaired is not None  # else the error was raised
        changed = [
            sum(a != b for a, b in zip(*pair)) for pair in zip(corpus.y, repaired)
        ]
        if any(changed):
            labels = counted(sum(changed), "label")
            where = counted(sum(map(bool, changed)), "sentence")
            tell(f"{corpus.name}: repaired {labels} in {where}")
        return corpus._replace(y=repaired)

    return repair
