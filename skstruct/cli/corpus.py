"""Corpus files on the command line: which format, which columns, and where each token
stood.

The table of formats says what a file is, and `sentences` and `texts` read it. What a
model reads and predicts is its
`skstruct._data.inputs.Inputs`, which decides how a file is read for it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import fields, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from .._data.inputs import LABELS, SPANS, TREES, WORDS, flatten
from .._data.places import Where
from .._data.schemes import scheme_like
from .._data.source_layout import SourceLayout, is_plain
from ..datasets.formats.columns import A_TOKEN_A_LINE
from ..datasets.formats.contents import where_at, where_of
from ..datasets.formats.entry import (
    TEXTS,
    TOKENS,
    Evidence,
    Format,
    TokenFormat,
    TokenOptions,
)
from ..datasets.formats.entry import WORDS as SEGMENTED
from ..datasets.formats.span_records import Reading, document_of
from ..datasets.formats.table import BY_NAME, options_of, recognised, unknown
from ..datasets.formats.understood import Understood
from .common import CommandError, tell
from .input_files import Source, warn_of_columns, warn_of_text
from .sentences import Sentence as Sentence
from .sentences import sentences as sentences
from .sentences import several as several
from .texts import given_to, marked, reading_of

if TYPE_CHECKING:
    from .._data.inputs import Inputs
    from ..datasets.formats.span_files import AnnotationReader
    from .common import Arguments


class _Task(NamedTuple):
    """How files are read for models of one task, unless options say otherwise."""

    who: str
    reads: str
    kind: str  # of formats
    usual: str | None = None  # the format where nothing was recognised
    fields: tuple = ()  # CoNLL-U fields of a token,
    label: Any = None  # and of what is predicted; see `Layout`
    column: Any = None  # its columns


_TABLE = "columns or CoNLL-U", TOKENS, "columns"
_TASKS = {
    LABELS: _Task("tagger", *_TABLE, ("form",), "xpos", -1),
    WORDS: _Task("segmenter", "text", SEGMENTED, "segmented"),
    SPANS: _Task("span tagger", "annotated texts", TEXTS),
    TREES: _Task("parser", *_TABLE, ("form", "xpos"), ("head", "deprel"), (-2, -1)),
}


class Layout(NamedTuple):
    """How a file is read: its format, and which columns (or fields) hold what."""

    format: str  # the family of the entry
    # None: all columns but the label's, or as many of them as a model reads
    tokens: tuple | None
    label: Any  # int or name of a field; of trees two of them
    separator: str | None
    comment: str | None
    reading: AnnotationReader | None = (
        None  # of annotated texts: their `AnnotationReader`
    )
    entry: Format | None = None  # of the table of formats
    why: str = ""  # what speaks for it
    label_names: Any = None  # what labels that are numbers stand for

    def options(self, encoding: str, labels: bool = True) -> TokenOptions:
        """The options for the reader of a format of tokens."""
        label = self.label if labels else None
        of = self.tokens, label, self.separator, self.comment, self.label_names
        return TokenOptions(*of, encoding, labels)


class Corpus(NamedTuple):
    """What a command has read of a file."""

    name: str  # of the file
    format: str
    X: list  # tokens by sentence; of segmented and of annotated texts the raw texts
    y: list  # labels, words, spans, or (head, label)
    # For errors: of a sentence the lines of its tokens, of an annotated text where it
    # stands.
    places: list
    documents: list  # of each sequence: its document, or None
    where: list[Where]  # of each sequence: its file, record, id and line
    understood: Understood | None = None
    weights: list[float] | None = None  # of each sequence, if the file says them
    n_unannotated: int = 0  # records without annotations among annotated texts


def inputs_of(model: Any, format: str | None = None) -> Inputs:
    """The `skstruct._data.inputs.Inputs` of a fitted model.

    Parameters
    ----------
    model : estimator
    format : str, optional
        Of the corpus file, if an option says it.

    Raises
    ------
    CommandError
        If it was trained on rows of numbers, which no corpus file holds, or on
        ready-made features, which no other file holds than data of CRFsuite, or does
        not say what it reads.
    """
    first, last = (model[0], model[-1]) if hasattr(model, "steps") else (model, model)
    inputs = getattr(first, "inputs", None)
    if inputs is None:
        raise CommandError(
            f"the command line does not know what a {type(model).__name__} reads"
        )
    if first is not last and last.inputs.token is tuple and last.inputs.width > 2:
        # Clusters of words are a column behind the others.
        inputs = last.inputs._replace(width=last.inputs.width - 1)
    if inputs.token is dict and format != "crfsuite":
        wrong = (
            "the model was trained on dicts or lists of features; the command line "
            "reads tokens only"
        )
        raise CommandError(
            f"{wrong}, or features from data of CRFsuite (--format crfsuite)"
        )
    if inputs.token not in (str, tuple, dict):
        raise CommandError(
            "the model was trained on rows of numbers; the command line reads tokens "
            "only"
        )
    return inputs


# --------------------------------------------------------------------------------------
# Formats
# --------------------------------------------------------------------------------------
def layout_of(
    arguments: Arguments,
    source: Source,
    inputs: Inputs | None = None,
    task: str = LABELS,
) -> Layout:
    """The `Layout` of a source, from the options and, where they are silent, from the
    table of formats.

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
    how = _TASKS[task]
    entry, why = _entry_of(arguments, source, inputs, task)
    _refuse_options(arguments, entry)
    tokens = arguments.tokens
    label = arguments.label
    reading = None
    if entry.kind == TEXTS:
        reading = reading_of(arguments)
    elif task == TREES and label is not None:
        arguments.usage_error(
            "--label is for taggers; of a parser it is the head and its label, always"
        )
    elif entry.name == "conllu":
        tokens = tokens or how.fields
        label = how.label if label is None else label
    elif isinstance(entry, TokenFormat) and not entry.names_fields:
        label = how.column if label is None else label
    rest = arguments.separator, arguments.comment, reading, entry, why
    names = getattr(arguments, "label_names", None)
    layout = Layout(entry.family, tokens, label, *rest, names)
    if isinstance(entry, TokenFormat):
        try:
            entry.check(layout.options(source.encoding))
        except ValueError as error:
            arguments.usage_error(str(error))
    return layout


