"""``skstruct evaluate``: score a model or predictions.

Print token accuracy, and precision, recall and F1 of segments (as conlleval counts
them) or words; for a parser, attachment scores with and without punctuation. Without
--model and --gold, the last two columns of FILE are the true and the predicted labels.

Three ways to name what is compared: a corpus and a model; two files; or one file of
columns whose last two are the true and the predicted label, as conlleval reads it and
`tag` writes it.
"""

from __future__ import annotations

import argparse
import copy
from collections import Counter
from typing import TYPE_CHECKING, Any

from .._data.inputs import LABELS, SPANS, TREES, WORDS, flatten
from .._data.places import counted
from .._data.scheme_rules import SCHEMES
from .._sklearn import final_step, outermost_value
from .._taggers.abilities import span_labels
from .._taggers.constraints import scheme_of
from ..datasets.formats.readers import read_segmented
from ..datasets.formats.source import Source
from ..datasets.formats.table import recognised
from ..metrics.task_scores import Scores, as_text, scores_of
from . import two_models
from .cards import warn_if_learned
from .common import CommandError, as_json, check_inputs, load_model, warn
from .corpus import layout_of, read_all
from .input_files import tell_empty
from .located import locating
from .matching import as_tagged, matched
from .model_inputs import inputs_of
from .model_layout import format_for, read_for
from .odd_labels import warn_of_odd
from .options import add_model, add_options
from .targets import takes_standard
from .texts import are_annotated

if TYPE_CHECKING:
    from .common import Arguments
    from .corpus import Corpus


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = parser.add_argument
    what = "the corpus (default: standard input); two models before it are compared"
    takes_standard(add("files", metavar="[A B] FILE", nargs="*", help=what))
    add_model(parser, required=False)
    what = "gold labels; use with --pred"
    takes_standard(add("--gold", metavar="FILE", help=what))
    what = "predictions for --gold, in the last column"
    takes_standard(add("--pred", metavar="FILE", help=what))
    add_options(parser)
    add = parser.add_argument_group("scores").add_argument
    what = "scheme of labels that encode segments; auto: detected from the labels"
    add("--scheme", choices=["auto", "none", *SCHEMES], default="auto", help=what)
    add(
        "--strict",
        action="store_true",
        help="count only segments in the exact spelling of --scheme",
    )
    what = (
        "known words, usually the segmented training corpus: adds the "
        "recall of unknown words"
    )
    add("--vocabulary", metavar="FILE", help=what)
    what = (
        "add the scores of SemEval 2013 for segments and spans: strict, "
        "exact, partial and type, in total and by label"
    )
    add("--partial", action="store_true", help=what)
    add("--json", action="store_true", help="print one JSON object")


def run(arguments: Arguments) -> int | None:
    """Run the command."""
    *models, arguments.file = arguments.files or [None]
    gold = arguments.gold
    pred = arguments.pred
    for wrong, message in (
        ((gold is None) != (pred is None), "--gold and --pred need each other"),
        (
            gold and (arguments.model or arguments.file),
            "--gold and --pred exclude --model and FILE",
        ),
        (
            arguments.strict and arguments.scheme in ("auto", "none"),
            "--strict needs a --scheme",
        ),
        (
            models and (arguments.model or len(models) != 2),
            "name one FILE, with --model; or two models and FILE",
        ),
        (
            models and arguments.partial,
            "--partial is for one model",
        ),
        (
            models and arguments.strict,
            "--strict is for one model: the difference of two is of segments as "
            "conlleval counts them",
        ),
    ):
        if wrong:
            arguments.usage_error(message)
    named = (arguments.file, gold, pred, arguments.model, arguments.vocabulary)
    check_inputs([*named, *models], folders=True)
    if models:
        _compare_models(arguments, *models)
        return None
    if arguments.model is not None:
        scores = _of_model(arguments)
    else:
        read_labels = _read_one_file if gold is None else _read_two_files
        corpus, predicted = read_labels(arguments)
        task = corpus.kind.task
        scores = _scores(task, corpus, predicted, _options(arguments, task))
    if arguments.json:
        print(as_json(scores.to_dict()))
    else:
        print(as_text(scores))


def _compare_models(arguments: Arguments, *models: str) -> None:
    """Print the scores of two models beside each other."""
    if arguments.file in (None, "-"):
        arguments.usage_error("two models read FILE twice: it cannot be standard input")
    a, b = (_side(arguments, path) for path in models)
    two_models.check_same(a, b)
    if "IO" in (a.scheme, b.scheme):  # both read the labels of one file alike
        a, b = (_read_by(side, "IO") for side in (a, b))
    if arguments.json:
        found = two_models.as_dict(a, b)
        print(as_json(found))
    else:
        print(two_models.as_text(a, b))


