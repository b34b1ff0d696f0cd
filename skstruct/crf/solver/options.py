"""What an objective and a solver are asked to do."""

from typing import NamedTuple

import numpy as np

from .corpus_sums import Potentials


class ObjectiveOptions(NamedTuple):
    """What an objective is made of besides the corpus; L labels."""

    c1: float = 1.0
    c2: float = 0.0
    all_states: bool = True  # also pairs of feature and label that the corpus does not show
    all_transitions: bool = True  # also pairs of labels that it does not show
    least_seen: float = 0.0  # of these kinds only pairs that it shows so often
    bigram: bool = True  # whether pairs of labels have weights
    start: np.ndarray | None = None  # constraints: (L,) 0 or -inf
    allowed: np.ndarray | None = None  # (L, L) [previous, next]
    end: np.ndarray | None = None  # (L,)
    cost: np.ndarray | None = None  # (L,): missing a token of label y gains cost[y] (softmax-margin)

    def potentials(self, L):
        """Scores that all tokens share, with weights zero."""

        def filled(array, *shape):
            return np.zeros(shape) if array is None else np.array(array, float)

        return Potentials(
            filled(self.allowed, L, L), filled(self.start, L), filled(self.end, L), filled(self.cost, L)
        )


class SolverOptions(NamedTuple):
    """How to minimise; the names are the parameters of :class:`.L1CRF`."""

    solver: str = "two-stage"  # one of SOLVERS
    sgd_iter: int = 2  # passes of stage one; may be 0
    eta0: float | str = "auto"  # equation 12
    decay: float = 0.5
    line_search: bool = False
    max_trials: int = 3  # rates tried for each sequence
    memory: int = 80  # pairs kept for the Hessian
    max_iter: int = 1000  # iterations of stage two; each is a pass, seldom two
    tol: float | None = None  # see StoppingRule
