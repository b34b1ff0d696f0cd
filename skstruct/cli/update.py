"""``train --update MODEL``: a model goes on learning, and what it forgets is printed.

The model learns by ``partial_fit``, and its file stays as it is. Files are read as
those were that it has learned from.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from copy import copy, deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np

from .._data.card import new_card
from .._data.inputs import LABELS, SPANS, flatten
from .._data.places import counted
from .._data.scheme_rules import are_chunks
from .._saving.origin import digest_of, origin_of
from .._sklearn import innermost, outermost_value
from .._taggers.abilities import reason, span_labels
from ..datasets.formats.source import Source
from .cards import counts_of, options_of, sources_of, warn_if_learned
from .common import CommandError, check_inputs, load_model, tell
from .corpus import check_annotated, layout_of, read_files, with_types
from .evaluate import look_of
from .held_out import documents_of, folds_of, part_of, tell_unnamed
from .learnable import check_learned
from .learning import learn, reset_session_parameters, save_partial, to_learn, write
from .located import locating
from .merging import warn_of_shared
from .model_inputs import inputs_of
from .model_layout import (
    format_for,
    learned_layout,
    read_for,
    settle_encoding,
    with_layout,
)
from .odd_labels import broken_in, odd_labels, tell_broken
from .repair import repairer
from .targets import printed_beside

if TYPE_CHECKING:
    from .._data.card import Card
    from .._data.inputs import Inputs
    from ..inspection import Forgetting
    from .common import Arguments
    from .corpus import Corpus, Layout

_OF_NEW_MODELS = (
    "features template lexicon text clusters algorithm param members calibrate recall "
    "search shards cluster stream"
).split()
"""Options of ``train`` that say what a new model is like."""


def run(arguments: Arguments) -> None:
    """Let a model go on learning, write it, and print what it has gained and lost."""
    _check_usage(arguments)
    check_inputs([arguments.update])
    check_inputs([*arguments.files, arguments.dev], folders=True)
    sources = sources_of(arguments)
    model = load_model(arguments.update, encoding=arguments.encoding)
    inputs = inputs_of(model, arguments.update, format_for(arguments, model))
    _check_model(arguments, model, inputs)
    corpus, layout, dev = _corpora(arguments, model, inputs)
    if arguments.dry_run:
        return
    before = _labels_of(model)
    old = origin_of(model).card  # a model that learns more has none
    began = time.perf_counter()
    with contextlib.redirect_stdout(sys.stderr):
        tables = _learn(arguments, model, corpus, dev)
    check_learned(arguments, model)
    seconds = time.perf_counter() - began
    reset_session_parameters(model)
    card = _card(arguments, old, sources, counts_of(corpus, model), corpus.kind.units)
    write(arguments, model, card, learned_layout(layout, corpus, model))
    new = [label for label in _labels_of(model) if label not in before]
    labels = f": {', '.join(new)}" if new else ""
    tell(
        f"{type(model).__name__} went on for {seconds:.1f} s, with "
        f"{counted(len(new), 'new label')}{labels}; wrote {arguments.model}"
    )
    if not tables:
        tell(
            "to see what the model forgets of old labels, pass --dev FILE with old and "
            "new ones, or --holdout .2"
        )
    with printed_beside(arguments.model):
        for where, table in tables:
            print(f"before and after, on {where}:\n{table}")


def _check_usage(arguments: Arguments) -> None:
    """Refuse options that say what a new model is like."""
    for name in _OF_NEW_MODELS:
        if getattr(arguments, name) != arguments.default_of(name):
            arguments.usage_error(
                f"--{name} is for a new model; --update goes on with that in "
                f"{arguments.update} as it is"
            )
    if arguments.cv is not None:
        arguments.usage_error("--cv is for a new model; with --update, --holdout SHARE")


def _check_model(arguments: Arguments, model: Any, inputs: Inputs) -> None:
    """Refuse a model that cannot go on, or whose labels no file can hold."""
    path = arguments.update
    if not hasattr(model, "partial_fit"):
        raise CommandError(
            f"{path}: {reason(model, 'partial_fit')}; models of train -a perceptron, "
            "and of train without -a, go on"
        )
    labels = outermost_value(model, "classes_")
    given = [] if labels is None else np.asarray(labels).tolist()
    odd = [label for label in given if not isinstance(label, str)]
    if odd and inputs.task == LABELS:
        raise CommandError(
            f"{path}: its labels are no text, such as {odd[0]!r}, and those of files "
            "are; let it go on in Python, with partial_fit"
        )


def _corpora(
    arguments: Arguments, model: Any, inputs: Inputs
) -> tuple[Corpus, Layout, Corpus | None]:
    """Read the corpus to learn, with its layout, and that of ``--dev``."""
    known = settle_encoding(arguments, model)
    check_annotated(arguments)
    path = arguments.files[0]
    with Source(path, arguments.encoding) as source:
        settled = with_layout(arguments, source, known)
        layout = layout_of(settled, source, inputs)
        layout = with_types(arguments, layout, path)
        corpus = read_files(arguments, source, layout, inputs)
    learned = None if known is None else known.scheme
    repair = repairer(arguments, model, layout.kind, learned)
    corpus = to_learn(arguments, corpus, repair, inputs.task)
    _check_scheme(corpus, learned)
    if arguments.dev is None:
        return corpus, layout, None
    of_dev = copy(arguments)
    of_dev.document = None  # nothing of it is held out
    dev = repair(read_for(arguments.dev, of_dev, model, inputs))
    warn_if_learned(model, arguments.dev, dev.name)
    warn_of_shared(corpus, dev)
    return corpus, layout, dev


def _check_scheme(corpus: Corpus, scheme: str | None) -> None:
    """Refuse labels of another scheme than those which a model has learned: one label
    would mean two things. Say where few sentences break that of the model.
    """
    if scheme is None or corpus.layout is None:
        return
    odd = {each.label for each in odd_labels(corpus.y)}  # of no scheme, as warned of
    y = [[None if label in odd else label for label in labels] for labels in corpus.y]
    if not are_chunks(flatten(y)):
        return
    found = corpus.layout.scheme
    broken = broken_in(y, scheme)
    if broken.first and (found or broken.has_foreign or not broken.are_few):
        labels = f"the labels are {found}" if found else f"the labels break {scheme}"
        wrong = f"correct {', '.join(map(str, odd))}, and then " if odd else ""
        raise CommandError(
            f"{corpus.name}: {labels}, but the model has learned {scheme}; {wrong}"
            "--repair converts them"
        )
    tell_broken(corpus, scheme)


def _learn(
    arguments: Arguments, model: Any, corpus: Corpus, dev: Corpus | None
) -> list[tuple[str, Forgetting]]:
    """Learn, and compare predictions before and after where something is held out.

    Returns
    -------
    list of (str, Forgetting)
        What was held out, and the scores on it.
    """
    # Here: who trains needs no inspection.
    from ..inspection.forgetting import changes, known_labels

    known = known_labels(model)
    task = innermost(model).estimator.inputs.task
    scheme = look_of(model)
    found = []
    if arguments.holdout is not None:
        out, how = _held_out(arguments, corpus)
        held = part_of(corpus, out)
        other = deepcopy(model)
        _go_on(arguments, other, part_of(corpus, ~out))
        both = _predicted(model, held), _predicted(other, held)
        found.append((how, changes(task, held.X, held.y, both, known, scheme)))
    before = None if dev is None else _predicted(model, dev)
    _go_on(arguments, model, corpus, keeps=True)
    if dev is not None:
        both = before, _predicted(model, dev)
        found.append((dev.name, changes(task, dev.X, dev.y, both, known, scheme)))
    return found


def _held_out(arguments: Arguments, corpus: Corpus) -> tuple[np.ndarray, str]:
    """Return which sequences are held out, an array of bool, and what they are."""
    documents, is_known = documents_of(corpus)
    unit = "document" if is_known else corpus.kind.sequence
    tell_unnamed(corpus, is_known)
    try:
        (out,) = folds_of(documents, arguments.holdout, None, arguments.seed, unit)
    except CommandError as error:
        raise CommandError(f"{corpus.name}: {error}") from None
    n = len(np.unique(documents[out]))
    return out, f"{counted(n, unit)} held out"


def _go_on(
    arguments: Arguments, model: Any, corpus: Corpus, keeps: bool = False
) -> None:
    """Learn a corpus in as many passes as ``--epochs`` says, or in one.

    ``keeps`` writes what whole passes have learned if Ctrl-C ends one.
    """
    n = arguments.epochs or 1
    for k in range(n):
        try:
            learn(model.partial_fit, corpus)
        except KeyboardInterrupt:
            if keeps and k > 0:
                save_partial(model, arguments, f"{k} of {n} passes")
            raise
        if arguments.verbose:
            tell(f"pass {k + 1} of {n}")


def _predicted(model: Any, corpus: Corpus) -> Any:
    with locating(corpus.name, corpus.places):
        return model.predict(corpus.X)


def _labels_of(model: Any) -> list[str]:
    """Return the labels that a model knows; of texts the types of spans."""
    inner = innermost(model).estimator
    if getattr(inner, "explained_as", None) == SPANS:
        return span_labels(inner)
    labels = outermost_value(model, "classes_")
    return [] if labels is None else list(map(str, labels))


def _card(
    arguments: Arguments,
    old: Card | None,
    sources: list[dict[str, Any]],
    counts: dict[str, int],
    units: tuple[str, ...],
) -> Card:
    """Return the card of the model: what its parent had learned from counts, too.

    Parameters
    ----------
    arguments : Arguments
    old : Card or None
        Of the parent, if it has one.
    sources : list of dict
        The files that were read now.
    counts : dict of str to int
        What there was in them.
    units : tuple of str
        What is added up, as "sentence" and "token".
    """
    name = os.path.basename(arguments.update)
    parent = {"name": name, "sha256": digest_of(arguments.update)}
    if old is not None:
        parent["date"] = old.date
        more = {f"{unit}s": old.counts.get(f"{unit}s", 0) for unit in units}
        counts = {key: n + more.get(key, 0) for key, n in counts.items()}
        sources = [*old.data, *sources]
    return new_card(
        data=sources, counts=counts, options=options_of(arguments), parent=parent
    )
