"""The word-based segmenter: against characters, and by beam, update and templates.

Times are CPU times of one thread, from raw text to lists of words.
"""

import argparse
import time
from itertools import accumulate

from benchmarks.common import corpus, load_gsd, table
from skstruct import Segmenter, StructuredPerceptron, WordSegmenter
from skstruct.datasets import read_segmented
from skstruct.metrics import segmentation_report, word_f1_score

REPEAT = 5


def measure(name, segmenter, data):
    """A row of the table: quality, and CPU time."""
    (X, y), (X_dev, y_dev), (X_test, y_test) = data
    began = time.process_time()
    segmenter.fit(X, y)
    fit = time.process_time() - began
    seconds = []
    for _ in range(REPEAT):
        began = time.process_time()
        predicted = segmenter.predict(X_test)
        seconds.append(time.process_time() - began)
    report = segmentation_report(
        y_test, predicted, {word for words in y for word in words}
    )
    return [
        name,
        f"{segmenter.score(X_dev, y_dev):.4f}",
        f"{report.f1:.4f}",
        f"{report.oov_recall:.4f}",
        f"{fit:.1f} s",
        f"{sum(map(len, X_test)) / sorted(seconds)[REPEAT // 2] / 1e3:.1f}k",
    ]


def beams(segmenter, test):
    """Rows of the second table: search errors of a fitted model."""
    X, y = test
    rows, best = [], None
    for beam in (None, 16, 8, 4, 1):
        segmenter.set_params(beam_size=beam)
        began = time.process_time()
        predicted = segmenter.predict(X)
        seconds = time.process_time() - began
        scores = segmenter.decision_function(X)
        best = scores if beam is None else best
        rows.append(
            [
                segmenter.templates,
                beam or "exact",
                f"{word_f1_score(y, predicted):.4f}",
                f"{sum(scores < best - 1e-6) / len(X):.1%}",
                f"{sum(map(len, X)) / seconds / 1e3:.1f}k",
            ]
        )
    return rows


def right_words(words, true):
    """How many words are where they are in the right segmentation."""
    spans = [
        [*zip((stops := [0, *accumulate(map(len, items))]), stops[1:])]
        for items in (words, true)
    ]
    return len(set(spans[0]) & set(spans[1]))


def lists(segmenter, dev):
    """Rows of the third table: what the best of the k best would reach, and the time
    that they take.
    """
    X, y = dev
    rows = []

    def fastest(ask, *more):
        seconds = []
        for _ in range(REPEAT):
            began = time.process_time()
            found = ask(X, *more)
            seconds.append(time.process_time() - began)
        return found, min(seconds)

    for beam in (8, 16):
        segmenter.set_params(beam_size=beam)
        _, alone = fastest(segmenter.predict)
        for k in (1, 2, 5, 20, 100):
            found, seconds = fastest(segmenter.predict_kbest, k)
            best = [
                max(
                    (words for words, _ in ranked),
                    key=lambda words: (
                        2 * right_words(words, true) / (len(words) + len(true))
                    ),
                )
                for ranked, true in zip(found, y)
            ]
            size = sum(map(len, found)) / len(X)
            rows.append(
                [
                    beam,
                    k,
                    f"{word_f1_score(y, best):.4f}",
                    f"{size:.1f}",
                    f"{seconds / alone:.2f}",
                ]
            )
    return rows


def corpus_of(name, part):
    """Texts and words: UD Chinese GSD, or 6,000 sentences of SXU, whose test part
    stands for dev too.
    """
    if name == "gsd-zh":
        X, y = load_gsd(part)
        return X, [[word for word, _ in words] for words in y]
    words = read_segmented(
        corpus("sxu/train.txt" if part == "train" else "sxu/test.txt")
    )
    words = words[:6000] if part == "train" else words
    return ["".join(w) for w in words], words


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", choices=["gsd-zh", "sxu"], default="gsd-zh")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--beams", type=int, nargs="*", default=[1, 4, 16])
    parser.add_argument(
        "--exact", action="store_true", help="exact search too (minutes)"
    )
    arguments = parser.parse_args()
    data = [corpus_of(arguments.corpus, part) for part in ("train", "dev", "test")]

    def words(**parameters):
        return WordSegmenter(max_iter=arguments.epochs, random_state=0, **parameters)

    tagger = StructuredPerceptron("char", max_iter=arguments.epochs, random_state=0)
    best = StructuredPerceptron(
        "char-best", dropout=0.1, max_iter=2 * arguments.epochs, random_state=0
    )
    models = [
        ("characters", Segmenter(tagger)),
        (
            "characters, `char-best`, dropout 10 %, six tags",
            Segmenter(best, scheme="B2B3MES"),
        ),
    ]
    for templates in ("zsz18", "zc14"):
        for update in ("early", "max-violation", "standard"):
            name = f"`{templates}`, beam 8, {update}"
            models.append((name, words(templates=templates, update=update)))
    models += [
        (f"`zsz18`, beam {b}, early", words(beam_size=b)) for b in arguments.beams
    ]
    if arguments.exact:
        models.append(
            ("`zsz18`, exact, standard", words(beam_size=None, update="standard"))
        )
        models.append(
            (
                "`zc14`, exact, standard",
                words(templates="zc14", beam_size=None, update="standard"),
            )
        )
    models += [
        ("`zsz18`, beam 8, early, dropout 3 %", words(dropout=0.03)),
        ("`zsz18`, beam 8, early, L2 1e-6", words(penalty="l2", alpha=1e-6)),
    ]
    for _, model in models:  # compile before measuring
        model.fit(data[0][0][:20], data[0][1][:20]).predict(data[2][0][:20])
    print(f"{arguments.corpus}, {arguments.epochs} epochs, seed 0\n")
    table(
        ["model", "dev F1", "test F1", "OOV recall", "fit", "chars/s"],
        [measure(name, model, data) for name, model in models],
    )
    print("\nThe models of beam 8 and early update, searched with other beams\n")
    table(
        ["templates", "beam", "test F1", "texts not searched exactly", "chars/s"],
        [
            row
            for name, model in models
            if name.endswith("beam 8, early")
            for row in beams(model, data[2])
        ],
    )
    print("\nThe default model: the k best segmentations of the dev part\n")
    model = next(
        model for name, model in models if name == "`zsz18`, beam 8, max-violation"
    )
    model.predict_kbest(data[1][0][:1])
    table(
        ["beam", "k", "oracle dev F1", "segmentations a text", "time / predict"],
        lists(model, data[1]),
    )


if __name__ == "__main__":
    main()
