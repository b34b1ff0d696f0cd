"""``skstruct evaluate``: score a model, or predictions, against a corpus file.

Three ways to name what is compared: a corpus and a model; two files; or one file of columns whose
last two are the true and the predicted label, as conlleval reads it and `tag` writes it.
"""

import json

from .._sklearn import layers
from ..chain.constraints import scheme_of
from ..data.inputs import SPANS, TREES, WORDS
from ..data.scheme_rules import SCHEMES
from ..formats.readers import read_segmented
from .common import CommandError, load_model, n_jobs, warn
from .corpus import Layout, inputs_of, layout_of, located, read_all
from .lines import Source
from .options import add_options
from .scores import as_text, span_scores, tagging_scores, tree_scores, warn_of_unknown, word_scores
from .texts import are_annotated


def add_parser(commands):
    """Add the command to the command line."""
    parser = commands.add_parser(
        "evaluate",
        help="score a model or predictions",
        description="Print token accuracy, and precision, recall and F1 of segments (as conlleval counts "
        "them) or words; of a parser attachment scores, with and without punctuation. Without --model and "
        "--gold, the last two columns of FILE are the true and the predicted labels.",
    )
    parser.add_argument("file", metavar="FILE", nargs="?", help="the corpus (default: standard input)")
    parser.add_argument("--model", "-m", metavar="MODEL", help="a model file")
    parser.add_argument("--gold", metavar="FILE", help="gold labels; use with --pred")
    parser.add_argument("--pred", metavar="FILE", help="predictions for --gold, in the last column")
    add_options(parser)
    group = parser.add_argument_group("scores")
    group.add_argument(
        "--scheme", choices=["auto", "none", *SCHEMES], default="auto",
        help="of labels that encode segments (default: auto, segments if the labels look like it)",
    )  # fmt: skip
    group.add_argument(
        "--strict", action="store_true", help="count only segments that are spelled as --scheme spells them"
    )
    group.add_argument(
        "--vocabulary", metavar="FILE",
        help="known words, as a rule the segmented training corpus: adds the recall of unknown words",
    )  # fmt: skip
    group.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--n-jobs", type=n_jobs, metavar="N", help="threads (default: 1; -1: all cores)")
    parser.set_defaults(run=run, usage_error=parser.error)


def run(arguments):
    """Run the command.

    Returns
    -------
    int
        The exit code, 0.
    """
    _check_usage(arguments)
    vocabulary = None
    if arguments.vocabulary is not None:
        known = read_segmented(arguments.vocabulary, encoding=arguments.encoding)
        vocabulary = {word for words in known for word in words}
    if arguments.model is not None:
        scores = _of_model(arguments, vocabulary)
    else:
        pairs = _of_two if arguments.gold is not None else _of_one
        form, X, y, predicted, name = pairs(arguments)
        _check_vocabulary(arguments, form == "segmented")
        if form == "segmented":
            scores = word_scores(y, predicted, vocabulary)
        elif form == "spans":
            _check_spans(arguments)
            scores = span_scores(X, y, predicted)
        else:
            scores = _tagging_scores(arguments, y, predicted, name)
    print(json.dumps(scores, ensure_ascii=False) if arguments.json else as_text(scores))
    return 0


def _check_usage(arguments):
    if (arguments.gold is None) != (arguments.pred is None):
        arguments.usage_error("--gold and --pred need each other")
    if arguments.gold is not None and (arguments.model or arguments.file):
        arguments.usage_error("--gold and --pred exclude --model and FILE")
    if arguments.gold == arguments.pred == "-":
        arguments.usage_error("--gold and --pred cannot both be standard input")
    if arguments.strict and arguments.scheme in ("auto", "none"):
        arguments.usage_error("--strict needs a --scheme")


def _check_vocabulary(arguments, words):
    if arguments.vocabulary is not None and not words:
        arguments.usage_error("--vocabulary is for segmented text")


def _check_spans(arguments):
    if arguments.scheme != "auto" or arguments.strict:
        arguments.usage_error("--scheme and --strict are for labels, not for spans of texts")


def _tagging_scores(arguments, y, predicted, name):
    try:
        return tagging_scores(y, predicted, arguments.scheme, arguments.strict)
    except ValueError as error:  # labels that are not of the scheme
        raise CommandError(f"{name}: {error}") from error


# --------------------------------------------------------------------------------------------------
# A model and a corpus
# --------------------------------------------------------------------------------------------------
def predictions(model, X, name, numbers):
    """What a model says about a corpus; errors name file and line."""
    try:
        return model.predict(X)
    except ValueError as error:
        raise located(error, name, numbers) from error


