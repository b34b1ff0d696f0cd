"""skstruct train on files: shards, streams, interrupts, held-out corpora."""

import pytest
from cli_cases import N_TRAIN, run, run_train
from inside import after_each_report

import skstruct
from skstruct import cli
from skstruct.datasets import load_chunking
from skstruct.inspection import feature_weights
from skstruct.metrics import segment_f1_score


def test_train_on_shards(folder, capsys, tmp_path):
    for file, test in (("train.txt", "test.txt"), ("train.seg", "test.seg")):
        arguments = [
            "train",
            "--force",
            folder / file,
            "-m",
            tmp_path / "m",
            "--epochs",
            "3",
            "--shards",
            "3",
        ]
        code, out, _ = run(capsys, *arguments, "--dev", folder / test)
        assert code == 0 and out
        model = skstruct.load(tmp_path / "m")
        mixer = getattr(model, "tagger_", model)
        assert (
            isinstance(mixer, skstruct.ParameterMixer)
            and mixer.n_shards == 3
            and mixer.n_iter_ == 3
        )
    for wrong, message in (
        (["--shards", "2", "--members", "2"], "--members and --shards"),
        (
            ["--shards", "2", "--stream", "9"],
            "--stream: ParameterMixer does not learn example by example",
        ),
        (
            ["--shards", "2", "-a", "l1crf", "--calibrate"],
            "--calibrate and --shards cannot both be given",
        ),
        (["--stream", "9", "-a", "l1crf"], "does not learn example by example"),
    ):
        code, _, err = run_train(
            capsys, folder / "train.txt", "-m", tmp_path / "m", *wrong
        )
        assert code == 2 and message in err


def test_train_a_crf_on_shards(folder, capsys, tmp_path):
    """One model, of the tagger itself; texts that segmenters pass over are counted in
    errors.
    """
    for file in ("train.txt", "train.seg"):
        arguments = [
            "train",
            "--force",
            folder / file,
            "-m",
            tmp_path / "m",
            "-a",
            "l1crf",
            "-p",
            "tol=1e-6",
        ]
        assert run(capsys, *arguments)[0] == 0
        alone = skstruct.load(tmp_path / "m")
        assert run(capsys, *arguments, "--shards", "3")[0] == 0
        sharded = skstruct.load(tmp_path / "m")
        alone, sharded = (
            getattr(model, "tagger_", model) for model in (alone, sharded)
        )
        assert type(sharded) is skstruct.L1CRF
        assert sharded.objective_ == pytest.approx(alone.objective_, rel=1e-3)
    code, _, err = run_train(capsys, folder / "train.txt", "-m", tmp_path / "m", "-a", "l1crf", "--cluster", "tcp://nowhere:1",
        "-p", "solver=sgd",
    )  # fmt: skip
    assert code == 1 and "solver='sgd'" in err


def test_train_on_a_stream(folder, capsys, tmp_path):
    """The model is that of partial_fit on pieces of the file, and only one piece is
    read at a time.
    """
    code, _, err = run_train(
        capsys,
        folder / "train.txt",
        "-m",
        tmp_path / "m",
        "--stream",
        "40",
        "--epochs",
        "2",
        "-a",
        "perceptron",
    )
    assert code == 0 and f"epoch 2: {N_TRAIN} sentences" in err
    X, y = (part[:N_TRAIN] for part in load_chunking())
    tagger = skstruct.StructuredPerceptron(random_state=0)
    for begin in 2 * [0, 40, 80]:
        tagger.partial_fit(X[begin : begin + 40], y[begin : begin + 40])
    assert skstruct.load(tmp_path / "m").predict(X) == tagger.predict(X)
    code, *_ = run_train(
        capsys, folder / "train.seg", "-m", tmp_path / "m", "--stream", "50"
    )
    assert code == 0 and isinstance(skstruct.load(tmp_path / "m"), skstruct.Segmenter)
    (tmp_path / "odd").write_text("a B O\n\n" * 5 + "a B I-X\n", encoding="utf-8")
    arguments = [
        "train",
        "--force",
        tmp_path / "odd",
        "-m",
        tmp_path / "m",
        "-p",
        "constraints=BIO",
    ]
    code, _, err = run(capsys, *arguments, "--stream", "2")
    assert code != 0 and "line 11" in err
    code, _, err = run_train(
        capsys, "-", "-m", tmp_path / "m", "--stream", "2", "--epochs", "2"
    )
    assert code == 2 and "standard input" in err


