"""The passive-aggressive tagger."""

from .._sklearn import Interval, Real, StrOptions
from ..core.codes import AVERAGES, VARIANTS
from ..core.store import Rule
from ..saving.registry import savable
from .learner import TAGGER_CONSTRAINTS, OnlineTagger


@savable
class PassiveAggressiveTagger(OnlineTagger):
    """Sequence tagger trained by the online passive-aggressive algorithm.

    For each example the best *wrong* labelling is decoded exactly; if the right one does not beat it
    by a margin, the weights take the smallest step that restores the margin ([1]_, equations 2 to 14;
    [2]_).

    Parameters
    ----------
    features, order, constraints, class_weight
        As in :class:`StructuredPerceptron`. Costs of ``class_weight`` add to the margin of 1 asked for;
        with ``cost="hamming"`` they replace the cost 1 of a wrong token.
    C : float > 0, default=1.0
        Aggressiveness: largest step (PA-I), or inverse softness (PA-II).
    variant : {"PA-I", "PA", "PA-II"}, default="PA-I"
        Step ``min(C, loss / ‖Δφ‖²)``, ``loss / ‖Δφ‖²`` or ``loss / (‖Δφ‖² + 1/2C)``.
    cost : {"one", "hamming"}, default="one"
        The margin asked for: 1, or the number of wrong tokens (then also added in decoding, so that
        the labelling found is the worst offender).
    max_iter, shuffle
        As in :class:`StructuredPerceptron`.
    average : {"step", "epoch"} or None, default="step"
        Average the weights after every example, or after every epoch ([1]_, algorithm 1), or use the
        last ones.
    penalty, alpha, dropout, feature_noise, edge_noise, noise_rate, zipf_exponent, min_count
        As in :class:`StructuredPerceptron`.
    early_stopping, validation_fraction, n_iter_no_change, tol, warm_start, checkpoint, n_jobs
        As in :class:`StructuredPerceptron`.
    random_state, verbose
        As in :class:`StructuredPerceptron`.

    Attributes
    ----------
    classes_, n_iter_, history_, resumed_from_
        As in :class:`StructuredPerceptron`; the ``loss`` in the history is the sum of the hinge losses met.

    Notes
    -----
    Algorithm 1 of [1]_ prints ``w_0 ← 0`` inside the loop over epochs, which would forget every
    epoch and average ten models of one pass each. It is read as ``w_0 ← w_T`` of the epoch before,
    0 for the first: otherwise a later epoch would learn no more than the first.

    References
    ----------
    .. [1] W. Gao, X. Qiu, X. Huang (2010). Adaptive Chinese word segmentation with online
       passive-aggressive algorithm. CIPS-SIGHAN.
    .. [2] K. Crammer et al. (2006). Online passive-aggressive algorithms. JMLR 7.

    Examples
    --------
    >>> from skstruct import PassiveAggressiveTagger
    >>> X = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["the", "cat", "barks"]]
    >>> y = [["D", "N", "V"], ["D", "N", "V"], ["D", "N", "V"]]
    >>> tagger = PassiveAggressiveTagger(max_iter=5, random_state=0).fit(X, y)
    >>> tagger.predict([["a", "dog", "sleeps"]])
    [['D', 'N', 'V']]
    """

    _parameter_constraints = {
        **TAGGER_CONSTRAINTS,
        "C": [Interval(Real, 0, None, closed="neither")],
        "variant": [StrOptions(set(VARIANTS))],
        "cost": [StrOptions({"one", "hamming"})],
        "average": [StrOptions({"step", "epoch"}), None],
    }

    def __init__(
        self,
        features="auto",
        *,
        order=1,
        constraints=None,
        class_weight=None,
        C=1.0,
        variant="PA-I",
        cost="one",
        max_iter=10,
        shuffle=True,
        average="step",
        penalty=None,
        alpha=1e-6,
        dropout=0.0,
        feature_noise=None,
        edge_noise=None,
        noise_rate=0.1,
        zipf_exponent=3.0,
        min_count=1,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=3,
        tol=1e-3,
        warm_start=False,
        checkpoint=None,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.features = features
        self.order = order
        self.constraints = constraints
        self.class_weight = class_weight
        self.C = C
        self.variant = variant
        self.cost = cost
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.average = average
        self.penalty = penalty
        self.alpha = alpha
        self.dropout = dropout
        self.feature_noise = feature_noise
        self.edge_noise = edge_noise
        self.noise_rate = noise_rate
        self.zipf_exponent = zipf_exponent
        self.min_count = min_count
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.warm_start = warm_start
        self.checkpoint = checkpoint
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _rule(self):
        return Rule(
            VARIANTS[self.variant],
            float(self.C),
            self.cost == "hamming",
            self._penalty(),
            float(self.alpha),
            AVERAGES[self.average],
        )
