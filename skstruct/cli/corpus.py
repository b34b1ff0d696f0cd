"""Corpus files on the command line: which columns, and where each token stood.

`layout_of` finds out how a file is read: its format by `format_of`, its columns by the
options, the task and the model (`Inputs`). `read` and
`first_file` call it. `read_all` and `batches` then make a `Corpus` of what `sentences`
and `texts` yield.

A format has a name, such as "kytea", and a family, such as "segmented", by which
commands tell what can be done with a file. Only the name says how it is read.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from .._data.inputs import LABELS, TREES, flatten
from .._data.places import Where
from .._data.schemes import scheme_like
from .._data.source_layout import SourceLayout, plain_names
from .._data.spellings import spelling_of
from ..datasets.formats.annotation_layout import reader_options
from ..datasets.formats.contents import where_at, where_of
from ..datasets.formats.entry import (
    TEXTS,
    TOKENS,
    Format,
    TokenFormat,
)
from ..datasets.formats.source import Source
from ..datasets.formats.span_records import (
    Reading,
    Record,
    document_of,
    said_of_record,
)
from ..datasets.formats.table import (
    BY_NAME,
    formats_with,
    recognised,
)
from ..datasets.kinds import TOKENS as TOKENS_KIND
from ..datasets.kinds import Kind, kind_of
from .common import CommandError
from .document_keys import carried, documents_by
from .format_choice import DEFAULTS, called, format_of, tell_recognised
from .sentences import Sentence, as_columns, sentences
from .texts import annotated_texts, new_annotation_reader, path_or_lines

if TYPE_CHECKING:
    from .._data.inputs import Inputs
    from ..datasets.formats.span_files import AnnotationReader
    from .common import Arguments


class Layout(NamedTuple):
    """The way in which a command reads a file.

    Attributes
    ----------
    how : SourceLayout
        What readers take: columns, or fields, of tokens and of what is predicted. Where
        it names none of tokens, they are all columns but the label's, or as many of
        them as a model reads.
    entry : Format
    why : str
        Why it is this format: what was seen in the file, or the option that names it.
    reader : AnnotationReader or None
        Of annotated texts: what reads them.
    document : str or None
        The key or column whose values are documents, if an option names it.
    has_said : bool
        Whether `Corpus.said` is read: where documents are kept together.
    """

    how: SourceLayout
    entry: Format
    why: str = ""
    reader: AnnotationReader | None = None
    document: str | None = None
    has_said: bool = False

    @property
    def family(self) -> str:
        """The family of the format, `Format.family`; its name is that of ``entry``."""
        return self.entry.family

    @property
    def kind(self) -> Kind:
        """The kind of content."""
        return kind_of(self.entry, self.how.label)

    @property
    def tokens(self) -> tuple[Any, ...] | None:
        """Columns, or fields, of a token."""
        return self.how.tokens

    @property
    def label(self) -> Any:
        """Column, or field, of what is predicted; of trees two."""
        return self.how.label

    def with_columns(self, tokens: tuple[Any, ...] | None, label: Any) -> Layout:
        """Return the layout with other columns or fields."""
        return self._replace(how=replace(self.how, tokens=tokens, label=label))


class Corpus(NamedTuple):
    """The content of a file as a command has read it.

    Attributes
    ----------
    name : str
        Of the file.
    family : str
        As of `Layout`.
    X : list
        The tokens of each sentence; of segmented and of annotated texts the raw texts.
    y : list
        Of each sequence its labels, words, spans, or pairs (head, label).
    places : list
        For errors, see `located`: of each sentence the lines of its tokens, a list of
        int; of each annotated text where it stands, as "notes.jsonl, line 3".
    documents : list of str or None
        Of each sequence the document that it is a part of, if the file says it.
    where : list of Where
        Of each sequence its file, record, id and line.
    layout : SourceLayout or None
        How the file was read, which a model keeps.
    why : str
        Why it is this format.
    weights : list of float or None
        Of each sequence, if the file says them.
    n_unannotated : int
        Records without annotations among annotated texts.
    ids : list
        Of each sequence what its record is called in the file; None if that is not
        said.
    kind : Kind
    said : list of dict of str to str
        Of each sequence what the file says of it by keys, columns or comments; empty
        unless documents are kept together.
    """

    name: str
    family: str
    X: list[Any]
    y: list[Any]
    places: list[Any]
    documents: list[str | None]
    where: list[Where]
    layout: SourceLayout | None = None
    why: str = ""
    weights: list[float] | None = None
    n_unannotated: int = 0
    ids: Sequence[Any] = ()
    kind: Kind = TOKENS_KIND
    said: Sequence[dict[str, str]] = ()

    @property
    def amounts(self) -> tuple[int, int]:
        """The number of sequences, and of their elements: see `Kind.units`."""
        return len(self.X), sum(map(len, self.y))


class _Row(NamedTuple):
    """One sequence of a file: an element of each list of a `Corpus`, in their order."""

    x: Any
    y: Any
    place: Any
    document: str | None
    where: Where
    weight: float = 1.0
    id: Any = None
    said: dict[str, str] = {}

    @classmethod
    def of_sentence(cls, sentence: Sentence, file: str, layout: Layout) -> _Row:
        """Make the row of a sentence of a file."""
        said = {}
        if layout.has_said and isinstance(layout.entry, TokenFormat):
            said = layout.entry.said(sentence.lines, sentence.source)
        where = (
            Where(file, line=next(iter(sentence.numbers), None))
            if sentence.place is None
            else where_at(sentence.place)
        )
        return cls(
            sentence.tokens,
            sentence.labels,
            sentence.place or sentence.numbers,
            sentence.document,
            where,
            sentence.weight,
            sentence.id,
            said,
        )

    @classmethod
    def of_text(cls, record: Record, spans: list[Any], layout: Layout) -> _Row:
        """Make the row of an annotated text."""
        return cls(
            record.text,
            spans,
            record.place,
            document_of(record),
            where_of(record),
            said=said_of_record(record.metadata) if layout.has_said else {},
        )


def _corpus_of(source: Source, layout: Layout, rows: list[_Row]) -> Corpus:
    """Return the corpus of some sequences of a source."""
    columns = zip(*rows) if rows else ((),) * len(_Row._fields)
    X, y, places, documents, where, weights, ids, said = map(list, columns)
    if isinstance(layout.entry, TokenFormat) and layout.entry.has_comments:
        said = carried(said)
    if layout.document is not None:
        unit = layout.kind.sequence
        documents = documents_by(layout.document, said, source.name, unit)
    return Corpus(
        source.name,
        layout.family,
        X,
        y,
        places,
        documents,
        where,
        weights=None if set(weights) <= {1.0} else weights,
        ids=[each.id if id is None else id for each, id in zip(where, ids)],
        kind=layout.kind,
        said=said if layout.has_said else (),
    )


# --------------------------------------------------------------------------------------
# Formats
# --------------------------------------------------------------------------------------
def layout_of(
    arguments: Arguments,
    source: Source,
    inputs: Inputs | None = None,
    task: str = LABELS,
) -> Layout:
    """Return the `Layout` of a source, from the options, or else from the table of
    formats.

    Parameters
    ----------
    arguments : argparse.Namespace
        With the options of `options.add_options`.
    source : Source
    inputs : Inputs, optional
        Of the model the source is for, which settles much.
    task : str, optional
        What is to be learned from the source, where there is no model yet.
    """
    task = task if inputs is None else inputs.task
    defaults = DEFAULTS[task]
    entry, why = format_of(arguments, source, inputs, task)
    _refuse_options(arguments, entry)
    tokens = arguments.tokens
    label = arguments.label
    reader = None
    head = None
    if entry.kind == TEXTS:
        reader = new_annotation_reader(arguments)
    elif task == TREES and label is not None:
        arguments.usage_error(
            "--label is for taggers; a parser always reads the head and its label"
        )
    elif entry.name == "conllu":
        tokens = tokens or defaults.token_fields
        label = defaults.label_field if label is None else label
    elif isinstance(entry, TokenFormat):
        if not entry.names_fields:
            label = defaults.label_column if label is None else label
        # Who sends lines one by one gets an answer to the first: nothing is settled.
        if entry.names_fields or inputs is None or source.path is not None:
            head = source.head(patient=inputs is None or not entry.names_fields)
    names = plain_names(getattr(arguments, "label_names", None))
    how = SourceLayout(
        entry.name,
        tokens,
        label,
        arguments.separator,
        arguments.comment,
        source.encoding,
        options={} if names is None else {"label_names": names},
    )
    if isinstance(entry, TokenFormat):
        try:
            entry.check(how)
        except ValueError as error:
            arguments.usage_error(str(error))
        how = how if head is None else entry.with_fields(head, how)
    document = getattr(arguments, "document", None)
    kept_together = (getattr(arguments, name, None) for name in ("holdout", "cv"))
    has_said = document is not None or any(each is not None for each in kept_together)
    return Layout(how, entry, why, reader, document, has_said)


_TOKEN_OPTIONS = ("tokens", "label", "separator", "comment", "label_names")
"""Options that some formats of tokens have, by the names of their fields."""


def _refuse_options(arguments: Arguments, entry: Format) -> None:
    """Refuse options that a format does not have."""
    for name in _TOKEN_OPTIONS:
        given = getattr(arguments, name, None) is not None
        # Options of annotated texts may be keys, which `read` names.
        of_texts = entry.kind == TEXTS and name != "label_names"
        if given and (of_texts or name not in entry.options):
            having = ", ".join(
                each
                for each in formats_with(name)
                if name == "label_names" or BY_NAME[each].kind != TEXTS
            )
            option = name.replace("_", "-")
            arguments.usage_error(
                f"--{option} is not for {called(entry)}, but for --format {having}"
            )
    for name in ("read", "offsets", "ends") if entry.kind != TEXTS else ():
        if getattr(arguments, name, None):
            arguments.usage_error(f"--{name} is for annotated texts")


def _tell_format(arguments: Arguments, source: Source) -> None:
    """Say as what a further file of annotated texts is read: each in its own format."""
    found = recognised(source.head()) if arguments.format is None else None
    if found is not None:
        tell_recognised(source, found)


def read(
    path: str | None,
    arguments: Arguments,
    inputs: Inputs | None = None,
    task: str = LABELS,
) -> Corpus:
    """Read the `Corpus` in a file; for ``inputs`` and ``task`` see `layout_of`."""
    with Source(path, arguments.encoding) as source:
        return read_all(source, layout_of(arguments, source, inputs, task), inputs)


@contextlib.contextmanager
def first_file(arguments: Arguments, task: str) -> Iterator[tuple[Source, Layout]]:
    """Open the first of the files to learn from, and find out its layout.

    Within it `read_files` reads all files, in this layout, and `batches` this one piece
    by piece.

    Parameters
    ----------
    arguments : Arguments
        With the files of `options.add_corpus`.
    task : str
        What is to be learned; see `layout_of`.

    Yields
    ------
    source : Source
    layout : Layout
    """
    path = arguments.files[0]
    check_annotated(arguments)
    with Source(path, arguments.encoding) as source:
        layout = layout_of(arguments, source, task=task)
        yield source, with_types(arguments, layout, path)


def check_annotated(arguments: Arguments) -> None:
    """Refuse ``--annotated`` of a file that is not read."""
    for annotated, _ in arguments.annotated:
        if annotated not in arguments.files:
            arguments.usage_error(f"--annotated: {annotated} is not among the files")


def read_files(
    arguments: Arguments, source: Source, layout: Layout, inputs: Inputs | None = None
) -> Corpus:
    """Read all files to learn from, of which `first_file` has opened the first, as one
    `Corpus`; for ``inputs`` see `layout_of`.
    """
    parts = [read_all(source, layout, inputs)]
    parts += (read_all(*further) for further in _further_files(arguments, layout))
    joined: dict[str, Any] = {
        name: flatten([getattr(part, name) for part in parts])
        for name in ("X", "y", "places", "documents", "where", "ids")
    }
    if layout.has_said:
        joined["said"] = flatten([list(part.said) for part in parts])
    return parts[0]._replace(
        n_unannotated=sum(part.n_unannotated for part in parts),
        **joined,
    )


def _further_files(
    arguments: Arguments, layout: Layout
) -> Iterator[tuple[Source, Layout]]:
    """Open the files behind the first, one after the other, each with its layout."""
    for path in arguments.files[1:]:
        with Source(path, arguments.encoding) as source:
            of_file = with_types(arguments, layout, path)
            _tell_format(arguments, source)
            yield source, of_file


def read_sound_records(
    arguments: Arguments, source: Source, layout: Layout
) -> tuple[Corpus, list[tuple[str, Reading]]]:
    """Read all files of annotated texts, and gather faults instead of raising the first.

    Returns
    -------
    corpus : Corpus
        Without the records that have faults.
    readings : list of (str, Reading)
        The name of each file, and what was met in it: the faults, too.
    """
    parts = [(source.name, *_sound_rows(source, layout))]
    parts += (
        (more.name, *_sound_rows(more, of_file))
        for more, of_file in _further_files(arguments, layout)
    )
    rows = [row for _, found, _ in parts for row in found]
    corpus = _corpus_of(source, layout, rows)
    corpus = with_source_layout(corpus, layout)
    return corpus, [(name, reading) for name, _, reading in parts]


def _sound_rows(source: Source, layout: Layout) -> tuple[list[_Row], Reading]:
    """Return the texts of a source that have no faults, and what was met."""
    assert layout.reader is not None
    reading = Reading(layout.reader, faults=[])
    found = layout.reader.marked(path_or_lines(source), reading)
    rows = [_Row.of_text(record, spans, layout) for record, spans in found]
    return rows, reading


def with_types(arguments: Arguments, layout: Layout, path: str) -> Layout:
    """Return the layout of one of the files to learn from, whose reader knows which
    types of spans the file annotates, if that is not all.
    """
    if not layout.kind.has_spans:
        if arguments.annotated:
            arguments.usage_error("--annotated is for annotated texts")
        if len(arguments.files) > 1:
            arguments.usage_error(
                f"several files are for annotated texts; join those of {layout.family} "
                "in one file"
            )
        return layout
    assert layout.reader is not None
    types = dict(arguments.annotated).get(path, dict(arguments.read).get("annotated"))
    return layout._replace(reader=replace(layout.reader, annotated=types))


def read_all(source: Source, layout: Layout, inputs: Inputs | None = None) -> Corpus:
    """Read the whole `Corpus` of a source."""
    (corpus,) = batches(source, layout, None, inputs)
    return with_source_layout(corpus, layout)


def with_source_layout(corpus: Corpus, layout: Layout) -> Corpus:
    """Return a `Corpus` with how its file was read, and why."""
    entry = layout.entry
    has_labels = entry.kind == TOKENS and not isinstance(layout.label, tuple)
    # One label alone, such as O or an empty cell, is of every scheme.
    has_labels = has_labels and len(corpus.kind.labels_of(corpus.y)) > 1
    labelled = [labels for labels in corpus.y if None not in labels]
    scheme = scheme_like(labelled) if has_labels and labelled else None
    tokens = layout.tokens
    if tokens is None and entry.name == "columns":
        tokens = _token_columns(layout, corpus)
    source_layout = replace(
        layout.how,
        tokens=tokens,
        scheme=None if scheme == "IO" else scheme,  # any labels at all are of IO
        spelling=None if scheme in (None, "IO") else spelling_of(corpus.y),
    )
    if layout.reader is not None:
        source_layout = replace(source_layout, **reader_options(layout.reader))
    return corpus._replace(layout=source_layout, why=layout.why)


def _token_columns(layout: Layout, corpus: Corpus) -> tuple[int, ...]:
    """Return the numbers of the columns of tokens: all but those of the label."""
    first = next(iter(corpus.X[0]))
    width = len(first) if isinstance(first, tuple) else 1
    labels = as_columns(layout.label)
    n = width + len(labels)
    taken = {column % n for column in labels}
    return tuple(column for column in range(n) if column not in taken)


def batches(
    source: Source, layout: Layout, size: int | None, inputs: Inputs | None = None
) -> Iterator[Corpus]:
    """Yield the `Corpus` of a source piece by piece.

    Parameters
    ----------
    source : Source
    layout : Layout
    size : int or None
        Sequences of a piece; None for all in one.
    inputs : Inputs, optional
        Of the model that they are for.

    Raises
    ------
    CommandError
        If there is no sequence at all.
    """
    reading = None
    if layout.kind.has_spans:
        assert layout.reader is not None
        reading = Reading(layout.reader)
        pairs = annotated_texts(source, reading, is_stream=size is not None)
        rows = (_Row.of_text(record, spans, layout) for record, spans in pairs)
    else:
        rows = (
            _Row.of_sentence(sentence, source.name, layout)
            for sentence in sentences(source, layout, inputs)
            if sentence.tokens
        )
    is_empty = True
    while batch := list(islice(rows, size)):
        n_unannotated = 0 if reading is None else reading.n_unannotated()
        corpus = _corpus_of(source, layout, batch)
        yield corpus._replace(n_unannotated=n_unannotated)
        is_empty = False
    if is_empty:
        what = "annotated text" if layout.kind.has_spans else "sentence"
        unannotated = "" if reading is None else reading.told_of_unannotated()
        raise CommandError(f"{source.name}: the file has no {what}{unannotated}")
