"""The two taggers that `compare` trains, of CRFsuite and of this package, and the peak memory of each.

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
from .corpus import read
from .feature_strings import FeatureStrings
from .learners import ALGORITHMS
from .train import features_of

PAIRS = {"ap": "perceptron", "pa": "pa", "lbfgs": "l1crf"}
"""CRFsuite's algorithm -> ours."""

SCHEME = "BMES"
"""Of the labels of characters that say words."""


def sequences_of(corpus):
    """A `Corpus` as both sides take it: of texts the characters, and labels that say words or spans."""
    X, y = corpus.X, corpus.y
    if corpus.format == "segmented":
        X, y = list(map(list, X)), [words_to_labels(words, SCHEME) for words in y]
    elif corpus.format == "spans":
        X, y = spans_to_columns(X, y)
    return corpus._replace(X=X, y=y)


def words_of(X, y):
    """The words that labels of characters say."""
    return [labels_to_words("".join(x), labels, SCHEME) for x, labels in zip(X, y)]


def templates_for(corpus, features):
    """The templates that a ``features`` parameter means for a corpus."""
    flat = [token for x in corpus.X[:1000] for token in x]
    return resolve_templates(features, flat[0], flat)


class Crfsuite:
    """CRFsuite through sklearn-crfsuite; ``feature_seconds`` is what making strings took in `fit`."""

    def __init__(self, algorithm, templates, arguments):
        import sklearn_crfsuite

        parameters = {"max_iterations": arguments.epochs}
        if algorithm == "lbfgs":
            parameters = {"c1": arguments.c1, "c2": arguments.c2, "max_iterations": arguments.iterations}
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
        """Do nothing: CRFsuite is compiled already."""


class Ours:
    """The learner of this package that corresponds."""

    feature_seconds = None

    def __init__(self, algorithm, templates, arguments):
        learner = ALGORITHMS[PAIRS[algorithm]]
        parameters = {"max_iter": arguments.epochs}
        if algorithm == "lbfgs":
            # CRFsuite's weights: those of the pairs that training shows, so that the objectives are the same.
            parameters = {"c1": arguments.c1, "c2": arguments.c2, "all_pairs": False}
            if arguments.iterations is not None:
                parameters["max_iter"] = arguments.iterations
        self.name = f"skstruct {learner.__name__}"
        self.model = learner(features=templates, random_state=0, **parameters)
        self.fit, self.predict = self.model.fit, self.model.predict

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


def memory_of(side, algorithm, arguments):
    """Megabytes that a fit needs above libraries and corpus, measured in a child process; or None."""
    options = {name: value for name, value in vars(arguments).items() if not callable(value)}
    code = "from skstruct.cli import contest; contest.child()"
    command = [sys.executable, "-c", code, json.dumps([side, algorithm, options])]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace")
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
        raise CommandError(f"measuring the memory of {side} {algorithm} failed: {last[0]}")
    return json.loads(done.stdout.splitlines()[-1])


def child():
    """Measure the job in the process's argument, and print the megabytes; both are JSON."""
    side, algorithm, options = json.loads(sys.argv[1])
    arguments = argparse.Namespace(**options)
    arguments.tokens = None if arguments.tokens is None else tuple(arguments.tokens)
    corpus = sequences_of(read(arguments.train, arguments))
    side = SIDES[side](algorithm, templates_for(corpus, features_of(arguments)), arguments)
    side.warm_up(corpus.X, corpus.y)
    before = peak_megabytes()
    side.fit(corpus.X, corpus.y)
    print(json.dumps(None if before is None else peak_megabytes() - before))
