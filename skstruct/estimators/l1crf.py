"""The L1-regularised conditional random field."""

import warnings
from contextlib import nullcontext

import numpy as np
from joblib import effective_n_jobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..core.noise import QUIET
from ..core.store import new_store
from ..data.inputs import PlaceError, as_sequences, flatten, lengths_of, offsets_of, place, renumbered
from ..data.labels import Labels, encode_known, encode_labels, some_of
from ..structures.chain import new_work
from ..structures.chain_marginals import marginals
from ..training.averaging import entries, sparse_store
from ..training.checkpoint import Checkpoint, arrays_of, fingerprint, simple_parameters
from ..training.crf import Table, train_crf
from ..training.crf_objective import CRFObjective
from ..training.interrupt import DeferredInterrupt
from ._sklearn import (
    CallbackSupportMixin,
    Integral,
    Interval,
    Real,
    StrOptions,
    epoch_context,
    with_callbacks,
)
from .base import POSITIVE, Sequences, SequenceTagger, check_X_y
from .chain_model import (
    READ_ONLY,
    ChainModel,
    check_gold,
    check_same_features,
    constraint_arrays,
    first_token,
    has_bigram,
    make_task,
    map_chunks,
    n_edge_combinations,
    n_node_rows,
    new_encoder,
)
from .online import TAGGER_CONSTRAINTS, class_costs
from .online_state import FEW_LABELS, is_sparse

NONNEGATIVE = Interval(Real, 0, None, closed="left")
SOLVER_OPTIONS = (
    "solver", "sgd_iter", "eta0", "decay", "line_search", "max_trials", "memory", "max_iter", "tol",
)  # fmt: skip
LARGEST = 1e100
"""Values of features above this have squares that are no numbers."""


