"""What a corpus decides is decided by the sequences to train on, without those held
out.
"""

import numpy as np
import pytest

from skstruct import PassiveAggressiveTagger, StructuredPerceptron
from skstruct.datasets import make_hmm_sequences
from skstruct.inspection import feature_weights, transition_weights

X, Y = make_hmm_sequences(40, n_labels=4, n_words=60, max_length=12, random_state=0)


@pytest.mark.parametrize("make", [StructuredPerceptron, PassiveAggressiveTagger])
@pytest.mark.parametrize(
    "options",
    [{"class_weight": "balanced"}, {"min_count": 2}, {"all_pairs": False}],
    ids=str,
)
def test_a_part_of_x_that_is_held_out_decides_nothing(make, options):
    """Costs, features and pairs are those of a fit to the rest; `X_val` never
    counts.
    """
    given = {
        "random_state": 0,
        "max_iter": 3,
        "shuffle": False,
        "average": None,
        **options,
    }
    if make is StructuredPerceptron:
        given["average"] = False
    judged = make(
        **given, early_stopping=True, n_iter_no_change=9, validation_fraction=0.5
    ).fit(X, Y)
    order = np.random.RandomState(0).permutation(len(X))
    rest = np.sort(order[len(X) // 2 :])
    held_out = (
        [X[i] for i in order[: len(X) // 2]],
        [Y[i] for i in order[: len(X) // 2]],
    )
    part = [X[i] for i in rest], [Y[i] for i in rest]
    alone = make(**given, early_stopping=True, n_iter_no_change=9)
    alone.fit(*part, X_val=held_out[0], y_val=held_out[1])
    assert alone.classes_.tolist() == judged.classes_.tolist()
    # By name: without a count cut-off, boundaries beside sequences that are left out
    # have rows, too.
    assert sorted(feature_weights(alone)) == sorted(feature_weights(judged))
    np.testing.assert_array_equal(transition_weights(alone), transition_weights(judged))
