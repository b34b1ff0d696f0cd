"""Joint segmentation and part-of-speech tagging: over 100 labels, on UD Chinese GSD."""

import time

from benchmarks.common import load_gsd, table
from benchmarks.memory import peak
from skstruct import Segmenter, StructuredPerceptron
from skstruct.metrics import word_f1_score


def main():
    """Measure and print."""
    X, y = load_gsd("train")
    X_test, y_test = load_gsd("test")
    segmenter = Segmenter(StructuredPerceptron("char", random_state=0))
    segmenter.fit(X[:50], y[:50]).predict(X_test[:50])
    before = peak()
    began = time.perf_counter()
    segmenter.fit(X, y)
    fitted = time.perf_counter()
    predicted = segmenter.predict(X_test)
    tagged = time.perf_counter()
    n = sum(map(len, X_test))
    print(
        "UD Chinese GSD v1, BMES times the full tag set, seven templates, ten epochs\n"
    )
    table(
        [
            "labels",
            "fit",
            "tag",
            "peak memory",
            "above the corpus",
            "word F1",
            "joint F1",
        ],
        [
            [
                len(segmenter.tagger_.classes_),
                f"{fitted - began:.1f} s",
                f"{n / (tagged - fitted) / 1e3:.0f}k char/s",
                f"{peak():.0f} MB",
                f"{peak() - before:.0f} MB",
                f"{word_f1_score(y_test, predicted, tagged=False):.4f}",
                f"{word_f1_score(y_test, predicted):.4f}",
            ]
        ],
    )


if __name__ == "__main__":
    main()
