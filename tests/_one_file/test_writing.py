"""A fitted model as one file: the written file is the model."""

import json
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from cli_cases import run
from forked import python
from one_file_cases import NODE, asked, check_source, loaded, needs_node, written

from skstruct import L1CRF, StructuredPerceptron, load
from skstruct.datasets import load_chunking
from skstruct.features.patterns import Patterns
from skstruct.interchange import export, load_crfpp, save_crfpp


@pytest.fixture(scope="module")
def chunker():
    X, y = load_chunking()
    return StructuredPerceptron("chunk", constraints="BIO", random_state=0).fit(
        X[:100], y[:100]
    ), X


def test_a_written_tagger_is_the_model(chunker, tmp_path):
    model, X = chunker
    path = written(model, tmp_path)
    check_source(path)
    file = loaded(path)
    assert file.predict(X) == model.predict(X)
    assert file.decision_function(X) == model.decision_function(X).tolist()
    assert file.labels == model.classes_.tolist()


def test_from_the_command_line(chunker, tmp_path):
    """The bytes of ``skstruct tag``, in an interpreter without any package."""
    model, X = chunker
    path, corpus = written(model, tmp_path), tmp_path / "corpus.txt"
    lines = [
        "\n".join(" ".join(token) for token in sentence) + "\n\n"
        for sentence in X[100:110]
    ]
    corpus.write_text("".join(lines), encoding="utf-8")
    model.save(tmp_path / "model.skstruct")
    own = subprocess.run(
        [sys.executable, "-I", "-S", path, corpus], capture_output=True, check=True
    )
    command = [
        *python(),
        "-m",
        "skstruct",
        "tag",
        corpus,
        "--model",
        tmp_path / "model.skstruct",
    ]
    assert own.stdout == subprocess.run(command, capture_output=True, check=True).stdout
    with open(corpus, encoding="utf-8") as file:
        again = subprocess.run(
            [sys.executable, "-I", "-S", path, "-"], stdin=file, capture_output=True
        )
    assert again.stdout == own.stdout
    corpus.write_text("the/DT dog/NN\na/DT cat\n", encoding="utf-8")
    own = subprocess.run(
        [sys.executable, "-I", "-S", path, "--text", corpus],
        capture_output=True,
        text=True,
    )
    assert own.returncode == 1 and own.stdout.startswith("the/DT/")
    assert f"{corpus}: line 2: the model reads 2 columns" in own.stderr


def test_lines_of_white_space_come_back_as_they_are(chunker, tmp_path, capsys):
    model, _ = chunker
    path, corpus = written(model, tmp_path), tmp_path / "corpus.txt"
    model.save(tmp_path / "model.skstruct")
    for text in "He PRP\n \t\nruns VBZ\n", " \n\n\t\nHe PRP\n\n  \n", "  \n", "\t":
        corpus.write_text(text)
        own = subprocess.run(
            [sys.executable, "-I", "-S", path, corpus], capture_output=True, text=True
        )
        assert (
            own.stdout
            == run(capsys, "tag", corpus, "--model", tmp_path / "model.skstruct")[1]
        )
        kept = [line for line in own.stdout.splitlines() if not line.strip()]
        assert kept == [line for line in text.splitlines() if not line.strip()]


@pytest.mark.skipif(sys.platform == "win32", reason="pipes are another matter there")
def test_a_reader_that_goes_away_and_a_full_disk(chunker, tmp_path):
    """As of ``skstruct tag``: no error of the file that was read."""
    path, corpus = written(chunker[0], tmp_path), tmp_path / "corpus.txt"
    corpus.write_text("He PRP\n\n" * 10000)
    command = [sys.executable, "-I", "-S", path, corpus]
    own = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    own.stdout.readline()
    own.stdout.close()
    assert own.stderr.read() == b"" and own.wait(60) == 141
    own.stderr.close()
    if pathlib.Path("/dev/full").exists():
        with open("/dev/full", "wb") as full:
            own = subprocess.run(
                command, stdout=full, stderr=subprocess.PIPE, text=True
            )
        assert (
            own.returncode == 1 and own.stderr == "<stdout>: No space left on device\n"
        )
    own = subprocess.run(
        [*command[:-1], tmp_path / "absent"], capture_output=True, text=True
    )
    assert (
        own.returncode == 1
        and own.stderr == f"{tmp_path / 'absent'}: No such file or directory\n"
    )


