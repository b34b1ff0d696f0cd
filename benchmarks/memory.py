"""Peak memory of a fit on SXU, above the corpus itself; in a process of its own."""

import resource
import subprocess
import sys

from benchmarks.common import load_sxu, table


def peak():
    """Peak resident memory of this process in MB."""
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def child():
    """Load, note, fit, note."""
    from skstruct import StructuredPerceptron

    X, y = load_sxu("train")
    tagger = StructuredPerceptron("char", random_state=0)
    tagger.fit(X[:50], y[:50]).predict(
        X[:50]
    )  # compiled code counts with the libraries
    before = peak()
    tagger.fit(X, y)
    after = peak()
    tagger.predict(X)
    print(f"{before:.0f} {after:.0f} {peak():.0f}")


def main():
    """Measure and print."""
    if "--child" in sys.argv:
        return child()
    command = [sys.executable, "-m", "benchmarks.memory", "--child"]
    before, after, tagged = map(
        float, subprocess.check_output(command, text=True).split()
    )
    print("SXU, seven templates, ten epochs; peak resident memory in MB\n")
    table(
        [
            "libraries and corpus",
            "after fit",
            "fit above corpus",
            "after tagging the corpus",
        ],
        [[f"{before:.0f}", f"{after:.0f}", f"{after - before:.0f}", f"{tagged:.0f}"]],
    )


if __name__ == "__main__":
    main()
