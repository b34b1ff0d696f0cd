"""``skstruct evaluate``: score a model or predictions.

Print token accuracy, and precision, recall and F1 of segments (as conlleval counts
them) or words; of a parser attachment scores, with and without punctuation. Without
--model and --gold, the last two columns of FILE are the true and the predicted labels.

Three ways to name what is compared: a corpus and a model; two files; or one file of
columns whose last two are the true and the predicted label, as conlleval reads it and
`tag` writes it.
"""

from __future__ import annotations

import argparse
import copy
import json
import unicodedata
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

from .. import metrics
from .._data.inputs import LABELS, SPANS, TREES, WORDS, flatten
from .._data.labels import SEVERAL
from .._data.places import counted
from .._data.scheme_rules import SCHEMES, are_chunks
from .._sklearn import final_step, outermost_value
from .._taggers.constraints import scheme_of
from ..datasets.formats.readers import read_segmented
from ..datasets.formats.table import recognised
from ..metrics.label_scores import report_of
from ..metrics.text_scores import span_counts
from . import two_models
from .cards import warn_if_learned
from .common import CommandError, check_inputs, load_model, warn
from .corpus import inputs_of, layout_of, locating, read_all
from .input_files import Source, tell_empty
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
    what = (
        "the corpus (default: standard input); before it two models, to see them "
        "beside each other"
    )
    takes_standard(add("files", metavar="[A B] FILE", nargs="*", help=what))
    add_model(parser, required=False)
    what = "gold labels; use with --pred"
    takes_standard(add("--gold", metavar="FILE", help=what))
    what = "predictions for --gold, in the last column"
    takes_standard(add("--pred", metavar="FILE", help=what))
    add_options(parser)
    add = parser.add_argument_group("scores").add_argument
    what = "of labels that encode segments; auto: segments if the labels look like it"
    add("--scheme", choices=["auto", "none", *SCHEMES], default="auto", help=what)
    add(
        "--strict",
        action="store_true",
        help="count only segments that are spelled as --scheme spells them",
    )
    what = (
        "known words, as a rule the segmented training corpus: adds the recall of "
        "unknown words"
    )
    add("--vocabulary", metavar="FILE", help=what)
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
        task = {"segmented": WORDS, "spans": SPANS}.get(corpus.format, LABELS)
        scores = _scores(task, corpus, predicted, _options(arguments, task))
    print(json.dumps(scores, ensure_ascii=False) if arguments.json else as_text(scores))


def _compare_models(arguments: Arguments, *models: str) -> None:
    """Print the scores of two models beside each other."""
    if arguments.file in (None, "-"):
        arguments.usage_error("two models read FILE twice: it cannot be standard input")
    a, b = (_side(arguments, path) for path in models)
    two_models.check_same(a, b)
    scheme = arguments.scheme
    if "IO" in (a.scheme, b.scheme):  # both read the labels of one file alike
        scheme = "IO"
        a, b = (_read_by(side, scheme) for side in (a, b))
    elif scheme == "auto":
        scheme = "BIO" if a.scores.get("segments") else "none"
    if arguments.json:
        found = two_models.as_dict(a, b, scheme)
        print(json.dumps(found, ensure_ascii=False))
    else:
        print(two_models.as_text(a, b, scheme))


def _options(arguments: Arguments, task: str) -> dict[str, Any]:
    """The options of `scores_of`."""
    options: dict[str, Any] = {"scheme": arguments.scheme, "strict": arguments.strict}
    if arguments.vocabulary is not None:
        if task != WORDS:
            arguments.usage_error("--vocabulary is for segmented text")
        words = flatten(
            read_segmented(arguments.vocabulary, encoding=arguments.encoding)
        )
        options["vocabulary"] = set(words)
    if task != LABELS and (arguments.scheme != "auto" or arguments.strict):
        what = {WORDS: "words", SPANS: "spans of texts", TREES: "trees"}[task]
        arguments.usage_error(f"--scheme and --strict are for labels, not for {what}")
    return options


