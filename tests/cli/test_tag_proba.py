"""tag --proba, train --calibrate: probabilities on the command line."""

import pytest
from cli_cases import columns, run

import skstruct
from skstruct import L1CRF, Segmenter, StructuredPerceptron
from skstruct._data.schemes import labels_to_spans
from skstruct.datasets import load_chunking, load_segmentation

TOKENS, CHUNKS = (part[:30] for part in load_chunking())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    L1CRF(max_iter=5, constraints="BIO", random_state=0).fit(TOKENS, CHUNKS).save(
        folder / "crf"
    )
    L1CRF(max_iter=5, random_state=0).fit(TOKENS, CHUNKS).save(folder / "free")
    StructuredPerceptron(max_iter=1).fit(TOKENS, CHUNKS).save(folder / "perceptron")
    X, y = load_segmentation()
    Segmenter(L1CRF("char", max_iter=5)).fit(X[:20], y[:20]).save(folder / "words")
    (folder / "text").write_text(columns(TOKENS[:5], CHUNKS[:5]), encoding="utf-8")
    return folder


def rows_of(out):
    return [
        [line.split() for line in part.split("\n")]
        for part in out.strip("\n").split("\n\n")
    ]


@pytest.mark.parametrize("name, options", [("crf", []), ("free", ["--scheme", "BIO"])])
def test_labels_and_segments(name, options, folder, capsys):
    code, out, _ = run(
        capsys, "tag", folder / "text", "-m", folder / name, "--proba", *options
    )
    model, rows = skstruct.load(folder / name), rows_of(out)
    assert code == 0 and [[row[3] for row in part] for part in rows] == model.predict(
        TOKENS[:5]
    )
    marginals, ids = model.predict_marginals(TOKENS[:5]), model.classes_.tolist()
    for part, p in zip(rows, marginals):
        assert [row[4] for row in part] == [
            f"{p[t, ids.index(row[3])]:.6f}" for t, row in enumerate(part)
        ]
    for part, spans in zip(rows, model.predict_segment_proba(TOKENS[:5], scheme="BIO")):
        expected = ["_"] * len(part)
        for (start, stop, _), p in spans:
            expected[start:stop] = [f"{p:.6f}"] * (stop - start)
        assert [row[5] for row in part] == expected


def test_without_a_scheme_there_is_one_column(folder, capsys):
    code, out, _ = run(capsys, "tag", folder / "text", "-m", folder / "free", "--proba")
    assert code == 0 and {len(row) for part in rows_of(out) for row in part} == {5}


def test_of_the_k_best(folder, capsys):
    code, out, _ = run(
        capsys, "tag", folder / "text", "-m", folder / "crf", "--proba", "--kbest", 2
    )
    model = skstruct.load(folder / "crf")
    parts = rows_of(out)
    assert code == 0 and [part[0][:2] for part in parts[:2]] == [["#", "0"], ["#", "1"]]
    second = parts[1][1:]
    spans = labels_to_spans([row[3] for row in second], "BIO")
    for (start, stop, _), p in model.predict_segment_proba(TOKENS[:1], [spans])[0]:
        assert {row[5] for row in second[start:stop]} == {f"{p:.6f}"}


def test_conllu(folder, capsys):
    lines = [
        f"{t}\t{word}\t_\t_\t{tag}\t_\t_\t_\t_\t{'SpaceAfter=No' if t == 1 else '_'}"
        for t, (word, tag) in enumerate(TOKENS[0], start=1)
    ]
    (folder / "one.conllu").write_text("\n".join(lines) + "\n\n", encoding="utf-8")
    options = ["--tokens", "form,xpos", "--label", "feats", "--proba"]
    code, out, _ = run(
        capsys, "tag", folder / "one.conllu", "-m", folder / "crf", *options
    )
    cells = [line.split("\t") for line in out.strip().split("\n")]
    assert (
        code == 0
        and [row[5] for row in cells]
        == skstruct.load(folder / "crf").predict(TOKENS[:1])[0]
    )
    assert cells[0][9].startswith("SpaceAfter=No|Prob=") and cells[1][9].startswith(
        "Prob="
    )
    for row in cells:
        assert ("SegmentProb=" in row[9]) == (row[5] != "O")
    options[3] = "misc"
    code, _, err = run(
        capsys, "tag", folder / "one.conllu", "-m", folder / "crf", *options
    )
    assert code == 2 and "--proba writes to the field misc" in err


