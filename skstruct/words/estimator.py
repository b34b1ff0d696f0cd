"""The word-based segmenter: beam search over words, trained by the structured perceptron.

Place on the ladder: rung 7. What is searched and learned is in `skstruct.words.epoch`.
"""

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._sklearn import POSITIVE, StrOptions, sample_weights, with_callbacks
from ..core.codes import AVERAGES, PERCEPTRON, UPDATES, WORD_TEMPLATES
from ..core.store import Rule
from ..data.inputs import Sequences, take
from ..data.segmented import as_dictionary, as_pieces, as_words
from ..metrics.words import word_f1_score
from ..training.learner import SHARED_CONSTRAINTS, OnlineLearner
from ..training.run import Run, new_key
from . import epoch as structure
from .boundaries import as_gold, as_limits, white_space_limits
from .model import WordModel, continued_state, final_model, fresh_state, make_task
from .search import new_work


class WordSegmenter(OnlineLearner, BaseEstimator):
    """Raw text in, words out: segmentation by words instead of labels of characters.

    A beam search reads the text and decides before each character whether a word starts there, with
    features of the word in progress and the one before it, besides those of the characters around
    [1]_, [2]_. Trained by the averaged structured perceptron, on the part of a text up to which the
    search went wrong [3]_.

    Parameters
    ----------
    templates : {"zsz18", "zc14"}, default="zsz18"
        Features: the 18 of [1]_, which score decisions in linear time, or the 14 of [4]_, which score
        pairs of adjacent words.
    beam_size : int or None, default=8
        States kept at each character, in training and in prediction, for which it may be set anew. None
        keeps all: the search is exact, its time grows with the third power of the length of a text, its
        memory with the second.
    update : {"early", "max-violation", "standard"}, default="early"
        What is learned from: the text up to where the right segmentation left the beam [3]_, up to where
        its score falls back most [5]_, or the whole text (which may do harm unless the search is
        exact). With ``"max-violation"`` only texts whose best segmentation in the end is wrong are learned
        from; of a text that was wrong for a while nothing is learned (:class:`ShiftReduceParser` differs).
    max_iter : int, default=10
        Epochs.
    shuffle : bool, default=True
        Draw a new order of texts for each epoch.
    average : bool, default=True
        Use the average of the weights after every text visited ([2]_, equation 6).
    penalty : {"l1", "l1-cumulative", "l2"} or None, default=None
        Penalty on the weights, applied once per text visited ([2]_, equations 9 to 17). Under the
        cumulative penalty a feature owes the penalty of all steps so far when it is first met
        (equation 14): it is hard to enter late.
    alpha : float in [0, 1), default=1e-6
        Strength of the penalty per text visited.
    dropout : float in [0, 1), default=0.0
        Probability that a character is masked for one visit of its text ([2]_, equation 18). Features of
        words see all characters; what goes are features of the characters around a decision (``"zc14"``:
        of pairs of characters across a boundary and inside of a word).
    feature_noise : {"dropout", "zipf"} or None, default=None
        Corruption of features, drawn once per feature and visit: left out with probability
        ``noise_rate`` ([2]_, equation 20), or counted 1/ξ with Zipfian ξ.
    edge_noise : {"same", "dropout", "zipf"} or None, default=None
        The same for the feature of the two decisions before, the only one of transitions; ``"same"``
        follows ``feature_noise``. ``"zc14"`` has none.
    noise_rate : float in [0, 1), default=0.1
        Rate of feature dropout.
    zipf_exponent : float > 1, default=3.0
        Exponent of the Zipf distribution.
    min_count : int, default=1
        Weights that fewer updates changed do not count. (Features are met while searching: there is
        nothing to count before.)
    early_stopping : bool, default=False
        Hold out a part of the texts, stop when their word F1 no longer improves, and keep the best
        epoch. Texts that are segmented in part are not held out.
    validation_fraction : float in (0, 1), default=0.1
        Share of the texts held out.
    n_iter_no_change : int, default=3
        Epochs without improvement to wait.
    tol : float, default=1e-3
        What counts as improvement, in word F1.
    warm_start : bool, default=False
        Let ``fit`` go on from the weights of the last one.
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
    n_iter_ : int
        Epochs completed.
    history_ : list of dict
        For each epoch: ``updates`` (texts learned from), ``sequence_error``, ``token_error`` (wrong
        decisions in what was learned from, by character), ``seconds``, and ``validation_score`` with
        early stopping.

    Notes
    -----
    White space, that is what ``str.split`` splits at, separates words and belongs to none, in training as
    in prediction: the words of a text spell it without its white space, and no word reaches over white
    space.

    *Flags* say what is known character by character: True where a word starts, False where a word goes
    on, None where nothing is known. There is one for each character of a text, white space included,
    whose own flag says nothing. ``y`` may hold flags instead of words, for texts that are segmented in
    part; the right segmentation is then the best one that agrees with them. In prediction they are
    constraints.

    Words may have any length. All features are exact: no two share a weight.

    References
    ----------
    .. [1] K. Zhang, M. Sun, C. Zhou (2012). Word segmentation on Chinese micro-blog data with a linear-time
       incremental model. CIPS-SIGHAN.
    .. [2] K. Zhang, J. Su, C. Zhou (2014). Regularized structured perceptron: a case study on Chinese
       word segmentation, POS tagging and parsing. EACL.
    .. [3] M. Collins, B. Roark (2004). Incremental parsing with the perceptron algorithm. ACL.
    .. [4] Y. Zhang, S. Clark (2007). Chinese segmentation with a word-based perceptron algorithm. ACL.
    .. [5] L. Huang, S. Fayong, Y. Guo (2012). Structured perceptron with inexact search. NAACL.

    Examples
    --------
    >>> from skstruct import WordSegmenter
    >>> from skstruct.datasets import load_segmentation
    >>> X, y = load_segmentation()
    >>> segmenter = WordSegmenter(random_state=0).fit(X, y)
    >>> segmenter.predict(["他在北京大学图书馆看书。"])
    [['他', '在', '北京', '大学', '图书馆', '看', '书', '。']]
    >>> segmenter.predict(["他在北京大学图书馆看书。"], dictionary=["北京大学"])
    [['他', '在', '北京大学', '图书馆', '看', '书', '。']]
    """

    accepts_dictionary = True
    """``predict`` takes ``dictionary``."""

    _parameter_constraints = {
        **SHARED_CONSTRAINTS,
        "templates": [StrOptions(set(WORD_TEMPLATES))],
        "beam_size": [POSITIVE, None],
        "update": [StrOptions(set(UPDATES))],
        "average": ["boolean"],
    }

    def __init__(
        self,
        templates="zsz18",
        *,
        beam_size=8,
        update="early",
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
        self.templates = templates
        self.beam_size = beam_size
        self.update = update
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

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.estimator_type = None
        tags.target_tags.required = True
        tags.requires_fit = True
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        tags.input_tags.string = True
        return tags

    def __sklearn_is_fitted__(self):
        return hasattr(self, "_model")

    def save(self, path, training=True):
        """Write the fitted segmenter to one file; see :func:`skstruct.saving.registry.save`.

        With ``min_count`` above 1, a file without ``training`` does not know the weights too rare to count.
        """
        from ..saving.registry import save

        save(self, path, training)

    @property
    def inputs(self):
        """What the fitted model reads and predicts, a :class:`skstruct.data.inputs.Inputs`."""
        check_is_fitted(self)
        return self._model.inputs

    # -- fitting -----------------------------------------------------------------------------------
    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Learn from segmented texts.

        Parameters
        ----------
        X : list of str
            Texts; empty ones are passed over.
        y : list of lists of str, or of flags
            The words of each text, which spell it, or flags (see Notes) for texts segmented in part.
        sample_weight : array-like of shape (n_texts,), optional
            Multiplies a text's update. Texts of weight 0 are left out altogether.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the input is not as described; the message names sequence and position. The segmenter is
            then as it was before.
        KeyboardInterrupt
            After Ctrl-C; the completed epochs are kept, and the model can be used.
        """
        return self._fit(X, y, sample_weight)

    def partial_fit(self, X, y, sample_weight=None):
        """One pass over more texts.

        Parameters
        ----------
        X, y, sample_weight
            As in :meth:`fit`.

        Returns
        -------
        self

        Notes
        -----
        After a ``fit``, the pass starts from the (averaged) weights of the fit and begins a new average.
        ``early_stopping``, ``checkpoint`` and callbacks do not apply.
        """
        return self._partial_fit(X, y, sample_weight)

    def _rule(self):
        return Rule(PERCEPTRON, 0.0, False, self._penalty(), float(self.alpha), AVERAGES[bool(self.average)])

    def _prepare(self, X, y, sample_weight, continued=False, stream=False, classes=None):
        """Check and encode everything; what is left to do is to train."""
        rule = self._rule()
        pieces = as_pieces(X)
        gold, words = as_gold(X, pieces, y)
        weight = sample_weights(sample_weight, pieces)
        used = np.array([len(parts) > 0 for parts in pieces], np.bool_)
        if not used.any():
            raise ValueError(
                "X holds no character: at least one text that is not empty is needed"
                if pieces
                else "X is empty: at least one text is needed"
            )
        if weight is not None:
            used &= weight > 0.0
            if not used.any():
                raise ValueError("all texts with a positive sample_weight are empty")
        held_out = None
        if self.early_stopping and not stream:
            whole = np.array([items is not None for items in words], np.bool_)
            test = self._held_out(np.flatnonzero(used & whole))
            held_out = take(pieces, test), take(words, test)
            used[test] = False
            if not used.any():
                raise ValueError("early_stopping leaves no text to train on")
        # What is left out stays as an empty text, so that positions are those of X.
        pieces = [parts if keep else [] for parts, keep in zip(pieces, used.tolist())]
        task = make_task(
            ["".join(parts) for parts in pieces],
            white_space_limits(pieces),
            np.concatenate([known for known, keep in zip(gold, used.tolist()) if keep]),
            weight,
        )
        beam, update = self.beam_size or 0, UPDATES[self.update]
        if continued:
            self._check_same_features()
            state = continued_state(self._training, beam, update, rule, stream)
        else:
            key = new_key(self.random_state)
            templates = WORD_TEMPLATES[self.templates]
            state = fresh_state(templates, beam, update, int(self.min_count), rule, key)
            state.stream = stream
        return WordRun(self, state, task, held_out)

    def _check_same_features(self):
        """Raise if the weights to go on from belong to other features than the parameters say."""
        model = self._training.model
        for name, given, before in (
            ("templates", WORD_TEMPLATES[self.templates], model.templates),
            ("min_count", int(self.min_count), model.features.min_count),
        ):
            if given != before:
                raise ValueError(
                    f"{name}={getattr(self, name)!r} differs from that of the fit to go on from; use a new "
                    f"estimator, or fit without warm_start"
                )

    def n_features(self):
        """Number of features of the fitted model; each has a weight for every decision."""
        check_is_fitted(self)
        return self._model.entries

    # -- prediction --------------------------------------------------------------------------------
    def _best(self, X, dictionary=None, boundaries=None):
        check_is_fitted(self)
        pieces = as_pieces(X)
        known = None if dictionary is None else as_dictionary(dictionary)
        limit = as_limits(X, pieces, boundaries, known)
        return self._model.predict(pieces, limit, self.n_jobs, self.beam_size or 0)

    def predict(self, X, dictionary=None, boundaries=None):
        """Words.

        Parameters
        ----------
        X : list of str
            Texts.
        dictionary : collection of str, optional
            Words to be found as such, with no training: where a text holds one, it becomes a word. From
            left to right the longest word that begins at a character is taken and the search goes on
            behind it, so that the first of two words that overlap wins. The best segmentation of the
            rest around them is found.
        boundaries : list of (list of flags, or None), optional
            For each text None, or flags (see Notes): True forces a boundary before a character, False
            forbids it. Words of the dictionary that contradict flags are passed over.

        Returns
        -------
        list of lists of str
            The words of each text, in order; [] for a text that is empty or white space.

        Raises
        ------
        ValueError
            If ``X`` is not a list of str, or flags do not fit their text (the message names the sequence);
            or the dictionary holds what is no word, or white space.
        """
        return Sequences(self._best(X, dictionary, boundaries)[0])

    def decision_function(self, X):
        """Scores of the best segmentations.

        Parameters
        ----------
        X : list of str

        Returns
        -------
        ndarray of shape (n_texts,)
            Not normalised: comparable between segmentations of one text only. 0 for an empty text.
        """
        return self._best(X)[1]

    def score(self, X, y, sample_weight=None):
        """F1 of the words.

        Parameters
        ----------
        X : list of str
        y : list of lists of str
        sample_weight : array-like of shape (n_texts,), optional
            Multiplies the counts of a text's words.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        pieces = as_pieces(X)
        words, tags = as_words(pieces, y)
        if tags is not None:
            raise ValueError("y: expected words, got (word, tag) pairs: WordSegmenter knows no tags")
        weight = sample_weights(sample_weight, pieces)
        predicted, _ = self._best(X)
        return word_f1_score(words, predicted, tagged=False, sample_weight=weight)


class WordRun(Run):
    """A training run of a word segmenter."""

    structure = structure
    score_name = "word F1"
    model_class = WordModel

    def finished(self, model, reuse=False):
        """See :class:`.run.Run`."""
        return final_model(model, self.state.rule, reuse)

    def scratch(self):
        """See :class:`.run.Run`."""
        return new_work(self.task, self.state.model.beam)

    def held_out_score(self, model):
        """Word F1."""
        pieces, words = self.held_out
        return word_f1_score(words, model.predict(pieces, None, self.estimator.n_jobs)[0])

    def fresh(self, key):
        """See :class:`.run.Run`."""
        model = self.state.model
        min_count = model.features.min_count
        return fresh_state(model.templates, model.beam, model.update, min_count, self.state.rule, key)
