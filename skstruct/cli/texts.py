"""Texts and spans on the command line: annotated texts to learn from, texts to be labelled, spans written.

An input is annotated texts, in a format that `skstruct.datasets.read_spans` knows, or it is plain text, which
is one text, or one on each line.
"""

import inspect
import json
import re
from itertools import chain, islice
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from ..data.text import is_white_space
from ..formats.brat import is_brat
from ..formats.span_files import FORMATS, annotated, iter_spans, records
from ..formats.span_records import TextsAlone
from ..formats.span_writing import write_spans
from ..inspection import render
from .common import CommandError, output, refuse_probabilities
from .lines import Source

WRITTEN = ("xml", "html", *FORMATS)
"""How labelled texts can be written."""

_STREAMED = ("xml", "jsonl", "doccano", "prodigy")
_WITH_PROBA = ("xml", "jsonl", "label-studio")
_NAME = re.compile(r"[^\W\d][\w.-]*")  # of an element of XML


def are_annotated(source):
    """Whether a source looks like annotated texts: a folder or a file of brat, or JSON."""
    if source.path is not None and is_brat(source.path):
        return True
    first = "".join(source.peek(1)).strip()
    if first == "[" or first.startswith(("[{", "[[")):
        return True
    try:
        return isinstance(json.loads(first), (dict, list))
    except (ValueError, RecursionError):
        return False


def reading_of(arguments):
    """The options of ``--read`` as a dict."""
    options = dict(arguments.read)
    known = set(inspect.signature(iter_spans).parameters) - {"source", "encoding"}
    unknown = sorted(set(options) - known)
    if unknown:
        arguments.usage_error(f"--read {unknown[0]}: known are {', '.join(sorted(known))}")
    return {**options, "encoding": arguments.encoding}


def _given(source):
    """What readers of annotated texts take for a source."""
    return source.path if source.path is not None and is_brat(source.path) else source


def batches(source, reading, size):
    """Yield annotated texts as (X, y, places), ``size`` at a time, or for None all; places are for errors.

    With a size texts that are white space are left out: a model that learns from each batch needs a token.
    """
    found = annotated(_given(source), **reading)
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
    group.add_argument(
        "--lines", action="store_true", help="each line of FILE is a text (default: FILE is one)"
    )
    group.add_argument(
        "--write", choices=WRITTEN, metavar="FORMAT",
        help=f"{', '.join(WRITTEN)} (default: jsonl); brat needs --output, a folder",
    )  # fmt: skip


_NOT_FOR_TEXTS = "scores", "kbest", "scheme", "dictionary", "adapt"
_OF_TOKENS = "tokens", "label", "separator", "comment"


def _refuse(arguments, names):
    """Refuse options that a model of spans has no use for."""
    for name in names:
        if getattr(arguments, name) not in (None, False, []):
            instead = "; in Python predict_kbest gives them" if name in ("kbest", "scores") else ""
            arguments.usage_error(f"--{name} is not for models that mark spans of texts{instead}")


def tag(model, arguments):
    """Run ``tag`` for a model of spans; returns the exit code."""
    wanted = arguments.write or "jsonl"
    _refuse(arguments, _NOT_FOR_TEXTS)
    if arguments.proba and wanted not in _WITH_PROBA:
        arguments.usage_error(f"--proba: only {', '.join(_WITH_PROBA)} have a place for probabilities")
    if arguments.proba and not hasattr(model, "predict_segment_proba"):
        refuse_probabilities(arguments, type(model).__name__)
    if wanted == "brat" and arguments.output in (None, "-"):
        arguments.usage_error("--write brat needs --output, a folder")
    with Source(arguments.file, arguments.encoding) as source:
        found = _labelled(model, read_texts(source, arguments), arguments)
        if wanted not in _STREAMED:
            found = [[sum(parts, []) for parts in zip(*found)]] if (found := list(found)) else [[[]] * 4]
        if wanted == "brat":
            for batch in found:
                _write(arguments.output, *batch, wanted, arguments)
            return 0
        with output(arguments.output, arguments.encoding) as file:
            for batch in found:
                _write(file, *batch, wanted, arguments)
                file.flush()  # who reads the pipe need not wait for the end
    return 0


def read_texts(source, arguments):
    """Yield (place, text, metadata)."""
    _refuse(arguments, _OF_TOKENS)
    name = Path(source.name).stem
    records_of = arguments.format == "spans" or (arguments.format is None and are_annotated(source))
    if arguments.read and (arguments.lines or not records_of):
        arguments.usage_error("--read is for annotated texts")
    if arguments.lines:
        for number, line in enumerate(source, start=1):
            yield f"{source.name}, line {number}", line.rstrip("\r\n"), {}
            source.take()
    elif records_of:
        reading = reading_of(arguments)
        options = TextsAlone(reading.get("text", "text"))
        for record in records(_given(source), reading.get("format", "auto"), arguments.encoding, options):
            yield record.place, record.text, record.metadata
    else:
        yield source.name, "".join(source), {"name": name} if arguments.write == "brat" else {}


def _labelled(model, texts, arguments):
    """Yield batches of texts, their spans, metadata, and the probabilities of the spans or Nones."""
    while batch := list(islice(texts, arguments.batch)):
        places, X, metadata = map(list, zip(*batch))
        y = model.predict(X)
        proba = model.predict_segment_proba(X, y) if arguments.proba else [None] * len(X)
        yield X, list(y), metadata, list(proba)


def _write(file, X, y, metadata, proba, wanted, arguments):
    proba = proba if arguments.proba else None
    if wanted == "html":
        file.write(render(X, y))
    elif wanted == "xml":
        for k, (text, spans) in enumerate(zip(X, y)):
            text = _xml(text, spans, proba and [p for _, p in proba[k]])
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
