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
        "output of Juman or KNP, which is not read",
        "take the first field of each line: grep -v '^[#*@+]' {0} | cut -d' ' -f1 | "
        "sed 's/^EOS$//' | awk 'BEGIN{{RS=\"\";FS=\"\\n\"}}{{$1=$1}}1' > {0}.seg",
        sign=r"\A(?:# S-ID.*\n)?(?:\* -?\d+[A-Z].*\n)?\S+ \S+ \S+ \S+ "
        r"\d+ \S+ \d+ \S+ \d+ \S+ \d+(?![^ \n])",
    ),
    NotRead(
        "a table with lists in its cells, which pandas reads",
        "import re, pandas; data = pandas.read_csv({0!r}, sep=None, engine='python'); "
        'parts = lambda x: re.findall(r"""\'([^\']*)\'|"([^"]*)"|([^\\s,\\[\\]]+)'
        '""", x); data = data.map(lambda x: [int(c) if c.isdecimal() else a or b or c '
        "for a, b, c in parts(x)] if str(x)[:1] == '[' else x); "
        "data.to_json({0!r} + '.jsonl', orient='records', lines=True)",
        sign=r"\A[^\n\[\]{}]*[,;\t][^\n\[\]{}]*\n(?:[^\n\[\]{}]*[,;\t])?\"?\[\s*(?:'|\"\")",
    ),
    NotRead(
        "a table of Label Studio; export JSON or JSON_MIN instead, or convert it",
        "import json, pandas; data = pandas.read_csv({0!r}, keep_default_na=False); "
        "data['label'] = [json.loads(x) if x else [] for x in data['label']]; "
        "data.to_json({0!r} + '.json', orient='records')",
        sign=r"\A[^\n{}\[\]]*[,;\t][^\n{}\[\]]*\n[\s\S]*\"\[\{\"\"(?:start|end|text|"
        r"labels)\"\":",
    ),
    NotRead(
        "trees of constituents, which are not read",
        "import re; trees = re.split(r'(?m)^(?=\\()', open({0!r}, 'r', -1, 'utf-8')"
        ".read()); pairs = [re.findall(r'\\(([^\\s()]+) ([^\\s()]+)\\)', t) for t in trees "
        "if t.strip()]; X = [[word for _, word in p] for p in pairs]; "
        "y = [[tag for tag, _ in p] for p in pairs] are their words and tags",
        sign=r"\A\s*\((?:\s*\((?=[A-Z]+[\s(])|(?:ROOT|TOP|S)\b)[^\t]*"
        r"\([A-Z$.,:`'-]+ [^\s()]+\)",
    ),
    NotRead(
        "data of OpenNLP, which are not read",
        "import re; text = open({0!r}, 'r', -1, 'utf-8').read(); "
        "open({0!r} + '.md', 'w', -1, 'utf-8').write(re.sub(r'<START(?::([^>]+))?> "
        "(.*?) <END>', lambda m: f'[{{m[2]}}]({{m[1] or \"default\"}})', text)) makes "
        "texts with [words](label)",
        sign=r"<START(?::[\w-]+)?> [^\n]*? <END>",
    ),
    NotRead(
        "XML of i2b2, which is not read",
        "import xml.etree.ElementTree as tree; root = tree.parse({0!r}).getroot(); "
        "X = [root.findtext('TEXT')]; y = [[(int(t.get('start')), int(t.get('end')), "
        "t.get('TYPE') or t.tag) for t in root.find('TAGS') if t.get('start')]]",
        sign=r"<(?:deIdi2b2|root|ClinicalNarrativeTemporalAnnotation)>\s*<TEXT>",
    ),
    NotRead(
        "concepts of i2b2, whose texts are in files .txt",
        'each line has c="WORDS" LINE:FIRST LINE:LAST||t="LABEL", '
        "where words are counted in lines split at spaces; make spans of "
        "them, and give records of text and spans to read_spans",
        endings=(".con",),
        sign=r'\Ac="[^\n]*" \d+:\d+ \d+:\d+\|\|t="',
    ),
    NotRead(
        "labels of Azure Language, whose texts are in other files",
        "import json, os; data = json.load(open({0!r}, 'r', -1, 'utf-8')); "
        "documents = data['assets']['documents']; X = [open(os.path.join(os.path.dirname("
        "{0!r}), d['location']), 'r', -1, 'utf-8', newline='').read() for d in documents]; "
        "y = [[(s['offset'], s['offset'] + s['length'], s['category']) for e in "
        "d['entities'] for s in e['labels']] for d in documents]",
        sign=r'"projectFileVersion"\s*:|"assets"\s*:\s*\{',
    ),
    NotRead(
        "data of SVM-hmm, whose tokens are rows of numbers",
        "import sklearn.datasets as svm; rows, tags, number = "
        "svm.load_svmlight_file({0!r}, query_id=True); X = [rows[number == k] for k in "
        "dict.fromkeys(number)]; y = [list(map(str, tags[number == k])) for k in "
        "dict.fromkeys(number)]",
        sign=r"\A(?:#[^\n]*\n)*\S+ qid:\d+ \d+:\S",
    ),
    NotRead(
        "BioC XML, which is not read",
        "convert it to PubTator with the tools of BioC",
        sign=r"<!DOCTYPE collection|<collection>\s*<source>",
    ),
    NotRead(
        "BioC JSON, which is not read",
        "export PubTator's own format, or convert the file with bconv",
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


_MALLET = (
    "; lines of features with the label behind, as MALLET has them, become data of "
    "CRFsuite: rows = [line.split() for line in open({0!r}, 'r', -1, 'utf-8')]; "
    "open({0!r} + '.crfsuite', 'w', -1, 'utf-8').writelines("
    "'\\t'.join(row[-1:] + row[:-1]) + '\\n' for row in rows)"
)


def hint_for(head: Head) -> str:
    """Return the end of an error about a file that no format fits: what it may be."""
    rows = [line.split() for line in head.lines]
    widths = {len(row) for row in rows}
    labels = {row[-1] for row in rows if row}
    is_uneven = len(widths) > 1 and min(widths, default=0) > 1
    if (
        is_uneven
        and "\t" not in "".join(head.lines[:20])
        and 4 * len(labels) < len(rows)
    ):
        return _MALLET.format(head.name)
    return ""


def advice_for(head: Head) -> str | None:
    """Return what a file is that is not read, and what reads it; None for others."""
    begin = "\n".join(head.lines[:20])
    for each in ALL:
        signed = each.sign is not None and re.search(each.sign, begin)
        if signed or head.name.lower().endswith(each.endings or ("\0",)):
            return f"{head.name}: {each.called}: {each.advice.format(head.name)}"
    return None
