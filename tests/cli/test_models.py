"""tag, evaluate, show and show --explain on saved models of every kind, on good files and on bad ones."""

import json

import pytest
from cli_cases import run

import skstruct
from skstruct import (
    L1CRF,
    BaggingShuffleAverager,
    KBestReranker,
    ParameterMixer,
    PassiveAggressiveTagger,
    Segmenter,
    ShiftReduceParser,
    StructuredPerceptron,
    WordSegmenter,
)
from skstruct.datasets import load_chunking, load_parsing, load_segmentation
from skstruct.formats.readers import read_conllu
from skstruct.metrics import attachment_scores, token_accuracy_score, word_f1_score

TOKENS, CHUNKS = (part[:20] for part in load_chunking())
FORMS = [[form for form, _ in sentence] for sentence in TOKENS]
TEXTS, WORDS = (part[:20] for part in load_segmentation())
PAIRS = [[(word, "N" if len(word) > 1 else "X") for word in words] for words in WORDS]
SENTENCES, TREES = (part[:10] for part in load_parsing())
HEADS = [[head for head, _ in tree] for tree in TREES]


def chars():
    return StructuredPerceptron("char", max_iter=2, random_state=0)


def averager(estimator):
    return BaggingShuffleAverager(estimator, n_estimators=2, random_state=0)


def mixer(estimator):
    return ParameterMixer(estimator, n_shards=2, random_state=0)


def reranker(base):
    return KBestReranker(base, k=3, cv=2, max_iter=1, random_state=0)


KINDS = {
    "perceptron": (StructuredPerceptron(max_iter=2, random_state=0), TOKENS, CHUNKS),
    "pa, of str": (PassiveAggressiveTagger(max_iter=2, random_state=0), FORMS, CHUNKS),
    "l1crf": (L1CRF(max_iter=3, random_state=0), TOKENS, CHUNKS),
    "averager": (averager(StructuredPerceptron(max_iter=2)), TOKENS, CHUNKS),
    "mixer": (mixer(StructuredPerceptron(max_iter=2)), TOKENS, CHUNKS),
    "reranker of tagger": (reranker(StructuredPerceptron(max_iter=2, random_state=0)), TOKENS, CHUNKS),
    "segmenter": (Segmenter(chars()), TEXTS, WORDS),
    "joint segmenter": (Segmenter(chars()), TEXTS, PAIRS),
    "segmenter of averager": (Segmenter(averager(chars())), TEXTS, WORDS),
    "segmenter of mixer": (Segmenter(mixer(chars())), TEXTS, WORDS),
    "segmenter of reranker": (Segmenter(reranker(chars())), TEXTS, WORDS),
    "mixer of segmenter": (mixer(Segmenter(chars())), TEXTS, WORDS),
    "reranker of segmenter": (reranker(Segmenter(chars())), TEXTS, WORDS),
    "reranker of joint segmenter": (reranker(Segmenter(averager(chars()))), TEXTS, PAIRS),
    "word segmenter": (WordSegmenter(max_iter=2, random_state=0), TEXTS, WORDS),
    "averager of word segmenter": (averager(WordSegmenter(max_iter=2)), TEXTS, WORDS),
    "mixer of word segmenter": (mixer(WordSegmenter(max_iter=2)), TEXTS, WORDS),
    "reranker of word segmenter": (reranker(WordSegmenter(max_iter=2, random_state=0)), TEXTS, WORDS),
    "parser": (ShiftReduceParser("hs28", max_iter=2, random_state=0), SENTENCES, TREES),
    "parser of heads": (
        ShiftReduceParser("hs28", labeled=False, max_iter=2, random_state=0), SENTENCES, HEADS
    ),
    "averager of parser": (averager(ShiftReduceParser("hs28", max_iter=2)), SENTENCES, TREES),
    "mixer of parser": (mixer(ShiftReduceParser("hs28", max_iter=2)), SENTENCES, TREES),
}  # fmt: skip
OF_WORDS = [kind for kind, (_, X, _) in KINDS.items() if X is TEXTS]
WITH_SCORES = ["word segmenter", "averager of word segmenter", "mixer of word segmenter"]
WITH_KBEST = [
    *WITH_SCORES, "segmenter", "joint segmenter", "segmenter of averager", "segmenter of mixer",
    "mixer of segmenter",
]  # fmt: skip
OF_TREES = [kind for kind, (_, X, _) in KINDS.items() if X is SENTENCES]
OF_LABELS = [kind for kind in KINDS if kind not in OF_WORDS + OF_TREES]


