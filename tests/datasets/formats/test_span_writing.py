"""Texts and spans written for annotation tools."""

import builtins
import errno
import io
import json
import os
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstruct.datasets import read_spans, to_utf16, write_spans

TEXTS = st.text("a é\r\n\t🚒👨\u200d\u2028\ufeff[", max_size=12)
JSON = "jsonl", "doccano", "prodigy", "label-studio", "spacy"
X = ["🚒 Ann in\r\nRome", "none"]
Y = [[(10, 14, "LOC"), (2, 5, "PER"), (2, 14, "B C")], []]


@st.composite
def annotated(draw, labels, texts=TEXTS):
    X = draw(st.lists(texts, max_size=4))
    y = []
    for text in X:
        edges = st.tuples(*[st.integers(0, len(text))] * 2).map(sorted)
        y.append(
            [
                (*e, draw(st.sampled_from(labels)))
                for e in draw(st.lists(edges, max_size=4))
            ]
        )
    return X, y


@pytest.mark.filterwarnings("ignore:the offsets written count characters")
@pytest.mark.parametrize("format", JSON)
def test_what_is_written_is_read_again(format, tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "out"

    @given(annotated(["PER", "ü 🚒", None], st.one_of(TEXTS, st.just("\ud83d"))))
    def check(corpus):
        X, y = corpus
        metadata = [{"id": k, "meta": {"data": [k]}} for k in range(len(X))]
        write_spans(path, X, y, format, metadata=metadata)
        offsets = "characters" if format == "doccano" else "auto"
        assert read_spans(path, offsets=offsets, return_metadata=True) == (
            X,
            y,
            metadata,
        )

    check()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "format", ["jsonl", "prodigy", "label-studio", "spacy", "brat"]
)
@pytest.mark.parametrize("span", [(3, 9), (4, 10), (12, 13), (13, 15)])
def test_the_unit_of_what_is_written_is_known(format, span, tmp_path):
    """Also where words, or letters that are repeated, speak for the other unit."""
    texts, spans = ["🚒 abcdef ghaaaa", "no"], [[(*span, "X")], [(0, 2, "X")]]
    write_spans(tmp_path / "out", texts, spans, format)
    assert (
        read_spans(tmp_path / "out", format)
        == read_spans(tmp_path / "out")
        == (texts, spans)
    )


def test_doccano_has_no_place_for_the_unit(tmp_path):
    for text, n in ("🚒 Ann", 1), ("Ann 🚒", 0), ("Ann é", 0):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            write_spans(tmp_path / "out", [text], [[(2, 3, "X")]], "doccano")
        assert len(found) == n and all(
            "offsets='characters'" in str(each.message) for each in found
        )


def test_what_json_takes_for_one_character(tmp_path):
    for format in JSON[:1] + JSON[3:]:
        with pytest.raises(ValueError, match="sequence 1: two surrogates in a row"):
            write_spans(
                tmp_path / "out", ["a", "\ud83d\ude92 b"], [[], [(3, 4, "X")]], format
            )
    assert not list(tmp_path.iterdir())


@given(annotated(["PER", "ü🚒;"]))
def test_what_is_written_for_brat_is_read_again(tmp_path_factory, corpus):
    folder = tmp_path_factory.mktemp("folder") / "new"
    X, y = corpus
    write_spans(folder, X, y, "brat")
    assert read_spans(folder, "brat") == (X, y) if X else not list(folder.glob("*"))


@pytest.mark.filterwarnings("ignore:the offsets written count characters")
def test_lines(tmp_path):
    path = tmp_path / "out"
    write_spans(path, X[:1], Y[:1], metadata=[{"id": 3}])
    rows = [
        {"start": s, "end": e, "label": label, "text": X[0][s:e]}
        for s, e, label in Y[0]
    ]
    assert path.read_bytes().endswith(b"}\n") and "🚒" in path.read_text("utf-8")
    assert json.loads(path.read_text("utf-8")) == {"text": X[0], "spans": rows, "id": 3}
    write_spans(path, X, Y, "doccano")
    assert json.loads(path.read_text("utf-8").split("\n")[0]) == {
        "text": X[0],
        "label": list(map(list, Y[0])),
    }


def test_predictions_for_review(tmp_path):
    path = tmp_path / "tasks.json"
    proba = [[(span, p) for span, p in zip(Y[0], (0.5, 0.75, 1.0))], []]
    control = ("ner", "letter")
    write_spans(
        path,
        X,
        Y,
        "label-studio",
        proba=proba,
        model_version="v1",
        control=control,
        metadata=[{}, {"id": 8}],
    )
    first, second = json.loads(path.read_text("utf-8"))
    (prediction,) = first["predictions"]
    assert first["data"] == {"text": X[0]} and second["data"] == {
        "id": 8,
        "text": "none",
    }
    assert prediction["model_version"] == "v1" and prediction["score"] == 0.75
    assert second["predictions"] == [{"model_version": "v1", "result": []}]
    assert len({region["id"] for region in prediction["result"]}) == 3
    for region, span, (start, end, label), (_, p) in zip(
        prediction["result"], Y[0], to_utf16(X, Y)[0], proba[0]
    ):
        value = {
            "start": start,
            "end": end,
            "text": X[0][span[0] : span[1]],
            "labels": [label],
        }
        del region["id"]
        assert region == {
            "from_name": "ner",
            "to_name": "letter",
            "type": "labels",
            "value": value,
            "score": p,
        }
    write_spans(path, X, Y, proba=proba)
    assert [
        row["probability"]
        for row in json.loads(path.read_text("utf-8").split("\n")[0])["spans"]
    ] == [
        0.5,
        0.75,
        1.0,
    ]


