"""Corpora as columns of lists, in the forms of dataset libraries."""

import numpy as np
import pytest

from skstruct import PartialSpans, StructuredPerceptron
from skstruct.datasets import columns_to_spans, from_columns, spans_to_columns

pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")

COLUMNS = {
    "id": ["0", "1", "2"],
    "tokens": [["Ada", "sees", "Bob"], [], ["Bob", "sleeps"]],
    "pos_tags": [[1, 2, 1], [], [1, 2]],
    "ner_tags": [[1, 0, 1], [], [1, -100]],
}
NAMES = ["O", "B-PER"]


class Labels:
    names = NAMES


class ListOf:
    feature = Labels()


class Column:
    """A column that can be read by number and by iteration alone."""

    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, k):
        return self.rows[k]


class Dataset:
    """Has what a split of a dataset library has."""

    column_names = list(COLUMNS)
    features = {"tokens": object(), "ner_tags": ListOf()}

    def __getitem__(self, name):
        return Column(COLUMNS[name])


FORMS = {
    "dict": COLUMNS,
    "rows": [dict(zip(COLUMNS, row)) for row in zip(*COLUMNS.values())],
    "dataset": Dataset(),
    "pandas": pandas.DataFrame(COLUMNS),
    "arrays": pandas.DataFrame(COLUMNS).map(lambda v: np.array(v) if isinstance(v, list) else v),
    "polars": polars.DataFrame(COLUMNS),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms(form):
    names = None if form == "dataset" else NAMES
    X, y = from_columns(FORMS[form], label="ner_tags", label_names=names)
    assert X == COLUMNS["tokens"] and y == [["B-PER", "O", "B-PER"], [], ["B-PER", None]]
    pairs, numbers = from_columns(FORMS[form], ["tokens", "pos_tags"], "pos_tags")
    assert pairs[2] == [("Bob", "1"), ("sleeps", "2")] and numbers == COLUMNS["pos_tags"]
    assert from_columns(FORMS[form]) == COLUMNS["tokens"]
    assert StructuredPerceptron(random_state=0).fit(X, y).predict(X)[0] == y[0]


def test_columns_of_a_library_are_corpora_by_themselves():
    data = Dataset()
    tagger = StructuredPerceptron(random_state=0).fit(data["tokens"], data["pos_tags"])
    assert tagger.predict(data["tokens"]) == COLUMNS["pos_tags"]


def test_what_is_refused():
    for arguments, message in (
        (({"words": [["a"]]},), "data has no column 'tokens'; it has words"),
        (([{"tokens": ["a"]}, {"words": ["a"]}],), "row 1 of data has no 'tokens'"),
        ((3,), "data must be a dict of columns, a list of dicts, a Dataset or a table, got int 3"),
        (({"tokens": ["a b"]},), "row 0: 'tokens' must be a list of one entry a token, got str 'a b'"),
        (
            ({"tokens": [["a"], ["b"]], "y": [["A"], []]}, "tokens", "y"),
            "row 1: 'y' has 0 entries, 'tokens' has 1",
        ),
        (({"tokens": [["a"]], "y": []}, "tokens", "y"), "column 'y' has 0 rows, 'tokens' has 1"),
        ((COLUMNS, []), "tokens must name at least one column"),
    ):
        with pytest.raises(ValueError, match=message):
            from_columns(*arguments)
    with pytest.raises(ValueError, match="row 0: 'ner_tags' must be numbers below 1, got int 1"):
        from_columns(COLUMNS, label="ner_tags", label_names=["O"])


def test_columns_of_texts_with_spans():
    X, y = ["Zoe\u0308 in New York.", ""], [[(8, 16, "LOC"), (0, 2, "PER"), (5, 7, None)], []]
    tokens, labels = spans_to_columns(X, y, scheme="BIOES")
    assert tokens == [["Zoë", "in", "New", "York", "."], []]
    assert labels == [["S-PER", None, "B-LOC", "E-LOC", "O"], []]
    assert spans_to_columns(X, y, tokenizer=r"\S+", align="contract")[1] == [["O", None, "B-LOC", "O"], []]
    texts, spans = columns_to_spans(tokens, labels, "BIOES", joint="  ")
    assert texts == ["Zoë  in  New  York  .", ""]
    assert spans == [[(0, 3, "PER"), (5, 7, None), (9, 18, "LOC")], []]
    assert columns_to_spans([[("Ann", "N")]], [["B-PER"]]) == (["Ann"], [[(0, 3, "PER")]])
    overlap = [[(0, 4, "A"), (3, 9, "B")], []]
    assert spans_to_columns(X, overlap, overlap="longest")[1][0][0] == "O"
    with pytest.raises(ValueError, match="overlaps"):
        spans_to_columns(X, overlap)
    with pytest.raises(ValueError, match="y: sequence 1, position 1: the label 'B' has no type"):
        columns_to_spans([["a"], ["a", "b"]], [["O"], ["O", "B"]])
    with pytest.raises(ValueError, match="The 'scheme' parameter"):
        spans_to_columns(X, y, scheme="BIX")


@pytest.mark.parametrize("token", [3, (3, "a"), {"word": "a"}, ()])
def test_spans_need_words(token):
    with pytest.raises(ValueError, match="X: sequence 1, position 1: expected a str, or a tuple"):
        columns_to_spans([["a"], ["b", token]], [["O"], ["O", "O"]])


def test_spans_of_labels_of_no_scheme():
    with pytest.raises(ValueError, match="y: sequence 1, position 0: label 'Q' does not belong"):
        columns_to_spans([["a"], ["b"]], [["O"], ["Q"]])


def test_labels_outside_of_partial_spans_are_unknown():
    texts = ["Ann in Rome", "Ann in Rome"]
    spans = [PartialSpans([(0, 3, "PER")], types={"PER"}), [(0, 3, "PER")]]
    _, labels = spans_to_columns(texts, spans)
    assert labels == [["B-PER", None, None], ["B-PER", "O", "O"]]


# -- what is missing -------------------------------------------------------------------
MISSING = [None, float("nan"), np.float32("nan"), pandas.NA, pandas.NaT]


@pytest.mark.parametrize("value", MISSING, ids=repr)
def test_a_missing_token_is_no_word(value):
    """Beside other columns of tokens it would be spelled: "None", "nan", "<NA>"."""
    for name in "tokens", "pos":
        data = {"tokens": [["x", "y"], ["a", "b"]], "pos": [["X", "Y"], ["X", "Y"]]}
        data[name][1] = [data[name][1][0], value]
        with pytest.raises(ValueError, match=f"row 1, entry 1: '{name}' has no value, got"):
            from_columns(data, ["tokens", "pos"])
        data[name][1][1] = ""
        X = from_columns(data, ["tokens", "pos"])
        assert "" in X[1][1] and X[0] == [("x", "X"), ("y", "Y")]


@pytest.mark.parametrize("value", MISSING, ids=repr)
@pytest.mark.parametrize("names", [None, ["O", "B"]])
def test_a_missing_label_is_none(value, names):
    data = {"tokens": [["a", "b", "c"]], "labels": [[0, value, 1]]}
    _, y = from_columns(data, "tokens", "labels", label_names=names)
    assert y == [[0, None, 1] if names is None else ["O", None, "B"]]
