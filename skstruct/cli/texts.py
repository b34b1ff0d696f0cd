"""Texts and spans on the command line: annotated texts to learn from, texts to be
labelled, spans written.

An input is annotated texts, in a format that `skstruct.datasets.read_spans` knows, or
it is plain text, which is one text, or one on each line.
"""

from __future__ import annotations

import argparse
import copy
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .._data.inputs import LABELS, SPANS, TREES, WORDS, PlaceError
from .._data.text import is_white_space
from .._taggers.abilities import reason, span_labels
from ..datasets.formats.brat import is_brat
from ..datasets.formats.entry import TEXTS
from ..datasets.formats.source import Source
from ..datasets.formats.span_files import FORMATS, AnnotationReader
from ..datasets.formats.span_records import SPAN_KEYS, Reading, Record
from ..datasets.formats.span_writing import brat_names, reserved_keys, write_spans
from ..datasets.formats.table import recognised, text_formats
from ..datasets.kinds import KINDS
from .common import (
    STANDARD,
    CommandError,
    check_inputs,
    checked_type,
    tell,
    warn,
)
from .docbin import as_docbin, check_docbin
from .input_files import warn_of_columns
from .known import placing, read_known
from .min_proba import check_min_proba, min_proba
from .spans_out import Placeholders, as_xml, conll_lines, refuse_overlap
from .targets import check_within, output, write_bytes

if TYPE_CHECKING:
    from .._data.spans import Span
    from .common import Arguments


class TextRead(NamedTuple):
    """A text that is to be labelled.

    Attributes
    ----------
    place : str
        Where it stands, for messages: "notes.jsonl, line 3".
    text : str
    metadata : dict
        What is written beside its spans.
    """

    place: str
    text: str
    metadata: dict[str, Any]


class TextFile(NamedTuple):
    """A file of texts that are to be labelled, or a folder of brat.

    Attributes
    ----------
    path : str
        "-" is standard input.
    name : str or None
        What the text in it is called, if the file was found in a folder: its path
        there, without ending. None: what the file itself says.
    """

    path: str
    name: str | None = None


WRITTEN = (
    "xml",
    "html",
    "conll",
    "replaced",
    "docbin",
    *(f.name for f in text_formats().values() if f.is_written),
)
"""Formats in which labelled texts can be written."""

_STREAMED = ("xml", "conll", "replaced", "jsonl", "doccano", "prodigy")
"""Formats in which texts can be written one after the other."""

_WITH_PROBA = ("xml", "jsonl", "label-studio")
_OF_ANNOTATIONS = frozenset(
    "answer relations annotator annotation_id annotation_approver lead_time _task_hash "
    "_view_id "
    "_annotator_id _session_id _timestamp _is_binary".split()
)
"""Keys of records that speak of the spans annotated before, and would be false of
predicted ones.
"""


def are_annotated(source: Source) -> bool:
    """Tell whether a source looks like annotated texts: files of brat, or JSON."""
    if source.path is None:
        # Who writes plain text to a pipe line by line need not wait for a guess.
        first = "".join(source.peek(1)).strip()
        if not first.startswith(("[", "{")):
            return False
    found = recognised(source.head(), for_model=True)
    return found is not None and found.format.kind == TEXTS


def new_annotation_reader(arguments: Arguments) -> AnnotationReader:
    """Return the reader of annotated texts that ``--read`` and other options describe."""
    options = dict(arguments.read)
    known = {each.name for each in fields(AnnotationReader)} - {"encoding"}
    if arguments.format in FORMATS:
        options.setdefault("format", arguments.format)
    for name in ("offsets", "ends", "label_names"):
        if getattr(arguments, name, None) is not None:
            options[name] = getattr(arguments, name)
    unknown = sorted(set(options) - known)
    if unknown:
        arguments.usage_error(
            f"--read {unknown[0]}: choose from {', '.join(sorted(known))}"
        )
    try:
        return AnnotationReader(**options, encoding=arguments.encoding)
    except ValueError as error:
        arguments.usage_error(f"--read: {error}")


