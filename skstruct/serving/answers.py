"""The answers of a model to requests: predictions as JSON, for input of text or JSON."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from .._data.inputs import SPANS, WORDS, PlaceError
from .._data.text import tokenized
from .._sklearn import final_step, innermost
from .._taggers.abilities import inputs_of, reason, span_labels, task_of
from .._taggers.min_proba import check_types, min_proba_of
from ..datasets import to_utf16
from .bodies import (
    OF_INPUTS,
    PLAIN,
    Body,
    as_objects,
    known_spans,
    read_body,
    read_parameters,
    shaped,
)
from .wsgi import Refused

if TYPE_CHECKING:
    from .._data.inputs import Inputs
    from .measures import Measures
    from .wsgi import Request


OPTIONS = "offsets", "proba", "kbest", "sets", "objects", "min_proba"
"""The options of a request, behind the question mark or as parameters."""

Answer: TypeAlias = Callable[[Any], Any]
"""The answers for some sequences."""

Units: TypeAlias = Callable[[Any, Any], Any]
"""A function of texts and spans that gives the spans in other units."""

MOST = 100
"""Predictions that a request can ask for, of each sequence."""

MOST_TOKENS = 1_000_000
"""Tokens in all predictions that a request can ask for, its own tokens times K.

Each costs some hundred bytes of the server's memory, and ten of the answer.
"""


def as_sequence(inputs: Inputs | None, text: str) -> Any:
    """Read a text as one sequence.

    Segmenters and span taggers take it as it is; others take the words between white
    space.

    Slashes part the columns of a word.

    Raises
    ------
    ValueError
        If the model reads features, or a word has too few columns.
    """
    if inputs is not None and inputs.task in (WORDS, SPANS):
        return text
    if inputs is None or inputs.token not in (str, tuple):
        raise ValueError("the model reads features, not text: send JSON")
    if inputs.token is str:
        return text.split()
    tokens = [tuple(token.rsplit("/", inputs.width - 1)) for token in text.split()]
    short = next((token for token in tokens if len(token) < inputs.width), None)
    if short is not None:
        reads = f"the model reads {inputs.width} columns of a token, separated by slashes (the/DT)"
        raise ValueError(f"{reads}; got {'/'.join(short)!r}")
    return tokens


def example(model: Any) -> list[Any] | None:
    """Make an input that the model takes, for messages; None if that is not known."""
    inputs = inputs_of(model)
    if inputs is None:
        return None
    if inputs.task in (WORDS, SPANS):
        return ["Ann met Bob."]
    if inputs.token is tuple:
        return [[[word, *["tag"] * (inputs.width - 1)] for word in ("the", "dog")]]
    numbers = [0.5] * getattr(innermost(model).estimator, "n_features_in_", 1)
    if inputs.token is str:
        return [["the", "dog"]]
    return [[{"word": "the"}]] if inputs.token is dict else [[numbers]]


def predicted(
    model: Any, request: Request, measures: Measures, name: str = "model"
) -> Any:
    """Predict for the body of a request; text/plain is one text, all else JSON.

    The option ``proba=1`` puts each label, word or span in a pair with its probability;
    ``kbest=K`` gives K predictions of each sequence with their scores; ``sets=1`` the
    spans that ``SpanSets`` offers; ``min_proba=P``, or ``PER=P,ORG=P``, those that are
    at least so probable; ``offsets=utf-16`` counts spans as JavaScript does;
    ``objects=1`` writes spans as objects. `read_body` reads bodies that are objects.

    ``measures`` counts what the model of the ``name`` is asked and says.

    Raises
    ------
    Refused
        If the request is not as the model takes it.
    """
    alone = request.kind == "text/plain"
    more: dict[str, Any] = {"example": example(model)}
    options = dict(request.options)
    try:
        if alone:
            body = Body(None, [as_sequence(inputs_of(model), request.body())], True)
        else:
            body = _body_of(model, request.json(**more), options)
        if not isinstance(body.X, list):
            raise ValueError(_no_list(model, body.X))
        X = body.X
        y = _answer_of(model, options, _given_of(model, body, options))(X)
    except ValueError as error:
        places: dict[str, Any] = {
            name: int(getattr(error, name))
            for name in ("sequence", "position")
            if getattr(error, name, None) is not None
        }
        of_texts = reads_texts(model)
        told = (
            error.told("text")
            if isinstance(error, PlaceError) and of_texts
            else str(error)
        )
        more = {} if places or alone else more
        raise Refused(400, told, **places, **more) from None
    y = list(y)
    ranked = "kbest" in options
    request.asked = measures.answer(name, model, X, y, ranked)
    names = OF_INPUTS if body.key == "inputs" else PLAIN
    if "objects" in options:
        utf16 = options.get("offsets") == "utf-16"
        y = [as_objects(x, row, names, utf16) for x, row in zip(X, y)]
    return shaped(body, y)


def _body_of(model: Any, value: Any, options: dict[str, str]) -> Body:
    """Read the value of a body, and add the options that it asks for."""
    inputs = inputs_of(model)
    noun = "texts" if reads_texts(model) else "sequences"
    body = read_body(value, lambda text: as_sequence(inputs, text), noun)
    read_parameters(value, options, OPTIONS)
    last = final_step(model).estimator
    if body.key == "inputs" and task_of(last) == SPANS and "kbest" not in options:
        options.setdefault("objects", "1")  # what Hugging Face's clients read
        if "sets" not in options and hasattr(last, "predict_segment_proba"):
            options.setdefault("proba", "1")
    return body._replace(X=with_tuples(model, body.X))


def _no_list(model: Any, X: Any) -> str:
    """Say what is wrong with a value that is no list of what a model reads."""
    noun = "sequences"
    alone = ""
    if reads_texts(model):
        noun = "texts"
        alone = '; of one text ["..."], or the text itself as text/plain'
    return f"expected a JSON list of {noun}, got {X!r:.40}{alone}"


def reads_texts(model: Any) -> bool:
    """Tell whether a model takes whole texts, not tokens."""
    return task_of(final_step(model).estimator) in (WORDS, SPANS)


def with_tuples(model: Any, X: Any) -> Any:
    """Make tuples of lists of JSON where a model wants tuples."""
    if getattr(inputs_of(model), "token", None) is not tuple or not isinstance(X, list):
        return X
    return [
        [tuple(t) if isinstance(t, list) else t for t in x]
        if isinstance(x, list)
        else x
        for x in X
    ]


def warm(model: Any) -> None:
    """Answer an example in each way that a request may ask for, so that none has to wait
    for kernels.
    """
    if inputs_of(model) is None:
        return
    X = with_tuples(model, example(model))
    for options in ({}, *_WAYS):
        # other ways than the model has; rows of numbers, whose width is not known
        with contextlib.suppress(Refused, ValueError):
            _answer_of(model, options)(X)


_WAYS: tuple[dict[str, str], ...] = ({"proba": "1"}, {"kbest": "1"}, {"sets": "1"})


def _given_of(model: Any, body: Body, options: dict[str, str]) -> dict[str, Any]:
    """Return the arguments that say what is known of the texts of a request: spans, or
    words.
    """
    kind = type(model).__name__
    found = {}
    if body.known is not None:
        if not getattr(model, "accepts_known", False):
            raise Refused(400, f"known: this {kind} does not support known spans")
        if "sets" in options:
            raise Refused(400, "sets and known cannot both be given")
        is_utf16 = options.get("offsets") == "utf-16"
        found["known"] = known_spans(body.X, body.known, is_utf16)
    if body.dictionary is not None:
        if not getattr(model, "accepts_dictionary", False):
            raise Refused(400, f"dictionary: this {kind} does not support dictionaries")
        if "proba" in options:
            raise Refused(400, "proba and dictionary cannot both be given")
        found["dictionary"] = body.dictionary
    return found


def _limit_of(model: Any, options: dict[str, str]) -> dict[str, Any]:
    """Return the argument of ``predict`` that says how probable spans have to be."""
    text = options.get("min_proba")
    if text is None:
        return {}
    for name in ("kbest", "sets"):
        if name in options:
            raise Refused(400, f"{name} and min_proba cannot both be given")
    last = final_step(model).estimator
    if task_of(last) != SPANS:
        raise Refused(400, "min_proba is for models that mark spans of texts")
    _method(last, "min_proba", "predict_segment_proba")
    try:
        least = min_proba_of(text)
    except ValueError:
        wrong = f"min_proba must be a number, or TYPE=P,TYPE=P, got {text!r:.40}"
        raise Refused(400, wrong) from None
    check_types(least, span_labels(model))
    return {"min_proba": least}


def _answer_of(
    model: Any, options: dict[str, str], given: dict[str, Any] | None = None
) -> Answer:
    """Choose the function of sequences that the options of a request ask for; ``given``
    are more arguments of it.
    """
    more = given or {}
    limit = _limit_of(model, options)
    units = _units_of(model, options.get("offsets", "characters"))
    kinds: list[str] = [name for name in ("proba", "kbest", "sets") if name in options]
    if kinds == ["kbest"] and "objects" in options:
        kinds = ["kbest", "objects"]
    if len(kinds) > 1:
        raise Refused(400, f"{' and '.join(kinds)} cannot both be given")
    for name in sorted({"proba", "sets", "objects"} & options.keys()):
        if options[name] != "1":
            wrong = f"{name} must be 1, or left out, got {options[name]!r:.40}"
            raise Refused(400, wrong)
    last = final_step(model).estimator
    if "objects" in options and task_of(last) != SPANS:
        raise Refused(400, "objects=1 is for models that mark spans of texts")
    if "proba" in options:
        return _probable(model, last, units, more, limit)
    if "sets" in options:
        if not hasattr(last, "predict_sets"):
            raise Refused(
                400,
                f"sets: this {type(last).__name__} offers no sets of spans; SpanSets does",
            )
        return lambda X: _in_units(units, X, last.predict_sets(X))
    if "kbest" not in options:
        return lambda X: units(X, model.predict(X, **more, **limit))
    k = options["kbest"]
    best = _method(last, "kbest", "predict_kbest")
    if not (k.isascii() and k.isdecimal() and len(k) < 4 and 1 <= int(k) <= MOST):
        raise Refused(400, f"kbest must be an int from 1 to {MOST}, got {k!r:.40}")

    def ranked(X: Any) -> list[Any]:
        _check_size(model, X, int(k))
        return [
            list(
                zip(
                    units([x] * len(rows), [y for y, _ in rows]),
                    (score for _, score in rows),
                )
            )
            for x, rows in zip(X, best(final_step(model, X).X, int(k), **more))
        ]

    return ranked


def _check_size(model: Any, X: Any, k: int) -> None:
    """Refuse to rank more tokens than a request can ask for, before any work."""
    n = _n_tokens(model, X)
    if n * k > MOST_TOKENS:
        wrong = f"kbest={k} of {n:,} tokens makes {n * k:,}"
        limit = f"a request can ask for {MOST_TOKENS:,}, its tokens times K"
        raise Refused(413, f"{wrong}; {limit}: send less, or ask for fewer")


def _n_tokens(model: Any, X: Any) -> int:
    """Count the tokens that a model sees; what it cannot read counts nothing."""
    task = task_of(final_step(model).estimator)
    if task == SPANS:
        texts = [text for text in X if isinstance(text, str)]
        tokenizer = getattr(innermost(model).estimator, "tokenizer", "words")
        return int(tokenized(texts, tokenizer).first[-1])
    return sum(len(x) for x in X if isinstance(x, str if task == WORDS else list))


def _units_of(model: Any, offsets: str) -> Units:
    """Choose the function that counts the spans of texts in the units asked for.

    Of others it does nothing.
    """
    if offsets not in ("characters", "utf-16"):
        raise Refused(400, f"offsets must be characters or utf-16, got {offsets!r:.40}")
    if offsets == "utf-16" and task_of(model) != SPANS:
        raise Refused(400, "offsets=utf-16 is for models that mark spans of texts")
    return to_utf16 if offsets == "utf-16" else lambda X, y: y


def _method(model: Any, option: str, name: str) -> Callable[..., Any]:
    """Find the method of a model that an option asks for."""
    if not hasattr(model, name):
        raise Refused(400, f"{option}: {reason(model, name)}")
    return getattr(model, name)


def _in_units(units: Units, X: Any, found: Any) -> list[Any]:
    """Change spans with probabilities into the units asked for."""
    items = units(X, [[span for span, _ in row] for row in found])
    return [[(span, p) for span, (_, p) in zip(*pair)] for pair in zip(items, found)]


def _probable(
    model: Any,
    last: Any,
    units: Units,
    more: dict[str, Any],
    limit: dict[str, Any],
) -> Answer:
    """Make the function of sequences that gives pairs with probabilities.

    ``last`` is the model's last step, ``more`` are arguments of its method, and
    ``limit`` is one more of its ``predict``.
    """
    parts = task_of(last) in (WORDS, SPANS)
    proba = _method(
        last, "proba", "predict_segment_proba" if parts else "predict_marginals"
    )

    def of_parts(X: Any) -> list[Any]:
        X = final_step(model, X).X
        asked = [last.predict(X, **more, **limit)] if limit else []
        found = proba(X, *asked, **more)
        if task_of(last) == SPANS:
            return _in_units(units, X, found)
        return [
            [(word, p) for word, (_, p) in zip(*pair)]
            for pair in zip(last.predict(X), found)
        ]

    def of_labels(X: Any) -> list[Any]:
        X = final_step(model, X).X
        column = {label: k for k, label in enumerate(last.classes_.tolist())}
        return [
            [(label, row[column[label]]) for label, row in zip(labels, marginals)]
            for labels, marginals in zip(last.predict(X), proba(X))
        ]

    return of_parts if parts else of_labels
