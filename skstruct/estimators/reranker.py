"""Re-ranking: the analyses of a base model judged again, with features of words.

Place on the ladder: rung 7, around another estimator. What is searched and learned is in
``skstruct.structures.rerank``; what comes from the base is in :mod:`.lattice`.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from ..core.codes import AVERAGES, PERCEPTRON
from ..core.noise import QUIET
from ..core.store import Rule, new_clock, new_store, weights
from ..data.inputs import renumbered
from ..structures import rerank as structure
from ..training.online import epoch_order, snapshot
from ._sklearn import HasMethods, Integral, Interval, sample_weights, with_callbacks
from .base import POSITIVE, Sequences, sequence_tags, take
from .chain_model import READ_ONLY, lend, map_chunks
from .lattice import RIGHT, lattices_of, make_task, paths, view_of
from .online import SHARED_CONSTRAINTS, OnlineLearner
from .run import Run, TrainingState, new_key
from .segmenter import Segmenter


class KBestReranker(OnlineLearner, BaseEstimator):
    """Judge the k best analyses of a base model again, with features of words and of their neighbours.

    A tagger of characters sees words only label by label. Here the k best segmentations of the base, with
    tags or without, are cut into words; these make a lattice, in which the best path is searched, exactly,
    under a linear model of words, tags, lengths, their pairs and triples ([1]_, section 6). Of the base's
    score a word keeps its margin, by how much the best analysis that holds it falls short of the best. Since
    paths may combine words of several of the k analyses, the result need not be one of these.

    Training needs analyses as the base makes them for text it has not seen. So the corpus is divided into
    ``cv`` parts; the lattices of each come from a clone of the base that was trained on the others
    (jackknifing). The base that predicts is trained on everything.

    Parameters
    ----------
    base : estimator or None, default=None
        A ``Segmenter``, whose tagger has ``predict_kbest``, or a tagger that has; None means
        ``Segmenter()``. With a tagger the words are tokens and the tags their labels.
    k : int, default=20
        Analyses of the base.
    cv : int, default=10
        Parts of the corpus for jackknifing.
    max_iter : int, default=10
        Epochs.
    shuffle : bool, default=True
        Draw a new order of sequences for each epoch.
    average : bool, default=True
        Use the average of the weights after every sequence visited ([1]_, equation 6).
    penalty : {"l1", "l1-cumulative", "l2"} or None, default=None
        Penalty on the weights, applied once per sequence visited ([1]_, equations 9 to 17).
    alpha : float in [0, 1), default=1e-6
        Strength of the penalty per sequence visited.
    dropout : float in [0, 1), default=0.0
        Probability that what begins at a character (with a tagger: the token there) loses its form for one
        visit: features of words that begin there are left out, those of tags and lengths stay.
    feature_noise : {"dropout", "zipf"} or None, default=None
        Corruption of features, drawn once per feature and visit: left out with probability
        ``noise_rate`` ([1]_, equation 20), or counted 1/ξ with Zipfian ξ.
    edge_noise : {"same", "dropout", "zipf"} or None, default=None
        The same for features of tags alone that read more than one; ``"same"`` follows ``feature_noise``.
    noise_rate : float in [0, 1), default=0.1
        Rate of feature dropout.
    zipf_exponent : float > 1, default=3.0
        Exponent of the Zipf distribution.
    min_count : int, default=1
        Weights that fewer updates changed do not count.
    early_stopping : bool, default=False
        Hold out lattices of a part of the sequences, stop when F1 on them no longer improves, and keep the
        best epoch. (The base is trained on all sequences.)
    validation_fraction : float in (0, 1), default=0.1
        Share of the sequences held out.
    n_iter_no_change : int, default=3
        Epochs without improvement to wait.
    tol : float, default=1e-3
        What counts as improvement, in F1.
    warm_start : bool, default=False
        Let ``fit`` go on from the weights of the last one; the base is trained anew.
    checkpoint : str, path or None, default=None
        Folder where ``fit`` keeps the state of re-ranking after each epoch; see
        :class:`StructuredPerceptron`. The bases are trained again by a fit that is resumed, unless they have
        checkpoints of their own.
    n_jobs : int or None, default=None
        Threads, for the bases of jackknifing and in prediction. Results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Determines the division of the corpus, orders, noise and the held-out part; not the base.
    verbose : int, default=0
        Print a line for each epoch.

    Attributes
    ----------
    base_ : estimator
        The base, trained on everything.
    n_iter_ : int
        Epochs completed.
    history_ : list of dict
        As in :class:`StructuredPerceptron`.
    oracle_ : float
        F1 of the paths learned from: what perfect re-ranking of the training lattices would reach.

    Notes
    -----
    Differs from the lattices of [1]_'s first author, which hold all words up to a fixed margin: here k
    decides which. The margins of the words that are there are the same.

    References
    ----------
    .. [1] K. Zhang, J. Su, C. Zhou (2014). Regularized structured perceptron: a case study on Chinese
       word segmentation, POS tagging and parsing. EACL.

    Examples
    --------
    >>> from skstruct import KBestReranker, Segmenter, StructuredPerceptron
    >>> from skstruct.datasets import load_segmentation
    >>> X, y = load_segmentation()
    >>> base = Segmenter(StructuredPerceptron(features="char", random_state=0))
    >>> reranker = KBestReranker(base, k=5, cv=3, random_state=0).fit(X, y)
    >>> reranker.predict(["他在北京大学图书馆看书。"])
    [['他', '在', '北京', '大学', '图书馆', '看', '书', '。']]
    """

    _parameter_constraints = {
        **SHARED_CONSTRAINTS,
        "base": [HasMethods(["fit", "predict"]), None],
        "k": [POSITIVE],
        "cv": [Interval(Integral, 2, None, closed="left")],
        "average": ["boolean"],
    }

    def __init__(
        self,
        base=None,
        k=20,
        cv=10,
        *,
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
        self.base = base
        self.k = k
        self.cv = cv
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
        return sequence_tags(super().__sklearn_tags__())

    def __sklearn_is_fitted__(self):
        return hasattr(self, "_model")

    def save(self, path, training=True):
        """Write the fitted estimator and its base to one file; see :func:`skstruct.persistence.save`."""
        from ..persistence import save

        save(self, path, training)

    @property
    def inputs(self):
        """What the fitted model reads and predicts, a :class:`skstruct.data.inputs.Inputs`."""
        check_is_fitted(self)
        return self.base_.inputs

    # -- fitting -----------------------------------------------------------------------------------
    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Train the bases, then the model that judges their analyses.

        Parameters
        ----------
        X, y
            As the base takes them: texts and their words, or (word, tag) pairs; or sequences of tokens and
            their labels, where None marks a token that is not labelled.
        sample_weight : array-like of shape (n_sequences,), optional
            Multiplies a sequence's update, and is handed to the bases. Sequences of weight 0 are left out.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the input is not as described; the message names sequence and position. The estimator is
            then as it was before.
        KeyboardInterrupt
            After Ctrl-C. Once re-ranking has begun its completed epochs are kept; an interrupt before, while
            bases are trained, leaves the estimator as it was.
        """
        return self._fit(X, y, sample_weight)

    def _rule(self):
        return Rule(PERCEPTRON, 0.0, False, self._penalty(), float(self.alpha), AVERAGES[bool(self.average)])

    def _new_base(self):
        return Segmenter() if self.base is None else clone(self.base)

    def _prepare(self, X, y, sample_weight, continued=False, stream=False, classes=None):
        """Check everything, train the bases, and encode their analyses."""
        rule, view = self._rule(), view_of(self._new_base())
        X, y = view.check(X, y)
        weight = sample_weights(sample_weight, X)
        lengths = view.lengths(X)
        used = np.flatnonzero((lengths > 0) & (True if weight is None else weight > 0.0))
        if used.shape[0] < self.cv:
            raise ValueError(
                f"cv={self.cv} parts need at least as many sequences that are not empty, got {used.shape[0]}"
            )
        if continued and self.min_count != self._training.model.min_count:
            raise ValueError(
                f"min_count={self.min_count} differs from that of the training so far, "
                f"{self._training.model.min_count}; a fit that continues cannot change it"
            )
        key = self._training.key if continued else new_key(self.random_state)
        X, y = take(X, used), take(y, used)
        weight = None if weight is None else weight[used]
        test = self._held_out(np.arange(len(X))) if self.early_stopping else []
        with renumbered(used):
            base = self._fitted_base(X, y, weight, np.arange(len(X)))
            lattices = self._jackknife(view, X, y, weight, key)
        words, tags = (dict(self._model.words), dict(self._model.tags)) if continued else ({}, {})
        gold, lengths = view.gold(X, y), lengths[used]
        train = np.setdiff1d(np.arange(len(X)), test)
        if not train.shape[0]:
            raise ValueError("early_stopping leaves no sequence to train on")

        def encode(keep, known, weight=None):
            given = take(lattices, keep), lengths[keep], *known
            return make_task(*given, take(gold, keep), weight), sum(len(gold[i]) for i in keep)

        task, n_items = encode(train, (words, tags), None if weight is None else weight[train])
        # What only the held-out part has stays unknown: its words get numbers no feature knows.
        held_out = encode(test, (dict(words), dict(tags))) if self.early_stopping else None
        if continued:
            state = continued_state(self._training, rule)
        else:
            state = TrainingState(structure.new_model(int(self.min_count), rule), rule, key)
        oracle = _f1(task, task.target != structure.ABSENT, n_items)
        return RerankRun(self, state, task, words, tags, base, oracle, held_out)

    def _fitted_base(self, X, y, weight, keep):
        """A clone of the base, trained on some of the sequences."""
        base, given = self._new_base(), {} if weight is None else {"sample_weight": weight[keep]}
        with renumbered(keep):
            return base.fit(take(X, keep), take(y, keep), **given)

    def _jackknife(self, view, X, y, weight, key):
        """The lattice of each sequence, from a base that has not seen it."""
        n = len(X)
        parts = [np.sort(part) for part in np.array_split(epoch_order(key, 2**31, n), self.cv)]
        lattices = [None] * n

        def work(part):
            base = self._fitted_base(X, y, weight, np.setdiff1d(np.arange(n), part))
            with renumbered(part):
                found = lattices_of(view, base, take(X, part), self.k)
            for i, nodes in zip(part.tolist(), found):
                lattices[i] = nodes

        threads = min(effective_n_jobs(self.n_jobs), len(parts))
        if threads == 1:
            for part in parts:
                work(part)
        else:
            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(work, parts))
        return lattices

    def n_features(self):
        """Number of features of the fitted model."""
        check_is_fitted(self)
        return self._model.entries

    # -- prediction --------------------------------------------------------------------------------
    def predict(self, X):
        """The best paths.

        Parameters
        ----------
        X : list of sequences
            As the base takes them.

        Returns
        -------
        list
            As the base's ``predict`` returns it.

        Raises
        ------
        ValueError
            If the input is not what the base takes; the message names the sequence.
        """
        return Sequences(self._best(X)[0])

    def decision_function(self, X):
        """Scores of the best paths.

        Parameters
        ----------
        X : list of sequences

        Returns
        -------
        ndarray of shape (n_sequences,)
            Not normalised: comparable between paths of one sequence only. 0 for an empty sequence.
        """
        return self._best(X)[1]

    def _best(self, X):
        check_is_fitted(self)
        base, model = self.base_, self._model
        view = view_of(base)
        X = view.check_X(X)
        kernel_model = model.reranker()

        def work(bounds):
            part = X[bounds[0] : bounds[1]]
            lattices = lattices_of(view, base, part, self.k)
            task = make_task(lattices, view.lengths(part), model.words, model.tags)
            out, scores = choose(kernel_model, READ_ONLY, task)
            return [view.decode(base, items) for items in paths(lattices, out)], scores

        found = map_chunks(work, X, self.n_jobs)
        return [items for part, _ in found for items in part], np.concatenate([s for _, s in found])

    def score(self, X, y, sample_weight=None):
        """The base's score: word F1 of a segmenter, token accuracy of a tagger.

        Parameters
        ----------
        X, y
            As of :meth:`fit`.
        sample_weight : array-like of shape (n_sequences,), optional

        Returns
        -------
        float
        """
        check_is_fitted(self)
        view = view_of(self.base_)
        X, y = view.check(X, y)
        return float(view.score(y, self.predict(X), sample_weights(sample_weight, X)))


