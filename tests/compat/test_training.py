"""Training over the names of CRFsuite: what is written, what is refused before, and
what is told meanwhile."""

import io
import os
import pathlib
import sys
import warnings

import numpy as np
import pytest

from skstruct.compat import pycrfsuite, sklearn_crfsuite
from tests.crfsuite_cases import corpus

ALGORITHMS = ["lbfgs", "l2sgd", "ap", "pa", "arow"]


def trained(library, path, examples, algorithm="lbfgs", params=(), holdout=-1):
    """A trainer of a library that has written a model."""
    trainer = library.Trainer(algorithm, dict(params), verbose=False)
    for example in examples:
        trainer.append(*example)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the algorithm 'arow'")
        trainer.train(path, holdout)
    return trainer


def weights(path):
    """Pairs of attribute and label, and of labels, that have weights."""
    with pycrfsuite.Tagger().open(path) as tagger:
        return set(tagger.info().state_features), set(tagger.info().transitions)


# -- what is refused before training ---------------------------------------------------
class NoTraining(pycrfsuite.Trainer):
    """A trainer of which a test says that training never began."""

    def message(self, message):
        raise AssertionError(f"training began: {message!r}")


@pytest.mark.parametrize(
    ("item", "label", "wrong"),
    [
        (["a\0b"], "L", r"the attribute 'a\\x00b' of item 1 of sequence 1 has a NUL"),
        (
            {"a": {"x": ["b\0"]}},
            "L",
            r"the attribute 'a:x:b\\x00' of item 1 of sequence 1 has a NUL",
        ),
        (
            ["\ud800"],
            "L",
            r"'\\ud800' of item 1 of sequence 1 has half of a surrogate pair",
        ),
        (["a"], "L\0", r"the label 'L\\x00' has a NUL"),
        (["a"], "\udabc", r"the label '\\udabc' has half of a surrogate pair"),
        ({"a": float("inf")}, "L", "must be finite"),
    ],
)
def test_what_a_file_cannot_hold_is_said_before_training(tmp_path, item, label, wrong):
    trainer = NoTraining(verbose=False)
    trainer.append([["w"]], ["K"])
    trainer.append([["w"], item], ["K", label])
    log = trainer.logparser
    with pytest.raises(ValueError, match=wrong):
        trainer.train(str(tmp_path / "model"))
    assert not os.listdir(tmp_path) and trainer.logparser is log


def test_where_no_file_can_be_is_said_before_training(tmp_path):
    (tmp_path / "file").write_text("")
    trainer = NoTraining(verbose=False)
    trainer.append([["w"]], ["K"])
    for path, wrong in (
        ("none/model", FileNotFoundError),
        ("file/model", NotADirectoryError),
        (".", IsADirectoryError),
    ):
        with pytest.raises(wrong, match=str(tmp_path / path)):
            trainer.train(str(tmp_path / path))
    if os.name == "posix" and os.getuid():
        (tmp_path / "closed").mkdir(mode=0o500)
        with pytest.raises(PermissionError, match="closed"):
            trainer.train(str(tmp_path / "closed" / "model"))
    with pytest.raises(FileNotFoundError):
        sklearn_crfsuite.CRF(model_filename=str(tmp_path / "none" / "model")).fit(
            [[["w"]]], [["K"]]
        )


def test_held_out_items_are_checked_before_training(tmp_path):
    trainer = pycrfsuite.Trainer("ap", {"max_iterations": 3}, verbose=False)
    trainer.append([["w"]], ["K"])
    trainer.append([{"w": float("nan")}], ["K"], 1)
    with pytest.raises(ValueError, match="must be finite"):
        trainer.train(str(tmp_path / "model"), 1)
    assert trainer.logparser is None


# -- what is told while training goes on -----------------------------------------------
class Recorder(pycrfsuite.Trainer):
    """Notes each event; ``stop_at``: the pass after which it raises."""

    stop_at = None

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.seen = []

    def on_start(self, log, *more):
        self.seen.append(("other", log))

    on_featgen_progress = on_featgen_end = on_prepared = on_optimization_end = (
        on_end
    ) = on_start

    def on_iteration(self, log, info):
        self.seen.append(("iteration", dict(info)))
        if info["num"] == self.stop_at:
            raise RuntimeError("enough")


