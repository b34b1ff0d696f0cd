"""Inspection of models: what they know, why they predict so, and what is wrong.

A labelling scores the sum of the weights of its features (see ``_chain.bigram``).
Nothing here approximates that: :func:`explain` lists every summand of every token.
Features are named as ``features.template_rows`` says: ``U05:the/dog`` for the template
``U05:%x[-1,0]/%x[0,0]``.

Word segmenters, re-rankers and parsers are explained too. What these functions return
prints as text, is drawn by notebooks, and turns into frames and dicts. :func:`render`
draws corpora beside predictions. The displays draw with matplotlib, in the manner of
scikit-learn's.
"""

from .curves import RegularizationPathDisplay, SizeCurve, size_curve
from .displays import FeatureWeightsDisplay, HistoryDisplay
from .error_lists import Confusion, Errors, errors
from .explaining import explain
from .explanations import (
    ArcExplanation,
    Counterfactual,
    Explanation,
    TokenExplanation,
    TreeExplanation,
)
from .feature_lists import (
    Coefficients,
    coefficients,
    feature_weights,
    features_of,
    transition_weights,
)
from .findings import Finding, Findings, Where
from .forgetting import Forgetting, LabelChange, forgetting
from .html import Html
from .issues import label_issues
from .label_displays import LabelConfusionDisplay, TransitionDisplay
from .out_of_fold import out_of_fold_marginals
from .pictures import render
from .precision_recall import SpanPrecisionRecallDisplay
from .reliability import ReliabilityDisplay
from .report_page import Report, report
from .selection import select
from .thresholds import SpanThresholds, TypeThreshold, thresholds_for
from .weight_tables import FeatureWeight, FeatureWeights, TransitionWeights

# Why a sequence is labelled so
__all__ = ["explain", "Explanation", "TokenExplanation", "Counterfactual"]
__all__ += ["TreeExplanation", "ArcExplanation"]
# What a model knows
__all__ += [
    "feature_weights",
    "FeatureWeights",
    "FeatureWeight",
    "transition_weights",
    "TransitionWeights",
]
__all__ += ["coefficients", "Coefficients", "features_of"]
# What it gets right and wrong, and what to label next
__all__ += [
    "render",
    "Html",
    "errors",
    "Errors",
    "Confusion",
    "report",
    "Report",
    "select",
]
__all__ += [
    "label_issues",
    "Finding",
    "Findings",
    "Where",
    "out_of_fold_marginals",
    "forgetting",
    "Forgetting",
    "LabelChange",
    "thresholds_for",
    "SpanThresholds",
    "TypeThreshold",
]
# Pictures of matplotlib
__all__ += [
    "FeatureWeightsDisplay",
    "HistoryDisplay",
    "LabelConfusionDisplay",
    "RegularizationPathDisplay",
]
__all__ += ["ReliabilityDisplay", "TransitionDisplay", "size_curve", "SizeCurve"]
__all__ += ["SpanPrecisionRecallDisplay"]


def __dir__() -> list[str]:
    """Return what completion offers: public names, and no modules of builders."""
    return sorted(__all__)
