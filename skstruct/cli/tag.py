"""``skstruct tag``: label sequences with a model.

Label the sentences of FILE. Columns come back with the predicted label as one more
column, CoNLL-U with the label in its field (--label), data of CRFsuite with the label
in its place, text with spaces between its words. A parser writes heads and their
labels: two more columns, or the fields head and deprel. A model of spans takes text and
writes text with spans.

Batches of sentences are read, labelled and written, so that any amount of text passes
through bounded memory. Everything that was read is written again: columns with one more
(of trees two), CoNLL-U with its field filled in, raw text with spaces between its
words; comments and blank lines stay.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from itertools import islice, repeat
from typing import TYPE_CHECKING, Any

from .._data.inputs import LABELS, SPANS, TREES, WORDS, flatten
from .._data.schemes import labels_to_spans
from .._sklearn import layers, outermost_value
from ..datasets.formats.entry import TokenFormat
from ..datasets.formats.readers import read_segmented
from ..datasets.formats.source import Source
from ..datasets.formats.text_files import keyed
from . import texts
from .common import (
    CommandError,
    check_inputs,
    load_model,
    positive,
)
from .corpus import layout_of
from .first_record import tell_tagged
from .located import locating
from .model_inputs import inputs_of
from .model_layout import format_for, settle_encoding, with_layout
from .options import add_model, add_options
from .sentences import sentences
from .targets import add_output, output, takes_standard

if TYPE_CHECKING:
    from .._data.inputs import Inputs
    from .common import Arguments
    from .corpus import Layout


BATCH = 1000
"""Sentences that are labelled at a time."""

_FIELDS = ("lemma", "upos", "xpos", "feats", "deps", "misc")
"""CoNLL-U fields that labels may go to."""

NO_LABEL = "_"
"""The mark that a parser without labels writes in their place."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = parser.add_argument
    what = (
        "files to label (default: standard input); for models of spans also"
        " folders of brat or .txt files"
    )
    takes_standard(add("files", metavar="FILE", nargs="*", help=what))
    add_model(parser)
    add_output(
        parser,
        "--output",
        "-o",
        help="file to write, whole or not at all (default: standard output)",
        is_folder=lambda arguments: arguments.write == "brat",
    )
    either = parser.add_mutually_exclusive_group()
    what = (
        "write the score of each labelling in a line before it: # 0 SCORE; "
        "for text, of each line of words"
    )
    either.add_argument("--scores", action="store_true", help=what)
    what = (
        "write the K best labellings of a sentence, or segmentations of a "
        "line, each after a line: # RANK SCORE"
    )
    either.add_argument("--kbest", type=positive, metavar="K", help=what)
    add(
        "--proba", action="store_true",
        help=(
"add probabilities of labels and, if constraints or --scheme name a"
" label scheme, of the segments of tokens: as columns, as "
"Prob=P|SegmentProb=P in CoNLL-U's field misc, as LABEL:P in data "
"of CRFsuite; in text as WORD/P"
),
    )  # fmt: skip
    add("--scheme", metavar="SCHEME", help="label scheme for --proba, such as BIO")
    add(
        "--batch",
        type=positive,
        default=BATCH,
        metavar="N",
        help="number of sentences in memory at a time",
    )
    what = (
        "separator between word and tag, for models that segment and tag (default: /)"
    )
    add("--tag-separator", metavar="SEP", help=what)
    what = (
        "words, separated by white space, that a segmenter treats as words "
        "wherever they occur; WORD/TAG, once for each tag, if it also tags"
    )
    add("--dictionary", metavar="FILE", help=what)
    texts.add_options(parser)
    add_options(parser)


def run(arguments: Arguments) -> int | None:
    """Run the command."""
    check_inputs([arguments.model])
    model = load_model(arguments.model, arguments.n_jobs, arguments.encoding)
    known = settle_encoding(arguments, model)
    arguments.known = known
    inputs = inputs_of(model, arguments.model, format_for(arguments, model))
    texts.refuse(arguments, inputs.task)
    if inputs.task == SPANS:
        return texts.tag(model, arguments)
    _check_usage(model, inputs, arguments)
    files = arguments.files or ["-"]
    check_inputs(files)
    last = ""
    with output(arguments.output, arguments.encoding) as file:
        for path in files:
            with Source(path, arguments.encoding) as source:
                settled = with_layout(arguments, source, known, writes=True)
                layout = _layout(settled, source, inputs)
                # The file before may end without a blank line.
                if last.strip() and not layout.kind.has_words:
                    file.write("\n")
                last = _tag(model, source, layout, inputs, file, arguments)