def _options(arguments: Arguments, task: str) -> dict[str, Any]:
    """Return the options of `scores_of`."""
    options: dict[str, Any] = {"scheme": arguments.scheme, "strict": arguments.strict}
    if arguments.vocabulary is not None:
        if task != WORDS:
            arguments.usage_error("--vocabulary is for segmented text")
        words = flatten(
            read_segmented(arguments.vocabulary, encoding=arguments.encoding)
        )
        options["vocabulary"] = set(words)
    if arguments.partial:
        if task not in (LABELS, SPANS):
            arguments.usage_error("--partial is for segments of labels, and for spans")
        options["partial"] = True
    if task != LABELS and (arguments.scheme != "auto" or arguments.strict):
        what = {WORDS: "words", SPANS: "spans of texts", TREES: "trees"}[task]
        arguments.usage_error(f"--scheme and --strict are for labels, not for {what}")
    return options


def _scores(
    task: str, corpus: Corpus, predicted: Any, options: Any, who: str = ""
) -> Scores:
    """Score predictions, of the model ``who`` if there are two."""
    with locating(corpus.name):  # labels that are not of the scheme, say
        scores = scores_of(task, corpus.X, corpus.y, predicted, **options)
    if task == LABELS and options.get("scheme", "auto") == "auto":
        if scores.table != "segments":
            warn_of_odd(corpus, predicted, who)
    return scores


# --------------------------------------------------------------------------------------
# A model and a corpus
# --------------------------------------------------------------------------------------
def model_scores(model: Any, corpus: Corpus, **options: Any) -> Scores:
    """Return the scores of a model on a `Corpus`, and warn of labels that the model
    does not know.

    ``options`` are those of `scores_of`.
    """
    predicted = predictions(model, corpus)
    options.setdefault("scheme", look_of(model))
    return _scores(final_step(model).estimator.inputs.task, corpus, predicted, options)


def look_of(model: Any) -> str:
    """Return the scheme for scores of a model's labels, unless an option names one: the
    scheme that they look like, or IO, which cannot be seen from labels.
    """
    return "IO" if scheme_of(model) == "IO" else "auto"


def predictions(model: Any, corpus: Corpus) -> Any:
    """Return what a model predicts for a `Corpus`, labels as they are written; labels
    that the model does not know are warned of.
    """
    with locating(corpus.name, corpus.places):
        predicted = model.predict(corpus.X)
    task = final_step(model).estimator.inputs.task
    if task == LABELS:
        predicted = [list(map(str, labels)) for labels in predicted]
        known = outermost_value(model, "classes_")
        if known is not None:
            warn_of_unknown(corpus.y, set(map(str, known)), corpus.name)
    elif task == SPANS:
        types = [[label for *_, label in spans] for spans in corpus.y]
        warn_of_unknown(types, set(span_labels(model)), corpus.name, "span")
    return predicted


def _of_model(arguments: Arguments) -> Scores:
    return _side(arguments, arguments.model).scores


def _side(arguments: Arguments, path: str) -> two_models.Side:
    """Return what the model in a file makes of the corpus."""
    arguments = copy.copy(arguments)  # which the model's file completes
    model = load_model(path, arguments.n_jobs, arguments.encoding)
    inputs = inputs_of(model, path, format_for(arguments, model))
    options = _options(arguments, inputs.task)
    corpus = read_for(arguments.file, arguments, model, inputs)
    who = "the model" if path == arguments.model else path
    warn_if_learned(model, arguments.file, corpus.name, who)
    tell_empty(corpus)
    if arguments.scheme == "auto":
        options["scheme"] = look_of(model)
    predicted = predictions(model, corpus)
    among = "" if path == arguments.model else path
    scores = _scores(inputs.task, corpus, predicted, options, among)
    scheme = options["scheme"]
    return two_models.Side(path, inputs.task, corpus, predicted, scores, scheme)


def _read_by(side: two_models.Side, scheme: str) -> two_models.Side:
    """Return the side of a tagger, with scores of segments by a scheme."""
    if side.scheme == scheme:
        return side
    scores = _scores(LABELS, side.corpus, side.predicted, {"scheme": scheme})
    return side._replace(scores=scores, scheme=scheme)


