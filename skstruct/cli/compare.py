"""``skstruct compare``: train sklearn-crfsuite and skstruct on the same files.

Train sklearn-crfsuite and skstruct on TRAIN with the same features, evaluate both on
TEST, and print times and scores. CRFsuite's time includes making feature strings;
skstruct's time excludes compiling kernels.

Both sides start from the same Python lists, learn from the same templates, and end with
lists of labels. They take turns in one process, so that a busy machine is busy for
both.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import time
import warnings
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from sklearn.exceptions import ConvergenceWarning

from .._data.inputs import LABELS, WORDS, flatten
from .._data.places import counted
from .._data.schemes import labels_to_words, words_to_labels
from .._sklearn import InvalidParameterError
from ..datasets import spans_to_columns
from ..features.contexts import is_context
from ..features.patterns import Patterns
from ..features.templates import MACRO, resolve_templates
from ..features.tokens import column_function
from ..metrics.task_scores import encodes_segments, figure, scores_of
from .common import CommandError, check_inputs, tell
from .corpus import read
from .evaluate import warn_of_unknown
from .learners import ALGORITHMS, add_features, features_of, named_algorithm
from .options import add_options, repeated, setting

if TYPE_CHECKING:
    from ..features.templates import FeatureTemplates
    from .common import Arguments
    from .corpus import Corpus


PAIRS = {"ap": "perceptron", "pa": "pa", "lbfgs": "l1crf"}
"""CRFsuite's algorithm -> ours."""

_PARAMETERS: dict[str, dict[str, Any]] = {
    "ap": {"max_iterations": 10},
    "pa": {"max_iterations": 10},
    "lbfgs": {"c1": 1.0, "c2": 0.0, "max_iterations": None},
}
"""The parameters of CRFsuite's algorithms with their defaults; None: each side's own
default.
"""

_SCHEME = "BMES"
"""The scheme of character labels that mark words."""