@pytest.mark.filterwarnings("ignore:the algorithm 'arow'")
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_what_a_callback_raises_ends_training(tmp_path, algorithm, monkeypatch):
    """Also in the middle: no further pass is made, no model is written, an earlier one
    stays."""
    path = tmp_path / "model"
    path.write_bytes(b"earlier")
    trainer = Recorder(algorithm, {"max_iterations": 8})
    for x, y in zip(*corpus(1)):
        trainer.append(x, y)
    trainer.stop_at = 2
    passes = []
    from skstruct.compat import passes as module

    before = module.PassLog.__call__
    monkeypatch.setattr(
        module.PassLog,
        "__call__",
        lambda log, *args: passes.append(1) or before(log, *args),
    )
    with pytest.raises(RuntimeError, match="enough"):
        trainer.train(str(path))
    assert path.read_bytes() == b"earlier" and os.listdir(tmp_path) == ["model"]
    told = [info for kind, info in trainer.seen if kind == "iteration"]
    assert [info["num"] for info in told] == [1, 2]
    n_unmeasured = (
        10 if algorithm in ("lbfgs", "l2sgd") else 0
    )  # passes of SGD, whose loss is not known
    assert len(passes) <= 2 + n_unmeasured
    assert not any(
        "Storing the model" in log for kind, log in trainer.seen if kind == "other"
    )


def test_the_log_is_written_as_training_goes_on(monkeypatch):
    """Each pass is printed before the next one begins, by what stands on the output at
    its end."""
    trainer, lengths = pycrfsuite.Trainer("ap", {"max_iterations": 4}), []
    for x, y in zip(*corpus(1)):
        trainer.append(x, y)
    from skstruct.compat import passes

    before = passes.PassLog.__call__

    def call(log, *args):
        found = before(log, *args)
        lengths.append(sys.stdout.getvalue().count("***** Iteration"))
        return found

    monkeypatch.setattr(passes.PassLog, "__call__", call)
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    trainer.train("")
    assert lengths == [1, 2, 3, 4]


@pytest.mark.filterwarnings("ignore:the algorithm 'arow'")
@pytest.mark.parametrize("holdout", [-1, 1])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_iterations_have_the_figures_of_crfsuite(tmp_path, algorithm, holdout):
    """Of each pass, scores on held-out sequences included."""
    theirs = pytest.importorskip("pycrfsuite")
    examples = [(x, y, k % 2) for k, (x, y) in enumerate(zip(*corpus(1)))]
    keys = []
    for library in (theirs, pycrfsuite):
        trainer = trained(
            library,
            str(tmp_path / "model"),
            examples,
            algorithm,
            {"max_iterations": 5},
            holdout,
        )
        assert trainer.logparser.iterations
        keys.append({frozenset(each) for each in trainer.logparser.iterations})
        assert [each["num"] for each in trainer.logparser.iterations] == list(
            range(1, len(trainer.logparser.iterations) + 1)
        )
    assert keys[0] == keys[1]
    last = trainer.logparser.last_iteration
    for name in ("feature_norm", "linesearch_trials", "linesearch_step"):
        assert last.get(name, 1) > 0
    if holdout == 1:
        with pycrfsuite.Tagger().open(str(tmp_path / "model")) as tagger:
            right = [tagger.tag(x) == y for x, y, group in examples if group == 1]
        assert last["instance_accuracy_float"] == pytest.approx(np.mean(right))
        assert trainer.logparser.iterations[0]["scores"].keys() == last["scores"].keys()


def test_the_feature_norm_is_that_of_the_model(tmp_path):
    for algorithm in ("lbfgs", "ap", "pa"):
        path, examples = str(tmp_path / "model"), zip(*corpus(1))
        trainer = trained(pycrfsuite, path, examples, algorithm, {"max_iterations": 6})
        with pycrfsuite.Tagger().open(path) as tagger:
            info = tagger.info()
        values = np.array([*info.state_features.values(), *info.transitions.values()])
        norm = trainer.logparser.last_iteration["feature_norm"]
        assert norm == pytest.approx(np.sqrt(values @ values), abs=2e-6)


# -- which pairs have weights ----------------------------------------------------------
SIGNED = [
    # the sums of temp are -4.5 with A and 1.5 with B, those of half are 0 with A, and
    # minus.4 with B
    (
        [{"temp": -1.5, "w": "a", "half": 0.5}, {"temp": 0.5, "w": "b", "half": -0.4}],
        ["A", "B"],
    ),
    (
        [{"temp": -3.0, "half": -0.5}, {"temp": 1.0, "never": 0.0}, {"only": -2.0}],
        ["A", "B", "C"],
    ),
    ([{"w": "a", "temp": 0.0}, {"w": "b"}], ["A", "A"]),
]


