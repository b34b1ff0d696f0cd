"""What a verbose CRF prints."""

import os
import re
import signal

import pytest
from inside import before_each_line

from skstruct import L1CRF
from skstruct.datasets import load_chunking

X, y = load_chunking()
X, y = X[:20], y[:20]


@pytest.mark.parametrize(
    "options, aim",
    [
        ({"c2": 0.0}, "at 0.0002 of it by extrapolation"),
        ({}, "training until the objective is within 0.1% of its minimum"),
        ({"tol": 1e-3}, "until tol=0.001 of the objective are left"),
        ({"solver": "sgd", "sgd_iter": 3}, "3 passes of stochastic gradient descent"),
    ],
)
def test_the_log_says_aim_passes_and_end(capsys, options, aim):
    crf = L1CRF(random_state=0, verbose=1, **options).fit(X, y)
    first, *passes, last = capsys.readouterr().out.splitlines()
    assert aim in first
    numbers = [int(re.match(r"pass (\d+) \(", line)[1]) for line in passes]
    assert numbers == list(range(1, len(crf.history_) + 1))
    assert f"objective {crf.objective_:.6g}" in last
    if not options:
        assert f"at most {crf.gap_:.2%} above its minimum" in last


@pytest.mark.skipif(os.name == "nt", reason="sends a signal")
def test_a_fit_that_is_interrupted_says_what_the_estimator_holds(monkeypatch):
    before_each_line(monkeypatch, lambda _: signal.raise_signal(signal.SIGINT))
    crf = L1CRF(random_state=0, verbose=1)
    with pytest.raises(KeyboardInterrupt, match="has the weights that it had reached"):
        crf.fit(X, y)
    assert len(crf.predict(X[:1])[0]) == len(X[0])
