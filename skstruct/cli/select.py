"""``skstruct select``: choose what to label next.

Write the sentences of POOL that a model is least sure of, and that differ from each other, best first, as
they stand in the file; texts for a model of spans as JSON lines with the spans that it predicts.
"""

from ..data.inputs import SPANS
from ..formats.span_writing import write_spans
from ..inspection import select
from ..inspection.selection import STRATEGIES
from . import texts
from .common import CommandError, check_output, check_replaced, fitting, load_model, n_jobs, output, positive
from .corpus import inputs_of, layout_of, locating, sentences
from .lines import Source
from .options import add_options


def add_arguments(parser):
    """Add the arguments of the command."""
    parser.add_argument("file", metavar="POOL", nargs="?", help="sentences (default: standard input)")
    parser.add_argument("--model", "-m", required=True, metavar="MODEL", help="a model file")
    parser.add_argument("-k", type=positive, default=50, metavar="K", help="how many (default: 50)")
    what = "what comes first (default: least_confident; margin is for models without probabilities)"
    parser.add_argument("--strategy", choices=STRATEGIES, default="least_confident", help=what)
    share = fitting(float, lambda x: 0.0 <= x <= 1.0, "from 0 to 1")
    what = "how much less counts what resembles a sentence chosen before, from 0 to 1 (default: 0.5)"
    parser.add_argument("--diversity", type=share, default=0.5, metavar="D", help=what)
    parser.add_argument("--seed", type=int, default=0, help="of --strategy random (default: 0)")
    parser.add_argument("--output", "-o", metavar="OUT", help="file to write (default: standard output)")
    parser.add_argument("--n-jobs", type=n_jobs, metavar="N", help="threads (default: 1; -1: all cores)")
    what = "each line of POOL is a text, for models of spans"
    parser.add_argument("--lines", action="store_true", help=what)
    add_options(parser)
    parser.set_defaults(write=None)


def run(arguments):
    """Run the command."""
    check_output(arguments.output)
    check_replaced([arguments.output], [arguments.file])
    model = load_model(arguments.model, arguments.n_jobs)
    inputs = inputs_of(model, arguments.format)
    texts.refuse(arguments, inputs.task)
    if inputs.task == SPANS:
        files = texts.expanded([arguments.file or "-"])
        check_replaced([arguments.output], texts.files_of(files))
        pool = list(texts.texts_of(files, arguments))
        X, numbers = [text for _, text, _ in pool], [place for place, _, _ in pool]
    else:
        with Source(arguments.file, arguments.encoding) as source:
            layout = layout_of(arguments, source, inputs)
            pool = [s for s in sentences(source, layout, inputs, labels=False) if s.tokens]
        words = layout.format == "segmented"
        X = [s.lines[0][1] if words else s.tokens for s in pool]
        numbers = [s.numbers for s in pool]
    try:
        with locating(arguments.file or "<stdin>", numbers):
            chosen = select(
                model, X, arguments.k, strategy=arguments.strategy, diversity=arguments.diversity,
                random_state=arguments.seed,
            )  # fmt: skip
    except TypeError as error:
        options = "; --strategy margin chooses it, train --calibrate adds them"
        hint = options if "probabilities" in str(error) else ""
        raise CommandError(f"{arguments.model}: {error}{hint}") from None
    with output(arguments.output, arguments.encoding) as file:
        if inputs.task == SPANS:
            best = [X[i] for i in chosen]
            write_spans(file, best, model.predict(best), "jsonl", metadata=[pool[i][2] for i in chosen])
        else:
            for i in chosen:
                file.writelines(f"{line}\n" for _, line, _ in pool[i].lines if line.strip() or words)
                file.write("" if words else "\n")