def test_arrays_are_sequences(chunker, tmp_path):
    model, X = chunker
    words = [[word for word, _ in sentence] for sentence in X[:20]]
    tagger = StructuredPerceptron("word", max_iter=2, random_state=0).fit(
        words, model.predict(X[:20])
    )
    file, expected = loaded(written(tagger, tmp_path)), tagger.predict(words)
    for given in (
        [np.array(x) for x in words],
        [np.array(x, object) for x in words],
        [tuple(x) for x in words],
    ):
        assert file.predict(given) == tagger.predict(given) == expected
        assert [
            [reason["label"] for reason in file.explain(x)] for x in given
        ] == expected
    same = [x[:2] for x in words if len(x) > 1]
    assert file.predict(np.array(same)) == tagger.predict(np.array(same))
    assert file.predict([np.array([], object)]) == [[]]
    assert (
        export(
            tagger, tmp_path / "tagger.py", check=[np.array(x) for x in words]
        ).n_sequences_differ
        == 0
    )


NUMBERS = [
    *(kind(1.5) for kind in (np.float16, np.float32, np.float64, np.longdouble)),
    np.int8(-2),
]


OTHERS = [np.uint64(3), np.bool_(True), np.bool_(False), 2**60 + 1]


@pytest.mark.parametrize("value", [*NUMBERS, *OTHERS], ids=repr)
def test_numbers_of_numpy_as_features(value, tmp_path):
    X = [[{"a": 0.25, "b": True}, {"a": 2.5, "b": "x"}]]
    model = StructuredPerceptron(random_state=0).fit(X, [["A", "B"]])
    given, file = [[{"a": value, "b": value}]], loaded(written(model, tmp_path))
    assert file.predict(given) == model.predict(given)
    assert file.decision_function(given) == model.decision_function(given).tolist()


@pytest.mark.parametrize(
    "value", [10**400, -(10**400), np.float32("inf"), np.longdouble("1e400")], ids=type
)
def test_numbers_that_are_not_finite(value, tmp_path):
    model = StructuredPerceptron(random_state=0).fit(
        [[{"a": 0.25}, {"a": 2.5}]], [["A", "B"]]
    )
    for tagger in (model, loaded(written(model, tmp_path))):
        with pytest.raises(
            ValueError,
            match=r"sequence 0, position 0: feature 'a' must be finite, got ",
        ):
            tagger.predict([[{"a": value}]])


def test_patterns_of_one_column_take_str_and_tuples(tmp_path):
    """As the model that was read from a file of CRF++, which does not say what tokens
    are.
    """
    trained = L1CRF(Patterns(["U:%x[0,0]", "B"]), max_iter=20).fit(
        [["a", "b", "a"]], [["A", "B", "A"]]
    )
    save_crfpp(trained, tmp_path / "model")
    model = load_crfpp(tmp_path / "model")
    file, script = (
        loaded(written(model, tmp_path)),
        written(model, tmp_path, "tagger.js"),
    )
    for X in ([["a", "b"]], [[("a",), ("b",)]], [[("b", "1"), ("a", "2")]], [[]]):
        expected = model.predict(X)
        assert file.predict(X) == expected
        assert [len(file.explain(x)) for x in X] == [len(labels) for labels in expected]
        if NODE:
            assert asked(script, X, "predict", "explain")["predict"] == expected
    for mixed in ([["a", ("b",)]], [[("a",), "b"]]):
        with pytest.raises(
            ValueError, match=r"^X: sequence 0, position 1: expected a "
        ):
            file.predict(mixed)
    with pytest.raises(
        ValueError, match="expected a str"
    ):  # this one was trained on str
        loaded(written(trained, tmp_path)).predict([[("a",)]])


