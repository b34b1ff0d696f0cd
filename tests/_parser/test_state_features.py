"""Features of states under noise and a cut-off."""

import pytest
from parser_search_cases import Problem

from skstruct._core.noise import make_noise
from skstruct._parser.parser_fields import TABLES
from skstruct._parser.template_sets import reads_labels, template_lines

RICH = [line for line in template_lines("rich") if not reads_labels([line])]
"""Labels are chosen for the tree that was found, as with all sets that read no
labels.
"""


def test_masked_forms_take_their_features_along():
    problem = Problem(RICH).train(noise=make_noise(1, dropout=1 - 1e-9))
    for features in map(problem.final().features, TABLES):
        assert features
        for line, values in features:
            for atom, value in zip(line.split(), values):
                form = atom.rpartition(".")[2] in ("w", "l", "x2", "x3", "f")
                assert not form or value in ("<s>", "NONE", "</s>")


def test_no_dropout_is_no_noise():
    a, b = (
        Problem(RICH).train(2),
        Problem(RICH).train(2, noise=make_noise(7, dropout=0.0)),
    )
    assert a.dictionaries() == b.dictionaries()


@pytest.mark.parametrize("kind", ["dropout", "zipf"])
def test_noise_on_features_spares_those_of_decisions_unless_asked(kind):
    quiet = make_noise(3, feature_noise=None, edge_noise=kind, rate=0.999999)
    features = Problem("hs28").train(noise=quiet).final().features("")
    if kind == "dropout":
        assert features and not any("c." in line for line, _ in features)
    assert (
        Problem("hs28").train(noise=quiet).dictionaries()
        != Problem("hs28").train().dictionaries()
    )


def test_rare_features_do_not_count():
    problem = Problem("hs28", min_count=3).train(3)
    by_feature, label_features = problem.dictionaries()
    seen = problem.model.state_features.seen[: len(by_feature)]
    for (_, row), times in zip(by_feature.items(), seen):
        assert times >= 3 or not any(row)
    assert any(any(row) for row in by_feature.values())
    for i, sentence in enumerate(problem.X):
        _, expected = problem.final().predict([sentence])
        assert problem.decode(i)[1] == pytest.approx(expected[0])
