"""Constructor parameters of conditional random fields, besides the penalties."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from .._sklearn import POSITIVE, Interval, Real, StrOptions
from ..training.parameters import (
    CountParameters,
    RunParameters,
    ScoringParameters,
    TaggerParameters,
    VerboseParameters,
    parameter,
)

NONNEGATIVE = Interval(Real, 0, None, closed="left")


@dataclass(kw_only=True, eq=False, repr=False)
class CRFParameters(TaggerParameters, CountParameters, RunParameters, ScoringParameters, VerboseParameters):
    """How an objective is minimised, and which weights it has."""

    solver: Literal["two-stage", "owlqn", "sgd"] = field(
        default="two-stage",
        metadata=parameter(
            '{"two-stage", "owlqn", "sgd"}',
            [StrOptions({"two-stage", "owlqn", "sgd"})],
            """Both stages, or the textbook method of each alone: OWL-QN from zero, or ``sgd_iter`` passes of
            SGD.""",
        ),
    )
    sgd_iter: int = field(default=2, metadata=parameter("int", [POSITIVE], "Passes of the first stage."))
    eta0: float | Literal["auto"] = field(
        default="auto",
        metadata=parameter(
            'float or "auto"',
            [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
            """Learning rate of pass k is ``eta0 * decay ** k`` (Zhou et al. 2011, equation 12). ``"auto"``:
            0.3, or less where features repeat so often within a sequence that such steps would overshoot.""",
        ),
    )
    decay: float = field(
        default=0.5,
        metadata=parameter(
            "float",
            [Interval(Real, 0, 1, closed="right")],
            "Learning rate of pass k is ``eta0 * decay ** k`` (Zhou et al. 2011, equation 12).",
        ),
    )
    line_search: bool = field(
        default=False,
        metadata=parameter(
            "bool",
            ["boolean"],
            "Try several learning rates for each sequence (Zhou et al. 2011, algorithm 1).",
        ),
    )
    max_trials: int = field(default=3, metadata=parameter("int", [POSITIVE], "Rates tried."))
    memory: int = field(
        default=80,
        metadata=parameter("int", [POSITIVE], "Steps that quasi-Newton methods remember; often 10."),
    )
    max_iter: int = field(
        default=1000,
        metadata=parameter("int", [POSITIVE], "Maximum number of full passes after the first stage."),
    )
    tol: float | None = field(
        default=None,
        metadata=parameter(
            "float or None",
            [NONNEGATIVE, None],
            """When training is near enough to the optimum. None: where ``c2 > 0`` and all labels are known,
            when the objective is at most 0.1 % above it for certain (``gap_``); else with 2e-4. A number:
            when the decrease still to be expected, extrapolated from the last twenty passes as a geometric
            series, is below ``tol`` times the objective. That is an estimate; up to five times as much has
            been seen.""",
        ),
    )
    all_pairs: bool | Literal["states", "transitions"] = field(
        default=True,
        metadata=parameter(
            'bool, "states" or "transitions"',
            ["boolean", StrOptions({"states", "transitions"})],
            """Which pairs have a weight: all pairs of feature and label (states) and of labels (transitions);
            with False only those seen in training; or all of one kind, and of the other those seen.""",
        ),
    )
