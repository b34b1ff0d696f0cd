"""WebAnno TSV 3: layers, numbers of spans, values and what is escaped in them."""

import io
import warnings

import pytest
from cli_cases import run

from skstruct.datasets import read_tokens

HEADER = (
    "#FORMAT=WebAnno TSV 3.3\n"
    "#T_SP=de.tudarmstadt.ukp.dkpro.core.api.lexmorph.type.pos.POS|PosValue\n"
    "#T_SP=de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity|identifier|value\n"
    "#T_SP=webanno.custom.Mood|tone\n"
    "#T_RL=webanno.custom.Link|kind|BT_webanno.custom.Mood\n\n\n"
)
TEXT = (
    HEADER + "#Text=Ruth Okafor moved to New York .\n"
    "1-1\t0-4\tRuth\tNNP\t*[1]\tPER[1]\tglad\t_\t_\t\n"
    "1-2\t5-11\tOkafor\tNNP\t*[1]\tPER[1]\t_\t_\t_\t\n"
    "1-2.1\t5-7\tOk\t_\t_\t_\tsub\t_\t_\t\n"
    "1-3\t12-17\tmoved\tVBD\t_\t_\t_\tx\t1-1\t\n"
    "1-4\t18-20\tto\tTO\t_\t_\t_\t_\t_\t\n"
    "1-5\t21-24\tNew\tNNP\t*[2]\tLOC[2]\t_\t_\t_\t\n"
    "1-6\t25-29\tYork\tNNP\t*[2]|*[3]\tLOC[2]|ORG[3]\t_\t_\t_\t\n"
    "1-7\t30-31\t.\t.\t_\t_\t_\t_\t_\t\n\n"
    "#Text=Hi\n2-1\t32-34\tHi\tUH\t*\ta\\_b\\|c\t_\t_\t_\t\n\n"
)
NAMES = [["B-PER", "I-PER", "O", "O", "B-LOC", "I-LOC", "O"], ["B-a_b|c"]]


def test_the_first_layer_of_spans_and_the_others_named():
    with pytest.warns(UserWarning) as told:
        X, y = read_tokens(io.StringIO(TEXT))
    assert X == [["Ruth", "Okafor", "moved", "to", "New", "York", "."], ["Hi"]]
    assert y == NAMES
    said = " ".join(str(each.message) for each in told)
    assert (
        "labels are those of NamedEntity.value; there are also POS.PosValue, Mood"
        in said
    )
    assert "left out: 1 span within or across others of NamedEntity.value" in said


@pytest.mark.parametrize(
    ("label", "y"),
    [
        ("POS", ["NNP", "NNP", "VBD", "TO", "NNP", "NNP", "."]),
        ("POS.PosValue", ["NNP", "NNP", "VBD", "TO", "NNP", "NNP", "."]),
        ("tone", ["B-glad", *["O"] * 6]),
        ("NamedEntity.identifier", ["B-NamedEntity", "I-NamedEntity", "O", "O", "B-NamedEntity", "I-NamedEntity", "O"]),
    ],
)  # fmt: skip
def test_other_features(label, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert read_tokens(io.StringIO(TEXT), label=label)[1][0] == y


def test_a_layer_without_features():
    text = (
        "#FORMAT=WebAnno TSV 3.2\n#T_SP=webanno.custom.Claim|\n\n#Text=a b c\n"
        "1-1\t0-1\ta\t*[1]\n1-2\t2-3\tb\t*[1]\n1-3\t4-5\tc\t*\n"
    )
    assert read_tokens(io.StringIO(text))[1] == [["B-Claim", "I-Claim", "B-Claim"]]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (TEXT, {"label": "Chunk"}, "there is no feature 'Chunk'; it has POS.PosValue"),
        (TEXT + "3-1\t35-36\ta\t_\n", {}, "line 21: expected 9 columns, as the header"),
        (
            TEXT + "3\t" + "_\t" * 8 + "\n",
            {},
            "line 21: expected the number of a token",
        ),
        ("1-1\t0-1\ta\t_\n", {}, "line 1: expected #T_SP=LAYER"),
        (
            HEADER + "1-1\t0-1\ta" + "\t_" * 6,
            {},
            "no layer has annotations; it has POS",
        ),
    ],
)
def test_errors(text, options, message):
    with pytest.raises(ValueError, match=message):
        read_tokens(io.StringIO(text), "webanno", **options)