def conllu(sentences, trees):
    """Trees as a file with everything that there can be in one."""
    text = "# newdoc id = d\n"
    for sentence, tree in zip(sentences, trees):
        text += "# text = ...\n1-2\tmulti\t" + "\t".join("_" * 8) + "\n"
        for t, ((form, tag), (head, label)) in enumerate(zip(sentence, tree), start=1):
            text += f"{t}\t{form}\tlemma{t}\tU\t{tag}\tA=b\t{head}\t{label}\t{head}:{label}\tx={t}\n"
            text += f"{t}.1\tempty\t" + "\t".join("_" * 8) + "\n" if t == 1 else ""
        text += "\n"
    return text


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Corpora, and a model of each kind, in one folder."""
    root = tmp_path_factory.mktemp("models")
    for kind, (estimator, X, y) in KINDS.items():
        estimator.fit(X, y).save(root / kind)
    rows = ["".join(f"{f} {p} {c}\n" for (f, p), c in zip(*pair)) for pair in zip(TOKENS, CHUNKS)]
    (root / "labels").write_text("\n".join(rows), encoding="utf-8")
    (root / "words").write_text("".join(" ".join(words) + "\n" for words in WORDS), encoding="utf-8")
    (root / "texts").write_text("\n".join([*TEXTS, "", "北京 大学\u3000天天"]) + "\n", encoding="utf-8")
    (root / "trees").write_text(conllu(SENTENCES, TREES), encoding="utf-8")
    rows = ["".join(f"{f}\t{p}\n" for f, p in sentence) for sentence in SENTENCES]
    (root / "pairs").write_text("\n".join(rows), encoding="utf-8")
    return root


def corpus_of(kind):
    return "words" if kind in OF_WORDS else "trees" if kind in OF_TREES else "labels"


def refused(capsys, message, *arguments):
    """The command ends with code 1 and one line."""
    code, out, err = run(capsys, *arguments)
    assert code == 1 and err.startswith("skstruct: error: ") and err.count("\n") == 1, err
    assert message in err
    return out


# --------------------------------------------------------------------------------------------------
# tag
# --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", OF_LABELS)
def test_taggers_append_a_column(folder, capsys, kind):
    code, out, err = run(capsys, "tag", folder / "labels", "-m", folder / kind, "--n-jobs", 2)
    assert (code, err) == (0, "")
    found = [[line.split()[3] for line in part.splitlines()] for part in out.strip().split("\n\n")]
    assert found == skstruct.load(folder / kind).predict(KINDS[kind][1])


@pytest.mark.parametrize("kind", OF_WORDS)
def test_text_in_words_out(folder, capsys, kind):
    code, out, err = run(capsys, "tag", folder / "texts", "-m", folder / kind, "--batch", 7, "--n-jobs", 2)
    assert (code, err) == (0, "")
    texts = (folder / "texts").read_text(encoding="utf-8").split("\n")[:-1]
    expected = skstruct.load(folder / kind).predict(texts)
    tagged = not isinstance(expected[0][0], str)
    assert tagged == ("joint" in kind)
    assert out == "".join(" ".join(map("/".join, words) if tagged else words) + "\n" for words in expected)


@pytest.mark.parametrize("kind", OF_TREES)
def test_trees_in_trees_out(folder, capsys, kind):
    code, out, err = run(capsys, "tag", folder / "trees", "-m", folder / kind, "--batch", 3, "--n-jobs", 2)
    assert (code, err) == (0, "")
    before = [line.split("\t") for line in (folder / "trees").read_text(encoding="utf-8").splitlines()]
    after = [line.split("\t") for line in out.splitlines()]
    assert [row[:6] + row[8:] for row in after] == [row[:6] + row[8:] for row in before]
    expected = sum(skstruct.load(folder / kind).predict(SENTENCES), [])
    expected = [(arc, "_") if isinstance(arc, int) else arc for arc in expected]
    assert [(int(row[6]), row[7]) for row in after if row[0].isdecimal()] == expected
    assert read_conllu(folder / "trees") != expected


@pytest.mark.parametrize("kind", OF_TREES)
def test_trees_of_columns(folder, capsys, tmp_path, kind):
    code, out, err = run(capsys, "tag", folder / "pairs", "-m", folder / kind)
    assert (code, err) == (0, "")
    expected = skstruct.load(folder / kind).predict(SENTENCES)
    expected = [(arc, "_") if isinstance(arc, int) else arc for tree in expected for arc in tree]
    rows = [line.split("\t") for line in out.splitlines() if line]
    assert [(int(head), label) for _, _, head, label in rows] == expected
    (tmp_path / "parsed").write_text(out, encoding="utf-8")  # the last two columns are head and label
    code, out, _ = run(capsys, "evaluate", tmp_path / "parsed", "-m", folder / kind, "--json")
    assert code == 0 and json.loads(out)["uas"] == 1.0
    swapped = "".join("\t".join([tag, "x", form]) + "\n" for form, tag in SENTENCES[0])
    (tmp_path / "swapped").write_text(swapped, encoding="utf-8")
    code, out, _ = run(capsys, "tag", tmp_path / "swapped", "-m", folder / kind, "--tokens", "2,0")
    found = [(int(line.split()[3]), line.split()[4]) for line in out.splitlines()]
    assert code == 0 and found == expected[: len(SENTENCES[0])]


def test_other_fields_for_a_parser(folder, capsys, tmp_path):
    text = "".join(
        f"{t}\t{form}\t_\t{tag}" + "\t_" * 6 + "\n" for t, (form, tag) in enumerate(SENTENCES[0], start=1)
    )
    (tmp_path / "upos.conllu").write_text(text + "\n", encoding="utf-8")
    code, out, _ = run(
        capsys, "tag", tmp_path / "upos.conllu", "-m", folder / "parser", "--tokens", "form,upos"
    )
    (found,) = skstruct.load(folder / "parser").predict(SENTENCES[:1])
    assert code == 0
    assert [tuple(line.split("\t")[6:8]) for line in out.splitlines() if line] == [
        (str(h), d) for h, d in found
    ]


@pytest.mark.parametrize("kind", [k for k in OF_WORDS if "reranker of" not in k])
def test_dictionaries(folder, capsys, tmp_path, kind):
    (tmp_path / "d").write_text("京大\n", encoding="utf-8")
    code, out, _ = run(
        capsys,
        "tag",
        folder / "texts",
        "-m",
        folder / kind,
        "--dictionary",
        tmp_path / "d",
        "--tag-separator",
        " ",
    )
    texts = (folder / "texts").read_text(encoding="utf-8").split("\n")[:-1]
    assert code == 0 and [" 京大 " in f" {line} " for line in out.split("\n")[:-1]] == [
        "京大" in text for text in texts
    ]


@pytest.mark.parametrize("kind", OF_LABELS + OF_TREES)
def test_scores(folder, capsys, kind):
    name = "labels" if kind in OF_LABELS else "pairs"
    code, out, _ = run(capsys, "tag", folder / name, "-m", folder / kind, "--scores")
    scores = [float(line.split()[2]) for line in out.splitlines() if line.startswith("# 0 ")]
    model = skstruct.load(folder / kind)
    assert code == 0 and scores == pytest.approx(model.decision_function(KINDS[kind][1]), abs=1e-6)


def written(out):
    """(rank, score, words) of each line of words."""
    lines = out.splitlines()
    heads = [head.split() for head in lines[::2]]
    assert all(head[0] == "#" and len(head) == 3 for head in heads)
    return [(int(head[1]), float(head[2]), words.split()) for head, words in zip(heads, lines[1::2])]


def beside(words):
    """Words, or words and tags, on one line."""
    return " ".join(word if isinstance(word, str) else " ".join(word) for word in words)


@pytest.mark.parametrize("kind", WITH_KBEST)
@pytest.mark.parametrize("dictionary", [False, True])
def test_kbest_of_text(folder, capsys, tmp_path, kind, dictionary):
    (tmp_path / "d").write_text("京大\n", encoding="utf-8")
    options = ["--dictionary", tmp_path / "d"] if dictionary else []
    texts = ["", "他在北京大学 图书馆看书。", "#  0 1"]
    (tmp_path / "texts").write_text("".join(text + "\n" for text in texts), encoding="utf-8")
    options += ["--tag-separator", " "]
    code, out, err = run(capsys, "tag", tmp_path / "texts", "-m", folder / kind, "--kbest", 3, *options)
    found = skstruct.load(folder / kind).predict_kbest(
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


@pytest.mark.parametrize("kind", [*WITH_SCORES, "reranker of segmenter", "reranker of word segmenter"])
def test_scores_of_text(folder, capsys, kind):
    code, out, _ = run(
        capsys, "tag", folder / "texts", "-m", folder / kind, "--scores", "--tag-separator", " "
    )
    texts = (folder / "texts").read_text(encoding="utf-8").split("\n")[:-1]
    model = skstruct.load(folder / kind)
    expected = zip(model.decision_function(texts), model.predict(texts))
    assert code == 0
    assert written(out) == [(0, pytest.approx(score, abs=1e-6), words) for score, words in expected]


@pytest.mark.parametrize(
    "options, kinds",
    [
        (["--scores"], [k for k in OF_WORDS if k not in WITH_SCORES and "reranker of" not in k]),
        (["--scores", "--dictionary", "texts"], WITH_SCORES),
        (["--kbest", "2"], [*(k for k in OF_WORDS if k not in WITH_KBEST), "reranker of tagger"]),
        (["--dictionary", "d"], [*OF_LABELS, *OF_TREES, "reranker of segmenter"]),
        (["--adapt", "d"], ["word segmenter", "mixer of word segmenter", "reranker of segmenter", *OF_TREES]),
        (["--label", "xpos"], OF_TREES),
    ],
)
def test_options_for_other_models(folder, capsys, options, kinds):
    for kind in kinds:
        code, out, err = run(capsys, "tag", folder / corpus_of(kind), "-m", folder / kind, *options)
        assert (code, out) == (2, "") and options[0] in err.splitlines()[-1], kind


# --------------------------------------------------------------------------------------------------
# evaluate
# --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", KINDS)
def test_evaluate(folder, capsys, kind):
    arguments = "evaluate", folder / corpus_of(kind), "-m", folder / kind, "--n-jobs", 2
    code, out, err = run(capsys, *arguments, "--json")
    assert (code, err) == (0, "")
    scores = json.loads(out)
    predicted = skstruct.load(folder / kind).predict(KINDS[kind][1])
    if kind in OF_LABELS:
        assert scores["token_accuracy"] == token_accuracy_score(CHUNKS, predicted)
    elif kind in OF_WORDS:
        words = [[word if isinstance(word, str) else word[0] for word in words] for words in predicted]
        assert scores["f1"] == pytest.approx(word_f1_score(WORDS, words))
    else:
        expected = attachment_scores(TREES, predicted)
        assert (scores["uas"], scores["complete"]) == (expected.uas, expected.complete)
        assert scores["sequences"] == len(TREES) and scores["tokens"] == expected.n_tokens
        leave_out = [
            [tag in (".", ",", "``", "''", ":", "-LRB-", "-RRB-") for _, tag in x] for x in SENTENCES
        ]
        expected_words = attachment_scores(TREES, predicted, punctuation=leave_out)
        if kind == "parser of heads":
            assert "las" not in scores and "words_las" not in scores
        else:
            assert (scores["las"], scores["words_las"]) == (expected.las, expected_words.las)
        assert (scores["words"], scores["words_uas"]) == (expected_words.n_tokens, expected_words.uas)
        assert scores["words"] < scores["tokens"]
    code, out, _ = run(capsys, *arguments)
    assert code == 0 and out.splitlines()[0].startswith("sequences ")


def test_known_words_are_for_segmenters(folder, capsys):
    known = "--vocabulary", folder / "words"
    for kind in ("mixer of segmenter", "word segmenter", "reranker of segmenter"):
        code, out, _ = run(capsys, "evaluate", folder / "words", "-m", folder / kind, *known, "--json")
        assert code == 0 and json.loads(out)["oov_rate"] == 0.0
    for kind in ("parser", "perceptron"):
        assert run(capsys, "evaluate", folder / corpus_of(kind), "-m", folder / kind, *known)[0] == 2


# --------------------------------------------------------------------------------------------------
# show
# --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", KINDS)
def test_show(folder, capsys, kind):
    code, out, err = run(capsys, "show", "-m", folder / kind)
    assert (code, err) == (0, "") and type(KINDS[kind][0]).__name__ in out.splitlines()[0]
    assert run(capsys, "show", "-m", folder / kind, "--json")[0] == 0


@pytest.mark.parametrize("kind", KINDS)
def test_show_explain(folder, capsys, kind):
    sentence = "他 在" if kind in OF_WORDS else "the dog" if kind == "pa, of str" else "the/DT dog/NN"
    arguments = "show", "-m", folder / kind, "--explain", sentence
    code, out, err = run(capsys, *arguments, "--json")
    assert (code, err) == (0, "")
    if kind in OF_TREES:
        assert [arc["word"] for arc in json.loads(out)["arcs"]] == [["the", "DT"], ["dog", "NN"]]
        assert run(capsys, *arguments)[0] == 0
        return
    tokens = [token["token"] for token in json.loads(out)["tokens"]]
    assert tokens[1] in ("在", "dog", ["dog", "NN"])
    assert tokens[2:] == (["(end)"] if kind in WITH_SCORES else [])
    assert run(capsys, *arguments)[0] == 0


# --------------------------------------------------------------------------------------------------
# Bad input
# --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("command", ["tag", "evaluate"])
def test_files_of_another_format(folder, capsys, command, kind):
    other = "columns" if kind in OF_WORDS else "segmented"
    message = f"the model is a {dict(words='segmenter', trees='parser', labels='tagger')[corpus_of(kind)]}"
    refused(capsys, message, command, folder / "words", "-m", folder / kind, "--format", other)


DAMAGED = {
    "labels": [
        (b"a X Y\nb\n", "line 2: expected 3 columns, as on line 1; found 1"),
        (b"a X Y\n\xff X Y\n", "line 2: not valid utf-8"),
    ],
    "words": [(b"a b\n\xff\n", "line 2: not valid utf-8")],
    "trees": [
        (b"1\ta\t_\t_\tX\t_\t0\tr\t_\t_\n2\tb\n", "line 2: expected 10 columns"),
        (
            b"1\ta\t_\t_\tX\t_\t0\tr\t_\t_\n3\ta\t_\t_\tX\t_\t0\tr\t_\t_\n",
            "line 2: expected the id 2; found '3'",
        ),
        (b"\n1\t\t_\t_\tX\t_\t0\tr\t_\t_\n", "line 2: "),
        (b"a X 0 r\n\nb X\n", "line 3: expected 4 columns, as on line 1; found 2"),
    ],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("command", ["tag", "evaluate"])
def test_damaged_files(folder, capsys, tmp_path, command, kind):
    path = tmp_path / "damaged"
    for data, message in DAMAGED[corpus_of(kind)]:
        path.write_bytes(data)
        assert refused(capsys, f"{path}, {message}", command, path, "-m", folder / kind) == ""


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_to_evaluate_or_tag(folder, capsys, tmp_path, kind):
    (tmp_path / "empty").write_text("\n\n")
    refused(capsys, "there is no sentence in it", "evaluate", tmp_path / "empty", "-m", folder / kind)
    assert run(capsys, "tag", tmp_path / "empty", "-m", folder / kind) == (0, "\n\n", "")


@pytest.mark.parametrize(
    "data, message",
    [
        (b"1\ta\t_\t_\tX\t_\t_\tr\t_\t_\n", "line 1: expected a head, 0 or the id of a word; found '_'"),
        (b"1\ta\t_\t_\tX\t_\t2\tr\t_\t_\n", "line 1: expected a head between 0 and 1; found 2"),
        (b"a X 0 r\n\nb X 1 r\n", "line 3: expected a head between 0 and 1; found the word itself"),
        (b"a X 0 r\nb X r 1\n", "line 2: expected a head, 0 or the id of a word; found 'r'"),
        (b"a 0 r\n", "line 1: the model reads 2 columns of a token; found 1; --tokens says which to read"),
    ],
)
def test_trees_that_are_none(folder, capsys, tmp_path, data, message):
    (tmp_path / "bad").write_bytes(data)
    refused(capsys, f"bad, {message}", "evaluate", tmp_path / "bad", "-m", folder / "parser")


def test_columns_that_do_not_fit(folder, capsys):
    for options in (["--tokens", "0"], ["--tokens", "0,1,0"]):
        refused(
            capsys, "the model reads 2 columns of", "tag", folder / "pairs", "-m", folder / "parser", *options
        )
    trees = folder / "trees", "-m", folder / "parser", "--tokens"
    refused(capsys, "the model reads 2 columns of a token; --tokens names 3", "tag", *trees, "form,xpos,upos")
    refused(capsys, "the field deprel is the label's", "evaluate", *trees, "form,deprel")
    assert run(capsys, "tag", *trees, "form,shape")[0] == 2


def test_what_leaves_no_segmentation_names_the_line(capsys, tmp_path):
    """Where no label is S, there is none for a text of one character."""
    segmenter = Segmenter(StructuredPerceptron("char", constraints="BMES", max_iter=1, random_state=0))
    segmenter.fit(["天天"], [["天天"]]).save(tmp_path / "m")
    (tmp_path / "text").write_text("天天\n天天\n\n天\n", encoding="utf-8")
    for batch in (1, 2, 4):
        code, _, err = run(capsys, "tag", tmp_path / "text", "-m", tmp_path / "m", "--batch", batch)
        assert code == 1 and f"{tmp_path / 'text'}, line 4: " in err and "leave no labelling" in err


def test_models_the_command_line_does_not_know(folder, capsys, tmp_path):
    StructuredPerceptron(max_iter=1).fit([[{"a": 1}]], [["X"]]).save(tmp_path / "bags")
    averager(StructuredPerceptron(max_iter=1)).fit([[{"a": 1}]], [["X"]]).save(tmp_path / "bags of many")
    for name in ("bags", "bags of many"):
        for command in ("tag", "evaluate"):
            refused(
                capsys,
                "the command line reads tokens only",
                command,
                folder / "labels",
                "-m",
                tmp_path / name,
            )
        refused(capsys, "the command line reads tokens only", "show", "-m", tmp_path / name, "--explain", "a")