def _check_usage(model: Any, inputs: Inputs, arguments: Arguments) -> None:
    """Refuse options for what a model cannot do; settle those that a model knows."""
    probable = "predict_segment_proba" if inputs.task == WORDS else "predict_marginals"
    texts.require(
        arguments,
        model,
        scores="decision_function",
        kbest="predict_kbest",
        proba=probable,
    )
    if arguments.scheme is not None and not arguments.proba:
        arguments.usage_error("--scheme is for --proba, of taggers")
    if arguments.scheme is not None and inputs.token is dict:
        arguments.usage_error(
            "--scheme: data of CRFsuite has no place for probabilities of segments"
        )
    if arguments.proba and arguments.scheme is None and inputs.task == LABELS:
        named = (
            layer.get_params(deep=False).get("constraints") for layer in layers(model)
        )
        arguments.scheme = next((name for name in named if isinstance(name, str)), None)
    if arguments.dictionary is None:
        return
    if not getattr(model, "accepts_dictionary", False):
        arguments.usage_error(f"--dictionary: this {type(model).__name__} takes none")
    if arguments.proba:
        arguments.usage_error("--proba and --dictionary do not go together")
    if arguments.scores:
        arguments.usage_error(
            "--scores and --dictionary do not go together; --kbest 1 writes the score, "
            "too"
        )
    check_inputs([arguments.dictionary])
    words = flatten(read_segmented(arguments.dictionary, encoding=arguments.encoding))
    separator = arguments.tag_separator or "/"
    arguments.dictionary = _with_tags(model, words, separator)


def _with_tags(model: Any, words: list[str], separator: str) -> Any:
    """Return the words of a dictionary, with their tags if it has some."""
    if not outermost_value(model, "tagged_"):
        return sorted(set(words))
    tags: dict[str, set[str] | None] = {}
    for each in words:
        word, _, tag = each.rpartition(separator)
        if not (word and tag):
            tags[each] = None
        elif (some := tags.setdefault(word, set())) is not None:
            some.add(tag)
    return {word: tags[word] for word in sorted(tags)}


def _layout(arguments: Arguments, source: Source, inputs: Inputs) -> Layout:
    """Return the `Layout` of a source, if labels have a place in it."""
    layout = layout_of(arguments, source, inputs)
    entry = layout.entry
    if isinstance(entry, TokenFormat) and not entry.has_comments:
        if arguments.kbest or arguments.scores:
            option = "kbest" if arguments.kbest else "scores"
            arguments.usage_error(
                f"--{option}: {entry.name} has no place for lines of scores"
            )
    of_labels = layout.family if inputs.task == LABELS else None
    if of_labels == "conllu" and keyed(layout.label)[0] not in _FIELDS:
        arguments.usage_error(f"labels cannot go to the field {layout.label}")
    if of_labels == "columns" and arguments.label is not None:
        arguments.usage_error(
            "--label: the label becomes one more column; choose what to read with "
            "--tokens"
        )
    if of_labels == "conllu" and arguments.proba and layout.label == "misc":
        arguments.usage_error(
            "--proba writes to the field misc, where --label misc puts the labels"
        )
    return layout


def _tag(
    model: Any,
    source: Source,
    layout: Layout,
    inputs: Inputs,
    file: Any,
    arguments: Arguments,
) -> str:
    """Write the sentences of a source with their labels, batch by batch, and return the
    last line.
    """
    read = sentences(source, layout, inputs, labels=False)
    last = ""
    told = False
    write = _segmented if layout.kind.has_words else _labelled
    while batch := list(islice(read, arguments.batch)):
        if inputs.task == TREES and arguments.tokens is None:
            _check_tags(batch, layout, source, arguments)
        lines = list(write(model, batch, layout, source.name, arguments))
        last = lines[-1]
        if not told:
            tell_tagged(source.name, layout, lines)
            told = True
        file.writelines(lines)
        file.flush()  # who reads the pipe need not wait for the end
    if not layout.kind.has_words:  # comments and blank lines after the last sentence
        lines = [line + "\n" for _, line in source.take()]
        file.writelines(lines)
        last = lines[-1] if lines else last
    return last


def _check_tags(
    batch: Any, layout: Layout, source: Source, arguments: Arguments
) -> None:
    """Raise if words have no tags: a parser that learned from tags would answer with
    garbage.
    """
    if any(token[1] != "_" for sentence in batch for token in sentence.tokens):
        return
    column: int | str = 1
    tokens = "0,1"
    first = "name the columns of words and tags with --tokens"
    if layout.family == "conllu":
        column = "xpos"
        tokens = "form,xpos"
        path = source.path or "-"
        model = arguments.model
        first = (
            f"skstruct tag {shlex.quote(path)} -m TAGGER | skstruct tag -m "
            f"{shlex.quote(model)}"
        )
    where = f"{source.name}, line {batch[0].numbers[0]}: column {column} is empty"
    raise CommandError(
        f"{where}: tag first: {first}; --tokens {tokens} reads it as it is"
    )


