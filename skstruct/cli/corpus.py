"""Corpus files on the command line: which format, which columns, and where each token
stood.

The readers of `skstruct.datasets.formats.readers` do the reading; an
`input_files.Source` between them and the file keeps the lines of the sentence at hand,
so that errors about a sequence can name the line. Formats are guessed from the name of
a file, or else from its first lines. What a model reads and predicts is its
`skstruct._data.inputs.Inputs`, which decides how a file is read for it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple

from .._data.inputs import LABELS, SPANS, TREES, WORDS, flatten
from .._data.places import counted
from ..datasets.formats.readers import (
    CONLLU_FIELDS,
    as_head,
    check_heads,
    iter_attributes,
    iter_columns,
    iter_conllu,
)
from ..datasets.formats.text_files import numbered_lines
from .common import CommandError, tell
from .input_files import (
    Source,
    begins_as_conllu,
    guess,
    named_format,
    noticed,
    warn_of_columns,
    warn_of_text,
)
from .texts import are_annotated, marked, reading_of

if TYPE_CHECKING:
    from .._data.inputs import Inputs
    from ..datasets.formats.span_files import AnnotationReader
    from .common import Arguments


class _Task(NamedTuple):
    """How files are read for models of one task, unless options say otherwise."""

    who: str
    reads: str
    formats: tuple
    fields: tuple = ()  # CoNLL-U fields of a token,
    label: Any = None  # and of what is predicted; see `Layout`
    column: Any = None  # its columns


_TABLE = "columns or CoNLL-U", ("columns", "conllu")
_TASKS = {
    LABELS: _Task("tagger", *_TABLE, ("form",), "xpos", -1),
    WORDS: _Task("segmenter", "text", ("segmented",)),
    SPANS: _Task("span tagger", "annotated texts", ("spans",)),
    TREES: _Task("parser", *_TABLE, ("form", "xpos"), ("head", "deprel"), (-2, -1)),
}


class Layout(NamedTuple):
    """How a file is read: its format, and which columns (or fields) hold what."""

    format: str
    # None: all columns but the label's, or as many of them as a model reads
    tokens: tuple | None
    label: Any  # int or name of a field; of trees two of them
    separator: str | None
    comment: str | None
    reading: AnnotationReader | None = (
        None  # of annotated texts: their `AnnotationReader`
    )


class Sentence(NamedTuple):
    """One sentence of a file."""

    tokens: list | str  # str or tuples of str; of segmented text the raw text
    labels: list | None  # str; of trees (head, label); of segmented text the words
    lines: list  # (number, text without line end, whether it is a token's)

    @property
    def numbers(self) -> list[int]:
        """Numbers of the lines that hold tokens."""
        return [number for number, _, is_token in self.lines if is_token]


class Corpus(NamedTuple):
    """What a command has read of a file."""

    name: str  # of the file
    format: str
    X: list  # tokens by sentence; of segmented and of annotated texts the raw texts
    y: list  # labels, words, spans, or (head, label)
    # For errors: of a sentence the lines of its tokens, of an annotated text where it
    # stands.
    places: list


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
    """The `Layout` of a source, from the options and, where they are silent, name and
    content.

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
    format = _format_of(arguments, source, inputs, task)
    tokens = arguments.tokens
    label = arguments.label
    rest = (arguments.separator, arguments.comment)
    not_for = {"crfsuite": "data of CRFsuite", "spans": "annotated texts"}.get(format)
    if not_for and (tokens, label, *rest) != (None,) * 4:
        arguments.usage_error(
            f"--tokens, --label, --separator and --comment are not for {not_for}"
        )
    if format == "spans":
        return Layout(format, None, None, None, None, reading_of(arguments))
    if arguments.read:
        arguments.usage_error("--read is for annotated texts")
    if task == TREES and label is not None:
        arguments.usage_error(
            "--label is for taggers; of a parser it is the head and its label, always"
        )
    if format == "conllu":
        tokens = tokens or how.fields
        label = how.label if label is None else label
        for field in (*tokens, *several(label)):
            if field not in CONLLU_FIELDS:
                arguments.usage_error(
                    f"CoNLL-U has no field {field!r}; it has {', '.join(CONLLU_FIELDS)}"
                )
    else:
        label = how.column if label is None else label
        if any(
            isinstance(column, str) for column in (*(tokens or ()), *several(label))
        ):
            arguments.usage_error(
                "--tokens and --label are numbers of columns where the input is "
                f"{format}"
            )
    return Layout(format, tokens, label, *rest)


