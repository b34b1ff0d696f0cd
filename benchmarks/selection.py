"""What to label next: tokens to be labelled until a model reaches an F1, by how
sentences are chosen.

CoNLL-2002 Spanish. The first 25 sentences are drawn at random from a pool of 1,000;
then each round trains `L1CRF` on what is labelled, and the next 25 are chosen by
`skstruct.inspection.select`. F1 is that of the entities of 400 sentences of the
development set. Strategies of one seed share the first 25.
"""

import argparse
import random

import numpy as np
from sklearn.base import clone

from benchmarks.common import load_esp, table
from skstruct import L1CRF
from skstruct.inspection import select
from skstruct.metrics import segment_f1_score

STRATEGIES = {
    "random": {"strategy": "random", "diversity": 0.0},
    "longest first": {"strategy": "longest", "diversity": 0.0},
    "least confident": {"strategy": "least_confident", "diversity": 0.0},
    "least confident, diverse": {"strategy": "least_confident"},
    "margin, diverse": {"strategy": "margin"},
    "entropy, diverse": {"strategy": "entropy"},
}


CRF = L1CRF(c1=0.3, c2=0.0, all_pairs=True, tol=1e-3, random_state=0)


def curve(
    pool, test, options, seed, rounds, model=CRF, score=segment_f1_score, batch=25
):
    """[(tokens labelled, score)] of each round."""
    X, y = pool
    labelled = random.Random(seed).sample(range(len(X)), batch)
    points = []
    for number in range(rounds):
        model = clone(model).fit([X[i] for i in labelled], [y[i] for i in labelled])
        f1 = score(test[1], model.predict(test[0]))
        points.append((sum(len(X[i]) for i in labelled), f1))
        left = sorted(set(range(len(X))) - set(labelled))
        chosen = select(
            model,
            [X[i] for i in left],
            batch,
            random_state=100 * seed + number,
            **options,
        )
        labelled += [left[i] for i in chosen]
    return points


def tokens_to(points, f1):
    """Tokens at which a curve first reaches an F1, between its points; inf if it does
    not.
    """
    for (a, low), (b, high) in zip(points, points[1:]):
        if high >= f1:
            return a if low >= f1 else a + (b - a) * (f1 - low) / (high - low)
    return np.inf


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--f1", type=float, nargs="+", default=[0.4, 0.45, 0.5])
    arguments = parser.parse_args()
    pool = [part[:1000] for part in load_esp("train")]
    test = [part[:400] for part in load_esp("dev")]
    rows = []
    for name, options in STRATEGIES.items():
        curves = [
            curve(pool, test, options, seed, arguments.rounds)
            for seed in range(arguments.seeds)
        ]
        needed = [[tokens_to(points, f1) for points in curves] for f1 in arguments.f1]
        last = [points[-1] for points in curves]
        rows.append([
            name, *(" ".join(f"{n:,.0f}" for n in counts) for counts in needed),
            f"{np.mean([f1 for _, f1 in last]):.3f}", f"{np.mean([n for n, _ in last]):,.0f}",
        ])  # fmt: skip
        print(
            f"# {name}: {[[(n, round(f, 3)) for n, f in points] for points in curves]}",
            flush=True,
        )
    names = [f"tokens to {f1}" for f1 in arguments.f1]
    table(["chosen", *names, "F1 in the end", "tokens in the end"], rows)


if __name__ == "__main__":
    main()