def test_on_the_command_line(tmp_path, capsys):
    path, model = tmp_path / "webanno.tsv", tmp_path / "m"
    path.write_text(TEXT + TEXT.partition("\n\n\n")[2] * 5)
    code, _, err = run(capsys, "train", path, "-m", model)
    assert (
        code == 0 and "read as webanno: " in err and "labels are those of Named" in err
    )
    code, out, err = run(
        capsys, "evaluate", path, "-m", model, "--label", "NamedEntity"
    )
    assert code == 0 and "micro avg" in out and "there are also" not in err


def test_the_feature_is_remembered(tmp_path, capsys):
    """Of a further file with another one before it."""
    lines = "1-1\t0-3\tAnn\tPER\n1-2\t4-8\tleft\t_\n\n"
    head = "#FORMAT=WebAnno TSV 3.3\n#T_SP=a.Name|value\n"
    (tmp_path / "a.tsv").write_text(f"{head}\n\n{lines}")
    both = head.replace("a.Name|value", "a.Mood|tone\n#T_SP=a.Name|value")
    more = lines.replace("Ann\t", "Ann\t_\t").replace("left\t", "left\tsad\t")
    (tmp_path / "b.tsv").write_text(f"{both}\n\n{more}")
    model = tmp_path / "m"
    code, _, err = run(capsys, "train", tmp_path / "a.tsv", "-m", model)
    assert code == 0 and "webanno, label Name.value" in err
    code, out, err = run(capsys, "evaluate", tmp_path / "b.tsv", "-m", model)
    assert code == 0 and "unknown" not in err and "PER" in out
    (tmp_path / "c.tsv").write_text(f"{both}\n\n{more}".replace("Name|value", "X|y"))
    code, _, err = run(capsys, "evaluate", tmp_path / "c.tsv", "-m", model)
    assert code == 1 and "no feature 'Name.value'; it has Mood.tone, X.y" in err
    assert (
        run(capsys, "select", tmp_path / "c.tsv", "-m", model, "--strategy", "random")[
            0
        ]
        == 0
    )


def sentence(*rows):
    lines = [f"1-{k}\t0-1\t{word}\t{value}\n" for k, word, value in rows]
    layer = "#T_SP=de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity|value"
    text = f"#FORMAT=WebAnno TSV 3.3\n{layer}\n\n\n#Text=x\n{''.join(lines)}\n"
    return io.StringIO(text)


def test_of_stacked_spans_the_longest_count_and_none_is_made_up():
    rows = [
        (1, "New", "LOC[1]|ORG[2]"),
        (2, "York", "LOC[1]|ORG[2]"),
        (3, "Bank", "ORG[2]"),
        (4, "Bo", "PER"),
        (5, "Eva", "PER[3]"),
        (6, "Fox", "PER[3]|PER[4]"),
    ]
    with pytest.warns(UserWarning, match="2 spans within or across .*, first line 6"):
        _, y = read_tokens(sentence(*rows))
    assert y == [["B-ORG", "I-ORG", "I-ORG", "B-PER", "B-PER", "I-PER"]]


def test_spans_on_parts_of_tokens_are_counted():
    rows = [(1, "Ana", "PER"), (2, "in", "_"), ("2.1", "i", "LOC")]
    with pytest.warns(UserWarning, match="1 span .*on parts of tokens, first line 8"):
        assert read_tokens(sentence(*rows))[1] == [["B-PER", "O"]]
