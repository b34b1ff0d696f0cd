"""Formats that are known by sight and not read, and what reads them."""

from __future__ import annotations

import re
from typing import NamedTuple

from .head import Head


class NotRead(NamedTuple):
    """A format that is not read."""

    called: str
    advice: str  # with {0} for the name of the file
    endings: tuple[str, ...] = ()
    sign: str | None = None  # a regular expression that its beginning has
    is_binary: bool = False


ALL = (
    NotRead(
        "a binary file, which spaCy reads",
        "docs = list(spacy.tokens.DocBin().from_disk({0!r}).get_docs("
        "spacy.blank('en').vocab)); X = [d.text for d in docs]; "
        "y = [[(e.start_char, e.end_char, e.label_) for e in d.ents] for d in docs]",
        endings=(".spacy",),
        is_binary=True,
    ),
    NotRead(
        "Parquet, which pandas reads",
        "data = pandas.read_parquet({0!r}); "
        "data.to_json({0!r} + '.jsonl', orient='records', lines=True)",
        endings=(".parquet",),
        is_binary=True,
    ),
    NotRead(
        "output of Juman or KNP, which is not read",
        "take the first field of each line: grep -v '^[#*@+]' {0} | cut -d' ' -f1 | "
        "sed 's/^EOS$//' | awk 'BEGIN{{RS=\"\";FS=\"\\n\"}}{{$1=$1}}1' > {0}.seg",
        sign=r"\A(?:# S-ID.*\n)?(?:\* -?\d+[A-Z].*\n)?\S+ \S+ \S+ \S+ \d+ \S+ \d+ ",
    ),
    NotRead(
        "a partly segmented text of KyTea, which is not read",
        "write whole sentences, with spaces between words",
        sign=r"(?m)^(?=[^|\n]*\|)(?=[^ \n-]*[ -])(?:[^\s|/-](?:/[^\s|-]+)?[ |-])+[^\s|/-](?:/[^\s|-]+)?$",
    ),
    NotRead(
        "a table with lists in its cells, which pandas reads",
        "data = pandas.read_csv({0!r}); import ast; "
        "data = data.map(lambda x: ast.literal_eval(x) if str(x)[:1] == '[' else x); "
        "data.to_json({0!r} + '.jsonl', orient='records', lines=True)",
        sign=r"\A[^\n\[\]{}]*[,;\t][^\n\[\]{}]*\n(?:[^\n\[\]{}]*[,;\t])?\"?\[\s*(?:'|\"\")",
    ),
    NotRead(
        "BioC XML, which is not read",
        "its tools convert it to PubTator or BioC JSON to brat",
        sign=r"<!DOCTYPE collection|<collection>\s*<source>",
    ),
    NotRead(
        "BioC JSON, which is not read",
        "PubTator's own format is: choose it where you export, or convert with bconv",
        sign=r'"passages"\s*:\s*\[',
    ),
    NotRead(
        "XML of GATE, which is not read",
        "export brat or CoNLL from GATE",
        sign=r"<GateDocument",
    ),
    NotRead(
        "XMI of UIMA, which is not read",
        "export WebAnno TSV 3 or CoNLL from INCEpTION",
        endings=(".xmi",),
        sign=r"<xmi:XMI",
    ),
    NotRead(
        "JSON of UIMA, which is not read",
        "export WebAnno TSV 3 or CoNLL from INCEpTION",
        sign=r'"%TYPES"\s*:',
    ),
)


def is_binary(name: str) -> bool:
    """Tell whether the name of a file is that of no text."""
    ends = tuple(ending for each in ALL if each.is_binary for ending in each.endings)
    return name.lower().endswith(ends)


def advice_for(head: Head) -> str | None:
    """Return what a file is that is not read, and what reads it; None for others."""
    begin = "\n".join(head.lines[:20])
    for each in ALL:
        signed = each.sign is not None and re.search(each.sign, begin)
        if signed or head.name.lower().endswith(each.endings or ("\0",)):
            return f"{head.name}: {each.called}: {each.advice.format(head.name)}"
    return None
