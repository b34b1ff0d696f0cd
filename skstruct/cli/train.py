"""``skstruct train``: learn from a corpus file.

Train a tagger or a parser on columns or CoNLL-U, a segmenter on segmented text, or a
tagger of spans on annotated texts, and write the model to one file.

The options are an estimator's constructor; everything that can be wrong with them is
said before the corpus is read, and everything about the target before the training
begins.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import shlex
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._data.inputs import LABELS, SPANS, TREES
from .._data.places import counted
from .._sklearn import innermost, layers, outermost_value
from .._taggers.abilities import span_labels
from .._taggers.default_tagger import OF_CHARACTERS
from .._training.parameters import parameters_named
from ..datasets.formats.entry import TokenFormat
from ..datasets.formats.source import Source
from ..features.presets import preset_of
from ..features.word_vectors import WordVectors
from . import evaluate, held_out, update
from .cards import card_for, counts_of, sources_of
from .common import (
    check_inputs,
    checked_type,
    positive,
    share,
    tell,
)
from .corpus import (
    batches,
    first_file,
    layout_of,
    read_all,
    read_files,
    with_source_layout,
)
from .documents import split_by_document
from .first_record import tell_understood
from .learnable import check_learned, tell_moved
from .learners import add_features, add_learner, features_of, fit_of, new_model, task_of
from .learning import (
    amount_of,
    learn,
    reset_session_parameters,
    save_partial,
    to_learn,
    write,
)
from .located import locating
from .merging import PREFERENCES, warn_of_shared
from .model_layout import learned_layout, with_layout
from .odd_labels import tell_broken
from .options import add_corpus, add_options, lexicon, repeated
from .repair import repairer
from .targets import add_output, printed_beside, takes_standard

if TYPE_CHECKING:
    from .._data.source_layout import SourceLayout
    from .common import Arguments, Model
    from .corpus import Corpus, Layout


RAW_TEXT_GAIN = (
    "with 200 annotated sentences 265,000 words of raw text brought up to 0.4 points "
    "of F1, 2.8 million 3"
)
"""The gain from clusters of raw text: Spanish in the study of `benchmarks.defaults`,
English news in figures that docs/recipes.md quotes.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    what = (
        "replace OUT if it exists; train even if there is nothing to learn,"
        " such as a single label"
    )
    add_output(
        parser,
        "--model",
        "-m",
        help="file to write the model to",
        takes_standard=False,
        force=what,
    )
    what = "print how the files are read, without training"
    parser.add_argument("--dry-run", action="store_true", help=what)
    what = (
        "a held-out corpus: print the model's scores on it; with -p "
        "early_stopping=True, keep the best epoch"
    )
    takes_standard(parser.add_argument("--dev", metavar="FILE", help=what))
    what = (
        "let this model go on learning, in place of a new one; --dev and --holdout print "
        "the scores of old and of new labels before and after"
    )
    parser.add_argument("--update", metavar="MODEL", help=what)
    add_corpus(parser)
    add_options(parser)
    group = parser.add_argument_group("learning")
    add = group.add_argument
    add_features(group)
    what = (
        "a word list, one entry a line, which templates read as "
        "%%lex_NAME[0,0]; presets get three such features"
    )
    takes_standard(add("--lexicon", **repeated("NAME=FILE", lexicon), help=what))
    what = "raw text from which to learn word clusters for a tagger"
    takes_standard(add("--text", metavar="FILE", help=what))
    add(
        "--clusters",
        type=positive,
        metavar="N",
        help="number of word clusters from --text (default: 500)",
    )
    add_learner(group, default=None)
    _add_wrappers(add)
    what = (
        "convert labels of another scheme, or of none, to the scheme of "
        "--param constraints=SCHEME"
    )
    add("--repair", action="store_true", help=what)
    what = (
        "use the last of several texts that are equal but for spans or "
        "labels; a record with the id and text of one in an earlier file "
        "always replaces it"
    )
    add("--prefer", choices=PREFERENCES, help=what)
    what = (
        "print a line for each epoch, and a progress bar for --text if rich"
        " is installed"
    )
    add("--verbose", "-v", action="store_true", help=what)
    what = (
        "also write training state and zero weights, so that partial_fit "
        "can continue; the file is about one and a half times as large"
    )
    add("--keep-training", action="store_true", help=what)
    _add_held_out(parser.add_argument_group("evaluation"))


