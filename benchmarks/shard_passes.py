"""How many passes ``L1CRF`` needs on shards, against all sequences together.

In stage one each shard descends over its own sequences, and the average of their
weights is another start for stage two; from one start both need the same passes, but
for rounding. One corpus says little, so there are several problems: corpora, penalties
and seeds. Shards are in this process: on a cluster the passes are the same, and
``benchmarks.mixing --crf`` has their time.
"""

import argparse
from functools import partial
from statistics import median

from benchmarks.common import load_conll2000, load_esp, load_sxu, table
from skstruct import L1CRF

CORPORA = {
    "SXU": (load_sxu, "char"),
    "CoNLL-2000": (load_conll2000, "chunk"),
    "CoNLL-2002 Spanish": (load_esp, "word"),
}
PENALTIES = ((1.0, 0.0), (0.1, 0.1))


def part(data, s, n_shards):
    """Every ``n_shards``-th sequence from the s-th on."""
    X, y = data
    return X[s::n_shards], y[s::n_shards]


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", nargs="*", default=[*CORPORA], choices=CORPORA)
    parser.add_argument("--shards", type=int, default=2)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--sentences", type=int, help="of each corpus at most")
    arguments = parser.parse_args()
    n_shards = arguments.shards
    rows = []
    ratios = []
    for name in arguments.corpora:
        load, features = CORPORA[name]
        data = X, y = [side[: arguments.sentences] for side in load("train")]
        shards = [partial(part, data, s, n_shards) for s in range(n_shards)]
        for c1, c2 in PENALTIES:
            for seed in range(arguments.seeds):
                model = L1CRF(features, c1=c1, c2=c2, n_jobs=1, random_state=seed)
                alone = len(model.fit(X, y).history_)
                objective = model.objective_
                passes = len(model.fit_shards(shards).history_)
                ratios.append(passes / alone)
                gap = model.objective_ / objective - 1.0
                row = [name, c1, c2, seed, alone, passes, f"{ratios[-1]:.2f}"]
                rows.append([*row, f"{100 * gap:+.3f}%"])
                print(*rows[-1], flush=True)
    header = ["corpus", "c1", "c2", "seed", "passes of `fit`", f"{n_shards} shards"]
    table([*header, "ratio", "objective"], rows)
    print(f"\nmedian of {len(ratios)} ratios: {median(ratios):.2f}")


if __name__ == "__main__":
    main()
