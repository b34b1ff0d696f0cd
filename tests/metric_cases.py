"""Every metric and every scorer as a function of the same gold and predicted labels.

A score takes ``(y, said, sample_weight)``, lists of label sequences of the scheme BIO
and a number for each, and returns numbers. ``y`` may hold None, and labels that nobody
predicts. A structure is made of the labels: a token with a label that is not O is a
span, a head, a word boundary.
"""

import numpy as np
from sklearn.base import BaseEstimator

from skstruct import metrics

LABELS = ["B-X", "B-Y", "I-X", "O"]
"""What a model knows."""

P = {"B-X": 0.7, "B-Y": 0.9, "I-X": 0.4, "O": 0.7}
"""The probability that a model gives to each label where it predicts it."""

HEADS = "B-X", "B-Y", "I-X", "B-new"
"""The words behind a sentence that the tokens with these labels have as heads."""


def rows_of(labels):
    """Probabilities of the labels of tokens, of which these are the best ones."""
    rows = [
        [P[best] if label == best else (1 - P[best]) / 3 for label in LABELS]
        for best in labels
    ]
    return np.array(rows).reshape(-1, len(LABELS))


def log_proba(gold, labels):
    """What a model says of a labelling; with a label that it lacks it is impossible."""
    rows = rows_of(labels)
    known = [(a, row) for a, row in zip(gold, rows) if a is not None]
    p = [row[LABELS.index(a)] if a in LABELS else 0.0 for a, row in known]
    with np.errstate(divide="ignore"):
        return float(np.log(p).sum())


def spans_of(labels):
    """A span for each token that is not O; None where nobody looked."""
    return [(2 * t, 2 * t + 1, label) for t, label in enumerate(labels) if label != "O"]


def words_of(labels):
    """Words of letters; tokens labelled I continue a word."""
    words = []
    for t, label in enumerate(labels):
        if label.startswith("I") and words:
            words[-1] += chr(97 + t)
        else:
            words.append(chr(97 + t))
    return words


def arcs_of(labels, behind=None):
    """A head for each token: the root, or a word behind the sentence, whose own head
    is not known, so that no heads form a cycle.
    """
    arcs = []
    for label in labels:
        head = 0 if label == "O" else None
        if label in HEADS:
            head = len(labels) + 1 + HEADS.index(label)
        arcs.append(None if head is None else (head, label))
    return arcs + [behind] * len(HEADS)


def arcs_said(labels):
    """The same of predicted labels, which give a head to each word."""
    return arcs_of(labels, (0, "behind"))


def each(function, y):
    return list(map(function, y))


def reliability(y, said, weight):
    found = metrics.reliability(
        y, each(rows_of, said), labels=LABELS, n_bins=3, sample_weight=weight
    )
    return [number for column in found for number in column.tolist()]


def calibration(strategy):
    def score(y, said, weight):
        return metrics.expected_calibration_error(
            y,
            each(rows_of, said),
            labels=LABELS,
            n_bins=3,
            strategy=strategy,
            sample_weight=weight,
        )

    return score


def loss(y, said, weight):
    return metrics.sequence_log_loss(
        y, list(map(log_proba, y, said)), sample_weight=weight
    )


def rows(report):
    """All numbers of a report but those of types that only one side may have."""
    return [
        value
        for name, row in report.items()
        if name.endswith("avg")
        for value in row.values()
    ]


def segments(**options):
    return lambda y, said, weight: metrics.segment_f1_score(
        y, said, sample_weight=weight, **options
    )


def segment_report(y, said, weight):
    return rows(metrics.segment_report(y, said, output_dict=True, sample_weight=weight))


def tokens(**options):
    return lambda y, said, weight: metrics.token_f1_score(
        y, said, sample_weight=weight, **options
    )


def token_report(y, said, weight):
    return rows(metrics.token_report(y, said, output_dict=True, sample_weight=weight))


def span_report(y, said, weight):
    text = metrics.span_report(each(spans_of, y), each(spans_of, said), weight)
    return [float(cell) for cell in text.split("micro avg")[1].split("\n")[0].split()]


def partial_spans(y, said, weight):
    found = metrics.partial_span_report(each(spans_of, y), each(spans_of, said), weight)
    return [
        row[name] for row in found.values() for name in ("precision", "recall", "f1")
    ]


def segmentation(y, said, weight):
    words = each(words_of, y), each(words_of, said)
    return list(
        metrics.segmentation_report(*words, {"a", "b"}, sample_weight=weight).values()
    )


