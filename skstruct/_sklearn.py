"""The one place that imports what scikit-learn does not promise to keep.

Estimators import these names from here, so that a new scikit-learn release is followed
in one file. scikit-learn has no type hints: what estimators inherit and decorate with
is declared here for type checkers.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import re
from collections.abc import Callable, Iterator
from importlib import metadata
from numbers import Integral as Integral
from numbers import Real as Real
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeAlias, TypeVar

import numpy as np
from sklearn import utils
from sklearn.frozen import FrozenEstimator
from sklearn.utils import _set_output
from sklearn.utils import get_tags as get_tags
from sklearn.utils._param_validation import HasMethods as HasMethods
from sklearn.utils._param_validation import Interval as _Interval
from sklearn.utils._param_validation import (
    InvalidParameterError as InvalidParameterError,
)
from sklearn.utils._param_validation import Options as Options
from sklearn.utils._param_validation import StrOptions as StrOptions
from sklearn.utils._param_validation import validate_parameter_constraints
from sklearn.utils.validation import _check_method_params as cut_metadata
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from ._data.inputs import (
    PLACE,
    NothingToLearn,
    PlaceError,
    check_weights_of_sequences,
    renumbered,
)
from ._data.places import describe
from ._data.suggestions import meant

safe_indexing = utils._safe_indexing
safe_set_output = _set_output._safe_set_output


class Interval(_Interval):  # type: ignore[misc]
    """scikit-learn's range of numbers; those of numpy are compared as those of Python:
    a large bound, rounded to a float32, would be infinite.
    """

    def __contains__(self, value: Any) -> bool:
        plain = value.item() if isinstance(value, np.generic) else value
        return bool(super().__contains__(plain))


class InstanceWith(HasMethods):  # type: ignore[misc]
    """scikit-learn's objects that have some methods; their classes are none."""

    def is_satisfied_by(self, val: Any) -> bool:
        return not isinstance(val, type) and super().is_satisfied_by(val)

    def __str__(self) -> str:
        return super().__str__().replace("an object", "an instance", 1)


F = TypeVar("F", bound=Callable[..., Any])

FITTED_INSIDE = "best_estimator_", "estimator_", "tagger_", "base_"
"""Attributes that hold what an estimator has fitted inside."""

NOTHING_KEPT = "training was interrupted; the estimator is as it was before {}"
SOMETHING_KEPT = "training was interrupted; the estimator keeps what it has learned"
"""The message after Ctrl-C; see `says_what_is_kept`."""

if TYPE_CHECKING:
    from typing_extensions import Self

    Request: TypeAlias = bool | str | None

    class BaseEstimator:
        """The base class of scikit-learn, as type checkers see it."""

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Self: ...
        def get_metadata_routing(self) -> Any: ...
        def set_fit_request(
            self,
            *,
            sample_weight: Request = ...,
            X_val: Request = ...,
            y_val: Request = ...,
        ) -> Self: ...
        def set_partial_fit_request(self, **metadata: Request) -> Self: ...
        def set_predict_request(self, **metadata: Request) -> Self: ...
        def set_score_request(self, *, sample_weight: Request = ...) -> Self: ...
        def __sklearn_tags__(self) -> Any: ...
        def __sklearn_clone__(self) -> Self: ...
        def _validate_params(self) -> None: ...

    class CallbackSupportMixin:
        """The mixin of scikit-learn for estimators that take callbacks."""

        def set_callbacks(self, *callbacks: Any) -> Self: ...
        def _init_callback_context(self, **options: Any) -> Any: ...

    def with_callbacks(fit: F) -> F: ...
    def available_if(check: Callable[[Any], bool]) -> Callable[[F], F]: ...

    def says_what_is_kept(train: F) -> F: ...