def _ranked(model: Any, X: Any, arguments: Arguments, **options: Any) -> Any:
    """Return for each sequence its labellings or segmentations that are written, best
    first, as pairs with their scores; the score is None unless an option asks for it.
    """
    if arguments.kbest:
        return model.predict_kbest(X, arguments.kbest, **options)
    scores = (
        model.decision_function(X).tolist() if arguments.scores else [None] * len(X)
    )
    return [[pair] for pair in zip(model.predict(X, **options), scores)]


def _header(rank: int, score: float | None) -> list[str]:
    """Return the line of a score, which stands before what has it; none without."""
    return [] if score is None else [f"# {rank} {score:.6f}\n"]


# --------------------------------------------------------------------------------------
# Segmented text
# --------------------------------------------------------------------------------------
def _segmented(
    model: Any, batch: Any, _: Layout, name: str, arguments: Arguments
) -> Iterator[str]:
    """Yield a line for each line, or for each of its segmentations a line with its
    score and one of words.
    """
    numbers, lines = zip(
        *((number, text) for sentence in batch for number, text, _ in sentence.lines)
    )
    options = (
        {} if arguments.dictionary is None else {"dictionary": arguments.dictionary}
    )
    with locating(name, [[number] for number in numbers]):
        found = _ranked(model, list(lines), arguments, **options)
        if arguments.proba:
            pairs = zip(found, model.predict_segment_proba(list(lines)))
            found = [
                [(_with_probabilities(words, p), score) for words, score in ranked]
                for ranked, p in pairs
            ]
    separator = arguments.tag_separator
    join = ("/" if separator is None else separator).join
    for ranked in found:
        for rank, (words, score) in enumerate(ranked):
            yield from _header(rank, score)
            yield (
                " ".join(
                    word if isinstance(word, str) else join(word) for word in words
                )
                + "\n"
            )


def _with_probabilities(words: Any, proba: Any) -> Any:
    """Return words, or pairs with tags, as tuples that end with how probable they are."""
    pairs = ([word] if isinstance(word, str) else word for word in words)
    return [(*pair, f"{p:.6f}") for pair, (_, p) in zip(pairs, proba)]


# --------------------------------------------------------------------------------------
# Labels and trees
# --------------------------------------------------------------------------------------
def _labelled(
    model: Any, batch: Any, layout: Layout, name: str, arguments: Arguments
) -> Iterator[str]:
    """Yield the lines of a batch with their labels."""
    X = [sentence.tokens for sentence in batch]
    with locating(name, [sentence.numbers for sentence in batch]):
        ranked = enumerate(_ranked(model, X, arguments))
        found = [
            (i, rank, *pair) for i, pairs in ranked for rank, pair in enumerate(pairs)
        ]
        beside = (
            _probabilities(model, X, found, arguments.scheme)
            if arguments.proba
            else repeat(repeat(()))
        )
    entry = layout.entry
    assert isinstance(entry, TokenFormat)  # other functions write texts and words
    for (i, rank, labels, score), cells in zip(found, beside):
        yield from entry.labelled(
            layout.how,
            lines=batch[i].lines,
            header=_header(rank, score),
            marks=zip((_cells(label, layout) for label in labels), cells),
            source=batch[i].source,
        )


def _probabilities(model: Any, X: Any, found: Any, scheme: str) -> Any:
    """For each token of the labellings found the names and values that go beside its
    label.

    These are the probabilities of labels and, given a scheme, of segments.
    """
    column = {label: k for k, label in enumerate(model.classes_.tolist())}
    marginals = model.predict_marginals(X)
    segments = [()] * len(found)
    beside = []
    if scheme is not None:
        spans = [labels_to_spans(labels, scheme) for _, _, labels, _ in found]
        segments = model.predict_segment_proba(
            [X[i] for i, *_ in found], spans, scheme=scheme
        )
    for (i, _, labels, _), inside in zip(found, segments):
        cells = [
            [("Prob", f"{row[column[label]]:.6f}")]
            for row, label in zip(marginals[i], labels)
        ]
        proba = {
            t: f"{p:.6f}" for (start, stop, _), p in inside for t in range(start, stop)
        }
        for t, cell in enumerate(cells if scheme is not None else ()):
            cell.append(("SegmentProb", proba.get(t, NO_LABEL)))
        beside.append(cells)
    return beside


def _cells(label: Any, layout: Layout) -> list[str]:
    """Return the cells that are written for a label, or for a head and its label."""
    if not isinstance(layout.label, tuple):
        return [str(label)]
    return list(map(str, label if isinstance(label, tuple) else (label, NO_LABEL)))