def scores_of(model, X, y, name, numbers, vocabulary=None, **options):
    """Scores of a model on a corpus that `read_all` has read.

    Labels that the model does not know are warned of.
    """
    predicted = predictions(model, X, name, numbers)
    if model.inputs.task == WORDS:
        return word_scores(y, predicted, vocabulary)
    if model.inputs.task == TREES:
        return tree_scores(X, y, predicted)
    if model.inputs.task == SPANS:
        return span_scores(X, y, predicted)
    known = next((layer.classes_ for layer, _ in layers(model) if hasattr(layer, "classes_")), None)
    if known is not None:
        warn_of_unknown(y, set(map(str, known)), name)
    return tagging_scores(y, [list(map(str, labels)) for labels in predicted], **options)


def _of_model(arguments, vocabulary):
    model = load_model(arguments.model, arguments.n_jobs)
    inputs = inputs_of(model, arguments.format)
    _check_vocabulary(arguments, inputs.task == WORDS)
    if inputs.task == SPANS:
        _check_spans(arguments)
    with Source(arguments.file, arguments.encoding) as source:
        corpus = read_all(source, layout_of(arguments, source, inputs), inputs)
    scheme = arguments.scheme
    if scheme == "auto" and scheme_of(model) == "IO":  # which labels do not look like
        scheme = "IO"
    try:
        return scores_of(
            model, *corpus[:2], source.name, corpus[2], vocabulary, scheme=scheme, strict=arguments.strict,
        )  # fmt: skip
    except ValueError as error:
        raise CommandError(f"{source.name}: {error}") from error


# --------------------------------------------------------------------------------------------------
# True and predicted labels from files
# --------------------------------------------------------------------------------------------------
def _of_one(arguments):
    """("columns", None, y, predicted, name) from one file with both."""
    with Source(arguments.file, arguments.encoding) as source:
        arguments.format = arguments.format or ("spans" if are_annotated(source) else "columns")
        chosen = layout_of(arguments, source)
        if chosen.format != "columns" or arguments.tokens or arguments.label is not None:
            arguments.usage_error(
                "without --model and --gold, FILE must be columns, the last two the true and the predicted "
                "label, and --tokens and --label do not apply"
            )
        layout = Layout("columns", (-2,), -1, chosen.separator, chosen.comment)
        y, predicted, _ = read_all(source, layout)
    seen = [{label for labels in side for label in labels} for side in (y, predicted)]
    if seen[0].isdisjoint(seen[1]):
        warn(f"{source.name}: the last two columns have no label in common; are they labels?")
    return "columns", None, y, predicted, source.name


def _of_two(arguments):
    """(format, X, y, predicted, name) from two files."""
    corpora = []
    for path, label in ((arguments.gold, arguments.label), (arguments.pred, None)):
        with Source(path, arguments.encoding) as source:
            layout = layout_of(arguments, source)
            if layout.format == "columns":
                label = -1 if label is None else label
                layout = Layout("columns", None, label, layout.separator, layout.comment)
            corpora.append((source.name, layout.format, *read_all(source, layout)))
    (gold, form, X, y, numbers), (pred, form_pred, X_pred, predicted, numbers_pred) = corpora
    if form != form_pred and not {form, form_pred}.isdisjoint(("segmented", "spans")):
        raise CommandError(f"{gold} is {form} and {pred} is {form_pred}; --format says how to read both")
    if len(y) != len(predicted):
        raise CommandError(
            f"{gold} and {pred} must hold the same sentences: found {len(y)} and {len(predicted)}"
        )
    for i, (a, b) in enumerate(zip(X, X_pred)):
        if form == "spans" and a != b:
            raise CommandError(f"{numbers[i]} and {numbers_pred[i]}: the texts differ")
        if form in ("segmented", "spans"):
            t = 0 if a != b else None
        else:
            firsts = [[w[0] if isinstance(w, tuple) else w for w in x] for x in (a, b)]
            shorter = min(map(len, firsts))
            t = next((t for t, (v, w) in enumerate(zip(*firsts)) if v != w), None)
            t = shorter - 1 if t is None and len(a) != len(b) else t
        if t is not None:
            raise CommandError(
                f"{gold}, line {numbers[i][t]}, and {pred}, line {numbers_pred[i][t]}: the sentences differ "
                f"in their tokens"
            )
    return form, X, y, predicted, gold
