"""``skstruct tag``: label sequences with a model.

Label the sentences of FILE. Columns come back with the predicted label as one more column, CoNLL-U with the
label in its field (--label), data of CRFsuite with the label in its place, text with spaces between its
words. A parser writes heads and their labels: two more columns, or the fields head and deprel. A model of
spans takes text and writes text with spans.

Batches of sentences are read, labelled and written, so that any amount of text passes through
bounded memory. Everything that was read is written again: columns with one more (of trees two), CoNLL-U
with its field filled in, raw text with spaces between its words; comments and blank lines stay.
"""

import shlex
from itertools import islice
from typing import NamedTuple

from .._sklearn import layers
from ..data.inputs import LABELS, SPANS, TREES, WORDS
from ..data.schemes import labels_to_spans
from ..formats.readers import CONLLU_FIELDS, read_segmented
from . import texts
from .common import CommandError, check_output, check_replaced, load_model, n_jobs, output, positive
from .corpus import inputs_of, layout_of, locating, sentences, several
from .lines import Source
from .options import add_options

BATCH = 1000
"""Sentences that are labelled at a time."""

_FIELDS = ("lemma", "upos", "xpos", "feats", "deps", "misc")
"""CoNLL-U fields that labels may go to."""

NO_LABEL = "_"
"""What a parser without labels writes in their place."""


def add_arguments(parser):
    """Add the arguments of the command."""
    parser.add_argument(
        "files", metavar="FILE", nargs="*",
        help="what to label, one after the other (default: standard input); of a folder, for a model of "
        "spans, the files of brat or else the .txt files, each a text",
    )  # fmt: skip
    parser.add_argument("--model", "-m", required=True, metavar="MODEL", help="a model file")
    what = "file to write, whole or not at all (default: standard output)"
    parser.add_argument("--output", "-o", metavar="OUT", help=what)
    parser.add_argument("--force", action="store_true", help="let OUT replace what is read")
    either = parser.add_mutually_exclusive_group()
    what = "the score of each labelling, in a line before it: # 0 SCORE; for text, of each line of words"
    either.add_argument("--scores", action="store_true", help=what)
    either.add_argument(
        "--kbest", type=positive, metavar="K",
        help="the K best labellings of each sentence, or segmentations of each line of text, best first, "
        "each after a line: # RANK SCORE",
    )  # fmt: skip
    parser.add_argument(
        "--proba", action="store_true",
        help="how probable it is: one more column with the probability of each label and, if the model's "
        "constraints or --scheme name a label scheme, another with that of the segment that the token is in; "
        "of CoNLL-U Prob=P|SegmentProb=P in the field misc; of text WORD/P. For models with probabilities",
    )  # fmt: skip
    parser.add_argument("--scheme", metavar="SCHEME", help="label scheme for --proba, such as BIO")
    parser.add_argument("--n-jobs", type=n_jobs, metavar="N", help="threads (default: 1; -1: all cores)")
    what = f"sentences that are held at a time (default: {BATCH})"
    parser.add_argument("--batch", type=positive, default=BATCH, metavar="N", help=what)
    what = "between a word and its tag, of models that segment and tag (default: /)"
    parser.add_argument("--tag-separator", default="/", metavar="SEP", help=what)
    what = "words, separated by white space, that a segmenter takes for words wherever they stand"
    parser.add_argument("--dictionary", metavar="FILE", help=what)
    parser.add_argument(
        "--adapt", action="append", default=[], metavar="FILE",
        help="text, of any format that can be labelled, whose accessor varieties take the place of those of "
        "the training text; may be repeated",
    )  # fmt: skip
    texts.add_options(parser)
    add_options(parser)


def run(arguments):
    """Run the command."""
    check_output(arguments.output, is_folder=arguments.write == "brat")
    model = load_model(arguments.model, arguments.n_jobs)
    inputs = inputs_of(model, arguments.format)
    if inputs.task == SPANS:
        return texts.tag(model, arguments)
    _check_usage(model, inputs, arguments)
    if arguments.dictionary is not None:
        lists = read_segmented(arguments.dictionary, encoding=arguments.encoding)
        arguments.dictionary = sorted({word for words in lists for word in words})
    files = arguments.files or ["-"]
    if [*files, *arguments.adapt].count("-") > 1:
        arguments.usage_error("only one of FILE and --adapt can be standard input")
    if arguments.adapt:
        _adapt(model, inputs, arguments)
    check_replaced([arguments.output], files, arguments.force)
    last = ""
    with output(arguments.output, arguments.encoding) as file:
        for path in files:
            with Source(path, arguments.encoding) as source:
                layout = _layout(arguments, source, inputs)
                if last.strip() and layout.format != "segmented":  # the file before ends without a blank line
                    file.write("\n")
                last = _tag(model, source, layout, inputs, file, arguments)


