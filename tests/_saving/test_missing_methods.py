"""Estimators say why they lack a method."""

import pytest

import skstruct
from skstruct._saving.missing_methods import REASONS


@pytest.mark.parametrize("method", REASONS)
def test_reasons_are_told_of_methods_that_are_missing(method):
    said = REASONS[method]
    for name in filter(None, said):
        cls = getattr(skstruct, name)
        if not hasattr(cls, method):
            with pytest.raises(AttributeError) as error:
                getattr(cls.__new__(cls), method)
            assert str(error.value).endswith(f"{method!r}: {name} {said[name]}")


@pytest.mark.parametrize("name", ["coef_", "feature_importances_"])
def test_names_of_other_linear_models_lead_to_the_weights(name):
    tagger = skstruct.StructuredPerceptron()
    assert not hasattr(tagger, name)
    with pytest.raises(AttributeError, match=r"inspection\.feature_weights"):
        getattr(tagger, name)


def test_other_names_are_python_s_business():
    with pytest.raises(AttributeError, match="has no attribute 'nothing'$"):
        skstruct.L1CRF().nothing  # noqa: B018
    assert not hasattr(skstruct.L1CRF(), "partial_fit")