_OF_TOKENS = ("tokens", "label", "separator", "comment", "label_names")
_CALLED = {
    "crfsuite": "data of CRFsuite",
    "conllu": "CoNLL-U",
    "segmented": "segmented text",
    "spans": "annotated texts",
}
"""What families of formats are called in sentences."""


def _called(entry: Format) -> str:
    return _CALLED.get(entry.family, entry.family)


def _refuse_options(arguments: Arguments, entry: Format) -> None:
    """Refuse options that a format does not have."""
    for name in _OF_TOKENS:
        given = getattr(arguments, name, None) is not None
        # Options of annotated texts may be keys, which `read` names.
        of_texts = entry.kind == TEXTS and name != "label_names"
        if given and (of_texts or name not in entry.options):
            having = ", ".join(
                each
                for each in options_of(name)
                if name == "label_names" or BY_NAME[each].kind != TEXTS
            )
            option = name.replace("_", "-")
            arguments.usage_error(
                f"--{option} is not for {_called(entry)}, but for --format {having}"
            )
    for name in ("read", "offsets", "ends") if entry.kind != TEXTS else ():
        if getattr(arguments, name, None):
            arguments.usage_error(f"--{name} is for annotated texts")


def _entry_of(
    arguments: Arguments, source: Source, inputs: Inputs | None, task: str
) -> tuple[Format, str]:
    """The format of a source, and why: an option says it, or the table of formats."""
    given = arguments.format
    how = _TASKS[task]
    if given == "text" and task != WORDS:
        raise _mismatch(source, how, "plain text")
    if given is not None:
        named = {"text": "segmented", "spans": "jsonl"}.get(given, given)
        found: tuple[Format, str] = BY_NAME[named], arguments.why
        if named == "columns" and arguments.why != type(arguments).why:
            warn_of_text(source)  # nobody but the model said that these are columns
    else:
        found = _recognised(arguments, source, inputs, task)
    entry = found[0]
    of_features = isinstance(entry, TokenFormat) and entry.has_features
    wrong = inputs is not None and (inputs.token is dict) != of_features
    if task == TREES:
        wrong = entry.name not in ("columns", "conllu")
    elif inputs is not None or task != LABELS:  # a tagger is put into something
        wrong = wrong or entry.kind != how.kind
    if wrong:
        raise _mismatch(source, how, _called(entry))
    return found