class L1CRF(CallbackSupportMixin, SequenceTagger):
    """Conditional random field with an L1 penalty, trained to the optimum.

    Minimises ``Σ -log p(y|x) + c1 ‖λ‖₁ + c2 ‖λ‖²``. The default solver has two stages ([1]_, section 3.4):
    stochastic gradient descent with cumulative L1 penalty [2]_, then a quasi-Newton method. It goes past
    the paper in the second: instead of OWL-QN [3]_ on all weights, steps of its kind on the few weights
    that are not zero, with a long memory and a scale for each weight; all weights are looked at only to
    admit others and to certify the end.

    Parameters
    ----------
    features : str, path, list of str or FeatureTemplates, default="auto"
        As in :class:`StructuredPerceptron`.
    c1 : float >= 0, default=1.0
        Strength of the L1 penalty.
    c2 : float >= 0, default=0.0
        Strength of the squared L2 penalty.
    solver : {"two-stage", "owlqn", "sgd"}, default="two-stage"
        Both stages, or the textbook method of each alone: OWL-QN from zero, or ``sgd_iter`` passes of SGD.
    sgd_iter : int, default=2
        Passes of the first stage.
    eta0, decay : float, default=0.3, 0.5
        Learning rate of pass k is ``eta0 * decay ** k`` ([1]_, equation 12).
    line_search : bool, default=False
        Try several learning rates for each sequence ([1]_, algorithm 1).
    max_trials : int, default=3
        Rates tried.
    memory : int, default=60
        Steps that the quasi-Newton methods remember; 10 is usual for OWL-QN.
    max_iter : int, default=1000
        Most full passes after the first stage.
    tol : float, default=2e-4
        Stop when the objective is expected to fall by less than this share of it, however long one goes
        on: the gain of the last eight passes, continued as a geometric series.
    all_pairs : bool, default=True
        Give every pair of feature and label a weight; else those that training shows, as CRFsuite does.
    min_count : int, default=1
        Features seen fewer times in training are left out.
    constraints : str, iterable of pairs or None, default=None
        As in :class:`StructuredPerceptron`; labellings they forbid have probability 0.
    class_weight : dict, "balanced" or None, default=None
        Cost of missing a token of a label, added to its rivals' scores in training: softmax-margin [4]_.
    warm_start : bool, default=False
        Start ``fit`` from the weights of the last one, without the first stage.
    checkpoint : str, path or None, default=None
        Folder where ``fit`` keeps its state every few iterations, under a name made from parameters and
        data. A fit that finds its own state goes on from there (``resumed_from_`` says after how many
        entries of ``history_``) and ends as if it had never stopped; a finished fit removes its file.
    n_jobs : int or None, default=None
        Threads in training and prediction; results do not depend on it. Training uses eight at most, and two
        at most in a pass of ``"two-stage"`` that needs the gradient of all features: the corpus is summed in
        so many parts, which are the same for any number of threads.
    random_state : int, RandomState instance or None, default=None
        Determines the order of sequences in the first stage.
    verbose : int, default=0
        Print a line for each pass.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
    objective_ : float
        The objective reached.
    optimality_ : float
        Norm of the subgradient of least norm: 0 at the exact optimum.
    n_active_features_ : int
        Weights that are not zero, of (feature, label) pairs and transitions.
    n_iter_ : int
        Passes after the first stage (of SGD, if it is alone).
    history_ : list of dict
        For each pass ``stage`` (``"sgd"`` or ``"batch"``), ``seconds`` since training began, ``n_active``
        (weights that are not zero), ``objective`` (None in the first of two stages), ``optimality`` (of
        the weights before the pass; None in SGD), and, if ``fit`` has held-out sequences, ``validation``.

    References
    ----------
    .. [1] J. Zhou, X. Qiu, X. Huang (2011). A fast accurate two-stage training algorithm for
       L1-regularized CRFs with heuristic line search strategy. IJCNLP.
    .. [2] Y. Tsuruoka, J. Tsujii, S. Ananiadou (2009). Stochastic gradient descent training for
       L1-regularized log-linear models with cumulative penalty. ACL.
    .. [3] G. Andrew, J. Gao (2007). Scalable training of L1-regularized log-linear models. ICML.
    .. [4] K. Gimpel, N. Smith (2010). Softmax-margin CRFs. NAACL.

    Examples
    --------
    >>> from skstruct import L1CRF
    >>> X = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["the", "cat", "barks"]] * 5
    >>> y = [["D", "N", "V"], ["D", "N", "V"], ["D", "N", "V"]] * 5
    >>> crf = L1CRF(c1=0.1, random_state=0).fit(X, y)
    >>> crf.predict([["a", "dog", "sleeps"]])
    [['D', 'N', 'V']]
    >>> crf.predict_marginals([["a", "dog"]])[0].shape
    (2, 3)
    """

    _parameter_constraints = {
        "features": TAGGER_CONSTRAINTS["features"],
        "c1": [NONNEGATIVE],
        "c2": [NONNEGATIVE],
        "solver": [StrOptions({"two-stage", "owlqn", "sgd"})],
        "sgd_iter": [POSITIVE],
        "eta0": [Interval(Real, 0, None, closed="neither")],
        "decay": [Interval(Real, 0, 1, closed="right")],
        "line_search": ["boolean"],
        "max_trials": [POSITIVE],
        "memory": [POSITIVE],
        "max_iter": [POSITIVE],
        "tol": [NONNEGATIVE],
        "all_pairs": ["boolean"],
        "min_count": [POSITIVE],
        "constraints": TAGGER_CONSTRAINTS["constraints"],
        "class_weight": TAGGER_CONSTRAINTS["class_weight"],
        "warm_start": ["boolean"],
        "checkpoint": TAGGER_CONSTRAINTS["checkpoint"],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        features="auto",
        *,
        c1=1.0,
        c2=0.0,
        solver="two-stage",
        sgd_iter=2,
        eta0=0.3,
        decay=0.5,
        line_search=False,
        max_trials=3,
        memory=60,
        max_iter=1000,
        tol=2e-4,
        all_pairs=True,
        min_count=1,
        constraints=None,
        class_weight=None,
        warm_start=False,
        checkpoint=None,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.features = features
        self.c1 = c1
        self.c2 = c2
        self.solver = solver
        self.sgd_iter = sgd_iter
        self.eta0 = eta0
        self.decay = decay
        self.line_search = line_search
        self.max_trials = max_trials
        self.memory = memory
        self.max_iter = max_iter
        self.tol = tol
        self.all_pairs = all_pairs
        self.min_count = min_count
        self.constraints = constraints
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.checkpoint = checkpoint
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    # -- fitting -----------------------------------------------------------------------------------
    @with_callbacks
    def fit(self, X, y, sample_weight=None, *, X_val=None, y_val=None):
        """Learn from labelled sequences.

        Parameters
        ----------
        X : list of sequences of tokens
            As in :meth:`StructuredPerceptron.fit`.
        y : list of sequences of labels
            None marks an unlabelled token: the likelihood then sums over its labels.
        sample_weight : array-like of shape (n_sequences,), optional
            Multiplies a sequence's log-likelihood. Sequences of weight 0 are left out altogether.
        X_val, y_val : lists of sequences, optional
            Held-out sequences. They do not influence training; ``history_`` then has ``validation``, their
            mean log-probability after each pass. Labels that training lacks count as None.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the input is not as described; the message names sequence and position. The estimator
            is then as it was before.
            Likewise if ``solver="sgd"`` overflows, because ``eta0`` is too high.
        KeyboardInterrupt
            After Ctrl-C; the weights that were reached are kept, and the model can be used.

        Warns
        -----
        UserWarning
            If ``y_val`` has labels that training lacks; once, naming them. Sequences that the constraints
            then leave no labelling are left out of the mean.
        ConvergenceWarning
            If ``max_iter`` passes were not enough, or no step lowers the objective though one should.
        """
        self._validate_params()
        context = self._callback_context()
        run = self._prepare(X, y, sample_weight)
        run.hold_out(X_val, y_val)
        return run.train(X, y, context)

    def _callback_context(self):
        """The callbacks' context of a fit; nobody knows how many passes it takes."""
        return self._init_callback_context(max_subtasks=None)

    def _prepare(self, X, y, sample_weight):
        """Check and encode everything; what is left to do is to train."""
        sequences, targets, weight = self._check_training_data(X, y, sample_weight)
        token = offsets_of(lengths_of(sequences))
        before = self._model if self.warm_start and hasattr(self, "_model") else None
        labels = Labels() if before is None else before.labels
        gold, labels = encode_labels(targets, token, labels, grow=True)
        if len(labels) == 0:
            raise ValueError("y holds no label: all tokens are None")
        constraints = constraint_arrays(self.constraints, labels)
        check_gold(gold, token, labels, constraints)
        cost = class_costs(self.class_weight, gold, labels, 0.0)
        # What is empty, or left out by its weight, must not even take part in the shuffle.
        filled = np.flatnonzero(np.diff(token) > 0)
        flat, token, weight = flatten(sequences), offsets_of(np.diff(token)[filled]), weight[filled]
        if before is None:
            encoder = new_encoder(self.features, self.min_count, flat)
        else:
            encoder = before.encoder.copy()
            check_same_features(encoder, self.features, self.min_count)
        with renumbered(filled):
            task = make_task(encoder, flat, token, gold, weight, grow=True)
            _check_values(task)
        return _Run(self, task, encoder, labels, constraints, cost, before)

    # -- prediction --------------------------------------------------------------------------------
    def _sums(self, X, gold=None):
        """(marginals (N * L,), log Z (n,), first tokens) under the model, with labels given or not."""
        check_is_fitted(self)
        sequences = as_sequences(X)
        chain, L, like = self._model.chain(), len(self._model.labels), first_token(sequences)

        def work(bounds):
            first, last, begin, end = bounds
            task, token = self._model.encode(sequences[first:last], like=like)
            if gold is not None:
                task = task._replace(gold=gold[begin:end])
            out, log_z = np.empty((end - begin) * L), np.empty(last - first)
            longest = int(np.diff(token).max(initial=1))
            marginals(
                task, 0, last - first, chain, READ_ONLY, QUIET, new_work(task, L, False),
                np.empty(longest * L), np.empty(L), out, log_z,
            )  # fmt: skip
            return out, log_z

        parts = list(map_chunks(work, sequences, self.n_jobs))
        log_z = np.concatenate([p[1] for p in parts])
        bad = np.flatnonzero(~(log_z < np.inf))
        if bad.size:
            raise PlaceError(bad[0], None, "the scores of its labellings overflow", "X")
        return np.concatenate([p[0] for p in parts]), log_z, offsets_of(lengths_of(sequences))

    def predict_marginals(self, X):
        """Probabilities of the labels of each token, given the whole sequence.

        The most probable label of each token (:meth:`predict_posterior`) need not be the one of the most
        probable labelling (:meth:`predict`): marginals sum over all labellings.

        Parameters
        ----------
        X : list of sequences of tokens

        Returns
        -------
        list of ndarray of shape (n_tokens, n_labels)
            Columns as in ``classes_``; rows sum to 1.

        Raises
        ------
        ValueError
            If a sequence is not what the model was trained on, the constraints leave it no labelling, or
            values of its features are so large that scores overflow; the message names it.
        """
        rows, token = self._marginals(X)
        return Sequences(rows[a:b] for a, b in zip(token[:-1].tolist(), token[1:].tolist()))

    def predict_posterior(self, X):
        """The most probable label of each token: posterior decoding.

        Has the fewest wrong labels in expectation, where :meth:`predict` is the labelling that is most
        often right as a whole. Neighbours may contradict the constraints.

        Parameters
        ----------
        X : list of sequences of tokens

        Returns
        -------
        list of lists of labels
            Of labels that are equally probable the first in ``classes_``.

        Raises
        ------
        ValueError
            As :meth:`predict_marginals`.
        """
        rows, token = self._marginals(X)
        return Sequences(self._model.labels.decode(rows.argmax(axis=1).astype(np.int32), token))

    def _marginals(self, X):
        """(marginals (N, L), first tokens)"""
        out, log_z, token = self._sums(X)
        stuck = np.flatnonzero(log_z == -np.inf)
        if stuck.size:
            raise PlaceError(stuck[0], None, "the constraints leave no labelling")
        return out.reshape(-1, len(self._model.labels)), token

    def sequence_log_proba(self, X, y):
        """Log-probability of labellings.

        Parameters
        ----------
        X : list of sequences of tokens
        y : list of sequences of labels
            None stands for any label: the probabilities of all completions are summed.

        Returns
        -------
        ndarray of shape (n_sequences,)
            -inf for labellings that constraints forbid.

        Raises
        ------
        ValueError
            If sequences and labels do not fit, a label is unknown, or scores overflow; the message names
            the place.
        """
        check_is_fitted(self)
        X, y, token = check_X_y(X, y)
        gold, _ = encode_labels(y, token, self._model.labels, grow=False)
        given = self._sums(X, gold)[1]
        possible = given > -np.inf
        given[possible] -= self._sums(X)[1][possible]
        return given


class _Run:
    """One training run: the objective, the solver, and the fitted attributes at its end."""

    model_class = ChainModel

    def __init__(self, estimator, task, encoder, labels, constraints, cost, before=None):
        self.estimator = estimator
        self.task = task
        self.encoder = encoder
        self.labels = labels
        self.constraints = constraints
        self.cost = cost
        self.before = before

    def member(self, estimator, seed, drawn):
        """A run of another estimator on a selection of the sequences, with repetitions."""
        counts = np.bincount(drawn, minlength=self.task.weight.shape[0])
        task = self.task._replace(weight=self.task.weight * counts)
        return _Run(estimator, task, self.encoder, self.labels, self.constraints, self.cost)

    checkpoint = validation = None

    def hold_out(self, X, y):
        """Encode held-out sequences; both None: none."""
        if X is None and y is None:
            return
        if X is None or y is None:
            raise ValueError("X_val and y_val must be given together")
        names = {"X": "X_val", "y": "y_val"}
        sequences, targets, token = check_X_y(X, y, tuple(names.values()))
        try:
            gold, unseen, others = encode_known(targets, token, self.labels)
            left_out = self._without_labelling(gold, unseen, token)
            for i in left_out:
                sequences[i] = ()
            weight = np.ones(len(sequences))
            weight[left_out] = 0.0
            gold = gold[np.repeat(weight > 0.0, np.diff(token))]
            token = offsets_of(lengths_of(sequences))
            check_gold(gold, token, self.labels, self.constraints)
            flat = flatten(sequences)
            if flat:
                self.validation = make_task(self.encoder, flat, token, gold, weight, grow=False)
                _check_values(self.validation)
        except PlaceError as error:
            error.move(error.sequence, names.get(error.name))
            raise
        if others:
            n = len(left_out)
            warnings.warn(
                f"y_val has labels that training lacks: {some_of(others)}; they count as wrong in scores and "
                f"as not given in log-probabilities"
                + (f", which leave out {n} sequences that constraints then leave no labelling" if n else ""),
                stacklevel=3,
            )

    def _without_labelling(self, gold, unseen, token):
        """Sequences with unseen labels for which constraints and their other labels leave no labelling."""
        found = []
        for i in np.unique(np.searchsorted(token, np.flatnonzero(unseen), side="right") - 1).tolist():
            mine = gold[token[i] : token[i + 1]]
            try:
                check_gold(mine, np.array([0, mine.shape[0]]), self.labels, self.constraints)
            except PlaceError:
                found.append(i)
        return found

    def rows(self):
        """(weight rows of features, combinations of transition features)."""
        return n_node_rows(self.encoder), n_edge_combinations(self.encoder)

    def seed(self):
        """Of the order of the sequences."""
        return int(check_random_state(self.estimator.random_state).randint(2**31 - 1))

    def options(self):
        """What the estimator asks of the solver."""
        return {name: getattr(self.estimator, name) for name in SOLVER_OPTIONS}

    def train(self, X, y, context=None, keep_checkpoint=False, interrupt=None, for_good=False):
        """Minimise; returns the estimator, fitted. See :meth:`.run.Run.train`."""
        e = self.estimator
        events = epoch_context(context, e, X, y)
        warm = None if self.before is None else self._earlier_weights()
        stops, passes = [False], []
        with DeferredInterrupt() if interrupt is None else nullcontext(interrupt) as interrupt:
            events.begin_fit()
            events.begin()

            def on_pass(record, tables):
                passes.append(record)
                if e.verbose:
                    print(_line(record), flush=True)
                stop = False
                if record["stage"] != "sgd" or e.solver == "sgd":
                    stop = events.end(lambda: self.fitted_so_far(passes, *tables()))
                    if not stop:
                        events.begin()
                stops.append(stop or interrupt.count > 0)
                return stops[-1]

            resumed = 0
            if e.checkpoint is not None:
                self.checkpoint = self._open_checkpoint(warm)
                found = self.checkpoint.load()
                passes.extend([] if found is None else found[0]["history"])
                resumed = len(passes)
            try:
                result = self._solve(warm, on_pass, interrupt)
            finally:
                if self.checkpoint is not None:
                    self.checkpoint.close()
            events.end_open()
            fitted = self.fitted(result)
            events.end_fit(fitted)
            vars(e).update(fitted)
            if self.checkpoint is not None:
                e.resumed_from_ = resumed
                if not (interrupt.count or keep_checkpoint):
                    self.checkpoint.remove()
            if interrupt.count:
                raise KeyboardInterrupt
        if not stops[-1]:
            warn_unless_converged(result, e)
        return e

    def objective(self, c1):
        """The objective; lets go of the corpus, which is spelled anew in it."""
        e, (start, allowed, end) = self.estimator, self.constraints
        objective = CRFObjective(
            self.task, len(self.labels), *self.rows(), c1, e.c2, e.all_pairs, has_bigram(self.encoder),
            start, allowed, end, self.cost, effective_n_jobs(e.n_jobs),
        )  # fmt: skip
        self.task = None
        return objective

    def _solve(self, warm, on_pass, interrupt):
        return train_crf(
            self.objective(self.estimator.c1), *self.rows(), validation=self.validation, warm=warm,
            seed=self.seed(), callback=on_pass, checkpoint=self.checkpoint, interrupt=interrupt,
            **self.options(),
        )  # fmt: skip

    def _open_checkpoint(self, warm):
        e = self.estimator
        facts = {
            "class": type(e).__name__,
            "parameters": simple_parameters(e),
            "bigram": has_bigram(self.encoder),
        }
        arrays = arrays_of((self.task, self.constraints, self.cost, warm, self.validation), "fit")
        return Checkpoint(e.checkpoint, type(e).__name__, fingerprint(facts, arrays))

    def _earlier_weights(self):
        """Node and transition weights of the earlier model, with room for what is new."""
        old, L = self.before, len(self.labels)
        column = np.array([self.labels.ids[v] for v in old.labels.values], np.int64)
        tables = []
        for store, n_rows in ((old.nodes, n_node_rows(self.encoder)), (old.edges, None)):
            keys, values = _entries(store)
            rows, y = keys // len(column), keys % len(column)
            if n_rows is None:
                rows = rows // len(column) * L + column[rows % len(column)]
                n_rows = n_edge_combinations(self.encoder) * L
            tables.append(Table.of((n_rows, L), rows * L + column[y], values))
        return tuple(tables)

    def fitted(self, result):
        """The attributes of a fitted estimator."""
        return {
            **self._model_of(result.nodes, result.edges),
            "n_iter_": max(result.n_iter, 1),
            "objective_": float(result.objective),
            "optimality_": result.optimality,
            "n_active_features_": result.n_active,
            "history_": result.history,
        }

    def fitted_so_far(self, history, nodes, edges):
        """The same after some passes."""
        last = history[-1]
        return {
            **self._model_of(nodes, edges),
            "n_iter_": sum(record["stage"] == last["stage"] for record in history),
            "objective_": last["objective"],
            "optimality_": last["optimality"],
            "n_active_features_": last["n_active"],
            "history_": list(history),
        }

    def _model_of(self, nodes, edges):
        model = ChainModel(self.encoder, self.labels, _store(nodes), _store(edges), self.constraints)
        return {"_model": model, "classes_": self.labels.array}


def warn_unless_converged(result, estimator):
    """Say so if a solver that converges did not."""
    if result.converged or estimator.solver == "sgd":
        return
    if result.n_iter >= estimator.max_iter:
        what = f"did not converge in max_iter={estimator.max_iter} passes"
    else:
        what = f"is stuck short of the optimum after {result.n_iter} passes: no step lowers the objective"
    warnings.warn(f"L1CRF {what} (optimality {result.optimality:.3g})", ConvergenceWarning, stacklevel=3)


def _check_values(task):
    """Raise if a value is too large to be squared."""
    value = np.abs(task.bag.value)
    if value.max(initial=0.0) > LARGEST:
        k = int(value.argmax())
        i, t = place(task.token, int(np.searchsorted(task.bag.start, k, side="right")) - 1)
        raise PlaceError(
            i, t, f"values of features must be at most {LARGEST:g} in size, got {task.bag.value[k]:g}", "X"
        )


def _line(record):
    """One line of the training log."""
    figures = {k: v for k, v in record.items() if k != "stage" and v is not None}
    return f"{record['stage']}: " + ", ".join(f"{k} {v:.6g}" for k, v in figures.items())


def _store(table):
    """A store with the weights of a table."""
    rows, columns = table.shape
    few = columns > FEW_LABELS and table.keys.shape[0] * FEW_LABELS < rows * columns
    sparse = few or is_sparse(rows, columns)
    store = new_store(rows, columns, READ_ONLY, sparse)
    if sparse:
        return sparse_store(store, table.keys, table.values)
    store.value[table.keys] = table.values
    return store


def _entries(store):
    """(keys, values) of a store, with those that are zero left out if it is dense."""
    if store.sparse:
        return entries(store)
    keys = np.flatnonzero(store.value)
    return keys, store.value[keys]
