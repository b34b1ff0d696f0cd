"""Predictions of models whose weights were summed or scaled in another order.

Such models agree to rounding, so that labellings whose scores tie to the last digit may
change places, as they may with kernels for another processor. What is promised is
compared: labels where the best labelling wins by more than `MARGIN`.
"""

MARGIN = 1e-9


def assert_same_where_decided(model, X, expected, found):
    """Compare the predictions of two models for the same sequences.

    Parameters
    ----------
    model : estimator
        The one that predicted ``expected``. Where it has ``predict_kbest``, a sequence
        is passed over whose two best labellings are nearer than ``MARGIN``.
    X : list of sequences
    expected, found : lists of labellings
    """
    assert len(expected) == len(found) == len(X)
    odd = [i for i, pair in enumerate(zip(expected, found)) if pair[0] != pair[1]]
    if not odd:
        return
    ranked = model.predict_kbest([X[i] for i in odd], 20)
    for i, labellings in zip(odd, ranked):
        best = labellings[0][1]
        tied = [labels for labels, score in labellings if best - score <= MARGIN]
        assert list(found[i]) in list(map(list, tied)), (expected[i], found[i])