def path_or_lines(source: Source) -> str | Source:
    """Return what an `AnnotationReader` reads of a source: the path of a folder or file
    of brat, which has companions; else the source itself, which keeps no lines from now
    on.
    """
    return (
        source.path
        if source.path is not None and is_brat(source.path)
        else source.unkept()
    )


def annotated_texts(
    source: Source, reading: Reading, is_stream: bool
) -> Iterator[tuple[Record, list[Span]]]:
    """Yield the annotated texts of a source, each with its spans.

    Parameters
    ----------
    source : Source
    reading : Reading
        What is met stands there afterwards.
    is_stream : bool
        Whether texts that are white space are left out: a model that learns from each
        batch needs a token.
    """
    for record, spans in reading.options.marked(path_or_lines(source), reading):
        if not (is_stream and is_white_space(record.text)):
            yield record, spans


# --------------------------------------------------------------------------------------
# tag
# --------------------------------------------------------------------------------------
def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what ``tag`` knows for models of spans."""
    add = parser.add_argument_group("texts, for models that mark spans").add_argument
    add(
        "--lines",
        action="store_true",
        help="each line of FILE is a text (default: FILE is one)",
    )
    what = (
        f"{', '.join(WRITTEN)} (default: jsonl); brat needs a folder as --output; conll "
        "writes a token and its label a line, replaced the text with [PER-1] for a name, "
        "docbin a .spacy file (needs spaCy)"
    )
    add("--write", choices=WRITTEN, metavar="FORMAT", help=what)
    what = "replacement, such as _, of white space in labels, for brat"
    add("--label-space", type=label_space, metavar="S", help=what)
    what = (
        "write the spans that a model of train --recall considers possible,"
        " as candidates or predictions"
    )
    add("--sets", action="store_true", help=what)
    what = (
        "write only spans with at least this probability, above 0 and at "
        "most 1; by type as in PER=0.9,ORG=0.6,0.5, where 0.5 is for other "
        "types"
    )
    add("--min-proba", type=min_proba, metavar="P", help=what)
    what = (
        "known spans: a lexicon with an entry or a regular expression "
        "between slashes, a tab and a type (O: no span) in each line; or "
        "annotated texts (.json, .jsonl)"
    )
    add("--known", dest="known_spans", metavar="FILE", help=what)


label_space = checked_type(str, lambda s: s.split() == [s], "text without white space")
"""A type of ``argparse``."""

_OF_SPANS = "lines", "write", "label_space", "sets", "min_proba", "known_spans"
_CALLED = {"known_spans": "known"}
"""Names of options whose values have another name among the arguments."""

_NOT_FOR = {
    SPANS: (
        "scores",
        "kbest",
        "scheme",
        "dictionary",
        "tokens",
        "label",
        "separator",
        "comment",
        "tag_separator",
    ),
    WORDS: (*_OF_SPANS, "scheme"),
    LABELS: (*_OF_SPANS, "dictionary", "tag_separator"),
    TREES: (*_OF_SPANS, "scheme", "dictionary", "tag_separator"),
}
"""Options of ``tag`` and ``select`` that models of a task have no use for."""

_WHAT = {
    SPANS: "mark spans of texts",
    WORDS: "segment text",
    LABELS: "label tokens",
    TREES: "parse",
}


_REMEDIES = {
    "CalibratedTagger": "train --calibrate makes one",
    "predict_sets": "--sets writes them",
}
"""Word of a reason, and what it means on the command line."""


def refuse(arguments: Arguments, task: str) -> None:
    """Refuse options that models of a task have no use for."""
    for name in _NOT_FOR[task]:
        if getattr(arguments, name, None) not in (None, False):
            instead = (
                "; in Python predict_kbest gives them"
                if name in ("kbest", "scores")
                else ""
            )
            option = _CALLED.get(name, name).replace("_", "-")
            what = _WHAT[task]
            arguments.usage_error(f"--{option} is not for models that {what}{instead}")


def require(arguments: Arguments, model: Any, **methods: str) -> None:
    """Refuse options, by name, that need a method which the model lacks."""
    for name, method in methods.items():
        if getattr(arguments, name) and not hasattr(model, method):
            why = reason(model, method)
            remedy = next(
                (f"; {what}" for word, what in _REMEDIES.items() if word in why), ""
            )
            option = name.replace("_", "-")
            arguments.usage_error(f"--{option}: {why}{remedy}")


def tag(model: Any, arguments: Arguments) -> int | None:
    """Run ``tag`` for a model of spans."""
    format = arguments.write or "jsonl"
    if arguments.sets and not hasattr(model, "predict_sets"):
        arguments.usage_error(
            f"--sets: this {type(model).__name__} offers no sets; train --recall R"
        )
    if arguments.sets and (arguments.proba or format not in ("jsonl", "label-studio")):
        arguments.usage_error(
            "--sets has probabilities, and is for --write jsonl and label-studio"
        )
    if arguments.proba and format not in _WITH_PROBA:
        arguments.usage_error(
            f"--proba: only {', '.join(_WITH_PROBA)} have a place for probabilities"
        )
    if arguments.sets and arguments.min_proba:
        arguments.usage_error("--sets and --min-proba do not go together")
    probable = "predict_segment_proba"
    require(arguments, model, proba=probable, min_proba=probable)
    if format == "brat" and arguments.output in STANDARD:
        arguments.usage_error("--write brat needs --output, a folder")
    if arguments.label_space and format != "brat":
        arguments.usage_error("--label-space is for --write brat")
    check_min_proba(model, arguments)
    labels = _brat_labels(model, arguments) if format == "brat" else {}
    arguments.known_spans = read_known(model, arguments)
    arguments.placeholders = Placeholders()
    check_docbin(arguments)
    check_inputs(arguments.files, folders=True)
    files = find_text_files(arguments.files or ["-"])
    texts = read_text_files(files, arguments)
    if format == "brat":
        _write_brat(model, _with_names(list(texts)), labels, arguments)
        _finish(arguments)
        return None
    if format == "docbin":
        _write(arguments.output, model, list(texts), format, arguments)
        _finish(arguments)
        return None
    with output(arguments.output, arguments.encoding) as file:
        for k, batch in enumerate(_batches(texts, format, arguments.batch)):
            _write(file, model, batch, format, arguments, is_first=k == 0)
            file.flush()  # who reads the pipe need not wait for the end
    _finish(arguments)
    return None


def _finish(arguments: Arguments) -> None:
    if arguments.known_spans is not None:
        arguments.known_spans.warn_of_others()


def _batches(
    texts: Iterable[TextRead], format: str, n: int
) -> Iterator[list[TextRead]]:
    """Yield texts in parts of ``n``; all at once where a format is one list or page."""
    if format not in _STREAMED:
        yield list(texts)
        return
    rest = iter(texts)
    while batch := list(islice(rest, n)):
        yield batch


def _brat_labels(model: Any, arguments: Arguments) -> dict[str, str]:
    """Return what is written for each label of a model; labels that brat cannot hold
    are refused before any text is read.
    """
    space = arguments.label_space
    names: dict[str, str] = {}
    for label in span_labels(model):
        name = label if space is None else space.join(label.split())
        if name.split() != [name]:
            wrong = f"brat takes no white space in labels, and the model has {label!r}"
            remedy = f"--label-space _ writes {'_'.join(label.split())}"
            raise CommandError(f"{arguments.model}: --write brat: {wrong}; {remedy}")
        if name in names:
            both = f"{names[name]!r} and {label!r} would both be {name!r}"
            raise CommandError(f"{arguments.model}: --label-space {space}: {both}")
        names[name] = label
    return {label: name for name, label in names.items()}


def _write_brat(
    model: Any,
    texts: list[TextRead],
    labels: dict[str, str],
    arguments: Arguments,
) -> None:
    """Write the files of brat, two for each text, where nothing is replaced by them.

    ``labels`` says what is written for each label of the model.
    """
    metadata = [each.metadata for each in texts]
    try:
        names = brat_names([each.text for each in texts], metadata)
    except PlaceError as error:
        assert error.sequence is not None
        raise CommandError(f"{texts[error.sequence].place}: {error}") from None
    paths = [Path(arguments.output, name) for name in names]
    written = [f"{path}{ending}" for path in paths for ending in (".txt", ".ann")]
    read = [*arguments.files, arguments.model]
    for path in written:
        check_within(path, read, arguments.force)
    _write(arguments.output, model, texts, "brat", arguments, labels)


def find_text_files(paths: Iterable[str]) -> list[TextFile]:
    """Return the files that are labelled: of a folder without annotations of brat its
    files of text.
    """
    found: list[TextFile] = []
    for path in paths:
        if not os.path.isdir(path) or any(Path(path).rglob("*.ann")):
            found.append(TextFile(path))
            continue
        inside = sorted(
            each
            for ending in ("txt", "txt.gz")
            for each in Path(path).rglob(f"*.{ending}")
        )
        if not inside:
            raise CommandError(
                f"{path}: there is no file NAME.txt or NAME.ann in the folder"
            )
        for each in inside:
            name = each.relative_to(path).as_posix().removesuffix(".gz")
            found.append(TextFile(str(each), name.removesuffix(".txt")))
    return found


def read_text_files(
    files: Iterable[TextFile], arguments: Arguments
) -> Iterator[TextRead]:
    """Yield the texts of several files; those of a folder keep their names."""
    for path, name in files:
        with Source(path, arguments.encoding) as source:
            for read in read_texts(source, arguments):
                if name is not None:
                    read = read._replace(metadata={**read.metadata, "name": name})
                yield read


def _with_names(texts: list[TextRead]) -> list[TextRead]:
    """Return the texts, each with nothing but a name for its files of brat beside it:
    its own if all have one, else a number.
    """
    names = [each.metadata.get("name") for each in texts]
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        names = [f"{k:0{len(str(len(texts)))}}" for k in range(len(texts))]
    return [each._replace(metadata={"name": n}) for each, n in zip(texts, names)]


def read_texts(source: Source, arguments: Arguments) -> Iterator[TextRead]:
    """Yield the texts of a source, in the way that options name, or that its name and
    content tell: records, whose annotations are ignored; one text per line; one text.
    """
    if arguments.format not in (None, "spans", "text", *FORMATS):
        arguments.usage_error(
            f"--format {arguments.format} is not for models that mark spans of texts"
        )
    is_named = arguments.format in ("spans", *FORMATS) or (
        arguments.format is None and _is_named(source)
    )
    has_records = is_named or (arguments.format is None and are_annotated(source))
    if has_records and not arguments.read:
        arguments = _with_text_keys(arguments)
    if arguments.read and (arguments.lines or not has_records):
        arguments.usage_error("--read is for annotated texts")
    what = "annotated texts; annotations in this file, if any, are ignored"
    if arguments.lines or not has_records:
        what = "texts, a line each" if arguments.lines else "one text"
    tell(f"{source.name}: read as {what}")
    if arguments.lines:
        for number, line in enumerate(source.unkept(), start=1):
            place = f"{source.name}, line {number}"
            yield TextRead(place, line.rstrip("\r\n"), {})
    elif has_records:
        reader = new_annotation_reader(arguments)
        written = _metadata_chooser(arguments.write or "jsonl", source.name)
        for name, _ in arguments.read:
            if name not in ("format", *OF_TEXTS):
                arguments.usage_error(
                    f"--read {name}: the annotations are ignored; only "
                    f"{', '.join(OF_TEXTS)} have an effect here"
                )
        try:
            for record in reader.texts(path_or_lines(source)):
                yield TextRead(record.place, record.text, written(record.metadata))
        except ValueError as error:
            if is_named or arguments.read:
                raise
            raise CommandError(
                f"{error}; to read {source.name} as plain text, pass --format text"
            ) from error
    else:
        if arguments.format is None:
            warn_of_columns(
                source, "it is read as one text; if that is right, pass --format text"
            )
        name = {"name": Path(source.name).stem} if arguments.write == "brat" else {}
        yield TextRead(source.name, "".join(source.unkept()), name)


OF_TEXTS = ("text", "words", "records")
"""Options of annotated texts that say where a text stands."""


def _with_text_keys(arguments: Arguments) -> Arguments:
    """Return the options, with the keys of texts that the file had which the model has
    learned from, if they are known.
    """
    known = {} if arguments.known is None else arguments.known.options
    settled = copy.copy(arguments)
    settled.read = [(name, known[name]) for name in OF_TEXTS if name in known]
    return settled


def _is_named(source: Source) -> bool:
    """Tell whether the name of a file says that it holds annotated texts."""
    name = (source.path or "").removesuffix(".gz").lower()
    endings = [ending for f in text_formats().values() for ending in f.endings]
    return name.endswith((*endings, ".spacy"))


def _metadata_chooser(
    format: str, name: str
) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return a function that chooses what of a record's metadata is written beside
    predicted spans.

    What was said of other spans is left out; so is, with a warning, a key for which the
    format has no place.

    Parameters
    ----------
    format : str
        That is written.
    name : str
        Of the file that is read, for the warning.
    """
    reserved = reserved_keys(format) if format in FORMATS else ()

    @cache
    def tell(key: Any) -> None:  # once
        warn(
            f"{name}: the records' own {key!r} is left out: {format} has no place for "
            "it"
        )

    def fits(key: Any, value: Any) -> bool:
        if key in _OF_ANNOTATIONS or (
            key in (*SPAN_KEYS, "candidates")
            and not isinstance(value, str | int | float)
        ):
            return False
        if key in reserved or (format == "brat" and key != "name"):
            tell(key)
            return False
        return True

    return lambda metadata: {
        key: value for key, value in metadata.items() if fits(key, value)
    }


