"""The fitted re-ranker: names of its features, what it chooses, and its F1."""

import numpy as np
import pytest
from inside import model_of, run_and_lattices_of

from skstruct import KBestReranker, Segmenter, StructuredPerceptron
from skstruct._words.reranker_epoch import ATOMS
from skstruct._words.reranker_model import f1_of, feature_names
from skstruct._words.word_lattice import adapter_of, lattices_of, make_task

X = ["ab ba", "aab", "bab", "abab", "baab", "ba"]
Y = [["ab", "ba"], ["a", "ab"], ["b", "ab"], ["ab", "ab"], ["ba", "ab"], ["ba"]]


def new():
    tagger = StructuredPerceptron("char", max_iter=2, random_state=0)
    return KBestReranker(Segmenter(tagger), k=3, cv=2, max_iter=3, random_state=0)


@pytest.fixture(scope="module")
def fitted():
    return new().fit(X, Y)


def test_names_of_features_say_their_atoms(fitted):
    model = model_of(fitted)
    names = feature_names(model, np.arange(model.n_features))
    assert len(set(names)) == model.n_features
    atoms = [[atom.partition("=")[0] for atom in name.split()] for name in names]
    assert all(found in ATOMS for found in atoms)
    assert any(name.startswith("w=ab w-1=") for name in names)
    assert "w=ba w-1=#" in names  # the start of a text
    (weights,) = model.named_weights()
    assert weights.labels == ["path"]
    assert weights.names(np.array([2, 0])) == [names[2], names[0]]


def test_the_nodes_chosen_make_one_path(fitted):
    model, view = model_of(fitted), adapter_of(fitted.base_)
    checked = view.check_X([*X, ""])
    lattices = lattices_of(view, fitted.base_, checked, 3)
    task = make_task(lattices, view.lengths(checked), model.words, model.tags)
    chosen, scores = model.choose(task)
    assert scores.shape == (7,) and scores[-1] == 0.0
    for i, text in enumerate([*X, ""]):
        nodes = np.flatnonzero(chosen[task.node[i] : task.node[i + 1]])
        words = [lattices[i][j][2] for j in nodes]
        assert "".join(words) == text.replace(" ", "")


def test_f1_of_nodes():
    run, lattices = run_and_lattices_of(new(), X, Y)
    task, n_items = run.task, sum(map(len, Y))
    nothing = np.zeros(task.begin.shape[0], np.bool_)
    assert f1_of(task, nothing, n_items) == 0.0
    assert f1_of(task, nothing, 0) == 0.0
    right = task.right > 1
    n = np.count_nonzero(right)
    assert f1_of(task, right, n_items) == 2 * n / (n + n_items)
    assert 0.0 < run.oracle <= 1.0 and len(lattices) == len(X)
