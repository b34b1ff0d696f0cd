"""``skstruct check``: find labels of a corpus that are probably wrong.

Train a tagger on parts of the corpus, and compare the labels of the other parts with
the probabilities that it gives. Print the labels where another one is more probable,
most suspicious first: score, place, given label, suggested label, and the token in [ ]
among others. Of annotated texts these are whole spans, missing ones too; - stands for
no span.
"""

from __future__ import annotations

import argparse
import json
import warnings
from typing import TYPE_CHECKING, Any

from .._data.places import counted
from ..datasets.formats.span_writing import write_spans
from ..inspection import label_issues
from ..inspection.html import readable
from ..inspection.issues import corrected
from .common import (
    CommandError,
    check_inputs,
    check_target,
    n_jobs,
    output,
    positive,
    tell,
    warn,
)
from .corpus import learned, locating, read_files
from .first_record import tell_understood
from .learners import add_features, add_learner, features_of, new_model, task_of
from .options import THREADS, add_corpus, add_options

if TYPE_CHECKING:
    from .common import Arguments
    from .corpus import Corpus


WRITTEN = "html", "jsonl", "prodigy", "label-studio"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = parser.add_argument
    add_corpus(parser)
    add("--top", type=positive, default=50, metavar="N", help="how many to print")
    add(
        "--json",
        action="store_true",
        help="print a JSON object a line, for all of them",
    )
    add(
        "--output",
        "-o",
        metavar="OUT",
        help="write a page of HTML, or what --write says",
    )
    what = (
        "of annotated texts also those with issues, with the spans suggested, for a "
        "person to review"
    )
    add("--write", choices=WRITTEN, default="html", help=what)
    add("--n-jobs", type=n_jobs, metavar="N", help=THREADS)
    add_options(parser)
    group = parser.add_argument_group("learning")
    group.add_argument("--cv", type=positive, default=5, metavar="N", help="parts")
    add_features(group)
    add_learner(group, "l1crf")
    parser.set_defaults(
        **dict.fromkeys(("verbose", "search", "calibrate", "keep_training"), False),
        members=1,
        shards=1,
    )
    parser.set_defaults(**dict.fromkeys(("cluster", "stream", "dev", "recall")))


def run(arguments: Arguments) -> int | None:
    """Run the command."""
    if arguments.output is not None:
        check_target(arguments.output, arguments.files)
    elif arguments.write != "html":
        arguments.usage_error("--write needs --output")
    check_inputs(arguments.files, folders=True)
    with learned(arguments, task_of(arguments)) as (source, layout):
        model = new_model(arguments, features_of(arguments), layout.format)
        if layout.format != "spans" and arguments.write != "html":
            arguments.usage_error("--write is for annotated texts")
        corpus = read_files(arguments, source, layout)
        unit = {"spans": "text"}.get(layout.format, "sentence")
        tell_understood(corpus, counted(len(corpus.X), unit))
    try:
        with locating(corpus.name, corpus.places), warnings.catch_warnings():
            if layout.format == "spans":
                _tell_moves(model, corpus)
                warnings.filterwarnings(
                    "ignore", ".*do not end where tokens do"
                )  # of each fold
            issues = label_issues(
                model, corpus.X, corpus.y, cv=arguments.cv, n_jobs=arguments.n_jobs
            )
    except TypeError as error:  # it labels no tokens
        raise CommandError(f"--algorithm {arguments.algorithm}: {error}") from None
    of_spans = layout.format == "spans"
    what, of = ("span", "text") if of_spans else ("label", "sequence")
    tell(
        f"{corpus.name}: {counted(len(issues), what)} of {counted(len(corpus.X), of)} "
        "may be wrong"
    )
    if arguments.output is not None:
        with output(arguments.output) as file:
            if arguments.write == "html":
                file.write(issues.to_html())
            else:
                _write_tasks(file, issues, corpus, arguments.write)
    for issue in issues if arguments.json else issues[: arguments.top]:
        lines = corpus.places[issue.sequence]
        if of_spans:
            place = {
                "record": lines,
                "text": corpus.X[issue.sequence][issue.start : issue.end],
            }
            where = f"{lines}, {issue.start}-{issue.end}"
        else:
            place = {
                "line": lines[0]
                if layout.format == "segmented"
                else lines[issue.position]
            }
            where = f"{corpus.name}, line {place['line']}"
        if arguments.json:
            print(
                json.dumps(
                    {**issue._asdict(), **place}, ensure_ascii=False, default=str
                )
            )
        else:
            labels = "\t".join(
                "-" if each is None else readable(each) for each in issue[-4:-2]
            )
            print(f"{issue.score:.3f}\t{where}\t{labels}\t{issues.context(issue)}")


def _write_tasks(file: Any, issues: Any, corpus: Corpus, format: str) -> None:
    """Write the texts that have issues, the most suspicious first, with their spans as
    suggested.
    """
    of_text: dict[Any, Any] = {}
    for issue in issues:
        of_text.setdefault(issue.sequence, []).append(issue)
    spans = [corrected(corpus.y[i], found) for i, found in of_text.items()]
    metadata = [
        {"place": corpus.places[i], "score": found[0].score}
        for i, found in of_text.items()
    ]
    write_spans(file, [corpus.X[i] for i in of_text], spans, format, metadata=metadata)


def _tell_moves(model: Any, corpus: Corpus) -> None:
    """List the spans that do not end where tokens do."""
    for text, position, span, problem, result in model.alignment_report(
        corpus.X, corpus.y
    ).moves:
        becomes = "" if result is None else f", to {tuple(result)!r}"
        warn(
            f"{corpus.places[text]}: span {position}, {tuple(span)!r}: "
            f"{problem}{becomes}"
        )