def _layout(arguments, source, inputs):
    """The `Layout` of a source, if labels have a place in it."""
    layout = layout_of(arguments, source, inputs)
    if layout.format == "conllu" and inputs.task == LABELS and layout.label not in _FIELDS:
        arguments.usage_error(f"labels cannot go to the field {layout.label}")
    if layout.format == "columns" and inputs.task == LABELS and arguments.label is not None:
        arguments.usage_error("--label: the label becomes one more column; --tokens says what to read")
    if layout.format == "crfsuite" and arguments.proba:
        arguments.usage_error("--proba: data of CRFsuite has no column for probabilities")
    if layout.format == "conllu" and arguments.proba and layout.label == "misc":
        arguments.usage_error("--proba writes to the field misc, where --label misc puts the labels")
    return layout


def _tag(model, source, layout, inputs, file, arguments):
    """Write the sentences of a source with their labels, batch by batch; returns the last line."""
    read, last = sentences(source, layout, inputs, labels=False), ""
    write = _segmented if layout.format == "segmented" else _labelled
    while batch := list(islice(read, arguments.batch)):
        if inputs.task == TREES and arguments.tokens is None:
            _check_tags(batch, layout, source, arguments)
        lines = list(write(model, batch, layout, source.name, arguments))
        file.writelines(lines)
        last = lines[-1]
        file.flush()  # who reads the pipe need not wait for the end
    if layout.format != "segmented":  # comments and blank lines after the last sentence
        lines = [line + "\n" for _, line in source.take()]
        file.writelines(lines)
        last = lines[-1] if lines else last
    return last


def _check_tags(batch, layout, source, arguments):
    """Raise if words have no tags: a parser that learned from tags would answer with garbage."""
    if any(token[1] != "_" for sentence in batch for token in sentence.tokens):
        return
    if layout.format == "conllu":
        file, column, tokens = source.path or "-", "xpos", "form,xpos"
        first = f"skstruct tag {shlex.quote(file)} -m TAGGER | skstruct tag -m {shlex.quote(arguments.model)}"
    else:
        column, tokens, first = 1, "0,1", "--tokens says which columns hold words and tags"
    raise CommandError(
        f"{source.name}, line {batch[0].numbers[0]}: column {column} is empty: tag first: {first}; "
        f"--tokens {tokens} reads it as it is"
    )


def _check_usage(model, inputs, arguments):
    """Refuse options for what a model cannot do."""
    kind = type(model).__name__
    for option, method, lack in (
        ("scores", "decision_function", "gives no scores"),
        ("kbest", "predict_kbest", "has no k best predictions"),
        ("adapt", "adapt", "reads no accessor variety"),
    ):
        if getattr(arguments, option) and not hasattr(model, method):
            arguments.usage_error(f"--{option}: this {kind} {lack}")
    if arguments.scores and arguments.dictionary is not None:
        arguments.usage_error("--scores and --dictionary do not go together; --kbest 1 writes the score, too")
    _check_proba(model, inputs, kind, arguments)
    if arguments.dictionary is not None and not getattr(model, "accepts_dictionary", False):
        arguments.usage_error(f"--dictionary: this {kind} takes none; segmenters do")
    if arguments.lines or arguments.write or arguments.sets:
        wrong = f"--lines, --write and --sets are for models of spans of texts; this is a {kind}"
        arguments.usage_error(wrong)


def _check_proba(model, inputs, kind, arguments):
    if arguments.scheme is not None and not (arguments.proba and inputs.task == LABELS):
        arguments.usage_error("--scheme is for --proba, of taggers")
    if not arguments.proba:
        return
    needed = "predict_segment_proba" if inputs.task == WORDS else "predict_marginals"
    if not hasattr(model, needed):
        texts.refuse_probabilities(arguments, kind)
    if inputs.task == WORDS:
        if arguments.dictionary is not None:
            arguments.usage_error("--proba and --dictionary do not go together")
        return
    if arguments.scheme is None:
        named = (layer.get_params(deep=False).get("constraints") for layer, _ in layers(model))
        arguments.scheme = next((name for name in named if isinstance(name, str)), None)


def _adapt(model, inputs, arguments):
    """Count accessor varieties on the texts named; all of them are held in memory."""
    texts = []
    for path in arguments.adapt:
        with Source(path, arguments.encoding) as source:
            layout = layout_of(arguments, source, inputs)
            for sentence in sentences(source, layout, inputs, labels=False):
                if layout.format == "segmented":
                    texts.extend(text for _, text, _ in sentence.lines if text.strip())
                else:
                    texts.append(sentence.tokens)
    try:
        model.adapt(texts)
    except ValueError as error:
        raise CommandError(f"--adapt: {error}") from None


