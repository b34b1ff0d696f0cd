"""What the defaults of L1CRF cost and gain: which pairs have weights, both penalties, when training ends.

Sentences drawn from the training part, three times; scored on the development or test part. Medians of
processor time of one thread; means of the scores: F1 of segments, or the share of right tags. ``all_pairs``
and ``tol`` vary at c1 = c2 = 0.1, the penalties with ``all_pairs="transitions"``.
"""

import argparse
import time
import warnings

import numpy as np

from benchmarks import users_road
from benchmarks.common import load_conll2000, load_esp, load_ewt, load_sxu, table
from skstruct import L1CRF
from skstruct.metrics import segment_f1_score, token_accuracy_score

TASKS = {
    "tutorial": (users_road.load, "test", "auto", segment_f1_score),
    "esp": (load_esp, "test", "word", segment_f1_score),
    "conll2000": (load_conll2000, "test", "chunk", segment_f1_score),
    "ewt": (load_ewt, "dev", "word", token_accuracy_score),
    "sxu": (load_sxu, "test", "char", segment_f1_score),
}
BASE = {"c1": 0.1, "c2": 0.1, "all_pairs": "transitions"}
PAIRS = [{"all_pairs": value} for value in (False, "transitions", "states", True)]
PENALTIES = [
    (1.0, 0.0),
    (0.3, 0.0),
    (0.1, 0.0),
    (0.3, 0.03),
    (0.1, 0.01),
    (0.1, 0.3),
    (0.0, 0.1),
    (0.0, 1.0),
]
STOPS = [{"tol": value} for value in (2e-5, 1e-3, 3e-3, 1e-2)]
VARIANTS = [*PAIRS, *({"c1": c1, "c2": c2} for c1, c2 in PENALTIES), *STOPS]


def run(task, size, seeds):
    """A line for each variant."""
    load, part, features, score = TASKS[task]
    (X, y), (X_test, y_test) = load("train"), load(part)
    X_test, y_test = X_test[:1000], y_test[:1000]
    L1CRF(features, **BASE, max_iter=20).fit(X[:30], y[:30]).predict(
        X_test[:2]
    )  # compiled
    rows = []
    for variant in VARIANTS:
        found = []
        for seed in range(seeds):
            drawn = np.random.RandomState(seed).permutation(len(X))[:size]
            part = [X[i] for i in drawn], [y[i] for i in drawn]
            began = time.process_time()
            crf = L1CRF(
                features, **{**BASE, **variant}, n_jobs=1, random_state=seed
            ).fit(*part)
            seconds = time.process_time() - began
            found.append(
                (
                    score(y_test, crf.predict(X_test)),
                    seconds,
                    crf.n_iter_,
                    crf.n_active_features_,
                )
            )
        scores, seconds, passes, active = zip(*found)
        rows.append([
            ", ".join(f"{name}={value}" for name, value in variant.items()),
            f"{np.mean(scores):.4f}", f"{np.std(scores):.4f}", f"{np.median(seconds):.2f}",
            f"{np.median(passes):.0f}", f"{np.median(active):,.0f}",
        ])  # fmt: skip
    print(f"\n{task}, {size} sentences\n", flush=True)
    table(["", "score", "deviation", "s", "passes", "active"], rows)


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", choices=[*TASKS], nargs="+", default=[*TASKS])
    parser.add_argument("--sizes", type=int, nargs="+", default=[400, 1500])
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    for size in arguments.sizes:
        for task in arguments.task:
            run(task, size, arguments.seeds)


if __name__ == "__main__":
    main()
