"""What files keep of chains comes back as it was; what they lack has its default."""

import numpy as np
import pytest
from inside import model_of

from skstruct import StructuredPerceptron, load
from skstruct._chain.chain_fields import SIZES

X = [["a", "b", "c"], ["b", "a"]]
Y = [["B-x", "I-x", "O"], ["O", "B-x"]]


@pytest.mark.parametrize("order", [1, 2])
def test_constraints_and_stores_come_back(order, tmp_path):
    tagger = StructuredPerceptron(
        constraints="BIO", order=order, max_iter=3, random_state=0
    ).fit(X, Y)
    tagger.save(tmp_path / "model")
    found = model_of(load(tmp_path / "model"))
    want = model_of(tagger)
    assert np.isneginf(want.constraints[1]).any()
    for a, b in zip(found.constraints, want.constraints):
        np.testing.assert_array_equal(a, b)
    assert found.stores().keys() == want.stores().keys()
    assert ("trigrams" in found.stores()) == (order == 2)
    for name, store in want.stores().items():
        np.testing.assert_array_equal(found.stores()[name].value, store.value)


def test_sizes_follow_from_labels_and_encoder():
    tagger = StructuredPerceptron(["U:%x[0,0]", "B:%x[0,0]"], max_iter=2).fit(X, Y)
    model = model_of(tagger)
    f = {"labels": model.labels, "encoder": model.encoder, "L": 3}
    sizes = {name: size(f) for name, size in SIZES.items()}
    assert sizes["L"] == 3
    assert sizes["R"] * 3 == model.nodes.value.size
    assert sizes["E × L"] * 3 == model.edges.value.size
    assert sizes["L × (L + 1)"] == 12
