"""Why this label? Weights by the names of their features, and the parts that make up a path's score.

A labelling scores the sum of the weights of its features (see ``chain.bigram``). Nothing here
approximates that: :func:`explain` lists every summand of every token. Features are named as
``features.names`` says: ``U05:the/dog`` for the template ``U05:%x[-1,0]/%x[0,0]``.

Word segmenters and re-rankers are explained too; of parsers :func:`feature_weights` lists the weights. What
these functions return prints as text, is drawn by notebooks, and turns into frames and dicts.
:func:`render` draws corpora beside predictions. How far the probabilities of a tagger can be trusted,
:class:`ReliabilityDisplay` draws.
"""

from .coefficients_of import Coefficients, coefficients
from .error_lists import Confusion, Errors, Example, errors
from .explaining import explain
from .feature_lists import feature_weights, features_of, transition_weights
from .html import Html
from .pictures import render
from .reliability import ReliabilityDisplay
from .rendering import Counterfactual, Explanation, TokenExplanation
from .weight_tables import FeatureWeight, FeatureWeights, TransitionWeights

__all__ = [
    "Coefficients",
    "Confusion",
    "Counterfactual",
    "Errors",
    "Example",
    "Explanation",
    "FeatureWeight",
    "FeatureWeights",
    "Html",
    "ReliabilityDisplay",
    "TokenExplanation",
    "TransitionWeights",
    "coefficients",
    "errors",
    "explain",
    "feature_weights",
    "features_of",
    "render",
    "transition_weights",
]
