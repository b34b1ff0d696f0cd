"""Formats that are known and not read: what an error advises is tried."""

import csv
import json
import subprocess

import pytest
from cli_cases import run
from format_samples import sample

from skstruct.datasets import read_spans, read_tokens
from skstruct.datasets.formats.head import Head
from skstruct.datasets.formats.not_read import ALL, advice_for, hint_for, is_binary
from skstruct.datasets.formats.span_files import AnnotationReader
from skstruct.datasets.formats.span_records import Reading


def test_each_says_what_to_do():
    assert all(each.advice and (each.endings or each.sign) for each in ALL)
    assert advice_for(Head("notes.txt", ["a X"])) is None
    assert is_binary("A.SPACY") and not is_binary("a.xmi")


@pytest.mark.parametrize(
    "row", ["\"['Ann', 'left']\",\"['B', 'O']\"", '1,"[""Ann""]"', "7;['Ann']"]
)
def test_lists_in_cells_are_known(row):
    mark = ";" if ";" in row else ","
    head = Head("a.csv", [f"tokens{mark}ner_tags", row])
    assert "read_csv" in advice_for(head)
    assert advice_for(Head("a.csv", ["text,n", '"[sic] he said",2'])) is None


def advised(path, read=read_spans):
    """Run the Python of the error about a file, and return its names."""
    with pytest.raises(ValueError) as told:
        read(path)
    message = str(told.value)
    places = ": ", ", line 1: ", ", record 0: "
    assert message.startswith(tuple(f"{path}{place}" for place in places))
    code = message[message.index("import ") if "import " in message else 0 :]
    code = code.partition("] are their words")[0]
    code += "]" if "are their words" in message else ""
    names = {}
    exec(code.partition(" makes texts")[0], names)
    return names


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("['Ana' 'left' 'Lima'],['B-PER' 'O' 'B-LOC']", "['Tom'],['B-PER']"),
        (
            '"[\'Ana\', \'left\', ""\'s""]","[1, 0, 0]"',
            '"[\'Tom\']","[1]"',
        ),
    ],
    ids=["numpy", "lists"],
)
def test_lists_in_cells_are_read_as_the_error_says(first, second, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(f"tokens,ner_tags\n{first}\n{second}\n")
    advised(path, read_tokens)
    X, y = read_tokens(f"{path}.jsonl", label_names=["O", "B-PER"])
    assert list(map(len, X)) == list(map(len, y)) == [3, 1] and y[1] == ["B-PER"]


def test_tables_of_label_studio(tmp_path):
    """Texts with emoji and line ends, and one without spans."""
    X = ["🚒 Ana, left", "Tom\nran", "Nobody"]
    spans = [
        [{"start": 3, "end": 6, "text": "Ana", "labels": ["PER"]}],
        [{"start": 0, "end": 3, "text": "Tom", "labels": ["PER"]}],
        "",
    ]
    path = tmp_path / "a.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["text", "id", "label", "annotator"])
        for k, (text, cell) in enumerate(zip(X, spans)):
            rows.writerow([text, k, json.dumps(cell) if cell else "", 1])
    advised(path)
    y = [[(2, 5, "PER")], [(0, 3, "PER")], []]
    assert read_spans(f"{path}.json") == (X, y)


def test_trees_of_constituents(tmp_path):
    path = tmp_path / "a.mrg"
    path.write_text(
        "( (S (NP (NNP Ana) (NNP Ruiz)) (VP (VBZ works)) (. .)) )\n"
        "( (S\n  (NP (NNP Tom))\n  (VP (VBD came))) )\n"
    )
    found = advised(path)
    assert found["X"] == [["Ana", "Ruiz", "works", "."], ["Tom", "came"]]
    assert found["y"] == [["NNP", "NNP", "VBZ", "."], ["NNP", "VBD"]]


def test_opennlp(tmp_path):
    path = tmp_path / "a.train"
    line = "<START:person> Ana Ruiz <END> left <START> Lima <END> .\n"
    path.write_text(line * 3)
    advised(path)
    X, y = read_spans(f"{path}.md")
    assert X == ["Ana Ruiz left Lima ."] * 3
    assert y[0] == [(0, 8, "person"), (14, 18, "default")]


def test_i2b2(tmp_path):
    path = tmp_path / "a.xml"
    path.write_text(
        '<?xml version="1.0" encoding="UTF-8" ?>\n<deIdi2b2>\n<TEXT><![CDATA[Ana ran]]>'
        '</TEXT>\n<TAGS>\n<NAME id="P0" start="0" end="3" text="Ana" TYPE="DOCTOR"/>\n'
        "</TAGS>\n</deIdi2b2>\n"
    )
    found = advised(path)
    assert (found["X"], found["y"]) == (["Ana ran"], [[(0, 3, "DOCTOR")]])
    assert "c=" in advice_for(Head("a.con", ['c="pain" 1:1 1:1||t="problem"']))


def test_azure(tmp_path):
    (tmp_path / "a.txt").write_text("Ana ran")
    path = tmp_path / "labels.json"
    path.write_text(
        '{"projectFileVersion": "2022-05-01", "assets": {"documents": [{"location": '
        '"a.txt", "entities": [{"labels": [{"category": "PER", "offset": 0, "length": '
        "3}]}]}]}}"
    )
    found = advised(path)
    assert (found["X"], found["y"]) == (["Ana ran"], [[(0, 3, "PER")]])


def test_svm_hmm(tmp_path):
    path = tmp_path / "a.dat"
    path.write_text("1 qid:1 1:0.5 3:1\n2 qid:1 2:1\n1 qid:2 1:1\n")
    found = advised(path)
    assert [x.shape[0] for x in found["X"]] == [2, 1]
    assert list(map(len, found["y"])) == [2, 1]


def test_mallet(tmp_path, capsys):
    path = tmp_path / "a.mallet"
    rows = ["Ana capital first PER", "ran O", "to short O", "Lima capital LOC", ""]
    path.write_text("\n".join(rows * 12) + "\n")
    code, _, err = run(capsys, "train", path, "-m", tmp_path / "m")
    assert code != 0 and "MALLET" in err
    exec(err[err.index("rows = [line") :].partition("\n")[0], {})
    X, y = read_tokens(f"{path}.crfsuite", "crfsuite")
    assert len(X) == 12 and y[0] == ["PER", "O", "O", "LOC"]


@pytest.mark.parametrize(
    ("begin", "called"),
    [
        ('<?xml version="1.0"?><GateDocument>', "GATE"),
        ("<collection><source>PubMed</source>", "BioC XML"),
        ('{"passages": [{"text": "a"}]}', "BioC JSON"),
        ("<xmi:XMI>", "UIMA"),
    ],
)
def test_what_other_programs_export(begin, called):
    assert called in advice_for(Head("a", [begin]))


JUMAN = "太郎 たろう 太郎 名詞 6 人名 5 * 0 * 0"


@pytest.mark.parametrize("begin", [JUMAN, f'{JUMAN} "人名"', f"# S-ID:1\n{JUMAN} NIL"])
def test_output_of_juman_is_known(begin):
    assert "Juman" in advice_for(Head("a", f"{begin}\nEOS\n".splitlines()))


@pytest.mark.parametrize(
    "line",
    ["the cat ate all 3 of 5 fish .", "Tim won by only 2 to 1 and then 4 to 1 ."],
)
def test_a_sentence_with_numbers_is_no_output_of_juman(line):
    assert advice_for(Head("a", [line, line])) is None


COLUMNS = [["Ann", "ran"], ["Bo", "sat"]]
SHELL = {
    "vertical": ("<doc id=1>\n<s>\nAnn\tN\nran\tV\n</s>\n<s>\nBo\tN\nsat\tV\n</s>\n</doc>\n", ".conll"),
    "three bars": ("Ann ran ||| N V\nBo sat ||| N V\n", ".tsv"),
    "three parts": ("Ann|N|O ran|V|O\nBo|N|O sat|V|O\n", ".conll"),
    "brackets": ("Ann(N)　ran(V)　well(A)\nBo(N)　sat(V)　well(A)\n", ".txt"),
    "KNP": (
        "# S-ID:1 KNP:96\n* 0 1D\nAnn a * N N * *\n* 1 -1D\nran b * V V * *\nEOS\n"
        "* 0 1D\nBo a * N N * *\n* 1 -1D\nsat b * V V * *\nEOS\n",
        ".seg",
    ),
}  # fmt: skip


@pytest.mark.parametrize("file", ["a", "a b's"])
@pytest.mark.parametrize("name", SHELL)
def test_commands_of_the_shell_make_what_is_read(name, file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text, ending = SHELL[name]
    (tmp_path / file).write_text(text, encoding="utf-8")
    advice = advice_for(Head(file, text.splitlines()))
    begin = min(
        advice.index(word) for word in ("sed ", "awk ", "grep ") if word in advice
    )
    subprocess.run(advice[begin:], shell=True, check=True, cwd=tmp_path)
    format = "segmented" if ending == ".seg" else "auto"
    X, y = read_tokens(f"{file}{ending}", format=format)
    words = y if ending == ".seg" else X
    words = [[w if isinstance(w, str) else w[0] for w in x] for x in words]
    assert [each[:2] for each in words] == COLUMNS


def test_the_body_of_tei_is_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (
        "<TEI>\n<teiHeader><t>A <name>B</name></t></teiHeader>\n<text><body>\n"
        "<p><persName>Ann</persName> ran</p>\n<p>in <placeName>Rome</placeName></p>\n"
        "</body></text></TEI>\n"
    )
    (tmp_path / "a").write_text(text)
    with pytest.raises(ValueError, match="XML of TEI") as told:
        read_spans("a")
    command = str(told.value)
    subprocess.run(command[command.index("(echo") :], shell=True, check=True)
    spans = [[(0, 3, "persName")], [(3, 7, "placeName")]]
    assert read_spans("a.xml") == (["Ann ran", "in Rome"], spans)


PYTHON = {
    "snips": '{"Go": [{"data": [{"text": "to "}, {"text": "Rome", "entity": "L"}]}]}',
    "dialogflow": '[{"id": "1", "data": [{"text": "to "}, {"text": "Rome", "alias": "L"}]}]',
    "absa": "<sentences><sentence><text>to Rome</text><aspectTerms>"
    '<aspectTerm term="Rome" polarity="L" from="3" to="7"/></aspectTerms></sentence>'
    "</sentences>",
}


@pytest.mark.parametrize("name", PYTHON)
def test_python_makes_texts_and_spans(name, tmp_path):
    path = tmp_path / "a"
    path.write_text(PYTHON[name])
    found = advised(path)
    assert (found["X"], found["y"]) == (["to Rome"], [[(3, 7, "L")]])


def test_json_of_spacy_2(tmp_path):
    path = tmp_path / "a.json"
    tokens = [{"orth": "Ann", "ner": "U-X"}, {"orth": "ran", "ner": "O"}]
    path.write_text(
        json.dumps([{"id": 0, "paragraphs": [{"sentences": [{"tokens": tokens}]}]}])
    )
    found = advised(path)
    assert (found["X"], found["y"]) == ([["Ann", "ran"]], [["U-X", "O"]])


RECORDS = [{"text": "Ann ran", "spans": [[0, 3, "X"]]}, {"text": "no", "spans": []}]
TABLES = {
    "columns": json.dumps({k: {str(i): r[k] for i, r in enumerate(RECORDS)} for k in RECORDS[0]}),
    "split": json.dumps(
        {
            "columns": ["text", "spans"],
            "index": [0, 1],
            "data": [[r["text"], r["spans"]] for r in RECORDS],
        }
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_tables_of_pandas(name, tmp_path):
    path = tmp_path / "a.json"
    path.write_text(TABLES[name])
    advised(path)
    assert read_spans(f"{path}.jsonl") == (["Ann ran", "no"], [[(0, 3, "X")], []])


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("shape", ["one object", "a list", "lines"])
def test_objects_around_sentences(shape, indent, tmp_path):
    path = tmp_path / "a.json"
    rows = [{"id": 1, "tokens": ["Ann"], "tags": ["B-X"]}] * 2
    documents = [{"version": "1", "data": rows}] * (1 if shape == "one object" else 3)
    written = [json.dumps(each, indent=indent) for each in documents]
    text = "\n".join(written)
    if shape == "a list":
        joined = ",\n".join(written)
        text = f"[\n{joined}\n]"
    path.write_text(text)
    advised(path)
    n = 2 * len(documents)
    assert read_tokens(f"{path}.jsonl") == ([["Ann"]] * n, [["B-X"]] * n)


OPTIONS = {
    "luis": {
        "luis_schema_version": "3",
        "utterances": [
            {
                "text": "to Rome",
                "entities": [{"entity": "L", "startPos": 3, "endPos": 6}],
            }
        ],
    },
    "automl": {
        "text_snippet": {"content": "to Rome"},
        "annotations": [
            {
                "display_name": "L",
                "text_extraction": {
                    "text_segment": {"start_offset": 3, "end_offset": 7}
                },
            }
        ],
    },
}


@pytest.mark.parametrize("name", OPTIONS)
def test_the_options_of_the_advice_read_it(name, tmp_path, capsys):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(OPTIONS[name]))
    with pytest.raises(ValueError, match="here: read_spans") as told:
        read_spans(path)
    call = str(told.value).partition("here: ")[2].replace("...", "path")
    assert eval(call) == (["to Rome"], [[(3, 7, "L")]])
    code, _, err = run(capsys, "train", path, "--dry-run")
    assert code == 1
    options = err[err.index("here: ") + 6 :].split()
    code, _, err = run(capsys, "train", path, "--dry-run", *options)
    assert code == 0, err
    given = [each.split("=") for each in options if "=" in each]
    ends = "inclusive" if "--ends" in options else "auto"
    found = read_spans(path, ends=ends, **dict(given))
    assert found == (["to Rome"], [[(3, 7, "L")]])
    given = "-m", tmp_path / "m", "-a", "perceptron", "--force", *options
    assert run(capsys, "train", path, *given)[0] == 0
    assert run(capsys, "tag", path, "-m", tmp_path / "m")[0] == 0  # reads it again


@pytest.mark.parametrize(
    ("row", "read", "given"),
    [
        ('Ann ran,"[[0, 3, ""X""]]"', read_spans, ([[(0, 3, "X")]],)),
        ("Ann ran,\"[(0, 3, 'X')]\"", read_spans, ([[(0, 3, "X")]],)),
        ('Ann ran,"[{""start"": 0, ""end"": 3, ""label"": ""X""}]"', read_spans,
         ([[(0, 3, "X")]],)),
        ("Ann ran,B-X O", read_tokens, ([["B-X", "O"]],)),
        ('Ann ran,"B-X,O"', read_tokens, ([["B-X", "O"]],)),
    ],
)  # fmt: skip
def test_annotations_in_a_cell_are_not_missed(row, read, given, tmp_path):
    """The error makes what is read of them; the texts alone can be tagged."""
    path = tmp_path / "a.csv"
    path.write_text(f"text,entities\n{row}\n")
    assert read_spans(path, format="csv-spans")[0] == []
    reading = Reading(AnnotationReader(format="csv-spans"))
    list(reading.options.marked(path, reading))
    code = reading.told_of_unannotated()
    exec(code[code.index("import ") :], {})
    ending = ".jsonl" if read is read_spans else ".tsv"
    assert read(f"{path}{ending}")[1:] == given


@pytest.mark.parametrize(
    ("lines", "says"),
    [(["Ann N\rran V\r"], "its lines end in carriage returns alone"), (["a b"], "")],
)
def test_the_line_ends_of_old_files_are_named(lines, says):
    assert says in hint_for(Head("a", lines))


@pytest.mark.parametrize(
    "record",
    [
        {"data": [{"text": "Ann ran", "spans": [[0, 3, "X"]]}]},
        {"data": [{"text": "Ann"}, {"text": "ran"}]},
        {"data": [{"tokens": ["Ann"], "text": "Ann"}]},
        {"utterances": [{"text": "Ann"}]},
    ],
)
def test_what_options_read_is_not_refused_at_sight(record):
    text = json.dumps(record)
    assert advice_for(Head("a.json", [text], True)) is None


@pytest.mark.parametrize("name", [name for name in SHELL if name != "KNP"])
def test_what_a_model_reads_may_look_like_anything(name, tmp_path, capsys):
    """A span tagger takes it for text, a segmenter for lines."""
    path = tmp_path / "a"
    path.write_text(SHELL[name][0], encoding="utf-8")
    for kind in ("jsonl", "segmented"):
        model = tmp_path / kind
        code, _, err = run(capsys, "train", sample(kind), "-m", model, "--epochs", 1)
        assert code == 0, err
        code, _, err = run(capsys, "tag", path, "-m", model)
        assert code == 0, err
