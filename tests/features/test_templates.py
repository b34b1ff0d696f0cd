"""Templates: parsing, errors, CRF++ template files, presets."""

import re
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inside import TOKEN_FUNCTIONS, model_of

import oracles
from skstruct import FeatureTemplates, StructuredPerceptron
from skstruct.features.templates import parse_template


def test_parsing_a_feature():
    template = parse_template("U05:%x[-1,0]/%x[ +2 , 11 ]/%suffix3[0,1]")
    assert not template.edge
    assert template.atoms == (("x", 0, -1), ("x", 11, 2), ("suffix3", 1, 0))
    assert [offset for _, _, offset in template.atoms] == [-1, 2, 0]


def test_parsing_transitions():
    assert parse_template(" B ").edge and parse_template("B").atoms == ()
    template = parse_template("B01:%x[0,1]")
    assert template.edge and template.atoms == (("x", 1, 0),)


def test_a_bias_reads_nothing():
    template = parse_template("U99")
    assert not template.edge and template.atoms == ()
    assert FeatureTemplates(["U99"]).offsets == ()
    assert FeatureTemplates(["U99"]).n_columns == 1


@given(
    st.lists(
        st.tuples(
            st.sampled_from([*TOKEN_FUNCTIONS, "prefix2", "suffix12"]),
            st.integers(-9, 9),
            st.integers(0, 12),
        ),
        max_size=4,
    ),
    st.sampled_from("UB"),
    st.from_regex(r"[A-Za-z0-9_:+-]{0,5}", fullmatch=True),
)
def test_what_is_written_is_read(atoms, letter, name):
    line = f"{letter}{name}" + "/".join(f"%{f}[{o},{c}]" for f, o, c in atoms)
    template = parse_template(line)
    assert template.edge == (letter == "B")
    assert template.atoms == tuple((f, c, o) for f, o, c in atoms)
    assert template.text == line
    assert [(f, int(o), int(c)) for f, o, c in oracles.MACRO.findall(line)] == atoms


@pytest.mark.parametrize(
    "line, message",
    [
        ("", "starts with U"),
        ("x05:%x[0,0]", "starts with U"),
        ("u05:%x[0,0]", "starts with U"),
        ("%x[0,0]", "starts with U"),
        ("# comment", "starts with U"),
        ("U05:%y[0,0]", "unknown function %y"),
        ("U05:%suffix[0,0]", "unknown function %suffix"),
        ("U05:%suffix0[0,0]", "unknown function %suffix0"),
        ("U05:%x[0]", "malformed macro"),
        ("U05:%x[0,0", "malformed macro"),
        ("U05:%x[0,-1]", "malformed macro"),
        ("U05:%x[a,0]", "malformed macro"),
        ("U05:%x[0.5,0]", "malformed macro"),
        ("U05:%x[0,0]/%x[]", "malformed macro"),
        ("U05:%x [0,0]", "malformed macro"),
        ("U05:%[0,0]", "malformed macro"),
        ("B05:%x[0,0,0]", "malformed macro"),
        ("U05:%x[-200000,0]", "reads too far away: a row is at most 1000 from 0"),
        ("U05:%x[0,0]/%suffix2[+1001,0]", "reads too far away"),
        (f"B05:%x[{'9' * 5000},0]", "reads too far away"),
    ],
)
def test_what_is_no_template(line, message):
    with pytest.raises(ValueError, match=f"^somewhere: .*{re.escape(message)}"):
        parse_template(line, "somewhere")
    with pytest.raises(ValueError, match="template 1"):
        FeatureTemplates(["U00:%x[0,0]", line])


@pytest.mark.parametrize("line", ["U05:%x0,0]", "U05:%x", "U05:100%"])
def test_a_percent_sign_begins_a_macro(line):
    """As in CRF++, where any other use is a format error; here it would silently be a bias."""
    with pytest.raises(ValueError, match="malformed macro"):
        parse_template(line)


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("U05:x[0,0]", "U05:%x[0,0]"),
        ("U05:%x[-1,0]/suffix2[ 0, 1]", "U05:%x[-1,0]/%suffix2[ 0, 1]"),
    ],
)
def test_a_macro_without_its_sign_is_noticed(line, meant):
    with pytest.warns(UserWarning, match=re.escape(f"did you mean '{meant}'?")):
        parse_template(line)
    with pytest.warns(UserWarning, match="template 1: .* reads no token"):
        FeatureTemplates(["U00:%x[0,0]", line])


@pytest.mark.parametrize("line", ["U", "B", "U00:bias", "U05:%x[0,0]/[0,0]", "U1[a,b]"])
def test_a_template_may_hold_text(line):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert parse_template(line).text == line


def test_sets():
    lines = ["U00:%x[-2,0]", "U01:%x[0,2]/%x[1,1]", "B", "B"]
    templates = FeatureTemplates(lines)
    assert templates.lines == ("U00:%x[-2,0]", "U01:%x[0,2]/%x[1,1]", "B")
    assert len(templates) == 3
    assert templates.offsets == (-2, 0, 1)
    assert templates.n_columns == 3
    assert templates == FeatureTemplates(lines[:3]) and hash(templates) == hash(
        FeatureTemplates(lines[:3])
    )
    assert templates != FeatureTemplates(["B"])
    assert eval(repr(templates)) == templates


def test_what_is_no_set():
    with pytest.raises(TypeError, match="list of template strings"):
        FeatureTemplates("U00:%x[0,0]")
    with pytest.raises(ValueError, match="at least one template"):
        FeatureTemplates([])


