"""``skstruct report``: write a page about what a model gets right and wrong.

Write an HTML page: scores with confidence intervals, confusions, wrong sentences with
the features for their labels and against the right ones, probabilities, weights.
"""

from __future__ import annotations

import argparse
import os
import shlex
from typing import TYPE_CHECKING

from .._data.inputs import TREES
from ..inspection import report
from .cards import warn_if_learned
from .common import check_inputs, load_model, tell
from .located import locating
from .model_inputs import inputs_of
from .model_layout import format_for, read_for
from .options import add_model, add_options, same_options
from .targets import add_output, output, printed_beside, takes_standard

if TYPE_CHECKING:
    from .common import Arguments


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    what = "the corpus (default: standard input)"
    takes_standard(parser.add_argument("file", metavar="DATA", nargs="?", help=what))
    add_model(parser)
    add_output(
        parser, "--output", "-o", required=True, help="the page, such as report.html"
    )
    add_options(parser)


def run(arguments: Arguments) -> int | None:
    """Run the command."""
    check_inputs([arguments.file, arguments.model], folders=True)
    model = load_model(arguments.model, arguments.n_jobs, arguments.encoding)
    inputs = inputs_of(model, arguments.model, format_for(arguments, model))
    corpus = read_for(arguments.file, arguments, model, inputs)
    warn_if_learned(model, arguments.file, corpus.name)
    with locating(corpus.name, corpus.places):
        title = f"{corpus.name}: what {os.path.basename(arguments.model)} does"
        page = report(model, corpus.X, corpus.y, places=corpus.where, title=title)
    with output(arguments.output) as out:
        out.write(page.to_html())
    with printed_beside(arguments.output):
        print(page)
    tell(f"wrote {arguments.output}")
    if inputs.task == TREES:  # what check does not learn
        tell("next: open it")
        return None
    file = shlex.quote(arguments.file or "-")
    same = same_options(arguments)
    tell(f"next: open it; to look for wrong labels: skstruct check {file}{same}")
    return None
