"""``skstruct demo``: train and evaluate on the embedded corpora.

Train on three quarters of the embedded corpora and evaluate on the rest: Chinese word segmentation, joint
segmentation and tagging, English chunking, entity recognition.

The package's main jobs, each with two learners on the same fixed split (every fourth sentence is
for testing), as rows of one table. The corpora are too small for claims about accuracy; the demo shows
that everything works, and how fast it is.
"""

import os
import platform
import time
from importlib import metadata

from .._version import __version__
from ..datasets import columns_to_spans, load_chunking, load_entities, load_sample, write_spans
from ..formats.text_files import open_text
from ..taggers.perceptron import PassiveAggressiveTagger, StructuredPerceptron
from ..taggers.segmenter import Segmenter
from .common import CommandError, check_target, counted, positive, tell
from .scores import scores_of

LEARNERS = (StructuredPerceptron, PassiveAggressiveTagger)

ENTITIES = [
    *(f"Uword{o:+d}:%x[{o},0]" for o in range(-2, 3)),
    *(f"Upos{o:+d}:%x[{o},1]" for o in range(-1, 2)),
    "Upair:%x[-1,1]/%x[0,1]",
    "Uprefix:%prefix2[0,0]",
    "Usuffix:%suffix3[0,0]",
    "Ushape:%shape[0,0]",
    "Ushapes:%shape[-1,0]/%shape[0,0]",
    "B",
]
"""Templates for entities in (form, part of speech): words, tags, affixes, shapes."""

ROW = "{:<28}{:<26}{:<12}{:>7}{:>14}{:>9}{:>9}"


def add_arguments(parser):
    """Add the arguments of the command."""
    what = "passes over the training data (default: 10)"
    parser.add_argument("--epochs", type=positive, default=10, metavar="N", help=what)
    parser.add_argument("--seed", type=int, default=0, help="random seed (default: 0)")
    parser.add_argument(
        "--files", metavar="FOLDER",
        help="write the English chunking to train.txt and test.txt, and texts with entities to notes.jsonl "
        "and more.jsonl; train nothing",
    )  # fmt: skip


def jobs():
    """(task, measure, texts or tokens, words or labels, parameters of a learner) of each row."""
    sample, char = load_sample("zh"), {"features": "char"}
    pairs = [list(zip(words, tags)) for words, tags in zip(sample.words, sample.tags)]
    return [
        ("Chinese segmentation", "word F1", sample.text, sample.words, char),
        ("segmentation and tagging", "joint F1", sample.text, pairs, char),
        ("English chunking", "segment F1", *load_chunking(), {"features": "chunk", "constraints": "BIO"}),
        ("English entities", "segment F1", *load_entities(), {"features": ENTITIES, "constraints": "BIO"}),
    ]


def _new(learner, X, **parameters):
    """An estimator for texts, or for tokens."""
    tagger = learner(**parameters)
    return Segmenter(tagger) if isinstance(X[0], str) else tagger


def write_columns(sentences, path):
    """Write sentences of tuples of str: a token a line, a blank line after each sentence."""
    with open_text(path, "w", "utf-8") as file:
        for rows in sentences:
            file.writelines(" ".join(row) + "\n" for row in [*rows, ()])


def split(sequences):
    """Three quarters and one quarter: every fourth is for testing."""
    return [s for i, s in enumerate(sequences) if i % 4 != 3], sequences[3::4]


def write_files(folder):
    """Write the chunking corpus as columns and the entities as texts, each to train and to test with."""
    sentences = [[(*token, label) for token, label in zip(*pair)] for pair in zip(*load_chunking())]
    notes = list(zip(*columns_to_spans(*load_entities())))

    def write_notes(notes, path):
        write_spans(path, *zip(*notes))

    files = {
        "train.txt": (write_columns, "sentence", split(sentences)[0]),
        "test.txt": (write_columns, "sentence", split(sentences)[1]),
        "notes.jsonl": (write_notes, "text", split(notes)[0]),
        "more.jsonl": (write_notes, "text", split(notes)[1]),
    }
    paths = {name: os.path.join(folder, name) for name in files}
    for path in paths.values():
        check_target(path)
        if os.path.exists(path):
            raise CommandError(f"{path}: is there already; nothing was written over it")
    for name, (write, what, items) in files.items():
        write(items, paths[name])
        tell(f"wrote {counted(len(items), what)} to {paths[name]}")


def run(arguments):
    """Run the demo.

    Returns
    -------
    int
        The exit code, 0.
    """
    if arguments.files is not None:
        write_files(arguments.files)
        return 0
    began = time.perf_counter()
    todo = jobs()
    others = ", ".join(f"{name} {metadata.version(name)}" for name in ("numpy", "numba", "scikit-learn"))
    print(f"skstruct {__version__}, Python {platform.python_version()}, {others}\n")
    for _, _, X, y, parameters in todo:  # so that compiling is no part of what is measured
        for learner in LEARNERS:
            _new(learner, X, **parameters, max_iter=1).fit(X[:4], y[:4]).predict(X[:1])
    print(ROW.format("task", "learner", "measure", "score", "OOV recall", "fit [s]", "tag [s]"))
    shown = {}
    for job in todo:
        for learner in LEARNERS:
            shown[job[0]] = _run_job(*job, learner, arguments)
    texts, test = split(todo[0][2])
    print(f"\nTrained on {len(texts)} sentences, tested on {len(test)}, as these:")
    for i in (0, 6, 7):
        print(f"\n  {test[i]}")
        for predicted in list(shown.values())[:2]:
            print("  " + "  ".join(w if isinstance(w, str) else "/".join(w) for w in predicted[i]))
    print(f"\nTotal time: {time.perf_counter() - began:.1f} s, imports aside")
    return 0


def _run_job(task, measure, X, y, parameters, learner, arguments):
    """Print one row; returns the predictions."""
    (X, X_test), (y, y_test) = split(X), split(y)
    estimator = _new(learner, X, **parameters, max_iter=arguments.epochs, random_state=arguments.seed)
    started = time.perf_counter()
    estimator.fit(X, y)
    fitted = time.perf_counter()
    predicted = estimator.predict(X_test)
    tagged = time.perf_counter()
    known = {item if isinstance(item, str) else item[0] for items in y for item in items}
    scores = scores_of(estimator.inputs.task, X_test, y_test, predicted, known)
    recall = f"{scores['oov_recall']:.4f}" if "oov_recall" in scores else "-"
    if "segments" in scores:
        scores = scores["segments"]["micro avg"]
    score = scores.get("joint_f1", scores["f1"])
    seconds = f"{fitted - started:.3f}", f"{tagged - fitted:.3f}"
    print(ROW.format(task, learner.__name__, measure, f"{score:.4f}", recall, *seconds), flush=True)
    return predicted
