"""The HTML of estimators links to the documentation, where the package says that there
is one.
"""

from email.message import Message
from importlib import metadata

import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skstruct import L1CRF, BaggingShuffleAverager, Segmenter, StructuredPerceptron
from skstruct._sklearn import documentation_site
from skstruct.features import TokenTransformer


@pytest.fixture
def site(monkeypatch):
    def name(*entries):
        message = Message()
        for entry in entries:
            message["Project-URL"] = entry
        monkeypatch.setattr(metadata, "metadata", lambda name: message)
        documentation_site.cache_clear()

    yield name
    documentation_site.cache_clear()


def test_links(site):
    site(
        "Source, https://code.example", "Documentation, https://docs.example/skstruct/"
    )
    model = Segmenter(BaggingShuffleAverager(L1CRF()))
    html = model._repr_html_()
    for name in ("Segmenter", "L1CRF"):
        assert (
            f'href="https://docs.example/skstruct/generated/skstruct.{name}.html"'
            in html
        )
    pipeline = make_pipeline(
        TokenTransformer(StandardScaler()), StructuredPerceptron()
    )._repr_html_()
    assert (
        "https://docs.example/skstruct/generated/skstruct.features.TokenTransformer.html"
        in pipeline
    )
    assert "scikit-learn.org" in pipeline, "other estimators keep their own links"


def test_no_site_no_link(site):
    site("Source, https://code.example")
    html = StructuredPerceptron()._repr_html_()
    assert (
        "generated/" not in html
        and "Documentation for StructuredPerceptron" not in html
    )
