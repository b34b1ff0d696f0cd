"""What a fresh process waits for: the import, and the first fit with and without compiled kernels."""

import os
import statistics
import subprocess
import sys
import tempfile

from benchmarks.common import table

CHILD = """
import time
import joblib, numba, numpy, scipy, sklearn.base, sklearn.metrics, sklearn.utils.validation
try:
    import sklearn.callback
except ImportError:
    pass
t0 = time.perf_counter()
import skstruct
t1 = time.perf_counter()
X = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["the", "cat", "barks"]] * 10
y = [["D", "N", "V"]] * 30
t2 = time.perf_counter()
tagger = skstruct.StructuredPerceptron(random_state=0).fit(X, y)
t3 = time.perf_counter()
tagger.predict(X)
print(t1 - t0, t3 - t2, time.perf_counter() - t3)
"""


def run(cache):
    """(import, first fit, first predict) of a fresh process in seconds."""
    environment = dict(os.environ, NUMBA_CACHE_DIR=cache)
    command = [sys.executable, "-c", CHILD]
    return [float(v) for v in subprocess.check_output(command, env=environment, text=True).split()]


def main():
    """Measure and print."""
    with tempfile.TemporaryDirectory() as cache:
        cold = run(cache)
        warm = [statistics.median(v) for v in zip(*(run(cache) for _ in range(5)))]
    table(
        ["compiled kernels", "import beyond dependencies", "first fit", "first predict"],
        [
            [name, *(f"{v:.2f} s" for v in values)]
            for name, values in (("in the cache", warm), ("none", cold))
        ],
    )


if __name__ == "__main__":
    main()
