"""A stream of batches through ``partial_fit``: memory over the stream, and the time of
a call.

The stream is SXU again and again, made batch by batch. After the first time round the
vocabulary has settled, and memory must not grow any more. A call copies what it may
have to give up (see ``docs/scaling.md``), so that its time is a fixed part, in
proportion to the model, and a part in proportion to the batch.

With ``--text`` instead: raw text of so many megabytes through ``WordVectors.fit_text``,
its speed and the peak of memory. The text is sentences of CoNLL-2000 and EWT, drawn at
random, in which one word in fifty is one of a long tail of new ones.
"""

import argparse
import itertools
import pathlib
import string
import tempfile
import time

import numpy as np

from benchmarks.common import load_conll2000, load_ewt, load_sxu, n_tokens, table
from skstruct import StructuredPerceptron
from skstruct.features import WordVectors


def resident(name="VmRSS"):
    """Resident memory of this process, now or at its peak (VmHWM), in MB; 0 where the
    system does not say.
    """
    try:
        with open("/proc/self/status") as file:
            return (
                next(int(line.split()[1]) for line in file if line.startswith(name))
                / 2**10
            )
    except OSError:
        return 0.0


def stream(X, y, size):
    """Batches without end."""
    for begin in itertools.cycle(range(0, len(X), size)):
        yield X[begin : begin + size], y[begin : begin + size]


def raw_text(megabytes):
    """Lines."""
    rng = np.random.default_rng(0)
    words = [
        [word for word, _ in tokens] for tokens in load_conll2000("train")[0]
    ] + load_ewt("train")[0]
    letters, size = np.array(list(string.ascii_lowercase)), 0
    while size < megabytes * 1e6:
        line = list(words[rng.integers(len(words))])
        for t in np.flatnonzero(rng.random(len(line)) < 0.02):
            number = min(int(rng.zipf(1.3)), 10**7)
            line[t] += "".join(letters[[number // 26**k % 26 for k in range(5)]])
        line = " ".join(line) + "\n"
        size += len(line.encode())
        yield line


def text(megabytes):
    """Rows of a table: what ``fit_text`` takes."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "raw.txt")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(raw_text(megabytes))
        before, began = resident("VmHWM"), time.process_time()
        words = WordVectors(n_clusters=500, random_state=0).fit_text(path)
        seconds = time.process_time() - began
    return [
        [
            megabytes,
            f"{len(words.words_):,}",
            f"{seconds:.0f} s",
            f"{before:.0f}",
            f"{resident('VmHWM'):.0f}",
        ]
    ]


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=float, default=1e7)
    parser.add_argument(
        "--sizes",
        type=int,
        nargs="*",
        default=[100, 1000, 10_000],
        help="sentences a call",
    )
    parser.add_argument(
        "--batch", type=int, default=4000, help="sentences a call, of the long stream"
    )
    parser.add_argument("--text", type=int, metavar="MB", help="measure raw text")
    arguments = parser.parse_args()
    if arguments.text:
        header = [
            "MB of text",
            "words with a cluster",
            "processor time",
            "peak before, MB",
            "peak, MB",
        ]
        table(header, text(arguments.text))
        return
    X, y = load_sxu("train")
    tagger, seen, rows = StructuredPerceptron("char", random_state=0), 0, []
    marks = [arguments.tokens * k / 10 for k in range(1, 11)]
    began = time.process_time()
    for part, labels in stream(X, y, arguments.batch):
        tagger.partial_fit(part, labels)
        seen += n_tokens(part)
        if seen >= marks[0]:
            seconds = time.process_time() - began
            row = [
                f"{seen / 1e6:.1f}",
                f"{resident():.0f}",
                f"{tagger.n_features() / 1e6:.2f}",
            ]
            rows.append([*row, f"{seen / seconds / 1e3:.0f}k"])
            marks.pop(0)
        if not marks:
            break
    print(
        f"SXU, seven templates, {arguments.batch} sentences a call; CPU time of one thread\n"
    )
    table(
        ["million tokens", "resident MB", "million features", "tokens/s so far"], rows
    )
    rows = []
    for size in arguments.sizes:
        times = []
        for part, labels in itertools.islice(stream(X, y, size), 7):
            began = time.process_time()
            tagger.partial_fit(part, labels)
            times.append(time.process_time() - began)
        middle = sorted(times)[len(times) // 2]
        rows.append([size, f"{middle * 1e3:.0f} ms", f"{1 / middle:.1f}"])
    print("\nthe same model, other batches\n")
    table(["sentences a call", "time of a call", "calls/s"], rows)


if __name__ == "__main__":
    main()
