"""The dependency parser: beam search over shift-reduce actions, trained by the structured perceptron.

Place on the ladder: rung 7. What is searched and learned is in `skstruct.parser.epoch`.
"""

from operator import eq

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._sklearn import POSITIVE, StrOptions, sample_weights, sequence_tags, with_callbacks
from ..core.codes import AVERAGES, PERCEPTRON, UPDATES
from ..core.store import Rule
from ..data.inputs import Sequences, as_sequences, check_X_y, take
from ..data.labels import Labels, encode_labels
from ..metrics.trees import split_heads
from ..training.learner import SHARED_CONSTRAINTS, OnlineLearner
from ..training.run import Run, new_key
from . import epoch as structure
from .atoms import AtomEncoder, check_words
from .model import ParserModel, attributes_read, continued_state, final_model, fresh_state, make_task
from .search import new_work
from .template_sets import TEMPLATE_SETS
from .templates import template_lines
from .trees import check_trees, encode_trees, heads_alone, split_arcs


class ShiftReduceParser(OnlineLearner, BaseEstimator):
    """Dependency parser in linear time: shift-reduce actions, beam search with state merging.

    Words are read from left to right; an action puts the next word on a stack or joins the two trees on
    its top. The beam keeps the best states at each step, equivalent ones merged into one, which lets it
    see many more trees than it has places [1]_. Labels are chosen for the arcs of the tree that was found,
    by weights learned alongside. Trained by the averaged structured perceptron [2]_ on the actions up to
    where the search went wrong [3]_, [4]_.

    Parameters
    ----------
    templates : str or list of str, default="rich"
        Features of states: ``"hs28"`` (the 28 of [1]_), ``"hs29"`` (one more, as that parser was released),
        ``"zsz28"`` (those of [2]_), ``"rich"`` (ours: distances, numbers of children, affixes, the word
        after the next), or lines such as ``"s0.w s1.t"``; ``skstruct.parser.templates`` names the
        atoms.
    beam_size : int, default=8
        States kept at each step.
    merge_states : bool, default=True
        Merge states that no feature can tell apart.
    update : {"max-violation", "early", "standard"}, default="max-violation"
        What is learned from: the actions up to where the right ones fall back most [4]_, up to where they
        left the beam [3]_, or all (which does harm unless the beam is wide). With ``"max-violation"``
        sentences are learned from whenever some prefix of the right actions was not the best of the beam,
        even if the tree found in the end is right (:class:`WordSegmenter` differs).
    labeled : bool, default=True
        Whether trees have labels. Without, ``y`` may still hold (head, label) pairs; heads are predicted.
    projectivize : {"lift", "skip"}, default="lift"
        Training trees that are not projective: move dependents up until they are (labels unchanged), or
        leave the sentence out. The trees predicted are always projective.
    max_iter : int, default=10
        Epochs.
    shuffle : bool, default=True
        Draw a new order of sentences for each epoch.
    average : bool, default=True
        Use the average of the weights after every sentence visited ([2]_, equation 6).
    penalty : {"l1", "l1-cumulative", "l2"} or None, default=None
        Penalty on the weights, applied once per sentence visited ([2]_, equations 9 to 17). Under the
        cumulative penalty a feature owes the penalty of all steps so far when it is first met
        (equation 14): it is hard to enter late.
    alpha : float in [0, 1), default=1e-6
        Strength of the penalty per sentence visited.
    dropout : float in [0, 1), default=0.0
        Probability that a form is masked for one visit of its sentence ([2]_, equation 18), with all that
        is derived from it. Tags never are.
    feature_noise : {"dropout", "zipf"} or None, default=None
        Corruption of features, drawn once per feature and visit: left out with probability
        ``noise_rate`` ([2]_, equation 20), or counted 1/ξ with Zipfian ξ.
    edge_noise : {"same", "dropout", "zipf"} or None, default=None
        The same for features that look at decisions before: at children and their numbers. ``"same"``
        follows ``feature_noise``.
    noise_rate : float in [0, 1), default=0.1
        Rate of feature dropout.
    zipf_exponent : float > 1, default=3.0
        Exponent of the Zipf distribution.
    min_count : int, default=1
        Features whose weights fewer updates changed do not count. (Features are met while searching: there
        is nothing to count before.)
    early_stopping : bool, default=False
        Hold out a part of the sentences, stop when their UAS no longer improves, and keep the best epoch.
    validation_fraction : float in (0, 1), default=0.1
        Share of the sentences held out.
    n_iter_no_change : int, default=3
        Epochs without improvement to wait.
    tol : float, default=1e-3
        What counts as improvement, in UAS.
    warm_start : bool, default=False
        Let ``fit`` go on from the weights of the last one; words, tags and labels may be new.
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
        The labels, sorted; with ``labeled`` only.
    n_iter_ : int
        Epochs completed.
    history_ : list of dict
        For each epoch: ``updates`` (sentences learned from), ``sequence_error``, ``token_error`` (wrong heads
        in what was learned from and wrong labels of right trees, by word), ``seconds``, and
        ``validation_score`` with early stopping.

    Notes
    -----
    A tree is given, and predicted, as a list with the head of each word: 1-based, 0 at the root, of which
    there is exactly one. Empty sentences have empty trees; training passes over them.

    Sentences may have any length; time grows with it linearly. All features are exact: no two share a
    weight. Up to 4,093 distinct tags are possible.

    References
    ----------
    .. [1] L. Huang, K. Sagae (2010). Dynamic programming for linear-time incremental parsing. ACL.
    .. [2] K. Zhang, J. Su, C. Zhou (2014). Regularized structured perceptron: a case study on Chinese
       word segmentation, POS tagging and parsing. EACL.
    .. [3] M. Collins, B. Roark (2004). Incremental parsing with the perceptron algorithm. ACL.
    .. [4] L. Huang, S. Fayong, Y. Guo (2012). Structured perceptron with inexact search. NAACL.

    Examples
    --------
    >>> from skstruct import ShiftReduceParser
    >>> X = [[("the", "D"), ("dog", "N"), ("barks", "V")], [("cats", "N"), ("see", "V"), ("dogs", "N")]]
    >>> y = [[(2, "det"), (3, "nsubj"), (0, "root")], [(2, "nsubj"), (0, "root"), (2, "obj")]]
    >>> parser = ShiftReduceParser(max_iter=5, random_state=0).fit(X, y)
    >>> parser.predict([[("the", "D"), ("cat", "N"), ("sees", "V"), ("dogs", "N")]])
    [[(2, 'det'), (3, 'nsubj'), (0, 'root'), (3, 'obj')]]
    """

    _parameter_constraints = {
        **SHARED_CONSTRAINTS,
        "templates": [StrOptions(set(TEMPLATE_SETS)), list, tuple],
        "beam_size": [POSITIVE],
        "merge_states": ["boolean"],
        "update": [StrOptions(set(UPDATES))],
        "labeled": ["boolean"],
        "projectivize": [StrOptions({"lift", "skip"})],
        "average": ["boolean"],
    }

    def __init__(
        self,
        templates="rich",
        *,
        beam_size=8,
        merge_states=True,
        update="max-violation",
        labeled=True,
        projectivize="lift",
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
        self.merge_states = merge_states
        self.update = update
        self.labeled = labeled
        self.projectivize = projectivize
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
        """Write the fitted parser to one file; see :func:`skstruct.saving.registry.save`."""
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
        """Learn from trees.

        Parameters
        ----------
        X : list of lists of (form, tag)
            Sentences.
        y : list of lists of (head, label), or of heads if not ``labeled``
            Trees. A label of None is not known: nothing is learned from it.
        sample_weight : array-like of shape (n_sentences,), optional
            Multiplies a sentence's update. Sentences of weight 0 are left out altogether.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the input is not as described, or heads form no tree; the message names sequence and
            position. The parser is then as it was before.
        KeyboardInterrupt
            After Ctrl-C; the completed epochs are kept, and the model can be used.
        """
        return self._fit(X, y, sample_weight)

    def partial_fit(self, X, y, sample_weight=None):
        """One pass over more trees; words, tags and labels may be new.

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
        rule, lines = self._rule(), template_lines(self.templates)
        X, y, token = check_X_y(X, y)
        weight = sample_weights(sample_weight, X)
        if continued:
            self._check_same_features(lines)
        forms, tags = check_words(X, token)
        heads, arcs = split_arcs(y) if self.labeled else (heads_alone(y), None)
        heads = check_trees(heads, token)
        old_labels = labels = self._model.labels if continued else Labels()
        gold = np.zeros(0, np.int32)
        if self.labeled:
            gold, labels = encode_labels(arcs, token, labels, grow=True)
            if len(labels) == 0:
                raise ValueError("y holds no label: all are None; for heads alone, labeled=False")
        actions, heads, skipped = encode_trees(heads, token, self.projectivize == "lift")
        used = np.diff(token) > 0
        used[skipped] = False
        if weight is not None:
            used &= weight > 0.0
        if not used.any():
            raise ValueError(
                "no sentence is left to train on: all are empty, of sample_weight 0, or not projective "
                f"(projectivize={self.projectivize!r})"
            )
        held_out = None
        if self.early_stopping and not stream:
            test = self._held_out(np.flatnonzero(used))
            held_out = take(X, test), take(y, test)
            used[test] = False
        # What is left out stays as an empty sentence, so that positions are those of X.
        words = np.flatnonzero(np.repeat(used, np.diff(token)))
        token = np.concatenate([[0], np.cumsum(np.where(used, np.diff(token), 0))])
        forms, tags = [forms[k] for k in words], [tags[k] for k in words]
        encoder = self._model.encoder if continued else AtomEncoder(attributes_read(lines, self.labeled))
        atoms, encoder = encoder.grown(forms, tags)
        task = make_task(
            atoms,
            token,
            actions.reshape(-1, 2)[words].ravel(),
            heads[words],
            gold[words] if self.labeled else gold,
            weight,
        )
        settings = {
            "beam": int(self.beam_size),
            "merge": bool(self.merge_states),
            "update": UPDATES[self.update],
        }
        if continued:
            state = continued_state(self._training, old_labels, labels, settings, rule, stream)
        else:
            settings["min_count"] = int(self.min_count)
            state = fresh_state(lines, encoder, labels, settings, rule, new_key(self.random_state))
            state.stream = stream
        return ParseRun(self, state, task, lines, encoder, labels, held_out)

    def _check_same_features(self, lines):
        """Raise if the weights to go on from belong to other features than the parameters say."""
        for name, given, before in (
            ("templates", lines, self._model.lines),
            ("labeled", bool(self.labeled), len(self._model.labels) > 0),
            ("min_count", int(self.min_count), self._training.model.state_features.min_count),
        ):
            if given != before:
                raise ValueError(
                    f"{name}={getattr(self, name)!r} differs from that of the fit to go on from; use a new "
                    f"estimator, or fit without warm_start"
                )

    def n_features(self):
        """Number of features of the fitted model: of states, with a weight for each action, and of arcs."""
        check_is_fitted(self)
        return self._model.entries + self._model.label_entries

    # -- prediction --------------------------------------------------------------------------------
    def predict(self, X):
        """Trees.

        Parameters
        ----------
        X : list of lists of (form, tag)
            Sentences.

        Returns
        -------
        list of lists of (head, label), or of heads if not ``labeled``
            One for each word of each sentence; projective, with one root.

        Raises
        ------
        ValueError
            If a word is not a pair of str, neither empty; the message names sequence and position.
        """
        check_is_fitted(self)
        return Sequences(self._model.predict(as_sequences(X), self.n_jobs)[0])

    def decision_function(self, X):
        """Scores of the trees that :meth:`predict` returns.

        Parameters
        ----------
        X : list of lists of (form, tag)

        Returns
        -------
        ndarray of shape (n_sentences,)
            Of the actions that build the tree, without labels. Not normalised: comparable between trees of
            one sentence only. 0 for an empty sentence.
        """
        check_is_fitted(self)
        return self._model.predict(as_sequences(X), self.n_jobs)[1]

    def score(self, X, y, sample_weight=None):
        """Unlabeled attachment score: the share of words with the right head, over all words.

        Parameters
        ----------
        X : list of lists of (form, tag)
        y : list of lists of (head, label), or of heads
        sample_weight : array-like of shape (n_sentences,), optional
            Multiplies the counts of a sentence's words.

        Returns
        -------
        float

        Raises
        ------
        ValueError
            If the input is not as described; the message names sequence and position.
        """
        check_is_fitted(self)
        X, y, _ = check_X_y(X, y)
        weight = sample_weights(sample_weight, X)
        return _attachment(y, self._model.predict(X, self.n_jobs)[0], weight)


def _attachment(y, predicted, weight=None):
    """UAS of sentences with weights."""
    true = [split_heads(i, tree)[0] for i, tree in enumerate(y)]
    right = [sum(map(eq, a, b)) for a, b in zip(true, heads_alone(predicted))]
    counts = np.array([right, list(map(len, y))], float)
    right, total = counts.sum(axis=1) if weight is None else counts @ weight
    return float(right / total) if total else 0.0


class ParseRun(Run):
    """A training run of a parser."""

    structure = structure
    score_name = "UAS"
    model_class = ParserModel

    def __init__(self, estimator, state, task, lines, encoder, labels, held_out):
        super().__init__(estimator, state, task, held_out)
        self.lines = lines
        self.encoder = encoder
        self.labels = labels

    def finished(self, model, reuse=False):
        """See :class:`.run.Run`."""
        return final_model(model, self.state.rule, self.lines, self.encoder, self.labels, reuse)

    def fitted(self):
        """See :class:`.run.Run`."""
        return {"classes_": self.labels.array} if len(self.labels) else {}

    def scratch(self):
        """See :class:`.run.Run`."""
        return new_work(self.task, self.state.model)

    def held_out_score(self, model):
        """UAS."""
        X, y = self.held_out
        return _attachment(y, model.predict(X, self.estimator.n_jobs)[0])

    def fresh(self, key):
        """See :class:`.run.Run`."""
        model = self.state.model
        settings = {name: getattr(model, name) for name in ("beam", "merge", "update")}
        settings["min_count"] = model.state_features.min_count
        return fresh_state(self.lines, self.encoder, self.labels, settings, self.state.rule, key)