@needs_node
@pytest.mark.parametrize(
    "stem, name",
    [
        ("chunks", "chunks"),
        ("class", "tagger"),
        ("static", "tagger"),
        ("two-words", "tagger"),
        ("top", "tagger"),  # of a window, which cannot be replaced
        ("status", "tagger"),  # which turns all into a str
        ("Map", "tagger"),
        ("undefined", "tagger"),
    ],
)
def test_the_global_of_a_script_element(stem, name, chunker, tmp_path):
    path = written(chunker[0], tmp_path, f"{stem}.js")
    program = f"""
const vm = require("vm"), source = require("fs").readFileSync({json.dumps(str(path))}, "utf8");
const page = vm.createContext({{ atob, TextDecoder }});
vm.runInContext(`
  Object.defineProperty(globalThis, "top", {{ value: globalThis, writable: false, configurable: false }});
  let status = "";
  Object.defineProperty(globalThis, "status", {{ get: () => status, set(to) {{ status = String(to); }} }});
`, page);
vm.runInContext(source, page);
console.log(vm.runInContext("{name}.predict([[['the', 'DT']]])[0].length", page));
"""
    done = subprocess.run([NODE, "-e", program], capture_output=True, text=True)
    assert done.stdout == "1\n", done.stderr


@pytest.mark.parametrize(
    "error, arguments, text",
    [
        (
            ValueError,
            {"path": "tagger.exe"},
            "path must end in .py, .js, .cjs, .mjs or .html, got 'tagger.exe'",
        ),
        (
            ValueError,
            {"path": "tagger.py", "weights": "int4"},
            "weights must be 'exact', 'int16' or 'int8', got 'int4'",
        ),
        (
            TypeError,
            {"path": "tagger.py", "title": 5},
            "title must be a str, got int 5",
        ),
        (
            TypeError,
            {"path": "tagger.html", "example": ["a"]},
            "example must be a str, got list ['a']",
        ),
    ],
)
def test_refused_parameters(error, arguments, text, chunker):
    with pytest.raises(error) as found:
        export(chunker[0], **arguments)
    assert str(found.value) == text


def test_the_report(chunker, tmp_path):
    model, X = chunker
    report = export(model, tmp_path / "exact.py", check=X)
    assert report.n_bytes == (tmp_path / "exact.py").stat().st_size
    assert report[4:] == (len(X), 0, 0, 0.0, [])
    rounded = export(model, tmp_path / "rounded.py", weights="int8", check=X)
    labels = loaded(tmp_path / "rounded.py").predict(X)
    places = [
        (i, t)
        for i, (mine, other) in enumerate(zip(model.predict(X), labels))
        for t, (one, two) in enumerate(zip(mine, other))
        if one != two
    ]
    assert rounded.n_sequences_differ == len({i for i, _ in places})
    assert 0.0 < rounded.largest_difference < 5.0
    assert (rounded.n_tokens_differ, rounded.places) == (len(places), places[:10])
    assert rounded.n_bytes < report.n_bytes
    assert (
        str(rounded)
        .splitlines()[1]
        .startswith(f"{rounded.n_sequences_differ} of {len(X)} sequences")
    )
    about = loaded(tmp_path / "rounded.py").about
    assert about["check"]["n_tokens_differ"] == len(places)
    assert "not compared" in str(export(model, tmp_path / "exact.py"))


def test_the_same_model_gives_the_same_bytes(chunker, tmp_path):
    model, _ = chunker
    for name in ("tagger.py", "tagger.js", "tagger.mjs"):
        first = written(model, tmp_path, name).read_bytes()
        model.save(tmp_path / "model.skstruct")
        assert (
            written(load(tmp_path / "model.skstruct"), tmp_path, name).read_bytes()
            == first
        )


