"""The two sides that `compare` sets against each other, and the peak memory of each.

Both sides start from the same Python lists, learn from the same features, and end with lists of
labels; what CRFsuite needs besides, strings for its features, counts on its side, as it does for its
users. Peak memory is that of a process which does nothing else: `child`.
"""

import argparse
import json
import subprocess
import sys
import time
import warnings

from sklearn.exceptions import ConvergenceWarning

from ..data.schemes import labels_to_words, words_to_labels
from ..datasets.columns import spans_to_columns
from ..features.templates import resolve_templates
from .common import CommandError
from .corpus import layout_of, read_all
from .feature_strings import FeatureStrings
from .learners import ALGORITHMS
from .lines import Source

PAIRS = {"ap": "perceptron", "pa": "pa", "lbfgs": "l1crf"}
"""CRFsuite's algorithm -> ours."""


class Corpus:
    """A file as both sides take it: sequences and labels; and words, if it is segmented text."""

    def __init__(self, path, arguments):
        with Source(path, arguments.encoding) as source:
            layout = layout_of(arguments, source)
            X, y, _ = read_all(source, layout)
        self.name, self.format = path, layout.format
        self.words = None
        if layout.format == "segmented":
            self.words = y
            X, y = [list(text) for text in X], [words_to_labels(words, "BMES") for words in y]
        elif layout.format == "spans":
            X, y = spans_to_columns(X, y)
        self.X, self.y = X, y
        self.n_tokens = sum(map(len, X))

    def cut(self, labels):
        """The words that labels say."""
        return [labels_to_words("".join(x), each, "BMES") for x, each in zip(self.X, labels)]


def templates_for(corpus, features):
    """The templates that a ``features`` parameter means for a corpus."""
    flat = [token for x in corpus.X[:1000] for token in x]
    return resolve_templates(features, flat[0], flat)


class Crfsuite:
    """CRFsuite through sklearn-crfsuite; ``feature_seconds`` is what making strings took in `fit`."""

    def __init__(self, algorithm, templates, options):
        import sklearn_crfsuite

        parameters = {"max_iterations": options["epochs"]}
        if algorithm == "lbfgs":
            parameters = {"c1": options["c1"], "c2": options["c2"], "max_iterations": options["iterations"]}
        self.name = f"sklearn-crfsuite {algorithm}"
        self.strings = FeatureStrings(templates)
        self.model = sklearn_crfsuite.CRF(algorithm=algorithm, **parameters)

    def fit(self, X, y):
        """Make strings, then train."""
        began = time.perf_counter()
        features = [self.strings(x) for x in X]
        self.feature_seconds = time.perf_counter() - began
        self.model.fit(features, y)

    def predict(self, X):
        """Make strings, then label."""
        return [list(labels) for labels in self.model.predict([self.strings(x) for x in X])]

    def warm_up(self, X, y):
        """There is nothing to compile."""


class Ours:
    """The learner of this package that corresponds."""

    feature_seconds = None

    def __init__(self, algorithm, templates, options):
        learner = ALGORITHMS[PAIRS[algorithm]]
        parameters = {"max_iter": options["epochs"]}
        if algorithm == "lbfgs":
            # CRFsuite's weights: those of the pairs that training shows, so that the objectives are the same.
            parameters = {"c1": options["c1"], "c2": options["c2"], "all_pairs": False}
            if options["iterations"] is not None:
                parameters["max_iter"] = options["iterations"]
        self.name = f"skstruct {learner.__name__}"
        self.model = learner(features=templates, random_state=0, **parameters)

    def fit(self, X, y):
        """Train."""
        self.model.fit(X, y)

    def predict(self, X):
        """Label."""
        return self.model.predict(X)

    def warm_up(self, X, y):
        """Get the kernels compiled, or loaded."""
        few = {**self.model.get_params(deep=False), "max_iter": 1}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # one pass is not meant to
            type(self.model)(**few).fit(X[:4], y[:4]).predict(X[:1])


SIDES = {"crfsuite": Crfsuite, "skstruct": Ours}


# --------------------------------------------------------------------------------------------------
# Memory
# --------------------------------------------------------------------------------------------------
def peak_megabytes():
    """Peak resident memory of this process so far, or None where it cannot be known."""
    try:
        with open("/proc/self/status", encoding="ascii") as file:
            # Not ru_maxrss, which on Linux starts at the peak of the process that started this one.
            return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) / 1024
    except (OSError, StopIteration):
        pass
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


def memory_of(side, algorithm, train, features, arguments, options):
    """Megabytes that a fit needs above libraries and corpus, measured in a child process; or None."""
    job = {
        "side": side, "algorithm": algorithm, "train": train, "features": features, "options": options,
        "reading": {
            name: getattr(arguments, name)
            for name in ("format", "tokens", "label", "separator", "comment", "encoding", "read")
        },
    }  # fmt: skip
    code = "from skstruct.cli import contest; contest.child()"
    command = [sys.executable, "-c", code, json.dumps(job)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace")
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
        raise CommandError(f"measuring the memory of {side} {algorithm} failed: {last[0]}")
    return json.loads(done.stdout.splitlines()[-1])["megabytes"]


def child():
    """Measure one job, which is the process's argument as JSON, and print the result as JSON."""
    job = json.loads(sys.argv[1])
    reading = job["reading"]
    reading["tokens"] = None if reading["tokens"] is None else tuple(reading["tokens"])
    corpus = Corpus(job["train"], argparse.Namespace(**reading))
    templates = templates_for(corpus, job["features"])
    side = SIDES[job["side"]](job["algorithm"], templates, job["options"])
    side.warm_up(corpus.X, corpus.y)
    before = peak_megabytes()
    side.fit(corpus.X, corpus.y)
    after = peak_megabytes()
    print(json.dumps({"megabytes": None if before is None else after - before}))
