"""Constructor parameters: name, type, default, values allowed and documentation, each
written once.

An estimator is a dataclass, :func:`parametrized`. A parameter is a field made by
:func:`parameter`, which holds what a user reads of it and which values are allowed.
Parameters that several estimators share are fields of the classes below, which
estimators inherit. From the fields :func:`documented` makes the "Parameters" section of
the docstring, the table that scikit-learn checks values by, and the order of the
signature.

To add a shared parameter, add a field to the class that it belongs to: one of the three
below, or ``TaggerParameters`` of :mod:`skstruct._taggers.sequence_tagger`. Every
estimator that inherits the class then takes it, checks it, shows it and keeps it in
files.

Sources are cited by author and year here, since each estimator numbers its references
by itself.
"""

from __future__ import annotations

import inspect
import os
import sys
import textwrap
from collections.abc import Callable
from dataclasses import Field, dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, get_args

import numpy as np

from .._sklearn import (
    N_JOBS,
    POSITIVE,
    InstanceWith,
    Integral,
    Interval,
    Options,
    Real,
    StrOptions,
)
from ..metrics import SCORING

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_: Any) -> Callable[[T], T]:
        """Do nothing: this is for type checkers."""
        return lambda decorated: decorated


T = TypeVar("T")

WIDTH = 106
"""Columns of the documentation made here, indented as `help` does."""


def parameter(
    default: Any, text: str, kind: str | None = None, allowed: Any = None
) -> Any:
    """Make a field that is a constructor parameter.

    All is given by keyword: type checkers read ``default`` that way.

    Parameters
    ----------
    default : object
    text : str
        What it does. Line breaks do not matter.
    kind : str, optional
        Which values are allowed, as a user reads it. Where this is None, the annotation
        says it: a bool, an int of at least 1, or the values of a ``Literal``; or None.
    allowed : list, optional
        What scikit-learn checks values by; see ``sklearn.utils._param_validation``.
        Where this is None, the kind says it: "int >= 2", "float > 1", "float in [0,
        1)"; or None.
    """
    return field(
        default=default, metadata={"kind": kind, "allowed": allowed, "text": text}
    )


@dataclass_transform(eq_default=False, field_specifiers=(parameter,))
def parametrized(*, kw_only: bool = False) -> Callable[[type[T]], type[T]]:
    """Give a class a constructor that takes the fields as parameters: a decorator.

    A type checker reads the defaults of fields, ``parameter(default=10, ...)``, so that
    an editor shows ``max_iter: int = 10`` in the signature of an estimator.

    Parameters
    ----------
    kw_only : bool
        Whether they are given by keyword only, as those that estimators share.
    """
    return dataclass(kw_only=kw_only, eq=False, repr=False)


def inner_estimator(text: str) -> Any:
    """Make a field for an estimator that does the work; None means an estimator that
    the text names.
    """
    return parameter(
        default=None,
        text=text,
        kind="estimator or None",
        allowed=[InstanceWith(["fit", "predict"]), None],
    )


def _range(kind: str) -> list[Any]:
    """Return the numbers that a kind such as "float in [0, 1) or None" allows, as
    scikit-learn checks them.
    """
    number, sign, low, *high = kind.removesuffix(" or None").split()
    none = [None] if kind.endswith(" or None") else []
    if sign == "in":
        closed = {"[)": "left", "(]": "right", "[]": "both", "()": "neither"}[
            low[0] + high[0][-1]
        ]
        return [
            Interval(Real, float(low[1:-1]), float(high[0][:-1]), closed=closed),
            *none,
        ]
    numbers, read = (Integral, int) if number == "int" else (Real, float)
    return [
        Interval(
            numbers, read(low), None, closed="left" if sign == ">=" else "neither"
        ),
        *none,
    ]


def _values(cls: type, name: str) -> tuple[str, Any]:
    """Return the values that a field allows: as a user reads them, and as scikit-learn
    checks them.
    """
    base = next(base for base in cls.__mro__ if name in inspect.get_annotations(base))
    about = inspect.getattr_static(base, "__dataclass_fields__")[name].metadata
    if about["kind"] is not None:
        return about["kind"], about["allowed"] or _range(about["kind"])
    hint = inspect.get_annotations(base)[name]
    hint = (
        eval(hint, vars(sys.modules[base.__module__]))
        if isinstance(hint, str)
        else hint
    )
    none = [None] if type(None) in get_args(hint) else []
    hint = get_args(hint)[0] if none else hint
    if hint is bool:
        kind = "bool"
        allowed = ["boolean", *none]
    elif hint is int:
        kind = "int"
        allowed = [POSITIVE, *none]
    else:
        values = get_args(hint)
        kind = "{" + ", ".join(map(_spelled, values)) + "}"
        strings = isinstance(values[0], str)
        allowed = [
            StrOptions(set(values)) if strings else Options(Integral, set(values)),
            *none,
        ]
    return kind + " or None" * len(none), allowed


