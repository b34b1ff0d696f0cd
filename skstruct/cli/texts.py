"""Texts and spans on the command line: annotated texts to learn from, texts to be labelled, spans written.

An input is annotated texts, in a format that `skstruct.datasets.read_spans` knows, or it is plain text, which
is one text, or one on each line.
"""

import json
import os
import re
from dataclasses import fields
from itertools import chain, islice
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from ..data.text import is_white_space
from ..formats.annotation_tools import is_brat
from ..formats.span_files import FORMATS, AnnotationReader
from ..formats.span_records import SPAN_KEYS
from ..formats.span_writing import reserved_keys, write_spans
from ..inspection import render
from .common import STANDARD, CommandError, check_replaced, output, warn
from .file_formats import named_format, warn_of_columns
from .lines import Source

WRITTEN = ("xml", "html", *FORMATS)
"""How labelled texts can be written."""

_STREAMED = ("xml", "jsonl", "doccano", "prodigy")
_WITH_PROBA = ("xml", "jsonl", "label-studio")
_NAME = re.compile(r"[^\W\d][\w.-]*")  # of an element of XML
_NOT_XML = re.compile(r"[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # characters, XML 1.0
_JSON = re.compile(r"""\{\s*"[^"\n]*"\s*:|\[\s*[\[{]\s*"|\[\n\s*["\]]""")
"""The beginning of an object; of a list of objects, or of pairs; or of a list of anything over several lines.

Other text begins with such brackets, too: ``[[Category:Towns]]``.
"""

_OF_ANNOTATIONS = frozenset(
    "answer relations annotator annotation_id annotation_approver lead_time _task_hash _view_id "
    "_annotator_id _session_id _timestamp _is_binary".split()
)
"""Keys of records that speak of the spans annotated before, and would be false of predicted ones."""


def are_annotated(source):
    """Whether a source looks like annotated texts: a folder or a file of brat, or JSON."""
    if source.path is not None and is_brat(source.path):
        return True
    first = "".join(source.peek(1)).strip()
    # Who writes plain text to a pipe line by line need not wait for a guess.
    begin = first if first.strip("[{ \t") else "\n".join(source.peek(3)).strip()
    if _JSON.match(begin):
        return True
    try:
        return isinstance(json.loads(first), (dict, list))
    except (ValueError, RecursionError):
        return False


def reading_of(arguments):
    """The `AnnotationReader` that the options of ``--read`` describe."""
    options = dict(arguments.read)
    known = {each.name for each in fields(AnnotationReader)} - {"encoding"}
    unknown = sorted(set(options) - known)
    if unknown:
        arguments.usage_error(f"--read {unknown[0]}: known are {', '.join(sorted(known))}")
    try:
        return AnnotationReader(**options, encoding=arguments.encoding)
    except ValueError as error:
        arguments.usage_error(f"--read: {error}")


def _given(source):
    """What readers of annotated texts take for a source; they number the lines themselves."""
    return source.path if source.path is not None and is_brat(source.path) else source.unkept()


def batches(source, reader, size):
    """Yield annotated texts as (X, y, places), ``size`` at a time, or for None all; places are for errors.

    With a size texts that are white space are left out: a model that learns from each batch needs a token.
    """
    found = reader.marked(_given(source))
    if size is not None:
        found = (pair for pair in found if not is_white_space(pair[0].text))
    first = next(found, None)
    if first is None:
        raise CommandError(f"{source.name}: there is no annotated text in it")
    found = chain([first], found)
    while batch := list(islice(found, size)):
        yield [r.text for r, _ in batch], [spans for _, spans in batch], [r.place for r, _ in batch]


# --------------------------------------------------------------------------------------------------
# tag
# --------------------------------------------------------------------------------------------------
def add_options(parser):
    """Add what ``tag`` knows for models of spans."""
    group = parser.add_argument_group("texts, for models that mark spans")
    what = "each line of FILE is a text (default: FILE is one)"
    group.add_argument("--lines", action="store_true", help=what)
    what = f"{', '.join(WRITTEN)} (default: jsonl); brat needs --output, a folder"
    group.add_argument("--write", choices=WRITTEN, metavar="FORMAT", help=what)

    group.add_argument(
        "--sets", action="store_true",
        help="offer the spans that a model of train --recall holds for possible, with probabilities: under "
        "the key candidates, beside the best ones; for Label Studio in their place",
    )  # fmt: skip


def refuse_probabilities(arguments, kind):
    """End with a usage error about ``--proba``, for a model that knows none."""
    arguments.usage_error(
        f"--proba: this {kind} knows no probabilities; L1CRF does, and CalibratedTagger around a tagger: "
        f"train --algorithm l1crf, or train --calibrate"
    )


_NOT_FOR_TEXTS = "scores", "kbest", "scheme", "dictionary", "adapt"
_OF_TOKENS = "tokens", "label", "separator", "comment"


def _refuse(arguments, names):
    """Refuse options that a model of spans has no use for."""
    for name in names:
        if getattr(arguments, name) not in (None, False, []):
            instead = "; in Python predict_kbest gives them" if name in ("kbest", "scores") else ""
            arguments.usage_error(f"--{name} is not for models that mark spans of texts{instead}")


def tag(model, arguments):
    """Run ``tag`` for a model of spans."""
    wanted = arguments.write or "jsonl"
    _refuse(arguments, _NOT_FOR_TEXTS)
    if arguments.sets and not hasattr(model, "predict_sets"):
        arguments.usage_error(f"--sets: this {type(model).__name__} offers no sets; train --recall R")
    if arguments.sets and (arguments.proba or wanted not in ("jsonl", "label-studio")):
        arguments.usage_error("--sets has probabilities, and is for --write jsonl and label-studio")
    if arguments.proba and wanted not in _WITH_PROBA:
        arguments.usage_error(f"--proba: only {', '.join(_WITH_PROBA)} have a place for probabilities")
    if arguments.proba and not hasattr(model, "predict_segment_proba"):
        refuse_probabilities(arguments, type(model).__name__)
    if wanted == "brat" and arguments.output in STANDARD:
        arguments.usage_error("--write brat needs --output, a folder")
    files = expanded(arguments.files or ["-"])
    texts, written = texts_of(files, arguments), [arguments.output]
    if wanted == "brat":
        texts = _named(list(texts))
        names = (Path(arguments.output, each["name"]) for _, _, each in texts)
        written = [f"{name}{ending}" for name in names for ending in (".txt", ".ann")]
    check_replaced(written, files_of(files), arguments.force)
    for path in written if wanted == "brat" and not arguments.force else ():
        if os.path.isfile(path) and os.path.getsize(path) > 0:
            raise CommandError(f"{path}: is there already, and may be a person's work; --force replaces it")
    found = _labelled(model, iter(texts), arguments)
    if wanted not in _STREAMED:
        found = [[sum(parts, []) for parts in zip(*found)]] if (found := list(found)) else [[[]] * 4]
    if wanted == "brat":
        for batch in found:
            _write(arguments.output, *batch, wanted, arguments)
        return
    with output(arguments.output, arguments.encoding) as file:
        for batch in found:
            _write(file, *batch, wanted, arguments)
            file.flush()  # who reads the pipe need not wait for the end


def expanded(paths):
    """(path, name or None) of each file; of a folder without annotations of brat its files of text."""
    found = []
    for path in paths:
        inside = [(None, path)]
        if os.path.isdir(path) and not any(Path(path).rglob("*.ann")):
            texts = [each for ending in ("txt", "txt.gz") for each in Path(path).rglob(f"*.{ending}")]
            inside = [(each.relative_to(path).as_posix(), str(each)) for each in sorted(texts)]
            if not inside:
                raise CommandError(f"{path}: there is no file NAME.txt or NAME.ann in the folder")
        found += [(each, name and name.removesuffix(".gz").removesuffix(".txt")) for name, each in inside]
    return found


def texts_of(files, arguments):
    """Yield the texts of several files; those of a folder keep their names."""
    for path, name in files:
        with Source(path, arguments.encoding) as source:
            for place, text, beside in read_texts(source, arguments):
                yield place, text, beside if name is None else {**beside, "name": name}


def _named(texts):
    """The texts, each with a name for its files of brat: its own if all have one, else a number."""
    names = [each.get("name") for _, _, each in texts]
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        names = [f"{k:0{len(str(len(texts)))}}" for k in range(len(texts))]
    return [(place, text, {"name": name}) for (place, text, _), name in zip(texts, names)]


def files_of(expanded):
    """All files that are read for what `expanded` gives."""
    found = []
    for path, _ in expanded:
        files = Path(path).rglob("*.ann") if os.path.isdir(path) else [Path(path)]
        pairs = [file.with_suffix(ending) for file in files for ending in (".txt", ".ann")]
        found += pairs if is_brat(path) else [path]
    return found


def read_texts(source, arguments):
    """Yield (place, text, metadata); of the metadata what is to be written beside predicted spans."""
    _refuse(arguments, _OF_TOKENS)
    if arguments.format not in (None, "spans", "text"):
        arguments.usage_error(f"--format {arguments.format} is not for models that mark spans of texts")
    by_name = (arguments.format or named_format(source)) == "spans"
    records_of = by_name or (arguments.format is None and are_annotated(source))
    if arguments.read and (arguments.lines or not records_of):
        arguments.usage_error("--read is for annotated texts")
    if arguments.lines:
        for number, line in enumerate(source.unkept(), start=1):
            yield f"{source.name}, line {number}", line.rstrip("\r\n"), {}
    elif records_of:
        reader, beside = reading_of(arguments), _beside(arguments.write or "jsonl", source.name)
        for name, _ in arguments.read:
            if name not in ("format", "text"):
                arguments.usage_error(f"--read {name}: annotations are not looked at, texts alone are read")
        try:
            for record in reader.texts(_given(source)):
                yield record.place, record.text, beside(record.metadata)
        except ValueError as error:
            if by_name or arguments.read:
                raise
            raise CommandError(f"{error}; --format text reads {source.name} as plain text") from error
    else:
        if arguments.format is None:
            warn_of_columns(source, "it is read as one text; --format text says so")
        name = {"name": Path(source.name).stem} if arguments.write == "brat" else {}
        yield source.name, "".join(source.unkept()), name


def _beside(wanted, name):
    """The function that chooses what of a record's metadata is written beside predicted spans.

    What was said of other spans is left out; so is, with a warning, a key for which the format has no place.
    """
    reserved = reserved_keys(wanted) if wanted in FORMATS else ()
    told = set()

    def fits(key, value):
        if key in _OF_ANNOTATIONS or (key in SPAN_KEYS and not isinstance(value, str | int | float)):
            return False
        if key not in reserved and (wanted != "brat" or key == "name"):
            return True
        if key not in told:
            told.add(key)
            warn(f"{name}: the records' own {key!r} is left out: {wanted} has no place for it")
        return False

    return lambda metadata: {key: value for key, value in metadata.items() if fits(key, value)}


def _labelled(model, texts, arguments):
    """Yield batches of texts, their spans, metadata, and the probabilities of the spans or Nones."""
    while batch := list(islice(texts, arguments.batch)):
        places, X, metadata = map(list, zip(*batch))
        y = model.predict(X)
        proba = model.predict_segment_proba(X, y) if arguments.proba else [None] * len(X)
        if arguments.sets:
            proba = model.predict_sets(X)
            if arguments.write == "label-studio":
                y = [[span for span, _ in spans] for spans in proba]
            else:
                candidates = ([{**span._asdict(), "probability": p} for span, p in spans] for spans in proba)
                metadata = [{**each, "candidates": spans} for each, spans in zip(metadata, candidates)]
        yield X, list(y), metadata, list(proba)


def _write(file, X, y, metadata, proba, wanted, arguments):
    proba = proba if arguments.proba or (arguments.sets and wanted == "label-studio") else None
    if wanted == "html":
        file.write(render(X, y))
    elif wanted == "xml":
        for k, (text, spans) in enumerate(zip(X, y)):
            text = _xml(text, spans, proba and [p for _, p in proba[k]])
            if odd := _NOT_XML.search(text):
                warn(f"{text[:40]!r}: XML has no place for {odd[0]!r}, which is written as U+FFFD")
                text = _NOT_XML.sub("\ufffd", text)
            file.write(text if text.endswith("\n") else text + "\n")
    else:
        more = {"model_version": Path(arguments.model).name} if wanted == "label-studio" else {}
        write_spans(file, X, y, wanted, metadata=metadata, proba=proba, **more)


def _xml(text, spans, proba):
    """A text with its spans as elements; labels that are no names become an attribute."""
    parts, at = [], 0
    for k, (start, end, label) in enumerate(spans):
        name = label if _NAME.fullmatch(label) else "span"
        more = "" if name == label else f" label={quoteattr(label)}"
        if proba is not None:
            more += f' probability="{proba[k]:.6f}"'
        parts += [escape(text[at:start]), f"<{name}{more}>", escape(text[start:end]), f"</{name}>"]
        at = end
    return "".join([*parts, escape(text[at:])])
