"""The estimator that the options of ``train`` describe.

Idea: ``--algorithm`` names the learner; the other options, and segmented text, put estimators around it. All
that can be wrong with them ends the command with code 2, before the corpus is read.
"""

import argparse
from functools import partial

from sklearn.base import BaseEstimator

from .._sklearn import InvalidParameterError
from ..cluster.loading import dealt
from ..crf.l1crf import L1CRF
from ..crf.l1crf_cv import L1CRFCV
from ..data.inputs import LABELS, TREES, WORDS
from ..data.scheme_rules import check_scheme
from ..features.presets import PRESETS
from ..features.templates import FeatureTemplates
from ..mixing.averager import BaggingShuffleAverager
from ..mixing.mixer import ParameterMixer
from ..parser.shift_reduce import ShiftReduceParser
from ..reranker.kbest_reranker import KBestReranker
from ..taggers.calibrated_tagger import CalibratedTagger
from ..taggers.constraints import scheme_of
from ..taggers.perceptron import PassiveAggressiveTagger, StructuredPerceptron
from ..taggers.segmenter import Segmenter
from ..taggers.span_sets import SpanSets
from ..taggers.span_tagger import SpanTagger
from ..training.learner import OnlineLearner
from ..words.word_segmenter import WordSegmenter
from .common import positive
from .lines import Source
from .options import setting

ALGORITHMS = {
    "perceptron": StructuredPerceptron,
    "pa": PassiveAggressiveTagger,
    "l1crf": L1CRF,
    "word-segmenter": WordSegmenter,
    "parser": ShiftReduceParser,
    "reranker": KBestReranker,
}
"""Name on the command line -> estimator."""

_TASKS = {WordSegmenter: WORDS, ShiftReduceParser: TREES}
_ALIASES = {"ap": "perceptron", "lbfgs": "l1crf", **{c.__name__.lower(): n for n, c in ALGORITHMS.items()}}
_AROUND_TAGGERS = {"segmented": Segmenter, "spans": SpanTagger}
"""Format of the corpus -> what is put around the tagger that learns it."""

_AROUND = {
    "segmenter": "Segmenter is put around a tagger where the corpus is segmented text",
    "spantagger": "SpanTagger is put around a tagger where the corpus is annotated texts",
    "baggingshuffleaverager": "BaggingShuffleAverager is what --members N makes",
    "parametermixer": "ParameterMixer is what --shards N makes",
    "calibratedtagger": "CalibratedTagger is what --calibrate makes",
    "spansets": "SpanSets is what --recall R makes",
}


def add_features(group):
    """Add the two options that choose features."""
    either = group.add_mutually_exclusive_group()
    what = "a preset of feature templates (default: auto, by the look of the tokens)"
    either.add_argument("--features", choices=["auto", *PRESETS], default="auto", help=what)
    either.add_argument("--template", metavar="FILE", help="a template file in the syntax of CRF++")


def add_learner(group, default):
    """Add the options that choose a learner and its parameters."""
    what = f"the learner: {', '.join(ALGORITHMS)}, or the name of its class (default: {default})"
    group.add_argument("--algorithm", "-a", type=named_algorithm, default=default, metavar="NAME", help=what)
    what = "passes over the corpus (default: the learner's)"
    group.add_argument("--epochs", "--max-iter", type=positive, metavar="N", help=what)
    group.add_argument("--seed", type=int, default=0, help="random seed (default: 0)")
    group.add_argument(
        "--param", "-p", action="append", default=[], metavar="NAME=VALUE", type=setting,
        help="any parameter of the estimator, as penalty=l2 or constraints=BIO; may be repeated",
    )  # fmt: skip


def lexicon(text):
    """A type of ``argparse``: the name of a lexicon and its file."""
    name, equals, path = text.partition("=")
    if not equals or not path or not name.isidentifier():
        raise ValueError  # argparse makes the message
    return name, path


lexicon.__name__ = "NAME=FILE"  # what argparse calls it in messages