def _add_held_out(group: Any) -> None:
    """Add the options that score models which have not seen a part of the corpus."""
    either = group.add_mutually_exclusive_group()
    part = checked_type(float, lambda x: 0.0 < x < 1.0, "between 0 and 1")
    what = (
        "also train without this share of the documents, such as .2, and "
        "print that model's scores on them; the saved model learns from all"
    )
    either.add_argument("--holdout", type=part, metavar="SHARE", help=what)
    several = checked_type(int, lambda n: n >= 2, "an int of at least 2")
    what = "print scores of N-fold cross-validation; the saved model learns from all"
    either.add_argument("--cv", type=several, metavar="N", help=what)


def _add_wrappers(add: Callable[..., Any]) -> None:
    """Add the options that put something around the learner, or let it learn the corpus
    in parts.
    """
    what = (
        "average the weights of N learners that see the corpus in different"
        " orders (default: by the size of the corpus; 1 with --algorithm or"
        " --shards)"
    )
    add("--members", type=positive, metavar="N", help=what)
    what = (
        "calibrate probabilities, for tag --proba; takes the time of five "
        "more trainings"
    )
    add("--calibrate", action="store_true", help=what)
    what = (
        "calibrate sets of spans that contain this share of a text's spans "
        "on average, for tag --sets"
    )
    add("--recall", type=share, metavar="R", help=what)
    what = (
        "choose c1 and c2 of l1crf by cross-validation; set the candidates "
        "with -p c1s=(.1,1) and c2s, and cv and scoring likewise"
    )
    add("--search", action="store_true", help=what)
    what = (
        "train on N shards of the sentences in parallel; with l1crf the "
        "optimum is the same"
    )
    add("--shards", type=positive, default=1, metavar="N", help=what)
    add(
        "--cluster",
        metavar="ADDRESS",
        help="address of a Dask scheduler whose workers train the shards",
    )
    what = (
        "learn N sentences at a time, in the order of the file, which may be larger "
        "than memory; once"
    )
    add(
        "--stream", type=positive, metavar="N", help=what + " unless --epochs is larger"
    )


def run(arguments: Arguments) -> int | None:
    """Train by the arguments, write the model, and print how good it is."""
    _check_usage(arguments)
    if arguments.update is not None:
        update.run(arguments)
        return None
    _check_files(arguments)
    task = task_of(arguments)
    sources = sources_of(arguments)
    with first_file(arguments, task) as (source, layout):
        model: Model = new_model(arguments, features_of(arguments), layout.kind)
        clusters_parameter = _clusters_parameter(arguments, model)
        repair = repairer(arguments, model, layout.kind)
        corpus, dev = _corpora(arguments, source, layout, repair, task)
        if arguments.dry_run:
            _tell_untrained(arguments, source, layout, model, corpus)
            return None
        if clusters_parameter is not None:
            _learn_clusters(arguments, model, clusters_parameter)
        unseen = None
        with contextlib.redirect_stdout(sys.stderr):  # epochs are no results
            if corpus is not None:
                unseen = _score_held_out(arguments, model, corpus, dev)
            began = time.perf_counter()
            if corpus is None:
                counts = _stream(arguments, model, layout, source, repair)
            else:
                _learn_whole(arguments, model, corpus, dev)
                counts = counts_of(corpus, model)
    check_learned(arguments, model)
    seconds = time.perf_counter() - began
    reset_session_parameters(model)
    write(
        arguments,
        model,
        card=card_for(arguments, sources, counts, unseen and unseen.to_dict()),
        source_layout=learned_layout(layout, corpus, model),
    )
    _tell_chosen(arguments, model)
    _tell_trained(arguments, model, seconds)
    with printed_beside(arguments.model):
        if unseen is not None and corpus is not None:
            print(held_out.as_text(unseen, corpus))
        if dev is not None:
            print(evaluate.as_text(evaluate.model_scores(model, dev)))
    return None


def _check_files(arguments: Arguments) -> None:
    """Raise for files that cannot be read: before any is."""
    lexicons = (path for _, path in arguments.lexicon)
    beside = [arguments.dev, arguments.template, *lexicons]
    check_inputs([*arguments.files, *beside], folders=True)


def _tell_untrained(
    arguments: Arguments,
    source: Source,
    layout: Layout,
    model: Any,
    corpus: Corpus | None,
) -> None:
    """Say what ``--dry-run`` still has to: of a stream how it is read, of spans what
    training would do to them.
    """
    if corpus is None:
        _tell_begun(next(batches(source, layout, arguments.stream)), layout)
    elif layout.kind.has_spans:
        tell_moved(model, corpus)


