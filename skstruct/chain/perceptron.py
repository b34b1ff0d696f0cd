"""The structured perceptron."""

from ..core.codes import AVERAGES, PERCEPTRON
from ..core.store import Rule
from ..saving.registry import savable
from .learner import TAGGER_CONSTRAINTS, OnlineTagger


@savable
class StructuredPerceptron(OnlineTagger):
    """Sequence tagger trained by the averaged structured perceptron.

    For each example the best labelling under the current weights is decoded; if it is wrong, the
    weights step towards the features of the right labelling and away from those of the wrong one
    [1]_. Averaging, penalties and dropout follow [2]_, corruption of features [3]_.

    Parameters
    ----------
    features : str, path, list of str or FeatureTemplates, default="auto"
        Which features tokens that are str or tuples of str have: ``"auto"`` (from the look of the
        tokens), a preset (``"char"``, ``"char-av"``, ``"chunk"``, ``"word"``, ``"collins"``,
        ``"char-best"``, ``"chunk-best"``, ``"word-best"``; see ``skstruct.features.presets``), template
        strings or a template file in CRF++ syntax. Tokens that are dicts or lists of str bring their own
        features.
    order : {1, 2}, default=1
        Label history: 1 for bigrams of labels, 2 for trigrams besides ([1]_; the first two labels make one
        with the start of the sequence). Decoding is exact with both; with 2 its time grows with the third
        power of the number of labels at worst, and with the second as a rule.
    constraints : str, iterable of pairs or None, default=None
        Labellings allowed, in training and prediction: the name of a label scheme (``"BIO"``,
        ``"IOB1"``, ``"BIOES"``, ``"BMES"``, ``"BI"``, ``"B2B3MES"``), or (previous, next) pairs of
        labels; in a pair, None stands for the start or end of a sequence.
    class_weight : dict, "balanced" or None, default=None
        Cost, in score, of missing a token of a label, added in training decoding. A dict maps labels
        to costs; labels it lacks cost nothing extra. ``"balanced"`` is inverse to frequency, 1 on
        average over tokens.
    max_iter : int, default=10
        Epochs.
    shuffle : bool, default=True
        Draw a new order of examples for each epoch.
    average : bool, default=True
        Use the average of the weights after every example visited ([2]_, equation 6).
    penalty : {"l1", "l1-cumulative", "l2"} or None, default=None
        Penalty on the weights, applied once per example visited ([2]_, equations 9 to 17). Under the
        cumulative penalty a feature that is new to ``partial_fit`` owes the penalty of all steps so
        far (equation 14): it is hard to enter late.
    alpha : float in [0, 1), default=1e-6
        Strength of the penalty per example visited.
    dropout : float in [0, 1), default=0.0
        Probability that an input token is masked for one visit of its sequence ([2]_, equation 18).
        Columns of a token are masked independently; templates may read 64 columns at most then.
    feature_noise : {"dropout", "zipf"} or None, default=None
        Corruption of features, drawn once per feature and visit: left out with probability
        ``noise_rate`` ([2]_, equation 20), or counted 1/ξ with Zipfian ξ ([3]_).
    edge_noise : {"same", "dropout", "zipf"} or None, default=None
        The same for label transitions; ``"same"`` follows ``feature_noise``.
    noise_rate : float in [0, 1), default=0.1
        Rate of feature dropout.
    zipf_exponent : float > 1, default=3.0
        Exponent of the Zipf distribution.
    min_count : int, default=1
        Features seen fewer times in training are left out.
    early_stopping : bool, default=False
        Hold out a part of the sequences, stop when their token accuracy no longer improves, and
        keep the best epoch.
    validation_fraction : float in (0, 1), default=0.1
        Share of the sequences held out.
    n_iter_no_change : int, default=3
        Epochs without improvement to wait.
    tol : float, default=1e-3
        What counts as improvement, in token accuracy.
    warm_start : bool, default=False
        Let ``fit`` go on from the weights of the last one; features and labels may be new.
    checkpoint : str, path or None, default=None
        Folder where ``fit`` keeps its state after each epoch, under a name made from parameters and data.
        A fit that finds its own state goes on from there and ends as if it had never stopped; a finished
        fit removes its file.
    n_jobs : int or None, default=None
        Threads in prediction.
    random_state : int, RandomState instance or None, default=None
        Determines orders, noise and the held-out part.
    verbose : int, default=0
        Print a line for each epoch.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        The labels, sorted.
    n_iter_ : int
        Epochs completed.
    history_ : list of dict
        For each epoch: ``epoch`` (counted from 1, and on over continued fits), ``updates`` (sequences
        predicted wrongly), ``sequence_error``, ``token_error``, ``loss`` (here the same as ``updates``),
        ``seconds``, ``complete`` (False if Ctrl-C cut the epoch short), and ``validation_score`` with early
        stopping.
    resumed_from_ : int
        Epochs that came from the checkpoint; there only if ``checkpoint`` is given.

    References
    ----------
    .. [1] M. Collins (2002). Discriminative training methods for hidden Markov models: theory and
       experiments with perceptron algorithms. EMNLP.
    .. [2] K. Zhang, J. Su, C. Zhou (2014). Regularized structured perceptron: a case study on Chinese
       word segmentation, POS tagging and parsing. EACL.
    .. [3] A. Søgaard (2013). Zipfian corruptions for robust POS tagging. NAACL.

    Examples
    --------
    >>> from skstruct import StructuredPerceptron
    >>> X = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["the", "cat", "barks"]]
    >>> y = [["D", "N", "V"], ["D", "N", "V"], ["D", "N", "V"]]
    >>> tagger = StructuredPerceptron(max_iter=5, random_state=0).fit(X, y)
    >>> tagger.predict([["a", "dog", "sleeps"]])
    [['D', 'N', 'V']]
    """

    _parameter_constraints = {**TAGGER_CONSTRAINTS, "average": ["boolean"]}

    def __init__(
        self,
        features="auto",
        *,
        order=1,
        constraints=None,
        class_weight=None,
        max_iter=10,
        shuffle=True,
        average=True,
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
        return Rule(PERCEPTRON, 0.0, False, self._penalty(), float(self.alpha), AVERAGES[bool(self.average)])