def _segmented(model, batch, layout, name, arguments):
    """Yield a line for each line, or for each of its segmentations a line with its score and one of words."""
    lines = [line for sentence in batch for line in sentence.lines]
    options = {} if arguments.dictionary is None else {"dictionary": arguments.dictionary}
    texts = [text for _, text, _ in lines]
    with locating(name, [[number] for number, _, _ in lines]):
        found = _ranked(model, texts, arguments, **options)
        if arguments.proba:
            found = [
                [(_beside(words, proba), score) for words, score in ranked]
                for ranked, proba in zip(found, model.predict_segment_proba(texts))
            ]
    join = arguments.tag_separator.join
    for ranked in found:
        for rank, (words, score) in enumerate(ranked):
            yield from _header(rank, score)
            yield " ".join(word if isinstance(word, str) else join(word) for word in words) + "\n"


def _beside(words, proba):
    """Words, or pairs with tags, with how probable they are."""
    pairs = ([word] if isinstance(word, str) else word for word in words)
    return [(*pair, f"{p:.6f}") for pair, (_, p) in zip(pairs, proba)]


def _ranked(model, X, arguments, **options):
    """For each sequence what is to be written of it, best first, with scores, or None without."""
    if arguments.kbest:
        return model.predict_kbest(X, arguments.kbest, **options)
    scores = model.decision_function(X).tolist() if arguments.scores else [None] * len(X)
    return [[pair] for pair in zip(model.predict(X, **options), scores)]


def _header(rank, score):
    """The line before what has a score, if there is one."""
    return [] if score is None else [f"# {rank} {score:.6f}\n"]


def _labelled(model, batch, layout, name, arguments):
    """Yield the lines of a batch with their labels."""
    X = [sentence.tokens for sentence in batch]
    with locating(name, [sentence.numbers for sentence in batch]):
        results = _ranked(model, X, arguments)
        if arguments.proba:
            results = _with_probabilities(model, X, results, arguments.scheme)
    mark = {"conllu": _mark_conllu, "crfsuite": _mark_attributes}.get(layout.format, _mark_columns)
    for sentence, labellings in zip(batch, results):
        for rank, (labels, score) in enumerate(labellings):
            yield from _marked(sentence, labels, rank, score, mark, layout)


class _Probable(NamedTuple):
    """A label and how probable it is."""

    label: object
    proba: list  # names and values, to be written beside it


def _with_probabilities(model, X, results, scheme):
    """The labellings of each sentence with the probabilities of labels and, given a scheme, of segments."""
    column = {label: k for k, label in enumerate(model.classes_.tolist())}
    found = []
    for x, marginals, labellings in zip(X, model.predict_marginals(X), results):
        found.append([])
        segments = [[] for _ in labellings]
        if scheme is not None:
            spans = [labels_to_spans(labels, scheme) for labels, _ in labellings]
            segments = model.predict_segment_proba([x] * len(spans), spans, scheme=scheme)
        for (labels, score), inside in zip(labellings, segments):
            cells = [[("Prob", f"{row[column[label]]:.6f}")] for row, label in zip(marginals, labels)]
            if scheme is not None:
                proba = {t: p for (start, stop, _), p in inside for t in range(start, stop)}
                for t, each in enumerate(cells):
                    each.append(("SegmentProb", f"{proba[t]:.6f}" if t in proba else NO_LABEL))
            found[-1].append(([_Probable(*pair) for pair in zip(labels, cells)], score))
    return found


def _marked(sentence, labels, rank, score, mark, layout):
    """Yield the lines of a sentence with one labelling."""
    lines, labels = sentence.lines, iter(labels)
    blank = next(k for k, (_, line, _) in enumerate(lines) if line.strip(" \t"))
    yield from (line + "\n" for _, line, _ in lines[:blank])
    yield from _header(rank, score)
    for _, line, is_token in lines[blank:]:
        if is_token:
            label, proba = next(labels), []
            if isinstance(label, _Probable):
                label, proba = label
            line = mark(line, _cells(label, layout), layout, proba)
        yield line + "\n"
    if score is not None and lines[-1][1].strip(" \t"):  # the file ends without a blank line
        yield "\n"


def _cells(label, layout):
    """What is written for a label, or for an arc."""
    if not isinstance(layout.label, tuple):
        return [str(label)]
    head, label = label if isinstance(label, tuple) else (label, NO_LABEL)
    return [str(head), str(label)]


def _mark_columns(line, cells, layout, proba):
    separator = layout.separator
    if separator is None:
        line = line.rstrip(" \t")  # nothing else: an ideographic space can be a token
        separator = "\t" if "\t" in line else " "
    return separator.join([line, *cells, *(value for _, value in proba)])


def _mark_attributes(line, cells, layout, proba):
    return "\t".join([*cells, *line.split("\t")[1:]])


def _mark_conllu(line, cells, layout, proba):
    row = line.split("\t")
    for field, cell in zip(several(layout.label), cells):
        row[CONLLU_FIELDS.index(field)] = cell
    said = [f"{name}={value}" for name, value in proba if value != NO_LABEL]
    if said:
        known = [] if row[-1] == "_" else [row[-1]]
        row[-1] = "|".join(known + said)
    return "\t".join(row)
