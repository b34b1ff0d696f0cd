"""``skstruct train``: learn from a corpus file, write a model file.

Idea: the options are an estimator's constructor; everything that can be wrong with them is said before
the corpus is read, and everything about the target before the training begins.
"""

import ast
import contextlib
import sys
import time
from functools import partial

from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from .._sklearn import InvalidParameterError
from ..calibration.tagger import CalibratedTagger
from ..chain.passive_aggressive import PassiveAggressiveTagger
from ..chain.perceptron import StructuredPerceptron
from ..chain.segmenter import Segmenter
from ..cluster.loading import dealt
from ..crf.estimator import L1CRF
from ..features.presets import PRESETS
from ..features.templates import FeatureTemplates
from ..mixing.averager import BaggingShuffleAverager
from ..mixing.mixer import ParameterMixer
from .common import check_target, counted, positive, tell
from .corpus import batches, layout_of, located, read_all
from .evaluate import scores_of
from .lines import Source
from .options import add_options
from .scores import as_text

ALGORITHMS = {"perceptron": StructuredPerceptron, "pa": PassiveAggressiveTagger, "l1crf": L1CRF}
"""Name on the command line -> estimator."""

PARTIAL = ".partial"
"""Ending of the model that an interrupted training leaves, after the name asked for."""


def add_parser(commands):
    """Add the command to the command line."""
    parser = commands.add_parser(
        "train",
        help="learn from a corpus file",
        description="Train a tagger on columns or CoNLL-U, or a segmenter on segmented text, and write the "
        "model to one file.",
    )
    parser.add_argument("file", metavar="FILE", help="the corpus; - is standard input")
    parser.add_argument("--model", "-m", required=True, metavar="OUT", help="file to write the model to")
    parser.add_argument("--dev", metavar="FILE", help="evaluate on this corpus after the training")
    add_options(parser)
    group = parser.add_argument_group("learning")
    add_features(group)
    group.add_argument(
        "--lexicon", action="append", default=[], metavar="NAME=FILE", type=_lexicon,
        help="a list of names or words, an entry a line, which templates read as %%lex_NAME[0,0]; to a "
        "preset the templates of three positions are added; may be repeated",
    )  # fmt: skip
    group.add_argument(
        "--algorithm", "-a", choices=list(ALGORITHMS), default="perceptron",
        help="the learner (default: perceptron)",
    )  # fmt: skip
    group.add_argument(
        "--epochs", type=positive, metavar="N", help="passes over the corpus (default: the learner's)"
    )
    group.add_argument(
        "--members", type=positive, default=1, metavar="N",
        help="average the weights of N learners that see the corpus in different orders (default: 1)",
    )  # fmt: skip
    group.add_argument(
        "--calibrate", action="store_true",
        help="let the tagger know probabilities, for tag --proba: parts of the corpus are scored by models "
        "trained on the others, which takes the time of five more trainings",
    )  # fmt: skip
    group.add_argument(
        "--shards", type=positive, default=1, metavar="N",
        help="deal the sentences to N shards, which train at the same time, and mix their weights after each "
        "epoch; with l1crf the shards add up its objective, and the optimum is the same (default: 1)",
    )  # fmt: skip
    group.add_argument(
        "--cluster", metavar="ADDRESS", help="of a Dask scheduler, whose workers train the shards"
    )
    group.add_argument(
        "--stream", type=positive, metavar="N",
        help="read and learn N sentences at a time, for files larger than memory; an epoch then keeps the "
        "order of the file, and there is one unless --epochs says more",
    )  # fmt: skip
    group.add_argument("--seed", type=int, default=0, help="of the random numbers (default: 0)")
    group.add_argument(
        "--param", "-p", action="append", default=[], metavar="NAME=VALUE", type=_setting,
        help="any parameter of the estimator, as penalty=l2 or constraints=BIO; may be repeated",
    )  # fmt: skip
    group.add_argument("--verbose", "-v", action="store_true", help="a line for each epoch")
    group.add_argument(
        "--compact", action="store_true", help="leave out of the file what further training would need"
    )
    parser.set_defaults(run=run, usage_error=parser.error)


def add_features(group):
    """Add the two options that choose features."""
    either = group.add_mutually_exclusive_group()
    either.add_argument(
        "--features", choices=["auto", *PRESETS], default="auto",
        help="a preset of feature templates (default: auto, by the look of the tokens)",
    )  # fmt: skip
    either.add_argument("--template", metavar="FILE", help="a template file in the syntax of CRF++")


