"""tag, evaluate, show and show --explain on saved models of every kind, on good files
and on bad ones.
"""

import json

import pytest
from cli_cases import run
from cli_model_cases import (
    CHUNKS,
    KINDS,
    OF_TREES,
    OF_WORDS,
    SENTENCES,
    TREES,
    WORDS,
    corpus_of,
)

import skstruct
from skstruct.datasets.formats.readers import read_conllu
from skstruct.metrics import attachment_scores, token_accuracy_score, word_f1_score

pytestmark = pytest.mark.xdist_group("models of every kind")  # they are fitted once

WITH_SCORES = [
    "word segmenter",
    "averager of word segmenter",
    "mixer of word segmenter",
]
WITH_KBEST = [
    *WITH_SCORES, "segmenter", "joint segmenter", "segmenter of averager", "segmenter of mixer",
    "mixer of segmenter",
]  # fmt: skip
OF_LABELS = [kind for kind in KINDS if kind not in OF_WORDS + OF_TREES]


# --------------------------------------------------------------------------------------
# tag
# --------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", OF_LABELS)
def test_taggers_append_a_column(models, capsys, kind):
    code, out, err = run(
        capsys, "tag", models / "labels", "-m", models / kind, "--n-jobs", 2
    )
    assert (code, err) == (0, "")
    found = [
        [line.split()[3] for line in part.splitlines()]
        for part in out.strip().split("\n\n")
    ]
    assert found == skstruct.load(models / kind).predict(KINDS[kind][1])


@pytest.mark.parametrize("kind", OF_WORDS)
def test_text_in_words_out(models, capsys, kind):
    code, out, err = run(
        capsys,
        "tag",
        models / "texts",
        "-m",
        models / kind,
        "--batch",
        7,
        "--n-jobs",
        2,
    )
    assert (code, err) == (0, "")
    texts = (models / "texts").read_text(encoding="utf-8").split("\n")[:-1]
    expected = skstruct.load(models / kind).predict(texts)
    tagged = not isinstance(expected[0][0], str)
    assert tagged == ("joint" in kind)
    assert out == "".join(
        " ".join(map("/".join, words) if tagged else words) + "\n" for words in expected
    )


@pytest.mark.parametrize("kind", OF_TREES)
def test_trees_in_trees_out(models, capsys, kind):
    code, out, err = run(
        capsys,
        "tag",
        models / "trees",
        "-m",
        models / kind,
        "--batch",
        3,
        "--n-jobs",
        2,
    )
    assert (code, err) == (0, "")
    before = [
        line.split("\t")
        for line in (models / "trees").read_text(encoding="utf-8").splitlines()
    ]
    after = [line.split("\t") for line in out.splitlines()]
    assert [row[:6] + row[8:] for row in after] == [row[:6] + row[8:] for row in before]
    expected = sum(skstruct.load(models / kind).predict(SENTENCES), [])
    expected = [(arc, "_") if isinstance(arc, int) else arc for arc in expected]
    assert [(int(row[6]), row[7]) for row in after if row[0].isdecimal()] == expected
    assert read_conllu(models / "trees") != expected


@pytest.mark.parametrize("kind", OF_TREES)
def test_trees_of_columns(models, capsys, tmp_path, kind):
    code, out, err = run(capsys, "tag", models / "pairs", "-m", models / kind)
    assert (code, err) == (0, "")
    expected = skstruct.load(models / kind).predict(SENTENCES)
    expected = [
        (arc, "_") if isinstance(arc, int) else arc for tree in expected for arc in tree
    ]
    rows = [line.split("\t") for line in out.splitlines() if line]
    assert [(int(head), label) for _, _, head, label in rows] == expected
    (tmp_path / "parsed").write_text(
        out, encoding="utf-8"
    )  # the last two columns are head and label
    code, out, _ = run(
        capsys, "evaluate", tmp_path / "parsed", "-m", models / kind, "--json"
    )
    assert code == 0 and json.loads(out)["uas"] == 1.0
    swapped = "".join("\t".join([tag, "x", form]) + "\n" for form, tag in SENTENCES[0])
    (tmp_path / "swapped").write_text(swapped, encoding="utf-8")
    code, out, _ = run(
        capsys, "tag", tmp_path / "swapped", "-m", models / kind, "--tokens", "2,0"
    )
    found = [(int(line.split()[3]), line.split()[4]) for line in out.splitlines()]
    assert code == 0 and found == expected[: len(SENTENCES[0])]


def test_other_fields_for_a_parser(models, capsys, tmp_path):
    text = "".join(
        f"{t}\t{form}\t_\t{tag}" + "\t_" * 6 + "\n"
        for t, (form, tag) in enumerate(SENTENCES[0], start=1)
    )
    (tmp_path / "upos.conllu").write_text(text + "\n", encoding="utf-8")
    code, out, _ = run(
        capsys,
        "tag",
        tmp_path / "upos.conllu",
        "-m",
        models / "parser",
        "--tokens",
        "form,upos",
    )
    (found,) = skstruct.load(models / "parser").predict(SENTENCES[:1])
    assert code == 0
    assert [tuple(line.split("\t")[6:8]) for line in out.splitlines() if line] == [
        (str(h), d) for h, d in found
    ]