def _format_of(
    arguments: Arguments, source: Source, inputs: Inputs | None, task: str
) -> str:
    """Find the format of a source: an option or its name says it, or its content."""
    how = _TASKS[task]
    format = arguments.format or named_format(source)
    allowed = how.formats
    if inputs is None and task == LABELS:
        allowed = (
            "columns",
            "conllu",
            "segmented",
            "crfsuite",
            "spans",
        )  # a tagger is put into something
    elif inputs is not None and inputs.token is dict:
        allowed = ("crfsuite",)
    if format == "text" and task == WORDS:
        format = "segmented"
    if format is None and (inputs is None or task == SPANS) and are_annotated(source):
        format = "spans"
    if format is None and inputs is None:
        format = allowed[0] if len(allowed) == 1 else guess(source, arguments.separator)
        tell(f"{source.name}: read as {format}; --format would say otherwise")
    elif format is None and task == WORDS:
        format = "segmented"
        warn_of_columns(source, "a segmenter takes each line for a sentence")
    elif format is None and task != SPANS:
        format = "conllu" if begins_as_conllu(source) else "columns"
        if format == "columns" and arguments.tokens is None:
            warn_of_text(source)
    if format is None or format not in allowed:
        names = {
            "segmented": "segmented text",
            "spans": "annotated texts",
            "text": "plain text",
        }
        found = names.get(format or "text", format)
        raise CommandError(
            f"{source.name}: the model is a {how.who} and reads {how.reads}, not "
            f"{found}"
        )
    return format


def several(label: Any) -> tuple[Any, ...]:
    """The columns or fields of a `Layout.label`."""
    return label if isinstance(label, tuple) else (label,)


# --------------------------------------------------------------------------------------
# Sentences
# --------------------------------------------------------------------------------------
def sentences(
    source: Source, layout: Layout, inputs: Inputs | None = None, labels: bool = True
) -> Iterator[Sentence]:
    """Yield the sentences of a source, one by one.

    Parameters
    ----------
    source : Source
    layout : Layout
    inputs : Inputs, optional
        Of the model that the tokens are for.
    labels : bool, default=True
        Whether to read labels.

    Raises
    ------
    ValueError, CommandError
        Naming file and line, if a line is not as the layout says.
    """
    return _READERS[layout.format](source, layout, inputs, labels)


def _attributes(source: Source, *_: Any) -> Iterator[Sentence]:
    for rows in iter_attributes(source):
        lines = [(number, line, bool(line)) for number, line in source.take()]
        yield Sentence(
            [token for _, token in rows], [label for label, _ in rows], lines
        )


def _segmented(source: Source, *_: Any) -> Iterator[Sentence]:
    with numbered_lines(source, source.encoding) as (_, lines):
        for _, line in lines:
            ((number, text),) = source.take()
            words = line.split()
            yield Sentence("".join(words), words, [(number, text, bool(words))])


def _columns(
    source: Source, layout: Layout, inputs: Inputs | None, labels: bool
) -> Iterator[Sentence]:
    def is_token(line: str) -> bool:
        return bool(line.strip(" \t")) and not (
            layout.comment and line.startswith(layout.comment)
        )

    read = iter_columns(source, separator=layout.separator, comment=layout.comment)
    found = (
        (rows, [(n, line, is_token(line)) for n, line in source.take()])
        for rows in read
    )
    first = next(found, None)
    if first is None:
        return
    number, text = next((n, line) for n, line, of_token in first[1] if of_token)
    tokens, label = _choose(
        len(first[0][0]), layout, inputs, labels, f"{source.name}, line {number}"
    )
    column = label[0] if len(label) == 1 else None
    for rows, lines in noticed(source, chain([first], found), number, text, column):
        yield _sentence(rows, tokens, label, source.name, lines)


