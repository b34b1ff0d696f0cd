"""Texts with elements of XML around their spans: ``<PER>Ann</PER> ran``.

A line is a text, as ``skstruct tag --write xml`` writes them. Or a file is one element
whose children are the texts, and theirs the spans, as parserator has them:
``<Set><Address><Number>12</Number> <Street>Elm</Street></Address></Set>``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element, ParseError, XMLParser

from ..._core.user_warnings import warn
from ..._data.places import counted
from .column_lines import DOCUMENT_KEYS
from .entry import NO, Look, TextFormat, marked, near, no
from .head import Head, part_of_first
from .span_records import Annotation, Reading, Record
from .text_files import numbered_lines

_INLINE = re.compile(r"<([A-Za-z_][\w.:-]*)(?:\s[^<>]*)?>[^<>]*</\1>")
_OF_PAGES = frozenset(
    "a abbr b big br cite code dd del div dt em font h1 h2 h3 h4 h5 h6 i ins kbd li mark "
    "nobr p pre q s small strike strong sub sup td th title tr tt u ul ol".split()
)
"""Elements of HTML, which are how a text looks, and no labels of spans."""

_BARS = re.compile(r"[^\s|]\|[^\s|]")
"""As in BEST, which has such elements within words between bars."""

_OF_MUC = ("ENAMEX", "NUMEX", "TIMEX")
"""Elements of the Message Understanding Conferences, with a TYPE."""

_TAG_OF_MUC = re.compile(r"<(?:ENAMEX|NUMEX|TIMEX)\s[^<>]*>")
_OPEN = re.compile(r"\s*<([A-Za-z_][\w.:-]*)(?:\s[^<>]*)?>\s*")
_CLOSE = re.compile(r"\s*</([A-Za-z_][\w.:-]*)>\s*")
_LEAF = re.compile(r"\s*<([A-Za-z_][\w.:-]*)(?:\s[^<>]*)?>[^<>]*</\1>\s*")

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
            return no(f"{part_of_first(barred, n, 'line', 'have')} bars between words")
        tagged = sum(_TAG_OF_MUC.search(line) is not None for line in head.lines)
        if tagged:
            return marked(
                f"{part_of_first(tagged, n, 'line', 'have')} ENAMEX or its like"
            )
        if (leaves := _are_leaves(head.lines)) is not None:
            return marked(f"elements of elements, {leaves} of them a line each")
        inline = [line for line in head.lines if _INLINE.search(line)]
        names = {found[1] for line in inline for found in _INLINE.finditer(line)}
        if names and names <= _OF_PAGES:
            return near(f"it has {', '.join(sorted(names))}, as pages have")
        amid = sum(bool(_outside(line)) for line in inline)
        nested = sum(_is_record(line) for line in head.lines)
        if 2 * nested > n - 3 and nested and head.lines[0].lstrip().startswith("<"):
            return marked(
                f"{part_of_first(nested, n, 'line', 'are')} an element with elements"
            )
        seen = f"{part_of_first(amid, n, 'line', 'have')} elements amid text"
        if 2 * amid >= len(inline) and 10 * amid >= 2 * n:
            return marked(seen)
        return near(seen) if amid else no(seen)

    def records(self, source: Any, reading: Reading) -> Iterator[Record]:
        """Yield the `Record` of each line, or of each child of the one element."""
        with numbered_lines(source, reading.options.encoding) as (name, lines):
            text = "\n".join(line for _, line in lines)
        root = _parsed(text, name)
        _warn_of_attributes(root, name)
        for place, written, spans, document in _texts(root, name, reading):
            filled = [span for span in spans if span.text]
            n_empty = len(spans) - len(filled)
            if n_empty:
                reading.leave_span("an element without text", place, n_empty)
            found = None if reading.texts_alone else filled
            about = {} if document is None else {DOCUMENT_KEYS[0]: document}
            yield Record(place, written, found, about, n_seen=len(spans))


class _Text(NamedTuple):
    """A text of a file.

    Attributes
    ----------
    place : str
    text : str
    spans : list of Annotation
    document : str or None
        What the text is a part of, if the file says it.
    """

    place: str
    text: str
    spans: list[Annotation]
    document: str | None = None


def _texts(root: Element, name: str, reading: Reading) -> Iterator[_Text]:
    """Return the texts of a file, by what it looks like."""
    outer = _inner(root)
    has_muc = any(True for tag in _OF_MUC for _ in root.iter(tag))
    if has_muc and not any(child.tag in _OF_MUC for child in outer):
        return _of_muc(root, name, reading)
    if (of := _children_of_children(root)) is not None:
        return _elements(of, name)
    return _lines(outer, name)


def _are_leaves(lines: list[str]) -> int | None:
    """Count the lines that are elements of the elements of one element, if all are
    that, or begin or end one of these.
    """
    depth = n = 0
    records = set()
    for line in lines[bool(_DECLARATION.match(lines[0])) :]:
        if _LEAF.fullmatch(line) and depth == 2:
            n += 1
        elif (found := _OPEN.fullmatch(line)) and depth < 2:
            records |= {found[1]} if depth else set()
            depth += 1
        elif _CLOSE.fullmatch(line) and depth:
            depth -= 1
        elif line.strip():
            return None
    is_page = records <= _OF_PAGES | {"body", "head"}
    return n if n and len(records) == 1 and not is_page else None


def _outside(line: str) -> str:
    """Return the text of a line outside of elements."""
    return re.sub(r"<[^<>]*>", "", _INLINE.sub("", line)).strip()


def _is_record(line: str) -> bool:
    """Tell whether a line is one element that holds others."""
    found = re.fullmatch(
        r"\s*<([A-Za-z_][\w.:-]*)(?:\s[^<>]*)?>(.*)</\1>\s*", line, re.DOTALL
    )
    return found is not None and _INLINE.search(found[2]) is not None


def _parsed(text: str, name: str) -> Element:
    """An element around the whole file."""
    if _DOCTYPE.search(text):
        raise ValueError(f"{name}: XML with a DOCTYPE is not read; delete the DOCTYPE")
    parser = XMLParser()
    try:
        parser.feed("<_>" + _DECLARATION.sub("", text))
        parser.feed("</_>")
        return parser.close()
    except ParseError as error:
        line, column = error.position
        written = ("<_>" + _DECLARATION.sub("", text)).split("\n")[line - 1]
        remedy = _remedy(written[: column + 1])
        raise ValueError(
            f"{name}, line {line}: not valid XML: {error.args[0].partition(':')[0]} "
            f"(column {column - 2 * (line == 1)}){remedy}"
        ) from None


_BARE = re.compile(r"&(?!\w+;|#\w+;)|<(?![\w/!?])")


def _remedy(written: str) -> str:
    """The end of an error: how the character is written that stands bare in a line."""
    bare = _BARE.findall(written)
    if not bare:
        return ""
    return f": write {'&amp;' if bare[-1] == '&' else '&lt;'} for {bare[-1]}"


def _warn_of_attributes(root: Element, name: str) -> None:
    """Warn if all spans have one label, and an attribute that would tell them apart."""
    spans = [each for each in root.iter() if not len(each) and each.attrib]
    if not spans or len({_label(each) for each in spans}) > 1:
        return
    for key in spans[0].attrib:
        values = Counter(each.get(key) for each in spans)
        if 1 < len(values) <= len(spans) // 2 and None not in values:
            warn(
                f"{name}: all labels are {_label(spans[0])!r}, and the attribute "
                f"{key!r} has {counted(len(values), 'value')}; to read these as "
                "labels, rename the attribute to label or type"
            )


def _children_of_children(root: Element) -> Element | None:
    """The one element whose children are texts, if the file is such."""
    if len(root) != 1 or (root.text or "").strip() or (root[0].tail or "").strip():
        return None
    one = root[0]
    if _has_own_text(one):
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
                f"{place}: the element {_called(child[0])} is within {_called(child)}, "
                "but spans within spans are not read; leave one of them out, or take "
                "the texts out of what is around them: one element, whose children are "
                "texts, or documents of texts"
            )
        inner = child.text or ""
        end = length + len(inner)
        spans.append(Annotation(((length, end),), _label(child), inner))
        tail = child.tail or ""
        parts += [inner, tail]
        length += len(inner) + len(tail)
    return "".join(parts), spans


def _called(element: Element) -> str:
    """The name of an element, without its namespace."""
    return str(element.tag).rpartition("}")[2]


def _elements(of: Element, name: str) -> Iterator[_Text]:
    """Yield the children of an element as texts, or the texts of these if they are
    documents.
    """
    for k, (child, document) in enumerate(_of_documents(of)):
        place = f"{name}, record {k}"
        _flatten(child)
        text, spans = _linear(child, place)
        yield _Text(place, text, spans, document)


_IDS = ("id", "{http://www.w3.org/XML/1998/namespace}id")


def _of_documents(of: Element) -> list[tuple[Element, str | None]]:
    """The elements that are texts, each with its document.

    Elements without text of their own, whose children have elements, are documents; and
    so on within them, where the outermost ones count.
    """
    found: list[tuple[Element, str | None]] = [(child, None) for child in of]
    while True:
        bare = [not _has_own_text(each) for each, _ in found]
        inner = {
            child.tag
            for each, is_bare in zip(found, bare)
            for child in each[0]
            if is_bare and len(child)
        }
        within = {child.tag for each, _ in found for child in each}
        if not inner or not all(bare) or not within <= inner:
            return found
        found = [
            (child, document or next(filter(None, map(each.get, _IDS)), str(k)))
            for k, (each, document) in enumerate(found)
            for child in each
        ]


def _has_own_text(element: Element) -> bool:
    """Tell whether an element has text outside of its children."""
    between = (element.text, *(child.tail for child in element))
    return any((each or "").strip() for each in between)


def _flatten(element: Element) -> None:
    """Take line ends and indentations out of an element that has its children a line
    each: its text is on one line.
    """
    between = [element.text, *(child.tail for child in element)]
    if not len(element) or _has_own_text(element):
        return
    if not any("\n" in (each or "") for each in between):
        return
    element.text = ""
    for child in element:
        child.tail = " "
        child.text = (child.text or "").strip()
    element[-1].tail = ""


def _of_muc(root: Element, name: str, reading: Reading) -> Iterator[_Text]:
    """Yield the elements that hold ENAMEX and its like, and others of their names, as
    texts; what else has text is structure.
    """
    parents = {child: parent for parent in root.iter() for child in parent}
    holders = {parents[each].tag for tag in _OF_MUC for each in root.iter(tag)}
    holders -= set(_OF_MUC)
    tally = reading.contents.records
    k = 0
    for element in root.iter():
        inside = element.tag in holders and not any(
            child.tag in holders for child in element.iter() if child is not element
        )
        if inside:
            place = f"{name}, record {k}"
            text, spans = _linear(element, place)
            shift = len(text) - len(text.lstrip())
            moved = [
                span._replace(
                    parts=tuple((a - shift, b - shift) for a, b in span.parts)
                )
                for span in spans
            ]
            k += 1
            yield _Text(place, text.strip(), moved)
        elif element.tag not in _OF_MUC and (element.text or "").strip():
            tally.seen += 1
            if len(element):
                tally.leave(_BESIDE, f"{name}, {element.tag}")
            else:
                tally.structure += 1
        parent = parents.get(element)
        is_outside = parent is not None and parent.tag not in holders
        if is_outside and (element.tail or "").strip():
            tally.seen += 1
            tally.leave(_BESIDE, f"{name}, behind {element.tag}")


_BESIDE = "text beside elements"


def _lines(root: Element, name: str) -> Iterator[_Text]:
    """Yield each line that is not blank as a text; spans may go on over them."""
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
            yield _Text(f"{name}, line {number}", line, mine)
        number += text.count("\n", begin, at + 1)
        begin = at + 1
