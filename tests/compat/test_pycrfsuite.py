"""Programs of python-crfsuite over our names; the files are CRFsuite's own."""

import numpy as np
import pytest

from skstruct.compat import pycrfsuite
from tests.crfsuite_cases import corpus


def trained(library, path, algorithm="lbfgs", **params):
    trainer = library.Trainer(
        algorithm, {k.replace("_", ".", 1): v for k, v in params.items()}, verbose=False
    )
    for x, y in zip(*corpus(1)):
        trainer.append(x, y)
    trainer.train(str(path))
    return str(path)


@pytest.mark.parametrize("algorithm", ["lbfgs", "l2sgd", "ap", "pa"])
def test_files_mean_the_same_to_crfsuite(tmp_path, algorithm):
    theirs = pytest.importorskip("pycrfsuite")
    path = trained(pycrfsuite, tmp_path / "model", algorithm)
    one, other = pycrfsuite.Tagger(), theirs.Tagger()
    with one.open(path), other.open(path):
        assert one.labels() == other.labels()
        for x, y in zip(*corpus(2)):
            assert one.tag(x) == other.tag(x)
            assert one.probability(y) == pytest.approx(other.probability(y), rel=1e-9)
            for label in one.labels():
                assert one.marginal(label, 0) == pytest.approx(other.marginal(label, 0), abs=1e-12)


@pytest.mark.parametrize(("c1", "c2"), [(0.0, 1.0), (0.5, 0.1), (1.0, 0.0)])
def test_the_objective_is_as_low_as_that_of_crfsuite(tmp_path, c1, c2):
    theirs = pytest.importorskip("pycrfsuite")

    def objective(library):
        with pycrfsuite.Tagger().open(trained(library, tmp_path / "model", c1=c1, c2=c2)) as tagger:
            info, loss = tagger.info(), 0.0
            for x, y in zip(*corpus(1)):
                tagger.set(x)
                loss -= np.log(tagger.probability(y))
            weights = np.array([*info.state_features.values(), *info.transitions.values()])
            return loss + c1 * np.abs(weights).sum() + c2 * weights @ weights

    assert objective(pycrfsuite) <= 1.001 * objective(theirs)


def test_items_are_copied(tmp_path):
    trainer, item = pycrfsuite.Trainer(verbose=False), {}
    for word, label in (("a", "A"), ("b", "B")):
        item["w"] = word
        trainer.append([item], [label])
    trainer.train(str(tmp_path / "model"))
    with pycrfsuite.Tagger().open(str(tmp_path / "model")) as tagger:
        assert tagger.info().attributes.keys() == {"w:a", "w:b"}
        assert tagger.tag([{"w": "b"}]) == tagger.tag([["w:b"]]) == tagger.tag([{"w:b"}]) == ["B"]
        assert tagger.tag(pycrfsuite.ItemSequence([{b"w": b"b"}])) == ["B"]


def test_rare_pairs_have_no_weights(tmp_path):
    theirs = pytest.importorskip("pycrfsuite")
    names = []
    for library in (theirs, pycrfsuite):
        with pycrfsuite.Tagger().open(trained(library, tmp_path / "model", feature_minfreq=3)) as tagger:
            names.append((set(tagger.info().state_features), set(tagger.info().transitions)))
    assert names[0] == names[1]


def test_nan_is_refused(tmp_path):
    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.append([{"a": float("nan")}], ["A"])
    with pytest.raises(ValueError, match="must be finite"):
        trainer.train(str(tmp_path / "model"))


def test_nothing_makes_an_empty_model(tmp_path):
    path = str(tmp_path / "model")
    pycrfsuite.Trainer(verbose=False).train(path)
    with pycrfsuite.Tagger().open(path) as tagger:
        assert tagger.labels() == [] and tagger.info().header["num_attrs"] == "0"


def test_parameters_are_checked_though_they_have_no_effect():
    trainer = pycrfsuite.Trainer("l2sgd")
    trainer.set("calibration.eta", "0.2")
    assert trainer.get("calibration.eta") == 0.2
    for name, value in (("calibration.eta", "x"), ("c1", 1)):
        with pytest.raises(ValueError, match=name):
            trainer.set(name, value)
