"""show on models of every kind, and weights by name of those that are no taggers."""

import json

import numpy as np
import pytest
from inside import model_of

from skstruct import (
    BaggingShuffleAverager,
    KBestReranker,
    ParameterMixer,
    Segmenter,
    ShiftReduceParser,
    StructuredPerceptron,
    WordSegmenter,
    cli,
)
from skstruct.datasets import load_chunking, load_parsing, load_segmentation
from skstruct.inspection import (
    explain,
    feature_weights,
    features_of,
    transition_weights,
)

TEXTS, WORDS = (part[:20] for part in load_segmentation())
SENTENCES, TREES = (part[:10] for part in load_parsing())
TOKENS, LABELS = (part[:20] for part in load_chunking())


def show(capsys, tmp_path, model, *options):
    """(exit code, standard output, standard error)"""
    model.save(tmp_path / "model")
    code = cli.main(["show", "-m", str(tmp_path / "model"), *options])
    return code, *capsys.readouterr()


def described(capsys, tmp_path, model):
    code, out, _ = show(capsys, tmp_path, model, "--json")
    assert code == 0
    return json.loads(out)


def test_trigram_weights_count(capsys, tmp_path):
    tagger = StructuredPerceptron("chunk", order=2, max_iter=1, random_state=0).fit(
        TOKENS, LABELS
    )
    model = model_of(tagger)
    parts = [
        np.count_nonzero(store.value)
        for store in (model.nodes, model.edges, model.trigrams)
    ]
    about = described(capsys, tmp_path, tagger)
    assert about["n_weights"] == sum(parts) and parts[2] > 0
    assert about["parameters"]["order"] == "2"


@pytest.mark.parametrize("templates", ["zsz18", "zc14"])
def test_a_word_segmenter(capsys, tmp_path, templates):
    segmenter = WordSegmenter(templates, max_iter=2, random_state=0).fit(TEXTS, WORDS)
    about = described(capsys, tmp_path, segmenter)
    assert about["model"] == "WordSegmenter" and "labels" not in about
    assert about["n_features"] == segmenter.n_features()
    assert about["n_weights"] == np.count_nonzero(model_of(segmenter).weights.value)
    assert list(about["top"]) == (
        ["start", "inside"] if templates == "zsz18" else ["word"]
    )
    code, out, _ = show(capsys, tmp_path, segmenter, "--top", "500")
    assert code == 0 and "  w=" in out and " c0=" in out
    code, out, _ = show(capsys, tmp_path, segmenter, "--explain", "他 在")
    assert (
        code == 0
        and "0 '他' -> start" in out
        and "1 '在' -> start" in out
        and "no other label" in out
    )


@pytest.mark.parametrize("labeled", [True, False])
def test_a_parser(capsys, tmp_path, labeled):
    parser = ShiftReduceParser("hs28", labeled=labeled, max_iter=2, random_state=0).fit(
        SENTENCES, TREES
    )
    about = described(capsys, tmp_path, parser)
    model, labels = model_of(parser), parser.classes_.tolist() if labeled else []
    assert about["token"] == "(form, tag)" and about["features"] == model.lines
    assert about["n_weights"] == sum(
        np.count_nonzero(s.value) for s in (model.weights, model.label_weights)
    )
    assert list(about["top"]) == ["SHIFT", "LEFT", "RIGHT", *labels]
    code, out, _ = show(capsys, tmp_path, parser, "--label", "LEFT")
    assert code == 0 and "RIGHT\n" not in out and ".t=" in out


def test_estimators_around_others(capsys, tmp_path):
    segmenter = WordSegmenter(max_iter=2, random_state=0)
    for model in (
        BaggingShuffleAverager(segmenter, n_estimators=2, random_state=0),
        ParameterMixer(segmenter, random_state=0),
        KBestReranker(
            Segmenter(StructuredPerceptron("char", max_iter=1, random_state=0)),
            k=2,
            cv=2,
            max_iter=1,
        ),
    ):
        about = described(capsys, tmp_path, model.fit(TEXTS, WORDS))
        assert about["model"] == type(model).__name__ and about["n_weights"] > 0
        assert not any("\n" in value for value in about["parameters"].values())


def test_weights_by_name():
    parser = ShiftReduceParser("hs28", max_iter=2, random_state=0).fit(SENTENCES, TREES)
    weights, model = feature_weights(parser), model_of(parser)
    assert len(weights) == sum(
        np.count_nonzero(s.value) for s in (model.weights, model.label_weights)
    )
    sizes = [abs(weight) for _, _, weight in weights]
    assert (
        sizes == sorted(sizes, reverse=True)
        and feature_weights(parser, 3) == weights[:3]
    )
    assert {label for _, label, _ in weights} == {
        "SHIFT",
        "LEFT",
        "RIGHT",
        *parser.classes_,
    }
    names = model.features("")
    row = next(r for r, (line, _) in enumerate(names) if line == "s0.t q0.t")
    name = "s0.t={} q0.t={}".format(*names[row][1])
    found = {label: weight for feature, label, weight in weights if feature == name}
    assert [found.get(action, 0.0) for action in ("SHIFT", "LEFT", "RIGHT")] == (
        model.weights.value.reshape(-1, 3)[row].tolist()
    )
    segmenter = WordSegmenter(max_iter=2, random_state=0).fit(
        ["我看书"], [["我", "看书"]]
    )
    names = {feature for feature, _, _ in feature_weights(segmenter)}
    assert {
        "w=看",
        "len(w)=1",
        "w=看 len(w')=1",
        "w'=我 len(w)=1",
        "b-1=start b-2=start",
    } <= names
    assert {"c-1=看 b-1=start", "c-3=# c-2=我 b-1=start", "first(w)=看 c0=书"} <= names
    with pytest.raises(ValueError, match="'SHIFT' is not a label of the model"):
        feature_weights(segmenter, label="SHIFT")


def test_what_has_no_labels_has_no_transitions():
    segmenter = WordSegmenter(max_iter=1, random_state=0).fit(TEXTS, WORDS)
    for function in (lambda s: features_of(s, "他"), transition_weights):
        with pytest.raises(
            TypeError, match="a chain tagger is needed, got a WordSegmenter"
        ):
            function(segmenter)
    around = Segmenter(StructuredPerceptron("char", max_iter=1)).fit(TEXTS, WORDS)
    assert feature_weights(around) == feature_weights(around.tagger_)


def test_a_parser_is_explained_by_arcs(capsys, tmp_path):
    parser = ShiftReduceParser("hs28", max_iter=1, random_state=0).fit(SENTENCES, TREES)
    code, out, _ = show(capsys, tmp_path, parser, "--explain", "the/DT dog/NN")
    tree = explain(parser, [("the", "DT"), ("dog", "NN")])
    assert code == 0 and "1 ('the', 'DT') <- " in out and len(tree.arcs) == 2
    assert out.startswith(f"score {tree.score:+.3f}")
    assert explain(parser, SENTENCES[0], TREES[0]).tree == TREES[0]


def test_an_explanation_takes_no_label(capsys, tmp_path):
    """Be it one of the model's or not: it would be passed over."""
    tagger = StructuredPerceptron(max_iter=1, random_state=0).fit(TOKENS, LABELS)
    for label in "NOSUCH", "B-NP":
        with pytest.raises(SystemExit) as end:
            show(
                capsys, tmp_path, tagger, "--explain", "the/DT dog/NN", "--label", label
            )
        assert (
            end.value.code == 2
            and "--label is for lists of weights" in capsys.readouterr().err
        )
