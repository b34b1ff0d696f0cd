"""Trees with crossing arcs, and labels that say so."""

import pytest
from parser_cases import X, Y, parser

import skstruct

# -- trees that are not projective -----------------------------------------------------
CROSSING = [
    ("a", "D"),
    ("hearing", "N"),
    ("is", "V"),
    ("scheduled", "V"),
    ("on", "P"),
    ("it", "N"),
    ("today", "R"),
]
CROSSING_TREE = [
    (2, "det"), (4, "nsubj"), (4, "aux"), (0, "root"), (6, "case"), (2, "nmod"), (4, "advmod"),
]  # fmt: skip


def test_pseudo_projective_labels_bring_crossing_arcs_back(tmp_path):
    data = [CROSSING, X[0]] * 3, [CROSSING_TREE, Y[0]] * 3
    model = parser(templates="auto", projectivize="pseudo", max_iter=8).fit(*data)
    assert model.predict(data[0]) == data[1] and model.score(*data) == 1.0
    assert "nmod↑nsubj" in model.classes_
    model.save(tmp_path / "model")
    again = skstruct.load(tmp_path / "model")
    assert (
        again.predict(data[0]) == data[1] == again.partial_fit(*data).predict(data[0])
    )
    lifting = parser(templates="auto", max_iter=8).fit(*data)
    assert lifting.predict(data[0])[0][5] == (4, "nmod")


@pytest.mark.parametrize(
    "y, parameters, message",
    [
        (
            [[(0, 1)]],
            {},
            "sequence 0, position 0: projectivize='pseudo' needs labels of type str",
        ),
        (
            [[(0, "a↑b")]],
            {},
            "sequence 0, position 0: projectivize='pseudo' needs labels of type str without",
        ),
        (
            [[0]],
            {"labeled": False},
            "projectivize='pseudo' writes what was lifted into labels",
        ),
    ],
)
def test_pseudo_projective_labels_are_str(y, parameters, message):
    with pytest.raises(ValueError, match=message):
        parser(projectivize="pseudo", **parameters).fit([[("run", "V")]], y)


def test_new_labels_keep_those_of_features_apart():
    """Labels are sorted, so that new ones move others; what features say of them
    stays.
    """
    model = parser(templates="auto", max_iter=5).fit(X, Y)
    before = {name for name, _, _ in skstruct.inspection.feature_weights(model)}
    tree = [(2, "aaa"), (0, "root")]
    model.partial_fit([[("zz", "Q"), ("yy", "Z")]], [tree])
    after = {name for name, _, _ in skstruct.inspection.feature_weights(model)}
    some = {name for name in before if ".r=" in name}
    assert some and len(some & after) > 0.9 * len(some)
    assert model.predict([X[1]]) == [Y[1]] and "aaa" in model.classes_
