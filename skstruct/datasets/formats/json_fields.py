"""Paths to the parts of JSON records, and the table of these paths for a format.

A path is dotted. It leads into objects, into the only element of a list, or the one of
an index (``labels.0.name``), and into strings that hold JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from .span_records import SPAN_KEYS

MISSING = object()
"""Nothing stands at a path."""

_REQUIRED = object()


class Fields(NamedTuple):
    """Paths to the parts of records; of several the first that exists counts.

    Attributes
    ----------
    text, spans : tuple of str
    start, end, label : tuple of str
        Of a span that is an object.
    length : tuple of str
        In place of the end.
    covered : tuple of str
        What a span covers, if records say it.
    records : str or None
        The list of records in the one object of a file.
    words : str or None
        A list of words in which spans count; without a text these are one, with
        spaces.
    ends : {"exclusive", "inclusive"}
        What the tool writes.
    omits_empty : bool
        Whether a text without spans has no list of them.
    omits_zero : bool
        Whether a start that is 0 is left out.
    """

    text: tuple[str, ...] = ("text",)
    spans: tuple[str, ...] = SPAN_KEYS
    start: tuple[str, ...] = ("start", "start_offset", "begin", "startOffset", "offset")
    end: tuple[str, ...] = ("end", "end_offset", "endOffset", "stop")
    label: tuple[str, ...] = ("label",)
    length: tuple[str, ...] = ("length",)
    covered: tuple[str, ...] = ("text",)
    records: str | None = None
    words: str | None = None
    ends: str = "exclusive"
    omits_empty: bool = False
    omits_zero: bool = False

    def named(self, options: Any) -> Fields:
        """Return the fields with those that options name in place of the format's."""
        named: dict[str, Any] = {
            name: (getattr(options, name),)
            for name in ("spans", "start", "end", "label", "length")
            if getattr(options, name) is not None
        }
        if options.text != "text":  # the default
            named["text"] = (options.text,)
        if options.records is not None:
            named["records"] = options.records
        if options.words is not None:
            named["words"] = options.words
        if options.start is not None:
            named["omits_zero"] = True
        return self._replace(**named) if named else self


def at(value: Any, path: str, default: Any = _REQUIRED) -> Any:
    """Return what stands at a path.

    Raises
    ------
    KeyError
        If nothing does, and there is no default.
    """
    if isinstance(value, dict | Mapping) and path in value:
        return value[path]  # a key may have dots itself
    for key in path.split("."):
        value = _within(value, key)
        if value is MISSING:
            if default is not _REQUIRED:
                return default
            raise KeyError(path)
    return value


def _within(value: Any, key: str) -> Any:
    """Return the value to which a step of a path leads."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        value = parsed(value)
    if isinstance(value, Mapping):
        return value.get(key, MISSING)
    if not isinstance(value, list | tuple):
        return MISSING
    if key.isdecimal():
        return value[int(key)] if int(key) < len(value) else MISSING
    if len(value) == 1:
        return _within(value[0], key) if isinstance(value[0], Mapping) else MISSING
    # Several objects: the list of what each has, as of the names of categories.
    if value and all(isinstance(each, Mapping) and key in each for each in value):
        return [each[key] for each in value]
    return MISSING


def first_at(value: Any, paths: tuple[str, ...]) -> Any:
    """Return what stands at the first of some paths that is there, or `MISSING`."""
    for path in paths:
        if path in value:
            return value[path]
        if "." in path and (found := at(value, path, MISSING)) is not MISSING:
            return found
    return MISSING


def parsed(value: Any) -> Any:
    """Return the list or object that a string of JSON holds; other values as they
    are.
    """
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def elements_at(value: Any, path: str | None, place: str) -> Iterator[tuple[str, Any]]:
    """Yield the records of the list at a path; without one, of the value itself."""
    if path is None:
        yield place, value
        return
    found = parsed(at(value, path, None))
    if not isinstance(found, list):
        keys = ", ".join(map(str, value)) if isinstance(value, Mapping) else "none"
        raise ValueError(
            f"{place}: no list of records under {path!r}: found keys {keys}"
        )
    name = place.rpartition(", ")[0] or place
    for k, record in enumerate(found):
        yield f"{name}, record {k}", record


def listed(record: Mapping[str, Any]) -> str:
    """Return the keys of a record, as errors list them."""
    return ", ".join(map(str, record)) or "none"


_OF_TOOLS = {
    "luis_schema_version": "records='utterances', start='startPos', end='endPos', "
    "label='entity', ends='inclusive'",
    "text_snippet": "text='text_snippet.content', spans='annotations', "
    "start='text_extraction.text_segment.start_offset', "
    "end='text_extraction.text_segment.end_offset', label='display_name'",
}
"""Keys of records that options read, and the options: of LUIS, and of AutoML."""


def lists_of(record: Mapping[str, Any], name: str = "") -> str:
    """Return the end of an error: which keys hold records, if texts stand there, or what
    else makes records of a file, whose name is given.
    """
    known = next((options for key, options in _OF_TOOLS.items() if key in record), None)
    if known is not None:
        return f"; here: read_spans(..., {known})"
    sentences = (
        key
        for key, value in record.items()
        if isinstance(value, list) and value and isinstance(value[0], Mapping)
        if isinstance(value[0].get("tokens"), list)
    )
    if (key := next(sentences, None)) is not None:
        return (
            f"; the sentences of tokens under {key!r} become records by: import json; "
            "from skstruct.datasets.formats.span_records import json_values; "
            f"open({name!r} + '.jsonl', 'w', -1, 'utf-8').writelines(json.dumps(each) + "
            f"'\\n' for _, value in json_values({name!r}, 'utf-8') for each in "
            f"value[{key!r}])"
        )
    lists = [
        repr(key)
        for key, value in record.items()
        if isinstance(value, list) and value and _may_be_text(value[0])
    ]
    if not lists or any(isinstance(value, str) for value in record.values()):
        return ""
    return f", or a list of records with records= ({', '.join(lists)})"


def _may_be_text(value: Any) -> bool:
    """Tell whether an object holds a str, which may be a text."""
    return isinstance(value, Mapping) and any(
        isinstance(each, str) for each in value.values()
    )
