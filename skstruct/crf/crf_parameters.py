"""Constructor parameters of conditional random fields, besides the penalties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .._sklearn import Interval, Real, StrOptions
from ..taggers.sequence_tagger import TaggerParameters
from ..training.parameters import TrainingParameters, parameter

NONNEGATIVE = Interval(Real, 0, None, closed="left")
LARGEST_PENALTY = 1e100
"""Twice a strength, times a weight, has to be a number."""
STRENGTH = Interval(Real, 0, LARGEST_PENALTY, closed="both")


def are_strengths(values):
    """Whether numbers can be the strengths of penalties; nan cannot."""
    return all(0.0 <= value <= LARGEST_PENALTY for value in values)


@dataclass(kw_only=True, eq=False, repr=False)
class CRFParameters(TaggerParameters, TrainingParameters):
    """How an objective is minimised, and which weights it has."""

    _least_seen = 0.0
    """How often training has to show a pair of one of the kinds of which ``all_pairs`` does not take all."""

    solver: Literal["two-stage", "owlqn", "sgd"] = parameter(
        "two-stage",
        """Both stages, or the textbook method of each alone: OWL-QN from zero, or ``sgd_iter`` passes of
        SGD.""",
    )
    sgd_iter: int = parameter(2, "Passes of the first stage.")
    eta0: float | Literal["auto"] = parameter(
        "auto",
        """Learning rate of pass k is ``eta0 * decay ** k`` (Zhou et al. 2011, equation 12). ``"auto"``: 0.3,
        or less where features repeat so often within a sequence that such steps would overshoot.""",
        'float or "auto"',
        [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
    )
    decay: float = parameter(
        0.5,
        "Learning rate of pass k is ``eta0 * decay ** k`` (Zhou et al. 2011, equation 12).",
        "float",
        [Interval(Real, 0, 1, closed="right")],
    )
    line_search: bool = parameter(
        False, "Try several learning rates for each sequence (Zhou et al. 2011, algorithm 1)."
    )
    max_trials: int = parameter(3, "Rates tried.")
    memory: int = parameter(80, "Steps that quasi-Newton methods remember; often 10.")
    max_iter: int = parameter(1000, "Maximum number of full passes after the first stage.")
    tol: float | None = parameter(
        None,
        """When training is near enough to the optimum. A number: when the decrease still to be expected,
        extrapolated from the last twenty passes as a geometric series, is below ``tol`` times the objective.
        That is an estimate; up to five times as much has been seen. None: if ``c2`` is not 0 and all labels
        are known, when the objective is at most 0.1 % above the optimum for certain (``gap_``), or, since
        that bound is loose for small ``c2``, as with ``tol=1e-5``; otherwise as with ``tol=2e-4``.""",
        "float or None",
        [NONNEGATIVE, None],
    )
    all_pairs: bool | Literal["states", "transitions"] = parameter(
        True,
        """Which pairs have a weight: all pairs of feature and label (states) and of labels (transitions);
        with False only those seen in training; or all of one kind, and of the other those seen.""",
        'bool, "states" or "transitions"',
        ["boolean", StrOptions({"states", "transitions"})],
    )