def test_words(folder, capsys):
    X, _ = load_segmentation()
    (folder / "raw").write_text("\n".join([X[0], "", X[1]]) + "\n", encoding="utf-8")
    code, out, _ = run(
        capsys,
        "tag",
        folder / "raw",
        "-m",
        folder / "words",
        "--proba",
        "--tag-separator",
        "_",
    )
    found = skstruct.load(folder / "words").predict_segment_proba([X[0], "", X[1]])
    texts = [X[0], "", X[1]]
    expected = [
        " ".join(f"{x[a:b]}_{p:.6f}" for (a, b, _), p in s)
        for x, s in zip(texts, found)
    ]
    assert code == 0 and out == "\n".join(expected) + "\n"


@pytest.mark.parametrize(
    "model, options, message",
    [
        ("perceptron", ["--proba"], "taggers; train --calibrate makes one"),
        ("crf", ["--scheme", "BIO"], "--scheme is for --proba, of taggers"),
        ("words", ["--proba", "--scheme", "BMES"], "--scheme is not for models that segment"),
        ("words", ["--proba", "--dictionary", "text"], "--proba and --dictionary do not go together"),
    ],
)  # fmt: skip
def test_wrong_usage(model, options, message, folder, capsys):
    code, out, err = run(capsys, "tag", folder / "text", "-m", folder / model, *options)
    assert code == 2 and message in err and out == ""


def test_an_unknown_scheme(folder, capsys):
    code, _, err = run(
        capsys,
        "tag",
        folder / "text",
        "-m",
        folder / "free",
        "--proba",
        "--scheme",
        "BOI",
    )
    assert code == 1 and "scheme must be one of" in err


@pytest.mark.parametrize("several", [[], ["--members", 2]])
def test_train_calibrate(several, folder, tmp_path, capsys):
    (tmp_path / "train").write_text(columns(TOKENS, CHUNKS), encoding="utf-8")
    options = ["--epochs", 2, "-p", "constraints=BIO", "--calibrate", *several]
    code, _, err = run(
        capsys, "train", tmp_path / "train", "-m", tmp_path / "model", *options
    )
    assert code == 0 and "trained CalibratedTagger" in err
    code, out, _ = run(
        capsys,
        "tag",
        folder / "text",
        "-m",
        tmp_path / "model",
        "--proba",
        "--n-jobs",
        2,
    )
    assert code == 0 and {len(row) for part in rows_of(out) for row in part} == {6}
    code, out, _ = run(capsys, "show", "-m", tmp_path / "model")
    assert code == 0 and "temperature" in out
    code, _, err = run(
        capsys,
        "train",
        tmp_path / "train",
        "-m",
        tmp_path / "m",
        "--calibrate",
        "--stream",
        10,
    )
    assert (
        code == 2
        and "--stream: CalibratedTagger does not learn example by example" in err
    )


def test_train_calibrate_a_segmenter(tmp_path, capsys):
    _, y = load_segmentation()
    text = "".join(" ".join(words) + "\n" for words in y[:20])
    (tmp_path / "train.seg").write_text(text, encoding="utf-8")
    options = ["--epochs", 1, "--calibrate"]
    assert (
        run(
            capsys, "train", tmp_path / "train.seg", "-m", tmp_path / "model", *options
        )[0]
        == 0
    )
    code, out, _ = run(
        capsys, "tag", tmp_path / "train.seg", "-m", tmp_path / "model", "--proba"
    )
    assert code == 0 and len(out.splitlines()) == 20 and "/0." in out