def test_convert(chunker, tmp_path, capsys):
    """The command writes what `export` writes, of a smaller model too."""
    model, X = chunker
    model.save(tmp_path / "model.skstruct")
    rows = zip(X[100:110], model.predict(X[100:110]))
    text = "\n".join(
        "".join(f"{w} {p} {y}\n" for (w, p), y in zip(*row)) for row in rows
    )
    (tmp_path / "dev.txt").write_text(text, encoding="utf-8")
    command = ["convert", str(tmp_path / "model.skstruct"), str(tmp_path / "tagger.py")]
    options = [
        "--weights",
        "int16",
        "--keep",
        "0.5",
        "--check",
        str(tmp_path / "dev.txt"),
    ]
    (tmp_path / "own").mkdir()
    code, _, said = run(capsys, *command, *options)
    assert code == 0 and "of 10 sequences labelled otherwise" in said
    export(
        model,
        tmp_path / "own" / "tagger.py",
        weights="int16",
        keep=0.5,
        check=X[100:110],
    )
    assert (tmp_path / "tagger.py").read_bytes() == (
        tmp_path / "own" / "tagger.py"
    ).read_bytes()
    command[2] = str(tmp_path / "model.crfsuite")
    code, _, said = run(capsys, *command, "--keep", "0.5")
    assert code == 2 and "--keep is for one file of code" in said


def test_a_smaller_file_is_compared_with_the_whole_model(chunker, tmp_path, capsys):
    """Not with what is left of it; the file, the report and the command tell the
    same.
    """
    model, X = chunker
    model.save(tmp_path / "model.skstruct")
    X, smaller = X[100:110], model.compress(dtype="float64", keep=0.02)
    differ = sum(a != b for a, b in zip(model.predict(X), smaller.predict(X)))
    report = export(model, tmp_path / "small.py", keep=0.02, check=X)
    assert report.n_sequences_differ == differ > 0 and report.largest_difference > 0.0
    assert report.n_weights == export(smaller, tmp_path / "own.py").n_weights
    assert loaded(tmp_path / "small.py").about["check"]["n_sequences_differ"] == differ
    rows = zip(X, model.predict(X))
    text = "\n".join(
        "".join(f"{w} {p} {y}\n" for (w, p), y in zip(*row)) for row in rows
    )
    (tmp_path / "dev.txt").write_text(text, encoding="utf-8")
    command = ["convert", tmp_path / "model.skstruct", tmp_path / "page.html"]
    code, _, said = run(
        capsys, *command, "--keep", "0.02", "--check", tmp_path / "dev.txt"
    )
    assert code == 0 and f"{differ} of 10 sequences labelled otherwise" in said
    assert "--example TEXT" in said


def test_a_page_is_called_by_its_file_and_begins_with_an_example(
    chunker, tmp_path, capsys
):
    model, _ = chunker
    model.save(tmp_path / "model")
    page = tmp_path / "Chunks of news.html"
    command = ["convert", tmp_path / "model", page]
    code, _, said = run(capsys, *command, "--example", "the/DT dog/NN", "--force")
    html = page.read_text("utf-8")
    assert code == 0 and "--example" not in said
    assert "<title>Chunks of news</title>" in html
    command[-1] = tmp_path / "chunks.py"
    assert run(capsys, *command, "--example", "the/DT dog/NN")[0] == 0
    assert loaded(command[-1]).about["example"] == "the/DT dog/NN"


def test_what_is_code_is_told_by_its_name(chunker, tmp_path, capsys):
    """--to chooses among the tools; it is no second, idle way to say it."""
    model, _ = chunker
    model.save(tmp_path / "model")
    for to in "python", "javascript", "page":
        code, _, said = run(
            capsys, "convert", tmp_path / "model", tmp_path / "tagger.js", "--to", to
        )
        assert (
            code == 2
            and f"invalid choice: '{to}'" in said
            and not (tmp_path / "tagger.js").exists()
        )
    code, _, said = run(
        capsys,
        "convert",
        tmp_path / "model",
        tmp_path / "tagger.py",
        "--to",
        "skstruct",
    )
    assert (
        code == 0
        and load(tmp_path / "tagger.py").classes_.tolist() == model.classes_.tolist()
    )
    code, _, said = run(
        capsys,
        "convert",
        tmp_path / "model",
        tmp_path / "other.py",
        "--to",
        "wapiti",
        "--title",
        "x",
    )
    assert code == 2 and "--title is for one file of code" in said


def test_arguments_in_another_order_are_refused():
    with pytest.raises(
        TypeError, match=r"path must be .*; write export\(model, path\)"
    ):
        export("tagger.py", StructuredPerceptron())