def _lexicon(text):
    name, equals, path = text.partition("=")
    if not equals or not path or not name.isidentifier():
        raise ValueError  # argparse makes the message
    return name, path


_lexicon.__name__ = "NAME=FILE"  # what argparse calls it in messages


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
            lexicons[name] = [line.strip() for line in source if line.strip()]
    if arguments.template is not None:
        templates = FeatureTemplates.from_file(arguments.template, lexicons)
        return templates if named else list(templates.lines)  # no path goes into the model
    if arguments.features == "auto":
        arguments.usage_error("--lexicon needs --features with a preset, or --template")
    lines = list(PRESETS[arguments.features])
    lines[-1:-1] = [f"Ulex_{name}{o:+d}:%lex_{name}[{o},0]" for name in lexicons for o in (-1, 0, 1)]
    return FeatureTemplates(lines, lexicons)


def _setting(text):
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise ValueError  # argparse makes the message
    with contextlib.suppress(ValueError, SyntaxError, MemoryError, RecursionError):
        value = ast.literal_eval(value)
    return name, value


_setting.__name__ = "NAME=VALUE"  # what argparse calls it in messages


def _check_ways(arguments, learner):
    """Refuse ways of training that exclude each other, or that a learner does not know."""
    several = [
        name
        for name, given in (
            ("--members", arguments.members > 1),
            ("--shards", _on_shards(arguments)),
            ("--stream", arguments.stream is not None),
        )
        if given
    ]
    if len(several) > 1:
        arguments.usage_error(f"{several[0]} and {several[1]} cannot both be given")
    if arguments.calibrate and arguments.stream is not None:
        arguments.usage_error("--calibrate and --stream cannot both be given: it needs the whole corpus")
    if several == ["--shards"] and hasattr(learner, "fit_shards"):
        if arguments.calibrate:
            arguments.usage_error(f"--calibrate and --shards cannot both be given with {learner.__name__}")
    elif several and several[0] != "--members" and not hasattr(learner, "partial_fit"):
        arguments.usage_error(f"{several[0]}: {learner.__name__} does not learn example by example")


def _on_shards(arguments):
    return arguments.shards > 1 or arguments.cluster is not None


def new_model(arguments, segmented):
    """The unfitted estimator that the options describe; wrong ones end the command with code 2."""
    learner = ALGORITHMS[arguments.algorithm]
    given = {"random_state": arguments.seed}
    if arguments.epochs is not None:
        given["max_iter"] = arguments.epochs
    if arguments.verbose:
        given["verbose"] = 1
    features = features_of(arguments)
    if isinstance(features, str) and features == "auto" and segmented:
        features = "char"
    given["features"] = features
    outer = {}
    for name, value in arguments.param:
        if name in given and (name != "random_state" or arguments.seed) and name != "features":
            arguments.usage_error(f"--param {name} and an option of its own are given")
        if name == "features" and not (isinstance(features, str) and arguments.features == "auto"):
            arguments.usage_error("--param features and an option that chooses features are given")
        if segmented and name == "scheme":
            outer[name] = value
        elif name in learner._get_param_names():
            given[name] = value
        else:
            known = [*learner._get_param_names(), *(["scheme"] if segmented else [])]
            arguments.usage_error(
                f"{learner.__name__} has no parameter {name!r}; it has {', '.join(sorted(known))}"
            )
    tagger = learner(**given)
    learned = tagger
    _check_ways(arguments, learner)
    if _on_shards(arguments) and not hasattr(learner, "fit_shards"):
        checkpoint = tagger.checkpoint  # of all shards together
        learned = ParameterMixer(
            tagger.set_params(checkpoint=None), arguments.shards, n_jobs=-1, client=arguments.cluster,
            checkpoint=checkpoint, random_state=arguments.seed,
        )  # fmt: skip
    if arguments.members > 1:
        learned = BaggingShuffleAverager(
            tagger, n_estimators=arguments.members, n_jobs=-1, random_state=arguments.seed
        )
    if arguments.calibrate:
        learned = CalibratedTagger(learned, random_state=arguments.seed)
    model = Segmenter(learned, **outer) if segmented else learned
    try:
        tagger._validate_params()
        model._validate_params()
    except InvalidParameterError as error:
        arguments.usage_error(str(error))
    return model


