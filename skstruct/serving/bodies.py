"""Bodies that are objects of JSON, as other programs send them, and answers in their
shape.

``{"text": ...}`` is one text, ``{"texts": [...]}`` are several, ``{"inputs": ...}`` is
what Hugging Face's clients send, and ``{"instances": [...]}`` what Vertex AI and
SageMaker do. ``parameters`` beside one of them are the options of the request, and
``known`` is what is known of the spans of its texts, ``dictionary`` the words that a
segmenter keeps.

References
----------
Hugging Face, "Token classification", https://huggingface.co/docs/api-inference/tasks.
Google, "Get online predictions", https://cloud.google.com/vertex-ai/docs/predictions.
Amazon, "Use your own inference code with hosting services",
https://docs.aws.amazon.com/sagemaker/latest/dg/your-algorithms-inference-code.html.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, NamedTuple
from unicodedata import normalize

from .._data.places import PlaceError, in_sequence
from ..datasets import from_utf16

KEYS = "text", "texts", "inputs", "instances"
"""Keys that the input of a request can stand under."""

_PARAMETERS = "parameters"
_KNOWN = "known"
_BESIDE = _KNOWN, "dictionary"

_FLAGS = "proba", "sets", "objects"
"""Options that are on or off, so that ``true`` can stand for one."""

PLAIN = "label", "text", "probability"
"""Keys of a span beside ``start`` and ``end``, see `as_objects`."""

OF_INPUTS = "entity_group", "word", "score"
"""Keys of a span as Hugging Face's clients read it."""


class Body(NamedTuple):
    """The content of a request's body.

    Attributes
    ----------
    key : str or None
        Of `KEYS`; None of a body that is no object.
    X : object
        The sequences or texts.
    is_one : bool
        Whether the client sent one, and not a list of them.
    known : object
        What is known of the spans of each text; None if nothing is.
    dictionary : object
        Words, or an object of words and their tags; None without.
    """

    key: str | None
    X: Any
    is_one: bool
    known: Any = None
    dictionary: Any = None


def read_body(
    value: Any, as_sequence: Callable[[str], Any], noun: str = "sequences"
) -> Body:
    """Read the value of a body of JSON.

    Parameters
    ----------
    value : object
    as_sequence : callable
        Makes of a text what the model reads.
    noun : str
        What messages call the sequences.

    Raises
    ------
    ValueError
        If it is an object without one of `KEYS`, or with others; if what stands under
        the key is not as it should be, or a text is none that the model reads.
    """
    if not isinstance(value, dict):
        return Body(None, value, False)
    beside = {key: value[key] for key in _BESIDE if key in value}
    if beside:
        rest = {key: each for key, each in value.items() if key not in beside}
        body = read_body(rest, as_sequence, noun)
        if body.is_one and _KNOWN in beside:
            beside[_KNOWN] = [beside[_KNOWN]]
        return body._replace(**beside)
    keys = [key for key in value if key != _PARAMETERS]
    if len(keys) != 1 or keys[0] not in KEYS:
        found = ", ".join(map(repr, keys))
        got = f"the keys {found:.80}" if keys else "none of them"
        listed = ", ".join(KEYS)
        more = ", ".join((_PARAMETERS, *_BESIDE))
        raise ValueError(
            f"expected a JSON list of {noun}, or an object with one of the keys "
            f"{listed}, and beside it {more}; got {got}"
        )
    (key,) = keys
    given = value[key]
    if key == "text" or (key == "inputs" and isinstance(given, str)):
        return Body(key, [as_sequence(_text(given, key))], True)
    if not isinstance(given, list):
        one = '; "text" holds one text' if key == "texts" else ""
        held = "a text or a list" if key == "inputs" else "a list"
        raise ValueError(f"{key!r} must hold {held}, got {given!r:.40}{one}")
    if key == "texts":
        return Body(key, [as_sequence(_text(each, key)) for each in given], False)
    if key == "instances":
        return Body(key, [_instance(each, as_sequence) for each in given], False)
    # a list of texts, which models of tokens take as words between white space
    return Body(
        key, [as_sequence(x) if isinstance(x, str) else x for x in given], False
    )


def _text(given: Any, key: str) -> str:
    if not isinstance(given, str):
        held = "a text" if key == "text" else "a list of texts"
        raise ValueError(f"{key!r} must hold {held}, got {given!r:.40}")
    return given


def _instance(given: Any, as_sequence: Callable[[str], Any]) -> Any:
    """Return what the model reads of one instance: as it is, a text, or an object with
    the text.
    """
    if isinstance(given, dict):
        if list(given) != ["text"]:
            found = ", ".join(map(repr, given)) or "none"
            raise ValueError(f"an instance has the key 'text' alone, got {found:.80}")
        given = _text(given["text"], "text")
    return as_sequence(given) if isinstance(given, str) else given


