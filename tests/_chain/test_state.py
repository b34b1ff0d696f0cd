"""States of training: fresh, grown for what is new, and the model that they amount
to.
"""

import numpy as np
import pytest
from inside import model_of, training_of

from skstruct import PassiveAggressiveTagger, StructuredPerceptron
from skstruct._chain.bigram import n_trigram_rows
from skstruct._chain.state import (
    final_model,
    fresh_state,
    grow_state,
    order_of,
    store_rows,
)
from skstruct._core.store import n_rows
from skstruct._data.labels import Labels
from skstruct._training.epochs import stores_of

X = [["a", "b", "c"], ["b", "a"], ["c"]]
Y = [["D", "N", "V"], ["N", "D"], ["V"]]


def constraints(L):
    return np.zeros(L), np.zeros((L, L)), np.zeros(L)


@pytest.fixture(params=[1, 2])
def tagger(request):
    learner = PassiveAggressiveTagger(order=request.param, max_iter=3, random_state=0)
    return learner.fit(X, Y)


def test_fresh_weights_are_zero_and_have_a_row_for_all(tagger):
    model = model_of(tagger)
    rule = training_of(tagger).rule
    L = len(model.labels)
    state = fresh_state(
        model.encoder, model.labels, rule, constraints(L), np.ones(L), 7, tagger.order
    )
    assert (state.key, state.epoch, order_of(state.model)) == (7, 0, tagger.order)
    rows = store_rows(model.encoder, L, tagger.order)
    stores = stores_of(state.model)
    assert {name: n_rows(store) for name, store in stores.items()} == rows
    assert rows.get("trigrams", n_trigram_rows(L)) == n_trigram_rows(L)
    assert not any(store.value.any() for store in stores.values())


def test_a_grown_state_leaves_the_earlier_one_alone(tagger):
    before = training_of(tagger)
    model = model_of(tagger)
    kept = {name: store.value.copy() for name, store in stores_of(before.model).items()}
    labels = Labels(["A", *model.labels.values])  # old ids move by one
    L = len(labels)
    state = grow_state(
        before, model.labels, model.encoder, labels, before.rule, constraints(L), np.ones(L), False
    )  # fmt: skip
    grown = final_model(state.model, state.rule, model.encoder, labels, constraints(L))
    old = model.nodes.value.reshape(-1, L - 1)
    new = grown.nodes.value.reshape(-1, L)
    np.testing.assert_array_equal(new[:, 1:], old)
    assert not new[:, 0].any()
    edges = grown.edges.value[: L * L].reshape(L, L)
    want = model.edges.value[: (L - 1) ** 2].reshape(L - 1, L - 1)
    np.testing.assert_array_equal(edges[1:, 1:], want)
    for store in stores_of(state.model).values():
        store.value[:] = 1.0
    for name, store in stores_of(before.model).items():
        np.testing.assert_array_equal(store.value, kept[name])


def test_the_final_model_may_take_the_arrays():
    tagger = StructuredPerceptron(average=False, max_iter=3, random_state=0).fit(X, Y)
    state = training_of(tagger)
    model = model_of(tagger)
    given = state.model, state.rule, model.encoder, model.labels, model.constraints
    apart = final_model(*given)
    assert not np.shares_memory(apart.nodes.value, state.model.nodes.value)
    np.testing.assert_array_equal(final_model(*given, reuse=True).nodes.value, apart.nodes.value)  # fmt: skip
