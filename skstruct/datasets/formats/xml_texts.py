"""Texts with elements of XML around their spans: ``<PER>Ann</PER> ran``.

A line is a text, as ``skstruct tag --write xml`` writes them. Or a file is one element
whose children are the texts, and theirs the spans, as parserator has them:
``<Set><Address><Number>12</Number> <Street>Elm</Street></Address></Set>``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element, ParseError, XMLParser

from ..._core.user_warnings import warn
from ..._data.places import counted, part_of
from .entry import NO, Look, TextFormat, marked, near, no
from .head import Head
from .span_records import Annotation, Record
from .text_files import numbered_lines

_INLINE = re.compile(r"<([A-Za-z_][\w.:-]*)(?:\s[^<>]*)?>[^<>]*</\1>")
_OF_PAGES = frozenset(
    "a abbr b big br cite code dd del div dt em font h1 h2 h3 h4 h5 h6 i ins kbd li mark "
    "nobr p pre q s small strike strong sub sup td th title tr tt u ul ol".split()
)
"""Elements of HTML, which are how a text looks, and no labels of spans."""

_BARS = re.compile(r"[^\s|]\|[^\s|]")
"""As in BEST, which has such elements within words between bars."""

_DECLARATION = re.compile(r"\A\s*<\?xml[^>]*\?>")
_DOCTYPE = re.compile(r"<!(?:DOCTYPE|ENTITY)")


class XmlTexts(TextFormat):
    """The entry of the table."""

    name = "xml"
    description = "texts with elements around their spans: <PER>Ann</PER> ran"
    is_json = False

    def look(self, head: Head) -> Look:
        """Lines have elements amid text, or children of children."""
        if not head.lines or head.is_json or _DOCTYPE.search("\n".join(head.raw)):
            return NO
        n = len(head.lines)
        barred = sum(_BARS.search(line) is not None for line in head.lines)
        if 2 * barred > n:
            return near(f"{part_of(barred, n, 'line', 'have')} bars between words")
        inline = [line for line in head.lines if _INLINE.search(line)]
        names = {found[1] for line in inline for found in _INLINE.finditer(line)}
        if names and names <= _OF_PAGES:
            return near(f"it has {', '.join(sorted(names))}, as pages have")
        amid = sum(bool(_outside(line)) for line in inline)
        nested = sum(_is_record(line) for line in head.lines)
        if 2 * nested > n - 3 and nested and head.lines[0].lstrip().startswith("<"):
            return marked(
                f"{part_of(nested, n, 'line', 'are')} an element with elements"
            )
        seen = f"{part_of(amid, n, 'line', 'have')} elements amid text"
        if 2 * amid >= len(inline) and 10 * amid >= 2 * n:
            return marked(seen)
        return near(seen) if amid else no(seen)

    def records(self, source: Any, reading: Any) -> Iterator[Record]:
        """Yield the `Record` of each line, or of each child of the one element."""
        with numbered_lines(source, reading.options.encoding) as (name, lines):
            text = "\n".join(line for _, line in lines)
        root = _parsed(text, name)
        _warn_of_attributes(root, name)
        of = _children_of_children(root)
        found = _elements(of, name) if of is not None else _lines(_inner(root), name)
        for place, written, spans in found:
            yield Record(place, written, None if reading.texts_alone else spans, {})


def _outside(line: str) -> str:
    """What is text of a line outside of elements."""
    return re.sub(r"<[^<>]*>", "", _INLINE.sub("", line)).strip()


def _is_record(line: str) -> bool:
    """Whether a line is one element that holds others."""
    found = re.fullmatch(
        r"\s*<([A-Za-z_][\w.:-]*)(?:\s[^<>]*)?>(.*)</\1>\s*", line, re.DOTALL
    )
    return found is not None and _INLINE.search(found[2]) is not None


def _parsed(text: str, name: str) -> Element:
    """An element around the whole file."""
    if _DOCTYPE.search(text):
        raise ValueError(f"{name}: XML with a DOCTYPE is not read")
    parser = XMLParser()
    try:
        parser.feed("<_>" + _DECLARATION.sub("", text))
        parser.feed("</_>")
        return parser.close()
    except ParseError as error:
        line, column = error.position
        raise ValueError(
            f"{name}, line {line}: not valid XML: {error.args[0].partition(':')[0]} "
            f"(column {column - 2 * (line == 1)})"
        ) from None


def _warn_of_attributes(root: Element, name: str) -> None:
    """Warn if all spans have one label, and an attribute that would tell them apart."""
    spans = [each for each in root.iter() if not len(each) and each.attrib]
    if not spans or len({_label(each) for each in spans}) > 1:
        return
    for key in spans[0].attrib:
        values = Counter(each.get(key) for each in spans)
        if 1 < len(values) <= len(spans) // 2 and None not in values:
            warn(
                f"{name}: all labels are {_label(spans[0])!r}; the attribute {key!r} has "
                f"{counted(len(values), 'value')}: the name label or type for it makes "
                "them labels"
            )


def _children_of_children(root: Element) -> Element | None:
    """The one element whose children are texts, if the file is such."""
    if len(root) != 1 or (root.text or "").strip() or (root[0].tail or "").strip():
        return None
    one = root[0]
    between = [one.text, *(child.tail for child in one)]
    if any((text or "").strip() for text in between):
        return None
    return one if any(len(child) for child in one) else None


def _inner(root: Element) -> Element:
    """The element around all lines, if there is one."""
    alone = len(root) == 1 and not (root.text or "").strip()
    if alone and not (root[0].tail or "").strip() and len(root[0]):
        return root[0]
    return root


def _label(element: Element) -> str:
    """The label of a span: that of an attribute, as in ``<ENAMEX TYPE="PERSON">``."""
    named = {name.lower(): value for name, value in element.items()}
    return named.get("label") or named.get("type") or element.tag


def _linear(
    element: Element, place: str, start: int = 0
) -> tuple[str, list[Annotation]]:
    """The text of an element, and the spans that its children are."""
    parts = [element.text or ""]
    length = start + len(parts[0])
    spans = []
    for child in element:
        if len(child):
            raise ValueError(
                f"{place}: the element {child[0].tag} is within {child.tag}: spans "
                "within spans are not read"
            )
        inner = child.text or ""
        if inner:
            end = length + len(inner)
            spans.append(Annotation(((length, end),), _label(child), inner))
        tail = child.tail or ""
        parts += [inner, tail]
        length += len(inner) + len(tail)
    return "".join(parts), spans


def _elements(of: Element, name: str) -> Iterator[tuple[str, str, list[Annotation]]]:
    """(place, text, spans) of the children of an element."""
    for k, child in enumerate(of):
        place = f"{name}, record {k}"
        yield place, *_linear(child, place)


def _lines(root: Element, name: str) -> Iterator[tuple[str, str, list[Annotation]]]:
    """(place, text, spans) of each line that is not blank; spans may go on over
    them.
    """
    text, spans = _linear(root, name)
    inside = {t for span in spans for t in range(*span.parts[0])}
    begin = 0
    number = 1
    rest = iter(spans)
    span = next(rest, None)
    for at in [k for k, c in enumerate(text) if c == "\n" and k not in inside] + [
        len(text)
    ]:
        line = text[begin:at]
        mine = []
        while span is not None and span.parts[0][0] < at:
            start, end = span.parts[0]
            of_line = ((start - begin, end - begin),)
            mine.append(span._replace(parts=of_line))
            span = next(rest, None)
        if line.strip():
            yield f"{name}, line {number}", line, mine
        number += text.count("\n", begin, at + 1)
        begin = at + 1