REFUSED = [
    (
        dict(format="xml"),
        "format must be one of 'jsonl', 'doccano', 'prodigy', 'spacy', 'label-studio', 'brat'; got 'xml'",
    ),
    (dict(X="Ann"), "X must be a list of texts, got str 'Ann'"),
    (dict(y=[[(0, 99, "A")], []]), r"y: sequence 0, position 0: \(0, 99, 'A'\) leaves the text"),
    (dict(y=[[]]), "X has 2 texts, y has 1 lists of spans"),
    (dict(metadata=[{}]), "X has 2 texts, metadata has 1 dicts"),
    (dict(metadata=[{}, 3]), "metadata: sequence 1: expected a dict, got int 3"),
    (
        dict(metadata=[{}, {"text": 1}]),
        "metadata: sequence 1: the key 'text' cannot be written: it is that of",
    ),
    (dict(metadata=[{"entities": []}, {}], format="doccano"), "the key 'entities' cannot be written"),
    (dict(metadata=[{}, {"a": {1}}]), "metadata: sequence 1: cannot be written as JSON: .*set"),
    (dict(proba=[[]]), "proba: sequence 0: expected a pair of span and probability for each span of y"),
    (
        dict(proba=[], format="spacy"),
        "proba is for the formats 'jsonl' and 'label-studio', got format='spacy'",
    ),
    (
        dict(model_version="1"),
        "model_version and control are for the format 'label-studio', got format='jsonl'",
    ),
    (dict(control=("a", "b")), "model_version and control are for"),
    (dict(format="brat"), "y: sequence 0, span 2: brat cannot store the label 'B C'"),
    (dict(format="brat", X=["", "\ud83d"], y=[[], []]), "X: sequence 1: cannot be written as UTF-8"),
    (dict(format="brat", y=[[(0, 1, None)], []]), "brat cannot store the label None"),
    (
        dict(format="brat", y=[[], []], metadata=[{"id": 3}, {}]),
        "the key 'id' cannot be written: brat has a name",
    ),
    (
        dict(format="brat", y=[[], []], metadata=[{}, {"name": "../a"}]),
        "sequence 1: expected the name of a file",
    ),
    (
        dict(format="brat", y=[[], []], metadata=[{"name": "a"}] * 2),
        "sequence 1: there is a text 'a' already",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("wrong", "message"), REFUSED)
def test_refused(wrong, message, tmp_path):
    path = tmp_path / "out"
    if wrong.get("format") != "brat":
        path.write_text("before")
    arguments = {"X": X, "y": Y, **wrong}
    with pytest.raises(ValueError, match=message):
        write_spans(path, **arguments)
    assert not path.exists() or path.read_text() == "before"
    assert list(tmp_path.iterdir()) in ([], [path])


def test_two_names_of_one_file_of_brat(tmp_path):
    names = [{"name": "a"}, {"name": "./a"}]
    with pytest.raises(ValueError, match="sequence 1: there is a text 'a' already"):
        write_spans(tmp_path / "brat", ["one", "two"], [[], []], "brat", metadata=names)


def count_syncs(monkeypatch):
    """A list that grows with each wait for the disk."""
    found = []
    monkeypatch.setattr(os, "fsync", lambda *_: found.append("a file"))
    monkeypatch.setattr(os, "sync", lambda: found.append("all"), raising=False)
    return found


@pytest.mark.parametrize("n", [0, 1, 50])
def test_a_folder_reaches_the_disk_once(n, tmp_path, monkeypatch):
    """However many files; those of one file, too, and before they take their places."""
    syncs, replace = count_syncs(monkeypatch), os.replace

    def after_sync(temporary, target):
        assert syncs
        replace(temporary, target)

    monkeypatch.setattr(os, "replace", after_sync)
    texts, spans = ["one two"] * n, [[(0, 3, "A")]] * n
    write_spans(tmp_path / "brat", texts, spans, "brat")
    assert len(syncs) <= 1 and len(list(tmp_path.rglob("*.*"))) == 2 * n
    del syncs[:]
    write_spans(tmp_path / "one.jsonl", texts, spans)
    assert len(syncs) == 1


def test_a_folder_that_cannot_be_written_stays_as_it_was(tmp_path, monkeypatch):
    """A disk that is full at the third of four files leaves what was there."""
    write_spans(tmp_path, ["one", "two"], [[(0, 3, "A")], []], "brat")
    before = {file: file.read_bytes() for file in tmp_path.iterdir()}
    begun, opened = [], open

    def full(name, *args, **options):
        begun.append(name)
        if len(begun) == 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        return opened(name, *args, **options)

    monkeypatch.setattr(builtins, "open", full)
    with pytest.raises(OSError, match="No space left") as error:
        write_spans(tmp_path, ["three", "four"], [[], [(0, 4, "B")]], "brat")
    assert error.value.filename in map(str, before)
    monkeypatch.undo()
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_brat_needs_a_folder():
    with pytest.raises(
        TypeError,
        match="path must name a folder, in which brat has its files, got StringIO",
    ):
        write_spans(io.StringIO(), X, [[], []], "brat")


def test_numbered_texts_do_not_stand_among_others(tmp_path):
    """A folder would hold old and new texts, and be read as one corpus."""
    X, y = ["Ann", "Bo", "Eva"], [[(0, 3, "PER")], [], []]
    write_spans(tmp_path, X, y, "brat")
    with pytest.raises(ValueError, match="has other files of brat, such as 2.ann"):
        write_spans(tmp_path, X[:2], y[:2], "brat")
    write_spans(tmp_path, X, y, "brat")
    write_spans(tmp_path, ["Tim"], [[]], "brat", metadata=[{"name": "more"}])
    assert read_spans(tmp_path)[0] == [*X, "Tim"]
