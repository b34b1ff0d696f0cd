"""The module that stands for a written file: its model labels."""

from skstruct._one_file.python import tagger


def test_the_example_labels():
    X = [["the", "dog"]]
    (found,) = tagger.predict(X)
    assert len(found) == 2 and set(found) <= set(tagger.labels)
    assert [each["label"] for each in tagger.explain(X[0])] == found
    assert "skstruct" in tagger.about