def _corpora(
    arguments: Arguments,
    source: Source,
    layout: Layout,
    repair: Callable[[Corpus], Corpus],
    task: str,
) -> tuple[Corpus | None, Corpus | None]:
    """Read the corpus to learn (None of a stream, which is read in parts) and that of
    ``--dev`` (None without the option), and tell what is odd about them.
    """
    corpus = None
    if arguments.stream is None:
        corpus = read_files(arguments, source, layout)
        corpus = to_learn(arguments, corpus, repair, task)
        if task == LABELS:
            tell_broken(corpus)
        _tell_raw_text(arguments, corpus)
    if arguments.dev is None:
        return corpus, None
    # Read now: a mistake in it should not cost a training.
    known = layout.how if corpus is None else corpus.layout
    dev = repair(_dev_corpus(arguments, layout, known, task))
    if corpus is not None:
        warn_of_shared(corpus, dev)
    return corpus, dev


def _dev_corpus(
    arguments: Arguments, layout: Layout, known: SourceLayout | None, task: str
) -> Corpus:
    """Read the file of ``--dev`` as the corpus is read, whose layout is ``known``;
    annotated texts may be in another format.
    """
    of_dev = copy.copy(arguments)
    of_dev.document = None  # nothing of it is held out
    entry = layout.entry
    if not isinstance(entry, TokenFormat):
        of_dev.format = layout.family if layout.kind.has_spans else layout.how.format
    elif entry.names_fields:
        of_dev.label = layout.label
    if task == TREES:
        of_dev.label = arguments.label
    with Source(arguments.dev, arguments.encoding) as source:
        if isinstance(entry, TokenFormat):
            of_dev = with_layout(of_dev, source, known)
        return read_all(source, layout_of(of_dev, source, task=task))


def _tell_raw_text(arguments: Arguments, corpus: Corpus) -> None:
    """Say what texts without annotations are good for."""
    if corpus.n_unannotated and arguments.text is None:
        tell(
            f"{corpus.name}: {counted(corpus.n_unannotated, 'record')} without "
            "annotations; to learn from their words, write one text per line and pass "
            "--text FILE;"
            f" {RAW_TEXT_GAIN}"
        )


def _tell_trained(arguments: Arguments, model: Any, seconds: float) -> None:
    """Say what was trained, how long it took, and where it is."""
    classes = outermost_value(model, "classes_")
    inner = innermost(model).estimator
    if getattr(inner, "explained_as", None) == SPANS:
        classes = span_labels(
            inner
        )  # classes_ are labels of tokens, as B-PER and I-PER
    labels = "" if classes is None else f", {counted(len(classes), 'label')}"
    tell(
        f"trained {type(model).__name__} in {seconds:.1f} s{labels}; wrote "
        f"{arguments.model}"
    )


def _score_held_out(
    arguments: Arguments, model: Any, corpus: Corpus, dev: Corpus | None
) -> held_out.HeldOutScores | None:
    """Score models that do not see a part of the corpus, if ``--holdout`` or ``--cv``
    asks for it; None without.
    """
    if arguments.holdout is None and arguments.cv is None:
        return None
    return held_out.hold_out(
        arguments,
        model,
        corpus,
        lambda other, part: _learn_documents(arguments, other, part, dev),
    )


def _check_usage(arguments: Arguments) -> None:
    """Refuse files that cannot be read together."""
    files = arguments.files
    stream = arguments.stream
    again = stream and (arguments.epochs or 1) > 1
    for wrong, message in (
        (
            arguments.model is None and not arguments.dry_run,
            "--model OUT is needed, the file to write the model to, as in "
            f"{shlex.join(['skstruct', 'train', *files])} --model my-model; or "
            "--dry-run, to see how the "
            "files are read",
        ),
        (stream and len(files) > 1, "--stream reads one FILE"),
        (
            again and files[0] == "-",
            "--stream with several --epochs cannot read standard input again",
        ),
        (
            arguments.clusters and arguments.text is None,
            "--clusters needs --text FILE, whose words it groups",
        ),
        (
            stream and arguments.prefer,
            "--prefer needs all texts, and --stream does not keep them",
        ),
        (
            stream and (arguments.holdout or arguments.cv),
            "--stream holds nothing out; pass --dev FILE to score on another file",
        ),
        (
            stream and arguments.document,
            "--document keeps documents whole where some are held out, and --stream "
            "holds nothing out",
        ),
    ):
        if wrong:
            arguments.usage_error(message)


