"""``skstruct select``: choose what to label next.

Write the sentences of POOL that a model is least sure of, and that differ from each
other, best first, as they stand in the file, in CoNLL-U behind a comment with the
score; texts for a model of spans as JSON lines with the spans that it predicts. The
score says how unsure the model is.
"""

from __future__ import annotations

import argparse
import shlex
from typing import TYPE_CHECKING, Any

import numpy as np

from .._data.inputs import SPANS
from .._data.places import counted
from ..datasets.formats.entry import TokenFormat
from ..datasets.formats.source import Source
from ..datasets.formats.span_writing import write_spans
from ..inspection.selection import STRATEGIES, Ranked, ranked
from . import texts
from .common import (
    STANDARD,
    CommandError,
    check_inputs,
    load_model,
    positive,
    share,
    tell,
)
from .corpus import layout_of
from .located import locating
from .model_inputs import inputs_of
from .model_layout import format_for, settle_encoding, with_layout
from .options import add_model, add_options
from .sentences import sentences
from .targets import add_output, output, takes_standard

_DEFAULTS = "least_confident", "margin"
"""Strategies of which the first that a model has is the default."""

if TYPE_CHECKING:
    from .common import Arguments


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = parser.add_argument
    what = "sentences (default: standard input)"
    takes_standard(add("file", metavar="POOL", nargs="?", help=what))
    add_model(parser)
    add("-k", type=positive, default=50, metavar="K", help="number of sentences")
    what = (
        "sentences that come first (default: least_confident; margin for "
        "models without probabilities)"
    )
    add("--strategy", choices=STRATEGIES, help=what)
    what = "penalty for sentences that resemble chosen ones, from 0 to 1"
    add("--diversity", type=share, default=0.5, metavar="D", help=what)
    add("--seed", type=int, default=0, help="random seed of --strategy random")
    what = "file to write (default: standard output)"
    add_output(parser, "--output", "-o", help=what)
    add(
        "--lines",
        action="store_true",
        help="each line of POOL is a text, for models of spans",
    )
    add_options(parser)
    parser.set_defaults(write=None)


def run(arguments: Arguments) -> int | None:
    """Run the command."""
    check_inputs([arguments.file, arguments.model], folders=True)
    model = load_model(arguments.model, arguments.n_jobs, arguments.encoding)
    known = settle_encoding(arguments, model)
    arguments.known = known
    inputs = inputs_of(model, arguments.model, format_for(arguments, model))
    texts.refuse(arguments, inputs.task)
    if inputs.task == SPANS:
        files = texts.find_text_files([arguments.file or "-"])
        pool: list[Any] = list(texts.read_text_files(files, arguments))
        X = [each.text for each in pool]
        places: list[Any] = [each.place for each in pool]
    else:
        with Source(arguments.file, arguments.encoding) as source:
            settled = with_layout(arguments, source, known, writes=True)
            layout = layout_of(settled, source, inputs)
            pool = [
                s for s in sentences(source, layout, inputs, labels=False) if s.tokens
            ]
        words = layout.kind.has_words
        X = [s.lines[0][1] if words else s.tokens for s in pool]
        places = [s.numbers for s in pool]
    _tell_fewer(arguments, len(pool), inputs.task)
    with locating(arguments.file or "<stdin>", places):
        chosen, unsure = _chosen(model, X, arguments)
    _tell_chosen(chosen, unsure, inputs.task)
    with output(arguments.output, arguments.encoding) as file:
        if inputs.task == SPANS:
            best = [X[i] for i in chosen]
            write_spans(
                file,
                best,
                model.predict(best),
                "jsonl",
                metadata=[_with_score(pool[i], i, unsure) for i in chosen],
            )
        elif isinstance(layout.entry, TokenFormat):
            rows = [
                (_scored(pool[i].lines, layout.entry, i, unsure), pool[i].source)
                for i in chosen
            ]
            file.writelines(layout.entry.selected(rows))
        else:
            for i in chosen:
                file.writelines(f"{line}\n" for _, line, _ in pool[i].lines)
    if arguments.output not in STANDARD:
        out = shlex.quote(arguments.output)
        if inputs.task == SPANS:
            then = f"and skstruct train CORPUS {out} --model MODEL"
        else:  # whose corpus is one file
            then = "append it to the corpus, and train again"
        tell(f"next: annotate {out}, {then}")


def _chosen(model: Any, X: list[Any], arguments: Arguments) -> Ranked:
    """Choose by the strategy asked for, or by the first that the model has."""
    given = arguments.strategy
    strategies: tuple[Any, ...] = _DEFAULTS if given is None else (given,)
    for strategy in strategies:
        try:
            chosen = ranked(
                model,
                X,
                arguments.k,
                strategy=strategy,
                diversity=arguments.diversity,
                random_state=arguments.seed,
            )
        except TypeError as error:
            reason = str(error)
            continue
        if strategy != strategies[0]:
            tell(f"the model has no probabilities: using --strategy {strategy}")
        return chosen
    hint = "; or pass --strategy longest or random"
    if "probabilities" in reason:
        hint = "; pass --strategy margin, or train with --calibrate"
    raise CommandError(f"{arguments.model}: {reason}{hint}")


def _tell_fewer(arguments: Arguments, n: int, task: str) -> None:
    """Say that the pool holds fewer than are asked for, and how it holds more."""
    if n >= arguments.k:
        return
    unit = "text" if task == SPANS else "sentence"
    lines = "; if each line is a text, pass --lines"
    hint = lines if task == SPANS and n == 1 and not arguments.lines else ""
    name = arguments.file or "<stdin>"
    tell(f"{name}: {counted(n, unit)}, fewer than -k {arguments.k}{hint}")


def _tell_chosen(chosen: list[int], unsure: Any, task: str) -> None:
    """Say how many of how many are chosen, how unsure a model is of them, and of how
    many it is sure.
    """
    if unsure is None or not chosen:
        return
    unit = "text" if task == SPANS else "sentence"
    scores = np.array(unsure)
    of_chosen = scores[chosen]
    text = f"{len(chosen):,} of {counted(len(scores), unit)}; score, how unsure the "
    text += f"model is: {of_chosen.max():.3g} to {of_chosen.min():.3g}"
    if scores.min() >= 0.0:  # margins are below
        sure = int((scores < SURE).sum())
        text += f"; below {SURE} it is sure, which it is of {sure:,}"
        known = int((of_chosen < SURE).sum())
        if known:
            text += f", {known:,} of them chosen"
    tell(text)


SURE = 0.01
"""Uncertainty a token below which a model is sure: the negative logarithm of the
probability of its labelling, or entropy.
"""


def _scored(lines: list[Any], entry: TokenFormat, i: int, unsure: Any) -> list[Any]:
    """Return the lines of a sentence, behind a comment that says how unsure the model
    is, if the format has comments.
    """
    if unsure is None or not entry.comment_mark:
        return lines
    key = f"{entry.comment_mark} score = "
    others = [line for line in lines if line[2] or not line[1].startswith(key)]
    return [(lines[0][0], f"{key}{float(unsure[i]):.4f}", False), *others]


def _with_score(read: texts.TextRead, i: int, unsure: Any) -> dict[str, Any]:
    """Return what is written beside the spans of a text: it comes back with its name,
    and says how unsure the model is.
    """
    known = _with_id(read)
    return known if unsure is None else {**known, "score": round(float(unsure[i]), 4)}


def _with_id(read: texts.TextRead) -> dict[str, Any]:
    """Return what is written beside the spans of a text: it comes back with its name."""
    known = read.metadata
    return known if "id" in known else {"id": read.place, **known}
