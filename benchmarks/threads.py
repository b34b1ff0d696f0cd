"""Prediction over threads: the same output, sooner."""

from benchmarks.common import Stopwatch, load_sxu, n_tokens, table
from skstruct import StructuredPerceptron


def main():
    """Measure and print."""
    X, y = load_sxu("train")
    tagger = StructuredPerceptron("char", random_state=0).fit(X, y)
    watch = Stopwatch()
    for _ in range(5):
        one = watch.time("1", tagger.set_params(n_jobs=1).predict, X)
        two = watch.time("2", tagger.set_params(n_jobs=2).predict, X)
        assert one == two
    n = n_tokens(X)
    print("SXU training part, seven templates\n")
    table(
        ["threads", "characters/s", "ratio"],
        [
            ["1", f"{n / watch.median('1') / 1e6:.2f}M", ""],
            ["2", f"{n / watch.median('2') / 1e6:.2f}M", f"{watch.ratio('1', '2'):.2f}"],
        ],
    )


if __name__ == "__main__":
    main()