@pytest.mark.parametrize("kind", [k for k in OF_WORDS if "reranker of" not in k])
def test_dictionaries(models, capsys, tmp_path, kind):
    (tmp_path / "d").write_text("京大\n", encoding="utf-8")
    code, out, _ = run(
        capsys,
        "tag",
        models / "texts",
        "-m",
        models / kind,
        "--dictionary",
        tmp_path / "d",
        "--tag-separator",
        " ",
    )
    texts = (models / "texts").read_text(encoding="utf-8").split("\n")[:-1]
    assert code == 0 and [" 京大 " in f" {line} " for line in out.split("\n")[:-1]] == [
        "京大" in text for text in texts
    ]


@pytest.mark.parametrize("kind", OF_LABELS + OF_TREES)
def test_scores(models, capsys, kind):
    name = "labels" if kind in OF_LABELS else "pairs"
    code, out, _ = run(capsys, "tag", models / name, "-m", models / kind, "--scores")
    scores = [
        float(line.split()[2]) for line in out.splitlines() if line.startswith("# 0 ")
    ]
    model = skstruct.load(models / kind)
    assert code == 0 and scores == pytest.approx(
        model.decision_function(KINDS[kind][1]), abs=1e-6
    )


def written(out):
    """(rank, score, words) of each line of words."""
    lines = out.splitlines()
    heads = [head.split() for head in lines[::2]]
    assert all(head[0] == "#" and len(head) == 3 for head in heads)
    return [
        (int(head[1]), float(head[2]), words.split())
        for head, words in zip(heads, lines[1::2])
    ]


def beside(words):
    """Words, or words and tags, on one line."""
    return " ".join(word if isinstance(word, str) else " ".join(word) for word in words)


@pytest.mark.parametrize("kind", WITH_KBEST)
@pytest.mark.parametrize("dictionary", [False, True])
def test_kbest_of_text(models, capsys, tmp_path, kind, dictionary):
    (tmp_path / "d").write_text("京大\n", encoding="utf-8")
    options = ["--dictionary", tmp_path / "d"] if dictionary else []
    texts = ["", "他在北京大学 图书馆看书。", "#  0 1"]
    (tmp_path / "texts").write_text(
        "".join(text + "\n" for text in texts), encoding="utf-8"
    )
    options += ["--tag-separator", " "]
    code, out, err = run(
        capsys, "tag", tmp_path / "texts", "-m", models / kind, "--kbest", 3, *options
    )
    found = skstruct.load(models / kind).predict_kbest(
        texts, 3, **({"dictionary": ["京大"]} if dictionary else {})
    )
    expected = [
        (
            rank,
            pytest.approx(score, abs=1e-6),
            " ".join(w if isinstance(w, str) else " ".join(w) for w in words),
        )
        for ranked in found
        for rank, (words, score) in enumerate(ranked)
    ]
    lines = [(rank, score, " ".join(words)) for rank, score, words in written(out)]
    assert (code, err) == (0, "") and lines == expected and len(found[1]) > 1


@pytest.mark.parametrize(
    "kind", [*WITH_SCORES, "reranker of segmenter", "reranker of word segmenter"]
)
def test_scores_of_text(models, capsys, kind):
    code, out, _ = run(
        capsys,
        "tag",
        models / "texts",
        "-m",
        models / kind,
        "--scores",
        "--tag-separator",
        " ",
    )
    texts = (models / "texts").read_text(encoding="utf-8").split("\n")[:-1]
    model = skstruct.load(models / kind)
    expected = zip(model.decision_function(texts), model.predict(texts))
    assert code == 0
    assert written(out) == [
        (0, pytest.approx(score, abs=1e-6), words) for score, words in expected
    ]


@pytest.mark.parametrize(
    "options, kinds",
    [
        (
            ["--scores"],
            [k for k in OF_WORDS if k not in WITH_SCORES and "reranker of" not in k],
        ),
        (["--scores", "--dictionary", "texts"], WITH_SCORES),
        (
            ["--kbest", "2"],
            [*(k for k in OF_WORDS if k not in WITH_KBEST), "reranker of tagger"],
        ),
        (["--dictionary", "d"], [*OF_LABELS, *OF_TREES, "reranker of segmenter"]),
        (
            ["--proba"],
            [
                "word segmenter",
                "mixer of word segmenter",
                "reranker of segmenter",
                *OF_TREES,
            ],
        ),
        (["--label", "xpos"], OF_TREES),
    ],
)
def test_options_for_other_models(models, capsys, options, kinds):
    for kind in kinds:
        code, out, err = run(
            capsys, "tag", models / corpus_of(kind), "-m", models / kind, *options
        )
        assert (code, out) == (2, "") and options[0] in err.splitlines()[-1], kind


