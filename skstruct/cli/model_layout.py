"""The layout of a model's file as the default of the commands that use the model.

A model that learned column 1 as the word and column 2 as the label reads and writes
these columns again, without options; an option overrides. A file that cannot be laid
out in this way is an error that shows both: to guess other columns would be a wrong
answer that looks like a right one.
"""

from __future__ import annotations

import copy
import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from .._data.inputs import TREES
from .._data.places import counted
from .._data.source_layout import SourceLayout
from .._saving.origin import origin_of
from .._taggers.constraints import scheme_of
from ..datasets.formats.entry import NO, TextFormat, TokenFormat
from ..datasets.formats.source import PEEK, Source
from ..datasets.formats.table import BY_NAME, recognised, recognised_or_open
from ..datasets.formats.text_files import split_cells
from ..metrics.tree_scores import check_gold_tree
from .common import CommandError
from .corpus import layout_of, read_all
from .located import locating
from .sentences import as_columns
from .texts import OF_TEXTS

if TYPE_CHECKING:
    from .._data.inputs import Inputs
    from .common import Arguments
    from .corpus import Corpus, Layout

_WHY = "as in training"

_OPTIONS = ("tokens", "label", "separator", "comment")


def learned_layout(layout: Layout, corpus: Corpus | None, model: Any) -> SourceLayout:
    """Return the layout of the file that a model has learned from.

    Parameters
    ----------
    layout : Layout
    corpus : Corpus or None
        What was read; None of a stream.
    model : estimator
    """
    found = layout.how
    if corpus is not None:
        assert corpus.layout is not None
        found = corpus.layout
    scheme = scheme_of(model)
    return replace(found, scheme=scheme) if isinstance(scheme, str) else found


def settle_encoding(arguments: Arguments, model: Any) -> SourceLayout | None:
    """Let the options have the encoding in which a model's file was read, unless one is
    given; return how that file was laid out, if it is known.
    """
    known = origin_of(model).source_layout
    if known is not None and "encoding" not in getattr(arguments, "given", ()):
        arguments.encoding = known.encoding
    return known


def format_for(arguments: Arguments, model: Any) -> str | None:
    """Return the format of files for a model, if an option or the model's file says
    it.
    """
    known = origin_of(model).source_layout
    return arguments.format or (None if known is None else known.format)


def with_layout(
    arguments: Arguments,
    source: Source,
    known: SourceLayout | None,
    writes: bool = False,
) -> Arguments:
    """Return the options for one source, completed by the layout of a model's file.

    Parameters
    ----------
    arguments : Arguments
        Not changed.
    source : Source
    known : SourceLayout or None
        That of the model; without one nothing is added.
    writes : bool
        Whether labels are written: to one more column, whatever column they came from.

    Raises
    ------
    CommandError
        If the source is laid out in another way; the message shows both.
    """
    if known is None or arguments.format not in (None, known.format):
        return arguments
    settled = copy.copy(arguments)
    entry = BY_NAME.get(known.format)
    if isinstance(entry, TextFormat) and known.options and not arguments.read:
        found = recognised(source.head(), for_model=True)
        is_other = found is None or found.format is not entry
        if arguments.format is None and is_other and not _has_texts(source, known):
            other = "nothing known" if found is None else found.format.name
            raise _mismatch(source, f"this looks like {other}", known, "--format")
        settled.read = list(known.options.items())
        settled.format = known.format
        settled.why = _WHY
    if not isinstance(entry, TokenFormat):
        return settled  # text is read as it is
    settled.format = known.format
    if getattr(arguments, "label_names", None) is None:
        settled.label_names = known.label_names
    changed = [
        name
        for name in _OPTIONS
        if getattr(arguments, name, None) not in (None, getattr(known, name))
    ]
    settled.why = _WHY
    if changed:
        settled.why += " but for " + ", ".join(f"--{name}" for name in changed)
    for name in _OPTIONS:
        if name not in entry.options or getattr(arguments, name) is not None:
            continue
        # Labels are written to a new column; of trees no option names head and label.
        is_new_column = writes and not entry.names_fields
        is_tree = isinstance(known.label, tuple)
        if name == "tokens" and len(known.tokens or ()) == 1:
            # Another usual name of the words of a table is as good.
            head = source.head(patient=False)
            if not entry.has_fields(head, known.tokens or ()):
                continue
        if name != "label" or not (is_new_column or is_tree):
            setattr(settled, name, getattr(known, name))
    is_named = arguments.format is not None
    misfit = _misfit(source, settled, entry, writes, is_named)
    if misfit is not None:
        raise _mismatch(source, misfit.seen, known, misfit.remedy)
    return settled


