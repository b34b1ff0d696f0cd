"""The estimator that the options of ``train`` describe.

Idea: ``--algorithm`` names the learner; the other options, and segmented text, put
estimators around it. All that can be wrong with them ends the command with code 2,
before the corpus is read.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from sklearn.base import BaseEstimator
from sklearn.utils.validation import has_fit_parameter

from .._crf.l1crf import L1CRF
from .._crf.l1crf_cv import L1CRFCV
from .._data.inputs import LABELS, SPANS, TREES, WORDS
from .._data.scheme_rules import check_scheme
from .._data.suggestions import meant
from .._parser.shift_reduce import ShiftReduceParser
from .._shards.loading import dealt
from .._shards.mixing.averager import BaggingShuffleAverager
from .._shards.mixing.mixer import ParameterMixer
from .._sklearn import InvalidParameterError
from .._taggers.calibrated_tagger import CalibratedTagger
from .._taggers.constraints import scheme_of
from .._taggers.default_tagger import DROPOUT, OF_CHARACTERS
from .._taggers.perceptron import PassiveAggressiveTagger, StructuredPerceptron
from .._taggers.segmenter import Segmenter
from .._taggers.span_sets import SpanSets
from .._taggers.span_tagger import SpanTagger
from .._training.learner import OnlineLearner
from .._words.kbest_reranker import KBestReranker
from .._words.word_segmenter import WordSegmenter
from ..datasets.formats.source import Source
from ..features.presets import PRESETS
from ..features.templates import FeatureTemplates
from .common import positive
from .options import repeated, setting
from .template_files import template_features

if TYPE_CHECKING:
    from ..datasets.kinds import Kind
    from .common import Arguments


ALGORITHMS = {
    "perceptron": StructuredPerceptron,
    "pa": PassiveAggressiveTagger,
    "l1crf": L1CRF,
    "word-segmenter": WordSegmenter,
    "parser": ShiftReduceParser,
    "reranker": KBestReranker,
}
"""Name on the command line -> estimator."""

_TASK_OF_LEARNER: dict[type, str] = {WordSegmenter: WORDS, ShiftReduceParser: TREES}
"""The output of learners that are not taggers; taggers predict labels."""

_ALIASES = {
    "ap": "perceptron",
    "lbfgs": "l1crf",
    **{c.__name__.lower(): n for n, c in ALGORITHMS.items()},
}
_OUTER = {WORDS: Segmenter, SPANS: SpanTagger}
"""The estimator, by what the corpus is for, around the tagger that learns it."""

_WRAPPERS = (
    Segmenter,
    SpanTagger,
    BaggingShuffleAverager,
    ParameterMixer,
    CalibratedTagger,
    SpanSets,
)
"""Wrappers that options put around a learner, so ``--algorithm`` cannot name them."""


def add_features(group: Any) -> None:
    """Add the two options that choose features."""
    either = group.add_mutually_exclusive_group()
    what = "a preset of feature templates; auto: detected from the tokens"
    either.add_argument(
        "--features", choices=["auto", *PRESETS], default="auto", help=what
    )
    either.add_argument(
        "--template",
        metavar="FILE",
        help="a template file of CRF++, or a pattern file of Wapiti",
    )


def add_learner(group: Any, default: str | None) -> None:
    """Add the options that choose a learner and its parameters.

    Parameters
    ----------
    group : argument group of ``argparse``
    default : str or None
        The learner without ``--algorithm``: a name in `ALGORITHMS`; None for the
        average of `skstruct._taggers.default_tagger`.
    """
    what = f"the learner: {', '.join(ALGORITHMS)}, or the name of its class"
    if default is None:
        what += " (default: an average of perceptrons with input dropout)"
    group.add_argument(
        "--algorithm",
        "-a",
        type=named_algorithm,
        default=default,
        metavar="NAME",
        help=what,
    )
    what = "passes over the corpus (default: the learner's)"
    group.add_argument("--epochs", "--max-iter", type=positive, metavar="N", help=what)
    group.add_argument("--seed", type=int, default=0, help="random seed")
    what = (
        "any parameter of the estimator, such as penalty=l2 or "
        "constraints=BIO; may be repeated"
    )
    group.add_argument("--param", "-p", **repeated("NAME=VALUE", setting), help=what)


def features_of(arguments: Arguments) -> Any:
    """Return the value of an estimator's ``features``: templates, or a preset's name."""
    named = getattr(arguments, "lexicon", [])  # an option of train alone
    if arguments.template is None and not named:
        return arguments.features
    lexicons = {}
    for name, path in named:
        if name in lexicons:
            arguments.usage_error(f"--lexicon {name} is given twice")
        with Source(path, arguments.encoding) as source:
            lexicons[name] = [line.strip() for line in source.unkept() if line.strip()]
    if arguments.template is not None:
        return template_features(arguments, lexicons)
    if arguments.features == "auto":
        arguments.usage_error("--lexicon needs --features with a preset, or --template")
    *states, transitions = PRESETS[arguments.features]
    of_lexicons = [
        f"Ulex_{name}{o:+d}:%lex_{name}[{o},0]" for name in lexicons for o in (-1, 0, 1)
    ]
    return FeatureTemplates([*states, *of_lexicons, transitions], lexicons)


def named_algorithm(text: str) -> str:
    """Return the name in `ALGORITHMS` that a text means: such a name, CRFsuite's, or
    that of a class. It is a type of ``argparse``.
    """
    name = _ALIASES.get(text.lower(), text.lower())
    if name in ALGORITHMS:
        return name
    wrong = f"unknown algorithm {text!r}; choose from {', '.join(ALGORITHMS)}"
    wrong += meant(text, {**ALGORITHMS, **_ALIASES})
    if name in (wrapper.__name__.lower() for wrapper in _WRAPPERS):
        wrong = (
            f"{text} goes around a learner: --members, --shards, --calibrate, or texts "
            "to learn, add it"
        )
    raise argparse.ArgumentTypeError(wrong)


def task_of(arguments: Arguments) -> str:
    """Return what the learner predicts: see `skstruct._data.inputs`."""
    return _TASK_OF_LEARNER.get(_learner_class(arguments), LABELS)


def _learner_class(arguments: Arguments) -> Any:
    """Return the class of the learner."""
    if arguments.algorithm is None:
        return StructuredPerceptron
    return ALGORITHMS[arguments.algorithm]


def new_model(arguments: Arguments, features: Any, kind: Kind) -> Any:
    """Return the unfitted estimator that the options describe.

    Parameters
    ----------
    arguments : argparse.Namespace
        Of ``train``.
    features : str, list or FeatureTemplates
        As `features_of` returns them.
    kind : Kind
        Of the corpus: words put a Segmenter around the tagger, texts a SpanTagger.
    """
    parts = _new_parts(arguments, features, kind)
    nested = _set_parameters(arguments, parts)
    try:
        learner = _wrapped(arguments, parts.learner)
        model = learner
        # A re-ranker has the outer estimator inside: it is its base.
        if parts.outer is not None and not isinstance(parts.learner, KBestReranker):
            model = parts.outer.set_params(tagger=learner)
        if parts.sets is not None:
            if not kind.has_spans or not hasattr(model, "predict_segment_proba"):
                wrong = (
                    "--recall is for annotated texts and taggers that know "
                    "probabilities"
                )
                arguments.usage_error(f"{wrong}: --algorithm l1crf, or --calibrate")
            model = parts.sets.set_params(estimator=model)
        _check_stream_and_dev(arguments, learner, model)
        known = model.get_params()
        for name in nested.keys() - known.keys():
            has = (
                ", ".join(sorted(n for n in known if "__" in n)) or "none of this kind"
            )
            arguments.usage_error(
                f"{type(model).__name__} has no parameter {name!r}; it has {has}"
                f"{meant(name, known)}"
            )
        model.set_params(**nested)
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


class _Parts(NamedTuple):
    """The estimators that options describe, before one is put into the other.

    Attributes
    ----------
    learner : estimator
        What ``--algorithm`` names.
    tagger : estimator
        What reads features: the learner itself, or the tagger in a re-ranker's base.
    outer : Segmenter, SpanTagger or None
        What reads raw text around the tagger, if the corpus is that.
    sets : SpanSets or None
        What ``--recall`` puts around it all.
    """

    learner: Any
    tagger: Any
    outer: Any = None
    sets: Any = None


def _new_parts(arguments: Arguments, features: Any, kind: Kind) -> _Parts:
    """Make the estimators that options describe, with all parameters but those of
    ``--param``.
    """
    cls = _learner_class(arguments)
    if arguments.search and cls is not L1CRF:
        arguments.usage_error("--search chooses c1 and c2; it is for --algorithm l1crf")
    sets = None if arguments.recall is None else SpanSets(recall=arguments.recall)
    auto = isinstance(features, str) and features == "auto"
    own = {
        "max_iter": arguments.epochs,
        "verbose": int(arguments.verbose),
        "random_state": arguments.seed,
    }
    own = {name: value for name, value in own.items() if value is not None}
    given = {name for name, value in own.items() if value} | (
        set() if auto else {"features"}
    )
    for name in dict(arguments.param).keys() & given:
        arguments.usage_error(f"--param {name} and an option of its own are given")
    learner = L1CRFCV(**own) if arguments.search else cls(**own)
    if arguments.algorithm is None:
        learner.set_params(dropout=DROPOUT)
        if arguments.epochs is None and _members(arguments) != 1:
            learner.set_params(max_iter="auto")  # as the default average has it
    if cls in _TASK_OF_LEARNER:
        if not auto:
            wrong = "--features, --template and --lexicon are for taggers"
            has = f"{cls.__name__} has template sets of its own: --param templates=NAME"
            arguments.usage_error(f"{wrong}; {has}")
        return _Parts(learner, learner, sets=sets)
    tagger = StructuredPerceptron(**own) if cls is KBestReranker else learner
    if auto and kind.has_words:
        features = OF_CHARACTERS if arguments.algorithm is None else "char"
    tagger.set_params(features=features)
    outer = _OUTER[kind.task](tagger) if kind.task in _OUTER else None
    if cls is KBestReranker:
        learner.set_params(base=outer or tagger)
    return _Parts(learner, tagger, outer, sets)


def _set_parameters(arguments: Arguments, parts: _Parts) -> dict[str, Any]:
    """Give each ``--param`` to the first of the parts that has it.

    Returns
    -------
    dict
        Those of estimators inside, as ``base__max_iter``, which can be set once one
        part is in the other.
    """
    owner: dict[str, Any] = {}
    for part in filter(None, parts):
        # Two are for `new_model` to set: they are other parts, or options of their own.
        for name in part.get_params(deep=False).keys() - {"tagger", "recall"}:
            owner.setdefault(name, part)
    nested = {}
    for name, value in arguments.param:
        if name in owner:
            owner[name].set_params(**{name: value})
        elif "__" in name:
            nested[name] = value
        else:
            wrong = (
                f"{type(parts.learner).__name__} has no parameter {name!r}; it has "
                f"{', '.join(sorted(owner))}{meant(name, owner)}"
            )
            arguments.usage_error(wrong)
    return nested


def _members(arguments: Arguments) -> int | str:
    """Return how many learners are averaged, 1 where there is no average."""
    if arguments.members is not None:
        return arguments.members
    return "auto" if arguments.algorithm is None and not _on_shards(arguments) else 1


def _wrapped(arguments: Arguments, learner: Any) -> Any:
    """Return a learner with what the options put around it: a mixture of shards or an
    average, and calibration.
    """
    members = _members(arguments)
    _check_wrappers(arguments, type(learner), members)
    if _on_shards(arguments) and not _sums_over_shards(type(learner)):
        checkpoint = learner.checkpoint  # of all shards together
        learner = ParameterMixer(
            learner.set_params(checkpoint=None),
            arguments.shards,
            n_jobs=-1,
            client=arguments.cluster,
            checkpoint=checkpoint,
            random_state=arguments.seed,
        )
    if members != 1:
        averaged = {
            "n_estimators": members,
            "n_jobs": -1,
            "random_state": arguments.seed,
        }
        learner = BaggingShuffleAverager(learner, **averaged)
    return (
        CalibratedTagger(learner, random_state=arguments.seed)
        if arguments.calibrate
        else learner
    )


def _check_wrappers(arguments: Arguments, cls: Any, members: int | str) -> None:
    """Refuse what cannot be put around a learner of a class, or not together."""
    on_shards = _on_shards(arguments)
    sums = on_shards and _sums_over_shards(cls)
    # What learns example by example can be mixed, and has a state of training; an
    # average of such learners goes on as one of them does.
    by_example = issubclass(cls, OnlineLearner)
    is_tagger = cls not in _TASK_OF_LEARNER and cls is not KBestReranker
    for wrong, message in (
        (
            arguments.keep_training and (on_shards or not by_example),
            "--keep-training: such a model has no state of training",
        ),
        (members != 1 and on_shards, "--members and --shards cannot both be given"),
        (
            members != 1 and cls is KBestReranker,
            "--members: the weights of a KBestReranker cannot be averaged",
        ),
        (
            arguments.calibrate and not is_tagger,
            f"--calibrate is for taggers; {cls.__name__} is none",
        ),
        (
            on_shards and not (sums or by_example),
            f"--shards: {cls.__name__} does not learn example by example",
        ),
        (
            sums and arguments.calibrate,
            "--calibrate and --shards cannot both be given with L1CRF",
        ),
        (
            sums and arguments.dev is not None,
            "--dev and --shards cannot both be given with L1CRF",
        ),
        (
            sums and arguments.recall is not None,
            "--recall and --shards cannot both be given with L1CRF",
        ),
    ):
        if wrong:
            arguments.usage_error(message)


def _check_stream_and_dev(arguments: Arguments, *estimators: Any) -> None:
    """Refuse a stream, or a held-out corpus, for an estimator that cannot learn with
    it.
    """
    for each in estimators:
        if arguments.stream is not None and not hasattr(each, "partial_fit"):
            arguments.usage_error(
                f"--stream: {type(each).__name__} does not learn example by example"
            )
        if (
            arguments.stream is None
            and arguments.dev is not None
            and not has_fit_parameter(each, "X_val")
        ):
            arguments.usage_error(
                f"--dev: the fit of {type(each).__name__} takes no held-out corpus"
            )


def _on_shards(arguments: Arguments) -> bool:
    """Tell whether the corpus is dealt to shards."""
    return arguments.shards > 1 or arguments.cluster is not None


def _sums_over_shards(cls: type) -> bool:
    """Tell whether a learner adds up the sums of all shards, so that its optimum is
    that of the whole corpus; others are mixed.
    """
    return hasattr(cls, "fit_shards")


def fit_of(arguments: Arguments, model: Any) -> Callable[..., Any]:
    """Return the function that trains a model on a whole corpus.

    It is the model's ``fit``; or, for a CRF with ``--shards``, a function of X, y and
    sample_weight that deals them to shards for ``fit_shards``.
    """
    is_outer = isinstance(model, Segmenter | SpanTagger)
    learner = model.tagger if is_outer else model
    if not (_on_shards(arguments) and isinstance(learner, L1CRF)):
        return model.fit

    def fit_on_shards(crf: Any) -> Any:
        return lambda X, y, sample_weight=None: crf.fit_shards(
            dealt(X, y, sample_weight, arguments.shards), client=arguments.cluster
        )

    # What is around the CRF makes tokens and labels of texts before it is trained.
    return partial(model._fit_by, fit_on_shards) if is_outer else fit_on_shards(model)
