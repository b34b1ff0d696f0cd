"""Numbers whose products no float holds are refused where they come in, so that no
score is NaN in silence.

They come in as weights of sequences, costs of labels, values of features, in training
and in prediction, and as weights in files. What is allowed, up to its limit, gives
scores that are numbers.
"""

import warnings

import numpy as np
import pandas
import pytest
from inside import model_of
from model_cases import ALL_CASES, covering
from scipy import sparse

from skstruct import L1CRF, PassiveAggressiveTagger, StructuredPerceptron, load
from skstruct._saving import stores
from skstruct.features.patterns import Patterns
from skstruct.interchange import load_crfsuite, load_wapiti, save_crfsuite, save_wapiti

X = [["a", "b"], ["b", "a"], ["a", "a"]]
Y = [["A", "B"], ["B", "A"], ["A", "A"]]


@pytest.mark.parametrize(
    "case", covering(name for name in ALL_CASES if not name.startswith("sets"))
)
def test_weights_of_sequences(case):
    make_data, make = ALL_CASES[case]
    X, y = make_data(5)
    weight = np.ones(len(X))
    weight[2] = 1e308
    with pytest.raises(
        ValueError,
        match=r"sample_weight must be at most 1e\+50, .* got 1e\+308 for sequence 2",
    ):
        make().fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("make", [StructuredPerceptron, PassiveAggressiveTagger, L1CRF])
def test_costs_of_labels(make):
    with pytest.raises(
        ValueError,
        match=r"class_weight\['A'\] must be a number from 0 to 1e\+50, got 1e\+308",
    ):
        make(class_weight={"A": 1e308}).fit(X, Y)


LEARNERS = {
    "perceptron": StructuredPerceptron(random_state=0),
    "costs": StructuredPerceptron(class_weight={"A": 1e50}, random_state=0),
    "PA": PassiveAggressiveTagger(variant="PA", random_state=0),
    "PA-I": PassiveAggressiveTagger(C=1e300, cost="hamming", random_state=0),
    "PA-II": PassiveAggressiveTagger(variant="PA-II", C=1e-300, random_state=0),
    "L1": L1CRF(c1=0.1, random_state=0),
    "L2": L1CRF(c1=0.0, c2=1.0, random_state=0),
}


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("weight", [1e50, 1e-300])
@pytest.mark.parametrize("values", [(1e100, -1e100), (1e-120, 1e100), (1e-160, 1e-160)])
def test_what_is_allowed_gives_numbers(name, weight, values):
    a, b = values
    rows = [[{"x": a}, {"y": b}], [{"x": b}, {"y": a}], [{"x": a, "y": b}, {"x": a}]]
    tagger = LEARNERS[name].fit(rows, Y, sample_weight=[weight, 1.0, weight])
    assert np.isfinite(tagger.decision_function(rows)).all()
    assert all(
        np.isfinite(store.value).all()
        for store in (model_of(tagger).nodes, model_of(tagger).edges)
    )


def _kinds(value):
    block = np.array([[1.0, 2.0], [value, 1.0]])
    return {
        "dense": [block],
        "sparse": [sparse.csr_array(block)],
        "dicts": [[{"a": a, "b": b} for a, b in block.tolist()]],
        "frames": [pandas.DataFrame(block, columns=["a", "b"])],
        "strings beside": [pandas.DataFrame({"w": ["u", "v"], "a": block[:, 0]})],
    }


@pytest.mark.parametrize("kind", _kinds(0.0))
@pytest.mark.parametrize("value", [1e101, -1.7e308])
@pytest.mark.parametrize("others", [0, 1])
def test_values_in_prediction(kind, value, others):
    """By every verb, and of one sequence as of several; the model has learned from
    ordinary ones.
    """
    x, wrong = _kinds(0.5)[kind], _kinds(value)[kind]
    perceptron, crf = (
        make.fit(x * 2, [["A", "B"]] * 2)
        for make in (LEARNERS["perceptron"], LEARNERS["L2"])
    )
    verbs = [each.predict for each in (perceptron, crf)]
    verbs += [
        perceptron.decision_function,
        lambda X: perceptron.predict_kbest(X, 2),
        crf.predict_marginals,
    ]
    for verb in verbs:
        verb(x * (others + 1))
        place = f"X: sequence {others}, position 1: values of features must be at most"
        with pytest.raises(ValueError, match=place):
            verb(x * others + wrong)


@pytest.mark.parametrize("case", ["perceptron", "l1crf", "parser", "word-segmenter"])
@pytest.mark.parametrize("compressed", [False, True])
def test_weights_in_files(case, compressed, tmp_path, monkeypatch):
    make_data, make = ALL_CASES[case]
    X, y = make_data(3)
    estimator = make().fit(X, y)
    if compressed:
        estimator = estimator.compress(dtype="float64")
    model_of(estimator).named_weights()[0][0].value[0] = 1e300

    def save():
        estimator.save(tmp_path / "model", training=False)

    with pytest.raises(
        ValueError, match=r"cannot be saved: it has weights .* above 1e\+200"
    ):
        save()
    monkeypatch.setattr(stores, "are_weights", lambda value: True)
    save()
    monkeypatch.undo()
    with pytest.raises(ValueError, match=r"at most 1e\+200 in size"):
        load(tmp_path / "model")


@pytest.mark.parametrize(
    ("save", "read"), [(save_crfsuite, load_crfsuite), (save_wapiti, load_wapiti)]
)
def test_weights_in_files_of_others(save, read, tmp_path):
    crf = L1CRF(
        Patterns(["u:%x[0,0]", "b"], "wapiti") if save is save_wapiti else "auto",
        c1=0.0,
    )
    rows = X if save is save_wapiti else [[{"w": token} for token in x] for x in X]
    crf.fit(rows, Y)
    model_of(crf).nodes.value[:] = 1e300
    save(crf, tmp_path / "model")
    with pytest.raises(ValueError, match=r"1e\+200 in size"):
        read(tmp_path / "model")


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.longdouble])
def test_numbers_of_learners_may_be_of_any_float(kind):
    X, y = [["a", "b"], ["b"]] * 6, [["A", "B"], ["B"]] * 6
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        costs = {"A": kind(2.0), "B": kind(1.0)}
        StructuredPerceptron(class_weight=costs).fit(X, y)
        L1CRF(c1=kind(0.5), c2=kind(0.5), class_weight=costs).fit(X, y)
        for wrong in (kind("inf"), 10**400):
            with pytest.raises(ValueError, match="class_weight"):
                StructuredPerceptron(class_weight={"A": wrong}).fit(X, y)
        with pytest.raises(ValueError, match="c1"):
            L1CRF(c1=kind("inf")).fit(X, y)
