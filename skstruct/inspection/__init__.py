"""Why this label? Weights by the names of their features, and the parts that make up a path's score.

A labelling scores the sum of the weights of its features (see ``chain.bigram``). Nothing here
approximates that: :func:`explain` lists every summand of every token. Features are named as
``features.names`` says: ``U05:the/dog`` for the template ``U05:%x[-1,0]/%x[0,0]``.

Of word segmenters and parsers :func:`feature_weights` lists the weights too; paths are explained of taggers
only. How far the probabilities of a tagger can be trusted, :class:`ReliabilityDisplay` draws.
"""

from .coefficients_of import Coefficients, coefficients
from .explaining import explain
from .feature_lists import FeatureWeight, feature_weights, features_of, transition_weights
from .reliability import ReliabilityDisplay
from .rendering import Explanation, TokenExplanation
from .sizes import SizeCurve, size_curve

__all__ = [
    "Coefficients",
    "Explanation",
    "FeatureWeight",
    "ReliabilityDisplay",
    "SizeCurve",
    "TokenExplanation",
    "coefficients",
    "explain",
    "feature_weights",
    "features_of",
    "size_curve",
    "transition_weights",
]