def run(arguments):
    """Run the command.

    Returns
    -------
    int
        The exit code, 0.
    """
    if arguments.file == arguments.dev == "-":
        arguments.usage_error("FILE and --dev cannot both be standard input")
    check_target(arguments.model)
    streamed = arguments.stream is not None
    if streamed and arguments.file == "-" and (arguments.epochs or 1) > 1:
        arguments.usage_error("--stream with several --epochs reads FILE again: it cannot be standard input")
    source = Source(arguments.file, arguments.encoding)
    with contextlib.nullcontext() if streamed else source:
        name = source.name
        layout = layout_of(arguments, source)
        model = new_model(arguments, layout.format == "segmented")
        if not streamed:
            X, y, numbers = read_all(source, layout)
    dev, arguments.format = None, layout.format
    if arguments.dev is not None:  # read now: a mistake in it should not cost a training
        with Source(arguments.dev, arguments.encoding) as held_out:
            dev = held_out.name, *read_all(held_out, layout_of(arguments, held_out))
    unit = "word" if layout.format == "segmented" else "token"
    began = time.perf_counter()
    try:
        with contextlib.redirect_stdout(sys.stderr):  # epochs are no results
            if streamed:
                _stream(arguments, model, layout, unit, source)
            else:
                tell(f"read {counted(len(X), 'sentence')}, {counted(sum(map(len, y)), unit)}")
                _learn(_fit_of(arguments, model), X, y, name, numbers)
    except KeyboardInterrupt:
        _keep(model, arguments.model + PARTIAL)
        raise
    seconds = time.perf_counter() - began
    _forget(model)
    model.save(arguments.model, training=not arguments.compact)
    n_labels = len(getattr(model, "tagger_", model).classes_)
    tell(
        f"trained {type(model).__name__} in {seconds:.1f} s, {counted(n_labels, 'label')}; "
        f"wrote {arguments.model}"
    )
    if dev is not None:
        name, X, y, numbers = dev
        print(as_text(scores_of(model, X, y, name, numbers)))
    return 0


def _fit_of(arguments, model):
    """How the model learns from the whole corpus."""
    if not _on_shards(arguments) or not hasattr(ALGORITHMS[arguments.algorithm], "fit_shards"):
        return model.fit

    def train(tagger):
        return lambda X, y: tagger.fit_shards(dealt(X, y, None, arguments.shards), client=arguments.cluster)

    return partial(model._fit_by, train) if isinstance(model, Segmenter) else train(model)


def _learn(method, X, y, name, numbers):
    try:
        method(X, y)
    except ValueError as error:
        raise located(error, name, numbers) from error


def _stream(arguments, model, layout, unit, source):
    """Learn a file piece by piece; no more than a piece of it is in memory."""
    for epoch in range(arguments.epochs or 1):
        n_sentences = n_units = 0
        with source if epoch == 0 else Source(arguments.file, arguments.encoding, quiet=True) as part:
            for X, y, numbers in batches(part, layout, arguments.stream):
                _learn(model.partial_fit, X, y, part.name, numbers)
                n_sentences += len(X)
                n_units += sum(map(len, y))
        tell(f"epoch {epoch + 1}: {counted(n_sentences, 'sentence')}, {counted(n_units, unit)}")


def _forget(model):
    """Reset what concerned this training only: a line for each epoch, a folder of this machine."""
    for name in ("tagger", "tagger_", "estimator", "estimator_"):
        if getattr(model, name, None) is not None:
            _forget(getattr(model, name))
    given = model.get_params(deep=False)
    model.set_params(**{k: v for k, v in (("verbose", 0), ("checkpoint", None)) if k in given})


def _keep(model, path):
    """Save what an interrupted training has learned, if anything, beside the file asked for."""
    try:
        check_is_fitted(model)
        _forget(model)
        model.save(path)
    except NotFittedError:  # the first epoch was not complete, or the members were not
        tell("no model was kept; --param checkpoint=FOLDER keeps epochs, which the same command goes on from")
        return
    except OSError as error:
        tell(f"no model was kept: {path}: {error.strerror}")
        return
    n = getattr(model, "tagger_", model).n_iter_
    tell(f"the model after {counted(n, 'epoch')} is in {path}")
