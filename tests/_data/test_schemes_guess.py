"""Which scheme labels look like, and whether the rewriting that errors name works."""

import re

import pytest

import skstruct._data.schemes
from skstruct import L1CRF, StructuredPerceptron
from skstruct._data.schemes import SCHEMES, convert_scheme, rewriting, scheme_like

Y = [["B-PER", "I-PER", "I-PER", "B-PER", "O", "B-LOC", "B-ORG", "I-ORG"], [], ["O"]]


@pytest.mark.parametrize(
    "name", [name for name in SCHEMES if name not in ("BI", "B2B3MES")]
)
def test_a_scheme_is_recognised(name):
    assert scheme_like(convert_scheme(Y, "BIO", name, strict=name != "IO")) == name


@pytest.mark.parametrize(
    "labels, name",
    [
        ("B M E S", "BMES"),
        ("B I B", "BIO"),
        ("B B2 B3 M E S", "B2B3MES"),
        ("I O B", None),
        ("PER B-LOC O", None),
        ("DET NOUN", "IO"),
    ],
)
def test_what_labels_look_like(labels, name):
    assert scheme_like([labels.split()]) == name


@pytest.mark.parametrize("labels", [[None, "O"], [("a", "b")], [3]])
def test_other_labels_are_of_no_scheme(labels):
    assert scheme_like([labels]) is None and rewriting([labels], "BIO") == (None, None)


@pytest.mark.parametrize("learner", [StructuredPerceptron, L1CRF])
@pytest.mark.parametrize(
    "labels, scheme, said",
    [
        ("PER O", "BIO", "they look like labels of the scheme IO"),
        ("I-PER I-PER B-PER O B-PER", "BIO", "'BIO', 'BIO', strict=False) repairs"),
        ("I-PER I-PER B-PER O", "BIO", "they look like labels of the scheme IOB1"),
        ("B-PER L-PER O", "BIOES", "they look like labels of the scheme BILOU"),
        ("B-PER I-PER O", "BMES", "they look like labels of the scheme BIO"),
    ],
)
def test_the_error_names_a_call_that_works(learner, labels, scheme, said):
    y = [labels.split()]
    X = [[f"w{t}" for t in range(len(y[0]))]]
    model = learner(constraints=scheme, max_iter=1)
    with pytest.raises(ValueError, match=re.escape(said)) as raised:
        model.fit(X, y)
    call = re.search(
        r"skstruct\.schemes\.convert_scheme\(.*?\)", str(raised.value)
    ).group()
    model.fit(X, eval(call, {"skstruct": skstruct, "y": y}))


@pytest.mark.parametrize("labels", [["O", None, "PER"], ["X-PER", "B-PER"]])
def test_no_call_is_named_where_none_works(labels):
    with pytest.raises(ValueError, match="constraints='BIO'") as raised:
        StructuredPerceptron(constraints="BIO").fit([["a"] * len(labels)], [labels])
    assert "convert_scheme" not in str(raised.value)


@pytest.mark.parametrize("scheme", ["BILOU", "IO"])
def test_models_of_the_newer_schemes(scheme, tmp_path):
    y = convert_scheme(Y, "BIO", scheme, strict=False)
    X = [[f"{label}{t}" for t, label in enumerate(labels)] for labels in y]
    model = L1CRF(constraints=scheme, c1=0.1, max_iter=20).fit(X, y)
    model.save(tmp_path / "m")
    for each in model, skstruct.load(tmp_path / "m"):
        assert each.predict(X) == y
        spans = [span for found in each.predict_segment_proba(X) for span, _ in found]
        expected = [
            s
            for labels in y
            for s in skstruct._data.schemes.labels_to_spans(labels, scheme)
        ]
        assert spans == expected
    assert (
        skstruct.metrics.segment_f1_score(
            y, model.predict(X), scheme=scheme, mode="strict"
        )
        == 1.0
    )
    result = skstruct.metrics.paired_bootstrap(
        y, y, y, score="segments", scheme=scheme, n_resamples=5
    )
    assert result.score_a == 1.0
