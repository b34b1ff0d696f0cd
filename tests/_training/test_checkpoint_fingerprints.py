"""Which fits share a checkpoint: those with the same data and scorer, in the same
version.
"""

from functools import partial

import numpy as np
import pytest
from inside import after_each_report
from sklearn.base import clone
from sklearn.metrics import accuracy_score, make_scorer

from skstruct import SequenceMatrix, StructuredPerceptron
from skstruct._training import checkpoint
from skstruct._training.checkpoint import fingerprint
from skstruct.datasets import make_hmm_sequences

X, Y = make_hmm_sequences(60, n_labels=4, n_words=60, max_length=12, random_state=0)
X, Y, X_VAL, Y_VAL = X[:40], Y[:40], X[40:], Y[40:]


class Stop(Exception):
    """Stands for the end of the process."""


def perceptron(**parameters):
    return StructuredPerceptron(**{"max_iter": 4, "random_state": 0, **parameters})


def scores_of(estimator):
    return [record["validation_score"] for record in estimator.history_]


def stopped_after(n, model, monkeypatch, *corpus, **held_out):
    """The model, whose fit was killed after n epochs."""
    with monkeypatch.context() as patch:
        left = iter(range(n))

        def stop(run):
            if next(left) == n - 1:
                raise Stop

        after_each_report(patch, stop)
        with pytest.raises(Stop):
            model.fit(*corpus, **held_out)
    return model


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_fit_on_tables_of_strings_and_numbers_resumes(library, tmp_path, monkeypatch):
    library = pytest.importorskip(library)
    sentences = np.repeat(np.arange(len(X)), [len(x) for x in X])
    words = [word for x in X for word in x]
    table = library.DataFrame(
        {"s": sentences, "word": words, "size": [float(len(w)) for w in words]}
    )
    tokens = SequenceMatrix.from_frame(table, "s")
    held_out = {"X_val": tokens[30:], "y_val": Y[30:]}
    model = perceptron(checkpoint=tmp_path, features=["U:%x[0,0]", "B"])
    stopped_after(2, model, monkeypatch, tokens[:30], Y[:30], **held_out)
    again = clone(model).fit(tokens[:30], Y[:30], X_val=tokens[29:], y_val=Y[29:])
    assert again.resumed_from_ == 0 and len(list(tmp_path.iterdir())) == 1
    assert clone(model).fit(tokens[:30], Y[:30], **held_out).resumed_from_ == 2
    assert not list(tmp_path.iterdir())


class Weighted:
    """A scorer with a state of its own."""

    def __init__(self, weight):
        self.weight = weight

    def __call__(self, estimator, X, y):
        return self.weight * estimator.score(X, y)


def scaled(weight):
    return lambda estimator, X, y: weight * estimator.score(X, y)


@pytest.mark.parametrize(
    "one, same, other",
    [
        (scaled(1.0), scaled(1.0), scaled(2.0)),
        (Weighted(1.0), Weighted(1.0), Weighted(2.0)),
        (
            lambda e, X, y: e.score(X, y),
            lambda e, X, y: e.score(X, y),
            lambda e, X, y: -e.score(X, y),
        ),
        (
            partial(scaled(1.0), y=1),
            partial(scaled(1.0), y=1),
            partial(scaled(1.0), y=2),
        ),
        (
            make_scorer(accuracy_score),
            make_scorer(accuracy_score),
            make_scorer(lambda a, b: 0.5),
        ),
    ],
    ids=["closures", "objects", "lambdas", "partial", "scikit-learn"],
)
def test_two_scorers_of_one_name_have_two_checkpoints(one, same, other):
    names = [fingerprint({"scoring": scoring}, {}) for scoring in (one, same, other)]
    assert names[0] == names[1] != names[2]


def test_a_fit_with_another_scorer_of_the_same_name_starts_anew(tmp_path, monkeypatch):
    held_out = {"X_val": X_VAL, "y_val": Y_VAL}
    stopped_after(
        2,
        perceptron(checkpoint=tmp_path, scoring=scaled(1.0)),
        monkeypatch,
        X,
        Y,
        **held_out,
    )
    model = perceptron(checkpoint=tmp_path, scoring=scaled(0.5)).fit(X, Y, **held_out)
    assert model.resumed_from_ == 0 and max(scores_of(model)) <= 0.5
    assert (
        perceptron(checkpoint=tmp_path, scoring=scaled(1.0))
        .fit(X, Y, **held_out)
        .resumed_from_
        == 2
    )


def test_a_scorer_that_nothing_tells_from_others_is_refused():
    with pytest.raises(
        ValueError, match="checkpoint: nothing tells object <object object"
    ):
        fingerprint({"scoring": partial(scaled(1.0), object())}, {})


def test_a_state_of_another_version_is_not_gone_on_from(tmp_path, monkeypatch):
    stopped_after(2, perceptron(checkpoint=tmp_path), monkeypatch, X, Y)
    monkeypatch.setattr(checkpoint, "__version__", "0.0.9")
    assert perceptron(checkpoint=tmp_path).fit(X, Y).resumed_from_ == 0
    monkeypatch.undo()
    assert perceptron(checkpoint=tmp_path).fit(X, Y).resumed_from_ == 2