def _recognised(
    arguments: Arguments, source: Source, inputs: Inputs | None, task: str
) -> tuple[Format, str]:
    """The format that a source looks like, and why; else what a model reads."""
    how = _TASKS[task]
    head = source.head(patient=inputs is None or task == SPANS)
    known = recognised(head)
    if inputs is None:
        if known is None and (how.usual is None or task in (LABELS, TREES)):
            raise CommandError(str(unknown(head)))
        if known is not None:
            _tell_recognised(source, *known)
            return known[0], known[1].sentence
    elif task == WORDS and known is not None and not known[0].is_general:
        return known[0], known[1].sentence  # of another kind, it is refused
    elif task == WORDS:
        # What is to be segmented can look like anything.
        warn_of_columns(source, "a segmenter takes each line for a sentence")
    elif task == SPANS:
        if known is None and not head.lines:
            raise CommandError(str(unknown(head)))
        if known is None:
            raise _mismatch(source, how, "plain text")
        return known[0], known[1].sentence  # of another kind, it is refused
    elif known is not None and _is_sure(*known, how.kind):
        if known[0].name == "columns" and arguments.tokens is None:
            warn_of_text(source)
        return known[0], known[1].sentence
    elif arguments.tokens is None:
        warn_of_text(source)
    assert how.usual is not None  # span taggers were served above
    return BY_NAME[how.usual], f"the model is a {how.who}"


def _tell_recognised(source: Source, entry: Format, why: Evidence) -> None:
    """Say as what a file is read, and why."""
    what = f"read as {entry.name}: {why.sentence}"
    tell(f"{source.name}: {what}; --format would say otherwise")


def _tell_format(arguments: Arguments, source: Source) -> None:
    """Say as what a further file of annotated texts is read: each in its own format."""
    known = recognised(source.head()) if arguments.format is None else None
    if known is not None:
        _tell_recognised(source, *known)


def _is_sure(entry: Format, why: Evidence, kind: str) -> bool:
    """Whether a file is of a format even for a model that reads other kinds."""
    return entry.kind in (kind, TEXTS) or not entry.is_general or why.score >= 0.8


def _mismatch(source: Source, how: _Task, found: str) -> CommandError:
    wrong = f"the model is a {how.who} and reads {how.reads}, not {found}"
    if found == "plain text" and how is not _TASKS[SPANS]:
        wrong = f"{wrong}: {A_TOKEN_A_LINE}"
    return CommandError(f"{source.name}: {wrong}")


def read(
    path: str | None,
    arguments: Arguments,
    inputs: Inputs | None = None,
    task: str = LABELS,
) -> Corpus:
    """The `Corpus` in a file; for ``inputs`` and ``task`` see `layout_of`."""
    with Source(path, arguments.encoding) as source:
        return read_all(source, layout_of(arguments, source, inputs, task), inputs)


@contextlib.contextmanager
def learned(arguments: Arguments, task: str) -> Iterator[tuple[Source, Layout]]:
    """(open `Source`, its `Layout`) of the first file of `options.add_corpus`;
    `read_files` reads all.
    """
    for path, _ in arguments.annotated:
        if path not in arguments.files:
            arguments.usage_error(f"--annotated: {path} is none of the files")
    with Source(arguments.files[0], arguments.encoding) as source:
        yield (
            source,
            _told(
                arguments, layout_of(arguments, source, task=task), arguments.files[0]
            ),
        )


