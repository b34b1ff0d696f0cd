"""Programs of python-crfsuite over our names; the files are CRFsuite's own."""

import subprocess
import sys
import warnings

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
                assert one.marginal(label, 0) == pytest.approx(
                    other.marginal(label, 0), abs=1e-12
                )


@pytest.mark.parametrize(("c1", "c2"), [(0.0, 1.0), (0.5, 0.1), (1.0, 0.0)])
def test_the_objective_is_as_low_as_that_of_crfsuite(tmp_path, c1, c2):
    theirs = pytest.importorskip("pycrfsuite")

    def objective(library):
        with pycrfsuite.Tagger().open(
            trained(library, tmp_path / "model", c1=c1, c2=c2)
        ) as tagger:
            info, loss = tagger.info(), 0.0
            for x, y in zip(*corpus(1)):
                tagger.set(x)
                loss -= np.log(tagger.probability(y))
            weights = np.array(
                [*info.state_features.values(), *info.transitions.values()]
            )
            return loss + c1 * np.abs(weights).sum() + c2 * weights @ weights

    assert objective(pycrfsuite) <= 1.001 * objective(theirs)


def info_of(path):
    with pycrfsuite.Tagger().open(path) as tagger:
        return tagger.info()


@pytest.mark.parametrize("c1", [0.0, 0.1, 1.0])
def test_the_model_is_that_of_crfsuite(tmp_path, c1):
    """The same attributes in the same order, the same pairs, also those that only a
    value of 0 shows.
    """
    theirs = pytest.importorskip("pycrfsuite")
    strict = {"c1": c1, "delta": 1e-12, "epsilon": 1e-8}
    one, other = (
        info_of(trained(lib, tmp_path / "model", **strict))
        for lib in (pycrfsuite, theirs)
    )
    assert list(one.attributes) == list(other.attributes) and one.labels == other.labels
    for mine, its in (
        (one.state_features, other.state_features),
        (one.transitions, other.transitions),
    ):
        assert list(mine) == list(its)
        np.testing.assert_allclose(list(mine.values()), list(its.values()), atol=1e-3)


def test_the_dump_is_that_of_crfsuite(tmp_path):
    theirs = pytest.importorskip("pycrfsuite")
    for library in (pycrfsuite, theirs):
        path, texts = trained(library, tmp_path / "model", c1=0.1), []
        for reader in (pycrfsuite, theirs):
            (tmp_path / "dump").write_bytes(b"")
            with reader.Tagger().open(path) as tagger:
                tagger.dump(str(tmp_path / "dump"))
            texts.append((tmp_path / "dump").read_bytes())
        assert texts[0] == texts[1]


def test_attributes_that_are_always_0_have_no_weight(tmp_path):
    trainer = pycrfsuite.Trainer(params={"c2": 0.001}, verbose=False)
    trainer.append([{"never": 0.0, "w": ""}, {"never": False, "w": "b"}], ["A", "B"])
    trainer.train(str(tmp_path / "model"))
    assert list(info_of(str(tmp_path / "model")).attributes) == ["w:", "w:b"]
    assert trainer.logparser.featgen_num_features == 2 + 2 + 1


def test_what_is_not_open_cannot_be_used():
    for use in (
        pycrfsuite.Tagger.labels, pycrfsuite.Tagger.tag, lambda tagger: tagger.set([["a"]]),
        lambda tagger: tagger.probability(["A"]), lambda tagger: tagger.marginal("A", 0),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="The tagger is not opened"):
            use(pycrfsuite.Tagger())


@pytest.mark.parametrize("algorithm", ["ap", "pa", "arow"])
def test_epsilon_ends_the_training_example_by_example(tmp_path, algorithm):
    passes = []
    for epsilon in (0.0, 1e6):
        trainer = pycrfsuite.Trainer(
            algorithm, {"epsilon": epsilon, "max_iterations": 7}, verbose=False
        )
        for x, y in zip(*corpus(1)):
            trainer.append(x, y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            trainer.train(str(tmp_path / "model"))
        passes.append(len(trainer.logparser.iterations))
    assert passes == [7, 1]


@pytest.mark.filterwarnings("ignore:the algorithm 'arow'")
def test_arow_without_softness(tmp_path):
    assert info_of(
        trained(pycrfsuite, tmp_path / "model", "arow", gamma=0)
    ).state_features


@pytest.mark.parametrize(
    ("module", "others"),
    [("pycrfsuite", "numpy sklearn numba"), ("sklearn_crfsuite", "numba matplotlib")],
)
def test_imports_are_those_that_the_names_need(module, others):
    code = f"import sys; from skstruct.compat import {module}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    loaded = set(done.stdout.split())
    assert not loaded & set(others.split())
    rooms = {name.split(".")[1] for name in loaded if name.startswith("skstruct.")}
    assert not rooms & {
        "_crf",
        "_chain",
        "_taggers",
        "features",
        "interchange",
        "inspection",
    }


def test_items_are_copied(tmp_path):
    trainer, item = pycrfsuite.Trainer(verbose=False), {}
    for word, label in (("a", "A"), ("b", "B")):
        item["w"] = word
        trainer.append([item], [label])
    trainer.train(str(tmp_path / "model"))
    with pycrfsuite.Tagger().open(str(tmp_path / "model")) as tagger:
        assert tagger.info().attributes.keys() == {"w:a", "w:b"}
        assert (
            tagger.tag([{"w": "b"}])
            == tagger.tag([["w:b"]])
            == tagger.tag([{"w:b"}])
            == ["B"]
        )
        assert tagger.tag(pycrfsuite.ItemSequence([{b"w": b"b"}])) == ["B"]


def test_rare_pairs_have_no_weights(tmp_path):
    theirs = pytest.importorskip("pycrfsuite")
    names = []
    for library in (theirs, pycrfsuite):
        with pycrfsuite.Tagger().open(
            trained(library, tmp_path / "model", feature_minfreq=3)
        ) as tagger:
            names.append(
                (set(tagger.info().state_features), set(tagger.info().transitions))
            )
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


def test_each_iteration_has_a_loss():
    trainer = pycrfsuite.Trainer("lbfgs", {"c1": 0.1, "c2": 0.1}, verbose=False)
    for _ in range(5):
        trainer.append([{"a": "b"}, {"a": "c"}], ["x", "y"])
    trainer.train("")
    iterations = trainer.logparser.iterations
    assert [each["num"] for each in iterations] == list(range(1, len(iterations) + 1))
    assert all(
        each["loss"] > 0 and each["error_norm"] >= 0 and each["feature_norm"] > 0
        for each in iterations
    )