def read_parameters(
    value: Any, options: dict[str, str], known: Collection[str]
) -> None:
    """Add to the options of a request those that its body has as parameters."""
    given = value.get(_PARAMETERS) if isinstance(value, dict) else None
    if given is None:
        return
    if not isinstance(given, dict):
        raise ValueError(f"{_PARAMETERS!r} must hold an object, got {given!r:.40}")
    for name, each in given.items():
        if name not in known:
            raise ValueError(
                f"there is no parameter {name!r:.40}; choose one of {', '.join(known)}"
            )
        if name in options:
            raise ValueError(f"the option {name!r} is given twice")
        if each is False:  # as a client writes an option that it leaves out
            continue
        if isinstance(each, bool) and name not in _FLAGS:
            raise ValueError(
                f"the parameter {name!r} has a value, and is not just true"
            )
        if not isinstance(each, (str, int, float)):
            held = "true, or false" if name in _FLAGS else "a text or a number"
            raise ValueError(f"the parameter {name!r} must be {held}, got {each!r:.40}")
        options[name] = "1" if each is True else str(each)


def known_spans(X: list[Any], known: Any, utf16: bool) -> Any:
    """Return what is known of the spans of texts, with offsets that count characters.

    What is no list of spans for each text stays as it is, and the model refuses it.

    Parameters
    ----------
    X : list of str
    known : object
        As it stands in the body.
    utf16 : bool
        Whether its offsets count UTF-16 units.

    Raises
    ------
    ValueError
        If a span begins or ends within a character, or quotes another text than it
        covers.
    """
    if not isinstance(known, list) or len(known) != len(X):
        return known
    found = []
    for i, (text, row) in enumerate(zip(X, known)):
        if not (isinstance(row, list) and isinstance(text, str)):
            return known
        parts = [part for part in map(_parts, row) if part is not None]
        if len(parts) < len(row):
            return known
        if utf16:
            with in_sequence(i, _KNOWN):
                (spans,) = from_utf16([text], [[(a, b, None) for a, b, _ in parts]])
            parts = [(a, b, label) for (a, b, _), (_, _, label) in zip(spans, parts)]
        for k, (each, (start, end, _)) in enumerate(zip(row, parts)):
            if isinstance(each, dict) and "text" in each and 0 <= start <= end:
                _check_quoted(each["text"], text[start:end], i, k)
        found.append(parts)
    return found


def _parts(span: Any) -> tuple[int, int, Any] | None:
    """Return start, end and label of a span; None if it is none."""
    if isinstance(span, dict):
        span = [span.get(key, ...) for key in ("start", "end", "label")]
    if not isinstance(span, list) or len(span) != 3 or ... in span:
        return None
    start, end, label = span
    return (start, end, label) if type(start) is type(end) is int else None


def _check_quoted(quoted: Any, covered: str, i: int, k: int) -> None:
    """Raise if a span quotes another text than it covers, in whatever normal form."""
    is_text = isinstance(quoted, str)
    if not (is_text and normalize("NFC", quoted) == normalize("NFC", covered)):
        wrong = f"the span covers {covered!r:.80}, and not its text, {quoted!r:.80}"
        remedy = "offsets count characters, with offsets=utf-16 UTF-16 units"
        raise PlaceError(i, k, f"{wrong}; {remedy}", _KNOWN)


def shaped(body: Body, y: list[Any]) -> Any:
    """Return predictions in the shape that belongs to a body."""
    if body.key == "instances":
        return {"predictions": y}
    return y[0] if body.is_one else y


def as_objects(
    text: str, spans: Any, names: tuple[str, str, str], utf16: bool = False
) -> list[dict[str, Any]]:
    """Write the spans of a text as objects.

    Parameters
    ----------
    text : str
    spans : iterable of (start, end, label), or of pairs of these with probabilities
    names : (str, str, str)
        Keys of the label, of the text covered, and of the probability.
    utf16 : bool
        Whether the spans count UTF-16 units.
    """
    of_label, of_text, of_probability = names
    units = text.encode("utf-16-le", "surrogatepass") if utf16 else b""
    found = []
    for each in spans:
        span, *p = each if len(each) == 2 else (each,)
        start, end, label = span
        covered = text[start:end]
        if utf16:
            covered = units[2 * start : 2 * end].decode("utf-16-le", "surrogatepass")
        written = {"start": start, "end": end, of_label: label, of_text: covered}
        found.append({**written, of_probability: p[0]} if p else written)
    return found
