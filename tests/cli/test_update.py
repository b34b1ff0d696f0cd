"""``train --update``: a model goes on learning, and what it forgets is printed."""

import math
import os

import pytest
from cli_cases import run

import skstruct
from skstruct import (
    L1CRF,
    Segmenter,
    SpanTagger,
    StructuredPerceptron,
    WordSegmenter,
    cli,
)
from skstruct.datasets import write_spans
from skstruct.inspection import forgetting
from skstruct.inspection.forgetting import changes, known_labels
from skstruct.schemes import convert_scheme

OLD = [["Ann", "ran"], ["Bob", "sat"], ["Eve", "ran"]], [["B-PER", "O"]] * 3
NEW = (
    [["Oslo", "is", "far"], ["Rome", "is", "near"], ["Bonn", "is", "far"]] * 2,
    [["B-LOC", "O", "O"]] * 6,
)
HELD_OUT = (
    [["Ann", "is", "far"], ["Oslo", "ran"], ["Eve", "is", "near"]],
    [["B-PER", "O", "O"], ["B-LOC", "O"], ["B-PER", "O", "O"]],
)


def written(path, X, y):
    """A file of columns."""
    pairs = (zip(tokens, labels) for tokens, labels in zip(X, y))
    rows = ("".join(f"{t} {label}\n" for t, label in each) for each in pairs)
    path.write_text("\n".join(rows), encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, corpus in ("old", OLD), ("new", NEW), ("dev", HELD_OUT):
        written(tmp_path / name, *corpus)
    return tmp_path


@pytest.fixture
def tagger(folder):
    found = StructuredPerceptron(constraints="BIO", random_state=0).fit(*OLD)
    found.save("tagger")
    return found


def test_the_model_is_that_of_partial_fit(folder, tagger, capsys):
    given = "train", "new", "--update", "tagger", "-m"
    before = (folder / "tagger").read_bytes()
    for epochs in 1, 3:
        code, out, said = run(capsys, *given, f"m{epochs}", "--epochs", epochs)
        assert (code, out) == (0, "") and "2 new labels" not in said
        assert f"with 1 new label: B-LOC; wrote m{epochs}" in said
        assert "pass --dev FILE with old and new ones, or --holdout .2" in said
        tagger = skstruct.load("tagger")
        for _ in range(epochs):
            tagger.partial_fit(*NEW)
        found = skstruct.load(f"m{epochs}")
        assert found.predict(HELD_OUT[0]) == tagger.predict(HELD_OUT[0])
        assert found.decision_function(NEW[0]) == pytest.approx(
            tagger.decision_function(NEW[0])
        )
    assert (folder / "tagger").read_bytes() == before
    assert "pass 2 of 3" in run(capsys, *given, "v", "--epochs", 3, "-v")[2]
    code, out, said = run(capsys, *given, "none", "--dry-run")
    assert code == 0 and "read 6 sentences" in said and not os.path.exists("none")


def table_of(out, where):
    """The numbers of the table for what was held out, by the names of its rows."""
    _, _, rest = out.partition(f"before and after, on {where}:\n")
    rows = rest.partition("\nbefore")[0].splitlines()[1:]
    return {row.split("  ")[0]: row.split()[-2:] for row in rows}


def test_scores_before_and_after_are_those_of_forgetting(folder, tagger, capsys):
    given = "train", "new", "--update", "tagger", "-m", "m", "--force"
    _, out, _ = run(capsys, *given, "--dev", "dev", "--holdout", 0.5)
    expected = forgetting(tagger, *NEW, *HELD_OUT)
    rows = {"all": expected.overall, "old labels": expected.old}
    rows |= {"new labels": expected.new}
    rows |= {c.label: (c.before, c.after) for c in expected}
    found = table_of(out, "dev")
    assert found == {
        name: ["-" if math.isnan(x) else f"{x:.4f}" for x in pair]
        for name, pair in rows.items()
    }
    assert float(found["LOC"][1]) > float(found["LOC"][0]) == 0.0
    held_out = table_of(out, "3 sentences held out")
    assert held_out["new labels"] == held_out["LOC"] and held_out["LOC"][0] == "0.0000"
    card = skstruct.load("m").info()["card"]
    assert card["parent"]["name"] == "tagger" and card["counts"]["sentences"] == 6
    assert [each["use"] for each in card["data"]] == ["train", "dev"]


def test_files_are_read_as_those_that_the_model_has_learned_from(
    folder, capsys, tmp_path
):
    (tmp_path / "first.csv").write_text("tag,word\nA,a\nB,b\n\nA,c\nB,d\n" * 3)
    (tmp_path / "second.csv").write_text("tag,word\nC,e\nA,a\n\nC,f\nB,b\n" * 3)
    learned = "train", "first.csv", "-a", "perceptron", "-m", "m", "--force"
    assert run(capsys, *learned, "--tokens", "word", "--label", "tag")[0] == 0
    code, _, said = run(capsys, "train", "second.csv", "--update", "m", "-m", "n")
    assert code == 0 and "as in training" in said and "1 new label: C" in said
    found = skstruct.load("n")
    assert found.predict([["e", "a"]]) == [["C", "A"]]
    card = found.info()["card"]
    names = [each["name"] for each in card["data"]]
    assert names == ["first.csv", "second.csv"]
    assert (
        card["counts"]["sentences"]
        == 2 * skstruct.load("m").info()["card"]["counts"]["sentences"]
    )
    (tmp_path / "third.txt").write_text("x y\n\nz y\n")
    code, _, said = run(capsys, "train", "third.txt", "--update", "m", "-m", "o")
    assert code == 1 and "the model learned from" in said


def test_models_of_texts_and_words(folder, capsys):
    texts, spans = ["Ann ran.", "Bob sat."], [[(0, 3, "PER")]] * 2
    more = ["Oslo is far.", "Rome is near."], [[(0, 4, "LOC")]] * 2
    write_spans("more.jsonl", *more)
    ner = SpanTagger(StructuredPerceptron(random_state=0)).fit(texts, spans)
    ner.save("ner")
    given = "train", "more.jsonl", "--update", "ner", "-m", "further"
    code, out, said = run(capsys, *given, "--dev", "more.jsonl")
    assert code == 0 and "1 new label: LOC" in said
    assert "2 of 2 texts are learned, too" in said
    assert table_of(out, "more.jsonl")["LOC"][0] == "0.0000"
    ner.partial_fit(*more)
    assert skstruct.load("further").predict(more[0]) == ner.predict(more[0])
    words = [["ab", "c"], ["c", "ab"]]
    lines = ["abc", "cab"]
    (folder / "words.txt").write_text("c ab ab\nab c c\n")
    new = ["cabab", "abcc"], [["c", "ab", "ab"], ["ab", "c", "c"]]
    for model in Segmenter(StructuredPerceptron(random_state=0)), WordSegmenter():
        model.fit(lines, words).save("words")
        given = "train", "words.txt", "--update", "words", "-m", "more", "--force"
        code, out, said = run(capsys, *given, "--holdout", 0.5)
        assert code == 0 and "on 1 sentence held out" in out, said
        model.partial_fit(*new)
        assert skstruct.load("more").predict(new[0]) == model.predict(new[0])


@pytest.mark.parametrize(
    "options, error",
    [
        (["-a", "pa"], "--algorithm is for a new model; --update goes on with that in"),
        (["--members", 2], "--members is for a new model"),
        (["-p", "dropout=0.1"], "--param is for a new model"),
        (["--stream", 5], "--stream is for a new model"),
        (["--features", "word"], "--features is for a new model"),
        (["--cv", 3], "--cv is for a new model; with --update, --holdout SHARE"),
    ],
)
def test_options_of_new_models_are_refused(options, error, tagger, capsys):
    code, _, said = run(
        capsys, "train", "new", "--update", "tagger", "-m", "m", *options
    )
    assert code == 2 and error in said and not os.path.exists("m")


def test_ctrl_c_leaves_what_whole_passes_have_learned(
    folder, tagger, capsys, monkeypatch
):
    partial_fit = StructuredPerceptron.partial_fit
    calls = []

    def interrupted(self, *given):
        calls.append(given)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return partial_fit(self, *given)

    monkeypatch.setattr(StructuredPerceptron, "partial_fit", interrupted)
    given = "train", "new", "--update", "tagger", "-m", "m", "--epochs", 4
    code, _, said = run(capsys, *given)
    assert code == cli.INTERRUPTED and "the model after 2 of 4 passes is in m.p" in said
    for _ in range(2):
        partial_fit(tagger, *NEW)
    found = skstruct.load("m.partial")
    assert found.predict(HELD_OUT[0]) == tagger.predict(HELD_OUT[0])
    assert not os.path.exists("m")
    calls[:] = [None] * 2
    given = "train", "new", "--update", "tagger", "-m", "n"
    assert run(capsys, *given)[0] == cli.INTERRUPTED
    assert not any(name.startswith("n.") for name in os.listdir())


def test_the_model_is_never_replaced_by_what_it_becomes(folder, tagger, capsys):
    given = "train", "new", "--update", "tagger", "-m"
    os.link("tagger", "same")
    for path in "tagger", "./tagger", "same":
        code, _, said = run(capsys, *given, path, "--force")
        assert code == 1 and "would be replaced by its own output" in said
    assert run(capsys, *given, "old")[0] == 1


def test_models_that_cannot_go_on(folder, capsys):
    L1CRF(c1=0.1).fit(*OLD).save("crf")
    code, _, said = run(capsys, "train", "new", "--update", "crf", "-m", "m")
    assert code == 1 and "minimises its objective over the whole corpus" in said
    assert "models of train -a perceptron" in said
    StructuredPerceptron(max_iter=1).fit([["a", "b"]], [[1, 2]]).save("numbers")
    code, _, said = run(capsys, "train", "new", "--update", "numbers", "-m", "m")
    assert code == 1 and "its labels are no text, such as 1" in said
    assert not os.path.exists("m")


def test_a_file_that_the_model_has_learned_from_scores_too_high(folder, capsys):
    learned = "train", "old", "-a", "perceptron", "-m", "m"
    assert run(capsys, *learned)[0] == 0
    given = "train", "new", "--update", "m", "-m", "n", "--dev"
    assert "the model was trained on this file" in run(capsys, *given, "old")[2]
    assert "the model was trained" not in run(capsys, *given, "dev", "--force")[2]


def test_labels_that_look_like_segments_on_one_side_alone():
    """Both sides have scores of one kind."""
    y = [["B-PER", "O"], ["B-PER", "O"]]
    odd = [["NN", "O"], ["VB", "O"]]
    for before, after in (y, odd), (odd, y):
        found = changes("labels", [["a", "b"]] * 2, y, (before, after), {"B-PER"})
        assert {change.label for change in found} >= {"B-PER", "NN", "VB"}
        assert sorted(found.overall) == [0.5, 1.0]


def test_known_labels():
    tagger = StructuredPerceptron(random_state=0).fit(*OLD)
    assert known_labels(tagger) == {"B-PER", "O", "PER", ""}


SCHEMES = ["IOB1", "BIO", "BIOES", "BILOU", "BMES"]


@pytest.mark.parametrize("source", SCHEMES)
@pytest.mark.parametrize("learned", SCHEMES)
def test_labels_of_another_scheme_are_refused_or_repaired(
    learned, source, folder, capsys
):
    """Else ``I-PER`` would mean two things."""
    X = [["Ann", "de", "Lee", "met", "Bo"], ["Eve", "ran", "to", "Rome"]] * 3
    y = [["B-P", "I-P", "I-P", "O", "B-P"], ["B-P", "O", "O", "B-L"]] * 3
    for name, scheme in ("old", learned), ("new", source):
        written(folder / name, X, convert_scheme(y, "BIO", scheme))
    given = "-a", "perceptron", "--keep-training", "--epochs", 1
    assert run(capsys, "train", "old", "-m", "m", *given)[0] == 0
    code, _, err = run(capsys, "train", "new", "--update", "m", "-m", "n")
    assert code == (source != learned)
    if code:
        assert (
            f"new: the labels are {source}, but the model has learned {learned}" in err
        )
        more = "train", "new", "--update", "m", "-m", "n", "--repair"
        code, _, err = run(capsys, *more)
        assert code == 0 and "repaired" in err and "with 0 new labels" in err


@pytest.mark.parametrize("source, is_refused", [("BIOES", True), ("BIO", False)])
def test_a_label_of_no_scheme_hides_no_other_scheme(source, is_refused, folder, capsys):
    """``0`` for ``O`` is warned of; the other labels are held against the model's."""
    X = [["Ann", "Lee", "ran"]] * 13
    y = [["B-P", "I-P", "O"]] * 12
    written(folder / "old", X[:12], y)
    written(folder / "new", X, [*convert_scheme(y, "BIO", source), ["O", "O", "0"]])
    given = "-a", "perceptron", "--keep-training", "--epochs", 1
    assert run(capsys, "train", "old", "-m", "m", *given)[0] == 0
    code, _, err = run(capsys, "train", "new", "--update", "m", "-m", "n")
    assert code == is_refused and "0 (line 51, 1 token in all) is not spelled" in err
    advice = "the model has learned BIO; correct 0, and then --repair converts them"
    assert (advice in err) == is_refused, err


@pytest.mark.parametrize(
    ("added", "more", "said"),
    [
        (["B-P", "E-P", "O"], 1, "the labels break BIO, but the model has learned BIO"),
        (["O", "I-P", "O"], 3, "the labels break BIO, but the model has learned BIO"),
        (
            ["O", "I-P", "O"],
            1,
            "labels are BIO but for those of 1 sentence, such as I-P",
        ),
    ],
    ids=["foreign", "many", "few"],
)
def test_labels_of_no_scheme_are_held_against_that_of_the_model(
    added, more, said, folder, capsys
):
    """Sentences that break every scheme hide no other one; the advice is tried."""
    X = [["Ann", "Lee", "ran"]] * 12
    y = [["B-P", "I-P", "O"]] * 12
    written(folder / "old", X, y)
    written(folder / "new", [*X, *X[:more]], [*y, *[added] * more])
    given = "-a", "perceptron", "--keep-training", "--epochs", 1
    assert run(capsys, "train", "old", "-m", "m", *given)[0] == 0
    go_on = "train", "new", "--update", "m", "-m", "n"
    code, _, err = run(capsys, *go_on)
    assert code == (said[:10] == "the labels") and said in err, err
    assert "constraints=" not in err and "--repair" in err
    code, _, err = run(capsys, *go_on, "--repair", "--force")
    assert code == 0 and "repaired" in err and "with 0 new labels" in err