def parameters_named(estimator: Any, name: str) -> dict[str, Any]:
    """Return the parameters of that name, of an estimator and of all inside of it, by
    their names in full.
    """
    given = estimator.get_params()
    return {full: given[full] for full in sorted(given) if full.split("__")[-1] == name}


def documented(**texts: str) -> Callable[[type[T]], type[T]]:
    """Make documentation, checks and signature of a class from the fields: a decorator,
    above `parametrized`.

    Parameters
    ----------
    **texts : str
        For inherited parameters that mean something more special here: the text in
        place of the shared one.
    """

    def decorate(cls: type[T]) -> type[T]:
        found = {f.name: f for f in fields(cls) if f.init}  # type: ignore[arg-type]
        if unknown := texts.keys() - found.keys():
            raise TypeError(f"{cls.__name__} has no parameter {sorted(unknown)}")
        mine = (
            name
            for base in cls.__mro__
            for name in inspect.get_annotations(base)
            if name in found
        )
        names = sorted(
            dict.fromkeys(mine), key=lambda name: bool(found[name].kw_only)
        )  # special ones first
        kinds, allowed = zip(*(_values(cls, name) for name in names))
        entries = [
            _entry(found[name], kind, texts.get(name, found[name].metadata["text"]))
            for name, kind in zip(names, kinds)
        ]
        cls.__doc__ = _with_section(
            inspect.cleandoc(cls.__doc__ or ""), "Parameters", "\n".join(entries)
        )
        cls._parameter_constraints = dict(zip(names, allowed))  # type: ignore[attr-defined]
        given = inspect.signature(cls.__init__).parameters
        ordered = [
            given[name].replace(annotation=inspect.Parameter.empty)
            for name in ("self", *names)
        ]
        cls.__init__.__signature__ = inspect.Signature(ordered)  # type: ignore[attr-defined]
        return cls

    return decorate


def _entry(found: Field[Any], kind: str, text: str) -> str:
    """Write what a "Parameters" section says of a field."""
    lines = textwrap.wrap(
        " ".join(text.split()),
        WIDTH - 4,
        break_long_words=False,
        break_on_hyphens=False,
    )
    head = f"{found.name} : {kind}, default={_spelled(found.default)}"
    return "\n    ".join([head, *lines])


def _spelled(default: Any) -> str:
    """Spell a default as documentation does."""
    return f'"{default}"' if isinstance(default, str) else repr(default)


def _with_section(text: str, title: str, body: str) -> str:
    """Put one more section into a docstring, before the others."""
    lines = text.split("\n")
    rules = (k for k, line in enumerate(lines) if line and set(line) == {"-"})
    at = next(rules, len(lines) + 1) - 1
    head = "\n".join(lines[:at]).rstrip()
    tail = "\n".join(lines[at:])
    return f"{head}\n\n{title}\n{'-' * len(title)}\n{body}\n\n{tail}".rstrip() + "\n"