_COLUMNS = (
    ("fit_seconds", "fit [s]", "{:.2f}".format),
    ("feature_seconds", "of it features [s]", "{:.2f}".format),
    ("tokens_per_second", "tag [tokens/s]", "{:,.0f}".format),
    ("token_accuracy", "token accuracy", figure),
    ("f1", "f1", figure),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("train", metavar="TRAIN", help="training corpus")
    parser.add_argument("test", metavar="TEST", help="test corpus")
    add_options(parser)
    group = parser.add_argument_group("learning")
    add_features(group)
    what = (
        "CRFsuite's algorithm (ap, pa, lbfgs), or the learner's name; may be repeated "
        "(default: ap and pa)"
    )
    group.add_argument(
        "--algorithm", "-a", action="append", type=_algorithm, metavar="NAME", help=what
    )
    what = (
        "a parameter of both, by CRFsuite's name: max_iterations (10 for ap"
        " and pa), c1, c2 (1 and 0 for lbfgs)"
    )
    group.add_argument("--param", "-p", **repeated("NAME=VALUE", setting), help=what)


def _algorithm(text: str) -> str:
    """CRFsuite's name of an algorithm."""
    ours = named_algorithm(text)
    for theirs, name in PAIRS.items():
        if name == ours:
            return theirs
    wrong = f"CRFsuite has no counterpart of {ours}; choose from {', '.join(PAIRS)}"
    raise argparse.ArgumentTypeError(wrong)


def _settings(arguments: Arguments) -> dict[str, Any]:
    """{algorithm: its parameters}."""
    found = {
        name: dict(_PARAMETERS[name]) for name in arguments.algorithm or ("ap", "pa")
    }
    for name, value in arguments.param:
        having = [parameters for parameters in found.values() if name in parameters]
        if not having:
            known = ", ".join(sorted(set(flatten(found.values()))))
            arguments.usage_error(
                f"--param {name}: of {' and '.join(found)} there are {known}"
            )
        for parameters in having:
            parameters[name] = value
    try:
        for name, parameters in found.items():
            Ours(name, parameters, "auto").model._validate_params()
    except InvalidParameterError as error:
        arguments.usage_error(f"--param: {error}")
    return found


def run(arguments: Arguments) -> int | None:
    """Run the command."""
    if importlib.util.find_spec("sklearn_crfsuite") is None:
        raise CommandError(
            'compare needs sklearn-crfsuite: pip install "skstruct[compare]" installs '
            "it"
        )
    settings = _settings(arguments)
    check_inputs([arguments.train, arguments.test, arguments.template], folders=True)
    if arguments.format == "crfsuite":
        arguments.usage_error(
            "templates make features from tokens; data of CRFsuite holds features "
            "already"
        )
    features = features_of(arguments)
    train, test = (
        sequences_of(read(path, arguments))
        for path in (arguments.train, arguments.test)
    )
    if (train.kind.has_words) != (test.kind.has_words):
        raise CommandError(
            f"{train.name} is {train.family}, {test.name} is {test.family}"
        )
    templates = templates_for(train, features)
    if not train.kind.has_words:
        warn_of_unknown(test.y, set(flatten(train.y)), test.name)
    rows = []
    with_segments = encodes_segments(train.y, test.y)
    for algorithm, parameters in settings.items():
        theirs = Crfsuite(algorithm, parameters, templates)
        ours = Ours(algorithm, parameters, templates)
        if theirs.strings.left_out:
            left_out = ", ".join(theirs.strings.left_out)
            tell(
                "CRFsuite has no transitions that look at the input"
                f"; left out: {left_out}"
            )
        if not templates.compile().bigram:
            tell(
                "CRFsuite always has label bigrams; the templates have no B, so that "
                "skstruct has none"
            )
        ours.warm_up(train.X, train.y)  # CRFsuite is compiled
        rows.append(
            [_measure(side, train, test, with_segments) for side in (theirs, ours)]
        )
    _print(rows, train, test, templates)


# --------------------------------------------------------------------------------------
# Corpora and sides
# --------------------------------------------------------------------------------------
def sequences_of(corpus: Corpus) -> Corpus:
    """Return a `Corpus` in the form of both sides: of texts the characters, and labels
    that mark words or spans.
    """
    X = corpus.X
    y = corpus.y
    if corpus.kind.has_words:
        X = list(map(list, X))
        y = [words_to_labels(words, _SCHEME) for words in y]
    elif corpus.kind.has_spans:
        X, y = spans_to_columns(X, y)
    return corpus._replace(X=X, y=y)


def _words_of(X: Any, y: Any) -> list[list[str]]:
    """Return the words that labels of characters mark."""
    return [labels_to_words("".join(x), labels, _SCHEME) for x, labels in zip(X, y)]


def templates_for(corpus: Corpus, features: Any) -> FeatureTemplates:
    """Return the templates that a ``features`` parameter means for a corpus."""
    if isinstance(features, Patterns):
        raise CommandError(
            "compare gives both sides the same templates; these are patterns of "
            "another tool, which share features of one name: give each its own"
        )
    flat = flatten(corpus.X[:1000])
    return resolve_templates(features, flat[0], flat)


class Crfsuite:
    """CRFsuite through sklearn-crfsuite; ``feature_seconds`` is what making strings
    took in `fit`.
    """

    def __init__(
        self, algorithm: str, parameters: dict[str, Any], templates: Any
    ) -> None:
        import sklearn_crfsuite

        self.name = f"sklearn-crfsuite {algorithm}"
        self.strings = FeatureStrings(templates)
        self.model = sklearn_crfsuite.CRF(algorithm=algorithm, **parameters)

    def fit(self, X: Any, y: Any) -> None:
        """Make strings, then train."""
        began = time.perf_counter()
        features = list(map(self.strings, X))
        self.feature_seconds = time.perf_counter() - began
        self.model.fit(features, y)

    def predict(self, X: Any) -> list[list[str]]:
        """Make strings, then label."""
        return [
            list(labels) for labels in self.model.predict(list(map(self.strings, X)))
        ]


class Ours:
    """The learner of this package that corresponds."""

    feature_seconds: float | None = None

    def __init__(
        self, algorithm: str, parameters: dict[str, Any], templates: Any
    ) -> None:
        learner = ALGORITHMS[PAIRS[algorithm]]
        given = dict(parameters)
        passes = given.pop("max_iterations")
        given |= {} if passes is None else {"max_iter": passes}
        if algorithm == "lbfgs":
            # CRFsuite's weights: those of the pairs that training shows, so that the
            # objectives are the same.
            given["all_pairs"] = False
        self.name = f"skstruct {learner.__name__}"
        self.model = learner(features=templates, random_state=0, **given)
        self.fit = self.model.fit
        self.predict = self.model.predict

    def warm_up(self, X: Any, y: Any) -> None:
        """Get the kernels compiled, or loaded."""
        few = {**self.model.get_params(deep=False), "max_iter": 1}
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", ConvergenceWarning
            )  # one pass is not meant to
            type(self.model)(**few).fit(X[:4], y[:4]).predict(X[:1])