def test_a_stream_and_held_out_sentences(folder, capsys, tmp_path):
    arguments = (
        "train",
        "--force",
        folder / "train.txt",
        "-m",
        tmp_path / "m",
        "--stream",
        "40",
    )
    code, out, err = run(capsys, *arguments, "--dev", folder / "test.txt")
    assert code == 0 and f"epoch 1: {N_TRAIN} sentences" in err
    assert out == run(capsys, "evaluate", folder / "test.txt", "-m", tmp_path / "m")[1]


@pytest.mark.parametrize("several", [[], ["--shards", "2"], ["--members", "2"]])
def test_models_hold_no_folder_of_this_machine(folder, capsys, tmp_path, several):
    arguments = (
        "train",
        "--force",
        folder / "train.txt",
        "-m",
        tmp_path / "m",
        "--epochs",
        "1",
        "-v",
        *several,
    )
    assert run(capsys, *arguments, "-p", f"checkpoint={tmp_path / 'states'}")[0] == 0
    assert list((tmp_path / "states").iterdir()) == []  # it was used, and tidied up
    assert str(tmp_path).encode() not in (tmp_path / "m").read_bytes()
    model = skstruct.load(tmp_path / "m")
    assert getattr(model, "estimator_", model).verbose == 0


def test_interrupted_before_there_is_a_model(folder, capsys, tmp_path, monkeypatch):
    def interrupted(self, X, y):
        raise KeyboardInterrupt

    monkeypatch.setattr(skstruct.BaggingShuffleAverager, "fit", interrupted)
    code, _, err = run_train(capsys, folder / "train.txt", "-m", tmp_path / "m")
    assert (
        code == cli.INTERRUPTED
        and "no model was kept" in err
        and "checkpoint=FOLDER" in err
    )
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_training_goes_on(folder, capsys, tmp_path, monkeypatch):
    def pressed(run):
        if run.done == 2:
            raise KeyboardInterrupt

    arguments = (
        "train",
        "--force",
        folder / "train.txt",
        "-m",
        tmp_path / "m",
        "--epochs",
        "4",
        "--seed",
        "1",
        "-a",
        "perceptron",
    )
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
    code, *_ = run_train(capsys, folder / "train.txt", "-m", tmp_path / "m", "--features", "chunk",
        "--lexicon", lexicon, "--members", "3", "--epochs", "2", "-v",
    )  # fmt: skip
    assert code == 0
    model = skstruct.load(tmp_path / "m")
    assert (
        isinstance(model, skstruct.BaggingShuffleAverager) and model.n_estimators == 3
    )
    features = model.estimator.features
    assert features.lexicons == {"name": ("International", "Rockwell")}
    assert "Ulex_name-1:%lex_name[-1,0]" in features.lines and features.lines[-1] == "B"
    (tmp_path / "template").write_text("U0:%lex_name[0,0]\nB\n", encoding="utf-8")
    arguments = [
        "train",
        "--force",
        folder / "train.txt",
        "-m",
        tmp_path / "m",
        "--template",
        tmp_path / "template",
    ]
    assert run(capsys, *arguments, "--lexicon", lexicon)[0] == 0
    for wrong in (
        [*arguments, "--lexicon", "name"],
        [*arguments, "--lexicon", lexicon, "--lexicon", lexicon],
        [
            "train",
            "--force",
            folder / "train.txt",
            "-m",
            tmp_path / "m",
            "--lexicon",
            lexicon,
        ],
    ):
        assert run(capsys, *wrong)[0] == 2
    assert (
        run(capsys, *arguments)[0] != 0
    )  # the template names a lexicon that is not given


# --------------------------------------------------------------------------------------
# held-out corpora
# --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "several", [["-a", "perceptron"], ["--shards", "2"], ["--members", "2"]]
)
def test_a_held_out_corpus_judges_the_epochs(folder, capsys, tmp_path, several):
    arguments = (
        "train",
        "--force",
        folder / "train.txt",
        "-m",
        tmp_path / "m",
        "-v",
        "--dev",
        folder / "test.txt",
    )
    code, _, err = run(
        capsys, *arguments, *several, "--epochs", "2", "-p", "scoring=segment_f1"
    )
    assert code == 0 and err.count("held-out score 0.") == (
        4 if "--members" in several else 2
    )
    model = skstruct.load(tmp_path / "m")
    scores = [record["validation_score"] for record in model.history_]
    X, y = load_chunking()
    if "--members" not in several:
        assert scores[-1] == segment_f1_score(y[N_TRAIN:], model.predict(X[N_TRAIN:]))


