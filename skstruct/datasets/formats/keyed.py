"""Objects of tools that differ in the names of their keys alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, NamedTuple

from ..._data.places import describe, part_of
from .entry import NO, Look, TextFormat, marked
from .head import Head
from .span_records import Annotation, Record, without


class Keys(NamedTuple):
    """Where records hold what; a dot leads into an object, or a list of one."""

    text: str
    spans: str
    start: str
    end: str
    label: str
    covered: str | None = None  # what a span covers
    records: str | None = None  # of one object that holds all


_MISSING = object()
_REQUIRED = object()


def at(value: Any, path: str, default: Any = _REQUIRED) -> Any:
    """Return what stands at a dotted path in objects and lists.

    Raises
    ------
    KeyError
        If nothing does, and there is no default.
    """
    if isinstance(value, Mapping) and path in value:
        return value[path]  # a key may have dots itself
    for key in path.split("."):
        if isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        elif (
            isinstance(value, list)
            and len(value) == 1
            and isinstance(value[0], Mapping)
        ):
            value = value[0].get(key, _MISSING)
        elif isinstance(value, Mapping):
            value = value.get(key, _MISSING)
        else:
            value = _MISSING
        if value is _MISSING:
            if default is not _REQUIRED:
                return default
            raise KeyError(path)
    return value


def elements_at(value: Any, path: str | None, place: str) -> Iterator[tuple[str, Any]]:
    """Yield (place, record) of the list at a path; without one, of the value itself."""
    if path is None:
        yield place, value
        return
    found = at(value, path, None)
    if not isinstance(found, list):
        keys = ", ".join(map(str, value)) if isinstance(value, Mapping) else "none"
        raise ValueError(
            f"{place}: no list of records under {path!r}: found keys {keys}"
        )
    name = place.rpartition(", ")[0] or place
    for k, record in enumerate(found):
        yield f"{name}, record {k}", record


def keyed_record(value: Any, place: str, reading: Any, keys: Keys) -> Record:
    """Make a `Record` of an object with keys of some names."""
    if not isinstance(value, Mapping):
        raise ValueError(f"{place}: expected an object, got {describe(value)}")
    listed = ", ".join(map(str, value)) or "none"
    text = at(value, keys.text, None)
    if not isinstance(text, str):
        raise ValueError(
            f"{place}: no text under {keys.text!r}: found keys {listed}; text= names "
            "another key"
        )
    rest = without(value, keys.text.split(".")[0], keys.spans.split(".")[0])
    if reading.texts_alone:
        return Record(place, text, None, rest)
    rows = at(value, keys.spans, _MISSING)
    if rows is _MISSING:
        reading.keyless.append(place)
    elif rows is not None and not isinstance(rows, list):
        raise ValueError(
            f"{place}: expected a list under {keys.spans!r}, got {describe(rows)}"
        )
    reading.n_annotated += rows is not _MISSING
    if rows is None:
        return Record(place, text, None, rest)
    given = [] if rows is _MISSING else rows
    spans = [
        _annotation(row, f"{place}, span {k}", reading, keys)
        for k, row in enumerate(given)
        if row is not None
    ]
    return Record(place, text, spans, rest)


def _annotation(row: Any, place: str, reading: Any, keys: Keys) -> Annotation:
    try:
        start, end, label = (at(row, key) for key in keys[2:5])
    except KeyError as error:
        found = ", ".join(map(str, row)) if isinstance(row, Mapping) else describe(row)
        raise ValueError(
            f"{place}: nothing under {error.args[0]!r}: found keys {found}"
        ) from None
    if isinstance(label, list):
        if len(label) > 1:
            two = ", ".join(map(repr, label))
            raise ValueError(f"{place}: two labels on one span: {two}; a span has one")
        label = label[0] if label else None
    covered = None if keys.covered is None else at(row, keys.covered, None)
    said = covered if isinstance(covered, str) else None
    return Annotation(((start, end),), reading.label(label, place), said)


class KeyedFormat(TextFormat):
    """A format whose keys are known.

    Attributes
    ----------
    keys : Keys
    ends : {"exclusive", "inclusive"}
        What the tool writes.
    """

    keys: ClassVar[Keys]
    ends: ClassVar[str] = "exclusive"
    options = frozenset(("text", "spans", "start", "end", "label", "label_names"))

    def look(self, head: Head) -> Look:
        """Most records have the keys, and one of their spans, too."""
        records = [
            record
            for value in head.records
            for record in _quietly(value, self.keys.records)
            if isinstance(record, Mapping)
        ]
        texts = [r for r in records if isinstance(at(r, self.keys.text, None), str)]
        having = [r for r in texts if self._fits(at(r, self.keys.spans, _MISSING))]
        filled = [r for r in having if at(r, self.keys.spans, None)]
        if not having or not filled or 2 * len(having) < len(records):
            return NO
        return marked(
            f"{part_of(len(having), len(records), 'record', 'have')} {self.keys.text} and "
            f"{self.keys.spans}",
        )

    def _keys_for(self, options: Any) -> Keys:
        """The keys, those that options name instead of the tool's own."""
        given = {name: getattr(options, name) for name in ("spans", *Keys._fields[2:5])}
        named = {name: key for name, key in given.items() if key is not None}
        if options.text != "text":  # the default
            named["text"] = options.text
        return self.keys._replace(**named)

    def _fits(self, rows: Any) -> bool:
        """Whether a value is a list of spans with the keys, or empty."""
        if not isinstance(rows, list):
            return rows is None
        wanted = self.keys.start, self.keys.end, self.keys.label
        return all(
            all(at(row, key, _MISSING) is not _MISSING for key in wanted)
            for row in rows
        )

    def elements(self, value: Any, place: str) -> Iterator[tuple[str, Any]]:
        """Yield the records of the one object that holds all."""
        return elements_at(value, self.keys.records, place)

    def record(self, value: Any, place: str, reading: Any) -> Record:
        """Make a `Record` of an object."""
        found = keyed_record(value, place, reading, self._keys_for(reading.options))
        if (
            self.ends == "exclusive"
            or reading.options.ends != "auto"
            or not found.spans
        ):
            return found
        return found._replace(spans=list(map(_with_last, found.spans)))


def _with_last(annotation: Annotation) -> Annotation:
    """The annotation with the end behind its last character, where it is that one."""
    ((start, end),) = annotation.parts
    behind = end + 1 if isinstance(end, int) else end
    return annotation._replace(parts=((start, behind),))


def _quietly(value: Any, path: str | None) -> list[Any]:
    """The records of a value; none if there is no such list."""
    try:
        return [record for _, record in elements_at(value, path, "")]
    except ValueError:
        return []