@pytest.mark.parametrize(
    "lines",
    [
        ["U:%x[0,0]", "U:%x[0,1]"],
        ["U:%x[0,0]/%x[1,0]", "U:%x[0,0]/%x[2,0]"],
        ["U:%x[0,0]/%x[1,0]", "U:%x[1,0]/%x[0,0]"],
        ["B:%x[0,0]", "B:%x[0,1]"],
    ],
)
def test_one_identifier_for_different_combinations(lines):
    with pytest.raises(ValueError, match="different identifiers"):
        FeatureTemplates(lines).compile()


def test_equal_identifiers_at_several_places():
    plan = FeatureTemplates(["U:%x[-1,0]", "U:%x[0,0]", "U:%x[2,0]"]).compile()
    assert (plan.left, plan.right) == (1, 2)
    assert FeatureTemplates(["U:%x[0,0]", "B:%x[0,1]"]).compile().n_columns == 2


def test_plan():
    plan = FeatureTemplates(["U0:%x[-2,0]/%x[1,1]", "U1:%x[3,0]", "B"]).compile()
    assert (plan.left, plan.right, plan.n_columns, plan.bigram) == (2, 3, 2, True)
    assert not FeatureTemplates(["U0:%x[0,0]", "B1:%x[0,0]"]).compile().bigram


CRFPP = """\ufeff# Unigram
U00:%x[-2,0]
U01:%x[-1,0]

   # indented comment
U02:%x[0,0]/%x[0,1]
U03:%x[0,0]#not a comment
# Bigram
B
"""


def test_reading_a_file(tmp_path):
    path = tmp_path / "template"
    path.write_text(CRFPP, encoding="utf-8")
    expected = (
        "U00:%x[-2,0]",
        "U01:%x[-1,0]",
        "U02:%x[0,0]/%x[0,1]",
        "U03:%x[0,0]#not a comment",
        "B",
    )
    assert FeatureTemplates.from_file(path).lines == expected
    assert FeatureTemplates.from_file(str(path)).lines == expected
    path.write_bytes(CRFPP.replace("\n", "\r\n").encode())
    assert FeatureTemplates.from_file(path).lines == expected


def test_errors_in_a_file_name_the_line(tmp_path):
    path = tmp_path / "template"
    path.write_text("# a\n\nU00:%x[0,0]\nU01:%x[0]\n")
    with pytest.raises(ValueError, match=re.escape(f"{path}:4: malformed")):
        FeatureTemplates.from_file(path)
    path.write_text("# nothing\n\n")
    with pytest.raises(ValueError, match="holds no template"):
        FeatureTemplates.from_file(path)
    with pytest.raises(FileNotFoundError):
        FeatureTemplates.from_file(tmp_path / "absent")


def test_an_estimator_reads_the_file(tmp_path):
    path = tmp_path / "template"
    path.write_text("# words\nU00:%x[0,0]\nB\n")
    X, y = [["a", "b"], ["b", "a"]], [["X", "Y"], ["Y", "X"]]
    for features in (
        path,
        str(path),
        ["U00:%x[0,0]", "B"],
        FeatureTemplates(["U00:%x[0,0]", "B"]),
    ):
        tagger = StructuredPerceptron(features, random_state=0).fit(X, y)
        assert model_of(tagger).encoder.templates.lines == ("U00:%x[0,0]", "B")
        assert list(tagger.predict(X)) == y
    with pytest.raises(ValueError, match="is no preset"):
        StructuredPerceptron("no such file").fit(X, y)
    with pytest.raises(ValueError, match="there is no such template file"):
        StructuredPerceptron("./no such file").fit(X, y)


def test_a_file_of_the_working_folder_is_no_preset(tmp_path, monkeypatch):
    """A str without a folder names a preset, whatever files there are."""
    for name in ("ner", "word", "templates.txt"):
        (tmp_path / name).write_text("U00:%x[0,0]\n")
    monkeypatch.chdir(tmp_path)
    X, y = [["a", "b"]], [["X", "Y"]]
    for name in ("ner", "templates.txt"):
        wrong = f"features={name!r} is no preset .* write features='./{name}'"
        with pytest.raises(ValueError, match=wrong):
            StructuredPerceptron(name).fit(X, y)
    for features in ("./ner", Path("ner"), Path("word"), str(tmp_path / "word")):
        tagger = StructuredPerceptron(features, max_iter=1, random_state=0)
        assert model_of(tagger.fit(X, y)).encoder.templates.lines == ("U00:%x[0,0]",)
        assert len(tagger.set_params(warm_start=True).fit(X, y).classes_) == 2
    tagger = StructuredPerceptron("word", max_iter=1).fit(X, y)
    assert len(model_of(tagger).encoder.templates.lines) > 1


def test_a_template_is_no_path():
    with pytest.raises(ValueError, match=r"templates are a list, features=\['U0"):
        StructuredPerceptron("U00:%x[-1,0]/%x[0,0]").fit([["a"]], [["X"]])


def test_a_template_file_in_another_encoding(tmp_path):
    path = tmp_path / "templates"
    path.write_bytes(b"U0:%x[0,0]\n# caf\xe9\n")
    with pytest.raises(ValueError, match="templates: not valid UTF-8"):
        FeatureTemplates.from_file(path)


@pytest.mark.parametrize(
    ("name", "meant"), [("chnk", "chunk"), ("Word", "word"), ("atuo", "auto")]
)
def test_a_preset_that_may_be_meant_is_said(name, meant):
    with pytest.raises(
        ValueError, match=f"a template file does; did you mean '{meant}'?"
    ):
        StructuredPerceptron(features=name).fit([["a"]], [["x"]])