def _conllu(
    source: Source, layout: Layout, inputs: Inputs | None, labels: bool
) -> Iterator[Sentence]:
    assert layout.tokens is not None  # fields have a default
    n = len(layout.tokens)
    label = several(layout.label) if labels else ()
    tokens = _as_kind(list(range(n)), inputs, source.name)
    both = next((field for field in label if field in layout.tokens), None)
    if both is not None:
        raise CommandError(
            f"{source.name}: the field {both} is the label's, and a token's too"
        )
    for rows in iter_conllu(source, fields=(*layout.tokens, *label)):
        lines = [
            (k, line, line.split("\t")[0].isdecimal()) for k, line in source.take()
        ]
        rows = [tuple(map(str, row)) for row in rows]
        yield _sentence(rows, tokens, range(n, n + len(label)), source.name, lines)


_READERS = {
    "columns": _columns,
    "conllu": _conllu,
    "segmented": _segmented,
    "crfsuite": _attributes,
}


def _choose(
    n: int, layout: Layout, inputs: Inputs | None, labels: bool, where: str
) -> Any:
    """(column or columns of the tokens, columns of the label if read) for rows of `n`
    cells.
    """
    label = several(layout.label) if labels else ()
    for c in (*(layout.tokens or ()), *label):
        if not -n <= c < n:
            raise CommandError(
                f"{where}: expected a column {c}; found {counted(n, 'column')}"
            )
    labelled = [c % n for c in label]
    tokens = [c % n for c in layout.tokens or ()]
    if layout.tokens is None:
        tokens = [c for c in range(n) if c not in labelled][
            : None if inputs is None else inputs.width
        ]
    if not tokens:
        raise CommandError(
            f"{where}: expected tokens and a label; found {counted(n, 'column')}"
        )
    both = next((c for c in labelled if c in tokens), None)
    if both is not None:
        raise CommandError(
            f"{where}: column {both} is the label's, and cannot be one of the tokens'"
        )
    return _as_kind(tokens, inputs, where), labelled


def _as_kind(places: list[int], inputs: Inputs | None, where: str) -> Any:
    """One place for tokens that are str, a list for tuples; checked against what a
    model reads.
    """
    if inputs is None:
        return places[0] if len(places) == 1 else places
    wrong = f"{where}: the model reads {counted(inputs.width, 'column')} of a token; "
    if len(places) < inputs.width:
        raise CommandError(f"{wrong}found {len(places)}; --tokens says which to read")
    if len(places) > inputs.width and (inputs.token is str or inputs.task == TREES):
        raise CommandError(f"{wrong}--tokens names {len(places)}")
    return places[0] if inputs.token is str else places


def _sentence(rows: Any, tokens: Any, label: Any, name: str, lines: Any) -> Sentence:
    """The `Sentence` of rows of cells; ``tokens``: a place or places, ``label``:
    places, none if not read.
    """
    if isinstance(tokens, int):
        found = [row[tokens] for row in rows]
    else:
        found = [tuple([row[c] for c in tokens]) for row in rows]
    sentence = Sentence(
        found, [row[label[0]] for row in rows] if label else None, lines
    )
    if len(label) < 2:
        return sentence
    assert sentence.labels is not None
    heads = [
        as_head(head, name, number)
        for head, number in zip(sentence.labels, sentence.numbers)
    ]
    check_heads(name, list(zip(sentence.numbers, heads)), len(rows))
    return sentence._replace(labels=list(zip(heads, [row[label[1]] for row in rows])))


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
            parts.append(read_all(more, _told(arguments, layout, path)))
    joined: dict[str, Any] = {
        name: flatten([getattr(part, name) for part in parts])
        for name in ("X", "y", "places")
    }
    return parts[0]._replace(**joined)


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
    return corpus


def batches(
    source: Source, layout: Layout, size: int | None, inputs: Inputs | None = None
) -> Iterator[Corpus]:
    """Yield a `Corpus` piece by piece: ``size`` sentences, or for None all."""
    if layout.format == "spans":
        assert layout.reading is not None
        read: Iterator[Any] = marked(source, layout.reading, size is not None)
    else:
        read = (
            (s.tokens, s.labels, s.numbers)
            for s in sentences(source, layout, inputs)
            if s.tokens
        )
    found = False
    while batch := list(islice(read, size)):
        yield Corpus(source.name, layout.format, *map(list, zip(*batch)))
        found = True
    if not found:
        what = "annotated text" if layout.format == "spans" else "sentence"
        raise CommandError(f"{source.name}: there is no {what} in it")


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
