"""Files of every kind of estimator with few and many labels, of today and kept ones.

With more than 16 labels tables of weights may be stored sparsely. ``data_files`` holds
files that were kept, and what their models predicted; see ``data_files/write.py``.
"""

import copy
import functools
import json
import pathlib

import numpy as np
import pytest
from covers import cover, slow_beyond
from inside import model_of
from model_cases import (
    CASES,
    TEMPLATES,
    WITHOUT_LABELS,
    assert_predicts_same,
    fitted,
    n_labels_of,
    tokens,
    traits,
)

import skstruct
from skstruct import (
    L1CRF,
    BaggingShuffleAverager,
    ParameterMixer,
    PassiveAggressiveTagger,
    StructuredPerceptron,
    cli,
)
from skstruct._core import store as store_module
from skstruct._saving.container import read_container

FOLDER = pathlib.Path(__file__).parents[1] / "data_files"
KEPT_FILES = sorted(file.stem for file in FOLDER.glob("*.skstruct"))
STORAGE = [
    (4, "dense", True),
    (17, "as chosen", False),
    (17, "sparse", True),
    (45, "sparse", False),
]
"""Labels, how tables are stored, and whether files hold the training state."""

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@functools.cache
def trained(name, n_labels, storage="as chosen"):
    """An estimator and its data; tables of more than 16 columns are all sparse if
    ``storage`` says so.
    """
    with pytest.MonkeyPatch.context() as patch:
        if storage == "sparse":
            patch.setattr(store_module, "DENSE_WEIGHTS", 0)
        return fitted(name, n_labels)


# --------------------------------------------------------------------------------------
# Save and load
# --------------------------------------------------------------------------------------
CELLS = [
    (name, *STORAGE[k])
    for number, name in enumerate(CASES)
    for k in (1, 2 + number % 2)
]


def held(cell):
    """What a cell tries: each trait of the model with a storage, and the model."""
    name, *storage = cell
    return {(trait, *storage) for trait in traits(name)} | {name}


COVER = {CELLS[k] for k in cover(CELLS, held)}


@pytest.mark.parametrize(
    "name, n_labels, storage, training",
    slow_beyond(COVER, CELLS, lambda name, *_: pytest.mark.xdist_group(name)),
)
def test_every_estimator_with_many_labels(name, n_labels, storage, training, tmp_path):
    model, X, _ = trained(name, n_labels, storage)
    assert n_labels_of(model) == n_labels
    model.save(tmp_path / "model", training=training)
    assert_predicts_same(model, skstruct.load(tmp_path / "model"), X)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("name", WITHOUT_LABELS)
def test_every_estimator_without_labels(name, training, tmp_path):
    model, X, _ = trained(name, 45)
    model.save(tmp_path / "model", training=training)
    assert_predicts_same(model, skstruct.load(tmp_path / "model"), X)


@pytest.mark.parametrize("n_labels, storage, training", STORAGE)
@pytest.mark.parametrize("name", ["perceptron", "passive-aggressive", "parser"])
def test_training_goes_on_after_loading(name, n_labels, storage, training, tmp_path):
    model, X, y = trained(name, n_labels, storage)
    model = copy.deepcopy(model)
    model.save(tmp_path / "model", training=training)
    loaded = skstruct.load(tmp_path / "model")
    for _ in range(2):
        model.partial_fit(X, y)
        loaded.partial_fit(X, y)
    assert_predicts_same(model, loaded, X)


def test_l1crf_with_many_labels_is_sparse():
    """Otherwise the tests here would not try what they are about."""
    for name in ("l1crf-17", "averager-l1crf-17", "reranker-l1crf-17"):
        _, arrays = read_container(FOLDER / f"{name}.skstruct", kind="model")
        assert any(array.endswith("model.nodes.count") for array in arrays)
    for n_labels in (17, 45):
        assert model_of(trained("l1crf", n_labels)[0]).nodes.sparse


@pytest.mark.parametrize(
    "name", ["perceptron", "perceptron-order2", "l1crf", "averager", "mixer"]
)
def test_a_fitted_model_holds_no_more_than_its_file(name, tmp_path):
    model, *_ = trained(name, 45, "sparse")
    model.save(tmp_path / "model", training=False)

    def size(estimator):
        model = model_of(getattr(estimator, "estimator_", estimator))
        return sum(
            part.nbytes
            for part in (*model.nodes, *model.edges)
            if isinstance(part, np.ndarray)
        )

    assert size(model) == size(skstruct.load(tmp_path / "model"))


# --------------------------------------------------------------------------------------
# Files that were kept
# --------------------------------------------------------------------------------------
def as_json(values):
    return json.loads(json.dumps(values))


