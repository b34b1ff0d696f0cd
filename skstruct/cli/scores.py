"""Scores on the command line: what `evaluate`, ``train --dev`` and `compare` print.

A dict of plain numbers, which is printed as text or as JSON; the numbers are those of
`skstruct.metrics`.
"""

import unicodedata
from collections import Counter

from .. import metrics
from ..data.inputs import SPANS, TREES, WORDS, flatten
from ..data.scheme_rules import are_chunks
from ..data.spans import trimmed_spans
from ..metrics.label_scores import report_of
from ..metrics.text_scores import count_spans
from .common import counted, warn

_LISTED = 10
"""Labels that a warning lists."""


def encodes_segments(*corpora):
    """Whether the labels of some corpora are read as segments."""
    return are_chunks(label for y in corpora for labels in y for label in labels)


def scores_of(task, X, y, predicted, vocabulary=None, **options):
    """Scores of what a model of a task predicts; ``options`` are those of `tagging_scores`."""
    if task == WORDS:
        return word_scores(y, predicted, vocabulary)
    if task == SPANS:
        return span_scores(X, y, predicted)
    return tree_scores(X, y, predicted) if task == TREES else tagging_scores(y, predicted, **options)


def tagging_scores(y, predicted, scheme="auto", strict=False):
    """Scores of labels.

    Parameters
    ----------
    y, predicted : lists of lists of str
    scheme : str, default="auto"
        A label scheme, "none" for no segments, or "auto" for segments if the labels look like that.
    strict : bool, default=False
        Count only segments spelled as the scheme spells them, not as conlleval does.

    Returns
    -------
    dict
        ``sequences``, ``tokens``, ``token_accuracy``, ``sequence_accuracy``, and ``segments``, which is
        the dict of `skstruct.metrics.segment_report` or None.
    """
    if scheme == "auto":
        scheme = "BIO" if encodes_segments(y, predicted) else "none"
    segments = None
    if scheme != "none":
        mode = "strict" if strict else "conlleval"
        segments = metrics.segment_report(y, predicted, scheme=scheme, mode=mode, output_dict=True)
    return {
        "sequences": len(y),
        "tokens": sum(map(len, y)),
        "token_accuracy": metrics.token_accuracy_score(y, predicted),
        "sequence_accuracy": metrics.sequence_accuracy_score(y, predicted),
        "segments": segments,
    }


def word_scores(y, predicted, vocabulary=None):
    """Scores of words.

    Returns
    -------
    dict
        ``sequences``, ``words``, ``precision``, ``recall``, ``f1``; with a vocabulary also ``oov_rate``,
        ``oov_recall`` and ``iv_recall``; if both sides have tags also ``joint_f1``.
    """
    report = metrics.segmentation_report(y, predicted, vocabulary or ())
    of_vocabulary = () if vocabulary is None else ("oov_rate", "oov_recall", "iv_recall")
    names = "precision", "recall", "f1", *of_vocabulary
    scores = {"sequences": len(y), "words": sum(map(len, y)), **{name: report[name] for name in names}}
    tagged = [any(words and not isinstance(words[0], str) for words in each) for each in (y, predicted)]
    return scores | ({"joint_f1": metrics.word_f1_score(y, predicted)} if all(tagged) else {})


def span_scores(texts, y, predicted):
    """Scores of spans of texts; white space at their ends does not count.

    Returns
    -------
    dict
        ``texts``, ``spans``, and ``segments`` as of `tagging_scores`, by label.
    """
    both = trimmed_spans(texts, y), trimmed_spans(texts, predicted)
    rows = report_of(count_spans(*both, [1] * len(texts)))
    return {"texts": len(texts), "spans": rows["micro avg"]["support"], "segments": rows}


def tree_scores(X, y, predicted):
    """Scores of dependency trees.

    Punctuation is, as in the CoNLL-X shared task, a form all of whose characters are punctuation in Unicode.

    Returns
    -------
    dict
        ``sequences``, ``tokens``, ``uas``, ``las``, ``complete``, and without punctuation ``words``,
        ``words_uas``, ``words_las``. There is no ``las`` of a parser that gives heads alone.
    """
    punctuation = [[all(map(_is_punctuation, form)) for form, *_ in sentence] for sentence in X]
    everything = metrics.attachment_scores(y, predicted)
    words = metrics.attachment_scores(y, predicted, punctuation=punctuation)
    scores = {"sequences": len(y), "tokens": everything.n_tokens}
    scores |= {name: getattr(everything, name) for name in ("uas", "las", "complete")}
    scores |= {"words": words.n_tokens, "words_uas": words.uas, "words_las": words.las}
    return {name: value for name, value in scores.items() if value == value}


def _is_punctuation(character):
    return unicodedata.category(character).startswith("P")


def as_text(scores):
    """Scores as lines of text, a name and a number each, and a table of segments."""
    lines, rows = [], scores.get("segments") or {}
    for name, value in scores.items():
        if name != "segments":
            value = f"{value:.4f}" if isinstance(value, float) else str(value)
            lines.append(f"{name.replace('_', ' '):<18}{value:>10}")
    if rows:
        width = max(18, *(len(name) + 2 for name in rows))
        lines += ["", f"{'segments':<{width}}{'precision':>10}{'recall':>10}{'f1':>10}{'support':>10}"]
    for name, row in rows.items():
        numbers = "".join(f"{row[column]:>10.4f}" for column in ("precision", "recall", "f1"))
        lines.append(f"{name or '(no type)':<{width}}{numbers}{row['support']:>10}")
    return "\n".join(lines)


def warn_of_unknown(y, known, name):
    """Warn of labels that a model does not know; they can only count as wrong."""
    unknown = Counter(label for label in flatten(y) if label not in known)
    if not unknown:
        return
    which = f"{counted(len(unknown), 'label')} unknown"
    if unknown.total() == sum(map(len, y)):
        which = "none of the labels is known"
    listed = ", ".join(f"{label} ({n:,})" for label, n in unknown.most_common(_LISTED))
    more = f" and {len(unknown) - _LISTED} more" if len(unknown) > _LISTED else ""
    tokens = counted(unknown.total(), "token")
    warn(f"{name}: {which} to the model; {tokens} with these labels count as wrong: {listed}{more}")