def test_a_held_out_corpus_stops_the_training(folder, capsys, tmp_path):
    options = (
        "--epochs",
        "40",
        "-p",
        "early_stopping=True",
        "-p",
        "n_iter_no_change=2",
        "-p",
        "tol=0.0",
        "-a",
        "perceptron",
    )
    for file, dev in (("train.txt", "test.txt"), ("train.seg", "test.seg")):
        arguments = (
            "train",
            "--force",
            folder / file,
            "-m",
            tmp_path / "m",
            "--dev",
            folder / dev,
        )
        assert run(capsys, *arguments, *options)[0] == 0
        scores = [
            record["validation_score"]
            for record in skstruct.load(tmp_path / "m").history_
        ]
        assert 2 < len(scores) < 40 and max(scores) >= max(scores[-2:])


def test_what_is_wrong_in_a_held_out_corpus(folder, capsys, tmp_path):
    (tmp_path / "odd").write_text("a B O\n\na B O\nb C I-X\n", encoding="utf-8")
    arguments = (
        "train",
        "--force",
        folder / "train.txt",
        "-m",
        tmp_path / "m",
        "--dev",
        tmp_path / "odd",
    )
    code, _, err = run(capsys, *arguments)
    assert code == 0 and "warning: y_val has labels that training lacks: 'I-X'" in err
    (tmp_path / "odd").write_text("a B O\n\na B O\nb C I-NP\n", encoding="utf-8")
    code, _, err = run(capsys, *arguments, "-p", "constraints=BIO")
    assert (
        code == 1
        and "odd, line 4: y_val: sequence 1, position 1: the label 'I-NP' cannot follow"
        in err
    )


def _stream(capsys, path, *more):
    code, out, err = run_train(
        capsys, path, "-m", path.with_name("m"), "--stream", "40", *more
    )
    assert code == 1 and out == "" and not path.with_name("m").exists()
    return err


def test_an_error_late_in_a_stream_leaves_what_was_learned(folder, capsys, tmp_path):
    """The exit code says that it failed; the model of what came before lies beside the
    file asked for.
    """
    X, y = (part[:N_TRAIN] for part in load_chunking())
    text = (folder / "train.txt").read_text(encoding="utf-8")
    (tmp_path / "long").write_text(text + "one two three four five\n", encoding="utf-8")
    err = _stream(capsys, tmp_path / "long", "--epochs", "2", "-a", "ap")
    n_tokens = sum(map(len, X[:80]))
    assert (
        f"the model after 80 sentences, {n_tokens:,} tokens of epoch 1 is in {tmp_path / 'm.partial'}"
        in err
    )
    tagger = skstruct.StructuredPerceptron(random_state=0, max_iter=2)
    for begin in 0, 40:
        tagger.partial_fit(X[begin : begin + 40], y[begin : begin + 40])
    assert skstruct.load(tmp_path / "m.partial").predict(X) == tagger.predict(X)


def test_records_that_cannot_be_read_or_learned_end_a_stream_of_texts_alike(
    capsys, tmp_path
):
    good = '{"text": "Ann is in Rome.", "spans": [[0, 3, "PER"], [10, 14, "LOC"]]}\n'
    for bad, learned in (
        ('{"text": "Ann", "spans": [[0, 9, "PER"]]}\n', 120),
        ('{"text": 5}\n', 120),
        ("{\n", 120),
        ("\xff", 80),  # the decoder works on blocks
    ):
        (tmp_path / "notes.jsonl").write_bytes((good * 122 + bad).encode("latin-1"))
        err = _stream(capsys, tmp_path / "notes.jsonl")
        assert (
            "notes.jsonl, line 123" in err and f"the model after {learned} texts" in err
        )
        assert skstruct.load(tmp_path / "m.partial").predict(["Ann"]) == [
            [(0, 3, "PER")]
        ]
        (tmp_path / "m.partial").unlink()
    (tmp_path / "notes.jsonl").write_text("{\n")  # nothing was learned before it
    assert "the model" not in _stream(capsys, tmp_path / "notes.jsonl")
    assert not (tmp_path / "m.partial").exists()
