"""``train``: every learner by name, labels that break a constraint, and what is said about features."""

import json
import re

import pytest
from cli_cases import columns, run, run_train
from sklearn.utils.validation import check_is_fitted

import skstruct
from skstruct import (
    BaggingShuffleAverager,
    KBestReranker,
    ParameterMixer,
    Segmenter,
    ShiftReduceParser,
    StructuredPerceptron,
    WordSegmenter,
)
from skstruct.datasets import (
    load_chunking,
    load_parsing,
    load_segmentation,
    read_columns,
)

TOKENS, CHUNKS = (part[:24] for part in load_chunking())
SENTENCES, TREES = (part[:12] for part in load_parsing())
WORDS = load_segmentation()[1][:24]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Corpora of every kind."""
    root = tmp_path_factory.mktemp("corpora")
    (root / "labels.txt").write_text(columns(TOKENS, CHUNKS), encoding="utf-8")
    (root / "words.seg").write_text(
        "".join(" ".join(words) + "\n" for words in WORDS), encoding="utf-8"
    )
    arcs = [
        [f"{w} {p} {h} {d}\n" for (w, p), (h, d) in zip(*pair)]
        for pair in zip(SENTENCES, TREES)
    ]
    (root / "trees.txt").write_text("\n".join(map("".join, arcs)), encoding="utf-8")
    rows = [
        [
            f"{t}\t{w}\t_\t_\t{p}\t_\t{h}\t{d}\t_\t_\n"
            for t, ((w, p), (h, d)) in enumerate(zip(*pair), 1)
        ]
        for pair in zip(SENTENCES, TREES)
    ]
    (root / "trees.conllu").write_text(
        "\n".join(map("".join, rows)) + "\n", encoding="utf-8"
    )
    return root


@pytest.mark.parametrize(
    "corpus, options, classes",
    [
        ("words.seg", ["-a", "word-segmenter"], [WordSegmenter]),
        ("words.seg", ["-a", "WordSegmenter", "-p", "templates=zc14", "--members", "2"],
         [BaggingShuffleAverager, WordSegmenter]),
        ("trees.txt", ["-a", "parser", "-p", "templates=hs28"], [ShiftReduceParser]),
        ("trees.conllu", ["-a", "parser", "--shards", "2"], [ParameterMixer, ShiftReduceParser]),
        ("trees.conllu", ["-a", "parser", "--stream", "5"], [ShiftReduceParser]),
        ("labels.txt", ["-a", "reranker", "-p", "cv=2", "-p", "base__constraints=BIO"],
         [KBestReranker, StructuredPerceptron]),
        ("words.seg", ["-a", "reranker", "-p", "cv=2", "-p", "k=3", "-p", "scheme=BI"],
         [KBestReranker, Segmenter]),
        ("labels.txt", ["-a", "ap"], [StructuredPerceptron]),
    ],
)  # fmt: skip
def test_every_learner(folder, capsys, tmp_path, corpus, options, classes):
    """It is trained, saved, and can be evaluated, shown and asked."""
    path, model = folder / corpus, tmp_path / "m"
    more = (
        ["-p", "beam_size=2"] if {ShiftReduceParser, WordSegmenter} & {*classes} else []
    )
    if "--stream" not in options:
        more += ["--epochs", 2]
    code, out, err = run_train(
        capsys, path, "-m", model, *more, *options, "--dev", path
    )
    assert code == 0 and f"trained {classes[0].__name__}" in err, err
    assert ("uas" if ShiftReduceParser in classes else "token accuracy" if TOKENS and corpus == "labels.txt"
            else "f1") in out.lower()  # fmt: skip
    loaded = skstruct.load(model)
    check_is_fitted(loaded)
    assert type(loaded) is classes[0]
    inner = getattr(loaded, "base_", getattr(loaded, "estimator_", None))
    assert len(classes) == 1 or type(inner) is classes[1]
    for command in ("evaluate", "tag"):
        code, out, err = run(capsys, command, path, "-m", model)
        assert code == 0 and out, err
    assert run(capsys, "show", "-m", model)[0] == 0


def test_a_search_says_what_it_chose(folder, capsys, tmp_path):
    options = (
        "-a",
        "l1crf",
        "--search",
        "-p",
        "c1s=(0.1, 3.0)",
        "-p",
        "c2s=[0.1]",
        "-p",
        "cv=2",
    )
    code, _, err = run_train(
        capsys, folder / "labels.txt", "-m", tmp_path / "m", *options
    )
    model = skstruct.load(tmp_path / "m")
    assert code == 0 and f"chosen: c1={model.c1_:g}, c2=0.1; mean score " in err, err
    assert model.best_params_["c1"] in (0.1, 3.0) and model.n_splits_ == 2
    assert run(capsys, "tag", folder / "labels.txt", "-m", tmp_path / "m")[0] == 0


@pytest.mark.parametrize(
    "corpus, options, message",
    [
        ("labels.txt", ["-a", "Segmenter"], "Segmenter goes around a learner"),
        (
            "labels.txt",
            ["-a", "BaggingShuffleAverager"],
            "BaggingShuffleAverager goes around a learner",
        ),
        ("trees.txt", ["-a", "parser", "--features", "word"], "--param templates=NAME"),
        (
            "trees.txt",
            ["-a", "parser", "--label", "1"],
            "a parser always reads the head and its label",
        ),
        ("trees.txt", ["-a", "parser", "--calibrate"], "--calibrate is for taggers"),
        (
            "trees.txt",
            ["-a", "parser", "-p", "features=word"],
            "has no parameter 'features'",
        ),
        ("labels.txt", ["-a", "reranker", "--members", "2"], "cannot be averaged"),
        (
            "labels.txt",
            ["-a", "reranker", "-p", "base__magic=1"],
            "no parameter 'base__magic'",
        ),
        ("labels.txt", ["-a", "reranker", "-p", "base__order=3"], "order"),
        (
            "labels.txt",
            ["-a", "reranker", "--stream", "5"],
            "does not learn example by example",
        ),
        ("labels.txt", ["-a", "l1crf", "--keep-training"], "has no state of training"),
        (
            "labels.txt",
            ["--repair"],
            "--repair is for taggers with --param constraints=SCHEME",
        ),
        (
            "labels.txt",
            ["-p", "constraints=FOO"],
            "--param constraints: scheme must be one of",
        ),
        ("words.seg", ["--repair", "-p", "scheme=BI"], "--repair is for taggers"),
        (
            "labels.txt",
            ["--search"],
            "--search chooses c1 and c2; it is for --algorithm l1crf",
        ),
        (
            "labels.txt",
            ["-a", "l1crf", "--search", "--shards", "2"],
            "--shards: L1CRFCV does not learn example by",
        ),
        (
            "labels.txt",
            ["-a", "l1crf", "--search", "-p", "c1=0.5"],
            "L1CRFCV has no parameter 'c1'",
        ),
    ],
)
def test_wrong_usage(folder, capsys, tmp_path, corpus, options, message):
    code, out, err = run_train(capsys, folder / corpus, "-m", tmp_path / "m", *options)
    assert (code, out) == (2, "") and message in err
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    "corpus, algorithm, message",
    [
        (
            "words.seg",
            "parser",
            "is a parser and reads columns or CoNLL-U, not segmented text",
        ),
        (
            "trees.conllu",
            "word-segmenter",
            "is a segmenter and reads text, not CoNLL-U",
        ),
        ("labels.txt", "parser", "labels.txt, line 1"),
    ],
)
def test_another_corpus(folder, capsys, tmp_path, corpus, algorithm, message):
    code, out, err = run_train(
        capsys, folder / corpus, "-m", tmp_path / "m", "-a", algorithm
    )
    assert (code, out) == (1, "") and message in err
    assert "error" in err.splitlines()[-1] and not (tmp_path / "m").exists()


def test_repair(folder, capsys, tmp_path):
    """A corpus that breaks its scheme is refused with the remedy, and learned with it."""
    text = (folder / "labels.txt").read_text(encoding="utf-8")
    wrong = text.replace(" B-NP\n", " I-NP\n", 1)
    assert wrong != text
    (tmp_path / "c.txt").write_text(wrong, encoding="utf-8")
    options = "-m", tmp_path / "m", "-p", "constraints=BIO", "--epochs", 2
    code, _, err = run_train(capsys, tmp_path / "c.txt", *options)
    assert (
        code == 1
        and "c.txt, line 1: " in err
        and err.endswith("; --repair rewrites the labels\n")
    )
    for more in ([], ["--stream", 10]):
        code, _, err = run_train(
            capsys, tmp_path / "c.txt", *options[:4], *more, "--repair"
        )
        assert code == 0 and "repaired 1 label in 1 sentence\n" in err
    assert run_train(capsys, tmp_path / "c.txt", *options, "--repair")[0] == 0
    assert (
        run_train(
            capsys,
            folder / "labels.txt",
            "-m",
            tmp_path / "right",
            *options[2:],
        )[0]
        == 0
    )
    X, _ = read_columns(folder / "labels.txt", return_X_y=True)
    assert skstruct.load(tmp_path / "m").predict(X) == skstruct.load(
        tmp_path / "right"
    ).predict(X)


def test_labels_of_another_scheme(folder, capsys, tmp_path):
    options = "-m", tmp_path / "m", "-p", "constraints=BMES", "--epochs", 1
    code, _, err = run_train(capsys, folder / "labels.txt", *options)
    assert (
        code == 1
        and "does not belong to the scheme BMES" in err
        and "--repair rewrites" in err
    )
    assert run_train(capsys, folder / "labels.txt", *options, "--repair")[0] == 0
    assert "S-NP" in skstruct.load(tmp_path / "m").classes_


def test_columns_for_a_segmenter_are_noticed(folder, capsys, tmp_path):
    assert (
        run_train(capsys, folder / "words.seg", "-m", tmp_path / "m", "--epochs", 1)[0]
        == 0
    )
    code, out, err = run(capsys, "tag", folder / "labels.txt", "-m", tmp_path / "m")
    assert (
        code == 0
        and out
        and "labels.txt: looks like columns; a segmenter reads each line" in err
    )
    assert run(capsys, "tag", folder / "words.seg", "-m", tmp_path / "m")[2] == ""


def test_python_names_the_repair():
    """It is a call that can be copied, of a name that is public."""
    y = [["I-NP", *labels[1:]] for labels in CHUNKS]
    with pytest.raises(
        ValueError,
        match=r"constraints 'IOB2'; skstruct.schemes.convert_scheme\(y, 'BIO', 'BIO', strict=False",
    ):
        StructuredPerceptron(constraints="IOB2").fit(TOKENS, y)
    repaired = skstruct.schemes.convert_scheme(y, "BIO", "BIO", strict=False)
    StructuredPerceptron("chunk", constraints="IOB2", max_iter=1).fit(TOKENS, repaired)
    with pytest.raises(
        ValueError,
        match=r"^y: constraints='BMES': label 'I-\w+' does not .*convert_scheme",
    ):
        StructuredPerceptron(constraints="BMES").fit(TOKENS, CHUNKS)
    with pytest.raises(ValueError, match="under the constraints$"):
        StructuredPerceptron(constraints=[(None, "B-NP")]).fit(TOKENS, y)


def test_a_corpus_without_prefixes(folder, capsys, tmp_path):
    """Labels that are types: refused with the remedy, rewritten by it, or taken as the scheme IO."""
    text = re.sub(" [BI]-", " ", (folder / "labels.txt").read_text(encoding="utf-8"))
    (tmp_path / "c.txt").write_text(text, encoding="utf-8")
    train = (
        "train",
        "--force",
        tmp_path / "c.txt",
        "-m",
        tmp_path / "m",
        "--epochs",
        2,
        "-p",
    )
    code, _, err = run(capsys, *train, "constraints=BIO")
    assert code == 1 and err.endswith("; --repair rewrites the labels\n")
    assert run(capsys, *train, "constraints=BIO", "--repair")[0] == 0
    assert "B-NP" in skstruct.load(tmp_path / "m").classes_
    assert run(capsys, *train, "constraints=IO")[0] == 0
    code, out, _ = run(
        capsys, "evaluate", tmp_path / "c.txt", "-m", tmp_path / "m", "--json"
    )
    assert code == 0 and json.loads(out)["segments"]["NP"]["support"] > 0


@pytest.mark.parametrize(
    "options, preset",
    [([], "word-tag"), (["--tokens", "0"], "word"), (["--features", "chunk"], None)],
)
def test_the_features_chosen_are_said(folder, capsys, tmp_path, options, preset):
    arguments = (
        "train",
        "--force",
        folder / "labels.txt",
        "-m",
        tmp_path / "m",
        "--epochs",
        1,
        *options,
    )
    code, _, err = run(capsys, *arguments)
    assert code == 0 and ("(detected)" in err) == (preset is not None)
    assert preset is None or f"using the feature preset {preset} (" in err
    assert (
        f"preset        {preset or 'chunk'}\n"
        in run(capsys, "show", "-m", tmp_path / "m")[1]
    )


def test_show_takes_a_file_or_an_option(folder, capsys, tmp_path):
    model = tmp_path / "m"
    assert (
        run_train(capsys, folder / "labels.txt", "-m", model, "--max-iter", 1)[0] == 0
    )
    code, out, _ = run(capsys, "show", model)
    assert code == 0 and out == run(capsys, "show", "--model", model)[1]
    for wrong in ([], [model, "-m", model]):
        code, out, err = run(capsys, "show", *wrong)
        assert (code, out) == (2, "") and "name one model file" in err
    code, out, err = run(
        capsys, "tag", folder / "labels.txt", "-m", model, "--label", "2"
    )
    assert (code, out) == (2, "") and "choose what to read with --tokens" in err