def read_files(arguments: Arguments, source: Source, layout: Layout) -> Corpus:
    """The `Corpus` of all files that are learned."""
    parts = [read_all(source, layout)]
    for path in arguments.files[1:]:
        with Source(path, arguments.encoding) as more:
            of_file = _told(arguments, layout, path)
            _tell_format(arguments, more)
            parts.append(read_all(more, of_file))
    joined: dict[str, Any] = {
        name: flatten([getattr(part, name) for part in parts])
        for name in ("X", "y", "places", "where")
    }
    joined["documents"] = _documents(parts)
    joined["n_unannotated"] = sum(part.n_unannotated for part in parts)
    return parts[0]._replace(**joined)


def read_checked(
    arguments: Arguments, source: Source, layout: Layout
) -> tuple[Corpus, list[tuple[str, Reading]]]:
    """The `Corpus` of all files of annotated texts, without records that have faults;
    and of each file its name, and what was met when it was read.
    """
    parts = [(source.name, *_checked(source, layout))]
    for path in arguments.files[1:]:
        with Source(path, arguments.encoding) as more:
            of_file = _told(arguments, layout, path)
            _tell_format(arguments, more)
            parts.append((more.name, *_checked(more, of_file)))
    rows = [row for _, found, _ in parts for row in found]
    X, y, places, documents, where = map(list, zip(*rows)) if rows else [[]] * 5
    corpus = Corpus(source.name, layout.format, X, y, places, documents, where)
    corpus = corpus._replace(understood=understood(corpus, layout, source.encoding))
    return corpus, [(name, reading) for name, _, reading in parts]


def _checked(source: Source, layout: Layout) -> tuple[list[Any], Reading]:
    """The annotated texts of a source, and what was met when they were read."""
    assert layout.reading is not None
    reading = Reading(layout.reading, faults=[])
    found = layout.reading.marked(given_to(source), reading)
    rows = [
        (record.text, row, record.place, document_of(record), where_of(record))
        for record, row in found
    ]
    return rows, reading


def _documents(parts: list[Corpus]) -> list[str | None]:
    """The documents of the sequences of several files: those of different files differ."""
    if len(parts) == 1:
        return parts[0].documents
    return [
        None if document is None else f"{part.name}, {document}"
        for part in parts
        for document in part.documents
    ]


def _told(arguments: Arguments, layout: Layout, path: str) -> Layout:
    """Complete the `Layout` of a file that may annotate some types only."""
    if layout.format != "spans":
        if arguments.annotated or len(arguments.files) > 1:
            arguments.usage_error(
                "several files and --annotated are for annotated texts"
            )
        return layout
    assert layout.reading is not None
    types = dict(arguments.annotated).get(path, dict(arguments.read).get("annotated"))
    return layout._replace(reading=replace(layout.reading, annotated=types))


def read_all(source: Source, layout: Layout, inputs: Inputs | None = None) -> Corpus:
    """The whole `Corpus` of a source."""
    (corpus,) = batches(source, layout, None, inputs)
    return corpus._replace(understood=understood(corpus, layout, source.encoding))


def understood(corpus: Corpus, layout: Layout, encoding: str) -> Understood:
    """What was understood of the file of a `Corpus`."""
    entry = layout.entry or BY_NAME[layout.format]
    unit = {SEGMENTED: ("sentence", "word"), TEXTS: ("text", "span")}.get(
        entry.kind, ("sentence", "token")
    )
    counts = {unit[0]: len(corpus.X), unit[1]: sum(map(len, corpus.y))}
    if documents := set(corpus.documents) - {None}:
        counts["document"] = len(documents)
    of_labels = entry.kind == TOKENS and not isinstance(layout.label, tuple)
    scheme = scheme_like(corpus.y) if of_labels else None
    scheme = None if scheme == "IO" else scheme  # any labels at all are of that one
    tokens = layout.tokens
    if tokens is None and entry.name == "columns":
        tokens = _columns_of(layout, corpus)
    of = tokens, layout.label, layout.separator, layout.comment
    laid = SourceLayout(entry.name, *of, encoding, scheme=scheme)
    if layout.reading is not None:
        laid = replace(laid, **_said(layout.reading))
    return Understood(laid, layout.why, counts)


