"""Threads, averages, checkpoints and lists of the k best, beside a plain fit and
prediction: wall times.
"""

import pathlib
import tempfile

from benchmarks.common import Stopwatch, load_sxu, table
from skstruct import BaggingShuffleAverager, StructuredPerceptron

REPEAT = 5


def main():
    """Measure and print."""
    X, y = load_sxu("train")
    tagger = StructuredPerceptron("char", random_state=0)
    watch, rows = Stopwatch(), []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "checkpoint")
        for _ in range(REPEAT):
            watch.time("fit", tagger.fit, X, y)
            watch.time(
                "fit with a checkpoint", tagger.set_params(checkpoint=path).fit, X, y
            )
            tagger.set_params(checkpoint=None)
            for n_jobs in 1, 2:
                five = BaggingShuffleAverager(tagger, 5, random_state=0, n_jobs=n_jobs)
                watch.time(f"five members, {n_jobs} threads", five.fit, X, y)
            few = BaggingShuffleAverager(tagger, 5, max_samples=0.1, random_state=0)
            watch.time("five members of a tenth", few.fit, X, y)
            one = watch.time("predict", tagger.set_params(n_jobs=1).predict, X)
            two = watch.time(
                "predict, 2 threads", tagger.set_params(n_jobs=2).predict, X
            )
            assert one == two
            watch.time(
                "predict_kbest, k=20", tagger.set_params(n_jobs=1).predict_kbest, X, 20
            )
    for name in watch.seconds:
        other = "predict" if name.startswith("predict") else "fit"
        rows.append(
            [name, f"{watch.median(name):.2f} s", f"{watch.ratio(name, other):.2f}"]
        )
    print("SXU training part, seven templates, ten epochs\n")
    table(["", "median", "ratio to a plain one"], rows)


if __name__ == "__main__":
    main()
