"""The common steps of training commands: look at a corpus, learn, and write.

``train`` makes a new model so, and ``train --update`` lets one go on learning.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from .._data.places import counted
from .._sklearn import layers, outermost_value
from .._taggers.constraints import BrokenConstraint
from .._training.held_out import NAMES as HELD_OUT_ARGUMENTS
from .common import CommandError, tell
from .first_record import tell_understood
from .input_files import tell_empty, tell_labels
from .learnable import check_learnable
from .located import located
from .merging import merged

if TYPE_CHECKING:
    from .._data.card import Card
    from .._data.source_layout import SourceLayout
    from ..datasets.kinds import Kind
    from .common import Arguments, Model
    from .corpus import Corpus

PARTIAL = ".partial"
"""Ending of the model that an interrupted training leaves, after the name asked for."""


def to_learn(
    arguments: Arguments,
    corpus: Corpus,
    repair: Callable[[Corpus], Corpus],
    task: str,
) -> Corpus:
    """Return a corpus as it is learned; say how it was read, and what is odd about it.

    Raises
    ------
    CommandError
        If there is nothing to learn.
    """
    tell_understood(corpus, amount_of(corpus.kind, *corpus.amounts))
    corpus = repair(merged(corpus, arguments.prefer))
    check_learnable(arguments, corpus, task)
    tell_empty(corpus)
    tell_labels(corpus)
    return corpus


def amount_of(kind: Kind, *numbers: int) -> str:
    """Write how many sequences and elements there are, as ``40 sentences, 900 tokens``."""
    return ", ".join(map(counted, numbers, kind.units))


def learn(
    method: Callable[..., Any],
    corpus: Corpus,
    dev: Corpus | None = None,
    **metadata: Any,
) -> None:
    """Call ``fit`` or ``partial_fit``, whose errors become those of files and lines.

    Parameters
    ----------
    method : callable
        The method, or what `fit_of` returns.
    corpus : Corpus
    dev : Corpus, optional
        The held-out corpus.
    **metadata
        Further arguments of the method.
    """
    given = dict(metadata)
    if dev is not None:
        given |= {"X_val": dev.X, "y_val": dev.y}
    if corpus.weights is not None:
        given["sample_weight"] = corpus.weights
    try:
        method(corpus.X, corpus.y, **given)
    except ValueError as error:
        wrong = corpus
        if dev is not None and _is_about_held_out(error):
            wrong = dev
        found = located(error, wrong.name, wrong.places)
        if isinstance(error, BrokenConstraint) and (error.remedy or wrong is dev):
            found = CommandError(
                f"{str(found).removesuffix(error.remedy)}; --repair rewrites the labels"
            )
        raise found from error


def _is_about_held_out(error: ValueError) -> bool:
    """Tell whether an error of ``fit`` is about ``X_val`` or ``y_val``: a `PlaceError`
    has the argument's name, others begin with it.
    """
    name = getattr(error, "name", None) or str(error)
    return name.startswith(HELD_OUT_ARGUMENTS)


def reset_session_parameters(model: Any) -> None:
    """Reset the parameters that concern one training only: ``verbose``, and the folder
    of ``checkpoint``.
    """
    of_training = {"verbose": 0, "checkpoint": None}
    for layer in layers(model):
        names = {name: name.rpartition("__")[2] for name in layer.get_params()}
        layer.set_params(
            **{
                name: of_training[last]
                for name, last in names.items()
                if last in of_training
            }
        )


def write(
    arguments: Arguments, model: Model, card: Card, source_layout: SourceLayout
) -> None:
    """Write a model: small, with the same weights to the last bit, unless its training
    is kept.
    """
    keep = arguments.keep_training
    written = model if keep else model.compress(dtype="float64")
    written.save(arguments.model, training=keep, card=card, source_layout=source_layout)


def save_partial(model: Any, arguments: Arguments, learned: str | None = None) -> None:
    """Save what a training has learned before it was cut short, if anything, beside the
    file asked for.

    Parameters
    ----------
    model : estimator
    arguments : Arguments
    learned : str, optional
        How much that is, as messages say it; by default its epochs.
    """
    path = arguments.model + PARTIAL
    if os.path.exists(arguments.model) and not os.path.isfile(arguments.model):
        return  # a pipe, say, beside which nothing is written
    try:
        check_is_fitted(model)
        reset_session_parameters(model)
        model.save(path)
    except NotFittedError:  # the first epoch was not complete, or the members were not
        tell("no model was kept; to resume next time, pass --param checkpoint=FOLDER")
    except OSError as error:
        tell(f"no model was kept: {path}: {error.strerror}")
    else:
        n = outermost_value(model, "n_iter_") or 0
        tell(f"the model after {learned or counted(n, 'epoch')} is in {path}")