_OF_ONE_FILE = frozenset(("format", "encoding", "annotated"))
"""Options of annotated texts that a model does not remember, or says elsewhere."""


def _said(reading: AnnotationReader) -> dict[str, Any]:
    """What of a `SourceLayout` the options for annotated texts say."""
    given = {
        option.name: getattr(reading, option.name)
        for option in fields(reading)
        if option.name not in _OF_ONE_FILE
        and getattr(reading, option.name) != option.default
    }
    units: dict[str, Any] = {
        name: given.pop(name) for name in ("offsets", "ends") if name in given
    }
    options = {name: value for name, value in given.items() if is_plain(value)}
    return {**units, "options": options}


def _columns_of(layout: Layout, corpus: Corpus) -> tuple[int, ...]:
    """The numbers of the columns of tokens: all but those of the label."""
    first = next(iter(corpus.X[0]))
    width = len(first) if isinstance(first, tuple) else 1
    labels = several(layout.label)
    n = width + len(labels)
    taken = {column % n for column in labels}
    return tuple(column for column in range(n) if column not in taken)


def batches(
    source: Source, layout: Layout, size: int | None, inputs: Inputs | None = None
) -> Iterator[Corpus]:
    """Yield a `Corpus` piece by piece: ``size`` sentences, or for None all."""
    reading = None
    if layout.format == "spans":
        assert layout.reading is not None
        reading = Reading(layout.reading)
        texts = marked(source, reading, size is not None)
        read: Iterator[Any] = (
            (x, y, place, document, 1.0, where)
            for x, y, place, document, where in texts
        )
    else:
        read = (
            (*_of(s), _of_line(source, s))
            for s in sentences(source, layout, inputs)
            if s.tokens
        )
    found = False
    while batch := list(islice(read, size)):
        X, y, places, documents, weights, where = map(list, zip(*batch))
        given = weights if set(weights) != {1.0} else None
        n_unannotated = 0 if reading is None else reading.n_unannotated()
        of = X, y, places, documents, where, None, given, n_unannotated
        yield Corpus(source.name, layout.format, *of)
        found = True
    if not found:
        what = "annotated text" if layout.format == "spans" else "sentence"
        raise CommandError(f"{source.name}: there is no {what} in it")


def _of(s: Sentence) -> tuple[Any, ...]:
    """Tokens, labels, places, document and weight of a sentence."""
    return s.tokens, s.labels, s.place or s.numbers, s.document, s.weight


def _of_line(source: Source, sentence: Sentence) -> Where:
    """Where a sentence stands: its first line, or its record."""
    if sentence.place is not None:
        return where_at(sentence.place)
    return Where(source.name, line=next(iter(sentence.numbers), None))


@contextlib.contextmanager
def locating(name: str, places: Any) -> Iterator[None]:
    """Within it a ValueError becomes a `CommandError` that names the line; see
    `located`.
    """
    try:
        yield
    except ValueError as error:
        raise located(error, name, places) from error


def located(error: Any, name: str, places: Any) -> CommandError:
    """A `CommandError` that says in which line of a file the sequence stands that an
    error names.

    Parameters
    ----------
    error : ValueError
    name, places
        As of `Corpus`.
    """
    i = getattr(error, "sequence", None)  # a PlaceError has one
    if i is None or i >= len(places):
        return CommandError(f"{name}: {error}")
    lines = places[i]
    if isinstance(lines, str):
        return CommandError(f"{lines}: {error}")
    t = error.position or 0
    return CommandError(
        f"{name}, line {lines[t] if t < len(lines) else lines[0]}: {error}"
    )
