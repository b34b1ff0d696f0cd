"""Nothing to learn is an error of train that names what else there is, and what is odd
is said before.
"""

import json

import pytest
from cli_cases import run

import skstruct

WORDS = "the dog saw a cat and ran off to bed".split()
TAGS = "D N V D N C V P P N".split()


def train(capsys, path, text, *options):
    path.write_text(text, encoding="utf-8")
    model = path.parent / "m"
    model.unlink(missing_ok=True)
    code, _, err = run(capsys, "train", path, "-m", model, "--epochs", 1, *options)
    assert (code == 0) == model.exists()
    return code, err


def rows(*columns, n=4, parts=1):
    """A file of columns with the same sentence several times."""
    sentence = "".join("\t".join(row) + "\n" for row in zip(*columns))
    return (sentence + "\n") * n * parts


def conllu(**fields):
    names = "id form lemma upos xpos feats head deprel deps misc".split()
    empty = ["_"] * len(WORDS)
    given = {"id": map(str, range(1, 11)), "form": WORDS, **fields}
    given.setdefault("head", ["0"] * len(WORDS))
    return rows(*(given.get(name, empty) for name in names))


def jsonl(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


SAME = ["X"] * 10
NOTHING = {
    "an empty field": (
        "a.conllu",
        conllu(upos=TAGS),
        [],
        "xpos is empty: every token has the label '_', and there is nothing to learn; "
        "upos has 5 labels: --label upos; to train anyway, pass --force",
    ),
    "one label": (
        "a.conll",
        rows(WORDS, TAGS, SAME),
        [],
        "column -1: every token has the label 'X': there is nothing to learn; column 1 "
        "has 5 labels: --label 1; to train anyway, pass --force",
    ),
    "one label beside a column that counts": (
        "a.conll",
        rows(map(str, range(10)), WORDS, SAME),
        ["--tokens", "1"],
        "every token has the label 'X': there is nothing to learn; to train anyway, pass --force",
    ),
    "labels that are words": (
        "a.conll",
        "".join(
            rows([f"{w}{k}" for w in WORDS], TAGS, [f"{w}{k}x" for w in WORDS], n=1)
            for k in range(4)
        ),
        [],
        "column -1: 40 labels for 40 tokens, 40 of them seen once: these do not look like labels; "
        "column 1 has 5 labels: --label 1; to train anyway, pass --force",
    ),
    "sentences of one token": (
        "a.conll",
        "".join(f"{w} {t}\n\n" for w, t in zip(WORDS, TAGS)),
        [],
        "each of 10 sentences is one token: there is no sequence to learn; a blank line",
    ),
    "data of CRFsuite": (
        "a.txt",
        "".join(f"X\tw={w}\n" for w in WORDS),
        ["--format", "crfsuite"],
        "every token has the label 'X': there is nothing to learn; to train anyway, pass --force",
    ),
    "lines of one word": (
        "a.seg",
        "".join(f"{w}\n" for w in WORDS),
        [],
        "each of 10 lines is one word, so there are no word boundaries to learn",
    ),
    "words of one character": (
        "a.seg",
        "a b c\nb c\n" * 3,
        [],
        "each word is one character: there is nothing to learn",
    ),
    "trees without arcs": (
        "a.conllu",
        conllu(xpos=TAGS),
        ["-a", "parser"],
        "all heads are 0: there are no trees to learn; to train anyway, pass --force",
    ),
    "spans under other keys": (
        "a.jsonl",
        jsonl(*[{"text": "Ann ran.", "marks": [[0, 3, "PER"]], "by": "me"}] * 3),
        [],
        "the file has no annotated text; of jsonl it has 3 records (a list under "
        "'marks' that is not understood), first ",
    ),
    "empty lists of spans": (
        "a.jsonl",
        jsonl(*[{"text": "Ann ran.", "spans": []}] * 3),
        [],
        "none of 3 texts has an annotated span",
    ),
}


@pytest.mark.parametrize("case", NOTHING)
def test_nothing_to_learn_is_an_error(capsys, tmp_path, case):
    name, text, options, message = NOTHING[case]
    code, err = train(capsys, tmp_path / name, text, *options)
    assert code == 1 and f"error: {tmp_path / name}: " in err and message in err


UNREAD = {"trees without arcs", "spans under other keys"}
"""What there is nothing of, whatever is asked for."""


def test_the_key_of_the_spans_can_be_named_as_the_error_says(capsys, tmp_path):
    name, text, *_ = NOTHING["spans under other keys"]
    _, err = train(capsys, tmp_path / name, text)
    assert "name the key of the spans with --read spans=KEY" in err
    code, err = train(capsys, tmp_path / name, text, "--read", "spans=marks")
    assert code == 0 and "3 spans" in err


@pytest.mark.parametrize("case", sorted(NOTHING.keys() - UNREAD))
def test_force_trains_all_the_same(capsys, tmp_path, case):
    name, text, options, message = NOTHING[case]
    code, err = train(capsys, tmp_path / name, text, *options, "--force")
    assert code == 0 and f"warning: {tmp_path / name}: " in err
    assert message.split(";")[0] in err


@pytest.mark.parametrize("case", ["one label", "spans under other keys"])
def test_standard_input_is_read_once(capsys, tmp_path, stdin, case):
    """What it holds cannot be looked at again; the error says the rest."""
    _, text, _, message = NOTHING[case]
    stdin(text)
    code, _, err = run(capsys, "train", "-", "-m", tmp_path / "m")
    assert code == 1 and message.split(";")[0] in err and not (tmp_path / "m").exists()


def test_a_stream_of_one_label_leaves_no_model(capsys, tmp_path):
    """It is known when it has been learned."""
    path, text = tmp_path / "a.conll", rows(WORDS, SAME)
    code, err = train(capsys, path, text, "--stream", "2")
    assert code == 1 and f"{path}: the label 'X' alone was learned, and no model" in err
    assert train(capsys, path, text, "--stream", "2", "--force")[0] == 0


def test_decisions_that_never_say_what_is_no_span(capsys, tmp_path):
    """Accepted spans alone: all of a text would be one."""
    record = {
        "text": "Ann ran.", "_input_hash": 1, "answer": "accept", "_view_id": "ner",
        "spans": [{"start": 0, "end": 3, "label": "PER", "score": 0.5, "source": "m"}],
    }  # fmt: skip
    path, text = (
        tmp_path / "a.jsonl",
        jsonl(*[{**record, "_input_hash": k} for k in range(4)]),
    )
    code, err = train(capsys, path, text)
    assert code == 1 and f"{path}: the label 'S-PER' alone was learned, and no" in err
    assert "at least one text needs words outside of spans" in err
    code, err = train(capsys, path, text, "--force")
    assert code == 0 and "the label 'S-PER' alone was learned: all is of it" in err


LEARNED = {
    "trees with one label": (
        "a.conllu",
        "1\tAnn\t_\t_\tN\t_\t2\tdep\t_\t_\n2\tran\t_\t_\tV\t_\t0\tdep\t_\t_\n\n" * 4,
        ["--algorithm", "parser"],
    ),
    "one type of spans": (
        "a.jsonl",
        jsonl(*[{"text": f"Ann {w}.", "spans": [[0, 3, "PER"]]} for w in WORDS]), []),
    "spans in some texts": (
        "a.jsonl",
        jsonl({"text": "Ann ran.", "spans": [[0, 3, "PER"]]}, {"text": "No.", "spans": []}),
        [],
    ),
    "few tokens of labels of their own": ("a.conll", "a X\nb Y\n\nc Z\nd W\n", []),
    "one sentence": ("a.conll", rows(WORDS, TAGS, n=1), []),
    "another field": ("a.conllu", conllu(upos=TAGS), ["--label", "upos"]),
    "words": ("a.seg", "ab c\nc ab\n", []),
}  # fmt: skip


@pytest.mark.parametrize("case", LEARNED)
def test_what_can_be_learned_is(capsys, tmp_path, case):
    name, text, options = LEARNED[case]
    code, err = train(capsys, tmp_path / name, text, *options)
    assert code == 0 and "warning" not in err
    assert skstruct.load(tmp_path / "m")


def test_tokens_without_label_are_counted(capsys, tmp_path):
    text = conllu(misc=[f"ner={t}" if t != "V" else "_" for t in TAGS])
    code, err = train(capsys, tmp_path / "a.conllu", text, "--label", "misc:ner")
    assert code == 0 and "8 of 40 tokens have no label and are ignored" in err


@pytest.mark.parametrize("first", [0, 1])
def test_columns_that_count_or_say_nothing_are_named(capsys, tmp_path, first):
    path = tmp_path / "a.conll"
    count = [str(first + t) for t in range(10)]
    code, err = train(capsys, path, rows(count, WORDS, ["me"] * 10, TAGS))
    assert code == 0
    assert (
        f"{path}: column 0 of tokens counts 1, 2, 3 in each sentence; choose what to read with --tokens"
        in err
    )
    assert (
        f"{path}: column 2 of tokens is 'me' throughout; choose what to read with --tokens"
        in err
    )
    code, err = train(capsys, path, rows(count, TAGS))
    assert "the tokens are 1, 2, 3 of each sentence: choose" in err
    code, err = train(capsys, path, rows(WORDS, count))
    assert (
        code == 0
        and "the labels only number the tokens; choose another column with --label"
        in err
    )
    code, err = train(capsys, path, rows(WORDS, TAGS, TAGS))
    assert code == 0 and "warning" not in err


def test_labels_among_the_tokens_are_named(tmp_path, capsys):
    """Those of segments, where what is learned are words or tags."""
    bio = "O B-NP O O B-NP O O O O B-NP".split()
    _, err = train(capsys, tmp_path / "a.txt", rows(bio, WORDS, TAGS))
    assert "column 0 of tokens holds labels such as B-NP" in err and "--label 0" in err
    _, err = train(capsys, tmp_path / "a.txt", rows(WORDS, TAGS, bio))
    assert "holds labels" not in err
    _, err = train(capsys, tmp_path / "a.txt", rows(WORDS, bio, bio))
    assert "holds labels" not in err


def test_empty_fields_among_labels_are_told_of(tmp_path, capsys):
    tags = ["_" if tag == "P" else tag for tag in TAGS]
    _, err = train(capsys, tmp_path / "a.conllu", conllu(xpos=tags))
    assert "8 of 40 words have '_', which is no label of CoNLL-U's" in err
    _, err = train(capsys, tmp_path / "a.conllu", conllu(xpos=TAGS))
    assert "have '_'" not in err


def test_a_column_that_numbers_sentences_is_told_of(tmp_path, capsys):
    numbers = "1 1 1 2 2 2 3 3 3 3".split()
    _, err = train(capsys, tmp_path / "a.txt", rows(numbers, WORDS, TAGS, n=1))
    assert "all 10 tokens are one sentence, and column 0 of tokens looks like" in err
    _, err = train(capsys, tmp_path / "a.txt", rows(numbers, WORDS, TAGS, n=2))
    assert "numbers of sentences" not in err


ODD_WORDS = {
    "masked": (["_"], "the tokens are all '_'"),
    "prefixed": (["en:Ann", "en:left", "en:Rome"], "the tokens all begin with 'en:'"),
    "with positions": (
        ["王0", "小1", "明2"],
        "the tokens all end with a digit, as '王0'",
    ),
    "numbers": (["0.5", "-1.25", "3.0e1"], "are numbers, and are read as words"),
}


@pytest.mark.parametrize("kind", ODD_WORDS)
def test_words_that_are_none_are_said(kind, tmp_path, capsys):
    words, said = ODD_WORDS[kind]
    path = tmp_path / "train.tsv"
    for sep in ("\t", "\tN\t"):
        rows = (f"{words[k % len(words)]}{sep}{'XY'[k % 2]}\n" for k in range(12))
        path.write_text("".join(rows))
        given = ["train", path, "-m", tmp_path / "m", "--epochs", 1, "--force"]
        code, _, err = run(capsys, *given, "--format", "columns")
        assert code == 0
        assert said.replace("the tokens", "") in err and "warning" in err, err


def test_another_layer_of_annotations_among_the_tokens_is_said(tmp_path, capsys):
    path = tmp_path / "train.tsv"
    rows = "Ana\t{}\tB-LOC\nleft\tO\tO\n\n"
    given = ["train", path, "-m", tmp_path / "m", "--epochs", 1, "--force"]
    path.write_text(rows.format("B-PER") * 4)
    _, _, err = run(capsys, *given)
    assert "column 1 of tokens holds labels of segments, of PER, and is read as" in err
    path.write_text(rows.format("B-NP") * 4)
    _, _, err = run(capsys, *given)
    assert "holds labels of segments" not in err


@pytest.mark.parametrize("mark", ['"', "'"])
def test_words_in_quotation_marks_are_named(capsys, tmp_path, mark):
    quoted = [f"{mark}{word}{mark}" for word in WORDS]
    code, err = train(capsys, tmp_path / "a.tsv", rows(quoted, TAGS))
    assert code == 0 and "the tokens are all in quotation marks" in err
    code, err = train(capsys, tmp_path / "a.tsv", rows([*quoted[:9], "x"], TAGS))
    assert code == 0 and "quotation marks" not in err


@pytest.mark.parametrize("label", [None, "PER"])
def test_spans_without_label_are_counted(capsys, tmp_path, label):
    records = [
        {"text": "Ann met Bob .", "label": [[0, 3, "PER"], [8, 11, label]]},
        {"text": "Eve ran .", "label": [[0, 3, "PER"]]},
    ]
    code, err = train(capsys, tmp_path / "a.jsonl", jsonl(*records))
    assert code == 0
    assert ("1 of 3 spans have no label" in err) == (label is None)


def test_labels_that_are_numbers_are_said_or_refused(tmp_path, capsys):
    """A column of probabilities stands behind that of labels."""
    path = tmp_path / "a.conll"
    sure = [f"0.{90 + t}" for t in range(10)]
    code, err = train(capsys, path, rows(WORDS, TAGS, sure))
    assert code == 1 and "every label is a number such as 0.90" in err
    assert "column 1 has 5 labels: --label 1" in err
    code, err = train(capsys, path, rows(WORDS, [str(t % 3) for t in range(10)]))
    assert code == 0 and "the labels are numbers, such as 0" in err


def test_an_empty_label_is_named(tmp_path, capsys):
    bio = ["B-X" if t == "N" else "" for t in TAGS]
    code, err = train(
        capsys, tmp_path / "a.tsv", rows(WORDS, bio).replace(" ", "\t"), "--separator",
        "tab",
    )  # fmt: skip
    assert code == 0 and "a.tsv: '' (line 1, " in err


@pytest.mark.parametrize(
    ("spans", "said"),
    [
        ([[0, 3, "X"]], ""),
        ([[0, 2, "X"]], "1 of 1 span does not end where tokens do, and training"),
        ([[0, 3, "X"], [0, 7, "Y"]], "overlaps (0, 3, 'X'); -p overlap=longest keeps"),
        ([[0, 3, None]], ""),
    ],
)
def test_a_dry_run_says_what_training_would_do_to_spans(spans, said, tmp_path, capsys):
    path = tmp_path / "a.jsonl"
    path.write_text(jsonl({"text": "Ann ran", "spans": spans}))
    code, _, err = run(capsys, "train", path, "--dry-run", "--force")
    is_refused = len(spans) > 1
    assert code == is_refused, err
    is_warned = not is_refused and (said or spans[0][2] is None)
    assert said in err and ("warning" in err) == bool(is_warned)
    assert not said or is_refused or "skstruct check" in err
