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
from collections import defaultdict

from sklearn.exceptions import ConvergenceWarning

from ..data.schemes import labels_to_words, words_to_labels
from ..datasets.columns import spans_to_columns
from ..features.contexts import is_context
from ..features.templates import MACRO, resolve_templates
from ..features.tokens import column_function
from .common import CommandError
from .corpus import read
from .learners import ALGORITHMS, features_of

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


class FeatureStrings:
    """Expands templates for one sentence at a time.

    Parameters
    ----------
    templates : FeatureTemplates

    Raises
    ------
    ValueError
        If a template looks at more than single tokens: at a lexicon, or at accessor variety.

    Attributes
    ----------
    left_out : list of str
        Templates of transitions that look at the input, which CRFsuite does not have.

    Examples
    --------
    >>> from skstruct import FeatureTemplates
    >>> strings = FeatureStrings(FeatureTemplates(["U00:%x[-1,0]", "U01:%suffix2[0,0]", "B"]))
    >>> strings(["the", "frog"])
    [['U00:_B-1', 'U01:he'], ['U00:the', 'U01:og']]
    """

    def __init__(self, templates):
        offsets = (0, *templates.offsets)
        self._before, self._behind = -min(offsets), max(offsets)
        self._forms = []  # (format string, atoms)
        for template in templates.templates:
            odd = next((name for name, _, _ in template.atoms if is_context(name)), None)
            if odd is not None and not template.edge:
                raise ValueError(f"%{odd} in {template.text!r} has no expansion to strings")
            if not template.edge:
                literals = MACRO.split(template.text)[::4]
                form = "%s".join(literal.replace("%", "%%") for literal in literals)
                self._forms.append((form, template.atoms))
        self.left_out = [t.text for t in templates.templates if t.edge and t.atoms]
        self._values = defaultdict(dict)  # (function, column) -> {string: value}

    def __call__(self, sentence):
        """The features of a sentence.

        Parameters
        ----------
        sentence : list of str or tuples of str

        Returns
        -------
        list of list of str
            One list for each token, one string for each template.
        """
        T, columns = len(sentence), {}
        before = [f"_B-{d}" for d in range(self._before, 0, -1)]
        behind = [f"_B+{d}" for d in range(1, self._behind + 1)]
        out = []
        for form, atoms in self._forms:
            if not atoms:
                out.append([form % ()] * T)
                continue
            parts = []
            for name, column, offset in atoms:
                channel = name, column
                if channel not in columns:
                    columns[channel] = [*before, *self._column(sentence, name, column), *behind]
                start = self._before + offset
                parts.append(columns[channel][start : start + T])
            out.append(map(form.__mod__, zip(*parts)))
        return list(map(list, zip(*out))) if out else [[] for _ in range(T)]

    def _column(self, sentence, name, column):
        strings = [token if isinstance(token, str) else token[column] for token in sentence]
        if name == "x":
            return strings
        known, function = self._values[name, column], column_function(name)
        for string in strings:
            if string not in known:
                known[string] = function(string)
        return [known[string] for string in strings]