def choose(model, rule, task):
    """(nodes on the best paths, scores) of lattices."""
    out, scores = np.zeros(task.begin.shape[0], np.bool_), np.empty(task.node.shape[0] - 1)
    work = structure.new_work(task, training=False)
    structure.predict(task, 0, scores.shape[0], model, rule, QUIET, work, out, scores)
    return out, scores


def _f1(task, chosen, n_items):
    """F1 of chosen nodes against ``n_items`` right ones."""
    right = np.count_nonzero(task.right[chosen] == RIGHT)
    return 2.0 * right / max(np.count_nonzero(chosen) + n_items, 1)


@dataclass
class RerankModel:
    """What prediction needs besides the base.

    Attributes
    ----------
    words, tags : dict
        Ids from 1 on, by value.
    weights : Store
        Final weights; no bookkeeping of the training.
    table : ndarray of shape (capacity, 2), int64
    entries : int
        Features; row r of the weights belongs to the r-th.
    """

    words: dict
    tags: dict
    weights: object
    table: np.ndarray
    entries: int

    def reranker(self):
        """The arrays that kernels search under."""
        return lend(
            structure.Reranker(
                weights=self.weights,
                table=self.table,
                entries=np.array([self.entries], np.int64),
                seen=np.zeros(0, np.int32),
                min_count=1,
                clock=new_clock(),
            )
        )