def features_of(arguments):
    """The value of an estimator's ``features``: templates, or a preset's name."""
    named = getattr(arguments, "lexicon", [])
    if arguments.template is None and not named:
        return arguments.features
    lexicons = {}
    for name, path in named:
        if name in lexicons:
            arguments.usage_error(f"--lexicon {name} is given twice")
        with Source(path, arguments.encoding) as source:
            lexicons[name] = [line.strip() for line in source.unkept() if line.strip()]
    if arguments.template is not None:
        templates = FeatureTemplates.from_file(arguments.template, lexicons)
        return templates if named else list(templates.lines)  # no path goes into the model
    if arguments.features == "auto":
        arguments.usage_error("--lexicon needs --features with a preset, or --template")
    lines = list(PRESETS[arguments.features])
    lines[-1:-1] = [f"Ulex_{name}{o:+d}:%lex_{name}[{o},0]" for name in lexicons for o in (-1, 0, 1)]
    return FeatureTemplates(lines, lexicons)


def named_algorithm(text):
    """The name in `ALGORITHMS` for a name, for CRFsuite's or for a class's: a type of ``argparse``."""
    name = _ALIASES.get(text.lower(), text.lower())
    if name in _AROUND:
        raise argparse.ArgumentTypeError(_AROUND[name])
    if name not in ALGORITHMS:
        raise argparse.ArgumentTypeError(f"unknown algorithm {text!r}; known are {', '.join(ALGORITHMS)}")
    return name


def task_of(arguments):
    """What the learner predicts: see `skstruct.data.inputs`."""
    return _TASKS.get(ALGORITHMS[arguments.algorithm], LABELS)


def new_model(arguments, features, format):
    """The unfitted estimator that the options describe.

    Parameters
    ----------
    arguments : argparse.Namespace
        Of ``train``.
    features : str, list or FeatureTemplates
        As `features_of` returns them.
    format : str
        Of the corpus: "segmented" puts a Segmenter around the tagger, "spans" a SpanTagger.
    """
    kind = _learner(arguments)
    _check_ways(arguments, kind)
    learner, tagger, outer = _parts(arguments, kind, features, format)
    sets = None if arguments.recall is None else SpanSets(recall=arguments.recall)
    deeper = _given_parameters(arguments, learner, tagger, outer, sets)
    try:
        model = _wrapped(arguments, learner, outer)
        if sets is not None:
            if format != "spans" or not hasattr(model, "predict_segment_proba"):
                arguments.usage_error(
                    "--recall is for annotated texts and taggers that know probabilities: --algorithm l1crf, "
                    "or --calibrate"
                )
            model = sets.set_params(estimator=model)
        known = model.get_params()
        for name in deeper.keys() - known.keys():
            arguments.usage_error(
                f"there is no parameter {name!r} in this {type(model).__name__}; it has "
                f"{', '.join(sorted(n for n in known if '__' in n)) or 'no nested ones'}"
            )
        model.set_params(**deeper)
        for estimator in (model, *model.get_params().values()):
            if isinstance(estimator, BaseEstimator):
                estimator._validate_params()
        if scheme_of(model) is not None:
            check_scheme(scheme_of(model))
    except InvalidParameterError as error:
        arguments.usage_error(str(error))
    except ValueError as error:
        arguments.usage_error(f"--param constraints: {error}")
    return model


def _learner(arguments):
    """The class of the learner."""
    kind = ALGORITHMS[arguments.algorithm]
    if not arguments.search:
        return kind
    if kind is not L1CRF:
        arguments.usage_error("--search chooses c1 and c2; it is for --algorithm l1crf")
    return L1CRFCV


def _on_shards(arguments):
    """Whether the corpus is dealt to shards."""
    return arguments.shards > 1 or arguments.cluster is not None


def _sums_over_shards(arguments):
    """Whether the learner adds up its objective over shards, where others mix weights."""
    return hasattr(ALGORITHMS[arguments.algorithm], "fit_shards")


_EXCLUSIVE = (
    ("--members", ("--shards", "--stream"), ""),
    ("--shards", ("--stream",), ""),
    ("--search", ("--shards", "--dev"), ": folds of the corpus choose"),
    ("--calibrate", ("--stream",), ": it needs the whole corpus"),
    ("--recall", ("--stream",), ": it needs the whole corpus"),
    ("--recall", ("--shards", "--dev"), ": parts of the corpus calibrate"),
)
"""Options that cannot be given together, and why."""


