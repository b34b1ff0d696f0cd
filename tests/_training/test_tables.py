"""Models whose features get their rows while they learn."""

import numpy as np
import pytest
from inside import model_of, training_of

from skstruct import WordSegmenter
from skstruct._training.epochs import stores_of
from skstruct._training.tables import check_unchanged, copy_state

TEXTS = ["abcab", "cab", "abab", "bca"]
WORDS = [["ab", "c", "ab"], ["c", "ab"], ["ab", "ab"], ["b", "c", "a"]]


@pytest.fixture
def segmenter():
    return WordSegmenter(max_iter=4, random_state=0).fit(TEXTS, WORDS)


def test_every_feature_has_one_key(segmenter):
    model = model_of(segmenter)
    keys = model.keys()
    assert keys.shape == (model.table("").entries[0], 3)
    assert len(np.unique(keys, axis=0)) == len(keys)
    assert sum(len(model.keys(prefix)) for prefix in model.TABLES) == model.n_features


def test_a_compressed_model_lacks_what_has_no_weight(segmenter):
    model = model_of(segmenter)
    small = model.compressed("float64", 1.0)
    assert small.packed == "float64" and model.packed is None
    assert small.n_features <= model.n_features
    known = set(map(tuple, model.keys().tolist()))
    assert set(map(tuple, small.keys().tolist())) <= known
    assert small.sizes()[2] == model.sizes()[2]
    smaller = segmenter.compress(dtype="float64")
    assert smaller.predict(TEXTS) == segmenter.predict(TEXTS)


def test_a_copied_state_shares_no_weights(segmenter):
    before = training_of(segmenter)
    kept = {name: store.value.copy() for name, store in stores_of(before.model).items()}
    state = copy_state(before, before.rule)
    assert (state.key, state.epoch) == (before.key, before.epoch)
    for store in stores_of(state.model).values():
        store.value[:] = 1.0
    for name, store in stores_of(before.model).items():
        np.testing.assert_array_equal(store.value, kept[name])
    state.history.append({})
    assert len(before.history) == 4


def test_a_stream_after_a_fit_begins_a_new_average(segmenter):
    before = training_of(segmenter)
    assert copy_state(before, before.rule, stream=True).model.clock.step[1] == 0
    assert copy_state(before, before.rule).model.clock.step[1] > 0


def test_parameters_that_must_stay(segmenter):
    check_unchanged(segmenter, beam_size=(4, 4))
    with pytest.raises(
        ValueError, match="beam_size=.* differs from that of the training"
    ):
        check_unchanged(segmenter, beam_size=(4, 5))