def _scores(task: str, corpus: Corpus, predicted: Any, options: Any) -> dict[str, Any]:
    with locating(corpus.name):  # labels that are not of the scheme, say
        scores = scores_of(task, corpus.X, corpus.y, predicted, **options)
    if task == LABELS and options.get("scheme", "auto") == "auto":
        if scores["segments"] is None:
            warn_of_odd(corpus, predicted)
    return scores


# --------------------------------------------------------------------------------------
# A model and a corpus
# --------------------------------------------------------------------------------------
def model_scores(model: Any, corpus: Corpus, **options: Any) -> dict[str, Any]:
    """Scores of a model on a `Corpus`; labels that the model does not know are warned
    of.

    ``options`` are those of `scores_of`.
    """
    predicted = predictions(model, corpus)
    return _scores(final_step(model).estimator.inputs.task, corpus, predicted, options)


def predictions(model: Any, corpus: Corpus) -> Any:
    """What a model predicts for a `Corpus`, labels as they are written; labels that the
    model does not know are warned of.
    """
    with locating(corpus.name, corpus.places):
        predicted = model.predict(corpus.X)
    if final_step(model).estimator.inputs.task == LABELS:
        predicted = [list(map(str, labels)) for labels in predicted]
        known = outermost_value(model, "classes_")
        if known is not None:
            warn_of_unknown(corpus.y, set(map(str, known)), corpus.name)
    return predicted


def _of_model(arguments: Arguments) -> dict[str, Any]:
    return _side(arguments, arguments.model).scores


def _side(arguments: Arguments, path: str) -> two_models.Side:
    """What the model in a file makes of the corpus."""
    arguments = copy.copy(arguments)  # which the model's file completes
    model = load_model(path, arguments.n_jobs, arguments.encoding)
    inputs = inputs_of(model, path, format_for(arguments, model))
    options = _options(arguments, inputs.task)
    corpus = read_for(arguments.file, arguments, model, inputs)
    who = "the model" if path == arguments.model else path
    warn_if_learned(model, arguments.file, corpus.name, who)
    tell_empty(corpus)
    if (
        arguments.scheme == "auto" and scheme_of(model) == "IO"
    ):  # which labels do not look like
        options["scheme"] = "IO"
    predicted = predictions(model, corpus)
    scores = _scores(inputs.task, corpus, predicted, options)
    scheme = options["scheme"]
    return two_models.Side(path, inputs.task, corpus, predicted, scores, scheme)


def _read_by(side: two_models.Side, scheme: str) -> two_models.Side:
    """The side of a tagger, with scores of segments by a scheme."""
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
            found = recognised(source.head()) if source.path is not None else None
            if found is not None and not found.format.is_general:
                arguments.format = found.format.name
        layout = layout_of(arguments, source)
        if (
            layout.format != "columns"
            or arguments.tokens
            or arguments.label is not None
        ):
            wrong = (
                "without --model and --gold, FILE must be columns, the true and the "
                "predicted label last"
            )
            if layout.format != "columns" and layout.entry is not None:
                wrong = f"{wrong}, and {source.name} looks like {layout.entry.name}"
            arguments.usage_error(f"{wrong}; --tokens and --label do not apply")
        corpus = read_all(source, layout._replace(tokens=(-2,), label=-1))
    gold = corpus.X
    predicted = corpus.y
    if set(flatten(gold)).isdisjoint(flatten(predicted)):
        warn(
            f"{corpus.name}: the last two columns have no label in common; are they "
            "labels?"
        )
    return corpus._replace(y=gold), predicted


def _read_two_files(arguments: Arguments) -> tuple[Corpus, Any]:
    """Read true and predicted labels from two files: the corpus, and its predictions."""
    corpora = []
    for path, label in ((arguments.gold, arguments.label), (arguments.pred, None)):
        with Source(path, arguments.encoding) as source:
            layout = layout_of(arguments, source)
            if layout.format == "columns":
                if arguments.tokens:
                    arguments.usage_error(
                        "--tokens does not apply to the columns of --gold and --pred: "
                        "the first of them is compared"
                    )
                layout = layout._replace(
                    tokens=None, label=-1 if label is None else label
                )
            corpora.append(read_all(source, layout))
    _check_same_tokens(*corpora)
    return corpora[0], corpora[1].y