@dataclass(kw_only=True, eq=False, repr=False)
class Parameters:
    """Base of classes whose fields are constructor parameters."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}


WARM_START = parameter(
    default=False,
    text="Start ``fit`` from the last one's weights; features and labels may be new.",
)

CHECKPOINT = parameter(
    default=None,
    text="""Folder where ``fit`` keeps its state after each epoch, under a name made
    from parameters and data. A fit that finds its own state goes on from there and ends
    as if it had never stopped; a finished fit removes its file. Without
    ``random_state``, parameters and sizes of the data decide which sequences it draws,
    as ``early_stopping`` does.""",
    kind="str, path or None",
    allowed=[str, os.PathLike, None],
)
"""Fields of estimators that have little else in common; each takes a copy."""


@parametrized(kw_only=True)
class RunParameters(Parameters):
    """Threads and random numbers."""

    n_jobs: int | None = parameter(
        default=None, text="Threads in prediction.", kind="int or None", allowed=N_JOBS
    )
    random_state: int | np.random.RandomState | None = parameter(
        default=None,
        text="Determines orders, noise and the held-out sequences.",
        kind="int, RandomState instance or None",
        allowed=["random_state"],
    )


@parametrized(kw_only=True)
class TrainingParameters(RunParameters):
    """The parameters of all estimators that learn weights of features."""

    min_count: int = parameter(
        default=1, text="Features seen fewer times in training are left out."
    )
    scoring: str | Callable[..., float] | None = parameter(
        default=None,
        text="""How good a model is on held-out sequences: None asks the estimator's
        ``score``; a str names a scorer of ``skstruct.metrics.SCORERS``, such as
        ``"segment_f1"``; a callable is called as ``scoring(estimator, X_val, y_val)``
        and returns a number. More is better.""",
        kind="str, callable or None",
        allowed=[StrOptions(set(SCORING)), callable, None],
    )
    verbose: int = parameter(
        default=0, text="Print a line for each epoch.", kind="int", allowed=["verbose"]
    )


@parametrized(kw_only=True)
class OnlineParameters(TrainingParameters):
    """The parameters of all estimators that learn example by example."""

    # Epochs
    max_iter: int | Literal["auto"] = parameter(
        default=10,
        text="""Epochs. ``"auto"``: twenty below 200 sequences to train on, else ten;
        ``n_iter_`` says how many there were.""",
        kind='int or "auto"',
        allowed=[POSITIVE, StrOptions({"auto"})],
    )
    shuffle: bool = parameter(
        default=True, text="Draw a new order of sequences for each epoch."
    )
    average: bool = parameter(
        default=True,
        text="Average the weights over all visits (Zhang et al. 2014, equation 6).",
    )
    # Penalties on weights
    penalty: Literal["l1", "l1-cumulative", "l2"] | None = parameter(
        default=None,
        text="""Penalty on the weights, applied once per sequence visited (Zhang et al.
        2014, equations 9 to 17). Under the cumulative penalty a new feature is charged
        the penalty of all earlier steps (equation 14), so that late features rarely
        become nonzero.""",
    )
    alpha: float = parameter(
        default=1e-6,
        text="Strength of the penalty per sequence visited.",
        kind="float in [0, 1)",
    )
    # Corruption of the input and of features in training
    dropout: float = parameter(
        default=0.0,
        text="""Probability that an input token is masked for one visit of its sequence
        (Zhang et al. 2014, equation 18). Columns of a token are masked independently;
        templates may read 64 columns at most then.""",
        kind="float in [0, 1)",
    )
    feature_noise: Literal["dropout", "zipf"] | None = parameter(
        default=None,
        text="""Corruption of features, drawn once per feature and visit: left out with
        probability ``noise_rate`` (Zhang et al. 2014, equation 20), or counted 1/ξ with
        Zipfian ξ (A. Søgaard 2013, Zipfian corruptions for robust POS tagging,
        NAACL).""",
    )
    edge_noise: Literal["same", "dropout", "zipf"] | None = parameter(
        default=None,
        text='The same for label transitions; ``"same"`` follows ``feature_noise``.',
    )
    noise_rate: float = parameter(
        default=0.1, text="Rate of feature dropout.", kind="float in [0, 1)"
    )
    zipf_exponent: float = parameter(
        default=3.0, text="Exponent of the Zipf distribution.", kind="float > 1"
    )
    # Early stopping, and training that goes on
    early_stopping: bool = parameter(
        default=False,
        text="""Stop when the score of held-out sequences no longer improves, and keep
        the best epoch. They are ``X_val`` and ``y_val`` of ``fit``; without these a
        part of ``X``, which is not trained on.""",
    )
    validation_fraction: float = parameter(
        default=0.1,
        text="""Share of the sequences with labels that ``early_stopping`` holds out
        without ``X_val``.""",
        kind="float in (0, 1)",
    )
    n_iter_no_change: int = parameter(
        default=3, text="Epochs without improvement to wait."
    )
    tol: float = parameter(
        default=1e-3,
        text="Improvement of the held-out score that counts as such.",
        kind="float >= 0",
    )
    warm_start: bool = parameter(default=False, text=WARM_START.metadata["text"])
    checkpoint: str | os.PathLike[str] | None = parameter(
        default=None,
        text=CHECKPOINT.metadata["text"],
        kind=CHECKPOINT.metadata["kind"],
        allowed=CHECKPOINT.metadata["allowed"],
    )
