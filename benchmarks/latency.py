"""Tagging a few sentences at a time, against CRFsuite: where calls, not tokens, are what costs.

Both sides start from the same Python lists; sentences of CoNLL-2000's test part, the nineteen chunking
templates. Processor time of one thread.
"""

import argparse
import os
import tempfile
import time

import pycrfsuite

from benchmarks.common import Stopwatch, chunk_features, load_conll2000, n_tokens, table
from benchmarks.main_job import crfsuite_fit
from skstruct import StructuredPerceptron

AT_ONCE = (1, 2, 4, 8, 16, 150)


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sentences", type=int, default=600, help="of the test part, for each row")
    parser.add_argument("--longest", type=int, default=1000, help="tokens of a sentence")
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    X, y = load_conll2000("train")
    X_test = [x for x in load_conll2000("test")[0] if len(x) <= arguments.longest][: arguments.sentences]
    ours = StructuredPerceptron("chunk", random_state=0).fit(X, y)
    theirs = pycrfsuite.Tagger()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        crfsuite_fit(X, y, chunk_features, "ap", 10, path)
        theirs.open(path)

    def tag_theirs(batches):
        for batch in batches:
            for tokens in batch:
                theirs.tag(chunk_features(tokens))

    def tag_ours(batches):
        for batch in batches:
            ours.predict(batch)

    rows = []
    for size in AT_ONCE:
        batches = [X_test[k : k + size] for k in range(0, len(X_test), size)]
        watch = Stopwatch(time.process_time)
        for _ in range(arguments.repeat):
            watch.time("theirs", tag_theirs, batches)
            watch.time("ours", tag_ours, batches)
        calls = [f"{1e3 * watch.median(side) / len(batches):.2f} ms" for side in ("theirs", "ours")]
        rows.append([size, *calls, f"{watch.ratio('theirs', 'ours'):.2f}"])
    print(f"sentences of {n_tokens(X_test) / len(X_test):.1f} tokens on average\n")
    table(["sentences at once", "CRFsuite", "`predict`", "ratio"], rows)


if __name__ == "__main__":
    main()