def attachment(y, said, weight):
    return list(
        metrics.attachment_scores(
            each(arcs_of, y), each(arcs_said, said), sample_weight=weight
        )[:3]
    )


SAID_BY = {arcs_of: arcs_said}
"""How predicted labels are converted where gold ones are converted otherwise."""


def of(metric, convert=None):
    """A metric that takes both sides and weights, after a conversion of the labels."""

    def score(y, said, weight):
        sides = y, said
        if convert is not None:
            sides = each(convert, y), each(SAID_BY.get(convert, convert), said)
        return metric(*sides, sample_weight=weight)

    return score


def bootstrap(score, convert=None):
    def result(y, said, weight):
        sides = y, said, [["O"] * len(labels) for labels in y]
        sides = sides if convert is None else [each(convert, side) for side in sides]
        return metrics.paired_bootstrap(
            *sides, score=score, n_resamples=20, random_state=0
        )[:2]

    return result


METRICS = {
    "token_accuracy_score": of(metrics.token_accuracy_score),
    "sequence_accuracy_score": of(metrics.sequence_accuracy_score),
    "segment_f1_score": segments(),
    "segment_f1_score, strict": segments(mode="strict", average="macro"),
    "segment_report": segment_report,
    "token_f1_score": of(metrics.token_f1_score),
    "token_f1_score, weighted": tokens(average="weighted"),
    "token_f1_score, labels": tokens(average="micro", labels=LABELS[:3]),
    "token_report": token_report,
    "span_f1_score": of(metrics.span_f1_score, spans_of),
    "span_report": span_report,
    "partial_span_report": partial_spans,
    "word_f1_score": of(metrics.word_f1_score, words_of),
    "segmentation_report": segmentation,
    "attachment_scores": attachment,
    "labeled_attachment_score": of(metrics.labeled_attachment_score, arcs_of),
    "unlabeled_attachment_score": of(metrics.unlabeled_attachment_score, arcs_of),
    "reliability": reliability,
    "expected_calibration_error": calibration("quantile"),
    "expected_calibration_error, uniform": calibration("uniform"),
    "sequence_log_loss": loss,
    "paired_bootstrap, accuracy": bootstrap("accuracy"),
    "paired_bootstrap, segments": bootstrap("segments"),
    "paired_bootstrap, spans": bootstrap("spans", spans_of),
    "paired_bootstrap, words": bootstrap("words", words_of),
}
"""By the names of ``skstruct.metrics``, with what is chosen behind a comma."""

NO_METRICS = {
    "SegmentationReport", "PartialSpanReport", "AttachmentScores", "Reliability", "PairedBootstrap", "SCORERS",
    "segment_f1_scorer_for", "attachment_scorer_for",
    "token_f1_scorer_for",
}  # fmt: skip
"""Public names that are results, or make scorers."""


class Says(BaseEstimator):
    """A model that predicts what it is told; a token of X is the number of its
    sequence.
    """

    classes_ = np.array(LABELS, dtype=object)

    def __init__(self, said, convert=None):
        self.said, self.convert = said, convert

    def labels(self, X):
        return [self.said[x[0]] if len(x) else [] for x in X]

    def predict(self, X):
        convert = SAID_BY.get(self.convert, self.convert)
        return each(convert or list, self.labels(X))

    def predict_marginals(self, X):
        return each(rows_of, self.labels(X))

    def sequence_log_proba(self, X, y):
        assert all(label is None or label in LABELS for labels in y for label in labels)
        return np.array(list(map(log_proba, y, self.labels(X))))


def scorer(scorer, convert=None):
    """What a scorer of scikit-learn says, as a score."""

    def score(y, said, weight):
        X = [[i] * len(labels) for i, labels in enumerate(y)]
        given = {} if weight is None else {"sample_weight": weight}
        gold = y if convert is None else each(convert, y)
        return scorer(Says(said, convert), X, gold, **given)

    return score


CONVERT = {
    "word_f1": words_of,
    "span_f1": spans_of,
    "attachment": arcs_of,
    "labeled_attachment": arcs_of,
}

SCORERS = {
    name: scorer(each, CONVERT.get(name)) for name, each in metrics.SCORERS.items()
}
SCORERS["segment_f1_scorer_for"] = scorer(metrics.segment_f1_scorer_for("BIO", "macro"))
SCORERS["token_f1_scorer_for"] = scorer(metrics.token_f1_scorer_for(average="weighted"))
SCORERS["attachment_scorer_for"] = scorer(
    metrics.attachment_scorer_for("complete"), arcs_of
)