@pytest.mark.parametrize("name", KEPT_FILES)
def test_kept_files_load(name, tmp_path):
    expected = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    X = expected["X"]
    if name.startswith("parser"):
        X = [[tuple(token) for token in sentence] for sentence in X]
    loaded = skstruct.load(FOLDER / f"{name}.skstruct")
    assert as_json(loaded.predict(X)) == expected["predict"]
    if "scores" in expected:
        np.testing.assert_allclose(
            loaded.decision_function(X), expected["scores"], rtol=1e-9, atol=1e-9
        )
    loaded.save(tmp_path / "again")
    assert_predicts_same(loaded, skstruct.load(tmp_path / "again"), X)


def test_there_are_files_of_every_kind():
    kinds = {
        skstruct.load(FOLDER / f"{file}.skstruct").__class__.__name__
        for file in KEPT_FILES
    }
    assert kinds == {
        type(make()).__name__ for _, make in {**CASES, **WITHOUT_LABELS}.values()
    }


# --------------------------------------------------------------------------------------
# The command line
# --------------------------------------------------------------------------------------
def run(capsys, *arguments):
    """Standard output of a command that succeeds."""
    capsys.readouterr()
    code = cli.main(list(map(str, arguments)))
    out, err = capsys.readouterr()
    assert code == 0, err
    return out


def last_column(text):
    return [
        [line.split()[-1] for line in block.split("\n")]
        for block in text.strip().split("\n\n")
    ]


COMMANDS = {
    "perceptron": (
        ["--epochs", "2", "-a", "perceptron"],
        lambda: StructuredPerceptron(TEMPLATES, max_iter=2, random_state=0),
    ),
    "perceptron-order2": (
        ["--epochs", "2", "-a", "perceptron", "-p", "order=2"],
        lambda: StructuredPerceptron(TEMPLATES, max_iter=2, order=2, random_state=0),
    ),
    "passive-aggressive": (
        ["-a", "pa"],
        lambda: PassiveAggressiveTagger(TEMPLATES, random_state=0),
    ),
    "l1crf": (
        ["-a", "l1crf", "-p", "c1=0.3"],
        lambda: L1CRF(TEMPLATES, c1=0.3, random_state=0),
    ),
    "averager-l1crf": (
        ["-a", "l1crf", "-p", "c1=0.3", "--members", "2"],
        lambda: BaggingShuffleAverager(
            L1CRF(TEMPLATES, c1=0.3, random_state=0), 2, random_state=0
        ),
    ),
    "mixer": (
        ["--epochs", "2", "-a", "perceptron", "--shards", "2"],
        lambda: ParameterMixer(
            StructuredPerceptron(TEMPLATES, max_iter=2, random_state=0),
            2,
            random_state=0,
        ),
    ),
}
"""Options of ``train``, and what they are in Python."""


@pytest.fixture(scope="module")
def corpora(tmp_path_factory):
    """A function: the files of templates, of labelled and of unlabelled sentences."""
    folder = tmp_path_factory.mktemp("corpora")
    (folder / "template").write_text("\n".join(TEMPLATES) + "\n")
    for n_labels in (4, 17, 45):
        X, y = tokens(n_labels)
        pairs = [
            "".join(f"{w} {label}\n" for w, label in zip(*s)) + "\n" for s in zip(X, y)
        ]
        (folder / f"train{n_labels}.txt").write_text("".join(pairs))
        (folder / f"test{n_labels}.txt").write_text(
            "\n\n".join("\n".join(s) for s in X) + "\n"
        )
    return folder


@pytest.mark.parametrize("n_labels", [4, 17, 45])
@pytest.mark.parametrize("name", COMMANDS)
def test_train_and_tag_with_many_labels(name, n_labels, corpora, capsys, tmp_path):
    options, make = COMMANDS[name]
    X, y = tokens(n_labels)
    train, model = corpora / f"train{n_labels}.txt", tmp_path / "model"
    run(
        capsys,
        "train",
        train,
        "-m",
        model,
        "--template",
        corpora / "template",
        *options,
    )
    tagged = run(capsys, "tag", corpora / f"test{n_labels}.txt", "-m", model)
    assert last_column(tagged) == make().fit(X, y).predict(X)
    scores = json.loads(run(capsys, "evaluate", train, "-m", model, "--json"))
    predicted = [g for s in last_column(tagged) for g in s]
    gold = [g for s in y for g in s]
    assert scores["token_accuracy"] == pytest.approx(
        np.mean([a == b for a, b in zip(predicted, gold)])
    )
    assert f"{n_labels}" in run(capsys, "show", "-m", model)


def test_tag_with_a_kept_file(corpora, capsys):
    tagged = run(
        capsys, "tag", corpora / "test17.txt", "-m", FOLDER / "l1crf-17.skstruct"
    )
    expected = json.loads((FOLDER / "l1crf-17.json").read_text(encoding="utf-8"))
    assert last_column(tagged)[: len(expected["X"])] == expected["predict"]