def final_model(model, rule, words, tags):
    """The :class:`RerankModel` that training so far amounts to, without bookkeeping."""
    R = int(model.entries[0])
    value = weights(model.weights, model.clock, rule)[:R].copy()
    if model.min_count > 1:
        value[model.seen[:R] < model.min_count] = 0.0
    store = new_store(0, 1, READ_ONLY, False)._replace(value=value)
    return RerankModel(words, tags, store, model.table.copy(), R)


def continued_state(before, rule):
    """A copy of an earlier state; under another rule the average begins anew."""
    model = snapshot(structure, before.model)
    if before.rule != rule:
        fresh = new_store(model.weights.value.shape[0], 1, rule, False)
        value = weights(model.weights, model.clock, before.rule).copy()
        model = model._replace(weights=fresh._replace(value=value), clock=new_clock())
    return TrainingState(model, rule, before.key, before.epoch, history=[*before.history])


class RerankRun(Run):
    """A training run of a re-ranker."""

    structure = structure
    score_name = "F1"

    def __init__(self, estimator, state, task, words, tags, base, oracle, held_out):
        super().__init__(estimator, state, task, held_out)
        self.words, self.tags = words, tags
        self.base, self.oracle = base, oracle

    def finished(self, model, reuse=False):
        """See :class:`.run.Run`."""
        return final_model(model, self.state.rule, self.words, self.tags)

    def fitted(self):
        """See :class:`.run.Run`."""
        return {"base_": self.base, "oracle_": self.oracle}

    def scratch(self):
        """See :class:`.run.Run`."""
        return structure.new_work(self.task)

    def held_out_score(self, model):
        """F1 of the nodes chosen."""
        task, n_items = self.held_out
        return _f1(task, choose(model.reranker(), READ_ONLY, task)[0], n_items)

    def fresh(self, key):
        """See :class:`.run.Run`."""
        model = structure.new_model(self.state.model.min_count, self.state.rule)
        return TrainingState(model, self.state.rule, key)