# --------------------------------------------------------------------------------------
# True and predicted labels from files
# --------------------------------------------------------------------------------------
def _read_one_file(arguments: Arguments) -> tuple[Corpus, Any]:
    """Read true and predicted labels from one file: the corpus, and its predictions."""
    with Source(arguments.file, arguments.encoding) as source:
        if arguments.format is None:
            arguments.format = "spans" if are_annotated(source) else "columns"
            found = (
                recognised(source.head(), for_model=True)
                if source.path is not None
                else None
            )
            if found is not None and not found.format.is_general:
                arguments.format = found.format.name
        layout = layout_of(arguments, source)
        if (
            layout.family != "columns"
            or arguments.tokens
            or arguments.label is not None
        ):
            wrong = (
                "without --model and --gold, FILE must be columns, the true and the "
                "predicted label last"
            )
            if layout.family != "columns":
                wrong = f"{wrong}, and {source.name} looks like {layout.entry.name}"
            arguments.usage_error(f"{wrong}; --tokens and --label do not apply")
        corpus = read_all(source, layout.with_columns((-2,), -1))
    gold = corpus.X
    predicted = corpus.y
    if set(flatten(gold)).isdisjoint(flatten(predicted)):
        warn(
            f"{corpus.name}: the last two columns have no label in common; they should "
            "hold the true and the predicted label"
        )
    return corpus._replace(y=gold), predicted


def _read_two_files(arguments: Arguments) -> tuple[Corpus, Any]:
    """Read true and predicted labels from two files: the corpus, and its predictions.

    Records that have ids are matched by them, others by their position.
    """
    with Source(arguments.gold, arguments.encoding) as source:
        gold = _read_labelled(arguments, source, arguments.label)
    with Source(arguments.pred, arguments.encoding) as source:
        pred = _read_labelled(as_tagged(arguments, source), source, None)
    pred = matched(gold, pred)
    _check_same_tokens(gold, pred)
    return gold, pred.y


def _read_labelled(arguments: Arguments, source: Source, label: Any) -> Corpus:
    """Read one of two files with labels; of columns the last holds these, unless
    ``label`` names another one.
    """
    layout = layout_of(arguments, source)
    if layout.family == "columns":
        label = -1 if label is None else label
        layout = layout.with_columns(arguments.tokens, label)
    return read_all(source, layout)


def _check_same_tokens(gold: Corpus, pred: Corpus) -> None:
    """Raise unless two corpora hold the same sentences."""
    names = f"{gold.name} and {pred.name}"
    of_texts = gold.kind.is_text
    if gold.family != pred.family and (of_texts or pred.kind.is_text):
        wrong = f"{gold.name} is {gold.family} and {pred.name} is {pred.family}"
        raise CommandError(f"{wrong}; pass --format to read both in one way")
    if len(gold.y) != len(pred.y):
        raise CommandError(
            f"{names} must hold the same sentences: found {len(gold.y)} and "
            f"{len(pred.y)}"
        )
    for a, b, here, there in zip(gold.X, pred.X, gold.places, pred.places):
        if gold.kind.has_spans and a != b:
            raise CommandError(
                f"{here} and {there}: the texts differ; records are matched by their "
                "position unless all of both files have an id"
            )
        if not of_texts:
            a, b = (
                [token[0] if isinstance(token, tuple) else token for token in x]
                for x in (a, b)
            )
        if a != b:
            differ = (t for t, pair in enumerate(zip(a, b)) if pair[0] != pair[1])
            t = 0 if of_texts else next(differ, min(len(a), len(b)) - 1)
            where = f"{gold.name}, line {here[t]}, and {pred.name}, line {there[t]}"
            tokens = "" if of_texts else f", {a[t : t + 1]} and {b[t : t + 1]}"
            raise CommandError(
                f"{where}: the sentences differ in their tokens{tokens}; they are "
                "matched by their position unless all of both files have an id"
            )


_LISTED = 10
"""Labels that a warning lists."""


def warn_of_unknown(y: Any, known: Any, name: str, element: str = "token") -> None:
    """Warn of labels of tokens or spans that a model does not know; they can only count
    as wrong.
    """
    unknown = Counter(
        label for label in flatten(y) if label is not None and label not in known
    )
    if not unknown:
        return
    which = f"{counted(len(unknown), 'label')} unknown"
    if unknown.total() == sum(map(len, y)):
        which = "no label is known"
    listed = ", ".join(f"{label} ({n:,})" for label, n in unknown.most_common(_LISTED))
    more = f" and {len(unknown) - _LISTED} more" if len(unknown) > _LISTED else ""
    elements = counted(unknown.total(), element)
    warn(
        f"{name}: {which} to the model; {elements} with these labels count as wrong: "
        f"{listed}{more}"
    )
