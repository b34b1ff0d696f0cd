"""Small changes of annotated texts, for the law that what is read is what is there.

Each says what it touched: the texts of records that may be read otherwise, texts that it
added, and words of which an error has to have one.
"""

import copy
import json
from typing import NamedTuple


class Mutation(NamedTuple):
    """A changed file.

    Attributes
    ----------
    name : str
    content : str or dict of str to str
        Of the file, or of each file of a folder.
    touched : frozenset of str
        Texts of records that need not be returned as before.
    added : int
        Records that were added.
    says : tuple of str
        An error is about what was touched if it has one of these.
    """

    name: str
    content: object
    touched: frozenset = frozenset()
    added: int = 0
    says: tuple = ()


TASK = {
    "data": {"text": "Ann ran"},
    "annotations": [
        {
            "result": [
                {"type": "labels", "value": {"start": 0, "end": 3, "labels": ["PER"]}}
            ]
        }
    ],
}
LINE = {"text": "Bo ran", "label": [[0, 2, "PER"]]}
CHOICE = {
    "text": "Eve ran",
    "_input_hash": 9,
    "_view_id": "choice",
    "options": [{"id": 1, "text": "a"}],
    "accept": [1],
    "answer": "accept",
}
FOREIGN = {"label-studio": TASK, "doccano": LINE, "prodigy": CHOICE}
"""Records of other formats."""


class Layout(NamedTuple):
    """Where the records of a format have what, for mutations.

    Attributes
    ----------
    text, spans : str
        Dotted.
    records : str or None
        The list of them, if one object holds all.
    is_pair : bool
        Whether a record is a text and an object.
    """

    text: str = "text"
    spans: str = "spans"
    records: str | None = None
    is_pair: bool = False


LAYOUTS = {
    "jsonl": Layout(),
    "doccano": Layout(spans="label"),
    "prodigy": Layout(),
    "prodigy-decisions": Layout(),
    "label-studio": Layout("data.text", "annotations"),
    "spacy": Layout("0", "1.entities", is_pair=True),
    "ner-annotator": Layout("0", "1.entities", "annotations", True),
    "presidio": Layout("full_text"),
    "hf-pipeline": Layout(spans="entities"),
    "rasa": Layout(spans="entities", records="rasa_nlu_data.common_examples"),
    "pubannotation": Layout(spans="denotations"),
    "spacy-doc": Layout(spans="ents"),
    "dataturks": Layout("content", "annotation"),
    "vertex": Layout("textContent", "textSegmentAnnotations"),
    "ground-truth": Layout("source", "towns.annotations.entities"),
    "kili": Layout("content", "labels"),
}


def get(value, path):
    for key in path.split("."):
        value = value[int(key) if isinstance(value, list) else key]
    return value


def put(value, path, new):
    *parents, last = path.split(".")
    owner = get(value, ".".join(parents)) if parents else value
    owner[int(last) if isinstance(owner, list) else last] = new


def rename(value, path, name):
    *parents, last = path.split(".")
    owner = get(value, ".".join(parents)) if parents else value
    owner[name] = owner.pop(last)


def values_of(text):
    """The values of a file of JSON, and whether they are one list."""
    try:
        found = json.loads(text)
    except ValueError:
        return [json.loads(line) for line in text.splitlines() if line.strip()], False
    return (found, True) if isinstance(found, list) else ([found], False)


def of_json(format, text):
    """Yield the mutations of a sample of a format of JSON."""
    layout = LAYOUTS[format]
    values, is_list = values_of(text)
    whole = values[0] if layout.records else None
    records = get(whole, layout.records) if layout.records else values

    def written(changed, before=""):
        if layout.records:
            given = copy.deepcopy(whole)
            put(given, layout.records, changed)
            return before + json.dumps(given, ensure_ascii=False) + "\n"
        if is_list:
            return before + json.dumps(changed, ensure_ascii=False) + "\n"
        lines = (json.dumps(r, ensure_ascii=False) + "\n" for r in changed)
        return before + "".join(lines)

    full = next(k for k, r in enumerate(records) if get(r, layout.spans))
    spot = (f"line {full + 1}", f"record {full}", layout.spans.rpartition(".")[2])
    touched = frozenset([get(records[full], layout.text)])

    def changed(name, change, says=spot):
        given = copy.deepcopy(records)
        change(given[full])
        return Mutation(name, written(given), touched, 0, says)

    for called, value in (("null", None), ("an object", {}), ("a str", "none")):
        yield changed(f"spans are {called}", lambda r, v=value: put(r, layout.spans, v))
    yield changed("key renamed", lambda r: rename(r, layout.spans, "marks"))
    rows = get(records[full], layout.spans)
    yield changed(
        "spans as a str of JSON",
        lambda r: put(r, layout.spans, json.dumps(rows)),
    )
    yield changed("a span that is none", lambda r: put(r, layout.spans, [{"x": 1}]))
    yield changed("a null span", lambda r: put(r, layout.spans, [*rows, None]))
    if not layout.is_pair and format != "label-studio":
        yield changed("an empty list before", lambda r: r.update(entities_=[]))
    n = len(records)
    for name, record in FOREIGN.items():
        last = (f"line {n + 1}", f"record {n}")
        if name != format:
            content = written([*records, record])
            yield Mutation(f"a record of {name}", content, frozenset(), 1, last)
            content = written([record, *records])
            says = ("line 1", "record 0", "format")
            yield Mutation(f"a record of {name} first", content, frozenset(), 1, says)
    yield Mutation("a null record", written([*records, None]), added=1)
    if not layout.is_pair:
        empty = copy.deepcopy(records[full])
        put(empty, layout.spans, [])
        put(empty, layout.text, "no one at all")
        content = written([empty] * 60 + records)
        yield Mutation("sixty empty ones first", content, added=60, says=("format=",))
        given = [{**r, "answer": "ignore"} for r in records]
        everything = frozenset(get(r, layout.text) for r in records)
        yield Mutation("answers of questions", written(given), everything, 0, spot)
    if not (is_list or layout.records):
        content = written(records, "{oops\n")
        yield Mutation("a bad first line", content, says=("line 1",))
        yield Mutation("blank lines", written(records).replace("\n", "\n\n"))
        yield Mutation(
            "line ends of two characters", written(records).replace("\n", "\r\n")
        )


