"""Corpus files: formats as they come, round trips, and errors that name file and
line.
"""

import ast
import gzip
import io
import itertools
import pathlib
import tracemalloc

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import skstruct
from skstruct.datasets.formats.readers import (
    CONLLU_FIELDS,
    iter_columns,
    iter_conllu,
    iter_segmented,
    read_columns,
    read_conllu,
    read_segmented,
)
from skstruct.datasets.formats.text_files import SharedStrings

COLUMNS = "He PRP B-NP\nreckons  VBZ\tB-VP \n\n \t\n\nYes UH O\n"
SENTENCES = [[("He", "PRP", "B-NP"), ("reckons", "VBZ", "B-VP")], [("Yes", "UH", "O")]]

CONLLU = """\
# sent_id = 1
# text = vámonos al mar
1-2\tvámonos\t_\t_\t_\t_\t_\t_\t_\t_
1\tvamos\tir\tVERB\tV\t_\t0\troot\t_\t_
2\tnos\tnosotros\tPRON\tP\t_\t1\tobj\t_\t_
2.1\tsaw\t_\t_\t_\t_\t_\t_\t_\t_
3\ta b\tmar\tNOUN\tN\t_\t1\tobl:arg\t_\tSpaceAfter=No

# sent_id = 2
1\tsí\tsí\tINTJ\tI\t_\t0\troot\t_\t_
"""
TREES = [
    [("vamos", "V", 0, "root"), ("nos", "P", 1, "obj"), ("a b", "N", 1, "obl:arg")],
    [("sí", "I", 0, "root")],
]
SEGMENTED = "我  喜欢　图书馆\n\n \t \n好\t。"
WORDS = [["我", "喜欢", "图书馆"], ["好", "。"]]

FORMATS = [
    pytest.param(read_columns, iter_columns, COLUMNS, SENTENCES, id="columns"),
    pytest.param(read_conllu, iter_conllu, CONLLU, TREES, id="conllu"),
    pytest.param(read_segmented, iter_segmented, SEGMENTED, WORDS, id="segmented"),
]


def conllu(*rows):
    """Rows of (id, head) as a file."""
    return "".join(f"{i}\tw\t_\t_\t_\t_\t{head}\t_\t_\t_\n" for i, head in rows)