def _check_same_tokens(gold: Corpus, pred: Corpus) -> None:
    """Raise unless two corpora hold the same sentences."""
    names = f"{gold.name} and {pred.name}"
    of_texts = gold.format in ("segmented", "spans")
    if gold.format != pred.format and (
        of_texts or pred.format in ("segmented", "spans")
    ):
        wrong = f"{gold.name} is {gold.format} and {pred.name} is {pred.format}"
        raise CommandError(f"{wrong}; --format says how to read both")
    if len(gold.y) != len(pred.y):
        raise CommandError(
            f"{names} must hold the same sentences: found {len(gold.y)} and "
            f"{len(pred.y)}"
        )
    for a, b, here, there in zip(gold.X, pred.X, gold.places, pred.places):
        if gold.format == "spans" and a != b:
            raise CommandError(f"{here} and {there}: the texts differ")
        if not of_texts:
            a, b = (
                [token[0] if isinstance(token, tuple) else token for token in x]
                for x in (a, b)
            )
        if a != b:
            differ = (t for t, pair in enumerate(zip(a, b)) if pair[0] != pair[1])
            t = 0 if of_texts else next(differ, min(len(a), len(b)) - 1)
            where = f"{gold.name}, line {here[t]}, and {pred.name}, line {there[t]}"
            raise CommandError(f"{where}: the sentences differ in their tokens")


# --------------------------------------------------------------------------------------
# Scores: dicts of the numbers of `skstruct.metrics`, printed as text or as JSON
# --------------------------------------------------------------------------------------
_LISTED = 10
"""Labels that a warning lists."""


def encodes_segments(*corpora: Iterable[Iterable[Any]]) -> bool:
    """Whether the labels of some corpora are read as segments."""
    return are_chunks(label for y in corpora for labels in y for label in labels)


def scores_of(
    task: str, X: Any, y: Any, predicted: Any, vocabulary: Any = None, **options: Any
) -> dict[str, Any]:
    """Scores of what a model of a task predicts; ``options`` are those of
    `tagging_scores`.
    """
    if task == WORDS:
        return word_scores(y, predicted, vocabulary)
    if task == SPANS:
        return span_scores(X, y, predicted)
    return (
        tree_scores(X, y, predicted)
        if task == TREES
        else tagging_scores(y, predicted, **options)
    )


def tagging_scores(
    y: Any, predicted: Any, scheme: str = "auto", strict: bool = False
) -> dict[str, Any]:
    """Scores of labels.

    Parameters
    ----------
    y, predicted : lists of lists of str
    scheme : str, default="auto"
        A label scheme, "none" for no segments, or "auto" for segments if the labels
        look like that.
    strict : bool, default=False
        Count only segments spelled as the scheme spells them, not as conlleval does.

    Returns
    -------
    dict
        ``sequences``, ``tokens``, ``token_accuracy``, ``sequence_accuracy``, and
        ``segments``, which is the dict of `skstruct.metrics.segment_report` or None;
        without segments ``labels``, that of `skstruct.metrics.token_report`.
    """
    if scheme == "auto":
        scheme = "BIO" if encodes_segments(y, predicted) else "none"
    segments = None
    if scheme != "none":
        mode: Literal["strict", "conlleval"] = "strict" if strict else "conlleval"
        segments = metrics.segment_report(
            y, predicted, scheme=scheme, mode=mode, output_dict=True
        )
    scores = {
        "sequences": len(y),
        "tokens": sum(map(len, y)),
        "token_accuracy": metrics.token_accuracy_score(y, predicted),
        "sequence_accuracy": metrics.sequence_accuracy_score(y, predicted),
        "segments": segments,
    }
    if segments is None and not _have_sets(y):
        report = metrics.token_report(y, predicted, output_dict=True)
        scores["labels"] = {str(label): row for label, row in report.items()}
    return scores


def _have_sets(y: Any) -> bool:
    """Whether a token has several labels, so that no score is about one of them."""
    return any(isinstance(label, SEVERAL) for labels in y for label in labels)


