"""The fitted word segmenter: averages, smaller models, and the two ways to predict."""

import numpy as np
import pytest
from inside import model_of, run_of
from word_segmenter_cases import X, Y, new

from skstruct._core.codes import START
from skstruct._data.segmented import as_pieces
from skstruct._words.boundaries import white_space_limits
from skstruct._words.word_model import WordModel, make_task
from skstruct._words.word_names import features, words_come_first


@pytest.fixture(scope="module", params=["zsz18", "zc14"])
def models(request):
    segmenter = new(templates=request.param, max_iter=2)
    return [
        model_of(segmenter.fit(X[begin : begin + 40], Y[begin : begin + 40]))
        for begin in (0, 40)
    ]


def by_feature(model):
    names = features(model.arrays.templates, model.keys())
    return dict(zip(names, model.weights.value.reshape(len(names), -1).tolist()))


def test_an_average_is_that_of_each_feature(models):
    first, second = map(by_feature, models)
    average = by_feature(WordModel.average(iter(models), nonzero=False))
    assert average.keys() == first.keys() | second.keys()
    nothing = [0.0] * models[0].weights.columns
    for name, row in average.items():
        both = [first.get(name, nothing), second.get(name, nothing)]
        np.testing.assert_allclose(row, np.mean(both, axis=0), atol=1e-12)
    alone = WordModel.average(iter(models[:1]), nonzero=True)
    assert by_feature(alone) == first and alone.beam == models[0].beam


def test_a_smaller_model_keeps_the_words_that_features_hold(models):
    model = models[0]
    keys = model.keys()
    used = np.zeros(len(keys), np.bool_)
    used[-1] = True
    rows, kept = model.rows_to_keep(keys, used)
    assert rows[-1] == len(keys) - 1 and words_come_first(model.arrays.templates, kept)
    templates = model.arrays.templates
    assert features(templates, kept) == features(templates, keys, rows)
    smaller = model.compressed("float64", 1.0)
    assert smaller.n_features <= model.n_features
    pieces = as_pieces(X[:30])
    assert smaller.predict(pieces)[0] == model.predict(pieces)[0]


def test_the_best_is_the_first_of_the_k_best(models):
    pieces = as_pieces([*X[:30], "", " a b "])
    for model in models:
        words, scores = model.predict(pieces)
        ranked = model.predict_kbest(pieces, 3)
        assert [of_text[0][0] for of_text in ranked] == words
        np.testing.assert_allclose([of_text[0][1] for of_text in ranked], scores)
        assert words[30] == [] and scores[30] == 0.0 and words[31] == ["a", "b"]


def test_tasks_hold_characters_and_limits():
    pieces = as_pieces(["ab c", "", "d"])
    task = make_task(["".join(parts) for parts in pieces], white_space_limits(pieces))
    assert task.token.tolist() == [0, 3, 3, 4]
    assert [chr(code - 1) for code in task.char.tolist()] == list("abcd")
    assert (task.limit == START).tolist() == [True, False, True, True]
    assert task.gold.size == 0 and task.weight.tolist() == [1.0, 1.0, 1.0]


def test_shards_share_their_keys():
    run = run_of(new(), X[:5], Y[:5])
    whole, plans = type(run).merged([run.vocabulary(1)] * 2, run.estimator, 3)
    assert plans == [{}, {}] and whole.state.key == 3
    task = run.task
    run.adopt(plans[0])
    assert run.task is task