else:
    import sklearn
    from sklearn.base import BaseEstimator as _BaseEstimator
    from sklearn.utils.metaestimators import available_if as available_if

    class BaseEstimator(_BaseEstimator):
        """scikit-learn's base class, whose HTML links to the documentation of this
        package.
        """

        _doc_link_module = "skstruct"

        def __init_subclass__(cls, **options: Any) -> None:
            """Let methods that are inherited call themselves by their own name in
            Python's errors, since users did not write the classes that have them.
            """
            super().__init_subclass__(**options)
            for base in cls.__mro__[1:]:
                if base.__module__.partition(".")[0] == "skstruct":
                    for name, method in vars(base).items():
                        # what is there on a condition only has the function inside
                        function = getattr(method, "fn", method)
                        while inspect.isfunction(function) and name[0] != "_":
                            function.__qualname__ = name
                            function = getattr(function, "__wrapped__", None)

        def __new__(cls, *_: Any, **given: Any) -> Any:
            """Make an estimator; a parameter that it has not is answered with one that
            it has.
            """
            for name in given if given else ():
                known = _parameters_of(cls)
                if name not in known:
                    wrong = (
                        f"{cls.__name__}.__init__() got an unexpected keyword argument"
                    )
                    raise TypeError(f"{wrong} {name!r}{meant(name, known)}")
            return super().__new__(cls)

        def set_params(self, **params: Any) -> Any:
            """Set parameters; for a name that is none another one is suggested."""
            try:
                return super().set_params(**params)
            except ValueError as error:
                known = self.get_params()
                hints = (meant(each, known) for each in params if each not in known)
                hint = next(filter(None, hints), "")
                if not hint:
                    inside = (k for k in known for e in params if k.endswith(f"__{e}"))
                    found = min(inside, key=len, default=None)
                    hint = f"; did you mean {found!r}?" if found else ""
                raise type(error)(f"{str(error).rstrip('.')}{hint}") from None

        def _validate_params(self) -> None:
            """Check the parameters; for a word that is no value another one is
            suggested.
            """
            try:
                super()._validate_params()
            except InvalidParameterError as error:
                name = re.match(r"The '(\w+)' parameter", str(error))
                allowed: list[str] = []
                for each in (
                    self._parameter_constraints.get(name[1], ()) if name else ()
                ):
                    allowed += getattr(each, "options", ())
                hint = meant(getattr(self, name[1]), allowed) if name else ""
                text = f"{str(error).rstrip('.')}{hint}" if hint else str(error)
                raise InvalidParameterError(text) from None

        @property
        def _doc_link_template(self) -> str:
            site = documentation_site()
            return f"{site}/generated/{{name}}.html" if site else ""

        def _doc_link_url_param_generator(self) -> dict[str, str]:
            room = type(self).__module__.split(".")[1]
            room = "features." if room == "features" else ""
            return {"name": f"skstruct.{room}{type(self).__name__}"}

    try:  # scikit-learn >= 1.9, experimental
        from sklearn.callback import CallbackSupportMixin as CallbackSupportMixin
        from sklearn.callback import with_callbacks as _with_callbacks
    except ImportError:  # pragma: no cover - older scikit-learn

        class CallbackSupportMixin:
            """Stands in for scikit-learn's mixin: no callbacks."""

            @property
            def set_callbacks(self) -> NoReturn:
                """Raises: this scikit-learn has no callbacks."""
                wrong = (
                    "callbacks need scikit-learn 1.9 or newer, this is "
                    f"{sklearn.__version__}"
                )
                raise AttributeError(
                    f"{wrong}; without, verbose=1 prints a line for each epoch"
                )

            def _init_callback_context(self, **_: Any) -> None:
                return None

        def _with_callbacks(fit: F) -> F:
            return fit

    def says_what_is_kept(train: F) -> F:
        """Decorate a method that trains: after Ctrl-C the exception says what is kept.

        That an estimator is as it was before is decided here, by its fitted attributes,
        whatever was interrupted inside of it; what else is kept says who keeps it.
        """

        @functools.wraps(train)
        def told(estimator: Any, *args: Any, **given: Any) -> Any:
            with _saying_what_is_kept(estimator, train.__name__):
                return train(estimator, *args, **given)

        return told

    def with_callbacks(fit: F) -> F:
        """scikit-learn's decorator, if there is one; a call with a wrong argument names
        the right ones, and an interrupt says what is kept.
        """
        managed = _with_callbacks(fit)
        signature = inspect.signature(fit)

        @functools.wraps(fit)
        def checked(estimator: Any, *args: Any, **given: Any) -> Any:
            try:
                signature.bind(estimator, *args, **given)
            except TypeError as error:
                names = ", ".join([*signature.parameters][1:])
                call = f"{type(estimator).__name__}.{fit.__name__}({names})"
                raise TypeError(f"{call}: {error}") from None
            with _saying_what_is_kept(estimator, fit.__name__):
                return managed(estimator, *args, **given)

        return checked


