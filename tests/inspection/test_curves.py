"""Score against size."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from skstruct import StructuredPerceptron
from skstruct.datasets import make_hmm_sequences
from skstruct.features import TokenVectorizer
from skstruct.inspection import size_curve


@pytest.fixture(scope="module")
def tagged():
    X, y = make_hmm_sequences(60, random_state=0)
    return (
        StructuredPerceptron(max_iter=3, random_state=0).fit(X[:40], y[:40]),
        X[40:],
        y[40:],
    )


def test_points_are_those_of_the_smaller_models(tagged, tmp_path):
    tagger, X, y = tagged
    curve = size_curve(tagger, X, y, keep=[1.0, 0.3], dtype="float16")
    models = [
        tagger,
        tagger.compress(dtype="float16"),
        tagger.compress(dtype="float16", keep=0.3),
    ]
    for k, model in enumerate(models):
        model.save(tmp_path / "model", training=False)
        assert curve.file_bytes[k] == (tmp_path / "model").stat().st_size
        assert curve.score[k] == model.score(X, y)
    assert (np.diff(curve.file_bytes) < 0).all()


def test_the_model_inside_of_a_pipeline_or_search_is_meant(tagged):
    _, X, y = tagged
    pipeline = make_pipeline(
        TokenVectorizer("word"), StructuredPerceptron(max_iter=2, random_state=0)
    )
    pipeline.fit(X, y)
    curve = size_curve(pipeline, X, y, keep=[0.5])
    inside = pipeline[-1], pipeline[0].transform(X)
    assert curve.score[0] == pipeline.score(X, y)
    assert curve.score[1] == inside[0].compress(keep=0.5).score(inside[1], y)
    assert curve.file_bytes[0] == inside[0].info()["file_bytes"]
    search = GridSearchCV(
        StructuredPerceptron(random_state=0), {"max_iter": [2]}, cv=2
    ).fit(X, y)
    assert size_curve(search, X, y, keep=[0.5]).score[0] == search.score(X, y)


def test_picture(tagged):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    curve = size_curve(*tagged, keep=[1.0, 0.3]).plot(color="red")
    assert curve.line_.get_xdata().tolist() == (curve.file_bytes[1:] / 1e6).tolist()
    assert curve.ax_.get_xscale() == "log" and curve.figure_ is curve.ax_.figure


def test_share_out_of_range(tagged):
    with pytest.raises(
        ValueError, match=r"keep must be a number above 0, up to 1, got 1\.5"
    ):
        size_curve(*tagged, keep=[1.5])