def _has_texts(source: Source, known: SourceLayout) -> bool:
    """Tell whether the records of a source have the keys under which the texts stood
    that a model has learned from: with keys of its own a file can look like anything.
    """
    paths = [str(known.options[name]) for name in OF_TEXTS if name in known.options]
    keys = {path.partition(".")[0] for path in paths}
    objects = source.head().objects
    return bool(keys) and any(keys & set(map(str, each)) for each in objects)


def _mismatch(
    source: Source, seen: str, known: SourceLayout, remedy: str
) -> CommandError:
    """Return the error that shows how a source is laid out, and how the file was that the
    model has learned from.
    """
    return CommandError(
        f"{source.name}: {seen}; the model "
        f"learned from {known.describe()}; if this file differs, pass {remedy}"
    )


class _Misfit(NamedTuple):
    """How a source differs from what options say, and the option to correct."""

    seen: str
    remedy: str


def _misfit(
    source: Source, settled: Any, entry: TokenFormat, writes: bool, is_named: bool
) -> _Misfit | None:
    """Return how a source differs from what the options say; None if it does not.

    ``is_named`` tells that an option names the format: then looks do not count.
    """
    head = source.head(patient=False)
    if not head.lines and not head.records:
        return None  # it is empty
    found = None if is_named else recognised_or_open(head)
    if found is not None and found.format is not entry:
        other, why = found
        if not other.is_general or why.is_sure or head.records:
            return _Misfit(f"this looks like {other.name}: {why.seen}", "--format")
    if entry.has_features:
        return None  # names of features can be anything
    if entry.name != "columns":
        look = entry.look(head)
        fits = is_named or look.is_yes
        seen = "" if look == NO else f": {look.seen}"
        return None if fits else _Misfit(f"this is no {entry.name}{seen}", "--format")
    return _misfit_of_columns(source, settled, writes)


def _misfit_of_columns(source: Source, settled: Any, writes: bool) -> _Misfit | None:
    """Return how the columns of a source differ from what the options say; None if
    they do not.
    """
    # A pipe may wait for an answer to its first line.
    lines = [
        line
        for line in source.peek(1 if source.path is None else PEEK)
        if not (settled.comment and line.startswith(settled.comment))
    ]
    if not lines:
        return None
    widths = [len(split_cells(line, settled.separator)) for line in lines]
    labels: Sequence[Any] = () if writes else as_columns(settled.label)
    needed = [c for c in (*(settled.tokens or ()), *labels) if isinstance(c, int)]
    width = max(set(widths), key=widths.count)
    beyond = [c for c in needed if not -width <= c < width]
    if beyond:
        seen = f"there is no column {beyond[0]}, but {counted(width, 'column')}"
        return _Misfit(seen, "--tokens")
    if settled.separator is not None and width == 1:
        inside = [line for line in lines if len(line.split()) > 1]
        if len(inside) == len(lines):
            seen = f"there is no separator {settled.separator!r} in it"
            return _Misfit(seen, "--separator space")
    if settled.separator is None and width == 1 and len(lines) > 2:
        for mark in ",;|":
            (n, *others) = {line.count(mark) for line in lines}
            if n and not others:
                seen = f"each line has {counted(n + 1, 'cell')} between {mark!r}"
                return _Misfit(seen, f"--separator {shlex.quote(mark)}")
    return None


def read_for(
    path: str | None, arguments: Arguments, model: Any, inputs: Inputs
) -> Corpus:
    """Read the `Corpus` in a file, as the file was read that a model has learned from."""
    known = settle_encoding(arguments, model)
    with Source(path, arguments.encoding) as source:
        settled = with_layout(arguments, source, known)
        corpus = read_all(source, layout_of(settled, source, inputs), inputs)
    if inputs.task == TREES:  # a score of what cannot be right says nothing
        with locating(corpus.name, corpus.places):
            for i, arcs in enumerate(corpus.y):
                check_gold_tree(i, arcs)
    return corpus