@contextlib.contextmanager
def _saying_what_is_kept(estimator: Any, method: str) -> Iterator[None]:
    """Let an interrupt of a method that trains say what the estimator has kept."""
    before = _fitted_of(estimator)
    try:
        yield
    except KeyboardInterrupt as error:
        now = _fitted_of(estimator)
        if before.keys() == now.keys() and all(
            before[name] is now[name] for name in now
        ):
            error.args = (NOTHING_KEPT.format(method),)
        elif not error.args:
            error.args = (SOMETHING_KEPT,)
        raise


def _fitted_of(estimator: Any) -> dict[str, Any]:
    """Return the models, and the fitted attributes that users see, of an estimator and
    of what it has fitted inside.
    """
    found: dict[str, Any] = {}
    place = ""
    while hasattr(estimator, "__dict__"):
        own = vars(estimator)
        for name, value in own.items():
            if name == "_model" or name[-1] == "_" != name[0]:
                found[f"{place}{name}"] = value
        place += "inside "
        inside = own["steps"][-1][-1] if own.get("steps") else None
        estimator = next((own[name] for name in FITTED_INSIDE if name in own), inside)
    return found


@functools.cache
def _parameters_of(cls: Any) -> frozenset[str]:
    """Return the names of the parameters of an estimator's constructor.

    The signature is that of ``__init__``: Python 3.10 would give that of ``__new__``
    for the class itself.
    """
    return frozenset(inspect.signature(cls.__init__).parameters) - {"self"}


@functools.cache
def documentation_site() -> str | None:
    """Return the address of the documentation, as the installed package's metadata name
    it, or None.
    """
    try:
        entries = metadata.metadata("skstruct").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:
        return None
    pairs = (entry.partition(",")[::2] for entry in entries)
    sites = {name.strip().lower(): url.strip().rstrip("/") for name, url in pairs}
    return sites.get("documentation")


class Layer(NamedTuple):
    """An estimator within others, and what it is given.

    Attributes
    ----------
    estimator : estimator
    X : list or None
        Its input: what the steps before it in a pipeline make of the user's. None
        where no input was named.
    """

    estimator: Any
    X: Any


def layers(estimator: Any) -> Iterator[Any]:
    """Yield a fitted estimator and those that it is around, from the outside in.

    Searches are around their best estimator and pipelines around their last step;
    averages, mixtures, calibrated taggers, segmenters and re-rankers are around what
    they have fitted. What is frozen is no layer: the estimator inside stands in its
    place.
    """
    return (layer.estimator for layer in _layers_with_input(estimator, None))


def _layers_with_input(estimator: Any, X: Any) -> Iterator[Layer]:
    """Yield the `layers` of an estimator, each with its part of ``X``, which is
    computed when it is asked for.
    """
    while estimator is not None:
        if isinstance(estimator, FrozenEstimator):
            estimator = estimator.estimator
            continue
        yield Layer(estimator, X)
        if hasattr(estimator, "steps") and not hasattr(estimator, "best_estimator_"):
            for _, step in estimator.steps[:-1] if X is not None else ():
                X = X if step is None or isinstance(step, str) else step.transform(X)
            estimator = estimator.steps[-1][1]
        else:
            estimator = next(
                (
                    getattr(estimator, name)
                    for name in FITTED_INSIDE
                    if hasattr(estimator, name)
                ),
                None,
            )


def outermost_value(estimator: Any, name: str) -> Any:
    """Return an attribute of the first of the `layers` that has it; None if none has."""
    return next(
        (getattr(layer, name) for layer in layers(estimator) if hasattr(layer, name)),
        None,
    )


def final_step(
    estimator: Any,
    X: Any = None,
    around: tuple[str, ...] = ("best_estimator_", "steps"),
) -> Layer:
    """Return the estimator at the end of searches and pipelines, with its input.

    Parameters
    ----------
    estimator : estimator
    X : list, optional
        What the estimator is given.
    around : tuple of str
        Attributes of estimators that are around another one: it is the first of the
        `layers` that has none of them.
    """
    return next(
        layer
        for layer in _layers_with_input(estimator, X)
        if not any(hasattr(layer.estimator, name) for name in around)
    )