def word_scores(y: Any, predicted: Any, vocabulary: Any = None) -> dict[str, Any]:
    """Scores of words.

    Returns
    -------
    dict
        ``sequences``, ``words``, ``precision``, ``recall``, ``f1``; with a vocabulary
        also ``oov_rate``, ``oov_recall`` and ``iv_recall``; if both sides have tags
        also ``joint_f1``.
    """
    report = metrics.segmentation_report(y, predicted, vocabulary or ())
    of_vocabulary = (
        () if vocabulary is None else ("oov_rate", "oov_recall", "iv_recall")
    )
    names = "precision", "recall", "f1", *of_vocabulary
    scores = {
        "sequences": len(y),
        "words": sum(map(len, y)),
        **{name: report[name] for name in names},
    }
    tagged = [
        any(words and not isinstance(words[0], str) for words in each)
        for each in (y, predicted)
    ]
    return scores | (
        {"joint_f1": metrics.word_f1_score(y, predicted)} if all(tagged) else {}
    )


def span_scores(texts: Any, y: Any, predicted: Any) -> dict[str, Any]:
    """Scores of spans of texts; white space at their ends does not count.

    Returns
    -------
    dict
        ``texts``, ``spans``, and ``segments`` as of `tagging_scores`, by label.
    """
    rows = report_of(span_counts(y, predicted, texts=texts))
    return {
        "texts": len(texts),
        "spans": rows["micro avg"]["support"],
        "segments": rows,
    }


def tree_scores(X: Any, y: Any, predicted: Any) -> dict[str, Any]:
    """Scores of dependency trees.

    Punctuation is, as in the CoNLL-X shared task, a form all of whose characters are
    punctuation in Unicode.

    Returns
    -------
    dict
        ``sequences``, ``tokens``, ``uas``, ``las``, ``complete``, and without
        punctuation ``words``, ``words_uas``, ``words_las``, if there are words. There
        is no ``las`` of a parser that gives heads alone.
    """
    punctuation = [
        [all(map(_is_punctuation, form)) for form, *_ in sentence] for sentence in X
    ]
    everything = metrics.attachment_scores(y, predicted)
    scores: dict[str, float] = {"sequences": len(y), "tokens": everything.n_tokens}
    scores |= {name: getattr(everything, name) for name in ("uas", "las", "complete")}
    if not all(map(all, punctuation)):
        words = metrics.attachment_scores(y, predicted, punctuation=punctuation)
        scores |= {
            "words": words.n_tokens,
            "words_uas": words.uas,
            "words_las": words.las,
        }
    return {name: value for name, value in scores.items() if value == value}


def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character).startswith("P")


def as_text(scores: dict[str, Any]) -> str:
    """Scores as lines of text, a name and a number each, and a table of segments or of
    labels.
    """
    lines = []
    of_segments = scores.get("segments")
    rows = of_segments or scores.get("labels") or {}
    for name, value in scores.items():
        if name not in ("segments", "labels"):
            value = f"{value:.4f}" if isinstance(value, float) else str(value)
            lines.append(f"{name.replace('_', ' '):<18}{value:>10}")
    if rows:
        width = max(18, *(len(name) + 2 for name in rows))
        what = "segments" if of_segments else "labels"
        lines += [
            "",
            f"{what:<{width}}{'precision':>10}{'recall':>10}{'f1':>10}{'support':>10}",
        ]
    nameless = "(no type)" if of_segments else "''"
    for name, row in rows.items():
        numbers = "".join(
            f"{row[column]:>10.4f}" for column in ("precision", "recall", "f1")
        )
        lines.append(f"{name or nameless:<{width}}{numbers}{row['support']:>10}")
    return "\n".join(lines)


def warn_of_unknown(y: Any, known: Any, name: str) -> None:
    """Warn of labels that a model does not know; they can only count as wrong."""
    unknown = Counter(
        label for label in flatten(y) if label is not None and label not in known
    )
    if not unknown:
        return
    which = f"{counted(len(unknown), 'label')} unknown"
    if unknown.total() == sum(map(len, y)):
        which = "none of the labels is known"
    listed = ", ".join(f"{label} ({n:,})" for label, n in unknown.most_common(_LISTED))
    more = f" and {len(unknown) - _LISTED} more" if len(unknown) > _LISTED else ""
    tokens = counted(unknown.total(), "token")
    warn(
        f"{name}: {which} to the model; {tokens} with these labels count as wrong: "
        f"{listed}{more}"
    )