def _check_ways(arguments, learner):
    """Refuse ways of training that exclude each other, or that a learner does not know."""
    kind, sums = learner.__name__, _sums_over_shards(arguments)
    given = {
        f"--{name}": getattr(arguments, name) not in (None, False)
        for name in ("search", "stream", "dev", "calibrate", "recall")
    }
    given |= {"--members": arguments.members > 1, "--shards": _on_shards(arguments)}
    of_sums = [(option, ("--shards",), f" with {kind}") for option in ("--calibrate", "--dev") if sums]
    for option, others, why in (*_EXCLUSIVE, *of_sums):
        for other in others:
            if given[option] and given[other]:
                arguments.usage_error(f"{option} and {other} cannot both be given{why}")
    by_example = f": {kind} does not learn example by example"
    is_tagger = learner not in _TASKS and learner is not KBestReranker
    for option, fits, lack in (
        ("--calibrate", is_tagger, f" is for taggers; {kind} is none"),
        ("--shards", sums or issubclass(learner, OnlineLearner), by_example),
        ("--stream", hasattr(learner, "partial_fit"), by_example),
        ("--members", learner is not KBestReranker, f": the weights of a {kind} cannot be averaged"),
    ):
        if given[option] and not fits:
            arguments.usage_error(f"{option}{lack}")


def _parts(arguments, kind, features, format):
    """(the learner, the tagger that reads features, what reads raw text around it or None).

    The tagger is that of a re-ranker's base, else the learner itself.
    """
    own = {"random_state": arguments.seed}
    if arguments.epochs is not None:
        own["max_iter"] = arguments.epochs
    if arguments.verbose:
        own["verbose"] = 1
    learner = kind(**own)
    auto = isinstance(features, str) and features == "auto"
    given = {name for name in own if name != "random_state" or arguments.seed}
    for name, _ in arguments.param:
        if name in given:
            arguments.usage_error(f"--param {name} and an option of its own are given")
        if name == "features" and not auto:
            arguments.usage_error("--param features and an option that chooses features are given")
    if kind in _TASKS:
        if not auto:
            arguments.usage_error(
                f"--features, --template and --lexicon are for taggers; {kind.__name__} has template sets of "
                f"its own: --param templates=NAME"
            )
        return learner, learner, None
    tagger = StructuredPerceptron(**own) if kind is KBestReranker else learner
    tagger.set_params(features="char" if auto and format == "segmented" else features)
    outer = _AROUND_TAGGERS[format](tagger) if format in _AROUND_TAGGERS else None
    if kind is KBestReranker:
        learner.set_params(base=outer or tagger)
    return learner, tagger, outer


def _given_parameters(arguments, *parts):
    """Give each ``--param`` to the first part that has it; returns those of estimators inside, by name."""
    deeper, known = {}, {}
    for part in filter(None, reversed(parts)):
        known.update(dict.fromkeys(part.get_params(deep=False).keys() - {"tagger", "recall"}, part))
    for name, value in arguments.param:
        if name in known:
            known[name].set_params(**{name: value})
        elif "__" in name:
            deeper[name] = value
        else:
            wrong = f"{type(parts[0]).__name__} has no parameter {name!r}; it has {', '.join(sorted(known))}"
            arguments.usage_error(wrong)
    return deeper


def _wrapped(options, learned, outer):
    """A learner with what the options put around it."""
    seed, whole = options.seed, isinstance(learned, KBestReranker)
    if _on_shards(options) and not _sums_over_shards(options):
        checkpoint = learned.checkpoint  # of all shards together
        learned = ParameterMixer(
            learned.set_params(checkpoint=None), options.shards, n_jobs=-1, client=options.cluster,
            checkpoint=checkpoint, random_state=seed,
        )  # fmt: skip
    if options.members > 1:
        learned = BaggingShuffleAverager(learned, n_estimators=options.members, n_jobs=-1, random_state=seed)
    if options.calibrate:
        learned = CalibratedTagger(learned, random_state=seed)
    return learned if outer is None or whole else outer.set_params(tagger=learned)


def fit_of(arguments, model):
    """How the model learns from the whole corpus."""
    if not (_on_shards(arguments) and _sums_over_shards(arguments)):
        return model.fit

    def train(tagger):
        return lambda X, y: tagger.fit_shards(dealt(X, y, None, arguments.shards), client=arguments.cluster)

    return partial(model._fit_by, train) if isinstance(model, Segmenter | SpanTagger) else train(model)
