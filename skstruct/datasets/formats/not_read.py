"""Formats that are known by sight and not read, and what reads them."""

from __future__ import annotations

import re
import shlex
from typing import NamedTuple

from .head import Head
from .text_files import OLD_LINE_ENDS


class _Quoted(str):
    """The name of a file, written as the shell reads it unless as ``{0!r}``."""

    def __format__(self, specification: str) -> str:
        return shlex.quote(self)


class NotRead(NamedTuple):
    """A format that is not read."""

    called: str
    advice: str  # with {0} for the name of the file
    endings: tuple[str, ...] = ()
    sign: str | None = None  # a regular expression that its beginning has
    is_binary: bool = False
    is_loose: bool = False  # columns or text that a model reads can look so, too


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
        r"\d+ \S+ \d+ \S+ \d+ \S+ \d+(?![^ \n])|"
        r"\A(?:# S-ID.*\n)?\* \d+ -?\d+[A-Z]\n(?:\S+ ){5,}\S+\n",
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
        "annotations of brat or BioNLP, whose text is in another file",
        "call the two files NAME.txt and NAME.ann, and read NAME.ann",
        endings=(".a1", ".a2"),
    ),
    NotRead(
        "columns with tags of XML on lines of their own",
        "make blank lines of those that end sentences, and leave out the others: "
        "sed -e 's/^<\\/.*>$//' -e '/^<[^>]*>$/d' {0} > {0}.conll",
        sign=r"\A(?:<[A-Za-z][^<>\n]*>\n)+(?:[^<>\t\n]+\t[^<>\n]*\n){2}",
        is_loose=True,
    ),
    NotRead(
        "words and labels with ||| between",
        "put a tab there: awk '{{sub(/ *[|][|][|] */, \"\\t\")}}1' {0} > {0}.tsv",
        sign=r"\A(?:[^\n|]*[^\n|\s] \|\|\| [^\n|]+(?:\n|\Z)){2}",
        is_loose=True,
    ),
    NotRead(
        "words of three parts with bars between",
        "write one token per line with tabs between its parts: sed 's/$/ /' {0} | "
        "tr ' |' '\\n\\t' > {0}.conll",
        sign=r"\A(?:[^\s|]+\|[^\s|]+\|[^\s|]+ )+[^\s|]+\|[^\s|]+\|[^\s|]+ *(?:\n|\Z)",
        is_loose=True,
    ),
    NotRead(
        "words with their tags in brackets",
        "write WORD/TAG: sed -e 's/(\\([A-Za-z0-9_]*\\))/\\/\\1/g' -e 's/　/ /g' "
        "{0} > {0}.txt",
        sign=r"\A(?:[^\s()]+\([A-Za-z][A-Za-z0-9_]*\)[\s\u3000]+){3}",
        is_loose=True,
    ),
    NotRead(
        "XML of SemEval, whose aspects are counted in attributes, which is not read",
        "import xml.etree.ElementTree as tree; found = "
        "list(tree.parse({0!r}).iter('sentence')); X = [e.findtext('text') for e in "
        "found]; y = [[(int(t.get('from')), int(t.get('to')), t.get('polarity')) for t "
        "in e.iter() if t.get('from') and t.get('target') != 'NULL'] for e in found]",
        sign=r"<(?:aspectTerm|Opinion)\s[^<>]*\bfrom=",
    ),
    NotRead(
        "XML of TEI, which is not read",
        "if lines are paragraphs, take those of the body: (echo '<body>'; sed -e "
        "'1,/<body>/d' -e '/<\\/body>/,$d' {0}; echo '</body>') > {0}.xml",
        sign=r"<teiHeader[\s>]",
    ),
    NotRead(
        "XML of WebLicht, which is not read",
        "export CoNLL from WebLicht",
        sign=r"<(?:\w+:)?TextCorpus[\s>]|<D-Spin",
    ),
    NotRead(
        "XML of FoLiA, which is not read",
        "convert it to columns with folia2columns of FoLiA-tools",
        sign=r"<FoLiA[\s>]",
    ),
    NotRead(
        "JSON of spaCy 2, which is not read",
        "import json; found = [s['tokens'] for d in json.load(open({0!r}, 'r', -1, "
        "'utf-8')) for p in d['paragraphs'] for s in p['sentences']]; X = [[t['orth'] "
        "for t in s] for s in found]; y = [[t['ner'] for t in s] for s in found]",
        sign=r'"paragraphs"\s*:\s*\[\s*\{[^\[\]]*"sentences"\s*:',
    ),
    NotRead(
        "texts in pieces, as Dialogflow and Snips have them, which are not read",
        "import json; pieces = lambda v: [v['data']] if isinstance(v, dict) and 'data' "
        "in v else [d for each in (v.values() if isinstance(v, dict) else v if "
        "isinstance(v, list) else ()) for d in pieces(each)]; found = pieces(json.load("
        "open({0!r}, 'r', -1, 'utf-8'))); X = [''.join(c['text'] for c in d) for d in "
        "found]; y = [[(sum(len(b['text']) for b in d[:k]), sum(len(b['text']) for b in "
        "d[: k + 1]), c.get('entity') or c.get('alias')) for k, c in enumerate(d) if "
        "c.get('entity') or c.get('alias')] for d in found]",
        sign=r'"data"\s*:\s*\[\s*\{\s*"text"\s*:\s*"[^"]*"\s*(?:,\s*'
        r'"(?:entity|alias|userDefined|slot_name)"|\}\s*,\s*\{\s*"text"\s*:\s*"[^"]*"'
        r'\s*,\s*"(?:entity|alias|slot_name)")',
    ),
    NotRead(
        "annotations of tagtog, whose texts are in other files",
        "export plain.html and ann.json, and give records of text and spans to "
        "read_spans",
        sign=r'"annotatable"\s*:\s*\{',
    ),
    NotRead(
        "a table by columns, as pandas writes it",
        "import pandas; pandas.read_json({0!r}).to_json({0!r} + '.jsonl', "
        "orient='records', lines=True)",
        sign=r'\A\s*\{\s*"[^"\n]+"\s*:\s*\{\s*"0"\s*:',
    ),
    NotRead(
        "a table of pandas with its rows apart",
        "import pandas; pandas.read_json({0!r}, orient='split').to_json({0!r} + "
        "'.jsonl', orient='records', lines=True)",
        sign=r'\A\s*\{\s*"columns"\s*:\s*\[',
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
    if len(head.lines) == 1 and "\r" in head.lines[0].strip():
        return f"; {OLD_LINE_ENDS}"
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


def advice_for(head: Head, for_model: bool = False) -> str | None:
    """Return what a file is that is not read, and what reads it; None for others.

    ``for_model`` says that a model reads it, which knows how.
    """
    begin = "\n".join(head.lines[:20])
    for each in ALL:
        if for_model and each.is_loose:
            continue
        signed = each.sign is not None and re.search(each.sign, begin)
        if signed or head.name.lower().endswith(each.endings or ("\0",)):
            return (
                f"{head.name}: {each.called}: {each.advice.format(_Quoted(head.name))}"
            )
    return None