# ---------------------------------------------------------------------- ways to come in
@pytest.mark.parametrize("read, iterate, text, expected", FORMATS)
def test_sources(read, iterate, text, expected, tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text(text, encoding="utf-8", newline="\n")
    assert read(path) == read(str(path)) == read(io.StringIO(text)) == expected
    with open(path, encoding="utf-8") as file:
        assert read(file) == expected
        assert not file.closed
    with gzip.open(tmp_path / "corpus.gz", "wt", encoding="utf-8") as file:
        file.write(text)
    with gzip.open(tmp_path / "corpus.gz", "rt", encoding="utf-8") as file:
        assert read(file) == expected


@pytest.mark.parametrize("read, iterate, text, expected", FORMATS)
@pytest.mark.parametrize("bom", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("tail", ["", "\n\n\n"])
def test_marks_and_line_ends(read, iterate, text, expected, bom, end, tail, tmp_path):
    text = bom + (text.rstrip("\n") + tail).replace("\n", end)
    path = tmp_path / "corpus.txt"
    path.write_bytes(text.encode())
    assert read(path) == expected
    assert read(io.StringIO(text)) == expected


@pytest.mark.parametrize("read, iterate, text, expected", FORMATS)
def test_other_encodings(read, iterate, text, expected, tmp_path):
    for encoding in ("utf-16", "gb18030"):
        (tmp_path / encoding).write_bytes(text.encode(encoding))
        assert read(tmp_path / encoding, encoding=encoding) == expected


@pytest.mark.parametrize("read, iterate, text, expected", FORMATS)
def test_empty_files(read, iterate, text, expected):
    assert read(io.StringIO("")) == read(io.StringIO("\n \n\n")) == []


@pytest.mark.parametrize("read, iterate, text, expected", FORMATS)
def test_iterators_stream(read, iterate, text, expected):
    class Endless(io.StringIO):
        lines = itertools.cycle((text + "\n\n").splitlines(keepends=True))

        def __next__(self):
            return next(self.lines)

    sentences = iterate(Endless())
    assert list(itertools.islice(sentences, 2 * len(expected))) == 2 * expected


# ------------------------------------------------------------------------------ columns
def test_columns_options():
    assert read_columns(io.StringIO(COLUMNS), columns=[-1, 0])[1] == [("O", "Yes")]
    text = "# a comment\na\tb c\t\n-DOCSTART- x\t\t\n#\t\t\n"
    assert read_columns(io.StringIO(text), separator="\t", comment="# ") == [
        [("a", "b c", ""), ("-DOCSTART- x", "", ""), ("#", "", "")]
    ]
    assert read_columns(io.StringIO("-DOCSTART- x\n\na b\n"), comment="-DOCSTART-") == [
        [("a", "b")]
    ]


def test_tokens_and_labels_of_columns():
    assert read_columns(io.StringIO("a X\nb Y\n\nc X\n"), return_X_y=True) == (
        [["a", "b"], ["c"]], [["X", "Y"], ["X"]],
    )  # fmt: skip
    chosen = read_columns(io.StringIO(COLUMNS), columns=[-1, 0, 1], return_X_y=True)
    assert chosen[0][1] == [("O", "Yes")] and len(chosen[1][1]) == 1
    assert read_columns(io.StringIO("\n"), return_X_y=True) == ([], [])
    with pytest.raises(
        ValueError, match="expected columns of a token and a label; found 1"
    ):
        read_columns(io.StringIO("a\nb\n"), return_X_y=True)


@pytest.mark.parametrize(
    ("text", "options", "hint"),
    [
        (
            "Ana\tB\nNew York\tB\n",
            {},
            r"found 3; to split at tabs only and keep spaces in columns, pass separator='\\t'",
        ),
        ("Ana\tB\nNew York\tB\n", {"separator": " "}, "found 2$"),
        (
            "a X\n\n# id 1\na X\n",
            {},
            r"line 3: .*found 3; .*'# id 1', pass comment='# ' \(--comment '# '\)",
        ),
        ("# id 1\na X\n", {}, r"line 2: .*found 2; .*'# id 1', pass comment='# '"),
        ("#id\na X\n", {"comment": "# "}, "found 2$"),
        ("a X\nb\n", {}, "found 1$"),
    ],
)
def test_lines_of_other_widths_name_the_option(text, options, hint):
    with pytest.raises(ValueError, match=hint):
        read_columns(io.StringIO(text), **options)


def test_columns_split_at_spaces_and_tabs_only():
    assert read_columns(io.StringIO("\u3000 S\n10\xa0000 S\na\x85b S\n")) == [
        [("\u3000", "S"), ("10\xa0000", "S"), ("a\x85b", "S")]
    ]


def test_ragged_columns(tmp_path):
    path = tmp_path / "ragged.txt"
    path.write_text("a b c\n\nd e f\ng h\n")
    with pytest.raises(
        ValueError,
        match=r"ragged\.txt, line 4: expected 3 columns, as on line 1; found 2",
    ):
        read_columns(path)
    sentences = iter_columns(path)
    assert next(sentences) == [("a", "b", "c")]  # what came before the error is usable


def test_missing_column(tmp_path):
    path = tmp_path / "two.txt"
    path.write_text("\na b\n")
    for columns in ([2], [0, -3]):
        with pytest.raises(
            ValueError, match=rf"two\.txt, line 2: .* {columns[-1]}; found 2 columns"
        ):
            read_columns(path, columns=columns)


@pytest.mark.parametrize(
    "options",
    [
        {"columns": "a"},
        {"columns": []},
        {"columns": [0.5]},
        {"columns": 1},
        {"separator": ""},
        {"comment": 1},
    ],
)
def test_columns_bad_options(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        iter_columns(
            "nowhere", **options
        )  # at once, not when the first sentence is asked for


# ------------------------------------------------------------------------------ CoNLL-U
def test_conllu_fields():
    (first, second) = read_conllu(io.StringIO(CONLLU), fields=["head", "id", "misc"])
    assert first == [(0, 1, "_"), (1, 2, "_"), (1, 3, "SpaceAfter=No")]
    assert type(second[0][0]) is type(second[0][1]) is int
    assert read_conllu(io.StringIO(CONLLU), fields="upos")[1] == [("INTJ",)]
    assert len(read_conllu(io.StringIO(CONLLU), fields=CONLLU_FIELDS)[0][0]) == 10


@pytest.mark.parametrize(
    "text, message",
    [
        (conllu((1, 0), (2, 3)), "line 2: expected a head between 0 and 2; found 3"),
        (
            conllu((1, 0), (2, 2)),
            "line 2: expected a head between 0 and 2; found the word itself",
        ),
        (conllu((1, 0), (2, "_")), "line 2: expected a head, .* found '_'"),
        (conllu((1, 0), (2, -1)), "line 2: expected a head, .* found '-1'"),
        ("# c\n" + conllu((1, 0), (3, 1)), "line 3: expected the id 2; found '3'"),
        (conllu((2, 0)), "line 1: expected the id 1; found '2'"),
        (
            conllu((1, 0)) + "\n" + conllu(("x-y", 0)),
            "line 3: expected the id 1; found 'x-y'",
        ),
        ("1\tw\t_\n", "line 1: expected 10 columns separated by tabs; found 3"),
        (
            conllu((1, 9)) + "\n" + conllu((1, 0)),
            "line 1: expected a head between 0 and 1; found 9",
        ),
    ],
)
def test_conllu_errors(text, message, tmp_path):
    path = tmp_path / "tree.conllu"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"tree\.conllu, " + message):
        read_conllu(path)


def test_conllu_heads_matter_only_if_asked_for():
    assert read_conllu(io.StringIO(conllu((1, "_"), (2, 7))), fields=["form"]) == [
        [("w",), ("w",)]
    ]


@pytest.mark.parametrize("fields", [["word"], [], ["form", "form"], "heads"])
def test_conllu_bad_fields(fields):
    with pytest.raises(ValueError, match="fields"):
        iter_conllu("nowhere", fields=fields)


# ------------------------------------------------------------------------ errors of all
@pytest.mark.parametrize("read", [read_columns, read_conllu, read_segmented])
def test_undecodable_bytes(read, tmp_path):
    path = tmp_path / "latin.txt"
    path.write_bytes(b"# a\n" * 5 + b"caf\xe9\n")
    with pytest.raises(ValueError, match=r"latin\.txt, line 6: not valid utf-8"):
        read(path)
    with (
        open(path, encoding="utf-8") as file,
        pytest.raises(ValueError, match=r"latin\.txt, line 6:"),
    ):
        read(file)


@pytest.mark.parametrize("read", [read_columns, read_conllu, read_segmented])
def test_files_that_are_none(read, tmp_path):
    with pytest.raises(TypeError, match="text mode"):
        read(io.BytesIO(b"a b\n"))
    with pytest.raises(
        TypeError, match="path_or_file must be a path or an open text file; got list"
    ):
        read(["a b"])
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "nowhere")


def test_errors_name_an_open_file():
    file = io.StringIO("a b\nc\n")
    with pytest.raises(ValueError, match="<StringIO>, line 2"):
        read_columns(file)
    file = io.StringIO("a b\nc\n")
    file.name = "<stdin>"
    with pytest.raises(ValueError, match="<stdin>, line 2"):
        read_columns(file)


# ------------------------------------------------------------------------------ writers
# A byte order mark is dropped at the start of a file, and surrogates have no encoding.
CHARACTERS = st.characters(exclude_characters="\ufeff\n\r", exclude_categories=["Cs"])
TEXT = st.text(CHARACTERS, min_size=1, max_size=4)
PLAIN = TEXT.filter(lambda word: " " not in word and "\t" not in word)
NO_TAB = TEXT.filter(lambda word: "\t" not in word)
WORD = TEXT.filter(lambda word: word.split() == [word])


def sentences(token):
    return st.lists(st.lists(token, min_size=1, max_size=4), max_size=4)


def as_columns(y, separator):
    """Sentences as a file of columns."""
    return "".join(
        "".join(separator.join(row) + "\n" for row in rows) + "\n" for rows in y
    )


@given(sentences(st.tuples(PLAIN, PLAIN)), st.sampled_from([" ", "\t"]))
def test_columns_round_trip(y, separator):
    assert read_columns(io.StringIO(as_columns(y, separator))) == [
        rows for rows in y if rows
    ]


@given(sentences(st.tuples(NO_TAB, NO_TAB.filter(str.strip))))
def test_columns_round_trip_with_tabs(y):
    assert read_columns(io.StringIO(as_columns(y, "\t")), separator="\t") == [
        rows for rows in y if rows
    ]


@given(sentences(WORD))
def test_segmented_round_trip(y):
    for separator in " \u3000":
        assert read_segmented(io.StringIO("\n".join(map(separator.join, y)))) == [
            s for s in y if s
        ]


@given(st.data())
def test_conllu_round_trip(data):
    y = data.draw(sentences(st.tuples(NO_TAB, NO_TAB, NO_TAB)))
    y = [
        [
            (
                form,
                tag,
                data.draw(st.sampled_from(sorted({*range(len(s) + 1)} - {t + 1}))),
                label,
            )
            for t, (form, tag, label) in enumerate(s)
        ]
        for s in y
    ]
    rows = [
        [
            [str(t), form, "_", "_", tag, "_", str(head), label, "_", "_"]
            for t, (form, tag, head, label) in s
        ]
        for s in (enumerate(s, start=1) for s in y)
    ]
    file = io.StringIO(
        "\n".join("".join("\t".join(row) + "\n" for row in s) for s in rows)
    )
    assert read_conllu(file) == y


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    sentences(st.tuples(PLAIN, PLAIN)), st.sampled_from(["utf-8", "utf-16", "gb18030"])
)
def test_round_trip_on_disk(tmp_path, y, encoding):
    path = pathlib.Path(tmp_path) / "out.txt"
    path.write_text(as_columns(y, " "), encoding=encoding, newline="")
    assert read_columns(str(path), encoding=encoding) == [rows for rows in y if rows]


