"""Planted errors found by `skstruct.inspection.label_issues`: how many are among the first issues.

Two corpora: the embedded one of chunking, of which labels of tokens are replaced by others, drawn as often as
they occur; and 1,000 sentences of CoNLL-2002 Spanish, of which entities get another type or are forgotten, or
tokens other labels. Real errors of the corpora count as false alarms here.
"""

import argparse
import random
import time

from benchmarks.common import load_esp, table
from skstruct import L1CRF, StructuredPerceptron
from skstruct.datasets import load_chunking
from skstruct.inspection import label_issues
from skstruct.schemes import labels_to_spans


def with_wrong_labels(y, n, draw):
    """The labels, n of which are replaced, and where, as sets of (sequence, position)."""
    y = [list(labels) for labels in y]
    every = [label for labels in y for label in labels]
    places = draw.sample(
        [(i, t) for i, labels in enumerate(y) for t in range(len(labels))], n
    )
    for i, t in places:
        y[i][t] = draw.choice([label for label in every if label != y[i][t]])
    return y, [{place} for place in places]


def with_wrong_entities(y, n, draw):
    """The same for n entities: two of three get another type, the others are forgotten."""
    y = [list(labels) for labels in y]
    spans = [
        (i, *span)
        for i, labels in enumerate(y)
        for span in labels_to_spans(labels, "BIO")
    ]
    kinds = sorted({kind for *_, kind in spans})
    places = []
    for i, a, b, kind in draw.sample(spans, n):
        other = (
            draw.choice([k for k in kinds if k != kind])
            if draw.random() < 2 / 3
            else None
        )
        for t in range(a, b):
            y[i][t] = "O" if other is None else f"{y[i][t][0]}-{other}"
        places.append({(i, t) for t in range(a, b)})
    return y, places


def found(issues, places, first):
    """How many of the planted errors are among the first issues."""
    shown = {(issue.sequence, issue.position) for issue in issues[:first]}
    return sum(not place.isdisjoint(shown) for place in places)


MODELS = {
    "L1CRF": lambda: L1CRF(c1=1.0, c2=0.0, all_pairs=True, random_state=0),
    "StructuredPerceptron, calibrated": lambda: StructuredPerceptron(random_state=0),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--n-jobs", type=int, default=None)
    arguments = parser.parse_args()
    corpora = {
        "chunks, 30 tokens": (*load_chunking(), 30, with_wrong_labels),
        "Spanish, 51 entities": (
            *(part[:1000] for part in load_esp("train")),
            51,
            with_wrong_entities,
        ),
        "Spanish, 51 tokens": (
            *(part[:1000] for part in load_esp("train")),
            51,
            with_wrong_labels,
        ),
    }
    rows = []
    for corpus, (X, y, n, plant) in corpora.items():
        for name, make in MODELS.items():
            counts, seconds = [], []
            for seed in range(arguments.seeds):
                wrong, places = plant(y, n, random.Random(seed))
                began = time.process_time()
                issues = label_issues(make(), X, wrong, n_jobs=arguments.n_jobs)
                seconds.append(time.process_time() - began)
                counts.append(
                    [
                        found(issues, places, n),
                        found(issues, places, 2 * n),
                        len(issues),
                    ]
                )
            at_n, at_2n, n_issues = ([row[k] for row in counts] for k in range(3))
            rows.append([
                corpus, name, " ".join(map(str, at_n)), " ".join(map(str, at_2n)),
                " ".join(map(str, n_issues)), f"{sum(seconds) / len(seconds):.1f}",
            ])  # fmt: skip
    table(
        [
            "planted",
            "model",
            "among as many",
            "among twice as many",
            "issues",
            "processor s",
        ],
        rows,
    )


if __name__ == "__main__":
    main()
