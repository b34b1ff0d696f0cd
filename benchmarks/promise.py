"""Promised recall, and what sets of labels are worth, on CoNLL-2002 Spanish.

*Recall*: a model of the training part marks the documents of the two others, half of
which, drawn anew each time, calibrate. Recall is the mean over the documents of the
other half. A document begins with its dateline.

*Types*: half of the sentences annotate PER and LOC, half ORG and MISC. *Noise*: a share
of the labels is replaced by None, or by the right one with another.
"""

import argparse
import random
import statistics
import time
import warnings

import numpy as np

from benchmarks.common import load_esp, table
from skstruct import L1CRF, CalibratedTagger, StructuredPerceptron
from skstruct._taggers.span_thresholds import certain_threshold, offering_threshold
from skstruct.metrics import segment_f1_score
from skstruct.schemes import convert_scheme, labels_to_spans

MODELS = {
    "L1CRF": lambda: L1CRF(c1=0.1, c2=0.1, constraints="BIO", random_state=0),
    "perceptron, calibrated": lambda: CalibratedTagger(
        StructuredPerceptron(constraints="BIO", random_state=0), random_state=0
    ),
}
LEAST = 1e-6
"""Probability of the candidates that are looked at."""

HALVES = {"PER", "LOC"}, {"ORG", "MISC"}


def load(part):
    """Sentences and labels; some break the scheme."""
    X, y = load_esp(part)
    return X, convert_scheme(y, "BIO", "BIO", strict=False)


def documents(X):
    """The document of each sentence: the news agency's datelines begin them."""
    return np.cumsum(
        [len(x) > 3 and x[-3].startswith("EFE") and x[-2:] == [")", "."] for x in X]
    )


def spans_of(y):
    """For each sequence the set of its spans."""
    return [set(labels_to_spans(labels, "BIO")) for labels in y]


class Judged:
    """Documents, with the probabilities of their true spans and of their candidates."""

    def __init__(self, model, X, y, document):
        began = time.perf_counter()
        found = model.predict_segment_proba(X, min_proba=LEAST)
        self.seconds = time.perf_counter() - began
        gold = spans_of(y)
        asked = model.predict_segment_proba(X, [sorted(spans) for spans in gold])
        of_gold = [(p, d) for spans, d in zip(asked, document) for _, p in spans]
        offered = [
            (p, span not in true, d)
            for spans, d, true in zip(found, document, gold)
            for span, p in spans
        ]
        self.p, self.document = (np.array(each) for each in zip(*of_gold))
        self.offered, self.wrong, self.of_offered = (
            np.array(each) for each in zip(*offered)
        )
        self.n_tokens = sum(map(len, X))

    def draw(self, recall, precision, chosen):
        """(recall, candidates a gold span, precision of sure spans and their share of
        the gold ones).
        """
        mine, theirs = np.isin(self.document, chosen), np.isin(self.of_offered, chosen)
        threshold = offering_threshold(self.p[mine], self.document[mine], recall)
        sure = certain_threshold(
            self.offered[theirs], self.wrong[theirs], np.searchsorted(chosen, self.of_offered[theirs]),
            len(chosen), precision, 0.9,
        )  # fmt: skip
        p, document = self.p[~mine], self.document[~mine]
        held = [np.mean(p[document == d] >= threshold) for d in np.unique(document)]
        is_sure = self.offered[~theirs] >= sure
        right = 1.0 - self.wrong[~theirs][is_sure].mean() if is_sure.any() else np.nan
        n_offered = (self.offered[~theirs] >= threshold).sum()
        return np.mean(held), n_offered / len(p), right, is_sure.sum() / len(p)