def _write(
    file: Any,
    model: Any,
    batch: list[TextRead],
    format: str,
    arguments: Arguments,
    labels: dict[str, str] | None = None,
    is_first: bool = True,
) -> None:
    """Label a batch of texts, and write it.

    Parameters
    ----------
    file : text file, or str
        For brat the path of a folder, for docbin of a file.
    model : estimator
    batch : list of TextRead
    format : str
        One of `WRITTEN`.
    arguments : Arguments
    labels : dict, optional
        What is written for labels of the model, where that is not the label.
    is_first : bool, default=True
        Whether a message shows the first text.
    """
    X = [each.text for each in batch]
    metadata = [each.metadata for each in batch]
    known = arguments.known_spans
    given = {} if known is None else {"known": known.of(X)}
    least = arguments.min_proba
    limit = {} if least is None else {"min_proba": least}
    with placing(lambda i: batch[i].place):
        y = model.predict(X, **given, **limit)
    if is_first and batch:
        tell(f"{batch[0].place}: first: {KINDS['texts'].sample(X, y)}")
    if labels:
        y = [[span._replace(label=labels[span.label]) for span in spans] for spans in y]
    proba = model.predict_segment_proba(X, y, **given) if arguments.proba else None
    offered = model.predict_sets(X) if arguments.sets else None
    if offered is not None and format == "label-studio":
        y = [[span for span, _ in spans] for spans in offered]
        proba = offered
    elif offered is not None:
        candidates = (
            [{**span._asdict(), "probability": p} for span, p in spans]
            for spans in offered
        )
        metadata = [
            {**known, "candidates": spans} for known, spans in zip(metadata, candidates)
        ]
    refuse_overlap(batch, y, format)
    if format == "html":
        from ..inspection import render

        file.write(render(X, y))
    elif format == "xml":
        pairs = (
            [[(span, None) for span in spans] for spans in y]
            if proba is None
            else proba
        )
        file.writelines(map(as_xml, X, pairs))
    elif format == "conll":
        file.writelines(conll_lines(model, batch, y))
    elif format == "docbin":
        write_bytes(file, as_docbin(model, X, y))
    elif format == "replaced":
        file.writelines(map(arguments.placeholders.replaced, batch, y))
    else:
        more: dict[str, Any] = {}
        if format == "label-studio":
            more["model_version"] = Path(arguments.model).name
        write_spans(file, X, y, format, metadata=metadata, proba=proba, **more)