def innermost(estimator: Any, X: Any = None) -> Layer:
    """Return what a pipeline, search, average or calibrated tagger predicts with, and
    its input.

    It has weights of its own, or a tagger or base inside.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If it is not fitted.
    """
    found = final_step(estimator, X, ("best_estimator_", "steps", "estimator_"))
    check_is_fitted(found.estimator)
    return found


def refuse_frozen(around: BaseEstimator, verb: str, **inside: Any) -> None:
    """Raise if what is inside of an estimator is frozen: the verb would change an
    object of the user's.

    Parameters
    ----------
    around : estimator
    verb : str
        The method that was called.
    **inside : estimator
        What is inside, by the name of the parameter.

    Raises
    ------
    ValueError
        Naming the parameter, and what to write instead.
    """
    me = type(around).__name__
    for role, given in inside.items():
        if isinstance(given, FrozenEstimator):
            inner = type(given.estimator).__name__
            raise ValueError(
                f"{me}.{verb} would change the {inner} in "
                f"{role}=FrozenEstimator(...), which may not change: pass "
                f"{me}({inner}(...)), which trains a copy, or call {verb} of your "
                f"{inner}"
            )


def refuse_warm_start(around: BaseEstimator, **inside: Any) -> None:
    """Raise if what is inside of an estimator is to start from its last fit: a clone,
    which each fit trains, has none.

    Parameters
    ----------
    around : estimator
    **inside : estimator
        What is inside, by the name of the parameter. What is frozen, at any depth, is
        not trained, so that it may say what it likes.

    Raises
    ------
    ValueError
        Naming the parameter.
    """
    me = type(around).__name__
    for role, given in inside.items():
        if not hasattr(given, "get_params") or isinstance(given, type):
            continue
        found = {role: given, **_named_inside(role, given)}
        frozen = tuple(
            f"{name}__"
            for name, value in found.items()
            if isinstance(value, FrozenEstimator)
        )
        for name, value in found.items():
            is_asked = isinstance(value, (bool, np.bool_)) and bool(value)
            is_asked = is_asked and name.endswith("__warm_start")
            if is_asked and not name.startswith(frozen):
                more = ""
                if hasattr(around, "partial_fit"):
                    more = f"; {me}.partial_fit goes on from the last fit"
                raise ValueError(
                    f"{name}=True has no effect: each fit of {me} trains a clone, "
                    f"which has no last fit to start from; set it to False{more}"
                )


def _named_inside(role: str, estimator: Any) -> dict[str, Any]:
    """Return the parameters of an estimator inside, as the one around it calls them."""
    given = estimator.get_params()
    return {f"{role}__{name}": given[name] for name in sorted(given)}


def check_parameters(estimator: Any, *names: str) -> None:
    """Raise unless parameters, which may have been set since ``fit``, have values that
    ``fit`` takes.
    """
    allowed = {name: estimator._parameter_constraints[name] for name in names}
    given = {name: getattr(estimator, name) for name in names}
    validate_parameter_constraints(allowed, given, caller_name=type(estimator).__name__)


def set_fitted(estimator: Any, found: dict[str, Any], *optional: str) -> None:
    """Set the fitted attributes ``found``.

    ``optional``: names of attributes that not every fit has; such a one that an earlier
    fit has set goes if it is not ``found``.
    """
    for name in optional:
        vars(estimator).pop(name, None)
    vars(estimator).update(found)


ALL_ZERO = "sample_weight must not be zero for all sequences"
LARGEST_SAMPLE_WEIGHT = 1e50
"""Weights of features are sums of such numbers, times values of up to 1e100."""

TOO_LARGE = (
    f"sample_weight must be at most {LARGEST_SAMPLE_WEIGHT:g}, or scores are no numbers"
)


def float_weights(sample_weight: Any) -> np.ndarray:
    """Return weights as an array of float64.

    Raises
    ------
    PlaceError
        If one is an integer that no float64 can be.
    ValueError
        If they are no numbers.
    """
    try:
        return np.asarray(sample_weight, np.float64)
    except OverflowError:
        too_large = [abs(weight) > LARGEST_SAMPLE_WEIGHT for weight in sample_weight]
        wrong = f"{TOO_LARGE}; got an integer beyond all floats for {PLACE}"
        raise PlaceError(too_large.index(True), None, wrong) from None
    except (TypeError, ValueError):
        raise ValueError(
            "sample_weight must be one number for each sequence, got "
            f"{describe(sample_weight)}"
        ) from None