def promised(n_draws):
    """Rows of recalls promised and found."""
    train, rows = load("train"), []
    X, y = (a + b for a, b in zip(load("dev"), load("test")))
    document = documents(X)
    for name, make in MODELS.items():
        model = make().fit(*train)
        judged, predicted = Judged(model, X, y, document), spans_of(model.predict(X))
        true = spans_of(y)
        plain = sum(len(a & b) for a, b in zip(true, predicted)) / sum(map(len, true))
        known = np.unique(judged.document)
        for recall in (0.9, 0.95, 0.98):
            draws = []
            for seed in range(n_draws):
                chosen = np.sort(
                    np.random.RandomState(seed).permutation(known)[: len(known) // 2]
                )
                draws.append(judged.draw(recall, 0.95, chosen))
            found, offered, precision, sure = np.array(draws).T
            rows.append([
                name, f"{plain:.3f}", recall, f"{found.mean():.3f} ({found.std():.3f})",
                f"{offered.mean():.2f}", f"{np.nanmean(precision):.3f}, {sure.mean():.2f}",
                f"{1e6 * judged.seconds / judged.n_tokens:.1f}",
            ])  # fmt: skip
        print(f"{len(known)} documents", flush=True)
    header = "model", "plain recall", "promised", "recall (sd)", "offered a gold span"
    table([*header, "sure at .95: precision, share", "µs a token"], rows)


def kept(labels, kinds, others):
    """The labels of some types; ``others`` stands elsewhere."""
    return [label if label[2:] in kinds else others for label in labels]


def united(models, X):
    """The spans of two models; of those that overlap the first model's."""
    found = [spans_of(model.predict(X)) for model in models]
    for first, second in zip(*found):
        taken = {t for start, stop, _ in first for t in range(start, stop)}
        first |= {span for span in second if taken.isdisjoint(range(span[0], span[1]))}
    return found[0]


def f1(true, found):
    """Of sets of spans."""
    right = sum(len(a & b) for a, b in zip(true, found))
    return 2 * right / (sum(map(len, true)) + sum(map(len, found)))


def types(n):
    """F1 of what is made of two corpora that annotate different types."""
    (X, y), (X_test, y_test) = (part[:n] for part in load("train")), load("test")
    true, crf = spans_of(y_test), MODELS["L1CRF"]
    free = [
        frozenset(["O"] + [f"{prefix}-{kind}" for kind in half for prefix in "BI"])
        for half in HALVES[::-1]
    ]
    ways = {"their O taken as O": ["O", "O"], "None": [None, None], "sets": free}
    rows = []
    for name, others in ways.items():
        given = [
            kept(labels, HALVES[i % 2], others[i % 2]) for i, labels in enumerate(y)
        ]
        if (
            name == "None"
        ):  # at least one token that is O for certain: the labels would hold none
            given[0] = y[0]
        rows.append(
            [name, f"{f1(true, spans_of(crf().fit(X, given).predict(X_test))):.3f}"]
        )
    two = [
        crf().fit(X[k::2], [kept(labels, HALVES[k], "O") for labels in y[k::2]])
        for k in (0, 1)
    ]
    rows.insert(2, ["two models united", f"{f1(true, united(two, X_test)):.3f}"])
    rows.append(
        ["all labels", f"{f1(true, spans_of(crf().fit(X, y).predict(X_test))):.3f}"]
    )
    table(["half PER and LOC, half ORG and MISC", "F1"], rows)


def noise(n, seeds):
    """F1 with a share of the labels not known, or known up to another."""
    (X, y), (X_test, y_test) = (part[:n] for part in load("train")), load("test")
    every, rows = sorted({label for labels in y for label in labels}), []
    crf = lambda given: segment_f1_score(  # noqa: E731
        y_test,
        L1CRF(c1=0.1, c2=0.1, random_state=0).fit(X, given).predict(X_test),
        scheme="BIO",
    )
    for share in (0.3, 0.6):
        found = {"None": [], "right with one other": []}
        for seed in range(seeds):
            for name, scores in found.items():
                draw = random.Random(seed)
                given = [
                    [
                        label if draw.random() >= share
                        else None if name == "None"
                        else frozenset([label, draw.choice([k for k in every if k != label])])
                        for label in labels
                    ]
                    for labels in y
                ]  # fmt: skip
                scores.append(crf(given))
        rows.append(
            [
                f"{share:.0%}",
                *(f"{statistics.mean(scores):.3f}" for scores in found.values()),
            ]
        )
    table(["labels replaced", *found], [["none", f"{crf(y):.3f}", ""], *rows])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--sentences", type=int, default=3000)
    parser.add_argument("--seeds", type=int, default=2)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    promised(arguments.draws)
    types(arguments.sentences)
    noise(arguments.sentences, arguments.seeds)


if __name__ == "__main__":
    main()
