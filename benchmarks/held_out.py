"""Whether the intervals of `skstruct train --holdout` hold: how many of 100 cover the
score on a large test set.

Small corpora are drawn from CoNLL-2002: single sentences of the Spanish part, and whole
documents of the Dutch one, whose sentences are alike. A fifth is held out, and the
interval of its F1 is compared with the F1 of the same model on sentences, or documents,
of the rest. An interval of 95 % should cover that in 88 of 100 draws or more.
"""

import argparse
import contextlib
import io

import numpy as np

from benchmarks.common import corpus, table
from skstruct import StructuredPerceptron
from skstruct.cli.held_out import folds_of, score_rows
from skstruct.datasets import read_columns
from skstruct.metrics import segment_f1_score
from skstruct.metrics.intervals import FEWEST

N_TEST = 12_000
"""Sentences of the large test set, or all the rest: a small one would vary as much as
what is held out.
"""


def repaired(line):
    """A line of CoNLL-2002, which is distributed as UTF-8 that was encoded twice, as it
    was meant.
    """
    word, *cells = line.rsplit(" ", 2)
    word = word.replace(" ", "\u00a0")  # which was a part of a letter
    with contextlib.suppress(ValueError):  # a character is lost
        word = word.encode("latin-1").decode("utf-8")
    return " ".join([word, *cells])


def sentences(name):
    """(X, y, the document of each sentence) of a training part of CoNLL-2002."""
    with open(corpus(f"conll2002-{name}/train.txt"), encoding="utf-8") as file:
        text = io.StringIO("".join(map(repaired, file)))
    X, y, groups = read_columns(
        text, return_X_y=True, return_documents=True, separator=" "
    )
    numbers = {document: k for k, document in enumerate(dict.fromkeys(groups))}
    documents = np.array([numbers[document] for document in groups])
    if len(numbers) == 1:
        documents = np.arange(len(X))
    return X, y, documents


def drawn(documents, n, random):
    """(sentences of a small corpus, those of a test set), of other documents."""
    order = random.permutation(documents.max() + 1)
    rows = [np.flatnonzero(documents == d) for d in order]
    ends = np.cumsum([len(part) for part in rows])
    k = int(np.searchsorted(ends, n)) + 1
    stop = int(np.searchsorted(ends, ends[k - 1] + N_TEST)) + 1
    return np.concatenate(rows[:k]), np.concatenate(rows[k:stop])


def draw(X, y, documents, n, seed):
    """(score on what is held out, F1 on the test set, number of documents) of one
    draw.
    """
    small, test = drawn(documents, n, np.random.RandomState(seed))
    _, own = np.unique(documents[small], return_inverse=True)
    (out,) = folds_of(own, 0.2, None, seed)
    learned, held = small[~out], small[out]
    tagger = StructuredPerceptron(max_iter=5, random_state=0)
    tagger.fit([X[i] for i in learned], [y[i] for i in learned])
    gold = [y[i] for i in held]
    predicted = tagger.predict([X[i] for i in held])
    scores, _ = score_rows(tagger, [X[i] for i in held], gold, predicted, own[out])
    on_test = tagger.predict([X[i] for i in test])
    true = segment_f1_score([y[i] for i in test], on_test)
    return scores.overall["f1"], true, len(set(own[out].tolist()))


def main():
    """Print for each corpus and size how many intervals cover the score."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--sizes", type=int, nargs="+", default=[300, 1000])
    parser.add_argument("--names", nargs="+", default=["esp", "ned"])
    arguments = parser.parse_args()
    rows = []
    for name in arguments.names:
        X, y, documents = sentences(name)
        for n in arguments.sizes:
            found = [draw(X, y, documents, n, seed) for seed in range(arguments.draws)]
            found = [
                row for row in found if row[2] >= FEWEST
            ]  # others have no interval
            covered = sum(s.low <= true <= s.high for s, true, _ in found)
            width = np.mean([s.high - s.low for s, *_ in found])
            held = np.mean([k for *_, k in found])
            mean = np.mean([true for _, true, _ in found])
            rows.append(
                [
                    name,
                    n,
                    f"{held:.0f}",
                    f"{mean:.3f}",
                    f"{width:.3f}",
                    f"{covered} of {len(found)}",
                ]
            )
            print(rows[-1], flush=True)
    print(
        table(
            [
                "corpus",
                "sentences",
                "documents held out",
                "F1",
                "mean width",
                "covered",
            ],
            rows,
        )
    )


if __name__ == "__main__":
    main()