@pytest.mark.parametrize("states", [False, True])
@pytest.mark.parametrize("least", [-2.0, -0.4, 0.0, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("algorithm", ["lbfgs", "l2sgd"])
def test_signed_sums_decide_which_pairs_have_weights(
    tmp_path, algorithm, least, states
):
    theirs = pytest.importorskip("pycrfsuite")
    found = []
    params = {"feature.minfreq": least, "feature.possible_states": states, "c2": 1e-3}
    for library in (theirs, pycrfsuite):
        path = str(tmp_path / "model")
        trainer = trained(library, path, SIGNED, algorithm, params)
        found.append((weights(path), trainer.logparser.featgen_num_features))
    assert found[0] == found[1]


@pytest.mark.parametrize("states", [False, True])
@pytest.mark.parametrize("algorithm", ["ap", "pa"])
def test_online_learners_keep_no_other_pairs(tmp_path, algorithm, states):
    theirs, path = pytest.importorskip("pycrfsuite"), str(tmp_path / "model")
    params = {"feature.possible_states": states, "max_iterations": 30}
    all_of_crfsuite = trained(
        theirs, path, SIGNED, "lbfgs", {"feature.possible_states": states, "c2": 1e-3}
    )
    allowed, _ = weights(path)
    trainer = trained(pycrfsuite, path, SIGNED, algorithm, params)
    found, _ = weights(path)
    assert found <= allowed and ("temp", "A") not in found and ("temp", "B") in found
    assert (
        trainer.logparser.featgen_num_features
        == all_of_crfsuite.logparser.featgen_num_features
    )


# -- bytes -----------------------------------------------------------------------------
def test_bytes_that_are_no_utf_8(tmp_path):
    """They come back as they were: the file has the same names as CRFsuite's."""
    theirs = pytest.importorskip("pycrfsuite")
    examples = [
        ([[b"\xff\xfe", "ok"], {b"k\xe9": b"v\xe8"}, {b"n\xe9": 2.0}], [b"A", "B", "A"])
    ] * 3
    for library in (theirs, pycrfsuite):
        path = str(tmp_path / "model")
        trained(library, path, examples)
        raw = pathlib.Path(path).read_bytes()
        for name in (b"\xff\xfe\0", b"k\xe9:v\xe8\0", b"n\xe9\0"):
            assert name in raw
        for reader in (theirs, pycrfsuite):
            with reader.Tagger().open(path) as tagger:
                assert tagger.tag([[b"\xff\xfe"], {b"k\xe9": b"v\xe8"}]) == ["A", "B"]
                assert tagger.tag([[b"k\xe9:v\xe8"]]) == ["B"]


def test_a_dump_of_such_a_model_has_the_same_bytes(tmp_path, monkeypatch):
    trained(pycrfsuite, str(tmp_path / "model"), [([[b"\xff"], ["b"]], [b"A", b"B"])])
    with pycrfsuite.Tagger().open(str(tmp_path / "model")) as tagger:
        tagger.dump(os.fsencode(tmp_path / "dump"))
        raw = (tmp_path / "dump").read_bytes()
        assert b": \xff\n" in raw
        out = io.BytesIO()
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out, encoding="ascii"))
        tagger.dump()
        assert out.getvalue() == raw


@pytest.mark.parametrize("kind", [str, os.fsencode, pathlib.Path])
def test_paths_of_all_kinds(tmp_path, kind):
    path = kind(str(tmp_path / "modèle"))
    trained(pycrfsuite, path, [([["a"], ["b"]], ["A", "B"])])
    with pycrfsuite.Tagger().open(path) as tagger:
        assert tagger.tag([["a"], ["b"]]) == ["A", "B"]
    crf = sklearn_crfsuite.CRF(model_filename=path).fit([[["x"], ["y"]]], [["X", "Y"]])
    assert crf.predict([[["x"], ["y"]]]).tolist() == [["X", "Y"]]
    assert os.listdir(tmp_path) == ["modèle"]


# -- parameters ------------------------------------------------------------------------
def test_a_type_of_pa_that_is_none_is_refused_with_the_choices():
    for value in (3, -1, "7"):
        with pytest.raises(
            ValueError,
            match=r"\(pa_type\) must be one of 0, 1, 2 \(0: PA, 1: PA-I, 2: PA-II\)",
        ):
            pycrfsuite.Trainer("pa").set("type", value)
    with pytest.raises(ValueError, match="pa_type.* got 3"):
        sklearn_crfsuite.CRF("pa", pa_type=3).fit([[["a"]]], [["A"]])


def test_arow_says_why_it_is_not_there():
    with pytest.warns(UserWarning, match="since CRFsuite's AROW loses 6 to 9 points"):
        sklearn_crfsuite.CRF("arow", max_iterations=2).fit([[["a"]]], [["A"]])


def test_the_empty_label_is_one_like_others():
    """Programs that give it to CRFsuite get it back."""
    X = [[{"w": "a"}, {"w": "b"}], [{"w": "b"}, {"w": "a"}]] * 5
    y = [["", "B"], ["B", ""]] * 5
    crf = sklearn_crfsuite.CRF(max_iterations=20).fit(X, y)
    assert crf.predict(X).tolist() == y and crf.classes_ == ["", "B"]
    tagger = crf.tagger_
    tagger.set(X[0])
    assert tagger.marginal("", 0) == crf.predict_marginals_single(X[0])[0][""]
    assert 0.5 < tagger.probability(y[0]) < tagger.marginal("", 0)