def _refuse_odd_weights(sample_weight: Any) -> None:
    """Raise for weights that are no finite numbers; the message names the first."""
    weight = float_weights(sample_weight)
    if weight.ndim == 1 and not np.isfinite(weight).all():
        i = int(np.isfinite(weight).argmin())
        wrong = f"sample_weight must be finite, got {weight[i]} for {PLACE}"
        raise PlaceError(i, None, wrong)


def sample_weights(sample_weight: Any, X: Any) -> np.ndarray | None:
    """Return validated weights as float64, or None if none were given.

    Raises
    ------
    NothingToLearn
        If all are zero.
    ValueError
        Wrong length or dimension, not numbers, not finite, negative, above 1e50, or
        weights of tokens.
    """
    if sample_weight is None:
        return None
    check_weights_of_sequences(sample_weight)
    try:
        weight = _check_sample_weight(sample_weight, X, dtype="float64", copy=True)
    except (OverflowError, TypeError, ValueError) as error:
        if "non-zero" in str(error):  # what newer releases say
            raise NothingToLearn(ALL_ZERO) from None
        _refuse_odd_weights(sample_weight)
        raise
    if (weight < 0).any():
        i = int((weight < 0).argmax())
        raise PlaceError(
            i, None, f"sample_weight must not be negative, got {weight[i]} for {PLACE}"
        )
    if weight.max(initial=0.0) > LARGEST_SAMPLE_WEIGHT:
        i = int(weight.argmax())
        raise PlaceError(i, None, f"{TOO_LARGE}; got {weight[i]} for {PLACE}")
    if not weight.any():
        raise NothingToLearn(ALL_ZERO)
    return weight


def fit_some(
    estimator: Any,
    X: Any,
    y: Any,
    keep: Any,
    metadata: dict[str, Any] | None = None,
    **given: Any,
) -> Any:
    """Return the estimator, trained on the sequences at the positions in ``keep``;
    errors count those of X.

    ``metadata`` are arguments of ``fit`` by name, of which those that have a value a
    sequence are cut, too; others, ``given``, are handed on as they are.
    """
    if metadata:
        given.update(cut_metadata(X, metadata, keep))
    with renumbered(keep):
        return estimator.fit(safe_indexing(X, keep), safe_indexing(y, keep), **given)


def requested_name(estimator: Any, verb: str, metadata: str) -> bool | str | None:
    """Return what a method of an estimator itself requests of one kind of metadata;
    None if it says nothing.
    """
    asked = getattr(estimator, "_get_metadata_request", None)
    return None if asked is None else getattr(asked(), verb).requests.get(metadata)


def takes_sample_weight(scorer: Any) -> bool:
    """Tell whether a scorer can be called with ``sample_weight``; what scikit-learn
    made of a metric asks that.
    """
    try:
        given = inspect.signature(getattr(scorer, "_score_func", scorer)).parameters
    except (TypeError, ValueError):  # a callable that tells nothing of itself
        return False
    return "sample_weight" in given or any(
        each.kind is each.VAR_KEYWORD for each in given.values()
    )


def text_tags(tags: Any) -> Any:
    """Set scikit-learn's tags of estimators over texts."""
    tags.estimator_type = None
    tags.target_tags.required = True
    tags.requires_fit = True
    tags.input_tags.two_d_array = False
    tags.input_tags.one_d_array = True
    tags.input_tags.string = True
    return tags


def sequence_tags(tags: Any) -> Any:
    """Set scikit-learn's tags of estimators over sequences; tokens may be dicts."""
    tags = text_tags(tags)
    tags.input_tags.dict = True
    return tags


def tags_around(tags: Any, inner: Any) -> Any:
    """scikit-learn's tags, with those of the input that an estimator inside has."""
    if hasattr(inner, "__sklearn_tags__") and not isinstance(inner, type):
        tags.input_tags = get_tags(inner).input_tags
    return tags


def rows_tags(tags: Any) -> Any:
    """Set scikit-learn's tags of estimators whose tokens may be rows of numbers.

    Sequences may be sparse matrices; one sparse matrix alone, which the tag ``sparse``
    is about, may not.
    """
    tags.input_tags.three_d_array = True
    return tags


POSITIVE = Interval(Integral, 1, None, closed="left")
N_JOBS = [Interval(Integral, None, -1, closed="right"), POSITIVE, None]