@pytest.mark.parametrize("kind", OF_TREES)
def test_parsers_are_not_advised_to_be_taggers(models, capsys, kind):
    code, _, err = run(capsys, "tag", models / "trees", "-m", models / kind, "--proba")
    assert code == 2 and "--proba: ShiftReduceParser predicts trees, by a search" in err
    assert "L1CRF" not in err and "--calibrate" not in err


# --------------------------------------------------------------------------------------
# evaluate
# --------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", KINDS)
def test_evaluate(models, capsys, kind):
    arguments = "evaluate", models / corpus_of(kind), "-m", models / kind, "--n-jobs", 2
    code, out, err = run(capsys, *arguments, "--json")
    assert (code, err) == (0, "")
    scores = json.loads(out)
    predicted = skstruct.load(models / kind).predict(KINDS[kind][1])
    if kind in OF_LABELS:
        assert scores["token_accuracy"] == token_accuracy_score(CHUNKS, predicted)
    elif kind in OF_WORDS:
        words = [
            [word if isinstance(word, str) else word[0] for word in words]
            for words in predicted
        ]
        assert scores["f1"] == pytest.approx(word_f1_score(WORDS, words))
    else:
        expected = attachment_scores(TREES, predicted)
        assert (scores["uas"], scores["complete"]) == (expected.uas, expected.complete)
        assert (
            scores["sequences"] == len(TREES) and scores["tokens"] == expected.n_tokens
        )
        leave_out = [
            [tag in (".", ",", "``", "''", ":", "-LRB-", "-RRB-") for _, tag in x]
            for x in SENTENCES
        ]
        expected_words = attachment_scores(TREES, predicted, punctuation=leave_out)
        if kind == "parser of heads":
            assert "las" not in scores and "words_las" not in scores
        else:
            assert (scores["las"], scores["words_las"]) == (
                expected.las,
                expected_words.las,
            )
        assert (scores["words"], scores["words_uas"]) == (
            expected_words.n_tokens,
            expected_words.uas,
        )
        assert scores["words"] < scores["tokens"]
    code, out, _ = run(capsys, *arguments)
    assert code == 0 and out.splitlines()[0].startswith("sequences ")


def test_known_words_are_for_segmenters(models, capsys):
    known = "--vocabulary", models / "words"
    for kind in ("mixer of segmenter", "word segmenter", "reranker of segmenter"):
        code, out, _ = run(
            capsys, "evaluate", models / "words", "-m", models / kind, *known, "--json"
        )
        assert code == 0 and json.loads(out)["oov_rate"] == 0.0
    for kind in ("parser", "perceptron"):
        assert (
            run(
                capsys,
                "evaluate",
                models / corpus_of(kind),
                "-m",
                models / kind,
                *known,
            )[0]
            == 2
        )


# --------------------------------------------------------------------------------------
# show
# --------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", KINDS)
def test_show(models, capsys, kind):
    code, out, err = run(capsys, "show", "-m", models / kind)
    assert (code, err) == (0, "") and type(KINDS[kind][0]).__name__ in out.splitlines()[
        0
    ]
    assert run(capsys, "show", "-m", models / kind, "--json")[0] == 0


@pytest.mark.parametrize("kind", KINDS)
def test_show_explain(models, capsys, kind):
    sentence = (
        "他 在"
        if kind in OF_WORDS
        else "the dog"
        if kind == "pa, of str"
        else "the/DT dog/NN"
    )
    arguments = "show", "-m", models / kind, "--explain", sentence
    code, out, err = run(capsys, *arguments, "--json")
    assert (code, err) == (0, "")
    if kind in OF_TREES:
        assert [arc["word"] for arc in json.loads(out)["arcs"]] == [
            ["the", "DT"],
            ["dog", "NN"],
        ]
        assert run(capsys, *arguments)[0] == 0
        return
    tokens = [token["token"] for token in json.loads(out)["tokens"]]
    assert tokens[1] in ("在", "dog", ["dog", "NN"])
    assert tokens[2:] == (["(end)"] if kind in WITH_SCORES else [])
    assert run(capsys, *arguments)[0] == 0


def test_words_with_slashes_for_a_model_of_words(models, capsys):
    """What looks like columns is told of; a slash in some word is none."""
    for sentence, told in (
        ("the/DT dog/NN", True),
        ("the dog", False),
        ("and/or the dog", False),
    ):
        arguments = "show", "-m", models / "pa, of str", "--explain", sentence, "--json"
        code, out, err = run(capsys, *arguments)
        assert (
            code == 0
            and [token["token"] for token in json.loads(out)["tokens"]]
            == sentence.split()
        )
        assert (
            "the model reads words without columns: 'the/DT' is taken for a word" in err
        ) == told