def of_lines(text):
    """Yield mutations of formats with one text per line."""
    lines = text.splitlines()
    for name, line in (
        ("a record of JSON", json.dumps(LINE)),
        ("a line that begins with #", "#now or never"),
        ("a key of YAML", "rules: one two"),
        ("a row of a table", "a,b,0,1"),
    ):
        content = "\n".join([*lines, line]) + "\n"
        yield Mutation(name, content, added=1, says=(f"line {len(lines) + 1}",))
    yield Mutation("line ends of two characters", "\r\n".join(lines) + "\r\n")
    yield Mutation("blank lines", "\n\n".join(lines) + "\n")


def of_xml(text):
    """Yield mutations of elements around spans."""
    lines = text.splitlines()
    n = len(lines) + 1
    for name, line in (
        ("a comment", "Bo <!-- not Eve --> ran."),
        ("a bare character", "A & B ran."),
        ("an element without text", "<PER></PER> ran."),
        ("an element within one", "<PER>Bo <LOC>Oslo</LOC></PER> ran."),
        ("an element that is not closed", "<PER>Bo ran."),
    ):
        content = "\n".join([*lines, line]) + "\n"
        says = (f"line {n}", f"line {n - 1}", f"line {n + 1}", "LOC", "PER")
        yield Mutation(name, content, added=1, says=says)


def of_table(text):
    """Yield mutations of a table with one span per row."""
    header, *rows = text.splitlines()
    beside = [f"{header},note", *(f"{row}," for row in rows)]
    yield Mutation("line ends of two characters", "\r\n".join([header, *rows]) + "\r\n")
    lone = [beside[0], f'{rows[0]},"', *beside[2:]]
    yield Mutation("a lone quotation mark", "\n".join(lone) + "\n", says=("line 2",))
    two = [beside[0], f'{rows[0]},"', f'{rows[1]},"', *beside[3:]]
    yield Mutation("two quotation marks", "\n".join(two) + "\n", says=("line 2",))
    long = [beside[0], f"{rows[0]},{'x' * 200_000}", *beside[2:]]
    yield Mutation("a very long cell", "\n".join(long) + "\n")
    yield Mutation("sep= of a spreadsheet", f"sep=,\n{text}")
    short = "\n".join([header, *rows, "a,b"]) + "\n"
    yield Mutation("a short row", short, says=(f"line {len(rows) + 2}",))
    yield Mutation("blank rows", text.replace("\n", "\n\n"))


def of_articles(text):
    """Yield mutations of PubTator."""
    first = text.split("\n\n")[0]
    name = first.partition("|")[0]
    n = first.count("\n") + 2
    for called, line, says in (
        ("a relation", f"{name}\tCID\tD1\tD2", ()),
        ("a line of another format", json.dumps(LINE), (f"line {n}",)),
        ("an offset that is none", f"{name}\tx\t3\tAnn\tPER", (f"line {n}",)),
    ):
        content = text.replace(first, f"{first}\n{line}", 1)
        yield Mutation(called, content, says=says)


def of_folder(files):
    """Yield mutations of a folder of brat."""
    name = next(n for n in sorted(files) if n.endswith(".ann") and files[n].strip())
    text = files[name.replace(".ann", ".txt")]
    n = files[name].count("\n") + 1

    def more(called, line, **options):
        changed = {**files, name: f"{files[name]}{line}\n"}
        return Mutation(called, changed, **options)

    said = (f"line {n}",)
    yield more("a relation", "R1\tx Arg1:T1 Arg2:T2")
    yield more("a note", "#1\tAnnotatorNotes T1\tsure")
    yield more("a line of another format", json.dumps(LINE), says=said)
    yield more("a span without text", "T99\tPER x y", says=said)
    yield more("a span too far", "T99\tPER 0 9999\tAnn", says=said)
    yield Mutation(
        "a text without annotations", {**files, "zz.txt": "Eve ran"}, added=1
    )
    crlf = {**files, name: files[name].replace("\n", "\r\n")}
    yield Mutation("line ends of two characters", crlf)
    one = files[name].splitlines()[0]
    apart = f"{one.split()[0]}\tPER 0 1;{len(text) - 1} {len(text)}\tx y"
    changed = {**files, name: apart + "\n"}
    yield Mutation("a span in parts", changed, frozenset([text]), says=("line 1",))
