"""The estimator that the options of ``train`` describe.

Idea: ``--algorithm`` names the learner; the other options, and segmented text, put
estimators around it. All that can be wrong with them ends the command with code 2,
before the corpus is read.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from sklearn.base import BaseEstimator
from sklearn.utils.validation import has_fit_parameter

from .._crf.l1crf import L1CRF
from .._crf.l1crf_cv import L1CRFCV
from .._data.inputs import LABELS, TREES, WORDS
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
from ..features.presets import PRESETS
from ..features.templates import FeatureTemplates
from .common import positive
from .input_files import Source
from .options import repeated, setting
from .template_files import template_features

if TYPE_CHECKING:
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

_TASKS: dict[type, str] = {WordSegmenter: WORDS, ShiftReduceParser: TREES}
_ALIASES = {
    "ap": "perceptron",
    "lbfgs": "l1crf",
    **{c.__name__.lower(): n for n, c in ALGORITHMS.items()},
}
_AROUND_TAGGERS = {"segmented": Segmenter, "spans": SpanTagger}
"""Format of the corpus -> what is put around the tagger that learns it."""

_AROUND = (
    Segmenter,
    SpanTagger,
    BaggingShuffleAverager,
    ParameterMixer,
    CalibratedTagger,
    SpanSets,
)


def add_features(group: Any) -> None:
    """Add the two options that choose features."""
    either = group.add_mutually_exclusive_group()
    what = "a preset of feature templates; auto: by the look of the tokens"
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

    Without a default one the learner is that of `skstruct._taggers.default_tagger`.
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
        "any parameter of the estimator, as penalty=l2 or constraints=BIO; may be "
        "repeated"
    )
    group.add_argument("--param", "-p", **repeated("NAME=VALUE", setting), help=what)


def features_of(arguments: Arguments) -> Any:
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
        return template_features(arguments, lexicons)
    if arguments.features == "auto":
        arguments.usage_error("--lexicon needs --features with a preset, or --template")
    lines = list(PRESETS[arguments.features])
    lines[-1:-1] = [
        f"Ulex_{name}{o:+d}:%lex_{name}[{o},0]" for name in lexicons for o in (-1, 0, 1)
    ]
    return FeatureTemplates(lines, lexicons)


def named_algorithm(text: str) -> str:
    """The name in `ALGORITHMS` for a name, for CRFsuite's or for a class's: a type of
    ``argparse``.
    """
    name = _ALIASES.get(text.lower(), text.lower())
    if name in ALGORITHMS:
        return name
    wrong = f"unknown algorithm {text!r}; known are {', '.join(ALGORITHMS)}"
    wrong += meant(text, {**ALGORITHMS, **_ALIASES})
    if name in (kind.__name__.lower() for kind in _AROUND):
        wrong = (
            f"{text} goes around a learner: --members, --shards, --calibrate, or texts "
            "to learn, add it"
        )
    raise argparse.ArgumentTypeError(wrong)


def task_of(arguments: Arguments) -> str:
    """What the learner predicts: see `skstruct._data.inputs`."""
    return _TASKS.get(_kind(arguments), LABELS)


def _kind(arguments: Arguments) -> Any:
    """The class of the learner."""
    if arguments.algorithm is None:
        return StructuredPerceptron
    return ALGORITHMS[arguments.algorithm]


def new_model(arguments: Arguments, features: Any, format: str | None) -> Any:
    """The unfitted estimator that the options describe.

    Parameters
    ----------
    arguments : argparse.Namespace
        Of ``train``.
    features : str, list or FeatureTemplates
        As `features_of` returns them.
    format : str
        Of the corpus: "segmented" puts a Segmenter around the tagger, "spans" a
        SpanTagger.
    """
    learner, tagger, outer = _parts(arguments, features, format)
    sets = None if arguments.recall is None else SpanSets(recall=arguments.recall)
    deeper = _given_parameters(arguments, learner, tagger, outer, sets)
    try:
        learned = model = _wrapped(arguments, learner)
        if outer is not None and not isinstance(
            learner, KBestReranker
        ):  # whose base it is
            model = outer.set_params(tagger=learned)
        if sets is not None:
            if format != "spans" or not hasattr(model, "predict_segment_proba"):
                wrong = (
                    "--recall is for annotated texts and taggers that know "
                    "probabilities"
                )
                arguments.usage_error(f"{wrong}: --algorithm l1crf, or --calibrate")
            model = sets.set_params(estimator=model)
        _check_way(arguments, learned, model)
        known = model.get_params()
        for name in deeper.keys() - known.keys():
            has = (
                ", ".join(sorted(n for n in known if "__" in n)) or "none of this kind"
            )
            arguments.usage_error(
                f"{type(model).__name__} has no parameter {name!r}; it has {has}"
                f"{meant(name, known)}"
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


def _parts(arguments: Arguments, features: Any, format: str | None) -> Any:
    """(the learner, the tagger that reads features, what reads raw text around it or
    None).

    The tagger is that of a re-ranker's base, else the learner itself.
    """
    kind = _kind(arguments)
    if arguments.search and kind is not L1CRF:
        arguments.usage_error("--search chooses c1 and c2; it is for --algorithm l1crf")
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
    learner = L1CRFCV(**own) if arguments.search else kind(**own)
    if arguments.algorithm is None:
        learner.set_params(dropout=DROPOUT)
        if arguments.epochs is None and _members(arguments) != 1:
            learner.set_params(max_iter="auto")  # as the default average has it
    if kind in _TASKS:
        if not auto:
            wrong = "--features, --template and --lexicon are for taggers"
            has = (
                f"{kind.__name__} has template sets of its own: --param templates=NAME"
            )
            arguments.usage_error(f"{wrong}; {has}")
        return learner, learner, None
    tagger = StructuredPerceptron(**own) if kind is KBestReranker else learner
    if auto and format == "segmented":
        features = OF_CHARACTERS if arguments.algorithm is None else "char"
    tagger.set_params(features=features)
    outer = _AROUND_TAGGERS[format](tagger) if format in _AROUND_TAGGERS else None
    if kind is KBestReranker:
        learner.set_params(base=outer or tagger)
    return learner, tagger, outer


def _given_parameters(arguments: Arguments, *parts: Any) -> Any:
    """Give each ``--param`` to the first part that has it; returns those of estimators
    inside, by name.
    """
    deeper = {}
    known = {}
    for part in filter(None, reversed(parts)):
        known.update(
            dict.fromkeys(
                part.get_params(deep=False).keys() - {"tagger", "recall"}, part
            )
        )
    for name, value in arguments.param:
        if name in known:
            known[name].set_params(**{name: value})
        elif "__" in name:
            deeper[name] = value
        else:
            wrong = (
                f"{type(parts[0]).__name__} has no parameter {name!r}; it has "
                f"{', '.join(sorted(known))}{meant(name, known)}"
            )
            arguments.usage_error(wrong)
    return deeper


def _members(arguments: Arguments) -> int | str:
    """The members of the average, 1 where there is none."""
    if arguments.members is not None:
        return arguments.members
    return "auto" if arguments.algorithm is None and not _on_shards(arguments) else 1


def _wrapped(arguments: Arguments, learned: Any) -> Any:
    """A learner with what the options put around it."""
    kind = type(learned)
    on_shards = _on_shards(arguments)
    members = _members(arguments)
    several = members != 1
    sums = on_shards and hasattr(kind, "fit_shards")
    by_example = sums or issubclass(kind, OnlineLearner)
    is_tagger = kind not in _TASKS and kind is not KBestReranker
    # An average goes on as one learner.
    has_state = issubclass(kind, OnlineLearner) and not on_shards
    for wrong, message in (
        (
            arguments.keep_training and not has_state,
            "--keep-training: such a model has no state of training",
        ),
        (several and on_shards, "--members and --shards cannot both be given"),
        (
            several and kind is KBestReranker,
            "--members: the weights of a KBestReranker cannot be averaged",
        ),
        (
            arguments.calibrate and not is_tagger,
            f"--calibrate is for taggers; {kind.__name__} is none",
        ),
        (
            on_shards and not by_example,
            f"--shards: {kind.__name__} does not learn example by example",
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
    if on_shards and not sums:
        checkpoint = learned.checkpoint  # of all shards together
        learned = ParameterMixer(
            learned.set_params(checkpoint=None),
            arguments.shards,
            n_jobs=-1,
            client=arguments.cluster,
            checkpoint=checkpoint,
            random_state=arguments.seed,
        )
    if several:
        averaged = {
            "n_estimators": members,
            "n_jobs": -1,
            "random_state": arguments.seed,
        }
        learned = BaggingShuffleAverager(learned, **averaged)
    return (
        CalibratedTagger(learned, random_state=arguments.seed)
        if arguments.calibrate
        else learned
    )


def _check_way(arguments: Arguments, *parts: Any) -> None:
    """Refuse a stream, or a held-out corpus, for what cannot learn with it."""
    for part in parts:
        if arguments.stream is not None and not hasattr(part, "partial_fit"):
            arguments.usage_error(
                f"--stream: {type(part).__name__} does not learn example by example"
            )
        if (
            arguments.stream is None
            and arguments.dev is not None
            and not has_fit_parameter(part, "X_val")
        ):
            arguments.usage_error(
                f"--dev: the fit of {type(part).__name__} takes no held-out corpus"
            )


def _on_shards(arguments: Arguments) -> bool:
    """Whether the corpus is dealt to shards."""
    return arguments.shards > 1 or arguments.cluster is not None


def fit_of(arguments: Arguments, model: Any) -> Callable[..., Any]:
    """How the model learns from the whole corpus."""

    def train(tagger: Any) -> Any:
        return lambda X, y, sample_weight=None: tagger.fit_shards(
            dealt(X, y, sample_weight, arguments.shards), client=arguments.cluster
        )

    inside = isinstance(model, Segmenter | SpanTagger)
    if not _on_shards(arguments) or not isinstance(
        model.tagger if inside else model, L1CRF
    ):
        return model.fit
    return partial(model._fit_by, train) if inside else train(model)
