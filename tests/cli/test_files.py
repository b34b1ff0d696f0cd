"""train, tag, evaluate and show on files, standard input and standard output."""

import errno
import gzip
import io
import json
import os
import re
import shlex
import subprocess
import sys

import pytest
from cli_cases import columns, run, without_notice
from inside import after_each_report

import skstruct
from skstruct import cli
from skstruct.cli import common, corpus, lines, tag, train
from skstruct.datasets import load_chunking, load_sample, load_segmentation
from skstruct.inspection import feature_weights
from skstruct.metrics import segment_f1_score, token_accuracy_score, word_f1_score

N_TRAIN = 110


def conllu(forms, tags):
    text = ""
    for i, sentence in enumerate(zip(forms, tags)):
        text += f"# sent_id = {i}\n"
        for t, (form, tag_) in enumerate(zip(*sentence), start=1):
            if t == 2:
                text += "2-3\tof_two\t" + "\t".join("_" * 8) + "\n"
            text += f"{t}\t{form}\t_\t_\t{tag_}\t_\t_\t_\t_\t_\n"
        text += "\n"
    return text


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Corpora, and a model of each format, in one folder."""
    root = tmp_path_factory.mktemp("cli")
    X, y = load_chunking()
    (root / "train.txt").write_text(columns(X[:N_TRAIN], y[:N_TRAIN]), encoding="utf-8")
    (root / "test.txt").write_text(columns(X[N_TRAIN:], y[N_TRAIN:]), encoding="utf-8")
    sample = load_sample("en")
    (root / "train.conllu").write_text(conllu(sample.tokens[:40], sample.pos[:40]), encoding="utf-8")
    (root / "test.conllu").write_text(conllu(sample.tokens[40:50], sample.pos[40:50]), encoding="utf-8")
    _, words = load_segmentation()
    segmented = [" ".join(w) + "\n" for w in words]
    (root / "train.seg").write_text("".join(segmented[:N_TRAIN]), encoding="utf-8")
    (root / "test.seg").write_text("".join(segmented[N_TRAIN:]), encoding="utf-8")
    for source, target in (("train.txt", "chunk"), ("train.conllu", "pos"), ("train.seg", "seg")):
        assert cli.main(["train", str(root / source), "-m", str(root / target), "--epochs", "5"]) == 0
    return root


@pytest.fixture
def stdin(monkeypatch):
    def give(text):
        data = text if isinstance(text, bytes) else text.encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="ascii"))

    return give


# --------------------------------------------------------------------------------------------------
# train
# --------------------------------------------------------------------------------------------------
def test_train_is_what_python_does(folder):
    X, y = load_chunking()
    expected = skstruct.StructuredPerceptron(max_iter=5, random_state=0).fit(X[:N_TRAIN], y[:N_TRAIN])
    model = skstruct.load(folder / "chunk")
    assert model.get_params() == expected.get_params()
    assert model.predict(X[N_TRAIN:]) == expected.predict(X[N_TRAIN:])


def test_train_options(folder, capsys, tmp_path):
    template = tmp_path / "template"
    template.write_text("# CRF++\nU00:%x[0,0]\nU01:%x[0,1]\nB\n")
    code, out, err = run(
        capsys, "train", folder / "train.txt", "--model", tmp_path / "m", "--template", template, "-a", "pa",
        "--epochs", 2, "-p", "C=0.5", "-p", "constraints=BIO", "-p", "penalty=None", "--seed", 3, "-v",
        "--dev", folder / "test.txt", "--compact",
    )  # fmt: skip
    assert code == 0
    model = skstruct.load(tmp_path / "m")
    assert isinstance(model, skstruct.PassiveAggressiveTagger)
    assert (model.C, model.constraints, model.penalty, model.random_state) == (0.5, "BIO", None, 3)
    assert model.features == ["U00:%x[0,0]", "U01:%x[0,1]", "B"] and model.verbose == 0
    assert "token accuracy" in out and "epoch" not in out  # epochs are messages
    assert err.count("\nepoch ") == 2 and re.search(r"trained PassiveAggressiveTagger in [\d.]+ s", err)
    assert str(tmp_path).encode() not in (tmp_path / "m").read_bytes()


def test_train_from_stdin(folder, capsys, stdin, tmp_path):
    stdin((folder / "train.txt").read_text(encoding="utf-8"))
    assert run(capsys, "train", "-", "-m", tmp_path / "m", "--epochs", 5)[0] == 0
    X, _ = load_chunking()
    assert skstruct.load(tmp_path / "m").predict(X) == skstruct.load(folder / "chunk").predict(X)


def test_train_chosen_columns(folder, capsys, tmp_path):
    options = "--tokens", "0", "--label", "1"
    assert run(capsys, "train", folder / "train.txt", "-m", tmp_path / "m", *options)[0] == 0
    model = skstruct.load(tmp_path / "m")
    assert "NN" in model.classes_ and model.predict([["the", "dog"]])
    options = "-m", tmp_path / "m", "--label", "1", "--json"
    code, out, _ = run(capsys, "evaluate", folder / "test.txt", *options)
    scores = json.loads(out)
    assert code == 0 and scores["token_accuracy"] > 0.6 and scores["segments"] is None


def test_train_reads_gzip_crlf_and_byte_order_marks(folder, capsys, tmp_path):
    text = (folder / "train.txt").read_text(encoding="utf-8")
    with gzip.open(tmp_path / "train.conll.gz", "wb") as file:
        file.write(("\ufeff" + text.replace("\n", "\r\n")).encode())
    assert run(capsys, "train", tmp_path / "train.conll.gz", "-m", tmp_path / "m", "--epochs", 5)[0] == 0
    X, _ = load_chunking()
    assert skstruct.load(tmp_path / "m").predict(X) == skstruct.load(folder / "chunk").predict(X)


def test_damaged_gzip(folder, capsys, tmp_path):
    data = gzip.compress((folder / "test.txt").read_bytes())
    for damaged in (data[: len(data) // 2], data[:40] + b"\0" * 400 + data[440:], b"no gzip"):
        (tmp_path / "x.conll.gz").write_bytes(damaged)
        code, _, err = run(capsys, "tag", tmp_path / "x.conll.gz", "-m", folder / "chunk")
        assert code == 1 and re.search("skstruct: error: ", err)


def test_train_segmenter_parameters(folder, capsys, tmp_path):
    code, *_ = run(
        capsys, "train", folder / "train.seg", "-m", tmp_path / "m", "-p", "scheme=BI", "-p", "dropout=0.1"
    )
    model = skstruct.load(tmp_path / "m")
    assert code == 0 and (model.scheme, model.tagger_.dropout) == ("BI", 0.1)


@pytest.mark.parametrize(
    "options, message",
    [
        (["-p", "colour=red"], "has no parameter 'colour'; it has alpha,"),
        (["-p", "alpha=2"], "'alpha' parameter"),
        (["-p", "alpha"], "NAME=VALUE"),
        (["-p", "max_iter=3", "--epochs", "2"], "--param max_iter and an option"),
        (["--epochs", "0"], "at least 1"),
        (["-a", "magic"], "unknown algorithm"),
        (["--features", "char", "--template", "t"], "not allowed with"),
        (["--encoding", "klingon"], "unknown encoding"),
        (["--format", "conllu", "--tokens", "shape"], "no field 'shape'"),
        (["--tokens", "form"], "numbers of columns"),
    ],
)
def test_train_wrong_usage(folder, capsys, tmp_path, options, message):
    code, out, err = run(capsys, "train", folder / "train.txt", "-m", tmp_path / "m", *options)
    assert (code, out) == (2, "") and message in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "text, message",
    [
        (b"a X\nb\n", "data.txt, line 2: expected 2 columns"),
        (b"a\nb\n\nc\n", "data.txt, line 1: expected tokens and a label; found 1 column"),
        (b"", "data.txt: there is no sentence in it"),
        (b"a X\n\xff Y\n", "data.txt, line 2: not valid utf-8"),
        (b"a B-X\nb I-X\n\nc I-X\n", "data.txt, line 4: y: sequence 1, position 0: the label 'I-X' cannot"),
        (b"a X\n" * 9000 + b"\xff Y\n", "data.txt, line 9001: not valid utf-8"),
    ],
)
def test_train_bad_data(capsys, tmp_path, text, message):
    path = tmp_path / "data.txt"
    path.write_bytes(text)
    options = "--format", "columns", "-p", "constraints=BIO"
    code, out, err = run(capsys, "train", path, "-m", tmp_path / "m", *options)
    assert (code, out) == (1, "")
    assert err.splitlines()[-1].startswith("skstruct: error: ") and message in err
    assert not (tmp_path / "m").exists()


HEADERS = {
    "sentence_id,word,tag": "0,the,D\n0,dog,N\n1,a,D\n1,cat,N\n",
    ",token,ner": "0,the,O\n1,dog,B-X\n2,a,O\n",
    "Sentence #,Word,POS,Tag": "Sentence: 1,the,D,O\n,dog,N,B-X\n,a,D,O\n",
    "n,w,t": "0,the,D\n1,dog,N\n2.5,a,D\n",  # numbers under a name
    "form,upos": "the,D\nform,N\n",
}


@pytest.mark.parametrize("header", HEADERS)
def test_names_of_columns_are_noticed(capsys, tmp_path, header):
    path = tmp_path / "df.csv"
    path.write_text(f"{header}\n{HEADERS[header]}")
    options = path, "-m", tmp_path / "m", "--separator", ",", "--format", "columns"
    label = header.rpartition(",")[2]
    for more in ([], ["--stream", "1", "--epochs", "2"]):
        code, _, err = run(capsys, "train", *options, *more)
        assert code == 0 and label in skstruct.load(tmp_path / "m").classes_
        assert err.count("warning") == 1
        assert f"warning: {path}, line 1: looks like names of columns" in err and f"label {label!r}" in err
    command = shlex.split(re.search("--comment .*(?= leaves it out)", err)[0])
    code, _, err = run(capsys, "train", *options, *command)
    assert code == 0 and "warning" not in err and label not in skstruct.load(tmp_path / "m").classes_
    assert "line 1: looks like names" in run(capsys, "evaluate", *options)[2]


@pytest.mark.parametrize(
    "text",
    [
        "the D\ndog N\na D\n",  # neither a name nor a number
        "Word N\nfor P\nword N\n",  # the label is one
        "1 D\n2 N\n3 N\n",  # numbers throughout
        "word N\n",
    ],
)
def test_what_looks_like_data_is_not_taken_for_names(capsys, tmp_path, text):
    (tmp_path / "x.conll").write_text(text)
    code, _, err = run(capsys, "train", tmp_path / "x.conll", "-m", tmp_path / "m")
    assert code == 0 and "warning" not in err


def test_a_file_that_is_one_sentence_is_noticed(capsys, tmp_path):
    path = tmp_path / "x.conll"
    for text, n in (("the D\ndog N\n" * 501, 1), ("the D\ndog N\n" * 500, 0), ("the D\n\n" * 1100, 0)):
        path.write_text(text)
        code, _, err = run(capsys, "train", path, "-m", tmp_path / "m", "--epochs", 1)
        assert code == 0
        assert err.count(f"warning: {path}: all 1,002 tokens are one sentence") == err.count("warning") == n


def test_train_complains_of_the_target_before_reading(folder, capsys, tmp_path):
    cases = (tmp_path / "no" / "m", "folder does not exist"), (tmp_path, "not a regular file")
    for target, message in cases:
        code, _, err = run(capsys, "train", folder / "train.txt", "-m", target)
        assert code == 1 and message in err and "read " not in err
    code, _, err = run(capsys, "train", tmp_path / "nothing", "-m", tmp_path / "m")
    assert code == 1 and f"{tmp_path / 'nothing'}: {os.strerror(errno.ENOENT)}" in err


def test_bad_template_names_its_line(folder, capsys, tmp_path):
    (tmp_path / "t").write_text("U00:%x[0,0]\nX\n")
    code, _, err = run(
        capsys, "train", folder / "train.txt", "-m", tmp_path / "m", "--template", tmp_path / "t"
    )
    assert code == 1 and f"{tmp_path / 't'}:2: a template starts with U" in err


def test_interrupted_training_leaves_a_model_beside_the_target(folder, capsys, tmp_path, monkeypatch):
    fit = skstruct.StructuredPerceptron.fit

    def interrupted(self, X, y):
        fit(self, X, y)
        raise KeyboardInterrupt

    monkeypatch.setattr(skstruct.StructuredPerceptron, "fit", interrupted)
    code, _, err = run(capsys, "train", folder / "train.txt", "-m", tmp_path / "m", "--epochs", 1)
    assert code == cli.INTERRUPTED and "after 1 epoch is in" in err
    assert [path.name for path in tmp_path.iterdir()] == ["m" + train.PARTIAL]
    skstruct.load(tmp_path / ("m" + train.PARTIAL))


# --------------------------------------------------------------------------------------------------
# tag
# --------------------------------------------------------------------------------------------------
def labelled(text):
    """The rows of sentences of columns."""
    return [[line.split() for line in part.splitlines()] for part in text.strip("\n").split("\n\n")]


@pytest.mark.parametrize("batch", [1, 7, 1000])
def test_tag_appends_a_column(folder, capsys, stdin, batch):
    X, y = load_chunking()
    stdin((folder / "test.txt").read_text(encoding="utf-8"))
    code, out, err = run(capsys, "tag", "--model", folder / "chunk", "--batch", batch)
    expected = skstruct.load(folder / "chunk").predict(X[N_TRAIN:])
    assert (code, err) == (0, "")
    assert [[row[3] for row in sentence] for sentence in labelled(out)] == expected
    assert re.sub(r" \S+$", "", out, flags=re.M) == (folder / "test.txt").read_text(encoding="utf-8")


def test_tag_needs_no_label_and_keeps_what_it_does_not_read(folder, capsys, stdin):
    stdin("\n\n// note\nthe\tDT  \r\n// inside\ndog\tNN\n\n\n\na\tDT\n// end\n")
    code, out, _ = run(capsys, "tag", "-m", folder / "chunk", "--comment", "//")
    assert code == 0
    assert out == "\n\n// note\nthe\tDT\tB-NP\n// inside\ndog\tNN\tI-NP\n\n\n\na\tDT\tB-NP\n// end\n"


@pytest.mark.parametrize("separator", [" ", "\t"])
def test_tag_keeps_an_ideographic_space_and_drops_trailing_blanks(capsys, stdin, tmp_path, separator):
    stdin("a A\n\u3000 B\n\nb A\n")
    assert run(capsys, "train", "-", "-m", tmp_path / "m", "--format", "columns", "--epochs", "1")[0] == 0
    stdin(f"a{separator}c\n\u3000{separator}y \t\n")
    code, out, _ = run(capsys, "tag", "-m", tmp_path / "m")
    assert code == 0
    assert [line.split(separator)[:2] for line in out.splitlines()] == [["a", "c"], ["\u3000", "y"]]
    assert all(line.count(separator) == 2 for line in out.splitlines())


def test_tag_nothing(folder, capsys, stdin):
    for text in ("", "\n\n"):
        stdin(text)
        assert run(capsys, "tag", "-m", folder / "chunk") == (0, text, "")


def test_tag_conllu_fills_the_field(folder, capsys):
    text = (folder / "test.conllu").read_text(encoding="utf-8")
    code, out, _ = run(capsys, "tag", folder / "test.conllu", "-m", folder / "pos", "--label", "upos")
    assert code == 0
    rows = [line.split("\t") for line in out.splitlines()]
    before = [line.split("\t") for line in text.splitlines()]
    assert [r[:3] + r[4:] for r in rows] == [r[:3] + r[4:] for r in before]  # all but that field
    forms = load_sample("en").tokens[40:50]
    tags = [row[3] for row in rows if row[0].isdecimal()]
    assert tags == sum(skstruct.load(folder / "pos").predict(forms), [])


def test_tag_guesses_conllu_from_standard_input(folder, capsys, stdin):
    stdin((folder / "test.conllu").read_text(encoding="utf-8"))
    code, out, _ = run(capsys, "tag", "-m", folder / "pos", "--label", "upos")
    assert code == 0 and out.startswith("# sent_id = 0\n1\t") and len(out.splitlines()[1].split("\t")) == 10


def test_tag_text(folder, capsys, stdin):
    texts, _ = load_segmentation()
    texts = [*texts[N_TRAIN:], "", "他 在 看书", "好。"]
    stdin("\n".join(texts))
    code, out, _ = run(capsys, "tag", "-m", folder / "seg")
    expected = skstruct.load(folder / "seg").predict(texts)
    assert code == 0 and out == "".join(" ".join(words) + "\n" for words in expected)


def test_tag_with_a_dictionary(folder, capsys, stdin, tmp_path):
    (tmp_path / "words").write_text("北京大学图书馆 看书\n", encoding="utf-8")
    stdin("他在北京大学图书馆看书。\n")
    code, out, _ = run(capsys, "tag", "-m", folder / "seg", "--dictionary", tmp_path / "words")
    assert code == 0 and " 北京大学图书馆 看书 " in out
    assert run(capsys, "tag", "-m", folder / "chunk", "--dictionary", tmp_path / "words")[0] == 2


def test_tag_adapts_to_the_text(folder, capsys, tmp_path):
    model = tmp_path / "av"
    assert cli.main(["train", str(folder / "train.seg"), "-m", str(model), "--features", "char-av"]) == 0
    with open(folder / "test.seg", encoding="utf-8") as file:
        texts = ["".join(line.split()) for line in file]
    (tmp_path / "new").write_text("\n".join(texts) + "\n", encoding="utf-8")
    (tmp_path / "old").write_text("\n\n".join(texts[:20]) + "\n", encoding="utf-8")
    expected = skstruct.load(model).adapt(texts + texts[:20]).predict(texts)
    capsys.readouterr()
    code, out, _ = run(
        capsys, "tag", "-m", model, tmp_path / "new", "--adapt", tmp_path / "new", "--adapt", tmp_path / "old"
    )
    assert code == 0 and out == "".join(" ".join(words) + "\n" for words in expected)
    code, _, err = run(capsys, "tag", "-m", folder / "seg", tmp_path / "new", "--adapt", tmp_path / "new")
    assert code != 0 and "--adapt" in err and "accessor variet" in err


def test_train_on_shards(folder, capsys, tmp_path):
    for file, test in (("train.txt", "test.txt"), ("train.seg", "test.seg")):
        arguments = ["train", folder / file, "-m", tmp_path / "m", "--epochs", "3", "--shards", "3"]
        code, out, _ = run(capsys, *arguments, "--dev", folder / test, "--compact")
        assert code == 0 and out
        model = skstruct.load(tmp_path / "m")
        mixer = getattr(model, "tagger_", model)
        assert isinstance(mixer, skstruct.ParameterMixer) and mixer.n_shards == 3 and mixer.n_iter_ == 3
    for wrong, message in (
        (["--shards", "2", "--members", "2"], "--members and --shards"),
        (["--shards", "2", "--stream", "9"], "--shards and --stream"),
        (["--shards", "2", "-a", "l1crf", "--calibrate"], "--calibrate and --shards cannot both be given"),
        (["--stream", "9", "-a", "l1crf"], "does not learn example by example"),
    ):
        code, _, err = run(capsys, "train", folder / "train.txt", "-m", tmp_path / "m", *wrong)
        assert code == 2 and message in err


def test_train_a_crf_on_shards(folder, capsys, tmp_path):
    """One model, of the tagger itself; texts that segmenters pass over are counted in errors."""
    for file in ("train.txt", "train.seg"):
        arguments = ["train", folder / file, "-m", tmp_path / "m", "-a", "l1crf", "-p", "tol=1e-6"]
        assert run(capsys, *arguments)[0] == 0
        alone = skstruct.load(tmp_path / "m")
        assert run(capsys, *arguments, "--shards", "3")[0] == 0
        sharded = skstruct.load(tmp_path / "m")
        alone, sharded = (getattr(model, "tagger_", model) for model in (alone, sharded))
        assert type(sharded) is skstruct.L1CRF
        assert sharded.objective_ == pytest.approx(alone.objective_, rel=1e-3)
    code, _, err = run(
        capsys, "train", folder / "train.txt", "-m", tmp_path / "m", "-a", "l1crf", "--cluster", "tcp://nowhere:1",
        "-p", "solver=sgd",
    )  # fmt: skip
    assert code == 1 and "solver='sgd'" in err


def test_train_on_a_stream(folder, capsys, tmp_path):
    """The model is that of partial_fit on pieces of the file, and only one piece is read at a time."""
    code, _, err = run(
        capsys, "train", folder / "train.txt", "-m", tmp_path / "m", "--stream", "40", "--epochs", "2"
    )
    assert code == 0 and f"epoch 2: {N_TRAIN} sentences" in err
    X, y = (part[:N_TRAIN] for part in load_chunking())
    tagger = skstruct.StructuredPerceptron(random_state=0)
    for begin in 2 * [0, 40, 80]:
        tagger.partial_fit(X[begin : begin + 40], y[begin : begin + 40])
    assert skstruct.load(tmp_path / "m").predict(X) == tagger.predict(X)
    code, *_ = run(capsys, "train", folder / "train.seg", "-m", tmp_path / "m", "--stream", "50")
    assert code == 0 and isinstance(skstruct.load(tmp_path / "m"), skstruct.Segmenter)
    (tmp_path / "odd").write_text("a B O\n\n" * 5 + "a B I-X\n", encoding="utf-8")
    arguments = ["train", tmp_path / "odd", "-m", tmp_path / "m", "-p", "constraints=BIO"]
    code, _, err = run(capsys, *arguments, "--stream", "2")
    assert code != 0 and "line 11" in err
    code, _, err = run(capsys, "train", "-", "-m", tmp_path / "m", "--stream", "2", "--epochs", "2")
    assert code == 2 and "standard input" in err


def test_a_stream_and_held_out_sentences(folder, capsys, tmp_path):
    arguments = "train", folder / "train.txt", "-m", tmp_path / "m", "--stream", "40"
    code, out, err = run(capsys, *arguments, "--dev", folder / "test.txt")
    assert code == 0 and f"epoch 1: {N_TRAIN} sentences" in err
    assert out == run(capsys, "evaluate", folder / "test.txt", "-m", tmp_path / "m")[1]


@pytest.mark.parametrize("several", [[], ["--shards", "2"], ["--members", "2"]])
def test_models_hold_no_folder_of_this_machine(folder, capsys, tmp_path, several):
    arguments = "train", folder / "train.txt", "-m", tmp_path / "m", "--epochs", "1", "-v", *several
    assert run(capsys, *arguments, "-p", f"checkpoint={tmp_path / 'states'}")[0] == 0
    assert list((tmp_path / "states").iterdir()) == []  # it was used, and tidied up
    assert str(tmp_path).encode() not in (tmp_path / "m").read_bytes()
    model = skstruct.load(tmp_path / "m")
    assert getattr(model, "estimator_", model).verbose == 0


def test_interrupted_before_there_is_a_model(folder, capsys, tmp_path, monkeypatch):
    def interrupted(self, X, y):
        raise KeyboardInterrupt

    monkeypatch.setattr(skstruct.StructuredPerceptron, "fit", interrupted)
    code, _, err = run(capsys, "train", folder / "train.txt", "-m", tmp_path / "m")
    assert code == cli.INTERRUPTED and "no model was kept" in err and "checkpoint=FOLDER" in err
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_training_goes_on(folder, capsys, tmp_path, monkeypatch):
    def pressed(run):
        if run.done == 2:
            raise KeyboardInterrupt

    arguments = "train", folder / "train.txt", "-m", tmp_path / "m", "--epochs", "4", "--seed", "1"
    assert run(capsys, *arguments)[0] == 0
    undisturbed = skstruct.load(tmp_path / "m")
    arguments += "-p", f"checkpoint={tmp_path / 'states'}"
    with monkeypatch.context() as patch:
        after_each_report(patch, pressed)
        code, _, err = run(capsys, *arguments)
    assert code == cli.INTERRUPTED and "after 2 epochs" in err
    assert len(list((tmp_path / "states").iterdir())) == 1
    code, _, err = run(capsys, *arguments)
    assert code == 0 and list((tmp_path / "states").iterdir()) == []
    resumed = skstruct.load(tmp_path / "m")
    assert resumed.resumed_from_ == 2
    assert feature_weights(resumed) == feature_weights(undisturbed)


def test_train_with_a_lexicon_and_members(folder, capsys, tmp_path):
    (tmp_path / "names").write_text("Rockwell\n\n International \n", encoding="utf-8")
    lexicon = f"name={tmp_path / 'names'}"
    code, *_ = run(
        capsys, "train", folder / "train.txt", "-m", tmp_path / "m", "--features", "chunk",
        "--lexicon", lexicon, "--members", "3", "--epochs", "2", "-v",
    )  # fmt: skip
    assert code == 0
    model = skstruct.load(tmp_path / "m")
    assert isinstance(model, skstruct.BaggingShuffleAverager) and model.n_estimators == 3
    features = model.estimator.features
    assert features.lexicons == {"name": ("International", "Rockwell")}
    assert "Ulex_name-1:%lex_name[-1,0]" in features.lines and features.lines[-1] == "B"
    (tmp_path / "template").write_text("U0:%lex_name[0,0]\nB\n", encoding="utf-8")
    arguments = ["train", folder / "train.txt", "-m", tmp_path / "m", "--template", tmp_path / "template"]
    assert run(capsys, *arguments, "--lexicon", lexicon)[0] == 0
    for wrong in (
        [*arguments, "--lexicon", "name"],
        [*arguments, "--lexicon", lexicon, "--lexicon", lexicon],
        ["train", folder / "train.txt", "-m", tmp_path / "m", "--lexicon", lexicon],
    ):
        assert run(capsys, *wrong)[0] == 2
    assert run(capsys, *arguments)[0] != 0  # the template names a lexicon that is not given


def test_tag_joint_model(capsys, stdin, tmp_path):
    sample = load_sample("zh")
    pairs = [list(zip(*pair)) for pair in zip(sample.words, sample.tags)]
    skstruct.Segmenter().fit(sample.text[:50], pairs[:50]).save(tmp_path / "m")
    stdin(sample.text[0] + "\n")
    code, out, _ = run(capsys, "tag", "-m", tmp_path / "m", "--tag-separator", "_")
    assert code == 0 and all(len(word.split("_")) == 2 for word in out.split())


def test_tag_scores_and_kbest(folder, capsys, stdin):
    X, _ = load_chunking()
    model = skstruct.load(folder / "chunk")
    text = columns(X[:2], [["?"] * len(x) for x in X[:2]]).rstrip("\n") + "\n"
    stdin(text)
    code, out, _ = run(capsys, "tag", "-m", folder / "chunk", "--kbest", 3)
    assert code == 0
    expected = [pair for lists in model.predict_kbest(X[:2], 3) for pair in lists]
    found = labelled(out)
    assert [[row[-1] for row in sentence[1:]] for sentence in found] == [labels for labels, _ in expected]
    assert [sentence[0][:2] for sentence in found] == [["#", str(k)] for _ in range(2) for k in range(3)]
    scores = [float(sentence[0][2]) for sentence in found]
    assert scores == pytest.approx([score for _, score in expected], abs=1e-5)
    stdin(text)
    code, out, _ = run(capsys, "tag", "-m", folder / "chunk", "--scores")
    assert [s[0][2] for s in labelled(out)] == [f"{v:.6f}" for v in model.decision_function(X[:2])]
    code, _, err = run(capsys, "tag", "-m", folder / "seg", "--scores")
    assert code == 2 and "Segmenter" in err


def test_tag_to_a_file_whole_or_not_at_all(folder, capsys, tmp_path):
    (tmp_path / "out").write_text("before")
    bad = tmp_path / "bad.txt"
    bad.write_text("the DT\n\n" * 20 + "dog\n")
    options = "-m", folder / "chunk", "-o", tmp_path / "out"
    code, _, err = run(capsys, "tag", bad, *options, "--batch", 5)
    assert code == 1 and f"{bad}, line 41: expected 2 columns" in err
    assert (tmp_path / "out").read_text() == "before" and len(list(tmp_path.iterdir())) == 2
    code, out, _ = run(capsys, "tag", folder / "test.txt", *options)
    assert (code, out) == (0, "") and len(list(tmp_path.iterdir())) == 2
    code, out, _ = run(capsys, "tag", folder / "test.txt", "-m", folder / "chunk")
    assert (tmp_path / "out").read_text(encoding="utf-8") == out


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="no /dev/null")
def test_output_leaves_devices_alone(folder, capsys):
    assert run(capsys, "tag", folder / "test.txt", "-m", folder / "chunk", "-o", "/dev/null")[0] == 0
    assert not os.path.isfile("/dev/null")
    code, _, err = run(capsys, "train", folder / "train.txt", "-m", "/dev/null")
    assert code == 1 and "not a regular file" in err and not os.path.isfile("/dev/null")


def test_tag_streams(folder, capsys, monkeypatch):
    """Only a batch of an endless input is held."""
    alive = {"most": 0}
    inner = tag.sentences

    def endless(*arguments, **options):
        for k, sentence in enumerate(inner(*arguments, **options)):
            alive["most"] = max(alive["most"], k - alive.get("written", 0))
            yield sentence

    def written(output):
        for line in output:
            alive["written"] = alive.get("written", 0) + (line == "\n")

    monkeypatch.setattr(tag, "sentences", endless)
    monkeypatch.setattr(tag, "output", lambda *_: _Sink(written))
    assert run(capsys, "tag", folder / "train.txt", "-m", folder / "chunk", "--batch", 10)[0] == 0
    assert alive["written"] == N_TRAIN and alive["most"] <= 10


class _Sink:
    def __init__(self, written):
        self.writelines = written

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def flush(self):
        pass


@pytest.mark.parametrize(
    "name, text, message",
    [
        ("chunk", "the\n", "<stdin>, line 1: the model reads 2 columns of a token; found 1"),
        ("chunk", "the DT\n\n\xff DT X\n", "<stdin>, line 3: expected 2 columns, as on line 1; found 3"),
        ("chunk", b"the DT\n\n\xff DT\n", "<stdin>, line 3: not valid utf-8"),
    ],
)
def test_tag_bad_input(folder, capsys, stdin, name, text, message):
    stdin(text)
    code, _, err = run(capsys, "tag", "-m", folder / name)
    assert code == 1 and message in err


def test_model_and_format_must_agree(folder, capsys):
    code, _, err = run(capsys, "tag", folder / "test.seg", "-m", folder / "chunk")
    assert code == 1 and "the model is a tagger" in err
    code, _, err = run(capsys, "tag", folder / "test.conllu", "-m", folder / "seg")
    assert code == 1 and "the model is a segmenter" in err


def test_models_of_dicts_are_refused(capsys, stdin, tmp_path):
    skstruct.StructuredPerceptron().fit([[{"a": 1.0}]], [["X"]]).save(tmp_path / "m")
    stdin("a\n")
    code, _, err = run(capsys, "tag", "-m", tmp_path / "m")
    assert code == 1 and "dicts or lists of features" in err


def test_files_that_are_no_models(folder, capsys):
    code, _, err = run(capsys, "tag", "-m", folder / "train.txt")
    assert code == 1 and "not a skstruct file" in err and str(folder / "train.txt") in err


def test_constraints_that_leave_nothing_name_the_line(capsys, stdin, tmp_path):
    skstruct.StructuredPerceptron(constraints=[(None, "A"), ("A", "B"), ("B", None)]).fit(
        [["a", "b"]], [["A", "B"]]
    ).save(tmp_path / "m")
    stdin("a\nb\n\na\n")
    code, _, err = run(capsys, "tag", "-m", tmp_path / "m")
    assert code == 1 and "<stdin>, line 4: sequence 1: the constraints" in err


# --------------------------------------------------------------------------------------------------
# evaluate
# --------------------------------------------------------------------------------------------------
def test_evaluate_in_all_three_ways(folder, capsys, stdin, tmp_path):
    X, y = load_chunking()
    predicted = skstruct.load(folder / "chunk").predict(X[N_TRAIN:])
    code, out, _ = run(capsys, "evaluate", folder / "test.txt", "-m", folder / "chunk", "--json")
    scores = json.loads(out)
    assert code == 0
    assert scores["token_accuracy"] == token_accuracy_score(y[N_TRAIN:], predicted)
    assert scores["segments"]["micro avg"]["f1"] == segment_f1_score(y[N_TRAIN:], predicted)
    _, tagged, _ = run(capsys, "tag", folder / "test.txt", "-m", folder / "chunk")
    (tmp_path / "pred.txt").write_text(tagged, encoding="utf-8")
    code, out, _ = run(
        capsys, "evaluate", "--gold", folder / "test.txt", "--pred", tmp_path / "pred.txt", "--json"
    )
    assert (code, json.loads(out)) == (0, scores)
    stdin(tagged)
    assert run(capsys, "evaluate", "--json")[:2] == (0, out)
    stdin(tagged)
    code, out, _ = run(capsys, "evaluate")
    f1 = scores["segments"]["micro avg"]["f1"]
    assert re.search(rf"^micro avg .* {f1:.4f} ", out, re.M)
    assert re.search(r"^token accuracy +0\.9", out, re.M)


def test_evaluate_segmentation(folder, capsys, tmp_path):
    texts, words = load_segmentation()
    arguments = "evaluate", folder / "test.seg", "-m", folder / "seg", "--json"
    code, out, _ = run(capsys, *arguments, "--vocabulary", folder / "train.seg")
    scores = json.loads(out)
    predicted = skstruct.load(folder / "seg").predict(texts[N_TRAIN:])
    assert code == 0 and scores["f1"] == word_f1_score(words[N_TRAIN:], predicted)
    assert 0 < scores["oov_recall"] < scores["iv_recall"] <= 1
    code, out, _ = run(capsys, *arguments)
    assert "oov_recall" not in json.loads(out)
    (tmp_path / "pred.seg").write_text("".join(" ".join(w) + "\n" for w in predicted), encoding="utf-8")
    code, out, _ = run(
        capsys, "evaluate", "--gold", folder / "test.seg", "--pred", tmp_path / "pred.seg", "--json"
    )
    assert code == 0 and json.loads(out)["f1"] == scores["f1"]


def test_evaluate_says_which_labels_the_model_does_not_know(folder, capsys, stdin):
    stdin("the DT B-NP\ndog NN B-DOG\ncat NN B-CAT\n\ndog NN B-DOG\n\n")
    code, out, err = run(capsys, "evaluate", "-m", folder / "chunk", "--json")
    assert code == 0 and json.loads(out)["token_accuracy"] <= 0.25
    assert "skstruct: warning: <stdin>: 2 labels unknown to the model; 3 tokens" in err
    assert "B-DOG (2), B-CAT (1)" in err
    stdin("the DT X\n")
    code, out, err = run(capsys, "evaluate", "-m", folder / "chunk", "--json")
    assert code == 0 and json.loads(out)["token_accuracy"] == 0.0
    assert "none of the labels is known to the model; 1 token with these labels" in err


def test_evaluate_schemes(capsys, stdin):
    text = "a I-X B-X\nb O O\n"
    for options, f1 in (([], 1.0), (["--scheme", "BIO", "--strict"], 0.0), (["--scheme", "none"], None)):
        stdin(text)
        code, out, _ = run(capsys, "evaluate", "--json", *options)
        segments = json.loads(out)["segments"]
        assert code == 0 and (segments and segments["micro avg"]["f1"]) == f1
    stdin("a NN NN\nb VB NN\n")
    code, _, err = run(capsys, "evaluate", "--scheme", "BIO", "--strict")
    assert code == 1 and "label 'NN' does not belong" in err
    stdin("a NN X\n")
    assert "no label in common" in run(capsys, "evaluate")[2]


def test_evaluate_files_that_differ(capsys, tmp_path):
    gold, pred = tmp_path / "gold.txt", tmp_path / "pred.txt"
    gold.write_text("a X\n\nb X\nc X\n")
    for text, message in (
        ("a X\n", "must hold the same sentences: found 2 and 1"),
        ("a X\n\nb X\nd X\n", f"{gold}, line 4, and {pred}, line 4: the sentences differ"),
        ("a X\n\nb X\n", f"{gold}, line 3, and {pred}, line 3: the sentences differ"),
    ):
        pred.write_text(text)
        options = "--gold", gold, "--pred", pred, "--format", "columns"
        code, out, err = run(capsys, "evaluate", *options)
        assert (code, out) == (1, "") and message in err


@pytest.mark.parametrize(
    "options, message",
    [
        (["--gold", "a"], "need each other"),
        (["--gold", "a", "--pred", "b", "-m", "c"], "exclude"),
        (["--gold", "-", "--pred", "-"], "standard input"),
        (["--strict"], "--strict needs a --scheme"),
        (["--scheme", "ABC"], "invalid choice"),
    ],
)
def test_evaluate_wrong_usage(capsys, options, message):
    code, out, err = run(capsys, "evaluate", *options)
    assert (code, out) == (2, "") and message in err


# --------------------------------------------------------------------------------------------------
# show
# --------------------------------------------------------------------------------------------------
def test_show(folder, capsys):
    code, out, _ = run(capsys, "show", "-m", folder / "chunk", "--top", 2)
    assert code == 0
    assert "StructuredPerceptron" in out and "max_iter=5" in out and " B-NP " in out
    assert re.search(r"^B-NP\n +\+\d+\.\d{3}  U", out, re.M) and "transitions" in out
    code, out, _ = run(capsys, "show", "-m", folder / "chunk", "--label", "B-NP", "--json")
    about = json.loads(out)
    assert code == 0 and list(about["top"]) == ["B-NP"] and len(about["top"]["B-NP"]) == 5
    assert about["epochs"] == 5 and about["n_features"] == skstruct.load(folder / "chunk").n_features()
    code, out, _ = run(capsys, "show", "-m", folder / "seg")
    assert code == 0 and "scheme='BMES'" in out and "words without tags" in out
    code, _, err = run(capsys, "show", "-m", folder / "chunk", "--label", "B-DOG")
    assert code == 1 and "has no label 'B-DOG'; it has" in err


def test_show_explain(folder, capsys):
    code, out, _ = run(capsys, "show", "-m", folder / "chunk", "--explain", "the/DT dog/NN")
    assert code == 0 and out.startswith("score ") and "('dog', 'NN') -> I-NP" in out
    code, out, _ = run(capsys, "show", "-m", folder / "chunk", "--explain", "1/2/CD", "--json")
    assert code == 0 and json.loads(out)["tokens"][0]["token"] == ["1/2", "CD"]
    code, out, _ = run(capsys, "show", "-m", folder / "seg", "--explain", "他在 看书")
    assert code == 0 and "3 '书'" in out
    code, _, err = run(capsys, "show", "-m", folder / "chunk", "--explain", "dog")
    assert code == 1 and "2 columns of a token, separated by slashes" in err
    assert run(capsys, "show", "-m", folder / "chunk", "--explain", " ")[0] == 2


# --------------------------------------------------------------------------------------------------
# Pipes and exit codes
# --------------------------------------------------------------------------------------------------
def test_traceback_on_demand(tmp_path):
    with pytest.raises(FileNotFoundError):
        cli.main(["--traceback", "show", "-m", str(tmp_path / "nothing")])


def test_interrupt_is_no_error(folder, capsys, monkeypatch):
    def predict(self, X):
        raise KeyboardInterrupt

    monkeypatch.setattr(skstruct.StructuredPerceptron, "predict", predict)
    code, _, err = run(capsys, "tag", folder / "test.txt", "-m", folder / "chunk")
    assert code == cli.INTERRUPTED and err == "interrupted\n"


def test_every_format_is_guessed_or_asked_for(capsys, tmp_path):
    class Arguments:
        format = tokens = label = separator = comment = None
        read = ()

    for text, expected in (
        ("a X\nb Y\n", "columns"),
        ("a b c\nd e\n", "segmented"),
        ("a b X\nc d Y\n\ne f Z\ng h\n", "columns"),  # with a mistake, which the reader names
        ("# text = a\n1\ta" + "\t_" * 8 + "\n", "conllu"),
    ):
        (tmp_path / "f.txt").write_text(text)
        with lines.Source(str(tmp_path / "f.txt")) as source:
            assert corpus.layout_of(Arguments, source).format == expected
        assert f"read as {expected}" in capsys.readouterr().err
    (tmp_path / "f.txt").write_text("a b c\n")
    with lines.Source(str(tmp_path / "f.txt")) as source:
        with pytest.raises(common.CommandError, match="say --format"):
            corpus.layout_of(Arguments, source)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell of Unix")
def test_a_pipeline(folder):
    """As in a shell: standard input to output, UTF-8 in any locale, a reader that leaves early."""
    program = f"'{sys.executable}' -m skstruct"
    model = folder / "seg"
    script = (
        f"set -o pipefail; cat '{folder / 'test.seg'}' | tr -d ' ' | {program} tag -m '{model}' > out && "
        f"{program} evaluate --gold '{folder / 'test.seg'}' --pred out --format segmented || exit 9; "
        f"yes 他在看书 | {program} tag -m '{model}' | head -n 3; echo ${{PIPESTATUS[1]}}"
    )
    environment = {**os.environ, "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    done = subprocess.run(
        ["bash", "-c", script],
        capture_output=True, encoding="utf-8", env=environment, cwd=folder, timeout=300,
    )  # fmt: skip
    shown = done.stdout.splitlines()
    assert shown[0].startswith("sequences"), done.stderr
    assert shown[-1] == str(cli.PIPE_CLOSED) and len(set(shown[-4:-1])) == 1 and "书" in shown[-2]
    assert without_notice(done.stderr) == ""


def test_closed_streams(folder, capsys, monkeypatch):
    arguments = ["tag", str(folder / "test.txt"), "-m", str(folder / "chunk")]
    monkeypatch.setattr(sys, "stdin", None)
    code, _, err = run(capsys, *arguments[:1], *arguments[2:])
    assert code == 1 and "there is no standard input" in err
    monkeypatch.setattr(sys, "stdout", None)
    assert cli.main(arguments) == 1
    monkeypatch.undo()
    assert "there is no standard output" in capsys.readouterr().err


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_full_disk(folder):
    command = [sys.executable, "-m", "skstruct", "tag", folder / "test.txt", "-m", folder / "chunk"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, encoding="utf-8", timeout=300)
    assert done.returncode == 1
    assert without_notice(done.stderr) == f"skstruct: error: {os.strerror(errno.ENOSPC)}\n"


# --------------------------------------------------------------------------------------------------
# held-out corpora
# --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("several", [[], ["--shards", "2"], ["--members", "2"]])
def test_a_held_out_corpus_judges_the_epochs(folder, capsys, tmp_path, several):
    arguments = "train", folder / "train.txt", "-m", tmp_path / "m", "-v", "--dev", folder / "test.txt"
    code, _, err = run(capsys, *arguments, *several, "--epochs", "2", "-p", "scoring=segment_f1")
    assert code == 0 and err.count("held-out score 0.") == (4 if "--members" in several else 2)
    model = skstruct.load(tmp_path / "m")
    scores = [record["validation_score"] for record in model.history_]
    X, y = load_chunking()
    if "--members" not in several:
        assert scores[-1] == segment_f1_score(y[N_TRAIN:], model.predict(X[N_TRAIN:]))


def test_a_held_out_corpus_stops_the_training(folder, capsys, tmp_path):
    options = "--epochs", "40", "-p", "early_stopping=True", "-p", "n_iter_no_change=2", "-p", "tol=0.0"
    for file, dev in (("train.txt", "test.txt"), ("train.seg", "test.seg")):
        arguments = "train", folder / file, "-m", tmp_path / "m", "--dev", folder / dev
        assert run(capsys, *arguments, *options)[0] == 0
        scores = [record["validation_score"] for record in skstruct.load(tmp_path / "m").history_]
        assert 2 < len(scores) < 40 and max(scores) >= max(scores[-2:])


def test_what_is_wrong_in_a_held_out_corpus(folder, capsys, tmp_path):
    (tmp_path / "odd").write_text("a B O\n\na B O\nb C I-X\n", encoding="utf-8")
    arguments = "train", folder / "train.txt", "-m", tmp_path / "m", "--dev", tmp_path / "odd"
    code, _, err = run(capsys, *arguments)
    assert code == 0 and "warning: y_val has labels that training lacks: 'I-X'" in err
    (tmp_path / "odd").write_text("a B O\n\na B O\nb C I-NP\n", encoding="utf-8")
    code, _, err = run(capsys, *arguments, "-p", "constraints=BIO")
    assert code == 1 and "odd, line 4: y_val: sequence 1, position 1: the label 'I-NP' cannot follow" in err


def test_a_tabbed_file_is_no_segmented_text(capsys, tmp_path):
    """Spaces in its tokens make columns of different numbers; no model of its characters is trained."""
    file = tmp_path / "z.txt"
    file.write_text("Ana\tB-PER\nNew York\tB-LOC\n\nTom\tB-PER\n", encoding="utf-8")
    code, out, err = run(capsys, "train", file, "-m", tmp_path / "m")
    assert code == 1 and out == "" and not (tmp_path / "m").exists()
    assert "z.txt, line 2: expected 2 columns" in err and "--separator tab" in err
    assert run(capsys, "train", file, "-m", tmp_path / "m", "--separator", "tab")[0] == 0
    code, out, _ = run(capsys, "tag", file, "-m", tmp_path / "m", "--separator", "tab")
    assert code == 0 and "New York\tB-LOC" in out


@pytest.mark.parametrize("text", ["Espa\u00c3\u00b1a X\n", "Espa\u00c3\u00b1a es\nE\n"])
def test_text_that_was_encoded_twice(capsys, tmp_path, text):
    (tmp_path / "c.txt").write_text(text + "\n" + text, encoding="utf-8")
    code, _, err = run(capsys, "train", tmp_path / "c.txt", "-m", tmp_path / "m", "--epochs", 1)
    assert code == 0 and err.count("skstruct: warning: ") == 1 and "'Ã±' for 'ñ'" in err