def _clusters_parameter(arguments: Arguments, model: Any) -> str | None:
    """Return the name of the model's parameter that takes the clusters of ``--text``,
    as ``words`` or ``tagger__words``; None without the option.
    """
    if arguments.text is None:
        return None
    names = parameters_named(model, "words")
    if not names:
        arguments.usage_error(
            f"--text is for taggers; a {type(model).__name__} reads no templates"
        )
    check_inputs([arguments.text])
    return min(names, key=len)  # the outermost estimator gives it to those inside


def _learn_clusters(arguments: Arguments, model: Any, parameter: str) -> None:
    """Learn clusters of the words of ``--text``, and give them to a parameter of the
    model.
    """
    words = WordVectors(
        n_clusters=arguments.clusters or 500, random_state=arguments.seed
    )
    with (
        locating(arguments.text),
        Source(arguments.text, arguments.encoding) as source,
    ):
        lines = source.with_progress() if arguments.verbose else source.unkept()
        table = words.fit_text(lines).table()
    tell(f"{arguments.text}: {table!r}")
    model.set_params(**{parameter: table})


def _learn_whole(
    arguments: Arguments, model: Any, corpus: Corpus, dev: Corpus | None
) -> None:
    """Learn a corpus that is in memory."""
    try:
        _learn_documents(arguments, model, corpus, dev)
    except KeyboardInterrupt:
        save_partial(model, arguments)
        raise


def _learn_documents(
    arguments: Arguments, model: Any, corpus: Corpus, dev: Corpus | None
) -> None:
    """Learn a corpus; no split within the model cuts a document."""
    has_dev = dev is not None
    with split_by_document(model, corpus, arguments.seed, has_dev) as shown:
        judge = dev if has_dev else shown.held_out
        learn(fit_of(arguments, model), shown.corpus, judge, **shown.metadata)


def _tell_chosen(arguments: Arguments, model: Any) -> None:
    """Say which templates ``features="auto"`` and which penalties a search chose."""
    *_, tagger = layers(model)
    # The templates that the model reads; one of other features has none.
    lines = getattr(getattr(tagger, "_model", None), "lines", None)
    given = arguments.features != "auto" or arguments.template is not None
    chosen = not given and tagger.get_params(deep=False).get("features") in (
        "auto",
        "char",
        OF_CHARACTERS,
    )
    if chosen and lines is not None and preset_of(lines) is not None:
        tell(
            f"using the feature preset {preset_of(lines)} (detected); "
            "to choose another, pass --features NAME"
        )
    for layer in layers(model):
        if hasattr(layer, "c1_"):
            score = (
                f"mean score {layer.best_score_:.4f} in "
                f"{counted(layer.n_splits_, 'fold')}"
            )
            tell(f"chosen: c1={layer.c1_:g}, c2={layer.c2_:g}; {score}")


def _stream(
    arguments: Arguments,
    model: Any,
    layout: Layout,
    source: Source,
    repair: Callable[[Corpus], Corpus],
) -> dict[str, int]:
    """Learn a file piece by piece; no more than a piece of it is in memory.

    What was learned before an error is kept: it may stand behind hours of reading.

    Returns
    -------
    dict
        How many sequences there are, and how many elements they have, by what they are
        called, as "sentences" and "tokens".
    """
    epoch = 0
    amount = [0, 0]
    try:
        for epoch in range(1, (arguments.epochs or 1) + 1):
            amount = [0, 0]  # sequences, and their elements
            if epoch > 1:  # it was read to its end, and its warnings were given
                source = Source(arguments.files[0], arguments.encoding, quiet=True)
            with source:
                for corpus in batches(source, layout, arguments.stream):
                    if epoch == 1 and not amount[0]:
                        _tell_begun(corpus, layout)
                    learn(model.partial_fit, repair(corpus))
                    amount = [a + b for a, b in zip(amount, corpus.amounts)]
            tell(f"epoch {epoch}: {amount_of(layout.kind, *amount)}")
    except BaseException as error:
        if epoch > 1 or amount[0] or isinstance(error, KeyboardInterrupt):
            learned = f"{amount_of(layout.kind, *amount)} of epoch {epoch}"
            save_partial(model, arguments, learned)
        raise
    return dict(zip((f"{unit}s" for unit in layout.kind.units), amount))


def _tell_begun(corpus: Corpus, layout: Layout) -> None:
    """Say of a stream how it is read, by its first piece."""
    begun = with_source_layout(corpus, layout)
    amount = amount_of(layout.kind, *corpus.amounts)
    tell_understood(begun, f"at first {amount}")
