"""``skstruct demo``: train and evaluate on the embedded corpora.

Train on three quarters of the embedded corpora and evaluate on the rest: English entity
recognition and chunking, Chinese word segmentation, joint segmentation and tagging.

The package's main jobs, each with two learners on the same fixed split (every fourth
sentence is for testing), as rows of one table. The corpora are too small for claims
about accuracy; the demo shows that everything works, and how fast it is.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import time
from importlib import metadata
from typing import TYPE_CHECKING, Any

from .._data.inputs import flatten
from .._data.places import counted
from .._taggers.perceptron import PassiveAggressiveTagger, StructuredPerceptron
from .._taggers.segmenter import Segmenter
from .._version import __version__
from ..datasets import (
    columns_to_spans,
    load_chunking,
    load_entities,
    load_sample,
    write_spans,
)
from ..datasets.formats.text_files import open_text
from ..metrics.intervals import Score
from ..metrics.task_scores import figure, scores_of
from .common import tell
from .targets import add_output, check_target

if TYPE_CHECKING:
    from .common import Arguments


LEARNERS = (StructuredPerceptron, PassiveAggressiveTagger)

ROW = "{:<28}{:<26}{:<12}{:>7}{:>14}{:>9}{:>9}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    what = (
        "only write English chunks to train.txt and test.txt, and entities to "
        "notes.jsonl and more.jsonl"
    )
    add_output(
        parser,
        "--files",
        metavar="FOLDER",
        help=what,
        takes_standard=False,
        is_folder=lambda _: True,
        force="replace existing files",
    )


def jobs() -> Any:
    """(task, measure, texts or tokens, words or labels) of each row."""
    sample = load_sample("zh")
    pairs = [list(zip(words, tags)) for words, tags in zip(sample.words, sample.tags)]
    return [
        ("English entities", "segment F1", *load_entities()),
        ("English chunking", "segment F1", *load_chunking()),
        ("Chinese segmentation", "word F1", sample.text, sample.words),
        ("segmentation and tagging", "joint F1", sample.text, pairs),
    ]


def _new(learner: Any, X: Any, **options: Any) -> Any:
    """Return an estimator for texts, or for tokens."""
    return (
        Segmenter(learner(**options))
        if isinstance(X[0], str)
        else learner(constraints="BIO", **options)
    )


def write_columns(sentences: Any, path: str) -> None:
    """Write sentences of tuples of str: one token per line, a blank line after each
    sentence.
    """
    with open_text(path, "w", "utf-8") as file:
        for rows in sentences:
            file.writelines(" ".join(row) + "\n" for row in [*rows, ()])


def split(sequences: Any) -> Any:
    """Three quarters and one quarter: every fourth is for testing."""
    return [s for i, s in enumerate(sequences) if i % 4 != 3], sequences[3::4]


def write_files(folder: str, force: bool) -> None:
    """Write the chunking corpus as columns and the entities as texts, each to train and
    to test with.
    """
    sentences = [
        [(*token, label) for token, label in zip(*pair)]
        for pair in zip(*load_chunking())
    ]
    files = dict(zip(("train.txt", "test.txt"), split(sentences)))
    files |= zip(
        ("notes.jsonl", "more.jsonl"),
        split(list(zip(*columns_to_spans(*load_entities())))),
    )
    files = {os.path.join(folder, name): items for name, items in files.items()}
    for path in files:
        check_target(path, force=force)
    for path, items in files.items():
        texts = path.endswith(".jsonl")
        if texts:
            X, y = zip(*items)
            write_spans(path, X, y)
        else:
            write_columns(items, path)
        tell(f"wrote {counted(len(items), 'text' if texts else 'sentence')} to {path}")


def run(arguments: Arguments) -> int | None:
    """Run the demo."""
    if arguments.files is not None:
        write_files(arguments.files, arguments.force)
        return None
    began = time.perf_counter()
    todo = jobs()
    shown = []
    others = ", ".join(
        f"{name} {metadata.version(name)}"
        for name in ("numpy", "numba", "scikit-learn")
    )
    print(f"skstruct {__version__}, Python {platform.python_version()}, {others}\n")
    for number, (task, _, X, y) in enumerate(todo, start=1):
        tell(f"preparing {number} of {len(todo)}: {task}")
        for learner in LEARNERS:  # compiling is no part of what is measured
            _new(learner, X, max_iter=1).fit(X[:4], y[:4]).predict(X[:1])
    print(
        ROW.format(
            "task", "learner", "measure", "score", "OOV recall", "fit [s]", "tag [s]"
        )
    )
    for job in todo:
        shown += [_run_job(learner, *job) for learner in LEARNERS]
    _show_entities(todo[0][2], shown[1])
    _show_words(todo[2][2], shown[5], shown[7])
    print(f"\nTotal time: {time.perf_counter() - began:.1f} s, imports aside")


def _show_entities(X: Any, predicted: Any) -> None:
    """Print test sentences with the entities that a tagger found in brackets."""
    learned, test = split(X)
    print(f"\nEntities, learned from {len(learned)} sentences, in new sentences:\n")
    texts, spans = columns_to_spans(test[:3], predicted[:3])
    for text, found in zip(texts, spans):
        for start, end, label in sorted(found, reverse=True):
            text = f"{text[:start]}[{text[start:end]} {label}]{text[end:]}"
        print(f"  {text}")


def _show_words(texts: Any, words: Any, tagged: Any) -> None:
    """Print test sentences of Chinese, cut into words, without and with tags."""
    learned, test = split(texts)
    print(f"\nWords and tags, learned from {len(learned)} sentences, in new sentences:")
    for i in (0, 6):
        pairs = ["/".join(pair) for pair in tagged[i]]
        print(f"\n  {test[i]}\n  {'  '.join(words[i])}\n  {'  '.join(pairs)}")


def _run_job(learner: Any, task: str, measure: str, X: Any, y: Any) -> Any:
    """Print one row and return the predictions."""
    (X, X_test), (y, y_test) = split(X), split(y)
    estimator = _new(learner, X, random_state=0)
    started = time.perf_counter()
    estimator.fit(X, y)
    fitted = time.perf_counter()
    predicted = estimator.predict(X_test)
    seconds = fitted - started, time.perf_counter() - fitted
    known = {item if isinstance(item, str) else item[0] for item in flatten(y)}
    kind = estimator.inputs.task
    scores = scores_of(kind, X_test, y_test, predicted, vocabulary=known)
    recall = scores.overall.get("oov_recall", Score(math.nan))
    shown = (
        figure(scores.overall[scores.main].value),
        figure(recall.value),
        *(f"{s:.3f}" for s in seconds),
    )
    print(ROW.format(task, learner.__name__, measure, *shown), flush=True)
    return predicted