class FeatureStrings:
    """Expands templates for one sentence at a time.

    Parameters
    ----------
    templates : FeatureTemplates

    Raises
    ------
    ValueError
        If a template looks at more than single tokens: at a lexicon, or at accessor
        variety.

    Attributes
    ----------
    left_out : list of str
        Templates of transitions that look at the input, which CRFsuite does not have.

    Examples
    --------
    >>> from skstruct import FeatureTemplates
    >>> templates = FeatureTemplates(["U00:%x[-1,0]", "U01:%suffix2[0,0]", "B"])
    >>> strings = FeatureStrings(templates)
    >>> strings(["the", "frog"])
    [['U00:_B-1', 'U01:he'], ['U00:the', 'U01:og']]
    """

    def __init__(self, templates: Any) -> None:
        offsets = (0, *templates.offsets)
        self._before = [f"_B-{d}" for d in range(-min(offsets), 0, -1)]
        self._behind = [f"_B+{d}" for d in range(1, max(offsets) + 1)]
        self.left_out = [t.text for t in templates.templates if t.edge and t.atoms]
        self._forms = []  # (format string, atoms)
        self._functions: dict[str, Callable[[str], str]] = {"x": str}
        for template in templates.templates:
            for name, _, _ in () if template.edge else template.atoms:
                if is_context(name):
                    raise ValueError(
                        f"%{name} in {template.text!r} has no expansion to strings"
                    )
                if name not in self._functions:
                    self._functions[name] = cache(column_function(name))
            if not template.edge:
                literals = MACRO.split(template.text)[::4]
                form = "%s".join(literal.replace("%", "%%") for literal in literals)
                self._forms.append((form, template.atoms))

    def __call__(self, sentence: Any) -> list[list[str]]:
        """Return the features of a sentence.

        Parameters
        ----------
        sentence : list of str or tuples of str

        Returns
        -------
        list of list of str
            One list for each token, one string for each template.
        """

        @cache
        def padded(name: str, column: int) -> list[str]:
            strings = [
                token if isinstance(token, str) else token[column] for token in sentence
            ]
            return [*self._before, *map(self._functions[name], strings), *self._behind]

        T = len(sentence)
        first = len(self._before)
        out = []
        for form, atoms in self._forms:
            parts = [
                padded(name, column)[first + o : first + o + T]
                for name, column, o in atoms
            ]
            out.append(map(form.__mod__, zip(*parts)) if atoms else [form % ()] * T)
        return list(map(list, zip(*out))) if out else [[] for _ in sentence]


# --------------------------------------------------------------------------------------
# Measuring
# --------------------------------------------------------------------------------------
def _measure(
    side: Crfsuite | Ours, train: Corpus, test: Corpus, with_segments: bool
) -> dict[str, Any]:
    """Return a dict of figures."""
    tell(f"{side.name}: training")
    began = time.perf_counter()
    side.fit(train.X, train.y)
    fitted = time.perf_counter()
    predicted = side.predict(test.X)
    seconds = time.perf_counter() - fitted
    scheme = "BIO" if with_segments and not test.kind.has_words else "none"
    scores = scores_of(LABELS, test.X, test.y, predicted, scheme=scheme).overall
    if test.kind.has_words:
        words = [_words_of(test.X, labels) for labels in (test.y, predicted)]
        scores |= scores_of(WORDS, None, *words).overall
    return {
        "name": side.name,
        "fit_seconds": fitted - began,
        "feature_seconds": side.feature_seconds,
        "tokens_per_second": sum(map(len, test.X)) / max(seconds, 1e-9),
        "f1": scores["f1"].value if "f1" in scores else math.nan,
        "token_accuracy": scores["token_accuracy"].value,
    }


def _print(rows: Any, train: Corpus, test: Corpus, templates: Any) -> None:
    unit = "character" if train.kind.has_words else "token"
    for name, corpus in (("train", train), ("test", test)):
        sizes = (
            f"{counted(len(corpus.X), 'sentence')}, "
            f"{counted(sum(map(len, corpus.X)), unit)}"
        )
        print(f"{name:<6}{corpus.name}: {sizes}")
    print(f"{counted(len(templates), 'template')}\n")
    width = max(len(row["name"]) for row in flatten(rows)) + 2
    print(" " * width + "".join(f"{title:>20}" for _, title, _ in _COLUMNS))
    for pair in rows:
        for row in pair:
            cells = (
                "-" if row[key] is None else form(row[key]) for key, _, form in _COLUMNS
            )
            print(f"{row['name']:<{width}}" + "".join(f"{cell:>20}" for cell in cells))
        print(
            f"{'  ratio':<{width}}"
            + "".join(f"{_ratio(key, *pair):>20}" for key, _, _ in _COLUMNS)
        )


def _ratio(key: str, theirs: dict[str, Any], ours: dict[str, Any]) -> str:
    """Return how many times better our figure is, if the ratio is meaningful."""
    a = theirs[key]
    b = ours[key]
    if key in ("token_accuracy", "f1", "feature_seconds") or a is None or b is None:
        return ""
    if key == "tokens_per_second":
        a, b = b, a
    return f"{a / b:.1f}" if b > 0 else ""