def test_a_head_of_thousands_of_digits():
    line = "\t".join(["1", "It", *"____", "1" * 5000, *"___"])
    with pytest.raises(ValueError, match="line 1: expected a head"):
        read_conllu(io.StringIO(line))


# -- memory ----------------------------------------------------------------------------
def many(kind, n):
    """A file of so many sentences of one word, all distinct, and of a frequent one."""
    line = {
        "columns": "{0}\tO\nthe\tO\n\n",
        "conllu": "1\t{0}\t_\t_\tN\t_\t0\tr\t_\t_\n2\tthe\t_\t_\tN\t_\t1\tr\t_\t_\n\n",
        "segmented": "{0} the\n",
    }[kind]
    return io.StringIO("".join(line.format(f"word{k}") for k in range(n)))


def word_of(token):
    return token if isinstance(token, str) else token[0]


@pytest.mark.parametrize("read, stream, text, expected", FORMATS)
def test_equal_strings_are_one_object(read, stream, text, expected, request):
    kind = request.node.callspec.id
    for function in read, stream:
        found = list(function(many(kind, 50)))
        assert len({id(word_of(x[1])) for x in found}) == 1


@pytest.mark.parametrize("read, stream, text, expected", FORMATS)
def test_a_stream_holds_no_words(read, stream, text, expected, request, monkeypatch):
    """Nothing grows with the distinct words of a stream, of which there is no end."""
    kind = request.node.callspec.id
    monkeypatch.setattr(SharedStrings, "MOST", 100)
    peaks = []
    for n in 1_000, 20_000:
        file = many(kind, n)
        tracemalloc.start()
        assert sum(len(sentence) for sentence in stream(file)) == 2 * n
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]


def test_nothing_is_interned():
    """Python 3.12 keeps what ``sys.intern`` is given until the process ends."""
    for path in pathlib.Path(skstruct.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "sys":
                assert "intern" not in {name.name for name in node.names}, path
            if isinstance(node, ast.Attribute) and node.attr == "intern":
                assert getattr(node.value, "id", "") != "sys", path


@pytest.mark.parametrize(
    "read",
    [
        skstruct.datasets.read_columns,
        skstruct.datasets.read_conllu,
        skstruct.datasets.read_segmented,
        skstruct.datasets.read_spans,
        skstruct.datasets.read_tokens,
    ],
)
def test_a_text_in_the_place_of_a_path_is_refused_with_what_to_write(read):
    with pytest.raises(FileNotFoundError, match=r"io\.StringIO\(text\)"):
        read("Ann B-PER\nran O\n")
